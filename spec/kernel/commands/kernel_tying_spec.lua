-- Functions that tie entities to each other and untie them, compiled.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

local heard

local scene = agree.scene {
  fill = function(world)
    world:component("Ship", { "port: entity", "n: i32" })
    world:relation("DockedTo", { "since: f64", exclusive = true })
    world:relation("State", { exclusive = true })
    world:relation "Likes"
    world:tag "Idle"
    world:tag "Chasing"
    local port = world:spawn {}
    world:spawn { ChildOf = port }
    for n = 1, 300 do
      world:spawn { Ship = { port = port, n = n % 12 }, DockedTo = n % 5 == 0 and port or nil }
    end
    heard = 0
    world:observer("hear", { query = "(Likes, *)", on = "add",
      each = function() heard = heard + 1 end })
  end,
  query = "Ship",
  look = function() return tostring(heard) end,
}

-- What Lua has made of the last world, and said of it.
local function check(make)
  local _, said, worlds = scene:both(make)
  return worlds[2], said
end

describe("a function that ties entities", function()
  it("adds ties to ids, to tags by name, and to its row's entity", function()
    local world = check(function(world)
      return function(ship, _, e)
        if ship.n > 8 then world:add(ship.port, "Likes", e) end
        if ship.n > 5 then world:add(e, "State", "Chasing") else world:add(e, "State", "Idle") end
        if ship.n == 3 then world:add(e, "DockedTo", ship.port) end
      end
    end)
    assert.equal(150, world:count "(State, Chasing)")
  end)

  it("unties from one target, and from all", function()
    local world = check(function(world)
      return function(ship, _, e)
        world:add(e, "Likes", "Idle")
        world:add(e, "Likes", "Chasing")
        if ship.n % 2 == 0 then world:remove(e, "Likes", "Idle") end
        if ship.n == 7 then world:remove(e, "Likes") end
        if ship.n > 3 then world:remove(e, "DockedTo") end
      end
    end)
    assert.equal(125, world:count "(Likes, Idle)")
    assert.equal(275, world:count "(Likes, Chasing)")
    assert.equal(20, world:count "DockedTo")
  end)

  it("spawns who is tied, also to whom it has spawned before", function()
    local world = check(function(world)
      return function(ship, _, e)
        if ship.n ~= 11 then return end
        local tower = world:spawn { ChildOf = ship.port, Ship = { n = 50 }, Likes = e }
        world:spawn { Likes = "Idle", ChildOf = tower, State = "Chasing" }
        world:add(e, "DockedTo", ship.port)
      end
    end)
    assert.equal(50, world:count "Ship, ChildOf")
    assert.equal(50, world:count "(State, Chasing), (Likes, Idle)")
  end)

  it("knows the relations that every world has before anybody uses them", function()
    for _, each in ipairs {
      function(w) return function(p) if p.x < 0 then w:spawn { ChildOf = p.to } end end end,
      function(w) return function(p, _, e) if p.x < 0 then w:add(e, "ChildOf", p.to) end end end,
      function(w) return function(p, _, e) p.x = w:has(e, "ChildOf") and 1 or 2 end end,
      function(w)
        return function(p, _, e)
          local of = w:target(e, "IsA")
          if of then p.to = of end
        end
      end,
    } do
      local world = helper.new_world()
      world:component("P", { "x: f64", "to: entity" })
      world:spawn { P = {} }
      world:system("s", { query = "P", compile = true, each = each(world) })
      world:update(1)
      assert.equal(1, world:explain("s").compilations)
    end
  end)

  it("raises as Lua does, and does what the rows before have done", function()
    local _, said = check(function(world)
      return function(ship, _, e)
        world:add(e, "Likes", ship.n == 9 and e + 5000 or ship.port)
      end
    end)
    assert(said:find("was never spawned", 1, true), said)
    _, said = check(function(world)
      return function(ship, _, e)
        world:spawn { Likes = ship.n == 9 and e + 5000 or ship.port }
      end
    end)
    assert(said:find("was never spawned", 1, true), said)
    _, said = check(function(world)
      return function(ship) if ship.n == 9 then world:add(ship.port, "ChildOf", ship.port) end end
    end)
    assert(said:find("'ChildOf' would form a cycle", 1, true), said)
  end)
end)
