-- world:dump: an entity as readable text.

local common = require "ecs.common"
local native = require "ecs.native"
local prefab = require "ecs.prefab"

local DEPTH = 4          -- levels of children that are shown
local CHILDREN = 100     -- children of one entity that are shown

local dump = {}

--- The text for an entity: its name, if it has one, and its id.
---@param world ecs.World
---@param id ecs.Id
function dump.entity(world, id)
  if id == 0 then
    return "null"
  end
  local name = world:alive(id) and world:name(id)
  return name and ("%s (%s)"):format(name, native.format(id)) or native.format(id)
end

-- A number with the fewest digits that identify it in its type.
local function number(value, type)
  if common.kind(value) == "integer" then
    return ("%d"):format(value)
  end
  for digits = type == "f32" and 6 or 14, type == "f32" and 9 or 17 do
    local text = prefab.number(value, "%." .. digits .. "g")
    local back = tonumber(text)
    if not back or back == value or type == "f32" and native.f32(back)
        == native.f32(value) then
      return text
    end
  end
end

local function cell_text(world, value, type)
  if type == "entity" and math.type(value) == "integer" then
    return dump.entity(world, value)
  end
  local ok, text = true, common.kind(value) and number(value, type)
  if not text then
    ok, text = native.try(tostring, value)
  end
  return ok and text or ("a %s whose __tostring fails"):format(_G.type(value))
end

-- Calls visit(path, value, type, field) for every cell of a value.
local function visit_cells(describe, path, value, type, field, visit)
  local kind = _G.type(value)
  local inner = kind == "table" and type:match "^(.*)%[%d+%]$"
  if inner then
    for i = 1, #value do
      visit_cells(describe, ("%s[%d]"):format(path, i), value[i], inner, field, visit)
    end
  elseif kind == "table" and type ~= "any" then
    dump.cells(describe, type, value, visit, path .. ".")
  else
    visit(path, value, type, field)
  end
end

--- Calls visit(path, value, type, field) for every cell of a component's value, in order.
---@param describe fun(name: string): ecs.ComponentDescription
---@param name string
---@param value table
---@param visit fun(path: string, value: any, type: string, field: table)
---@param prefix? string What paths begin with; by default the component's name and a dot.
function dump.cells(describe, name, value, visit, prefix)
  for _, field in ipairs(describe(name).fields) do
    visit_cells(describe, (prefix or name .. ".") .. field.name, value[field.name], field.type,
      field, visit)
  end
end

--- Returns every cell of a component's value as { path, text, type, id of an entity }, in order.
---@param world ecs.World
---@param describe fun(name: string): ecs.ComponentDescription
---@param name string
---@param value table
function dump.leaves(world, describe, name, value)
  local out = {}
  dump.cells(describe, name, value, function(path, cell, type)
    out[#out + 1] = { path, cell_text(world, cell, type), type, type == "entity" and cell or nil }
  end)
  return out
end

--- Returns a component's value in one line, floats with six digits.
---@param world ecs.World
---@param describe fun(name: string): ecs.ComponentDescription
---@param name string
---@param value table
function dump.line(world, describe, name, value)
  local out = {}
  local function visit(path, cell, type)
    if common.kind(cell) == "float" then
      local text = ("%s %.6g"):format(path, cell)
      out[#out + 1] = text:find(",", 1, true) and text:gsub(",", ".") or text
    else
      out[#out + 1] = path .. " " .. cell_text(world, cell, type)
    end
  end
  dump.cells(describe, name, value, visit, "")
  return table.concat(out, "  ")
end

local FORMATS = { f32 = "%.6g", f64 = "%.6g", bool = "%s" }

--- Returns a function that shows a component of an entity in one line, or "" if it is absent. It
--- uses a single format if all fields are numbers and booleans.
---@param world ecs.World
---@param describe fun(name: string): ecs.ComponentDescription
---@param name string
---@return fun(entity: ecs.Id): string
---@return boolean plain Whether it only shows numbers and names of fields.
function dump.liner(world, describe, name)
  local about, parts = describe(name), {}
  for _, field in ipairs(about.fields) do
    parts[#parts + 1] = field.type:match "^[iu]%d+$" and field.name .. " %d"
      or FORMATS[field.type] and field.name .. " " .. FORMATS[field.type]
  end
  local text = table.concat(parts, "  ")
  local function show(first, ...)
    return first ~= nil and text:format(first, ...) or ""
  end
  if #parts == #about.fields and #parts > 0 and not about.relation and #text < 100
      and ("%.1f"):format(0.5) == "0.5" then
    return function(entity) return show(world:get(entity, name)) end, true
  end
  return function(entity)
    if not world:has(entity, name) then
      return ""
    elseif #about.fields == 0 or about.relation and not about.exclusive then
      return "yes"
    end
    return dump.line(world, describe, name, world:read(entity, name))
  end, false
end

-- A value of a field's type, in one line. A table may have changed since it was read; parts that
-- do not fit the type are shown as they are.
local function show(world, value, type)
  local inner, parts = type:match "^(.*)%[%d+%]$", {}
  if _G.type(value) == "table" and type ~= "any" then
    local known, about = false, nil
    if not inner then
      known, about = native.try(world.describe, world, type)
    end
    for i = 1, inner and #value or 0 do
      parts[i] = show(world, value[i], inner)
    end
    for i, field in ipairs(known and about.fields or {}) do
      parts[i] = field.name .. " = " .. show(world, value[field.name], field.type)
    end
    return "{ " .. table.concat(parts, ", ") .. " }"
  elseif type == "string" and _G.type(value) == "string" then
    return (("%q"):format(value):gsub("\\\n", "\\n"))
  end
  return cell_text(world, value, type)
end

--- Shows a table that world:read returned, in one line.
---@param world? ecs.World nil if it no longer exists.
---@param component ecs.Id
---@param value table
function dump.value(world, component, value)
  local known, about = native.try(world and world.describe or error, world, component)
  if not known then
    return "a value of a component that no longer exists"
  end
  return about.name .. " " .. show(world, value, about.name)
end

local function add_fields(world, out, indent, fields, value)
  for _, field in ipairs(fields) do
    local notes = {}
    for _, note in ipairs { field.unit or "", field.doc and "-- " .. field.doc:gsub("%s+", " ") } do
      notes[#notes + 1] = note ~= "" and note or nil
    end
    local line = ("%s%s: %s = %s  %s"):format(indent, field.name, field.type,
      show(world, value[field.name], field.type), table.concat(notes, "  "))
    out[#out + 1] = line:gsub("%s+$", "")
  end
end

local function add_component(world, out, indent, entity, name, value)
  local about = world:describe(name)
  local target = about.relation and value ~= true and value.target
  out[#out + 1] = indent .. name .. (target and " -> " .. dump.entity(world, target) or "") ..
    (about.toggle and not world:enabled(entity, name) and "  (off)" or "")
  if value ~= true then
    local fields = {}
    for _, field in ipairs(about.fields) do
      fields[#fields + 1] = not (target and field.name == "target") and field or nil
    end
    add_fields(world, out, indent .. "  ", fields, value)
  end
end

-- Adds the ties of relations with several targets. world:components yields them as ids of pairs.
local function add_pairs(world, out, indent, entity)
  for _, name in ipairs(world:describe().components) do
    local about = world:describe(name)
    if about.relation and not about.exclusive and world:has(entity, name) then
      for target in world:targets(entity, name) do
        out[#out + 1] = indent .. name .. " -> " .. dump.entity(world, target)
        if #about.fields > 0 then
          add_fields(world, out, indent .. "  ", about.fields, world:read(entity, name, target))
        end
      end
    end
  end
end

local function add_entity(world, out, indent, entity, depth)
  out[#out + 1] = indent .. dump.entity(world, entity)
  local paired = false
  for name, value in world:components(entity) do
    if type(name) == "string" then
      add_component(world, out, indent .. "  ", entity, name, value)
    else
      paired = true
    end
  end
  if paired then
    add_pairs(world, out, indent .. "  ", entity)
  end
  local children = {}
  for child in world:children(entity) do
    children[#children + 1] = child
  end
  table.sort(children)
  if #children > 0 then
    out[#out + 1] = ("%s  %d children"):format(indent, #children)
  end
  for i = 1, depth < DEPTH and math.min(#children, CHILDREN) or 0 do
    add_entity(world, out, indent .. "    ", children[i], depth + 1)
  end
end

--- world:dump(e): an entity with its components, relations and children, as readable text.
---@param world ecs.World
---@param entity ecs.Id
---@return string
function dump.dump(world, entity)
  local out = {}
  local ok, message = native.try(world.parent, world, entity)
  if not ok then
    message = type(message) == "string" and message:gsub("bad argument #%d+ to '[^']*'",
      "bad argument #1 to 'dump'") or message
    error(message, 3)
  end
  native.exact(world, add_entity, world, out, "", entity, 1)
  return table.concat(out, "\n")
end

return dump
