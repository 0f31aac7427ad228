local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local ecs = require "ecs"

local has_error = helper.has_error

local BITS = "bits: u64[2] = 0xF000000000000001"

-- `bits` is BITS but for older images, which had no such type.
local function declare(world, bits)
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Mind", {
    "name: string", "mood: enum(calm, angry)", "foe: entity", "scores: i16[3]", "big: i64",
    "on: bool", bits,
  })
  world:component("Offset", { "dx: f32" })
  world:component("Body", { "mass: f64 = 2", "at: Offset" })
  world:tag "Frozen"
  world:resource("Gravity", { "y: f32 = -9.8", "label: string = down" })
end

local function populate(world, count, bits)
  local ids = {}
  for i = 1, count do
    ids[i] = world:spawn {
      Position = { x = i, y = -i }, Frozen = i % 3 == 0 or nil,
      Mind = i % 2 == 0 and {
        name = "n" .. i, mood = "angry", foe = ids[i - 1], scores = { i, 2, 3 }, big = 1 << 40,
        on = true, bits = bits and { -i },
      } or nil,
      Body = i % 5 == 0 and { at = { dx = i } } or nil,
    }
  end
  world:name(ids[1], "first")
  world:res("Gravity").y = 3
  return ids
end

local function make(count)
  local world = helper.new_world()
  declare(world, BITS)
  return world, populate(world, count, BITS)
end

describe("a saved world", function()
  it("is whole again in another one, byte for byte (C51)", function()
    local world, ids = make(30)
    world:despawn(ids[7])
    local bytes = world:save()
    for _, empty in ipairs { true, false } do
      local other = helper.new_world()
      if not empty then
        other:tag "Early"
        declare(other, BITS)
        other:spawn { Position = {} }
      end
      other:load(bytes)
      assert.are.equal(world:digest(), other:digest())
      assert.are.equal("n2", (other:get(ids[2], "Mind.name")))
      assert.are.equal(ids[1], (other:get(ids[2], "Mind.foe")))
      assert.are.same({ -2, (0xF << 60) + 1 }, other:read(ids[2], "Mind").bits)
      assert.are.equal(ids[1], other:lookup "first")
      assert.are.equal(3.0, other:res("Gravity").y)
      has_error(function() other:get(ids[7], "Position") end, "is dead")
      if empty then
        assert.are.equal(bytes, other:save())
      end
      helper.check(other)
    end
  end)

  it("gives the next spawn the id that it would have had", function()
    local world, ids = make(10)
    world:despawn(ids[3])
    world:despawn(ids[9])
    local bytes = world:save()
    local expected = { world:spawn(), world:spawn(), world:spawn() }
    local other = helper.new_world()
    other:load(bytes)
    assert.are.same(expected, { other:spawn(), other:spawn(), other:spawn() })
  end)

  it("goes on as one that never stopped", function()
    local function systems(world)
      world:phase("fixed", { fixed = 1 / 30 })
      world:system("every", { every = 0.25, run = function(w) w:spawn { Position = {} } end })
      world:system("step", { phase = "fixed", query = "Position",
        each = function(p, dt) p.x = p.x + dt end })
      world:system("begin", { phase = "startup", run = function(w) w:spawn { Frozen = true } end })
    end
    local world = make(5)
    systems(world)
    world:update(0.11)
    local other = helper.new_world()
    declare(other, BITS)
    systems(other)
    other:load(world:save())
    for _ = 1, 10 do
      world:update(0.07)
      other:update(0.07)
    end
    assert.are.equal(world:digest(), other:digest())
    assert.are.equal(world:save(), other:save())
  end)

  it("loads into components that have moved on, or is refused as a whole", function()
    local world, ids = make(10)
    local bytes = world:save()
    local other = helper.new_world()
    other:component("Position", { "x: f64", "z: f32 = 4" })
    other:component("Mind", { "title: string", "mood: enum(furious, angry, calm)",
      was = { title = "name" } })
    other:load(bytes)
    assert.are.same({ x = 4.0, z = 4.0 }, other:read(ids[4], "Position"))
    assert.are.same({ title = "n4", mood = "angry" }, other:read(ids[4], "Mind"))
    local third = helper.new_world()
    third:component("Position", { "x: u8", "y: u8" })
    local kept = third:spawn { Position = { x = 1 } }
    has_error(function() third:load(bytes) end, "cannot migrate 'Position'", "u8")
    assert.is_true(third:alive(kept))
    assert.are.equal(1, third:count "Position")
  end)

  it("loads where tags have got fields and other components are made of them", function()
    local world = helper.new_world()
    world:tag "Spot"
    world:component("Body", { "mass: f32" })
    local e = world:spawn { Spot = true, Body = { mass = 3 } }
    local other = helper.new_world()
    other:component("Spot", { "x: f32 = 2" })
    other:component("Body", { "at: Spot", "mass: f32" })
    other:component("Late", { "body: Body", "spot: Spot[2]" })
    other:load(world:save())
    assert.are.same({ at = { x = 2.0 }, mass = 3.0 }, other:read(e, "Body"))
    assert.are.equal(2.0, (other:get(e, "Spot.x")))
  end)

  it("brings components that are made of such as the world has", function()
    local world = helper.new_world()
    world:component("Mood", { "now: enum(calm, angry)" })
    world:component("Mind", { "mood: Mood[2]" })
    world:component("Crew", { "mind: Mind", "n: i32" })
    local e = world:spawn { Crew = { n = 3, mind = { mood = { { now = "angry" } } } } }
    local bytes, before = world:save(), world:digest()
    world:undeclare "Crew"
    world:undeclare "Mind"
    world:load(bytes)
    collectgarbage()
    assert.are.same({ n = 3, mind = { mood = { { now = "angry" }, { now = "calm" } } } },
      world:read(e, "Crew"))
    assert.are.equal(before, world:digest())
  end)

  it("gives a resource that it does not have the defaults of the world's component", function()
    local world, other = helper.new_world(), helper.new_world()
    world:component("G", { "y: i32 = 300" })
    other:resource("G", { "y: u8 = 5" })
    other:res("G").y = 9
    other:load(world:save())
    assert.are.equal(5, other:res("G").y)
  end)

  it("lets go of `any` values whose fields are no longer there", function()
    local values = setmetatable({}, { __mode = "k" })
    local codec = {
      encode = function() return "" end,
      decode = function()
        local value = {}
        values[value] = true
        return value
      end,
    }
    local world = helper.new_world()
    world:resource("A", { "keep: i32", "drop: any" })
    world:res("A").drop = { 1 }
    local ids = world:spawn_many(5, { A = { keep = 3, drop = { 2 } } })
    local bytes = world:save { codec = codec }
    world:component("A", { "keep: i32" })
    world:load(bytes, { codec = codec })
    assert.are.equal(3, (world:get(ids[5], "A.keep")))
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(values))
  end)

  it("lets go of the `any` values of what it replaces, as restoring does", function()
    local values = setmetatable({}, { __mode = "k" })
    local function value()
      local made = {}
      values[made] = true
      return made
    end
    local function left()
      collectgarbage()
      collectgarbage()
      local count = 0
      for _ in pairs(values) do count = count + 1 end
      return count
    end
    local codec = { encode = function() return "" end, decode = value }
    local world = helper.new_world()
    world:resource("A", { "value: any" })
    local plain = world:save { codec = codec }
    local function fill()
      world:res("A").value = value()
      for _ = 1, 5 do world:spawn { A = { value() } } end
      assert.are.equal(6, left())
    end
    fill()
    local full = world:save { codec = codec }
    world:load(full, { codec = codec })
    assert.are.equal(6, left())
    world:load(plain, { codec = codec })
    assert.are.equal(0, left())
    local snapshot = world:snapshot()
    fill()
    world:restore(snapshot)
    assert.are.equal(0, left())
    fill()
    assert.is_false(pcall(world.load, world, full:sub(1, -2), { codec = codec }))
    assert.are.equal(6, left())
    helper.check(world)
  end)

  it("keeps a range of ids that is used up", function()
    local world = make(1)
    world:entity_range(200000, 200002)
    local ids = world:spawn_many(3, { Position = {} })
    local snapshot, bytes = world:snapshot(), world:save()
    local loaded = helper.new_world()
    declare(loaded, BITS)
    loaded:load(bytes)
    world:restore(snapshot)
    for _, same in ipairs { world, loaded } do
      has_error(function() same:spawn() end, "no entity ids are left")
      assert.are.equal(bytes, same:save())
      same:despawn(ids[2])
      assert.are.equal(200001, same:spawn() & 0xFFFFFFF)
      has_error(function() same:spawn() end, "no entity ids are left")
      same:entity_range(200000, 200003)
      assert.are.equal(200003, same:spawn() & 0xFFFFFFF)
      helper.check(same)
    end
  end)

  it("keeps components that entity fields of resources name", function()
    local world = helper.new_world()
    world:resource("Chosen", { "what: entity" })
    local ids = { world:component("Dead", { "a: u32" }), world:component("Own", { "d: Dead[2]" }),
      world:component("Crew", { "x: i32" }) }
    for _, id in ipairs(ids) do
      world:res("Chosen").what = id
      world:load(world:save())
      assert.are.equal(id, world:res("Chosen").what)
    end
  end)

  it("keeps queries, systems and views of resources", function()
    local world = make(6)
    local bytes = world:save()
    local q, gravity = world:query "Position, Mind", world:res "Gravity"
    local ran = 0
    world:system("s", { query = "Mind", each = function() ran = ran + 1 end })
    world:spawn_many(20, { Position = {}, Mind = {} })
    gravity.y = 77
    world:load(bytes)
    assert.are.equal(3, q:count())
    assert.are.equal(3.0, gravity.y)
    world:update(0)
    assert.are.equal(3, ran)
  end)

  it("has `any` values through a codec, or is refused by the component's name", function()
    local world = helper.new_world()
    world:component("Data", { "value: any" })
    local e = world:spawn { Data = { value = { 7 } } }
    has_error(function() world:save() end, "'Data'", "any", "codec")
    local codec = {
      encode = function(value) return ("%d"):format(value[1]) end,
      decode = function(bytes) return { tonumber(bytes) } end,
    }
    local bytes = world:save { codec = codec }
    world:set(e, "Data", { value = { 8 } })
    has_error(function() world:load(bytes) end, "codec")
    assert.are.equal(8, world:read(e, "Data").value[1])
    world:load(bytes, { codec = codec })
    assert.are.equal(7, world:read(e, "Data").value[1])
    has_error(function()
      world:load(bytes, { codec = { decode = function() error "no" end } })
    end, "no")
    local empty = world:save { codec = { encode = function() return "" end } }
    has_error(function()
      world:load(empty, { codec = { decode = function(text) error("no" .. text .. " value") end } })
    end, "no value")
    has_error(function()
      world:load(bytes, { codec = { decode = function() world:spawn() end } })
    end, "codec cannot use the world")
    local closed = function() local _ <close> = world end
    for _, close in ipairs { function() world:close() end, closed } do
      has_error(function() world:load(bytes, { codec = { decode = close } }) end,
        "codec cannot use the world")
      has_error(function() world:save { codec = { encode = close } } end,
        "codec cannot use the world")
    end
    has_error(function()
      world:save { codec = { encode = function() return 1 end } }
    end, "not a string")
    assert.are.equal(7, world:read(e, "Data").value[1])
    helper.check(world)
  end)

  it("ends loops that are left open, and is an error in systems, forms and defer", function()
    local world = make(4)
    local bytes = world:save()
    for _, method in ipairs { "load", "save", "snapshot" } do
      local next_row, handle = world:query("Position"):each()
      next_row(handle, nil)
      world[method](world, method == "load" and bytes or nil)
      has_error(next_row, "the loop has ended")
    end
    assert.are.equal(bytes, world:save())
    world:defer()
    has_error(function() world:load(bytes) end, "not possible inside")
    has_error(function() world:save() end, "not possible inside")
    world:cancel()
    world:system("s", { run = function() world:load(bytes) end })
    has_error(function() world:update(0) end, "not possible inside")
  end)
end)

describe("images of equal worlds", function()
  -- Calls that fail once they have looked at a text: nothing of them may be left.
  local function fail(world, ids, rng)
    local e, text = rng:pick(ids), "text " .. rng:int(30)
    local calls = {
      function() world:set(e, "Text", { s = text, n = "none" }) end,
      function() world:set(e, "Text", text, "none") end,
      function() world:set(e, "Text", { s = text, none = 1 }) end,
      function() world:spawn { Text = { s = text, n = 1 << 40 } } end,
      function() world:spawn { Text = { s = text }, Unknown = true } end,
      function() world:spawn { Text = { s = text }, Other = { s = 1 } } end,
      function() world:spawn_many(3, { Text = { s = text, n = 0.5 } }) end,
      function() world:spawn_at(e, { Text = { s = text } }) end,
      function() world:name(world:lookup "one", "two") end,
      function() world:component("New", { "s: string = \"" .. text .. '"', "n: u8 = 300" }) end,
      function() world:component("Text", { { "s: string", doc = ("x"):rep(65536) } }) end,
      function()
        world:defer()
        world:remove(e, "Other")
        world:set(e, "Other", text)
        error(world:cancel())
      end,
      function() world:res("R").s = { text } end,
      function() world:load "rubbish" end,
    }
    assert.is_false(pcall(calls[rng:int(#calls)]))
  end

  local function act(world, ids, rng)
    local e, text = rng:pick(ids), "text " .. rng:int(30)
    local calls = {
      function() world:set(e, "Text", text, rng:int(9)) end,
      function() world:set(e, "Other", text) end,
      function() world:remove(e, rng:pick { "Text", "Other" }) end,
      function() world:res("R").s = text end,
      function() ids[#ids + 1] = world:spawn { Text = { s = text } } end,
      function() world:update(0.1) end,
    }
    calls[rng:int(#calls)]()
  end

  local function start()
    local world = helper.new_world { tag = 1 }
    world:component("Text", { "s: string", "n: i32" })
    world:component("Other", { "s: string = other" })
    world:resource("R", { "s: string = text_1" })
    local ids = { world:spawn(), world:spawn() }
    world:name(ids[1], "one")
    world:name(ids[2], "two")
    return world, ids
  end

  it("are equal, whatever has failed in them", function()
    for seed = 1, helper.by_scale { small = 20, normal = 200, deep = 2000 } do
      local one, ids = start()
      local two, others = start()
      local rng, again = random.new(seed), random.new(seed)
      local failures = random.new(seed + 1000)
      for _ = 1, 30 do
        act(one, ids, rng)
        act(two, others, again)
        fail(two, others, failures)
      end
      assert(one:digest() == two:digest(), "seed " .. seed)
      assert(one:save() == two:save(), "seed " .. seed)
      helper.check_worlds()
    end
  end)

  it("are equal, where calls that failed have named built-in relations, or had spawned", function()
    local world, ids = start()
    local function fails(what, ...)
      local digest, bytes = world:digest(), world:save()
      has_error(...)
      assert.are.equal(digest, world:digest(), what)
      assert(bytes == world:save(), what)
      helper.check(world)
    end
    fails("null", function() world:add(ecs.null, "ChildOf", ids[1]) end, "null")
    fails("a cycle", function() world:add(ids[1], "ChildOf", ids[1]) end, "ChildOf")
    fails("no target", function() world:spawn { IsA = "none" } end, "IsA")
    fails("a prefab", function() world:prefab("Orc", { Text = { n = 0.5 } }) end, "Text.n")
    local prefab = world:prefab("Orc", {})
    for _, count in ipairs { 1, 3 } do
      fails("spawned", function() world:spawn_many(count, { ChildOf = prefab }) end, "is a prefab")
    end
    fails("cloned", function() world:clone(prefab, { ChildOf = prefab }) end, "")
    world:add(ids[2], "ChildOf", ids[1])
    local other = helper.new_world()
    other:load(world:save())
    assert.are.equal(ids[1], other:target(ids[2], "ChildOf"))
    assert(world:save() == other:save())
  end)

  it("are equal, in whatever order names were given", function()
    local one, ids = start()
    local two, others = start()
    one:name(ids[1], "three")
    two:name(others[2], false)
    two:name(others[1], "three")
    two:name(others[2], "two")
    assert.equal(one:save(), two:save())
  end)
end)

describe("the digest", function()
  it("tells fields of one name and bits apart by their types", function()
    local seen = {}
    for _, kind in ipairs { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
      "bool", "entity", "string", "any", "enum(a)" } do
      local world = helper.new_world()
      world:component("Of", { "v: " .. kind })
      world:spawn { Of = {} }
      local digest = world:digest()
      assert.is_nil(seen[digest], kind)
      seen[digest] = kind
    end
  end)

  it("depends on content, not on the order of entities, components or tags", function()
    local one, two = helper.new_world { tag = 3 }, helper.new_world { tag = 9 }
    one:component("A", { "x: f32" })
    one:component("B", { "y: string" })
    two:component("B", { "y: string" })
    two:component("A", { "x: f32" })
    local a, b = one:spawn { A = { x = 1 } }, one:spawn { B = { y = "t" }, A = {} }
    local c, d = two:spawn(), two:spawn()
    two:set(d, "A", 0)
    two:set(d, "B", "t")
    two:set(c, "A", 1)
    assert.are.equal(one:digest(), two:digest())
    one:set(a, "A", 2)
    assert.are_not.equal(one:digest(), two:digest())
    two:set(c, "A", 2)
    assert.are.equal(one:digest(), two:digest())
    one:name(b, "b")
    assert.are_not.equal(one:digest(), two:digest())
  end)
end)

describe("an image of format 1", function()
  it("loads into what scripts declare now", function()
    local world = helper.new_world()
    world:component("Position", { "x: f64", "y: f32", "z: f32 = 1" })
    ecs.load_file(world, "spec/golden/format1.ecs")
    assert.are.equal(12, world:count "Position")
    local first = world:lookup "first"
    assert.are.same({ x = 1.0, y = -1.0, z = 1.0 }, world:read(first, "Position"))
    assert.are.equal("n2", (world:get(first + 1, "Mind.name")))
    assert.are.equal(3.0, world:res("Gravity").y)
  end)

  it("is refused by its number when it is another format", function()
    local world = make(1)
    local bytes = world:save()
    has_error(function() world:load(bytes:sub(1, 8) .. "\9" .. bytes:sub(10)) end, "format 9",
      "formats 1 to 3")
    has_error(function() world:load(bytes:sub(1, 8) .. "\0" .. bytes:sub(10)) end, "format 0")
  end)
end)

-- Two worlds that were one when an image was made go on as one.
local function go_on(world, other)
  for _ = 1, 5 do
    assert.are.equal(world:save(), other:save())
    world:update(0.05)
    other:update(0.05)
  end
end

-- More than that of format 1 has: systems and streams of random numbers.
local function make_golden(extra)
  local world = helper.new_world { tag = 5, seed = 11 }
  declare(world)
  world:phase("fixed", { fixed = 1 / 30 })
  world:system("draw", { phase = "fixed", query = "Position",
    each = function(p, _, e) p.x = world:random(e, 100) end })
  world:system("wait", { every = 0.25, run = function() end })
  local ids = populate(world, 12)
  if extra then
    extra(world, ids)
  end
  world:update(0.1)
  world:despawn(ids[7])
  world:name(ids[2], "a second one")
  world:run("draw", 0)
  world:run("wait", 0)
  world:random(ids[1])
  return world
end

describe("an image of format 2", function()
  it("loads, and goes on as the world that was saved", function()
    local world, other = make_golden(), make_golden()
    other:update(1)
    ecs.load_file(other, "spec/golden/format2.ecs")
    go_on(world, other)
  end)
end)

describe("an image of format 3", function()
  local IMAGE = "spec/golden/format3.ecs"   -- as make_golden(tie):save() gives it
  -- What is required, also by a relation, and relations of all kinds; number 7 dies later.
  local function tie(world, ids)
    world:component("Oath", { "text: string = sworn", requires = { "Frozen", "Position" } })
    world:relation("Serves", { requires = { "Oath" } })
    world:relation "Likes"
    world:relation("Owes", { "amount: i32" })
    world:relation("DockedTo", { "since: f64", exclusive = true })
    world:relation("Rides", { exclusive = true, acyclic = true, on_target_despawn = "despawn" })
    world:relation("Guards", { on_target_despawn = "error" })
    for i = 12, 2, -1 do
      world:add(ids[i], "ChildOf", ids[i // 2])
      world:set(ids[i], "DockedTo", ids[i % 4 + 1], i / 4)
    end
    for i = 1, 9 do
      world:set(ids[i], "Owes", ids[10 - i], i)
      world:add(ids[i], "Likes", ids[1 + i % 3])
      world:add(ids[i], "Likes", ids[i + 1])
    end
    world:add(ids[4], "Likes", world:component("Offset", { "dx: f32" }))
    world:add(ids[3], "Guards", ids[11])
    local rider = world:spawn { Rides = ids[7], Likes = ids[1] }
    world:spawn { Rides = rider }
    world:spawn { ChildOf = ids[7], [world:pair("Owes", rider)] = { amount = -1 } }
    world:name(world:spawn { ChildOf = ids[9] }, "first")
    world:add(ids[5], "DockedTo", ids[2])
    world:spawn { Oath = {} }
    world:spawn { Serves = ids[8] }
  end

  it("is what this version writes", function()
    local world = make_golden(tie)
    local file <close> = assert(io.open(IMAGE, "rb"))
    assert.are.equal(file:read "a", world:save())
  end)

  it("loads, and goes on as the world that was saved", function()
    local world, other = make_golden(tie), make_golden()
    other:update(1)
    ecs.load_file(other, IMAGE)
    local first = other:lookup "first"
    local second = other:lookup "first.a second one"
    assert.are.equal(first, other:parent(second))
    assert.are.same({ first + 2, 0.5 }, { other:get(second, "DockedTo") })
    go_on(world, other)
    world:despawn(first)
    other:despawn(first)
    go_on(world, other)
  end)
end)
