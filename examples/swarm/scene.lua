-- The beings of the world on a canvas.

local kinds = require "kinds"

local scene = {}

-- The query of every kind, by its name.
function scene.queries(world)
  local queries = {}
  for _, kind in ipairs(kinds) do
    queries[kind.name] = world:query(kind.query)
  end
  return queries
end

local xs, ys = {}, {}

local function draw_kind(picture, kind, query)
  for chunk in query:chunks() do
    chunk:column("Position.x"):read(xs)
    chunk:column("Position.y"):read(ys)
    if kind.light then
      picture:add(xs, ys, chunk.n, kind.light)
    else
      for i = 1, chunk.n do
        picture:mark(xs[i], ys[i], kind.mark, kind.ink)
      end
    end
  end
end

function scene.draw(picture, queries)
  picture:clear()
  for _, kind in ipairs(kinds) do
    draw_kind(picture, kind, queries[kind.name])
  end
end

return scene
