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

local hps, lefts = {}, {}

-- Looks at whole columns: few of the many rows are dead.
world:system("reap", {
  phase = "post_update",
  query = "Position:in, Health:in, Life:in",
  run = function(_, _, living)
    for chunk in living:chunks() do
      chunk:column("Health.hp"):read(hps)
      chunk:column("Life.left"):read(lefts)
      local x, y, ids = chunk:column "Position.x", chunk:column "Position.y", chunk.entities
      for row = 1, chunk.n do
        if hps[row] <= 0 or lefts[row] <= 0 then
          burst(x[row], y[row])
          world:despawn(ids[row])
        end
      end
    end
  end,
})
