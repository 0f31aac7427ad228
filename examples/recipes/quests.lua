-- Quests: a graph by pairs. A quest needs others; a player has some open and some done. Variables
-- in queries join what holds of the player and what holds of the quest.

local world = require("ecs").world()

world:component("Quest", { "gold: i32" })
world:component("Player", { "gold: i32" })
for _, relation in ipairs { "Needs", "Open", "Done" } do
  world:relation(relation)
end

local function quest(name, gold, needs)
  local id = world:spawn { Quest = { gold }, Needs = needs }
  world:name(id, name)
  return id
end

local rats = quest("rats", 5)
local key = quest("key", 10)
local cellar = quest("cellar", 20, { rats, key })
quest("crypt", 100, { cellar })
quest("reward", 50, { rats })

local function player(name)
  local first = world:query("with Quest, !(Needs, *)"):ids()    -- those that need nothing
  local id = world:spawn { Player = true, Open = first }
  world:name(id, name)
  return id
end

local function has_done_all(who, needs)
  for need in needs do
    if not world:has(who, "Done", need) then
      return false
    end
  end
  return true
end

-- Opens what needs this, unless something else that it needs is missing.
local function finish(who, done)
  world:remove(who, "Open", done)
  world:add(who, "Done", done)
  world:set(who, "Player.gold", world:get(who, "Player.gold") + world:get(done, "Quest.gold"))
  for next in world:query("(Needs, $done)", { done = done }):each() do
    if has_done_all(who, world:targets(next, "Needs")) then
      world:add(who, "Open", next)
    end
  end
end

-- Once for each player and each quest that is open to them, with the quest's view.
local open = world:query "Player:in, (Open, $quest), Quest($quest):in"

local function show()
  for _, quest_view, who, id in open:each() do
    print(("%s may do %s for %d"):format(world:name(who), world:name(id), quest_view.gold))
  end
end

local ann, bob = player "ann", player "bob"
finish(ann, rats)
finish(ann, key)
show()

finish(bob, rats)
print("the cellar is open to", world:query("(Open, $q)", { q = cellar }):count())
local late = world:query("with Player, (Done, $a), !(Done, $b)", { a = rats, b = key })
for id in late:each() do
  print(world:name(id) .. " has done rats, but not key")
end
print("gold", world:get(ann, "Player.gold"), world:get(bob, "Player.gold"))
