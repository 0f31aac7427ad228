--- Loops of random whole functions, see whole_gen.lua: those whose rounds are the same for all
--- rows, and those that each row leaves when it likes.

local M = {}

local function node(is, ...)
  return { is = is, ... }
end

local function statement(...)
  return node("statement", ...)
end

-- What a numeric for counts by: the same for all rows, or the row's own; by floats.
local counts = { "1, 3", "3, 1, -1", "1, config.n", "0, 2", "1, #floats", "1, n.u % 5",
  "n.i % 4, 0, -1", "n.u % 3, 6, n.i % 2 + 1", "n.k % 3, n.u % 6 + 0.5" }
local float_counts = { "0.5, n.u % 4", "n.u % 3, 0.0, -0.75", "0.0, 1.0, n.u % 2 + 0.5" }

-- How a loop begins and ends; each ends in some round, whose number is in a local of the name.
local function frame_of(self, name)
  local how = self.random:range(1, 10)
  if how <= 5 then return node("text", "for ", name, " = ", self:pick(counts), " do\n"), "end" end
  if how == 6 then
    return node("text", "for ", name, " = ", self:pick(float_counts), " do\n"), "end", "float"
  end
  local first = "local " .. name .. " = 0\n"
  local step = name .. " = " .. name .. " + 1\n"
  if how <= 8 then
    return node("text", first, "while ", name, " < 4 and ", self:bool(2), " do\n", step), "end"
  elseif how == 9 then
    return node("text", first, "repeat\n", step),
      node("text", "until ", name, " > 4 or ", self:bool(1))
  end
  return node("text", first, "while true do\n", step),
    node("text", "if ", name, " > 3 or ", self:bool(1), " then break end\nend")
end

local function loop(self, depth)
  local mark, name = self.scope:mark(), self:new_name()
  local front, back, kind = frame_of(self, name)
  self.scope:add(kind or "int", name)
  self.loops = self.loops + 1
  local label = self:chance(4) and "next_" .. name
  local made = statement(front,
    label and statement("if ", self:bool(1), " then goto ", label, " end\ndo\n") or "",
    self:body(depth - 1), label and "end\n" or "",
    self:chance(3) and statement("if ", self:bool(1), " then break end\n") or "",
    label and "::" .. label .. "::\n" or "", back)
  self.loops = self.loops - 1
  self.scope:back(mark)
  return made
end

-- Jumps back, a few times.
local function jumps(self, depth)
  local mark, name = self.scope:mark(), self:new_name()
  self.scope:add("int", name)
  self.loops = self.loops + 1
  local label = "again_" .. name
  local made = statement("local ", name, " = 0\n::", label, "::\n", name, " = ", name,
    " + 1\ndo\n", self:body(depth - 1), "end\nif ", name, " < 4 and ", self:bool(1),
    " then goto ", label, " end")
  self.loops = self.loops - 1
  self.scope:back(mark)
  return made
end

--- Gives a generator the methods that make loops.
function M.add_to(generator)
  generator.loop, generator.jumps = loop, jumps
end

return M
