--- Runs random whole functions (whole_gen.lua) in a world with kernels and in one without:
---   lua5.4 spec/support/whole_run.lua FIRST COUNT
--- prints each program that differs, made small, and how many functions were compiled.
local ecs = require "ecs"
local generator = require "spec.support.whole_gen"
local random = require "spec.support.rng"
local scopes = require "spec.support.whole_scope"
local shrink = require "spec.support.whole_shrink"

local M = {}

local function pick(numbers, list)
  return list[numbers:range(1, #list)]
end

-- ---- the world ----

local components = { "N", "Body", "Packed", "Shield", "Mark" }
-- Declares a component, with a field more in front if one is given.
local function declare_one(world, name, storage, more)
  local texts = { more, storage = storage, toggle = name == "Shield" or name == "Packed" or nil }
  for _, field in ipairs(scopes.fields[name]) do
    local type = field[2] == "enum" and "enum(red, green, blue)" or field[2]
    texts[#texts + 1] = field[1] .. ": " .. type
  end
  world:component(name, texts)
end

local function declare(world)
  for _, name in ipairs(components) do
    declare_one(world, name, name == "Packed" and "sparse" or nil)
  end
  world:tag "Tag"
  world:tag "Other"
  world:relation("Near", { exclusive = true })
  world:relation "Likes"
  world:relation("Owes", { "amount: i32", "rate: f64" })
  world:relation("Held", { "since: f64", "grip: i32", exclusive = true, acyclic = true })
  world:event("Said", { "f: f64", "who: entity", "n: i32", "kind: enum(red, green, blue)" })
  world:resource("Score", { "f: f64", "n: i32", "on: bool" })
end

-- What a spawner takes by the names of all fields of some components, in their order.
local function by_fields(names)
  local list = { "Tag" }
  for _, name in ipairs(names) do
    for _, field in ipairs(scopes.fields[name]) do list[#list + 1] = name .. "." .. field[1] end
  end
  return table.concat(list, ", ")
end

-- A sum that infinities are in tells nothing of what else is: a tame world has none.
local tame

local values = {
  f64 = function(numbers)
    if numbers:range(1, 12) == 1 and not tame then
      return pick(numbers, { 0.0, -0.0, 1 / 0, -1 / 0, 1e300, 2.0 ^ 53, 5e-324 })
    end
    return numbers:range(-400, 400) / 8
  end,
  f32 = function(numbers) return numbers:range(-400, 400) / 8 end,
  i32 = function(numbers)
    return numbers:range(1, 600) == 1 and 2147483647 or numbers:range(-20, 1000) // 16
  end,
  i16 = function(numbers) return numbers:range(-20, 60) end,
  i64 = function(numbers)
    if numbers:range(1, 12) == 1 then
      return pick(numbers, { math.maxinteger, math.mininteger, 1 << 53, -1 })
    end
    return numbers:range(-9, 99)
  end,
  u8 = function(numbers) return numbers:range(0, 255) end,
  bool = function(numbers) return numbers:range(0, 1) == 1 end,
  enum = function(numbers) return pick(numbers, { "red", "green", "blue" }) end,
  string = function(numbers)
    return pick(numbers, { "ann", "bob", "", "an", "anna", "an\0", "an\0n", "\u{e4}nn", "b\xff" })
  end,
  entity = function(numbers, ids) return numbers:range(1, 6) > 1 and pick(numbers, ids) or nil end,
}

local function part(numbers, name, ids)
  local fields = {}
  for _, field in ipairs(scopes.fields[name]) do
    fields[field[1]] = values[field[2]](numbers, ids)
  end
  return fields
end

-- How many of a hundred entities have a component.
local chances = { Body = 60, Packed = 35, Shield = 45, Mark = 10 }

-- One entity more. Of a world where they are alike most are in one table.
local function spawn(world, numbers, ids, alike)
  local function some(percent)
    local drawn = numbers:range(1, 100)
    if alike then return percent >= 40 and drawn <= 99 end
    return drawn <= percent
  end
  local has = { N = some(90) and part(numbers, "N", ids) or nil, Tag = some(50) or nil,
    Other = some(20) or nil, Likes = some(15) and ids[numbers:range(1, math.min(3, #ids))] or nil }
  for i = 2, #components do
    local name = components[i]
    if some(chances[name]) then has[name] = part(numbers, name, ids) end
  end
  if numbers:range(1, 100) <= 35 then has.Near = pick(numbers, ids) end
  if numbers:range(1, 100) <= 30 then has.ChildOf = pick(numbers, ids) end
  if numbers:range(1, 100) <= 20 then
    has.Held = { target = pick(numbers, ids), since = numbers:range(0, 40) / 4 }
  end
  local e = world:spawn(has)
  if numbers:range(1, 100) <= 20 then
    world:set(e, "Owes", pick(numbers, ids), numbers:range(0, 9))
  end
  if has.Shield and numbers:range(1, 2) == 1 then world:disable(e, "Shield") end
  if has.Packed and numbers:range(1, 4) == 1 then world:disable(e, "Packed") end
  return e
end

local function new_arrays(world, numbers, ids)
  local types = { floats = "f64", ints = "i32", bytes = "u8", flags = "bool", those = "entity" }
  local arrays = {}
  for _, name in ipairs { "floats", "ints", "bytes", "flags", "those" } do
    local array = world:array(name, types[name], 8)
    for i = 1, 8 do
      local value = values[types[name]](numbers, ids)
      if value ~= nil then array[i] = value end
    end
    arrays[name] = array
  end
  return arrays
end

-- The world of a program, and what its functions find outside.
local function new_world(program, kernels, threads)
  local world = ecs.world { kernels = kernels, tag = 1, seed = program.seed, threads = threads }
  local numbers = random.new(program.seed + 101)
  tame = program.tame
  declare(world)
  local ids = { world:spawn(), world:spawn { Body = {}, N = {} }, world:spawn { N = {} } }
  for i = 4, program.rows do ids[i] = spawn(world, numbers, ids, program.alike) end
  local out = new_arrays(world, numbers, ids)
  for _ = 1, #ids // 40 do
    local e = pick(numbers, ids)
    if e ~= ids[2] and world:alive(e) then world:despawn(e) end
  end
  out.world, out.anchor, out.null, out.score = world, ids[2], ecs.null, world:res "Score"
  out.outside, out.ids = pick(numbers, ids), ids
  out.UF, out.UI = numbers:range(-40, 40) / 4, numbers:range(-5, 9)
  out.config = { f = 2.5, n = numbers:range(1, 4), on = numbers:range(0, 1) == 1,
    list = { 1.5, -0.5 } }
  out.cost = { red = 1.0, green = 2.5, blue = -1.0 }
  out.list = { 1.0, 2.0, 0.5, -3.0, 8.0 }
  local by_position = numbers:range(1, 2) == 1
  out.make = world:spawner(by_position and "Tag, Mark, Packed" or by_fields { "Mark", "Packed" })
  out.debt = world:pair("Owes", ids[2])
  out.score.f, out.score.n = 1.5, numbers:range(0, 50)
  return out
end

-- What happens between turns, outside of kernels.
local changes = {
  function(out) out.config.f, out.config.on = -0.5, not out.config.on end,
  function(out) out.config.n = 6 - out.config.n end,
  function(out, numbers) out.list[numbers:range(1, 6)] = numbers:range(-9, 9) / 2 end,
  function(out) out.list[3] = nil end,
  function(out) out.list[4] = 7 end,
  function(out, numbers) out.cost.green = numbers:range(1, 9) / 4 end,
  function(out, numbers, ids)
    for _ = 1, 3 do ids[#ids + 1] = spawn(out.world, numbers, ids, false) end
  end,
  function(out, numbers, ids)
    local e = pick(numbers, ids)
    if e ~= out.anchor then out.world:despawn(e) end
  end,
  function(out, numbers, ids)
    local e = pick(numbers, ids)
    out.world:add(e, "Shield")
    out.world:disable(e, "Shield")
  end,
  function(out, numbers, ids)
    out.world:add(pick(numbers, ids), "Near", pick(numbers, ids))
  end,
  function(out) out.world:load(out.world:save()) end,
  function(out, numbers)
    local snapshot = out.world:snapshot()
    for _ = 1, 3 do out.world:spawn { N = { k = numbers:range(1, 9) }, Body = {} } end
    out.world:query "Body":despawn()
    out.world:restore(snapshot)
  end,
  function(out, numbers)   -- columns move
    local name = pick(numbers, { "N", "Body", "Shield" })
    declare_one(out.world, name, nil, "more: i8")
    if numbers:range(1, 2) == 1 then declare_one(out.world, name) end
  end,
  function(out, numbers)
    declare_one(out.world, "Packed", pick(numbers, { "table", "sparse" }))
  end,
  function(out) out.world:query "Tag":remove "Tag" end,
  function(out) out.world:query "Shield:off, N":remove "Shield" end,
}

local function change(out, numbers)
  for _ = 1, numbers:range(0, 4) do
    local living = {}
    for _, e in ipairs(out.ids) do
      if out.world:alive(e) then living[#living + 1] = e end
    end
    out.ids = living
    if #living > 0 then pick(numbers, changes)(out, numbers, living) end
  end
end

-- ---- running ----

local names = { "world", "anchor", "null", "score", "outside", "UF", "UI", "config", "cost", "list",
  "floats", "ints", "bytes", "flags", "those", "make", "debt" }

local frame = ("local %s = ...\n"):format(table.concat(names, ", ")) .. [[
local function help(x, y)
  if x > y then return x - y end
  return y
end
local function helpi(x, y)
  if x == y then return x - y end
  return x ~ y
end
local function whole(x)
  if x > -1e9 and x < 1e9 then return math.floor(x) end
  return 0
end
]]

function M.text(unit)
  return frame .. generator.source(unit)
end

local function load_unit(out, unit)
  local given = {}
  for i, name in ipairs(names) do given[i] = out[name] end
  return assert(load(M.text(unit), "=whole"))(table.unpack(given, 1, #names))
end

local function pack(x)
  if x ~= x then return "nan" end
  return math.type(x) == "float" and ("%a"):format(x) or tostring(x)
end

-- What a query's function form gives, as text.
local rests = {}

function rests.each(query, fn) query:each(fn, 0.25) return "" end
function rests.sum(query, fn) return pack(query:sum(fn)) end
function rests.where(query, fn)
  local ids = query:where(fn):ids()
  return table.concat(ids, " ")
end
function rests.map(query, fn)
  query:map(fn, 0.25)
  return ""
end
function rests.count(query) return query:count() end
function rests.ids(query) return table.concat(query:ids(), " ") end
function rests.first(query) return tostring(query:first()) end
function rests.set(query) query:set("Mark.x", 3.5) return "" end
function rests.add(query) query:add "Other" return "" end
function rests.remove(query) query:remove "Body" return "" end
function rests.despawn(query) query:despawn() return "" end
function rests.max(query, fn)
  local value, who = query:max(fn)
  return value and pack(value) .. " " .. tostring(who) or "none"
end
function rests.min(query, fn)
  local value, who = query:min(fn)
  return value and pack(value) .. " " .. tostring(who) or "none"
end
function rests.run(query, fn, kernels)
  if not kernels then return rests.each(query, fn) end
  local ok, why = pcall(query.run, query, fn, 0.25)
  if ok then return "" end
  if not tostring(why):find "cannot be compiled" then error(why, 0) end
  return rests.each(query, fn)
end
function rests.loop(query)
  local n = 0
  for _ in query:each() do n = n + 1 end
  return n
end
function rests.chunks(query)
  local seen = {}
  for chunk in query:chunks() do
    for i = 1, chunk.n do seen[#seen + 1] = chunk.entities[i] end
  end
  return table.concat(seen, " ")
end

-- Makes of a unit a function that runs it once and gives what it told.
local function prepare(out, unit, i, kernels)
  local world, text, fn = out.world, generator.query(unit), load_unit(out, unit)
  local variables = text:find("$p", 1, true) and out.anchor or nil
  if unit.form == "system" then
    local name = "s" .. i
    world:system(name, { query = text, each = fn, ["$p"] = variables, enabled = true })
    return function()
      world:run(name, 0.25)
      return ""
    end, function() return world:explain(name) end
  end
  local query = variables and world:query(text, { p = variables }) or world:query(text)
  local rest = unit.rest and load_unit(out, unit.rest)
  return function()
    if unit.rest then return rests[unit.rest.form](query:where(fn), rest, kernels) end
    return rests[unit.form](query, fn, kernels)
  end, function() return world:explain(fn) end
end

-- In which scope a unit runs.
local scopes_around = {}

function scopes_around.none(_, run) return run() end

function scopes_around.defer(world, run)
  world:defer()
  world:query "Other":remove "Other"
  world:query "Tag":add "Other"
  local ok, what = pcall(run)
  world:commit()
  return ok and what or error(what, 0)
end

function scopes_around.cancel(world, run)
  world:defer()
  world:spawn { N = {}, Body = {} }
  local ok, what = pcall(run)
  world:cancel()
  return ok and what or error(what, 0)
end

function scopes_around.loop(world, run)
  local what
  for e in world:query "!Other":each() do
    world:add(e, "Other")
    what = what or run()
  end
  return what or ""
end

local function plain(problem)
  return (tostring(problem):gsub("\n.*", ""):gsub("^[^ ]*whole_run%.lua:%d+: ", "")
    :gsub("@%d+", ""):gsub("%-nan", "nan"))
end

local floats = { N = { "f", "g", "w" }, Body = { "hp", "w" }, Packed = { "f" },
  ["Shield:any"] = { "f" }, Mark = { "x" } }

-- Of two NaNs that are added, say, compilers take either: here all become the same one.
local function settle(out)
  local nan = 0 / 0
  local function each(cells, keys)
    for _, key in ipairs(keys) do
      if cells[key] ~= cells[key] then cells[key] = nan end
    end
  end
  for text, fields in pairs(floats) do
    for view in out.world:query(text):each() do each(view, fields) end
  end
  each(out.floats, { 1, 2, 3, 4, 5, 6, 7, 8 })
  each(out.score, { "f" })
end

-- How the entities lie in their tables, and what they and all else hold.
local function state(out)
  local world = out.world
  settle(out)
  local ids = table.concat(world:query "N":ids(), " ") .. "|"
    .. table.concat(world:query "Mark":ids(), " ")
  return ("%d %x %d %d"):format(world:digest(), #ids, world:describe().entities,
    world:count "Said") .. ids
end

--- What a program tells after each of its units in each turn, and how its units were run. Units
--- are called by `call`, or pcall; the world has so many threads, if that is said.
function M.play(program, kernels, call, threads)
  local out = new_world(program, kernels, threads)
  local world, said, told, runs = out.world, {}, {}, {}
  for i, unit in ipairs(program.units) do
    local ok, run, explain = pcall(prepare, out, unit, i, kernels)
    runs[i] = ok and run or function() error(run, 0) end
    told[i] = ok and explain or function() return { tier = "refused", reason = run } end
  end
  local numbers = random.new(program.seed + 202)
  for turn = 1, program.turns do
    if turn > 1 then change(out, numbers) end
    for at, run in ipairs(runs) do
      local around = scopes_around[program.units[at].form == "system" and "none" or program.around]
      local ok, what = (call or pcall)(around, world, run)
      said[#said + 1] = (ok and what or plain(what)) .. "|" .. state(out)
    end
    local ok, problem = pcall(world.update, world, 0.25)
    said[#said + 1] = (ok and "" or plain(problem)) .. "|" .. state(out)
    assert(world:check())
  end
  for i, explain in ipairs(told) do
    local ok, about = pcall(explain)
    told[i] = ok and about or { tier = "none" }
  end
  world:close()
  return said, told
end

--- Whether a program does the same with kernels and without: nil, or what differs; how its units
--- were run; whether any of them raised.
function M.differs(program)
  local with, told = M.play(program, true)
  local without = M.play(program, false)
  for i = 1, math.max(#with, #without) do
    if with[i] ~= without[i] then
      return ("step %d:\n  with kernels %s\n  without      %s"):format(i,
        tostring(with[i]):sub(1, 150), tostring(without[i]):sub(1, 150)), told
    end
  end
  return nil, told, with
end

--- Whether a program does the same on so many threads as on one: nil, or what differs; how its
--- units were run.
function M.differs_on(program, threads)
  local shared, told = M.play(program, true, nil, threads)
  local alone = M.play(program, true, nil, 1)
  for i = 1, math.max(#shared, #alone) do
    if shared[i] ~= alone[i] then
      return ("step %d:\n  on %s threads %s\n  on one %s"):format(i, threads,
        tostring(shared[i]):sub(1, 150), tostring(alone[i]):sub(1, 150)), told
    end
  end
  return nil, told
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
  local ok, starved = pcall(M.play, program, true, call, threads)
  if not ok then return tostring(starved), failed end
  local fed = M.play(program, true)
  for i, said in ipairs(starved) do
    if said:find("not enough memory", 1, true) then return nil, failed end
    if said ~= fed[i] then
      return ("step %d:\n  with less memory %s\n  otherwise        %s"):format(i, said:sub(1, 150),
        fed[i]:sub(1, 150)), failed
    end
  end
  return nil, failed
end

--- A program as text.
function M.show(program)
  local lines = { ("-- seed %d, %d rows%s, %d turns"):format(program.seed, program.rows,
    program.alike and " alike" or "", program.turns) }
  for _, unit in ipairs(program.units) do
    for _, one in ipairs { unit, unit.rest } do
      lines[#lines + 1] = ("-- %s of %s\n%s"):format(one.form, generator.query(one),
        generator.source(one))
    end
  end
  return table.concat(lines, "\n")
end

local function main(first, count)
  local tiers = {}
  for seed = first, first + count - 1 do
    local program = generator.generate(seed)
    local what, told = M.differs(program)
    if what then print(shrink.told(program, M)) end
    for _, about in ipairs(told) do tiers[about.tier] = (tiers[about.tier] or 0) + 1 end
  end
  for tier, number in pairs(tiers) do print(tier, number) end
end

if arg and arg[0] and arg[0]:find("whole_run%.lua$") then
  main(tonumber(arg[1]), tonumber(arg[2]))
end

return M
