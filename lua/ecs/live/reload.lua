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

-- Finds out whether what the files register could be swapped in.
local function check(self, job)
  reading.run(self, job)
  local plan = registrations.plan(self, job)
  plan.check = true
  native.swap(self.world, plan)
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
  local plan, owned = registrations.plan(self, job)
  local states, texts = followed(self, job)
  local due, report = greetings(self, job), { files = names_of(job), components = false }
  keep_provided(self, job)
  self.watch:follow(states, texts)
  local problem
  report.components, self.group, problem = native.swap(self.world, plan)
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
  if result == reading.AGAIN and self.tries > TRIES * (#sorted(job.scripts) + 1) then
    result = "what the scripts require is never the same"
  end
  return { message = result, kind = kind, job = job }
end

-- The same, as often as the files turn out to be read in another way.
local function try(self, changed, everything, hasty, body)
  local failure, result
  repeat
    failure, result = try_once(self, reading.new(self, changed, everything, hasty), body)
  until not failure or failure.message ~= reading.AGAIN
  return failure, result
end

-- A message is told of once, however often a poll has to give it; that there is no memory is
-- raised.
function reload.fail(self, message, kind, again)
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
      ok, message = pcall(reload.fail, self, message, kind)
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
  local failure = #leaving > 0 and try(self, changed, everything, hasty, check)
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

-- Reads the files that have changed, or all, and swaps in what they register: true and what a hook
-- raised; false and why not; nothing when a file is still being written.
function reload.run(self, changed, everything, hasty)
  self.waited, self.tries, self.done = {}, 0, false
  local failure, problem = say_goodbye(self, changed, everything, hasty)
  local due
  if not failure then
    failure, due = try(self, changed, everything, hasty, swap)
  end
  if not failure then
    self.pending, self.seen = {}, self.found
    self.last_error, self.done = problem, true
    if due.problem then
      reload.fail(self, due.problem)
      problem = self.last_error
    end
    return true, call_hooks(self, due.hooks) or problem
  elseif failure.message == reading.WAIT then
    return nil
  end
  self.seen = self.found
  follow_failed(self, changed, failure.job)
  self.done = true
  return reload.fail(self, failure.message, failure.kind)
end

return reload
