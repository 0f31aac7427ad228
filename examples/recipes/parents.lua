-- Parent and child: ChildOf is a relation of every world. A parent's children are listed, and die
-- with it.

local ecs = require "ecs"
local world = ecs.world()

world:component("Position", { "x: f32", "y: f32" })
world:component("Offset", { "dx: f32", "dy: f32" })

local ship = world:spawn { Position = { x = 10, y = 5 } }
for i = 1, 3 do
  local mast = world:spawn { Position = {}, Offset = { dx = i, dy = -i }, ChildOf = ship }
  world:spawn { Position = {}, Offset = { dx = 0, dy = 0.5 }, ChildOf = mast }    -- a flag
end

-- A child stands where its parent stands, and a little beside it. Parents come first.
world:system("follow", {
  query = "Position, Offset:in, ChildOf->Position:in",
  each = function(position, offset, parent)
    position.x, position.y = parent.x + offset.dx, parent.y + offset.dy
  end,
})

world:set(ship, "Position", 20, 5)
world:update(1 / 60)
for mast in world:children(ship) do
  for flag in world:children(mast) do
    print("a flag at", world:get(flag, "Position"))
  end
end

world:despawn(ship)
print("children left", world:count "ChildOf")
