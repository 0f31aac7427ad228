-- Moving, in steps of fixed length, and bouncing off walls.

local world = ...

local level = require "level"

local floor = math.floor
local clock = world:res "Clock"

world:system("clock", {
  phase = "physics",
  run = function(_, dt)
    clock.time = clock.time + dt
  end,
})

world:system("move", {
  phase = "physics",
  query = "Position, Velocity, Room:in",
  each = function(position, velocity, room, dt)
    local x = position.x + velocity.x * dt
    local y = position.y + velocity.y * dt
    if x < room.left then
      x = room.left
      velocity.x = -velocity.x
    elseif x > room.right then
      x = room.right
      velocity.x = -velocity.x
    end
    if y < room.top then
      y = room.top
      velocity.y = -velocity.y
    elseif y > room.bottom then
      y = room.bottom
      velocity.y = -velocity.y
    end
    position.x = x
    position.y = y
  end,
})

-- Sparks fly over walls, and slow down.
world:system("fly", {
  phase = "physics",
  query = "Position, Velocity, !Room",
  each = function(position, velocity, dt)
    local kept = 1 - 2 * dt
    position.x = position.x + velocity.x * dt
    position.y = position.y + velocity.y * dt
    velocity.x = velocity.x * kept
    velocity.y = velocity.y * kept
  end,
})

local width, wall = level.width, world:array "wall"
local left, right = world:array "left", world:array "right"
local top, bottom = world:array "top", world:array "bottom"
local INSIDE = 0.999    -- of a cell

local function clamp(value, low)
  return value < low and low or value > low + INSIDE and low + INSIDE or value
end

-- Who has come to another cell looks up the walls around it. Who has slipped into a wall, past
-- its corner, goes back into the cell it came from.
world:system("look_around", {
  phase = "physics",
  after = "move",
  query = "Position, Room",
  each = function(position, room)
    local cell = room.cell
    local now = floor(position.y) * width + floor(position.x) + 1
    if now == cell then
      return
    elseif wall[now] then
      position.x = clamp(position.x, (cell - 1) % width + 0.0)
      position.y = clamp(position.y, (cell - 1) // width + 0.0)
      return
    end
    room.cell = now
    room.left, room.right, room.top, room.bottom = left[now], right[now], top[now], bottom[now]
  end,
})
