local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error
local new_world = require("spec.support.scenes").things

local order = helper.order

local described = helper.system

describe("world:system", function()
  it("runs its each for every entity of its query (C45)", function()
    local world = new_world()
    world:system("move", {
      phase = "update",
      query = "Position, Velocity, !Frozen",
      each = function(pos, vel, dt)
        pos.x = pos.x + vel.x * dt
        pos.y = pos.y + vel.y * dt
      end,
    })
    local e = world:spawn { Position = { 1, 2 }, Velocity = { 3, 4 } }
    local f = world:spawn { Position = { 1, 2 }, Velocity = { 3, 4 }, Frozen = true }
    world:update(0.5)
    assert.are.same({ 2.5, 4 }, { world:get(e, "Position") })
    assert.are.same({ 1, 2 }, { world:get(f, "Position") })
  end)

  it("runs its map with values, writing its results", function()
    local world = new_world()
    world:system("move", {
      query = "Position.x, Velocity.x",
      map = function(x, vx, dt) return x + vx * dt end,
    })
    local e = world:spawn { Position = { 1 }, Velocity = { 4 } }
    world:update(0.25)
    assert.are.equal(2, (world:get(e, "Position")))
  end)

  it("runs its run once, with world, dt and query", function()
    local world = new_world()
    world:spawn { Position = {} }
    local seen
    world:system("free", { query = "Position", run = function(...) seen = table.pack(...) end })
    world:update(2)
    assert.are.equal(3, seen.n)
    assert.are.equal(world, seen[1])
    assert.are.equal("2.0", tostring(seen[2]))
    assert.are.equal(1, seen[3]:count())
    world:system("free", { run = function(...) seen = table.pack(...) end })
    world:update(2)
    assert.are.same({ 3, nil }, { seen.n, seen[3] })
  end)

  it("reaches everything that has the components (C3)", function()
    local world = new_world()
    world:component("Camera", { "zoom: f32" })
    world:component("Player", { "score: i32" })
    world:spawn { Position = {}, Player = {} }
    world:spawn { Position = {}, Camera = {} }
    world:spawn { Position = {} }
    local count = 0
    world:system("count", { query = "Position", each = function() count = count + 1 end })
    world:update(0)
    assert.are.equal(3, count)
  end)

  it("gives views, values, dt and entity as the forms of a query do", function()
    local world = new_world()
    local e = world:spawn { Position = { 1, 2 } }
    local seen
    world:system("s", { query = "Position.y, Velocity?", each = function(...)
      seen = table.pack(...)
    end })
    world:update(1)
    assert.are.same({ 2, nil, 1.0, e, n = 4 }, seen)
  end)

  it("has views that are stale after it", function()
    local world = new_world()
    world:spawn { Position = {} }
    local kept
    world:system("s", { query = "Position", each = function(pos)
      if kept then has_error(function() return kept.x end, "stale view") end
      kept = pos
    end })
    world:update(1)
    has_error(function() return kept.x end, "stale view")
    world:update(1)
  end)

  it("refuses a spec that makes no sense, and keeps the old system", function()
    local world = new_world()
    local runs = 0
    world:system("s", { run = function() runs = runs + 1 end })
    local function refused(spec, ...)
      has_error(function() world:system("s", spec) end, "system 's'", ...)
    end
    local function nop() end
    refused({}, "each, map and run")
    refused({ each = nop, map = nop, query = "" }, "each, map and run")
    refused({ each = nop }, "query")
    refused({ map = nop }, "query")
    refused({ each = 5, query = "" }, "'each'", "a function", "5")
    refused({ run = "print" }, "'run'", "a function")
    refused({ run = nop, query = 5 }, "'query'", "a string", "5")
    refused({ run = nop, phase = 5 }, "'phase'", "a string")
    refused({ run = nop, every = "1" }, "'every'", "seconds")
    refused({ run = nop, every = 0 }, "'every'", "above 0")
    refused({ run = nop, every = -1 }, "'every'")
    refused({ run = nop, every = 1 / 0 }, "'every'")
    refused({ run = nop, every = 0 / 0 }, "'every'")
    refused({ run = nop, enabled = 1 }, "'enabled'", "a boolean")
    refused({ run = nop, when = true }, "'when'", "a function")
    refused({ run = nop, compile = "yes" }, "'compile'", "a boolean")
    refused({ run = nop, before = 5 }, "'before'", "list of strings")
    refused({ run = nop, after = { "a", 5 } }, "'after'", "list of strings")
    refused({ run = nop, qurey = "" }, "'qurey'", "did you mean 'query'")
    refused({ each = nop, aray = "smog" }, "'aray'", "did you mean 'array'")
    refused({ run = nop, [1] = 5 }, "unknown option 1")
    has_error(function() world:system("s", { run = nop, phase = "updat" }) end, "'updat'",
      "did you mean 'update'")
    has_error(function() world:system("s", { each = nop, query = "Postion" }) end,
      "'Postion'", "did you mean 'Position'")
    has_error(function() world:system("s", { map = nop, query = "Position" }) end, "Position.x")
    has_error(function() world:system("s", nil) end, "bad argument #2 to 'system'")
    has_error(function() world:system(nil, {}) end, "bad argument #1 to 'system'")
    has_error(function() world:system("", { run = nop }) end, "name")
    has_error(function() world:system("a\0b", { run = nop }) end, "zero byte")
    world:update(1)
    assert.are.equal(1, runs)
    assert.are.equal("s", order(world))
  end)

  it("does not look behind raw fields of its spec", function()
    local world = new_world()
    local spec = setmetatable({ run = function() end },
      { __index = function() error "not raw" end })
    world:system("s", spec)
    world:update(0)
  end)

  it("compiles with compile = true, or says why it cannot", function()
    local world = new_world()
    world:spawn { Position = {} }
    world:system("s", { query = "Position", each = function(p) p.x = 1 end, compile = true })
    assert.are.equal("vector", world:explain("s").tier)
    has_error(function()
      world:system("s", { query = "Position", each = function() print() end, compile = true })
    end, "system 's'", "cannot be compiled", "system_spec.lua:")
    assert.are.equal("vector", world:explain("s").tier)
    world:system("s", { query = "Position", each = function(p) p.x = 1 end, compile = false })
    world:update(1)
    assert.are.equal("lua", world:explain("s").tier)
    has_error(function() world:system("s", { run = print, compile = true }) end, "compile")
  end)

  it("keeps what it needs alive, and lets go of it with the system", function()
    local weak = setmetatable({}, { __mode = "v" })
    local world = new_world()
    world:spawn { Position = {} }
    do
      local value = { count = 0 }
      weak.value = value
      world:system("s", { query = "Position", each = function() value.count = value.count + 1 end,
        when = function() return value ~= nil end })
    end
    collectgarbage()
    world:update(0)
    assert.are.equal(1, weak.value.count)
    world:system("s", { run = function() end })
    collectgarbage()
    assert.is_nil(weak.value)
    do
      local value = {}
      weak.value = value
      world:system("s", { run = function() return type(value) end })
    end
    world:remove_system "s"
    collectgarbage()
    assert.is_nil(weak.value)
    assert.are.equal(0, #world:describe().queries)
  end)
end)

describe("the order of systems", function()
  it("is that of registration, phase by phase (C46)", function()
    local world = new_world()
    local function nop() end
    world:system("d", { run = nop, phase = "render" })
    world:system("a", { run = nop })
    world:system("b", { run = nop, phase = "update" })
    world:system("c", { run = nop, phase = "startup" })
    assert.are.equal("c a b d", order(world))
  end)

  it("follows before and after, as names or lists", function()
    local world = new_world()
    local log = {}
    local function add(name, before, after)
      world:system(name, { run = function() log[#log + 1] = name end, before = before,
        after = after })
    end
    add("a", nil, "c")
    add("b", { "a" })
    add("c", nil, { "b" })
    add("d", { "a", "b", "c" })
    world:update(0)
    assert.are.equal("d b c a", table.concat(log, " "))
    assert.are.equal("d b c a", order(world))
  end)

  it("refuses a cycle, printing it, and keeps things as they were", function()
    local world = new_world()
    local function nop() end
    world:system("a", { run = nop, before = "b" })
    world:system("b", { run = nop, before = "c" })
    local message = has_error(function()
      world:system("c", { run = nop, before = "a" })
    end, "order")
    assert.is_truthy(message:find("a -> b -> c -> a", 1, true)
      or message:find("b -> c -> a -> b", 1, true) or message:find("c -> a -> b -> c", 1, true))
    assert.are.equal("a b", order(world))
    world:system("c", { run = nop })
    has_error(function() world:system("c", { run = nop, before = "a" }) end, "order")
    assert.are.equal("a b c", order(world))
    has_error(function() world:system("d", { run = nop, after = "d", before = "d" }) end, "d")
  end)

  it("ignores names that it does not know, and shows them", function()
    local world = new_world()
    local function nop() end
    world:system("a", { run = nop, before = { "nobody", "b" }, after = "later" })
    world:system("b", { run = nop })
    assert.are.same({ "nobody", "later" }, described(world, "a").ignored)
    assert.are.same({}, described(world, "b").ignored)
    world:system("later", { run = nop })
    assert.are.equal("later a b", order(world))
    assert.are.same({ "nobody" }, described(world, "a").ignored)
  end)

  it("is the same on every run", function()
    local function build()
      local world = new_world()
      for i = 1, 30 do
        local after = {}
        for j = 1, i % 4 do after[j] = "s" .. (i * 7 * j) % i end
        world:system("s" .. i, { run = print, after = after,
          phase = i % 3 == 0 and "render" or nil })
      end
      return order(world)
    end
    local first = build()
    for _ = 1, 5 do assert.are.equal(first, build()) end
  end)
end)

describe("registering a system again", function()
  it("replaces its body and keeps its place, its switch and its timings", function()
    local world = new_world()
    local log = {}
    local function add(name, text)
      world:system(name, { run = function() log[#log + 1] = text end })
    end
    add("a", "a1")
    add("b", "b1")
    world:update(1)
    world:update(1)
    add("a", "a2")
    world:update(1)
    assert.are.equal("a1 b1 a1 b1 a2 b1", table.concat(log, " "))
    assert.are.equal(3, described(world, "a").runs)
    assert.is_true(described(world, "a").seconds >= described(world, "a").last)
    world:switch("a", false)
    add("a", "a3")
    world:update(1)
    assert.are.equal("b1", log[#log])
    assert.is_false(described(world, "a").enabled)
  end)

  it("works from inside the system itself", function()
    local world = new_world()
    local log = {}
    world:system("s", { run = function()
      log[#log + 1] = "old"
      world:system("s", { run = function() log[#log + 1] = "new" end })
      collectgarbage()
      log[#log + 1] = "still old"
    end })
    world:update(0)
    world:update(0)
    assert.are.same({ "old", "still old", "new" }, log)
  end)

  it("works from inside its own each", function()
    local world = new_world()
    for _ = 1, 3 do world:spawn { Position = {} } end
    local old, new = 0, 0
    world:system("s", { query = "Position", each = function()
      old = old + 1
      world:system("s", { query = "Position", each = function() new = new + 1 end })
      collectgarbage()
    end })
    world:update(0)
    assert.are.same({ 3, 0 }, { old, new })
    world:update(0)
    assert.are.same({ 3, 3 }, { old, new })
  end)
end)

describe("world:remove_system", function()
  it("removes it", function()
    local world = new_world()
    local runs = 0
    world:system("s", { run = function() runs = runs + 1 end })
    world:remove_system "s"
    world:update(0)
    assert.are.equal(0, runs)
    assert.are.equal("", order(world))
    has_error(function() world:remove_system "s" end, "'s'")
  end)

  it("names the nearest system", function()
    local world = new_world()
    world:system("move", { run = function() end })
    has_error(function() world:remove_system "mvoe" end, "'mvoe'", "did you mean 'move'")
    has_error(function() world:remove_system(5) end, "bad argument #1 to 'remove_system'")
  end)

  it("works inside itself, and takes others out of the run", function()
    local world = new_world()
    local log = {}
    world:system("a", { run = function()
      log[#log + 1] = "a"
      world:remove_system "a"
      world:remove_system "b"
      collectgarbage()
      log[#log + 1] = "end of a"
    end })
    world:system("b", { run = function() log[#log + 1] = "b" end })
    world:update(0)
    world:update(0)
    assert.are.same({ "a", "end of a" }, log)
  end)
end)

describe("world:switch", function()
  it("turns systems and phases off and on", function()
    local world = new_world()
    local log = {}
    world:system("a", { run = function() log[#log + 1] = "a" end })
    world:system("b", { run = function() log[#log + 1] = "b" end, phase = "render",
      enabled = false })
    world:update(0)
    world:switch("b", true)
    world:switch("a", false)
    world:update(0)
    world:switch("render", false)
    world:switch("a", true)
    world:update(0)
    world:switch("render", true)
    world:update(0)
    assert.are.equal("a b a a b", table.concat(log, " "))
  end)

  it("names what it does not know", function()
    local world = new_world()
    has_error(function() world:switch("rendr", true) end, "'rendr'", "did you mean 'render'")
    has_error(function() world:switch("render") end, "bad argument #2 to 'switch'")
    has_error(function() world:switch("render", 1) end, "bad argument #2 to 'switch'")
    has_error(function() world:switch(1, true) end, "bad argument #1 to 'switch'")
  end)
end)

describe("when", function()
  it("decides whether a system runs, and is given the world", function()
    local world = new_world()
    local runs, seen, on = 0, nil, nil
    world:system("s", { run = function() runs = runs + 1 end, when = function(...)
      seen = table.pack(...)
      return on
    end })
    world:update(0)
    assert.are.equal(0, runs)
    assert.are.same({ world, n = 1 }, seen)
    on = 0
    world:update(0)
    assert.are.equal(1, runs)
  end)

  it("is not asked while the system is off", function()
    local world = new_world()
    local asked = 0
    world:system("s", { run = function() end, enabled = false, when = function()
      asked = asked + 1
    end })
    world:update(0)
    assert.are.equal(0, asked)
  end)
end)

describe("a new system", function()
  it("first runs when its phase next starts", function()
    local world = new_world()
    local log = {}
    world:system("a", { run = function()
      log[#log + 1] = "a"
      world:system("same", { run = function() log[#log + 1] = "same" end })
      world:system("later", { run = function() log[#log + 1] = "later" end, phase = "render" })
    end })
    world:update(0)
    assert.are.equal("a later", table.concat(log, " "))
    world:update(0)
    assert.are.equal("a later a same later", table.concat(log, " "))
  end)
end)

describe("world:explain", function()
  it("says that a script's system runs as plain Lua, and what it reads and writes", function()
    local world = new_world()
    world:system("s", { query = "Position, Velocity:in, !Frozen", each = function() end,
      compile = false })
    assert.are.same({
      tier = "lua", reads = { "Position", "Velocity" }, writes = { "Position" },
      reason = "it is declared with compile = false",
      reasons = { "it is declared with compile = false" },
    }, world:explain "s")
    world:system("s", { query = "Position.x, Velocity.y:in", map = function() end,
      compile = false })
    assert.are.same({ "Position.x", "Velocity.y" }, world:explain("s").reads)
    assert.are.same({ "Position.x" }, world:explain("s").writes)
    world:system("s", { run = function() end })
    assert.are.same({}, world:explain("s").reads)
  end)

  it("says that kernels are off where they are", function()
    local world = helper.new_world { kernels = false }
    world:component("Position", { "x: f32" })
    world:system("s", { query = "Position", each = function() end })
    assert.are.equal("kernels are off (kernels = false, or ECS_KERNELS=0)",
      world:explain("s").reason)
  end)

  it("names the nearest system", function()
    local world = new_world()
    world:system("move", { run = function() end })
    has_error(function() world:explain "mov" end, "'mov'", "did you mean 'move'")
    has_error(function() world:explain() end, "bad argument #1 to 'explain'")
  end)
end)

describe("a system whose component is undeclared", function()
  it("fails with a clear error", function()
    local world = new_world()
    world:spawn { Position = {} }
    world:system("s", { query = "Velocity", each = function() end })
    world:undeclare "Velocity"
    has_error(function() world:update(0) end, "system 's'", "no longer declared")
  end)
end)
