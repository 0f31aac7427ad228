-- Converts entities to JSON and back. This file writes JSON itself, so that numbers keep every
-- bit, and parses it with the package dkjson.

local common = require "ecs.common"
local native = require "ecs.native"
local prefab = require "ecs.prefab"

---@class ecs.json
local json = {}

local EXACT = 2 ^ 53         -- floats represent all integers up to this exactly
local INTEGERS = { i8 = true, i16 = true, i32 = true, i64 = true, u8 = true, u16 = true,
  u32 = true, u64 = true }
local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
  ["\127"] = "\\u007f" }
local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local PLACES = { [0] = 0x40000, 0x1000, 0x40, 1 }   -- place values of base64 digits

json.null = setmetatable({}, { __name = "null", __tostring = function() return "null" end })

-- ---- strings -------------------------------------------------------------------------------

--- Escapes a text for use between quotes.
---@param text string
---@return string
function json.escape(text)
  return text:find '[%c"\\\127]' and text:gsub('[%c"\\\127]', function(char)
    return ESCAPES[char] or ("\\u%04x"):format(char:byte())
  end) or text
end

-- A cache of quoted texts, limited in number: most texts are short and repeat, as keys do.
local quoted, quoted_left = {}, 0

local function quote(text)
  local known = quoted[text]
  if known then
    return known
  end
  known = '"' .. json.escape(text) .. '"'
  if #text < 32 then
    quoted_left = quoted_left > 0 and quoted_left - 1 or 500
    quoted = quoted_left < 500 and quoted or {}
    quoted[text] = known
  end
  return known
end

--- Encodes bytes as base64.
---@param bytes string
---@return string
function json.base64(bytes)
  return (bytes:gsub("..?.?", function(three)
    local a, b, c = three:byte(1, 3)
    local bits = a * 0x10000 + (b or 0) * 0x100 + (c or 0)
    local text = ""
    for i = 0, #three do
      local at = math.floor(bits / PLACES[i]) % 64 + 1
      text = text .. ALPHABET:sub(at, at)
    end
    return text .. ("="):rep(3 - #three)
  end))
end

local function from_base64(text)
  return (text:gsub("[^%w+/]", ""):gsub("..?.?.?", function(four)
    local bits = 0
    for i = 1, 4 do
      local at = i <= #four and ALPHABET:find(four:sub(i, i), 1, true) or 1
      bits = bits * 64 + at - 1
    end
    local a, b = math.floor(bits / 0x10000), math.floor(bits / 0x100) % 256
    return string.char(a, b, bits % 256):sub(1, #four - 1)
  end))
end

local function text_of(bytes)
  return common.utf8_len(bytes) and quote(bytes) or '{"base64":"' .. json.base64(bytes) .. '"}'
end

local function float(number, digits)
  if number ~= number then
    return '"nan"'
  elseif number == math.huge or number == -math.huge then
    return number > 0 and '"inf"' or '"-inf"'
  end
  local text = prefab.number(number * 1.0, digits)
  return text:find "[.e]" and text or text .. ".0"
end

local function integer(value, is_unsigned)
  if type(value) == "string" then
    return quote(value)
  elseif is_unsigned and value < 0 then
    return quote(native.unsigned(value))
  end
  local text = ("%d"):format(value)
  return (value > EXACT or value < -EXACT) and quote(text) or text
end

-- Appends the JSON of a value to a list of strings.
local function put(out, value, show)
  local kind, meta = type(value), getmetatable(value)
  if meta == json.raw then
    for i = 1, #value do out[#out + 1] = value[i] end
  elseif kind == "table" and value ~= json.null and (#value > 0 or meta == json.list) then
    for i = 1, #value do
      out[#out + 1] = i == 1 and "[" or ","
      put(out, value[i], show)
    end
    out[#out + 1] = #value > 0 and "]" or "[]"
  elseif kind == "table" and value ~= json.null then
    local keys = {}
    for key in next, value do
      keys[#keys + 1] = key
    end
    table.sort(keys)
    for i, key in ipairs(keys) do
      local name = tostring(key)
      out[#out + 1] = i == 1 and "{" or ","
      out[#out + 1] = quote(show and show(name) or name)
      out[#out + 1] = ":"
      put(out, value[key], show)
    end
    out[#out + 1] = #keys > 0 and "}" or "{}"
  elseif kind == "number" then
    out[#out + 1] = common.kind(value) == "integer" and integer(value) or float(value, "%.17g")
  elseif kind == "string" then
    out[#out + 1] = show and quote(show(value)) or text_of(value)
  else
    out[#out + 1] = value == nil and "null" or tostring(value)
  end
end

--- Converts any value to JSON, with keys in order. Tables with elements 1 to #t become lists. The
--- strings in a table with the metatable json.raw are concatenated as they are.
---@param value any
---@param show? fun(text: string): string Converts each string before it is written.
---@param ending? string Appended to the result.
---@return string
function json.write(value, show, ending)
  local out = {}
  put(out, value, show)
  out[#out + 1] = ending
  return table.concat(out)
end

json.list, json.raw = {}, {}

--- Makes any bytes readable: bytes that are not UTF-8 become escapes.
---@param text string
---@return string
function json.readable(text)
  return common.utf8_len(text) and text
    or (text:gsub("[\128-\255]", function(char) return ("\\x%02x"):format(char:byte()) end))
end

--- Parses a JSON text; nulls become json.null.
---@param text string
---@return any value nil, followed by a message, if it is malformed
function json.parse(text)
  local found, dkjson = pcall(require, "dkjson")
  if not found then
    error("ecs.json reads JSON through the package 'dkjson', which is not installed: luarocks "
      .. "install dkjson, or apt install lua-dkjson", 0)
  end
  local ok, value, at, message = pcall(dkjson.decode, text, 1, json.null, nil, nil)
  if not ok or message or value == nil then
    return nil, message or not ok and value or "it is empty"
  elseif text:find("%S", at) then
    return nil, "there is more text after the value"
  end
  return value
end

-- ---- values --------------------------------------------------------------------------------

local value_of, fields_of

-- Converts a value of a field's type to JSON.
function value_of(state, value, type, where)
  local inner = type:match "^(.*)%[%d+%]$"
  if inner then
    local parts = {}
    for i = 1, #value do
      parts[i] = value_of(state, value[i], inner, where)
    end
    return "[" .. table.concat(parts, ",") .. "]"
  elseif type == "f32" or type == "f64" then
    return float(value, type == "f32" and "%.9g" or "%.17g")
  elseif INTEGERS[type] or type == "entity" then
    return integer(value, type == "u64")
  elseif type == "bool" then
    return tostring(value)
  elseif type == "string" or type:find "^enum" then
    return text_of(value)
  elseif type == "any" then
    if value == nil then
      return "null"
    elseif not state.codec then
      error(("%s: only a codec can write an any value: pass { codec = { encode = fn } }")
        :format(where), 0)
    end
    return '{"any":' .. text_of(state.codec.encode(value)) .. "}"
  end
  return fields_of(state, value, state.describe(type).fields, where)
end

function fields_of(state, value, fields, where)
  local parts = {}
  for _, field in ipairs(fields) do
    parts[#parts + 1] = quote(field.name) .. ":" ..
      value_of(state, value[field.name], field.type, where .. "." .. field.name)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- Returns a function that describes a component, and caches the descriptions.
function json.describer(world)
  local known = {}
  return function(name)
    known[name] = known[name] or world:describe(name)
    return known[name]
  end
end

local function encode_entity(state, entity)
  local world, parts, off, ties = state.world, {}, {}, {}
  for name, value in world:components(entity) do
    if type(name) == "string" then
      local about = state.describe(name)
      parts[#parts + 1] = quote(name) .. ":" .. (value == true and "true"
        or fields_of(state, value, about.fields, name))
      off[#off + 1] = about.toggle and not world:enabled(entity, name) and quote(name) or nil
    end
  end
  for _, name in ipairs(state.relations) do
    for target in world:targets(entity, name) do
      local fields = state.describe(name).fields
      ties[#ties + 1] = ('{"relation":%s,"target":%d%s}'):format(quote(name), target,
        #fields > 0 and ',"fields":' .. fields_of(state, world:read(entity, name, target), fields,
          name) or "")
    end
  end
  table.sort(parts)
  local name = world:name(entity)
  return ('{"id":%d%s,"components":{%s}%s%s}'):format(entity,
    name and ',"name":' .. text_of(name) or "", table.concat(parts, ","),
    #ties > 0 and ',"ties":[' .. table.concat(ties, ",") .. "]" or "",
    #off > 0 and ',"off":[' .. table.concat(off, ",") .. "]" or "")
end

-- Converts a query, a query's text, an id or a list of ids to a sorted list of ids.
local function entities_of(world, what)
  if type(what) == "number" then
    return { what }
  elseif type(what) == "table" then
    return table.move(what, 1, #what, 1, {})
  end
  local list = (type(what) == "userdata" and what or world:query(what or "")):ids()
  table.sort(list)
  return list
end

local function check_world(world, name)
  local open, other = native.is_open(world)
  if open == nil then
    local got = other or type(world)
    error(("bad argument #1 to '%s' (world expected, got %s)"):format(name, got), 3)
  end
end

--- Converts entities to JSON, in the order of their ids.
---@param world ecs.World
---@param what? ecs.Query|string|ecs.Id|ecs.Id[] A query or its text, an entity, or a list of them.
--- Default: all entities.
---@param options? { codec: { encode: fun(value: any): string } }
---@return string
function json.encode(world, what, options)
  check_world(world, "encode")
  local kind = common.kind(what) or type(what)
  if kind == "userdata" and not tostring(what):find "^ecs%.[qw][uh]" then
    kind = "another object"
  end
  if what ~= nil and not ({ string = 1, integer = 1, table = 1, userdata = 1 })[kind] then
    error(("bad argument #2 to 'encode' (query or entity expected, got %s)"):format(kind), 2)
  end
  local state = { world = world, describe = json.describer(world), relations = {},
    codec = type(options) == "table" and options.codec or nil }
  local names = world:describe().components
  table.sort(names)
  for _, name in ipairs(names) do
    local about = state.describe(name)
    state.relations[#state.relations + 1] = about.relation and not about.exclusive and name or nil
  end
  local parts = {}
  for i, entity in ipairs(entities_of(world, what)) do
    parts[i] = native.exact(world, encode_entity, state, entity)
  end
  return '{"entities":[\n' .. table.concat(parts, ",\n") .. "\n]}\n"
end

-- ---- decoding ------------------------------------------------------------------------------

local function bytes_from(value, where)
  if type(value) == "table" and type(value.base64) == "string" then
    return from_base64(value.base64)
  elseif type(value) ~= "string" then
    error(("%s: expected a string"):format(where), 0)
  end
  return value
end

local function number_from(value, where)
  local special = ({ nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge })[value]
  if special then
    return special
  elseif type(value) == "string" and value:find "^%-?%d+$" then
    local exact, sign = 0, value:sub(1, 1) == "-" and -1 or 1
    for digit in value:gmatch "%d" do
      exact = exact * 10 + sign * tonumber(digit)
    end
    return common.kind(exact) == "integer" and exact or value   -- native.exact accepts the text
  elseif type(value) ~= "number" then
    error(("%s: expected a number"):format(where), 0)
  end
  return value
end

-- Returns a JSON list; if it is absent, an empty one.
local function list_from(value, where)
  if value ~= nil and (type(value) ~= "table" or value == json.null
      or #value == 0 and next(value) ~= nil) then
    error(("%s: expected a list"):format(where), 0)
  end
  return value or {}
end

local function object_from(value, where, what)
  if type(value) ~= "table" or value == json.null then
    error(("%s: expected %s"):format(where, what), 0)
  end
  return value
end

-- Raises an error for an unknown key of an object.
local function check_keys(object, known, where)
  for key in next, object do
    if not known[key] then
      local names = {}
      for name in next, known do
        names[#names + 1] = name
      end
      table.sort(names)
      error(("%s: unknown key '%s' (known: %s)"):format(where, tostring(key),
        table.concat(names, ", ")), 0)
    end
  end
end

local from, fields_from

function from(state, value, type, where)
  local inner = type:match "^(.*)%[%d+%]$"
  if value == nil then
    return nil
  elseif inner then
    local list = {}
    for i = 1, #list_from(value, where) do
      list[i] = from(state, value[i], inner, where)
    end
    return list
  elseif type == "entity" then
    return state.entity(number_from(value, where), where)
  elseif type == "f32" or type == "f64" or INTEGERS[type] then
    return number_from(value, where)
  elseif type == "bool" then
    return value
  elseif type == "string" or type:find "^enum" then
    return bytes_from(value, where)
  elseif type == "any" then
    if value == json.null then
      return nil
    elseif not state.codec then
      error(("%s: only a codec can read an any value: pass { codec = { decode = fn } }")
        :format(where), 0)
    end
    return state.codec.decode(bytes_from(object_from(value, where, "an object").any, where))
  end
  return fields_from(state, value, state.describe(type).fields, where)
end

function fields_from(state, value, fields, where)
  object_from(value, where, "an object of fields")
  local out, known = {}, {}
  for _, field in ipairs(fields) do
    known[field.name] = true
    out[field.name] = from(state, value[field.name], field.type, where .. "." .. field.name)
  end
  for key in next, value do
    if not known[key] then
      error(("%s has no field '%s'"):format(where, tostring(key)), 0)
    end
  end
  return out
end

local function decode_component(state, entity, name, value)
  local world, about = state.world, state.describe(name)
  if value == true then
    return world:add(entity, name)
  end
  local values = fields_from(state, value, about.fields, name)
  if not about.relation then
    return world:set(entity, name, values)
  end
  local target = values.target or error(name .. ": expected a 'target'", 0)
  values.target = nil
  if target ~= 0 then
    world:add(entity, name, target)
    for key, part in next, values do
      world:set(entity, name .. "." .. key, part)
    end
  end
end

local function decode_tie(state, entity, tie)
  local world, relation = state.world, bytes_from(tie.relation, "ties: the relation")
  local target = state.entity(number_from(tie.target, relation .. ": the target"), relation)
  if target == 0 then
    return
  end
  world:add(entity, relation, target)
  local values = tie.fields == nil and {}
    or fields_from(state, tie.fields, state.describe(relation).fields, relation)
  for key, part in next, values do
    world:set(entity, relation .. "." .. key, target, part)
  end
end

local ENTITY_KEYS = { id = true, name = true, components = true, ties = true, off = true }
local TIE_KEYS = { relation = true, target = true, fields = true }

local function decode_entity(state, entity, given, only)
  check_keys(given, ENTITY_KEYS, "an entity")
  local components = given.components == nil and {}
    or object_from(given.components, "components", "an object of components")
  for name, value in next, components do
    if not only or only == name then
      decode_component(state, entity, name, value)
    end
  end
  for _, tie in ipairs(list_from(given.ties, "ties")) do
    check_keys(object_from(tie, "ties", "objects"), TIE_KEYS, "ties")
    if not only or only == tie.relation then
      decode_tie(state, entity, tie)
    end
  end
  for _, name in ipairs(list_from(given.off, "off")) do
    if not only or only == name then
      state.world:disable(entity, name)
    end
  end
end

--- Restores one component of an entity from a text that json.encode returned.
---@param world ecs.World
---@param entity ecs.Id
---@param text string
---@param name string The component. For a relation, all its ties are restored.
function json.restore(world, entity, text, name)
  local state = { world = world, describe = json.describer(world) }
  function state.entity(id)
    return world:alive(id) and id or 0
  end
  native.exact(world, decode_entity, state, entity, assert(json.parse(text)).entities[1], name)
end

local function without_place(problem)
  return common.without_place(problem, "ecs.json")
end

-- Calls a function. Its errors begin with the id that an entity has in the text.
local function about_entity(id, fn, ...)
  local ok, problem, kind = native.try(fn, ...)
  if not ok then
    local is_text = type(problem) == "string" and not kind
    error(is_text and ("entity %d: %s"):format(id, without_place(problem)) or problem, 0)
  end
end

-- The first pass: every entity gets a new id.
local function spawn_all(world, list, ids)
  for _, given in ipairs(list_from(list, "entities")) do
    if type(given) ~= "table" or common.kind(given.id) ~= "integer" then
      error("each of 'entities' must be an object with an integer 'id'", 0)
    elseif ids[given.id] then
      error(("the id %d occurs twice"):format(given.id), 0)
    end
    ids[given.id] = world:spawn()
  end
end

-- The second pass: the entities get their components, and then their names.
local function decode_all(state, list, ids)
  local world = state.world
  for _, given in ipairs(list) do
    about_entity(given.id, native.exact, world, decode_entity, state, ids[given.id], given)
  end
  for _, given in ipairs(list) do
    if given.name ~= nil then
      about_entity(given.id, function()
        world:name(ids[given.id], bytes_from(given.name, "name"))
      end)
    end
  end
end

--- Spawns the entities of a text: all of them or, if an error occurs, none. In an open scope, what
--- cannot be applied when it ends is dropped, like other deferred changes.
---@param world ecs.World
---@param text string A result of json.encode.
---@param options? { codec: { decode: fun(bytes: string): any } }
---@return table<ecs.Id, ecs.Id> ids From ids in the text to new ones.
---@return string[] missing References to entities outside the text. They became ecs.null.
function json.decode(world, text, options)
  check_world(world, "decode")
  if type(text) ~= "string" then
    error(("bad argument #2 to 'decode' (string expected, got %s)"):format(type(text)), 2)
  end
  local value, message = json.parse(text)
  if type(value) ~= "table" or type(value.entities) ~= "table" then
    error("ecs.json.decode: " .. (message or "expected an object with a list 'entities'"), 2)
  end
  local ids, missing = {}, {}
  local state = { world = world, describe = json.describer(world),
    codec = type(options) == "table" and options.codec or nil }
  local outside = type(options) == "table" and options.outside    -- keep references to living ones
  function state.entity(id, where)
    if outside and not ids[id] and world:alive(id) then
      return id
    elseif id ~= 0 and not ids[id] then
      missing[#missing + 1] = ("%s: %s"):format(where, tostring(id))
    end
    return ids[id] or 0
  end
  world:defer()
  local ok, problem = native.try(function()
    spawn_all(world, value.entities, ids)
    decode_all(state, value.entities, ids)
    native.whole(world)
  end)
  if ok then
    ok, problem = native.try(world.commit, world)
  end
  if not ok then
    -- A commit that was refused has ended the scope; one that lacked memory has not.
    pcall(world.cancel, world)
    error(type(problem) == "string" and "ecs.json.decode: " .. without_place(problem) or problem, 0)
  end
  return ids, missing
end

return json
