-- What has changed: observers that are called for many entities at once, and kernels over the few
-- blocks of rows that were written.

local ecs = require("ecs")
local floor = require("mod_floor")
local measure = require("measure")

-- Seconds to give n entities a component at once, and how often the function is called for them.
local function add_to_many(n, observed)
  local world, calls = ecs.world({ tag = 1 }), 0
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Mark", { "x: f32", "y: f32" })
  world:spawn_many(n, { Position = {} })
  local function called(_, _) calls = calls + 1 end
  if observed then world:observer("marked", { on = "add", query = "Mark:in", each = called }) end
  local query = world:query("Position")
  local seconds = measure.time(function() query:add("Mark") end)
  assert(calls == (observed and n or 0))
  world:close()
  return seconds
end

local function observers(n)
  local with, without, by_hand, calls = math.huge, math.huge, math.huge, 0
  local columns = floor.columns(n)
  local function called(_, _) calls = calls + 1 end
  for _ = 1, 9 do
    with = math.min(with, add_to_many(n, true))
    without = math.min(without, add_to_many(n, false))
    by_hand = math.min(by_hand, measure.time(function() floor.visit(columns, called) end))
  end
  assert(calls == 9 * n)
  return (with - without) * 1e9 / n, by_hand * 1e9 / n
end

local function move(p, v)
  p.x = p.x + v.x * 0.5
  p.y = p.y + v.y * 0.5
end

-- A world of n rows, with a function that writes to a row of each block of 1,024 in a list.
local function new_world(n, blocks)
  local world, rows = ecs.world({ tag = 1 }), {}
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Velocity", { "x: f32 = 1", "y: f32 = 2" })
  local ids = world:spawn_many(n, { Position = {}, Velocity = {} })
  for i, block in ipairs(blocks) do rows[i] = ids[block * 1024 + 1] end
  return world, function()
    for _, id in ipairs(rows) do world:set(id, "Velocity.x", 1) end
  end
end

-- ns of a written row: of all rows, one block in a hundred is written; by hand there are no others.
local function blocks(n)
  local list = {}
  for block = 0, n // 1024 - 1, 100 do list[#list + 1] = block end
  local count = #list * 1024
  local many, write = new_world(n, list)
  local few = new_world(count, {})
  local changed = many:query("Position, Velocity:changed:in")
  local all = few:query("Position, Velocity:in")
  local ours, by_hand, times = math.huge, math.huge, 20
  changed:run(move)
  for _ = 1, 31 do
    local seconds = 0
    for _ = 1, times do
      write()
      local start = measure.now()
      changed:run(move)
      seconds = seconds + measure.now() - start
    end
    ours = math.min(ours, seconds)
    local start = measure.now()
    for _ = 1, times do all:run(move) end
    by_hand = math.min(by_hand, measure.now() - start)
  end
  local moved, x = 0, 0.5 * (1 + 31 * times)
  for p in many:query("Position"):each() do moved = moved + (p.x == x and 1 or 0) end
  assert(moved == count)
  many:close()
  few:close()
  return count, ours * 1e9 / times / count, by_hand * 1e9 / times / count
end

return function(add)
  local ns, by_hand = observers(100000)
  add({ workload = "an observer of add, all at once (1: lua_call)", n = 100000, ns = ns,
    floor = by_hand, target = 1.5, kind = "ratio" })
  local count
  count, ns, by_hand = blocks(1024000)
  add({ workload = ":changed, 1 % of blocks (1: a kernel over these)", n = count, ns = ns,
    floor = by_hand, target = 1.5, kind = "ratio" })
end
