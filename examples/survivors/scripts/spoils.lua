-- Who dies leaves something; the player draws near what lies about.

local world = ...

local DRAW, NEAR, PACE = 12, 1.2, 18
local hero = world:res "Hero"

world:system("die", {
  phase = "post_update", query = "Position:in, Health:in, with Enemy",
  each = function(p, health, _, entity)
    if health.hp <= 0 then
      world:emit("Slain", world:target(entity, "IsA"), p.x, p.y, world:random(entity))
      world:despawn(entity)
    end
  end,
})

world:system("drop", {
  phase = "post_update", after = "die", query = "Slain:in",
  each = function(slain)
    local place = { x = slain.x, y = slain.y }
    local worth, heart = world:get(slain.kind, "Loot")   -- of a template, which no path leads to
    if slain.luck < heart then
      world:instantiate("Heart", { Position = place })
    elseif slain.luck < 0.4 then
      world:instantiate("Gem", { Position = place, Pickup = { worth = worth } })
    end
  end,
})

world:system("gather", {
  after = "hurt", query = "Position, Pickup",
  each = function(p, pickup, dt, entity)
    local dx, dy = hero.x - p.x, hero.y - p.y
    local distance = math.sqrt(dx * dx + dy * dy)
    pickup.left = pickup.left - dt
    if distance < NEAR then
      world:emit("Picked", pickup.worth, pickup.hp)
      world:despawn(entity)
    elseif distance < DRAW then
      p.x, p.y = p.x + dx / distance * PACE * dt, p.y + dy / distance * PACE * dt
    elseif pickup.left <= 0 then
      world:despawn(entity)
    end
  end,
})

world:system("gain", {
  after = "gather", query = "Picked:in",
  each = function(picked)
    hero.xp = hero.xp + picked.worth
    hero.hp = math.min(hero.hp + picked.hp, 100)
  end,
})

world:observer("tally", {
  on = "despawn", query = "Enemy, Health:in",
  each = function(_, health)
    hero.kills = hero.kills + (health.hp <= 0 and 1 or 0)
  end,
})
