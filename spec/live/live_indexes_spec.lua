-- Indexes that live scripts declare, and look into.

local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"

local INDEX = [[local world, script = ...
  world:component("Place", { %s })
  local near = world:index("near", { query = "Place", grid = "Place", cell = %s })
  world:system("count", { run = function()
    Seen = 0
    for _ in near:within(0, 0, 10) do Seen = Seen + 1 end
  end })]]

describe("an index of a live script", function()
  local world, files, errors, open

  before_each(function()
    world, files, errors, open = live_scene.new()
  end)

  after_each(function() rawset(_G, "Seen", nil) end)

  local function update()
    world:update(1)
    return rawget(_G, "Seen")
  end

  it("is there when all files have been read, replaced with them, and dropped by them", function()
    files:write("a.lua", INDEX:format([["x: f32", "y: f32"]], "1"))
    local session = open()
    assert.are.same({}, errors)
    world:spawn { Place = { 1, 1 } }
    assert.are.equal(1, update())
    assert.are.equal("a.lua", world:describe().indexes[1].owner:match "[^/]*$")
    files:write("a.lua", INDEX:format([["y: f64", "x: i32"]], "7"))
    assert.is_true(helper.poll(session))
    assert.are.equal(1, update())
    assert.are.equal(7, world:describe().indexes[1].cell)
    files:write("a.lua", [[local world = ... world:component("Place", { "y: f64", "x: i32" })]])
    assert.is_true(helper.poll(session))
    assert.are.same({}, world:describe().indexes)
  end)

  it("stays as it was when another file fails, and while its own has not changed", function()
    files:write("a.lua", INDEX:format([["x: f32", "y: f32"]], "1"))
    local session = open()
    world:spawn { Place = { 1, 1 } }
    files:write("a.lua", INDEX:format([["x: f32", "y: f32"]], "2"))
    files:write("b.lua", "error 'oh'")
    assert.is_false((helper.poll(session)))
    assert.are.equal(1, world:describe().indexes[1].cell)
    assert.are.equal(1, update())
    files:write("a.lua", INDEX:format([["x: f32", "y: f32"]], "3"))
    files:write("b.lua", "")
    assert.is_true(helper.poll(session))
    files:write("b.lua", "-- another")
    assert.is_true(helper.poll(session))
    assert.are.equal(3, world:describe().indexes[1].cell)
    assert.are.equal(1, update())
  end)

  it("is found by its name in other files, whichever is read first", function()
    files:write("b.lua", INDEX:format([["x: f32", "y: f32"]], "1"))
    files:write("a.lua", [[local world = ...
      local near = world:index "near"
      world:system("look", { after = "count", run = function()
        Seen = near:nearest(0, 0, 5)
      end })]])
    local session = open()
    assert.are.same({}, errors)
    local e = world:spawn { Place = { 1, 1 } }
    assert.are.equal(e, update())
    files:write("b.lua", "")
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    assert(message:find("no index 'near'", 1, true), message)
    assert.are.equal(e, update())
  end)

  it("refuses components that lack what it is by, in whatever file they are", function()
    local place = [[local world = ... world:component("Place", { %s })]]
    files:write("a.lua", place:format [["x: f32", "y: f32"]])
    files:write("b.lua", [[local world = ...
      world:index("near", { query = "Place", grid = "Place", cell = 1 })]])
    files:write("c.lua", [[local world = ...
      world:index("keys", { query = "Place", hash = "x" })]])
    local session = open()
    assert.are.same({}, errors)
    local function refused(fields, ...)
      files:write("a.lua", place:format(fields))
      local ok, message = helper.poll(session)
      assert.is_false(ok)
      for _, words in ipairs { ... } do assert(message:find(words, 1, true), message) end
    end
    refused([["x: f32", "z: f32"]], "index 'near'", "the number fields x and y of 'Place'", "no y")
    refused([["x: f32", "y: string"]], "index 'near'", "no y")
    files:write("b.lua", "")
    refused([["y: f32"]], "index 'keys'", "component 'Place' has no field 'x'")
    files:write("c.lua", [[local world = ...
      world:index("keys", { query = "Place.y", hash = "Place.y" })]])
    files:write("a.lua", place:format [["y: f32"]])
    assert.is_true(helper.poll(session))
    world:spawn { Place = { y = 5 } }
    for y in world:index("keys"):find(5) do assert.are.equal(5, y) end
    files:write("c.lua", [[local world = ...
      world:index("keys", { query = "Place.z", hash = "Place.z" })]])
    files:write("a.lua", place:format [["z: i32"]])
    assert.is_true(helper.poll(session))
  end)

  it("is refused with file and line, and nothing changes", function()
    files:write("a.lua", INDEX:format([["x: f32", "y: f32"]], "1"))
    local session = open()
    local function refused(text, ...)
      files:write("a.lua", text)
      local ok, message = helper.poll(session)
      assert.is_false(ok)
      for _, words in ipairs { "a.lua:3: ", ... } do
        assert(message:find(words, 1, true), message)
      end
    end
    refused(INDEX:format([["x: f32", "y: f32"]], "0"), "'cell' must be the width of a cell")
    refused(INDEX:format([["x: f32"]], "1"), "a grid needs the number fields x and y of 'Place'")
    refused((INDEX:format([["x: f32", "y: f32"]], "1"):gsub('query = "Place"', 'query = "Plac"')),
      "unknown component 'Plac'")
    assert.are.equal(1, #world:describe().indexes)
    world:spawn { Place = { 1, 1 } }
    assert.are.equal(1, update())
  end)

  it("has the function of the files that run now for its key, and lets go of old ones", function()
    local text = [[local world = ...
      world:component("Place", { "x: f32", "y: f32" })
      Keys = Keys or setmetatable({}, { __mode = "k" })
      local function key(place) return place.x %s end
      Keys[key] = true
      local keys = world:index("keys", { query = "Place", ordered = key })
      world:system("lowest", { run = function()
        for place in keys:lowest(1) do Seen = place.x end
      end })]]
    files:write("a.lua", text:format "* 1")
    local session = open()
    assert.are.same({}, errors)
    world:spawn { Place = { 1, 1 } }
    world:spawn { Place = { 5, 1 } }
    assert.are.equal(1, update())
    files:write("a.lua", text:format "* -1")
    files:write("b.lua", "error 'oh'")
    assert.is_false((helper.poll(session)))
    assert.are.equal(1, update())
    files:write("b.lua", "")
    assert.is_true(helper.poll(session))
    assert.are.equal(5, update())
    files:write("a.lua", (text:format "* 1":gsub("lowest%(1%)", "lowest(2)")))
    assert.is_true(helper.poll(session))
    update()
    collectgarbage()
    local count = 0
    for _ in pairs(rawget(_G, "Keys")) do count = count + 1 end
    rawset(_G, "Keys", nil)
    assert.are.equal(1, count)
  end)

  it("is neither the host's nor another file's, nor looked into while scripts are read", function()
    world:component("Place", { "x: f32", "y: f32" })
    world:index("near", { query = "Place", grid = "Place", cell = 1 })
    files:write("a.lua", [[local world = ...
      world:index("near", { query = "Place", grid = "Place", cell = 1 })]])
    open()
    assert(errors[1]:find("index 'near' is registered outside the scripts", 1, true), errors[1])
    files:write("a.lua", [[local world = ... world:index("near"):nearest(0, 0, 1)]])
    open()
    assert(errors[2]:find("a script cannot change the world", 1, true), errors[2])
  end)
end)
