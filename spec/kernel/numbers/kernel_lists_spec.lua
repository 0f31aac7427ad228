-- Lists that a function makes for itself, in kernels.

local helper = require "spec.support.ecs_helper"
local scenes = require "spec.support.scenes"

-- As kernels know them.
local library = rawget(_G, "jit") and require "spec.support.dialect" or _G
local assert, ipairs, pairs, table = assert, library.ipairs, library.pairs, table

local scene = scenes.linked(200, 9)

describe("a list that a function makes", function()
  it("holds integers, ids, booleans and enums, and is added to by table.insert", function()
    scene:whole(function()
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
    end)
  end)

  it("holds records, which are the same wherever they are", function()
    scene:whole(function()
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
    end)
  end)

  it("takes a record from a local, and records that lack a field", function()
    scene:whole(function()
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
    end)
  end)

  it("is changed by table.insert and table.remove anywhere", function()
    scene:whole(function()
      return function(p)
        local list = {}
        for i = 1, p.n do table.insert(list, 1, p.x + i) end
        table.insert(list, #list // 2 + 1, 0.5)
        local gone = table.remove(list, 1)
        if gone then p.x = p.x + gone end
        gone = table.remove(list)
        if gone then p.x = p.x - gone * 2 end
        p.n = (p.n + #list + (table.remove(list, #list + 1) == nil and 1 or 5)) % 9
        for i, v in ipairs(list) do p.x = (p.x * 2 + v * i) % 50 end
      end
    end, 6)
  end)

  it("is sorted as Lua sorts it, equal elements included", function()
    scene:whole(function()
      local orders = 0
      local function by(a, b) return a.d < b.d end
      return function(p, _, e)
        local list, names, plain = {}, {}, {}
        for i = 1, p.n * 5 do
          list[i] = { d = (i * 7 + p.n) % 6, i = i, id = i % 2 == 0 and e or p.to }
          names[i] = i % 3 == 0 and "c" or i % 2 == 0 and "b" or "a"
          plain[i] = (i * 13) % 11 * p.x
        end
        table.sort(list, by)
        table.sort(plain)
        local sum = 0
        for i, c in ipairs(list) do sum = (sum * 3 + c.i + i) % 4093 end
        local far = p.x
        table.sort(list, function(a, b)
          orders = orders + 1
          if a.id ~= b.id then return a.id < b.id end
          return (a.d - far) * (a.d - far) > (b.d - far) * (b.d - far)
        end)
        for _, c in ipairs(list) do sum = (sum * 3 + c.i) % 4093 end
        for i, v in ipairs(plain) do p.x = (p.x + v * i) % 60 end
        if names[1] == "a" then p.n = (sum + orders) % 9 end
      end
    end)
  end)

  it("is left to Lua where its order is none", function()
    local told = scene:explained(function()
      return function(p)
        local list = {}
        for i = 1, 12 do list[i] = (i * 5 + p.n) % 7 end
        local ok = true
        if p.n == 2 and p.x < 9 then
          ok = pcall(table.sort, list, function() return true end)
        end
        for i, v in ipairs(list) do p.x = (p.x + v * i + (ok and 0 or 1)) % 60 end
      end
    end)
    assert.equal("vector", told.tier, told.reason)
    scene:both(function()
      return function(p)
        local list = {}
        for k = 1, p.x do list[k] = k % 3 end
        table.sort(list, function(a, b) return a <= b end)
      end
    end, { tier = false, fails = true })
  end)

  it("of more than 1024 elements, or with gaps, is left to Lua", function()
    local told = scene:explained(function()
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

  it("takes any number of values, of which nothing is left when the row fails", function()
    local world = helper.new_world()
    world:component("P", { "n: i32", "small: u8" })
    for i = 1, 50 do world:spawn { P = { i * 10 } } end
    world:system("s", { query = "P", each = function(p)
      local list = {}
      for k = 1, 900 do list[k] = k end
      for _ = 1, 9 do
        for k = 2, 900 do list[k] = list[k - 1] + 1 end
      end
      list[#list + 1] = 3
      p.small = p.n              -- out of range from the 26th row on
      p.n = #list + list[900]
    end })
    assert.has_error(function() world:update(0) end)
    assert.equal(25, world:query("P"):where(function(p) return p.n == 1801 end):count())
    assert.equal(1, world:explain("s").left.rows)
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
    } do scene:explained(function() return fn end) end
  end)

  it("gives what plain tables give, in Lua's own errors, too", function()
    for _, fn in ipairs {
      function(p) local list = {} for i = 1, p.n do list[i] = i end p.x = list[6] + 1 end,
      function(p) local list = {} for i = 1, p.n do list[i] = {} end p.x = list[6].y or 1 end,
      function(p)
        local list = {}
        for _ = 1, p.n do list[#list + 1] = p.x end
        assert(#list < 8, "too many")
      end,
    } do scene:both(function() return fn end, { tier = false, fails = true }) end
  end)

  it("keeps a function in Lua with a reason that says what to write", function()
    local world = helper.new_world()
    world:component("P", { "x: f64", "n: i32", "s: string" })
    for i, case in ipairs {
      { "values of several types", function(p)
        local list = {}
        for k = 1, p.n do list[#list + 1] = k % 2 == 0 end
        list[1] = 5
        p.n = #list
      end },
      { "tables and other values into one list", function(p)
        local list = {}
        for k = 1, p.n do list[#list + 1] = { x = k } end
        list[1] = 5
        p.n = #list
      end },
      { "as a list and by names", function(p)
        local list = { name = 1 }
        for k = 1, p.n do list[#list + 1] = k end
        p.n = #list
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

describe("a table that a function makes", function()
  it("is indexed by ids, and gone over in Lua's order", function()
    scene:whole(function(_, ids)
      return function(p, _, e)
        local votes, total = {}, 0
        for i = 1, p.n * 4 do
          local who = i % 3 == 0 and p.to or i % 3 == 1 and e or ids[1]
          votes[who] = (votes[who] or 0) + i
          total = total + i
        end
        local best, most
        for who, n in pairs(votes) do
          p.x = (p.x * 3 + n) % 80
          if not most or n > most then best, most = who, n end
        end
        if best then p.to = best end
        if votes[e] and not votes[p.to] then p.n = 0 end
      end
    end, 5)
  end)

  it("has any integers as keys, also those whose low bits are alike", function()
    scene:whole(function()
      return function(p)
        local seen, order = {}, 0
        for i = 1, 40 do
          local cell = (i * i * (p.n + 1)) % 37 * 1024 + i % 3 - 1
          if not seen[cell] then
            seen[cell] = { at = i }
            p.x = (p.x + 1) % 90
          else
            seen[cell].at = seen[cell].at + 100
          end
        end
        for cell, one in pairs(seen) do order = (order * 31 + cell + one.at) % 65521 end
        p.n = order % 9
        local flags = {}
        for i = 1, 9 do flags[i] = i > p.n end
        flags[4.0] = true
        for i = 1, 9 do if flags[i] then p.x = p.x + 0.5 end end
        if flags[p.x] == nil and flags[-1] == nil then p.x = p.x + 0.25 end
      end
    end)
  end)

  it("is left to Lua where it is written to in its loop, or has gaps in it", function()
    for _, fn in ipairs {
      function(p)
        local t = {}
        for i = 1, p.n do t[i * 5] = i end
        for k in pairs(t) do t[k] = nil end
        p.x = next(t) and 1 or 0
      end,
      function(p)
        local t = {}
        for i = 1, p.n do t[i * 5] = i end
        t[5] = nil
        for k, v in pairs(t) do p.x = (p.x * 3 + k + v) % 50 end
      end,
      function(p)
        local t = {}
        for i = 1, p.n do t[i % 2 == 0 and "a" or i] = i end
        for _, v in pairs(t) do p.x = (p.x * 3 + v) % 50 end
      end,
    } do scene:explained(function() return fn end) end
  end)
end)

describe("what a function creates under a condition", function()
  it("is nil elsewhere", function()
    scene:whole(function()
      return function(p)
        local t, list = { a = p.on and "red" or nil }, {}
        for i = 1, 2 do list[i] = { v = p.x + i } end
        if p.n > 3 then t.b = list[1] end
        if p.n > 5 then t.c = p end
        p.kind = t.a or "blue"
        if t.b then p.x = t.b.v % 50 end
        if t.c then p.x = p.x + 0.25 end
      end
    end)
  end)
end)

describe("a table that a function makes with room", function()
  it("is gone over in the order of such a table", function()
    scene:whole(function()
      return function(p)
        local t, order = { [p.n + 14] = 1, [p.n] = 2, [p.n + 9] = 4 }, 0
        for _, v in pairs(t) do order = order * 10 + v end
        p.x = (p.x + order) % 50
      end
    end)
  end)
end)

describe("a function that a function creates", function()
  it("is called, with the locals around it", function()
    scene:whole(function()
      local outer = 3
      local function apply(f, a, b) return f(a, b) end
      return function(p)
        local k, sum = p.n * 2, 0.0
        local function f(a, b) return a * k + b + outer end
        local function add(x) sum = sum + x end
        p.x = f(p.x, 1) % 50
        k = 5
        for i = 1, p.n do add(i * f(p.x, i)) if i == 4 then break end end
        p.x = (p.x + sum) % 50
        local count = 0
        local step = function() count = count + 1 return count end
        while step() < p.n do p.x = p.x + 0.5 end
        local kept
        do
          local inner = p.n
          kept = function() return inner end
          p.x = (p.x + kept()) % 50
        end
        p.n = apply(function(a, b) if a < b then return a else return (b + k) % 9 end end, p.n, 4)
      end
    end)
  end)

  it("keeps a function in Lua where it outlives its call", function()
    for _, fn in ipairs {
      function(p)
        local function make(k) return function(x) return x + k end end
        p.x = make(2)(p.x) % 50
      end,
      function(p)
        local f
        for i = 1, 3 do
          local k = i
          if f then p.x = (p.x + f()) % 50 end
          f = function() return k end
        end
      end,
      function(p)
        local function fact(n) if n < 2 then return 1 end return n * p.n end
        p.n = fact(p.n) % 9
      end,
    } do scene:explained(function() return fn end) end
  end)

  it("keeps a local whose block has ended", function()
    for _, fn in ipairs {
      function(p)
        local f
        do local k = p.n f = function() return k end end
        local z = 100
        p.x = f() + z
      end,
      function(p)
        local f, z
        do local k = p.n f = function(by) k = k + by return k end end
        do local other = 50 z = other end
        p.x = f(1) + f(2) + z
      end,
    } do scene:explained(function() return fn end) end
  end)
end)

-- What rows of functions have appended to lists, with kernels and without, by systems and loops.
local function appended(make, wants_compiled)
  for _, form in ipairs { "each", "loop" } do
    local said, tier = {}, nil
    for i, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels, tag = 1 }
      world:component("P", { "x: f64", "n: i32", "on: bool", "s: string" })
      for k = 1, 600 do
        world:spawn { P = { x = k / 2, n = k % 9, on = k % 2 == 0, s = "s" .. k % 3 } }
      end
      local fn, lists, between = make()
      local query = world:query "P"
      local function run() for p, e in query:each() do fn(p, 0, e) end end
      world:system("s", form == "each" and { query = "P", each = fn } or { run = run })
      for turn = 1, 4 do
        world:update(0)
        if between then between(turn) end
      end
      local text = {}
      for _, list in ipairs(lists) do
        text[#text + 1] = "#" .. #list
        for k = 1, #list + 3 do
          local fields = {}
          if type(list[k]) == "table" then
            for name, value in pairs(list[k]) do   -- in this order
              fields[#fields + 1] = tostring(name) .. "=" .. tostring(value)
            end
          end
          local shown = tostring(list[k]):sub(1, 5)
          text[#text + 1] = fields[1] and table.concat(fields, ",") or shown
        end
      end
      said[i] = table.concat(text, ";")
      if kernels then
        local told = world:explain "s"
        tier = form == "each" and told.tier or told.loops[1] and told.loops[1].tier
      end
    end
    assert.equal(said[2], said[1])
    if wants_compiled then assert.equal("vector", tier) end
  end
end

describe("a list from outside", function()
  it("gets tables that rows create", function()
    if rawget(_G, "jit") then pending "LuaJIT makes tables otherwise" end
    appended(function()
      local found, kept, all = {}, { { id = 0 } }, {}
      return function(p, _, e)
        all[#all + 1] = {}
        if p.n == 4 then found[#found + 1] = { id = e, x = p.x, name = p.s, on = p.on } end
        if p.on then
          local one = { p.n, 7, what = p.n > 4 and "many" or "few", may = p.n > 2 and p.n or nil }
          one.late = p.x
          table.insert(kept, one)
        end
      end, { found, kept, all }
    end, true)
  end)

  it("gets more tables than there is room for in a list of a row", function()
    if rawget(_G, "jit") then pending "LuaJIT makes tables otherwise" end
    local world, out = helper.new_world(), {}
    world:component("P", { "n: i32" })
    for i = 1, 3000 do world:spawn { P = { n = i } } end
    local all = world:query "P:in"
    world:system("s", { query = "P:in", each = function(p) out[#out + 1] = { n = p.n } end })
    world:system("loop", { run = function()
      local list = {}
      for p in all:each() do list[#list + 1] = { n = p.n } end
      out = list
    end })
    for _ = 1, 2 do
      out = {}
      world:run "s"
      assert.same({ 3000, 1, 3000 }, { #out, out[1].n, out[3000].n })
      world:run "loop"
      assert.same({ 3000, 1, 3000 }, { #out, out[1].n, out[3000].n })
    end
    local told = world:explain("loop").loops[1]
    assert.same({ "vector" }, { told.tier, told.left })
    assert.same({ "vector" }, { world:explain("s").tier, world:explain("s").left })
  end)

  it("has elements behind its end, becomes another, or gets tables of several orders", function()
    appended(function()
      local out = {}
      out[2], out[3] = 5, 6
      return function(p) if p.n == 1 then out[#out + 1] = { id = p.n } end end, { out }
    end)
    appended(function()
      local a, b = {}, {}
      local lists = { a, b }
      return function(p)
        if p.n == 2 then a[#a + 1] = { n = p.n } b[#b + 1] = { x = p.x } end
      end, lists, function(turn)
        if turn == 2 then b = a lists[2] = b end
      end
    end)
    appended(function()
      local out = {}
      return function(p)
        local one = { id = p.n }
        if p.on then one.one, one.two, one.three = 1, 2, 3 else one.three, one.one = 4, 5 end
        one.four = 4
        out[#out + 1] = one
      end, { out }
    end)
    appended(function()
      local out = {}
      return function(p)
        local one = {}
        one.a = 1 one.b = p.x one[1] = 3 one[2] = p.n one.d = p.on one[3] = 4
        if p.n == 7 then out[#out + 1] = one end
      end, { out }
    end)
  end)
end)
