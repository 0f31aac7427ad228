-- The kinds of steps that random traces are made of, and how often each is drawn.

local gen = require "spec.support.trace_gen"
local values = require "spec.support.trace_values"

local DTS = { 0, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 3 / 64, 1 / 4, 1 }
local NAMES = { "player", "boss", "door", "a", "b", "c" }
local SYSTEMS = { "move", "think", "draw", "heal", "spawn", "sweep" }

-- ---- entities --------------------------------------------------------------------------

local function spawn(self)
  return self:has_room(1) and { "spawn", self:composition() } or nil
end

local function spawn_many(self)
  local sparse = self.crowd >= 1000 and self.world.ids.count * 2 < self.crowd
  local n = sparse and self.crowd // 4 or self.rng:pick { 0, 1, 2, 5, 12, self.crowd // 2 }
  return self:has_room(n) and { "spawn_many", n, self:composition() } or nil
end

local function clone(self)
  local reference = self.rng:chance(10) and self:prefab() or self:living()
  local id = reference and self.ctx.ids[reference:sub(2)]
  if self.world.scopes[1] or not id or not self:has_room(#self.world:family_of(id)) then
    return nil
  end
  return { "clone", reference, self.rng:chance(50) and self:composition() or nil }
end

local function instantiate(self)
  local known = self.world:lookup "Kind"
  if known and not self.world.scopes[1] and self:has_room(4) then
    return { "instantiate", "Kind", self.rng:chance(60) and self:composition() or nil }
  end
end

local function spawn_at(self)
  local reference, ahead, generation = self:adoptable()
  if reference and self:has_room(1) then
    return { "spawn_at", reference, ahead, generation, self:composition() }
  end
end

local function despawn(self)
  local few = self.world.ids.count * 3 < self.crowd
  if few and self.rng:chance(80) then
    return nil
  end
  return { "despawn", self:reference() or "@null" }
end

local function set(self)
  local reference, rng = self:reference() or "@null", self.rng
  local component = rng:chance(60) and self:component_of(reference) or self:component()
  local name = self:component_name(component)
  local roll = rng:int(3)
  local path, kind = values.leaf(self, component)
  if not path then
    return rng:chance(90) and { "add", reference, name } or { "set", reference, name, {} }
  elseif roll == 1 then
    return { "set", reference, name, values.of(self, component) }
  elseif roll == 2 then
    return { "set", reference, path, values.scalar(self, kind) }
  end
  local list = values.positional(self, component)
  if #list == 1 and type(list[1]) == "table" then
    return { "set", reference, name, { list[1] } }
  end
  return { "set", reference, name, table.unpack(list) }
end

local function change(operation)
  return function(self)
    local reference = self:reference() or "@null"
    local component = operation == "remove" and self.rng:chance(70)
      and self:component_of(reference) or self:component()
    return { operation, reference, self:component_name(component) }
  end
end

-- Mostly of a component that can be switched.
local function switch_component(operation)
  return function(self)
    local reference, toggles = self:reference() or "@null", {}
    for _, component in ipairs(self:components()) do
      toggles[#toggles + 1] = component.toggle and component or nil
    end
    local component = self.rng:chance(95) and self.rng:pick(toggles) or self:component()
    return { operation, reference, self:component_name(component) }
  end
end

local function look(operation)
  return function(self)
    local reference = self:reference() or "@null"
    local component = self.rng:chance(60) and self:component_of(reference) or self:component()
    local path = operation == "get" and self.rng:chance(30) and values.leaf(self, component)
    return { operation, reference, path or self:component_name(component) }
  end
end

local function name(self)
  local roll = self.rng:int(10)
  if roll <= 2 then
    return { "lookup", self.rng:pick(NAMES) }
  elseif roll <= 4 then
    return { "name", self:reference() or "@null", false }
  elseif roll == 5 then
    return { "name", self:reference() or "@null" }
  end
  return { "name", self:reference() or "@null", self.rng:pick(NAMES) }
end

local function random(self)
  local rng = self.rng
  local step = { "random", self:reference() or "@null" }
  for i = 1, rng:pick { 0, 0, 1, 2 } do
    step[i + 2] = i == 1 and rng:pick { 1, 6, 100.0, -3 } or rng:pick { 6, 7, math.maxinteger }
  end
  if #step == 3 and rng:chance(5) then
    step[3] = rng:pick { 0, 0.5, "6" }
  end
  return step
end

local function alive(self)
  return { "alive", self:reference() or "@null" }
end

local function components(self)
  return { "components", self:reference() or "@null" }
end

-- ---- loops -----------------------------------------------------------------------------

local function loop(self)
  local text, data = self:query(values.query)
  if text then
    return { "loop", text, self:body(3, data, 1) }
  end
end

local function leave(self)
  local text, data = self:query(values.query)
  if text and #self.ctx.left < self.rng:int(3) then
    return { "leave", text, self:body(2, data, 1) }
  end
end

local function resume(self)
  return #self.ctx.left > 0 and { "resume", self.rng:int(3) } or nil
end

local function drop(self)
  return #self.ctx.left > 0 and { "drop", self.rng:int(3), self.rng:chance(20) } or nil
end

local function each(self)
  local text, data = self:query(values.query)
  if text then
    return { "each", text, self.rng:pick(DTS), self:body(3, data, 1) }
  end
end

-- Without function forms inside: streams of those begin anew with each table.
local function where_set(self)
  local text, data = self:query(values.query)
  local step = text and set(self)
  if step and step[1] == "set" and #step > 3 then
    local given = table.move(step, 3, #step, 1, {})
    return { "where_set", text, self.rng:int(3), given, self:body(2, data, 2) }
  end
end

local function recipe(self, data)
  local list, rng = {}, self.rng
  for i = 1, rng:range(0, #data + (rng:chance(3) and 1 or 0)) do
    local roll = rng:int(10)
    if roll <= 4 and data[i] and data[i].leaf then
      list[i] = { value = values.scalar(self, data[i].leaf) }
    elseif roll <= 6 and #data > 0 then
      list[i] = { argument = rng:int(#data) }
    elseif roll <= 8 and #data > 0 then
      list[i] = { sum = { i, rng:int(#data) } }
    else
      list[i] = "nil"
    end
  end
  return list
end

local function map(self)
  local text, data = self:query(values.map_query)
  if text then
    return { "map", text, self.rng:pick(DTS), recipe(self, data), self:body(2, {}, 1) }
  end
end

local function chunks(self)
  local text, data = self:query(values.query)
  if not text then
    return nil
  end
  -- The model does not know which rows come together when some are switched off.
  if values.has_toggles(self, text) then
    return { "chunks", text, {}, {} }
  end
  local actions = {}
  for i = 1, self.rng:range(0, 2) do
    local component = #data > 0 and self.rng:pick(data).component or self:component()
    local path, kind = values.leaf(self, component)
    if path then
      local action = self.rng:pick { "read", "peek", "put", "fill" }
      actions[i] = { action, path, values.scalar(self, kind) }
    end
  end
  return { "chunks", text, actions, self:body(2, {}, 1) }
end

local function first(self)
  return { "first", (self:query(values.query)) }
end

local function count(self)
  return { self.rng:pick { "count", "query_count" }, (self:query(values.query)) }
end

-- ---- scopes and schedule ---------------------------------------------------------------

local function defer(self)
  return #self.world.scopes < 3 and self.rng:chance(40) and { "defer" } or nil
end

local function ending(operation)
  return function(self)
    local innermost = self.world.scopes[#self.world.scopes]
    local fits = innermost and innermost.kind == "defer"
    return (fits or self.rng:chance(2)) and { operation } or nil
  end
end

local function system_plan(self, form)
  local rng = self.rng
  local plan = {
    form = form,
    phase = rng:pick { "update", "update", "post_update", "render", "startup", "physics" },
    enabled = rng:chance(5) and false or nil,
    every = rng:chance(25) and rng:pick { 1 / 4, 1 / 2 } or nil,
    when = rng:chance(15) and 2 or nil,
  }
  if rng:chance(30) then
    plan.after = { rng:pick(SYSTEMS) }
  end
  if rng:chance(30) then
    plan.before = { rng:pick(SYSTEMS) }
  end
  return plan
end

local function system(self)
  local form = self.rng:pick { "each", "map", "run" }
  local plan = system_plan(self, form)
  if form == "run" then
    plan.body = self:plain_body(3)
  else
    local text, data = self:query(form == "map" and values.map_query or values.query)
    if not text then
      return nil
    end
    plan.query = text
    if form == "map" then
      plan.recipe, data = recipe(self, data), {}
    end
    plan.body = self:body(3, data, 1)
  end
  if self.rng:chance(30) then
    local entity = form == "run" and "@#" .. self:component().name or "@self"
    table.insert(plan.body, 1, { "random", entity })
  end
  return { "system", self.rng:pick(SYSTEMS), plan }
end

-- Whether update and run are possible, or should be tried all the same.
local function may_update(self)
  return self.rng:chance(5) or (pcall(self.world.need_idle, self.world, ""))
end

local function update(self)
  if not may_update(self) then
    return nil
  end
  return { "update", self.rng:pick(DTS) }
end

local function run(self)
  if not may_update(self) then
    return nil
  end
  return { "run", self.rng:pick(SYSTEMS), self.rng:pick(DTS) }
end

local function switch(self)
  local target = self.rng:chance(80) and self.rng:pick(SYSTEMS)
    or self.rng:pick { "update", "post_update", "physics" }
  return { "switch", target, self.rng:chance(65) }
end

local function remove_system(self)
  return { "remove_system", self.rng:pick(SYSTEMS) }
end

local function phase(self)
  if self.has_physics or #self.world.scopes > 0 then
    return nil
  end
  self.has_physics = true
  local side = self.rng:pick { "after", "before" }
  return { "phase", "physics", { [side] = "update", fixed = 1 / 16 } }
end

-- ---- worlds ----------------------------------------------------------------------------

local function declare(self)
  local entry = table.remove(self.undeclared)
  if entry then
    return { "declare", entry[1], entry[2] }
  end
end

-- What goes may come back with other fields.
local function undeclare(self)
  local component = self:component()
  if component.name == "Nowhere" or #self.world.scopes > 0 and self.rng:chance(95) then
    return nil
  end
  local same = self.rng:chance(50)
  local fields = same and component.lines or values.schema(self.rng)
  if self.rng:chance(70) then
    self.pending[#self.pending + 1] = { "forget" }
  end
  table.insert(self.undeclared, self.rng:int(#self.undeclared + 1), { component.name, fields })
  return { "undeclare", component.name }
end

local function resource(self)
  local component, known = self:component(), {}
  for _, declared in ipairs(self:components()) do
    known[#known + 1] = self.world.resources[declared.name] and declared
  end
  if self.rng:chance(60) then
    component = self.rng:pick(known) or component
  end
  if #component.fields == 0 then
    return nil
  end
  local roll = self.rng:int(3)
  if roll == 1 then
    return { "resource", component.name }
  end
  local _, kind, keys = values.leaf(self, component)
  if roll == 2 then
    return { "resource_get", component.name, keys }
  end
  return { "resource_set", component.name, keys, values.scalar(self, kind) }
end

local function range(self)
  if self.rng:chance(80) then
    return nil
  end
  local low = 65536 + self.rng:pick { 0, 0, 10, 100, 4096, 1000000 }
  return { "entity_range", low, low + self.rng:pick { 200, 5000, 100000 } }
end

-- The path and keys of an entity field, and its component; nil when none is declared.
local function entity_field(self)
  for _, component in ipairs(self.rng:sample(self:components(), #self:components())) do
    for _ = 1, 4 do
      local path, kind, keys = values.leaf(self, component)
      if kind and kind.name == "entity" then
        return path, keys, component
      end
    end
  end
end

-- The last life of an index, what names it, and the same life again once it was given back.
local function retire(self)
  local path, keys, component = entity_field(self)
  local reference, ahead = self:adoptable()
  if not path or not reference or #self.world.scopes > 0 then
    return nil
  end
  local last = ("@%d.1"):format(self.at)
  local adopt = { "spawn_at", reference, ahead, 65535, {} }
  for _, step in ipairs {
    { "resource", component.name }, { "resource_set", component.name, keys, last },
    { "set", self:living() or last, path, last }, { "despawn", last }, { "recycle_retired" },
    table.move(adopt, 1, #adopt, 1, {}),
  } do
    self.pending[#self.pending + 1] = step
  end
  return adopt
end

-- A range without an index to spare, saved, snapped and left again.
local function use_up(self)
  if #self.world.scopes > 0 or not self:has_room(3) then
    return nil
  end
  local low = 65536 + self.rng:pick { 300, 5000, 70000 } + self.rng:int(2000)
  for _, step in ipairs {
    { "spawn_many", self.rng:int(3), {} }, { "copy" }, { "again" }, { "snapshot", "s1" },
    { "spawn", {} }, { "restore", "s1" }, { "spawn", {} }, { "entity_range", 65536, 300000 },
  } do
    self.pending[#self.pending + 1] = step
  end
  return { "entity_range", low, low + 1 }
end

local function collect(self)
  return { "collect", self.rng:pick { 0, 1, 10, 100 } }
end

local function only(...)
  local step = { ... }
  return function()
    return table.move(step, 1, #step, 1, {})
  end
end

gen.kinds = {
  { 120, spawn }, { 12, spawn_many }, { 8, spawn_at }, { 60, despawn },
  { 25, clone }, { 20, instantiate },
  { 200, set }, { 90, change "add" }, { 80, change "remove" },
  { 30, look "get" }, { 30, look "read" }, { 20, look "has" },
  { 60, switch_component "disable" }, { 30, switch_component "enable" },
  { 15, switch_component "enabled" },
  { 20, name }, { 10, alive }, { 15, random }, { 15, components }, { 20, count },
  { 25, loop }, { 4, leave }, { 12, resume }, { 10, drop },
  { 20, each }, { 20, map }, { 12, where_set }, { 15, chunks }, { 8, first },
  { 30, defer }, { 24, ending "commit" }, { 14, ending "cancel" },
  { 12, system }, { 40, update }, { 6, run }, { 6, switch }, { 2, remove_system },
  { 4, phase }, { 1, only "on_error" }, { 2, only "systems" }, { 3, only "alpha" },
  { 6, declare }, { 4, undeclare }, { 12, resource }, { 2, range }, { 2, only "recycle_retired" },
  { 2, retire }, { 1, use_up },
  { 40, collect }, { 2, only "forget" },
}

-- ---- inside bodies ---------------------------------------------------------------------

local function on_self(make)
  return function(self)
    local step = make(self)
    if step and self.rng:chance(75) then
      step[2] = "@self"
    end
    return step
  end
end

local function view_step(self)
  local nth = #self.data > 0 and self.rng:int(#self.data)
  local item = nth and self.data[nth]
  if not item or item.keys then
    return nil
  end
  local _, kind, keys = values.leaf(self, item.component)
  if not keys then
    return nil
  end
  local roll = self.rng:int(3)
  if roll == 1 then
    return { "view_get", nth, keys }
  elseif roll == 2 then
    return { "view_add", nth, keys, 1 }
  end
  return { "view_set", nth, keys, values.scalar(self, kind) }
end

local function inner_spawn(self)
  if self:has_room(5) then
    return { "spawn", self:composition(), pick = { 11 } }
  end
end

local function inner_scope(self)
  return { "scope", self.rng:pick { "commit", "cancel" }, self:plain_body(3), pick = { 7 } }
end

local function inner_loop(self)
  if self.depth > 1 then
    return nil
  end
  local step = self.rng:chance(50) and loop(self) or each(self)
  if step then
    local body = step[#step]
    step[#step] = table.move(body, 1, math.min(#body, 1), 1, {})
    step.pick = { 17 }
  end
  return step
end

local function inner_system(self)
  local plan = system_plan(self, "run")
  plan.body = { (self.rng:chance(50) and spawn or set)(self) }
  return { "system", self.rng:pick(SYSTEMS), plan, pick = { 7 } }
end

local function throw(self)
  return self.rng:chance(30) and { "throw", pick = { 13 } } or nil
end

gen.row_kinds = {
  { 30, on_self(despawn) }, { 60, on_self(set) }, { 30, on_self(change "add") },
  { 30, on_self(change "remove") },
  { 25, on_self(switch_component "disable") }, { 10, on_self(switch_component "enable") },
  { 15, on_self(look "get") }, { 10, on_self(look "read") },
  { 60, view_step }, { 25, on_self(random) },
  { 20, inner_spawn }, { 10, inner_scope }, { 8, inner_loop },
  { 6, throw }, { 6, only "break" }, { 4, on_self(name) }, { 3, collect },
  { 2, only("update", 0) }, { 3, declare }, { 2, inner_system }, { 1, remove_system },
}

gen.plain_kinds = {
  { 20, spawn }, { 20, set }, { 20, change "add" }, { 10, change "remove" }, { 10, despawn },
  { 10, switch_component "disable" }, { 5, switch_component "enable" },
  { 10, look "read" }, { 15, random }, { 5, count }, { 3, throw }, { 5, name }, { 5, loop },
  { 2, only("update", 0) }, { 4, inner_system }, { 4, remove_system }, { 4, switch },
}

return gen.kinds
