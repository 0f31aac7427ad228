-- Bodies with loops that depend on the row, and with lists in fields, as they are written for Lua.

local bodies = require "spec.support.bodies"

local math = math

local W = 32

local scene = {
  components = {
    { "P", { "x: real", "y: real" } },
    { "Level", { "xp: i32", "level: i32 = 1", "points: i32" } },
    { "Bag", { "slots: i32[6]", "counts: u8[6]", "used: i32", "picked: i32", "gold: i32" } },
    { "Work", { "left: real = 1", "step: real = 0.25", "done: i32", "queue: i32" } },
    { "Ray", { "dx: real", "dy: real", "hit: bool", "length: i32", "reach: i32 = 12" } },
    { "Trail", { "xs: real[4]", "ys: real[4]", "at: i32 = 1", "length: real" } },
    { "Dead", {} },
  },
  fill = function(world, random)
    local function real(low, high) return random:range(low * 8, high * 8) / 8 end
    local walls = world:array("walls", "bool", W * W)
    for i = 1, W * W do walls[i] = random:chance(15) end
    local ids = {}
    for n = 1, 1300 do
      ids[n] = world:spawn {
        P = { real(1, 30), real(1, 30) },
        Level = n % 2 == 0 and { xp = random:range(0, 400) } or nil,
        Bag = n % 3 == 0 and { slots = { random:range(0, 3), random:range(0, 3), 0, 2, 0, 9 },
          counts = { 1, 2, 3, 4, 5, 6 }, picked = random:range(1, 3) } or nil,
        Work = n % 4 == 0 and { left = real(0, 2), queue = random:range(0, 5) } or nil,
        Ray = n % 3 == 1 and { dx = real(-1, 1), dy = real(-1, 1) } or nil,
        Trail = n % 5 == 0 and {} or nil,
      }
    end
    return ids
  end,
}

describe("a body with loops of its own (C26, C45)", function()
  bodies.test(scene, {
    { "levels that are gained at once", query = "Level", make = function()
      return function(level)
        level.xp = level.xp + 9
        while level.xp >= level.level * 10 do
          level.xp = level.xp - level.level * 10
          level.level = level.level + 1
          level.points = level.points + 2
        end
      end
    end },

    { "work that is done in steps", query = "Work", exact = true, make = function()
      return function(work, dt)
        work.left = work.left - dt
        while work.left <= 0 and work.queue > 0 do
          work.left = work.left + work.step
          work.queue = work.queue - 1
          work.done = work.done + 1
        end
      end
    end },

    { "rays through tiles", query = "Ray, P:in", exact = true, make = function(world)
      local walls = world:array "walls"
      return function(ray, p)
        local x, y = p.x, p.y
        local n = 0
        ray.hit = false
        repeat
          x, y = x + ray.dx, y + ray.dy
          n = n + 1
          local cx, cy = math.floor(x), math.floor(y)
          if cx < 0 or cy < 0 or cx >= W or cy >= W then break end
          if walls[cy * W + cx + 1] then ray.hit = true end
        until ray.hit or n >= ray.reach
        ray.length = n
      end
    end },

    { "the first free slot", query = "Bag", make = function()
      return function(bag)
        for k = 1, #bag.slots do
          if bag.slots[k] == 0 then
            bag.slots[k] = bag.picked
            bag.counts[k] = 1
            return
          end
        end
        bag.gold = bag.gold + bag.picked
      end
    end },

    { "what is in all slots", query = "Bag", make = function()
      return function(bag)
        local used, sum = 0, 0
        for k = 1, 6 do
          if bag.slots[k] > 0 then
            used = used + 1
            sum = sum + bag.slots[k] * bag.counts[k]
          end
        end
        bag.used, bag.gold = used, sum
        bag.picked = bag.picked % 6 + 1
      end
    end },

    { "the slot that is picked", query = "Bag", make = function()
      return function(bag)
        local k = bag.picked
        if bag.counts[k] > 0 then
          bag.counts[k] = bag.counts[k] - 1
          bag.gold = bag.gold + bag.slots[k]
        else
          bag.picked = k % 6 + 1
        end
      end
    end },

    { "as many times as its level", query = "Level, P", make = function()
      return function(level, p)
        for k = 1, level.level do
          p.x = p.x + 1 / k
        end
        level.level = level.level % 5 + 1
      end
    end },

    { "a trail behind it", query = "Trail, P", make = function()
      return function(trail, p, dt)
        p.x, p.y = p.x + dt, p.y - dt * 2
        trail.xs[trail.at], trail.ys[trail.at] = p.x, p.y
        trail.at = trail.at % 4 + 1
        local length = 0
        for k = 2, 4 do
          length = length + math.abs(trail.xs[k] - trail.xs[k - 1])
        end
        trail.length = length
      end
    end },
  })
end)
