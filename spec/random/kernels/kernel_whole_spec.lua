-- Random functions that mix all that kernels can do, in every form: with kernels and without the
-- same rows in the same order, the same cells and the same errors.

local generator = require "spec.support.rule_gen"
local helper = require "spec.support.ecs_helper"
local run = require "spec.support.rule_run"

describe("random whole functions", function()
  local most = helper.by_scale { small = 16, normal = 65, deep = 1000 }

  it(("do what plain Lua does (%d)"):format(most), function()
    local told = run.seeds(1, most, function(what) error(what, 0) end, "apart")
    assert.truthy(told.vector > 2 * (told.lua or 0), "too many of them stay in Lua")
    assert.is_nil(told.refused)
    assert.truthy(told.raised > told.quiet / 50 and told.raised < told.quiet / 4, told.raised)
  end)

  local starved = helper.by_scale { small = 4, normal = 8, deep = 150 }

  it(("do the same when memory ran out for a moment (%d)"):format(starved), function()
    local failures = 0
    for seed = 1, starved do
      for at = 1, 3 do
        local program = generator.generate(1000 + seed, "apart")
        local what, failed = run.starves(program, (seed * 7 + at * 31) % (at * 40) + 1)
        if what then error(run.show(program) .. "\n" .. what, 0) end
        failures = failures + (failed and 1 or 0)
      end
    end
    assert.truthy(failures > starved, failures)
  end)
end)
