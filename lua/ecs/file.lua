-- Worlds in files.

local native = require "ecs.native"

local file = {}

local function check(ok, message)
  if not ok then
    error(message, 0)
  end
  return ok
end

local function check_arguments(world, path, name)
  if type(world) ~= "userdata" or not tostring(world):find "^ecs%.world" then
    error(("bad argument #1 to '%s' (world expected, got %s)"):format(name, type(world)), 3)
  elseif type(path) ~= "string" or path:find("\0", 1, true) then
    error(("bad argument #2 to '%s' (path expected, got %s)"):format(name, type(path)), 3)
  end
end

-- Saves a world into a file: whole, or not at all. options as for world:save.
function file.save(world, path, options)
  check_arguments(world, path, "save_file")
  local bytes = world:save(options)
  local temporary = path .. ".tmp"
  local out = check(io.open(temporary, "wb"))
  local ok, message = out:write(bytes)
  local closed, why = out:close()
  if not (ok and closed) then
    os.remove(temporary)
    error(message or why, 0)
  end
  ok, message = os.rename(temporary, path)
  local _, _, _, is_directory = native.stat(path)
  if not ok and not is_directory and os.remove(path) then
    -- Windows does not rename onto a file that is there. What is saved is all there is now.
    check(os.rename(temporary, path))
  elseif not ok then
    os.remove(temporary)
    error(message, 0)
  end
end

-- Loads a world from a file. options as for world:load.
function file.load(world, path, options)
  check_arguments(world, path, "load_file")
  local input = check(io.open(path, "rb"))
  local bytes, message = input:read "a"
  input:close()
  check(bytes, message)
  local ok, problem = pcall(world.load, world, bytes, options)
  if not ok then
    error(problem == "not enough memory" and problem or path .. ": " .. tostring(problem), 0)
  end
end

return file
