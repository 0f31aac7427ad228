-- Everyone ages; who dies leaves sparks.

local world = ...

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

local function burst(x, y, entity)
  for _ = 1, SPARKS do
    local angle, speed = turn * world:random(entity), 2 + 4 * world:random(entity)
    world:spawn {
      Position = { x = x, y = y },
      Velocity = { x = speed * math.cos(angle), y = speed * math.sin(angle) },
      Life = { left = 0.4 + 0.6 * world:random(entity) },
    }
  end
end

world:system("reap", {
  phase = "post_update",
  query = "Position:in, Health:in, Life:in",
  each = function(position, health, life, _, entity)
    if health.hp <= 0 or life.left <= 0 then
      burst(position.x, position.y, entity)
      world:despawn(entity)
    end
  end,
})
