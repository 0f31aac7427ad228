-- Random declarations of components, at and near the limits of what can be declared.

local random = require "spec.support.rng"

local schema_gen = {}

local NUMBERS = { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" }
local OTHERS = { "bool", "entity", "string" }
local NAME_BYTES = { 1, 2, 7, 30, 62, 63 }
local TEXT_BYTES = { 0, 1, 100, 4095, 4096, 4097, 65535 }
local ENUM_NAMES = { 1, 2, 8, 9, 100, 255, 256, 257, 500, 2000 }

-- What a number prints as in an alphabet of letters, filled up to a size: distinct for distinct
-- numbers, if the size allows.
local function word(number, size)
  local letters = {}
  repeat
    letters[#letters + 1] = string.char(97 + number % 26)
    number = number // 26
  until number == 0
  local text = table.concat(letters)
  return text .. ("_"):rep(size - #text)
end

schema_gen.word = word

-- Names of an enum.
function schema_gen.names(count, size)
  local names = {}
  for i = 1, count do
    names[i] = word(i, size)
  end
  return names
end

function schema_gen.enum(count, size)
  return ("enum(%s)"):format(table.concat(schema_gen.names(count, size), ", "))
end

local function text_of(rng, most)
  local size = math.min(rng:pick(TEXT_BYTES), most)
  return ("a text, \0 and é; "):gsub("%z", ""):rep(size // 10 + 1):sub(1, size)
end

-- A scalar type and a default for it, or none.
local function scalar(rng)
  local choice = rng:int(10)
  if choice <= 5 then
    return rng:pick(NUMBERS), rng:chance(40) and tostring(rng:range(0, 100))
  elseif choice <= 7 then
    local count = rng:pick(ENUM_NAMES)
    local size = rng:pick(NAME_BYTES)
    return schema_gen.enum(count, size), rng:chance(50) and word(rng:int(count), size)
  end
  local name = rng:pick(OTHERS)
  local default = name == "string" and '"' .. word(rng:int(1000), 20) .. '"' or
    name == "bool" and "true"
  return name, rng:chance(50) and default
end

local function add_hints(rng, field)
  for _, key in ipairs { "doc", "unit", "min", "max" } do
    if rng:chance(20) then
      field[key] = text_of(rng, 65535)
    end
  end
  return field
end

-- A field; nested components and arrays as far as `room` leaves allow. Returns how many it has.
local function field_of(rng, name, inner, room)
  local kind, default = scalar(rng)
  local leaves = 1
  if #inner > 0 and rng:chance(25) then
    local nested = rng:pick(inner)
    if nested.leaves <= room and nested.depth < 6 then
      kind, default, leaves = nested.name, nil, nested.leaves
      inner.depth = math.max(inner.depth, nested.depth + 1)
    end
  end
  if rng:chance(25) then
    local count = math.min(rng:pick { 1, 2, 5, 100, 1024 }, room // leaves)
    kind, leaves = ("%s[%d]"):format(kind, count), leaves * count
  end
  return add_hints(rng, { ("%s: %s%s"):format(name, kind, default and " = " .. default or "") }),
    leaves
end

-- Some of a list of components require some that come before them.
local function require_others(rng, list)
  local names = {}
  for i, component in ipairs(list) do
    if i > 1 and rng:chance(40) then
      component.fields.requires = rng:sample(names, rng:int(3))
    end
    names[i] = component.name
  end
end

-- A list of { name, fields, leaves, depth }; later ones are made of earlier ones, and require
-- some of them.
function schema_gen.generate(seed)
  local rng, list = random.new(seed), { depth = 0 }
  for number = 1, rng:range(1, 8) do
    local fields, leaves = { doc = rng:chance(30) and text_of(rng, 65535) or nil }, 0
    list.depth = 0
    for i = 1, rng:pick { 0, 1, 3, 10, 200 } do
      local field, more = field_of(rng, word(i, rng:pick(NAME_BYTES)), list, 4096 - leaves)
      fields[#fields + 1], leaves = field, leaves + more
      if leaves >= 3000 then break end
    end
    list[#list + 1] = { name = "C" .. word(number, rng:pick { 1, 10, 62 }), fields = fields,
      leaves = leaves, depth = list.depth }
    -- Tags are no fields.
    if leaves == 0 then
      list.tags = list.tags or {}
      list.tags[#list.tags + 1] = table.remove(list)
    end
  end
  local all = list.tags or {}
  table.move(list, 1, #list, #all + 1, all)
  require_others(rng, all)
  return all, rng
end

return schema_gen
