-- What specs of observers share: a world, and observers that write down what they hear.

local helper = require "spec.support.ecs_helper"

local M = {}

M.KINDS = { "exit", "remove", "despawn", "add", "enter", "set" }

function M.new_world()
  local world = helper.new_world()
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Health", { "hp: i32 = 10" })
  world:tag "Frozen"
  return world
end

-- What observers of all kinds over one query are called for, as texts, since this was asked last.
function M.watch(world, query, show, kinds)
  local log = {}
  for _, on in ipairs(kinds or M.KINDS) do
    world:observer(on, { on = on, query = query, each = function(...)
      log[#log + 1] = on .. " " .. show(...)
    end })
  end
  return function()
    local heard = log
    log = {}
    return heard
  end
end

function M.show_x(position)
  return tostring(position.x)
end

return M
