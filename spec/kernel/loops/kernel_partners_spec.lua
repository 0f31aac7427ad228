-- Kernels that look into indexes which change, and those that go through ties.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local neighbours = require "spec.support.near"

local agree, both, new_world = neighbours.agree, neighbours.both, neighbours.new_world

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

  it("gives each row its own, where rows are listed in their order", function()
    compare(function(world, see)
      local flock, last = world:index "flock", nil
      world:event("Heard", { "n: i32" })
      world:system("hear", { query = "P:in, Out", each = function(p, out, _, e)
        if out.n ~= 3 then
          for k = 1, out.n % 4 + 1 do out.x = out.x + k world:emit("Heard", k) end
          for q in flock:within(p.x, p.y, 2) do out.x = out.x + q.x end
        else
          last = e
        end
      end })
      for _, e in ipairs(world:query "Out":ids()) do world:set(e, "Out.n", e % 5) end
      world:update(1)
      see(world:digest() .. " " .. last)
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

  it("is run outside of systems as soon as its world is loaded", function()
    local world = helper.new_world()
    world:component("P", { "x: f64", "y: f64" })
    for k = 1, 30 do world:spawn { P = { x = k / 10 } } end
    local places = world:index("places", { query = "P:in", grid = "P", cell = 1 })
    local rows = world:query "P"
    local function near(p)
      local n = 0
      for _ in places:within(p.x, p.y, 0.15) do n = n + 1 end
      return n
    end
    for _ = 1, 3 do
      assert.equal(28 * 3 + 2 * 2, rows:sum(near))
      world:load(world:save())
    end
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
    end, "a read-only copy", 'world:set(entity, "P.x", value)')
    helper.has_error(function() error(reason(function(p) flock:within(p.x, 1) end)) end,
      "within of index 'flock', which is")
    helper.has_error(function() error(reason(function(p) flock:find(p.x) end)) end,
      "find of index 'flock'", "another kind")
    helper.has_error(function() error(reason(function(p) flock:remove(p.x) end)) end,
      "it calls 'remove' of index 'flock'")
    helper.has_error(function() error(reason(function(p) flock:nearest(p.x, p.y, p) end)) end,
      "nearest of an index with something that is not a number")
    helper.has_error(function()
      error(reason(function(p) flock:nearest(p.x, p.y, 1, p.x) end))
    end, "something that is not an entity to skip")
    local perhaps = world:index("perhaps", { query = "P:in, V.x?", grid = "P", cell = 1 })
    helper.has_error(function()
      error(reason(function(p)
        for _, v in perhaps:within(p.x, p.y, 1) do p.x = v and 1 or 2 end
      end))
    end, "index 'perhaps'", "'P:in, V.x?'", "write the whole 'V'")
    local list = setmetatable({}, { __call = function() end })
    helper.has_error(function()
      error(reason(function(p) for k in list do p.x = k end end))
    end, "loops over an iterator")
    helper.has_error(function()
      world:query "P, Out":run(function(p) p.x = flock:nearest(0, 0, 1) and 1 or 2 end)
    end, "each call outside systems updates the index")
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
        for q in flock:within(p.x, p.y, 0.5) do
          last = q
          if q.y > -1000 then break end
        end
        if last then out.x = last.x end
      end })
      local ok, why = pcall(world.update, world, 1)
      see(ok or tostring(why):find("stale view", 1, true) ~= nil)
      see(world:digest())
    end)
  end)
end)

describe("a loop over who is tied", function()
  -- Entities in trees and webs.
  local function tie(world)
    world:relation("Likes")
    world:relation("Serves", { exclusive = true })
    local ids = world:query "P":ids()
    for k = 2, #ids do
      if k % 3 > 0 then world:add(ids[k], "ChildOf", ids[k // 3 + 1]) end
      if k % 4 > 1 then world:add(ids[k], "Serves", ids[(k * 7) % 11 + 1]) end
      world:add(ids[k], "Likes", ids[k % 17 + 1])
      if k % 5 == 0 then world:add(ids[k], "Likes", ids[k - 1]) end
    end
    world:add(ids[1], "Likes", ids[1])
  end

  it("goes through children, sources and targets in their order", function()
    agree(function(world)
      tie(world)
      return function(_, out, _, self)
        local n, x, last = 0, 0.0, ecs.null
        for child in world:children(self) do
          n = n + 1
          x = x * 0.5 + world:get(child, "V.x")
          for grandchild in world:children(child) do
            if grandchild ~= self then x = x + 1 / world:get(grandchild, "V.x") end
          end
        end
        for fan in world:sources(self, "Likes") do
          n, last = n + 10, fan
          if n > 200 then break end
        end
        for servant in world:sources(self, "Serves") do x = x + world:get(servant, "V.y") / 3 end
        for friend in world:targets(self, "Likes") do last = friend end
        for master in world:targets(self, "Serves") do n = n - world:get(master, "V.x") // 1 end
        out.n, out.x, out.e = n, x, last
      end
    end, 260)
  end)

  it("asks those that it finds, and is Lua's for nobody", function()
    assert.is_true(both(function(world)
      tie(world)
      return function(_, out, _, self)
        local who = world:target(self, "Serves")
        if self % 40 == 3 then who = out.e end
        if who then
          for other in world:sources(who, "Serves") do
            if other ~= self then world:emit("Hit", other, 1.5) end
          end
        end
      end
    end, 120) > 0)
  end)

  it("finds no children where there are none at all", function()
    agree(function(world) return function(_, out, _, self)
      out.n = 1
      for _ in world:children(self) do out.n = out.n + 1 end
    end end, 70)
  end)
end)
