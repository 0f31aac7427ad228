local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"
local live = require "ecs.live"

local has_error = helper.has_error

local order = helper.order

local function fields(world, name)
  local list = {}
  for i, field in ipairs(world:describe(name).fields) do
    list[i] = field.name .. ": " .. field.type
  end
  return table.concat(list, ", ")
end

describe("live scripts", function()
  local world, files, errors, open

  before_each(function()
    world, files, errors, open = live_scene.new()
  end)

  it("run in path order, and names resolve when all have run", function()
    files:write("b.lua", [[
      local world = ...
      world:component("P", { "x: f32" })
      world:resource("G", { "n: i32 = 4" })
      world:phase("late", { after = "render" })
      world:system("b1", { phase = "late", run = function() end })]])
    files:write("a.lua", [[
      local world = ...
      local q, g = world:query "P", world:res "G"
      world:system("a2", { phase = "late", query = "P", each = function(p) p.x = g.n end })
      world:system("a1", { run = function() g.n = q:count() end })]])
    open()
    assert.are.same({}, errors)
    assert.are.equal("a1 a2 b1", order(world))
    local e = world:spawn { P = {} }
    world:update(0)
    assert.are.equal(1.0, (world:get(e, "P.x")))
  end)

  it("may be made of components that files behind them declare", function()
    local script = "local w = ... w:component(%q, { %q }) w:system(%q, { run = print })"
    files:write("a.lua", script:format("A", "b: B[2]", "a"))
    files:write("b.lua", script:format("B", "c: C", "b"))
    files:write("c.lua", script:format("C", "x: f32 = 3", "c"))
    local session = open()
    assert.are.same({}, errors)
    assert.are.equal("a b c", order(world))
    local e = world:spawn { A = {} }
    assert.are.equal(3.0, (world:get(e, "A.b[2].c.x")))
    files:write("a.lua", "local w = ... w:component('A', { 'b: B[2]', 'd: D' })")
    files:write("d.lua", "local w = ... w:component('D', { 'y: i32 = 4' })")
    assert.is_true(helper.poll(session))
    assert.are.equal(4, (world:get(e, "A.d.y")))
    files:write("a.lua", "local w = ... w:component('A', { 'b: B[2]', 'n: Nowhere' })")
    files:write("b.lua", "local w = ... w:component('B', { 'c: C', 'n: Nowhere' })")
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    assert.is_truthy(message:find("unknown type 'Nowhere'", 1, true))
    assert.are.equal(1, #errors)
  end)

  it("call on_load once, on_reload after a change, on_unload before they go", function()
    local text = [[
      local world, script = ...
      world:component("C", {})
      script.state.runs = (script.state.runs or 0) + 1
      script:on_load(function() world:spawn { C = true } world:spawn { C = true } end)
      script:on_reload(function(s)
        s.state.reloads = (s.state.reloads or 0) + 1
        STATE = s.state
      end)
      script:on_unload(function() LEFT = world:count "C" end)]]
    files:write("a.lua", text)
    local session = open()
    assert.are.equal(2, world:count "C")
    files:write("a.lua", text .. "\n")
    assert.is_true(helper.poll(session))
    assert.are.equal(2, world:count "C")
    assert.are.same({ runs = 2, reloads = 1 }, _G.STATE)
    files:remove "a.lua"
    assert.is_true(helper.poll(session))
    assert.are.equal(2, _G.LEFT)
    assert.are.equal(2, world:count "C")
    _G.STATE, _G.LEFT = nil, nil
  end)

  it("swap two files together or not at all", function()
    files:write("a.lua", [[local world = ... world:component("P", { "x: f32" })]])
    files:write("b.lua", [[local world = ... world:system("s", { query = "P.x",
      map = function(x) return x + 1 end })]])
    local session = open()
    local e = world:spawn { P = {} }
    files:write("a.lua",
      [[local world = ... world:component("P", { "left: f32", was = {left="x"} })]])
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    assert.are.equal(message, errors[1])
    assert.is_truthy(message:find("'s'", 1, true) and message:find("no field 'x'", 1, true))
    assert.are.equal("x: f32", fields(world, "P"))
    assert.is_nil(helper.poll(session))
    files:write("b.lua", [[local world = ... world:system("s", { query = "P.left",
      map = function(x) return x + 2 end })]])
    assert.is_true(helper.poll(session))
    world:update(0)
    assert.are.equal(2.0, (world:get(e, "P.left")))
    assert.are.equal(1, #errors)
    assert.is_nil(session:status().last_error)
  end)

  for what, use in pairs {
    system = [[world:system("s", { query = "P", each = function(p) p.x = p.x + 1 end })]],
    observer = [[world:observer("o", { query = "P", on = "enter", each = function() end })]],
    index = [[world:index("i", { query = "P:in", hash = "x" })]],
    query = [[QUERY = world:query "!P"]],
  } do
    it("rename a component only together with a file whose " .. what .. " uses it", function()
      local before = [[local world = ... world:component("P", { "x: f64" })]]
      local after = [[local world = ... world:component("Q", { "x: f64", was = "P" })]]
      files:write("a.lua", before)
      files:write("b.lua", "local world = ... " .. use)
      local session = open()
      local e = world:spawn { P = { 10 } }
      files:write("a.lua", after)
      local ok, message = helper.poll(session)
      assert.is_false(ok)
      assert.is_truthy(message:find("unknown component 'P': its name is now 'Q'", 1, true), message)
      files:write("a.lua", before .. " ")
      assert.is_true(helper.poll(session))
      assert.are.same({ 1, 10.0 }, { world:count "P", (world:get(e, "P.x")) })
      files:write("a.lua", after)
      files:write("b.lua", "local world = ... " .. use:gsub("P", "Q"))
      assert.is_true(helper.poll(session))
      assert.are.equal(10.0, (world:get(e, "Q.x")))
      _G.QUERY = nil
    end)
  end

  it("are read later when a poll comes inside a system or defer", function()
    files:write("a.lua", "VALUE = 1")
    local session = open()
    local said = {}
    world:system("early", { run = function() said[#said + 1] = { helper.poll(session) } end })
    world:update(0)
    assert.are.same({ {} }, said)
    files:write("a.lua", "VALUE = 22")
    files:write("b.lua", "OTHER = 1")
    world:update(0)
    world:update(0)
    assert.are.same({ {}, { false, errors[1] }, { false, errors[1] } }, said)
    assert.is_truthy(errors[1]:find("not possible inside a system", 1, true))
    assert.are.equal(1, #errors)
    world:defer()
    assert.is_false(helper.poll(session))
    world:commit()
    assert.are.equal(1, _G.VALUE)
    assert.is_true(helper.poll(session))
    assert.are.same({ 22, 1 }, { _G.VALUE, _G.OTHER })
    assert.is_nil(helper.poll(session))
    assert.is_nil(session:status().last_error)
    _G.VALUE, _G.OTHER = nil, nil
  end)

  it("change one component and let go of another of the same entity at once", function()
    files:write("a.lua", [[local world = ... world:component("P", { "x: f32" })
      world:component("Q", { "x: f32", "what: any" })]])
    local session = open()
    local what = {}
    local e = world:spawn { P = { x = 1 }, Q = { x = 2, what = what } }
    local f = world:spawn { P = { x = 3 } }
    files:write("a.lua", [[local world = ... world:component("P", { "y: i8 = 7", "x: f64" })]])
    assert.is_true(helper.poll(session))
    assert.are.same({ x = 1.0, y = 7 }, world:read(e, "P"))
    assert.are.same({ x = 3.0, y = 7 }, world:read(f, "P"))
    assert.are.same({ x = 2.0, what = what }, world:read(e, "Q"))
    assert.are.equal(2, world:count "P")
  end)

  it("leave nothing behind when they fail", function()
    files:write("a.lua", "local world = ... world:tag 'T'")
    local session = open()
    local before = world:describe()
    for _, text in ipairs {
      "local world = ... world:component('New', { 'x: f32' }) error 'late'",
      "local world = ... world:phase('p', {}) world:system('s', { run = print }) foo(",
      "local world = ... world:system('s', { query = 'Nowhere', run = print })",
      "local world = ... world:system('s', { phase = 'nowhere', run = print })",
      "local world = ... world:resource('R', { 'x: f32' }) world:query 'Nowhere'",
      "local world = ... world:res 'Nothing'",
      "local world = ... world:system('s', { run = print, before = 'r', after = 'r' }) "
        .. "world:system('r', { run = print })",
      "local world = ... world:spawn {}",
      "local world = ... world:update(0)",
      "local world = ... world:close()",
      "\27Lua",
    } do
      files:write("b.lua", text)
      local ok, message = helper.poll(session)
      assert.is_false(ok)
      assert.is_truthy(message:find("b.lua:1: ", 1, true) or message:find("cycle", 1, true)
        or message:find("be ordered", 1, true), message)
      assert.is_nil(helper.poll(session))
      assert.are.same(before.systems, world:describe().systems)
      assert.are.same(before.phases, world:describe().phases)
      has_error(function() world:count "New" end, "unknown component")
      has_error(function() world:res "R" end, "unknown component")
      helper.check(world)
    end
    assert.are.equal(11, #errors)
    assert.are.equal(errors[11], session:status().last_error)
  end)

  it("are told once of a file that cannot go, and follow it when it comes back", function()
    files:write("a.lua", "local world = ... world:phase('late', { after = 'render' })")
    files:write("b.lua", "local world = ... world:system('s', { phase = 'late', run = print })")
    local session = open()
    files:remove "a.lua"
    assert.is_false(helper.poll(session))
    assert.is_nil(helper.poll(session))
    assert.are.equal(1, #errors)
    files:write("a.lua", "local world = ... world:phase('late', { fixed = 1 })")
    assert.is_true(helper.poll(session))
    assert.are.equal("late", world:describe().systems[1].phase)
    assert.is_nil(helper.poll(session))
  end)

  it("keep what files that did not run have asked for", function()
    files:write("a.lua", [[local world = ... world:component('P', { 'x: f32', 'y: f32' })
      world:resource('R', { 'n: i32' })]])
    files:write("b.lua", "local world = ... QUERY, RES = world:query 'P.x', world:res 'R'")
    local session = open()
    files:write("a.lua", [[local world = ... world:component('P', { 'y: f32' })
      world:resource('R', { 'n: i32' })]])
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    assert.is_truthy(message:find("no field 'x'", 1, true) and message:find("b.lua:1: ", 1, true),
      message)
    files:write("a.lua", "")
    assert.is_true(helper.poll(session))
    _G.RES.n = 4
    assert.are.same({ 0, 4 }, { _G.QUERY:count(), world:res("R").n })
    has_error(function() session:forget() end, "b.lua:1: ", "is in use")
    files:write("b.lua", "")
    assert.is_true(helper.poll(session))
    assert.are.same({ "P", "R" }, session:forget())
    has_error(function() _G.QUERY:count() end, "no longer declared")
    has_error(function() return _G.RES.n end, "no longer declared")
    _G.QUERY, _G.RES = nil, nil
  end)

  it("do not take what others own", function()
    world:component("Host", { "x: f32" })
    world:system("host", { run = function() end })
    files:write("a.lua", [[local world = ... world:component("P", { "x: f32" })
      world:system("s", { run = print })]])
    local session = open()
    for text, what in pairs {
      ["world:component('P', { 'x: f64' })"] = "a.lua",
      ["world:system('s', { run = print })"] = "a.lua",
      ["world:component('Host', { 'y: f32' })"] = "outside the scripts",
      ["world:system('host', { run = print })"] = "outside the scripts",
    } do
      files:write("b.lua", "local world = ... " .. text)
      local ok, message = helper.poll(session)
      assert.is_false(ok)
      assert.is_truthy(message:find(what, 1, true) and message:find("b.lua:1", 1, true), message)
    end
    files:write("b.lua", "local world = ... world:component('P', { 'x: f32' })"
      .. " world:component('Host', { 'x: f32' })")
    assert.is_true(helper.poll(session))
    files:remove "a.lua"
    assert.is_true(helper.poll(session))
    assert.are.equal("x: f32", fields(world, "P"))
    files:remove "b.lua"
    assert.is_true(helper.poll(session))
    assert.are.same({ "P" }, session:status().orphans)
    assert.are.equal("host", order(world))
    assert.are.equal("x: f32", fields(world, "Host"))
  end)

  it("end in the order of a fresh start", function()
    files:write("a.lua", "local w = ... w:system('a', { run = print })")
    files:write("c.lua", "local w = ... w:system('c', { run = print })")
    local session = open()
    files:write("b.lua", "local w = ... w:system('b', { run = print }) w:phase('p', {})")
    helper.poll(session)
    files:write("a.lua", "local w = ... w:system('a0', { run = print }) w:phase('q', {}) "
      .. "w:system('a', { run = print }) w:system('a1', { run = print, phase = 'p' })")
    helper.poll(session)
    assert.are.equal("a0 a b c a1", order(world))
    local fresh = helper.new_world()
    live.open(fresh, { files.path })
    assert.are.equal(order(fresh), order(world))
    assert.are.same(fresh:describe().phases, world:describe().phases)
  end)

  it("keep switch, timers and timings of systems that stay; parked ones resume", function()
    local text = "local w = ... w:system('s', { every = 1, run = function(w, dt) %s end })"
    files:write("a.lua", text:format "error 'broken'")
    local session = open()
    world:on_error(function() end)
    world:update(0.75)
    world:update(0.25)
    assert.is_true(world:describe().systems[1].parked)
    world:update(0.5)
    files:write("a.lua", text:format "RAN = (RAN or 0) + 1")
    helper.poll(session)
    assert.is_false(world:describe().systems[1].parked)
    assert.are.equal(1, world:describe().systems[1].runs)
    world:update(0.5)
    assert.are.equal(1, _G.RAN)
    world:switch("s", false)
    files:write("a.lua", text:format "RAN = (RAN or 0) + 2")
    helper.poll(session)
    assert.is_false(world:describe().systems[1].enabled)
    _G.RAN = nil
  end)

  it("miss a module that is gone, and have the one that comes", function()
    files:write("lib/value.lua", "return 1")
    files:write("use.lua", "local w = ... VALUE = require 'lib.value'")
    local session = open()
    files:remove "lib/value.lua"
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    assert.are.equal(files.path .. "/use.lua:1: module 'lib.value' not found:",
      message:match "^[^\n]*")
    assert.are.equal(1, package.loaded["lib.value"])
    assert.is_nil(helper.poll(session))
    files:write("lib/value.lua", "return 2")
    assert.is_true(helper.poll(session))
    assert.are.equal(2, _G.VALUE)
    files:write("use.lua", "local w = ... VALUE = require 'lib.other'")
    assert.is_false(helper.poll(session))
    files:write("lib/other.lua", "return 3")
    assert.is_true(helper.poll(session))
    assert.are.equal(3, _G.VALUE)
    files:write("lib/other.lua", "return 4")
    assert.is_true(helper.poll(session))
    assert.are.equal(4, _G.VALUE)
    assert.are.equal(2, #errors)
    _G.VALUE = nil
    package.loaded["lib.value"], package.loaded["lib.other"] = nil, nil
  end)

  it("bring the modules along that they require from their directories", function()
    files:write("lib/base.lua", "return { value = 1 }")
    files:write("lib/mid.lua", "local b = require 'lib.base' return { value = b.value * 10 }")
    files:write("shared.lua", "return { shared = true }")
    files:write("use.lua", [[local w = ... local m, s = require "lib.mid", require "shared"
      assert(s.shared and require "lib.mid" == m)
      VALUE = m.value]])
    files:write("another.lua", "OTHER = (OTHER or 0) + 1")
    local session = open()
    assert.are.same({}, errors)
    local others = _G.OTHER
    assert.are.equal(10, _G.VALUE)
    files:write("lib/base.lua", "return { value = 2 }")
    assert.is_true(helper.poll(session))
    assert.are.equal(20, _G.VALUE)
    assert.are.equal(20, require("lib.mid").value)
    files:write("lib/base.lua", "return { value = 3 } error 'x'")
    assert.is_false(helper.poll(session))
    assert.are.equal(2, require("lib.base").value)
    assert.are.equal(20, _G.VALUE)
    assert.are.equal(others, _G.OTHER)
    _G.VALUE, _G.OTHER = nil, nil
    package.loaded["lib.mid"], package.loaded["lib.base"], package.loaded["shared"] = nil, nil, nil
  end)

  it("come anew when they have said goodbye and then could not go", function()
    local text = [[local w, s = ...
      s.state.runs = (s.state.runs or 0) + 1
      s:on_load(function() CALLED = (CALLED or '') .. 'load' .. s.state.runs .. ' ' end)
      s:on_reload(function() CALLED = CALLED .. 'reload ' end)
      s:on_unload(function() CALLED = CALLED .. 'unload ' w:component('C', { 'x: f32' }) end)]]
    files:write("a.lua", text)
    local session = open()
    files:remove "a.lua"
    files:write("b.lua", "local w = ... w:component('C', { 'y: f32' })")
    assert.is_false(helper.poll(session))
    files:remove "b.lua"
    files:write("a.lua", text)
    assert.is_true(helper.poll(session))
    assert.are.equal("load1 unload load1 ", _G.CALLED)
    _G.CALLED = nil
  end)

  it("are refused when they require something else each time", function()
    files:write("a.lua", "ODD = not ODD if ODD then require 'm' end")
    files:write("m.lua", "return 1")
    open()
    assert.are.same({ "the modules that the scripts require keep changing" }, errors)
    _G.ODD = nil
  end)

  it("own what before them only an image has named", function()
    local other = helper.new_world()
    other:component("P", { "x: f32" })
    other:component("H", { "x: f32" })
    other:spawn { P = { x = 3 } }
    world:load(other:save())
    world:component("H", { "x: f32" })
    files:write("a.lua", "local w = ... w:component('P', { 'x: f64', 'y: i32 = 4' })")
    local session = open()
    assert.are.same({}, errors)
    assert.are.equal("x: f64, y: i32", fields(world, "P"))
    files:write("a.lua", "local w = ... w:component('H', { 'x: f64' })")
    assert.is_false(helper.poll(session))
    files:write("a.lua", "")
    assert.is_true(helper.poll(session))
    assert.are.same({ "P" }, session:status().orphans)
    assert.are.equal("x: f32", fields(world, "H"))
  end)

  it("make a tag a resource", function()
    files:write("a.lua", "local w = ... w:tag 'G'")
    local session = open()
    world:spawn { G = true }
    local text = "local w = ... w:resource('G', { 'k: i64 = 2' }) local g = w:res 'G' "
    files:write("a.lua", text .. "nothing()")
    assert.is_false(helper.poll(session))
    has_error(function() world:res "G" end, "not a resource")
    files:write("a.lua", text .. "SEEN = function() return g.k end")
    assert.is_true(helper.poll(session))
    assert.are.same({ 2, 2, 1 }, { _G.SEEN(), world:res("G").k, world:count "G" })
    _G.SEEN = nil
  end)

  it("keep the state that they put in place of theirs", function()
    files:write("a.lua", [[local _, script = ...
      script.state = { runs = (script.state.runs or 0) + 1 }
      RUNS = script.state.runs]])
    local session = open()
    assert.is_true(session:poll(true))
    assert.are.equal(2, _G.RUNS)
    _G.RUNS = nil
  end)

  it("call all hooks, whatever one of them or on_error raises", function()
    local text = "local _, s = ... s:on_load(function() CALLED = (CALLED or '') .. %q %s end) "
      .. "s:on_reload(function() CALLED = CALLED .. %q end)"
    files:write("a.lua", text:format("a", "error 'bad'", "A"))
    files:write("b.lua", text:format("b", "", "B"))
    local session = open { on_error = function(message) error("told: " .. message, 0) end }
    assert.are.equal("ab", _G.CALLED)
    assert.is_truthy(session:status().last_error:find "^told: ")
    assert.is_true(session:poll(true))
    assert.are.equal("abAB", _G.CALLED)
    _G.CALLED = nil
  end)

  it("leave snapshots alone", function()
    files:write("a.lua", "local w = ... w:component('P', { 'x: f32', 's: string' })")
    local session = open()
    local e = world:spawn { P = { x = 1, s = "kept" } }
    local snapshot, digest = world:snapshot(), world:digest()
    files:write("b.lua", [[local w = ...
      w:component("Q", { "n: i32 = 4" }) w:resource("R", { "n: i32" }) nothing()]])
    assert.is_false(helper.poll(session))
    for i = 1, 5000 do
      world:set(e, "P", { x = i, s = "other " .. i })
    end
    world:restore(snapshot)
    assert.are.equal(digest, world:digest())
    files:write("b.lua", "local w = ... w:component('Q', { 'n: i32 = 4' })")
    assert.is_true(helper.poll(session))
    world:spawn { P = {}, Q = {} }
    world:restore(snapshot)
    assert.are.equal(digest, world:digest())
    assert.are.equal(0, world:count "Q")
    files:write("a.lua", "local w = ... w:component('P', { 'x: f64', 's: string' })")
    assert.is_true(helper.poll(session))
    world:restore(snapshot)
    assert.are.same({ 1.0, "kept" }, { world:get(e, "P") })
  end)

  it("are the same files whichever way a path is written", function()
    local path = package.path
    package.path = files.root .. "/?.lua"
    files:write("mod.lua", "return { value = 1 }")
    files:write("use.lua", "local w = ... assert(w ~= 'mod') VALUE = require('scripts.mod').value")
    local session = live.open(world, files.root .. "/./scripts//")
    files:write("mod.lua", "return { value = 2 }")
    assert.is_true(helper.poll(session))
    assert.are.equal(2, _G.VALUE)
    assert.are.same({ files.root .. "/./scripts/mod.lua", files.root .. "/./scripts/use.lua" },
      session:status().files)
    session:changed(files.path .. "//use.lua")
    assert.is_true(helper.poll(session))
    assert.are.same({ files.root .. "/./scripts/use.lua" }, session:status().last_report.files)
    package.path, package.loaded["scripts.mod"], _G.VALUE = path, nil, nil
  end)

  it("are told by hosts with watchers of their own, or run again by force", function()
    files:write("a.lua", "RUNS = (RUNS or 0) + 1")
    local session = open()
    assert.is_nil(helper.poll(session))
    session:changed(files.path .. "/a.lua")
    assert.is_true(helper.poll(session))
    assert.is_true(session:poll(true))
    assert.are.equal(3, _G.RUNS)
    assert.are.equal(3, session:status().versions[files.path .. "/a.lua"])
    assert.are.same({ files.path .. "/a.lua" }, session:status().files)
    _G.RUNS = nil
  end)

  it("raise from open what keeps them from starting, unless someone handles errors", function()
    files:write("a.lua", "error 'at once'")
    has_error(function() live.open(world, files.path) end, "a.lua:1: at once")
    local session = open()
    assert.are.equal(1, #errors)
    files:write("a.lua", "local w = ... w:tag 'T'")
    assert.is_true(helper.poll(session))
    assert.are.equal(0, world:count "T")
    has_error(function() live.open(world, { files.path .. "/none" }) end, "no directory")
  end)

  it("stay when their directory is gone, which is told", function()
    files:write("a.lua", "local w = ... w:system('s', { query = 'T', each = function() end })")
    world:tag "T"
    local session = open()
    assert(os.rename(files.path, files.path .. "-away"))
    local swapped, message = session:poll(true)
    assert(os.rename(files.path .. "-away", files.path))
    assert.is_false(swapped)
    assert.matches("a.lua: cannot be read", message, 1, true)
    assert.equal(1, #world:describe().systems)
    assert.is_true(session:poll(true))
    assert.equal(1, #world:describe().systems)
  end)

  it("report errors of hooks and go on", function()
    files:write("a.lua", "local w, s = ... w:tag 'T' s:on_load(function() error 'hook' end)")
    local session = open()
    assert.is_truthy(errors[1]:find("a.lua:1: hook", 1, true))
    assert.are.equal(0, world:count "T")
    assert.is_nil(helper.poll(session))
  end)
end)

describe("functions of live scripts", function()
  it("are compiled like others, and follow a migration", function()
    local world, files, _, open = live_scene.new()
    files:write("a.lua", [[
      local world, script = ...
      local scale = world:res "Scale"
      world:component("P", { "x: f32", "y: f32" })
      world:resource("Scale", { "by: f32 = 2" })
      world:system("grow", { query = "P", each = function(p) p.x = p.x + scale.by end })
      script:on_load(function() world:spawn { P = {} } end)]])
    local session = open()
    assert.are.equal("vector", world:explain("grow").tier)
    world:update(0)
    local e = world:query("P"):first()
    assert.are.equal(2.0, (world:get(e, "P.x")))
    files:write("a.lua", [[
      local world, script = ...
      local scale = world:res "Scale"
      world:component("P", { "z: i32", "y: f32", "x: f64" })
      world:resource("Scale", { "more: i32 = 5", "by: f64 = 1" })
      world:system("grow", { query = "P", each = function(p)
        p.x = p.x + scale.by + scale.more
      end })]])
    assert.is_true(helper.poll(session))
    world:update(0)
    assert.are.equal(9.0, (world:get(e, "P.x")))
    world:update(0)
    assert.are.equal(16.0, (world:get(e, "P.x")))
  end)
end)
