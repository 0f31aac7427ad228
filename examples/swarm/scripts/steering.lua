-- Who has a course swims along it: from cell to cell the way leads to a beacon, from there to
-- the next; the wounded go to the spring that is nearest.

local world = ...

local level = require "level"
local random = require("random").of(world)

local sin = math.sin
local clock = world:res "Clock"

local NEAR = 1.5       -- cells: the goal is reached
local agility = 4      -- how fast a course is taken up, per second

local beacons = world:query "Position:in, Beacon"
local springs = world:query "Position:in, Spring"

local ways = {}        -- by goal
local beacon_ids = {}

local function learn(query)
  local ids = {}
  for position, goal in query:each() do
    ids[#ids + 1] = goal
    ways[goal] = ways[goal] or level:way_to(position.x, position.y)
  end
  return ids
end

local function towards(goal, cell)
  local way = ways[goal]
  return goal, way.distance[cell], way.x[cell], way.y[cell]
end

local TRAVELLERS = "Course.goal, Course.distance, Course.x, Course.y, Room.cell:in"

world:system("find_way", {
  phase = "physics",
  every = 0.1,
  query = TRAVELLERS .. ", !Wounded",
  run = function(_, _, travellers)
    beacon_ids = learn(beacons)
    travellers:map(function(goal, distance, _, _, cell)
      if not ways[goal] or distance < NEAR then
        goal = beacon_ids[random(#beacon_ids)]
      end
      return towards(goal, cell)
    end)
  end,
})

world:system("find_spring", {
  phase = "physics",
  every = 0.1,
  query = TRAVELLERS .. ", Wounded",
  run = function(_, _, wounded)
    local ids = learn(springs)
    wounded:map(function(_, _, _, _, cell)
      local best = ids[1]
      for i = 2, #ids do
        if ways[ids[i]].distance[cell] < ways[best].distance[cell] then
          best = ids[i]
        end
      end
      return towards(best, cell)
    end)
  end,
})

world:system("steer", {
  phase = "physics",
  before = "move",
  query = "Velocity, Course:in, Motor:in",
  each = function(velocity, course, motor, dt)
    local cx, cy, speed = course.x, course.y, motor.speed
    local swing = sin(clock.time * motor.rate + motor.phase)
    local pull = agility * dt
    velocity.x = velocity.x + ((cx - cy * swing) * speed - velocity.x) * pull
    velocity.y = velocity.y + ((cy + cx * swing) * speed - velocity.y) * pull
  end,
})
