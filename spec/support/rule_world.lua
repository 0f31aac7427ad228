--- The worlds that random functions (rule_gen.lua) run in, what these find outside, and what
--- happens to both between turns.
local ecs = require "ecs"
local random = require "spec.support.rng"

local M = {}

-- The largest integer: under LuaJIT, of those that its numbers tell apart.
local LARGEST = rawget(_G, "jit") and 2.0 ^ 53 or math.maxinteger

-- With a field more, perhaps, so that columns move.
local function declare_h(world, with, more)
  world:component("H", { "hp: f64 = 10", "n: i32 = 3", "k: i8", "w: f32", "on: bool",
    "who: entity", "far: f64[5]", "bags: Bag[2]", more, track = with.track, toggle = true })
end

local function declare(world, with)
  local more = with.longer and 30 or 0
  world:component("Bag", { "w: f64", "n: i16", "on: bool", "who: entity", "m: u8[2]" })
  world:component("P", { "x: f64", "y: f64", "w: f32", "m: f64[2]", "n: i32", "c: i8",
    "big: i64", "on: bool", "cell: i32", "prey: entity", "kept: entity", "s: string", "u: u64",
    "kind: enum(red, green, blue)", "tint: enum(blue, black, red, green)",
    ("far: f64[%d]"):format(12 + more), ("tens: u8[%d]"):format(10 + more),
    ("pals: entity[%d]"):format(9 + more), ("bags: Bag[%d]"):format(4 + more) })
  declare_h(world, with)
  world:component("S", { "v: f64", "n: i64", storage = "sparse", toggle = true })
  world:component("Spot", { "x: f64", "y: f64" })
  world:tag "T"
  world:tag "Seen"
  world:relation "Eats"
  world:relation("Owes", { "amount: i32", "rate: f64" })
  world:relation("Held", { "since: f64", exclusive = true })
  world:event("Said", { "who: entity", "x: f64", "n: i16" })
  for _, name in ipairs { "Score", "Rival" } do
    world:resource(name, { "f: f64", "n: i32", "b: u8", "u: u64", "on: bool", "who: entity",
      "six: f64[6]",
      ("tens: u8[%d]"):format(10 + more), ("pals: entity[%d]"):format(9 + more),
      ("bags: Bag[%d]"):format(4 + more) })
  end
end

local extremes = { 0.0, -0.0, 1 / 0, -1 / 0, 0 / 0, 1e300, 5e-324, 2.0 ^ 53, -2.0 ^ 63, 0.1, 10.0 }
local integers = { 0, 1, -1, 7, -13, 2147483647, -2147483648 }

-- Numbers of a wild world, of which some are extreme.
local function float(numbers, with, low, high)
  if with.wild and numbers:chance(30) then return numbers:pick(extremes) end
  return numbers:range(low, high) / 4
end

local function large(numbers, with, i)
  if with.full and numbers:chance(9) then return LARGEST - i end
  return with.wild and numbers:pick { i, -i, math.mininteger, 7, 1 << 53, ~i >> (i % 60) } or i
end

-- The components of a row. In a world where they are alike most have the same ones.
local function parts(i, numbers, with)
  local function some(percent)
    if with.alike then return percent >= 40 and numbers:chance(99) end
    return numbers:chance(percent)
  end
  return { P = { x = float(numbers, with, -40, 80), y = i / 16, w = i / 8,
    n = with.wild and numbers:chance(20) and numbers:pick(integers) or numbers:range(0, 20),
    c = numbers:range(-9, with.full and 127 or 20),
    on = numbers:chance(40), cell = i * 5 % 16 + 1, big = large(numbers, with, i),
    u = large(numbers, with, i), m = { i / 8, float(numbers, with, 4, 4) },
    kind = numbers:pick { "red", "green", "blue" }, tint = numbers:pick { "red", "black", "blue" },
    s = numbers:pick { "ann", "bob", "", "an\0n" }, far = { [i % 12 + 1] = i / 4, [12] = 1 },
    tens = { i % 7, 2, [9] = 8 }, bags = { { w = i / 2, on = i % 3 == 0 }, { n = i % 50 } } },
    H = some(40) and { hp = float(numbers, with, 0, 120), on = true, far = { i / 2, i },
      w = numbers:range(-9, 9) / 8, bags = { { w = i / 8 }, { n = i % 9 } } } or nil,
    T = some(30) or nil, S = some(30) and { v = float(numbers, with, 0, 9), n = i } or nil,
    Spot = some(50) and { x = numbers:range(0, 20) / 4, y = 1 } or nil }
end

-- One row. Its prey is one of five, another row, itself, or nobody; two of its ids may be the same.
local function row(world, i, numbers, with, prey, rows)
  local e = world:spawn(parts(i, numbers, with))
  rows[i] = e
  local what = numbers:int(12)
  local target = what <= 6 and numbers:pick(prey) or what <= 9 and numbers:pick(rows)
    or what <= 11 and e or ecs.null
  world:set(e, "P.prey", target)
  world:set(e, "P.pals[2]", target)
  world:set(e, "P.kept", numbers:chance(60) and target or numbers:pick(rows))
  for _ = 1, with.alike and 0 or numbers:int(3) - 1 do
    world:add(e, "Eats", numbers:pick(prey))
    world:set(e, "Owes", numbers:pick(prey), numbers:range(0, 9), 0.5)
  end
  if numbers:chance(20) then world:set(e, "Held", numbers:pick(rows), 1.5) end
  if numbers:chance(with.alike and 20 or 50) then
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
  for i = 1, math.min(program.rows, 200) do row(world, i, numbers, with, prey, rows) end
  for i = 201, program.rows do
    rows[i] = world:clone(rows[i - 200])
    world:set(rows[i], "P.n", i % 21)
  end
  for _ = 1, program.rows // 12 do
    local e = numbers:pick(rows)
    if world:alive(e) then world:despawn(e) end
  end
  if numbers:chance(50) then world:despawn(prey[3]) end
  return prey, rows
end

M.arrays = { floats = "f64", ints = "i32", nxt = "i32", bytes = "u8", flags = "bool",
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

-- What functions for numbers find outside.
local function new_config(numbers)
  local equal, one, other = { __eq = function() return true end }, {}, {}
  return { list = { 3, 1.5, 5 }, f = numbers:range(-500, 500) / 16, n = numbers:range(-5, 5),
    small = 2, flag = true, t = one, u = other, one = one, other = other, equal = equal,
    deep = { f = 2.5, n = 4, t = one }, eq = setmetatable({}, equal), eq2 = setmetatable({}, equal),
    UI = numbers:range(-50, 50), UF = numbers:range(-500, 500) / 8 }
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

--- The world of a program, and all that its functions find outside.
function M.new(program, kernels, threads, with)
  local world = ecs.world { kernels = kernels, tag = 1, seed = program.seed, threads = threads }
  local numbers = random.new(program.seed + 101)
  declare(world, with)
  local out = { world = world, ecs = ecs, own = ecs.math, with = with,
    dead = world:spawn(), heard = {}, numbers = numbers,
    boss = world:spawn { H = {}, T = true }, cost = { red = 0.5, green = 2.0, blue = -1.0 } }
  for name, table in pairs(settings()) do out[name] = table end
  out.odd, out.config = odd_list(numbers), new_config(numbers)
  world:name(out.boss, "boss")
  world:despawn(out.dead)
  local prey, rows = populate(world, program, numbers, with, out.boss)
  out.mate = numbers:chance(50) and numbers:pick(rows) or prey[2]
  if not world:alive(out.mate) then out.mate = prey[2] end
  out.chosen = numbers:chance(50) and prey[1] or out.mate
  out.those = { red = prey[4], green = out.boss, blue = out.mate }
  for name, type in pairs(M.arrays) do out[name] = world:array(name, type, 16) end
  out.maps, out.grids = { red = out.floats, green = out.more }, { out.less, out.floats, out.more }
  for i = 1, 16 do
    out.more[i], out.less[i] = i / 4, i % 3
    out.floats[i], out.ints[i], out.nxt[i] = numbers:range(0, 40) / 4, i % 7, i % 16 + 1
    out.bytes[i], out.flags[i] = numbers:range(0, with.full and 255 or 20), numbers:chance(30)
    if numbers:chance(30) and world:alive(rows[i] or 0) then out.at[i] = rows[i] end
  end
  out.score, out.rival, out.alias = world:res "Score", world:res "Rival", with.alias
  out.make = world:spawner "H.hp, H.who, T"
  out.breed = world:spawner(numbers:chance(50) and "T, S" or "T, S.v, S.n")
  out.debt, out.config.score = world:pair("Owes", out.boss), out.score
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

-- ---- what happens between turns ----

-- To what functions for numbers find outside.
local of_config = {
  function(c, n) c.t = ({ c.one, c.other, false, 7, {} })[n:int(6)] end,
  function(c) c.u = c.t end,
  function(c) c.flag = not c.flag end,
  function(c, n) c.fn = ({ c.fn2, math.floor, c.fn })[n:int(3)] end,
  function(c, n) setmetatable(c, { __index = { late = n:pick { 5, true, c.one }, t = c.one } }) end,
  function(c) setmetatable(c, nil) end,
  function(c) c.late = c.one end,
  function(c) setmetatable(c.one, c.equal) end,
  function(c, n) c.UI = n:pick { 3, -2, 2.0, LARGEST } end,
  function(c, n) c.UF = n:pick { 0.5, 3, -0.0, 1 / 0, 10 } end,
  function(c, n) c.n = n:pick { 2, -1, 1.5 } end,
  function(c) c.f = 4 end,
  function(c, n)   -- no holes: which border # gives then depends on what has been asked before
    local list, at, value = c.list, n:int(4), ({ 7, 0.5, false })[n:int(4)]
    local last = rawlen(list)
    list[value == nil and last or math.min(at, last + 1)] = value
  end,
  function(c) c.list = { 1, 2.5, 3, 4 } end,
  function(c) setmetatable(c.list, { __len = function() return 9 end }) end,
  function(c) setmetatable(c.list, { __index = function() return 8 end }) end,
  function(c) setmetatable(c.list, nil) end,
  function(c, n) c.small = n:range(0, 4) end,
  function(c) c.deep = { f = 1, n = 2, t = c.other } end,
}

-- To the world.
local of_world = {
  function(world, n, _, living)
    for _ = 1, 3 do row(world, #living + 1, n, {}, { living[1] }, living) end
  end,
  function(world, _, out, living)
    if living[1] ~= out.boss and living[1] ~= out.mate then world:despawn(living[1]) end
  end,
  function(world, _, _, living)
    world:add(living[1], "H")
    world:disable(living[1], "H")
  end,
  function(world, n, _, living) world:set(living[1], "Held", n:pick(living), 2.5) end,
  function(world) world:load(world:save()) end,
  function(world, n)
    local snapshot = world:snapshot()
    for _ = 1, 3 do world:spawn { P = { n = n:int(9) }, H = {} } end
    world:query "H":despawn()
    world:restore(snapshot)
  end,
  function(world, n, out)   -- columns move
    declare_h(world, out.with, "more: i8")
    if n:chance(50) then declare_h(world, out.with) end
  end,
  function(world, n)
    world:component("S", { "v: f64", "n: i64", storage = n:pick { "table", "sparse" },
      toggle = true })
  end,
  function(world) world:query "T":remove "T" end,
  function(world) world:query "H:off, P":remove "H" end,
}

--- What happens between turns.
function M.change(out, with)
  local world, numbers = out.world, out.numbers
  if with.poke then out.poke(numbers:int(11)) end
  if with.wild or with.settled then
    for _ = 1, 2 do numbers:pick(of_config)(out.config, numbers) end
    out.reset()
  end
  for _ = 1, with.changes and numbers:range(0, 4) or 0 do
    local living = numbers:sample(world:query "P":ids(), 4)
    if #living > 0 then numbers:pick(of_world)(world, numbers, out, living) end
  end
end

return M
