-- What the commands of a scope do to ties and names, and who dies by them: one command after the
-- other, over all entities, before any row changes otherwise. Returns methods to be mixed into the
-- model's world.
--
-- In which order the sources of a pair die is that of the runtime's rows, which the model does not
-- know: such ids are free in a group (see model_ids.lua).

local types = require "spec.support.model_types"
local refuse = types.refuse

local methods = {}

local function row_of(world, id)
  local row = world.store[id] or {}
  world.store[id] = row
  return row
end

-- ---- dying -----------------------------------------------------------------------------

-- Appends the sources, by a relation, of one that dies, unless they die already.
local function doom_sources(world, relation, dying, doomed, known)
  for _, source in ipairs(world:sources_of(dying, relation)) do
    if not known[source] then
      known[source], doomed[#doomed + 1] = true, source
    end
  end
end

-- All that dies with an entity, breadth first, which of them, and from where on the order is not
-- known.
local function doomed_with(world, id)
  local doomed, known, unsure = { id }, { [id] = true }, math.huge
  for _, dying in ipairs(doomed) do   -- grows on the way
    for _, relation in ipairs(world:relations()) do
      local before = #doomed
      if relation.ties.policy == "despawn" then
        doom_sources(world, relation, dying, doomed, known)
      end
      if #doomed > before + 1 and not relation.ties.exclusive then
        unsure = math.min(unsure, before + 1)
      end
    end
  end
  return doomed, known, unsure
end

-- Whether somebody who lives on keeps one of the dying alive; components do not die.
local function is_guarded(world, doomed, known)
  for at = 2, #doomed do
    if world.components_by_id[doomed[at]] then
      return true
    end
  end
  for _, relation in ipairs(world:relations()) do
    for _, dying in ipairs(relation.ties.policy == "error" and doomed or {}) do
      for _, source in ipairs(world:sources_of(dying, relation)) do
        if not known[source] then
          return true
        end
      end
    end
  end
  return false
end

-- Ends the tie of an exclusive relation.
function methods.leave(world, id, component)
  local list = world.tied[component]
  for at = #list, 1, -1 do
    if list[at] == id then
      table.remove(list, at)
    end
  end
  world.store[id][component.name] = nil
end

-- Ends all ties to and from those who die.
local function untie_doomed(world, doomed)
  for _, relation in ipairs(world:relations()) do
    for _, dying in ipairs(doomed) do
      for _, source in ipairs(world:sources_of(dying, relation)) do
        world:untie(source, relation, dying)
      end
      if relation.ties.exclusive and (world.store[dying] or {})[relation.name] then
        world:leave(dying, relation)
      end
    end
  end
end

-- Those from a place on die in an unknown order: so do those leave packed orders.
local function forget_order(world, doomed, from)
  for at = from, #doomed do
    for name in pairs(world.store[doomed[at]] or {}) do
      local component = world.of_key(world.components_by_name, name)
      world.unsure[component] = component.sparse and true or world.unsure[component]
    end
  end
end

-- An entity dies, with all that dies with it; false when a tie forbids it.
function methods.die(world, id)
  local doomed, known, unsure = doomed_with(world, id)
  if not doomed or is_guarded(world, doomed, known) then
    return false
  end
  untie_doomed(world, doomed)
  local from = unsure < #doomed and unsure or math.huge
  forget_order(world, doomed, from)
  for at, dying in ipairs(doomed) do
    world.store[dying] = nil
    world.died[#world.died + 1] = dying
    world:kill(dying, at >= from and doomed or nil)
  end
  return true
end

-- ---- ties ------------------------------------------------------------------------------

-- Takes a tie away, whatever it is called by.
function methods.untie(world, id, component, target)
  local row = world.store[id]
  if component.ties.exclusive then
    if row and row[component.name] and (not target or row[component.name].target == target) then
      world:leave(id, component)
    end
  else
    for _, other in ipairs(row and world:targets_of(id, component) or {}) do
      if not target or other == target then
        row[world.key_of(component, other)] = nil
      end
    end
  end
  world:drop_bare(id)
end

local function goes_in_a_circle(world, component, source, target)
  local at = target
  while at do
    if at == source then
      return true
    end
    local stored = (world.store[at] or {})[component.name]
    at = stored and stored.target
  end
  return false
end

-- Whether somebody else is to become a child of a prefab.
local function joins_prefab(world, component, id, target)
  return component.name == "ChildOf" and world.is_hidden(world.store[target] or {})
    and not world.is_hidden(id and world.store[id] or {})
end

-- An error when what is spawned outside of scopes would be a prefab's child: it is not spawned.
function methods.check_new_parent(world, ties)
  local child_of = world.components_by_name.ChildOf
  for _, tie in ipairs(child_of and not world.scopes[1] and ties[child_of] or {}) do
    if joins_prefab(world, child_of, nil, tie.target) then
      refuse("a prefab's children are declared with it")
    end
  end
end

-- Ties an exclusive relation to another target; false when that may not be.
local function retie(world, command)
  local component, id, target = command.component, command.id, command.target
  if joins_prefab(world, component, id, target)
    or component.name == "ChildOf" and not world:check_parent(id, target)
    or component.ties.acyclic and goes_in_a_circle(world, component, id, target) then
    return false
  end
  local row = row_of(world, id)
  local stored = row[component.name]
  command.brings = stored == nil
  stored = stored or types.initial(component)
  if not command.brings then
    world:leave(id, component)
  end
  stored.target = target
  row[component.name] = stored
  local list = world.tied[component] or {}
  world.tied[component], list[#list + 1] = list, id
  return true
end

-- A tie to one who is dead by the time that it is made.
local function miss(world, command)
  local component = command.component
  local policy = component.ties.policy
  if policy == "despawn" and not world.components_by_id[command.id] then
    return world:die(command.id)
  elseif policy ~= "remove" then
    return false
  elseif component.ties.exclusive then
    world:untie(command.id, component)
  end
  return true
end

local does = {}

function does.spawn(world, command)
  world.store[command.id] = {}
end

function does.despawn(world, command)
  return world:die(command.id)
end

function does.tie(world, command)
  local component, id, target = command.component, command.id, command.target
  if target and not world:alive(target) then
    return miss(world, command)
  end
  local key = world.key_of(component, target)
  local stored = (world.store[id] or {})[key]
  if component.ties.exclusive and target and (not stored or stored.target ~= target) then
    if not retie(world, command) then
      return false
    end
  elseif not component.ties.exclusive and not stored then
    command.brings = true
    row_of(world, id)[key] = types.initial(component)
  end
  stored = (world.store[id] or {})[key]
  if stored then
    types.merge(component, stored, command.patch)
  end
end

function does.untie(world, command)
  local component, id = command.component, command.id
  local now = component.name == "ChildOf" and world:parent_of(id)
  if now and (not command.target or command.target == now) and not world:check_parent(id, nil) then
    return false
  end
  world:untie(id, component, command.target)
end

function does.name(world, command)
  local owner = command.name and world:named_child(world:home_of(command.id), command.name)
  if owner and owner ~= command.id then
    return false
  end
  world.names[command.id] = command.name
end

-- Does what commands do to ties, names and lives; whether one was refused. Those of the dead do
-- nothing.
function methods.decide(world, commands)
  local refused = false
  world.died = {}
  for _, command in ipairs(commands) do
    command.brings = false
    if does[command.op] and world:alive(command.id) then
      refused = does[command.op](world, command) == false or refused
    end
  end
  return refused
end

return methods
