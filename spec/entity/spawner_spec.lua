-- world:spawner: functions that spawn by values.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local ecs = require "ecs"

local has_error = helper.has_error
local world

local function setup_small_world()
  world = helper.new_world { seed = 1, tag = 1 }
  world:component("Position", { "x: f32", "y: f32 = 7" })
  world:component("Health", { "hp: i16 = 100", "state: enum(well, hurt)", "by: entity" })
  world:tag "Alive"
end

local function setup_world()
  setup_small_world()
  world:component("Bag", { "names: string[2]", "what: any", "at: Position", storage = "sparse" })
  world:component("Shield", { "level: u8", toggle = true, requires = { "Health" } })
end

describe("a spawner", function()
  before_each(setup_world)

  it("C58 gives an entity its components, with values in the order of their fields", function()
    local make = world:spawner "Position, Alive, Health"
    local e = make(1, 2, 3, "hurt", ecs.null)
    assert.same({ 1, 2 }, { world:get(e, "Position") })
    assert.same({ 3, "hurt", ecs.null }, { world:get(e, "Health") })
    assert.is_true(world:has(e, "Alive"))
    assert.equal(1, world:count "Position, Alive, Health")
  end)

  it("leaves defaults where fewer values, or nil, are given", function()
    local make = world:spawner "Position, Health"
    assert.same({ 0, 7 }, { world:get(make(), "Position") })
    local e = make(nil, 2, nil, "hurt")
    assert.same({ 0, 2 }, { world:get(e, "Position") })
    assert.same({ 100, "hurt", ecs.null }, { world:get(e, "Health") })
  end)

  it("takes texts, tables for fields of several values, and whatever any holds", function()
    local thing = {}
    local e = world:spawner "Bag" ({ "a", "b" }, thing, { x = 3 })
    assert.equal("b", world:get(e, "Bag.names[2]"))
    assert.equal(thing, world:get(e, "Bag.what"))
    assert.equal(3, world:get(e, "Bag.at.x"))
    assert.equal(7, world:get(e, "Bag.at.y"))
  end)

  it("brings what is required, and stages in a scope, the id at once", function()
    local make = world:spawner "Shield"
    world:defer()
    local e = make(4)
    assert.is_true(world:alive(e))
    assert.equal(0, world:count "Shield")
    world:commit()
    assert.equal(4, world:get(e, "Shield.level"))
    assert.equal(100, world:get(e, "Health.hp"))
  end)

  it("says what is wrong with its names", function()
    has_error(function() world:spawner "Positon" end, "unknown component 'Positon'", "'Position'")
    has_error(function() world:spawner "" end, "names of components or fields expected")
    has_error(function() world:spawner "Position," end, "names of components or fields expected")
    has_error(function() world:spawner "Position Alive" end, "is missing between two commas")
    has_error(function() world:spawner "Alive, Position, Alive" end, "it names 'Alive' twice")
    has_error(function() world:spawner "ChildOf" end, "'ChildOf' is a relation", "world:add")
    has_error(function() world:spawner("Health.hp, Alive, Health.hp") end,
      "it names 'Health.hp' twice")
    has_error(function() world:spawner("Health.hp, Health") end, "it names 'Health' twice")
    has_error(function() world:spawner("Health.ph") end, "no field 'ph'", "'hp'")
    has_error(function() world:spawner("Health.") end, "names of components or fields expected")
    has_error(function() world:spawner("ChildOf.target") end, "'ChildOf' is a relation")
    has_error(function() world:spawner(("Alive, "):rep(65)) end, "more than 64 names")
    has_error(function() world:spawner("Alive", {}) end, "bad argument #2 to 'spawner'",
      "the spawner takes the values")
  end)

  it("says what is wrong with its values, and spawns nothing then", function()
    local make = world:spawner "Position, Health"
    has_error(function() make(1, 2, 3, "well", ecs.null, 6) end,
      "spawner 'Position, Health' takes 5 values, got 6")
    has_error(function() make(1, "two") end, "field 'Position.y' is f32", "'two'")
    has_error(function() make(1, 2, 40000) end, "'Health.hp'", "40000")
    assert.equal(0, world:count "Position")
  end)

  it("takes the fields that its components have when it is called", function()
    local make = world:spawner "Position, Alive"
    world:component("Position", { "z: f64", "x: f32", "y: f32" })
    local e = make(1, 2, 3)
    assert.same({ 1, 2, 3 }, { world:get(e, "Position") })
    world:undeclare "Bag"
    world:undeclare "Position"
    has_error(function() make(1) end, "unknown component 'Position'")
    world:component("Position", { "x: f32" })
    local last = make(5)
    assert.same({ 5 }, { world:get(last, "Position") })
    world:despawn(last)
    world:despawn(e)
    world:relation "Alive"
    for _ = 1, 2 do
      has_error(function() make(1) end, "spawner 'Position, Alive': 'Alive' is a relation")
    end
    assert.equal(0, world:count "Position")
  end)

  it("takes fields by their names, which nothing shifts", function()
    local make = world:spawner "Health.state, Position.y, Alive, Health.hp"
    local function check(e)
      assert.same({ "hurt", 3.0, 4 }, { world:get(e, "Health.state"), world:get(e, "Position.y"),
        world:get(e, "Health.hp") })
      assert.is_true(world:has(e, "Alive"))
    end
    for _ = 1, 3 do check(make("hurt", 3, 4)) end
    world:component("Health", { "worth: i32 = 2", "hp: i16 = 100", "state: enum(well, hurt)" })
    world:component("Position", { "y: f64", "z: f32 = 9", "x: f32" })
    for _ = 1, 3 do
      local e = make("hurt", 3, 4)
      check(e)
      assert.same({ 2, 9.0, 0.0 }, { world:get(e, "Health.worth"), world:get(e, "Position.z"),
        world:get(e, "Position.x") })
    end
    local numbers = world:spawner "Position.z, Health.hp, Position.x"
    for i = 1, 3 do
      local e = numbers(i, i + 1)
      assert.same({ 0.0, i + 0.0, 0.0 }, { world:get(e, "Position") })
      assert.equal(i + 1, (world:get(e, "Health.hp")))
    end
    has_error(function() numbers(1, 2, 3, 4) end, "takes 3 values, got 4")
    world:component("Position", { "y: f64" })
    has_error(function() numbers(1) end, "component 'Position' has no field 'z'")
  end)

  it("takes fields beside whole components, with arrays, nested fields and elements", function()
    local make = world:spawner "Bag.what, Health, Bag.names, Position.y"
    local e = make("thing", 5, "hurt", nil, { "a", "b" }, 2)
    assert.same({ "thing", "a", "b" }, { world:get(e, "Bag.what"), world:get(e, "Bag.names[1]"),
      world:get(e, "Bag.names[2]") })
    assert.same({ 5, "hurt", ecs.null }, { world:get(e, "Health") })
    assert.same({ 0.0, 2.0 }, { world:get(e, "Position") })
    e = world:spawner "Bag.names[2], Bag.at.x, Bag.at.y" ("c", 1, nil)
    assert.same({ "", "c", 1.0, 7.0 }, { world:get(e, "Bag.names[1]"), world:get(e, "Bag.names[2]"),
      world:get(e, "Bag.at.x"), world:get(e, "Bag.at.y") })
  end)

  it("ends with its world", function()
    local make = world:spawner "Alive"
    world:close()
    has_error(make, "closed")
  end)

  it("does the same as spawn with tables", function()
    local most = helper.by_scale { small = 300, normal = 1000, deep = 20000 }
    local digests = {}
    for n = 1, 2 do
      setup_world()
      local rng, ids = random.new(5), {}
      local make = world:spawner "Health, Shield, Position"
      for i = 1, most do
        local hp, level = rng:range(-200, 200), rng:range(0, 255)
        local by = rng:pick(ids)
        local state = rng:chance(50) and "hurt" or nil
        if n == 1 then
          ids[#ids + 1] = make(hp, state, by, level, i)
        else
          ids[#ids + 1] = world:spawn { Health = { hp = hp, state = state, by = by },
            Shield = { level = level }, Position = { x = i } }
        end
        if i % 7 == 0 then world:despawn(table.remove(ids, 1)) end
      end
      digests[n] = world:digest()
    end
    assert.equal(digests[2], digests[1])
  end)

  -- What may come between two spawns, in a world and what is known of it.
  local BETWEEN = {
    function(w) w:component("Mass", { "kg: f64 = 3", "parts: u8" }) end,
    function(w) w:component("Mass", { "parts: u8 = 2", "kg: f64 = 4", "more: i32" }) end,
    function(w) w:component("Mass", { "kg: f64", "parts: u8", requires = { "Position" } }) end,
    function(w) w:component("Mass", { "kg: f64", "parts: u8", storage = "sparse" }) end,
    function(w) w:component("Mass", { "kg: f64", "parts: u8", track = true, toggle = true }) end,
    function(w) w:component("Mass", { "kg: f32", "parts: f32[2]" }) end,
    function(w) w:component("Mass", { "kg: f64", "parts: string" }) end,
    function(w) w:undeclare "Mass" end,
    function(w)
      w:query("Alive|Mass"):despawn()
      w:update(0)
      w:update(0)
      for _, part in ipairs { "Alive", "Position", "Health" } do w:add(w:spawn(), part) end
      w:spawn { Alive = true, Position = {} }
    end,
    function(w)
      w:query("Mass"):remove "Mass"
      w:update(0)
      w:spawn { Alive = true, Health = {} }
    end,
    function(w) w:load(w:save()) end,
    function(w)
      local past = w:snapshot()
      w:query("Alive"):despawn()
      w:spawn { Mass = {}, Health = {} }
      w:restore(past)
    end,
    function(w)
      w:observer("seen", { on = "add", query = "with Mass", each = function() w:spawn() end })
    end,
    function(w) w:remove_system "seen" end,
    function(w, known)
      w:defer()
      known.open = known.open + 1
    end,
    function(w, known)
      if known.open > 0 then w:commit() end
      known.open = math.max(0, known.open - 1)
    end,
    function(w)
      w:component("Other", { "of: f32" })
      w:spawn { Other = {}, Mass = {} }
    end,
  }

  -- Whether two worlds are alike, when nothing waits any more.
  local function compare(worlds, known)
    for n, w in ipairs(worlds) do
      for _ = 1, known[n].open do w:commit() end
      known[n].open = 0
      assert(w:check())
    end
    assert(worlds[1]:digest() == worlds[2]:digest(), "the digests differ")
  end

  -- Spawns in the first world by a spawner, in the second by tables: by position, or by names.
  local function spawn_both(rng, worlds, make, by_name)
    local a, b, c = rng:range(-3, 9) / 2, rng:pick { 1, 2, 3, 255, 300 }, nil
    if rng:chance(10) then a = nil elseif rng:chance(5) then a = "no number" end
    if rng:chance(10) then b = nil elseif rng:chance(5) then c = 3 end
    local given = by_name and { b, c and 7 or nil, a } or { a, b, c }
    local mass = by_name and { kg = a, parts = b } or { a, b, c }
    local position = by_name and { y = c and 7 or nil } or nil
    local spawned, id = pcall(make, table.unpack(given, 1, (by_name or c) and 3 or 2))
    local alike, like = pcall(worlds[2].spawn, worlds[2],
      { Alive = true, Mass = mass, Position = position })
    assert(spawned == alike and (id == like or not spawned), ("%s, not %s"):format(id, like))
  end

  local function run(seed, by_name)
    local rng, worlds, known = random.new(seed), {}, {}
    for n = 1, 2 do
      setup_small_world()
      BETWEEN[1](world)
      worlds[n], known[n] = world, { open = 0 }
    end
    local make = worlds[1]:spawner(by_name and "Mass.parts, Alive, Position.y, Mass.kg"
      or "Alive, Mass")
    for _ = 1, 60 do
      spawn_both(rng, worlds, make, by_name)
      local between = rng:chance(25) and rng:pick(BETWEEN)
      for n = 1, between and 2 or 0 do pcall(between, worlds[n], known[n]) end
      if rng:chance(30) then compare(worlds, known) end
    end
    compare(worlds, known)
  end

  it("spawns by numbers as spawn does, whatever comes in between", function()
    for seed = 1, helper.by_scale { small = 10, normal = 60, deep = 1000 } do
      for _, by_name in ipairs { false, true } do
        local ok, problem = xpcall(run, debug.traceback, seed, by_name)
        assert(ok, ("seed %d%s: %s"):format(seed, by_name and " by names" or "", tostring(problem)))
      end
    end
  end)
end)
