-- Worlds in files.

local file = {}

local function check(ok, message)
  if not ok then
    error(message, 0)
  end
  return ok
end

-- Saves a world into a file: whole, or not at all. options as for world:save.
function file.save(world, path, options)
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
  if not ok and os.remove(path) then
    -- Windows does not rename onto a file that is there.
    ok, message = os.rename(temporary, path)
  end
  if not ok then
    os.remove(temporary)
    error(message, 0)
  end
end

-- Loads a world from a file. options as for world:load.
function file.load(world, path, options)
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
