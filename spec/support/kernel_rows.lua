-- Worlds whose components have fields of many types, for kernels that run over a few rows.

local helper = require "spec.support.ecs_helper"

local kernel_rows = {}

function kernel_rows.new_world(options)
  local world = helper.new_world(options)
  world:component("P", { "x: f32", "y: f32" })
  world:component("Q", { "x: f32", "y: f32" })
  world:component("I", { "a: i64", "b: i64" })
  world:component("S", { "n: i32", "small: u8" })
  world:component("K", { "kind: enum(red, green, blue)", "on: bool", "target: entity" })
  world:tag "Marked"
  return world
end

-- Calls body(world, kernels) for a world with kernels and for one without.
function kernel_rows.both(body)
  for _, kernels in ipairs { true, false } do
    body(kernel_rows.new_world { tag = 1, seed = 7, kernels = kernels }, kernels)
  end
end

return kernel_rows
