-- Random declarations of one prefab after the other under one name: each time it is what a new one
-- is by the same declaration, whatever it was before.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local COMPONENTS, NAMES, BASES = { "P", "Q", "R" }, { "k", "m", "n" }, { "A", "B", "C" }

local pairs_of = {}      -- the ids of pairs of Likes and a tag

-- A declaration: { components, options }. Children may be made of a base, by chance.
local function declaration(rng, depth)
  local components, children = {}, {}
  for _, name in ipairs(COMPONENTS) do
    components[name] = rng:chance(40) and { rng:int(5) } or nil
  end
  components.On = rng:chance(20) and rng:pick { "One", "Two" } or nil
  components.Likes = rng:chance(20) and { rng:pick { "One", "Two" }, "Three" } or nil
  local pair = rng:chance(30) and rng:pick(pairs_of)
  if pair then
    components[pair] = { x = rng:int(9) }
  end
  for _, name in ipairs(depth > 0 and rng:sample(NAMES, #NAMES) or {}) do
    if rng:chance(45) then
      children[#children + 1] = { name, table.unpack(declaration(rng, depth - 1)) }
    end
    if rng:chance(12) then
      children[#children + 1] = { false, table.unpack(declaration(rng, depth - 1)) }
    end
  end
  local shared = rng:chance(20) and { S = { rng:int(5) } } or nil
  return { components, { children = children, shared = shared,
                         is_a = rng:chance(40) and rng:pick(BASES) or nil } }
end

-- A declaration's options with each child in one of the forms that say it.
local function said(rng, options)
  local children = {}
  for i, child in ipairs(options.children) do
    local name, components, below = child[1], child[2], said(rng, child[3])
    local keyed = {}
    for key, value in pairs(components) do
      keyed[key] = value
    end
    for key, value in pairs(below) do
      keyed[key] = value
    end
    if not name then
      children[i] = rng:chance(50) and keyed or { components, below }
    elseif not (next(components) or below.shared or below.is_a or below.children[1]) then
      children[i] = rng:chance(50) and name or { name }
    else
      children[i] = { name, components, below }
    end
  end
  return { children = children, shared = options.shared, is_a = options.is_a }
end

-- Without what leads to a base that is not there yet.
local function without_bases(part)
  part[2].is_a = nil
  for _, child in ipairs(part[2].children) do
    without_bases { child[2], child[3] }
  end
  return part
end

-- An entity with all below it.
local function family(world, entity, list)
  list[#list + 1] = entity
  for child in world:children(entity) do
    family(world, child, list)
  end
  return list
end

-- Lets some of a base's tree lead to others of it, or to the base before.
local function tie_up(world, rng, at)
  local all = family(world, world:lookup(BASES[at]), {})
  local most = #all
  if at > 1 then
    family(world, world:lookup(BASES[at - 1]), all)
  end
  for i = 1, most do
    if rng:chance(60) then
      world:set(all[i], "Ref", { to = rng:pick(all) })
    end
    if rng:chance(30) then
      world:set(all[i], "On", { target = rng:pick(all), x = rng:int(5), to = rng:pick(all) })
    end
    if rng:chance(30) then
      world:set(all[i], "Likes", rng:pick(all), { x = rng:int(5), to = rng:pick(all) })
    end
  end
end

local function new_world(rng)
  local world = helper.new_world()
  world:component("Ref", { "to: entity" })
  world:relation("On", { "x: i32 = 3", "to: entity", exclusive = true })
  world:relation("Likes", { "x: i32 = 3", "to: entity" })
  world:tag "One"
  world:tag "Two"
  world:tag "Three"
  for i, tag in ipairs { "One", "Two", "Three" } do
    pairs_of[i] = world:pair("Likes", tag)
  end
  for _, name in ipairs { "P", "Q", "R", "S" } do
    world:component(name, { "x: i32 = 7" })
  end
  for at, name in ipairs(BASES) do
    local part = without_bases(declaration(rng, 2))
    world:prefab(name, part[1], said(rng, part[2]))
    tie_up(world, rng, at)
  end
  return world
end

-- A name, or which of the children without one it is.
local function label(world, entity)
  local name, at = world:name(entity), 0
  if name then
    return name
  end
  for child in world:children(world:parent(entity)) do
    at = at + (world:name(child) and 0 or 1)
    if child == entity then
      return "#" .. at
    end
  end
end

-- The path of an entity, from a root on if it is below that.
local function path_of(world, entity, root)
  local path = ""
  if entity < 65536 then      -- nobody, or a tag
    return tostring(entity)
  end
  while entity and entity ~= root do
    path, entity = "." .. label(world, entity) .. path, world:parent(entity)
  end
  return (entity and "" or "all") .. path
end

-- What a prefab is, as a list of lines: components, where it leads, what it is made of, its
-- children in their order.
local function describe(world, entity, path, lines, root)
  local base = world:target(entity, "IsA")
  local line = { path }
  for _, name in ipairs { "P", "Q", "R", "S" } do
    line[#line + 1] = world:has(entity, name) and name .. world:get(entity, name) or nil
  end
  local to = world:get(entity, "Ref")
  line[#line + 1] = to and "to " .. path_of(world, to, root) or nil
  local on, x, other = world:get(entity, "On")
  if on then
    line[#line + 1] = ("on %s %d %s"):format(path_of(world, on, root), x,
      path_of(world, other, root))
  end
  local liked = {}
  for target in world:targets(entity, "Likes") do
    local how, whom = world:get(entity, "Likes", target)
    liked[#liked + 1] = ("likes %s %d %s"):format(path_of(world, target, root), how,
      path_of(world, whom, root))
  end
  table.sort(liked)
  line[#line + 1] = liked[1] and table.concat(liked, " ") or nil
  while base do
    line[#line + 1] = label(world, base)
    base = world:parent(base)
  end
  for child in world:children(entity) do
    line[#line + 1] = "then " .. label(world, child)
  end
  lines[#lines + 1] = table.concat(line, " ")
  for child in world:children(entity) do
    describe(world, child, path .. "." .. label(world, child), lines, root)
  end
  table.sort(lines)
  return lines
end

it("C87: a prefab is what its last declaration says, whatever it was before", function()
  local seeds = helper.by_scale { small = 20, normal = 200, deep = 5000 }
  for seed = 1, seeds do
    local rng = random.new(seed)
    local world = new_world(rng)
    for round = 1, 4 do
      local part, fresh = declaration(rng, 2), "New" .. round
      local where = ("seed %d, round %d"):format(seed, round)
      world:prefab("X", part[1], said(rng, part[2]))
      world:prefab(fresh, part[1], said(rng, part[2]))
      local new, old = world:lookup(fresh), world:lookup "X"
      assert.same(describe(world, new, "", {}, new), describe(world, old, "", {}, old), where)
      local digest = world:digest()
      world:prefab("X", part[1], said(rng, part[2]))
      world:prefab(fresh, part[1], said(rng, part[2]))
      assert.equal(digest, world:digest(), where)
      helper.check(world)
    end
    world:close()
  end
end)
