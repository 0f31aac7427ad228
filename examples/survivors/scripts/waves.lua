-- Waves: who comes is decided by how long it has gone on, and how many by the settings.

local world, script = ...

local LASTS, AT_ONCE = 8, 150        -- seconds; in one run of `muster`
local NEAR, WIDE = 55, 30            -- where they come from, around the player

local kinds = {
  { "Bat", "Bat", "Bat", "Ghoul" }, { "Bat", "Ghoul" }, { "Bat", "Ghoul", "Ghoul", "Brute" },
}

local hero, wave, settings = world:res "Hero", world:res "Wave", world:res "Settings"

local function send(name, by, wide)
  local angle, distance = 2 * math.pi * world:random(by), NEAR + wide * world:random(by)
  world:instantiate(name, { Position = {
    x = hero.x + distance * math.cos(angle), y = hero.y + distance * math.sin(angle),
  } })
end

local function muster(by, count, wide)
  local list = kinds[math.min(wave.number, #kinds)]
  for _ = 1, count do
    send(list[world:random(by, #list)], by, wide)
  end
end

script:on_load(function()
  local player = world:lookup "player"
  wave.number = 1
  muster(player, settings.enemies, 90)
  world:after(LASTS, "Next", 2)
end)

-- Makes up for those who died.
world:system("muster", {
  phase = "pre_update", before = "walk", every = 0.1,
  run = function()
    local missing = settings.enemies - world:count "Enemy"
    muster(world:lookup "player", math.max(0, math.min(missing, AT_ONCE)), WIDE)
  end,
})

world:system("proceed", {
  phase = "pre_update", query = "Next:in",
  each = function(next)
    wave.number = next.wave
    send("Warlord", world:lookup "player", WIDE)
    world:after(LASTS, "Next", next.wave + 1)
  end,
})

world:observer("herald", {
  on = "enter", query = "Chief, Enemy:in",
  each = function()
    wave.chiefs = wave.chiefs + 1
  end,
})
