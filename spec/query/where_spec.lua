-- q:where(fn), and q:sum, q:min, q:max: predicates and reductions, in both tiers.

local filters = require "spec.support.filters"
local helper = require "spec.support.ecs_helper"

local new_world, each_way = filters.of "f32"

describe("q:where", function()
  it("counts, and finds the first", function()
    each_way(function(world, ids, pick)
      local q = world:query "N"
      assert.equal(7, q:where(pick(4)):count())
      assert.equal(10, q:where(pick(1)):count())
      assert.equal(0, q:where(pick(11)):count())
      assert.equal(ids[5], q:where(pick(4)):first())
      assert.equal(0, select("#", q:where(pick(11)):first()))
      assert.equal(3, world:query("N, !Marked"):where(pick(5)):count())
    end)
  end)

  it("takes the first in query order", function()
    each_way(function(world, ids, pick)
      assert.equal(ids[9], world:query("N, !Marked"):where(pick(8)):first())
      assert.equal(ids[8], world:query("N, Marked"):where(pick(7)):first())
    end)
  end)

  it("goes over its rows in both forms of each", function()
    each_way(function(world, _, pick)
      local where, seen = world:query("N"):where(pick(8)), {}
      for n, e in where:each() do
        seen[n.a] = e
      end
      local given = {}
      where:each(function(n, dt, e)
        given[n.a] = e
        n.f = dt
      end, 0.25)
      assert.same(seen, given)
      local count = 0
      for a, e in pairs(seen) do
        assert(a >= 8 and world:get(e, "N.a") == a and world:get(e, "N.f") == 0.25)
        count = count + 1
      end
      assert.equal(3, count)
      assert.equal(2.5, world:get(world:query("N"):where(pick(5)):first(), "N.f"))
    end)
  end)

  it("gives its function views, then the entity, and no dt", function()
    each_way(function(world, ids)
      local function odd(n, e) return e == ids[3] or n.a == 5 end
      local function told(n, ...) return select("#", ...) == 1 and ... == ids[n.a] end
      assert.equal(2, world:query("N"):where(odd):count())
      assert.equal(10, world:query("N"):where(told):count())
      local function failing(n, e) return e // (n.a - 3) == e end
      local _, why = pcall(function() return world:query("N"):where(failing):count() end)
      assert.matches("attempt to ", why)
      helper.has_error(function() world:query("N"):where(function(n, dt) return n.a > dt end) end,
        "where_spec.lua", "its parameter 2 is named 'dt'", "gets no dt")
      helper.has_error(function() world:query("N"):where(function(n, _, e) return n.a > e end) end,
        "it has 3 parameters, but gets 2 arguments: the values of its query, entity")
    end)
  end)

  it("sees its uniforms as they are", function()
    local world = new_world()
    local least = 3
    local where = world:query("N"):where(function(n) return n.a >= least end)
    assert.equal(8, where:count())
    least = 9
    assert.equal(2, where:count())
    least = 9.5
    assert.equal(1, where:count())
  end)

  it("may be left early, in a coroutine or by break", function()
    each_way(function(world, _, pick)
      local where = world:query("N"):where(pick(2))
      for n in where:each() do
        if n.a > 2 then break end
      end
      local thread = coroutine.wrap(function()
        for n in where:each() do coroutine.yield(n.a) end
      end)
      thread()
      world:update(1)
      assert.equal(9, where:count())
    end)
  end)
end)

describe("q:where(fn)", function()
  it("despawns", function()
    each_way(function(world, ids, pick)
      world:query("N"):where(pick(4)):despawn()
      for a, e in ipairs(ids) do
        assert.equal(a < 4, world:alive(e))
      end
    end)
  end)

  it("adds and removes", function()
    each_way(function(world, ids, pick)
      local q = world:query "N"
      q:where(pick(8)):add("P")
      q:where(pick(7)):remove("Marked")
      for a, e in ipairs(ids) do
        assert.equal(a >= 8, world:has(e, "P"))
        assert.equal(a % 2 == 0 and a < 7, world:has(e, "Marked"))
      end
    end)
  end)

  it("sets fields that are there, and components that are not", function()
    each_way(function(world, ids, pick)
      local q = world:query "N"
      q:where(pick(9)):set("N", { f = -1 })
      q:where(pick(10)):set("P", 7)
      q:where(pick(10)):set("N.a", 100)
      assert.same({ 8, 4.0 }, { world:get(ids[8], "N") })
      assert.same({ 9, -1.0 }, { world:get(ids[9], "N") })
      assert.same({ 100, -1.0 }, { world:get(ids[10], "N") })
      assert.same({ false, true }, { world:has(ids[9], "P"), world:has(ids[10], "P") })
      assert.equal(7.0, world:get(ids[10], "P.x"))
    end)
  end)

  it("gives each entity an any value of its own, and what it had goes", function()
    each_way(function(world, ids, pick)
      world:component("Bag", { "one: any", "two: any" })
      local old = setmetatable({ {} }, { __mode = "v" })
      world:set(ids[9], "Bag", old[1], "old")
      world:query("N"):where(pick(8)):set("Bag", { one = { "new" }, two = 2 })
      world:query("N"):where(pick(10)):set("Bag.two", nil)
      collectgarbage()
      assert.is_nil(old[1])
      assert.is_nil(world:get(ids[7], "Bag"))
      for i = 8, 10 do
        assert.equal("new", world:get(ids[i], "Bag.one")[1])
        assert.equal(i < 10 and 2 or nil, world:get(ids[i], "Bag.two"))
      end
      world:despawn(ids[8])
      world:set(ids[9], "Bag.one", nil)
      collectgarbage()
      assert.equal("new", world:get(ids[10], "Bag.one")[1])
      assert(world:check())
    end)
  end)

  it("sets what its function has staged something on, behind that", function()
    each_way(function(world, ids)
      world:query("N"):where(function(n, e)
        if n.a == 2 then world:remove(e, "N") end
        if n.a == 3 then world:despawn(e) end
        if n.a == 4 then world:set(e, "P", 1) end
        return n.a <= 5
      end):set("N.f", 8)
      assert.same({ 0, 8.0 }, { world:get(ids[2], "N") })
      assert.same({ 5, 8.0 }, { world:get(ids[5], "N") })
      assert.is_false(world:alive(ids[3]))
      assert.same({ 1.0, 8.0 }, { world:get(ids[4], "P.x"), (world:get(ids[4], "N.f")) })
    end)
  end)

  it("stages inside a scope", function()
    each_way(function(world, ids, pick)
      local where = world:query("N"):where(pick(6))
      world:defer()
      where:despawn()
      assert.equal(5, where:count())
      world:cancel()
      assert.is_true(world:alive(ids[10]))
      assert.equal(5, where:count())
    end)
  end)

  it("runs what its function does to the entities, too", function()
    each_way(function(world, ids, pick)
      local taken = pick(4)
      local where = world:query("N"):where(function(n, e)
        if n.a < 3 then world:add(e, "P") end
        if n.a == 2 then world:remove(e, "Marked") end
        if n.a == 9 then world:despawn(e) end
        n.f = 7
        return taken(n)
      end)
      assert.equal(7, where:count())
      assert.same({ true, true, false },
        { world:has(ids[1], "P"), world:has(ids[2], "P"), world:has(ids[3], "P") })
      assert.same({ false, true }, { world:has(ids[2], "Marked"), world:has(ids[4], "Marked") })
      assert.same({ false, 7.0 }, { world:alive(ids[9]), world:get(ids[1], "N.f") })
    end)
  end)

  it("asks of values in C, without calling its function, where it compiles (C26)", function()
    for _, kernels in ipairs { true, false } do
      local world, ids = new_world(kernels)
      world:component("Name", { "text: string" })
      for a, e in ipairs(ids) do
        world:set(e, "Name", (a % 5 == 0 and "ziggy" or "major") .. a)
      end
      local rich = function(n) return n.a * 2 > 15 and n.f < 5 end
      local ziggy = function(name) return name.text:find("^ziggy") ~= nil end
      assert.equal(kernels and 0 or 10, helper.calls_of(rich, function()
        assert.equal(2, world:query("N"):where(rich):count())
      end))
      assert.equal(10, helper.calls_of(ziggy, function()
        assert.equal(2, world:query("Name"):where(ziggy):count())
      end))
    end
  end)

  it("says what is wrong", function()
    local world = new_world()
    local q = world:query "N"
    helper.has_error(function() q:where() end, "bad argument #1 to 'where'")
    helper.has_error(function() q:where("n.a > 1") end, "function expected")
    helper.has_error(function() q:where(function(n) return n.b > 1 end):count() end, "'b'")
    helper.has_error(function() q:where(function() return true end):add("Nope") end, "Nope")
    local none = q:where(function() return false end)
    for _, arguments in ipairs { {}, { "N" }, { "Nope", 1 }, { "N", "x" }, { "N.a", 1, 2 },
      { "Marked", 1 }, { "N", 1, 2, 3 }, { "N", { b = 1 } } } do
      helper.has_error(function() none:set(table.unpack(arguments)) end)
    end
    helper.has_error(function() none:set("Nope", 1) end, "bad argument #1 to 'set'", "Nope")
    helper.has_error(function() none:set("N.a") end, "bad argument #2 to 'set'")
  end)
end)

describe("world:explain of a function", function()
  local function fields(told)
    return { told.tier, told.form, told.query, table.concat(told.reads, " "), #told.also }
  end

  it("tells how each form of a query that it was given to runs", function()
    local world = new_world()
    local q = world:query "N"
    local function f(n) return n.f end
    q:sum(f)
    assert.same({ "vector", "sum", "N", "N.f", 0 }, fields(world:explain(f)))
    q:min(f)
    q:max(f)
    local where = world:query("N, Marked"):where(f)
    q:run(f)
    local told = world:explain(f)
    assert.same({ "vector", "run", "N", "N.f", 4 }, fields(told))
    local forms = {}
    for i, other in ipairs(told.also) do
      forms[i] = other.form .. " " .. other.tier .. " " .. other.query
    end
    assert.same({ "where vector N, Marked", "max vector N", "min vector N", "sum vector N" }, forms)
    assert.matches("sum.f64", told.also[4].program)
    assert.equal(world:query("N, Marked"):count(), where:count())
    local function g(n) n.f = 1 end
    q:run(g)
    world:system("s", { query = "N", each = g, compile = true })
    assert.equal("each", world:explain(g).form)
  end)

  it("says when it fell back to Lua, and why", function()
    local world = new_world()
    local q, step, convert = world:query "N", 1, tonumber
    local function odd(n) return n.a % 2 == step end
    local function text(n) return convert(n.f) end
    local function either(n) return n.a > 3 and n.f or 0 end
    local where = q:where(odd)
    assert.equal(5, where:count())
    assert.equal("vector", world:explain(odd).tier)
    step = coroutine.create(print)
    assert.equal(0, where:count())
    assert.equal("lua", world:explain(odd).tier)
    assert.matches("it uses a thread from outside", world:explain(odd).reason)
    step = 0
    for _ = 1, 8 do assert.equal(5, where:count()) end
    assert.same({ "vector" }, { world:explain(odd).tier, world:explain(odd).reason })
    q:max(text)
    local told = world:explain(text)
    assert.equal("lua", told.tier)
    assert.matches("where_spec.lua:%d+: it uses a C function", told.reason)
    assert.equal(24.5, q:sum(either))
    assert.equal("vector", world:explain(either).tier)
    local modf = math.modf
    local function part(n) return (modf(n.f)) end
    assert.equal(25, q:sum(part))
    assert.equal("vector", world:explain(part).tier)
  end)

  it("says that kernels are off, and whether the function is known", function()
    local world = new_world(false)
    local q = world:query "N"
    local function f(n) return n.a end
    helper.has_error(function() world:explain(f) end, "#1 to 'explain'", "has not been passed")
    q:run(f)
    assert.same({ "lua", "run" }, { world:explain(f).tier, world:explain(f).form })
    assert.matches("kernels are off", world:explain(f).reason)
  end)

  it("keeps neither functions nor programs alive", function()
    local world = new_world()
    local q, weak = world:query "N", setmetatable({}, { __mode = "k" })
    for least = 1, 20 do
      local function f(n) return n.a + least end
      weak[f] = true
      q:sum(f)
      world:explain(f)
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
  end)
end)

describe("q:sum, q:min, q:max", function()
  local function both(body)
    body(new_world(true))
    body(new_world(false))
  end

  -- Equal, and of the same subtype.
  local function is(expected, actual)
    assert.equal(math.type(expected), math.type(actual))
    assert.equal(expected, actual)
  end

  it("give 0 and nil on no rows", function()
    both(function(world)
      local q = world:query "P"
      local function x(p) return p.x end
      assert.equal(0, q:sum(x))
      assert.is_nil(q:min(x))
      assert.is_nil(q:max(x))
    end)
  end)

  it("add integers as integers, wrapping around, and floats as floats", function()
    both(function(world, ids)
      local q = world:query "N"
      is(55, q:sum(function(n) return n.a end))
      is(27.5, q:sum(function(n) return n.f end))
      is(385, q:sum(function(n) return n.a * n.a end))
      world:set(ids[1], "N.a", math.maxinteger)
      is(math.mininteger + 53, q:sum(function(n) return n.a end))
      is(10, q:sum(function() return 1 end))
    end)
  end)

  it("take integers of some tables and floats of others", function()
    both(function()
      local world = helper.new_world()
      world:component("A", { "x: f64" })
      world:component("C", { "v: f64" })
      local one, two = world:spawn { A = { 1 } }, world:spawn { A = { 2 }, C = { 3 } }
      local query = world:query "A, C?"
      local function mixed(_, c) return c and 2.5 or 1 end
      is(3.5, query:sum(mixed))
      is(1, query:min(mixed))
      is(2.5, query:max(mixed))
      local function wide(_, c) return c and 2.0 ^ 53 or (1 << 53) + 1 end
      is(2.0 ^ 54, query:sum(wide))
      assert.same({ 2.0 ^ 53, two }, { query:min(wide) })
      assert.same({ (1 << 53) + 1, one }, { query:max(wide) })
      assert.equal(world:explain(wide).tier, world:explain(mixed).tier)
      world:remove(one, "A")
      is(2.5, query:min(mixed))
    end)
  end)

  it("give the least and the greatest", function()
    both(function(world)
      local q = world:query "N"
      is(-10, q:min(function(n) return -n.a end))
      is(10, q:max(function(n) return n.a end))
      is(0.5, q:min(function(n) return n.f end))
      is(5.0, q:max(function(n) return n.f end))
    end)
  end)

  it("add f32 as f64, in the same order in both tiers", function()
    local sums = {}
    for i, kernels in ipairs { true, false } do
      local world = new_world(kernels)
      for n = 1, 3000 do
        world:spawn { P = { x = 1e8 / n } }
      end
      sums[i] = world:query("P"):sum(function(p) return p.x end)
    end
    is(sums[1], sums[2])
    local in_row = 0.0
    for n = 1, 3000 do in_row = in_row + helper.f32(1e8 / n) end
    helper.approx(in_row, sums[1], 1)
  end)

  it("leave NaN out of min and max, not out of sum", function()
    both(function(world, ids)
      local q, nan = world:query "N", 0 / 0
      for _, at in ipairs { 1, 5, 10 } do
        world:set(ids[at], "N.f", nan)
      end
      local function f(n) return n.f end
      is(1.0, q:min(f))
      is(4.5, q:max(f))
      local sum = q:sum(f)
      assert(sum ~= sum)
    end)
  end)
end)

describe("a finalizer that uses a view", function()
  it("finds no row in a view while a predicate is about to be asked", function()
    local world = helper.new_world()
    world:component("Position", { "x: f64", track = true })
    world:tag "Last"
    world:spawn_many(9, { Position = {} })
    world:spawn { Position = {}, Last = true }
    local query, kept, on = world:query "Position", nil, true
    local chosen = query:where(function(position)
      kept = position
      return rawequal(position, kept)
    end)
    local function churn()
      setmetatable({}, { __gc = function()
        if not on then return end
        if kept then pcall(function() kept.x = 7 end) end
        churn()
      end })
    end
    churn()
    helper.collect_always(true)
    for _ = 1, 2000 do chosen:each(function() end) end
    helper.collect_always(false)
    on = false
    assert.is_true(world:check())
  end)
end)
