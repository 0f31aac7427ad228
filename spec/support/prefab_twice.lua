-- What the specs of prefabs that are declared again begin with.

local helper = require "spec.support.ecs_helper"
local luassert = require "luassert"

local prefabs = {}

function prefabs.new_world()
  local world = helper.new_world()
  world:component("H", { "x: i32 = 3" })
  world:component("S", { "y: i32" })
  world:tag "T"
  return world
end

-- Declares twice, and sees that the second time changes nothing.
function prefabs.twice(world, declare)
  declare()
  local before = world:digest()
  declare()
  luassert.equal(before, world:digest())
end

return prefabs
