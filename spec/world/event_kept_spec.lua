-- How long events stay: with images, for systems that are over.

local helper = require "spec.support.ecs_helper"

local codec = { encode = tostring, decode = function(bytes) return bytes end }

local function new_world()
  local world = helper.new_world()
  world:event("Said", { "what: any", "by: i32" })
  return world
end

describe("events", function()
  it("come from no image that is cut, wherever that is", function()
    local world = new_world()
    world:emit("Said", "yes", 1)
    world:after(1, "Said", "no", 2)
    local image = world:save { codec = codec }
    local other = new_world()
    for size = 1, #image - 1 do
      helper.has_error(function() other:load(image:sub(1, size), { codec = codec }) end, "image")
    end
    assert.are.equal(0, other:count "Said")
    other:load(image, { codec = codec })
    other:update(1)
    assert.are.equal(2, other:count "Said")
    helper.check(other)
  end)

  it("are loaded with what systems have seen, whatever is named", function()
    local world, seen = new_world(), {}
    world:system("hear it all", { query = "Said.by", each = function(by) seen[#seen + 1] = by end })
    for i = 10, 20 do world:name(world:spawn {}, "somebody whose name is " .. i) end
    world:emit("Said", nil, 1)
    world:update(0)
    world:emit("Said", nil, 2)
    world:load(world:save())
    world:update(0)
    assert.are.same({ 1, 2 }, seen)
    helper.check(world)
  end)

  it("do not wait for a system of startup with an interval that has run", function()
    local world, seen = new_world(), {}
    world:system("first", { phase = "startup", every = 0.5, query = "Said.by",
      each = function(by) seen[#seen + 1] = by end })
    for by = 1, 6 do
      world:emit("Said", nil, by)
      world:update(0.25)
    end
    assert.are.same({ 1, 2 }, seen)
    assert.are.equal(1, world:count "Said")
  end)

  it("are called so where a field or a value is wrong", function()
    local world = new_world()
    helper.has_error(function() world:emit("Said", { bye = 1 }) end,
      "event 'Said' has no field 'bye' (did you mean 'by'?)")
    helper.has_error(function() world:emit("Said", 1, 2, 3) end,
      "event 'Said' has 2 fields, got 3 values")
    world:emit("Said", nil, 1)
    helper.has_error(function() for said in world:events "Said" do said.by = 2 end end,
      "event 'Said' is read-only in the query 'Said'")
  end)
end)
