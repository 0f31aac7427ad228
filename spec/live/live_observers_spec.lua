-- Observers of live scripts: theirs as systems are, and changed with them.

local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"

describe("an observer of live scripts", function()
  local world, files, errors, open

  before_each(function()
    world, files, errors, open = live_scene.new()
    rawset(_G, "Heard", {})
  end)

  after_each(function() rawset(_G, "Heard", nil) end)

  local function heard()
    return table.concat(rawget(_G, "Heard"), " ")
  end

  local ONE = [[local world = ...
    world:component("P", { "x: f32" })
    world:observer("o", { on = "set", query = "P:in", each = function(p)
      Heard[#Heard + 1] = %q .. p.x
    end })]]

  it("is registered, replaced and dropped with its file, and keeps its switch (C87)", function()
    files:write("a.lua", ONE:format "a")
    local session = open()
    assert.are.same({}, errors)
    local e = world:spawn { P = { x = 1 } }
    assert.are.equal("a1.0", heard())
    assert.are.equal("a.lua", world:describe().observers[1].owner:match "[^/]+$")
    files:write("a.lua", ONE:format "second")
    assert.is_true(helper.poll(session))
    world:set(e, "P.x", 2)
    assert.are.equal("a1.0 second2.0", heard())
    world:switch("o", false)
    files:write("a.lua", ONE:format "b")
    assert.is_true(helper.poll(session))
    world:set(e, "P.x", 3)
    assert.is_false(world:describe().observers[1].enabled)
    world:switch("o", true)
    world:set(e, "P.x", 4)
    assert.are.equal("a1.0 second2.0 b4.0", heard())
    files:write("a.lua", [[local world = ... world:component("P", { "x: f32" })]])
    assert.is_true(helper.poll(session))
    world:set(e, "P.x", 5)
    assert.are.equal("a1.0 second2.0 b4.0", heard())
    assert.are.same({}, world:describe().observers)
    assert.are.same({}, errors)
  end)

  it("that is refused leaves the one before, which goes on", function()
    files:write("a.lua", ONE:format "a")
    local session = open()
    local e = world:spawn { P = { x = 1 } }
    for _, wrong in ipairs {
      [[query = "ChildOf->P", each = print]], [[query = "Nobody", each = print]],
      [[query = "P:in", each = function(p) return p.left + 1 end]], [[query = "P"]],
    } do
      files:write("a.lua", ([[local world = ...
        world:component("P", { "x: f32" })
        world:observer("o", { on = "set", %s })]]):format(wrong))
      assert.is_false((helper.poll(session)))
      world:set(e, "P.x", 2)
    end
    assert.are.equal(4, #errors)
    assert.are.equal("a1.0 a2.0 a2.0 a2.0 a2.0", heard())
  end)

  it("hears nothing of the fields that a swap changes, and sees them afterwards", function()
    files:write("a.lua", ONE:format "a")
    local session = open()
    local e = world:spawn { P = { x = 1 } }
    files:write("a.lua", (ONE:format "a"):gsub("x: f32", "x: i32"))
    assert.is_true(helper.poll(session))
    assert.are.equal("a1.0", heard())
    world:set(e, "P.x", 7)
    assert.are.equal("a1.0 a7", heard())
  end)

  it("may be a system after an edit, and the other way round", function()
    files:write("a.lua", ONE:format "a")
    local session = open()
    local e = world:spawn { P = { x = 1 } }
    files:write("a.lua", [[local world = ...
      world:component("P", { "x: f32" })
      world:system("o", { query = "P", each = function(p) p.x = p.x + 1 end })]])
    assert.is_true(helper.poll(session))
    world:set(e, "P.x", 2)
    world:update(0)
    assert.are.equal(3.0, (world:get(e, "P.x")))
    assert.are.equal("a1.0", heard())
    files:write("a.lua", ONE:format "b")
    assert.is_true(helper.poll(session))
    world:update(0)
    world:set(e, "P.x", 4)
    assert.are.equal("a1.0 b4.0", heard())
    assert.are.same({}, errors)
  end)
end)
