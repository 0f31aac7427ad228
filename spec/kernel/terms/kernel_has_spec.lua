-- world:has(e, C) in kernels: what a row's table has, decided once for all of its rows.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

local world                                     -- the one that functions are in
local what

local scene = agree.scene {
  options = { tag = 1, seed = 3 },
  fill = function(w)
    world = w
    world:component("P", { "x: f64", "on: bool" })
    world:component("Armor", { "n: i32", toggle = true })
    world:component("Soft", { storage = "sparse" })
    world:tag "Frozen"
    world:tag "Wet"
    world:relation "Likes"
    local ids = {}
    for i = 1, 400 do
      ids[i] = world:spawn { P = { x = i } }
      if i % 2 == 0 then world:add(ids[i], "Frozen") end
      if i % 3 == 0 then world:set(ids[i], "Armor", i) end
      if i % 6 == 0 then world:disable(ids[i], "Armor") end
      if i % 5 == 0 then world:add(ids[i], "Wet") end
      if i % 7 == 0 then world:add(ids[i], "Soft") end
    end
    what = "Wet"
    return ids
  end,
  updates = 3,
  dt = 0.5,
}

-- A system does the same with kernels and without, and is compiled.
local function check(query, each)
  scene:both(function() return each end, query)
end

describe("world:has in a kernel", function()
  it("is what the row's table has, and a boolean", function()
    check("P", function(p, _, e)
      p.on = world:has(e, "Frozen")
      if world:has(e, "Wet") then p.x = p.x * 2 elseif not world:has(e, "Armor") then p.x = 0.5 end
    end)
  end)

  it("sees what is switched off", function()
    for _, query in ipairs { "P", "P, !Armor", "P, Armor:any", "P, Armor", "P, Armor:off" } do
      check(query, query:find ", A" and function(p, _, _, e)
        p.on = world:has(e, "Armor")
      end or function(p, _, e) p.on = world:has(e, "Armor") end)
    end
  end)

  it("decides at once where a term of the query says so", function()
    check("P, Frozen, !Wet", function(p, _, e)
      p.on = not world:has(e, "Frozen") or world:has(e, "Wet") or world:has(e, "P")
    end)
    check("P, Soft?", function(p, soft, _, e)
      p.on = world:has(e, "Soft")
      if soft then p.x = 1 end
    end)
    check("P, Frozen?", function(p, frozen, _, e)
      p.on = frozen or false
      if world:has(e, "Frozen") and frozen ~= nil then p.x = 3 end
    end)
  end)

  it("reads a view only where there is one", function()
    local function each(p, ice, _, e)
      if world:has(e, "Ice") then ice.n = p.x end
    end
    scene:twice(function(_, kernels, ids)
      world:component("Ice", { "n: f64" })
      for i = 1, 30, 3 do world:add(ids[i], "Ice") end
      world:system("s", { query = "P, Ice?", each = each, compile = kernels or nil })
      world:update(0)
    end)
  end)

  it("is a predicate's and a sum's, too", function()
    scene:twice(function(_, kernels)
      local function wet(_, e) return world:has(e, "Wet") end
      local function count(_, _, e) return world:has(e, "Wet") and 1 or 0 end
      local query = world:query "P"
      assert.equal(80, query:sum(count))
      local where = query:where(wet)
      assert.equal(80, where:count())
      if kernels then
        scene:check_tier(world, wet)
        scene:check_tier(world, count)
      end
    end)
  end)

  it("is asked row by row where rows of one table differ", function()
    check("P", function(p, _, e) p.on = world:has(e, "Soft") end)
    check("P, ChildOf->P?", function(p, _, _, e)
      p.on = world:has(e, "Wet")
    end)
  end)

  it("is refused for what is no id", function()
    local cases = {
      { "P", function(p) p.on = world:has(what, "Wet") end, "something that is not an entity id" },
      { "P", function(p, _, e) p.on = world:has(e, "Wat") end, "unknown component 'Wat'" },
    }
    for _, case in ipairs(cases) do
      scene:new(true)
      world:system("s", { query = case[1], each = case[2] })
      assert.matches(case[3], world:explain("s").reason, 1, true)
    end
  end)

  it("is asked anew when the component is kept elsewhere", function()
    local _, ids = scene:new(true)
    world:system("s", { query = "P", each = function(p, _, e) p.on = world:has(e, "Wet") end })
    world:update(0)
    assert.equal("vector", world:explain("s").tier)
    world:component("Wet", { storage = "sparse" })
    world:remove(ids[5], "Wet")
    world:update(0)
    assert.equal("vector", world:explain("s").tier)
    for _, id in ipairs(ids) do assert.equal(world:has(id, "Wet"), world:get(id, "P.on")) end
  end)
end)

describe("world:has of a tie to one of several targets, in a kernel", function()
  it("goes through the targets, in loops and under conditions, too", function()
    for _, make in ipairs {
      function(w) return function(p, _, e) p.on = w:has(e, "War", p.who) end end,
      function(w) return function(p, _, e)
        if p.n % 2 == 0 and w:has(p.who, "War", e) then
          p.k = p.k + 1
        elseif w:has(e, "Owes", p.who) then
          p.k = p.k - 1
        end
      end end,
      function(w) return function(p, _, e) p.on = w:has(e, "War", "Foe") end end,
      function(w) return function(p, _, e)
        for i = 1, 3 do if p.k < i and w:has(e, "War", p.who) then p.k = i break end end
        if p.n == 77 then w:despawn(p.who) end
      end end,
    } do
      local seen = {}
      for n, kernels in ipairs { true, false } do
        local w, ids = helper.new_world { kernels = kernels, tag = 1 }, {}
        w:component("P", { "who: entity", "n: i32", "on: bool", "k: i32" })
        w:relation "War"
        w:relation("Owes", { "x: f32" })
        w:tag "Foe"
        for i = 1, 200 do ids[i] = w:spawn { P = { n = i } } end
        for i = 1, 200 do
          w:set(ids[i], "P.who", ids[i * 7 % 200 + 1])
          for j = 1, i % 5 do w:add(ids[i], "War", ids[i * j * 3 % 200 + 1]) end
          if i % 3 == 0 then w:add(ids[i], "War", ids[i * 7 % 200 + 1]) end
          if i % 3 == 1 then w:set(ids[i], "Owes", ids[i * 7 % 200 + 1], 2) end
          if i % 4 == 0 then w:add(ids[i], "War", "Foe") end
        end
        w:system("s", { query = "P", each = make(w) })
        local said = {}
        for turn = 1, 2 do
          local ok, why = pcall(w.update, w, 1)
          said[turn] = ok or why:match "^[^\n]*"
        end
        seen[n] = { said, w:digest() }
        local told = w:explain "s"
        assert.equal(kernels and "vector" or "lua", told.tier, told.reason)
      end
      assert.same(seen[2], seen[1])
    end
  end)
end)
