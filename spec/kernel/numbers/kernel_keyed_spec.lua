-- Tables that are indexed by ids, or by integers that do not count from 1, in kernels.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local scenes = require "spec.support.scenes"

local scene = scenes.linked(300, 40)

describe("a table that is indexed by ids in a kernel", function()
  it("is read", function()
    scene:whole(function(_, ids)
      local claims, speeds, heirs = {}, {}, { name = "heirs" }
      for k = 1, 300, 3 do
        claims[ids[k]], speeds[ids[k]], heirs[ids[k]] = k % 2 == 0, k, ids[301 - k]
      end
      return function(p, _, e)
        if claims[e] then p.x = p.x + 1 elseif claims[e] == false then p.x = p.x - 1 end
        p.x = p.x + (speeds[p.to] or 0.5)
        local heir = heirs[e]
        if heir then p.to = heir end
      end
    end)
  end)

  it("is written, and gets keys in the order in which Lua gives them", function()
    scene:whole(function(_, ids)
      local counts, last, met, sums = {}, {}, { [ids[3]] = true }, { [ids[9]] = 2.5, other = 1 }
      return function(p, dt, e)
        counts[p.to] = (counts[p.to] or 0) + 1
        last[p.to] = e
        if not met[p.to] then met[p.to] = true p.x = p.x + 1 end
        if p.n == 7 then sums[e] = p.x * dt end
        if last[p.to] and p.n == 9 then p.n = counts[p.to] % 40 end
      end, { counts, last, met, sums }
    end)
  end)

  it("loses keys", function()
    -- LuaJIT adds a key to remove it.
    local agreed = rawget(_G, "jit") and scene.explained or scene.whole
    agreed(scene, function(_, ids)
      local marks = {}
      for k = 1, 300, 6 do marks[ids[k]] = k end
      return function(p, _, e)
        if p.n % 9 == 0 then marks[p.to] = nil end
        if marks[p.to] then p.x = p.x + marks[p.to] end
        if p.on then marks[e] = nil end
      end, { marks }
    end, 1)
    scene:explained(function(_, ids)   -- rows that remove one are left to Lua
      local marks = { [ids[5]] = 1, [ids[200]] = 2 }
      return function(p, _, e)
        if p.n % 3 == 0 then marks[e] = p.n end
        if p.n == 9 then marks[p.to] = nil end
        if marks[p.to] then p.x = p.x + marks[p.to] end
        if p.n == 11 then marks[e] = nil end
      end, { marks }
    end)
  end)

  it("has keys that are no ids, and no integers", function()
    scene:explained(function()
      local least, far, none = {}, { [0] = 9, [1000] = 5 }, {}
      return function(p)
        local at = p.n % 10 == 0 and math.mininteger or p.n * 1000
        least[at] = (least[at] or 0) + 1
        none[2.25] = p.x
        p.x = (far[p.n * 1.0] or far[2.25] or 3) + (far[p.n * 0.5 + 999.75] or 0)
      end, { least, none }
    end)
  end)

  it("has keys of which some hide others, and more than there is room for", function()
    local told = scene:explained(function(_, ids)
      local old = {}
      for k = 1, 40 do old[ids[k]] = k old[ids[k] + (1 << 28)] = -k end
      return function(p, _, e) p.x = p.x + (old[e] or 0.25) end
    end, 1)
    assert.is_truthy(told.left.rows > 0)
    scene:explained(function()
      local many = {}
      return function(p)
        for i = 1, p.n == 11 and 9000 or 1 do many[p.n * 100000 + i] = i end
        p.x = (many[1100000 + 8999] or 0) + (many[p.n * 100000 + 1] or 0)
      end, { many }
    end)
  end)

  it("changes outside between runs", function()
    scene:explained(function(world, ids)
      local marks, n = {}, 0
      world:system("between", { run = function()
        n = n + 1
        if n == 1 then marks[ids[4]] = 7 end
        if n == 2 then marks = { [ids[5]] = 2.5 } end
        if n == 3 then marks[ids[6]] = true end
        if n == 4 then marks = { [ids[5]] = "text" } end
        if n == 5 then marks = setmetatable({}, { __index = function(_, k) return k % 7 end }) end
      end })
      return function(p, _, e)
        local mark = marks[e]
        if mark == true then p.x = 1 elseif mark and mark ~= "text" then p.x = p.x + mark end
      end
    end, 7)
  end)

  it("is refused with other values, and where it is used as a list", function()
    local world = helper.new_world()
    world:component("P", { "x: f64", "to: entity" })
    local e = world:spawn { P = {} }
    local function refused(words, fn) agree.check_reason(world, "P", fn, words) end
    local records, plain = { [e] = { hp = 5 } }, { [e] = 5 }
    refused("it uses an element of 'records', a table that has ids for keys, or integers "
      .. "that do not count from 1", function(p) p.x = records[p.to] and 1 or 2 end)
    refused("it sets 'plain' to a string", function(p) plain[p.to] = "text" end)
    refused("whose length it takes", function(p) plain[p.to] = #plain p.x = 1 end)
  end)

  it("is explained where no row has come to a program that another closure has compiled", function()
    local world = helper.new_world()
    world:component("P", { "x: f64", "n: i32" })
    for k = 1, 50 do world:spawn { P = { x = k, n = k } } end
    local function make(list, marks)
      return function(p)
        list[#list + 1] = p.x
        marks[p.n * 100] = 1
      end
    end
    local query = world:query "P"
    query:each(make({}, { [700] = 1 }))
    query:despawn()
    local fn = make({}, { [700] = 1 })
    query:each(fn)
    local tables = world:explain(fn).tables
    assert.equal(2, #tables)
    assert.equal(0, tables[1].elements)
  end)
end)
