-- Saves worlds to files and loads them.

local native = require "ecs.native"

local file = {}

local PLAIN = { ["nil"] = true, boolean = true, number = true, string = true }

local function check(ok, message)
  if not ok then
    error(message, 0)
  end
  return ok
end

local function check_arguments(world, path, name, options)
  local open, other = native.is_open(world)
  if open == nil then
    local got = other or type(world)
    error(("bad argument #1 to '%s' (world expected, got %s)"):format(name, got), 3)
  elseif type(path) ~= "string" or path == "" or path:find("\0", 1, true) then
    local got = path == "" and "an empty string" or type(path)
    error(("bad argument #2 to '%s' (path expected, got %s)"):format(name, got), 3)
  elseif options ~= nil and type(options) ~= "table" then
    error(("bad argument #3 to '%s' (table expected, got %s)"):format(name, type(options)), 3)
  end
end

-- Saves a world to a file, as a whole or not at all, even if others save to it or load from it
-- at the same time. `options` are those of world:save.
function file.save(world, path, options)
  check_arguments(world, path, "save_file", options)
  local bytes = world:save(options)
  check(native.replace(path, bytes))
end

-- Returns the content of a file. If io is missing, the error is raised at the call of file.load.
local function read(path)
  if native.read then
    return check(native.read(path))
  end
  local io = rawget(_G, "io")
  if not io then
    error("ecs.load_file needs Lua's library 'io', which is not open: read the file by other "
      .. "means and pass its bytes to world:load", 4)
  end
  local input = check(io.open(path, "rb"))
  local bytes, message = input:read "a"
  input:close()
  return check(bytes, ("%s: %s"):format(path, message))
end

-- Loads a world from a file. `options` are those of world:load.
function file.load(world, path, options)
  check_arguments(world, path, "load_file", options)
  local bytes = read(path)
  local ok, problem, kind = native.try(world.load, world, bytes, options)
  if not ok then
    local named = kind ~= "memory" and PLAIN[type(problem)]
    error(named and path .. ": " .. tostring(problem) or problem, 0)
  end
end

return file
