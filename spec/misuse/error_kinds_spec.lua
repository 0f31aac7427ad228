-- What an error is is told by values: statuses and kinds, never by what its text looks like.

local ecs = require "ecs"
local native = require "ecs.native"
local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local scratch = require "spec.support.scratch"

local NO_MEMORY = "not enough memory"     -- Lua takes this very text for its own

describe("native.try", function()
  it("gives what the function gives", function()
    local same = table.pack(native.try(function(...) return ... end, 1, nil, "b", nil))
    assert.are.same({ true, 1, nil, "b", nil, n = 5 }, same)
    assert.are.same({ true, n = 1 }, table.pack(native.try(function() end)))
    assert.are.same({ true, "number", n = 2 }, table.pack(native.try(type, 1)))
  end)

  it("gives what was raised as it is, and no kind of most errors", function()
    local object = setmetatable({}, { __tostring = function() return "text" end })
    for _, value in ipairs { object, print, "attempt to yield from outside a coroutine",
                             "this is not enough memory", false } do
      assert.are.same({ false, value, nil, n = 3 }, table.pack(native.try(error, value, 0)))
    end
    local nothing = _VERSION ~= "Lua 5.4" and "<no error object>" or nil
    assert.are.same({ false, nothing, nil, n = 3 }, table.pack(native.try(error)))
    local ok, message, kind = native.try(function() local n = nil return n.x end)
    assert.is_truthy(not ok and message:find "attempt to index a nil value" and kind == nil)
  end)

  it("knows that there was not enough memory", function()
    assert.are.same({ false, NO_MEMORY, "memory" }, { native.try(error, NO_MEMORY, 0) })
    local function never() error(NO_MEMORY, 0) end
    assert.are.same({ false, NO_MEMORY, "memory" }, { native.try(table.sort, { 1, 2 }, never) })
    assert.are.same({ false, NO_MEMORY, "memory" }, { native.try(function()
      local _, message = pcall(never)
      error(message, 0)
    end) })
  end)

  it("knows who tried to yield, wherever that was called", function()
    local yields = {
      coroutine.yield,
      function() coroutine.yield() end,
      function() table.sort({ 1, 2, 3 }, coroutine.yield) end,
      function() native.try(error, "before") coroutine.yield() end,
    }
    local function check()
      for _, fn in ipairs(yields) do
        local ok, message, kind = native.try(fn)
        assert.is_false(ok)
        assert.is_truthy(message:find("attempt to yield", 1, true))
        assert.are.equal("yield", kind)
      end
    end
    check()
    coroutine.wrap(check)()
    assert.are.same({ true, false }, { native.try(function()
      return (pcall(coroutine.yield))
    end) })
    local _, _, kind = native.try(function()
      local _, message = native.try(coroutine.yield)
      error(message, 0)
    end)
    assert.is_nil(kind)
  end)

  it("calls anything that can be called, as pcall does", function()
    local callable = setmetatable({}, { __call = function(_, ...) return select("#", ...) end })
    assert.are.same({ true, 3 }, { native.try(callable, 1, nil, nil) })
    local ok, message, kind = native.try(1)
    assert.are.same({ false, "attempt to call a number value", nil }, { ok, message, kind })
    helper.has_error(function() native.try() end, "bad argument #1 to 'try'")
  end)
end)

describe("an object that a callback raises", function()
  -- Each makes the world call `fn`; what that raises comes out.
  local places = {
    ["a system's each"] = function(world, fn)
      world:system("s", { query = "P", each = fn })
      world:update(0)
    end,
    ["a system's each that is not compiled"] = function(world, fn)
      world:system("s", { query = "P", each = fn, compile = false })
      world:run("s", 0)
    end,
    ["a system's map"] = function(world, fn)
      world:system("s", { query = "P.x", map = fn })
      world:update(0)
    end,
    ["a system's run"] = function(world, fn)
      world:system("s", { run = fn })
      world:update(0)
    end,
    ["a system's when"] = function(world, fn)
      world:system("s", { run = print, when = fn })
      world:update(0)
    end,
    ["a row that a kernel leaves to its function"] = function(world, fn)
      local list = setmetatable({}, { __index = fn })
      world:system("s", { query = "P", each = function(p) p.x = list[7] end })
      world:update(0)
    end,
    ["an observer"] = function(world, fn)
      world:observer("o", { on = "add", query = "P", each = fn })
      world:spawn { P = {} }
    end,
    ["an observer of what a system does"] = function(world, fn)
      world:observer("o", { on = "add", query = "P", each = fn })
      world:system("s", { run = function() world:spawn { P = {} } end })
      world:update(0)
    end,
    ["the first of two observers"] = function(world, fn)
      world:observer("o", { on = "add", query = "P", each = fn })
      world:observer("p", { on = "add", query = "P", each = function() error "second" end })
      world:spawn { P = {} }
    end,
    ["an observer of events"] = function(world, fn)
      world:system("s", { query = "Ev", each = fn })
      world:emit("Ev", 1)
      world:update(0)
    end,
    ["on_error"] = function(world, fn)
      world:on_error(fn)
      world:system("s", { run = function() error "stop" end })
      world:update(0)
    end,
    ["q:each"] = function(world, fn) world:query("P"):each(fn) end,
    ["q:map"] = function(world, fn) world:query("P.x"):map(fn) end,
    ["q:sum"] = function(world, fn) world:query("P"):sum(fn) end,
    ["q:min"] = function(world, fn) world:query("P"):min(fn) end,
    ["q:max"] = function(world, fn) world:query("P"):where(function() return true end):max(fn) end,
    ["q:where"] = function(world, fn) world:query("P"):where(fn):count() end,
    ["q:where in a loop"] = function(world, fn)
      return world:query("P"):where(fn):each()()
    end,
    ["the body of a loop"] = function(world, fn)
      for _ in world:query("P"):each() do fn() end
    end,
    ["a loop within a system"] = function(world, fn)
      world:system("s", { run = function() world:query("P"):where(fn):each(print) end })
      world:update(0)
    end,
    ["an index's keys"] = function(world, fn)
      world:index("i", { query = "P:in", hash = fn })
      return world:index("i"):find(1)
    end,
    ["an index's keys, in a system"] = function(world, fn)
      world:index("i", { query = "P:in", hash = fn })
      local function look() world:index("i"):find(1) end
      world:system("s", { run = look })
      world:update(0)
    end,
    ["encode"] = function(world, fn) world:save { codec = { encode = fn } } end,
    ["decode"] = function(world, fn)
      local bytes = world:save { codec = { encode = function() return "x" end } }
      world:load(bytes, { codec = { decode = fn } })
    end,
    ["decode of a file"] = function(world, fn)
      local path = os.tmpname()
      ecs.save_file(world, path, { codec = { encode = function() return "x" end } })
      local ok, problem = pcall(ecs.load_file, world, path, { codec = { decode = fn } })
      os.remove(path)
      assert.is_false(ok)
      error(problem, 0)
    end,
    ["a module that scripts require"] = function(world, fn)
      local files = scratch.new()
      files:write("a.lua", "require 'lib.m'")
      files:write("lib/m.lua", "THROW()")
      _G.THROW = fn
      local ok, problem = pcall(live.open, world, files.path)
      _G.THROW = nil
      files:close()
      assert.is_false(ok)
      error(problem, 0)
    end,
  }

  local function new_world(kernels)
    local world = helper.new_world { kernels = kernels }
    world:component("P", { "x: f64" })
    world:component("Any", { "v: any" })
    world:event("Ev", { "n: i32" })
    world:spawn { P = { 1 } }
    world:spawn { Any = { {} } }
    return world
  end

  for place, raise in pairs(places) do
    it(("by %s is what is raised"):format(place), function()
      local odd = setmetatable({}, { __tostring = function() error "never" end,
        __eq = function() return true end })
      for _, kernels in ipairs { true, false } do
        for _, object in ipairs { {}, odd, print, io.stdout, coroutine.create(print) } do
          local world = new_world(kernels)
          local ok, problem = pcall(raise, world, function() error(object) end)
          assert.is_false(ok)
          assert.is_true(rawequal(object, problem), type(problem) == "string" and problem or nil)
        end
      end
    end)
  end

  it("is replaced by what a closing variable raises after it", function()
    local world = new_world(true)
    world:system("s", { run = function()
      local _ <close> = setmetatable({}, { __close = function() error("closing", 0) end })
      error {}
    end })
    helper.has_error(function() world:update(0) end, "system 's': closing")
  end)
end)

describe("native.is_open", function()
  it("tells open worlds, closed ones and what is none apart", function()
    local world = helper.new_world()
    assert.is_true(native.is_open(world))
    world:close()
    assert.is_false(native.is_open(world))
    local alike = setmetatable({}, { __name = "ecs.world", __tostring = function()
      return "ecs.world (tag 1, 0 entities)"
    end })
    for _, value in ipairs { alike, 1, "ecs.world", io.stdout } do
      assert.is_nil(native.is_open(value))
      helper.has_error(function() ecs.save_file(value, "x") end, "world expected")
    end
    assert.is_nil(native.is_open())
  end)
end)

describe("a codec", function()
  local world, bytes, calls

  before_each(function()
    world, calls = helper.new_world(), 0
    world:component("Data", { "value: any" })
    world:spawn { Data = { value = "one" } }
    bytes = world:save { codec = { encode = function(value) return value end } }
  end)

  local function codec(failures, message)
    return { codec = { decode = function(text)
      calls = calls + 1
      if calls <= failures then error(message, 0) end
      return text
    end } }
  end

  it("that has no memory is tried once more, when the garbage is gone", function()
    world:load(bytes, codec(1, NO_MEMORY))
    assert.are.equal(2, calls)
    assert.are.equal("one", world:get(world:query("Data"):first(), "Data"))
  end)

  it("that has no memory then either is a memory error, which names no file", function()
    assert.are.same({ false, NO_MEMORY, "memory" },
      { native.try(world.load, world, bytes, codec(9, NO_MEMORY)) })
    assert.are.equal(2, calls)
    local files = scratch.new()
    files:write("saved", bytes)
    local path = files.path .. "/saved"
    assert.are.same({ false, NO_MEMORY, "memory" },
      { native.try(ecs.load_file, world, path, codec(99, NO_MEMORY)) })
    helper.has_error(function() ecs.load_file(world, path, codec(99, "no" .. NO_MEMORY)) end,
      path .. ": no" .. NO_MEMORY)
    files:close()
    assert.are.equal(1, world:count "Data")
  end)

  it("that fails otherwise is not called again", function()
    helper.has_error(function() world:load(bytes, codec(9, "odd")) end, "odd")
    assert.are.equal(1, calls)
  end)
end)

describe("live scripts", function()
  local world, files, errors, session

  before_each(function()
    world, files, errors = helper.new_world(), scratch.new(), {}
    _G.RUNS = 0
  end)

  after_each(function()
    files:close()
    _G.RUNS, _G.SEEN = nil, nil
  end)

  local function open()
    session = live.open(world, files.path, { on_error = function(message)
      errors[#errors + 1] = message
    end })
  end

  local NEEDS_B = "world:component('A', { 'b: B' })"

  it("wait for a type that they lack, whatever they make of the error", function()
    files:write("z.lua", "local world = ... world:component('B', { 'x: f32' })")
    for _, text in ipairs {
      NEEDS_B,
      ("assert(xpcall(function() %s end, debug.traceback))"):format(NEEDS_B),
      ("assert(pcall(function() %s end), 'something else')"):format(NEEDS_B),
      ("if not pcall(function() %s end) then error({}) end"):format(NEEDS_B),
    } do
      files:write("a.lua", "local world = ... " .. text)
      world = helper.new_world()
      open()
      assert.are.same({}, errors)
      assert.are.equal("B", world:describe("A").fields[1].type)
    end
  end)

  it("wait for a type that a module of theirs lacks", function()
    files:write("lib/m.lua", "local world = WORLD " .. NEEDS_B)
    files:write("lib/f.lua", "return function(world) " .. NEEDS_B .. " end")
    files:write("z.lua", "local world = ... world:component('B', { 'x: f32' })")
    for _, text in ipairs {
      "WORLD = ... require 'lib.m'",
      "WORLD = ... assert(not pcall(require, 'lib.m')) require 'lib.m'",
      "WORLD = ... if not pcall(require, 'lib.m') then require 'lib.m' end",
      "require('lib.f')(...)",
    } do
      files:write("a.lua", text)
      world = helper.new_world()
      open()
      _G.WORLD = nil
      local asserts = text:find("assert(", 1, true)    -- ... that the type is lacking
      assert.are.equal(asserts and 1 or 0, #errors)
      assert.are.equal(not asserts, (pcall(world.describe, world, "A")))
      errors = {}
    end
  end)

  it("wait for nothing when they fail with a text like that of a type they lack", function()
    files:write("a.lua", "RUNS = RUNS + 1 error \"unknown type 'B'\"")
    files:write("z.lua", "")
    open()
    assert.are.equal(1, _G.RUNS)
    assert.are.equal(1, #errors)
  end)

  it("wait for nothing when a script that goes on without it lacked the type", function()
    files:write("a.lua", ("local world = ... pcall(function() %s end)"):format(NEEDS_B))
    files:write("b.lua", "RUNS = RUNS + 1 error 'on purpose'")
    files:write("z.lua", "local world = ... world:component('B', { 'x: f32' })")
    open()
    assert.are.equal(1, _G.RUNS)
    assert.is_truthy(errors[1]:find("b.lua:1: on purpose", 1, true))
  end)

  it("name the place of a declaration for what the world holds, and of nothing else", function()
    local sound = {
      ["a.lua"] = "local world = ...\nworld:component('P', { 'x: f32' })",
      ["b.lua"] = "local world = ...\n\nworld:component('Q', { 'p: P' })",
      ["r.lua"] = "local world = ...\n\n\nworld:resource('R', { 'y: f32 = 0.5' })",
    }
    for name, text in pairs(sound) do files:write(name, text) end
    open()
    assert.are.same({}, errors)
    local e = world:spawn { P = { 0.5 } }
    local cases = {
      { "a.lua", "\nworld:component('P', { 'x: i32' })", "a.lua:2: cannot migrate 'P': entity " },
      { "a.lua", "\nworld:component('P', { 'x: i32' })", "cannot migrate 'Q': ", Q = { { 0.5 } } },
      { "r.lua", " world:resource('R', { 'y: i32' })",
        "r.lua:1: cannot migrate 'R': the resource " },
      { "b.lua", " error(\"cannot migrate 'Q': not really\", 0)", "cannot migrate 'Q'" },
    }
    for i, case in ipairs(cases) do
      if case.Q then
        world:remove(e, "P")
        world:spawn { Q = case.Q }
      end
      files:write(case[1], "local world = ..." .. case[2])
      assert.is_false(helper.poll(session))
      local message = errors[i]:gsub("^.*/", "")
      assert.are.equal(case[3], message:sub(1, #case[3]))
      files:write(case[1], sound[case[1]])
      assert.is_true(helper.poll(session))
    end
  end)

  it("are named when they yield, as are their modules", function()
    files:write("lib/m.lua", "coroutine.yield()")
    files:write("a.lua", "table.sort({ 1, 2 }, coroutine.yield)")
    open()
    files:write("a.lua", "require 'lib.m'")
    assert.is_false(helper.poll(session))
    assert.are.same({ files.path .. "/a.lua: the script cannot yield",
      files.path .. "/lib/m.lua: the script cannot yield" }, errors)
  end)

  it("say what they raised when that only looks like a yield", function()
    files:write("a.lua", "error('attempt to yield more', 0)")
    open()
    assert.are.same({ "attempt to yield more" }, errors)
  end)

  it("look for the file of a module that nothing knows, and of no other", function()
    files:write("a.lua", "SEEN = { pcall(require, 'lib.later') }")
    open()
    assert.is_truthy(_G.SEEN[2]:find("^module 'lib%.later' not found"))
    package.preload["lib.later"] = function() error("module 'lib.later' not found", 0) end
    files:write("a.lua", "SEEN = { pcall(require, 'lib.later') } ")
    assert.is_true(helper.poll(session))
    assert.are.equal("module 'lib.later' not found", _G.SEEN[2])
    files:write("lib/other.lua", "")
    assert.is_nil(helper.poll(session))
    package.preload["lib.later"] = nil
    files:write("lib/later.lua", "return 'here'")
    assert.is_nil(helper.poll(session))
    assert.is_false(_G.SEEN[1])
    files:write("a.lua", "SEEN = { require 'lib.later' }")
    assert.is_true(helper.poll(session))
    assert.are.equal("here", _G.SEEN[1])
    package.loaded["lib.later"] = nil
  end)

  it("let poll raise that there is no memory, and read on with the next one", function()
    files:write("a.lua", "RUNS = RUNS + 1")
    open()
    files:write("a.lua", "RUNS = RUNS + 1 if RUNS < 3 then error('not enough memory', 0) end")
    local ok, message = pcall(helper.poll, session)
    assert.are.same({ false, NO_MEMORY, 2 }, { ok, message, _G.RUNS })
    assert.are.same({}, errors)
    assert.is_true(session:poll())
    assert.are.equal(3, _G.RUNS)
    files:write("a.lua", "error('there is not enough memory', 0)")
    assert.is_false(helper.poll(session))
    assert.are.same({ "there is not enough memory" }, errors)
  end)
end)
