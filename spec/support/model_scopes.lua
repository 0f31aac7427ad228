-- Scopes of the model, and the commands that are kept in them or applied. Returns methods to be
-- mixed into the model's world.
--
-- world.scopes are the open scopes, the outermost first; world.commands all kept commands in the
-- order in which they were given, each with the scope that holds it (nil once its own and all
-- around it have ended).

local toggles = require "spec.support.model_toggles"
local types = require "spec.support.model_types"
local refuse = types.refuse

local methods = {}

-- ---- applying --------------------------------------------------------------------------

local apply = {}

-- Gives a row a component with all that it requires, unless it is there.
function methods.bring(row, component)
  if row[component.name] == nil then
    row[component.name] = types.initial(component)
    for _, required in ipairs(component.requires) do
      methods.bring(row, required)
    end
  end
end

function apply.spawn(world, command)
  local row = world.store[command.id]
  for _, value in ipairs(command.values) do
    local component = value.component
    world.bring(row, component)
    row[component.name] = types.merge(component, row[component.name], value.patch)
  end
end

-- What a new tie requires; all else has been decided.
function apply.tie(world, command)
  local row = world.store[command.id] or {}
  for _, required in ipairs(command.brings and command.component.requires or {}) do
    world.store[command.id] = row
    world.bring(row, required)
  end
end

-- Components are in no table until they have a component themselves.
function apply.add(world, command)
  local row, component = world.store[command.id] or {}, command.component
  world.store[command.id] = row
  world.bring(row, component)
end

function apply.remove(world, command)
  world:take_from(command.id, command.component)
end

-- Takes a component from an entity.
function methods.take_from(self, id, component)
  local row = self.store[id]
  if row then
    toggles.switch_off(row, component.name, false)
    row[component.name] = nil
    self:drop_bare(id)
  end
end

-- A component without components has no row.
function methods.drop_bare(self, id)
  local row = self.store[id]
  if row and next(row) == nil and self.components_by_id[id] then
    self.store[id] = nil
  end
end

function apply.set(world, command)
  apply.add(world, command)
  types.merge(command.component, world.store[command.id][command.component.name],
    command.patch)
end

for _, op in ipairs { "enable", "disable" } do
  apply[op] = function(world, command)
    local row = world.store[command.id]
    if row then
      toggles.switch_off(row, command.component.name, op == "disable")
    end
  end
end

-- Does what a command does to the row of its entity.
function methods.apply(self, command)
  if apply[command.op] then
    apply[command.op](self, command)
  end
end

-- Ends a life: the name and the id are free again, this in an order that only the runtime knows,
-- when a `group` is given.
function methods.kill(self, id, group)
  self.names[id], self.awaited[id] = nil, nil
  self.ids:release(id, group)
end

-- ---- what is required ------------------------------------------------------------------

-- A component of a set of names that is not there though another one requires it, and that one.
local function gap(world, names)
  for name in pairs(names) do
    local component = world.of_key(world.components_by_name, name)
    for _, required in ipairs(component.requires) do
      if not names[required.name] then
        return required, component
      end
    end
  end
end

local function bring_name(names, component)
  if not names[component.name] then
    names[component.name] = true
    for _, required in ipairs(component.requires) do
      bring_name(names, required)
    end
  end
end

-- What a command does to a set of names.
local function change_names(names, command)
  if command.op == "spawn" then
    for _, value in ipairs(command.values) do
      bring_name(names, value.component)
    end
  elseif command.op == "tie" then
    for _, required in ipairs(command.brings and command.component.requires or {}) do
      bring_name(names, required)
    end
  elseif command.op == "add" or command.op == "set" then
    bring_name(names, command.component)
  elseif command.op == "remove" and not command.dropped then
    names[command.component.name] = nil
  end
end

-- The names that an entity ends with by a chain of commands, its ties as they have been decided.
local function merged(world, chain)
  local names, ties = {}, {}
  for key in pairs(world.store[chain[1].id] or {}) do
    local tied = world.of_key(world.components_by_name, key).ties
    names[key], ties[key] = not tied or nil, tied
  end
  for _, command in ipairs(chain) do
    change_names(names, command)
  end
  for key in pairs(ties) do
    names[key] = true
  end
  return names
end

-- Drops the commands of a chain that take away what its entity requires in the end, the last ones
-- of each first.
local function drop_removals(world, chain)
  local names = merged(world, chain)
  local missing = gap(world, names)
  while missing do
    local last
    for _, command in ipairs(chain) do
      local removes = command.op == "remove" and command.component == missing
      last = removes and not command.dropped and command or last
    end
    last.dropped = true
    missing = gap(world, merged(world, chain))
  end
end

-- Applies the commands of an entity, if it lives on; whether one had to be dropped.
local function apply_chain(world, chain)
  local dropped = false
  if not world:alive(chain[1].id) then
    return false
  end
  drop_removals(world, chain)
  for _, command in ipairs(chain) do
    dropped = dropped or command.dropped
    if not command.dropped then
      world:apply(command)
    end
  end
  world:sync_packed(chain[1].id)
  return dropped
end

-- The commands of each entity, in the order in which the entities first occur; a name moves nobody.
local function by_entity(commands)
  local chains, known = {}, {}
  for _, command in ipairs(commands) do
    local chain = known[command.id]
    if not chain and command.op ~= "name" then
      chain = {}
      known[command.id] = chain
      chains[#chains + 1] = chain
    end
    if command.op ~= "name" then
      chain[#chain + 1] = command
    end
  end
  return chains
end

-- Decides about ties and lives, and applies what is left entity by entity; then the dead leave.
-- Whether a command had to be dropped.
local function apply_all(world, commands)
  local dropped = world:decide(commands)
  for _, chain in ipairs(by_entity(commands)) do
    dropped = apply_chain(world, chain) or dropped
  end
  for _, id in ipairs(world.died) do
    world:sync_packed(id)
  end
  return dropped
end

-- ---- keeping ---------------------------------------------------------------------------

local function mark(world, command)
  if command.component then
    local marks = world.marks[command.id] or {}
    world.marks[command.id] = marks
    marks[world.marked_by(command)] = true
  end
end

-- Keeps commands while a scope is open, else applies them at once, as one scope.
function methods.perform(self, ...)
  local scope, commands = self.scopes[#self.scopes], { ... }
  if not scope then
    if apply_all(self, commands) then
      refuse("'%s' is not possible", commands[1].name or commands[1].op)
    end
    return
  end
  for _, command in ipairs(commands) do
    command.scope = scope
    self.commands[#self.commands + 1] = command
    mark(self, command)
  end
end

-- Whether a staged command concerns this component of this entity, or this pair.
function methods.is_staged(self, id, component, target)
  local marks = self.marks[id] or {}
  local pair = target and component.ties and not component.ties.exclusive
    and marks[self.key_of(component, target)]
  return marks[component.name] or pair or false
end

-- Whether all that is given is kept, since none of it applies where something cannot.
function methods.is_whole(self)
  return self.scopes[1] and self.scopes[1].whole
end

-- Takes the commands that a scope holds out of the list and returns them.
local function take_commands(world, scope)
  local taken, kept = {}, {}
  world.marks = {}
  for _, command in ipairs(world.commands) do
    if command.scope == scope then
      taken[#taken + 1] = command
    else
      kept[#kept + 1] = command
      mark(world, command)
    end
  end
  world.commands = kept
  return taken
end

-- ---- scopes ----------------------------------------------------------------------------

-- Opens a scope; `kind` is "loop", "form" (a function form), "system" or "defer".
function methods.open_scope(self, kind)
  local scope = { kind = kind }
  self.scopes[#self.scopes + 1] = scope
  return scope
end

-- Takes a scope out of the open ones, its commands go to the one around it; applies everything
-- when it was the last. Whether a command had to be dropped.
local function end_scope(world, scope)
  local outer, dropped = nil, false
  for at, open in ipairs(world.scopes) do
    if open == scope then
      table.remove(world.scopes, at)
      break
    end
    outer = open
  end
  scope.ended = true
  for _, command in ipairs(world.commands) do
    if command.scope == scope then
      command.scope = outer
    end
  end
  world:hand_on_emitted(scope, outer)
  if #world.scopes == 0 then
    dropped = apply_all(world, take_commands(world, nil))
  end
  return dropped
end

-- A table with all that it leads to; methods and what else is no table are the same.
local function twin_of(value, known)
  if type(value) ~= "table" then
    return value
  end
  local twin = known[value]
  if not twin then
    twin = {}
    known[value] = twin
    for key, item in next, value do
      rawset(twin, twin_of(key, known), twin_of(item, known))
    end
    setmetatable(twin, getmetatable(value))
  end
  return twin
end

-- Whether a command that is kept would have to be dropped, which a world like this one shows.
local function would_drop(world)
  local twin = twin_of(world, {})
  return apply_all(twin, twin.commands)
end

-- An error once everything else has been applied, if something could not be; nothing is where the
-- scope is to apply whole.
function methods.commit_scope(self, scope)
  if scope.whole and would_drop(self) then
    self:cancel_scope(scope)
    refuse("what is given cannot apply whole")
  end
  if end_scope(self, scope) then
    refuse("what is required cannot be removed")
  end
end

-- Drops what a scope holds, kills what was spawned in it, and ends it. Whether a command of others,
-- which applied then, had to be dropped.
function methods.cancel_scope(self, scope)
  for _, command in ipairs(take_commands(self, scope)) do
    if command.op == "spawn" then
      self:kill(command.id)
    end
  end
  self:drop_emitted(scope)
  return end_scope(self, scope)
end

-- Cancels the scopes opened inside of one, and that one.
function methods.cancel_from(self, scope)
  repeat
    local last = self.scopes[#self.scopes]
    self:cancel_scope(last)
  until last == scope
end

function methods.need_idle(self, what)
  for _, scope in ipairs(self.scopes) do
    if scope.kind ~= "loop" then
      refuse("%s is not possible here", what)
    end
  end
end

-- Ends loops left open, whose commands apply; an error inside anything else. Returns whether
-- there were any.
function methods.end_loops(self, what)
  self:need_idle(what)
  local any = #self.scopes > 0
  while #self.scopes > 0 do
    self:commit_scope(self.scopes[#self.scopes])
  end
  return any
end

function methods.defer(self)
  self:open_scope("defer")
end

-- The innermost scope, loops begun in it apart, which `ending` ends.
local function need_defer(world, ending)
  local at = #world.scopes
  while at > 0 and world.scopes[at].kind == "loop" do
    at = at - 1
  end
  local scope = world.scopes[at]
  if not scope or scope.kind ~= "defer" then
    refuse("no scope is open")
  end
  for inner = #world.scopes, at + 1, -1 do
    ending(world, world.scopes[inner])
  end
  return scope
end

-- Outside of everything else it ends loops left open instead.
function methods.commit(self)
  local first = self.scopes[1]
  if first and first.kind == "loop" and pcall(self.end_loops, self, "commit") then
    return
  end
  self:commit_scope(need_defer(self, self.commit_scope))
end

function methods.cancel(self)
  if self:cancel_scope(need_defer(self, self.cancel_scope)) then
    refuse("what is required cannot be removed")
  end
end

return methods
