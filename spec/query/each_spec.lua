local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error
local new_world = require("spec.support.scenes").things

-- What the for form gives for each row, packed.
local function rows_of(query)
  local rows = {}
  local step, loop = query:each()
  while true do
    local row = table.pack(step(loop))
    if row[1] == nil then return rows end
    for i = 1, row.n do
      if type(row[i]) == "userdata" then row[i] = "view" end
    end
    rows[#rows + 1] = row
  end
end

local function calls_of(query, dt)
  local calls = {}
  query:each(function(...)
    local call = table.pack(...)
    for i = 1, call.n do
      if type(call[i]) == "userdata" then call[i] = "view" end
    end
    calls[#calls + 1] = call
  end, dt)
  return calls
end

describe("for ... in query:each()", function()
  it("gives a view for each term with data, then the entity", function()
    local world = new_world()
    local e = world:spawn { Position = { 1, 2 }, Velocity = { 3, 4 }, Frozen = true }
    local count = 0
    for pos, vel, id, more in world:query "Position, Frozen, Velocity, !Sprite":each() do
      count = count + 1
      assert.are.same({ 1, 2, 3, 4 }, { pos.x, pos.y, vel.x, vel.y })
      assert.are.equal(e, id)
      assert.is_nil(more)
    end
    assert.are.equal(1, count)
  end)

  it("gives the entity alone when no term has data", function()
    local world = new_world()
    local e = world:spawn { Frozen = true }
    for id in world:query "Frozen":each() do assert.are.equal(e, id) end
    assert.are.same({ { e, n = 1 } }, rows_of(world:query "Frozen"))
  end)

  it("gives false for what is absent", function()
    local world = new_world()
    local a = world:spawn { Position = {} }
    local b = world:spawn { Position = {}, Velocity = {} }
    assert.are.same({ { false, "view", a, n = 3 }, { "view", "view", b, n = 3 } },
      rows_of(world:query "Velocity?, Position"))
    local c = world:spawn { Sprite = {} }
    assert.are.same({ { "view", false, a, n = 3 }, { "view", false, b, n = 3 },
      { false, "view", c, n = 3 } }, rows_of(world:query "Position|Sprite"))
    assert.are.same({ { false, "view", c, n = 3 } },
      rows_of(world:query "Velocity.x?, Sprite"))
  end)

  it("gives a single field as a value", function()
    local world = new_world()
    local e = world:spawn { Position = { 1, 2 }, Sprite = { "cat" }, Body = { m = { 7, 8 } } }
    assert.are.same({ { 2, "cat", 8, e, n = 4 } },
      rows_of(world:query "Position.y, Sprite.name, Body.m[2]"))
  end)

  it("gives false for an any value that is nil, which would end the loop", function()
    local world = new_world()
    local a = world:spawn { Bag = {} }
    local b = world:spawn { Bag = { item = "gem" } }
    assert.are.same({ { false, a, n = 2 }, { "gem", b, n = 2 } },
      rows_of(world:query "Bag.item"))
  end)

  it("visits every row of every table once, in order", function()
    local world = new_world()
    local expected = {}
    for i = 1, 30 do
      expected[i] = world:spawn { Position = { x = i }, Velocity = i > 10 or nil,
        Sprite = i > 20 or nil }
    end
    local seen = {}
    for pos, id in world:query "Position":each() do
      seen[#seen + 1] = id
      assert.are.equal(#seen, pos.x)
    end
    assert.are.same(expected, seen)
  end)

  it("passes over tables without rows", function()
    local world = new_world()
    local a = world:spawn { Position = {} }
    world:add(a, "Velocity")
    local count = 0
    for _ in world:query "Position":each() do count = count + 1 end
    assert.are.equal(1, count)
  end)

  it("can be nested, each loop with its own views", function()
    local world = new_world()
    for i = 1, 3 do world:spawn { Position = { x = i } } end
    local query, pairs_seen = world:query "Position", {}
    for a in query:each() do
      for b in query:each() do
        pairs_seen[#pairs_seen + 1] = a.x * 10 + b.x
      end
    end
    assert.are.same({ 11, 12, 13, 21, 22, 23, 31, 32, 33 }, pairs_seen)
  end)

  it("gives nothing more once it has come to its end", function()
    local world = new_world()
    world:spawn { Position = {} }
    local step, loop = world:query "Position":each()
    assert.is_truthy(step(loop))
    assert.is_nil(step(loop))
    assert.is_nil(step(loop))
  end)
end)

describe("query:each(fn, dt)", function()
  it("gives views, dt and the entity", function()
    local world = new_world()
    local e = world:spawn { Position = {}, Velocity = {}, Frozen = true }
    assert.are.same({ { "view", "view", 0.5, e, n = 4 } },
      calls_of(world:query "Position, Velocity, Frozen, !Sprite", 0.5))
    assert.are.same({ { 2.0, e, n = 2 } }, calls_of(world:query "Frozen", 2.0))
  end)

  it("gives nil for what is absent", function()
    local world = new_world()
    local a = world:spawn { Position = {} }
    local b = world:spawn { Velocity = {} }
    assert.are.same({ { "view", nil, 1.0, a, n = 4 }, { nil, "view", 1.0, b, n = 4 } },
      calls_of(world:query "Position|Velocity", 1))
  end)

  it("gives a single field as a value", function()
    local world = new_world()
    local e = world:spawn { Position = { 1, 2 }, Bag = {} }
    assert.are.same({ { 2, nil, 0.0, e, n = 4 } },
      calls_of(world:query "Position.y, Bag.item"))
  end)

  it("gives dt as a float, 0.0 when there is none", function()
    local world = new_world()
    world:spawn { Position = {} }
    local query = world:query "Position"
    assert.are.equal("float", math.type(calls_of(query, 1)[1][2]))
    assert.are.equal("0.0", tostring(calls_of(query)[1][2]))
  end)

  it("calls a function that takes fewer parameters, or any number", function()
    local world = new_world()
    world:spawn { Position = { 3, 4 } }
    local query, seen = world:query "Position", {}
    query:each(function() seen[#seen + 1] = 0 end)
    query:each(function(pos) seen[#seen + 1] = pos.x end)
    query:each(function(_, dt, _, more) seen[#seen + 1] = more == nil and dt end, 5)
    query:each(function(...) seen[#seen + 1] = select("#", ...) end)
    query:each(print and assert and type)
    assert.are.same({ 0, 3, 5.0, 3 }, seen)
  end)

  it("names what is no function, and no number", function()
    local query = new_world():query "Position"
    for _, value in ipairs { false, 1, "print", {}, io.stdout } do
      has_error(function() query:each(value) end, "bad argument #1 to 'each'", "function")
    end
    has_error(function() query:each(nil) end, "bad argument #1 to 'each'")
    for _, value in ipairs { false, "1", {} } do
      has_error(function() query:each(print, value) end, "bad argument #2 to 'each'", "number")
    end
  end)

  it("passes errors on and stays usable", function()
    local world = new_world()
    world:spawn { Position = {} }
    local query = world:query "Position"
    local problem = {}
    local ok, message = pcall(query.each, query, function() error(problem) end)
    assert.is_false(ok)
    assert.are.equal(problem, message)
    world:update(1)
    assert.are.equal(1, #calls_of(query))
  end)

  it("has callbacks that cannot yield", function()
    local world = new_world()
    world:component("Lit", { "on: bool", toggle = true })
    local b = world:spawn { Position = {}, Lit = {} }
    for _, fn in ipairs { function() coroutine.yield() end,
      function(p) if p.x == 0 then world:enable(b, "Lit") coroutine.yield() end end } do
      local co = coroutine.create(function() world:query "Position":each(fn) end)
      local ok, message = coroutine.resume(co)
      assert.is_truthy(not ok and message:find("callbacks cannot yield", 1, true), message)
    end
  end)
end)

describe("a view", function()
  it("reads and writes every type", function()
    local world = new_world()
    local other = world:spawn()
    local e = world:spawn { All = {} }
    local values = {
      a = 0.5, b = 0.1, c = -128, d = -32768, e = -2147483648, f = math.mininteger, g = 255,
      h = 65535, i = 4294967295, j = true, k = other, l = "text\0with zero",
      m = { 1 }, n = "blue", o = -2,
    }
    for all in world:query "All":each() do
      for name, value in pairs(values) do all[name] = value end
      for name, value in pairs(values) do assert.are.equal(value, all[name]) end
    end
    assert.are.same(values, world:read(e, "All"))
  end)

  it("takes a float with an integer value for an integer", function()
    local world = new_world()
    world:spawn { All = {} }
    for all in world:query "All":each() do
      all.e = 7.0
      assert.are.equal("integer", math.type(all.e))
      all.a = 3
      assert.are.equal("float", math.type(all.a))
    end
  end)

  it("refuses what does not fit, naming component, field and value", function()
    local world = new_world()
    local dead = world:spawn()
    world:despawn(dead)
    world:spawn { All = { e = 5, l = "kept" } }
    for all in world:query "All":each() do
      local wrong = {
        { "a", "1" }, { "a", true }, { "a", {} }, { "b", print }, { "c", 128 }, { "c", -129 },
        { "d", 40000 }, { "e", 1.5 }, { "e", 2 ^ 31 }, { "e", 0 / 0 }, { "e", "1" },
        { "f", 2 ^ 63 }, { "g", -1 }, { "g", 256 }, { "h", 65536 }, { "i", 2 ^ 32 },
        { "j", 1 }, { "j", "true" }, { "k", dead }, { "k", "x" }, { "k", 1.5 }, { "l", 1 },
        { "l", {} }, { "n", "pink" }, { "n", 1 }, { "o", 2 ^ 63 }, { "o", 0.5 },
      }
      for _, case in ipairs(wrong) do
        has_error(function() all[case[1]] = case[2] end, "All." .. case[1])
      end
      for _, name in ipairs { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "n",
        "o" } do
        has_error(function() all[name] = nil end, "All." .. name)
      end
      assert.are.equal(5, all.e)
      assert.are.equal("kept", all.l)
    end
  end)

  it("names an unknown field with the nearest known one", function()
    local world = new_world()
    world:spawn { Sprite = {}, Position = {} }
    for sprite, pos in world:query "Sprite, Position":each() do
      has_error(function() return sprite.nmae end, "'Sprite' has no field 'nmae'",
        "did you mean 'name'")
      has_error(function() sprite.nmae = "x" end, "'nmae'", "did you mean 'name'")
      for _, key in ipairs { 1, 1.5, true, {}, print } do
        has_error(function() return pos[key] end, "'Position' has no field")
        has_error(function() pos[key] = 1 end, "'Position' has no field")
      end
      has_error(function() return pos[nil] end, "'Position' has no field")
    end
  end)

  it("reads a field whose name is not Lua's own copy, or long", function()
    local world = new_world()
    local long = ("n"):rep(60)
    world:component("Long", { long .. ": f32 = 4" })
    world:spawn { Long = {} }
    for view in world:query "Long":each() do
      assert.are.equal(4, view[("n"):rep(60)])
      view[long] = 5
      assert.are.equal(5, view[("n"):rep(30) .. ("n"):rep(30)])
    end
  end)

  it("shows its loop's current row", function()
    local world = new_world()
    for i = 1, 3 do world:spawn { Position = { x = i } } end
    local kept
    local seen = {}
    for pos in world:query "Position":each() do
      kept = kept or pos
      seen[#seen + 1] = kept.x
    end
    assert.are.same({ 1, 2, 3 }, seen)
  end)

  it("is stale past its loop", function()
    local world = new_world()
    world:spawn { Position = {}, Body = {} }
    local query = world:query "Position, Body"
    local pos, array, part
    for p, b in query:each() do pos, array, part = p, b.m, b.offset end
    local function check()
      has_error(function() return pos.x end, "stale view")
      has_error(function() pos.x = 1 end, "stale view")
      has_error(function() return array[1] end, "stale view")
      has_error(function() array[1] = 1 end, "stale view")
      has_error(function() return #array end, "stale view")
      has_error(function() return part.x end, "stale view")
      has_error(function() return pairs(pos) end, "stale view")
      assert.are.equal("view (stale)", tostring(pos))
      assert.are.equal("view (stale)", tostring(array))
    end
    check()
    for _ in query:each() do check() end
    query:each(function(p, b)
      check()
      pos, array, part = p, b.m, b.offset
    end)
    check()
  end)

  it("of a closed world says so", function()
    local world = new_world()
    world:spawn { Position = {} }
    local pos
    for p in world:query "Position":each() do pos = p end
    world:close()
    has_error(function() return pos.x end, "closed")
    has_error(function() pos.x = 1 end, "closed")
  end)

  it("kept to a row without its component says that it is absent", function()
    local world = new_world()
    world:spawn { Position = {}, Sprite = { "cat" } }
    world:spawn { Position = {}, Velocity = {} }
    local kept
    for _, sprite in world:query "Position, Sprite?":each() do
      if sprite then
        kept = sprite
      else
        has_error(function() return kept.name end, "has no 'Sprite'")
        has_error(function() kept.name = "dog" end, "has no 'Sprite'")
      end
    end
    assert.is_truthy(kept)
  end)

  it("of a term with :in cannot be written (C43)", function()
    local world = new_world()
    world:spawn { Position = { 1, 2 }, Velocity = {}, Body = {}, Sprite = {} }
    for pos, vel, body in world:query "Position:in, Velocity, Body:in":each() do
      vel.x = pos.x
      assert.are.equal(1, vel.x)
      has_error(function() pos.x = 1 end, "'Position' is read-only", "Position:in, Velocity")
      has_error(function() body.m[1] = 1 end, "'Body' is read-only")
      has_error(function() body.m = { 1 } end, "'Body' is read-only")
      has_error(function() body.offset.x = 1 end, "'Body' is read-only")
    end
  end)

  it("reads an entity field as null once its target is dead", function()
    local world = new_world()
    local target = world:spawn()
    world:spawn { All = { k = target } }
    for all in world:query "All":each() do assert.are.equal(target, all.k) end
    world:despawn(target)
    for all in world:query "All":each() do
      assert.are.equal(0, all.k)
      all.k = 0
    end
    assert.are.same({ 0 }, { rows_of(world:query "All.k")[1][1] })
  end)

  it("lets go of the any value that it replaces", function()
    local world = new_world()
    local weak = setmetatable({}, { __mode = "k" })
    world:spawn { Bag = {} }
    for bag in world:query "Bag":each() do
      for _ = 1, 3 do
        local value = {}
        weak[value] = true
        bag.item = value
      end
      bag.item = nil
    end
    collectgarbage()
    assert.is_nil(next(weak))
  end)

  it("has pairs in the order of the fields", function()
    local world = new_world()
    world:spawn { Position = { 1, 2 }, Body = { m = { 1, 2, 3 } }, Bag = {} }
    for pos, body, bag in world:query "Position, Body, Bag":each() do
      local seen = {}
      for name, value in pairs(pos) do seen[#seen + 1] = name .. value end
      assert.are.same({ "x1.0", "y2.0" }, seen)
      seen = {}
      for name in pairs(body) do seen[#seen + 1] = name end
      assert.are.same({ "m", "offset", "parts" }, seen)
      seen = {}
      for i, value in pairs(body.m) do seen[i] = value end
      assert.are.same({ 1, 2, 3 }, seen)
      seen = {}
      for i, value in ipairs(body.m) do seen[i] = value end
      assert.are.same({ 1, 2, 3 }, seen)
      assert.are.equal("name", (pairs(bag)(bag)))   -- behind an item that is nil
    end
  end)

  it("prints what it shows", function()
    local world = new_world()
    world:spawn { Position = { 1, 2 }, Sprite = { "cat" }, Body = { offset = { 3, 4 } } }
    for pos, sprite, body in world:query "Position, Sprite, Body":each() do
      assert.are.equal("Position { x = 1.0, y = 2.0 }", tostring(pos))
      assert.are.equal("Sprite { name = 'cat' }", tostring(sprite))
      assert.are.equal("Position { x = 3.0, y = 4.0 }", tostring(body.offset))
      assert.are.equal("m { 0.0, 0.0, 0.0 }", tostring(body.m))
      assert.is_truthy(tostring(body):find("offset = { x = 3.0, y = 4.0 }, parts = { {", 1, true))
    end
  end)

  it("has no length unless it is an array", function()
    local world = new_world()
    world:spawn { Body = {} }
    for body in world:query "Body":each() do
      has_error(function() return #body end, "no length")
      assert.are.equal(3, #body.m)
      assert.are.equal(2, #body.parts)
    end
  end)
end)

describe("world:res", function()
  it("gives a view of the one value", function()
    local world = helper.new_world()
    world:resource("Gravity", { "x: f32", "y: f32 = -9.5", "m: i32[2]" })
    local gravity = world:res "Gravity"
    assert.are.equal(-9.5, gravity.y)
    gravity.y = 2
    gravity.m[2] = 5
    assert.are.equal(2, world:res("Gravity").y)
    assert.are.equal(5, gravity.m[2])
    assert.are.equal("Gravity { x = 0.0, y = 2.0, m = { 0, 5 } }", tostring(gravity))
    has_error(function() return gravity.z end, "'Gravity' has no field 'z'")
  end)

  it("stays valid as the world changes", function()
    local world = helper.new_world()
    world:resource("Gravity", { "y: f32 = 1" })
    local gravity = world:res "Gravity"
    for i = 1, 50 do
      world:component("C" .. i, { "x: f32" })
      world:spawn { ["C" .. i] = {} }
      world:update(1)
    end
    assert.are.equal(1, gravity.y)
  end)

  it("holds any values, strings and entities", function()
    local world = helper.new_world()
    world:resource("Game", { "player: entity", "title: string", "data: any" })
    local game = world:res "Game"
    local player = world:spawn()
    game.player, game.title, game.data = player, "x", { 1 }
    collectgarbage()
    assert.are.equal(player, game.player)
    assert.are.equal("x", game.title)
    assert.are.same({ 1 }, game.data)
    world:despawn(player)
    assert.are.equal(0, game.player)
  end)

  it("refuses what is no resource", function()
    local world = new_world()
    has_error(function() world:res "Position" end, "'Position' is not a resource")
    has_error(function() world:res "Positon" end, "'Positon'", "did you mean")
    has_error(function() world:res(nil) end, "bad argument #1 to 'res'")
    has_error(function() world:res "Position.x" end, "Position.x")
  end)

  it("is stale once its component is gone, or the world closed", function()
    local world = helper.new_world()
    world:resource("Gravity", { "y: f32 = 1" })
    local gravity = world:res "Gravity"
    world:undeclare "Gravity"
    has_error(function() return gravity.y end, "stale view")
    world:resource("Gravity", { "y: f32 = 2" })
    has_error(function() return gravity.y end, "stale view")
    gravity = world:res "Gravity"
    assert.are.equal(2, gravity.y)
    world:close()
    has_error(function() return gravity.y end, "closed")
    has_error(function() gravity.y = 1 end, "closed")
    assert.are.equal("view (stale)", tostring(gravity))
  end)
end)
