local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

local function make()
  local world = helper.new_world()
  world:component("A", { "x: f32", "s: string" })
  world:component("B", { "e: entity" })
  world:tag "T"
  world:resource("R", { "n: i32", "s: string = r" })
  return world
end

describe("a snapshot", function()
  it("brings back more after it has brought back less", function()
    local world = make()
    local few = world:snapshot()
    world:spawn_many(5000, { A = { x = 1 } })
    local many, digest = world:snapshot(), world:digest()
    world:restore(few)
    assert.are.equal(0, world:describe().entities)
    world:restore(many)
    assert.are.equal(digest, world:digest())
    helper.check(world)
  end)

  it("brings back everything, as often as wanted", function()
    local world = make()
    local ids = world:spawn_many(50, { A = { x = 1, s = "one" } })
    world:name(ids[3], "three")
    world:set(ids[4], "B", ids[3])
    local snapshot = world:snapshot()
    local digest, bytes = world:digest(), world:save()
    for round = 1, 3 do
      for i = 1, 50, round + 1 do
        world:despawn(ids[i])
      end
      for i = 1, 300 do
        world:spawn { A = { s = "text " .. round .. " " .. i }, T = true }
      end
      world:set(ids[50], "A", { s = "changed" .. round })
      world:res("R").n = round
      world:res("R").s = "changed" .. round
      world:update(0)
      assert.are_not.equal(digest, world:digest())
      world:restore(snapshot)
      assert.are.equal(digest, world:digest())
      assert.are.equal(bytes, world:save())
      assert.are.equal(ids[3], world:lookup "three")
      assert.are.equal("one", (world:get(ids[50], "A.s")))
      helper.check(world)
    end
  end)

  it("is gone on from exactly as from a save, also when tables have come and gone", function()
    local function run(world, rounds)
      for _ = 1, rounds do
        world:update(0.1)
      end
      return world:save()
    end
    local world = make()
    world:system("spawn", { every = 0.25, run = function(w)
      w:spawn { A = { x = 1 }, T = true }
    end })
    world:system("grow", { query = "A", each = function(a, dt) a.x = a.x + dt end })
    world:system("move", { query = "A, T", each = function(a, _, e)
      if a.x > 1.5 then
        world:remove(e, "T")
        world:add(e, "B")
      end
    end })
    world:system("die", { query = "A, B", each = function(a, _, _, e)
      if a.x > 2 then world:despawn(e) end
    end })
    run(world, 7)
    local snapshot = world:snapshot()
    local first = run(world, 40)
    world:restore(snapshot)
    assert.are.equal(first, run(world, 40))
    world:spawn { B = {} }
    run(world, 5)
    world:restore(snapshot)
    assert.are.equal(first, run(world, 40))
  end)

  it("adds nothing to images", function()
    local world = make()
    local e = world:spawn { A = { s = "once" } }
    local snapshot = world:snapshot()
    world:set(e, "A", { s = "now" })
    local bytes = world:save()
    assert.is_nil(bytes:find("once", 1, true))
    world:restore(snapshot)
    assert.are.equal("once", (world:get(e, "A.s")))
  end)

  it("leaves alone what was declared since", function()
    local world = make()
    local e = world:spawn { A = {} }
    local snapshot = world:snapshot()
    local id = world:component("Late", { "x: f32" })
    world:resource("Later", { "x: f32 = 5" })
    world:res("Later").x = 6
    world:add(e, "Late")
    world:set(id, "A", 1)
    world:restore(snapshot)
    assert.is_false(world:has(e, "Late"))
    assert.is_false(world:has(id, "A"))
    assert.are.equal(5.0, world:res("Later").x)
    world:spawn { Late = { x = 2 } }
    helper.check(world)
  end)

  it("is refused in another world, and when one has been loaded since", function()
    local world, other = make(), make()
    local snapshot = world:snapshot()
    has_error(function() other:restore(snapshot) end, "another world")
    has_error(function() world:restore {} end, "snapshot expected")
    world:load(world:save())
    has_error(function() world:restore(snapshot) end, "loaded")
  end)

  it("refuses `any` values, naming the component", function()
    local world = make()
    world:component("Data", { "v: any" })
    local e = world:spawn { Data = {} }
    local snapshot = world:snapshot()
    world:set(e, "Data", { v = { 1 } })
    has_error(function() world:snapshot() end, "'Data'", "any")
    world:restore(snapshot)
    assert.is_nil(world:read(e, "Data").v)
  end)

  it("is an error in systems, forms and defer; open loops are ended", function()
    local world = make()
    world:spawn_many(3, { A = {} })
    local q, snapshot = world:query "A", world:snapshot()
    local next_row, handle = q:each()
    next_row(handle, nil)
    world:restore(snapshot)
    has_error(function() q:each(function() world:restore(snapshot) end) end, "not possible")
    world:defer()
    has_error(function() world:snapshot() end, "not possible")
    world:cancel()
  end)

  it("is none any more once the collector has freed it, also to finalizers that still have it",
    function()
      local world = helper.new_world()
      local said
      -- What is made later is finalized first.
      local holder = setmetatable({}, { __gc = function(self)
        said = select(2, pcall(world.restore, world, self.snapshot))
      end })
      holder.snapshot = world:snapshot()
      holder = nil -- luacheck: ignore
      collectgarbage()
      assert.is_truthy(said:find("bad argument #2 to 'restore'", 1, true) or
        said:find("another world", 1, true), said)
      helper.check(world)
    end)

  it("outlives its world without harm", function()
    local world = make()
    local snapshot = world:snapshot()
    world:close()
    has_error(function() world:restore(snapshot) end, "closed")
    snapshot = nil -- luacheck: ignore
    collectgarbage()
  end)
end)

-- As an image does, a snapshot comes back into what is declared then.
describe("a snapshot of components that have changed since", function()
  local MIGRATIONS = {
    { "a field more", function(w) w:component("P", { "x: f32", "y: f32 = 8" }) end, { 3.0, 8.0 } },
    { "another type", function(w) w:component("P", { "x: f64" }) end, { 3.0 } },
    { "another name", function(w) w:component("P", { "z: f32", was = { z = "x" } }) end, { 3.0 } },
    { "another storage", function(w) w:component("P", { "x: f32", storage = "sparse" }) end,
      { 3.0 } },
    { "another length", function(w) w:array("Grid", "i32", 3) end, { 3.0 } },
    { "a tag more", function(w) w:component("P", { "x: f32", requires = { "T" } }) end, { 3.0 } },
    { "a change that is taken back", function(w)
      w:component("P", { "x: f32", "y: f32" })
      w:component("P", { "x: f32" })
    end, { 3.0 } },
    { "a type in between that it does not fit", function(w)
      w:component("P", { "x: u8" })
      w:component("P", { "x: f32" })
    end, { 3.0 }, 300 },
    { "two names", function(w)
      w:component("P", { "z: f32", was = { z = "x" } })
      w:component("P", { "a: i32 = 1", "y: f32", was = { y = "z" } })
    end, { 1, 3.0 } },
    { "a name that another field has now", function(w)
      w:component("P", { "z: f32", was = { z = "x" } })
      w:component("P", { "z: f32 = 2", "x: f32 = 1" })
    end, { 3.0, 1.0 } },
    { "a name that is no longer said", function(w)
      w:component("P", { "z: f32", was = { z = "x" } })
      w:component("P", { "z: f32" })
    end, { 3.0 } },
    { "a name in another field's stead", function(w)
      w:component("P", { "z: f32", "y: f32 = 1", was = { z = "x" } })
      w:component("P", { "z: f32", "x: f32 = 1", was = { x = "y" } })
      w:component("P", { "x: f32", was = { x = "z" } })
    end, { 3.0 } },
    { "a field of a part with two names", function(w)
      w:component("Part", { "b: i32", was = { b = "a" } })
      w:component("Part", { "c: i64", was = { c = "b" } })
    end, { 3.0 } },
  }

  it("is restored as an image is loaded, as often as wanted", function()
    for _, case in ipairs(MIGRATIONS) do
      local name, migrate, expected, now = table.unpack(case)
      local world = helper.new_world()
      world:tag "T"
      world:component("P", { "x: f32" })
      world:component("Part", { "a: i32" })
      world:component("Whole", { "s: string = none", "parts: Part[2]", "e: entity" })
      world:array("Grid", "i32", 4)
      local e, other = world:spawn { P = { 3 } }, world:spawn {}
      world:set(e, "Whole", { s = "text", parts = { { 1 }, { 7 } }, e = other })
      world:name(other, "other")
      world:array("Grid")[2] = 5
      local snapshot = world:snapshot()
      world:set(e, "P.x", (now or 4) % 256)
      world:despawn(other)
      world:array("Grid")[2] = 6
      migrate(world)
      world:set(e, "P." .. world:describe("P").fields[1].name, 9)
      local later, digest = world:snapshot(), nil
      for _ = 1, 3 do
        world:spawn { P = { 1 } }
        for i = 1, 100 do world:spawn { Whole = { s = "text " .. i } } end
        world:restore(snapshot)
        digest = digest or world:digest()
        assert.are.equal(digest, world:digest(), name)
        assert.are.same(expected, { world:get(e, "P") }, name)
        local whole = world:read(e, "Whole")
        assert.are.equal("text", whole.s)
        assert.are.equal(other, whole.e)
        assert.are.equal(7, whole.parts[2].a or whole.parts[2].c)
        assert.are.equal(other, world:lookup "other")
        assert.are.equal(5, world:array("Grid")[2])
        assert.are.equal(1, world:count "P", name)
        helper.check(world)
        world:restore(later)
        assert.is_nil(world:lookup "other")
        helper.check(world)
      end
    end
  end)

  it("follows two fields that have exchanged their names", function()
    local world = helper.new_world()
    world:component("P", { "a: i32", "b: i32" })
    local e = world:spawn { P = { 1, 2 } }
    local snapshot = world:snapshot()
    world:component("P", { "t: i32", "b: i32", was = { t = "a" } })
    world:component("P", { "a: i32", "t: i32", was = { a = "b" } })
    world:component("P", { "a: i32", "b: i32", was = { b = "t" } })
    world:restore(snapshot)
    assert.are.same({ 2, 1 }, { world:get(e, "P") })
    helper.check(world)
  end)

  it("brings back ties, events, resources, prefabs, and what has changed when", function()
    local world = helper.new_world()
    world:component("P", { "x: f32", track = true })
    world:relation("Likes", { "much: f32" })
    world:relation("Owner", { exclusive = true })
    world:event("Hit", { "amount: f32" })
    world:resource("R", { "n: i32" })
    world:prefab("Orc", { P = { 5 } }, { children = { { "axe", { P = { 6 } } } } })
    local a, b, c = world:spawn { P = { 1 } }, world:spawn {}, world:instantiate "Orc"
    world:set(a, "Likes", b, 2)
    world:set(a, "Likes", c, 3)
    world:set(c, "Owner", a)
    world:set(b, "ChildOf", c)
    world:emit("Hit", 4)
    world:after(1, "Hit", 5)
    world:res("R").n = 6
    local news = world:query "P:changed"
    for _ in news:each() do end
    world:set(a, "P", 2)
    local snapshot, count = world:snapshot(), world:describe().entities
    world:despawn(c)
    world:update(2)
    world:component("P", { "x: f64", "y: i32", track = true })
    world:relation("Likes", { "very: f64", was = { very = "much" } })
    world:relation("Owner", {})
    world:event("Hit", { "amount: f64" })
    world:resource("R", { "n: i64", "m: i32 = 1" })
    world:restore(snapshot)
    assert.are.equal(count, world:describe().entities)
    assert.are.same({ 2.0, 3.0 }, { world:get(a, "Likes.very", b), world:get(a, "Likes.very", c) })
    assert.are.equal(a, world:target(c, "Owner"))
    assert.are.equal(c, world:target(b, "ChildOf"))
    assert.are.equal(6, world:res("R").n)
    assert.are.equal(4.0, world:query("Hit"):sum(function(hit) return hit.amount end))
    world:update(1)
    assert.are.equal(9.0, world:query("Hit"):sum(function(hit) return hit.amount end))
    assert.are.equal(5.0, (world:get(world:instantiate "Orc", "P.x")))
    helper.check(world)
  end)

  it("leaves room for all that later snapshots have", function()
    local world = helper.new_world()
    world:component("P", { "x: f32" })
    world:component("Few", { "n: i32", storage = "sparse" })
    world:relation("Owner", { exclusive = true })
    local older = world:snapshot()
    world:component("P", { "x: f64" })
    local ids = world:spawn_many(3000, { P = {}, Few = {} })
    for i = 2, 3000 do world:set(ids[i], "Owner", ids[i - 1]) end
    local later, digest = world:snapshot(), world:digest()
    for _ = 1, 2 do
      world:restore(older)
      assert.are.equal(0, world:describe().entities)
      world:restore(later)
      assert.are.equal(digest, world:digest())
      helper.check(world)
    end
  end)

  it("is refused whole where a value has no place, or a component is undeclared", function()
    local world = helper.new_world()
    world:component("P", { "x: f32" })
    world:component("Q", { "n: i32" })
    local e = world:spawn { P = { 300 } }
    local snapshot = world:snapshot()
    local function refuses(...)
      local digest, bytes = world:digest(), world:save()
      for _ = 1, 2 do has_error(function() world:restore(snapshot) end, ...) end
      assert.are.equal(digest, world:digest())
      assert(bytes == world:save())
      helper.check(world)
    end
    world:set(e, "P.x", 3)
    world:component("P", { "x: u8" })
    refuses("'P'", "x = 300")
    world:component("P", { "x: f32" })
    world:undeclare "Q"
    refuses "component 'Q' has been undeclared since the snapshot"
  end)

  it("is restored after a live reload that migrates", function()
    local files = require("spec.support.scratch").new()
    files:write("a.lua", 'local w = ...; w:component("P", { "x: f32" })')
    local world = helper.new_world()
    local session = require("ecs.live").open(world, { files.path })
    local e = world:spawn { P = { 3 } }
    local snapshot = world:snapshot()
    files:write("a.lua", 'local w = ...; w:component("P", { "new: i32 = 5", "x: f32" })')
    session:poll(true)
    world:set(e, "P.x", 9)
    world:restore(snapshot)
    assert.are.same({ 5, 3.0 }, { world:get(e, "P") })
    files:close()
  end)
end)

describe("what snapshots do not do", function()
  it("a snapshot while `any` fields have values: refused whole, and an image does it", function()
    local codec = {
      encode = function(value) return value.text end,
      decode = function(text) return { text = text } end,
    }
    local places = {
      Data = function(w) w:spawn { Data = { v = { text = "t" } } } end,
      Few = function(w) w:spawn { Few = { v = { text = "t" } } } end,
      One = function(w) w:res("One").v = { text = "t" } end,
      Heard = function(w) w:emit("Heard", { v = { text = "t" } }) end,
    }
    for name, give in pairs(places) do
      local world = helper.new_world()
      world:component("Data", { "v: any" })
      world:component("Few", { "v: any", storage = "sparse" })
      world:resource("One", { "v: any" })
      world:event("Heard", { "v: any" })
      local empty = world:snapshot()
      give(world)
      local digest, image = world:digest(), world:save { codec = codec }
      for _ = 1, 2 do
        has_error(function() world:snapshot() end, "`any` values of component '" .. name .. "'",
          "set them to nil", "codec")
      end
      assert.are.equal(digest, world:digest())
      helper.check(world)
      world:restore(empty)
      assert.are_not.equal(digest, world:digest())
      world:load(image, { codec = codec })
      assert.are.equal(digest, world:digest())
    end
  end)
end)
