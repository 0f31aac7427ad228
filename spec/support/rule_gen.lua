--- Random functions in the order in which people write them: any statement that kernels compile,
--- reading what it writes, failing behind effects, keeping script cells. A function is a tree: a
--- node is a list of texts and nodes, with its kind in `is` ("body", "statement", or the kind of an
--- expression), so that rule_shrink.lua makes it smaller. rule_words.lua says what it is made of.
local random = require "spec.support.rng"
local words = require "spec.support.rule_words"

local fields, places, readers, deep = words.fields, words.places, words.readers, words.deep
local is_luajit = rawget(_G, "jit") ~= nil

local M = {}

local Gen = {}
Gen.__index = Gen

--- The kinds of statements with their weights, which may be changed.
M.weights = {}
local kinds = {}
for name, kind in pairs(words.kinds) do
  local weight, list = next(kind)
  M.weights[name], kinds[name] = tonumber(weight), list
end

-- "p=P" is a view p; one by a path or variable is another entity's.
local function terms(...)
  local list = {}
  for i, text in ipairs { ... } do
    local name, term = text:match "^(%l+)=(.*)$"
    term = term or text
    list[i] = { name = name, text = term, of = term:match "Owes" or term:match "%->(%u%l*)"
      or term:match "^%(?(%u%l*)", path = term:find "[>$]", maybe = term:find "?",
      read = term:find ":in" }
  end
  return list
end

local queries = { terms "p=P", terms "p=P", terms("p=P", "h=H"), terms("p=P", "h=P.prey->H"),
  terms("p=P", "h=P.prey->H"), terms("p=P", "g=H", "h=P.prey->H"), terms("p=P", "h=H($p)"),
  terms("p=P", "(Eats, $who)", "h=H($who)"), terms("p=P", "(Eats, *)"),
  terms("p=P", "g=H", "(Eats, *)"), terms("p=P", "o=(Owes, $to)", "h=H($to)"),
  terms("p=P", "o=(Owes, *)"), terms("p=P", "h=ChildOf->H"), terms("p=P", "h=H?"),
  terms("p=P", "g=H", "h=ChildOf->H?"), terms("p=P", "s=S"), terms("p=P", "s=S?", "T"),
  terms("p=P", "s=S?", "h=H?"), terms("p=P", "s=S?", "h=ChildOf->H?"),
  terms("p=P", "h=P.prey->H?"), terms("p=P", "h=P.prey->H?"), terms("p=P", "d=Held?"),
  terms("p=P", "h=Held->H?"), terms("p=P", "g=H?"), terms("p=P", "g=H?"), terms("p=P", "t=T?"),
  terms("y=Said", "h=Said.who->H"), terms("y=Said") }

local groups_of_terms = { "H", "S", "T", "Ties", "Up" }

--- What programs are like: in which forms functions run (`rule_run.lua` adds to these), over how
--- many rows, what beside their own cells they are about (at least and at most so many of these).
--- Numbers: a share of units that compute with all kinds of numbers, some of them extreme, in
--- deeper expressions. Apart: most of what is written is not read, as that for which kernels may go
--- through rows in any order.
M.profiles = {
  rules = { rows = { 3, 12, 40, 40, 300, 700 }, alike = 0, numbers = 0,
    threads = { 1, 1, "2!", "4!" }, least = 1, most = 4, about = { "arrays", "score", "cells",
      "tables", "others", "commands", "spawns", "emits", "asks", "grown", "keyed", "lists", "made",
      "odd", "texts" },
    with = { "observer", "alias", "poke", "waiting", "track", "full", "off", "coming", "longer" } },
  numbers = { rows = { 20, 20, 50 }, alike = 70, numbers = 100, threads = { 1 }, apart = true,
    about = { "asks", "score", "arrays" }, least = 0, most = 1, units = 6,
    with = { "full", "poke" }, forms = { "each", "each", "strict", "where", "sum", "min", "max",
      "mapped" } },
  apart = { rows = { 2, 9, 9, 60, 60, 60, 300, 1100 }, alike = 50, numbers = 50, threads = { 1 },
    about = { "arrays", "score", "others", "commands", "commands", "spawns", "emits", "asks",
      "texts" }, least = 1, most = 4, apart = true,
    with = { "poke", "waiting", "full", "off", "changes", "nested" },
    forms = { "each", "each", "each", "each", "query", "sum", "min", "max", "where", "where",
      "strict", "mapped" } },
}

-- A profile like another one, but for some things.
local function add_profile(name, like, changes)
  M.profiles[name] = setmetatable(changes, { __index = M.profiles[like] })
end

add_profile("wide", "numbers", { rows = { 500 }, units = 3 })
add_profile("totals", "apart", { rows = { 300, 700, 1500 },
  forms = { "sum", "sum", "min", "max", "where" } })

-- ---- filling in ----

local function insert(lists, kind, text, times)
  lists[kind] = lists[kind] or {}
  for _ = 1, times or 1 do table.insert(lists[kind], text) end
end

function Gen:forget(mark)
  while #self.known > mark do table.remove(table.remove(self.known)) end
end

-- Names that a statement has made are known behind it, and in what it holds.
function Gen:come()
  for _, one in ipairs(self.coming) do
    insert(self.leaves, one[1], one[2])
    table.insert(self.known, self.leaves[one[1]])
  end
  self.coming = {}
end

function Gen:places(kind)
  return (self.at[self.from] or self.at.all)[kind] or {}
end

local made_names = { N = {}, T = { "F", "F", "Var" }, K = { "I", "X" }, O = { "E", "L", "L" },
  A = { "E", "E", "E", "L", "L" }, Ti = { "I", "I", "Ivar" }, Tm = { "M", "Mvar" },
  Tn = { "Fn", "Nvar" }, Ki = { "I" }, Kf = { "F" } }
local shrunk_as = { F = "float", I = "int", V = "int", B = "bool", E = "id", L = "id", M = "float",
  Fn = "float?", In = "int?", Bn = "bool?", En = "id?" }

function Gen:part(kind, depth)
  local rng = self.random
  if made_names[kind] then
    self.names = self.names + 1
    local name = kind:lower() .. self.names
    for _, of in ipairs(made_names[kind]) do table.insert(self.coming, { of, name }) end
    return name
  end
  if kind == "S" or kind == "Z" then return self:body(kind == "S" and depth or 0) end
  if kind == "V" then
    local text = self.risky and rng:chance(20) and "<I>" or rng:pick { "(<I> % 100)", words.small }
    return self:fill("int", text, depth)
  end
  if kind == "E" and rng:chance(40) then kind = "L" end
  if kind == "L" and self.risky and rng:chance(4) then kind = "E" end
  local place = kind:match "^P(%u)$"
  local list = place and self:places(place) or self.leaves[kind]
  local deeper = self.deep[kind] and depth > self.least and rng:chance(60 - 15 * self.least)
  if deeper then list = self.deep[kind] end
  local text
  for _ = 1, 4 do
    text = rng:pick(list)
    if depth > self.least - 2 or not text:find "<%u" then break end
  end
  return self:fill(shrunk_as[kind] or "text", text, depth - 1)
end

function Gen:fill(is, template, depth)
  local made, same, at = { is = is }, {}, 1
  while true do
    local first, last, kind, digit = template:find("<(%u%l*%u?)(%d?)>", at)
    made[#made + 1] = template:sub(at, (first or 0) - 1)
    if not first then return made end
    if kind == "S" or kind == "Z" then self:come() end
    local part = same[kind .. digit] or self:part(kind, depth)
    if digit ~= "" then same[kind .. digit] = part end
    made[#made + 1] = part
    at = last + 1
  end
end

-- Whether there is something for all that a template needs.
function Gen:can(template, depth)
  if depth <= 0 and (template:find "<S>" or template:find "<Opt>") then return false end
  for kind in template:gmatch "<(%u%l*%u?)%d?>" do
    local place = kind:match "^P(%u)$"
    local list = place and self:places(place) or self.leaves[kind]
    if #(list or {}) == 0 and not made_names[kind] and not ("SVZ"):find(kind, 1, true) then
      return false
    end
  end
  return true
end

function Gen:statement(depth)
  local kind, outer, mark = self.random:pick(self.kinds), self.from, #self.known
  local template
  for try = 1, 30 do
    template = self.random:pick(kinds[kind])
    if template == "stores" or self.random:chance(kinds[kind][1] == "stores" and 40 or 0) then
      template = self.random:pick(words.stores)
    end
    self.from = try < 20 and kind or "all"
    if self:can(template, depth) then break end
    template = "local <T> = <F>"
  end
  self.used[kind] = true
  local made = self:fill("statement", template, depth - 1)
  if template:find "^for " or template:find "^if " or template:find "^do " then
    self.coming = {}
    self:forget(mark)
  end
  self:come()
  self.from = outer
  return made
end

function Gen:body(depth)
  local made, mark = { is = "body" }, #self.known
  for i = 1, self.random:range(1, 2) do made[i] = self:statement(depth) end
  self:forget(mark)
  return made
end

-- ---- units ----

-- All groups, of which the questions have no statements.
local sorted = { "asks" }
for name in pairs(kinds) do table.insert(sorted, name) end
table.sort(sorted)

-- What functions may do that give something.
local quiet = { own = true, locals = true, flow = true, numbers = true, raises = true }

-- What a function for fields gives for the columns x, n, cell and kept.
local mapped = { "x, n, cell, kept", "x * 2 - n, n // 2, nil, kept", "x // 0.25, nil, cell, nil",
  "n / 3, UI % 7, cell, kept", "n > 4 and x or nil, n ~ 1, cell, boss", "x ^ 2, x // 1 | 0, cell",
  "n // 0.5, n // (n % 3), nil, nil", "UF - x, n, cell, e", "x * dt, n, cell, kept" }

-- Something to read, so many times as likely (0: not at all), or to write, too.
function Gen:learn(from, lists, times, written)
  for kind, texts in pairs(lists) do
    for _, text in ipairs(texts) do
      insert(self.leaves, kind, text == "who" and "(who or boss)" or text, times)
      if written then
        self.at[from] = self.at[from] or {}
        insert(self.at[from], kind, text)
        insert(self.at.all, kind, text)
      end
    end
  end
end

local nothing = { F = "0.0", I = "0", B = "false", E = "boss" }

-- Whether a unit may write to what a term gives it, where that is there.
function Gen:may_write(term)
  local of_another = self.result and term.path
  return not (term.of == "Said" or term.read or self.pure or of_another)
end

-- What a row does that has what is optional, and one that lacks it.
function Gen:learn_option(term)
  insert(self.leaves, "Opt", ("if %s then <S> else <S> end"):format(term.name))
  insert(self.leaves, "Opt", ("if not %s then <S> end"):format(term.name))
  for kind, list in pairs(fields[term.of] or {}) do
    local field = term.name .. "." .. list[1]
    if kind == "F" and self:may_write(term) then
      insert(self.leaves, "Opt", ("if %s then %s = %s + <F> <S> end"):format(term.name, field,
        field))
    end
  end
end

local kinds_of_fields = { "F", "I", "J", "B", "E", "C", "W" }

function Gen:learn_term(term, by_path)
  if term.maybe and term.name then self:learn_option(term) end
  local of = term.name and fields[term.of] or {}
  for _, kind in ipairs(kinds_of_fields) do
    for _, field in ipairs(of[kind] or {}) do
      local text = term.name .. "." .. field
      local way = field == "prey" and (by_path or self.random:chance(70))
        or self.profile.apart and term.name == "p" and self.random:chance(40)
      if kind == "C" and term.read then break end
      if term.maybe then
        text = ("(%s and %s or %s)"):format(term.name, text, nothing[kind] or "0.5")
      end
      self:learn(term.path and "path" or "own", { [kind] = { text } }, 3,
        self:may_write(term) and not (way or term.maybe))
    end
  end
end

-- The groups of templates that a unit is made of.
function Gen:groups(of)
  local rng, profile = self.random, self.profile
  local groups = { own = not self.pure and of ~= "Said" and of ~= "run" and of ~= "array",
    locals = true, flow = true, raises = self.risky, whole = of == "run" }
  groups.fails = self.risky and not self.result and rng:chance(profile.apart and 30 or 100)
  groups.numbers = not is_luajit and rng:chance(profile.numbers)
  if not profile.apart then
    groups.long, groups.strays = self.rows < 99 and rng:chance(20), of ~= "run" and rng:chance(30)
  end
  for _, name in ipairs(rng:sample(profile.about, rng:range(profile.least, profile.most))) do
    groups[name] = true
  end
  groups.arrays = groups.arrays or of == "run" or of == "array"
  groups.texts = groups.texts and of == "P"
  return groups
end

-- What is beside a row's own cells, and how to compute with it.
function Gen:learn_groups(groups, of)
  for _, name in ipairs(sorted) do
    if groups[name] then
      local how = self.profile.apart and self.random:pick { "read", "write", "write", "both" }
      local written = not self.result and how ~= "read"
      self:learn(name, places[name] or {}, written and how == "write" and 0 or 2, written)
      self:learn(name, readers[name] or {}, name == "numbers" and 3 or 1)
    end
  end
  self.deep, self.least = {}, groups.numbers and -1 or 0
  for _, from in ipairs { deep.any, groups.numbers and deep.numbers or {},
    self.profile.apart and {} or deep.effects } do
    for kind, texts in pairs(from) do
      for _, text in ipairs(texts) do insert(self.deep, kind, text) end
    end
  end
  if groups.numbers and of == "P" then self:learn("own", readers.views, 3) end
end

-- What a unit is about, and what it knows at its beginning.
function Gen:begin(unit)
  local is_map = unit.form == "map" or unit.form == "mapped"
  local of = unit.terms[1] and (is_map and "map" or unit.terms[1].of) or unit.form
  local groups = self:groups(of)
  self.leaves, self.known, self.at, self.coming, self.used = {}, {}, { all = {} }, {}, {}
  self:learn("own", readers.const)
  if unit.form ~= "where" then self:learn("own", readers.time) end
  if of == "P" or of == "map" then self:learn("own", readers.row) end
  if of == "P" and groups.spawns then self:learn("own", readers.born) end
  if of == "array" then self:learn("own", readers.array) end
  if of == "map" then self:learn("own", places.map, 3, true) end
  for _, term in ipairs(unit.terms) do
    groups.path = groups.path or term.path and term.name and not (term.maybe or self.result)
    if of ~= "map" then self:learn_term(term, unit.terms[2] ~= nil) end
  end
  self:learn_groups(groups, of)
  if self.risky then self:learn("own", { X = { "<I>" } }) end
  self.leaves.Ret = { self.result and "return <" .. self.result .. ">" or "return" }
  return groups
end

local results = { sum = { "F", "F", "I" }, min = { "F", "I" }, max = { "F", "I" },
  where = { "B" } }

function Gen:terms(form)
  local rng = self.random
  if form == "run" or form == "array" then return {} end
  if form == "map" or form == "mapped" then
    return terms("x=P.x", "n=P.n", "cell=P.cell", "kept=P.kept", rng:chance(40) and "t=T?" or nil)
  end
  if not results[form] and rng:chance(self.profile.apart and 10 or 80) then
    return rng:pick(queries)
  end
  local texts = { "p=P" }
  for _, name in ipairs(groups_of_terms) do
    local share, list = next(words.terms[name])
    if rng:chance(tonumber(share) // (results[form] and 4 or 1)) then
      table.insert(texts, rng:pick(list))
    end
  end
  return terms(table.unpack(texts))
end

-- What kinds of statements a unit has, each as often as its weight says.
function Gen:choose_kinds(groups)
  self.kinds = {}
  for _, name in ipairs(sorted) do
    local weight = (not self.result or quiet[name]) and groups[name] and M.weights[name] or 0
    for _ = 1, weight do table.insert(self.kinds, name) end
  end
  if #self.kinds == 0 then self.kinds = { groups.own and "own" or "locals" } end
end

-- The last statement of a function that gives something: rows with a large p.big are left to Lua.
function Gen:give()
  local value = ("<%s1>"):format(self.result)
  if self.result ~= "B" and self.random:chance(50) then
    value = ("(math.max(p.big, 0.5) ~= 7 and %s or %s)"):format(value, value)
  end
  return self:fill("statement", "return " .. value, 2)
end

-- A function for a form, over a query of its own or over the terms of another one.
function Gen:unit(form, of_other)
  local rng = self.random
  local unit = { form = form, terms = {}, body = { is = "body" }, kinds = {} }
  for i, term in ipairs(of_other or self:terms(form)) do unit.terms[i] = term end
  self.result = results[form] and rng:pick(results[form])
  self.pure = self.result and rng:chance(50)
  local groups = self:begin(unit)
  if groups.numbers and self.result and self.result ~= "B" then
    self.result = rng:pick { "F", "I", "M" }
  end
  self:choose_kinds(groups)
  local most = self.pure and 1 or self.profile.apart and 6 or 4
  for i = 1, rng:range(self.pure and 0 or 1, most) do unit.body[i] = self:statement(3) end
  if self.result then table.insert(unit.body, self:give()) end
  for _, name in ipairs(sorted) do
    if self.used[name] then table.insert(unit.kinds, name) end
  end
  unit.asks = form == "loop" and rng:chance(50)
  if form == "mapped" then unit.gives = rng:pick(mapped) end
  return unit
end

-- What may be done with what a predicate lets through; some takes a function.
local rests = { "query", "query", "sum", "max", "min", "where", "count", "ids", "set", "add",
  "remove", "despawn", "first", "cursor", "chunks" }
local takes = { query = true, sum = true, min = true, max = true, where = true }

--- A program of a profile: one or two functions that share their cells, and what is special about
--- its world. Some have functions over what a predicate lets through.
function M.generate(seed, name, forms)
  local profile = M.profiles[name or "rules"]
  local rng = random.new(seed * 7919)
  local rows, risky = rng:pick(profile.rows), rng:chance(profile.apart and 25 or 40)
  local gen = setmetatable({ random = rng, names = 0, rows = rows, risky = risky,
    profile = profile }, Gen)
  local program = { seed = seed, rows = rows, turns = profile.apart and rng:pick { 2, 2, 3 } or 2,
    threads = rng:pick(profile.threads), units = {}, with = {} }
  for _, one in ipairs(profile.with) do
    if rng:chance(40) then table.insert(program.with, one) end
  end
  if rng:chance(profile.alike) then table.insert(program.with, "alike") end
  if profile.numbers > 0 then table.insert(program.with, rng:chance(50) and "wild" or "settled") end
  for i = 1, rng:range(1, profile.units or 2) do
    local form = rng:pick(forms or profile.forms)
    local unit = gen:unit(form)
    program.units[i] = unit
    if form == "where" then
      local rest = rng:pick(rests)
      unit.rest = takes[rest] and gen:unit(rest, unit.terms)
        or { form = rest, terms = unit.terms, body = { is = "body" }, kinds = {} }
    end
  end
  return program
end

-- The text of a node.
local function text_of(part)
  if type(part) == "string" then return part end
  local texts = {}
  for i, inner in ipairs(part) do
    texts[i] = text_of(inner) .. (part.is == "body" and "\n" or "")
  end
  return table.concat(texts)
end

--- The query of a unit, and the text of its function.
function M.query(unit)
  local texts = {}
  for i, term in ipairs(unit.terms) do texts[i] = term.text end
  return table.concat(texts, ", ")
end

-- The body of a loop over the query of a system's run, whose locals are the loop's, too.
local looping = [[
function(_, dt, query)
  local count, sum, least, whose = 0, 0.5, nil, nil
  for %s in %s:each() do
    count = count + 1
    if e %% 3 == 0 then sum = sum + e %% 7 * dt end
    if not least or e %% 11 < least then least, whose = e %% 11, e end
%s    ::continue::
  end
  n, acc, best, who = n + count, acc + sum, least, whose
end]]

function M.source(unit)
  local given = {}
  for _, term in ipairs(unit.terms) do given[#given + 1] = term.name end
  if unit.form == "loop" then
    given[#given + 1] = "e"
    return looping:format(table.concat(given, ", "),
      unit.asks and ("world:query %q"):format(M.query(unit)) or "query",
      (text_of(unit.body):gsub("%f[%w]return(%s+)end%f[%W]", "goto continue%1end")))
  end
  given[#given + 1] = unit.form == "run" and "_, dt" or unit.form == "array" and "i, dt"
    or given[1] == "y" and "dt" or unit.form == "where" and "e" or "dt, e"
  local gives = unit.gives or unit.form == "map" and "x, n, cell, kept"
  return ("function(%s)\n%s%send"):format(table.concat(given, ", "), text_of(unit.body),
    gives and ("return %s\n"):format(gives) or "")
end

return M
