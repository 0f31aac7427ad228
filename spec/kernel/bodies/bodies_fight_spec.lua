-- What games do to health, weapons and effects, as it is written for Lua.

local bodies = require "spec.support.bodies"
local ecs = require "ecs"

local math = math

local scene = {
  components = {
    { "Position", { "x: real", "y: real" } },
    { "Velocity", { "x: real", "y: real" } },
    { "Health", { "hp: i32 = 100", "max: i32 = 100", "regen: real = 2", "part: real",
      "invulnerable: real", "last: entity" } },
    { "Shield", { "value: real = 20", "max: real = 50", "delay: real" } },
    { "Armor", { "flat: i32 = 2", "percent: i32 = 10" } },
    { "Weapon", { "cooldown: real", "rate: real = 0.25", "ammo: i32 = 6", "clip: i32 = 6",
      "reserve: i32 = 20", "reloading: real", "damage: i32 = 7", "spread: real", "firing: bool" } },
    { "Bullet", { "owner: entity", "target: entity", "damage: i32 = 5", "life: real = 1",
      "pierce: u8" } },
    { "Poison", { "time: real = 3", "tick: real", "stacks: u8 = 1", "by: entity" } },
    { "Burning", { "left: real = 1", "dps: real = 8" } },
    { "Status", { "kind: enum(none, slow, stun, haste)", "left: real", "power: real = 0.5" } },
    { "Speed", { "base: real = 40", "now: real" } },
    { "Aggro", { "target: entity", "range: real = 60", "lost: real", "angry: bool" } },
    { "Level", { "xp: i32", "level: i32 = 1", "next: i32 = 10", "points: i16", "total: i64" } },
    { "Combo", { "count: i32", "timer: real", "best: i32", "multiplier: real = 1" } },
    { "Lifetime", { "left: real = 1" } },
    { "Dead", {} },
    { "Boss", {} },
    { "Score", { "points: i64", "kills: i32", "damage: f64", "longest: f64" } },
    { "Blast", { "fuse: real = 0.5", "force: real = 9", "debris: i32 = 3" } },
    { "Debris", { "size: real" } },
  },
  fill = function(world, random)
    local function real(low, high) return random:range(low * 8, high * 8) / 8 end
    local ids = {}
    world:resource "Score"
    for n = 1, 1400 do
      local friend = n > 3 and ids[random:int(#ids)] or nil
      local hp = random:range(1, 100)
      ids[n] = world:spawn {
        Position = { real(-100, 100), real(-100, 100) },
        Velocity = { real(-9, 9), real(-9, 9) },
        Health = { hp = hp, max = random:range(hp, 120), invulnerable = real(-1, 1) },
        Shield = n % 3 == 0 and { value = real(0, 40), delay = real(0, 2) } or nil,
        Armor = n % 5 == 0 and { flat = random:range(0, 4), percent = random:range(0, 50) } or nil,
        Weapon = n % 4 < 2 and { cooldown = real(0, 1), ammo = random:range(0, 6),
          reserve = random:range(0, 9), firing = random:chance(70) } or nil,
        Poison = n % 6 == 0 and { time = real(0, 3), stacks = random:int(4), by = friend } or nil,
        Burning = n % 7 == 0 and { left = real(0, 2) } or nil,
        Status = n % 3 == 1 and { kind = random:pick { "none", "slow", "stun", "haste" },
          left = real(0, 2) } or nil,
        Speed = n % 3 == 1 or nil,
        Aggro = n % 4 == 2 and { target = random:chance(80) and friend or nil } or nil,
        Level = n % 5 == 1 and { xp = random:range(0, 60) } or nil,
        Combo = n % 5 == 1 and { count = random:range(0, 9), timer = real(0, 2) } or nil,
        Boss = n % 50 == 0 or nil,
        Blast = n % 9 == 0 and { fuse = real(0, 1), debris = random:range(0, 4) } or nil,
      }
    end
    for n = 1, 1100 do
      world:spawn { Bullet = { owner = ids[random:int(#ids)], damage = random:int(9),
        target = random:chance(70) and ids[n * n % 90 + 1] or nil, life = real(0, 2),
        pierce = random:range(0, 2) }, Position = { real(-100, 100), real(-100, 100) },
        Velocity = { real(-60, 60), real(-60, 60) }, Lifetime = n % 2 == 0 and {} or nil }
    end
    return ids
  end,
}

-- Has some entities hit others, in each update.
local function have_hits(world, ids)
  world:event("Hit", { "who: entity", "amount: f64", "by: entity", "kind: enum(blunt, fire)" })
  local turn = 0
  world:system("hits", { before = "body", run = function()
    turn = turn + 1
    for n = 1, 1200 do
      local who = ids[(n * n + turn) % 400 + 1]
      world:emit("Hit", who, n % 9 + 0.5, ids[n], n % 4 == 0 and "fire" or "blunt")
    end
  end })
end

describe("a body that fights (C26, C45)", function()
  bodies.test(scene, {
    { "lifetimes end in despawn", query = "Lifetime", make = function(world)
      return function(lifetime, dt, e)
        lifetime.left = lifetime.left - dt
        if lifetime.left <= 0 then world:despawn(e) end
      end
    end },

    { "bullets fly and die", query = "Bullet, Position, Velocity:in", make = function(world)
      return function(bullet, p, v, dt, e)
        p.x = p.x + v.x * dt
        p.y = p.y + v.y * dt
        bullet.life = bullet.life - dt
        local out = p.x < -100 or p.x > 100 or p.y < -100 or p.y > 100
        if bullet.life <= 0 or out then world:despawn(e) end
      end
    end },

    { "regeneration in whole points", query = "Health", exact = true, make = function()
      return function(health, dt)
        if health.hp <= 0 or health.hp >= health.max then return end
        health.part = health.part + health.regen * dt
        if health.part >= 1 then
          local whole = math.floor(health.part)
          health.hp = math.min(health.hp + whole, health.max)
          health.part = health.part - whole
        end
      end
    end },

    { "shields that recharge after a delay", query = "Shield, Health:in", make = function()
      local RATE = 6
      return function(shield, health, dt)
        if shield.delay > 0 then
          shield.delay = shield.delay - dt
        else
          local rate = RATE
          if health.hp < health.max / 2 then rate = RATE * 2 end
          shield.value = math.min(shield.max, shield.value + rate * dt)
        end
      end
    end },

    { "cooldown, ammo and reload", query = "Weapon", exact = true, make = function()
      local RELOAD = 0.6
      return function(w, dt)
        if w.reloading > 0 then
          w.reloading = w.reloading - dt
          if w.reloading <= 0 then
            local take = math.min(w.clip - w.ammo, w.reserve)
            w.ammo = w.ammo + take
            w.reserve = w.reserve - take
          end
          return
        end
        w.cooldown = math.max(0, w.cooldown - dt)
        if w.firing and w.cooldown == 0 then
          if w.ammo > 0 then
            w.ammo = w.ammo - 1
            w.cooldown = w.rate
            w.spread = math.min(w.spread + 0.1, 1)
          elseif w.reserve > 0 then
            w.reloading = RELOAD
          end
        else
          w.spread = w.spread * (1 - dt)
        end
      end
    end },

    { "firing spawns bullets", query = "Weapon, Position:in", exact = true, make = function(world)
      local SPEED = 120
      return function(w, p, dt, e)
        w.cooldown = w.cooldown - dt
        if not w.firing or w.cooldown > 0 or w.ammo <= 0 then return end
        w.cooldown = w.cooldown + w.rate
        w.ammo = w.ammo - 1
        local angle = world:random(e) * 2 * math.pi
        world:spawn {
          Position = { x = p.x, y = p.y },
          Velocity = { x = math.cos(angle) * SPEED, y = math.sin(angle) * SPEED },
          Bullet = { owner = e, damage = w.damage, life = 2 },
        }
      end
    end },

    { "poison ticks by the half second", query = "Poison, Health", exact = true,
      make = function(world)
      return function(poison, health, dt, e)
        poison.time = poison.time - dt
        poison.tick = poison.tick + dt
        if poison.tick >= 0.5 then
          poison.tick = poison.tick - 0.5
          health.hp = health.hp - 2 * poison.stacks
          health.last = poison.by
        end
        if poison.time <= 0 then world:remove(e, "Poison") end
      end
    end },

    { "burning hurts and ends", query = "Burning, Health, Shield?", exact = true,
      make = function(world)
      return function(burning, health, shield, dt, e)
        local damage = burning.dps * dt
        if shield then
          local absorbed = math.min(shield.value, damage)
          shield.value = shield.value - absorbed
          damage = damage - absorbed
        end
        health.part = health.part - damage
        if health.part <= -1 then
          local n = math.ceil(health.part)
          health.hp = health.hp + n
          health.part = health.part - n
        end
        burning.left = burning.left - dt
        if burning.left <= 0 then world:remove(e, "Burning") end
      end
    end },

    { "statuses change the speed", query = "Status, Speed", make = function()
      return function(status, speed, dt)
        local k = 1
        if status.kind == "slow" then k = 1 - status.power
        elseif status.kind == "stun" then k = 0
        elseif status.kind == "haste" then k = 1 + status.power end
        speed.now = speed.base * k
        if status.kind ~= "none" then
          status.left = status.left - dt
          if status.left <= 0 then status.kind = "none" end
        end
      end
    end },

    { "statuses by a table", query = "Status:in, Speed", make = function()
      local FACTOR = { none = 1, slow = 0.5, stun = 0, haste = 1.75 }
      return function(status, speed) speed.now = speed.base * FACTOR[status.kind] end
    end },

    { "damage by what withstands it", query = "Weapon:in, Health, Status:in", exact = true,
      make = function()
      local RESIST = { none = 1, slow = 0.5, stun = 2, haste = 0.75 }
      return function(weapon, health, status)
        local damage = weapon.damage * RESIST[status.kind]
        if health.hp > 50 then damage = damage + 1 end
        health.hp = health.hp - math.floor(damage + 0.5)
      end
    end },

    { "bullets poison whom they hit", query = "Bullet:in", make = function(world)
      return function(bullet, _, e)
        if bullet.target == ecs.null or not world:alive(bullet.target) then return end
        if bullet.pierce == 2 then
          world:set(bullet.target, "Poison", { time = 2, by = bullet.owner })
        elseif bullet.damage > 6 then
          world:set(bullet.target, "Burning", 0.5, bullet.damage)
        end
        world:despawn(e)
      end
    end },

    { "a stun that is put on for a while", query = "Health, Status?", exact = true,
      make = function(world)
      return function(health, status, dt, e)
        if status then
          status.left = math.max(status.left - dt, 0)
        elseif health.hp < 20 and health.part == 0 then
          health.part = 0.25
          world:add(e, "Shield")
          world:set(e, "Speed", { base = 10, now = health.hp * 0.5 })
        end
      end
    end },

    { "bullets hurt whom they hit", query = "Bullet:in, Bullet.target->Health",
      make = function(world)
      return function(bullet, health, _, e)
        health.hp = health.hp - bullet.damage
        health.last = bullet.owner
        if bullet.pierce == 0 then world:despawn(e) end
      end
    end },

    { "the dead give score and are marked", query = "Health:in, Boss?, !Dead",
      make = function(world)
      local score = world:res "Score"
      return function(health, boss, _, e)
        if health.hp > 20 then return end
        world:add(e, "Dead")
        score.kills = score.kills + 1
        if boss then
          score.points = score.points + 500
        else
          score.points = score.points + 10 * (health.max // 10)
        end
      end
    end },

    { "the dead are removed, with what they leave", query = "Health:in, Position:in, Level?",
      make = function(world)
      return function(health, p, level, _, e)
        if health.hp > 15 then return end
        local size = 1
        if level then size = level.level + 1 end
        world:spawn { Debris = { size = size }, Position = { x = p.x, y = p.y },
          Lifetime = { left = 3 } }
        world:despawn(e)
      end
    end },

    { "armor", query = "Armor:in, Health", exact = true, make = function()
      local HIT = 9
      return function(armor, health)
        if health.invulnerable > 0 then return end
        local damage = math.max(1, HIT - armor.flat)
        damage = damage * (100 - armor.percent) // 100
        health.hp = health.hp - damage
        health.invulnerable = 0.5
      end
    end },

    { "frames without harm", query = "Health", make = function()
      return function(health, dt)
        if health.invulnerable > 0 then
          health.invulnerable = health.invulnerable - dt
          if health.invulnerable < 0 then health.invulnerable = 0 end
        end
      end
    end },

    { "aggro by distance to whom it is angry with", query = "Aggro, Position:in", exact = true,
      make = function(world)
      return function(aggro, p, dt)
        if not world:alive(aggro.target) then
          aggro.angry = false
          return
        end
        local x, y = world:get(aggro.target, "Position")
        local d2 = (x - p.x) ^ 2 + (y - p.y) ^ 2
        if d2 < aggro.range ^ 2 then
          aggro.angry = true
          aggro.lost = 0
        elseif aggro.angry then
          aggro.lost = aggro.lost + dt
          if aggro.lost > 0.5 then
            aggro.angry = false
            aggro.target = ecs.null
          end
        end
      end
    end },

    { "experience and levels", query = "Level, Health", make = function()
      return function(level, health)
        level.xp = level.xp + 3
        level.total = level.total + 3
        if level.xp >= level.next then
          level.xp = level.xp - level.next
          level.level = level.level + 1
          level.next = math.floor(10 * level.level ^ 1.5)
          level.points = level.points + 2
          health.max = health.max + 5
          health.hp = health.max
        end
      end
    end },

    { "combos that break", query = "Combo", make = function(world)
      local score = world:res "Score"
      return function(combo, dt)
        if combo.count == 0 then return end
        combo.timer = combo.timer - dt
        if combo.timer > 0 then
          combo.multiplier = math.min(4, 1 + combo.count * 0.1)
          return
        end
        score.points = score.points + combo.count * combo.count
        score.longest = math.max(score.longest, combo.count)
        if combo.count > combo.best then combo.best = combo.count end
        combo.count = 0
        combo.multiplier = 1
      end
    end },

    { "critical hits", query = "Weapon:in, Health, Armor?", exact = true, make = function(world)
      local score = world:res "Score"
      return function(weapon, health, armor, _, e)
        local damage = weapon.damage
        if world:random(e, 100) <= 25 then damage = damage * 2 end
        if armor then damage = damage - armor.flat end
        if damage < 1 then damage = 1 end
        health.hp = math.max(health.hp - damage, 0)
        score.damage = score.damage + damage
      end
    end },

    { "critical hits by a factor that is no integer", query = "Weapon:in, Health, Shield?",
      exact = true, make = function(world)
      return function(weapon, health, shield, _, e)
        local damage = weapon.damage
        if world:random(e) < 0.3 then damage = damage * 1.5 end
        if shield and shield.value > 0 then
          shield.value = math.max(0, shield.value - damage)
        else
          health.hp = math.floor(health.hp - damage)
        end
      end
    end },

    { "explosions throw debris", query = "Blast, Position:in", exact = true, make = function(world)
      return function(blast, p, dt, e)
        blast.fuse = blast.fuse - dt
        if blast.fuse > 0 then return end
        for k = 1, 3 do
          local a = k * 2.1
          world:spawn {
            Position = { x = p.x, y = p.y },
            Velocity = { x = math.cos(a) * blast.force, y = math.sin(a) * blast.force },
            Debris = { size = blast.force / k },
            Lifetime = { left = 0.5 + k },
          }
        end
        world:remove(e, "Blast")
      end
    end },

    { "a boss builds a turret with guns", query = "Boss, Position:in, Weapon?", exact = true,
      make = function(world)
      world:spawn { ChildOf = world:spawn() }
      return function(p, weapon, _, e)
        if world:random(e) < 0.5 then return end
        local turret = world:spawn { Position = { x = p.x, y = p.y }, ChildOf = e,
          Health = { hp = 60 } }
        local last = turret
        for side = -1, 1, 2 do
          local gun = world:spawn { Position = { x = p.x + side, y = p.y }, ChildOf = turret,
            Weapon = { damage = 3 }, Aggro = { target = last } }
          world:set(turret, "Health.last", gun)
          last = gun
        end
        if weapon and weapon.firing then world:add(last, "Boss") end
      end
    end },

    { "who is hurt bears a grudge", query = "Health, Aggro?", exact = true,
      make = function(world)
      world:relation("Grudge", { "since: f64", "hits: i32" })
      world:relation("Sworn", { "since: f64", exclusive = true })
      return function(health, aggro, dt, e)
        if health.hp > 60 or not aggro or aggro.target == ecs.null then return end
        health.part = health.part + dt
        world:set(e, "Grudge", aggro.target, health.part, health.hp)
        local sworn, since = world:get(e, "Sworn")
        if not sworn or since + 0.3 < health.part then
          world:set(e, "Sworn", aggro.target, health.part)
        elseif health.hp > 40 and world:has(e, "Sworn", aggro.target) then
          world:remove(e, "Grudge", aggro.target)
        end
      end
    end },

    { "hits hurt, and burn", query = "Hit, Hit.who->Health", exact = true,
      make = function(world, ids)
      have_hits(world, ids)
      return function(hit, health)
        health.hp = health.hp - math.ceil(hit.amount)
        health.last = hit.by
        if hit.kind == "fire" then world:set(hit.who, "Burning", { left = 1, dps = hit.amount }) end
      end
    end },

    { "hits give score to who hit", query = "Hit, Hit.by->Level", make = function(world, ids)
      have_hits(world, ids)
      local score = world:res "Score"
      return function(hit, level)
        level.xp = level.xp + math.floor(hit.amount)
        level.total = level.total + 1
        score.damage = score.damage + hit.amount
        score.longest = math.max(score.longest, hit.amount)
      end
    end },

    { "deaths that are told", query = "Health:in, Level?, !Dead", exact = true,
      make = function(world)
      world:event("Died", { "who: entity", "by: entity", "xp: i32" })
      return function(health, level, _, e)
        if health.hp > 30 then return end
        local xp = 5
        if level then xp = xp + level.level * 10 end
        world:emit("Died", e, health.last, xp)
        world:add(e, "Dead")
      end
    end },

    { "shots that are told, with where they go", query = "Weapon, Position:in", exact = true,
      make = function(world)
      world:event("Shot", { "by: entity", "x: f64", "y: f64", "angle: f64" })
      return function(w, p, dt, e)
        w.cooldown = w.cooldown - dt
        if w.cooldown <= 0 and w.ammo > 0 then
          w.ammo = w.ammo - 1
          w.cooldown = w.rate
          for k = -1, 1 do
            world:emit("Shot", { by = e, x = p.x, y = p.y, angle = k * 0.25 + w.spread })
          end
        end
      end
    end },

    { "the wounded flee, the well fight", query = "Health:in, Aggro:in, Velocity",
      make = function(world)
      return function(health, aggro, v)
        local share = health.hp / health.max
        local dir = 1
        if share < 0.3 then dir = -1 end
        if aggro.target ~= ecs.null and world:alive(aggro.target) then
          local hp = world:get(aggro.target, "Health.hp")
          if hp > health.hp then dir = -dir end
        end
        v.x, v.y = 10 * dir * share, 4 * dir
      end
    end },
  })
end)
