-- One reload of live scripts: files are read, what they register is swapped in, hooks are called.

local native = require "ecs.native"
local reading = require "ecs.live.reading"
local registrations = require "ecs.live.registrations"
local watch = require "ecs.live.watch"

local sorted = registrations.sorted
local reload = {}

local TRIES = 16             -- how often they are read in another way, for each of them

-- The scripts that go and have something to do before.
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

-- Appends a script's hooks of a kind, in the order in which it gave them, as { fn, script, name }.
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

-- Finds out whether what the files register could be swapped in.
local function check(self, job)
  reading.run(self, job)
  registrations.swap(self, job, true)
  reading.undo(job)
end

-- What modules that did not run have provided.
local function keep_provided(self, job)
  for name, value in next, self.provided do
    if job.provided[name] == nil then
      job.provided[name] = value
    end
  end
end

-- Swaps in what the files register, and returns the hooks that are due. Everything is made before
-- the swap, so that after it nothing can fail.
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

-- Does one of these while what scripts register is recorded. What failed, if anything did, as
-- { message =, kind =, job = } with the kind that native.try tells; else what it returns.
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

-- The same, as often as the files turn out to be read in another way.
local function try(self, changed, everything, hasty, body)
  local failure, result
  repeat
    failure, result = try_once(self, reading.new(self, changed, everything, hasty), body)
  until not failure or not rawequal(failure.message, reading.AGAIN)
  return failure, result
end

-- What is refused is told of once, however often a poll has to say it; that there is no memory is
-- raised. What a script raised need not be a text: `path` is told with it then, to say whose it is.
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

-- Tells of one of the things that went wrong beside a swap. The first of them is the last_error of
-- the session, and the first error of on_error is raised when all have been told of.
local function tell(self, told, message, kind, path)
  local ok, raised = pcall(reload.fail, self, message, kind, path)
  told.raised = told.raised or not ok and { raised }
  told.problem = told.problem or message
  self.last_error = told.problem
end

-- All of them are called, whatever one of them or on_error raises.
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
-- they can go. What failed, if they cannot.
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

-- Reads the files that have changed, or all, and swaps in what they register: true and what went
-- wrong first beside that; false and why not; nothing when a file is still being written.
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
