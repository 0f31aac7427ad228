-- Live scripts: files that register components, systems and the rest with a world, and that are
-- read again when they change. What they register is swapped in at once, or not at all.

local native = require "ecs.native"
local registrations = require "ecs.registrations"
local watch = require "ecs.watch"

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
local AGAIN = {}             -- raised when the files are to be read in another way
local WAITS = 8              -- how often a script waits for others in one reading
local TRIES = 16             -- how often they are read in another way, for each of them

-- ---- running files ---------------------------------------------------------------------

local function compile(path, text)
  if not text then
    error(("%s: cannot be read"):format(path), 0)
  elseif text:byte() == 27 then
    error(("%s:1: precompiled code is refused"):format(path), 0)
  end
  local chunk, message = load(text:gsub("^#[^\n]*", ""), "@" .. path, "t")
  if not chunk then
    error(message, 0)
  end
  return chunk
end

--- What a script is given beside the world.
---@class ecs.Script
---@field state table Survives reloads.
---@field path string
---@field on_load fun(self: ecs.Script, fn: fun(script: ecs.Script)) Called after it has come.
---@field on_unload fun(self: ecs.Script, fn: fun(script: ecs.Script)) Called before it goes.
---@field on_reload fun(self: ecs.Script, fn: fun(script: ecs.Script)) Called after it has changed.
local Script = {}
Script.__index = Script
local hooks_of = setmetatable({}, { __mode = "k" })

for _, hook in ipairs { "load", "unload", "reload" } do
  -- Sets what is called after the script has come, before it goes, after it has changed.
  Script["on_" .. hook] = function(self, fn)
    local hooks = self ~= nil and hooks_of[self]
    if not hooks then
      error(("calling 'on_%s' on a bad self (script expected)"):format(hook), 2)
    elseif type(fn) ~= "function" then
      error(("bad argument #1 to 'on_%s' (function expected, got %s)"):format(hook, type(fn)), 2)
    end
    hooks[hook] = fn
  end
end

-- Runs a file as part of the reading `job`.
local function run_file(self, job, path, name)
  local old = self.records[path]
  local text, state = self.watch:take(path)
  local kept = old and not old.left and old.script and old.script.state
  local record = {
    path = path, name = name, state = type(kept) == "table" and kept or {}, hooks = {},
    requires = {}, version = old and old.version + 1 or 1, running = true,
    registered = registrations.new(path),
  }
  job.records[path], job.states[path], job.texts[path] = record, state, text
  local chunk = compile(path, text)
  local outer = job.current
  job.current = record
  if name then
    local value = chunk(name, path)
    record.value = value == nil and true or value
  else
    record.script = setmetatable({ state = record.state, path = path }, Script)
    hooks_of[record.script] = record.hooks
    chunk(self.world, record.script)
  end
  job.current = outer
  record.running = nil
  return record
end

local function set_loaded(job, name, value)
  local loaded = package.loaded
  if not job.loaded[name] then
    job.loaded[name] = { loaded[name] }
  end
  loaded[name] = value
end

-- A module that has no file here: not what a file that is gone has left of it. One that is
-- nowhere is waited for.
local function require_elsewhere(self, job, require, name)
  local loaded, known = package.loaded, self.provided[name]
  if job.current and known ~= nil and rawequal(loaded[name], known) then
    set_loaded(job, name, nil)
  end
  local ok, value, data = pcall(require, name)
  local missing = not ok and type(value) == "string" and value:find "^module '.-' not found"
  for _, path in ipairs(missing and self.watch:candidates(name) or {}) do
    job.missing[path] = true
  end
  return ok, value, data, missing and 2 or 0
end

-- What `require` is while files are read.
local function make_require(self, job, require)
  return function(name)
    local path = type(name) == "string" and self.watch:module(name)
    local current = job.current
    if not path or not current then
      local ok, value, data, level = require_elsewhere(self, job, require, name)
      if not ok then
        error(value, level)
      end
      return value, data
    end
    current.requires[path] = true
    local record = job.records[path]
    if not record and not job.stale[path] then
      record = self.records[path]
    end
    if record and record.running then
      error(("loop of modules: '%s' requires itself"):format(name), 2)
    elseif job.scripts[path] then
      self.modules[path] = true
      error(AGAIN, 0)
    end
    record = record or run_file(self, job, path, name)
    set_loaded(job, name, record.value)
    job.provided[name] = record.value
    return record.value, path
  end
end

local function restore_loaded(job)
  for name, old in next, job.loaded do
    package.loaded[name] = old[1]
  end
end

-- ---- what is to be run -------------------------------------------------------------------

-- Files that must run again: the changed ones and all that require one of them.
local function find_stale(self, changed, everything)
  local stale = {}
  for path in next, changed do
    stale[path] = true
  end
  local grown
  repeat
    grown = false
    for path, record in next, self.records do
      local hit = everything
      for required in next, record.requires do
        hit = hit or stale[required]
      end
      if hit and not stale[path] then
        stale[path], grown = true, true
      end
    end
  until not grown
  return stale
end

local function sorted(set)
  local list = {}
  for key in next, set do
    list[#list + 1] = key
  end
  table.sort(list)
  return list
end

-- Every file that there will be: scripts, and the modules that they require.
local function collect(self, job)
  local records, queue = {}, sorted(job.scripts)
  local at = 1
  while queue[at] do
    local path = queue[at]
    at = at + 1
    local record = job.records[path] or self.records[path]
    if record and not records[path] then
      records[path] = record
      for required in next, record.requires do
        queue[#queue + 1] = required
      end
    end
  end
  return records
end

-- The scripts in the order in which they run: that of their paths, but for those that had to
-- wait for others. What they register is in the order of paths all the same.
local function in_order(self, job)
  local list, late = sorted(job.scripts), self.late
  table.sort(list, function(a, b)
    local one, two = late[a] or 0, late[b] or 0
    if one ~= two then
      return one < two
    end
    return a < b
  end)
  return list
end

-- Whether a script failed for a component that one behind it may declare: then it has to wait.
local function must_wait(self, job, message)
  local current = job.current
  if type(message) ~= "string" or not message:find "unknown type '" or not current
    or current.name then
    return false
  end
  local order = in_order(self, job)
  local last, waited = order[#order], self.waited[current.path] or 0
  if last == current.path or waited == math.min(#order, WAITS) then
    return false
  end
  self.waited[current.path] = waited + 1
  self.late[current.path] = (self.late[last] or 0) + 1
  return true
end

local function read_files(self, job)
  for _, path in ipairs(in_order(self, job)) do
    if job.stale[path] or not self.records[path] then
      run_file(self, job, path)
    end
  end
end

local function new_job(self, changed, everything)
  local found = self.found
  local job = {
    scripts = {}, records = {}, states = {}, texts = {}, loaded = {}, provided = {},
    missing = {},
    stale = find_stale(self, changed, everything),
  }
  for path in next, found do
    if not self.modules[path] then
      job.scripts[path] = true
    end
  end
  return job
end

-- ---- one swap ----------------------------------------------------------------------------

-- Runs the files with their registrations staged, and makes the plan of the swap.
local function read(self, job)
  local require = _G.require
  _G.require = make_require(self, job, require)
  local ok, message = pcall(read_files, self, job)
  _G.require = require
  if not ok then
    error(must_wait(self, job, message) and AGAIN or message, 0)
  end
  job.all = collect(self, job)
  for path in next, self.modules do
    if not job.all[path] then
      self.modules[path] = nil
      error(AGAIN, 0)
    end
  end
  return registrations.plan(self, job)
end

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
  local plan, owned = read(self, job)
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
  job.done = true
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
    restore_loaded(job)
  end
  if result == AGAIN and self.tries > TRIES * (#sorted(job.scripts) + 1) then
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
  local job = new_job(self, changed, everything)
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
    job = new_job(self, changed, everything)
    ok, message = try(self, job, true)
  until ok or message ~= AGAIN
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
    job = new_job(self, changed, everything)
    ok, result = try(self, job)
    if ok then
      self.pending, self.missing = {}, {}
      return call_hooks(self, result)
    end
    ok = result == AGAIN
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
    if type(list[i]) ~= "string" then
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
