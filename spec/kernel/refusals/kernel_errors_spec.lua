-- Rows in which kernels fail, and what becomes of them.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local kernel_rows = require "spec.support.kernel_rows"

local math = math
local new_world, both = kernel_rows.new_world, kernel_rows.both

describe("an error in a kernel", function()
  it("is a division by zero, which names the entity", function()
    local function divide(a, b) return a // b end
    local function remainder(a, b) return a % b end
    local _, no_quotient = pcall(divide, 1, 0)
    local _, no_remainder = pcall(remainder, 1, 0)
    both(function(world, kernels)
      local e = world:spawn { I = { a = 5, b = 2 } }
      local wrong = world:spawn { I = { a = 6, b = 0 } }
      local q = world:query "I"
      local message = helper.has_error(function() q:run(function(i) i.a = i.a // i.b end) end,
        no_quotient:match ": (.*)")
      if kernels then
        assert(message:find(ecs.format(wrong), 1, true), message)
        assert.matches("kernel_errors_spec.lua:%d+: ", message)
      end
      assert.same({ 2, 6 }, { world:get(e, "I.a"), world:get(wrong, "I.a") })
      helper.has_error(function() q:run(function(i) i.a = i.a % i.b end) end,
        no_remainder:match ": (.*)")
      world:despawn(wrong)
      q:run(function(i) i.a = i.a % i.b end)
      assert.equal(0, world:get(e, "I.a"))
    end)
  end)

  it("says of a float what world:set says of it", function()
    for _, value in ipairs { 2.0 ^ 63, -1e300, 1 / 0, 1e10, 0.5, -0.25, 0 / 0 } do
      both(function(world)
        world:component("Float", { "f: f64", "s: f32", "n: i32" })
        local e = world:spawn { Float = { f = value, s = value } }
        local _, expected = pcall(world.set, world, e, "Float.n", value)
        expected = expected:match "field 'Float.n' is i32: %S+ (.*)"
        local query = world:query "Float"
        helper.has_error(function() query:run(function(x) x.n = x.f end) end, "Float.n", expected)
        helper.has_error(function() query:run(function(x) x.n = x.s end) end, "Float.n", expected)
      end)
    end
  end)

  it("is a store out of range: the row keeps what was done, no row behind it changes", function()
    both(function(world, kernels)
      local ids = {}
      for i = 1, 5 do
        ids[i] = world:spawn { S = { n = i, small = i == 3 and 250 or i } }
      end
      local message = helper.has_error(function()
        world:query("S"):run(function(s)
          s.n = s.n * 10
          s.small = s.small + 10
        end)
      end, "S.small", "u8", "out of range", kernels and ecs.format(ids[3]) or "260")
      assert(not message:find "S%.n")
      assert.same({ 10, 11 }, { world:get(ids[1], "S") })
      assert.same({ 20, 12 }, { world:get(ids[2], "S") })
      assert.same({ 30, 250 }, { world:get(ids[3], "S") })
      assert.same({ 4, 4 }, { world:get(ids[4], "S") })
    end)
  end)

  it("leaves what the function leaves, in tables and where terms are about ties", function()
    local digests = {}
    both(function(world, kernels)
      world:relation("Near", { exclusive = true })
      local ids = world:spawn_many(3000, { I = { 7, 1 }, S = {} })
      for i = 1, 3000, 3 do world:add(ids[i], "Near", world:tag "Marked") end
      world:add(ids[5], "K")
      world:set(ids[2500], "I.b", 0)
      world:set(ids[1999], "I.b", 0)
      local function work(row, small, _, entity)
        row.a = row.a + 100
        if row.a % 2 == 0 then world:remove(entity, "S") end
        small.n = 5 // row.b
        row.a = row.a - small.n
        if row.a > 150 then world:add(entity, "Marked") end
      end
      for _, query in ipairs { "I, S", "I, S, (Near, Marked)" } do
        world:system("work", { query = query, each = work, compile = kernels or nil })
        helper.has_error(function() world:update(1) end, "system 'work'", "kernel_errors_spec")
        world:remove_system "work"
        helper.has_error(function() world:query(query):each(work) end)
        digests[#digests + 1] = world:digest()
      end
    end)
    for i = 1, #digests // 2 do
      assert.equal(digests[#digests // 2 + i], digests[i])
    end
  end)

  it("is none where only columns round to f32: the function goes on", function()
    both(function(world)
      world:component("F", { "x: f32", "n: i32" })
      local ids = {}
      for i, x in ipairs { 1, 2147483520, 2 } do ids[i] = world:spawn { F = { x, 0 } } end
      local tied = world:relation("Near", { exclusive = true })
      for _, id in ipairs(ids) do world:add(id, tied, ids[1]) end
      for round, query in ipairs { "F", "F, (Near, *)" } do
        world:query(query):run(function(f) f.n = f.x + 100.0 * (f.n < 0 and 2 or 1) end)
        assert.same({ 101, 2147483620, 102 }, { world:get(ids[1], "F.n"), world:get(ids[2], "F.n"),
          world:get(ids[3], "F.n") }, round)
      end
    end)
  end)

  it("is a fraction stored into an integer field", function()
    local world = new_world()
    local e = world:spawn { S = { n = 4 } }
    local wrong = world:spawn { S = { n = 5 } }
    local q = world:query "S"
    helper.has_error(function() q:run(function(s) s.n = s.n / 2 end) end, "S.n", "i32",
      ecs.format(wrong))
    assert.same({ 2, 5 }, { world:get(e, "S.n"), world:get(wrong, "S.n") })
    helper.has_error(function() q:run(function(s) s.n = s.n * 1e10 end) end, "out of range")
  end)

  it("is a component that a command is to despawn, and rows behind it are not written", function()
    both(function(world)
      local kind = world:tag "Kind"
      world:component("Far", { storage = "sparse" })
      local first = world:spawn { P = {}, Far = true }
      world:add(kind, "P")
      world:add(kind, "Far")
      local last = world:spawn { P = {}, Far = true }
      for n, text in ipairs { "P", "P, Far", "Far, P" } do
        helper.has_error(function()
          world:query(text):run(function(p, _, e)
            p.x = p.x + 1
            world:despawn(e)
          end)
        end, "is a component: undeclare 'Kind' instead")
        assert.same({ n, n, 0 },
          { world:get(first, "P.x"), world:get(kind, "P.x"), world:get(last, "P.x") })
        assert.is_true(world:alive(first))
      end
      world:remove(kind, "P")
      world:query("P"):run(function(_, _, e) world:despawn(e) end)
      assert.equal(0, world:count "P")
    end)
  end)
end)

describe("a row that only Lua can do", function()
  -- How often functions of this file are called while another one runs.
  local function calls_in(fn, ...)
    local count = 0
    debug.sethook(function()
      local source = debug.getinfo(2, "S").short_src
      if source:find("kernel_errors", 1, true) then count = count + 1 end
    end, "c")
    local ok, problem = pcall(fn, ...)
    debug.sethook()
    assert(ok, problem)
    return count
  end

  local function world_of(kernels, special)
    local world = helper.new_world { kernels = kernels, tag = 3 }
    world:component("P", { "x: f64", "y: f64", "n: i64" })
    world:component("T", { "k: i32", toggle = true })
    world:event("Odd", { "n: i32" })
    local sums, ids = world:array("sums", "f64", 50), {}
    for n = 1, 5000 do
      ids[n] = world:spawn { P = { y = special[n] and n * 1e300 or n / 3, n = n },
        T = n % 2 == 0 and { k = n } or nil }
      if n % 6 == 4 then world:disable(ids[n], "T") end
    end
    world:system("each", { query = "P, T?", each = function(p, _, _, e)
      p.x = math.floor(p.y) + 1
      sums[p.n % 50 + 1] = sums[p.n % 50 + 1] * 0.5 + p.y % 7
      if p.n % 500 == 3 then world:spawn { P = { p.x, n = p.n } } end
      if p.n % 300 == 1 then world:emit("Odd", p.n) world:add(e, "T") end
    end })
    world:system("map", { query = "P.y, P.n", map = function(y) return math.floor(y) + 0.5 end })
    world:system("some", { query = "P, T", each = function(p, t)
      t.k = t.k + 1
      p.y = math.floor(p.y)
    end })
    return world
  end

  it("is done by it, and the kernel goes on behind it", function()
    local many = {}
    for n = 1, 40 do many[n] = n * 100 end
    for _, rows in ipairs { { 1 }, { 5000 }, { 2, 63, 64, 65, 1024, 1025, 4999 },
                            { 2047, 2048, 2049, 2050 }, many } do
      local special = {}
      for _, n in ipairs(rows) do special[n] = true end
      local compiled, plain = world_of(true, special), world_of(false, special)
      for _ = 1, 3 do
        compiled:update(0.25)
        plain:update(0.25)
      end
      for _, name in ipairs { "each", "map", "some" } do
        assert.are.equal("vector", compiled:explain(name).tier)
      end
      assert.are.equal(plain:count "Odd", compiled:count "Odd")
      assert.are.equal(plain:digest(), compiled:digest())
    end
  end)

  it("costs the call of that row, up to 16 or a sixteenth of the rows so far", function()
    for _, case in ipairs { { 1, 10, 1 }, { 16, 10, 16 }, { 17, 10, 16 + 5000 - 169 },
                            { 300, 16, 300 }, { 200, 15, 16 + 5000 - 254 } } do
      local world = helper.new_world()
      world:component("P", { "x: f64", "y: f64" })
      for n = 1, 5000 do
        local left = n % case[2] == 0 and n <= case[1] * case[2]
        world:spawn { P = { y = left and 1e300 or n } }
      end
      local query = world:query "P"
      local function floor(p) p.x = math.floor(p.y) end
      query:run(floor)
      assert.are.equal(case[3], calls_in(query.run, query, floor))
    end
  end)

  it("is done by Lua for some runs at once where there are many of them run after run", function()
    local world = helper.new_world()
    world:component("P", { "x: f64", "y: f64" })
    for n = 1, 500 do world:spawn { P = { y = n % 4 == 0 and 1e300 or n } } end
    local function floor(p) p.x = math.floor(p.y) end
    world:system("floor", { query = "P", each = floor })
    local calls = {}
    for run = 1, 40 do
      calls[run] = calls_in(world.update, world, 0.5)
      if run == 20 then for p in world:query "P":each() do p.y = 2 end end
    end
    assert.same({ 449, 449, 500, 449, 500, 500, 500, 449 }, { table.unpack(calls, 1, 8) })
    assert.same({ 449, 500, 500, 0, 0 }, { calls[16], calls[17], calls[31], calls[32], calls[40] })
    assert.equal("vector", world:explain("floor").tier)
  end)
end)
