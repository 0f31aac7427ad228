-- Events that live scripts declare, and read.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"

local HIT = [[local world, script = ...
  world:event("Hit", { %s })
  script.state.seen = script.state.seen or {}
  world:system("read", { query = "Hit.amount", each = function(amount)
    table.insert(script.state.seen, amount * %s)
    Seen = script.state.seen
  end })]]

describe("an event of a live script", function()
  local world, files, errors, open

  before_each(function()
    world, files, errors, open = live_scene.new()
  end)

  after_each(function() rawset(_G, "Seen", nil) end)

  local function seen() return rawget(_G, "Seen") end

  it("is given once to a system that is replaced, in all its versions", function()
    files:write("a.lua", HIT:format([["amount: f32"]], "1"))
    local session = open()
    assert.are.same({}, errors)
    world:emit("Hit", 1)
    world:update(1)
    world:emit("Hit", 2)
    files:write("a.lua", HIT:format([["amount: f32"]], "10"))
    assert.is_true(helper.poll(session))
    world:update(1)
    assert.are.same({ 1, 20 }, seen())
  end)

  it("is migrated with what is there and put off, and is nobody's when the script goes", function()
    files:write("a.lua", HIT:format([["amount: f32"]], "1"))
    local session = open()
    world:emit("Hit", 1)
    world:after(1, "Hit", 2)
    files:write("a.lua", HIT:format([["who: entity", "amount: f64"]], "1"))
    assert.is_true(helper.poll(session))
    world:update(0)
    world:update(1)
    assert.are.same({ 1, 2 }, seen())
    files:write("a.lua", "")
    assert.is_true(helper.poll(session))
    assert.are.same({ "Hit" }, session:status().orphans)
    world:emit("Hit", ecs.null, 3)
    session:forget()
    assert.are.same({}, world:describe().events)
  end)

  it("is not changed when a value does not fit, or another file fails", function()
    files:write("a.lua", HIT:format([["amount: f32"]], "1"))
    local session = open()
    world:emit("Hit", 0.5)
    local digest = world:digest()
    files:write("a.lua", HIT:format([["amount: i32"]], "1"))
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    assert(message:find("cannot migrate 'Hit': event 1 has amount = 0.5", 1, true), message)
    files:write("a.lua", HIT:format([["amount: f64"]], "1"))
    files:write("b.lua", "error 'oh'")
    assert.is_false((helper.poll(session)))
    assert.are.equal(digest, world:digest())
  end)

  it("is not emitted while scripts are read, nor changed when it is the host's", function()
    world:event("Bang", { "loud: f32" })
    files:write("a.lua", [[local world = ... world:emit("Bang", 1)]])
    files:write("b.lua", [[local world = ... world:event("Bang", { "loud: f64" })]])
    open()
    assert(errors[1]:find("a script cannot change the world", 1, true), errors[1])
    files:write("a.lua", "")
    local session = open()
    local _, message = helper.poll(session)
    message = message or errors[#errors]
    assert(message:find("event 'Bang' is declared outside the scripts with other fields", 1, true),
      message)
    assert.are.equal(0, world:count "Bang")
  end)
end)
