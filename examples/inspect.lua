-- A world in the browser: open the link that this prints. A number ends it after so many updates.

local world = require("ecs").world()
world:component("Position", { "x: f32", "y: f32" })
world:component("Spin", { { "speed: f32 = 1", unit = "rad/s", min = 0, doc = "about (0, 0)" } })
world:system("spin", { query = "Position, Spin:in", each = function(position, spin, dt)
  local x, y, angle = position.x, position.y, spin.speed * dt
  position.x, position.y = x - y * angle, y + x * angle
end })
for i = 1, 500 do
  world:spawn { Position = { i / 10, 0 }, Spin = { 50 / (50 + i) } }
end

local inspector <close> = require("ecs.inspect").open(world, { edit = true })
for _ = 1, tonumber(arg[1]) or math.huge do
  inspector:update(1 / 60)    -- in place of world:update
  inspector:poll(1 / 60)      -- and wait for the next frame
end
