-- Who comes for the player: templates, and what they leave is kept once for all of a kind.

local world = ...

local function kind(name, hp, speed, bite, worth, heart)
  world:prefab(name, {
    Position = true, Velocity = true,
    Health = { hp = hp }, Enemy = { speed = speed, bite = bite },
  }, { shared = { Loot = { worth = worth, heart = heart } } })
end

kind("Bat", 20, 8, 2, 1, 0.01)
kind("Ghoul", 45, 6, 4, 2, 0.02)
kind("Brute", 150, 5, 10, 8, 0.05)
world:prefab("Warlord", { Health = { hp = 3000 }, Chief = true },
  { is_a = "Brute", shared = { Loot = { worth = 100, heart = 0.3 } } })
world:prefab("Gem", { Position = true, Pickup = { worth = 1 } })
world:prefab("Heart", { Position = true, Pickup = { hp = 10 } })
