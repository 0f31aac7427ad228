-- Numbers that are integers in some rows and floats in others, compiled.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local tiers = require "spec.support.tiers"
local totals = require "spec.support.totals"

local math = math

local FIELDS = { "c: bool", "d: bool", "i: i32", "j: i64", "k: i8", "x: f64", "y: f64", "out: f64",
  "inverse: f64", "is: bool", "n: i64" }

local I = { 0, 1, -1, 7, -2147483648, 2147483647, 100 }
local J = { 0, -1, 5, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, (1 << 62) + 1, math.mininteger,
  math.maxinteger, 1 << 40 }
local X = { 0.0, -0.0, 1.5, -2.25, 1e300, math.huge, -math.huge, 0 / 0, 2.0 ^ 53, 7.0,
  -1.0, 2.0 ^ 62 }

-- What makes such a number `a`.
local MAKERS = {
  "local a = v.i if v.c then a = v.x end",
  "local a = 0 if v.c then a = v.x end",
  "local a = v.j if v.c then a = v.x end",
  "local a = v.x if v.c then a = -3 elseif v.d then a = v.k end",
  "local a = math.max(v.i, v.x)",
  "local a = math.min(v.x, v.j, 4)",
  "local a = v.c and v.x or v.k * 3 - 1",
  "local a = 0 for k = 1, 3 do if v.c then a = a + v.k else a = a + v.y end end",
  "local a = v.k for k = 1, 4 do if a == 7 or v.c and k == 3 then a = a * v.x break end end",
  "local a = math.modf(v.x)",
  "local a = HALVES[v.c and v.d and 1 or v.d and 2 or v.c and 3 or 4]",
  "local a, m = v.i, 2 if v.d then m = 1.5 end a = a * m if v.c then a = -a end",
}

-- What it meets.
local OTHERS = { "v.i", "v.j", "v.k", "v.y", "2", "-2", "0", "2.5", "b" }

local OPERATIONS = {
  "local r = a + o v.out, v.inverse = r, 1 / r",
  "local r = o - a v.out, v.inverse = r, 1 / r",
  "local r = a * o v.out, v.inverse = r, 1 / r",
  "local r = -(a * o) + a v.out, v.inverse = r, 1 / -a",
  "if o ~= 0 then local r = a % o v.out, v.inverse = r, 1 / r end",
  "if a ~= 0 then local r = o // a v.out, v.inverse = r, 1 / r end",
  "if o ~= 0 then local r = a // o v.out, v.inverse = r, 1 / r end",
  "local r = math.abs(a) v.out, v.inverse = r / o, 1 / r",
  "v.is = a < o v.out = math.min(a, o) v.inverse = 1 / math.max(o, a)",
  "v.is = a == o if o <= a then v.out = a end",
  "if not (a ~= a or a > 1e18 or a < -1e18) then v.n = math.floor(a) end",
}

local function new_world(kernels, rows, threads)
  local world = helper.new_world { kernels = kernels, tag = 1, threads = threads }
  local numbers = random.new(5)
  world:component("V", FIELDS)
  for _ = 1, rows or 400 do
    world:spawn { V = { c = numbers:chance(50), d = numbers:chance(50), i = numbers:pick(I),
      j = numbers:pick(J), k = numbers:pick { 0, -1, 3, 127, -128 }, x = numbers:pick(X),
      y = numbers:pick(X) } }
  end
  return world:query "V", world
end

local OUTCOMES = { "V.out", "V.inverse", "V.is", "V.n" }

local function outcomes(query)
  local all = {}
  for chunk in query:chunks() do
    for n, name in ipairs(OUTCOMES) do all[n] = chunk:column(name):read() end
  end
  return all
end

-- Whether two numbers are the same, zeros with their sign.
local function same(x, y) return x == y and (x ~= 0 or 1 / x == 1 / y) or x ~= x and y ~= y end

local function compare(text, quick, plain)
  local one, two = outcomes(quick), outcomes(plain)
  for n, name in ipairs(OUTCOMES) do
    for row, value in ipairs(two[n]) do
      if value ~= true and value ~= false and not same(value, one[n][row])
        or type(value) == "boolean" and value ~= one[n][row] then
        error(("%s of row %d is %s, in Lua %s:\n%s"):format(name, row, one[n][row], value, text))
      end
    end
  end
end

local function load_body(maker, other, operation)
  local text = ("return function(v) local b = 1 if v.d then b = v.y end %s local o = %s %s end")
    :format(maker, other, operation)
  return text, assert(load(text, text, "t", { math = math, HALVES = { 0, 1.5, -2, 7 } }))()
end

describe("an integer that meets floats (C26)", function()
  it("is calculated with, compared and stored as in Lua", function()
    local quick, plain = new_world(true), new_world(false)
    for _, maker in ipairs(MAKERS) do
      for _, other in ipairs(OTHERS) do
        for _, operation in ipairs(OPERATIONS) do
          local text, body = load_body(maker, other, operation)
          quick:run(body)
          plain:each(body)
          compare(text, quick, plain)
        end
      end
    end
  end)

  it("is divided by zero where it is a float, and raises Lua's error where it is none", function()
    for _, divide in ipairs { "v.k // a", "v.k % a" } do
      for _, of_float in ipairs { true, false } do
        local said = {}
        for n, kernels in ipairs { true, false } do
          local world = helper.new_world { kernels = kernels, tag = 1 }
          world:component("V", FIELDS)
          local id = world:spawn { V = { c = of_float, x = 0.0, k = 5, i = 0, j = 3 } }
          local body = load("return function(v) local a = v.i if v.c then a = v.x end v.n = 7 "
            .. "v.out = " .. divide .. " end")()
          local query = world:query "V"
          local _, problem = pcall(query.each, query, body)
          assert.are.equal(kernels and "vector" or "lua", world:explain(body).tier)
          local out = world:get(id, "V.out")
          said[n] = tiers.plain(problem) .. (out ~= out and "nan" or out) .. world:get(id, "V.n")
        end
        assert.are.equal(said[2], said[1])
        assert.are.equal(not of_float, said[1]:find "attempt to " ~= nil, said[1])
      end
    end
  end)

  -- What a function comes to that is given to a form, and in which row.
  local function total(query, form, fn)
    local value, id = query[form](query, fn)
    if value ~= value then value = 0 / 0 end
    return ("%q %s"):format(value, id)
  end

  local function text_of(number)
    if number ~= number then return "(0/0)" end
    return ("%q"):format(number)
  end

  it("is added up, and the least and greatest of it found, as Lua does", function()
    local plain, world = new_world(false, 2500)
    world:component("Other", { "x: f64" })
    local ids = plain:ids()
    for n = 1, #ids, 3 do world:add(ids[n], "Other") end
    local image, queries = world:save(), {}
    for _, threads in ipairs { 1, "2!", "4!" } do
      local query, shared = new_world(true, 0, threads)
      shared:load(image)
      queries[#queries + 1] = { query, shared }
    end
    local results = { "a", "-b", "(v.c and a or v.j)", "(v.k > 5 and 0 or v.k > 0 and -0.0 or 0.0)",
      "(v.d and (1 << 53) + 1 or 2.0 ^ 53)", "(v.k == 127 and 1 or 0 / 0)", "v.j" }
    for _, maker in ipairs(MAKERS) do
      for _, result in ipairs(results) do
        local text, body = load_body(maker, "v.y", "return " .. result)
        local tables = {}
        for _, terms in ipairs { "V, !Other", "V, Other" } do
          local list = {}
          for v in world:query(terms):each() do list[#list + 1] = body(v) end
          tables[#tables + 1] = list
        end
        for _, form in ipairs { "sum", "min", "max" } do
          local wanted = total(plain, form, body)
          assert.equal(text_of(totals[form](tables)), wanted:match "%S+", form .. " of " .. text)
          for _, entry in ipairs(queries) do
            assert.equal(wanted, total(entry[1], form, body), form .. " of " .. text)
            local absent = result ~= "v.j" and maker:find "HALVES"   -- the element may be nil
            assert.truthy(entry[2]:explain(body).tier == "vector" or absent, text)
          end
        end
      end
    end
  end)

  it("meets operators on bits where it is a float with an integer's value", function()
    local scene = agree.scene {
      options = { tag = 1 },
      fill = function(world)
        world:component("V", { "c: bool", "i: i32", "j: i64", "x: f64", "n: i64" })
        for i = 1, 300 do
          world:spawn { V = { c = i % 3 == 0, i = i * 7 % 40, j = (1 << 53) + i, x = i % 50 } }
        end
      end,
      query = "V",
    }
    scene:both(function() return function(v)
      local a = v.c and v.x or v.i
      local b = v.c and v.x or v.j
      v.n = (a & 7) + (a | 1) - (3 ~ a) + (a << 2) - (a >> 1) + (b & 15)
    end end)
    local problem = select(2, scene:both(function() return function(v)
      local a = v.c and v.x + 0.5 or v.i
      v.n = a & 7
    end end))
    assert.matches("has no integer representation", problem, 1, true)
  end)
end)
