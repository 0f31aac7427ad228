-- What a kernel may ask of the world that is the same for all rows: how many match, how long an
-- array is.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local has_error = helper.has_error

local scene = agree.scene {
  fill = function(world)
    world:component("N", { "a: i64", "f: f64" })
    world:component("Off", { "x: i32", toggle = true })
    world:tag "Enemy"
    world:relation "Likes"
    world:array("grid", "f32", 12)
    for i = 1, 20 do
      local e = world:spawn { N = { i }, Off = { i }, Enemy = i % 4 == 0 or nil }
      if i % 3 == 0 then world:disable(e, "Off") end
    end
  end,
  query = "N",
  updates = 4,
  dt = 0.5,
}

-- Between updates enemies come and go.
local function same(make)
  scene:both(make, { between = function(world, _, said)
    table.insert(said, world:query("N"):sum(function(n) return n.a end))
    table.insert(said, world:query("N"):sum(function(n) return n.f end))
    world:spawn { N = { 1 }, Enemy = true }
    world:despawn(world:query("Enemy"):first())
    world:spawn { Enemy = true }
  end })
end

describe("world:count in a kernel", function()
  it("is how many match when the run begins, whatever it stages", function()
    same(function(world) return function(n) n.a = n.a + world:count "Enemy" end end)
    same(function(world)
      return function(n, _, e)
        if n.a % 5 == 0 then world:despawn(e) end
        n.a, n.f = world:count "N, !Enemy", world:count "Enemy" / 3
      end
    end)
    same(function(world) return function(n) n.a = n.a + world:count "Enemy|N, !Off:off" end end)
    local text = "Enemy, Off"
    same(function(world)
      return function(n) if world:count(text) > 3 then n.a = world:count "Off:off" end end
    end)
  end)

  it("is a predicate's and a sum's, too", function()
    scene:twice(function(world, kernels)
      local function few(n) return n.a <= world:count "Enemy" end
      local query = world:query "N"
      local where = query:where(few)
      assert.equal(5, where:count())
      assert.equal(kernels and "vector" or "lua", world:explain(few).tier)
      assert.equal(100, query:sum(function() return world:count "Enemy" end))
      world:query("Enemy"):despawn()
      assert.equal(0, where:count())
    end)
  end)

  it("is refused of what may come and go row by row, and of what is no constant", function()
    local world = scene:new(true)
    local function refused(fn, ...)
      has_error(function() world:system("s", { query = "N", each = fn, compile = true }) end,
        "cannot be compiled", ...)
    end
    refused(function(n) n.a = world:count "(Likes, *)" end, "with ties, paths or sparse")
    world:event("Rang", {})
    refused(function(n) n.a = world:count "Rang" end, "it counts events, which may be emitted")
    world:component("Seen", { "x: i32", track = true })
    for _, text in ipairs { "N:changed", "Seen:added", "N, with Seen:changed", "N:changed?" } do
      refused(function(n) n.a = world:count(text) end, "it counts changes")
      world:system("s", { query = "N", each = function(n) n.a = world:count(text) end })
      assert.matches("it counts changes", world:explain("s").reason)
      has_error(function() world:update(1) end, "changed")
      has_error(function() world:query("N"):run(function() return world:count(text) end) end,
        "it counts changes")
    end
    local given = { x = 1 }
    refused(function(n) n.a = world:count("(Likes, $x)", given) end, "than one string from")
    refused(function(n) n.a = world:count(n.a) end, "than one string from")
    refused(function(n) n.a = world:count "Enmy" end, "did you mean 'Enemy'")
    world:system("s", { query = "N", each = function(n) n.a = world:count "Enmy" end })
    has_error(function() world:update(1) end, "Enmy")
    world:tag "Enmy"
    world:update(1)
    assert.equal("vector", world:explain("s").tier)
  end)
end)

describe("what a kernel gets of other entities", function()
  local function explained(count)
    local world, fields, lines = helper.new_world(), {}, {}
    for i = 1, count do
      fields[i] = ("f%d: f64 = %d"):format(i, i)
      lines[i] = ("s = s + world:get(p.at, 'W.f%d')"):format(i)
    end
    world:component("W", fields)
    world:component("P", { "x: f64", "at: entity" })
    local e = world:spawn { P = { at = world:spawn { W = {} } } }
    local text = "local world = ... return function(p) local s = 0.0 " .. table.concat(lines, " ")
    world:system("s", { query = "P", each = load(text .. " p.x = s end")(world) })
    world:update(1)
    assert.equal(count * (count + 1) / 2, (world:get(e, "P.x")))
    return world:explain "s"
  end

  it("is as much as it may be, and no more", function()
    assert.equal("vector", explained(63).tier)
    assert.matches("reads other entities in more than 64 places", explained(64).reason)
  end)
end)

describe("the length of a world's array in a kernel", function()
  it("is what the array is declared with now", function()
    scene:twice(function(world, kernels)
      local grid = world:array "grid"
      world:system("s", { query = "N", each = function(n) n.a = n.a % #grid + #grid * 100 end })
      world:update(1)
      assert.equal(1207, world:query("N"):max(function(n) return n.a == 1207 and n.a or 0 end))
      assert.equal(kernels and "vector" or "lua", world:explain("s").tier)
      world:array("grid", "f32", 5)
      world:update(1)
      local other = world:query("N"):where(function(n) return n.a < 500 or n.a > 504 end)
      assert.equal(0, other:count())
    end)
  end)
end)
