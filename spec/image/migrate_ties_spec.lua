-- Relations declared again as others: one target instead of several, several instead of one,
-- without circles, or a tag that becomes a relation.

local collect = require "spec.support.collect"
local helper = require "spec.support.ecs_helper"

local world, ids

before_each(function()
  world = helper.new_world()
  world:component("Position", { "x: f32" })
  world:tag "Frozen"
  world:relation("Owes", { "amount: i32 = 3", "note: string", "what: any" })
  world:relation("DockedTo", { "since: f64 = 2.5", "what: any", exclusive = true })
  ids = world:spawn_many(5, { Position = {} })
end)

local SEVERAL = { "since: f64 = 2.5", "what: any" }
local ONE = { "amount: i32 = 3", "note: string", "what: any", exclusive = true }

describe("an exclusive relation that comes to have several targets", function()
  it("keeps its ties and their values", function()
    local value = {}
    for i = 1, 4 do
      world:set(ids[i], "DockedTo", ids[5 - i], i, i == 2 and value or "item " .. i)
    end
    local id = world:relation("DockedTo", SEVERAL)
    assert.is_false(world:describe("DockedTo").exclusive)
    assert.are.equal(id, world:describe("DockedTo").id)
    for i = 1, 4 do
      assert.are.same({ ids[5 - i] }, collect(world:targets(ids[i], "DockedTo")))
      assert.are.same({ ids[i] }, collect(world:sources(ids[5 - i], "DockedTo")))
      assert.are.equal(i + 0.0, (world:get(ids[i], "DockedTo", ids[5 - i])))
    end
    collectgarbage()
    assert.are.equal(value, (select(2, world:get(ids[2], "DockedTo", ids[3]))))
    world:add(ids[1], "DockedTo", ids[1])
    assert.are.same({ ids[1], ids[4] }, collect(world:targets(ids[1], "DockedTo")))
    world:despawn(ids[4])
    assert.are.same({ ids[1] }, collect(world:targets(ids[1], "DockedTo")))
  end)

  it("is migrated with other fields at once", function()
    world:set(ids[1], "DockedTo", ids[2], 7)
    world:relation("DockedTo", { "more: i8 = 4", "since: f32", requires = { "Frozen" } })
    assert.are.same({ 4, 7.0 }, { world:get(ids[1], "DockedTo", ids[2]) })
    assert.is_true(world:has(ids[1], "Frozen"))
  end)

  it("is found by queries that ask for ties; those that take its view are no good", function()
    world:add(ids[1], "DockedTo", ids[2])
    local any, to = world:query "(DockedTo, *)", world:query("(DockedTo, $p)", { p = ids[2] })
    local none, view = world:query "!(DockedTo, *), Position", world:query "DockedTo"
    local path = world:query "DockedTo->Position"
    local plain = world:query "Position"
    world:relation("DockedTo", SEVERAL)
    world:add(ids[1], "DockedTo", ids[3])
    assert.are.same({ 2, 1, 4, 5 }, { any:count(), to:count(), none:count(), plain:count() })
    helper.has_error(function() view:count() end, "query")
    helper.has_error(function() path:count() end, "query")
    world:remove(ids[1], "DockedTo", ids[2])
    world:relation("DockedTo", { exclusive = true })
    assert.are.same({ 1, 0, 4 }, { any:count(), to:count(), none:count() })
  end)
end)

describe("a relation of several targets that comes to have one", function()
  it("keeps its ties and their values, sources in query order", function()
    local value = {}
    for i = 1, 4 do
      world:set(ids[i], "Owes", ids[5], i * 10, "note " .. i, i == 3 and value or nil)
    end
    world:relation("Owes", ONE)
    collectgarbage()
    assert.are.same({ ids[5], 30, "note 3" }, { table.unpack({ world:get(ids[3], "Owes") }, 1, 3) })
    assert.are.equal(value, (select(4, world:get(ids[3], "Owes"))))
    assert.are.same({ ids[1], ids[2], ids[3], ids[4] }, collect(world:sources(ids[5], "Owes")))
    world:add(ids[1], "Owes", ids[2])
    assert.are.same({ ids[2], 10 }, { table.unpack({ world:get(ids[1], "Owes") }, 1, 2) })
    world:despawn(ids[5])
    assert.are.same({}, collect(world:targets(ids[3], "Owes")))
  end)

  it("is refused while an entity is tied to two, whom the error names", function()
    world:name(ids[1], "bob")
    world:add(ids[1], "Owes", ids[2])
    world:add(ids[1], "Owes", ids[3])
    local digest = world:digest()
    helper.has_error(function() world:relation("Owes", ONE) end,
      "'Owes' cannot become exclusive: entity 65536v0@")
    helper.has_error(function() world:relation("Owes", ONE) end,
      " 'bob' is tied to 65537v0@")
    assert.are.equal(digest, world:digest())
    world:remove(ids[1], "Owes", ids[2])
    world:relation("Owes", ONE)
    assert.are.equal(ids[3], world:target(ids[1], "Owes"))
  end)

  it("is refused as an acyclic one while ties go in a circle, which the error prints", function()
    world:add(ids[1], "Owes", ids[2])
    world:add(ids[2], "Owes", ids[3])
    world:add(ids[3], "Owes", ids[2])
    local acyclic = { "amount: i32 = 3", "note: string", "what: any", exclusive = true,
      acyclic = true }
    local digest = world:digest()
    helper.has_error(function() world:relation("Owes", acyclic) end, "form a cycle: 65537v0@")
    assert.are.equal(digest, world:digest())
    world:remove(ids[3], "Owes")
    world:relation("Owes", acyclic)
    helper.has_error(function() world:add(ids[3], "Owes", ids[1]) end, "would form a cycle")
  end)
end)

describe("a tag", function()
  it("becomes a relation when nobody has it", function()
    world:add(ids[1], "Frozen")
    helper.has_error(function() world:relation "Frozen" end, "while entity 65536v0@")
    world:remove(ids[1], "Frozen")
    local id = world:describe("Frozen").id
    assert.are.equal(id, (world:relation "Frozen"))
    world:add(ids[1], "Frozen", ids[2])
    world:add(ids[1], "Frozen", ids[3])
    assert.are.same({ ids[2], ids[3] }, collect(world:targets(ids[1], "Frozen")))
    world:component("Kept", { storage = "sparse" })
    world:add(ids[4], "Kept")
    helper.has_error(function() world:relation "Kept" end, "while entity 65539v0@")
    world:remove(ids[4], "Kept")
    world:relation("Kept", { exclusive = true })
    world:add(ids[4], "Kept", ids[5])
    assert.are.same({ ids[4] }, collect(world:sources(ids[5], "Kept")))
  end)

  it("does not while another component requires it", function()
    world:component("Cold", { requires = { "Frozen" } })
    helper.has_error(function() world:relation "Frozen" end, "while 'Cold' requires it")
  end)
end)

describe("an image", function()
  it("is loaded into a world whose relations have other kinds", function()
    world:add(ids[1], "Owes", ids[2])
    world:set(ids[1], "DockedTo", ids[3], 4)
    local image, other = world:save(), helper.new_world()
    other:relation("Owes", ONE)
    other:relation("DockedTo", SEVERAL)
    other:load(image)
    assert.are.equal(ids[2], (other:get(ids[1], "Owes")))
    assert.are.same({ 4.0 }, { other:get(ids[1], "DockedTo", ids[3]) })
    world:add(ids[1], "Owes", ids[4])
    helper.has_error(function() other:load(world:save()) end, "is tied to")
    assert.is_true(other:check())
  end)
end)
