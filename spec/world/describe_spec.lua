local helper = require "spec.support.ecs_helper"

local function new_world()
  local world = helper.new_world { tag = 7 }
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Body", { "m: f32[2]", "offset: Position" })
  world:tag("Frozen")
  return world
end

local function table_of(world, ...)
  local wanted = table.concat({ ... }, " ")
  for _, entry in ipairs(world:describe().tables) do
    local types = table.move(entry.types, 1, #entry.types, 1, {})
    table.sort(types)
    if table.concat(types, " ") == wanted then return entry end
  end
end

describe("world:describe()", function()
  it("lists the tables, their types, columns and rows (C5)", function()
    local world = new_world()
    for _ = 1, 3 do world:spawn { Position = {}, Frozen = true } end
    local entry = table_of(world, "Frozen", "Position")
    assert.are.equal(3, entry.rows)
    assert.are.same({ "Position.x", "Position.y" }, entry.columns)
    assert.is_true(entry.capacity >= 3)
    assert.is_true(entry.bytes > 0)
    assert.are.equal("integer", math.type(entry.id))
  end)

  it("shows one column for each leaf field, and none for tags (C11, C73)", function()
    local world = new_world()
    world:spawn { Body = {} }
    assert.are.same({ "Body.m[1]", "Body.m[2]", "Body.offset.x", "Body.offset.y" },
      table_of(world, "Body").columns)
    world:spawn { Frozen = true }
    assert.are.same({}, table_of(world, "Frozen").columns)
  end)

  it("has one table for each set of components, whatever the order of adding (C8, C69)",
    function()
      local world = new_world()
      local a, b = world:spawn(), world:spawn()
      world:add(a, "Position")
      world:add(a, "Frozen")
      world:add(b, "Frozen")
      world:add(b, "Position")
      assert.are.equal(2, table_of(world, "Frozen", "Position").rows)
    end)

  it("shows the memory of tables, and that empty ones give it back (C12)", function()
    local world = new_world()
    local ids = world:spawn_many(10000, { Position = {} })
    local before = world:describe().bytes
    assert.is_true(table_of(world, "Position").bytes >= 80000)
    for _, e in ipairs(ids) do world:despawn(e) end
    for _ = 1, 3 do world:update(0) end
    assert.is_nil(table_of(world, "Position"))
    assert.is_true(world:describe().bytes <= before - 80000)
  end)

  it("lists components, in the order of declaration", function()
    assert.are.same({ "Position", "Body", "Frozen" }, new_world():describe().components)
  end)

  it("counts rows that multiply, or match one by one, as far as takes no time", function()
    local world = helper.new_world()
    world:relation "R"
    world:relation("Only", { exclusive = true })
    world:component("P", { "x: f64" })
    world:tag "T"
    local e, targets = world:spawn(), world:spawn_many(1000)
    for _, target in ipairs(targets) do world:add(e, "R", target) end
    world:spawn_many(9000, { P = {} })
    local function counted(text)
      assert.is_truthy(world:query(text))
      for _, about in ipairs(world:describe().queries) do
        if about.text == text then return { about.rows, about.more } end
      end
    end
    assert.same({ 1000 }, counted "(R, *)")
    assert.same({ 10000, true }, counted "(R, *), (R, *), (R, *)")
    assert.same({ 9000 }, counted "P, !Only->P")
    assert.same({ 0 }, counted "P, Only->P")
    world:spawn_many(11000, { P = {}, Only = e })
    assert.same({ 10000, true }, counted "P, !Only->P")
    assert.same({ 0, true }, counted "P, Only->P")
    assert.same({ 20000 }, counted "P")
  end)

  it("lists queries with their tables and rows", function()
    local world = new_world()
    local query = world:query "Position, !Frozen"
    world:spawn { Position = {} }
    world:spawn { Position = {}, Body = {} }
    world:spawn { Position = {}, Frozen = true }
    assert.are.same({ { text = "Position, !Frozen", tables = 2, rows = 2 } },
      world:describe().queries)
    assert.are.equal(2, query:count())
  end)

  it("lists systems in running order with phase, order, tier and timings (C46)", function()
    local world = new_world()
    world:system("b", { phase = "render", run = function() end, compile = false, enabled = false })
    world:system("a", { query = "Position", each = function() end })
    world:update(1)
    world:update(1)
    local systems = world:describe().systems
    assert.are.equal(2, #systems)
    local a, b = systems[1], systems[2]
    assert.are.same({ "a", "update", 1, "vector", true, false, 2 },
      { a.name, a.phase, a.order, a.tier, a.enabled, a.parked, a.runs })
    assert.are.same({ "b", "render", 2, "lua", false, false, 0 },
      { b.name, b.phase, b.order, b.tier, b.enabled, b.parked, b.runs })
    assert.are.equal("float", math.type(a.seconds))
    assert.is_true(a.seconds >= a.last and a.last >= 0)
    assert.are.equal(0, b.seconds)
    assert.are.same({}, a.ignored)
  end)

  it("measures how long a system takes", function()
    local world = new_world()
    world:system("slow", { run = function()
      local stop = os.clock() + 0.02
      while os.clock() < stop do end
    end })
    world:update(0)
    local slow = world:describe().systems[1]
    assert.is_true(slow.last >= 0.01)
  end)

  it("lists phases", function()
    local world = new_world()
    world:phase("physics", { fixed = 0.5, after = "update" })
    world:switch("render", false)
    local expected = {}
    for i, name in ipairs { "startup", "pre_update", "update", "physics", "post_update",
      "render" } do
      expected[i] = { name = name, enabled = name ~= "render", ignored = {},
        fixed = name == "physics" and 0.5 or nil }
    end
    assert.are.same(expected, world:describe().phases)
  end)

  it("lists what phases name and nobody has", function()
    local world = new_world()
    local function ignored(name)
      for _, phase in ipairs(world:describe().phases) do
        if phase.name == name then return phase.ignored end
      end
    end
    world:phase("ai", { after = "udpate", before = "physics" })
    assert.are.same({ "physics", "udpate" }, ignored "ai")
    world:phase("physics", { after = "update" })
    assert.are.same({ "udpate" }, ignored "ai")
    world:phase("ai", { after = "physics", before = "render" })
    assert.are.same({}, ignored "ai")
  end)

  it("gives the numbers of rows, entities and bytes (C34)", function()
    local world = new_world()
    local empty = world:describe()
    assert.are.equal(0, empty.rows)
    assert.are.equal(0, empty.entities)
    for _ = 1, 10000 do world:spawn { Position = {} } end
    local full = world:describe()
    assert.are.equal(10000, full.rows)
    assert.are.equal(10000, full.entities)
    assert.is_true(full.bytes - empty.bytes >= 160000)
    assert.are.equal(7, full.tag)
  end)

  it("works inside a system and on an empty world", function()
    local world = helper.new_world()
    assert.are.same({}, world:describe().components)
    assert.are.same({}, world:describe().systems)
    local inside
    world:system("s", { run = function() inside = world:describe() end })
    world:update(0)
    assert.are.equal("s", inside.systems[1].name)
  end)
end)
