-- Ties in plain Lua, as brute as can be: who is tied to whom by which relation, in which order, and
-- what becomes of it when somebody dies. Commands of a scope are done one after the other.

local ties = {}

local Ties = {}
Ties.__index = Ties

-- relations: name -> { exclusive =, acyclic =, policy = "remove" | "despawn" | "error", value = the
-- default of the one field, or nil }; `order` lists the names as they were declared.
function ties.new(relations, order)
  return setmetatable({ relations = relations, order = order, alive = {}, names = {}, list = {} },
    Ties)
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
  self.alive[entity] = true
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
    self.alive[dying], self.names[dying] = nil, nil
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

-- Does a command: { "spawn" | "despawn" | "tie" | "untie", entity, ... }. False when it is refused.
function Ties:perform(command)
  if command[1] ~= "spawn" and not self.alive[command[2]] then
    return true
  end
  return does[command[1]](self, table.unpack(command, 2, 5)) ~= false
end

function Ties:copy()
  local copy = ties.new(self.relations, self.order)
  for id in pairs(self.alive) do
    copy.alive[id] = true
  end
  for id, name in pairs(self.names) do
    copy.names[id] = name
  end
  for at, tie in ipairs(self.list) do
    copy.list[at] = table.move(tie, 1, 4, 1, {})
  end
  return copy
end

-- Whether the entity may have the name among those with its parent.
function Ties:may_be_called(entity, name)
  local before = self.names[entity]
  self.names[entity] = name
  local taken = is_taken(self, entity, self:target("ChildOf", entity))
  self.names[entity] = before
  return not taken
end

return ties
