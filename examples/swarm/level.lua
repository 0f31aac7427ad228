-- The level: level.txt as lists by cell, and the way from every cell to a place.
--
-- Cells are numbered from 1, row by row; cell (column, row), both from 0, spans the square
-- from (column, row) to (column + 1, row + 1).

local path = select(2, ...)

local MARGIN = 0.05    -- how far beings stay away from walls
local FIRE_COST = 8    -- how much longer a cell on fire seems

local level = {}
level.__index = level

local MARKS = { ["*"] = "beacons", ["+"] = "springs", ["o"] = "spawners" }

local function read_lines(file)
  local lines, width = {}, 0
  for line in io.lines(file) do
    if line:sub(1, 1) ~= ";" then
      lines[#lines + 1] = line
      width = math.max(width, #line)
    end
  end
  return lines, width
end

local function read_cell(self, mark, column, row)
  local cell = self:cell(column, row)
  self.wall[cell] = mark == "#"
  self.fire[cell] = mark == "~"
  if mark ~= "#" then
    self.floor[#self.floor + 1] = cell
  end
  local places = self[MARKS[mark]]
  if places then
    places[#places + 1] = { x = column + 0.5, y = row + 0.5 }
  end
end

-- Walks along `count` cells from `first`, and notes for each where the nearest wall ends on
-- the low side and begins on the high side; `first` is at coordinate 0.
local function note_walls(self, first, step, count, low, high)
  local wall = self.wall
  local edge = 0
  for at = 0, count - 1 do
    local cell = first + at * step
    if wall[cell] then
      edge = at + 1
    end
    low[cell] = edge + MARGIN
  end
  edge = count
  for at = count - 1, 0, -1 do
    local cell = first + at * step
    if wall[cell] then
      edge = at
    end
    high[cell] = edge - MARGIN
  end
end

local function check_border(self, file)
  for cell in pairs(self.wall) do
    local x, y = self:middle(cell)
    local inside = x > 1 and x < self.width - 1 and y > 1 and y < self.height - 1
    if not inside and not self.wall[cell] then
      error(("%s: the border is open at column %d of row %d"):format(file, x + 0.5, y + 0.5))
    end
  end
end

function level:cell(column, row)
  return row * self.width + column + 1
end

function level:middle(cell)
  return (cell - 1) % self.width + 0.5, (cell - 1) // self.width + 0.5
end

-- The cells around one that can be walked to from there, and how far each is.
local function neighbours(self, cell)
  local wall, width = self.wall, self.width
  local near, far = {}, {}
  local function look(step, distance)
    local free = not wall[cell + step]
    if free then
      near[#near + 1], far[#far + 1] = cell + step, distance
    end
    return free
  end
  local left, right, up, down = look(-1, 1), look(1, 1), look(-width, 1), look(width, 1)
  local diagonal = math.sqrt(2)
  if left and up then look(-width - 1, diagonal) end
  if right and up then look(-width + 1, diagonal) end
  if left and down then look(width - 1, diagonal) end
  if right and down then look(width + 1, diagonal) end
  return near, far
end

-- Steps from every cell that leads there to the goal's: cells whose distance has become
-- smaller wait in line until their neighbours have heard of it.
local function distances(self, goal)
  local distance, line, waits = { [goal] = 0 }, { goal }, { [goal] = true }
  local at = 1
  while line[at] do
    local cell = line[at]
    at, waits[cell] = at + 1, false
    local near, far = neighbours(self, cell)
    for i, other in ipairs(near) do
      local way = distance[cell] + far[i] + (self.fire[other] and FIRE_COST or 0)
      if way < (distance[other] or math.huge) then
        distance[other] = way
        if not waits[other] then
          line[#line + 1], waits[other] = other, true
        end
      end
    end
  end
  return distance
end

-- Towards the neighbour that is nearest to the goal; close to the goal round about it.
local function direction(self, distance, cell, x, y)
  local dx, dy = self:middle(cell)
  if distance[cell] < 3 then
    dx, dy = x - dx, y - dy
    dx, dy = dx / 2 - dy, dy / 2 + dx
  else
    local best = cell
    for _, other in ipairs((neighbours(self, cell))) do
      if distance[other] < distance[best] then
        best = other
      end
    end
    local bx, by = self:middle(best)
    dx, dy = bx - dx, by - dy
  end
  local length = math.sqrt(dx * dx + dy * dy)
  if length == 0 then
    return 0.0, 0.0
  end
  return dx / length, dy / length
end

-- The way to a place: for every cell the direction to take, and the distance that is left.
-- Cells that do not lead there have none.
function level:way_to(x, y)
  local way = { x = {}, y = {}, distance = nil }
  way.distance = distances(self, self:cell(x // 1 | 0, y // 1 | 0))
  for cell in pairs(way.distance) do
    way.x[cell], way.y[cell] = direction(self, way.distance, cell, x, y)
  end
  return way
end

local function check_reach(self, file)
  local distance = distances(self, self.floor[1])
  for _, cell in ipairs(self.floor) do
    if not distance[cell] then
      local x, y = self:middle(cell)
      error(("%s: nothing leads to column %d of row %d"):format(file, x + 0.5, y + 0.5))
    end
  end
end

-- Reads a map; every cell that is no wall can be reached from every other.
function level.read(file)
  local lines, width = read_lines(file)
  local self = setmetatable({
    width = width, height = #lines,
    wall = {}, fire = {}, floor = {},
    beacons = {}, springs = {}, spawners = {},
    left = {}, right = {}, top = {}, bottom = {},
  }, level)
  for row, line in ipairs(lines) do
    for column = 1, width do
      read_cell(self, line:sub(column, column), column - 1, row - 1)
    end
  end
  check_border(self, file)
  check_reach(self, file)
  for row = 0, self.height - 1 do
    note_walls(self, self:cell(0, row), 1, width, self.left, self.right)
  end
  for column = 0, width - 1 do
    note_walls(self, self:cell(column, 0), width, self.height, self.top, self.bottom)
  end
  return self
end

return level.read((path:gsub("%.lua$", ".txt")))
