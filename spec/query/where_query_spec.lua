-- What q:where(fn) gives is a query; and what queries do to all their entities at once.

local filters = require "spec.support.filters"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local has_error = helper.has_error

local new_world, each_way = filters.of "f64"

describe("q:where(fn) is a query (C26)", function()
  it("lists its entities, and gives them chunk by chunk", function()
    each_way(function(world, ids, pick)
      local where, seen = world:query("N"):where(pick(8)), {}
      assert.same({ ids[9], ids[8], ids[10] }, where:ids())
      for chunk in where:chunks() do
        local a = chunk:column "N.a"
        for i = 1, chunk.n do
          assert.equal(chunk.entities[i], ids[a[i]])
          seen[#seen + 1] = a[i]
          a[i] = -a[i]
        end
      end
      assert.same({ 9, 8, 10 }, seen)
      assert.equal(-8, world:get(ids[8], "N.a"))
      assert.equal(7, world:get(ids[7], "N.a"))
      local odd = {}
      for chunk in world:query("N, !Marked"):where(function(n) return n.a % 4 == 1 end):chunks() do
        odd[#odd + 1] = chunk.n
      end
      assert.same({ 1, 1 }, odd)
    end)
  end)

  it("runs functions, compiled or not", function()
    each_way(function(world, ids, pick, kernels)
      local where = world:query("N"):where(pick(6))
      local function double(n, dt) n.f = n.f * 2 + dt end
      where:run(double, 0.5)
      where:each(double)
      assert.same({ 2.5, 13.0 }, { world:get(ids[5], "N.f"), world:get(ids[6], "N.f") })
      assert.equal(kernels and "vector" or "lua", world:explain(double).tier)
      assert.equal("each", world:explain(double).form)
      world:query("N.f"):where(function(f) return f > 20 end):map(function(f) return -f end)
      assert.same({ 19.0, -21.0 }, { world:get(ids[9], "N.f"), world:get(ids[10], "N.f") })
      local text = function(n) n.f = #tostring(n.a) end
      where:each(text)
      assert.same({ 2.5, 2.0 }, { world:get(ids[5], "N.f"), world:get(ids[10], "N.f") })
      if kernels then has_error(function() where:run(text) end, "cannot be compiled") end
    end)
  end)

  it("sums, and finds the least and the greatest", function()
    each_way(function(world, ids, pick)
      local where = world:query("N"):where(pick(7))
      assert.equal(34, where:sum(function(n) return n.a end))
      assert.equal(17.0, where:sum(function(n) return n.f end))
      assert.same({ 7, ids[7] }, { where:min(function(n) return n.a end) })
      assert.same({ 5.0, ids[10] }, { where:max(function(n) return n.f end) })
      assert.same({ 1, ids[7] }, { where:max(function() return 1 end) })
      local none = world:query("N"):where(pick(11))
      assert.equal(0, none:sum(function(n) return n.a end))
      assert.is_nil(none:min(function() return 1 end))
      assert.equal(5.0, where:sum(function(n) return n.a > 8 and 1 or 1.5 end))
      assert.same({ 1, ids[9] }, { where:min(function(n) return n.a > 8 and 1 or 1.5 end) })
      assert.equal(2, where:sum(function(n) return n.a < 7 and 1.5 or n.a > 8 and 1 or 0 end))
      has_error(function() where:sum(function(n) return 10 // (n.a - 8) end) end, "")
    end)
  end)

  it("may be asked again: the second function sees what the first lets through", function()
    each_way(function(world, ids, pick)
      local seen = {}
      local where = world:query("N"):where(pick(7)):where(function(n)
        seen[#seen + 1] = n.a
        return n.a % 2 == 0
      end)
      assert.equal(2, where:count())
      assert.same({ 7, 9, 8, 10 }, seen)
      local safe = world:query("N"):where(pick(4)):where(function(n) return 12 // (n.a - 3) > 3 end)
      assert.same({ ids[5], ids[4], ids[6] }, safe:ids())
      assert.equal(ids[6], safe:where(function(n) return n.a > 5 end):first())
      for _ = 3, 16 do safe = safe:where(pick(1)) end
      assert.equal(3, safe:count())
      has_error(function() safe:where(pick(1)) end, "more than 16 predicates")
    end)
  end)

  it("fails in the row in which its function fails, and has done those before", function()
    for _, kernels in ipairs { true, false } do
      local world, ids = new_world(kernels)
      local where = world:query("N, !Marked"):where(function(n) return n.a ~= 3 end)
      local _, why = pcall(where.each, where, function(n)
        n.f = 0
        n.a = 10 // (n.a - 7)
      end)
      assert.matches("attempt to", why)
      local f = {}
      for i, e in ipairs(ids) do f[i] = world:get(e, "N.f") end
      assert.same({ 0, 1, 1.5, 2, 0, 3, 0, 4, 4.5, 5 }, f)
    end
  end)

  it("passes over what is switched off", function()
    for _, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels }
      world:component("T", { "v: i32" }, nil)
      world:component("S", { "on: bool", toggle = true })
      for v = 1, 200 do
        local e = world:spawn { T = { v }, S = { true } }
        if v % 3 == 0 then world:disable(e, "S") end
      end
      local where = world:query("T, S"):where(function(t) return t.v % 2 == 0 end)
      assert.equal(67, where:count())
      where:each(function(t) t.v = t.v + 1000 end)
      assert.equal(0, where:sum(function(t) return t.v < 1000 and 1 or 0 end))
      assert.equal(67, world:query("T"):where(function(t) return t.v > 1000 end):count())
    end
  end)
end)

describe("a query", function()
  it("changes all its entities at once", function()
    for _, kernels in ipairs { true, false } do
      local world, ids = new_world(kernels)
      world:query("N, Marked"):add "P"
      world:query("N, !Marked"):set("N.f", 9)
      world:query("P"):set("P", { x = 3 })
      world:query("P"):remove "Marked"
      assert.same({ 9.0, 3.0, false }, { world:get(ids[1], "N.f"), world:get(ids[2], "P.x"),
        world:has(ids[2], "Marked") })
      assert.is_false(world:has(ids[1], "P"))
      world:query("P"):despawn()
      assert.equal(5, world:query("N"):count())
      assert.equal(0, world:query("P"):count())
      has_error(function() world:query("N"):set("N.f", "x") end, "'N.f' is f64, got 'x'")
      has_error(function() world:query("N"):add "Nope" end, "bad argument #1 to 'add'", "Nope")
      assert.is_true(world:check())
    end
  end)

  it("takes each entity once, however often it matches", function()
    local world = helper.new_world()
    world:relation "Likes"
    world:component("Bag", { "n: i32" })
    local a, b = world:spawn {}, world:spawn {}
    local fan = world:spawn { Likes = { a, b } }
    local fans = world:query "(Likes, *)"
    assert.equal(2, fans:count())
    fans:set("Bag", 1)
    fans:add("Likes", fan)
    assert.same({ fan }, fans:ids())
    assert.same({ fan }, fans:where(function() return true end):ids())
    fans:remove "Likes"
    fans:despawn()
    assert.is_true(world:alive(fan))
  end)
end)

describe("What queries do to all their entities (C86)", function()
  local QUERIES = { "N", "N, P", "N, !P", "N, P?", "N, Marked", "N, Big", "N, Lit",
    "N, Thin" }
  local COMPONENTS = { "P", "Marked", "Big", "Lit", "Thin", "Held" }
  local SETS = { { "N.f", 7 }, { "P", 1.5 }, { "Big", 3, "s" }, { "Held", { x = 9 } } }

  local function new(kernels)
    local world = helper.new_world { kernels = kernels }
    world:component("N", { "a: i64", "f: f64" })
    world:component("P", { "x: f64" })
    world:component("Big", { "n: u8 = 4", "text: string" })
    world:component("Held", { "x: any", "y: any" })
    world:component("Lit", { "x: f32", toggle = true })
    world:component("Thin", { "x: f32", storage = "sparse" })
    world:tag "Marked"
    return world
  end

  -- world:method(entity, ...) for each, in a scope.
  local function one_by_one(world, query, method, ...)
    local ids = query:ids()
    world:defer()
    for _, id in ipairs(ids) do
      world[method](world, id, ...)
    end
    world:commit()
  end

  -- Without the world's tag.
  local function indices(ids)
    for i, id in ipairs(ids) do ids[i] = id & 0xFFFFFFFFFFF end
    return ids
  end

  local function history(seed, at_once)
    local rng, world = random.new(seed), new(seed % 2 == 0)
    local out = {}
    for i = 1, rng:range(1, 300) do
      local e = world:spawn { N = { i % 7, i }, P = rng:chance(50) and { i } or nil,
        Marked = rng:chance(40) and true or nil, Big = rng:chance(30) and {} or nil,
        Lit = rng:chance(30) and {} or nil, Thin = rng:chance(20) and {} or nil }
      if i % 5 == 0 and world:has(e, "Lit") then world:disable(e, "Lit") end
    end
    local queries = {}
    for i, text in ipairs(QUERIES) do queries[i] = world:query(text) end
    for _ = 1, 15 do
      local query, modulus = rng:pick(queries), rng:range(1, 4)
      if rng:chance(50) then query = query:where(function(n) return n.a % modulus == 0 end) end
      local method = rng:pick { "add", "add", "add", "remove", "remove", "set", "set", "despawn" }
      local values = method == "set" and rng:pick(SETS) or { rng:pick(COMPONENTS) }
      if method == "despawn" then
        values, query = {}, query:where(function(n) return n.f % 9 == modulus end)
      end
      if at_once then
        query[method](query, table.unpack(values))
      else
        one_by_one(world, query, method, table.unpack(values))
      end
      out[#out + 1] = table.concat(indices(world:query("N"):ids()), " ")
      out[#out + 1] = world:digest()
    end
    out[#out + 1] = indices({ world:spawn { N = {} } })[1]
    return table.concat(out, "\n")
  end

  it("is the same as entity by entity in a scope", function()
    for seed = 1, 40 do
      assert.equal(history(seed, false), history(seed, true), "seed " .. seed)
    end
  end)
end)
