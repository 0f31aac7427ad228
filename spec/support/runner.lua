-- Random runs: the same operations on the model and on a runtime, compared as they go; a run
-- that differs is shrunk to the few steps that matter.
--
-- options (all optional):
--   tag        the worlds' tag
--   steps      operations of a run (2,000)
--   every      operations between comparisons of everything (40)
--   crowd      how many entities a random run keeps about (10 to 150, by seed)
--   starve     in some steps calls of the runtime run out of memory first (see trace_starve.lua)
--   observe    observers are on in the world under test (see observing.lua)
--   subject    function(tag) -> the world under test; a real one by default
--   reference  function(tag) -> the model to compare with
--
-- With ECS_SPEC_LOG=file every step of the latest run is written down before it is done, for
-- runs that crash: runner.replay({ the lines }, { tag = }) does them again.

local compare = require "spec.support.compare"
local context = require "spec.support.trace_context"
local gen = require "spec.support.trace_gen"
local model = require "spec.support.model"
local ops = require "spec.support.trace_ops"
local shrink = require "spec.support.shrink"
local text = require "spec.support.trace_text"
local values = require "spec.support.trace_values"
require "spec.support.trace_change"
require "spec.support.trace_ties"
require "spec.support.trace_terms"
require "spec.support.trace_arrays"
require "spec.support.trace_events"
require "spec.support.trace_finds"

local runner = {}

local function real_world(tag)
  return require("ecs").world { tag = tag }
end

local function model_world(tag)
  return model.world { tag = tag }
end

local log = os.getenv("ECS_SPEC_LOG")

local function write_down(line, mode)
  local file = assert(io.open(log, mode))
  file:write(line, "\n")
  file:close()
end

-- ---- one run ---------------------------------------------------------------------------

local Run = {}
Run.__index = Run

local function new_run(options)
  local shared = values.shared()
  local tag = options.tag or 1
  if log then
    write_down(("-- tag %d"):format(tag), "w")
  end
  return setmetatable({
    expected = context.new((options.reference or model_world)(tag), shared),
    actual = context.new((options.subject or real_world)(tag), shared),
    every = options.every or 40,
    observing = options.observe and require("spec.support.observing").new(tag),
    contents = {},           -- digest -> content
    digests = {},            -- content -> digest
  }, Run)
end

-- Does a step, whose calls run out of memory first if it says so.
local function perform_starved(ctx, step)
  local world = ctx.world
  if step.starve then
    ctx.world = require("spec.support.trace_starve").world(ctx, step.starve)
  end
  local outcome = ops.perform(ctx, step)
  ctx.world = world
  return outcome
end

-- Does a step in both worlds: the runtime first, since it decides the order of rows. Returns
-- what differs, or nil.
function Run:step(step)
  if log then
    write_down(text.literal(step) .. ",", "a")
  end
  local actual = perform_starved(self.actual, step)
  local world = self.expected.world
  world.hints, world.hint = actual.visits, 1
  world.ids.taken = actual.taken
  local expected = ops.perform(self.expected, step)
  world.hints = {}
  local difference = compare.outcomes(expected, actual)
    or world:learn_packed(self.actual.world)
    or self:observe(step)
  return difference and ("%s %s"):format(step[1], difference)
end

-- Of all components, or of those that queries take by their names alone.
local function component_names(world, queried)
  local names = {}
  for name, component in pairs(world.components_by_name) do
    local paired = component.ties and not component.ties.exclusive
    local skipped = queried and paired or world.is_array(name) or world.is_event(name)
      or name == "Prefab"
    names[#names + 1] = not skipped and name or nil
  end
  table.sort(names)
  return names
end

-- What observers have heard, if there are any.
function Run:observe(step)
  if self.observing then
    local expected = self.expected
    local idle = #expected.world.scopes == 0 and #expected.left == 0
    return self.observing:after(self.actual.world, step,
      idle and component_names(expected.world, true) or {})
  end
end

-- Digests are equal exactly when contents are.
function Run:look_at_digest()
  local content, digest = self.expected.world:content(), self.actual.world:digest()
  local known, other = self.digests[content], self.contents[digest]
  self.digests[content], self.contents[digest] = digest, content
  if known and known ~= digest then
    return "world:digest differs for the same content"
  elseif other and other ~= content then
    return "world:digest is the same for another content"
  end
end

-- The worlds as they are now, and queries over two of the components. `turn` as in
-- compare.entity.
function Run:look(one, two, turn)
  local expected, actual = self.expected.world, self.actual.world
  local names = component_names(expected, true)
  local difference = compare.worlds(expected, actual, component_names(expected), turn)
    or self:look_at_digest()
  if difference or #names == 0 then
    return difference
  end
  one, two = names[one % #names + 1], names[two % #names + 1]
  return compare.query(expected, actual, one)
    or compare.query(expected, actual, ("%s, !%s"):format(one, two))
    or compare.query(expected, actual, ("%s|%s, %s?"):format(one, two, one))
end

-- The worlds as they are now, and queries over every two neighbours.
function Run:look_closely()
  local difference = self:look(0, 1)
  for i = 1, #component_names(self.expected.world, true) - 1 do
    difference = difference or self:look(i, i + 1)
  end
  return difference
end

-- Ends what a trace has left open, and the world.
local function close(ctx)
  local world = ctx.world
  for _, thread in ipairs(ctx.left) do
    coroutine.close(thread)
  end
  while pcall(world.commit, world) do end
  world:close()
end

local function failure(trace, difference, options)
  return { trace = trace, message = difference, tag = options.tag or 1 }
end

-- Runs a trace. Everything is compared after each step, of long traces in a dozen places, or, with
-- `by_step`, what steps give alone. Returns nil, or what failed: { trace = the steps until then,
-- message, tag }.
function runner.replay(trace, options, by_step)
  options = options or {}
  local run = new_run(options)
  local every = by_step and math.huge or #trace // 12 + 1
  for i, step in ipairs(trace) do
    local difference = run:step(step)
    if not difference and (every == 1 or i == #trace and not by_step) then
      difference = run:look_closely()
    elseif not difference and i % every == 0 then
      difference = run:look(i, i + 1, i)
    end
    if difference then
      pcall(close, run.actual)
      return failure(table.move(trace, 1, i, 1, {}), difference, options)
    end
  end
  close(run.actual)
end

-- Does the generator's step, or the given one, and compares. Returns what differs, or nil, and
-- whether the step itself told of it.
local function advance(run, source, trace, step)
  step = step or source:next()
  step.at = step.at or #trace + 1
  trace[#trace + 1] = step
  local told = run:step(step)
  source:learn()
  if not told and #trace % run.every == 0 then
    return run:look(#trace // run.every, #trace // 3, #trace // run.every)
  end
  return told, told ~= nil
end

-- Makes and runs a random trace. Returns nil or a failure as runner.replay does, with `by_step`
-- when a step told of it.
function runner.attempt(seed, options)
  local run, trace, difference, by_step = new_run(options), {}, nil, nil
  local source = gen.new(seed, run.expected, options)
  local function go_on(step)
    if not difference then
      difference, by_step = advance(run, source, trace, step)
    end
  end
  for _ = 1, options.steps or 2000 do
    go_on()
  end
  for _ = 1, #run.expected.left do
    go_on { "drop", 1 }
  end
  for _ = 1, #run.expected.world.scopes do
    go_on { "commit" }
  end
  difference = difference or run:look_closely()
  pcall(close, run.actual)
  local failed = difference and failure(trace, difference, options)
  if failed then
    failed.by_step = by_step
  end
  return failed
end

-- The trace that a seed makes.
function runner.trace(seed, options)
  local run, trace = new_run(options), {}
  local source = gen.new(seed, run.expected, options)
  for i = 1, options.steps do
    trace[i] = source:next()
    run:step(trace[i])
    source:learn()
  end
  close(run.actual)
  return trace
end

-- What loops saw in a random run, step by step, and at its end the ids in the order in which
-- each component's query gives them; `text` is all of it.
function runner.orders(seed, options)
  local trace = runner.trace(seed, options)
  local ctx = context.new((options.subject or real_world)(1), values.shared())
  local orders = {}
  for i, step in ipairs(trace) do
    local outcome = ops.perform(ctx, step)
    orders[i] = table.concat(outcome.visits, " ")
  end
  local names = {}
  for name in pairs(ctx.components) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local seen = {}
    local terms = ctx.several[name] and ("(%s, *)"):format(name) or name
    for chunk in ctx.world:query(terms):chunks() do
      for i = 1, chunk.n do
        seen[#seen + 1] = chunk.entities[i]
      end
    end
    orders[#orders + 1] = name .. ": " .. table.concat(seen, " ")
  end
  orders.text = table.concat(orders, "\n")
  close(ctx)
  return orders
end

-- A codec that gives a value the same bytes whenever it is asked.
local function plain_codec(shared)
  local function encode(value)
    for i, other in ipairs(shared) do
      if rawequal(value, other) then
        return "shared " .. i
      end
    end
    return text.literal(value)
  end
  return { codec = { encode = encode, decode = function() end } }
end

-- The digests in a random run, one for every 25 steps, and what is saved at its end.
function runner.digests(seed, options)
  local trace = runner.trace(seed, options)
  local shared = values.shared()
  local ctx = context.new((options.subject or real_world)(1), shared)
  local digests = {}
  for i, step in ipairs(trace) do
    ops.perform(ctx, step)
    if i % 25 == 0 then
      digests[#digests + 1] = ctx.world:digest()
    end
  end
  for _, thread in ipairs(ctx.left) do
    coroutine.close(thread)
  end
  ctx.left = {}
  while pcall(ctx.world.commit, ctx.world) do end
  local image = ctx.world:save(plain_codec(shared))
  close(ctx)
  return digests, image
end

-- ---- many runs -------------------------------------------------------------------------

-- What a step gives and should give instead, without the values: a smaller trace may fail at
-- something else, as it has steps behind each other that the generator does not make so.
local function sort_of(message)
  return message:match "^[^(%d\"'{]*" .. (message:match "expected an error: [^%d(\"'{]*" or "")
end

-- A random run; a failure comes back with its seed and with its trace shrunk.
function runner.run(seed, options)
  options = options or {}
  options.tag = options.tag or seed % 255 + 1
  local failed = runner.attempt(seed, options)
  if not failed then
    return nil
  end
  local steps, sort = #failed.trace, failed.by_step and sort_of(failed.message)
  local shrunk = shrink.failure(failed, function(trace)
    local smaller = runner.replay(trace, options, failed.by_step)
    return smaller and (not sort or sort_of(smaller.message) == sort) and smaller
  end)
  shrunk.seed, shrunk.steps = seed, steps
  return shrunk
end

-- A failure as a script that shows it, with what differs in a comment; "no difference" for nil.
function runner.report(failed)
  if not failed then
    return "no difference"
  end
  local comment = ("seed %s, %s steps: %s"):format(failed.seed or "?", failed.steps or "?",
    failed.message)
  return text.script(failed.trace, failed.tag, comment)
end

-- Runs seeds first to last; raises a report at the first that fails.
function runner.run_seeds(first, last, options)
  for seed = first, last do
    local copy = {}
    for key, value in pairs(options or {}) do
      copy[key] = value
    end
    local failed = runner.run(seed, copy)
    if failed then
      error(runner.report(failed), 0)
    end
  end
end

return runner
