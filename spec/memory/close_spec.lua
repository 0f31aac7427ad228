-- Reliability line 7: close, __close and __gc in any order, any number of times. C6, C68.

local ecs = require "ecs"
local native = require "ecs.native"
local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

-- Finalizers cannot be called by a script; the debug library gets at them.
local function metamethod(object, name)
  return debug.getmetatable(object)[name]
end

local ways = {
  close = function(world) world:close() end,
  __close = function(world)
    local _ <close> = world
  end,
  __gc = function(world) metamethod(world, "__gc")(world) end,
}

local function world_of_all()
  local world = ecs.world()
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Bag", { "value: any", "list: f32[2]", "at: Position" })
  world:resource "Bag"
  world:system("move", { query = "Position", each = function() end })
  world:on_error(function() end)
  world:spawn_many(10, { Position = true, Bag = { { 1 } } })
  world:name(world:spawn(), "player")
  return world
end

-- What a script may hold of a world, with what each says once it is closed.
local function objects_of(world)
  local objects = { query = world:query "Position, Bag", resource = world:res "Bag" }
  objects.where = objects.query:where(function() return true end)
  objects.nested, objects.array = objects.resource.at, objects.resource.list
  for chunk in objects.query:chunks() do
    objects.chunk, objects.column = chunk, chunk:column "Position.x"
    objects.entities = chunk.entities
  end
  objects.next_row, objects.loop, objects.first = objects.query:each()
  objects.view = objects.next_row(objects.loop, objects.first)
  objects.components, objects.state, objects.name = world:components(objects.entities and
    world:lookup "player")
  return objects
end

local function check_closed(world, objects)
  assert.are.equal("ecs.world (closed)", tostring(world))
  for _, name in ipairs(native.exports.world) do
    if name ~= "close" then
      has_error(function() world[name](world, 1, "x", 1) end, "the world is closed")
    end
  end
  for _, name in ipairs(native.exports.query) do
    has_error(function() objects.query[name](objects.query, print) end, "the world is closed")
  end
  for name, object in pairs(objects) do
    if name == "query" or name == "where" then
      assert.matches("closed", tostring(object))
    elseif type(object) == "userdata" then
      pcall(tostring, object)
    end
  end
  for _, name in ipairs { "view", "resource", "nested" } do
    has_error(function() return objects[name].x end, "closed")
    has_error(function() objects[name].x = 1 end, "closed")
  end
  has_error(function() return objects.array[1] end, "closed")
  has_error(function() return objects.chunk.n end, "stale chunk")
  has_error(function() return objects.column[1] end, "stale chunk")
  has_error(function() return objects.entities[1] end, "stale chunk")
  has_error(function() return objects.next_row(objects.loop, nil) end, "closed")
end

-- All sequences of one to three ways.
local function sequences()
  local list = {}
  local function extend(sequence)
    if #sequence > 0 then list[#list + 1] = sequence end
    if #sequence == 3 then return end
    for name in pairs(ways) do
      local longer = table.move(sequence, 1, #sequence, 1, {})
      longer[#longer + 1] = name
      extend(longer)
    end
  end
  extend {}
  return list
end

-- Where a world may be when it is closed.
local places = {
  ["at rest"] = function(world, close) close(world) end,
  ["with a loop open"] = function(world, close)
    local step, state, first = world:query("Position"):each()
    step(state, first)
    world:spawn { Bag = { {} } }
    close(world)
    has_error(function() step(state, nil) end, "closed")
  end,
  ["in a coroutine that waits in a loop"] = function(world, close)
    local co = coroutine.create(function()
      for position in world:query("Position"):each() do
        coroutine.yield()
        position.x = 1
      end
    end)
    assert(coroutine.resume(co))
    close(world)
    local ok, message = coroutine.resume(co)
    assert(not ok and message:find "closed", message)
  end,
}

-- Places where only __close closes: a world in the middle of something. (Here Lua calls no __gc:
-- the world is in use.)
local busy_places = {
  ["in a defer"] = function(world, close)
    world:defer()
    world:spawn { Bag = { {} } }
    close(world)
  end,
  ["in a system"] = function(world, close)
    world:system("closer", { run = function(w)
      w:spawn { Position = true }
      close(w)
      has_error(function() w:spawn() end, "closed")
    end })
    pcall(world.update, world, 0.1)
  end,
  ["in a function form"] = function(world, close)
    local ok, message = pcall(function()
      world:query("Position"):each(function() close(world) end)
    end)
    assert(ok or message:find "closed", message)
  end,
  ["in an error handler"] = function(world, close)
    world:system("bad", { run = function() error "on purpose" end })
    world:on_error(function() close(world) end)
    pcall(world.update, world, 0.1)
  end,
  ["in a condition"] = function(world, close)
    world:system("asked", { run = function() end, when = function() close(world) end })
    pcall(world.update, world, 0.1)
  end,
}

describe("C6: a world", function()
  for place, enter in pairs(places) do
    it(("is closed %s, by any ways in any order"):format(place), function()
      for _, sequence in ipairs(sequences()) do
        local world = world_of_all()
        local objects = objects_of(world)
        enter(world, ways[sequence[1]])
        for i = 2, #sequence do ways[sequence[i]](world) end
        check_closed(world, objects)
      end
    end)
  end

  for place, enter in pairs(busy_places) do
    it(("is not closed by close %s, and by __close it is"):format(place), function()
      local open = world_of_all()
      local refused
      enter(open, function(world)
        refused = refused or select(2, pcall(world.close, world))
      end)
      assert.is_truthy(refused:find "close is not possible")
      while pcall(open.commit, open) do end
      helper.check(open)
      open:close()
      for other in pairs(ways) do
        local world = world_of_all()
        local objects = objects_of(world)
        enter(world, ways.__close)
        ways[other](world)
        check_closed(world, objects)
      end
    end)
  end

  it("may be closed before or after the finalizers of its objects", function()
    for _, first in ipairs { "world", "objects" } do
      local world = world_of_all()
      local objects = objects_of(world)
      if first == "world" then world:close() end
      for _, object in pairs(objects) do
        local meta = type(object) == "userdata" and debug.getmetatable(object)
        for _, name in ipairs { "__close", "__gc", "__gc", "__close" } do
          if meta and meta[name] then meta[name](object) end
        end
      end
      if first == "objects" then
        helper.check(world)
        world:spawn { Position = true }
        helper.check(world)
        world:close()
      end
    end
  end)

  it("leaves its queries without effect when it is closed in their finalizers", function()
    for _ = 1, 20 do
      local world = world_of_all()
      local holder = setmetatable({ query = world:query "Position" }, {
        __gc = function(self)
          world:close()
          pcall(self.query.count, self.query)
        end,
      })
      assert(holder)
      holder = nil -- luacheck: ignore
      collectgarbage()
      assert.are.equal("ecs.world (closed)", tostring(world))
    end
  end)

  it("gives nothing away by its metatable, nor do its objects", function()
    local world = world_of_all()
    local objects = objects_of(world)
    objects.world = world
    for name, object in pairs(objects) do
      if type(object) == "userdata" then
        assert.is_false(getmetatable(object), name)
        has_error(function() setmetatable(object, {}) end)
      end
    end
    for _, name in ipairs { "__gc", "__close", "__index", "__metatable", "__name" } do
      assert.is_nil(world[name])
      assert.is_nil(objects.query[name])
    end
    world:close()
  end)

  it("can be made, filled and closed again and again", function()
    collectgarbage()
    local before = collectgarbage "count"
    for _ = 1, 200 do world_of_all():close() end
    collectgarbage()    -- what finalizers let go of goes with the next collection
    collectgarbage()
    assert.is_true(collectgarbage "count" - before < 20)
  end)
end)
