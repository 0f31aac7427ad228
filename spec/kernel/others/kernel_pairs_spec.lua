-- pairs in kernels, with tables from outside: by names, as lists, by integers; and with lists.

local agree = require "spec.support.agree"
local pairs = rawget(_G, "jit") and require("spec.support.dialect").pairs or pairs

local scene = agree.scene {
  options = { tag = 1, seed = 3 }, query = "P", updates = 3, counts = true,
  fill = function(world)
    world:component("P", { "x: f64", "n: i64", "who: entity" })
    local ids = {}
    for i = 1, 60 do ids[i] = world:spawn { P = { x = i / 4, n = i } } end
    return world, ids
  end,
}

local function fade(world)
  world:query "P":each(function(p) p.x = p.x / 2 end)
end

describe("pairs with a table from outside in a kernel", function()
  it("goes over names, and records, in the order of next", function()
    scene:all(function()
      local needs = { food = 0.5, fuel = 0.25, chips = 4, glass = 3, ammo = 2 }
      local grade = { food = 1, fuel = 2, chips = 3, glass = 4, ammo = 5 }
      local kinds = { wood = { hp = 3, tough = 2 }, stone = { hp = 9, tough = 1.5 } }
      return function(p)
        local best, most = nil, 0
        for name, rate in pairs(needs) do
          p.x = p.x * 0.75 + rate * grade[name]
          if name == "glass" then p.n = p.n + 1 end
          if rate * p.x > most then best, most = name, rate * p.x end
        end
        for _, kind in pairs(kinds) do p.x = p.x * 0.5 + kind.hp * kind.tough end
        for name in pairs(needs) do if grade[name] * 12 < p.n then p.n = p.n - 1 end end
        p.n = p.n + (best and grade[best] or 0)
      end
    end)
  end)

  it("goes over lists, of numbers or records, and over nothing", function()
    scene:all(function()
      local list, records, none = { 4, 5.5, 6 }, { { x = 1 }, { x = 5 } }, {}
      return function(p)
        for i, v in pairs(list) do p.x = p.x * 0.5 + v * i end
        for i, v in pairs(records) do p.n = p.n * 2 + v.x * i end
        for i, v in pairs(none) do p.n = p.n + i * v end
      end
    end)
  end)

  it("goes over ids, and other integers, in the order of next", function()
    scene:all(function(_, ids)
      local votes, marks = {}, { [-3] = true, [0] = false, [7] = true }
      for i = 1, 20 do votes[ids[i * 7 % 31 + 1]] = i / 2 end
      votes[ids[5]] = nil
      return function(p)
        local top, most = nil, -1
        for id, vote in pairs(votes) do
          p.x = p.x * 0.25 + vote
          if vote > most or vote == most and top and id < top then top, most = id, vote end
        end
        if top then p.who = top end
        for k, on in pairs(marks) do if on then p.n = p.n * 3 + k end end
      end
    end, { between = fade })
  end)

  it("may be left early", function()
    scene:all(function()
      local grade, list = { food = 1, fuel = 2, chips = 3, glass = 4 }, { 4, 5.5, 6 }
      return function(p)
        for _, n in pairs(grade) do if n * 12 > p.n then break end p.n = p.n - 1 end
        local own = { p.x, 3 }
        own[#own + 1] = 90
        for k, v in pairs(own) do p.x = (p.x * k + v) % 100 if v > 50 then break end end
        for _, v in pairs(list) do if v > p.x then return end p.n = p.n + 1 end
      end
    end)
  end)

  it("follows the table from run to run", function()
    local told, steps = {}, nil
    scene:both(function(_, ids)
      local t = {}
      steps = { function() t.a = 1 end, function() t.b, t.c = 2, 3 end,
        function() t.b = nil end, function() t = { 5, 6 } end, function() t[2] = nil end,
        function() t = { [ids[4]] = 2, [ids[2]] = 1 } end, function() t = {} end,
        function() t = setmetatable({}, { __pairs = function() return next, { 8, 9 } end }) end }
      return function(p)
        for k, v in pairs(t) do p.x = p.x * 0.5 + v p.n = p.n + (k and 1 or 0) end
      end
    end, { updates = 9, tier = false, between = function(world, turn)
      told[#told + 1] = world:explain "s1".tier
      if steps[turn] then steps[turn]() end
    end })
    assert.same({ "vector", "vector", "vector", "vector", "vector", "vector", "vector", "vector",
      "lua" }, { table.unpack(told, 1, 9) })
  end)

  it("goes over lists that the function creates, which may have lost all they had", function()
    scene:all(function()
      local function sum(p, more)
        local n = 0
        for k, v in pairs(more or {}) do n = n + v p.x = p.x * 0.5 + k end
        return n
      end
      local list = { 3, 4 }
      return function(p)
        local own = {}
        for i = 1, p.n % 4 do own[#own + 1] = i * p.x end
        for _ = 1, 2 do own[#own] = nil end
        for k, v in pairs(own) do p.x = (p.x * k + v) % 100 end
        own[#own + 1] = p.x
        p.n = p.n + #own + sum(p) + sum(p, list)
      end
    end)
  end)

  it("is told by what it goes over, whatever that was when the function was compiled", function()
    scene:both(function()
      local empty, list = {}, { 1, 2, nil, 4 }
      list[4] = 5
      local t, u = { a = 1, b = 2 }, { b = 5, a = 6, c = 7 }
      return function(p)
        empty.green = p.n
        for _, v in pairs(empty) do p.x = p.x + v end
      end, function(p)
        for i in ipairs(list) do p.n = p.n + i end
      end, function(p)
        local f = pairs(t)
        for _, v in f, u do p.x = p.x * 0.5 + v end
      end
    end, { tier = false })
  end)

  it("is Lua's where the function writes to it, or its keys are of several kinds", function()
    agree.check_reason(scene:new(true), "P", (function()
      local t = { a = 1 }
      return function(p) for k, v in pairs(t) do t[k] = v + p.x end end
    end)(), "from outside that it only reads")
    agree.check_reason(scene:new(true), "P", (function()
      local t = { a = 1, [5] = 2 }
      return function(p) for _, v in pairs(t) do p.x = p.x + v end end
    end)(), "keys other than names or integers")
  end)
end)
