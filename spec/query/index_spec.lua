-- Indexes: who is near a place.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local has_error = helper.has_error

local world, flock

-- What a loop gives, behind the views: a list of entities.
local function list(...)
  local ids = {}
  for _, id in ... do ids[#ids + 1] = id end
  return ids
end

-- An index by Position.
local function by_position(name, query)
  return world:index(name, { query = query, grid = "Position", cell = 1 })
end

local function spawn(x, y, more)
  local components = more or {}
  components.Position = { x, y }
  return world:spawn(components)
end

before_each(function()
  world = helper.new_world()
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Label", { "text: string", "of: entity", "kind: enum(small, large)" })
  world:tag "Boid"
  flock = world:index("flock", { query = "Position:in", grid = "Position", cell = 2 })
end)

describe("an index with a grid", function()
  it("finds who is near, by cells and in a cell in the order of the query (C28)", function()
    local a, b, c, d = spawn(1, 1), spawn(-1, 0), spawn(0, 0), spawn(0, -3)
    assert.are.same({ d, b, a, c }, list(flock:within(0, 0, 3)))
    assert.are.same({ b, a, c }, list(flock:within(0, 0, 2.9)))
    assert.are.same({ c }, list(flock:within(0, 0, 0)))
    assert.are.same({ d, b, a, c }, list(flock:within(0, 0, math.huge)))
    for _, reach in ipairs { -1, 0 / 0, -math.huge } do
      assert.are.same({}, list(flock:within(0, 0, reach)))
    end
    assert.are.same({}, list(flock:within(0 / 0, 0, 5)))
    assert.are.same({}, list(flock:within(math.huge, 0, 5)))
  end)

  it("gives the nearest one and its distance", function()
    local a, b = spawn(3, 4), spawn(-3, 4)
    assert.are.same({ a, 5.0 }, { flock:nearest(0, 0, 5) })
    assert.are.same({ b, 5.0 }, { flock:nearest(0, 0, 5, a) })
    assert.are.same({ b, 0.0 }, { flock:nearest(-3, 4, 0) })
    assert.are.same(table.pack(nil), table.pack(flock:nearest(0, 0, 4.9)))
    assert.is_nil((flock:nearest(0, 0, 0 / 0)))
    assert.are.equal(a, (flock:nearest(1, 0, math.huge, ecs.null)))
  end)

  it("goes by x, y and z where there is a z, of any number type", function()
    world:component("Place", { "z: i16", "y: u64", "x: f64" })
    local far = world:index("far", { query = "Place", grid = "Place", cell = 1e3 })
    local a = world:spawn { Place = { x = 1, y = 2, z = -2 } }
    world:spawn { Place = { x = 1, y = 2, z = 3 } }
    assert.are.same({ a }, list(far:within(0, 0, 0, 3)))
    assert.are.same({ a, 3.0 }, { far:nearest(0, 0, 0, 3) })
    has_error(function() far:within(0, 0, 3) end, "#4 to 'within'", "number expected")
  end)

  it("does not find who is nowhere, and says how many there are", function()
    spawn(0 / 0, 0)
    spawn(0, math.huge)
    local a = spawn(1e30, -1e30)
    assert.are.same({ a }, list(flock:within(0, 0, math.huge)))
    local told = world:explain "flock"
    assert.are.same({ 1, 2 }, { told.rows, told.lost })
  end)

  it("gives what its query gives, as loops over that do", function()
    local all = world:index("all", { query = "Position:in, Label?, Boid?, Label.kind?, Position.y, "
      .. "with Boid|Label", grid = "Position", cell = 1 })
    local a = spawn(0, 0, { Boid = true })
    local b = spawn(5, 1, { Label = { text = "it", of = a, kind = "large" } })
    local seen = {}
    for p, label, boid, kind, y, e in all:within(0, 0, 100) do
      seen[#seen + 1] = { p.x, label and label.text, label and label.of, boid, kind, y, e }
    end
    assert.are.same({ { 0.0, false, false, true, false, 0.0, a },
      { 5.0, "it", a, false, "large", 1.0, b } }, seen)
  end)

  it("takes variables, toggles, sparse components and ties as queries do", function()
    world:component("Asleep", { toggle = true })
    world:component("Marked", { "n: i32", storage = "sparse" })
    world:relation "Likes"
    local a, b = spawn(0, 0, { Asleep = true, Marked = { 7 } }), spawn(1, 0, { Asleep = true })
    world:add(b, "Likes", a)
    world:add(b, "Likes", b)
    local likes = world:index("likes", { query = "Position, with (Likes, $who)", ["$who"] = a,
      grid = "Position", cell = 1 })
    local any = by_position("any", "Position, with (Likes, *)")
    local asleep = by_position("asleep", "Position, Asleep")
    local marked = by_position("marked", "Marked.n, Position")
    assert.are.same({ b }, list(likes:within(0, 0, 9)))
    assert.are.same({ b }, list(any:within(0, 0, 9)))
    world:disable(a, "Asleep")
    assert.are.same({ b }, list(asleep:within(0, 0, 9)))
    for n, p, e in marked:within(0, 0, 9) do
      assert.are.same({ 7, 0.0, a }, { n, p.x, e })
    end
  end)

  it("has references to the dead read as null", function()
    local a = spawn(0, 0)
    local b = spawn(1, 0, { Label = { of = a } })
    world:despawn(a)
    local labels = by_position("labels", "Position, Label")
    for _, label, e in labels:within(0, 0, 9) do
      assert.are.same({ ecs.null, b }, { label.of, e })
    end
  end)
end)

describe("a view of an index", function()
  it("is read-only, and shows its loop's row until that ends", function()
    spawn(1, 0)
    spawn(5, 0)
    local first, count
    for p in flock:within(0, 0, 9) do
      first, count = first or p, (count or 0) + 1
      assert.are.equal(p.x, first.x)
      has_error(function() p.x = 3 end, "read-only copy", "world:set(entity")
      assert.are.equal(p.x == 1 and "Position { x = 1.0, y = 0.0 }"
        or "Position { x = 5.0, y = 0.0 }", tostring(p))
    end
    assert.are.equal(2, count)
    has_error(function() return first.x end, "stale view: its loop has ended")
    assert.are.equal("view (stale)", tostring(first))
    has_error(function() return pairs(first) end, "stale view")
  end)

  it("is stale behind a loop that is left early, or by an error", function()
    spawn(1, 0)
    local kept
    for p in flock:within(0, 0, 9) do
      kept = p
      if p.x == 1 then break end
    end
    has_error(function() return kept.x end, "its loop has ended")
    pcall(function()
      for p in flock:within(0, 0, 9) do
        kept = p
        error "out"
      end
    end)
    has_error(function() return kept.x end, "its loop has ended")
  end)

  it("says what is absent, and gives its values to others", function()
    local labels = by_position("labels", "Position, Label?")
    world:component("Mover", { "from: Position" })
    local a = spawn(0, 0, { Label = { "one" } })
    local mover = spawn(5, 0, { Mover = true })
    local kept
    for p, label, e in labels:within(0, 0, 9) do
      kept = kept or label
      for m in world:query("Mover"):each() do m.from = p end
      assert.are.equal(p.x, (world:get(mover, "Mover.from.x")))
      if e ~= a then
        assert.is_false(label)
        has_error(function() return kept.text end, "the current entity has no 'Label'")
      end
    end
    for m in world:query("Mover"):each() do
      has_error(function() m.from = kept end, "stale view")
    end
  end)

  it("ends with its world", function()
    spawn(1, 0)
    has_error(function()
      for p in flock:within(0, 0, 9) do
        world:close()
        has_error(function() return p.x end, "the world is closed")
      end
    end, "the loop has ended")
    has_error(function() flock:within(0, 0, 9) end, "index 'flock': its world is closed")
    assert.are.equal("ecs.index (stale)", tostring(flock))
  end)
end)

describe("an index inside a system", function()
  it("stays as it was when that began", function()
    local a, counts = spawn(0, 0), {}
    local b = spawn(1, 0)
    world:system("move", { query = "Position", each = function(p, _, e)
      counts[#counts + 1] = #list(flock:within(0, 0, 1))
      p.x = 100
      world:despawn(e)
      spawn(0, 0)
    end })
    world:update(1)
    assert.are.same({ 2, 2 }, counts)
    assert.is_false(world:alive(a) or world:alive(b))
    assert.are.equal(2, #list(flock:within(0, 0, 1)))
    world:update(1)
    assert.are.same({ 2, 2, 2, 2 }, counts)
  end)

  it("is found in upvalues, in functions among them, and by what is written", function()
    local seen = {}
    local function near() return #list(flock:within(0, 0, 1)) end
    local function nearer() return near() end
    world:system("direct", { run = function() seen[1] = #list(flock:within(0, 0, 1)) end })
    world:system("through", { run = function() seen[2] = nearer() end })
    world:system("written", { run = function(w)
      local function inner() return #list(w:index("flock"):within(0, 0, 1)) end
      seen[3] = inner()
    end })
    local indexes = { flock = flock }
    world:system("field", { run = function() seen[4] = #list(indexes.flock:within(0, 0, 1)) end })
    local function named() return #list(world:index("flock"):within(0, 0, 1)) end
    world:system("named", { run = function() seen[5] = named() end })
    spawn(0, 0)
    world:update(1)
    assert.are.same({ 1, 1, 1, 1, 1 }, seen)
    for _, name in ipairs { "direct", "through", "written", "field" } do
      world:remove_system(name)
    end
    spawn(0, 0)
    world:update(1)
    assert.are.equal(2, seen[5])
  end)

  it("has to be named where that does not show it", function()
    local held, seen = { flock }, 0
    local spec = { run = function() seen = #list(held[1]:within(0, 0, 1)) end }
    world:system("hidden", spec)
    spawn(0, 0)
    has_error(function() world:update(1) end, "system 'hidden'", "index 'flock'",
      'add uses = { "flock" }')
    spec.uses = "flock"
    world:system("hidden", spec)
    world:update(1)
    assert.are.equal(1, seen)
    spec.uses = { "flock", "flok" }
    world:system("hidden", spec)
    has_error(function() world:update(1) end, "there is no index 'flok'", "did you mean 'flock'")
    spec.uses = { 1 }
    has_error(function() world:system("hidden", spec) end, "option 'uses'")
  end)

  it("is compiled where kernels know what looks into it; what is not says so", function()
    world:system("near", { query = "Position", each = function(p)
      p.x = #list(flock:within(p.x, p.y, 1))
    end })
    world:system("nearest", { query = "Position", each = function(p)
      local _, far = flock:nearest(p.x, p.y, 1)
      p.x = far
    end })
    assert.are.equal("vector", world:explain("nearest").tier)
    assert.are.equal("lua", world:explain("near").tier)
    spawn(0, 3)
    world:update(1)
  end)

  it("ends its loops with it", function()
    local kept, go_on
    spawn(0, 0)
    spawn(1, 0)
    world:system("keep", { run = function()
      go_on = coroutine.wrap(function()
        for p in flock:within(0, 0, 9) do
          kept = p
          coroutine.yield()
        end
      end)
      go_on()
      assert.are.equal(0.0, kept.x)
    end })
    world:update(1)
    has_error(function() return kept.x end, "its loop has ended")
    has_error(go_on, "the loop has ended")
  end)

  it("is as any other for when, on_error and observers of errors: brought up to date", function()
    local seen = {}
    world:system("asked", { when = function()
      seen[#seen + 1] = #list(flock:within(0, 0, 1))
      return true
    end, run = function() error "oh" end })
    world:on_error(function() seen[#seen + 1] = #list(flock:within(0, 0, 1)) end)
    spawn(0, 0)
    world:update(1)
    assert.are.same({ 1, 1 }, seen)
  end)

  it("may be new there, and is neither replaced nor dropped", function()
    world:system("declare", { run = function(w)
      local made = w:index("made", { query = "Position", grid = "Position", cell = 1 })
      has_error(function() made:within(0, 0, 1) end, 'uses = { "made" }')
      has_error(function() by_position("flock", "Position") end, "declaring an index again")
      has_error(function() w:undeclare "flock" end, "dropping an index")
    end })
    world:update(1)
    spawn(0, 0)
    assert.are.equal(1, #list(world:index("made"):within(0, 0, 1)))
  end)
end)

describe("an index outside of systems", function()
  it("is brought up to date by each call, and stays for the loop that began with it", function()
    local a, b = spawn(0, 0), spawn(1, 0)
    local outer, inner = {}, {}
    for p, e in flock:within(0, 0, 9) do
      outer[#outer + 1] = { p.x, e }
      world:set(b, "Position.x", 50)
      if #outer == 1 then world:despawn(a) end
      for q in flock:within(0, 0, 100) do
        inner[#inner + 1] = q.x
        spawn(60, 0)
        assert.are.equal(outer[#outer][1], p.x)
      end
    end
    assert.are.same({ { 0.0, a }, { 1.0, b } }, outer)
    assert.are.same({ 50.0, 50.0, 60.0 }, inner)
  end)

  it("is over when an update, a load or a migration comes in between", function()
    spawn(0, 0)
    spawn(1, 0)
    local image = world:save()
    for _, call in ipairs {
      function() world:update(1) end,
      function() world:load(image) end,
      function() world:restore(world:snapshot()) end,
      function() flock = by_position("flock", "Position") end,
      function() world:component("Position", { "y: f64", "x: f64" }) end,
      function() world:undeclare "flock" end,
    } do
      has_error(function()
        for p in flock:within(0, 0, 9) do
          call()
          has_error(function() return p.x end, "stale view")
        end
      end, "the loop has ended")
    end
  end)

  it("lets go of what loops in lost coroutines went through", function()
    for i = 1, 300 do spawn(i, 0) end
    local function lose()
      for _ = 1, 50 do
        spawn(1, 0)
        local go = coroutine.wrap(function()
          for _ in flock:within(0, 0, 9) do coroutine.yield() end
        end)
        go()
      end
    end
    collectgarbage "stop"
    lose()
    local many = world:explain("flock").bytes
    collectgarbage "restart"
    collectgarbage()
    collectgarbage()
    list(flock:within(0, 0, 9))
    assert.is_true(world:explain("flock").bytes * 5 < many)
  end)
end)

describe("what an index is declared with", function()
  local function declare(options)
    return function() world:index("near", options) end
  end

  it("replaces what there was of its name, and can be dropped", function()
    spawn(0, 0)
    local boids = by_position("flock", "Position, with Boid")
    assert.are.same({}, list(flock:within(0, 0, 9)))
    assert.are.equal("ecs.index (flock, by Position)", tostring(boids))
    world:undeclare "flock"
    has_error(function() flock:within(0, 0, 1) end, "index 'flock' is no longer declared")
    has_error(function() world:index "flock" end, "no index 'flock'")
    assert.are.same({}, world:describe().indexes)
    world:index("flock", { query = "Position", grid = "Position", cell = 1 })
    assert.are.equal(1, #list(flock:within(0, 0, 9)))
  end)

  it("is told by describe and explain", function()
    spawn(0, 0)
    list(flock:within(0, 0, 1))
    local told = world:describe().indexes[1]
    assert.are.same({ "flock", "Position:in", "grid", "Position", 2.0, 1 },
      { told.name, told.query, told.by, told.of, told.cell, told.rows })
    told = world:explain "flock"
    assert.are.same({ "flock", "whole", 1, 1, 0 },
      { told.name, told.brought, told.rows, told.times, told.lost })
    assert.is_true(told.seconds >= 0 and told.bytes > 100)
  end)

  it("is refused where it makes no sense, with what to write instead", function()
    world:component("Bag", { "x: any", "y: f32" })
    world:event("Hit", { "x: f32", "y: f32" })
    world:relation("Likes", { "x: f32", "y: f32" })
    local grid = "Position"
    has_error(declare {}, "index 'near': option 'query' must be a string, got nil")
    has_error(declare { query = "Position" }, "give one of grid, hash, ordered and maybe")
    has_error(declare { query = "Position", grid = grid },
      "option 'cell' must be the width of a cell")
    has_error(declare { query = "Position", grid = grid, cell = 0 }, "a number above 0, got 0")
    has_error(declare { query = "Position", grid = grid, cel = 1 }, "'cel'", "did you mean 'cell'")
    has_error(declare { query = "Positio", grid = grid, cell = 1 }, "did you mean 'Position'")
    has_error(declare { query = "Boid", grid = grid, cell = 1 }, "add 'Position:in' to it")
    has_error(declare { query = "Position.y", grid = grid, cell = 1 }, "yields no x")
    has_error(declare { query = "Label", grid = "Label", cell = 1 }, "fields x and y of 'Label'")
    has_error(declare { query = "Bag", grid = "Bag", cell = 1 }, "'Bag.x' has type any")
    has_error(declare { query = "Hit", grid = "Hit", cell = 1 }, "events")
    has_error(declare { query = "Position, (Likes, *)", grid = grid, cell = 1 }, "write 'with'")
    has_error(function() world:index("Position", { query = "Position", grid = grid, cell = 1 }) end,
      "the name is already used by a component")
    has_error(function() world:index("", { query = "Position", grid = grid, cell = 1 }) end,
      "an index has letters")
    assert.are.equal(1, #world:describe().indexes)
  end)

  it("is no content of the world: nothing depends on whether it is there (C27)", function()
    local function run(w, indexed)
      w:component("Position", { "x: f32", "y: f32" })
      local made = indexed and w:index("near", { query = "Position", grid = "Position", cell = 1 })
      w:system("move", { query = "Position", each = function(p, dt, e)
        p.x = p.x + w:random(e) * dt
        if made then made:nearest(p.x, p.y, 5) end
        if p.x > 3 then w:despawn(e) w:spawn { Position = { 0, p.y } } end
      end })
      for i = 1, 20 do w:spawn { Position = { i % 5, i } } end
      for i = 1, 10 do
        w:update(0.5)
        if made and i == 5 then w:undeclare "near" made = nil end
      end
      return w:digest(), w:save()
    end
    local digest, image = run(helper.new_world { seed = 1, tag = 9, kernels = false }, true)
    local other, bytes = run(helper.new_world { seed = 1, tag = 9, kernels = false }, false)
    assert.are.equal(other, digest)
    assert.are.equal(bytes, image)
  end)
end)

describe("an index of a world that is replaced", function()
  it("finds what was loaded, restored or migrated", function()
    local a = spawn(1, 1, { Label = { "a" } })
    local labels = by_position("labels", "Position, Label")
    local image, kept = world:save(), world:snapshot()
    world:despawn(a)
    assert.are.same({}, list(flock:within(0, 0, 9)))
    world:restore(kept)
    assert.are.same({ a }, list(flock:within(0, 0, 9)))
    world:despawn(a)
    world:load(image)
    for p, label, e in labels:within(0, 0, 9) do
      assert.are.same({ 1.0, "a", a }, { p.x, label.text, e })
    end
    world:component("Position", { "z: f64", "y: i32", "x: i32" })
    assert.are.same({ a }, list(flock:within(1, 1, 0, 0)))
  end)

  it("follows a component that is called otherwise now, though another has its name", function()
    local a = spawn(1, 1, { Label = { "a" } })
    local by_text = world:index("texts", { query = "Label.text:in", maybe = "Label.text" })
    local image = world:save()
    world:component("Place", { "x: f32", "y: f32", was = "Position" })
    world:component("Word", { "text: string", was = "Label" })
    assert.are.same({ a }, list(flock:within(0, 0, 9)))
    assert.are.same({ a }, list(by_text:find "a"))
    world:component("Place", { "x: f32", "y: f32" })
    world:component("Word", { "text: string" })
    world:load(image)
    assert.is_true(world:has(a, "Position") and world:has(a, "Label"))
    assert.are.same({}, list(flock:within(0, 0, 9)))
    assert.are.same({}, list(by_text:find "a"))
    local b = world:spawn { Place = { 1, 1 }, Word = { "a" } }
    assert.are.same({ b }, list(flock:within(0, 0, 9)))
    assert.are.same({ b }, list(by_text:find "a"))
  end)

  it("says so when what it is by is there no more", function()
    spawn(1, 1)
    world:component("Position", { "x: f32" })
    has_error(function() flock:within(0, 0, 1) end, "a grid needs the number fields x and "
      .. "y", "no y")
    world:component("Position", { "x: f32", "y: f32" })
    assert.are.equal(1, #list(flock:within(0, 0, 1)))
    world:undeclare "Position"
    has_error(function() flock:within(0, 0, 1) end, "no longer declared")
    assert.are.equal(0, world:explain("flock").rows)
  end)
end)
