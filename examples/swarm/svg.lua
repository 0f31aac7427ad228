-- What a terminal would show after so many frames, as an SVG: pixels of one colour in a row
-- are one stroke, all strokes of a colour one path.

local canvas = require "canvas"
local kinds = require "kinds"
local level = require "level"
local scene = require "scene"

local svg = {}

local STEP = 1 / 30
local COLUMNS, LINES = 120, 34         -- characters; a pixel is half of one
local ABOVE, BELOW = 3, 3              -- for the lines of text, in pixels
local DIM, PLAIN, PAPER = 243, 250, 234  -- of the 256 colours

-- One of a terminal's 256 colours, from the cube or the greys.
local function hex(colour)
  if colour >= 232 then
    return ("#%02x%02x%02x"):format(8 + 10 * (colour - 232), 8 + 10 * (colour - 232),
      8 + 10 * (colour - 232))
  end
  local parts = {}
  for i, weight in ipairs { 36, 6, 1 } do
    local step = (colour - 16) // weight % 6
    parts[i] = step == 0 and 0 or 55 + 40 * step
  end
  return ("#%02x%02x%02x"):format(table.unpack(parts))
end

-- The strokes of each colour, and the colours in ascending order.
local function strokes(picture)
  local paths, colours = {}, {}
  for y = 0, 2 * LINES - 1 do
    local x = 0
    while x < COLUMNS do
      local first, colour = x, picture:colour(x, y)
      repeat
        x = x + 1
      until x == COLUMNS or picture:colour(x, y) ~= colour
      local path = paths[colour]
      if not path then
        path = { text = {}, x = 0, y = 0 }
        paths[colour] = path
        colours[#colours + 1] = colour
      end
      path.text[#path.text + 1] = ("m%d %dh%d"):format(first - path.x, y - path.y, x - first)
      path.x, path.y = x, y
    end
  end
  table.sort(colours)
  return paths, colours
end

local function draw_marks(picture, out)
  for cell = 1, COLUMNS * LINES do
    local mark = picture.marks[cell]
    if mark then
      out[#out + 1] = ('<text x="%d" y="%.1f" fill="%s">%s</text>'):format(
        (cell - 1) % COLUMNS, (cell - 1) // COLUMNS * 2 + 1.6, hex(mark.ink), mark.text)
    end
  end
end

-- A line of text of pieces { text, colour }.
local function draw_line(y, pieces, out)
  local spans = {}
  for i, piece in ipairs(pieces) do
    spans[i] = ('<tspan fill="%s">%s</tspan>'):format(hex(piece[2]), piece[1])
  end
  out[#out + 1] = ('<text x="1" y="%.1f" font-size="1.6" xml:space="preserve">%s</text>'):format(y,
    table.concat(spans))
end

local function legend(queries)
  local pieces = {}
  for i, kind in ipairs(kinds) do
    pieces[i] = { kind.mark and ("%s %s  "):format(kind.mark, kind.name)
      or ("■ %s %d  "):format(kind.name, queries[kind.name]:count()), kind.ink }
  end
  pieces[#pieces + 1] = { "■ fire", 124 }
  return pieces
end

-- The whole picture as text.
function svg.draw(world, title)
  local picture, queries = canvas.new(level, COLUMNS, LINES), scene.queries(world)
  scene.draw(picture, queries)
  local height = ABOVE + 2 * LINES + BELOW
  local out = {
    ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 %d %d %d" width="%d" height="%d">')
      :format(-ABOVE, COLUMNS, height, 8 * COLUMNS, 8 * height),
    ("<title>%s</title>"):format(title),
    ('<rect y="%d" width="%d" height="%d" fill="%s"/>'):format(-ABOVE, COLUMNS, height,
      hex(PAPER)),
    '<g fill="none" shape-rendering="crispEdges" transform="translate(0 0.5)">',
  }
  local paths, colours = strokes(picture)
  for _, colour in ipairs(colours) do
    out[#out + 1] = ('<path stroke="%s" d="%s"/>'):format(hex(colour),
      table.concat(paths[colour].text))
  end
  out[#out + 1] = "</g>"
  out[#out + 1] = '<g font-family="monospace" font-size="2">'
  draw_marks(picture, out)
  draw_line(-0.9, { { "swarm  ", PLAIN }, { title, DIM } }, out)
  draw_line(2 * LINES + 2.1, legend(queries), out)
  out[#out + 1] = "</g>\n</svg>\n"
  return table.concat(out, "\n")
end

-- Runs as a report does, by the same step each frame, and writes the picture.
function svg.run(world, options)
  for _ = 1, options.frames do
    world:update(STEP)
  end
  local title = ("%d entities after %d frames"):format(world:describe().entities, options.frames)
  local file = assert(io.open(options.picture, "wb"))
  assert(file:write(svg.draw(world, title)))
  assert(file:close())
end

return svg
