local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error
local new_world = require("spec.support.scenes").things

describe("an error in a row", function()
  -- What a form raises with kernels and without, of which the first world tells the tier.
  local function both(fail)
    local said, tier = {}, nil
    for n, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels, tag = 5 }
      world:component("P", { "x: f64", "b: u8" })
      for i = 1, 5 do world:spawn { P = { x = i * 100 } } end
      local ok, problem = pcall(fail, world)
      assert.is_false(ok)
      said[n] = tostring(problem):gsub("\nstack traceback:.*", "")
      tier = tier or (world:describe().systems[1] and world:explain("it").tier)
    end
    assert.equal(said[2], said[1])
    return said[1], tier
  end

  it("names the entity, whether the function is compiled or not", function()
    local function set(p) p.b = p.x end
    local at = "error_spec.lua:%d+: entity 65538v0@5: field 'P.b' is u8: 300"
    for _, fail in ipairs {
      function(world) world:query("P"):each(set) end,
      function(world) world:query("P"):where(function(p) return p.x > 150 end):each(set) end,
      function(world)
        world:query("P"):sum(function(p)
          p.b = p.x
          return 1
        end)
      end,
      function(world)
        world:system("it", { query = "P", each = set })
        world:update(1)
      end,
    } do
      assert.matches(at, (both(fail)))
    end
    local text, tier = both(function(world)
      world:system("it", { query = "P.b, P.x:in", map = function(_, x) return x end })
      world:update(1)
    end)
    assert.equal("system 'it': entity 65538v0@5: field 'P.b' is u8: 300 is out of range", text)
    assert.equal("vector", tier)
    text = both(function(world)
      world:query("P"):where(function(p) return 1 // p.b == 1 end):count()
    end)
    assert.matches("entity 65536v0@5: attempt to ", text)
  end)

  it("names it of what only Lua can do, too, once, and leaves other values as they are", function()
    local text, tier = both(function(world)
      world:system("it", { query = "P",
        each = function(p) if p.x > 150 then error("stop", 0) end end })
      world:update(1)
    end)
    assert.equal("system 'it': entity 65537v0@5: stop", text)
    assert.equal("vector", tier)
    text = both(function(world)
      world:query("P"):each(function()
        world:query("P"):each(function(p) if p.x > 150 then error "stop" end end)
      end)
    end)
    assert.matches("^spec/misuse/error_spec.lua:%d+: entity 65537v0@5: stop$", text)
    local world = helper.new_world()
    world:component("P", { "x: f64" })
    world:spawn { P = {} }
    local thing = {}
    local ok, problem = pcall(function() world:query("P"):each(function() error(thing) end) end)
    assert.is_true(not ok and problem == thing)
    world:system("it", { run = function() error("stop", 0) end })
    has_error(function() world:update(1) end, "system 'it': stop")
  end)
end)

local described = helper.system

local function failing_deep_inside()
  local nothing = nil
  return nothing.field
end

describe("an error in a system", function()
  it("reaches the caller of update with the system's name and a traceback", function()
    local world = new_world()
    world:system("broken", { run = function() failing_deep_inside() end })
    local message = has_error(function() world:update(0) end, "system 'broken'",
      "error_spec.lua", "attempt to index a nil value", "stack traceback",
      "failing_deep_inside")
    assert.are.equal("string", type(message))
    has_error(function() world:run("broken", 0) end, "system 'broken'", "stack traceback")
  end)

  it("has the function's own traceback when a kernel left the row to it", function()
    for _, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels }
      world:component("Count", { "n: i8" })
      world:spawn { Count = { n = 1 } }
      local function grow(count) count.n = count.n * 200 end
      world:system("s", { query = "Count", each = function(count) grow(count) end })
      assert.are.equal(kernels and "vector" or "lua", world:explain("s").tier)
      local message = has_error(function() world:update(0) end, "system 's'", "out of range",
        "in upvalue 'grow'", "in function <spec/misuse/error_spec.lua:")
      local _, count = message:gsub("stack traceback", "")
      assert.are.equal(1, count)
      message = has_error(function() world:query("Count"):each(grow) end, "out of range")
      assert.is_nil(message:find "traceback")
    end
  end)

  it("names the system for each form", function()
    local world = new_world()
    world:spawn { Position = {} }
    world:system("s", { query = "Position", each = function() error "in each" end })
    has_error(function() world:update(0) end, "system 's'", "in each", "stack traceback")
    world:system("s", { query = "Position.x", map = function() error "in map" end })
    has_error(function() world:update(0) end, "system 's'", "in map", "stack traceback")
    world:system("s", { run = function() end, when = function() error "in when" end })
    has_error(function() world:update(0) end, "system 's'", "in when", "stack traceback")
  end)

  it("shows the line of a write that is refused (C43)", function()
    local world = new_world()
    world:spawn { Position = {} }
    world:system("s", { query = "Position:in", compile = false,
      each = function(pos) pos.x = 1 end })
    has_error(function() world:update(0) end, "system 's'", "error_spec.lua:",
      "'Position' is read-only")
  end)

  it("is text where no text, but no object either was raised", function()
    local world = new_world()
    for value, text in pairs { [42] = "42", [true] = "a boolean value" } do
      world:system("s", { run = function() error(value) end })
      has_error(function() world:update(0) end, "system 's'", text)
    end
    world:system("s", { run = function() error() end })
    has_error(function() world:update(0) end, "system 's'", "a nil value")
  end)

  it("keeps its name and traceback when it says that there is not enough memory", function()
    local world = new_world()
    local texts = {
      function() error "not enough memory" end,
      function() error("not enough memory\0 for this", 0) end,
    }
    for _, fn in ipairs(texts) do
      world:system("s", { run = fn })
      has_error(function() world:update(0) end, "system 's'", "not enough memory",
        "stack traceback")
      local seen
      world:on_error(function(message) seen = message end)
      world:update(0)
      world:on_error(nil)
      assert.is_truthy(seen:find("^system 's': .*not enough memory.*stack traceback"))
    end
  end)

  it("is out of memory when Lua says so, which a handler hears once, with the name", function()
    local world = new_world()
    for _ = 1, 2 do
      -- Lua takes this very text for its own.
      world:system("s", { run = function() error("not enough memory", 0) end })
      local ok, message = pcall(world.update, world, 0)
      assert.are.same({ false, "not enough memory" }, { ok, message })
      local seen
      world:on_error(function(...) seen = table.pack(...) end)
      world:update(0)
      world:on_error(nil)
      assert.are.same({ "system 's': not enough memory", "s", n = 2 }, seen)
    end
  end)

  it("drops its commands and ends its loops", function()
    local world = new_world()
    local e = world:spawn { Position = {} }
    local query = world:query "Position"
    local spawned, kept
    world:system("s", { query = "Position", each = function(pos)
      spawned, kept = world:spawn { Position = {} }, pos
      world:add(e, "Frozen")
      for _ in query:each() do error "stop" end
    end })
    has_error(function() world:update(0) end, "stop")
    assert.is_false(world:alive(spawned))
    assert.is_false(world:has(e, "Frozen"))
    has_error(function() return kept.x end, "stale view")
    assert.is_true(world:has(world:spawn { Position = {} }, "Position"))
  end)

  it("keeps what was written to fields", function()
    local world = new_world()
    local e = world:spawn { Position = {} }
    world:system("s", { query = "Position", each = function(pos)
      pos.x = 5
      error "stop"
    end })
    has_error(function() world:update(0) end, "stop")
    assert.are.equal(5, (world:get(e, "Position")))
  end)

  it("ends the update; the next one runs all again", function()
    local world = new_world()
    local log, fail = {}, true
    world:system("a", { run = function() log[#log + 1] = "a" end })
    world:system("b", { run = function()
      log[#log + 1] = "b"
      if fail then error "stop" end
    end })
    world:system("c", { run = function() log[#log + 1] = "c" end })
    has_error(function() world:update(0) end, "stop")
    fail = false
    world:update(0)
    assert.are.equal("a b a b c", table.concat(log, " "))
  end)

  it("loses no time of the systems behind it", function()
    local world = new_world()
    local seen = {}
    local failing = false
    world:phase("physics", { after = "update", fixed = 0.25 })
    local function note(name, spec)
      spec.run = function(_, dt) seen[#seen + 1] = name .. " " .. dt end
      world:system(name, spec)
    end
    world:system("bad", { run = function(_, dt)
      seen[#seen + 1] = "bad " .. dt
      if failing then error "on purpose" end
    end })
    note("behind", {})
    note("seldom", { every = 1.5 })
    note("step", { phase = "physics" })
    note("later", { phase = "render" })
    world:update(0.25)
    failing, seen = true, {}
    for _ = 1, 2 do has_error(function() world:update(0.5) end, "on purpose") end
    assert.are.same({ "bad 0.5", "bad 0.5" }, seen)
    assert.are.equal(1, world:alpha())
    failing, seen = false, {}
    world:update(0.25)
    assert.are.same({ "bad 0.25", "behind 1.25", "seldom 0.25", "step 0.25", "step 0.25",
      "step 0.25", "step 0.25", "step 0.25", "later 1.25" }, seen)
    assert.are.equal(0, world:alpha())
  end)

  it("in a fixed phase keeps the steps behind it for later", function()
    local world = new_world()
    local failing, steps, times = false, 0, {}
    world:phase("physics", { fixed = 0.25 })
    world:system("bad", { phase = "physics", run = function()
      if failing then error "on purpose" end
    end })
    world:system("step", { phase = "physics", run = function() steps = steps + 1 end })
    world:system("seldom", { phase = "physics", every = 0.5,
      run = function(_, dt) times[#times + 1] = dt end })
    world:update(0.5)
    failing = true
    has_error(function() world:run("physics", 1) end, "on purpose")
    assert.are.same({ 2, 1 }, { steps, #times })
    failing = false
    world:update(0)
    assert.are.same({ 5, 0.25, 0.5, 0.5 }, { steps, times[1], times[2], times[3] })
  end)

  it("is an error of stack depth, too", function()
    local world = new_world()
    local function deep() return 1 + deep() end
    world:system("s", { run = function() deep() end })
    has_error(function() world:update(0) end, "stack overflow")
    world:system("s", { run = function() end })
    world:update(0)
  end)
end)

describe("world:on_error", function()
  it("is given message and name, the system is parked, and the others go on", function()
    local world = new_world()
    local log = {}
    local seen
    world:on_error(function(...) seen = table.pack(...) end)
    world:system("bad", { run = function()
      log[#log + 1] = "bad"
      error "stop"
    end })
    world:system("good", { run = function() log[#log + 1] = "good" end })
    world:update(0)
    world:update(0)
    assert.are.equal("bad good good", table.concat(log, " "))
    assert.are.equal(2, seen.n)
    assert.are.equal("bad", seen[2])
    assert.is_truthy(seen[1]:find("system 'bad': ", 1, true))
    assert.is_truthy(seen[1]:find("stop", 1, true))
    assert.is_truthy(seen[1]:find("stack traceback", 1, true))
    assert.is_true(described(world, "bad").parked)
    assert.is_false(described(world, "good").parked)
  end)

  it("lets a system that is registered again run again", function()
    local world = new_world()
    local runs = 0
    world:on_error(function() end)
    world:system("s", { run = function() error "stop" end })
    world:update(0)
    has_error(function() world:run("s", 0) end, "parked")
    world:system("s", { run = function() runs = runs + 1 end })
    assert.is_false(described(world, "s").parked)
    world:update(0)
    assert.are.equal(1, runs)
  end)

  it("has the errors of when, too", function()
    local world = new_world()
    local messages = {}
    world:on_error(function(message) messages[#messages + 1] = message end)
    world:system("s", { run = function() end, when = function() error "in when" end })
    world:update(0)
    world:update(0)
    assert.are.equal(1, #messages)
    assert.is_truthy(messages[1]:find("in when", 1, true))
    assert.is_true(described(world, "s").parked)
  end)

  it("is called for every system that fails", function()
    local world = new_world()
    local names = {}
    world:on_error(function(message, name)
      names[#names + 1] = name
      assert.is_truthy(message:find("error of " .. name, 1, true))
    end)
    for _, name in ipairs { "a", "b", "c" } do
      world:system(name, { run = function() error("error of " .. name) end })
    end
    world:update(0)
    assert.are.same({ "a", "b", "c" }, names)
  end)

  it("may use the world, and register the system again", function()
    local world = new_world()
    local runs = 0
    world:on_error(function(_, name)
      world:spawn { Position = {} }
      world:system(name, { run = function() runs = runs + 1 end })
    end)
    world:system("s", { run = function() error "stop" end })
    world:update(0)
    assert.are.equal(1, world:count "Position")
    world:update(0)
    assert.are.equal(1, runs)
  end)

  it("that fails itself does not keep the others from running; update raises that", function()
    local world = new_world()
    local runs = 0
    world:on_error(function() error "in the handler" end)
    world:system("bad", { run = function() error "stop" end })
    world:system("good", { run = function() runs = runs + 1 end })
    has_error(function() world:update(0) end, "on_error handler", "in the handler")
    assert.are.equal(1, runs)
    assert.is_true(described(world, "bad").parked)
    world:update(0)
    assert.are.equal(2, runs)
  end)

  it("is given an object itself, and behind the name the text that it would be", function()
    local world = new_world()
    local entity, seen = world:spawn { Position = {} }, nil
    world:on_error(function(...) seen = table.pack(...) end)
    local function failing_inside(object) error(object) end
    for _, case in ipairs {
      { {}, "(error object is a table value)" },
      { setmetatable({}, { __tostring = function() return "mine" end }), "mine" },
      { setmetatable({}, { __tostring = function() error "again" end }), "a table value)" },
      { print, "(error object is a function value)" },
    } do
      world:system("s", { query = "Position",
        each = function() failing_inside(case[1]) end })
      world:update(0)
      assert.are.equal(3, seen.n)
      assert.is_true(rawequal(case[1], seen[1]))
      assert.are.equal("s", seen[2])
      for _, text in ipairs { "system 's': ", ("entity %dv0@"):format(entity & 0xffffffff),
                              case[2], "stack traceback", "failing_inside" } do
        assert.is_truthy(seen[3]:find(text, 1, true), seen[3])
      end
    end
  end)

  it("that fails for several systems has update raise the first of it", function()
    local world = new_world()
    world:on_error(function(_, name) error("handling " .. name) end)
    for _, name in ipairs { "a", "b" } do
      world:system(name, { run = function() error "stop" end })
    end
    has_error(function() world:update(0) end, "on_error handler", "handling a")
    world:update(0)
  end)

  it("can be replaced, and taken away", function()
    local world = new_world()
    local log = {}
    world:on_error(function() log[#log + 1] = "first" end)
    world:on_error(function() log[#log + 1] = "second" end)
    world:system("s", { run = function() error "stop" end })
    world:update(0)
    world:on_error(nil)
    world:system("s", { run = function() error "stop" end })
    has_error(function() world:update(0) end, "stop")
    assert.are.same({ "second" }, log)
  end)

  it("takes a function or nil", function()
    local world = new_world()
    for _, value in ipairs { false, 1, "print", {}, io.stdout } do
      has_error(function() world:on_error(value) end, "bad argument #1 to 'on_error'")
    end
    has_error(function() world:on_error() end, "bad argument #1 to 'on_error'")
  end)

  it("does not keep its world from being collected", function()
    local weak = setmetatable({}, { __mode = "k" })
    do
      local world = require("ecs").world()
      weak[world] = true
      world:on_error(function() return world end)
      world:system("s", { run = function() world:alive(1) end })
    end
    for _ = 1, 3 do collectgarbage() end
    assert.is_nil(next(weak))
  end)
end)
