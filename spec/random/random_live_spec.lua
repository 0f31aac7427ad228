-- Random edits of live scripts: after each poll the world is what a first start of the same files
-- makes of it, with the entities that the model says and the components that no file declares any
-- more; or, refused, what it was.

local compare = require "spec.support.compare"
local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local live_gen = require "spec.support.live_gen"
local model = require "spec.support.model"
local scratch = require "spec.support.scratch"

local TAG = 5

-- What scripts make of a world: its schedule, its components, and what its systems do.
local function shape(world)
  local described = world:describe()
  local result = { systems = {}, phases = described.phases, components = {}, orphans = {} }
  for i, system in ipairs(described.systems) do
    result.systems[i] = { system.name, system.phase, system.enabled }
  end
  for _, name in ipairs(described.components) do
    local fields = {}
    for i, field in ipairs(world:describe(name).fields) do
      fields[i] = { field.name, field.type, field.default }
    end
    result.components[name] = fields
    result.orphans[name] = world:describe(name).orphan or nil
  end
  return result
end

-- The systems that an update runs, with their numbers, and its error: a system of a tag that had
-- fields is given dt in their place.
local function runs_of(world)
  local runs = {}
  rawset(_G, "RAN", function(name, number)
    runs[#runs + 1] = name .. " " .. number
  end)
  local _, problem = pcall(world.update, world, 0.25)
  rawset(_G, "RAN", nil)
  runs[#runs + 1] = problem and tostring(problem):match "^[^\n]*"
  return table.concat(runs, ", ")
end

-- A first start of the files, over an image if one is given; nil and why not.
local function start(path, image)
  local world = helper.new_world { tag = TAG }
  if image then
    world:load(image)
  end
  local ok, message = pcall(live.open, world, path)
  if not ok then
    world:close()
    return nil, message
  end
  return world
end

local Session = {}
Session.__index = Session

local function new_session(seed)
  local files = scratch.new()
  local self = setmetatable({
    files = files, gen = live_gen.new(seed, files), world = helper.new_world { tag = TAG },
    model = model.world { tag = TAG }, errors = {}, orphans = {},
  }, Session)
  self.live = live.open(self.world, files.path, { on_error = function(message)
    self.errors[#self.errors + 1] = message
  end })
  return self
end

-- Tells the model of what is declared now.
function Session:follow()
  local there, world = {}, self.model
  for _, statement in ipairs(self.gen:declared()) do
    there[statement.name] = true
    local lines = table.move(statement.lines or {}, 1, #(statement.lines or {}), 1, {})
    lines.was = statement.was
    if statement.kind == "resource" then
      world:resource(statement.name, lines)
    else
      world:component(statement.name, lines)
    end
  end
  self.orphans = {}
  for name in pairs(world.components_by_name) do
    if not there[name] then
      table.insert(self.orphans, name)
    end
  end
  table.sort(self.orphans)
  self:check_orphans()
end

function Session:check_orphans()
  assert.are.same(self.orphans, helper.sorted(self.live:status().orphans))
  assert.are.same(self.orphans, helper.sorted(self.world:describe().orphans))
end

-- What nobody declares goes, unless the files that were read last ask for some of it.
function Session:forget()
  local asked_for = self.gen:asked_for()
  local used, digest = false, self.world:digest()
  for _, name in ipairs(self.orphans) do
    used = used or asked_for[name]
  end
  local ok, result = pcall(self.live.forget, self.live)
  assert(ok == not used, result)
  if used then
    assert(result:find("is in use", 1, true), result)
    assert.are.equal(digest, self.world:digest())
  else
    assert.are.same(self.orphans, helper.sorted(result))
    for _, name in ipairs(self.orphans) do
      self.model:undeclare(name)
    end
    self.orphans = {}
  end
  self:check_orphans()
  self:compare()
end

-- In an order that does not depend on the process.
local function names_of(world)
  local names = {}
  for name in pairs(world.components_by_name) do
    names[#names + 1] = name
  end
  return helper.sorted(names)
end

-- A few entities and values, in both worlds.
function Session:populate()
  local rng = self.gen.rng
  for _ = 1, rng:int(4) do
    local components = {}
    for _, name in ipairs(names_of(self.model)) do
      local component = self.model.components_by_name[name]
      if rng:chance(50) then
        components[name] = #component.fields == 0 or {}
        for _, field in ipairs(component.fields) do
          components[name][field.name] = rng:chance(60) and rng:int(120) or nil
        end
      end
    end
    if self.model.ids.count < 30 then
      assert.are.equal(self.model:spawn(components), self.world:spawn(components))
    end
  end
end

function Session:compare()
  local names = names_of(self.model)
  -- Ids of components are given in another order.
  local expected = setmetatable({ components_by_id = {} }, { __index = self.model })
  local difference = compare.worlds(expected, self.world, names)
  assert(not difference, difference)
end

function Session:check_swapped()
  self:follow()
  local fresh, why = start(self.files.path, self.orphans[1] and self.world:save())
  assert(fresh, why)
  assert.are.same(shape(fresh), shape(self.world))
  assert.are.equal(runs_of(fresh), runs_of(self.world))
  assert.is_nil(self.live:status().last_error)
  fresh:close()
  self:compare()
end

function Session:check_refused(message, before, digest)
  assert.are.same(before, shape(self.world))
  assert.are.equal(digest, self.world:digest())
  assert.are.equal(message, self.errors[#self.errors])
  assert.are.equal(message, self.live:status().last_error)
  local fresh = start(self.files.path)
  if fresh then
    fresh:close()
    assert(message:find "^.*cannot migrate" or message:find "has fields; to drop",
      "a first start is possible, but " .. message)
  end
  assert(not start(self.files.path, self.world:save()), "a start over an image is possible")
  self:check_orphans()
  self:compare()
end

function Session:step()
  if self.refused and self.gen.rng:chance(50) then
    self.gen:revert()
  end
  for _ = 1, self.gen.rng:pick { 1, 1, 1, 2, 4 } do
    self.gen:edit()
  end
  local before, digest, errors = shape(self.world), self.world:digest(), #self.errors
  local ok, message = helper.poll(self.live)
  if ok then
    self:check_swapped()
    assert.are.equal(errors, #self.errors)
    self:populate()
    self.gen:accept()
  elseif ok == false then
    assert.are.equal(errors + 1, #self.errors)
    self:check_refused(message, before, digest)
  end
  if ok ~= nil then
    self.refused = not ok
  end
  if self.gen.rng:chance(15) then
    self:forget()
  end
  local again, why = helper.poll(self.live)
  assert(again == nil, ("polled %s, then %s: %s"):format(ok, again, why))
  helper.check(self.world)
  return ok
end

function Session:close()
  self.files:close()
  self.world:close()
  package.loaded["lib.value"], package.loaded.shared = nil, nil
end

describe("random edits of live scripts", function()
  local seeds = helper.by_scale { small = 5, normal = 25, deep = 150 }
  local steps = helper.by_scale { small = 40, normal = 60, deep = 150 }

  for first = 1, seeds, 5 do
    local last = math.min(first + 4, seeds)
    it(("end as a first start does, on seeds %d to %d"):format(first, last), function()
      local swapped, refused = 0, 0
      for seed = first, last do
        local session = new_session(seed)
        if #session.errors == 0 then session:follow() end
        for at = 1, steps do
          local ok, result = pcall(session.step, session)
          assert(ok, ("seed %d, step %d (%s): %s"):format(seed, at, session.files.path,
            tostring(type(result) == "table" and result.message or result)))
          swapped, refused = swapped + (result and 1 or 0), refused + (result == false and 1 or 0)
        end
        session:close()
      end
      assert.is_true(swapped > steps and refused > 5, ("%d and %d"):format(swapped, refused))
    end)
  end
end)
