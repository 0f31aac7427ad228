-- Script cells: upvalues, globals and fields of tables that a kernel writes. With kernels and
-- without they have the same values, of the same subtype, after errors and between runs, too.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

local math = math
-- Kernels read globals raw, here they are behind __index.
local ipairs, error, tostring = ipairs, error, tostring

local function show(...)
  local values = table.pack(...)
  for i = 1, values.n do
    values[i] = (math.type(values[i]) or "") .. " " .. tostring(values[i])
  end
  return table.concat(values, ", ")
end

local scene = agree.scene {
  options = { tag = 1 },
  fill = function(world)
    world:component("P", { "x: f64", "n: i32", "small: i8", "f: f32", "on: bool", "who: entity",
      "name: string" })
    world:component("Q", { "y: f64" })
    world:component("S", { "z: f64", storage = "sparse" })
    world:array("heat", "f64", 4)
    for i = 1, 300 do
      local e = world:spawn { Q = i > 200 and { y = i / 8 } or nil,
        P = { x = (i * 37) % 101 / 4, n = i % 11 - 3, small = i % 120, f = i / 4,
          on = i % 3 == 0, name = ({ "ann", "bob", "" })[i % 3 + 1] } }
      if i % 5 == 0 then world:set(e, "P.who", e) end
      if i % 4 == 0 then world:add(e, "S") end
    end
  end,
  query = "P",
  updates = 3,
  dt = 0.5,
  counts = true,
}

-- What `make` gives: a function for rows, one that returns its cells, and one to be called between
-- runs. With kernels and without they do the same; how many rows Lua did then, what is explained,
-- and what was said.
local function check(make, query)
  local cells, between
  local calls, said, worlds = scene:both(function(world)
    local fn
    fn, cells, between = make(world)
    return fn
  end, { query = query, tier = false, between = function(_, turn, told)
    table.insert(told, show(cells()))
    if between then between(turn) end
  end })
  return calls, worlds[1]:explain "s1", said
end

local function check_compiled(make, query)
  local calls, explained = check(make, query)
  assert.equal("vector", explained.tier, explained.reason)
  assert.equal(0, calls)
  return explained
end

describe("a script cell", function()
  after_each(helper.check_worlds)

  it("is an upvalue, a global or a field of a table", function()
    check_compiled(function()
      local n, sum, seen = 0, 0.0, false
      local stats = { kills = 0, inner = { 5, most = 0.5 } }
      local env = { stats = stats, total = 3, math = math }
      local fn = load([[local bump = ...
        return function(p, dt, e)
          bump(p)
          total = total + p.n
          stats.inner[1] = stats.inner[1] + 1
          stats.inner.most = math.max(stats.inner.most, p.x)
        end]], "=cells", "t", env)(function(p)
          n = n + 1
          sum = sum + p.x * 0.5
          if p.x > 20 then seen = true end
          if p.on then stats.kills = stats.kills + 1 end
          p.x = sum
          p.n = n % 7
        end)
      return fn, function()
        return n, sum, seen, stats.kills, stats.inner[1], stats.inner.most, env.total
      end
    end)
  end)

  it("is nil until a row sets it, and again; Lua does the rows that add a field", function()
    local calls, explained = check(function()
      local best, who, last, worst
      local fresh = {}
      return function(p, _, e)
        local d = p.x
        if not best or d < best then best, who = d, e end
        if p.on then last = p.n elseif p.n == 2 then last = nil end
        if last and last > 4 then p.n = last end
        worst = math.max(worst or 0, p.n)
        fresh.sum = (fresh.sum or 0.25) + p.x
      end, function() return best, who, last, worst, fresh.sum end, function(turn)
        if turn == 1 then best, fresh.sum = nil, nil end
      end
    end)
    assert.equal("vector", explained.tier, explained.reason)
    assert.equal(2, calls)
  end)

  it("gets fields in the order of rows, and only those that rows set", function()
    for trial = 1, 40 do   -- the order depends on the names
      local seen = {}
      for n, kernels in ipairs { true, false } do
        local world = helper.new_world { kernels = kernels, tag = 1 }
        local T = "k" .. trial
        world:component("Kind", { ("of: enum(%sa, %sb, %sc, %sd)"):format(T, T, T, T), "n: i32" })
        for i = 1, 60 do world:spawn { Kind = { of = T .. "b", n = i } } end
        local tally, grade = {}, load(("return { %sw = 1, %sx = 2, %sy = 3 }"):format(T, T, T))()
        local fn = load(([[local tally, grade = ...
          return function(k)
            if k.n == 40 then tally.Tone = 1 end
            if k.n == 20 then tally.Ttwo = 2 end
            if k.n == 10 then tally.Tthree = 3 end
            if grade[k.of] then grade[k.of] = grade[k.of] + 1 end
          end]]):gsub("T", T))(tally, grade)
        world:system("s", { query = "Kind", each = fn })
        world:update(1)
        local order = {}
        for key in next, tally do order[#order + 1] = key end
        for key in next, grade do order[#order + 1] = key end
        seen[n] = table.concat(order, " ")
      end
      assert.equal(seen[2], seen[1])
    end
  end)

  it("is added to a table only where a row adds it, while a script goes through that", function()
    for _, adds in ipairs { false, true } do
      local world = helper.new_world { kernels = true, tag = 1 }
      world:component("Kind", { "of: enum(a, b, c, d, e, f, g, h)", "n: i32" })
      for i = 1, 100 do world:spawn { Kind = { of = i % 2 == 0 and "a" or "b", n = i } } end
      local query, flat, seen, calls = world:query "Kind", {}, 0, 0
      local t = adds and {} or { a = 0, b = 0, x = 0, y = 0 }
      local function count(kind)
        t[kind.of] = (t[kind.of] or 0) + 1
        if kind.n > 200 then flat.most = kind.n end
      end
      if adds then query:each(count) end
      for _ in pairs(t) do
        seen = seen + 1
        calls = calls + helper.calls_of(count, function() query:each(count) end)
      end
      assert.same({ "vector", adds and 2 or 4 }, { world:explain(count).tier, seen })
      assert.same(adds and { a = 150, b = 150 } or { a = 200, b = 200, x = 0, y = 0 }, t)
      assert.equal(0, calls)
      assert.is_nil(next(flat))
    end
  end)

  it("is an integer or a float, as it is in Lua", function()
    check_compiled(function()
      local mix, whole, real, big = 0, 2, 0.5, 2 ^ 53 // 1 | 0
      return function(p)
        if p.on then mix = mix + p.x else mix = p.n end
        whole = whole * 3 % 1000 + p.n
        real = real + p.n
        if p.x > 24 then whole = whole + 0.0 end
        big = big + 1
        p.x = mix
      end, function() return mix, whole, real, big end
    end)
  end)

  it("of an f32 is added up as Lua does, not in f32", function()
    check_compiled(function()
      local sum = 0
      return function(p) sum = sum + p.f end, function() return sum end
    end)
  end)

  it("is its closure's own, or shared by two closures", function()
    local function counter(n)
      return function() return n end, function(p) n = n + p.n end, function() n = n * 2 end
    end
    scene:twice(function(world, kernels)
      local query = world:query "P"
      local one, add, double = counter(1)
      local other, add_other = counter(2.5)
      for _ = 1, 3 do
        query:each(add)
        query:each(add_other)
        query:each(double)
      end
      assert.equal("integer", math.type(one()))
      assert.equal("float", math.type(other()))
      if kernels then
        assert.equal("vector", world:explain(add).tier)
        assert.equal("vector", world:explain(double).tier)
      end
      return one(), other()
    end)
  end)

  it("is a string, of a field or the function", function()
    check_compiled(function()
      local last, best, seen, stats = "", "none", nil, { longest = "" }
      return function(p)
        if p.name > best then best = p.name end
        if #p.name >= #stats.longest then stats.longest = p.name end
        last = p.name
        if p.n == 3 then seen = "three" elseif p.n == 5 then seen = nil end
        if seen == last or last == best then p.x = p.x + #last end
      end, function() return last, best, seen, stats.longest end, function(turn)
        if turn == 2 then best, seen, stats.longest = "a", "bob", "z" end
      end
    end)
    local calls, explained = check(function()
      local last, count = "", 0
      return function(p)
        count = count + 1
        if count % 50 == 0 then last = last .. tostring(count) end
        p.x = p.x + #last
        if p.n == 3 then last = p.name end
      end, function() return last, count end
    end)
    assert.equal("vector", explained.tier)
    assert.truthy(calls > 0 and calls < 300, calls)
  end)

  it("goes from table to table, and from match to match", function()
    for _, query in ipairs { "P, Q?", "P, S?", "P, P.who->Q?", "P, S", "P, ChildOf->Q?",
      "P, P.who->P" } do
      check(function()
        local n, sum, only = 0, 0, nil
        return function(p, q)
          n = n + 1
          if q then sum = sum + 0.25 else p.x = sum end
          if p.n > 5 then only = (only or 0) + (q and 1.5 or 1) end
        end, function() return n, sum, only end
      end, query)
    end
  end)

  it("is written by map, too", function()
    scene:twice(function(world, kernels)
      local n = 0
      local function rank(x) n = n + 1 return x + n end
      world:query("P.x"):map(rank)
      if kernels then assert.equal("vector", world:explain(rank).tier) end
      return show(n)
    end)
  end)

  it("is listed among reads and writes", function()
    local explained = check_compiled(function()
      local n, flag, stats = 0, false, { kills = 0 }
      return function(p)
        n = n + 1
        stats.kills = stats.kills + n
        flag = p.on
      end, function() return n, flag, stats.kills end
    end)
    assert.same({ "P.on", "upvalue n", "stats.kills" }, explained.reads)
    assert.same(explained.writes, { "upvalue n", "stats.kills", "upvalue flag" })
    assert.same(explained.writes, explained.cells)
  end)

  it("is not written by predicates and what gives a result, which stay Lua", function()
    local world, n = scene:new(true), 0
    local query = world:query "P"
    local function counted(p) n = n + 1 return p.on end
    local function summed(p) n = n + 1 return p.x end
    query:where(counted):each(function() end)
    query:sum(summed)
    assert.equal(600, n)
    for _, fn in ipairs { counted, summed } do
      assert.equal("lua", world:explain(fn).tier)
      assert.truthy(world:explain(fn).reason:find("writes to 'n' and returns a result", 1, true))
    end
  end)

  it("that becomes something else leaves the function to Lua", function()
    for _, to in ipairs { "text", {}, print } do
      local _, explained, said = check(function()
        local n = 1
        return function() n = n + 1 end, function() return type(n) end, function() n = to end
      end)
      assert.truthy(said:find("attempt to ", 1, true), said)
      assert.equal("lua", explained.tier)
    end
  end)

  it("that is not there is one of a table without __index and __newindex only", function()
    local made
    local _, explained = check(function()
      made = {}
      local t = setmetatable({}, { __newindex = function(_, key, value)
        made[key] = (made[key] or 0) + value
      end })
      return function(p) t.n = p.n end, function() return made.n end
    end)
    assert.truthy(explained.reason:find("in a table with __newindex", 1, true))
    check_compiled(function()
      local t = setmetatable({ n = 1 }, { __index = error, __newindex = error })
      return function(p) t.n = t.n + p.n end, function() return t.n end
    end)
  end)

  it("is not read by a variable, nor counted", function()
    for _, body in ipairs { "t[1] = t[p.n % 2 + 1] + 1", "t.n = #t", "u.x = t[p.n % 2 + 1].x" } do
      local _, explained = check(function()
        local inner = { x = 1 }
        local t = body:find "%.x" and { inner, { x = 2 } } or { 1, 2, n = 3 }
        local fn = load("local t, u = ... return function(p) " .. body .. " end")(t, inner)
        return fn, function() return t[1] == inner and inner.x or t[1], t.n end
      end)
      assert.equal("lua", explained.tier)
    end
  end)
end)

describe("elements of tables that a kernel writes by a variable", function()
  after_each(helper.check_worlds)

  it("are numbers by index, integers and floats in turn", function()
    local explained = check_compiled(function()
      local list, sums = { 1, 2, 3, 4 }, { 0, 0.5, 0 }
      return function(p)
        local i = (p.n + 3) % 4 + 1
        list[i] = list[i] * 2 % 7 + p.n
        sums[i % 3 + 1] = sums[i % 3 + 1] + p.x
        if p.on then sums[1] = list[i] end
        p.f = list[i % 4 + 1]
        for k, v in ipairs(list) do list[k] = v % 1000 + #sums end
      end, function() return list[1], list[2], list[3], list[4], sums[1], sums[2], sums[3] end,
        function(turn) list[turn], sums = turn / 2, { turn, 1, 2.5 } end
    end)
    assert.truthy(table.concat(explained.writes, " "):find("list[]", 1, true))
  end)

  it("are refused where the table is come to in another way, too, whatever leads there", function()
    for _, make in ipairs {
      function(list) return function(p) list[p.n % 3 + 1] = list.first end end,
      function(list, same) return function(p) list[p.n % 3 + 1] = 1 p.x = same[p.n % 3 + 1] end end,
      function(list, _, all) return function(p) list[p.n % 3 + 1] = 1 p.x = all[2].first end end,
      function(list, _, all) return function(p)
        list[p.n % 3 + 1] = 1
        p.x = all[p.n % 2 + 1].first
      end end,
      function(_, _, all) return function(p)
        all[2][1] = all[2][1] + 1
        p.x = all[p.n % 2 + 1][p.n % 2 + 1]
      end end,
      function(list, _, all) return function(p)
        list[2] = list[2] + 1
        p.x = all[p.n % 2 + 1][p.n % 2 + 1] + #all[p.n % 2 + 1]
      end end,
    } do
      local _, explained = check(function()
        local list = { 3, 2, 1, first = 5 }
        local all = { { 4, 5, 6, first = 1 }, list }
        return make(list, list, all), function() return list[1], list[2] end
      end)
      assert.equal("lua", explained.tier)
      assert.matches("that it also reaches in another way", explained.reason)
    end
  end)

  it("are other tables in each run, and another one for a closure that is made anew", function()
    scene:twice(function(world)
      local said = {}
      for turn = 1, 3 do
        local list = { turn, 0.5, turn * 2 }
        world:query("P"):each(function(p) list[p.n % 3 + 1] = list[p.n % 3 + 1] + 1 end)
        said[turn] = show(list[1], list[2], list[3])
      end
      return table.concat(said, "; ")
    end)
  end)
end)

describe("more than 32 script cells", function()
  it("are refused", function()
    local names, text = {}, {}
    for i = 1, 33 do
      names[i], text[i] = "v" .. i, ("v%d = v%d + 1"):format(i, i)
    end
    local zeros = ("0, "):rep(32) .. "0"
    local body = ("local %s = %s return function(p) %s end"):format(table.concat(names, ", "),
      zeros, table.concat(text, " "))
    local world = scene:new(true)
    local fn = load(body)()
    world:query("P"):each(fn)
    assert.truthy(world:explain(fn).reason:find("more than 32 upvalues", 1, true))
  end)
end)
