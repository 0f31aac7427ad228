-- Functions that emit events, compiled.

local agree = require "spec.support.agree"
local ecs = require "ecs"

local SAID = { "text: string = none", "who: entity" }

-- A hash of all events of a type, in their order.
local function hash_of(world, name, ...)
  local hash = 0
  for event in world:events(name) do
    for _, field in ipairs { ... } do
      local value = tostring(event[field])
      for i = 1, #value do hash = hash * 31 + value:byte(i) end
    end
  end
  return hash
end

-- All that has been emitted.
local function events_of(world)
  return table.concat({ world:count "Hit", world:count "Said", world:count "Over",
    hash_of(world, "Hit", "who", "amount", "by", "kind", "n", "hard"),
    hash_of(world, "Said", "text", "who") }, " ")
end

local scene = agree.scene {
  options = { tag = 9 },
  fill = function(world, case)
    world:component("Position", { "x: f64", "y: f32 = 2" })
    world:component("Gun", { "left: i32", "kind: enum(rat, orc)", "at: entity", "name: string" })
    world:event("Hit", { "who: entity", "amount: f32 = 3", "by: entity", "kind: enum(rat, orc)",
      "n: i16", "hard: bool" })
    world:event("Said", SAID)
    world:event("Moved", { "from: Position", "list: i8[2]", "who: entity" })
    world:event "Over"
    local last
    for n = 1, case.rows or 2500 do
      last = world:spawn { Position = { x = n / 3 }, Gun = { left = n % 7, at = last,
        kind = n % 2 == 0 and "orc" or "rat", name = "gun " .. n % 5 } }
    end
  end,
  query = "Position, Gun",
  updates = 3,
  look = events_of,
}

describe("a kernel that emits", function()
  it("emits values in the order of fields, in the order of rows", function()
    scene:both(function(world)
      local name = "Hit"
      return function(p, gun, dt, e)
        gun.left = gun.left - 1
        if gun.left < 0 then
          gun.left = 5
          world:emit(name, e, p.x * dt, gun.at, p.x > 9 and "orc" or "rat", gun.left * 2, p.y > 2)
        elseif gun.left == 2 then
          world:emit("Hit", { who = gun.at, kind = gun.kind })
          world:emit "Over"
          world:emit "Hit"
        end
        p.y = p.y + 1
      end
    end)
  end)

  it("emits values by the names of a table, and other events in between", function()
    scene:both(function(world)
      local said, boss = world:event("Said", SAID), world:spawn()
      return function(p, gun, _, e)
        local hit = { by = boss, amount = p.x }
        hit.amount = p.x + gun.left
        if gun.left > 4 then world:emit("Hit", hit) end
        world:emit(said, { "by place", e })
        world:emit(said, { "place", who = e })
        world:emit("Hit", { who = ecs.null, hard = true })
        if gun.left == 1 then world:emit(said, "end", boss) end
      end
    end)
  end)

  it("emits strings of its own and of string fields", function()
    scene:both(function(world)
      return function(p, gun, _, e)
        if gun.left > 3 then world:emit("Said", gun.name, e) end
        world:emit("Said", p.x > 100 and "a text that no entity has" or "", gun.at)
        if gun.left == 4 then gun.name = "fired" end
      end
    end)
  end)

  it("leaves a row to Lua in which a value does not fit", function()
    for _, most in ipairs { 30, 32768 } do
      scene:both(function(world)
        local count = world:array("count", "i32", 3)
        return function(p, gun, _, e)
          count[1] = count[1] + 1
          world:emit("Hit", e, 1)
          if gun.left == 3 then world:emit("Hit", { n = p.x * most // 1, amount = most }) end
          count[2] = count[2] + 1
        end
      end)
    end
    local _, said = scene:both(function(world)
      local dead = world:spawn()
      world:despawn(dead)
      return function(p, gun)
        world:emit("Hit", gun.at, p.x)
        if p.x > 300 and gun.left == 1 then world:emit("Hit", dead) end
      end
    end)
    assert.truthy(said:find("field 'Hit.who'", 1, true), said)
    scene:both(function(world)
      local list = world:array("list", "f32", 3)
      return function(_, gun)
        world:emit("Over")
        world:emit("Hit", gun.at, list[gun.left])
      end
    end)
  end)

  it("loses what a scope emits that is cancelled, or whose system fails", function()
    local world = scene:new(true, { rows = 40 })
    local query = world:query "Gun"
    local function fire(gun, _, e) world:emit("Hit", e, gun.left) end
    world:defer()
    query:each(fire)
    assert.are.equal(40, world:count "Hit")
    world:cancel()
    assert.are.equal(0, world:count "Hit")
    query:each(fire)
    assert.are.equal("vector", world:explain(fire).tier)
    assert.are.equal(40, world:count "Hit")
    local function fail(gun, _, e)
      world:emit("Hit", e)
      gun.left = 10 // (gun.left - 4)
    end
    assert.is_false(pcall(query.each, query, fail))
    assert.are.equal("vector", world:explain(fail).tier)
    assert.are.equal(40, world:count "Hit")
  end)

  it("is not seen by loops that have begun, nor by the run that emits", function()
    local world = scene:new(true, { rows = 40 })
    local query, seen = world:query "Gun", {}
    local function fire(_, _, e) world:emit("Hit", e, 1) end
    world:emit("Hit", ecs.null, 5)
    for hit in world:events "Hit" do
      query:each(fire)
      seen[#seen + 1] = hit.amount
    end
    assert.are.same({ 5 }, seen)
    assert.are.equal("vector", world:explain(fire).tier)
    assert.are.equal(41, world:count "Hit")
  end)

  it("is refused with what it should be", function()
    local world = scene:new(true, { rows = 5 })
    for what, fn in pairs {
      ["with its field 'from', which is a component"] = function()
        world:emit("Moved", { from = { x = 1 } })
      end,
      ["with its field 'list', which is an array"] =
        function() world:emit("Moved", { list = 1 }) end,
      ["event 'Hit' has no field 'amont' (did you mean 'amount'?)"] =
        function() world:emit("Hit", { amont = 1 }) end,
      ["it emits 'Over' with 1 values, but the event has 0 "
        .. "fields"] = function() world:emit("Over", 1) end,
      ["unknown event 'Hti' (did you mean 'Hit'?)"] = function() world:emit "Hti" end,
      ["'Gun' is a component, not an event"] = function() world:emit "Gun" end,
      ["it emits something other than the name or id of an "
        .. "event"] = function(p) world:emit(p.x) end,
      ["sets a field of type entity to a number"] = function(p) world:emit("Hit", p.x) end,
      ["sets a field of type f32 to a boolean"] =
        function(_, gun) world:emit("Hit", gun.at, true) end,
    } do
      agree.check_reason(world, "Position, Gun", fn, what)
    end
    local function total(p) world:emit "Over" return p.x end
    world:query("Position"):sum(total)
    assert.truthy(world:explain(total).reason:find("it emits an event and returns a result", 1,
      true))
    assert.are.equal(5, world:count "Over")
  end)
end)
