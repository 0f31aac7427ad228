-- What a kernel means is what its function means in plain Lua: each function of math, outside
-- values of every type as they change between runs, bounds of loops, ids of components, lines.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local math = math -- kernels reach globals by raw access, and a spec's are behind a metatable

local function bits(x)
  if type(x) ~= "number" then return tostring(x) end
  if x ~= x then return "nan" end
  return math.type(x) .. " " .. (math.type(x) == "integer" and x or string.format("%a", x))
end

describe("every function of math", function()
  local floats = { 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 10.0, 2.0, 1 / 0, -1 / 0, 0 / 0, 1e300,
    5e-324, 2.0 ^ 53, -2.0 ^ 63, 2.0 ^ 63 }
  local integers = { 0, 1, -1, 2, 10, 7, -13, math.maxinteger, math.mininteger }
  -- What is not compiled for floats, and for integers, and what the reason says.
  local refused = {
    ["math.random"] = { "world:random", "world:random" },
    ["math.randomseed"] = { "world:random", "world:random" },
    ["math.tointeger"] = { "math.floor" }, ["math.pow"] = { "write x ^ y", "write x ^ y" },
    ["math.log10"] = { "write math.log(x, 10)", "write math.log(x, 10)" },
  }
  -- Those of Lua 5.2, which a build may have.
  for _, name in ipairs { "cosh", "sinh", "tanh", "frexp", "ldexp" } do
    refused["math." .. name] = { "math." .. name .. ", of Lua 5.2",
      "math." .. name .. ", of Lua 5.2" }
  end

  -- fn over all pairs of two lists whose results fit the field, by a kernel and by plain Lua.
  local function compare(name, fn, xs, ys, fields)
    local world = helper.new_world()
    world:component("V", { "x: " .. fields[1], "y: " .. fields[2] })
    world:component("R", { "r: " .. fields[3] })
    local wanted = {}
    if refused[name] then world:spawn { V = {}, R = {} } end
    for _, x in ipairs(xs) do
      for _, y in ipairs(ys) do
        local row = { r = 0 }
        local type = pcall(fn, { x = x, y = y }, row) and math.type(row.r)
        if type == "integer" or (type and fields[3] == "f64") then
          wanted[#wanted + 1] = { world:spawn { V = { x = x, y = y }, R = {} },
            bits(fields[3] == "f64" and row.r * 1.0 or row.r), x, y }
        end
      end
    end
    if #wanted > 0 or refused[name] then world:query("V, R"):run(fn) end
    for _, row in ipairs(wanted) do
      assert(bits(world:get(row[1], "R.r")) == row[2],
        ("%s of %s and %s: %s, not %s"):format(name, row[3], row[4],
          bits(world:get(row[1], "R.r")), row[2]))
    end
    world:close()
    return #wanted
  end

  -- The function in Lua: of one argument, of two, of two the other way round.
  local function calls(name, result)
    local list = {}
    for _, arguments in ipairs { "v.x", "v.x, v.y", "v.y, v.x", "v.x, 2", "v.x, 10", "v.x, 0.5",
      "v.x, 2.75", "v.x, 10.5", "3, v.y", "v.x, nil" } do
      list[#list + 1] = assert(load(("local ecs = ... return function(v, r) %s end"):format(
        result:format(("%s(%s)"):format(name, arguments)))))(ecs)
    end
    return list
  end

  local function try(name, result, kinds, xs, ys)
    local compiled, reasons = 0, {}
    for _, fn in ipairs(calls(name, result)) do
      local ok, why = pcall(compare, name, fn, xs, ys, kinds)
      -- The least of an integer column and a float is not compiled.
      local expected = refused[name] and "cannot be compiled" or "add 0.0 to the integer"
      if not (ok or why:find(expected, 1, true)) then error(why, 0) end
      if ok and why > 0 then compiled = compiled + 1 end
      if not ok then reasons[#reasons + 1] = why end
    end
    return compiled, table.concat(reasons, "\n")
  end

  local functions = {}
  for name, fn in pairs(math) do functions["math." .. name] = fn end
  for name, fn in pairs(ecs.math) do functions["ecs.math." .. name] = fn end

  for full, fn in pairs(functions) do
    if type(fn) == "function" then
      it(("gives what it gives in Lua, with its arguments in both orders: %s"):format(full),
        function()
          local why, name = refused[full] or {}, full:match "%w+$"
          local result = name == "type" and "r.r = %s == 'float' and 1 or 2"
            or name == "ult" and "r.r = %s and 1 or 2" or "r.r = %s"
          local whole = (name == "floor" or name == "ceil" or name == "ult") and "i64" or "f64"
          local some = name == "ult" and integers or floats
          if name == "floor" or name == "ceil" then
            some = { 0.0, -0.0, 2.5, -2.5, 1e15, 3.0, 2.0 ^ 53 }
          end
          local kind = name == "ult" and "i64" or "f64"
          local compiled, reasons = try(full, result, { kind, kind, whole }, some, some)
          local function check(reason)
            assert(reason and reasons:find(reason, 1, true) or not reason and compiled > 0, reasons)
          end
          check(why[1])
          compiled, reasons = try(full, result, { "i64", "i64", "i64" }, integers, integers)
          compiled = compiled + try(full, result, { "i64", "i64", "f64" }, integers, integers)
          check(why[2])
        end)
    end
  end

  it("gives both results where it has two", function()
    local world = helper.new_world()
    world:component("D", { "v: f64", "part: f64", "rest: f64" })
    local ids = {}
    for i, x in ipairs(floats) do ids[i] = world:spawn { D = { v = x } } end
    world:query("D"):run(function(d) d.part, d.rest = math.modf(d.v) end)
    for i, x in ipairs(floats) do
      local part, rest = math.modf(x)
      local _, got, left = world:get(ids[i], "D")
      assert.same({ bits(part * 1.0), bits(rest) }, { bits(got), bits(left) })
    end
  end)
end)

describe("an outside value", function()
  -- Runs a condition over a row of a world with kernels and of one without, once for each change,
  -- and returns how many of the runs were compiled. `make(world)` returns what the text is given.
  local function same_as_lua(condition, make, changes)
    local seen, compiled = {}, 0
    for turn, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels, tag = 1 }
      world:component("P", { "x: f32" })
      world:component("Q", { "x: f32" })
      world:resource("Wind", { "x: f32" })
      local e = world:spawn { P = {}, Q = {} }
      local o = make(world)
      o.world = world
      world:system("s", { query = "P, Q", each = assert(load(([[
        local o = ...
        return function(p, q) if %s then p.x = p.x * 2 + 1 else p.x = p.x * 2 end end
      ]]):format(condition), "=outside"))(o) })
      seen[turn] = {}
      for i = 0, #changes do
        if i > 0 then changes[i](o) end
        world:set(e, "P.x", 0)
        local ok = pcall(world.update, world, 1)
        seen[turn][i + 1] = ok and world:get(e, "P.x") or "error"
        if kernels and world:explain("s").tier == "vector" then compiled = compiled + 1 end
      end
    end
    assert.same(seen[2], seen[1])
    return compiled
  end

  local function two_tables()
    return { t = {}, u = {}, v = {} }
  end

  it("is equal to what is the same table", function()
    local changes = {
      function(o) o.u = o.t end, function(o) o.u = {} end, function(o) o.t, o.u = 5, 5.0 end,
      function(o) o.t = nil end, function(o) o.u = nil end, function(o) o.t = o.v end,
    }
    assert.truthy(same_as_lua("o.t == o.u", two_tables, changes) >= 5)
    assert.truthy(same_as_lua("o.t ~= o.u", two_tables, changes) >= 5)
    assert.equal(7, same_as_lua("o.t == o.t", two_tables, changes))
    same_as_lua("o.t == 5", two_tables, changes)
    same_as_lua("o.t == nil", two_tables, changes)
    same_as_lua("o.t == p", two_tables, changes)
  end)

  it("is compiled once however often tables that are compared change", function()
    local world, state = helper.new_world(), { now = {}, menu = {} }
    world:component("P", { "x: f32" })
    local e = world:spawn { P = {} }
    world:system("s", { query = "P", each = function(p)
      p.x = state.now == state.menu and 1 or 2
    end })
    for i = 1, 20 do
      state.now = i % 2 == 0 and {} or state.menu
      world:update(1)
      assert.equal(i % 2 == 0 and 2 or 1, world:get(e, "P.x"))
    end
    assert.same({ "vector", 1 }, { world:explain("s").tier, world:explain("s").compilations })
  end)

  it("is equal to what is the same function or object", function()
    local function make(world)
      local function f() end
      local wind = world:res "Wind"
      return { f = f, g = f, h = function() return 1 end, sin = math.sin, wind = wind, gust = wind,
        other = world:res "Wind", whole = world }
    end
    for _, pair in ipairs { "f == o.g", "f == o.h", "f == o.sin", "sin == o.sin",
      "wind == o.gust", "wind == o.other", "wind ~= o.other", "whole == o.world",
      "wind == o.whole", "f == o.wind",
      "f == 1", "sin == nil" } do
      assert.equal(2, same_as_lua("o." .. pair, make, { function(o) o.h = o.f end }), pair)
    end
    assert.equal(1, same_as_lua("p == p", make, {}))
    assert.equal(1, same_as_lua("p == q", make, {}))
  end)

  it("may be an element of a table, or the length of one", function()
    local function make() return { t = { 1, 2.5, false, 4 }, u = {} } end
    local changes = { function(o) o.t[2] = 3 end, function(o) o.t[2] = nil end,
      function(o) o.t[5] = 7 end, function(o) o.t = { 9 } end, function(o) o.t = "text" end }
    assert.equal(6, same_as_lua("#o.t == 4", make, changes))
    assert.equal(6, same_as_lua("o.t[2] == 3", make, changes))
    assert.equal(6, same_as_lua("o.t[2.0] and o.t[4.0]", make, changes))
    assert.equal(6, same_as_lua("o.t[3] == o.t[9]", make, changes))
    assert.equal(2, same_as_lua("#o.t == 4", make, {
      function(o) setmetatable(o.t, { __len = function() return 4 end }) end,
      function(o) setmetatable(o.t, { __len = function() return 5 end }) end,
      function(o) setmetatable(o.t, nil) end }))
    assert.equal(2, same_as_lua("o.t[7]", make, {
      function(o) setmetatable(o.t, { __index = { [7] = true } }) end,
      function(o) setmetatable(o.t, { __index = {} }) end,
      function(o) setmetatable(o.t, nil) end }))
    assert.equal(1, same_as_lua("o.t[8] == #o.t", make, {}))
  end)
end)

describe("a loop in a kernel", function()
  -- How many rounds, up to four, and the last value.
  local function rounds(world, bounds, low, high)
    local fn = assert(load(([[
      local low, high, few = ...
      return function(i)
        local n = 0
        for k = %s do
          n = n + 1
          i.b = k
          if n == 4 then break end
        end
        i.a = n
      end
    ]]):format(bounds)))(low, high)
    local e, row = world:spawn { I = {} }, { a = 0, b = 0 }
    world:query("I"):run(fn)
    fn(row)
    assert.same(row, world:read(e, "I"), bounds)
    world:despawn(e)
  end

  it("has as many rounds as Lua counts, whatever its bounds", function()
    local ends = { math.mininteger, math.mininteger + 1, -2, -1, 0, 1, 2, math.maxinteger - 1,
      math.maxinteger }
    local world = helper.new_world()
    world:component("I", { "a: i64", "b: i64" })
    local function literal(x)
      return x == math.mininteger and "math.mininteger" or ("%d"):format(x)
    end
    for _, low in ipairs(ends) do
      for _, high in ipairs(ends) do
        rounds(world, "low, high", low, high)
        rounds(world, "low, high, -1", low, high)
        for _, step in ipairs { "", ", 3", ", -1", ", -3", ", 9223372036854775807" } do
          if low ~= math.mininteger and high ~= math.mininteger or #step < 3 then
            rounds(world, literal(low) .. ", " .. literal(high) .. step)
          end
        end
      end
    end
  end)

  it("floors a limit that is a float, or clips it, as Lua does", function()
    local world = helper.new_world()
    world:component("I", { "a: i64", "b: i64" })
    local limits = { 3.5, 3.0, 0.0, -0.0, 0.5, -0.5, -3.5, -3.0, 1e300, -1e300, 1 / 0, -1 / 0,
      0 / 0, 2.0 ^ 63, -2.0 ^ 63, 2.0 ^ 53, 2.0 ^ 63 - 1024 }
    for _, low in ipairs { 1, 3, -2, math.mininteger, math.mininteger + 1, math.maxinteger } do
      for _, limit in ipairs(limits) do
        rounds(world, "low, high", low, limit)
        rounds(world, "low, high, -1", low, limit)
        rounds(world, "low, high + 0.5", low, limit)
      end
    end
    for _, bounds in ipairs { "1, 3.5", "1, 3.0", "-2, 0.25", "10, 4.0, -3", "1, 1e300", "1, 0/0",
      "3, -1.5, -1", "-5, -1e300, -1", "1, 8.0, 2" } do
      rounds(world, bounds)
    end
  end)
end)

describe("a variable of a kernel", function()
  it("is no number where it is a name", function()
    for _, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels }
      world:component("K", { "kind: enum(red, green)", "on: bool", "same: bool" })
      local on, off = world:spawn { K = { on = true } }, world:spawn { K = {} }
      world:system("s", { query = "K", each = function(k)
        k.kind = "red"
        local value = 0
        if k.on then value = k.kind end
        k.same = value == 0
      end })
      world:update(1)
      assert.same({ false, true }, { world:get(on, "K.same"), world:get(off, "K.same") })
    end
  end)
end)

describe("world:add and world:remove in a kernel", function()
  it("take ids and names held by constants, upvalues and fields of tables", function()
    for _, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels, tag = 1 }
      local p, tag = world:component("P", { "x: f32" }), world:tag "T"
      local other = world:component("Other", { "y: f32 = 3" })
      local config = { what = "Other", parts = { id = tag } }
      local e = world:spawn { P = {} }
      local each = assert(load(([[
        local world, tag, config = ...
        return function(p, _, e)
          world:add(e, tag)
          world:add(e, config.what)
          world:remove(e, config.parts.id)
          world:remove(e, %d)
        end
      ]]):format(p)))(world, tag, config)
      world:system("s", { query = "P", each = each, compile = true })
      world:update(1)
      local function has() return { world:has(e, p), world:has(e, tag), world:has(e, other) } end
      assert.same({ false, false, true }, has())
      config.what, config.parts.id = tag + 0.0, other
      world:add(e, "P")
      world:update(1)
      assert.equal(kernels and "vector" or "lua", world:explain("s").tier)
      assert.same({ false, true, false }, has())
      config.parts.id = tag
      world:add(e, "P")
      world:update(1)
      assert.same({ false, false, true }, (function() world:add(e, other) return has() end)())
      config.what = e
      world:add(e, "P")
      helper.has_error(function() world:update(1) end, "is an entity, not a component")
    end
  end)
end)

describe("a line", function()
  -- A long function whose line `at` does something that fails, with gaps that one byte cannot
  -- count and more instructions than Lua notes lines of.
  local function long(statements, at, wrong)
    local text = { "local outside = {} return function(i)" }
    local line = 1
    for n = 1, statements do
      -- One that a byte cannot count, and the greatest that it can.
      local gap = n % 97 == 0 and 200 or n % 89 == 0 and 125
      if gap then
        text[#text + 1] = ("\n"):rep(gap)
        line = line + gap + 1
      end
      line = line + 1
      text[#text + 1] = n == at and wrong or "i.a = i.a + 1"
      if n == at then at = -line end
    end
    text[#text + 1] = "return outside end"
    return assert(load(table.concat(text, "\n"), "=long"))(), -at
  end

  it("is named in functions of any length, when they are refused and when a row fails", function()
    local world = helper.new_world()
    world:component("I", { "a: i64", "b: i64" })
    local e, row = world:spawn { I = {} }, { a = 0, b = 0 }
    local query = world:query "I"
    for _, at in ipairs { 1, 40, 89, 90, 96, 97, 128, 129, 255, 256, 257, 300, 500, 799 } do
      local refused, line = long(800, at, "i.a = {}")
      helper.has_error(function() query:run(refused) end, ("long:%d: "):format(line))
      local failing, where = long(800, at, "i.a = i.a // i.b")
      helper.has_error(function() query:run(failing) end, ("long:%d: "):format(where))
      pcall(failing, row)
      assert.equal(row.a, world:get(e, "I.a"))
      local _, told = pcall(long(800, at, "i.a = nothing.x"), { a = 0 })
      assert.matches(("^long:%d: "):format(where), told)
    end
  end)
end)

describe("a uniform of math", function()
  it("is the function that it was found to be, not what has its name", function()
    local world = helper.new_world()
    world:component("P", { "x: f32", "y: f32" })
    local e = world:spawn { P = { x = 9 } }
    local library = { sqrt = math.sqrt }
    local function root(p) p.y = library.sqrt(p.x) end
    world:query("P"):run(root)
    assert.equal(3.0, world:get(e, "P.y"))
    library.sqrt = function(x) return x + 1 end
    world:query("P"):run(root)
    assert.equal(10.0, world:get(e, "P.y"))
  end)
end)
