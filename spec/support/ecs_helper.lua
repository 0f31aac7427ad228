-- What every spec file needs: worlds that are checked after each test, and comparisons.
-- Requiring this file inside a spec adds the check to each of that file's tests.

local helper = {}

local open_worlds = {}

-- "small", "normal" or "deep", from ECS_SPEC_SCALE.
function helper.scale()
  local scale = os.getenv("ECS_SPEC_SCALE")
  if scale == nil or scale == "" then
    return "normal"
  end
  assert(scale == "small" or scale == "normal" or scale == "deep",
    "ECS_SPEC_SCALE is small, normal or deep")
  return scale
end

-- Ends a test, as pending, where it cannot start shells and other interpreters: on machines that
-- are emulated, and Windows. `pending` is busted's.
function helper.needs_processes(pending)
  if os.getenv "ECS_SPEC_ALONE" then
    pending "no other process can be started here"
  end
end

-- The entry of `counts` (small, normal, deep) for this run's scale.
function helper.by_scale(counts)
  return counts[helper.scale()]
end

-- The first and the last seed to try: ECS_SPEC_SEEDS (first-last, or one seed), or from 1 to the
-- entry of `counts`; and whether they were asked for.
function helper.seeds(counts)
  local text = os.getenv "ECS_SPEC_SEEDS" or ""
  if text == "" then
    return 1, helper.by_scale(counts), false
  end
  local first, last = text:match "^(%d+)%-?(%d*)$"
  assert(first, "ECS_SPEC_SEEDS is first-last, or one seed")
  return tonumber(first), tonumber(last) or tonumber(first), true
end

-- Calls run(seed, ...) for each of them; what it raises names the seed.
function helper.each_seed(counts, run, ...)
  local first, last = helper.seeds(counts)
  for seed = first, last do
    local ok, problem = xpcall(run, debug.traceback, seed, ...)
    if not ok then error(("seed %d: %s"):format(seed, tostring(problem)), 0) end
  end
end

-- A world whose invariants are checked when the test that made it ends.
function helper.new_world(options)
  local world = require("ecs").world(options)
  open_worlds[#open_worlds + 1] = world
  return world
end

-- Raises unless every invariant of the world holds.
function helper.check(world)
  local ok, message = world:check()
  if not ok then
    error("world:check: " .. tostring(message), 2)
  end
end

-- Checks and closes the worlds made by new_world since the last call. A world that the test
-- closed is left out.
function helper.check_worlds()
  local worlds = open_worlds
  open_worlds = {}
  for _, world in ipairs(worlds) do
    local usable, ok, message = pcall(world.check, world)
    if usable then
      world:close()
      assert(ok, "world:check: " .. tostring(message))
    elseif not tostring(ok):find("closed", 1, true) then
      error(ok, 0)
    end
  end
end

-- How often body calls fn.
function helper.calls_of(fn, body)
  local calls = 0
  debug.sethook(function()
    if debug.getinfo(2, "f").func == fn then
      calls = calls + 1
    end
  end, "c")
  local ok, message = pcall(body)
  debug.sethook()
  assert(ok, message)
  return calls
end

-- How much memory is to grow until the collector begins a cycle, in percent; returns what that was.
function helper.set_pause(percent)
  if _VERSION == "Lua 5.4" then
    return collectgarbage("setpause", percent)
  end
  return collectgarbage("param", "pause", percent)
end

-- Has the collector go through a cycle at about every allocation, or work as usual.
function helper.collect_always(always)
  local pause, multiplier = always and 1 or 200, always and 1000 or 100
  if _VERSION == "Lua 5.4" then
    collectgarbage("incremental", pause, multiplier, always and 1 or 13)
  else
    collectgarbage "incremental"
    collectgarbage("param", "pause", pause)
    collectgarbage("param", "stepmul", multiplier)
    collectgarbage("param", "stepsize", always and 64 or 8192)
  end
end

-- Raises unless fn raises a message that holds every given text (plain, not a pattern).
-- Returns the message.
function helper.has_error(fn, ...)
  local ok, message = pcall(fn)
  if ok then
    error("expected an error", 2)
  end
  message = tostring(message)
  for _, text in ipairs { ... } do
    if not message:find(text, 1, true) then
      error(("expected %q in the message %q"):format(text, message), 2)
    end
  end
  return message
end

-- x rounded to the nearest f32.
function helper.f32(x)
  return (string.unpack("<f", string.pack("<f", x)))
end

-- The names of an entity's components, sorted.
function helper.names_of(world, entity)
  local names = {}
  for name in world:components(entity) do
    names[#names + 1] = name
  end
  table.sort(names)
  return table.concat(names, " ")
end

-- Raises unless two numbers differ by at most `epsilon` (1e-6 unless given); NaN equals NaN.
function helper.approx(expected, actual, epsilon)
  local both_nan = expected ~= expected and actual ~= actual
  if expected ~= actual and not both_nan
    and not (math.abs(expected - actual) <= (epsilon or 1e-6)) then
    error(("expected about %s, got %s"):format(expected, actual), 2)
  end
end

-- The ids that a query visits, in its order.
function helper.ids_of(query)
  local ids = {}
  for chunk in query:chunks() do
    local entities = chunk.entities
    for i = 1, chunk.n do
      ids[#ids + 1] = entities[i]
    end
  end
  return ids
end

-- A sorted copy of a list.
function helper.sorted(list)
  local copy = table.move(list, 1, #list, 1, {})
  table.sort(copy)
  return copy
end

-- What an iterator gives as a map from the first result to the second:
-- helper.map_of(world:components(e)).
function helper.map_of(...)
  local map = {}
  for key, value in ... do
    map[key] = value
  end
  return map
end

-- The names of the systems in the order in which they run.
function helper.order(world)
  local names = {}
  for i, system in ipairs(world:describe().systems) do
    names[i] = system.name
  end
  return table.concat(names, " ")
end

-- What the world tells of a system.
function helper.system(world, name)
  for _, system in ipairs(world:describe().systems) do
    if system.name == name then
      return system
    end
  end
end

-- ---- live scripts ------------------------------------------------------------------------

local clock     -- the module whose clock is ahead
local ahead

-- So much time passes for live scripts, without waiting.
function helper.pass(seconds)
  local native = require "ecs.native"
  if clock ~= native then
    local now = native.now
    clock, ahead = native, 0
    native.now = function() return now() + ahead end
  end
  ahead = ahead + math.floor(seconds * 1e9)
end

-- What a session's polls give once files that have been saved have not changed for as long as it
-- takes.
function helper.poll(session)
  local swapped, message = session:poll()
  if swapped == nil then
    helper.pass(0.02)
    swapped, message = session:poll()
  end
  return swapped, message
end

if package.loaded["busted"] then
  require("busted").after_each(helper.check_worlds)
end

return helper
