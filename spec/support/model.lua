-- A naive world in plain Lua tables with the methods of a real one: what random runs compare
-- the runtime with. Entities are a table id -> { component name -> stored value }; nothing
-- is cached and every query looks at every entity.
--
-- Order is the one thing it does not know by itself: where loops visit rows in the order of
-- the runtime's tables, `world.hints` (a list of ids, consumed one per visited row) tells it.

local ids = require "spec.support.model_ids"
local types = require "spec.support.model_types"
local refuse = types.refuse

local model = {}

local World = {}
World.__index = World

for _, part in ipairs { "model_scopes", "model_query", "model_schedule", "model_chance",
                        "model_migrate", "model_image", "model_packed", "model_relations",
                        "model_cascade", "model_toggles", "model_arrays", "model_events",
                        "model_clone", "model_builtins" } do
  for name, method in pairs(require("spec.support." .. part)) do
    World[name] = method
  end
end

local FAULTS = {
  dead = "is dead",
  unborn = "was never spawned",
  foreign = "belongs to another world",
  none = "is not an entity id",
}
model.FAULTS = FAULTS

-- options.tag: 1 to 255.
function model.world(options)
  local world = setmetatable({
    ids = ids.new(options.tag),
    component_ids = ids.new(0, 1, ids.FIRST - 1),
    components_by_name = {},
    components_by_id = {},
    declared = {},     -- components in the order of their declaration
    store = {},        -- id -> component name -> stored value; only what is not staged
    names = {},        -- id -> name
    awaited = {},      -- id of a copy that is staged -> its parent to come
    resources = {},    -- component name -> stored value
    events = {},       -- name -> rows, see model_events.lua
    scopes = {},
    commands = {},
    packed = {},       -- sparse component -> ids, in packed order
    unsure = {},       -- sparse components whose order is not known
    tied = {},         -- exclusive relation -> sources as they were tied
    died = {},         -- ids that the commands applied last ended, in their order
    marks = {},        -- id -> component name -> true: what staged commands concern
    hints = {},
    hint = 1,
    open_queries = setmetatable({}, { __mode = "k" }),
    version = 0,       -- counts changes of components, and loads
    layouts = {},      -- what components were like, see model_image.lua
  }, World)
  world:init_schedule()
  world:start_tick(0)
  return world
end

-- ---- components ------------------------------------------------------------------------

-- The component's id, and what changed when it was declared with other fields before.
function World:component(name, fields)
  if not name:match("^[%a_][%w_]*$") then
    refuse("'%s' is no identifier", name)
  end
  return self:declare(types.component(self, name, fields))
end

-- The same of a component's type.
function World:declare(component)
  self.refuse_builtin(component.name)
  self.refuse_builtin(component.former)
  local known = self.components_by_name[component.name]
  local old = self.components_by_name[component.former]
  self.check_renames(component)
  self:check_names(component, known, old)
  if known and types.same(known, component) then
    if next(known.was or {}) then
      self:keep_layout()
      self.version = self.version + 1
    end
    known.was, known.former = component.was, component.former
    return known.id
  elseif known then
    return known.id, self:migrate(known, component)
  elseif old then
    return old.id, self:migrate(old, component)
  end
  self:enter(component)
  return component.id
end

-- A name that one component has, or had, is not another one's.
function World:check_names(component, known, old)
  if component.former == component.name or known and old then
    refuse("'%s' cannot have been '%s'", component.name, component.former)
  end
  for _, other in ipairs(self.declared) do
    local claims = other.former and other ~= known and other ~= old
    if claims and (other.former == component.former
                   or not known and other.former == component.name) then
      refuse("'%s' was '%s'", other.name, other.former)
    end
  end
end

-- Makes a component known under a new id.
function World:enter(component)
  component.id = self.component_ids:take()
  self.components_by_name[component.name] = component
  self.declared[#self.declared + 1] = component
  self.components_by_id[component.id] = component
end

-- Only a declaration without fields drops those that there are. What is a tag stays what it is.
function World:tag(name)
  local known = self.components_by_name[name]
  if known and (#known.fields > 0 or known.ties) then
    refuse("component '%s' has fields, or is a relation", name)
  end
  return known and known.id or (self:component(name, {}))
end

function World:need_component(name)
  local component = self.components_by_name[name] or self.components_by_id[name]
    or self:split_pair(name) or self:need_builtin(name)
  if not component then
    refuse("unknown component '%s'", tostring(name))
  end
  return component
end

-- A component, and the keys and type of the leaf when the name has one ("Position.x").
function World:resolve(name)
  if type(name) == "string" then
    local head, path = name:match("^([^.]*)%.(.*)$")
    if head then
      local component = self:need_component(head)
      return component, types.leaf(component, path)
    end
  end
  return self:need_component(name)
end

-- Whether a component has a field of another component's type.
local function uses(kind, component)
  if kind.kind == "array" then
    return kind.of == component or uses(kind.of, component)
  end
  for _, field in ipairs(kind.fields or {}) do
    if field.type == component or uses(field.type, component) then
      return true
    end
  end
  return false
end

function World:undeclare(name)
  local component = self:need_component(name)
  self:end_loops("undeclare")
  for _, other in pairs(self.components_by_name) do
    if uses(other, component) then
      refuse("component '%s' is part of '%s'", component.name, other.name)
    end
    for _, required in ipairs(other.requires) do
      if required == component then
        refuse("component '%s' requires '%s'", other.name, component.name)
      end
    end
  end
  self:refuse_tied(component)
  self:keep_layout()
  self:untie_all(component)
  for id in pairs(self.store) do
    self:take_from(id, component)
  end
  self.store[component.id] = nil
  self:sync_packed(component.id)
  self.packed[component], self.unsure[component] = nil, nil
  self.names[component.id] = nil
  self.resources[component.name] = nil
  self.events[component.name] = nil
  self.components_by_name[component.name] = nil
  self.components_by_id[component.id] = nil
  self.component_ids:release(component.id)
  self.version = self.version + 1
  for at, other in ipairs(self.declared) do
    if other == component then
      table.remove(self.declared, at)
      break
    end
  end
end

-- ---- identity --------------------------------------------------------------------------

-- Components are entities too.
local function fault_of(world, id)
  if world.components_by_id[id] then
    return nil
  end
  return world.ids:fault(id)
end

function World:alive(id)
  return type(id) == "number" and fault_of(self, id) == nil
end

-- The id as an integer; one of the four errors unless it is alive.
function World:need_alive(id)
  local fault = fault_of(self, id)
  if fault then
    refuse("%s %s", tostring(id), FAULTS[fault])
  end
  return math.tointeger(id)
end

function World:entity_range(first, last)
  self.ids:set_range(first, last)
end

local function sweep(world, kind, stored)
  if kind.name == "entity" and kind.kind == "scalar" then
    return world:alive(stored) and stored or 0
  elseif kind.kind == "array" then
    for i = 1, kind.n do
      stored[i] = sweep(world, kind.of, stored[i])
    end
  elseif kind.kind == "struct" then
    for _, field in ipairs(kind.fields) do
      stored[field.name] = sweep(world, field.type, stored[field.name])
    end
  end
  return stored
end

-- Gives retired slots back; entity fields that name a dead entity are emptied first.
function World:recycle_retired()
  self:end_loops("recycle_retired")
  for _, row in pairs(self.with_events(self.events, self.store)) do
    for name, stored in pairs(row) do
      sweep(self, self.of_key(self.components_by_name, name), stored)
    end
  end
  for name, stored in pairs(self.resources) do
    sweep(self, self.components_by_name[name], stored)
  end
  return self.ids:recycle()
end

-- ---- entities --------------------------------------------------------------------------

local function plan_component(world, name, value)
  local component = world:need_component(name)
  local is_tag = #component.fields == 0
  if value ~= true and (is_tag or type(value) ~= "table") then
    refuse("component '%s' takes %s", component.name, is_tag and "true" or "a table")
  end
  local patch = value == true and {} or types.patch(world, component, value, component.name)
  return { component = component, patch = patch }
end

-- The values that a spawn's table brings, and its ties, refused as a whole: for what it says, and
-- for what cannot be of the entities, if there are to be any.
function World:plan(components, count)
  local values, ties = {}, {}
  for name, value in pairs(components or {}) do
    local component = self:need_component(name)
    if component.ties then
      self:plan_ties(ties, component, name, value)
    else
      values[#values + 1] = plan_component(self, name, value)
    end
  end
  if count ~= 0 then
    self:check_new_parent(ties)
  end
  return { values = values, ties = ties }
end

-- The commands of a spawn: its ties by relation.
local function spawn_by(world, id, plan)
  local commands = { { op = "spawn", id = id, values = plan.values } }
  for _, component in ipairs(next(plan.ties) and world:relations() or {}) do
    for _, tie in ipairs(plan.ties[component] or {}) do
      commands[#commands + 1] = { op = "tie", id = id, component = component,
        target = tie.target, patch = tie.patch }
    end
  end
  return table.unpack(commands)
end

function World:spawn(components)
  local plan = self:plan(components)
  local id = self.ids:take()
  self:perform(spawn_by(self, id, plan))
  return id
end

function World:spawn_many(count, components)
  if not types.integer(count) or count < 0 then
    refuse("not a number of entities")
  end
  local plan, spawned = self:plan(components, count), {}
  self.ids:need(count)
  for i = 1, count do
    spawned[i] = self.ids:take()
    self:perform(spawn_by(self, spawned[i], plan))
  end
  return spawned
end

function World:spawn_at(id, components)
  local whole = types.integer(id)
  if not whole then
    refuse("%s is not an entity id", tostring(id))
  end
  local plan = self:plan(components)
  self.ids:adopt(whole)
  self:perform(spawn_by(self, whole, plan))
  return whole
end

function World:despawn(id)
  id = self:need_alive(id)
  if self.components_by_id[id] then
    refuse("%d is a component", id)
  end
  self:perform { op = "despawn", id = id }
end

-- The stored value that reads see, or nil.
function World:stored(id, component)
  local row = self.store[id]
  return row and row[component.name]
end

-- The component that a set names, and what it gives; an error when that makes no sense.
function World:given(name, ...)
  local component, keys, kind = self:resolve(name)
  local count, patch = select("#", ...), nil
  if keys then
    if count ~= 1 then
      refuse("one value expected")
    end
    patch = kind.accept(self, (...), name)
    for i = #keys, 1, -1 do
      patch = { [keys[i]] = patch }
    end
  elseif (#component.fields == 0) ~= (count == 0) then
    refuse("component '%s' does not take %d values", component.name, count)
  elseif count == 1 and type((...)) == "table" then
    patch = types.patch(self, component, (...), component.name)
  else
    patch = types.positional(self, component, ...)
  end
  return component, patch
end

function World:set(id, name, ...)
  id = self:need_alive(id)
  if self:resolve(name).ties then
    return self:set_tie(id, name, ...)
  end
  local component, patch = self:given(name, ...)
  local stored = self:stored(id, component)
  if stored and not self:is_whole() and not self:is_staged(id, component) then
    types.merge(component, stored, patch)
  else
    self:perform { op = "set", id = id, component = component, patch = patch }
  end
end

-- Relations take a target; what is given to others behind their name is too much.
local function is_relation(component, ...)
  if not component.ties and select("#", ...) > 0 then
    refuse("one component expected")
  end
  return component.ties ~= nil
end

-- What an entity has of a component, or of the tie that a target behind its name says.
function World:kept(id, component, name, ...)
  if is_relation(component, ...) then
    return self:named_tie(id, component, name, ...)
  end
  return self:stored(id, component)
end

function World:get(id, name, ...)
  id = self:need_alive(id)
  local component, keys, kind = self:resolve(name)
  local stored = self:kept(id, component, name, ...)
  if not stored then
    return
  end
  if keys then
    for _, key in ipairs(keys) do
      stored = stored[key]
    end
    return types.read(self, kind, stored)
  end
  local values = {}
  for i, field in ipairs(component.fields) do
    values[i] = types.read(self, field.type, stored[field.name])
  end
  return table.unpack(values, 1, #component.fields)
end

-- What a whole component reads as: a fresh table, true for a tag.
function World:value(component, stored)
  return #component.fields == 0 or types.read(self, component, stored)
end

function World:read(id, name, ...)
  id = self:need_alive(id)
  local component = self:need_component(name)
  local stored = self:kept(id, component, name, ...)
  return stored and self:value(component, stored) or nil
end

function World:add(id, name, ...)
  local component = self:need_component(name)   -- may be made when it is first named
  id = self:need_alive(id)
  if is_relation(component, ...) then
    self:add_tie(id, component, name, ...)
  else
    self:perform { op = "add", id = id, component = component }
  end
end

function World:remove(id, name, ...)
  local component = self:need_component(name)
  id = self:need_alive(id)
  if is_relation(component, ...) then
    self:remove_tie(id, component, name, ...)
  else
    self:perform { op = "remove", id = id, component = component }
  end
end

function World:has(id, name, ...)
  id = self:need_alive(id)
  local component = self:need_component(name)
  if is_relation(component, ...) then
    return self:has_tie(id, name, ...)
  end
  return self:stored(id, component) ~= nil
end

function World:components(id)
  id = self:need_alive(id)
  local values = {}
  for key, stored in pairs(self.store[id] or {}) do
    local component = self.of_key(self.components_by_name, key)
    values[self:label_of(key)] = component.name ~= "Prefab" and self:value(component, stored) or nil
  end
  return pairs(values)
end

-- ---- names and resources ---------------------------------------------------------------

function World:lookup(name)
  if type(name) ~= "string" then
    refuse("a name is a string")
  end
  local found
  for part in (name .. "."):gmatch "([^.]*)%." do
    found = self:named_child(found, part)
    if not found then
      return
    end
  end
  return found
end

function World:name(id, ...)
  id = self:need_alive(id)
  if select("#", ...) == 0 then
    return table.unpack { self.names[id] }
  end
  local name = ...
  if name ~= false
    and (type(name) ~= "string" or name == "" or name:find(".", 1, true)) then
    refuse("a name is a string without dots")
  end
  self:perform { op = "name", id = id, name = name or nil }
end

function World:resource(name, fields)
  if fields then
    self:component(name, fields)
  end
  local component = self:need_component(name)
  if #component.fields == 0 or component.ties then
    refuse("'%s' is a tag, or a relation", component.name)
  end
  self.resources[component.name] = self.resources[component.name] or types.initial(component)
end

function World:res(name)
  local component = self:need_component(name)
  if not self.resources[component.name] then
    refuse("no resource '%s'", component.name)
  end
  return self:view(component, function()
    return self.resources[component.name]
  end)
end

-- Nothing in here can break: the counterpart of the runtime's own check.
function World:check()
  return true
end

function World:close()
  self.store, self.scopes = {}, {}
end

return model
