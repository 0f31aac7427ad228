-- Guns fire all around them; a bullet goes through some, and pushes whom it hits.

local world = ...

local REACH, SPEED = 0.7, 40         -- of a bullet
local KICK = 0.06                    -- how much of its speed who is hit takes up

local crowd = world:index "crowd"
local shoot = world:spawner "Position, Velocity, Bullet"

world:system("fly", {
  phase = "pre_update", query = "Position, Velocity:in, Bullet",
  each = function(p, v, bullet, dt, entity)
    p.x, p.y = p.x + v.x * dt, p.y + v.y * dt
    bullet.left = bullet.left - dt
    if bullet.left <= 0 then
      world:despawn(entity)
    end
  end,
})

world:system("fire", {
  query = "Position:in, Gun",
  each = function(p, gun, dt)
    gun.left = gun.left - dt
    while gun.left <= 0 do
      gun.left = gun.left + gun.pause
      gun.turn = gun.turn + 0.05
      for i = 1, gun.barrels do
        local angle = gun.turn + i * 2 * math.pi / gun.barrels
        shoot(p.x, p.y, SPEED * math.cos(angle), SPEED * math.sin(angle), gun.damage)
      end
    end
  end,
})

world:system("strike", {
  after = { "fire", "bite" }, query = "Position:in, Velocity:in, Bullet",
  each = function(p, v, bullet, _, entity)
    for _, foe in crowd:within(p.x, p.y, REACH) do
      world:emit("Hit", foe, bullet.damage, v.x * KICK, v.y * KICK)
      bullet.hits = bullet.hits - 1
      if bullet.hits <= 0 then
        world:despawn(entity)
        break
      end
    end
  end,
})

world:system("hurt", {
  after = "strike", query = "Hit:in, Hit.who->Health, Hit.who->Velocity",
  each = function(hit, health, v)
    health.hp = health.hp - hit.damage
    v.x, v.y = v.x + hit.x, v.y + hit.y
  end,
})
