-- String fields in kernels: compared with strings of the function and with each other, measured,
-- asked for their first bytes, and set.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local has_error = helper.has_error
local ipairs, string, table = ipairs, string, table

local TEXTS = { "red", "blue", "", "a longer text", "ziggy" }

-- With zero bytes, bytes that are no letters, and beginnings that others have, too.
local ODD_TEXTS = { "", "red", "re", "reds", "rex", "ziggy", "zig", "ziggurat", "a\0b", "a\0", "a",
  "\0", "\0\0", "\u{e4}rger", "\u{e4}", "\xc3", "\xff\x80", "a longer text",
  "a longer thing to say" }

local function told(world)
  local out = {}
  for name, n, e in world:query("Name, N"):each() do
    out[#out + 1] = ("%d %q %q %s %s"):format(e, name.text, name.last, n.a, n.kind)
  end
  assert(world:check())
  return table.concat(out, "\n")
end

local scene = agree.scene {
  options = { tag = 1 },
  fill = function(world)
    local ids = {}
    world:component("Name", { "text: string", "last: string" })
    world:component("N", { "a: i64", "kind: enum(red, blue)" })
    world:tag "Odd"
    for i = 1, 150 do
      ids[i] = world:spawn { Name = { TEXTS[i % 5 + 1], TEXTS[i % 3 + 1] }, N = { i },
        Odd = i % 2 == 1 or nil }
    end
    return ids
  end,
  query = "Name, N",
  dt = 0.5,
  look = told,
}

-- Compiled, unless `tier` says otherwise.
local function same(fn, tier)
  scene:both(function() return fn end, { tier = tier })
end

describe("a string field in a kernel", function()
  it("is compared with strings, those that no entity has among them", function()
    same(function(name, n) if name.text == "ziggy" then n.a = -1 end end)
    same(function(name, n) if name.text ~= "" then n.a = n.a * 2 end end)
    same(function(name, n) n.a = name.text == "nobody is called so" and 1 or 2 end)
    same(function(name, n) n.a = name.text == name.last and 1 or 0 end)
    same(function(name, n)
      local wanted = n.a % 2 == 0 and "red" or "blue"
      if name.text == wanted or "ziggy" == name.text then n.a = 7 end
    end)
    same(function(name, n) n.a = name.text and 1 or 0 end)
    same(function(name, n) n.a = (name.text == nil or name.text == 3) and 1 or 0 end)
    local boss = "ziggy"
    same(function(name, n) if name.text == boss then n.a = 0 end end)
  end)

  it("is set to strings and to other fields", function()
    same(function(name) name.text = "new" end)
    same(function(name) name.text, name.last = name.last, name.text end)
    same(function(name, n)
      if n.a > 100 then
        name.text = "many"
      elseif name.text == "new" then
        name.last = ""
      else
        name.text = n.a % 2 == 0 and "new" or name.last
      end
    end)
    same(function(name, n)
      for i = 1, 3 do
        if n.a % i == 0 then name.text = "divided" end
      end
    end)
  end)

  it("is chosen beside strings of the function, of tables and of enums", function()
    local names = { "red", "ziggy", "blue" }
    local list = { { name = "red", gain = 2 }, { name = "nobody", gain = 90 } }
    local turned = { red = "blue", blue = "ziggy" }
    same(function(name, n)
      local best = name.text
      if n.a % 5 == 0 then best = names[n.a % 3 + 1] end
      name.last = n.a % 7 == 0 and best or n.kind
    end)
    same(function(name, n)
      local best, last, seen = name.text, "none", nil
      for k, one in ipairs(names) do
        if n.a % (k + 2) == 0 then best, seen = one, name.last end
        for _, other in ipairs(list) do
          if other.gain > n.a % 100 and best < last then last = other.name end
        end
      end
      if best ~= name.text then n.a = n.a + #best end
      name.text, name.last = seen or turned[n.kind] or last, best
    end)
    same(function(name, n)
      local seen
      if n.a % 2 == 0 then seen = "red" end
      for _ = 1, 3 do if n.a > 9 then if seen then n.a = n.a + 1 else seen = name.text end end end
    end)
    same(function(name, n) n.a = (#n.kind + #turned[n.kind]) * (n.kind < name.text and 2 or 1) end)
  end)

  it("is held by lists and is a key of tables that the function creates", function()
    same(function(name, n)
      local list = { name.text, "cid", n.kind }
      table.sort(list)
      name.text, name.last = list[1], list[n.a % 3 + 1]
    end)
    same(function(name, n)
      local list = { { d = n.a % 9, name = "first" }, { d = 4, name = name.last } }
      table.sort(list, function(a, b) return a.d < b.d or a.d == b.d and a.name < b.name end)
      name.text = list[2].name
    end)
    same(function(name, n)
      local votes = {}
      votes.red = 2
      for k = 1, 4 do
        local who = k % 2 == 0 and name.text or "ziggy"
        votes[who] = (votes[who] or 0) + k
      end
      votes[n.kind] = votes.red
      n.a = n.a + (votes[name.last] or 50) + votes.ziggy
    end)
  end)

  it("keeps a text that only a kernel has set, and lets go of the others", function()
    local world, ids = scene:new(true)
    local fns = {}
    for i = 1, 200 do
      local text = ("text %d "):format(i):rep(2000)
      fns[i] = function(name) name.text = text end
    end
    local query = world:query "Name"
    for _, fn in ipairs(fns) do
      query:run(fn)
      world:set(ids[1], "Name.last", "something else" .. #fns)
      collectgarbage "step"
    end
    assert.equal(("text 200 "):rep(2000), world:get(ids[150], "Name.text"))
    assert.is_true(world:check())
    local twin = helper.new_world()
    twin:load(world:save())
    assert.equal(("text 200 "):rep(2000), twin:get(twin:query("Name"):first(), "Name.text"))
  end)

  it("is asked for in predicates, and mapped", function()
    scene:twice(function(world, kernels)
      local function ziggy(name) return name.text == "ziggy" end
      local where = world:query("Name"):where(ziggy)
      assert.equal(30, where:count())
      assert.equal(kernels and "vector" or "lua", world:explain(ziggy).tier)
      world:query("Name.text, N.a"):map(function(text) return text == "" and "none" or text end)
      assert.equal(30, world:query("Name"):where(function(n) return n.text == "none" end):count())
    end)
  end)

  it("is set to names of an enum, and compared with them", function()
    same(function(name, n) name.text = n.kind end)
    same(function(name, n)
      n.a = name.text == n.kind and 1 or n.kind ~= name.last and 2 or 0
      if n.a == 0 then name.last = n.kind end
    end)
  end)

  it("is not used for anything else", function()
    local world = scene:new(true)
    local function refused(fn, ...)
      has_error(function()
        world:system("s", { query = "Name, N", each = fn, compile = true })
      end, "cannot be compiled", ...)
    end
    refused(function(name, n) n.a = #(name.text .. "x") end, "builds a string")
    refused(function(name, n) n.a = name.text < n.a and 1 or 0 end, "a string field with a number")
    refused(function(name, n) n.a = name.text:byte(1) end, "'string.byte'")
    refused(function(name, n) n.a = name.text + 1 end, "a string field")
    refused(function(name, n) n.a = name.text end, "sets a field of type i64")
    refused(function(name) name.text = 5 end, "it sets a string field to something other")
    refused(function(name, n) n.kind = name.text end, "something other than one of its names")
    local prices, many = { red = 1, blue = 2 }, {}
    for i = 1, 33 do many["s" .. i] = i end
    refused(function(name, n) prices[name.text] = n.a + (prices.red or 0) end, "writes")
    refused(function(name, n) n.a = many[name.text] or 0 end, "by a string field")
    same(function(name, n) n.kind = name.text end, "lua")
    same(function(name) name.text = 5 end, "lua")
  end)

  it("is read of other entities, in the order of rows", function()
    local others = agree.scene {
      options = { tag = 1 },
      fill = function(world)
        local ids = {}
        world:component("Name", { "text: string", "last: string" })
        world:component("Rare", { "word: string", storage = "sparse" })
        world:component("N", { "a: i64", "to: entity", "kind: enum(red, blue)" })
        for i = 1, 150 do
          ids[i] = world:spawn { Name = { TEXTS[i % 5 + 1], TEXTS[i % 3 + 1] }, N = { i },
            Rare = i % 4 == 0 and { word = TEXTS[i % 4 + 1] } or nil }
          world:set(ids[i], "N.to", ids[i * 7 % i + 1])
        end
        return world
      end,
      query = "Name, N",
      look = told,
    }
    others:all(function(world) return function(name, n)
      if world:get(n.to, "Name.text") == "red" then n.a = n.a + 1 end
      local word = world:get(n.to, "Rare.word")
      if word then n.a = n.a + #word elseif word == nil then n.a = n.a - 1 end
      name.last = world:get(n.to, "Name.text")
    end, function(name, n)
      name.text = world:get(n.to, "Name.text") == name.text and "same" or name.last
    end end)
  end)

  it("is the key of a table with string keys, as they are when a run begins", function()
    local tables = {}
    scene:all(function()
      local prices, acts = { red = 1, blue = 2, ["a longer text"] = 3, [5] = 7 }, {}
      function acts.red(n) n.a = n.a + 10 end
      function acts.ziggy(n) n.kind = "blue" end
      local kinds = { red = { price = 3, name = "blue" }, ziggy = { price = 4.5, name = "red" } }
      tables[#tables + 1] = prices
      return function(name, n)
        local price = prices[name.text]
        if price then n.a = n.a + price else n.a = n.a - 1 end
        if acts[name.text] then acts[name.text](n) end
        local kind = kinds[name.last]
        if kind then n.a, n.kind = n.a + kind.price // 1, kind.name end
        if kinds[name.last] == nil then n.a = n.a + 1 end
      end
    end, { before = function(_, turn)
      for _, prices in ipairs(tables) do
        if turn == 2 then prices.ziggy, prices.red = 9, nil end
      end
    end })
  end)

  it("is the key of tables that the function writes to, which get new ones by Lua", function()
    local tables = {}
    scene:all(function()
      local sums, last, seen = { red = 1, blue = 0.5 }, { nobody = 0 }, { blue = false }
      tables[#tables + 1] = sums
      return function(name, n)
        sums[name.text] = (sums[name.text] or 0) + n.a
        last[name.last] = n.a
        if n.a > 3 then seen[name.text] = true end
        n.a = (n.a + sums[name.text] // 1 + (last[name.text] or 7)) % 500
        if seen[name.last] then n.a = n.a + 1 end
      end
    end, { before = function(_, turn)
      for _, sums in ipairs(tables) do
        if turn == 3 then sums.ziggy, sums.red = 9, nil end
      end
    end })
  end)
end)

-- The same in worlds with odd texts: without kernels, with them, and on threads. A function that
-- raises an error does so in the same row. `asked` is a predicate.
local function odd(fn, rows, tier, asked)
  local results, rng = {}, random.new(rows)
  local chosen = {}
  for i = 1, 2 * rows do chosen[i] = rng:pick(ODD_TEXTS) end
  for i, threads in ipairs { 1, 1, "3!" } do
    local world = scene:new { kernels = i > 1, threads = threads }
    world:query("Name"):despawn()
    for row = 1, rows do
      world:spawn { Name = { chosen[row], chosen[rows + row] }, N = { row } }
    end
    world:system("s", { query = "Name, N", each = fn })
    local _, problem = pcall(world.update, world, 0.5)
    results[i] = world:digest() .. tostring(problem):match "^[^\n]*"
    if asked then
      local where = world:query("Name, N"):where(asked)
      results[i] = results[i] .. " " .. tostring((where:first())) .. " " .. where:count()
    end
    for _, what in ipairs { "s", asked } do
      local is = world:explain(what)
      if i > 1 then assert.equal(tier, is.tier, is.reason) end
    end
    assert.equal(results[1], results[i])
  end
end

describe("a string field in a kernel, as a text,", function()
  it("is before or behind others as Lua says", function()
    odd(function(name, n) n.a = name.text < name.last and 1 or 0 end, 400, "vector")
    odd(function(name, n) n.a = name.text <= name.last and 1 or 0 end, 400, "vector")
    odd(function(name, n) n.a = "reds" > name.text and 1 or 0 end, 150, "vector")
    odd(function(name, n) n.a = name.text >= "a\0" and 1 or 0 end, 150, "vector")
    odd(function(name, n)
      local than = n.a % 2 == 0 and "rex" or name.last
      if not (name.text < than) and "a" < "b" then n.a = -n.a end
    end, 150, "vector")
  end)

  it("has a length in bytes", function()
    odd(function(name, n) n.a = #name.text * 100 + #name.last end, 150, "vector")
    odd(function(name, n) n.a = #(n.a % 2 == 0 and "seven" or name.last) // 2 end, 150, "vector")
    local world = scene:new(true)
    local function length(name) return #name.text end
    assert.equal(30 * (3 + 4 + 0 + 13 + 5), world:query("Name"):sum(length))
    assert.equal("vector", world:explain(length).tier)
  end)

  it("is asked what it begins with (C26)", function()
    odd(function(name, n) n.a = name.text:sub(1, 3) == "zig" and 1 or 0 end, 150, "vector")
    odd(function(name, n) n.a = name.text:sub(1, 2) ~= "a\0" and 1 or 0 end, 150, "vector")
    odd(function(name, n) n.a = "a longer t" == name.text:sub(1, 10) and 1 or 0 end, 150, "vector")
    odd(function(name, n) n.a = name.text:sub(1, 3) == "re" and 1 or 0 end, 150, "vector")
    odd(function(name, n) n.a = name.text:sub(1, 3) == "zigg" and 1 or 0 end, 150, "vector")
    odd(function(name, n) n.a = name.text:sub(1, 0) == "" and 1 or 0 end, 150, "vector")
    odd(function(name, n) n.a = string.sub(name.text, 1.0, 3.0) == "zig" and 1 or 0 end, 150,
      "vector")
    odd(function(name, n) n.a = name.text:sub(1, -1) == name.last:sub(1) and 1 or 0 end, 150,
      "vector")
    odd(function(name, n)
      local first = name.text:sub(1, 2)
      local known = first and first == "re"
      while n.a > 100 and first ~= "\u{e4}" do n.a = n.a - 40 end
      if known then n.a = 0 end
    end, 150, "vector")
    local wanted, sub = "zig", string.sub
    odd(function(name, n) n.a = sub(name.text, 1, #wanted) == wanted and 1 or 0 end, 150, "vector")
  end)

  it("is asked so by another length and another text from outside in each run", function()
    local world = scene:new(true)
    local last, wanted = 3, "red"
    local where = world:query("Name"):where(function(name)
      return name.text:sub(1, last) == wanted
    end)
    assert.equal(30, where:count())
    last, wanted = 5, "ziggy"
    assert.equal(30, where:count())
    last = 4
    assert.equal(0, where:count())
    last = 2.5
    assert.error_matches(function() where:count() end, "number has no integer representation")
    last, wanted = 3.0, "blu"
    assert.equal(30, where:count())
  end)

  it("may be nil", function()
    odd(function(name, n)
      local text
      if n.a % 3 > 0 then text = name.text end
      if text and #text > 2 and text < "s" and text:sub(1, 1) ~= "a" then n.a = -5 end
    end, 150, "vector")
    odd(function(name, n)
      local text
      if n.a ~= 70 then text = name.text end
      n.a = text:sub(1, 1) == "r" and 1 or #text
    end, 150, "vector")
    odd(function(name, n)
      local text
      if n.a ~= 70 then text = name.text end
      n.a = text < "m" and 1 or 0
    end, 150, "vector")
  end)

  it("is looked at in loops over what an index finds, and of others", function()
    scene:twice(function(world, kernels)
      local names = world:index("names", { query = "Name:in, N:in", hash = "Name.last" })
      world:system("s", { query = "N, Odd", each = function(n)
        local count, least = 0, "zz"
        for name in names:find(n.a > 75 and "red" or "blue") do
          if name.text:sub(1, 1) == "r" and name.text <= least then count = count + #name.text end
        end
        n.a = count
      end })
      world:update(0.5)
      if kernels then scene:check_tier(world, "s") end
    end)
  end)

  it("gives the same in random functions with kernels and without, and on threads", function()
    for seed = 1, helper.by_scale { small = 30, normal = 80, deep = 1500 } do
      local rng = random.new(seed)
      local function word() return ("%q"):format(rng:pick(ODD_TEXTS)) end
      local function text()
        return rng:pick { "name.text", "name.last", word(), "name.text", "kept",
          "(n.a % 2 == 0 and " .. word() .. " or name.last)" }
      end
      local function condition()
        local how, compares = rng:range(1, 6), rng:pick { "<", "<=", ">", ">=", "==", "~=" }
        if how <= 2 then return ("%s %s %s"):format(text(), compares, text()) end
        if how == 3 then return ("#%s %s %d"):format(text(), compares, rng:range(0, 12)) end
        if how == 4 then return ("starts(%s, %s)"):format(text(), word()) end
        local form = how == 5 and "(%s):sub(1, %s) %s %s" or "string.sub(%s, 1, %s) %s %s"
        local wanted = rng:pick(ODD_TEXTS)
        local last = rng:pick { #wanted, #wanted, rng:range(0, 12), -1 }
        return form:format(text(), last, rng:pick { "==", "~=" }, ("%q"):format(wanted))
      end
      local lines = { "local kept = name.text" }
      for i = 1, rng:range(1, 5) do
        lines[i + 1] = ("if %s %s %s then %s = %s else n.a = n.a + #%s end"):format(condition(),
          rng:pick { "and", "or" }, condition(), rng:pick { "name.text", "name.last", "kept" },
          text(), text())
      end
      local body = "local function starts(s, p) return s:sub(1, #p) == p end "
        .. "return function(name, n) " .. table.concat(lines, "\n") .. " end, "
        .. "function(name, n) local kept = name.text return " .. condition() .. " end"
      local fn, asked = assert(load(body))()
      local ok, why = pcall(odd, fn, seed % 10 == 0 and 4000 or 60, "vector", asked)
      assert(ok, tostring(why) .. body)
    end
  end)
end)

describe("methods of strings in a kernel", function()
  local methods = getmetatable("")
  local original = string.sub

  after_each(function()
    string.sub, string.starts = original, nil   -- luacheck: ignore
    debug.setmetatable("", methods)
  end)

  it("are what they are at each run", function()
    local counted = scene:twice(function(world, kernels)
      local function zig(name) return name.text:sub(1, 3) == "zig" end
      local where = world:query("Name"):where(zig)
      local counts = {}
      local function count()
        local ok, result = pcall(where.count, where)
        counts[#counts + 1] = ok and result or string.match(result, "^[^\n]*")
      end
      count()
      string.sub = function() return "zig" end   -- luacheck: ignore
      count()
      string.sub = function(s, a, b) return original(s, a, b - 1) .. "g" end   -- luacheck: ignore
      count()
      string.sub = nil   -- luacheck: ignore
      count()
      string.sub = original   -- luacheck: ignore
      count()
      debug.setmetatable("", { __index = function() return string.upper end })
      count()
      debug.setmetatable("", nil)
      count()
      debug.setmetatable("", methods)
      count()
      if kernels then scene:check_tier(world, zig) end
      return table.concat(counts, "; ")
    end)
    local wanted = "^30; 150; 30; .*attempt to call.*; 30; 0; .*attempt to index.*; 30$"
    assert.truthy(counted:find(wanted), counted)
  end)

  it("may be those of a script", function()
    function string.starts(s, p) return s:sub(1, #p) == p end   -- luacheck: ignore
    local world = scene:new(true)
    local function zig(name) return name.text:starts "zig" end
    assert.equal(30, world:query("Name"):where(zig):count())
    assert.equal("vector", world:explain(zig).tier)
    local function some(name, n)
      local text
      if n.a < 150 then text = name.text end
      return text:starts "" == text:starts ""
    end
    string.starts = function() return true end   -- luacheck: ignore
    assert.error_matches(function() world:query("Name, N"):where(some):count() end,
      "attempt to index a nil value")
  end)

  it("are left as they are", function()
    local own = { __index = setmetatable({}, { __index = string }) }
    debug.setmetatable("", own)
    local world = scene:new(true)
    world:query("Name"):where(function(name) return name.text == "red" end):count()
    assert.equal(own, getmetatable(""))
  end)
end)
