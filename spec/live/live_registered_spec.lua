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
      { "error()", "nil" }, { "error(7)", "7" }, { "error(false)", "false" },
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
  end)

  it("tell the object that they raise itself, and whose it is", function()
    local hook = "local _, s = ... s:on_load(function() error(THING) end) "
      .. "s:on_reload(function() error(THING) end)"
    local equal = setmetatable({}, { __eq = function() return true end,
      __tostring = function() error "never" end })
    for _, thing in ipairs { {}, equal, print, io.stdout, coroutine.create(print) } do
      world, files, errors, open = live_scene.new()
      _G.THING = thing
      local told = {}
      local session = open { on_error = function(...) told[#told + 1] = table.pack(...) end }
      for i, text in ipairs { "error(THING)", hook, hook .. " " } do
        files:write("a.lua", text)
        local swapped, message = helper.poll(session)
        assert.are.equal(i > 1, swapped)
        assert.is_true(rawequal(message, thing) and rawequal(told[i][1], thing))
        assert.is_true(rawequal(session:status().last_error, thing))
        assert.are.same({ files.path .. "/a.lua", 2, i }, { told[i][2], told[i].n, #told })
      end
      world = helper.new_world()
      local ok, message = pcall(require("ecs.live").open, world, files.path)
      assert.is_true(not ok and rawequal(message, thing))
    end
    _G.THING = nil
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
    assert.are.equal(2, #errors)
    assert.is_true(helper.poll(session))
    files:write("a.lua", "local _, _")
    for _ = 1, 3 do world:update(0) end
    assert.are.equal(3, #errors)
  end)
end)

describe("hooks of live scripts", function()
  local files, errors, open

  before_each(function()
    files, errors, open = select(2, live_scene.new())
    _G.CALLED = {}
  end)

  after_each(function()
    _G.CALLED = nil
  end)

  -- What has been called since this was asked last.
  local function called()
    local text = table.concat(_G.CALLED, " ")
    _G.CALLED = {}
    return text
  end

  -- A script that gives each kind of hook `count` times; `more` is done by each hook that is the
  -- second of its kind.
  local function with_hooks(count, more)
    return ([[local world, script = ...
      for _, kind in ipairs { "load", "unload", "reload" } do
        for i = 1, %d do
          script["on_" .. kind](script, function()
            table.insert(CALLED, kind .. i)
            if i == 2 then %s end
          end)
        end
      end]]):format(count, more or "")
  end

  it("are all called, in the order in which they were given, each time they are due", function()
    files:write("a.lua", with_hooks(3))
    local session = open()
    assert.are.equal("load1 load2 load3", called())
    files:write("a.lua", with_hooks(2) .. "\n")
    assert.is_true(helper.poll(session))
    assert.are.equal("reload1 reload2", called())
    assert.is_true(session:poll(true))
    assert.are.equal("reload1 reload2", called())
    files:remove "a.lua"
    assert.is_true(helper.poll(session))
    assert.are.equal("unload1 unload2", called())
    assert.are.same({}, errors)
  end)

  it("are all called of a script that says goodbye, cannot go and comes back", function()
    local text = with_hooks(3, "if kind == 'unload' then world:component('C', { 'x: f32' }) end")
    files:write("a.lua", text)
    local session = open()
    files:remove "a.lua"
    files:write("b.lua", "local w = ... w:component('C', { 'y: f32' })")
    assert.is_false(helper.poll(session))
    files:remove "b.lua"
    files:write("a.lua", text)
    assert.is_true(helper.poll(session))
    assert.are.equal("load1 load2 load3 unload1 unload2 unload3 load1 load2 load3", called())
  end)

  it("of a reload that is refused are not called; those of the version before stay", function()
    files:write("a.lua", with_hooks(2))
    local session = open()
    files:write("a.lua", with_hooks(3) .. " error 'late'")
    assert.is_false(helper.poll(session))
    assert.are.equal("load1 load2", called())
    files:remove "a.lua"
    assert.is_true(helper.poll(session))
    assert.are.equal("unload1 unload2", called())
  end)

  it("do not keep one another from being called; what failed first is the error", function()
    files:write("a.lua", with_hooks(3, "error('second ' .. kind)"))
    files:write("b.lua", with_hooks(2, "error('other ' .. kind)"))
    local session = open()
    local function check(kind)
      assert.are.equal(("%s1 %s2 %s3 %s1 %s2"):gsub("%%s", kind), called())
      assert.is_truthy(errors[1]:find("a.lua:6: second " .. kind, 1, true))
      assert.is_truthy(errors[2]:find("b.lua:6: other " .. kind, 1, true))
      assert.are.same({ errors[1], 2 }, { session:status().last_error, #errors })
      errors[1], errors[2] = nil, nil
    end
    check "load"
    local ok, message = session:poll(true)
    assert.are.same({ true, errors[1] }, { ok, message })
    check "reload"
    files:remove "a.lua"
    files:remove "b.lua"
    ok, message = helper.poll(session)
    assert.are.same({ true, errors[1] }, { ok, message })
    check "unload"
  end)
end)

describe("what goes wrong first in live scripts", function()
  local world, files, errors, open

  before_each(function()
    world, files, errors, open = live_scene.new()
  end)

  -- Scenes of which everything behind the first error is its consequence, with what it says.
  local scenes = {
    { "a.lua:2: prefab 'Lab': a component", ["a.lua"] = [[local world, script = ... world:tag "Lab"
      world:prefab("Lab", {})
      script:on_load(function() world:instantiate "Lab" end)]] },
    { "a.lua:2: on purpose", ["a.lua"] = [[local world, script = ...
      script:on_load(function() error "on purpose" end)
      script:on_load(function() error "consequence" end)]],
      ["b.lua"] = [[local world, script = ... script:on_load(function() error "later" end)]] },
    { "m.lua:1: on purpose", ["a.lua"] = "require 'lib.m'", ["b.lua"] = "require 'lib.m'",
      ["lib/m.lua"] = "error 'on purpose'" },
    { "z.lua:1: on purpose", ["z.lua"] = "error 'on purpose'",
      ["a.lua"] = "local world = ... world:component('A', { 'b: B' })" },
  }

  it("is what open raises without on_error, and what status has with it", function()
    for _, scene in ipairs(scenes) do
      world, files, errors, open = live_scene.new()
      for name, text in pairs(scene) do
        if name ~= 1 then files:write(name, text) end
      end
      local ok, message = pcall(open, {})
      assert.is_false(ok)
      assert.are.equal(1, (message:find(files.path, 1, true)), message)
      assert.is_truthy(message:find(scene[1], 1, true), message)
      package.loaded["lib.m"] = nil
      world = helper.new_world()
      local session = require("ecs.live").open(world, files.path, { on_error = function(text)
        errors[#errors + 1] = text
      end })
      assert.are.same({ message, message }, { errors[1], session:status().last_error })
      package.loaded["lib.m"] = nil
    end
  end)

  it("does not keep hooks from being called when on_error raises what it is told", function()
    files:write("a.lua", scenes[1]["a.lua"] .. " script:on_load(function() CALLED = 1 end)")
    local session = open { on_error = function(message) error("told: " .. message, 0) end }
    assert.are.equal(1, _G.CALLED)
    assert.is_truthy(session:status().last_error:find "told: .*prefab 'Lab'")
    _G.CALLED = nil
  end)
end)
