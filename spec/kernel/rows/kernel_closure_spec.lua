-- Functions that are made anew each frame: one of them is compiled for all.

local helper = require "spec.support.ecs_helper"

local function make_world()
  local world = helper.new_world()
  world:component("A", { "x: f64" })
  return world, world:spawn { A = { x = 1 } }, world:query "A"
end

describe("closures of one function", function()
  after_each(helper.check_worlds)

  local function add(by)
    return function(a) a.x = a.x + by end
  end

  it("are compiled once, and each adds what it has", function()
    local world, e, query = make_world()
    for i = 1, 20 do
      local closure = add(i)
      query:run(closure)
      assert.equal(1.0 + i * (i + 1) / 2, world:get(e, "A.x"))
      assert.same({ "vector", 1 },
        { world:explain(closure).tier, world:explain(closure).compilations })
    end
  end)

  -- A collector that is stopped and started again begins a cycle, and Lua 5.5 has nothing else.
  local on_5_4 = _VERSION == "Lua 5.4" and it or pending
  on_5_4("leave the collector its pause", function()
    local _, _, query = make_world()
    local heap, cycles, counting = {}, 0, true
    for i = 1, 100000 do heap[i] = {} end
    collectgarbage()
    local function count()
      cycles = cycles + 1
      if counting then setmetatable({}, { __gc = count }) end
    end
    count()
    for i = 1, 300 do query:run(add(i)) end
    counting = false
    assert.is_true(cycles < 20, cycles .. " cycles")
    assert.equal(100000, #heap)
  end)

  it("are compiled again for upvalues of another type", function()
    local world, e, query = make_world()
    local whole, half, last = add(2), add(0.5), add(3)
    for _, closure in ipairs { whole, half, whole, last, half } do query:run(closure) end
    assert.equal(9.0, world:get(e, "A.x"))
    assert.same({ 1, 2, 2 }, { world:explain(whole).compilations,
      world:explain(half).compilations, world:explain(last).compilations })
  end)

  it("are one for predicates and reductions, too", function()
    local world, _, query = make_world()
    for i = 2, 6 do world:spawn { A = { x = i } } end
    for i = 1, 6 do
      local function above(a) return a.x > i end
      local function times(a) return a.x * i end
      assert.equal(6 - i, query:where(above):count())
      assert.equal(21.0 * i, query:sum(times))
      assert.same({ 1, 1 },
        { world:explain(above).compilations, world:explain(times).compilations })
    end
  end)

  it("are refused with their own reasons", function()
    local world, e, query = make_world()
    for _ = 1, 3 do
      helper.has_error(function() query:run(add "text") end, "calculates with a string")
      helper.has_error(function() query:run(add(nil)) end, "calculates with nil")
      query:run(add(1))
    end
    assert.equal(4.0, world:get(e, "A.x"))
  end)

  it("take ids from outside, whether null, of somebody alive or of nobody", function()
    local world = helper.new_world()
    world:component("Hunt", { "prey: entity" })
    local e, gone = world:spawn { Hunt = {} }, world:spawn()
    world:despawn(gone)
    local query, to = world:query "Hunt", e
    local function set(hunt) hunt.prey = to end
    local function choose(hunt)
      local prey = hunt.prey ~= e and hunt.prey or to
      hunt.prey = prey
    end
    for _, fn in ipairs { set, choose } do
      for _ = 1, 2 do
        for _, id in ipairs { e, 0, e } do
          to = id
          world:set(e, "Hunt.prey", e)
          query:run(fn)
          assert.equal(to, world:get(e, "Hunt.prey"))
        end
        to = gone
        helper.has_error(function() query:run(fn) end, "is dead")
        to = 12345
        helper.has_error(function() query:run(fn) end, "12345")
        assert.equal(e, world:get(e, "Hunt.prey"))
      end
    end
  end)

  it("know that what they had inlined is gone", function()
    local world, e, query = make_world()
    local config = { step = function(x) return x + 1 end }
    local function body(a) if config.step then a.x = config.step(a.x) else a.x = -1 end end
    query:run(body)
    assert.equal(2.0, world:get(e, "A.x"))
    config.step = nil
    collectgarbage()
    query:run(body)
    assert.equal(-1.0, world:get(e, "A.x"))
    config.step = function(x) return x + 5 end
    query:run(body)
    assert.equal(4.0, world:get(e, "A.x"))
  end)

  it("of many functions are compiled, remembered or not", function()
    local world, e, query = make_world()
    local total = 1.0
    for _ = 1, 3 do
      for i = 1, 9 do
        query:run(load(("local by = ... return function(a) a.x = a.x + by * %d end"):format(i))(i))
        total = total + i * i
      end
    end
    assert.equal(total, world:get(e, "A.x"))
  end)

  local function collect()
    collectgarbage()
    collectgarbage()
  end

  local forms = {
    each = function(query, fn) query:each(fn) end,
    run = function(query, fn) query:run(fn) end,
    map = function(query, fn) query:map(fn) end,
    sum = function(query, fn) query:sum(fn) end,
    max = function(query, fn) query:max(fn) end,
    where = function(query, fn) query:where(fn):count() end,
    behind = function(query, fn) query:where(function() return true end):sum(fn) end,
  }

  for form, call in pairs(forms) do
    it("stay compiled when the queries that they were given to are gone: " .. form, function()
      for _, text in ipairs { "A", "A:changed", "A, (Near, $who)" } do
        local world = make_world()
        world:relation "Near"
        local ids = world:query "A":ids()
        world:add(ids[1], "Near", ids[1])
        local function fn(a) return form == "map" and a or a.x * 2.0 end
        local variables = text:find "who" and { who = ids[1] } or nil
        if form == "map" then text = text:gsub("A", "A.x", 1) end
        for _ = 1, 4 do
          call(world:query(text, variables), fn)
          collect()
          local told = world:explain(fn)
          assert.same({ text, 1, 0 }, { told.query, told.compilations, #told.also })
          assert.truthy(told.tier == "vector" or form == "where" or form == "behind", told.reason)
        end
      end
    end)
  end

  it("keep a query of each text, and none of those that are made anew", function()
    local world, queries = make_world(), setmetatable({}, { __mode = "k" })
    local function fn(a) a.x = a.x + 1 end
    for name = 1, 3 do world:tag("B" .. name) end
    for i = 1, 60 do
      local query = world:query(i % 2 == 0 and "A" or "A, !B" .. i % 3 + 1)
      queries[query] = true
      query:each(fn)
    end
    collect()
    local left = 0
    for _ in pairs(queries) do left = left + 1 end
    assert.equal(4, left)
    for i = 1, 200 do
      local query = world:query("A" .. (" "):rep(i))
      queries[query] = true
      query:each(fn)
    end
    collect()
    left = 0
    for _ in pairs(queries) do left = left + 1 end
    assert.truthy(left <= 16, left)
  end)

  it("keep their world alive no longer than anybody else does", function()
    local worlds, functions = setmetatable({}, { __mode = "k" }), {}
    for i = 1, 5 do
      local world = make_world()
      local function fn(a) a.x = a.x + i end
      worlds[world], functions[i] = true, fn
      world:query "A":each(fn)
      world:system("s", { query = "A", each = fn })
    end
    helper.check_worlds()
    collect()
    assert.is_nil(next(worlds))
    assert.equal(5, #functions)
  end)

  it("are let go of with what refers to the query that they were given to", function()
    local world, functions = make_world(), setmetatable({}, { __mode = "k" })
    for _ = 1, 10 do
      local query = world:query "A"
      local function fn(a) a.x = query and a.x + 1 or 0.0 end
      functions[fn] = true
      query:each(fn)
    end
    collect()
    assert.is_nil(next(functions))
    assert.truthy(world:check())
  end)

  it("are not kept alive, nor is what they hold", function()
    local _, _, query = make_world()
    local seen = setmetatable({}, { __mode = "k" })
    for i = 1, 10 do
      local held = { i }
      seen[held] = true
      query:run(function(a) a.x = held and a.x end)
    end
    collectgarbage()
    collectgarbage()
    local left = 0
    for _ in pairs(seen) do left = left + 1 end
    assert.equal(0, left)
  end)
end)
