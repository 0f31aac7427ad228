-- A kernel over rows of which half are switched off, against the same one over all of them.

local ecs = require("ecs")
local measure = require("measure")

local function move(p, v, dt)
  p.x = p.x + v.x * dt
  p.y = p.y + v.y * dt
end

-- A world of n rows, of which it switches as many off as the function says, and its query.
local function new_world(n, is_off)
  local world, state = ecs.world({ tag = 1 }), 1
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Velocity", { "x: f32 = 1", "y: f32 = 2" })
  world:component("Active", { toggle = true })
  for _, id in ipairs(world:spawn_many(n, { Position = {}, Velocity = {}, Active = true })) do
    state = (state * 1103515245 + 12345) % 2147483648
    if is_off(state // 65536) then world:disable(id, "Active") end
  end
  return world, world:query("Position, Velocity:in, Active")
end

local function run(query, times)
  local start = measure.now()
  for _ = 1, times do query:run(move, 0.5) end
  return measure.now() - start
end

return function(add)
  local n, times, half, all = 10000, 100, math.huge, math.huge
  local some_world, some = new_world(n, function(bits) return bits % 2 == 0 end)
  local whole_world, whole = new_world(n, function() return false end)
  for _ = 1, 101 do
    half = math.min(half, run(some, times))
    all = math.min(all, run(whole, times))
  end
  some_world:close()
  whole_world:close()
  add({ workload = "kernel with half the rows off (1: all on)", n = n, target = 1.3,
    ns = half * 1e9 / times / n, floor = all * 1e9 / times / n, kind = "ratio" })
end
