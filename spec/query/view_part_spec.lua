local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error
local new_world = require("spec.support.scenes").things

describe("an array or nested field of a view", function()
  it("is read and written in place", function()
    local world = new_world()
    local e = world:spawn { Body = {} }
    for body in world:query "Body":each() do
      body.m[1], body.m[3] = 1, 3
      body.offset.y = 5
      body.parts[2].x = 7
      assert.are.equal(3, body.m[3])
      assert.are.equal(5, body.offset.y)
      assert.are.equal(7, body.parts[2].x)
      assert.is_nil(body.m[0])
      assert.is_nil(body.m[4])
      assert.are.equal(body.m, body.m)
    end
    assert.are.same({
      m = { 1, 0, 3 }, offset = { x = 0, y = 5 },
      parts = { { x = 0, y = 0 }, { x = 7, y = 0 } },
    }, world:read(e, "Body"))
  end)

  it("takes a table, which may leave out what is to stay", function()
    local world = new_world()
    local e = world:spawn { Body = { m = { 1, 2, 3 }, offset = { 4, 5 } } }
    for body in world:query "Body":each() do
      body.m = { 10 }
      body.offset = { y = 20 }
      body.parts = { [2] = { 30 } }
      body.parts[1] = { 31, 32 }
    end
    assert.are.same({
      m = { 10, 2, 3 }, offset = { x = 4, y = 20 },
      parts = { { x = 31, y = 32 }, { x = 30, y = 0 } },
    }, world:read(e, "Body"))
  end)

  it("takes another view", function()
    local world = new_world()
    local e = world:spawn { Body = { m = { 1, 2, 3 }, offset = { 4, 5 } }, Position = { 8, 9 } }
    for body, pos in world:query "Body, Position":each() do
      body.parts[1] = body.offset
      body.offset = pos
      body.m = body.m
    end
    assert.are.same({
      m = { 1, 2, 3 }, offset = { x = 8, y = 9 },
      parts = { { x = 4, y = 5 }, { x = 0, y = 0 } },
    }, world:read(e, "Body"))
  end)

  it("is given by pairs, but for any values that are nil, with what is behind those",
    function()
      local world = helper.new_world()
      world:component("Bag", { "a: any", "b: i32 = 1", "c: any[2]", "d: any", "e: any", "f: bool" })
      local function pairs_of()
        local seen, order = {}, {}
        for bag in world:query "Bag":each() do
          for key, value in pairs(bag) do
            seen[key], order[#order + 1] = value, key
            assert(#order < 10)
          end
        end
        return seen, table.concat(order, " ")
      end
      local e = world:spawn { Bag = {} }
      assert.are.equal("b c f", (select(2, pairs_of())))
      world:set(e, "Bag", { a = 1, e = "x" })
      local seen, order = pairs_of()
      assert.are.equal("a b c e f", order)
      assert.are.same({ 1, 1, "x", false }, { seen.a, seen.b, seen.e, seen.f })
    end)

  it("takes a resource's view, also when the resource has moved on since it was made", function()
    local world = new_world()
    world:component("Home", { "x: f32 = 3", "y: f32 = 4" })
    world:resource "Home"
    local e, home = world:spawn { Body = {} }, world:res "Home"
    world:component("Home", { "first: string", "y: f32 = 4", "x: f32 = 3" })
    world:component("Home", { "y: f32 = 4", "x: f32 = 3" })
    for body in world:query "Body":each() do
      body.offset = home
    end
    assert.are.same({ x = 3, y = 4 }, world:read(e, "Body").offset)
  end)

  it("refuses the wrong keys and values, and writes nothing then", function()
    local world = new_world()
    local e = world:spawn { Body = { m = { 1, 2, 3 }, offset = { 4, 5 } } }
    for body in world:query "Body":each() do
      has_error(function() body.m[4] = 1 end, "'m'", "1 to 3")
      has_error(function() body.m.x = 1 end, "'m'", "'x'")
      has_error(function() return body.m.x end, "'m'", "'x'")
      has_error(function() return body.m[1.5] end, "'m'", "1.5")
      has_error(function() body.m[1] = "1" end, "Body.m[1]")
      has_error(function() body.m = 5 end, "'Body.m'", "table")
      has_error(function() body.m = { 9, 9, 9, 9 } end, "1 to 3")
      has_error(function() body.m = { 9, "9" } end, "Body.m[2]")
      has_error(function() body.offset = { x = 9, z = 1 } end, "'z'")
      has_error(function() body.offset = { 9, 9, 9 } end, "1 to 2")
      has_error(function() body.parts[1] = { 9, "9" } end, "Body.parts[1].y")
      has_error(function() body.parts[3] = { 1 } end, "1 to 2")
      has_error(function() body.offset.z = 1 end, "'Position' has no field 'z'")
    end
    assert.are.same({ 1, 2, 3 }, world:read(e, "Body").m)
    assert.are.same({ x = 4, y = 5 }, world:read(e, "Body").offset)
  end)
end)
