-- Relations of the model: how they are declared, and what is asked of ties. Returns methods to be
-- mixed into the model's world.
--
-- A relation is a component with `ties` = { exclusive =, acyclic =, policy = }. An exclusive one
-- stands in a row under its name, with its first field `target`; a pair under a key of its own,
-- "Owes>4503600432742401". `world.tied` has the sources of exclusive relations as they were tied.

local types = require "spec.support.model_types"
local refuse = types.refuse

local methods = {}

local PAIR = 1 << 52
local INDEX = (1 << 28) - 1

-- ---- keys ------------------------------------------------------------------------------

-- The component that a key of a row is of.
function methods.of_key(known, key)
  return known[key] or known[key:match "^(.-)>"]
end

function methods.key_of(component, target)
  return component.ties.exclusive and component.name or component.name .. ">" .. target
end

-- What a staged command is found by: one of a single pair by that, or of a target that an exclusive
-- relation is to leave.
function methods.marked_by(command)
  local component, target = command.component, command.target
  if not component.ties or not target or component.ties.exclusive and command.op == "tie" then
    return component.name
  end
  return component.name .. ">" .. target
end

-- The relation's name and the target of a pair's key, an id or what an image calls it.
function methods.split_key(key)
  local name, target = key:match "^(.-)>(.+)$"
  return name, math.tointeger(tonumber(target)) or target
end

local function pair_id(component, target)
  return PAIR | (component.id & INDEX) << 28 | target & INDEX
end

-- What world:components calls a key of a row.
function methods.label_of(world, key)
  local name, target = methods.split_key(key)
  return name and pair_id(world.components_by_name[name], target) or key
end

-- ---- declaring -------------------------------------------------------------------------

local POLICIES = { remove = true, despawn = true, error = true }

function methods.relation(world, name, fields)
  fields = fields or {}
  local policy = fields.on_target_despawn or "remove"
  if fields.storage or fields.toggle or not POLICIES[policy]
    or fields.acyclic and not fields.exclusive then
    refuse("'%s' is not a relation", name)
  end
  local lines = { requires = fields.requires, was = fields.was, track = fields.track,
    table.unpack(fields) }
  for _, line in ipairs(fields) do
    if line:match "^%s*target%s*:" then
      refuse("a field of '%s' is called target", name)
    end
  end
  if fields.exclusive then
    table.insert(lines, 1, "target: entity")
  end
  local component = types.component(world, name, lines)
  component.lines = fields
  component.ties = { exclusive = fields.exclusive or false, acyclic = fields.acyclic or false,
    policy = policy }
  return world:declare(component)
end

-- ---- other kinds -----------------------------------------------------------------------

-- An error when a tag cannot become a relation.
local function check_tag(world, component, store)
  if #component.fields > 0 then
    refuse("'%s' has fields", component.name)
  end
  for _, row in pairs(store) do
    if row[component.name] ~= nil then
      refuse("'%s' is had", component.name)
    end
  end
  for _, other in ipairs(world.declared) do
    for _, required in ipairs(other.requires) do
      if required == component then
        refuse("'%s' is required", component.name)
      end
    end
  end
end

-- The targets of a row's ties.
local function targets_in(row, component)
  local targets = {}
  for key, stored in pairs(row or {}) do
    if key:match "^[^>]*" == component.name then
      targets[#targets + 1] = component.ties.exclusive and stored.target
        or select(2, methods.split_key(key))
    end
  end
  return targets
end

local function check_way(id, store, component)
  local seen, at = {}, id
  while at do
    if seen[at] then
      refuse("'%s' goes in a circle", component.name)
    end
    seen[at] = true
    at = targets_in(store[at], component)[1]
  end
end

-- An error when a component cannot become of another kind.
function methods.check_kind(world, component, wanted, store)
  local now, later = component.ties, wanted.ties
  if not now and later then
    check_tag(world, component, store)
  elseif now and not later then
    refuse("'%s' is a relation", component.name)
  end
  for id, row in pairs(now and later.exclusive and store or {}) do
    if #targets_in(row, component) > 1 then
      refuse("'%s' is tied to two", id)
    elseif later.acyclic then
      check_way(id, store, component)
    end
  end
end

-- The key that a row's value has by a component as it is to be; the value may come to say to whom.
function methods.key_after(component, wanted, key, old, stored)
  if not component.ties or component.ties.exclusive == wanted.ties.exclusive then
    return key
  elseif wanted.ties.exclusive then
    stored.target = select(2, methods.split_key(key))
    return component.name
  end
  return component.name .. ">" .. old.target
end

-- After that: in which order sources come now only the runtime knows.
function methods.turn(store, tied, unsure, component, now)
  if component.ties and now and now.exclusive ~= component.ties.exclusive then
    tied[component] = nil
    for id, row in pairs(component.ties.exclusive and store or {}) do
      if row[component.name] then
        tied[component] = tied[component] or {}
        table.insert(tied[component], id)
        unsure[component] = true
      end
    end
  end
end

-- The order of sources as another world has it.
function methods.learn_tied(world, actual, component)
  local targets, list = {}, {}
  for _, id in ipairs(component.ties.exclusive and world.tied[component] or {}) do
    targets[world.store[id][component.name].target] = true
  end
  for target in pairs(targets) do
    for id in actual:sources(target, component.name) do
      list[#list + 1] = id
    end
  end
  world.tied[component] = list
end

-- An error when anybody is tied to a component.
function methods.refuse_tied(world, component)
  if component.name and component.ties then
    world.refuse_builtin(component.name)
  end
  for _, relation in ipairs(world:relations()) do
    if world:sources_of(component.id, relation)[1] then
      refuse("'%s' has sources", component.name)
    end
  end
end

-- Before a component goes: nobody is tied by it, and it is tied to nobody.
function methods.untie_all(world, component)
  for _, relation in ipairs(world:relations()) do
    for _, target in ipairs(world:targets_of(component.id, relation)) do
      world:untie(component.id, relation, target)
    end
  end
  for id in pairs(component.ties and world.store or {}) do
    for _, target in ipairs(world:targets_of(id, component)) do
      world:untie(id, component, target)
    end
  end
  world.tied[component] = nil
end

-- The relations, by their ids.
function methods.relations(world)
  local list = {}
  for _, component in ipairs(world.declared) do
    list[#list + 1] = component.ties and component or nil
  end
  table.sort(list, function(a, b)
    return a.id < b.id
  end)
  return list
end

-- ---- what is named ---------------------------------------------------------------------

local function living_at(world, index)
  for id in pairs(world.components_by_id) do
    if id & INDEX == index then
      return id
    end
  end
  return world.ids.living[index] and world.ids:current(index)
end

-- The relation and the target of a pair's id; nothing for what is none. No target: it is dead.
function methods.split_pair(world, id)
  local whole = type(id) == "number" and types.integer(id)
  if not whole or whole >> 52 ~= 1 then
    return nil
  end
  local component = world.components_by_id[living_at(world, whole >> 28 & 0xFFFF)]
  if not component or not component.ties then
    refuse("%d is of no relation", whole)
  end
  return component, living_at(world, whole & INDEX)
end

function methods.need_relation(world, name)
  local component = world:need_component(name)
  return component.ties and component or refuse("'%s' is not a relation", component.name)
end

-- A living entity, or a component by its name.
function methods.need_target(world, target)
  if type(target) == "string" then
    return world:need_component(target).id
  end
  return world:need_alive(target)
end

-- What a call names as target: in a pair's id, or as the first of what follows, which comes back.
local function take_target(world, name, ...)
  local component, target = world:split_pair(name)
  if component then
    return target or refuse("the target of this pair is dead"), ...
  elseif select("#", ...) == 0 then
    return nil
  end
  return world:need_target((...)), select(2, ...)
end

local function only_target(world, name, ...)
  local taken = table.pack(take_target(world, name, ...))
  return taken.n < 2 and taken[1] or taken.n > 1 and refuse("one target expected") or nil
end

function methods.pair(world, relation, target)
  return pair_id(world:need_relation(relation), world:need_target(target))
end

-- ---- asking ----------------------------------------------------------------------------

local function by_index(a, b)
  return a & INDEX < b & INDEX
end

-- To whom an entity is tied, by ascending index.
function methods.targets_of(world, id, component)
  local row, list = world.store[id] or {}, {}
  if component.ties.exclusive then
    local stored = row[component.name]
    return stored and { stored.target } or list
  end
  for key in pairs(row) do
    local name, target = methods.split_key(key)
    list[#list + 1] = name == component.name and target or nil
  end
  table.sort(list, by_index)
  return list
end

-- Who is tied to an entity: in the order of being tied, or of no known one.
function methods.sources_of(world, target, component)
  local list = {}
  if component.ties.exclusive then
    for _, id in ipairs(world.tied[component] or {}) do
      list[#list + 1] = world.store[id][component.name].target == target and id or nil
    end
    return list
  end
  local key = methods.key_of(component, target)
  for id, row in pairs(world.store) do
    list[#list + 1] = row[key] and id or nil
  end
  table.sort(list)
  return list
end

-- What is kept of a tie to the target, or of any of an exclusive relation.
local function tie_of(world, id, component, target)
  local row = world.store[id] or {}
  local stored = row[methods.key_of(component, target)]
  if component.ties.exclusive and target and stored and stored.target ~= target then
    return nil
  end
  return stored
end

function methods.has_tie(world, id, name, ...)
  local component = world:need_component(name)
  local target = only_target(world, name, ...)
  if not target then
    return #world:targets_of(id, component) > 0
  end
  return tie_of(world, id, component, target) ~= nil
end

-- The tie that get and read ask for, or nil.
function methods.named_tie(world, id, component, name, ...)
  local target = only_target(world, name, ...)
  if not target and not component.ties.exclusive then
    refuse("'%s' is a relation and needs a target", component.name)
  end
  return tie_of(world, id, component, target)
end

function methods.target(world, id, name)
  local relation = world:need_relation(name)
  return table.unpack { world:targets_of(world:need_alive(id), relation)[1] }
end

local function walk(list)
  local at = 0
  return function()
    at = at + 1
    return list[at]
  end
end

function methods.targets(world, id, name)
  id = world:need_alive(id)
  return walk(world:targets_of(id, world:need_relation(name)))
end

-- Of prefabs children alone are listed.
function methods.sources(world, target, name)
  target = world:need_target(target)
  local relation, list = world:need_relation(name), {}
  for _, id in ipairs(world:sources_of(target, relation)) do
    local shown = relation.name == "ChildOf" or not world.is_hidden(world.store[id])
    list[#list + 1] = shown and id or nil
  end
  return walk(list)
end

function methods.children(world, target)
  target = world:need_target(target)
  local component = world.components_by_name.ChildOf
  return walk(component and world:sources_of(target, component) or {})
end

function methods.parent_of(world, id)
  local stored = (world.store[id] or {}).ChildOf
  return stored and stored.target
end

function methods.parent(world, id)
  return table.unpack { world:parent_of(world:need_alive(id)) }
end

-- ---- names -----------------------------------------------------------------------------

-- The child of a parent, or the root, that has a name.
function methods.named_child(world, parent, name)
  for id, known in pairs(world.names) do
    if known == name and world:home_of(id) == parent then
      return id
    end
  end
end

-- An error when another child of that parent has the entity's name.
function methods.check_parent(world, id, parent)
  local owner = world.names[id] and world:named_child(parent, world.names[id])
  return not owner or owner == id
end

-- The names that lead from a root to an entity; nil when one of them has none.
function methods.path_of(world, id)
  local path, at = nil, id
  while at do
    local name = world.names[at]
    if not name then
      return nil
    end
    path = path and name .. "." .. path or name
    at = world:home_of(at)
  end
  return path
end

-- ---- changing --------------------------------------------------------------------------

-- The values behind the target of an exclusive relation, or those of a pair.
local function tie_patch(world, component, keys, kind, ...)
  local count, first = select("#", ...), component.ties.exclusive and 2 or 1
  local fields = #component.fields - first + 1
  if keys then
    local patch = count == 1 and kind.accept(world, (...), component.name)
      or count ~= 1 and refuse("one value expected")
    for i = #keys, 1, -1 do
      patch = { [keys[i]] = patch }
    end
    return patch
  elseif count == 1 and type((...)) == "table" and fields > 0 then
    return types.patch(world, component, (...), component.name)
  elseif count > fields then
    refuse("too many values")
  end
  local patch = {}
  for i = 1, count do
    local field = component.fields[first + i - 1]
    patch[field.name] = types.patch(world, field.type, (select(i, ...)), field.name)
  end
  return patch
end

-- A command that ties, whose patch may say to whom; none at all is a set of fields.
local function tie_command(id, component, patch)
  local target = patch.target
  patch.target = nil
  local op = target == 0 and "untie" or "tie"
  return { op = op, id = id, component = component, target = target ~= 0 and target or nil,
    patch = patch }
end

-- Writes into a tie that is there at once, or keeps the command.
local function set_fields(world, command, stored)
  local component = command.component
  if world:is_staged(command.id, component, command.target) then
    world:perform(command)
  elseif not stored then
    refuse("'%s' is a relation and needs a target", component.name)
  else
    types.merge(component, stored, command.patch)
  end
end

-- What is given behind a target, which stands in front of it alone.
local function patch_behind(world, component, target, ...)
  local patch = tie_patch(world, component, nil, nil, ...)
  patch.target = patch.target and refuse("'%s' has two targets", component.name) or target
  return patch
end

local function set_exclusive(world, id, component, name, ...)
  local pair, _, keys, kind = world:split_pair(name), world:resolve(name)
  local patch
  if pair then
    local values = table.pack(take_target(world, name, ...))
    patch = patch_behind(world, component, values[1], table.unpack(values, 2, values.n))
  elseif type((...)) == "string" and not keys then
    patch = patch_behind(world, component, world:need_target((...)), select(2, ...))
  elseif keys then
    patch = tie_patch(world, component, keys, kind, ...)
  else
    patch = select(2, world:given(name, ...))
  end
  local command = tie_command(id, component, patch)
  if command.op == "tie" and not command.target and not world:is_whole() then
    set_fields(world, command, tie_of(world, id, component))
  else
    world:perform(command)
  end
end

-- An error, before any of some entities is set, when one is not tied and the values do not say
-- to whom.
function methods.check_ties(world, ids, name, ...)
  local component = world:resolve(name)
  local targets = component.ties and component.ties.exclusive and
    select(2, world:given(name, ...)).target
  for _, id in ipairs(component.ties and not targets and ids or {}) do
    if not tie_of(world, id, component) and not world:is_staged(id, component) then
      refuse("'%s' is a relation and needs a target", component.name)
    end
  end
end

-- Adds the ties that a key of a spawn's table and its value bring: a list for each relation.
function methods.plan_ties(world, ties, component, name, value)
  local list = ties[component] or {}
  ties[component] = list
  local pair, target = world:split_pair(name)
  if pair and not target then
    refuse("the target of a pair is dead")
  elseif pair then
    if value ~= true and (type(value) ~= "table" or #component.fields <= (component.ties.exclusive
      and 1 or 0)) then
      refuse("a pair takes true or a table")
    end
    local patch = value == true and {} or types.patch(world, component, value, component.name)
    list[#list + 1] = { target = target, patch = patch }
  elseif type(value) ~= "table" then
    list[#list + 1] = { target = world:need_target(value), patch = {} }
  elseif component.ties.exclusive then
    local patch = types.patch(world, component, value, component.name)
    target, patch.target = patch.target, nil
    if not target or target == 0 then
      refuse("the target is missing")
    end
    list[#list + 1] = { target = target, patch = patch }
  else
    for key in pairs(value) do
      if math.type(key) ~= "integer" or key < 1 or key > #value then
        refuse("a list of targets is expected")
      end
    end
    for _, one in ipairs(value) do
      list[#list + 1] = { target = world:need_target(one), patch = {} }
    end
  end
end

-- Sets a tie by the arguments of world:set, of a relation.
function methods.set_tie(world, id, name, ...)
  local component, keys, kind = world:resolve(name)
  if component.ties.exclusive then
    return set_exclusive(world, id, component, name, ...)
  end
  local values = table.pack(take_target(world, name, ...))
  local target = values[1] or refuse("'%s' is a relation and needs a target", component.name)
  if keys or values.n > 1 or #component.fields > 0 then
    if #component.fields == 0 or values.n < 2 then
      refuse("'%s' does not take that", component.name)
    end
  end
  local patch = tie_patch(world, component, keys, kind, table.unpack(values, 2, values.n))
  world:tie(id, component, target, patch)
end

-- Ties as a command, but for values of a pair that is there: to be given none is a command.
function methods.tie(world, id, component, target, patch)
  local command = { op = "tie", id = id, component = component, target = target, patch = patch }
  local stored = not component.ties.exclusive and tie_of(world, id, component, target)
  if stored and next(patch) and not world:is_staged(id, component, target) then
    types.merge(component, stored, patch)
  else
    world:perform(command)
  end
end

function methods.add_tie(world, id, component, name, ...)
  local target = only_target(world, name, ...)
    or refuse("'%s' is a relation and needs a target", component.name)
  world:tie(id, component, target, {})
end

function methods.remove_tie(world, id, component, name, ...)
  world:perform { op = "untie", id = id, component = component,
    target = only_target(world, name, ...) }
end

return methods
