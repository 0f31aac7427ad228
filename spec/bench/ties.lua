-- Kernels over ties and paths, against loops over lists of rows by hand; and what it costs to tie
-- many entities each to another target.

local ecs = require("ecs")
local floor = require("mod_ties")
local measure = require("measure")

local DT = 0.5
local TRANSFORM, MOVE, TABLES, LOOK = 0, 1, 2, 3

-- The same numbers every time.
local function random_of(seed)
  local state = seed
  return function(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n + 1
  end
end

-- A world and its n entities with two components, whose cells are the floor's columns, one behind
-- the other.
local function new_world(names, fields, n)
  local world, ids, types = ecs.world({ tag = 1 }), {}, {}
  for f, field in ipairs(fields) do types[f] = field .. ": f32" end
  for _, name in ipairs(names) do world:component(name, types) end
  for row = 1, n do
    local values = { {}, {} }
    for f, field in ipairs(fields) do
      values[1][field] = floor.start(f - 1, row)
      values[2][field] = floor.start(#fields + f - 1, row)
    end
    ids[row] = world:spawn({ [names[1]] = values[1], [names[2]] = values[2] })
  end
  return world, ids
end

local function check(what, world, ids, name, forest, fields)
  for row, id in ipairs(ids) do
    local cells = { world:get(id, name) }
    for c = 1, fields do
      if cells[c] ~= floor.value(forest, c - 1, row) then
        error(("%s: row %d, column %d: %.17g, %.17g"):format(what, row, c,
          floor.value(forest, c - 1, row), cells[c]))
      end
    end
  end
end

-- ns a row of the world's systems and of the floor, in turns.
local function compare(world, forest, loop, rows, rounds, times)
  local ours, theirs = math.huge, math.huge
  collectgarbage()
  for _ = 1, rounds do
    theirs = math.min(theirs, floor.run(forest, loop, times, DT))
    local start = measure.now()
    for _ = 1, times do world:update(DT) end
    ours = math.min(ours, measure.now() - start)
  end
  return ours * 1e9 / times / rows, theirs * 1e9 / times / rows
end

-- ---- transforms ---------------------------------------------------------------------------

-- Depths of a forest's rows, all levels of about one size, and a random parent above each.
local function grow(n, levels)
  local random, depth, parent, level = random_of(7), {}, {}, {}
  for d = 1, levels do level[d] = {} end
  for row = 1, n do
    depth[row] = row <= levels and row or random(levels)
    table.insert(level[depth[row]], row)
  end
  local order, parents = {}, {}
  for d = 1, levels do
    for _, row in ipairs(level[d]) do
      parent[row] = d > 1 and level[d - 1][random(#level[d - 1])] or 0
      order[#order + 1] = row
      parents[#parents + 1] = parent[row]
    end
  end
  return parent, order, parents
end

local function transform(w, l, p)
  if p then
    local pa, pb = p.a, p.b
    w.x = p.x + pa * l.x - pb * l.y
    w.y = p.y + pb * l.x + pa * l.y
    w.a = pa * l.a - pb * l.b
    w.b = pb * l.a + pa * l.b
  else
    w.x = l.x
    w.y = l.y
    w.a = l.a
    w.b = l.b
  end
end

local function transforms(n)
  local parent, order, parents = grow(n, 8)
  local world, ids = new_world({ "World", "Local" }, { "x", "y", "a", "b" }, n)
  local forest = floor.forest(n, order, parents)
  for row = 1, n do
    if parent[row] > 0 then world:add(ids[row], "ChildOf", ids[parent[row]]) end
  end
  world:system("loop", { query = "World, Local:in, ChildOf->World:in?", each = transform,
    compile = true })
  local ours, theirs = compare(world, forest, TRANSFORM, n, 15, 4)
  check("transforms", world, ids, "World", forest, 4)
  world:close()
  return ours, theirs
end

-- ---- states and wildcards -------------------------------------------------------------------

local function move(p, v, dt)
  p.x = p.x + v.x * dt
  p.y = p.y + v.y * dt
end

-- One in `part` of n entities is in the state that the query asks for.
local function states(n, part)
  local world, ids = new_world({ "Position", "Velocity" }, { "x", "y" }, n)
  local random, order = random_of(11), {}
  world:relation("State", { exclusive = true })
  for i = 1, part do world:tag("State" .. i) end
  for row = 1, n do
    local state = random(part)
    if state == 1 then order[#order + 1] = row end
    world:add(ids[row], "State", "State" .. state)
  end
  local forest = floor.forest(n, order, {})
  world:system("loop", { query = "(State, State1), Position, Velocity:in", each = move,
    compile = true })
  local ours, theirs = compare(world, forest, MOVE, #order, 21, 100)
  check("states", world, ids, "Position", forest, 2)
  world:close()
  return ours, theirs
end

-- Entities of which every hundred are tied to another target.
local function wildcard(n)
  local world, ids = new_world({ "Position", "Velocity" }, { "x", "y" }, n)
  local forest, target = floor.forest(n, {}, {}), nil
  world:relation("Likes")
  for row = 1, n do
    if row % 100 == 1 then target = world:spawn({}) end
    world:add(ids[row], "Likes", target)
  end
  world:system("loop", { query = "(Likes, *), Position, Velocity:in", each = move,
    compile = true })
  local ours, theirs = compare(world, forest, TABLES, n, 21, 20)
  check("wildcard", world, ids, "Position", forest, 2)
  world:close()
  return ours, theirs
end

-- ---- fields of other entities ---------------------------------------------------------------

-- Each of n entities reads a cell of another one at random, whose id it has.
local function others(n)
  local world, ids = new_world({ "Position", "Velocity" }, { "x", "y" }, n)
  local random, order, preys = random_of(5), {}, {}
  world:component("Hunter", { "prey: entity" })
  for row = 1, n do
    order[row], preys[row] = row, (random(32768) * 32768 + random(32768)) % n + 1
    world:set(ids[row], "Hunter", ids[preys[row]])
  end
  local forest = floor.forest(n, order, preys)
  world:system("loop", { query = "Velocity, Hunter:in", compile = true, each = function(v, h, dt)
    v.x = v.x + world:get(h.prey, "Position.x") * dt
  end })
  local ours, theirs = compare(world, forest, LOOK, n, 21, 20)
  for row, id in ipairs(ids) do
    assert(world:get(id, "Velocity.x") == floor.value(forest, 2, row), row)
  end
  world:close()
  return ours, theirs
end

-- ---- a target for each ----------------------------------------------------------------------

-- Bytes of an entity, and ns to go through it, in a world of n that are tied to n others.
local function apart(n, exclusive)
  local world, ids = new_world({ "Position", "Velocity" }, { "x", "y" }, n)
  world:relation("Likes", exclusive and { exclusive = true } or {})
  local targets = {}
  for row = 1, n do targets[row] = world:spawn({}) end
  local before = world:describe().bytes
  for row = 1, n do world:add(ids[row], "Likes", targets[row]) end
  local bytes = (world:describe().bytes - before) / n
  local seconds, query = math.huge, world:query("(Likes, *), Position, Velocity:in")
  for _ = 1, 21 do
    local start = measure.now()
    query:run(move, DT)
    seconds = math.min(seconds, measure.now() - start)
  end
  world:close()
  return bytes, seconds * 1e9 / n
end

return function(add)
  local function kernel(name, n, target, ns, by_hand)
    add({ workload = name, n = n, ns = ns, floor = by_hand, target = target, kind = "ratio" })
  end
  kernel("transforms over a tree of depth 8", 100000, 1.5, transforms(100000))
  kernel("(State, Chasing), 1 % in that state", 100000, 2, states(100000, 100))
  kernel("(Likes, *) over 1,000 targets' tables", 100000, 1.5, wildcard(100000))
  kernel("world:get of another entity, random", 100000, 1.5, others(100000))
  for _, exclusive in ipairs({ false, true }) do
    local bytes, ns = apart(10000, exclusive)
    local name = exclusive and "a target each, exclusive" or "a target each, as pairs"
    add({ workload = name .. ": bytes of a tie", n = 10000, ns = bytes, kind = "bytes" })
    add({ workload = name .. ": a kernel over them", n = 10000, ns = ns, kind = "ns" })
  end
end
