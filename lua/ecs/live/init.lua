-- Live scripts: files that register components, systems and the rest with a world, and that are
-- read again when they change. What they register is swapped in at once, or not at all.

local native = require "ecs.native"
local reading = require "ecs.live.reading"
local registrations = require "ecs.live.registrations"
local watch = require "ecs.live.watch"

local sorted = registrations.sorted
local live = {}

---@class ecs.SessionStatus
---@field files string[]
---@field versions table<string, integer>
---@field last_error string?
---@field last_report { files: string[], components: table<string, table> }?
---@field orphans string[]

---@class ecs.Session
local methods = {}
live.__index = methods

local TRIES = 16             -- how often they are read in another way, for each of them

-- ---- one swap ----------------------------------------------------------------------------

-- The scripts that go and have something to do before.
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

-- What is still being written is looked at as it was when it was read, or as not there, so that
-- it is noticed when it rests.
local function keep_unread(self, job, states)
  for path in next, self.unread do
    states[path] = job.states[path] or self.watch.files[path] or {}
  end
end

-- The states and texts of all files that are to be watched, and the states of modules that may
-- come.
local function followed(self, job)
  local states, texts = {}, {}
  for _, record in next, job.all do
    for required in next, record.requires do
      states[required] = states[required] or self.watch:state(required)
    end
  end
  for path in next, job.all do
    states[path] = job.states[path] or self.states[path]
    texts[path] = job.texts[path] or self.watch.texts[path]
  end
  keep_unread(self, job, states)
  return states, texts
end

-- Hooks are { fn, script, name }.
local function greetings(self, job)
  local list = {}
  for _, path in ipairs(sorted(job.records)) do
    local record = job.records[path]
    local old = self.records[path]
    local hook = old and not old.left and "reload" or "load"
    if record.hooks[hook] and job.all[path] then
      list[#list + 1] = { record.hooks[hook], record.script, "on_" .. hook }
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
  if not only_check then
    self.watch:follow(states, texts)
  end
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

-- attempt, with what an error leaves cleaned up. What failed, if anything did, as { message =,
-- kind =, job = } with the kind that native.try tells; else what is due.
local function try_once(self, job, only_check)
  self.tries = self.tries + 1
  local ok, result, kind = native.try(native.stage, self.world,
    registrations.recorder(self, job), function()
      return attempt(self, job, only_check)
    end)
  if not ok or only_check then
    reading.undo(job)
  end
  if ok then
    return nil, result
  elseif result == reading.AGAIN and self.tries > TRIES * (#sorted(job.scripts) + 1) then
    result = "what the scripts require is never the same"
  end
  return { message = result, kind = kind, job = job }
end

-- The same, as often as the files turn out to be read in another way.
local function try(self, changed, everything, hasty, only_check)
  local failure, due
  repeat
    failure, due = try_once(self, reading.new(self, changed, everything, hasty), only_check)
  until not failure or failure.message ~= reading.AGAIN
  return failure, due
end

local function nothing()
end

-- A message is told of once, however often a poll has to give it; that there is no memory is
-- raised.
local function fail(self, message, kind, again)
  local known = again and self.last_error == message
  self.last_error = tostring(message)
  if kind == "memory" then
    error(message, 0)
  end
  if self.on_error and not known then
    self.on_error(self.last_error)
  end
  return false, self.last_error
end

-- All of them are called, whatever one of them or on_error raises: that is raised at the end.
-- The last message, if there is one.
local function call_hooks(self, due)
  local problem, raised
  for _, hook in ipairs(due) do
    local ok, message, kind = native.try(hook[1], hook[2])
    if not ok then
      message = reading.placed(hook[2].path, hook[3], message, kind)
      ok, message = pcall(fail, self, message, kind)
      problem = self.last_error
      raised = raised or not ok and { message }
    end
  end
  if raised then
    error(raised[1], 0)
  end
  return problem
end

-- The scripts that will be gone, when all goes well.
local function find_leaving(self, changed, everything)
  local job = reading.new(self, changed, everything)
  job.all = {}
  for path in next, job.scripts do
    job.all[path] = true
  end
  for path, record in next, self.records do
    job.all[path] = job.all[path] or record.name ~= nil
  end
  return farewells(self, job)
end

-- Scripts that go say goodbye while their components are still there, once it is certain that
-- they can go. What failed, if they cannot; else what a hook raised.
local function say_goodbye(self, changed, everything, hasty)
  local leaving = find_leaving(self, changed, everything)
  local failure = #leaving > 0 and try(self, changed, everything, hasty, true)
  if failure then
    return failure
  end
  local problem
  for _, record in ipairs(leaving) do
    record.left = true
    local hooks = { { record.hooks.unload, record.script, "on_unload" } }
    problem = call_hooks(self, hooks) or problem
  end
  return nil, problem
end

-- What was looked at is looked at from here on; it is tried again with the next change.
local function follow_failed(self, changed, job)
  for path in next, changed do
    self.pending[path] = true
  end
  local states, texts = {}, {}
  for _, known in ipairs { self.records, self.found, job.awaited, job.states } do
    for path in next, known do
      states[path] = job.states[path] or self.watch:state(path)
      texts[path] = job.texts[path] or watch.read(path)
    end
  end
  keep_unread(self, job, states)
  self.watch:follow(states, texts)
end

-- True and what a hook raised; false and why not; nothing when a file is still being written.
local function reload(self, changed, everything, hasty)
  self.waited, self.tries, self.done = {}, 0, false
  local failure, problem = say_goodbye(self, changed, everything, hasty)
  local due
  if not failure then
    failure, due = try(self, changed, everything, hasty)
  end
  if not failure then
    self.pending, self.seen = {}, self.found
    self.last_error, self.done = problem, true
    return true, call_hooks(self, due) or problem
  elseif failure.message == reading.WAIT then
    return nil
  end
  self.seen = self.found
  follow_failed(self, changed, failure.job)
  self.done = true
  return fail(self, failure.message, failure.kind)
end

-- ---- for hosts ---------------------------------------------------------------------------

local function check_self(self, method)
  if getmetatable(self) ~= live then
    error(("calling '%s' on a bad self (live scripts expected)"):format(method), 3)
  end
end

local function is_closed(self)
  return not native.is_open(self.world)
end

-- Scripts and modules that are not what they were, and scripts that have come or gone.
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

-- The files that are to be read; nothing when there are none. What is still being written is
-- taken as it was, unless the session was told of it.
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
  for path in next, force and {} or changed do
    if not (settled and settled[path]) and not told[path] then
      found[path], changed[path], self.unread[path] = self.seen[path], nil, true
    end
  end
  for _, more in ipairs { told, self.pending } do
    for path in next, more do
      changed[path] = true
    end
  end
  self.found = found
  return changed
end

-- reload, during which nothing can yield: who dropped that coroutine would leave it open. Behind
-- false come what was raised and its kind.
local function read_alone(self, ...)
  self.reading = true
  local ok, swapped, problem = native.try(reload, self, ...)
  self.reading = false
  return ok, swapped, problem
end

--- Looks for changes and swaps in what has changed: true when it did (and a message when a hook
--- of a script then failed), false and a message when the old version goes on, nothing when there
--- was nothing to do. A changed file is read when two polls, at least 20 ms apart, have found it
--- the same; with `force` every script runs again at once. To be called between frames.
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
  local idle, message, kind = native.try(native.stage, self.world, nothing, nothing)
  if not idle then
    -- In a system, say: what has changed is read as soon as that is over.
    return fail(self, is_closed(self) and "the world is closed" or message, kind, true)
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
  end
  return swapped, problem
end

--- Says that a file has changed, for hosts with a watcher of their own: the next poll reads it,
--- at once.
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

--- files: the paths of scripts and modules; versions: how often each was read; last_error: the
--- last message unless it is solved; last_report: files of the last swap and what it did to
--- components; orphans: the components of the world that nobody declares any more.
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

--- Drops the components that nobody declares any more, with their values; returns their names. An
--- error, and nothing is dropped, while a system or a query of a script uses one of them.
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
  local plan = registrations.plan_to_forget(self, names)
  local ok, message, kind = native.try(native.stage, self.world, nothing, function()
    native.swap(self.world, plan)
  end)
  if not ok then
    error(kind == "memory" and message or "nothing is forgotten: " .. message, 0)
  end
  return names
end

-- The directories as a list, and on_error.
local function check_open(world, directories, options)
  if native.is_open(world) == nil then
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
    states = {}, modules = {}, provided = {}, pending = {}, told = {},
    reading = false, done = false, unread = {},
    owned = registrations.nothing(), group = false, last_error = false, last_report = false,
    seen = false, late = {}, waited = {}, tries = 0,
  }, live)
  self.found = self.watch:scripts()
  self.seen = self.found
  local ok, loaded, message = read_alone(self, {}, true, true)
  if not ok and self.group then
    -- Short of memory after the swap: what has been registered is still this session's.
    self.last_error = loaded
  elseif not ok then
    error(loaded, 0)
  elseif message and not on_error then
    error(message, 2)
  end
  return self
end

return live
