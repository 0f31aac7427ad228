-- A directory of its own for files that a test writes.

local scratch = {}
scratch.__index = scratch

function scratch.new()
  local path = os.tmpname()
  os.remove(path)
  assert(os.execute(("mkdir -p '%s/scripts/lib'"):format(path)))
  return setmetatable({ root = path, path = path .. "/scripts" }, scratch)
end

-- Writes a file in place, as many editors do.
function scratch:write(name, text)
  local file = assert(io.open(self.path .. "/" .. name, "wb"))
  file:write(text)
  file:close()
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
