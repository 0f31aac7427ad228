-- Random programs about events, against lists in plain Lua: who sees which, and when they go.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local STEPS = 80
local READERS = { "early", "late", "every", "fixed", "fixed_every" }
local OPTIONS = {
  early = { phase = "pre_update" }, late = { phase = "post_update" },
  every = { every = 0.75 }, fixed = { phase = "slow" },
  fixed_every = { phase = "slow", every = 1 },
}

-- ---- the model: events in order, each { value, own update }; what is put off ---------------

local Model = {}
Model.__index = Model

local function new_model()
  local self = setmetatable({ events = {}, later = {}, tick = 1, now = 0, readers = {},
    scopes = {}, number = 0 }, Model)
  for _, name in ipairs(READERS) do
    self.readers[name] = { seen = 0, awaited = 0, on = true, timer = 0, log = {}, sum = 0,
      count = 0 }
  end
  return self
end

function Model:emit(value)
  self.number = self.number + 1
  self.events[#self.events + 1] = { value = value, own = self.tick, number = self.number }
end

function Model:after(seconds, value)
  self.later[#self.later + 1] = { due = self.now + seconds, value = value }
end

function Model:defer()
  self.scopes[#self.scopes + 1] = { #self.events, self.number, #self.later }
end

function Model:cancel()
  local scope = table.remove(self.scopes)
  for i = #self.events, scope[1] + 1, -1 do self.events[i] = nil end
  for i = #self.later, scope[3] + 1, -1 do self.later[i] = nil end
  self.number = scope[2]
end

local function read(self, reader)
  for _, event in ipairs(self.events) do
    if event.number > reader.seen then
      reader.log[#reader.log + 1] = event.value
      reader.sum, reader.count = reader.sum + event.value, reader.count + 1
    end
  end
  reader.seen, reader.awaited = self.number, self.number
end

local function pass(self, name, dt, every)
  local reader = self.readers[name]
  reader.timer = reader.timer + dt
  if reader.on and (not every or reader.timer >= every) then
    if every then reader.timer = math.fmod(reader.timer, every) end
    read(self, reader)
  end
end

function Model:update(dt)
  self.now = self.now + dt
  local due, rest = {}, {}
  for i, put in ipairs(self.later) do
    put.order = i
    table.insert(put.due <= self.now and due or rest, put)
  end
  table.sort(due, function(a, b) return a.due < b.due or a.due == b.due and a.order < b.order end)
  for _, put in ipairs(due) do self:emit(put.value) end
  self.later = rest
  pass(self, "early", dt)
  pass(self, "every", dt, 0.75)
  self.accumulator = (self.accumulator or 0) + dt
  while self.accumulator >= 0.5 do
    self.accumulator = self.accumulator - 0.5
    pass(self, "fixed", 0.5)
    pass(self, "fixed_every", 0.5, 1)
  end
  pass(self, "late", dt)
  local kept = {}
  for _, event in ipairs(self.events) do
    local stays = event.own >= self.tick
    for _, name in ipairs { "every", "fixed", "fixed_every" } do
      local reader = self.readers[name]
      stays = stays or reader.on and reader.awaited < event.number
    end
    -- They go in order: what is behind one that stays is there, too.
    if stays or #kept > 0 then kept[#kept + 1] = event end
  end
  self.events = kept
  self.tick = self.tick + 1
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local result = setmetatable({}, getmetatable(value))
  for key, entry in pairs(value) do result[key] = copy(entry) end
  return result
end

-- ---- the world: each reader has a twin that is compiled -------------------------------------

local FIELDS = {
  { "value: i32", "who: entity", "note: string" }, { "who: entity", "value: f64" },
  { "note: string", "value: i64", "more: f32 = 2" },
}

local function new_world(logs)
  local world = helper.new_world()
  world:component("Mark", { "n: i32" })
  world:event("Hit", FIELDS[1])
  world:phase("slow", { fixed = 0.5, before = "post_update" })
  local sum = world:array("sum", "i64", #READERS)
  local count = world:array("count", "i64", #READERS)
  for i, name in ipairs(READERS) do
    local options = copy(OPTIONS[name])
    options.query = "Hit.value"
    options.each = function(value) table.insert(logs[name], math.tointeger(value)) end
    world:system(name, options)
    options.each = function(value)
      sum[i] = sum[i] + value
      count[i] = count[i] + 1
    end
    world:system(name .. "_twin", options)
  end
  return world, sum, count
end

local function all(world)
  local list = {}
  for hit in world:events "Hit" do list[#list + 1] = math.tointeger(hit.value) end
  return list
end

local function expected(model)
  local list = {}
  for _, event in ipairs(model.events) do list[#list + 1] = event.value end
  return list
end

local step = {}

function step.emit(s)
  for _ = 1, s.rng:int(4) do
    s.count = s.count + 1
    s.model:emit(s.count)
    s.world:emit("Hit", { value = s.count })
  end
end

function step.after(s)
  local seconds = s.rng:range(0, 8) / 4
  s.count = s.count + 1
  s.model:after(seconds, s.count)
  s.world:after(seconds, "Hit", { value = s.count })
end

function step.update(s)
  while #s.model.scopes > 0 do step.close(s) end
  local dt = s.rng:range(0, 4) / 4
  s.model:update(dt)
  s.world:update(dt)
end

function step.defer(s)
  if #s.model.scopes == 3 then return end
  s.model:defer()
  s.world:defer()
end

function step.close(s)
  if #s.model.scopes == 0 then return end
  if s.rng:chance(50) then
    s.model:cancel()
    s.world:cancel()
  else
    table.remove(s.model.scopes)
    s.world:commit()
  end
end

function step.switch(s)
  local name, on = s.rng:pick(READERS), s.rng:chance(60)
  s.model.readers[name].on = on
  s.world:switch(name, on)
  s.world:switch(name .. "_twin", on)
end

function step.fields(s)
  if #s.model.scopes == 0 then
    s.world:event("Hit", s.rng:pick(FIELDS))
    s.kept = nil
  end
end

function step.keep(s)
  if #s.model.scopes > 0 then return end
  s.kept = { model = copy(s.model), digest = s.world:digest() }
  s.kept.image = s.rng:chance(50) and s.world:save()
  s.kept.snapshot = not s.kept.image and s.world:snapshot()
end

function step.go_back(s)
  local kept = s.kept
  if not kept or #s.model.scopes > 0 then return end
  if kept.image then
    s.world:load(kept.image)
    assert.are.equal(kept.image, s.world:save())
  else
    s.world:restore(kept.snapshot)
  end
  assert.are.equal(kept.digest, s.world:digest())
  local logs = s.model.readers
  s.model = copy(kept.model)
  for name, reader in pairs(s.model.readers) do reader.log = logs[name].log end
end

local DRAWN = { "emit", "emit", "emit", "after", "after", "update", "update", "update", "defer",
  "close", "switch", "fields", "keep", "go_back" }

local function run(seed)
  local logs = {}
  for _, name in ipairs(READERS) do logs[name] = {} end
  local world, sum, count = new_world(logs)
  local s = { rng = random.new(seed), model = new_model(), world = world, count = 0 }
  for _ = 1, STEPS do
    step[s.rng:pick(DRAWN)](s)
    assert.are.same(expected(s.model), all(s.world))
    assert.are.equal(#s.model.events, s.world:count "Hit")
    for i, name in ipairs(READERS) do
      local reader, told = s.model.readers[name], world:explain(name .. "_twin")
      assert.are.same({ reader.sum, reader.count }, { sum[i], count[i] }, name)
      assert.are.equal("vector", told.tier, told.reason)
    end
  end
  while #s.model.scopes > 0 do step.close(s) end
  helper.check(s.world)
  for _, name in ipairs(READERS) do assert.are.same(s.model.readers[name].log, logs[name]) end
end

describe("random programs about events", function()
  it("see what lists in plain Lua do", function()
    helper.each_seed({ small = 8, normal = 30, deep = 300 }, run)
  end)
end)
