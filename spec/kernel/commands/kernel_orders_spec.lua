-- Functions that despawn, add to, remove from and set other entities than the row's own, compiled.

local agree = require "spec.support.agree"
local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local ROWS = 2500

local scene = agree.scene {
  fill = function(world, case)
    world:component("P", { "x: f64", "i: i32", "on: bool" })
    world:component("Bullet", { "at: entity", "damage: f32", "left: i32" })
    world:component("Health", { "hp: f32 = 10", "by: entity", "hits: u8",
      "mood: enum(calm, angry)" })
    world:component("Burning", { "heat: i32 = 3", storage = "sparse" })
    world:relation("DockedTo", { "since: f32", exclusive = true })
    world:relation "Likes"
    world:tag "Hit"
    world:tag "Dead"
    local last
    for n = 1, case.rows or ROWS do
      last = world:spawn { P = { x = n * 0.5, i = n % 11, on = n % 3 == 0 },
        Bullet = { at = last, damage = n % 4, left = n % 5 },
        Health = n % 2 == 0 and { hp = n } or nil, Burning = n % 7 == 0 and {} or nil }
    end
  end,
  query = "P, Bullet",
  updates = 3,
  look = function(world)
    assert.is_nil((world:explain("s1").left or { why = "" }).why:find "line 0:")
    return world:count "Health" .. " " .. world:count "Hit" .. " " .. world:count "P"
  end,
}

describe("a kernel", function()
  it("sets fields of every type that kernels have, at once where they are there", function()
    scene:both(function(world)
      return function(p, bullet, _, e)
        if p.i > 0 and bullet.at ~= ecs.null then
          local who = bullet.at
          world:set(who, "Health.hp", p.x)
          world:set(who, "Health.by", e)
          world:set(who, "Health.hits", p.i)
          world:set(who, "Health.mood", p.on and "angry" or "calm")
          world:set(who, "Burning.heat", p.i * 2.0)
        end
      end
    end)
  end)

  it("leaves a row to Lua whose entity is dead, and what that row has done to arrays", function()
    for _, at in ipairs { 1, 700, 1700, 2500 } do
      scene:both(function(world)
        local dead, count = world:spawn(), world:array("count", "i32", 11)
        world:despawn(dead)
        return function(p, bullet, _, e)
          p.x = p.x + 1
          count[p.i + 1] = count[p.i + 1] + 1
          world:add(e, "Hit")
          if p.x == at * 0.5 + 1 then
            world:add(dead, "Hit")
          elseif bullet.at ~= ecs.null then
            world:set(bullet.at, "Health.hp", p.x)
          end
          count[1] = count[1] + p.i
        end
      end)
    end
    scene:both(function(world)
      local id = world:component("Kept", { "n: i32" })
      return function(p, _, _, e)
        if p.x < 400 then world:despawn(e) else world:despawn(id) end
        p.i = 0
      end
    end)
    scene:both(function(world)
      return function(p) world:despawn(p.x) end
    end)
    scene:both(function(world)
      return function(p, bullet) world:set(bullet.at, "Health.hits", p.i * 30) end
    end)
  end)

  it("sets components as a whole, by values and by tables, which adds them", function()
    scene:both(function(world)
      return function(p, bullet, _, e)
        if bullet.at ~= ecs.null and bullet.left == 0 then
          world:set(bullet.at, "Health", bullet.damage + p.x, e, p.i)
          world:set(bullet.at, "Burning", { heat = p.i })
        elseif bullet.left == 3 then
          local mood = p.on and "angry" or "calm"
          world:set(e, "Health", { hp = p.x, mood = mood, by = bullet.at })
          if p.on then world:remove(e, "Health") end
          world:set(e, "Burning", 7)
        elseif bullet.left == 4 then
          world:set(e, "Health", { p.x, bullet.at, hits = p.i })
        end
        bullet.left = bullet.left - 1
      end
    end)
    scene:both(function(world)
      return function(p, _, _, e)
        local id = world:spawn { Hit = true }
        world:set(id, "Health", { hp = p.x })
        world:set(id, "Bullet", e, p.i)
      end
    end)
  end)

  it("sets nothing but what is missing, by an empty table", function()
    scene:both(function(world)
      return function(p, bullet, _, e)
        if p.i > 3 then world:set(e, "Burning", {}) end
        if bullet.at ~= ecs.null and bullet.left == 1 then world:set(bullet.at, "Health", {}) end
        if p.on then world:remove(e, "Burning") end
      end
    end)
    scene:both(function(world)   -- and observers are told what rows before one left to Lua set
      return function(p, _, _, e)
        world:set(e, "P", {})
        if p.i == 3 and p.on then world:add(e, "Hit") end
        world:set(e, "P.x", p.x + 1)
      end
    end, { prepare = function(world)
      local function told(_, e) world:add(e, "Dead") end
      world:observer("told", { on = "set", query = "P", each = told })
    end })
  end)

  it("sets what its rows come to otherwise, too, which see what those before have set", function()
    scene:both(function(world)
      return function(p, bullet)
        local last = bullet.at ~= ecs.null and world:get(bullet.at, "Bullet.at") or ecs.null
        if last == ecs.null then return end
        world:set(last, "P.x", p.x * 0.5 + 1)
        p.i = p.i + (p.x > 40 and 1 or 2)
      end
    end)
    scene:both(function(world)   -- but where a command waits, behind which the value comes
      return function(p, bullet, _, e)
        local last = bullet.at ~= ecs.null and world:get(bullet.at, "Bullet.at") or ecs.null
        if last == ecs.null then return end
        if p.i == 4 then world:remove(last, "P") end
        world:set(last, "P", p.x, p.i + 1, not p.on)
        world:set(e, "P.on", bullet.left > 2)
        if p.on then p.i = world:get(last, "P.i") - 1 end
      end
    end)
    scene:both(function(world)
      return function(p, bullet)
        for k = 1, bullet.left do
          world:set(bullet.at, "Health.hits", p.i * 20 + k)   -- some are out of range
          p.x = p.x + (world:get(bullet.at, "Health.hits") or 0)
        end
      end
    end, "P, Bullet, Bullet.at->P:in")
  end)

  it("sets beside a command, whether observers watch that component or another", function()
    local world, told = helper.new_world(), {}
    world:component("P", { "n: i32" })
    world:component("Club", { "members: i32" })
    world:component("Member", { "since: f64" })
    local club = world:spawn { Club = {} }
    for i = 1, 100 do world:spawn { P = { n = i } } end
    world:system("join", { query = "P:in, !Member", each = function(p, _, e)
      if p.n % 10 ~= 0 then return end
      world:set(e, "Member", 1.5)
      world:set(club, "Club.members", world:get(club, "Club.members") + 1)
    end })
    for i, watched in ipairs { "Member", "Club" } do
      told[i] = 0
      world:observer("told", { on = "set", query = watched, each = function()
        told[i] = told[i] + 1
      end })
      world:run "join"
      local left = world:explain("join").left
      assert.equal(i == 2 and 10 or nil, left and left.rows)
      if left then assert.matches('observers of "set" watch them', left.why) end
      assert.equal(10 * i, world:get(club, "Club.members"))
      world:query("Member"):remove "Member"
    end
    assert.same({ 10, 1 }, told)
  end)

  it("is refused with what to write instead", function()
    local world = scene:new(true, { rows = 10 })
    world:add(world:spawn(), "ChildOf", world:spawn())
    for what, given in pairs {
      ["it writes to 'Bullet.at' with world:set and also uses it in another "
        .. "way"] = { "P, Bullet.at->P:in",
        function(p, _, _, e) if p.on then world:set(e, "Bullet.at", ecs.null) end end },
      ["something other than a field and its value, or a component and its values"] = { "P, Bullet",
        function(_, bullet) world:set(bullet.at, "Health") end },
      ["component 'Health' has no field 'hq' (did you mean 'hp'?)"] = { "P, Bullet",
        function(_, bullet) world:set(bullet.at, "Health", { hq = 1 }) end },
      ["'Burning' with a value that has no single field to go to"] = { "P, Bullet",
        function(_, bullet) world:set(bullet.at, "Burning", 1, 2) end },
      ["it sets 'Hit' with more than one table, or with an empty table"] = { "P, Bullet",
        function(_, bullet) world:set(bullet.at, "Hit", {}) end },
      ["has no field 'hq'"] = { "P, Bullet",
        function(_, bullet) world:set(bullet.at, "Health.hq", 1) end },
      ["sets a field of type f32 to a boolean"] = { "P, Bullet",
        function(p, bullet) world:set(bullet.at, "Health.hp", p.on) end },
      ["it changes something that is not an entity "
        .. "id"] = { "P", function(p) world:despawn(p.on) end },
      ["world:add of 'Likes' without its one target"] = { "P, Bullet",
        function(_, bullet) world:add(bullet.at, "Likes") end },
      ["it ties with 'Likes' to something that is not an entity id: pass an entity "
        .. "field"] = { "P, Bullet",
        function(p, bullet) world:add(bullet.at, "Likes", p.on) end },
    } do
      agree.check_reason(world, given[1], given[2], what)
    end
    local fn = function(_, bullet) world:despawn(bullet.at) return 1 end
    pcall(function() world:query("P, Bullet"):sum(fn) end)
    assert(world:explain(fn).reason:find("and returns a result", 1, true))
  end)
end)
