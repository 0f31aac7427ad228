-- Random values, schemas and query texts for traces.

local toggles = require "spec.support.model_toggles"
local types = require "spec.support.model_types"

local values = {}

local PALETTE = {
  { "Position", { "x: f32", "y: f32" } },
  { "Velocity", { "x: f32 = 1.5", "y: f32 = -0.25" } },
  { "Health", { "hp: i32 = 100", "max: u8 = 200" } },
  { "Frozen", {} },
  { "Team", {} },
  { "Wide", { "a: i64 = -1", "b: f64 = 0.5", "c: u32", "d: u16 = 65535", "e: i8", "f: i16",
    "g: u64 = 0x8000000000000000" } },
  { "Flags", { "on: bool = true", "off: bool" } },
  { "Link", { "to: entity", "weight: f32 = 2" } },
  { "Label", { "text: string = unsaid", "note: string" } },
  { "Box", { "size: i16 = 3", "value: any" } },
  { "State", { "mode: enum(idle, run, dead) = run", "last: enum(up, down)" } },
  { "Grid", { "m: f32[4]", "k: u8[3]" } },
  { "Body", { "offset: Position", "mass: f64 = 1", "words: string[2]" } },
  { "Crew", { "who: entity[3]", "held: any[2]" } },
  { "Dead", {} },
}
values.PALETTE = PALETTE

-- Lua values for `any` fields, shared by the worlds of a run (@any1 ...).
function values.shared()
  return { { 1 }, { two = 2 }, print, coroutine.create(print), io.stdout, "text", 7, 0.5, true }
end

local SCALARS = { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool",
  "entity", "string", "any", "enum(a, b, c)" }

local DEFAULTS = {
  f32 = { "0.1", "-7" }, f64 = { "1e300" }, i8 = { "-128" }, i32 = { "12" }, i64 = { "-1" },
  u8 = { "255" }, u32 = { "4294967295" }, u64 = { "0xFFFFFFFFFFFFFFFF" }, bool = { "true" },
  string = { "'a b'", "word", '""' },
  ["enum(a, b, c)"] = { "b", '"c"' },
}

-- Whether a field's type, as world:describe tells it, is that of one value.
function values.is_scalar(text)
  for _, name in ipairs(SCALARS) do
    if name == text then
      return true
    end
  end
  return text:find "^enum%(" ~= nil
end

-- A schema of up to six fields of any type.
function values.schema(rng)
  local fields = {}
  for i = 1, rng:int(6) do
    local kind = rng:pick(SCALARS)
    local defaults = DEFAULTS[kind]
    if rng:chance(20) then
      kind = ("%s[%d]"):format(kind, rng:int(4))
    elseif defaults and rng:chance(50) then
      kind = kind .. " = " .. rng:pick(defaults)
    end
    fields[i] = ("f%d: %s"):format(i, kind)
  end
  return fields
end

-- ---- values ----------------------------------------------------------------------------

local FLOATS = { 0, 1, -1, 0.5, -0.0, 1e-3, 0.1, 16777217, 1e30, -2.5e-40, math.huge, -math.huge,
  0 / 0, 3 }
local STRINGS = { "", "a", "none", "two words", "zero\0byte", "\xC3\xA9", ("long "):rep(60) }
local WRONG = { "text", 1.5, true, "@nil", "@any1", -1, 1e300, 0 / 0, "@any3" }

local makers = {}

local function float(gen)
  return gen.rng:chance(50) and gen.rng:range(-4000, 4000) / 8 or gen.rng:pick(FLOATS)
end
makers.f32, makers.f64 = float, float

-- Mostly in range, its ends and their neighbours included; at times as a float.
local function integer(gen, kind)
  local rng = gen.rng
  local value = rng:range(0, 100)
  if rng:chance(20) then
    value = rng:chance(50) and kind.low or kind.high
    if rng:chance(10) then
      value = value + rng:pick { -1, 1 }
    end
  end
  return rng:chance(10) and value + 0.0 or value
end
for _, name in ipairs { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" } do
  makers[name] = integer
end

function makers.bool(gen)
  return gen.rng:chance(50)
end

-- Enough of long ones that worlds sweep their strings.
function makers.string(gen)
  local rng = gen.rng
  if rng:chance(40) then
    return "@text" .. rng:int(5000)
  end
  return rng:chance(60) and "s" .. rng:int(5000) or rng:pick(STRINGS)
end

function makers.any(gen)
  return "@any" .. gen.rng:int(9)
end

function makers.enum(gen, kind)
  return gen.rng:chance(99) and gen.rng:pick(kind.names) or "nobody"
end

function makers.entity(gen)
  local rng = gen.rng
  if rng:chance(20) then
    return "@null"
  end
  return gen:reference() or "@null"
end

-- A value for a field type, once in a while a wrong one.
function values.scalar(gen, kind)
  if gen.rng:int(150) == 1 then
    return gen.rng:pick(WRONG)
  end
  return makers[kind.name](gen, kind)
end

function values.of(gen, kind)
  if kind.kind == "scalar" then
    return values.scalar(gen, kind)
  end
  local value = {}
  if kind.kind == "array" then
    for i = 1, kind.n do
      if gen.rng:chance(80) then
        value[i] = values.of(gen, kind.of)
      end
    end
  else
    for _, field in ipairs(kind.fields) do
      if gen.rng:chance(60) then
        value[field.name] = values.of(gen, field.type)
      end
    end
  end
  return value
end

-- A spawn's value for a component: a table, or true.
function values.component(gen, component)
  if #component.fields == 0 or gen.rng:chance(15) then
    return true
  elseif gen.rng:chance(15) then
    return values.positional(gen, component)
  end
  return values.of(gen, component)
end

-- Values for the first fields of a component, in order.
function values.positional(gen, component)
  local list = {}
  for i = 1, gen.rng:int(#component.fields) do
    list[i] = values.of(gen, component.fields[i].type)
  end
  return list
end

-- ---- paths and queries -----------------------------------------------------------------

-- A leaf of a component: its path ("Grid.m[2]"), type and keys ({ "m", 2 }); nil for a tag.
function values.leaf(gen, component)
  local paths = component.paths
  if not paths then
    paths = {}
    types.leaves(component, function(path, kind)
      local keys = types.leaf(component, path)
      paths[#paths + 1] = { component.name .. "." .. path, kind, keys }
    end)
    component.paths = paths
  end
  local chosen = gen.rng:pick(paths)
  if chosen then
    return table.unpack(chosen)
  end
end

-- Of a toggle at times what asks for those who have it off, too.
local function term(gen, component)
  local rng, name = gen.rng, component.name
  if component.toggle and rng:chance(30) then
    name = name .. rng:pick { ":off", ":off", ":any", " : any" }
  end
  local roll = rng:int(100)
  if roll <= 15 then
    return "!" .. name
  elseif roll <= 25 then
    return name .. rng:pick { "?", "?", "?:in", ":in?", " : in ?" }
  elseif roll <= 35 then
    return name .. "|" .. gen:component().name
  elseif roll <= 39 and #component.fields > 0 then
    return name .. ":in"
  elseif roll <= 46 then
    return "with " .. name .. rng:pick { "", "", ":in", "|" .. gen:component().name }
  elseif roll <= 53 then
    return (values.leaf(gen, component)) or name .. "?"
  elseif roll <= 54 then
    local malformed = { "with X?", "!X?", "X??", "X:in:in", "X?|X", "with !X", "!X:in" }
    return (rng:pick(malformed):gsub("X", name))
  end
  return name
end

-- A query's text of one to four terms.
function values.query(gen)
  local chosen = gen.rng:sample(gen:components(), gen.rng:int(3))
  local terms = {}
  for i, component in ipairs(chosen) do
    terms[i] = term(gen, component)
  end
  if gen.rng:chance(1) then
    return gen.rng:chance(50) and "Nowhere" or ""
  end
  return table.concat(terms, ", ")
end

-- A query for q:map: single fields, tags, filters and negations.
function values.map_query(gen)
  local rng, terms = gen.rng, {}
  for i, component in ipairs(rng:sample(gen:components(), rng:int(3))) do
    local path = values.leaf(gen, component)
    if path and rng:chance(80) then
      terms[i] = path .. (rng:chance(15) and "?" or "")
    else
      terms[i] = path and rng:pick { "!%s", "with %s" }:format(component.name)
        or component.name .. (rng:chance(50) and "?" or "")
    end
  end
  return #terms > 0 and table.concat(terms, ", ") or "Nowhere"
end

-- Whether a query that a text stands for, by names of then, has what can be switched off.
function values.has_toggles(gen, text)
  local known = gen.ctx.queries[text]
  local ok, query = known, known
  if not known then
    ok, query = pcall(gen.world.query, gen.world, text)
  end
  return ok and toggles.has_toggles(query)
end

return values
