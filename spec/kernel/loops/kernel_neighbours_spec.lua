-- Kernels that look into indexes: loops over those within a reach, and the nearest one. C28, C74.

local huge, sqrt = math.huge, math.sqrt
local ecs = require "ecs"
local neighbours = require "spec.support.near"

local agree, both, new_world = neighbours.agree, neighbours.both, neighbours.new_world

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

  it("is found by an enum, and by a name out of a table", function()
    local listed = { "green", "purple", "red" }
    agree(keyed(function(_, index) return function(p, out, _, self)
      local n = 0
      for v in index.kinds:find(listed[self % 3 + 1]) do n = n + v.slots[1] end
      for v in index.tens:find(self % 13) do
        for w in index.kinds:find(v.kind) do n = n + w.slots[2] if n > 900 then break end end
      end
      for v in index.kinds:find(p.x > 2 and "blue" or listed[1]) do n = n + v.slots[3] end
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

  it("is Lua's where an integer that may be a float as well is too large for one", function()
    assert.is_true(both(function(world)
      world:set(world:query("V"):first(), "V.x", 2.0 ^ 53)
      local far = world:index("far", { query = "V:in", hash = "x" })
      return function(p, out, _, self)
        out.n = 9007199254740993
        local key = self % 3 == 0 and out.n or p.x
        for _, e in far:find(key) do out.e = e end
      end
    end, 60) > 0)
  end)

  it("is Lua's where a number of entities is none", function()
    assert.is_true(both(keyed(function(_, index) return function(p, out, _, self)
      for v in index.by_y:lowest(self % 50 == 9 and p.x or 2) do out.x = out.x + v.y end
    end end), 120) > 0)
  end)
end)

describe("a loop over an index some of whose rows lack a term", function()
  local function mixed(make, more)
    return function(world)
      for k, e in ipairs(world:query("V"):ids()) do
        if k % 3 == 0 then world:remove(e, "Reach") end
        if k % 4 == 0 then world:remove(e, "V") end
      end
      local index = world:index("mixed", { query = "P:in, Reach?, Tag?, V:in?" .. (more or ""),
        grid = "P", cell = 1 })
      return make(world, index)
    end
  end

  it("tells who has it, and takes their fields", function()
    agree(mixed(function(_, index) return function(p, out, _, self)
      local n, x, y = 0, 0.0, 0.0
      for q, reach, tagged, v, other in index:within(p.x, p.y, 2) do
        if reach and other ~= self then x = x + reach.r * q.x end
        if tagged then n = n + 1 elseif not v then n = n + 100 end
        y = y + (v and v.y or 0.25) + (v and v.kind == "blue" and v.slots[2] or #"ab")
        if v and v.hold ~= ecs.null and reach then out.e = v.hold end
        if v and v.name == "bb" then out.text = v.name end
        if tagged ~= false and not reach then y = y * 0.5 end
      end
      out.n, out.x, out.y = n, x, y
    end end))
  end)

  it("takes who has one of several, and fails where it is not asked for", function()
    agree(mixed(function(_, index) return function(p, out)
      for _, _, _, _, health, out_of in index:within(p.x, p.y, 1) do
        if health then out.d = out.d + health.hp elseif out_of then out.n = out.n + 1 end
      end
    end end, ", Health|Out:in"))
    assert.is_true(both(mixed(function(_, index) return function(p, out)
      for _, reach in index:within(p.x, p.y, 1) do out.d = out.d + reach.r end
    end end)) > 0)
    assert.is_true(both(mixed(function(_, index) return function(p, out)
      for _, _, _, v in index:within(p.x, p.y, 1) do out.n = out.n + #v.slots end
    end end)) > 0)
    assert.is_true(both(mixed(function(_, index) return function(p, out)
      for _, _, _, v in index:within(p.x, p.y, 1) do
        local slots = v.slots
        if out.n > 5 then out.n = slots[1] end
      end
      out.n = out.n + 1
    end end)) > 0)
  end)

  it("stays Lua where it is a field alone, or is compared", function()
    local world = new_world(true, 20)
    local single = world:index("single", { query = "P:in, Reach.r?", grid = "P", cell = 1 })
    local whole = world:index("whole", { query = "P:in, Reach?", grid = "P", cell = 1 })
    for reason, fn in pairs {
      ["write the whole 'Reach' there, and read the field in rows that have it"] = function(p, out)
        for _, r in single:within(p.x, p.y, 1) do if r then out.x = r end end
      end,
      ["compares 'Reach', which rows of an index may lack: test it"] = function(p, out)
        for _, reach in whole:within(p.x, p.y, 1) do if reach == nil then out.x = 1 end end
      end,
    } do
      world:system("s", { query = "P, Out", each = fn })
      assert.truthy(world:explain("s").reason:find(reason, 1, true), world:explain("s").reason)
      world:update(1)
    end
  end)
end)

describe("a row that fails in a loop over an index", function()
  it("is one whose argument is nil", function()
    local calls = both(function(world, flock) return function(p, out, _, self)
      local n = 0
      for _ in flock:within(p.x, p.y, world:get(self, "Reach.r")) do n = n + 1 end
      out.n = n
    end end)
    assert.equal(2, calls)   -- one in each update, which raises it
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

  it("compile where an index begins to watch what it copies", function()
    compare(function(world, flock)
      local function crowd(p)
        local n = 0
        for _ in flock:within(p.x, p.y, 1) do n = n + 1 end
        return n
      end
      local q = world:query "P:in, with Tag"   -- of one table
      local seen = { q:sum(crowd) }
      for _ = 1, 2 do
        world:load(world:save())
        seen[#seen + 1] = q:max(crowd)
        world:load(world:save())
        seen[#seen + 1] = q:where(function(p) return crowd(p) > 1 end):count()
      end
      return seen
    end)
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
end)
