-- Random declarations of prefabs, and what is made of them, beside a naive model of both.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local NAMES = { "A", "B", "C", "D" }
local COMPONENTS = { "P", "Q", "R", "S" }
local BASES = { B = "A", C = "B" }         -- prefabs that are made of others
local FIELDS = { "x", "y" }
local DEFAULTS = { x = 0, y = 7 }

local Model = {}
Model.__index = Model

local function new_world()
  local world = helper.new_world()
  for at, name in ipairs(COMPONENTS) do
    world:component(name, { "x: i32", "y: i32 = 7", storage = at == 2 and "sparse" or nil,
                            toggle = at == 3 or nil })
  end
  return world
end

local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local to = {}
  for key, part in pairs(value) do
    to[key] = copy(part)
  end
  return to
end

-- Whether what is made of a prefab has no copy of a component.
function Model:shares(name, component)
  local at = self.things[name]
  return at ~= nil and (at.shared[component] or at.of and self:shares(at.of, component)) or false
end

-- All that is made of a thing, breadth first.
function Model:made_of(key)
  local list = { key }
  for _, at in ipairs(list) do   -- grows on the way
    for _, other in ipairs(self.order) do
      list[#list + 1] = self.things[other].of == at and other or nil
    end
  end
  return list
end

-- The rows that a declaration says.
function Model:wanted(name, given)
  local base, rows = self.things[BASES[name]], {}
  for component, row in pairs(base and base.rows or {}) do
    rows[component] = not self:shares(BASES[name], component) and copy(row) or nil
  end
  for component, fields in pairs(given) do
    rows[component] = rows[component] or copy(DEFAULTS)
    for field, value in pairs(fields) do
      rows[component][field] = value
    end
  end
  return rows
end

function Model:will_share(name, shared, component)
  return shared[component] or BASES[name] and self:shares(BASES[name], component)
end

-- Brings a field from its old to its new value, wherever it still has that.
function Model:follow(key, component, field, old, new)
  for _, other in ipairs(self.order) do
    local thing = self.things[other]
    local row = thing.of == key and thing.rows[component]
    if row and row[field] == old then
      row[field] = new
      self:follow(other, component, field, old, new)
    end
  end
end

-- Whether a prefab between the two shares the component.
function Model:shares_below(name, key, component)
  local at = self.things[key].of
  while at ~= name do
    if self.things[at].shared[component] then
      return true
    end
    at = self.things[at].of
  end
  return false
end

function Model:declare(name, given, shared)
  local known, rows = self.things[name], self:wanted(name, given)
  if not known then
    self.order[#self.order + 1] = name
    self.things[name] = { rows = rows, shared = shared, of = BASES[name], prefab = true }
    return
  end
  for component, row in pairs(rows) do
    local now, alone = known.rows[component], self:will_share(name, shared, component)
    for _, field in ipairs(now and not alone and FIELDS or {}) do
      if now[field] ~= row[field] then
        self:follow(name, component, field, now[field], row[field])
      end
    end
    for at, key in ipairs(not alone and (not now or self:shares(name, component))
                          and self:made_of(name) or {}) do
      local thing = self.things[key]
      if at > 1 and not thing.rows[component] and not self:shares_below(name, key, component) then
        thing.rows[component] = copy(row)
      end
    end
  end
  known.rows, known.shared = rows, shared
end

function Model:instantiate(key, name, given)
  local rows = {}
  for component, row in pairs(self.things[name].rows) do
    rows[component] = not self:shares(name, component) and copy(row) or nil
  end
  for component, fields in pairs(given) do
    rows[component] = rows[component] or copy(DEFAULTS)
    for field, value in pairs(fields) do
      rows[component][field] = value
    end
  end
  self.order[#self.order + 1] = key
  self.things[key] = { rows = rows, shared = {}, of = name }
end

-- An older state, behind which all that is declared now is declared again.
function Model:load(image)
  local now, order = self.things, self.order
  self.things, self.order = copy(image.things), copy(image.order)
  for _, name in ipairs(order) do
    if now[name].prefab then
      self:declare(name, now[name].rows, now[name].shared)
    end
  end
end

-- ---- both --------------------------------------------------------------------------------

local function some_fields(rng)
  local fields = {}
  for _, field in ipairs(FIELDS) do
    fields[field] = rng:chance(60) and rng:int(3) or nil
  end
  return fields
end

local function some_components(rng)
  local given = {}
  for _, component in ipairs(rng:sample(COMPONENTS, rng:range(0, 3))) do
    given[component] = some_fields(rng)
  end
  return given
end

local steps = {}

function steps.declare(world, model, rng)
  local name = rng:pick(NAMES)
  if BASES[name] and not model.things[BASES[name]] then
    return
  end
  local given, shared, listed = some_components(rng), {}, {}
  for component in pairs(given) do
    shared[component] = rng:chance(25) or nil
  end
  for component in pairs(shared) do
    listed[#listed + 1] = component
  end
  for _ = 1, 2 do                  -- the second time says the same
    model:declare(name, given, shared)
    world:prefab(name, given, { shared = listed, is_a = BASES[name] })
  end
end

function steps.instantiate(world, model, rng)
  local name, given = rng:pick(NAMES), some_components(rng)
  if model.things[name] and #model.order < 40 then
    model:instantiate(world:instantiate(name, given), name, given)
  end
end

local function some_instance(model, rng)
  local key = rng:pick(model.order)
  return key and not model.things[key].prefab and key or nil
end

function steps.set(world, model, rng)
  local key, component, field = some_instance(model, rng), rng:pick(COMPONENTS), rng:pick(FIELDS)
  if key then
    local rows, value = model.things[key].rows, rng:int(3)
    rows[component] = rows[component] or copy(DEFAULTS)
    rows[component][field] = value
    world:set(key, component .. "." .. field, value)
  end
end

function steps.remove(world, model, rng)
  local key, component = some_instance(model, rng), rng:pick(COMPONENTS)
  if key then
    model.things[key].rows[component] = nil
    world:remove(key, component)
  end
end

function steps.save(world, model)
  model.image = { bytes = world:save(), things = copy(model.things), order = copy(model.order) }
end

function steps.load(world, model)
  if model.image then
    model:load(model.image)
    world:load(model.image.bytes)
  end
end

local function rows_of(world, id)
  local rows = {}
  for _, component in ipairs(COMPONENTS) do
    local x, y = world:get(id, component)
    rows[component] = x and { x = x, y = y }
  end
  return rows
end

local function compare(world, model)
  local counts = {}
  for _, key in ipairs(model.order) do
    local thing = model.things[key]
    local id = thing.prefab and world:lookup(key) or key
    assert.same(thing.rows, rows_of(world, id))
    for component in pairs(thing.prefab and {} or thing.rows) do
      counts[component] = (counts[component] or 0) + 1
    end
  end
  for _, component in ipairs(COMPONENTS) do
    assert.equal(counts[component] or 0, world:count(component))
  end
end

describe("random prefabs", function()
  local KINDS = { "declare", "declare", "instantiate", "instantiate", "set", "set", "remove",
                  "save", "load" }

  it("bring along what is made of them as a naive model says (C87)", function()
    for seed = 1, helper.by_scale { small = 12, normal = 50, deep = 400 } do
      local rng, world = random.new(seed), new_world()
      local model = setmetatable({ things = {}, order = {} }, Model)
      for step = 1, 60 do
        local kind = rng:pick(KINDS)
        local ok, problem = pcall(function()
          steps[kind](world, model, rng)
          compare(world, model)
        end)
        assert(ok, ("seed %d, step %d, %s: %s"):format(seed, step, kind, tostring(problem)))
      end
      helper.check(world)
      world:close()
    end
  end)
end)
