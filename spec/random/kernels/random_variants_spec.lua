-- Random functions that become several programs because of an optional term, with kernels and
-- without: the same values, order of rows, ids, events, errors, resources, arrays and digests.

local ecs = require "ecs"
local generator = require "spec.support.variant_gen"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local tiers = require "spec.support.tiers"

local table, tostring = table, tostring

local UPDATES = 3
local OPTIONAL = { "O", "P", "T", "S", "Tg", "C" }

local function declare(world)
  world:component("A", { "x: f64", "i: i32" })
  world:component("B", { "t: entity", "u: entity" })
  world:component("C", { "v: f64" })
  world:component("O", { "o: f64 = 2" })
  world:component("P", { "v: f64 = 1" })
  world:component("S", { "v: f64 = 4", storage = "sparse" })
  world:component("Tg", { "v: f64 = 3", toggle = true })
  world:tag "T"
  world:relation("L", { "f: f64", exclusive = true })
  world:event("E", { "v: f64", "e: entity" })
  world:resource("R", { "n: f64", "m: i64 = 3", "id: entity" })
end

-- Entities in tables of many kinds, some of which lead to others.
local function populate(world, program)
  local numbers, ids = random.new(-program.seed), {}
  for n = 1, program.rows do
    local has = { A = { x = numbers:int(10), i = numbers:int(13) } }
    if numbers:chance(88) then has.B = {} end
    if numbers:chance(50) then has[numbers:pick(OPTIONAL)] = true end
    if numbers:chance(33) then has[numbers:pick(OPTIONAL)] = true end
    ids[n] = world:spawn(has)
  end
  for _, id in ipairs(ids) do
    if world:has(id, "B") and numbers:chance(67) then world:set(id, "B.t", numbers:pick(ids)) end
    if numbers:chance(25) then world:add(id, "L", numbers:pick(ids)) end
    if world:has(id, "Tg") and numbers:chance(50) then world:disable(id, "Tg") end
  end
end

local function new_log()
  local log = {}
  return log, function(...)
    local words = table.pack(...)
    for n = 1, words.n do words[n] = tostring(words[n]) end
    log[#log + 1] = table.concat(words, " ")
  end
end

-- Says what there is, in the order of rows.
local function tell(world, around, say)
  for event in world:query("E"):each() do say("E", event.v, event.e) end
  for a, e in world:query("A"):each() do
    say("A", a.x, a.i, e, world:has(e, "T"), world:has(e, "O"), world:has(e, "L"),
      world:has(e, "B") and world:get(e, "B.u"))
  end
  for o, e in world:query("O"):each() do say("O", o.o, e) end
  for p, e in world:query("P"):each() do say("P", p.v, e) end
  say("R", around.score.n, around.score.m)
  for n = 1, 8 do say(n, around.cells[n], around.slots[n]) end
  say("digest", world:digest())
end

-- What a program does to its world, as lines, and how it was run. An error ends it.
local function run(program, kernels, threads)
  local world = ecs.world { kernels = kernels, tag = 1, threads = threads, seed = 5 }
  declare(world)
  local around = { world = world, score = world:res "R", cells = world:array("cells", "f64", 8),
    slots = world:array("slots", "entity", 8), ecs = ecs, math = math, kept = {},
    index = world:index("index", { query = "A", ordered = "A.i" }) }
  populate(world, program)
  world:system("s", { query = program.query, each = generator.compile(program, around) })
  local log, say = new_log()
  for n = 1, UPDATES do
    local done, problem = pcall(world.update, world, 1)
    say("update", n, done or tiers.plain(problem))
    tell(world, around, say)
    if not done then break end
  end
  local tier = world:explain("s").tier
  assert(world:check())
  world:close()
  return log, tier
end

-- Raises with the first lines that differ.
local function compare(expected, seen)
  for n = 1, math.max(#expected, #seen) do
    if expected[n] ~= seen[n] then
      error(("line %d is %q without kernels, %q with them"):format(n, tostring(expected[n]),
        tostring(seen[n])), 0)
    end
  end
end

-- Whether a program, which does the same with kernels and without, was compiled.
local function is_compiled(program)
  local seen, tier = run(program, true, program.threads)
  local expected = run(program, false, 1)
  compare(expected, seen)
  return tier == "vector"
end

describe("random functions that become several programs", function()
  local count = helper.by_scale { small = 160, normal = 800, deep = 5000 }
  local group = count // 4
  for first = 1, count, group do
    local last = first + group - 1
    it(("do what they do in plain Lua: %d to %d"):format(first, last), function()
      local compiled = 0
      for seed = first, last do
        local program = generator.generate(seed)
        local same, result = pcall(is_compiled, program)
        if not same then error(generator.show(program) .. "\n" .. tostring(result), 0) end
        compiled = compiled + (result and 1 or 0)
      end
      assert.truthy(compiled >= group / 2, compiled .. " of " .. group .. " were compiled")
    end)
  end
end)
