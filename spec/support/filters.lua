-- What the specs of q:where look at: ten rows and predicates over them.

local helper = require "spec.support.ecs_helper"

local filters = {}

-- Ten rows, a = 1 to 10, in two tables: those with an even a are Marked. P's x is of a type.
local function ten_rows(kernels, type)
  local world = helper.new_world { kernels = kernels }
  world:component("N", { "a: i64", "f: f64" })
  world:component("P", { "x: " .. type })
  world:tag "Marked"
  local ids = {}
  for a = 1, 10 do
    ids[a] = world:spawn(a % 2 == 0 and { N = { a, a / 2 }, Marked = true } or { N = { a, a / 2 } })
  end
  return world, ids
end

-- body(world, ids, pick, kernels) with kernels and without, by a predicate that compiles and by one
-- that does not; `pick` makes either from the least a that is taken. new_world(kernels) makes the
-- world and the ids.
local function each_way(new_world, body)
  local function compiled(least)
    return function(n) return n.a >= least end
  end
  local function plain(least)
    return function(n) return n.a >= least and tostring(n.a) end
  end
  for _, way in ipairs { { true, compiled }, { true, plain }, { false, compiled } } do
    local world, ids = new_world(way[1])
    body(world, ids, way[2], way[1])
  end
end

-- new_world(kernels), whose P is of a type, and each_way(body) over such worlds.
function filters.of(type)
  local function new_world(kernels) return ten_rows(kernels, type) end
  return new_world, function(body) each_way(new_world, body) end
end

return filters
