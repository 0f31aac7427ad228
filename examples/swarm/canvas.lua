-- A picture of the world in half blocks: two pixels a character, each as bright as the beings
-- in it are many. Only what has changed since the last picture is sent.

local canvas = {}
canvas.__index = canvas

local HALF = "▀"

local FLOOR, WALL, FIRE = 233, 240, 88    -- of the 256 colours
local SHIFT = 20                          -- a pixel's light is three sums in one integer
local MASK = (1 << SHIFT) - 1

-- How bright, of the five steps above black that a colour can have, a sum of light is.
local BRIGHTEST = 64
local brightness = {}
for sum = 0, BRIGHTEST do
  brightness[sum] = sum == 0 and 0 or math.min(5, 1 + (math.log(sum, 2) * 0.7) // 1 | 0)
end

local function ground_colour(level, cell)
  return level.wall[cell] and WALL or level.fire[cell] and FIRE or FLOOR
end

function canvas.new(level, columns, lines)
  local self = setmetatable({
    columns = columns, lines = lines,
    scale_x = columns / level.width, scale_y = 2 * lines / level.height,
    ground = {}, light = {}, dark = {}, marks = {}, shown = {}, cells = {},
  }, canvas)
  for y = 0, 2 * lines - 1 do
    for x = 0, columns - 1 do
      local cell = level:cell((x + 0.5) / self.scale_x // 1 | 0, (y + 0.5) / self.scale_y // 1 | 0)
      local pixel = y * columns + x + 1
      self.ground[pixel] = ground_colour(level, cell)
      self.dark[pixel] = 0
    end
  end
  return self
end

function canvas:clear()
  table.move(self.dark, 1, #self.dark, 1, self.light)
  self.marks = {}
end

-- Adds `n` beings at the places that two lists give.
function canvas:add(xs, ys, n, light)
  local pixels, columns, height = self.light, self.columns, 2 * self.lines
  local scale_x, scale_y = self.scale_x, self.scale_y
  local add = light[1] | light[2] << SHIFT | light[3] << 2 * SHIFT
  for i = 1, n do
    local x, y = xs[i] * scale_x // 1 | 0, ys[i] * scale_y // 1 | 0
    if x >= 0 and x < columns and y >= 0 and y < height then
      local pixel = y * columns + x + 1
      pixels[pixel] = pixels[pixel] + add
    end
  end
end

-- Puts a character on the picture.
function canvas:mark(x, y, text, ink)
  local column, line = x * self.scale_x // 1 | 0, y * self.scale_y // 2 | 0
  self.marks[line * self.columns + column + 1] = { text = text, ink = ink }
end

local function shade(light, ground)
  if light == 0 then
    return ground
  end
  local red, green, blue = light & MASK, light >> SHIFT & MASK, light >> 2 * SHIFT
  red = red > BRIGHTEST and BRIGHTEST or red
  green = green > BRIGHTEST and BRIGHTEST or green
  blue = blue > BRIGHTEST and BRIGHTEST or blue
  return 16 + 36 * brightness[red] + 6 * brightness[green] + brightness[blue]
end

-- The colour of a pixel, of the 256; columns and rows of pixels count from 0.
function canvas:colour(x, y)
  local pixel = y * self.columns + x + 1
  return shade(self.light[pixel], self.ground[pixel])
end

-- What a character cell is sent as, but for its colours when they are those sent before.
local function colours(key)
  return ("\27[38;5;%d;48;5;%dm"):format(key >> 8, key & 255)
end

-- Appends what has to be sent for a line of the picture, which is shown at a row of the screen.
local function draw_line(self, line, row, out)
  local columns, ground, light, shown, marks =
    self.columns, self.ground, self.light, self.shown, self.marks
  local upper, lower = 2 * line * columns, (2 * line + 1) * columns
  local at, sent = -1, -1    -- the column behind what was sent last, and its colours
  for column = 1, columns do
    local a, b = upper + column, lower + column
    local key = shade(light[a], ground[a]) << 8 | shade(light[b], ground[b])
    local cell = line * columns + column
    local mark = marks[cell]
    if mark or shown[cell] ~= key then
      if at ~= column then
        out[#out + 1] = ("\27[%d;%dH"):format(row, column)
      end
      if sent ~= key then
        self.cells[key] = self.cells[key] or colours(key)
        out[#out + 1] = self.cells[key]
      end
      out[#out + 1] = mark and ("\27[1;38;5;%dm%s\27[22m"):format(mark.ink, mark.text) or HALF
      at, sent = column + 1, mark and -1 or key
      shown[cell] = not mark and key or nil
    end
  end
end

-- The text that turns what the terminal shows, from a row on, into this picture.
function canvas:draw(row)
  local out = {}
  for line = 0, self.lines - 1 do
    draw_line(self, line, row + line, out)
  end
  out[#out + 1] = "\27[0m"
  return table.concat(out)
end

return canvas
