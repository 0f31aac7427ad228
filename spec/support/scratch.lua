-- A directory of its own for files that a test writes.

local lfs = require "lfs"

local scratch = {}
scratch.__index = scratch

-- Creates a directory in an existing one: the lfs of spec/tools/busted.lua cannot.
function scratch.make_directory(path)
  assert(lfs.mkdir and lfs.mkdir(path) or not lfs.mkdir and os.execute(("mkdir '%s'"):format(path)))
end

-- Removes a directory and all that is in it.
function scratch.remove_directory(path)
  if not lfs.dir then
    return os.execute(("rm -rf '%s'"):format(path))
  end
  for name in lfs.dir(path) do
    local inner = path .. "/" .. name
    if name ~= "." and name ~= ".." and not os.remove(inner) then
      scratch.remove_directory(inner)
    end
  end
  lfs.rmdir(path)
end

function scratch.new()
  local path = os.tmpname()
  os.remove(path)
  scratch.make_directory(path)
  scratch.make_directory(path .. "/scripts")
  scratch.make_directory(path .. "/scripts/lib")
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

-- Writes another file and puts it in place by renaming, as the other editors do. On Windows a name
-- that is taken is another function's matter.
function scratch:replace(name, text)
  if package.config:sub(1, 1) == "\\" then
    return assert(require("ecs.native").replace(self.path .. "/" .. name, text))
  end
  self:write(name .. "~", text)
  assert(os.rename(self.path .. "/" .. name .. "~", self.path .. "/" .. name))
end

-- Does something below a directory (of the scripts, unless named) or to a file of it, and gives it
-- back the time that it had.
function scratch:unseen(name, change)
  local path, mark = self.path .. "/" .. name, self.root .. "/mark"
  assert(os.execute(("touch -r '%s' '%s'"):format(path, mark)))
  local state = state_of(path)
  change(path)
  assert(os.execute(("touch -r '%s' '%s'"):format(mark, path)))
  assert(state == state_of(path), "what changed shows in more than its time")
end

-- Writes as much text as a file has, and gives it back its time.
function scratch:rewrite(name, text)
  self:unseen(name, function(path) put(path, text) end)
end

function scratch:remove(name)
  assert(os.remove(self.path .. "/" .. name))
end

function scratch:close()
  scratch.remove_directory(self.root)
end

return scratch
