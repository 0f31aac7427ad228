-- Random whole functions that mix all that kernels can do, in every form: with kernels and without
-- the same rows in the same order, the same cells and the same errors.

local generator = require "spec.support.whole_gen"
local helper = require "spec.support.ecs_helper"
local run = require "spec.support.whole_run"
local shrink = require "spec.support.whole_shrink"

describe("random whole functions", function()
  local most = helper.by_scale { small = 25, normal = 80, deep = 1200 }

  it(("do what plain Lua does (%d)"):format(most), function()
    local told, raised, steps = { vector = 0, lua = 0, refused = 0, none = 0 }, 0, 0
    for seed = 1, most do
      local program = generator.generate(seed)
      local what, tiers, said = run.differs(program)
      if what then error(shrink.told(program, run), 0) end
      for _, about in ipairs(tiers) do told[about.tier] = told[about.tier] + 1 end
      for _, one in ipairs(said) do
        steps = steps + 1
        if one:find "^[^|]*whole:" then raised = raised + 1 end
      end
    end
    assert.truthy(told.vector > 2 * told.lua, "too many of them stay in Lua")
    assert.equal(0, told.refused)
    assert.truthy(raised > steps / 50 and raised < steps / 5, raised)
  end)

  local starved = helper.by_scale { small = 4, normal = 10, deep = 150 }

  it(("do the same when memory ran out for a moment (%d)"):format(starved), function()
    local failures = 0
    for seed = 1, starved do
      for at = 1, 3 do
        local program = generator.generate(1000 + seed)
        local what, failed = run.starves(program, (seed * 7 + at * 31) % (at * 40) + 1)
        if what then error(run.show(program) .. "\n" .. what, 0) end
        failures = failures + (failed and 1 or 0)
      end
    end
    assert.truthy(failures > starved, failures)
  end)

  it("are made small: what a difference needs is left", function()
    local function fails(program) return run.show(program):find("world:add(", 1, true) end
    local seed = 1
    while not fails(generator.generate(seed)) do seed = seed + 1 end
    local small = run.show(shrink.program(generator.generate(seed), fails))
    assert.truthy(#small < 200, small)
    assert.truthy(small:find("world:add(", 1, true))
  end)
end)
