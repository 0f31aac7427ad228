-- Callbacks and finalizers that call the world back at any time, by random programs. C68.

local helper = require "spec.support.ecs_helper"
local reentry = require "spec.support.reentry"

local STEPS = 60

describe("a world whose callbacks and finalizers call it back", function()
  local count = helper.by_scale { small = 400, normal = 1000, deep = 20000 }
  local group = count // 4
  for first = 1, count, group do
    local last = first + group - 1
    it(("C68 stays whole in programs %d to %d"):format(first, last), function()
      for seed = first, last do
        assert.is_nil(reentry.run(seed, STEPS), "program " .. seed)
      end
    end)
  end
end)
