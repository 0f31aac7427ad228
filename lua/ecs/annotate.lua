-- LuaCATS annotations of what a world declares: world:write_types.

local native = require "ecs.native"
local prefab = require "ecs.prefab"

local annotate = {}

local TYPES = { bool = "boolean", entity = "ecs.Id", string = "string", any = "any",
  f32 = "number", f64 = "number" }

local function one_line(text)
  return (text:gsub("%s+", " "):sub(1, 200))
end

-- The name of a class of ours: names of components may be anything.
local function class_of(name)
  return (name:gsub("[^%w_]", "_"))
end

local function type_of(type)
  local inner = type:match "^(.*)%[%d+%]$"
  if inner then
    return type_of(inner) .. "[]"
  elseif type:find "^enum" then
    local names = {}
    for name in type:match("%((.*)%)"):gmatch "[^,%s]+" do
      names[#names + 1] = ('"%s"'):format(name)
    end
    return "(" .. table.concat(names, "|") .. ")"
  end
  return TYPES[type] or type:find "^[iu]%d+$" and "integer" or class_of(type)
end

local function key_of(name)
  local plain = name:find "^[%a_][%w_]*$" and load("local " .. name)
  return plain and name or ("[%q]"):format(name):gsub("\\\n", "\\n")
end

local function notes_of(field)
  local unit = field.unit and "Unit: " .. one_line(field.unit)
  local notes = { field.doc and one_line(field.doc), unit }
  if field.min ~= nil or field.max ~= nil then
    local function shown(value)
      local text = type(value) == "number" and prefab.number(value) or value
      return text == nil and "" or one_line(text)
    end
    notes[#notes + 1] = ("Range: %s to %s"):format(shown(field.min), shown(field.max))
  end
  local kept = {}
  for i = 1, 3 do
    kept[#kept + 1] = notes[i] or nil
  end
  return table.concat(kept, ". ")
end

local function add_class(out, about, kind)
  out[#out + 1] = ""
  out[#out + 1] = ("--- The %s '%s'%s"):format(kind, one_line(about.name),
    about.doc and ": " .. one_line(about.doc) or ".")
  out[#out + 1] = "---@class " .. class_of(about.name)
  for _, field in ipairs(about.fields) do
    local line = ("---@field %s %s %s"):format(key_of(field.name), type_of(field.type),
      notes_of(field))
    out[#out + 1] = line:gsub("%s+$", "")
  end
end

--- The text that world:write_types writes.
---@param world ecs.World
---@return string
function annotate.text(world)
  local out = { "---@meta", "", "--- Written by world:write_types. What is edited here is lost." }
  local now = world:describe()
  local orders = { { "components", "component" }, { "events", "event" } }
  for _, order in ipairs(orders) do
    table.sort(now[order[1]])
    for _, name in ipairs(now[order[1]]) do
      local about = world:describe(name)
      add_class(out, about, about.relation and "relation" or order[2])
    end
  end
  table.sort(now.prefabs)
  if #now.prefabs > 0 then
    out[#out + 1] = ""
    out[#out + 1] = "---@alias Prefab"
  end
  for _, name in ipairs(now.prefabs) do
    out[#out + 1] = ("---| %s"):format((("%q"):format(one_line(name))))
  end
  return table.concat(out, "\n") .. "\n"
end

-- What follows scripts, by session: ecs.live enters it here.
annotate.watches = setmetatable({}, { __mode = "k" })

--- world:write_types(path): writes that text into a file, if it is not there already.
---@param world ecs.World
---@param path string
---@return boolean written
function annotate.write(world, path)
  if type(path) ~= "string" or not path:find "%.lua$" or path:find("\0", 1, true) then
    local got = type(path) == "string" and "another text" or type(path)
    error("bad argument #1 to 'write_types' (path of a .lua file expected, got " .. got .. ")", 3)
  end
  for _, watch in next, annotate.watches do
    if watch:covers(path) then
      error(("write_types: '%s' is among the scripts of a session, which would read it as one: "
        .. "write it elsewhere"):format(path), 3)
    end
  end
  local io = rawget(_G, "io")
  local text = annotate.text(world)
  local file = io and io.open(path, "rb")
  local before = file and file:read "a"
  if file then
    file:close()
  end
  if before == text then
    return false
  end
  local ok, message = native.replace(path, text)
  if not ok then
    error(message, 3)
  end
  return true
end

return annotate
