-- A session of edits to the demo's scripts while its world lives. Each step saves files, and
-- says beside it what the world and the schedule are to be then; everything else is to be what
-- it was. `expected` is the whole world as plain lists.

local helper = require "spec.support.ecs_helper"
local picture = require "spec.support.picture"
local swarm = require "spec.support.swarm"

local f32 = helper.f32

-- "name tier" of all systems of each phase, in their order.
local function schedule_of(world)
  local phases = {}
  for _, phase in ipairs(world:describe().phases) do
    phases[phase.name] = ""
  end
  for _, system in ipairs(world:describe().systems) do
    local text = phases[system.phase]
    phases[system.phase] = ("%s%s%s %s"):format(text, text == "" and "" or ", ", system.name,
      system.tier)
  end
  return phases
end

local function first_schedule()
  return {
    startup = "",
    pre_update = "respawn vector",
    physics = "flock vector, clock vector, fly vector, find_way vector, find_spring vector, "
      .. "steer vector, move vector, look_around vector",
    update = "sense_danger lua, hurt vector, wound vector, heal vector, age vector",
    post_update = "fade vector, reap vector",
    render = "",
  }
end

describe("a session of edits to the demo's scripts", function()
  local files, world, session
  local expected, touched, digest     -- the world
  local schedule, alive
  local problems, reported            -- how many errors were told of, and are to be

  local steps = {}

  local function step(what, fn)
    steps[#steps + 1] = { what = what, fn = fn }
  end

  -- The picture of what is expected, to be changed.
  local function expect()
    touched = true
    return expected
  end

  -- Runs a system: that opens a stream of random numbers, which the digest shows.
  local function run(name, dt)
    world:run(name, dt)
    touched = true
  end

  local function assert_world()
    assert.are.same(schedule, schedule_of(world))
    assert.are.equal(alive, world:describe().entities)
    if touched then
      local now = picture.of(world)
      local problem = expected:difference(now)
      assert(not problem, problem)
      expected, digest, touched = now, world:digest(), false
    end
    assert.are.equal(digest, world:digest())
    helper.check(world)
  end

  -- Files have been saved: they take effect, and all is as expected.
  local function swapped()
    local ok, message = helper.poll(session)
    assert(ok == true, message or "nothing has changed")
    assert.is_nil((helper.poll(session)))
    assert.is_nil(session:status().last_error)
    assert.are.equal(reported, problems)
    assert_world()
  end

  -- They do not; the error holds these texts, and is told once.
  local function refused(...)
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    for _, text in ipairs { ... } do
      assert(message:find(text, 1, true), message)
    end
    assert.is_nil((helper.poll(session)))
    reported = reported + 1
    assert.are.equal(message, session:status().last_error)
    assert.are.equal(reported, problems)
    assert_world()
  end

  -- Half a second for every being: `age` takes `by` off what is left of lives. What else it
  -- might have done shows when all is looked at again.
  local function age(by)
    run("age", 0.5)
    expected:map("Life.left", function(left) return f32(left - by) end)
    local problem = expected:difference_in(world, "Life")
    assert(not problem, problem)
    digest = world:digest()
  end

  -- A world that starts with the scripts as they are now has the same systems, and goes on with
  -- an image of this one as this one does. What scripts keep in Lua is to be that of a start.
  local function assert_like_a_fresh_start()
    assert.is_true(session:poll(true))
    assert_world()
    local image = world:save()
    local fresh = swarm.open(files.path, 0, 0, 0)
    fresh:load(image)
    for _ = 1, 4 do
      world:update(1 / 30)
      fresh:update(1 / 30)
    end
    assert.are.same(schedule, schedule_of(fresh))
    assert.are.equal(world:digest(), fresh:digest())
    assert(world:digest() ~= digest)
    world:load(image)
    assert_world()
    fresh:close()
  end

  -- ---- constants and functions -------------------------------------------------------------

  step("a changed constant", function()
    files:edit("life.lua", "life.left - dt", "life.left - 2 * dt")
    swapped()
    age(1)
  end)

  step("another within the same second, as long as the first", function()
    files:edit("life.lua", "2 * dt", "4 * dt")
    swapped()
    age(2)
  end)

  step("a file saved by renaming", function()
    files:edit("life.lua", "4 * dt", "6 * dt", files.replace)
    swapped()
    age(3)
  end)

  step("a changed upvalue", function()
    files:edit("damage.lua", "healed_above = 40, 90", "healed_above = 101, 90")
    swapped()
    run("wound", 0)
    expect().components.Wounded.entities = expected.components.Health.entities
    assert_world()
  end)

  step("a changed condition", function()
    files:edit("damage.lua", "health.hp > healed_above", "health.hp > 0")
    swapped()
    run("heal", 0)
    expect().components.Wounded.entities = {}
    assert_world()
  end)

  step("a swapped function", function()
    files:edit("movement.lua", "local x = position.x + velocity.x * dt\n    local y",
      "local x = room.left\n    local y")
    swapped()
    run("move", 0)
    local rooms, left = expect().components.Room, {}
    for row, entity in ipairs(rooms.entities) do
      left[entity] = rooms.fields.left[row]
    end
    local x = expected:column "Position.x"
    for row, entity in ipairs(expected.components.Position.entities) do
      x[row] = left[entity] or x[row]
    end
    assert_world()
  end)

  step("the function as it was", function()
    files:revert "movement.lua"
    swapped()
    run("move", 0)
    assert_world()
  end)

  -- ---- fields, and a file that uses them ---------------------------------------------------

  step("an added field", function()
    files:edit("components.lua", '"speed: f32 = 5"', '"fuel: f32 = 3" }, { "speed: f32 = 5"')
    expect():add("Motor.fuel", 3.0)
    swapped()
  end)

  step("a new file, with a system over the new field", function()
    files:write("fuel.lua", [[
      local world = ...
      world:system("burn", { query = "Motor", each = function(motor, dt)
        motor.fuel = motor.fuel - dt
      end })]])
    schedule.update =
      "sense_danger lua, hurt vector, wound vector, heal vector, burn vector, age vector"
    swapped()
    run("burn", 0.5)
    expect():map("Motor.fuel", function() return 2.5 end)
    assert_world()
  end)

  step("one file of several that must swap together", function()
    files:edit("components.lua", '{ { "hp: f32 = 100", min = 0, max = 100 } }',
      '{ "points: f32 = 100", was = { points = "hp" } }')
    refused("'hurt'", "no field 'hp'")
  end)

  step("the others, too: a renamed field", function()
    files:edit("damage.lua", "health.hp", "health.points")
    files:edit("life.lua", "health.hp", "health.points")
    files:edit("population.lua", "{ hp = hp }", "{ points = hp }")
    expect():rename("Health.hp", "points")
    swapped()
    run("wound", 0)
    expect().components.Wounded.entities = expected.components.Health.entities
    assert_world()
  end)

  step("a start of the files as they are now", assert_like_a_fresh_start)

  step("retyped fields: wider, and narrower", function()
    files:edit("components.lua", '"points: f32 = 100"', '"points: f64 = 100"')
    files:edit("components.lua", '"cell: i32"', '"cell: u16"')
    files:edit("components.lua", '"made: i32"', '"made: f64"')
    expect():map("Spawner.made", function(made) return made + 0.0 end)
    swapped()
    assert.are.equal("f64", world:describe("Health").fields[1].type)
    assert.are.equal("u16", world:describe("Room").fields[1].type)
  end)

  step("a float that is rounded", function()
    files:edit("components.lua", '"points: f64 = 100"', '"points: f32 = 100"')
    local seeker = expected.components.Health.entities[1]
    world:set(seeker, "Health.points", 0.1)
    expect():column("Health.points")[1] = f32(0.1)
    swapped()
  end)

  step("a migration that must be refused", function()
    files:edit("components.lua", '"speed: f32 = 5"', '"speed: i32 = 5"')
    refused("components.lua:", "cannot migrate 'Motor'", "entity ", "speed = ", "not of type i32")
  end)

  step("one that fits, together with one that does not", function()
    files:edit("components.lua", '"speed: i32 = 5"', '"speed: f64 = 5"')
    files:edit("components.lua", '"left: f32", unit', '"left: u8", unit')
    refused("cannot migrate 'Life'", "left = ", "not of type u8")
    assert.are.equal("f32", world:describe("Motor").fields[2].type)
  end)

  step("both put right", function()
    files:edit("components.lua", '"speed: f64 = 5"', '"speed: f32 = 5"')
    files:edit("components.lua", '"left: u8", unit', '"left: f32", unit')
    swapped()
  end)

  -- ---- mistakes ----------------------------------------------------------------------------

  step("a syntax error", function()
    files:edit("life.lua", "life.left - 6 * dt", "life.left - 6 * ")
    refused("life.lua:", "unexpected symbol")
    age(3)
  end)

  step("its end", function()
    files:edit("life.lua", "life.left - 6 * ", "life.left - 2 * dt")
    swapped()
    age(1)
  end)

  step("an error at run time, after new registrations", function()
    files:edit("steering.lua", "local NEAR = 1.5", [[
      world:tag "Lost"
      world:system("lose", { run = print })
      local NEAR = nothing.here]])
    refused("steering.lua:", "'nothing'")
    helper.has_error(function() world:count "Lost" end, "unknown component")
  end)

  step("its end, by another way", function()
    files:revert "steering.lua"
    swapped()
  end)

  step("a system that fails when it runs", function()
    files:edit("life.lua", "life.left - 2 * dt", "life.left - lives.left")
    schedule.update = schedule.update:gsub("age vector", "age lua")
    swapped()
    local failed
    world:on_error(function(message) failed = message end)
    run("age", 0.5)
    assert(failed:find("system 'age'", 1, true) and failed:find("'lives'", 1, true), failed)
    assert_world()
  end)

  step("the same without its mistake: it is parked no more", function()
    files:edit("life.lua", "life.left - lives.left", "life.left - 2 * dt")
    schedule.update = schedule.update:gsub("age lua", "age vector")
    swapped()
    age(1)
  end)

  step("a component that another file has declared otherwise", function()
    files:write("again.lua", 'local world = ...  world:component("Life", { "years: i32" })')
    refused("'Life'", "other fields", "again.lua")
  end)

  step("precompiled code", function()
    files:write("again.lua", string.dump(function() end))
    refused("again.lua:1: ", "precompiled")
  end)

  step("a file that goes before it was ever right", function()
    files:remove "again.lua"
    swapped()
  end)

  -- ---- what goes, and what moves -----------------------------------------------------------

  step("a removed system", function()
    files:write("fuel.lua", "local world = ...  world:query 'Motor'")
    schedule.update = schedule.update:gsub("burn vector, ", "")
    touched = true           -- its streams of random numbers go with it
    swapped()
    helper.has_error(function() world:run("burn", 0) end, "burn")
  end)

  step("a dropped field", function()
    files:edit("components.lua", '"fuel: f32 = 3" }, { ', "")
    expect():drop "Motor.fuel"
    swapped()
  end)

  step("a removed file", function()
    files:remove "fuel.lua"
    swapped()
  end)

  step("a file under another name: its systems come later", function()
    assert(os.rename(files.path .. "/movement.lua", files.path .. "/walk.lua"))
    schedule.physics = "flock vector, find_way vector, find_spring vector, steer vector, "
      .. "clock vector, move vector, fly vector, look_around vector"
    swapped()
  end)

  step("a start of the files as they are now", assert_like_a_fresh_start)

  step("two files change places", function()
    files:remove "walk.lua"
    files:write("steering.lua", "")
    files:revert "movement.lua"
    files:revert "steering.lua"
    schedule.physics = first_schedule().physics
    swapped()
  end)

  step("a phase of another length", function()
    files:edit("components.lua", "fixed = 1 / 30", "fixed = 1 / 60")
    swapped()
    assert.are.equal(1 / 60, world:describe().phases[3].fixed)
    assert.are.equal("physics", world:describe().phases[3].name)
  end)

  -- ---- other kinds of fields ---------------------------------------------------------------

  step("a tag that becomes a component, and the function that is given it", function()
    files:edit("components.lua", 'world:tag "Wounded"',
      'world:component("Wounded", { "since: f64 = 7" })')
    files:edit("damage.lua", "each = function(health, course, dt",
      "each = function(health, course, wounded, dt")
    files:edit("damage.lua", "healing * dt", "(wounded.since - 7)")
    expect():add("Wounded.since", 7.0)
    swapped()
  end)

  step("a tag again", function()
    files:edit("components.lua", 'world:component("Wounded", { "since: f64 = 7" })',
      'world:tag "Wounded"')
    refused("components.lua:", "'Wounded' has fields", "declare it with world:component and no "
      .. "fields, {}")
    files:edit("components.lua", 'world:tag "Wounded"', 'world:component("Wounded", {})')
    files:revert "damage.lua"
    files:edit("damage.lua", "health.hp", "health.points")
    expect():drop "Wounded.since"
    swapped()
  end)

  step("enums, texts, entities, arrays and nested components", function()
    files:edit("components.lua", '"rate: f32 = 2"', [["mood: enum(calm, angry) = angry" },
      "label: string = seeker", "friend: entity", "trail: i16[2] = 4", "home: Position",
      { "rate: f32 = 2"]])
    expect():add("Motor.mood", "angry")
    expect():add("Motor.label", "seeker")
    expect():add("Motor.friend", 0)
    expect():add("Motor.trail[1]", 4)
    expect():add("Motor.trail[2]", 4)
    expect():add("Motor.home.x", 0.0)
    expect():add("Motor.home.y", 0.0)
    swapped()
  end)

  step("enums by name, longer arrays, fields inside fields", function()
    files:edit("components.lua", "enum(calm, angry) = angry", "enum(furious, angry, calm)")
    files:edit("components.lua", "trail: i16[2] = 4", "trail: i64[3] = 5")
    files:edit("components.lua", '"Position", { "x: f32"', '"Position", { "z: f32 = 1", "x: f32"')
    expect():add("Motor.trail[3]", 5)
    expect():add("Motor.home.z", 1.0)
    expect():add("Position.z", 1.0)
    swapped()
  end)

  step("a resource with another field, which a kernel reads", function()
    files:edit("components.lua", '"time: f64"', '"time: f64", "pace: f64 = 4"')
    files:edit("life.lua", "local SPARKS = 3", 'local SPARKS, clock = 3, world:res "Clock"')
    files:edit("life.lua", "life.left - 2 * dt", "life.left - clock.pace * dt")
    expect():add("Clock.pace", 4.0)
    swapped()
    age(2)
    world:res("Clock").pace = 2
    expect().resources.Clock.pace = 2.0
    age(1)
  end)

  step("a module that a script requires", function()
    files:write("lib/pace.lua", "return { pace = 4 }")
    files:edit("life.lua", 'world:res "Clock"', 'require "lib.pace"')
    swapped()
    age(2)
  end)

  step("an edit of the module", function()
    files:write("lib/pace.lua", "return { pace = 6 }")
    swapped()
    age(3)
  end)

  step("a module with a mistake", function()
    files:write("lib/pace.lua", "return { pace = 6 + nil }")
    refused("lib/pace.lua:1:", "arithmetic")
    age(3)
  end)

  step("a new file's component on living beings", function()
    files:remove "lib/pace.lua"
    files:revert "life.lua"
    files:edit("life.lua", "health.hp", "health.points")
    files:write("mood.lua", [[
      local world, script = ...
      world:component("Mood", { "joy: u8 = 9" })
      script:on_load(function() world:query("Motor"):add "Mood" end)]])
    files:edit("mood.lua", 'world:query("Motor"):add "Mood"', [[
        for _, entity in world:query("Motor"):each() do world:add(entity, "Mood") end]])
    expect().components.Mood = { entities = expected.components.Motor.entities, fields = {} }
    expect():add("Mood.joy", 9)
    swapped()
  end)

  step("the file goes, but neither the component nor a being", function()
    files:remove "mood.lua"
    swapped()
    assert.are.same({ "Mood" }, session:status().orphans)
  end)

  local whole

  step("a file that is cut before it declares anything", function()
    whole = files:read "components.lua"
    files:write("components.lua", "local world = ...\n")
    refused("unknown phase 'physics'")
  end)

  step("one that declares nothing but a phase: all components are nobody's", function()
    files:write("components.lua", "local world = ...\n" .. whole:match "world:phase[^\n]*\n")
    swapped()
    assert(#session:status().orphans > 8)
  end)

  step("the whole file again: no value is lost", function()
    files:write("components.lua", whole)
    swapped()
    assert.are.same({ "Mood" }, session:status().orphans)
  end)

  step("what nobody declares is forgotten", function()
    assert.are.same({ "Mood" }, session:forget())
    expect().components.Mood = nil
    assert_world()
  end)

  step("everything as the demo has it: a field is not known by another name", function()
    for name in pairs(swarm.scripts()) do
      files:revert(name)
    end
    expect():add("Health.hp", 100.0)
    expect():drop "Health.points"
    expect():drop "Position.z"
    expect():map("Spawner.made", function(made) return made // 1 | 0 end)
    for field in pairs(expected.components.Motor.fields) do
      if field ~= "speed" and field ~= "phase" and field ~= "rate" then
        expect():drop("Motor." .. field)
      end
    end
    expect():drop "Clock.pace"
    schedule = first_schedule()
    swapped()
  end)

  step("a start of the files as they are now", assert_like_a_fresh_start)

  setup(swarm.begin)

  teardown(function()
    swarm.finish()
    world, session, expected = nil, nil, nil     -- they are large
  end)

  it("leaves the expected world and schedule after each step, and loses no one", function()
    local count = helper.by_scale { small = 2000, normal = 20000, deep = 100000 }
    files, problems, reported = swarm.copy(), 0, 0
    world, session = swarm.open(files.path, count * 3 // 4, count // 4, count // 100, {
      on_error = function() problems = problems + 1 end,
    })
    expected, touched, digest = picture.of(world), false, world:digest()
    alive, schedule = world:describe().entities, first_schedule()
    assert(alive >= count and #steps >= 30)
    assert_world()
    for number, entry in ipairs(steps) do
      local ok, message = xpcall(entry.fn, function(problem)
        return debug.traceback(tostring(problem))
      end)
      if not ok then
        files:close()
        error(("step %d, %s: %s"):format(number, entry.what, message), 0)
      end
    end
    files:close()
  end)
end)
