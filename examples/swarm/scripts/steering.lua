-- Who has a course swims along it: from cell to cell the way leads to a beacon, from there to
-- the next; the wounded go to the spring that is nearest.

local world = ...

local level = require "level"

local sin = math.sin
local clock = world:res "Clock"

local NEAR = 1.5       -- cells: the goal is reached
local agility = 4      -- how fast a course is taken up, per second

local cells = level.width * level.height
local beacons, springs = #level.beacons, #level.springs
local distance, x, y = world:array "way_distance", world:array "way_x", world:array "way_y"

local function follow(course, way, cell)
  local at = (way - 1) * cells + cell
  course.way = way
  course.distance, course.x, course.y = distance[at], x[at], y[at]
end

world:system("find_way", {
  phase = "physics",
  every = 0.1,
  query = "Course, Room:in, !Wounded",
  each = function(course, room, _, entity)
    local way = course.way
    if way == 0 or way > beacons or course.distance < NEAR then
      way = world:random(entity, beacons)
    end
    follow(course, way, room.cell)
  end,
})

world:system("find_spring", {
  phase = "physics",
  every = 0.1,
  query = "Course, Room:in, Wounded",
  each = function(course, room)
    local best = beacons + 1
    for way = beacons + 2, beacons + springs do
      if distance[(way - 1) * cells + room.cell] < distance[(best - 1) * cells + room.cell] then
        best = way
      end
    end
    follow(course, best, room.cell)
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
