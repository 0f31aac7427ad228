-- All that a world holds, as plain lists: read from it, edited by a test into what is
-- expected, and compared with what it holds then.

local picture = {}
picture.__index = picture

-- The names of a component's columns: arrays and nested components are taken apart.
local function leaves_of(world, component, prefix, list)
  for _, field in ipairs(world:describe(component).fields) do
    local base, count = field.type:match "^([%w_]+)%[(%d+)%]$"
    local nested = pcall(world.describe, world, base or field.type)
    for i = 1, tonumber(count or 1) do
      local name = prefix .. field.name .. (count and ("[%d]"):format(i) or "")
      if nested then
        leaves_of(world, base or field.type, name .. ".", list)
      else
        list[#list + 1] = name
      end
    end
  end
  return list
end

local function read_component(world, name)
  local fields, entities = {}, {}
  local leaves = leaves_of(world, name, "", {})
  for _, leaf in ipairs(leaves) do
    fields[leaf] = {}
  end
  local scratch = {}
  for chunk in world:query(name):chunks() do
    local first = #entities
    table.move(chunk.entities:read(scratch), 1, chunk.n, first + 1, entities)
    for _, leaf in ipairs(leaves) do
      table.move(chunk:column(name .. "." .. leaf):read(scratch), 1, chunk.n, first + 1,
        fields[leaf])
    end
  end
  return { entities = entities, fields = fields }
end

-- Resources are components, too: what they hold is kept beside the rows.
local function read_resource(world, name)
  local ok, view = pcall(world.res, world, name)
  if not ok then
    return nil
  end
  local value = {}
  for _, leaf in ipairs(leaves_of(world, name, "", {})) do
    value[leaf] = view[leaf]
  end
  return value
end

-- The picture of a world.
function picture.of(world)
  local self = setmetatable({ components = {}, resources = {} }, picture)
  for _, name in ipairs(world:describe().components) do
    self.components[name] = read_component(world, name)
    self.resources[name] = read_resource(world, name)
  end
  return self
end

-- ---- edits -------------------------------------------------------------------------------

-- The column "Component.field"; a column is a list with one value for each entity.
function picture:column(name)
  local component, field = name:match "^([%w_]+)%.(.+)$"
  return assert(self.components[component], name).fields[field]
end

-- Gives a new column one value in every row, and a resource the same.
function picture:add(name, value)
  local component, field = name:match "^([%w_]+)%.(.+)$"
  local column, tab = {}, self.components[component]
  for row = 1, #tab.entities do
    column[row] = value
  end
  tab.fields[field] = column
  if self.resources[component] then
    self.resources[component][field] = value
  end
end

function picture:drop(name)
  local component, field = name:match "^([%w_]+)%.(.+)$"
  assert(self.components[component].fields[field], name)
  self.components[component].fields[field] = nil
  if self.resources[component] then
    self.resources[component][field] = nil
  end
end

function picture:rename(name, field)
  local column = self:column(name)
  self:drop(name)
  self.components[name:match "^[%w_]+"].fields[field] = column
end

-- Replaces each value of a column by fn(value).
function picture:map(name, fn)
  local column = self:column(name)
  for row, value in ipairs(column) do
    column[row] = fn(value)
  end
end

-- ---- comparing ---------------------------------------------------------------------------

local function show(value)
  return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

-- Where the rows of one list of entities are in another; nil when both are the same list.
local function places(from, to)
  local at, moved = {}, false
  for row, entity in ipairs(to) do
    moved = moved or from[row] ~= entity
  end
  for row, entity in ipairs(moved and to or {}) do
    at[entity] = row
  end
  return moved and at or nil
end

local function compare_component(name, expected, actual)
  local count = #expected.entities
  if count ~= #actual.entities then
    return ("%d entities have %s, not %d"):format(#actual.entities, name, count)
  end
  local at = places(expected.entities, actual.entities)
  for field in pairs(actual.fields) do
    if not expected.fields[field] then
      return ("%s has a field %s"):format(name, field)
    end
  end
  for field, column in pairs(expected.fields) do
    local found = actual.fields[field]
    if not found then
      return ("%s has no field %s"):format(name, field)
    end
    if math.type(found[1]) ~= math.type(column[1]) then
      return ("%s.%s is a %s"):format(name, field, math.type(found[1]))
    end
    for row = 1, count do
      local value = found[at and at[expected.entities[row]] or row]
      if column[row] ~= value then
        return ("entity %d has %s.%s = %s, not %s"):format(expected.entities[row], name, field,
          show(value), show(column[row]))
      end
    end
  end
  for _, entity in ipairs(at and expected.entities or {}) do
    if not at[entity] then
      return ("entity %d has no %s"):format(entity, name)
    end
  end
end

local function compare_resource(name, expected, actual)
  for field, value in pairs(expected) do
    if actual[field] ~= value or math.type(actual[field]) ~= math.type(value) then
      return ("the resource has %s.%s = %s, not %s"):format(name, field, show(actual[field]),
        show(value))
    end
  end
  for field in pairs(actual) do
    if expected[field] == nil then
      return ("the resource %s has a field %s"):format(name, field)
    end
  end
end

-- Nothing when both hold the same; else what the first difference is.
function picture:difference(actual)
  for name in pairs(actual.components) do
    if not self.components[name] then
      return "there is a component " .. name
    end
  end
  for name, expected in pairs(self.components) do
    local problem = not actual.components[name] and "there is no component " .. name
      or compare_component(name, expected, actual.components[name])
      or compare_resource(name, self.resources[name] or {}, actual.resources[name] or {})
    if problem then
      return problem
    end
  end
end

return picture
