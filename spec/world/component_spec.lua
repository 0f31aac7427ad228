local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

describe("world:component", function()
  local world

  before_each(function()
    world = helper.new_world()
  end)

  it("C1 declares at run time, and any live entity can get it", function()
    local e = world:spawn()
    local id = world:component("Cookable", { "minutes: f32 = 10" })
    world:add(e, "Cookable")
    assert.are.equal(10.0, (world:get(e, id)))
  end)

  it("C4 lets a line at a console make utensils cookable with no other edit", function()
    world:component("Cookable", { "minutes: f32 = 10" })
    world:tag "Utensil"
    local pan, stone = world:spawn { Utensil = true }, world:spawn()
    world:system("cook", { query = "Cookable", each = function(cookable, dt)
      cookable.minutes = cookable.minutes - dt
    end })
    world:update(1)
    assert.are.equal(0, world:count "Cookable")
    local line = [[for e in world:query("Utensil"):each() do world:add(e, "Cookable") end]]
    assert(load(line, "=console", "t", { world = world }))()
    world:update(1)
    assert.are.equal(9.0, (world:get(pan, "Cookable")))
    assert.is_false(world:has(stone, "Cookable"))
  end)

  it("returns the id it had when it is declared again with the same fields", function()
    local id = world:component("P", { "x: f32 = 1", "y: enum(a, b)", "z: u8[2]" })
    assert.are.equal(id, world:component("P", { " x :f32=1", "y: enum( a,b )", "z: u8[ 2 ]" }))
    assert.are.equal(id, world:component("P", { "x: f32 = 1.0", "y: enum(a, b) = a",
      "z: u8[2] = 0" }))
    local tag = world:tag "T"
    assert.are.equal(tag, world:tag "T")
    assert.are.equal(tag, world:component("T", {}))
  end)

  it("declared with other fields keeps its id and what its rows have of them", function()
    local id = world:component("P", { "x: f32", "y: f32 = 2" })
    local e = world:spawn { P = { x = 1.5 } }
    local again, report = world:component("P", { "y: f64", "z: u8 = 7" })
    assert.are.equal(id, again)
    assert.are.equal(1, report.rows)
    assert.are.same({ 2.0, 7 }, { world:get(e, "P") })
    has_error(function() world:component("P", { "y: u8 = 1", "z: enum(a, b)" }) end, "'P'",
      ecs.format(e), "z = 7", "enum")
    assert.are.same({ 2.0, 7 }, { world:get(e, "P") })
    world:component("P", {})
    assert.are.equal(0, #world:describe("P").fields)
    assert.is_true(world:has(e, "P"))
  end)

  it("without fields drops those that it had; world:tag does not", function()
    world:component("P", { "x: f32" })
    world:component("Q", { "at: P" })
    local e = world:spawn { P = { x = 1.5 } }
    for _ = 1, 2 do
      has_error(function() world:tag "P" end, "bad argument #1 to 'tag'", "'P' has fields",
        "declare it with world:component and no fields, {}")
      assert.are.equal(1.5, world:get(e, "P"))
    end
    world:component("Q", {})
    local id, report = world:component("P", {})
    assert.are.same({ "x" }, report.dropped)
    assert.are.equal(id, world:tag "P")
    assert.is_true(world:has(e, "P"))
    world:component("P", { "y: i32 = 3" })
    assert.are.equal(3, world:get(e, "P"))
  end)

  it("says which type to write for one that is called otherwise elsewhere", function()
    world:component("Position", { "x: f32" })
    for name, write in pairs { float = "f32", double = "f64", number = "f64", int = "i32",
      integer = "i64", boolean = "bool", uint8 = "u8", uint64 = "u64", str = "string",
      table = "any" } do
      has_error(function() world:component("A", { "a: " .. name }) end, "component 'A'",
        ("unknown type '%s' (write '%s')"):format(name, write))
      has_error(function() world:component("A", { ("a: %s[2]"):format(name) }) end,
        ("(write '%s')"):format(write))
      world:component("B", { "a: " .. write, ("b: %s[2]"):format(write) })
      world:undeclare "B"
    end
    has_error(function() world:component("A", { "a: Postion" }) end, "(did you mean 'Position'?)")
    has_error(function() world:component("A", { "a: vec2" }) end,
      "unknown type 'vec2' (the types are f32", "and names of components)")
    world:component("float", { "x: f32" })
    world:component("A", { "a: float" })
  end)

  it("C41 is needed before a component is used", function()
    local e = world:spawn()
    has_error(function() world:add(e, "Nowhere") end, "unknown component 'Nowhere'")
    has_error(function() world:set(e, "Nowhere", 1) end, "unknown component 'Nowhere'")
    has_error(function() world:spawn { Nowhere = {} } end, "unknown component 'Nowhere'")
    has_error(function() world:get(e, 77) end, "77v0@0 was never spawned")
  end)

  it("takes identifiers for names of components and fields", function()
    world:component("_9a", { "_x1: f32" })
    for _, name in ipairs { "", "9a", "a b", "a.b", "a-b", "é", ("n"):rep(64) } do
      has_error(function() world:component(name, {}) end, "not a name for a component")
    end
    has_error(function() world:component("a\0b", {}) end, "zero byte")
    has_error(function() world:component("P", { ("n"):rep(64) .. ": f32" }) end, "not a name")
    has_error(function() world:component(5, {}) end, "string expected, got number")
    has_error(function() world:component("P") end, "table expected")
    has_error(function() world:component("P", "x: f32") end, "table expected")
    has_error(function() world:component() end, "string expected")
  end)

  it("says what it cannot read in a field", function()
    local function declared(...)
      local fields = { ... }
      return function() world:component("P", fields) end
    end
    has_error(declared("x"), "'P'", "field 'x'", "name: type")
    has_error(declared(": f32"), "field ': f32'")
    has_error(declared("x f32"), "field 'x f32'")
    has_error(declared("x:"), "field 'x:'", "'' is not a type")
    has_error(declared("x: f32 f32"), "'f32 f32' is not a type")
    has_error(declared("x: f32[]"), "is not a type")
    has_error(declared("x: f32[2][2]"), "is not a type")
    has_error(declared("x: f32[0]"), "1 to 1024")
    has_error(declared("x: f32[1025]"), "1 to 1024")
    has_error(declared("x: f32[99999999999999999999]"), "1 to 1024")
    has_error(declared("x: enum"), "'enum' is not a type")
    has_error(declared("x: enum()"), "'' is not a valid enum name")
    has_error(declared("x: enum(a,)"), "'' is not a valid enum name")
    has_error(declared("x: enum(a, 1)"), "'1' is not a valid enum name")
    has_error(declared("x: enum(a, b, a)"), "lists 'a' twice")
    has_error(declared("x: f64", "x: f32"), "two fields named 'x'")
    has_error(declared("x: float"), "'x: float'", "unknown type 'float'")
    has_error(declared("x: f23"), "unknown type 'f23' (did you mean 'f32'?)")
    has_error(declared(5), "field 1 is 5")
    has_error(declared({}), "field 1 is a nil")
    has_error(function() world:component("P", { [2] = "x: f32" }) end, "list", "2")
    has_error(function() world:component("P", { [1.5] = "x: f32" }) end, "list", "1.5")
    has_error(function() world:component("P", { x = "f32" }) end, "unknown option 'x'",
      '"x: type"')
    assert.are.equal(1, world:component("P", { "x: f32" }))
  end)

  it("names a nested type that is near the one written", function()
    world:component("Position", { "x: f32" })
    has_error(function() world:component("Body", { "at: Positon" }) end,
      "'at: Positon'", "did you mean 'Position'?")
  end)

  it("takes options in the hash part and refuses what is not in this version", function()
    world:component("P", { "x: f32", storage = "table", doc = "where", was = { x = "a" } })
    world:component("S", { "x: f32", storage = "sparse" })
    local function with(key, value)
      return function() world:component("Q", { "x: f32", [key] = value }) end
    end
    has_error(with("storage", "list"), "storage", "'list'")
    has_error(with("toggle", 1), "'toggle' must be true or false, got 1")
    has_error(with("doc", 5), "'doc' must be a string, got 5")
    has_error(with("doc", "a\0b"), "component 'Q': 'doc' has a zero byte")
    has_error(with("was", 5), "'was' must be its former name, or a table")
    has_error(with("was", "a\0b"), "component 'Q': 'was' has a zero byte")
    has_error(with("was", { x = "a\0b" }), "component 'Q': 'was' has a zero byte")
    has_error(with("requires", { "A\0b" }), "component 'Q': 'requires' has a zero byte")
    has_error(with("was", { x = 1 }), "'was'")
    local message = has_error(with("stroage", "table"), "unknown option 'stroage'")
      .. has_error(with("storage", "Sparse"), "storage must be 'table' or 'sparse'")
    assert.is_nil(message:find("list", 1, true), message)
    has_error(with(true, 1), "list")
  end)

  it("takes hints beside a field", function()
    world:component("P", { { "x: f32 = 2", doc = "metres", unit = "m", min = -1, max = 2.5 } })
    local field = world:describe("P").fields[1]
    assert.are.same({ name = "x", type = "f32", default = 2.0, offset = 0, size = 4,
      doc = "metres", unit = "m", min = -1, max = 2.5 }, field)
    local bits = { "b: u64 = 0xF000000000000000", min = 0, max = 0xFFFFFFFFFFFFFFFF }
    world:component("Bits", { bits })
    assert.are.same({ name = "b", type = "u64", default = -1 << 60, offset = 0, size = 8, min = 0,
      max = -1 }, world:describe("Bits").fields[1])
    local function with(key, value)
      return function() world:component("Q", { { "x: f32", [key] = value } }) end
    end
    has_error(with("dco", "x"), "unknown hint 'dco'")
    has_error(with(2, "x"), "unknown hint 2")
    has_error(with("unit", 5), "'unit' is a string, got 5")
    has_error(with("min", {}), "'min' is a number")
    for _, hint in ipairs { "doc", "unit", "min", "max" } do
      has_error(with(hint, "a\0b"), ("field 'x: f32': '%s' has a zero byte"):format(hint))
    end
  end)

  it("changes nothing when it fails", function()
    local before = world:component("A", { "x: f32" })
    has_error(function() world:component("B", { "x: u8 = 256" }) end, "out of range")
    assert.are.equal(before + 1, world:component("B", { "x: u8 = 255" }))
  end)

  it("is possible inside defer, but not with other fields", function()
    world:defer()
    local id = world:component("P", { "x: f32" })
    local e = world:spawn { P = { x = 1 } }
    has_error(function() world:component("P", { "x: f64" }) end, "other fields", "defer")
    world:commit()
    assert.are.equal(1.0, (world:get(e, id)))
  end)
end)

describe("a field's default", function()
  local world = ecs.world()
  world:component("Vec", { "x: f32 = 3", "y: f32" })

  local cases = {
    { "f32", 0.0 }, { "f64", 0.0 }, { "i8", 0 }, { "i16", 0 }, { "i32", 0 }, { "i64", 0 },
    { "u8", 0 }, { "u16", 0 }, { "u32", 0 }, { "u64", 0 }, { "bool", false },
    { "entity", ecs.null }, { "string", "" }, { "any", nil }, { "enum(red, green)", "red" },
    { "u8[3]", { 0, 0, 0 } },
    { "Vec", { x = 3.0, y = 0.0 } }, { "Vec[2]", { { x = 3.0, y = 0.0 }, { x = 3.0, y = 0.0 } } },
    { "f32 = 1.5", 1.5 }, { "f32 = -2", -2.0 }, { "f64 = 1e300", 1e300 }, { "f64 = 0x1p4", 16.0 },
    { "i8 = -128", -128 }, { "u32 = 0xFFFFFFFF", 4294967295 },
    { "i64 = 9223372036854775807", math.maxinteger }, { "u64 = 0xFFFFFFFFFFFFFFFE", -2 },
    { "u64 = 9223372036854775807", math.maxinteger }, { "u64[2] = -1", { -1, -1 } },
    { "u64 = 18446744073709551615", nil, "(write integers from 2^63 on as 0x...)" },
    { "u64 = -1e20", nil, "1e20 is out of range" }, { "u64 = 1.5", nil, "1.5 is not an integer" },
    { "i32 = 4.0", 4 }, { "bool = true", true }, { "bool = false", false },
    { "entity = ecs.null", ecs.null }, { "string = goblin", "goblin" },
    { 'string = "two words"', "two words" }, { "string = 'it''s'", nil, "not a default" },
    { [[string = "a\n\"b\"\\ \x41\65\u{e9}\z  c"]], "a\n\"b\"\\ AA\u{e9}c" },
    { [[string = "cut]], nil, "not a default" }, { [[string = "cut\"]], nil, "not a default" },
    { [[string = "\q"]], nil, "not a default" }, { 'string = "a" b', nil, "not a default" },
    { 'string = ""', "" }, { "string = '= : ,'", "= : ," },
    { "string = 5", nil, "is string" }, { "string = true", nil, "is string" },
    { "enum(red, green) = green", "green" }, { "enum(red, green) = 'green'", "green" },
    { "enum(red, green) = blue", nil, "no name 'blue'" },
    { "enum(red, green) = 1", nil, "is enum" },
    { "u8[3] = 7", { 7, 7, 7 } }, { "enum(a, b)[2] = b", { "b", "b" } },
    { "f32 =", nil, "nothing is not a default" }, { "f32 = abc", nil, "is f32" },
    { "f32 = nil", nil, "nil is not a default" }, { "f32 = {}", nil, "{} is not a default" },
    { "i8 = 128", nil, "out of range" }, { "u8 = -1", nil, "out of range" },
    { "i32 = 1.5", nil, "not an integer" }, { "bool = 1", nil, "is bool" },
    { "any = 1", nil, "an 'any' field has no default" }, { "Vec = 1", nil, "nested" },
    { "entity = 1234567", nil, "entity" },
  }

  for i, case in ipairs(cases) do
    local text, value, message = case[1], case[2], case[3]
    it(("C23 of %q is %s"):format(text, message or tostring(value)), function()
      local name = "T" .. i
      local function declare()
        world:component(name, { "f: " .. text })
      end
      if message then
        has_error(declare, message, name)
        return
      end
      declare()
      local e = world:spawn { [name] = true }
      assert.are.same(value, (world:get(e, name)))
      assert.are.same(value, world:describe(name).fields[1].default)
      if type(value) == "number" then
        assert.are.equal(math.type(value), math.type((world:get(e, name))))
      end
    end)
  end
end)

describe("tags", function()
  it("C22 C73 are added and asked for without a value", function()
    local world = helper.new_world()
    local frozen = world:tag "Frozen"
    local e = world:spawn { Frozen = true }
    assert.is_true(world:has(e, "Frozen"))
    assert.is_true(world:has(e, frozen))
    assert.are.equal(0, select("#", world:get(e, "Frozen")))
    assert.is_true(world:read(e, "Frozen"))
    assert.are.equal(0, world:describe("Frozen").size)
    world:remove(e, frozen)
    assert.is_false(world:has(e, "Frozen"))
    has_error(function() world:spawn { Frozen = {} } end, "'Frozen' is a tag and takes true")
    has_error(function() world:spawn { Frozen = 1 } end, "takes true, got 1")
    has_error(function() world:spawn { "Frozen" } end,
      "'Frozen' is a list entry: components are keys, as in ['Frozen'] = true")
    has_error(function() world:spawn { Frozen = false } end, "got false")
    has_error(function() world:set(e, "Frozen", {}) end, "'Frozen' is a tag")
    has_error(function() world:set(e, "Frozen", true) end, "'Frozen' is a tag")
    has_error(function() world:get(e, "Frozen.x") end, "'Frozen' is a tag")
    world:set(e, "Frozen")
    assert.is_true(world:has(e, "Frozen"))
  end)

  it("are declared by name only", function()
    local world = helper.new_world()
    has_error(function() world:tag() end, "string expected")
    has_error(function() world:tag(5) end, "string expected")
    has_error(function() world:tag "a b" end, "'a b' is not a name")
  end)
end)

describe("undeclare", function()
  it("removes the component from everything, and its name may be used anew", function()
    local world = helper.new_world()
    world:component("P", { "x: f32" })
    world:component("Q", { "x: f32 = 5" })
    local e = world:spawn { P = { x = 1 }, Q = {} }
    world:undeclare "P"
    has_error(function() world:get(e, "P") end, "unknown component 'P'")
    assert.are.equal(5.0, (world:get(e, "Q")))
    local id = world:component("P", { "y: string = new" })
    assert.is_false(world:has(e, "P"))
    world:add(e, "P")
    assert.are.equal("new", (world:get(e, id)))
  end)

  it("is the way to end a component: despawn refuses its id", function()
    local world = helper.new_world()
    local id = world:component("P", { "x: f32" })
    has_error(function() world:despawn(id) end, "'P'", "undeclare")
    world:undeclare(id)
    has_error(function() world:despawn(id) end, "is dead")
    has_error(function() world:undeclare(id) end, "is dead")
    has_error(function() world:undeclare "P" end, "unknown component 'P'")
    has_error(function() world:undeclare() end, "component name or id expected")
  end)

  it("is refused for a component that another one is made of, and inside defer", function()
    local world = helper.new_world()
    world:component("P", { "x: f32" })
    world:component("Q", { "p: P" })
    has_error(function() world:undeclare "P" end, "'P'")
    world:defer()
    has_error(function() world:undeclare "Q" end, "undeclare is not possible")
    world:cancel()
    world:undeclare "Q"
    world:undeclare "P"
  end)
end)

describe("world:describe(name)", function()
  it("C5 C42 lists the declared fields with type, default, offset and size", function()
    local world = helper.new_world()
    world:component("Vec", { "x: f32 = 1", "y: f32" })
    local id = world:component("Body", {
      { "mass: f64 = 2.5", doc = "weight", unit = "kg", min = 0, max = "1e3" },
      "at: Vec",
      "cells: i16[3] = 7",
      "mode: enum(idle,run) = run",
      "who: entity", "label: string = none", "extra: any", "on: bool = true",
      doc = "a thing",
    })
    local body = world:describe "Body"
    assert.are.same({ "Body", id, "table", "a thing" },
      { body.name, body.id, body.storage, body.doc })
    local names, types, sizes = {}, {}, {}
    for i, field in ipairs(body.fields) do
      names[i], types[i], sizes[i] = field.name, field.type, field.size
      assert.are.equal("integer", math.type(field.offset))
      assert.is_true(field.offset + field.size <= body.size)
    end
    assert.are.same({ "mass", "at", "cells", "mode", "who", "label", "extra", "on" }, names)
    assert.are.same({ "f64", "Vec", "i16[3]", "enum(idle, run)", "entity", "string", "any",
      "bool" }, types)
    assert.are.same({ 8, 8, 6, 1, 8, 2 * string.packsize "T", 4, 1 }, sizes)
    assert.are.same({ name = "mass", type = "f64", default = 2.5, offset = 0, size = 8,
      doc = "weight", unit = "kg", min = 0, max = 1e3 }, body.fields[1])
    assert.are.same({ x = 1.0, y = 0.0 }, body.fields[2].default)
    assert.are.same({ 7, 7, 7 }, body.fields[3].default)
    assert.are.same({ "run", ecs.null, "none", nil, true }, { body.fields[4].default,
      body.fields[5].default, body.fields[6].default, body.fields[7].default,
      body.fields[8].default })
    assert.are.same(body, world:describe(id))
  end)

  it("describes a tag as a component without fields", function()
    local world = helper.new_world()
    local id = world:tag "Frozen"
    assert.are.same({ name = "Frozen", id = id, storage = "table", size = 0, fields = {} },
      world:describe "Frozen")
  end)

  it("names what it does not know", function()
    local world = helper.new_world()
    world:component("Position", { "x: f32" })
    has_error(function() world:describe "Positoin" end, "'Positoin'", "'Position'?")
    has_error(function() world:describe "Position.x" end, "field")
    has_error(function() world:describe(99) end, "never spawned")
    has_error(function() world:describe {} end, "component name or id expected")
  end)
end)

describe("world:resource", function()
  it("declares a component that the world has one value of", function()
    local world = helper.new_world()
    local id = world:resource("Gravity", { "y: f32 = -9.5" })
    assert.are.equal(-9.5, world:res("Gravity").y)
    world:res("Gravity").y = 2
    assert.are.equal(2.0, world:res(id).y)
    assert.are.equal(id, world:resource("Gravity", { "y: f32 = -9.5" }))
    assert.are.equal(2.0, world:res("Gravity").y)
  end)

  it("makes a declared component one, too, by its name or id", function()
    local world = helper.new_world()
    local id = world:component("Wind", { "x: f32 = 3" })
    assert.are.equal(id, world:resource "Wind")
    assert.are.equal(id, world:resource(id))
    assert.are.equal(3.0, world:res("Wind").x)
    local e = world:spawn { Wind = { x = 1 } }
    assert.are.equal(1.0, (world:get(e, "Wind")))
    assert.are.equal(3.0, world:res("Wind").x)
  end)

  it("refuses tags and unknown names", function()
    local world = helper.new_world()
    world:tag "Frozen"
    world:component("P", { "x: f32" })
    has_error(function() world:resource "Frozen" end, "'Frozen' is a tag")
    has_error(function() world:resource("New", {}) end, "'New' is a tag")
    has_error(function() world:resource "Nowhere" end, "unknown component 'Nowhere'")
    has_error(function() world:resource("P", 5) end, "table expected")
    has_error(function() world:resource() end, "component name or id expected")
    assert.are.same({ 1, 2 }, { world:tag "Frozen", world:component("P", { "x: f32" }) })
  end)
end)
