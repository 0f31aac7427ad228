-- More of what scenarios.lua begins: relations, declared, tied and untied while memory is short.

local scenario, make = ...
local one, crowd = make.one, make.crowd

local function family(s)
  crowd(s)
  s.world:relation("Owes", { "amount: i32", "why: string" })
  s.world:relation("Rides", { "since: f64", exclusive = true })
  for i = 2, #s.ids do
    s.world:add(s.ids[i], "ChildOf", s.ids[i // 2])
    s.world:set(s.ids[i], "Owes", s.ids[1], i, "why " .. i)
  end
end

scenario("a query despawned, but for those that something is tied to", {
  prepare = function(s)
    family(s)
    s.world:relation("Guards", { exclusive = true, on_target_despawn = "error" })
    local guard = s.world:spawn()
    for i = 1, 4 do s.world:add(i == 1 and guard or s.ids[i], "Guards", s.ids[i * 5]) end
    s.query = s.world:query "Position"
  end,
  act = function(s)
    local ok, message = pcall(s.query.despawn, s.query)
    assert(not ok)
    if message == "not enough memory" then error(message, 0) end
    assert(message:find "cannot be despawned while" and s.query:count() > 0, message)
  end,
})

local function orc(s, hp, text)
  s.world:prefab("Orc", { Label = { text }, Bag = true, Owes = s.ids[1] }, {
    shared = { Hp = { hp } },
    children = { { "axe", { Hp = { hp } }, { children = { { "edge" } } } } },
  })
end

local function orcs(s)
  family(s)
  s.world:component("Hp", { "hp: f64" })
  orc(s, 10, "orc")
  s.world:prefab("Chief", { Hp = { 5 } }, { is_a = "Orc" })
  for _ = 1, 3 do s.world:instantiate "Orc" end
  s.world:instantiate "Chief"
end

scenario("a prefab made of something else now, as its children are", {
  prepare = function(s)
    orcs(s)
    s.world:prefab("Ogre", { Label = { "ogre" } }, { children = { { "axe", { Bag = true },
      { children = { { "edge", { Label = { "blunt" } } }, { "rust" } } } } } })
  end,
  new_ids = true,
  act = function(s)
    s.world:prefab("Chief", { Hp = { 5 } }, { is_a = "Ogre" })
  end,
})

scenario("a prefab declared again", {
  prepare = orcs,
  new_ids = true,
  act = function(s) orc(s, 20, "another text") end,
})

scenario("a prefab whose children are put in another order", {
  prepare = function(s)
    orcs(s)
    s.world:prefab("Orc", {}, { children = { "bow", { "axe", { Hp = { 1 } } }, { Bag = true } } })
    s.world:prefab("Chief", {}, { is_a = "Orc", children = { "hat", "flag" } })
  end,
  new_ids = true,
  act = function(s)
    s.world:prefab("Chief", {}, { is_a = "Orc", children = { "flag", { Hp = { 2 } }, "hat" } })
  end,
})

-- Does what is refused, for nothing but that.
local function refused(why, fn, ...)
  local ok, message = pcall(fn, ...)
  if not ok and not message:find(why, 1, true) then error(message, 0) end
end

scenario("what is not to be a prefab's child", {
  prepare = orcs,
  new_ids = true,
  act = function(s)
    local orc_id = s.world:lookup "Orc"
    refused("which is a prefab", s.world.spawn, s.world, { ChildOf = orc_id, Bag = { s.shared } })
    refused("which is a prefab", s.world.clone, s.world, s.e, { ChildOf = orc_id, Bag = true })
    refused("which is a prefab", s.world.add, s.world, s.e, "ChildOf", orc_id)
    s.world:clone(s.world:lookup "Orc.axe")
  end,
})

scenario("a prefab's child with a key that is not known", {
  prepare = orcs,
  act = function(s)
    refused("prefab 'Elf', child 2, 'junk'", s.world.prefab, s.world, "Elf", {},
      { children = { "a", { Label = { "text" }, junk = {} } } })
    refused("got the key 'junk'", s.world.spawn, s.world, { Owes = { s.e, junk = 1 } })
  end,
})

scenario("a prefab that leads to its child, made of another one again", {
  prepare = function(s)
    orcs(s)
    s.world:prefab("Bow", { Link = true }, { children = { { "string" } } })
    s.world:prefab("Bow", { Link = { s.world:lookup "Bow.string" } },
      { children = { { "string" } } })
    s.world:prefab("Long", { Owes = { "Frozen" } }, { is_a = "Bow" })
  end,
  act = function(s) s.world:prefab("Long", { Owes = { "Frozen" } }, { is_a = "Bow" }) end,
})

scenario("prefabs made of a later one, loaded", {
  prepare = function(s)
    one(s)
    s.world:despawn(s.e)
    s.world:relation("Owes", { "amount: i32", "why: string" })
    s.image = s.world:save()
    s.world:prefab("Early", { Label = { "first" },
      [s.world:pair("Owes", "Frozen")] = { amount = 3 } })
    s.world:prefab("Later", { Label = { "second" } }, { children = { { "part" } } })
    s.world:prefab("Early", { Label = { "first" }, Owes = { "Frozen" } }, { is_a = "Later" })
  end,
  act = function(s) s.world:load(s.image) end,
})
