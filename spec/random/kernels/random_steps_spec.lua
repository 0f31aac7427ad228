-- Random steps on elements of arrays, a resource's field and fields of others, whose numbers pass
-- through locals, choices, conditions and loops: with and without kernels the same cells.

local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"

local math = math
local random = math.random
local pick = tiers.pick

local CONDITIONS = { "p.on", "p.n % 3 == 1", "p.x > 0", "high", "p.n % 2 == 0", "p.c < 3" }
local TRUTHS = { "bool[p.n % 9 + 1]", "bool[p.n % 8 + 1]", "bool[2]", "h.on" }
local NUMBERS = { "f64[p.n % 9 + 1]", "f64[p.n % 8 + 1]", "f64[p.c]", "f64[2]", "h.hp", "score.w" }

-- An expression of truths in which the place may stand.
local function truth(depth, place)
  if depth == 0 then return random(3) == 1 and place or pick(CONDITIONS) end
  if random(5) == 1 then return "not (" .. truth(depth - 1, place) .. ")" end
  return ("(%s %s %s)"):format(truth(depth - 1, place), pick { "and", "or" },
    truth(depth - 1, place))
end

-- Of which it depends on the row whether they are integers.
local MIXED = { "(p.on and p.n or p.x)", "math.max(p.c, p.x)", "list[p.c]", "(high and 3 or 1.5)",
  "some", "(p.on and -0.0 or p.n)" }

-- The same of numbers.
local function number(depth, place)
  local what = depth == 0 and 0 or random(5)
  local function inner() return number(depth - 1, place) end
  if what == 0 then return random(3) > 1 and place or pick { "3.0", "p.x", "half" } end
  if what == 1 then return ("(%s or %s)"):format(inner(), inner()) end
  if what == 2 then return ("(%s and %s or %s)"):format(pick(CONDITIONS), inner(), inner()) end
  if what == 3 then return ("math.%s(%s, p.x)"):format(pick { "min", "max" }, inner()) end
  local other = random(3) == 1 and pick(MIXED) or pick { "1.0", "p.x", "half" }
  local left, right = inner(), other
  if random(6) == 1 then left, right = right, left end
  if random(6) == 1 then return ("math.%s(%s, %s)"):format(pick { "min", "max" }, left, right) end
  return ("(%s %s %s)"):format(left, pick { "+", "-", "*" }, right)
end

local statements = {
  function() local at = pick(TRUTHS) return ("%s = %s"):format(at, truth(random(2), at)) end,
  function() local at = pick(NUMBERS) return ("%s = %s"):format(at, number(random(3), at)) end,
  function()
    local at = pick(NUMBERS)
    return ("%s = (%s and %s or %s) + 1.0"):format(at, pick(CONDITIONS), at, pick { "3.0", at })
  end,
  function()   -- read before another place, or the same one, is written
    local at = pick(NUMBERS)
    return ("local t = %s %s = %s %s = t"):format(number(1, at), random(2) == 1 and at
      or pick(NUMBERS), number(1, "p.x"), at)
  end,
  function()
    local at = pick(NUMBERS)
    return ("local t = %s if %s then t = %s end %s = t"):format(at, pick(CONDITIONS),
      number(1, at), at)
  end,
  function()
    local at = pick(NUMBERS)
    return ("local t if %s then t = %s end if %s then %s = t end"):format(pick(CONDITIONS),
      number(1, at), pick { "t", "true", "p.on" }, at)
  end,
  function()
    local at, by = pick(NUMBERS), pick(CONDITIONS)
    return ("local t = %s if %s then %s = t + 1 else %s = t - p.x end"):format(at, by, at, at)
  end,
  function()
    local at = pick(NUMBERS)
    return ("local t = %s for k = 1, 3 do %s%s = t end"):format(number(1, at),
      random(2) == 1 and "t = " .. number(1, at) .. " " or "", at)
  end,
}

local function function_text()
  local lines = { "local high, half = p.x > 3, p.n * 0.5", "local some = p.n",
    "if p.on then some = some * 1.5 end" }
  for _ = 1, random(2) do
    local text = "do " .. pick(statements)() .. " end"
    lines[#lines + 1] = random(4) == 1 and "for _ = 1, 2 do " .. text .. " end" or text
  end
  return table.concat(lines, "\n")
end

local function new_world(kernels, rows)
  local world = helper.new_world { kernels = kernels, tag = 3 }
  world:component("P", { "x: f64", "n: i32", "c: i8", "on: bool", "prey: entity" })
  world:component("H", { "hp: f64 = 10", "on: bool" })
  world:resource("Score", { "w: f64" })
  world:relation "Eats"
  local ids = {}
  for n = 1, 5 do ids[n] = world:spawn { H = {} } end
  for n = 1, rows do
    local prey = ids[n * n % 5 + 1]
    world:spawn { Eats = { prey, n % 4 == 0 and ids[n % 5 + 1] or nil }, P = { prey = prey,
      x = random(-20, 40) / 4, n = random(0, 40), c = n % 8 + 1, on = n % 3 == 0 } }
  end
  return world, world:array("f64", "f64", 8), world:array("bool", "bool", 8), world:res "Score"
end

-- What a seed's function does to its world, and how it was run.
local function run(seed, kernels)
  math.randomseed(seed)
  local text = function_text()
  local world, f64, bool, score = new_world(kernels, pick { 7, 90 })
  local each = assert(load("local f64, bool, score, math, list = ... return function(p, h) "
    .. text .. " end", "=random"))(f64, bool, score, math, { 1, 2.5, -3, 0.25, 7, -0.0, 0, 1.0 })
  world:system("steps", { query = pick { "P, P.prey->H", "P, (Eats, $who), H($who)" },
    each = each })
  return text .. "\n" .. tiers.updates(world, 2, 0.1), world:explain("steps").tier
end

describe("random steps on what is not the row's own", function()
  local most = helper.by_scale { small = 60, normal = 200, deep = 2000 }
  it(("are those of plain Lua (%d)"):format(most), function()
    tiers.agree_on_seeds(most, run, most / 6)
  end)
end)
