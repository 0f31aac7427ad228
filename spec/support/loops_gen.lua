-- Random functions with loops of all kinds in one another, as text: while, repeat, goto back and
-- out, numeric for by integers and floats of the row, break and return. Every loop ends.

local random = require "spec.support.rng"

local M = {}

local INTEGERS = { "i1", "i2", "p.n", "p.i", "p.j" }
local FLOATS = { "f1", "f2", "p.x", "p.y" }

local Author = {}
Author.__index = Author

function Author:add(text, ...)
  local line = ("  "):rep(self.depth) .. (select("#", ...) > 0 and text:format(...) or text)
  self.lines[#self.lines + 1] = line
end

function Author:fresh(prefix)
  self.names = self.names + 1
  return prefix .. self.names
end

function Author:integer(depth)
  local r = self.random
  if depth <= 0 or r:chance(40) then
    return r:chance(30) and tostring(r:range(-3, 9)) or r:pick(self.integers)
  end
  local x, y = self:integer(depth - 1), self:integer(depth - 1)
  return r:pick {
    ("(%s + %s)"):format(x, y), ("(%s - %s)"):format(x, y), ("(%s * %s)"):format(x, y),
    ("(%s %% %d)"):format(x, r:range(2, 9)), ("(%s // %d)"):format(x, r:range(2, 9)),
    ("(%s ~ %s)"):format(x, y), ("(%s >> 1)"):format(x),
    ("math.max(%s, %s)"):format(x, y),
  }
end

-- Small enough for what has no end.
function Author:float(depth)
  local r = self.random
  if depth <= 0 or r:chance(40) then
    return r:chance(30) and tostring(r:range(-16, 40) / 8) or r:pick(self.floats)
  end
  local x, y = self:float(depth - 1), self:float(depth - 1)
  return r:pick {
    ("(%s + %s)"):format(x, y), ("(%s - %s)"):format(x, y), ("%s * 0.5"):format(x),
    ("math.min(%s, %s)"):format(x, y), ("(%s + %s %% 7)"):format(x, self:integer(0)),
    ("(grid[%s %% 20] or %s)"):format(self:integer(1), x), "world:random(e)",
    ("p.m[%s %% 5 + 1]"):format(self:integer(1)),
    ("(p.m[%s] or %s)"):format(self:integer(0), x),
    ("(%s + m1)"):format(x), ("(m1 - %s)"):format(x),
  }
end

-- What is an integer to Lua in some rows and a float in others.
function Author:mixed()
  local r = self.random
  return r:pick { self:integer(1), self:float(1), self:float(0), "-m1",
    ("m1 + %s"):format(self:integer(0)), ("m1 * %d"):format(r:range(-2, 2)),
    ("m1 * %s"):format(self:integer(0)), ("%s - m1"):format(self:integer(0)),
    ("math.max(m1, %s)"):format(self:integer(0)) }
end

function Author:condition()
  local r = self.random
  local operator = r:pick { "<", "<=", ">", ">=", "~=", "==" }
  local text = r:chance(50) and ("%s %s %s"):format(self:integer(1), operator, self:integer(1))
    or ("%s %s %s"):format(self:float(1), operator, self:float(1))
  if r:chance(15) then text = "not (" .. text .. ")" end
  if r:chance(20) then
    text = ("(%s) %s (%s)"):format(text, r:pick { "and", "or" }, self:condition())
  end
  if r:chance(10) then
    text = r:pick { "seen", "m1 < " .. self:integer(0), "m1 > 9007199254740992" }
  end
  return text
end

function Author:assign()
  local r = self.random
  local how = r:int(12)
  if how > 10 then
    self:add("p.m[%s %% %d + %d] = %s", self:integer(1), 5, r:chance(3) and 2 or 1, self:float(1))
  elseif how <= 4 then
    local to = r:pick(INTEGERS)
    local value = self:integer(2)
    if to == "p.i" or to == "p.j" then value = ("%s %% 40 - 7"):format(value) end
    self:add("%s = %s", to, value)
  elseif how <= 7 then
    self:add("%s = %s", r:pick(FLOATS), self:float(2))
  elseif how == 8 then
    self:add("m1 = %s", self:mixed())
  elseif how == 9 then
    self:add("seen = %s", r:pick { "nil", self:integer(1), "seen and " .. self:integer(0) })
  else
    self:add("heat[%d] = (heat[%d] or 0) * 0.5 + %s", 3, 3, self:float(1))
  end
end

function Author:branch(left)
  self:add("if %s then", self:condition())
  self:block(left)
  if self.random:chance(40) then
    self:add "else"
    self:block(left)
  end
  self:add "end"
end

-- Leaves, or begins the next round; only as the last statement of a block.
function Author:leave()
  local r = self.random
  local ways = {}
  if self.loops > 0 then ways = { "break", "break" } end
  for _, label in ipairs(self.labels) do ways[#ways + 1] = "goto " .. label end
  if r:chance(20) then ways[#ways + 1] = "return" end
  if #ways > 0 then
    self:add("if %s then %s end", self:condition(), r:pick(ways))
  end
end

function Author:body(left, first)
  self.depth = self.depth + 1
  for _, line in ipairs(first or {}) do self:add(line) end
  local integers, floats = #self.integers, #self.floats
  if self.random:chance(30) then
    local name = self:fresh "k"
    self:add("local %s = %s", name, self:integer(1))
    self.integers[#self.integers + 1] = name
    if self.random:chance(60) then self:add("%s = %s + 1", name, name) end
  end
  for _ = 1, self.random:int(3) do self:statement(left - 1) end
  if self.random:chance(30) then self:add("m1 = %s", self:mixed()) end
  if self.random:chance(50) then self:leave() end
  for i = #self.integers, integers + 1, -1 do self.integers[i] = nil end
  for i = #self.floats, floats + 1, -1 do self.floats[i] = nil end
  self.depth = self.depth - 1
end

function Author:block(left) self:body(left) end

-- In a loop, which has one variable more.
function Author:inside(left, names, name, first)
  names[#names + 1] = name
  self.loops = self.loops + 1
  self:body(left, first)
  self.loops = self.loops - 1
  names[#names] = nil
end

local SPEND = "fuel = fuel - 1"

local loops = {}

function loops.while_(a, left)
  a:add("while fuel > 0 and (%s) do", a:condition())
  a:inside(left, {}, "", { SPEND })
  a:add "end"
end

function loops.forever(a, left)
  a:add "while true do"
  a:inside(left, {}, "", { SPEND, ("if fuel <= 0 or %s then break end"):format(a:condition()) })
  a:add "end"
end

function loops.repeat_(a, left)
  a:add "repeat"
  a:inside(left, {}, "", { SPEND })
  a:add("until fuel <= 0 or %s", a:condition())
end

function loops.integers(a, left)
  local name = a:fresh "n"
  local from, to = a:integer(1), a:integer(1)
  local own = (", %s %% 3 + 1"):format(a:integer(0))
  local by = a.random:pick { "", "", ", 1", ", -1", ", 3", ", -2", own }
  a:add("for %s = %s, %s%s do", name, from, a.random:chance(20) and a:float(1) or to, by)
  a:inside(left, a.integers, name, { SPEND, "if fuel <= 0 then break end" })
  a:add "end"
end

function loops.floats(a, left)
  local name = a:fresh "x"
  local by = a.random:pick { "0.5", "-0.75", "3.0", "f1" }
  a:add("for %s = %s, %s, %s do", name, a:float(1), a:float(1), by)
  a:inside(left, a.floats, name, { SPEND, "if fuel <= 0 then break end" })
  a:add "end"
end

function loops.constant(a, left)
  local name = a:fresh "n"
  a:add("for %s = 1, %d do", name, a.random:int(4))
  a:inside(left, a.integers, name)
  a:add "end"
end

-- A label to jump back to, and one to jump out to. Break is of the loop around.
function loops.jumps(a, left)
  local again, out = a:fresh "again", a:fresh "out"
  a:add "do"
  a:add("::%s::", again)
  a:add(SPEND)
  a.labels[#a.labels + 1] = out
  a:body(left)
  a:add("if fuel > 0 and (%s) then goto %s end", a:condition(), again)
  if a.random:chance(30) then
    a:statement(left - 1)
    a:add("if fuel > 0 and (%s) then goto %s end", a:condition(), again)
  end
  a.labels[#a.labels] = nil
  a:add "end"
  a:add("::%s::", out)
end

local KINDS = { "while_", "while_", "forever", "repeat_", "repeat_", "integers", "integers",
  "floats", "constant", "jumps" }

function Author:statement(left)
  local how = self.random:int(10)
  if left > 0 and how <= 4 then return loops[self.random:pick(KINDS)](self, left) end
  if left > 0 and how <= 6 then return self:branch(left) end
  self:assign()
end

--- The text of a function of (p, dt, e) with upvalues world, grid, heat, math: of rows with
--- the fields x, y, m (floats; m five), n, i, j (integers), on.
function M.generate(seed)
  local a = setmetatable({ random = random.new(seed), lines = {}, depth = 0, names = 0, loops = 0,
    labels = {}, integers = { table.unpack(INTEGERS) }, floats = { table.unpack(FLOATS) } }, Author)
  a:add "local world, grid, heat, math = ..."
  a:add "return function(p, dt, e)"
  a:add("local i1, i2, f1, f2, fuel, seen = p.n, 3, p.x, 0.5, %d", a.random:pick { 5, 12, 40 })
  a:add("local m1 = %s", a.random:pick { "2", "p.j", "0.5", "9007199254740993" })
  for _ = 1, 2 do
    loops[a.random:pick(KINDS)](a, 3)
    a:assign()
  end
  a:add "p.n, p.x = p.n ~ i1 + i2, f1 + f2 + p.x * 0.5"
  a:add "p.on = seen and true or false"
  a:add "p.z = m1"
  a:add "end"
  return table.concat(a.lines, "\n")
end

return M
