-- ecs: an entity component system with storage and loops in C and systems in Lua.

-- Globals may be strict, and hosts may not open all libraries. These are required.
for _, name in ipairs { "math", "string", "table" } do
  if type(rawget(_G, name)) ~= "table" then
    error(("ecs needs Lua's library '%s': open it before the first require 'ecs'"):format(name), 0)
  end
end

local native = require "ecs.native"
local file = require "ecs.file"
local schema = require "ecs.schema"

-- The metatable of tables that world:read returns, for tostring. It does not keep the world alive.
local function reader(world, component)
  local of = setmetatable({ world }, { __mode = "v" })
  return { __tostring = function(value)
    return require("ecs.entity_dump").value(of[1], component, value)
  end }
end

-- Called when a world has been closed, by its method or at the end of a block.
local function closed(world)
  local inspect = package.loaded["ecs.inspect"]
  if inspect then
    inspect.closed(world)
  end
end

native.schema(schema.parse, reader, closed, require "ecs.lists")

-- Methods of worlds that are written in Lua. Each file is loaded on its first call.
local function check_world(world, name)
  local open, other = native.is_open(world)
  if open == nil then
    local got = other or type(world)
    error(("bad argument #1 to '%s' (world expected, got %s)"):format(name, got), 3)
  elseif not open then
    error(("bad argument #1 to '%s' (the world is closed)"):format(name), 3)
  end
end

local methods = {}

function methods.dump(world, entity)
  check_world(world, "dump")
  return require("ecs.entity_dump").dump(world, entity)
end

function methods.write_types(world, path)
  check_world(world, "write_types")
  return require("ecs.annotate").write(world, path)
end

native.methods(methods)
for _, name in ipairs { "dump", "write_types" } do
  table.insert(native.exports.world, name)
end

-- The directory of ecs.h and ecs_lua.h: next to this file once installed, src/ in a clone, or nil
-- if the module is not installed as files. `path` is that of this file.
local function find_headers(path)
  local io = rawget(_G, "io")
  local here = path and path:match("^(.*)init%.lua$")
  if not here or not io then
    return nil
  end
  local clone = here:match("^(.*)lua[/\\]ecs[/\\]$")
  for _, directory in ipairs { here .. "include", clone and clone .. "src" } do
    local header = io.open(directory .. "/ecs_lua.h")
    if header then
      header:close()
      return directory
    end
  end
end

local ecs = {
  null = native.null,
  version = native.version,
  _VERSION = "ecs " .. native.version,
  fields = native.fields,
  include = find_headers(select(2, ...)),
  format = native.format,
  math = native.math,
  load_file = file.load,
  save_file = file.save,
  world = native.world,
}

-- ecs.json is loaded on first use.
return setmetatable(ecs, {
  __index = function(_, key)
    if key == "json" then
      rawset(ecs, "json", require "ecs.json")
      return rawget(ecs, "json")
    end
  end,
})
