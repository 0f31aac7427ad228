local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error
local new_world = require("spec.support.scenes").things

-- Everything that opens a scope around a body.
local scopes = {
  defer = function(world, body)
    world:defer()
    body()
    world:commit()
  end,
  system = function(world, body)
    world:system("scope", { run = body })
    world:run("scope", 0)
    world:remove_system "scope"
  end,
  ["each(fn)"] = function(world, body)
    local done = false
    world:query "Position":each(function()
      if not done then body() end
      done = true
    end)
  end,
  map = function(world, body)
    local done = false
    world:query "Position.x":map(function()
      if not done then body() end
      done = true
    end)
  end,
  each = function(world, body)
    for _ in world:query "Position":each() do -- luacheck: ignore 512
      body()
      break
    end
  end,
  chunks = function(world, body)
    for _ in world:query "Position":chunks() do -- luacheck: ignore 512
      body()
      break
    end
  end,
}

for name, scope in pairs(scopes) do
  describe("staging in " .. name, function()
    it("keeps structural changes until the end, and reads see the world without them (C50)",
      function()
        local world = new_world()
        local e = world:spawn { Position = { 1, 2 }, Frozen = true }
        local f = world:spawn { Position = {} }
        local spawned
        scope(world, function()
          spawned = world:spawn { Position = { 5 }, Velocity = {} }
          world:add(e, "Velocity")
          world:remove(e, "Frozen")
          world:set(e, "Bag", { name = "bag" })
          world:despawn(f)
          assert.is_true(world:alive(spawned))
          assert.is_false(world:has(spawned, "Position"))
          assert.is_false(world:has(e, "Velocity"))
          assert.is_true(world:has(e, "Frozen"))
          assert.is_nil(world:get(e, "Bag"))
          assert.is_true(world:alive(f))
          assert.are.equal(2, world:count "Position")
        end)
        assert.are.same({ 5, 0 }, { world:get(spawned, "Position") })
        assert.is_true(world:has(e, "Velocity"))
        assert.is_false(world:has(e, "Frozen"))
        assert.are.equal("bag", world:get(e, "Bag.name"))
        assert.is_false(world:alive(f))
      end)

    it("writes fields that exist at once", function()
      local world = new_world()
      local e = world:spawn { Position = { 1, 2 } }
      scope(world, function()
        world:set(e, "Position", 3)
        assert.are.same({ 3, 2 }, { world:get(e, "Position") })
      end)
      assert.are.same({ 3, 2 }, { world:get(e, "Position") })
    end)

    it("stages sets of what has a staged command", function()
      local world = new_world()
      local e = world:spawn { Position = { 1, 2 } }
      scope(world, function()
        world:remove(e, "Position")
        world:set(e, "Position", { x = 3 })
        assert.are.same({ 1, 2 }, { world:get(e, "Position") })
      end)
      assert.are.same({ 3, 0 }, { world:get(e, "Position") })
    end)

    it("writes at once what nothing waits for, however much else waits", function()
      local world = new_world()
      for i = 1, 100 do world:component("C" .. i, { "v: i32" }) end
      local e = world:spawn { Position = { 1, 2 } }
      for i = 1, 100, 2 do world:set(e, "C" .. i .. ".v", -i) end
      scope(world, function()
        for i = 1, 100 do (i % 3 == 0 and world.remove or world.add)(world, e, "C" .. i) end
        world:set(e, "Position.x", 7)
        for i = 1, 100 do world:set(e, "C" .. i .. ".v", i) end
        assert.equal(7, world:get(e, "Position.x"))
        for i = 1, 100, 2 do assert.equal(-i, world:get(e, "C" .. i .. ".v")) end
      end)
      for i = 1, 100 do assert.equal(i, world:get(e, "C" .. i .. ".v")) end
    end)

    it("applies in order, the last word counting (C86)", function()
      local world = new_world()
      local e = world:spawn { Position = {} }
      scope(world, function()
        world:add(e, "Velocity")
        world:set(e, "Velocity", 1, 2)
        world:set(e, "Velocity", 3)
        world:add(e, "Frozen")
        world:remove(e, "Frozen")
        world:set(e, "Bag", { item = 1 })
        world:remove(e, "Bag")
      end)
      assert.are.same({ 3, 2 }, { world:get(e, "Velocity") })
      assert.is_false(world:has(e, "Frozen"))
      assert.is_false(world:has(e, "Bag"))
    end)

    it("gives what is spawned its values, whenever something else comes", function()
      local seen = {}
      for behind = 0, 41 do
        local world = new_world()
        local e, ids, sweeps = world:spawn { Position = {} }, {}, world:spawn { Bag = {} }
        world:component("Label", { "text: string" })
        local spawn, long = world:spawner "Velocity.y, Label", ("long text "):rep(9000)
        scope(world, function()
          for i = 1, 20 do
            if i == behind then world:add(e, "Position") end
            ids[i] = world:spawn { Position = { i, -i } }
          end
          for i = 1, 20 do
            if i == behind - 20 then world:add(e, "Position") end
            if i == 10 and behind % 3 > 0 then world:set(sweeps, "Bag.name", long) end
            ids[-i] = spawn(i, "text " .. i)
          end
          assert.is_false(world:has(ids[1], "Position"))
        end)
        for i = 1, 20 do
          assert.are.same({ i, -i }, { world:get(ids[i], "Position") })
          assert.are.same({ 0, i, "text " .. i }, { world:get(ids[-i], "Velocity.x"),
            world:get(ids[-i], "Velocity.y"), world:get(ids[-i], "Label.text") })
        end
        world:set(sweeps, "Bag.name", long)
        seen[world:digest()] = true
      end
      assert.is_nil(next(seen, (next(seen))))
    end)

    it("makes spawned ids usable in later commands at once", function()
      local world = new_world()
      world:spawn { Position = {} }
      local a, b, gone
      scope(world, function()
        a = world:spawn()
        world:set(a, "Position", 7, 8)
        b = world:spawn { Velocity = {} }
        world:remove(b, "Velocity")
        world:add(b, "Frozen")
        gone = world:spawn { Position = {} }
        world:despawn(gone)
      end)
      assert.are.same({ 7, 8 }, { world:get(a, "Position") })
      assert.is_true(world:has(b, "Frozen"))
      assert.is_false(world:has(b, "Velocity"))
      assert.is_false(world:alive(gone))
    end)

    it("gives each of many that are spawned its own components and values (C58)", function()
      local world, other, made = new_world(), new_world(), {}
      local makes = {
        { Position = { 1, 2 } },
        { Velocity = { 3, 4 } },
        { Position = { 5, 6 }, Velocity = { 7, 8 } },
        { Frozen = true },
        {},
      }
      local function make(to, i)
        local e = to:spawn(makes[i // 3 % 4 + i % 2 + 1])
        if i % 7 == 1 then to:add(e, "Frozen") end
        if i % 11 == 2 then to:remove(e, "Position") end
        if i % 17 == 4 then to:set(e, "Velocity", i, i) end
        if i % 13 == 3 then to:despawn(e) end
        return e
      end
      world:spawn { Position = {} }
      scope(world, function()
        for i = 1, 200 do made[i] = make(world, i) end
      end)
      for i = 1, 200 do
        local e = make(other, i)
        local alive = other:alive(e)
        assert.equal(alive, world:alive(made[i]))
        for _, what in ipairs(alive and { "Position", "Velocity", "Frozen" } or {}) do
          assert.equal(other:has(e, what), world:has(made[i], what))
          assert.same({ other:get(e, what) }, { world:get(made[i], what) })
        end
      end
    end)

    it("does nothing for an entity that is dead when its command applies (C53)", function()
      local world = new_world()
      local e = world:spawn { Position = {} }
      scope(world, function()
        world:despawn(e)
        world:despawn(e)
        world:add(e, "Frozen")
        world:set(e, "Velocity", 1)
      end)
      assert.is_false(world:alive(e))
      local f = world:spawn()
      assert.are_not.equal(e, f)
      assert.is_false(world:has(f, "Frozen"))
    end)
  end)
end

describe("scopes", function()
  it("nest: the outermost one applies", function()
    local world = new_world()
    local e = world:spawn { Position = {} }
    world:defer()
    world:defer()
    world:add(e, "Frozen")
    world:commit()
    assert.is_false(world:has(e, "Frozen"))
    world:query "Position":each(function() world:add(e, "Velocity") end)
    for _ in world:query "Position":each() do world:set(e, "Bag", { name = "x" }) end
    assert.is_false(world:has(e, "Velocity"))
    assert.is_false(world:has(e, "Bag"))
    world:commit()
    assert.is_true(world:has(e, "Frozen"))
    assert.is_true(world:has(e, "Velocity"))
    assert.is_true(world:has(e, "Bag"))
  end)

  it("that are cancelled drop their commands, and those within", function()
    local world = new_world()
    local e = world:spawn { Position = {} }
    world:defer()
    world:add(e, "Frozen")
    world:defer()
    world:add(e, "Velocity")
    local a = world:spawn()
    world:commit()
    world:cancel()
    assert.is_false(world:has(e, "Frozen"))
    assert.is_false(world:has(e, "Velocity"))
    assert.is_false(world:alive(a))
  end)

  it("that are cancelled within another keep the other's", function()
    local world = new_world()
    local e = world:spawn { Position = {} }
    world:defer()
    world:add(e, "Frozen")
    world:defer()
    world:add(e, "Velocity")
    world:cancel()
    world:commit()
    assert.is_true(world:has(e, "Frozen"))
    assert.is_false(world:has(e, "Velocity"))
  end)

  it("of a form that fails drop their own commands only", function()
    local world = new_world()
    local e = world:spawn { Position = {} }
    world:defer()
    world:add(e, "Frozen")
    local spawned
    has_error(function()
      world:query "Position":each(function()
        spawned = world:spawn()
        world:add(e, "Velocity")
        error "stop"
      end)
    end, "stop")
    assert.is_false(world:alive(spawned))
    world:commit()
    assert.is_true(world:has(e, "Frozen"))
    assert.is_false(world:has(e, "Velocity"))
  end)

  it("need a beginning", function()
    local world = new_world()
    has_error(function() world:commit() end, "without a defer")
    has_error(function() world:cancel() end, "without a defer")
    world:system("s", { run = function() world:commit() end })
    has_error(function() world:update(0) end, "without a defer")
    world:system("s", { run = function() world:defer() world:commit() end })
    world:update(0)
  end)

  it("left open by a system end with it", function()
    local world = new_world()
    local e
    world:system("s", { run = function()
      world:defer()
      e = world:spawn { Position = {} }
    end })
    world:update(0)
    assert.is_true(world:has(e, "Position"))
    world:system("s", { run = function()
      world:defer()
      e = world:spawn { Position = {} }
      error "stop"
    end })
    has_error(function() world:update(0) end, "stop")
    assert.is_false(world:alive(e))
  end)

  it("left open by a condition or an error handler end with it", function()
    local world = new_world()
    local fails, handled = false, 0
    local function leave()
      world:defer()
      world:defer()
      world:spawn { Position = {} }
    end
    world:on_error(function()
      handled = handled + 1
      leave()
    end)
    local counts = {}
    world:system("s", {
      when = function()
        leave()
        if fails then error "stop" end
        return true
      end,
      run = function() counts[#counts + 1] = world:count "Position" end,
    })
    world:update(0)
    fails = true
    world:update(0)
    assert.are.same({ { 1 }, 1, 2 }, { counts, handled, world:count "Position" })
    world:update(0)
    helper.check(world)
  end)

  it("apply when their system ends, before the next", function()
    local world = new_world()
    local seen = {}
    world:system("a", { run = function() world:spawn { Position = {} } end })
    world:system("b", { run = function() seen[#seen + 1] = world:count "Position" end })
    world:update(0)
    world:update(0)
    assert.are.same({ 1, 2 }, seen)
  end)

  it("hold strings and any values that only staged commands name", function()
    local world = new_world()
    local e = world:spawn()
    world:defer()
    world:set(e, "Bag", { item = { 1 }, name = "staged" })
    for i = 1, 2000 do world:set(world:spawn(), "Bag", { name = "text " .. i }) end
    collectgarbage()
    world:commit()
    assert.are.same({ 1 }, world:get(e, "Bag.item"))
    assert.are.equal("staged", world:get(e, "Bag.name"))
  end)

  it("despawn in the order of their commands, whatever is tied elsewhere (C38)", function()
    local function rows_of(ties)
      local world = new_world()
      world:relation "Likes"
      local a, b = world:spawn { Bag = {} }, world:spawn { Bag = {} }
      world:spawn_many(2, { Bag = {} })
      local x = world:spawn()
      if ties then
        world:add(x, "Likes", x)
      end
      world:defer()
      world:add(a, "Frozen")
      world:despawn(b)
      world:despawn(a)
      world:commit()
      local rows = world:query "Bag":ids()
      rows[#rows + 1], rows[#rows + 2] = world:spawn(), world:spawn()
      for at, id in ipairs(rows) do
        rows[at] = id & 0xFFFFFFF
      end
      return rows
    end
    assert.are.same({ 65538, 65539, 65536, 65537 }, rows_of(false))
    assert.are.same({ 65538, 65539, 65536, 65537 }, rows_of(true))
  end)

  it("that are dropped let go of any values", function()
    local world = new_world()
    local weak = setmetatable({}, { __mode = "k" })
    local e = world:spawn()
    local function value()
      local new = {}
      weak[new] = true
      return new
    end
    world:defer()
    world:set(e, "Bag", { item = value() })
    world:set(e, "Bag", { item = value() })
    world:spawn { Bag = { item = value() } }
    world:cancel()
    collectgarbage()
    assert.is_nil(next(weak))
  end)

  it("keep what is done to all that a query finds as for each, whatever else comes", function()
    local behind = {
      nothing = function() end,
      ["the same for another one"] = function(world, ids) world:add(ids[9], "Frozen") end,
      ["the same for one of them"] = function(world, ids) world:add(ids[2], "Frozen") end,
      ["something else"] = function(world, ids) world:remove(ids[4], "Frozen") end,
      ["a value"] = function(world, ids) world:set(ids[3], "Bag", { name = "b" }) end,
      ["a spawn"] = function(world) world:spawn { Frozen = true } end,
      ["a despawn"] = function(world, ids) world:despawn(ids[5]) end,
      ["a scope that is cancelled"] = function(world, ids)
        world:defer()
        world:query "Velocity, !Position":add "Frozen"
        world:despawn(ids[7])
        world:cancel()
      end,
    }
    for name, more in pairs(behind) do
      for _, text in ipairs { "Position, Velocity?", "Velocity" } do
        local digests = {}
        for _, at_once in ipairs { true, false } do
          local world, ids = new_world(), {}
          for i = 1, 12 do
            ids[i] = world:spawn { Position = i % 3 ~= 0 and { i, 0 } or nil,
              Velocity = i % 2 == 0 and {} or nil, Frozen = i % 5 == 0 or nil }
          end
          local query = world:query(text)
          world:defer()
          if at_once then
            query:add "Frozen"
          else
            for _, id in ipairs(query:ids()) do world:add(id, "Frozen") end
          end
          more(world, ids)
          world:commit()
          local rows = world:query "Frozen":ids()
          for at, id in ipairs(rows) do
            rows[at] = id & 0xFFFFFFF
          end
          digests[#digests + 1] = world:digest() .. " " .. table.concat(rows, " ")
        end
        assert.are.equal(digests[2], digests[1], name)
      end
    end
  end)
end)
