-- Bags: a thing of its own is an entity that is ChildOf what it lies in; things that are all alike
-- are a number, held by a pair. Both are saved as they are.

local ecs = require "ecs"

local function declare(world)
  world:component("Item", { { "weight: f64", unit = "kg" } })
  world:component("Load", { { "weight: f64", unit = "kg" } })
  world:relation("Holds", { "count: i32" })
  world:relation("Wields", { exclusive = true })
  world:component("Kind", { { "weight: f64", unit = "kg" } })
end

local world = ecs.world()
declare(world)

local function make(name, parent, components)
  components.ChildOf = parent
  local id = world:spawn(components)
  world:name(id, name)
  return id
end

-- How many of a kind are put in, or taken out; none that are not there, and no pair for none.
local function change(bag, kind, by)
  local count = (world:get(bag, "Holds", kind) or 0) + by
  if count < 0 then
    return false
  elseif count == 0 then
    world:remove(bag, "Holds", kind)
  else
    world:set(bag, "Holds", kind, count)
  end
  return true
end

-- Whatever lies in it, or in a bag in it, weighs on the nearest one above that has a Load.
local function weigh(who)
  world:set(who, "Load", 0)
  for item, load in world:query("Item:in, ChildOf*->Load"):each() do
    load.weight = load.weight + item.weight
  end
  for holds, kind, load in world:query("(Holds, $k):in, Kind($k):in, ChildOf*->Load"):each() do
    load.weight = load.weight + holds.count * kind.weight
  end
  return (world:get(who, "Load"))
end

local arrow, coin = make("arrow", nil, { Kind = { 0.1 } }), make("coin", nil, { Kind = { 0.01 } })
local hero = make("hero", nil, { Load = true })
local sack = make("sack", hero, { Item = { 1 } })
local purse = make("purse", sack, { Item = { 0.1 } })
local bow = make("bow", sack, { Item = { 2 } })
world:add(hero, "Wields", bow)
change(sack, arrow, 20)
change(purse, coin, 30)
print("carries", weigh(hero))
print("too many", change(sack, arrow, -21))
print("into itself", select(2, pcall(world.add, world, sack, "ChildOf", purse)))

local other = ecs.world()
declare(other)
other:load(world:save())
local found = other:lookup "hero.sack.purse"
print("loaded", other:get(found, "Holds", other:lookup "coin"))

-- What lies in a sack goes where the sack goes, and is lost with it.
world:remove(sack, "ChildOf")
print("carries", weigh(hero), "wields", world:name(world:target(hero, "Wields")))
world:despawn(sack)
print("wields", world:target(hero, "Wields"), "items", world:count "Item")
