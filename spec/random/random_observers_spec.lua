-- Random programs with observers on: these change nothing, and what they hear is what happens.

local helper = require "spec.support.ecs_helper"
local runner = require "spec.support.runner"

local steps = helper.by_scale { small = 300, normal = 500, deep = 1000 }

describe("observers in random programs", function()
  local first, last = helper.seeds { small = 6, normal = 15, deep = 200 }

  it(("hear who enters and who leaves, and leave the rest alone, on seeds %d to %d (C87)")
    :format(first, last), function()
    runner.run_seeds(first, last, { steps = steps, every = 50, observe = true })
  end)
end)
