-- Worlds whose entities stand near each other, with indexes, and what systems that look into these
-- do to them: with kernels and without.

local luassert = require "luassert"

local agree = require "spec.support.agree"
local random = require "spec.support.rng"

local huge = math.huge

local M = {}

local ROWS = 700

-- Some stand in heaps, some alone, some nowhere.
local scene = agree.scene {
  options = { seed = 5, tag = 1 },
  fill = function(world, case)
    local numbers = random.new(11)
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
    for k = 1, case.rows or ROWS do
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
    return world, world:index "flock", world:index "tagged"
  end,
  query = "P, Out",
  dt = 0.5,
  counts = true,
}

function M.new_world(kernels, rows) return (scene:new(kernels, { rows = rows })) end

--- The function does the same with kernels and without; how many rows Lua did.
function M.both(make, rows, query)
  return (scene:both(make, { rows = rows, query = query }))
end

--- As `both`, without any row going to Lua.
function M.agree(...) luassert.equal(0, M.both(...)) end

return M
