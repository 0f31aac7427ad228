-- Prefabs: templates of entities, what is made of them, and templates that are declared again.

local collect = require "spec.support.collect"
local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local world

before_each(function()
  world = helper.new_world()
  world:component("Health", { "hp: f64", "max: f64", "title: string" })
  world:component("Stats", { "speed: f64 = 1", "bag: any" })
  world:component("Fuel", { "left: i32", storage = "sparse" })
  world:component("AI", { "mood: i32", toggle = true })
  world:tag "Orcish"
  world:relation "Likes"
end)

local function orc(hp, options)
  options = options or {}
  return world:prefab("Orc", { Health = { hp = hp or 10, max = 10, title = "orc" }, Fuel = { 3 },
    Orcish = true }, { shared = options.shared or { Stats = { speed = 4 } },
    children = options.children or { { "axe", { AI = { 2 } }, { children = { { "edge" } } } },
                                     { { Fuel = { 1 } } } } })
end

local function speeds()
  local list = {}
  for _, stats in world:query("Health, IsA*->Stats:in"):each() do
    list[#list + 1] = stats.speed
  end
  return list
end

describe("C87: a prefab", function()
  it("is an entity that is found by its name, and by no query", function()
    local likes = world:spawn()
    world:prefab("Orc", { Health = true, Fuel = true, AI = true, Likes = likes },
      { shared = { "Health" } })
    local id = orc()
    assert.equal(id, world:lookup "Orc")
    assert.is_true(world:alive(world:lookup "Orc.axe.edge"))
    for _, text in ipairs { "Health", "Fuel", "AI:any", "Orcish", "Health?, Fuel", "(Likes, *)",
                            "ChildOf", "(ChildOf, *)", "!Health, !ChildOf, Fuel|AI" } do
      assert.equal(0, world:count(text))
      assert.same({}, world:query(text):ids())
    end
    assert.equal(0, world:count("(ChildOf, $p)", { p = id }))
    assert.same({}, world:query("(ChildOf, $p)", { p = id }):ids())
    assert.same({ 10.0, 10.0, "orc" }, { world:get(id, "Health") })
  end)

  it("was passed over by queries that were there before, too", function()
    local query = world:query "Health"
    orc()
    assert.equal(0, query:count())
    world:spawn { Health = true }
    assert.equal(1, query:count())
  end)

  it("lists its own components, and not what makes it a prefab", function()
    local names = {}
    for name in world:components(orc()) do
      names[#names + 1] = name
    end
    table.sort(names)
    assert.same({ "Fuel", "Health", "Orcish", "Stats" }, names)
  end)

  it("is described by its name, and has no component that cannot be", function()
    orc()
    world:prefab("Chief", {}, { is_a = "Orc" })
    local all = world:describe()
    assert.same({ "Orc", "Chief" }, all.prefabs)
    for _, name in ipairs(all.components) do
      assert.equal(name, world:describe(name).name)
    end
  end)

  it("cannot be despawned, nor its children, by anybody's death either", function()
    local id, ship = orc(), world:spawn()
    assert.error_matches(function() world:despawn(id) end, "'Orc' is a prefab")
    assert.error_matches(function() world:despawn(world:lookup "Orc.axe") end, "'axe' is a prefab")
    world:defer()
    assert.error_matches(function() world:despawn(id) end, "'Orc' is a prefab")
    world:commit()
    world:relation("Rides", { exclusive = true, on_target_despawn = "despawn" })
    world:set(id, "Rides", ship)
    assert.error_matches(function() world:despawn(ship) end, "while prefab .* 'Orc' is tied to it")
    assert.is_true(world:alive(ship) and world:alive(id))
  end)

  it("keeps its name and its place, and what it shares stays declared", function()
    local id, ship = orc(), world:spawn()
    assert.error_matches(function() world:name(id, "Elf") end, "keeps its name")
    assert.error_matches(function() world:name(id, false) end, "keeps its name")
    assert.error_matches(function() world:set(id, "ChildOf", ship) end, "keeps the parent it was")
    assert.error_matches(function() world:set(world:lookup "Orc.axe", "ChildOf", ship) end,
      "keeps the parent it was")
    assert.error_matches(function() world:undeclare "Stats" end, "while a prefab shares it")
    assert.equal(id, world:lookup "Orc")
  end)

  it("has a mark that nobody can name", function()
    local id = orc()
    for _, use in ipairs {
      function() world:query "Prefab" end, function() world:add(id, "Prefab", id) end,
      function() world:remove(id, "Prefab") end, function() world:spawn { Prefab = id } end,
      function() world:pair("Prefab", id) end,
    } do
      assert.error_matches(use, "'Prefab' marks prefabs and is hidden from queries: declare one")
    end
    assert.has_error(function() world:tag "Prefab" end)
  end)

  it("is saved, loaded, restored and digested as all else is", function()
    orc()
    world:prefab("Chief", { Health = { title = "chief" } }, { is_a = "Orc" })
    world:instantiate "Chief"
    local other, snapshot, before = helper.new_world(), world:snapshot(), world:digest()
    other:load(world:save())
    assert.equal(before, other:digest())
    assert.equal(1, other:count "Health")
    assert.same({ "chief", 3 }, { other:get(other:instantiate "Chief", "Health.title"),
      #collect(other:children(other:lookup "Chief")) + 1 })
    assert.has_error(function() other:despawn(other:lookup "Orc") end)
    world:instantiate "Orc"
    assert.are_not.equal(before, world:digest())
    world:restore(snapshot)
    assert.equal(before, world:digest())
    assert.equal(1, world:count "Health")
  end)

  it("may be declared inside scopes when its name is new, and is there when they end", function()
    world:system("declaring", { run = function()
      if not world:lookup "New" then
        world:prefab("New", { Health = { hp = 4 } }, { children = { part = { AI = true } } })
      end
    end })
    world:update(1)
    assert.equal(4.0, (world:get(world:instantiate "New", "Health.hp")))
    world:defer()
    assert.error_matches(function() world:prefab("New", {}) end, "cannot be declared again inside")
    world:prefab("Dropped", { Stats = { bag = {} } })
    assert.error_matches(function() world:instantiate "Dropped" end,
      "prefab 'Dropped' does not exist until the scope that declares it ends")
    world:cancel()
    assert.is_nil(world:lookup "Dropped")
    assert.error_matches(function() world:instantiate "Dropped" end, "there is no prefab 'Dropped'")
  end)
end)

describe("what is made of a prefab", function()
  it("is a copy with its children, each tied to what it is a copy of", function()
    local id = orc()
    local one = world:instantiate("Orc", { Health = { hp = 7 }, AI = { 5 } })
    assert.same({ 7.0, 10.0, "orc" }, { world:get(one, "Health") })
    assert.same({ 3, 5 }, { world:get(one, "Fuel"), world:get(one, "AI") })
    assert.equal(id, world:target(one, "IsA"))
    local axe, other = table.unpack(collect(world:children(one)))
    assert.equal(world:lookup "Orc.axe", world:target(axe, "IsA"))
    assert.same({ "axe", 1 }, { world:name(axe), world:get(other, "Fuel") })
    assert.equal(world:lookup "Orc.axe.edge",
      world:target(collect(world:children(axe))[1], "IsA"))
    assert.equal(1, world:count "Health")
    assert.is_nil(world:name(one))
    world:despawn(one)
    assert.is_false(world:alive(axe))
  end)

  it("reads what is shared along IsA", function()
    local id = orc()
    local one = world:instantiate(id)
    assert.is_false(world:has(one, "Stats"))
    assert.same({ 4.0 }, speeds())
    world:set(id, "Stats.speed", 9)
    assert.same({ 9.0 }, speeds())
    world:set(one, "Stats.speed", 2)
    assert.same({ 2.0 }, speeds())
  end)

  it("finds what is shared along IsA for whoever an event names, in kernels, too", function()
    local hits = {}
    for _, kernels in ipairs { true, false } do
      local own = helper.new_world { kernels = kernels }
      own:component("Armor", { "n: f64" })
      own:component("Health", { "hp: f64 = 50" })
      own:event("Hit", { "who: entity" })
      own:prefab("Ork", { Health = { 30 } }, { shared = { Armor = { 2 } } })
      own:prefab("Boss", { Health = { 90 } }, { is_a = "Ork" })
      own:prefab("King", { Armor = { 7 } }, { is_a = "Boss" })
      own:system("hurt", { query = "Hit, Hit.who->Health", each = function(hit, health)
        local of = hit.who
        while of and not own:has(of, "Armor") do of = own:target(of, "IsA") end
        health.hp = health.hp - (of and own:get(of, "Armor.n") or 20.0)
      end })
      for _, name in ipairs { "Ork", "Boss", "King" } do own:emit("Hit", own:instantiate(name)) end
      own:emit("Hit", own:spawn { Health = {} })
      own:update(1)
      assert.equal(kernels and "vector" or "lua", own:explain("hurt").tier)
      for health in own:query("Health"):each() do hits[#hits + 1] = health.hp end
    end
    table.sort(hits)
    assert.same({ 28, 28, 30, 30, 83, 83, 88, 88 }, hits)
  end)

  it("is found by what it was made of, whose id a variable has", function()
    orc()
    local made = world:instantiate "Orc"
    assert.are.same({ made }, world:query("(IsA, $of)", { of = world:lookup "Orc" }):ids())
    helper.has_error(function() world:query "(IsA, Orc)" end, "'Orc' is the name of an entity",
      "write '(IsA, $x)'")
    helper.has_error(function() world:query "(IsA, Ork)" end, "unknown component 'Ork'")
  end)

  it("has values of its own of any type", function()
    world:prefab("Bag", { Stats = { bag = { 1 } } })
    local one, two = world:instantiate "Bag", world:instantiate "Bag"
    world:set(one, "Stats.bag", "mine")
    assert.same({ 1 }, (world:get(two, "Stats.bag")))
  end)

  it("may be a child of anybody, as may an instance of a part", function()
    orc()
    local ship = world:spawn()
    local one = world:instantiate("Orc", { ChildOf = ship })
    local axe = world:instantiate "Orc.axe"
    assert.equal(ship, world:parent(one))
    assert.is_nil(world:parent(axe))
    assert.equal(2, (world:get(axe, "AI")))
  end)

  it("is staged in scopes, with its id at once", function()
    orc()
    world:defer()
    local one = world:instantiate "Orc"
    assert.is_true(world:alive(one))
    assert.equal(0, world:count "Health")
    world:commit()
    assert.equal(1, world:count "Health")
    assert.equal(2, #collect(world:children(one)))
  end)

  it("of an entity that is no prefab is nothing", function()
    orc()
    world:name(world:spawn(), "player")
    assert.error_matches(function() world:instantiate "Ork" end, "did you mean 'Orc'")
    assert.error_matches(function() world:instantiate "player" end, "is an entity, not a prefab")
    assert.error_matches(function() world:instantiate(world:spawn()) end, "not a prefab")
    assert.error_matches(function() world:instantiate(nil) end, "name of a prefab expected")
  end)

  it("is what a clone of a prefab is not", function()
    local copy = world:clone(orc())
    assert.is_nil(world:target(copy, "IsA"))
    assert.same({ 4.0, 1 }, { world:get(copy, "Stats.speed"), world:count "Health" })
  end)
end)

describe("a prefab made of another one", function()
  it("has its components, what it shares and its children", function()
    orc()
    world:prefab("Chief", { Health = { title = "chief" } },
      { is_a = "Orc", children = { axe = { AI = { 8 } }, crown = { Orcish = true } } })
    local one = world:instantiate "Chief"
    assert.same({ 10.0, 10.0, "chief" }, { world:get(one, "Health") })
    assert.same({ 4.0 }, speeds())
    local children = collect(world:children(one))
    assert.same({ 3, 8 }, { #children, world:get(children[1], "AI") })
    assert.equal("crown", world:name(children[3]))
    assert.equal(world:lookup "Orc", world:target(world:lookup "Chief", "IsA"))
  end)
end)

describe("a child of a prefab that is made of another one", function()
  local function ogre(children)
    world:prefab("Ogre", { Health = true }, { children = children })
  end

  before_each(function()
    world:prefab("Axe", { AI = { 3 } }, { shared = { Stats = { speed = 8 } },
      children = { edge = { Orcish = true } } })
    ogre { { "left", { Fuel = { 1 } }, { is_a = "Axe" } }, { "right", {}, { is_a = "Axe" } } }
  end)

  it("has all of that one, and so have instances", function()
    local left, right = table.unpack(collect(world:children(world:instantiate "Ogre")))
    assert.same({ 3, 1, 3 }, { world:get(left, "AI"), world:get(left, "Fuel"),
      (world:get(right, "AI")) })
    assert.equal(2, world:count "Orcish")
    assert.equal(2, world:count "AI, IsA*->Stats")
    assert.equal(world:lookup "Ogre.left", world:target(left, "IsA"))
    assert.equal(world:lookup "Axe.edge", world:target(world:lookup "Ogre.left.edge", "IsA"))
  end)

  it("goes with its own children when it is not declared any more", function()
    local before = world:instantiate "Ogre"
    ogre { { "right", {}, { is_a = "Axe" } } }
    assert.is_nil(world:lookup "Ogre.left")
    assert.equal(2, #collect(world:children(before)))
    assert.equal(1, #collect(world:children(world:instantiate "Ogre")))
    ogre { { "right" } }
    assert.is_false(world:has(world:lookup "Ogre.right", "AI"))
    assert.is_nil(world:target(world:lookup "Ogre.right", "IsA"))
    assert.is_nil(world:lookup "Ogre.right.edge")
  end)

  it("has the children of another one when it is made of that", function()
    world:prefab("Sword", {}, { children = { hilt = { AI = { 7 } }, { { Orcish = true } } } })
    for _ = 1, 2 do
      ogre { { "left", {}, { is_a = "Sword", children = { hilt = { Fuel = true } } } } }
      assert.equal(2, #collect(world:children(world:lookup "Ogre.left")))
      assert.is_nil(world:lookup "Ogre.left.edge")
      local hilt = world:lookup "Ogre.left.hilt"
      assert.same({ 7, true }, { world:get(hilt, "AI"), world:has(hilt, "Fuel") })
    end
    helper.check(world)
  end)

  it("follows it, and is followed", function()
    local left = collect(world:children(world:instantiate "Ogre"))[1]
    world:prefab("Axe", { AI = { 6 } }, { children = { edge = { Orcish = true } } })
    assert.equal(6, (world:get(left, "AI")))
  end)
end)

describe("a prefab declared again", function()
  it("tells its own children without a name from those it came with", function()
    orc()
    local function chief(mood)
      world:prefab("Chief", {}, { is_a = "Orc", children = { { { AI = { mood } } } } })
    end
    chief(1)
    chief(2)
    local children = collect(world:children(world:lookup "Chief"))
    assert.equal(3, #children)
    assert.same({ 1, 2 }, { world:get(children[2], "Fuel"), world:get(children[3], "AI") })
    world:prefab("Chief", {}, { is_a = "Orc" })
    assert.equal(2, #collect(world:children(world:lookup "Chief")))
  end)

  it("that says the same changes nothing", function()
    orc()
    world:prefab("Chief", { Health = { title = "chief" } }, { is_a = "Orc",
      children = { axe = { AI = { 8 } } } })
    world:instantiate "Chief"
    local before = world:digest()
    assert.equal(world:lookup "Orc", (orc()))
    world:prefab("Chief", { Health = { title = "chief" } }, { is_a = "Orc",
      children = { axe = { AI = { 8 } } } })
    assert.equal(before, world:digest())
  end)

  it("brings along fields that still have the old value", function()
    orc(10)
    world:prefab("Chief", { Health = { title = "chief" } }, { is_a = "Orc" })
    local plain, own = world:instantiate "Orc", world:instantiate("Orc", { Health = { hp = 3 } })
    local same = world:instantiate("Orc", { Health = { hp = 10 } })
    local chief = world:instantiate "Chief"
    world:prefab("Orc", { Health = { hp = 20, max = 10, title = "ork" }, Fuel = { 5 },
      Orcish = true }, { shared = { Stats = { speed = 6 } } })
    local found = {}
    for i, id in ipairs { plain, own, same, chief } do
      found[i] = { world:get(id, "Health.hp"), world:get(id, "Health.title"),
        (world:get(id, "Fuel")) }
    end
    assert.same({ { 20.0, "ork", 5 }, { 3.0, "ork", 5 }, { 20.0, "ork", 5 },
                  { 20.0, "chief", 5 } }, found)
    assert.same({ 6.0, 6.0, 6.0, 6.0 }, speeds())
  end)

  it("does not touch what is made of one that has a value of its own", function()
    orc(10)
    world:prefab("Chief", { Health = { hp = 30 } }, { is_a = "Orc" })
    local one = world:instantiate("Chief", { Health = { hp = 10 } })
    orc(11)
    assert.equal(10.0, (world:get(one, "Health.hp")))
  end)

  it("adds components that were added, and leaves those that were dropped", function()
    orc()
    local one, two = world:instantiate "Orc", world:instantiate("Orc", { AI = { 1 } })
    world:prefab("Orc", { Health = { hp = 10, max = 10, title = "orc" }, AI = { 7 },
      Stats = { speed = 3 } })
    assert.same({ 7, 1, true, true }, { world:get(one, "AI"), world:get(two, "AI"),
      world:has(one, "Orcish"), world:has(one, "Fuel") })
    assert.equal(3.0, (world:get(one, "Stats.speed")))
    local new = world:instantiate "Orc"
    assert.is_false(world:has(new, "Orcish") or world:has(new, "Fuel"))
  end)

  it("gives other children to what is made of it from then on", function()
    orc()
    local old = world:instantiate "Orc"
    orc(10, { children = { { "axe", { AI = { 9 } } }, { "hat", { Orcish = true } } } })
    local before, after = collect(world:children(old)),
      collect(world:children(world:instantiate "Orc"))
    assert.same({ 2, 2, 2 }, { #before, world:get(before[1], "AI"), #after })
    assert.same({ 9, "hat" }, { world:get(after[1], "AI"), world:name(after[2]) })
    assert.is_nil(world:lookup "Orc.axe.edge")
  end)

  it("may share what it did not, and what it shared not any more", function()
    orc()
    local one = world:instantiate "Orc"
    orc(10, { shared = { "Fuel" } })
    assert.is_true(world:has(one, "Fuel"))
    assert.is_false(world:has(world:instantiate "Orc", "Fuel"))
    assert.is_false(world:has(world:lookup "Orc", "Stats"))
  end)
end)

describe("a prefab of a world that loads an image", function()
  local image, one

  before_each(function()
    orc(10)
    world:prefab("Chief", { Health = { title = "chief" } }, { is_a = "Orc" })
    one = world:instantiate "Orc"
    world:instantiate("Orc", { Health = { hp = 3 } })
    world:instantiate "Chief"
    image = world:save()
  end)

  -- A world whose scripts declare otherwise.
  local function running(...)
    world = helper.new_world()
    world:component("Health", { "hp: f64", "max: f64", "title: string" })
    world:component("Stats", { "speed: f64 = 1", "bag: any" })
    world:component("Fuel", { "left: i32", storage = "sparse" })
    world:component("AI", { "mood: i32", toggle = true })
    world:tag "Orcish"
    orc(...)
    world:prefab("Chief", { Health = { title = "boss" } }, { is_a = "Orc" })
    world:prefab("Elf", { Health = { title = "elf" }, AI = true }, { children = { bow = {} } })
    world:load(image)
  end

  it("counts as declared again", function()
    running(20, { shared = { Stats = { speed = 6 } }, children = { { "hat", { AI = { 4 } } } } })
    local found = {}
    for health in world:query("Health"):each() do
      found[#found + 1] = health.hp .. health.title
    end
    assert.same({ "20.0orc", "3.0orc", "20.0boss" }, found)
    assert.same({ 6.0, 6.0, 6.0 }, speeds())
    assert.equal("hat", world:name(collect(world:children(world:instantiate "Orc"))[1]))
    assert.equal("elf", (world:get(world:instantiate "Elf", "Health.title")))
    assert.equal("axe", world:name(collect(world:children(one))[1]))
    local before = world:digest()
    world:load(world:save())
    assert.equal(before, world:digest())
  end)

  it("changes nothing when it is what the image has", function()
    local before = world:digest()
    world:load(image)
    world:load(image)
    assert.equal(before, world:digest())
  end)

  it("that was only loaded is that of the next image", function()
    local other = helper.new_world()
    other:load(image)
    running(77)
    other:load(world:save())
    assert.equal(77.0, (other:get(other:lookup "Orc", "Health.hp")))
  end)

  it("keeps the world as it was when another entity of the image has its name", function()
    local other = helper.new_world()
    other:name(other:spawn(), "Orc")
    local before = world:digest()
    assert.error_matches(function() world:load(other:save()) end, "'Orc' belongs to entity")
    assert.equal(before, world:digest())
  end)
end)

describe("a prefab that is refused when its scope ends", function()
  local made

  before_each(function()
    world:prefab("A", { Health = { hp = 1 }, Stats = { 2, { "bag" } } }, { children = { { "k" } } })
    world:prefab("B", { Health = { hp = 2 } }, { is_a = "A" })
    made = world:instantiate "A"
    world:relation("Mans", { exclusive = true, on_target_despawn = "error" })
  end)

  local function refused(pattern, ...)
    local given, before = table.pack(...), world:digest()
    helper.has_error(function() world:prefab(table.unpack(given, 1, given.n)) end, pattern)
    assert.equal(before, world:digest())
    assert(world:check())
  end

  local function goes_on()
    world:prefab("A", { Health = { hp = 5 } }, { children = { { "k" }, { "k2" } } })
    assert.equal(5.0, (world:get(world:lookup "A", "Health.hp")))
    assert.is_true(world:alive(world:lookup "A.k2"))
    world:update(1)
    world:set(world:lookup "A", "Stats.bag", nil)
    world:set(made, "Stats.bag", nil)
    local other = helper.new_world()
    other:load(world:save())
    assert.equal(world:digest(), other:digest())
    assert(world:check() and other:check())
  end

  local function refused_each_way()
    refused("would form a cycle", "A", { Health = { hp = 5 }, Orcish = true, Stats = { 3, {} } },
      { is_a = "B", children = { { "k3", { AI = { 3 } } }, { { Fuel = { 1 } } } } })
    assert.is_nil(world:lookup "A.k3")
    assert.is_false(world:has(world:lookup "A", "Orcish"))
    world:spawn { Mans = world:lookup "A.k" }
    refused("cannot be despawned", "A", { Health = { hp = 5 } }, { children = { { "k2" } } })
    assert.is_nil(world:lookup "A.k2")
    assert.equal("bag", world:get(world:lookup "A", "Stats.bag")[1])
    goes_on()
  end

  it("leaves all as it was", refused_each_way)

  it("tells observers nothing", function()
    local told = {}
    for _, event in ipairs { "add", "set", "remove" } do
      world:observer("On" .. event, { on = event, query = "Health",
        each = function(_, e) told[#told + 1] = event .. (e == made and "" or "?") end })
    end
    refused_each_way()
    assert.same({ "set" }, told)
  end)
end)

describe("what is no prefab", function()
  local function refused(pattern, ...)
    local given, before = table.pack(...), world:digest()
    assert.error_matches(function() world:prefab(table.unpack(given, 1, given.n)) end, pattern)
    assert.equal(before, world:digest())
  end

  it("says what to write instead", function()
    orc()
    world:name(world:spawn(), "taken")
    refused("string expected, got nil", nil)
    refused("has a dot", "a.b")
    refused("belongs to entity", "taken")
    refused("prefab 'Health': a component, tag or relation has this name", "Health")
    refused("components must be a table", "New", 5)
    refused("'children_': unknown option", "New", {}, { children_ = {} })
    refused("children must be a list", "New", {}, { children = 4 })
    refused("a child is", "New", {}, { children = { 5 } })
    refused("two children are named 'a'", "New", {}, { children = { { "a" }, a = {} } })
    refused("shared: takes names", "New", {}, { shared = { 5 } })
    refused("unknown component 'Nope'", "New", {}, { shared = { "Nope" } })
    refused("relation 'Likes' cannot be shared", "New", {}, { shared = { "Likes" } })
    refused("there is no prefab 'Ork' %(did you mean 'Orc'", "New", {}, { is_a = "Ork" })
    refused("write children = ", "New", { ChildOf = world:lookup "Orc" })
    refused("unknown component 'Health2'", "Orc", { Health2 = true })
    refused("field 'Health.hp'", "Orc", { Health = { hp = "x" } })
    refused("given twice", "New", { Health = true, [world:describe("Health").id] = true })
  end)

  it("is read by raw access, so that tables of others come to no harm", function()
    assert.equal(ecs.null, 0)
    world:prefab("Raw", setmetatable({ AI = true }, { __pairs = error, __index = error }))
    assert.is_true(world:has(world:instantiate "Raw", "AI"))
  end)
end)
