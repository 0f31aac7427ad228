-- Prefabs that are declared again as they are: nothing changes, and nothing is refused.

local prefabs = require "spec.support.prefab_twice"

local world

before_each(function() world = prefabs.new_world() end)

local function twice(declare) prefabs.twice(world, declare) end

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

describe("C87: references of a prefab that is made of another one", function()
  local function refs(path)
    local at = world:lookup(path)
    return { world:get(at, "Ref") }
  end

  before_each(function()
    world:component("Ref", { "up: entity", "down: entity", "out: entity" })
    world:prefab("Other", { T = true })
    world:prefab("P", { Ref = true },
      { children = { { "k", { Ref = true }, { children = { { "leaf" } } } } } })
    local p, k, leaf = world:lookup "P", world:lookup "P.k", world:lookup "P.k.leaf"
    world:prefab("P", { Ref = { p, leaf, world:lookup "Other" } },
      { children = { { "k", { Ref = { p, leaf, k } }, { children = { { "leaf" } } } } } })
  end)

  -- P with another child, which it leads to, and which leads to its own.
  local function declare_more()
    for _ = 1, 2 do
      local n, leaf = world:lookup "P.n", world:lookup "P.n.leaf"
      world:prefab("P", { Ref = { down = n, out = leaf } }, { children = { { "k" },
        { "n", { Ref = { leaf } }, { children = { { "leaf" } } } } } })
    end
  end

  it("lead to a child that it comes to have", function()
    local q = world:prefab("Q", { T = true }, { is_a = "P" })
    declare_more()
    assert.is_nil(world:lookup "Q.n")
    twice(function() world:prefab("Q", { T = true }, { is_a = "P" }) end)
    local n, leaf = world:lookup "Q.n", world:lookup "Q.n.leaf"
    assert.same({ 0, n, leaf }, { world:get(q, "Ref") })
    assert.equal(leaf, (world:get(n, "Ref")))
  end)

  it("are those that it says itself", function()
    local p = world:lookup "P"
    world:prefab("Q", { Ref = { down = p } }, { is_a = "P" })
    world:prefab("Q", { Ref = { down = p } }, { is_a = "P" })
    assert.same({ world:lookup "Q", p, world:lookup "Other" }, refs "Q")
  end)
end)

describe("C87: ties to components of a prefab that an image declares again", function()
  local tag, empty

  local function declare(n)
    world:prefab("A", { Ex = { tag, n, "ex" .. n }, [world:pair("L", "T")] = { x = n },
      [world:pair("L", "S")] = { x = -n, text = "l" .. n } })
  end

  local function values()
    local a = world:lookup "A"
    local target, x, text = world:get(a, "Ex")
    return { target == tag, x, text, world:get(a, "L.x", "T"), (world:get(a, "L.x", "S")),
      world:get(a, "L.text", "S") }
  end

  before_each(function()
    world:relation("L", { "x: i32", "text: string", "to: entity" })
    world:relation("Ex", { "x: i32", "text: string", "bag: any", exclusive = true })
    world:relation("Bare", { exclusive = true })
    tag = world:describe("T").id
    empty = world:save()
  end)

  it("have the values that are declared, new or not", function()
    declare(5)
    local old = world:save()
    declare(8)
    local declared = values()
    assert.same({ true, 8, "ex8", 8, -8, "l8" }, declared)
    world:load(empty)
    assert.same(declared, values())
    world:load(old)
    assert.same(declared, values())
  end)

  it("stay without values where they have none", function()
    world:prefab("A", { Bare = { tag } })
    world:load(empty)
    assert.equal(tag, (world:target(world:lookup "A", "Bare")))
  end)
end)

describe("C87: a prefab that came to be made of one declared later", function()
  local empty

  before_each(function() empty = world:save() end)

  -- What there is after loading the image in place of prefabs as they are declared now.
  local function seen(image)
    if image then world:load(image) end
    local list = {}
    for _, path in ipairs { "A", "A.k", "B", "B.k", "B.own", "C", "C.k", "D.a", "D.a.k" } do
      local at = world:lookup(path)
      local base = at and world:target(at, "IsA")
      list[path] = at and { base and world:name(base) or false, (world:get(at, "H")),
        (world:get(at, "S")) }
    end
    world:check()
    return list
  end

  it("is so when an image without it is loaded, and one with it", function()
    world:prefab("D", { H = { 7 } }, { children = { { "a", { T = true } } } })
    world:prefab("A", { H = { 1 } })
    world:prefab("B", { H = { 4 } }, { children = { { "own", { S = { 3 } } } } })
    local old = world:save()
    world:prefab("C", { H = { 2 }, S = { 5 } }, { children = { { "k", { H = { 6 } } } } })
    world:prefab("B", { H = { 4 } }, { is_a = "C", children = { { "own", { S = { 3 } } } } })
    world:prefab("A", { T = true }, { is_a = "B" })
    world:prefab("D", { H = { 7 } }, { children = { { "a", { T = true }, { is_a = "B" } } } })
    local declared = seen()
    assert.same({ "B", 4, 5 }, declared.A)
    assert.same(declared, seen(empty))
    assert.same(declared, seen(world:save()))
    assert.same(declared, seen(old))
  end)

  it("is so with what it shares", function()
    world:prefab("A", { H = { 1 } })
    world:prefab("C", { H = { 2 } }, { shared = { S = { 5 } }, children = { { "k" } } })
    world:prefab("A", { H = { 1 } }, { is_a = "C" })
    local declared = seen()
    assert.same({ "C", 1 }, declared.A)
    assert.same(declared, seen(empty))
    assert.is_nil((world:get(world:instantiate "A", "S")))
  end)

  it("is found where parts of prefabs are made of each other", function()
    world:prefab("A", { H = { 1 } }, { children = { { "k" } } })
    world:prefab("C", { H = { 2 } }, { children = { { "k", {}, { is_a = "A" } } } })
    world:prefab("A", { H = { 1 } }, { children = { { "k", {}, { is_a = "C" } } } })
    seen(empty)
    assert.is_true(world:alive(world:lookup "A") and world:alive(world:lookup "C.k"))
  end)
end)

describe("C87: an entity field of a prefab that others are made of", function()
  local one, other

  -- The prefab leads to its child, and the child to the prefab; `fields` say what else it has.
  local function declare(fields, below)
    world:prefab("P", fields, { children = { { "k", below or {} }, { "n" } } })
  end

  local function copies()
    return { world:lookup "Q", one, other }
  end

  local function child(of, name)
    for at in world:children(of) do
      if world:name(at) == name then
        return at
      end
    end
  end

  before_each(function()
    world:component("Ref", { "to: entity" })
    declare {}
    world:prefab("Q", {}, { is_a = "P" })
    one, other = world:instantiate "P", world:instantiate "Q"
  end)

  it("leads from copy to copy when it is added", function()
    twice(function() declare { Ref = { world:lookup "P.k" } } end)
    for _, copy in ipairs(copies()) do
      assert.equal(child(copy, "k"), (world:get(copy, "Ref")))
    end
  end)

  it("leads so when it is changed, where it has the old value", function()
    declare { Ref = { world:lookup "P.k" } }
    local own = world:instantiate("P", { Ref = { world:lookup "P.k" } })
    world:set(own, "Ref", world:lookup "P.k")
    twice(function() declare { Ref = { world:lookup "P.n" } } end)
    for _, copy in ipairs(copies()) do
      assert.equal(child(copy, "n"), (world:get(copy, "Ref")))
    end
    assert.equal(world:lookup "P.k", (world:get(own, "Ref")))
    twice(function() declare { Ref = { world:lookup "P" } } end)
    for _, copy in ipairs(copies()) do
      assert.equal(copy, (world:get(copy, "Ref")))
    end
  end)

  it("leads to others as it is", function()
    local others = world:spawn()
    twice(function() declare { Ref = { others } } end)
    for _, copy in ipairs(copies()) do
      assert.equal(others, (world:get(copy, "Ref")))
    end
    world:prefab("Z", {}, { children = { { "q", {}, { is_a = "P" } } } })
    twice(function() declare { Ref = { world:lookup "P.n" } } end)
    assert.equal(world:lookup "Z.q.n", (world:get(world:lookup "Z.q", "Ref")))
  end)
end)

describe("C87: a prefab that an image has otherwise", function()
  local function base(path)
    local of = world:target(world:lookup(path), "IsA")
    return of and world:name(of)
  end

  before_each(function()
    world:relation("L", { "x: i32" })
    world:relation("Ex", { exclusive = true })
  end)

  it("loses what it is made of and what it is tied to, as when it is declared again", function()
    local function declare()
      world:prefab("D", { S = { 1 } }, { children = { { "k" } } })
      world:prefab("A", { H = { 1 } })
    end
    local there = world:spawn()
    world:prefab("D", { S = { 1 } }, { children = { { "k" } } })
    world:prefab("A", { H = { 1 }, L = { "T", there }, Ex = { world:describe("T").id } },
      { is_a = "D" })
    local image = world:save()
    declare()
    world:load(image)
    local a = world:lookup "A"
    assert.is_nil(base "A")
    assert.is_nil(world:lookup "A.k")
    assert.same({ false, false, false }, { world:has(a, "S"),
      world:has(a, world:pair("L", "T")), world:has(a, "Ex") })
    assert.is_true(world:has(a, world:pair("L", there)))
    world:check()
  end)

  it("may have been made the other way round there", function()
    world:prefab("A", { H = { 1 } })
    world:prefab("B", { T = true }, { is_a = "A" })
    local old = world:save()
    world:prefab("B", { T = true })
    world:prefab("A", { H = { 1 } }, { is_a = "B" })
    for _ = 1, 2 do
      world:load(old)
      assert.same({ "B", true }, { base "A", world:has(world:lookup "A", "T") })
      assert.is_nil(base "B")
    end
    world:check()
  end)

  it("has children that came with what it is made of", function()
    world:prefab("A", { H = { 1 } })
    world:prefab("B", {}, { is_a = "A" })
    local old = world:save()
    world:prefab("B", {})
    world:prefab("A", { H = { 1 } }, { children = { { "k", { H = { 2 } },
      { shared = { S = { 5 } }, children = { { "leaf", { H = { 3 } } } } } } } })
    world:prefab("B", {}, { is_a = "A" })
    world:load(old)
    assert.same({ "k", "leaf" }, { base "B.k", base "B.k.leaf" })
    assert.same({ false, 2, 3 }, { world:has(world:lookup "B.k", "S"),
      (world:get(world:lookup "B.k", "H")), (world:get(world:lookup "B.k.leaf", "H")) })
    world:check()
  end)
end)
