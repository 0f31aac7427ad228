-- Systems' run functions as programs: loops over arrays and resources, all of it in its order.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"

local error, has_error, math, ipairs, pcall = error, helper.has_error, math, ipairs, pcall

-- Registers the same in a world with kernels and in one without, and updates both thrice.
local function told_of(register)
  local digests, told, first = {}, nil, nil
  for n, kernels in ipairs { true, false } do
    local world = helper.new_world { kernels = kernels, tag = 1 }
    register(world)
    for i = 1, 3 do
      local done, problem = pcall(world.update, world, 0.5)
      digests[i] = digests[i] or {}
      digests[i][n] = (done and "" or tiers.plain(problem)) .. world:digest()
    end
    told, first = told or world:explain "s", first or world
  end
  for i = 1, 3 do assert.are.equal(digests[i][2], digests[i][1]) end
  return told, first
end

local function vector(register)
  local told, world = told_of(register)
  assert.are.equal("vector", told.tier, told.reason)
  return told, world
end

local function reason(run, ...)
  local world, arguments = helper.new_world { tag = 1 }, { ... }
  world:component("P", { "x: f64" })
  world:tag "Tag"
  world:event("Hit", { "x: f64" })
  local array = world:array("a", "f64", 10)
  world:system("s", { query = "P", run = run(world, array, world:spawn { P = {} }, arguments) })
  world:update(1)
  local told = world:explain "s"
  return told.reason
end

describe("a system's run", function()
  it("compiles loops over a grid, however many rounds they have", function()
    local told = vector(function(world)
      local W, H = 300, 301
      local smog, old = world:array("smog", "f64", W * H), world:array("old", "f64", W * H)
      for i = 1, W * H do smog[i] = i * 7 % 13 end
      local function cell_of(x, y) return (y - 1) * W + x end
      world:system("s", { run = function(_, dt)
        for i = 1, #smog do old[i] = smog[i] end
        for y = 2, H - 1 do
          for x = 2, W - 1 do
            local c = cell_of(x, y)
            local sum = old[c - 1] + old[c + 1] + old[c - W] + old[c + W]
            if sum > 8 then smog[c] = old[c] * (1 - dt) + sum * dt / 4 end
          end
        end
      end })
    end)
    assert.is_nil(told.left)
  end)

  it("sees what it has written, in arrays, resources and upvalues", function()
    vector(function(world)
      local a, n = world:array("a", "i32", 100), 0
      world:resource("G", { "sum: f64", "most: i32", "who: entity" })
      local g = world:res "G"
      world:system("s", { run = function(_, dt)
        a[1] = a[1] + 1
        for i = 2, #a do a[i] = a[i - 1] + (a[i] - i) // 3 end
        local i = #a
        while i > 0 and g.most < 5000 do
          g.most = math.max(g.most, a[i])
          g.sum = g.sum + a[i] * dt
          i, n = i - 1, n + 1
        end
        if n > 150 then a[7] = n end
      end })
    end)
  end)

  it("goes over few rows of queries and events, and leaves many to their own loops", function()
    for rows, tier in pairs { [128] = "vector", [129] = "lua" } do
      local told = told_of(function(world)
        local seen = { sum = 0, name = "", best = ecs.null }
        world:component("P", { "x: f64", "n: i8", "text: string", "at: f64[2]" })
        world:component("Q", { "y: f32", toggle = true })
        world:event("Hit", { "by: f64" })
        for i = 1, rows do
          local e = world:spawn { P = { x = i % 9, text = "p" .. i },
            Q = i % 3 == 0 and { y = i } or nil }
          if i % 2 == 0 and i % 3 == 0 then world:disable(e, "Q") end
        end
        local all, both = world:query "P, Q?", world:query "P:in, Q:in"
        for i = 1, 5 do world:emit("Hit", i / 3) end
        world:system("s", { run = function(w, dt)
          local best, who = -1, ecs.null
          for p, q, e in all:each() do
            p.x, p.n = p.x + dt, p.n + 1
            p.at[2] = p.at[2] + p.x
            if q then q.y = q.y * 0.5 + p.x else seen.sum = seen.sum + p.at[2] end
            if p.x > best then best, who = p.x, e end
            if p.x > 8 and p.text < "p5" then seen.name = p.text end
          end
          for p, q in both:each() do
            for hit in w:events "Hit" do seen.sum = seen.sum + hit.by * q.y + p.n end
          end
          seen.best = who
          world:res("Said").sum, world:res("Said").best = seen.sum, seen.best
        end })
        world:resource("Said", { "sum: f64", "best: entity" })
      end)
      assert.equal(tier, told.tier, told.reason)
    end
    assert.matches("it writes to 'P', which is read%-only %(:in%)", reason(function(world)
      local few = world:query "P:in"
      return function() for p in few:each() do if p.x > 9 then p.x = 1 end end end
    end))
  end)

  it("makes lists of up to 16,384 elements", function()
    for n, left in pairs { [16384] = false, [16385] = true } do
      local told = told_of(function(world)
        local a = world:array("a", "f64", 5)
        world:system("s", { run = function()
          local list = {}
          for i = 1, n do list[#list + 1] = i end
          a[1] = a[1] + #list + list[#list]
        end })
      end)
      assert.equal(left and "lua" or "vector", told.tier)
      assert.equal(left, (told.reason or ""):find "a list or table that it creates is full" ~= nil)
    end
  end)

  it("looks at entities from outside, their children and sources, and draws for them", function()
    vector(function(world)
      world:component("P", { "x: f64" })
      world:relation "Likes"
      local a, who = world:array("a", "f64", 10), world:array("who", "entity", 4)
      for i = 1, 4 do who[i] = world:spawn { P = { x = i } } end
      for i = 2, 4 do
        world:add(who[i], "ChildOf", who[1])
        world:add(who[i], "Likes", who[2])
      end
      world:system("s", { run = function(w)
        local sum = 0
        for e in w:children(who[1]) do sum = sum + w:get(e, "P.x") * w:random(e) end
        for e in w:sources(who[2], "Likes") do sum = sum + w:random(e, 6) end
        a[1] = sum + w:count "P"
        if w:has(who[3], "P") and w:alive(who[4]) then a[2] = a[2] + 1 end
      end })
    end)
  end)

  it("does nothing where it fails, however much it has stored, and is then Lua's", function()
    for _, n in ipairs { 10, 4096, 4097, 9000 } do
      local told = told_of(function(world)
        local a, b = world:array("a", "i16", n), world:array("b", "u8", 3)
        world:resource("G", { "n: i32" })
        local g, runs = world:res "G", 0
        world:system("s", { run = function()
          g.n, runs = g.n + 1, runs + 1
          b[3] = runs
          for i = 1, #a do
            a[i] = a[i] + 1 + 20000 * (i // n)
            b[2] = i % 200
          end
          if g.n == 2 then b[n + 3] = 1 end
        end })
      end)
      assert.matches("too many were left to it: .*run_spec.lua:%d+: a number is out of range",
        told.reason)
    end
  end)

  it("ends by return and break, and leaves errors to Lua", function()
    vector(function(world)
      local a, n = world:array("a", "f64", 50), world:array("n", "u8", 1)
      world:system("s", { run = function()
        n[1] = n[1] + 1
        for i = 1, #a do
          if i > 40 then break end
          for j = i, 1, -1 do
            a[j] = a[j] + 1
            if a[j] > 90 then return end
          end
          if a[i] > 45 then error("too much of " .. i) end
        end
        a[50] = -1
      end })
    end)
  end)

  it("is told by explain and describe, and raises for compile = true why not", function()
    local told, world = vector(function(world)
      local a = world:array("a", "f64", 5)
      world:system("s", { compile = true, run = function() a[1] = a[1] + a[2] end })
    end)
    assert.are.same({ "a" }, told.writes)
    assert.are.equal("it is a run", world:explain("update").update[1].why)
    assert.are.equal("vector", world:describe().systems[1].tier)
    has_error(function()
      world:system("t", { compile = true, run = function(w) w:spawn {} end })
    end, "system 't' cannot be compiled: ", "it changes entities or emits events, and")
  end)

  it("stays Lua where it goes through queries, changes entities, or emits", function()
    local changes = "it changes entities or emits events, and a system's run that does is not "
      .. "compiled"
    local function of(act, what)
      local why = reason(function(world, array, e)
        return function(w, dt, query)
          array[1] = dt
          act(w, query, e, world)
        end
      end)
      assert.is_truthy(why and why:find(what, 1, true), what .. " " .. tostring(why))
    end
    of(function(_, query) query:each(function(p) p.x = 1 end) end,
      "it uses its query (whose loops are compiled by themselves")
    of(function(w, _, e) w:set(e, "P.x", 1) end, changes)
    of(function(w, _, e) w:add(e, "Tag") end, changes)
    of(function(w) w:spawn { P = { x = 1 } } end, changes)
    of(function(w) w:emit("Hit", 1) end, changes)
    of(function(w, _, e) w:despawn(e) end, changes)
    of(function(w) w:describe() end, "it calls world:describe")
    local why = reason(function() return function(w) w:describe() end end)
    assert.matches("which kernels do not support$", why)   -- it is in a run already
  end)

  it("makes queries that mean what their names mean now", function()
    for _, kernels in ipairs { true, false } do
      local world, seen = helper.new_world { kernels = kernels, tag = 1 }, {}
      world:component("P", { "x: f64" })
      world:spawn_many(2, { P = { 3 } })
      local function note(n) seen[#seen + 1] = world:query("P"):count() - n end
      world:system("s", { run = function()
        local n = 0
        for _ in world:query "P":each() do n = n + 1 end
        note(n)
        for x in world:query "P.x":each() do seen[#seen + 1] = x end
      end })
      world:update(0)
      world:component("Q", { "x: f64", was = "P" })
      world:component("Q", { "x: f64" })
      has_error(function() world:update(0) end, "unknown component 'P' (did you mean 'Q'?)")
      world:component("P", { "y: f64", "x: f64" })
      world:spawn { P = { x = 5 } }
      world:update(0)
      world:component("P", { "z: f64", was = { z = "x" } })
      world:component("P", { "z: f64" })
      world:component("P", { "z: f64", "x: f64" })
      world:update(0)
      assert.same({ 0, 3, 3, 0, 5, 0, 0 }, seen)
    end
  end)

  it("is compiled anew where arrays are declared anew", function()
    local world = helper.new_world { tag = 1 }
    local a = world:array("a", "f64", 10)
    world:system("s", { run = function() for i = 1, #a do a[i] = i end end })
    world:update(1)
    world:array("a", "i32", 20)
    a = world:array "a"
    world:update(1)
    assert.are.equal("vector", world:explain("s").tier)
    assert.are.same({ 1, 20, 20 }, { a[1], a[20], #a })
  end)
end)
