-- A Lua module in C beside ecs: examples/module, and what src/ecs_lua.h offers to such modules.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local public_headers = require "spec.support.public_headers"
local terminal = require "spec.support.pty"

local PATH = terminal.EXAMPLES .. "/module/motion.so"

local function contents(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
end

-- What a program prints.
local function output_of(command)
  local output, status = terminal.run(terminal.ENVIRONMENT .. command)
  assert(status == 0, output)
  return output
end

-- What a program of its own prints, given its text and its arguments.
local function output_of_script(code, ...)
  local path = os.tmpname()
  write(path, code)
  local output = output_of(("%s %s %s"):format(terminal.LUA, path, table.concat({ ... }, " ")))
  os.remove(path)
  return output
end

describe("examples/module", function()
  it("runs a script with a native system of another module", function()
    assert.equal(table.concat({
      "the ball is at 3.00, 13.75, 10.44 fast",
      "turned, it is at 2.25, 15.62",
      "entity 65537v0@1 has no 'Velocity'",
      "fall\tvector",
      "move\tnative",
    }, "\n"), output_of(terminal.LUA .. " examples/module/main.lua"):match "^(.-)%s*$")
  end)

  it("is linked to nothing of ecs", function()
    local symbols = output_of("nm -D --undefined-only " .. PATH)
    assert(symbols:find "lua_getfield")
    assert.is_nil(symbols:find "ecs_")
  end)

  it("says that ecs is to be loaded before it", function()
    local script = ("local ok, message = pcall(require, 'motion') "
      .. "print(ok, message) require 'ecs' print(type(require('motion').install))")
    local output = output_of(("%s -e \"package.cpath = '%s/module/?.so;' "
      .. ".. package.cpath %s\""):format(terminal.LUA, terminal.EXAMPLES, script))
    assert(output:find "^false\t.*require \"ecs\", of the version this module was built for")
    assert(output:find "function\n$")
  end)
end)

describe("a function of a module in C", function()
  local motion = assert(package.loadlib(PATH, "luaopen_motion"))()
  local world

  before_each(function()
    world = helper.new_world()
    motion.install(world)
  end)

  it("shares its components and systems with scripts", function()
    local e = world:spawn { Position = { 1, 2 }, Velocity = { 3, 4 } }
    assert.equal(5, motion.speed(world, e))
    world:update(0.5)
    assert.same({ 2.5, 4 }, { world:get(e, "Position") })
    motion.turn(world, e)
    assert.same({ -3, -4 }, { world:get(e, "Velocity") })
    assert.equal("native", world:explain("move").tier)
    assert.equal("native", world:describe().systems[1].tier)
  end)

  it("raises what the call in C disliked, in the words of ecs", function()
    local e = world:spawn { Position = {} }
    assert.error_matches(function() motion.turn(world, e) end, "has no 'Velocity'")
    world:despawn(e)
    assert.error_matches(function() motion.turn(world, e) end, "is dead")
    assert.error_matches(function() motion.speed(world, 7.0) end, "7v0@0")
    local other = helper.new_world()
    other:component("Position", { "x: f64" })
    other:spawn { Position = { x = 1e300 } }
    assert.error_matches(function() motion.install(other) end,
      "x = 1e300, which is not of type f32")
  end)

  it("refuses what is no world, and a closed one", function()
    for _, wrong in ipairs { 1, "world", {}, io.stdout, print } do
      assert.error_matches(function() motion.install(wrong) end,
        "bad argument #1 to .- %(world expected, got ")
    end
    world:close()
    assert.error_matches(function() motion.install(world) end, "the world is closed")
  end)

  it("is used inside systems, where what it changes is staged", function()
    local e = world:spawn { Position = {}, Velocity = { 1, 0 } }
    world:system("turning", { after = "move", run = function(w)
      w:remove(e, "Velocity")
      motion.turn(w, e)
      assert.same({ 1, 0 }, { w:get(e, "Velocity") })
    end })
    world:update(1)
    assert.same({ 1, 0 }, { world:get(e, "Position") })
    assert.same({ -1, 0 }, { world:get(e, "Velocity") })
  end)

  it("changes nothing while scripts of a live session are read", function()
    local directory = os.tmpname()
    os.remove(directory)
    assert(os.execute("mkdir " .. directory))
    write(directory .. "/a.lua", "local world = ...\nMOTION.install(world)\n")
    rawset(_G, "MOTION", motion)
    local ok, message = pcall(require("ecs.live").open, helper.new_world(), { directory })
    rawset(_G, "MOTION", nil)
    os.execute("rm -r " .. directory)
    assert(not ok and message:find "a script cannot change the world", message)
  end)
end)

describe("src/ecs_lua.h", function()
  local header = public_headers.text "ecs_lua_module.h"

  -- What belongs to whoever owns the world and its Lua state.
  local OWNERS = {
    abandon = true, load = true, on_error = true, restore = true, run = true, save = true,
    snapshot_free = true, snapshot_new = true, update = true, world_free = true,
    world_new = true,
  }

  it("offers to modules every function of ecs.h but those of a world's owner", function()
    local count = 0
    for name in public_headers.text("ecs.h"):gmatch "ECS_API [^;{]-ecs_([%w_]+)%(" do
      count = count + 1
      local member = name == "switch" and "switch_system" or name
      local found = header:find("(*" .. member .. ")(", 1, true) ~= nil
      assert.equal(not OWNERS[name], found, name)
    end
    assert(count > 50)
  end)

  it("has no function that takes texts and is not called without one in spec/c", function()
    local tried, count = contents "spec/c/test_descriptions.c", 0
    for name, arguments in public_headers.text("ecs.h"):gmatch "ECS_API [^;{]-(ecs_[%w_]+)(%b())"
    do
      if arguments:find "const char %*" then
        count = count + 1
        assert(tried:find(name .. "%([^;]-%f[%w_]NULL"), name)
      end
    end
    assert(count > 15)
  end)
end)

describe("the module", function()
  it("says its version, which is that of ecs.h and of the change log", function()
    assert.equal(ecs.version, contents("src/ecs_version.h"):match '#define ECS_VERSION "(.-)"')
    assert(contents("CHANGELOG.md"):find(ecs.version, 1, true))
    assert.equal("ecs " .. ecs.version, ecs._VERSION)
  end)

  -- What a process of its own says, in which `before` was done first.
  local function said(before, environment)
    local code = before .. [[; local ecs = require "ecs"; local world = ecs.world()
      world:component("P", { "x: f64 = 2" }); print(world:get(world:spawn { P = {} }, "P"))]]
    local command = ("%s ${LUA:-lua5.4} -e '%s' 2>&1"):format(environment or "", code)
    local pipe <close> = assert(io.popen(command))
    return pipe:read "a"
  end

  it("opens where globals are strict and libraries lack, or says which one it needs", function()
    local strict = [[setmetatable(_G, { __index = function(_, k) error("no " .. k, 2) end })]]
    assert.equal("2.0\n", said("io, os, package.loaded.io = nil, nil, nil; " .. strict))
    for _, name in ipairs { "math", "string", "table" } do
      local text = said(name .. " = nil")
      assert(text:find("ecs needs Lua's library '" .. name .. "'", 1, true), text)
    end
  end)

  it("works under strict globals without a library, or says that it needs it", function()
    local directory = os.tmpname()
    os.remove(directory)
    assert(os.execute("mkdir " .. directory))
    write(directory .. "/a.lua", [[local world = ...
      world:component("P", { "x: f64 = 1" })
      world:system("s", { query = "P", each = require "b" })]])
    write(directory .. "/b.lua", "return function(p) p.x = p.x + 1 end")
    local code = [[local print, name, directory = print, arg[1], arg[2]
      package.loaded[name] = name == "package" and package or nil
      _G[name] = nil
      setmetatable(_G, { __index = function(_, key) error("no " .. key, 2) end })
      local ecs, live = require "ecs", require "ecs.live"
      local world = ecs.world()
      local function needs_io(fn, ...)
        local ok, problem = pcall(fn, world, ...)
        local told = not ok and problem:find("needs Lua's library 'io', which is not open", 1, true)
        assert((name == "io") == (told ~= nil and told ~= false), problem)
        return ok and problem
      end
      needs_io(ecs.load_file, directory .. "/none")
      local session = needs_io(live.open, directory)
      if session then
        local e = world:spawn { P = {} }
        world:update(1)
        world:prefab("A", { P = {} })
        assert(world:get(e, "P") == 2 and session:poll(true))
      end
      world:load(world:save())
      world:restore(world:snapshot())
      world:describe()
      print(world:check())]]
    for _, name in ipairs { "coroutine", "debug", "io", "os", "package", "utf8" } do
      assert.equal("true\n", output_of_script(code, name, directory))
    end
    os.execute("rm -r " .. directory)
  end)

  it("says of a world of another copy of the library where both copies are", function()
    local copy = os.tmpname()
    local code = [[
      local path = package.searchpath("ecs.native", package.cpath)
      local bytes <close> = assert(io.open(os.getenv "ECS_OTHER_COPY" or path, "rb"))
      local other <close> = assert(io.open(arg[1], "wb"))
      assert(other:write(bytes:read "a"))
      other:close()
      local ecs, native = require "ecs", require "ecs.native"
      local open = require("ecs.live").open
      local second = package.loadlib(arg[1], "luaopen_ecs_native")("ecs.native", arg[1])
      local world, foreign = ecs.world(), second.world()
      local function refused(what, fn, ...)
        local ok, message = pcall(fn, ...)
        local _, at = message:find(what .. " expected, got one of another copy of ecs: ", 1, true)
        assert(not ok and at and message:find(path, at, true) and message:find(arg[1], at, true)
          and message:find("are both loaded; load only one", at, true), tostring(message))
      end
      refused("world", world.spawn, foreign)
      refused("world", foreign.spawn, world)
      refused("query", world:query("").count, foreign:query(""))
      refused("snapshot", world.restore, world, foreign:snapshot())
      refused("world", ecs.save_file, foreign, "nowhere")
      refused("world", open, foreign, ".")
      local ok, message = pcall(world.restore, world, foreign)
      assert(not ok and message:find("snapshot expected, got ecs.world", 1, true), message)
      ok, message = pcall(world.spawn, world:query "")
      assert(not ok and message:find("world expected, got ecs.query", 1, true), message)
      print "all"]]
    assert.equal("all\n", output_of_script(code, copy))
    os.remove(copy)
  end)

  it("refuses what the environment says of worlds and makes no sense", function()
    local text = said("", "ECS_ISA=bogus")
    assert(text:find "ECS_ISA is 'bogus'" and text:find "avx2", text)
    text = said("", "ECS_KERNELS=off")
    assert(text:find "ECS_KERNELS is 'off'", text)
    for _, threads in ipairs { "bogus", "0", "4x", "65" } do
      text = said("", "ECS_THREADS=" .. threads)
      assert(text:find("ECS_THREADS is '" .. threads .. "'") and text:find "from 1 to 64", text)
    end
    assert.equal("2.0\n", said("", "ECS_KERNELS=0 ECS_THREADS=4 ECS_ISA="))
  end)

  it("says where its headers are", function()
    local names = public_headers.names()
    assert(#names > 2)
    for _, name in ipairs(names) do
      assert.equal(contents("src/" .. name), contents(ecs.include .. "/" .. name))
    end
  end)
end)
