-- Further scenarios (see scenarios.lua): scopes, systems, phases, errors, closing.

local scenario, prepare = ...

local ecs = require "ecs"

local open, one, crowd = prepare.open, prepare.one, prepare.crowd

-- ---- scopes -------------------------------------------------------------------------------

local function stage_much(world, e)
  world:set(e, "Health", { state = "hurt" })
  world:remove(e, "Bag")
  world:set(e, "Bag", { "staged" })
  world:remove(e, "Label")
  local made = world:spawn { Label = { "staged text" }, Link = { e } }
  world:add(made, "Enemy")
  world:set(made, "Bag", { {} })
  world:spawn_many(3, { Position = true })
  world:name(made, "staged")
end

scenario("defer and commit", {
  prepare = one,
  act = function(s)
    s.world:defer()
    local ok, message = pcall(stage_much, s.world, s.e)
    if ok then ok, message = pcall(s.world.commit, s.world) end
    if ok then return end
    s.world:cancel()
    error(message, 0)
  end,
  new_ids = true,
})

scenario("a staged spawn", {
  prepare = function(s)
    one(s)
    s.world:defer()
  end,
  act = function(s) s.world:spawn { Label = { "staged" }, Bag = { {} }, Enemy = true } end,
  after = function(s) s.world:commit() end,
})

scenario("commit", {
  prepare = function(s)
    one(s)
    s.world:defer()
    stage_much(s.world, s.e)
    s.staged = true
  end,
  act = function(s)
    if not s.staged then return end
    s.world:commit()
    s.staged = false
  end,
})

-- ---- systems ------------------------------------------------------------------------------

local function move(position, velocity, dt)
  position.x = position.x + velocity.x * dt
end

scenario("a system replaced, switched and removed", {
  prepare = function(s)
    crowd(s)
    s.world:system("move", { query = "Position, Velocity", each = move })
  end,
  act = function(s)
    s.world:system("move", { query = "Position", each = function() end })
    s.world:switch("move", false)
    s.world:system("other", { run = function() end })
    assert(s.world:explain("update").update[1][1] == "other")
    s.world:remove_system "other"
    assert(s.world:explain("move").tier)
  end,
  partial = true,
})

local function busy_world(s)
  crowd(s)
  s.world:phase("physics", { before = "update", fixed = 0.25 })
  s.world:system("fall", { phase = "physics", query = "Position.y",
    map = function(y, dt) return y - dt end })
  s.world:system("mark", { query = "Position, !Enemy",
    each = function(_, _, e)
      s.world:add(e, "Enemy")
      s.world:set(e, "Label", "marked")
    end })
  s.world:system("spawn", { phase = "post_update",
    run = function(world)
      world:spawn { Bag = { { "made" } }, Health = true }
    end })
end

scenario("update", {
  prepare = busy_world,
  act = function(s) s.world:update(0.5) end,
  partial = true,
})

scenario("update with systems that stage", {
  prepare = function(s)
    crowd(s)
    s.world:system("stage", { run = function(world)
      for _, _, e in s.query:each() do
        world:add(e, "Enemy")
        world:set(e, "Bag", { e })
        world:set(e, "Label", "staged by a system")
      end
      world:spawn { Label = { "spawned" }, Bag = { {} } }
      world:despawn(s.ids[1])
    end })
  end,
  act = function(s)
    if s.world:alive(s.ids[1]) then s.world:update(0.5) end
  end,
  partial = true,
})

scenario("an error in a system", {
  prepare = function(s)
    crowd(s)
    s.world:system("bad", { query = "Position", each = function(_, _, e)
      s.world:despawn(e)
      error("on purpose")
    end })
  end,
  act = function(s)
    local ok, message = pcall(s.world.update, s.world, 0.1)
    assert(not ok)
    if message == "not enough memory" then error(message, 0) end
    assert(message:find "bad" and message:find "on purpose" and message:find "traceback")
  end,
})

scenario("an error that is handled", {
  prepare = function(s)
    crowd(s)
    s.bad = { query = "Position", each = function() error("on purpose") end }
    s.world:system("bad", s.bad)
    s.world:on_error(function(message, name)
      s.message, s.name = message, name
    end)
  end,
  act = function(s)
    s.world:system("bad", s.bad)
    s.world:update(0.1)
    assert(s.name == "bad" and s.message)
  end,
  partial = true,
})

scenario("a handler that fails", {
  prepare = function(s)
    crowd(s)
    s.bad = { query = "Position", each = function() error("on purpose") end }
  end,
  act = function(s)
    s.world:system("bad", s.bad)
    s.world:on_error(function(message) error("again: " .. message, 0) end)
    local ok, message = pcall(s.world.update, s.world, 0.1)
    if message == "not enough memory" then error(message, 0) end
    assert(not ok)
  end,
  partial = true,
})

-- ---- closing ------------------------------------------------------------------------------

scenario("closing with everything open", {
  act = function(s)
    local t = {}
    busy_world(t)
    t.world:update(0.3)
    for _, _, e in t.query:each() do
      t.world:set(e, "Bag", {})
      if e == t.ids[7] then break end
    end
    t.world:close()
    assert(not pcall(t.world.spawn, t.world))
    s.closed = true
  end,
})

scenario("closing inside a loop", {
  act = function()
    local world = ecs.world()
    world:component("P", { "x: f32" })
    world:spawn_many(5, { P = true })
    local query = world:query "P"
    local ok, message = pcall(function()
      for p in query:each() do
        p.x = 1
        world:close()
      end
    end)
    if message == "not enough memory" then error(message, 0) end
    assert(ok or message:find "closed" or message:find "ended")
  end,
})

scenario("a world, a component, a loop, all dropped", {
  act = function()
    local world = ecs.world()
    world:component("P", { "x: f32", "t: string = abc" })
    local e = world:spawn { P = { 1, "two" } }
    for p in world:query("P"):each() do
      assert(p.t == "two")
    end
    assert(world:get(e, "P.x") == 1)
  end,
})

scenario("errors with names", {
  prepare = open,
  act = function(s)
    local calls = {
      function() s.world:spawn { Positon = {} } end,
      function() s.world:spawn { Position = { z = 1 } } end,
      function() s.world:spawn { Health = { hp = 1e100 } } end,
      function() s.world:component("Bad", { "x: f33" }) end,
      function() s.world:component("Bad", { "x f32" }) end,
      function() s.world:get(65600, "Position") end,
      function() s.world:system("bad", { each = 1 }) end,
    }
    for _, call in ipairs(calls) do
      local ok, message = pcall(call)
      assert(not ok)
      if message == "not enough memory" then error(message, 0) end
    end
  end,
})

-- ---- migrations, images, snapshots, swaps ---------------------------------------------------

local native = require "ecs.native"

local codec = {
  encode = function(value) return tostring(#value) end,
  decode = function(bytes) return { bytes } end,
}

scenario("loading an image into a world of its own", {
  prepare = function(s)
    crowd(s)
    s.bytes = s.world:save { codec = codec }
    s.world:close()
    s.world = ecs.world()
  end,
  act = function(s) s.world:load(s.bytes, { codec = codec }) end,
})

scenario("restoring a snapshot", {
  prepare = function(s)
    crowd(s)
    s.world:remove(s.e, "Bag")
    s.world:name(s.e, "me")
    s.snapshot = s.world:snapshot()
    for i = 1, 24, 2 do
      s.world:despawn(s.ids[i])
    end
    s.world:update(0)
    s.world:update(0)
    s.world:spawn_many(30, { Link = true, Enemy = true })
  end,
  act = function(s)
    s.world:restore(s.snapshot)
  end,
})

local function register_and_swap(s, recorded)
  s.world:component("Position", { "x: f64", "z: f32 = 3" })
  s.world:component("Fresh", { "at: Position" })
  s.world:resource("Level", { "n: i32" })
  s.world:query "Position.z"
  s.world:phase("late", { after = "render" })
  s.world:system("new", { query = "Position", phase = "late", each = function() end })
  s.world:index("by_z", { query = "Position", ordered = "Position.z" })
  native.swap(s.world, recorded, { s.old, "Frozen" }, {})
end

-- Calls body(recorded) while what is registered goes into that list.
local function read(world, body)
  local recorded = {}
  native.stage(world, function(_, _, object) recorded[#recorded + 1] = object end, function()
    body(recorded)
  end)
end

scenario("a swap", {
  new_ids = true,
  prepare = function(s)
    crowd(s)
    read(s.world, function(recorded)
      s.world:system("old", { query = "Label", each = function() end })
      native.swap(s.world, recorded, {}, {})
      s.old = recorded[1]
    end)
  end,
  act = function(s)
    read(s.world, function(recorded)
      register_and_swap(s, recorded)
    end)
  end,
})

scenario("a migration of what others are made of", {
  prepare = function(s)
    crowd(s)
    s.world:resource "Body"
    for i = 1, 24 do
      s.world:set(s.ids[i], "Body", { m = { i }, at = { x = i }, marks = { { text = "m" .. i } } })
    end
    s.query = s.world:query "Body.marks[1].text, Bag"
    s.body = s.world:res "Body"
  end,
  act = function(s)
    s.world:component("Label", { "note: any", "words: string = new", "text: string",
      was = { words = "none" } })
  end,
  after = function(s) assert(s.body.marks[2].words == "new") end,
})

scenario("a component that becomes a tag, and one that gets fields", {
  prepare = function(s)
    crowd(s)
    s.world:undeclare "Body"
  end,
  partial = true,
  act = function(s)
    s.world:component("Label", {})
    s.world:component("Frozen", { "since: f32 = 3", "who: entity", "why: string = cold" })
    s.world:component("Frozen", { "why: enum(warm, cold)", "since: i8" })
  end,
})

scenario("a migration that is refused", {
  prepare = crowd,
  act = function(s)
    for _, lines in ipairs { { "x: u8", "y: u8" }, { "x: string", "y: f32" }, { "x: Nothing" } } do
      local ok, message = pcall(s.world.component, s.world, "Position", lines)
      assert(not ok)
      if message == "not enough memory" then error(message, 0) end
    end
  end,
})

scenario("undeclare of what entities have", {
  prepare = function(s)
    crowd(s)
    s.gone = false
  end,
  act = function(s)
    if not s.gone then s.world:undeclare "Bag" end
    s.gone = true
  end,
})

scenario("loading an image into components that have moved on", {
  prepare = function(s)
    crowd(s)
    s.world:resource "Health"
    s.bytes = s.world:save { codec = codec }
    s.world:component("Position", { "z: string = deep", "x: f64" })
    s.world:component("Label", { "text: string", "count: i32 = 3" })
    s.world:undeclare "Velocity"
    s.world:component("Bag", {})
    s.view = s.world:res "Health"
  end,
  act = function(s)
    s.world:load(s.bytes, { codec = codec })
    assert(s.view.hp == 100)
  end,
})

-- A change that leaves the fields of what is made of it as they are.
scenario("loading an image into components made of parts that have moved on", {
  prepare = function(s)
    one(s)
    local world = s.world
    world:component("Part", { "f: f32" })
    world:component("Whole", { "part: Part" })
    world:component("Pair", { "whole: Whole" })
    world:component("Many", { "pairs: Pair[2]" })
    world:spawn { Many = {} }
    s.bytes = world:save { codec = codec }
    world:component("Part", { "f: f32", toggle = true })
    world:component("Pair", { "x: f32", "whole: Whole" })
    world:component("Many", { "x: f32", "pairs: Pair[2]" })
  end,
  act = function(s) s.world:load(s.bytes, { codec = codec }) end,
})

scenario("an image that is refused", {
  prepare = function(s)
    crowd(s)
    s.bytes = s.world:save { codec = codec }
    s.broken = s.bytes:sub(1, -9) .. ("x"):rep(8)
  end,
  act = function(s)
    local failing = { decode = function() error "on purpose" end }
    for _, call in ipairs {
      function() s.world:load(s.broken, { codec = codec }) end,
      function() s.world:load(s.bytes:sub(1, 1000), { codec = codec }) end,
      function() s.world:load(s.bytes) end,
      function() s.world:load(s.bytes, { codec = failing }) end,
      function() s.world:save() end,
      function() s.world:snapshot() end,
    } do
      local ok, message = pcall(call)
      assert(not ok)
      if message == "not enough memory" then error(message, 0) end
    end
  end,
})

scenario("a world in a file", {
  prepare = function(s)
    crowd(s)
    -- `any` values become what the codec makes of them.
    s.world:load(s.world:save { codec = codec }, { codec = codec })
    s.path = os.tmpname()
    -- Lua's own buffers are of no use any more when their first growth fails.
    s.long = ("x"):rep(1 << 16)
  end,
  act = function(s)
    ecs.save_file(s.world, s.path, { codec = codec })
    ecs.load_file(s.world, s.path, { codec = codec })
    assert(not io.open(s.path .. ".tmp"))
  end,
  after = function(s) os.remove(s.path) end,
})
