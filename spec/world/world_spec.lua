local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

-- Opens the C half once more, as a test runner does that forgets loaded modules.
local function reopened()
  local loaded = { ecs = package.loaded["ecs"], native = package.loaded["ecs.native"] }
  package.loaded["ecs"], package.loaded["ecs.native"] = nil, nil
  local again = require "ecs"
  package.loaded["ecs"], package.loaded["ecs.native"] = loaded.ecs, loaded.native
  return again
end

local function tag_of(world)
  return world:spawn() >> 44 & 0xFF
end

describe("ecs.world", function()
  it("takes no options, or an empty table", function()
    assert.are.equal("userdata", type(helper.new_world()))
    assert.are.equal("userdata", type(helper.new_world {}))
  end)

  it("puts the tag it is given into the ids", function()
    assert.are.equal(1, tag_of(helper.new_world { tag = 1 }))
    assert.are.equal(255, tag_of(helper.new_world { tag = 255.0 }))
  end)

  it("takes a seed, a switch for kernels, a number of threads", function()
    helper.new_world { threads = 1 }
    helper.new_world { threads = 64.0 }
    helper.new_world { seed = -5, kernels = false }
    helper.new_world { seed = 2.0, kernels = true }
  end)

  it("names the option that it does not know or cannot take", function()
    has_error(function() ecs.world { tga = 1 } end, "'tga'", "tag, seed, kernels, threads")
    has_error(function() ecs.world { 5 } end, "unknown option 1")
    for _, tag in ipairs { 0, 256, 1.5, -1, "7", true, 0 / 0, 2 ^ 63 } do
      has_error(function() ecs.world { tag = tag } end, "'tag'", "1 to 255")
    end
    has_error(function() ecs.world { seed = 1.5 } end, "'seed'", "1.5")
    has_error(function() ecs.world { seed = "1" } end, "'seed'", "'1'")
    has_error(function() ecs.world { kernels = 1 } end, "'kernels'")
    for _, threads in ipairs { 0, 65, 1.5, -1, "7", "x!", "65!", "", true, 0 / 0, 2 ^ 63 } do
      has_error(function() ecs.world { threads = threads } end, "'threads'", "1 to 64")
    end
    has_error(function() ecs.world(7) end, "table expected")
  end)

  it("rotates through tags that no open world has", function()
    local first = tag_of(helper.new_world())
    local second = tag_of(helper.new_world())
    assert.are.equal(first % 255 + 1, second)
    helper.new_world { tag = second % 255 + 1 }
    assert.are.equal((second + 1) % 255 + 1, tag_of(helper.new_world()))
  end)

  it("does not give a closed world's tag to the next one at once", function()
    local world = ecs.world()
    local tag = tag_of(world)
    world:close()
    assert.are_not.equal(tag, tag_of(helper.new_world()))
  end)

  it("goes on with tags that coincide past 255 open worlds", function()
    local worlds, seen = {}, {}
    for i = 1, 256 do
      worlds[i] = ecs.world()
      seen[tag_of(worlds[i])] = true
    end
    for tag = 1, 255 do
      assert.is_true(seen[tag])
    end
    for _, world in ipairs(worlds) do
      world:close()
    end
  end)
end)

describe("a world", function()
  it("gives nothing away through getmetatable, and cannot get another one", function()
    local world = helper.new_world()
    assert.is_false(getmetatable(world))
    assert.is_false(pcall(setmetatable, world, {}))
  end)

  it("tells its tag, entities and state by tostring", function()
    local world = ecs.world { tag = 7 }
    world:spawn()
    assert.are.equal("ecs.world (tag 7, 1 entities)", tostring(world))
    world:close()
    assert.are.equal("ecs.world (closed)", tostring(world))
  end)

  it("refuses fields, as it has methods only", function()
    local world = helper.new_world()
    assert.is_nil(world.unknown)
    assert.is_false(pcall(function() world.unknown = 1 end))
  end)

  it("says of a method that is called by a dot to write a colon", function()
    local world = helper.new_world()
    world:component("Position", { "x: f32" })
    local query = world:query "Position"
    has_error(function() world.spawn { Position = {} } end, "bad argument #1 to 'spawn'",
      "world expected, got table; write world:spawn(...), with a colon")
    has_error(function() world.spawn() end, "got no value; write world:spawn(...)")
    has_error(function() world.spawn(query) end, "got ecs.query; write world:spawn(...)")
    has_error(function() query.each(print) end, "write query:each(...), with a colon")
    has_error(function() query:where(print).count() end,
      "query expected, got nil; write query:")
    for _, other in ipairs { { spawn = world.spawn } } do
      local message = has_error(function() other:spawn() end, "'spawn' on bad self",
        "world expected")
      assert.is_nil(message:find("colon", 1, true))
    end
    local message = has_error(world.spawn, "world expected, got no value")
    assert.is_nil(message:find("colon", 1, true))
  end)

  it("is a world only where a world is expected", function()
    local world = helper.new_world()
    has_error(function() world.spawn(nil) end, "world expected, got nil")
    has_error(function() world.spawn({}) end, "world expected, got table")
    has_error(function() world.spawn(io.stdout) end, "world expected, got FILE*")
    has_error(function() world.get("x", 1, 2) end, "world expected, got string")
  end)

  it("checks its own invariants", function()
    local world = helper.new_world()
    assert.is_true(world:check())
  end)

  it("C6 is closed by close, any number of times", function()
    local world = ecs.world()
    world:spawn()
    assert.are.equal(0, select("#", world:close()))
    world:close()
  end)

  it("C6 is closed by a to-be-closed variable", function()
    local kept
    do
      local world <close> = ecs.world()
      kept = world
    end
    has_error(function() kept:spawn() end, "the world is closed")
  end)

  it("C6 is freed by the collector", function()
    local weak = setmetatable({ ecs.world() }, { __mode = "v" })
    weak[1]:spawn_many(1000)
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak[1])
  end)

  it("is freed by the collector when an `any` value refers back to it", function()
    local world = ecs.world()
    world:component("Box", { "value: any" })
    world:spawn { Box = { value = { world } } }
    local weak = setmetatable({ world }, { __mode = "v" })
    world = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak[1])
  end)

  it("says that it is closed, from every method", function()
    local world = ecs.world()
    local query = world:query ""
    world:close()
    for _, name in ipairs(require("ecs.native").exports.world) do
      if name ~= "close" then
        has_error(function() world[name](world, 1, "x", 1) end, "the world is closed")
      end
    end
    for _, name in ipairs(require("ecs.native").exports.query) do
      has_error(function() query[name](query, print) end, "closed")
    end
  end)

  it("lets go of the `any` values when it is closed", function()
    local world = ecs.world()
    world:component("Box", { "value: any" })
    local weak = setmetatable({ {} }, { __mode = "v" })
    world:spawn { Box = { value = weak[1] } }
    world:close()
    collectgarbage()
    assert.is_nil(weak[1])
    assert.are.equal("userdata", type(world))
  end)

  it("cannot be closed inside defer, except by __close", function()
    local world = ecs.world()
    world:defer()
    has_error(function() world:close() end, "close is not possible")
    assert.is_true(world:check())
    do
      local _ <close> = world
    end
    has_error(function() world:commit() end, "closed")
  end)

  it("may be closed by a finalizer while it is read", function()
    local world = ecs.world()
    world:component("Label", { "text: string", "lines: string[200]" })
    local e = world:spawn { Label = { text = "x" } }
    setmetatable({}, { __gc = function() world:close() end })
    local ok, message
    repeat
      ok, message = pcall(world.read, world, e, "Label")
    until not ok
    assert.is_truthy(tostring(message):find("closed") or tostring(message):find("changed"))
  end)

  -- The collector works in every allocation, so that some of the worlds are closed in each.
  local function close_within(prepare, call)
    local pause = helper.set_pause(0)
    for i = 1, 400 do
      local world = ecs.world()
      local e = prepare(world)
      local _ = string.rep("x", i)
      setmetatable({}, { __gc = function() world:close() end })
      local ok, message
      repeat
        ok, message = pcall(call, world, e)
      until not ok
      assert.is_truthy(tostring(message):find "closed")
    end
    helper.set_pause(pause)
  end

  it("may be closed by a finalizer while targets are listed", function()
    close_within(function(world)
      world:relation "Likes"
      local e = world:spawn()
      world:add(e, "Likes", world:spawn())
      return e
    end, function(world, e)
      world:targets(e, "Likes")
    end)
  end)

  it("may be closed by a finalizer while an index is made", function()
    close_within(function(world)
      world:component("Position", { "x: f64" })
    end, function(world)
      local function key(position) return position.x end
      world:index("by_x", { query = "Position", ordered = key })
      world:undeclare "by_x"
    end)
  end)

  it("may be changed by finalizers while it is read", function()
    local world = helper.new_world()
    world:component("Label", { "text: string", "lines: string[50]" })
    local e, churn = nil, true
    local function spawn()
      e = world:spawn { Label = { text = "here" } }
    end
    local function rearm()
      setmetatable({}, { __gc = function()
        world:despawn(e)
        spawn()
        if churn then rearm() end
      end })
    end
    spawn()
    rearm()
    for _ = 1, 3000 do
      local ok, value = pcall(world.read, world, e, "Label")
      if ok then
        assert.are.equal("here", value.text)
      else
        assert.is_truthy(value:find("changed while it was read") or value:find("is dead"))
      end
    end
    churn = false
  end)
end)

describe("opening the module twice in a state", function()
  it("shares what a world is", function()
    local again = reopened()
    local world = again.world()
    assert.are.equal(ecs.world().spawn, world.spawn)
    assert.is_true(ecs.world().check(world))
    world:close()
  end)

  it("shares the rotation of tags", function()
    local first = tag_of(helper.new_world())
    local world = reopened().world()
    assert.are.equal(first % 255 + 1, tag_of(world))
    world:close()
  end)
end)

describe("the collector", function()
  -- The most worlds that are alive at once, of many that are made by `fill` and dropped.
  local function crowd(fill)
    local alive, most = setmetatable({}, { __mode = "v" }), 0
    for i = 1, 60 do
      local world = ecs.world()
      world:component("Position", { "x: f64", "y: f64" })
      fill(world)
      alive[i] = world
      local count = 0
      for _ in pairs(alive) do
        count = count + 1
      end
      most = math.max(most, count)
    end
    return most
  end

  local function at_once(world)
    world:spawn_many(100000, { Position = {} })
  end

  local function bit_by_bit(world)
    for _ = 1, 200 do
      world:spawn_many(500, { Position = {} })
    end
  end

  for _, mode in ipairs { "incremental", "generational" } do
    it("hears what worlds weigh, so that dropped ones are freed in time, " .. mode, function()
      local before = collectgarbage(mode)
      local most = math.max(crowd(at_once), crowd(bit_by_bit))
      collectgarbage(before)
      assert.is_true(most <= 20, most .. " worlds were alive at once")
    end)
  end

  it("is left alone while it is stopped", function()
    collectgarbage()
    collectgarbage("stop")
    local collected = false
    setmetatable({}, { __gc = function() collected = true end })
    local world = ecs.world()
    world:component("Position", { "x: f64", "y: f64" })
    for _ = 1, 20 do
      world:spawn_many(10000, { Position = {} })
    end
    local running, was_collected = collectgarbage("isrunning"), collected
    collectgarbage("restart")
    assert.is_false(was_collected)
    assert.is_false(running)
    world:close()
  end)
end)

describe("a method that is none", function()
  it("is told with the name that is meant", function()
    local world = helper.new_world()
    helper.has_error(function() world:spwan() end,
      "world has no method 'spwan' (did you mean 'spawn'?)")
    world:tag "Enemy"
    local enemies = world:query "Enemy"
    helper.has_error(function() enemies:cuont() end,
      "query has no method 'cuont' (did you mean 'count'?)")
    for _, query in ipairs { enemies, enemies:where(function() return true end) } do
      helper.has_error(function() query() end,
        "a query cannot be called: write 'for view, entity in query:each() do'")
    end
  end)

  it("is nil where nothing is like it", function()
    local world = helper.new_world()
    local long = ("spawn"):rep(100)
    for _, key in ipairs { "nonsense_of_this_kind", "__close", "", 1, 1.5, true, long } do
      assert.is_nil(world[key])
    end
  end)
end)
