-- Everyone ages; who dies leaves sparks.

local world = ...

local random = require("random").of(world)

local SPARKS = 3
local turn = 2 * math.pi

world:system("age", {
  query = "Life",
  each = function(life, dt)
    life.left = life.left - dt
  end,
})

world:system("fade", {
  phase = "post_update",
  query = "Life:in, !Health",
  each = function(life, _, entity)
    if life.left <= 0 then
      world:despawn(entity)
    end
  end,
})

local function burst(x, y)
  for _ = 1, SPARKS do
    local angle, speed = turn * random(), 2 + 4 * random()
    world:spawn {
      Position = { x = x, y = y },
      Velocity = { x = speed * math.cos(angle), y = speed * math.sin(angle) },
      Life = { left = 0.4 + 0.6 * random() },
    }
  end
end

local function is_dead(_, health, life)
  return health.hp <= 0 or life.left <= 0
end

-- Few of the many rows are dead; a kernel finds them.
world:system("reap", {
  phase = "post_update",
  query = "Position:in, Health:in, Life:in",
  run = function(_, _, living)
    for position, _, _, entity in living:where(is_dead):each() do
      burst(position.x, position.y)
      world:despawn(entity)
    end
  end,
})
