--- What random whole functions (whole_gen.lua) spawn, and what they do with the ids of that.

local M = {}

-- What the generator of whole functions calls for that.
local Gen = {}

local function node(is, ...)
  return { is = is, ... }
end

local function statement(...)
  return node("statement", ...)
end

-- A call of the spawner of "Tag, Mark, Packed", with some of its values.
function Gen:values_of_spawner()
  local list = { self:float(1), self:chance(2) and self:id() or "nil", "nil", self:float(1),
    self:value("i32", 1) }
  local made = node("text", "make(")
  for i = 1, self.random:range(0, #list) do
    if i > 1 then made[#made + 1] = ", " end
    made[#made + 1] = list[i]
  end
  made[#made + 1] = ")"
  return made
end

-- New entities: what they are tied to comes with commands behind.
function Gen:spawned()
  if self:chance(4) then return self:values_of_spawner() end
  local parts = node("text", "world:spawn { ")
  for _, part in ipairs(self.scope.parts) do
    if self:chance(2) then
      parts[#parts + 1] = part[1]
      for _, field in ipairs(part) do
        if type(field) == "table" and self:chance(2) then
          parts[#parts + 1] = field[1] .. " = "
          parts[#parts + 1] = self:value(field[2], 1)
          parts[#parts + 1] = ", "
        end
      end
      parts[#parts + 1] = part.last
    end
  end
  for _, tie in ipairs { "Likes = ", "Near = " } do
    if self:chance(5) then
      parts[#parts + 1] = tie
      parts[#parts + 1] = self:target()
      parts[#parts + 1] = ", "
    end
  end
  parts[#parts + 1] = "}"
  return parts
end

function Gen:spawn()
  if self.loops > 0 or self:chance(2) then return self:family() end
  local made, name = statement("if ", self:bool(1), " then\n"), self:new_name()
  local named = self:chance(2)
  if named then made[#made + 1] = "local " .. name .. " = " end
  made[#made + 1] = self:spawned()
  local field = self.scope:entity_field()
  if named and field and self:chance(3) then
    made[#made + 1] = "\n" .. field .. " = " .. name
  elseif named then
    made[#made + 1] = "\nworld:" .. self:pick { "add(" .. name .. ", 'Tag')",
      "set(e, 'Mark.made', " .. name .. ")", "set(" .. name .. ", 'Mark.by', e)",
      "add(" .. name .. ", 'Likes', e)", "add(e, 'Near', " .. name .. ")" }
  end
  made[#made + 1] = "\nend"
  return made
end

-- Whom a tie is to: an entity, or a tag by its name.
function Gen:target()
  return self:chance(3) and node("text", self:pick { "'Tag'", "'Other'" }) or self:living()
end

-- Ties with fields, by relation and target, by pairs' ids, or that are there.
function Gen:owe()
  local who, to, how = self:living(), self:target(), self.random:range(1, 11)
  local amount, x = self:value("i32", 1), self:float(1)
  if how == 1 then return statement("world:set(", who, ", 'Owes', ", to, ", ", amount, ")") end
  if how == 2 then
    return statement("world:set(", who, ", 'Owes', ", to, ", { rate = ", x, " })")
  elseif how == 3 then
    return statement("world:set(", who, ", 'Owes.amount', ", to, ", ", amount, ")")
  elseif how == 4 then
    return statement("world:set(", who, ", 'Held', ", self:living(), ", ", x, ")")
  elseif how == 5 then
    return statement("world:set(", who, ", 'Held', { grip = ", amount, ", target = ", self:id(),
      " or null })")
  elseif how == 6 then
    return statement("if world:has(", who, ", 'Held') then world:set(", who, ", 'Held.grip', ",
      amount, ") end")
  elseif how == 7 then
    return statement("world:set(", who, ", debt, ", amount, ", ", x, ")")
  elseif how == 8 then
    return statement("world:", self:pick { "add(", "remove(" }, who, ", ",
      self:chance(2) and "debt" or node("text", "world:pair('Owes', ", to, ")"), ")")
  elseif how == 9 then
    return statement("if world:has(", who, ", 'Held', ", to, ") then ", self:store(), " end")
  elseif how == 10 then
    return statement("world:spawn { Owes = { ", to, ", ", self:living(), " }, Held = { ",
      self:living(), ", ", x, " } }")
  end
  return statement("world:spawn { [", self:chance(2) and "debt" or
    node("text", "world:pair('Owes', ", to, ")"), "] = { ", amount, ", rate = ", x, " } }")
end

function Gen:tie()
  if self:chance(2) then return statement("if ", self:bool(1), " then ", self:owe(), " end") end
  local relation = self:pick { ", 'Near'", ", 'Likes'" }
  if self:chance(5) then
    return statement("if ", self:bool(1), " then world:remove(", self:living(), relation, ") end")
  end
  return statement("if ", self:bool(1), " then world:", self:pick { "add(", "remove(" },
    self:living(), relation, ", ", self:target(), ") end")
end

-- An id that has been spawned in the row.
function Gen:born()
  local list = self.scope.leaves.born
  return list[self.random:range(1, #list)]
end

-- A new name for such an id, or for one of two.
function Gen:bear()
  local name, how = self:new_name(), self.random:range(1, 8)
  local made
  if how == 1 then
    made = statement("local ", name, " = ", self:bool(1), " and ", self:born(), " or ",
      self:chance(2) and self:living() or self:born())
  elseif how == 2 then
    made = statement("local ", name, "\nif ", self:bool(1), " then ", name, " = ",
      self:spawned(), " else ", name, " = ", self:born(), " end")
  else
    made = statement("local ", name, " = ", self:spawned())
  end
  self.scope:add("born", name)
  return made
end

-- One that is spawned in some rows.
function Gen:perhaps()
  local name = self:new_name()
  return statement("local ", name, "\nif ", self:bool(1), " then ", name, " = ", self:spawned(),
    " end\nif ", name, " then world:add(", name, ", 'Near', ", self:born(), ") end")
end

-- A chain that rounds of a loop make.
function Gen:chain()
  local name, new = self:new_name(), self:new_name()
  return statement("local ", name, " = ", self:born(), "\nfor ", self:new_name(), " = 1, ",
    self:chance(2) and "2" or "(n.k & 3)", " do\nlocal ", new, " = ", self:spawned(),
    "\nworld:add(", new, ", 'Near', ", name, ")\n", self:chance(2) and
      statement("if ", self:bool(1), " then ", name, " = ", new, " end") or name .. " = " .. new,
    "\nend\nworld:set(", name, ", 'Mark.by', e)")
end

-- What is done with one.
function Gen:rear()
  local one, how = self:born(), self.random:range(1, 13)
  local other = self:chance(3) and self:living() or self:born()
  if how == 1 then return self:perhaps() end
  if how == 2 then return self:chain() end
  if how == 3 then return statement("world:set(", one, ", 'Mark.by', ", other, ")") end
  if how == 4 then return statement("world:set(e, 'Mark.made', ", one, ")") end
  if how == 5 then return statement("world:add(", one, ", 'Tag')") end
  if how == 6 then
    return statement("world:", self:pick { "add(", "add(", "remove(" }, one, ", 'Likes', ",
      other, ")")
  elseif how == 7 then
    return statement("world:add(", one, ", 'Near', ", self:target(), ")")
  elseif how == 8 then
    return statement("if ", self:bool(1), " then world:despawn(", one, ") end")
  elseif how == 9 then
    return statement("world:emit('Said', 0.5, ", one, ", 3, ", self:text(), ")")
  elseif how == 10 then
    return statement("if ", one, self:pick { " == ", " ~= " },
      self:chance(2) and self:leaf "id" or other, " then ", self:store(), " end")
  elseif how == 11 then
    return statement("world:spawn { Near = ", one, ", Mark = { by = ", other, " } }")
  end
  return self:bear()
end

-- Some that know each other.
function Gen:family()
  local mark = self.scope:mark()
  local made, name = statement("if ", self:bool(1), " and ", self:bool(1), " then\n"),
    self:new_name()
  made[#made + 1] = statement("local ", name, " = ", self:spawned(), "\n")
  self.scope:add("born", name)
  for _ = 1, self.random:range(2, 5) do
    made[#made + 1] = self:rear()
    made[#made + 1] = "\n"
  end
  local field = self.scope:entity_field()
  if field and self:chance(4) then
    made[#made + 1] = statement(field, " = ", self:born(), "\n")
  end
  self.scope:back(mark)
  made[#made + 1] = "end"
  return made
end

--- Gives the generator of whole functions what it calls for that.
function M.add_to(generator)
  for name, method in pairs(Gen) do generator[name] = method end
end

return M
