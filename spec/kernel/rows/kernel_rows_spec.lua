-- Kernels and what they run over: enums and entities, tables, commands, systems.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local kernel_rows = require "spec.support.kernel_rows"
local tiers = require "spec.support.tiers"

local new_world, both = kernel_rows.new_world, kernel_rows.both

describe("parts of fields", function()
  local function make(kernels)
    local world = new_world { kernels = kernels }
    world:component("Point", { "x: f64", "n: i32" })
    world:component("Body", { "m: f32[3]", "at: Point", "path: Point[2]" })
    return world, world:query "Body", world:spawn { Body = { m = { 1, 2, 3 }, at = { x = 5 } } }
  end

  it("have to be there", function()
    local _, q = make(true)
    helper.has_error(function() q:run(function(b) b.m[4] = 1 end) end, "cannot be compiled",
      "an element of 'm' that does not exist")
    helper.has_error(function() q:run(function(b) b.m[0] = 1 end) end, "that does not exist")
    helper.has_error(function() q:run(function(b) b[1] = 1 end) end, "a value, not a name")
    helper.has_error(function() q:run(function(b) b.at[1] = 1 end) end,
      "a value, not a name")
    helper.has_error(function() q:run(function(b) b.path[1] = 1 end) end, "nested")
  end)
end)

describe("a kernel", function()
  it("is made for each set of optional terms that a table has", function()
    both(function(world, kernels)
      local bare = world:spawn { P = { x = 1 } }
      local full = world:spawn { P = { x = 1 }, Q = { x = 5 } }
      world:system("s", { query = "P, Q?", compile = true, each = function(p, q)
        p.x = p.x + (q and q.x or 100)
        if q then q.y = p.x else p.y = -1 end
      end })
      world:update(1)
      assert.same({ 101.0, -1.0 }, { world:get(bare, "P") })
      assert.same({ 6.0, 0.0, 5.0, 6.0 }, { world:get(full, "P"),
        select(2, world:get(full, "P")), world:get(full, "Q") })
      assert.equal(kernels and 2 or nil, world:explain("s").compilations)
    end)
  end)

  it("is one for rows that have and lack optional terms that are decided row by row", function()
    local seen = {}
    both(function(world, kernels)
      local log = {}
      world:component("A", { "x: f64", "n: i32" })
      world:component("Rare", { "v: f64", "w: f64[2]", storage = "sparse" })
      world:component("Mark", { storage = "sparse" })
      for i = 1, 300 do
        world:spawn { A = { i, i % 7 }, Rare = i % 3 == 0 and { i } or nil,
          Mark = i % 4 == 0 or nil,
          ChildOf = i % 5 == 0 and world:spawn { Rare = { v = i } } or nil }
      end
      for at, each in ipairs {
        function(a, s, mark, p)
          if s then s.v, s.w[a.n % 2 + 1] = s.v + a.x, a.n else a.x = a.x - 1 end
          if mark and p then a.x = a.x + p.v elseif s == nil or mark then a.n = a.n + 1 end
        end,
        function(a, s, mark) if a.n ~= 3 or mark then a.x = a.x + (s and s.v or 0.5) end end,
        function(a, s) if a.x > 250 and a.n == 2 then a.x = s.w[2] end a.n = a.n + 1 end,
      } do
        world:system("s", { query = "A, Rare?, Mark?, ChildOf->Rare:in?", each = each })
        log[at] = tiers.plain(select(2, pcall(world.update, world, 1))) .. world:digest()
        if kernels then assert.equal(1, world:explain("s").compilations) end
      end
      seen[#seen + 1] = log
    end)
    assert.same(seen[2], seen[1])
  end)

  it("has what several terms are about of each, where one may be absent or is read-only", function()
    local seen = {}
    both(function(world, kernels)
      world:component("A", { "x: f64" })
      world:component("G", { "v: f64", toggle = true, storage = "sparse" })
      for i = 1, 9 do
        local e = world:spawn { A = { i }, G = { i } }
        if i % 2 > 0 then world:disable(e, "G") end
      end
      world:system("s", { query = "A:in, G?, G:any?, A", each = function(was, on, any, a)
        if any then a.x, any.v = was.x + any.v, any.v + (on and 20 or 10) end
      end })
      world:update(1)
      if kernels then assert.equal("vector", world:explain("s").tier) end
      seen[#seen + 1] = world:digest()
    end)
    assert.equal(seen[2], seen[1])
  end)

  it("knows for each table whether it has an optional tag, and leaves out the other way", function()
    both(function(world, kernels)
      local a = world:spawn { P = { 1, 2 } }
      local b = world:spawn { P = { 1, 2 }, Marked = true }
      local nothing = false
      local function fn(marked, p)
        local plain = not marked
        if marked == nil then
          p.x = 10
        elseif plain then
          p.x = nothing.at_all
        elseif marked then
          p.x = marked == true and 20 or 30
        end
      end
      local query = world:query "Marked?, P"
      query:run(fn)
      assert.are.same({ 10, 20 }, { world:get(a, "P.x"), world:get(b, "P.x") })
      if kernels then
        local told = world:explain(fn)
        assert.are.same({ "vector", 2, {}, { "P.x" } },
          { told.tier, told.compilations, told.reads, told.writes })
        assert.is_truthy(told.program:find "^0%s+fill.f32 c0 = 20%s*$", told.program)
      end
      world:remove(b, "Marked")
      query:run(fn)
      assert.are.equal(10, (world:get(b, "P.x")))
      assert.are.equal(kernels and 2 or nil, kernels and world:explain(fn).compilations or nil)
    end)
  end)

  it("is made for each alternative of A|B", function()
    both(function(world)
      local p, q = world:spawn { P = {}, I = {} }, world:spawn { Q = {}, I = {} }
      local pq = world:spawn { P = {}, Q = {}, I = {} }
      world:query("P|Q, I"):run(function(a, b, i)
        i.a = (a and 1 or 0) + (b and 2 or 0)
        if a then a.x = 3 end
        if b then b.y = 4 end
      end)
      assert.same({ 1, 2, 3 }, { world:get(p, "I.a"), world:get(q, "I.a"), world:get(pq, "I.a") })
      assert.same({ 3.0, 4.0 }, { world:get(p, "P.x"), world:get(q, "Q.y") })
      assert.same({ 3.0, 4.0 }, { world:get(pq, "P.x"), world:get(pq, "Q.y") })
    end)
  end)

  it("is compiled at registration, before there are rows", function()
    local world = new_world()
    world:system("s", { query = "P, Q?, I", each = function(p, q, i)
      if q then p.x = q.x + i.a end
    end })
    assert.same({ "vector", 1 }, { world:explain("s").tier, world:explain("s").compilations })
    world:spawn { P = {}, Q = { x = 2 }, I = { a = 3 } }
    world:update(0)
    assert.equal(1, world:explain("s").compilations)
    helper.has_error(function()
      world:system("t", { query = "P", compile = true, each = function() print(1) end })
    end, "system 't' cannot be compiled", "kernel_rows_spec.lua:")
    helper.has_error(function()
      world:system("t", { query = "P:in", each = function(p) p.x = 1 end })
    end, "system 't': ", "it writes to 'P', which is read-only")
    local later
    world:system("t", { query = "Q", each = function(q) q.x = q.x + later end })
    assert.equal("lua", world:explain("t").tier)
    later = 5
    world:update(0)
    assert.equal("vector", world:explain("t").tier)
    assert.equal(7, (world:get(world:query("Q"):first(), "Q.x")))
  end)

  it("must not write what is read-only, which registration refuses", function()
    local world = new_world()
    world:spawn { P = {}, Q = {} }
    helper.has_error(function()
      world:system("s", { query = "P, Q:in", compile = true, each = function(p, q)
        p.x = q.x
        q.x = 1
      end })
    end, "system 's'", "kernel_rows_spec.lua:", "it writes to 'Q', which is read-only")
    helper.has_error(function()
      world:system("s", { query = "P, Q:in", each = function(p, q) q.x = p.x end })
    end, "system 's': ", "kernel_rows_spec.lua:", "it writes to 'Q', which is read-only")
    world:system("s", { query = "P, Q:in", compile = true, each = function(p, q) p.x = q.x end })
    local explained = world:explain "s"
    assert.same({ "vector", { "Q.x" }, { "P.x" } },
      { explained.tier, explained.reads, explained.writes })
    assert.equal("string", type(explained.program))
  end)

  it("is compiled again after its component has changed", function()
    local world = new_world()
    local e = world:spawn { P = { x = 1, y = 8 } }
    local function grow(p) p.x = p.x + 0.5 end
    world:system("s", { query = "P", each = grow })
    world:update(1)
    assert.equal(1, world:explain("s").compilations)
    world:component("P", { "z: i32 = 9", "y: f32", "x: f64" })
    local function explained()
      local told = world:explain "s"
      return { told.tier, told.reads[1], told.writes[1], told.compilations }
    end
    assert.same({ "vector", "P.x", "P.x", 2 }, explained())
    world:update(1)
    assert.same({ 9, 8.0, 2.0 }, { world:get(e, "P") })
    assert.same({ "vector", "P.x", "P.x", 2 }, explained())
    world:component("P", { "z: i32", was = {} })
    assert.same({ "lua", "P", "P", 2 }, explained())
    assert.matches("kernel_rows_spec.lua:%d+: component 'P' has no field 'x'",
      world:explain("s").reason)
  end)
end)

describe("commands of a kernel", function()
  it("wait for the end of the scope", function()
    both(function(world)
      local e = world:spawn { I = {} }
      world:defer()
      world:query("I"):run(function(_, _, id) world:despawn(id) end)
      assert.is_true(world:alive(e))
      assert.equal(1, world:count "I")
      world:commit()
      assert.is_false(world:alive(e))
    end)
  end)

  it("are dropped when a row fails", function()
    local world = new_world()
    local e, wrong = world:spawn { I = { b = 1 } }, world:spawn { I = {} }
    helper.has_error(function()
      world:query("I"):run(function(i, _, id)
        world:despawn(id)
        i.a = 1 // i.b
      end)
    end, ecs.format(wrong))
    assert.same({ true, true }, { world:alive(e), world:alive(wrong) })
  end)
end)

describe("world:random", function()
  it("gives the same numbers in both tiers, others for each entity, call and tick", function()
    local lists = {}
    both(function(world, kernels)
      local list = {}
      for _ = 1, 20 do world:spawn { P = {}, I = {} } end
      world:system("s", { query = "P, I", compile = true, each = function(p, i, _, e)
        p.x = world:random(e)
        if world:random(e) < 0.5 then p.y = world:random(e) end
        i.a = world:random(e, 6)
        i.b = world:random(e, -5, 5)
      end })
      for _ = 1, 3 do
        world:update(1)
        for p, i in world:query("P, I"):each() do
          table.move({ p.x, p.y, i.a, i.b }, 1, 4, #list + 1, list)
        end
      end
      assert.equal(kernels and "vector" or "lua", world:explain("s").tier)
      lists[#lists + 1] = list
    end)
    assert.same(lists[1], lists[2])
    local different, count = {}, 0
    for at = 1, #lists[1], 4 do
      local x, die, any = lists[1][at], lists[1][at + 2], lists[1][at + 3]
      assert(0 <= x and x <= 1 and 1 <= die and die <= 6 and -5 <= any and any <= 5)
      count = count + (different[x] and 0 or 1)
      different[x] = true
    end
    assert.equal(60, count)
  end)

  it("depends on the world's seed", function()
    local function draw(seed)
      local world = new_world { tag = 1, seed = seed }
      local e = world:spawn { P = {} }
      world:query("P"):run(function(p, _, id) p.x = world:random(id) end)
      return world:get(e, "P.x")
    end
    assert.equal(draw(3), draw(3))
    assert.not_equal(draw(3), draw(4))
  end)

  it("depends on how many updates there were, also for who draws for the first time", function()
    local function draw(updates)
      local world = new_world { tag = 1, seed = 3 }
      local e = world:spawn { P = {} }
      for _ = 1, updates do world:update(0) end
      world:query("P"):run(function(p, _, id) p.x = world:random(id) end)
      return world:get(e, "P.x"), world:random(e)
    end
    local seen = {}
    for updates = 0, 5 do
      for _, number in ipairs { draw(updates) } do
        assert.is_nil(seen[number])
        seen[number] = true
      end
    end
  end)
end)

describe("a kernel that runs again", function()
  -- Both tiers do the same, update after update.
  local function again(query, each, change)
    local sums = {}
    both(function(world, kernels)
      world:resource("Wind", { "x: f32 = 2" })
      local before = { world:spawn { P = {} }, world:spawn { P = {}, Q = {} } }
      world:system("s", { query = query, compile = true, each = each(world) })
      for round = 1, 6 do
        if change then change(world, round, before) end
        world:update(0.25)
      end
      local text = {}
      world:query("P"):each(function(p, _, id)
        text[#text + 1] = ("%x %s %s"):format(id, p.x, p.y)
      end)
      sums[#sums + 1] = table.concat(text, "\n")
      assert.equal(kernels and "vector" or "lua", world:explain("s").tier)
    end)
    assert.equal(sums[1], sums[2])
    return sums[1]
  end

  it("takes the entities of tables that have grown", function()
    local text = again("P", function()
      return function(p, _, e) p.x = p.x + (e & 0xFF) end
    end, function(world, round)
      world:spawn_many(100 * round * round, { P = {} })
    end)
    assert.truthy(text:find "^%x+ %d")
  end)

  it("takes tables that come and go, with and without an optional term", function()
    again("P, Q?", function()
      return function(p, q) if q then p.x = p.x + 1 else p.y = p.y + 1 end end
    end, function(world, round, known)
      local e = known[round % 2 + 1]
      if world:has(e, "Q") then world:remove(e, "Q") else world:add(e, "Q") end
      world:spawn { P = {}, Q = { x = 9 }, Marked = round % 2 == 0 or nil }
      if round == 4 then world:query("Q"):where(function(q) return q.x == 9 end):despawn() end
    end)
  end)

  it("calls nothing of Lua's, however many there are", function()
    local function calls(systems)
      local world, gravity = new_world(), 9.8
      world:spawn { P = {} }
      for i = 1, systems do
        world:system("s" .. i, { query = "P", compile = true,
          each = function(p, dt) p.y = p.y - gravity * dt end })
      end
      world:update(1)
      world:update(1)
      local count = 0
      debug.sethook(function() count = count + 1 end, "c")
      world:update(1)
      debug.sethook()
      return count
    end
    assert.equal(calls(1), calls(5))
    assert.truthy(calls(1) > 0)
  end)

  it("may fail in a later run", function()
    local world = new_world()
    local e = world:spawn { P = { x = 1 }, I = { b = 1 } }
    world:system("s", { query = "P, I", compile = true,
      each = function(p, i) p.x = p.x + 6 // i.b end })
    world:update(1)
    world:update(1)
    world:set(e, "I", { b = 0 })
    helper.has_error(function() world:update(1) end, "attempt to divide by zero")
    assert.equal(13.0, world:get(e, "P.x"))
  end)
end)

describe("a kernel over more kinds of tables than are kept compiled", function()
  it("runs over all of them", function()
    local world = new_world()
    local q = "P, C1?, C2?, C3?, C4?, C5?"
    for i = 1, 5 do
      world:component("C" .. i, { "v: f32 = 1" })
    end
    for kind = 0, 31 do
      local parts = { P = {} }
      for i = 1, 5 do
        parts["C" .. i] = kind >> (i - 1) & 1 == 1 and {} or nil
      end
      world:spawn(parts)
    end
    world:system("s", { query = q, compile = true, each = function(p, a, b, c, d, e)
      p.x = a and p.x + a.v or p.x
      p.x = b and p.x + b.v or p.x
      p.x = c and p.x + c.v or p.x
      p.x = d and p.x + d.v or p.x
      p.x = e and p.x + e.v or p.x
    end })
    world:update(1)
    world:update(1)
    assert.equal("vector", world:explain("s").tier)
    assert.equal(160.0, world:query("P"):sum(function(p) return p.x end))
    assert.equal(32, world:query(q):where(function(_, a) return a or not a end):count())
  end)
end)

describe("a rule of many conditions on what it writes", function()
  -- Each mask is made of those before it: there are 2^26 ways to find out what one implies.
  it("compiles as quickly as it is long", function()
    local one = "if (flags[%d] and ints[%d] > 3) or flags[%d] then ints[%d] = ints[%d] + 1 "
      .. "flags[%d] = false end "
    local deep, long = "ints[1] = 0", ""
    for i = 1, 26 do
      local text = one:format(i % 8 + 1, i % 7 + 1, i % 4 + 1, i % 8 + 1, i % 5 + 1, i % 3 + 1)
      long, deep = long .. text, text:gsub("end $", deep .. " end")
    end
    for _, body in ipairs { long, deep } do
      local seen = {}
      for n, kernels in ipairs { true, false } do
        local world = ecs.world { kernels = kernels, tag = 1 }
        world:component("P", { "n: i64" })
        local ints, flags = world:array("ints", "i64", 8), world:array("flags", "bool", 8)
        for i = 1, 8 do ints[i], flags[i] = i, i % 2 == 0 end
        for i = 1, 40 do world:spawn { P = { n = i } } end
        local text = "local ints, flags = ... return function(p) %s p.n = ints[2] end"
        local make = assert(load(text:format(body)))
        world:system("s", { query = "P", each = make(ints, flags) })
        local start = os.clock()
        world:update(1)
        assert(os.clock() - start < 5)
        seen[n] = world:digest()
      end
      assert.equal(seen[2], seen[1])
    end
  end)
end)
