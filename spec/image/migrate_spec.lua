local helper = require "spec.support.ecs_helper"
local ecs = require "ecs"

local has_error = helper.has_error

describe("a component declared with other fields", function()
  local world, ids

  before_each(function()
    world = helper.new_world()
    world:component("P", { "x: f32", "y: f32 = 2", "kind: enum(red, green, blue)" })
    world:tag "T"
    ids = {}
    for i = 1, 20 do
      ids[i] = world:spawn { P = { x = i, kind = i % 2 == 0 and "green" or "red" },
        T = i % 3 == 0 or nil }
    end
  end)

  it("keeps what has the same name, adds defaults and drops the rest", function()
    local id, report = world:component("P", { "x: f32", "z: i32 = 7" })
    assert.are.equal(id, world:component("P", { "x: f32", "z: i32 = 7" }))
    for i, e in ipairs(ids) do
      assert.are.same({ x = i + 0.0, z = 7 }, world:read(e, "P"))
    end
    assert.are.same({ "x" }, report.kept)
    assert.are.same({ "z" }, report.added)
    assert.are.same({ "y", "kind" }, report.dropped)
    assert.are.equal(20, report.rows)
  end)

  it("returns no report when nothing changes", function()
    local results = table.pack(world:component("P",
      { "x: f32", "y: f32 = 2", "kind: enum(red, green, blue)" }))
    assert.are.equal(1, results.n)
  end)

  it("follows a rename that `was` tells, and suspects the others", function()
    local _, report = world:component("P",
      { "left: f32", "top: f32", "kind: enum(red, green, blue)", was = { left = "x" } })
    assert.are.equal(3.0, (world:get(ids[3], "P.left")))
    assert.are.equal(0.0, (world:get(ids[3], "P.top")))
    assert.are.same({ left = "x" }, report.renamed)
    assert.are.same({ top = "y" }, report.maybe_renamed)
  end)

  it("knows a field by its own name once its rename is done", function()
    world:component("P", { "left: f32", "y: f32", was = { left = "x" } })
    local _, report = world:component("P", { "left: f64", "y: f32", was = { left = "x" } })
    assert.are.equal(3.0, (world:get(ids[3], "P.left")))
    assert.are.same({ "left" }, report.converted)
    assert.are.same({}, report.dropped)
  end)

  it("converts exactly, enums by name, and says so", function()
    local _, report = world:component("P",
      { "x: i8", "y: f64", "kind: enum(blue, green, red, grey)" })
    assert.are.same({ x = 4, y = 2.0, kind = "green" }, world:read(ids[4], "P"))
    assert.are.equal("f32 -> i8", report.types.x)
    assert.are.same({ "x", "y", "kind" }, report.converted)
  end)

  it("is refused with entity, field, value and type when a value does not fit", function()
    world:set(ids[5], "P.x", 300)
    local before = world:digest()
    has_error(function() world:component("P", { "x: i8" }) end, ecs.format(ids[5]), "x = 300",
      "i8", "'P'")
    has_error(function() world:component("P", { "kind: enum(red, blue)" }) end, "'green'",
      ecs.format(ids[2]))
    assert.are.equal(before, world:digest())
    assert.are.same({ x = 300.0, y = 2.0, kind = "red" }, world:read(ids[5], "P"))
  end)

  it("refuses renames that contradict each other", function()
    has_error(function() world:component("P", { "x: f32", "z: f32", was = { z = "x" } }) end,
      "'x' is still a field")
    has_error(function() world:component("P", { "z: f32", was = { q = "x" } }) end, "'q'")
    has_error(function()
      world:component("P", { "a: f32", "b: f32", was = { a = "x", b = "x" } })
    end, "both")
  end)

  it("finds a field by any of its former names, in images of every release", function()
    local function release(...)
      local made = helper.new_world { tag = 1 }
      made:component("P", { ... })
      return made
    end
    local first, second = release "x: f32", release("y: f32", "w: f32")
    local e = first:spawn { P = { 7 } }
    local third = helper.new_world { tag = 1 }
    local fields = { "z: f32", "w: f32", was = { z = { "y", "x" }, w = "v" } }
    third:component("P", fields)
    third:load(first:save())
    assert.are.same({ z = 7.0, w = 0.0 }, third:read(e, "P"))
    second:load(first:save())
    second:set(e, "P", 8, 9)
    third:load(second:save())
    assert.are.same({ z = 8.0, w = 9.0 }, third:read(e, "P"))
    first:component("P", fields)
    assert.are.same({ z = 7.0, w = 0.0 }, first:read(e, "P"))
    has_error(function() third:component("P", { "z: f32", was = { z = "y", y = "x" } }) end,
      "'y' is itself a former name: write z = { \"y\", \"x\" }")
    for _, list in ipairs { { 1 }, { { "y" } }, { y = "x" } } do
      has_error(function() third:component("P", { "z: f32", was = { z = list } }) end, "or a list")
    end
  end)

  it("may keep a rename that has been done, and be declared so at first", function()
    world:component("P", { "left: f32", "y: f32", was = { left = "x" } })
    world:component("P", { "left: f32", "y: f32", "z: f32", was = { left = "x" } })
    assert.are.equal(3.0, (world:get(ids[3], "P.left")))
    world:component("V", { "x: f32" })
    world:component("Q", { "at: V", "b: i32", was = { b = "a" } })
    local e = world:spawn { Q = { b = 5 } }
    world:component("V", { "x: f32", "y: f32" })
    assert.are.equal(5, (world:get(e, "Q.b")))
    has_error(function() world:component("R", { "a: i32", was = { b = "a" } }) end, "'b'")
    has_error(function()
      world:component("R", { "a: i32", "b: i32", was = { b = "a" } })
    end, "'a' is still a field")
  end)

  it("reads the dead as null where an entity becomes something else", function()
    world:component("Link", { "to: entity" })
    local target = world:spawn {}
    local e = world:spawn { Link = { to = target } }
    has_error(function() world:component("Link", { "to: i32" }) end, "cannot migrate 'Link'")
    world:despawn(target)
    world:component("Link", { "to: i32 = 7" })
    assert.are.equal(7, (world:get(e, "Link.to")))
  end)

  it("cannot be made of itself", function()
    has_error(function() world:component("P", { "p: P" }) end, "contain itself")
    has_error(function() world:component("P", { "p: P[2]", "x: f32" }) end, "contain itself")
    world:component("Q", { "p: P[2]" })
    world:component("R", { "q: Q", "p: P" })
    has_error(function() world:component("P", { "r: R", "x: f32" }) end, "contain itself")
    assert.are.equal(3.0, (world:get(ids[3], "P.x")))
  end)

  it("carries components that were declared before what they are made of", function()
    world:component("C", { "n: i32" })
    world:component("B", { "n: i32 = 4" })
    world:component("A", { "n: i32 = 5" })
    world:component("B", { "a: A", "n: i32 = 4" })
    world:component("C", { "b: B", "n: i32" })
    local e = world:spawn { C = { n = 1, b = { a = { n = 9 } } } }
    world:component("A", { "m: f64", "n: i64" })
    assert.are.same({ n = 1, b = { n = 4, a = { m = 0.0, n = 9 } } }, world:read(e, "C"))
  end)

  it("takes a u64 for what it is worth without a sign", function()
    world:component("U", { "u: u64" })
    local e = world:spawn { U = { u = math.maxinteger } }
    local function is(kind, value)
      world:component("U", { "u: " .. kind })
      local got = world:get(e, "U")
      assert.are.equal(value, got)
      assert.are.equal(math.type(value), math.type(got))
    end
    local function is_refused(kind, shown)
      has_error(function() world:component("U", { "u: " .. kind }) end, "cannot migrate 'U'",
        "has u = " .. shown .. ", which is not of type " .. kind)
    end
    is("i64", math.maxinteger)
    is("u64", math.maxinteger)
    is_refused("f64", "9223372036854775807")
    world:set(e, "U", math.mininteger)
    is_refused("i64", "9223372036854775808")
    is_refused("u32", "9223372036854775808")
    is_refused("bool", "9223372036854775808")
    is("f64", 2.0 ^ 63)
    is("f32", 2.0 ^ 63)
    is("u64", math.mininteger)
    world:set(e, "U", -1)
    is_refused("f32", "18446744073709551615")
    world:set(e, "U", 200)
    is("u8", 200)
    is("i64", 200)
    world:set(e, "U", -1)
    is_refused("u64", "-1")
    is("f64", -1.0)
    is_refused("u64", "-1")
    world:set(e, "U", 2.0 ^ 64)
    is_refused("u64", "1.84467441e19")
    world:set(e, "U", 0x1.fffffffffffffp63)
    is("u64", -2048)
  end)

  it("becomes a tag, and a tag gets fields", function()
    world:component("P", {})
    assert.are.equal(20, world:count "P")
    assert.is_true(world:has(ids[1], "P"))
    world:component("T", { "n: i32 = 3" })
    assert.are.equal(3, (world:get(ids[3], "T.n")))
  end)

  it("carries the components that are made of it", function()
    world:component("V", { "x: f32", "y: f32" })
    world:component("Body", { "m: f32", "at: V", "ends: V[2]" })
    local e = world:spawn { Body = { m = 1, at = { x = 2, y = 3 },
      ends = { { x = 4, y = 5 }, { x = 6, y = 7 } } } }
    world:component("V", { "y: f64", "z: f32 = 9" })
    assert.are.same({ m = 1.0, at = { y = 3.0, z = 9.0 },
      ends = { { y = 5.0, z = 9.0 }, { y = 7.0, z = 9.0 } } }, world:read(e, "Body"))
  end)

  it("is followed by queries, names, loops and systems", function()
    local q, single = world:query "P", world:query "P.y"
    assert.are.equal(2.0, (world:get(ids[1], "P.y")))
    world:system("grow", { query = "P", each = function(p) p.y = p.y + 1 end })
    world:system("map", { query = "P.y", map = function(y) return y * 2 end })
    world:component("P", { "new: string = 'n'", "y: f32", "x: f32" })
    assert.are.equal(2.0, (world:get(ids[1], "P.y")))
    local seen = 0
    for p in q:each() do
      assert.are.equal("n", p.new)
      seen = seen + p.x
    end
    assert.are.equal(210.0, seen)
    world:update(0)
    for chunk in single:chunks() do
      assert.are.equal(6.0, chunk:column("P.y")[1])
    end
    world:component("P", { "x: f32" })
    has_error(function() single:count() end, "no longer declared")
    assert.are.equal(20, q:count())
  end)

  it("is refused by maps that named it as a tag, until it is a tag again", function()
    local q = world:query "P.y, T"
    local ran = 0
    world:system("map", { query = "P.y, T", map = function() ran = ran + 1 end })
    world:component("T", { "n: i32" })
    has_error(function() q:map(function() end) end, "map takes single fields", "'T'")
    has_error(function() world:update(0) end, "map takes single fields", "'map'")
    world:component("T", {})
    world:update(0)
    assert.are.equal(6, ran)
    world:undeclare "T"
    has_error(function() world:update(0) end, "no longer declared")
  end)

  it("ends loops that are left open, and is an error in systems, forms and defer", function()
    local q = world:query "P"
    local next_row, handle = q:each()
    next_row(handle, nil)
    world:component("P", { "x: f32" })
    world:update(0)
    local function declare() world:component("P", { "x: f64" }) end
    has_error(function() q:each(declare) end, "not possible inside")
    world:defer()
    has_error(declare, "not possible inside")
    world:cancel()
    world:system("s", { run = declare })
    has_error(function() world:update(0) end, "not possible inside")
  end)

  it("keeps `any` values of fields that stay and lets the others go", function()
    world:component("A", { "keep: any", "drop: any" })
    local weak = setmetatable({}, { __mode = "v" })
    local e = world:spawn { A = { keep = { 1 }, drop = { 2 } } }
    weak[1], weak[2] = world:get(e, "A")
    world:component("A", { "more: i32", "keep: any" })
    collectgarbage()
    assert.are.equal(1, world:read(e, "A").keep[1])
    assert.is_nil(weak[2])
  end)
end)

describe("a resource whose component changes", function()
  it("keeps its value, and its view reads the new fields", function()
    local world = helper.new_world()
    world:resource("G", { "y: f32 = -9", "m: i32[3]" })
    local g = world:res "G"
    g.y, g.m[2] = 5, 8
    local m = g.m
    local _, report = world:resource("G", { "wind: f64 = 1", "m: i32[3]", "y: f32" })
    assert.are.same({ "wind" }, report.added)
    assert.are.equal(5.0, g.y)
    assert.are.equal(8, g.m[2])
    g.wind = 3
    assert.are.equal(3.0, world:res("G").wind)
    has_error(function() return m[2] end, "stale view")
    assert.are.equal("G { wind = 3.0, m = { 0, 8, 0 }, y = 5.0 }", tostring(g))
    world:undeclare "G"
    has_error(function() return g.y end, "stale view")
  end)

  it("gives the loops of systems one more view when a tag has got fields", function()
    local world = helper.new_world()
    world:component("P", { "x: f32" })
    world:tag "T"
    world:spawn { P = { x = 1 }, T = true }
    local seen
    world:system("s", { query = "P, T", compile = false, each = function(_, t) seen = t end })
    world:update(0.5)
    assert.are.equal(0.5, seen)
    world:component("T", { "n: i32 = 7" })
    world:system("t", { query = "T.n", map = function(n) return n + 1 end })
    world:update(0.5)
    assert.are.equal("userdata", type(seen))
    assert.are.equal(8, (world:get(world:query("T"):first(), "T.n")))
    world:system("s", { query = "P, T", compile = false, each = function(_, t) seen = t.n end })
    world:update(0.5)
    assert.are.equal(8, seen)
  end)
end)

describe("a world in which a migration was refused", function()
  it("can be loaded, though a table without rows lacks what is required", function()
    local world, copy = helper.new_world(), helper.new_world()
    world:component("Purse", { "gold: f64" })
    world:component("Shop", { "name: string", requires = { "Purse" } })
    world:spawn { Shop = {}, Purse = { gold = 4.5 } }
    helper.has_error(function()
      world:component("Purse", { "gold: i8", storage = "sparse" })
    end, "4.5, which is not of type i8")
    copy:load(world:save())
    assert.equal(world:digest(), copy:digest())
  end)
end)

describe("a query that goes through an entity field", function()
  it("ends when the field becomes something else, as when it goes", function()
    for _, storage in ipairs { "table", "sparse" } do
      for _, new_name in ipairs { "Link", "Knot" } do
        local world = helper.new_world()
        world:component("Health", { "hp: f64" })
        world:component("Link", { "n: u8", "to: entity", storage = storage })
        local queries = { world:query "with Link.to->Health", world:query "Link, Link.to->Health?" }
        for _ = 1, 20 do world:spawn { Link = { 1 }, Health = {} } end
        assert.are.equal(0, queries[1]:count())
        assert.are.equal(20, queries[2]:count())
        world:component(new_name, { "n: u8", "to: i16", storage = storage,
          was = new_name ~= "Link" and "Link" or nil })
        for _, query in ipairs(queries) do
          helper.has_error(function() query:count() end, "no longer declared")
        end
        world:describe()
        helper.check(world)
      end
    end
  end)
end)

describe("a component made of parts at some depth", function()
  it("is found by an image when a part has changed and its fields have not", function()
    local world = helper.new_world()
    world:component("Part", { "f: f32" })
    world:component("Whole", { "part: Part" })
    world:component("Pair", { "whole: Whole" })
    world:component("Many", { "pairs: Pair[2]" })
    local e = world:spawn { Many = { { {}, { whole = { part = { f = 2 } } } } } }
    local image = world:save()
    world:component("Part", { "f: f32", toggle = true })
    world:component("Pair", { "x: f32", "whole: Whole" })
    world:component("Many", { "x: f32", "pairs: Pair[2]" })
    world:load(image)
    assert.are.equal(2, (world:get(e, "Many.pairs[2].whole.part.f")))
    helper.check(world)
  end)
end)
