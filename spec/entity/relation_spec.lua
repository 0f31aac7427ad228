-- Relations: entities tied to entities, one by one or in pairs; parents, children and paths.

local collect = require "spec.support.collect"
local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local scratch = require "spec.support.scratch"

local world, e, bob, eve, port

before_each(function()
  world = helper.new_world()
  world:component("Position", { "x: f32", "y: f32" })
  world:tag "Frozen"
  world:relation "Likes"
  world:relation("Owes", { "amount: i32" })
  world:relation("DockedTo", { "since: f64", exclusive = true })
  e, bob, eve, port = world:spawn { Position = {} }, world:spawn(), world:spawn(), world:spawn()
end)

describe("C74: a relation of several targets", function()
  it("is added, asked for and removed by target, or all at once", function()
    world:add(e, "Likes", eve)
    world:add(e, "Likes", bob)
    world:add(e, "Likes", bob)
    assert.is_true(world:has(e, "Likes", bob) and world:has(e, "Likes"))
    assert.is_false(world:has(e, "Likes", port))
    assert.equal(bob, world:target(e, "Likes"))
    assert.same({ bob, eve }, collect(world:targets(e, "Likes")))
    world:remove(e, "Likes", bob)
    assert.same({ eve }, collect(world:targets(e, "Likes")))
    world:add(e, "Likes", port)
    world:remove(e, "Likes")
    assert.is_false(world:has(e, "Likes"))
    assert.is_nil(world:target(e, "Likes"))
  end)

  it("has pairs, whose ids are taken wherever a component's is", function()
    local pair = world:pair("Likes", bob)
    world:add(e, pair)
    assert.is_true(world:has(e, pair) and world:has(e, "Likes", bob))
    assert.is_false(world:has(e, world:pair("Likes", eve)))
    assert.is_true(world:read(e, pair))
    world:remove(e, pair)
    assert.is_false(world:has(e, "Likes"))
    world:query("Position"):where(function(p) return p.x == 0 end):add(pair)
    assert.is_true(world:has(e, "Likes", bob))
    assert.is_false(world:alive(pair))
  end)

  it("C25: is listed by pairs' ids among an entity's components", function()
    world:add(e, "Likes", bob)
    world:set(e, "Owes", eve, 5)
    local found = {}
    for key, value in world:components(e) do
      found[key] = value
    end
    assert.same({ Position = { x = 0, y = 0 }, [world:pair("Likes", bob)] = true,
      [world:pair("Owes", eve)] = { amount = 5 } }, found)
  end)

  it("takes components and tags as targets, by name", function()
    world:add(e, "Likes", "Frozen")
    assert.is_true(world:has(e, "Likes", "Frozen"))
    assert.same({ e }, collect(world:sources("Frozen", "Likes")))
    helper.has_error(function() world:undeclare "Frozen" end,
      "'Frozen' cannot be undeclared while entities are tied to it")
  end)

  it("C75: has its fields for each target", function()
    world:set(e, "Owes", bob, 5)
    world:set(e, "Owes", eve, { amount = 7 })
    assert.equal(5, world:get(e, "Owes", bob))
    world:set(e, "Owes.amount", bob, 6)
    world:set(e, world:pair("Owes", eve), 8)
    assert.same({ 6, 8 }, { world:get(e, "Owes.amount", bob), world:get(e, "Owes", eve) })
    assert.same({ amount = 6 }, world:read(e, "Owes", bob))
    assert.is_nil(world:get(e, "Owes", port))
    world:set(e, "Likes", bob)
    assert.is_true(world:has(e, "Likes", bob))
  end)

  it("says what is missing, and what is too much", function()
    local needs = "'Likes' is a relation and needs a target, as in add(entity, \"Likes\", target)"
    helper.has_error(function() world:add(e, "Likes") end, needs)
    helper.has_error(function() world:get(e, "Owes") end, "'Owes' is a relation and needs a target")
    helper.has_error(function() world:add(e, "Likes", bob, eve) end, "one target expected")
    helper.has_error(function() world:add(e, "Frozen", bob) end, "'Frozen' is not a relation")
    helper.has_error(function() world:target(e, "Frozen") end, "'Frozen' is not a relation")
    helper.has_error(function() world:set(e, "Owes", bob, 1, 2) end, "got 2 values")
    helper.has_error(function() world:set(e, "Owes", bob, "x") end, "'Owes.amount' is i32, got 'x'")
    local pair = world:pair("Likes", bob)
    world:despawn(bob)
    helper.has_error(function() world:add(e, "Likes", bob) end, "is dead")
    helper.has_error(function() world:add(e, pair) end, "the target of this pair is dead")
    helper.has_error(function() world:spawn { [pair] = true } end,
      "the target of a pair of 'Likes' is dead")
  end)

  it("refuses made-up pairs with indices that nobody has (C68)", function()
    for _, index in ipairs { 0, 9999, 65535, 5000000, 0xFFFFFFF } do
      for _, name in ipairs { "Likes", "Owes", "DockedTo" } do
        local pair = 1 << 52 | world:describe(name).id << 28 | index
        for _, call in ipairs { "add", "remove", "has", "get", "read" } do
          helper.has_error(function() world[call](world, e, pair) end, "of this pair is dead")
        end
        helper.has_error(function() world:set(e, pair, 1) end, "of this pair is dead")
        helper.has_error(function() world:spawn { [pair] = true } end, "is dead")
      end
    end
  end)

  it("is added and removed in queries' functions, by pairs' ids, too", function()
    local function like(_, _, entity)
      world:add(entity, "Likes", bob)
    end
    world:system("like", { query = "Position", each = like })
    world:update(1)
    assert.equal("vector", world:explain("like").tier)
    assert.is_true(world:has(e, "Likes", bob))
    local pair = world:pair("Likes", bob)
    world:query("Position"):run(function(_, _, entity) world:remove(entity, pair) end)
    assert.is_false(world:has(e, "Likes", bob))
    local where = world:query("Position"):where(function(p) return p.x == 0 end)
    helper.has_error(function() where:set("Owes", bob, 1) end, "'Owes' is a pair, or a relation")
  end)
end)

describe("C72: an exclusive relation", function()
  it("has one target, which is replaced in one step and leaves the fields", function()
    world:set(e, "DockedTo", port, 3.5)
    assert.same({ port, 3.5 }, { world:get(e, "DockedTo") })
    world:add(e, "DockedTo", bob)
    assert.same({ bob, 3.5 }, { world:get(e, "DockedTo") })
    world:set(e, "DockedTo.since", 4)
    world:set(e, world:pair("DockedTo", eve), { since = 5 })
    assert.same({ target = eve, since = 5 }, world:read(e, "DockedTo"))
    world:set(e, world:pair("DockedTo", port), 6)
    assert.same({ port, 6.0 }, { world:get(e, "DockedTo") })
    assert.equal(port, world:target(e, "DockedTo"))
    assert.is_nil(world:get(e, "DockedTo", bob))
    world:remove(e, "DockedTo", bob)
    assert.is_true(world:has(e, "DockedTo", port))
    world:set(e, "DockedTo", ecs.null)
    assert.is_false(world:has(e, "DockedTo"))
    helper.has_error(function() world:set(e, "DockedTo.since", 2) end, "needs a target")
    helper.has_error(function() world:set(e, world:pair("DockedTo", bob), 1, 2) end,
      "takes at most 1 values after its target, got 2")
  end)

  it("is given its target once", function()
    for _, given in ipairs { { target = bob }, { bob }, { target = port, since = 2 }, { 0, 2 } } do
      helper.has_error(function() world:set(e, world:pair("DockedTo", port), given) end,
        "'DockedTo' is given its target twice: leave it out of the table")
      helper.has_error(function() world:set(e, "DockedTo", "Position", given) end, "twice")
    end
    assert.is_nil(world:target(e, "DockedTo"))
    world:set(e, world:pair("DockedTo", port), { since = 2 })
    assert.same({ port, port, 2.0 }, { world:target(e, "DockedTo"), world:get(e, "DockedTo") })
  end)

  it("is set by its id as by its name", function()
    local docked = world:relation("DockedTo", { "since: f64", exclusive = true })
    world:set(e, docked, port, 3.5)
    world:set(e, docked, { since = 4 })
    assert.same({ port, 4.0 }, { world:get(e, docked) })
    world:set(e, docked, { target = bob })
    assert.same({ bob, 4.0 }, { world:get(e, docked) })
    world:set(e, docked, ecs.null)
    assert.is_false(world:has(e, docked))
  end)

  it("C79: makes no tables, so that it is a state that entities are found by", function()
    world:tag "Chasing"
    world:tag "Resting"
    world:relation("State", { exclusive = true })
    world:set(e, "State", "Chasing")
    local tables = #world:describe().tables
    world:set(e, "State", "Resting")
    assert.equal(tables, #world:describe().tables)
    assert.same({}, collect(world:sources("Chasing", "State")))
    assert.same({ e }, collect(world:sources("Resting", "State")))
    assert.equal("Resting", world:describe(world:target(e, "State")).name)
  end)

  it("C29: finds its sources in the order of being tied", function()
    for _, source in ipairs { e, bob, eve } do
      world:add(source, "DockedTo", port)
    end
    assert.same({ e, bob, eve }, collect(world:sources(port, "DockedTo")))
    world:add(e, "DockedTo", bob)
    world:add(e, "DockedTo", port)
    assert.same({ bob, eve, e }, collect(world:sources(port, "DockedTo")))
  end)

  it("leaves a query whose entities were tied once to be despawned as a whole", function()
    local f = world:spawn { Position = {} }
    world:add(e, "DockedTo", port)
    world:remove(e, "DockedTo", port)
    world:query("Position"):despawn()
    assert.is_false(world:alive(e) or world:alive(f))
    assert.is_true(world:alive(port))
    assert(world:check())
  end)

  it("is set for all entities of a query, or for none of them", function()
    world:add(bob, "Position")
    world:add(eve, "Position")
    world:add(e, "DockedTo", port)
    local all = world:query("Position"):where(function() return true end)
    helper.has_error(function() all:set("DockedTo", { since = 5 }) end,
      "'DockedTo' is a relation and needs a target")
    assert.equal(0.0, world:get(e, "DockedTo.since"))
    all:set("DockedTo", port, 7)
    assert.same({ e, eve, bob }, collect(world:sources(port, "DockedTo")))
    all:set("DockedTo", { since = 8 })
    all:set("DockedTo.since", 9)
    assert.same({ port, 9.0 }, { world:get(eve, "DockedTo") })
    world:despawn(port)
    helper.has_error(function() all:set("DockedTo", port) end, "dead")
    all:set("DockedTo", bob)
    all:set("DockedTo", ecs.null)
    assert.same({}, collect(world:sources(bob, "DockedTo")))
  end)

  it("is read, and its target not written, by views, maps, chunks and kernels", function()
    world:set(e, "DockedTo", port, 1)
    local query = world:query "DockedTo"
    local refused = "field 'DockedTo.target' is read-only: write world:add(entity"
    for docked in query:each() do
      assert.equal(port, docked.target)
      docked.since = 2
      helper.has_error(function() docked.target = bob end, refused)
    end
    helper.has_error(function() world:query("DockedTo.target"):map(function() return bob end) end,
      refused)
    for chunk in query:chunks() do
      local column = chunk:column "DockedTo.target"
      assert.equal(port, column[1])
      helper.has_error(function() column[1] = bob end, refused)
      helper.has_error(function() column:write { bob } end, refused)
    end
    query:run(function(docked) docked.since = docked.since + 1 end)
    helper.has_error(function() query:run(function(docked) docked.target = docked.target end) end,
      "it writes to 'DockedTo.target', which only world:add and world:set can change")
    helper.has_error(function()
      world:system("s", { query = "DockedTo", each = function(d) d.target = d.target end })
    end, "it writes to 'DockedTo.target'")
    assert.same({ port, 3.0 }, { world:get(e, "DockedTo") })
  end)
end)

describe("a relation", function()
  it("is given to what is spawned: targets, lists, fields, pairs", function()
    local ship = world:spawn { Position = {}, DockedTo = port, ChildOf = e, Likes = { bob, eve },
      [world:pair("Owes", bob)] = { amount = 5 } }
    assert.same({ port, 0.0 }, { world:get(ship, "DockedTo") })
    assert.same({ bob, eve }, collect(world:targets(ship, "Likes")))
    assert.same({ e, 5 }, { world:parent(ship), world:get(ship, "Owes", bob) })
    local fleet = world:spawn_many(3, { ChildOf = port, DockedTo = { target = e, since = 2 } })
    assert.same(fleet, collect(world:children(port)))
    assert.equal(2.0, world:get(fleet[3], "DockedTo.since"))
    assert.equal(bob, world:parent(world:spawn_at(e + 5000, { ChildOf = bob })))
    for message, components in pairs {
      ["relation 'Likes' takes a target's id, got true"] = { Likes = true },
      ["lacks its target: write DockedTo = { target = id }"] = { DockedTo = {} },
      ["unknown target 'Nope'"] = { Likes = { "Nope" } },
      ["relation 'ChildOf' needs a target, and ecs.null is not an entity"] = { ChildOf = ecs.null },
      ["got the key 'amount'"] = { Owes = { bob, amount = 1 } },
      ["takes true, or a table of the relation's fields"] = { [world:pair("Owes", bob)] = 3 },
    } do
      helper.has_error(function() world:spawn(components) end, message)
    end
  end)

  it("C5: is described with its options", function()
    local function options(name)
      local it = world:describe(name)
      return { it.relation, it.exclusive, it.acyclic, it.on_target_despawn }
    end
    world:add(e, "ChildOf", bob)
    assert.same({ true, false, false, "remove" }, options "Likes")
    assert.same({ true, true, false, "remove" }, options "DockedTo")
    assert.same({ true, true, true, "despawn" }, options "ChildOf")
    assert.same({}, options "Position")
    assert.equal("target", world:describe("DockedTo").fields[1].name)
  end)

  it("is declared with options that make sense", function()
    for message, fields in pairs {
      ["only an exclusive relation can be acyclic"] = { acyclic = true },
      ["'exclusive' must be true or false, got 1"] = { exclusive = 1 },
      ["on_target_despawn must be 'remove', 'despawn' or 'error'"] = { on_target_despawn = "x" },
      ["a field cannot be named 'target'"] = { "target: entity" },
      ["a relation cannot have 'storage'"] = { storage = "table" },
    } do
      helper.has_error(function() world:relation("Bad", fields) end, message)
    end
    helper.has_error(function() world:component("Bad", { exclusive = true }) end,
      "'exclusive' is an option of relations")
    helper.has_error(function() world:relation "ChildOf" end, "and cannot be declared")
    helper.has_error(function() world:tag "Likes" end, "cannot become a plain component or tag")
    helper.has_error(function() world:relation "Position" end, "cannot become a relation")
    helper.has_error(function() world:resource "Owes" end, "cannot be a resource")
  end)

  it("is migrated with its ties: fields, policy, acyclic", function()
    world:add(e, "Likes", bob)
    world:add(bob, "DockedTo", e)
    world:add(e, "DockedTo", bob)
    world:relation("Likes", { "much: f32 = 2", on_target_despawn = "despawn" })
    assert.equal(2.0, world:get(e, "Likes", bob))
    local acyclic = { "since: f64", exclusive = true, acyclic = true }
    helper.has_error(function() world:relation("DockedTo", acyclic) end,
      "cannot become acyclic while its ties form a cycle: ")
    world:remove(bob, "DockedTo")
    world:relation("DockedTo", acyclic)
    helper.has_error(function() world:add(bob, "DockedTo", e) end, "would form a cycle")
    world:despawn(bob)
    assert.is_false(world:alive(e))
    world:undeclare "Likes"
  end)

  it("C51: is saved, loaded, restored and digested with its ties and their order", function()
    for _, source in ipairs { eve, bob } do
      world:add(source, "DockedTo", port)
    end
    world:set(e, "Owes", bob, 3)
    local image, snapshot, digest = world:save(), world:snapshot(), world:digest()
    local copy = helper.new_world()
    copy:load(image)
    assert.equal(digest, copy:digest())
    assert.equal(image, copy:save())
    assert.same({ eve, bob }, collect(copy:sources(port, "DockedTo")))
    assert.equal(3, copy:get(e, "Owes", bob))
    world:despawn(bob)
    assert.not_equal(digest, world:digest())
    world:restore(snapshot)
    assert.equal(image, world:save())
  end)
end)

describe("when a target dies", function()
  it("C51: images lack the tables of pairs with a component that is declared no more", function()
    world:component("Held", { "x: f32" })
    world:add(e, "Owes", "Held")
    world:remove(e, "Owes", "Held")
    world:undeclare "Held"
    local image = world:save()
    world:load(image)
    assert.equal(image, world:save())
  end)

  it("its sources lose the tie, die with it, or forbid it", function()
    world:relation("Rides", { exclusive = true, on_target_despawn = "despawn" })
    world:relation("Needs", { on_target_despawn = "error" })
    world:add(e, "Likes", bob)
    world:add(e, "DockedTo", bob)
    world:add(eve, "Rides", bob)
    world:add(port, "Needs", bob)
    helper.has_error(function() world:despawn(bob) end, "cannot be despawned while ",
      "is tied to it by 'Needs', whose on_target_despawn is \"error\": remove that tie first")
    assert.is_true(world:alive(bob) and world:has(e, "Likes") and world:alive(eve))
    world:remove(port, "Needs")
    world:despawn(bob)
    assert.same({ false, false, false }, { world:alive(eve), world:has(e, "Likes"),
      world:has(e, "DockedTo") })
    local heir = world:spawn()
    assert.is_false(world:has(e, "Likes", heir))
  end)

  it("what is spawned with ties to the dead is told of by the order of relations", function()
    local names = {}
    for i = 1, 8 do
      names[i] = ("Needs%d"):format(i)
      world:relation(names[i], { on_target_despawn = "error" })
    end
    for _ = 1, 20 do
      local dying, ties = world:spawn(), {}
      for i = #names, 2, -1 do
        local other = math.random(i)
        names[i], names[other] = names[other], names[i]
      end
      for _, name in ipairs(names) do
        ties[name] = dying
      end
      world:defer()
      world:despawn(dying)
      world:spawn(ties)
      helper.has_error(function() world:commit() end, "'Needs1'")
    end
  end)

  it("C87: children of any depth and number die with it", function()
    local count, last = helper.by_scale { small = 2000, normal = 20000, deep = 200000 }, e
    for _ = 1, count do
      last = world:spawn { ChildOf = last }
    end
    world:spawn_many(count, { ChildOf = last })
    assert(#world:describe().tables < 8)
    world:despawn(e)
    assert.equal(3, world:count "")
  end)
end)

describe("in a scope, ties and despawns apply in the order given", function()
  local function commit(fn)
    world:defer()
    fn()
    return pcall(world.commit, world)
  end

  it("so that a child that goes to another parent first survives", function()
    world:add(e, "ChildOf", bob)
    world:add(eve, "ChildOf", bob)
    assert.is_true(commit(function()
      world:add(e, "ChildOf", port)
      world:despawn(bob)
      world:add(eve, "ChildOf", port)
      assert.equal(bob, world:parent(e))
    end))
    assert.same({ true, false }, { world:alive(e), world:alive(eve) })
    assert.equal(port, world:parent(e))
  end)

  it("and what cannot apply is dropped, and the first such error told", function()
    local ok, message = commit(function()
      world:add(e, "ChildOf", bob)
      world:add(bob, "ChildOf", e)
      world:add(e, "Frozen")
    end)
    assert.is_false(ok)
    assert(message:find("'ChildOf' would form a cycle", 1, true), message)
    assert.same({ bob, true }, { world:parent(e), world:has(e, "Frozen") })
    assert.is_nil(world:parent(bob))
  end)

  it("and pairs added behind the removal of all stay", function()
    world:add(e, "Likes", bob)
    assert.is_true(commit(function()
      world:remove(e, "Likes")
      world:add(e, "Likes", eve)
      world:set(e, "Owes", eve, 3)
      world:set(e, "Owes.amount", eve, 4)
      assert.is_nil(world:get(e, "Owes", eve))
    end))
    assert.same({ eve }, collect(world:targets(e, "Likes")))
    assert.equal(4, world:get(e, "Owes", eve))
  end)

  it("and an error of a system's ties is the system's", function()
    world:system("loop", { run = function()
      world:add(e, "ChildOf", bob)
      world:add(bob, "ChildOf", e)
    end })
    helper.has_error(function() world:update(1) end,
      "system 'loop': 'ChildOf' would form a cycle")
    assert.equal(bob, world:parent(e))
  end)
end)

describe("a tie that is taken away and brought again in one scope", function()
  it("has its defaults: by remove, by the death of its target, by an id", function()
    world:relation("Rides", { "since: f64 = 2.5", exclusive = true })
    world:relation("Lends", { "amount: i32 = 7" })
    local away = {
      function(rider) world:remove(rider, "Rides") end,
      function(rider) world:remove(rider, "Rides", bob) end,
      function(rider) world:remove(rider, world:pair("Rides", bob)) end,
      function() world:despawn(bob) end,
    }
    for i, take_away in ipairs(away) do
      local rider = world:spawn()
      world:set(rider, "Rides", bob, 1)
      world:defer()
      take_away(rider)
      world:add(rider, "Rides", eve)
      world:commit()
      assert.same({ eve, 2.5 }, { world:get(rider, "Rides") }, i)
    end
    world:set(e, "Lends", eve, 1)
    world:set(e, "Lends", port, 2)
    world:defer()
    world:remove(e, "Lends")
    world:add(e, "Lends", eve)
    world:commit()
    assert.equal(7, (world:get(e, "Lends", eve)))
    assert.is_false(world:has(e, "Lends", port))
  end)

  it("keeps its fields when it was never away", function()
    world:relation("Rides", { "since: f64 = 2.5", exclusive = true })
    world:set(e, "Rides", bob, 1)
    world:defer()
    world:remove(e, "Rides", eve)
    world:add(e, "Rides", bob)
    world:commit()
    assert.same({ bob, 1.0 }, { world:get(e, "Rides") })
  end)
end)

describe("C87: parents and children", function()
  it("are asked for, listed, and never go in a circle", function()
    assert.is_nil(world:parent(e))
    assert.same({}, collect(world:children(e)))
    world:add(bob, "ChildOf", e)
    world:add(eve, "ChildOf", bob)
    assert.equal(e, world:parent(bob))
    assert.same({ bob }, collect(world:children(e)))
    local way = ("%s -> %s -> %s -> %s"):format(ecs.format(e), ecs.format(eve), ecs.format(bob),
      ecs.format(e))
    helper.has_error(function() world:add(e, "ChildOf", eve) end,
      "'ChildOf' would form a cycle: " .. way)
    world:name(e, "ship")
    world:name(eve, ("long"):rep(10))
    helper.has_error(function() world:add(e, "ChildOf", eve) end, (way:gsub("^%S+", "%0 'ship'")))
    helper.has_error(function() world:add(e, "ChildOf", eve) end, "'ship' ->")
  end)

  it("have names of their own for each parent, found by paths", function()
    world:name(e, "ship")
    local guns = { world:spawn { ChildOf = e }, world:spawn() }
    for _, gun in ipairs(guns) do
      world:name(gun, "gun")
    end
    assert.same({ guns[1], guns[2] }, { world:lookup "ship.gun", world:lookup "gun" })
    helper.has_error(function() world:add(guns[2], "ChildOf", e) end, "the name 'gun' belongs to")
    helper.has_error(function() world:name(bob, "a.b") end, "has a dot")
    for _, path in ipairs { "ship.", ".gun", "ship.gun.gun", "ship..gun", "." } do
      assert.is_nil(world:lookup(path))
    end
    world:name(guns[1], "turret")
    world:add(guns[2], "ChildOf", e)
    assert.same({ guns[1], guns[2] }, { world:lookup "ship.turret", world:lookup "ship.gun" })
  end)
end)

describe("a live script's relation", function()
  it("is edited with its ties, and stays with them when it is declared no more", function()
    local files <close> = setmetatable(scratch.new(), {
      __index = scratch, __close = scratch.close,
    })
    local function write(text)
      files:write("a.lua", "local world = ...\n" .. text)
    end
    local live = helper.new_world()
    write "world:relation 'Trusts'"
    local session = require("ecs.live").open(live, { files.path })
    local a, b = live:spawn(), live:spawn()
    live:add(a, "Trusts", b)
    write "world:relation('Trusts', { 'much: f32 = 3', on_target_despawn = 'despawn' })"
    assert.is_true(session:poll(true))
    assert.equal(3.0, live:get(a, "Trusts", b))
    assert.equal("despawn", live:describe("Trusts").on_target_despawn)
    live:add(a, "Trusts", a)
    write "world:relation('Trusts', { exclusive = true, on_target_despawn = 'despawn' })"
    local ok, message = session:poll(true)
    assert.is_false(ok)
    assert(message:find("'Trusts' cannot become exclusive", 1, true), message)
    live:remove(a, "Trusts", a)
    assert.is_true(session:poll(true))
    assert.same({ b }, { live:get(a, "Trusts") })
    write ""
    assert.is_true(session:poll(true))
    assert.same({ "Trusts" }, session:status().orphans)
    live:despawn(b)
    assert.is_false(live:alive(a))
  end)
end)
