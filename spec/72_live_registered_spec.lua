local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"

describe("live scripts", function()
  it("register systems and phases as their tables are then", function()
    local world, files, errors, open = live_scene.new()
    files:write("a.lua", [[
      local w = ...
      local phase = { after = "update" }
      local spec = { phase = "late", run = function() RAN = RAN + 1 end }
      w:phase("late", phase)
      w:system("s", spec)
      phase.after, spec.phase, spec.run, spec.every = "nowhere", "nowhere", print, "often"]])
    _G.RAN = 0
    open()
    assert.are.same({}, errors)
    world:update(0)
    assert.are.equal(1, _G.RAN)
    _G.RAN = nil
  end)
end)

describe("live scripts that are refused", function()
  local world, files, errors, open

  before_each(function()
    world, files, errors, open = live_scene.new()
  end)

  it("say goodbye when they go, not before, though another file fails", function()
    _G.CALLED = ""
    files:write("a.lua", "local _, s = ... s:on_unload(function() CALLED = CALLED .. 'a ' end)")
    files:write("b.lua", "local _, s = ... s:on_unload(function() CALLED = CALLED .. 'b ' end)")
    files:write("c.lua", "local w = ... w:tag 'C'")
    local session = open()
    files:remove "a.lua"
    files:write("c.lua", "local w = ... w:nothing()")
    assert.is_false(helper.poll(session))
    files:remove "b.lua"
    files:write("d.lua", "no lua")
    assert.is_false(helper.poll(session))
    assert.are.same({ "", 2 }, { _G.CALLED, #errors })
    assert.are.equal(0, world:count "C")
    files:remove "c.lua"
    assert.is_false(helper.poll(session))
    assert.are.equal("", _G.CALLED)
    files:write("d.lua", "")
    assert.is_true(helper.poll(session))
    assert.are.equal("a b ", _G.CALLED)
    assert.is_nil(helper.poll(session))
    assert.are.equal("a b ", _G.CALLED)
    _G.CALLED = nil
  end)

  it("have nothing to be swapped into when the world is closed", function()
    files:write("a.lua", "local w = ... w:tag 'T'")
    local session = open()
    world:close()
    for _ = 1, 2 do
      assert.are.same({ false, "the world is closed" }, { session:poll(true) })
    end
    assert.are.same({ "the world is closed" }, errors)
    helper.has_error(function() session:forget() end, "nothing is forgotten: the world is closed")
    local status = session:status()
    assert.are.same({ {}, "the world is closed", 1 },
      { status.orphans, status.last_error, #status.files })
  end)

  it("are told once, if on_error raises, too", function()
    files:write("a.lua", "")
    local told = 0
    local session = open { on_error = function(message)
      told = told + 1
      error("told: " .. message, 0)
    end }
    for i, text in ipairs { "no lua", "local _, s = ... s:on_reload(function() error 'oh' end)" } do
      files:write("a.lua", text)
      local ok, message = pcall(helper.poll, session)
      assert.are.same({ false, i }, { ok, told })
      assert.is_truthy(message:find("told: .*a%.lua:1: "))
      for _ = 1, 3 do
        assert.is_nil(helper.poll(session))
      end
      assert.are.equal(i, session:status().versions[files.path .. "/a.lua"])
    end
    assert.are.equal(2, told)
  end)

  it("are named when what they raise names no place", function()
    local session = open()
    local a, hook = files.path .. "/a.lua: ", "local _, s = ... s:on_load(function() %s end) "
      .. "s:on_reload(function() %s end)"
    for _, case in ipairs {
      { "error()", "nil" }, { "error({})", "a table" }, { "error(print)", "a function" },
      { "error(7)", "7" }, { "error(false)", "false" },
    } do
      files:write("a.lua", case[1])
      assert.is_false(helper.poll(session))
      assert.are.equal(a .. "the script raised " .. case[2], errors[#errors])
      files:write("a.lua", hook:format(case[1], case[1]))
      assert.is_true(helper.poll(session))
      assert.are.equal(a .. "on_load raised " .. case[2], errors[#errors])
      files:write("a.lua", "coroutine.yield()")
      assert.is_false(helper.poll(session))
      assert.are.equal(a .. "the script cannot yield", errors[#errors])
      files:remove "a.lua"
      assert.is_true(helper.poll(session))
    end
    files:write("a.lua", "error(setmetatable({}, { __tostring = function() return 'mine' end }))")
    assert.is_false(helper.poll(session))
    assert.are.equal("mine", errors[#errors])
  end)

  it("are told once of each reason why a poll is refused, however often it comes", function()
    files:write("a.lua", "")
    local session = open()
    world:system("early", { run = function() helper.poll(session) session:poll() end })
    files:write("a.lua", "local _")
    for _ = 1, 3 do world:update(0) end
    assert.are.equal(1, #errors)
    assert.are.equal(errors[1], session:status().last_error)
    world:defer()
    helper.poll(session)
    world:commit()
    assert.are.equal(1, #errors)
    assert.is_true(helper.poll(session))
    files:write("a.lua", "local _, _")
    for _ = 1, 3 do world:update(0) end
    assert.are.equal(2, #errors)
  end)
end)
