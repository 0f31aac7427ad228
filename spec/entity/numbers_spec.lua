-- world:get, set and has of numbers, which take a way of their own.
local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

local SAMPLES = { bool = true, string = "text", i16 = -7, i32 = 70000, u8 = 200 }
local world

describe("get, set and has of numbers", function()
  local fields = {
    { "f32" }, { "f64" }, { "i32" }, { "bool" }, { "f32", "f32" }, { "f64", "f64" },
    { "f32", "f64" }, { "f64", "i16" }, { "bool", "f32" }, { "f32", "f64", "f32" },
    { "f64", "f64", "u8" }, { "f64", "f64", "f64", "f32" },
    { "f32", "string" }, { "string", "f64" },
    { "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32" },
  }

  -- A component with these types, and values for it.
  local function declare(name, types)
    local list, values = {}, {}
    for i, type in ipairs(types) do
      list[i] = ("v%d: %s"):format(i, type)
      values[i] = SAMPLES[type] or i + 0.1
    end
    world:component(name, list)
    return values
  end

  -- Whether values are those given, as far as f32 can tell.
  local function check(types, values, got)
    assert.are.equal(#types, got.n)
    for i, type in ipairs(types) do
      local want = type == "f32" and string.unpack("f", string.pack("f", values[i])) or values[i]
      assert.are.equal(want, got[i])
      assert.are.equal(math.type(want), math.type(got[i]))
    end
  end

  it("C2 takes and gives as many as there are, of whatever types", function()
    world = helper.new_world()
    world:tag "Other"
    for at, types in ipairs(fields) do
      local name = "T" .. at
      local values = declare(name, types)
      local e, bare = world:spawn { [name] = true, Other = true }, world:spawn { Other = true }
      for _, key in ipairs { name, world:describe(name).id } do
        world:set(e, key, table.unpack(values))
        check(types, values, table.pack(world:get(e, key)))
        assert.is_true(world:has(e, key))
        assert.is_false(world:has(bare, key))
        assert.are.equal(0, select("#", world:get(bare, key)))
      end
      world:set(e, name .. ".v1", values[1])
      check({ types[1] }, values, table.pack(world:get(e, name .. ".v1")))
      if type(values[1]) == "number" then
        has_error(function() world:set(e, name, tostring(values[1])) end, "v1' is " .. types[1])
      end
    end
  end)

  it("refuses all when one of two does not fit, and texts of numbers", function()
    world = helper.new_world()
    world:component("Position", { "x: f32", "y: f32" })
    world:component("Health", { "hp: i32", "max: i32" })
    local e = world:spawn { Position = { 1, 2 }, Health = { 3, 4 } }
    has_error(function() world:set(e, "Position", 5, "6") end, "'Position.y' is f32")
    has_error(function() world:set(e, "Position", "5", 6) end, "'Position.x' is f32")
    has_error(function() world:set(e, "Health", 5, 0.5) end, "'Health.max' is i32")
    has_error(function() world:set(e, "Position", 5, 6, 7) end, "has 2 fields, got 3")
    has_error(function() world:set(e, "Position") end, "value expected")
    has_error(function() world:get(tostring(e), "Position") end, "entity id expected, got string")
    assert.are.same({ 1.0, 2.0, 3, 4 },
      { world:get(e, "Position.x"), world:get(e, "Position.y"), world:get(e, "Health") })
    world:set(e + 0.0, "Position", 8, 9)
    assert.are.same({ 8.0, 9.0 }, { world:get(e + 0.0, "Position") })
    assert.is_true(world:has(e + 0.0, "Position"))
    world:defer()
    world:remove(e, "Position")
    world:set(e, "Position", 10, 11)
    assert.are.same({ 8.0, 9.0 }, { world:get(e, "Position") })
    world:commit()
    assert.are.same({ 10.0, 11.0 }, { world:get(e, "Position") })
  end)
end)
