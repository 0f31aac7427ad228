-- One reload of live scripts: reads files, swaps in what they register, and calls hooks.

local native = require "ecs.native"
local reading = require "ecs.live.reading"
local registrations = require "ecs.live.registrations"
local watch = require "ecs.live.watch"

local sorted = registrations.sorted
local reload = {}

local TRIES = 16             -- for each file: how often they are read again in another order

-- Returns the scripts that are removed and have on_unload hooks.
local function farewells(self, job)
  local list = {}
  for _, path in ipairs(sorted(self.records)) do
    local record = self.records[path]
    if not job.all[path] and #record.hooks.unload > 0 and not record.left then
      list[#list + 1] = record
    end
  end
  return list
end

-- For files that are still being written, keeps the state in which they were last read, or that
-- they do not exist. So their change is noticed later.
local function keep_unread(self, job, states)
  for path in next, self.unread do
    states[path] = job.states[path] or self.watch.files[path] or {}
  end
end

-- Returns the states and texts of all files to watch, and the states of modules that may be added.
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

-- Appends a script's hooks of a kind, in the order in which it set them, as { fn, script, name }.
local function add_hooks(list, record, kind)
  for _, fn in ipairs(record.hooks[kind]) do
    list[#list + 1] = { fn, record.script, "on_" .. kind }
  end
  return list
end

local function greetings(self, job)
  local list = {}
  for _, path in ipairs(sorted(job.records)) do
    local old = self.records[path]
    if job.all[path] then
      add_hooks(list, job.records[path], old and not old.left and "reload" or "load")
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

-- Checks whether what the files register can be swapped in.
local function check(self, job)
  reading.run(self, job)
  registrations.swap(self, job, true)
  reading.undo(job)
end

-- Keeps the registrations of modules that did not run.
local function keep_provided(self, job)
  for name, value in next, self.provided do
    if job.provided[name] == nil then
      job.provided[name] = value
    end
  end
end

-- Swaps in what the files register, and returns the hooks to call. Everything is allocated before
-- the swap, so that nothing can fail after it.
local function swap(self, job)
  reading.run(self, job)
  local states, texts = followed(self, job)
  local due, report = greetings(self, job), { files = names_of(job), components = false }
  keep_provided(self, job)
  self.watch:follow(states, texts)
  local owned, problem
  owned, report.components, self.group, problem = registrations.swap(self, job)
  for _, component in next, report.components do
    if component.spawners then
      table.sort(component.spawners)
    end
  end
  self.owned, self.records, self.states = owned, job.all, states
  self.provided = job.provided
  self.last_report, self.last_error = report, false
  return { hooks = due, problem = problem }
end

-- Reads the files and calls `body` (check or swap) while registrations are recorded. Returns a
-- failure as { message =, kind =, job = }, with the kind of native.try, or the result of `body`.
local function try_once(self, job, body)
  self.tries = self.tries + 1
  local ok, result, kind = native.try(native.stage, self.world,
    registrations.recorder(self, job), function()
      return body(self, job)
    end)
  if ok then
    return nil, result
  end
  reading.undo(job)
  if rawequal(result, reading.AGAIN) and self.tries > TRIES * (#sorted(job.scripts) + 1) then
    result = "the modules that the scripts require keep changing"
  end
  return { message = result, kind = kind, job = job }
end

-- Calls try_once again each time the files must be read in another order.
local function try(self, changed, everything, hasty, body)
  local failure, result
  repeat
    failure, result = try_once(self, reading.new(self, changed, everything, hasty), body)
  until not failure or not rawequal(failure.message, reading.AGAIN)
  return failure, result
end

-- Reports a refused change once, however many polls return it. Out of memory is raised instead. If
-- a script raised a value that is not a text, `path` is reported with it.
function reload.fail(self, message, kind, path, again)
  local known = again and self.last_error == message
  self.last_error = message
  if kind == "memory" then
    error(message, 0)
  end
  if self.on_error and not known and type(message) == "string" then
    self.on_error(message)
  elseif self.on_error and not known then
    self.on_error(message, path)
  end
  return false, message
end

-- Reports an error that did not prevent a swap. The first one becomes the session's last_error. The
-- first error that on_error itself raises is raised after all have been reported.
local function tell(self, told, message, kind, path)
  local ok, raised = pcall(reload.fail, self, message, kind, path)
  told.raised = told.raised or not ok and { raised }
  told.problem = told.problem or message
  self.last_error = told.problem
end

-- Calls all hooks, even if one of them, or on_error, raises an error.
local function call_hooks(self, told, due)
  for _, hook in ipairs(due) do
    local ok, message, kind = native.try(hook[1], hook[2])
    if not ok then
      local path = hook[2].path
      tell(self, told, reading.placed(path, hook[3], message, kind), kind, path)
    end
  end
  if told.raised then
    error(told.raised[1], 0)
  end
end

-- Returns the scripts that a successful reload removes.
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

-- Calls on_unload hooks of removed scripts while their components still exist, once it is certain
-- that they can be removed. Otherwise returns the failure.
local function say_goodbye(self, told, changed, everything, hasty)
  local leaving = find_leaving(self, changed, everything)
  local failure = #leaving > 0 and try(self, changed, everything, hasty, check)
  if failure then
    return failure
  end
  for _, record in ipairs(leaving) do
    record.left = true
    call_hooks(self, told, add_hooks({}, record, "unload"))
  end
end

-- After a failure: watches the files in the states that were read. The next change tries again.
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

-- Reads the files that have changed, or all, and swaps in what they register. Returns true and the
-- first error of hooks; false and the reason for a refusal; nothing if a file is being written.
function reload.run(self, changed, everything, hasty)
  self.waited, self.tries, self.done = {}, 0, false
  local told = {}
  local failure, due = say_goodbye(self, told, changed, everything, hasty), nil
  if not failure then
    failure, due = try(self, changed, everything, hasty, swap)
  end
  if not failure then
    self.pending, self.seen = {}, self.found
    self.last_error, self.done = told.problem or false, true
    if due.problem then
      tell(self, told, due.problem)
    end
    call_hooks(self, told, due.hooks)
    return true, told.problem
  elseif rawequal(failure.message, reading.WAIT) then
    return nil
  end
  self.seen = self.found
  follow_failed(self, changed, failure.job)
  self.done = true
  local failed = failure.job.failed
  return reload.fail(self, failure.message, failure.kind, failed and failed.path)
end

return reload
