-- Names and contents of files as Windows has them, and files that another program holds.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local scratch = require "spec.support.scratch"

local WINDOWS = package.config:sub(1, 1) == "\\"

describe("paths of live scripts and of saved worlds", function()
  local world, files

  before_each(function()
    world, files = helper.new_world { tag = 1 }, scratch.new()
  end)

  after_each(function()
    files:close()
  end)

  local function system(name)
    return ("local w = ...\r\nw:system(%q, { run = function() end })\r\n"):format(name)
  end

  local function open(path)
    local errors = {}
    local session = live.open(world, { path }, { on_error = function(message)
      errors[#errors + 1] = message
    end })
    return session, errors
  end

  it("lead to scripts whose lines end in two bytes; errors have their numbers", function()
    files:write("a.lua", system "first" .. "w:tag()\r\n")
    local session, errors = open(files.path)
    assert.matches("a%.lua:3:", errors[1])
    files:write("a.lua", system "first")
    assert.is_true(helper.poll(session))
    files:write("a.lua", system "second")
    assert.is_true(helper.poll(session))
    assert.are.equal("second", helper.order(world))
  end)

  it("have letters of any language", function()
    local name = files.path .. "/\u{e9}\u{3b1}"
    scratch.make_directory(files.path .. "/d")
    require("ecs.native").replace(files.path .. "/d/\u{df}\u{4e16}.lua", system "first")
    local session = open(files.path .. "/d")
    assert.are.equal("first", helper.order(world))
    require("ecs.native").replace(files.path .. "/d/\u{df}\u{4e16}.lua", system "second")
    assert.is_true(helper.poll(session))
    assert.are.equal("second", helper.order(world))
    local saved = helper.new_world { tag = 1 }
    saved:component("P", { "x: f64" })
    saved:spawn { P = { x = 1 } }
    ecs.save_file(saved, name)
    ecs.save_file(saved, name)
    local loaded = helper.new_world { tag = 1 }
    loaded:component("P", { "x: f64" })
    ecs.load_file(loaded, name)
    assert.are.equal(saved:digest(), loaded:digest())
  end)

  it("have either separator on Windows, and are the same paths with both", function()
    if not WINDOWS then
      return pending "there is one separator"
    end
    files:write("b.lua", system "b")
    files:write("a.lua", system "a")
    files:write("lib/m.lua", "return {}")
    local session = open((files.path:gsub("/", "\\")) .. "\\")
    assert.are.equal("a b", helper.order(world))
    assert.are.equal(1, session:status().versions[files.path .. "/a.lua"])
  end)

  it("lead to files that count as changing while another program holds them, on Windows", function()
    local hold = package.loaded["system.core"].hold
    if not hold then
      return pending "nothing holds files"
    end
    files:write("a.lua", system "first")
    local session, errors = open(files.path)
    files:write("a.lua", system "second")
    local let_go = assert(hold(files.path .. "/a.lua"))
    for _ = 1, 3 do
      assert.is_nil((helper.poll(session)))
      helper.pass(0.1)
    end
    assert.are.same({}, errors)
    assert.are.equal("first", helper.order(world))
    let_go()
    assert.is_true(helper.poll(session))
    assert.are.equal("second", helper.order(world))
  end)
end)
