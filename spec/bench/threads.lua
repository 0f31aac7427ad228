-- Two threads beside one, in turns: the same kernels over the same rows, in time that passes.

local ecs = require("ecs")
local measure = require("measure")
local mod_neighbours = require("mod_neighbours")
local neighbours = require("neighbours")
local systems = require("kernel_systems")

local DT = systems.DT
local SAMPLES = 15
local SAME = 0.97              -- never slower, but for what the clock cannot tell
local SAMPLE_ROWS = 8000000    -- of a sample: as many updates as come to these, at least one

local function part()
  for _, system in ipairs(systems.loops) do
    if system.name == "PART" then return system end
  end
end

local function particles(threads, rows)
  local world, system = ecs.world({ tag = 1, threads = threads }), part()
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Velocity", { "x: f32", "y: f32" })
  world:component("Life", { "left: f32" })
  local ids = world:spawn_many(rows, { Position = {}, Velocity = {}, Life = {} })
  for i, id in ipairs(ids) do
    world:set(id, "Velocity", i % 13, i % 7)
    world:set(id, "Life", 1 + i % 5)
  end
  world:system("loop", { query = system.query, each = system.each, compile = true })
  return world
end

local function boids(threads, rows)
  local field = mod_neighbours.flock(rows, neighbours.PARTNERS)
  local world, _, flock = neighbours.new_world(field, rows, { tag = 1, threads = threads })
  local query, each = neighbours.steer(flock)
  world:system("loop", { query = query, each = each, compile = true })
  return world
end

local function seconds(world, times)
  local start = measure.wall()
  for _ = 1, times do world:update(DT) end
  return measure.wall() - start
end

-- ns a row of two threads, and of one.
local function compare(make, rows, sample_rows)
  local one, two = make(1, rows), make(2, rows)
  local times = math.max(1, sample_rows // rows)
  seconds(one, 1)
  seconds(two, 1)
  assert(not two:explain("loop").alone, two:explain("loop").alone)
  local least_one, least_two = math.huge, math.huge
  for _ = 1, SAMPLES do
    least_one = math.min(least_one, seconds(one, times))
    least_two = math.min(least_two, seconds(two, times))
  end
  assert(one:digest() == two:digest(), "two threads give other rows than one")
  one:close()
  two:close()
  return least_two * 1e9 / times / rows, least_one * 1e9 / times / rows
end

return function(add)
  local function row(name, make, rows, sample_rows)
    local ns, floor = compare(make, rows, sample_rows)
    add({ workload = name, n = rows, ns = ns, floor = floor, kind = "times",
          target = rows >= 100000 and 1.8 or SAME })
  end
  for _, rows in ipairs({ 1000, 10000, 100000, 1000000 }) do
    row("PART, two threads", particles, rows, SAMPLE_ROWS)
  end
  for _, rows in ipairs({ 1000, 10000, 100000, 1000000 }) do
    row("boids: 18 partners each, two threads", boids, rows, SAMPLE_ROWS // 200)
  end
end
