-- Kernels over queries whose terms are about ties and about others: the same digests as without
-- kernels, and what stays Lua.

-- luacheck: globals WORLD
local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

local scene = agree.scene {
  options = { seed = 7, tag = 3 },
  fill = function(world, case)
    local ids, count = {}, case.count
    world:component("World", { "x: f64", "y: f64" })
    world:component("Local", { "x: f64", "y: f64" })
    world:component("Health", { "hp: i32", "armor: i16" })
    world:component("Hunt", { "prey: entity", "n: i32" })
    world:tag "Chasing"
    world:tag "Idle"
    world:tag "Red"
    world:relation("State", { exclusive = true })
    world:relation("Docked", { "since: f32", exclusive = true })
    world:relation("Owes", { "amount: i32" })
    world:relation("Knows", { "years: i32" })
    for i = 1, count do
      local id = world:spawn { World = {}, Local = { x = i, y = 1 / i },
        Health = { hp = i, armor = i % 100 }, State = i % 3 == 0 and "Chasing" or "Idle" }
      ids[i] = id
      if i % 7 == 0 then world:add(id, "Red") end
      if i > 10 then world:add(id, "ChildOf", ids[i * 7919 % (i - 1) + 1]) end
      if i > 20 and i % 4 > 0 then world:set(id, "Hunt", ids[i - i % 9 - 1]) end
      if i % 6 == 0 then world:set(id, "Docked", ids[1], i) end
      if i % 5 == 0 then world:set(id, "Knows", ids[i % 2 + 1], i) end
      if i % 15 == 0 then world:set(id, "Knows", ids[2], i) end
      if i % 20 == 0 then
        world:set(id, "Owes", ids[i - 1], i)
        world:set(id, "Owes", ids[1], i * 2)
      end
    end
    for i = 30, count, 37 do
      if world:alive(ids[i]) then world:despawn(ids[i]) end
    end
    return ids
  end,
  updates = 3,
}

local systems = {
  { "parents first", "World, Local:in, ChildOf->World:in?", function(world, own, parent)
    if parent then
      world.x, world.y = parent.x + own.x, parent.y * 0.5 + own.y
    else
      world.x, world.y = own.x, own.y
    end
  end },
  { "an exclusive tie", "Local, (State, Chasing)", function(own) own.x = own.x * 1.5 + 1.0 end },
  { "sources", "(State, Chasing), Local", function(own) own.y = own.y * 1.25 end },
  { "none", "!(State, Chasing), Local", function(own) own.x = own.x - 3.0 end },
  { "a tie with fields", "(Docked, $p)", function(docked) docked.since = docked.since + 1.0 end },
  { "a field's entity", "Health, Hunt.prey->Local:in?", function(health, prey)
    if prey then health.hp = health.hp + (prey.x > 50.0 and 1 or 2) end
  end },
  { "several targets", "(Owes, *), Local", function(owes, own)
    owes.amount = owes.amount + 1
    own.x = own.x + owes.amount
  end },
  { "one target or two", "(Knows, *), Local", function(knows, own)
    knows.years = knows.years + 1
    own.y = own.y * 0.5 + knows.years
  end },
  { "whole tables", "with (Owes, *), Local, ChildOf?", function(own) own.x = own.x + 0.125 end },
  { "any exclusive tie", "(Docked, *), Local", function(docked, own)
    own.y = own.y + docked.since
  end },
  { "the nearest", "Health, ChildOf*->Red", function(health) health.hp = health.hp + 3 end },
  { "a join", "Health, (Owes, $to), Local($to):in", function(health, _, other)
    health.armor = other.x > 5.0 and 1 or 2
  end },
  { "commands", "Health:in, (State, Idle)", function(health, _, e)
    if health.hp % 97 == 7 then WORLD:add(e, "Red") end
  end, "world" },
  { "to whom", "Local, (Owes, *)", function(own, owes, _, e, to)
    own.x = own.x + (to > e and 1.0 or 2.0) * owes.amount
  end },
  { "to whom, of one target each", "Local, (Docked, *), (Knows, *)",
    function(own, docked, knows, dt, e, port, friend)
      own.y = own.y + docked.since * dt + knows.years + (port == friend and 1.0 or 0.5)
      own.x = own.x + (friend == e and 1.0 or WORLD:get(port, "Health.hp") or 0.0)
    end, "world" },
  { "whom a join finds", "Health, (Owes, $to), Local($to):in, Hunt.prey->Red?",
    function(health, _, other, red, _, _, to)
      health.armor = WORLD:alive(to) and other.x > 5.0 and (red and 3 or 4) or 5
    end, "world" },
  { "who may be nobody", "Local, (Owes, *)?, (Knows, *)?",
    function(own, owes, knows, _, e, to, friend)
      if to then own.x = own.x + owes.amount end
      if not friend then own.y = own.y - 1.0 elseif friend ~= e then own.y = own.y + knows.years end
    end },
  { "commands for whom", "Hunt, (Owes, *)", function(hunt, _, _, _, to)
    if WORLD:has(to, "Red") then WORLD:remove(to, "Red") else WORLD:add(to, "Red") end
    hunt.prey = to
  end, "world" },
  { "random", "Local, ChildOf->Red", function(own, _, e)
    own.x = own.x + WORLD:random(e)
  end, "world" },
}

-- The function with its world.
local function of_world(system, world)
  if not system[4] then return system[3] end
  local environment = { WORLD = world }
  local fn = load(string.dump(system[3]), system[1], "b", environment)
  return fn
end

local function register(world, ids, kernels)
  for _, system in ipairs(systems) do
    world:system(system[1], { query = system[2], each = of_world(system, world),
      ["$p"] = system[2]:find("$p", 1, true) and ids[1] or nil,
      compile = kernels or nil })
  end
end

describe("C75: a kernel over ties", function()
  it("does what the plain function does, and is compiled", function()
    local most = helper.by_scale { small = 1500, normal = 5000, deep = 20000 }
    for _, count in ipairs { 40, 700, most } do
      local quick, ids = scene:new(true, { count = count })
      local plain, same = scene:new(false, { count = count })
      register(quick, ids, true)
      register(plain, same, false)
      for step = 1, 4 do
        quick:update(0.25)
        plain:update(0.25)
        assert.equal(plain:digest(), quick:digest(), ("%d entities, step %d"):format(count, step))
      end
      for _, system in ipairs(systems) do
        assert.equal("vector", quick:explain(system[1]).tier, system[1])
      end
    end
  end)

  it("fails at the row where the function fails", function()
    scene:twice(function(world, kernels, ids)
      world:set(ids[42], "Health", 0, 5)
      local function fail(health) health.armor = 100 // health.hp end
      local query = world:query "Health, (State, Chasing)"
      helper.has_error(function()
        if kernels then query:run(fail) else query:each(fail) end
      end)
      local failed
      for _, id in ipairs(query:ids()) do
        local hp, armor = world:get(id, "Health")
        failed = failed or id == ids[42]
        assert.equal(failed and (hp == 0 and 5 or hp) or 100 // hp, armor)
      end
      assert.is_true(failed)
    end, { count = 60 })
  end)

  it("fails at that row where it runs over whole tables, too", function()
    scene:twice(function(world, kernels, ids)
      world:set(ids[100], "Health", 0, 5)
      local query = world:query "Health, (Knows, *)"
      helper.has_error(function()
        query[kernels and "run" or "each"](query, function(health, knows)
          knows.years = knows.years * 2
          health.armor = 100 // health.hp
        end)
      end)
    end, { count = 200 })
  end)
end)

describe("a kernel that writes the field by which its query's path goes", function()
  -- Who hunts whom: each row lets go, and what the fourth one adds has a fraction.
  local function new_hunt(kernels)
    local world = helper.new_world { tag = 3, kernels = kernels }
    world:component("Hunt", { "prey: entity" })
    world:component("Health", { "hp: f64" })
    world:component("Count", { "n: i32", "by: f64" })
    world:relation("Likes")
    local prey, other = world:spawn { Health = {} }, world:spawn {}
    for i = 1, 6 do
      world:spawn { Hunt = { prey = prey }, Count = { n = 1, by = i == 4 and 0.5 or 1.0 },
        Likes = { prey, other } }
    end
    return world
  end

  -- What is left after two runs, and in which tier.
  local function run(kernels, text, each)
    local world, errors = new_hunt(kernels), {}
    world:system("let go", { query = text, each = each })
    for i = 1, 2 do
      local _, message = pcall(world.run, world, "let go", 1)
      errors[i] = tostring(message):match "is not an integer"
    end
    local counts = {}
    for count, hunt in world:query("Count, Hunt"):each() do
      counts[#counts + 1] = count.n
      counts[#counts + 1] = hunt.prey
    end
    return { world:digest(), errors, counts }, world:explain("let go")
  end

  local function let_go(count, hunt)
    count.n = count.n + count.by
    hunt.prey = 0
  end

  it("fails at the row where the function fails, as often", function()
    local text = "Count, Hunt, Hunt.prey->Health:in"
    local quick, explained = run(true, text, let_go)
    assert.equal("vector", explained.tier)
    assert.same(run(false, text, let_go), quick)
    assert.same({ "is not an integer", "is not an integer" }, quick[2])
  end)

  it("stays Lua where a row may match again, which it leads elsewhere", function()
    for _, text in ipairs { "(Likes, *), Count, Hunt, Hunt.prey->Health:in",
      "Count, Hunt, Hunt.prey->Health:in, (Likes, *)" } do
      local function go(count, hunt)
        count.n = count.n + 1
        hunt.prey = 0
      end
      local quick, explained = run(true, text, go)
      assert.equal("lua", explained.tier)
      assert.matches("which a path of its query follows", explained.reason, 1, true)
      assert.same(run(false, text, go), quick)
    end
  end)
end)

-- Programs that are compiled during a run may be the first to read the target.
describe("over ties, a function that begins to read a value", function()
  local function seen(kernels, text, fn, begin)
    local world = helper.new_world { kernels = kernels, tag = 7 }
    world:component("A", { "who: entity" })
    world:component("B", { "v: f64" })
    world:relation "Likes"
    local ids, state = world:spawn_many(40, { A = {} }), {}
    for i = 1, 40 do world:add(ids[i], "Likes", ids[i % 5 + 1]) end
    world:system("s", { query = text, each = fn(world, state) })
    world:update(1)
    begin(world, state, ids)
    world:update(1)
    return { world:digest(), world:get(ids[25], "A.who"), ids[1] }, world:explain("s").tier
  end
  local function give(world, _, ids) for i = 20, 40 do world:add(ids[i], "B") end end
  local function turn(_, state) state.on = true end

  it("gets it, whether a component or a variable outside makes it do so", function()
    for _, case in ipairs {
      { "A, B?, (Likes, *)", function() return function(a, b, _, _, target)
        if b then a.who = target end
      end end, give },
      { "A, (Likes, *)", function(world, state) return function(a, _, e, target)
        if state.on and world:random(e) >= 0 then a.who = target end
      end end, turn },
      { "A, (Likes, $f)", function(_, state) return function(a, _, _, target)
        if state.on then a.who = target end
      end end, turn },
    } do
      local plain, fast, tier = seen(false, table.unpack(case)), seen(true, table.unpack(case))
      assert.same(plain, fast)
      assert.equal(plain[2], plain[3])
      assert.equal("vector", tier)
    end
  end)
end)

describe("over ties, a function that writes to what it reads of others", function()
  it("sees what the rows before it have written", function()
    for text, fn in pairs {
      ["Local, Hunt.prey->Local:in"] = function(own, prey) own.x = prey.x * 0.5 + own.y end,
      ["Local, ChildOf*->Local:in"] = function(own, other) own.x = other.x * 0.5 + own.y end,
      ["Local, Hunt.prey->Local"] = function(own, prey)
        prey.x, own.y = prey.x + own.y, prey.x
      end,
      ["Local, Hunt, Hunt.prey->Hunt"] = function(own, hunt, other)
        if hunt.n < 3 then other.n, own.x = other.n + 1, own.x + other.n end
      end,
      ["(Owes, *), Local, (Knows, *)"] = function(owes, own, knows)
        owes.amount = owes.amount * 2 + knows.years
        knows.years = knows.years + 1
        own.x = own.x * 0.5 + owes.amount
      end,
    } do
      scene:both(function() return fn end, { query = text, count = 700 })
    end
  end)
end)

describe("a map over ties", function()
  local maps = {
    { "Local.x, (State, *)", function(x, dt, e, state) return x * dt + state % 7 - e % 5 end },
    { "Local.x|Red, with Hunt", function(x, red) return red and x and x + 1.0 end },
    { "Local.x, with (Owes, $to), Health($to).hp:in", function(x, hp, _, _, to)
      return x + hp / (to % 3 + 1)
    end },
    { "Local.x, ChildOf*->Health.armor:in", function(x, armor) return x * 0.5 + armor end },
  }

  it("is compiled, and writes what plain Lua writes", function()
    scene:twice(function(world, kernels)
      for _, map in ipairs(maps) do
        world:query(map[1]):map(map[2], 0.25)
        assert.equal(kernels and "vector" or "lua", world:explain(map[2]).tier, map[1])
      end
    end, { count = 700 })
  end)
end)

describe("over whole tables without a tie, a function", function()
  it("that takes the entity and does not look at it counts all rows", function()
    scene:twice(function(world, kernels)
      local counts = world:array("counts", "i64", 4)
      world:system("count", { query = "Local, !(Owes, *)", each = function(own, _, _)
        counts[own.x // 1 % 4 + 1] = counts[own.x // 1 % 4 + 1] + 1
      end })
      world:update(1)
      assert.equal(kernels and "vector" or "lua", world:explain("count").tier)
    end, { count = 60 })
  end)
end)
