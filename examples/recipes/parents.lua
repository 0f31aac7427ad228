-- Parent and child: ChildOf is a relation of every world. A parent's children are listed, and die
-- with it.

local ecs = require "ecs"
local world = ecs.world()

world:component("Position", { "x: f32", "y: f32" })
world:component("Offset", { "dx: f32", "dy: f32" })

local ship = world:spawn { Position = { x = 10, y = 5 } }
for i = 1, 3 do
  world:spawn { Position = {}, Offset = { dx = i, dy = -i }, ChildOf = ship }
end

-- A child stands where its parent stands, and a little beside it.
world:system("follow", {
  query = "Position, Offset:in, ChildOf:in",
  each = function(position, offset, child)
    local x, y = world:get(child.target, "Position")
    position.x, position.y = x + offset.dx, y + offset.dy
  end,
})

world:set(ship, "Position", 20, 5)
world:update(1 / 60)
for child in world:children(ship) do
  print("a child at", world:get(child, "Position"))
end

world:despawn(ship)
print("children left", world:count "ChildOf")
