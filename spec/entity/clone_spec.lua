-- Copies of entities with their children: world:clone.

local collect = require "spec.support.collect"
local helper = require "spec.support.ecs_helper"

local world, ship, turret, barrel, port

-- A ship with a turret with a barrel, which know each other, and a hook.
before_each(function()
  world = helper.new_world()
  world:component("Hull", { "mass: f64", "label: string", "cargo: any", "parts: entity[2]" })
  world:component("Gun", { "heat: f32 = 5", "m: i8[3]" })
  world:component("Fuel", { "left: i32", storage = "sparse" })
  world:component("AI", { "mood: i32", toggle = true })
  world:relation "Likes"
  world:relation("Owes", { "amount: i32" })
  world:relation("DockedTo", { "since: f64", exclusive = true })
  port = world:spawn()
  ship = world:spawn { Hull = { mass = 3, label = "a ship", cargo = { 1 } }, Fuel = { 7 },
                       AI = { 4 }, DockedTo = { port, 2.5 }, Likes = port }
  turret = world:spawn { ChildOf = ship, Gun = { heat = 1, m = { 1, 2, 3 } }, Likes = ship }
  barrel = world:spawn { ChildOf = turret, [world:pair("Owes", turret)] = { amount = 9 } }
  world:spawn { ChildOf = ship }
  world:set(ship, "Hull.parts[2]", barrel)
  world:set(ship, "Hull.parts[1]", port)
  world:disable(ship, "AI")
  world:name(ship, "ship")
  world:name(turret, "turret")
  world:name(barrel, "barrel")
end)

-- The child and the grandchild of a copy that have names.
local function parts_of(copy)
  local children = collect(world:children(copy))
  return children[1], collect(world:children(children[1]))[1], children
end

describe("C87: a clone", function()
  it("has the values of its source, of every kind", function()
    local copy = world:clone(ship)
    local mass, label, cargo = world:get(copy, "Hull")
    assert.same({ 3.0, "a ship" }, { mass, label })
    assert.equal(world:get(ship, "Hull.cargo"), cargo)
    assert.equal(7, (world:get(copy, "Fuel")))
    assert.equal(4, (world:get(copy, "AI")))
    assert.is_false(world:enabled(copy, "AI"))
    assert.same({ port, 2.5 }, { world:get(copy, "DockedTo") })
    assert.same({ port }, collect(world:targets(copy, "Likes")))
    world:set(copy, "Hull.cargo", "other")
    assert.same({ 1 }, (world:get(ship, "Hull.cargo")))
  end)

  it("has copies of all children, in their order, with their names, and none itself", function()
    local copy = world:clone(ship)
    local copied_turret, copied_barrel, children = parts_of(copy)
    assert.equal(2, #children)
    assert.is_nil(world:name(copy))
    assert.same({ "turret", "barrel" }, { world:name(copied_turret), world:name(copied_barrel) })
    assert.same({ 1.0, { 1, 2, 3 } }, { world:get(copied_turret, "Gun") })
    assert.equal(ship, world:lookup "ship")
    assert.equal(barrel, world:lookup "ship.turret.barrel")
    world:name(copy, "second")
    assert.equal(copied_barrel, world:lookup "second.turret.barrel")
  end)

  it("leads from copy to copy where sources lead to each other, and else to the same", function()
    local copy = world:clone(ship)
    local copied_turret, copied_barrel = parts_of(copy)
    assert.same({ port, copied_barrel }, (select(4, world:get(copy, "Hull"))))
    assert.same({ copy }, collect(world:targets(copied_turret, "Likes")))
    assert.equal(9, (world:get(copied_barrel, "Owes", copied_turret)))
    assert.is_false(world:has(copied_barrel, "Owes", turret))
  end)

  it("has no ties that others have to its source", function()
    local fan = world:spawn { Likes = ship }
    local copy = world:clone(ship)
    assert.same({ ship }, collect(world:targets(fan, "Likes")))
    assert.is_false(world:has(fan, "Likes", copy))
  end)

  it("gets what it is given over that, or beside", function()
    local other = world:spawn()
    local copy = world:clone(ship, { Hull = { mass = 8 }, Gun = true, DockedTo = other,
                                     Likes = other })
    assert.same({ 8.0, "a ship" }, { world:get(copy, "Hull.mass"), world:get(copy, "Hull.label") })
    assert.equal(5, (world:get(copy, "Gun.heat")))
    assert.same({ other, 2.5 }, { world:get(copy, "DockedTo") })
    assert.same({ port, other }, collect(world:targets(copy, "Likes")))
  end)

  it("is a child of the same parent, if its source is one", function()
    local copy = world:clone(turret)
    assert.same({ turret, copy }, { collect(world:children(ship))[1],
      collect(world:children(ship))[3] })
    assert.is_nil(world:name(copy))
    assert.equal(port, world:parent(world:clone(turret, { ChildOf = port })))
  end)

  it("can be taken of a component, too", function()
    local tag = world:tag "Tag"
    world:add(tag, "Gun")
    local copy = world:clone(tag)
    assert.is_true(world:has(copy, "Gun"))
    assert.is_true(copy & 0xFFFFFFF >= 65536)
  end)

  it("of a chain of a hundred thousand takes no recursion", function()
    local top = world:spawn()
    local at = top
    for _ = 1, helper.by_scale { small = 5000, normal = 100000, deep = 100000 } do
      at = world:spawn { ChildOf = at }
    end
    local others = 3
    local links = world:count "ChildOf" - others
    world:clone(top)
    assert.equal(others + 2 * links, world:count "ChildOf")
  end)
end)

describe("a clone in a scope", function()
  it("has its id at once, and all else when the scope ends", function()
    world:defer()
    local copy = world:clone(ship)
    assert.is_true(world:alive(copy))
    assert.is_false(world:has(copy, "Hull"))
    world:commit()
    assert.equal("a ship", (world:get(copy, "Hull.label")))
    assert.equal("barrel", world:name((select(2, parts_of(copy)))))
  end)

  it("copies what is there, and not what is staged", function()
    world:defer()
    world:set(ship, "Hull.mass", 50)
    world:remove(ship, "Fuel")
    world:spawn { ChildOf = ship, Gun = true }
    world:despawn(turret)
    local copy = world:clone(ship)
    world:commit()
    assert.equal(7, (world:get(copy, "Fuel")))
    assert.equal(2, #collect(world:children(copy)))
    assert.is_false(world:alive(turret))
    assert.equal("turret", world:name((parts_of(copy))))
  end)

  it("may be made several times, of children with names", function()
    world:defer()
    local first, second = world:clone(ship), world:clone(ship)
    world:name(first, "first")
    helper.check(world)
    world:commit()
    assert.is_not_nil(world:lookup "first.turret.barrel")
    assert.equal("turret", world:name((parts_of(second))))
  end)

  it("leaves nothing when the scope is cancelled", function()
    local before = world:digest()
    world:defer()
    local copy = world:clone(ship, { Hull = { cargo = {} } })
    world:cancel()
    assert.is_false(world:alive(copy))
    assert.equal(before, world:digest())
  end)

  it("of a system is made when that has run", function()
    local copy
    world:system("copying", { query = "Hull", run = function()
      copy = copy or world:clone(ship)
    end })
    world:update(1)
    assert.equal(2, #collect(world:children(copy)))
  end)
end)

describe("what cannot be cloned", function()
  it("is the dead, and what was never there", function()
    local dead = world:spawn()
    world:despawn(dead)
    assert.error_matches(function() world:clone(dead) end, "bad argument #1.*is dead")
    assert.error_matches(function() world:clone(1 << 40) end, "bad argument #1")
    assert.error_matches(function() world:clone(ship, { Nothing = true }) end, "Nothing")
  end)
end)
