--- Random phases of systems, most of them kernels that can run side by side: M.play runs them in a
--- world of so many threads, and tells what came of it.
local ecs = require "ecs"
local random = require "spec.support.rng"

local M = {}

local function pick(numbers, list)
  return list[numbers:range(1, #list)]
end

-- ---- functions ----

-- Fields that functions get at: a term of the query, and what a value of each is made of.
local fields = {
  P = { "x", "y", "z", "u" }, V = { "x", "y", "z" }, W = { "x", "y", "z" }, U = { "x", "y", "z" },
}

local terms = { "P", "V", "W", "U" }

local values = {
  "%s * 0.5", "%s + 1", "%s - dt", "%s + wind.x", "%s + (heights[2] or 0)", "%s + SPEED",
  "%s * world:random(e)", "-%s", "%s + (alive and 1 or 2)", "%s + (fast and 0.5 or 0.25)",
}

-- A statement on the views that there are: reads one field, writes another.
local function statement(numbers, has)
  local from, to = pick(numbers, has), pick(numbers, has)
  local value = pick(numbers, values):format(from .. "." .. pick(numbers, fields[from]))
  local text = ("%s.%s = %s"):format(to, pick(numbers, fields[to]), value)
  if numbers:range(1, 3) > 1 then return text end
  return ("if %s.%s > %d then %s end"):format(from, pick(numbers, fields[from]),
    numbers:range(-3, 20), text)
end

-- Now and then one that runs alone.
local function odd_statement(numbers, has)
  local from = pick(numbers, has)
  local x = from .. "." .. pick(numbers, fields[from])
  return pick(numbers, {
    "wind.x = wind.x * 0.5 + " .. x,
    "heights[2] = heights[2] * 0.5 + " .. x,
    "n.n = 12 // n.n + 1",
    ("if %s > 30 then world:despawn(e) end"):format(x),
    ("if %s > 12 then world:spawn { P = { x = %s }, N = {} } end"):format(x, x),
    ("if %s > 5 then world:disable(e, 'W') end"):format(x),
    "print_nothing()",
  })
end

local function system(numbers, i, count)
  local has, query = { pick(numbers, terms) }, {}
  local other = pick(numbers, terms)
  if other ~= has[1] and numbers:range(1, 2) == 1 then has[2] = other end
  for _, term in ipairs(has) do query[#query + 1] = term end
  query[#query + 1], query[#query + 2] = "T:in", "N"
  local lines = { "local alive = world:alive(t.at)", "local fast = world:has(e, 'Fast')" }
  for _ = 1, numbers:range(1, 3) do lines[#lines + 1] = statement(numbers, has) end
  if numbers:range(1, 14) == 1 then lines[#lines + 1] = odd_statement(numbers, has) end
  local filter = pick(numbers, { "", "", "", ", Fast", ", !Fast", ", V" })
  if numbers:range(1, 16) == 1 then filter = ", V:changed" end
  return {
    name = "s" .. i, query = table.concat(query, ", ") .. filter,
    text = ("return function(%s, t, n%s, dt, e)\n%s\nend"):format(table.concat(has, ", "),
      filter:find "V" and ", _" or "", table.concat(lines, "\n")),
    after = numbers:range(1, 8) == 1 and { "s" .. numbers:range(1, count) } or nil,
    every = numbers:range(1, 6) == 1 and 0.5 or nil,
    enabled = numbers:range(1, 10) > 1,
    phase = numbers:range(1, 6) > 1 and "update" or pick(numbers, { "physics", "startup" }),
    compile = numbers:range(1, 24) > 1 and nil,
    asks = numbers:range(1, 16) == 1,
  }
end

--- The systems of a seed.
function M.generate(seed)
  local numbers, list = random.new(seed + 31), {}
  local count = numbers:range(3, 12)
  for i = 1, count do list[i] = system(numbers, i, count) end
  return { seed = seed, systems = list, rows = numbers:range(1, 1400),
    updates = numbers:range(3, 6), watched = numbers:range(1, 2) == 1 }
end

--- What a program looks like.
function M.show(program)
  local lines = { "seed " .. program.seed .. ", rows " .. program.rows }
  for _, s in ipairs(program.systems) do
    lines[#lines + 1] = ("-- %s: %s, phase %s, after %s, every %s\n%s"):format(s.name, s.query,
      s.phase, s.after and s.after[1], s.every, s.text)
  end
  return table.concat(lines, "\n")
end

-- ---- worlds ----

local function new_world(program, threads)
  local world = ecs.world { threads = threads, tag = 1, seed = program.seed }
  local numbers = random.new(program.seed + 77)
  world:phase("physics", { fixed = 0.25, before = "update" })
  world:component("P", { "x: f64", "y: f32", "z: f64", "u: f64", track = program.watched })
  world:component("V", { "x: f64", "y: f64", "z: f64" })
  world:component("W", { "x: f32", "y: f32", "z: f64", toggle = true })
  world:component("U", { "x: f64", "y: f64", "z: f64" })
  world:component("T", { "at: entity" })
  world:component("N", { "n: i32" })
  world:tag "Fast"
  world:resource("Wind", { "x: f64" })
  world:array("heights", "f64", 4)
  local last
  for _ = 1, program.rows do
    last = world:spawn {
      P = numbers:range(1, 8) > 1 and { x = numbers:range(-9, 30), y = 1.5 } or nil,
      V = numbers:range(1, 4) > 1 and { x = numbers:range(-9, 30), y = 0.5 } or nil,
      W = numbers:range(1, 3) > 1 and { x = numbers:range(-9, 30) } or nil,
      U = numbers:range(1, 5) > 1 and { z = numbers:range(-9, 30) } or nil,
      T = { at = last }, N = { n = numbers:range(1, 9) },
      Fast = numbers:range(1, 3) == 1 or nil,
    }
    if numbers:range(1, 20) == 1 then world:despawn(last) last = nil end
  end
  if numbers:range(1, 8) == 1 and last then world:disable(last, "W") end
  return world
end

local names = "local world, wind, heights, print_nothing, SPEED = ...\n"

local function register(world, program)
  local wind, heights = world:res "Wind", world:array "heights"
  wind.x, heights[2] = 0.75, 2.0
  for _, s in ipairs(program.systems) do
    local each = assert(load(names .. s.text))(world, wind, heights, function() end, 1.25)
    local name = s.name
    local ok, problem = pcall(world.system, world, name, { query = s.query, each = each,
      after = s.after, every = s.every, enabled = s.enabled, phase = s.phase,
      compile = s.compile, when = s.asks and function() return wind.x < 9 end or nil })
    if not ok and not tostring(problem):find "order" then error(problem, 0) end
  end
end

local function plain(problem)
  return (tostring(problem):gsub("\n.*", ""))
end

-- How the systems ran.
local function runs_of(world)
  local told = {}
  for i, s in ipairs(world:describe().systems) do told[i] = s.name .. s.runs end
  return table.concat(told, " ")
end

-- What has changed since it was asked last.
local function changes_of(changed)
  local told = {}
  for i, query in ipairs(changed) do
    local ids = query:ids()
    told[i] = #ids .. ":" .. tostring(ids[1]) .. ":" .. tostring(ids[#ids])
  end
  return table.concat(told, " ")
end

--- What a program tells after each update, and how many systems ran side by side in all.
function M.play(program, threads, call)
  local world = new_world(program, threads)
  local changed = {}
  if program.watched then changed = { world:query "P:changed", world:query "W:changed" } end
  local said, together = {}, 0
  register(world, program)
  for i = 1, program.updates do
    local ok, problem = (call or pcall)(world.update, world, 0.25)
    said[i] = ("%s|%s|%s|%s"):format(ok and "" or plain(problem), world:digest(), runs_of(world),
      changes_of(changed))
    assert(world:check())
    for _, lists in pairs(world:explain "update") do
      for _, list in ipairs(lists) do together = together + (list.together or 0) end
    end
  end
  world:close()
  return said, together
end

local function differs(program, how, shared, alone)
  for i = 1, program.updates do
    if shared[i]:find("not enough memory", 1, true) then return nil end
    if shared[i] ~= alone[i] then
      return ("update %d:\n  %s %s\n  on one thread %s"):format(i, how, shared[i], alone[i])
    end
  end
  return nil
end

--- Nil, or what differs on so many threads, when in each update from the second on the k-th request
--- of memory fails, up to the first update that says so; and whether any request failed.
function M.starves(program, k, threads)
  local starve, failed, calls = require "spec.starve", false, 0
  local function call(...)
    calls = calls + 1
    if calls == 1 then return pcall(...) end
    local results = table.pack(starve.call(k, false, ...))
    failed = failed or starve.refused() > 0
    return table.unpack(results, 1, results.n)
  end
  local starved = M.play(program, threads, call)
  return differs(program, "with less memory", starved, (M.play(program, 1))), failed
end

--- Nil, or what differs on so many threads from one; how many systems ran side by side.
function M.differs_on(program, threads)
  local shared, together = M.play(program, threads)
  local alone = M.play(program, 1)
  return differs(program, "on " .. threads .. " threads", shared, alone), together
end

return M
