-- Values that are nil in some rows of a kernel: elements that an array or table does not have, and
-- locals that are set on one way only.

local max, type_of = math.max, math.type
local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

-- A grid of 20 cells, a table of as many truths, and rows that look beside them now and then.
local scene = agree.scene {
  fill = function(world)
    world:component("P", { "x: f64", "y: f64", "n: i64", "i: i32", "d: f64", "on: bool",
      "kind: enum(rat, orc)" })
    for i = 1, 1500 do
      world:spawn { P = { x = i / 4, y = -i, n = i, i = i % 30 - 4, d = i % 50 / 2 - 1,
        kind = i % 3 == 0 and "rat" or "orc" } }
    end
    local grid, truths = world:array("grid", "f64", 20), {}
    for i = 1, 20 do grid[i], truths[i] = i * 1.5, i % 3 == 0 end
    return grid, truths
  end,
  query = "P",
  dt = 0.5,
  counts = true,
}

describe("what may be nil in a kernel", function()
  it("has a value by 'or', at the border of a grid, too", function()
    scene:all(function(grid) return function(p)
      p.x = grid[p.i] or 0
      p.y = (grid[p.i - 1] or 0.0) + (grid[p.i + 1] or 0.0) - (grid[p.i] or 1.0) * 2
      p.n = grid[p.d] and 1 or 2
    end end)
  end)

  it("is the key of a table, which has nothing there", function()
    scene:all(function()
      local turned, price, known = { rat = "blue" }, { blue = 2, red = 5 }, { blue = true }
      return function(p)
        p.x = price[turned[p.kind]] or -1
        local found = known[turned[p.kind]]
        p.on = found == true
        p.n = found == nil and 1 or 2
      end
    end)
  end)

  it("is compared with nil, with numbers and with another one", function()
    scene:all(function(grid, truths) return function(p)
      if grid[p.i] == nil then p.n = 7 end
      if grid[p.d] ~= nil then p.x = 1 end
      if grid[p.i] == grid[p.d] then p.y = p.y + 1 end
      if grid[p.i] == 3 then p.n = 8 end
      if truths[p.i] == false then p.x = 2 end
      if grid[p.i] == truths[p.i] then p.n = 9 end
      if grid[p.i] ~= 6.0 then p.y = p.y * 2 end
    end end)
  end)

  it("gives its row to Lua where it is used otherwise", function()
    local calls = scene:both(function(grid) return function(p)
      if p.n == 700 then p.x = type_of(grid[-1]) and 1 or 2 else p.x = 3 end
    end end)
    assert.equal(1 * 2, calls)
  end)

  it("is found in a table that has other numbers than those of its list", function()
    local calls = scene:both(function()
      local list = { [0] = 5.5, 1.5, 2.5, 3.5 }
      return function(p) p.x = list[p.i] or 0 end
    end)
    assert.equal(0, calls)
    local world = scene:new(true)
    local list = { [0] = 5.5, 1.5, 2.5, 3.5 }
    local fn = function(p) return list[p.i] or 0.0 end
    assert.equal(650.0, world:query("P"):sum(fn))
    assert.equal("vector", world:explain(fn).tier)
    list[0] = nil
    assert.equal(375.0, world:query("P"):sum(fn))
    assert.equal("vector", world:explain(fn).tier)
  end)

  it("raises in its row what Lua raises, rows before it being written", function()
    for _, make in ipairs {
      function(grid) return function(p) p.x = p.n < 1000 and 1 or grid[21] + 1 end end,
      function(grid) return function(p) p.x = 2 if p.n > 900 then p.y = -grid[0] end end end,
      function(grid) return function(p) local v if p.n < 333 then v = grid[1] end p.x = v end end,
      function(grid) return function(p) if p.n > 70 and grid[99] < 3 then p.x = 1 end end end,
      function(grid) return function(p)
        local n
        if p.n < 500 then n = 3 end
        for k = 1, n do p.x = p.x + grid[k] end
      end end,
    } do
      scene:twice(function(world, _, grid)
        world:system("s", { query = "P", each = make(grid) })
        local ok, message = pcall(world.update, world, 0.1)
        assert.is_false(ok)
        return tostring(message):gsub("entity %S+ ", ""):gsub("\n.*", "")
      end)
    end
  end)

  it("is what filters and sums look at", function()
    scene:twice(function(world, kernels, grid)
      local there = function(p) return grid[p.i] end
      local sum = function(p) return (grid[p.i] or 0.0) * 2 end
      local most = function(p) return grid[p.d] or p.x end
      local query = world:query "P"
      local function look()
        return { query:where(there):count(), query:sum(sum), (query:max(most)) }
      end
      local plain = look()
      assert.equal(kernels and 0 or 1500, helper.calls_of(there, look))
      assert.equal(kernels and 0 or 1500, helper.calls_of(sum, look))
      assert.equal(kernels and 0 or 1500, helper.calls_of(most, look))
      assert.same({ 1000, 31500.0, 375.0 }, plain)
    end)
  end)

  it("is what a loop returns without a value", function()
    local function first(p)
      for i = 1, 3 do
        if p.n % 5 == i then return end
        if p.n % 7 == i then return 0.0 end
      end
      return true
    end
    local function second(p)
      for i = 1, 3 do
        if p.n % 7 == i then return 0.5 end
        if p.n % 5 == i then return nil end
      end
      return p.x
    end
    local function third(p)
      for i = 1, 3 do
        if p.n % 5 == i then return nil end
      end
      return p.on
    end
    scene:twice(function(world)
      local query = world:query "P"
      return query:where(first):count(), query:where(second):count(), query:where(third):count()
    end)
  end)

  it("is no result where one is used that must not be nil", function()
    local world, grid = scene:new(true)
    local query = world:query "P"
    local function nothing(p) return grid[p.i] end
    local ok, message = pcall(query.sum, query, nothing)
    assert(not ok and message:find("the function returned nil, not a number", 1, true), message)
    assert.matches("does not return a number on every path", world:explain(nothing).reason)
  end)

  it("may be used on the way to a result, as Lua uses nil", function()
    scene:twice(function(world, kernels, grid)
      local query, ragged = world:query "P", { 1.5, 2.5, [0] = 7.5, [9] = 3.5 }
      local functions = {
        function(p) return type_of(grid[p.i]) and 1 or 2 end,
        function(p) return p.i > 0 and p.i < 21 and grid[p.i] * 2 or 0.5 end,
        function(p) return (ragged[p.i] or 0.25) * p.x end,
        function(p) return grid[p.i + 5] + 1 end,
        function(p) p.on = not p.on return max(grid[p.n // 60 - 1], p.x) end,
      }
      local list = {}
      for i, fn in ipairs(functions) do
        for _, form in ipairs { "sum", "min", "max" } do
          local found = table.pack(pcall(query[form], query, fn))
          list[#list + 1] = found[1] and ("%s %s"):format(found[2], (found[3] or 0) & 0xFFFFFF)
            or tostring(found[2]):gsub("entity %S+: ", "")
        end
        local done, taken = pcall(function() return query:where(fn):count() end)
        list[#list + 1] = done and taken or tostring(taken):gsub("entity %S+: ", "")
        if kernels then assert.equal("vector", world:explain(fn).tier, i) end
        list[#list + 1] = world:digest()
      end
      return table.concat(list, "\n"):gsub("@%d+", "")
    end)
  end)

  it("is false in other rows, as behind 'and'", function()
    scene:all(function(grid, truths) return function(p)
      local c = p.i > 0 and p.i * 2
      local hit = c and grid[c] and grid[c] > 9
      if not c then p.x = -1 elseif hit then p.x = c end
      p.on = not hit
      local d = truths[p.i] and p.x > 3 and p.n
      if d then p.y = d end
      p.n = (c or 7) + (d and 1 or 0)
    end end)
    scene:all(function(grid, truths) return function(p)
      local known = p.on and p.kind            -- a boolean or a name
      if known == "rat" then p.x = 1 elseif not known then p.x = 2 end
      local far = grid[p.i] and p.x > 1 and grid[p.i] + 1   -- nil, false or a number
      if far and far > 5 then p.y = far end
      p.d = far or 0.5
      p.on = (truths[p.i] and p.n) == p.n
    end end)
  end)

  it("is a string in other rows", function()
    scene:all(function() return function(p)
      local kind
      if p.x > 300 then kind = "rat" elseif p.i > 9 then kind = "orc" end
      if kind then p.kind = kind else p.n = -1 end
      p.on = kind == "rat"
      local low = p.d < 3 and "orc"
      if low and low ~= p.kind then p.y = 1 end
      p.d = (kind == nil or low == p.kind) and 0.5 or 2
    end end)
  end)

  it("is not nil where it is false, and neither is a number", function()
    for _, make in ipairs {
      function() return function(p)
        local c = p.i > 0 and p.n
        p.on = c == nil
        if c == false then p.x = 5 end
        if c ~= (p.d > 3 and p.n) then p.y = 2 end
      end end,
      function() return function(p)
        local c = p.i > 0 and p.n
        if p.i ~= 0 then p.x = p.i > 0 and c + 1 or 2 end
      end end,
      function() return function(p)
        local last = p.i > 4 and p.n
        for k = 1, 3 do
          if p.i > k and last then last = k > 1 and p.n + k end
        end
        p.y = last and last or -1
        p.on = last == false
      end end,
      function() return function(p)
        local c = p.i > 0 and p.d > 3 and p.n
        p.on = c == 3
        p.x = c and c or 0.25
      end end } do scene:both(make) end
  end)
end)
