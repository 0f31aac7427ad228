-- Components that are called otherwise than they were.

local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local scratch = require "spec.support.scratch"

local has_error = helper.has_error

-- Pos, a tag Cold, and what is made of Pos.
local function new_world(options)
  local world = helper.new_world(options)
  world:component("Pos", { "x: f32", "y: f32 = 2" })
  world:component("Path", { "from: Pos", "to: Pos" })
  world:tag "Cold"
  return world
end

local POSITION = { "x: f32", "y: f32 = 2", was = "Pos" }

describe("a component that was called otherwise", function()
  it("keeps its id, its rows and their values", function()
    local world = new_world()
    local ids = world:spawn_many(5, { Pos = { x = 3 }, Cold = true })
    local tables = #world:describe().tables
    local old = world:describe("Pos").id
    local id, report = world:component("Position", POSITION)
    assert.are.equal(old, id)
    assert.are.same({ "Pos", 5, { "x", "y" } }, { report.was, report.rows, report.kept })
    for _, e in ipairs(ids) do
      assert.are.same({ x = 3, y = 2 }, world:read(e, "Position"))
    end
    assert.are.equal(tables, #world:describe().tables)
    assert.are.same({ "Position", "Path", "Cold" }, world:describe().components)
    assert.are.equal("Position", world:describe(id).name)
    assert.are.equal("Position", world:describe("Path").fields[1].type)
  end)

  it("may have other fields, which follow renames of their own", function()
    local world = new_world()
    local e = world:spawn { Pos = { 3, 4 }, Path = { from = { x = 5 } } }
    local _, report = world:component("Position",
      { "left: f64", "z: i8 = 7", was = { "Pos", left = "x" } })
    assert.are.same({ left = 3, z = 7 }, world:read(e, "Position"))
    assert.are.equal(5, (world:get(e, "Path.from.left")))
    assert.are.same({ left = "x" }, report.renamed)
    assert.are.same({ "Pos", { "left" }, { "y" } }, { report.was, report.converted,
      report.dropped })
  end)

  it("is a tag, a resource, or what another one requires, as before", function()
    local world = new_world()
    world:component("Sworn", { requires = { "Cold", "Pos" } })
    world:resource("Wind", { "x: f32 = 3" })
    local wind, e = world:res "Wind", world:spawn { Sworn = true }
    world:component("Frozen", { was = "Cold" })
    world:component("Breeze", { "x: f64 = 1", was = "Wind" })
    assert.are.same({ 3, 3 }, { wind.x, world:res("Breeze").x })
    assert.is_true(world:has(e, "Frozen"))
    assert.are.same({ "Frozen", "Pos" }, world:describe("Sworn").requires)
    has_error(function() world:remove(e, "Frozen") end, "'Frozen'", "'Sworn' requires it")
    assert.are.equal("Frozen", world:describe(world:tag "Frozen").name)
  end)

  it("becomes a resource in the same call", function()
    local world = new_world()
    local id = world:describe("Pos").id
    assert.are.equal(id, (world:resource("Origin", { "x: f32", "y: f32 = 2", was = "Pos" })))
    assert.are.equal(2, world:res("Origin").y)
  end)

  it("is named by its new name: the old one is an error that says so", function()
    local world = new_world()
    local e = world:spawn { Pos = {} }
    world:component("Position", POSITION)
    for _, use in ipairs {
      function() world:get(e, "Pos") end, function() world:get(e, "Pos.x") end,
      function() world:query "Pos, Cold" end, function() world:count "!Pos" end,
      function() world:spawn { Pos = {} } end, function() world:describe "Pos" end,
      function() world:component("Other", { "at: Pos" }) end,
      function() world:component("Other", { requires = { "Pos" } }) end,
      function() world:res "Pos" end, function() world:undeclare "Pos" end,
    } do
      has_error(use, "'Pos'", "its name is now 'Position'")
    end
  end)

  it("is followed by queries, systems and kernels that were there", function()
    for _, kernels in ipairs { true, false } do
      local world = new_world { kernels = kernels }
      local e, query = world:spawn { Pos = { 1, 1 } }, world:query "Pos.x, Pos"
      world:system("move", { query = "Pos", each = function(pos, dt) pos.x = pos.x + dt end })
      world:system("add", { query = "Pos, !Cold", each = function(_, _, id)
        world:add(id, "Cold")
      end })
      world:update(1)
      world:component("Position", POSITION)
      world:component("Frozen", { was = "Cold" })
      world:remove(e, "Frozen")
      assert.are.same({ e, 1 }, { query:first(), query:count() })
      has_error(function() world:update(1) end, "system 'add'", "'Cold'", "its name is now "
        .. "'Frozen'")
      assert.are.equal(3, (world:get(e, "Position.x")))
    end
  end)

  it("may have had a name that nobody knows, or be renamed already", function()
    local world = new_world()
    local id, report = world:component("Position", { "x: f32", was = "Place" })
    assert.is_nil(report)
    assert.are.equal(id, world:component("Position", { "x: f32", was = "Place" }))
    world:component("Ice", { was = "Cold" })
    local ice = table.pack(world:component("Ice", { was = { "Cold" } }))
    assert.are.equal(1, ice.n)
    world:defer()
    world:component("Ice", { was = "Cold" })
    world:component("Ice", {})
    world:commit()
  end)

  it("may get its old name back, or another one again", function()
    local world = new_world()
    local e = world:spawn { Pos = { 3 } }
    local id = world:component("Position", POSITION)
    local _, report = world:component("Pos", { "x: f32", "y: f32 = 2", was = "Position" })
    assert.are.equal("Position", report.was)
    assert.are.equal(3, (world:get(e, "Pos.x")))
    assert.are.equal(id, (world:component("Place", { "x: f32", "y: f32 = 2", was = "Pos" })))
    has_error(function() world:get(e, "Pos") end, "its name is now 'Place'")
    has_error(function() world:get(e, "Position") end, "unknown component 'Position'")
  end)

  it("is refused while both names are in use", function()
    local world = new_world()
    world:component("Position", { "x: f32" })
    has_error(function() world:component("Position", { "x: f32", was = "Pos" }) end,
      "'Position' cannot take over 'Pos', since both are declared", "undeclare one of them")
    world:undeclare "Position"
    world:component("Position", POSITION)
    has_error(function() world:component("Pos", { "x: f32" }) end,
      "'Pos' is the former name of component 'Position'", 'was = "Position"')
    has_error(function() world:tag "Pos" end, "'Position'")
    has_error(function() world:component("Place", { was = "Pos" }) end,
      "both 'Position' and 'Place' give 'Pos' as their former name")
    world:component("Position", { "x: f32", "y: f32 = 2" })
    world:component("Pos", { "x: f32" })
    assert.are.equal(4, #world:describe().components)
  end)

  it("is refused as a whole when its values do not fit, or inside scopes", function()
    local world = new_world()
    local e = world:spawn { Pos = { 0.5 } }
    local before = world:digest()
    has_error(function() world:component("Position", { "x: i32", was = "Pos" }) end,
      "cannot migrate 'Position'", "x = 0.5")
    world:defer()
    has_error(function() world:component("Position", POSITION) end, "defer")
    world:commit()
    assert.are.equal(before, world:digest())
    assert.are.same({ 0.5, 2 }, { world:get(e, "Pos") })
    has_error(function() world:get(e, "Position") end, "unknown component 'Position'")
    world:component("Position", POSITION)
    assert.are.same({ 0.5, 2 }, { world:get(e, "Position") })
  end)

  it("says what `was` takes", function()
    local world = new_world()
    local function with(was)
      return function() world:component("New", { "x: f32", was = was }) end
    end
    has_error(with(5), "'was' must be its former name, or a table", "got 5")
    has_error(with { 5 }, "'was' has field names")
    has_error(with { "Pos", "Cold" }, "'was' has field names")
    has_error(with { [2] = "Pos" }, "'was' has field names")
    has_error(with "New", "'New' is its name now")
    has_error(with "a b", "'a b' is not a name for a component")
    has_error(with(("n"):rep(64)), "is not a name for a component")
  end)
end)

describe("an image with an old name", function()
  local function saved()
    local world = new_world { tag = 3 }
    local e = world:spawn { Pos = { 3, 4 }, Cold = true, Path = { to = { x = 5 } } }
    world:resource "Pos"
    world:res("Pos").x = 9
    return world:save(), e
  end

  it("loads into the component that was called so", function()
    local bytes, e = saved()
    local world = helper.new_world()
    world:component("Frozen", { was = "Cold" })
    world:component("Position", { "left: f64", "y: f32 = 2", was = { "Pos", left = "x" } })
    world:load(bytes)
    assert.are.same({ 3, 4, 5 }, { world:get(e, "Position.left"), world:get(e, "Position.y"),
      world:get(e, "Path.to.left") })
    assert.are.equal(9, world:res("Position").left)
    assert.is_true(world:has(e, "Frozen"))
    assert.are.same({ "Frozen", "Position", "Path" }, world:describe().components)
    local again = helper.new_world()
    again:load(world:save())
    assert.are.equal(world:digest(), again:digest())
  end)

  it("loads by its own name where there is a component of that", function()
    local bytes, e = saved()
    local world = new_world()
    world:component("Position", { "x: f32" })
    world:load(bytes)
    assert.are.same({ true, false }, { world:has(e, "Pos"), world:has(e, "Position") })
  end)

  it("is refused when it has the new name, too, whichever comes first", function()
    for _, name in ipairs { "Aaa", "Position" } do
      local old = helper.new_world()
      old:component("Pos", { "x: f32" })
      old:component(name, { "x: f32" })
      local e = old:spawn { Pos = { 1 }, [name] = { 2 } }
      local world = helper.new_world()
      world:component(name, { "x: f32", was = "Pos" })
      local before = world:digest()
      has_error(function() world:load(old:save()) end, "both 'Pos' and '" .. name .. "'",
        "'" .. name .. "' was renamed from 'Pos'", "leave its `was` out")
      assert.are.equal(before, world:digest())
      world:component(name, { "x: f32" })
      world:load(old:save())
      assert.are.same({ 1, 2 }, { world:get(e, "Pos.x"), world:get(e, name .. ".x") })
    end
  end)

  it("is known by a label that came with the same fields", function()
    local bytes, e = saved()
    local world = helper.new_world()
    world:component("Position", { "x: f32", "y: f32 = 2" })
    world:component("Position", POSITION)
    world:load(bytes)
    assert.are.equal(3, (world:get(e, "Position.x")))
    world = helper.new_world()
    world:component("Position", POSITION)
    world:component("Position", { "x: f32", "y: f32 = 2" })
    world:load(bytes)
    assert.are.same({ true, false }, { world:has(e, "Pos"), world:has(e, "Position") })
  end)
end)

describe("a live script", function()
  local world, files, session, errors

  before_each(function()
    world, files, errors = helper.new_world(), scratch.new(), {}
    files:write("a.lua", [[
local world = ...
world:component("Pos", { "x: f32", "y: f32" })
world:system("move", { query = "Pos", each = function(p, dt) p.x = p.x + dt end })
]])
    session = live.open(world, files.path, { on_error = function(message)
      errors[#errors + 1] = message
    end })
    assert.are.same({}, errors)
  end)

  after_each(function()
    files:close()
  end)

  -- What the file says with its component called otherwise.
  local function renamed(name, was)
    return ([[
local world = ...
world:component("NAME", { "x: f32", "y: f32", was = WAS })
world:system("move", { query = "NAME", each = function(p, dt) p.x = p.x + 2 * dt end })
]]):gsub("NAME", name):gsub("WAS", was), nil
  end

  it("that renames its component loses nothing, and the report says so", function()
    local e = world:spawn { Pos = { 1, 2 } }
    world:update(1)
    files:write("a.lua", renamed("Position", '"Pos"'))
    assert.is_true((helper.poll(session)))
    assert.are.same({}, errors)
    assert.are.same({ 2, 2 }, { world:get(e, "Position") })
    local status = session:status()
    assert.are.equal("Pos", status.last_report.components.Position.was)
    assert.are.equal(1, status.last_report.components.Position.rows)
    assert.are.same({}, status.orphans)
    world:update(1)
    assert.are.equal(4, (world:get(e, "Position.x")))
    files:write("a.lua", renamed("Position", '{ "Pos" }') .. "-- more")
    assert.is_true((helper.poll(session)))
    assert.is_nil(session:status().last_report.components.Position)
    files:write("a.lua", renamed("Place", '"Position"'))
    assert.is_true((helper.poll(session)))
    assert.are.same({ 4, 2 }, { world:get(e, "Place") })
  end)

  it("that fails to rename it leaves it as it was", function()
    local e = world:spawn { Pos = { 1, 2 } }
    for _, wrong in ipairs { "error 'on purpose'", "world:query 'Nobody'", "world:query 'Pos'",
      "world:component('Other', { requires = { 'Pos' } })", "world:res 'Pos'",
      "world:component('Position', { 'x: i8' })" } do
      files:write("a.lua", renamed("Position", '"Pos"') .. wrong)
      assert.is_false((helper.poll(session)), wrong)
      assert.are.same({ 1, 2 }, { world:get(e, "Pos") })
      has_error(function() world:get(e, "Position") end, "unknown component 'Position'")
      helper.check(world)
    end
    assert.is_truthy(errors[3]:find("'Pos': its name is now 'Position'", 1, true))
    files:write("a.lua", renamed("Position", '"Pos"'))
    assert.is_true((helper.poll(session)))
    assert.are.same({ 1, 2 }, { world:get(e, "Position") })
  end)

  it("finds it by its new name from there on, in other files, too", function()
    local e = world:spawn { Pos = { 1, 2 } }
    files:write("a.lua", renamed("Position", '"Pos"')
      .. 'world:component("Path", { "to: Position", requires = { "Position" } })')
    files:write("b.lua", 'local world = ... world:component("Line", { "from: Position" }) '
      .. 'world:query "Position, !Line"')
    assert.is_true((helper.poll(session)))
    world:add(e, "Path")
    assert.are.same({ 1, 2 }, { world:get(e, "Position") })
  end)

  it("cannot rename what another file, or the host, declares", function()
    files:write("b.lua", 'local world = ... world:component("Position", { "x: f32", was = "Pos" })')
    assert.is_false((helper.poll(session)))
    assert.is_truthy(errors[1]:find("b.lua:1: component 'Position' cannot take over 'Pos', "
      .. "which is declared in ", 1, true), errors[1])
    assert.is_truthy(errors[1]:find("a.lua", 1, true))
    world:component("Mine", { "x: f32" })
    files:write("b.lua", 'local world = ... world:component("Yours", { "x: f32", was = "Mine" })')
    assert.is_false((helper.poll(session)))
    assert.is_truthy(errors[2]:find("'Mine', which is declared outside the scripts", 1, true))
    assert.are.equal("Mine", world:describe("Mine").name)
  end)

  it("may take over one that is nobody's any more", function()
    local e = world:spawn { Pos = { 1, 2 } }
    files:write("a.lua", "")
    assert.is_true((helper.poll(session)))
    assert.are.same({ "Pos" }, session:status().orphans)
    files:write("a.lua", renamed("Position", '"Pos"'))
    assert.is_true((helper.poll(session)))
    assert.are.same({ 1, 2 }, { world:get(e, "Position") })
    assert.are.same({}, session:status().orphans)
  end)

  it("that takes its edit back leaves the renamed one as an orphan", function()
    local e = world:spawn { Pos = { 1, 2 } }
    local before = 'local world = ... world:component("Pos", { "x: f32", "y: f32" })'
    files:write("a.lua", renamed("Position", '"Pos"'))
    assert.is_true((helper.poll(session)))
    files:write("a.lua", before)
    assert.is_true((helper.poll(session)))
    assert.are.same({ "Position" }, session:status().orphans)
    assert.is_true(world:has(e, "Position"))
    files:write("a.lua", before .. " -- again")
    assert.is_true((helper.poll(session)))
    session:forget()
    files:write("a.lua", 'local world = ... world:component("Pos", { "x: f32", was = "Position" })')
    assert.is_true((helper.poll(session)))
  end)

  it("is refused when another one declares the old name beside the new one", function()
    world:spawn { Pos = { 1, 2 } }
    files:write("a.lua", renamed("Position", '"Pos"'))
    files:write("b.lua", 'local world = ... world:tag "Pos"')
    assert.is_false((helper.poll(session)))
    assert.is_truthy(errors[1]:find("'Pos' is the former name of component 'Position'", 1, true),
      errors[1])
    assert.are.equal(1, world:count "Pos")
  end)
end)
