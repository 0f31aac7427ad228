-- Loops: q:map against bare calls, q:each against bare metamethods, and what one system costs
-- on one table, whatever its rows.

local ecs = require("ecs")
local floor = require("mod_floor")
local measure = require("measure")

local N = 10000
local DT = 0.5
local ROUNDS = 20

local function move(px, py, vx, vy, dt)
  return px + vx * dt, py + vy * dt
end

local function move_views(p, v, dt)
  p.x = p.x + v.x * dt
  p.y = p.y + v.y * dt
end

local function new_world()
  local world = ecs.world()
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Velocity", { "x: f32 = 1", "y: f32 = 2" })
  return world
end

local function moving(n)
  local world = new_world()
  local ids = world:spawn_many(n, { Position = {}, Velocity = {} })
  for i = 1, n do
    world:set(ids[i], "Position", i, 2 * i)
  end
  return world
end

local function sum_of(world)
  local sum = 0
  for chunk in world:query("Position"):chunks() do
    local x, y = chunk:column("Position.x"), chunk:column("Position.y")
    for i = 1, chunk.n do
      sum = sum + x[i] + 3 * y[i]
    end
  end
  return sum
end

local function by_hand(loop, fn)
  return function(n)
    local columns = floor.columns(n)
    local seconds = measure.time(function()
      for _ = 1, ROUNDS do
        loop(columns, fn, DT)
      end
    end)
    return seconds / ROUNDS, floor.sum(columns)
  end
end

local function ours(method, text, fn)
  return function(n)
    local world = moving(n)
    local query = world:query(text)
    local loop = query[method]
    local seconds = measure.time(function()
      for _ = 1, ROUNDS do
        loop(query, fn, DT)
      end
    end)
    local sum = sum_of(world)
    world:close()
    return seconds / ROUNDS, sum
  end
end

-- ---- few rows ---------------------------------------------------------------------------

-- A world of 2^tags tables with `rows` rows each, and a system over all of them.
local function small_tables(tags, rows, form)
  local world = new_world()
  for bit = 0, tags - 1 do
    world:tag("T" .. bit)
  end
  for table = 0, (1 << tags) - 1 do
    local components = { Position = {} }
    for bit = 0, tags - 1 do
      components["T" .. bit] = (table >> bit & 1) == 1 or nil
    end
    world:spawn_many(rows, components)
  end
  local seen = 0
  local function visit()
    seen = seen + 1
  end
  world:system("visit", { query = form == "map" and "Position.x" or "Position", [form] = visit })
  return world, function() return seen end
end

-- Seconds of an update, the least of many, of two worlds in turns.
local function update_times(first, seen_first, second, seen_second, expected)
  local least_first, least_second, times = math.huge, math.huge, 60
  for _ = 1, times do
    least_first = math.min(least_first, measure.time(function() first:update(DT) end))
    least_second = math.min(least_second, measure.time(function() second:update(DT) end))
  end
  assert(seen_first() == times * expected and seen_second() == times * expected)
  first:close()
  second:close()
  return least_first, least_second
end

-- ns that a table costs beyond its rows: 1,024 tables of 4 rows against one of as many rows.
-- Also ns of a row.
local function table_cost(form)
  local tags, rows = 10, 4
  local many, seen_many = small_tables(tags, rows, form)
  local one, seen_one = small_tables(0, rows << tags, form)
  local many_time, one_time =
    update_times(many, seen_many, one, seen_one, rows << tags)
  return (many_time - one_time) * 1e9 / (1 << tags), one_time * 1e9 / (rows << tags)
end

-- ns that a system costs beyond its rows, which cost row_ns each: 500 systems over one table of
-- 4 rows.
local function system_cost(form, row_ns)
  local systems, world = 500, new_world()
  world:spawn_many(4, { Position = {} })
  local seen = 0
  for i = 1, systems do
    world:system("s" .. i, {
      query = form == "map" and "Position.x" or "Position",
      [form] = function() seen = seen + 1 end,
    })
  end
  local least, times = math.huge, 60
  for _ = 1, times do
    least = math.min(least, measure.time(function() world:update(DT) end))
  end
  assert(seen == times * systems * 4)
  world:close()
  return least * 1e9 / systems - 4 * row_ns
end

-- ns that a system costs whose query has no rows, in an update of many.
local function empty_cost(systems)
  local function world_with(count)
    local world = new_world()
    for i = 1, count do
      world:system("s" .. i, { query = "Position, Velocity", each = move_views })
    end
    return world, function() return 0 end
  end
  local many, seen_many = world_with(systems + 1)
  local one, seen_one = world_with(1)
  local many_time, one_time = update_times(many, seen_many, one, seen_one, 0)
  return (many_time - one_time) * 1e9 / systems
end

return function(add)
  local ns, floor_ns = measure.compare(N, 9, by_hand(floor.map, move),
    ours("map", "Position.x, Position.y, Velocity.x, Velocity.y", move))
  add({ workload = "q:map, 4 scalars in, 2 out", n = N, ns = ns, floor = floor_ns,
        target = 1.15, kind = "ratio" })
  ns, floor_ns = measure.compare(N, 9, by_hand(floor.each, move_views),
    ours("each", "Position, Velocity", move_views))
  add({ workload = "q:each, views, MOVE", n = N, ns = ns, floor = floor_ns, target = 1.3,
        kind = "ratio" })
  for _, form in ipairs({ "each", "map" }) do
    local table_ns, row_ns = table_cost(form)
    add({ workload = form .. ": one more table, beyond its 4 rows", n = 1024, ns = table_ns,
          target = 100, kind = "ns" })
    add({ workload = form .. ": one more system on one table, beyond its 4 rows", n = 500,
          ns = system_cost(form, row_ns), target = 80, kind = "ns" })
  end
  add({ workload = "one more system whose query has no rows", n = 1000, ns = empty_cost(1000),
        target = 4, kind = "ns" })
end
