-- Lists that a function makes for itself, in kernels.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local assert, ipairs, math, table = assert, ipairs, math, table   -- as kernels know them

-- What a system of the function of `make` does, with kernels and without.
local function same(make, turns)
  local said, told = {}, nil
  for i, kernels in ipairs { true, false } do
    local world = helper.new_world { kernels = kernels, tag = 1, seed = 5 }
    world:component("P", { "x: f64", "n: i32", "on: bool", "to: entity", "far: f64[4]",
      "kind: enum(red, green, blue)", "s: string" })
    local ids, kinds = {}, { "red", "green", "blue" }
    for k = 1, 200 do
      ids[k] = world:spawn { P = { x = (k * 37 % 100) / 2, n = k % 9, on = k % 3 == 0,
        kind = kinds[k % 3 + 1], s = "s" .. k % 4 } }
    end
    for k = 1, 200 do world:set(ids[k], "P.to", ids[k * 7 % 60 + 1]) end
    world:system("s", { query = "P", each = make(world, ids) })
    for _ = 1, turns or 3 do world:update(0.5) end
    said[i] = world:digest()
    if kernels then told = world:explain "s" end
    assert.is_true(world:check())
  end
  assert.equal(said[2], said[1])
  return told
end

local function compiled(told)
  assert.equal("vector", told.tier, told.reason)
  assert.is_nil(told.left, told.left and told.left.why)
end

describe("a list that a function makes", function()
  it("is filled, measured and read by numbers", function()
    compiled(same(function()
      return function(p)
        local list, sum = {}, 0.0
        for i = 1, p.n do list[#list + 1] = p.x * i end
        for i = 1, #list do sum = sum + list[i] * i end
        for i = #list, 1, -1 do if list[i] > 20 then list[i] = list[i] / 2 end end
        if list[3] then sum = sum + list[3] end
        p.x, p.n = sum % 50, (p.n + #list) % 9
      end
    end))
  end)

  it("holds integers, ids, booleans and enums, and is added to by table.insert", function()
    compiled(same(function()
      return function(p, _, e)
        local whole, who, flags, kinds = { p.n, 4 }, { e }, {}, {}
        for i = 1, 4 do
          table.insert(whole, p.n * i)
          flags[i] = p.n > i
          if i % 2 == 0 then who[#who + 1] = p.to kinds[#kinds + 1] = p.kind end
        end
        p.n = (whole[1] + whole[4] + #whole) % 9
        p.to = who[p.n % 3 + 1] or e
        p.on = flags[p.n % 4 + 1] or false
        if kinds[2] == "red" then p.x = p.x + 1 end
        p.kind = kinds[1]
      end
    end))
  end)

  it("holds integers and floats, which stay what they are", function()
    compiled(same(function()
      return function(p)
        local list = {}
        for i = 1, 6 do
          if i % 2 == 0 then list[i] = i else list[i] = p.x end
        end
        if list[p.n % 6 + 1] == 4 then p.x = p.x + 0.25 end
        p.x = (p.x + list[p.n % 6 + 1]) % 64
      end
    end))
  end)

  it("holds records, which are the same wherever they are", function()
    compiled(same(function()
      return function(p, _, e)
        local list, near = {}, {}
        for i = 1, p.n do
          list[#list + 1] = { d = (p.x * i) % 7, id = i % 2 == 0 and e or p.to, n = i,
            on = p.on and i > 2 }
        end
        local best
        for i, c in ipairs(list) do
          if c.d > 2 then near[#near + 1] = c end
          if not best or c.d < best.d then best = c end
          if i > 6 then break end
        end
        if best then
          best.d = best.d + 10
          p.to = best.id
          if best == near[1] then p.x = p.x + 1 end
        end
        for i = 1, #near do p.x = (p.x + near[i].d + (near[i].on and 1 or 0)) % 90 end
        local last = list[#list]
        if last then p.n = (p.n + last.n) % 9 end
      end
    end))
  end)

  it("takes a record from a local, and records that lack a field", function()
    compiled(same(function()
      return function(p)
        local list = {}
        for i = 1, 3 do
          local one = { a = p.x + i, b = p.on and i or nil }
          list[#list + 1] = one
          one.a = one.a * 2
          list[#list + 1] = { c = i, b = 7 }
        end
        for _, one in ipairs(list) do
          if one.a then p.x = (p.x + one.a) % 50 end
          if one.b then p.n = (p.n + one.b) % 9 end
          if one.c == nil then p.x = p.x + 0.5 end
          if one.d then p.x = -1 end
        end
        list[2].c = 5.5
        p.x = p.x + list[2].c
      end
    end))
  end)

  it("is a queue, a stack, and a set of bits", function()
    compiled(same(function()
      return function(p)
        local queue, head, seen = { 1 }, 1, { true }
        while head <= #queue do
          local at = queue[head]
          head = head + 1
          for k = at * 2, at * 2 + 1 do
            if k < p.n * 3 and not seen[k] and k == #seen + 1 then
              seen[k] = true
              queue[#queue + 1] = k
            end
          end
        end
        local stack, sum = {}, 0
        for _, at in ipairs(queue) do stack[#stack + 1] = at end
        while #stack > 0 do
          sum = sum * 3 + stack[#stack]
          stack[#stack] = nil
        end
        p.n = sum % 9
        p.x = p.x + (stack[1] and 1 or 0.25)
      end
    end))
  end)

  it("is made anew in each round, and by each call", function()
    compiled(same(function()
      local function odd(p, from)
        local list = {}
        for i = from, p.n do if i % 2 == 1 then list[#list + 1] = { v = p.x + i } end end
        return list
      end
      return function(p)
        local one, two, best = odd(p, 1), odd(p, 4), nil
        for k = 1, 3 do
          local list = {}
          for i = 1, p.n do if i % 3 == k - 1 then list[#list + 1] = { v = p.x * i } end end
          for _, c in ipairs(list) do if not best or c.v > best.v then best = c end end
          p.n = (p.n + #list + #one - #two) % 9
        end
        if best then p.x = (p.x + best.v + (one[1] and one[1].v or 0)) % 70 end
      end
    end))
  end)

  it("grows while it is gone through", function()
    compiled(same(function()
      return function(p)
        local list = { 1 }
        for _, v in ipairs(list) do
          if #list < p.n then list[#list + 1] = v + 1 end
          p.x = (p.x + v) % 40
        end
      end
    end))
  end)

  it("of more than 1024 elements, or with gaps, is left to Lua", function()
    local told = same(function()
      return function(p)
        local list, most = {}, p.n == 3 and p.x < 4 and 1500 or 3
        for i = 1, most do list[#list + 1] = i end
        if p.n == 4 and p.x < 4 then list[9] = 1 end
        p.x = (p.x + #list) % 50
      end
    end)
    assert.equal("vector", told.tier, told.reason)
    assert.is_true(told.left.rows > 0)
  end)

  it("that a row has begun is forgotten where the row is left to Lua", function()
    local told = same(function()
      return function(p)
        local list = {}
        for i = 1, p.n do list[#list + 1] = { x = p.x } end
        if p.n == 8 and p.x > 44 then p.s = p.s .. "!" end
        p.x = (p.x + #list) % 50
      end
    end)
    assert.equal("vector", told.tier, told.reason)
  end)

  it("is used after another one in its place only by Lua", function()
    for _, fn in ipairs {
      function(p)
        local kept
        for i = 1, 3 do
          local list = {}
          list[#list + 1] = p.x + i
          if kept then p.n = (p.n + #kept) % 9 end
          kept = list
        end
      end,
      function(p)
        local a = {}
        a[#a + 1] = p.x
        local list = p.on and a or { p.x, 2 }
        p.n = (p.n + #list) % 9
      end,
      function(p)
        local one, list = { x = p.x }, {}
        if p.on then list[#list + 1] = one end
        one.x = one.x + 1
        p.x = (one.x + (list[1] and list[1].x or 0)) % 50
      end,
      function(p)
        local inner = { 1 }
        local list = {}
        list[#list + 1] = inner
        inner[#inner + 1] = 2
        p.n = #list[1] + #inner
      end,
      function(p)
        local list = {}
        list[#list + 1] = { p.x, { 2 } }
        p.n = list[1][2][1]
      end,
      function(p)
        local list = {}
        for i = 1, 3 do list[#list + 1] = i == 2 and "two" or i end
        p.s = tostring(list[2])
      end,
    } do same(function() return fn end) end
  end)

  it("gives what plain tables give, in Lua's own errors, too", function()
    for _, fn in ipairs {
      function(p) local list = {} for i = 1, p.n do list[i] = i end p.x = list[6] + 1 end,
      function(p) local list = {} for i = 1, p.n do list[i] = {} end p.x = list[6].y or 1 end,
      function(p)
        local list = {}
        for i = 1, p.n do list[#list + 1] = p.x end
        assert(#list < 8, "too many")
      end,
    } do
      local said = {}
      for i, kernels in ipairs { true, false } do
        local world = ecs.world { kernels = kernels, tag = 1 }
        world:component("P", { "x: f64", "n: i32" })
        for k = 1, 40 do world:spawn { P = { x = k, n = k % 10 } } end
        local ok, message = pcall(function() world:query "P":each(fn) end)
        said[i] = { ok, tostring(message), world:digest() }
        world:close()
      end
      assert.same(said[2], said[1])
    end
  end)

  it("keeps a function in Lua with a reason that says what to write", function()
    local world = helper.new_world()
    world:component("P", { "x: f64", "n: i32", "s: string" })
    for i, case in ipairs {
      { "values of several types", function(p)
        local list = {}
        for k = 1, p.n do list[#list + 1] = k % 2 == 0 end
        list[1] = 5
      end },
      { "tables and other values into one list", function(p)
        local list = {}
        for k = 1, p.n do list[#list + 1] = { x = k } end
        list[1] = 5
      end },
      { "as a list and by names", function(p)
        local list = { name = 1 }
        for k = 1, p.n do list[#list + 1] = k end
      end },
    } do
      world:system("s" .. i, { query = "P", each = case[2] })
      world:update(0)
      local told = world:explain("s" .. i)
      assert.equal("lua", told.tier)
      assert.truthy(told.reason:find(case[1], 1, true), told.reason)
    end
  end)
end)
