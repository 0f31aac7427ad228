-- What games do to places and speeds, as it is written for Lua.

local bodies = require "spec.support.bodies"
local ecs = require "ecs"

local math = math

local scene = {
  components = {
    { "Position", { "x: real", "y: real" } },
    { "Velocity", { "x: real", "y: real" } },
    { "Facing", { "angle: real", "turn: real = 3", "dir: i8 = 1" } },
    { "Body", { "mass: real = 1", "radius: real = 4", "grounded: bool", "level: i32",
      "jumps: u8" } },
    { "Jump", { "held: bool", "pressed: bool", "coyote: real", "buffer: real" } },
    { "Dash", { "left: real", "cooldown: real", "charges: i32 = 2" } },
    { "Orbit", { "center: entity", "radius: real = 20", "speed: real = 1", "angle: real" } },
    { "Leash", { "to: entity", "length: real = 30" } },
    { "Patrol", { "ax: real", "ay: real", "bx: real", "by: real", "back: bool", "wait: real" } },
    { "Homing", { "target: entity", "speed: real = 60", "fuel: i32 = 5" } },
    { "Slot", { "leader: entity", "index: i32", "rank: i32" } },
    { "Shake", { "power: real", "time: real", "ox: real", "oy: real" } },
    { "Still", {} },
  },
  fill = function(world, random)
    local function real(low, high) return random:range(low * 8, high * 8) / 8 end
    local ids = {}
    for n = 1, 1500 do
      local place = { x = real(-300, 300), y = real(-200, 200) }
      local friend = n > 3 and ids[random:int(#ids)] or nil
      ids[n] = world:spawn {
        Position = place,
        Velocity = { x = real(-80, 80), y = real(-80, 80) },
        Facing = { angle = real(-3, 3), dir = random:chance(50) and 1 or -1 },
        Body = { mass = real(1, 9), grounded = random:chance(40), level = random:int(9),
          jumps = random:range(0, 2) },
        Jump = n % 3 == 0 and { held = random:chance(50), pressed = random:chance(30),
          coyote = real(0, 1) / 4, buffer = real(0, 1) / 4 } or nil,
        Dash = n % 3 == 0 and { left = real(0, 1), cooldown = real(0, 2) } or nil,
        Orbit = n % 5 == 0 and { center = friend, angle = real(0, 6) } or nil,
        Leash = n % 5 == 0 and { to = friend } or nil,
        Patrol = n % 4 == 0 and { ax = place.x - 20, ay = place.y, bx = place.x + 20,
          by = place.y + 8, back = random:chance(50), wait = real(0, 1) } or nil,
        Homing = n % 4 == 1 and { target = random:chance(80) and friend or nil,
          fuel = random:range(0, 9) } or nil,
        Slot = n % 7 == 0 and { leader = friend, index = random:range(0, 5),
          rank = random:range(0, 3) } or nil,
        Shake = n % 6 == 0 and { power = real(0, 9), time = real(0, 2) } or nil,
        Still = n % 11 == 0 or nil,
      }
    end
    return ids
  end,
}

describe("a body that moves (C26, C45)", function()
  bodies.test(scene, {
    { "position += velocity", query = "Position, Velocity:in, !Still", make = function()
      return function(p, v, dt)
        p.x = p.x + v.x * dt
        p.y = p.y + v.y * dt
      end
    end },

    { "gravity and terminal speed", query = "Velocity, Body:in", make = function()
      local GRAVITY, TERMINAL = 900, 300
      return function(v, body, dt)
        if body.grounded then
          v.y = 0
          return
        end
        v.y = math.min(v.y + GRAVITY * body.mass * dt, TERMINAL)
      end
    end },

    { "friction that ends in a stop", query = "Velocity, Body:in", exact = true, make = function()
      local config = { ground = 8, air = 1.5, stop = 2 }
      return function(v, body, dt)
        local friction = body.grounded and config.ground or config.air
        local k = math.max(0, 1 - friction * dt)
        v.x = v.x * k
        if math.abs(v.x) < config.stop then v.x = 0 end
      end
    end },

    { "wrap-around at the edges", query = "Position, Velocity:in", exact = true, make = function()
      local W, H = 640, 360
      return function(p, v, dt)
        p.x = (p.x + v.x * dt) % W
        p.y = p.y + v.y * dt
        if p.y < 0 then p.y = p.y + H elseif p.y >= H then p.y = p.y - H end
      end
    end },

    { "bouncing in a box", query = "Position, Velocity, Body:in", exact = true, make = function()
      local W, H = 250, 150
      return function(p, v, body)
        local r = body.radius
        if p.x < -W + r then
          p.x = -W + r
          v.x = -v.x * 0.8
        elseif p.x > W - r then
          p.x = W - r
          v.x = -v.x * 0.8
        end
        if p.y < -H + r or p.y > H - r then
          p.y = math.max(-H + r, math.min(p.y, H - r))
          v.y = -v.y
        end
      end
    end },

    { "speed that grows with the level", query = "Position, Body:in, Facing:in", make = function()
      local BASE = 20
      return function(p, body, facing, dt)
        local speed = BASE
        if body.level > 3 then speed = BASE + body.level * 2 end
        if body.level > 6 then speed = speed * 1.5 end
        p.x = p.x + facing.dir * speed * dt
      end
    end },

    { "homing on a target, while it lives and fuel lasts", query = "Position:in, Velocity, Homing",
      exact = true, make = function(world)
      return function(p, v, homing)
        if homing.fuel <= 0 or homing.target == ecs.null then return end
        if not world:alive(homing.target) then
          homing.target = ecs.null
          return
        end
        local tx, ty = world:get(homing.target, "Position")
        local dx, dy = tx - p.x, ty - p.y
        local d = math.sqrt(dx * dx + dy * dy)
        if d > 0 then
          v.x = dx / d * homing.speed
          v.y = dy / d * homing.speed
        end
        homing.fuel = homing.fuel - 1
      end
    end },

    { "turning towards a point by a limited angle", query = "Position:in, Facing", exact = true,
      make = function()
      local pi = math.pi
      local function wrap(a) return (a + pi) % (2 * pi) - pi end
      local target = { x = 12, y = -40 }
      return function(p, facing, dt)
        local want = math.atan(target.y - p.y, target.x - p.x)
        local diff = wrap(want - facing.angle)
        local step = facing.turn * dt
        if diff > step then diff = step elseif diff < -step then diff = -step end
        facing.angle = wrap(facing.angle + diff)
      end
    end },

    { "moving where one faces", query = "Position, Facing, Body", make = function()
      return function(p, f, b, dt)
        local speed = b.level * 10
        local c, s = math.cos(f.angle), math.sin(f.angle)
        p.x, p.y = p.x + c * speed * dt, p.y + s * speed * dt
      end
    end },

    { "orbiting a living center", query = "Orbit, Position", make = function(world)
      return function(orbit, p, dt)
        orbit.angle = orbit.angle + orbit.speed * dt
        if world:alive(orbit.center) then
          local lvl = world:get(orbit.center, "Body.level")
          p.x = math.cos(orbit.angle) * orbit.radius + lvl
          p.y = math.sin(orbit.angle) * orbit.radius
        end
      end
    end },

    { "a leash that pulls back", query = "Leash:in, Velocity, Position:in, Leash.to->Position:in",
      exact = true, make = function()
      return function(leash, v, p, anchor, dt)
        local dx, dy = anchor.x - p.x, anchor.y - p.y
        local distance = math.sqrt(dx ^ 2 + dy ^ 2)
        if distance > leash.length then
          local pull = (distance - leash.length) * 4
          v.x = v.x + dx / distance * pull * dt
          v.y = v.y + dy / distance * pull * dt
        end
      end
    end },

    { "a patrol between two ends, with a rest", query = "Patrol, Position", exact = true,
      make = function()
      local SPEED = 16
      return function(patrol, p, dt)
        if patrol.wait > 0 then
          patrol.wait = patrol.wait - dt
          return
        end
        local tx, ty
        if patrol.back then tx, ty = patrol.ax, patrol.ay else tx, ty = patrol.bx, patrol.by end
        local dx, dy = tx - p.x, ty - p.y
        local d = math.sqrt(dx * dx + dy * dy)
        local step = SPEED * dt
        if d <= step then
          p.x, p.y = tx, ty
          patrol.back = not patrol.back
          patrol.wait = 1
        else
          p.x = p.x + dx / d * step
          p.y = p.y + dy / d * step
        end
      end
    end },

    { "coyote time and jump buffer", query = "Jump, Velocity, Body", exact = true, make = function()
      local COYOTE, BUFFER, SPEED = 0.1, 0.15, 220
      return function(jump, v, body, dt)
        jump.coyote = body.grounded and COYOTE or math.max(jump.coyote - dt, 0)
        jump.buffer = jump.pressed and BUFFER or math.max(jump.buffer - dt, 0)
        if jump.buffer > 0 and (jump.coyote > 0 or body.jumps > 0) then
          if jump.coyote <= 0 then body.jumps = body.jumps - 1 end
          v.y = -SPEED
          jump.coyote, jump.buffer = 0, 0
          body.grounded = false
        end
        if not jump.held and v.y < 0 then v.y = v.y * 0.5 end
        jump.pressed = false
      end
    end },

    { "a dash with charges and a cooldown", query = "Dash, Velocity, Facing:in", exact = true,
      make = function()
      return function(dash, v, facing, dt)
        if dash.left > 0 then
          dash.left = dash.left - dt
          v.x = facing.dir * 400
          v.y = 0
          if dash.left <= 0 then v.x = facing.dir * 100 end
        elseif dash.charges > 0 and dash.cooldown <= 0 then
          dash.charges = dash.charges - 1
          dash.left = 0.2
          dash.cooldown = 0.5 + (2 - dash.charges) * 0.25
        else
          dash.cooldown = dash.cooldown - dt
          if dash.cooldown <= 0 and dash.charges < 2 then
            dash.charges = dash.charges + 1
          end
        end
      end
    end },

    { "slots of a formation", query = "Slot:in, Slot.leader->Facing:in, Position, Body:in",
      make = function()
      local SPACING = 12
      return function(slot, leader, p, body, dt)
        local side = slot.index % 2 == 0 and 1 or -1
        local column = (slot.index + 1) // 2
        local ox = side * column * SPACING
        local oy = -slot.rank * SPACING
        local c, s = math.cos(leader.angle), math.sin(leader.angle)
        local k = math.min(1, 4 * dt)
        p.x = p.x + (ox * c - oy * s - p.x) * k / body.mass
        p.y = p.y + (ox * s + oy * c - p.y) * k / body.mass
      end
    end },

    { "a shaken camera", query = "Shake", exact = true, make = function(world)
      return function(shake, dt, e)
        if shake.time <= 0 then
          shake.ox, shake.oy = 0, 0
          return
        end
        shake.time = shake.time - dt
        local amount = shake.power * shake.power * shake.time
        shake.ox = (world:random(e) * 2 - 1) * amount
        shake.oy = (world:random(e) * 2 - 1) * amount
        shake.power = shake.power * 0.9
      end
    end },

    { "wandering", query = "Facing, Velocity, Body:in, !Still", make = function(world)
      return function(f, v, b, dt, e)
        f.angle = f.angle + (world:random(e) - 0.5) * dt * 4
        if world:random(e, 10) == 1 then f.dir = -f.dir end
        local speed = 10 + b.level
        v.x = math.cos(f.angle) * speed
        v.y = math.sin(f.angle) * speed
      end
    end },

    { "seeking and arriving", query = "Position:in, Velocity", exact = true, make = function()
      local goal = { x = 0, y = 10, slow = 80, max = 120, force = 3 }
      local function length(x, y) return math.sqrt(x * x + y * y) end
      return function(p, v, dt)
        local dx, dy = goal.x - p.x, goal.y - p.y
        local d = length(dx, dy)
        if d == 0 then return end
        local speed = goal.max
        if d < goal.slow then speed = goal.max * d / goal.slow end
        v.x = v.x + (dx / d * speed - v.x) * goal.force * dt
        v.y = v.y + (dy / d * speed - v.y) * goal.force * dt
        local now = length(v.x, v.y)
        if now > goal.max then
          v.x = v.x / now * goal.max
          v.y = v.y / now * goal.max
        end
      end
    end },

    { "running, braking and turning on the ground", query = "Velocity, Body:in, Facing",
      exact = true, make = function()
      local RUN, ACCEL, BRAKE = 90, 400, 600
      local function approach(value, goal, step)
        if value < goal then return math.min(value + step, goal) end
        return math.max(value - step, goal)
      end
      return function(v, body, facing, dt)
        local move = 0
        if body.level > 6 then move = 1 elseif body.level < 3 then move = -1 end
        local accel = ACCEL
        if move == 0 then accel = BRAKE elseif move * v.x < 0 then accel = ACCEL + BRAKE end
        if not body.grounded then accel = accel * 0.5 end
        v.x = approach(v.x, move * RUN, accel * dt)
        if move ~= 0 then facing.dir = move end
      end
    end },

    { "distance as a sum of steps", query = "Position, Velocity, Body", make = function()
      return function(p, v, body, dt)
        local steps = 4
        local h = dt / steps
        for _ = 1, steps do
          local ax = -p.x * 0.5 / body.mass
          v.x = v.x + ax * h
          p.x = p.x + v.x * h
        end
      end
    end },
  })
end)
