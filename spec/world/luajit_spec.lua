-- What is different in LuaJIT, and what is there for it in every Lua.

local ecs = require "ecs"
local math = math   -- globals of specs are behind a metatable
local helper = require "spec.support.ecs_helper"

local new_world, has_error = helper.new_world, helper.has_error
local is_luajit = rawget(_G, "jit") ~= nil

local function scene()
  local world = new_world()
  world:component("Place", { "x: i32" })
  world:tag "Seen"
  for i = 1, 5 do
    world:spawn { Place = { x = i } }
  end
  return world, world:query "Place", world:query "Seen"
end

-- Takes the first row of a loop, does something to its entity, and leaves the loop as `break` does
-- in LuaJIT: nothing is closed.
local function leave(query, fn)
  local step, state, control = query:each()
  local _, entity = step(state, control)
  fn(entity)
end

if is_luajit then
  describe("a loop that is left early", function()
    local function see(world)
      return function(entity) world:add(entity, "Seen") end
    end

    for name, ends in pairs {
      commit = function(world) world:commit() end,
      update = function(world) world:update(0) end,
      run = function(world) world:run "idle" end,
      save = function(world) world:save() end,
      snapshot = function(world) world:snapshot() end,
    } do
      it("is open until " .. name .. " is called", function()
        local world, query, seen = scene()
        world:system("idle", { run = function() end })
        leave(query, see(world))
        collectgarbage()
        collectgarbage()
        assert.equal(0, seen:count())
        ends(world)
        assert.equal(1, seen:count())
      end)
    end

    it("is dropped with the content by load and restore", function()
      local world, query = scene()
      local bytes = world:save()
      leave(query, function(entity) world:despawn(entity) end)
      world:load(bytes)
      assert.equal(5, query:count())
      local snapshot = world:snapshot()
      leave(query, function(entity) world:despawn(entity) end)
      world:restore(snapshot)
      assert.equal(5, query:count())
    end)

    it("ends when the loop around it goes on or ends", function()
      local world, query, seen = scene()
      local step, state, control = query:each()
      local rounds = 0
      while step(state, control) do
        leave(query, see(world))
        rounds = rounds + 1
      end
      assert.equal(5, rounds)
      assert.equal(1, seen:count())
    end)

    it("ends with each row of a function form or a system, however many there are", function()
      local world, query, seen = scene()
      world:spawn_many(20000, { Place = true })
      query:each(function() leave(query, see(world)) end)
      assert.equal(1, seen:count())
      world:query("Place.x"):map(function() leave(query, see(world)) end)
      world:system("look", { query = "Place", each = function() leave(query, see(world)) end })
      assert.equal(2, seen:count())
      world:update(0)
      assert.equal(3, seen:count())
    end)

    it("goes with a function form that fails", function()
      local world, query, seen = scene()
      has_error(function()
        query:each(function()
          leave(query, see(world))
          error "enough"
        end)
      end, "enough")
      assert.equal(0, seen:count())
    end)
  end)

  describe("a number of LuaJIT", function()
    it("raises with entity and field where a cell holds more than 2^53", function()
      local world = new_world()
      world:component("Account", { "balance: i64", "mask: u64" })
      local e = world:spawn { Account = { balance = 2 ^ 53, mask = -0.0 } }
      assert.equal(2 ^ 53, (world:get(e, "Account")))
      world:set_text(e, "Account.balance", "9007199254740993")
      world:set_text(e, "Account.mask", "18446744073709551615")
      local name = "entity " .. ecs.format(e) .. ": field 'Account.balance' is 9007199254740993"
      has_error(function() world:get(e, "Account.balance") end, name)
      has_error(function() world:read(e, "Account") end, name)
      has_error(function()
        world:query("Account"):each(function(account) return account.balance end)
      end, name)
      has_error(function()
        world:query("Account.mask"):each(function(mask) return mask end)
      end, "field 'Account.mask' is 18446744073709551615")
    end)

    it("is a seed up to 2^53", function()
      has_error(function() ecs.world { seed = 2 ^ 54 } end,
        "option 'seed' must be an integer up to 2^53")
    end)

    -- What a function makes of pairs of numbers, with kernels and without.
    local function agrees(each)
      local digests = {}
      for _, kernels in ipairs { true, false } do
        local world = new_world { tag = 1, kernels = kernels }
        world:component("N", { "x: f64", "y: f64", "n: i32", "r: f64", "s: f64" })
        for _, x in ipairs { 0.0, -0.0, 1.5, -2.5, 7, -7, 2 ^ 53, math.huge, -math.huge, 0 / 0 } do
          for _, y in ipairs { 3, -3, 0.0, -0.0, 0.1, math.huge, 0 / 0 } do
            world:spawn { N = { x, y, 3 } }
          end
        end
        world:system("calculate", { query = "N", each = each })
        world:update(0.5)
        digests[#digests + 1] = world:digest()
        local facts = world:explain "calculate"
        if kernels then assert.equal("vector", facts.tier, facts.reason) end
      end
      assert.equal(digests[2], digests[1])
    end

    it("is what kernels calculate with", function()
      agrees(function(v) v.r, v.s = v.x % v.y, -v.n * 0 end)
      agrees(function(v) v.r, v.s = math.floor(v.x), math.ceil(v.y) end)
      agrees(function(v) v.r, v.s = math.min(v.x, v.y), math.max(v.x, v.y, 0) end)
      agrees(function(v) v.r, v.s = v.x ^ 2 + v.n ^ v.y, math.atan2(v.y, v.x) end)
      agrees(function(v) v.r, v.n = v.x / v.n, v.n * 2 + 1 end)
      agrees(function(v)
        local list = { v.x, v.y }
        for i = 1, v.y do
          if i > 3 then break end
          v.r = v.r + i * list[1]
        end
        for i = v.n, v.y, 0.75 do if i < 9 then v.s = v.s + i else break end end
      end)
    end)
  end)
end

describe("in every Lua", function()
  it("integers are read and written as text", function()
    local world = new_world()
    world:component("Account", { "balance: i64", "mask: u64", "small: u8", "x: f32" })
    local e = world:spawn { Account = {} }
    for text, field in pairs { ["9223372036854775807"] = "balance", ["0"] = "mask",
      ["-9223372036854775808"] = "balance", ["18446744073709551615"] = "mask", ["255"] = "small",
    } do
      world:set_text(e, "Account." .. field, text)
      assert.equal(text, world:get_text(e, "Account." .. field))
    end
    for field, texts in pairs { mask = { "-1", "18446744073709551616" }, small = { "256" },
      balance = { "9223372036854775808", "-9223372036854775809", "", "-", "x" } } do
      for _, text in ipairs(texts) do
        has_error(function() world:set_text(e, "Account." .. field, text) end,
          ("'%s' is not a number that"):format(text))
      end
    end
    for _, name in ipairs { "Account.x", "Account" } do
      has_error(function() world:get_text(e, name) end, "bad argument #2 to 'get_text'",
        "an integer field of a component expected")
    end
    assert.is_nil(world:get_text(world:spawn(), "Account.mask"))
  end)

  it("dump and JSON have every digit of an integer, and read them back", function()
    local world, other = new_world(), new_world()
    for _, each in ipairs { world, other } do
      each:component("Account", { "balance: i64", "mask: u64" })
    end
    local e = world:spawn { Account = {} }
    world:set_text(e, "Account.balance", "-9223372036854775807")
    world:set_text(e, "Account.mask", "18446744073709551615")
    assert.is_truthy(world:dump(e):find("balance: i64 = -9223372036854775807", 1, true))
    local text = ecs.json.encode(world)
    local ids = ecs.json.decode(other, text)
    assert.equal("-9223372036854775807", other:get_text(ids[e], "Account.balance"))
    assert.equal("18446744073709551615", other:get_text(ids[e], "Account.mask"))
  end)

  it("a digest is text where that is asked for", function()
    local world, other = scene(), scene()
    local text = world:digest "text"
    assert.is_truthy(text:find "^%x+$" and #text == 16)
    assert.equal(text, other:digest "text")
    assert.equal("b5e6957b4dae0d6e", text)
    assert.equal(is_luajit, world:digest() == text)
    has_error(function() world:digest "bits" end, "nothing expected, or \"text\"")
  end)

  it("ecs.fields goes through a view and through an array", function()
    local world, query = scene()
    query:each(function(place)
      for key, value in ecs.fields(place) do
        assert.equal("x", key)
        assert.equal(place.x, value)
      end
    end)
    local sum = 0
    for i, value in ecs.fields(world:array("grid", "i32", 3)) do
      sum = sum + i + value
    end
    assert.equal(6, sum)
    has_error(function() ecs.fields {} end, "view expected")
  end)

  it("a world has as much memory as it is given", function()
    local world = new_world { memory = 1000000 }
    world:component("Place", { "x: f64", "y: f64" })
    has_error(function() world:spawn_many(100000, { Place = true }) end, "not enough memory")
    world:spawn_many(1000, { Place = true })
    assert.equal(1000, world:query("Place"):count())
    has_error(function() ecs.world { memory = 0 } end,
      "option 'memory' is a number of bytes above 0")
  end)
end)
