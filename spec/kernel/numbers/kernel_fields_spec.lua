-- Array fields of views in kernels, by an index that differs from row to row.

local agree = require "spec.support.agree"
local ecs = require "ecs"

local ipairs = ipairs   -- which busted's environment does not hold itself
local scene

-- The elements of a long array field are looked up: `more` is how many each array has besides.
local function scene_with(more)
  scene = agree.scene {
    options = { tag = 1 },
    fill = function(world)
      world:component("P", { "x: f64", "n: i64", "i: i32", "j: i32", "on: bool" })
      world:component("Part", { "hp: f64", "who: entity[2]", "kind: enum(a, b, c)" })
      local function array(name, kind, n) return ("%s: %s[%d]"):format(name, kind, n + more) end
      world:component("B", { array("m", "f64", 6), array("k", "u8", 5), array("who", "entity", 3),
        array("flags", "bool", 2), "names: string[3]", array("one", "i16", 1),
        array("kinds", "enum(a, b, c)", 4), array("parts", "Part", 2) })
      world:component("Held", { "by: entity" })
      for _, name in ipairs { "R", "S" } do
        world:resource(name, { array("m", "f64", 6), array("k", "u8", 5), "few: i32[3]",
          array("parts", "Part", name == "R" and 2 or 5) })
      end
      world:component("C", { array("parts", "Part", 2) })
      local last
      for k = 1, 700 do
        local e = world:spawn { C = { parts = { { hp = k / 8 } } },
          P = { x = k / 4, n = k, i = k % 30 - 4, j = k % 7 },
          B = { m = { k, k * 2, 3, 4, 5, k / 8 }, k = { 1, k % 200, 3, 4, 5 },
            names = { "a", "b", "c" }, kinds = { "b", "c", "a", "b" } } }
        if k % 2 == 0 then world:set(e, "B.who[2]", e) end
        if k > 1 then world:set(e, "Held", last) end
        if k % 5 < 2 then last = e end
      end
    end,
    query = "P, B",
    updates = 1,
    counts = true,
  }
end

-- As `scene:both`, and what a world without kernels says.
local function said_of(make, query) return select(2, scene:both(make, query)) end

local function cases(more)
  before_each(function() scene_with(more) end)

  it("has booleans, entities, enums and strings", function()
    scene:all(function() return function(p, b, _, e)
      p.on = b.who[p.j] == e or b.flags[p.n % 2 + 1]
      if b.kinds[p.n % 4 + 1] == "b" then p.i = 1 end
      if b.names[p.j] == "c" then p.j = 2 end
      p.x = b.one[p.j] or 5
    end end)
  end)

  it("is written by an index, and what is written is read", function()
    scene:all(function() return function(p, b, _, e)
      b.m[p.j % 6 + 1] = p.x
      b.m[p.n % 6 + 1] = b.m[p.j % 6 + 1] + b.m[1]
      b.k[p.j % 5 + 1] = p.n % 256
      b.who[p.j % 3 + 1] = e
      b.flags[p.j % 2 + 1] = not b.flags[1]
      b.kinds[p.n % 4 + 1] = p.j > 3 and "a" or "c"
      b.names[p.j % 3 + 1] = "other"
      b.one[2.0 - 1] = p.j
      if p.j == 3 then b.m[p.j] = 0 end
    end end)
  end)

  it("raises Lua's error for an element that is not there, or a value that does not fit", function()
    local problem = said_of(function() return function(p, b)
      p.x = 1
      b.m[p.j] = p.x
    end end)
    assert.matches(("array 'm' has elements 1 to %d, got a value for 0"):format(6 + more), problem,
      1, true)
    problem = said_of(function() return function(p, b) p.x = b.m[p.x] or 7 end end)
    assert.matches(("array 'm' takes a number from 1 to %d, got 0.25"):format(6 + more), problem, 1,
      true)
    problem = said_of(function() return function(p, b) b.k[p.j % 5 + 1] = p.n end end)
    assert.matches("field 'B.k[5]' is u8: 256 is out of range", problem, 1, true)
    problem = said_of(function() return function(p, b) p.x = b.m[p.j] + 1 end end)
    assert.matches("attempt to perform arithmetic on a nil value", problem, 1, true)
  end)

  it("is read by filters, reductions and maps", function()
    local world, plain = scene:new(true), scene:new(false)
    local function heavy(p, b) return (b.m[p.j] or 0) > 100 end
    local function load(p, b) return b.m[p.j % 6 + 1] + 0.5 end
    for _, query in ipairs { "P:in, B:in" } do
      local fast, slow = world:query(query), plain:query(query)
      assert.equal(slow:where(heavy):count(), fast:where(heavy):count())
      assert.equal(slow:sum(load), fast:sum(load))
      assert.equal(slow:max(load), fast:max(load))
    end
    for _, fn in ipairs { heavy, load } do
      assert.equal("vector", world:explain(fn).tier, world:explain(fn).reason)
    end
  end)

  it("has elements with fields", function()
    scene:all(function() return function(p, b, _, e)
      local part = b.parts[p.j]
      if part then
        part.hp = part.hp + p.x
        part.who[p.n % 2 + 1] = e
        if part.kind ~= "c" then part.kind = p.on and "a" or "b" end
      end
      for k = 1, #b.parts do
        local one = b.parts[k]
        if one.hp > k then one.hp = one.hp - 1 p.on = not p.on end
      end
      local best = b.parts[1]
      for k = 2, #b.parts do if b.parts[k].hp > best.hp then best = b.parts[k] end end
      best.who[1] = b.parts[2].who[2]
      local free
      for k = 1, #b.parts do
        if b.parts[k].who[1] == ecs.null and not free then free = b.parts[k] end
      end
      if free then free.hp = p.i end
      local other = p.on and b.parts[1] or b.parts[p.n % 2 + 1]
      p.x = other.hp + #other.who
    end end)
    scene:all(function(world)
      local r = world:res "R"
      local function first(list, kind)
        for k = 1, #list do if list[k].kind == kind then return list[k], k end end
      end
      return function(p, b)
        local part, k = first(b.parts, p.on and "a" or "b")
        if part then part.kind, p.x = "c", k else p.on = not p.on end
        local one = first(r.parts, "a")
        if one and p.n % 90 == 0 then one.kind, one.hp = "b", p.x end
      end
    end)
    local problem = said_of(function() return function(p, b) b.parts[p.j].hp = 1 end end)
    assert.matches("attempt to index a nil value", problem, 1, true)
    problem = said_of(function() return function(p, b) b.parts[p.n % 2 + 1].who[p.j] = 0 end end)
    assert.matches("array 'who' has elements 1 to 2, got a value for 3", problem, 1, true)
  end)

  it("is gone through by ipairs", function()
    scene:all(function(world) local r = world:res "R" return function(p, b, _, e)
      for k, n in ipairs(b.k) do
        if n > 100 then b.k[k] = n // 2 end
        if k > p.j then break end
        p.n = p.n + b.k[k]
      end
      for k, name in ipairs(b.names) do if name == "b" then p.i = k end end
      for k, part in ipairs(b.parts) do part.hp = part.hp + k end
      for _, part in ipairs(world:read(e, "C").parts) do p.x = p.x + part.hp end
      for k, x in ipairs(r.m) do r.m[k] = x + p.j end
    end end)
  end)

  it("is a resource's, or another entity's in a table from world:read", function()
    scene:all(function(world)
      local r = world:res "R"
      return function(p, _, _, e)
        r.k[p.j % 5 + 1] = (r.k[p.j % 5 + 1] + p.n) % 250
        r.m[2] = r.m[2] + (r.m[p.n % 6 + 1] or 0)
        local part = r.parts[p.n % 2 + 1]
        part.hp = part.hp * 0.5 + 1
        part.who[p.j % 2 + 1] = e
        p.x = 0
        for k = 1, #r.few do p.x = p.x + r.few[k] * k end
        local from = world:read(e, "Held")
        local held = from and world:alive(from.by) and world:read(from.by, "B")
        if held then
          p.i, p.on = held.k[p.j] or -1, held.parts[p.n % 2 + 1].hp > held.m[3]
          for k = 1, #held.m do p.x = p.x + held.m[k] end
        end
      end
    end)
    local problem = said_of(function(world)
      local r = world:res "R"
      return function(p) r.k[p.j % 5 + 1] = p.n end
    end)
    assert.matches("field 'R.k[5]' is u8: 256 is out of range", problem, 1, true)
    problem = said_of(function(world)
      local r = world:res "R"
      return function(p) r.m[p.j] = 1 end
    end)
    assert.matches(("array 'm' has elements 1 to %d, got a value for 0"):format(6 + more), problem,
      1, true)
  end)

  it("is told from one of another resource, or another component", function()
    scene:both(function(world)
      local r, s = world:res "R", world:res "S"
      local function some(low, high, x)
        for k = 1, 2 do
          if low[k].hp > x then return low[k] end
          if high[k].hp <= x then return high[k] end
        end
      end
      return function(p)
        local part = r.parts[p.n % 2 + 1]
        for _ = 1, p.j % 3 do part = s.parts[p.n % 5 + 1] end
        part.hp, p.x = part.hp + p.n, part.hp
      end, function(p)
        local part = p.on and r.parts[p.n % 2 + 1] or s.parts[p.n % 2 + 1]
        part.hp = part.hp + p.x
      end, function(p)
        local found = some(r.parts, s.parts, p.x)
        if found then p.x = found.hp + 1 end
      end, function(p)
        local list = r.parts[1].who
        if p.j > 3 then list = s.few end
        p.i = #list
      end
    end, { tier = false })
    scene:both(function(world) return function(p, b, _, e)
      local part = b.parts[p.n % 2 + 1]
      local copy = world:read(e, "C").parts[p.n % 2 + 1]
      if p.on then part = copy end
      p.x = part.hp
    end end, { tier = false })
  end)

  it("is refused where that could give something else", function()
    local world = scene:new(true)
    local function refused(words, fn, query)
      agree.check_reason(world, query or "P, B", fn, words)
    end
    refused("not a number", function(p, b) if p.j > 9 then p.x = b.m[p.on] end end)
    refused("it reads 'm[1]' of a table from world:read, and writes 'B.m[1]'",
      function(p, b, _, e) b.m[2] = world:read(e, "B").m[p.j] or 1 end)
    refused("it writes to 'm[2]' of a table from world:read: use world:set",
      function(_, _, _, e) world:read(e, "B").m[2] = 1 end)
    refused("it compares elements of an array field: compare their indexes",
      function(p, b) p.on = b.parts[p.n % 2 + 1] == b.parts[2] end)
    refused("it sets an array or nested component as a whole",
      function(p, b) b.parts[p.n % 2 + 1] = { hp = 1 } end)
    refused("it indexes 'who', an array in an element of an array of another entity, by a variable",
      function(p, b) p.on = b.parts[p.j % 2 + 1].who[p.n % 2 + 1] == ecs.null end, "P, Held.by->B")
    world:component("Wide", { "parts: Part[300]" })
    refused("it indexes 'parts', whose elements have more than 1023 values in all, by a variable",
      function(p, wide) p.x = wide.parts[p.n % 300 + 1].hp end, "P, Wide")
  end)
end

describe("an array field in a kernel", function() cases(0) end)
describe("a long array field in a kernel", function()
  cases(40)

  it("is sparse, switched off, watched, or missing in some rows", function()
    local changed = {}
    local more = agree.scene {
      options = { tag = 1 },
      fill = function(world)
        world:component("P", { "x: f64", "n: i32" })
        world:component("Long", { "m: f64[30]", "ids: entity[12]", track = true, toggle = true })
        world:component("Rare", { "k: u8[40]", storage = "sparse" })
        for n = 1, 300 do
          local e = world:spawn { P = { x = n / 4, n = n }, Long = n % 3 ~= 0 or nil,
            Rare = n % 4 < 2 and { k = { [n % 40 + 1] = n % 256 } } or nil }
          if n % 9 == 1 then world:disable(e, "Long") end
        end
      end,
      query = "P, Long?, Rare?",
      updates = 3,
      before = function(world) world:despawn(world:query("P"):ids()[7]) end,
      look = function(world)
        local ids = {}
        changed[world] = changed[world] or world:query "Long:changed"
        for _, e in changed[world]:each() do ids[#ids + 1] = e end
        return table.concat(ids, " ")
      end,
    }
    more:all(function() return function(p, long, rare, dt, e)
      if long and p.n % 5 ~= 1 then
        long.m[p.n % 30 + 1] = long.m[(p.n + 1) % 30 + 1] + dt
        long.ids[p.n % 12 + 1] = e
        if long.ids[3] == e then long.m[2] = long.m[2] + 1 end
      end
      if rare then
        for i = 2, #rare.k do rare.k[i] = rare.k[i - 1] end
        p.x = p.x + rare.k[p.n % 40 + 1]
      end
      p.n = p.n + 1
    end end)
  end)

  it("is one field to systems side by side, and to what explain lists", function()
    local world = agree.scene { options = { threads = 2 }, fill = function(world)
      world:component("A", { "m: f64[20]", "n: i32" })
      world:component("B", { "x: f64" })
      for n = 1, 4000 do world:spawn { A = { n = n % 20 + 1 }, B = {} } end
    end }:new(true)
    world:system("reads", { query = "A:in, B", each = function(a, b) b.x = a.m[a.n] or 0.0 end })
    world:system("writes", { query = "A", each = function(a) a.m[7] = a.m[7] + 1.0 end })
    world:update(0.5)
    assert.same({ "A.n", "A.m" }, world:explain("reads").reads)
    assert.same({ "A.m" }, world:explain("writes").writes)
    if os.getenv "ECS_KERNELS" == "ordered" then return end   -- then nothing runs side by side
    local lists = world:explain("update").update
    assert.equal("it writes A.m, which 'reads' reads", lists[2].why)
  end)
end)

describe("an array field in a kernel", function()
  before_each(function() scene_with(0) end)

  it("has elements with fields of another entity, and in copies of an index", function()
    scene:all(function() return function(p, b)
      for k = 1, #b.parts do
        local one = b.parts[k]
        if one.kind == "a" then p.x = p.x + one.hp * k else one.hp = one.hp + p.j end
      end
      b.parts[p.n % 2 + 1].who[2] = b.parts[p.j % 2 + 1].who[1]
    end end, "P, Held.by->B")
    scene:all(function(world)
      local held = world:index("held", { query = "B:in, Held:in", hash = "Held.by" })
      return function(p, _, e)
        for b in held:find(e) do
          for k = 1, #b.parts do p.x = p.x + b.parts[k].hp * k end
          local part = b.parts[p.n % 2 + 1]
          p.x = p.x + #part.who + b.m[p.n % 6 + 1]
        end
      end
    end, { query = "P", tier = false })
  end)
end)
