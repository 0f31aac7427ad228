-- ecs.math: its results, with the same bits in plain Lua and in kernels, and on every machine by a
-- digest that spec/c/kernel/test_math64.c has, too; what explain says about functions of math.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local math, portable = math, ecs.math
local two_arguments = { atan = true, mod = true, pow = true }

local names = {}
for name in pairs(portable) do names[#names + 1] = name end
table.sort(names)

local function bits(x)
  return string.unpack("<i8", string.pack("<d", x))
end

local function text(x)
  return x ~= x and "nan" or ("%a"):format(x)
end

-- ---- arguments, as test_math64.c draws them -----------------------------------------------

local ARGUMENTS, BLOCK = 4096, 1024
local state

local function random_bits()   -- SplitMix64
  state = state + 0x9e3779b97f4a7c15
  local z = (state ~ state >> 30) * 0xbf58476d1ce4e5b9
  z = (z ~ z >> 27) * 0x94d049bb133111eb
  return z ~ z >> 31
end

local function modulo(x, by)   -- of an unsigned x
  return ((x >> 1) % by * 2 + (x & 1)) % by
end

local function argument(name, i)
  local kind, r, all = i // BLOCK % 4, random_bits(), random_bits()
  if kind < 3 then
    local least, spread = 20, 24
    if kind == 2 then least, spread = 60, 100 end
    all = (all & 0x800fffffffffffff) | (1023 - least + modulo(r, spread)) << 52
  end
  local x = string.unpack("<d", string.pack("<i8", all))
  return name == "pow" and kind < 2 and math.abs(x) or x
end

local function arguments(name)
  state = 1
  local xs, ys = {}, {}
  for i = 1, ARGUMENTS do
    xs[i] = argument(name, i - 1)
    ys[i] = argument(name, i - 1)
  end
  return xs, ys
end

local function call(name, x, y)
  if two_arguments[name] then return portable[name](x, y) end
  return portable[name](x)
end

-- ---- the tests ----------------------------------------------------------------------------

describe("ecs.math", function()
  it("has twelve functions, and leaves math as it is", function()
    assert.are.equal("acos asin atan cos exp log log10 log2 mod pow sin tan",
      table.concat(names, " "))
    assert.are_not.equal(math.sin, portable.sin)
  end)

  it("gives floats, also of integers", function()
    for _, name in ipairs(names) do
      assert.are.equal("float", math.type(call(name, 1, 1)))
      assert.are.equal(text(call(name, 1.0, 3.0)), text(call(name, 1, 3)))
    end
  end)

  it("takes the arguments that math takes, and says which is wrong", function()
    assert.are.equal(portable.atan(3, 1), portable.atan(3))
    assert.are.equal(portable.atan(3, 1), portable.atan(3, nil))
    assert.are.equal(0.0, portable.log(1, 10))
    local function complaint(name, given)
      local source = "local m = ... local x = m.%s(%s) return x"
      return select(2, pcall(load(source:format(name, given)), portable)):match "bad .*"
    end
    for _, name in ipairs(names) do
      assert.are.equal(("bad argument #1 to '%s' (number expected, got no value)"):format(name),
        complaint(name, ""))
      if name == "mod" or name == "pow" then
        assert.are.equal(("bad argument #2 to '%s' (number expected, got table)"):format(name),
          complaint(name, "1, {}"))
      end
    end
  end)

  it("is exact where the result is", function()
    for e = -1074, 1023 do assert.are.equal(e, portable.log2(2.0 ^ e)) end
    for e = 0, 22 do assert.are.equal(e, portable.log10(tonumber("1e" .. e))) end
    for x = -9, 9 do
      assert.are.equal(x * x * x, portable.pow(x, 3))
      assert.are.equal(math.fmod(x, 4.0), portable.mod(x, 4))
    end
    assert.are.equal("-0x0p+0", text(portable.mod(-8, 4)))
    assert.are.equal("-0x0p+0", text(portable.sin(-0.0)))
    assert.are.equal(math.pi, portable.atan(0.0, -1))
    assert.are.equal(1.0, portable.pow(0 / 0, 0))
    assert.are.equal(-1 / 0, portable.log(-0.0))
  end)

  it("is next to what the C library gives", function()
    if package.config:sub(1, 1) == "\\" then
      pending "Windows' own cos is wrong from the 11th digit on, for large angles"
    end
    local like = { log2 = function(x) return math.log(x, 2) end, mod = math.fmod,
      log10 = function(x) return math.log(x, 10) end, pow = function(x, y) return x ^ y end }
    for _, name in ipairs(names) do
      local fn, xs, ys = like[name] or math[name], arguments(name)
      for i = 1, ARGUMENTS do
        local got = call(name, xs[i], ys[i])
        local other = fn(xs[i], two_arguments[name] and ys[i] or nil)
        if not (got ~= got and other ~= other or math.abs(bits(got) - bits(other)) <= 1) then
          error(("%s(%a, %a) is %a, and %a in C"):format(name, xs[i], ys[i], got, other))
        end
      end
    end
  end)

  -- Of all machines, compilers and versions of Lua.
  local digests = {
    acos = 0x642cd3642095f5da, asin = 0x5654cd8c99e5ff53, atan = 0xdaec84cb95984430,
    cos = 0x7f1080ea5357a500, exp = 0x438d7808a1cbe6d0, log = 0xc9ab0db819693cf7,
    log10 = 0x0af4df8ffcf79735, log2 = 0x6759cb9d1468fd4f, mod = 0x220baabaa1c94c4c,
    pow = 0x87a20040ac866205, sin = 0x3210cb94319226fd, tan = 0x42b2f7fb3459c1b1,
  }

  for _, name in ipairs(names) do
    it("has one digest everywhere: " .. name, function()
      local xs, ys = arguments(name)
      local digest = 0xcbf29ce484222325
      for i = 1, ARGUMENTS do
        digest = (digest ~ bits(call(name, xs[i], ys[i]))) * 0x100000001b3
        digest = digest ~ digest >> 32
      end
      assert.are.equal(("%016x"):format(digests[name]), ("%016x"):format(digest))
    end)
  end

  -- Whether rows of `fields` in a compiled function get the bits that plain Lua gives. `source` is
  -- what is stored in v.z; %s is the function.
  local function same_as_lua(name, fields, source)
    local world = helper.new_world()
    world:component("V", { "x: " .. fields, "y: " .. fields, "z: " .. fields })
    local ids, xs, ys = {}, arguments(name)
    for i = 1, ARGUMENTS do ids[i] = world:spawn { V = { x = xs[i], y = ys[i] } } end
    local fn = assert(load(("local ecs, fn, three = ... return function(v) v.z = %s end")
      :format(source:format(name))))(ecs, portable[name], 3)
    world:query("V"):run(fn)
    local row = {}
    local single = fields == "f32" and function(x)
      return string.unpack("<f", string.pack("<f", x))
    end or function(x) return x end
    for i = 1, ARGUMENTS do
      local x, y, z = world:get(ids[i], "V")
      row.x, row.y = x, y
      fn(row)
      local want = single(row.z)
      if text(z) ~= text(want) then
        error(("%s of %a, %a: %a in a kernel, and not %a"):format(name, x, y, z, want))
      end
    end
    world:close()
  end

  for _, name in ipairs(names) do
    it("gives the same in kernels: " .. name, function()
      local two = two_arguments[name]
      for _, fields in ipairs { "f64", "f32" } do
        same_as_lua(name, fields, two and "ecs.math.%s(v.x, v.y)" or "ecs.math.%s(v.x)")
        same_as_lua(name, fields, two and "fn(v.y, three)" or "fn(three)")
        if two then same_as_lua(name, fields, "fn(0.5, v.x)") end
      end
    end)
  end

  it("takes integers, and one argument of atan, in kernels", function()
    local world = helper.new_world()
    world:component("N", { "n: i32", "a: f64", "b: f64" })
    local e = world:spawn { N = { n = -7 } }
    world:query("N"):run(function(v) v.a, v.b = ecs.math.mod(v.n, 4), ecs.math.atan(v.n) end)
    local _, a, b = world:get(e, "N")
    assert.are.same({ -3.0, portable.atan(-7) }, { a, b })
    assert.error_matches(function()
      world:query("N"):run(function(v) v.a = ecs.math.pow(v.a) end)
    end, "it calls ecs.math.pow without a number", 1, true)
  end)
end)

describe("explain", function()
  local function explained(each)
    local world = helper.new_world()
    world:component("V", { "x: f64", "y: f64", "z: f32" })
    world:spawn { V = { 1, 1, 1 } }
    world:system("s", { query = "V", compile = true, each = each })
    world:update(1)
    local told = world:explain "s"
    return told.portable, told.instead
  end

  it("marks functions that use the C library, and says what to write", function()
    local portables, instead = explained(function(v)
      v.x = math.sin(v.x) + math.cos(v.y) + math.tan(v.z) + math.asin(v.y) + math.acos(v.y)
      v.y = math.atan(v.x) + math.exp(v.y) + math.log(v.y) + math.log(v.y, 2) + math.log(v.y, 10)
        + v.x ^ 0.5
    end)
    assert.is_false(portables)
    assert.are.equal("write ecs.math.acos for math.acos, ecs.math.asin for math.asin, "
      .. "ecs.math.atan for math.atan, ecs.math.cos for math.cos, ecs.math.exp for math.exp, "
      .. "ecs.math.log for math.log, ecs.math.log10 for math.log(x, 10), "
      .. "ecs.math.log2 for math.log(x, 2), ecs.math.pow for ^, ecs.math.sin for math.sin, "
      .. "ecs.math.tan for math.tan", instead)
    assert.are.same({ false, "write ecs.math.pow for ^" },
      { explained(function(v) v.x = v.y ^ 2 end) })
  end)

  it("marks no others", function()
    assert.are.same({}, { explained(function(v)
      v.x = ecs.math.sin(v.x) + math.sqrt(v.y) + math.max(v.y, 1) - math.floor(v.x)
      v.z = math.abs(v.z)
    end) })
    -- Where all is done in the order of rows, there are no f32 steps.
    if os.getenv "ECS_KERNELS" ~= "ordered" then
      assert.are.same({}, { explained(function(v) v.z = math.exp(v.z) + math.log(v.z) end) })
    end
  end)
end)
