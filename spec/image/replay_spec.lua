local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local FURTHEST = 20

-- Systems of every form that draw random numbers, in phases that step, wait and hold back.
local function add_systems(world)
  world:phase("fixed", { after = "pre_update", fixed = 1 / 30 })
  world:system("step", { phase = "fixed", query = "P", each = function(p, _, e)
    p.x = p.x + world:random(e)
    if world:random(e) < 0.3 then p.x = p.x - world:random(e, 3) end
  end })
  world:system("lua", { query = "P, Q", compile = false, each = function(p, q, dt, e)
    q.n = q.n + world:random(e, 6)
    p.y = p.y + dt * world:random(e)
  end })
  world:system("map", { query = "P.x, Q.n:in", map = function(x, n, _, e)
    return x + n * world:random(e)
  end })
  world:system("every", { every = 0.125, query = "Q", each = function(q, _, e)
    q.n = world:random(e, -50, 50)
  end })
  world:system("breed", { every = 0.2, phase = "post_update", run = function(w, _, _)
    for p, e in w:query("P, !Q"):each() do
      if w:random(e) < 0.5 then w:add(e, "Q") end
      p.y = w:random(e, 9)
    end
    local first = w:query("P"):first()
    if first and w:count "P" < 60 then
      w:spawn { P = { x = w:random(first) }, Q = { n = w:random(first, 5) } }
    end
  end })
  world:system("forms", { query = "P", run = function(w, dt, q)
    q:each(function(p, _, e) p.x = p.x + w:random(e) end, dt)
    q:run(function(p, _, e) p.x = p.x - world:random(e) end, dt)
    local sum = q:sum(function(p, _, e) return p.x * world:random(e) end)
    q:where(function(_, e) return world:random(e) < 0.5 end):each(function(p, _, e)
      p.y = p.y + sum * w:random(e)
    end)
  end })
  world:system("die", { phase = "render", query = "Q", each = function(_, _, e)
    if world:random(e, 40) == 1 then world:despawn(e) end
  end })
  world:system("when", {
    when = function(w) return w:random(w:lookup "root", 3) == 1 end,
    run = function(w) w:res("R").n = w:res("R").n + w:random(w:lookup "root", 100) end,
  })
end

local function make(options)
  local world = helper.new_world(options or { tag = 1, seed = 5 })
  world:component("P", { "x: f64", "y: f64" })
  world:component("Q", { "n: i64" })
  world:resource("R", { "n: i64" })
  world:name(world:spawn(), "root")
  for i = 1, 20 do world:spawn { P = { x = i }, Q = i % 2 == 0 and {} or nil } end
  add_systems(world)
  return world
end

-- What an onlooker does between updates: every kind of loop, and draws of its own.
local function look(world, how)
  local q = world:query "P"
  for _ = 1, how % 4 do
    for p, e in q:each() do assert(p.x == p.x and world:random(e) < 1) end
    q:each(function(_, _, e) world:random(e) end)
    assert(q:where(function(_, e) return world:random(e) >= 0 end):count() == q:count())
    assert(q:sum(function() return 1 end) == q:count())
    q:min(function(p, _, e) return p.x + world:random(e) end)
    for chunk in q:chunks() do assert(chunk.n > 0) end
    local next_row, handle = q:each()
    next_row(handle, nil)
  end
end

local function step(world, at)
  world:update(({ 1 / 60, 0.05, 1 / 30, 0.11, 0 })[at % 5 + 1])
end

-- The images behind each of `count` updates; `between` is called before each.
local function run(world, count, between)
  local images = { [0] = world:save() }
  for at = 1, count do
    if between then between(at) end
    step(world, at)
    images[at] = world:save()
  end
  return images
end

-- Goes on from update `from` and compares what is behind each of the next `distance` updates.
local function replay(world, images, from, distance, looks)
  for at = from + 1, from + distance do
    if looks then look(world, at) end
    step(world, at)
    if world:save() ~= images[at] then
      error(("update %d, reached from %d, gives another world"):format(at, from), 0)
    end
  end
end

describe("going back and on again is the straight run", function()
  local length = helper.by_scale { small = FURTHEST + 2, normal = 40, deep = 200 }

  it("by restore, over 1 to 20 updates", function()
    local world, snapshots = make(), {}
    snapshots[0] = world:snapshot()
    local images = run(world, length, function(at) snapshots[at - 1] = world:snapshot() end)
    local rng = random.new(3)
    for distance = 1, FURTHEST do
      local from = rng:range(0, length - distance)
      world:restore(snapshots[from])
      assert.equal(images[from], world:save())
      replay(world, images, from, distance)
      world:restore(snapshots[from])
      replay(world, images, from, distance, true)
    end
  end)

  it("by load, here and elsewhere, over 1 to 20 updates", function()
    local world, other = make(), make { tag = 2, seed = 99 }
    local images = run(world, length)
    step(other, 3)
    local rng = random.new(4)
    for distance = 1, FURTHEST do
      local from = rng:range(0, length - distance)
      for _, target in ipairs { world, other } do
        target:load(images[from])
        replay(target, images, from, distance, target == other)
      end
    end
  end)

  it("whoever looks at the world between updates, in every tier", function()
    local world, watched = make(), make()
    local slow = make { tag = 1, seed = 5, kernels = false }
    local images = run(world, length)
    local tiers = { world:explain("step").tier, world:explain("lua").tier }
    assert.same(os.getenv "ECS_KERNELS" == "0" and { "lua", "lua" } or { "vector", "lua" }, tiers)
    for at, image in pairs(run(watched, length, function(at) look(watched, at) end)) do
      assert(image == images[at], "loops between updates have shifted numbers")
    end
    for at, image in pairs(run(slow, length, function(at) look(slow, at) end)) do
      assert(image == images[at], "plain Lua draws other numbers")
    end
  end)

  it("also from between the runs of single systems and forms in one tick", function()
    local world = make()
    local function act(at)
      world:run(({ "lua", "forms", "fixed", "when" })[at % 4 + 1], 0.04)
      look(world, at)
      world:query("P"):each(function(p, _, e) p.y = world:random(e) end)
      world:res("R").n = world:random(world:lookup "root", 1000)
    end
    step(world, 1)
    act(1)
    act(2)
    local snapshot, image, digest = world:snapshot(), world:save(), world:digest()
    act(3)
    assert.not_equal(digest, world:digest())
    local expected = run(world, 3, act)[3]
    for _, back in ipairs {
      function() world:restore(snapshot) end,
      function() world:load(image) end,
    } do
      back()
      assert.equal(digest, world:digest())
      assert.equal(image, world:save())
      act(3)
      assert.equal(expected, run(world, 3, act)[3])
    end
  end)
end)

describe("streams of random numbers", function()
  local function draws(world, name)
    local list = {}
    world:system(name, { run = function(w)
      for i = 1, 3 do list[#list + 1] = w:random(w:lookup "root", 1 << 40) + i end
    end })
    return list
  end

  it("belong to systems by their names, whatever other systems there are", function()
    local world, other = make(), make()
    local one, two = draws(world, "one"), draws(world, "two")
    draws(other, "early")
    local again = draws(other, "one")
    other:remove_system "forms"
    step(world, 1)
    step(other, 1)
    assert.same(one, again)
    assert.not_same(one, two)
  end)

  it("are new for each run in a tick, and for each tick", function()
    local world, seen = make(), {}
    local list = draws(world, "one")
    for at = 1, 3 do
      step(world, at)
      world:run("one", 0)
      world:run("one", 0)
    end
    for _, number in ipairs(list) do
      assert.is_nil(seen[number])
      seen[number] = true
    end
    assert.equal(27, #list)
  end)

  it("are in the digest and in images while a tick lasts", function()
    local world = make()
    step(world, 1)
    local digest, image = world:digest(), world:save()
    world:query("P"):each(function() end)
    assert.not_equal(digest, world:digest())
    assert.not_equal(image, world:save())
    world:load(image)
    assert.equal(digest, world:digest())
    for _ in world:query("P"):each() do end
    world:query("P"):where(function() return true end):count()
    assert.equal(digest, world:digest())
    assert.equal(image, world:save())
    world:run("when", 0)
    assert.not_equal(digest, world:digest())
  end)

  it("are not taken by what fails", function()
    local world = make()
    step(world, 1)
    local digest = world:digest()
    local function fail() error "no" end
    for _, form in ipairs {
      function() world:query("P"):each(fail) end,
      function() world:query("P.x"):map(fail) end,
      function() world:query("P"):sum(fail) end,
      function() world:query("P"):where(fail):count() end,
      function() world:query("P"):where(fail):each(function() end) end,
      function() for _ in world:query("P"):where(fail):each() do assert(false) end end,
    } do
      helper.has_error(form, "no")
      assert.equal(digest, world:digest())
    end
  end)

  it("of whoever calls the world go on when its systems have run, whatever these draw", function()
    local drawn = {}
    for i, noisy in ipairs { false, true } do
      local world = helper.new_world { seed = 3, tag = 1 }
      local e, list = world:spawn {}, {}
      local function draw() list[#list + 1] = world:random(e) end
      world:system("s", { when = function() return noisy and world:random(e) < 2 end,
        run = function()
          for _ = 1, 5 do world:random(e) end
          pcall(world.update, world, 1)
          pcall(world.run, world, "s", 1)
        end })
      world:system("failing", { run = function()
        for _ = 1, noisy and 7 or 1 do world:random(e) end
        error "now"
      end })
      world:on_error(draw)
      draw()
      world:run("s", 1)
      draw()
      world:update(1)
      draw()
      world:system("failing", { run = error })
      world:run("failing", 1)
      draw()
      drawn[i] = list
      world:close()
    end
    assert.equal(6, #drawn[1])
    assert.same(drawn[1], drawn[2])
  end)

  it("are counted alike when the query has no rows", function()
    local world, other = make(), make()
    for _, w in ipairs { world, other } do
      w:system("s", { run = function()
        w:query(w == world and "P" or "P, !P"):each(function() end)
        w:query("P"):each(function(p, _, e) p.x = w:random(e) end)
      end })
    end
    step(world, 1)
    step(other, 1)
    assert.equal(world:digest(), other:digest())
  end)
end)
