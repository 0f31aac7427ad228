-- The model that random runs trust (spec/support/model.lua), held to the design sentence by
-- sentence, and the runtime beside it.

local compare = require "spec.support.compare"
local helper = require "spec.support.ecs_helper"
local model = require "spec.support.model"

local makers = {
  model = function()
    return model.world { tag = 9 }
  end,
  runtime = function()
    return helper.new_world { tag = 9 }
  end,
}

local function declare(world)
  world:component("Position", { "x: f32", "y: f32 = 2" })
  world:component("Body", { "offset: Position", "m: u8[3]", "mode: enum(idle, run) = run" })
  world:component("Link", { "to: entity", "what: any", "text: string = none" })
  world:tag("Frozen")
  return world
end

local function each_world(cases)
  local sentences = {}
  for sentence in pairs(cases) do
    sentences[#sentences + 1] = sentence
  end
  table.sort(sentences)
  for _, name in ipairs { "model", "runtime" } do
    describe("the " .. name, function()
      for _, sentence in ipairs(sentences) do
        it(sentence, function()
          cases[sentence](declare(makers[name]()))
        end)
      end
    end)
  end
end

local function ids_of(world, text)
  return helper.sorted(helper.ids_of(world:query(text)))
end

local function reads(expected, world, entity, component)
  local value = world:read(entity, component)
  assert(compare.same(expected, value), compare.show(value))
end

local FIRST = 65536

local function id(index, generation)
  return index | generation << 28 | 9 << 44
end

each_world {
  ["C87: refuses what is to be a prefab's child, and nothing of none"] = function(world)
    local ship, dead = world:prefab("Ship", {}, { children = { { "axe" } } }), world:spawn()
    world:despawn(dead)
    for _, to in ipairs { ship, world:children(ship)() } do
      helper.has_error(function() world:spawn_many(1, { ChildOf = to }) end, "prefab")
      assert.are.same({}, world:spawn_many(0, { ChildOf = to }))
      assert.is_true(pcall(world.set, world, world:spawn(), "Link.to", to))
    end
    helper.has_error(function() world:spawn_many(0, { ChildOf = dead }) end, "is dead")
    helper.has_error(function() world:spawn_many(0, { Position = { z = 1 } }) end)
  end,

  ["C87: has the relations of every world once there is a prefab"] = function(world)
    world:prefab("Ship", {}, { children = {} })
    assert.are.equal(world:tag "Frozen" + 4, world:tag "Late")   -- what marks prefabs, IsA, ChildOf
  end,

  ["takes a target behind relations alone"] = function(world)
    local e, other = world:spawn { Position = {} }, world:spawn()
    for _, method in ipairs { "has", "get", "read", "add", "remove" } do
      for _, name in ipairs { "Position", "Frozen" } do
        helper.has_error(function() world[method](world, e, name, other) end)
      end
    end
  end,

  ["C77: passes over what is off, and keeps it off in moves and copies"] = function(world)
    world:component("AI", { "mood: i32", toggle = true })
    local a, b = world:spawn { AI = { mood = 1 } }, world:spawn { AI = {}, Frozen = true }
    world:disable(a, "AI")
    assert.is_false(world:enabled(a, "AI"))
    assert.are.same({ b }, ids_of(world, "AI"))
    assert.are.same({ a }, ids_of(world, "AI:off, !Frozen"))
    assert.are.same({ a }, ids_of(world, "!AI"))
    assert.are.equal(2, world:count "AI:any")
    world:add(a, "Frozen")
    local digest, image, kept = world:digest(), world:save(), world:snapshot()
    world:enable(a, "AI")
    assert.are_not.equal(digest, world:digest())
    world:restore(kept)
    assert.are.equal(digest, world:digest())
    world:remove(a, "AI")
    world:add(a, "AI")
    assert.is_true(world:enabled(a, "AI"))
    world:load(image)
    assert.are.same({ a }, ids_of(world, "AI:off"))
    assert.is_false(pcall(world.component, world, "AI", { "mood: i32" }))
    assert.is_false(pcall(world.disable, world, a, "Position"))
    assert.is_false(pcall(world.query, world, "Position:off"))
    world:defer()
    world:enable(a, "AI")
    world:disable(b, "AI")
    assert.are.same({ b }, ids_of(world, "AI"))
    world:commit()
    assert.are.same({ b }, ids_of(world, "AI:off"))
  end,
  ["gives ids from 65536 on, a freed index with the next generation (C38)"] = function(world)
    local a, b = world:spawn(), world:spawn()
    assert.are.equal(id(FIRST, 0), a)
    assert.are.equal(id(FIRST + 1, 0), b)
    world:despawn(a)
    world:despawn(b)
    assert.are.equal(id(FIRST + 1, 1), world:spawn())
    assert.are.equal(id(FIRST, 1), world:spawn())
  end,

  ["tells dead, unborn, foreign and no ids apart (C37, C63, C64)"] = function(world)
    local e = world:spawn()
    world:despawn(e)
    local wrong = {
      ["is dead"] = e,
      ["was never spawned"] = id(FIRST + 7, 0),
      ["belongs to another world"] = e ~ 1 << 44,
      ["is not an entity id"] = 0,
    }
    for phrase, value in pairs(wrong) do
      assert.is_false(world:alive(value))
      helper.has_error(function()
        world:set(value, "Position", 1)
      end, phrase)
    end
  end,

  ["retires a used-up slot until recycle_retired (C39, C40)"] = function(world)
    local last = world:spawn_at(id(FIRST + 3, 65535))
    world:despawn(last)
    helper.has_error(function()
      world:spawn_at(last)
    end)
    for i = 0, 3 do
      assert.are.equal(id(FIRST + (i < 3 and i or 4), 0), world:spawn())
    end
    assert.are.equal(1, world:recycle_retired())
    assert.are.equal(id(FIRST + 3, 0), world:spawn())
  end,

  ["rounds f32, keeps defaults and merges nested values (C23)"] = function(world)
    local e = world:spawn { Position = { x = 0.1 }, Body = { offset = { x = 3 }, m = { [2] = 7 } } }
    reads({ x = helper.f32(0.1), y = 2.0 }, world, e, "Position")
    reads({ offset = { x = 3.0, y = 2.0 }, m = { 0, 7, 0 }, mode = "run" }, world, e, "Body")
    world:set(e, "Body.offset.y", 5)
    world:set(e, "Body", { m = { 1 }, mode = "idle" })
    reads({ offset = { x = 3.0, y = 5.0 }, m = { 1, 7, 0 }, mode = "idle" }, world, e, "Body")
  end,

  ["refuses a value that does not fit and changes nothing"] = function(world)
    local e = world:spawn { Body = {} }
    for _, m in ipairs { { 1, 256 }, { 1, -1 }, { 1, 0.5 }, { 1, "2" }, { 1, 1, 1, 1 } } do
      helper.has_error(function()
        world:set(e, "Body", { m = m })
      end)
    end
    reads({ offset = { x = 0.0, y = 2.0 }, m = { 0, 0, 0 }, mode = "run" }, world, e, "Body")
  end,

  ["reads null where the entity that a field names is dead"] = function(world)
    local target = world:spawn()
    local e = world:spawn { Link = { to = target } }
    assert.are.equal(target, (world:get(e, "Link.to")))
    world:despawn(target)
    assert.are.equal(0, (world:get(e, "Link.to")))
    world:spawn()
    assert.are.equal(0, world:read(e, "Link").to)
  end,

  ["sets by position, by name and by path; fewer values leave the rest"] = function(world)
    local e = world:spawn()
    world:set(e, "Position", 4)
    reads({ x = 4.0, y = 2.0 }, world, e, "Position")
    world:set(e, "Position", { y = 6 })
    reads({ x = 4.0, y = 6.0 }, world, e, "Position")
    world:set(e, "Link.text", "hello")
    reads({ to = 0, text = "hello" }, world, e, "Link")
  end,

  ["matches terms with and without, optional and alternative"] = function(world)
    local a = world:spawn { Position = true }
    local b = world:spawn { Position = true, Frozen = true }
    local c = world:spawn { Link = true }
    assert.are.same({ a }, ids_of(world, "Position, !Frozen"))
    assert.are.same({ a, b }, ids_of(world, "Position, Link?"))
    assert.are.same({ b, c }, ids_of(world, "Frozen|Link"))
    assert.are.equal(3, world:count(""))
    assert.are.equal(2, world:count("!Frozen"))
  end,

  ["frees a name when its entity goes, and gives it to one at a time"] = function(world)
    local a, b = world:spawn(), world:spawn()
    world:name(a, "player")
    helper.has_error(function()
      world:name(b, "player")
    end, "player")
    assert.are.equal(a, world:lookup("player"))
    world:despawn(a)
    assert.is_nil(world:lookup("player"))
    world:name(b, "player")
    assert.are.equal("player", world:name(b))
  end,
}

each_world {
  ["keeps structural changes until the outermost scope ends (C50)"] = function(world)
    local e = world:spawn { Position = { x = 1 } }
    world:defer()
    world:defer()
    world:add(e, "Frozen")
    world:set(e, "Link", { text = "new" })
    world:set(e, "Position", 9)
    local new = world:spawn { Position = true }
    world:commit()
    assert.is_false(world:has(e, "Frozen"))
    assert.is_nil(world:read(e, "Link"))
    assert.are.equal(9.0, (world:get(e, "Position")))
    assert.is_true(world:alive(new))
    assert.is_false(world:has(new, "Position"))
    assert.are.same({ e }, ids_of(world, "Position"))
    assert.are.equal(0, world:count("!Position"))
    world:commit()
    assert.is_true(world:has(e, "Frozen"))
    assert.are.equal("new", (world:get(e, "Link.text")))
    assert.are.same({ e, new }, ids_of(world, "Position"))
  end,

  ["stages a set once a command on the component is staged"] = function(world)
    local e = world:spawn { Position = { x = 1, y = 1 } }
    world:defer()
    world:remove(e, "Position")
    world:set(e, "Position", 5)
    assert.are.equal(1.0, (world:get(e, "Position")))
    world:commit()
    reads({ x = 5.0, y = 2.0 }, world, e, "Position")
  end,

  ["drops the commands of a cancelled scope alone and kills what it spawned"] = function(world)
    local e = world:spawn { Position = true }
    world:defer()
    world:add(e, "Frozen")
    world:defer()
    world:remove(e, "Position")
    local new = world:spawn()
    world:name(new, "short")
    world:cancel()
    assert.is_false(world:alive(new))
    assert.is_nil(world:lookup("short"))
    world:commit()
    assert.is_true(world:has(e, "Frozen"))
    assert.is_true(world:has(e, "Position"))
  end,

  ["does nothing for a command whose entity is dead when it applies"] = function(world)
    local e = world:spawn { Position = true }
    world:defer()
    world:despawn(e)
    world:add(e, "Frozen")
    world:despawn(e)
    assert.is_true(world:alive(e))
    world:commit()
    assert.is_false(world:alive(e))
    assert.are.equal(0, world:count("Frozen"))
  end,

  ["stages inside a loop; an error in it drops what the loop staged"] = function(world)
    local e = world:spawn { Position = true }
    local query = world:query("Position")
    for _, visited in query:each() do
      world:add(visited, "Frozen")
      assert.is_false(world:has(visited, "Frozen"))
      if visited == e then
        break
      end
    end
    assert.is_true(world:has(e, "Frozen"))
    assert.is_false(pcall(query.each, query, function()
      world:remove(e, "Frozen")
      error("no")
    end))
    assert.is_true(world:has(e, "Frozen"))
  end,

  ["refuses update, run and recycle_retired inside defer and function forms"] = function(world)
    world:spawn { Position = true }
    local function all_refuse()
      for _, name in ipairs { "update", "recycle_retired" } do
        assert.is_false(pcall(world[name], world, 0))
      end
      assert.is_false(pcall(world.run, world, "update", 0))
    end
    world:defer()
    all_refuse()
    world:cancel()
    world:query("Position"):each(all_refuse)
    world:update(0)
  end,
}

local function recorder(log, name)
  return function(_, dt)
    log[#log + 1] = name
    log[#log + 1] = dt
  end
end

local function add_systems(world, log, systems)
  for _, system in ipairs(systems) do
    local spec = { run = recorder(log, system[1]) }
    for key, value in pairs(system) do
      if type(key) == "string" then
        spec[key] = value
      end
    end
    world:system(system[1], spec)
  end
end

each_world {
  ["runs systems by phase, then constraints, then registration (C46)"] = function(world)
    local log = {}
    add_systems(world, log, {
      { "draw", phase = "render" },
      { "b", after = { "c" } },
      { "a" },
      { "c" },
      { "once", phase = "startup" },
      { "early", phase = "pre_update" },
      { "d", before = { "a", "unknown" } },
    })
    world:update(0.5)
    local names = {}
    for i = 1, #log, 2 do
      names[#names + 1] = log[i]
    end
    assert.are.same({ "once", "early", "c", "b", "d", "a", "draw" }, names)
    world:update(0.5)
    assert.are.equal(13 * 2, #log)
  end,

  ["refuses a cycle and keeps the systems as they were"] = function(world)
    local log = {}
    add_systems(world, log, { { "a", after = { "b" } } })
    helper.has_error(function()
      add_systems(world, log, { { "b", after = { "a" } } })
    end)
    world:update(1)
    assert.are.same({ "a", 1.0 }, log)
  end,

  ["gives a system the time since it last ran, the first time the update's (C48)"] = function(world)
    local log = {}
    add_systems(world, log, { { "a" }, { "slow", every = 0.5 } })
    world:update(0.25)
    world:switch("a", false)
    world:update(0.25)
    world:update(0.25)
    world:switch("a", true)
    world:update(0.25)
    assert.are.same({ "a", 0.25, "slow", 0.25, "a", 0.75, "slow", 0.5 }, log)
  end,

  ["counts the time that a phase was off, too"] = function(world)
    local log = {}
    add_systems(world, log, { { "a" } })
    world:update(0.25)
    world:switch("update", false)
    world:update(0.25)
    world:switch("update", true)
    world:update(0.25)
    assert.are.same({ "a", 0.25, "a", 0.5 }, log)
  end,

  ["runs a fixed phase as often as time demands, with a cap"] = function(world)
    local log = {}
    world:phase("physics", { after = "update", fixed = 0.25 })
    add_systems(world, log, { { "a", phase = "physics" } })
    world:update(0.125)
    assert.are.same({}, log)
    assert.are.equal(0.5, world:alpha())
    world:update(0.5)
    assert.are.same({ "a", 0.25, "a", 0.25 }, log)
    assert.are.equal(0.5, world:alpha())
    world:update(100)
    assert.are.equal(4 + 16, #log)
  end,

  ["drops a failing system's commands and parks it when errors are handled"] = function(world)
    local handled = {}
    local function fail()
      world:spawn { Frozen = true }
      error("no")
    end
    world:system("bad", { run = fail })
    helper.has_error(function()
      world:update(1)
    end, "bad")
    assert.are.equal(0, world:count("Frozen"))
    world:on_error(function(message, name)
      handled[#handled + 1] = name
      assert.is_string(message)
    end)
    world:update(1)
    world:update(1)
    assert.are.same({ "bad" }, handled)
    world:system("bad", { run = function()
      world:spawn { Frozen = true }
    end })
    world:update(1)
    assert.are.equal(1, world:count("Frozen"))
  end,
}

each_world {
  ["keeps what has the same name or was renamed, and defaults the rest"] = function(world)
    local e = world:spawn { Body = { offset = { x = 3 }, m = { 1, 2, 3 } } }
    world:component("Position", { "left: f64", "z: i8 = 4", was = { left = "x" } })
    world:component("Body", { "mode: enum(run, walk)", "m: i16[2]", "offset: Position" })
    reads({ mode = "run", m = { 1, 2 }, offset = { left = 3.0, z = 4 } }, world, e, "Body")
  end,

  ["refuses a migration as a whole"] = function(world)
    local e = world:spawn { Position = { x = 0.5 } }
    local f = world:spawn { Position = { x = 1 } }
    helper.has_error(function()
      world:component("Position", { "x: i32", "y: f32" })
    end)
    reads({ x = 0.5, y = 2.0 }, world, e, "Position")
    reads({ x = 1.0, y = 2.0 }, world, f, "Position")
  end,

  ["brings back a snapshot, also of components that have changed"] = function(world)
    local e = world:spawn { Position = { x = 1 } }
    world:name(e, "first")
    local snapshot = world:snapshot()
    world:despawn(e)
    world:spawn { Frozen = true }
    world:restore(snapshot)
    reads({ x = 1.0, y = 2.0 }, world, e, "Position")
    assert.are.equal(e, world:lookup "first")
    assert.are.equal(0, world:count "Frozen")
    world:component("Position", { "x: f64" })
    world:restore(snapshot)
    reads({ x = 1.0 }, world, e, "Position")
  end,

  ["loads an image into components that have moved on"] = function(world)
    local e = world:spawn { Position = { x = 1 } }
    local link = world:spawn { Link = { to = e } }
    local image = world:save()
    world:despawn(e)
    world:undeclare "Frozen"
    world:component("Position", { "y: f64", "x: i8" })
    world:load(image)
    reads({ x = 1, y = 2.0 }, world, e, "Position")
    assert.are.equal(e, (world:get(link, "Link.to")))
    assert.are.equal(0, world:count "Frozen")
  end,
}
