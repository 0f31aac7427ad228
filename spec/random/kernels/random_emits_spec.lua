-- Random functions over entities and over events that emit, spawn, despawn, and write to whom paths
-- lead: with kernels and without the same cells and events.

local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"
local ecs = require "ecs"

local random = math.random
local pick = tiers.pick

-- What functions over a query are given, and what may be said of it.
local QUERIES = {
  { text = "P", parameters = "p, dt, e", numbers = { "p.x", "p.x * dt" }, wholes = { "p.n" },
    entities = { "e", "e", "p.prey" }, truths = { "p.on", "p.n % 3 == 1", "p.x > 4" } },
  { text = "P, P.prey->H", parameters = "p, h, dt, e", numbers = { "p.x", "p.x - dt" },
    wholes = { "p.n" }, entities = { "e", "p.prey", "p.prey" }, truths = { "p.on", "p.x > 4" },
    written = { "h.hp" }, whole = "h.n" },
  { text = "Hit", parameters = "hit, dt", numbers = { "hit.amount", "hit.amount * dt" },
    wholes = { "hit.n" }, entities = { "hit.who", "hit.by" },
    truths = { "hit.on", "hit.n % 3 == 1", "hit.kind == 'ice'" } },
  { text = "Hit, Hit.who->H", parameters = "hit, h", numbers = { "hit.amount" },
    wholes = { "hit.n" }, entities = { "hit.who", "hit.by" },
    truths = { "hit.on", "hit.n > 5", "hit.kind == 'ice'" }, written = { "h.hp" }, whole = "h.n" },
  { text = "Hit, Hit.by->H?, Hit.who->S", parameters = "hit, h, s, dt", numbers = { "hit.amount" },
    wholes = { "hit.n" }, entities = { "hit.who", "hit.by" }, truths = { "hit.on", "hit.n > 5" },
    written = { "s.w" }, whole = "s.n", maybe = { "h.hp", "h" } },
  { text = "Said", parameters = "said, dt", numbers = { "dt" }, wholes = { "said.n" },
    entities = { "said.who" }, truths = { "said.text == 'one'", "said.n > 2" },
    texts = { "said.text" } },
}

local function number(q)
  local what = random(5)
  if what == 1 then return pick { "3.0", "0.5", "total[2]" } end
  if what == 2 then
    return ("(%s %s %s)"):format(pick(q.numbers), pick { "+", "-", "*" }, number(q))
  end
  if what == 3 then return ("(%s and %s or 1.5)"):format(pick(q.truths), pick(q.numbers)) end
  return pick(q.numbers)
end

local function whole(q)
  return pick(q.wholes) .. pick { "", "", " + 1", " * 5" }
end

local function entity(q)
  return random(6) == 1 and pick { "boss", "ecs.null" } or pick(q.entities)
end

local function text(q)
  return q.texts and random(2) == 1 and pick(q.texts) or pick { "'one'", "'two'", "word" }
end

-- Some fields of a hit, by their names.
local function fields(q)
  local list = {}
  for _, field in ipairs { "who = " .. entity(q), "amount = " .. number(q), "by = " .. entity(q),
    "n = " .. whole(q), "on = " .. pick(q.truths), "kind = 'ice'" } do
    if random(2) == 1 then list[#list + 1] = field end
  end
  return table.concat(list, ", ")
end

local statements, weight = {}, {}

local function statement(q, depth)
  local what
  repeat
    what = pick(weight)
  until depth > 0 or not what:find "^in_"
  return statements[what](q, depth)
end

function statements.emit(q)
  local values = { entity(q), number(q), entity(q), whole(q), pick(q.truths), "'fire'" }
  return ("world:emit(%s, %s)"):format(pick { "'Hit'", "name" },
    table.concat(values, ", ", 1, random(#values)))
end

function statements.emit_table(q)
  return ("world:emit('Hit', { %s })"):format(fields(q))
end

function statements.emit_made(q)
  return ("local t = { %s } t.n = %s if %s then world:emit(id, t) end"):format(fields(q), whole(q),
    pick(q.truths))
end

function statements.say(q)
  return pick {
    ("world:emit('Said', %s, %s)"):format(text(q), entity(q)),
    ("world:emit('Said', { who = %s, n = %s })"):format(entity(q), whole(q)),
  }
end

function statements.born(q)
  return ("local child = world:spawn { H = { hp = %s } } world:emit('Hit', %s)"):format(number(q),
    pick { "child, 2", ("{ by = child, amount = %s }"):format(number(q)) })
end

function statements.kept(q)
  return ("if %s then %s = world:spawn { H = { hp = %s } } end"):format(pick(q.truths),
    pick { ("born[%s]"):format(whole(q)), ("born[1 + %s %% 5]"):format(whole(q)), "last.who" },
    number(q))
end

function statements.despawn(q)
  local id = entity(q)
  return ("if %s and %s ~= ecs.null then world:despawn(%s) end"):format(pick(q.truths), id, id)
end

function statements.add_up(q)
  return ("sum[1] = sum[1] %s %s"):format(pick { "+", "-" }, number(q))
end

function statements.write(q)
  if not q.written then return statements.add_up(q) end
  local place = pick(q.written)
  return pick {
    ("%s = %s - %s"):format(place, place, number(q)), ("%s = %s * 0.5"):format(place, place),
    ("%s = %s + 1"):format(q.whole, q.whole),
    ("%s = math.max(%s, %s)"):format(place, place, number(q)),
  }
end

function statements.maybe(q)
  if not q.maybe then return statements.emit(q) end
  return ("if %s then world:emit('Hit', %s, %s) end"):format(q.maybe[2], entity(q), q.maybe[1])
end

function statements.in_condition(q, depth)
  local body = statement(q, depth - 1)
  if random(2) == 1 then return ("if %s then %s end"):format(pick(q.truths), body) end
  return ("if %s then %s else %s end"):format(pick(q.truths), body, statement(q, depth - 1))
end

function statements.in_loop(q, depth)
  return ("for k = 1, %d do %s %s end"):format(random(3), statement(q, depth - 1),
    random(3) == 1 and ("if k * %s > 4 then break end"):format(number(q)) or "")
end

for name, times in pairs { emit = 4, emit_table = 3, emit_made = 2, say = 3, born = 1, kept = 1,
  despawn = 1, add_up = 1, write = 3, maybe = 1, in_condition = 5, in_loop = 2 } do
  for _ = 1, times do weight[#weight + 1] = name end
end
table.sort(weight)

local function function_text(q)
  local lines = {}
  for _ = 1, random(3) do lines[#lines + 1] = "do " .. statement(q, 2) .. " end" end
  return ("return function(%s) %s end"):format(q.parameters, table.concat(lines, "\n"))
end

local function new_world(kernels, rows)
  local world = helper.new_world { kernels = kernels, tag = 3 }
  world:component("P", { "x: f64", "n: i32", "on: bool", "prey: entity" })
  world:component("H", { "hp: f64 = 10", "n: i32" })
  world:component("S", { "w: f64", "n: i8" })
  local hit = world:event("Hit", { "who: entity", "amount: f64 = 1", "by: entity", "n: i16",
    "on: bool", "kind: enum(fire, ice)" })
  world:event("Said", { "text: string = two", "who: entity", "n: i16 = 1" })
  local ids = {}
  for n = 1, 9 do
    ids[n] = world:spawn { H = n % 4 > 0 and {} or nil, S = n % 3 > 0 and {} or nil }
  end
  for n = 1, rows do
    world:spawn { P = { x = random(-20, 40) / 4, n = random(0, 40), on = n % 3 == 0,
      prey = n % 7 > 0 and ids[n * n % #ids + 1] or nil } }
  end
  return world, ids, hit
end

-- So that events that bring events do not fill the world.
local MOST = 6000

local function emit(world, ids)
  for n = 1, pick { 0, 3, 60, 1500 } do
    local who, by = ids[random(#ids)], ids[random(#ids)]
    world:emit("Hit", { who = world:alive(who) and who or nil, amount = random(-9, 30) / 2,
      by = random(3) > 1 and world:alive(by) and by or nil, n = n % 90, on = n % 4 == 0,
      kind = n % 3 == 0 and "ice" or "fire" })
    if n % 5 == 0 then world:emit("Said", pick { "one", "two", "three" }) end
  end
end

local function hash_of(world)
  local hash = 0
  for hit in world:events "Hit" do hash = hash * 31 + hit.who + hit.n + (hit.on and 7 or 0) end
  for said in world:events "Said" do hash = hash * 31 + said.who + said.n + #said.text end
  return ("%d %d %d"):format(world:count "Hit", world:count "Said", hash)
end

local PHASES = { "pre_update", "update", "post_update" }

-- What a seed's functions do to its world, and how they were run.
local function run(seed, kernels)
  math.randomseed(seed)
  local world, ids, id = new_world(kernels, pick { 7, 90, 1100 })
  local total, sum = world:array("total", "f64", 3), world:array("sum", "f64", 3)
  local born = world:array("born", "entity", 5)
  world:resource("Last", { "who: entity" })
  local boss, last = world:spawn(), world:res "Last"
  local seen, count = {}, random(3)
  for n = 1, count do
    local q = pick(QUERIES)
    seen[#seen + 1] = function_text(q)
    local each = assert(load("local world, total, sum, born, last, boss, ecs, math, name, id, word"
      .. " = ... " .. seen[#seen], "=random"))(world, total, sum, born, last, boss, ecs, math,
      "Hit", id, "a word")
    world:system("s" .. n, { query = q.text, each = each, phase = pick(PHASES) })
  end
  if random(8) == 1 then world:despawn(boss) end
  for _ = 1, 4 do
    if world:count "Hit" + world:count "Said" < MOST then emit(world, ids) end
    local done, problem = pcall(world.update, world, 0.25)
    seen[#seen + 1] = done and "" or tiers.plain(problem)
    seen[#seen + 1] = hash_of(world) .. " " .. world:digest()
    if world:count "Hit" + world:count "Said" > MOST then break end
  end
  local tier = "vector"
  for n = 1, count do
    if world:explain("s" .. n).tier ~= "vector" then tier = world:explain("s" .. n).reason end
  end
  helper.check(world)
  world:close()
  return table.concat(seen, "\n"), tier
end

describe("random functions that emit, and over events", function()
  local most = helper.by_scale { small = 25, normal = 80, deep = 1000 }
  it(("do what plain Lua does (%d)"):format(most), function()
    tiers.agree_on_seeds(most, run, most / 2)
  end)
end)
