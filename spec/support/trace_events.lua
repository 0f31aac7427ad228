-- Steps about events: their operations, and how often each is drawn. Functions that can be compiled
-- emit, count, and write to whom events lead.

local gen = require "spec.support.trace_gen"
local kinds = require "spec.support.trace_kinds"
local model = require "spec.support.model_events"
local ops = require "spec.support.trace_ops"
local values = require "spec.support.trace_values"

local list = ops.list

-- ---- operations --------------------------------------------------------------------------

-- Returns what a migration did.
function list.event(ctx, name, fields)
  local _, report = ctx.world:event(name, fields)
  if report then
    return report.kept, report.added, report.dropped, report.converted
  end
end

function list.emit(ctx, name, ...)
  ctx.world:emit(name, ...)
end

local function is_model(ctx)
  return type(ctx.world.events) == "table"
end

-- Calls a function with a view of each that is there.
local function each_event(ctx, name, fn)
  if is_model(ctx) then
    for _, view in ipairs(ctx.world:events_of(name)) do
      fn(view)
    end
    return
  end
  for view in ctx.world:events(name) do
    fn(view)
  end
end

-- The values of fields of all that are there.
function list.read_events(ctx, name, fields)
  local seen = {}
  each_event(ctx, name, function(view)
    for _, field in ipairs(fields) do
      seen[#seen + 1] = view[field]
    end
  end)
  return seen
end

-- A function of the trace that can be compiled, the same one each time.
local function function_of(ctx, text, ...)
  ctx.clamps[text] = ctx.clamps[text] or assert(load(text))(...)
  return ctx.clamps[text]
end

-- How many have more than 3 in a field, which another declaration may have taken away.
function list.large_events(ctx, name, field)
  local fn = function_of(ctx, ("return function(e) return e.%s > 3 end"):format(field))
  if is_model(ctx) then
    return ctx.world:count_events(name, field, fn)
  end
  return ctx.world:query(name):where(fn):count()
end

-- Emits one for each row of a component, with the row's entity, and another one without. What was
-- emitted shows in which order rows came.
function list.fire(ctx, component, path, name)
  local fn = function_of(ctx, ([[
    local world = ...
    return function(v, _, e)
      world:emit("NAME", { who = e, value = v.PATH })
      world:emit("NAME", { value = 3 })
    end
  ]]):gsub("NAME", name):gsub("PATH", path), ctx.home)
  if is_model(ctx) then
    ctx.world:events_of(name)   -- the event comes first
    local seen = {}
    ctx.world:query(component):each(function(v, dt, e)
      seen[#seen + 1] = e
      fn(v, dt, e)
    end)
    table.move(seen, 1, #seen, #ctx.visits + 1, ctx.visits)
    return
  end
  local before = ctx.world:count(name)
  ctx.world:query(component):each(fn)
  for view in ctx.home:events(name) do
    before = before - 1
    ctx.visits[#ctx.visits + 1] = before < 0 and before % 2 == 1 and view.who or nil
  end
end

-- Adds to a field of whom they lead to.
function list.strike(ctx, name, component, path)
  local fn = function_of(ctx, ("return function(_, v) v.PATH = v.PATH + 2 end"):gsub("PATH", path))
  if is_model(ctx) then
    ctx.world:each_struck(name, component, fn)
  else
    ctx.world:query(("%s, %s.who->%s"):format(name, name, component)):each(fn)
  end
end

-- ---- steps -------------------------------------------------------------------------------

local FIELDS = {
  { "who: entity", "value: f64", "on: bool" }, { "value: i32 = 7", "who: entity", "text: string" },
  { "value: u8", "who: entity", "kind: enum(a, b)", "list: i8[2]" },
  { "who: entity", "value: f32 = 2", "more: f64" },
  { "who: entity", "far: f64 = 1", was = { far = "value" } },
}
local VALUES = { 0, 1, 3, 4, 100, 300, -1, 0.5, 2.0 ^ 31, "text", true }

-- Few, so that worlds do not fill with them between updates.
local MOST = 400

local function name_of(self)
  return self.rng:pick(model.EVENTS)
end

local function fields_of(self, name)
  local component, fields = self.world.components_by_name[name], {}
  for _, field in ipairs(component and component.fields or {}) do
    fields[#fields + 1] = field.type.kind == "scalar" and field.name or nil
  end
  return fields
end

local function has_room(self)
  for _, event in pairs(self.world.events) do
    if #event.rows > MOST then
      return false
    end
  end
  return true
end

local function declare(self)
  return { "event", name_of(self), self.rng:pick(FIELDS) }
end

-- A step about an event, mostly about one that is declared.
local function about(make)
  return function(self)
    local name = name_of(self)
    if not self.world.events[name] and self.rng:chance(90) then
      return { "event", name, self.rng:pick(FIELDS) }
    end
    return make(self, name)
  end
end

local function value_of(self)
  return self.rng:chance(70) and self.rng:int(9) or self.rng:pick(VALUES)
end

local emit = about(function(self, name)
  local who = self:reference() or 0
  local step = { "emit", name }
  if self.rng:chance(30) then
    step[3], step[4] = who, value_of(self)
  elseif self.rng:chance(90) then
    step[3] = { who = who, value = self.rng:chance(70) and value_of(self) or nil }
  end
  return has_room(self) and step or nil
end)

local function emit_self(self)
  local step = emit(self)
  if step and step[1] == "emit" and type(step[3]) == "table" then
    step[3].who = "@self"
  end
  return step
end

local read = about(function(self, name)
  return { "read_events", name, fields_of(self, name) }
end)

local large = about(function(self, name)
  local field = self.rng:chance(70) and "value" or self.rng:pick(fields_of(self, name))
  return { "large_events", name, field or "value" }
end)

-- A component and the path of one of its leaves, mostly of a number.
local function leaf_of(self)
  for try = 1, 6 do
    local component = self:component()
    local path, kind = values.leaf(self, component)
    local number = kind and (kind.low or kind.name == "f32" or kind.name == "f64")
    if path and kind.name ~= "any" and (number or try == 6) then
      return component.name, path:match "%.(.*)$"
    end
  end
end

local fire = about(function(self, name)
  local component, path = leaf_of(self)
  return component and has_room(self) and { "fire", component, path, name } or nil
end)

local strike = about(function(self, name)
  local component, path = leaf_of(self)
  return component and { "strike", name, component, path } or nil
end)

local function undeclare(self)
  return { "undeclare", name_of(self) }
end

for _, kind in ipairs {
  { 5, declare }, { 60, emit }, { 8, read }, { 10, large }, { 15, fire }, { 20, strike },
  { 1, undeclare },
} do
  kinds[#kinds + 1] = kind
end
gen.row_kinds[#gen.row_kinds + 1] = { 15, emit_self }
for _, list_of_kinds in ipairs { gen.row_kinds, gen.plain_kinds } do
  list_of_kinds[#list_of_kinds + 1] = { 8, emit }
  list_of_kinds[#list_of_kinds + 1] = { 1, read }
  list_of_kinds[#list_of_kinds + 1] = { 1, declare }
end

return kinds
