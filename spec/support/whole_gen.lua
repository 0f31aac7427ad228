--- Random whole functions that mix all that kernels can do, as trees: a node is a list of texts and
--- nodes, with its kind in `is` ("body", "statement", or the kind of an expression), so that parts
--- of what is found to differ can be left out (whole_shrink.lua).
local loops = require "spec.support.whole_loops"
local random = require "spec.support.rng"
local scopes = require "spec.support.whole_scope"
local spawns = require "spec.support.whole_spawns"

local M = {}

local Gen = random.generator()

local function node(is, ...)
  return { is = is, ... }
end

-- ---- expressions ----

-- One of what stands for a value of a kind in the scope; late ones (locals) more often.
function Gen:leaf(kind)
  local list = self.scope.leaves[kind]
  local first = self:chance(3) and math.max(1, #list - 3) or 1
  return node(kind, list[self.random:range(first, #list)])
end

-- A value that may be nil.
function Gen:maybe(kind)
  local list = self.scope.leaves[kind .. "?"]
  if not list or #list == 0 then return self:leaf(kind) end
  local how = self.random:range(1, 12)
  if how == 1 and kind ~= "bool" then
    return node(kind .. "?", "(", self:bool(1), " and ", self:leaf(kind), " or nil)")
  elseif how == 2 then
    return node(kind .. "?", "(", self:maybe(kind), " or ", self:maybe(kind), ")")
  end
  return node(kind .. "?", self:filled(self:pick(list)))
end

-- A text with what stands in brackets filled in: an index, an id of the living.
function Gen:filled(text)
  local front, what, back = text:match "^(.-)<(%l+)>(.*)$"
  if not front then return text end
  return node("filled", front, self[what](self), back)
end

function Gen:index()
  local within = self.scope.within
  local how = self.random:range(1, 10)
  if how == 1 then return node("index", tostring(self.random:range(1, 8))) end
  if how == 2 then return node("index", "(", self:int(1), " & 7) + 1") end
  if how == 3 then return node("index", "(n.i % 9)") end
  if how == 4 and self.risky then return self:int(1) end
  return node("index", self:pick(within))
end

-- An id of one who lives, mostly.
function Gen:living()
  if self.risky and self:chance(4) then return self:leaf "id" end
  local list = self.scope.leaves.living
  return node("id", list[self.random:range(math.max(1, #list - 2), #list)])
end

-- What may be nil with something instead of it; now and then without.
function Gen:instead(kind)
  if self.risky and self:chance(5) then return self:maybe(kind) end
  local other = ({ float = "0.0", int = "0", bool = "false", id = "e" })[kind]
  return node(kind, "(", self:maybe(kind), " or ",
    self:chance(2) and other or self:leaf(kind), ")")
end

function Gen:either(kind, depth)
  return node(kind, "(", self:bool(1), " and ", self[kind](self, depth - 1), " or ",
    self[kind](self, depth - 1), ")")
end

function Gen:float(depth)
  if depth <= 0 then return self:leaf "float" end
  local how = self.random:range(1, 14)
  if how <= 5 then
    local op = self:pick { " + ", " - ", " * ", " / ", " + ", " - ", " * ", " // ", " % " }
    local y = self:chance(5) and self:int(depth - 1) or self:float(depth - 1)
    return node("float", "(", self:float(depth - 1), op, y, ")")
  elseif how == 6 then
    return node("float", self:pick { "math.sqrt(", "math.abs(", "(-", "math.sin(", "math.exp(" },
      self:float(depth - 1), ")")
  elseif how == 7 then
    return node("float", self:pick { "math.min(", "math.max(", "help(", "math.fmod(" },
      self:float(depth - 1), ", ", self:chance(4) and self:int(0) or self:float(depth - 1), ")")
  elseif how == 8 then
    local y = self:chance(3) and self:int(depth - 1) or self:float(depth - 1)
    return node("float", "(", self:bool(1), " and ", self:float(depth - 1), " or ", y, ")")
  elseif how <= 10 then return self:instead "float"
  elseif how == 11 then
    return node("float", "(", self:int(depth - 1), " / ", self:int(depth - 1), ")")
  elseif how == 12 then
    if self.maps then return self:leaf "float" end   -- n.f is a local, perhaps of the script
    return node("float", "(n.w ", self:pick { "+ ", "- ", "* " }, "n.f)")
  end
  return self:leaf "float"
end

-- An integer in some rows and a float in others.
function Gen:mixed(depth)
  local extreme = self:pick { "9007199254740993", "math.maxinteger", "(0/0)", "-0.0" }
  local how = self.random:range(1, 4)
  local x = how == 1 and extreme or self:float(depth - 1)
  return node("mixed", "(", self:bool(1), " and ", how == 2 and extreme or self:int(depth - 1),
    " or ", x, ")")
end

function Gen:int(depth)
  depth = depth or 1
  if depth <= 0 then return self:leaf "int" end
  local how = self.random:range(1, 14)
  if how <= 4 then
    local op = self:pick { " + ", " - ", " * ", " & ", " | ", " ~ ", " << ", " >> " }
    return node("int", "(", self:int(depth - 1), op, self:int(depth - 1), ")")
  elseif how <= 6 then
    return node("int", "(", self:int(depth - 1), self:pick { " // ", " % " },
      self:pick { "3", "7", "(-5)", "16" }, ")")
  elseif how == 7 then
    return node("int", self:pick { "math.min(", "math.max(", "helpi(" }, self:int(depth - 1),
      ", ", self:int(depth - 1), ")")
  elseif how == 8 then return self:either("int", depth)
  elseif how <= 10 then return self:instead "int"
  elseif how == 11 then
    local text = self:pick { "whole(%s)", "whole(%s)", "math.floor(%s % 64)", "math.ceil(%s)" }
    local front, back = text:match "^(.-)%%s(.*)$"
    return node("int", front, self:float(depth - 1), back)
  elseif how == 12 then
    return node("int", self:pick { "(-", "(~", "math.abs(" }, self:int(depth - 1), ")")
  elseif how == 13 then return node("int", "(#", self:leaf "name", ")")
  end
  return self:leaf "int"
end

function Gen:absence()
  local kind = self:pick { "float", "int", "bool", "id" }
  local how = self.random:range(1, 4)
  if how == 1 then return node("bool", "(", self:maybe(kind), " == nil)") end
  if how == 2 then return node("bool", "(not ", self:maybe(kind), ")") end
  if how == 3 then return node("bool", "(", self:maybe(kind), " ~= nil)") end
  return node("bool", "(", self:maybe(kind), self:pick { " == ", " ~= " }, self:leaf(kind), ")")
end

function Gen:asked()
  local who, what = self:living(), self:pick(self.scope.had)
  local how = self.random:range(1, 4)
  if how == 1 then return node("bool", "world:alive(", self:leaf "id", ")") end
  if how == 2 then
    return node("bool", "(", self:leaf "id", self:pick { " == ", " ~= " }, self:leaf "id", ")")
  end
  return node("bool", "world:has(", who, ", '", what, "')")
end

function Gen:about_names()
  local how, name = self.random:range(1, 4), self:leaf "name"
  if how == 1 then return node("bool", "(#", name, self:pick { " < ", " == " }, "3)") end
  if how == 2 then
    return node("bool", "(", name, self:pick { " < ", " <= ", " > ", " >= ", " ~= " },
      self:leaf "name", ")")
  end
  local last = self:pick { "0", "1", "2", "2", "3", "4.0", "-1" }
  local front = how == 3 and "(string.sub(" or "(("
  return node("bool", front, name, how == 3 and ", 1, " or "):sub(1, ", last, ")",
    self:pick { " == ", " ~= " }, self:pick { "'an'", "'ann'", "''", "'b'", "'an\\0'" }, ")")
end

function Gen:bool(depth)
  if depth <= 0 then return self:leaf "bool" end
  local how = self.random:range(1, 12)
  if how <= 3 then
    return node("bool", "(", self:float(depth - 1), self:pick { " < ", " <= ", " > ", " == " },
      self:float(depth - 1), ")")
  elseif how <= 5 then
    return node("bool", "(", self:int(depth - 1), self:pick { " < ", " >= ", " ~= ", " == " },
      self:int(depth - 1), ")")
  elseif how == 6 then return node("bool", "(not ", self:bool(depth - 1), ")")
  elseif how <= 8 then
    return node("bool", "(", self:bool(depth - 1), self:pick { " and ", " or " },
      self:bool(depth - 1), ")")
  elseif how == 9 then return self:absence()
  elseif how == 10 then return self:asked()
  elseif how == 11 then
    return node("bool", "(", self:leaf "text", self:pick { " == ", " ~= " }, self:leaf "text", ")")
  elseif how == 12 then return self:about_names()
  end
  return self:leaf "bool"
end

function Gen:id()
  local how = self.random:range(1, 6)
  if how <= 2 then return self:instead "id" end
  return self:leaf "id"
end

function Gen:text()
  if self:chance(3) then
    return node("text", "(", self:bool(1), " and ", self:leaf "text", " or ", self:leaf "text", ")")
  end
  return self:leaf "text"
end

function Gen:name()
  return self:leaf "name"
end

-- A value that a field of that type takes, mostly.
function Gen:value(type, depth)
  if type == "f64" or type == "f32" then return self:float(depth) end
  if type == "i64" then return self:int(depth) end
  if type == "bool" then return self:bool(depth) end
  if type == "entity" then return self:chance(4) and node("id", "null") or self:id() end
  if type == "enum" then return self:text() end
  if type == "string" then return self:name() end
  if self.risky and self:chance(4) then return self:int(depth) end
  -- What hardly any row fails at.
  if self:chance(8) then return node("int", self:pick { "(n.i + 1)", "(7 // (n.i - 31))" }) end
  return node("int", "(", self:int(depth), " % ", type == "u8" and "200" or "1000", ")")
end

-- ---- statements ----

local function statement(...)
  return node("statement", ...)
end

-- Statements in a scope of their own.
function Gen:body(depth, most)
  local mark, body = self.scope:mark(), node "body"
  for _ = 1, self.random:range(1, most or 3) do body[#body + 1] = self:statement(depth) end
  self.scope:back(mark)
  return body
end

function Gen:new_name()
  self.names = self.names + 1
  return "v" .. self.names
end

function Gen:store()
  local to = self:pick(self.scope.stores)
  return statement(to[1], " = ", self:value(to[2], 2))
end

-- A step on a cell that is not the row's own.
function Gen:step()
  if #self.scope.steps == 0 then return self:store() end
  local to = self:pick(self.scope.steps)
  local type, how = to[2], self.random:range(1, 7)
  local place = self:filled(to[1])
  local now = to.maybe and not self.risky and node("place", "(", place, " or ",
    ({ f64 = "0.0", bool = "false" })[type] or "0", ")") or place
  if type == "bool" then
    if how < 3 then return statement(place, " = ", self:bool(1)) end
    return statement(place, " = ", place, self:pick { " and ", " or " }, self:leaf "bool")
  elseif type == "entity" or type == "enum" then
    return statement(place, " = ", self:value(type, 1))
  end
  local kind = (type == "f64" or type == "f32") and "float" or "int"
  local function by() return kind == "float" and self:float(1) or self:value("i16", 1) end
  if how == 1 then return statement(place, " = ", self:value(type, 1)) end
  if how == 2 then
    return statement(place, " = math.", self:pick { "min(", "max(" }, now, ", ", by(), ")")
  elseif how == 3 and kind == "float" then
    return statement(place, " = ", now, " * ", by())
  elseif how == 4 then
    local name = self:new_name()
    return statement("local ", name, " = ", now, "\n", place, " = ", name, " + ", by())
  elseif how == 5 then
    return statement(place, " = math.min(", now, " + ", by(), ", ", by(), ")")
  elseif how == 6 then
    return statement(place, " = ", by(), self:pick { " + ", " - " }, now)
  end
  return statement(place, " = ", now, self:pick { " + ", " - " }, by())
end

local kinds = { "float", "int", "bool", "id", "float", "int" }

-- A table of some values, which are read from it.
function Gen:pack(name)
  local made = statement("local ", name, " = { x = ", self:float(1), ", n = ", self:int(1), ", ",
    self:bool(1), " }")
  self.scope:add("float", name .. ".x")
  self.scope:add("int", name .. ".n")
  self.scope:add("bool", name .. "[1]")
  return made
end

function Gen:declare()
  local kind, name = self:pick(kinds), self:new_name()
  if self:chance(3) then
    local made = statement("local ", name, " = ", self:maybe(kind))
    self.scope:add(kind .. "?", name)
    return made
  elseif self:chance(6) then
    local made = statement("local ", name, "\nif ", self:bool(1), " then ", name, " = ",
      self[kind](self, 1), " end")
    self.scope:add(kind .. "?", name)
    return made
  end
  if self:chance(8) then return self:pack(name) end
  local made = statement("local ", name, " = ", self[kind](self, 2))
  self.scope:add(kind, name)
  self.scope:add("locals", { name, kind })
  return made
end

function Gen:assign()
  local list = self.scope.leaves.locals
  if #list == 0 then return self:declare() end
  local to = self:pick(list)
  return statement(to[1], " = ", self[to[2]](self, 2))
end

function Gen:branch(depth)
  local made = statement("if ", self:bool(2), " then\n", self:body(depth - 1))
  local function more(...)
    for _, part in ipairs { ... } do made[#made + 1] = part end
  end
  if self:chance(4) then more("elseif ", self:bool(1), " then\n", self:body(depth - 1)) end
  if self:chance(3) then more("else\n", self:body(depth - 1)) end
  more "end"
  return made
end

-- What may be nil, where it is not.
function Gen:present(depth)
  local kind, name = self:pick { "float", "int", "id" }, self:new_name()
  local from = self:maybe(kind)
  local mark = self.scope:mark()
  self.scope:add(kind, name)
  local made = statement("local ", name, " = ", from, "\nif ", name, " then\n",
    self:body(depth - 1), "end")
  self.scope:back(mark)
  return made
end

-- A view of an optional term, where there is one.
function Gen:seen(depth)
  local views = self.scope.views
  if #views == 0 then return self:present(depth) end
  local view = self:pick(views)
  local mark = self.scope:mark()
  self.scope:enter(view)
  local made = statement("if ", view.name, " then\n", self:body(depth - 1, 4), "end")
  self.scope:back(mark)
  return made
end

-- An id of somebody who lives.
function Gen:who(depth)
  local name = self:new_name()
  local from = self:chance(2) and self:maybe "id" or self:leaf(self:pick { "id", "living" })
  if self:chance(8) then from = node("id", "outside") end
  local mark = self.scope:mark()
  self.scope:add("id", name)
  self.scope:add("living", name)
  local made = statement("local ", name, " = ", from, "\nif world:alive(", name, ") then\n",
    self:body(depth - 1, 4), "end")
  self.scope:back(mark)
  return made
end

-- Several at once: an exchange, or all fields of somebody's component.
function Gen:several()
  local frozen = self.scope.frozen
  if not self.scope.shields or self:chance(2) then
    if frozen.f or frozen.g then return self:store() end
    local other = self:chance(2) and "n.f" or self:float(1)
    return statement("n.f, n.g = ", self:float(1), ", ", other)
  end
  local first, second, third = self:new_name(), self:new_name(), self:new_name()
  local made = statement("local ", first, ", ", second, ", ", third, " = world:get(",
    self:living(), ", 'Shield')")
  self.scope:add("int?", first)
  self.scope:add("float?", second)
  self.scope:add("bool?", third)
  return made
end

loops.add_to(Gen)
spawns.add_to(Gen)

-- All of a component at once, of which no field is come to otherwise.
function Gen:set_whole()
  local who, x = self:living(), self:float(1)
  local by = self:chance(2) and self:id() or node("id", "e")
  if self:chance(2) then
    return statement("world:set(", who, ", 'Mark', { x = ", x, ", by = ", by, " })")
  end
  return statement("world:set(", who, ", 'Mark', ", x, ", ", by, ")")
end

function Gen:set()
  if self:chance(4) then return self:set_whole() end
  local to = self:pick(self.scope.sets)
  return statement("world:set(", self:living(), ", '", to[1], "', ", self:value(to[2], 1), ")")
end

function Gen:command()
  local how = self.random:range(1, 12)
  if how > 10 then return self:tie() end
  if how <= 3 and #self.scope.sets > 0 then return self:set() end
  if how == 4 then
    return statement("if ", self:bool(1), " and ", self:bool(1), " then world:despawn(",
      self:living(), ") end")
  elseif how == 5 or how == 7 then return self:spawn()
  elseif how == 6 then
    return statement("if ", self:bool(1), " then world:emit('Said', math.max(0.0, ",
      self:float(1), "), ", self:id(), ", ", self:value("i32", 1), ", ", self:text(), ") end")
  end
  return statement("if ", self:bool(1), " then world:", self:pick { "add(", "remove(" },
    self:living(), ", '", self:pick { "Tag", "Other", "Packed", "Shield", "Mark" }, "') end")
end

-- What a map gives back: some of N's fields, in their order.
function Gen:fields()
  local made = node("fields", "return n.f")
  for _, name in ipairs { "g", "w", "i", "k", "u", "on", "kind" } do
    made[#made + 1] = self:chance(2) and ", n." .. name or ", nil"
  end
  return made
end

function Gen:leave()
  if self.maps then return statement("if ", self:bool(1), " then ", self:fields(), " end") end
  if self.result then
    return statement("if ", self:bool(1), " then return ", self[self.result](self, 1), " end")
  end
  return statement("if ", self:bool(1), " then return end")
end

-- What leaves its row to Lua, in few rows.
function Gen:left()
  local when = node("bool", "(n.i % 16 == ", tostring(self.random:range(0, 15)), " and ",
    self:bool(1), ")")
  local how = self.random:range(1, self.commands and 5 or 2)
  if how == 1 then return statement("assert(n.i < 2000 or ", self:bool(1), ", 'too many')") end
  if how == 2 then
    return statement("if n.i == 61 and ", when, " and ", self:bool(1), " then error('left') end")
  end
  if how == 3 then return statement("if ", when, " then world:clone(", self:living(), ") end") end
  if how == 4 then
    return statement("if ", when, " then world:after(0.25, 'Said', 1.5, e) end")
  end
  return statement("if world:has(e, 'Shield') and ", when, " then world:",
    self:pick { "en", "dis" }, "able(e, 'Shield') end")
end

function Gen:statement(depth)
  local how = self.random:range(1, 27)
  if how == 13 and self:chance(3) then return self:left() end
  if how <= 5 then return self:store() end
  if how <= 9 then return self:step() end
  if how <= 12 then return self:declare() end
  if how == 13 then return self:assign() end
  if how == 14 and not (self.result and self.loops > 0) then return self:leave() end
  if how <= 17 and self.commands then return self:command() end
  if how == 18 then return self:several() end
  if depth == 0 then return self:store() end
  if how <= 20 then return self:branch(depth) end
  if how <= 22 then return self:who(depth) end
  if how == 23 then return self:present(depth) end
  if how <= 25 then return self:seen(depth) end
  if self:chance(8) then return self:jumps(depth) end
  return self:loop(depth)
end

-- ---- functions and programs ----

-- What may be done with what a predicate lets through; some takes a function.
local rests = { "each", "each", "sum", "max", "min", "where", "count", "ids", "set", "add",
  "remove", "despawn", "first", "loop", "chunks" }
local asks = { each = true, sum = true, min = true, max = true, where = true }

local numbers = { "float", "int", "mixed" }
local results = { sum = numbers, min = numbers, max = numbers, where = { "bool" } }

-- A function for a form, over a query of its own or over that of another one.
function Gen:unit(form, terms)
  self.maps = form == "map"
  self.scope = scopes.new(self.random, form, terms)
  self.result = results[form] and self:pick(results[form])
  self.commands = not self.result and not self.maps and self:chance(2)
  self.loops = 0
  local pure = self.result and (self.pure or self:chance(3))   -- it only gives something
  local body = pure and node "body" or self:body(3, self.result and 3 or 6)
  if self.result then
    local value = self[self.result](self, 2)
    if pure and self:chance(2) then   -- rows with a large n.k are left to Lua
      value = node(self.result, "(math.max(n.k, 0.5) ~= 7 and ", value, " or ", value, ")")
    end
    body[#body + 1] = statement("return ", value)
  end
  if self.maps then body[#body + 1] = statement(self:fields()) end
  return { form = form, terms = self.scope.terms, body = body }
end

local forms = { "system", "system", "system", "system", "each", "sum", "min", "max", "where",
  "where", "run", "map" }

--- A program: how its world is filled, and what is done to it in each turn. Some have functions
--- over what a predicate lets through. Where forms are given, functions are for these, and do
--- nothing but give what they are to give.
function M.generate(seed, only)
  local gen = setmetatable({ random = random.new(seed), names = 0, pure = only ~= nil }, Gen)
  gen.risky = gen:chance(4)
  local program = { seed = seed, rows = gen:pick { 2, 9, 60, 300, 300, 1500 },
    alike = gen:chance(3), turns = gen:pick { 2, 2, 3 }, units = {}, tame = gen:chance(2),
    around = gen:pick { "none", "none", "none", "defer", "cancel", "loop" } }
  for i = 1, gen.random:range(1, 2) do
    local form = gen:pick(only or forms)
    local unit = gen:unit(form)
    program.units[i] = unit
    if form == "where" then
      local rest = gen:pick(rests)
      unit.rest = asks[rest] and gen:unit(rest, unit.terms)
        or { form = rest, terms = unit.terms, body = node "body" }
    end
  end
  return program
end

-- The text of a node.
function M.text(part)
  if type(part) == "string" then return part end
  local texts = {}
  for i, inner in ipairs(part) do
    texts[i] = M.text(inner)
    if part.is == "body" then texts[i] = texts[i] .. "\n" end
  end
  return table.concat(texts)
end

-- The texts of a unit's terms and their names. Those of a map are fields, n.f is n_f in it.
local function terms_of(unit)
  local texts, names = {}, {}
  local function add(text, name)
    texts[#texts + 1] = text
    names[#names + 1] = name
  end
  for _, term in ipairs(unit.terms) do
    if unit.form == "map" and term.of == "N" then
      for _, field in ipairs(scopes.fields.N) do add("N." .. field[1], "n_" .. field[1]) end
    else
      add(term.text, term.name)
    end
  end
  return texts, names
end

--- The text of a function: what it is given are the names of its terms that give something.
function M.source(unit)
  local _, names = terms_of(unit)
  names[#names + 1] = unit.form == "where" and "e" or "dt, e"
  local text = M.text(unit.body)
  if unit.form == "map" then text = text:gsub("%f[%w]n%.(%a+)", "n_%1") end
  return ("return function(%s)\n%send"):format(table.concat(names, ", "), text)
end

--- The text of its query.
function M.query(unit)
  return table.concat(terms_of(unit), ", ")
end

return M
