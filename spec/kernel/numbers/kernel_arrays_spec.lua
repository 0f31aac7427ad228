-- Functions that read the world's arrays, compiled.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"
local ecs = require "ecs"

local TYPES = { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool" }

local scene = agree.scene {
  fill = function(world, case)
    world:component("P", { "x: f64", "i: i32", "d: f64", "s: f32", "on: bool" })
    for n, e in ipairs(world:spawn_many(3000, { P = true })) do
      world:set(e, "P", n, n % 37 + 1, n % 40, n % 5 + 0.25, false)
    end
    case.arrays(world)
  end,
  query = "P",
  updates = 6,
}

local function reason_of(world, fn)
  world:system("it", { query = "P", each = fn })
  return world:explain("it").reason
end

-- The functions that `make` returns for each world are compiled, and do what they do in Lua.
local function check(arrays, make)
  scene:both(make, { arrays = arrays, between = function(world, turn)
    for n, fn in ipairs(turn % 2 == 0 and { make(world) } or {}) do
      world:system("s" .. n, { query = "P", each = fn })
    end
  end })
end

local function grids(world)
  for _, type in ipairs(TYPES) do
    local array = world:array("a_" .. type, type, 37)
    for i = 1, 37 do
      array[i] = type == "bool" and i % 3 == 0 or type ~= "bool" and i * 3 or false
    end
  end
end

describe("an array in a kernel", function()
  it("gives elements of every type at an index of the row", function()
    check(grids, function(world)
      local f32, f64, i8, i16 = world:array "a_f32", world:array "a_f64", world:array "a_i8",
        world:array "a_i16"
      local i32, i64, u8, u16 = world:array "a_i32", world:array "a_i64", world:array "a_u8",
        world:array "a_u16"
      local u32, u64, bool = world:array "a_u32", world:array "a_u64", world:array "a_bool"
      return function(p)
        p.s = f32[p.i]
        p.x = p.x + f64[p.i] + i8[p.i] * 2 + i16[p.i]
      end, function(p)
        p.x = p.x + i32[p.i] // 2 + i64[p.i] + u8[p.i] + u16[p.i] + u32[p.i] + u64[p.i]
        if bool[p.i] then p.on = not p.on else p.x = -p.x end
      end
    end)
  end)

  it("takes floats with an integer value, numbers of the script, and loops' counters", function()
    local config = { at = 4 }
    check(grids, function(world)
      local grid = world:array "a_f64"
      return function(p)
        local sum = 0.0
        for k = 1, 9 do sum = sum + grid[k] end
        p.x = sum + #grid + grid[7] + grid[8.0] + grid[config.at] + grid[p.i * 1.0]
      end
    end)
  end)

  it("is what it is now: written, declared otherwise, restored or loaded between runs", function()
    local world = scene:new(true, { arrays = grids })
    local grid = world:array "a_f64"
    world:system("s", { query = "P", compile = true, each = function(p) p.x = grid[3] end })
    local function look(expected)
      world:update(0)
      assert.are.equal(expected, world:get(world:query("P"):first(), "P.x"))
    end
    look(9.0)
    grid[3] = 5
    look(5.0)
    local snapshot, image = world:snapshot(), world:save()
    grid[3] = 6
    world:restore(snapshot)
    look(5.0)
    world:array("a_f64", "i16", 3)
    look(5.0)
    grid[3] = 8
    look(8.0)
    world:load(image)
    look(5.0)
  end)

  it("is refused with a reason where a kernel cannot use it", function()
    local world = scene:new(true, { arrays = grids })
    local grid = world:array "a_i32"
    local other = ecs.world():array("theirs", "i32", 3)
    for what, fn in pairs {
      ["it calls a method of the array 'a_i32'"] = function() grid:fill(1) end,
      ["not this world, nor one of its resources, arrays, indexes or queries: get"] =
        function(p) p.x = other[1] end,
      ["it indexes the array 'a_i32' by something other than a number"] =
        function(p) p.x = grid[p.on] end,
    } do
      local reason = reason_of(world, fn)
      assert(reason and reason:find(what, 1, true), what .. ": " .. tostring(reason))
    end
  end)

  it("gives what a function is to return", function()
    scene:twice(function(world)
      local grid = world:array "a_i32"
      local sum = world:query("P"):sum(function(p) return grid[p.i] end)
      local count = world:query("P"):where(function(p) return grid[p.d] == nil end):count()
      assert.are.equal(225, count)
      assert.are.equal("integer", math.type(sum))
      return sum
    end, { arrays = grids })
  end)
end)

describe("a table in a kernel", function()
  -- A world with an enum beside, and what functions read of it.
  local function new_world(kernels)
    local world = helper.new_world { kernels = kernels }
    world:component("P", { "x: f64", "i: i32", "d: f64", "s: f32", "on: bool" })
    world:component("Kind", { "is: enum(rat, orc, boss)" })
    for n = 1, 1500 do
      world:spawn { P = { x = n, i = n % 20 + 1, d = n % 23, s = n / 7 },
        Kind = { is = ({ "rat", "orc", "boss" })[n % 3 + 1] } }
    end
    return world
  end

  -- The same in both tiers over some updates, between which `change` is called.
  local function agree_on(make, change)
    local digests = {}
    for n, kernels in ipairs { true, false } do
      local world = new_world(kernels)
      local fn, data = make()
      world:system("it", { query = "P, Kind", each = fn })
      for turn = 1, 4 do
        world:update(0)
        if kernels and not change then assert.are.equal("vector", world:explain("it").tier) end
        if change then change(data, turn) end
      end
      digests[n] = world:digest()
    end
    assert.are.equal(digests[2], digests[1])
  end

  local function list_of(fn)
    local list = {}
    for i = 1, 20 do list[i] = fn(i) end
    return list
  end

  it("is what it is when a run starts, whatever it becomes", function()
    local changes = {
      function(list) list[3] = 7.5 end,
      function(list) for i = 1, 20 do list[i] = i end end,
      function(list) list[5] = nil end,
      function(list) for i = 1, 20 do list[i] = i % 2 == 0 end end,
      function(list) list[20] = "20" end,
      function(list) setmetatable(list, { __index = function() return 3 end }) end,
      function(list) for i = 1, 100 do list[i] = i / 8 end end,
      function(list) for i = 1, 20 do list[i] = nil end end,
    }
    for first = 1, #changes do
      agree_on(function()
        local list = list_of(function(i) return i / 2 end)
        return function(p) p.x = list[p.i] and 1.0 or 2.0 end, list
      end, function(list, turn) changes[(first + turn * 3) % #changes + 1](list) end)
    end
  end)

  it("compiles again once it is as kernels take it", function()
    local world, list = new_world(true), { 1.5, "x" }
    world:system("it", { query = "P", each = function(p) p.x = list[p.i - p.i + 1] end })
    world:update(0)
    assert(world:explain("it").reason:find("has values that are", 1, true))
    list[2] = 2.5
    world:update(0)
    assert.are.equal("vector", world:explain("it").tier)
    assert.are.equal(1.5, world:get(world:query("P"):first(), "P.x"))
  end)

  it("is refused with a reason where it holds what kernels do not take", function()
    local world = new_world(true)
    local many = {}
    for i = 1, 65537 do many[i] = 0.5 end
    local text, two, hidden = { "a" }, { 1, true }, setmetatable({ 1 }, { __index = {} })
    local lacks, far = { mouse = 1, name = 2 }, { 0.5, math.maxinteger }
    for what, fn in pairs {
      ["more than 65536"] = function(p) p.x = many[p.i] end,
      ["of type f64 to another type"] = function(p) p.x = text[p.i] end,
      ["one type"] = function(p) p.on = two[p.i] == 1 end,
      ["has an __index"] = function(p) p.x = hidden[p.i] end,
      ["or none for any of the names"] = function(p, kind) p.x = lacks[kind.is] end,
      ["has values that are"] = function(p) p.x = far[p.i] end,
      ["indexes a table by a boolean"] = function(p) p.x = text[p.on] end,
    } do
      agree.check_reason(world, "P, Kind", fn, what)
    end
    many[65537] = nil
    world:system("it", { query = "P", compile = true, each = function(p) p.x = many[p.i] end })
    world:update(0)
    assert.are.equal("vector", world:explain("it").tier)
  end)

  it("is listed by explain, with what copying it takes", function()
    local world = scene:new(true, { arrays = function() end })
    local list, settings = { 1.5, 2.5, 3.5 }, { on = { true, false } }
    world:system("it", { query = "P", each = function(p)
      if settings.on[p.i] then p.x = 1 else p.x = list[p.i] or 0 end
    end })
    world:update(0)
    local tables = world:explain("it").tables
    table.sort(tables, function(a, b) return a.name < b.name end)
    assert.are.same({ { name = "list", elements = 3, bytes = 24 },
      { name = "settings.on", elements = 2, bytes = 2 } }, tables)
    list[4] = 4.5
    world:update(0)
    local other = world:explain("it").tables
    table.sort(other, function(a, b) return a.name < b.name end)
    assert.are.equal(32, other[1].bytes)
  end)
end)

describe("a table of arrays", function()
  local with_maps = agree.scene {
    options = { seed = 3, tag = 1 },
    fill = function(world)
      world:component("P", { "i: i32", "n: i32", "x: f64", "side: enum(red, blue, none)",
        "on: bool" })
      local maps = { red = world:array("red", "f64", 50), blue = world:array("blue", "f64", 60) }
      local list = { world:array("l1", "i32", 50), world:array("l2", "i32", 50),
        world:array("l3", "i32", 40) }
      for i = 1, 40 do
        maps.red[i], maps.blue[i] = i, i * 2
        for k = 1, 3 do list[k][i] = i * k end
      end
      for i = 1, 600 do
        world:spawn { P = { i = i % 40 + 1, n = i % 4, x = i, on = i % 3 == 0,
          side = ({ "red", "blue", "none" })[i % 3 + 1] } }
      end
      return maps, list
    end,
  }

  -- What a body does to its rows and to arrays in tables is the same with kernels and without.
  local function check_maps(body, array)
    with_maps:twice(function(world, kernels, maps, list)
      local said = {}
      local fn = assert(load("local maps, list = ... return function(p, dt) " .. body .. " end"))(
        maps, list)
      world:system("s", { query = not array and "P" or nil, array = array and "l1", each = fn })
      with_maps:check_tier(world, "s", not kernels and "lua" or nil)
      for turn = 1, 3 do
        said[turn] = tiers.plain(select(2, pcall(world.update, world, 1))) .. world:digest()
        if turn == 1 then maps.red, list[2] = maps.blue, list[1] end
      end
      return table.concat(said, " ")
    end)
  end

  it("is read and written by a name or a number that a row gives", function()
    for _, body in ipairs {
      "local map = maps[p.side] if map then p.x = p.x + (map[p.i] or 0) + #map end",
      "local map = maps[p.side] if map then map[p.i] = map[p.i] + 1 p.x = map[p.i] end",
      "if p.side ~= 'none' then maps[p.side][p.i] = p.x end",
      "local l = list[p.n] if l then p.x = l[p.i] + (l[45] or 0) end",
      "for n = 1, 3 do if list[n][p.i] > 20 then p.x = p.x + n list[n][1] = list[n][1] + 1 end end",
      "local map = p.on and maps.red or maps.blue p.x = map[p.i] map[2] = p.x",
      "local map = maps.red for n = 1, p.n do p.x = p.x + map[p.i] map = maps.blue end",
      "if p.i == 9 then p.x = maps[p.side][1] end", "p.x = list[p.n + 1][1]",
      "if p.n > 0 then list[p.n][p.i] = 2 ^ 40 end",
    } do
      check_maps(body)
    end
    check_maps("list[1][p] = list[3][p] or 1 for n = 1, 2 do list[n][p] = list[n][p] + n end", true)
  end)

  it("is refused where the arrays differ in type, or are compared", function()
    local world = helper.new_world()
    world:component("P", { "n: i32", "on: bool" })
    local a, b = world:array("a", "f64", 4), world:array("b", "i32", 4)
    local mixed, same = { a, b }, { a, a }
    for what, fn in pairs {
      ["several arrays that differ in type, 'a' and 'b'"] = function(p) p.n = mixed[p.n][1] end,
      ["it compares arrays or functions held in a table"] = function(p) p.on = same[p.n] == a end,
    } do
      world:system("s", { query = "P", each = fn })
      assert.matches(what, world:explain("s").reason, 1, true)
    end
  end)
end)

describe("a run that takes all elements at once", function()
  -- What a run does to arrays is the same with kernels and without; how it was run.
  local function same(make, ordered)
    local seen, told = {}, nil
    for n, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels, seed = 3, tag = 1 }
      local a, b = world:array("a", "f64", 700), world:array("b", "f64", 700)
      local bytes, flags = world:array("bytes", "u8", 90), world:array("flags", "bool", 70)
      for i = 1, 700 do a[i] = i / 4 end
      world:system("s", { run = make(world, a, b, bytes, flags) })
      for dt = 1, 3 do
        local ok, why = pcall(world.update, world, dt)
        seen[#seen + 1] = ok or why:match "^[^\n]*"
      end
      seen[n] = { seen[#seen], world:digest() }
      if n == 1 then told = world:explain "s" end
      if n == 1 and not ordered then assert.equal("vector", told.tier, told.reason) end
    end
    assert.same(seen[2], seen[1])
    return told
  end

  it("fills, and copies what was there when it came to that", function()
    local told = same(function(_, a, b, bytes, flags) return function(_, dt)
      b:copy(a)
      a:fill(dt)
      a[3] = b[3] + a[2]
      b:fill(a[3])
      a:write(b:read())
      bytes:fill(dt * 2 // 1)
      flags:fill(dt > 1.5)
      flags:copy(flags)
    end end)
    table.sort(told.writes)
    assert.same({ "a", "b", "bytes", "flags" }, told.writes)
  end)

  it("reads all into a table, which has no other elements then", function()
    for _, name in ipairs { "a", "bytes", "flags" } do
      local had = {}
      local told = same(function(world, a, b)
        local of, old = world:array(name), {}
        table.insert(had, old)
        return function(_, dt)
          of:read(old)
          for k = 2, #of - 1 do
            if old[k] == old[k + 1] then a[k] = b[k] * dt end
            old[k] = old[k - 1]
          end
          if old[1] == of[1] then b[1] = dt end
        end
      end)
      assert.equal("vector", told.tier, told.reason)
      for i = 1, 2 do
        for k, v in ipairs(had[i]) do had[i][k] = ("%s %s"):format(math.type(v), v) end
      end
      assert.same(had[2], had[1])
    end
  end)

  it("does so under conditions and in loops", function()
    same(function(_, a, b, bytes) return function(_, dt)
      for i = 1, 3 do
        if dt > 1.5 then a:fill(i) else bytes:fill(i) end
        for k = 1, #a do a[k] = a[k] + b[k] * i end
        b:copy(a)
        if a[1] > 1e3 then break end
      end
    end end)
  end)

  it("puts all back where it fails behind that, and raises what Lua raises", function()
    for _, fail in ipairs { function(a) return a[1000] + 1 end, function() return nil + 1 end } do
      local left = same(function(_, a, b, bytes) return function(_, dt)
        a:copy(b)
        b:fill(dt)
        bytes:fill(7)
        for k = 1, #a do a[k] = a[k] + k end
        if dt == 2 then b[1] = fail(a) end
      end end, true)
      assert.truthy(left)
    end
    same(function(_, a, b, bytes) return function(_, dt)
      b:fill(dt)
      bytes:fill(dt < 3 and 4 * a[1] or 256)
    end end)
  end)

  it("says what to write where a table is read into, or written", function()
    local world = helper.new_world()
    local a, list, wide = world:array("a", "f32", 3), {}, world:array("wide", "i64", 3)
    local short, other = world:array("short", "f32", 2), world:array("other", "f64", 3)
    for what, run in pairs {
      ["which is of i64: keep what it had in another array, as in old:copy(wide)"] =
        function() wide:read(list) end,
      ["in another array, as in"] = function() local was = a:read() a[1] = 2 a:write(was) end,
      ["'a' to 'short', which has another type or is shorter"] = function() short:copy(a) end,
      ["'other' to 'a', which has another"] = function() a:write(other:read()) end,
    } do
      world:system("s", { run = run })
      pcall(world.update, world, 1)
      local told = world:explain "s"
      assert.equal("lua", told.tier, what)
      assert.matches(what, told.reason, 1, true)
    end
  end)
end)
