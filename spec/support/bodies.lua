-- Runs bodies of systems as in games: each compiles, and leaves a world as it does in plain Lua.

local helper = require "spec.support.ecs_helper"
local luassert = require "luassert"
local random = require "spec.support.rng"

local bodies = {}

local UPDATES, STEP = 6, 0.125

-- A world filled by `scene`, with a system of the body: numbers called "real" are of that type.
local function new_world(scene, body, real, kernels)
  local world = helper.new_world { kernels = kernels, seed = 7, tag = 1 }
  for _, component in ipairs(scene.components) do
    local fields = {}
    for name, field in pairs(component[2]) do
      fields[name] = type(field) == "string" and field:gsub("real", real) or field
    end
    world:component(component[1], fields)
  end
  local ids = scene.fill(world, random.new(11))
  local fn = body.make(world, ids)
  world:system("body", { query = body.query, each = fn, compile = kernels })
  return world, fn
end

-- Runs the system for some updates; how often its function was called by Lua.
local function run(world, fn)
  return helper.calls_of(fn, function()
    for _ = 1, UPDATES do world:update(STEP) end
  end)
end

-- The numbers that the world's entities have, in order.
local function numbers_of(world, scene)
  local numbers = {}
  for _, component in ipairs(scene.components) do
    local query = world:query(component[1])
    for _, id in ipairs(query:ids()) do
      for _, value in ipairs { world:get(id, component[1]) } do
        numbers[#numbers + 1] = type(value) == "number" and value or 0
      end
    end
  end
  return numbers
end

-- f64 fields: the same bits. No row is left to Lua.
local function compare_exactly(scene, body)
  local digests = {}
  for n, kernels in ipairs { true, false } do
    local world, fn = new_world(scene, body, "f64", kernels)
    local before = world:digest()
    local calls = run(world, fn)
    if kernels then
      luassert.are.equal("vector", world:explain("body").tier)
      luassert.are.equal(0, calls, "rows were left to Lua")
    end
    digests[n] = world:digest()
    luassert.are_not.equal(before, digests[n], "the body does nothing")
  end
  luassert.are.equal(digests[2], digests[1], "with kernels it does something else")
end

-- f32 fields: the same but for the rounding of each step.
local function compare_roughly(scene, body)
  local found = {}
  for n, kernels in ipairs { true, false } do
    local world, fn = new_world(scene, body, "f32", kernels)
    run(world, fn)
    found[n] = numbers_of(world, scene)
  end
  luassert.are.equal(#found[2], #found[1])
  for i, number in ipairs(found[2]) do
    helper.approx(number, found[1][i], 1e-4 * (1 + math.abs(number)))
  end
end

-- A test for each body of a list: { its name, query =, make = a function that is given the world
-- and what `fill` gives, and gives the body, exact = true where rounding decides what it does }.
function bodies.test(scene, list)
  local it = require("busted").it
  for _, body in ipairs(list) do
    it("runs alike compiled and in Lua: " .. body[1], function()
      compare_exactly(scene, body)
      if not body.exact then compare_roughly(scene, body) end
    end)
  end
end

return bodies
