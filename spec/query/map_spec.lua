local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error
local new_world = require("spec.support.scenes").things

describe("query:map", function()
  it("writes what the function returns to the first terms, in order", function()
    local world = new_world()
    local e = world:spawn { Position = { 1, 2 }, Velocity = { 10, 20 } }
    world:query "Position.x, Position.y, Velocity.x, Velocity.y":map(function(x, y, vx, vy, dt)
      return x + vx * dt, y + vy * dt
    end, 0.5)
    assert.are.same({ 6, 12 }, { world:get(e, "Position") })
    assert.are.same({ 10, 20 }, { world:get(e, "Velocity") })
  end)

  it("gives values, dt as a float, and the entity", function()
    local world = new_world()
    local e = world:spawn { Position = { 1, 2 }, Health = {}, Frozen = true }
    local seen
    world:query "Health.hp, Frozen, Position.y, !Velocity":map(function(...)
      seen = table.pack(...)
    end, 2)
    assert.are.same({ 100, 2, 2.0, e, n = 4 }, seen)
    assert.are.equal("float", math.type(seen[3]))
    world:query "Health.hp":map(function(...) seen = table.pack(...) end)
    assert.are.equal("0.0", tostring(seen[2]))
  end)

  it("leaves fields for which it returns nil, or nothing", function()
    local world = new_world()
    local e = world:spawn { Position = { 1, 2 } }
    local query = world:query "Position.x, Position.y"
    query:map(function() end)
    query:map(function() return nil, 5 end)
    assert.are.same({ 1, 5 }, { world:get(e, "Position") })
    query:map(function() return 7 end)
    query:map(function() return nil, nil end)
    assert.are.same({ 7, 5 }, { world:get(e, "Position") })
  end)

  it("refuses too many results", function()
    local world = new_world()
    local e = world:spawn { Position = { 1, 2 } }
    local query = world:query "Position.x, !Frozen"
    has_error(function() query:map(function() return 5, 6 end) end, "2 values", "1 fields")
    has_error(function() query:map(function() return 5, nil end) end, "2 values")
    assert.are.equal(1, (world:get(e, "Position")))
  end)

  it("takes an optional tag as a value, which no result can be written to", function()
    local world = new_world()
    local a = world:spawn { Position = { 1, 2 } }
    local b = world:spawn { Position = { 3, 4 }, Frozen = true }
    local query = world:query "Frozen?, Position.x"
    query:map(function(frozen, x) return nil, frozen and x * 2 or x + 100 end)
    assert.are.same({ 101, 6 }, { world:get(a, "Position.x"), world:get(b, "Position.x") })
    for _, value in ipairs { true, false, 1 } do
      has_error(function() query:map(function() return value, 0 end) end,
        "'Frozen' is a tag", "return nil")
    end
    assert.are.same({ 101, 6 }, { world:get(a, "Position.x"), world:get(b, "Position.x") })
    world:query "Position.x, Frozen?":map(function(x) return x - 1 end)
    assert.are.same({ 100, 5 }, { world:get(a, "Position.x"), world:get(b, "Position.x") })
  end)

  it("reads and writes every type", function()
    local world = new_world()
    local other = world:spawn()
    local e = world:spawn { Tag = { "a" }, Health = {} }
    local value = {}
    local before
    world:query "Tag.name, Tag.kind, Tag.target, Tag.value, Tag.on, Tag.exact, Health.hp":map(
      function(...)
        before = table.pack(...)
        return "b", "green", other, value, true, 0.1, 7.0
      end)
    assert.are.same({ "a", "red", 0, nil, false, 0, 100, 0.0, e, n = 9 }, before)
    assert.are.same({ "b", "green", other, value, true, 0, 0.1 }, { world:get(e, "Tag") })
    assert.are.equal(7, (world:get(e, "Health")))
    assert.are.equal("integer", math.type((world:get(e, "Health"))))
  end)

  it("refuses what does not fit, and leaves that row as it was", function()
    local world = new_world()
    local first = world:spawn { Health = {}, Position = {} }
    local second = world:spawn { Health = {}, Position = {} }
    local query = world:query "Position.x, Health.hp, Health.armor"
    for _, bad in ipairs { 256, -1, 1.5, "1", true, {} } do
      local count = 0
      has_error(function()
        query:map(function()
          count = count + 1
          return count, count, count == 2 and bad or 3
        end)
      end, "Health.armor")
      assert.are.same({ 1, 3 }, { world:get(first, "Health") })
      assert.are.same({ 100, 0 }, { world:get(second, "Health") })
      assert.are.equal(0, (world:get(second, "Position")))
      world:set(first, "Health", 100, 0)
    end
    has_error(function() query:map(function() return "1" end) end, "Position.x", "'1'")
    has_error(function() query:map(function() return false end) end, "Position.x", "false")
  end)

  it("refuses to write a field that is read-only (C43)", function()
    local world = new_world()
    world:spawn { Position = {} }
    local query = world:query "Position.x:in, Position.y"
    query:map(function(x) return nil, x + 1 end)
    assert.are.equal(1, (select(2, world:get(world:query "Position":first(), "Position"))))
    has_error(function() query:map(function() return 1 end) end, "Position.x", "read-only")
  end)

  it("gives nil for an absent field, and refuses to write it", function()
    local world = new_world()
    local a = world:spawn { Position = { 1, 2 } }
    local query = world:query "Position.x, Velocity.x?"
    local seen
    query:map(function(x, vx) seen = { x, vx == nil } return x + 1 end)
    assert.are.same({ 1, true }, seen)
    has_error(function() query:map(function() return 1, 1 end) end, "Velocity.x", ecs.format(a))
    world:add(a, "Velocity")
    query:map(function() return 1, 1 end)
    assert.are.equal(1, (world:get(a, "Velocity.x")))
  end)

  it("gives one value for each alternative of A|B", function()
    local world = new_world()
    world:spawn { Position = { 1 } }
    world:spawn { Velocity = { 2 } }
    local seen = {}
    world:query "Position.x|Velocity.x":map(function(px, vx)
      seen[#seen + 1] = { px or false, vx or false }
      return px and 5, vx and 6
    end)
    assert.are.same({ { 1, false }, { false, 2 } }, seen)
    assert.are.equal(5, (world:get(world:query "Position":first(), "Position")))
    assert.are.equal(6, (world:get(world:query "Velocity":first(), "Velocity")))
  end)

  it("refuses a whole component, saying how to name its fields", function()
    local world = new_world()
    has_error(function() world:query "Position.x, Velocity":map(print) end, "'Velocity'",
      "Velocity.x")
  end)

  it("names what is no function, and no number", function()
    local query = new_world():query "Position.x"
    for _, value in ipairs { false, 1, "print", {} } do
      has_error(function() query:map(value) end, "bad argument #1 to 'map'", "function")
    end
    has_error(function() query:map() end, "bad argument #1 to 'map'")
    has_error(function() query:map(print, "1") end, "bad argument #2 to 'map'", "number")
  end)

  it("goes through every row of every table", function()
    local world = new_world()
    local ids = {}
    for i = 1, 200 do
      ids[i] = world:spawn { Position = { x = i }, Health = i % 2 == 0 or nil }
    end
    local count = 0
    world:query "Position.x":map(function(x) count = count + 1 return -x end)
    assert.are.equal(200, count)
    for i = 1, 200 do assert.are.equal(-i, (world:get(ids[i], "Position"))) end
  end)

  it("works with more fields than have a quick way", function()
    local world = helper.new_world()
    local fields, terms = {}, {}
    for i = 1, 40 do
      fields[i] = ("f%d: f32 = %d"):format(i, i)
      terms[i] = "Wide.f" .. i
    end
    world:component("Wide", fields)
    local e = world:spawn { Wide = {} }
    for _ = 1, 20 do world:spawn { Wide = {} } end
    world:query(table.concat(terms, ", ")):map(function(...)
      local values = { ... }
      for i = 1, 40 do values[i] = values[i] * 2 end
      return table.unpack(values, 1, 40)
    end)
    local values = { world:get(e, "Wide") }
    for i = 1, 40 do assert.are.equal(2 * i, values[i]) end
  end)

  it("lets go of any values that it replaces", function()
    local world = new_world()
    local weak = setmetatable({}, { __mode = "k" })
    for _ = 1, 10 do world:spawn { Tag = {} } end
    for _ = 1, 3 do
      world:query "Tag.value":map(function()
        local value = {}
        weak[value] = true
        return value
      end)
    end
    collectgarbage()
    local count = 0
    for _ in pairs(weak) do count = count + 1 end
    assert.are.equal(10, count)
  end)

  it("stages, and applies at its end (C50)", function()
    local world = new_world()
    for i = 1, 5 do world:spawn { Position = { x = i } } end
    world:query "Position.x":map(function(x, _, e)
      if x % 2 == 0 then world:despawn(e) else world:spawn { Position = { x = 100 } } end
      return x + 1
    end)
    local seen = {}
    world:query "Position.x":map(function(x) seen[#seen + 1] = x end)
    table.sort(seen)
    assert.are.same({ 2, 4, 6, 100, 100, 100 }, seen)
  end)

  it("drops its commands after an error", function()
    local world = new_world()
    for i = 1, 3 do world:spawn { Position = { x = i } } end
    local spawned
    has_error(function()
      world:query "Position.x":map(function(x)
        spawned = world:spawn { Position = {} }
        if x == 2 then error "stop" end
      end)
    end, "stop")
    assert.is_false(world:alive(spawned))
    assert.are.equal(3, world:count "Position")
  end)
end)
