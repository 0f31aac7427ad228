-- Who is there at the beginning, and who comes after.

local world, script = ...

local level = require "level"
local random = require("random").of(world)
local settings = world:res "Settings"

local AT_ONCE = 200    -- born in one run of `respawn`, at most

local function drift(speed)
  local angle = 2 * math.pi * random()
  return { x = speed * math.cos(angle), y = speed * math.sin(angle) }
end

local function motor(speed)
  return { speed = speed * (0.7 + 0.6 * random()), phase = 6 * random(), rate = 1 + 3 * random() }
end

local function anywhere()
  local x, y = level:middle(level.floor[random(#level.floor)])
  return { x = x + 0.8 * (random() - 0.5), y = y + 0.8 * (random() - 0.5) }
end

-- What everything that moves has; `speed` is how fast it begins.
local function mover(place, speed)
  return {
    Position = place, Velocity = drift(speed), Room = level:room(place.x, place.y),
  }
end

local function spawn_seeker(place, hp, age)
  local being = mover(place, 3)
  being.Course, being.Motor = true, motor(5)
  being.Health, being.Life = { hp = hp }, { left = 20 + 40 * random() - age }
  world:spawn(being)
end

local function spawn_hunter(place)
  local being = mover(place, 3)
  being.Course, being.Motor, being.Hunter = true, motor(7), true
  world:spawn(being)
end

local function spawn_drifter(place)
  world:spawn(mover(place, 0.5 + 1.5 * random()))
end

script:on_load(function()
  for _ = 1, settings.seekers do
    spawn_seeker(anywhere(), 60 + 40 * random(), 20 * random())
  end
  for _ = 1, settings.hunters do
    spawn_hunter(anywhere())
  end
  for _ = 1, settings.drifters do
    spawn_drifter(anywhere())
  end
end)

-- Replaces those who have died; also what settings.seekers was raised by.
world:system("respawn", {
  phase = "pre_update",
  every = 0.05,
  query = "Position:in, Spawner",
  run = function(_, _, spawners)
    local missing = settings.seekers - world:count "Health"
    local births = math.min(missing, AT_ONCE)
    local share = math.ceil(births / math.max(spawners:count(), 1))
    for position, spawner in spawners:each() do
      local count = math.min(share, births)
      births = births - count
      for _ = 1, count do
        spawn_seeker({ x = position.x, y = position.y }, 100, 0)
      end
      spawner.made = spawner.made + math.max(count, 0)
    end
  end,
})
