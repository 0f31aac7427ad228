-- What keeps prefabs what and where they were declared: their names, their parents, and the list
-- of those that count as declared again when an image is loaded.

local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

describe("a prefab", function()
  local world

  before_each(function()
    world = helper.new_world()
    world:component("H", { "x: i32" })
    world:tag "T"
  end)

  after_each(function()
    helper.check(world)
  end)

  it("keeps its children, which nobody unties", function()
    world:prefab("P", {}, { children = { { "k" } } })
    local k = world:lookup "P.k"
    for _, act in ipairs {
      function() world:remove(k, "ChildOf") end,
      function() world:set(k, "ChildOf", 0) end,
      function() world:defer() world:remove(k, "ChildOf") world:commit() end,
    } do
      has_error(act, "a prefab keeps the parent it was declared "
        .. "with", "cannot be taken from its parent")
      assert.are.equal(k, world:lookup "P.k")
    end
    has_error(function() world:add(k, "ChildOf", world:spawn()) end, "tied to another parent")
    world:remove(world:lookup "P", "ChildOf")      -- has none
    world:prefab("P", {})
    assert.is_false(world:alive(k))
  end)

  it("keeps its name from the line on that declares it, inside scopes, too", function()
    world:prefab("Base", { H = true })
    world:defer()
    local made = { world:prefab("N", {}), world:prefab("M", { T = true }, { is_a = "Base" }) }
    for _, prefab in ipairs(made) do
      has_error(function() world:name(prefab, false) end, "is a prefab, which keeps its name")
      has_error(function() world:name(prefab, "Other") end, "is a prefab, which keeps its name")
    end
    has_error(function() world:tag "N" end, "'N' is a prefab")
    world:commit()
    assert.are.same(made, { world:lookup "N", world:lookup "M" })
  end)

  it("has a name that no component takes", function()
    world:prefab("Z", {})
    for _, act in ipairs {
      function() world:tag "Z" end,
      function() world:component("Z", { "x: f64" }) end,
      function() world:relation "Z" end,
      function() world:event("Z", {}) end,
      function() world:array("Z", "f64", 3) end,
      function() world:component("Z", { "x: i32", was = "H" }) end,
    } do
      has_error(act, "'Z' is a prefab", "give the component another name")
    end
    assert.are.equal(0, world:describe("H").rows or 0)
    world:name(world:spawn(), "free")
    world:tag "free"
  end)

  it("that a world was restored without is not found among the children of others", function()
    world:prefab("Base", { H = true })
    local snapshot = world:snapshot()
    world:spawn()
    local b = world:prefab("B", { H = true })
    world:restore(snapshot)
    world:prefab("A", { H = true }, { children = { { "axe", { H = true } } } })
    assert.are.equal(b, world:lookup "A.axe")        -- has the id that B had
    local digest = world:digest()
    world:load(world:save())
    assert.are.equal(digest, world:digest())
    assert.is_nil(world:lookup "axe")
    world:name(world:spawn(), "axe")
    world:load(world:save())
  end)
end)
