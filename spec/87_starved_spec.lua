-- Calls that run out of memory and are tried again, where random runs seldom come.

local helper = require "spec.support.ecs_helper"
local starve = require "spec.starve"

-- What a call gives once there is memory enough for it, and how often there was not.
local function call_starved(method, world, ...)
  for k = 1, 100 do
    local results = table.pack(starve.call(k, true, method, world, ...))
    if results[1] then
      return results[2], k - 1
    end
    assert.are.equal("not enough memory", results[2])
  end
end

describe("a spawn with ties that runs out of memory", function()
  local world, parent, dead

  before_each(function()
    world = helper.new_world()
    world:component("Position", { "x: f32" })
    parent, dead = world:spawn(), world:spawn_many(3)
    for _, id in ipairs(dead) do
      world:despawn(id)
    end
  end)

  -- The index of the next id.
  local function next_index()
    return world:spawn() & 0xFFFFFFF
  end

  it("takes no id (C18)", function()
    local id, failures = call_starved(world.spawn, world, { ChildOf = parent, Position = {} })
    assert.is_true(failures > 3)
    assert.are.equal(dead[3] + (1 << 28), id)
    assert.are.equal(dead[2] & 0xFFFFFFF, next_index())
  end)

  it("adopts no id (C18)", function()
    for at = 3, 1, -1 do
      local wanted, name = dead[at] + (7 << 28), "Tag" .. at
      world:tag(name)
      local id, failures = call_starved(world.spawn_at, world, wanted,
        { ChildOf = parent, [name] = true })
      assert.is_true(failures > 0)
      assert.are.equal(wanted, id)
      world:despawn(id)
    end
    assert.are.equal(dead[1] & 0xFFFFFFF, next_index())
    assert.are.equal(dead[2] & 0xFFFFFFF, next_index())
  end)
end)
