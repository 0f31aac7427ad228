-- What relations require, and what is required of entities with ties.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

-- Serves (pairs) and DockedTo (exclusive) require Hull, which requires the tag Iron.
local function new_world()
  local world = helper.new_world()
  world:tag "Iron"
  world:component("Hull", { "hp: i32 = 7", requires = { "Iron" } })
  world:relation("Serves", { requires = { "Hull" } })
  world:relation("DockedTo", { "since: f64", exclusive = true, requires = { "Hull" } })
  world:relation "Likes"
  return world, world:spawn()
end

local function check(world, e)
  assert.are.equal(7, (world:get(e, "Hull.hp")))
  assert.is_true(world:has(e, "Iron"))
end

describe("what a relation requires", function()
  it("comes with a tie in every way of tying, in the same move", function()
    local world, port = new_world()
    for _, name in ipairs { "Serves", "DockedTo" } do
      check(world, world:spawn { [name] = port })
      for _, e in ipairs(world:spawn_many(3, { [name] = port, Likes = { port } })) do
        check(world, e)
      end
      local e = world:spawn()
      world:add(e, name, port)
      check(world, e)
      world:defer()
      e = world:spawn { Likes = port }
      world:add(e, name, port)
      world:commit()
      check(world, e)
    end
    local e = world:spawn()
    world:set(e, "DockedTo", port, 2)
    check(world, e)
    world:component("Flag", { requires = { "Hull" } })
    e = world:spawn { Likes = port, Flag = true, DockedTo = port }
    check(world, e)
    helper.check(world)
  end)

  it("cannot be removed before the last tie, and then can", function()
    local world, port = new_world()
    local e, other = world:spawn { Serves = port }, world:spawn()
    world:add(e, "Serves", other)
    world:add(e, "DockedTo", port)
    has_error(function() world:remove(e, "Hull") end, "'Hull' cannot be removed", "requires it")
    world:remove(e, "DockedTo")
    world:remove(e, "Serves", port)
    has_error(function() world:remove(e, "Hull") end, "'Serves' requires it")
    world:remove(e, "Serves")
    check(world, e)
    world:remove(e, "Hull")
    world:remove(e, "Iron")
    assert.is_nil((world:components(e)()))
  end)

  it("may go in the scope in which the tie goes, in whatever order", function()
    local world, port = new_world()
    for _, name in ipairs { "Serves", "DockedTo" } do
      for order = 1, 2 do
        local e = world:spawn { [name] = port }
        world:defer()
        if order == 1 then world:remove(e, name) end
        world:remove(e, "Iron")
        world:remove(e, "Hull")
        if order == 2 then world:remove(e, name, port) end
        world:commit()
        assert.is_false(world:has(e, "Hull"))
        assert.is_false(world:has(e, "Iron"))
      end
    end
  end)

  it("may go when the target dies in the same scope", function()
    local world = new_world()
    for _, name in ipairs { "Serves", "DockedTo" } do
      local port = world:spawn()
      local e = world:spawn { [name] = port }
      world:defer()
      world:remove(e, "Hull")
      world:despawn(port)
      world:commit()
      assert.is_false(world:has(e, "Hull"))
      assert.is_false(world:has(e, name))
      helper.check(world)
    end
  end)

  it("is not brought by what ties nobody", function()
    local world, port = new_world()
    local e, gone = world:spawn(), world:spawn()
    world:defer()
    world:set(e, "DockedTo", ecs.null)
    world:despawn(gone)
    world:add(e, "Serves", gone)
    world:add(e, "DockedTo", gone)
    world:commit()
    world:relation("Rides", { exclusive = true, acyclic = true, requires = { "Hull" } })
    world:defer()
    world:add(e, "Rides", e)
    has_error(function() world:commit() end, "Rides")
    assert.is_false(world:has(e, "Rides"))
    assert.is_false(world:has(e, "Hull"))
    assert.is_true(world:alive(port))
    helper.check(world)
  end)

  it("is refused among other errors of a scope in the order given", function()
    local world, port = new_world()
    world:relation("Within", { exclusive = true, acyclic = true })
    for first = 1, 2 do
      local e = world:spawn { DockedTo = port }
      world:defer()
      if first == 1 then world:remove(e, "Hull") end
      world:add(e, "Within", e)
      if first == 2 then world:remove(e, "Hull") end
      world:add(e, "Likes", port)
      has_error(function() world:commit() end, first == 1 and "'DockedTo' requires it" or "Within")
      check(world, e)
      assert.is_true(world:has(e, "Likes", port))
      assert.is_false(world:has(e, "Within"))
    end
  end)

  it("is given to all who are tied when it is declared later, and kept by images", function()
    local world, port = new_world()
    local e = world:spawn { Likes = { port } }
    world:relation("Likes", { requires = { "Hull" } })
    check(world, e)
    assert.are.same({ "Hull" }, world:describe("Likes").requires)
    has_error(function() world:undeclare "Hull" end, "'Hull' cannot be undeclared", "requires it")
    local other = helper.new_world()
    other:load(world:save())
    assert.are.equal(world:digest(), other:digest())
    has_error(function() other:remove(e, "Hull") end, "'Likes' requires it")
    helper.check(other)
  end)

  it("is given to the rows of an image that was made before", function()
    local world, port = new_world()
    world:component("Crew", { "n: i32 = 4" })
    local e, image = world:spawn { Likes = port }, world:save()
    world:relation("Likes", { requires = { "Crew" } })
    world:load(image)
    assert.are.equal(4, (world:get(e, "Crew.n")))
    helper.check(world)
  end)

  it("comes with bulk changes of what has ties, and holds against them", function()
    local world, port = new_world()
    world:component("Flag", { requires = { "Hull" } })
    local e = world:spawn { Likes = port, DockedTo = port }
    local f = world:spawn { Likes = port }
    world:component("Mark", { "n: i32" })
    world:add(f, "Mark")
    world:query("Mark"):where(function(m) return m.n == 0 end):add "Flag"
    check(world, f)
    has_error(function()
      world:query("Hull"):where(function(h) return h.hp == 7 end):remove "Hull"
    end, "requires it")
    check(world, e)
    helper.check(world)
  end)

  it("is never a relation", function()
    local world = new_world()
    for _, name in ipairs { "Likes", "DockedTo", "ChildOf", "IsA" } do
      has_error(function() world:component("Bad", { requires = { name } }) end, "requires",
        "'" .. name .. "' is a relation")
    end
    has_error(function() world:component("Bad", { requires = { world:relation "Likes" } }) end,
      "'Likes' is a relation")
    has_error(function() world:relation("Worse", { requires = { "Serves" } }) end,
      "'Serves' is a relation")
    has_error(function() world:component("Parent", { was = "ChildOf" }) end,
      "built-in relation")
  end)

  it("follows a relation under another name, whose ties stay", function()
    local world, port = new_world()
    local e = world:spawn { DockedTo = port, Serves = port }
    world:relation("MooredAt", { "since: f64", exclusive = true, requires = { "Hull" },
      was = "DockedTo" })
    world:relation("Obeys", { requires = { "Hull" }, was = "Serves" })
    assert.are.equal(port, (world:target(e, "MooredAt")))
    assert.is_true(world:has(e, "Obeys", port))
    has_error(function() world:remove(e, "Hull") end, "requires it")
    has_error(function() world:add(e, "Serves", port) end, "its name is now 'Obeys'")
    helper.check(world)
  end)
end)
