-- Kernels whose rows see what the rows before them did, beside fused loops by hand in row order;
-- what rows command and spawn, beside one call for all of them.

local ecs = require("ecs")
local floor = require("mod_reach")
local measure = require("measure")

local DT, N, OTHERS = 0.5, 100000, 1000
local random = math.random
local FORMATS = { f64 = "d", f32 = "f", i32 = "i4", u8 = "B", bool = "B", entity = "I4" }
local add

local function list_of(n, value)
  local list = {}
  for i = 1, n do list[i] = value(i) end
  return list
end

local function same_to(value) return function() return value end end
local function upto(n) return function() return random(n) end end
local function fraction() return random() end
local function itself(i) return i end

local function shuffled(n)
  local list = list_of(n, itself)
  for i = n, 2, -1 do
    local j = random(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

-- ---- scenes: a world, and columns of C that its fields and arrays stay equal to ---------------

local function new_scene(others, options)
  math.randomseed(42)
  local world = ecs.world(options or { tag = 1 })
  return { world = world, field = floor.field(1, others or 1), twins = {} }
end

local function number(value) return value == true and 1 or value or 0 end

local function twin(scene, name, type, list, read)
  scene.twins[name] = { format = FORMATS[type], list = list, read = read }
end

local function column_of(other)
  if not other.column then
    local packed = list_of(#other.list, function(i)
      return string.pack(other.format, number(other.list[i]))
    end)
    other.column = floor.column(table.concat(packed), #packed)
  end
  return other.column
end

local function add_array(scene, name, type, list)
  local array = scene.world:array(name, type, #list)
  array:write(list)
  twin(scene, name, type, list, function() return array:read() end)
  return array
end

-- Entities of one component: its fields' names, types and lists, three by three. What an entity
-- field names are those that were added first, by their numbers.
local function add_rows(scene, component, ...)
  local fields, types, world = { ... }, {}, scene.world
  for f = 1, #fields, 3 do types[#types + 1] = fields[f] .. ": " .. fields[f + 1] end
  world:component(component, types)
  scene.ids = world:spawn_many(#fields[3], { [component] = {} })
  scene.others = scene.others or scene.ids
  local query = world:query(component)
  for f = 1, #fields, 3 do
    local name, type, list = component .. "." .. fields[f], fields[f + 1], fields[f + 2]
    local function column(method, ...)
      local result
      for chunk in query:chunks() do
        local cells = chunk:column(name)
        result = cells[method](cells, ...)
      end
      return result
    end
    local is_id = type == "entity"
    twin(scene, name, type, list, not is_id and function() return column("read") end or nil)
    column("write", is_id and list_of(#list, function(i) return scene.others[list[i]] end) or list)
  end
end

-- What loops by hand have come to is what the world has.
local function check(what, scene)
  for name, other in pairs(scene.twins) do
    if other.column and other.read then
      local bytes, at = floor.bytes(other.column), 1
      for i, ours in ipairs(other.read()) do
        local wanted, behind = string.unpack(other.format, bytes, at)
        measure.same(what .. ": " .. name, i, wanted, number(ours))
        at = behind
      end
      assert(at > #bytes)
    end
  end
end

local function by_hand(scene, loop, ...)
  local names = { ... }
  local columns = list_of(#names, function(i) return column_of(scene.twins[names[i]]) end)
  return function() return floor.run_columns(loop, scene.field, DT, table.unpack(columns)) end
end

local function timed(f, ...)
  local start = measure.now()
  f(...)
  return measure.now() - start
end

local function by_system(scene, query, each, name, before)
  local world = scene.world
  name = name or "loop"
  world:system(name, { query = query, each = each })
  return function()
    if before then before() end
    return timed(world.run, world, name, DT)
  end
end

local function row(what, target, n, ns, floor_ns, world, name, kind)
  add({ workload = what, n = n, ns = ns * 1e9 / n, floor = floor_ns and floor_ns * 1e9 / n,
    target = target, kind = kind or "ratio", tier = world and world:explain(name or "loop").tier })
end

-- Each function in turn, three times, so that it finds in the caches what it left there.
local function turns(...)
  local functions = { ... }
  return measure.turns(5, table.unpack(list_of(#functions, function(i)
    return function() return math.min(functions[i](), functions[i](), functions[i]()) end
  end)))
end

local function compare(what, target, scene, ours, theirs)
  local floor_ns, ns = turns(theirs, ours)
  check(what, scene)
  row(what, target, N, ns, floor_ns, scene.world)
  return ns / floor_ns
end

-- ---- what others hold, read and written ----------------------------------------------------

local function ride(what, target, nxt, order)
  local scene, riders, taken = new_scene(), {}, list_of(#nxt, same_to(0))
  for i, cell in ipairs(order) do
    if random(#order - i + 1) <= N - #riders then
      riders[#riders + 1], taken[cell] = cell, 1
    end
  end
  local behind, at = add_array(scene, "nxt", "i32", nxt), add_array(scene, "at", "i32", taken)
  add_rows(scene, "Rider", "cell", "i32", riders)
  compare(what, target, scene, by_system(scene, "Rider", function(rider)
    local to = behind[rider.cell]
    if at[to] == 0 then
      at[rider.cell] = 0
      at[to] = 1
      rider.cell = to
    end
  end), by_hand(scene, "ride", "Rider.cell", "nxt", "at"))
  scene.world:close()
end

-- Three rows take from a box, a fourth one gives.
local function craft()
  local boxes = N // 4
  local scene, order = new_scene(boxes), shuffled(boxes)
  local world = scene.world
  add_rows(scene, "Box", "count", "i32", list_of(boxes, upto(9)))
  add_rows(scene, "Maker", "box", "entity", list_of(N, function(i) return order[i % boxes + 1] end),
    "need", "i32", list_of(N, function(i) return i > 3 * boxes and -5 or random(4) end),
    "made", "i32", list_of(N, same_to(0)))
  compare("craft: a field of others, four rows to one", 5, scene,
    by_system(scene, "Maker", function(maker)
      local count = world:get(maker.box, "Box.count")
      if count >= maker.need then
        world:set(maker.box, "Box.count", count - maker.need)
        maker.made = maker.made + 1
      end
    end), by_hand(scene, "craft", "Maker.box", "Maker.need", "Maker.made", "Box.count"))
  world:close()
end

-- ---- sums, folds and upvalues --------------------------------------------------------------

-- A sum alone, then beside what is done by rows below zero, of which there are none.
local function tally()
  local scene = new_scene(OTHERS)
  local world = scene.world
  add_rows(scene, "Health", "hp", "f64", list_of(OTHERS, same_to(0)))
  add_rows(scene, "V", "x", "f64", list_of(N, fraction), "who", "entity", list_of(N, upto(OTHERS)))
  local names = { "alone", "emit", "set", "spawn" }
  world:resource("Score", list_of(4, function(i) return names[i] .. ": f64" end))
  world:event("Hit", { "who: entity", "x: f64" })
  world:component("Shot", { "x: f64" })
  local s = world:res("Score")
  for _, name in ipairs(names) do
    twin(scene, name, "f64", { 0 }, function() return { s[name] } end)
  end
  local ours = {
    by_system(scene, "V:in", function(v, dt) s.alone = s.alone + v.x * dt end, "alone"),
    by_system(scene, "V:in", function(v, dt)
      s.emit = s.emit + v.x * dt
      if v.x < 0 then world:emit("Hit", v.who, v.x) end
    end, "emit"),
    by_system(scene, "V:in", function(v, dt)
      s.set = s.set + v.x * dt
      if v.x < 0 then world:set(v.who, "Health.hp", v.x) end
    end, "set"),
    by_system(scene, "V:in", function(v, dt)
      s.spawn = s.spawn + v.x * dt
      if v.x < 0 then world:spawn({ Shot = { x = v.x } }) end
    end, "spawn"),
  }
  for _, name in ipairs(names) do ours[#ours + 1] = by_hand(scene, "sum", "V.x", name) end
  local ns = { turns(table.unpack(ours)) }
  check("tally", scene)
  for i = 2, 4 do
    local what = ("tally: a sum beside %s, by no row"):format(names[i])
    row(what, 2, N, ns[i], ns[i + 4], world, names[i])
    row(what .. " (1: the sum)", 1.5, N, ns[i], ns[1], world, names[i])
  end
  world:close()
end

-- What is added to each of a thousand is by turns below and above zero, so that a u8 can hold it.
local function fold(type, amount, ratios)
  local scene, sign, places = new_scene(OTHERS), {}, list_of(N, upto(OTHERS))
  local world, start = scene.world, list_of(OTHERS, same_to(100))
  local grid = add_array(scene, "grid", type, start)
  add_rows(scene, "Health", "hp", type, start)
  add_rows(scene, "Row", "at", "i32", places, "who", "entity", places,
    "v", amount, list_of(N, function(i)
      sign[places[i]] = -(sign[places[i]] or 1)
      return sign[places[i]] * (amount == "i32" and 1 or random())
    end))
  local function into(what, query, each, loop, to, of)
    ratios[#ratios + 1] = compare(("fold of %s into %s"):format(type, what), 3, scene,
      by_system(scene, query, each), by_hand(scene, loop .. " " .. type, to, "Row.v", of))
  end
  into("a grid of 1,000", "Row:in", function(r) grid[r.at] = grid[r.at] + r.v end,
    "grid", "Row.at", "grid")
  into("1,000 others, by a path", "Row:in, Row.who->Health", function(r, health)
    health.hp = health.hp + r.v
  end, "others", "Row.who", "Health.hp")
  into("1,000 others, by an id", "Row:in", function(r)
    world:set(r.who, "Health.hp", world:get(r.who, "Health.hp") + r.v)
  end, "others", "Row.who", "Health.hp")
  world:close()
end

local function folds()
  local ratios = {}
  for _, type in ipairs({ "f64", "f32", "i32", "u8" }) do
    fold(type, type == "u8" and "i32" or type, ratios)
  end
  row("folds: the largest of these ratios (1: the smallest)", 2, N,
    math.max(table.unpack(ratios)) * N / 1e9, math.min(table.unpack(ratios)) * N / 1e9)
end

local function twice_and_cells()
  local scene, n, best, who = new_scene(), 0, nil, nil
  local grid = add_array(scene, "grid", "f64", list_of(OTHERS, same_to(0)))
  add_rows(scene, "R", "at", "i32", list_of(N, upto(OTHERS)), "x", "f64", list_of(N, fraction),
    "n", "i32", list_of(N, upto(9)), "on", "bool", list_of(N, function() return random(2) == 1 end))
  compare("twice the same element, a float and an integer", 6, scene,
    by_system(scene, "R:in", function(r, dt)
      grid[r.at] = grid[r.at] + r.x * dt
      grid[r.at] = grid[r.at] + r.n
    end), by_hand(scene, "twice", "R.at", "R.x", "R.n", "grid"))
  twin(scene, "n", "i32", { 0 }, function() return { n } end)
  compare("a count under a condition, into an upvalue", 2, scene,
    by_system(scene, "R:in", function(r) if r.on then n = n + 1 end end),
    by_hand(scene, "count", "R.on", "n"))
  twin(scene, "best", "f64", { 0, 0 }, function()
    for i, id in ipairs(scene.ids) do
      if id == who then return { best, i } end
    end
  end)
  compare("best and who under a comparison, upvalues", 3, scene,
    by_system(scene, "R:in", function(r, _, e)
      if r.x < best then best, who = r.x, e end
    end, nil, function() best, who = math.huge, ecs.null end),
    by_hand(scene, "least", "R.x", "best"))
  scene.world:close()
end

-- ---- commands and spawns -------------------------------------------------------------------

local function spawns()
  local scene = new_scene()
  local world = scene.world
  add_rows(scene, "V", "n", "i32", list_of(N, itself))
  world:component("Shot", { "x: f64", "y: f64" })
  local shots = world:query("Shot")
  local function spawning(spawn, sum)
    return function()
      local seconds = spawn()
      measure.same("spawns", 1, sum, shots:sum(function(s) return s.x end))
      shots:despawn()
      return seconds
    end
  end
  local floor_ns, ns = turns(spawning(function()
    return timed(world.spawn_many, world, N, { Shot = { 1, 2 } })
  end, N), spawning(by_system(scene, "V:in", function(v)
    world:spawn({ Shot = { v.n, 2 } })
  end), N * (N + 1) // 2))
  row("a spawn on every row (1: spawn_many)", 2, N, ns, floor_ns, world)
  world:close()
end

-- ---- short runs, and everything together ----------------------------------------------------

-- 64 systems over 8 rows, which write to a grid what they read there, or else to themselves.
local function short_runs()
  local function updates(make_each)
    local scene = new_scene()
    local world, places = scene.world, list_of(8, itself)
    local grid = add_array(scene, "grid", "f64", places)
    add_rows(scene, "V", "at", "i32", places, "y", "f64", list_of(8, same_to(0)))
    for i = 1, 64 do world:system("s" .. i, { query = "V", each = make_each(grid) }) end
    return function()
      local seconds = timed(world.update, world, DT)
      for i, y in ipairs(scene.twins["V.y"].read()) do measure.same("short runs", i, i + DT, y) end
      return seconds
    end, world
  end
  local without = updates(function(grid)
    return function(v, dt)
      local n = grid[v.at]
      if n ~= 0 then v.y = math.abs(n) + dt end
    end
  end)
  local with, world = updates(function(grid)
    return function(v, dt)
      local n = grid[v.at]
      if n ~= 0 then
        grid[v.at] = -n
        v.y = math.abs(n) + dt
      end
    end
  end)
  local floor_ns, ns = measure.turns(101, without, with)
  row("a run over 8 rows, with an ordered part (1: without)", 1.3, 64, ns, floor_ns, world, "s1")
end

-- Systems of rows with a place, a speed, a number, an element, one of the others, and what is left
-- until a row turns hot or cold.
local function mixed_systems(world, heat, score)
  return {
    { "P", function(p, dt) p.x, p.y = p.x + p.u * dt, p.y + p.v * dt end },
    { "P", function(p, dt)
      local k = 1 / (1 + 0.125 * dt * math.sqrt(p.u * p.u + p.v * p.v))
      p.u, p.v = p.u * k, p.v * k
    end },
    { "P", function(p, dt, e)
      p.left = p.left - dt
      if p.left < 0 then
        p.left = p.left + 50
        if world:has(e, "Hot") then world:remove(e, "Hot") else world:add(e, "Hot") end
      end
    end },
    { "P:in", function(p)
      score.n = score.n + p.x
      heat[p.at] = heat[p.at] + p.y
      if p.n % 100 == 0 then world:emit("Hit", p.who, p.x) end
      if p.n % 1000 == 0 then world:spawn({ Shot = { x = p.x } }) end
    end },
    { "Hit, Hit.who->Health", function(hit, health) health.hp = health.hp + hit.x end },
  }
end

local function mixed_world(rows, options)
  local scene = new_scene(OTHERS, options)
  local world, any = scene.world, list_of(rows, fraction)
  local heat = add_array(scene, "heat", "f64", list_of(4096, same_to(0)))
  add_rows(scene, "Health", "hp", "f64", list_of(OTHERS, same_to(0)))
  add_rows(scene, "P", "x", "f64", any, "y", "f64", any, "u", "f64", any, "v", "f64", any,
    "n", "i32", list_of(rows, itself), "left", "f64", list_of(rows, upto(50)),
    "at", "i32", list_of(rows, upto(4096)), "who", "entity", list_of(rows, upto(OTHERS)))
  world:component("Hot", { storage = "sparse" })
  world:component("Shot", { "x: f64" })
  world:event("Hit", { "who: entity", "x: f64" })
  world:resource("Score", { "n: f64" })
  for i, system in ipairs(mixed_systems(world, heat, world:res("Score"))) do
    world:system("s" .. i, { query = system[1], each = system[2] })
  end
  local shots = world:query("Shot")
  return world, function()
    local start = measure.wall()
    world:update(DT)
    local seconds = measure.wall() - start
    measure.same("shots", 1, rows // 1000, shots:count())
    shots:despawn()
    return seconds
  end
end

-- The same in plain Lua is the floor of one thread, and one thread that of two.
local function mixed(rows)
  local plain, run_plain = mixed_world(rows, { tag = 1, kernels = false })
  local one, run_one = mixed_world(rows, { tag = 1 })
  local two, run_two = mixed_world(rows, { tag = 1, threads = 2 })
  local plain_ns, one_ns, two_ns = measure.turns(5, run_plain, run_one, run_two)
  assert(plain:digest() == one:digest() and one:digest() == two:digest(), "rows differ")
  local shown = "s1"
  for i = 2, 5 do
    if one:explain("s" .. i).tier == "lua" then shown = "s" .. i end
  end
  row("mixed: 5 systems, one thread (1: plain Lua)", nil, rows, one_ns, plain_ns, one, shown)
  row("mixed: two threads (1: one)", 1.5, rows, two_ns, one_ns, two, shown, "times")
  for _, world in ipairs({ plain, one, two }) do world:close() end
end

return function(give)
  add = give
  local function belt(i) return i % 64 == 0 and i - 63 or i + 1 end
  ride("ride: to the next cell if it is free, in cache", 6, list_of(2 * N, belt),
    list_of(2 * N, itself))
  ride("ride, at random in 1,000,000 cells", 1.3, shuffled(10 * N), shuffled(10 * N))
  craft()
  tally()
  folds()
  twice_and_cells()
  local structure = require("structure")
  structure.by_kernels(function(what, n, times, by_hand_ns, ours, target)
    local ns, floor_ns = measure.compare(n, times, by_hand_ns, ours)
    add({ workload = what, n = n, ns = ns, floor = floor_ns, target = target, kind = "ratio",
      tier = structure.tier })
  end)
  spawns()
  short_runs()
  mixed(4 * N)
end
