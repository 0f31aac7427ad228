-- Arrays: columns of the world's own.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local TYPES = { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" }

local function list_of(array) return array:read() end

describe("an array", function()
  it("has as many elements as were declared, each zero at first", function()
    local world = helper.new_world()
    for _, type in ipairs(TYPES) do
      local array = world:array("numbers_" .. type, type, 5)
      assert.are.equal(5, #array)
      for i = 1, 5 do assert.are.equal(0, array[i]) end
      assert.are.equal(type:sub(1, 1) == "f" and "float" or "integer", math.type(array[1]))
    end
    assert.are.same({ false, false }, list_of(world:array("truths", "bool", 2)))
    assert.are.same({ ecs.null, ecs.null }, list_of(world:array("ids", "entity", 2)))
  end)

  it("is read and written by index from 1, a float's as an integer's", function()
    local grid = helper.new_world():array("grid", "i32", 4)
    grid[1], grid[4.0] = 7, 9.0
    assert.are.equal(7, grid[1.0])
    assert.are.equal(9, grid[4])
    assert.are.equal("integer", math.type(grid[4]))
  end)

  it("reads nil outside, at NaN and at a fraction, where writing is an error", function()
    local grid = helper.new_world():array("grid", "f64", 4)
    for _, at in ipairs { 0, -1, 5, 1.5, 0 / 0, math.huge, -math.huge, 2.0 ^ 53, 2.0 ^ 63,
      math.maxinteger, math.mininteger } do
      assert.is_nil(grid[at])
      helper.has_error(function() grid[at] = 1 end, "array 'grid' has elements 1 to 4, got ")
    end
    assert.are.same({ 0, 0, 0, 0 }, list_of(grid))
  end)

  it("takes no other keys than numbers and its methods", function()
    local grid = helper.new_world():array("grid", "f64", 4)
    local what = "array 'grid' has elements 1 to 4, got 'size'"
    helper.has_error(function() return grid.size end, what)
    helper.has_error(function() return grid["1"] end, "got '1'")
    helper.has_error(function() grid.fill = 1 end, "got 'fill'")
    helper.has_error(function() grid[true] = 1 end, "got true")
  end)

  it("takes what a field of its type takes, and says what does not fit", function()
    local world = helper.new_world()
    local bytes, truths = world:array("bytes", "u8", 2), world:array("truths", "bool", 2)
    bytes[1] = 255
    truths[2] = true
    helper.has_error(function() bytes[1] = 256 end, "array 'bytes' is u8: 256 is out of range")
    helper.has_error(function() bytes[1] = 0.5 end, "array 'bytes' is u8: 0.5 is not an integer")
    helper.has_error(function() bytes[1] = "1" end, "array 'bytes' is u8, got '1'")
    helper.has_error(function() bytes[1] = nil end, "array 'bytes' is u8, got nil")
    helper.has_error(function() truths[1] = 1 end, "array 'truths' is bool, got 1")
    assert.are.same({ 255, 0 }, list_of(bytes))
    assert.are.same({ false, true }, list_of(truths))
  end)

  it("keeps f32 as it rounds it", function()
    local array = helper.new_world():array("singles", "f32", 1)
    array[1] = 0.1
    assert.are.equal(helper.f32(0.1), array[1])
  end)

  it("reads entities that have died as null, in every way", function()
    local world = helper.new_world()
    local ids = world:array("ids", "entity", 3)
    local e, other = world:spawn(), world:spawn()
    ids[1], ids[2] = e, other
    assert.are.equal(e, ids[1])
    world:despawn(e)
    assert.are.equal(ecs.null, ids[1])
    assert.are.same({ ecs.null, other, ecs.null }, list_of(ids))
    helper.has_error(function() ids[1] = e end, "array 'ids' is entity: entity ", " is dead")
    local copy = helper.new_world()
    copy:load(world:save())
    assert.are.same({ ecs.null, other, ecs.null }, list_of(copy:array "ids"))
    assert.are.equal(world:digest(), copy:digest())
  end)

  it("no longer names an entity whose retired slot is given back", function()
    local world = helper.new_world()
    world:entity_range(70000, 70000)
    local ids = world:array("ids", "entity", 1)
    for _ = 1, 65536 do
      local e = world:spawn()
      ids[1] = e
      world:despawn(e)
    end
    assert.are.equal(1, world:recycle_retired())
    world:spawn()
    assert.are.equal(ecs.null, ids[1])
  end)

  it("fills itself with one value", function()
    local world = helper.new_world()
    local grid, truths = world:array("grid", "i16", 70), world:array("truths", "bool", 3)
    grid:fill(-3)
    truths:fill(true)
    for i = 1, 70 do assert.are.equal(-3, grid[i]) end
    assert.are.same({ true, true, true }, list_of(truths))
    helper.has_error(function() grid:fill(1e9) end, "array 'grid' is i16: ", "out of range")
    helper.has_error(function() grid:fill() end, "#1 to 'fill'", "i16 expected")
    assert.are.equal(-3, grid[70])
  end)

  it("is copied to a list, which then has nothing behind the elements", function()
    local grid = helper.new_world():array("grid", "i32", 3)
    grid:write { 4, 5, 6 }
    assert.are.same({ 4, 5, 6 }, grid:read())
    local list = { 1, 1, 1, 1, 1 }
    assert.are.equal(list, grid:read(list))
    assert.are.same({ 4, 5, 6 }, list)
  end)

  it("is written from a list: the first elements, and all of it or nothing", function()
    local grid = helper.new_world():array("grid", "u8", 3)
    grid:write { 1, 2, 3 }
    grid:write { 9 }
    assert.are.same({ 9, 2, 3 }, grid:read())
    helper.has_error(function() grid:write { 5, 5, 256 } end, "array 'grid' is u8: 256")
    helper.has_error(function() grid:write { 1, 2, 3, 4 } end, "4 values for 3 elements")
    local hole = helper.has_error(function() grid:write { 1, nil, 3 } end)
    assert(hole:find("no value at 2", 1, true) or hole:find("got the key 3", 1, true), hole)
    assert.are.same({ 9, 2, 3 }, grid:read())
  end)

  it("goes through its elements with pairs and ipairs", function()
    local grid = helper.new_world():array("grid", "i32", 3)
    grid:write { 4, 5, 6 }
    for _, each in ipairs { pairs, ipairs } do
      local seen = {}
      for i, value in each(grid) do seen[i] = value end
      assert.are.same({ 4, 5, 6 }, seen)
    end
  end)

  it("is the same for whoever asks for its name", function()
    local world = helper.new_world()
    local grid = world:array("grid", "i32", 3)
    world:array("grid")[2] = 5
    assert.are.equal(5, grid[2])
    assert.are.equal(5, world:array("grid", "i32", 3)[2])
    helper.has_error(function() world:array "gird" end, "unknown array 'gird'", "'grid'")
    assert.are.equal("ecs.array (grid, 3 of i32)", tostring(grid))
  end)

  it("has a name among those of components, and is none", function()
    local world = helper.new_world()
    world:component("Position", { "x: f32" })
    world:tag "Tag"
    world:relation "Likes"
    world:array("grid", "i32", 3)
    local e = world:spawn()
    for _, call in ipairs {
      function() world:add(e, "grid") end, function() world:spawn { grid = true } end,
      function() world:query "grid" end, function() world:get(e, "grid") end,
      function() world:res "grid" end, function() world:resource "grid" end,
      function() world:component("Big", { "g: grid" }) end,
      function() world:component("Big", { "x: f32", requires = { "grid" } }) end,
      function() world:add(e, world:describe("grid").id) end,
    } do
      helper.has_error(call, "'grid' is an array")
    end
    helper.has_error(function() world:component("grid", { "x: f32" }) end, "'grid' cannot become")
    helper.has_error(function() world:component("Grid", { "x: f32", was = "grid" }) end,
      "cannot become a plain component or tag")
    assert.are.equal(3, #world:array "grid")
    helper.has_error(function() world:tag "grid" end, "grid")
    helper.has_error(function() world:array("Position", "i32", 3) end,
      "'Position' cannot become an array")
    helper.has_error(function() world:array("ChildOf", "i32", 3) end,
      "'ChildOf' is a built-in relation")
    for name, what in pairs { Position = "a component", Tag = "a tag", Likes = "a relation" } do
      helper.has_error(function() world:array(name) end, "'" .. name .. "' is " .. what)
    end
    assert.are.equal(world:describe().components[1], "Position")
    assert.are.equal(3, #world:describe().components)
  end)

  it("is declared with a type of numbers, bool or entity, and 1 to 16,777,216 elements", function()
    local world = helper.new_world()
    for _, type in ipairs { "string", "any", "enum(a, b)", "Position", "float", "f32[2]", "" } do
      helper.has_error(function() world:array("grid", type, 3) end, "#2 to 'array'",
        "an array's type is f32, f64, i8 to i64, u8 to u64, bool or entity")
    end
    for _, length in ipairs { 0, -1, 1.5, 16777217, 2.0 ^ 53, 0 / 0, "3", false } do
      helper.has_error(function() world:array("grid", "u8", length) end, "#3 to 'array'",
        "a length from 1 to 16777216 expected")
    end
    helper.has_error(function() world:array("no name", "u8", 1) end, "'no name' is not a name")
    assert.are.equal(16777216, #world:array("grid", "u8", 2.0 ^ 24))
    world:undeclare "grid"
  end)

  it("is told by describe", function()
    local world = helper.new_world()
    world:array("grid", "i16", 6)
    local told = world:describe "grid"
    assert.are.same({ "grid", "array", "i16", 6, 12 },
      { told.name, told.storage, told.type, told.length, told.size })
    assert.are.same({ "grid" }, world:describe().arrays)
    assert.are.same({ "grid" }, { world:describe(told.id).name })
  end)

  it("is gone when it is undeclared, and what a script holds of it says so", function()
    local world = helper.new_world()
    local grid = world:array("grid", "i16", 6)
    world:undeclare "grid"
    assert.are.same({}, world:describe().arrays)
    for _, call in ipairs {
      function() return grid[1] end, function() grid[1] = 1 end, function() return #grid end,
      function() grid:fill(1) end, function() grid:read() end, function() grid:write {} end,
      function() return pairs(grid) end,
    } do
      helper.has_error(call, "array 'grid' is no longer declared")
    end
    assert.are.equal("ecs.array (stale)", tostring(grid))
    world:component("grid", { "x: f32" })
    helper.has_error(function() return grid[1] end, "array 'grid' is no longer declared")
  end)

  it("is gone with its world", function()
    local world = ecs.world()
    local grid = world:array("grid", "i16", 6)
    world:close()
    helper.has_error(function() return grid[1] end, "array 'grid': its world is closed")
    helper.has_error(function() grid:fill(1) end, "its world is closed")
    assert.are.equal("ecs.array (stale)", tostring(grid))
  end)
end)

describe("an array declared again", function()
  it("keeps its values by index, converted as fields are, and what is new is zero", function()
    local world = helper.new_world()
    local grid = world:array("grid", "u8", 4)
    grid:write { 1, 2, 3, 4 }
    world:array("grid", "f64", 6)
    assert.are.same({ 1.0, 2.0, 3.0, 4.0, 0.0, 0.0 }, grid:read())
    assert.are.equal("float", math.type(grid[1]))
    world:array("grid", "i16", 2)
    assert.are.same({ 1, 2 }, grid:read())
    assert.are.equal(2, #grid)
    world:array("grid", "i16", 3)
    assert.are.same({ 1, 2, 0 }, grid:read())
    world:array("grid", "bool", 1)
    assert.are.same({ true }, grid:read())
  end)

  it("is refused, and as it was, where an element does not fit", function()
    local world = helper.new_world()
    local grid = world:array("grid", "i32", 4)
    grid:write { 1, 2, 300, 4 }
    local digest = world:digest()
    helper.has_error(function() world:array("grid", "u8", 9) end,
      "cannot migrate 'grid': element 3 is 300, which is not of type u8")
    assert.are.equal(digest, world:digest())
    world:array("grid", "u8", 2)
    assert.are.same({ 1, 2 }, grid:read())
    local e = world:spawn()
    world:array("ids", "entity", 1)[1] = e
    helper.has_error(function() world:array("ids", "i64", 1) end, "cannot migrate 'ids': element 1")
  end)

  it("otherwise is an error in systems, loops and defer; alike it is not", function()
    local world = helper.new_world()
    world:component("Position", { "x: f32" })
    world:spawn { Position = true }
    local grid = world:array("grid", "i32", 4)
    local function again() world:array("grid", "i32", 5) end
    local what = "declaring an array with another type or length is not possible inside"
    world:system("s", { run = function()
      helper.has_error(again, what)
      world:array("grid", "i32", 4)
      world:array("fresh", "i32", 4)[1] = 3
    end })
    world:update(0)
    assert.are.equal(3, world:array("fresh")[1])
    world:query("Position"):each(function() helper.has_error(again, what) end)
    world:defer()
    helper.has_error(again, what)
    world:cancel()
    again()
    assert.are.equal(5, #grid)
  end)
end)

describe("what is written to an array", function()
  it("is not staged", function()
    local world = helper.new_world()
    local grid = world:array("grid", "i32", 2)
    world:defer()
    grid[1] = 5
    assert.are.equal(5, grid[1])
    world:cancel()
    assert.are.equal(5, grid[1])
  end)

  it("is digested, with the place, the type and the length", function()
    local world = helper.new_world()
    local seen = {}
    local function new()
      local digest = world:digest()
      assert.is_nil(seen[digest])
      seen[digest] = true
    end
    new()
    local grid = world:array("grid", "i32", 600)
    new()
    grid[1] = 1
    new()
    grid[1], grid[2] = 0, 1
    new()
    grid[2], grid[600] = 0, 1
    new()
    world:array("grid", "i32", 601)
    new()
    world:array("grid", "u32", 601)
    new()
  end)

  it("is restored from a snapshot; an array that was not there has zeros", function()
    local world = helper.new_world()
    local grid, ids = world:array("grid", "i32", 3), world:array("ids", "entity", 1)
    local e = world:spawn()
    grid:write { 1, 2, 3 }
    ids[1] = e
    local snapshot, digest = world:snapshot(), world:digest()
    grid:fill(9)
    ids[1] = ecs.null
    local late = world:array("late", "i32", 2)
    late:fill(4)
    world:restore(snapshot)
    assert.are.same({ 1, 2, 3 }, grid:read())
    assert.are.equal(e, ids[1])
    assert.are.same({ 0, 0 }, late:read())
    world:undeclare "late"
    assert.are.equal(digest, world:digest())
    local later = world:snapshot()
    world:array("grid", "i32", 4)
    world:restore(later)
    assert.are.same({ 1, 2, 3, 0 }, world:array("grid"):read())
  end)
end)

describe("array:copy", function()
  it("takes the elements of another array, which may be shorter, or itself", function()
    local world = helper.new_world()
    for i, type in ipairs(TYPES) do
      local to = world:array("to_" .. type, type, 5)
      local from = world:array("from_" .. type, type, 3 + i % 3)
      to:fill(1)
      for k = 1, #from do from[k] = k * 2 end
      assert.is_nil(to:copy(from))
      for k = 1, 5 do assert.equal(k <= #from and k * 2 or 1, to[k]) end
      to:copy(to)
      assert.equal(2, to[1])
    end
  end)

  it("takes no array of another type or world, and none that is longer", function()
    local world, other = helper.new_world(), helper.new_world()
    local a, b = world:array("a", "f32", 3), world:array("b", "f64", 3)
    local c = world:array("c", "f32", 4)
    local theirs = other:array("a", "f32", 3)
    a:fill(7)
    local way = "array 'b' (3 of f64) cannot be copied to array 'a' (3 of f32): make them alike"
    helper.has_error(function() a:copy(b) end, way)
    helper.has_error(function() a:copy(c) end, "array 'c' (4 of f32) cannot be copied to")
    helper.has_error(function() a:copy(theirs) end, "the array belongs to another world")
    helper.has_error(function() a:copy { 1, 2 } end, "array expected, got table")
    world:undeclare "b"
    helper.has_error(function() a:copy(b) end, "array 'b' is no longer declared")
    assert.same({ 7.0, 7.0, 7.0 }, list_of(a))
  end)
end)

describe("an image with arrays", function()
  local function full_world()
    local world = helper.new_world()
    local target = world:component("Position", { "x: f32" })
    for i, type in ipairs(TYPES) do
      local array = world:array("a_" .. type, type, 100 + i)
      for j = 1, #array do array[j] = j end
    end
    local truths, ids = world:array("truths", "bool", 9), world:array("ids", "entity", 3)
    truths:write { true, false, true }
    ids[1], ids[2] = world:spawn { Position = { 3 } }, target
    return world
  end

  it("loads into a world that does not know them: they are there, and nobody's", function()
    local world, other = full_world(), helper.new_world()
    local bytes = world:save()
    other:component("Other", { "y: f32" })       -- so that ids of components differ
    other:load(bytes)
    other:undeclare "Other"
    assert.are.equal(world:digest(), other:digest())
    assert.are.same(list_of(world:array "a_i64"), list_of(other:array "a_i64"))
    assert.are.equal(other:describe("Position").id, other:array("ids")[2])
    assert.are.equal(TYPES[1], other:describe("a_f32").type)
    assert.is_true(other:describe("a_f32").orphan)
    assert.are.equal(bytes, other:save())
    other:array("a_f32", "f32", 101)
    assert.is_nil(other:describe("a_f32").orphan)
  end)

  it("loads into arrays of another type and length", function()
    local world, other = full_world(), helper.new_world()
    local shorter, longer = other:array("a_i8", "f64", 3), other:array("a_u16", "u32", 200)
    local kept = other:array("mine", "i32", 2)
    kept:fill(6)
    other:load(world:save())
    assert.are.same({ 1.0, 2.0, 3.0 }, shorter:read())
    assert.are.equal(108, longer[108])
    assert.are.equal(0, longer[109])
    assert.are.same({ 0, 0 }, kept:read())
  end)

  it("is refused, and the world as it was, where an element does not fit", function()
    local world, other = full_world(), helper.new_world()
    local narrow = other:array("a_i32", "u8", 105)
    narrow:fill(7)
    local digest = other:digest()
    other:load(world:save())
    world:array("a_i32")[5] = 256
    helper.has_error(function() other:load(world:save()) end, "cannot migrate 'a_i32': element 5")
    other:undeclare "a_i32"
    other:component("a_i32", { "x: f32" })
    helper.has_error(function() other:load(world:save()) end, "'a_i32' cannot become")
    assert.are_not.equal(digest, other:digest())
  end)
end)
