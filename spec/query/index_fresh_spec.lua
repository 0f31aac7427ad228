-- How indexes are brought up to date: from what has changed, where that can be told.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local COUNT = 400
local world, ids, calls

local function count() calls = calls + 1 end

local function entities(...)
  local list = {}
  for a, b, c in ... do list[#list + 1] = c or b or a end
  return list
end

-- What goes through an index keeps its rows as they were.
local function drain(...)
  for _ in ... do end
end

-- Brings all indexes up to date; returns how: { near = "whole", keys = 3, ... }.
local LOOKS = {
  near = function(index) index:nearest(0, 0, 1) end,
  keys = function(index) drain(index:find(1)) end,
  sorted = function(index) drain(index:lowest(1)) end,
  maybe = function(index) drain(index:find(1)) end,
  ratio = function(index) drain(index:lowest(1)) end,
}

local function bring_up()
  local how = {}
  for name, look in pairs(LOOKS) do
    look(world:index(name))
    how[name] = world:explain(name).brought
  end
  return how
end

-- What each index has, all of it, in its order.
local function contents()
  local all = {}
  all.near = entities(world:index("near"):within(0, 0, 1e6))
  all.nearest = { world:index("near"):nearest(3, 3, 100) }
  for n = 0, 20 do
    all["keys" .. n] = entities(world:index("keys"):find(n))
    all["maybe" .. n] = entities(world:index("maybe"):find(n))
  end
  all.sorted = entities(world:index("sorted"):range(-1e9, 1e9))
  all.ratio = entities(world:index("ratio"):highest(COUNT * 2))
  return all
end

local function declare()
  world:index("near", { query = "Place:in, Item?", grid = "Place", cell = 2 })
  world:index("keys", { query = "Item:in", hash = "n" })
  world:index("sorted", { query = "Item:in, Place", ordered = "f" })
  world:index("maybe", { query = "Item:in", maybe = "n" })
  world:index("ratio", { query = "Item", ordered = function(item)
    count()
    return item.n > 0 and item.f / item.n or nil
  end })
end

-- All is as in indexes that are made anew.
local function check()
  local now = contents()
  declare()
  local anew = contents()
  assert.are.same(anew, now)
end

local function all(how)
  return { near = how, keys = how, sorted = how, maybe = how, ratio = how }
end

local function populate(track)
  world = helper.new_world()
  world:component("Place", { "x: f32", "y: f32", track = track })
  world:component("Item", { "n: i32", "f: f64", track = track })
  world:tag "Tag"
  ids = {}
  for i = 1, COUNT do
    ids[i] = world:spawn { Place = { i % 20, i // 20 }, Item = { i % 16, i * 7 % 31 } }
  end
  declare()
  calls = 0
  assert.are.same(all "whole", bring_up())
  assert.are.equal(COUNT, calls)
end

describe("an index of what is tracked", function()
  before_each(function() populate(true) end)

  it("does nothing where nothing of it has changed", function()
    assert.are.same(all(0), bring_up())
    world:set(ids[5], "Place.x", 4)
    assert.are.same({ near = 1, keys = 0, sorted = 1, maybe = 0, ratio = 0 }, bring_up())
    assert.are.same(all(0), bring_up())
    assert.are.equal(COUNT, calls)
    check()
  end)

  it("makes keys and copies again of the rows that have changed alone (C31)", function()
    for i = 1, 10 do world:set(ids[i * 30], "Item", { n = 20 - i, f = -i }) end
    assert.are.same({ near = 10, keys = 10, sorted = 10, maybe = 10, ratio = 10 }, bring_up())
    assert.are.equal(COUNT + 10, calls)
    check()
  end)

  it("finds rows that leave the box of all cells, to either side of it", function()
    for _, move in ipairs { { 80, 20, 2 }, { 58, -2, 4 }, { 30, 3, 60 }, { 31, 5, -60 } } do
      populate(true)
      world:set(ids[move[1]], "Place", { x = move[2], y = move[3] })
      assert.are.equal("whole", bring_up().near)
      check()
    end
  end)

  it("sees what a kernel, a view and a chunk have written", function()
    world:system("grow", { query = "Item", each = function(item)
      if item.n == 3 then item.f = item.f + 100 end
    end })
    world:update(1)
    assert.are.equal("vector", world:explain("grow").tier)
    assert.are.equal(COUNT // 16, bring_up().ratio)
    for item in world:query("Item"):each() do
      if item.f == 2 then item.n = 1 end
    end
    for chunk in world:query("Item"):chunks() do chunk:column("Item.f")[7] = -1 end
    assert.is_true(bring_up().keys > 1)
    check()
  end)

  it("finds rows that get a key, and such as lose theirs", function()
    world:set(ids[16], "Item.n", 5)
    world:set(ids[17], "Item.n", -1)
    world:set(ids[18], "Item.f", 0 / 0)
    assert.are.equal(3, bring_up().ratio)
    assert.are.equal(1, world:explain("sorted").lost)
    check()
    world:set(ids[18], "Item.f", 1 / 0)
    world:set(ids[19], "Place.x", 0 / 0)
    bring_up()
    assert.are.equal(1, world:explain("near").lost)
    check()
  end)

  it("asks a function about rows that have come or moved, and not about those that stay", function()
    world:spawn { Item = { 1, 1 } }
    world:spawn { Item = { 2, 1 }, Place = {} }
    assert.are.equal(2, bring_up().ratio)
    assert.are.equal(COUNT + 2, calls)
    world:add(ids[COUNT], "Tag")
    assert.are.equal(2, bring_up().ratio)
    world:despawn(ids[3])
    assert.are.equal(1, bring_up().ratio)
    check()
  end)

  it("sees who has come in the place of another", function()
    world:despawn(ids[COUNT])
    world:spawn { Place = { 1, 1 }, Item = { 9, 9 } }
    world:despawn(ids[10])
    world:spawn { Place = { 1, 2 }, Item = { 9, 8 } }
    assert.are.equal(2, bring_up().keys)
    check()
  end)

  it("keeps what a loop goes through while others see what has changed", function()
    local seen, first = {}, nil
    for item, place in world:index("sorted"):lowest(COUNT) do
      seen[#seen + 1] = item.f
      if not first then
        first = place
        for i = 1, 20 do world:set(ids[i], "Item.f", 1000 + i) end
        assert.are.same({ ids[20] }, entities(world:index("sorted"):highest(1)))
      end
    end
    local sorted = table.move(seen, 1, #seen, 1, {})
    table.sort(sorted)
    assert.are.same(sorted, seen)
    check()
  end)

  it("is made of all again behind an error of its function, a load and a migration", function()
    local fails = true
    world:index("ratio", { query = "Item", ordered = function(item)
      if fails and item.f > 500 then error "oh" end
      return item.f
    end })
    bring_up()
    world:set(ids[9], "Item.f", 501)
    assert.has_error(bring_up)
    assert.are.equal(0, world:explain("ratio").rows)
    fails = false
    assert.are.equal("whole", bring_up().ratio)
    declare()
    bring_up()
    world:load(world:save())
    assert.are.same(all "whole", bring_up())
    world:component("Item", { "n: i32", "f: f32", "more: u8", track = true })
    assert.are.same({ near = "whole", keys = "whole", sorted = "whole", maybe = "whole",
      ratio = "whole" }, bring_up())
    world:update(1)
    bring_up()
    assert.are.same(all(0), bring_up())
    check()
  end)

  it("has nothing to do with what a query with :changed is told", function()
    local query = world:query "Item:changed"
    query:count()
    world:set(ids[1], "Item.f", 1)
    bring_up()
    world:set(ids[2], "Item.f", 1)
    bring_up()
    assert.are.same({ ids[1], ids[2] }, query:ids())
  end)
end)

describe("an index of what is not tracked", function()
  before_each(function() populate(nil) end)

  it("does nothing where nothing has changed, else all, or groups of 1,024 rows", function()
    assert.are.same(all(0), bring_up())
    world:set(ids[5], "Item.n", 3)
    assert.are.same({ near = "whole", keys = "whole", sorted = "whole", maybe = "whole",
      ratio = COUNT }, bring_up())
    check()
  end)

  it("is made of few groups of rows, or of all where many have changed", function()
    world = helper.new_world()
    world:component("Item", { "n: i32" })
    local list = world:spawn_many(20000, { Item = {} })
    local index = world:index("keys", { query = "Item:in", hash = "n" })
    local function bring_up_keys()
      drain(index:find(1))
      return world:explain("keys").brought
    end
    assert.are.equal("whole", bring_up_keys())
    world:set(list[10], "Item.n", 9)
    assert.are.equal(1024, bring_up_keys())
    for i = 1, 20000, 1000 do world:set(list[i], "Item.n", 8) end
    assert.are.equal("whole", bring_up_keys())
    assert.are.equal(20, #entities(index:find(8)))
  end)

  it("is always made of all where rows are chosen one by one, or ids are keys", function()
    world:component("Asleep", { toggle = true })
    world:component("Of", { "whom: entity", "n: i32" })
    local owned = world:spawn { Of = { whom = ids[1], n = 5 } }
    world:index("keys", { query = "Item:in, !Asleep", hash = "n" })
    world:index("sorted", { query = "Of:in", ordered = "whom" })
    bring_up()
    local how = bring_up()
    assert.are.same({ "whole", "whole" }, { how.keys, how.sorted })
    assert.are.same({ owned }, entities(world:index("sorted"):range(ids[1], ids[1])))
    world:despawn(ids[1])
    assert.are.same({ owned }, entities(world:index("sorted"):range(ecs.null, ecs.null)))
  end)
end)
