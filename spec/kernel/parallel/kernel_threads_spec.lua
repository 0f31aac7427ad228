-- Kernels whose rows threads share: everything is as on one thread.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

local N = 5000
local math = math

local scene = agree.scene {
  options = { tag = 9 },
  fill = function(world)
    world:component("P", { "x: f64", "n: i32", "small: i8", "big: i64 = 1" })
    world:component("T", { "at: entity" })
    world:tag "Old"
    world:array("sums", "f64", 8)
    for i = 1, N do world:spawn { P = { x = i % 97 / 7, n = i % 13 + 1 }, T = {} } end
  end,
  forms = { { threads = 1 }, { threads = "2!" }, { threads = "3!" }, { threads = "4!" } },
}

-- Does something to worlds on one thread and on two to four; what comes of it is the same.
local function check(act, want)
  local told = scene:twice(function(world)
    return (tostring(act(world)):gsub("\n.*", ""))
  end)
  if want then assert.truthy(told:find(want, 1, true), told) end
end

local function run(each, query)
  return function(world)
    local rows = world:query(query or "P, T")
    for _ = 1, 3 do rows:run(each, 0.25) end
    return "ran"
  end
end

describe("kernels on threads", function()
  it("write rows, random ones too", function()
    check(function(world)
      world:system("move", { query = "P", each = function(p, dt, e)
        p.x = p.x * 1.5 + world:random(e) * dt
      end })
      for _ = 1, 4 do world:update(0.5) end
      return world:explain "move".tier
    end, "vector")
  end)

  it("add up, and find the least and the greatest", function()
    check(function(world)
      local rows = world:query "P"
      local told = {}
      for _, form in ipairs { "sum", "min", "max" } do
        local a, b = rows[form](rows, function(p) return p.x * 0.1 + p.n end)
        told[#told + 1] = ("%a %s"):format(a, b)
        a, b = rows[form](rows, function(p) return p.n * 7 % 11 end)
        told[#told + 1] = ("%d %s"):format(a, b)
      end
      return table.concat(told, " ")
    end)
  end)

  it("give sums that plain Lua gives", function()
    local world = scene:new { threads = 1 }
    local plain = helper.new_world { kernels = false, tag = 9 }
    plain:component("P", { "x: f64", "n: i32", "small: i8" })
    for i = 1, N do plain:spawn { P = { x = i % 97 / 7, n = i % 13 + 1 } } end
    local function cost(p) return p.x / 3 end
    assert.equal(plain:query "P":sum(cost), world:query "P":sum(cost))
  end)

  -- Rows that no program does: an integer beyond 2^53 that meets a float.
  local function leave_to_lua(world, rows)
    local ids = world:query "P":ids()
    for _, row in ipairs(rows) do world:set(ids[row], "P.big", (1 << 60) + row) end
  end

  for _, rows in ipairs { { 7 }, { 1024, 1025 }, { 3333, 4000, N }, { 2, 90, 1500, 2049, 4999 } } do
    it("leave rows to Lua in every form: " .. table.concat(rows, ", "), function()
      check(function(world)
        leave_to_lua(world, rows)
        local query, told = world:query "P", {}
        local function number(p) return math.max(p.big, 0.5) ~= 7 and p.x or 0.25 end
        local function whole(p) return math.max(p.big, 0.5) ~= 7 and p.n or 3 end
        local function mixed(p) return math.max(p.big, 0.5) > 1 and p.big or p.x end
        local function taken(p) return math.max(p.big, 0.5) ~= 1 and p.n > 3 end
        for _, form in ipairs { "sum", "min", "max" } do
          for _, fn in ipairs { number, whole, mixed } do
            local value, id = query[form](query, fn)
            told[#told + 1] = ("%q %s"):format(value, id)
            value, id = query:where(taken)[form](query:where(taken), fn)
            told[#told + 1] = ("%q %s"):format(value, id)
            assert.equal("vector", world:explain(fn).tier, world:explain(fn).reason)
          end
        end
        told[#told + 1] = table.concat(query:where(taken):ids(), ","):sub(-200)
        local keyed, hash = world:index("keyed", { query = "P:in", ordered = mixed }), 0
        for p, id in keyed:range(1, 3) do hash = hash * 31 + id + p.n end
        query:each(function(p) p.x = math.max(p.big, 0.5) ~= 7 and p.x + 1 or 0.0 end)
        world:query "P.x, P.big":map(function(x, big)
          return math.max(big, x) > 1 and x - 3 or x
        end)
        return table.concat(told, " ") .. hash
      end)
    end)
  end

  it("spawn, emit, and give commands to others in the order of rows", function()
    check(function(world)
      world:event("Hit", { "who: entity", "by: f64" })
      local first = world:query "P":first()
      world:query "P, T":run(function(p, t, _, e)
        if p.n == 5 then t.at = world:spawn { P = { x = p.x }, T = { at = e } } end
        if p.n > 9 then world:emit("Hit", e, p.x) end
        if p.x < 1 then world:add(first, "Old") world:despawn(e) end
      end)
      local told = {}
      for hit in world:events "Hit" do told[#told + 1] = world:alive(hit.who) and hit.by or "-" end
      return #told .. table.concat(told, " ") .. table.concat(world:query "P":ids(), " ")
    end)
  end)

  it("stop at the first command that cannot be given", function()
    check(function(world)
      local ids = world:query "T":ids()
      world:query "T":set("T.at", ids[1])
      local dead = world:spawn()
      world:despawn(dead)
      local list = world:query "P, T"
      return select(2, pcall(function()
        list:run(function(p, t)
          p.x = p.x + 1
          world:add(p.n == 13 and p.x > 9 and dead or t.at, "Old")
        end)
      end))
    end)
  end)

  for _, bad in ipairs { 0, 63, 64, 1023, 1024, 3333, N - 1 } do
    it("leave the rows behind one that fails as they were: " .. bad, function()
      check(function(world)
        local ids = world:query "P":ids()
        world:set(ids[bad + 1], "P.n", 0)
        local ok, problem = pcall(run(function(p)
          p.x = p.x + 1
          p.n = 20 // p.n + 1
        end), world)
        assert.falsy(ok)
        return problem
      end, "divide by zero")
    end)
  end

  it("tell how many threads share their rows, and why not", function()
    local world = scene:new { threads = "3!" }
    local rows = world:query "P"
    local function each(p) p.x = p.x + 1 end
    rows:run(each)
    assert.equal(3, world:explain(each).threads)
    assert.is_nil(world:explain(each).alone)
    local function orders(p) if p.n == 3 then world:spawn { T = {} } end end
    rows:run(orders)
    assert.equal(3, world:explain(orders).threads)
    local both = world:query "P, T"
    local function looks(p, t)
      if world:alive(t.at) then p.x = 1 else world:spawn { T = {} } end
    end
    both:run(looks)
    assert.equal(1, world:explain(looks).threads)
    assert.truthy(world:explain(looks).alone:find "spawn")
    world = scene:new { threads = 1 }
    rows = world:query "P"
    rows:run(each)
    assert.equal(1, world:explain(each).threads)
    assert.is_nil(world:explain(each).alone)
  end)

  it("end with the world, whatever the threads do", function()
    for i = 1, 10 do
      local world = scene:new { threads = "4!" }
      world:system("fill", { query = "P", each = function(p) p.x = p.x + 1 end })
      if i % 3 > 0 then world:update(1) end
      world:close()
    end
  end)

  it("go on in a world that is loaded, restored and migrated between runs", function()
    check(function(world)
      world:system("fill", { query = "P", each = function(p) p.x = p.x + p.n end })
      world:update(1)
      local snapshot = world:snapshot()
      world:update(1)
      world:restore(snapshot)
      world:load(world:save())
      world:component("P", { "x: f32", "n: i32", "small: i8", "more: f64" })
      world:update(1)
      return world:explain "fill".tier
    end, "vector")
  end)
end)
