-- Functions that become several programs, by which optional terms are there: what the rows of one
-- order comes behind what those of another have ordered before, and they see each other's writes.

local ecs = require "ecs"

-- What `try` returns, twice: with kernels and without; both are the same.
local function same_in_both(try)
  local results = {}
  for i, kernels in ipairs { false, true } do
    local world = ecs.world { kernels = kernels, tag = 1 }
    world:component("A", { "x: f64" })
    world:component("B", { "t: entity" })
    world:component("V", { "v: f64" })
    world:component("T", { toggle = true })
    world:resource("R", { "n: f64" })
    results[i] = { try(world), world:digest() }
    if kernels then
      assert.are.equal("vector", world:explain("s").tier, world:explain("s").reason)
    end
    assert(world:check())
    world:close()
  end
  assert.are.same(results[1], results[2])
  return results[1][1]
end

local function xs_of(world)
  local list = {}
  for a in world:query("A"):each() do list[#list + 1] = a.x end
  return list
end

-- Four with A and V, and four more with A that are about these.
local function pairs_of(world)
  local first = {}
  for i = 1, 4 do first[i] = world:spawn { A = { i }, V = { i * 10 } } end
  for i = 1, 4 do world:spawn { A = { i }, B = { first[i] } } end
  return first
end

describe("a function with two programs", function()
  it("orders in the order of its rows, whichever of them are kept", function()
    local cases = {
      function(world) return function(_, b, _, e)
        if b then world:add(b.t, "V") else world:remove(e, "V") end
      end end,
      function(world) return function(_, b, _, e)
        if b then world:remove(b.t, "V") else world:add(e, "V") end
      end end,
      function(world) return function(_, b, _, e)
        if b then world:add(e, "V") else world:spawn { A = { 5 }, V = { 6 } } end
      end end,
      function(world) return function(_, b)
        if b then world:set(b.t, "V", 7) else world:spawn { V = { 6 } } end
      end end,
    }
    for _, case in ipairs(cases) do
      same_in_both(function(world)
        local first, has = pairs_of(world), {}
        world:system("s", { query = "A:in, B?", each = case(world) })
        world:update(1)
        for i, e in ipairs(first) do has[i] = world:has(e, "V") and world:get(e, "V") end
        return { has, xs_of(world) }
      end)
    end
  end)

  it("spawns before what later matches of a path order", function()
    local list = same_in_both(function(world)
      local a, b = world:spawn { A = { 1 }, V = { 7 } }, world:spawn { A = { 2 } }
      for i = 1, 6 do world:spawn { A = { i + 10 }, B = { i > 3 and a or b } } end
      world:system("s", { query = "A:in, B:in, B.t->V?", each = function(x, _, v, _, e)
        if v then world:remove(e, "B") else world:spawn { A = { x.x + 100 } } end
      end })
      world:update(1)
      return xs_of(world)
    end)
    assert.are.same({ 1.0, 2.0, 111.0, 112.0, 113.0, 14.0, 15.0, 16.0, 11.0, 12.0, 13.0 }, list)
  end)

  it("spawns before what rows order in which another term is switched on", function()
    same_in_both(function(world)
      for i = 1, 6 do
        local e = world:spawn { A = { i }, B = true, T = true }
        if i % 2 == 0 then world:disable(e, "T") end
      end
      world:system("s", { query = "A:in, B:in, T?", each = function(a, _, t, _, e)
        if t then world:remove(e, "T") else world:spawn { A = { a.x + 100 }, B = true } end
      end })
      world:update(1)
      return xs_of(world)
    end)
  end)

  it("reads fields of resources as rows before have left them", function()
    for _, query in ipairs { "V, A?", "V, B:in, B.t->A?" } do
      local last = same_in_both(function(world)
        local r, ids = world:res "R", {}
        local a, none = world:spawn { A = {} }, world:spawn()
        for i = 1, 6 do
          ids[i] = world:spawn { V = {}, B = { i % 2 == 0 and a or none }, A = i > 4 and {} or nil }
        end
        ids[7] = world:spawn { V = {}, B = { none }, T = true }
        local each = query:find "B:in"
          and function(v, _, x) if x then r.n = r.n + 1 else v.v = r.n end end
          or function(v, x) if x then r.n = r.n + 1 else v.v = r.n end end
        world:system("s", { query = query, each = each })
        world:update(1)
        world:update(1)
        return (world:get(ids[7], "V"))
      end)
      assert.are.equal(query:find "B:in" and 6.0 or 4.0, last)
    end
  end)
end)
