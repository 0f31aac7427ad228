-- Prefabs that are declared again as they are: nothing changes, and nothing is refused.

local helper = require "spec.support.ecs_helper"

local world

before_each(function()
  world = helper.new_world()
  world:component("H", { "x: i32 = 3" })
  world:component("S", { "y: i32" })
  world:tag "T"
end)

-- Declares twice, and sees that the second time changes nothing.
local function twice(declare)
  declare()
  local before = world:digest()
  declare()
  assert.equal(before, world:digest())
end

describe("C87: a prefab that is tied by a relation which requires something", function()
  local function declare()
    world:prefab("P", { R = { "T" }, Ex = { world:describe("T").id } },
      { children = { { "k", { R = { "T" } } } } })
    world:prefab("Q", { T = true }, { is_a = "P" })
  end

  it("can be declared again", function()
    world:relation("R", { requires = { "H" } })
    world:relation("Ex", { requires = { "S", "H" }, exclusive = true })
    twice(declare)
    assert.equal(3, (world:get(world:lookup "Q.k", "H")))
    assert.equal(0, (world:get(world:lookup "Q", "S")))
  end)

  it("can be declared again when the relation has come to require it", function()
    world:relation "R"
    world:relation("Ex", { exclusive = true })
    declare()
    world:relation("R", { requires = { "H" } })
    world:relation("Ex", { requires = { "S" }, exclusive = true })
    twice(declare)
    assert.equal(3, (world:get(world:lookup "Q", "H")))
  end)

  it("loses what it was tied for when it is tied no more", function()
    world:relation("R", { requires = { "H" } })
    world:prefab("P", { R = { "T" } })
    world:prefab("P", { T = true })
    assert.is_false(world:has(world:lookup "P", "H"))
  end)

  it("is declared again by an image", function()
    world:relation("R", { requires = { "H" } })
    world:prefab("P", { R = { "T" } })
    local image = world:save()
    local before = world:digest()
    world:load(image)
    assert.equal(before, world:digest())
  end)
end)
