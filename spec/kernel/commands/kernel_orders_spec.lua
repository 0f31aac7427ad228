-- Functions that despawn, add to, remove from and set other entities than the row's own, compiled.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"
local ecs = require "ecs"

local math = math
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
  it("changes other entities by their ids, in the order of rows", function()
    scene:both(function(world)
      return function(p, bullet, _, e)
        if bullet.at ~= ecs.null and bullet.left == 0 then
          world:add(bullet.at, "Hit")
          world:set(bullet.at, "Health.hp", bullet.damage + p.x)
          if p.on then world:remove(bullet.at, "Burning") end
          world:despawn(e)
        elseif bullet.left == 3 then
          world:remove(e, "Hit")
          world:add(e, "Burning")
        end
        bullet.left = bullet.left - 1
      end
    end)
  end)

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

  it("sets behind a command on the same component what that has left", function()
    scene:both(function(world)
      return function(p, bullet)
        if bullet.at ~= ecs.null then
          if p.on then world:remove(bullet.at, "Health") end
          world:set(bullet.at, "Health.hp", p.x)
          if p.i == 4 then world:remove(bullet.at, "Health") end
        end
      end
    end)
  end)

  it("gives several commands in a loop, round by round", function()
    scene:both(function(world)
      local first = world:query("P"):first()
      return function(p, bullet, _, e)
        for k = 1, 4 do
          if k == p.i then world:remove(e, "Hit") else world:add(e, "Hit") end
          if bullet.left == k then
            world:set(first, "Health.hp", p.x + k)
            break
          end
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

  it("does so for rows that do not lie together", function()
    for _, query in ipairs { "P, Bullet, Burning", "P, Bullet, Bullet.at->Health:in",
      "P, Bullet, !Burning" } do
      scene:both(function(world)
        local total = world:array("total", "f64", 2)
        return function(p, bullet)
          if bullet.at ~= ecs.null then world:add(bullet.at, "Dead") end
          total[1] = total[1] / 2 + p.x
        end
      end, query)
    end
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

  it("sets none of the values of a row of which one does not fit", function()
    scene:both(function(world)
      return function(p, bullet, _, e)
        if bullet.left == 2 then world:set(e, "Health", p.x, e, p.x) end
      end
    end)
    scene:both(function(world)
      return function(p, bullet)
        world:set(bullet.at, "Health", { hits = p.i, hp = 5 })
      end
    end)
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

describe("random commands in kernels", function()
  -- Statements about the entity `who`.
  local statements = {
    function(world) return function(who) world:add(who, "Hit") end end,
    function(world) return function(who) world:remove(who, "Hit") end end,
    function(world) return function(who) world:add(who, "Health") end end,
    function(world) return function(who) world:remove(who, "Health") end end,
    function(world) return function(who, x) world:set(who, "Health.hp", x) end end,
    function(world) return function(who, x) world:set(who, "Burning.heat", x) end end,
    function(world) return function(who, x) world:set(who, "Health", x, who) end end,
    function(world) return function(who, x) world:set(who, "Burning", { heat = x }) end end,
    function(world) return function(who) world:remove(who, "Burning") end end,
    function(world) return function(who) world:add(who, "Likes", "Hit") end end,
    function(world) return function(who) world:add(who, "DockedTo", who) end end,
    function(world) return function(who) world:add(who, "DockedTo", "Dead") end end,
    function(world) return function(who) world:remove(who, "Likes", "Hit") end end,
    function(world) return function(who) world:remove(who, "DockedTo") end end,
    function(world) return function(who) world:despawn(who) end end,
  }

  local function body(world)
    local one, two = statements[math.random(#statements)](world),
      statements[math.random(#statements)](world)
    local null, most = ecs.null, math.random(0, 11)
    local bodies = {
      function(p, bullet, _, e)
        if p.i < most and bullet.at ~= null then one(bullet.at, p.x) end
        if p.on then two(e, p.i) end
        bullet.left = bullet.left + 1
      end,
      function(p, bullet, _, e)
        for k = 1, 3 do
          if bullet.left > k then one(e, k) else two(e, p.i) end
        end
      end,
      function(p, bullet)
        one(bullet.at, p.x)
        p.x = p.x + 1
      end,
    }
    return bodies[math.random(#bodies)]
  end

  local function run(seed, kernels)
    math.randomseed(seed)
    local world = scene:new(kernels, { rows = ({ 1, 7, 90, 1300 })[math.random(4)] })
    local doubled = math.random(2) == 1 and "P, Bullet" or "P, Bullet, !Burning"
    world:system("it", { query = doubled, each = body(world) })
    return tiers.updates(world, 3, 0.25), world:explain("it").tier
  end

  local most = helper.by_scale { small = 25, normal = 100, deep = 3000 }
  it(("do what plain Lua does (%d)"):format(most), function()
    tiers.agree_on_seeds(most, run, most / 2)
  end)
end)
