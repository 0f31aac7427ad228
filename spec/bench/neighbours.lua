-- Kernels that look into a grid, against scalar loops by hand over the same copies, sorted by the
-- same cells.

local ecs = require("ecs")
local floor = require("mod_neighbours")
local measure = require("measure")

local PARTNERS = 18

local M = { PARTNERS = PARTNERS }

-- A world of the rows of a field, and the index over it.
function M.new_world(field, rows, options)
  local world = ecs.world(options)
  world:component("Place", { "x: f32", "y: f32" })
  world:component("Speed", { "x: f32", "y: f32" })
  world:component("Sums", { "x: f32", "y: f32", "vx: f32", "vy: f32", "xx: f32", "yy: f32" })
  world:component("Near", { "far: f32" })
  local ids = world:spawn_many(rows, { Place = {}, Speed = {}, Sums = {}, Near = {} })
  for i = 1, rows do
    local x, y, vx, vy = floor.row(field, i)
    world:set(ids[i], "Place", x, y)
    world:set(ids[i], "Speed", vx, vy)
  end
  local flock = world:index("flock", { query = "Place:in, Speed:in", grid = "Place", cell = 1 })
  return world, ids, flock
end

-- A query and the function for it.
function M.steer(flock)
  return "Place:in, Sums", function(p, s)
    local x, y, vx, vy, xx, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for q, v in flock:within(p.x, p.y, 1) do
      local dx, dy = q.x - p.x, q.y - p.y
      x, y, vx, vy = x + dx, y + dy, vx + v.x, vy + v.y
      xx, yy = xx + dx * dx, yy + dy * dy
    end
    s.x, s.y, s.vx, s.vy, s.xx, s.yy = x, y, vx, vy, xx, yy
  end
end

local function nearest(flock)
  return "Place:in, Near", function(p, n, _, e)
    local _, distance = flock:nearest(p.x, p.y, 1, e)
    n.far = distance or -1
  end
end

-- ns a row of a kernel over an index that is up to date, and of the floor, in turns.
local function compare(make, is_nearest, rows, times, kernels)
  local field = floor.flock(rows, PARTNERS)
  local world, ids, flock = M.new_world(field, rows, { tag = 1, kernels = kernels })
  local query, each = make(flock)
  query = world:query(query)
  local ours, theirs = math.huge, math.huge
  world:system("look", { run = function()
    query:each(each)
    for _ = 1, 5 do
      theirs = math.min(theirs, floor.run(field, is_nearest, times))
      local start = measure.now()
      for _ = 1, times do query:each(each) end
      ours = math.min(ours, measure.now() - start)
    end
  end })
  world:update(1)
  for i, id in ipairs(ids) do
    local wanted = select(is_nearest and 11 or 5, floor.row(field, i))
    local got = world:get(id, is_nearest and "Near" or "Sums")
    if math.abs(wanted - got) > 1e-3 then
      error(("row %d: the floor has %.17g, the library %.17g"):format(i, wanted, got))
    end
  end
  world:close()
  return ours * 1e9 / times / rows, theirs * 1e9 / times / rows
end

function M.add_rows(add)
  local n = 100000
  local function row(name, target, ns, by_hand)
    add({ workload = name, n = n, ns = ns, floor = by_hand, target = target,
          kind = target and "ratio" or "note" })
  end
  row("boids: 18 partners each, 6 sums", 1, compare(M.steer, false, n, 2))
  row("the same, kernels off", nil, compare(M.steer, false, n, 1, false))
  row("nearest, within a cell's width", 1.5, compare(nearest, true, n, 2))
end

return M
