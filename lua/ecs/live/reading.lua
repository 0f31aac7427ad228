-- One reading of live scripts: finds the files that have to run, and runs them as scripts or as
-- modules.

local package = require "package"   -- even if the global was changed

local common = require "ecs.common"
local native = require "ecs.native"
local registrations = require "ecs.live.registrations"
local watch = require "ecs.live.watch"

local sorted = registrations.sorted
local reading = {}

local function reason(text)
  return setmetatable({}, { __tostring = function() return text end })
end

-- Raised if the files must be read in another order, and if one of them is being written.
reading.AGAIN = reason "the scripts must be read again"
reading.WAIT = reason "the scripts are read again when all have been saved"

local WAITS = 8              -- how often a script waits for others in one reading

-- ---- running files ---------------------------------------------------------------------

local function compile(path, text)
  if not text then
    error(("%s: cannot be read"):format(path), 0)
  end
  text = text:gsub("^\239\187\191", "")     -- a byte order mark
  if text:byte() == 27 then
    error(("%s:1: precompiled code is refused"):format(path), 0)
  end
  local chunk, message = load(text:gsub("^#[^\n]*", ""), "@" .. path, "t")
  if not chunk then
    error(message, 0)
  end
  return chunk
end

--- The second argument of a script, after the world.
---@class ecs.Script
---@field state table Survives reloads.
---@field path string
---@field on_load fun(self: ecs.Script, fn: fun(script: ecs.Script)) After its first version.
---@field on_unload fun(self: ecs.Script, fn: fun(script: ecs.Script)) Before it is removed.
---@field on_reload fun(self: ecs.Script, fn: fun(script: ecs.Script)) After a changed version.
local Script = {}
Script.__index = Script
local hooks_of = setmetatable({}, { __mode = "k" })

for _, hook in ipairs { "load", "unload", "reload" } do
  -- Adds a function to call when the script was loaded, will be unloaded, or was reloaded.
  Script["on_" .. hook] = function(self, fn)
    local hooks = self ~= nil and hooks_of[self]
    if not hooks then
      error(("calling 'on_%s' on a bad self (script expected)"):format(hook), 2)
    elseif type(fn) ~= "function" then
      error(("bad argument #1 to 'on_%s' (function expected, got %s)"):format(hook, type(fn)), 2)
    end
    table.insert(hooks[hook], fn)
  end
end

-- Ends the reading. A script that catches this error does not get further: see run_file.
local function stop(job, why)
  job.stopped = why
  error(why, 0)
end

local function take(self, job, path)
  local text, state, steady = watch.take(path)
  job.states[path], job.texts[path] = state, text
  if not job.hasty and not (steady and self.watch:is_settled(path, state)) then
    stop(job, reading.WAIT)
  end
  return text
end

-- Declares the components that named others which the rest of the file declares.
local function declare_put_off(self, record)
  local waiting, count = record.put_off, 0
  record.put_off = nil
  while #waiting ~= count do
    local list = waiting
    waiting, count = {}, #waiting
    for _, entry in ipairs(list) do
      record.lacks_type = nil
      local ok, message, kind = native.try(native.declare, self.world, common.unpack(entry, 1, 4))
      if record.lacks_type then
        waiting[#waiting + 1] = entry
      elseif not ok then
        error(kind == "memory" and message or (entry.message:match "^.-:%d+: " or "") .. message, 0)
      end
    end
  end
  if count > 0 then
    record.lacks_type = true
    error(waiting[1].message, 0)
  end
end

local function run_chunk(self, record, text)
  local chunk = compile(record.path, text)
  if record.name then
    local value = chunk(record.name, record.path)
    record.value = value == nil and true or value
  else
    record.script = setmetatable({ state = record.state, path = record.path }, Script)
    hooks_of[record.script] = record.hooks
    chunk(self.world, record.script)
  end
end

-- Creates the record of a file that runs. `name` is the name of a module.
local function new_record(self, path, name)
  local old = self.records[path]
  local kept = old and not old.left and old.script and old.script.state
  return {
    path = path, name = name, state = type(kept) == "table" and kept or {},
    hooks = { load = {}, unload = {}, reload = {} }, requires = {},
    version = old and old.version + 1 or 1, running = true, registered = registrations.new(path),
    put_off = {},
  }
end

-- Runs a file as part of the reading `job`. If a module fails, what it has registered until then
-- stays, because a script that requires it may go on without it.
local function run_file(self, job, path, name)
  local outer, text = job.current, take(self, job, path)
  local record = new_record(self, path, name)
  job.records[path], job.current = record, record
  local ok, message, kind = native.try(run_chunk, self, record, text)
  local declared, missing, why = native.try(declare_put_off, self, record)
  -- What is missing may be why the rest has failed.
  if not declared and (ok or record.lacks_type) then
    ok, message, kind = false, missing, why
  end
  job.current, record.running = outer, nil
  if not ok and outer and record.lacks_type then
    outer.lacks_type = true
  end
  if job.stopped then
    error(job.stopped, 0)
  elseif not ok then
    if kind == "yield" then
      message = reading.placed(path, "the script", message, kind)
    end
    job.failed, record.problem = record, { message }
    error(message, 0)
  end
  return record
end

local function set_loaded(job, name, value)
  local loaded = package.loaded
  if not job.loaded[name] then
    job.loaded[name] = { loaded[name] }
  end
  loaded[name] = value
end

-- Whether none of the searchers of `require` finds a module.
local function is_nowhere(name)
  for _, search in ipairs(common.searchers()) do
    local ok, loader, kind = native.try(search, name)
    if not ok and kind == "memory" then
      error(loader, 0)
    elseif not ok or type(loader) == "function" then
      return false
    end
  end
  return true
end

-- Requires a module that has no file in the directories, without using what a removed file left in
-- package.loaded. If it is nowhere, its file may still be added later, which is another module.
local function require_elsewhere(self, job, require, name)
  local loaded, known = package.loaded, self.provided[name]
  if job.current and known ~= nil and rawequal(loaded[name], known) then
    set_loaded(job, name, nil)
  end
  local ok, value, data = pcall(require, name)
  local missing = not ok and type(name) == "string" and is_nowhere(name)
  for _, path in ipairs(missing and job.current and self.watch:candidates(name) or {}) do
    job.current.requires[path] = true
    job.awaited[path] = true
  end
  return ok, value, data, missing and 2 or 0
end

-- Requires a module whose file is in the directories: runs it, unless this version has run.
local function require_here(self, job, path, name)
  job.current.requires[path] = true
  local record = job.records[path]
  if not record and not job.stale[path] then
    record = self.records[path]
  end
  if record and record.running then
    error(("loop of modules: '%s' requires itself"):format(name), 3)
  elseif job.scripts[path] then
    self.modules[path] = true
    stop(job, reading.AGAIN)
  elseif record and record.problem then
    error(record.problem[1], 0)
  end
  record = record or run_file(self, job, path, name)
  set_loaded(job, name, record.value)
  job.provided[name] = record.value
  return record.value
end

-- Creates the function that replaces `require` while files are read.
local function make_require(self, job, require)
  return function(name)
    local path = type(name) == "string" and self.watch:module(name)
    if path and job.current then
      local value = require_here(self, job, path, name)
      return value, path
    end
    local ok, value, data, level = require_elsewhere(self, job, require, name)
    if not ok then
      error(value, level)
    end
    return value, data
  end
end

-- Restores the modules in package.loaded.
function reading.undo(job)
  for name, old in next, job.loaded do
    package.loaded[name] = old[1]
  end
end

-- ---- choosing files ----------------------------------------------------------------------

-- Returns the files that must run again: the changed ones, and all that require one of them.
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

-- Collects all files that will be in use: scripts, and the modules that they require.
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

-- Returns the scripts in the order in which they run: by path, except for those that had to wait
-- for others. What they register is ordered by path in any case.
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

-- Whether a script failed for lack of a component that a later one may declare. Then it must wait.
local function must_wait(self, job)
  if job.stopped or not job.failed or not job.failed.lacks_type then
    return false
  end
  local failed = job.failed.path
  local order = in_order(self, job)
  local last, waited = order[#order], self.waited[failed] or 0
  if last == failed or waited == math.min(#order, WAITS) then
    return false
  end
  self.waited[failed] = waited + 1
  self.late[failed] = (self.late[last] or 0) + 1
  return true
end

local function read_files(self, job)
  for _, path in ipairs(in_order(self, job)) do
    if job.stale[path] or not self.records[path] then
      run_file(self, job, path)
    end
  end
end

-- Prepares a reading, without running any file. A `hasty` one also reads files that may still be
-- in the middle of being written.
function reading.new(self, changed, everything, hasty)
  local found = self.found
  local job = {
    scripts = {}, records = {}, states = {}, texts = {}, loaded = {}, provided = {},
    awaited = {}, hasty = hasty,
    stale = find_stale(self, changed, everything),
  }
  for path in next, found do
    if not self.modules[path] then
      job.scripts[path] = true
    end
  end
  return job
end

-- Returns the error to report for a value that a script or a hook (`what`) raised; `kind` is that
-- of native.try. Texts and objects stay as they are; other values become a text with the path.
function reading.placed(path, what, message, kind)
  if message == "<no error object>" then   -- Lua 5.5 turns nil into this
    message = nil
  end
  if kind == "yield" then
    return ("%s: %s cannot yield"):format(path, what)
  elseif message == nil or type(message) == "boolean" or type(message) == "number" then
    return ("%s: %s raised %s"):format(path, what, message)
  end
  return message
end

-- Runs the files and records what they register.
function reading.run(self, job)
  local require = _G.require
  _G.require = make_require(self, job, require)
  local ok, message = pcall(read_files, self, job)
  _G.require = require
  if not ok and must_wait(self, job) then
    error(reading.AGAIN, 0)
  elseif not ok then
    error(job.failed and reading.placed(job.failed.path, "the script", message) or message, 0)
  end
  job.all = collect(self, job)
  for path in next, self.modules do
    if not job.all[path] then
      self.modules[path] = nil
      error(reading.AGAIN, 0)
    end
  end
end

return reading
