-- Ties in plain Lua, as brute as can be: who is tied to whom by which relation, in which order, and
-- what becomes of it when somebody dies, and what ties require. Commands of a scope are done one
-- after the other; removals of what is required in the end are left out.

local ties = {}

local Ties = {}
Ties.__index = Ties

-- relations: name -> { exclusive =, acyclic =, policy = "remove" | "despawn" | "error", value = the
-- default of the one field, or nil, requires = names of tags }; `order` lists the names as they
-- were declared. `tags` lists { name, requires... } likewise.
function ties.new(relations, order, tags)
  local by_name = {}
  for _, tag in ipairs(tags) do
    by_name[tag[1]] = tag
  end
  return setmetatable({ relations = relations, order = order, tags = tags, by_name = by_name,
    alive = {}, names = {}, list = {}, has = {} }, Ties)
end

-- All ties are in one list, { relation, source, target, value }, as they were tied.
local function find(self, relation, source, target)
  for at, tie in ipairs(self.list) do
    if tie[1] == relation and tie[2] == source and (not target or tie[3] == target) then
      return at, tie
    end
  end
end

function Ties:targets(relation, source)
  local found = {}
  for _, tie in ipairs(self.list) do
    if tie[1] == relation and tie[2] == source then
      found[#found + 1] = tie[3]
    end
  end
  table.sort(found, function(a, b) return a & 0xFFFFFFF < b & 0xFFFFFFF end)   -- by index
  return found
end

function Ties:sources(relation, target)
  local found = {}
  for _, tie in ipairs(self.list) do
    if tie[1] == relation and tie[3] == target then
      found[#found + 1] = tie[2]
    end
  end
  return found
end

function Ties:target(relation, source)
  return self:targets(relation, source)[1]
end

function Ties:value(relation, source, target)
  local _, tie = find(self, relation, source, target)
  return tie and tie[4]
end

-- ---- what is required ------------------------------------------------------------------

local function bring(self, entity, name)
  local has = self.has[entity]
  if not has[name] then
    has[name] = true
    for _, required in ipairs { table.unpack(self.by_name[name], 2) } do
      bring(self, entity, required)
    end
  end
end

local function bring_all(self, entity, names)
  for _, name in ipairs(names or {}) do
    bring(self, entity, name)
  end
end

-- A tag that the entity lacks though it has what requires it.
local function gap(self, entity)
  local has = self.has[entity]
  for _, tag in ipairs(self.tags) do
    for _, required in ipairs(has[tag[1]] and { table.unpack(tag, 2) } or {}) do
      if not has[required] then
        return required
      end
    end
  end
  for _, tie in ipairs(self.list) do
    for _, required in ipairs(tie[2] == entity and self.relations[tie[1]].requires or {}) do
      if not has[required] then
        return required
      end
    end
  end
end

-- After a relation came to require something else.
function Ties:bring_required()
  for _, tie in ipairs(self.list) do
    bring_all(self, tie[2], self.relations[tie[1]].requires)
  end
end

-- ---- commands --------------------------------------------------------------------------

local does = {}

-- Whether a child of that parent, or a root, other than the entity has the entity's name.
local function is_taken(self, entity, parent)
  local wanted = self.names[entity]
  for other, name in pairs(self.names) do
    if other ~= entity and name == wanted and self:target("ChildOf", other) == parent then
      return true
    end
  end
end

function does.spawn(self, entity)
  self.alive[entity], self.has[entity] = true, {}
end

function does.add(self, entity, name)
  bring(self, entity, name)
end

function does.remove(self, entity, name)
  self.has[entity][name] = nil
end

-- All that dies with an entity, breadth first.
local function doomed_with(self, entity)
  local doomed, known = { entity }, { [entity] = true }
  for _, dying in ipairs(doomed) do   -- grows on the way
    for _, name in ipairs(self.order) do
      for _, source in ipairs(self.relations[name].policy == "despawn"
        and self:sources(name, dying) or {}) do
        if not known[source] then
          known[source] = true
          doomed[#doomed + 1] = source
        end
      end
    end
  end
  return doomed, known
end

function does.despawn(self, entity)
  local doomed, known = doomed_with(self, entity)
  for _, tie in ipairs(self.list) do
    if known[tie[3]] and not known[tie[2]] and self.relations[tie[1]].policy == "error" then
      return false
    end
  end
  for at = #self.list, 1, -1 do
    if known[self.list[at][2]] or known[self.list[at][3]] then
      table.remove(self.list, at)
    end
  end
  for _, dying in ipairs(doomed) do
    self.alive[dying], self.names[dying], self.has[dying] = nil, nil, nil
  end
end

-- A tie to one who is dead by the time it is made.
local function miss(self, name, source)
  local policy = self.relations[name].policy
  if policy == "despawn" then
    return does.despawn(self, source)
  elseif policy == "error" then
    return false
  elseif self.relations[name].exclusive then
    return does.untie(self, source, name, nil, true)
  end
end

local function goes_in_a_circle(self, name, source, target)
  local at = target
  while at do
    if at == source then
      return true
    end
    at = self:target(name, at)
  end
end

function does.tie(self, source, name, target, value)
  local relation = self.relations[name]
  if not self.alive[target] then
    return miss(self, name, source)
  end
  local at, tie = find(self, name, source, not relation.exclusive and target or nil)
  if tie and tie[3] == target then
    tie[4] = value == nil and tie[4] or value
    return
  elseif relation.acyclic and goes_in_a_circle(self, name, source, target)
    or name == "ChildOf" and is_taken(self, source, target) then
    return false
  end
  local kept = tie and tie[4]
  if at then
    table.remove(self.list, at)
  end
  if value == nil then
    value = kept or relation.value
  end
  self.list[#self.list + 1] = { name, source, target, value }
  if not tie then
    bring_all(self, source, relation.requires)
  end
end

function does.untie(self, source, name, target, dies)
  if name == "ChildOf" and not dies and find(self, name, source, target)
    and is_taken(self, source, nil) then
    return false
  end
  local at = find(self, name, source, target)
  while at do
    table.remove(self.list, at)
    at = find(self, name, source, target)
  end
end

-- Among those who have its parent then.
function does.name(self, entity, name)
  local before = self.names[entity]
  self.names[entity] = name or nil
  if name and is_taken(self, entity, self:target("ChildOf", entity)) then
    self.names[entity] = before
    return false
  end
end

-- Does a command: { kind, entity, ... }. False when it is refused.
local function perform(self, command)
  if command[1] ~= "spawn" and not self.alive[command[2]] then
    return true
  end
  return does[command[1]](self, table.unpack(command, 2, 5)) ~= false
end

-- Of an entity that lacks what it requires, the last command that took that away.
local function find_removal(self, list, left_out)
  for entity in pairs(self.alive) do
    local missing = gap(self, entity)
    for at = missing and #list or 0, 1, -1 do
      local command = list[at]
      if command[1] == "remove" and command[2] == entity and command[3] == missing
        and not left_out[at] then
        return at
      end
    end
    assert(not missing)
  end
end

-- Does the commands of one scope, but for those that are refused: then it is false.
function Ties:run(list)
  local left_out, fine, after = {}
  repeat
    after, fine = self:copy(), next(left_out) == nil
    for at, command in ipairs(list) do
      fine = (left_out[at] or perform(after, command)) and fine
    end
    local at = find_removal(after, list, left_out)
    left_out[at or 0] = at and true
  until not at
  self.alive, self.names, self.list, self.has = after.alive, after.names, after.list, after.has
  return fine
end

function Ties:copy()
  local copy = ties.new(self.relations, self.order, self.tags)
  for id in pairs(self.alive) do
    copy.alive[id], copy.has[id] = true, {}
    for name in pairs(self.has[id]) do
      copy.has[id][name] = true
    end
  end
  for id, name in pairs(self.names) do
    copy.names[id] = name
  end
  for at, tie in ipairs(self.list) do
    copy.list[at] = table.move(tie, 1, 4, 1, {})
  end
  return copy
end

return ties
