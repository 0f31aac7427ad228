-- Spawn pools: none is needed. Indices and rows are used again as they are, and spawning many
-- alike fills columns. What is worth keeping is a plain table of components.

local ecs = require "ecs"
local world = ecs.world { tag = 1 }

world:component("Position", { "x: f32", "y: f32" })
world:component("Velocity", { "x: f32", "y: f32" })
world:component("Life", { "left: f32" })

local SPARK = { Position = { y = 1 }, Velocity = { y = 3 }, Life = { left = 1 } }

world:system("age", {
  query = "Life",
  compile = true,
  each = function(life, dt, entity)
    life.left = life.left - dt
    if life.left <= 0 then
      world:despawn(entity)
    end
  end,
})

local first = world:spawn_many(1000, SPARK)[1]
local bytes
for round = 1, 100 do                -- 1,000 die and 1,000 are born, a hundred times
  world:update(1)
  world:spawn_many(1000, SPARK)
  bytes = bytes or round == 2 and world:describe().bytes
end
print("memory grew by", world:describe().bytes - bytes)

print("alive", world:count "Life")
print("one of them", (ecs.format(world:query("Life"):first())))
print("an old id", world:alive(first))
