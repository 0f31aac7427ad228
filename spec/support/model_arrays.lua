-- Arrays of the model. An array is to it a component with one field, which is an array, and a
-- resource of that: so it is migrated, saved and restored as others are. Its name tells it apart.
-- Returns methods to be mixed into the model's world.

local types = require "spec.support.model_types"
local refuse = types.refuse

local methods = {}

-- The names that random programs give arrays, and nothing else.
methods.ARRAYS = { "Tiles", "Held", "Costs" }

local is_array = {}
for _, name in ipairs(methods.ARRAYS) do
  is_array[name] = true
end

function methods.is_array(name)
  return is_array[name] or false
end

-- Those in a list of components that are components.
function methods.without_arrays(list)
  local rest = {}
  for _, component in ipairs(list) do
    if not is_array[component.name] then
      rest[#rest + 1] = component
    end
  end
  return rest
end

local Array = {}

local function of(array)
  local world, name = array.world, array.name
  local component = world.components_by_name[name]
  if not component or component ~= array.component then
    refuse("array '%s' is no longer declared", name)
  end
  local kind = component.fields[1].type
  return kind.of, world.resources[name].value, kind.n
end

local function accept(array, kind, value)
  return kind.accept(array.world, value, array.name)
end

local function read(array, kind, stored)
  if kind.read then
    return kind.read(array.world, stored)
  end
  return stored
end

function Array.fill(array, value)
  local kind, list, n = of(array)
  value = accept(array, kind, value)
  for i = 1, n do
    list[i] = value
  end
end

function Array.read(array)
  local kind, list, n = of(array)
  local copy = {}
  for i = 1, n do
    copy[i] = read(array, kind, list[i])
  end
  return copy
end

function Array.write(array, from)
  local kind, list, n = of(array)
  local accepted = {}
  if #from > n then
    refuse("%d values for %d elements", #from, n)
  end
  for i = 1, #from do
    accepted[i] = accept(array, kind, from[i])
  end
  table.move(accepted, 1, #accepted, 1, list)
end

function Array.copy(array, other)
  local kind, list, n = of(array)
  local other_kind, from, count = of(other)
  if kind ~= other_kind or count > n then
    refuse("array '%s' cannot be copied to array '%s'", other.name, array.name)
  end
  table.move(from, 1, count, 1, list)
end

local meta = {}

function meta.__index(array, key)
  if Array[key] then
    return Array[key]
  end
  local kind, list, n = of(array)
  local at = types.integer(key)
  if at and at >= 1 and at <= n then
    return read(array, kind, list[at])
  end
end

function meta.__newindex(array, key, value)
  local kind, list, n = of(array)
  local at = types.integer(key)
  if not at or at < 1 or at > n then
    refuse("array '%s' has no element %s", array.name, tostring(key))
  end
  list[at] = accept(array, kind, value)
end

function meta.__len(array)
  return (select(3, of(array)))
end

function methods.array(world, name, type, n)
  if type then
    world:component(name, { ("value: %s[%d]"):format(type, n) })
    local initial = types.initial(world.components_by_name[name])
    world.resources[name] = world.resources[name] or initial
  elseif not world.components_by_name[name] then
    refuse("unknown array '%s'", name)
  end
  return setmetatable({ world = world, name = name, component = world.components_by_name[name] },
    meta)
end

return methods
