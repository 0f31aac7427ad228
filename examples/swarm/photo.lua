-- What a terminal would show after so many frames, as a file.

local canvas = require "canvas"
local kinds = require "kinds"
local level = require "level"
local scene = require "scene"
local svg = require "svg"

local photo = {}

local STEP = 1 / 30

local function legend(queries)
  local pieces = {}
  for i, kind in ipairs(kinds) do
    pieces[i] = { kind.mark and ("%s %s  "):format(kind.mark, kind.name)
      or ("■ %s %d  "):format(kind.name, queries[kind.name]:count()), kind.ink }
  end
  pieces[#pieces + 1] = { "■ fire", 124 }
  return pieces
end

-- Runs as a report does, by the same step each frame, and writes the picture.
function photo.run(world, options)
  for _ = 1, options.frames do
    world:update(STEP)
  end
  local picture, queries = canvas.new(level, svg.COLUMNS, svg.LINES), scene.queries(world)
  scene.draw(picture, queries)
  local title = ("%d entities after %d frames"):format(world:describe().entities, options.frames)
  svg.write(options.picture, svg.draw(picture, "swarm", title, legend(queries)))
end

return photo
