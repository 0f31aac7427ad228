-- What a terminal would show, as an SVG: pixels of one colour in a row
-- are one stroke, all strokes of a colour one path.

local svg = {}

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
    spans[i] = ('<tspan fill="%s">%s</tspan>'):format(hex(piece[2] or PLAIN), piece[1])
  end
  out[#out + 1] = ('<text x="1" y="%.1f" font-size="1.6" xml:space="preserve">%s</text>'):format(y,
    table.concat(spans))
end

svg.COLUMNS, svg.LINES = COLUMNS, LINES

-- The whole of a picture of that size as text; the legend is pieces { text, colour }.
function svg.draw(picture, name, title, legend)
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
  draw_line(-0.9, { { name .. "  ", PLAIN }, { title, DIM } }, out)
  draw_line(2 * LINES + 2.1, legend, out)
  out[#out + 1] = "</g>\n</svg>\n"
  return table.concat(out, "\n")
end

function svg.write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

return svg
