-- Rows that kernels leave to Lua: at what only Lua does, and how kernels go on behind them.

local helper = require "spec.support.ecs_helper"
local kernel_rows = require "spec.support.kernel_rows"
local random = require "spec.support.rng"

local math, ipairs = math, ipairs
local new_world, both = kernel_rows.new_world, kernel_rows.both

describe("a row that comes to what only Lua does", function()
  local error, claim = error, package.loaded._G.assert
  -- What body does to a world, with kernels and without, is the same: digests, ids, errors.
  local function same(make, rows, parts, loose)
    local told = {}
    both(function(world, kernels)
      world:component("Shut", { "v: f64", toggle = true })
      world:prefab("Orc", { P = { 1, 2 } })
      for i = 1, rows or 300 do
        world:spawn { I = { i, i % 7 }, P = { i / 4, 0 }, Shut = { v = i },
          Marked = parts and i % 3 == 0 or nil }
      end
      local fn = make(world)
      world:system("s", { query = parts or "I, P", each = fn,
        compile = kernels and not loose or nil })
      local list = {}
      for turn = 1, 2 do
        local ok, message = pcall(world.update, world, 0.5)
        if type(message) == "table" then message = message[1] end
        list[#list + 1] = ok and "" or message:match "^(.-)\n" or message
        list[#list + 1] = turn == 2 and world:spawn() or nil
      end
      if kernels then told.left = world:explain("s").left end
      list[#list + 1] = world:digest()
      for _ = 1, 100 do list[#list + 1] = world:spawn() end
      told[#told + 1] = table.concat(list, " ")
      told.world = world
    end)
    assert.equal(told[2], told[1])
    return told.left
  end

  it("is left to it inside of loops, with the rounds before undone", function()
    local log = {}
    local function say(text, ...) log[#log + 1] = text:format(...) end
    local list = { { w = 1, name = "a" }, { w = 5, name = "b" } }
    local left = same(function(world) return function(i, p, _, e)
      for k, one in ipairs(list) do
        p.x = p.x + one.w
        if i.a == 77 and k == 2 then say("%s %d", one.name, i.a) end
        for j = 1, i.b do
          if i.a == 150 and j > 2 then log[#log + 1] = "row " .. p.x break end
          p.y = p.y + j
        end
        if i.b == 3 then world:spawn { P = { i.a, k } } end
        world:set(e, "P.y", p.y + 1)
      end
    end end, nil, nil, true)
    assert.equal(2, left.rows)
    assert.matches("it has the parameter '...'", left.why, 1, true)
    assert.equal(12, #log)
    for i = 1, 6 do assert.equal(log[i], log[6 + i]) end
  end)

  it("is left to it by assert and error, which raise", function()
    same(function() return function(i, p)
      p.x = claim(i.b < 9, "too many") and p.x + 1
      claim(i.b >= 0)
      if i.a == 200 then error("row " .. i.a .. " of " .. p.x) end
      p.y = p.y + 1
    end end)
    same(function(world) return function(i, p)   -- the spawns before it are not done
      if i.b == 1 then world:spawn { P = { i.a, 1 } } end
      if i.a == 150 then error "at 150" end
      if i.b == 2 then p.x = p.x + 1 world:spawn { I = { i.a, 1 } } end
    end end)
    same(function() return function(i, p)
      p.x = p.x + 1
      local n = claim(i.a ~= 77 and i.a or nil, "is there none?")
      p.y = n + 1
    end end)
    same(function()
      local function check(x)
        if x > 70 then error { "an object" } end
        return x * 2
      end
      return function(_, p) p.y = check(p.x) end
    end)
  end)

  it("may spawn and give other commands there, in the order of rows", function()
    local left = same(function(world) return function(i, p, _, e)
      if i.b == 1 then world:spawn { P = { i.a, 1 } } end
      if i.a % 50 == 3 then
        local orc = world:instantiate("Orc", { P = { p.x } })
        world:name(orc, "orc" .. i.a .. " " .. math.floor(p.y))
        return
      elseif i.a % 50 == 4 then
        world:disable(e, "Shut")
      elseif i.a == 255 then
        world:spawn_many(3, { P = { 9, 9 } })
      end
      if i.b == 2 then world:add(e, "Marked") end
      p.y = p.y + i.a
    end end)
    assert.equal(13, left.rows)
    assert.matches("^spec.*_left_spec.lua:%d+: only Lua can do it", left.why)
  end)

  it("may change there whatever the rows behind it read", function()
    for _, query in ipairs { "I, P", "I, P, Marked?", "I, P, Shut" } do
      local left = same(function(world)
        local count, mode, wind = 1, 2, world:resource("Wind", { "x: f64 = 3" })
        wind = world:res(wind)
        return function(i, p)
          if i.b == 3 and i.a % 5 == 0 then
            world:instantiate "Orc"
            count = count + 1
            if i.a == 60 then mode = 2.5 end
            wind.x = wind.x * 2
          end
          p.x = p.x * count + wind.x
          p.y = mode
        end
      end, 300, query)
      assert.truthy(left.rows > 5)
    end
  end)

  it("keeps all rows in Lua where every row comes to it", function()
    both(function(world, kernels)
      world:spawn { I = {} }
      local reasons = { function() world:instantiate "Orc" end, function() error "no" end,
        function(i) if i.a > 1 then error "no" else world:clone(i.b) end end,
        function() claim(false) end }
      for n, reason in ipairs { "it calls world:instantiate, which kernels do not support",
        "it uses a C function that is not a math function, 'error'", "it calls world:clone",
        "it asserts something that is false in every row" } do
        local ok, message = pcall(function() world:query("I"):run(reasons[n]) end)
        assert.is_false(ok)
        if kernels then assert(message:find(reason, 1, true), message) end
      end
    end)
  end)

  it("comes, by a condition, to what is not compiled: there, or in what it calls", function()
    local left = same(function()
      local log, marks = {}, { n = 0 }
      local function tell(format, ...) log[#log + 1] = format:format(...) marks.n = marks.n + 1 end
      local function visit(i, p)
        if i.a % 100 == 7 then log[#log + 1] = tostring(p.x) end
        return p.x + 1
      end
      return function(i, p, _, e)
        p.y = visit(i, p)
        if i.a % 100 == 9 then tell("%d of %d", i.a, #log) end
        if i.a == 50 then marks[e] = #log elseif i.a == 205 then p.y = #log * 100 end
        p.x = p.x / 2
      end
    end, 300, "I, P", true)
    assert.equal(6, left.rows)
    assert.matches("kernel_left_spec.lua:%d+: it ", left.why)
  end)

  it("may come to it in several calls of one function", function()
    local world = new_world()
    for i = 1, 50 do world:spawn { I = { i, i } } end
    local log = {}
    local function note(a, b)
      if a == 7 then log[#log + 1] = tostring(b) end
      return a + b
    end
    world:system("s", { query = "I", each = function(i)
      i.b = note(note(i.a % 8, i.b), i.a)
      return misspelt(i)   -- luacheck: ignore
    end })
    assert.equal(1, #world:explain("s").reasons)
  end)

  it("may be a whole run, of which nothing else is done", function()
    for _, every in ipairs { 1, 2, 7 } do
      local said, tier = {}, nil
      both(function(world, kernels)
        local heat, turn, sum, log = world:array("heat", "f64", 400), 0, { all = 0 }, {}
        world:resource("Wind", { "x: f64" })
        local wind, dice = world:res "Wind", world:spawn {}
        local function say(text, ...) log[#log + 1] = text:format(...) end
        world:system("s", { run = function()
          turn = turn + 1
          for i = 1, #heat do
            heat[i] = heat[i] * 0.5 + i + world:random(dice)
            sum.all = sum.all + heat[i]
          end
          wind.x = wind.x + heat[turn]
          if turn % every == 0 then
            say("turn %d: %.17g", turn, sum.all)
            world:spawn { P = { turn, heat[turn] } }
          end
          heat[turn] = world:random(dice, 9)
        end })
        for _ = 1, 40 do world:update(0.5) end
        if kernels then tier = world:explain("s").tier end
        said[#said + 1] = table.concat(log, "\n") .. sum.all .. world:digest()
      end)
      assert.equal(said[2], said[1])
      if every == 7 then assert.equal("vector", tier) end
    end
  end)

  it("does not come to what is not compiled where it has to be compiled", function()
    local world = new_world()
    world:spawn { I = { 5 } }
    local function rare(i) if i.a > 9 then print(i.a) end i.b = 2 end
    helper.has_error(function() world:query("I"):run(rare) end, "'print'")
    helper.has_error(function()
      world:system("s", { query = "I", each = rare, compile = true })
    end, "cannot be compiled", "'print'")
    helper.has_error(function() world:query("I"):sum(function(i)
      if i.a > 9 then print(i.a) end
      return nowhere.x   -- luacheck: ignore
    end) end, "nowhere")
    world:query("I"):each(rare)
    world:system("s", { query = "I", each = rare })
    assert.equal("vector", world:explain("s").tier)
  end)

  it("is not known by what has taken the name of assert or error", function()
    local world = new_world()
    world:spawn { I = { 5 } }
    local seen = {}
    local function make(raise, test)
      return function(i)
        if i.a > 4 then raise(i.a) end
        test(i.b == 0)
      end
    end
    local note = function(x) seen[#seen + 1] = x end
    world:query("I"):each(make(note, note))
    assert.same({ 5, true }, seen)
    local fn = make(print, claim)
    helper.has_error(function() world:query("I"):run(fn) end,
      "a C function that is not a math function")
  end)
end)

describe("behind rows that are left to Lua", function()
  -- A world with what queries of each kind go by, some rows of which are left to Lua.
  local function fill(world, seed, every)
    local numbers = random.new(seed)
    world:component("Load", { "v: f64", "w: f64", "n: i32" })
    world:component("Led", { "by: entity", "n: i32" })
    world:component("Shut", { "v: f64", toggle = true })
    world:component("Packed", { "v: f64", storage = "sparse" })
    world:relation("Owes", { "n: i32" })
    world:relation("Near", { exclusive = true })
    world:event("Said", { "v: f64", "who: entity" })
    world:prefab("Orc", { Load = { 1, 2, 3 } })
    world:resource("Sum", { "n: i64" })
    local ids, rows = {}, helper.by_scale { small = 300, normal = 1300, deep = 1300 }
    for i = 1, rows do
      local left = numbers:range(1, every) == 1
      ids[i] = world:spawn { Load = { left and 1e300 or i / 8, i, i }, Marked = i % 5 == 0 or nil,
        Led = { by = ids[numbers:range(1, i)], n = i % 9 }, Shut = i % 3 > 0 and { i } or nil,
        Packed = i % 4 > 0 and { v = i } or nil }
      if i % 6 == 0 then world:disable(ids[i], "Shut") end
      if i > 1 and i % 2 == 0 then world:add(ids[i], "ChildOf", ids[numbers:range(1, i - 1)]) end
      if i > 1 and i % 3 == 0 then world:add(ids[i], "Near", ids[numbers:range(1, i - 1)]) end
      for _ = 1, numbers:range(0, 3) do
        if i > 1 then world:set(ids[i], "Owes", ids[numbers:range(1, i - 1)], i) end
      end
    end
    for i = 1, rows do
      world:emit("Said", numbers:range(1, every) == 1 and 1e300 or i, ids[numbers:range(1, #ids)])
    end
    return ids
  end

  -- Each with what of what it gives the bodies are given.
  local queries = {
    { "Load", "a a a" }, { "Load, with Shut", "a a a" }, { "Load, Shut?", "a b a" },
    { "Load, Packed", "a b a" }, { "Load, Packed?", "a b a" }, { "Load:changed", "a a a" },
    { "Load, Led, Led.by->Load", "a b c" }, { "Load, ChildOf->Load", "a a b" },
    { "Load, (Owes, *)", "a b a" }, { "Load, (Owes, $to), Led($to)", "a b c" },
    { "Load, (Near, *)", "a a a" }, { "Load, Near->Led?", "a b a" },
    { "Load, Marked|Shut", "a b a" }, { "Said, Said.who->Load", "a b" },
  }

  local views = {
    ["a a a"] = function(fn) return function(a, dt, e) return fn(a, a, a, dt, e) end end,
    ["a b a"] = function(fn) return function(a, b, dt, e) return fn(a, b, a, dt, e) end end,
    ["a a b"] = function(fn) return function(a, b, dt, e) return fn(a, a, b, dt, e) end end,
    ["a b c"] = function(fn) return function(a, b, c, dt, e) return fn(a, b, c, dt, e) end end,
    ["a b"] = function() return function(a, b) b.n = b.n % 99 + math.floor(a.v) % 7 end end,
  }

  -- Rows are left to Lua for a number that is too large, or give a command that kernels do not
  -- know. Behind that anything may follow: it changes what rows behind them read, and go by.
  local bodies = {
    function(world) return function(a, _, c, _, e)
      c.n = c.n % 1000 + 1
      a.n = math.floor(a.v) % 500 + c.n
      if a.n % 7 == 3 then world:add(e, "Marked") end
    end end,
    function(world)
      local count = 0
      return function(a, _, c)
        a.w = a.w + count
        if a.v > 1e299 then
          world:instantiate("Orc", { Load = { a.w, 0, count } })
          count = count + 1
        end
        if a.n % 50 == 1 then world:spawn { Load = { a.w, 1, count } } end
        c.n = c.n % 100 + 2
      end
    end,
    function(world, ids)
      local sum = world:res "Sum"
      return function(a, b, c, _, e)
        if a.v > 1e299 then
          world:after(0.5, "Said", sum.n, e)
          for i = a.w + 1, math.min(a.w + 3, #ids) do world:set(ids[i], "Led.by", ids[1]) end
        end
        sum.n = sum.n + (b and c.n or 1)
        c.n = sum.n % 77
      end
    end,
  }

  it("kernels do what plain Lua does, whatever the query goes by", function()
    local several = 0
    for n, case in ipairs(queries) do
      for turn, body in ipairs(bodies) do
        local said = {}
        both(function(world, kernels)
          local ids = fill(world, n, turn == 1 and 9 or 40)
          world:system("s", { query = case[1], each = views[case[2]](body(world, ids)) })
          local list = {}
          for i = 1, 2 do
            local ok, message = pcall(world.update, world, 1)
            list[i] = ok and "" or message:match "^[^\n]*"
          end
          list[3] = world:digest()
          for i = 1, 100 do list[3 + i] = world:spawn() end
          said[#said + 1] = table.concat(list, " ")
          if not kernels then return end
          local told = world:explain "s"
          said.about = ("%s %d %s %s"):format(case[1], turn, told.tier, told.reason)
          if told.left and told.left.rows > 1 then several = several + 1 end
        end)
        assert.equal(said[2], said[1], said.about)
      end
    end
    assert.truthy(several > 30, several)
  end)
end)

describe("why rows are left to Lua", function()
  local table, tostring = table, tostring

  it("is told at the line of the script that calls a function of 'table'", function()
    local world = new_world()
    for i = 1, 100 do world:spawn { P = { i == 50 and 0 / 0 or i, 2 } } end
    local first = debug.getinfo(1, "l").currentline
    local forms = {
      function(p)
        local list = { p.x, p.y, 1, 4 }
        table.sort(list, function(a, b) return a <= b end)
        p.x = list[1]
      end,
      function(p)
        local list = { p.x, p.y }
        table.insert(list, p.x == 60 and 9 or 1, 3)
        p.x = list[1]
      end,
    }
    for i, fn in ipairs(forms) do
      world:system("s", { query = "P", each = fn })
      pcall(world.update, world, 0)
      local place = ("kernel_left_spec.lua:%d: "):format(first + 5 * i - 1)
      local left = world:explain("s").left
      assert.is_truthy(left.why:find(place, 1, true), left.why)
    end
  end)

  it("is told by what the row lacks", function()
    local world, found = new_world(), { [1] = 1.5 }   -- luacheck: ignore
    local dead = world:spawn()
    world:component("K", { "kind: enum(red, blue)", "who: entity" })
    for i = 1, 40 do world:spawn { P = { i, 0 }, K = { kind = i == 9 and "blue" or "red" } } end
    world:component("Red", { "kind: enum(red)" })
    local red, lent = world:spawn { Red = {} }, { id = dead }
    world:despawn(dead)
    for why, fn in pairs {
      ["it creates is full"] = function(p)
        local list = {}
        for i = 1, p.x == 9 and 1025 or 3 do list[i] = i end
        p.y = #list
      end,
      ["would have a gap"] = function(p)
        local list = {}
        list[p.x == 9 and 3 or 1] = p.x
        p.y = #list
      end,
      ["adds a key to a table, or removes one"] = function(p)
        if p.x == 9 then found[p.x // 1 | 0] = nil else found[p.x // 1 | 0] = 1.5 end
      end,
      ["null or dead"] = function(p, k) if p.x == 9 then k.who = lent.id + 0 end end,
      ["no such name"] = function(p, k) world:set(red, "Red.kind", p.x > 0 and k.kind or "red") end,
      ["only Lua can do it"] = function(p, _, _, e) if p.x == 9 then world:clone(e) end end,
    } do
      world:system("s", { query = "P, K", each = fn })
      pcall(world.update, world, 0)
      local told = world:explain "s"
      assert.is_truthy(told.left and told.left.why:find(why, 1, true), why .. ": "
        .. tostring(told.left and told.left.why or told.reason))
    end
  end)

  it("is told without a line where functions have none", function()
    local world = new_world()
    for i = 1, 100 do world:spawn { P = { i % 50, 1 } } end
    local fn = load(string.dump(function(p)
      local list = { 3 }
      p.y = list[p.x == 7 and 2 or 1]
    end, true))
    world:system("s", { query = "P", each = fn })
    pcall(world.update, world, 0)
    assert.matches("^a value that it needs is nil", world:explain("s").left.why)
  end)

  it("is told after a load, too", function()
    local world, list = new_world(), {}
    for i = 1, 2000 do world:spawn { I = { i, i } } end
    world:system("s", { query = "I", each = function(i)
      if i.a >= 0 then list[#list + 1] = tostring(i.a) end
      i.b = i.b + 1
    end })
    for _ = 1, 5 do world:update(0) end
    local before = world:explain "s"
    assert.equal("lua", before.tier)
    assert.matches("'tostring'", before.reason)
    world:load(world:save())
    for _ = 1, 2 do
      assert.equal(before.reason, world:explain("s").reason)
      world:update(0)
    end
  end)
end)
