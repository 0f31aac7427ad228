-- Prefabs: kinds of enemies as templates. A wave is spawned from them, what all of a kind have in
-- common is kept once, and a kind that is declared again takes along those that are there.

local ecs = require "ecs"
local world = ecs.world { tag = 1 }

world:component("Position", { "x: f32", "y: f32" })
world:component("Health", { "hp: f32" })
world:component("Stats", { "speed: f32", "armour: f32" })
world:component("Damage", { "amount: f32" })

local function declare_kinds(hp)
  world:prefab("Orc", { Position = true, Health = { hp = hp } }, {
    shared = { Stats = { speed = 2, armour = 1 } },
    children = { { "axe", { Damage = { amount = 3 } } } },
  })
  world:prefab("Chief", { Health = { hp = 30 } }, { is_a = "Orc" })
end

declare_kinds(10)
for i = 1, 3 do
  world:instantiate(i < 3 and "Orc" or "Chief", { Position = { x = i } })
end

world:system("march", {
  query = "Position, IsA*->Stats:in",
  each = function(position, stats, dt)
    position.x = position.x + stats.speed * dt
  end,
})
world:update(1)

local function show(title)
  local parts = {}
  for position, health in world:query("Position, Health"):each() do
    parts[#parts + 1] = ("%g at %g"):format(health.hp, position.x)
  end
  print(title, table.concat(parts, ", "))
end

show "hp"
declare_kinds(15)
show "orcs of 15"
print("axes", world:count "Damage")
