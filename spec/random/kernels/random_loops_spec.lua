-- Random functions full of loops, some over indexes: kernels give the same cells and errors as Lua.

local generator = require "spec.support.loops_gen"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local tiers = require "spec.support.tiers"

local math = math

-- What a seed's function does to its world in two updates, and how it was run.
local function run(seed, kernels, near)
  local numbers = random.new(seed)
  local world = helper.new_world { kernels = kernels, seed = seed, tag = 1 }
  world:component("P", { "x: f64", "y: f64", "z: f64", "n: i64", "i: i32", "j: i16", "on: bool",
    "m: f64[5]", near and "who: entity" or nil })
  local grid, heat = world:array("grid", "f64", 12), world:array("heat", "f64", 4)
  for k = 1, 12 do grid[k] = k / 8 end
  local ids = {}
  for k = 1, numbers:pick { 1, 30, 150, near and 400 or 1100 } do
    ids[k] = world:spawn { P = { x = numbers:range(-80, 80) / 8, y = numbers:range(-80, 80) / 8,
      m = near and { k, 1.25, k / 2 } or nil, n = numbers:range(-9, 99),
      i = numbers:range(-7, 32), j = numbers:range(-7, 32) } }
  end
  local flock, heap, mixed
  if near then
    world:event("Met", { "who: entity", "n: f64" })
    world:relation "Likes"
    world:component("Place", { "x: f64", "y: f64" })
    world:component("V", { "w: f64", "k: i32" })
    world:tag "T"
    for k, e in ipairs(ids) do
      local other = numbers:pick(ids)
      if k > 1 and numbers:chance(60) then world:add(e, "ChildOf", ids[numbers:int(k - 1)]) end
      if numbers:chance(70) then world:add(e, "Likes", other) end
      if numbers:chance(30) then world:add(e, "Likes", ids[1]) end
      world:set(e, "Place", (world:get(e, "P")), k % 9 / 2)
      if numbers:chance(50) then world:set(e, "V", k / 8, k % 7) end
      if numbers:chance(50) then world:add(e, "T") end
    end
    flock = world:index("flock", { query = "P:in", grid = "P", cell = 1 })
    heap = world:index("heap", { query = "P.x:in, P.y:in, P.n:in", grid = "P", cell = 2.5 })
    mixed = world:index("mixed", { query = "Place:in, V?, T?", grid = "Place", cell = 2 })
  end
  local fn = assert(load(generator.generate(seed, near), "=f"))(world, grid, heat, math, flock,
    heap, mixed)
  world:system("s", { query = "P", each = fn })
  return tiers.updates(world, 2, 0.5), world:explain("s").tier
end

describe("random loops in kernels", function()
  local most = helper.by_scale { small = 20, normal = 100, deep = 1500 }
  it(("do what they do in plain Lua (%d)"):format(most), function()
    tiers.agree_on_seeds(most, run, most * 9 // 10)
  end)

  it(("do so where they look into indexes, too (%d)"):format(most), function()
    local function look(seed, kernels) return run(seed, kernels, true) end
    tiers.agree_on_seeds(most, look, most * 8 // 10)
  end)
end)
