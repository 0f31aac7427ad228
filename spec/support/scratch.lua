-- A directory of its own for files that a test writes.

local scratch = {}
scratch.__index = scratch

function scratch.new()
  local path = os.tmpname()
  os.remove(path)
  assert(os.execute(("mkdir -p '%s/scripts/lib'"):format(path)))
  return setmetatable({ root = path, path = path .. "/scripts", written = {} }, scratch)
end

local function put(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

local function state_of(path)
  return table.concat({ require("ecs.native").stat(path) }, " ", 1, 3)
end

-- Writes a file in place, as many editors do. No two that are written look the same (a name or a
-- place on the disk may be used again, and the file system's clock goes by steps), as when time
-- passes between them.
function scratch:write(name, text)
  local path, state = self.path .. "/" .. name
  repeat
    put(path, text)
    state = state_of(path)
  until not self.written[state]
  self.written[state] = true
end

-- Writes another file and puts it in place by renaming, as the other editors do.
function scratch:replace(name, text)
  self:write(name .. "~", text)
  assert(os.rename(self.path .. "/" .. name .. "~", self.path .. "/" .. name))
end

function scratch:remove(name)
  assert(os.remove(self.path .. "/" .. name))
end

function scratch:close()
  os.execute(("rm -rf '%s'"):format(self.root))
end

return scratch
