-- How observers come and go, when they are not called, and what is refused.

local helper = require "spec.support.ecs_helper"
local hearing = require "spec.support.hearing"

local has_error = helper.has_error

local new_world, watch, show_x = hearing.new_world, hearing.watch, hearing.show_x

describe("an observer", function()
  it("may set what many have come to have, while another hears of sets", function()
    local world, sets = new_world(), 0
    world:observer("enter", { on = "enter", query = "Position", each = function(_, e)
      world:set(e, "Position.x", 2)
    end })
    world:observer("set", { on = "set", query = "Position", each = function() sets = sets + 1 end })
    world:spawn_many(1000, { Position = { x = 1 } })
    assert.are.equal(2000, sets)
  end)

  it("is parked when a command of its own cannot apply and errors are handled", function()
    local world, told, ran = new_world(), {}, 0
    world:component("Armour", { requires = { "Health" } })
    world:tag "Told"
    world:on_error(function(message, name)
      told[#told + 1] = name .. ": " .. message
      world:spawn { Told = true }
    end)
    world:observer("strip", { on = "add", query = "Frozen", each = function(e)
      world:remove(e, "Health")
    end })
    world:observer("told", { on = "add", query = "Told", each = function() ran = ran + 1 end })
    world:system("freeze", { run = function() world:spawn { Armour = true, Frozen = true } end })
    world:update(1)
    world:update(1)
    assert.are.equal(1, #told)
    assert.truthy(told[1]:find("strip: observer 'strip': 'Health' cannot be removed", 1, true),
      told[1])
    assert.are.equal(1, ran)
    assert.are.equal(2, world:count "Frozen")
  end)

  it("hears of what is added, set and removed while it is switched off", function()
    local world, heard = new_world(), {}
    world:component("Shield", { "level: i32", toggle = true })
    for _, on in ipairs { "add", "set", "remove", "enter", "exit" } do
      world:observer(on, { on = on, query = "Shield", each = function()
        heard[#heard + 1] = on
      end })
    end
    local e = world:spawn { Shield = { 1 } }
    world:disable(e, "Shield")
    world:set(e, "Shield", 2)
    world:remove(e, "Shield")
    assert.are.same({ "add", "enter", "set", "exit", "set", "remove" }, heard)
  end)

  it("is called for what a forgotten loop had staged before the world is saved", function()
    local world, calls = new_world(), 0
    world:spawn { Position = {} }
    world:observer("add", { on = "add", query = "Frozen", each = function() calls = calls + 1 end })
    coroutine.wrap(function()
      for _, e in world:query("Position"):each() do
        world:add(e, "Frozen")
        coroutine.yield()
      end
    end)()
    world:save()
    assert.are.equal(1, calls)
  end)

  it("is replaced, switched, removed, timed and described as systems are", function()
    local world = new_world()
    local calls = {}
    local function observe(name, value)
      world:observer(name, { on = "add", query = "Position", each = function()
        calls[#calls + 1] = value
      end })
    end
    observe("one", 1)
    observe("two", 2)
    observe("one", 3)
    world:spawn { Position = {} }
    assert.are.same({ 3, 2 }, calls)
    world:switch("one", false)
    world:spawn { Position = {} }
    observe("one", 4)
    world:spawn { Position = {} }
    assert.are.same({ 3, 2, 2, 2 }, calls)
    world:switch("one", true)
    world:spawn { Position = {} }
    assert.are.same({ 3, 2, 2, 2, 4, 2 }, calls)
    local described = world:describe().observers
    assert.are.same({ "one", "add", "Position", true, false, 2 },
      { described[1].name, described[1].on, described[1].query, described[1].enabled,
        described[1].parked, described[1].runs })
    assert.is_true(described[2].seconds >= described[2].last)
    assert.are.equal("lua", world:explain("one").tier)
    assert.are.equal(0, #world:describe().systems)
    has_error(function() world:run "one" end, "'one' is an observer")
    has_error(function() world:system("one", { run = print }) end,
      "an observer is already named 'one'")
    world:system("own", { run = print })
    has_error(function() observe("own", 1) end, "a system is already named 'own'")
    world:remove_system "own"
    world:remove_system "one"
    world:remove_system "two"
    world:spawn { Position = {} }
    assert.are.equal(6, #calls)
  end)

  it("may be registered, replaced and removed by observers, and starts with what comes after",
    function()
      local world = new_world()
      local calls = {}
      world:observer("first", { on = "add", query = "Position", each = function()
        calls[#calls + 1] = "first"
        world:observer("first", { on = "add", query = "Position", each = function()
          calls[#calls + 1] = "second"
          world:remove_system "first"
        end })
        world:observer("other", { on = "enter", query = "Position", each = function()
          calls[#calls + 1] = "other"
        end })
      end })
      world:spawn_many(2, { Position = {} })
      assert.are.same({ "first", "first" }, calls)
      world:spawn { Position = {} }
      world:spawn { Position = {} }
      assert.are.same({ "first", "first", "second", "other", "other" }, calls)
      world:defer()
      world:spawn { Health = {} }
      world:observer("late", { on = "add", query = "Health", each = function()
        calls[#calls + 1] = "late"
      end })
      world:commit()
      assert.are.equal(5, #calls)
      world:spawn { Health = {} }
      assert.are.equal("late", calls[6])
    end)

  it("is not called for what is loaded, restored, migrated, undeclared or there already",
    function()
      local world = new_world()
      world:spawn { Position = { x = 1 }, Health = {} }
      local heard = watch(world, "Position", function() return "" end)
      local image, snapshot = world:save(), world:snapshot()
      world:query("Position"):despawn()
      heard()
      world:restore(snapshot)
      world:load(image)
      world:component("Position", { "x: f64", "z: f64" })
      world:undeclare "Health"
      assert.are.same({}, heard())
      world:query("Position"):remove "Position"
      assert.are.same({ "exit ", "remove " }, heard())
    end)

  it("keeps its switch in images and snapshots, as systems do", function()
    local world = new_world()
    local heard = watch(world, "Position", show_x, { "add" })
    local image, snapshot = world:save(), world:snapshot()
    world:switch("add", false)
    world:load(image)
    world:spawn { Position = { x = 1 } }
    assert.are.same({ "add 1.0" }, heard())
    world:restore(world:snapshot())
    world:switch("add", false)
    local off = world:snapshot()
    world:switch("add", true)
    world:restore(off)
    world:spawn { Position = { x = 1 } }
    assert.are.same({}, heard())
    assert.is_truthy(snapshot)
  end)

  it("refuses queries about others, and says why", function()
    local world = new_world()
    world:event("Hit", { "who: entity" })
    world:component("Hunt", { "prey: entity" })
    world:relation("Eats", {})
    local function refused(on, query, ...)
      has_error(function()
        world:observer("bad", { on = on, query = query, each = function() end })
      end, "observer 'bad': ", ...)
    end
    refused("enter", "ChildOf->Position", "about the entity itself", "world:get")
    refused("enter", "Hunt.prey->Position", "about the entity itself")
    refused("enter", "(Eats, $food), Position($food)", "about the entity itself")
    refused("enter", "Hit", "observers cannot watch events")
    refused("add", "!Frozen", "first term", "a component that the entity itself has")
    refused("add", "Position?", "first term")
    refused("set", "Position|Health", "first term")
    refused("set", "Frozen", "is a tag", "on = \"add\"")
    refused("often", "Position", "\"enter\"", "got \"often\"")
    refused(nil, "Position", "option 'on'")
    refused("add", nil, "give a query")
    has_error(function()
      world:observer("bad", { on = "add", query = "Position", run = function() end })
    end, "unknown option 'run'")
    has_error(function()
      world:observer("bad", { on = "add", query = "Position", each = function(p, dt, e)
        return p, dt, e
      end })
    end, "parameters")
    assert.are.same({}, world:describe().observers)
  end)

  it("that others switch off and on again within a round has its turn behind them", function()
    local world, calls = new_world(), {}
    local function observe(name, act)
      world:observer(name, { on = "add", query = "Position", each = function()
        calls[#calls + 1] = name
        act()
      end })
    end
    observe("first", function()
      world:switch("second", false)
      world:switch("fourth", false)
    end)
    observe("second", function() end)
    observe("third", function() world:switch("second", true) end)
    observe("fourth", function() end)
    world:spawn { Position = {} }
    assert.are.same({ "first", "third", "second" }, calls)
  end)

  it("hears only of what is in its own query, whatever else a scope changes", function()
    local world, calls = new_world(), {}
    for _, tag in ipairs { "A", "B", "C" } do
      world:tag(tag)
      world:observer(tag, { on = "add", query = tag, each = function(e)
        calls[#calls + 1] = tag .. tostring(world:has(e, tag))
      end })
    end
    local ids = world:spawn_many(4)
    world:defer()
    for at, tag in ipairs { "B", "A", "B", "A" } do world:add(ids[at], tag) end
    world:commit()
    assert.are.same({ "Atrue", "Atrue", "Btrue", "Btrue" }, calls)
    world:remove_system "A"
    world:add(ids[1], "A")
    world:add(ids[1], "C")
    assert.are.equal("Ctrue", calls[5])
    assert.are.equal(5, #calls)
  end)

  it("cannot close, update or save the world, or migrate, while it is called", function()
    local world = new_world()
    local calls = 0
    world:observer("busy", { on = "add", query = "Position", each = function()
      calls = calls + 1
      has_error(function() world:update(0) end, "update is not possible")
      has_error(function() world:close() end, "close is not possible")
      has_error(function() world:save() end, "not possible")
      has_error(function() world:component("Health", { "hp: f64" }) end, "not possible")
    end })
    world:spawn { Position = {} }
    assert.are.equal(1, calls)
  end)

  it("is told of loops that are left, and of loops that others end", function()
    local world = new_world()
    local e = world:spawn { Health = {} }
    local heard = watch(world, "Position", show_x, { "add", "remove" })
    for _, id in world:query("Health"):each() do
      world:set(id, "Position", { x = 1 })
      assert.are.same({}, heard())
      if id then break end
    end
    assert.are.same({ "add 1.0" }, heard())
    local next_row = world:query("Health"):each()
    next_row()
    world:remove(e, "Position")
    world:update(0)
    assert.are.same({ "remove 1.0" }, heard())
  end)
end)
