-- Kernels mark what they write where `:changed` is asked of it, as plain Lua does.

local helper = require "spec.support.ecs_helper"
local new_world, has_error = helper.new_world, helper.has_error

-- A world with P, whose changes are told by groups of rows, and T, which is tracked.
local function scene(options)
  local world = new_world(options)
  world:component("P", { "x: f32", "y: f32" })
  world:component("T", { "x: f32", "n: i32", "m: f32[3]", track = true })
  world:component("Other", { "x: f32" })
  return world
end

-- The entities that a query comes to.
local function ids(query)
  local list = query:ids()
  table.sort(list)
  return list
end

describe("a kernel that writes to what is watched", function()
  local function both(fn)
    fn(scene { kernels = false }, "lua")
    fn(scene(), "vector")
  end

  it("marks the rows that have stored, and no others", function()
    both(function(world, tier)
      local list = {}
      for i = 1, 3000 do
        list[i] = world:spawn { T = { n = i }, P = { x = i } }
      end
      local tracked, grouped = world:query "T:changed", world:query "P:changed"
      tracked:count()
      grouped:count()
      world:system("write", { query = "T, P", each = function(t, p)
        if t.n % 1000 == 7 then t.x = 1 end
        if p.x > 2500 then p.y = p.x end
        for i = 1, 3 do
          if t.n == 5 + i then t.m[i] = 2 end
        end
      end })
      world:update(1)
      assert.equal(tier, world:explain "write".tier)
      assert.same(tier == "vector" and { "T", "P" } or nil, world:explain "write".marks)
      assert.same({ list[6], list[7], list[8], list[1007], list[2007] }, ids(tracked))
      assert.equal(3000 - 2048, grouped:count())
      world:system("write", { query = "T.x, T.n", map = function(x, n)
        if n < 3 then return x + 1 end
        return nil
      end })
      world:update(1)
      assert.same({ list[1], list[2] }, ids(tracked))
    end)
  end)

  it("goes over just the rows that were written", function()
    both(function(world, tier)
      local list = world:spawn_many(3000, { T = {}, P = {}, Other = {} })
      world:system("count", { query = "T:changed:in, P", each = function(t, p)
        p.x = p.x + t.n + 1
      end })
      local total = world:query "P"
      world:update(1)
      assert.equal(tier, world:explain "count".tier)
      assert.same({ "T:changed" }, world:explain "count".changed)
      assert.is_true(world:describe("T").watched and world:describe("T").track)
      assert.is_nil(world:describe("Other").watched)
      world:set(list[1], "T.n", 4)
      world:set(list[2049], "T.n", 5)
      world:update(1)
      world:update(1)
      assert.equal(3000 + 5 + 6, total:sum(function(p) return p.x end))
    end)
  end)

  it("marks what it writes to others, and its rows where they do not lie together", function()
    both(function(world, tier)
      world:component("Hunt", { "prey: entity" })
      world:component("Switch", { "x: f32", toggle = true })
      local prey = world:spawn_many(300, { T = {} })
      for i = 1, 100 do
        local e = world:spawn { Hunt = { prey = prey[i] }, Switch = {}, P = { x = i } }
        if i % 2 == 0 then world:disable(e, "Switch") end
      end
      local tracked = world:query "T:changed"
      tracked:count()
      world:system("hit", { query = "Hunt, Hunt.prey->T, P, Switch", each = function(_, t, p)
        if p.x < 8 then t.x = t.x - p.x end
      end })
      world:update(1)
      assert.equal(tier, world:explain "hit".tier)
      assert.same({ prey[1], prey[3], prey[5], prey[7] }, ids(tracked))
      world:system("hit", { query = "Hunt", each = function(h) world:set(h.prey, "T.n", 4) end })
      world:update(1)
      assert.equal(tier, world:explain "hit".tier)
      assert.equal(100, tracked:count())
    end)
  end)

  it("marks what predicates and reductions write", function()
    both(function(world)
      for i = 1, 100 do
        world:spawn { T = { n = i } }
      end
      local tracked, all = world:query "T:changed", world:query "T"
      tracked:count()
      assert.equal(49, all:where(function(t)
        if t.n > 30 then t.x = t.n end
        return t.n < 50
      end):count())
      assert.equal(70, tracked:count())
      all:sum(function(t)
        if t.n < 30 then t.x = 2 end
        return t.n
      end)
      assert.equal(29, tracked:count())
    end)
  end)

  it("marks the rows before one that fails, and what the function does behind it", function()
    both(function(world)
      for i = 1, 200 do
        world:spawn { T = { n = i }, P = { x = i } }
      end
      local tracked = world:query "T:changed"
      tracked:count()
      world:system("fail", { query = "T, P:in", each = function(t, p)
        t.n = p.x == 150 and 0.5 or 1
      end })
      has_error(function() world:update(1) end, "T.n")
      assert.equal(149, tracked:count())
    end)
  end)
end)
