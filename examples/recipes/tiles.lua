-- Tile maps: what a cell of the map is, is no entity. A plain table by cell is quickest for
-- systems in Lua; what is to be saved with the world goes into an array field of a resource.
-- Entities know their cell as an integer.

local ecs = require "ecs"
local world = ecs.world()

local WIDTH, HEIGHT = 16, 4
local MAP = [[
################
#......~~......#
#......~~......#
################]]

local cost = {}                        -- seconds to cross a cell; nil where there is a wall
for y, line in ipairs { MAP:match "(%S+)\n(%S+)\n(%S+)\n(%S+)" } do
  for x = 1, WIDTH do
    local mark = line:sub(x, x)
    cost[(y - 1) * WIDTH + x] = mark == "." and 1 or mark == "~" and 3 or nil
  end
end

world:resource("Trodden", { ("times: u16[%d]"):format(WIDTH * HEIGHT) })
local trodden = world:res "Trodden"

world:component("Walker", { "cell: i32", "step: i32 = 1", "wait: f32" })
local walker = world:spawn { Walker = { cell = WIDTH + 2 } }

world:system("walk", {
  query = "Walker",
  each = function(walk, dt)
    walk.wait = walk.wait - dt
    if walk.wait > 0 then
      return
    end
    if not cost[walk.cell + walk.step] then
      walk.step = -walk.step
    end
    walk.cell = walk.cell + walk.step
    walk.wait = cost[walk.cell]
    trodden.times[walk.cell] = trodden.times[walk.cell] + 1
  end,
})

for _ = 1, 60 do
  world:update(1)
end
for y = 0, HEIGHT - 1 do
  local line = {}
  for x = 1, WIDTH do
    local cell = y * WIDTH + x
    line[x] = cost[cell] and trodden.times[cell] or "#"
  end
  print(table.concat(line))
end
print("the walker is in cell", (world:get(walker, "Walker.cell")))
