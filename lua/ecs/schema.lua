-- Turns the fields and options that are passed to world:component into plain tables for the C
-- half. A field is written as "name: type = default".

local common = require "ecs.common"
local prefab = require "ecs.prefab"

local schema = {}

local NAME = "^[A-Za-z_][A-Za-z0-9_]*$"      -- in every locale

local ESCAPES = {
  a = "\a", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", v = "\v",
  ["\\"] = "\\", ['"'] = '"', ["'"] = "'", ["\n"] = "\n",
}

-- Raises a message that parse returns. Long texts in it are shortened.
local function refuse(format, ...)
  local shown, count = { ... }, select("#", ...)
  for i = 1, count do
    if type(shown[i]) == "string" and #shown[i] > 200 then
      shown[i] = shown[i]:sub(1, 200) .. "..."
    end
  end
  error({ message = string.format(format, common.unpack(shown, 1, count)) }, 0)
end

local function show(value)
  if type(value) == "string" then
    return "'" .. value .. "'"
  end
  return type(value) == "number" and prefab.number(value) or "a " .. type(value)
end

-- Decodes the escape sequence at `at`, after its backslash. Returns the bytes, and where it ends.
local function escape(text, at)
  local char = text:sub(at, at)
  if ESCAPES[char] then
    return ESCAPES[char], at + 1
  end
  local hex = text:match("^x(%x%x)", at)
  if hex then
    return string.char(tonumber(hex, 16)), at + 3
  end
  local code = text:match("^u{(%x%x?%x?%x?%x?%x?)}", at)
  if code then
    return common.utf8_char(tonumber(code, 16)), at + #code + 3
  end
  local decimal = text:match("^%d%d?%d?", at)
  if decimal and tonumber(decimal) < 256 then
    return string.char(tonumber(decimal)), at + #decimal
  end
  if char == "z" then
    return "", text:match("^%s*()", at + 1)
  end
end

-- Returns the contents of a quoted Lua string, or nil if it is malformed.
local function unquote(text)
  local quote, parts, at = text:sub(1, 1), {}, 2
  while at < #text do
    local plain, stop = text:match("^([^\\\"']*)()", at)
    parts[#parts + 1], at = plain, stop
    local char = text:sub(at, at)
    if at == #text then
      break
    elseif char == "\\" then
      local value
      value, at = escape(text, at + 1)
      if not value then
        return nil
      end
      parts[#parts + 1] = value
    elseif char == quote then
      return nil
    else
      parts[#parts + 1], at = char, at + 1
    end
  end
  if at == #text and #text > 1 and text:sub(at) == quote then
    return table.concat(parts)
  end
end

-- Returns the value that the text of a default denotes: a number, boolean or string.
local function literal(text, where)
  -- In a locale with a decimal comma, tonumber would accept a comma.
  local number = not text:find("[^%w.+-]") and tonumber(text)
  if number then
    return number
  elseif text == "true" or text == "false" then
    return text == "true"
  elseif text == "ecs.null" then
    return 0
  end
  local value
  if text:find("^[\"']") then
    value = unquote(text)
  elseif text:find(NAME) and text ~= "nil" then
    value = text
  end
  if value == nil then
    refuse("%s: %s is not a default (a number, true, false, a quoted string or a word)", where,
      text == "" and "nothing" or text)
  end
  return value
end

local function parse_enum(list, where)
  local names, known = {}, {}
  for name in (list .. ","):gmatch("%s*([^,]-)%s*,") do
    if not name:find(NAME) then
      refuse("%s: '%s' is not a valid enum name", where, name)
    elseif known[name] then
      refuse("%s: the enum lists '%s' twice", where, name)
    end
    known[name] = true
    names[#names + 1] = name
  end
  return names
end

-- Sets `type`, `count`, `names` and `text` of a field.
local function parse_type(field, text, where)
  local element, count = text:match("^(.-)%s*%[%s*(%d+)%s*%]$")
  if count then
    field.count = tonumber(count)
    if not (field.count >= 1 and field.count <= 1024) then
      refuse("%s: an array must have 1 to 1024 elements", where)
    end
  end
  element = element or text
  local list = element:match("^enum%s*%((.*)%)$")
  if list then
    field.type, field.names = "enum", parse_enum(list, where)
    field.text = "enum(" .. table.concat(field.names, ", ") .. ")"
  elseif element:find(NAME) and element ~= "enum" then
    field.type, field.text = element, element
  else
    refuse("%s: '%s' is not a type", where, text)
  end
  if count then
    field.text = ("%s[%d]"):format(field.text, field.count)
  end
end

-- The C half would cut a text off at a zero byte.
local function whole(value, key, where)
  if value:find("\0", 1, true) then
    refuse("%s: '%s' has a zero byte", where, key)
  end
  return value
end

local HINTS = { doc = "string", unit = "string", min = "limit", max = "limit" }

local function parse_hints(field, entry, where)
  for key, value in next, entry do
    local kind = HINTS[key]
    if kind == "limit" and type(value) == "number" then
      field[key] = common.kind(value) == "integer" and ("%d"):format(value)
        or prefab.number(value, "%.17g")
    elseif kind and type(value) == "string" then
      field[key] = whole(value, key, where)
    elseif kind then
      refuse("%s: '%s' is a %s, got %s", where, key,
        kind == "limit" and "number or a string" or "string", show(value))
    elseif key ~= 1 then
      refuse("%s: unknown hint %s (known: doc, max, min, unit)", where, show(key))
    end
  end
end

local function parse_field(component, entry, position)
  local text = entry
  if type(entry) == "table" then
    text = rawget(entry, 1)
  end
  if type(text) ~= "string" then
    refuse("component '%s': field %d is %s, not a string \"name: type\"", component, position,
      show(text))
  end
  local where = ("component '%s', field '%s'"):format(component, text)
  local name, rest = text:match("^%s*([A-Za-z_][A-Za-z0-9_]*)%s*:%s*(.-)%s*$")
  if not name then
    refuse("%s: expected \"name: type\" or \"name: type = default\"", where)
  end
  local field = { name = name }
  local kind, default = rest:match("^(.-)%s*=%s*(.*)$")
  parse_type(field, kind or rest, where)
  if default then
    field.value = literal(default, where)
    if field.type == "any" then
      refuse("%s: an 'any' field has no default", where)
    end
  end
  if type(entry) == "table" then
    parse_hints(field, entry, where)
  end
  return field
end

local OPTIONS = {}

function OPTIONS.doc(component, value)
  if type(value) ~= "string" then
    refuse("component '%s': 'doc' must be a string, got %s", component, show(value))
  end
  whole(value, "doc", ("component '%s'"):format(component))
end

function OPTIONS.storage(component, value)
  if value ~= "table" and value ~= "sparse" then
    refuse("component '%s': storage must be 'table' or 'sparse', got %s", component, show(value))
  end
end

function OPTIONS.toggle(component, value)
  if type(value) ~= "boolean" then
    refuse("component '%s': 'toggle' must be true or false, got %s", component, show(value))
  end
end

function OPTIONS.track(component, value)
  if type(value) ~= "boolean" then
    refuse("component '%s': 'track' must be true or false, got %s", component, show(value))
  end
end

function OPTIONS.requires(component, value)
  if type(value) ~= "table" then
    refuse("component '%s': 'requires' must be a list of components, as in { \"Other\" }, got %s",
      component, show(value))
  end
  local count = common.rawlen(value)
  for key, required in next, value do
    if common.kind(key) ~= "integer" or key < 1 or key > count then
      refuse("component '%s': 'requires' must be a list, got an entry at %s", component, show(key))
    elseif type(required) ~= "string" and common.kind(required) ~= "integer" then
      refuse("component '%s': 'requires' takes names or ids of components, got %s", component,
        show(required))
    end
    whole(tostring(required), "requires", ("component '%s'"):format(component))
  end
end

-- The former names of a field, given as one or as a list.
local function former_names(old)
  return type(old) == "table" and old or { old }
end

function OPTIONS.was(component, value)
  local where = ("component '%s'"):format(component)
  if type(value) == "string" then
    whole(value, "was", where)
    return
  elseif type(value) ~= "table" then
    refuse("component '%s': 'was' must be its former name, or a table { \"Old\", new = \"old\" } "
      .. "with names of fields, got %s", component, show(value))
  end
  for new, old in next, value do
    local names = former_names(old)
    for at, name in next, type(new) == "string" and names or { old } do
      local listed = common.kind(at) == "integer" and at >= 1 and at <= common.rawlen(names)
      if new ~= 1 and type(new) ~= "string" or type(name) ~= "string" or not listed then
        refuse("component '%s': 'was' has field names as keys, a field's former name or a list of "
          .. "them as values, and the component's former name at 1, got %s at %s", component,
          show(name), show(new))
      end
      whole(new .. name, "was", where)
    end
  end
end

-- Returns a component's former name, if `was` has one.
local function old_name(was)
  if type(was) == "table" then
    return rawget(was, 1)
  end
  return was
end

-- Returns the renames of fields as a list, in the order of the new names; of a field with several
-- former names, in the order given.
local function list_renames(was)
  local list, names = {}, {}
  for new in next, type(was) == "table" and was or {} do
    if new ~= 1 then
      names[#names + 1] = new
    end
  end
  table.sort(names)
  for _, new in ipairs(names) do
    local former = former_names(was[new])
    for i = 1, common.rawlen(former) do
      list[#list + 1] = { name = new, was = rawget(former, i) }
    end
  end
  return list
end

local RELATION_OPTIONS = {}

function RELATION_OPTIONS.exclusive(relation, value)
  if type(value) ~= "boolean" then
    refuse("relation '%s': 'exclusive' must be true or false, got %s", relation, show(value))
  end
end

function RELATION_OPTIONS.acyclic(relation, value, fields)
  if type(value) ~= "boolean" then
    refuse("relation '%s': 'acyclic' must be true or false, got %s", relation, show(value))
  elseif value and not rawget(fields, "exclusive") then
    refuse("relation '%s': only an exclusive relation can be acyclic; write exclusive = true, too",
      relation)
  end
end

local POLICIES = { remove = true, despawn = true, error = true }

function RELATION_OPTIONS.on_target_despawn(relation, value)
  if not POLICIES[value] then
    refuse("relation '%s': on_target_despawn must be 'remove', 'despawn' or 'error', got %s",
      relation, show(value))
  end
end

for _, name in ipairs { "storage", "toggle" } do
  RELATION_OPTIONS[name] = function(relation)
    refuse("relation '%s': a relation cannot have '%s'", relation, name)
  end
end

-- Options of components that events do not have.
local NO_EVENT_OPTIONS = { requires = true, storage = true, toggle = true, track = true }

local function find_option(component, key, kind)
  if kind == "relation" and RELATION_OPTIONS[key] then
    return RELATION_OPTIONS[key]
  elseif kind == "event" and (NO_EVENT_OPTIONS[key] or RELATION_OPTIONS[key]) then
    refuse("event '%s': an event cannot have '%s'", component, key)
  elseif RELATION_OPTIONS[key] and not OPTIONS[key] then
    refuse("component '%s': '%s' is an option of relations: declare it with world:relation",
      component, key)
  end
  return OPTIONS[key]
end

local KNOWN = {
  component = "doc, requires, storage, toggle, track, was",
  event = "doc, was",
  relation = "acyclic, doc, exclusive, on_target_despawn, requires, track, was",
}

local function check_options(component, fields, kind)
  local count = common.rawlen(fields)
  for key, value in next, fields do
    local option = find_option(component, key, kind)
    if option then
      option(component, value, fields)
    elseif type(key) == "string" then
      kind = kind or "component"
      refuse("%s '%s': unknown option '%s' (known: %s; a field is an entry \"%s: type\")", kind,
        component, key, KNOWN[kind], key)
    elseif common.kind(key) ~= "integer" or key < 1 or key > count then
      refuse("component '%s': fields must be a list, got an entry at %s", component, show(key))
    end
  end
end

-- Returns a copy of the list of required components, or nil if it is empty.
local function list_required(requires)
  return requires and table.move(requires, 1, common.rawlen(requires), 1, {})
end

-- Sets the options of a relation, and the first field of an exclusive one: its target.
local function begin_relation(plain, fields)
  plain.relation = {
    exclusive = rawget(fields, "exclusive") or false,
    acyclic = rawget(fields, "acyclic") or false,
    on_target_despawn = rawget(fields, "on_target_despawn") or "remove",
  }
  if plain.relation.exclusive then
    plain[1] = { name = "target", type = "entity", text = "entity" }
  end
end

local function build(component, fields, kind)
  check_options(component, fields, kind)
  local plain, known = { doc = rawget(fields, "doc"), toggle = rawget(fields, "toggle") }, {}
  plain.storage = rawget(fields, "storage") == "sparse" and "sparse" or nil
  plain.track = rawget(fields, "track")
  plain.requires = list_required(rawget(fields, "requires"))
  plain.was = list_renames(rawget(fields, "was"))
  plain.old_name = old_name(rawget(fields, "was"))
  plain.event = kind == "event" or nil
  if kind == "relation" then
    begin_relation(plain, fields)
  end
  for i = 1, common.rawlen(fields) do
    local field = parse_field(component, rawget(fields, i), i)
    if known[field.name] then
      refuse("component '%s' has two fields named '%s'", component, field.name)
    elseif kind == "relation" and field.name == "target" then
      refuse("relation '%s': a field cannot be named 'target', which is the entity at the other "
      .. "end; rename the field", component)
    end
    known[field.name] = true
    plain[#plain + 1] = field
  end
  return plain
end

-- Returns the plain tables of a component's fields, or with `kind` those of a "relation" and its
-- options or of an "event". Returns nil and a message if the declaration is not valid.
function schema.parse(component, fields, kind)
  local ok, result = pcall(kind == "prefab" and prefab.list or build, component, fields, kind)
  if ok then
    return result
  elseif type(result) == "table" and result.message then
    return nil, result.message
  end
  error(result, 0)
end

return schema
