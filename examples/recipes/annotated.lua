-- A live script as an editor understands it: the annotation tells what the two parameters are,
-- so that world: and script: complete, and what does not fit is underlined.

---@type ecs.World, ecs.Script
local world, script = ...

world:component("Position", { "x: f32", "y: f32" })

world:system("drift", {
  query = "Position",
  each = function(position, dt)
    position.x = position.x + dt
  end,
})

script:on_load(function()
  script.state.ship = world:spawn { Position = {} }
end)
