-- More of what scenarios.lua begins: kernels, compiled and run while memory is short.

local scenario, make = ...
local crowd = make.crowd

local gain, limit = 2, 3.5

local function double(x) return x * gain end

local function busy(p, v, dt)
  if v and v.x > 0.5 then
    for i = 1, 3 do
      p.x = p.x + double(v.x) * dt * i
      if p.x > 100 then break end
    end
  elseif p.y < limit then
    p.y = math.sqrt(p.x * p.x + p.y * p.y) + math.sin(p.x)
  end
  p.x = p.x // 0.25
end

scenario("a function compiled and run", {
  prepare = crowd,
  act = function(s) s.query:run(busy, 0.5) end,
})

scenario("a function compiled again for another subtype", {
  prepare = function(s)
    crowd(s)
    gain = 2
    s.query:run(busy, 0.5)
    gain = 2.5
  end,
  act = function(s) s.query:run(busy, 0.5) end,
  after = function() gain = 2 end,
})

local count, most, stats = 0, nil, {}

scenario("a function that writes upvalues, and fields that are not there", {
  prepare = function(s)
    crowd(s)
    s.tally = function(p)
      count = count + 1
      if not most or p.x > most then most = p.x end
      stats.sum = (stats.sum or 0.5) + p.x
    end
  end,
  act = function(s)
    count, most, stats = 0, nil, {}
    s.query:each(s.tally)
    assert(count == s.query:count() and stats.sum > 0.5 and most)
  end,
})

local list, marks = {}, {}

scenario("a function that appends to a list, and writes to a table by ids", {
  prepare = function(s)
    crowd(s)
    s.keep = function(p, _, _, e)
      if p.x > 2 then list[#list + 1] = e end
      marks[e] = (marks[e] or 0) + 1
    end
  end,
  act = function(s)
    list, marks = {}, {}
    s.query:each(s.keep, 0.5)
    assert(#list > 0 and marks[list[1]] == 1)
  end,
  partial = true,    -- the rows may be done when a list has no room for what they gave it
})

local hits

scenario("a function that creates lists and tables by ids, and appends tables to a list", {
  prepare = function(s)
    crowd(s)
    s.judge = function(p, _, _, e)
      local near, votes, sum = {}, {}, 0
      for k = 1, 5 do
        near[#near + 1] = { d = (p.x * k) % 7, k = k }
        votes[e + k % 3] = (votes[e + k % 3] or 0) + k
      end
      table.sort(near, function(a, b) return a.d > b.d end)
      for id, n in pairs(votes) do sum = sum * 3 + id % 5 + n end
      p.y = near[1].d + sum
      hits[#hits + 1] = { id = e, y = p.y, near[2].k }
    end
  end,
  act = function(s)
    hits = {}
    s.query:each(s.judge, 0.5)
    assert(#hits > 0 and hits[1].y)
  end,
  partial = true,    -- as above
})

local weights = { 0.5, 1.5, 2.5 }

scenario("a function that takes elements of an array and of a table that has grown", {
  prepare = function(s)
    crowd(s)
    local cost = s.world:array("cost", "f32", 3)
    s.weigh = function(p) p.x = weights[p.x // 1 % 3 + 1] + cost[p.y // 1 % 3 + 1] end
    s.query:run(s.weigh)
  end,
  act = function(s)
    for i = 4, 200 do weights[i] = i end
    s.query:run(s.weigh)
  end,
  after = function() weights = { 0.5, 1.5, 2.5 } end,
})

scenario("a function that notes down more in loops than there is room for", {
  prepare = function(s)
    crowd(s)
    local heat = s.world:array("heat", "f64", 9)
    s.world:resource("Total", { "n: i64" })
    local total = s.world:res "Total"
    s.warm = function(p)
      for k = 1, 9 do heat[k] = heat[k] + p.x * k end
      total.n = total.n + 1
    end
  end,
  act = function(s) s.query:run(s.warm) end,
})

scenario("a function whose rows see what those before them have written", {
  prepare = function(s)
    crowd(s)
    local free, heat = s.world:array("free", "bool", 24), s.world:array("heat", "f64", 24)
    s.world:resource("Total", { "n: i64" })
    local total = s.world:res "Total"
    s.move = function(p)
      local to = p.x // 1 % 24 + 1
      if heat[to] > 2 then heat[to] = heat[to] * 0.5 else heat[to % 24 + 1] = heat[to] - p.y end
      if free[to] then free[to], total.n = false, total.n + 1 else free[to] = total.n < 9 end
      p.y = heat[to]
    end
  end,
  act = function(s) s.query:run(s.move) end,
  after = function(s) assert(s.world:explain(s.move).ordered) end,
})

scenario("a function that sets and orders what its rows read, one of which Lua has to do", {
  prepare = function(s)
    crowd(s)
    s.world:component("Mark", { "n: i32", "y: f32" })
    local world, one, heat = s.world, s.query:first(), s.world:array("heat", "f64", 24)
    world:add(one, "Mark")
    s.mark = function(p, _, _, e)
      world:set(one, "Mark.y", p.y + (world:get(one, "Mark.y") or 0))
      if world:get(one, "Mark.y") < -30 then world:add(e, "Enemy") end
      for k = 1, p.x == 7 and 4100 or 2 do heat[k % 24 + 1] = heat[(k + 5) % 24 + 1] + p.x end
      if p.x == 9 then world:remove(one, "Mark") end
      p.y = heat[p.x // 1]
    end
  end,
  act = function(s) s.query:run(s.mark) end,
  after = function(s)
    local told = s.world:explain(s.mark)
    assert(told.ordered and told.left)
  end,
  partial = true,
})

scenario("a system's run that stores more than can be undone one by one", {
  prepare = function(s)
    crowd(s)
    local heat = s.world:array("heat", "f64", 50)
    s.world:system("spread", { run = function()
      for k = 1, 5000 do
        local i = k % 50 + 1
        heat[i] = heat[i] * 0.5 + heat[51 - i] + k
      end
    end })
  end,
  act = function(s) s.world:update(1) end,
  after = function(s) assert(s.world:explain("spread").tier == "vector") end,
  partial = true,
})

scenario("a function that writes elements of tables, and goes through others", {
  prepare = function(s)
    crowd(s)
    local sums, seen, ways = { 1, 2.5, 3, 0 }, { false, true, false }, { { 1, 2 }, { 3, 4 } }
    s.count = function(p)
      local i = p.x // 1 % 4 + 1
      sums[i] = sums[i] % 100 + p.y
      if not seen[i % 3 + 1] then seen[i % 3 + 1], sums[1] = true, i end
      for k, way in ipairs(ways) do sums[k] = sums[k] + way[2] - way[1] end
      for _, by in ipairs { 1.5, -0.5 } do sums[4] = sums[4] + by end
      p.y = sums[i]
    end
    s.told = function() return table.concat(sums, " ") .. tostring(seen[2]) end
  end,
  act = function(s) s.query:run(s.count) end,
  after = function(s) assert(s.world:explain(s.count).tier == "vector" and s.told()) end,
})

scenario("a system's run that fills and copies arrays, and fails behind that", {
  prepare = function(s)
    crowd(s)
    local a, b = s.world:array("a", "f64", 500), s.world:array("b", "f64", 500)
    s.world:system("spread", { run = function()
      b:copy(a)
      a:fill(b[7] + 1)
      for i = 1, #a do a[i] = a[i] * 0.5 + b[i] end
      a[a[9] // 1 % 500 + 1] = 3
    end })
  end,
  act = function(s) s.world:update(1) end,
  after = function(s) assert(s.world:explain("spread").tier == "vector") end,
  partial = true,
})

scenario("a function that gives commands to another entity", {
  prepare = function(s)
    crowd(s)
    s.world:component("Mark", { "n: i32" })
    s.world:component("Seen", { "at: f32" })
    local world, one = s.world, s.query:first()
    world:add(one, "Seen")
    s.mark = function(p, _, _, e)
      world:set(one, "Seen.at", p.x)
      for k = 1, 2 do
        if p.x > k then world:add(e, "Mark") else world:set(one, "Mark.n", k) end
      end
    end
  end,
  partial = true,
  act = function(s) s.query:run(s.mark) end,
})

scenario("a function that spawns", {
  prepare = function(s)
    crowd(s)
    s.world:component("Spark", { "n: i32", "by: entity" })
    local world = s.world
    s.spark = function(p, _, _, e)
      if p.x > 1 then world:spawn { Spark = { n = 3, by = e } } end
    end
  end,
  partial = true,
  act = function(s) s.query:run(s.spark) end,
})

scenario("a function that emits", {
  prepare = function(s)
    crowd(s)
    s.world:event("Hit", { "who: entity", "amount: f32", "text: string" })
    s.world:event("Over", { "n: i32" })
    local world = s.world
    s.hit = function(p, _, _, e)
      for k = 1, 20 do
        if p.x > k / 9 then world:emit("Hit", e, p.y, "a text that is entered") end
        world:emit("Over", { n = k })
      end
    end
  end,
  partial = true,
  act = function(s) s.query:run(s.hit) end,
})

local setting = { on = false }

local function unfit(p)
  for _ = 1, setting.on and 1 or 0 do p.x = p.x + setting.text end
end

scenario("a function refused for an outside value, and compiled for another", {
  prepare = function(s)
    crowd(s)
    setting.text = "none"
    s.world:system("unfit", { query = "Position, Velocity?", each = unfit })
  end,
  act = function(s)
    setting.text = setmetatable({}, { __index = {} })
    s.world:update(0)
    assert(s.world:explain("unfit").tier == "lua")
    setting.text = 2.5
    s.world:update(0)
    assert(s.world:explain("unfit").tier == "vector")
  end,
})

local function shrink(by)
  return function(p) p.x = p.x - by end
end

scenario("closures of a function that was compiled", {
  prepare = function(s)
    crowd(s)
    s.query:run(shrink(1))
  end,
  act = function(s)
    s.query:run(shrink(2))
    s.query:run(shrink(0.5))
  end,
  partial = true,
})

scenario("a function that was compiled, run again", {
  prepare = function(s)
    crowd(s)
    s.query:run(busy, 0.5)
  end,
  act = function(s) s.query:run(busy, 0.5) end,
})

scenario("a system that has to compile", {
  prepare = crowd,
  act = function(s)
    s.world:system("busy", { query = "Position, Velocity?", each = busy, compile = true })
    assert(s.world:explain("busy").tier == "vector")
  end,
  partial = true,
})

scenario("a system that compiles when it runs", {
  prepare = function(s)
    crowd(s)
    s.world:system("busy", { query = "Position, Velocity?", each = busy })
  end,
  act = function(s)
    s.world:update(0.5)
    local explained = s.world:explain("busy")
    assert(explained.tier == "vector" and #explained.program > 100)
  end,
  partial = true,
})

scenario("systems side by side", {
  prepare = function(s)
    crowd(s)
    s.other = require "ecs".world { threads = "2!", tag = 8 }
    s.other:component("Position", { "x: f32", "y: f32" })
    for i = 1, 300 do s.other:spawn { Position = { i, 0 } } end
    for _, key in ipairs { "x", "y" } do
      local each = key == "x" and function(p, _, e) p.x = s.other:random(e) end
        or function(p) p.y = p.y + gain end
      s.other:system(key, { query = "Position", each = each })
    end
    s.other:update(1)
  end,
  act = function(s)
    s.other:update(1)
    s.sum = s.other:query "Position":sum(function(p) return p.y end)
  end,
  after = function(s)
    local runs = s.other:describe().systems[1].runs
    assert(s.sum == 300 * gain * runs)
    assert(s.other:explain("update").update[1].together)
    s.other:close()
  end,
  partial = true,
})

scenario("a function that cannot be compiled, in a system", {
  prepare = function(s)
    crowd(s)
    s.seen = {}
    local function join(p, n) return ("%d"):format(n) .. p.x end
    s.world:system("plain", { query = "Position", each = function(p, _, e)
      s.seen[e] = p.x
      for i = 1, 2 do
        s.text = join(p, i)
      end
    end })
  end,
  act = function(s)
    s.world:update(0.5)
    assert(s.seen[s.e] and #s.world:explain("plain").reasons == 1)
  end,
  partial = true,
})

scenario("commands of a kernel", {
  prepare = function(s)
    crowd(s)
    local world = s.world
    s.change = function(p, _, e)
      if p.x > 20 then
        world:despawn(e)
      elseif p.x > 10 then
        world:add(e, "Enemy")
      else
        world:remove(e, "Frozen")
      end
    end
    s.positions = world:query "Position"
  end,
  act = function(s) s.positions:run(s.change) end,
})

scenario("rows that satisfy a function", {
  prepare = crowd,
  act = function(s)
    local far = s.query:where(function(p) return p.x > 12 end)
    assert(far:count() == 12 and s.world:alive(far:first()))
    local seen = 0
    for p in far:each() do seen = seen + p.x end
    assert(seen > 100)
  end,
})

scenario("strings in kernels", {
  partial = true,
  prepare = function(s)
    crowd(s)
    for i = 1, 24, 3 do s.world:set(s.ids[i], "Label", "a label of some length " .. i % 2) end
    s.labels = s.world:query "Label"
    s.change = s.world:query "Label.text"
  end,
  act = function(s)
    s.labels:where(function(l) return l.text == "a text that is nowhere" end):count()
    local world = s.world
    s.positions = world:query "Position"
    s.positions:each(function(p) p.x = world:count "Label" end)
    s.change:map(function(text)
      return text == "a label of some length 1" and "a text that comes by a kernel" or text
    end)
  end,
})

scenario("forms of a filter", {
  partial = true,
  prepare = function(s)
    crowd(s)
    s.far = s.query:where(function(p) return p.x > 12 end)
  end,
  act = function(s)
    local near = s.far:where(function(p) return p.x < 20 end)
    assert(#near:ids() == 7)
    assert(near:sum(function(p) return p.x end) == 112)
    local seen = 0
    for chunk in near:chunks() do seen = seen + chunk.n end
    assert(seen == 7)
    near:each(function(p) p.y = p.x end)
  end,
})

-- Each is one call, which changes all rows or none: those that have the component at once, the
-- others when it ends.
local function changing_where(name, change)
  scenario("entities that satisfy a function: " .. name, {
    prepare = function(s)
      crowd(s)
      for i = 1, 24, 5 do s.world:set(s.ids[i], "Bag", { "old " .. i }) end
      s.some = s.query:where(function(p) return p.x > 5 end)
    end,
    act = function(s) change(s.some) end,
  })
end

changing_where("despawn", function(some) some:despawn() end)
changing_where("add", function(some) some:add "Enemy" end)
changing_where("remove", function(some) some:remove "Frozen" end)
changing_where("set of a field", function(some) some:set("Position.y", 1) end)
changing_where("set of what some have", function(some) some:set("Velocity", 3, 4) end)
changing_where("set of a string", function(some) some:set("Label", "a text of their own") end)
changing_where("set of an any value", function(some) some:set("Bag", { value = { 1 } }) end)

scenario("totals", {
  prepare = crowd,
  act = function(s)
    assert(s.query:sum(function(p) return p.x end) == 301)
    assert(s.query:min(function(p) return p.y end) == -24)
    assert(s.query:max(function(p) return p.x end) == 24)
  end,
  partial = true,
})

scenario("outside values in a kernel, and what is told of its function", {
  prepare = function(s)
    crowd(s)
    local world = s.world
    local config = { now = {}, menu = {}, id = world:tag "Marked", deep = { late = nil } }
    config.now = config.menu
    s.change = function(p, _, e)
      if config.now == config.menu and not config.deep.late then p.x = math.max(p.x, 0) end
      p.y = p.y + math.modf(p.x) + math.log(p.x + 1.5, gain)
      world:add(e, config.id)
    end
    s.positions = world:query "Position"
  end,
  act = function(s)
    s.positions:run(s.change)
    local told = s.world:explain(s.change)
    assert(told.tier == "vector" and told.form == "run" and #told.program > 100)
  end,
  partial = true,
})

scenario("a kernel with a resource and random numbers", {
  prepare = function(s)
    crowd(s)
    s.world:resource("Gravity", { "y: f32 = -2" })
    local world, gravity = s.world, s.world:res "Gravity"
    s.fall = function(p, dt, e) p.y = p.y + gravity.y * world:random(e) * dt end
    s.positions = world:query "Position"
  end,
  act = function(s) s.positions:run(s.fall, 0.5) end,
})

scenario("a kernel that asks other entities, and what may be nil", {
  prepare = function(s)
    crowd(s)
    local world, grid = s.world, s.world:array("grid", "f32", 4)
    world:component("Eye", { "on: entity", "n: i32" })
    local seen = world:spawn { Health = { hp = 4 } }
    for _ = 1, 3 do world:spawn { Eye = { on = seen, n = 5 } } end
    s.look = function(eye, _, e)
      local hp
      if world:alive(eye.on) then hp = world:get(eye.on, "Health.hp") end
      eye.n = eye.n + (hp or 1) + (grid[eye.n] and 1 or 2)
      if world:parent(e) == nil and world:has(e, "Eye") then eye.n = eye.n + 1 end
    end
    s.eyes = world:query "Eye"
  end,
  act = function(s)
    s.eyes:run(s.look)
    assert(s.eyes:where(function(eye) return eye.n > 5 end):count() == 3)
  end,
  partial = true,
})

scenario("a kernel that looks into texts", {
  prepare = function(s)
    crowd(s)
    s.world:component("Title", { "text: string" })
    for _, text in ipairs { "ziggy", "zig", "bob" } do s.world:spawn { Title = { text } } end
    s.titles = s.world:query "Title"
  end,
  act = function(s)
    local methods = getmetatable ""
    local ok, had = pcall(function()
      return s.titles:where(function(title)
        return title.text:sub(1, 3) == "zig" and title.text < "zigg" and #title.text > 2
      end):count()
    end)
    assert(getmetatable "" == methods)
    if not ok then error(had, 0) end
    assert(had == 1)
  end,
})

scenario("a kernel that fails in a row", {
  prepare = function(s)
    crowd(s)
    s.world:spawn { Health = { hp = 0 } }
    s.health = s.world:query "Health"
  end,
  act = function(s)
    local ok, message = pcall(s.health.run, s.health, function(h) h.hp = 7 // h.hp end)
    assert(not ok)
    if message == "not enough memory" then error(message, 0) end
    assert(message:find "zero" or message:find "n//0", message)
  end,
})

scenario("loops that each row leaves when it likes, and array fields by a variable", {
  prepare = function(s)
    crowd(s)
    s.world:component("Bag", { "items: i32[3]", "n: i32" })
    for n = 1, 4 do s.world:spawn { Bag = { items = { 9, n, 4 }, n = n } } end
    s.bags = s.world:query "Bag"
    s.fill = function(bag)
      local k = 1
      while k < bag.n do
        bag.items[k % 3 + 1] = (bag.items[k] or 0) + k
        k = k + 1
      end
      for i = k, bag.n + 2 do bag.n = bag.n + i end
    end
    s.patient = function(bag)
      local k = 0
      repeat k = k + 1 until k > 65600 or bag.n ~= 4
      return bag.n * k
    end
  end,
  act = function(s)
    s.bags:run(s.fill)
    assert(s.bags:where(function(bag) return bag.items[bag.n % 3 + 1] ~= 0 end):count() > 0)
    assert(s.bags:sum(s.patient) > 0)
  end,
  partial = true,
})

-- Ties of several targets, a component that some lack, and an index of that.
local function tied(s)
  crowd(s)
  s.world:relation("Owes", { "amount: f32" })
  for i = 2, 24 do
    s.world:set(s.ids[i], "Owes", s.ids[i // 2], i)
    if i % 3 == 0 then s.world:set(s.ids[i], "Owes", s.ids[1], i / 2) end
  end
  s.ties = s.world:query "Position, (Owes, *)"
  s.near = s.world:index("near", { query = "Position:in, Velocity?", grid = "Position", cell = 4 })
end

scenario("kernels that take who a variable stands for, and totals of ties", {
  prepare = tied,
  act = function(s)
    s.ties:run(function(p, owes, _, e, to) p.y = (to > e and 1 or 2) * owes.amount end)
    assert(s.ties:sum(function(_, owes, _, _, to) return to > 0 and owes.amount or 0.0 end) == 350)
    s.ties:max(function(p, owes) return p.x + owes.amount end)
  end,
  partial = true,
})

scenario("a kernel that stores the ids of those that it spawns in an array and a resource", {
  prepare = function(s)
    crowd(s)
    local world, born = s.world, s.world:array("born", "entity", 24)
    world:resource("Last", { "who: entity" })
    local last = world:res "Last"
    s.bear = function(p)
      local id = world:spawn { Label = true }
      born[p.x] = id
      if p.x > 20 then last.who = id end
    end
  end,
  act = function(s) s.world:query("Position:in"):run(s.bear) end,
  partial = true,
})

scenario("a kernel that goes through an index some of whose rows lack a term", {
  prepare = tied,
  act = function(s)
    local near, n = s.near, s.world:array("n", "f64", 1)
    s.world:system("look", { query = "Position:in", each = function(p)
      for q, v in near:within(p.x, p.y, 3) do n[1] = n[1] + (v and v.x or q.x) end
    end })
    s.world:update(1)
  end,
  partial = true,
})

scenario("strings in variables outside, and a query that the rows make", {
  prepare = function(s)
    crowd(s)
    s.world:component("Called", { "name: string" })
    for i = 1, 20 do s.world:spawn { Called = { name = "name " .. i % 7 } } end
  end,
  act = function(s)
    local world, last, seen = s.world, "", nil
    world:system("call", { query = "Called", each = function(called)
      if called.name > last then last, seen = called.name, "a text that is new" end
      for other in world:query("Called:in"):each() do
        if other.name == last then called.name = seen or other.name end
      end
    end })
    world:update(1)
    assert(seen and last == "name 6")
  end,
  partial = true,
})

scenario("a query made anew of a text that its function was compiled for", {
  prepare = function(s)
    crowd(s)
    s.world:query("Position, Velocity?"):run(busy, 0.5)
  end,
  act = function(s)
    s.world:query("Position, Velocity?"):run(busy, 0.5)
    s.world:query("Position"):where(function(p) return p.x > 1 end):count()
  end,
  partial = true,    -- the second form may fail when the first has run
})

scenario("a sum, and the least, of integers and floats", {
  prepare = crowd,
  act = function(s)
    local function either(p) return p.x > 3 and p.y or p.x < 2 and (1 << 60) + 1 or 7 end
    s.query:sum(either)
    s.query:min(either)
  end,
  partial = true,    -- each form takes a random stream
})

scenario("an index whose function reads a field that is not there", {
  prepare = crowd,
  act = function(s)
    local ok, why = pcall(s.world.index, s.world, "i", { query = "Position:in",
      hash = function(p) return p.zz end })
    assert(not ok)
    if not why:find "has no field 'zz'" then error(why, 0) end
  end,
})

scenario("a query that is refused behind a relation that it names first", {
  prepare = crowd,
  act = function(s)
    local ok, why = pcall(s.world.query, s.world, "ChildOf->Position, Nobody")
    assert(not ok)
    if not why:find "unknown component 'Nobody'" then error(why, 0) end
  end,
})
