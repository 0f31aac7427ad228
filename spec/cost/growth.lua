-- What public operations cost as a world grows: each case does its work for n and then for 2 n, and
-- spec/tools/costs counts the instructions of both (callgrind dumps its counts after each call of
-- `mark`). The sentences hold where twice as much costs at most 2.4 times as many, which n log n
-- does; `bound` is for what is known to cost more: the reason stands with it.
--
-- growth.lua list: a line for each case, its bound and its sentence.

local cases = {}

local function case(name, n, work, bound)
  cases[#cases + 1] = { name = name, n = n, work = work, bound = bound or 2.4 }
end

local ecs

local function world()
  local made = ecs.world { tag = 1, seed = 1 }
  made:component("Position", { "x: f64", "y: f64" })
  return made
end

local function noop() end

local function each(n, fn)
  for i = 1, n do
    fn(i)
  end
end

-- A world with n tags.
local function tagged(n)
  local made = world()
  each(n, function(i) made:tag("T" .. i) end)
  return made
end

-- An entity that is tied to n others; observers of some kinds watch its ties.
local function tied(n, kinds)
  local made = world()
  made:relation("Likes", { "much: f64" })
  for _, on in ipairs(kinds or {}) do
    made:observer(on, { on = on, query = "(Likes, *)", each = noop })
  end
  local entity, targets = made:spawn(), made:spawn_many(n)
  each(n, function(i) made:add(entity, "Likes", targets[i]) end)
  return made, entity, targets
end

-- What an entity gets one by one makes tables of 1 to n ids, n * n / 2 in all.
local TABLES = 4.2

local function observed(n)
  local made = tagged(n)
  each(n, function(i) made:observer("o" .. i, { on = "add", query = "T" .. i, each = noop }) end)
  return made
end

-- An entity with n tags, one by one.
local function laden(n)
  local made = tagged(n)
  local entity = made:spawn()
  each(n, function(i) made:add(entity, "T" .. i) end)
  return made, entity
end

case("spawning n entities", 1000, function(n)
  local made = world()
  each(n, function(i) made:spawn { Position = { i, i } } end)
end)
case("spawning and despawning n entities", 1000, function(n)
  local made, ids = world(), {}
  each(n, function(i) ids[i] = made:spawn { Position = {} } end)
  each(n, function(i) made:despawn(ids[i]) end)
end)
case("n commands on n entities", 1000, function(n)
  local made = world()
  local ids = made:spawn_many(n)
  made:defer()
  each(n, function(i) made:add(ids[i], "Position") end)
  each(n, function(i) made:set(ids[i], "Position", i, i) end)
  made:commit()
end)
case("n commands on one entity", 1000, function(n)
  local made = world()
  local entity = made:spawn()
  made:defer()
  each(n, function(i) made:set(entity, "Position", i, i) end)
  made:commit()
end)
-- What an entity has is set at once, unless a command on it waits: n on others may.
case("n tags of one entity that wait, and 4 n sets of what it has", 500, function(n)
  local made = tagged(n)
  made:component("Rare", { "v: f64", storage = "sparse" })
  made:relation("Likes", { "much: f64" })
  made:relation("In", { "much: f64", exclusive = true })
  local other = made:spawn()
  local entity = made:spawn { Position = {}, Rare = {}, In = other, Likes = other }
  made:defer()
  each(n, function(i) made:add(entity, "T" .. i) end)
  each(n, function(i)
    made:set(entity, "Position", i, i)
    made:set(entity, "Rare.v", i)
    made:set(entity, "In.much", i)
    made:set(entity, "Likes", other, i)
  end)
  made:commit()
end)
case("spawning n entities of two kinds in a scope", 500, function(n)
  local made = world()
  made:tag "Other"
  made:defer()
  each(n, function(i) made:spawn { Position = { i, i } } end)
  each(n, function(i) made:spawn { [i % 2 == 0 and "Other" or "Position"] = true } end)
  made:commit()
end)
case("declaring n components", 400, function(n)
  local made = world()
  each(n, function(i) made:component("C" .. i, { "v: f32" }) end)
end)
case("n tags on one entity", 100, laden, TABLES)
case("n tags taken from one entity", 100, function(n)
  local made, entity = laden(n)
  each(n, function(i) made:remove(entity, "T" .. i) end)
end, TABLES)
case("undeclaring n tags that one entity has", 100, function(n)
  local made = laden(n)
  each(n, function(i) made:undeclare("T" .. i) end)
end, TABLES)
case("undeclaring n tags that one entity has, the last one first", 100, function(n)
  local made = laden(n)
  each(n, function(i) made:undeclare("T" .. n + 1 - i) end)
end, TABLES)
case("undeclaring n relations that one entity has", 100, function(n)
  local made = world()
  local entity, other = made:spawn(), made:spawn()
  each(n, function(i)
    made:relation("R" .. i)
    made:add(entity, "R" .. i, other)
  end)
  each(n, function(i) made:undeclare("R" .. i) end)
end, TABLES)
-- Each asks all tables, and all components, whether it concerns them.
case("undeclaring n tags of n entities", 100, function(n)
  local made = tagged(n)
  each(n, function(i) made:spawn { ["T" .. i] = true } end)
  each(n, function(i) made:undeclare("T" .. i) end)
end, 3.5)
case("undeclaring n tags that nothing has", 200, function(n)
  local made = tagged(n)
  each(n, function(i) made:undeclare("T" .. i) end)
end, 2.8)
case("n ties of one entity, added", 100, tied, TABLES)
case("n ties of one entity, added in a scope", 400, function(n)
  local made = world()
  made:relation "Likes"
  local entity, targets = made:spawn(), made:spawn_many(n)
  made:defer()
  each(n, function(i) made:add(entity, "Likes", targets[i]) end)
  made:commit()
  each(n, function(i) assert(made:has(entity, "Likes", targets[i])) end)
end)
case("n ties of one entity, set", 100, function(n)
  local made, entity, targets = tied(n)
  each(n, function(i) made:set(entity, "Likes", targets[i], i) end)
end, TABLES)
case("n ties of one entity, removed", 100, function(n)
  local made, entity, targets = tied(n)
  each(n, function(i) made:remove(entity, "Likes", targets[i]) end)
end, TABLES)
case("n ties of one entity, added and removed before observers", 100, function(n)
  local made, entity, targets = tied(n, { "add", "enter", "exit", "remove" })
  each(n, function(i) made:remove(entity, "Likes", targets[i]) end)
end, TABLES)
case("n ties of one entity, whose targets die", 100, function(n)
  local made, _, targets = tied(n)
  each(n, function(i) made:despawn(targets[i]) end)
end, TABLES)
case("n children of one entity, which dies", 1000, function(n)
  local made = world()
  local parent = made:spawn()
  each(n, function() made:spawn { ChildOf = parent } end)
  made:despawn(parent)
end)
case("a line of n parents, and what is far up it", 500, function(n)
  local made = world()
  local at = made:spawn { Position = {} }
  each(n, function() at = made:spawn { ChildOf = at } end)
  made:query("ChildOf*->Position"):each(noop)
  made:despawn(at)
end)
case("n names, asked for", 1000, function(n)
  local made = world()
  each(n, function(i) made:name(made:spawn(), "n" .. i) end)
  each(n, function(i) assert(made:lookup("n" .. i)) end)
end)
case("n queries, held", 400, function(n)
  local made, kept = tagged(n), {}
  each(n, function(i) kept[i] = made:query("T" .. i .. ", Position") end)
  assert(#kept == n)
end)
case("n tables that one query matches", 300, function(n)
  local made = tagged(n)
  local query = made:query "Position"
  each(n, function(i) made:spawn { Position = {}, ["T" .. i] = true } end)
  assert(query:count() == n)
end)
-- Where a phase goes is found by comparing the hashes of their names, a few instructions each.
case("n phases", 300, function(n)
  local made = world()
  each(n, function(i) made:phase("p" .. i, { after = "update" }) end)
end, 2.8)
case("n phases one after the other", 300, function(n)
  local made = world()
  each(n, function(i) made:phase("p" .. i, { after = i == 1 and "update" or "p" .. i - 1 }) end)
end, 2.8)
case("n phases at the end", 300, function(n)
  local made = world()
  each(n, function(i) made:phase("p" .. i) end)
end, 2.8)
case("n systems", 200, function(n)
  local made = world()
  each(n, function(i) made:system("s" .. i, { query = "Position", each = noop }) end)
end)
-- Whoever comes before others has all put in order.
case("n systems, each before the last one", 200, function(n)
  local made = world()
  each(n, function(i)
    local before = i > 1 and { "s" .. i - 1 } or nil
    made:system("s" .. i, { query = "Position", each = noop, before = before })
  end)
end, 3.2)
case("n systems before one", 200, function(n)
  local made = world()
  each(n, function(i)
    made:system("s" .. i, { query = "Position", each = noop, before = i > 1 and { "s1" } or nil })
  end)
end, 3)
case("n systems after ones that are unknown", 200, function(n)
  local made = world()
  each(n, function(i)
    made:system("s" .. i, { query = "Position", each = noop, after = { "z" .. i } })
  end)
end)
case("n systems, removed", 200, function(n)
  local made = world()
  each(n, function(i) made:system("s" .. i, { query = "Position", each = noop }) end)
  each(n, function(i) made:remove_system("s" .. i) end)
end)
case("n observers of n tags, and their world as garbage", 4000, function(n)
  observed(n)
  collectgarbage()
end)
case("n observers, switched off and on, registered again and removed", 300, function(n)
  local made = observed(n)
  each(n, function(i) made:switch("o" .. i, false) end)
  each(n, function(i) made:switch("o" .. i, true) end)
  each(n, function(i) made:observer("o" .. i, { on = "add", query = "T" .. i, each = noop }) end)
  each(n, function(i) made:remove_system("o" .. i) end)
end)
case("n changes that are nobody's of n observers", 300, function(n)
  local made = observed(n)
  made:tag "Plain"
  each(n, function() made:spawn { Plain = true } end)
end)
case("n changes that one of n observers is called for", 300, function(n)
  local made = observed(n)
  each(n, function() made:spawn { T1 = true } end)
end)
case("n changes, each of which another observer is called for", 300, function(n)
  local made = observed(n)
  each(n, function(i) made:spawn { ["T" .. i] = true } end)
end)
case("n changes of one scope, each of which another observer is called for", 300, function(n)
  local made = observed(n)
  made:defer()
  each(n, function(i) made:spawn { ["T" .. i] = true } end)
  made:commit()
end)
case("n changes, each behind another observer", 300, function(n)
  local made = tagged(n)
  each(n, function(i)
    made:observer("o" .. i, { on = "add", query = "T" .. i, each = noop })
    made:spawn { ["T" .. i] = true }
  end)
end)
case("a prefab of n nodes, made once", 200, function(n)
  local made, children = world(), {}
  each(n, function(i) children[i] = { "k" .. i, { Position = {} } } end)
  made:prefab("Many", {}, { children = children })
  made:instantiate "Many"
end)
-- n nodes of a prefab, named or not, with a value that differs.
local function nodes(n, named, x)
  local list = {}
  each(n, function(i)
    local parts = { Position = { x } }
    list[i] = named and { "k" .. i, parts } or { parts }
  end)
  return { children = list }
end

case("n named children of a prefab, declared four times", 2000, function(n)
  local made = world()
  each(4, function(i) made:prefab("Many", {}, nodes(n, true, i)) end)
end)
case("n children of a prefab without names, declared four times", 500, function(n)
  local made = world()
  each(4, function(i) made:prefab("Many", {}, nodes(n, false, i)) end)
end)
case("n prefabs, each made of the one before, saved and loaded", 500, function(n)
  local made = world()
  made:prefab("P0", { Position = {} })
  each(n, function(i) made:prefab("P" .. i, {}, { is_a = "P" .. i - 1 }) end)
  each(n, function() made:instantiate("P" .. n) end)
  made:load(made:save())
end)
case("n ranges of ids", 50, function(n)
  local made = world()
  each(n, function(i)
    made:entity_range(i * 100000, i * 100000 + 99999)
    made:despawn(made:spawn())
  end)
end)
case("an index of n rows, and n questions to it", 500, function(n)
  local made = world()
  local near = made:index("near", { query = "Position:in", grid = "Position", cell = 1 })
  each(n, function(i) made:spawn { Position = { i * 4, 0 } } end)
  each(n, function(i)
    for p in near:within(i * 4, 0, 1) do assert(p.x == i * 4) end
  end)
end)
case("n events, read", 1000, function(n)
  local made = world()
  made:event("Hit", { "by: i32" })
  made:system("read", { query = "Hit", each = noop })
  each(n, function(i) made:emit("Hit", i) end)
  made:update(1)
end)
case("n loops that are left", 300, function(n)
  local made = world()
  made:spawn_many(2, { Position = {} })
  local query = made:query "Position"
  each(n, function()
    local step, state = query:each()
    step(state)
    made:update(0)
  end)
end)
case("an array of n elements, gone through", 1000, function(n)
  local list = world():array("list", "f64", n)
  each(n, function(i) list[i] = i end)
  each(n, function(i) assert(list[i] == i) end)
end)
case("n queries, held and let go of in turn", 300, function(n)
  local made, kept = tagged(n), {}
  each(n, function(i) kept[i] = made:query("T" .. i) end)
  each(n, function(i)
    kept[i] = kept[n + 1]   -- nothing
    if i % 100 == 0 then collectgarbage() end
  end)
  assert(next(kept) == nil)
end)
case("n instances of a prefab", 300, function(n)
  local made = world()
  made:prefab("One", { Position = {} }, { children = { { "a" }, { "b" } } })
  each(n, function() made:instantiate "One" end)
end)
case("saving and loading n entities", 1000, function(n)
  local made = world()
  made:spawn_many(n, { Position = {} })
  made:load(made:save())
end)

if arg[1] == "list" then
  for _, entry in ipairs(cases) do
    print(("%.1f %s"):format(entry.bound, entry.name))
  end
  return
end

ecs = require "ecs"
collectgarbage "stop"
local marker = ecs.world()

local function mark()
  marker:recycle_retired()
end

for _, entry in ipairs(cases) do
  for _, n in ipairs { entry.n, entry.n * 2 } do
    mark()
    entry.work(n)
    mark()
    collectgarbage()
  end
end
