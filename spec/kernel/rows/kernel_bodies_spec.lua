-- Bodies of systems as games have them, written for Lua: each is compiled, and leaves a world as it
-- does in plain Lua, with no row left to Lua.

local agree = require "spec.support.agree"
local ecs = require "ecs"
local rng = require "spec.support.rng"

local math = math

local scene = agree.scene {
  options = { seed = 7, tag = 1 },
  fill = function(world)
    world:component("Position", { "x: f64", "y: f64" })
    world:component("Velocity", { "x: f64", "y: f64" })
    world:component("Health", { "hp: i32 = 100", "max: i32 = 100", "part: f64", "last: entity" })
    world:component("Weapon", { "cooldown: f64", "rate: f64 = 0.25", "ammo: i32 = 6",
      "clip: i32 = 6", "reserve: i32 = 20", "reloading: f64", "damage: i32 = 7", "spread: f64",
      "firing: bool" })
    world:component("Bullet", { "owner: entity", "target: entity", "damage: i32 = 5",
      "life: f64 = 1", "pierce: u8" })
    world:component("Poison", { "time: f64 = 3", "by: entity" })
    world:component("Burning", { "left: f64 = 1", "dps: f64 = 8" })
    world:component("Status", { "kind: enum(none, slow, stun, haste)" })
    world:component("Aggro", { "target: entity", "range: f64 = 60", "lost: f64", "angry: bool" })
    world:component("Level", { "level: i32 = 1" })
    world:component("Combo", { "count: i32", "timer: f64", "best: i32", "multiplier: f64 = 1" })
    world:component("Blast", { "fuse: f64 = 0.5", "force: f64 = 9" })
    world:component("Debris", { "size: f64" })
    world:component("Lifetime", { "left: f64 = 1" })
    world:tag "Dead"
    world:tag "Boss"
    world:resource("Score", { "points: i64", "kills: i32", "longest: f64" })
    local ids, random = {}, rng.new(11)
    local function real(low, high) return random:range(low * 8, high * 8) / 8 end
    for n = 1, 1400 do
      local friend = n > 3 and ids[random:int(#ids)] or nil
      local hp = random:range(1, 100)
      ids[n] = world:spawn {
        Position = { real(-100, 100), real(-100, 100) },
        Velocity = { real(-9, 9), real(-9, 9) },
        Health = { hp = hp, max = random:range(hp, 120) },
        Weapon = n % 4 < 2 and { cooldown = real(0, 1), ammo = random:range(0, 6),
          reserve = random:range(0, 9), firing = random:chance(70) } or nil,
        Status = n % 3 == 1 and { random:pick { "none", "slow", "stun", "haste" } } or nil,
        Aggro = n % 4 == 2 and { target = random:chance(80) and friend or nil } or nil,
        Level = n % 5 == 1 and { random:range(0, 6) } or nil,
        Combo = n % 5 == 1 and { count = random:range(0, 9), timer = real(0, 2) } or nil,
        Boss = n % 50 == 0 or nil, Blast = n % 9 == 0 and { fuse = real(0, 1) } or nil,
        ChildOf = n % 7 == 2 and friend or nil,
      }
    end
    for n = 1, 1100 do
      world:spawn { Bullet = { owner = ids[random:int(#ids)], damage = random:int(9),
        target = random:chance(70) and ids[n * n % 90 + 1] or nil, life = real(0, 2),
        pierce = random:range(0, 2) }, Position = { real(-100, 100), real(-100, 100) },
        Velocity = { real(-60, 60), real(-60, 60) } }
    end
    return world, ids
  end,
  updates = 6, dt = 0.125, counts = true, sound = true,
}

-- Has some entities hit others, in each update.
local function have_hits(world, ids)
  world:event("Hit", { "who: entity", "amount: f64", "by: entity", "kind: enum(blunt, fire)" })
  local turn = 0
  world:system("hits", { phase = "pre_update", run = function()
    turn = turn + 1
    for n = 1, 1200 do
      local who = ids[(n * n + turn) % 400 + 1]
      world:emit("Hit", who, n % 9 + 0.5, ids[n], n % 4 == 0 and "fire" or "blunt")
    end
  end })
end

local bodies = {
  { "bullets fly and die", query = "Bullet, Position, Velocity:in", make = function(world)
    return function(bullet, p, v, dt, e)
      p.x = p.x + v.x * dt
      p.y = p.y + v.y * dt
      bullet.life = bullet.life - dt
      local out = p.x < -100 or p.x > 100 or p.y < -100 or p.y > 100
      if bullet.life <= 0 or out then world:despawn(e) end
    end
  end },

  { "cooldown, ammo and reload", query = "Weapon", make = function()
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

  { "damage by what withstands it", query = "Weapon:in, Health, Status:in",
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

  { "aggro by distance to whom it is angry with", query = "Aggro, Position:in",
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

  { "explosions throw debris", query = "Blast, Position:in", make = function(world)
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

  { "a boss builds a turret with guns", query = "Boss, Position:in, Weapon?",
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

  { "who is hurt bears a grudge", query = "Health, Aggro?",
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

  { "hits hurt, and burn", query = "Hit, Hit.who->Health",
    make = function(world, ids)
    have_hits(world, ids)
    return function(hit, health)
      health.hp = health.hp - math.ceil(hit.amount)
      health.last = hit.by
      if hit.kind == "fire" then world:set(hit.who, "Burning", { left = 1, dps = hit.amount }) end
    end
  end },

  { "deaths that are told", query = "Health:in, Level?, !Dead",
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

  { "shots that are told, with where they go", query = "Weapon, Position:in",
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

  { "a wave that counts down", query = "Boss, Health", make = function(world)
    local score = world:res "Score"
    return function(health, _, e)
      health.hp = health.hp - 9
      if health.hp <= 0 then
        score.kills = score.kills + 1
        world:despawn(e)
      end
    end
  end },

  { "places of children", query = "Position, Velocity:in, ChildOf->Position:in?",
    make = function()
    return function(p, v, parent)
      if parent then
        local c, s = math.cos(v.x), math.sin(v.x)
        p.x, p.y = parent.x + v.x * c - v.y * s, parent.y + v.x * s + v.y * c
      else
        p.x, p.y = v.x, v.y
      end
    end
  end },

  { "selection", query = "Position:in, Boss?", make = function(world)
    local area = { x0 = -40, y0 = -40, x1 = 40, y1 = 20 }
    return function(p, selected, _, e)
      local inside = p.x >= area.x0 and p.x <= area.x1 and p.y >= area.y0 and p.y <= area.y1
      if inside and not selected then world:add(e, "Boss")
      elseif selected and not inside then world:remove(e, "Boss") end
    end
  end },
}

describe("a body as in games (C26, C45)", function()
  for _, body in ipairs(bodies) do
    it("runs alike compiled and in Lua: " .. body[1], function()
      scene:all(body.make, body.query)
    end)
  end
end)
