-- Bodies that are written with helpers, tables of settings, flags and loops, as it is done for Lua.

local bodies = require "spec.support.bodies"
local ecs = require "ecs"

local math = math

local KINDS = {
  slime = { speed = 10, hp = 5, xp = 1 },
  bat = { speed = 25.5, hp = 3, fly = true, xp = 2 },
  boss = { speed = 4, hp = 500, xp = 50 },
}
local RESIST = { slime = 1, bat = 0.5, boss = 2 }
local LEVELS = { 10, 25, 60, 150 }
local WAY = { { x = 0, y = 0 }, { x = 40, y = 4 }, { x = 13, y = 39.5 }, { x = -20, y = 9 } }
local DIRS = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } }
local FLAG = { burning = 1, wet = 2, frozen = 4 }

local vec = {}
function vec.length(x, y) return math.sqrt(x * x + y * y) end
function vec.normalize(x, y)
  local d = vec.length(x, y)
  if d == 0 then return 0, 0 end
  return x / d, y / d
end
function vec.rotate(x, y, a)
  local c, s = math.cos(a), math.sin(a)
  return x * c - y * s, x * s + y * c
end

local function clamp(v, low, high) return math.max(low, math.min(high, v)) end
local function lerp(a, b, t) return a + (b - a) * t end
local function sign(v) return v > 0 and 1 or v < 0 and -1 or 0 end
local function round(v) return math.floor(v + 0.5) end

local scene = {
  components = {
    { "P", { "x: real", "y: real" } },
    { "V", { "x: real", "y: real" } },
    { "Enemy", { "kind: enum(slime, bat, boss)", "hp: i32 = 10", "level: i32", "xp: i32",
      "flags: u32", "name: string", "target: entity", "time: real" } },
    { "Way", { "at: i32 = 1", "loops: i32", "dir: u8 = 1" } },
    { "Buff", { "mult: real = 1", "stacks: u8", "on: bool" } },
    { "Nest", { "at: P", "slots: i32[4]", "used: i32" } },
    { "Game", { "score: i64", "time: real = 2", "paused: bool", "wave: i32 = 3",
      "mode: enum(menu, play) = play" } },
  },
  fill = function(world, random)
    local function real(low, high) return random:range(low * 8, high * 8) / 8 end
    world:resource "Game"
    local ids = {}
    for n = 1, 1400 do
      ids[n] = world:spawn {
        P = { real(-50, 50), real(-50, 50) },
        V = { real(-9, 9), real(-9, 9) },
        Enemy = { kind = random:pick { "slime", "bat", "boss" }, hp = random:range(0, 90),
          level = random:range(0, 5), xp = random:range(0, 99), flags = random:range(0, 7),
          name = random:pick { "", "bob", "eve" },
          target = n > 3 and ids[random:int(#ids)] or nil },
        Way = n % 3 == 0 and { at = random:range(1, 4), dir = random:range(1, 4) } or nil,
        Buff = n % 4 == 1 and { stacks = random:range(0, 5), on = random:chance(50) } or nil,
        Nest = n % 5 == 2 and { at = { 1, 2 }, slots = { random:range(0, 2), 0, 3, 4 } } or nil,
      }
    end
    return ids
  end,
}

describe("a body with helpers (C26, C45)", function()
  bodies.test(scene, {
    { "speed by the settings of its kind", query = "Enemy:in, V", make = function()
      return function(enemy, v, dt)
        local kind = KINDS[enemy.kind]
        local speed = kind.speed
        if enemy.flags & FLAG.wet ~= 0 then speed = speed * 0.5 end
        local dx, dy = vec.normalize(v.x, v.y)
        v.x, v.y = dx * speed, dy * speed
        if kind.fly then v.y = v.y - 3 * dt end
      end
    end },

    { "health by the settings of its kind", query = "Enemy", exact = true, make = function()
      return function(enemy)
        local most = KINDS[enemy.kind].hp * (1 + enemy.level * 0.1)
        if enemy.hp > most then enemy.hp = math.floor(most) end
        enemy.time = enemy.hp / most
      end
    end },

    { "damage by what its kind withstands", query = "Enemy", exact = true, make = function()
      return function(enemy)
        local damage = 3 * RESIST[enemy.kind]
        if enemy.flags & FLAG.burning ~= 0 then damage = damage + 1 end
        enemy.hp = enemy.hp - math.ceil(damage)
        enemy.flags = enemy.flags & ~FLAG.burning
      end
    end },

    { "flags that are set and cleared", query = "Enemy", make = function()
      return function(enemy)
        if enemy.flags & FLAG.frozen ~= 0 then
          enemy.flags = enemy.flags & ~FLAG.frozen | FLAG.wet
        else
          enemy.flags = enemy.flags ~ (1 << enemy.level)
        end
      end
    end },

    { "levels by a table of thresholds", query = "Enemy", make = function()
      return function(enemy)
        local need = LEVELS[enemy.level + 1]
        if need and enemy.xp >= need then
          enemy.level = enemy.level + 1
          enemy.xp = enemy.xp - need
        else
          enemy.xp = enemy.xp + KINDS[enemy.kind].xp
        end
      end
    end },

    { "the level that a number of points is", query = "Enemy", make = function()
      return function(enemy)
        enemy.level = 0
        for k = #LEVELS, 1, -1 do
          if enemy.xp >= LEVELS[k] then
            enemy.level = k
            break
          end
        end
        enemy.xp = enemy.xp + 7
      end
    end },

    { "way points", query = "Way, P", exact = true, make = function()
      return function(way, p, dt)
        local goal = WAY[way.at]
        local dx, dy = goal.x - p.x, goal.y - p.y
        local d = vec.length(dx, dy)
        if d < 2 then
          way.at = way.at % #WAY + 1
          if way.at == 1 then way.loops = way.loops + 1 end
          return
        end
        p.x = p.x + dx / d * 60 * dt
        p.y = p.y + dy / d * 60 * dt
      end
    end },

    { "the nearest way point", query = "Way, P:in", exact = true, make = function()
      return function(way, p)
        local best = math.huge
        for k = 1, #WAY do
          local d = (p.x - WAY[k].x) ^ 2 + (p.y - WAY[k].y) ^ 2
          if d < best then
            best = d
            way.at = k
          end
        end
        way.loops = way.loops + 1
      end
    end },

    { "steps in four directions", query = "Way, P, Enemy:in", exact = true, make = function(world)
      return function(way, p, enemy, _, e)
        local dir = DIRS[way.dir]
        p.x = p.x + dir[1] * enemy.level
        p.y = p.y + dir[2] * enemy.level
        if world:random(e, 4) == 1 then way.dir = way.dir % 4 + 1 end
      end
    end },

    { "helpers that clamp, turn and round", query = "P, V, Enemy", exact = true, make = function()
      return function(p, v, enemy, dt)
        v.x, v.y = vec.rotate(v.x, v.y, dt * enemy.level)
        v.x = v.x - sign(v.x) * 0.1
        p.x = clamp(lerp(p.x, p.x + v.x, dt), -40, 40)
        enemy.hp = clamp(enemy.hp - 1, 0, 100)
        enemy.xp = round(math.abs(p.x))
      end
    end },

    { "a game that is paused or not", query = "P, V:in", make = function(world)
      local game = world:res "Game"
      return function(p, v, dt)
        if game.paused or game.mode == "menu" then return end
        p.x = p.x + v.x * dt * (1 + game.wave * 0.25)
        p.y = math.sin(game.time * 2 + p.x) * 3
      end
    end },

    { "score by kind, level and wave", query = "Enemy:in, !Buff", make = function(world)
      return function(enemy)
        local game = world:res "Game"
        if enemy.hp < 20 then game.score = game.score + KINDS[enemy.kind].xp * 10 + enemy.level end
      end
    end },

    { "buffs that stack and fade", query = "Buff, Enemy", exact = true, make = function()
      return function(buff, enemy, dt)
        local mult = 1
        if buff.on then mult = 1.5 end
        if buff.stacks > 3 then mult = mult * 2 end
        buff.mult = mult + buff.stacks * 0.1
        enemy.time = enemy.time + dt * mult
        if enemy.time > 1 and buff.stacks > 0 then
          buff.stacks = buff.stacks - 1
          enemy.time = enemy.time - 1
          buff.on = not buff.on
        end
      end
    end },

    { "names and foes", query = "Enemy", exact = true, make = function(world)
      return function(enemy, _, e)
        if enemy.target == e or enemy.hp < 5 then enemy.target = ecs.null end
        if enemy.name == "bob" then enemy.hp = enemy.hp + 1
        elseif enemy.name ~= "" and world:alive(enemy.target) then
          enemy.hp = enemy.hp - (world:get(enemy.target, "Way.at") or 3)
        end
        if enemy.hp < 1 then enemy.name = enemy.level > 2 and "ghost" or "" end
      end
    end },

    { "places in a nested component, and slots", query = "Nest, V:in", make = function()
      return function(nest, v, dt)
        local at = nest.at
        at.x = at.x + v.x * dt
        at.y = at.y + v.y * dt
        nest.slots[1] = nest.slots[1] + 1
        if nest.slots[1] > nest.slots[3] then
          nest.slots[1], nest.slots[2] = 0, nest.slots[2] + 1
        end
        nest.used = nest.slots[1] + nest.slots[2] + nest.slots[3] + nest.slots[4]
      end
    end },

    { "tints by kind and health", query = "Enemy, P", make = function()
      return function(enemy, p)
        local share = clamp(enemy.hp / 90, 0, 1)
        local kind = KINDS[enemy.kind]
        p.x = lerp(kind.speed, p.x, share)
        p.y = 1.1 ^ enemy.level + (enemy.level < 3 and 1 or enemy.level < 4 and 2.5 or enemy.hp)
      end
    end },
  })
end)
