-- What public operations cost as a world grows: each case does its work for n and then for 2 n, and
-- spec/tools/costs counts the instructions of both (callgrind dumps its counts after each call of
-- `mark`). The sentences hold where twice as much costs at most 2.4 times as many, which n log n
-- does; `bound` is for what is known to cost more, with the reason.
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

-- An entity that is tied to n others.
local function tied(n)
  local made = world()
  made:relation("Likes", { "much: f64" })
  local entity, targets = made:spawn(), made:spawn_many(n)
  each(n, function(i) made:add(entity, "Likes", targets[i]) end)
  return made, entity, targets
end

local PAIRS = 5    -- each tie is an id of the entity's table, so n ties make tables of 1 to n ids

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
end, 4.3)
case("declaring n components", 400, function(n)
  local made = world()
  each(n, function(i) made:component("C" .. i, { "v: f32" }) end)
end)
case("n tags on one entity", 100, function(n)
  local made = tagged(n)
  local entity = made:spawn()
  each(n, function(i) made:add(entity, "T" .. i) end)
end, PAIRS)
case("undeclaring n tags that one entity has", 100, function(n)
  local made = tagged(n)
  local entity = made:spawn()
  each(n, function(i) made:add(entity, "T" .. i) end)
  each(n, function(i) made:undeclare("T" .. i) end)
end, PAIRS)
case("n ties of one entity, added", 100, tied, PAIRS)
case("n ties of one entity, set", 100, function(n)
  local made, entity, targets = tied(n)
  each(n, function(i) made:set(entity, "Likes", targets[i], i) end)
end, PAIRS)
case("n ties of one entity, removed", 100, function(n)
  local made, entity, targets = tied(n)
  each(n, function(i) made:remove(entity, "Likes", targets[i]) end)
end, PAIRS)
case("n ties of one entity, whose targets die", 100, function(n)
  local made, _, targets = tied(n)
  each(n, function(i) made:despawn(targets[i]) end)
end, PAIRS)
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
-- Where a phase goes is found by comparing names, a dozen instructions each.
case("n phases", 300, function(n)
  local made = world()
  each(n, function(i) made:phase("p" .. i, { after = "update" }) end)
end, 4)
case("n systems", 200, function(n)
  local made = world()
  each(n, function(i) made:system("s" .. i, { query = "Position", each = noop }) end)
end)
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
end, 3)
case("n observers of n tags", 300, function(n)
  local made = tagged(n)
  each(n, function(i) made:observer("o" .. i, { on = "add", query = "T" .. i, each = noop }) end)
end)
case("n changes that are nobody's of n observers", 300, function(n)
  local made = tagged(n)
  made:tag "Plain"
  each(n, function(i) made:observer("o" .. i, { on = "add", query = "T" .. i, each = noop }) end)
  each(n, function() made:spawn { Plain = true } end)
end)
case("n changes that one of n observers is called for", 300, function(n)
  local made = tagged(n)
  each(n, function(i) made:observer("o" .. i, { on = "add", query = "T" .. i, each = noop }) end)
  each(n, function() made:spawn { T1 = true } end)
end)
case("a prefab of n nodes, made once", 200, function(n)
  local made, children = world(), {}
  each(n, function(i) children[i] = { "k" .. i, { Position = {} } } end)
  made:prefab("Many", {}, { children = children })
  made:instantiate "Many"
end, 3)
case("an index of n rows, and n questions to it", 500, function(n)
  local made = world()
  local near = made:index("near", { query = "Position:in", grid = "Position", cell = 1 })
  each(n, function(i) made:spawn { Position = { i * 4, 0 } } end)
  each(n, function(i)
    assert(near:within(i * 4, 0, 1)())
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
    query:each()()
  end)
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
