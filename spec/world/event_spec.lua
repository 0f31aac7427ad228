-- Events: rows of the world's own, emitted, read in order, dropped.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local HIT = { "who: entity", "amount: f32", "by: entity" }

local function new_world()
  local world = helper.new_world()
  world:component("Health", { "hp: f32 = 100" })
  world:event("Hit", HIT)
  return world
end

-- The amounts of all hits that are there.
local function amounts(world)
  local list = {}
  for hit in world:events "Hit" do list[#list + 1] = hit.amount end
  return list
end

local function emit(world, ...)
  for _, amount in ipairs { ... } do world:emit("Hit", ecs.null, amount) end
end

-- A system that keeps the amounts it is given.
local function reader(world, name, options)
  local seen = {}
  options = options or {}
  options.query = "Hit.amount"
  options.each = function(amount) seen[#seen + 1] = amount end
  world:system(name, options)
  return seen
end

describe("an event", function()
  it("is there at once, with the values in the order of its fields, or by their names", function()
    local world = new_world()
    local e = world:spawn {}
    world:emit("Hit", e, 5, e)
    world:emit("Hit", { amount = 2 })
    world:emit "Hit"
    local list = {}
    for hit in world:events "Hit" do list[#list + 1] = { hit.who, hit.amount, hit.by } end
    assert.are.same({ { e, 5, e }, { 0, 2, 0 }, { 0, 0, 0 } }, list)
    assert.are.equal(3, world:count "Hit")
    assert.are.equal(3, world:query("Hit"):count())
  end)

  it("is named by its id, too, and has any kind of field", function()
    local world = helper.new_world()
    world:component("At", { "x: f32", "y: f32" })
    local id = world:event("All", { "at: At", "list: i8[2]", "text: string", "kind: enum(a, b)",
      "any: any", "on: bool" })
    local value = {}
    world:emit(id, { 1, 2 }, { 3, 4 }, "text", "b", value, true)
    for e in world:events(id) do
      assert.are.same({ 1, 2, 3, 4, "text", "b", true },
        { e.at.x, e.at.y, e.list[1], e.list[2], e.text, e.kind, e.on })
      assert.are.equal(value, e.any)
      helper.has_error(function() e.text = "other" end, "read-only")
      helper.has_error(function() e.at.x = 5 end, "read-only")
    end
  end)

  it("may have no fields: then it reads as true", function()
    local world = helper.new_world()
    world:event "Over"
    world:emit "Over"
    world:emit "Over"
    local count = 0
    for over in world:events "Over" do
      assert.is_true(over)
      count = count + 1
    end
    assert.are.equal(2, count)
    helper.has_error(function() world:emit("Over", 1) end, "event 'Over' has no fields, got 1")
  end)

  it("holds an entity that reads as null once it is dead", function()
    local world = new_world()
    local e = world:spawn {}
    world:emit("Hit", e, 1)
    world:despawn(e)
    for hit in world:events "Hit" do assert.are.equal(ecs.null, hit.who) end
  end)

  it("is nothing that an entity can have", function()
    local world = new_world()
    local e = world:spawn {}
    local no = "'Hit' is an event, not a component: no entity has it; emit it, and read it with "
      .. "a query"
    helper.has_error(function() world:add(e, "Hit") end, no)
    helper.has_error(function() world:set(e, "Hit", 1) end, no)
    helper.has_error(function() world:spawn { Hit = {} } end, no)
    helper.has_error(function() world:component("X", { "hit: Hit" }) end, no)
    helper.has_error(function() world:component("X", { requires = { "Hit" } }) end, no)
    helper.has_error(function() world:emit "Health" end, "'Health' is a component, not an event")
    helper.has_error(function() world:emit "Hti" end, "unknown event 'Hti' (did you mean 'Hit'?)")
    helper.has_error(function() world:event("E", { toggle = true }) end, "an event cannot have "
      .. "'toggle'")
    helper.has_error(function() world:event("Health", { "hp: f32 = 100" }) end,
      "'Health' cannot become an event")
    helper.has_error(function() world:component("Hit", HIT) end, "'Hit' cannot become")
  end)

  it("is dropped by the scope that emitted it when that fails or is cancelled", function()
    local world = new_world()
    emit(world, 1)
    world:defer()
    emit(world, 2)
    world:defer()
    emit(world, 3)
    assert.are.same({ 1, 2, 3 }, amounts(world))
    world:cancel()
    assert.are.same({ 1, 2 }, amounts(world))
    emit(world, 4)
    world:commit()
    assert.are.same({ 1, 2, 4 }, amounts(world))
    world:system("bad", { run = function(w)
      emit(w, 5)
      pcall(function()
        w:query("Health"):each(function() end)
        w:query("Hit"):each(function() emit(w, 6) error "no" end)
      end)
      assert.are.same({ 1, 2, 4, 5 }, amounts(w))
      error "bad"
    end })
    assert.is_false(pcall(world.update, world, 1))
    assert.are.same({ 1, 2, 4 }, amounts(world))
  end)

  it("is gone over by loops that were begun when it was there", function()
    local world = new_world()
    emit(world, 1, 2)
    local list = {}
    for hit in world:events "Hit" do
      list[#list + 1] = hit.amount
      for _ = 1, 100 do emit(world, 9) end
      assert.are.equal(list[#list], hit.amount)
    end
    assert.are.same({ 1, 2 }, list)
    assert.are.equal(202, world:count "Hit")
  end)

  it("stays until loops have ended, when a scope within them drops it", function()
    local world = new_world()
    local text = ("x"):rep(40)
    world:event("Said", { "text: string" })
    local body = coroutine.wrap(function()
      for _ in world:query("Health"):each() do
        for _ = 1, 50 do world:emit("Said", text .. "inner") end
        coroutine.yield()
        error "no"
      end
    end)
    world:spawn { Health = {} }
    body()
    local seen = 0
    for said in world:events "Said" do
      if seen == 0 then pcall(body) end
      assert.are.equal(text .. "inner", said.text)
      seen = seen + 1
    end
    assert.are.equal(50, seen)
  end)
end)

describe("a query over events", function()
  it("follows paths through their entity fields", function()
    local world = new_world()
    local a, b = world:spawn { Health = {} }, world:spawn {}
    world:emit("Hit", a, 5, b)
    world:emit("Hit", b, 7, a)
    world:emit("Hit", a, 9, a)
    world:query("Hit, Hit.who->Health"):each(function(hit, health)
      health.hp = health.hp - hit.amount
    end)
    assert.are.equal(86, world:get(a, "Health"))
    assert.are.equal(2, world:count "Hit, Hit.who->Health")
    assert.are.equal(1, world:count "Hit, !Hit.who->Health")
    assert.are.equal(1, world:count "Hit, Hit.who->Health, with Hit.by->Health")
    local list = {}
    for hit, health in world:query("Hit, Hit.who->Health?"):each() do
      list[#list + 1] = hit.amount .. (health and " " .. health.hp or "")
    end
    assert.are.same({ "5.0 86.0", "7.0", "9.0 86.0" }, list)
    world:query("Hit.amount, Hit.who->Health.hp"):map(function(amount, hp)
      return nil, hp + amount
    end)
    assert.are.equal(100, world:get(a, "Health"))
    assert.are.equal(21, world:query("Hit"):sum(function(hit) return hit.amount end))
    assert.are.same({ 9 }, { world:query("Hit"):max(function(hit) return hit.amount end) })
    assert.are.equal(2, world:query("Hit"):where(function(h) return h.amount > 5 end):count())
    assert.are.equal(100, world:query("Hit, Health($who)", { who = a })
      :max(function(_, health) return health.hp end))
  end)

  it("has nothing else beside the event, which comes first", function()
    local world = new_world()
    world:event "Over"
    local function refused(text, why) helper.has_error(function() world:query(text) end, why) end
    refused("Hit, Health", "'Hit' is an event, which no entity has")
    refused("Hit, ChildOf->Health", "'Hit' is an event, which no entity has")
    refused("Hit, (ChildOf, *)", "'Hit' is an event, which no entity has")
    refused("Health, Hit", "'Hit' is an event and must come first")
    refused("!Hit", "'Hit' is an event and must come first")
    refused("Hit?", "'Hit' is an event and must come first")
    refused("Hit|Over", "event and must come first")
    refused("Hit, Over", "names two events, 'Hit' and 'Over'")
    refused("ChildOf->Hit", "event and must come first")
  end)

  it("goes through no entities", function()
    local world = new_world()
    local query = world:query "Hit"
    local no = "query 'Hit' yields events, which are not entities"
    local where = query:where(function() return true end)
    for method, arguments in pairs { ids = {}, first = {}, chunks = {}, despawn = {},
                                     add = { "Health" }, remove = { "Health" },
                                     set = { "Health", 1 } } do
      for _, q in ipairs { query, where, where:where(function() return true end) } do
        helper.has_error(function() q[method](q, table.unpack(arguments)) end, no)
      end
    end
    helper.has_error(function()
      world:system("s", { query = "Hit", each = function(_, _, entity) world:despawn(entity) end })
    end, "an event is not an entity")
  end)
end)

describe("functions over events", function()
  it("are called row by row where they cannot be compiled", function()
    local world, sum, list = new_world(), 0, { 0 }
    emit(world, 1, 2, 3)
    local function each(hit, dt) list[#list], sum = "1", sum + hit.amount * dt end
    world:query("Hit"):each(each, 0.5)
    world:query("Hit.amount"):map(function(amount) sum = sum + amount end)
    local kept = {}
    local function large(hit)
      kept[#kept + 1] = hit.amount
      return hit.amount > 1
    end
    local function small(hit) return hit.amount < 3 end
    local between = world:query("Hit"):where(large):where(small)
    between:each(each, 10)
    assert.are.equal(29, sum)
    assert.matches("table that is written to and has values that are neither",
      world:explain(each).reason, 1, true)
    assert.are.same({ "lua", "lua" }, { world:explain(each).tier, world:explain(large).tier })
    local function amount(hit) return hit.amount end
    assert.are.same({ 2 }, { between:max(amount) })
    assert.are.same({ 1 }, { world:query("Hit"):min(amount) })
    for hit, other in between:each() do assert.are.same({ 2 }, { hit.amount, other }) end
    assert.are.same({ 1, 2, 3, 1, 2, 3, 1, 2, 3 }, kept)
  end)

  it("behind predicates go through what was there, whatever these emit", function()
    local world, seen = new_world(), {}
    emit(world, 1, 2, 3)
    local query = world:query("Hit"):where(function(hit)
      for i = 1, 100 do emit(world, hit.amount + i) end
      return hit.amount ~= 2
    end)
    query:each(function(hit) seen[#seen + 1] = hit.amount end)
    assert.are.same({ 1, 3 }, seen)
    assert.are.equal(303, world:count "Hit")
    assert.are.equal(301, query:count())   -- 1 has emitted a 2
    assert.are.equal(303 * 101, world:count "Hit")
  end)

  it("of predicates are given what the query gives", function()
    local world = new_world()
    helper.has_error(function() world:query("Hit"):where(function(_, _) end) end,
      "has 2 parameters, but gets 1 arguments: the values of its query; an event is not an entity")
    helper.has_error(function()
      world:query("Hit, Hit.who->Health"):where(function(_, dt) return dt end)
    end, "its parameter 2 is named 'dt', but it gets no dt: the values of its query")
  end)
end)

describe("a system over events", function()
  it("is given each once, in order, those that it emits itself at its next run", function()
    local world = new_world()
    local seen = {}
    world:system("chain", { query = "Hit", each = function(hit, dt)
      seen[#seen + 1] = hit.amount .. " " .. dt
      if hit.amount < 3 then emit(world, hit.amount + 1) end
    end })
    emit(world, 1, 2)
    for _ = 1, 4 do world:update(1) end
    assert.are.same({ "1.0 1.0", "2.0 1.0", "2.0 1.0", "3.0 1.0", "3.0 1.0" }, seen)
  end)

  it("comes to each whether it runs before or behind the one that emits", function()
    local world = new_world()
    local early = reader(world, "early", { phase = "pre_update" })
    local late = reader(world, "late", { phase = "post_update" })
    local n = 0
    world:system("emit", { run = function()
      n = n + 1
      emit(world, n)
    end })
    for _ = 1, 4 do world:update(1) end
    assert.are.same({ 1, 2, 3 }, early)
    assert.are.same({ 1, 2, 3, 4 }, late)
    assert.are.same({ 4 }, amounts(world))
  end)

  it("reads what it has not seen in its run form, also from what it emits", function()
    local world = new_world()
    local counts = {}
    world:system("count", { query = "Hit", run = function(w, _, query)
      emit(w, 1)
      counts[#counts + 1] = query:count() .. " of " .. w:count "Hit"
      for _ in query:each() do emit(w, 2) end
    end })
    emit(world, 0)
    for _ = 1, 3 do world:update(1) end
    assert.are.same({ "1 of 2", "2 of 4", "3 of 4" }, counts)
  end)

  it("begins with those that are there, and keeps its place when it is replaced", function()
    local world = new_world()
    emit(world, 1)
    world:update(1)
    emit(world, 2)
    local first = reader(world, "read")
    world:update(1)
    emit(world, 3)
    local second = reader(world, "read")
    world:update(1)
    assert.are.same({ { 1, 2 }, { 3 } }, { first, second })
    world:event("Other", { "amount: f32" })
    world:emit("Other", 7)
    local third = {}
    world:system("read", { query = "Other", each = function(o) third[#third + 1] = o.amount end })
    world:update(1)
    assert.are.same({ 7 }, third)
  end)

  it("has seen those at which it failed", function()
    local world = new_world()
    local runs = 0
    world:system("bad", { query = "Hit", each = function() runs = runs + 1 error "no" end })
    emit(world, 1, 2)
    assert.is_false(pcall(world.update, world, 1))
    world:update(1)
    assert.are.equal(1, runs)
  end)
end)

describe("an event goes", function()
  it("when the update behind its own has ended", function()
    local world = new_world()
    emit(world, 1)
    world:system("emit", { run = function() emit(world, 2) end })
    world:update(1)
    assert.are.same({ 1, 2 }, amounts(world))
    emit(world, 3)
    world:switch("emit", false)
    world:update(1)
    assert.are.same({ 3 }, amounts(world))
    world:update(1)
    assert.are.same({}, amounts(world))
  end)

  it("and makes room: once warm, ten thousand an update take no more memory", function()
    local world = new_world()
    local sum = 0
    world:system("emit", { run = function(w)
      for i = 1, 5000 do
        w:emit("Hit", ecs.null, i)
        w:after(0.5, "Hit", ecs.null, i)
      end
    end })
    world:system("read", { query = "Hit.amount", each = function(amount) sum = sum + amount end })
    for _ = 1, 4 do world:update(0.5) end
    local bytes = world:describe().bytes
    for _ = 1, 3 do world:update(0.5) end
    assert.are.equal(bytes, world:describe().bytes)
    assert.are.equal(13 * 5000 * 5001 / 2, sum)
  end)

  it("once fixed phases and systems with an interval that read it were due", function()
    local world = new_world()
    world:phase("slow", { fixed = 1 })
    local fixed = reader(world, "fixed", { phase = "slow" })
    local every = reader(world, "every", { every = 1.5 })
    emit(world, 1)
    for _ = 1, 3 do world:update(0.25) end
    assert.are.same({ 1 }, amounts(world))
    world:update(0.25)
    assert.are.same({ { 1 }, {}, { 1 } }, { fixed, every, amounts(world) })
    world:update(0.25)
    world:update(0.25)
    assert.are.same({ { 1 }, { 1 }, {} }, { fixed, every, amounts(world) })
  end)

  it("without waiting for those that are off, parked or held back", function()
    for _, how in ipairs { "switch", "park", "when", "phase" } do
      local world = new_world()
      world:on_error(function() end)
      world:phase("slow", { fixed = 1 })
      local seen = reader(world, "slow", { phase = "slow", every = how == "when" and 0.1 or nil,
        when = how == "when" and function() return false end or nil })
      if how == "park" then
        world:system("slow", { phase = "slow", query = "Hit", each = function() error "no" end })
        emit(world, 0)
        world:update(1)
      elseif how ~= "when" then
        world:switch("slow", false)
      end
      emit(world, 1)
      for _ = 1, 2 do world:update(1) end
      assert.are.same({ {}, {} }, { seen, amounts(world) })
    end
  end)
end)

describe("an event that is put off", function()
  it("is emitted by the update by which its time has passed, in the order of times", function()
    local world = new_world()
    local seen = reader(world, "read", { phase = "pre_update" })
    for i, seconds in ipairs { 1, 0.5, 0, 1, 0.5 } do
      world:after(seconds, "Hit", ecs.null, i)
    end
    world:after(0.25, "Hit", { amount = 6 })
    assert.are.equal(0, world:count "Hit")
    world:update(0)
    assert.are.same({ 3 }, seen)
    world:update(0.25)
    assert.are.same({ 3, 6 }, seen)
    world:update(0.75)
    assert.are.same({ 3, 6, 2, 5, 1, 4 }, seen)
  end)

  it("is emitted in order, however many there are", function()
    local world, expected = new_world(), {}
    for i = 1, 300 do
      local seconds = i * 7919 % 101 / 8
      expected[i] = { seconds, i }
      world:after(seconds, "Hit", ecs.null, i)
    end
    table.sort(expected, function(a, b)
      return a[1] < b[1] or a[1] == b[1] and a[2] < b[2]
    end)
    world:update(13)
    for i, pair in ipairs(expected) do expected[i] = pair[2] end
    assert.are.same(expected, amounts(world))
  end)

  it("is counted from when it was put off, in a system from the end of the update", function()
    local world = new_world()
    local seen = reader(world, "read")
    local n = 0
    world:system("late", { phase = "post_update", run = function(w)
      n = n + 1
      w:after(1, "Hit", ecs.null, n)
    end })
    for _ = 1, 4 do world:update(0.5) end
    assert.are.same({ 1, 2 }, seen)
  end)

  it("is dropped by the scope that put it off when that fails", function()
    local world = new_world()
    world:after(1, "Hit", ecs.null, 1)
    world:defer()
    world:after(1, "Hit", ecs.null, 2)
    emit(world, 9)
    world:defer()
    world:after(1, "Hit", ecs.null, 3)
    world:commit()
    world:cancel()
    world:after(1, "Hit", ecs.null, 4)
    world:update(1)
    assert.are.same({ 1, 4 }, amounts(world))
  end)

  it("is kept by images, snapshots and through other fields", function()
    local world = new_world()
    local seen = reader(world, "read")
    world:after(1, "Hit", ecs.null, 1)
    world:after(2, "Hit", ecs.null, 2)
    world:update(0.5)
    local image, snapshot, digest = world:save(), world:snapshot(), world:digest()
    world:update(0.25)
    assert.are_not.equal(digest, world:digest())
    world:restore(snapshot)
    assert.are.equal(digest, world:digest())
    world:update(0.5)
    world:update(1)
    assert.are.same({ 1, 2 }, seen)
    world:load(image)
    assert.are.equal(image, world:save())
    assert.are.equal(digest, world:digest())
    world:event("Hit", { "more: i32 = 5", "amount: f64" })
    helper.check(world)
    world:update(0.5)
    world:update(1)
    assert.are.same({ 1, 2, 1, 2 }, seen)
    world:after(1, "Hit", 0, 0.5)
    helper.has_error(function() world:event("Hit", { "amount: i32" }) end,
      "which is not of type i32")
  end)

  it("takes seconds that are not negative", function()
    local world = new_world()
    for _, seconds in ipairs { -1, 0 / 0, math.huge } do
      assert.is_false(pcall(world.after, world, seconds, "Hit"))
    end
    helper.has_error(function() world:after(1, "Health") end, "'Health' is a component, not an")
  end)
end)

describe("events are kept", function()
  local function make()
    local world = new_world()
    world:phase("slow", { fixed = 1 })
    return world, reader(world, "slow", { phase = "slow" }), reader(world, "quick")
  end

  it("by images and snapshots, with what systems have seen", function()
    local world, slow, quick = make()
    emit(world, 1)
    world:update(0.5)
    emit(world, 2)
    local image, snapshot, digest = world:save(), world:snapshot(), world:digest()
    world:update(0.5)
    assert.are.same({ { 1, 2 }, { 1, 2 } }, { slow, quick })
    local after = world:digest()
    for _, back in ipairs { function() world:restore(snapshot) end,
                            function() world:load(image) end } do
      back()
      assert.are.equal(digest, world:digest())
      assert.are.equal(image, world:save())
      world:update(0.5)
      assert.are.equal(after, world:digest())
    end
    assert.are.same({ { 1, 2, 1, 2, 1, 2 }, { 1, 2, 2, 2 } }, { slow, quick })
    local other, other_slow, other_quick = make()
    other:load(image)
    helper.check(other)
    other:update(0.5)
    assert.are.same({ { 1, 2 }, { 2 } }, { other_slow, other_quick })
    local bare = helper.new_world()
    bare:load(image)
    assert.are.same({ 1, 2 }, amounts(bare))
    assert.are.same({ "Hit" }, bare:describe().events)
  end)

  it("through a change of their fields", function()
    local world, _, quick = make()
    emit(world, 1)
    world:update(0.1)
    emit(world, 2)
    world:event("Hit", { "amount: f64", "who: entity", "extra: i32 = 7" })
    local list = {}
    for hit in world:events "Hit" do list[#list + 1] = { hit.amount, hit.extra } end
    assert.are.same({ { 1, 7 }, { 2, 7 } }, list)
    world:update(0.1)
    assert.are.same({ 1, 2 }, quick)
    world:emit("Hit", 0.5)
    helper.has_error(function() world:event("Hit", { "amount: i32" }) end,
      "cannot migrate 'Hit': event 3 has amount = 0.5, which is not of type i32")
    assert.are.same({ 1, 2, 0.5 }, amounts(world))
  end)

  it("until the event is undeclared, which breaks its queries", function()
    local world = new_world()
    local query = world:query "Hit"
    world:event("Any", { "value: any" })
    world:emit("Any", {})
    emit(world, 1)
    world:undeclare "Hit"
    world:undeclare "Any"
    helper.has_error(function() query:count() end, "no longer declared")
    helper.has_error(function() world:emit "Hit" end, "unknown event 'Hit'")
  end)

  it("and described", function()
    local world = new_world()
    emit(world, 1, 2)
    local hit = world:describe "Hit"
    assert.are.equal("event", hit.storage)
    assert.are.equal(2, hit.rows)
    assert.are.equal("amount", hit.fields[2].name)
    assert.are.same({ "Hit" }, world:describe().events)
  end)
end)
