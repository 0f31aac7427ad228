-- Prefabs that are declared again and are made of others, or of other ones than before.

local helper = require "spec.support.ecs_helper"
local prefabs = require "spec.support.prefab_twice"

local world

before_each(function() world = prefabs.new_world() end)

local function twice(declare) prefabs.twice(world, declare) end

describe("C87: a child of the same name in what a prefab is made of", function()
  local function base(path)
    local of = world:target(world:lookup(path), "IsA")
    local parent = world:parent(of)
    return (parent and world:name(parent) .. "." or "") .. world:name(of)
  end

  before_each(function()
    world:prefab("A", {}, { children = { { "k", { H = { 1 } },
      { children = { { "m", { H = { 7 } } }, { "both", { H = { 8 } } } } } } } })
    world:prefab("C", {}, { children = { { "k", { S = { 2 } },
      { children = { { "n" }, { "both", { S = { 9 } } } } } } } })
    world:prefab("Gun", { S = { 5 } }, { children = { { "barrel" } } })
  end)

  it("stays, and is made of the new one, when that changes", function()
    world:prefab("X", { T = true }, { is_a = "A" })
    local k, both = world:lookup "X.k", world:lookup "X.k.both"
    local function declare()
      world:prefab("X", { T = true }, { is_a = "C" })
    end
    twice(declare)
    assert.same({ k, both, "C.k" }, { world:lookup "X.k", world:lookup "X.k.both", base "X.k" })
    assert.same({ false, 2 }, { world:has(k, "H"), (world:get(k, "S")) })
    assert.same({ false, 9 }, { world:has(both, "H"), (world:get(both, "S")) })
    assert.is_nil(world:lookup "X.k.m")
    assert.is_truthy(world:lookup "X.k.n")
    local made = world:instantiate "X"
    assert.equal("k", world:name((world:children(made)())))
    world:check()
  end)
end)

describe("C87: ties of what a prefab is made of", function()
  before_each(function()
    world:tag "Good"
    world:tag "Evil"
    world:relation("Side", { "zeal: i32 = 1", exclusive = true })
    world:relation("Likes", { "how: i32 = 1" })
  end)

  local function ties(path)
    local at = world:lookup(path)
    local side, zeal = world:get(at, "Side")
    return { side, zeal, world:get(at, "Likes", world:lookup(path .. ".k")) }
  end

  it("are those of a prefab that is declared again, which lead to its own", function()
    local function declare(side, zeal, how)
      local id = world:describe(side).id
      for _ = 1, 2 do
        local likes = world:lookup "Orc.k" and world:pair("Likes", world:lookup "Orc.k")
        world:prefab("Orc", { Side = { target = id, zeal = zeal }, [likes or "T"] = likes
          and { how = how } or true }, { children = { { "k" } } })
      end
      twice(function() world:prefab("Chief", {}, { is_a = "Orc" }) end)
      assert.same({ id, zeal, how }, ties "Chief")
    end
    local id = {}
    for _, side in ipairs { "Evil", "Good", "Evil" } do
      id = world:describe(side).id
      declare(side, id, id + 1)
    end
    twice(function() world:prefab("Chief", { Side = "Good" }, { is_a = "Orc" }) end)
    assert.same({ world:describe("Good").id, id }, { table.unpack(ties "Chief", 1, 2) })
    twice(function() world:prefab("Chief", { Side = "Good" }) end)
    assert.same({ world:describe("Good").id, 1 }, { world:get(world:lookup "Chief", "Side") })
    assert.is_false(world:has(world:lookup "Chief", "Likes"))
  end)
end)

describe("C87: a prefab that is declared again", function()
  it("is tied by pairs whose first field has a value to their targets alone", function()
    world:relation("Owes", { "amount: i32" })
    world:relation("Bound", { "force: f32", on_target_despawn = "error" })
    local x
    twice(function()
      x = world:prefab("X", { [world:pair("Owes", "T")] = { amount = 2 },
        [world:pair("Bound", "T")] = { force = 1.5 } })
    end)
    local targets = world:targets(x, "Owes")
    assert.same({ world:describe("T").id, nil }, { targets(), targets() })
  end)

  it("does not grow where prefabs are made of each other", function()
    local function declare(name, base)
      world:prefab(name, {}, { children = { { "l", {}, { is_a = base } },
        { "r", {}, { is_a = base } } } })
    end
    local function all()
      declare("C", "A")
      declare("A", "C")
      return world:digest()
    end
    world:prefab("A", {})
    all()
    local before = all()
    assert.equal(before, all())
    world:load(world:save())
    assert.equal(before, world:digest())
  end)

  it("may be tied the other way round by a relation without circles", function()
    world:relation("Dep", { exclusive = true, acyclic = true })
    for i, names in ipairs { { "k", "m" }, { "m", "k" } } do
      local base = "B" .. i
      world:prefab(base, {}, { children = { { "k" }, { "m" } } })
      world:add(world:lookup(base .. "." .. names[1]), "Dep",
        world:lookup(base .. "." .. names[2]))
    end
    world:prefab("X", {}, { is_a = "B1" })
    twice(function() world:prefab("X", {}, { is_a = "B2" }) end)
    assert.equal(world:lookup "X.k", world:target(world:lookup "X.m", "Dep"))
    world:prefab("Y", {}, { children = { { "k" } } })
    world:prefab("Y", {}, { children = { { "k" }, { "m", {}, { is_a = "Y.k" } } } })
    world:prefab("Y", {}, { children = { { "k", {}, { is_a = "Y.m" } }, { "m" } } })
    assert.equal(world:lookup "Y.m", world:target(world:lookup "Y.k", "IsA"))
  end)

  it("tells a child of its own from the one it has with what it is made of", function()
    world:component("Ref", { "to: entity" })
    local base = world:prefab("B", {}, { children = { { "k" } } })
    world:set(base, "Ref", { to = world:lookup "B.k" })
    twice(function()
      world:prefab("X", {}, { is_a = "B", children = { { "q", {}, { is_a = "B.k" } },
        { "k", {}, { is_a = "B.k" } }, { {}, { is_a = "B.k" } } } })
    end)
    assert.equal(world:lookup "X.k", (world:get(world:lookup "X", "Ref")))
    world:prefab("X", {}, { is_a = "B" })
    assert.is_nil(world:lookup "X.q")
  end)

  it("takes nameless children of what it is made of as they are now", function()
    local function declare(value)
      world:prefab("B", {}, { children = { { { H = { value } }, { children = { { "j" } } } } } })
      twice(function() world:prefab("X", {}, { is_a = "B" }) end)
      return world:get((world:children(world:lookup "X")()), "H")
    end
    assert.same({ 1, 2 }, { (declare(1)), (declare(2)) })
  end)

  it("may be deep", function()
    local depth = helper.by_scale { small = 2000, normal = 5000, deep = 30000 }
    local below = {}
    for _ = 1, depth do
      below = { { {}, { children = below } } }
    end
    world:prefab("D", {}, { children = below })
    for _ = 1, 2 do
      world:prefab("X", {}, { is_a = "D", children = { { "k", {}, { is_a = "D" } } } })
    end
    local found = 0
    local at = world:lookup "X.k"
    while at do
      found, at = found + 1, (world:children(at)())
    end
    assert.equal(depth + 1, found)
  end)
end)
