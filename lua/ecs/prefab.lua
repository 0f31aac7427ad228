-- What world:prefab is given, turned into a plain list of the entities that it says: the prefab
-- itself, then its children, each behind its parent.

local prefab = {}

local LIMIT = 65536      -- entities of one prefab
local OPTIONS = { is_a = true, shared = true, children = true }

local function refuse(format, ...)
  error({ message = format:format(...) }, 0)
end

-- What an entity of the list is called in messages.
local function title_of(list, node)
  local name = ("prefab '%s'"):format(list[1].name)
  if node == list[1] then
    return name
  end
  return ("%s: child %s"):format(name, node.name and "'" .. node.name .. "'" or "without a name")
end

local function need_table(what, value, expected)
  if value ~= nil and type(value) ~= "table" then
    refuse("%s: %s, got a %s", what, expected, type(value))
  end
  return value or {}
end

-- Shared components are listed by name, or given with their values as others are.
local function share(what, node, shared)
  for key, value in next, need_table(what, shared, "shared is a list of names") do
    local listed = math.type(key) == "integer" and key <= rawlen(shared)
    local name = key
    if listed then
      name = value
    else
      node.components[key] = value
    end
    if type(name) ~= "string" then
      refuse("%s: shared takes names of components, got a %s", what, type(name))
    end
    node.shared[#node.shared + 1] = name
  end
  table.sort(node.shared)
end

local function check_options(what, options)
  for key in next, options do
    if not OPTIONS[key] then
      refuse("%s: unknown option '%s': there are is_a, shared and children", what, tostring(key))
    end
  end
  local is_a = rawget(options, "is_a")
  local kind = math.type(is_a) or type(is_a)
  if kind ~= "nil" and kind ~= "string" and kind ~= "integer" then
    refuse("%s: is_a is the name of a prefab, got a %s", what, type(is_a))
  end
end

-- Appends an entity; its children are read later.
local function append(list, parent, name, components, options)
  if name and name:find("\0", 1, true) then
    refuse("prefab '%s': the name of a child has a zero byte", list[1].name)
  end
  local node = { name = name, parent = parent, components = {}, shared = {} }
  list[#list + 1] = node
  local what = title_of(list, node)
  for key, value in next, need_table(what, components, "components are a table") do
    node.components[key] = value
  end
  options = need_table(what, options, "options are a table")
  check_options(what, options)
  share(what, node, rawget(options, "shared"))
  node.is_a = rawget(options, "is_a")
  node.children = need_table(what, rawget(options, "children"), "children are a list")
  if #list > LIMIT then
    refuse("%s: a prefab has at most %d children", title_of(list, list[1]), LIMIT - 1)
  end
end

-- { "turret", components, options }, or { components, options } of one without a name.
local function append_listed(list, parent, what, child)
  if type(child) ~= "table" then
    refuse("%s: a child is { \"name\", components, options }, got a %s", what, type(child))
  end
  local first, second = rawget(child, 1), rawget(child, 2)
  if type(first) == "string" then
    append(list, parent, first, second, rawget(child, 3))
  else
    append(list, parent, nil, first, second)
  end
end

local function append_children(list, at)
  local node, known, named = list[at], {}, {}
  local what, first = title_of(list, node), #list
  for i = 1, rawlen(node.children) do
    append_listed(list, at, what, rawget(node.children, i))
  end
  for name in next, node.children do
    if type(name) == "string" then
      named[#named + 1] = name
    elseif math.type(name) ~= "integer" or name < 1 or name > #list - first then
      refuse("%s: children are a list, got the key %s", what, tostring(name))
    end
  end
  table.sort(named)
  for _, name in ipairs(named) do
    append(list, at, name, rawget(node.children, name))
  end
  for i = first + 1, #list do
    local name = list[i].name
    if name and known[name] then
      refuse("%s: two children are called '%s'", what, name)
    end
    known[name or 0] = true
  end
  node.children = nil
end

-- given: { components =, options = }, as behind the name in world:prefab.
function prefab.list(name, given)
  if type(name) ~= "string" or name == "" then
    refuse("a prefab needs a name, got a %s", type(name))
  end
  local list = {}
  append(list, nil, name, given.components, given.options)
  for at = 1, math.huge do
    if not list[at] then
      return list
    end
    append_children(list, at)
  end
end

return prefab
