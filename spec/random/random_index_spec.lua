-- Random programs about indexes: what they find is what going through all entities finds, in the
-- order that is promised, after whatever has happened to the world. C27, C28.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local STEPS = 60
local QUERIES = {
  "Place:in, Item?", "Place, Item?, with Tag", "Place:in, Item?, !Tag", "Place, Item?, !Asleep",
  "Place:in, Item?, with (Likes, *)", "Place, Item?, ChildOf->Place?",
}
local PLACES = {
  { "x: f32", "y: f32" }, { "y: f64", "x: f64" }, { "x: i32", "y: f32", "z: f32" },
}

-- ---- going through all -----------------------------------------------------------------------

-- Rows in the order of the query: { e =, x =, y =, z =, n =, name = }.
local function rows_of(s, text)
  local rows, solid = {}, s.solid
  s.world:query(text):each(function(place, item, ...)
    local e = select(select("#", ...), ...)
    rows[#rows + 1] = { e = e, x = place.x, y = place.y, z = solid and place.z or 0,
      n = item and item.n, name = item and item.name, at = #rows + 1 }
  end)
  return rows
end

local function distance(s, row, x, y, z)
  local dx, dy, dz = row.x - x, row.y - y, row.z - z
  local sum = dx * dx + dy * dy
  return math.sqrt(s.solid and sum + dz * dz or sum)
end

local function is_placed(row)
  for _, number in ipairs { row.x, row.y, row.z } do
    if not (number > -math.huge and number < math.huge) then return false end
  end
  return true
end

-- Floors as floats: places may be far out.
local function cell_of(number, width)
  return math.floor(number / width) + 0.0
end

local function by_cells(width)
  return function(a, b)
    for _, axis in ipairs { "z", "y", "x" } do
      local i, j = cell_of(a[axis], width), cell_of(b[axis], width)
      if i ~= j then return i < j end
    end
    return a.at < b.at
  end
end

local function ids_of(rows)
  local ids = {}
  for i, row in ipairs(rows) do ids[i] = row.e end
  return ids
end

local function filter(rows, takes)
  local taken = {}
  for _, row in ipairs(rows) do
    if takes(row) then taken[#taken + 1] = row end
  end
  return taken
end

-- ---- what is found ---------------------------------------------------------------------------

local function found(...)
  local ids = {}
  for a, b, c, d in ... do ids[#ids + 1] = d or c or b or a end
  return ids
end

local try = {}

function try.grid(s, index, rows)
  local rng, placed = s.rng, filter(rows, is_placed)
  local from = rng:pick(placed)
  local x, y, z = rng:range(-30, 30) / 2, rng:range(-30, 30) / 2, rng:range(-4, 4)
  if from and rng:chance(50) then x, y, z = from.x, from.y, from.z end
  local reach = rng:pick { 0, 0.5, 1, 3, 5, 12.5, 40, math.huge, -1 }
  local near = filter(placed, function(row) return distance(s, row, x, y, z) <= reach end)
  table.sort(near, by_cells(index.options.cell))
  local got, nearest, how_far
  local except = rng:chance(50) and from and from.e or nil
  if s.solid then
    got = found(index.object:within(x, y, z, reach))
    nearest, how_far = index.object:nearest(x, y, z, reach, except)
  else
    got = found(index.object:within(x, y, reach))
    nearest, how_far = index.object:nearest(x, y, reach, except)
  end
  assert.are.same(ids_of(near), got)
  table.sort(near, function(a, b)
    local i, j = distance(s, a, x, y, z), distance(s, b, x, y, z)
    if i ~= j then return i < j end
    return a.at < b.at
  end)
  local best = near[1] and near[1].e == except and near[2] or near[1]
  if best and best.e == except then best = nil end
  assert.are.equal(best and best.e, nearest)
  assert.are.equal(best and distance(s, best, x, y, z), how_far)
end

-- A key as the index is to see it.
local function key_of(index, row)
  if index.key == "name" then return row.name end
  if index.key == "n" then return row.n end
  if index.key == "x" then return row.x end
  return row.n and row.n / 4 + (row.e % 2 == 0 and 0.125 or 0)
end

function try.hash(s, index, rows)
  local from, wanted = s.rng:pick(rows), s.rng:range(-3, 3)
  if from and s.rng:chance(60) then wanted = key_of(index, from) end
  local equal = filter(rows, function(row)
    local key = key_of(index, row)
    return key ~= nil and key == wanted
  end)
  assert.are.same(ids_of(equal), found(index.object:find(wanted)))
end

try.maybe = try.hash

function try.ordered(s, index, rows)
  local function key(row) return key_of(index, row) end
  local sorted = filter(rows, function(row) return key(row) and key(row) == key(row) end)
  table.sort(sorted, function(a, b)
    if key(a) ~= key(b) then return key(a) < key(b) end
    return a.at < b.at
  end)
  local low = s.rng:range(-6, 6) / 2
  local high, most = low + s.rng:range(-1, 10) / 2, s.rng:range(0, 12)
  local between = filter(sorted, function(row) return low <= key(row) and key(row) <= high end)
  assert.are.same(ids_of(between), found(index.object:range(low, high)))
  assert.are.same(ids_of({ table.unpack(sorted, 1, math.min(most, #sorted)) }),
    found(index.object:lowest(most)))
  table.sort(sorted, function(a, b)
    if key(a) ~= key(b) then return key(a) > key(b) end
    return a.at < b.at
  end)
  assert.are.same(ids_of({ table.unpack(sorted, 1, math.min(most, #sorted)) }),
    found(index.object:highest(most)))
end

local function try_all(s)
  for _, index in ipairs(s.indexes) do
    try[index.kind](s, index, rows_of(s, index.options.query))
  end
end

-- ---- what happens ----------------------------------------------------------------------------

local step = {}

local function place_of(s)
  local rng = s.rng
  local function number()
    if s.whole then return rng:range(-9, 9) end
    return rng:chance(3) and rng:pick { 0 / 0, math.huge, -math.huge, 1e30, -1e30 }
      or rng:chance(30) and rng:range(-9, 9) or rng:range(-900, 900) / 64
  end
  -- A whole number into x, which may be an integer's.
  return { x = s.solid and rng:range(-9, 9) or number(), y = number(), z = s.solid and number() }
end

local function item_of(s)
  return { n = s.rng:range(-5, 5), name = s.rng:pick { "a", "b", "c", "dd" } }
end

local function somebody(s)
  return s.rng:pick(s.world:query("Place"):ids())
end

function step.spawn(s)
  for _ = 1, s.rng:int(6) do
    local place = place_of(s)
    place.z = place.z or nil
    s.world:spawn { Place = place, Item = s.rng:chance(70) and item_of(s) or nil,
      Tag = s.rng:chance(40) or nil, Asleep = s.rng:chance(30) or nil }
  end
end

function step.despawn(s)
  local e = somebody(s)
  if e then s.world:despawn(e) end
end

function step.place(s)
  local e = somebody(s)
  local place = place_of(s)
  place.z = place.z or nil
  if e then s.world:set(e, "Place", place) end
end

function step.item(s)
  local e = somebody(s)
  if not e then return end
  if s.rng:chance(30) then
    s.world:remove(e, "Item")
  else
    s.world:set(e, "Item", item_of(s))
  end
end

function step.tag(s)
  local e = somebody(s)
  if not e then return end
  local change = s.world:has(e, "Tag") and "remove" or "add"
  s.world[change](s.world, e, "Tag")
end

function step.tie(s)
  local e, other = somebody(s), somebody(s)
  if not e then return end
  s.world:add(e, "Likes", other)
  pcall(s.world.add, s.world, e, "ChildOf", other)
end

function step.toggle(s)
  local e = s.rng:pick(s.world:query("Asleep:any"):ids())
  if e then s.world[s.rng:chance(50) and "enable" or "disable"](s.world, e, "Asleep") end
end

-- A system that moves and spawns while it looks: it finds what there was before it.
function step.update(s)
  local index = s.rng:pick(s.indexes)
  if not index then return end
  local before
  s.world:system("look", { uses = index.name, query = "Place", run = function(_, _, query)
    before = rows_of(s, index.options.query)
    for place in query:each() do
      if s.rng:chance(30) then place.y = s.rng:range(-9, 9) end
    end
    step.spawn(s)
    step.despawn(s)
    try[index.kind](s, index, before)
  end })
  s.world:update(1)
  s.world:remove_system "look"
  assert(before)
end

function step.roll_back(s)
  s.world:defer()
  step.spawn(s)
  step.despawn(s)
  step.item(s)
  if s.rng:chance(50) then try_all(s) end
  s.world[s.rng:chance(50) and "cancel" or "commit"](s.world)
end

function step.keep(s)
  s.kept = { shape = s.shape, image = s.world:save() }
  s.kept.snapshot = s.rng:chance(50) and s.world:snapshot()
end

function step.go_back(s)
  local kept = s.kept
  if not kept then return end
  if not (kept.snapshot and pcall(s.world.restore, s.world, kept.snapshot)) then
    if kept.shape == s.shape then s.world:load(kept.image) end
  end
end

-- Its places become those of another shape; what does not convert stays.
function step.migrate(s)
  local shape = s.rng:int(#PLACES)
  if not pcall(s.world.component, s.world, "Place", PLACES[shape]) then return end
  s.shape, s.solid = shape, shape == 3
  s.kept = nil
end

function step.declare(s)
  local rng = s.rng
  local kind = rng:pick { "grid", "grid", "hash", "ordered", "maybe" }
  local options, key = { query = rng:pick(QUERIES) }, nil
  if kind == "grid" then
    options.grid, options.cell = "Place", rng:pick { 0.5, 1, 3, 100 }
  else
    key = rng:pick(kind == "ordered" and { "n", "x", "function" }
      or { "n", "name", "x", "function" })
    options[kind] = key == "n" and "Item.n" or key == "name" and "Item.name" or key == "x" and "x"
      or function(_, item, ...)
        local e = select(select("#", ...), ...)
        return item and item.n / 4 + (e % 2 == 0 and 0.125 or 0)
      end
  end
  local at = rng:int(3)
  local name = "index" .. at
  local index = { kind = kind, key = key, options = options, name = name,
    object = s.world:index(name, options) }
  for i, other in ipairs(s.indexes) do
    if other.name == name then
      s.indexes[i] = index
      return
    end
  end
  table.insert(s.indexes, index)
end

function step.drop(s)
  if #s.indexes == 0 then return end
  local index = table.remove(s.indexes, s.rng:int(#s.indexes))
  s.world:undeclare(index.name)
end

local DRAWN = { "spawn", "spawn", "spawn", "despawn", "place", "place", "place", "item", "item",
  "tag", "tie", "toggle", "update", "update", "roll_back", "keep", "go_back", "migrate",
  "declare", "declare", "drop" }

local function run(seed)
  local rng = random.new(seed)
  local s = { rng = rng, world = helper.new_world(), indexes = {}, shape = 1 }
  local world, tracked = s.world, seed % 2 == 0
  -- What is tracked is told row by row: of many rows few are keyed anew.
  for _, place in ipairs(PLACES) do place.track = tracked end
  world:component("Place", PLACES[1])
  world:component("Item", { "n: i32", "name: string", track = tracked })
  world:component("Asleep", { toggle = true })
  world:tag "Tag"
  world:relation "Likes"
  for _ = 1, tracked and 20 or 1 do step.spawn(s) end
  step.declare(s)
  for _ = 1, STEPS do
    step[rng:pick(DRAWN)](s)
    try_all(s)
  end
  helper.check(world)
  world:close()
end

describe("indexes in random programs", function()
  it("find what going through all entities finds (C27, C28)", function()
    helper.each_seed({ small = 4, normal = 20, deep = 200 }, run)
  end)
end)
