-- Functions over events, compiled.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"
local ecs = require "ecs"

local math = math

-- As many hits as rows of some batches, not all of whose entities are alive by then.
local function emit(world, ids, count, from)
  for n = from, from + count - 1 do
    local who, by = ids[n * n % #ids + 1], ids[n * 7 % #ids + 1]
    world:emit("Hit", { who = n % 9 > 0 and world:alive(who) and who or ecs.null, amount = n / 8,
      by = n % 13 > 0 and world:alive(by) and by or ecs.null, hard = n % 4 == 1,
      kind = n % 3 == 0 and "ice" or "fire", n = n % 128 })
  end
end

local function events_of(world)
  local hash = 0
  for _, name in ipairs { "Hit", "Dead" } do
    for event in world:events(name) do
      hash = hash * 31 + event.who + 7 * event.by
      if name == "Hit" then hash = hash ~ math.tointeger(event.amount * 8) end
    end
  end
  return ("%d %d %d %d"):format(world:count "Hit", world:count "Dead", world:count "Over", hash)
end

local scene = agree.scene {
  options = { tag = 9 },
  fill = function(world)
    world:component("Health", { "hp: f64 = 100", "last: entity", "hits: i8" })
    world:component("Score", { "n: i32", "best: f32" })
    world:component("Stunned", { "time: f64", storage = "sparse" })
    world:component("Shield", { "left: f64 = 5", toggle = true })
    world:event("Hit", { "who: entity", "amount: f64", "by: entity", "hard: bool",
      "kind: enum(fire, ice)", "n: i8" })
    world:event("Dead", { "who: entity", "by: entity" })
    world:event "Over"
    local ids = {}
    for n = 1, 60 do
      ids[n] = world:spawn { Health = n % 3 > 0 and {} or nil, Score = n % 4 > 0 and {} or nil,
        Stunned = n % 5 > 2 and {} or nil, Shield = n % 2 == 0 and {} or nil }
      if n % 7 == 0 and n % 2 == 0 then world:disable(ids[n], "Shield") end
    end
    return world, ids
  end,
  updates = 6,
  before = function(world, turn, _, ids)
    emit(world, ids, ({ 10, 2500, 0, 1100, 7, 1024 })[turn], turn * 1000 + 3)
  end,
  look = events_of,
}

-- What a function over events does is the same with kernels and without; what it was.
local function check(query, make)
  return select(2, scene:both(make, query))
end

describe("a kernel over events", function()
  it("takes other terms beside the event", function()
    for _, query in ipairs {
      "Hit, Hit.who->Stunned", "Hit, Hit.who->Stunned?", "Hit, Hit.who->Health, !Hit.by->Stunned",
      "Hit, with Hit.who->Shield, Hit.by->Health", "Hit, Hit.who->Shield:off",
      "Hit, Hit.who->Stunned|Hit.who->Shield",
    } do
      check(query, function(world)
        local total = world:array("total", "f64", 9)
        return function(hit, other)
          total[hit.n % 9 + 1] = total[hit.n % 9 + 1] + hit.amount
          if other then world:emit("Dead", hit.who, hit.by) end
        end
      end)
    end
    scene:twice(function(world, kernels, _, ids)
      emit(world, ids, 1500, 1)
      local query = world:query("Hit, Health($who)", { who = ids[1] })
      local function gain(hit, health) world:emit("Dead", health.last, hit.by) end
      query:each(gain)
      assert.are.equal(kernels and "vector" or "lua", world:explain(gain).tier)
      return events_of(world)
    end)
  end)

  it("emits what comes at its next run, spawns and despawns", function()
    check("Hit", function(world)
      return function(hit, dt)
        if hit.n % 5 == 1 then
          world:emit("Hit", { who = hit.by, amount = hit.amount + dt, by = hit.who, n = hit.n + 1 })
        end
        if hit.n == 44 then
          local child = world:spawn { Health = { last = hit.who }, Score = {} }
          world:emit("Dead", child, hit.by)
        end
        if hit.n == 45 and hit.who ~= ecs.null then world:despawn(hit.who) end
        if hit.n == 46 and world:alive(hit.by) then world:set(hit.by, "Health.hits", hit.n) end
      end
    end)
    check("Over", function(world)
      world:system("more", { phase = "post_update", query = "Hit.hard",
        each = function(hard) if hard then world:emit "Over" end end })
      return function(dt) world:emit("Hit", { amount = dt }) end
    end)
  end)

  it("leaves an event to Lua in which something does not fit, and those behind it", function()
    local said = check("Hit, Hit.who->Health", function(world)
      local count = world:array("count", "i32", 2)
      return function(hit, health)
        count[1] = count[1] + 1
        health.hits = health.hits + hit.n
        world:emit("Dead", hit.by)
        count[2] = count[2] + 1
      end
    end)
    assert.truthy(said:find("field 'Health.hits' is i8: %d+ is out of range"), said)
    assert.is_nil(said:find("entity %d"))
    check("Hit, Hit.who->Health?", function(world, ids)
      local dead = world:spawn()
      world:despawn(dead)
      return function(hit, health)
        world:emit("Dead", hit.by)
        if hit.n == 77 and not health then world:emit("Dead", dead) end
        if hit.n == 12 then world:despawn(ids[1]) end
      end
    end)
    said = check("Hit", function(world)
      return function(hit)
        if hit.amount > 300 then world:emit("Dead", { by = hit.by }) end
        if hit.n // (hit.n - 100) > 1 then world:emit "Over" end
      end
    end)
    assert.truthy(said:find("zero", 1, true), said)
    said = check("Hit", function(world)
      local drawn = world:array("drawn", "f64", 1)
      return function(hit) drawn[1] = drawn[1] + world:random(hit.who) end
    end)
    local wanted = "bad argument #1 to 'random' (0 is not an entity id, but null"
    assert.truthy(said:find(wanted, 1, true), said)
  end)

  it("goes on behind an event that Lua has done without an error", function()
    scene:twice(function(world, _, _, ids)
      world:entity_range(100000, 100099)
      emit(world, ids, 3000, 1)
      local function born(hit)
        if hit.n == 7 or hit.n == 9 then world:spawn { Health = { hp = hit.amount } } end
        world:emit("Dead", hit.who)
        world:emit("Hit", hit.who)
      end
      local done, problem = pcall(function()
        for _ = 1, 3 do world:query("Hit"):each(born) end
      end)
      assert.is_false(done)
      return tiers.plain(problem), events_of(world)
    end)
  end)
end)

-- What forms give, which is the same with kernels and without.
local function forms(make)
  scene:twice(function(world, kernels, _, ids)
    local said = {}
    local function say(...)
      for _, value in ipairs { ... } do
        said[#said + 1] = math.type(value) == "float" and ("%a"):format(value) or tostring(value)
      end
    end
    local function compiled(fn)
      assert.are.equal(kernels and "vector" or "lua", world:explain(fn).tier,
        world:explain(fn).reason)
    end
    for _, count in ipairs { 5, 1019, 1024, 700 } do
      emit(world, ids, count, count)
      make(world, say, compiled)
    end
    say(events_of(world))
    return said
  end)
end

describe("forms over events that are compiled", function()
  it("find those that a predicate lets through", function()
    forms(function(world, say, compiled)
      local function large(hit) return hit.amount > 20.5 end
      local function fire(hit) return hit.kind == "fire" end
      local query = world:query("Hit"):where(large)
      local both = query:where(fire)
      say(query:count(), both:count())
      compiled(large)
      compiled(fire)
      for _, form in ipairs { "sum", "min", "max" } do
        local function real(hit) return hit.amount / 3 end
        say(both[form](both, real), query[form](query, real))
        compiled(real)
      end
      local function each(hit, dt) world:emit("Dead", hit.who, hit.by) return dt end
      both:each(each, 0.5)
      local function run(hit) world:emit("Hit", { who = hit.by, amount = hit.amount - 20 }) end
      both:run(run)
      compiled(run)
      for hit in both:each() do say(hit.amount, hit.who) end
    end)
  end)

  it("map fields and return nothing for the event's own", function()
    forms(function(world, _, compiled)
      local function map(amount, hp) return nil, hp - amount end
      world:query("Hit.amount, Hit.who->Health.hp"):map(map)
      compiled(map)
      local function nothing(amount, by)
        if amount > 4 and by ~= ecs.null then world:random(by) end
      end
      world:query("Hit.amount, Hit.by"):map(nothing)
      compiled(nothing)
      local function each(amount, hp) if amount > hp then world:emit "Over" end end
      world:query("Hit.amount, Hit.who->Health.hp"):each(each)
      compiled(each)
    end)
  end)

  it("of a system's own query go through what it has not seen", function()
    forms(function(world, say)
      world:system("own", { query = "Hit", run = function(_, _, query)
        local function real(hit) return hit.amount / 3 end
        local large = query:where(function(hit) return hit.amount > 20.5 end)
        say(query:sum(real), query:count(), large:sum(real), large:max(real))
        query:each(function(hit) world:emit("Hit", hit.who, hit.amount) end)
        large:each(function(hit) world:emit("Dead", hit.who) end)
        say(query:sum(real), large:count(), query:count())
      end })
      world:update(0.5)
    end)
  end)

  it("add up along paths", function()
    forms(function(world, say, compiled)
      for _, text in ipairs { "Hit, Hit.who->Health:in", "Hit, Hit.who->Health:in?" } do
        local query = world:query(text)
        for _, form in ipairs { "sum", "min", "max" } do
          local function real(hit, health)
            return hit.amount / 3 - (health and health.hp / 7 or 1)
          end
          say(query[form](query, real))
          compiled(real)
          local large = query:where(function(hit) return hit.amount > 20.5 end)
          say(large[form](large, real), large:count())
        end
      end
    end)
  end)

  it("are refused what they would write to events", function()
    local world, _, ids = scene:new(true)
    emit(world, ids, 5, 1)
    helper.has_error(function()
      world:system("it", { query = "Hit", each = function(hit) hit.amount = 3 end })
    end, "it writes to 'Hit', which is read-only")
    local function write(hit) hit.amount = 3 end
    helper.has_error(function() world:query("Hit"):each(write) end, "read-only")
  end)
end)
