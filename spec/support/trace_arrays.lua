-- Steps about arrays: their operations, and how often each is drawn.

local gen = require "spec.support.trace_gen"
local kinds = require "spec.support.trace_kinds"
local model = require "spec.support.model_arrays"
local ops = require "spec.support.trace_ops"

local list = ops.list

-- ---- operations --------------------------------------------------------------------------

function list.array(ctx, name, type, n)
  return #ctx.world:array(name, type, n)
end

function list.array_get(ctx, name, ...)
  local array, values = ctx.world:array(name), {}
  for i = 1, select("#", ...) do
    local value = array[(select(i, ...))]
    values[i] = value == nil and "nil" or value
  end
  return table.unpack(values)
end

function list.array_set(ctx, name, at, value)
  ctx.world:array(name)[at] = value
end

function list.array_fill(ctx, name, value)
  ctx.world:array(name):fill(value)
end

function list.array_copy(ctx, name, from)
  ctx.world:array(name):copy(ctx.world:array(from))
end

function list.array_write(ctx, name, ...)
  ctx.world:array(name):write { ... }
end

function list.array_read(ctx, name)
  return table.unpack(ctx.world:array(name):read())
end

-- ---- steps -------------------------------------------------------------------------------

local NUMBERS = { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool" }
local KEYS = { 0, -1, 1.5, 0 / 0, math.huge, 14, math.mininteger, 2.0, 2.0 ^ 53 }
local VALUES = { 0, 1, 2, 3, 100, 200, -1, -200, 70000, 0.5, 1.25, true, false, 2.0 ^ 31, "text" }

local function name_of(self)
  return self.rng:pick(model.ARRAYS)
end

-- "Held" has entities mostly, the others never.
local function value_of(self, name)
  if name == "Held" and self.rng:chance(85) then
    return self.rng:chance(80) and self:reference() or 0
  end
  return self.rng:chance(60) and self.rng:int(9) or self.rng:pick(VALUES)
end

local function key_of(self)
  return self.rng:chance(15) and self.rng:pick(KEYS) or self.rng:int(12)
end

local function declare(self)
  local name, n = name_of(self), self.rng:int(12)
  local type = name == "Held" and self.rng:chance(90) and "entity" or self.rng:pick(NUMBERS)
  return { "array", name, type, n }
end

local function get(self)
  return { "array_get", name_of(self), key_of(self), key_of(self), key_of(self) }
end

local function set(self)
  local name = name_of(self)
  return { "array_set", name, key_of(self), value_of(self, name) }
end

local function fill(self)
  local name = name_of(self)
  return { "array_fill", name, value_of(self, name) }
end

local function write(self)
  local name = name_of(self)
  local step = { "array_write", name }
  for i = 1, self.rng:int(6) do
    step[i + 2] = value_of(self, name) or 0
  end
  return step
end

local function copy(self)
  return { "array_copy", name_of(self), name_of(self) }
end

local function read(self)
  return { "array_read", name_of(self) }
end

local function undeclare(self)
  return { "undeclare", name_of(self) }
end

for _, kind in ipairs {
  { 6, declare }, { 4, get }, { 10, set }, { 2, fill }, { 3, write }, { 2, read },
  { 2, copy }, { 1, undeclare },
} do
  kinds[#kinds + 1] = kind
end
for _, list_of_kinds in ipairs { gen.row_kinds, gen.plain_kinds } do
  list_of_kinds[#list_of_kinds + 1] = { 2, set }
  list_of_kinds[#list_of_kinds + 1] = { 1, get }
  list_of_kinds[#list_of_kinds + 1] = { 1, declare }
end

return kinds
