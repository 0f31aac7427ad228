-- Turns the arguments of world:prefab into a plain list of entities: the prefab itself, then its
-- children, each after its parent. Each entity has a title for messages, which is its path:
-- "prefab 'Ship', child 2".

local common = require "ecs.common"

local prefab = {}

local LIMIT = 65536      -- entities in one prefab
local OPTIONS = { is_a = true, shared = true, children = true }

local function refuse(format, ...)
  error({ message = format:format(...) }, 0)
end

local function quote(text)
  return "'" .. (#text > 200 and text:sub(1, 200) .. "..." or text) .. "'"
end

--- Formats a number as in Lua source, with a decimal point in every locale.
---@param number number
---@param format? string
function prefab.number(number, format)
  return ((format and format:format(number) or tostring(number)):gsub("[^%w+-]", "."))
end

local function show(key)
  if type(key) == "string" then
    return quote(key)
  end
  return type(key) == "number" and prefab.number(key) or "a " .. type(key)
end

-- The path of a child. The middle of a long path is left out.
local function below(title, child)
  if #title > 300 then
    title = title:sub(1, 200):match "^(.*), " or title:sub(1, 200)
    title = title .. ", ..."
  end
  return title .. ", child " .. child
end

local function need_table(title, value, expected)
  if value ~= nil and type(value) ~= "table" then
    refuse("%s: %s, got a %s", title, expected, type(value))
  end
  return value or {}
end

local function add_component(node, name, value)
  if OPTIONS[name] then
    refuse("%s: '%s' is an option, not a component: write it in the table after the components",
      node.title, name)
  elseif node.components[name] ~= nil then
    refuse("%s, %s: given both in shared and in components", node.title, show(name))
  end
  node.components[name] = value
end

-- Shared components are listed by name, or given with values like all other components.
local function share(node, shared)
  for key, value in next, need_table(node.title, shared, "shared must be a list of names") do
    local listed = common.kind(key) == "integer" and key >= 1 and key <= common.rawlen(shared)
    local name = key
    if listed then
      name = value
    end
    if type(name) ~= "string" then
      refuse("%s, shared: takes names of components, got %s", node.title, show(name))
    elseif not listed then
      add_component(node, key, value)
    end
    node.shared[#node.shared + 1] = name
  end
  table.sort(node.shared)
end

local function check_options(title, options)
  for key in next, options do
    if not OPTIONS[key] then
      refuse("%s, %s: unknown option (known: children, is_a, shared)", title, show(key))
    end
  end
  local is_a = rawget(options, "is_a")
  local kind = common.kind(is_a) or type(is_a)
  if kind ~= "nil" and kind ~= "string" and kind ~= "integer" then
    refuse("%s: is_a must be the name of a prefab, got a %s", title, type(is_a))
  end
end

-- Appends an entity. Its children are appended later.
local function append(list, parent, title, name, components, options)
  if name and name:find("\0", 1, true) then
    refuse("%s: the name of a child has a zero byte", title)
  end
  local node = { name = name, parent = parent, components = {}, shared = {}, title = title }
  list[#list + 1] = node
  for key, value in next, need_table(title, components, "components must be a table") do
    add_component(node, key, value)
  end
  options = need_table(title, options, "options must be a table")
  check_options(title, options)
  share(node, rawget(options, "shared"))
  node.is_a = rawget(options, "is_a")
  node.children = need_table(title, rawget(options, "children"), "children must be a list")
  if #list > LIMIT then
    refuse("%s: a prefab has at most %d children", list[1].title, LIMIT - 1)
  end
end

-- Appends a child given by keys, with options among the components: { P = {}, is_a = "Axe" }.
local function append_keyed(list, parent, title, name, child)
  local components, options = {}, {}
  for key, value in next, child do
    (OPTIONS[key] and options or components)[key] = value
  end
  append(list, parent, title, name, components, options)
end

-- Appends a child given by position: { "turret", components, options }; the name may be left out.
local function append_placed(list, parent, title, child)
  local name = rawget(child, 1)
  local first = type(name) == "string" and 2 or 1
  for key in next, child do
    if common.kind(key) ~= "integer" or key < 1 or key > first + 1 then
      refuse("%s, %s: a child is a name, { name, components, options } with either left out, or a "
        .. "table of components", title, show(key))
    end
  end
  append(list, parent, title, first == 2 and name or nil, rawget(child, first),
    rawget(child, first + 1))
end

local function append_child(list, parent, title, child)
  if type(child) == "string" then
    append(list, parent, title, child)
  elseif type(child) ~= "table" then
    refuse("%s: a child is a name or { \"name\", components, options }, got a %s", title,
      type(child))
  elseif rawget(child, 1) ~= nil or rawget(child, 2) ~= nil or rawget(child, 3) ~= nil then
    append_placed(list, parent, title, child)
  else
    append_keyed(list, parent, title, nil, child)
  end
end

local function append_children(list, at)
  local node, known, named = list[at], {}, {}
  local first = #list
  for i = 1, common.rawlen(node.children) do
    append_child(list, at, below(node.title, i), rawget(node.children, i))
  end
  for name in next, node.children do
    if type(name) == "string" then
      named[#named + 1] = name
    elseif common.kind(name) ~= "integer" or name < 1 or name > #list - first then
      refuse("%s: children must be a list, got the key %s", node.title, show(name))
    end
  end
  table.sort(named)
  for _, name in ipairs(named) do
    local title = below(node.title, quote(name))
    append_keyed(list, at, title, name,
      need_table(title, rawget(node.children, name), "components must be a table"))
  end
  for i = first + 1, #list do
    local name = list[i].name
    if name and known[name] then
      refuse("%s: two children are named %s", node.title, quote(name))
    end
    known[name or 0] = true
  end
  node.children = nil
end

-- `given` is { components =, options = }: the arguments of world:prefab after the name.
function prefab.list(name, given)
  if type(name) ~= "string" or name == "" then
    refuse("a prefab needs a name, got a %s", type(name))
  end
  local list = {}
  append(list, nil, "prefab " .. quote(name), name, given.components, given.options)
  for at = 1, math.huge do
    if not list[at] then
      return list
    end
    append_children(list, at)
  end
end

return prefab
