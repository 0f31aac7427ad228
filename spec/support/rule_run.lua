--- Runs random rules (rule_gen.lua) in a world with kernels and in one without:
---   lua5.4 spec/support/rule_run.lua FIRST LAST [KIND=WEIGHT ...]
--- prints each program that differs, made small, how many rules were compiled for each kind of
--- statement, and why the others were not. Where kinds are given, others have the weight 0. With
--- ECS_SPEC_SHOW=1 each program is printed before it runs.
local ecs = require "ecs"
local generator = require "spec.support.rule_gen"
local random = require "spec.support.rng"
local shrink = require "spec.support.whole_shrink"
local tiers = require "spec.support.tiers"

local M = {}

--- In which ways rules are run.
M.forms = { "each", "each", "each", "each", "query", "query", "inside", "run", "loop", "loop",
  "map" }
do
  local world = ecs.world { tag = 1 }
  world:array("a", "f64", 1)
  if pcall(world.system, world, "s", { array = "a", each = function() end }) then
    table.insert(M.forms, "array")
  end
  world:close()
end

-- ---- the world ----

-- The largest integer: under LuaJIT, of those that its numbers tell apart. And an ipairs that
-- kernels know.
local is_luajit = rawget(_G, "jit") ~= nil
local LARGEST = is_luajit and 2.0 ^ 53 or math.maxinteger
local plain_ipairs = is_luajit and require("spec.support.dialect").ipairs or ipairs

local function declare(world, with)
  local more = with.longer and 30 or 0
  world:component("Bag", { "w: f64", "n: i16", "on: bool", "who: entity", "m: u8[2]" })
  world:component("P", { "x: f64", "m: f64[2]", "n: i32", "c: i8", "big: i64", "on: bool",
    "cell: i32", "prey: entity", "kept: entity", "kind: enum(red, green, blue)", "s: string",
    "tint: enum(blue, black, red, green)",
    ("far: f64[%d]"):format(12 + more), ("tens: u8[%d]"):format(10 + more),
    ("pals: entity[%d]"):format(9 + more), ("bags: Bag[%d]"):format(4 + more) })
  world:component("H", { "hp: f64 = 10", "n: i32 = 3", "k: i8", "w: f32", "on: bool",
    "who: entity", "far: f64[5]", "bags: Bag[2]", track = with.track, toggle = true })
  world:component("S", { "v: f64", "n: i64", storage = "sparse", toggle = true })
  world:component("Spot", { "x: f64", "y: f64" })
  world:tag "T"
  world:relation "Eats"
  world:relation("Owes", { "amount: i32", "rate: f64" })
  world:relation("Held", { "since: f64", exclusive = true })
  world:event("Said", { "who: entity", "x: f64", "n: i16" })
  for _, name in ipairs { "Score", "Rival" } do
    world:resource(name, { "f: f64", "n: i32", "b: u8", "on: bool", "who: entity", "six: f64[6]",
      ("tens: u8[%d]"):format(10 + more), ("pals: entity[%d]"):format(9 + more),
      ("bags: Bag[%d]"):format(4 + more) })
  end
end

-- One row. Its prey is one of five, another row, itself, or nobody; two of its ids may be the same.
local function row(world, i, numbers, with, prey, rows)
  local e = world:spawn { P = { x = numbers:range(-40, 80) / 4, n = numbers:range(0, 20),
    c = numbers:range(-9, with.full and 127 or 20), on = numbers:chance(40), cell = i * 5 % 16 + 1,
    big = with.full and numbers:chance(9) and LARGEST - i or i, m = { i / 8, 1.0 },
    kind = numbers:pick { "red", "green", "blue" }, tint = numbers:pick { "red", "black", "blue" },
    s = numbers:pick { "ann", "bob", "" }, far = { [i % 12 + 1] = i / 4, [12] = 1 },
    tens = { i % 7, 2, [9] = 8 }, bags = { { w = i / 2, on = i % 3 == 0 }, { n = i % 50 } } },
    H = numbers:chance(40) and { hp = numbers:range(0, 30), on = true, far = { i / 2, i },
      bags = { { w = i / 8 }, { n = i % 9 } } } or nil,
    T = numbers:chance(30) or nil, S = numbers:chance(30) and { n = i } or nil,
    Spot = numbers:chance(50) and { x = numbers:range(0, 20) / 4, y = 1 } or nil }
  rows[i] = e
  local what = numbers:int(12)
  local target = what <= 6 and numbers:pick(prey) or what <= 9 and numbers:pick(rows)
    or what <= 11 and e or ecs.null
  world:set(e, "P.prey", target)
  world:set(e, "P.pals[2]", target)
  world:set(e, "P.kept", numbers:chance(60) and target or numbers:pick(rows))
  for _ = 1, numbers:int(3) - 1 do
    world:add(e, "Eats", numbers:pick(prey))
    world:set(e, "Owes", numbers:pick(prey), numbers:range(0, 9), 0.5)
  end
  if numbers:chance(20) then world:set(e, "Held", numbers:pick(rows), 1.5) end
  if numbers:chance(50) then
    world:add(e, "ChildOf", i > 4 and rows[numbers:int(i - 1)] or numbers:pick(prey))
  end
  for _, name in ipairs { "H", "S" } do
    if with.off and i % 7 == 0 and world:has(e, name) then world:disable(e, name) end
  end
end

local function populate(world, program, numbers, with, boss)
  local prey, rows = { boss }, {}
  for i = 2, 5 do
    prey[i] = world:spawn { H = { hp = i * 1.5, n = i, k = numbers:range(-9, 20), w = i / 4 },
      Spot = { x = i / 2, y = 1 }, T = i % 2 == 0 or nil, S = i > 2 and { v = i, n = i } or nil }
  end
  for i = 1, program.rows do row(world, i, numbers, with, prey, rows) end
  for _ = 1, program.rows // 12 do
    local e = numbers:pick(rows)
    if world:alive(e) then world:despawn(e) end
  end
  if numbers:chance(50) then world:despawn(prey[3]) end
  return prey, rows
end

local arrays = { floats = "f64", ints = "i32", nxt = "i32", bytes = "u8", flags = "bool",
  at = "entity", more = "f64", less = "f64" }

local function odds()
  return { red = { at = { 1, 2.5, 3 }, by = { black = 0.5, red = 1.5, green = 2.0, blue = 1 } },
    green = { at = { 4, 5, 6 }, by = { black = 1.0, red = 0.75, green = 4.0, blue = 8.5 } },
    blue = { at = { 7, 8, 9.5 }, by = { black = 0, red = 2.5, green = 1.25, blue = 3 } } }
end

-- A list of numbers or booleans, mostly; at times with a hole, another key, or one of another type.
local function odd_list(numbers)
  local kind, list = numbers:pick { "integer", "float", "float", "both", "boolean" }, {}
  local function value()
    if kind == "boolean" then return numbers:chance(50) end
    if kind == "integer" or kind == "both" and numbers:chance(50) then
      return numbers:pick { numbers:range(-5, 5), numbers:range(1, 16), LARGEST, -LARGEST, 0, 1 }
    end
    return numbers:pick { numbers:range(-40, 40) / 8, 0.0, -0.0, 2.0, 1e300 }
  end
  for i = 1, numbers:range(0, 12) do list[i] = value() end
  local keys = { numbers:int(12), 0, "x", 2.5, numbers:int(12) }
  local values, how = { nil, value(), value(), 1, "text" }, numbers:int(10)
  if keys[how] then list[keys[how]] = values[how] end
  return list
end

local function settings()
  return {
    tints = { "blue", "red", "red", "green" }, steps = { { 1.5, 0.25, 2.0 }, { 0.5, 1.0, 3.5 } },
    odds = odds(),
    fees = { ann = 1.5, cat = 4, [""] = 0.25 },
    weights = { 0.5, 1.5, 2.5, -1.0 }, price = { red = 1.5, blue = 4 },
    grade = { red = { w = 0.5, at = { 1, 2 } }, blue = { w = 3, at = { 2.5, 8 } } },
    bag = { red = { items = { { w = 2 }, { w = 0.5, rare = true } }, nums = { 1, 2.5, 3 } },
      green = { items = { { w = 1.5 }, { w = 0.25 }, { w = 4 } }, nums = {} },
      blue = { items = { { w = 8 } }, nums = { 0.5 } } },
    walks = { { w = 0.5, n = 3 }, { w = 2, n = 1 }, { w = 1.5, n = 2 } },
    lanes = { { 1, 2.5 }, {}, { 0.25, 0.5, 1.0 } },
    turned = { red = "blue", black = "red", green = "green" },
    gain = { red = { black = 0.5, red = 1.5, green = 2.0, blue = 0.25 },
      green = { black = 1.0, red = 0.75, green = 4.0, blue = 8.5 },
      blue = { black = 0.125, red = 2.5, green = 1.25, blue = 3.0 } } }
end

-- Components, one of their fields, and what observers are told of them.
local observed = { { "H", "hp", { "set", "despawn" } }, { "S", "v", { "set", "add", "remove" } },
  { "P", "x", { "set", "exit" } }, { "H", "hp", { "enter", "set", "exit" } } }

local function listen(world, program, heard)
  local of, field, ons = table.unpack(observed[program.seed % #observed + 1])
  for _, on in ipairs(ons) do
    world:observer("heard " .. on, { on = on, query = of .. ":in", each = function(c, e)
      table.insert(heard, ("%s %d %a"):format(on, e, c[field]))
      if on == "set" or on == "add" then world:add(e, "T") end
    end })
  end
end

local function new_world(program, kernels, with)
  local world = ecs.world { kernels = kernels, tag = 1, seed = program.seed,
    threads = kernels and program.threads or 1 }
  local numbers = random.new(program.seed + 101)
  declare(world, with)
  local out = { world = world, ecs = ecs, dead = world:spawn(), heard = {}, numbers = numbers,
    boss = world:spawn { H = {}, T = true }, cost = { red = 0.5, green = 2.0, blue = -1.0 } }
  for name, table in pairs(settings()) do out[name] = table end
  out.odd = odd_list(numbers)
  world:name(out.boss, "boss")
  world:despawn(out.dead)
  local prey, rows = populate(world, program, numbers, with, out.boss)
  out.mate = numbers:chance(50) and numbers:pick(rows) or prey[2]
  if not world:alive(out.mate) then out.mate = prey[2] end
  out.chosen = numbers:chance(50) and prey[1] or out.mate
  out.those = { red = prey[4], green = out.boss, blue = out.mate }
  for name, type in pairs(arrays) do out[name] = world:array(name, type, 16) end
  out.maps, out.grids = { red = out.floats, green = out.more }, { out.less, out.floats, out.more }
  for i = 1, 16 do
    out.more[i], out.less[i] = i / 4, i % 3
    out.floats[i], out.ints[i], out.nxt[i] = numbers:range(0, 40) / 4, i % 7, i % 16 + 1
    out.bytes[i], out.flags[i] = numbers:range(0, with.full and 255 or 20), numbers:chance(30)
    if numbers:chance(30) and world:alive(rows[i] or 0) then out.at[i] = rows[i] end
  end
  out.score, out.rival, out.alias = world:res "Score", world:res "Rival", with.alias
  out.make = world:spawner "H.hp, H.who, T"
  out.score.n, out.score.f = numbers:range(0, 30), 1.5
  for i = 1, 6 do
    out.score.six[i], out.score.tens[i], out.score.pals[i] = i / 4, i, prey[i % 2 + 1]
  end
  if with.coming then   -- an integer that is the id of what is spawned next
    local one = world:spawn()
    world:despawn(one)
    local two = world:spawn()
    world:despawn(two)
    for p in world:query "P":each() do if p.n % 2 == 0 then p.big = two + (two - one) end end
  end
  out.near = world:index("near", { query = "Spot:in, H:in", grid = "Spot", cell = 2 })
  out.aged = world:index("aged", { query = "H:in", ordered = "H.n" })
  if with.observer then listen(world, program, out.heard) end
  return out
end

-- ---- the functions ----

local given = { "world", "ecs", "boss", "mate", "dead", "floats", "ints", "bytes", "flags", "at",
  "nxt", "score", "make", "near", "aged", "cost", "those", "tints", "steps", "gain", "weights",
  "odd", "odds", "fees", "price", "grade", "turned", "bag", "lanes", "walks", "maps", "grids",
  "alias", "rival" }

local frame = "local " .. table.concat(given, ", ") .. " = ...\n" .. [[
local n, acc, best, who, mix, seen, flip = 0, 0.0, nil, nil, 0, false, nil
local stats, tag, word = { kills = 0, sum = 0.0, on = false, name = "x" }, "cid", nil
local same = alias and stats or { kills = 5, sum = 1.5 }
local tally, marks = { red = 0, green = 0.5, blue = 2 }, { true, false, false, true }
local had, held = {}, {}
local bill, owed = { ann = 1, bob = 0.5 }, alias and {} or { cid = true }
for i = 1, 16 do had[i], held[i] = i / 2, i % 3 == 0 end
local met, most = {}, alias and { green = 1.5 } or {}
if alias then tally.green = nil end
local sums = alias and { 0.5, 1.5, 2.5, 0.0 } or { 1, 2.5, 3, 0 }
total = 0
local function bump(by) n = n + by end
local log, noted, add, sort, remove = {}, {}, table.insert, table.sort, table.remove
local many, ids, yes = {}, alias and { boss } or {}, {}
local found, taken = {}, alias and { { 1, id = boss } } or {}
local marked, kin, met2, spots = {}, alias and { [boss] = mate } or {}, {}, { [700] = 5 }
local old, ages = { [boss] = 1.5, [mate] = 7, [dead] = 3 }, { [50] = 3, [150] = 9, [100000] = 1 }
local function tell(x, ...) log[#log + 1] = select('#', ...) + x end
local function notes()
  local count = 0
  for _ in pairs(noted) do count = count + 1 end
  return count
end
local function grown()
  local list = {}
  for _, t in ipairs { many, ids, yes } do
    for i = 1, #t do
      list[#list + 1] = math.type(t[i]) == "float" and ("%a"):format(t[i]) or tostring(t[i])
    end
  end
  local tables = { marked, kin, met2, spots, bill, owed }
  for _, t in ipairs { found, taken } do
    for _, one in ipairs(t) do tables[#tables + 1] = one end
  end
  for _, t in ipairs(tables) do
    for k, v in pairs(t) do
      list[#list + 1] = k .. "=" .. (math.type(v) == "float" and ("%a"):format(v) or tostring(v))
    end
  end
  return table.concat(list, ",")
end
local function seek(list, x) for i = 1, #list do if list[i].w > x then return list[i] end end end
local function pick(a, b, x)
  for i = 1, 2 do
    if a[i].w > x then return a[i] end
    if b[i].w < x then return b[i] end
  end
end
local picks = { function(x) return x + 1 end, function(x) n = n + 1 return x * 0.5 end }
local acts = {
  red = function(v, x, id)
    for i = 1, 3 do if x > i then v.x = v.x + i else world:add(id, 'T') break end end
    return x
  end,
  blue = function(v, x)
    if v.n >= 2 then v.n = v.n - 2 return 2.5 end
    floats[v.cell] = x
    if x == 7.25 then error 'blue' end
    return v.x
  end,
}
local cards = {
  { w = 1, name = 'hp', play = acts.red }, { w = 2, name = 'n', play = acts.blue },
  { w = 0.5, name = 'w', play = alias and acts.blue or nil },
}
local deeds = { red = cards[1], blue = cards[2], green = alias and cards[3] or nil }
local NAMES = { 'x', 'n', 'big', 'c' }
local function cells()
  return { n, acc, best == nil and "nil" or best, who or "nil", mix, seen,
    flip == nil and "nil" or flip, stats.kills, stats.sum, stats.on, stats.who or "nil",
    same.kills, same.sum, total, tally.red or "nil", tally.green or "nil",
    tally.blue or "nil", tostring(met.red), tostring(met.green), tostring(met.blue),
    most.red or "nil", most.green or "nil", most.blue or "nil", marks[1], marks[2],
    marks[3], marks[4], sums[1], sums[2], sums[3], sums[4], sums[5] or "nil", #had, had[1],
    had[16] or "nil", had[17] or "nil", held[1], held[16], #log,
    log[#log] or "nil", notes(), grown(), tag, word or "nil", tostring(stats.name) }
end
local function poke(how)
  if how == 1 then n = n + 0.5 elseif how == 2 then mix, best = 2.5, 3
  elseif how == 3 then acc, stats.sum = 7, 3 elseif how == 4 then flip, who = true, boss
  elseif how == 5 then stats.kills = 2.0 elseif how == 6 then best, seen, tag = nil, nil, "x"
  elseif how == 7 then tally.blue, sums[5] = nil, 1
    had[17], bag.red.nums[4], lanes[2], odd[2] = 1, 2.5, { 1, 2, 3, 4.5, 5 }, 7
  elseif how == 8 then sums[2], marks, odd[3] = 3, sums, 0.5
  elseif how == 9 then tally.red, sums[1] = 2^53|0, -0.0
    bill.bob, had[16], bag.blue.items[1] = nil, nil, nil
    bag.green.items[5], price.green = { w = 1 }, 2
  elseif how == 10 then met, most = { red = 1 }, setmetatable({}, { __newindex = function() end })
    many, ids[1] = { 2.5, 7 }, nil
    marked, met2[boss], old[boss] = { [mate] = 2.5, [dead] = 7 }, nil, nil
  else setmetatable(stats, { __index = { who = boss } }) end
end
]]

-- A program's functions, and what shows and changes their cells.
local function load_functions(program, out)
  local text, arguments = frame .. "return cells, poke", {}
  for _, unit in ipairs(program.units) do text = text .. ",\n" .. generator.source(unit) end
  for i, name in ipairs(given) do arguments[i] = out[name] end
  local globals = { math = math, assert = assert, error = error, ipairs = plain_ipairs,
    setmetatable = setmetatable, tostring = tostring, pairs = pairs, select = select,
    table = table }
  local fns = table.pack(assert(load(text, "=rule", "t", globals))(
    table.unpack(arguments, 1, #given)))
  out.cells, out.poke = table.unpack(fns)
  return table.move(fns, 3, fns.n, 1, {})
end

-- What entities have waiting for them when a rule comes to them.
local function wait_for(world)
  local i = 0
  for _, e in world:query "H":each() do
    i = i + 1
    if i % 3 == 0 then world:remove(e, "H") end
    if i % 6 == 0 then world:set(e, "H.hp", 99) end
    if i % 4 == 0 then world:add(e, "S") end
    if i % 7 == 0 then world:set(e, "S", i, 5) end
  end
  world:spawn { H = {} }
end

-- Makes of a unit a function that runs it once, and one that explains it.
local function prepare(out, unit, i, with, fn)
  local world, text, name = out.world, generator.query(unit), "s" .. i
  local chosen = text:find("$p", 1, true) and out.chosen or nil
  local function go_through()
    local query = chosen and world:query(text, { p = chosen }) or world:query(text)
    if with.waiting then wait_for(world) end
    query:each(fn, 0.25)
    if with.waiting and unit.form == "inside" then query:each(fn, 0.25) end
  end
  if unit.form == "query" then
    return function()
      if not with.waiting then return go_through() end
      world:defer()
      local ok, problem = pcall(go_through)
      if i % 2 == 1 then world:commit() else world:cancel() end
      if not ok then error(problem, 0) end
    end, function() return world:explain(fn) end
  end
  local spec = { query = #text > 0 and text or nil, ["$p"] = chosen, [unit.form] = fn }
  if unit.form == "array" then spec.array, spec.each = "floats", fn end
  if unit.form == "inside" then spec = { run = go_through, uses = { "near", "aged" } } end
  if unit.form == "loop" then spec.loop, spec.run = nil, fn end
  world:system(name, spec)
  local about = (unit.form == "inside" or unit.form == "loop") and fn or name
  return function() world:run(name, 0.25) end, function()
    local told = world:explain(about)
    if unit.form ~= "loop" then return told end
    for _, one in ipairs { told, table.unpack(told.also or {}) } do
      if one.form == "for" then return one end
    end
    return { tier = "none" }
  end
end

-- ---- what shows ----

local function list(values)
  local texts = {}
  for i, x in ipairs(values) do
    texts[i] = x ~= x and "nan" or math.type(x) == "float" and ("%a"):format(x) or tostring(x)
  end
  return table.concat(texts, " ")
end

local function show_state(out, say)
  local world, score = out.world, out.score
  say("digest", world:digest())
  for _, query in ipairs(out.queries) do say("ids", list(query:ids())) end
  for i = 1, #given do
    if arrays[given[i]] then say(given[i], list(out[given[i]]:read())) end
  end
  say("score", list { score.f, score.n, score.b, score.on, score.who })
  say("cells", list(out.cells()))
  local said = {}
  for s in world:events "Said" do table.insert(said, list { s.who, s.x, s.n }) end
  say("events", table.concat(said, "; "))
  say("heard", table.concat(out.heard, "; "))
  out.heard = {}
  assert(world:check())
end

--- Deliberate faults, which must show.
M.faults = {
  float = function(out) out.poke(1) end,
  id = function(out) out.world:despawn(out.world:spawn()) end,
  event = function(out) out.world:emit("Said", out.boss, 1.5) end,
  cell = function(out) out.floats[3] = out.floats[3] + 1 end,
  row = function(out) out.world:spawn { P = {} } end,
}

-- So that what brings more of itself does not fill the world.
local MOST = 4000

--- What a program does, as a list of lines, and how its units were run.
function M.play(program, kernels, fault)
  local with, lines, about, runs, step = {}, {}, {}, {}, "end"
  for _, name in ipairs(program.with) do with[name] = true end
  local out = new_world(program, kernels, with)
  out.known = { ecs.null, out.boss, out.mate, out.those.red, out.boss }
  local world, fns = out.world, load_functions(program, out)
  out.queries = {}
  for i, text in ipairs { "P", "H", "T", "S", "H:changed", "P:changed" } do
    out.queries[i] = world:query(text)
  end
  for i, unit in ipairs(program.units) do
    local ok, run, explain = pcall(prepare, out, unit, i, with, fns[i])
    runs[i] = ok and run or function() error(run, 0) end
    about[i] = ok and explain or function() return { tier = "refused", reason = run } end
  end
  local function say(what, text) lines[#lines + 1] = ("%s %s: %s"):format(step, what, text) end
  local function act(name, fn, ...)
    if world:count "H" + world:count "P" + world:count "Said" > MOST then return end
    step = name
    local ok, problem = pcall(fn, ...)
    say("error", ok and "" or tiers.plain(problem))
    if fault then M.faults[fault](out) end
    show_state(out, say)
  end
  for turn = 1, program.turns do
    for i = 1, 12 do
      local who = out.known[i % #out.known + 1]
      world:emit("Said", world:alive(who) and who or ecs.null, i / 2, i)
    end
    for i, run in ipairs(runs) do act(turn .. "." .. i, run) end
    act(turn .. ".update", world.update, world, 0.25)
    if with.poke then out.poke(out.numbers:int(11)) end
  end
  for i, explain in ipairs(about) do
    local ok, told = pcall(explain)
    about[i] = ok and told or { tier = "none", reason = told }
  end
  local ids = {}
  for i = 1, 100 do ids[i] = world:spawn() end
  say("spawns", list(ids))
  world:close()
  return lines, about
end

--- The first line in which two plays differ, or nil.
function M.differ(one, other)
  for i = 1, math.max(#one, #other) do
    if one[i] ~= other[i] then
      return ("  kernels %s\n  Lua     %s"):format(tostring(one[i]):sub(1, 400),
        tostring(other[i]):sub(1, 400))
    end
  end
end

--- Whether a program does the same with kernels and without: nil or what differs, how its units
--- were run, and what it did.
function M.differs(program)
  local lines, about = M.play(program, true)
  return M.differ(lines, (M.play(program, false))), about, lines
end

--- A program as text.
function M.show(program)
  local lines = { ("-- seed %d, %d rows, %d turns, threads %s, with %s"):format(program.seed,
    program.rows, program.turns, program.threads, table.concat(program.with, " ")) }
  for _, unit in ipairs(program.units) do
    lines[#lines + 1] = ("-- %s of %q\n%s"):format(unit.form, generator.query(unit),
      generator.source(unit))
  end
  return table.concat(lines, "\n")
end

-- ---- what was compiled ----

local function count(told, key)
  told[key] = (told[key] or 0) + 1
end

--- Runs programs of seeds; returns how often what was seen. Those that differ are made small and
--- given to `found`.
function M.seeds(first, last, found)
  local told = {}
  for seed = first, last do
    local program = generator.generate(seed, M.forms)
    if os.getenv "ECS_SPEC_SHOW" then print(M.show(program)) end
    local what, about, lines = M.differs(program)
    if what then found(shrink.told(program, M)) end
    for i, one in ipairs(about) do
      count(told, one.tier)
      for _, kind in ipairs(program.units[i].kinds) do count(told, kind .. ": " .. one.tier) end
      if one.reason then
        count(told, (one.reason:gsub("^[^ ]*:%d+: ", ""):gsub("'[^']*'", "''")))
      end
    end
    for _, line in ipairs(lines) do
      local problem = line:match "^[^ ]* error: (.*)$"
      if problem then count(told, problem == "" and "quiet" or "raised") end
    end
  end
  return told
end

--- That as text, the most frequent first.
function M.table_of(told)
  local lines = {}
  for key, times in pairs(told) do lines[#lines + 1] = ("%6d  %s"):format(times, key) end
  table.sort(lines, function(a, b) return a > b end)
  return table.concat(lines, "\n")
end

if arg and arg[0] and arg[0]:find "rule_run%.lua$" then
  io.stdout:setvbuf "line"
  if arg[3] then for name in pairs(generator.weights) do generator.weights[name] = 0 end end
  for i = 3, #arg do
    local kind, weight = arg[i]:match "^(%l+)=(%d+)$"
    generator.weights[kind] = tonumber(weight)
  end
  print(M.table_of(M.seeds(tonumber(arg[1]), tonumber(arg[2]), print)))
end

return M
