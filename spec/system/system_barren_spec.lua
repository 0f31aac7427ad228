-- Systems whose queries have no rows are passed over: they cost next to nothing, and nothing tells.
local helper = require "spec.support.ecs_helper"

local described = helper.system

local function declare(world)
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Burning", { "heat: f32", storage = "sparse" })
  world:component("Awake", { "since: f32", toggle = true })
  world:tag("Seed")
  world:tag("Frozen")
  world:relation("Likes")
end

local function new_world()
  local world = helper.new_world()
  declare(world)
  return world
end

-- Ways in which a query comes to have a row. `e` is an entity with a Seed, which has been made to
-- lack what the query asks for.
local ways = {
  { "a spawn", "Position", function(w) w:spawn { Position = {} } end },
  { "a spawner", "Position", function(w) w:spawner "Position" (1, 2) end },
  { "a spawn of many", "Position", function(w) w:spawn_many(3, { Position = {} }) end },
  { "an added component", "Position", function(w, e) w:add(e, "Position") end },
  { "a set component", "Position", function(w, e) w:set(e, "Position", 1, 2) end },
  { "a component that goes", "Seed, !Frozen", function(w, e) w:remove(e, "Frozen") end,
    function(w, e) w:add(e, "Frozen") end },
  { "a whole query that is added to", "Position", function(w) w:query("Seed"):add("Position") end },
  { "a whole query that is taken from", "Seed, !Frozen",
    function(w) w:query("Frozen"):remove("Frozen") end,
    function(w, e) w:add(e, "Frozen") end },
  { "some rows of a query that are added to", "Position", function(w, e)
    w:query("Seed"):where(function(other) return other == e end):add("Position")
  end, function(w) w:spawn { Seed = true } end },
  { "commands that go the same way", "Position", function(w)
    w:defer()
    for _, e in ipairs(w:query("Seed"):ids()) do w:add(e, "Position") end
    w:commit()
  end, function(w) w:spawn_many(3, { Seed = true }) end },
  { "a copy", "Seed, !Frozen", function(w, e)
    local copy = w:clone(e)
    w:remove(copy, "Frozen")
  end, function(w, e) w:add(e, "Frozen") end },
  { "a tie", "(Likes, *)", function(w, e) w:add(e, "Likes", e) end },
  { "a sparse component", "Burning", function(w, e) w:add(e, "Burning") end },
  { "a switch", "Awake", function(w, e) w:enable(e, "Awake") end, function(w, e)
    w:add(e, "Awake")
    w:disable(e, "Awake")
  end },
  { "an instance", "Position", function(w) w:instantiate("stone") end,
    function(w) w:prefab("stone", { Position = {} }) end },
}

local function probe(world, query)
  local seen = { 0 }
  world:system("probe", { query = query, each = function() seen[1] = seen[1] + 1 end })
  return seen
end

describe("a system without rows", function()
  for _, way in ipairs(ways) do
    local what, query, come, prepare = table.unpack(way)

    it("is called in the update in which its query has one by " .. what, function()
      for _, from in ipairs({ "the phase before", "the system before", "outside" }) do
        local world = new_world()
        local e = world:spawn { Seed = true }
        if prepare then prepare(world, e) end
        local now = false
        if from ~= "outside" then
          world:system("come", {
            phase = from == "the phase before" and "pre_update" or "update",
            run = function(w) if now then come(w, e) end end,
          })
        end
        local seen = probe(world, query)
        for _ = 1, 3 do world:update(0.5) end
        assert.are.equal(0, seen[1])
        now = true
        if from == "outside" then come(world, e) end
        world:update(0.5)
        assert.is_true(seen[1] > 0, from)
        assert(world:check())
      end
    end)
  end

  it("is called once its table, which was empty, has a row again", function()
    local world = new_world()
    local seen = probe(world, "Position")
    for round = 1, 4 do
      local e = world:spawn { Position = {} }
      world:update(1)
      assert.are.equal(round, seen[1])
      world:despawn(e)
      world:update(1)
      world:update(1)
      assert.are.equal(round, seen[1])
    end
  end)

  it("is called after a load and after a restore that bring rows", function()
    local world = new_world()
    local e = world:spawn { Position = {} }
    local bytes, snapshot = world:save(), world:snapshot()
    world:despawn(e)
    local seen = probe(world, "Position")
    world:update(1)
    world:restore(snapshot)
    world:update(1)
    assert.are.equal(1, seen[1])
    world:query("Position"):despawn()
    world:update(1)
    world:load(bytes)
    world:update(1)
    assert.are.equal(2, seen[1])
  end)

  it("is called after a component has other fields, and fails once it is undeclared", function()
    local world = new_world()
    local seen = probe(world, "Position")
    world:update(1)
    world:component("Position", { "x: f64", "y: f64", "z: f64" })
    world:update(1)
    local e = world:spawn { Position = { 1, 2, 3 } }
    world:update(1)
    assert.are.equal(1, seen[1])
    world:despawn(e)
    world:update(1)
    world:undeclare("Position")
    helper.has_error(function() world:update(1) end, "system 'probe'")
  end)

  it("counts as run, and its time and random numbers go on as if it were called", function()
    local function trace(rows)
      local world = helper.new_world({ seed = 7, tag = 7 })
      declare(world)
      local log = {}
      world:phase("steps", { fixed = 0.25 })
      for _, spec in ipairs({ { "plain" }, { "seldom", every = 1.5 }, { "fixed", phase = "steps" },
                              { "first", phase = "startup" } }) do
        local name = spec[1]
        world:system(name, {
          query = "Position", every = spec.every, phase = spec.phase,
          each = function(_, dt, e)
            log[#log + 1] = ("%s %g %d"):format(name, dt, world:random(e, 1000))
          end,
        })
      end
      local e = world:spawn { Seed = true }
      if rows then world:add(e, "Position") end
      for i = 1, 6 do world:update(i / 4) end
      if rows then log = {} end
      world:add(e, "Position")
      for i = 1, 3 do world:update(i / 4) end
      for _, name in ipairs({ "plain", "seldom", "fixed", "first" }) do
        log[#log + 1] = name .. " " .. described(world, name).runs
      end
      return log
    end
    assert.are.same(trace(true), trace(false))
  end)

  it("does not run while it is off or parked, nor behind one that fails", function()
    local world = new_world()
    local seen = probe(world, "Position")
    world:update(1)
    world:switch("probe", false)
    world:update(1)
    assert.are.equal(1, described(world, "probe").runs)
    world:spawn { Position = {} }
    world:update(1)
    assert.are.same({ 0, 1 }, { seen[1], described(world, "probe").runs })
    world:query("Position"):despawn()
    world:switch("probe", true)
    world:update(1)
    assert.are.equal(2, described(world, "probe").runs)
    world:system("fail", { phase = "pre_update", run = function() error("not now") end })
    helper.has_error(function() world:update(1) end, "not now")
    assert.are.equal(2, described(world, "probe").runs)
    world:switch("fail", false)
    local dt
    world:system("probe", { query = "Position", each = function(_, passed) dt = passed end })
    world:spawn { Position = {} }
    world:update(1)
    assert.are.equal(2, dt)
  end)

  it("is told from one that reads events or what has changed, and is asked its `when`", function()
    local world = new_world()
    world:event("Hit", { "hard: f32" })
    local hits, changes, asked = probe(world, "Hit"), { 0 }, 0
    world:system("changes", { query = "Position:changed",
                              each = function() changes[1] = changes[1] + 1 end })
    world:system("asked", { query = "Position", each = function() end,
                            when = function() asked = asked + 1 return true end })
    world:update(1)
    world:emit("Hit", 1)
    local e = world:spawn { Position = {} }
    world:update(1)
    world:update(1)
    assert.are.same({ 1, 1, 3 }, { hits[1], changes[1], asked })
    world:set(e, "Position.x", 2)
    world:update(1)
    assert.are.same({ 1, 2, 4 }, { hits[1], changes[1], asked })
  end)

  it("is told to stay Lua, also while nothing matches", function()
    local world = new_world()
    world:system("burn", { query = "Burning, Position", each = function(burning, position)
      position.x = tonumber(tostring(burning.heat))
    end })
    local e = world:spawn { Position = {} }
    local other = world:spawn { Burning = {} }
    for _ = 1, 3 do
      world:update(0.1)
      assert.equal("lua", described(world, "burn").tier)
      assert.equal("lua", world:explain("burn").tier)
      world:set(e, "Burning", 5)
      world:update(0.1)
      assert.equal("lua", described(world, "burn").tier)
      world:remove(e, "Burning")
    end
    world:despawn(other)
  end)
end)
