-- Calls that run out of memory and are tried again, where random runs seldom come.

local helper = require "spec.support.ecs_helper"
local starve = require "spec.starve"

-- What a call gives once there is memory enough for it, and how often there was not; `look` comes
-- behind each failure.
local function try_starved(look, method, ...)
  for k = 1, 1000 do
    local results = table.pack(starve.call(k, true, method, ...))
    if results[1] then
      return results[2], k - 1
    end
    assert.are.equal("not enough memory", results[2])
    look()
  end
end

local function call_starved(method, world, ...)
  return try_starved(function() end, method, world, ...)
end

-- The same of one that leaves the world as it was when it fails.
local function call_unharmed(world, method, ...)
  local before = world:digest()
  local _, failures = try_starved(function()
    assert.are.equal(before, world:digest())
  end, method, ...)
  assert.is_true(failures > 3)
end

describe("a function that emits, over entities or events, and runs out of memory", function()
  -- Each call that fails leaves the world as it was; the one that does not emits all.
  local function starved(make)
    local seen = {}
    for n, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels, tag = 5 }
      world:component("Gun", { "left: i32", "at: entity" })
      world:event("Hit", { "who: entity", "amount: f64" })
      world:event("Said", { "text: string", "who: entity" })
      local last
      for i = 1, 300 do last = world:spawn { Gun = { left = i % 9, at = last } } end
      for i = 1, 40 do world:emit("Hit", last, i) end
      local query, fn = make(world)
      call_unharmed(world, query.each, query, fn)
      local told = world:explain(fn)
      assert.are.equal(kernels and "vector" or "lua", told.tier, told.reason)
      helper.check(world)
      seen[n] = world:count "Hit" .. " " .. world:count "Said" .. " " .. world:digest()
    end
    assert.are.equal(seen[2], seen[1])
  end

  it("emits nothing (C18)", function()
    starved(function(world)
      return world:query "Gun", function(gun, _, e)
        for k = 1, 9 do
          if k <= gun.left then world:emit("Hit", gun.at, k) end
        end
        world:emit("Said", "a text that nobody else has", e)
      end
    end)
    starved(function(world)
      return world:query "Hit, Hit.who->Gun", function(hit, gun)
        if hit.amount > 3 then world:emit("Said", { who = gun.at }) end
        for _ = 1, 9 do world:emit("Hit", hit.who, hit.amount + 1) end
      end
    end)
  end)
end)

describe("a function that spawns, and runs out of memory", function()
  it("spawns all, or none (C18)", function()
    for _, observed in ipairs { false, true } do
      local seen = {}
      for n, kernels in ipairs { true, false } do
        local world = helper.new_world { kernels = kernels, tag = 5 }
        world:component("Gun", { "left: i32" })
        world:component("Shot", { "x: f64", "y: f32 = 3", "kind: u8" })
        world:component("Smoke", { "size: f32" })
        for i = 1, 1500 do world:spawn { Gun = { left = i } } end
        if observed then
          world:observer("it", { on = "add", query = "Smoke", each = function() end })
          world:despawn(world:spawn { Smoke = {} })   -- its first run takes memory of its own
        end
        local query = world:query "Gun:in"
        local function fn(gun)
          if gun.left % 3 == 0 then world:spawn { Smoke = { size = gun.left } } end
          if gun.left % 4 == 0 then world:spawn { Shot = { x = gun.left, kind = gun.left % 9 } } end
          if gun.left % 5 == 0 then world:spawn { Shot = {}, Smoke = {} } end
        end
        local shots, smokes = world:query "Shot", world:query "Smoke"
        local failures, _ = 4
        if kernels then
          _, failures = try_starved(function()
            assert.are.equal(0, shots:count() + smokes:count())
            assert.are.equal(1500, world:count "Gun")
            helper.check(world)
          end, query.each, query, fn)
          assert.are.equal("vector", world:explain(fn).tier)
        else
          query:each(fn)
        end
        assert.is_true(failures > 3)
        helper.check(world)
        seen[n] = {}
        for shot, smoke in world:query("Shot?, Smoke?, !Gun"):each() do
          local list = seen[n]
          list[#list + 1] = shot and ("%s %s %d"):format(shot.x, shot.y, shot.kind) or "no shot"
          list[#list + 1] = smoke and smoke.size
        end
      end
      assert.are.same(seen[2], seen[1])
    end
  end)
end)

describe("a function whose compiling runs out of memory", function()
  -- Many conditions behind some steps: there is memory to ask for at each kind of place.
  local function body(steps)
    local lines = {}
    for i = 1, 60 do
      lines[i] = ("if p.x > %d and p.n ~= -%d then p.n = p.n + %d end"):format(i, i, i)
    end
    return assert(load("return function(p) " .. ("p.n = ~p.n "):rep(steps)
      .. table.concat(lines, "\n") .. " end"))()
  end

  it("is compiled once there is enough (C18)", function()
    for steps = 1, 4 do
      local found = {}
      for i, kernels in ipairs { true, false } do
        local world, fn = helper.new_world { kernels = kernels }, body(steps)
        world:component("P", { "x: f64", "n: i64" })
        local e = world:spawn { P = { x = 30.5 } }
        local query = world:query "P"
        local _, failures = call_starved(query.run, query, fn)
        assert.is_true(failures > 0)
        assert.are.equal(kernels and "vector" or "lua", world:explain(fn).tier)
        found[i] = world:get(e, "P.n")
      end
      assert.are.equal(found[2], found[1])
    end
  end)
end)

describe("an index that runs out of memory", function()
  for kind, key in pairs { grid = "Position", hash = "x", ordered = "x", maybe = "x",
    [1] = function(position) return position.x end } do
    it(("finds all when it is asked again (C18, by %s)"):format(kind), function()
      local world = helper.new_world()
      world:component("Position", { "x: f32", "y: f32" })
      local by = kind == 1 and "ordered" or kind
      local options = { query = "Position:in", [by] = key, cell = by == "grid" and 1 or nil }
      for i = 1, 100 do world:spawn { Position = { i % 2, i } } end
      local failures = 0
      for i = 1, 3 do
        if i == 3 then options.query = "Position" end
        local made, k = call_starved(world.index, world, "near", options)
        failures = failures + k
        local method, arguments = made.find, { 1 }
        if by == "grid" then
          method, arguments = made.nearest, { 1, 1, 5 }
        elseif by == "ordered" then
          method, arguments = made.lowest, { 60 }
        end
        for _ = 1, 2 do
          local _, more = call_starved(method, made, table.unpack(arguments))
          failures = failures + more
        end
        local told = world:explain "near"
        assert.are.same({ 100, 0 }, { told.rows, told.lost })
        helper.check(world)
      end
      assert.is_true(failures > 5)
    end)
  end
end)

describe("a prefab that is refused", function()
  it("leaves all as it was, also when memory runs out before", function()
    local world = helper.new_world()
    world:component("Health", { "hp: i32" })
    world:tag "Orcish"
    world:prefab("A", { Health = { 1 } })
    world:prefab("B", { Health = { 2 } }, { is_a = "A" })
    world:instantiate "A"
    local before, failures, message = world:digest(), 0, "not enough memory"
    while message == "not enough memory" do
      local results = table.pack(starve.call(failures + 1, true, world.prefab, world, "A",
        { Health = { 5 }, Orcish = true }, { is_a = "B", children = { { "k" }, { {} } } }))
      assert.is_false(results[1])
      message, failures = results[2], failures + 1
      assert.are.equal(before, world:digest())
      assert(world:check())
    end
    assert.is_truthy(message:find("would form a cycle", 1, true))
    assert.is_true(failures > 10)
    world:prefab("A", { Health = { 5 } })
    assert.are.equal(5, (world:get(world:lookup "A", "Health")))
    helper.check(world)
  end)
end)

describe("live scripts whose swap runs out of memory", function()
  local path = os.tmpname()

  local function write(text)
    local file <close> = assert(io.open(path, "wb"))
    file:write(text)
  end

  teardown(function() os.remove(path) end)

  local component = 'local w = ... w:component("A", { "x: f32%s" }) '
  local system = 'w:system("s", { query = "A", run = function() end })'
  local edits = {
    ["that migrate a component"] = component:format '", "y: f32' .. system,
    ["with a prefab"] = component:format "" .. 'w:prefab("P", { A = { 3 } }) ' .. system,
    ["with a kernel"] = component:format ""
      .. 'w:system("s", { query = "A", each = function(a) a.x = 1 end })',
  }
  for what, edit in pairs(edits) do
    it(what .. " are swapped in by the next poll", function()
      local done
      for k = 1, 1000 do
        local world = helper.new_world()
        write(component:format "")
        local session = require "ecs.live".open(world, path)
        world:spawn { A = true }
        write(edit)
        session:changed(path)
        done = starve.call(k, true, session.poll, session) and starve.refused() == 0
        assert(session:poll(true))
        assert.truthy(world:explain "s")
        world:close()
        if done then break end
      end
      assert.truthy(done)
    end)
  end
end)

describe("a loop over a query that runs out of memory when its body is compiled", function()
  it("has changed nothing, and can be run again", function()
    local world = helper.new_world()
    world:component("Position", { "x: f64" })
    world:spawn_many(600, { Position = { x = 1 } })
    local query, sums = world:query "Position", {}
    local function go_through()
      local sum = 0
      for position in query:each() do
        sum = sum + position.x
        position.x = position.x + 0.5
      end
      sums[#sums + 1] = sum
      return true
    end
    go_through()
    call_unharmed(world, go_through)
    assert.are.equal("vector", world:explain(go_through).tier)
    go_through()
    assert.are.same({ 600.0, 900.0, 1200.0 }, sums)
    assert.is_true(world:check())
  end)
end)
