-- Random rules as people write them, which read what they write: with kernels and without the same
-- cells, script cells, events, errors and ids, on one thread and on several.
--   ECS_SPEC_SEEDS=1-5000    other seeds
--   ECS_SPEC_REASONS=1       prints which statements were compiled, and why others were not

local generator = require "spec.support.rule_gen"
local helper = require "spec.support.ecs_helper"
local run = require "spec.support.rule_run"
local shrink = require "spec.support.rule_shrink"

describe("random rules in any order", function()
  local first, most, asked = helper.seeds { small = 40, normal = 140, deep = 6000 }

  it(("do what they do in plain Lua (%d)"):format(most), function()
    local told = run.seeds(first, most, function(what) error(what, 0) end)
    if os.getenv "ECS_SPEC_REASONS" then print("\n" .. run.table_of(told)) end
    if asked then return end
    assert.truthy(told.vector > most / 4, "too many of them stay in Lua")
    assert.truthy(told.raised > told.quiet / 50 and told.raised < told.quiet / 2,
      told.raised .. " raised, " .. told.quiet .. " did not")
  end)

  it("show each fault that is made on purpose", function()
    for fault in pairs(run.faults) do
      for seed = 1, 3 do
        local program = generator.generate(seed)
        assert.truthy(run.differ(run.play(program, true, fault), (run.play(program, false))), fault)
      end
    end
  end)

  -- What a program does without one of its statements.
  it("show most statements that are left out", function()
    local seen = 0
    for seed = 1, 40 do
      local program = generator.generate(seed)
      local whole = run.play(program, false)
      table.remove(program.units[1].body, 1)
      if run.differ(run.play(program, true), whole) then seen = seen + 1 end
    end
    assert.truthy(seen > 20, seen .. " of 40")
  end)

  it("are made small: what a difference needs is left", function()
    local function fails(program)
      local text = run.show(program)
      return text:find("n = n + 1\n", 1, true) and text:find("with.*observer")
        and not text:find("loop of", 1, true)   -- which has more lines in any case
    end
    local seed = 1
    while not fails(generator.generate(seed)) do seed = seed + 1 end
    local small = run.show(shrink.program(generator.generate(seed), fails))
    assert.truthy(#small < 200, small)
  end)
end)
