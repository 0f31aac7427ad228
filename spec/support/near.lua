-- Worlds whose entities stand near each other, with indexes, and what systems that look into these
-- do to them: with kernels and without.

local luassert = require "luassert"

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local huge = math.huge

local M = {}

local ROWS = 700

--- Some stand in heaps, some alone, some nowhere.
function M.new_world(kernels, rows)
  local numbers = random.new(11)
  local world = helper.new_world { kernels = kernels, seed = 5, tag = 1 }
  world:component("P", { "x: f64", "y: f64" })
  world:component("V", { "x: f64", "y: f64", "kind: enum(red, green, blue)", "name: string",
    "hold: entity", "slots: i16[3]" })
  world:component("Out", { "n: i64", "x: f64", "y: f64", "d: f64", "e: entity", "text: string" })
  world:component("Health", { "hp: f64" })
  world:component("Reach", { "r: f64" })
  world:component("Tag", {})
  world:event("Hit", { "who: entity", "amount: f64" })
  local kinds, names = { "red", "green", "blue" }, { "a", "bb", "" }
  local before
  for k = 1, rows or ROWS do
    local heap = numbers:chance(60) and numbers:int(3) or 0
    local x, y = numbers:range(-800, 800) / 32, numbers:range(-800, 800) / 32
    if heap > 0 then x, y = x / 16 + heap, y / 16 - heap end
    if numbers:chance(1) then x = numbers:pick { 0 / 0, huge, -huge } end
    before = world:spawn { P = { x = x, y = y }, Out = {}, Health = { hp = 100 },
      Reach = k ~= 333 and { r = k % 4 } or nil,
      V = { x = k, y = -k / 2, kind = kinds[k % 3 + 1], name = names[k % 3 + 1], hold = before,
        slots = { k % 5, k % 7, k % 11 } }, Tag = k % 5 == 0 or nil }
  end
  world:index("flock", { query = "P:in, V:in", grid = "P", cell = 1.5 })
  world:index("tagged", { query = "P.x:in, P.y:in, with Tag", grid = "P", cell = 3 })
  return world
end

-- What a system with a function does to a world in two updates, with kernels or without; how often
-- Lua calls it.
local function run(make, kernels, rows, query)
  local world = M.new_world(kernels, rows)
  local fn = make(world, world:index "flock", world:index "tagged")
  world:system("s", { query = query or "P, Out", each = fn })
  local ok, why
  local calls = helper.calls_of(fn, function()
    for _ = 1, 2 do ok, why = pcall(world.update, world, 0.5) end
  end)
  local explained = world:explain "s"
  if kernels then luassert.equal("vector", explained.tier, explained.reason) end
  why = ok or tostring(why):match "^[^\n]*"
  helper.check(world)
  return world:digest(), why, calls
end

--- The function does the same with kernels and without; how many rows Lua did.
function M.both(make, rows, query)
  local expected, raised = run(make, false, rows, query)
  local digest, why, calls = run(make, true, rows, query)
  luassert.equal(raised, why)
  luassert.equal(expected, digest)
  return calls
end

--- The same, without any row going to Lua.
function M.agree(...) luassert.equal(0, (M.both(...))) end

return M
