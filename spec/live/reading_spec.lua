-- While scripts are read: which methods record, which go on as ever, and which are refused.

local ecs = require "ecs"
local native = require "ecs.native"
local helper = require "spec.support.ecs_helper"
local hostile = require "spec.support.hostile"

local REFUSED = "a script cannot change the world while it is read: do that in script:on_load or "
  .. "in a system"
local NO_SNAPSHOT = "a snapshot cannot be taken while scripts are read: do that in script:on_load "
  .. "or in a system"

local function set(text)
  local names = {}
  for name in text:gmatch "%S+" do
    names[name] = true
  end
  return names
end

-- Whether a method is possible while scripts are read; those that register are recorded.
local POSSIBLE = {
  world = set [[ alive alpha array check children component components count describe digest
    dump enabled event explain frames get get_text has index lookup observer pair parent phase
    prefab profile query random read relation reset_counters res resource spawner save sources
    system tag target targets write_types ]],
  query = set "count first ids where",
  where = set "where",
  array = set "read",
  index = {},
}

-- The kinds of registration that the recorder is told of, of methods that need what they are given.
local RECORDED = {
  array = "component", component = "component", event = "component", index = "index",
  observer = "observer", phase = "phase", prefab = "prefab", query = "query",
  relation = "component", resource = "component", res = "res", spawner = "query",
  system = "system", tag = "component",
}

local function nothing() end

-- Calls a method with the arguments that make sense; what it raises, and the kinds recorded.
local function call(kind, method)
  local scene, valid, kinds = hostile.scene(ecs.world), hostile.calls[kind][method], {}
  local arguments, problem = {}, nil
  for i, argument in ipairs(valid) do
    arguments[i] = argument.make(scene)
  end
  local where = kind == "where" and scene[valid.self or "query"]:where(nothing)
  native.stage(scene.world, function(what) kinds[#kinds + 1] = what end, function(world)
    local self = kind == "world" and world or kind == "where" and where
      or kind == "array" and scene.grid
      or kind == "index" and scene[valid.self or "near"]
      or scene[valid.self or "query"]
    local ok, message = pcall(self[method], self, table.unpack(arguments, 1, #valid))
    problem = not ok and message or nil
  end)
  helper.check(scene.world)
  scene.world:close()
  scene.other:close()
  return problem, kinds
end

describe("while scripts are read", function()
  for kind, possible in pairs(POSSIBLE) do
    for _, method in ipairs(native.exports[kind]) do
      local what = possible[method] and "possible" or "refused"
      it(("%s:%s is %s"):format(kind, method, what), function()
        local problem, kinds = call(kind, method)
        if possible[method] then
          assert.is_nil(problem)
        else
          assert.are.equal(method == "snapshot" and NO_SNAPSHOT or REFUSED, problem)
        end
        assert.are.same({ kind == "world" and RECORDED[method] or nil }, kinds)
      end)
    end
  end

  it("what is registered comes with whether the world had it", function()
    local world = helper.new_world()
    local function register(name)
      world:tag(name)
      world:phase(name, {})
      world:system(name, { run = nothing })
      world:index("by_" .. name, { query = name, hash = function() return 1 end })
    end
    register "old"
    local had, old_names = {}, {}
    native.stage(world, function(kind, name, _, _, known, known_old)
      had[#had + 1] = ("%s %s %s"):format(kind, name, known)
      old_names[name] = known_old
    end, function()
      register "old"
      register "new"
      world:tag "new"
      world:component("renamed", { "x: f32", was = "old" })
      world:component("again", { "x: f32", was = "new" })
      world:phase("update", {})
    end)
    assert.are.same({
      "component old true", "phase old true", "system old true", "index by_old true",
      "component new false", "phase new false", "system new false", "index by_new false",
      "component new false", "component renamed false", "component again false",
      "phase update false",
    }, had)
    assert.are.equal(true, old_names.renamed)
    assert.are.equal(false, old_names.again)
  end)

  it("an entity's name can be asked for, and not be set", function()
    local world = helper.new_world()
    local e = world:spawn()
    world:name(e, "one")
    native.stage(world, nothing, function()
      assert.are.equal("one", world:name(e))
      helper.has_error(function() world:name(e, "two") end, REFUSED)
      helper.has_error(function() world:name(e, false) end, REFUSED)
    end)
    assert.are.equal("one", world:name(e))
  end)

  it("resources can be read, and not be written, in their parts and arrays, too", function()
    local world = helper.new_world()
    world:component("At", { "x: f32 = 1" })
    world:resource("R", { "n: i32 = 2", "at: At", "a: f32[2]", "m: At[2]" })
    local r = world:res "R"
    native.stage(world, nothing, function()
      for _, view in ipairs { r, world:res "R" } do
        assert.are.same({ 2, 1, 0, 1 }, { view.n, view.at.x, view.a[1], view.m[2].x })
        for _, write in ipairs {
          function() view.n = 3 end, function() view.at = { x = 3 } end,
          function() view.at.x = 3 end, function() view.a[1] = 3 end,
          function() view.m[2].x = 3 end, function() view.m[2] = { x = 3 } end,
        } do
          helper.has_error(write, REFUSED)
        end
      end
    end)
    assert.are.same({ 2, 1, 0, 1 }, { r.n, r.at.x, r.a[1], r.m[2].x })
  end)

  it("methods that were looked up before do the same as those looked up then", function()
    local world = helper.new_world()
    local tag, spawn, system = world.tag, world.spawn, world.system
    native.stage(world, nothing, function()
      tag(world, "T")
      system(world, "s", { run = nothing })
      helper.has_error(function() spawn(world, {}) end, REFUSED)
    end)
    assert.are.same({}, world:describe().components)
    assert.are.same({}, world:describe().systems)
    tag(world, "T")
    system(world, "s", { run = nothing })
    spawn(world, { T = true })
    assert.are.equal("s", helper.order(world))
  end)

  it("other worlds are as ever", function()
    local world, other = helper.new_world(), helper.new_world()
    native.stage(world, function() error "told of another world" end, function()
      other:component("P", { "x: f32" })
      other:resource("R", { "n: i32 = 4" })
      other:phase("late", { after = "render" })
      other:system("s", { query = "P", phase = "late", each = function(p) p.x = p.x + 1 end })
      local e = other:spawn { P = { 1 } }
      other:update(0)
      assert.are.same({ 2, 4 }, { other:get(e, "P.x"), other:res("R").n })
      assert.are.equal(1, other:query("P"):count())
    end)
    assert.are.same({}, world:describe().components)
  end)

  it("writes to what a query reads only are refused, in what stays Lua, too", function()
    local world = helper.new_world()
    world:component("P", { "x: f32" })
    local spec = { query = "P:in", each = function(p) p.x = 1 end, compile = false }
    local recorded = {}
    native.stage(world, function(_, _, object) recorded[#recorded + 1] = object end, function()
      assert(load("local world, spec = ... world:system('s', spec)", "@a.lua"))(world, spec)
      helper.has_error(function()
        native.swap(world, recorded, {}, {})
      end, "a.lua:1: system 's': ", "reading_spec.lua:", "is read-only (:in)")
    end)
    world:system("s", spec)
    world:update(0)
    assert.are.equal("s", helper.order(world))
  end)

  it("what was asked for comes with the swap, and everything is possible behind it", function()
    local world = helper.new_world()
    local recorded = {}
    native.stage(world, function(_, _, object) recorded[#recorded + 1] = object end, function()
      world:component("P", { "x: f32" })
      world:resource("R", { "n: i32 = 4" })
      world:system("s", { query = "P", each = nothing })
      local query, view = world:query "P", world:res "R"
      helper.has_error(function() query:count() end, "until all scripts have been read")
      native.swap(world, recorded, {}, {})
      world:spawn { P = { 1 } }
      view.n = view.n + 1
      assert.are.same({ 1, 5 }, { query:count(), view.n })
      world:tag "T"
      world:update(0)
    end)
    assert.is_not_nil(world:describe "T")
    assert.are.equal("s", helper.order(world))
  end)
end)
