-- Modules of live scripts that are wrong or missing at first, hooks that go astray, and files that
-- are not what they seem.

local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local scratch = require "spec.support.scratch"

describe("live scripts", function()
  local world, files, errors, session, loaded

  before_each(function()
    world, files, errors, loaded = helper.new_world(), scratch.new(), {}, {}
    for name in pairs(package.loaded) do loaded[name] = true end
  end)

  after_each(function()
    files:close()
    for name in pairs(package.loaded) do
      if not loaded[name] then package.loaded[name] = nil end
    end
    _G.RAN, _G.SEEN = nil, nil
  end)

  local function open()
    session = live.open(world, { files.path }, { on_error = function(message)
      errors[#errors + 1] = message
    end })
    return session
  end

  it("follow a new module that is wrong at first", function()
    files:write("a.lua", "local w = ... w:tag 'A'")
    open()
    files:write("lib/new.lua", "return oops(")
    files:write("a.lua", "RAN = require 'lib.new'")
    assert.is_false(helper.poll(session))
    assert.is_nil(helper.poll(session))
    files:write("lib/new.lua", "return nothing.here")
    assert.is_false(helper.poll(session))
    files:write("lib/deep.lua", "return nil + 1")
    files:write("lib/new.lua", "return require 'lib.deep'")
    assert.is_false(helper.poll(session))
    files:write("lib/deep.lua", "return 'sound'")
    assert.is_true(helper.poll(session))
    assert.are.equal("sound", _G.RAN)
    assert.are.equal(3, #errors)
  end)

  it("may try to require a script, which is a module then and nothing else", function()
    files:write("a.lua", "local w, s = ... local ok, m = pcall(require, 'm') SEEN = { ok, m } "
      .. "w:system('a', { run = print }) assert(ok or tostring(m):find 'read again')")
    files:write("m.lua", "RAN = (RAN or '') .. type(...) return { value = 4 }")
    open()
    assert.are.same({}, errors)
    assert.are.same({ true, { value = 4 } }, _G.SEEN)
    assert.are.equal("string", _G.RAN)
    files:write("m.lua", "return { value = 5 }")
    assert.is_true(helper.poll(session))
    assert.are.equal(5, _G.SEEN[2].value)
    assert.are.equal("a", helper.order(world))
  end)

  it("may do without a module that fails, and have it once it is sound", function()
    files:write("lib/m.lua", "local n = nil + 1 return n")
    files:write("a.lua", [[
      local w = ...
      local ok, m = pcall(require, "lib.m")
      local again, n = pcall(require, "lib.m")
      assert(ok == again and m == n)
      SEEN = { ok, m }
      w:component("C", { "x: f32" })
      w:system("a", { run = print })]])
    open()
    assert.are.same({}, errors)
    assert.is_false(_G.SEEN[1])
    assert.is_truthy(_G.SEEN[2]:find("lib/m.lua:1:", 1, true))
    files:write("b.lua", "local w = ... w:component('C', { 'y: f32' })")
    assert.is_false(helper.poll(session))
    assert.is_truthy(errors[1]:find("a.lua", 1, true), errors[1])
    files:remove "b.lua"
    files:write("lib/m.lua", "return 'sound'")
    assert.is_true(helper.poll(session))
    assert.are.same({ true, "sound" }, _G.SEEN)
  end)

  it("may do without a module that is not there, and have it when it comes", function()
    files:write("a.lua", "SEEN = { pcall(require, 'lib.later') }")
    open()
    assert.is_false(_G.SEEN[1])
    assert.is_nil(helper.poll(session))
    files:write("lib/later.lua", "return 'here'")
    assert.is_true(helper.poll(session))
    assert.are.same({ true, "here", files.path .. "/lib/later.lua" }, _G.SEEN)
    files:remove "lib/later.lua"
    assert.is_true(helper.poll(session))
    assert.is_false(_G.SEEN[1])
  end)

  it("cannot yield in hooks, whoever polls", function()
    files:write("a.lua", [[
      local _, script = ...
      for _, hook in ipairs { "on_load", "on_reload", "on_unload" } do
        script[hook](script, function() RAN = (RAN or "") .. hook .. " " coroutine.yield() end)
      end]])
    local opening = coroutine.wrap(open)
    opening()
    collectgarbage()
    assert.is_truthy(errors[1]:find("a.lua: on_load cannot yield", 1, true))
    files:write("b.lua", "")
    assert.is_true(helper.poll(session))
    local polling = coroutine.create(function() return session:poll(true) end)
    local resumed, swapped, message = coroutine.resume(polling)
    assert.are.same({ true, true, errors[2] }, { resumed, swapped, message })
    assert.is_truthy(errors[2]:find("on_reload cannot yield", 1, true))
    files:remove "a.lua"
    assert.is_true(helper.poll(session))
    assert.is_truthy(errors[3]:find("on_unload cannot yield", 1, true))
    assert.are.equal("on_load on_reload on_unload ", _G.RAN)
  end)

  it("cannot yield in on_error either, and the session goes on", function()
    files:write("a.lua", "local w, s = ... s:on_load(function() error 'on purpose' end)")
    local co = coroutine.create(function()
      session = live.open(world, files.path, { on_error = coroutine.yield })
    end)
    assert(coroutine.resume(co))
    assert.are.equal("dead", coroutine.status(co))
    files:write("a.lua", "oops(")
    co = coroutine.create(function() return helper.poll(session) end)
    local ok, message = coroutine.resume(co)
    assert.is_false(ok)
    assert.is_truthy(message:find("attempt to yield", 1, true))
    files:write("a.lua", "")
    assert.is_true(helper.poll(session))
  end)

  it("are plain files: pipes, devices and directories are none", function()
    helper.needs_processes(pending)
    files:write("a.lua", "local w = ... w:tag 'A'")
    os.execute(("mkfifo '%s/p.lua' '%s/lib/q.lua' && mkdir '%s/d.lua'")
      :format(files.path, files.path, files.path))
    open()
    files:write("a.lua", "local w = ... w:tag 'B' SEEN = pcall(require, 'lib.q')")
    assert.is_true(helper.poll(session))
    assert.are.same({ files.path .. "/a.lua" }, session:status().files)
    assert.is_false(_G.SEEN)
    assert.is_nil(helper.poll(session))
    os.execute(("rm '%s/p.lua' '%s/lib/q.lua'"):format(files.path, files.path))
    files:write("lib/q.lua", "return 1")
    assert.is_true(helper.poll(session))
    assert.is_true(_G.SEEN)
    files:remove "a.lua"
    os.execute(("mkfifo '%s/a.lua'"):format(files.path))
    assert.is_true(helper.poll(session))
    assert.are.same({}, session:status().files)
  end)

  it("may begin with a byte order mark", function()
    files:write("a.lua", "\239\187\191local w = ... w:tag 'A' RAN = require 'lib.m'")
    files:write("lib/m.lua", "\239\187\191#!/usr/bin/lua\nreturn 'shebang'")
    open()
    assert.are.same({}, errors)
    assert.are.equal("shebang", _G.RAN)
    files:write("a.lua", "\239\187\191\27Lua")
    assert.is_false(helper.poll(session))
    assert.is_truthy(errors[1]:find("precompiled", 1, true))
  end)

  it("have been swapped when one of their hooks fails: poll gives true and the message", function()
    files:write("a.lua", "local w, s = ... w:tag 'A' s:on_unload(function() error 'out' end)")
    open()
    files:write("b.lua", "local w, s = ... w:tag 'B' s:on_load(function() error 'in' end)")
    local ok, message = helper.poll(session)
    assert.is_true(ok)
    assert.are.equal(files.path .. "/b.lua:1: in", message)
    assert.are.equal(message, session:status().last_error)
    assert.are.equal(0, world:count "B")
    assert.is_nil(helper.poll(session))
    files:remove "a.lua"
    ok, message = helper.poll(session)
    assert.is_true(ok)
    assert.are.equal(files.path .. "/a.lua:1: out", message)
    assert.are.same({ errors[2], message }, { session:status().last_error, errors[2] })
    files:write("c.lua", "")
    assert.are.same({ true }, { helper.poll(session) })
    assert.is_nil(session:status().last_error)
  end)

  it("are the owners of their systems", function()
    files:write("a.lua", "local w = ... w:system('a', { run = print }) require 'lib.m' (w)")
    files:write("lib/m.lua", "return function(w) w:system('m', { run = print }) end")
    files:write("b.lua", "local w = ... w:system('b', { run = print })")
    world:system("host", { run = print })
    open()
    local function owners()
      local list = {}
      for _, system in ipairs(world:describe().systems) do
        list[system.name] = system.owner and system.owner:match "[^/]+$"
      end
      return list
    end
    assert.are.same({ a = "a.lua", m = "a.lua", b = "b.lua" }, owners())
    files:write("b.lua", "")
    files:write("c.lua", "local w = ... w:system('b', { run = print })")
    assert.is_true(helper.poll(session))
    assert.are.same({ a = "a.lua", m = "a.lua", b = "c.lua" }, owners())
  end)

  it("may describe filters of queries at their top level, and use them later", function()
    files:write("a.lua", [[
      local w, script = ...
      w:component("P", { "x: f32" })
      local q = w:query "P"
      local big = q:where(function(p) return p.x > 2 end)
      w:system("count", { run = function() SEEN = big:count() end })
      script:on_load(function() for i = 1, 5 do w:spawn { P = { i } } end end)]])
    open()
    assert.are.same({}, errors)
    world:update(0)
    assert.are.equal(3, _G.SEEN)
    for _, use in ipairs { "q:first()", "q:count()", "q:where(print):count()", "q:each()",
                           "q:each(print)", "q:run(print)", "q:sum(print)", "q:chunks()" } do
      files:write("b.lua", "local w = ... local q = w:query 'P' " .. use)
      local ok, message = helper.poll(session)
      assert.is_false(ok)
      assert.is_truthy(message:find("b.lua:1: a query cannot be used until all scripts have been "
        .. "read", 1, true), message)
    end
  end)
end)
