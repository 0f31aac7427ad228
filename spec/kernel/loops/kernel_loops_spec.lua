-- Loops in kernels that each row leaves when it likes: while, repeat, goto back, and numeric for
-- by bounds of the row or by floats.

local huge = math.huge
local most, least = math.maxinteger, math.mininteger
local ipairs = ipairs   -- kernels read globals raw, and this file has them by __index
local agree = require "spec.support.agree"

local ROWS = 1500

local scene = agree.scene {
  options = { seed = 5, tag = 1 },
  fill = function(world)
    world:component("P", { "x: f64", "y: f64", "n: i64", "i: i32", "j: i32", "on: bool" })
    world:component("Mark", {})
    for k = 1, ROWS do
      world:spawn { P = { x = k / 4, y = -k, n = k, i = k % 30 - 4, j = k % 7, on = k % 3 == 0 } }
    end
  end,
  query = "P",
  updates = 1,
  dt = 0.5,
  counts = true,
}

describe("a loop that each row leaves when it likes", function()
  it("is in functions that are called", function()
    scene:all(function()
      local function gcd(a, b)
        while b ~= 0 do a, b = b, a % b end
        return a
      end
      local function log2(n)
        local k = 0
        while true do
          if n < 2 then return k end
          n, k = n // 2, k + 1
        end
      end
      return function(p)
        p.i, p.j = gcd(p.n, p.i), log2(p.n)
        while gcd(p.n, 30) > 1 do p.n = p.n // gcd(p.n, 30) end
      end
    end)
  end)
end)

describe("a loop over others in a kernel", function()
  local function linked(world)
    local ecs = require "ecs"
    world:component("Link", { "next: entity", "weight: f64" })
    local last = ecs.null
    for k = 1, 600 do
      last = world:spawn { P = { n = k, i = k % 9 },
        Link = { next = k % 10 == 0 and ecs.null or last, weight = k } }
    end
    return ecs.null
  end

  it("goes from one entity to the next until there is none", function()
    scene:twice(function(world, kernels)
      local null = linked(world)
      world:system("s", { query = "P, Link:in", each = function(p, link, _, e)
        local at, sum, count = link.next, 0.0, 0
        while at ~= null do
          sum = sum + world:get(at, "Link.weight")
          at = world:get(at, "Link.next")
        end
        at = e
        repeat
          count = count + 1
          at = world:get(at, "Link.next")
        until at == null
        p.x, p.i = sum, count
      end })
      world:update(0.5)
      if kernels then scene:check_tier(world, "s") end
    end)
  end)
end)

describe("a numeric for of the row's own", function()
  it("floors a float for its limit, and knows what is beyond all integers", function()
    scene:all(function() return function(p)
      for k = p.j, p.x / 3 do p.y = p.y + k if k > 50 then break end end
      for k = p.j, -p.x / 8, -1 do p.y = p.y + k end
      for k = p.j, 0 / 0 do p.y = p.y + k end
      for k = p.j, 0 / 0, -1 do p.n = p.n + k if k < -3 then break end end
      for k = p.j, huge do p.n = p.n + 1 if k > 9 then break end end
      for _ = p.j, p.on and 1e300 or -1e300, p.on and -1 or 1 do p.n = p.n - 1 end
    end end)
  end)

  it("ends at the last integer, and divides without a sign", function()
    scene:all(function() return function(p)
      for _ = most - p.j, most do p.x = p.x + 1 end
      for _ = least + p.j, least, -1 do p.x = p.x + 1 end
      for _ = p.j + least, most, most - p.j do p.y = p.y + 1 end
      for k = most - p.j, least, least + p.i % 2 do
        p.n = p.n ~ k
      end
    end end)
  end)

  it("is Lua's where its step is zero", function()
    assert.is_true((scene:both(function() return function(p)
      p.x = p.x + 1
      for k = 1, p.i, p.j - 3 do p.y = p.y + k end
    end end)) > 0)
    assert.is_true((scene:both(function() return function(p)
      for k = p.i / 2, p.j, p.x - 20 do p.y = p.y + k if k > 9 or k < -9 then break end end
    end end)) > 0)
  end)
end)

describe("a loop in which a row cannot go on as a column", function()
  it("goes on in Lua behind 65,536 rounds", function()
    assert.equal(5, (scene:both(function() return function(p)
      local k, top = 0, p.n > 1490 and 65530 + p.n - 1490 or p.j
      while k < top do k = k + 1 end
      p.i = k
    end end)))
    assert.equal(4, (scene:both(function() return function(p)
      local top = p.n > 1490 and 65530 + p.n - 1490 or p.j
      for k = 1, top do p.i = k end
    end end)))
  end)
end)

describe("a loop in which integers meet floats", function()
  it("knows them where it is left on several ways", function()
    scene:all(function() return function(p)
      local k, m = 0
      repeat
        k = k + 1
        if k > p.j then m = 0 break end
        if k == 4 and p.on then m = p.x goto out end
      until k == 5
      ::out::
      m = m or 2
      p.y = m * -1
    end end)
  end)

  it("leaves to Lua rows in which a float would have to be rounded", function()
    local calls = scene:both(function() return function(p)
      local m, k = 9007199254740993, 0
      while k < p.j do
        k = k + 1
        if p.n % 100 == 0 then m = p.x end
      end
      p.on = m == 9007199254740992
    end end)
    assert.truthy(calls > 0)
  end)
end)

describe("a loop of a function whose result is used", function()
  local function steps(p)
    local n, count = p.n, 0
    while n ~= 1 do
      if n % 2 == 0 then n = n // 2 else n = 3 * n + 1 end
      count = count + 1
    end
    return count
  end

  -- In one row of the second table more rounds than programs do.
  local function patient(p)
    local k, top = 0, p.n == 1400 and 70000 or p.j
    repeat k = k + 1 until k >= top
    return k
  end

  -- Worlds with kernels and without, in two tables.
  local function worlds()
    local both_worlds = { scene:new(true), scene:new(false) }
    for n = 1, 2 do
      local world = both_worlds[n]
      world:query("P"):where(function(p) return p.n > 1000 end):each(function(_, _, e)
        world:add(e, "Mark")
      end)
    end
    return both_worlds[1], both_worlds[2]
  end

  it("filters, adds up, finds the least and the greatest, and maps", function()
    local fast, slow = worlds()
    for _, fn in ipairs { steps, patient } do
      local function many(p) return fn(p) > 5 end
      local q, plain = fast:query "P:in", slow:query "P:in"
      assert.equal(plain:where(many):count(), q:where(many):count())
      assert.same(plain:where(many):ids(), q:where(many):ids())
      assert.equal(plain:sum(fn), q:sum(fn))
      assert.same({ plain:max(fn) }, { q:max(fn) })
      assert.same({ plain:min(fn) }, { q:min(fn) })
      assert.equal(plain:where(many):sum(fn), q:where(many):sum(fn))
      assert.same({ plain:where(many):max(fn) }, { q:where(many):max(fn) })
      for _, tried in ipairs { fn, many } do
        assert.equal("vector", fast:explain(tried).tier, fast:explain(tried).reason)
      end
      local function mapped(n, j)
        while n > j do n = n - 7 end
        return n
      end
      fast:query("P.n, P.j:in"):map(mapped)
      slow:query("P.n, P.j:in"):map(mapped)
      assert.equal(slow:digest(), fast:digest())
      for _, world in ipairs { fast, slow } do
        world:query("P"):each(function(p) p.n = p.j + 1380 + p.i end)
      end
    end
  end)

  it("takes the numbers that it takes in Lua, where a row goes on in Lua, too", function()
    local seen = {}
    for n, world in ipairs { worlds() } do
      local function luck(p, _, e)
        local k, sum = 0, world:random(e)
        while k < p.j or (p.n == 1400 and k < 66000) do
          k = k + 1
          if k % 1000 == 1 then sum = sum + world:random(e) end
        end
        return sum
      end
      local q = world:query "P:in"
      seen[n] = { q:sum(luck), q:max(luck), q:sum(function(_, _, e) return world:random(e) end) }
    end
    assert.same(seen[2], seen[1])
  end)

  it("raises what Lua raises behind too many rounds", function()
    local fast, slow = worlds()
    local function bad(p)
      local k = 0
      while k < p.j or (p.n == 1400 and k < 70000) do k = k + 1 end
      return p.n // (70000 - k)
    end
    local said = {}
    for n, world in ipairs { fast, slow } do
      local _, why = pcall(function() return world:query("P:in"):sum(bad) end)
      said[n] = tostring(why):match "^[^\n]*":gsub("entity %S+: ", "")
    end
    assert.matches("attempt to", said[1], 1, true)
    assert.equal(said[2], said[1])
  end)

  it("is none where its body never comes to its end", function()
    local function of(body)
      return assert(load("local cost, ipairs = ... return function(p) " .. body .. " end"))(
        { 3, 1.5, 7 }, ipairs)
    end
    local short = [[for i, one in ipairs(cost) do p.x = p.x + one * i break end
      for k = 1, 3 do if p.on then p.n = p.n + k break else p.y = p.y + k break end end]]
    scene:both(function()
      return of(short), of [[
        for _ = 5, 1 do p.x = -1 return end
        for k = 1, p.j do p.i = k break end
        for _, one in ipairs(cost) do
          if p.i == 3 then p.n = p.x / 0 end
          p.n = p.n + one // 1
          do return end
        end]]
    end)
    local world = scene:new(true)
    world:system("s", { query = "P", each = of(short) })
    assert.not_matches("loop", world:explain("s").program)
  end)

  it("changes entities beside, each once, where a row goes on in Lua", function()
    local seen = {}
    for n, world in ipairs { worlds() } do
      local function busy(p, _, e)
        local k = p.n == 700 and -70000 or p.i
        while k < 3 do k = k + 1 end
        p.j = p.j + k
        if p.on then world:add(e, "Mark") end
        return p.j
      end
      local sum = world:query("P"):sum(busy)
      if n == 1 then assert.equal("vector", world:explain(busy).tier) end
      seen[n] = { sum, world:query("P, Mark"):count(), world:digest() }
    end
    assert.same(seen[2], seen[1])
  end)
end)

describe("a loop over what ipairs gives", function()
  it("goes through as much of the table as there is when the run begins", function()
    local list, worlds = {}, {}
    for n, kernels in ipairs { true, false } do
      worlds[n] = scene:new(kernels)
      worlds[n]:system("s", { query = "P", each = function(p)
        for i, v in ipairs(list) do p.x = p.x + v * i end
      end })
    end
    for _, add in ipairs { 1.5, 2, 0.25, 7 } do
      list[#list + 1] = add
      list.name, list[#list + 2] = "x", #list < 3 and 9 or nil
      for _, world in ipairs(worlds) do world:update(1) end
      assert.equal(worlds[2]:digest(), worlds[1]:digest())
    end
    assert.equal("vector", worlds[1]:explain "s".tier)
  end)

  it("goes through an array of the world, and sees what it writes to it", function()
    scene:all(function(world)
      local sums = world:array("sums", "f64", 7)
      return function(p)
        local sum = p.i
        for i, v in ipairs(sums) do
          if i > p.j then goto continue end
          sum = (sum + v) % 100
          sums[i] = sum
          ::continue::
        end
        p.x = sum
      end
    end)
  end)

  it("ends where there is nil, and goes on at false", function()
    scene:all(function() return function(p)
      for i, v in ipairs { 1, p.on and 4 or nil, 5 } do p.y = p.y + v * i end
    end end)
    scene:both(function() return function(p)
      for i, v in ipairs { 1, p.on and 4, 5 } do if v then p.y = p.y + v * i end end
    end end)
  end)
end)
