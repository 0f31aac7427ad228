-- Bodies of for loops over queries and events that run as programs, and such loops within functions
-- that do. Each is played with kernels and without, and must do the same.

local ecs = require "ecs"

local function scene(kernels)
  local world = ecs.world { kernels = kernels, tag = 1, seed = 5 }
  world:component("P", { "x: f64", "n: i32", "on: bool", "kind: enum(red, green)", "at: f64[3]" })
  world:component("Q", { "hp: i32 = 9", toggle = true })
  world:component("R", { "x: f32", "y: f32[2]", "z: f64" })
  world:tag "T"
  world:event("Hit", { "who: entity", "by: i32" })
  world:event "Tick"
  world:resource("Score", { "n: i32", "f: f64", "who: entity" })
  local ids = {}
  for i = 1, 200 do
    ids[i] = world:spawn { P = { x = i / 4, n = i, on = i % 3 == 0 },
      Q = i % 2 == 0 and { hp = i } or nil, T = i % 5 == 0 or nil,
      R = { x = i * 0.37, y = { i / 3 } } }
  end
  return { world = world, ecs = ecs, ids = ids, score = world:res "Score",
    all = world:query "P", some = world:query "P, Q?", both = world:query "P, Q",
    tagged = world:query "P:in, T?, !Q", reals = world:query "R",
    items = world:array("items", "i32", 8) }
end

-- The body of a run: what it does in eight updates, and its explanation.
local function play(kernels, body, prepare)
  local out, said = scene(kernels), {}
  out.say = function(x) said[#said + 1] = tostring(x) end
  local text = "local o = ... local world, ecs, ids, score, all = o.world, o.ecs, o.ids, o.score, "
    .. "o.all local some, both, tagged, items, say = o.some, o.both, o.tagged, o.items, o.say "
    .. "local reals = o.reals "
    .. "local total, best = 0, nil return function(_, dt, query) " .. body .. " end"
  local run = assert(load(text, "=for"))(out)
  if prepare then prepare(out) end
  out.world:system("s", { query = "P", run = run })
  out.world:system("hits", { query = "P:in", each = function(p, _, e)
    if p.n % 2 == 0 then out.world:emit("Hit", e, p.n % 7) end
  end })
  for _ = 1, 8 do
    local ok, problem = pcall(out.world.update, out.world, 0.25)
    out.say(ok or tostring(problem):gsub("\nstack traceback.*", ""))
    out.say(out.world:digest())
    assert(out.world:check())
  end
  local told = out.world:explain "s"
  out.world:close()
  return table.concat(said, "\n"), told
end

-- Plays a body; its first loop has to be a program, or to stay Lua for a reason.
local function alike(body, reason, prepare)
  local with, told = play(true, body, prepare)
  assert.equal((play(false, body, prepare)), with, body)
  local loop = (told.loops or {})[1]
  assert.is_truthy(loop, body)
  local inner = told.loops and told.loops[2]
  if inner and (loop.reason or ""):find("only that loop is compiled", 1, true) then loop = inner end
  if not reason then
    assert.equal("vector", loop.tier, body .. (loop.reason or ""))
  else
    assert.is_truthy((loop.reason or ""):find(reason, 1, true), body .. ": " .. (loop.reason or ""))
  end
  return told
end

describe("a for loop over a query", function()
  it("runs as a program that shares the locals around it", function()
    local told = alike [[
      local n, sum, far, who, seen = 0, 0.0, nil, ecs.null, false
      for p, e in query:each() do
        n = n + 1
        sum = sum + p.x * dt
        if not far or p.x > far then far, who = p.x, e end
        if p.n == 7 then seen = true end
        p.x = p.x + n / 8
        if p.on then goto continue end
        p.n = p.n + 1
        ::continue::
      end
      say(n) say(sum) say(far) say(who) say(seen)]]
    assert.equal("vector", told.tier)
    assert.is_nil(told.reason)
    assert.equal(1, #told.loops)
    assert.equal("for", told.loops[1].form)
  end)

  it("keeps types, nil and order of what it sets", function()
    alike [[local i, f, flag, gone = 1, 1.0, nil, 5
      for p in all:each() do
        i = i + p.n
        f = f / 2
        flag = p.x > 3
        if p.n == 9 then gone = nil end
        items[p.n % 8 + 1] = i % 100
      end
      say(i) say(f) say(flag) say(gone) say(math.type(i))]]
    alike [[total = total + 0.5
      for p in all:each() do total = total + p.n best = best or p.x end
      say(total) say(best)]]
  end)

  it("computes f32 in doubles, as before it was compiled", function()
    alike([[for r in reals:each() do
        r.x = r.x * 0.1 + 0.3
        r.z = r.z + r.x * r.x
        r.y[2] = math.sin(r.x) / 3
        for i = 1, 2 do r.y[1] = r.y[i] + r.x / 7 end
      end]])
    alike [[for a in reals:each() do
        for b in reals:each() do if b.x ~= a.x then a.z = a.z + b.x * 0.3 - a.x end end
      end]]
  end)

  it("goes over a query that the run makes", function()
    local told = alike [[for p in world:query("P"):each() do
        p.x = p.x + dt
        for q in world:query("P, Q"):each() do if q.n == p.n then p.n = p.n + 1 end end
      end]]
    assert.equal("vector", told.tier)
    local world, kept = scene(true).world, {}
    world:system("s", { run = function(_, dt)
      for i = 1, 300 do kept[dt * 1000 + i] = world:query("P, !T" .. (" "):rep(i - 1)) end
    end })
    world:update(1)
    world:update(2)
    assert.equal(kept[1001], kept[2001])
    assert.not_equal(kept[1300], kept[2300])
    assert.not_equal(world:query "P", world:query "P")
    world:system("s", { run = function() kept.now = world:query "P, !T" end })
    world:update(0)
    assert.equal(kept[1001], kept.now)
    world:undeclare "T"
    assert.has_error(function() world:update(0) end)
    assert.has_error(function() return kept.now:count() end)
    world:tag "T"
    world:update(0)
    assert.equal(200, kept.now:count())
    world:close()
  end)

  it("draws random numbers one after the other", function()
    alike [[for p, e in all:each() do
        if p.n % 3 > 0 and world:random(e) < 0.5 then p.n = p.n + world:random(e, 6) end
      end
      say(world:random(ids[1]))
      for p, e in all:each() do p.x = world:random(e) if p.n == 40 then world:enable(e, "P") end end
      say(world:random(ids[1]))]]
  end)

  it("knows the rows that loops and functions around it show", function()
    alike [[for a, ea in all:each() do
        local sum = 0.0
        for b, eb in all:each() do
          if ea ~= eb and b.x < a.x then sum = sum + b.x - a.at[1] end
        end
        a.at[2] = sum
      end]]
    alike [[for a in all:each() do
        for b, q in both:each() do
          if b.n > a.n then a.n = a.n + 1 q.hp = q.hp + a.n end
        end
      end]]
    alike [[for a, qa in some:each() do
        for b in tagged:each() do if qa and b.n < qa.hp then qa.hp = qa.hp - 1 end end
      end]]
    alike [[for hit in world:events "Hit" do
        for p, e in all:each() do if hit.who == e then p.x = p.x + hit.by end end
      end]]
    alike("for a in tagged:each() do if a.x > 3 then a.x = 1 end end", "read-only (:in)")
    local _, told = play(true, [[for a in tagged:each() do
        for b in all:each() do if b.x > 3 then a.x = 1 end end
      end]])
    assert.is_truthy(told.reason:find("read-only (:in)", 1, true), told.reason)
  end)

  it("does not take its own view for a row", function()
    local body = [[local seen
      for p, e in all:each() do
        if seen and seen.x > 3 then p.n = p.n + 1 end
        if p.n == 9 then seen = p end
      end]]
    assert.equal((play(false, body)), (play(true, body)))
  end)

  it("gives rows that fail to Lua, which goes on with the rest", function()
    local told = alike [[local n = 0
      for p, e in all:each() do
        n = n + 1
        if p.n == 20 then world:enable(e, "P") end
        p.x = p.x + 1
      end
      say(n)]]
    assert.equal(1, told.loops[1].left and told.loops[1].left.rows)
    alike [[local n = 0
      for p in all:each() do n = n + 1 score.n = n if p.n == 30 then error "no" end p.x = 0 end]]
  end)

  it("is left early by a row that Lua does", function()
    alike [[local n = 0
      for p in all:each() do if p.n == 33 then break end n = n + p.n p.x = p.x + 1 end
      say(n)]]
    alike [[for p, e in all:each() do p.x = p.x + 1 if p.n == 9 then say(e) return end end
      say "no"]]
    alike [[for i = 1, 3 do
        for p in all:each() do if p.n == 10 * i then goto out end p.x = p.x - i end
        ::out::
      end]]
    alike [[local found
      for p, e in all:each() do if p.x > 2 and not p.on then found = e break end end
      say(found)]]
  end)

  it("appends to lists", function()
    local told = alike [[local list, xs, ints, flags, mix, two = {}, {}, { 1, 2, 3 }, {}, {}, {}
      for p, e in all:each() do
        if p.n % 3 == 0 then list[#list + 1] = e end
        if p.n % 5 > 1 then xs[#xs + 1] = p.x * 0.5 table.insert(ints, p.n) end
        if #list > 3 then flags[#flags + 1] = p.on end
        mix[#mix + 1] = p.on and p.n or p.x
        two[#two + 1] = p.n
        if #two > 1 then two[#two - 1] = two[#two] + 1 end
        p.x = xs[#xs] or 7.5
      end
      for _, t in ipairs { list, xs, ints, flags, mix, two } do
        say(#t)
        for i = 1, #t do say(t[i]) end
      end]]
    assert.equal("vector", told.loops[1].tier)
    assert.is_nil(told.loops[1].left)
    told = alike [[local list, n = { 0.5 }, 0
      for p in all:each() do
        for i = 1, p.n % 4 do list[#list + 1] = i n = n + #list end
        list[p.n % #list + 1] = p.x
      end
      say(n) say(#list) say(list[1]) say(list[#list])]]
    assert.equal("vector", told.loops[1].tier)
  end)

  it("leaves rows to Lua whose list has other values, or no room", function()
    alike([[local list = {}
      for p in all:each() do
        for i = 1, 250 do list[#list + 1] = i + p.n end
      end
      say(#list) say(list[400])]], "an array has no such element")
    alike([[local list = {}
      for p in all:each() do
        list[#list + 1] = p.n
        if p.n == 30 then list[#list + 3] = p.n end
      end
      say(#list) say(list[9])]], "Lua does its rows, since too many were left to it")
    alike([[local list = setmetatable({}, { __newindex = function(t, k, v) rawset(t, k, v) end })
      for p in all:each() do list[#list + 1] = p.n end
      say(#list) say(list[9])]], "has a metatable and is written to")
    alike([[local list = { 1, 2, nil, 4 }
      for p in all:each() do list[#list + 1] = p.n end
      say(#list)]], "a table that is written to")
    alike([[local list = {}
      local same = list
      for p in all:each() do list[#list + 1] = p.n p.x = p.x + #same end
      say(#list)]], "reaches in another way")
    alike([[local list = {}
      for p in all:each() do
        list[#list + 1] = p.n
        for _, n in ipairs(list) do p.x = p.x + n end
      end
      say(#list)]], rawget(_G, "jit") and "'type'" or "ipairs with a list that it appends to")
    alike([[local list = {}
      for p, e in all:each() do list[#list + 1] = p.on and e or p.on end
      say(#list)]], "list")
  end)

  it("leaves rows to Lua that come to what is not compiled", function()
    local told = alike [[local list = {}
      for p, e in all:each() do
        p.x = p.x + 1
        if p.n % 20 == 3 then list[#list + 1] = e elseif p.n == 7 then say("row " .. p.x) end
      end
      say(#list) say(list[2])]]
    assert.equal(1, told.loops[1].left.rows)
    assert.is_truthy(told.loops[1].left.why:find("builds a string", 1, true))
    alike [[for p, e in all:each() do
        if p.n == 12 then local q = world:query "P" say(q:count()) end
      end]]
    alike [[for p in all:each() do
        if p.n == 15 then for q in all:each() do q.x = q.x + 1 if q.n > 20 then break end end end
        p.n = p.n + 0
      end]]
  end)

  it("gives back what it sets, whatever it was compiled for in between", function()
    local said = {}
    for i, kernels in ipairs { true, false } do
      local out = scene(kernels)
      local function run(value, by)
        local n = 0
        for p in out.all:each() do
          p.x = p.x + by
          if p.n == 90 then n = value.k end
        end
        return n
      end
      for k = 1, 12 do
        local hidden = setmetatable({}, { __index = { k = -k } })
        local other = k // 3 == 2   -- another program, which leaves the row that sets n to Lua
        said[i] = (said[i] or "") .. " " .. run(other and hidden or { k = k }, other and 1 or 0.5)
      end
      if kernels then assert.equal("vector", out.world:explain(run).tier) end
    end
    assert.equal(said[2], said[1])
  end)

  it("is nested in another one, or in a function", function()
    alike [[local n = 0
      for p in all:each() do
        local near = 0
        for q, f in all:each() do if q.n ~= p.n and q.x - p.x < 1 then near = near + 1 end end
        n = n + near
        p.at[p.n % 3 + 1] = near
      end
      say(n)]]
    alike [[for i = 1, 3 do for p in all:each() do p.x = p.x + i end end]]
    alike [[local function far(p) return p.x > 5 and p.x or 5 end
      local sum = 0.0 for p in all:each() do sum = sum + far(p) end say(sum)]]
  end)

  it("gives true for an event without fields", function()
    alike [[local n, said = 0, nil
      for tick in world:events "Tick" do
        n, said = n + 1, tick == true
      end
      say(n) say(said)
      for i = 1, 200 do world:emit "Tick" end]]
    alike [[for p in all:each() do
        for tick in world:events "Tick" do if tick == true then p.x = p.x + 1 end end
      end
      for i = 1, 3 do world:emit "Tick" end]]
  end)

  it("hears what it emits", function()
    alike([[for p, e in all:each() do
        local heard = 0
        if p.n % 9 == 1 then world:emit("Hit", e, p.n) end
        for hit in world:events "Hit" do heard = heard + hit.by end
        p.x = heard
      end]], "it emits 'Hit' and loops over these events")
    alike [[for hit in world:events "Hit" do
        if hit.by > 3 then world:emit("Hit", hit.who, hit.by - 3) end
      end]]
  end)

  it("goes on with an iterator of another loop", function()
    local said = {}
    for i, kernels in ipairs { true, false } do
      local out = scene(kernels)
      local function first(world, step, state, control)
        local n = 0
        for p, e in step, state, control do
          n = n + p.n
          if p.n == 30 then world:enable(e, "P") error "stop" end
        end
      end
      local function second(step, state, control)
        local m, k = 5, 7
        for p in step, state, control do
          m = m + 1
          p.x = p.x + m
        end
        return m, k
      end
      for _ = 1, 6 do
        local step, state, control = out.all:each()
        assert.is_false((pcall(first, out.world, step, state, control)))
        local m, k = second(step, state, control)
        said[i] = ("%s %d %d %s"):format(said[i] or "", m, k, out.world:digest())
        second(out.all:each())
      end
      if kernels then assert.equal("vector", out.world:explain(first).tier) end
    end
    assert.equal(said[2], said[1])
  end)

  it("stays Lua where a program cannot do it", function()
    local cases = {
      { "for p in all:each() do p.x = p.x + 1 break end", "leaves the loop in its first round" },
      { [[local n = 0 local function bump() n = n + 1 end
          for p in all:each() do n = n + p.n end bump() say(n)]], "a function created here" },
      { "for p in all:each() do p.x = 1 end for p in all:each() do p.n = 2 end",
        "several loops begin at its line" },
      { "local list = {} for p in all:each() do list[#list + 1] = p.n end say(#list)", "" },
      { "local last for p in all:each() do last = p end", "" },
      { "local s = '' for p in all:each() do s = p.on and 'a' or 'b' end say(s)", "" },
    }
    for _, case in ipairs(cases) do alike(case[1], case[2]) end
  end)

  it("lets functions change the locals that they share", function()
    alike [[local n = 0
      local function bump(by) n = n + by end
      for p in all:each() do p.x = p.x + 1 bump(p.n) end
      say(n)]]
  end)

  it("knows which loop has called", function()
    for _, body in ipairs {
      "local step, s, e = all:each() local p, id = step(s, e) say(id) p, id = step(s, e) say(p.n)",
      "for i = 1, 4 do local step, s, e = all:each() say(select(2, step(s))) end",
      [[local co = coroutine.wrap(function()
          local n = 0
          for p, e in all:each() do n = n + p.n end
          coroutine.yield(n)
          for p, e in all:each() do
            n = n + 1
            if e == ids[3] then coroutine.yield(n) end
          end
          return n
        end)
        say(co()) say(co()) say(co())]],
    } do
      assert.equal((play(false, body)), (play(true, body)), body)
    end
  end)

  it("keeps nothing that its locals hold, nor its function", function()
    local out = scene(true)
    local weak = setmetatable({}, { __mode = "v" })
    local run = load [[local all, weak = ... return function(big)
      local other = {}
      weak[3] = other
      for p in all:each() do p.x = p.x + #big end
      other = nil
    end]](out.all, weak)
    for _ = 1, 4 do
      weak[2] = { 1, 2, 3 }
      run(weak[2])
    end
    assert.equal("vector", out.world:explain(run).tier)
    weak[1] = run
    run = nil   -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak[1])
    assert.is_nil(weak[2])
    assert.is_nil(weak[3])
  end)

  it("is left to Lua while a hook looks on", function()
    local out, lines = scene(true), 0
    local function run() for p in out.all:each() do
      p.x = p.x + 1
    end end
    for _ = 1, 5 do run() end
    assert.equal("vector", out.world:explain(run).tier)
    debug.sethook(function() lines = lines + 1 end, "l")
    run()
    debug.sethook()
    assert.is_true(lines > 400)
  end)

  it("runs as a program once it has seen 512 rows, or if there are many", function()
    local out = scene(true)
    local source = "local q = ... return function() for p in q:each() do p.x = p.x + 1 end end"
    local run = load(source)(out.all)
    for _ = 1, 2 do
      run()
      assert.has_error(function() out.world:explain(run) end)
    end
    run()
    assert.equal("vector", out.world:explain(run).tier)
    assert.equal(1, out.world:explain(run).compilations)
    local few = load(source)(out.world:query "P, T")
    for _ = 1, 5 do few() end
    assert.has_error(function() out.world:explain(few) end)
    out.world:spawn_many(10000, { P = { x = 1 } })
    local first = load(source)(out.all)
    first()
    assert.equal("vector", out.world:explain(first).tier)
  end)
end)

describe("a loop over a query within a function of rows", function()
  local function same(body, reason)
    local said = {}
    for i, kernels in ipairs { true, false } do
      local out = scene(kernels)
      local text = "local o = ... local world, all, some, score = o.world, o.all, o.some, o.score "
        .. "return function(p, dt, e) " .. body .. " end"
      out.world:system("s", { query = "P", each = assert(load(text, "=for"))(out) })
      for _, e in ipairs(out.ids) do out.world:emit("Hit", e, 3) end
      for _ = 1, 3 do out.world:update(0.25) end
      said[i] = out.world:digest()
      if kernels then
        local told = out.world:explain "s"
        assert.equal(not reason, told.program ~= nil, body .. (told.reason or ""))
        if reason then assert.is_truthy(told.reason:find(reason, 1, true), told.reason) end
      end
    end
    assert.equal(said[2], said[1], body)
  end

  it("shows and changes other rows", function()
    same "local n = 0 for o in all:each() do if o.x < p.x then n = n + 1 end end p.n = n"
    same [[for o, q in some:each() do
        if q and q.hp > p.n then p.n = p.n - 1 elseif q == false then p.on = not p.on end
      end]]
    same "for o in all:each() do if o.x > p.n + 1 then p.on = o.x > 5 break end end"
    local itself = "only that loop is compiled"
    same("for o, f in all:each() do if f ~= e then o.x = o.x + p.n end end", itself)
    same("for o in all:each() do if o.n == p.n + 1 then p.n = p.n + o.n end end", itself)
    same "for hit in world:events 'Hit' do if hit.who == e then p.x = p.x + hit.by end end"
  end)

  it("makes its query itself", function()
    same "for o in world:query 'P':each() do if o.x < p.x then p.on = not p.on end end"
    same [[for _, q in world:query "P, Q?":each() do if q and q.hp > p.n then p.n = p.n - 1 end end
      for o in world:query "P, T":each() do if o.x == p.x then p.on = not p.on end end]]
    same "p.n = world:query('P, T'):count() + all:count() * world:count 'P, Q'"
    same("p.x = all:first() and 1 or 2", "or by query:count(): do that in a system")
    same("for o in world:query('P:changed'):each() do p.x = p.x + o.n / 8 end", "once, outside")
    same("for o in world:query('P', {}):each() do p.x = p.x + o.n / 8 end", "once, outside")
  end)

  it("is refused where a view would show another row", function()
    local out = scene(true)
    local all = out.all
    local function find(query) for o in query:each() do if o.x > 3 then return o end end end
    for _, case in ipairs {
      { function(p) local last for o in all:each() do last = o end p.x = last.x end, "" },
      { function(p)
        local o = find(all)
        if o then p.x = o.x end
      end, "it returns a view from a loop over a query" },
    } do
      out.world:system("s", { query = "P", each = case[1] })
      local told = out.world:explain "s"
      assert.equal("lua", told.tier)
      assert.is_truthy(told.reason:find(case[2], 1, true), told.reason)
    end
  end)
end)
