-- The player: steered by keys or by itself, it learns, falls, and rises again.

local world, script = ...

local SPEED, SIGHT, FEAR = 9, 4, 0.02
local ROUND = 45                     -- how wide its round is
local hero, input = world:res "Hero", world:res "Input"
local crowd = world:index "crowd"

script:on_load(function()
  local start = { x = ROUND }
  world:name(world:spawn { Position = start, Velocity = true, Player = true, Gun = true }, "player")
  hero.x = ROUND
end)

-- By itself it goes round in circles, and out of the way of who comes near.
world:system("pilot", {
  before = "home", query = "Position:in, Velocity, with Player",
  each = function(p, v)
    local x, y = input.x, input.y
    if input.auto then
      local distance = math.max(math.sqrt(p.x * p.x + p.y * p.y), 1)
      local inwards = (distance - ROUND) / ROUND
      x, y = -p.y / distance - p.x * inwards / ROUND, p.x / distance - p.y * inwards / ROUND
      for q in crowd:within(p.x, p.y, SIGHT) do
        x, y = x + (p.x - q.x) * FEAR, y + (p.y - q.y) * FEAR
      end
    end
    local length = math.max(math.sqrt(x * x + y * y), 1e-9)
    v.x, v.y = x / length * SPEED, y / length * SPEED
    hero.x, hero.y = p.x, p.y
  end,
})

-- A level more is a barrel or two more, and every fifth one a better bullet.
world:system("learn", {
  phase = "post_update", query = "Gun, with Player",
  each = function(gun)
    while hero.xp >= 100 * hero.level do
      hero.xp = hero.xp - 100 * hero.level
      hero.level = hero.level + 1
      gun.barrels = math.min(gun.barrels + 2, 120)
      gun.damage = gun.damage + (hero.level % 4 == 0 and 1 or 0)
    end
  end,
})

world:system("fall", {
  after = "hurt",
  run = function()
    if hero.hp <= 0 then
      hero.hp, hero.falls = 100.0, hero.falls + 1
      world:emit("Fallen", hero.x, hero.y)
    end
  end,
})

-- Who falls takes along all that are near.
world:system("avenge", {
  after = "fall", query = "Fallen:in",
  each = function(fallen)
    for _, foe in crowd:within(fallen.x, fallen.y, 12) do
      world:set(foe, "Health.hp", 0)
    end
  end,
})
