-- world:spawner: functions that spawn by values.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local ecs = require "ecs"

local has_error = helper.has_error
local world

local function setup_world()
  world = helper.new_world { seed = 1, tag = 1 }
  world:component("Position", { "x: f32", "y: f32 = 7" })
  world:component("Health", { "hp: i16 = 100", "state: enum(well, hurt)", "by: entity" })
  world:component("Bag", { "names: string[2]", "what: any", "at: Position", storage = "sparse" })
  world:component("Shield", { "level: u8", toggle = true, requires = { "Health" } })
  world:tag "Alive"
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
    has_error(function() world:spawner "" end, "names of components are expected")
    has_error(function() world:spawner "Position," end, "names of components are expected")
    has_error(function() world:spawner "Position Alive" end, "stand between commas")
    has_error(function() world:spawner "Alive, Position, Alive" end, "it names 'Alive' twice")
    has_error(function() world:spawner "ChildOf" end, "'ChildOf' is a relation", "world:add")
    has_error(function() world:spawner(("Alive, "):rep(65)) end, "more than 64 components")
    has_error(function() world:spawner("Alive", {}) end, "bad argument #2 to 'spawner'",
      "the values are for the spawner")
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
    assert.same({ 5 }, { world:get(make(5), "Position") })
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
end)
