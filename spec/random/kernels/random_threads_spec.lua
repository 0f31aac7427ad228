-- Random whole functions on several threads: the same results, order, ids, digests and errors as on
-- one. Work is shared however little it is ("3!").

local generator = require "spec.support.rule_gen"
local helper = require "spec.support.ecs_helper"
local run = require "spec.support.rule_run"

local function fail(what) error(what, 0) end

describe("random functions on threads", function()
  local most = helper.by_scale { small = 14, normal = 30, deep = 500 }

  for _, threads in ipairs { "2!", "3!", "8!" } do
    it(("do on %s what they do on one (%d)"):format(threads:sub(1, 1), most), function()
      local first = 5000 * threads:byte()
      local told = run.seeds(first + 1, first + most, fail, "apart", threads)
      assert.truthy(told.shared > (told.alone or 0) / 4, told.shared)
    end)
  end

  local totals = helper.by_scale { small = 20, normal = 60, deep = 800 }

  for _, threads in ipairs { "2!", "4!" } do
    it(("come on %s to what one comes to, where rows are left to Lua (%d)"):format(
      threads:sub(1, 1), totals), function()
      local first = 7000 * threads:byte()
      run.seeds(first + 1, first + totals, fail, "totals", threads)
    end)
  end

  local starved = helper.by_scale { small = 4, normal = 8, deep = 120 }

  it(("do the same when memory ran out for a moment (%d)"):format(starved), function()
    for seed = 1, starved do
      for at = 1, 3 do
        local program = generator.generate(9000 + seed, "apart")
        local what = run.starves(program, (seed * 7 + at * 31) % (at * 40) + 1, "3!")
        if what then error(run.show(program) .. "\n" .. what, 0) end
      end
    end
  end)
end)
