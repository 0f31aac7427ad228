-- Functions that compile: what a kernel means, in both tiers where they agree.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local kernel_rows = require "spec.support.kernel_rows"

local math = math -- kernels reach globals by raw access, and a spec's are behind a metatable
local new_world, both = kernel_rows.new_world, kernel_rows.both

-- Integers of both signs, and zeros, in all pairs that functions tell apart.
local tried = agree.scene {
  fill = function(world)
    world:component("I", { "a: i64", "b: i64", "r: i64" })
    for _, pair in ipairs { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 }, { -1, 2 }, { 9, 3 } } do
      world:spawn { I = { a = pair[1], b = pair[2] } }
    end
  end,
  query = "I",
  updates = 1,
}

-- A system that has to compile; returns a function that runs it once.
local function compiled(world, query, each, dt)
  world:system("s", { query = query, each = each, compile = true })
  return function()
    world:update(dt or 0.5)
    assert.equal("vector", world:explain("s").tier)
  end
end

-- What fn leaves in I.r for each pair { a, b }, by q:run.
local function results(world, pairs_of, fn)
  local ids, list = {}, {}
  for i, pair in ipairs(pairs_of) do
    ids[i] = world:spawn { I = { a = pair[1], b = pair[2] } }
  end
  world:query("I"):run(fn)
  for i, id in ipairs(ids) do
    list[i] = world:get(id, "I.r")
    world:despawn(id)
  end
  return list
end

describe("products that are added", function()
  it("are those of Lua, squares included", function()
    local functions = {
      function(x, y) return x * x + y * y end, function(x, y) return x * x - y * y end,
      function(x, y) return x * y + y * y end, function(x, y) return x * x - x * y end,
      function(x, y) return x * y - y * x end, function(x, y) return x * x + y end,
      function(x, y) return x - y * y end, function(x, y) return x * y - x end,
    }
    for at, fn in ipairs(functions) do
      for _, fields in ipairs { "P.x, P.y", "D.v, D.w", "I.a, I.b" } do
        local lists = {}
        both(function(world)
          local e, list = world:spawn { P = {}, D = {}, I = {} }, {}
          for i, pair in ipairs { { 3, 4 }, { -1, 7 }, { 0, 5 }, { 1000, -999 } } do
            for j, field in ipairs { fields:match "(%S+), (%S+)" } do
              world:set(e, field, pair[j])
            end
            world:query(fields):map(fn)
            list[i] = world:get(e, (fields:match "%S+[xva]"))
            assert.equal(fn(pair[1], pair[2]), list[i])
          end
          lists[#lists + 1] = list
        end)
        assert.same(lists[2], lists[1], "function " .. at)
      end
    end
  end)
end)

describe("a call of a Lua function", function()
  it("gives as many values as are asked for", function()
    local function none() end
    local function one(x) return x + 1 end
    local function two(x) return x, x * 2 end
    local functions = {
      function(i)
        do local s, t = i.a, 8 i.b = s + t end
        local a, b = one(i.a)
        i.r = b == nil and a or 0
      end,
      function(i)
        do local s, t = i.a, i.a i.b = s + t end
        local a, b = none(i.a)
        i.r = b == nil and a == nil and 10 or 20
      end,
      function(i) local a, b = two(i.a) i.r = a + b end,
      function(i) local a = two(i.a) local b = one(a) i.r = a * 100 + b end,
      function(i) local a, b, c = 9, two(i.a) i.r = a + b + c end,
      function(i) i.r = one((two(i.a))) end,
      function(i) i.r = math.max(two(i.a)) end,
      function(i) i.r = math.min(7, two(i.a)) end,
    }
    for _, fn in ipairs(functions) do tried:both(function() return fn end) end
  end)

  it("may give more values on one way than on the other, where these are nil", function()
    local functions = {
      function(v) if v > 0 then return 10, nil end return 20 end,
      function(v) if v > 0 then return 10 end return 20, nil end,
      function(v) if v > 0 then return 10, 7 end return 20 end,
      function(v) if v > 0 then return 10 end return 20, 8 end,
      function(v) if v > 0 then return end return 20, 8 end,
      function(v) if v > 0 then return 10, 7 end return nil, 8 end,
      function(v, w) if v > 0 then return w, v end end,
    }
    for at, fn in ipairs(functions) do
      local lists = {}
      both(function(world)
        local one, other = world:spawn { D = { 1, 5 } }, world:spawn { D = { -1, 6 } }
        world:system("s", { query = "D.v, D.w", map = fn })
        world:update(0)
        local list = { world:get(one, "D") }
        table.move({ world:get(other, "D") }, 1, 2, 3, list)
        lists[#lists + 1] = list
      end)
      assert.same(lists[2], lists[1], "function " .. at)
    end
  end)
end)

describe("a function of more constants than an instruction can name", function()
  it("has each of them", function()
    local lines = { "return function(i) i.r = i.a goto over do local v" }
    for n = 1, 131080 do lines[n + 1] = ("v = %d.5"):format(n) end
    lines[#lines + 1] = "end ::over:: do local v, w = 1.5, 200000.5"
    lines[#lines + 1] = "if i.a > 0 then w = 300000.5 end"
    lines[#lines + 1] = "i.r = (w - v) // 1 end end"
    local fn = assert(load(table.concat(lines, "\n")))()
    both(function(world)
      assert.same({ 199999, 299999 }, results(world, { { 0, 0 }, { 1, 0 } }, fn))
    end)
  end)
end)

describe("a local that is of one kind on one way and of another on the other", function()
  it("is what Lua makes of it", function()
    local function noop() end
    local functions = {
      function(i) local v if i.a > 0 then v = 1 end i.r = v and 10 or 20 end,
      function(i) local v = 1 if i.a > 0 then v = nil end i.r = v and 10 or 20 end,
      function(i) local v = i.b if i.a > 0 then v = nil end i.r = v == nil and 10 or 20 end,
      function(i) local v = true if i.a > 0 then v = nil end i.r = v == nil and 10 or 20 end,
      function(i) local v = nil if i.a > 0 then v = false end i.r = v == nil and 10 or 20 end,
      function(i) local v = i if i.a > 0 then v = nil end i.r = v and 10 or 20 end,
      function(i) local v = "text" if i.a > 0 then v = nil end i.r = v and 10 or 20 end,
      function(i) local v = nil if i.a > 0 then v = "text" end i.r = v == "text" and 10 or 20 end,
      function(i) local v = i.b if i.a > 0 then v = "text" end i.r = v == "text" and 10 or 20 end,
      function(i) local v = noop if i.a > 0 then v = nil end i.r = v and 10 or 20 end,
      function(i) local v = nil if i.a > 0 then v = noop end i.r = v and 10 or 20 end,
      function(i) local v = 2 if i.a > 0 then v = i end i.r = v == 2 and 10 or 20 end,
      function(i) local v = i if i.a > 0 then v = 2 end i.r = v == 2 and 10 or 20 end,
      function(i)
        local v if i.a > 0 then v = 1 elseif i.b > 0 then v = true end
        i.r = v == nil and 10 or v == true and 20 or 30
      end,
    }
    for _, fn in ipairs(functions) do
      tried:both(function() return fn end, { tier = false })
    end
  end)
end)

describe("a resource in a kernel", function()
  it("may be taken by its name inside the function", function()
    both(function(world, kernels)
      world:resource("Wind", { "x: f64", "m: f64[2]" })
      local id = world:component("Rain", { "y: i32 = 3" })
      local e = world:spawn { D = { v = 1 } }
      local rain = { id = id }
      world:system("s", { query = "D", each = function(d)
        d.v = d.v + world:res("Wind").x + world:res(rain.id).y
        d.w = world:res "Wind".m[2]
      end })
      helper.has_error(function() world:update(0) end, "'Rain' is not a resource")
      world:resource "Rain"
      world:res("Wind").x, world:res("Wind").m[2] = 0.5, 7
      world:update(0)
      world:res("Rain").y = -1
      world:update(0)
      assert.same({ 4.0, 7.0 }, { world:get(e, "D") })
      assert.equal(kernels and "vector" or "lua", world:explain("s").tier)
    end)
  end)
end)

describe("uniforms", function()
  it("are read again before each run: upvalues, globals and fields reached by names", function()
    local world = new_world()
    local globals, config = { speed = 3 }, { physics = { gravity = 10 } }
    local each, set_step = load([[
      local config = ...
      local step = 1
      return function(p)
        p.x = p.x + step
        p.y = config.physics.gravity + speed
      end, function(value) step = value end
    ]], "=tuning", "t", globals)(config)
    local e = world:spawn { P = {} }
    local run = compiled(world, "P", each)
    run()
    assert.same({ 1.0, 13.0 }, { world:get(e, "P") })
    set_step(5)
    config.physics.gravity, globals.speed = 20, 4
    run()
    assert.same({ 6.0, 24.0 }, { world:get(e, "P") })
    config.physics = { gravity = 30 }
    run()
    assert.same({ 11.0, 34.0 }, { world:get(e, "P") })
    assert.equal(1, world:explain("s").compilations)
  end)

  it("may become what cannot be compiled, and numbers again", function()
    local world = new_world()
    local step = 1
    local e = world:spawn { D = {} }
    world:system("s", { query = "D", each = function(d) d.v = d.v + step end })
    world:update(1)
    assert.equal("vector", world:explain("s").tier)
    step = "2"
    world:update(1)
    assert.equal("lua", world:explain("s").tier)
    assert.equal(3.0, world:get(e, "D.v"))
  end)

  it("are dt, the time step, as a float", function()
    local world = new_world()
    local e = world:spawn { D = {} }
    world:query("D"):run(function(d, dt) d.v = dt // 2 d.w = dt / 2 end, 3)
    assert.same({ 1.0, 1.5 }, { world:get(e, "D") })
  end)
end)

describe("arithmetic", function()
  local integers = { math.mininteger, -7, -2, -1, 1, 2, 7, 63, 64, math.maxinteger }

  it("means what Lua means by it of NaN, infinities, zeros and the ends of the integers", function()
    local floats = { 0.0, -0.0, 1.0, -2.5, 3.0, 1 / 0, -1 / 0, 0 / 0, 5e-324, 1.7e308, 2.0 ^ 53,
      -2.0 ^ 63, 2.0 ^ 63 }
    local ops = { "a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ^ b", "-a",
      "(a < b) and 1.0 or 2.0", "(a <= b) and 1.0 or 2.0", "(a == b) and 1.0 or 2.0",
      "(a > b) and 1.0 or 2.0", "(a >= b) and 1.0 or 2.0", "(a ~= b) and 1.0 or 2.0" }
    local whole = { "a & b", "a | b", "a ~ b", "a << b", "a >> b", "~a" }
    local function bits(x) return x ~= x and "nan" or string.pack("n", x) end
    local world = new_world()
    world:component("R", { "r: f64" })
    -- The operation over all pairs of two lists, by a kernel and by plain Lua.
    local function compare(op, component, fields, xs, ys)
      local body = ("local a, b = d.%s, d.%s r.r = %s"):format(fields[1], fields[2], op)
      local fn = load(("return function(d, r) %s end"):format(body))()
      local ids, wanted = {}, {}
      for _, x in ipairs(xs) do
        for _, y in ipairs(ys) do
          local row = { r = 0 }
          if pcall(fn, { [fields[1]] = x, [fields[2]] = y }, row) then
            local values = { [fields[1]] = x, [fields[2]] = y }
            ids[#ids + 1] = world:spawn { [component] = values, R = {} }
            wanted[#wanted + 1] = bits(row.r * 1.0)
          end
        end
      end
      world:query(component .. ", R"):run(fn)
      for i, e in ipairs(ids) do
        assert(bits(world:get(e, "R.r")) == wanted[i], ("%s, %s %d"):format(op, component, i))
        world:despawn(e)
      end
    end
    for _, op in ipairs(ops) do
      compare(op, "D", { "v", "w" }, floats, floats)
      compare(op, "I", { "a", "b" }, integers, integers)
    end
    for _, op in ipairs(whole) do compare(op, "I", { "a", "b" }, integers, integers) end
  end)

  it("takes a u64 for the integer with its bits", function()
    local min, max = math.mininteger, math.maxinteger
    local rows = {    -- a value, and what it becomes
      { 0, { -1, true, true, 0, 0.0 } }, { 1, { 0, false, false, 0, 1.0 } },
      { max, { max - 1, false, false, max, 2.0 ^ 63 } },
      { min, { max, true, false, 3 << 62, -2.0 ^ 63 } }, { -1, { -2, true, false, -1, -1.0 } },
    }
    both(function(world)
      world:component("U", { "u: u64", "less: bool", "below: bool", "bits: u64", "f: f64" })
      world:resource("Mask", { "high: u64 = 0xFF00000000000000" })
      local mask, query = world:res "Mask", world:query "U"
      for _, row in ipairs(rows) do row.e = world:spawn { U = { u = row[1] } } end
      query:run(function(u)
        u.less, u.below, u.bits, u.f = u.u < 1, math.ult(u.u, 1), u.u >> 1 | u.u & mask.high, u.u
        u.u = u.u - 1
      end)
      for _, row in ipairs(rows) do assert.same(row[2], { world:get(row.e, "U") }) end
      helper.has_error(function() query:run(function(u) u.u = u.f end) end, "U.u",
        "is u64: 9.22337204e18 is out of range")
      assert.equal(1, (world:get(rows[2].e, "U.u")))
    end)
  end)

  it("compares f32 with what f32 cannot hold exactly, without leaving f32", function()
    local values = { 0.1, 16777216, 16777218, 3.4028234663852886e38, 1 / 0, -1 / 0, 0.0, 0 / 0 }
    local limits = { 0.1, 16777217, 16777217.0, 1e300, -1e300, 5e-324, -5e-324, 1 / 0, 0 / 0,
      math.maxinteger, math.mininteger, -16777217 }
    local function bits(x, limit)
      return (x < limit and 1 or 0) + (x <= limit and 2 or 0) + (x > limit and 4 or 0)
        + (x >= limit and 8 or 0) + (x == limit and 16 or 0) + (x ~= limit and 32 or 0)
    end
    local world = new_world()
    for _, value in ipairs(values) do world:spawn { P = { x = value } } end
    local limit = 0
    local run = compiled(world, "P", function(p)
      local n = 0
      if p.x < limit then n = n + 1 end
      if p.x <= limit then n = n + 2 end
      if p.x > limit then n = n + 4 end
      if p.x >= limit then n = n + 8 end
      if p.x == limit then n = n + 16 end
      if p.x ~= limit then n = n + 32 end
      p.y = n
    end)
    for i = 1, #limits do
      limit = limits[i]
      run()
      assert.not_matches("f64.f32", world:explain("s").program)
      for p in world:query("P"):each() do
        assert.equal(bits(p.x, limit), p.y, ("%.17g with %s"):format(p.x, limit))
      end
    end
  end)

  it("rounds each step to f32 where f32 meets f32, literals and uniforms", function()
    local world, f32 = new_world(), helper.f32
    local third = 1 / 3
    local e = world:spawn { P = { x = 16777216, y = 0.1 } }
    local x, y = world:get(e, "P")
    world:query("P"):run(function(p)
      p.x = p.x + 1 - 16777216
      p.y = p.y * third * p.y
    end)
    assert.equal(0.0, world:get(e, "P.x"))
    local rounded = f32(f32(y * f32(third)) * y)
    assert.not_equal(rounded, f32(y * third * y))
    assert.equal(rounded, world:get(e, "P.y"))
    assert.equal(1.0, x + 1 - 16777216)
  end)
end)
