--- What the statements of a random whole function may name: fields of its views, arrays, a
--- resource, values from outside, questions about other entities. Mostly each column has one owner,
--- as kernels want it: it is read, is the row's own, or is written in steps or by commands.

local M = {}

--- Components and their fields, with the types that decide what is stored.
M.fields = {
  N = { { "f", "f64" }, { "g", "f64" }, { "w", "f32" }, { "i", "i32" }, { "k", "i64" },
    { "u", "u8" }, { "on", "bool" }, { "kind", "enum" }, { "who", "entity" },
    { "name", "string" } },
  Body = { { "hp", "f64" }, { "armor", "i16" }, { "on", "bool" }, { "by", "entity" },
    { "w", "f32" } },
  Packed = { { "f", "f64" }, { "n", "i32" } },
  Shield = { { "n", "i32" }, { "f", "f64" }, { "on", "bool" } },
  Mark = { { "x", "f64" }, { "by", "entity" }, { "made", "entity" } },
}

local kinds = { f64 = "float", i32 = "int", i64 = "int", u8 = "int", i16 = "int", bool = "bool",
  entity = "id", enum = "text", string = "name" }

-- Terms by component: the text, the view's name, and whether it may be absent (`maybe`), is read
-- only (`read`), or somebody else's (`other`).
local choices = {
  Body = {
    { "Body", "body" }, { "Body", "body" }, { "Body?", "body", maybe = true },
    { "Body:in", "body", read = true }, { "N.who->Body", "body", other = true },
    { "N.who->Body?", "body", other = true, maybe = true },
    { "N.who->Body:in", "body", other = true, read = true },
    { "N.who->Body:in?", "body", other = true, read = true, maybe = true },
    { "Near->Body", "body", other = true }, { "Near->Body:in?", "body", other = true, read = true,
      maybe = true }, { "ChildOf->Body", "body", other = true },
    { "ChildOf*->Body:in?", "body", other = true, read = true, maybe = true }, { "!Body" },
    { "Body($p):in", "body", other = true, read = true },
  },
  Packed = {
    { "Packed", "packed" }, { "Packed?", "packed", maybe = true }, { "!Packed" },
    { "Packed:in", "packed", read = true }, { "with Packed" }, { "Packed:off", "packed" },
    { "Packed:any?", "packed", maybe = true },
    { "N.who->Packed?", "packed", other = true, maybe = true },
    { "Near->Packed:in", "packed", other = true, read = true },
  },
  Shield = {
    { "Shield", "shield" }, { "Shield?", "shield", maybe = true }, { "!Shield" },
    { "Shield:off", "shield" }, { "Shield:any", "shield" }, { "Shield:in", "shield", read = true },
    { "N.who->Shield?", "shield", other = true, maybe = true },
  },
  Tag = { { "!Tag" }, { "with Tag" }, { "Tag?", "tag", truth = true },
    { "Tag?", "tag", truth = true } },
  Ties = { { "(Likes, *)" }, { "!(Likes, *)" }, { "(Likes, $p)" }, { "with (Near, *)" },
    { "(Near, $p)" } },
  Parent = { { "ChildOf->N:in", "up", other = true, read = true, of = "N" },
    { "ChildOf->N:in?", "up", other = true, read = true, of = "N", maybe = true },
    { "N.who->N:in", "up", other = true, read = true, of = "N" },
    { "Near->N:in?", "up", other = true, read = true, of = "N", maybe = true } },
}

-- How often, in a hundred, a query has a term of each.
local shares = { { "Body", 55 }, { "Packed", 30 }, { "Shield", 30 }, { "Tag", 30 }, { "Ties", 8 },
  { "Parent", 15 } }

local Scope = {}
Scope.__index = Scope

function Scope:chance(percent)
  return self.random:range(1, 100) <= percent
end

local function pick(self, list)
  return list[self.random:range(1, #list)]
end

-- The terms of a query. Now and then it does not begin with N, by which its order changes.
function Scope:choose_terms()
  local terms = { { text = "N", name = "n", of = "N" } }
  if self.form == "map" then
    terms[2] = self:chance(50) and { text = "Tag?", name = "tag", truth = true } or nil
    return terms
  end
  for _, share in ipairs(shares) do
    if self:chance(share[2]) and not (self.result and self:chance(80)) then
      local choice = pick(self, choices[share[1]])
      local term = { text = choice[1], name = choice[2], maybe = choice.maybe, read = choice.read,
        other = choice.other, truth = choice.truth, of = choice.of or share[1] }
      if self:chance(8) then
        table.insert(terms, 1, term)
      else
        terms[#terms + 1] = term
      end
    end
  end
  return terms
end

function Scope:add(list, what)
  local leaves = self.leaves[list] or {}
  self.leaves[list] = leaves
  leaves[#leaves + 1] = what
end

-- A field of a view: what may be named, and where something may be stored.
function Scope:add_field(view, field)
  local text, type = view.name .. "." .. field[1], field[2]
  local frozen = view.name == "n" and self.frozen[field[1]]
  local steps = view.other and not view.read
  if type ~= "f32" and (not steps or self:chance(2)) then self:add(kinds[type], text) end
  if view.read or frozen and not self:chance(2) then return end
  if self.form == "map" and type == "f32" then return end   -- there it would be a local
  if not steps then
    self.stores[#self.stores + 1] = { text, type }
  elseif type ~= "f32" and not self.result then
    self.steps[#self.steps + 1] = { text, type }
  end
end

-- What the view has may be named.
function Scope:enter(view)
  for _, field in ipairs(M.fields[view.of]) do
    if view.name ~= "up" or self.frozen[field[1]] or self:chance(10) then
      self:add_field(view, field)
    end
  end
end

local lists = { "stores", "steps", "views", "sets" }

--- The lengths of all lists, to come back to at the end of a body.
-- A field for ids that is the row's own, or nil.
function Scope:entity_field()
  for _, to in ipairs(self.stores) do
    if to[2] == "entity" then
      return to[1]
    end
  end
end

function Scope:mark()
  local mark = {}
  for name, list in pairs(self.leaves) do mark[name] = #list end
  for _, name in ipairs(lists) do mark["." .. name] = #self[name] end
  return mark
end

function Scope:back(mark)
  local function cut(list, length)
    for i = #list, length + 1, -1 do list[i] = nil end
  end
  for name, list in pairs(self.leaves) do cut(list, mark[name] or 0) end
  for _, name in ipairs(lists) do cut(self[name], mark["." .. name]) end
end

local arrays = { { "floats", "f64", "float" }, { "ints", "i32", "int" }, { "bytes", "u8", "int" },
  { "flags", "bool", "bool" }, { "those", "entity", "id" } }

function Scope:add_arrays()
  for _, array in ipairs(arrays) do
    local place = array[1] .. "[<index>]"
    local written = not self.result and self:chance(40)
    if written then self.steps[#self.steps + 1] = { place, array[2], maybe = true } end
    if not written or self:chance(2) then self:add(array[3] .. "?", place) end
  end
  local written = not self.result and self:chance(50)
  for _, field in ipairs { { "f", "f64" }, { "n", "i32" }, { "on", "bool" } } do
    local text = "score." .. field[1]
    if written then self.steps[#self.steps + 1] = { text, field[2] } end
    if not written or self:chance(2) then self:add(kinds[field[2]], text) end
  end
end

-- What may be got of others, or set by commands: components that no term of the query writes.
function Scope:add_others()
  local written = {}
  for _, term in ipairs(self.terms) do
    if not term.read and M.fields[term.of] then written[term.of] = true end
  end
  for _, name in ipairs { "Body", "Packed", "Shield" } do
    local sets = not written[name] and not self.result and self:chance(40) or self:chance(2)
    if name == "Shield" then self.shields = not sets and not written[name] end
    for _, field in ipairs(M.fields[name]) do
      local path = name .. "." .. field[1]
      if sets then
        self.sets[#self.sets + 1] = { path, field[2] }
      elseif (not written[name] or self:chance(2)) and field[2] ~= "f32" then
        self:add(kinds[field[2]] .. "?", "world:get(<living>, '" .. path .. "')")
      end
    end
  end
  for _, field in ipairs(M.fields.N) do
    if self.frozen[field[1]] and kinds[field[2]] then
      self:add(kinds[field[2]] .. "?", "world:get(<living>, 'N." .. field[1] .. "')")
    end
  end
  for _, field in ipairs(M.fields.Mark) do
    self.sets[#self.sets + 1] = { "Mark." .. field[1], field[2] }
  end
end

local function first_leaves(form)
  local leaves = {
    float = { "1.5", "0.25", "(-2.0)", "UF", "config.f", "0.0", "config.list[2]", "cost[n.kind]",
      "world:random(e)" },
    int = { "1", "2", "7", "UI", "config.n", "(-3)", "#floats", "world:count('Body')",
      "world:random(e, 6)" },
    bool = { "config.on", "(n.kind == 'red')", "(n.who == e)", "(n.who ~= null)",
      "(n.name == 'ann')", "(n.name == n.name)", "true" },
    id = { "e", "n.who" },
    living = { "e", "e", "anchor" },
    text = { "'red'", "'green'", "'blue'" }, name = { "'ann'", "'bob'", "''", "'an\\0n'" },
    ["float?"] = { "list[<index>]" }, ["int?"] = {}, ["bool?"] = {}, locals = {},
    ["id?"] = { "world:target(<living>, 'Near')", "world:target(<living>, 'Likes')",
      "world:parent(<living>)" },
  }
  if form ~= "where" then leaves.float[#leaves.float + 1] = "dt" end
  return leaves
end

-- Which fields of N are only read, so that others may be asked for them.
function Scope:choose_frozen()
  self.frozen = {}
  for _, field in ipairs { "f", "g", "i", "k", "kind", "on" } do
    self.frozen[field] = self:chance(40)
  end
  for _, term in ipairs(self.terms) do
    if term.text:find("who->", 1, true) then self.frozen.who = true end
  end
end

local results = { where = true, sum = true, min = true, max = true, map = true }

--- What a function for that form may name, over a query of those terms or of some that are chosen.
function M.new(random, form, terms)
  local self = setmetatable({ random = random, form = form, result = results[form], stores = {},
    steps = {}, views = {}, sets = {}, leaves = first_leaves(form) }, Scope)
  self.terms = terms or self:choose_terms()
  self:choose_frozen()
  self.within = { "n.i % 8 + 1", "n.u % 8 + 1", "(n.k & 7) + 1", "(n.i & 3) + 2" }
  self.had = { "Tag", "Other", "Body", "Packed", "Shield", "Mark", "N" }
  self:add_arrays()
  self:add_others()
  for _, term in ipairs(self.terms) do
    if term.truth then
      self:add("bool", "(tag or false)")
      self:add("bool", "(not tag)")
    elseif term.name and term.maybe then
      self.views[#self.views + 1] = term
    elseif term.name then
      self:enter(term)
    end
  end
  if not terms or self:chance(90) then
    self.parts = { { "N = { ", { "f", "f64" }, { "i", "i32" }, { "kind", "enum" }, last = "}, " },
      { "Body = { ", { "hp", "f64" }, { "by", "entity" }, last = "}, " },
      { "Packed = { ", { "n", "i32" }, last = "}, " }, { "Tag = true, ", last = "" },
      { "Mark = { ", { "x", "f64" }, last = "}, " } }
  end
  self.parts = self.parts or {}
  return self
end

return M
