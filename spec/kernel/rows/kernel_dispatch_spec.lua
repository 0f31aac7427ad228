-- Functions that call one of several functions, or a method with one of several names, as the row
-- says, compiled.

local agree = require "spec.support.agree"

local math = math
local STATES = { "idle", "walk", "work", "none" }

local scene = agree.scene {
  options = { tag = 1 },
  fill = function(world)
    world:component("P", { "i: i32", "n: i32", "x: f64", "y: f64", "hot: bool",
      "state: enum(idle, walk, work, none)" })
    world:component("Store", { "gold: f64", "wood: f64" })
    world:tag "Hot"
    world:tag "Wet"
    world:event("Said", { "x: f64", "who: entity" })
    world:event("Done", { "x: f64" })
    local acc, store = world:array("acc", "f64", 8), world:spawn { Store = { gold = 3 } }
    for i = 1, 700 do
      world:spawn { P = { i = i, n = i % 5, x = i, hot = i % 4 == 0, state = STATES[i % 4 + 1] } }
    end
    return world, acc, store
  end,
  look = function(world) return world:count "Hot" .. " " .. world:count "Wet" end,
  query = "P",
  updates = 3,
}

-- What an entity does in each of its states; how often it has worked.
local function states_of(world, acc)
  local worked, states = 0, {}
  function states.idle(p, dt)
    p.x = p.x + dt
    if p.n > 2 then p.state = "walk" end
  end
  function states.walk(p, _, e)
    for i = 1, p.n do p.y = p.y + i end
    if p.y > 10 then
      p.state, p.y = "work", 0
      return 5
    end
    world:emit("Said", p.x, e)
  end
  function states.work(p, _, e)
    acc[p.i % 8 + 1] = acc[p.i % 8 + 1] + 1
    worked = worked + 1
    world:add(e, "Hot")
    p.state = "idle"
    return p.x
  end
  return states, function() return worked end
end

describe("a kernel that calls a function out of a table", function()
  it("calls the one that the row names, with all that it does", function()
    local counts = {}
    scene:both(function(world, acc)
      local states, worked = states_of(world, acc)
      counts[#counts + 1] = worked
      return function(p, dt, e)
        local act = states[p.state]
        if act then
          local result = act(p, dt, e)
          if result then p.y = result end
        end
      end
    end)
    assert.is_true(counts[1]() > 0)
    assert.equal(counts[2](), counts[1]())
    scene:both(function(world, acc)
      local states = states_of(world, acc)
      return function(p, dt, e) if p.state ~= "none" then states[p.state](p, dt, e) end end
    end)
  end)

  it("calls the one at a number, in loops, in arguments, and one that calls another", function()
    scene:both(function()
      local steps = { function(a) return a + 1 end, function(a) return a * 2 end }
      local both = { function(a) return steps[1](a) end,
        function(a) return steps[a // 1 % 2 + 1](a) end }
      return function(p)
        p.x = steps[p.n % 2 + 1](p.x) % 1000
        for k = 1, 2 do p.y = p.y + steps[k](p.n) if steps[k](p.n) > 6 then break end end
        p.y = math.max(steps[p.n % 2 + 1](1), both[p.i % 2 + 1](p.x) % 50)
      end
    end)
    scene:both(function()
      local steps = { function(a) return a + 1 end }
      return function(p)
        local step = steps[p.n]
        p.y = step and step(p.y) or 3
      end
    end)
  end)
end)

describe("a kernel that gives a method one of several names", function()
  it("gets, sets, adds, removes, asks and emits as with each of them", function()
    scene:both(function(world, _, store)
      return function(p)
        local field = p.hot and "Store.gold" or "Store.wood"
        world:set(store, field, world:get(store, field) + p.x)
      end
    end)
    scene:both(function(world)
      return function(p, _, e)
        world:add(e, p.i % 3 == 0 and "Hot" or "Wet")
        local tag = "Hot"
        if p.i > 100 then tag = "Wet" end
        if world:has(e, tag) then p.x = p.x + 1 elseif p.hot then world:remove(e, tag) end
        world:emit(p.i % 5 == 0 and "Said" or "Done", p.x)
      end
    end)
  end)

  -- What cards cost and do: by number, and by the name of a state. Not all do something.
  local function cards_of(world, acc)
    local cards = {
      { cost = 1, name = "hit", play = function(p, n) p.x = p.x + n end },
      { cost = 2, name = "block", play = function(p, _, e) p.y = p.y + 1 world:add(e, "Hot") end },
      { cost = 0.5, name = "rest" },
      { cost = 3, name = "sum", play = function(p)
        acc[p.n + 1] = acc[p.n + 1] + p.x
        return p.x
      end },
    }
    local kinds = { idle = cards[1], walk = cards[2], work = cards[4], none = { cost = 7 } }
    return cards, kinds
  end

  it("calls one that is in a record beside other values", function()
    scene:both(function(world, acc)
      local cards, kinds = cards_of(world, acc)
      return function(p, _, e)
        local card = cards[p.i % 4 + 1]
        if card.play then card.play(p, card.cost, e) end
        local kind = kinds[p.state]
        if p.state ~= "none" then p.y = kind.play(p, kind.cost, e) or p.y end
        if card.name == "sum" then p.state = "none" end
      end
    end)
    local problem = select(2, scene:both(function(world, acc)
      local cards = cards_of(world, acc)
      return function(p, _, e) cards[p.n * 10].play(p, 1, e) end
    end))
    assert.matches("attempt to index a nil value", problem, 1, true)
    problem = select(2, scene:both(function(world, acc)
      local cards = cards_of(world, acc)
      return function(p, _, e) cards[p.n % 4 + 1].play(p, 1, e) end
    end))
    assert.matches("attempt to call", problem, 1, true)
  end)

  it("sees that a record has another function, or that there is another record", function()
    local made = {}
    scene:both(function(world, acc)
      local cards = cards_of(world, acc)
      made[#made + 1] = cards
      return function(p, _, e)
        local card = cards[p.i % #cards + 1]
        if card.play then card.play(p, card.cost, e) end
      end
    end, { before = function(_, turn)
      for _, cards in ipairs(made) do
        if turn == 2 then cards[1].play = cards[4].play end
        if turn == 3 then cards[#cards + 1] = { cost = 2, play = cards[2].play } end
      end
    end })
  end)

  it("finds an array of the world in a record", function()
    scene:both(function(world, acc)
      local more = world:array("more", "f64", 8)
      local maps = { { cells = acc, w = 2 }, { cells = more, w = 4 } }
      return function(p)
        local map = maps[p.i % 2 + 1]
        map.cells[p.n + 1] = map.cells[p.n + 1] + map.w
        p.x = map.cells[3]
      end
    end)
  end)
end)
