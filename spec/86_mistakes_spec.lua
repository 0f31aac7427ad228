-- Mistakes of those who know other libraries, or this one a little: told, and nothing done.

local helper = require "spec.support.ecs_helper"
local ecs = require "ecs"

local world, one, other

before_each(function()
  world = helper.new_world()
  world:component("P", { "x: f64" })
  world:tag "F"
  world:tag "G"
  world:relation("Owes", { "n: f64" })
  world:prefab("Orc", { P = { 1 } })
  one, other = world:spawn { P = { 1 } }, world:spawn { P = { 2 } }
  world:name(other, "bob")
end)

local function refused(expected, fn, ...)
  local before = world:digest()
  helper.has_error(fn, expected, ...)
  assert.equal(before, world:digest())
  helper.check(world)
end

describe("one argument more than there may be", function()
  it("is not passed over by queries", function()
    local query = world:query "P"
    refused("world:despawn(entity) takes one", function() query:despawn(one) end)
    refused("the query's text says what it counts", function() query:count(one) end)
    refused("the query's text says whom it finds", function() query:ids(one) end)
    refused("one component expected", function() query:add("F", "G") end)
    assert.equal(2, query:count(nil))
  end)

  it("is not passed over by worlds", function()
    for _, method in ipairs { "has", "get", "read", "enabled", "add", "remove" } do
      refused("one component expected", function() world[method](world, one, "P", "F") end)
    end
    refused("one entity expected", function() world:despawn(one, other) end)
    refused("one entity expected", function() world:alive(one, other) end)
    refused("world:spawn_many makes several", function() world:spawn({}, {}) end)
    refused('world:add(entity, "ChildOf", parent) gives one', function()
      world:parent(one, other)
    end)
    refused("width * height", function() world:array("m", "u8", 4, 4) end)
    refused("world:commit() or world:cancel()", function() world:defer(function() end) end)
    assert.is_true(world:has(one, "P", nil))
  end)

  it("is the target of a tie", function()
    world:set(one, "Owes", other, 3)
    assert.is_true(world:has(one, "Owes", other))
    assert.equal(3.0, (world:get(one, "Owes", other)))
  end)
end)

describe("a mistake is told with what to write", function()
  it("in systems", function()
    local function system(text, spec)
      refused(text, function() world:system("s", spec) end)
    end
    system("its parameter 2 is called 'entity'",
      { query = "P", each = function(p, entity) p.x = entity end })
    system("a list of strings, without keys",
      { query = "P", after = { b = true }, each = function() end })
    system("unknown option 'update' (there are phase, query, each,",
      { query = "P", update = function() end })
    system("declare it before the systems that run in it",
      { query = "P", phase = "physics", each = function() end })
  end)

  it("in queries", function()
    for _, text in ipairs { "P, not F", "P, -F", "without F", "P, ~F" } do
      refused("'!' expected for what is to be absent", function() world:query(text) end)
    end
    refused("write query:each()", function() for _ in world:query "P".each do end end)
    refused("write query:chunks()", function() for _ in world:query "P".chunks do end end)
    world:tag "not"
    assert.equal(0, world:query "not":count())
  end)

  it("in declarations", function()
    refused("relation 'R': unknown option 'exclusiv' (known: acyclic,",
      function() world:relation("R", { exclusiv = true }) end)
    refused("event 'E': unknown option 'foo' (known: doc, was;",
      function() world:event("E", { foo = true }) end)
    refused("'Owes' is a relation", function() world:resource "Owes" end)
  end)

  it("where entities are named", function()
    refused("an entity is called so", function() world:add(one, "Owes", "bob") end)
    refused("an entity its id, which world:lookup gives",
      function() world:spawn { ChildOf = "bob" } end)
    refused("the entity comes first", function() world:get("P", one) end)
    refused("what a function is given ends with dt, entity", function() world:add(0.016, "F") end)
  end)

  it("where values are given", function()
    refused("expected behind the target", function() world:set(one, "Owes", 5) end)
    refused("got an ecs.query", function() world:set(one, "P", world:query "P") end)
    refused("(use remove)", function() world:set(one, "F", false) end)
    refused("has 1 field, got 2 values", function() world:set(one, "P", 1, 2) end)
  end)

  it("where a prefab's name stands for components", function()
    for _, spawn in ipairs { function() world:spawn "Orc" end,
      function() world:spawn_many(2, "Orc") end, function() world:clone(one, "Orc") end,
      function() world:spawn_at(one + 900, "Orc") end,
      function() world:instantiate("Orc", "Orc") end } do
      refused('a prefab is copied by world:instantiate "Orc"', spawn)
    end
    refused("a table of components expected", function() world:spawn(("x"):rep(1 << 20)) end)
  end)

  it("in the names of other libraries", function()
    refused("write despawn", function() world:destroy(one) end)
    refused("write spawn", function() world:entity() end)
    refused("ecs.world(...), with a dot", function() ecs:world() end)
  end)
end)
