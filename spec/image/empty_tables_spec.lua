-- Tables without rows: no part of a world's content, and without a place in the order of tables.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

describe("tables without rows", function()
  local COMPONENTS = { "A", "B", "C" }
  local QUERIES = { "A", "B?", "A, !C", "C|B", "(Likes, *)", "!A" }

  local function start()
    local world = helper.new_world { tag = 1, seed = 1 }
    for _, name in ipairs(COMPONENTS) do world:component(name, { "v: f32" }) end
    world:relation "Likes"
    return world, world:spawn_many(4)
  end

  it("are none of the content: images of worlds with the same rows are equal", function()
    local one, two, all = start(), start(), {}
    for _, name in ipairs(COMPONENTS) do all[name] = {} end
    one:spawn(all)
    local e = two:spawn()
    for _, name in ipairs(COMPONENTS) do two:add(e, name) end
    assert(one:save() == two:save())
    assert.are.equal(one:digest(), two:digest())
  end)

  it("leave no trace: an update that changes nothing counts itself, and that is all", function()
    local world, ids = start()
    world:add(ids[1], "A")
    world:add(ids[1], "B")
    -- The number of updates is a u64 behind magic, version, tag and seed; the checksum is the end.
    local function content()
      local bytes = world:save()
      return bytes:sub(1, 24) .. bytes:sub(33, -9), ("<I8"):unpack(bytes, 25)
    end
    local before, updates = content()
    for i = 1, 4 do
      world:update(0)
      local now, count = content()
      assert(now == before)
      assert.are.equal(updates + i, count)
    end
  end)

  it("were in images that earlier versions wrote, which load all the same", function()
    local early, now = helper.new_world(), helper.new_world()
    ecs.load_file(early, "spec/golden/format3_early.ecs")
    ecs.load_file(now, "spec/golden/format3.ecs")
    assert.are.equal(now:digest(), early:digest())
    assert.are.equal(#now:save(), #early:save())
  end)

  -- Moves entities between few tables, so that these are empty and filled again all the time.
  local function act(world, ids, rng)
    local e, name = rng:pick(ids), rng:pick(COMPONENTS)
    local calls = {
      function() world:add(e, name) end,
      function() world:remove(e, name) end,
      function() world:add(e, "Likes", rng:pick(ids)) end,
      function() world:remove(e, "Likes") end,
      function() world:query(name):remove(name) end,
      function() world:query("A"):add(name) end,
      function() world:despawn(world:spawn { [name] = {} }) end,
      function()
        world:defer()
        world:remove(e, name)
        world:add(rng:pick(ids), rng:pick(COMPONENTS))
        world:commit()
      end,
      function() world:update(0) end,
    }
    calls[rng:int(#calls)]()
  end

  local function order_of(world)
    local list = {}
    for i, text in ipairs(QUERIES) do
      list[i] = table.concat(world:query(text):ids(), " ")
    end
    return table.concat(list, "\n")
  end

  it("have no place in the order: who loads, restores or lies idle goes on alike", function()
    for seed = 1, helper.by_scale { small = 10, normal = 60, deep = 600 } do
      local straight, ids = start()
      local loading, restoring, idle = start(), start(), start()
      local worlds = { straight, loading, restoring, idle }
      local rng, states = random.new(seed), {}
      for i = 1, #worlds do states[i] = random.new(seed + 1000) end
      for step = 1, 40 do
        local snapshot = restoring:snapshot()
        if rng:int(4) == 1 then loading:load(straight:save()) end
        if rng:int(4) == 1 then idle:update(0) end
        if rng:int(4) == 1 then
          for _ = 1, rng:int(5) do act(restoring, ids, rng) end
          order_of(restoring)
          restoring:restore(snapshot)
        end
        for i, world in ipairs(worlds) do act(world, ids, states[i]) end
        local expected = order_of(straight)
        for i, world in ipairs(worlds) do
          assert(order_of(world) == expected, ("seed %d, step %d, world %d"):format(seed, step, i))
        end
        assert(straight:save() == loading:save() and straight:save() == restoring:save())
      end
      helper.check_worlds()
    end
  end)
end)
