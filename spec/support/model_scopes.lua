-- Scopes of the model, and the commands that are kept in them or applied. Returns methods to be
-- mixed into the model's world.

local types = require "spec.support.model_types"

local methods = {}

local function refuse(...)
  error(string.format(...), 0)
end

-- Opens a scope; `kind` is "loop", "form" (a function form), "system" or "defer".
function methods.open_scope(self, kind)
  local scope = { kind = kind, commands = {}, spawned = {}, marks = {} }
  self.scopes[#self.scopes + 1] = scope
  return scope
end

local function pass_on(scope, outer)
  table.move(scope.commands, 1, #scope.commands, #outer.commands + 1, outer.commands)
  table.move(scope.spawned, 1, #scope.spawned, #outer.spawned + 1, outer.spawned)
  for id, marks in pairs(scope.marks) do
    local known = outer.marks[id] or {}
    outer.marks[id] = known
    for name in pairs(marks) do
      known[name] = true
    end
  end
end

-- The commands of each entity, in the order in which the entities first occur: so the ids of
-- those that die are free again in this order.
local function by_entity(commands)
  local chains, known = {}, {}
  for _, command in ipairs(commands) do
    local chain = known[command.id]
    if not chain then
      chain = {}
      known[command.id] = chain
      chains[#chains + 1] = chain
    end
    chain[#chain + 1] = command
  end
  return chains
end

-- Ends the innermost scope: its commands go to the enclosing one, or are applied.
function methods.commit_scope(self)
  local scope = table.remove(self.scopes)
  local outer = self.scopes[#self.scopes]
  scope.ended = true
  if outer then
    pass_on(scope, outer)
    return
  end
  for _, chain in ipairs(by_entity(scope.commands)) do
    for _, command in ipairs(chain) do
      self:apply(command)
    end
  end
end

-- Ends the scopes above `depth`, drops their commands and kills what they spawned.
function methods.cancel_scopes(self, depth)
  while #self.scopes > depth do
    local scope = table.remove(self.scopes)
    scope.ended = true
    for _, id in ipairs(scope.spawned) do
      self.names[id] = nil
      self.ids:release(id)
    end
  end
end

function methods.need_idle(self, what)
  for _, scope in ipairs(self.scopes) do
    if scope.kind ~= "loop" then
      refuse("%s is not possible here", what)
    end
  end
end

-- Ends loops left open, whose commands apply; an error inside anything else.
function methods.end_loops(self, what)
  self:need_idle(what)
  while #self.scopes > 0 do
    self:commit_scope()
  end
end

function methods.defer(self)
  self:open_scope("defer")
end

local function need_defer(world)
  local scope = world.scopes[#world.scopes]
  if not scope or scope.kind ~= "defer" then
    refuse("no scope is open")
  end
end

function methods.commit(self)
  need_defer(self)
  self:commit_scope()
end

function methods.cancel(self)
  need_defer(self)
  self:cancel_scopes(#self.scopes - 1)
end

-- Keeps a command while a scope is open, else applies it at once.
function methods.perform(self, command)
  local scope = self.scopes[#self.scopes]
  if not scope then
    self:apply(command)
    return
  end
  scope.commands[#scope.commands + 1] = command
  if command.op == "spawn" then
    scope.spawned[#scope.spawned + 1] = command.id
  elseif command.component then
    local marks = scope.marks[command.id] or {}
    scope.marks[command.id] = marks
    marks[command.component.name] = true
  end
end

-- Whether a staged command concerns this component of this entity.
function methods.is_staged(self, id, component)
  for _, scope in ipairs(self.scopes) do
    local marks = scope.marks[id]
    if marks and marks[component.name] then
      return true
    end
  end
  return false
end

local apply = {}

function apply.spawn(world, command)
  local row = {}
  for _, value in ipairs(command.values) do
    local component = value.component
    local stored = row[component.name] or types.initial(component)
    row[component.name] = types.merge(component, stored, value.patch)
  end
  world.store[command.id] = row
end

function apply.despawn(world, command)
  world.store[command.id] = nil
  world.names[command.id] = nil
  world.ids:release(command.id)
end

-- Components are in no table until they have a component themselves.
function apply.add(world, command)
  local row, component = world.store[command.id] or {}, command.component
  world.store[command.id] = row
  row[component.name] = row[component.name] or types.initial(component)
end

function apply.remove(world, command)
  world:take_from(command.id, command.component)
end

-- Takes a component from an entity.
function methods.take_from(self, id, component)
  local row = self.store[id]
  if row then
    row[component.name] = nil
    if next(row) == nil and self.components_by_id[id] then
      self.store[id] = nil
    end
  end
end

function apply.set(world, command)
  apply.add(world, command)
  types.merge(command.component, world.store[command.id][command.component.name],
    command.patch)
end

-- Does a command, or nothing when its entity has died.
function methods.apply(self, command)
  if self:alive(command.id) then
    apply[command.op](self, command)
  end
end

return methods
