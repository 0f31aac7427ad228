-- What functions that are compiled do with the ids of those whom they spawn.

local agree = require "spec.support.agree"
local ecs = require "ecs"

local math = math

-- Everything there is, by what it is called and what it has.
local function said_of(world)
  local said = { world:digest() }
  for e in world:query("Part?"):each() do said[#said + 1] = tostring(e) end
  for what in world:events "Built" do
    said[#said + 1] = ("%s %s %d"):format(what.what, what.by, what.n)
  end
  return table.concat(said, "\n")
end

local scene = agree.scene {
  options = { tag = 9 },
  fill = function(world)
    world:component("Ship", { "n: i32", "port: entity", "made: entity", "x: f64" })
    world:component("Part", { "of: entity", "next: entity", "k: i32" })
    world:event("Built", { "what: entity", "by: entity", "n: i32" })
    world:relation "Likes"
    world:relation("On", { "since: f64", exclusive = true })
    world:array("born", "entity", 50)
    world:tag "Fresh"
    world:spawn { ChildOf = world:spawn() }
    local last
    for n = 1, 1300 do
      last = world:spawn { Ship = { n = n % 13, port = n % 5 > 0 and last or nil, x = n } }
    end
    return world, world:array "born"
  end,
  query = "Ship",
  look = said_of,
}

describe("the id of a spawned entity", function()
  it("is of use behind other spawns: a tower with its children", function()
    scene:both(function(world)
      return function(ship, _, e)
        if ship.n ~= 5 then return end
        local tower = world:spawn { Part = { k = 1 }, ChildOf = e }
        local left = world:spawn { Part = { of = tower }, ChildOf = tower }
        local right = world:spawn { ChildOf = tower, Part = { of = tower, next = left } }
        world:set(left, "Part.next", right)
        world:add(tower, "Fresh")
        world:add(tower, "Likes", left)
        world:add(right, "Likes", tower)
        world:remove(right, "Likes", tower)
        world:set(tower, "Part", tower, left)
        ship.made = left
        if ship.x > 900 then world:despawn(right) end
      end
    end)
  end)

  it("is one of two, or that of another entity", function()
    scene:both(function(world, born)
      return function(ship, _, e)
        local who
        if ship.n > 6 then
          who = world:spawn { Part = { k = 1 } }
        else
          who = world:spawn { Part = { k = 2 } }
        end
        world:add(who, "On", e)
        local host = ship.port ~= ecs.null and ship.port or world:spawn { Ship = { n = 100 } }
        local friend = ship.n > 3 and who or e
        world:set(who, "Part.of", host)
        world:add(friend, "Likes", host)
        world:add(host, "Fresh")
        born[ship.n + 1] = friend
        world:emit("Built", host, friend, ship.n)
        ship.made = ship.n % 2 == 0 and friend or ship.port
      end
    end)
  end)

  it("is compared with ids", function()
    scene:both(function(world)
      return function(ship, _, e)
        local one = world:spawn { Part = { k = 1 } }
        local two = ship.n > 4 and world:spawn { Part = { k = 2 } } or one
        local k = 0
        if one == two then k = k + 1 end
        if one ~= e then k = k + 2 end
        if two ~= ecs.null then k = k + 4 end
        if ship.port == one then k = k + 8 end
        local either = ship.n > 8 and one or ship.port
        if either == ecs.null then k = k + 16 end
        if either == two then k = k + 32 end
        if math.type(one) == "integer" then k = k + 64 end
        ship.n = k
      end
    end)
  end)

  it("is kept of the last that a row spawns; rows that go back further are left to Lua", function()
    for _, most in ipairs { 100, 255, 256, 400 } do
      scene:both(function(world)
        return function(ship, _, e)
          if ship.n ~= 7 or ship.x < 1200 then return end
          local first = world:spawn { Part = { of = e } }
          for k = 1, most do
            local new = world:spawn { Part = { k = k } }
            world:add(new, "Fresh")
          end
          world:set(first, "Part.k", most)
          world:spawn { Part = { of = first } }
        end
      end)
    end
  end)

  it("is Lua's in rows that it runs, and is no id of others in these", function()
    scene:both(function(world)
      return function(ship, _, e)
        local one = world:spawn { Part = { k = 1 } }
        local two = world:spawn { Part = { k = 2 } }
        world:set(one, "Part.k", ship.x > 700 and ship.n == 3 and 3000000000 or 4)
        world:add(two, "Likes", one)
        world:add(ship.port, "Likes", two)   -- there is none in some rows
        world:emit("Built", one, e)
      end
    end)
    scene:both(function(world)
      return function(ship)
        local one = world:spawn { Part = { k = 1 } }
        world:add(ship.n == 8 and ship.port or one, "Fresh")
        world:add(ship.n - 20, "Fresh")
      end
    end)
  end)

  it("is nothing to calculate with, or to ask", function()
    local world, _, born = scene:new(true)
    for words, fn in pairs {
      ["it calculates with the id of a spawned entity"] =
        function(ship) ship.n = world:spawn() - 1 end,
      ["with something that may not be an entity"] =
        function(ship) if world:spawn() == ship.n then ship.n = 1 end end,
      ["world:has with something that is not an entity id"] =
        function(ship) if world:has(world:spawn(), "Part") then ship.n = 1 end end,
      ["world:random with something that is not an entity id"] =
        function(ship) ship.x = world:random(world:spawn()) end,
      ["by something other than a number"] = function() born[world:spawn()] = world:spawn() end,
      ["sets a field of type i32 to an entity"] =
        function(_, _, e) world:set(e, "Part.k", world:spawn()) end,
      ["depends on the path taken"] =
        function(ship) born[1] = ship.n > 3 and world:spawn() or 5 end,
    } do
      agree.check_reason(world, "Ship", fn, words)
    end
  end)
end)
