-- Field types of the model: what a schema string means, which values a field takes, how they
-- read. A stored component is a plain table field -> stored value. An array is a table
-- 1..n, a nested component a table of its own.
--
-- A *patch* is what a set brings: the same shape as a stored value with parts left out.
-- It is made (and refused) as a whole before anything is stored.

local types = {}

-- Stands for nil inside stored `any` fields and patches.
local NIL = setmetatable({}, { __name = "nil in an any field" })
types.NIL = NIL

types.null = 0

local INTEGER_RANGES = {
  i8 = { -128, 127 },
  i16 = { -32768, 32767 },
  i32 = { -2147483648, 2147483647 },
  i64 = { math.mininteger, math.maxinteger },
  u8 = { 0, 255 },
  u16 = { 0, 65535 },
  u32 = { 0, 4294967295 },
  u64 = { math.mininteger, math.maxinteger },    -- by their bits
}

-- Raises what the runtime would refuse with.
function types.refuse(...)
  error(string.format(...), 0)
end

local refuse = types.refuse

local function need(value, kind, field)
  if type(value) ~= kind then
    refuse("field '%s' takes a %s, got %s", field, kind, type(value))
  end
  return value
end

-- The integer that a number is, or nil. Strings are no numbers here.
function types.integer(value)
  if math.type(value) == "integer" then
    return value
  end
  if math.type(value) == "float" then
    return math.tointeger(value)
  end
end

local function integer_type(name, low, high)
  local function accept(_, value, field)
    local whole = types.integer(need(value, "number", field))
    if not whole or whole < low or whole > high then
      refuse("field '%s' is %s: %s is out of range", field, name, tostring(value))
    end
    return whole
  end
  return { kind = "scalar", name = name, zero = 0, accept = accept, low = low, high = high }
end

local scalars = {
  f32 = {
    zero = 0.0,
    accept = function(_, value, field)
      return (string.unpack("<f", string.pack("<f", need(value, "number", field))))
    end,
  },
  f64 = {
    zero = 0.0,
    accept = function(_, value, field)
      return need(value, "number", field) * 1.0
    end,
  },
  bool = {
    zero = false,
    accept = function(_, value, field)
      return need(value, "boolean", field)
    end,
  },
  string = {
    zero = "",
    accept = function(_, value, field)
      return need(value, "string", field)
    end,
  },
  any = {
    zero = NIL,
    accept = function(_, value)
      if value == nil then
        return NIL
      end
      return value
    end,
    read = function(_, stored)
      if stored == NIL then
        return nil
      end
      return stored
    end,
  },
  entity = {
    zero = 0,
    accept = function(world, value, field)
      if types.integer(need(value, "number", field)) == 0 then
        return 0
      end
      return world:need_alive(value)
    end,
    read = function(world, stored)
      return world:alive(stored) and stored or 0
    end,
  },
}
for name, scalar in pairs(scalars) do
  scalar.kind, scalar.name = "scalar", name
end
for name, range in pairs(INTEGER_RANGES) do
  scalars[name] = integer_type(name, range[1], range[2])
end

local function enum_type(list)
  local known, names = {}, {}
  for name in list:gmatch("[%w_]+") do
    names[#names + 1] = name
    known[name] = true
  end
  local function accept(_, value, field)
    if not known[need(value, "string", field)] then
      refuse("field '%s' has no name '%s'", field, value)
    end
    return value
  end
  return { kind = "scalar", name = "enum", names = names, zero = names[1], accept = accept }
end

local function parse_type(world, text)
  local element, count = text:match("^(.-)%s*%[(%d+)%]$")
  if element then
    return { kind = "array", of = parse_type(world, element), n = tonumber(count) }
  end
  local names = text:match("^enum%s*%((.*)%)$")
  if names then
    return enum_type(names)
  end
  local known = scalars[text]
  if known then
    return known
  end
  local component = world.components_by_name[text]
  if not component or #component.fields == 0 or component.ties then
    refuse("unknown type '%s'", text)
  end
  return component
end

local function parse_default(world, kind, text, field)
  if not text or kind.kind ~= "scalar" then
    return nil
  end
  local value
  if kind.name == "string" or kind.name == "enum" then
    value = text:match('^"(.*)"$') or text:match("^'(.*)'$") or text
  elseif kind.name == "bool" then
    value = ({ ["true"] = true, ["false"] = false })[text]
  else
    value = tonumber(text)
  end
  return kind.accept(world, value, field)
end

-- What fields were called, and what their component was called.
local function labels(was)
  local renames = {}
  for new, old in pairs(type(was) == "table" and was or {}) do
    renames[new] = new ~= 1 and old or nil
  end
  return renames, type(was) == "table" and was[1] or type(was) == "string" and was or nil
end

-- A component's type from a list of "name: type = default".
function types.component(world, name, fields)
  local component = {
    kind = "struct", name = name, fields = {}, by_name = {}, lines = fields, requires = {},
  }
  component.was, component.former = labels(fields.was)
  component.sparse, component.toggle = fields.storage == "sparse", fields.toggle == true
  component.track = fields.track == true
  for i, required in ipairs(fields.requires or {}) do
    component.requires[i] = world:need_component(required)
    if component.requires[i].ties then
      refuse("'%s' is a relation", component.requires[i].name)
    end
  end
  for i, text in ipairs(fields) do
    local field_name, rest = text:match("^%s*([%a_][%w_]*)%s*:%s*(.-)%s*$")
    if not field_name or component.by_name[field_name] then
      refuse("malformed field '%s'", tostring(text))
    end
    local type_text, default = rest:match("^(.-)%s*=%s*(.-)$")
    local kind = parse_type(world, type_text or rest)
    local field = { name = field_name, type = kind }
    field.default = parse_default(world, kind, default, field_name)
    component.fields[i] = field
    component.by_name[field_name] = field
  end
  return component
end

local function same_type(a, b)
  if a.kind == "array" then
    return b.kind == "array" and a.n == b.n and same_type(a.of, b.of)
  elseif a.kind == "struct" then
    return a == b
  end
  return a.name == b.name and table.concat(a.names or {}, " ") == table.concat(b.names or {}, " ")
end

local function initial_of(field)
  if field.default == nil then
    return field.type.zero
  end
  return field.default
end

local function has_all(list, wanted)
  local known = {}
  for _, one in ipairs(list) do
    known[one] = true
  end
  for _, one in ipairs(wanted) do
    if not known[one] then
      return false
    end
  end
  return true
end

local function same_ties(a, b)
  if not a or not b then
    return a == b
  end
  return a.exclusive == b.exclusive and a.acyclic == b.acyclic and a.policy == b.policy
end

-- Whether two components have the same fields in the same order, are kept in the same way, require
-- the same, and are both toggles and tracked or not.
function types.same(a, b)
  if a.sparse ~= b.sparse or a.toggle ~= b.toggle or a.track ~= b.track
    or not same_ties(a.ties, b.ties) then
    return false
  end
  if not has_all(a.requires, b.requires) or not has_all(b.requires, a.requires) then
    return false
  end
  for i = 1, math.max(#a.fields, #b.fields) do
    local one, two = a.fields[i], b.fields[i]
    if not one or not two or one.name ~= two.name or not same_type(one.type, two.type)
      or initial_of(one) ~= initial_of(two) then
      return false
    end
  end
  return true
end

-- A fresh stored value with every default.
function types.initial(kind, default)
  if kind.kind == "scalar" then
    if default ~= nil then
      return default
    end
    return kind.zero
  end
  local stored = {}
  if kind.kind == "array" then
    for i = 1, kind.n do
      stored[i] = types.initial(kind.of)
    end
  else
    for _, field in ipairs(kind.fields) do
      stored[field.name] = types.initial(field.type, field.default)
    end
  end
  return stored
end

-- The patch that a Lua value makes, or an error.
function types.patch(world, kind, value, name)
  if kind.kind == "scalar" then
    return kind.accept(world, value, name)
  end
  need(value, "table", name)
  local patch = {}
  for key, part in pairs(value) do
    local index = types.integer(key)
    if kind.kind == "array" then
      if not index or index < 1 or index > kind.n then
        refuse("'%s' has no element [%s]", name, tostring(key))
      end
      patch[index] = types.patch(world, kind.of, part, name)
    else
      local field = index and kind.fields[index] or kind.by_name[key]
      if not field then
        refuse("component '%s' has no field '%s'", kind.name, tostring(key))
      end
      patch[field.name] = types.patch(world, field.type, part, field.name)
    end
  end
  return patch
end

-- The patch of values given in field order.
function types.positional(world, component, ...)
  local count = select("#", ...)
  if count > #component.fields then
    refuse("component '%s' has %d fields, got %d values", component.name,
      #component.fields, count)
  end
  local patch = {}
  for i = 1, count do
    local field = component.fields[i]
    patch[field.name] = types.patch(world, field.type, (select(i, ...)), field.name)
  end
  return patch
end

-- `stored` with the patch put over it (in place for tables); returns it.
function types.merge(kind, stored, patch)
  if kind.kind == "scalar" then
    return patch
  end
  for key, part in pairs(patch) do
    local inner = kind.of or kind.by_name[key].type
    stored[key] = types.merge(inner, stored[key], part)
  end
  return stored
end

-- What a stored value reads as: fresh tables for arrays and nested components.
function types.read(world, kind, stored)
  if kind.kind == "scalar" then
    if kind.read then
      return kind.read(world, stored)
    end
    return stored
  end
  local value = {}
  if kind.kind == "array" then
    for i = 1, kind.n do
      value[i] = types.read(world, kind.of, stored[i])
    end
  else
    for _, field in ipairs(kind.fields) do
      value[field.name] = types.read(world, field.type, stored[field.name])
    end
  end
  return value
end

-- The keys and the type that "m[2]" or "offset.x" lead to; an error unless it is one leaf.
function types.leaf(component, path)
  local keys, kind = {}, component
  for name, indices in path:gmatch("([%a_][%w_]*)([%[%]%d]*)") do
    local field = kind.kind == "struct" and kind.by_name[name]
    if not field then
      refuse("component '%s' has no field '%s'", component.name, path)
    end
    keys[#keys + 1], kind = name, field.type
    for digits in indices:gmatch("%[(%d+)%]") do
      local index = tonumber(digits)
      if kind.kind ~= "array" or index < 1 or index > kind.n then
        refuse("component '%s' has no field '%s'", component.name, path)
      end
      keys[#keys + 1], kind = index, kind.of
    end
  end
  if #keys == 0 or kind.kind ~= "scalar" then
    refuse("component '%s' has no field '%s'", component.name, path)
  end
  return keys, kind
end

-- Calls visit(path, type, value) for every leaf: "x", "m[1]", "offset.x". The values are those of
-- a stored component, if that is given.
function types.leaves(kind, visit, prefix, stored)
  if kind.kind == "scalar" then
    visit(prefix, kind, stored)
  elseif kind.kind == "array" then
    for i = 1, kind.n do
      types.leaves(kind.of, visit, ("%s[%d]"):format(prefix, i), stored and stored[i])
    end
  else
    for _, field in ipairs(kind.fields) do
      local name = field.name
      types.leaves(field.type, visit, prefix and prefix .. "." .. name or name,
        stored and stored[name])
    end
  end
end

return types
