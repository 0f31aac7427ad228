local ecs = require "ecs"
local world = ecs.world()

world:component("Position", { "x: f32", "y: f32" })
world:component("Velocity", { "x: f32", "y: f32" })
world:tag "Frozen"

world:system("move", {
  query = "Position, Velocity, !Frozen",
  each = function(position, velocity, dt)
    position.x = position.x + velocity.x * dt
    position.y = position.y + velocity.y * dt
  end,
})

local ball = world:spawn { Position = { y = 10 }, Velocity = { x = 3 } }
local stone = world:spawn { Position = { x = 7 }, Velocity = { x = 3 }, Frozen = true }
for _ = 1, 60 do
  world:update(1 / 60)
end
print(("the ball is at %.2f, %.2f"):format(world:get(ball, "Position")))
--> the ball is at 3.00, 10.00
print(("the stone is at %.2f, %.2f"):format(world:get(stone, "Position")))
--> the stone is at 7.00, 0.00
