-- A state machine: the state is an enum, in a kernel compared with and set to its names. What a
-- state needs to look at in Lua, a query with a predicate finds.

local ecs = require "ecs"
local world = ecs.world()

world:component("Guard", {
  "state: enum(patrol, chase, rest) = patrol",
  { "since: f32", unit = "s", doc = "how long it has been in this state" },
  { "tired: f32", min = 0, max = 10 },
})
world:component("Sight", { { "thief: f32", unit = "m", doc = "how far the thief is" } })

-- Each rule is one line: in this state, if that, then go there.
world:system("think", {
  query = "Guard, Sight:in",
  compile = true,
  each = function(guard, sight, dt)
    local before = guard.state
    if before == "patrol" and sight.thief < 5 then
      guard.state = "chase"
    elseif before == "chase" and guard.tired > 2 then
      guard.state = "rest"
    elseif before == "rest" and guard.tired <= 0 then
      guard.state = "patrol"
    end
    guard.since = guard.state == before and guard.since + dt or 0.0
    guard.tired = math.max(0, guard.tired + (guard.state == "chase" and dt or -dt))
  end,
})

local near = world:spawn { Guard = {}, Sight = { thief = 3 } }
local far = world:spawn { Guard = {}, Sight = { thief = 50 } }

for second = 1, 8 do
  world:update(1)
  print(second, world:get(near, "Guard.state"), world:get(far, "Guard.state"))
end

local resting = world:query("Guard"):where(function(guard) return guard.state == "patrol" end)
print("on patrol", resting:count())
