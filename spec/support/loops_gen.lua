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

-- ---- indexes --------------------------------------------------------------------------------

function Author:place(index)
  local r = self.random
  local x, y = self:float(r:int(2) - 1), self:float(0)
  if r:chance(50) then x, y = r:chance(70) and "p.x" or "f1", "p.y" end
  if index == "flock" then y = ("%s, %s"):format(y, r:pick { "p.z", "0", self:float(0) }) end
  return ("%s, %s, %s"):format(x, y,
    r:pick { "0.5", "1.5", "2", "3.5", "p.m[2]", "f2", "i1 % 4", "math.huge" })
end

-- Through those around a place: by views, or by values.
function loops.within(a, left)
  local r = a.random
  local views, q, who, v = r:chance(60), a:fresh "q", a:fresh "who", a:fresh "v"
  local first = { SPEND }
  if r:chance(70) then first[2] = "if fuel <= 0 then break end" end
  if r:chance(30) then first[#first + 1] = ("if %s ~= e then i2 = i2 + 1 end"):format(who) end
  if r:chance(20) then first[#first + 1] = ("world:emit('Met', %s, f2)"):format(who) end
  if r:chance(20) then first[#first + 1] = ("met = %s"):format(who) end
  local integers, floats = a.integers, a.floats
  a.integers, a.floats = { table.unpack(integers) }, { table.unpack(floats) }
  if r:chance(25) then   -- some have no V, and T is a tag
    local t = a:fresh "t"
    a:add("for _, %s, %s, %s in mixed:within(%s) do", v, t, who, a:place "mixed")
    first[#first + 1] = ("f1 = f1 * 0.5 + (%s and %s.w or %s and 0.25 or 1.5)"):format(v, v, t)
    first[#first + 1] = r:pick {
      ("if %s and (%s or %s.k > 3) then i1 = i1 + %s.k end"):format(v, t, v, v),
      ("if not %s then f2 = f2 * 0.75 elseif %s.w > f1 then met = %s end"):format(v, v, who),
      ("local u = %s and %s if u then i2 = i2 + 1 end"):format(v, t),
      r:chance(20) and ("f2 = f2 + %s.w"):format(v) or "i1 = i1 + 1" }
  elseif views then
    a:add("for %s, %s in flock:within(%s) do", q, who, a:place "flock")
    for _, name in ipairs { ".x", ".y", ".m[3]" } do a.floats[#a.floats + 1] = q .. name end
    a.integers[#a.integers + 1] = q .. ".n"
  else
    local n = a:fresh "n"
    a:add("for %s, _, %s, %s in heap:within(%s) do", q, n, who, a:place "heap")
    a.floats[#a.floats + 1] = q
    a.integers[#a.integers + 1] = n
  end
  a:inside(left, {}, "", first)
  a.integers, a.floats = integers, floats
  a:add "end"
end

-- Through those who are tied.
function loops.tied(a, left)
  local r, who = a.random, a:fresh "who"
  local of = r:chance(70) and "e" or "(met or e)"
  a:add("for %s in world:%s do", who, r:pick { ("children(%s)"):format(of),
    ("sources(%s, 'Likes')"):format(of), ("targets(%s, 'Likes')"):format(of) })
  a:inside(left, {}, "", { SPEND, ("if fuel <= 0 or %s == e then break end"):format(who),
    ("met, f2 = %s, f2 * 0.5 + i1 %% 3"):format(who) })
  a:add "end"
end

function Author:nearest()
  local who, far = self:fresh "foe", self:fresh "far"
  local index = self.random:pick { "flock", "heap" }
  self:add("local %s, %s = %s:nearest(%s%s)", who, far, index, self:place(index),
    self.random:pick { "", ", e", ", met", ", nil" })
  self:add("if %s then f2, met = %s, %s else %s end", who, far, who, self.random:pick {
    "f2 = f2 * 0.5", "i1 = i1 + 1" })
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

-- Of functions that look into indexes, too.
local NEAR = { "within", "within", "within", "tied", "while_", "repeat_", "integers", "constant",
  "jumps" }

function Author:statement(left)
  local how = self.random:int(10)
  if self.near and self.random:chance(12) then
    self:add "do"
    self:nearest()
    return self:add "end"
  end
  if left > 0 and how <= 4 then return loops[self.random:pick(self.kinds)](self, left) end
  if left > 0 and how <= 6 then return self:branch(left) end
  self:assign()
end

--- The text of a function of (p, dt, e) with upvalues world, grid, heat, math: of rows with
--- the fields x, y, m (floats; m five), n, i, j (integers), on. Where it is to look into indexes,
--- there are flock, which shows P and is by x, y and z, heap, which gives P.x, P.y and P.n, as
--- well, mixed, which shows Place, and V (w, k) and T where these are there, the event Met of an
--- entity and a float, and the relation Likes.
function M.generate(seed, near)
  local a = setmetatable({ random = random.new(seed), lines = {}, depth = 0, names = 0, loops = 0,
    labels = {}, integers = { table.unpack(INTEGERS) }, floats = { table.unpack(FLOATS) },
    near = near, kinds = near and NEAR or KINDS }, Author)
  a:add "local world, grid, heat, math, flock, heap, mixed = ..."
  a:add "return function(p, dt, e)"
  a:add("local i1, i2, f1, f2, fuel, seen = p.n, 3, p.x, 0.5, %d", a.random:pick { 5, 12, 40 })
  a:add("local m1 = %s", a.random:pick { "2", "p.j", "0.5", "9007199254740993" })
  if near then a:add "local met" end
  for _ = 1, 2 do
    loops[a.random:pick(a.kinds)](a, near and 2 or 3)
    a:assign()
  end
  a:add "p.n, p.x = p.n ~ i1 + i2, f1 + f2 + p.x * 0.5"
  a:add "p.on = seen and true or false"
  a:add "p.z = m1"
  if near then a:add "if met then p.who = met end" end
  a:add "end"
  return table.concat(a.lines, "\n")
end

return M
