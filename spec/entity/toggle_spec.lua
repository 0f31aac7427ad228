-- Components switched off and on. C77, C78.

local helper = require "spec.support.ecs_helper"
local new_world, has_error = helper.new_world, helper.has_error

describe("a component that is a toggle", function()
  local world, a, b, c
  before_each(function()
    world = new_world()
    world:component("AI", { "mood: i32 = 3", "name: string", toggle = true })
    world:component("Position", { "x: f32", "y: f32" })
    world:component("Asleep", { toggle = true })
    a = world:spawn { AI = { mood = 1 }, Position = { x = 1 } }
    b = world:spawn { AI = { mood = 2 }, Position = { x = 2 }, Asleep = true }
    c = world:spawn { Position = { x = 3 } }
  end)

  local function ids(text, variables)
    local list = world:query(text, variables):ids()
    table.sort(list)
    return list
  end

  it("C77: keeps its value while queries pass over it", function()
    world:disable(a, "AI")
    assert.is_false(world:enabled(a, "AI"))
    assert.is_true(world:enabled(b, "AI"))
    assert.is_true(world:has(a, "AI"))
    assert.same({ 1, "" }, { world:get(a, "AI") })
    world:set(a, "AI.mood", 7)
    assert.is_false(world:enabled(a, "AI"))
    assert.same({ b }, ids "AI")
    world:enable(a, "AI")
    assert.same({ a, b }, ids "AI")
    assert.equal(7, (world:get(a, "AI")))
  end)

  it("C77: is absent to terms that do not ask for it", function()
    world:disable(a, "AI")
    assert.same({ a, c }, ids "!AI")
    assert.same({ a }, ids "AI:off")
    assert.same({ a, b }, ids "AI:any")
    assert.same({ b, c }, ids "!AI:off")
    assert.same({ c }, ids "!AI:any")
    assert.same({ b }, ids "with AI, Position")
    assert.same({ b }, ids "AI|Asleep")
    world:disable(b, "Asleep")
    assert.same({ a, b }, ids "AI:off|Asleep:off")
    local seen = {}
    for ai, position, e in world:query("AI?, Position"):each() do
      seen[e] = ai and ai.mood or position.x
    end
    assert.same({ [a] = 1, [b] = 2, [c] = 3 }, seen)
    world:query("AI:off?, Position"):each(function(ai, _, _, e) seen[e] = ai and ai.mood end)
    assert.same({ [a] = 1 }, seen)
    world:query("Asleep?, Position"):each(function(asleep, _, _, e) seen[e] = tostring(asleep) end)
    assert.same({ [a] = "nil", [b] = "nil", [c] = "nil" }, seen)
    assert.equal(1, world:count "AI:off, AI:any")
    assert.equal(0, world:count "AI:off, AI")
  end)

  it("C77: is absent to filters of rows of which another one is off in some", function()
    local d = world:spawn { AI = {}, Position = { x = 4 }, Asleep = true }
    for _, id in ipairs { b, d } do world:disable(id, "AI") end
    world:disable(d, "Asleep")
    for _, kernels in ipairs { true, false } do
      local q = kernels and world:query "Position, AI?, Asleep" or
        world:query "AI?, Position, Asleep"
      local seen = {}
      local filtered = q:where(kernels and function(_, ai) return not ai end or function(ai)
        seen[#seen + 1] = tostring(ai)
        return ai == nil
      end)
      assert.same({ b }, filtered:ids())
      if not kernels then assert.same({ "nil" }, seen) end
    end
  end)

  it("C77: is passed over by paths", function()
    world:component("Hunt", { "prey: entity", toggle = true })
    world:add(b, "ChildOf", a)
    world:add(c, "ChildOf", b)
    world:set(c, "Hunt", a)
    world:disable(b, "AI")
    assert.same({ b }, ids "ChildOf->AI")
    assert.same({ c }, ids "ChildOf->AI:off")
    assert.same({ b, c }, ids "ChildOf->AI:any")
    assert.same({ c }, ids "Hunt.prey->AI")
    local moods = {}
    for ai, e in world:query("ChildOf*->AI"):each() do moods[e] = ai.mood end
    assert.same({ [a] = 1, [b] = 1, [c] = 1 }, moods)
    world:disable(c, "Hunt")
    assert.same({}, ids "Hunt.prey->AI")
    assert.same({ a }, ids "Position, AI, !(ChildOf, *)")
    assert.same({}, ids "AI, (ChildOf, *)")
    assert.same({ b }, ids("(ChildOf, $p), AI:off", { p = a }))
    assert.same({}, ids("(ChildOf, $p), AI", { p = a }))
    assert.same({ c }, ids "(ChildOf, $up), AI($up):off")
  end)

  it("goes on when the entity moves, and with it only", function()
    world:disable(a, "AI")
    world:add(a, "Asleep")
    world:remove(a, "Position")
    assert.is_false(world:enabled(a, "AI"))
    assert.is_true(world:enabled(b, "AI"))
    world:despawn(b)
    world:add(c, "AI")
    assert.is_true(world:enabled(c, "AI"))
    world:remove(a, "AI")
    assert.is_false(world:enabled(a, "AI"))
    world:add(a, "AI")
    assert.is_true(world:enabled(a, "AI"))
  end)

  it("C78: matches 64 rows at a time, in the order of rows", function()
    local many = world:spawn_many(300, { AI = {}, Position = {} })
    for i, id in ipairs(many) do
      if i % 3 == 0 or i > 150 and i < 280 then world:disable(id, "AI") end
    end
    local wanted = { a }
    for i, id in ipairs(many) do
      if not (i % 3 == 0 or i > 150 and i < 280) then wanted[#wanted + 1] = id end
    end
    wanted[#wanted + 1] = b
    local query = world:query "AI, Position"
    assert.same(wanted, query:ids())
    assert.equal(#wanted, query:count())
    local seen = {}
    for chunk in query:chunks() do
      for i = 1, chunk.n do seen[#seen + 1] = chunk.entities[i] end
      assert.equal(chunk.n, #chunk:column "Position.x")
    end
    assert.same(wanted, seen)
    assert.equal(a, query:first())
    world:disable(a, "AI")
    assert.equal(many[1], query:first())
  end)

  it("is switched when the scope ends, in the order of commands", function()
    world:defer()
    world:disable(a, "AI")
    assert.is_true(world:enabled(a, "AI"))
    world:commit()
    assert.is_false(world:enabled(a, "AI"))
    local f = world:spawn {}
    world:defer()
    local e = world:spawn { AI = {} }
    world:disable(e, "AI")
    world:remove(a, "AI")
    world:add(a, "AI")
    world:add(c, "AI")
    world:disable(c, "AI")
    world:disable(f, "AI")
    world:add(f, "AI")
    world:disable(b, "AI")
    world:enable(b, "AI")
    world:disable(b, "Asleep")
    world:remove(b, "Asleep")
    world:commit()
    assert.is_false(world:enabled(e, "AI"))
    assert.is_true(world:enabled(a, "AI"))
    assert.is_false(world:enabled(c, "AI"))
    assert.is_true(world:enabled(f, "AI"))
    assert.is_true(world:enabled(b, "AI"))
    assert.is_false(world:has(b, "Asleep"))
    world:defer()
    world:disable(b, "AI")
    world:cancel()
    assert.is_true(world:enabled(b, "AI"))
    world:system("sleep", { query = "AI", each = function(_, _, id) world:disable(id, "AI") end })
    world:update(0.1)
    assert.same({ a, b, c, f, e }, ids "AI:off")
  end)

  it("C77: does nothing where it is absent, and refuses what is no toggle", function()
    world:component("Packed", { storage = "sparse" })
    has_error(function() world:tag("Off", { toggle = true }) end, "a tag takes only a name",
      "world:component(\"Frozen\", { toggle = true })")
    world:disable(c, "AI")
    assert.is_false(world:has(c, "AI"))
    assert.is_false(world:enabled(c, "AI"))
    assert.is_true(world:enabled(a, "Position"))
    for _, method in ipairs { "enable", "disable" } do
      has_error(function() world[method](world, a, "Position") end,
        "'Position' cannot be switched on and off: declare it with toggle = true")
      has_error(function() world[method](world, a, "ChildOf") end,
        "'ChildOf' cannot be switched on and off")
      has_error(function() world[method](world, a, "Packed") end,
        "'Packed' cannot be switched on and off: declare it with toggle = true")
      has_error(function() world[method](world, a, "AY") end, "unknown component 'AY'", "'AI'")
      has_error(function() world[method](world, a, "AI", 1) end, "one component expected")
    end
    has_error(function() world:query "Position:off" end, "'Position' cannot be switched off",
      "toggle = true")
    has_error(function() world:query "AI:off:any" end, "':off' and ':any' exclude each other")
    world:despawn(a)
    has_error(function() world:disable(a, "AI") end, "bad argument #1", "is dead")
    has_error(function() world:component("Bad", { toggle = 1 }) end, "'toggle' must be true or "
      .. "false")
    has_error(function() world:relation("Bad", { toggle = true }) end, "a relation cannot have "
      .. "'toggle'")
  end)

  it("says so in its description, and how many have it off", function()
    world:disable(a, "AI")
    local told = world:describe "AI"
    assert.is_true(told.toggle)
    assert.equal(1, told.off)
    assert.is_nil(world:describe("Position").toggle)
  end)

  it("becomes one by another declaration, and ceases to be while nothing is off", function()
    local without = world:query "!Position"
    assert.equal(0, without:count())
    world:component("Position", { "x: f32", "y: f32", toggle = true })
    world:disable(b, "Position")
    assert.same({ b }, without:ids())
    assert.same({ 2, 0 }, { world:get(b, "Position") })
    has_error(function() world:component("Position", { "x: f32", "y: f32" }) end,
      "'Position' cannot lose toggle while entity", "has it switched off")
    assert.same({ b }, without:ids())
    world:component("Position", { "x: f64", "y: f32", toggle = true })
    assert.same({ b }, ids "Position:off")
    local off = world:query "Position:off"
    world:enable(b, "Position")
    world:component("Position", { "x: f64", "y: f32" })
    assert.equal(0, without:count())
    assert.equal(0, off:count())
    assert.equal(3, world:count "Position")
    assert.equal(world:tag "Asleep", world:tag "Asleep")
    assert.is_true(world:describe("Asleep").toggle)
  end)

  it("is saved and restored with what is off", function()
    world:disable(a, "AI")
    world:disable(b, "Asleep")
    local digest, bytes, kept = world:digest(), world:save(), world:snapshot()
    world:enable(a, "AI")
    assert.not_equal(digest, world:digest())
    world:despawn(b)
    world:restore(kept)
    assert.equal(digest, world:digest())
    assert.same({ b }, ids "AI")
    world:enable(a, "AI")
    world:load(bytes)
    assert.equal(digest, world:digest())
    assert.equal(bytes, world:save())
    local other = new_world()
    other:load(bytes)
    assert.equal(digest, other:digest())
    assert.is_true(other:describe("AI").toggle)
    other = new_world()
    other:component("AI", { "mood: i32 = 3", "name: string" })
    has_error(function() other:load(bytes) end, "'AI' cannot lose toggle")
    assert.equal(0, other:count "AI")
  end)
end)

describe("a function over a toggle", function()
  it("fails in the same row with kernels and without", function()
    for _, text in ipairs { "A, P", "A?, P" } do
      local images, messages = {}, {}
      for at, kernels in ipairs { true, false } do
        local world, ids = new_world { kernels = kernels, tag = 1 }, {}
        world:component("A", { "v: i32", toggle = true })
        world:component("P", { "v: i8" })
        for i = 1, 300 do
          ids[i] = world:spawn { A = { v = i == 201 and 1000 or i % 50 }, P = {} }
          if i % 3 == 0 or i < 90 then world:disable(ids[i], "A") end
        end
        local ok, message = pcall(world.query(world, text)[kernels and "run" or "each"],
          world:query(text), function(a, p) if a then p.v = a.v + 1 end end, 0.5)
        assert.is_true(ok, message)
        world:enable(ids[201], "A")
        ok, message = pcall(world.query(world, text)[kernels and "run" or "each"],
          world:query(text), function(a, p) if a then p.v = a.v + 2 end end, 0.5)
        assert.is_false(ok)
        images[at], messages[at] = world:save(), message:match "field 'P.v'.*"
        local found = world:query("A, P"):where(function(a) return a.v == 1000 end):first()
        assert.equal(ids[201], found)
      end
      assert.equal(messages[2], messages[1])
      assert.equal(images[1], images[2])
    end
  end)
end)
