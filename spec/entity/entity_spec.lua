local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

local world

-- A world with the components that most tests use.
local function setup_world()
  world = helper.new_world()
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Velocity", { "x: f32 = 1", "y: f32 = 2" })
  world:component("Health", { "hp: i32 = 100", "max: i32 = 100" })
  world:tag "Frozen"
end

describe("an entity's name for its id", function()
  it("is an error that says how to get the id", function()
    world = helper.new_world()
    world:component("Link", { "to: entity" })
    local e = world:spawn { Link = {} }
    world:name(e, "player")
    for _, method in ipairs { "despawn", "get", "set", "add", "remove", "has", "read", "components",
      "name", "spawn_at" } do
      helper.has_error(function() world[method](world, "player", "Link", e) end,
        "bad argument #2", "entity id expected, got string",
        "world:lookup('player') returns the id of a name")
    end
    helper.has_error(function() world:despawn "player" end, "bad argument #1 to 'despawn'",
      "lookup")
    helper.has_error(function() world:set(e, "Link.to", "player") end, "'Link.to' is entity",
      "(world:lookup returns the id of a name)")
  end)
end)

describe("spawn", function()
  before_each(setup_world)

  it("C10 makes an entity without components, alive and countable", function()
    local e = world:spawn()
    assert.is_true(world:alive(e))
    assert.are.equal(1, world:count "")
    assert.is_nil(next(helper.map_of(world:components(e))))
    assert.is_true(world:alive(world:spawn {}))
    assert.is_true(world:alive(world:spawn(nil)))
  end)

  it("C58 puts the entity into its final table at once, with values and defaults", function()
    local before = #world:describe().tables
    local e = world:spawn { Position = { x = 1 }, Velocity = { [2] = 7 }, Health = true,
      Frozen = true }
    assert.are.equal(before + 1, #world:describe().tables)
    assert.are.same({ x = 1.0, y = 0.0 }, world:read(e, "Position"))
    assert.are.same({ x = 1.0, y = 7.0 }, world:read(e, "Velocity"))
    assert.are.same({ hp = 100, max = 100 }, world:read(e, "Health"))
    assert.is_true(world:has(e, "Frozen"))
  end)

  it("takes ids for names, and more components than fit its buffers", function()
    local parts = {}
    for i = 1, 100 do
      parts[world:component("C" .. i, { "a: f64", "b: u8[10]", "c: string" })] =
        { i, { i }, "c" .. i }
    end
    local e = world:spawn(parts)
    for i = 1, 100 do
      local a, b, c = world:get(e, "C" .. i)
      assert.are.same({ i, i, "c" .. i }, { a, b[1], c })
    end
  end)

  it("refuses as a whole what it cannot take, naming it", function()
    has_error(function() world:spawn { Position = { x = 1, z = 2 } } end, "'Position'", "'z'")
    has_error(function() world:spawn { Position = { x = "1" } } end, "Position.x", "'1'")
    has_error(function() world:spawn { Position = { 1, 2, 3 } } end, "'Position'", "1 to 2", "3")
    has_error(function() world:spawn { Position = {}, Heath = {} } end, "'Heath'", "'Health'?")
    has_error(function() world:spawn { Position = 5 } end, "'Position'", "got 5")
    has_error(function() world:spawn { Position = false } end, "'Position'", "got false")
    has_error(function() world:spawn { [{}] = {} } end, "a table is not the name or id")
    has_error(function() world:spawn { [1.5] = {} } end, "1.5 is not the name or id")
    has_error(function() world:spawn { [99] = {} } end, "99v0@0")
    has_error(function() world:spawn { [world:spawn()] = {} } end, "an entity, not a component")
    has_error(function() world:spawn { ["Position.x"] = 1 } end, "'Position.x'")
    has_error(function() world:spawn(5) end, "table expected")
    assert.are.equal(1, world:count "")
  end)

  it("C8 C69 finds the same table whatever the order of its components", function()
    local a = world:spawn { Position = {}, Health = {} }
    local tables = #world:describe().tables
    local b = world:spawn { Health = {} }
    world:add(b, "Position")
    local c = world:spawn()
    world:add(c, "Health")
    world:add(c, "Position")
    assert.are.equal(3, world:count "Position, Health")
    assert.is_true(#world:describe().tables <= tables + 2)
    assert.is_true(world:alive(a))
  end)

  it("does not go by what it knew of a world that another was loaded over", function()
    world:spawn { Velocity = true, Health = true }
    world:spawn { Position = true, Health = true }
    local image = world:save()
    setup_world()
    for _ = 1, 2 do
      world:spawn { Position = true, Health = true }
      world:spawn { Velocity = true }
      world:load(image)
      local e = world:spawn { Position = true, Health = true }
      assert.is_true(world:has(e, "Position"))
      assert.is_false(world:has(e, "Velocity"))
      assert.are.equal(2, world:count "Position")
    end
  end)
end)

describe("spawn_many", function()
  before_each(setup_world)

  it("gives every entity the values and returns the ids", function()
    local ids = world:spawn_many(1000, { Position = { y = 3 }, Frozen = true })
    assert.are.equal(1000, #ids)
    assert.are.equal(1000, world:count "Position, Frozen")
    for _, e in ipairs(ids) do
      assert.are.same({ 0.0, 3.0 }, { world:get(e, "Position") })
    end
    world:set(ids[500], "Position", 9)
    assert.are.equal(0.0, (world:get(ids[501], "Position")))
  end)

  it("takes more components than the world remembers of a spawn", function()
    local parts = {}
    for i = 1, 20 do
      parts[world:component("C" .. i, { "a: f64" })] = { i }
    end
    local ids = world:spawn_many(5, parts)
    for i = 1, 20 do
      assert.are.equal(i + 0.0, (world:get(ids[5], "C" .. i)))
    end
  end)

  it("takes no components, and no entities", function()
    assert.are.equal(3, #world:spawn_many(3))
    assert.are.same({}, world:spawn_many(0, { Position = {} }))
    assert.are.equal(3, world:count "")
  end)

  it("refuses what is no number of entities", function()
    for _, count in ipairs { -1, 1.5, 0 / 0, math.mininteger, 2 ^ 63, 1 << 28 } do
      has_error(function() world:spawn_many(count) end, "#1", "number of entities")
    end
    has_error(function() world:spawn_many "3" end, "number of entities expected, got string")
    has_error(function() world:spawn_many() end, "number of entities expected")
    has_error(function() world:spawn_many(2, 5) end, "table expected")
    has_error(function() world:spawn_many(2, { Position = { z = 1 } }) end, "'z'")
    assert.are.equal(0, world:count "")
  end)
end)

describe("set", function()
  before_each(setup_world)

  it("takes values in field order; fewer leave the rest", function()
    local e = world:spawn { Position = { 1, 2 } }
    world:set(e, "Position", 5)
    assert.are.same({ 5.0, 2.0 }, { world:get(e, "Position") })
    world:set(e, "Position", 6, 7)
    assert.are.same({ 6.0, 7.0 }, { world:get(e, "Position") })
  end)

  it("takes a table of fields by name or position; the others keep their value", function()
    local e = world:spawn { Position = { 1, 2 } }
    world:set(e, "Position", { y = 9 })
    assert.are.same({ 1.0, 9.0 }, { world:get(e, "Position") })
    world:set(e, "Position", { 8 })
    assert.are.same({ 8.0, 9.0 }, { world:get(e, "Position") })
    world:set(e, "Position", {})
    assert.are.same({ 8.0, 9.0 }, { world:get(e, "Position") })
  end)

  it("takes a single field", function()
    local e = world:spawn { Position = { 1, 2 } }
    world:set(e, "Position.y", 3)
    assert.are.same({ 1.0, 3.0 }, { world:get(e, "Position") })
  end)

  it("C15 adds the component when it is absent, with defaults for the rest", function()
    local e = world:spawn()
    world:set(e, "Velocity", 5)
    assert.are.same({ 5.0, 2.0 }, { world:get(e, "Velocity") })
    local f = world:spawn()
    world:set(f, "Velocity.y", 6)
    assert.are.same({ 1.0, 6.0 }, { world:get(f, "Velocity") })
    local g = world:spawn()
    world:set(g, "Velocity", { y = 7 })
    assert.are.same({ 1.0, 7.0 }, { world:get(g, "Velocity") })
  end)

  it("C15 updates in place: the entity does not move", function()
    local a = world:spawn { Position = {} }
    local b = world:spawn { Position = {} }
    local query = world:query "Position"
    world:set(a, "Position", 1, 1)
    world:set(a, "Position.x", 2)
    assert.are.same({ a, b }, helper.ids_of(query))
  end)

  it("C2 C21 refuses too many, too few and wrong values, naming them", function()
    local e = world:spawn()
    has_error(function() world:set(e, "Position", 1, 2, 3) end, "'Position' has 2 fields, got 3")
    has_error(function() world:set(e, "Position") end, "#3", "value expected")
    has_error(function() world:set(e, "Position.x") end, "#3", "one value expected")
    has_error(function() world:set(e, "Position.x", 1, 2) end, "#4", "one value expected")
    has_error(function() world:set(e, "Position", 1, nil) end, "Position.y", "got nil")
    has_error(function() world:set(e, "Position.x", {}) end, "Position.x", "got a table")
    has_error(function() world:set(e, "Position.z", 1) end, "'Position' has no field 'z'")
    has_error(function() world:set(e, "Postion", 1) end, "'Postion'", "'Position'?")
    has_error(function() world:set(e) end, "component name or id expected, got no value")
    has_error(function() world:set() end, "entity id expected")
    has_error(function() world:set(e, {}, 1) end, "component name or id expected, got table")
    assert.is_false(world:has(e, "Position"))
  end)

  it("names the line of the script in its message", function()
    local message = has_error(function() world:set(world:spawn(), "Position", "a") end)
    assert.is_truthy(message:find("entity_spec.lua:%d+: field 'Position.x'"), message)
  end)
end)

describe("get", function()
  before_each(setup_world)

  it("gives the values in field order, C19 and none where the component is absent", function()
    local e = world:spawn { Position = { 1, 2 } }
    assert.are.same({ 1.0, 2.0, n = 2 }, table.pack(world:get(e, "Position")))
    assert.are.same({ 2.0, n = 1 }, table.pack(world:get(e, "Position.y")))
    assert.are.equal(0, select("#", world:get(e, "Velocity")))
    assert.are.equal(0, select("#", world:get(e, "Velocity.x")))
  end)

  it("gives more fields than fit its fast path", function()
    local fields, values = {}, {}
    for i = 1, 300 do
      fields[i], values[i] = ("f%d: %s"):format(i, i % 2 == 0 and "i64" or "string"), i
      values[i] = i % 2 == 0 and i or tostring(i)
    end
    world:component("Many", fields)
    local e = world:spawn { Many = values }
    assert.are.same(values, { world:get(e, "Many") })
    world:set(e, "Many", table.unpack(values, 1, 100))
    assert.are.same(values, { world:get(e, "Many") })
  end)

  it("C14 follows an entity through any number of moves", function()
    local e = world:spawn { Position = { 1, 2 } }
    for i = 1, 50 do
      world:spawn { Position = { i, i } }
      world:add(e, i % 2 == 0 and "Health" or "Velocity")
      world:remove(e, i % 2 == 0 and "Velocity" or "Health")
      assert.are.same({ 1.0, 2.0 }, { world:get(e, "Position") })
    end
  end)
end)

describe("read", function()
  before_each(setup_world)

  it("gives a fresh table, nil where the component is absent", function()
    local e = world:spawn { Position = { 1, 2 } }
    local one, two = world:read(e, "Position"), world:read(e, "Position")
    assert.are.same({ x = 1.0, y = 2.0 }, one)
    assert.are_not.equal(one, two)
    assert.are.same({ nil, n = 1 }, table.pack(world:read(e, "Health")))
    has_error(function() world:read(e, "Position.x") end, "component expected", "Position.x")
  end)
end)

describe("add and remove", function()
  before_each(setup_world)

  it("C16 keep the values of the other components", function()
    local e = world:spawn { Position = { 1, 2 } }
    world:add(e, "Health")
    assert.are.same({ 1.0, 2.0 }, { world:get(e, "Position") })
    assert.are.same({ 100, 100 }, { world:get(e, "Health") })
    world:remove(e, "Health")
    assert.are.same({ 1.0, 2.0 }, { world:get(e, "Position") })
    assert.is_false(world:has(e, "Health"))
  end)

  it("have no effect on what is there, and is not there, already", function()
    local e = world:spawn { Health = { 5 } }
    world:add(e, "Health")
    assert.are.equal(5, (world:get(e, "Health")))
    world:remove(e, "Position")
    assert.is_false(world:has(e, "Position"))
  end)

  it("C17 leave the entity that fills the gap with its own data", function()
    local ids = {}
    for i = 1, 10 do
      ids[i] = world:spawn { Position = { i, -i } }
    end
    world:remove(ids[3], "Position")
    world:despawn(ids[1])
    for i = 2, 10 do
      if i ~= 3 then
        assert.are.same({ i, -i }, { world:get(ids[i], "Position") })
      end
    end
  end)

  it("C12 never show what a column held before", function()
    local a = world:spawn { Position = { 77, 77 } }
    world:despawn(a)
    local b = world:spawn { Position = {} }
    assert.are.same({ 0.0, 0.0 }, { world:get(b, "Position") })
    world:set(b, "Position", 88, 88)
    world:remove(b, "Position")
    world:add(b, "Position")
    assert.are.same({ 0.0, 0.0 }, { world:get(b, "Position") })
  end)

  it("take one component", function()
    local e = world:spawn()
    has_error(function() world:add(e, "Position", "Health") end, "#3", "one component")
    has_error(function() world:remove(e, "Position", {}) end, "#3", "one component")
    has_error(function() world:remove(e, "Position", 1) end, "'Position' is not a relation")
    has_error(function() world:add(e) end, "component name or id expected")
    has_error(function() world:add(e, "Position.x") end, "component expected", "Position.x")
    has_error(function() world:has(e, "Position.x") end, "component expected")
    assert.are.equal(0, world:count "Position")
  end)

  it("C20 despawn takes an entity and all it has", function()
    local e = world:spawn { Position = {}, Frozen = true }
    world:despawn(e)
    assert.is_false(world:alive(e))
    assert.are.equal(0, world:count "Position")
    assert.are.equal(0, world:count "")
  end)
end)

describe("components", function()
  before_each(setup_world)

  it("C25 goes through an entity's components in the order of their ids", function()
    local e = world:spawn { Frozen = true, Health = { 7 }, Position = { 1, 2 } }
    local names, values = {}, {}
    for name, value in world:components(e) do
      names[#names + 1], values[name] = name, value
    end
    assert.are.same({ "Position", "Health", "Frozen" }, names)
    assert.are.same({ Position = { x = 1.0, y = 2.0 }, Health = { hp = 7, max = 100 },
      Frozen = true }, values)
  end)

  it("may change the entity while it goes", function()
    local e = world:spawn { Position = {}, Velocity = {}, Health = {} }
    local names = {}
    for name in world:components(e) do
      names[#names + 1] = name
      world:remove(e, name)
    end
    assert.are.same({ "Position", "Velocity", "Health" }, names)
    assert.is_nil(next(helper.map_of(world:components(e))))
  end)

  it("is an error once the entity is dead, or the world closed", function()
    local e = world:spawn { Position = {}, Velocity = {} }
    local step = world:components(e)
    step()
    world:despawn(e)
    has_error(step, "is dead")
    local other = require("ecs").world()
    local next_one = other:components(other:spawn())
    other:close()
    has_error(next_one, "the world is closed")
  end)

  it("C13 carries what scripts declare through every move, whatever its type", function()
    world:component("All", { "a: i8", "b: u16", "c: i64", "d: f64", "e: string", "f: any",
      "g: bool", "h: entity", "i: enum(x, y)", "j: Position[2]" })
    local e = world:spawn()
    world:set(e, "All", -1, 2, -3, 4.5, "five", print, true, e, "y", { { 1 }, { y = 2 } })
    local before = world:read(e, "All")
    for _ = 1, 3 do
      world:spawn { All = true }
      world:add(e, "Health")
      world:add(e, "Frozen")
      world:remove(e, "Health")
    end
    assert.are.same(before, world:read(e, "All"))
    assert.are.equal("five", before.e)
  end)
end)

describe("defer", function()
  before_each(setup_world)

  it("C86 keeps structural changes until commit, which applies them in order", function()
    local e = world:spawn { Position = { 1, 2 } }
    world:defer()
    world:add(e, "Health")
    world:set(e, "Velocity", 3)
    world:remove(e, "Position")
    local new = world:spawn { Position = { 5, 6 } }
    assert.is_true(world:alive(new))
    assert.is_false(world:has(e, "Health"))
    assert.is_false(world:has(new, "Position"))
    assert.are.same({ 1.0, 2.0 }, { world:get(e, "Position") })
    world:set(e, "Position", 8)
    world:set(new, "Position.x", 9)
    world:commit()
    assert.are.same({ 100, 100 }, { world:get(e, "Health") })
    assert.are.same({ 3.0, 2.0 }, { world:get(e, "Velocity") })
    assert.are.same({ 9.0, 6.0 }, { world:get(new, "Position") })
    assert.are.same({ 8.0, 0.0 }, { world:get(e, "Position") })
  end)

  it("writes at once to fields that exist, unless the component is staged", function()
    local e = world:spawn { Position = { 1, 2 } }
    world:defer()
    world:set(e, "Position", 5)
    assert.are.equal(5.0, (world:get(e, "Position")))
    world:add(e, "Position")
    world:set(e, "Position", 6)
    world:set(e, "Position.y", 7)
    world:set(e, "Position", { y = 8 })
    assert.are.same({ 5.0, 2.0 }, { world:get(e, "Position") })
    world:commit()
    assert.are.same({ 6.0, 8.0 }, { world:get(e, "Position") })
  end)

  it("drops everything at cancel, and the ids spawned in it are dead", function()
    local e = world:spawn { Position = { 1, 2 } }
    world:defer()
    world:add(e, "Health")
    world:despawn(e)
    local new = world:spawn { Position = {} }
    local many = world:spawn_many(3, { Position = {} })
    world:cancel()
    assert.is_false(world:has(e, "Health"))
    assert.is_true(world:alive(e))
    assert.is_false(world:alive(new))
    assert.is_false(world:alive(many[3]))
    has_error(function() world:get(new, "Position") end, "is dead")
  end)

  it("nests: what an inner scope commits waits for the outer one", function()
    local e = world:spawn()
    world:defer()
    world:defer()
    world:add(e, "Health")
    world:commit()
    assert.is_false(world:has(e, "Health"))
    world:defer()
    world:add(e, "Position")
    world:cancel()
    world:commit()
    assert.is_true(world:has(e, "Health"))
    assert.is_false(world:has(e, "Position"))
  end)

  it("applies nothing to an entity that has died meanwhile", function()
    local e = world:spawn()
    world:defer()
    world:despawn(e)
    world:add(e, "Health")
    world:commit()
    assert.is_false(world:alive(e))
    assert.are.equal(0, world:count "Health")
  end)

  it("is needed for commit and cancel", function()
    has_error(function() world:commit() end, "without a defer")
    has_error(function() world:cancel() end, "without a defer")
    world:defer()
    world:commit()
    has_error(function() world:commit() end, "without a defer")
  end)
end)
