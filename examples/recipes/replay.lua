-- Replays: a world, its seed and what was put in give the same run. world:random depends on the
-- seed, the update, the entity and the call, never on what else happened; the digest tells
-- whether two worlds are alike.

local ecs = require "ecs"

local function new_game(seed)
  local world = ecs.world { tag = 1, seed = seed }
  world:component("Position", { "x: f32", "y: f32" })
  world:resource("Wind", { "x: f32" })
  local wind = world:res "Wind"
  world:system("drift", {
    query = "Position",
    compile = true,
    each = function(position, dt, entity)
      position.x = position.x + (world:random(entity) - 0.5 + wind.x) * dt
      position.y = position.y + (world:random(entity) - 0.5) * dt
    end,
  })
  return world
end

-- The inputs of a player, by update.
local inputs = { [10] = { "wind", 2 }, [25] = { "spawn", 5 }, [40] = { "wind", -1 } }

local function run(seed, updates)
  local world = new_game(seed)
  world:spawn_many(100, { Position = true })
  for update = 1, updates do
    local input = inputs[update]
    if input and input[1] == "wind" then
      world:res("Wind").x = input[2]
    elseif input then
      world:spawn_many(input[2], { Position = true })
    end
    world:update(1 / 60)
  end
  return world:digest()
end

print("the same seed and inputs", run(7, 60) == run(7, 60))
print("another seed", run(8, 60) == run(7, 60))
print("an update more", run(7, 61) == run(7, 60))
inputs[10][2] = 2.001
print("another input", run(7, 60) == run(7, 61))
