-- Live scripts: files that register components, systems and the rest with a world, and that are
-- read again when they change. What they register is swapped in at once, or not at all.

local native = require "ecs.native"
local reading = require "ecs.reading"
local registrations = require "ecs.registrations"
local watch = require "ecs.watch"

local sorted = registrations.sorted
local live = {}

---@class ecs.SessionStatus
---@field files string[]
---@field versions table<string, integer>
---@field last_error string?
---@field last_report { files: string[], components: table<string, table> }?

---@class ecs.Session
local methods = {}
live.__index = methods

local OUT_OF_MEMORY = "not enough memory"
local TRIES = 16             -- how often they are read in another way, for each of them

-- ---- one swap ----------------------------------------------------------------------------

-- Hooks of the scripts that go: { script, fn }.
local function farewells(self, job)
  local list = {}
  for _, path in ipairs(sorted(self.records)) do
    local record = self.records[path]
    if not job.all[path] and record.hooks.unload and not record.left then
      list[#list + 1] = record
    end
  end
  return list
end

-- The states and texts of all files that are to be watched.
local function followed(self, job)
  local states, texts = {}, {}
  for path in next, job.all do
    states[path] = job.states[path] or self.states[path]
    texts[path] = job.texts[path] or self.watch.texts[path]
  end
  return states, texts
end

local function greetings(self, job)
  local list = {}
  for _, path in ipairs(sorted(job.records)) do
    local record = job.records[path]
    local old = self.records[path]
    local hook = record.hooks.load
    if old and not old.left then
      hook = record.hooks.reload
    end
    if hook and job.all[path] then
      list[#list + 1] = { hook, record.script }
    end
  end
  return list
end

local function names_of(job)
  local list = sorted(job.records)
  for i = #list, 1, -1 do
    if not job.all[list[i]] then
      table.remove(list, i)
    end
  end
  return list
end

-- Reads and swaps. Everything is made before the swap, so that after it nothing can fail.
local function attempt(self, job, only_check)
  reading.run(self, job)
  local plan, owned = registrations.plan(self, job)
  plan.check = only_check or nil
  local states, texts = followed(self, job)
  local due, report = greetings(self, job), { files = names_of(job), components = false }
  self.watch:follow(states, texts)
  for name, value in next, self.provided do
    if job.provided[name] == nil then
      job.provided[name] = value
    end
  end
  local reports, group = native.swap(self.world, plan)
  if only_check then
    return
  end
  report.components = reports
  self.group, self.owned, self.records, self.states = group, owned, job.all, states
  self.provided = job.provided
  self.last_report, self.last_error = report, false
  return due
end

-- attempt, with what an error leaves cleaned up.
local function try(self, job, only_check)
  self.tries = self.tries + 1
  local ok, result = pcall(native.stage, self.world, registrations.recorder(self, job),
    function()
      return attempt(self, job, only_check)
    end)
  if not ok or only_check then
    reading.undo(job)
  end
  if result == reading.AGAIN and self.tries > TRIES * (#sorted(job.scripts) + 1) then
    result = "what the scripts require is never the same"
  end
  return ok, result
end

-- A migration is refused for what the world holds: where the component was declared is added.
local function locate(job, message)
  local name = type(message) == "string" and message:match "^cannot migrate '([%w_]+)'"
  for _, record in next, name and job.records or {} do
    local at = registrations.position(record.registered, name)
    if at then
      return at .. message
    end
  end
  return message
end

local function nothing()
end

-- A message is told of once, however often a poll has to give it.
local function fail(self, message, again)
  local known = again and self.last_error == message
  self.last_error = tostring(message)
  if self.last_error == OUT_OF_MEMORY then
    error(OUT_OF_MEMORY, 0)
  end
  if self.on_error and not known then
    self.on_error(self.last_error)
  end
  return false, self.last_error
end

-- All of them are called, whatever one of them or on_error raises: that is raised at the end.
local function call_hooks(self, due)
  local problem, raised
  for _, hook in ipairs(due) do
    local ok, message = pcall(hook[1], hook[2])
    if not ok then
      ok, message = pcall(fail, self, message)
      problem = self.last_error
      raised = raised or not ok and { message }
    end
  end
  if raised then
    error(raised[1], 0)
  end
  return problem == nil, problem
end

-- Scripts that go say goodbye while their components are still there, once it is certain that
-- they can go.
local function say_goodbye(self, changed, everything)
  local job = reading.new(self, changed, everything)
  job.all = {}
  for path in next, job.scripts do
    job.all[path] = true
  end
  for path, record in next, self.records do
    job.all[path] = job.all[path] or record.name ~= nil
  end
  local leaving = farewells(self, job)
  if #leaving == 0 then
    return true
  end
  local ok, message
  repeat
    job = reading.new(self, changed, everything)
    ok, message = try(self, job, true)
  until ok or message ~= reading.AGAIN
  if not ok then
    return false, message
  end
  for _, record in ipairs(leaving) do
    record.left = true
    call_hooks(self, { { record.hooks.unload, record.script } })
  end
  return true
end

local function reload(self, changed, everything)
  self.waited, self.tries = {}, 0
  local ok, result = say_goodbye(self, changed, everything)
  local job
  while ok do
    job = reading.new(self, changed, everything)
    ok, result = try(self, job)
    if ok then
      self.pending, self.missing = {}, {}
      return call_hooks(self, result)
    end
    ok = result == reading.AGAIN
    result = locate(job, result)
  end
  -- What was looked at is looked at from here on; it is tried again with the next change.
  for path in next, changed do
    self.pending[path] = true
  end
  local states, texts = {}, {}
  for path in next, self.found do
    texts[path], states[path] = self.watch:take(path)
  end
  for path, record in next, self.records do
    if record.name and not states[path] then
      texts[path], states[path] = self.watch:take(path)
    end
  end
  self.missing = job and job.missing or {}
  for path in next, self.missing do
    states[path] = states[path] or {}
  end
  self.watch:follow(states, texts)
  return fail(self, result)
end

-- ---- for hosts ---------------------------------------------------------------------------

local function check_self(self, method)
  if getmetatable(self) ~= live then
    error(("calling '%s' on a bad self (live scripts expected)"):format(method), 3)
  end
end

-- The paths whose change concerns the session; nothing when no change does.
local function look(self, force)
  local changed = self.watch:changes() or {}
  for path in next, self.told do
    changed[path] = true
  end
  if not next(changed) and not force then
    return nil
  end
  -- Directories are listed anyway; a change of one alone matters when files come or go.
  local found, matters = self.watch:scripts(), force or next(self.told) ~= nil
  self.found = found
  for path in next, changed do
    matters = matters or self.watch.texts[path] ~= nil or self.records[path] ~= nil
      or self.states[path] ~= nil or self.missing[path] ~= nil
  end
  for path in next, found do
    if not self.seen[path] then
      changed[path], matters = true, true
    end
  end
  for path in next, self.seen do
    if not found[path] then
      found[path] = self.watch:returns(path) or nil
      changed[path], matters = true, true
    end
  end
  self.seen = found
  if not matters then
    self.watch:follow(self.watch.files, self.watch.texts)
    return nil
  end
  for path in next, self.pending do
    changed[path] = true
  end
  return changed
end

--- Looks for changes and swaps in what has changed: true when it did, false and a message when
--- the old version goes on, nothing when there was nothing to do. With `force` every script runs
--- again. To be called between frames.
---@param force? boolean
---@return boolean? swapped
---@return string? message
function methods:poll(force)
  check_self(self, "poll")
  if self.reading then
    error("live:poll is not possible while scripts are read", 2)
  end
  local changed = look(self, force)
  if not changed then
    return nil
  end
  self.told = {}
  local idle, message = pcall(native.stage, self.world, nothing, nothing)
  if not idle then
    self.told = changed
    -- In a system, say: what has changed is read as soon as that is over.
    return fail(self, message, true)
  end
  self.reading = true
  local ok, swapped
  ok, swapped, message = pcall(reload, self, changed, force)
  self.reading = false
  if not ok then
    for path in next, changed do
      self.told[path] = true
    end
    error(swapped, 0)
  end
  return swapped, message
end

--- Says that a file has changed, for hosts with a watcher of their own: the next poll reads it.
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

--- files: the paths of scripts and modules; versions: how often each was read; last_error: the
--- last message unless it is solved; last_report: files of the last swap and what it did to
--- components.
---@return ecs.SessionStatus
function methods:status()
  check_self(self, "status")
  local versions = {}
  for path, record in next, self.records do
    versions[path] = record.version
  end
  return {
    files = sorted(self.records), versions = versions, last_error = self.last_error or nil,
    last_report = self.last_report or nil,
  }
end

-- The directories as a list, and on_error.
local function check_open(world, directories, options)
  if type(world) ~= "userdata" or not tostring(world):find "^ecs%.world" then
    error(("bad argument #1 to 'open' (world expected, got %s)"):format(type(world)), 3)
  elseif options ~= nil and type(options) ~= "table" then
    error(("bad argument #3 to 'open' (table expected, got %s)"):format(type(options)), 3)
  end
  local list = type(directories) == "string" and { directories } or {}
  for i = 1, type(directories) == "table" and rawlen(directories) or 0 do
    list[i] = rawget(directories, i)
  end
  for i = 1, math.max(1, #list) do
    if type(list[i]) ~= "string" or list[i]:find("\0", 1, true) then
      error("bad argument #2 to 'open' (list of directories expected)", 3)
    end
  end
  for key in next, options or {} do
    if key ~= "on_error" then
      error(("bad argument #3 to 'open' (unknown option '%s')"):format(tostring(key)), 3)
    end
  end
  local on_error = options and rawget(options, "on_error")
  if on_error ~= nil and type(on_error) ~= "function" then
    error(("option 'on_error' is a function, got a %s"):format(type(on_error)), 3)
  end
  return list, on_error
end

--- Reads all scripts of some directories and watches them. on_error(message) is told of what is
--- refused; without it `open` raises what keeps the scripts from their first start.
---@param world ecs.World
---@param directories string | string[]
---@param options? { on_error: fun(message: string) }
---@return ecs.Session
function live.open(world, directories, options)
  local on_error
  directories, on_error = check_open(world, directories, options)
  local self = setmetatable({
    world = world, on_error = on_error, watch = watch.new(directories), records = {},
    states = {}, modules = {}, provided = {}, missing = {}, pending = {}, told = {},
    reading = false,
    owned = registrations.nothing(), group = false, last_error = false, last_report = false,
    seen = false, late = {}, waited = {}, tries = 0,
  }, live)
  self.found = self.watch:scripts()
  self.seen = self.found
  self.reading = true
  local ok, loaded, message = pcall(reload, self, {}, true)
  self.reading = false
  if not ok and self.group then
    -- Short of memory after the swap: what has been registered is still this session's.
    self.last_error = loaded
  elseif not ok then
    error(loaded, 0)
  elseif loaded == false and not on_error then
    error(message, 2)
  end
  return self
end

return live
