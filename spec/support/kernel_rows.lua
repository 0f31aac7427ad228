-- Worlds whose components have fields of many types, for kernels that run over a few rows.

local agree = require "spec.support.agree"

local kernel_rows = {}

local scene = agree.scene {
  options = { tag = 1, seed = 7 },
  fill = function(world)
    world:component("P", { "x: f32", "y: f32" })
    world:component("Q", { "x: f32", "y: f32" })
    world:component("D", { "v: f64", "w: f64" })
    world:component("I", { "a: i64", "b: i64", "r: i64" })
    world:component("S", { "n: i32", "small: u8" })
    world:component("K", { "kind: enum(red, green, blue)", "on: bool", "target: entity" })
    world:tag "Marked"
  end,
}

function kernel_rows.new_world(options)
  return (scene:new(options or {}))
end

-- Calls body(world, kernels) for a world with kernels and for one without, which are the same then.
function kernel_rows.both(body)
  scene:twice(body)
end

return kernel_rows
