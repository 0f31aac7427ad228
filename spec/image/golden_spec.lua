-- An image that an earlier version of the demo's scripts saved, loaded by later ones.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local picture = require "spec.support.picture"
local swarm = require "spec.support.swarm"

local IMAGE, SCRIPT = "spec/golden/swarm1.ecs", "spec/golden/swarm1.lua"
local BEINGS = 194

-- Three of them.
local function wounded_of(world) return world:query("Wounded"):first() end
local function hunter_of(world) return world:lookup "first hunter" end
local function spawner_of(world) return world:query("Spawner"):first() end

-- A world with what the scripts of that time declared.
local function old_world()
  local world = helper.new_world()
  assert(loadfile(SCRIPT))(world)
  return world
end

local function update(world, frames)
  for _ = 1, frames do
    world:update(1 / 30)
  end
  helper.check(world)
end

describe("an image of the demo", function()
  setup(swarm.begin)
  teardown(swarm.finish)

  it("is the same world when it is saved in the format of now", function()
    local world, other = old_world(), old_world()
    ecs.load_file(world, IMAGE)
    assert.are.equal(BEINGS, world:describe().entities)
    local bytes = world:save()
    other:load(bytes)
    assert.are.equal(world:digest(), other:digest())
    assert(bytes == other:save())
  end)

  it("loads into the demo, which goes on with it", function()
    local world = swarm.open(nil, 10, 10, 10)
    ecs.load_file(world, IMAGE)
    assert.are.equal(BEINGS, world:describe().entities)
    assert.are.equal(4, world:count "Wounded")
    assert.are.equal(24, world:count "Hunter")
    assert.are.equal(120, world:res("Settings").seekers)
    update(world, 60)
    assert.are.equal(24, world:count "Hunter")
    helper.approx(699 / 30 + 2, world:res("Clock").time, 0.1)
  end)

  it("loads into the next version of its scripts", function()
    local old, files = old_world(), swarm.copy()
    ecs.load_file(old, IMAGE)
    local expected = picture.of(old)
    -- a renamed field
    files:edit("components.lua", '{ { "hp: f32 = 100", min = 0, max = 100 } }',
      '{ "points: f32 = 100", was = { points = "hp" } }')
    files:edit("damage.lua", "health.hp", "health.points")
    files:edit("life.lua", "health.hp", "health.points")
    files:edit("population.lua", "{ hp = hp }", "{ points = hp }")
    expected:rename("Health.hp", "points")
    -- an added and a dropped one
    files:edit("components.lua", '{ "rate: f32 = 2", doc = "and how fast it is" }',
      '"fuel: f64 = 3"')
    files:edit("steering.lua", "motor.rate", "motor.fuel")
    files:edit("population.lua", ", rate = 1 + 3 * world:random(parent)", "")
    expected:add("Motor.fuel", 3.0)
    expected:drop "Motor.rate"
    expected:add("Course.way", 0)
    expected:drop "Course.goal"
    -- retyped ones
    files:edit("components.lua", '"cell: i32"', '"cell: u16"')
    files:edit("components.lua", '"made: i32"', '"made: f64"')
    expected:map("Spawner.made", function(made) return made + 0.0 end)

    local world = swarm.open(files.path, 10, 10, 10)
    ecs.load_file(world, IMAGE)
    local problem = expected:difference(picture.of(world))
    assert(not problem, problem)
    assert.are.equal(helper.f32(37.849742889404), (world:get(wounded_of(world), "Health.points")))
    assert.are.same({
      speed = helper.f32(8.0577154159546), phase = helper.f32(0.601540625095), fuel = 3.0,
    }, world:read(hunter_of(world), "Motor"))
    assert.are.equal(3479, (world:get(hunter_of(world), "Room.cell")))
    assert.are.equal(40.0, (world:get(spawner_of(world), "Spawner.made")))
    assert.are.equal("65669v0@7", ecs.format(hunter_of(world)))
    update(world, 60)
    files:close()
  end)

  it("is refused by scripts that it does not fit, and leaves their world alone", function()
    local files = swarm.copy()
    files:edit("components.lua", '"cell: i32"', '"cell: u8"')
    local world = swarm.open(files.path, 0, 0, 0)
    local before = world:digest()
    helper.has_error(function() ecs.load_file(world, IMAGE) end, IMAGE, "cannot migrate 'Room'",
      "cell = ", "u8")
    assert.are.equal(before, world:digest())
    update(world, 3)
    files:close()
  end)
end)
