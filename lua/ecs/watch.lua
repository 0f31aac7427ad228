-- Which files of some directories have changed: by modification time, size and inode.

local native = require "ecs.native"

local watch = {}
watch.__index = watch

-- Modification times come in steps of the system's clock, so a file that was read this soon
-- after it had changed may change once more without a sign: such files are read again.
local RECENT = 100 * 1000 * 1000

-- Editors that save in place empty the file first, others put the old one away before the new
-- one comes. A poll that falls between waits so many seconds for what is about to come.
local PATIENCE = 0.002

local function patiently(look)
  local start = os.clock()
  local found = look()
  while not found and os.clock() - start < PATIENCE do
    found = look()
  end
  return found
end

-- The text of a file; nil when it cannot be read.
function watch.read(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local text = file:read "a"
  file:close()
  return text
end

local function is_script(name)
  return name:find "^[^.#].*%.lua$" ~= nil
end

-- A path as it is compared with others: "./a//b/./c" is "a/b/c".
function watch.plain(path)
  local plain = path:gsub("/%./", "/"):gsub("/%./", "/"):gsub("//+", "/"):gsub("^%./", "")
  return #plain > 1 and plain:gsub("/$", "") or plain
end

-- A watch over directories (or single files); raises when one is not there.
function watch.new(directories)
  local self = setmetatable({
    directories = {}, paths = {}, states = {}, recent = {}, files = {}, texts = {},
  }, watch)
  for i, path in ipairs(directories) do
    local time, _, _, is_directory = native.stat(path)
    if not time then
      error(("no directory '%s'"):format(path), 0)
    end
    path = #path > 1 and path:gsub("([^/])/+$", "%1") or path
    self.directories[i] = { path = path, single = not is_directory }
  end
  return self
end

-- The scripts that are there now, as a set of paths.
function watch:scripts()
  local found = {}
  for _, directory in ipairs(self.directories) do
    if directory.single then
      found[directory.path] = native.stat(directory.path) and true
    else
      for _, name in ipairs(native.list(directory.path) or {}) do
        if is_script(name) then
          found[directory.path .. "/" .. name] = true
        end
      end
    end
  end
  return found
end

-- Where the file of a module may be, the first places first.
function watch:candidates(name)
  local file, paths = name:gsub("%.", "/"), {}
  for _, directory in ipairs(self.directories) do
    if not directory.single then
      local stem = directory.path .. "/" .. file
      paths[#paths + 1] = stem .. ".lua"
      paths[#paths + 1] = stem .. "/init.lua"
    end
  end
  return paths
end

-- The path of a module's file below a watched directory; nil when it is elsewhere.
function watch:module(name)
  for _, path in ipairs(self:candidates(name)) do
    if native.stat(path) then
      return path
    end
  end
  local path = package and package.searchpath(name, package.path)
  for _, directory in ipairs(path and self.directories or {}) do
    local plain, prefix = watch.plain(path), watch.plain(directory.path) .. "/"
    if not directory.single and plain:sub(1, #prefix) == prefix then
      return directory.path .. "/" .. plain:sub(#prefix + 1)
    end
  end
end

-- Whether a file that was there is there, now or in a moment.
function watch:returns(path)
  return patiently(function()
    return native.stat(path)
  end) ~= nil
end

-- Remembers what a file is now, and returns its text.
function watch:take(path)
  local time, size, inode, text
  patiently(function()
    time, size, inode = native.stat(path)
    text = time and watch.read(path)
    return text ~= "" or native.now() - time >= RECENT
  end)
  return text, { time, size, inode }
end

-- From now on looks at these files: a map from path to what take returned second. `texts` are
-- their texts.
function watch:follow(files, texts)
  local paths, states, recent, now = {}, {}, {}, native.now()
  for _, directory in ipairs(self.directories) do
    if not directory.single then
      local time, size, inode = native.stat(directory.path)
      paths[#paths + 1] = directory.path
      table.move({ time or false, size or false, inode or false }, 1, 3, #states + 1, states)
      recent[directory.path] = time and now - time < RECENT or nil
    end
  end
  for path, state in next, files do
    paths[#paths + 1] = path
    table.move({ state[1] or false, state[2] or false, state[3] or false }, 1, 3, #states + 1,
      states)
    recent[path] = state[1] and now - state[1] < RECENT or nil
  end
  self.paths, self.states, self.recent = paths, states, recent
  self.files, self.texts = files, texts
end

-- Files that have changed within the grain of the clock.
local function look_again(self, changed)
  local now = native.now()
  for path in next, self.recent do
    local time, _, _, is_directory = native.stat(path)
    if is_directory or (time and watch.read(path) ~= self.texts[path]) then
      changed[path] = true
    end
    if not time or now - time >= RECENT then
      self.recent[path] = nil
    end
  end
end

-- The set of paths (of directories, too) that are not what they were; nil when all are.
function watch:changes()
  local indices = native.changes(self.paths, self.states)
  if not indices and not next(self.recent) then
    return nil
  end
  local changed = {}
  for _, index in ipairs(indices or {}) do
    changed[self.paths[index]] = true
  end
  look_again(self, changed)
  return next(changed) and changed
end

return watch
