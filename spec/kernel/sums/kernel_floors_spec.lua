-- Functions whose results are used, at rows that only a column cannot do: math.floor of what is
-- beyond all integers is a float in Lua. Results and errors are those without kernels.

local agree = require "spec.support.agree"
local tiers = require "spec.support.tiers"

local math = math

-- `rows` rows in two tables; those at some places have a field that has no floor.
local scene = agree.scene {
  options = { tag = 1, seed = 2 },
  fill = function(world, case)
    world:component("P", { "x: f64", "n: i32" })
    world:tag "Red"
    world:tag "Seen"
    for i = 1, case.rows do
      world:spawn { P = { x = case.odd[i] or i * 37 % 101 + 0.5, n = i },
        Red = i > case.rows // 2 or nil }
    end
  end,
}

local forms = {
  function(q) return q:sum(function(p) return math.floor(p.x) < 5 and 1.25 or 0.5 end) end,
  function(q) return q:sum(function(p) p.n = p.n + 1 return math.floor(p.x) end) end,
  function(q) return q:sum(function(p) p.n = -p.n return math.ceil(p.x) // 1 + 0.1 end) end,
  function(q) return q:min(function(p) return math.floor(p.x) == p.x and p.n or p.n + 7 end) end,
  function(q) return q:max(function(p) return math.floor(p.x) end) end,
  function(q) return q:max(function(p) p.x = p.x / 2 return math.floor(p.x) + 0.0 end) end,
  function(q, world)
    return q:sum(function(p, _, e)
      if math.ceil(p.x) > 50 then world:add(e, "Seen") end
      return p.x > 3 and math.floor(p.x * 0.5) + 0.5 or 1.5
    end)
  end,
}

local function low(p) return math.floor(p.x) < 60 end
local function odd(p)
  p.n = p.n + 1
  return math.floor(p.x) % 2 ~= 0
end

-- All queries that the forms go over.
local function queries(world)
  local all = world:query "P"
  return { all, all:where(low), all:where(odd), world:query("Red, P.x, P.n"):where(function(x)
    return math.floor(x) < 90
  end):where(function(x, n) return math.ceil(x) > n % 50 end) }
end

describe("a result of math.floor", function()
  it("is Lua's where the floor is no integer", function()
    for _, place in ipairs { { 2, {} }, { 2, { 1e300 } }, { 9, { 1 / 0, -1e300 } },
      { 40, { [7] = 0 / 0 } }, { 40, { [40] = 1e19 } }, { 2600, { [1] = -1 / 0 } },
      { 2600, { [1100] = 0 / 0 } }, { 2600, { [1299] = 1e200, [1302] = -1e200 } },
      { 5000, { [2047] = 0 / 0, [4000] = 1e90 } } } do
      scene:twice(function(world, kernels)
        local list = {}
        for number = 1, 4 do
          for _, form in ipairs(number < 4 and forms or {}) do
            local found = table.pack(pcall(form, queries(world)[number], world))
            list[#list + 1] = found[1] and ("%s %s"):format(found[2], found[3])
              or tiers.plain(found[2])
            list[#list + 1] = world:digest()
          end
          list[#list + 1] = table.concat(queries(world)[number]:ids(), " ")
        end
        if kernels then scene:check_tier(world, odd) end
        return table.concat(list, "\n")
      end, { rows = place[1], odd = place[2] })
    end
  end)
end)
