local helper = require "spec.support.ecs_helper"
local rules = require "spec.support.rule_run"
local runs = require "spec.support.kernel_twins"

-- spec/deep has many more.
local scale = { small = { 40, 20 }, deep = { 2000, 300 } }
local count, rows = table.unpack(scale[helper.scale()] or { 200, 100 })
local plain = helper.by_scale { small = 10, normal = 75, deep = 200 }

local function fail(what) error(what, 0) end

describe("random kernels", function()
  it(("equal their rounded plain-Lua twins bit for bit (%d kernels x %d rows)"):format(count,
    rows), function()
    assert.has_no.errors(function() runs.hash(1, count, rows) end)
  end)

  it(("over f64 and integers equal themselves in plain Lua, in every form (%d)"):format(plain),
    function()
      local told = rules.seeds(1, plain, fail, "numbers")
      assert.truthy(told.vector > (told.lua or 0), "too many of them stay in Lua")
      assert.truthy(told.raised < told.quiet / 2, "too many of them raise")
      for _, form in ipairs { "each", "strict", "where", "sum", "min", "max", "mapped" } do
        assert.truthy(plain < 20 or told[form] and told[form] > plain / 20, form)
      end
    end)

  local shared = helper.by_scale { small = 3, normal = 8, deep = 100 }

  it(("equal themselves in plain Lua where threads share rows that are left to Lua (%d)")
    :format(shared), function()
    for i, threads in ipairs { "2!", "4!" } do
      local told = rules.seeds(3000 * i + 1, 3000 * i + shared, fail, "wide", threads)
      assert.truthy(told.vector > (told.lua or 0), "too many of them stay in Lua")
    end
  end)

  it("give the same bits on every instruction set", function()
    helper.needs_processes(pending)
    local kernels = math.min(count, 500)
    local lowest = runs.hash_on("none", 1, 1, 1, "alone"):match "it must be (%w+)"
    local expected = runs.hash_on(lowest, 50001, kernels, rows, "beside")
    assert.matches("^%x+\n$", expected)
    for _, isa in ipairs { "avx2", "avx512" } do
      assert.equal(expected, runs.hash_on(isa, 50001, kernels, rows, "alone"))
    end
  end)

  it("are told apart from a twin that rounds otherwise", function()
    local generator = require "spec.support.kernel_gen"
    local round, found = generator.round, false
    local rounds = round(0.1) ~= 0.1
    generator.round = rounds and function(x) return x end or helper.f32
    for seed = 1, 60 do
      if not runs.compare(seed, 60) then found = true end
    end
    generator.round = round
    assert.is_true(found)
  end)
end)
