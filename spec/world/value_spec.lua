local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

describe("a value", function()
  local world = ecs.world()
  local e = world:spawn()
  world:component("Vec", { "x: f32", "y: f32" })

  -- A component with one field of that type; returns its name.
  local function of(kind)
    local name = "V_" .. kind:gsub("[^%w]", "_")
    world:component(name, { "f: " .. kind })
    return name
  end

  local function takes(kind, value, reads)
    local name = of(kind)
    world:set(e, name, value)
    local got = world:get(e, name)
    if reads ~= reads then
      assert.is_true(got ~= got)
    else
      assert.are.equal(reads, got)
      assert.are.equal(math.type(reads), math.type(got))
    end
  end

  local ranges = {
    i8 = { -128, 127 }, i16 = { -32768, 32767 }, i32 = { -2147483648, 2147483647 },
    i64 = { math.mininteger, math.maxinteger }, u8 = { 0, 255 }, u16 = { 0, 65535 },
    u32 = { 0, 4294967295 }, u64 = { math.mininteger, math.maxinteger },
  }
  for kind, range in pairs(ranges) do
    it(kind .. " takes its range and nothing beyond", function()
      takes(kind, range[1], range[1])
      takes(kind, range[2], range[2])
      takes(kind, 7.0, 7)
      takes(kind, -0.0, 0)
      if kind ~= "i64" and kind ~= "u64" then
        has_error(function() takes(kind, range[1] - 1) end, "V_" .. kind .. ".f", kind,
          tostring(range[1] - 1), "out of range")
        has_error(function() takes(kind, range[2] + 1) end, tostring(range[2] + 1), "out of range")
      end
      has_error(function() takes(kind, 2 ^ 63) end, "9.22337204e18", "out of range")
      has_error(function() takes(kind, -1e300) end, "out of range")
      has_error(function() takes(kind, 1.5) end, "V_" .. kind .. ".f", "1.5 is not an integer")
      has_error(function() takes(kind, 0 / 0) end, "nan is not an integer")
      has_error(function() takes(kind, math.huge) end, "inf")
      has_error(function() takes(kind, "7") end, "is " .. kind .. ", got '7'")
      has_error(function() takes(kind, true) end, "got true")
      has_error(function() takes(kind, nil) end, "got nil")
    end)
  end

  it("u64 is the integer with its bits", function()
    for _, value in ipairs { 0, 1, math.maxinteger, math.mininteger, -2, 0xFFFFFFFFFFFFFFFF } do
      takes("u64", value, value)
    end
    takes("u64", -1.0, -1)
    takes("u64", -2.0 ^ 63, math.mininteger)
    has_error(function() takes("u64", 2.0 ^ 63) end, "V_u64.f", "is u64: 9.22337204e18",
      "out of range (write integers from 2^63 on as 0x...)")
  end)

  it("f32 and f64 take any number", function()
    takes("f32", 1, 1.0)
    takes("f32", 0.1, helper.f32(0.1))
    takes("f32", 16777217, 16777216.0)
    takes("f32", 1e300, math.huge)
    takes("f32", 0 / 0, 0 / 0)
    takes("f64", 0.1, 0.1)
    takes("f64", math.maxinteger, 2.0 ^ 63)
    takes("f64", -math.huge, -math.huge)
    for _, kind in ipairs { "f32", "f64" } do
      has_error(function() takes(kind, "1") end, "is " .. kind .. ", got '1'")
      has_error(function() takes(kind, { f = {} }) end, "got a table")
      has_error(function() takes(kind, nil) end, "got nil")
    end
  end)

  it("f32 rounds beyond its range to infinity, in compiled functions, too", function()
    world:component("Single", { "x: f32 = 1e39" })
    world:array("singles", "f32", 1)
    local single = world:spawn { Single = true }
    assert.are.equal(math.huge, (world:get(single, "Single.x")))
    world:array("singles")[1] = -1e39
    assert.are.equal(-math.huge, world:array("singles")[1])
    world:set(single, "Single.x", 1e38)
    world:system("grow", {
      query = "Single.x", compile = true, map = function(x) return x * 10 end,
    })
    world:run "grow"
    assert.are.equal(math.huge, (world:get(single, "Single.x")))
  end)

  it("bool takes true and false only", function()
    takes("bool", true, true)
    takes("bool", false, false)
    has_error(function() takes("bool", 1) end, "is bool, got 1")
    has_error(function() takes("bool", nil) end, "is bool, got nil")
  end)

  it("string takes any string, zero bytes included", function()
    takes("string", "", "")
    takes("string", "a\0b", "a\0b")
    takes("string", ("long"):rep(10000), ("long"):rep(10000))
    has_error(function() takes("string", 5) end, "is string, got 5")
    has_error(function() takes("string", nil) end, "is string, got nil")
  end)

  it("enum takes its names, and hints at the nearest", function()
    takes("enum(idle, running)", "running", "running")
    has_error(function() takes("enum(idle, running)", "runing") end, "'runing'", "'running'?")
    has_error(function() takes("enum(idle, running)", 1) end, "is enum, got 1")
  end)

  it("enum may have more than 256 names", function()
    local names = {}
    for i = 1, 300 do
      names[i] = "n" .. i
    end
    world:component("Wide", { "f: enum(" .. table.concat(names, ",") .. ")" })
    assert.are.equal(2, world:describe("Wide").size)
    world:set(e, "Wide", "n300")
    assert.are.equal("n300", (world:get(e, "Wide")))
  end)

  it("any takes every value, nil included", function()
    for _, value in ipairs { 1, 1.5, "text", false, print, io.stdout, coroutine.create(print) } do
      takes("any", value, value)
    end
    takes("any", nil, nil)
  end)

  it("any takes a table inside the table of fields, and by the field's name", function()
    local name, value = of "any", { f = 1 }
    world:set(e, name, { f = value })
    assert.are.equal(value, (world:get(e, name)))
    world:set(e, name, { f = {} })
    world:set(e, name .. ".f", value)
    assert.are.equal(value, (world:get(e, name)))
    world:set(e, name, value)
    assert.are.equal(1, (world:get(e, name)))
  end)

  it("entity takes living ids and ecs.null, and reads as that once its target is dead", function()
    local target = world:spawn()
    takes("entity", target, target)
    takes("entity", target + 0.0, target)
    local name = of "entity"
    world:despawn(target)
    assert.are.equal(ecs.null, (world:get(e, name)))
    assert.are.equal(ecs.null, (world:get(e, name .. ".f")))
    assert.are.equal(ecs.null, world:read(e, name).f)
    for component, value in world:components(e) do
      if component == name then
        assert.are.equal(ecs.null, value.f)
      end
    end
    takes("entity", ecs.null, ecs.null)
    takes("entity", 1, 1)
  end)

  it("of an array is a table from 1; elements left out keep their value", function()
    local name = of "u8[3]"
    world:set(e, name, { { 1, 2, 3 } })
    world:set(e, name, { f = { [2] = 9 } })
    assert.are.same({ 1, 9, 3 }, (world:get(e, name)))
    world:set(e, name .. ".f[3]", 7)
    assert.are.equal(7, (world:get(e, name .. ".f[3]")))
    has_error(function() world:set(e, name, { f = { [4] = 1 } }) end, name .. ".f", "1 to 3", "4")
    has_error(function() world:set(e, name, { f = { [0] = 1 } }) end, "1 to 3", "0")
    has_error(function() world:set(e, name, { f = { x = 1 } }) end, "1 to 3", "'x'")
    has_error(function() world:set(e, name, { f = 1 }) end, name .. ".f", "takes a table", "1")
    has_error(function() world:set(e, name, { f = { 1, 2, 256 } }) end, name .. ".f[3]", "256")
    has_error(function() world:get(e, name .. ".f") end, "not a single value", name .. ".f[1]")
    has_error(function() world:get(e, name .. ".f[4]") end, "no field 'f[4]'")
    assert.are.same({ 1, 9, 7 }, (world:get(e, name)))
  end)

  it("of a nested component is a table of its fields", function()
    local name = of "Vec"
    world:set(e, name, { f = { y = 2 } })
    world:set(e, name, { f = { 5 } })
    assert.are.same({ x = 5.0, y = 2.0 }, (world:get(e, name)))
    world:set(e, name .. ".f.x", 6)
    assert.are.equal(6.0, (world:get(e, name .. ".f.x")))
    has_error(function() world:set(e, name, { f = { z = 1 } }) end, "'Vec' has no field 'z'")
    has_error(function() world:set(e, name, { f = { x = "a" } }) end, name .. ".f.x", "'a'")
    has_error(function() world:set(e, name, { f = 1 }) end, name .. ".f", "takes a table", "Vec")
  end)

  it("of arrays of nested components reaches every leaf", function()
    world:component("Path", { "points: Vec[3]" })
    world:component("Walk", { "id: u8", "paths: Path[2]", "last: i16" })
    world:set(e, "Walk", 1, { { points = { { 1, 2 }, { x = 3 } } }, { { [3] = { y = 9 } } } }, -5)
    assert.are.equal(3.0, (world:get(e, "Walk.paths[1].points[2].x")))
    assert.are.equal(9.0, (world:get(e, "Walk.paths[2].points[3].y")))
    assert.are.equal(-5, (world:get(e, "Walk.last")))
    local walk = world:read(e, "Walk")
    assert.are.same({ x = 1.0, y = 2.0 }, walk.paths[1].points[1])
    walk.paths[1].points[1].x = 100
    assert.are.equal(1.0, (world:get(e, "Walk.paths[1].points[1].x")))
  end)

  it("C21 of the wrong type leaves everything as it was", function()
    world:component("Mixed", { "a: f32", "b: u8", "c: string", "d: any" })
    world:set(e, "Mixed", 1, 2, "three", print)
    has_error(function() world:set(e, "Mixed", 9, 300) end, "Mixed.b", "300")
    has_error(function() world:set(e, "Mixed", { a = 9, b = "x", c = "no", d = {} }) end, "Mixed.b")
    has_error(function() world:set(e, "Mixed", 9, 9, "x", {}, 5) end, "4 fields, got 5")
    local a, b, c, d = world:get(e, "Mixed")
    assert.are.same({ 1.0, 2, "three", print }, { a, b, c, d })
    assert.is_true(world:check())
  end)

  it("that is no number is like any other NaN to the digest, wherever it is kept", function()
    local function digest(value)
      local fresh = helper.new_world()
      fresh:component("Plain", { "single: f32", "double: f64" })
      fresh:component("Beside", { "single: f32", "double: f64", storage = "sparse" })
      fresh:event("Told", { "double: f64" })
      fresh:resource("One", { "single: f32" })
      fresh:array("many", "f64", 3)[2] = value
      fresh:spawn { Plain = { 1, 2 } }
      fresh:spawn { Plain = { value, value }, Beside = { value, value } }
      fresh:emit("Told", value)
      fresh:res("One").single = value
      return fresh:digest()
    end
    local nan = digest(0 / 0)
    assert.are.equal(nan, digest(-(0 / 0)))
    for _, other in ipairs { 1 / 0, -1 / 0, 0, -0.0, 1.5 } do
      assert.are_not.equal(nan, digest(other))
    end
  end)
end)

describe("strings", function()
  it("are swept when nothing names them any more", function()
    local world = helper.new_world()
    world:component("Label", { "text: string = kept" })
    local e = world:spawn { Label = {} }
    local bytes
    for i = 1, 20000 do
      world:set(e, "Label", ("text %d"):format(i))
      if i == 5000 then
        bytes = world:describe().bytes
      end
    end
    assert.is_true(world:describe().bytes <= 2 * bytes)
    assert.are.equal("text 20000", (world:get(e, "Label")))
    assert.are.equal("kept", (world:get(world:spawn { Label = {} }, "Label")))
  end)

  it("are swept, too, where only calls fail, and what is deferred is dropped", function()
    local cases = {
      set = function(world, e, text) world:set(e, "Label", text, "none") end,
      spawn = function(world, _, text) world:spawn { Label = { text, "none" } } end,
      spawner = function(world, _, text) world:spawner "Label" (text, "none") end,
      emit = function(world, _, text) world:emit("Said", text, "none") end,
      view = function(world, _, text) world:res("Label").more = { text, 1 } end,
      declare = function(world, _, text) world:component("New", { "s: string = " .. text, 1 }) end,
      cancel = function(world, _, text)
        world:defer()
        world:despawn(world:spawn { Label = { text } })
        world:emit("Said", text .. "!")
        world:cancel()
      end,
      loop = function(world, _, text)
        world:query("Label"):each(function()
          world:emit("Said", text)
          error "no"
        end)
      end,
    }
    for name, call in pairs(cases) do
      local world, bytes = helper.new_world(), nil
      world:component("Label", { "text: string", "n: i32", "more: string[2]" })
      world:event("Said", { "text: string", "n: i32" })
      world:resource "Label"
      local e = world:spawn { Label = { "kept" } }
      for i = 1, 20000 do
        pcall(call, world, e, ("text %d"):format(i))
        bytes = i == 5000 and world:describe().bytes or bytes
      end
      assert.is_true(world:describe().bytes <= 2 * bytes, name)
      assert.are.equal("kept", (world:get(e, "Label.text")))
      helper.check(world)
    end
  end)
end)

describe("`any` values", function()
  local world, weak

  local function object()
    local value = {}
    weak[#weak + 1] = value
    return value
  end

  local function remaining()
    collectgarbage()
    local count = 0
    for _ in pairs(weak) do
      count = count + 1
    end
    return count
  end

  before_each(function()
    world = helper.new_world()
    world:component("Box", { "value: any" })
    world:component("Boxes", { "values: any[2]", "more: Box" })
    weak = setmetatable({}, { __mode = "v" })
  end)

  it("are kept with their entity and collectable when it is despawned", function()
    local e = world:spawn { Box = { value = object() } }
    assert.are.equal(1, remaining())
    world:despawn(e)
    assert.are.equal(0, remaining())
  end)

  it("are collectable when the component is removed or the value replaced", function()
    local e = world:spawn { Box = { value = object() } }
    local old = world:get(e, "Box")
    world:set(e, "Box", { object() })
    assert.are_not.equal(old, (world:get(e, "Box")))
    old = nil -- luacheck: ignore
    assert.are.equal(1, remaining())
    world:set(e, "Box.value", object())
    assert.are.equal(1, remaining())
    world:remove(e, "Box")
    assert.are.equal(0, remaining())
  end)

  it("follow their row when another one is removed", function()
    local ids = {}
    for i = 1, 5 do
      ids[i] = world:spawn { Box = { value = object() } }
    end
    local last = world:get(ids[5], "Box")
    world:despawn(ids[2])
    world:add(ids[1], "Boxes")
    assert.are.equal(last, (world:get(ids[5], "Box")))
    assert.are.equal(4, remaining())
    world:despawn(ids[5])
    last = nil -- luacheck: ignore
    assert.are.equal(3, remaining())
  end)

  it("in arrays and nested components count one by one", function()
    local e = world:spawn { Boxes = { { object(), object() }, { object() } } }
    assert.are.equal(3, remaining())
    world:set(e, "Boxes.values[2]", nil)
    assert.are.equal(2, remaining())
    assert.are.equal(nil, (world:get(e, "Boxes.values[2]")))
    world:set(e, "Boxes", { more = { value = object() } })
    assert.are.equal(2, remaining())
  end)

  it("of calls that fail are collectable", function()
    local e = world:spawn()
    has_error(function() world:set(e, "Boxes", { object(), object() }, 5) end, "Boxes.more")
    has_error(function() world:spawn { Boxes = { { object(), [3] = object() } } } end, "1 to 2")
    world:despawn(e)
    has_error(function() world:set(e, "Box.value", object()) end, "is dead")
    world:alive(e)
    world:despawn(world:spawn())
    assert.are.equal(0, remaining())
  end)

  it("of spawn_many belong to each entity", function()
    local shared = object()
    local ids = world:spawn_many(10, { Box = { value = shared }, Boxes = { { [2] = shared } } })
    for _, e in ipairs(ids) do
      assert.are.equal(shared, (world:get(e, "Box")))
      assert.are.equal(shared, (world:get(e, "Boxes.values[2]")))
    end
    shared = nil -- luacheck: ignore
    for i = 1, 9 do
      world:despawn(ids[i])
    end
    assert.are.equal(1, remaining())
    world:despawn(ids[10])
    assert.are.equal(0, remaining())
  end)

  it("of staged commands are kept until they apply, and let go by cancel", function()
    world:defer()
    local e = world:spawn { Box = { value = object() } }
    local ids = world:spawn_many(3, { Box = { value = object() } })
    assert.are.equal(2, remaining())
    world:commit()
    assert.are.equal(2, remaining())
    assert.is_table((world:get(ids[3], "Box")))
    world:defer()
    world:spawn { Box = { value = object() } }
    world:set(e, "Boxes", { { object() } })
    world:cancel()
    assert.are.equal(2, remaining())
    world:undeclare "Boxes"
    world:undeclare "Box"
    assert.are.equal(0, remaining())
  end)

  it("may be the world itself, or what closes it", function()
    local e = world:spawn { Box = { value = world } }
    assert.are.equal(world, (world:get(e, "Box")))
  end)

  it("are not encoded where saving is not possible, while functions have views", function()
    world:component("Mind", { "n: i32", "thought: any", track = true })
    world:spawn { Mind = { 1, {} } }
    assert.are.equal(1, world:query("Mind:changed"):count())
    local asked = false
    world:query("Mind"):each(function(mind)
      has_error(function()
        world:save { codec = { encode = function()
          asked = true
          mind.n = 2
          return ""
        end } }
      end, "save is not possible inside a system, a function form or defer")
    end)
    assert.is_false(asked)
    assert.are.equal(1, (world:get(world:query("Mind"):first(), "Mind")))
  end)
end)
