-- Live scripts: files that register components, systems and the like with a world. They are read
-- again when they change, and what they register is swapped in as a whole or not at all.

local annotate = require "ecs.annotate"
local common = require "ecs.common"
local native = require "ecs.native"
local registrations = require "ecs.live.registrations"
local reload = require "ecs.live.reload"
local watch = require "ecs.live.watch"

local sorted = registrations.sorted
local live = {}

---@class ecs.SessionStatus
---@field files string[]
---@field versions table<string, integer>
---@field last_error any
---@field last_report { files: string[], components: table<string, table> }?
---@field orphans string[]

---@class ecs.Session
local methods = {}
live.__index = methods

local function nothing()
end

local function check_self(self, method)
  if getmetatable(self) ~= live then
    error(("calling '%s' on a bad self (live scripts expected)"):format(method), 3)
  end
end

local function is_closed(self)
  return not native.is_open(self.world)
end

-- Scripts and modules that have changed, and scripts that were added or removed.
local function differences(self, noticed, found)
  local changed = {}
  for path in next, noticed do
    changed[path] = self.watch.files[path] and true
  end
  for path in next, found do
    changed[path] = changed[path] or not self.seen[path] or nil
  end
  for path in next, self.seen do
    changed[path] = changed[path] or not found[path] or nil
  end
  return changed
end

-- Files that are still being written are not in `settled`. They are left as they were, unless the
-- session was told of their change.
local function pass_over_unsettled(self, changed, found, settled)
  for path in next, changed do
    if not settled[path] and not self.told[path] then
      found[path], changed[path], self.unread[path] = self.seen[path], nil, true
    end
  end
end

-- Returns the files to read, or nothing if there are none.
local function look(self, force)
  local noticed, told = self.watch:changes(), self.told
  local must = force or next(told) ~= nil
  if not noticed and not must then
    self.watch:settled {}
    return nil
  end
  local found = self.watch:scripts()
  local changed = differences(self, noticed or {}, found)
  local settled = self.watch:settled(changed)
  if not next(changed) and not must then
    self.watch:follow(self.watch.files, self.watch.texts)
    return nil
  elseif not settled and not must then
    return nil
  end
  self.unread = {}
  if not force then
    pass_over_unsettled(self, changed, found, settled or {})
  end
  for _, more in ipairs { told, self.pending } do
    for path in next, more do
      changed[path] = true
    end
  end
  self.found = found
  return changed
end

-- Writes annotations for the current declarations. If the path cannot be written, only reports it.
local function write_types(self)
  local ok, message = native.try(self.world.write_types, self.world, self.types)
  if not ok and self.on_error then
    self.on_error(message)
  elseif not ok then
    error(message, 0)
  end
end

-- Reloads without being able to yield, since a coroutine that is dropped would leave the reload
-- unfinished. On failure, returns false, the error and its kind.
local function read_alone(self, ...)
  self.reading = true
  local ok, swapped, problem = native.try(reload.run, self, ...)
  self.reading = false
  return ok, swapped, problem
end

--- Looks for changed files and swaps the changes in. Returns true if it did, and the first message
--- if hooks of scripts then failed; false and a message if the change was refused; nothing if there
--- was nothing to do. A changed file is read when two polls, at least 20 ms apart, have found it
--- unchanged. With `force`, every script runs again without waiting. Call it between updates.
---@param force? boolean
---@return boolean? swapped
---@return any message
function methods:poll(force)
  check_self(self, "poll")
  if self.reading then
    error("live:poll is not possible while scripts are read", 2)
  end
  local changed = look(self, force)
  if not changed then
    return nil
  end
  local idle, message, kind = native.try(native.stage, self.world, nothing, nothing)
  if not idle then
    -- For instance inside a system. The change is read by a later poll.
    return reload.fail(self, is_closed(self) and "the world is closed" or message, kind, nil, true)
  end
  local hasty = force or next(self.told) ~= nil
  self.told = {}
  local ok, swapped, problem = read_alone(self, changed, force, hasty)
  if not ok and (problem == "memory" or not self.done) then
    for path in next, changed do
      self.told[path] = true
    end
  end
  if not ok then
    error(swapped, 0)
  elseif swapped and self.types and not is_closed(self) then
    write_types(self)
  end
  return swapped, problem
end

--- Reports that a file has changed, for hosts with a file watcher of their own. The next poll reads
--- it without waiting.
---@param path string
function methods:changed(path)
  check_self(self, "changed")
  if type(path) ~= "string" then
    error(("bad argument #1 to 'changed' (string expected, got %s)"):format(type(path)), 2)
  end
  local plain = watch.plain(path)
  for _, known in ipairs { self.seen, self.states } do
    for name in next, known do
      path = watch.plain(name) == plain and name or path
    end
  end
  self.told[path] = true
end

local function orphans_of(self)
  local names = is_closed(self) and {} or self.world:describe().orphans
  table.sort(names)
  return names
end

--- Returns `files`, the paths of scripts and modules; `versions`, how often each was read;
--- `last_error`, the first error of the last reload, unless it is solved; `last_report`, the files
--- of the last swap and its changes of components; and `orphans`, components that no script
--- declares any more.
---@return ecs.SessionStatus
function methods:status()
  check_self(self, "status")
  local versions = {}
  for path, record in next, self.records do
    versions[path] = record.version
  end
  return {
    files = sorted(self.records), versions = versions, last_error = self.last_error or nil,
    last_report = self.last_report or nil, orphans = orphans_of(self),
  }
end

--- Drops the components that no script declares any more, with their values, and returns their
--- names. Raises an error and drops nothing if a system or a query of a script uses one of them.
---@return string[] names
function methods:forget()
  check_self(self, "forget")
  if self.reading then
    error("live:forget is not possible while scripts are read", 2)
  end
  if is_closed(self) then
    error("nothing is forgotten: the world is closed", 2)
  end
  local names = orphans_of(self)
  local ok, message, kind = native.try(native.stage, self.world, nothing, function()
    registrations.forget(self, names)
  end)
  if not ok then
    error(kind == "memory" and message or "nothing is forgotten: " .. message, 0)
  end
  return names
end

-- The real path of a directory. LÖVE's paths are relative to the game or to its save directory.
local function real_directory(directory)
  local love = rawget(_G, "love")
  local files = type(love) == "table" and love.filesystem
  local found = files and files.getRealDirectory(directory)
  return found and found .. "/" .. directory or directory
end

-- Checks the arguments of `open`. Returns the directories as a list, and on_error.
local function check_open(world, directories, options)
  local open, other = native.is_open(world)
  if open == nil then
    error(("bad argument #1 to 'open' (world expected, got %s)"):format(other or type(world)), 3)
  elseif options ~= nil and type(options) ~= "table" then
    error(("bad argument #3 to 'open' (table expected, got %s)"):format(type(options)), 3)
  end
  if type(rawget(_G, "io")) ~= "table" then
    error("ecs.live.open needs Lua's library 'io', which is not open", 3)
  end
  local list = type(directories) == "string" and { directories } or {}
  for key, directory in next, type(directories) == "table" and directories or {} do
    if common.kind(key) ~= "integer" or key < 1 or key > common.rawlen(directories) then
      error(("bad argument #2 to 'open' (list of directories expected, got the key %s)"):format(
        type(key) == "table" and "of a table" or tostring(key)), 3)
    end
    list[key] = directory
  end
  for i = 1, math.max(1, #list) do
    if type(list[i]) ~= "string" or list[i]:find("\0", 1, true) then
      error("bad argument #2 to 'open' (list of directories expected)", 3)
    end
    list[i] = real_directory(list[i])
  end
  for key in next, options or {} do
    if key ~= "on_error" and key ~= "types" then
      error(("bad argument #3 to 'open' (unknown option '%s')"):format(tostring(key)), 3)
    end
  end
  local on_error = options and rawget(options, "on_error")
  if on_error ~= nil and type(on_error) ~= "function" then
    error(("option 'on_error' must be a function, got a %s"):format(type(on_error)), 3)
  end
  local types = options and rawget(options, "types")
  if types ~= nil and type(types) ~= "string" then
    error(("option 'types' must be a path, got a %s"):format(type(types)), 3)
  end
  return list, on_error, types
end

--- Runs all scripts of some directories and watches them. on_error(message, path) is called for
--- each error, with a text, or with the value that the script at `path` raised. Without on_error,
--- `open` raises the first error.
---@param world ecs.World
---@param directories string | string[]
--- After each swap, annotations for all declarations are written to the file `types`.
---@param options? { on_error: fun(message: any, path: string?), types: string? }
---@return ecs.Session
function live.open(world, directories, options)
  local on_error, types
  directories, on_error, types = check_open(world, directories, options)
  local self = setmetatable({
    world = world, on_error = on_error, types = types, watch = watch.new(directories), records = {},
    states = {}, modules = {}, provided = {}, pending = {}, told = {},
    reading = false, done = false, unread = {},
    owned = registrations.nothing(), group = false, last_error = false, last_report = false,
    seen = false, late = {}, waited = {}, tries = 0,
  }, live)
  annotate.watches[self] = self.watch
  self.found = self.watch:scripts()
  self.seen = self.found
  local ok, loaded, message = read_alone(self, {}, true, true)
  if not ok and self.group then
    -- Out of memory after the swap. The session still owns what has been registered.
    self.last_error = loaded
  elseif not ok then
    error(loaded, 0)
  elseif message and not on_error then
    error(message, 0)
  end
  if types then
    write_types(self)
  end
  return self
end

return live
