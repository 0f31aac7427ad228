-- Law 8: the collector knows what a world weighs. C34, C60.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local MEGABYTE = 1 << 20

-- Resident bytes of the process; nil where they cannot be asked for, or tell nothing because a
-- sanitizer or valgrind holds back what is freed.
local function resident()
  local build = os.getenv "ECS_BUILD" or ""
  local file = not build:find "asan" and not build:find "debug" and io.open "/proc/self/statm"
  if not file then return nil end
  local pages = file:read("a"):match("^%d+ (%d+)")
  file:close()
  return tonumber(pages) * 4096
end

local function fill_in_bulk(world)
  world:spawn_many(150000, { Place = true })
end

local function fill_one_by_one(world)
  for _ = 1, 70000 do world:spawn { Place = true } end
  world:spawn_many(70000, { Place = true })
end

local function fill_in_a_defer(world)
  world:defer()
  world:spawn_many(40000, { Place = true })
  world:commit()
  world:spawn_many(110000, { Place = true })
end

-- A world of at least 4 MB.
local function heavy_world(fill)
  local world = ecs.world()
  world:component("Place", { "x: f64", "y: f64" })
  fill(world)
  local bytes = world:describe().bytes
  assert(bytes >= 4 * MEGABYTE and bytes < 12 * MEGABYTE, "a world of " .. bytes .. " bytes")
  return world, bytes
end

-- Makes and drops worlds. Returns the most bytes of them that were there at once, and the most
-- that the process grew by.
local function drop_worlds(count, fill)
  local there, start = setmetatable({}, { __mode = "v" }), resident()
  local most, grown = 0, 0
  for i = 1, count do
    local world, bytes = heavy_world(fill)
    local alive = 0
    there[i], world = world, nil -- luacheck: ignore
    for _ in pairs(there) do alive = alive + 1 end
    most = math.max(most, alive * bytes)
    if start then grown = math.max(grown, resident() - start) end
  end
  return most, grown
end

-- A sanitizer holds back what is freed, and a process under it grows in its own way: there a few
-- worlds show as much as many; under valgrind, where it is whether all is freed, so do fewer.
local function count_of(counts)
  local build = os.getenv "ECS_BUILD" or ""
  if build:find "debug" then return 4 end
  return build:find "asan" and counts.small or helper.by_scale(counts)
end

describe("law 8:", function()
  local cases = {
    { "bulk", fill_in_bulk, { small = 30, normal = 300, deep = 300 } },
    { "one by one", fill_one_by_one, { small = 25, normal = 30, deep = 300 } },
    { "a defer", fill_in_a_defer, { small = 25, normal = 30, deep = 300 } },
  }
  for _, case in ipairs(cases) do
    local name, fill, count = case[1], case[2], count_of(case[3])
    for _, mode in ipairs { "incremental", "generational" } do
      it(("%d dropped worlds, filled in %s, do not fill the memory (%s collector)")
        :format(count, name, mode), function()
        collectgarbage()
        collectgarbage()
        local found = collectgarbage(mode)
        local most, grown = drop_worlds(count, fill)
        collectgarbage(found)
        collectgarbage()
        assert.is_true(most < 100 * MEGABYTE, ("%d MB of worlds"):format(most // MEGABYTE))
        assert.is_true(grown < 100 * MEGABYTE, ("grew by %d MB"):format(grown // MEGABYTE))
      end)
    end
  end

  it("a stopped collector stays stopped", function()
    collectgarbage "stop"
    for _ = 1, 3 do heavy_world(fill_in_bulk) end
    local running = collectgarbage "isrunning"
    collectgarbage "restart"
    collectgarbage()
    assert.is_false(running)
  end)

  it("describe tells the bytes, and a world that is emptied gives them back", function()
    local world = helper.new_world()
    world:component("Place", { "x: f64", "y: f64" })
    local empty = world:describe().bytes
    local ids = world:spawn_many(100000, { Place = true })
    local full = world:describe().bytes
    assert.is_true(full - empty >= 2600000 and full - empty <= 3500000)
    for _, id in ipairs(ids) do world:despawn(id) end
    world:update(0)
    world:update(0)
    assert.is_true(world:describe().bytes < full - 1600000)
  end)

  it("is given back where an entity passes through tables with many ties", function()
    local world = helper.new_world()
    world:relation "Likes"
    world:tag "Seen"
    local e, targets = world:spawn(), world:spawn_many(1500)
    local liked, snapshot = world:query "(Likes, *)", nil
    for i, target in ipairs(targets) do
      world:add(e, "Likes", target)
      if i % 500 == 0 then
        assert.equal(i, liked:count())
        assert.is_true(world:check())
      end
      if i == 700 then snapshot = world:snapshot() end
    end
    assert.is_true(#world:describe().tables < 900)
    for i = 1, 1400 do world:remove(e, "Likes", targets[i]) end
    assert.equal(100, liked:count())
    assert.is_true(#world:describe().tables < 900)
    assert.is_true(world:check())
    world:restore(snapshot)
    assert.equal(700, liked:count())
    assert.is_true(world:has(e, "Likes", targets[700]) and not world:has(e, "Likes", targets[701]))
    for i = 701, 1500 do world:add(e, "Likes", targets[i]) end
    assert.equal(1500, liked:count())
    assert.is_true(world:check())
  end)
end)
