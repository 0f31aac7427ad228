-- Reliability line 13: 1,000,000 spawns and despawns. Dead ids are refused everywhere, used-up
-- slots are retired, id 0 is never issued. C38, C39, C52, C53, C54, C62.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local has_error = helper.has_error

local count = helper.by_scale { small = 150000, normal = 300000, deep = 1000000 }

local function new_world()
  local world = helper.new_world()
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Link", { "to: entity" })
  world:tag "Frozen"
  return world
end

-- Everything that takes an entity refuses a dead id and says so.
local function check_refused(world, dead, live)
  assert(not world:alive(dead))
  local calls = {
    function() world:despawn(dead) end,
    function() world:set(dead, "Position", 1, 2) end,
    function() world:get(dead, "Position") end,
    function() world:read(dead, "Position") end,
    function() world:has(dead, "Position") end,
    function() world:add(dead, "Frozen") end,
    function() world:remove(dead, "Frozen") end,
    function() world:components(dead) end,
    function() world:name(dead) end,
    function() world:name(dead, "x") end,
    function() world:spawn_at(dead, {}) end,
    function() world:spawn { Link = { dead } } end,
    function() world:set(live, "Link", dead) end,
    function() world:set(live, "Link.to", dead) end,
  }
  for _, call in ipairs(calls) do has_error(call, "dead") end
end

local function index_of(id) return id & 0xFFFFFFF end

describe("churn:", function()
  it("C39 a slot is retired after 65,536 lives, and its ids stay dead", function()
    local world = new_world()
    local live = world:spawn { Link = {} }
    local first = world:spawn()
    local slot, dead = index_of(first), {}
    world:despawn(first)
    for life = 1, 65535 do
      local id = world:spawn()
      assert(id ~= 0 and index_of(id) == slot)
      if life % 4096 == 0 or life == 65535 then dead[#dead + 1] = id end
      world:despawn(id)
    end
    local other = world:spawn()
    assert.are_not.equal(slot, index_of(other))
    for _, gone in ipairs(dead) do check_refused(world, gone, live) end
    check_refused(world, first, live)
    assert.are.equal(1, world:recycle_retired())
    local again = world:spawn()
    assert.are.equal(first, again)
  end)

  it(("C52, C53 %d spawns and despawns over a few slots"):format(count), function()
    local world = new_world()
    local rng, live, slots = random.new(13), {}, {}
    local keeper = world:spawn { Link = {} }
    for i = 1, 12 do live[i] = world:spawn { Position = { i, i } } end
    for i = 1, count do
      local at = rng:int(#live)
      local dead = live[at]
      world:despawn(dead)
      local id = world:spawn(i % 3 == 0 and { Frozen = true } or { Position = { i, 0 } })
      assert(id ~= 0 and id ~= dead and not world:alive(dead))
      if i % 49999 == 0 then check_refused(world, dead, keeper) end
      live[at] = id
      slots[index_of(id)] = true
    end
    local used = 0
    for _ in pairs(slots) do used = used + 1 end
    local retired = world:recycle_retired()
    assert.is_true(retired >= (count - 12 * 65536) // 65536)
    assert.is_true(used <= 12 + retired + 1)
    assert.are.equal(13, world:describe().entities)
    helper.check(world)
  end)

  it("C52, C54 many entities come and go at once", function()
    local world = new_world()
    local size = 20000
    for round = 1, count // (2 * size) do
      local ids = world:spawn_many(size, { Position = { round, 0 } })
      assert.are.equal(size, world:count "Position")
      local seen = {}
      for _, id in ipairs(ids) do
        assert(id ~= 0 and not seen[id])
        seen[id] = true
        world:despawn(id)
      end
      for i = 1, size, 997 do assert.is_false(world:alive(ids[i])) end
      assert.are.equal(0, world:describe().entities)
    end
    helper.check(world)
  end)
end)
