-- The children of prefabs: how they are said, in which order they are, and that nothing else joins
-- them.

local collect = require "spec.support.collect"
local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"

local world

before_each(function()
  world = helper.new_world()
  world:component("P", { "x: f64" })
  world:tag "T"
end)

-- The children of an entity as text: names, or "-", with values of P, and theirs in brackets.
local function family(entity)
  local list = {}
  for child in world:children(entity) do
    local below = family(child)
    list[#list + 1] = (world:name(child) or "-") .. (world:has(child, "P")
      and ("=%g"):format((world:get(child, "P.x"))) or "") .. (below == "" and "" or "(" .. below
      .. ")")
  end
  return table.concat(list, " ")
end

local function declared(children, is_a)
  world:prefab("Ship", {}, { children = children, is_a = is_a })
  assert.equal(family(world:lookup "Ship"), family(world:instantiate "Ship"))
  return family(world:lookup "Ship")
end

describe("C87: a child of a prefab", function()
  it("is a name, a list of three, or a table of components", function()
    assert.equal("axe bow=5 -=4 -",
      declared { "axe", { "bow", { P = { 5 } } }, { P = { x = 4 } }, {} })
    assert.equal("-=1(a b)", declared { { { P = { 1 } }, { children = { "a", "b" } } } })
    assert.equal("a=2(leaf=3)", declared {
      a = { P = { 2 }, children = { leaf = { P = { 3 } } } } })
    assert.equal("-=2(leaf)", declared { { P = { 2 }, children = { "leaf" } } })
  end)

  it("has options among the keys of its table", function()
    world:prefab("Gun", { P = { 7 } })
    assert.equal("-=7 left=7", declared { { is_a = "Gun" }, left = { is_a = "Gun", T = true } })
    world:prefab("Ship", {}, { children = { { P = { 3 }, shared = { "P" } } } })
    local child = world:children(world:instantiate "Ship")()
    assert.is_false(world:has(child, "P"))
    assert.equal(3.0, (world:get(world:target(child, "IsA"), "P.x")))
  end)

  it("that is not understood is refused with its path, and nothing is changed", function()
    local before = world:digest()
    local function refused(text, ...)
      local given = table.pack(...)
      helper.has_error(function() world:prefab("Ship", table.unpack(given, 1, given.n)) end, text)
      assert.equal(before, world:digest())
    end
    local function child(text, entry)
      refused("prefab 'Ship', child 2" .. text, {}, { children = { "axe", entry } })
    end
    child(": the name of a child has a zero byte", { "a\0b" })
    child(", 'junk': unknown component 'junk'", { P = {}, junk = {} })
    child(", 'junk': a child is a name", { "k", {}, junk = 1 })
    child(", 'P': a child is a name", { "k", P = { 1 } })
    child(", 4: a child is a name", { "k", {}, {}, {} })
    child(", 'junk': unknown option (known: children, is_a, shared)", { "k", {}, { junk = 1 } })
    child(", 'junk': unknown component 'junk'", { "k", {}, { shared = { "junk" } } })
    child(", 'junk': unknown component 'junk'", { "k", {}, { shared = { junk = {} } } })
    child(", 'P': component 'P' has no field 'junk'", { "k", { P = { junk = 1 } } })
    child(", 'P': given both in shared", { "k", { P = { 1 } }, { shared = { P = { 2 } } } })
    child(": 'is_a' is an option", { "k", { is_a = "Ship" } })
    child(": there is no prefab 'Gun'", { is_a = "Gun" })
    child(": is_a must be the name of a prefab", { is_a = {} })
    child(": components must be a table", { false, {} })
    child(": a child is a name", 7)
    child(", child 1, child 'x', 'junk': unknown component", { children = {
      { children = { x = { junk = true } } } } })
    refused("prefab 'Ship', child 'k': components must be a table", {}, { children = { k = "x" } })
    refused("prefab 'Ship': 'shared' is an option", { shared = { "P" } })
    refused("prefab 'Ship', 'junk': unknown component 'junk'", { junk = true })
    local deep = { junk = true }
    for _ = 1, 60 do
      deep = { children = { deep } }
    end
    refused(", ..., child 1", {}, { children = { deep } })
  end)

  it("is refused with its path in live scripts, too", function()
    local files, errors, open
    world, files, errors, open = live_scene.new()
    files:write("a.lua", [[local world = ...
      world:component("P", { "x: f64" })
      world:prefab("Ship", {}, { children = { "axe" } })]])
    local session = open()
    for _, case in ipairs {
      { "{ P = {}, junk = {} }", ", 'junk': unknown component 'junk'" },
      { "{ 'k', {}, junk = 1 }", ", 'junk': a child is a name" },
      { "{ 'k', {}, { junk = 1 } }", ", 'junk': unknown option" },
      { "{ 'k', { P = { junk = 1 } } }", ", 'P': component 'P' has no field 'junk'" },
      { "{ 'k', {}, { shared = { 'junk' } } }", ", 'junk': unknown component 'junk'" },
      { "{ is_a = 'Gun' }", ": there is no prefab 'Gun'" },
    } do
      files:write("a.lua", ([[local world = ...
        world:component("P", { "x: f64" })
        world:prefab("Ship", {}, { children = { "axe", %s } })]]):format(case[1]))
      assert.is_false(helper.poll(session))
      local told = table.remove(errors)
      assert.is_truthy(told:find("a.lua:3: prefab 'Ship', child 2" .. case[2], 1, true), told)
    end
    files:write("b.lua", "local world = ... world:prefab('Boat', {}, { is_a = 'Ship.axe' })")
    files:write("a.lua", "local world = ... world:prefab('Ship', {}, { children = { 'axe' } })")
    assert.is_true(helper.poll(session))
    assert.equal(world:lookup "Ship.axe", world:target(world:lookup "Boat", "IsA"))
  end)
end)

describe("C87: the children of a prefab that is declared again", function()
  it("are in the order of the last declaration, named or not", function()
    assert.equal("a b c", declared { "a", "b", "c" })
    assert.equal("c a", declared { "c", "a" })
    assert.equal("d a c", declared { "d", "a", "c" })
    assert.equal("-=2 c -=1 a", declared { { P = { 2 } }, "c", { P = { 1 } }, "a" })
    assert.equal("a -=2 -=1", declared { "a", { P = { 2 } }, { P = { 1 } } })
    assert.equal("x(n m)", declared { { "x", {}, { children = { "n", "m" } } } })
    assert.equal("x(m n)", declared { { "x", {}, { children = { "m", "n" } } } })
  end)

  it("stand behind those of what it is made of, in the order of these", function()
    world:prefab("Base", {}, { children = { "a", "b" } })
    assert.equal("a b x y", declared({ "x", "y" }, "Base"))
    world:prefab("Base", {}, { children = { "b", "c", "a" } })
    assert.equal("b c a y x", declared({ "y", "x", "b" }, "Base"))
    assert.equal("y x b", declared { "y", "x", "b" })
  end)

  it("stay in that order when an image is loaded", function()
    declared { "a", "b", "c" }
    local image = world:save()
    declared { "c", "b", "a" }
    world:load(image)
    assert.equal("c b a", family(world:lookup "Ship"))
    assert.equal("c b a", family(world:instantiate "Ship"))
  end)

  it("are what they are in a session that began with the same file", function()
    local SCRIPT = [[local world = ...
      world:component("P", { "x: f64" })
      world:prefab("Base", {}, { children = { { "m" }, { "n" } } })
      world:prefab("Ship", { P = { 5 } }, { is_a = "Base", children = { %s } })]]
    local function text(children) return SCRIPT:format(children) end
    local first = text "{ 'a', { P = { 1 } } }, 'b', { P = { 7 } }, { P = { 8 } }"
    local second = text "{ P = { 8 } }, 'b', { 'a', { P = { 3 } } }, { P = { 7 } }"
    local function session(...)
      local files, _, open
      world, files, _, open = live_scene.new { tag = 9, seed = 1 }
      files:write("a.lua", (...))
      local opened = open()
      for _, edit in ipairs { select(2, ...) } do
        files:write("a.lua", edit)
        assert.is_true(helper.poll(opened))
      end
      return { digest = world:digest(), bytes = world:save(), family = family(world:lookup "Ship") }
    end
    assert.equal(session(second).family, session(first, second).family)
    assert.equal("m n -=8 b a=3 -=7", session(second).family)
    assert.same(session(first), session(first, second, first))
    assert.same(session(second), session(second, first, second))
  end)
end)

describe("C87: what is no part of a prefab", function()
  local ship, axe, parent, e

  local function scene(options)
    world = helper.new_world(options)
    world:component("P", { "x: f64" })
    world:component("Any", { "bag: any" })
    world:tag "T"
    ship = world:prefab("Ship", {}, {
      children = { { "axe", { P = { 1 } }, { children = { "edge" } } } } })
    axe = world:lookup "Ship.axe"
    parent = world:spawn()
    e = world:spawn { P = { 4 } }
  end

  it("is a copy of its child, which is nobody's", function()
    scene()
    local copy = world:clone(axe)
    assert.is_nil(world:parent(copy))
    assert.equal("edge", family(copy))
    assert.equal(parent, world:parent(world:clone(axe, { ChildOf = parent })))
    assert.equal("axe=1(edge)", family(ship))
    assert.equal("axe=1(edge)", family(world:instantiate "Ship"))
    local child = world:children(world:instantiate "Ship")()
    assert.equal(world:parent(child), world:parent(world:clone(child)))
  end)

  -- Ways to become the child of a prefab.
  local ways = {
    spawn = function(to) world:spawn { ChildOf = to, P = { 1 }, Any = { bag = {} } } end,
    ["spawn by a pair"] = function(to) world:spawn { [world:pair("ChildOf", to)] = true } end,
    spawn_many = function(to) world:spawn_many(3, { ChildOf = to, T = true }) end,
    spawn_at = function(to) world:spawn_at(e + 1000, { ChildOf = to }) end,
    clone = function(to) world:clone(e, { ChildOf = to, Any = { bag = {} } }) end,
    instantiate = function(to) world:instantiate("Ship", { ChildOf = to }) end,
    add = function(to) world:add(e, "ChildOf", to) end,
    ["add of a pair"] = function(to) world:add(e, world:pair("ChildOf", to)) end,
    set = function(to) world:set(e, "ChildOf", to) end,
    ["set of the field"] = function(to) world:set(e, "ChildOf.target", to) end,
    ["set of a child"] = function(to)
      world:add(e, "ChildOf", parent)
      local ok, problem = pcall(world.set, world, e, "ChildOf", { target = to })
      assert.equal(parent, world:parent(e))
      world:remove(e, "ChildOf")
      assert(ok, problem)
    end,
    scope = function(to) world:defer() world:add(e, "ChildOf", to) world:commit() end,
    ["query:add"] = function(to) world:query "P":add(world:pair("ChildOf", to)) end,
    ["query:set"] = function(to) world:query "P":set("ChildOf", to) end,
    ["where:set"] = function(to)
      world:query "P":where(function(p) return p.x >= 0 end):set("ChildOf", to)
    end,
    loop = function(to) for _, id in world:query "P":each() do world:add(id, "ChildOf", to) end end,
    ["a function that adds"] = function(to)
      world:query "P":each(function(_, _, id) world:add(id, "ChildOf", to) end)
    end,
    ["a function that sets"] = function(to)
      world:query "P":each(function(_, _, id) world:set(id, "ChildOf", to) end)
    end,
    ["a system"] = function(to)
      local function each(_, _, id) world:add(id, "ChildOf", to) end
      world:system("tie", { query = "P", each = each })
      local ok, problem = pcall(world.run, world, "tie")
      world:remove_system "tie"
      assert(ok, problem)
    end,
  }

  for name, way in pairs(ways) do
    it("does not become one by " .. name, function()
      for _, kernels in ipairs { true, false } do
        scene { kernels = kernels, tag = 7 }
        local digest, entities = world:digest(), world:describe().entities
        for _, to in ipairs { ship, axe } do
          helper.has_error(function() way(to) end, "which is a prefab", "world:prefab(name")
          helper.check(world)
        end
        assert.equal("axe=1(edge)", family(ship))
        assert.equal(entities, world:describe().entities)
        assert.equal(name:find "function" and world:digest() or digest, world:digest())
        local behind = world:spawn()
        scene { kernels = kernels, tag = 7 }
        assert.equal(world:spawn(), behind)      -- no id is lost
      end
    end)
  end

  it("is spawned in scopes, and tied to nobody", function()
    for _, kernels in ipairs { true, false } do
      scene { kernels = kernels }
      world:system("spawn", { query = "P", each = function()
        world:spawn { ChildOf = ship, T = true }
      end })
      helper.has_error(function() world:run "spawn" end, "world:prefab(name")
      assert.equal(kernels and "vector" or "lua", world:explain("spawn").tier)
      world:defer()
      world:spawn { ChildOf = world:prefab("New", {}, { children = { "k" } }), T = true }
      helper.has_error(function() world:commit() end, "'New', which is a prefab", "world:prefab(")
      assert.same({ 2, 0 }, { world:count "T", world:count "T, ChildOf" })
      assert.equal("k", family(world:lookup "New"))
    end
  end)

  it("may be a child of it in an old image, and is passed over", function()
    world:component("H", { "x: i32 = 3" })
    ecs.load_file(world, "spec/golden/template1.ecs")
    local b, bytes, digest = world:lookup "B", world:save(), world:digest()
    local other = helper.new_world()
    other:load(bytes)
    assert.equal(digest, other:digest())
    assert.same({ "k", "n" }, { world:name(collect(world:children(b))[1]),
      world:name(collect(world:children(b))[2]) })
    assert.equal("k", family(world:instantiate "B"))
    assert.equal("k", family(world:clone(b)))
    world:prefab("B", { H = { 5 } }, { children = { "m", "k" } })
    world:prefab("Q", {}, { is_a = "B" })
    assert.equal("m k", family(world:lookup "Q"))
    local n = world:lookup "B.n"
    assert.equal(7, (world:get(n, "H")))
    world:remove(n, "ChildOf")
    assert.is_nil(world:parent(n))
  end)
end)
