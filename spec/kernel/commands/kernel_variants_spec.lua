-- Functions that become several programs, by which optional terms are there: what the rows of one
-- order comes behind what those of another have ordered before, and they see each other's writes.

local agree = require "spec.support.agree"

-- Four with A and V, and four more with A that are about these, unless a test has others.
local scene = agree.scene {
  options = { tag = 1 },
  fill = function(world, case)
    world:component("A", { "x: f64" })
    world:component("B", { "t: entity" })
    world:component("V", { "v: f64" })
    world:component("T", { toggle = true })
    world:resource("R", { "n: f64" })
    if case.fill then return case.fill(world) end
    local first = {}
    for i = 1, 4 do first[i] = world:spawn { A = { i }, V = { i * 10 } } end
    for i = 1, 4 do world:spawn { A = { i }, B = { first[i] } } end
    return world
  end,
  query = "A:in, B?",
  updates = 1,
  look = function(world)
    local list = {}
    for a in world:query("A"):each() do list[#list + 1] = ("%d"):format(a.x) end
    return table.concat(list, " ")
  end,
}

describe("a function with two programs", function()
  it("orders in the order of its rows, whichever of them are kept", function()
    for _, make in ipairs {
      function(world) return function(_, b, _, e)
        if b then world:add(b.t, "V") else world:remove(e, "V") end
      end end,
      function(world) return function(_, b, _, e)
        if b then world:remove(b.t, "V") else world:add(e, "V") end
      end end,
      function(world) return function(_, b, _, e)
        if b then world:add(e, "V") else world:spawn { A = { 5 }, V = { 6 } } end
      end end,
      function(world) return function(_, b)
        if b then world:set(b.t, "V", 7) else world:spawn { V = { 6 } } end
      end end,
    } do scene:both(make) end
  end)

  it("spawns before what later matches of a path order", function()
    local _, said = scene:both(function(world)
      return function(x, _, v, _, e)
        if v then world:remove(e, "B") else world:spawn { A = { x.x + 100 } } end
      end
    end, { query = "A:in, B:in, B.t->V?", fill = function(world)
      local a, b = world:spawn { A = { 1 }, V = { 7 } }, world:spawn { A = { 2 } }
      for i = 1, 6 do world:spawn { A = { i + 10 }, B = { i > 3 and a or b } } end
      return world
    end })
    assert.matches("1 2 111 112 113 14 15 16 11 12 13", said, 1, true)
  end)

  it("spawns before what rows order in which another term is switched on", function()
    scene:both(function(world)
      return function(a, _, t, _, e)
        if t then world:remove(e, "T") else world:spawn { A = { a.x + 100 }, B = true } end
      end
    end, { query = "A:in, B:in, T?", fill = function(world)
      for i = 1, 6 do
        local e = world:spawn { A = { i }, B = true, T = true }
        if i % 2 == 0 then world:disable(e, "T") end
      end
      return world
    end })
  end)

  it("reads fields of resources as rows before have left them", function()
    for query, last in pairs { ["V, A?"] = 4.0, ["V, B:in, B.t->A?"] = 6.0 } do
      local _, _, worlds = scene:both(function(world)
        local r = world:res "R"
        local function each(v, x) if x then r.n = r.n + 1 else v.v = r.n end end
        return query:find "B:in" and function(v, _, x) each(v, x) end or each
      end, { query = query, updates = 2, fill = function(world)
        local a, none = world:spawn { A = {} }, world:spawn()
        for i = 1, 6 do
          world:spawn { V = {}, B = { i % 2 == 0 and a or none }, A = i > 4 and {} or nil }
        end
        world:name(world:spawn { V = {}, B = { none }, T = true }, "last")
        return world
      end })
      assert.equal(last, (worlds[1]:get(worlds[1]:lookup "last", "V")))
    end
  end)
end)
