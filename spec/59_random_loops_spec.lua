-- Random functions full of loops: with kernels and without the same cells and the same errors.

local generator = require "spec.support.loops_gen"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local tiers = require "spec.support.tiers"

local math = math

-- What a seed's function does to its world in two updates, and how it was run.
local function run(seed, kernels)
  local numbers = random.new(seed)
  local world = helper.new_world { kernels = kernels, seed = seed, tag = 1 }
  world:component("P", { "x: f64", "y: f64", "z: f64", "n: i64", "i: i32", "j: i16", "on: bool",
    "m: f64[5]" })
  local grid, heat = world:array("grid", "f64", 12), world:array("heat", "f64", 4)
  for k = 1, 12 do grid[k] = k / 8 end
  for _ = 1, numbers:pick { 1, 30, 150, 1100 } do
    world:spawn { P = { x = numbers:range(-80, 80) / 8, y = numbers:range(-80, 80) / 8,
      n = numbers:range(-9, 99), i = numbers:range(-7, 32), j = numbers:range(-7, 32) } }
  end
  local fn = assert(load(generator.generate(seed), "=f"))(world, grid, heat, math)
  world:system("s", { query = "P", each = fn })
  local seen = {}
  for k = 1, 2 do
    local done, problem = pcall(world.update, world, 0.5)
    seen[k] = ("%s %d"):format(done and "" or tiers.plain(problem), world:digest())
  end
  local explained = world:explain "s"
  return table.concat(seen, "\n"), explained.tier
end

describe("random loops in kernels", function()
  local most = helper.by_scale { small = 60, normal = 400, deep = 6000 }
  it(("do what they do in plain Lua (%d)"):format(most), function()
    tiers.agree_on_seeds(most, run, most * 9 // 10)
  end)
end)
