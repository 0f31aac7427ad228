-- What a component requires comes with it and stays as long as it is there.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local scratch = require "spec.support.scratch"

local has_error = helper.has_error

local names_of = helper.names_of

-- Power requires Duty and the tag Known; Duty requires Oath.
local function new_world(options)
  local world = helper.new_world(options)
  world:component("Oath", { "text: string = sworn" })
  world:component("Duty", { "load: i32 = 3", requires = { "Oath" } })
  world:tag "Known"
  world:tag "Calm"
  world:component("Power", { "x: f32 = 9", requires = { "Duty", "Known" } })
  return world
end

local ALL = "Duty Known Oath Power"

describe("what a component requires", function()
  it("C71 comes with it in every way of adding, in one move and with defaults", function()
    local world = new_world()
    local function check(e, x)
      assert.are.equal(ALL, names_of(world, e))
      assert.are.same({ x, 3, "sworn" },
        { world:get(e, "Power.x"), world:get(e, "Duty.load"), world:get(e, "Oath.text") })
    end
    check(world:spawn { Power = { 1 } }, 1)
    for _, e in ipairs(world:spawn_many(3, { Power = true })) do check(e, 9) end
    local at = world:spawn()
    world:despawn(at)
    check(world:spawn_at(at + (1 << 28), { Power = { x = 2 } }), 2)
    local e = world:spawn()
    local tables = #world:describe().tables
    world:add(e, "Power")
    check(e, 9)
    assert.are.equal(tables, #world:describe().tables)
    e = world:spawn()
    world:set(e, "Power", 5)
    check(e, 5)
    e = world:spawn()
    world:set(e, "Power.x", 6)
    check(e, 6)
    world:defer()
    e = world:spawn { Power = { 7 } }
    local f = world:spawn()
    world:set(f, "Power", 8)
    world:commit()
    check(e, 7)
    check(f, 8)
  end)

  it("keeps what is there, and what is given beside it", function()
    local world = new_world()
    local e = world:spawn { Duty = { 7 }, Power = {} }
    assert.are.same({ 7, ALL }, { world:get(e, "Duty.load"), names_of(world, e) })
    e = world:spawn { Duty = { 8 } }
    world:add(e, "Power")
    assert.are.same({ 8, ALL }, { world:get(e, "Duty.load"), names_of(world, e) })
    world:defer()
    e = world:spawn { Power = {} }
    world:set(e, "Duty", 9)
    world:commit()
    assert.are.same({ 9, ALL }, { world:get(e, "Duty.load"), names_of(world, e) })
  end)

  it("comes with what a loop, a kernel, a predicate and a component itself are given", function()
    for _, kernels in ipairs { true, false } do
      local world = new_world { kernels = kernels }
      world:component("Position", { "x: f32" })
      local a, b, c, d = table.unpack(world:spawn_many(4, { Position = {} }))
      world:set(a, "Position.x", 1)
      world:query "Position":run(function(p, _, e)
        if p.x == 1 then world:add(e, "Power") end
      end)
      for position, e in world:query "Position":each() do
        if e == b then world:add(e, "Power") end
        position.x = e == c and 3 or position.x
      end
      world:query "Position":where(function(p) return p.x == 3 end):add "Power"
      world:add(world:tag "Calm", "Power")
      for _, e in ipairs { a, b, c } do
        assert.are.equal("Duty Known Oath Position Power", names_of(world, e))
      end
      assert.are.equal("Position", names_of(world, d))
      assert.are.equal(ALL, names_of(world, world:tag "Calm"))
    end
  end)

  it("stays when what required it goes", function()
    local world = new_world()
    local e = world:spawn { Power = {} }
    world:remove(e, "Power")
    assert.are.equal("Duty Known Oath", names_of(world, e))
    world:remove(e, "Known")
    world:remove(e, "Duty")
    world:remove(e, "Oath")
    assert.are.equal("", names_of(world, e))
  end)

  it("cannot be removed while it is required: the error names both", function()
    local world = new_world()
    local e = world:spawn { Power = {}, Calm = true }
    has_error(function() world:remove(e, "Duty") end, "'Duty' cannot be removed",
      "'Power' requires it")
    has_error(function() world:remove(e, "Oath") end, "'Oath'", "'Duty' requires it")
    has_error(function() world:remove(e, world:tag "Known") end, "'Known'", "'Power'")
    world:remove(e, "Calm")
    world:remove(e, "Calm")
    assert.are.equal(ALL, names_of(world, e))
  end)

  it("is asked for by queries like everything else, and goes with its entity", function()
    local world = new_world()
    local e = world:spawn { Power = {} }
    assert.are.equal(1, world:count "Power, Duty, Oath, Known")
    assert.are.equal(0, world:count "Power, !Oath")
    world:despawn(e)
    assert.are.equal(0, world:count "Oath|Known")
  end)

  it("is told by describe, in the order of names", function()
    local world = new_world()
    assert.are.same({ "Duty", "Known" }, world:describe("Power").requires)
    assert.are.same({ "Oath" }, world:describe("Duty").requires)
    assert.is_nil(world:describe("Oath").requires)
  end)

  it("changes no digest", function()
    local world, plain = new_world { tag = 1 }, helper.new_world { tag = 2 }
    for _, name in ipairs { "Oath", "Duty", "Power" } do
      plain:component(name, world:describe(name).fields[1].type == "string"
        and { "text: string = sworn" }
        or name == "Duty" and { "load: i32 = 3" } or { "x: f32 = 9" })
    end
    plain:tag "Known"
    world:spawn { Power = {} }
    plain:spawn { Power = {}, Duty = {}, Oath = {}, Known = true }
    assert.are.equal(plain:digest(), world:digest())
  end)
end)

describe("in a scope, what is required", function()
  it("is judged by what the entity has once all its commands are merged", function()
    local world = new_world()
    local e = world:spawn { Power = {} }
    world:defer()
    world:remove(e, "Oath")
    world:remove(e, "Duty")
    world:remove(e, "Power")
    world:commit()
    assert.are.equal("Known", names_of(world, e))
    world:set(e, "Duty", 5)
    world:defer()
    world:remove(e, "Duty")
    world:remove(e, "Oath")
    world:add(e, "Power")
    world:commit()
    assert.are.same({ ALL, 3 }, { names_of(world, e), world:get(e, "Duty.load") })
  end)

  it("stays, as does its value; all other commands apply, and commit raises the first", function()
    local world = new_world()
    local e, f = world:spawn { Duty = { 5 }, Power = {} }, world:spawn { Power = {} }
    world:defer()
    local g = world:spawn { Power = { 1 } }
    world:remove(e, "Duty")
    world:set(f, "Power.x", 4)
    world:remove(f, "Known")
    world:add(e, "Calm")
    world:remove(g, "Known")
    local message = has_error(function() world:commit() end, "'Duty' cannot be removed from entity",
      ecs.format(e), "'Power' requires it")
    assert.is_nil(message:find("Known", 1, true))
    assert.are.same({ "Calm " .. ALL, ALL, ALL },
      { names_of(world, e), names_of(world, f), names_of(world, g) })
    assert.are.same({ 5, 4, 1 },
      { world:get(e, "Duty.load"), world:get(f, "Power.x"), world:get(g, "Power.x") })
    has_error(function() world:commit() end, "without a defer")
  end)

  it("is told of in the order in which the commands were given", function()
    local world = new_world()
    local e, f = world:spawn { Power = {} }, world:spawn { Power = {} }
    world:defer()
    world:add(e, "Calm")
    world:remove(f, "Known")
    world:remove(e, "Duty")
    has_error(function() world:commit() end, "'Known'", ecs.format(f))
    world:defer()
    world:remove(e, "Oath")
    world:remove(e, "Duty")
    has_error(function() world:commit() end, "'Oath'", "'Duty' requires it")
    assert.are.equal("Calm " .. ALL, names_of(world, e))
  end)

  it("is nothing to one that dies, or was dropped by cancel", function()
    local world = new_world()
    local e = world:spawn { Power = {} }
    world:defer()
    world:remove(e, "Duty")
    world:cancel()
    world:defer()
    world:remove(e, "Duty")
    world:despawn(e)
    world:commit()
    assert.is_false(world:alive(e))
  end)

  it("is an error of the loop, the form or the system that removed it", function()
    local world = new_world()
    local e = world:spawn { Power = {} }
    local function loop()
      for _, id in world:query "Power":each() do
        world:remove(id, "Duty")
        world:add(id, "Calm")
      end
    end
    has_error(loop, "'Duty'", "'Power' requires it")
    assert.is_true(world:has(e, "Calm"))
    has_error(function()
      for _, id in world:query "Power":each() do
        world:remove(id, "Duty")
        if id then break end
      end
    end, "'Duty'")
    has_error(function()
      world:query "Power":each(function(_, _, id) world:remove(id, "Duty") end)
    end, "'Duty'")
    has_error(function() world:query "Power":where(function() return true end):remove "Oath" end,
      "'Oath'")
    has_error(function()
      world:query "Power":run(function(_, _, id) world:remove(id, "Known") end)
    end, "'Known'")
    world:system("robber", { query = "Power", each = function(power, _, id)
      power.x = power.x + 1
      world:remove(id, "Duty")
      world:remove(id, "Calm")
    end })
    has_error(function() world:update(1) end, "system 'robber': 'Duty'", "'Power' requires it")
    assert.are.same({ false, 10 }, { world:has(e, "Calm"), (world:get(e, "Power.x")) })
    local told = {}
    world:on_error(function(message, name) told = { message, name } end)
    world:update(1)
    assert.are.equal("robber", told[2])
    assert.is_truthy(told[1]:find("'Duty' cannot be removed", 1, true))
    assert.is_true(world:describe().systems[1].parked)
    world:update(1)
    assert.are.equal(ALL, names_of(world, e))
  end)

  it("is an error of what ends a loop that was left open", function()
    local world = new_world()
    local e = world:spawn { Power = {} }
    local leave = coroutine.wrap(function()
      for _, id in world:query "Power":each() do
        world:remove(id, "Duty")
        world:add(id, "Calm")
        coroutine.yield()
      end
    end)
    leave()
    has_error(function() world:update(1) end, "'Duty'", "'Power' requires it")
    assert.are.equal("Calm " .. ALL, names_of(world, e))
    world:update(1)
  end)
end)

describe("a requirement declared later", function()
  it("is given to the rows that lack it", function()
    local world = new_world()
    local plain = world:spawn { Calm = true }
    local knowing = world:spawn { Calm = true, Known = true }
    local other = world:spawn { Oath = { "mine" } }
    world:update(0)
    local _, report = world:component("Calm", { requires = { "Power" } })
    assert.are.equal(2, report.rows)
    assert.are.same({ "Calm " .. ALL, "Calm " .. ALL, "Oath" },
      { names_of(world, plain), names_of(world, knowing), names_of(world, other) })
    assert.are.same({ 9, "sworn" }, { world:get(plain, "Power.x"), world:get(plain, "Oath.text") })
    for _, entry in ipairs(world:describe().tables) do
      table.sort(entry.types)
      local list = table.concat(entry.types, " ")
      assert.is_true(not list:find "Calm" or list == "Calm " .. ALL, list)
    end
    has_error(function() world:remove(plain, "Known") end, "'Known'", "'Power'")
    local new = world:spawn { Calm = true }
    assert.are.equal("Calm " .. ALL, names_of(world, new))
  end)

  it("holds for edges and spawns that were gone before", function()
    local world = new_world()
    for _ = 1, 3 do
      local e = world:spawn { Calm = true }
      world:add(world:spawn(), "Calm")
      world:remove(e, "Calm")
    end
    world:component("Calm", { requires = { "Known" } })
    local e = world:spawn { Calm = true }
    local f = world:spawn()
    world:add(f, "Calm")
    assert.are.same({ "Calm Known", "Calm Known" }, { names_of(world, e), names_of(world, f) })
    world:component("Calm", {})
    e, f = world:spawn { Calm = true }, world:spawn()
    world:add(f, "Calm")
    assert.are.same({ "Calm", "Calm" }, { names_of(world, e), names_of(world, f) })
  end)

  it("goes when it is no longer declared, and what it brought stays", function()
    local world = new_world()
    local e = world:spawn { Power = {} }
    world:component("Power", { "x: f32 = 9" })
    assert.is_nil(world:describe("Power").requires)
    assert.are.equal(ALL, names_of(world, e))
    world:remove(e, "Known")
    assert.are.equal("Duty Oath Power", names_of(world, e))
    assert.are.equal("Power", names_of(world, world:spawn { Power = {} }))
  end)

  it("may come with other fields, of what is required, too", function()
    local world = new_world()
    local e = world:spawn { Power = { 4 } }
    local f = world:spawn { Calm = true }
    world:component("Power", { "x: f64", "y: i8 = 5", requires = { "Calm", "Known" } })
    assert.are.same({ 4, 5 }, { world:get(e, "Power") })
    assert.are.equal("Calm " .. ALL, names_of(world, e))
    world:component("Calm", { "since: f32 = 2", requires = { "Oath" } })
    assert.are.same({ 2, 2 }, { world:get(e, "Calm.since"), world:get(f, "Calm.since") })
    assert.are.equal("Calm Oath", names_of(world, f))
  end)

  it("is a change only if it is another one", function()
    local world = new_world()
    local results = table.pack(world:component("Power",
      { "x: f32 = 9", requires = { "Known", "Duty", "Known" } }))
    assert.are.equal(1, results.n)
    world:defer()
    world:component("Power", { "x: f32 = 9", requires = { "Duty", "Known" } })
    world:component("New", { requires = { "Power" } })
    has_error(function() world:component("Power", { "x: f32 = 9" }) end, "other fields", "defer")
    world:commit()
    assert.are.equal("Duty Known New Oath Power", names_of(world, world:spawn { New = true }))
  end)

  it("is kept by world:tag", function()
    local world = new_world()
    local id = world:component("Calm", { requires = { "Known" } })
    assert.are.equal(id, world:tag "Calm")
    assert.are.same({ "Known" }, world:describe("Calm").requires)
  end)

  it("comes with what snapshots of before bring back", function()
    local world = new_world()
    world:spawn { Calm = true }
    local before = world:snapshot()
    world:component("Calm", { requires = { "Known" } })
    world:restore(before)
    assert.are.equal(1, world:count "Calm, Known")
    local after = world:snapshot()
    world:component("Another", { requires = { "Calm" } })
    world:spawn { Another = true }
    world:restore(after)
    assert.are.equal(0, world:count "Another")
  end)
end)

describe("a requirement is refused", function()
  it("when it leads back: the error prints the path, and nothing changes", function()
    local world = new_world()
    local before = world:digest()
    has_error(function() world:component("Oath", { "text: string", requires = { "Power" } }) end,
      "would require itself: ", "Oath -> Power -> Duty -> Oath")
    has_error(function() world:component("Known", { requires = { "Known" } }) end,
      "Known -> Known")
    has_error(function() world:component("New", { requires = { "New" } }) end,
      "'New'", "cannot require itself")
    assert.is_nil(world:describe("Oath").requires)
    assert.are.equal(before, world:digest())
    assert.are.equal("Known", names_of(world, world:spawn { Known = true }))
  end)

  it("with the beginning of a path that is long", function()
    local world = helper.new_world()
    world:tag "First"
    for i = 1, 300 do
      world:component("Link" .. i, { requires = { i == 1 and "First" or "Link" .. i - 1 } })
    end
    assert.are.equal(301, select(2, names_of(world, world:spawn { Link300 = true })
      :gsub("%S+", "")))
    local message = has_error(function() world:component("First", { requires = { "Link300" } }) end,
      "First -> Link300 -> Link299", "... -> First")
    assert.is_true(#message < 512)
  end)

  it("when it is unknown, no component, or no list", function()
    local world = new_world()
    local e = world:spawn()
    local function with(value)
      return function() world:component("New", { "x: f32", requires = value }) end
    end
    has_error(with { "Oat" }, "'New', requires", "unknown component 'Oat'", "'Oath'?")
    has_error(with { "Duty.load" }, "unknown component 'Duty.load'")
    has_error(with { e }, "is an entity, not a component")
    has_error(with { 99 }, "never spawned")
    has_error(with { 1.5 }, "names or ids of components, got 1.5")
    has_error(with { true }, "got a boolean")
    has_error(with { a = "Oath" }, "'requires' must be a list, got an entry at 'a'")
    has_error(with { [2] = "Oath" }, "'requires' must be a list")
    has_error(with "Oath", "'requires' must be a list of components", "got 'Oath'")
    has_error(with(5), "got 5")
    with { world:describe("Duty").id, "Calm" }()
    assert.are.equal("Calm Duty New Oath", names_of(world, world:spawn { New = {} }))
  end)

  it("to be undeclared alone", function()
    local world = new_world()
    world:spawn { Power = {} }
    has_error(function() world:undeclare "Duty" end, "'Duty' cannot be undeclared: 'Power' "
      .. "requires it")
    has_error(function() world:undeclare "Known" end, "'Known'", "'Power'")
    world:undeclare "Power"
    world:undeclare "Known"
    assert.are.equal(1, world:count "Duty, Oath")
  end)

  it("to be undeclared where no row has either", function()
    local world = new_world()
    has_error(function() world:undeclare "Oath" end, "'Oath' cannot be undeclared: 'Duty' "
      .. "requires it")
    world:undeclare "Power"
    world:undeclare "Duty"
    world:undeclare "Oath"
  end)

  it("to lie elsewhere, when its values do not fit: what was planned is gone with that", function()
    local world = helper.new_world()
    world:component("Seat", { "x: f32" })
    world:component("Rider", { requires = { "Seat" } })
    world:spawn { Seat = { x = 265.75 } }
    local rider = world:spawn { Rider = true }
    has_error(function() world:component("Seat", { "x: i8", storage = "sparse" }) end,
      "has x = 265.75, which is not of type i8")
    assert.are.equal("Rider Seat", names_of(world, rider))
    assert.are.equal("Rider Seat", names_of(world, world:spawn { Rider = true }))
    assert.is_true(world:check())
  end)
end)

describe("an image", function()
  it("keeps what components require", function()
    local world = new_world { tag = 3 }
    world:spawn { Power = { 2 } }
    local bytes = world:save()
    local fresh = helper.new_world()
    fresh:tag "Other"
    fresh:load(bytes)
    assert.are.equal(world:digest(), fresh:digest())
    assert.are.same({ "Duty", "Known" }, fresh:describe("Power").requires)
    assert.are.equal(ALL, names_of(fresh, fresh:spawn { Power = {} }))
    world:load(bytes)
    assert.are.equal(bytes, world:save())
  end)

  it("gives its rows what is required now, in its own components, too", function()
    local world = helper.new_world { tag = 3 }
    world:component("Power", { "x: f32" })
    world:component("Pride", { "y: f32", requires = { "Power" } })
    local e = world:spawn { Pride = { 6 } }
    local bytes = world:save()
    local now = new_world()
    now:load(bytes)
    assert.are.equal("Duty Known Oath Power Pride", names_of(now, e))
    assert.are.same({ 6, 3 }, { now:get(e, "Pride.y"), now:get(e, "Duty.load") })
    assert.are.same({ "Power" }, now:describe("Pride").requires)
    local later = helper.new_world()
    later:component("Pride", { "y: f32" })
    later:load(bytes)
    assert.is_nil(later:describe("Pride").requires)
    later:remove(e, "Power")
    assert.are.equal("Pride", names_of(later, e))
  end)
end)

describe("live scripts", function()
  local world, files, session, errors

  before_each(function()
    world, files, errors = helper.new_world(), scratch.new(), {}
  end)

  after_each(function()
    files:close()
  end)

  local function open()
    session = live.open(world, files.path, { on_error = function(message)
      errors[#errors + 1] = message
    end })
    assert.are.same({}, errors)
  end

  it("may require what a later file declares, and change it in a reload", function()
    files:write("a.lua", 'local w = ... w:component("A", { "x: f32", requires = { "B" } })')
    files:write("b.lua", 'local w = ... w:tag "B"')
    open()
    local e = world:spawn { A = {} }
    assert.are.equal("A B", names_of(world, e))
    files:write("b.lua", 'local w = ... w:component("B", { requires = { "C" } })')
    assert.is_false((helper.poll(session)))
    assert.is_truthy(errors[1]:find("b.lua:1: ", 1, true))
    assert.is_truthy(errors[1]:find("component 'B', requires: unknown component 'C'", 1, true))
    assert.are.equal("A B", names_of(world, e))
    files:write("b.lua", 'local w = ... w:component("B", { requires = { "C" } }) w:tag "C"')
    assert.is_true((helper.poll(session)))
    assert.are.equal("A B C", names_of(world, e))
    assert.is_truthy(session:status().last_report.components.B)
  end)

  it("are refused as a whole when two of them require each other", function()
    files:write("a.lua", 'local w = ... w:component("A", { requires = { "B" } })')
    files:write("b.lua", 'local w = ... w:tag "B"')
    open()
    files:write("b.lua", 'local w = ... w:component("B", { requires = { "A" } })')
    assert.is_false((helper.poll(session)))
    assert.is_truthy(errors[1]:find("would require itself", 1, true))
    assert.are.equal("B", names_of(world, world:spawn { B = true }))
  end)

  it("leave an orphan that is required where it is", function()
    files:write("a.lua", 'local w = ... w:component("A", { requires = { "B" } })')
    files:write("b.lua", 'local w = ... w:tag "B"')
    open()
    world:spawn { A = true }
    files:remove "b.lua"
    assert.is_true((helper.poll(session)))
    assert.are.same({ "B" }, session:status().orphans)
    has_error(function() session:forget() end, "'B' cannot be undeclared: 'A' requires it")
    files:write("a.lua", "")
    assert.is_true((helper.poll(session)))
    assert.are.same({ "A", "B" }, session:forget())
  end)
end)
