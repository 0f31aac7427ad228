-- Kernels whose rows come parents first, or as a target's sources: the same as without kernels,
-- after whatever can change the order, or where the cells are.

-- luacheck: globals WORLD
local ecs = require "ecs"
local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

local COUNT = 300

local function declare(world)
  world:component("World", { "x: f64", "n: i32" })
  world:component("Local", { "x: f64" })
  world:component("Far", { "w: f32", storage = "sparse" })
  world:component("Lamp", { "lit: i32" })
  for _, tag in ipairs { "Red", "Blue", "Chasing", "Idle" } do world:tag(tag) end
  world:relation("State", { exclusive = true })
  world:relation("Docked", { "since: f64", exclusive = true })
end

local systems = {
  { "down", "World, Local:in, ChildOf->World:in?", function(own, near, above)
    if above then
      own.x = above.x * 0.5 + near.x
      own.n = above.n + 1
    else
      own.x = near.x
      own.n = 0
    end
  end },
  { "down to some", "World, Lamp?, ChildOf->World:in, !Red", function(own, lamp, above)
    own.x = own.x + above.x * 0.25
    if lamp then own.n = own.n + 1 end
  end },
  { "sources", "(State, Chasing), Local, Lamp?", function(own, lamp)
    own.x = lamp and own.x * 1.25 or own.x + 1.0
  end },
  { "sources and paths", "(State, Idle), Local, Docked->World:in?", function(own, berth)
    own.x = own.x + (berth and berth.x or 0.125)
  end },
  { "a tie with fields first", "(Docked, $p), Local:in", function(docked, own)
    docked.since = docked.since + own.x
  end },
  { "a tie by rows", "Local, (Docked, $p), Docked.since", function(own, _, since)
    own.x = own.x - since * 0.01
  end },
  { "a path by rows", "Local, Docked->World:in", function(own, berth) own.x = own.x + berth.x end },
  { "none by rows", "Local, !Docked->World, !(State, Idle)", function(own)
    own.x = own.x - 0.5
  end },
  { "sparse, packed", "Far, Local:in", function(far, own) far.w = far.w + own.x end },
  { "sparse, by tables", "Local, Far:in?", function(own, far)
    own.x = own.x * (far and 1.5 or 1.0)
  end },
  { "entities", "(State, Idle), World", function(own, _, e)
    own.n = own.n + (e == ecs.null and 1 or 2)
  end },
}

local scene = agree.scene {
  options = { seed = 3, tag = 5 },
  fill = function(world)
    local ids = {}
    declare(world)
    for i = 1, COUNT do
      local id = world:spawn { World = {}, Local = { x = i % 11 },
        State = i % 3 == 0 and "Chasing" or i % 3 == 1 and "Idle" or nil }
      ids[i] = id
      if i > 5 then world:add(id, "ChildOf", ids[i * 7919 % (i - 1) + 1]) end
      if i % 4 == 0 then world:add(id, "Red") end
      if i > 170 then world:add(id, "Blue") end
      if i % 7 == 0 then world:add(id, "Lamp") end
      if i % 5 == 0 then world:add(id, "Far") end
      if i % 6 == 0 then world:set(id, "Docked", ids[i % 12 == 0 and 1 or i // 2], i) end
    end
    return ids
  end,
}

local function given(system, ids)
  return { system[2], p = system[2]:find("$p", 1, true) and ids[1] or nil }
end

local function register(world, ids)
  for _, system in ipairs(systems) do
    world:system(system[1], { query = system[2], each = system[3], compile = true,
      ["$p"] = given(system, ids).p })
  end
end

-- The same row by row, through queries that have never been gone through.
local function update_plainly(world, ids)
  for _, system in ipairs(systems) do
    local arguments = given(system, ids)
    local query = world:query(arguments[1], arguments.p and { p = arguments.p })
    query:each(function(...) system[3](...) end, 0.25)
  end
  world:update(0.25)
end

-- Goes through every step-th of some ids, of those that are alive: its place and the id.
local function living(world, ids, first, last, step)
  return function(_, at)
    repeat
      at = at + step
    until at > last or world:alive(ids[at])
    if at <= last then
      return at, ids[at]
    end
  end, nil, first - step
end

-- What may change between two runs: name and function, in this order.
local changes = {
  { "nothing", function() end },
  { "a child goes elsewhere", function(world, ids) world:add(ids[200], "ChildOf", ids[3]) end },
  { "a parent with children goes elsewhere",
    function(world, ids) world:add(ids[6], "ChildOf", ids[1]) end },
  { "a tie is gone", function(world, ids) world:remove(ids[150], "ChildOf") end },
  { "a row moves to another table", function(world, ids) world:add(ids[20], "Blue") end },
  { "rows change places", function(world, ids)
    for i = 30, 40 do
      world:add(ids[i], "Blue")
      world:remove(ids[i], "Blue")
    end
  end },
  { "a parent's row moves", function(world, ids) world:add(ids[2], "Lamp") end },
  { "a parent has no cells any more", function(world, ids) world:remove(ids[4], "World") end },
  { "it has them again", function(world, ids) world:set(ids[4], "World", 3, 1) end },
  { "some die", function(world, ids)
    world:despawn(ids[299])
    world:despawn(ids[41])
  end },
  { "others have their places", function(world, ids)
    for i = 1, 20 do
      world:spawn { World = {}, Local = { x = i }, ChildOf = ids[i * 3], State = "Chasing" }
    end
  end },
  { "states change", function(world, ids)
    for i, id in living(world, ids, 1, 90, 4) do
      world:set(id, "State", i % 8 == 1 and "Idle" or "Chasing")
    end
  end },
  { "sources leave their table", function(world, ids)
    for _, id in living(world, ids, 3, 60, 6) do world:add(id, "Blue") end
  end },
  { "sparse rows go", function(world, ids) world:remove(ids[10], "Far") end },
  { "all are saved and loaded", function(world) world:load(world:save()) end },
  { "a snapshot is restored behind changes", function(world, ids)
    local before = world:snapshot()
    world:add(ids[7], "ChildOf", ids[2])
    world:set(ids[9], "State", "Idle")
    world:update(0.25)
    world:restore(before)
  end },
  { "fields are added", function(world)
    world:component("World", { "y: f32", "x: f64", "n: i32" })
    world:relation("Docked", { "since: f64", "toll: i32", exclusive = true })
  end },
  { "a component is kept otherwise", function(world)
    world:component("Lamp", { "lit: i32", storage = "sparse" })
    world:component("Far", { "w: f32", storage = "table" })
  end },
  { "a component may be off", function(world, ids)
    world:component("Local", { "x: f64", toggle = true })
    for _, id in living(world, ids, 1, 200, 9) do world:disable(id, "Local") end
  end },
  { "it is on again", function(world, ids)
    for _, id in living(world, ids, 1, 200, 18) do world:enable(id, "Local") end
  end },
  { "what a target had is tied to another one", function(world, ids)
    for _, id in ipairs(world:query("(State, Chasing)"):ids()) do
      world:set(id, "State", "Idle")
    end
    world:add(ids[1], "ChildOf", world:spawn { World = { x = 2 }, Local = {} })
  end },
  { "a target dies", function(world, ids) world:despawn(ids[5]) end },
  { "nobody is left", function(world)
    for _, id in ipairs(world:query("World"):ids()) do
      if world:alive(id) then world:despawn(id) end
    end
  end },
}

describe("C87: a kernel whose rows come in the order of ties", function()
  it("does what the plain function does, after whatever changes", function()
    local quick, ids = scene:new(true)
    local plain, same = scene:new(false)
    register(quick, ids)
    for _, change in ipairs(changes) do
      for round = 1, 2 do
        quick:update(0.25)
        update_plainly(plain, same)
        assert.equal(plain:digest(), quick:digest(), change[1] .. " comes, round " .. round)
      end
      change[2](quick, ids)
      change[2](plain, same)
      assert.equal(plain:digest(), quick:digest(), change[1])
    end
    for _, system in ipairs(systems) do
      assert.equal("vector", quick:explain(system[1]).tier, system[1])
    end
  end)

  it("fails at the row where the function fails, wherever that one stands", function()
    local function fail(own, above) own.n = 100 // (own.n + (above and 0 or 1)) end
    for _, at in ipairs { 1, 77, 150, COUNT } do
      scene:twice(function(world, kernels, ids)
        for i = 1, COUNT do world:set(ids[i], "World.n", i) end
        world:set(ids[at], "World.n", at <= 5 and -1 or 0)
        local query = world:query "World, ChildOf->World.x:in?"
        helper.has_error(function()
          query[kernels and "run" or "each"](query, fail)
        end)
      end)
    end
  end)
end)

-- Tables of one target, of two, of none; some entities owe, too.
local crowd = agree.scene {
  options = { seed = 9, tag = 4 },
  fill = function(world)
    local ids = {}
    declare(world)
    world:relation "Likes"
    world:relation("Owes", { "since: i32", "amount: i32" })
    for i = 1, COUNT do
      ids[i] = world:spawn { World = { x = i % 13, n = i % 4 }, Lamp = i % 9 == 0 and {} or nil }
      if i > 10 then world:add(ids[i], "Likes", ids[i // 8 % 10 + 1]) end
      if i > 10 and i % 40 < 9 then world:add(ids[i], "Likes", ids[i % 3 + 1]) end
      if i > 20 and i % 5 < 3 then world:set(ids[i], "Owes", ids[i // 50 + 1], 7, i) end
      if i % 55 == 54 then world:set(ids[i], "Owes", ids[9], 8, i) end
      if i % 11 == 0 then world:set(ids[i], "Docked", ids[i // 2], i) end
    end
    return ids
  end,
}

local crowd_systems = {
  { "liking", "(Likes, *), World", function(own) own.x = own.x * 0.5 + 1.0 end },
  { "owing", "World, (Owes, *), Lamp?", function(own, owes, lamp)
    own.x = own.x + owes.amount
    owes.amount = owes.amount + (lamp and 2 or 1)
  end },
  { "one of its fields", "World, (Owes, *).amount", function(own, amount)
    own.n = own.n + amount % 5
  end },
  { "both", "(Likes, *), (Owes, *), World", function(owes, own) own.x = own.x - owes.amount end },
  { "any", "World, with (Likes, *), (Docked, *)", function(own, docked)
    docked.since = docked.since + own.x
  end },
  { "commands", "World, (Likes, *), !Red", function(own, _, e)
    if own.n == 1 then WORLD:add(e, "Red") end
  end },
  { "chance", "World, (Likes, *)", function(own, _, e) own.x = own.x + WORLD:random(e) end },
}

describe("C85: a kernel over the tables of a wildcard's targets", function()
  local function register_crowd(world, kernels)
    for _, system in ipairs(crowd_systems) do
      local each = load(string.dump(system[3]), system[1], "b", { WORLD = world })
      world:system(system[1], { query = system[2], each = each, compile = kernels or nil })
    end
  end

  it("does what the plain function does, however many targets they have", function()
    local quick, ids = crowd:new(true)
    local plain, same = crowd:new(false)
    register_crowd(quick, true)
    register_crowd(plain, false)
    for round = 1, 8 do
      quick:update(0.25)
      plain:update(0.25)
      assert.equal(plain:digest(), quick:digest(), round)
      for world, list in pairs { [quick] = ids, [plain] = same } do
        world:add(list[40 + round], "Likes", list[30])
        world:remove(list[90 + round], "Owes")
        world:despawn(list[round])
        for _, id in ipairs(world:query("Red, Lamp"):ids()) do world:remove(id, "Red") end
      end
    end
    for _, system in ipairs(crowd_systems) do
      assert.equal("vector", quick:explain(system[1]).tier, system[1])
    end
  end)

  it("adds up each match", function()
    local quick, plain = crowd:new(true), (crowd:new(false))
    for _, text in ipairs { "World, (Likes, *)", "World, (Likes, *), (Owes, *)" } do
      local function n(own) return own.n end
      assert.equal(plain:query(text):sum(n), quick:query(text):sum(n))
    end
  end)

  it("fails at the row where the function fails", function()
    local function fail(own, owes)
      own.x = own.x + 1.0
      owes.amount = 100 // (own.n - 77)
    end
    for _, at in ipairs { 21, 102, 110, 161, 297 } do
      crowd:twice(function(world, kernels, ids)
        world:set(ids[at], "World.n", 77)
        local query = world:query "World, (Owes, *)"
        helper.has_error(function() query[kernels and "run" or "each"](query, fail) end)
      end)
    end
  end)
end)
