-- Structure, from Lua: against C calls that check one integer, and against making the tables
-- that world:spawn is given.

local ecs = require("ecs")
local floor = require("mod_floor")
local measure = require("measure")

local N = 10000
local ROUNDS = 20

local M = {}

local function new_world()
  local world = ecs.world()
  world:component("Position", { "x: f32 = 1", "y: f32 = 2" })
  world:component("Velocity", { "x: f32 = 3", "y: f32 = 4" })
  world:tag("Frozen")
  return world
end

-- A world with n entities that have Position, and their ids.
local function populated(n)
  local world = new_world()
  local ids = world:spawn_many(n, { Position = {} })
  return world, ids
end

local function sum_of(world, name)
  local sum = 0
  for chunk in world:query("Position"):chunks() do
    local column = chunk:column(name)
    for i = 1, chunk.n do
      sum = sum + column[i]
    end
  end
  return sum
end

-- ---- floors -----------------------------------------------------------------------------

local function touch_floor(calls, sum)
  return function(n)
    local ids = {}
    for i = 1, n do
      ids[i] = 65535 + i
    end
    local touch = floor.touch
    return measure.time(function()
      for _ = 1, ROUNDS do
        if calls == 1 then
          for i = 1, n do
            touch(ids[i])
          end
        else
          for i = 1, n do
            touch(ids[i])
            touch(ids[i])
          end
        end
      end
    end) / ROUNDS, sum and sum(n)
  end
end

local function tables_floor(n)
  local last
  return measure.time(function()
    for i = 1, n do
      last = { Position = { x = i, y = 2 }, Velocity = { x = 3, y = 4 } }
    end
  end), last.Position.x
end

-- Batches of n in one store, as spawn_many does below.
local function spawn_many_floor(n)
  local store, rounds, ids = floor.store(), math.max(1, 100000 // n), nil
  local seconds = measure.time(function()
    for _ = 1, rounds do
      ids = floor.spawn_many(store, n)
    end
  end)
  return seconds / rounds, #ids * ids[n]
end

-- ---- workloads --------------------------------------------------------------------------

local function get(n)
  local world, ids = populated(n)
  for i = 1, n do
    world:set(ids[i], "Position", i, 2)
  end
  local seconds = measure.time(function()
    for _ = 1, ROUNDS do
      for i = 1, n do
        local _, _ = world:get(ids[i], "Position")
      end
    end
  end)
  local sum = 0
  for i = 1, n do
    local x, y = world:get(ids[i], "Position")
    sum = sum + x * y
  end
  world:close()
  return seconds / ROUNDS, sum
end

local function set(n)
  local world, ids = populated(n)
  local seconds = measure.time(function()
    for round = 1, ROUNDS do
      for i = 1, n do
        world:set(ids[i], "Position", i, round)
      end
    end
  end)
  local sum = sum_of(world, "Position.x") + sum_of(world, "Position.y")
  world:close()
  return seconds / ROUNDS, sum
end

local function add_remove(n)
  local world, ids = populated(n)
  local seconds = measure.time(function()
    for _ = 1, ROUNDS do
      for i = 1, n do
        world:add(ids[i], "Velocity")
        world:remove(ids[i], "Velocity")
      end
    end
  end)
  local sum = sum_of(world, "Position.y") + world:count("Velocity")
  world:close()
  return seconds / ROUNDS, sum
end

local function spawn(n)
  local world = new_world()
  local last
  local seconds = measure.time(function()
    for i = 1, n do
      last = world:spawn({ Position = { x = i, y = 2 }, Velocity = { x = 3, y = 4 } })
    end
  end)
  local x = world:get(last, "Position")
  assert(world:count("Position, Velocity") == n)
  world:close()
  return seconds, x
end

local function spawn_by_values(n)
  local world = new_world()
  local make = world:spawner "Position, Velocity"
  local last
  local seconds = measure.time(function()
    for i = 1, n do
      last = make(i, 2, 3, 4)
    end
  end)
  local x = world:get(last, "Position")
  assert(world:count("Position, Velocity") == n)
  world:close()
  return seconds, x
end

local function spawn_many(n)
  local world, rounds, ids = new_world(), math.max(1, 100000 // n), nil
  local seconds = measure.time(function()
    for _ = 1, rounds do
      ids = world:spawn_many(n, { Position = {}, Velocity = {} })
    end
  end)
  local sum = #ids * ((ids[n] & 0xFFFFFFF) - 65536)
  assert(world:get(ids[n], "Velocity.y") == 4 and world:count("Position") == n * rounds)
  world:close()
  return seconds / rounds, sum
end

local function despawn(n)
  local seconds, sum = 0, 0
  for _ = 1, ROUNDS do
    local world, ids = populated(n)
    seconds = seconds + measure.time(function()
      for i = 1, n do
        world:despawn(ids[i])
      end
    end)
    sum = sum + world:count("Position")
    world:close()
  end
  return seconds / ROUNDS, sum
end

-- ---- all rows of a query ----------------------------------------------------------------

local function fill_floor(n)
  local columns = floor.columns(n)
  return measure.time(function()
    for round = 1, ROUNDS do
      floor.fill(columns, round, 2)
    end
  end) / ROUNDS, floor.sum(columns)
end

local function set_all(n)
  local world = populated(n)
  local query = world:query("Position")
  local seconds = measure.time(function()
    for round = 1, ROUNDS do
      query:set("Position", round, 2)
    end
  end)
  local sum = sum_of(world, "Position.x") + 3 * sum_of(world, "Position.y")
  world:close()
  return seconds / ROUNDS, sum
end

-- ---- some rows of a query ---------------------------------------------------------------

-- Velocity, or Frozen, comes to those of n entities whose x is a multiple of a number, by a
-- function of world, query and ids; removing both again is not timed. Per row that it comes to.
local function adding(every, change)
  return function(n)
    local world, ids = populated(n)
    for i = 1, n do
      world:set(ids[i], "Position", i, 2)
    end
    local query, count, seconds = world:query("Position"), 0, 0
    for _ = 1, ROUNDS do
      seconds = seconds + measure.time(function()
        change(world, query, ids)
      end)
      for _, name in ipairs({ "Velocity", "Frozen" }) do
        count = count + world:count(name)
        world:query(name):remove(name)
      end
    end
    assert(count == n // every * ROUNDS)
    world:close()
    return seconds / ROUNDS * every, count * every
  end
end

local function add_whole(_, query)
  query:add("Velocity")
end

local function add_where(every)
  return function(_, query)
    query:where(function(p) return p.x % every == 0 end):add("Velocity")
  end
end

local function add_by_kernel(each)
  local last
  return function(world)
    if world ~= last then
      last = world
      world:system("adds", { query = "Position", each = each(world) })
    end
    world:run("adds")
    M.tier = world:explain("adds").tier
  end
end

local function add_one_by_one(every)
  return function(world, _, ids)
    for i = every, #ids, every do
      world:add(ids[i], "Velocity")
    end
  end
end

local function some_rows(row)
  local n = 100000
  row("q:where(fn):add, all rows (1: q:add)", n, 3, adding(1, add_whole),
    adding(1, add_where(1)), 2)
  row("q:where(fn):add, every second row (1: q:add)", n, 3, adding(1, add_whole),
    adding(2, add_where(2)), 6)
  row("q:where(fn):add, one row in a hundred (1: world:add)", n, 3,
    adding(100, add_one_by_one(100)), adding(100, add_where(100)), 3)
end

-- What `row` gets is of the kernels that were measured last, whose tier is M.tier.
function M.by_kernels(row)
  local n, all = 100000, adding(1, add_whole)
  row("a command on every row (1: q:add)", n, 3, all, adding(1, add_by_kernel(function(world)
    return function(_, _, e) world:add(e, "Velocity") end
  end)), 2)
  row("a command on every second row (1: q:add)", n, 3, all,
    adding(2, add_by_kernel(function(world)
      return function(p, _, e) if p.x % 2 == 0 then world:add(e, "Velocity") end end
    end)), 3)
  row("a command on one row in a hundred (1: world:add)", n, 3, adding(100, add_one_by_one(100)),
    adding(100, add_by_kernel(function(world)
      return function(p, _, e) if p.x % 100 == 0 then world:add(e, "Velocity") end end
    end)), 3)
  row("two kinds of commands by a condition (1: q:add)", n, 3, all,
    adding(1, add_by_kernel(function(world)
      return function(p, _, e)
        if p.x % 2 == 0 then world:add(e, "Velocity") else world:add(e, "Frozen") end
      end
    end)), 4)
end

function M.add_rows(add)
  local function row(workload, n, times, by_hand, ours, target)
    local ns, floor_ns = measure.compare(n, times, by_hand, ours)
    add({ workload = workload, n = n, ns = ns, floor = floor_ns, target = target,
          kind = "ratio" })
  end
  row("world:get(e, C) -> two numbers", N, 7, touch_floor(1, function(n)
    return n * (n + 1)
  end), get, 2.5)
  row("world:set(e, C, x, y)", N, 7, touch_floor(1, function(n)
    return n * (n + 1) // 2 + n * ROUNDS
  end), set, 3.5)
  row("world:add + world:remove", N, 7, touch_floor(2, function(n) return 2 * n end),
    add_remove, 3.5)
  row("world:spawn { A = {..}, B = {..} }", 100000, 5, tables_floor, spawn, 2.5)
  row("world:spawner's function (1: those tables alone)", 100000, 5, tables_floor,
    spawn_by_values, 0.5)
  row("world:spawn_many(n, ...)", 1000, 9, spawn_many_floor, spawn_many, 1.5)
  row("world:spawn_many(n, ...)", 100000, 7, spawn_many_floor, spawn_many, 1.5)
  row("world:despawn(e)", N, 5, touch_floor(1, function() return 0 end), despawn, 3)
  row("q:set(C, x, y)", 100000, 7, fill_floor, set_all, 1.5)
  some_rows(row)
end

return M
