-- What the level says of each cell, and the ways through it, as arrays: kernels read them by a
-- cell's number.

local world, script = ...

local level = require "level"

local cells = level.width * level.height
local WALLS = { "left", "right", "top", "bottom" }

world:array("wall", "bool", cells)
world:array("fire", "bool", cells)
for _, side in ipairs(WALLS) do
  world:array(side, "f32", cells)
end

-- One way behind the other, those to beacons first: way w has cell c at (w - 1) * cells + c.
local size = (#level.beacons + #level.springs) * cells
world:array("way_distance", "f32", size)
world:array("way_x", "f32", size)
world:array("way_y", "f32", size)

local function write_ways(spots, first)
  local distance, x, y = world:array "way_distance", world:array "way_x", world:array "way_y"
  for w, spot in ipairs(spots) do
    local way, before = level:way_to(spot.x, spot.y), (first + w - 1) * cells
    for cell, left in pairs(way.distance) do
      distance[before + cell], x[before + cell], y[before + cell] = left, way.x[cell], way.y[cell]
    end
  end
end

script:on_load(function()
  world:array("wall"):write(level.wall)
  world:array("fire"):write(level.fire)
  for _, side in ipairs(WALLS) do
    world:array(side):write(level[side])
  end
  write_ways(level.beacons, 0)
  write_ways(level.springs, #level.beacons)
end)
