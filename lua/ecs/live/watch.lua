-- Finds changed files in some directories. Times, size and inode say which files may have changed;
-- if that is not certain, the text of the file decides.

local package = require "package"   -- even if the global was changed

local native = require "ecs.native"

local watch = {}
watch.__index = watch

-- Times of files have the resolution of the file system's clock. If a file is read this soon after
-- a change, a second change may leave its time the same. So such files are read again. Some file
-- systems only count seconds, or pairs of seconds.
local RECENT = 100 * 1000 * 1000
local SECOND = 1000 * 1000 * 1000

-- While a file is written, it may be empty, incomplete or missing for a moment. So it is read only
-- when two looks this far apart have found it unchanged. Files that are saved together are read
-- together: all wait for the last one, but not for a file that keeps changing.
local SETTLED = 20 * 1000 * 1000
local PATIENCE = SECOND

local WINDOWS = package.config:sub(1, 1) == "\\"

-- Returns a path with the separator '/', which this file and scripts use.
local function slashed(path)
  return WINDOWS and path:gsub("\\", "/") or path
end

-- Returns the state of a file: time, size, inode, and the time of its last change, which programs
-- cannot set. It is empty if there is no file.
local function state_of(path)
  local time, size, inode, _, _, change = native.stat(path)
  return { time, size, inode, change }
end

local function looks_same(a, b)
  return a[1] == b[1] and a[2] == b[2] and a[3] == b[3]
end

local function same(a, b)
  return looks_same(a, b) and a[4] == b[4]
end

local function is_recent(change, now)
  return change and now - change < (change % SECOND == 0 and 2 * SECOND or RECENT)
end

-- Whether there is a plain file that can be read, and not a pipe.
local function is_there(path)
  local _, _, _, _, plain = native.stat(path)
  return plain
end

-- Returns the text of a file, or nil if it cannot be read.
function watch.read(path)
  if not is_there(path) then
    return nil
  elseif native.read then
    return (native.read(path))
  end
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

-- Returns a path in a form that can be compared: "./a//b/./c" becomes "a/b/c".
function watch.plain(path)
  local plain = slashed(path):gsub("/%./", "/"):gsub("/%./", "/"):gsub("//+", "/"):gsub("^%./", "")
  return #plain > 1 and plain:gsub("/$", "") or plain
end

-- Creates a watch over directories or single files. Raises an error if one does not exist.
function watch.new(directories)
  local self = setmetatable({
    directories = {}, paths = {}, states = {}, recent = {}, files = {}, texts = {}, looks = {},
  }, watch)
  for i, path in ipairs(directories) do
    local time, _, _, is_directory = native.stat(path)
    if not time then
      error(("there is no directory '%s'"):format(path), 0)
    end
    path = slashed(path)
    path = #path > 1 and path:gsub("([^/])/+$", "%1") or path
    self.directories[i] = { path = path, single = not is_directory }
  end
  return self
end

-- Whether a path is that of a watched script or module, which need not exist yet.
function watch:covers(path)
  local plain = watch.plain(path)
  for _, directory in ipairs(self.directories) do
    local prefix = watch.plain(directory.path)
    if plain == prefix or plain:sub(1, #prefix + 1) == prefix .. "/" and plain:find "%.lua$" then
      return true
    end
  end
  return false
end

-- Returns the names of the scripts in a directory. If the directory itself is gone, returns those
-- that it had; reading them then reports the error.
local function names_in(self, path)
  local names = native.list(path)
  if names then
    return names
  end
  names = {}
  for known in next, self.files do
    local name = known:sub(1, #path + 1) == path .. "/" and known:sub(#path + 2)
    if name and not name:find("/", 1, true) then
      names[#names + 1] = name
    end
  end
  return names, true
end

-- Returns the existing scripts as a set of paths.
function watch:scripts()
  local found = {}
  for _, directory in ipairs(self.directories) do
    if directory.single then
      found[directory.path] = is_there(directory.path) or nil
    else
      local names, gone = names_in(self, directory.path)
      for _, name in ipairs(names) do
        local path = directory.path .. "/" .. name
        found[path] = is_script(name) and (gone or is_there(path)) or nil
      end
    end
  end
  return found
end

-- Returns the paths at which the file of a module may be, in the order of the search.
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

-- Returns the path of a module's file below a watched directory, or nil if it is elsewhere.
function watch:module(name)
  for _, path in ipairs(self:candidates(name)) do
    if is_there(path) then
      return path
    end
  end
  local path = package.searchpath(name, package.path)
  for _, directory in ipairs(path and self.directories or {}) do
    local plain, prefix = watch.plain(path), watch.plain(directory.path) .. "/"
    if not directory.single and plain:sub(1, #prefix) == prefix then
      return directory.path .. "/" .. plain:sub(#prefix + 1)
    end
  end
end

-- Updates and returns the time since which a file is known to be in this state.
local function look(self, path, state, now)
  local last = self.looks[path]
  if not last or not same(last.state, state) or now < last.since then
    last = { state = state, since = now }
    self.looks[path] = last
  end
  return now - last.since
end

-- Returns the set of changed files that have stopped changing, or nil while others, which may have
-- been saved together with them, still change. Forgets files that are no longer changed.
function watch:settled(changed)
  local now, settled = native.now(), {}
  local waiting, longest = false, 0
  for path, last in next, self.looks do
    if not changed[path] and (self.files[path] or not last.module) then
      self.looks[path] = nil
    end
  end
  for path in next, changed do
    local age = look(self, path, state_of(path), now)
    settled[path] = age >= SETTLED or nil
    waiting = waiting or age < SETTLED
    longest = math.max(longest, age)
  end
  return (not waiting or longest > PATIENCE) and settled or nil
end

-- Whether a file that was just found in this state may be read: because it was last read in this
-- state, or has been in it for long enough. A new module is judged by its time alone.
function watch:is_settled(path, state)
  local known, now = self.files[path], native.now()
  if known and same(known, state) then
    return true
  elseif not known and not self.looks[path] and state[4] and now - state[4] >= SETTLED then
    return true
  end
  local age = look(self, path, state, now)
  self.looks[path].module = not known
  return age >= SETTLED
end

-- Returns the state in which a file was last seen.
function watch:state(path)
  local last = self.looks[path]
  return last and last.state or self.files[path] or state_of(path)
end

-- Reads a file. Returns its text, its state before, and whether it is still in that state.
function watch.take(path)
  local state = state_of(path)
  local text = watch.read(path)
  return text, state, same(state, state_of(path))
end

-- Watches these files from now on: `files` maps each path to the state in which it was read, and
-- `texts` to its text.
function watch:follow(files, texts)
  local paths, states, recent, now = {}, {}, {}, native.now()
  local function add(path, state)
    paths[#paths + 1] = path
    for i = 1, 4 do
      states[#states + 1] = state[i] or false
    end
    recent[path] = is_recent(state[4], now) or nil
  end
  for _, directory in ipairs(self.directories) do
    if not directory.single then
      add(directory.path, state_of(directory.path))
    end
  end
  for path, state in next, files do
    add(path, state)
  end
  self.paths, self.states, self.recent = paths, states, recent
  self.files, self.texts = files, texts
end

-- Adds files that may have changed again within the resolution of the clock. They stay on the list
-- until they have been read.
local function look_again(self, changed)
  local now = native.now()
  for path in next, self.recent do
    local time, _, _, is_directory, _, change = native.stat(path)
    if is_directory or (time and watch.read(path) ~= self.texts[path]) then
      changed[path] = true
    elseif not is_recent(change, now) then
      self.recent[path] = nil
    end
  end
end

-- Whether only the time of the last change differs and the text is the same: for instance if the
-- file was linked or got other access rights, and was not overwritten with its old time restored.
local function is_unchanged(self, index)
  local path = self.paths[index]
  local known, state = self.files[path], state_of(path)
  if not known or not looks_same(known, state) or watch.read(path) ~= self.texts[path] then
    return false
  end
  known[4], self.states[4 * index] = state[4], state[4]
  self.recent[path] = is_recent(state[4], native.now()) or nil
  return true
end

-- Returns the set of changed paths, including directories, or nil if none has changed.
function watch:changes()
  local indices = native.changes(self.paths, self.states)
  if not indices and not next(self.recent) then
    return nil
  end
  local changed = {}
  for _, index in ipairs(indices or {}) do
    changed[self.paths[index]] = not is_unchanged(self, index) or nil
  end
  look_again(self, changed)
  return next(changed) and changed
end

return watch
