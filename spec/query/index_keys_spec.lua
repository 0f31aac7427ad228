-- Indexes by keys: by hash, in order, through a filter.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local has_error = helper.has_error

local world

local function entities(...)
  local ids = {}
  for _, id in ... do ids[#ids + 1] = id end
  return ids
end

local function by(kind, key, query)
  return world:index("keys", { query = query or "Item:in", [kind] = key })
end

before_each(function()
  world = helper.new_world()
  world:component("Item", { "n: i64", "f: f64", "name: string", "kind: enum(small, large)",
    "on: bool", "of: entity", "m: i8[2]" })
end)

local function spawn(item) return world:spawn { Item = item } end

for _, kind in ipairs { "hash", "maybe" } do
  describe("an index by " .. kind, function()
    it("finds those whose key is a value, in the order of the query", function()
      local a, b, c = spawn { n = 7 }, spawn { n = 8 }, spawn { n = 7 }
      local keys = by(kind, "n")
      assert.are.same({ a, c }, entities(keys:find(7)))
      assert.are.same({ a, c }, entities(keys:find(7.0)))
      assert.are.same({ b }, entities(keys:find(8)))
      for _, nobody in ipairs { 9, 7.5, "7", true, 0 / 0, math.huge } do
        assert.are.same({}, entities(keys:find(nobody)))
      end
      assert.are.same({}, entities(keys:find(nil)))
    end)

    it("takes fields of every type but any", function()
      local a = spawn { n = math.maxinteger, f = -0.0, name = "it", kind = "large", on = true,
        m = { 3, 4 } }
      local b = spawn { f = 2.0 ^ 63, of = a }
      for field, value in pairs { n = math.maxinteger, f = 0, name = "it", kind = "large",
        on = true, ["m[2]"] = 4, ["Item.m[1]"] = 3 } do
        assert.are.same({ a }, entities(by(kind, field):find(value)), field)
      end
      assert.are.same({ b }, entities(by(kind, "Item.f"):find(2.0 ^ 63)))
      assert.are.same({}, entities(by(kind, "n"):find(2.0 ^ 63)))
      assert.are.same({ b }, entities(by(kind, "of"):find(a)))
      world:despawn(a)
      assert.are.same({ b }, entities(by(kind, "of"):find(ecs.null)))
    end)

    it("has nobody by NaN, nor by what is absent", function()
      spawn { f = 0 / 0 }
      local a = spawn { f = 1 }
      local keys = by(kind, "f")
      assert.are.same({}, entities(keys:find(0 / 0)))
      assert.are.same({ a }, entities(keys:find(1)))
      assert.are.equal(1, world:explain("keys").lost)
    end)
  end)
end

describe("a filter", function()
  it("misses nobody, and lets few others through (C30)", function()
    local keys = by("maybe", "n")
    for i = 1, 1000 do spawn { n = i * i } end
    for i = 1, 1000, 7 do
      for item in keys:find(i * i) do assert.are.equal(i * i, item.n) end
      assert.are.equal(1, #entities(keys:find(i * i)))
      assert.are.equal(0, #entities(keys:find(i * i + 1)))
    end
    local small = world:explain("keys").bytes
    by("hash", "n")
    entities(world:index("keys"):find(1))
    assert.is_true(small < world:explain("keys").bytes)
  end)
end)

describe("an index in order", function()
  it("finds ranges, the lowest and the highest, equal ones in the order of the query", function()
    local ids = {}
    for i, f in ipairs { 3, 1, 2, 3, -math.huge, math.huge, 0 / 0, 2.5 } do
      ids[i] = spawn { f = f }
    end
    local keys = by("ordered", "f")
    local function at(...)
      local list = {}
      for i, n in ipairs { ... } do list[i] = ids[n] end
      return list
    end
    assert.are.same(at(3, 8, 1, 4), entities(keys:range(2, 3)))
    assert.are.same(at(2, 3), entities(keys:range(-5, 2.1)))
    assert.are.same(at(5, 2, 3, 8, 1, 4, 6), entities(keys:range(-math.huge, math.huge)))
    assert.are.same({}, entities(keys:range(3, 2)))
    assert.are.same({}, entities(keys:range(0 / 0, 3)))
    assert.are.same({}, entities(keys:range(1, 0 / 0)))
    assert.are.same(at(5, 2, 3), entities(keys:lowest(3)))
    assert.are.same(at(6, 1, 4, 8), entities(keys:highest(4)))
    assert.are.same(at(6, 1), entities(keys:highest(2)))
    assert.are.same({}, entities(keys:lowest(0)))
    assert.are.equal(7, #entities(keys:highest(100)))
  end)

  it("compares integers and floats as Lua does", function()
    local values = { math.maxinteger, 2.0 ^ 63, math.maxinteger - 1, 2.0 ^ 53, (1 << 53) + 1,
      math.mininteger, -2.0 ^ 64, 0.5, 0, -0.5, 1e300 }
    for i in ipairs(values) do spawn { n = i } end
    local keys = by("ordered", function(item) return values[item.n] end)
    local sorted, i = table.move(values, 1, #values, 1, {}), 0
    table.sort(sorted)
    for item in keys:lowest(100) do
      i = i + 1
      assert.are.equal(sorted[i], values[item.n])
      assert.are.equal(math.type(sorted[i]), math.type(values[item.n]))
    end
    assert.are.equal(#values, i)
    assert.are.equal(1, #entities(keys:range((1 << 53) + 1, (1 << 53) + 1)))
    assert.are.equal(2, #entities(keys:range(2.0 ^ 53, (1 << 53) + 1)))
  end)

  it("takes numbers alone", function()
    for _, field in ipairs { "name", "kind", "on" } do
      has_error(function() by("ordered", field) end, "or use hash")
    end
    local a = spawn { n = 1 }
    by("ordered", function() return "text" end)
    has_error(function() world:index("keys"):lowest(1) end, "the key of " .. ecs.format(a),
      "is a string")
  end)
end)

describe("a key that is a function", function()
  it("is given views and the entity, and nil where something is absent", function()
    world:component("Extra", { "x: f32" })
    local a, b = spawn { n = 1 }, world:spawn { Item = { n = 2 }, Extra = { 5 } }
    local seen = {}
    local keys = by("hash", function(item, extra, e)
      seen[#seen + 1] = { item.n, extra and extra.x, e }
      return extra and "has" or nil
    end, "Item:in, Extra?")
    for item, extra, e in keys:find "has" do
      assert.are.same({ 2, 5.0, b }, { item.n, extra.x, e })
    end
    assert.are.same({ { 1, nil, a }, { 2, 5.0, b } }, seen)
  end)

  it("is called before the system that looks into the index, in its order", function()
    for i = 1, 3 do spawn { n = i } end
    local log = {}
    local function note() log[#log + 1] = "key" end
    local keys = by("ordered", function(item)
      note()
      return -item.n
    end)
    world:system("look", { query = "Item", each = function(item)
      item.n = item.n + 10
      for first in keys:lowest(1) do log[#log + 1] = first.n end
    end })
    world:update(1)
    assert.are.same({ "key", "key", "key", 3, 3, 3 }, log)
  end)

  it("says what is wrong with it, and leaves nothing found", function()
    local a = spawn { n = 1 }
    local function fails(key, ...)
      by("hash", key)
      has_error(function() world:index("keys"):find(1) end, ...)
      assert.are.equal(0, world:explain("keys").rows)
      by("hash", "n")
      assert.are.same({ a }, entities(world:index("keys"):find(1)))
    end
    fails(function() error "oh" end, "oh")
    fails(function() return {} end, "a key is a number, a string, a boolean or nil")
    fails(function(item)
      local one = item.n > 0 and item or nil
      one.n = 2
    end, "read-only copy")
    fails(function() return world:index("keys"):find(1) end, "its key function cannot use it")
    fails(function() world:update(1) end, "update is not possible inside")
    fails(function() world:undeclare "keys" end, "dropping an index")
    fails(function() by("hash", "n") end, "declaring an index again")
    has_error(function() by("hash", function(_, _, _) end) end, "3 parameters, but gets 2")
    world:system("look", { uses = "keys", query = "Item", each = function() end })
    by("hash", function() error "oh" end)
    has_error(function() world:update(1) end, "system 'look'", "oh")
  end)

  it("is refused where it is seen to write, or to give commands", function()
    spawn { n = 1 }
    by("hash", "n")
    local wind = world:resource("Wind", { "x: f64" })
    local array, calls, cache, sub = world:array("heat", "f64", 4), 0, {}, { deep = {} }
    local function put(view) view.n = 2 end
    local function refuses(why, fn, ...)
      for _, kind in ipairs { "hash", "ordered", "maybe" } do
        has_error(function() by(kind, fn) end, "index 'keys'", "index_keys_spec.lua", why,
          "cannot write", ...)
      end
      assert.are.equal("hash", world:explain("keys").by)
    end
    refuses("writes to the upvalue 'calls'", function(item)
      if item.n > 5 then calls = calls + 1 end
      return item.n
    end)
    refuses("writes to the field 'n'", function(item) item.n = 2 end)
    refuses("writes to the field 'x'", function(_, _) world:res("Wind").y, wind.x = 1, 1 end)
    refuses("writes to the field 'n'", function(item) put(item) return item.n end)
    refuses("writes to the field 'last'", function(item) cache.last = item.n return cache.last end)
    refuses("writes to the field 'last'", function(item)
      sub.deep.last = item.n
      return sub.deep.n
    end)
    refuses("an element of something it has not "
      .. "created", function(item) cache[item.n] = 1 return 1 end)
    refuses("an element of something it has not "
      .. "created", function(item) array[item.n] = 1 return 1 end)
    refuses("the global 'last'", load("return function(item) last = item.n end",
      "@index_keys_spec.lua")())
    for _, name in ipairs { "spawn", "set", "add", "remove", "despawn", "emit" } do
      refuses("calls the world's '" .. name .. "'", load(([[
        local world = ...
        return function(item, e)
          if item.n == 1 then world:%s(e, "Item") end
          return item.n
        end]]):format(name), "@index_keys_spec.lua")(world))
    end
    by("hash", function(item)   -- what it makes itself it may write to
      local sums = { 0 }
      for i = 1, item.n do sums[i] = i end
      sums.all = #sums
      return sums.all
    end)
    assert.are.equal(1, #entities(world:index("keys"):find(1)))
    assert.are.equal(0, calls)
  end)

  it("draws random numbers that shift no others", function()
    local a = spawn { n = 1 }
    local keys = by("ordered", function(_, e) return world:random(e) end)
    local function draw(look)
      local drawn
      local other = helper.new_world { seed = 5 }
      other:update(1)
      world:system("draw", { uses = look and "keys" or nil, run = function()
        if look then keys:lowest(1) end
        drawn = world:random(a)
      end })
      local kept = world:snapshot()
      world:update(1)
      world:restore(kept)
      return drawn
    end
    assert.are.equal(draw(false), draw(true))
  end)

  it("goes with its index", function()
    local gone, made = setmetatable({}, { __mode = "k" }), 0
    local function key()
      made = made + 1
      local n = made
      local function fn() return n end
      gone[fn] = true
      return fn
    end
    by("hash", key())
    by("hash", key())
    world:undeclare "keys"
    by("maybe", key())
    pcall(by, "hash", key(), "Nothing")
    collectgarbage()
    local count = 0
    for _ in pairs(gone) do count = count + 1 end
    assert.are.same({ 4, 1 }, { made, count })
  end)

  it("may close the world, which ends what asked", function()
    spawn {}
    spawn {}
    local keys = by("hash", function()
      local closed <close> = world
      return closed ~= nil
    end)
    has_error(function() keys:find(1) end, "closed")
  end)
end)

describe("which is of another kind", function()
  it("says what it has instead", function()
    world:component("At", { "x: f32", "y: f32" })
    local grid = world:index("grid", { query = "At", grid = "At", cell = 1 })
    has_error(function() grid:find(1) end, "index 'grid' is by a grid: it has within and nearest")
    has_error(function() by("hash", "n"):within(0, 0, 1) end, "is by hash: it has find")
    has_error(function() by("maybe", "n"):lowest(1) end, "is by maybe: it has find")
    has_error(function() by("ordered", "n"):find(1) end, "it has range, lowest and highest")
  end)

  it("is refused where its key makes no sense", function()
    local function declare(options)
      options.query = options.query or "Item"
      return function() world:index("near", options) end
    end
    has_error(declare { hash = "name", maybe = "name" }, "only one of grid, hash")
    has_error(declare { hash = "name", cell = 1 }, "option 'cell' is only for 'grid'")
    has_error(declare { hash = 1 }, "option 'hash' must be a string or a function, got 1")
    has_error(declare { grid = function() end }, "option 'grid' must be a string")
    has_error(declare { hash = "nam" }, "component 'Item' has no field 'nam'", "'name'")
    has_error(declare { hash = "Itm.name" }, "unknown component 'Itm'")
    has_error(declare { hash = "Item" }, "component 'Item' has no field 'Item'")
    has_error(declare { query = "Item.n", hash = "name" }, "does not yield 'Item.name'",
      "add 'Item:in' to it")
  end)
end)

describe("texts that only an index has", function()
  it("stay as long as it has them", function()
    local a, found = spawn { name = "first" }, 0
    local keys = by("hash", function(item) return "made of " .. item.name end)
    world:system("look", { run = function()
      local long = ("long"):rep(20)
      for i = 1, 3000 do world:set(a, "Item.name", long .. i) end
      world:defer()
      world:commit()
      for item in keys:find "made of first" do found = found + (item.name == "first" and 1 or 9) end
    end })
    world:update(0)
    for item in keys:find("made of " .. ("long"):rep(20) .. 3000) do
      for i = 1, 3000 do world:set(a, "Item.name", "other " .. i) end
      found = found + (item.name:find "long3000" and 10 or 90)
    end
    assert.are.equal(11, found)
  end)
end)

describe("a key function that fails", function()
  it("shows its views to nobody afterwards", function()
    for _ = 1, 3 do spawn { n = 1 } end
    local kept = {}
    local index = by("hash", function(item)
      table.insert(kept, item)
      if #kept > 1 then error "no key" end
      return item.n
    end)
    has_error(function() index:find(1) end, "no key")
    world:query("Item"):despawn()
    for _, view in ipairs(kept) do
      has_error(function() return view.n end, "stale view: its loop has ended")
      assert.are.equal("view (stale)", tostring(view))
    end
    world:undeclare "keys"
    has_error(function() return kept[1].n end, "stale view: its loop has ended")
  end)
end)
