-- Who is there at the beginning, and who comes after.

local world, script = ...

local level = require "level"
local settings = world:res "Settings"

local AT_ONCE = 200    -- born in one run of `respawn`, at most

local left, right = world:array "left", world:array "right"
local top, bottom = world:array "top", world:array "bottom"

-- Who brings a being forth decides by random numbers what it is like.
local function drift(parent, speed)
  local angle = 2 * math.pi * world:random(parent)
  return { x = speed * math.cos(angle), y = speed * math.sin(angle) }
end

local function motor(parent, speed)
  return {
    speed = speed * (0.7 + 0.6 * world:random(parent)),
    phase = 6 * world:random(parent), rate = 1 + 3 * world:random(parent),
  }
end

local function room(place)
  local cell = math.floor(place.y) * level.width + math.floor(place.x) + 1
  return {
    cell = cell,
    left = left[cell], right = right[cell], top = top[cell], bottom = bottom[cell],
  }
end

-- What everything that moves has; `speed` is how fast it begins.
local function mover(parent, place, speed)
  return { Position = place, Velocity = drift(parent, speed), Room = room(place) }
end

local function spawn_seeker(parent, place, hp, age)
  local being = mover(parent, place, 3)
  being.Course, being.Motor = true, motor(parent, 5)
  being.Health, being.Life = { hp = hp }, { left = 20 + 40 * world:random(parent) - age }
  world:spawn(being)
end

local function spawn_hunter(parent, place)
  local being = mover(parent, place, 3)
  being.Course, being.Motor, being.Hunter = true, motor(parent, 7), true
  world:spawn(being)
end

local function spawn_drifter(parent, place)
  world:spawn(mover(parent, place, 0.5 + 1.5 * world:random(parent)))
end

local function anywhere(parent)
  local x, y = level:middle(level.floor[world:random(parent, #level.floor)])
  return {
    x = x + 0.8 * (world:random(parent) - 0.5), y = y + 0.8 * (world:random(parent) - 0.5),
  }
end

script:on_load(function()
  local parent = world:query("Spawner"):first()
  for _ = 1, settings.seekers do
    local hp, age = 60 + 40 * world:random(parent), 20 * world:random(parent)
    spawn_seeker(parent, anywhere(parent), hp, age)
  end
  for _ = 1, settings.hunters do
    spawn_hunter(parent, anywhere(parent))
  end
  for _ = 1, settings.drifters do
    spawn_drifter(parent, anywhere(parent))
  end
end)

-- Replaces those who have died; also what settings.seekers was raised by.
world:system("respawn", {
  phase = "pre_update",
  every = 0.05,
  query = "Position:in, Spawner",
  each = function(position, spawner, _, entity)
    local missing = settings.seekers - world:count "Health"
    local births = math.max(math.min(missing, AT_ONCE), 0)
    local share = (births + world:count "Spawner" - 1) // world:count "Spawner"
    for _ = 1, share do
      spawn_seeker(entity, { x = position.x, y = position.y }, 100, 0)
    end
    spawner.made = spawner.made + share
  end,
})
