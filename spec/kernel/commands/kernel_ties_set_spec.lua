-- Functions that give ties their fields, tie by pairs' ids and to several at once, compiled.

local agree = require "spec.support.agree"
local ecs = require "ecs"

local heard

local function watch(world)
  heard = {}
  for _, on in ipairs { "add", "set", "remove" } do
    world:observer(on, { on = on, query = "DockedTo", each = function(docked, e)
      heard[#heard + 1] = ("%s %d %s %s"):format(on, e, docked.target, docked.since)
    end })
    world:observer(on .. " pair", { on = on, query = "(Owes, *)", each = function(_, e)
      heard[#heard + 1] = on .. e
    end })
  end
end

local scene = agree.scene {
  options = { tag = 3 },
  fill = function(world)
    world:component("Ship", { "n: i32", "port: entity", "x: f64" })
    world:relation("DockedTo", { "since: f64", "berth: i8", exclusive = true })
    world:relation("State", { exclusive = true })
    world:relation("Under", { "rank: i32", exclusive = true, acyclic = true })
    world:relation("Owes", { "amount: i32", "rate: f32 = 2" })
    world:relation "Likes"
    world:tag "Idle"
    world:tag "Chasing"
    world:spawn { ChildOf = world:spawn {} }
    local last
    for n = 1, 600 do
      local e = world:spawn { Ship = { n = n % 12, port = n % 4 > 0 and last or nil, x = n },
        DockedTo = n % 5 == 0 and { target = last, since = n } or nil }
      if n % 3 == 0 then world:set(e, "Owes", last, n) end
      last = e
    end
    watch(world)
    return world, last
  end,
  query = "Ship",
  look = function() return table.concat(heard, "\n") end,
}

describe("a function that sets ties", function()
  it("gives an exclusive relation its target and fields", function()
    scene:both(function(world)
      return function(ship, dt, e)
        if ship.n == 1 then world:set(e, "DockedTo", ship.port, ship.x, 3) end
        if ship.n == 2 then world:set(e, "DockedTo", ship.port) end
        if ship.n == 3 then world:set(e, "DockedTo", { target = ship.port, berth = 7 }) end
        if ship.n == 4 then world:set(e, "DockedTo", "Idle", dt) end
        if ship.n == 5 then world:set(e, "DockedTo", "Idle", { berth = ship.n }) end
        if ship.n == 6 then world:set(e, "DockedTo.target", ship.port) end
        if ship.n == 7 then world:set(e, "DockedTo", ecs.null) end
        if ship.n == 8 then world:set(e, "State", ship.x > 200 and ship.port or e) end
        if ship.n == 9 then world:set(e, "State", "Chasing") end
      end
    end)
  end)

  it("gives fields to a tie that there is, or raises as Lua does", function()
    scene:both(function(world)
      return function(ship, _, e)
        if world:has(e, "DockedTo") then
          world:set(e, "DockedTo.since", ship.x)
          world:set(e, "DockedTo", { berth = ship.n, since = ship.x + 1 })
        end
      end
    end)
    scene:both(function(world)
      return function(ship, _, e)
        if ship.n > 2 then world:set(e, "DockedTo.since", ship.x) end
      end
    end)
    scene:both(function(world)   -- of one that the row has made
      return function(ship, _, e)
        world:add(e, "DockedTo", "Idle")
        world:set(e, "DockedTo.berth", ship.n)
      end
    end)
  end)

  it("gives pairs their fields", function()
    scene:both(function(world, last)
      return function(ship, _, e)
        if ship.n == 1 then world:set(e, "Owes", last, ship.n, 0.5) end
        if ship.n == 2 then world:set(last, "Owes", e, { rate = ship.x }) end
        if ship.n > 2 and ship.port ~= ecs.null then
          world:set(e, "Owes.amount", ship.port, ship.n * 3)
          if ship.n > 4 then world:set(ship.port, "Owes", "Idle", 4) end
          if ship.n == 5 then world:remove(ship.port, "Owes", "Idle") end
        end
        if ship.n == 6 then world:set(e, "Likes", last) end
      end
    end)
  end)

  it("drops all of what cannot apply", function()
    scene:both(function(world, last)
      return function(ship, _, e)
        world:set(e, "Under", ship.n > 3 and last or e, ship.n)
      end
    end)
    scene:both(function(world, last)
      return function(ship, _, e)
        world:set(e, "DockedTo", last, ship.x)
        world:set(last, "Owes", e, 3)
        if ship.n == 7 then world:despawn(e) end
        if ship.x == 500 then world:despawn(last) end
      end
    end)
  end)

  it("ties by pairs' ids, from outside or made there", function()
    scene:both(function(world, last)
      local likes, docked = world:pair("Likes", last), world:pair("DockedTo", last)
      local chasing, owes = world:pair("State", "Chasing"), world:pair("Owes", last)
      return function(ship, _, e)
        if ship.n > 4 then world:add(e, likes) end
        if ship.n == 5 then world:remove(e, likes) end
        if ship.n == 6 then world:add(e, docked) end
        if ship.n == 7 then world:set(e, docked, ship.x) end
        if ship.n == 8 then world:add(e, chasing) end
        if ship.n == 9 then world:set(e, owes, 5, ship.x) end
        if ship.n == 10 then world:remove(e, owes) end
        local to = world:pair("Owes", ship.x > 300 and e or last)
        if ship.n == 11 then
          world:add(e, to)
          world:set(e, world:pair("Owes", "Idle"), { amount = 9 })
          if ship.x > 400 then world:remove(e, to) end
        end
      end
    end)
    scene:both(function(world, last)   -- of one who dies
      local likes = world:pair("Likes", last)
      return function(ship, _, e)
        if ship.n == 11 then world:add(e, likes) end
        if ship.x > 400 then world:despawn(last) end
      end
    end)
  end)

  it("spawns who is tied to several, and with fields", function()
    scene:both(function(world, last)
      local owes = world:pair("Owes", last)
      return function(ship, _, e)
        local first = ship.n > 6 and world:spawn { Ship = { n = 30 } } or e
        if ship.n == 7 then
          world:spawn { Likes = { e, last, "Idle", first }, State = "Chasing" }
          world:spawn { DockedTo = { target = ship.port == ecs.null and e or ship.port, since = 3 },
            [owes] = { amount = ship.n } }
        elseif ship.n == 8 then
          world:spawn { DockedTo = { first, ship.x }, Ship = { n = 31 }, Likes = first }
          world:spawn { [world:pair("Owes", first)] = { 5, rate = ship.x },
            [world:pair("Likes", e)] = true }
        end
      end
    end)
    scene:both(function(world)
      return function(ship)
        world:spawn { DockedTo = { target = ship.port, since = 3 }, Likes = { ship.port } }
      end
    end)
  end)

  it("asks for the fields of an exclusive relation, and whether there is a tie", function()
    scene:both(function(world, last)
      return function(ship, _, e)
        local port, since, berth = world:get(e, "DockedTo")
        if port then ship.x = since + berth end
        if port == ship.port then ship.n = ship.n + 1 end
        local late = world:get(last, "DockedTo.since")
        if late and world:has(e, "DockedTo", last) then ship.x = late end
        if not world:has(e, "Owes") then ship.n = ship.n + 20 end
        if world:has(e, "State", "Chasing") then ship.n = ship.n + 40 end
        world:add(e, "State", ship.n % 2 == 0 and "Chasing" or "Idle")
      end
    end)
  end)

  it("gets what it sets, as the rows before it have set it", function()
    scene:both(function(world, last)
      return function(ship, _, e)
        local since = world:get(last, "DockedTo.since")
        if since and ship.n % 2 == 0 then
          world:set(last, "DockedTo.since", since * 0.5 + ship.x)
          ship.x = ship.x + (world:get(e, "DockedTo.since") or 0)
        end
        if ship.x == 301 then world:remove(last, "DockedTo") end
      end
    end)
  end)

  it("is refused with what to write instead", function()
    local world, _, last = scene:new(true)
    local docked = world:pair("DockedTo", last)
    for words, fn in pairs {
      ["it sets 'Owes' without a target and a value: write world:set(id, \"Owes\", target, ...)"] =
        function(_, _, e) world:set(e, "Owes.amount", 5) end,
      ["it sets 'DockedTo' without a value"] = function(_, _, e) world:set(e, "DockedTo") end,
      ["it gives 'DockedTo' a target twice"] =
        function(_, _, e) world:set(e, docked, { target = e }) end,
      ["it sets 'Owes' without a value: write world:add(id, \"Owes\", target)"] =
        function(_, _, e) world:set(e, "Owes", last) end,
      ["it spawns with 'DockedTo' without its target: write { DockedTo = { target = id } }"] =
        function() world:spawn { DockedTo = { since = 3 } } end,
      ["it spawns with 'Likes' set to a table that is not a list of targets"] =
        function(_, _, e) world:spawn { Likes = { e, who = e } } end,
      ["it spawns with 'DockedTo' in several ways"] =
        function(_, _, e) world:spawn { DockedTo = e, [docked] = true } end,
      ["with a pair of 'Owes' set to something other than true or a table"] =
        function(_, _, e) world:spawn { [world:pair("Owes", e)] = 4 } end,
      ["it ties with 'Likes' to something that is not an entity id"] =
        function(_, _, e) world:set(e, "Likes", docked) end,
      ["it passes wrong arguments to world:pair"] = function() world:pair "Likes" end,
      ["it compares a pair's id"] = function(ship, _, e)
        if world:pair("Likes", e) == docked then ship.n = 1 end
      end,
      ['it tests a tie by the id of a pair: write world:has(e, "DockedTo", target)'] =
        function(ship, _, e)
          if world:has(e, docked) then ship.n = 1 end
        end,
      ["it reads 'Owes', a relation that can have several targets"] =
        function(ship, _, e) ship.n = world:get(e, "Owes") end,
      ["it sets fields of 'DockedTo' of a spawned entity without a target"] =
        function() world:set(world:spawn {}, "DockedTo.since", 3) end,
    } do
      agree.check_reason(world, "Ship", fn, words)
    end
    world:system("it", { query = "Ship, (Owes, *)", each = function(ship, owes, _, e, whom)
      ship.x = owes.rate
      world:set(e, "Owes.rate", whom, 3)
    end })
    assert.matches("'Owes.rate' with world:set and also uses "
      .. "it", world:explain("it").reason, 1, true)
    world:system("it", { query = "Ship, DockedTo", each = function(ship, docking, _, e)
      ship.x = docking.since
      world:set(e, "DockedTo", last, 3)   -- waits for the scope's end
    end })
    assert.equal("vector", world:explain("it").tier)
  end)
end)
