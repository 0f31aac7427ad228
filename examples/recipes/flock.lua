-- Who is near: sheep keep away from the wolf that is nearest, and wolves bite whom they reach; who
-- is hurt most is looked up by how much is left of them.

local ecs = require "ecs"
local world = ecs.world()

world:component("Place", { "x: f32", "y: f32" })
world:component("Health", { "hp: f32 = 10", "most: f32 = 10" })
world:tag "Sheep"
world:tag "Wolf"

local flock = world:index("flock", {
  query = "Place:in, Health:in, with Sheep", grid = "Place", cell = 4,
})
local wolves = world:index("wolves", { query = "Place:in, with Wolf", grid = "Place", cell = 4 })
local hurt = world:index("hurt", {
  query = "Health:in, with Sheep",
  ordered = function(health) return health.hp / health.most end,
})

world:system("bite", {
  query = "Place:in, with Wolf",
  each = function(place)
    for _, health, sheep in flock:within(place.x, place.y, 2) do
      world:set(sheep, "Health.hp", health.hp - 1)
    end
  end,
})

world:system("flee", {
  after = "bite",
  query = "Place, with Sheep",
  each = function(place)
    local wolf, distance = wolves:nearest(place.x, place.y, 8)
    if wolf and distance > 0 then
      local x, y = world:get(wolf, "Place")
      place.x = place.x + (place.x - x) / distance
      place.y = place.y + (place.y - y) / distance
    end
  end,
})

for i = 1, 6 do
  local sheep = world:spawn { Place = { x = i * 2, y = 0 }, Health = {}, Sheep = true }
  world:name(sheep, "sheep " .. i)
end
world:spawn { Place = { x = 4, y = 1 }, Wolf = true }
world:spawn { Place = { x = 9, y = 0 }, Wolf = true }

for turn = 1, 3 do
  world:update(1)
  local names = {}
  for health, sheep in hurt:range(0, 0.99) do
    names[#names + 1] = ("%s %.0f"):format(world:name(sheep), health.hp)
  end
  print(turn, table.concat(names, ", "))
end
for place, health, sheep in flock:within(0, 0, 5) do
  print(world:name(sheep), ("%.1f"):format(place.x), health.hp)
end
