-- What was written, and what has come, since somebody looked: `:changed` and `:added`.

local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"
local new_world, has_error = helper.new_world, helper.has_error

-- A world with P, whose changes are told by groups of rows, and T, which is tracked.
local function scene(options)
  local world = new_world(options)
  world:component("P", { "x: f32", "y: f32" })
  world:component("T", { "x: f32", "n: i32", "name: string", "m: f32[3]", track = true })
  world:component("Other", { "x: f32" })
  world:tag "Tag"
  return world
end

-- The entities that a query comes to.
local function ids(query)
  local list = query:ids()
  table.sort(list)
  return list
end

describe("a term with :changed", function()
  it("finds what is switched off where it asks for any", function()
    local world = helper.new_world()
    world:component("Shield", { "level: i32", toggle = true })
    local e = world:spawn { Shield = { 1 } }
    world:disable(e, "Shield")
    for text, count in pairs { ["Shield:any:changed"] = 1, ["Shield:off:changed"] = 1,
      ["Shield:changed"] = 0 } do
      local query = world:query(text)
      assert.are.equal(count, #query:ids(), text)
      assert.are.equal(0, query:count(), text)
      world:set(e, "Shield.level", 2)
      assert.are.equal(count, query:count(), text)
    end
  end)
end)

describe("a term with :changed", function()
  it("matches everything the first time, and then only what was written", function()
    local world = scene()
    local a, b = world:spawn { T = {} }, world:spawn { T = {} }
    local query = world:query "T:changed"
    assert.same({ a, b }, ids(query))
    assert.same({}, ids(query))
    world:set(b, "T.x", 0)
    assert.same({ b }, ids(query))
    assert.same({}, ids(query))
  end)

  it("is exact where the component is tracked, and tells of groups of 1,024 rows else", function()
    local world = scene()
    local list = world:spawn_many(3000, { P = {}, T = {} })
    local by_group, by_row = world:query "P:changed", world:query "T:changed"
    assert.equal(3000, by_group:count())
    assert.equal(3000, by_row:count())
    world:set(list[1025], "P", 1)
    world:set(list[1025], "T", 1)
    assert.equal(1024, by_group:count())
    assert.equal(list[1025], by_row:first())
    world:set(list[3000], "P", 1)
    world:set(list[2], "T", 1)
    assert.equal(3000 - 2048, by_group:count())
    assert.same({ list[2] }, ids(by_row))
  end)

  it("sees every way to write", function()
    local world = scene { kernels = false }
    local e, other = world:spawn { T = {} }, world:spawn { T = {} }
    local changed, all = world:query "T:changed", world:query "T"
    local only = world:query("T, with Tag")
    world:add(e, "Tag")
    local ways = {
      set = function() world:set(e, "T", 1) end,
      cell = function() world:set(e, "T.n", 1) end,
      text = function() world:set(e, "T", { name = "x" }) end,
      element = function() world:set(e, "T.m[2]", 1) end,
      view = function() for t in only:each() do t.x = 1 end end,
      nested = function() for t in only:each() do t.m[2] = 1 end end,
      slowly = function() for t in only:each() do t.name = "y" end end,
      whole = function() for t in only:each() do t.m = { 1, 2, 3 } end end,
      each = function() only:each(function(t) t.n = 2 end) end,
      map = function() world:query("T.x, with Tag"):map(function(x) return x + 1 end) end,
      names = function() world:query("T.name, with Tag"):map(function() return "z" end) end,
      chunk = function() for chunk in only:chunks() do chunk:column "T.x"[1] = 1 end end,
      column = function() for chunk in only:chunks() do chunk:column "T.name":write { "w" } end end,
      query = function() only:set("T.n", 3) end,
      staged = function()
        world:defer()
        world:set(e, "T.n", 1)
        world:commit()
      end,
      again = function()
        world:defer()
        world:remove(e, "T")
        world:add(e, "T")
        world:commit()
      end,
      away = function()
        world:remove(e, "T")
        world:add(e, "T")
      end,
    }
    changed:count()
    for name, way in pairs(ways) do
      way()
      assert.same({ e }, ids(changed), name)
      assert.same({}, ids(changed), name)
      for t in all:each() do local _ = t.x end
      world:add(other, "Other")
      world:remove(other, "Other")
      world:get(e, "T")
      assert.same({}, ids(changed), name)
    end
    local new = world:spawn { T = { x = 3 } }
    assert.same({ new }, ids(changed))
    world:despawn(e)
    assert.same({}, ids(changed))
  end)

  it("keeps what is known of rows that move", function()
    local world = scene()
    local list = world:spawn_many(2500, { T = {} })
    local query = world:query "T:changed"
    query:count()
    world:set(list[2500], "T.x", 1)
    world:despawn(list[1])                       -- its row goes to list[2500]
    world:add(list[7], "Other")
    assert.same({ list[2500] }, ids(query))
    world:set(list[7], "T.x", 1)
    world:remove(list[7], "Other")
    world:add(list[8], "Tag")
    world:query "T":add "Tag"
    assert.same({ list[7] }, ids(query))
  end)

  it("goes with other modifiers and terms, in all forms", function()
    local world = scene()
    local list = world:spawn_many(200, { T = {}, P = {} })
    local forms = {
      each = function(q) local n = 0 q:each(function() n = n + 1 end) return n end,
      loop = function(q) local n = 0 for _ in q:each() do n = n + 1 end return n end,
      chunks = function(q) local n = 0 for chunk in q:chunks() do n = n + chunk.n end return n end,
      count = function(q) return q:count() end,
      where = function(q) return q:where(function(t) return t.x >= 0 end):count() end,
      sum = function(q) return q:sum(function(t) return 1 + t.n * 0 end) end,
      ids = function(q) return #q:ids() end,
    }
    for name, form in pairs(forms) do
      local query = world:query "T:in:changed, with P:changed, !Tag"
      assert.equal(200, form(query), name)
      assert.equal(0, form(query), name)
      for i = 3, 190, 7 do
        world:set(list[i], "T.x", 1)
      end
      world:set(list[3], "P", 1)
      assert.equal(27, form(query), name)
      assert.equal(0, form(query), name)
    end
  end)

  it("gives nil where an optional term has not changed", function()
    local world = scene()
    local a, b = world:spawn { T = { x = 1 } }, world:spawn { T = { x = 2 } }
    local query, seen = world:query "T, T:changed?", {}
    query:count()
    world:set(b, "T.n", 1)
    query:each(function(t, news, _, e) seen[e] = news and t.x or "old" end)
    assert.same({ [a] = "old", [b] = 2 }, seen)
    world:spawn { P = {} }
    local either = world:query "T:changed|P:changed"
    assert.equal(3, either:count())
    world:set(a, "T.n", 1)
    assert.same({ a }, ids(either))
  end)

  it("is about sparse components and pairs, too", function()
    local world = scene()
    world:component("S", { "x: f32", storage = "sparse", track = true })
    world:relation("Owes", { "amount: i32", track = true })
    world:relation("At", { exclusive = true, track = true })
    local a, b = world:spawn { S = {}, P = {} }, world:spawn { S = {}, P = {} }
    local sparse = world:query("S:changed, P")
    local pairs_of = world:query("(Owes, $who):changed", { who = a })
    local at = world:query "At:changed"
    assert.same({ a, b }, ids(sparse))
    assert.same({}, ids(pairs_of))
    world:set(b, "S.x", 1)
    world:set(b, "Owes", a, 5)
    world:add(b, "At", a)
    assert.same({ b }, ids(sparse))
    assert.same({ b }, ids(pairs_of))
    assert.same({ b }, ids(at))
    local n = 0
    world:query "S":each(function(s) s.x = 2 end)
    sparse:each(function(s) n = n + s.x end)
    assert.equal(4, n)
    world:add(b, "At", world:spawn {})
    assert.same({ b }, ids(at))
    assert.same({}, ids(pairs_of))
    assert.same({}, ids(sparse))
    world:despawn(a)
    assert.same({}, ids(sparse))
  end)

  it("says what it is not for", function()
    local world = scene()
    world:event("Hit", { "who: entity" })
    for text, message in pairs {
      ["ChildOf->P:changed"] = "write a system over 'P:changed' that finds the others with",
      ["ChildOf*->P:in:changed?"] = "and this 'P' is another entity's",
      ["(ChildOf, $x), P:changed, P($x):changed"] = "and this 'P' is another entity's",
      ["Hit, Hit.who->P:changed"] = "a path from an event leads to another entity: leave it out",
      ["Hit:changed"] = "':changed' applies only to a component of the row itself",
      ["P:changed:changed"] = "':changed' or ':added' is given twice",
      ["!P:changed"] = "'!' takes only a component's name",
      ["P:added"] = "':added' needs 'P' to be declared with track = true",
    } do
      has_error(function() world:query(text) end, message)
    end
    has_error(function() world:count "P:changed" end, "create one with world:query and count that")
    has_error(function()
      world:index("near", { query = "P:changed:in", grid = "P", cell = 1 })
    end, "index 'near' holds every match of its query")
    has_error(function()
      world:observer("seen", { on = "set", query = "P:changed", each = function() end })
    end, "an observer is called only for changes: leave out ':changed'")
    has_error(function() world:component("Q", { track = 1 }) end,
      "'track' must be true or false, got 1")
    has_error(function() world:event("E", { track = true }) end, "an event cannot have 'track'")
  end)

  it("with :added matches what has come", function()
    local world = scene()
    local a, b = world:spawn { T = {} }, world:spawn { P = {} }
    local query = world:query "T:added"
    assert.same({ a }, ids(query))
    world:set(a, "T.x", 1)
    assert.same({}, ids(query))
    world:add(b, "T")
    assert.same({ b }, ids(query))
    world:set(b, "T", 1)
    world:add(b, "Tag")
    world:remove(b, "P")
    assert.same({}, ids(query))
  end)
end)

describe("a component that is tracked no more", function()
  it("is told by groups to those who ask, and what has come is no longer known", function()
    local world = scene()
    local list = world:spawn_many(2000, { T = {} })
    local added, changed = world:query "T:added", world:query "T:changed"
    assert.equal(4000, added:count() + changed:count())
    world:component("T", { "x: f32", "n: i32", "name: string", "m: f32[3]" })
    assert.equal(2000, changed:count())
    world:set(list[3], "T.x", 1)
    assert.equal(1024, changed:count())
    has_error(function() added:count() end, "query 'T:added'", "was redeclared")
    has_error(function() world:query "T:added" end, "declared with track = true")
    world:component("T", { "x: f32", "n: i32", "name: string", "m: f32[3]", track = true })
    assert.equal(2000, changed:count())
    world:set(list[3], "T.x", 1)
    assert.same({ list[3] }, ids(changed))
  end)
end)

describe("a system whose query has :changed", function()
  it("sees what others have written since it ran, and not what it writes itself", function()
    local world = scene()
    local list, seen = world:spawn_many(100, { T = {}, P = {} }), {}
    world:system("watch", { query = "T:changed", run = function(_, _, query)
      for t, e in query:each() do
        seen[#seen + 1] = e
        t.n = t.n + 1
      end
      world:set(list[1], "T.x", 5)
      world:add(list[2], "Tag")
    end })
    world:update(1)
    assert.equal(100, #seen)
    seen = {}
    world:update(1)
    assert.same({}, seen)
    world:set(list[9], "T.x", 1)
    world:update(1)
    assert.same({ list[9] }, seen)
  end)

  it("keeps its matches while it runs, whatever is written", function()
    local world = scene()
    local list = world:spawn_many(10, { T = {} })
    local query, seen = world:query "T:changed", {}
    query:count()
    world:set(list[3], "T.x", 1)
    world:set(list[5], "T.x", 1)
    for _, e in query:each() do
      seen[#seen + 1] = e
      world:set(list[4], "T.x", 1)
      world:set(list[5], "T.x", 1)
      assert.equal(2, query:count())
    end
    assert.same({ list[3], list[5] }, seen)
  end)

  it("counts by systems, each for itself, whoever goes through the same query", function()
    local world = scene()
    local list, counts = world:spawn_many(4, { T = {} }), {}
    local query = world:query "T:changed"
    for _, name in ipairs { "a", "b" } do
      world:system(name, { query = "T:changed", each = function()
        counts[name] = (counts[name] or 0) + 1
      end })
    end
    world:update(1)
    assert.same({ a = 4, b = 4 }, counts)
    world:set(list[1], "T.x", 1)
    world:run("a", 1)
    assert.same({ a = 5, b = 4 }, counts)
    world:set(list[2], "T.x", 1)
    world:update(1)
    assert.same({ a = 6, b = 6 }, counts)
    assert.equal(4, query:count())
  end)

  it("keeps its place when it is replaced, unless it asks for something else", function()
    local world = scene()
    world:spawn_many(3, { T = {}, P = {} })
    local count = 0
    local function register(text)
      world:system("s", { query = text, each = function() count = count + 1 end })
      world:update(1)
    end
    register "T:changed"
    register "T:changed"
    assert.equal(3, count)
    register "P:changed"
    assert.equal(6, count)
  end)

  it("has what was written before an error behind it", function()
    local world = scene()
    local list, count, fails = world:spawn_many(3, { T = {} }), 0, true
    world:system("s", { query = "T:changed", each = function()
      count = count + 1
      if fails then error "no" end
    end })
    has_error(function() world:update(1) end, "no")
    fails = false
    world:update(1)
    assert.equal(1, count)
    world:set(list[2], "T.x", 1)
    world:update(1)
    assert.equal(2, count)
  end)

  it("sees what observers write behind it", function()
    local world, counts = scene(), {}
    local e = world:spawn { T = {}, P = {} }
    world:observer("copy", { on = "set", query = "P", each = function(_, id)
      world:set(id, "T.x", 1)
    end })
    world:system("s", { query = "T:changed", run = function(_, _, query)
      counts[#counts + 1] = query:count()
      if #counts == 1 then world:set(e, "P", 5) end
    end })
    for _ = 1, 3 do world:update(1) end
    assert.same({ 1, 1, 0 }, counts)
  end)

  it("goes on where it was after a restore, and queries begin anew", function()
    local world = scene()
    local list, seen = world:spawn_many(2000, { T = {}, P = {} }), {}
    world:system("s", { query = "T:changed, with P:changed", each = function(_, _, e)
      seen[#seen + 1] = e
    end })
    local query = world:query "T:changed"
    world:update(1)
    query:count()
    world:set(list[1500], "T.x", 1)
    world:set(list[1500], "P", 1)
    local snapshot = world:snapshot()
    seen = {}
    world:update(1)
    assert.same({ list[1500] }, seen)
    world:set(list[3], "T.x", 1)
    world:despawn(list[4])
    world:restore(snapshot)
    assert.equal(2000, query:count())
    assert.equal(0, query:count())
    seen = {}
    world:update(1)
    assert.same({ list[1500] }, seen)
    seen = {}
    world:update(1)
    assert.same({}, seen)
  end)

  it("sees everything of a component that is declared otherwise", function()
    local world = scene()
    local e = world:spawn { T = {}, P = {} }
    local t, p = world:query "T:changed", world:query "P:changed"
    t:count()
    p:count()
    world:component("T", { "x: f32", "n: i32", "more: f32", track = true })
    assert.same({ e }, ids(t))
    assert.same({}, ids(p))
    world:component("P", { "x: f32", "y: f32", track = true })
    assert.same({ e }, ids(p))
    assert.same({}, ids(p))
    world:spawn { P = {} }
    assert.equal(1, p:count())
  end)
end)

describe("an image of what has changed", function()
  -- What a system has seen since it was asked last.
  local function watch(world, text)
    local seen = {}
    world:system("s", { query = text, each = function(_, _, e) seen[#seen + 1] = e end })
    return function()
      world:update(1)
      local last = seen
      seen = {}
      table.sort(last)
      return last
    end
  end

  for name, text in pairs { groups = "P:changed", rows = "T:changed", added = "T:added",
    sparse = "S:changed", pairs = "(Owes, Tag):changed" } do
    it("knows what systems have seen of " .. name, function()
      local function declare(world)
        world:component("S", { "x: f32", storage = "sparse", track = true })
        world:relation("Owes", { "amount: i32" })
        return world
      end
      local world, list = declare(scene()), {}
      for i = 1, 1500 do
        list[i] = world:spawn { T = {}, P = {}, S = {} }
        world:set(list[i], "Owes", world:tag "Tag", i)
      end
      local seen = watch(world, text)
      assert.equal(1500, #seen())
      local function change(on)
        on:set(list[1400], "P", 1)
        on:set(list[1400], "S", 1)
        on:set(list[1400], "Owes", on:tag "Tag", 7)
        on:remove(list[1400], "T")
        on:add(list[1400], "T")
      end
      change(world)
      local other = declare(scene())
      local other_seen, unknown = watch(other, text), 0
      other:system("unknown", { query = text, each = function() unknown = unknown + 1 end })
      local bytes, same = world:save(), declare(scene())
      watch(same, text)
      same:load(bytes)
      assert.is_true(bytes == same:save(), "an image is not saved as it was loaded")
      other:load(bytes)
      local news = seen()
      assert.is_true(#news > 0 and #news < 1500)
      assert.same(news, other_seen())
      assert.equal(1500, unknown)
      assert.same({}, other_seen())
      change(other)
      assert.same(news, other_seen())
    end)
  end

  it("has marks of what is declared otherwise, and of systems with other queries, anew", function()
    local world = scene()
    local list = world:spawn_many(10, { T = {}, P = {} })
    watch(world, "T:changed")()
    local other = scene()
    local seen = watch(other, "T:changed, P")
    other:load(world:save())
    assert.equal(10, #seen())
    other = scene()
    other:component("T", { "x: f32", "more: f32", track = true })
    seen = watch(other, "T:changed")
    other:load(world:save())
    assert.equal(10, #seen())
    other:set(list[3], "T.x", 1)
    assert.same({ list[3] }, seen())
  end)

  it("says nothing where no system asks and nothing is tracked", function()
    local function bytes(ask)
      local world = new_world()
      world:component("P", { "x: f32" })
      world:spawn { P = {} }
      if ask then world:query "P:changed":count() end
      return #world:save()
    end
    assert.equal(bytes(false), bytes(true))
  end)
end)

describe("a live script that asks what has changed", function()
  local ASK = [[local world, script = ...
    world:component("T", { "x: f32", track = true })
    script.state.counts = script.state.counts or {}
    world:system("ask", { query = "T:changed", run = function(_, _, query)
      table.insert(script.state.counts, query:count() * %s)
      Counts = script.state.counts
    end })]]

  after_each(function() rawset(_G, "Counts", nil) end)

  it("is told once, in all its versions", function()
    local world, files, errors, open = live_scene.new()
    files:write("a.lua", ASK:format "1")
    local session = open()
    assert.same({}, errors)
    local list = world:spawn_many(20, { T = {} })
    world:update(1)
    world:set(list[3], "T.x", 1)
    files:write("a.lua", ASK:format "10")
    assert.is_true(helper.poll(session))
    world:update(1)
    world:update(1)
    assert.same({ 20, 10, 0 }, rawget(_G, "Counts"))
  end)

  it("keeps the component tracked for the systems of others that ask what has come", function()
    local _, files, errors, open = live_scene.new()
    files:write("a.lua", 'local w = ...; w:component("T", { "x: f32", track = true })')
    files:write("b.lua", 'local w = ...; w:system("born", { query = "T:added", each = print })')
    local session = open()
    files:write("a.lua", 'local w = ...; w:component("T", { "x: f32" })')
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    assert.same({ message }, errors)
    for _, text in ipairs { "system 'born'", "query 'T:added'", "'T'", "must keep track = true" } do
      assert(message:find(text, 1, true), message)
    end
    files:write("b.lua", "")
    assert.is_true(helper.poll(session))
  end)
end)
