-- What is read of a function's bytecode, whatever Lua it is of: constants, lines, functions inside.

local helper = require "spec.support.ecs_helper"

describe("the bytecode of a function", function()
  local world, query

  before_each(function()
    world = helper.new_world()
    world:component("P", { "x: f64", "n: i64" })
    for i = 1, 9 do world:spawn { P = { i, i } } end
    query = world:query "P"
  end)

  -- Runs a function with kernels; returns what world:explain tells of it.
  local function explain(text)
    local fn = assert(load(text, "=k"))()
    query:each(fn)
    return world:explain(fn)
  end

  local function many(statement)
    local lines = {}
    for i = 1, 400 do lines[i] = statement:format(i) end
    return table.concat(lines, "\n")
  end

  it("has the lines of long functions, and of those whose lines are far apart", function()
    local long = "return function(p)\n" .. many "p.x = p.x + %d.5"
    assert.are.equal("vector", explain(long .. " end").tier)
    for _, gap in ipairs { 0, 100, 127, 128, 129, 1000 } do
      local refused = ("\n"):rep(gap) .. "local s = 2 .. p.n end"
      local reason = explain("return function(p) p.x = 1\n" .. refused).reason
      assert.are.equal(("k:%d: it builds a string"):format(2 + gap), reason:match "^.-string")
      reason = explain(long .. "\n" .. refused).reason
      assert.are.equal(("k:%d: it builds a string"):format(402 + gap), reason:match "^.-string")
    end
  end)

  it("is read past long functions inside", function()
    local inner = "local function f(y) " .. many "y = y .. %d" .. ("\n"):rep(300) .. "return y end"
    for padding = 0, 5 do
      local reason = explain(("return function(p) p.n = 1%s\n%s\nlocal s = 'a' .. p.x end"):format(
        ("0"):rep(padding), inner)).reason
      assert.truthy(reason:find "^k:70[12]: it ", reason)   -- 701 where it stays Lua for `f`
    end
  end)

  it("has integers and floats of all sizes", function()
    for _, number in ipairs { 0, 1, -1, 127, 128, -128, -129, 65535, 65536, -65536, 123456789012,
                              1 << 62, math.maxinteger, -math.maxinteger, math.mininteger } do
      local about = explain(("return function(p) p.n = 0x%x p.x = %d.25 end"):format(number,
        number % 1000))
      assert.are.equal("vector", about.tier)
      for p in query:each() do
        assert.are.equal(number, p.n)
        assert.are.equal(number % 1000 + 0.25, p.x)
      end
    end
  end)
end)
