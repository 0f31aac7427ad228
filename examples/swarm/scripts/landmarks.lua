-- Beacons, springs and spawners are entities, too: they stand where the level has them.

local world, script = ...

local level = require "level"

local function place(spots, component)
  for _, spot in ipairs(spots) do
    world:spawn { Position = spot, [component] = true }
  end
end

script:on_load(function()
  place(level.beacons, "Beacon")
  place(level.springs, "Spring")
  place(level.spawners, "Spawner")
end)
