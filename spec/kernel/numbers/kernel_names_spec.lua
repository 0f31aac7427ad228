-- What compiles beside numbers: names of enumerations, the null id, commands in loops. Each
-- function is run compiled and in Lua.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

-- An ipairs that kernels know.
local ipairs = rawget(_G, "jit") and require("spec.support.dialect").ipairs or ipairs
local kinds = { "red", "green", "blue" }

-- What each body leaves in D, by row, and in which entities, with kernels and without.
local scene = agree.scene {
  options = { tag = 1 },
  fill = function(world)
    world:component("D", { "v: f64", "kind: enum(red, green, blue)", "on: bool",
      "target: entity" })
    world:tag "T"
    world:tag "U"
    for i = 1, 6 do
      world:spawn { D = { v = i, kind = kinds[i % 3 + 1], on = i % 2 == 0 }, U = i > 3 or nil }
    end
  end,
  query = "D",
  updates = 1,
}

local function same(body, ...)
  local text = "local ecs, world, null, other = ... return function(d, dt, e)\n" .. body .. "\nend"
  local given = table.pack(...)
  scene:both(function(world)
    return assert(load(text, "=names"))(require "ecs", world, table.unpack(given, 1, given.n))
  end)
end

describe("a name in a kernel", function()
  after_each(helper.check_worlds)

  it("may be one in some rows and another one in others", function()
    same "d.kind = d.on and 'red' or 'blue'"
    same "local k = 'red' if d.v > 2 then k = 'green' end if d.v > 4 then k = 'blue' end d.kind = k"
    same "local k = 'red' if d.on then k = d.kind end d.kind = k"
    same "local k = d.kind if d.on then k = d.v > 3 and 'red' or 'green' end d.kind = k"
  end)

  it("is compared as a text", function()
    same "if (d.on and 'red' or 'green') == d.kind then d.v = 0 end"
    same "if d.kind ~= (d.on and 'red' or 'no name') then d.v = 0 end"
    same "local k = d.on and 'x' or 'y' if k == 'x' then d.v = 0 elseif k ~= 'z' then d.v = 9 end"
    same "local k, l = d.on and 'x' or 'y', d.v > 3 and 'y' or 'x' d.on = k == l"
    same "local k = d.on and 'x' or 'y' d.on = k == nil or k == 1 or not k"
  end)

  it("may be one of very many", function()
    local text = { "local k = 'none'" }
    for i = 1, 90 do text[#text + 1] = ("if d.v == %d then k = 'name %d' end"):format(i % 7, i) end
    text[#text + 1] = "if k == 'name 90' then d.v = 0 end"
    local fn = table.concat(text, "\n")
    helper.has_error(function() same(fn) end, "depends on the path taken")
    text = { "local k = 'none'" }
    for i = 1, 60 do text[#text + 1] = ("if d.v == %d then k = 'name %d' end"):format(i % 7, i) end
    text[#text + 1] = "if k == 'name 59' then d.v = 0 end"
    same(table.concat(text, "\n"))
  end)
end)

describe("the null id in a kernel", function()
  after_each(helper.check_worlds)
end)

describe("enums of several components in a kernel", function()
  after_each(helper.check_worlds)

  -- Of two components, whose names are the same in the same order, or not.
  local function told_of(kernels, names, each)
    local world = helper.new_world { kernels = kernels, tag = 1 }
    world:component("Gun", { "kind: enum(red, green, blue)", "n: i32" })
    world:component("Hurt", { ("kind: enum(%s)"):format(names), "n: i32" })
    for i = 1, 9 do
      world:spawn { Gun = { kind = kinds[i % 3 + 1] }, Hurt = { kind = kinds[i // 2 % 3 + 1] } }
    end
    world:system("s", { query = "Gun, Hurt", each = each })
    world:update(1)
    return world:explain "s", world:digest()
  end

  it("are mapped where they have the same names in another order, or more of them", function()
    local function each(gun, hurt)
      if gun.kind == hurt.kind then gun.n = 1 else hurt.kind = gun.kind end
      if gun.n == 0 and hurt.kind ~= "pink" then gun.kind = hurt.kind end
    end
    for _, names in ipairs { "red, blue, green", "pink, blue, red, green" } do
      local told, compiled = told_of(true, names, each)
      assert.are.equal("vector", told.tier, told.reason)
      assert.are.equal(select(2, told_of(false, names, each)), compiled)
    end
    local world = helper.new_world()
    world:component("C", { "kind: enum(pink, black)", "other: enum(red, green)" })
    world:system("s", { query = "C", each = function(c) c.kind = c.other end })
    local told = world:explain "s"
    assert.truthy(told.reason:find("'kind' (names: 'pink', ...) to a value of an enum that "
      .. "shares no name with it (names: 'red', ...)", 1, true), told.reason)
  end)

  it("may be a string that is none of their names", function()
    local function each(gun, hurt)
      local kind = hurt.n == 0 and gun.kind or "purple"
      if kind == "blue" then hurt.kind = kind end
      if kind == "purple" then gun.n = 5 end
      hurt.n = hurt.n + 1
    end
    local told, compiled = told_of(true, "red, green, blue", each)
    assert.are.equal("vector", told.tier, told.reason)
    assert.are.equal(select(2, told_of(false, "red, green, blue", each)), compiled)
  end)
end)

describe("a command in a loop of a kernel", function()
  after_each(helper.check_worlds)

  it("is done for the rows that came to it in any round", function()
    same "for i = 1, 3 do if d.v == i * 2 then world:add(e, 'T') end end"
    same "for i = 1, 3 do if d.v < i then world:despawn(e) end end"
    same "for i = 1, 6 do if d.v == i then world:remove(e, 'U') break end d.v = d.v - 1 end"
    same [[
      world:add(e, 'T')
      for i = 1, 2 do
        if d.v > i then world:add(e, 'U') end
        for j = 1, 2 do if d.v == i * j then world:add(e, 'U') end end
      end
      for i = 1, 2 do if d.v > 3 * i then world:remove(e, 'T') end end]]
  end)

  it("leads to a field of a view, a resource, or what an index yields", function()
    local fields = agree.scene {
      options = { tag = 1 },
      fill = function(world)
        world:component("S", { "weak: i32", "ill: i32", "frail: f64", "on: bool",
          "kind: enum(weak, ill)", "odd: enum(ill, gone)", "who: entity" })
        world:component("Spot", { "x: f64", "y: f64" })
        world:resource("Sums", { "weak: i64", "ill: i64" })
        for i = 1, 60 do
          world:spawn { S = { weak = i, ill = i % 7, frail = i / 4, on = i % 2 == 0,
            kind = i % 3 == 0 and "ill" or "weak", odd = i == 7 and "gone" or "ill" },
            Spot = { x = i % 9, y = i % 5 } }
        end
        local near = world:index("near", { query = "S:in, Spot:in", grid = "Spot", cell = 2 })
        return world, world:res "Sums", near
      end,
      query = "S",
      updates = 3,
    }
    local NAMES, KIND = { "weak", "ill", "frail" }, "ill"
    fields:all(function(world, sums)
      return function(s, _, e)
        for _, name in ipairs(NAMES) do s[name] = s[name] + 1 end
        s[s.kind] = s[s.kind] * 2 % 1000
        sums[s.kind] = sums[s.kind] + s[KIND]
        local name = s.on and "weak" or "ill"
        s[name], s.frail = s[name] + 3, s[s.on and "ill" or "frail"] * 0.5
        world:set(e, "S." .. s.kind, world:get(e, "S." .. name) + 1)
        world:set(e, "S." .. KIND .. "", 1 + s.weak % 50)
      end
    end)
    fields:both(function(_, _, near)
      return function(s)
        for other in near:within(s.frail % 9, 2, 1) do s.frail = s.frail + other[s.kind] end
      end
    end)
    local problem = select(2, fields:both(function() return function(s) s[s.odd] = 3 end end))
    assert.matches("component 'S' has no field 'gone'", problem, 1, true)
    fields.check_reason(fields:new(true), "S", function(s) s[s.weak .. "x"] = 1 end,
      "builds a string")
    fields.check_reason(fields:new(true), "S", function(s)
      s.frail = s[s.on and "nothing" or "none"]
    end, "indexes 'S' by names that are not its fields")
  end)

  it("is joined of constants, integers in the text, and names", function()
    same "d.kind = 'r' .. 'e' .. 'd'"
    same "if 'x' .. 1 .. 'y' == 'x1y' then d.v = 0 end"
    same "local k = d.on and 'b' or 'gr' if k .. 'een' == 'green' then d.v = d.v + 1 end"
    same "if 'my ' .. d.kind == 'my blue' then d.v = 7 end"
  end)

  it("is chosen in a loop, and returned from one", function()
    local moods = agree.scene {
      options = { tag = 1 },
      fill = function(world)
        world:component("P", { "n: i32", "x: f64", "mood: enum(home, work, eat, play, gone)",
          "other: enum(gone, eat)", "s: string" })
        for i = 1, 200 do
          world:spawn { P = { n = i % 11, x = i, other = i % 3 == 0 and "eat" or "gone",
            s = i % 2 == 0 and "eat" or "x" } }
        end
      end,
      query = "P",
      updates = 3,
    }
    local options = { { go = "work", w = 2 }, { go = "eat", w = 1 }, { go = "play", w = 0.5 } }
    local function find(n)
      for i = 1, 5 do
        if i * 2 == n then return "eat" end
        if i * 3 == n then return "play" end
      end
      return "home"
    end
    moods:all(function() return function(p)
      local choice, best = "home", 1.0
      for i, option in ipairs(options) do
        local score = option.w * (p.n - i)
        if score > best then best, choice = score, option.go end
      end
      p.mood, p.x = choice, best
    end, function(p)
      p.n = p.n + (find(p.n) == "eat" and 1 or 2)
      p.mood = find(p.n % 7)
    end, function(p)
      local name
      for i = 1, 3 do if p.n % i == 1 then name = i == 2 and "work" or "gone" end end
      if name then p.mood = name else p.s = "none" end
      local k = "x"
      while k ~= "xxx" and p.n > 4 do
        if k == "x" then k = "xx" else k = "xxx" end
        p.x = p.x + 1
      end
    end, function(p)
      local one = p.mood
      for i = 1, 4 do
        if p.n == i then one = p.other elseif p.n == i + 5 then one = "play" end
        if one == "eat" then p.x = p.x + i end
      end
      p.mood = one
      p.s = one
    end, function(p)
      for i = 1, 3 do
        local inner = "gone"
        for j = 1, p.n % 4 do if j == i then inner = options[j % 3 + 1].go end end
        if inner ~= "gone" then p.mood = inner break end
      end
    end end)
  end)
end)
