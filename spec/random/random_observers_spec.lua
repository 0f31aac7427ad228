-- Random programs with observers on: these change nothing, and what they hear is what happens.

local helper = require "spec.support.ecs_helper"
local runner = require "spec.support.runner"

local seeds = helper.by_scale { small = 6, normal = 15, deep = 200 }
local steps = helper.by_scale { small = 300, normal = 500, deep = 1000 }

local function range_of_seeds()
  local first, last = (os.getenv "ECS_SPEC_SEEDS" or ""):match "^(%d+)%-?(%d*)$"
  first = tonumber(first)
  return first or 1, first and (tonumber(last) or first) or seeds
end

describe("observers in random programs", function()
  local first, last = range_of_seeds()

  it(("hear who enters and who leaves, and leave the rest alone, on seeds %d to %d (C87)")
    :format(first, last), function()
    runner.run_seeds(first, last, { steps = steps, every = 50, observe = true })
  end)
end)
