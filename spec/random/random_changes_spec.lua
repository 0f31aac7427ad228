-- Random programs about what has changed, against what a list says of each entity: exactly where
-- a component is tracked; of the others no fewer, and with kernels and without just the same.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local STEPS = 60
local NAMES = { "T", "P", "S", "K" }

local TEXTS = {
  { "T:changed", all = { "T" }, changed = { "T" } },
  { "T:added", all = { "T" }, added = { "T" } },
  { "S:changed", all = { "S" }, changed = { "S" } },
  { "T:changed:in, with P", all = { "T", "P" }, changed = { "T" } },
  { "P, T:changed, S:changed", all = { "P", "T", "S" }, changed = { "T", "S" } },
  { "K:changed, T?", all = { "K" }, changed = { "K" } },
  { "T:changed|K:added", any = { T = "changed", K = "added" } },
  { "P:changed", all = { "P" }, changed = { "P" }, loose = true },
  { "P:changed, T", all = { "P", "T" }, changed = { "P" }, loose = true },
}

-- ---- the model: of each entity what it has, and when that was written and came -------------

local Model = {}
Model.__index = Model

local function new_model()
  return setmetatable({ entities = {}, now = 1, seen = {} }, Model)
end

function Model:write(e, name)
  local entity = self.entities[e]
  if entity and entity[name] then entity[name].changed = self.now end
end

function Model:add(e, name)
  local entity = self.entities[e]
  if entity and not entity[name] then
    entity[name] = { changed = self.now, added = self.now, on = true }
  end
end

local function is_news(entity, name, how, since)
  local had = entity[name]
  return had and had.on and had[how] > since
end

local function matches(entity, text, since)
  for name, how in pairs(text.any or {}) do
    if is_news(entity, name, how, since) then return true end
  end
  if text.any then return false end
  for _, name in ipairs(text.all) do
    if not entity[name] or not entity[name].on then return false end
  end
  for _, how in ipairs { "changed", "added" } do
    for _, name in ipairs(text[how] or {}) do
      if not is_news(entity, name, how, since) then return false end
    end
  end
  return true
end

-- Whom a query is about.
function Model:ask(key, text)
  local found, since = {}, self.seen[key] or 0
  for e, entity in pairs(self.entities) do
    if matches(entity, text, since) then found[e] = true end
  end
  return found
end

function Model:has_seen(key)
  self.seen[key] = self.now
  self.now = self.now + 1
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local other = {}
  for key, inner in pairs(value) do other[key] = copy(inner) end
  return other
end

-- ---- two worlds and the model --------------------------------------------------------------

local function declare(world)
  world:component("T", { "x: f32", "n: i32", "m: f32[2]", track = true })
  world:component("P", { "x: f32", "n: i32" })
  world:component("S", { "x: f32", track = true, storage = "sparse" })
  world:component("K", { "x: f32", track = true, toggle = true })
  world:tag "Tag"
  return world
end

local Run = {}
Run.__index = Run

local function observe(world, log)
  for i, text in ipairs(TEXTS) do
    world:system("watch" .. i, { query = text[1], run = function(_, _, query)
      log[i] = query:ids()
    end })
  end
end

local function new_run(seed, rows)
  local run = setmetatable({ rng = random.new(seed), model = new_model(), list = {}, logs = {} },
    Run)
  run.worlds = {
    declare(helper.new_world { tag = 9 }), declare(helper.new_world { tag = 9, kernels = false }),
  }
  run.queries = {}
  for w, world in ipairs(run.worlds) do
    run.logs[w], run.queries[w] = {}, {}
    observe(world, run.logs[w])
    for i, text in ipairs(TEXTS) do run.queries[w][i] = world:query(text[1]) end
  end
  for _ = 1, 3 do run:spawn(rows // 3) end
  return run
end

-- Does the same in both worlds; what it gives must be the same.
function Run:both(fn)
  local a, b = fn(self.worlds[1], 1), fn(self.worlds[2], 2)
  assert.same(b, a)
  return a
end

function Run:spawn(count)
  local parts = {}
  for _, name in ipairs(NAMES) do
    if self.rng:chance(60) then parts[name] = { x = self.rng:int(9) } end
  end
  local ids = self:both(function(world) return world:spawn_many(count, parts) end)
  for i, e in ipairs(ids) do
    if parts.T then
      self:both(function(world) world:set(e, "T.n", i) end)
    end
    self.list[#self.list + 1] = e
    self.model.entities[e] = {}
    for name in pairs(parts) do self.model:add(e, name) end
  end
end

function Run:some()
  for _ = 1, 20 do
    local e = self.rng:pick(self.list)
    if e and self.model.entities[e] then return e end
  end
end

local ops = {}

function ops.set(run, e)
  local name = run.rng:pick(NAMES)
  local value = run.rng:int(3)
  run:both(function(world) world:set(e, name, value) end)
  run.model:add(e, name)
  run.model:write(e, name)
end

function ops.field(run, e)
  local name = run.rng:pick(NAMES)
  run:both(function(world) if world:has(e, name) then world:set(e, name .. ".x", 2) end end)
  run.model:write(e, name)
end

function ops.add(run, e)
  local name = run.rng:pick(NAMES)
  run:both(function(world) world:add(e, name) end)
  run.model:add(e, name)
end

function ops.remove(run, e)
  local name = run.rng:pick(NAMES)
  run:both(function(world) world:remove(e, name) end)
  run.model.entities[e][name] = nil
end

function ops.tag(run, e)
  local method = run.rng:pick { "add", "remove" }
  run:both(function(world) world[method](world, e, "Tag") end)
end

function ops.switch(run, e)
  local method = run.rng:pick { "enable", "disable" }
  run:both(function(world) world[method](world, e, "K") end)
  local had = run.model.entities[e].K
  if had then had.on = method == "enable" end
end

function ops.despawn(run, e)
  run:both(function(world) world:despawn(e) end)
  run.model.entities[e] = nil
end

function ops.spawn(run)
  run:spawn(run.rng:int(3))
end

function ops.scope(run, e)
  local name, other = run.rng:pick(NAMES), run.rng:pick(NAMES)
  local keep = run.rng:chance(70)
  run:both(function(world)
    world:defer()
    world:add(e, name)
    world:add(e, "Tag")
    world:set(e, other, 4)
    world[keep and "commit" or "cancel"](world)
  end)
  -- What is there is written at once, unless a command of the scope waits for it.
  if keep or (run.model.entities[e][other] and name ~= other) then run.model:write(e, other) end
  if keep then
    run.model:add(e, name)
    run.model:add(e, other)
  end
end

-- Rows whose field is a multiple are written, by several ways; in one world by a kernel.
local WRITERS = {
  function(t, k) if t.n % k == 0 then t.x = t.x + 1 end end,
  function(t, k) if t.n % k == 0 then t.m[t.n % 2 + 1] = 3 end end,
  function(t, k)
    local n = 0
    while n < t.n % k do n = n + 1 end
    if n == 0 then t.x = 0 end
  end,
}

-- All rows are.
local function write_all(t, k)
  if t.n == k then t.m[1] = k end
  t.x = k
end

function ops.kernel(run)
  local all, k = run.rng:chance(25), run.rng:range(1, 40)
  local writer = all and write_all or run.rng:pick(WRITERS)
  local filter = run.rng:pick { "T", "T, P:in", "T, !Tag", "T, K:in", "T, with S" }
  run:both(function(world) world:query(filter):each(function(t) writer(t, k) end) end)
  local chosen = run.worlds[2]:query(filter):where(function(t) return all or t.n % k == 0 end)
  for _, e in ipairs(chosen:ids()) do run.model:write(e, "T") end
end

function ops.map(run)
  local k = run.rng:range(1, 9)
  run:both(function(world)
    world:query("P.x, P.n, T.n:in"):map(function(x, n, by)
      if by % k == 0 then return nil, n + 1 end
      if by % k == 1 then return x + 1 end
      return nil, nil
    end)
  end)
  local chosen = run.worlds[2]:query("T:in, with P"):where(function(t)
    return t.n % k == 0 or t.n % k == 1
  end)
  for _, e in ipairs(chosen:ids()) do run.model:write(e, "P") end
end

function ops.orders(run, target)
  if not run.model.entities[target].P then return end
  run:both(function(world)
    world:system("order", { query = "P", each = function(_, _, e)
      if e == target then world:set(target, "P.n", 5) end
    end })
    world:run("order", 1)
    world:remove_system "order"
  end)
  run.model:write(target, "P")
end

function ops.ask(run)
  local i = run.rng:int(#TEXTS)
  run:ask(i)
end

function ops.systems(run)
  run:both(function(world) world:update(0.5) end)
  for i, text in ipairs(TEXTS) do
    run:compare(text, run.logs[1][i], run.logs[2][i], run.model:ask("watch" .. i, text))
    run.model:has_seen("watch" .. i)
  end
end

function ops.image(run)
  local other = run.rng:chance(50)
  if other then run.kept = nil end             -- which no other world takes back
  run:both(function(world)
    if other then
      world:load(world:save())
    else
      world:restore(world:snapshot())
    end
  end)
  for i = 1, #TEXTS do run.model.seen[i] = nil end
end

-- Back to what it was, some steps later.
function ops.again(run)
  if run.kept and run.rng:chance(50) then
    run:both(function(world, w) world:restore(run.kept.snapshots[w]) end)
    run.model = setmetatable(copy(run.kept.model), Model)
    run.list = copy(run.kept.list)
    for i = 1, #TEXTS do run.model.seen[i] = nil end
    run.kept = nil
  elseif not run.kept then
    local snapshots = {}
    run:both(function(world, w) snapshots[w] = world:snapshot() end)
    run.kept = { snapshots = snapshots, model = copy(run.model), list = copy(run.list) }
  end
end

function Run:compare(text, a, b, wanted)
  assert.same(b, a)
  local got, lacking, more = {}, 0, 0
  for _, e in ipairs(a) do
    got[e] = true
    if not wanted[e] then more = more + 1 end
  end
  for e in pairs(wanted) do
    if not got[e] then lacking = lacking + 1 end
  end
  assert(lacking == 0, ("'%s' lacks %d that have changed"):format(text[1], lacking))
  assert(text.loose or more == 0, ("'%s' has %d that have not changed"):format(text[1], more))
end

function Run:ask(i)
  local text = TEXTS[i]
  local found = {}
  local way = self.rng:int(4)
  for w in ipairs(self.worlds) do
    local query, list = self.queries[w][i], {}
    if way == 1 then
      query:each(function(...)
        local e = select(select("#", ...), ...)
        list[#list + 1] = e
      end)
    elseif way == 2 then
      for chunk in query:chunks() do
        for row = 1, chunk.n do list[#list + 1] = chunk.entities[row] end
      end
    else
      list = query:ids()
    end
    found[w] = list
  end
  self:compare(text, found[1], found[2], self.model:ask(i, text))
  self.model:has_seen(i)
end

local names = {}
for name in pairs(ops) do names[#names + 1] = name end
table.sort(names)

local function run_seed(seed, rows)
  local run = new_run(seed, rows)
  for step = 1, STEPS do
    local name, e = run.rng:pick(names), run:some()
    if not e then
      name = "spawn"
    end
    local ok, message = pcall(ops[name], run, e)
    if not ok then
      error(("step %d, %s: %s"):format(step, name, tostring(message)), 0)
    end
  end
  for i = 1, #TEXTS do run:ask(i) end
  for _, world in ipairs(run.worlds) do world:close() end
end

describe("random programs about what has changed", function()
  it("see what a list of all entities says", function()
    helper.each_seed({ small = 15, normal = 60, deep = 400 }, run_seed, 30)
  end)

  it("see so over several groups of rows", function()
    helper.each_seed({ small = 1, normal = 3, deep = 15 }, run_seed, 3600)
  end)
end)
