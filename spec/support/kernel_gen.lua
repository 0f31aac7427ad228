--- Random functions, each written twice: as a kernel, and as the same function with every f32
--- step rounded by a helper, which run as plain Lua gives what the kernel must give.
local random = require "spec.support.rng"

local M = {}

local ordered = os.getenv "ECS_KERNELS" == "ordered"

--- One f32 step. Where all is done in the order of rows, kernels compute f32 fields as Lua does.
function M.round(x)
  if ordered then return x end
  return (string.unpack("<f", string.pack("<f", x)))
end

--- An integer of the script beside f32: an integer still, if f32 can hold it.
function M.integer(x)
  local y = M.round(x)
  return y == x and x or y
end

--- The fields that functions read and write.
M.schema = {
  A = { "x: f32", "y: f32", "z: f64" },
  B = { "n: i32", "m: u8", "k: i64", "u: u64", "on: bool" },
  T = {},
}
M.query = "A, B, T?"

local readable = {
  { "a.x", "f32" }, { "a.y", "f32" }, { "a.z", "f64" },
  { "b.n", "i64" }, { "b.m", "i64" }, { "b.k", "i64" }, { "b.u", "i64" },
}

local uniforms = { { "UI", "i64" }, { "UF", "f64" } }

local Gen = random.generator()

-- `constant`: what Lua's compiler knows; `mixed`: an integer in some rows, a float in others.
local function value(text, twin, kind, soft, constant, mixed)
  return { text = text, twin = twin, kind = kind, soft = soft or false, constant = constant,
    mixed = mixed }
end

function Gen:leaf()
  local choice = self.random:range(1, 10)
  if choice <= 5 then
    local field = self:pick(readable)
    return value(field[1], field[1], field[2])
  elseif choice == 6 and #self.variables > 0 then
    local variable = self:pick(self.variables)
    return value(variable[1], variable[1], variable[2], false, false, variable[3])
  elseif choice == 7 then
    local uniform = self:pick(uniforms)
    return value(uniform[1], uniform[1], uniform[2], true)
  elseif choice == 8 then
    local text = self:pick { "1", "2", "3", "7", "(-5)", "100" }
    return value(text, text, "i64", true, true)
  end
  local text = self:pick { "0.5", "0.1", "2.0", "(-3.25)", "1e10", "1.0" }
  return value(text, text, "f64", true, true)
end

-- What both operands become together: f32 beside f32 or a script number, else f64.
local function float_kind(x, y)
  local narrow = (x.kind == "f32" and (y.kind == "f32" or y.soft))
    or (y.kind == "f32" and x.soft)
  return narrow and "f32" or "f64"
end

local function operand(x, kind)
  if kind == "f32" and x.kind ~= "f32" then return "R(" .. x.twin .. ")" end
  return x.twin
end

local function rounded(kind, text)
  return kind == "f32" and "R(" .. text .. ")" or text
end

-- Whether an operator does the same with what x is in any row: y decides that it is a float's.
local function decided(x, y)
  return not x.mixed or (not y.mixed and y.kind ~= "i64")
end

function Gen:arithmetic(x, y)
  local soft, constant = x.soft and y.soft, x.constant and y.constant
  local op = self:pick { "+", "-", "*", "/", "+", "*", "^", "//", "%" }
  local integers = x.kind == "i64" and y.kind == "i64"
  if integers and (op == "//" or op == "%") then op = "+" end
  if not (decided(x, y) and decided(y, x)) then op = "/" end
  if integers and op ~= "/" and op ~= "^" then
    return value(("(%s %s %s)"):format(x.text, op, y.text),
      ("(%s %s %s)"):format(x.twin, op, y.twin), "i64", soft, constant)
  end
  local kind = float_kind(x, y)
  local twin = ("(%s %s %s)"):format(operand(x, kind), op, operand(y, kind))
  if op == "-" and kind == "f32" and y.constant and y.kind == "i64" then
    -- Lua adds the negated integer: -0.0 - 0 is 0.0
    twin = ("(%s + R(-%s))"):format(operand(x, kind), y.twin)
  end
  local text = ("(%s %s %s)"):format(x.text, op, y.text)
  return value(text, rounded(kind, twin), kind, soft, constant)
end

function Gen:division(x)
  if x.mixed then return x end
  local op = self:pick { "//", "%" }
  local by = self:pick { "3", "(-7)", "16" }
  local text = ("(%s %s %s)"):format(x.text, op, by)
  local twin = ("(%s %s %s)"):format(x.twin, op, by)
  return value(text, rounded(x.kind, twin), x.kind, x.soft, x.constant)
end

function Gen:bits(x, y)
  if x.kind ~= "i64" or y.kind ~= "i64" then return self:arithmetic(x, y) end
  local op = self:pick { "&", "|", "~", "<<", ">>" }
  local text = ("(%s %s %s)"):format(x.text, op, y.text)
  return value(text, ("(%s %s %s)"):format(x.twin, op, y.twin), "i64", x.soft and y.soft,
    x.constant and y.constant)
end

-- As operand, for what keeps an integer an integer.
local function kept(x, kind)
  if kind == "f32" and x.kind == "i64" then return "I(" .. x.twin .. ")" end
  return operand(x, kind)
end

-- The least or the greatest: a script's integer beside a float is either.
function Gen:extreme(name, x, y)
  local integers, kind = (x.kind == "i64" and 1 or 0) + (y.kind == "i64" and 1 or 0), "i64"
  local hard = (x.kind == "i64" and not x.soft) or (y.kind == "i64" and not y.soft)
  if integers == 1 and hard then y, integers = x, x.kind == "i64" and 2 or 0 end
  if integers < 2 then kind = float_kind(x, y) end
  return value(("math.%s(%s, %s)"):format(name, x.text, y.text),
    ("math.%s(%s, %s)"):format(name, kept(x, kind), kept(y, kind)), kind, x.soft and y.soft,
    false, x.mixed or y.mixed or integers == 1)
end

function Gen:help(x, y)
  if not (decided(x, y) and decided(y, x)) then return x end
  local text = ("help(%s, %s)"):format(x.text, y.text)
  local kind = x.kind == "i64" and y.kind == "i64" and "i64" or float_kind(x, y)
  if kind == "i64" then
    return value(text, ("help(%s, %s)"):format(x.twin, y.twin), "i64", x.soft and y.soft)
  end
  local twin = ("help(%s, %s)"):format(operand(x, kind), operand(y, kind))
  return value(text, rounded(kind, twin), kind, x.soft and y.soft)
end

-- Functions of two floats. The logarithm of f32 is taken in f64: its base is not rounded.
function Gen:two(name, x, y)
  if name == "fmod" and (x.mixed or y.mixed or (x.kind == "i64" and y.kind == "i64")) then
    name = "atan"
  end
  local kind, text = float_kind(x, y), ("math.%s(%s, %s)"):format(name, x.text, y.text)
  local to = name == "log" and "f64" or kind
  local twin = ("math.%s(%s, %s)"):format(name, operand(x, to), operand(y, to))
  return value(text, rounded(kind, twin), kind, x.soft and y.soft)
end

-- Of ecs.math: taken in f64.
function Gen:own(x, y)
  local name = self:pick { "acos", "asin", "cos", "exp", "log", "log10", "log2", "sin", "tan",
    "atan", "mod", "pow" }
  local two = name == "atan" or name == "mod" or name == "pow"
  local kind = two and float_kind(x, y) or x.kind == "f32" and "f32" or "f64"
  local form = two and "own.%s(%s, %s)" or "own.%s(%s)"
  local twin = form:format(name, operand(x, "f64"), operand(y, "f64"))
  return value(form:format(name, x.text, y.text), rounded(kind, twin), kind,
    x.soft and (y.soft or not two))
end

-- What math.modf gives, and floor and ceil where they give integers.
function Gen:parts(name, x)
  local text, twin = ("%s(%s)"):format(name, x.text), ("%s(%s)"):format(name, x.twin)
  if name == "floor" or name == "ceil" then return value(text, twin, "i64", x.soft) end
  if x.kind == "i64" then return value(text, twin, name == "part" and "i64" or "f64", x.soft) end
  return value(text, rounded(name == "frac" and x.kind, twin), x.kind, x.soft, false,
    name == "part")
end

function Gen:call(x, y)
  local name = self:pick { "sqrt", "abs", "min", "max", "min", "max", "help", "atan", "atan",
    "fmod", "log", "tan", "asin", "acos", "atan of one", "deg", "rad", "frac", "part", "floor",
    "ceil", "exp", "log of one", "sin", "cos", "own", "own", "own" }
  if name == "own" then return self:own(x, y) end
  if name == "help" then return self:help(x, y) end
  if name == "min" or name == "max" then return self:extreme(name, x, y) end
  if name == "atan" or name == "fmod" or name == "log" then return self:two(name, x, y) end
  if name == "frac" or name == "part" or name == "floor" or name == "ceil" then
    return self:parts(name, x)
  end
  -- Those of f32 are the library's own, which are not libm's.
  local own = name == "exp" or name == "log of one" or name == "sin" or name == "cos"
  if own and x.kind == "f32" then name = "tan" end
  name = name:match "^%a+"
  if name == "abs" and x.mixed then name = "sqrt" end
  local text = ("math.%s(%s)"):format(name, x.text)
  local twin = ("math.%s(%s)"):format(name, x.twin)
  if name == "abs" then return value(text, twin, x.kind, x.soft) end
  local kind = x.kind == "i64" and "f64" or x.kind
  return value(text, rounded(kind, twin), kind, x.soft)
end

-- A float or, in other rows, an integer of the script.
function Gen:either(kind)
  local condition, x = self:condition(1), self:hard(kind)
  local soft = self:pick { "0", "1", "(-2)", "UI" }
  local twin = kind == "f32" and "I(" .. soft .. ")" or soft
  return value(("(%s and %s or %s)"):format(condition.text, x.text, soft),
    ("(%s and %s or %s)"):format(condition.twin, x.twin, twin), kind, false, false, true)
end

function Gen:number(depth)
  if depth == 0 then return self:leaf() end
  local choice = self.random:range(1, 11)
  if choice == 11 then return self:either(self:pick { "f32", "f64" }) end
  local x = self:number(depth - 1)
  if choice <= 4 then return self:arithmetic(x, self:number(depth - 1)) end
  if choice == 5 then return self:division(x) end
  if choice == 6 then return self:bits(x, self:number(depth - 1)) end
  if choice == 7 and not x.mixed then
    return value("(-" .. x.text .. ")", "(-" .. x.twin .. ")", x.kind, x.soft, x.constant)
  end
  if choice == 8 then return self:call(x, self:number(depth - 1)) end
  if choice == 9 and not x.soft and not x.mixed then
    local condition = self:condition(1)
    local y = self:hard(x.kind)
    return value(("(%s and %s or %s)"):format(condition.text, x.text, y.text),
      ("(%s and %s or %s)"):format(condition.twin, x.twin, y.twin), x.kind)
  end
  return x
end

-- A value of that kind that is no script number.
function Gen:hard(kind)
  for _ = 1, 8 do
    local x = self:number(1)
    if x.kind == kind and not x.soft and not x.mixed then return x end
  end
  local field = ({ f32 = "a.x", f64 = "a.z", i64 = "b.n" })[kind]
  return value(field, field, kind)
end

function Gen:condition(depth)
  local choice = self.random:range(1, depth > 0 and 7 or 4)
  if choice == 1 then return value("b.on", "b.on", "bool") end
  if choice == 5 then
    local x = self:condition(depth - 1)
    return value("not " .. x.text, "not " .. x.twin, "bool")
  elseif choice == 7 then
    local x, y = self:hard "i64", self:hard "i64"
    return value(("math.ult(%s, %s)"):format(x.text, y.text),
      ("math.ult(%s, %s)"):format(x.twin, y.twin), "bool")
  elseif choice == 6 then
    local x, y = self:condition(depth - 1), self:condition(depth - 1)
    local op = self:pick { "and", "or" }
    return value(("(%s %s %s)"):format(x.text, op, y.text),
      ("(%s %s %s)"):format(x.twin, op, y.twin), "bool")
  end
  local x, y = self:number(1), self:number(1)
  local op = self:pick { "<", "<=", ">", ">=", "==", "~=" }
  return value(("(%s %s %s)"):format(x.text, op, y.text),
    ("(%s %s %s)"):format(x.twin, op, y.twin), "bool")
end

function Gen:line(text, twin)
  self.kernel[#self.kernel + 1] = text
  self.twin[#self.twin + 1] = twin or text
end

function Gen:store()
  local choice = self.random:range(1, 7)
  if choice <= 2 then
    local x = self:number(3)
    local field = self:pick { "a.x", "a.y" }
    self:line(field .. " = " .. x.text, field .. " = " .. x.twin)
  elseif choice == 3 then
    local x = self:number(3)
    self:line("a.z = " .. x.text, "a.z = " .. x.twin)
  elseif choice == 4 then
    local tag = self.random:range(1, 8) == 1 and self:pick { "t or false", "t ~= nil", "not t" }
    local x = tag and value(tag, tag) or self:condition(2)
    self:line("b.on = " .. x.text, "b.on = " .. x.twin)
  elseif choice == 7 then
    local x = self:hard "i64"
    self:line("b.u = " .. x.text, "b.u = " .. x.twin)
  else
    local x = self:hard "i64"
    local field, by = "b.n", "100000"
    if choice == 6 then field, by = "b.m", "200" end
    self:line(("%s = %s %% %s"):format(field, x.text, by),
      ("%s = %s %% %s"):format(field, x.twin, by))
  end
end

function Gen:declare()
  local kind = self:pick { "f32", "f64", "i64" }
  local x = self:hard(kind)
  self.names = self.names + 1
  local name = "v" .. self.names
  self:line(("local %s = %s"):format(name, x.text), ("local %s = %s"):format(name, x.twin))
  self.variables[#self.variables + 1] = { name, kind }
end

-- A variable that begins as an integer of the script and becomes a float in some rows.
function Gen:declare_either()
  local kind = self:pick { "f32", "f64" }
  local x = self:condition(1)
  self.names = self.names + 1
  local name = "v" .. self.names
  self:line(("local %s = 0"):format(name))
  self:line(("if %s then"):format(x.text), ("if %s then"):format(x.twin))
  local y = self:hard(kind)
  self:line(("%s = %s"):format(name, y.text), ("%s = %s"):format(name, y.twin))
  self:line "end"
  self.variables[#self.variables + 1] = { name, kind, true }
end

function Gen:assign()
  if #self.variables == 0 then return self:store() end
  local variable = self:pick(self.variables)
  local x = self:hard(variable[2])
  self:line(variable[1] .. " = " .. x.text, variable[1] .. " = " .. x.twin)
end

-- What is the same for all rows of a table: where it decides, a kernel has only one of two ways,
-- so that no integer of the script meets a float there.
local decided_by_table = { "t", "not t", "t ~= nil", "t == true" }

function Gen:branch(depth)
  local tag = self.random:range(1, 8) == 1 and self:pick(decided_by_table)
  local x = tag and value(tag, tag) or self:condition(2)
  self:line(("if %s then"):format(x.text), ("if %s then"):format(x.twin))
  self:block(depth - 1)
  if self.random:range(1, 2) == 1 then
    self:line "else"
    self:block(depth - 1)
  end
  self:line "end"
end

function Gen:loop(depth)
  self:line(self:pick { "for i = 1, 3 do", "for i = 5, 1, -2 do", "for i = 1, 0 do" })
  self:block(depth - 1)
  if self.random:range(1, 3) == 1 then
    local x = self:condition(1)
    self:line(("if %s then break end"):format(x.text), ("if %s then break end"):format(x.twin))
    self:store()
  end
  self:line "end"
end

function Gen:statement(depth)
  local choice = self.random:range(1, 13)
  if choice <= 5 then return self:store() end
  if choice == 13 then return self:declare_either() end
  if choice <= 7 then return self:declare() end
  if choice == 8 then return self:assign() end
  if depth == 0 then return self:store() end
  if choice <= 10 then return self:branch(depth) end
  if choice == 11 then return self:loop(depth) end
  local x = self:condition(1)
  self:line(("if %s then return end"):format(x.text),
    ("if %s then return end"):format(x.twin))
end

local frame = [[
local R, UI, UF, I = ...
local own = require("ecs").math
local function help(x, y)
  if x == y then return x - y end
  return x - y
end
local function frac(x)
  local _, f = math.modf(x)
  return f
end
local function part(x)
  local whole = math.modf(x)
  return whole
end
local function floor(x)
  if x > -1e6 and x < 1e6 then return math.floor(x) end
  return 0
end
local function ceil(x)
  if x > -1e6 and x < 1e6 then return math.ceil(x) end
  return 0
end
return function(a, b, t, dt, e)
%s
end
]]

--- The texts of a kernel and of its twin.
function M.generate(seed)
  local gen = setmetatable({ random = random.new(seed), variables = {}, names = 0,
    kernel = {}, twin = {} }, Gen)
  for _ = 1, gen.random:range(2, 6) do gen:statement(2) end
  return frame:format(table.concat(gen.kernel, "\n")),
    frame:format(table.concat(gen.twin, "\n"))
end

local floats = { 0.0, -0.0, 1.0, -1.5, 3.4e38, 1e-40, 1 / 0, -1 / 0, 0 / 0, 12345.678,
  0.1, 16777216.0, 16777218.0 }
local integers = { 0, 1, -1, 7, -13, 100, 2147483647, -2147483648 }

local function float(generator)
  if generator:range(1, 3) == 1 then return floats[generator:range(1, #floats)] end
  return generator:range(-100000, 100000) / 64
end

--- One entity's components.
function M.row(generator)
  return {
    A = { x = M.round(float(generator)), y = M.round(float(generator)), z = float(generator) },
    B = {
      n = integers[generator:range(1, #integers)], m = generator:range(0, 255),
      k = generator:range(1, 4) == 1 and math.mininteger or generator:range(-1000, 1000),
      u = ~generator:range(0, 1000) >> generator:range(0, 1) * generator:range(1, 60),
      on = generator:range(0, 1) == 1,
    },
    T = generator:range(1, 3) == 1 or nil,
  }
end

--- All fields of all rows as bytes; every NaN is the same.
function M.bytes(query)
  local out = {}
  for a, b in query:each() do
    local x = { a.x, a.y, a.z }
    for i = 1, 3 do
      out[#out + 1] = x[i] ~= x[i] and "nan" or string.pack("<d", x[i])
    end
    out[#out + 1] = string.pack("<i8i8i8i8B", b.n, b.m, b.k, b.u, b.on and 1 or 0)
  end
  return table.concat(out)
end

return M
