-- What games do to states, clocks, pictures and what is tied to another thing, as it is written for
-- Lua.

local bodies = require "spec.support.bodies"
local ecs = require "ecs"

local math = math

local scene = {
  components = {
    { "Position", { "x: real", "y: real" } },
    { "Velocity", { "x: real", "y: real" } },
    { "State", { "now: enum(idle, walk, chase, attack, flee)", "time: real", "target: entity" } },
    { "Tween", { "from: real", "to: real = 10", "time: real", "length: real = 2", "value: real",
      "kind: enum(linear, quad, cubic, sine, bounce)", "done: bool" } },
    { "Sprite", { "frame: i32 = 1", "first: i32 = 1", "count: i32 = 4", "time: real",
      "fps: real = 12", "flip: bool", "alpha: real = 1", "loop: bool", "red: u8", "green: u8" } },
    { "Bar", { "shown: real", "width: real = 32", "fill: i32" } },
    { "Health", { "hp: i32 = 100", "max: i32 = 100" } },
    { "Timer", { "left: real", "length: real = 0.5", "repeats: i32 = 3", "fired: i32" } },
    { "Spawner", { "left: real", "interval: real = 0.25", "alive: i32", "cap: i32 = 4",
      "wave: i32 = 1" } },
    { "Local", { "x: real", "y: real", "angle: real" } },
    { "World", { "x: real", "y: real", "angle: real" } },
    { "Ship", { "port: entity", "docked: bool", "cargo: i32", "speed: real = 30" } },
    { "Port", { "cargo: i32", "room: i32 = 50", "fee: i32 = 3" } },
    { "Pickup", { "kind: enum(coin, heart, key)", "amount: i32 = 1", "by: entity" } },
    { "Purse", { "coins: i32", "keys: i32", "luck: real = 1" } },
    { "Door", { "open: real", "wants: bool", "locked: bool", "key: i32" } },
    { "Switch", { "door: entity", "on: bool", "weight: real" } },
    { "Quest", { "progress: i32", "need: i32 = 3", "state: enum(open, done, failed)",
      "deadline: real = 2" } },
    { "Blink", { "time: real", "on: bool" } },
    { "Enemy", {} },
    { "Selected", {} },
    { "Wave", { "number: i32 = 1", "left: i32", "spawned: i32", "timer: real" } },
  },
  fill = function(world, random)
    local function real(low, high) return random:range(low * 8, high * 8) / 8 end
    world:resource "Wave"
    local ids = {}
    for n = 1, 1400 do
      local friend = n > 3 and ids[random:int(#ids)] or nil
      ids[n] = world:spawn {
        Position = { real(-90, 90), real(-90, 90) },
        Velocity = { real(-9, 9), real(-9, 9) },
        State = n % 2 == 0 and { now = random:pick { "idle", "walk", "chase", "attack", "flee" },
          time = real(0, 2), target = random:chance(70) and friend or nil } or nil,
        Tween = n % 3 == 0 and { from = real(0, 5), to = real(5, 20), time = real(0, 2),
          kind = random:pick { "linear", "quad", "cubic", "sine", "bounce" } } or nil,
        Sprite = n % 3 == 1 and { first = random:int(4), count = random:range(1, 6),
          time = real(0, 1), loop = random:chance(60), fps = random:pick { 4, 8, 12 } } or nil,
        Bar = n % 4 == 0 and {} or nil,
        Health = n % 4 < 2 and { hp = random:range(0, 100) } or nil,
        Timer = n % 5 == 0 and { left = real(0, 1), repeats = random:range(0, 4) } or nil,
        Spawner = n % 25 == 1 and { left = real(0, 1), alive = random:range(0, 5) } or nil,
        Local = n % 5 == 2 and { real(-5, 5), real(-5, 5), real(-1, 1) } or nil,
        World = n % 5 == 2 and {} or nil,
        ChildOf = n % 5 == 2 and n % 10 == 2 and friend or nil,
        Port = n % 7 == 0 and { cargo = random:range(0, 50) } or nil,
        Ship = n % 7 == 3 and { port = friend, cargo = random:range(0, 20) } or nil,
        Pickup = n % 6 == 2 and { kind = random:pick { "coin", "heart", "key" },
          by = random:chance(50) and friend or nil } or nil,
        Purse = n % 3 < 2 and { coins = random:range(0, 9), luck = real(0, 3) } or nil,
        Door = n % 6 == 4 and { open = real(0, 1), wants = random:chance(50),
          locked = random:chance(40), key = random:range(0, 2) } or nil,
        Switch = n % 8 == 5 and { door = friend, weight = real(0, 4) } or nil,
        Quest = n % 9 == 0 and { progress = random:range(0, 3), deadline = real(0, 3) } or nil,
        Blink = n % 9 == 1 and {} or nil,
        Enemy = n % 4 == 1 or nil,
        Selected = n % 13 == 0 or nil,
      }
    end
    return ids
  end,
}

describe("a body with a mind of its own (C26, C45)", function()
  bodies.test(scene, {
    { "a state machine", query = "State, Velocity, Health?", make = function()
      return function(state, v, health, dt)
        state.time = state.time - dt
        if state.now == "idle" then
          v.x, v.y = 0, 0
          if state.time <= 0 then
            state.now = "walk"
            state.time = 1
          end
        elseif state.now == "walk" then
          if state.target ~= ecs.null then state.now = "chase"
          elseif state.time <= 0 then
            state.now = "idle"
            state.time = 0.5
          end
        elseif state.now == "chase" then
          v.x = v.x * 1.1
          if health and health.hp < 30 then state.now = "flee" end
        elseif state.now == "flee" then
          v.x, v.y = -v.x, -v.y
        else
          state.now = state.time > 0 and "attack" or "idle"
        end
      end
    end },

    { "chase and attack by distance", query = "State, Velocity, Position:in", exact = true,
      make = function(world)
      local SIGHT, REACH = 80, 10
      return function(state, v, p)
        if not world:alive(state.target) then return end
        local x, y = world:get(state.target, "Position")
        local dx, dy = x - p.x, y - p.y
        local d = math.sqrt(dx * dx + dy * dy)
        if d < REACH then
          state.now = "attack"
          v.x, v.y = 0, 0
        elseif d < SIGHT then
          state.now = "chase"
          v.x, v.y = dx / d * 20, dy / d * 20
        elseif state.now ~= "idle" then
          state.now = "walk"
        end
      end
    end },

    { "easing", query = "Tween", make = function()
      local function bounce(t)
        if t < 1 / 2.75 then return 7.5625 * t * t end
        if t < 2 / 2.75 then
          t = t - 1.5 / 2.75
          return 7.5625 * t * t + 0.75
        end
        t = t - 2.25 / 2.75
        return 7.5625 * t * t + 0.9375
      end
      return function(tween, dt)
        if tween.done then return end
        tween.time = math.min(tween.time + dt, tween.length)
        local t = tween.time / tween.length
        local k
        if tween.kind == "quad" then k = t * t
        elseif tween.kind == "cubic" then k = t ^ 3
        elseif tween.kind == "sine" then k = 1 - math.cos(t * math.pi / 2)
        elseif tween.kind == "bounce" then k = bounce(t)
        else k = t end
        tween.value = tween.from + (tween.to - tween.from) * k
        if tween.time >= tween.length then tween.done = true end
      end
    end },

    { "frames of a sprite", query = "Sprite", exact = true, make = function()
      return function(sprite, dt)
        sprite.time = sprite.time + dt
        local frame = sprite.first + math.floor(sprite.time * sprite.fps)
        if sprite.loop then
          frame = sprite.first + (frame - sprite.first) % sprite.count
        elseif frame >= sprite.first + sprite.count then
          frame = sprite.first + sprite.count - 1
        end
        sprite.frame = frame
      end
    end },

    { "frames one by one", query = "Sprite, Velocity:in", exact = true, make = function()
      return function(sprite, v, dt)
        sprite.time = sprite.time + dt
        if sprite.time >= 1 / sprite.fps then
          sprite.time = sprite.time - 1 / sprite.fps
          sprite.frame = sprite.frame + 1
          if sprite.frame > sprite.count then sprite.frame = sprite.loop and 1 or sprite.count end
        end
        if v.x ~= 0 then sprite.flip = v.x < 0 end
      end
    end },

    { "fading and colours", query = "Sprite, Health:in", exact = true, make = function()
      return function(sprite, health)
        local share = health.hp / health.max
        sprite.green = math.floor(255 * share)
        sprite.red = 255 - sprite.green
        local alpha = 1
        if health.hp == 0 then alpha = sprite.alpha - 0.125 end
        sprite.alpha = math.max(alpha, 0)
      end
    end },

    { "health bars", query = "Bar, Health:in", exact = true, make = function()
      return function(bar, health, dt)
        local share = math.max(0, math.min(1, health.hp / health.max))
        bar.shown = bar.shown + (share - bar.shown) * 5 * dt
        bar.fill = math.floor(bar.shown * bar.width + 0.5)
      end
    end },

    { "timers that repeat", query = "Timer", make = function(world)
      return function(timer, dt, e)
        timer.left = timer.left - dt
        if timer.left > 0 then return end
        timer.fired = timer.fired + 1
        if timer.repeats > 0 then
          timer.repeats = timer.repeats - 1
          timer.left = timer.left + timer.length
        else
          world:remove(e, "Timer")
        end
      end
    end },

    { "spawners with a cap", query = "Spawner, Position:in", exact = true, make = function(world)
      local KIND_HP = { 10, 25, 60 }
      return function(spawner, p, dt, e)
        spawner.left = spawner.left - dt
        if spawner.left > 0 or spawner.alive >= spawner.cap then return end
        spawner.left = spawner.interval
        spawner.alive = spawner.alive + 1
        local kind = world:random(e, 3)
        local hp = KIND_HP[kind] + spawner.wave * 5
        world:spawn { Enemy = true, Health = { hp = hp, max = hp },
          Position = { x = p.x + (world:random(e) - 0.5) * 8, y = p.y } }
      end
    end },

    { "a wave that counts down", query = "Enemy, Health", make = function(world)
      local wave = world:res "Wave"
      return function(health, _, e)
        health.hp = health.hp - 9
        if health.hp <= 0 then
          wave.left = wave.left + 1
          world:despawn(e)
        end
      end
    end },

    { "places of children", query = "World, Local:in, ChildOf->World:in?", make = function()
      return function(world, own, parent)
        if parent then
          local c, s = math.cos(parent.angle), math.sin(parent.angle)
          world.x = parent.x + own.x * c - own.y * s
          world.y = parent.y + own.x * s + own.y * c
          world.angle = parent.angle + own.angle
        else
          world.x, world.y, world.angle = own.x, own.y, own.angle
        end
      end
    end },

    { "docking and unloading",
      query = "Ship, Velocity, Position:in, Ship.port->Position:in, Ship.port->Port",
      exact = true, make = function()
      return function(ship, v, p, at, port)
        if ship.docked then
          if ship.cargo > 0 then
            ship.cargo = ship.cargo - 1
            port.cargo = port.cargo + 1
          end
          return
        end
        local dx, dy = at.x - p.x, at.y - p.y
        local d = math.sqrt(dx * dx + dy * dy)
        if d < 40 then
          ship.docked = true
          v.x, v.y = 0, 0
        else
          v.x, v.y = dx / d * ship.speed, dy / d * ship.speed
        end
      end
    end },

    { "pickups given to who took them", query = "Pickup:in, Pickup.by->Purse",
      make = function(world)
      return function(pickup, purse, _, e)
        if pickup.kind == "coin" then purse.coins = purse.coins + pickup.amount
        elseif pickup.kind == "key" then purse.keys = purse.keys + 1 end
        world:despawn(e)
      end
    end },

    { "doors that slide", query = "Door", make = function()
      local SPEED = 2
      return function(door, dt)
        local target = (door.wants and not door.locked) and 1 or 0
        local step = SPEED * dt
        if math.abs(target - door.open) <= step then door.open = target
        elseif door.open < target then door.open = door.open + step
        else door.open = door.open - step end
      end
    end },

    { "switches that open doors", query = "Switch, Switch.door->Door", make = function()
      return function(switch, door)
        local on = switch.weight > 2
        if on ~= switch.on then
          switch.on = on
          door.wants = on
        end
      end
    end },

    { "quests with a deadline", query = "Quest, Purse?", make = function()
      return function(quest, purse, dt)
        if quest.state ~= "open" then return end
        quest.deadline = quest.deadline - dt
        if quest.progress >= quest.need then
          quest.state = "done"
          if purse then purse.coins = purse.coins + 10 * quest.need end
        elseif quest.deadline <= 0 then
          quest.state = "failed"
        elseif purse and purse.keys > 0 then
          quest.progress = quest.progress + 1
        end
      end
    end },

    { "blinking", query = "Blink, Sprite?", exact = true, make = function()
      return function(blink, sprite, dt)
        blink.time = (blink.time + dt) % 0.5
        blink.on = blink.time < 0.25
        if sprite then sprite.alpha = blink.on and 1 or 0.25 end
      end
    end },

    { "selection", query = "Position:in, Selected?", exact = true, make = function(world)
      local area = { x0 = -40, y0 = -40, x1 = 40, y1 = 20 }
      return function(p, selected, _, e)
        local inside = p.x >= area.x0 and p.x <= area.x1 and p.y >= area.y0 and p.y <= area.y1
        if inside and not selected then world:add(e, "Selected")
        elseif selected and not inside then world:remove(e, "Selected") end
      end
    end },

    { "luck that grows with coins", query = "Purse", make = function()
      return function(purse)
        local bonus = 0
        if purse.coins > 5 then bonus = purse.coins * 0.1
        elseif purse.keys > 0 then bonus = purse.keys end
        purse.luck = math.max(purse.luck * 0.9, 0.5) + bonus
      end
    end },

    { "a target that is gone", query = "State", exact = true, make = function(world, ids)
      for n = 1, 100 do world:despawn(ids[n * 5]) end
      return function(state)
        if state.target == ecs.null then
          if state.now == "chase" or state.now == "attack" then state.now = "idle" end
          return
        end
        if world:has(state.target, "Health") and world:get(state.target, "Health.hp") <= 10 then
          state.target = ecs.null
          state.now = "walk"
        end
      end
    end },
  })
end)
