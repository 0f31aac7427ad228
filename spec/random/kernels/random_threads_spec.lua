-- Random whole functions on several threads: the same results, order, ids, digests and errors as on
-- one. Work is shared however little it is ("3!").

local generator = require "spec.support.whole_gen"
local helper = require "spec.support.ecs_helper"
local run = require "spec.support.whole_run"

describe("random functions on threads", function()
  local most = helper.by_scale { small = 14, normal = 30, deep = 500 }

  for _, threads in ipairs { "2!", "3!", "8!" } do
    it(("do on %s what they do on one (%d)"):format(threads:sub(1, 1), most), function()
      local told = { shared = 0, alone = 0 }
      for seed = 1, most do
        local program = generator.generate(seed + 5000 * threads:byte())
        program.rows = program.rows + seed * 37 % 900
        local what, units = run.differs_on(program, threads)
        if what then error(run.show(program) .. "\n" .. what, 0) end
        for _, about in ipairs(units) do
          local key = about.alone and "alone" or about.threads and "shared"
          if key then told[key] = told[key] + 1 end
        end
      end
      assert.truthy(told.shared > told.alone / 4, told.shared .. " of " .. told.alone)
    end)
  end

  local totals = helper.by_scale { small = 20, normal = 60, deep = 800 }

  for _, threads in ipairs { "2!", "4!" } do
    it(("come on %s to what one comes to, where rows are left to Lua (%d)"):format(
      threads:sub(1, 1), totals), function()
      for seed = 1, totals do
        local program = generator.generate(seed + 7000 * threads:byte(),
          { "sum", "sum", "min", "max", "where" })
        program.rows = 300 + seed * 370 % 1500
        local what = run.differs_on(program, threads)
        if what then error(run.show(program) .. "\n" .. what, 0) end
      end
    end)
  end

  local starved = helper.by_scale { small = 4, normal = 8, deep = 120 }

  it(("do the same when memory ran out for a moment (%d)"):format(starved), function()
    for seed = 1, starved do
      for at = 1, 3 do
        local program = generator.generate(9000 + seed)
        local what = run.starves(program, (seed * 7 + at * 31) % (at * 40) + 1, "3!")
        if what then error(run.show(program) .. "\n" .. what, 0) end
      end
    end
  end)
end)
