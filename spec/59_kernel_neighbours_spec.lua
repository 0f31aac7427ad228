-- Kernels that look into indexes: loops over those within a reach, and the nearest one. C28, C74.

local huge, min, sqrt = math.huge, math.min, math.sqrt
local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local ROWS = 700

-- Some stand in heaps, some alone, some nowhere.
local function new_world(kernels, rows)
  local numbers = random.new(11)
  local world = helper.new_world { kernels = kernels, seed = 5, tag = 1 }
  world:component("P", { "x: f64", "y: f64" })
  world:component("V", { "x: f64", "y: f64", "kind: enum(red, green, blue)", "name: string",
    "hold: entity", "slots: i16[3]" })
  world:component("Out", { "n: i64", "x: f64", "y: f64", "d: f64", "e: entity", "text: string" })
  world:component("Health", { "hp: f64" })
  world:component("Reach", { "r: f64" })
  world:component("Tag", {})
  world:event("Hit", { "who: entity", "amount: f64" })
  local kinds, names = { "red", "green", "blue" }, { "a", "bb", "" }
  local before
  for k = 1, rows or ROWS do
    local heap = numbers:chance(60) and numbers:int(3) or 0
    local x, y = numbers:range(-800, 800) / 32, numbers:range(-800, 800) / 32
    if heap > 0 then x, y = x / 16 + heap, y / 16 - heap end
    if numbers:chance(1) then x = numbers:pick { 0 / 0, huge, -huge } end
    before = world:spawn { P = { x = x, y = y }, Out = {}, Health = { hp = 100 },
      Reach = k ~= 333 and { r = k % 4 } or nil,
      V = { x = k, y = -k / 2, kind = kinds[k % 3 + 1], name = names[k % 3 + 1], hold = before,
        slots = { k % 5, k % 7, k % 11 } }, Tag = k % 5 == 0 or nil }
  end
  world:index("flock", { query = "P:in, V:in", grid = "P", cell = 1.5 })
  world:index("tagged", { query = "P.x:in, P.y:in, with Tag", grid = "P", cell = 3 })
  return world
end

-- What a system with a function does to a world in two updates, with kernels or without; how often
-- Lua calls it.
local function run(make, kernels, rows, query)
  local world = new_world(kernels, rows)
  local fn = make(world, world:index "flock", world:index "tagged")
  world:system("s", { query = query or "P, Out", each = fn })
  local ok, why
  local calls = helper.calls_of(fn, function()
    for _ = 1, 2 do ok, why = pcall(world.update, world, 0.5) end
  end)
  local explained = world:explain "s"
  if kernels then assert.equal("vector", explained.tier, explained.reason) end
  why = ok or tostring(why):match "^[^\n]*":gsub("entity %S+: ", "")
  helper.check(world)
  return world:digest(), why, calls
end

-- The function does the same with kernels and without; how many rows Lua did.
local function both(make, rows, query)
  local expected, raised = run(make, false, rows, query)
  local digest, why, calls = run(make, true, rows, query)
  assert.equal(raised, why)
  assert.equal(expected, digest)
  return calls
end

local function agree(...) assert.equal(0, both(...)) end

describe("a loop over those within a reach", function()
  it("adds up what they have, in the order of the index", function()
    agree(function(_, flock) return function(p, out)
      local n, x, y, d = 0, 0.0, 0.0, 0.0
      for q, v in flock:within(p.x, p.y, 2) do
        local dx, dy = q.x - p.x, q.y - p.y
        n, x, y, d = n + 1, x + dx / 3, y + v.y * 0.1, d + sqrt(dx * dx + dy * dy)
      end
      out.n, out.x, out.y, out.d = n, x, y, d
    end end)
  end)

  it("passes over the row itself", function()
    agree(function(_, flock) return function(p, out, _, self)
      local n = 0
      for _, _, other in flock:within(p.x, p.y, 1) do
        if other ~= self then n = n + 1 end
      end
      out.n = n
    end end)
  end)

  it("steers a flock, which moves while it is looked at", function()
    agree(function(_, flock) return function(p, v, dt, self)
      local n, cx, cy, ax, ay, sx, sy = 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
      for q, w, other in flock:within(p.x, p.y, 1.5) do
        if other ~= self then
          local dx, dy = p.x - q.x, p.y - q.y
          n, cx, cy, ax, ay = n + 1, cx + q.x, cy + q.y, ax + w.x, ay + w.y
          if dx * dx + dy * dy < 0.25 then sx, sy = sx + dx, sy + dy end
        end
      end
      if n > 0 then
        v.x = v.x + (cx / n - p.x) * 0.01 + (ax / n - v.x) * 0.05 + sx
        v.y = v.y + (cy / n - p.y) * 0.01 + (ay / n - v.y) * 0.05 + sy
      end
      p.x, p.y = p.x + v.x * dt, p.y + v.y * dt
    end end, nil, "P, V")
  end)

  it("is left by break, return and goto", function()
    agree(function(_, flock) return function(p, out)
      local n = 0
      for q, v, e in flock:within(p.x, p.y, 3) do
        if q.x < p.x then goto continue end
        n = n + 1
        if v.kind == "blue" and n > 2 then out.e = e break end
        if n == 7 then out.n = -n return end
        out.text = v.name
        ::continue::
      end
      out.n = n
    end end)
  end)

  it("finds the best and keeps it", function()
    agree(function(_, flock) return function(p, out, _, self)
      local best, least
      for q, _, e in flock:within(p.x, p.y, 2.5) do
        local dx, dy = q.x - p.x, q.y - p.y
        local d = dx * dx + dy * dy
        if e ~= self and (not least or d < least) then best, least = e, d end
      end
      if best then out.e, out.d = best, least else out.e, out.d = ecs.null, -1 end
    end end)
  end)

  it("takes elements, references, texts and values without a view", function()
    agree(function(_, flock, tagged) return function(p, out)
      local n, x, same = 0, 0.0, false
      for _, v in flock:within(p.x, p.y, 1.25) do
        n = n + v.slots[2] + #v.slots
        if v.hold == nil then n = n + 1000 end
        if v.name == "bb" then same = true end
      end
      for qx, qy, e in tagged:within(p.x, p.y, 4) do
        x = x + qx * qy
        out.e = e
      end
      out.n, out.x, out.text = n, x, same and "there" or "not there"
    end end)
  end)

  it("stands in another one, whose rows it depends on", function()
    agree(function(_, flock, tagged) return function(p, out)
      local n, d = 0, 0.0
      for _, v, e in flock:within(p.x, p.y, 0.75) do
        for qx, _, other in tagged:within(v.x / 50, p.y, 1 + v.y % 2) do
          if other ~= e then n, d = n + 1, d + qx / 7 end
          if n > 40 then break end
        end
      end
      out.n, out.d = n, d
    end end, 300)
  end)

  it("stands in a loop of the row, and has one in it", function()
    agree(function(_, flock) return function(p, out)
      local reach, n = 0.25, 0
      while reach < 4 do
        n = 0
        for _, v in flock:within(p.x, p.y, reach) do
          for k = 1, v.slots[1] do n = n + k end
        end
        if n > 12 then break end
        reach = reach * 2
      end
      out.n, out.d = n, reach
    end end)
  end)

  it("is called by a function, with what rows compute", function()
    local function crowd(flock, x, y, reach)
      local n = 0
      for _ in flock:within(x, y, reach) do n = n + 1 end
      return n
    end
    agree(function(_, flock) return function(p, out)
      out.n = crowd(flock, p.x, p.y, 1) - crowd(flock, p.y, p.x, out.n % 3)
    end end)
  end)

  it("finds nobody for a reach below 0 and for no number, and everybody for an infinite one",
    function()
      agree(function(_, flock) return function(p, out, _, self)
        local n, k = 0, self % 5
        local reach = k == 0 and -1.0 or k == 1 and 0 / 0 or k == 2 and huge or k == 3 and -0.0
          or 2.0
        for _ in flock:within(p.x, p.y, reach) do n = n + 1 end
        out.n = n
      end end)
    end)

  it("takes integers for numbers", function()
    agree(function(_, flock) return function(_, out, _, self)
      local n = 0
      for _ in flock:within(self % 7, 1, 3) do n = n + 1 end
      out.n = n
    end end)
  end)

  it("looks into nothing at all", function()
    agree(function(world)
      local none = world:index("none", { query = "P:in, V:in, !Out", grid = "P", cell = 1 })
      return function(p, out)
        out.n = 3
        for q, v, e in none:within(p.x, p.y, 100) do
          out.n, out.x, out.e, out.text = out.n + 1, q.x + v.x, e, v.name
        end
      end
    end)
  end)

  it("in space takes z, too", function()
    agree(function(world)
      world:component("S", { "x: i32", "y: f32", "z: f64" })
      for k = 1, 90 do world:spawn { S = { x = k % 5, y = k % 7 / 2, z = k % 11 } } end
      local space = world:index("space", { query = "S:in", grid = "S", cell = 2 })
      return function(p, out)
        local n, x = 0, 0.0
        for s in space:within(p.x, p.y, 3, 2.5) do n, x = n + s.x, x + s.z end
        out.n, out.x = n, x
        local e, d = space:nearest(p.x, 1, p.y, 30)
        if e then out.e, out.d = e, d end
      end
    end)
  end)
end)

describe("what a loop over an index orders", function()
  it("hits, kills and tells of whom it finds", function()
    agree(function(world, flock) return function(p, out, _, self)
      local left = 3
      for _, v, e in flock:within(p.x, p.y, 0.5) do
        if e ~= self and left > 0 then
          left = left - 1
          world:emit("Hit", e, v.x)
          if v.kind == "red" then world:add(e, "Tag") end
          if v.kind == "green" and v.x % 17 == 0 then world:despawn(e) end
        end
      end
      out.n = left
    end end)
  end)

  it("jumps from one to the next", function()
    agree(function(world, flock) return function(p, _, _, self)
      local x, y, at = p.x, p.y, self
      for jump = 1, 4 do
        local foe = flock:nearest(x, y, 1.5, at)
        if not foe then break end
        at = foe
        x, y = world:get(foe, "P.x"), world:get(foe, "P.y")
        world:emit("Hit", foe, 10.0 / jump)
      end
    end end, nil, "P:in, Out, with Tag")
  end)

  it("writes to others by world:set", function()
    agree(function(world, flock) return function(p, _, _, self)
      for q, _, e in flock:within(p.x, p.y, 1) do
        if e ~= self then world:set(e, "Health.hp", q.x) end
      end
    end end)
  end)
end)

describe("the nearest one of an index", function()
  it("is there or not, with its distance", function()
    agree(function(_, flock) return function(p, out, _, self)
      local foe, distance = flock:nearest(p.x, p.y, 0.5, self)
      out.e = foe or ecs.null
      out.d = distance or -1
      local any = flock:nearest(p.x, p.y, huge)
      if any == self then out.n = out.n + 1 end
      if not flock:nearest(p.x, p.y, -1) then out.n = out.n + 10 end
    end end)
  end)

  it("passes over somebody, or nobody where that is nil", function()
    agree(function(_, flock) return function(p, out, _, self)
      local except
      if self % 2 == 0 then except = self end
      local foe, distance = flock:nearest(p.x, p.y, 4, except)
      if foe then out.e, out.d = foe, distance end
    end end)
  end)

  it("fails in the row that computes with what is not there", function()
    assert.is_true(both(function(_, flock) return function(p, out, _, self)
      local _, distance = flock:nearest(p.x, p.y, 0.05, self)
      out.d = distance + 1
    end end) > 0)
  end)
end)

describe("a loop over those with a key", function()
  local function keyed(make)
    return function(world)
      return make(world, {
        kinds = world:index("kinds", { query = "V:in", hash = "kind" }),
        names = world:index("names", { query = "V:in", hash = "name" }),
        held = world:index("held", { query = "V.x:in, V.hold:in", hash = "V.hold" }),
        tens = world:index("tens", { query = "V:in", hash = function(v) return v.x % 10 end }),
        even = world:index("even", { query = "V:in, with Tag",
          hash = function(v) return v.x % 2 == 0 end }),
        maybe = world:index("maybe", { query = "V:in", maybe = "x" }),
        by_y = world:index("by_y", { query = "V:in", ordered = "y" }),
      })
    end
  end

  it("is found by integers, floats, references and truths", function()
    agree(keyed(function(_, index) return function(p, out, _, self)
      local n, x, held = 0, 0.0, 0
      for v in index.tens:find(self % 13) do n = n + v.slots[1] end
      for v in index.tens:find(p.y * 4) do x = x + v.x / 3 end
      for vx in index.held:find(self) do held = held + 1 x = x + vx end
      for v in index.even:find(self % 3 == 0) do x = x + v.y if x > 500 then break end end
      for _, e in index.maybe:find(out.n) do out.e = e end
      out.n, out.x, out.y = n, x, held
    end end), 300)
  end)

  it("is found by texts, held outside, in fields and as names of enums", function()
    local wanted = "bb"
    agree(keyed(function(_, index) return function(_, out, _, self)
      local n = 0
      for v in index.names:find(wanted) do n = n + v.slots[3] end
      for v in index.kinds:find "green" do n = n + v.slots[1] end
      for _ in index.kinds:find "purple" do n = n + 1000 end
      out.text = self % 2 == 0 and "a" or "no such name"
      for _ in index.names:find(out.text) do n = n + 7 end
      out.n = n
    end end), 200)
  end)

  it("goes through a range, the lowest and the highest", function()
    agree(keyed(function(_, index) return function(p, out, _, self)
      local n, x = 0, 0.0
      for v in index.by_y:range(-self % 90, p.x * 2) do n, x = n + 1, x + v.x / 7 end
      for v in index.by_y:lowest(self % 5) do x = x + v.y / 3 end
      for v, e in index.by_y:highest(3.0) do x = x * 0.5 + v.y out.e = e end
      out.n, out.x = n, x
    end end), 300)
  end)

  it("is Lua's where a number of entities is none", function()
    assert.is_true(both(keyed(function(_, index) return function(p, out, _, self)
      for v in index.by_y:lowest(self % 50 == 9 and p.x or 2) do out.x = out.x + v.y end
    end end), 120) > 0)
  end)
end)

describe("a row that fails in a loop over an index", function()
  it("is Lua's, and others are not", function()
    local calls = both(function(_, flock) return function(p, out, _, self)
      local n = 0
      for _, v in flock:within(p.x, p.y, 1) do
        n = n + 1
        if self % 100 == 7 and n == 2 then n = n + out.n // (n - n) end
        out.d = min(out.d, v.y)
      end
      out.n = n
    end end)
    assert.is_true(calls > 0)
  end)

  it("is one whose argument is nil", function()
    local calls = both(function(world, flock) return function(p, out, _, self)
      local n = 0
      for _ in flock:within(p.x, p.y, world:get(self, "Reach.r")) do n = n + 1 end
      out.n = n
    end end)
    assert.equal(2, calls)   -- one in each update, which raises it
  end)

  it("is one that looks with what is no number", function()
    both(function(_, flock) return function(p, out, _, self)
      local reach = self % 64 ~= 9 and 1.0 or nil
      for _, v in flock:within(p.x, p.y, reach) do out.d = out.d + v.x end
    end end)
  end)
end)

describe("forms of queries that look into indexes", function()
  local function with(kernels, use)
    local world = new_world(kernels)
    return use(world, world:index "flock")
  end

  local function compare(use)
    assert.same(with(false, use), with(true, use))
  end

  it("sum, least and greatest, and count what a predicate lets through", function()
    local tiers = {}
    compare(function(world, flock)
      local function crowd(p)
        local n = 0
        for _ in flock:within(p.x, p.y, 1) do n = n + 1 end
        return n
      end
      local q = world:query "P:in"
      local seen = { q:sum(crowd), q:min(crowd), q:max(crowd),
        q:where(function(p) return flock:nearest(p.x, p.y, 1) ~= nil end):count() }
      world:spawn { P = { x = 1, y = 1 }, V = {} }
      seen[#seen + 1] = q:sum(crowd)
      tiers[#tiers + 1] = world:explain(crowd).tier
      return seen
    end)
    assert.same({ "lua", "vector" }, tiers)
  end)

  it("see what earlier rows wrote where they write outside of systems", function()
    compare(function(world, flock)
      world:query "P, Out":each(function(p, out)
        local n = 0
        for _ in flock:within(0, 0, 3) do n = n + 1 end
        out.n = n
        p.x = 0
      end)
      return { world:digest() }
    end)
  end)

  it("run in a system's run", function()
    compare(function(world, flock)
      local q = world:query "P, Out"
      local function crowd(p, out)
        for _ in flock:within(p.x, p.y, 1) do out.n = out.n + 1 end
        p.x = p.x + 1
      end
      world:system("s", { run = function() q:each(crowd) end })
      world:update(1)
      world:update(1)
      return { world:digest() }
    end)
  end)
end)

describe("a kernel over an index", function()
  -- What is seen of a world, with kernels and without.
  local function compare(use)
    local function see(kernels)
      local world = new_world(kernels, 200)
      local seen = {}
      use(world, function(what) seen[#seen + 1] = what end)
      helper.check(world)
      return seen
    end
    assert.same(see(false), see(true))
  end

  local function count_in(world)
    local flock = world:index "flock"
    local function crowd(p, out)
      local n, x = 0, 0.0
      for q in flock:within(p.x, p.y, 2) do n, x = n + 1, x + q.x end
      out.n, out.x = n, x
    end
    world:system("crowd", { query = "P:in, Out", each = crowd })
    return flock, crowd
  end

  it("sees what has moved, come and gone since", function()
    compare(function(world, see)
      count_in(world)
      for step = 1, 6 do
        world:update(1)
        see(world:digest())
        for k, e in ipairs(world:query "P, V":ids()) do
          if k % 7 == step then world:set(e, "P.x", k / 9) end
          if k % 31 == step then world:despawn(e) end
        end
        for k = 1, step * 40 do world:spawn { P = { x = k / 50, y = 1 }, V = {}, Out = {} } end
      end
      world:query "P, V":despawn()
      world:update(1)
      see(world:digest())
    end)
  end)

  it("goes on when the index is declared again, otherwise, or dropped", function()
    compare(function(world, see)
      count_in(world)
      local function update()
        local ok, why = pcall(world.update, world, 1)
        see(ok or (tostring(why):gsub("entity %S+: ", ""):match "^[^\n]*"))
        see(world:digest())
      end
      update()
      world:index("flock", { query = "P:in, with Tag", grid = "P", cell = 4 })
      update()
      world:index("flock", { query = "V:in, P:in", grid = "P", cell = 1 })
      update()
      world:index("flock", { query = "V:in", hash = "x" })
      update()
      world:undeclare "flock"
      update()
      world:index("flock", { query = "P:in", grid = "P", cell = 2 })
      update()
    end)
  end)

  it("goes on when components change", function()
    compare(function(world, see)
      count_in(world)
      world:update(1)
      world:component("P", { "y: f32", "x: f32" })
      world:update(1)
      see(world:digest())
      world:component("P", { "y: f32", "x: f32", "z: f32" })
      local ok, why = pcall(world.update, world, 1)
      see(ok)
      see(tostring(why):find("number", 1, true) ~= nil)
      world:component("P", { "y: f64", "x: f64" })
      world:update(1)
      see(world:digest())
    end)
  end)

  it("goes on behind a snapshot and an image", function()
    compare(function(world, see)
      count_in(world)
      world:update(1)
      local snapshot, image = world:snapshot(), world:save()
      world:query "P":each(function(p) p.x = p.y end)
      world:update(1)
      see(world:digest())
      world:restore(snapshot)
      world:update(1)
      see(world:digest())
      world:load(image)
      world:update(1)
      see(world:digest())
    end)
  end)

  it("is told of by explain, and what is not compiled says why", function()
    local world = new_world(true, 50)
    local flock = count_in(world)
    world:update(1)
    assert.same({ "flock" }, world:explain("crowd").indexes)
    local function reason(each)
      world:system("s", { query = "P, Out", each = each })
      local told = world:explain "s"
      assert.equal("lua", told.tier)
      return told.reason
    end
    helper.has_error(function()
      error(reason(function(p) for q in flock:within(p.x, p.y, 1) do q.x = 3 end end))
    end, "which is read only", 'world:set(entity, "P.x", value)')
    helper.has_error(function() error(reason(function(p) flock:within(p.x, 1) end)) end,
      "within of index 'flock' with other arguments")
    helper.has_error(function() error(reason(function(p) flock:find(p.x) end)) end,
      "find of index 'flock'", "another kind")
    helper.has_error(function() error(reason(function(p) flock:remove(p.x) end)) end,
      "it calls 'remove' of index 'flock'")
    helper.has_error(function() error(reason(function(p) flock:nearest(p.x, p.y, p) end)) end,
      "nearest of an index with what is no number")
    helper.has_error(function()
      error(reason(function(p) flock:nearest(p.x, p.y, 1, p.x) end))
    end, "something else than an entity to pass over")
    local perhaps = world:index("perhaps", { query = "P:in, V?", grid = "P", cell = 1 })
    helper.has_error(function()
      error(reason(function(p)
        for _, v in perhaps:within(p.x, p.y, 1) do p.x = v and 1 or 2 end
      end))
    end, "index 'perhaps'", "'P:in, V?'")
    local list = setmetatable({}, { __call = function() end })
    helper.has_error(function()
      error(reason(function(p) for k in list do p.x = k end end))
    end, "a loop over an iterator")
    helper.has_error(function()
      world:query "P, Out":run(function(p) p.x = flock:nearest(0, 0, 1) and 1 or 2 end)
    end, "each call outside of systems brings the index up to date")
  end)

  it("leaves to Lua what a system is not known to look into", function()
    compare(function(world, see)
      local flock = world:index "flock"
      local held = { flock = flock }
      world:system("s", { query = "P, Out", each = function(p, out)
        out.n = 0
        for _ in held.flock:within(p.x, p.y, 1) do out.n = out.n + 1 end
      end })
      local ok, why = pcall(world.update, world, 1)
      see(ok)
      see(tostring(why):find("uses", 1, true) ~= nil)
      world:system("s", { query = "P, Out", uses = "flock", each = function(p, out)
        out.n = 0
        for _ in held.flock:within(p.x, p.y, 1) do out.n = out.n + 1 end
      end })
      world:update(1)
      see(world:digest())
    end)
  end)

  it("shows nothing of a loop behind it", function()
    compare(function(world, see)
      local flock = world:index "flock"
      world:system("s", { query = "P, Out, with Tag", each = function(p, out)
        local last
        for q in flock:within(p.x, p.y, 0.5) do last = q break end
        if last then out.x = last.x end
      end })
      local ok, why = pcall(world.update, world, 1)
      see(ok or tostring(why):find("stale view", 1, true) ~= nil)
      see(world:digest())
    end)
  end)
end)
