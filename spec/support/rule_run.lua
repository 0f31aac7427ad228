--- Runs random functions (rule_gen.lua) in a world with kernels and in one without:
---   lua5.4 spec/support/rule_run.lua FIRST LAST [PROFILE] [KIND=WEIGHT ...]
--- prints each program that differs, made small, how many functions were compiled for each kind of
--- statement, why the others were not, and a hash of all that they did. Where kinds are given,
--- others have the weight 0. With ECS_SPEC_SHOW=1 each program is printed before it runs.
local ecs = require "ecs"
local generator = require "spec.support.rule_gen"
local shrink = require "spec.support.rule_shrink"
local worlds = require "spec.support.rule_world"

local M = {}

--- In which ways rules are run.
local forms = { "each", "each", "each", "each", "query", "query", "inside", "run", "loop", "loop",
  "map" }
generator.profiles.rules.forms = forms
do
  local world = ecs.world { tag = 1 }
  world:array("a", "f64", 1)
  if pcall(world.system, world, "s", { array = "a", each = function() end }) then
    table.insert(forms, "array")
  end
  world:close()
end

-- An ipairs that kernels know.
local is_luajit = rawget(_G, "jit") ~= nil
local plain_ipairs = is_luajit and require("spec.support.dialect").ipairs or ipairs

-- ---- the functions ----

local given = { "world", "ecs", "boss", "mate", "dead", "floats", "ints", "bytes", "flags", "at",
  "nxt", "score", "make", "near", "aged", "cost", "those", "tints", "steps", "gain", "weights",
  "odd", "odds", "fees", "price", "grade", "turned", "bag", "lanes", "walks", "maps", "grids",
  "alias", "rival", "config", "debt", "breed", "own" }

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
local UI, UF = config.UI, config.UF
local function reset() UI, UF = config.UI, config.UF end
local function f1(x) return x end
local function f2(x) return x end
config.fn, config.fn2 = f1, f2
local function help(x, y)
  if x == y then return x - y end
  return x - y
end
local function frac(x)
  local _, f = math.modf(x)
  return f
end
local function whole(x)
  if x > -1e9 and x < 1e9 then return math.floor(x) end
  return 0
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
  local texts, arguments = { frame .. "return cells, poke, reset" }, {}
  for i, unit in ipairs(program.units) do
    texts[i + 1] = generator.source(unit)
    texts[#program.units + i + 1] = unit.rest and generator.source(unit.rest) or "nil"
  end
  for i, name in ipairs(given) do arguments[i] = out[name] end
  local globals = { math = math, assert = assert, error = error, ipairs = plain_ipairs,
    setmetatable = setmetatable, tostring = tostring, pairs = pairs, select = select,
    table = table }
  local fns = table.pack(assert(load(table.concat(texts, ",\n"), "=rule", "t", globals))(
    table.unpack(arguments, 1, #given)))
  out.cells, out.poke, out.reset = table.unpack(fns, 1, 3)
  return table.move(fns, 4, fns.n, 1, {})
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

local function shown(x)
  if x ~= x then return "nan" end
  return math.type(x) == "float" and ("%a"):format(x) or tostring(x)
end

local function list(values)
  local texts = {}
  for i, x in ipairs(values) do texts[i] = shown(x) end
  return table.concat(texts, " ")
end

-- What is asked of a query, and what that gives, as text.
local asked = {}

function asked.query(query, fn) query:each(fn, 0.25) end
function asked.mapped(query, fn) query:map(fn, 0.25) end
function asked.sum(query, fn) return shown(query:sum(fn)) end
function asked.where(query, fn) return list(query:where(fn):ids()) end
function asked.count(query) return query:count() end
function asked.ids(query) return list(query:ids()) end
function asked.first(query) return tostring(query:first()) end
function asked.set(query) query:set("S.v", 3.5) end
function asked.add(query) query:add "T" end
function asked.remove(query) query:remove "H" end
function asked.despawn(query) query:despawn() end

for _, name in ipairs { "min", "max" } do
  asked[name] = function(query, fn)
    local value, who = query[name](query, fn)
    return value and shown(value) .. " " .. tostring(who) or "none"
  end
end

-- Refuses what cannot be compiled, which Lua then does.
function asked.strict(query, fn, kernels)
  local ok, why = true, nil
  if kernels then ok, why = pcall(query.run, query, fn, 0.25) end
  if not ok and not tostring(why):find "cannot be compiled" then error(why, 0) end
  if not (ok and kernels) then query:each(fn, 0.25) end
end

function asked.cursor(query)
  local n = 0
  for _ in query:each() do n = n + 1 end
  return n
end

function asked.chunks(query)
  local seen = {}
  for chunk in query:chunks() do
    for i = 1, chunk.n do table.insert(seen, chunk.entities[i]) end
  end
  return list(seen)
end

-- Calls a function in the scopes that a program has: a loop, changes that wait.
local function within_scopes(world, with, i, fn)
  if with.nested and i % 2 == 1 then
    local result
    for e in world:query "!Seen":each() do
      world:add(e, "Seen")
      result = result or fn() or ""
    end
    return result
  end
  if not with.waiting then return fn() end
  world:defer()
  local ok, result = pcall(fn)
  if i % 2 == 1 then world:commit() else world:cancel() end
  return ok and result or not ok and error(result, 0) or nil
end

-- Makes of a unit a function that runs it once, and one that explains it.
local function prepare(out, unit, i, with, fn, rest)
  local world, text, name = out.world, generator.query(unit), "s" .. i
  local chosen = text:find("$p", 1, true) and out.chosen or nil
  local function go_through()
    local query = chosen and world:query(text, { p = chosen }) or world:query(text)
    if with.waiting then wait_for(world) end
    if unit.rest then return asked[unit.rest.form](query:where(fn), rest, out.kernels) end
    if asked[unit.form] then return asked[unit.form](query, fn, out.kernels) end
    query:each(fn, 0.25)
    if with.waiting then query:each(fn, 0.25) end
  end
  if asked[unit.form] then
    return function() return within_scopes(world, with, i, go_through) end,
      function() return world:explain(fn) end
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

-- Of two NaNs that are added, compilers take either: here all become the same one.
local function settle_cell(cells, key)
  local x = cells[key]
  if x ~= x then cells[key] = 0 / 0 end
end

local function settle_list(numbers)
  for i = 1, #numbers do settle_cell(numbers, i) end
end

local function settle_bags(bags)
  for _, bag in ipairs(bags) do settle_cell(bag, "w") end
end

local function settle(out)
  for p in out.world:query "P":each() do
    settle_cell(p, "x")
    settle_cell(p, "y")
    settle_cell(p, "w")
    settle_list(p.m)
    settle_list(p.far)
    settle_bags(p.bags)
  end
  for h in out.world:query "H:any":each() do
    settle_cell(h, "hp")
    settle_cell(h, "w")
    settle_list(h.far)
    settle_bags(h.bags)
  end
  for s in out.world:query "S:any":each() do settle_cell(s, "v") end
  for _, name in ipairs { "floats", "more", "less" } do settle_list(out[name]) end
  for _, score in ipairs { out.score, out.rival } do
    settle_cell(score, "f")
    settle_list(score.six)
    settle_bags(score.bags)
  end
end

local function show_state(out, say)
  local world, score = out.world, out.score
  if out.with.wild or out.with.settled then settle(out) end
  say("digest", world:digest())
  for _, query in ipairs(out.queries) do say("ids", list(query:ids())) end
  for i = 1, #given do
    if worlds.arrays[given[i]] then say(given[i], list(out[given[i]]:read())) end
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

-- An error without its traceback, worlds' tags and the signs of NaNs.
local function plain(problem)
  return (tostring(problem):gsub("\n.*", ""):gsub("@%d+", ""):gsub("%-nan", "nan"))
end

-- So that what brings more of itself does not fill the world.
local MOST = 4000

--- What a program does, as a list of lines, and how its units were run: with kernels or without,
--- with a fault, if one is named, with its units called by `call`, or pcall, on so many threads, or
--- on those that it asks for.
function M.play(program, kernels, fault, call, threads)
  local with, lines, about, runs, step = {}, {}, {}, {}, "end"
  for _, name in ipairs(program.with) do with[name] = true end
  local out = worlds.new(program, kernels, threads or kernels and program.threads or 1, with)
  out.kernels = kernels
  out.known = { ecs.null, out.boss, out.mate, out.those.red, out.boss }
  local world, fns = out.world, load_functions(program, out)
  out.queries = {}
  for i, text in ipairs { "P", "H", "T", "S", "H:changed", "P:changed" } do
    out.queries[i] = world:query(text)
  end
  for i, unit in ipairs(program.units) do
    local ok, run, explain = pcall(prepare, out, unit, i, with, fns[i], fns[#program.units + i])
    runs[i] = ok and run or function() error(run, 0) end
    about[i] = ok and explain or function() return { tier = "refused", reason = run } end
  end
  local function say(what, text) lines[#lines + 1] = ("%s %s: %s"):format(step, what, text) end
  local function act(name, by, fn, ...)
    if world:count "H" + world:count "P" + world:count "Said" > MOST then return end
    step = name
    local ok, problem = by(fn, ...)
    say("error", ok and "" or plain(problem))
    if ok and problem then say("gave", problem) end
    if fault then M.faults[fault](out) end
    show_state(out, say)
  end
  for turn = 1, program.turns do
    for i = 1, 12 do
      local who = out.known[i % #out.known + 1]
      world:emit("Said", world:alive(who) and who or ecs.null, i / 2, i)
    end
    for i, run in ipairs(runs) do act(turn .. "." .. i, call or pcall, run) end
    act(turn .. ".update", pcall, world.update, world, 0.25)
    worlds.change(out, with)
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
function M.differ(one, other, by, from)
  for i = 1, math.max(#one, #other) do
    if one[i] ~= other[i] then
      return ("  %s %s\n  %s %s"):format(by or "kernels", tostring(one[i]):sub(1, 400),
        from or "Lua    ", tostring(other[i]):sub(1, 400))
    end
  end
end

--- Whether a program does the same with kernels and without, or, where threads are said, on so many
--- and on one: nil or what differs, how its units were run, and what it did.
function M.differs(program, threads)
  local lines, about = M.play(program, true, nil, nil, threads)
  if threads then
    return M.differ(lines, (M.play(program, true, nil, nil, 1)), "threads", "one    "), about, lines
  end
  return M.differ(lines, (M.play(program, false))), about, lines
end

--- Runs it, on so many threads perhaps, with calls that run out of memory at their k-th request:
--- nil, or what is unsound, or differs though nothing has been told of memory; and whether any
--- request failed.
function M.starves(program, k, threads)
  local starve, failed = require "spec.starve", false
  local function call(...)
    local results = table.pack(starve.call(k, false, ...))
    failed = failed or starve.refused() > 0
    return table.unpack(results, 1, results.n)
  end
  local ok, starved = pcall(M.play, program, true, nil, call, threads)
  if not ok then return tostring(starved), failed end
  local fed = M.play(program, true, nil, nil, threads)
  for i, line in ipairs(starved) do
    if line:find("not enough memory", 1, true) then return nil, failed end
    if line ~= fed[i] then return M.differ({ line }, { fed[i] }, "starved", "fed    "), failed end
  end
  return nil, failed
end

--- A program as text.
function M.show(program)
  local lines = { ("-- seed %d, %d rows, %d turns, threads %s, with %s"):format(program.seed,
    program.rows, program.turns, program.threads, table.concat(program.with, " ")) }
  for _, unit in ipairs(program.units) do
    for _, one in ipairs { unit, unit.rest } do
      lines[#lines + 1] = ("-- %s of %q\n%s"):format(one.form, generator.query(one),
        generator.source(one))
    end
  end
  return table.concat(lines, "\n")
end

-- ---- what was compiled ----

local function count(told, key)
  told[key] = (told[key] or 0) + 1
end

-- A hash of what a program did, but for the order of keys, which differs from process to process.
local function hash_of(hash, lines)
  for _, line in ipairs(lines) do
    local text = line:find(" cells: ", 1, true) and "" or line
    for i = 1, #text do hash = (hash ~ text:byte(i)) * 0x100000001b3 end
  end
  return hash
end

-- Counts what a program did, and how its units were run.
local function tell(told, program, about, lines)
  for i, one in ipairs(about) do
    count(told, one.tier)
    count(told, program.units[i].form)
    if one.alone or one.threads then count(told, one.alone and "alone" or "shared") end
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

--- Runs programs of seeds, of a profile, for some forms perhaps, on so many threads against one;
--- returns how often what was seen. Those that differ are made small and given to `found`.
function M.seeds(first, last, found, profile, threads, only)
  local told = {}
  for seed = first, last do
    local program = generator.generate(seed, profile, only)
    if os.getenv "ECS_SPEC_SHOW" then print(M.show(program)) end
    local what, about, lines = M.differs(program, threads)
    if what then found(shrink.told(program, M, threads)) end
    tell(told, program, about, lines)
    told.hash = is_luajit or hash_of(told.hash or 0, lines)
  end
  return told
end

--- That as text, the most frequent first.
function M.table_of(told)
  local lines = {}
  for key, times in pairs(told) do
    if key ~= "hash" then lines[#lines + 1] = ("%6d  %s"):format(times, key) end
  end
  table.sort(lines, function(a, b) return a > b end)
  return table.concat(lines, "\n") .. ("\n%s  hash"):format(told.hash)
end

--- What this file prints in a process of its own, on an instruction set.
function M.table_on(isa, ...)
  local command = "ECS_ISA=%s ${LUA:-lua5.4} spec/support/rule_run.lua %d %d %s 2>&1"
  local pipe = assert(io.popen(command:format(isa, ...)))
  local text = pipe:read "a"
  pipe:close()
  return text
end

if arg and arg[0] and arg[0]:find "rule_run%.lua$" then
  io.stdout:setvbuf "line"
  local profile = generator.profiles[arg[3]] and table.remove(arg, 3)
  if arg[3] then for name in pairs(generator.weights) do generator.weights[name] = 0 end end
  for i = 3, #arg do
    local kind, weight = arg[i]:match "^(%l+)=(%d+)$"
    generator.weights[kind] = tonumber(weight)
  end
  print(M.table_of(M.seeds(tonumber(arg[1]), tonumber(arg[2]), print, profile)))
end

return M
