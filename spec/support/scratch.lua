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
  os.execute(("rm -rf '%s'"):format(self.root))
end

return scratch
