-- Tile maps: what a cell of the map is, is no entity. The map is an array of the world, saved with
-- it, which kernels read and write by a computed index. Entities know their cell as an integer.

local ecs = require "ecs"
local world = ecs.world()

local WIDTH, HEIGHT = 16, 4
local MAP = [[
################
#......~~......#
#......~~......#
################]]

-- Seconds to cross a cell; 0 where there is a wall.
local cost = world:array("cost", "u8", WIDTH * HEIGHT)
for y, line in ipairs { MAP:match "(%S+)\n(%S+)\n(%S+)\n(%S+)" } do
  for x = 1, WIDTH do
    local mark = line:sub(x, x)
    cost[(y - 1) * WIDTH + x] = mark == "." and 1 or mark == "~" and 3 or 0
  end
end

local trodden = world:array("trodden", "u16", WIDTH * HEIGHT)

world:component("Walker", { "cell: i32", "step: i32 = 1", "wait: f32" })
local walker = world:spawn { Walker = { cell = WIDTH + 2 } }

world:system("walk", {
  query = "Walker",
  each = function(walk, dt)
    walk.wait = walk.wait - dt
    if walk.wait > 0 then
      return
    end
    if cost[walk.cell + walk.step] == 0 then
      walk.step = -walk.step
    end
    walk.cell = walk.cell + walk.step
    walk.wait = cost[walk.cell]
    trodden[walk.cell] = trodden[walk.cell] + 1
  end,
})

-- Grass grows again: the rows of this system are the cells.
world:system("regrow", {
  array = "trodden",
  after = "walk",
  every = 30,
  each = function(cell)
    if trodden[cell] > 0 then
      trodden[cell] = trodden[cell] - 1
    end
  end,
})

for _ = 1, 60 do
  world:update(1)
end
for y = 0, HEIGHT - 1 do
  local line = {}
  for x = 1, WIDTH do
    local cell = y * WIDTH + x
    line[x] = cost[cell] > 0 and trodden[cell] or "#"
  end
  print(table.concat(line))
end
print("the walker is in cell", (world:get(walker, "Walker.cell")))
