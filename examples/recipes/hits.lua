-- Who hits whom: shots tell of hits by events, which a system takes from those who are hit; a
-- resource keeps the score, and an event put off brings the fallen back.

local ecs = require "ecs"
local world = ecs.world()

world:component("Health", { "hp: f32 = 10" })
world:component("Shot", { "at: entity", "flight: f32", "damage: f32 = 4" })
world:event("Hit", { "who: entity", "damage: f32" })
world:event("Return", { "who: entity" })
world:resource("Score", { "hits: i32" })

local score = world:res "Score"

world:system("fly", {
  query = "Shot",
  each = function(shot, dt, entity)
    shot.flight = shot.flight - dt
    if shot.flight <= 0 then
      world:emit("Hit", shot.at, shot.damage)
      world:despawn(entity)
    end
  end,
})

world:system("hurt", {
  after = "fly",
  query = "Hit, Hit.who->Health",
  each = function(hit, health)
    health.hp = health.hp - hit.damage
    score.hits = score.hits + 1
  end,
})

world:system("fall", {
  after = "hurt",
  query = "Health",
  each = function(health, _, entity)
    if health.hp <= 0 then
      print(world:name(entity), "falls with", health.hp)
      world:remove(entity, "Health")
      world:after(1, "Return", entity)
    end
  end,
})

world:system("rise", {
  query = "Return",
  each = function(back)
    print(world:name(back.who), "is back")
    world:add(back.who, "Health")
  end,
})

local target = world:spawn { Health = {} }
world:name(target, "the wall")
for i = 1, 4 do
  world:spawn { Shot = { at = target, flight = i * 0.5 } }
end
for _ = 1, 16 do
  world:update(0.25)
end
print("hits", score.hits, "health", world:get(target, "Health.hp"))
