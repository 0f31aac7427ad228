-- Random systems over arrays: kernels, and two threads, give the same elements and errors as Lua.

local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"

local math, load = math, load
local random = math.random
local pick = tiers.pick

local NUMBERS = { "f64", "i32", "u8", "i16", "i64", "u32" }
local NAMES = { "a", "b", "c" }
local expression, statement

-- An index: mostly the row's own, or a neighbour's, which may not be there.
local function place(name)
  return pick { "i", "i", "i", "i - 1", "i + 1", "i - W", "i + W", "n",
    "i * 7 % #" .. name .. " + 1", "#" .. name .. " + 1 - i", "c[i]", "5", "k" }
end

local function condition(depth)
  local e = expression
  return pick {
    function() return e(depth) .. pick { " < ", " == ", " >= " } .. e(depth) end,
    function() return "on[" .. place "on" .. "]" end,
    function() return "not on[i]" end,
    function() return pick(NAMES) .. "[" .. place "a" .. "]" end,
    function() return e(depth) .. " > 3 and on[i]" end,
  }()
end

function expression(depth)
  local name = pick(NAMES)
  if depth == 0 or random(3) == 1 then
    return pick { tostring(random(9)), "0.5", "i", "dt", "n", "a[i]", "b[i]", "c[i]",
      ("(%s[%s] or 1)"):format(name, place(name)), ("(%s[%s] or 0)"):format(name, place(name)) }
  end
  local x, y = expression(depth - 1), expression(depth - 1)
  return pick {
    ("(%s %s %s)"):format(x, pick { "+", "-", "*", "+" }, y), ("math.%s(%s, %s)"):format(
      pick { "min", "max" }, x, y),
    ("(%s and %s or %s)"):format(condition(0), x, y), ("math.abs(%s)"):format(x),
    ("(%s %% 7)"):format(x),
  }
end

local function value(depth)
  local e = expression(depth)
  return random(8) == 1 and e or ("(%s) %% 100 // 1"):format(e)
end

local function cell(depth)
  local name = pick(NAMES)
  local at = place(name)
  local element = ("%s[%s]"):format(name, at)
  return pick {
    function() return ("%s[i] = %s"):format(name, value(depth)) end,
    function() return ("if %s then %s = %s end"):format(element, element, value(depth)) end,
    function()
      return ("if %s then %s = (%s + %s) %% 100 // 1 end"):format(element, element, element,
        expression(0))
    end,
    function() return ("%s[i] = %s[i] %s 1"):format(name, name, pick { "+", "*", "-" }) end,
    function() return ("%s[i] = %s[i] // 2 + %s[i]"):format(name, name, pick(NAMES)) end,
    function() return ("on[i] = %s"):format(pick { "not on[i]", "a[i] > b[i]", "true" }) end,
  }()
end

function statement(depth)
  if depth == 0 or random(3) > 1 then return cell(random(0, 2)) end
  return pick {
    function() return ("if %s then %s end"):format(condition(1), statement(depth - 1)) end,
    function() return ("if %s then %s else %s end"):format(condition(1), statement(depth - 1),
      statement(depth - 1)) end,
    function() return ("for k = 1, %d do %s end"):format(random(3), statement(depth - 1)) end,
    function() return ("n = %s"):format(expression(1)) end,
    function() return ("if %s then return end"):format(condition(0)) end,
  }()
end

local function body()
  local lines = { "local n, k = i // 2, 2" }
  for _ = 1, random(4) do
    lines[#lines + 1] = random(4) == 1 and "n = n + i % 3" or statement(2)
  end
  return "return function(i, dt) " .. table.concat(lines, "\n") .. " end"
end

-- Loops over elements: forwards, backwards, in steps, by rows, by while, by bounds out of arrays.
local function loop()
  local form = pick {
    "for i = 1, #a do\n%s\nend", "for i = 2, #a - 1 do\n%s\nend", "for i = #a, 1, -1 do\n%s\nend",
    "for i = 1, #a, k do\n%s\nend", "for i = c[1] or 1, #b // 2 do\n%s\nend",
    "for y = 0, #a // W - 1 do for x = 1, W do local i = y * W + x\n%s\nend end",
    "local i = 1\nwhile i <= #a do\n%s\ni = i + k end", "repeat local i = n + 1\n%s\nuntil true",
    "for i = 1.0, #a do\n%s\nend", "for i = 1, #a do for j = 1, 2 do\n%s\nend end",
  }
  local lines = {}
  for _ = 1, random(3) do lines[#lines + 1] = statement(2) end
  if random(4) == 1 then lines[#lines + 1] = "if a[i] == 19 and n > 50 then break end" end
  return (form:gsub("%%s", (table.concat(lines, "\n"):gsub("%%", "%%%%"))))
end

local function whole()
  local lines = { "local n, k = 3, 2" }
  for _ = 1, random(3) do
    lines[#lines + 1] = "do " .. loop():gsub("return end", pick { "return end", "n = n + 1 end" })
      .. " end"
  end
  return "return function(world, dt) " .. table.concat(lines, "\n") .. " end"
end

-- What a seed's system does to its arrays in three updates, and how it was run.
local function outcome(seed, kernels, threads, runs)
  math.randomseed(seed)
  local world = helper.new_world { kernels = kernels, threads = threads }
  local n = pick { 1, 7, 63, 64, 65, 300, 1500, runs and 5000 or 300 }
  local env = { math = math, W = pick { 2, 8, 40 } }
  for _, name in ipairs(NAMES) do
    local length = name == "a" and n or math.max(1, n + pick { 0, 0, 0, -2, 9 })
    local array = world:array(name, pick(NUMBERS), length)
    for i = 1, length do array[i] = random(0, 20) end
    env[name] = array
  end
  env.on = world:array("on", "bool", n)
  for i = 1, n do env.on[i] = random(2) == 1 end
  local text = (runs and whole or body)()
  local run = load(text, "=cells", "t", env)()
  world:system("cells", runs and { run = run } or { array = "a", each = run })
  local seen = {}
  for i = 1, 3 do
    local done, problem = pcall(world.update, world, 0.5)
    seen[i] = ("%d %s %d"):format(i, done and "" or tiers.plain(problem), world:digest())
  end
  local told = world:explain "cells"
  seen[#seen + 1] = text
  return table.concat(seen, "\n"), told.tier
end

local function outcome_of_run(seed, kernels)
  return outcome(seed, kernels, nil, true)
end

describe("random systems over arrays", function()
  local most = helper.by_scale { small = 60, normal = 300, deep = 3000 }
  it(("are plain Lua (%d)"):format(most), function()
    tiers.agree_on_seeds(most, outcome, most / 3)
  end)

  it(("are plain Lua as loops of a run (%d)"):format(most), function()
    tiers.agree_on_seeds(most, outcome_of_run, most / 3)
  end)

  it(("are the same on two threads (%d)"):format(most // 4), function()
    for seed = 1, most // 4 do
      assert.are.equal((outcome(seed, false)), (outcome(seed, true, 2)))
    end
    math.randomseed(os.time())
  end)
end)
