-- Key functions of indexes as programs: what plain Lua gives, to the bit.

local ecs = require "ecs"
local math = math
local helper = require "spec.support.ecs_helper"

local COUNT = 300
local SPEEDS = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }

local function populate(kernels, track)
  local world, rng = ecs.world { kernels = kernels, tag = 1, seed = 5 }, 7
  local function random(n)
    rng = (rng * 1103515245 + 12345) % 2147483648
    return rng // 65536 % n
  end
  world:component("Item", { "a: f32", "b: f64", "i: i32", "u: u8", "m: f32[2]",
    "kind: enum(small, large)", track = track })
  world:resource("Rules", { "g: f32 = 0.3" })
  world:tag "Tag"
  local ids = {}
  for at = 1, COUNT do
    ids[at] = world:spawn {
      Item = { a = random(1000) / 7 - 30, b = random(1000) / 9 - 30, i = random(100) - 50,
        u = random(200), m = { random(9) / 3, random(9) / 7 },
        kind = random(2) == 0 and "small" or "large" },
      Tag = at % 3 == 0 or nil,
    }
  end
  return world, ids
end

-- Whom the index has in its order, and of whom that is said: at first, when few rows have changed,
-- when some have come and gone.
local function orders(kernels, track, make)
  local world, ids = populate(kernels, track)
  local found, fn = {}, make(world)
  local index = world:index("keys", { query = "Item", ordered = fn })
  local function look()
    for _, e in index:range(-math.huge, math.huge) do found[#found + 1] = e end
    found[#found + 1] = world:explain("keys").lost
  end
  look()
  for at = 1, COUNT, 40 do world:set(ids[at], "Item.a", at + 0.1) end
  look()
  world:despawn(ids[3])
  world:spawn { Item = { a = 3, b = 4 } }
  look()
  local tier = kernels and world:explain(fn)
  helper.check(world)
  world:close()
  return found, tier
end

local function compare(make, tier)
  for _, track in ipairs { true, false } do
    local compiled, is = orders(true, track, make)
    assert.are.equal(tier, is.tier, is.reason)
    assert.are.same(orders(false, track, make), compiled)
  end
end

describe("a key function that is compiled", function()
  it("gives what plain Lua gives, to the last bit of f32 fields, too (C31)", function()
    for _, make in ipairs {
      function() return function(item) return item.a / item.m[1] end end,
      function() return function(item) return math.sqrt(item.a) + item.m[2] * 0.1 end end,
      function() return function(item) return math.sin(item.a) * math.exp(item.m[1]) end end,
      function() return function(item) return item.i * 3 - item.u end end,
      function() return function(item)
        if item.a > item.b then return item.a else return item.b end
      end end,
      function() return function(item) return SPEEDS[item.i % 10 + 1] * item.a end end,
      function() return function(item) return math.floor(item.a) end end,
      function() return function(item)
        if item.kind == "small" then return item.b end
        return item.m[2] - item.a
      end end,
      function(world) return function(item, e) return world:get(e, "Item.b") * item.a end end,
      function(world) return function(item, e) return world:random(e) * item.a end end,
      function(world) return function(_, e) return world:has(e, "Tag") and 1 or 2 end end,
      function(world) return function(item) return world:res("Rules").g * item.a end end,
      function() return function(item)
        local sum = 0.0
        for k = 1, 3 do sum = sum + item.a / k end
        return sum
      end end,
      function() return function(_, e) return e end end,
    } do
      compare(make, "vector")
    end
  end)

  it("is left to Lua where it gives something else than one kind of number", function()
    for _, make in ipairs {
      function() return function(item) if item.a > item.b then return item.i end end end,
      function() return function(item) return item.a > item.b and item.i or item.b end end,
      function() return function(...) return (...).a end end,
    } do
      compare(make, "lua")
    end
  end)

  it("raises what Lua raises where a row fails, and finds all when that is mended", function()
    local world, ids = populate(true, true)
    local keys = world:index("keys", { query = "Item", ordered = function(item)
      return item.u // (item.i - 100)
    end })
    local count = 0
    for _ in keys:lowest(COUNT) do count = count + 1 end
    assert.are.equal(COUNT, count)
    world:set(ids[7], "Item.i", 100)
    helper.has_error(function() keys:lowest(1) end, "index_compiled_spec.lua",
      "attempt to divide by zero")
    assert.are.equal(0, world:explain("keys").rows)
    world:set(ids[7], "Item.i", 99)
    count = 0
    for _ in keys:lowest(COUNT) do count = count + 1 end
    assert.are.equal(COUNT, count)
    world:close()
  end)

  it("follows what its upvalues and its component become", function()
    local world = populate(true)
    local factor = 1
    local keys = world:index("keys", { query = "Item", ordered = function(item)
      return item.u * factor
    end })
    local function first()
      local most
      for item in keys:highest(1) do most = item.u end
      return most
    end
    local most = first()
    factor = -1
    world:spawn { Item = { u = 0 } }
    world:component("Item", { "a: f32", "u: i64" })
    assert.are.equal(0, first())
    assert.is_true(most > 0)
    world:close()
  end)
end)
