-- Kernels mark what they write where `:changed` is asked of it, as plain Lua does.

local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"
local new_world, has_error = helper.new_world, helper.has_error

-- A world with P, whose changes are told by groups of rows, and T, which is tracked.
local function scene(options)
  local world = new_world(options)
  world:component("P", { "x: f32", "y: f32" })
  world:component("T", { "x: f32", "n: i32", "m: f32[3]", track = true })
  world:component("Other", { "x: f32" })
  return world
end

-- The entities that a query comes to.
local function ids(query)
  local list = query:ids()
  table.sort(list)
  return list
end

-- Queries about what has changed in groups of rows, and functions for them: that read and write,
-- with terms that are tracked, switched off, absent; the last one fails in some rows.
local GROUPED = {
  { "P:changed, Other", function(p, o) o.x = o.x + p.x; p.y = o.x end },
  { "P:changed:in, T", function(p, t, dt) if p.x > 3 then t.n = t.n + 1 end; t.x = dt end },
  { "P:changed:in, Other:changed:in, T", function(_, o, t, _, e) t.m[1] = o.x + e % 64 end },
  { "P:changed:in, Other, Switch", function(_, o, s) o.x = o.x + s.x end },
  { "P:changed:in, T:changed", function(p, t) t.n = t.n + 1; t.x = p.x end },
  { "P:changed, Odd?", function(p, odd) p.y = p.y + (odd and 1 or 2) end },
  { "P:changed:in, Other", function(p, o) o.x = o.x + 1; o.n = 10 // p.n end },
}

-- Functions that change who has what, of "P:changed:in".
local function commands(world)
  return {
    function(p, _, e) if p.n % 5 == 1 then world:add(e, "Odd") end end,
    function(p, _, e) if p.n % 700 == 699 then world:despawn(e) end end,
    function(p) if p.n % 900 == 3 then world:spawn { P = { p.x, p.y, p.n }, Other = {} } end end,
    function(p, _, e) if p.x < 2 then world:remove(e, "Odd"); world:set(e, "T.x", p.x) end end,
  }
end

-- A scene of some thousand entities, with a list of these.
local function crowd(options)
  local world, list = scene(options), {}
  world:component("P", { "x: f32", "y: f32", "n: i32" })
  world:component("Other", { "x: f32", "n: i32" })
  world:component("Switch", { "x: f32", toggle = true })
  world:tag "Odd"
  for i = 1, math.random(1, 4) * 1024 + math.random(-3, 3) do
    list[i] = world:spawn { P = { i % 7, 0, i }, T = {}, Other = { i }, Switch = { i } }
    if i % 300 == 0 then world:add(list[i], "Odd") end
    if i % 500 == 0 then world:disable(list[i], "Switch") end
  end
  return world, list
end

-- Writes to a few of them.
local function touch(world, list, round)
  for _ = 1, math.random(0, 3) do
    local e = list[math.random(#list)]
    if world:alive(e) then
      local name = math.random(3) == 1 and "Other.n" or "P.n"
      world:set(e, name, math.random(4) == 1 and 0 or math.random(2000))
      if math.random(3) == 1 then world:set(e, "T.n", round) end
    end
  end
end

-- Runs the functions over what has changed; what was to be seen, and how the first of them ran.
local function play(options, seed)
  math.randomseed(seed)
  local world, list = crowd(options)
  local queries, functions, seen = {}, {}, {}
  for i, made in ipairs(GROUPED) do queries[i], functions[i] = world:query(made[1]), made[2] end
  for _, fn in ipairs(commands(world)) do
    queries[#queries + 1], functions[#functions + 1] = world:query "P:changed:in", fn
  end
  for round = 1, 40 do
    touch(world, list, round)
    local at = round == 1 and 1 or math.random(#queries)
    local _, problem = pcall(queries[at].each, queries[at], functions[at], round)
    seen[#seen + 1] = at .. tiers.plain(problem or "") .. queries[math.random(#queries)]:count()
  end
  for _, name in ipairs { "P", "T", "Other" } do
    for _, id in ipairs(world:query(name):ids()) do
      seen[#seen + 1] = table.concat({ id, world:get(id, name) }, " ", 1, 3)
    end
  end
  seen[#seen + 1] = world:query("Odd"):count() .. " " .. queries[1]:count()
  local tier = world:explain(functions[1]).tier
  return seen, tier
end

describe("a kernel that writes to what is watched", function()
  local function both(fn)
    fn(scene { kernels = false }, "lua")
    fn(scene(), "vector")
  end

  it("marks the rows that have stored, and no others", function()
    both(function(world, tier)
      local list = {}
      for i = 1, 3000 do
        list[i] = world:spawn { T = { n = i }, P = { x = i } }
      end
      local tracked, grouped = world:query "T:changed", world:query "P:changed"
      tracked:count()
      grouped:count()
      world:system("write", { query = "T, P", each = function(t, p)
        if t.n % 1000 == 7 then t.x = 1 end
        if p.x > 2500 then p.y = p.x end
        for i = 1, 3 do
          if t.n == 5 + i then t.m[i] = 2 end
        end
      end })
      world:update(1)
      assert.equal(tier, world:explain "write".tier)
      assert.same(tier == "vector" and { "T", "P" } or nil, world:explain "write".marks)
      assert.same({ list[6], list[7], list[8], list[1007], list[2007] }, ids(tracked))
      assert.equal(3000 - 2048, grouped:count())
      world:system("write", { query = "T.x, T.n", map = function(x, n)
        if n < 3 then return x + 1 end
        return nil
      end })
      world:update(1)
      assert.same({ list[1], list[2] }, ids(tracked))
    end)
  end)

  it("goes over just the rows that were written", function()
    both(function(world, tier)
      local list = world:spawn_many(3000, { T = {}, P = {}, Other = {} })
      world:system("count", { query = "T:changed:in, P", each = function(t, p)
        p.x = p.x + t.n + 1
      end })
      local total = world:query "P"
      world:update(1)
      assert.equal(tier, world:explain "count".tier)
      assert.same({ "T:changed" }, world:explain "count".changed)
      assert.is_true(world:describe("T").watched and world:describe("T").track)
      assert.is_nil(world:describe("Other").watched)
      world:set(list[1], "T.n", 4)
      world:set(list[2049], "T.n", 5)
      world:update(1)
      world:update(1)
      assert.equal(3000 + 5 + 6, total:sum(function(p) return p.x end))
    end)
  end)

  it("goes over whole groups of rows as over tables, whatever it does to them", function()
    local most = helper.by_scale { small = 2, normal = 6, deep = 200 }
    for seed = 1, most do
      local wanted = play({ tag = 1, kernels = false }, seed)
      local got, tier = play({ tag = 1 }, seed)
      assert.equal("vector", tier)
      assert.same(wanted, got)
    end
  end)

  it("marks what it writes to others, and its rows where they do not lie together", function()
    both(function(world, tier)
      world:component("Hunt", { "prey: entity" })
      world:component("Switch", { "x: f32", toggle = true })
      local prey = world:spawn_many(300, { T = {} })
      for i = 1, 100 do
        local e = world:spawn { Hunt = { prey = prey[i] }, Switch = {}, P = { x = i } }
        if i % 2 == 0 then world:disable(e, "Switch") end
      end
      local tracked = world:query "T:changed"
      tracked:count()
      world:system("hit", { query = "Hunt, Hunt.prey->T, P, Switch", each = function(_, t, p)
        if p.x < 8 then t.x = t.x - p.x end
      end })
      world:update(1)
      assert.equal(tier, world:explain "hit".tier)
      assert.same({ prey[1], prey[3], prey[5], prey[7] }, ids(tracked))
      world:system("hit", { query = "Hunt", each = function(h) world:set(h.prey, "T.n", 4) end })
      world:update(1)
      assert.equal(tier, world:explain "hit".tier)
      assert.equal(100, tracked:count())
    end)
  end)

  it("marks what predicates and reductions write", function()
    both(function(world)
      for i = 1, 100 do
        world:spawn { T = { n = i } }
      end
      local tracked, all = world:query "T:changed", world:query "T"
      tracked:count()
      assert.equal(49, all:where(function(t)
        if t.n > 30 then t.x = t.n end
        return t.n < 50
      end):count())
      assert.equal(70, tracked:count())
      all:sum(function(t)
        if t.n < 30 then t.x = 2 end
        return t.n
      end)
      assert.equal(29, tracked:count())
    end)
  end)

  it("marks the rows before one that fails, and what the function does behind it", function()
    both(function(world)
      for i = 1, 200 do
        world:spawn { T = { n = i }, P = { x = i } }
      end
      local tracked = world:query "T:changed"
      tracked:count()
      world:system("fail", { query = "T, P:in", each = function(t, p)
        t.n = p.x == 150 and 0.5 or 1
      end })
      has_error(function() world:update(1) end, "T.n")
      assert.equal(149, tracked:count())
    end)
  end)

  it("marks nothing for a row that is undone", function()
    both(function(world)
      local nobody = require "ecs".null
      local boss = world:spawn { P = { 1 }, T = { n = 1 } }
      world:spawn { Other = {} }
      local grouped, tracked = world:query "P:changed", world:query "T:changed"
      for _ in grouped:each() do end
      for _ in tracked:each() do end
      world:update(1)
      world:system("fail", { query = "Other", each = function()
        world:add(nobody, "Other")
        local n = world:get(boss, "T.n")
        world:set(boss, "T.n", n + 1)
        world:set(boss, "P.x", n)
      end })
      has_error(function() world:update(1) end, "null")
      assert.same({ 0, 0 }, { grouped:count(), tracked:count() })
    end)
  end)
end)
