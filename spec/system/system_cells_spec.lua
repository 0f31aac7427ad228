-- Systems whose rows are the elements of an array.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"

local has_error, math, tostring = helper.has_error, math, tostring

local function nothing() end

-- Worlds with kernels and without, in which `register` does the same.
local function in_two_worlds(register)
  local worlds = {}
  for n, kernels in ipairs { true, false } do
    worlds[n] = helper.new_world { kernels = kernels, tag = 1 }
    register(worlds[n])
  end
  return worlds
end

-- Registers, runs a few updates and compares; the systems named compile.
local function same_in_lua(names, register)
  local worlds = in_two_worlds(register)
  for _ = 1, 3 do
    for _, world in ipairs(worlds) do world:update(0.5) end
    assert.are.equal(worlds[2]:digest(), worlds[1]:digest())
  end
  for _, name in ipairs(names) do
    local told = worlds[1]:explain(name)
    assert.are.equal("vector", told.tier, told.reason)
    assert.are.equal("lua", worlds[2]:explain(name).tier)
  end
  return worlds[1]
end

local function filled(world, name, type, n)
  local array = world:array(name, type, n)
  for i = 1, n do array[i] = type == "bool" and i % 3 == 0 or type ~= "bool" and i * 7 % 19 end
  return array
end

describe("a system over an array", function()
  it("is called for each element, with its number and dt", function()
    for _, world in ipairs(in_two_worlds(nothing)) do
      world:array("smog", "f64", 5)
      local seen = {}
      world:system("s", { array = "smog", each = function(...)
        seen[#seen + 1] = table.pack(...)
      end })
      world:update(0.5)
      assert.are.equal(5, #seen)
      for i = 1, 5 do assert.are.same({ i, 0.5, n = 2 }, seen[i]) end
      world:system("t", { array = "smog", each = function(i) seen[i] = i end })
      world:update(0.5)
      assert.are.same({ 1, 2, 3, 4, 5 }, { table.unpack(seen, 1, 5) })
    end
  end)

  it("compiles what elements become of their own and of others, in arrays of all types", function()
    local types = { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "bool" }
    same_in_lua({ "own", "others", "counted" }, function(world)
      local a, flags = {}, filled(world, "flags", "bool", 700)
      for _, type in ipairs(types) do a[type] = filled(world, "a_" .. type, type, 700) end
      local i8, u8, u16, i32, f64, f32, i64 = a.i8, a.u8, a.u16, a.i32, a.f64, a.f32, a.i64
      world:system("own", { array = "flags", each = function(i, dt)
        if flags[i] then i8[i] = -i8[i] else u8[i] = (u8[i] + 3) % 200 end
        f64[i] = f64[i] * 0.5 + dt
        f32[i] = f32[i] + 0.25
        flags[i] = not flags[i]
      end })
      world:system("others", { array = "flags", each = function(i)
        i64[i] = (i32[i - 1] or 0) + (u16[i + 26] or 5)
      end })
      world:system("counted", { array = "flags", each = function(i) i32[i] = i32[i] + i end })
    end)
  end)

  it("does elements that see those before them one after the other", function()
    same_in_lua({ "flow", "push" }, function(world)
      local smog = filled(world, "smog", "f64", 1500)
      world:system("flow", { array = "smog", each = function(i)
        local before = smog[i - 1]
        if before then smog[i] = (smog[i] + before) / 2 end
      end })
      world:system("push", { array = "smog", after = "flow", each = function(i)
        local to = i % 7 * 100 + 1
        if smog[i] > 1 then
          smog[to] = smog[to] + smog[i] * 0.125
          smog[i] = smog[i] * 0.875
        end
      end })
    end)
  end)

  it("does others' elements where its array is the longer one", function()
    same_in_lua({ "s" }, function(world)
      local long, short = filled(world, "long", "i32", 300), filled(world, "short", "i32", 200)
      world:system("s", { array = "long", each = function(i)
        long[i] = long[i] + (short[i] or 100)
        if i <= 200 then short[i] = short[i] + 1 end
      end })
    end)
  end)

  it("changes, emits and spawns", function()
    local world = same_in_lua({ "grow" }, function(world)
      local seed, who = filled(world, "seed", "u8", 100), world:array("who", "entity", 100)
      world:component("Tree", { "cell: i32", "age: f64" })
      world:event("Grown", { "cell: i32" })
      world:system("grow", { array = "seed", each = function(i)
        local e = who[i]
        if e ~= ecs.null then
          world:set(e, "Tree.age", world:get(e, "Tree.age") + world:random(e))
        elseif seed[i] == 7 then
          world:spawn { Tree = { cell = i } }
          world:emit("Grown", i)
        end
      end })
      world:system("take", { after = "grow", query = "Tree:in", each = function(tree, _, e)
        who[tree.cell] = e
      end })
    end)
    assert(world:count "Tree" > 3)
  end)

  it("names the element in errors, and those before it have been done", function()
    local messages = {}
    for n, world in ipairs(in_two_worlds(nothing)) do
      local smog, small = world:array("smog", "f64", 1000), world:array("small", "u8", 1000)
      world:system("s", { array = "smog", each = function(i)
        smog[i] = i
        small[i] = i
      end })
      messages[n] = has_error(function() world:update(0) end, "system 's'", "smog[256]: ")
      assert.are.equal(256.0, smog[256])
      assert.are.equal(0.0, smog[257])
      messages[n] = messages[n]:match "^[^\n]*" .. world:digest()
    end
    assert.are.equal(messages[2], messages[1])
  end)

  it("leaves elements to the function that do what kernels do not", function()
    local worlds = in_two_worlds(nothing)
    for _, world in ipairs(worlds) do
      world:event("Ripe", { "cell: i32" })
      local smog, at = filled(world, "smog", "f64", 5000), filled(world, "at", "i32", 5000)
      at[77], at[5000] = 100, 100
      world:system("s", { array = "smog", each = function(i)
        if at[i] == 100 then world:after(1, "Ripe", i) end
        smog[i] = (smog[i - 1] or 0) / 2 + at[i]
      end })
      world:update(0)
      assert.are.equal(2, select(2, world:update(2), world:count "Ripe"))
    end
    assert.are.equal(worlds[2]:digest(), worlds[1]:digest())
    assert.are.equal(2, worlds[1]:explain("s").left.rows)
    for _, world in ipairs(worlds) do
      for i = 1, 5000, 2 do world:array("at")[i] = 100 end
      world:update(0)
    end
    assert.are.equal(worlds[2]:digest(), worlds[1]:digest())
    assert(worlds[1]:explain("s").left.rows > 4000)   -- a sixteenth, then all others
  end)

  it("is refused with a query, a map or a run, and without its array", function()
    local world = helper.new_world()
    world:array("smog", "f64", 5)
    world:component("Tree", { "cell: i32" })
    local function refused(spec, ...)
      has_error(function() world:system("s", spec) end, "system 's'", ...)
    end
    refused({ array = "smog", query = "Tree", each = nothing }, "give a query or an array")
    refused({ array = "smog", query = "Tree:changed", each = nothing }, "give a query or an array")
    refused({ array = "smog", map = nothing }, "option 'array' works only with 'each'")
    refused({ array = "smog", run = nothing }, "option 'array' works only with 'each'")
    refused({ array = "smgo", each = nothing }, "unknown array 'smgo'", "'smog'")
    refused({ array = "Tree", each = nothing }, "'Tree' is a component, not an array")
    refused({ array = 5, each = nothing }, "'array'", "a string")
    refused({ array = "smog", each = function(_, _, _) end }, "3 parameters, but gets 2",
      "the number of an element, dt")
    refused({ array = "smog", each = function(dt) return dt end }, "'dt'", "parameter 2")
    assert.are.same({}, world:describe().systems)
  end)

  it("has no entity that commands or random numbers could be about", function()
    local world = helper.new_world()
    world:array("smog", "f64", 5)
    world:tag "Frozen"
    local function refused(method, each)
      has_error(function() world:system("s", { array = "smog", each = each }) end, "system 's'",
        ("it calls world:%s with the number of an array element, which"):format(method))
    end
    refused("random", function(i) world:random(i, 6) end)
    refused("despawn", function(i) world:despawn(i) end)
    refused("add", function(i) world:add(i, "Frozen") end)
    refused("set", function(i, dt) if dt > 0 then local n = i world:set(n, "Frozen") end end)
    world:system("s", { array = "smog", each = function(i) world:set(i + 1000, "Frozen") end })
    has_error(function() world:update(0) end, "smog[1]: ", "1001")
  end)

  it("has a phase, an interval, a condition and a place, and can be switched", function()
    local world = helper.new_world()
    local smog, on = world:array("smog", "f64", 3), false
    world:phase("late", { after = "update" })
    world:system("s", { array = "smog", phase = "late", every = 0.5,
      when = function() return on end, each = function(i, dt) smog[i] = smog[i] + dt end })
    world:system("before", { array = "smog", phase = "late", before = "s",
      each = function(i) smog[i] = smog[i] * 2 end })
    world:update(0.5)
    assert.are.equal(0.0, smog[1])
    on = true
    world:update(0.25)
    world:update(0.25)
    assert.are.equal(0.75, smog[1])
    world:switch("s", false)
    world:update(0.5)
    assert.are.equal(1.5, smog[3])
    assert.are.equal("s", world:describe().systems[2].name)
  end)

  it("tells of itself, and why it stays Lua", function()
    local world = helper.new_world()
    local smog, next_smog = world:array("smog", "f64", 3), world:array("next_smog", "f64", 3)
    world:system("s", { array = "smog", each = function(i)
      next_smog[i] = (smog[i - 1] or 0) + 1
      smog[4 - i] = 0
    end })
    local told = world:explain "s"
    assert.are.equal("vector", told.tier)
    assert.are.same({ "next_smog", "smog" }, told.writes)
    world:system("s", { array = "smog", each = function(i) smog[i] = #tostring(i) end })
    assert.are.equal("lua", world:explain("s").tier)
    assert(world:explain("s").reason:find("C function", 1, true))
    has_error(function()
      world:system("s", { array = "smog", compile = true, each = function() tostring(1) end })
    end, "cannot be compiled", "C function")
  end)

  it("goes over what its array is now, and fails where that is declared no more", function()
    for _, world in ipairs(in_two_worlds(nothing)) do
      local smog = world:array("smog", "f64", 3)
      world:system("s", { array = "smog", each = function(i) smog[i] = smog[i] + i end })
      world:update(0)
      world:array("smog", "i16", 700)
      world:update(0)
      assert.are.equal(6, smog[3])
      assert.are.equal(700, smog[700])
      world:undeclare "smog"
      has_error(function() world:update(0) end, "system 's'", "array 'smog' is no longer declared")
      assert.is_string(world:explain("s").tier)
    end
  end)

  it("does not name an element where its condition fails", function()
    local world = helper.new_world()
    local smog, fails = world:array("smog", "u8", 3), false
    world:system("s", { array = "smog", when = function() return not fails or smog.x end,
      each = function(i) smog[i] = 200 * i end })
    has_error(function() world:update(0) end, "smog[2]: ")
    fails = true
    local message = has_error(function() world:update(0) end, "got 'x'")
    assert.is_nil(message:find("smog[2]", 1, true))
  end)

  it("is parked, and registered again", function()
    for _, world in ipairs(in_two_worlds(nothing)) do
      local smog, told = world:array("smog", "f64", 100), nil
      world:on_error(function(message) told = message end)
      world:system("s", { array = "smog", each = function(i)
        if i > 50 then smog[i] = nil else smog[i] = 1 end
      end })
      world:update(0)
      assert(told:find("smog[51]: ", 1, true), told)
      world:update(0)
      world:system("s", { array = "smog", each = function(i) smog[i] = 7 end })
      world:update(0)
      assert.are.equal(7.0, smog[100])
    end
  end)

  it("shares its elements among threads", function()
    local digests = {}
    for threads = 1, 2 do
      local world = helper.new_world { threads = threads }
      local smog, fresh = filled(world, "smog", "f64", 200000), world:array("fresh", "f64", 200000)
      world:system("s", { array = "smog", each = function(i, dt)
        local sum = (smog[i - 1] or 0) + (smog[i + 1] or 0) + (smog[i - 400] or 0)
        fresh[i] = math.sqrt(sum) + math.sin(smog[i]) * dt
      end })
      world:system("back", { array = "smog", after = "s", each = function(i)
        smog[i] = fresh[i]
      end })
      for _ = 1, 3 do world:update(0.5) end
      digests[threads] = world:digest()
      assert.are.equal(threads, world:explain("s").threads)
    end
    assert.are.equal(digests[1], digests[2])
  end)
end)

describe("a live script", function()
  it("has systems over arrays that it declares, and may not drop these alone", function()
    local world, files, errors, open = live_scene.new()
    local system = [[local world = ... local smog = world:array "smog"
      world:system("s", { array = "smog", each = function(i) smog[i] = smog[i] + %s end })]]
    files:write("a.lua", system:format "1")
    files:write("b.lua", "local world = ... world:array('smog', 'f64', 4)")
    local session = open()
    assert.are.same({}, errors)
    world:update(0)
    assert.are.equal(1.0, world:array("smog")[4])
    files:write("a.lua", system:format "i")
    assert.is_true(helper.poll(session))
    world:update(0)
    assert.are.equal(5.0, world:array("smog")[4])
    assert.are.equal(world:describe().systems[1].tier, world:explain("s").tier)
    files:write("a.lua", "local world = ... world:system('s', { array = 'smgo', each = print })")
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    assert(message:find("system 's': unknown array 'smgo'", 1, true), message)
  end)
end)
