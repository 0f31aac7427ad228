-- Random reads and writes of arrays, reads of plain tables by computed index, writes of a resource:
-- with and without kernels the same cells and the same errors.

local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"

local math = math
local random = math.random
local pick = tiers.pick

local makers = {
  integer = function()
    return pick { random(-5, 5), math.maxinteger, math.mininteger, 1 << 53, (1 << 53) + 1, 0, 1 }
  end,
  float = function()
    return pick { random() * 10, 0.0, -0.0, 1 / 0, -1 / 0, 0 / 0, 2.0, 1e300 }
  end,
  boolean = function()
    return random(2) == 1
  end,
}

function makers.mixed()
  return makers[pick { "integer", "float" }]()
end

-- A list, mostly; at times with a hole, another key, or a value of another type.
local function make_list()
  local make, list = makers[pick { "integer", "float", "boolean", "mixed" }], {}
  for i = 1, random(0, 12) do
    list[i] = make()
  end
  local odd = { random(12), 0, "x", 2.5, random(12) }
  local values = { nil, make(), make(), 1, "text" }
  local how = random(10)
  if odd[how] then
    list[odd[how]] = values[how]
  end
  return list
end

-- Functions that look into a list, an array and a table by the names of an enum.
local bodies = {
  function(list) return function(p) p.a = list[p.i] end end,
  function(list) return function(p) p.a = list[p.i] or 0 end end,
  function(list) return function(p) if list[p.i] then p.a = p.a + 1 end end end,
  function(list) return function(p) if not list[p.i] then p.b = p.b + 1 else p.a = 2 end end end,
  function(list) return function(p) p.a = p.a + list[p.f] end end,
  function(list) return function(p) p.n = list[p.i] // 1 end end,
  function(list) return function(p) p.b = list[p.i] == nil and 1 or 0 end end,
  function(list) return function(p) if list[p.i] == true then p.b = 3 end end end,
  function(list) return function(p) p.f = list[p.i] - list[p.n] end end,
  function(list) return function(p) p.n = -list[p.i] end end,
  function(list) return function(p) p.n = list[p.i] & 7 end end,
  function(list) return function(p) local v = list[p.i] p.b = p.b + (v and 1 or 0) p.a = v end end,
  function(list) return function(p)
    local sum = 0.0
    for i = 1, #list do sum = sum + list[i] end
    p.a = sum
  end end,
  function(list) return function(p)
    if p.b < 2 then p.a = list[p.i] + 0.5 end
    p.b = p.b + 1
  end end,
  function(_, array) return function(p) p.a = array[p.i] end end,
  function(_, array) return function(p) p.a = array[p.f] + p.a end end,
  function(_, array) return function(p) if array[p.i] then p.n = p.n + 1 end end end,
  function(_, array) return function(p) p.a = array[p.i] or -1 end end,
  function(_, array) return function(p) p.n = array[p.i + 1] * 2 end end,
  function(_, array) return function(p)
    local sum = 0.0
    for i = 1, 3 do sum = sum + array[i] end
    p.a = sum
  end end,
  function(list, array) return function(p) p.n = list[p.i] p.a = array[list[p.i]] end end,
  function(list, array) return function(p)
    local v = list[p.i] or array[p.f]
    if v then p.b = p.b + 1 end
    if list[p.i] == list[p.n] or array[p.i] == v then p.n = p.n + 1 end
  end end,
  function(list) return function(p)
    local last, first, count = nil, nil, 0
    for i = 1, 4 do
      local v = list[p.i + i]
      if v then last, count = v, count + 1 else first = nil end
      if not first then first = v end
      if count == 2 then break end
    end
    if last then p.a = p.a + 1 end
    p.b = first == nil and 1 or count
    if p.n > 2 then p.f = last end
  end end,
  function(list, array) return function(p)
    local v
    if p.b > 0 then v = array[p.i] elseif p.n > 2 then v = array[p.f] end
    if v == nil then return end
    p.a = v
    if list[p.n] == nil then p.b = 1 elseif list[p.n] == v then p.b = 2 end
  end end,
  function(_, _, kinds) return function(p) p.a = kinds[p.kind] p.n = kinds[p.kind] end end,
  function(_, array) return function(p) array[p.i] = p.a end end,
  function(_, array) return function(p) p.a = p.a + 1 array[p.i] = array[p.i] + p.n end end,
  function(_, array) return function(p)
    p.n = p.n + 1
    array[p.i] = math.max(array[p.i] - p.b, math.min(p.a, 3))
    array[1] = (array[1] or 0) + 1
  end end,
  function(_, array) return function(p)
    if p.b > 0 then array[p.f] = array[p.f] * 2 else array[p.n] = p.n end
    p.b = p.b + 1
  end end,
  function(list, array) return function(p)
    for k = 1, 3 do
      array[k] = p.n - array[k]
      if p.b > k then array[p.i] = list[p.i] end
    end
  end end,
  function(_, array, _, score) return function(p)
    score.n = score.n + p.n
    score.x = math.min(score.x, p.a) / 2
    array[p.i] = array[p.i] - 0.5
  end end,
  function(_, array, _, score) return function(p)
    score.x = score.x * 1.5 - p.a
    if p.b > 1 then score.n = p.f end
    array[p.n] = 1
  end end,
}

local function spawn_rows(world)
  local tidy = random(3) > 1
  for _ = 1, pick { 1, 7, 40, 700 } do
    local e = world:spawn { P = { i = tidy and random(4) or random(-1, 13), n = random(5),
      f = tidy and random(3) or pick { 2.0, 2.5, 0 / 0, 1 / 0, -1, 3 }, b = random(0, 2),
      kind = pick { "red", "green", "blue" } }, Off = random(2) == 1 or nil }
    if world:has(e, "Off") and random(2) == 1 then
      world:disable(e, "Off")
    end
  end
end

local function change(list, array)
  local what = random(3)
  for i = 1, what == 1 and random(0, 12) or 0 do
    list[i] = makers.mixed()
  end
  for i = 1, what == 2 and #array or 0 do
    pcall(function() array[i] = makers.mixed() end)
  end
end

-- What a seed's function does to its world in three updates, and how it was run.
local function run(seed, kernels)
  math.randomseed(seed)
  local world = helper.new_world { kernels = kernels }
  world:component("P", { "a: f64", "b: f64", "f: f64", "i: i32", "n: i64",
    "kind: enum(red, green, blue)" })
  world:component("Off", { toggle = true })
  world:resource("Score", { "n: i16", "x: f64" })
  local array = world:array("Field", pick { "f64", "i32", "u8", "i64", "bool" }, random(9))
  for i = 1, #array do
    pcall(function() array[i] = makers.mixed() end)
  end
  local list, kinds = make_list(), { red = 1, green = makers.mixed(), blue = makers.mixed() }
  spawn_rows(world)
  world:system("read", { query = pick { "P", "P, with Off", "P, !Off", "P, Off?" },
    each = pick(bodies)(list, array, kinds, world:res "Score") })
  local seen = tiers.updates(world, 3, 0.1, function() change(list, array) end)
  return seen, world:explain("read").tier
end

describe("random reads and writes of elements", function()
  local most = helper.by_scale { small = 40, normal = 200, deep = 1500 }
  it(("are those of plain Lua (%d)"):format(most), function()
    tiers.agree_on_seeds(most, run, most / 3)
  end)
end)
