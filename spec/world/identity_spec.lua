local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error
local FIRST = 65536
local GENERATIONS = 65536

local function pack(index, generation, tag)
  return index | generation << 28 | tag << 44
end

-- Numbers that are no ids at all.
local NO_IDS = { -1, math.mininteger, math.maxinteger, 1 << 53, 1 << 52, 1.5, 0 / 0, math.huge,
  -math.huge, 2 ^ 63, pack(FIRST, 0, 0), pack(5, 0, 3), 0 }

describe("an id", function()
  it("C35 is an integer that shows index, generation and tag", function()
    local world = helper.new_world { tag = 200 }
    local e = world:spawn()
    assert.are.equal("integer", math.type(e))
    assert.are.equal(pack(FIRST, 0, 200), e)
    world:despawn(e)
    assert.are.equal(pack(FIRST, 1, 200), world:spawn())
  end)

  it("is below 2^53, so that a double holds it", function()
    local world = helper.new_world { tag = 255 }
    world:entity_range((1 << 28) - 1, (1 << 28) - 1)
    local e = world:spawn()
    assert.is_true(e < 1 << 53)
    assert.are.equal(e, math.tointeger(e + 0.0))
  end)

  it("is taken as a float with an integer value, too", function()
    local world = helper.new_world()
    world:component("Position", { "x: f32" })
    local e = world:spawn { Position = { x = 3 } }
    local float = e + 0.0
    assert.is_true(world:alive(float))
    assert.are.equal(3.0, (world:get(float, "Position")))
    world:set(float, "Position", 4)
    assert.are.equal(4.0, (world:get(e, 1.0)))
    world:despawn(float)
    assert.is_false(world:alive(e))
  end)

  it("is never taken as a string", function()
    local world = helper.new_world()
    local p = world:component("Position", { "x: f32" })
    local e = world:spawn { Position = {} }
    assert.is_false(world:alive(tostring(e)))
    has_error(function() world:despawn(tostring(e)) end, "entity id expected, got string")
    has_error(function() world:get(tostring(e), "Position") end, "entity id expected")
    has_error(function() world:get(e, tostring(p)) end, "unknown component '1'")
    has_error(function() world:spawn { [tostring(p)] = {} } end, "unknown component '1'")
    assert.is_true(world:alive(e))
  end)

  it("C36 of nothing is ecs.null, which is never alive", function()
    local world = helper.new_world()
    assert.are.equal(0, ecs.null)
    assert.is_false(world:alive(ecs.null))
    has_error(function() world:despawn(ecs.null) end,
      "0 is not an entity id, but null, which stands for no entity")
    has_error(function() world:spawn_at(ecs.null) end, "0 is not an entity id")
  end)

  it("of a component is below 65,536 and carries tag 0", function()
    local world = helper.new_world { tag = 9 }
    world:spawn()
    assert.are.equal(1, world:component("Position", { "x: f32" }))
    world:spawn()
    assert.are.equal(2, world:tag "Frozen")
    assert.is_true(world:alive(1))
    assert.are.equal(pack(FIRST + 2, 0, 9), world:spawn())
  end)
end)

describe("the four ways not to be alive", function()
  local other = helper.new_world { tag = 4 }
  local world = ecs.world { tag = 3 }
  world:component("Position", { "x: f32" })
  local dead = world:spawn()
  world:despawn(dead)
  world:spawn()
  local unborn = pack(FIRST + 77, 0, 3)
  local later = pack(FIRST, 9, 3)
  local foreign = other:spawn()

  local calls = {
    despawn = function(id) world:despawn(id) end,
    get = function(id) world:get(id, "Position") end,
    read = function(id) world:read(id, "Position") end,
    set = function(id) world:set(id, "Position", 1) end,
    ["set of a field"] = function(id) world:set(id, "Position.x", 1) end,
    add = function(id) world:add(id, "Position") end,
    remove = function(id) world:remove(id, "Position") end,
    has = function(id) world:has(id, "Position") end,
    components = function(id) world:components(id) end,
    name = function(id) world:name(id) end,
    ["giving a name"] = function(id) world:name(id, "x") end,
  }

  for name, call in pairs(calls) do
    it("C63 C64 are told apart by " .. name, function()
      has_error(function() call(dead) end, "65536v0@3 is dead")
      has_error(function() call(unborn) end, "65613v0@3 was never spawned")
      has_error(function() call(later) end, "65536v9@3 was never spawned")
      has_error(function() call(foreign) end, "65536v0@4 belongs to another world", "tag 4")
      for _, id in ipairs(NO_IDS) do
        has_error(function() call(id) end, "is not an entity id", "bad argument")
      end
    end)
  end

  it("C37 are all the same to alive, which answers false to anything", function()
    for _, id in ipairs { dead, unborn, later, foreign, "x", {}, print, true, io.stdout } do
      assert.is_false(world:alive(id))
    end
    for _, id in ipairs(NO_IDS) do
      assert.is_false(world:alive(id))
    end
    assert.is_false(world:alive(nil))
    assert.is_false(world:alive())
    assert.is_true(world:check())
  end)

  it("are errors in an entity field, too", function()
    local link = ecs.world { tag = 3 }
    link:component("Link", { "to: entity" })
    local e, gone = link:spawn(), link:spawn()
    link:despawn(gone)
    has_error(function() link:set(e, "Link", gone) end, "Link.to", "is dead")
    has_error(function() link:set(e, "Link", foreign) end, "Link.to", "another world")
    has_error(function() link:set(e, "Link", unborn) end, "Link.to", "never spawned")
    has_error(function() link:set(e, "Link", 1.5) end, "Link.to", "not an entity id")
    has_error(function() link:set(e, "Link", tostring(e)) end, "Link.to", "entity")
    assert.is_false(link:has(e, "Link"))
    link:close()
  end)
end)

describe("a slot", function()
  it("C38 comes back with the next generation, the last one freed first", function()
    local world = helper.new_world { tag = 1 }
    local a, b = world:spawn(), world:spawn()
    world:despawn(a)
    world:despawn(b)
    assert.are.equal(pack(FIRST + 1, 1, 1), world:spawn())
    assert.are.equal(pack(FIRST, 1, 1), world:spawn())
    assert.are.equal(pack(FIRST + 2, 0, 1), world:spawn())
  end)

  it("C53 is not harmed by a second despawn of its last tenant", function()
    local world = helper.new_world()
    local old = world:spawn()
    world:despawn(old)
    local new = world:spawn()
    has_error(function() world:despawn(old) end, "is dead")
    assert.is_true(world:alive(new))
  end)

  it("C57 inherits nothing from its last tenant", function()
    local world = helper.new_world()
    world:component("Health", { "hp: i32 = 100" })
    local old = world:spawn { Health = { hp = 5 } }
    world:name(old, "old")
    world:despawn(old)
    local new = world:spawn()
    assert.is_false(world:has(new, "Health"))
    assert.are.equal(0, select("#", world:name(new)))
    world:add(new, "Health")
    assert.are.equal(100, (world:get(new, "Health")))
  end)

  it("C39 is retired when its generations are used up, C40 and given back on request", function()
    local world = helper.new_world { tag = 2 }
    world:component("Link", { "to: entity" })
    local holder = world:spawn { Link = {} }
    local last
    for _ = 1, GENERATIONS do
      last = world:spawn()
      world:set(holder, "Link", last)
      world:despawn(last)
    end
    assert.are.equal(pack(FIRST + 1, GENERATIONS - 1, 2), last)
    local fresh = world:spawn()
    assert.are.equal(pack(FIRST + 2, 0, 2), fresh)
    has_error(function() world:despawn(last) end, "is dead")
    has_error(function() world:spawn_at(last) end, "is dead")
    has_error(function() world:spawn_at(pack(FIRST + 1, 0, 2)) end, "is dead")
    assert.are.equal(1, world:recycle_retired())
    assert.are.equal(0, world:recycle_retired())
    local again = world:spawn()
    assert.are.equal(pack(FIRST + 1, 0, 2), again)
    assert.are.equal(ecs.null, (world:get(holder, "Link")))
    for _ = 1, GENERATIONS - 1 do
      world:despawn(again)
      again = world:spawn()
    end
    assert.are.equal(last, again)
    assert.are.equal(ecs.null, (world:get(holder, "Link")))
  end)

  it("is not given back inside defer", function()
    local world = helper.new_world()
    world:defer()
    has_error(function() world:recycle_retired() end, "recycle_retired is not possible")
    world:cancel()
  end)
end)

describe("entity_range", function()
  it("C82 makes spawns take indices of the range", function()
    local world = helper.new_world { tag = 1 }
    local before = world:spawn()
    world:entity_range(200000000, 200000001)
    assert.are.equal(pack(200000000, 0, 1), world:spawn())
    local second = world:spawn()
    assert.are.equal(pack(200000001, 0, 1), second)
    has_error(function() world:spawn() end, "no entity ids are left", "200000000")
    world:despawn(before)
    has_error(function() world:spawn() end, "no entity ids are left")
    world:despawn(second)
    assert.are.equal(pack(200000001, 1, 1), world:spawn())
  end)

  it("leaves the entities outside the range alive", function()
    local world = helper.new_world()
    local before = world:spawn()
    world:entity_range(FIRST + 1000, FIRST + 2000)
    assert.is_true(world:alive(before))
    world:despawn(before)
    world:entity_range(FIRST, FIRST + 1)
    assert.are.equal(before + (1 << 28), world:spawn())
  end)

  it("C62 makes running out of ids an error, and gives none twice", function()
    local world = helper.new_world()
    world:entity_range(FIRST, FIRST + 9)
    has_error(function() world:spawn_many(11) end, "no entity ids are left")
    local ids = world:spawn_many(10)
    has_error(function() world:spawn() end, "no entity ids are left")
    local seen = {}
    for _, id in ipairs(ids) do
      assert.is_nil(seen[id])
      seen[id] = true
    end
  end)

  it("refuses what is no range of entity indices", function()
    local world = helper.new_world()
    has_error(function() world:entity_range() end, "#1", "index expected")
    has_error(function() world:entity_range(FIRST) end, "#2", "index expected")
    has_error(function() world:entity_range(65535, 70000) end, "#1", "65536")
    has_error(function() world:entity_range(FIRST, 1 << 28) end, "#2", "268435455")
    has_error(function() world:entity_range(FIRST + 1, FIRST) end, "#2", "ends before")
    has_error(function() world:entity_range(FIRST + 0.5, FIRST) end, "#1")
  end)
end)

describe("spawn_at", function()
  it("adopts an id decided elsewhere", function()
    local world = helper.new_world { tag = 6 }
    world:component("Position", { "x: f32", "y: f32" })
    local id = pack(150000000, 12, 6)
    assert.are.equal(id, world:spawn_at(id, { Position = { y = 2 } }))
    assert.is_true(world:alive(id))
    assert.are.equal(2.0, (world:get(id, "Position.y")))
    world:despawn(id)
    assert.are.equal(pack(150000000, 13, 6), world:spawn_at(pack(150000000, 13, 6)))
  end)

  it("refuses a slot that is taken, a past life and another world's id", function()
    local world = helper.new_world { tag = 6 }
    local e = world:spawn()
    has_error(function() world:spawn_at(e) end, "65536v0@6", "has its index")
    has_error(function() world:spawn_at(e + (1 << 28)) end, "has its index")
    world:despawn(e)
    has_error(function() world:spawn_at(e) end, "is dead")
    has_error(function() world:spawn_at(pack(FIRST, 1, 7)) end, "another world")
    has_error(function() world:spawn_at(5) end, "bad argument #1")
    for _, id in ipairs(NO_IDS) do
      has_error(function() world:spawn_at(id) end, "is not an entity id")
    end
    assert.is_true(world:check())
  end)

  it("takes the adopted index out of those that spawn gives", function()
    local world = helper.new_world { tag = 6 }
    world:spawn_at(pack(FIRST, 0, 6))
    assert.are.equal(pack(FIRST + 1, 0, 6), world:spawn())
    local e = world:spawn()
    world:despawn(e)
    world:spawn_at(e + (1 << 28))
    assert.are.equal(pack(FIRST + 3, 0, 6), world:spawn())
  end)
end)

describe("ecs.format", function()
  it("C59 prints index, generation and tag", function()
    local world = helper.new_world { tag = 1 }
    local e = world:spawn()
    assert.are.equal("65536v0@1", ecs.format(e))
    assert.are.equal("65536v0@1", ecs.format(e + 0.0))
    assert.are.equal("12v3@0", ecs.format(pack(12, 3, 0)))
    assert.are.equal("268435455v65535@255", ecs.format((1 << 52) - 1))
    assert.are.equal("0v0@0", ecs.format(ecs.null))
  end)

  it("C59 prints the two halves of a pair", function()
    assert.are.equal("(7, 65540)", ecs.format(1 << 52 | 7 << 28 | 65540))
  end)

  it("refuses what cannot be an id", function()
    for _, value in ipairs { -1, 1 << 53, 1.5, 0 / 0, math.mininteger, 1 << 52 | 1 << 44 } do
      has_error(function() ecs.format(value) end, "is not an entity id", "#1")
    end
    has_error(function() ecs.format("1") end, "entity id expected, got string")
    has_error(function() ecs.format() end, "entity id expected, got no value")
  end)
end)

describe("many spawns and despawns", function()
  it("C52 C54 C81 keep the ids in use exact", function()
    local world = helper.new_world()
    local count = helper.by_scale { small = 2000, normal = 30000, deep = 1000000 }
    local ids = world:spawn_many(count)
    for i = 1, count, 2 do
      world:despawn(ids[i])
    end
    local alive = 0
    for i = 1, count do
      alive = alive + (world:alive(ids[i]) and 1 or 0)
    end
    assert.are.equal(count // 2, alive)
    assert.are.equal(count // 2, world:count "")
    local again = world:spawn_many((count + 1) // 2)
    for _, id in ipairs(again) do
      assert.are.equal(1, id >> 28 & 0xFFFF)
    end
    assert.are.equal(count, world:count "")
  end)
end)
