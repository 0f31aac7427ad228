-- Parent and child: a child names its parent in an entity field. When the parent dies the field
-- reads as ecs.null, and a system takes the orphans away.

local ecs = require "ecs"
local world = ecs.world()

world:component("Position", { "x: f32", "y: f32" })
world:component("Child", { "of: entity", "dx: f32", "dy: f32" })

local ship = world:spawn { Position = { x = 10, y = 5 } }
for i = 1, 3 do
  world:spawn { Position = {}, Child = { of = ship, dx = i, dy = -i } }
end

-- A child stands where its parent stands, and a little beside it.
world:system("follow", {
  query = "Position, Child:in",
  each = function(position, child, _, entity)
    local parent = child.of
    if parent == ecs.null then
      world:despawn(entity)
      return
    end
    local x, y = world:get(parent, "Position")
    position.x, position.y = x + child.dx, y + child.dy
  end,
})

local function children_of(parent)
  local ids = {}
  for child, entity in world:query("Child:in"):each() do
    if child.of == parent then
      ids[#ids + 1] = entity
    end
  end
  return ids
end

world:set(ship, "Position", 20, 5)
world:update(1 / 60)
for _, child in ipairs(children_of(ship)) do
  print("a child at", world:get(child, "Position"))
end

world:despawn(ship)
world:update(1 / 60)
print("children left", world:count "Child")
