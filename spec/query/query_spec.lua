local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error
local new_world = require("spec.support.scenes").things

local function ids(world, text)
  return helper.sorted(helper.ids_of(world:query(text)))
end

describe("a query", function()
  it("matches what has every component that it names", function()
    local world = new_world()
    local a = world:spawn { Position = {} }
    local b = world:spawn { Position = {}, Velocity = {} }
    world:spawn { Velocity = {} }
    assert.are.same({ a, b }, ids(world, "Position"))
    assert.are.same({ b }, ids(world, "Position, Velocity"))
    assert.are.same({ b }, ids(world, " Velocity ,Position "))
  end)

  it("leaves out what has a component behind !", function()
    local world = new_world()
    local a = world:spawn { Position = {} }
    world:spawn { Position = {}, Frozen = true }
    assert.are.same({ a }, ids(world, "Position, !Frozen"))
  end)

  it("takes what has one of several, with |", function()
    local world = new_world()
    local a = world:spawn { Circle = {} }
    local b = world:spawn { Box = {} }
    local c = world:spawn { Circle = {}, Box = {} }
    world:spawn { Position = {} }
    assert.are.same({ a, b, c }, ids(world, "Circle|Box"))
  end)

  it("takes what has an optional component and what has not", function()
    local world = new_world()
    local a = world:spawn { Position = {} }
    local b = world:spawn { Position = {}, Velocity = {} }
    assert.are.same({ a, b }, ids(world, "Position, Velocity?"))
  end)

  it("filters without giving anything by what is behind 'with'", function()
    local world = new_world()
    local a = world:spawn { Position = { 1, 2 }, Frozen = true }
    local b = world:spawn { Position = { 3, 4 }, Circle = {}, Frozen = true }
    local c = world:spawn { Position = { 5, 6 }, Box = {} }
    world:spawn { Circle = {}, Frozen = true }
    assert.are.same({ a, b }, ids(world, "Position, with Frozen"))
    assert.are.same({ b, c }, ids(world, "with Position, with Circle|Box"))
    assert.are.same({ b }, ids(world, "with\tPosition.x, with Circle:in"))
    local seen = {}
    for x, e, more in world:query "Position.x, with Circle|Box, with Position":each() do
      seen[#seen + 1] = { x, e, more }
    end
    assert.are.same({ { 3, b }, { 5, c } }, seen)
    world:query "with Position, with Frozen":each(function(...)
      seen[#seen + 1] = { select("#", ...), (select(2, ...)) }
    end)
    assert.are.same({ { 2, a }, { 2, b } }, { seen[3], seen[4] })
  end)

  it("may name a component that is called 'with'", function()
    local world = new_world()
    world:tag "with"
    local a = world:spawn { with = true, Position = {} }
    local b = world:spawn { Position = {} }
    assert.are.same({ a }, ids(world, "with"))
    assert.are.same({ a }, ids(world, "with , Position"))
    assert.are.same({ a }, ids(world, "Position, with with"))
    assert.are.same({ b }, ids(world, "Position, !with"))
    assert.are.same({ a, b }, ids(world, "with?, with Position"))
    has_error(function() new_world():query "with" end, "unknown component 'with'")
  end)

  it("takes modifiers in any order", function()
    local world = new_world()
    local a = world:spawn { Position = { 1, 2 } }
    local b = world:spawn { Position = { 1, 2 }, Velocity = { 3, 4 } }
    for _, text in ipairs { "Velocity?:in", "Velocity:in?", "Velocity :in ?", "Velocity ? : in",
      "Velocity.x:in?", "Velocity.x?:in" } do
      local query = world:query("with Position, " .. text)
      assert.are.same({ a, b }, helper.sorted(helper.ids_of(query)))
    end
    world:query("Position, Velocity:in?"):each(function(_, velocity)
      if velocity then
        has_error(function() velocity.x = 1 end, "read-only")
      end
    end)
  end)

  it("takes all entities when it names nothing (C10: the void archetype is counted)", function()
    local world = new_world()
    local a = world:spawn()
    local b = world:spawn { Position = {} }
    assert.are.same({ a, b }, ids(world, ""))
    assert.are.equal(2, world:query(""):count())
    assert.are.equal(1, world:count "!Position")
  end)

  it("is kept up to date as tables come and go (C49)", function()
    local world = new_world()
    local query = world:query "Position, !Frozen"
    assert.are.equal(0, query:count())
    local e = world:spawn { Position = {} }
    local f = world:spawn { Position = {}, Velocity = {} }
    assert.are.equal(2, query:count())
    world:add(e, "Frozen")
    assert.are.equal(1, query:count())
    world:despawn(f)
    for _ = 1, 4 do world:update(0) end
    assert.are.equal(0, query:count())
    world:remove(e, "Frozen")
    world:spawn { Position = {}, Velocity = {} }
    assert.are.equal(2, query:count())
  end)

  it("names a wrong name with the nearest known one", function()
    local world = new_world()
    has_error(function() world:query "Postion" end, "'Postion'", "did you mean 'Position'")
    has_error(function() world:query "Position.z" end, "'Position'", "'z'", "did you mean")
    has_error(function() world:count "Circel" end, "'Circel'", "did you mean 'Circle'")
  end)

  it("refuses what it cannot read", function()
    local world = new_world()
    for _, text in ipairs { ",", "Position,", "Position Velocity", "!", "Position:out",
      "!Position?", "Position|", "Body.m", "Body.offset", "Position;", "\1", "Position??",
      "Position:in:in", "Position?|Velocity", "Position|Velocity?", "with Position?",
      "with !Position", "!with Position", "with Position|Velocity?", "!Position|Velocity" } do
      has_error(function() world:query(text) end, "query")
    end
    has_error(function() world:query "Position\0, Velocity" end, "zero byte")
    for _, value in ipairs { false, 7, {}, print } do
      has_error(function() world:query(value) end, "bad argument #1 to 'query'")
      has_error(function() world:count(value) end, "bad argument #1 to 'count'")
    end
    has_error(function() world:query(nil) end, "bad argument #1 to 'query'")
  end)

  it("takes a table of variables, and has none", function()
    local world = new_world()
    assert.are.equal(0, world:query("Position", {}):count())
    has_error(function() world:query("Position", { p = world:spawn() }) end,
      "query 'Position' has no variable $p")
    has_error(function() world:system("s", { run = print, ["$p"] = world:spawn() }) end,
      "$p is given, but there is no query")
    has_error(function() world:query("Position", 5) end, "bad argument #2 to 'query'")
    has_error(function() world:query("Position", { world:spawn() }) end, "a variable's name")
    has_error(function() world:query("(ChildOf, $p)", { p = "Wrong" }) end, "$p", "'Wrong'")
    has_error(function() world:query("(ChildOf, $p)", { p = 2.5 }) end, "$p is 2.5")
  end)

  it("prints its text", function()
    local world = new_world()
    assert.are.equal("ecs.query (Position, !Frozen)",
      tostring(world:query "Position, !Frozen"))
  end)

  it("does not show its metatable", function()
    assert.is_false(getmetatable(new_world():query ""))
  end)

  it("says that its world is closed", function()
    local world = new_world()
    local query = world:query "Position.x"
    world:close()
    for _, method in ipairs { "count", "first", "each", "map", "chunks", "run" } do
      has_error(function() query[method](query, print) end, "the world is closed")
    end
    assert.are.equal("ecs.query (closed)", tostring(query))
  end)

  it("fails, and its forms too, once a component that it names is undeclared", function()
    local world = new_world()
    local query = world:query "Circle, Position"
    world:undeclare "Circle"
    for _, method in ipairs { "count", "first", "each", "chunks" } do
      has_error(function() query[method](query) end, "no longer declared")
    end
  end)

  it("counts nobody to world:describe and explain when its relation is undeclared", function()
    local world = new_world()
    world:component("P", { "x: f64" })
    world:relation("Docked", { exclusive = true })
    world:relation "Likes"
    local port = world:spawn { P = {} }
    world:add(port, "Likes", port)
    local kept = {}
    local function one() return 1 end
    for _, text in ipairs { "(Docked, $p)", "P, (Likes, $p)", "P, !(Docked, $p)", "(Likes, *)" } do
      kept[text] = world:query(text, text:find("$p", 1, true) and { p = port } or nil)
      kept[text]:sum(one)
    end
    world:undeclare "Docked"
    world:undeclare "Likes"
    for _, query in ipairs(world:describe().queries) do
      assert.are.equal(query.text:find "%(" and 0 or query.rows, query.rows)
    end
    for _, form in ipairs { world:explain(one), table.unpack(world:explain(one).also) } do
      assert.is_string(form.tier)
    end
  end)

  it("is freed with its last reference", function()
    local world = new_world()
    world:query "Position"
    collectgarbage()
    collectgarbage()
    assert.are.equal(0, #world:describe().queries)
  end)

  it("has methods that name a wrong receiver", function()
    local world = new_world()
    local query = world:query "Position"
    for _, receiver in ipairs { false, 1, "", {}, world, io.stdout, coroutine.create(print) } do
      has_error(function() query.count(receiver) end, "query expected")
      has_error(function() query.each(receiver) end, "query expected")
    end
    has_error(function() query.count(nil) end, "query expected")
  end)
end)

describe("query:count", function()
  it("equals a brute count (C54)", function()
    local world = new_world()
    for i = 1, 100 do
      world:spawn { Position = i % 2 == 0 or nil, Velocity = i % 3 == 0 or nil }
    end
    assert.are.equal(50, world:query "Position":count())
    assert.are.equal(16, world:query "Position, Velocity":count())
    assert.are.equal(67, world:query "Position|Velocity":count())
  end)

  it("needs no query object (C84: world:count)", function()
    local world = new_world()
    world:spawn { Position = {} }
    world:spawn { Position = {}, Frozen = true }
    assert.are.equal(2, world:count "Position")
    assert.are.equal(1, world:count "Position, !Frozen")
    assert.are.equal(0, #world:describe().queries)
  end)

  it("sees the world without what is staged", function()
    local world = new_world()
    local query = world:query "Position"
    world:defer()
    world:spawn { Position = {} }
    assert.are.equal(0, query:count())
    assert.are.equal(0, world:count "Position")
    world:commit()
    assert.are.equal(1, query:count())
  end)
end)

describe("an optional tag", function()
  it("gives true or nil at its place, in every form", function()
    local world = new_world()
    local a = world:spawn { Position = { 1, 2 } }
    local b = world:spawn { Position = { 3, 4 }, Frozen = true }
    local query, seen = world:query "Frozen?, Position.x", {}
    for frozen, x, e in query:each() do
      seen[#seen + 1] = { frozen, x, e }
    end
    assert.are.same({ { false, 1, a }, { true, 3, b } }, seen)
    seen = {}
    local function note(...)
      seen[#seen + 1] = table.pack(...)
    end
    query:each(note, 2)
    query:map(note, 2)
    local row, frozen_row = { nil, 1, 2.0, a, n = 4 }, { true, 3, 2.0, b, n = 4 }
    assert.are.same({ row, frozen_row, row, frozen_row }, seen)
    assert.are.equal(a, query:first())
    assert.are.equal(2, query:count())
    assert.are.equal(b, query:where(function(frozen) return frozen end):first())
    assert.are.equal(3, query:sum(function(frozen, x) return frozen and x or 0.0 end))
  end)

  it("is neither a view nor a field", function()
    local world = new_world()
    world:spawn { Frozen = true }
    has_error(function() world:query "Frozen.x?" end, "'Frozen' is a tag")
    has_error(function()
      world:system("wrong", { query = "Frozen?", each = function(frozen) return frozen.x end })
    end, "'Frozen' is a tag: it has no field 'x'")
    has_error(function()
      world:system("wrong", { query = "Frozen?", each = function(_, _, _, more) return more end })
    end, "it has 4 parameters, but gets 3")
  end)

  it("gives a view from then on when it gets fields, and true when it loses them", function()
    local world = new_world()
    local query, seen = world:query "Frozen?", nil
    world:spawn { Frozen = true }
    world:system("look", { query = "Frozen?, !Position", each = function(...) seen = (...) end })
    world:update(0)
    assert.is_true(seen)
    world:component("Frozen", { "since: f64 = 7" })
    world:system("look again", { query = "Frozen?", each = function(frozen)
      seen = frozen and frozen.since
    end })
    world:update(0)
    assert.are.equal(7, seen)
    for frozen in query:each() do assert.are.equal(7, frozen.since) end
    world:component("Frozen", {})
    world:remove_system "look again"
    world:update(0)
    assert.is_true(seen)
    for frozen in query:each() do assert.is_true(frozen) end
  end)
end)

describe("query:first", function()
  it("gives the first entity in the query's order", function()
    local world = new_world()
    local a = world:spawn { Position = {} }
    world:spawn { Position = {} }
    world:spawn { Position = {}, Velocity = {} }
    assert.are.equal(a, world:query "Position":first())
  end)

  it("gives nothing when there is none", function()
    assert.are.equal(0, select("#", new_world():query "Position":first()))
  end)
end)

-- Reliability 16.
describe("query:set", function()
  it("ties nobody where one of the entities cannot be tied so", function()
    local world = new_world()
    world:relation("Heeds", { "much: i32", "bag: any", exclusive = true, acyclic = true })
    local a, b, c = world:spawn { Frozen = true }, world:spawn { Frozen = true },
                    world:spawn { Frozen = true }
    local other = world:spawn()
    world:set(c, "Heeds", a, 1, "mine")
    local told, before = 0, world:digest()
    local all = world:query "Frozen"
    local function refused(query, id)
      has_error(function() query:set("Heeds", id, 7, {}) end, "would form a cycle")
      assert.are.equal(before, world:digest())
      assert.are.same({ a, 1, "mine" }, { world:get(c, "Heeds") })
      assert.are.equal(0, told)
      helper.check(world)
    end
    local function refuse_all()
      refused(all, c)
      refused(all:where(function() return true end), b)
      refused(world:query "Frozen, Heeds?", a)
    end
    refuse_all()
    for _, on in ipairs { "add", "set" } do
      world:observer(on, { on = on, query = "Heeds", each = function() told = told + 1 end })
      refuse_all()
    end
    all:set("Heeds", other, 7, {})
    for _, id in ipairs { a, b, c } do assert.are.equal(other, (world:get(id, "Heeds"))) end
    assert.is_true(told > 0)
    world:update(1)
  end)
end)

describe("a query over many components", function()
  for _, count in ipairs { 1, 31, 32, 33, 63, 64, 65, 255, 256, 257 } do
    it("finds its entities at " .. count, function()
      local world = helper.new_world()
      local names, values = {}, {}
      for i = 1, count do
        names[i] = "C" .. i
        world:component(names[i], { "v: i32 = " .. i })
        values[names[i]] = {}
      end
      local e = world:spawn(values)
      values["C" .. count] = nil
      world:spawn(values)
      local query = world:query(table.concat(names, ", "))
      assert.are.equal(1, query:count())
      local step, loop = query:each()
      local row = table.pack(step(loop))
      assert.are.equal(count + 1, row.n)
      assert.are.equal(e, row[row.n])
      for i = 1, count do assert.are.equal(i, row[i].v) end
      assert.is_nil(step(loop))
      local seen = 0
      query:each(function(...)
        local arguments = table.pack(...)
        seen = arguments.n
        assert.are.equal(count, arguments[count].v)
        assert.are.equal(e, arguments[count + 2])
      end, 1)
      assert.are.equal(count + 2, seen)
    end)
  end
end)
