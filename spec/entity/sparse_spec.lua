-- storage = "sparse": components outside of tables. The same interface and the same results; what
-- differs is the order of a query whose first term is sparse, and what moves.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

-- A world with a few components, those of the list sparse.
local function new_world(sparse, options)
  local world = helper.new_world(options)
  local function declare(name, fields)
    fields.storage = sparse[name] and "sparse" or "table"
    world:component(name, fields)
  end
  declare("Position", { "x: f64", "y: f64" })
  declare("Mark", { "n: i32 = 7", "text: string", "whom: entity" })
  declare("Box", { "v: any" })
  declare("Hot", {})
  return world
end

local SPARSE = { Mark = true, Box = true, Hot = true }

local names_of = helper.names_of

local function ids_of(world, text)
  return world:query(text):ids()
end

describe("a sparse component", function()
  it("C32 is set, read, tested and removed as others are", function()
    local world = new_world(SPARSE)
    local a, b = world:spawn { Position = { 1, 2 } }, world:spawn()
    world:add(a, "Mark")
    world:set(b, "Mark", 3, "three", a)
    world:set(b, "Mark.n", 4)
    world:set(b, "Box", print)
    assert.are.same({ 7, "" }, { world:get(a, "Mark.n"), world:get(a, "Mark.text") })
    assert.are.same({ n = 4, text = "three", whom = a }, world:read(b, "Mark"))
    assert.are.equal(print, (world:get(b, "Box")))
    assert.are.equal("Box Mark", names_of(world, b))
    assert.is_false(world:has(a, "Hot"))
    world:remove(b, "Mark")
    assert.is_nil((world:get(b, "Mark")))
    assert.is_nil(world:read(b, "Mark"))
    assert.is_true(world:has(a, "Mark"))
    assert.are.equal("sparse", world:describe("Mark").storage)
    assert.are.equal("table", world:describe("Position").storage)
  end)

  it("C44 moves no other component when it comes and goes", function()
    local world = new_world(SPARSE)
    local ids = {}
    for i = 1, 10 do ids[i] = world:spawn { Position = { i } } end
    local tables = #world:describe().tables
    for i = 1, 10, 3 do world:set(ids[i], "Mark", i) end
    world:remove(ids[4], "Mark")
    assert.are.same(ids, ids_of(world, "Position"))
    assert.are.equal(tables, #world:describe().tables)
  end)

  it("C55 stays packed: the last row takes the place of one that goes", function()
    local world = new_world(SPARSE)
    local ids = {}
    for i = 1, 5 do ids[i] = world:spawn { Position = { i } } end
    for _, i in ipairs { 5, 3, 1, 2 } do world:set(ids[i], "Mark", i) end
    assert.are.same({ ids[5], ids[3], ids[1], ids[2] }, ids_of(world, "Mark"))
    world:remove(ids[5], "Mark")
    assert.are.same({ ids[2], ids[3], ids[1] }, ids_of(world, "Mark, Position"))
    world:despawn(ids[3])
    assert.are.same({ ids[2], ids[1] }, ids_of(world, "with Mark"))
    assert.are.same({ ids[1], ids[2] }, ids_of(world, "Position, Mark"))
    assert.are.same({ 2, 1 }, { world:get(ids[2], "Mark.n"), world:get(ids[1], "Mark.n") })
  end)

  it("C76 keeps its values while its entity moves between tables", function()
    local world = new_world(SPARSE)
    local a, b = world:spawn { Mark = { 1, "one" } }, world:spawn { Mark = { 2, "two" } }
    world:add(a, "Position")
    world:tag "Other"
    world:add(b, "Other")
    world:remove(a, "Position")
    assert.are.same({ 1, "one" }, { world:get(a, "Mark.n"), world:get(a, "Mark.text") })
    assert.are.same({ 2, "two" }, { world:get(b, "Mark.n"), world:get(b, "Mark.text") })
  end)

  it("is asked for by every kind of term", function()
    local world = new_world(SPARSE)
    local a = world:spawn { Mark = { 1 }, Position = { 10 } }
    local b = world:spawn { Position = { 20 }, Hot = true }
    local c = world:spawn { Mark = { 3 } }
    world:add(b, "ChildOf", a)
    world:add(c, "ChildOf", b)
    local function finds(text, ...)
      local wanted, found = { ... }, ids_of(world, text)
      table.sort(wanted)
      table.sort(found)
      assert.are.same(wanted, found)
      assert.are.equal(select("#", ...), world:count(text))
    end
    finds("Mark", a, c)
    finds("!Mark", b)
    finds("Mark|Hot", c, a, b)
    finds("Position, !Hot", a)
    finds("Mark.n:in, Position", a)
    finds("ChildOf->Mark", b)
    finds("ChildOf*->Mark", c, a, b)
    finds("Mark, ChildOf->Hot", c)
    finds("Hot, ChildOf->Mark?", b)
    local seen = {}
    for position, mark, e in world:query "Position, Mark?":each() do
      seen[e] = { position.x, mark and mark.n }
    end
    assert.are.same({ [a] = { 10, 1 }, [b] = { 20, false } }, seen)
    for mark in world:query "ChildOf->Mark":each() do mark.n = 5 end
    assert.are.equal(5, (world:get(a, "Mark.n")))
    for chunk in world:query "Mark, Position":chunks() do
      assert.are.equal(1, chunk.n)
      assert.is_true(chunk:has "Mark" and not chunk:has "Hot")
      chunk:column "Mark.n"[1] = 6
    end
    assert.are.equal(6, (world:get(a, "Mark.n")))
  end)

  it("leads on by its entity fields", function()
    local world = new_world(SPARSE)
    local a = world:spawn { Position = { 4 } }
    local b = world:spawn { Mark = { 1, "", a } }
    assert.are.same({ b }, ids_of(world, "Mark.whom->Position"))
    world:despawn(a)
    assert.are.same({}, ids_of(world, "Mark.whom->Position"))
  end)

  it("is changed in scopes with all others, each entity once", function()
    local world = new_world(SPARSE)
    local a = world:spawn { Mark = { 1, "kept" } }
    local b = world:spawn { Mark = { 2 }, Position = true }
    world:defer()
    world:remove(a, "Mark")
    world:set(a, "Mark", 9)
    world:set(b, "Position", 5, 6)
    world:remove(b, "Mark")
    world:add(b, "Hot")
    local c = world:spawn { Mark = { 3, "new" }, Position = { 7 } }
    local d = world:spawn { Mark = { 4 } }
    world:despawn(d)
    assert.is_false(world:has(c, "Mark"))
    world:commit()
    assert.are.same({ n = 9, text = "", whom = ecs.null }, world:read(a, "Mark"))
    assert.are.equal("Hot Position", names_of(world, b))
    assert.are.same({ "new", 7 }, { world:get(c, "Mark.text"), (world:get(c, "Position")) })
    assert.are.same({ a, c }, ids_of(world, "Mark"))
    world:defer()
    world:add(b, "Mark")
    world:cancel()
    assert.is_false(world:has(b, "Mark"))
  end)

  it("leaves the value of a refused tie alone where another component requires it", function()
    local world = new_world(SPARSE)
    world:component("Thick", { requires = { "Hot" } })
    world:relation("Holds", { "what: any", exclusive = true, acyclic = true })
    local a, b = world:spawn(), world:spawn()
    world:set(a, "Holds", b, "first")
    has_error(function() world:set(b, "Holds", a, "second") end, "form a cycle")
    world:set(a, "Holds.what", "third")
    assert.are.same({ b, "third" }, { world:get(a, "Holds") })
  end)

  it("C71 requires and is required", function()
    local world = new_world(SPARSE)
    world:component("Fire",
      { "heat: f32 = 2", requires = { "Hot", "Position" }, storage = "sparse" })
    world:component("Oven", { requires = { "Fire" } })
    local e = world:spawn()
    world:add(e, "Oven")
    assert.are.equal("Fire Hot Oven Position", names_of(world, e))
    has_error(function() world:remove(e, "Hot") end, "'Fire' requires it")
    has_error(function() world:remove(e, "Position") end, "'Fire' requires it")
    has_error(function() world:remove(e, "Fire") end, "'Oven' requires it")
    assert.are.equal("Fire Hot Oven Position", names_of(world, e))
    local many = world:spawn_many(3, { Oven = true })
    assert.are.equal("Fire Hot Oven Position", names_of(world, many[3]))
    world:defer()
    world:remove(e, "Fire")
    world:remove(e, "Oven")
    world:commit()
    assert.are.equal("Hot Position", names_of(world, e))
    local late = world:spawn { Box = { true } }
    world:component("Box", { "v: any", storage = "sparse", requires = { "Fire" } })
    assert.are.equal("Box Fire Hot Position", names_of(world, late))
    assert.is_true((world:get(late, "Box")))
  end)

  it("C71 is brought by a relation that requires it", function()
    local world = new_world(SPARSE)
    world:component("Fire", { "heat: f32 = 2", storage = "sparse" })
    world:relation("Docked", { "fee: i32", exclusive = true, requires = { "Fire" } })
    local port, other, e, bare = world:spawn(), world:spawn(), world:spawn(), world:spawn()
    world:add(e, "Docked", port)
    world:set(bare, "Docked", port, 3)
    assert.are.equal("Docked Fire", names_of(world, e))
    assert.are.equal("Docked Fire", names_of(world, bare))
    assert.are.same({ e, bare }, ids_of(world, "Fire, Docked"))
    world:set(e, "Fire", 5)
    world:add(e, "Docked", other)
    assert.are.same({ other, 0 }, { world:get(e, "Docked") })
    assert.are.equal(5, world:get(e, "Fire"))
    has_error(function() world:remove(e, "Fire") end, "'Docked' requires it")
    world:load(world:save())
    assert.are.equal("Docked Fire", names_of(world, e))
  end)

  it("is had by components, too", function()
    local world = new_world(SPARSE)
    local id = world:tag "Kind"
    world:set(id, "Mark", 5)
    assert.are.same({ id }, ids_of(world, "Mark, !Position"))
    world:remove(id, "Mark")
    assert.are.equal(0, world:count "")
    world:add(id, "Hot")
    world:undeclare "Hot"
    assert.are.equal(0, world:count "")
  end)

  it("goes when it is undeclared", function()
    local world = new_world(SPARSE)
    local e = world:spawn { Mark = { 1 }, Box = { "x" }, Position = true }
    local query = world:query "Mark"
    world:undeclare "Mark"
    world:undeclare "Box"
    assert.are.equal("Position", names_of(world, e))
    has_error(function() query:count() end, "no longer declared")
  end)

  it("gives views that end as others do", function()
    local world = new_world(SPARSE)
    local a = world:spawn { Mark = { 1 } }
    world:spawn { Mark = { 2 } }
    local kept
    for mark in world:query "Mark":each() do kept = kept or mark end
    has_error(function() return kept.n end, "stale")
    world:remove(a, "Mark")
    has_error(function() kept.n = 5 end, "stale")
  end)

  it("is not for relations", function()
    local world = new_world(SPARSE)
    has_error(function() world:relation("R", { storage = "sparse" }) end, "cannot have 'storage'")
  end)

  it("can be what 16 terms of a query are about, and no more", function()
    local world = helper.new_world()
    local names = {}
    for i = 1, 17 do
      names[i] = "S" .. i
      world:component(names[i], { storage = i < 17 and "sparse" or "table" })
    end
    local query = world:query(table.concat(names, ", "))
    has_error(function() world:component("S17", { storage = "sparse" }) end, "at most 16")
    assert.are.equal(0, query:count())
    world:undeclare "S17"
  end)
end)

-- The same program on two worlds.
local function fill(world)
  local ids = {}
  for i = 1, 300 do
    ids[i] = world:spawn { Position = { i, -i } }
    if i % 3 == 0 then world:set(ids[i], "Mark", i, "t" .. i % 5, ids[i - 1]) end
    if i % 7 == 0 then world:add(ids[i], "Hot") end
  end
  for i = 9, 300, 27 do world:remove(ids[i], "Mark") end
  for i = 12, 300, 60 do world:despawn(ids[i]) end
  return ids
end

describe("storage", function()
  local function content(world)
    local all = {}
    for _, e in ipairs(ids_of(world, "")) do
      all[e] = {}
      for name, value in world:components(e) do
        all[e][name] = value
      end
    end
    return all
  end

  it("C32 changes no result", function()
    local one, two = new_world({}, { tag = 5 }), new_world(SPARSE, { tag = 5 })
    fill(one)
    fill(two)
    assert.are.same(content(one), content(two))
    for _, text in ipairs { "Mark", "!Mark", "Mark|Hot", "Position, Mark?", "Mark, Hot" } do
      assert.are.equal(one:count(text), two:count(text), text)
    end
  end)

  it("migrates in both directions, with other fields and without", function()
    local world = new_world(SPARSE)
    local ids = fill(world)
    local before, order = content(world), ids_of(world, "Mark")
    local query, other = world:query "Mark, Position", world:query "Position, !Mark"
    world:set(ids[1], "Box", print)
    local _, report = world:component("Mark", { "n: i32 = 7", "text: string", "whom: entity" })
    assert.are.equal(#order, report.rows)
    world:component("Box", { "v: any" })
    assert.are.equal(print, (world:get(ids[1], "Box")))
    world:remove(ids[1], "Box")
    assert.are.same(before, content(world))
    assert.are.equal(#order, query:count())
    assert.are.equal(300 - 5 - #order, other:count())
    world:component("Mark", { "n: f64", "text: string", "whom: entity", storage = "sparse" })
    assert.are.equal(#order, query:count())
    assert.are.equal("number", type((world:get(ids[3], "Mark.n"))))
    assert.are.equal("t3", (world:get(ids[3], "Mark.text")))
  end)

  it("does not migrate where a value does not fit, and nothing has changed then", function()
    local world = new_world(SPARSE)
    local e = world:spawn { Mark = { 300, "a" } }
    local digest = world:digest()
    has_error(function() world:component("Mark", { "n: i8", "text: string" }) end, "n = 300")
    has_error(function()
      world:component("Mark", { "n: i8", "text: string", storage = "sparse" })
    end, "n = 300")
    assert.are.equal(digest, world:digest())
    assert.are.equal("sparse", world:describe("Mark").storage)
    assert.are.equal(300, (world:get(e, "Mark.n")))
  end)

  it("is as it was where what others require does not migrate", function()
    local world = helper.new_world()
    world:component("Health", { "hp: i32 = 100" })
    world:component("Box", { requires = { "Health" } })
    local e = world:spawn { Box = true }
    has_error(function() world:component("Health", { "hp: bool", storage = "sparse" }) end,
      "hp = 100, which is not of type bool")
    assert.is_true(world:check())
    assert.equal(100, world:get(e, "Health"))
  end)

  it("changes under systems of every form, and those that have run go on", function()
    for _, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels }
      local fields = { "n: i32" }
      world:component("Count", fields)
      world:tag "Dead"
      local ids = world:spawn_many(5, { Count = {} })
      world:system("each", { query = "Count", each = function(c) c.n = c.n + 1 end })
      world:system("map", { query = "Count.n", map = function(n) return n + 10 end })
      world:system("dead", { query = "Count.n, Dead", map = function(n) return n + 1000 end })
      for round, storage in ipairs { "table", "sparse", "sparse", "table", "sparse" } do
        fields.storage = storage
        world:component("Count", fields)
        world:update(1)
        for _, id in ipairs(ids) do assert.equal(11 * round, world:get(id, "Count")) end
      end
      world:component("Dead", { "since: f32", storage = "sparse" })
      world:update(1)
      world:add(ids[3], "Dead")
      has_error(function() world:update(1) end, "'Count.n, Dead' has the whole component 'Dead'")
    end
  end)

  it("C51 is saved and loaded with its order", function()
    local world = new_world(SPARSE, { tag = 9 })
    fill(world)
    local image, digest, order = world:save(), world:digest(), ids_of(world, "Mark")
    for _, other in ipairs { ecs.world(), new_world(SPARSE, {}) } do
      other:load(image)
      assert.are.equal(digest, other:digest())
      assert.are.same(order, ids_of(other, "Mark"))
      assert.are.equal(image, other:save())
      assert.is_true(other:check())
    end
    local other = new_world({}, {})
    other:load(image)
    assert.are.equal("table", other:describe("Mark").storage)
    assert.are.same(content(world), content(other))
    assert.is_true(other:check())
    local back = new_world(SPARSE, {})
    back:load(other:save())
    assert.are.same(content(world), content(back))
    assert.is_true(back:check())
  end)

  it("is restored by a snapshot", function()
    local world = new_world(SPARSE)
    local ids = fill(world)
    local snapshot, digest = world:snapshot(), world:digest()
    world:remove(ids[3], "Mark")
    world:set(ids[6], "Mark", 0)
    world:despawn(ids[15])
    world:component("Late", { storage = "sparse" })
    world:add(ids[1], "Late")
    world:restore(snapshot)
    assert.are.equal(digest, world:digest())
    assert.are.equal(0, world:count "Late")
  end)

  it("shows in the digest by packed order", function()
    local digests = {}
    for i = 1, 2 do
      local world = new_world(SPARSE, { tag = 2 })
      local a, b = world:spawn(), world:spawn()
      world:add(i == 1 and a or b, "Hot")
      world:add(i == 1 and b or a, "Hot")
      digests[i] = world:digest()
    end
    assert.are_not.equal(digests[1], digests[2])
  end)
end)

describe("a kernel", function()
  local systems = {
    { "packed", "Mark, Position:in", function(mark, position)
      mark.n = mark.n + (position.x > 100.0 and 2 or 1)
    end },
    { "beside", "Position, Mark:in", function(position, mark)
      if mark.n > 50 then position.y = position.y * 0.5 + 1.0 end
    end },
    { "without", "Position, !Mark", function(position) position.x = position.x + 1.0 end },
    { "perhaps", "Position, Mark?", function(position, mark)
      if mark then mark.n = mark.n + 1 else position.y = position.y - 1.0 end
    end },
  }

  it("C56 over sparse terms does what the plain function does, and is compiled", function()
    local quick = new_world(SPARSE, { tag = 4 })
    local plain = new_world(SPARSE, { tag = 4, kernels = false })
    fill(quick)
    fill(plain)
    for _, system in ipairs(systems) do
      quick:system(system[1], { query = system[2], each = system[3], compile = true })
      plain:system(system[1], { query = system[2], each = system[3] })
    end
    for step = 1, 5 do
      quick:update(0.25)
      plain:update(0.25)
      assert.are.equal(plain:digest(), quick:digest(), "step " .. step)
    end
    assert.are.equal("vector", quick:explain("packed").tier)
    local fields = { "n: i32 = 7", "text: string", "whom: entity" }
    for step = 1, 4 do
      fields.storage = step % 2 == 0 and "sparse" or "table"
      quick:component("Mark", fields)
      plain:component("Mark", fields)
      quick:update(0.25)
      plain:update(0.25)
      assert.are.equal(plain:digest(), quick:digest(), "stored otherwise, step " .. step)
    end
  end)

  it("adds and removes sparse components", function()
    local quick = new_world(SPARSE, { tag = 4 })
    local plain = new_world(SPARSE, { tag = 4, kernels = false })
    for _, world in ipairs { quick, plain } do
      fill(world)
      local function cool(mark, _, e)
        if mark.n % 2 == 0 then world:remove(e, "Mark") else world:add(e, "Hot") end
      end
      world:system("cool", { query = "Mark:in", each = cool })
      world:update(0.5)
    end
    assert.are.equal(plain:digest(), quick:digest())
  end)
end)
