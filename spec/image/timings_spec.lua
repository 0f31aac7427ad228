-- What images and snapshots know of phases and systems belongs to the world, whether or not these
-- are there: it is kept until they are registered.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local SYSTEMS = {
  plain = { query = "A", each = function(a, dt, e, world) a.x = a.x + dt * world:random(e) end },
  twice = { query = "A", each = function(a, dt) a.y = a.y + dt end },
  every = { every = 0.13, query = "B", each = function(b, dt) b.x = b.x + dt end },
  steps = { phase = "fixed", query = "B", each = function(b, dt) b.y = b.y + dt end },
  slow = { phase = "fixed", every = 0.11, query = "C", each = function(c, dt) c.x = c.x + dt end },
  once = { phase = "startup", run = function(world)
    world:res("R").starts = world:res("R").starts + 1
  end },
  off = { enabled = false, query = "C", each = function(c, dt) c.y = c.y + dt end },
  hears = { query = "Hit", run = function(world, _, q)
    for hit in q:each() do world:res("R").heard = world:res("R").heard + hit.by end
  end },
  waits = { every = 0.17, query = "Hit", run = function(world, _, q)
    for hit in q:each() do world:res("R").late = world:res("R").late + hit.by end
  end },
  news = { phase = "post_update", query = "A:changed", run = function(world, _, q)
    world:res("R").news = world:res("R").news + q:count()
    for _ in q:each() do end
  end },
  rare = { phase = "render", every = 0.21, query = "B:changed, A", run = function(world, _, q)
    for _ in q:each() do world:res("R").rare = world:res("R").rare + 1 end
  end },
}

local NAMES = {}
for name in pairs(SYSTEMS) do NAMES[#NAMES + 1] = name end
table.sort(NAMES)

local function start(options)
  local world = helper.new_world(options or { tag = 1, seed = 7 })
  for _, name in ipairs { "A", "B", "C" } do world:component(name, { "x: f64", "y: f64" }) end
  world:event("Hit", { "by: i64" })
  world:resource("R", { "starts: i64", "heard: i64", "late: i64", "news: i64", "rare: i64" })
  return world
end

local function register(world, name)
  local form = { name = nil }
  for key, value in pairs(SYSTEMS[name]) do form[key] = value end
  local each = form.each
  if each then form.each = function(view, dt, e) each(view, dt, e, world) end end
  if form.phase == "fixed" then world:phase("fixed", { fixed = 0.04, after = "update" }) end
  world:system(name, form)
end

-- All names, or some, in some order.
local function shuffled(rng, names)
  local list = table.move(names, 1, #names, 1, {})
  for i = #list, 2, -1 do
    local j = rng:int(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

local function populated()
  local world = start()
  for _, name in ipairs(NAMES) do register(world, name) end
  for i = 1, 6 do world:spawn { A = {}, B = i > 2 and {} or nil, C = i > 4 and {} or nil } end
  return world
end

local function act(world, rng)
  if rng:int(2) == 1 then world:emit("Hit", { by = rng:int(9) }) end
  if rng:int(3) == 1 then world:set(world:query("B"):first(), "B.x", rng:int(5)) end
  if rng:int(5) == 1 then world:switch(rng:pick(NAMES), rng:int(2) == 1) end
  if rng:int(6) == 1 then world:switch("fixed", rng:int(2) == 1) end
  if rng:int(5) == 1 then world:run(rng:pick(NAMES), 0.03) end
  world:update(rng:int(8) / 100)
  if rng:int(3) == 1 then world:run(rng:pick(NAMES), 0.02) end
end

describe("timings of systems", function()
  it("are kept in a world that has not their systems, and belong to its digest", function()
    local world = helper.new_world()
    world:component("P", { "x: f64" })
    world:system("k", { query = "P", each = function(p, dt) p.x = p.x + dt end })
    world:spawn { P = {} }
    world:run("k", 0.1)
    local other = helper.new_world()
    other:load(world:save())
    assert.are.equal(world:digest(), other:digest())
    assert(world:save() == other:save())
  end)

  it("are those of the image, whatever systems there are, were or come", function()
    for seed = 1, helper.by_scale { small = 10, normal = 80, deep = 800 } do
      local rng = random.new(seed)
      local world = populated()
      for _ = 1, rng:int(12) do act(world, rng) end
      local bytes, digest = world:save(), world:digest()
      local other = start { tag = 2, seed = 1 }
      other:system("more", { every = 0.3, run = function() end })
      local names, there = shuffled(rng, NAMES), rng:int(#NAMES) - 1
      for i = 1, there do register(other, names[i]) end
      if rng:int(2) == 1 then
        for _ = 1, 3 do other:update(0.05) end
        other:switch("more", false)
        for i = 1, there do other:switch(names[i], rng:int(2) == 1) end
      end
      local function same(when)
        if bytes ~= other:save() or digest ~= other:digest() then
          error(("seed %d: another world %s"):format(seed, when), 0)
        end
      end
      other:load(bytes)
      same "when it is loaded"
      local snapshot = other:snapshot()
      other:update(0.1)
      if rng:int(2) == 1 then
        for i = there + 1, #names do register(other, names[i]) end
        there = #names
      end
      other:restore(snapshot)
      same "when it is restored"
      for i = there + 1, #names do register(other, names[i]) end
      same "when all systems are there"
      other:remove_system "more"
      local states = { random.new(seed), random.new(seed) }
      for step = 1, 12 do
        act(world, states[1])
        act(other, states[2])
        bytes, digest = world:save(), world:digest()
        same(("%d updates later"):format(step))
      end
      helper.check_worlds()
    end
  end)

  it("wait for a live script, too", function()
    local scratch = require "spec.support.scratch"
    local live = require "ecs.live"
    local files = scratch.new()
    files:write("beat.lua", [[
      local world = ...
      world:phase("fixed", { fixed = 0.25 })
      world:resource("R", { "beats: i64", "steps: i64" })
      world:system("beat", { every = 1,
        run = function(w) w:res("R").beats = w:res("R").beats + 1 end })
      world:system("step", { phase = "fixed",
        run = function(w) w:res("R").steps = w:res("R").steps + 1 end })
    ]])
    local world = helper.new_world()
    live.open(world, { files.path })
    world:update(0.9)
    local other = helper.new_world()
    other:load(world:save())
    live.open(other, { files.path })
    other:update(0.15)
    assert.are.same({ 1, 4 }, { other:res("R").beats, other:res("R").steps })
    files:close()
  end)

  it("keep changes of tracked components where a world without the system saved them", function()
    local function tracked(told)
      local world = helper.new_world()
      world:component("Seen", { "n: i32", track = true })
      if told then
        world:system("watch", { query = "Seen:changed", each = function(seen)
          told[#told + 1] = seen.n
        end })
      end
      return world
    end
    local world, tool, told = tracked {}, tracked(), {}
    local e = world:spawn { Seen = { 1 } }
    world:update(0)
    world:set(e, "Seen.n", 2)
    tool:load(world:save())
    assert.are.equal(world:save(), tool:save())
    local last = tracked(told)
    last:load(tool:save())
    last:update(0)
    assert.are.same({ 2 }, told)
  end)

  it("of a system that is registered after it was removed are new", function()
    local world = populated()
    world:update(0.1)
    local other = start()
    other:load(world:save())
    register(other, "every")
    other:remove_system "every"
    register(other, "every")
    other:update(0.05)
    assert.are.equal(0.0, (other:get(other:query("B"):first(), "B.x")))
  end)

  it("of systems that the image does not know begin anew", function()
    local world, starts = start(), 0
    local bytes = start():save()
    world:system("begin", { phase = "startup", run = function() starts = starts + 1 end })
    world:system("wait", { every = 1, run = function() starts = starts + 10 end })
    world:update(0.9)
    world:switch("wait", false)
    world:load(bytes)
    world:update(0.9)
    assert.are.equal(2, starts)
    world:update(0.2)
    assert.are.equal(12, starts)
  end)
end)
