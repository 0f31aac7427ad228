--- Makes a program of rule_gen.lua that fails smaller, as long as it still fails: leaves out
--- statements, functions, terms and rows, and puts plain values for expressions.
local M = {}

local function copy(part)
  if type(part) ~= "table" then return part end
  local other = {}
  for key, value in pairs(part) do other[key] = copy(value) end
  return other
end

local plain = { float = "1.5", int = "1", bool = "true", id = "e", text = "'red'", name = "'ann'",
  ["float?"] = "nil", ["int?"] = "nil", ["bool?"] = "nil", ["id?"] = "nil" }

-- Calls fn(list, i) for every place in the tree where something may be left out, last ones first.
local function each_place(part, fn)
  if type(part) ~= "table" then return end
  for i = #part, 1, -1 do
    if type(part[i]) == "table" then
      fn(part, i)
      each_place(part[i], fn)
    end
  end
end

local function bodies(program)
  local found = {}
  for _, unit in ipairs(program.units) do
    found[#found + 1] = unit.body
    if unit.rest then found[#found + 1] = unit.rest.body end
  end
  return found
end

-- All places of a program, in the same order in each of its copies.
local function places(program)
  local found = {}
  for _, body in ipairs(bodies(program)) do
    each_place(body, function(list, i) found[#found + 1] = { list, i } end)
  end
  return found
end

-- What may stand where a part does: nothing, what is in it, a plain value.
local function instead(part)
  local found = {}
  if part.is == "statement" or part.is == "body" then
    for _, inner in ipairs(part) do
      if type(inner) == "table" and inner.is == "body" then found[#found + 1] = inner end
    end
    return found
  end
  each_place(part, function(list, i)
    if list[i].is == part.is or list[i].is .. "?" == part.is then found[#found + 1] = list[i] end
  end)
  if plain[part.is] and #part > 1 or #found > 0 then
    table.insert(found, 1, { is = part.is, plain[part.is] })
  end
  return found
end

-- Smaller programs made at one place.
local function at_place(program, k, try)
  local list, i = table.unpack(places(program)[k])
  if list.is == "body" then
    local smaller = copy(program)
    local there = places(smaller)[k]
    table.remove(there[1], there[2])
    if try(smaller) then return true end
  end
  for n = 1, #instead(list[i]) do
    local smaller = copy(program)
    local there = places(smaller)[k]
    there[1][there[2]] = instead(there[1][there[2]])[n]
    if try(smaller) then return true end
  end
end

-- Smaller programs made otherwise: fewer turns, units, terms and rows, nothing special, one thread.
local function outside(program, try)
  local function with(change)
    local smaller = copy(program)
    change(smaller)
    return try(smaller)
  end
  for i = #program.units, 1, -1 do
    if #program.units > 1 and with(function(p) table.remove(p.units, i) end) then return true end
    for t = #program.units[i].terms, 1, -1 do
      if with(function(p)
        table.remove(p.units[i].terms, t)
        if p.units[i].rest then p.units[i].rest.terms = p.units[i].terms end
      end) then return true end
    end
  end
  for i = #(program.with or {}), 1, -1 do
    if with(function(p) table.remove(p.with, i) end) then return true end
  end
  if program.threads and program.threads ~= 1 and with(function(p) p.threads = 1 end) then
    return true
  end
  if program.turns > 1 and with(function(p) p.turns = 1 end) then return true end
  for _, rows in ipairs { program.rows // 8, program.rows // 2, program.rows - 1 } do
    local fewer = rows >= 3 and rows < program.rows
    if fewer and with(function(p) p.rows = rows end) then return true end
  end
end

--- The smallest program found for which fails(program) is true, as it is for this one.
function M.program(program, fails)
  local left = 3000
  local function try(smaller)
    left = left - 1
    if left > 0 and fails(smaller) then
      program = smaller
      return true
    end
  end
  local again = true
  while again and left > 0 do
    again = outside(program, try)
    local k = 1
    while k <= #places(program) and left > 0 do
      if at_place(program, k, try) then again = true else k = k + 1 end
    end
  end
  return program
end

--- A program that differs when run.differs plays it with what more is given, made small: run.show
--- of it, and what differs then.
function M.told(program, run, ...)
  local more = table.pack(...)
  local function differs(smaller) return run.differs(smaller, table.unpack(more, 1, more.n)) end
  local small = M.program(program, function(smaller)
    local ok, what = pcall(differs, smaller)
    return ok and what ~= nil
  end)
  return run.show(small) .. "\n" .. (differs(small) or "no difference any more")
end

return M
