--- Random functions over f64 and integer fields: there a kernel rounds nothing, so that the
--- function itself, run as plain Lua, is what it must equal to the bit. They use everything
--- that compiles, by way of whatever a program reaches it by, and much that does not: what is
--- refused runs as plain Lua and is counted.
local random = require "spec.support.rng"

local M = {}

M.query = "A, B, M?"
M.forms = { "system", "system", "run", "where", "sum", "min", "max", "map" }

local Gen = random.generator()

-- A variable of that kind, or nil.
function Gen:variable(kind)
  local fitting = {}
  for _, variable in ipairs(self.variables) do
    if variable[2] == kind then fitting[#fitting + 1] = variable[1] end
  end
  return #fitting > 0 and self:pick(fitting) or nil
end

local leaves = {
  float = { "a.z", "a.w", "a.z", "a.w", "UF", "config.f", "gust.f", "world:res('Wind').f",
    "a.at.v", "a.m[2]", "0.5",
    "(-3.25)", "2.0", "0.0", "(-0.0)", "1e300", "math.pi", "math.huge", "dt", "config.deep.f",
    "config.list[2]" },
  int = { "b.n", "b.m", "b.k", "b.u", "UI", "config.n", "gust.n", "gust.u", "0", "1", "2", "(-7)",
    "63", "math.maxinteger", "math.mininteger", "(e & 255)",
    "config.deep.n", "#config.list", "config.list[1]", "#a.m", "#'text'", "config.list[3.0]" },
  bool = { "b.on", "config.flag", "gust.on", "true", "(b.kind == 'red')", "(b.kind ~= 'blue')",
    "(b.target == e)", "(b.target == 0)", "(m or false)", "(m == nil)",
    "world:has(e, 'C')", "world:has(e, config.what)", "world:has(e, tag)", "world:has(e, 'B')" },
}

-- What outside values may be compared and tested.
local outside = { "config.t", "config.u", "config.t", "config.deep.t", "config.deep",
  "config.missing", "config.late", "f1", "f2", "config.fn", "math.floor", "math.sin", "gust",
  "breeze", "config.gust", "world", "a", "b", "a.at", "a.m", "'text'", "name", "1", "UI", "nil",
  "config.flag", "config.eq", "config.eq2", "b.on", "a.z", "m", "m" }

function Gen:same()
  return ("(%s %s %s)"):format(self:pick(outside), self:pick { "==", "~=" }, self:pick(outside))
end

local names = {
  one = { "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "deg", "rad",
    "abs" },
  two = { "atan", "fmod", "log", "min", "max" },
  own_one = { "exp", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan" },
  own_two = { "atan", "mod", "pow" },
}

function Gen:any(depth)
  return self:number(self:pick { "float", "float", "int", "mixed" }, depth)
end

local function call(name, ...)
  return ("math.%s(%s)"):format(name, table.concat({ ... }, ", "))
end

function Gen:float(depth)
  local x = self:number("float", depth - 1)
  local how = self.random:range(1, 12)
  if how <= 4 then
    local op = self:pick { "+", "-", "*", "/", "//", "%", "^" }
    local y = self:any(depth - 1)
    if self:chance(2) then x, y = y, x end
    return ("(%s %s %s)"):format(x, op, y)
  elseif how <= 6 then
    if self:chance(3) then return "own." .. self:pick(names.own_one) .. "(" .. x .. ")" end
    return call(self:pick(names.one), x)
  elseif how <= 8 then
    local y = self:number("float", depth - 1)
    if self:chance(3) then y = self:pick { "2", "10", "2.0", "10.0", "0.5", "UF", "3" } end
    if self:chance(3) then
      return ("own.%s(%s, %s)"):format(self:pick(names.own_two), x, y)
    end
    return call(self:pick(names.two), x, y)
  elseif how == 9 then
    return ("frac(%s)"):format(self:any(depth - 1))
  elseif how == 10 then
    return ("(%s and %s or %s)"):format(self:bool(1), x, self:number("float", depth - 1))
  elseif how == 11 then
    if self:chance(2) then return ("(-%s)"):format(self:any(depth - 1)) end
    return self:pick { "world:random(e)", "(b.k / 3)", "(b.n / config.n)" }
  end
  return ("help(%s, %s)"):format(x, self:number("float", depth - 1))
end

function Gen:int(depth)
  local x = self:number("int", depth - 1)
  local how = self.random:range(1, 12)
  if how <= 4 then
    local op = self:pick { "+", "-", "*", "&", "|", "~", "<<", ">>" }
    return ("(%s %s %s)"):format(x, op, self:number("int", depth - 1))
  elseif how == 5 then
    return ("(%s %s %s)"):format(x, self:pick { "//", "%" },
      self:pick { "3", "(-7)", "16", "(-1)", "(b.m + 1)", "math.mininteger" })
  elseif how == 6 then
    return call(self:pick { "min", "max" }, x, self:number("int", depth - 1))
  elseif how == 7 then
    return self:pick { "math.abs(%s)", "math.tointeger(%s)", "(-%s)", "(~%s)",
      "math.fmod(%s, 7)", "math.fmod(%s, -1)" }:format(x)
  elseif how == 8 then
    return ("whole(%s)"):format(self:any(depth - 1))
  elseif how == 9 then
    return ("(%s and %s or %s)"):format(self:bool(1), x, self:number("int", depth - 1))
  elseif how == 10 then
    local y = self:number("int", depth - 1)
    return ("(%s ~= 0 and %s %s %s or 0)"):format(y, x, self:pick { "//", "%" }, y)
  elseif how == 11 then
    return self:pick { "world:random(e, 6)", "world:random(e, -3, 3)" }
  end
  return ("help(%s, %s)"):format(x, self:number("int", depth - 1))
end

-- An integer on some ways and a float on others.
function Gen:mixed(depth)
  local soft = self:pick { "0", "1", "(-2)", "UI", "config.n", "9007199254740993",
    "math.maxinteger", "math.mininteger" }
  local x = self:number("float", depth - 1)
  local how = self.random:range(1, 7)
  if how == 7 then return call("abs", self:mixed(0)) end
  if how == 1 then return ("(%s and %s or %s)"):format(self:bool(1), x, soft) end
  if how == 2 then return ("(%s and %s or %s)"):format(self:bool(1), soft, x) end
  if how == 3 then return call(self:pick { "min", "max" }, x, soft) end
  if how == 4 then return call(self:pick { "min", "max" }, soft, x) end
  if how == 5 then return call("max", soft, self:pick { "UF", "config.f", "0.5" }) end
  return ("(math.modf(%s))"):format(x)
end

-- What a variable that may be nil is, with something instead of nil.
function Gen:instead(kind)
  local variable = self:variable("nil or " .. kind)
  return variable and ("(%s or %s)"):format(variable, self:pick(leaves[kind]))
end

function Gen:number(kind, depth)
  if kind ~= "mixed" and self:chance(5) then
    local instead = self:instead(kind)
    if instead then return instead end
  end
  if depth > 0 and not self:chance(4) then return self[kind](self, depth) end
  local variable = self:chance(3) and self:variable(kind)
  if variable then return variable end
  return self:pick(leaves[kind == "mixed" and "int" or kind])
end

-- A name of the enumeration, or now and then another text, by row.
function Gen:text(depth)
  local name = self:pick { "'red'", "'green'", "'blue'", "b.kind", "one(b.on)" }
  if depth == 0 or self:chance(2) then return name end
  return ("(%s and %s or %s)"):format(self:bool(1), name, self:text(depth - 1))
end

-- A question about a variable that may be nil, if there is one.
function Gen:absence()
  local variable = self:variable "nil or float" or self:variable "nil or int"
  if not variable then return self:pick(leaves.bool) end
  return self:pick { "(%s == nil)", "(not %s)", "(%s ~= nil)", "(%s == 1)", "(%s ~= 0.5)",
    "(%s and true or false)" }:format(variable)
end

function Gen:bool(depth)
  if self:chance(9) then return self:absence() end
  local how = self.random:range(1, depth > 0 and 13 or 5)
  if how <= 2 then return self:pick(leaves.bool) end
  if how <= 5 then
    return ("(%s %s %s)"):format(self:any(depth), self:pick { "<", "<=", ">", ">=", "==", "~=" },
      self:any(depth))
  elseif how <= 7 then
    return self:same()
  elseif how == 8 then
    return "(not " .. self:pick(outside) .. ")"
  elseif how == 9 then
    return ("(not %s)"):format(self:bool(depth - 1))
  elseif how == 10 then
    return ("(math.type(%s) == %s)"):format(self:any(1),
      self:pick { "'float'", "'integer'", "nil" })
  elseif how == 13 then
    return ("(%s %s %s)"):format(self:text(2), self:pick { "==", "~=" },
      self:pick { self:text(1), "'red'", "'other'", "name", "nil" })
  elseif how == 11 then
    return ("math.ult(%s, %s)"):format(self:number("int", 1), self:number("int", 1))
  end
  return ("(%s %s %s)"):format(self:bool(depth - 1), self:pick { "and", "or" },
    self:bool(depth - 1))
end

function Gen:line(text, ...)
  self.lines[#self.lines + 1] = text:format(...)
end

-- ---- statements ----

function Gen:store()
  local how = self.random:range(1, 10)
  if how <= 4 then
    self:line("%s = %s", self:pick { "a.z", "a.w", "a.at.v", "a.m[1]" }, self:any(3))
  elseif how == 5 then
    self:line("b.on = %s", self:bool(2))
  elseif how == 6 then
    self:line("b.n = %s %% 100000", self:number("int", 3))
  elseif how == 7 then
    self:line("b.m = %s %% 200", self:number("int", 2))
  elseif how == 8 then
    self:line("b.kind = %s", self:text(1))
  elseif how == 9 then
    local target = self:pick { "e", "0", "b.target", "null", "null" }
    if self:chance(3) then target = ("%s and %s or null"):format(self:bool(1), target) end
    self:line("b.target = %s", target)
  else
    self:line("%s = %s", self:pick { "b.k", "b.u" }, self:number("int", 3))
  end
end

function Gen:name()
  self.names = self.names + 1
  return "v" .. self.names
end

-- A variable that is nil on some ways.
function Gen:declare_nil()
  local kind, name = self:pick { "float", "int" }, self:name()
  self:line("local %s", name)
  self.variables[#self.variables + 1] = { name, "nil or " .. kind }
  if self:chance(2) then self:line("if %s then %s = %s end", self:bool(1), name,
    self:number(kind, 1)) end
end

function Gen:declare()
  if self:chance(4) then return self:declare_nil() end
  local kind, name = self:pick { "float", "int", "mixed" }, self:name()
  self:line("local %s = %s", name, self:number(kind, 2))
  self.variables[#self.variables + 1] = { name, kind }
end

function Gen:assign()
  if #self.variables == 0 then return self:store() end
  local variable = self:pick(self.variables)
  local some = variable[2]:match "^nil or (.*)"
  if some then
    return self:line("%s = %s", variable[1], self:chance(3) and "nil" or self:number(some, 2))
  end
  local kind = self:chance(8) and self:pick { "float", "int", "mixed" } or variable[2]
  self:line("%s = %s", variable[1], self:number(kind, 2))
end

function Gen:branch(depth)
  self:line("if %s then", self:chance(5) and self:pick(outside) or self:bool(2))
  self:block(depth - 1)
  if self:chance(3) then
    self:line("elseif %s then", self:bool(1))
    self:block(depth - 1)
  end
  if self:chance(2) then
    self:line "else"
    self:block(depth - 1)
  end
  self:line "end"
end

-- Bounds with few rounds, and with more than anybody waits for.
local short = { "1, 3", "5, 1, -2", "1, 0", "UI, UI + 2", "config.n + 2, config.n, -1",
  "math.maxinteger - 1, math.maxinteger", "math.mininteger + 1, math.mininteger, -1",
  "config.flag and 3 or config.n, 4", "math.maxinteger, math.mininteger", "1, 3.75", "1, 3.0",
  "UI, UI + 1.5", "2, config.f", "3, UF, -1", "0, -2.5, -1", "1, 0/0", "1, -math.huge",
  "config.n, config.n - 0.5, -1", "1, config.flag and 2.5 or 3" }
local long = { "0, math.maxinteger", "math.mininteger, math.maxinteger", "-1, math.maxinteger",
  "1, math.maxinteger", "math.mininteger, -1", "math.mininteger, 0", "1, math.maxinteger - UI",
  "0, 9223372036854775807", "-5, 9223372036854775807, 2", "1, math.huge", "0, -math.huge, -1",
  "1, 0/0, -1", "-3, UF + 1e300", "math.maxinteger - 1, 2.0 ^ 63" }

-- A loop whose bound is a script number that differs from way to way.
function Gen:joined_bound()
  local name = self:name()
  self:line("local %s = %s", name, self:pick { "3", "1", "config.small" })
  self:line("if %s then %s = %s end", self:pick { "config.flag", "gust.on", "UI > 0" }, name,
    self:pick { "config.small", "2", "4" })
  self:line("for i = %s, %s do", self:pick { "1", "config.small", name }, name)
end

function Gen:loop(depth)
  local count = self:chance(3) and self:name()
  if count then
    self:line("local %s = 0", count)
    self:line("for i = %s do", self:pick(long))
    self:line("%s = %s + 1", count, count)
  elseif self:chance(4) then
    self:joined_bound()
  else
    self:line("for i = %s do", self:pick(short))
  end
  if _VERSION ~= "Lua 5.4" then self:line "local i = i" end   -- statements assign to it
  self.loops = self.loops + 1
  local label = self:chance(3) and "next" .. self:name()
  self.variables[#self.variables + 1] = { "i", "int" }
  if label then self:line("if %s then goto %s end", self:bool(1), label) end
  self:line "do"
  self:block(depth - 1)
  if self:chance(3) then self:line("if %s then break end", self:bool(1)) end
  self:line "end"
  if label then self:line("::%s::", label) end
  if count then self:line("if %s >= %d then break end", count, self.random:range(1, 4)) end
  table.remove(self.variables)
  self.loops = self.loops - 1
  self:line "end"
end

local commands = { "world:add(e, 'C')", "world:remove(e, 'C')", "world:add(e, tag)",
  "world:remove(e, tag)", "world:add(e, config.id)", "world:remove(e, config.id)",
  "world:add(e, config.what)", "world:add(e, 'M')", "world:remove(e, config.what)",
  "world:despawn(e)" }

-- In a loop mostly the same one, as kernels do it.
function Gen:command()
  if self.form == "where" then return self:store() end
  local command = self.loops > 0 and not self:chance(8) and self.repeated or self:pick(commands)
  self.repeated = self.loops > 0 and command or nil
  self:line("if %s then %s end", self:bool(1), command)
end

function Gen:result()
  if self.form == "where" then return " " .. self:bool(2) end
  if self.form == "system" or self.form == "run" then return "" end
  return " " .. self:number(self.kind, 2)
end

function Gen:statement(depth)
  local how = self.random:range(1, 14)
  if how <= 5 then return self:store() end
  if how <= 7 then return self:declare() end
  if how == 8 then return self:assign() end
  if how == 9 then return self:command() end
  if depth == 0 then return self:store() end
  if how <= 11 then return self:branch(depth) end
  if how <= 13 then return self:loop(depth) end
  self:line("if %s then return%s end", self:bool(1), self:result())
end

local frame = [[
local world, config, gust, breeze, tag, name, UI, UF = ...
local own = require("ecs").math
local function help(x, y)
  if x == y then return x - y end
  return x - y
end
local function frac(x)
  local _, f = math.modf(x)
  return f
end
local function whole(x)
  if x > -1e9 and x < 1e9 then return math.floor(x) end
  return 0
end
local null = 0
local function one(x)
  if x then return "red" end
  return "blue"
end
local function f1(x) return x end
local function f2(x) return x end
config.fn, config.fn2 = config.fn or f1, f2
local function body(a, b, m, %s)
%s
end
return body, function(i, f) UI, UF = i, f end
]]

-- Fields in, fields out.
local mapping = [[
local world, config, gust, breeze, tag, name, UI, UF = ...
local own = require("ecs").math
local function body(z, w, n, m, dt, e)
  if z < UF then return %s, %s, %s end
  return %s, %s, %s
end
return body, function(i, f) UI, UF = i, f end
]]

--- The text of a function, and the form that it is for.
function M.generate(seed)
  local gen = setmetatable({ random = random.new(seed), variables = {}, names = 0, lines = {},
    loops = 0 }, Gen)
  gen.form = gen:pick(M.forms)
  gen.kind = gen:pick { "float", "int", "float", "mixed" }
  if gen.form == "map" then
    local floats = { "z * 2 - w", "w // 0.25", "n / 3", "nil", "UF - z", "z ^ 2",
      "m and z or w", "not m and 0.5 or nil", "w * dt", "n // 0.5" }
    local integers = { "n // 2", "nil", "UI % 7", "n ~ 1", "n", "z // 1 | 0", "n // (n % 3)" }
    return mapping:format(gen:pick(floats), gen:pick(floats), gen:pick(integers),
      gen:pick(floats), gen:pick(floats), gen:pick(integers)), "map"
  end
  local adds = gen.form == "sum" or gen.form == "min" or gen.form == "max"
  local pure = adds and gen:chance(2)   -- rows that write wait for those before them
  if pure and gen:chance(2) then gen.kind = "mixed" end
  for _ = 1, pure and 0 or gen.random:range(2, 5) do gen:statement(2) end
  local result = gen:result()
  if pure and gen:chance(2) then   -- rows with the least b.k are left to Lua
    result = (" (math.max(b.k, 0.5) ~= 7 and%s or%s)"):format(result, result)
  end
  if result ~= "" then gen:line("return%s", result) end
  local where = gen.form == "where"
  if where then table.insert(gen.lines, 1, "local dt = 0.5") end
  return frame:format(where and "e" or "dt, e", table.concat(gen.lines, "\n")), gen.form
end

return M
