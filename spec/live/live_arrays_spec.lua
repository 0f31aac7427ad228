-- Arrays that live scripts declare.

local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"

local GRID = [[local world = ...
  local grid = world:array("grid", %q, %d)
  world:system("count", { run = function() grid[1] = grid[1] + %s end })]]

describe("an array of a live script", function()
  local world, files, errors, open

  before_each(function()
    world, files, errors, open = live_scene.new()
  end)

  local function refused(session, ...)
    local digest = world:digest()
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    for _, text in ipairs { ... } do
      assert(message:find(text, 1, true), message)
    end
    assert.are.equal(digest, world:digest())
  end

  it("is migrated when the script declares it otherwise, and is nobody's when that goes", function()
    files:write("a.lua", GRID:format("i32", 3, "1"))
    local session = open()
    assert.are.same({}, errors)
    world:update(0)
    world:update(0)
    assert.are.equal(2, world:array("grid")[1])
    files:write("a.lua", GRID:format("f64", 5, "0.5"))
    assert.is_true(helper.poll(session))
    world:update(0)
    assert.are.same({ 2.5, 0.0, 0.0, 0.0, 0.0 }, world:array("grid"):read())
    files:write("a.lua", "")
    assert.is_true(helper.poll(session))
    assert.are.same({ "grid" }, session:status().orphans)
    assert.are.equal(2.5, world:array("grid")[1])
    session:forget()
    assert.are.same({}, world:describe().arrays)
  end)

  it("is not changed when a value does not fit, or another file fails", function()
    files:write("a.lua", GRID:format("i32", 3, "1"))
    local session = open()
    world:array("grid")[2] = 300
    files:write("a.lua", GRID:format("u8", 3, "1"))
    refused(session, "a.lua", "cannot migrate 'grid': element 2 is 300")
    files:write("a.lua", GRID:format("i64", 9, "1"))
    files:write("b.lua", "error 'oh'")
    refused(session, "oh")
    files:remove "b.lua"
    assert.is_true(helper.poll(session))
    assert.are.equal(9, #world:array "grid")
  end)

  it("that is new is forgotten when the scripts fail", function()
    files:write("a.lua", GRID:format("i32", 3, "1"))
    files:write("b.lua", "error 'oh'")
    open()
    assert.are.equal(1, #errors)
    assert.are.same({}, world:describe().arrays)
  end)

  it("is found by files before and behind the one that declares it", function()
    local user = [[local world = ...
      local grid = world:array "grid"
      world:system(%q, { run = function() grid[1] = grid[1] + 1 end })]]
    files:write("a.lua", user:format "a")
    files:write("b.lua", GRID:format("i32", 3, "1"))
    files:write("c.lua", user:format "c")
    local session = open()
    assert.are.same({}, errors)
    world:update(0)
    assert.are.equal(3, world:array("grid")[1])
    files:write("b.lua", "")
    files:write("d.lua", "local w = ... w:array 'gird'")
    refused(session, "d.lua:1", "unknown array 'gird'", "'grid'")
    files:remove "d.lua"
    assert.is_true(helper.poll(session))
    world:update(0)
    assert.are.equal(5, world:array("grid")[1])
    files:write("e.lua", "local w = ... w:component('Other', {}) w:array 'Other'")
    refused(session, "e.lua:1", "'Other' is a tag, not an array")
  end)

  it("cannot be used before all scripts are read, nor written while they are", function()
    files:write("a.lua", "local w = ... local grid = w:array 'grid' print(grid[1])")
    files:write("b.lua", GRID:format("i32", 3, "1"))
    local session = open()
    assert(errors[1]:find("array 'grid' cannot be used until all scripts have been read", 1, true))
    files:write("a.lua", "local w = ... w:array('grid', 'i32', 3)[1] = 5")
    local _, message = helper.poll(session)
    assert(message:find("a.lua:1", 1, true), message)
    files:write("a.lua", "local w = ... assert(w:array('grid', 'i32', 3)[1] == 0)")
    assert.is_true(helper.poll(session))
  end)

  it("belongs to one owner", function()
    world:array("grid", "i32", 3)
    files:write("a.lua", GRID:format("i32", 4, "1"))
    local session = open()
    local what = "array 'grid' is declared outside the scripts with another type or length"
    assert(errors[1]:find(what, 1, true), errors[1])
    files:write("a.lua", GRID:format("i32", 3, "1"))
    assert.is_true(helper.poll(session))
    files:write("b.lua", "local w = ... w:array('cost', 'u8', 3)")
    files:write("c.lua", "local w = ... w:array('cost', 'u8', 4)")
    refused(session, "array 'cost' is declared with another type or length in", "b.lua")
    files:write("c.lua", "local w = ... w:component('cost', { 'x: f32' })")
    refused(session, "component 'cost' is declared with other fields in")
  end)
end)
