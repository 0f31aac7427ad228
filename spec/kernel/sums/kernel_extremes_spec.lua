-- q:min and q:max: whose the value is.

local agree = require "spec.support.agree"
local rng = require "spec.support.rng"

local scene = agree.scene {
  options = { tag = 1, seed = 3 },
  fill = function(world, case)
    world:component("P", { "x: f64", "n: i32", "f: f32" })
    world:component("Cold", { "by: i32", toggle = true })
    world:tag "Red"
    local numbers = rng.new(case.seed)
    for _ = 1, case.rows do
      local x = ({ 0.0, -0.0, 0 / 0, 1.5, -2.5, 1 / 0, -1 / 0, 3.25 })[numbers:range(1, 8)]
      local n = numbers:range(-3, 3)
      local e = world:spawn { P = { x = x, n = n, f = numbers:range(-9, 9) / 3 } }
      if numbers:range(1, 3) == 1 then world:add(e, "Red") end
      if numbers:range(1, 4) == 1 then world:set(e, "Cold", numbers:range(0, 5)) end
      if numbers:range(1, 12) == 1 then world:disable(e, "Cold") end
    end
  end,
}

-- -0.0 is less than 0.0, and NaN is taken when there is nothing else.
local function less(a, b)
  if a ~= a or b ~= b then return a == a end
  return a < b or a == 0 and b == 0 and math.type(a) == "float" and 1 / a < 1 / b
end

local function expected(query, value_of, better)
  local best, who
  for view, e in query:each() do
    local value = value_of(view)
    local first = not who or value == value and best ~= best
    if first or value == value and better(value, best) then best, who = value, e end
  end
  return best, who
end

local functions = {
  function(p) return p.x end,
  function(p) return p.n end,
  function(p) return p.f end,
  function(p) return p.n * 0.5 end,
  function(p) return p.x * 0.0 + (0 / 0) end,
  function() return math.maxinteger end,
  function() return math.mininteger end,
}

describe("the least and the greatest", function()
  it("are told with the first entity that has them, in every tier", function()
    for seed = 1, 8 do
      for _, rows in ipairs { 1, 15, 17, 200, 2600 } do
        scene:twice(function(world)
          local list = {}
          for _, text in ipairs { "P", "P, Red", "P, Cold", "P, !Cold", "P, with Cold" } do
            local query = world:query(text)
            for at, fn in ipairs(functions) do
              for _, form in ipairs { "min", "max" } do
                local value, who = query[form](query, fn)
                if text == "P" or text == "P, Red" then
                  local wanted, first = expected(query, fn, form == "min" and less or
                    function(a, b) return less(b, a) end)
                  assert.equal(first, who, ("%s of %d"):format(form, at))
                  assert.is_true(wanted == value or value ~= value and wanted ~= wanted)
                end
                list[#list + 1] = who or "none"
              end
            end
          end
          return list
        end, { rows = rows, seed = seed })
      end
    end
  end)

  it("are one entity's over ties, too", function()
    scene:twice(function(world)
      local top = world:spawn { P = { x = 1 } }
      local left = world:spawn { P = { x = 7 }, ChildOf = top }
      local right = world:spawn { P = { x = 7 }, ChildOf = top }
      local query = world:query "P, ChildOf->P:in"
      local value, who = query:max(function(p, parent) return p.x + parent.x end)
      assert.same({ 8.0, left }, { value, who })
      world:set(right, "P", 6)
      value, who = query:min(function(p) return p.x end)
      assert.same({ 6.0, right }, { value, who })
    end, { rows = 0, seed = 1 })
  end)

  it("are nil, and nobody's, on no rows", function()
    scene:twice(function(world)
      local query = world:query "P"
      assert.same({ n = 1 }, table.pack(query:min(functions[1])))
      assert.same({ n = 1 }, table.pack(query:max(functions[1])))
      assert.same({ 0, n = 1 }, table.pack(query:sum(functions[1])))
    end, { rows = 0, seed = 1 })
  end)
end)
