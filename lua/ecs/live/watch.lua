-- Which files of some directories have changed. Times, size and inode tell which may have; where
-- they do not tell whether one has, its text does.

local package = require "package"   -- whatever became of the global

local native = require "ecs.native"

local watch = {}
watch.__index = watch

-- Times of files come in steps of the file system's clock, so a file that was read this soon after
-- it had changed may change once more without a sign: such files are read again. Some file systems
-- count seconds, or pairs of them.
local RECENT = 100 * 1000 * 1000
local SECOND = 1000 * 1000 * 1000

-- A file that is being written passes through states that are not meant: empty, cut, gone for a
-- moment. It is read when two looks this far apart have found it the same. Files that are saved
-- together are read together: all wait for the last, but not for one that never rests.
local SETTLED = 20 * 1000 * 1000
local PATIENCE = SECOND

local WINDOWS = package.config:sub(1, 1) == "\\"

-- A path with the separator that this file and scripts use.
local function slashed(path)
  return WINDOWS and path:gsub("\\", "/") or path
end

-- What a file is now: time, size, inode, and the time of its last change, which nobody can set;
-- empty when there is none.
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

-- Whether there is a file that can be read: one that ends, no pipe.
local function is_there(path)
  local _, _, _, _, plain = native.stat(path)
  return plain
end

-- The text of a file; nil when it cannot be read.
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

-- A path as it is compared with others: "./a//b/./c" is "a/b/c".
function watch.plain(path)
  local plain = slashed(path):gsub("/%./", "/"):gsub("/%./", "/"):gsub("//+", "/"):gsub("^%./", "")
  return #plain > 1 and plain:gsub("/$", "") or plain
end

-- A watch over directories (or single files); raises when one is not there.
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

-- Whether a path is that of a script or module that is followed, be it that there is none yet.
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

-- The names of the scripts in a directory; where that is gone itself, those that were there: who
-- reads them then is told that they cannot be.
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

-- The scripts that are there now, as a set of paths.
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

-- Looks at a file once more: since when it has been as it is now, as far as is known.
local function look(self, path, state, now)
  local last = self.looks[path]
  if not last or not same(last.state, state) or now < last.since then
    last = { state = state, since = now }
    self.looks[path] = last
  end
  return now - last.since
end

-- Those of the changed files that have stopped changing, as a set; nil while others, saved with
-- them perhaps, have not. What has not changed, or no more, is no longer looked at.
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

-- Whether a file in this state, found just now, may be read: it is what it was at its last
-- reading, or has been so for long enough. Of a module that nobody has looked at yet, only its
-- time can tell.
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

-- The state that a file was last seen in.
function watch:state(path)
  local last = self.looks[path]
  return last and last.state or self.files[path] or state_of(path)
end

-- The text of a file, the state that it was in before, and whether it is still in that.
function watch.take(path)
  local state = state_of(path)
  local text = watch.read(path)
  return text, state, same(state, state_of(path))
end

-- From now on looks at these files: a map from path to the state that they were read in. `texts`
-- are their texts.
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

-- Files that have changed within the grain of the clock. They stay on the list until they have been
-- read.
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

-- Whether a file is what it was but for the time of its last change, and so is its text: it was
-- linked, say, or given other rights, and not written and then given the time that it had.
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

-- The set of paths (of directories, too) that are not what they were; nil when all are.
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
