-- Random phases of systems on several threads: digests, errors, runs and marks of changes are those
-- of one. Systems run side by side however little they have to do ("3!").

local generator = require "spec.support.phase_gen"
local helper = require "spec.support.ecs_helper"

describe("random phases of systems (C33, C47)", function()
  local most = helper.by_scale { small = 15, normal = 30, deep = 500 }

  for _, threads in ipairs { "2!", "3!", "8!" } do
    it(("do on %s threads what they do on one (%d)"):format(threads:sub(1, 1), most), function()
      local together, count = 0, 0
      for seed = 1, most do
        local program = generator.generate(seed + 5000 * threads:byte())
        local what, ran = generator.differs_on(program, threads)
        if what then error(generator.show(program) .. "\n" .. what, 0) end
        together, count = together + ran, count + #program.systems * program.updates
      end
      assert.truthy(together > count / 12, together .. " of " .. count)
    end)
  end

  local starved = helper.by_scale { small = 5, normal = 10, deep = 150 }

  it(("do the same where memory ran out for a moment (%d)"):format(starved), function()
    local failures = 0
    for seed = 1, starved do
      for k = 1, 6 do
        local program = generator.generate(9000 + seed)
        local what, failed = generator.starves(program, k, "3!")
        if what then error(generator.show(program) .. "\n" .. what, 0) end
        failures = failures + (failed and 1 or 0)
      end
    end
    assert.truthy(failures > starved)
  end)
end)
