-- Kernels that look beyond their row, against fused loops by hand: tables by a computed index,
-- fields of other entities, steps onto what others see, spawning, events, loops of the row.

local ecs = require("ecs")
local floor = require("mod_reach")
local measure = require("measure")

local DT = 0.5
local READ, ADD_GRID, ADD_OTHERS, ADD_ONE, SHRINK, COLLATZ, EMIT = 0, 1, 2, 3, 4, 5, 6

-- A world of the floor's rows, and of its elements as entities where the rows name them.
local function new_world(field, rows, elements)
  local world, others = ecs.world({ tag = 1 }), {}
  world:component("Place", { "at: i32", "who: entity" })
  world:component("Value", { "x: f64", "y: f64" })
  world:component("Number", { "n: i64" })
  world:component("Health", { "hp: f64" })
  for i = 1, elements or 0 do
    others[i] = world:spawn({ Health = { floor.element(field, i) } })
  end
  local ids = world:spawn_many(rows, { Place = {}, Value = {}, Number = {} })
  for i = 1, rows do
    local at, x, y, n = floor.row(field, i)
    world:set(ids[i], "Place", at, others[at] or ecs.null)
    world:set(ids[i], "Value", x, y)
    world:set(ids[i], "Number", n)
  end
  return world, ids, others
end

local function new_grid(world, field, elements)
  local grid = world:array("grid", "f64", elements)
  for i = 1, elements do grid[i] = floor.element(field, i) end
  return grid
end

-- ns a row of the world's systems and of the floor, in turns.
local function compare(world, rows, times, by_hand)
  local theirs, ours = measure.turns(15, function() return by_hand(times) end, function()
    local start = measure.now()
    for _ = 1, times do world:update(DT) end
    return measure.now() - start
  end)
  return ours * 1e9 / times / rows, theirs * 1e9 / times / rows
end

local function loop(field, which)
  return function(times) return floor.run(field, which, times, DT) end
end

local same = measure.same

local function check_rows(what, world, field, ids)
  for i, id in ipairs(ids) do
    local _, _, y = floor.row(field, i)
    same(what, i, y, world:get(id, "Value.y"))
  end
end

local function system(world, query, each)
  world:system("loop", { query = query, each = each, compile = true })
end

-- ---- tables ----------------------------------------------------------------------------

local function grid_read(rows, elements)
  local field = floor.field(rows, elements)
  local world, ids = new_world(field, rows)
  local grid = new_grid(world, field, elements)
  system(world, "Place:in, Value", function(p, v, dt) v.y = v.y + (grid[p.at] or 0) * dt end)
  local ours, theirs = compare(world, rows, 10, loop(field, READ))
  check_rows("grid", world, field, ids)
  world:close()
  return ours, theirs
end

local function list_read(rows, elements)
  local field = floor.field(rows, elements)
  local world, ids = new_world(field, rows)
  local list = {}
  for i = 1, elements do list[i] = floor.element(field, i) end
  system(world, "Place:in, Value", function(p, v, dt) v.y = v.y + (list[p.at] or 0) * dt end)
  local ours, theirs = compare(world, rows, 10, function(times)
    return floor.read_list(field, list, times, DT)
  end)
  check_rows("list", world, field, ids)
  world:close()
  return ours, theirs
end

-- ---- steps -----------------------------------------------------------------------------

local function add_to_grid(rows, elements)
  local field = floor.field(rows, elements)
  local world = new_world(field, rows)
  local grid = new_grid(world, field, elements)
  system(world, "Place:in, Value:in", function(p, v, dt)
    grid[p.at] = grid[p.at] + v.x * dt
  end)
  local ours, theirs = compare(world, rows, 10, loop(field, ADD_GRID))
  for i = 1, elements do same("sums of a grid", i, floor.element(field, i), grid[i]) end
  world:close()
  return ours, theirs
end

local function add_to_others(rows, elements)
  local field = floor.field(rows, elements)
  local world, _, others = new_world(field, rows, elements)
  system(world, "Place:in, Value:in, Place.who->Health", function(_, v, health, dt)
    health.hp = health.hp + v.x * dt
  end)
  local ours, theirs = compare(world, rows, 10, loop(field, ADD_OTHERS))
  for i, id in ipairs(others) do
    same("sums of others", i, floor.element(field, i), world:get(id, "Health.hp"))
  end
  world:close()
  return ours, theirs
end

local function add_to_one(rows)
  local field = floor.field(rows, 1)
  local world = new_world(field, rows)
  world:resource("Score", { "n: f64" })
  local score = world:res("Score")
  system(world, "Value:in", function(v, dt) score.n = score.n + v.x * dt end)
  local ours, theirs = compare(world, rows, 10, loop(field, ADD_ONE))
  same("a sum", 1, floor.total(field), score.n)
  world:close()
  return ours, theirs
end

-- ---- spawning and events ------------------------------------------------------------------

-- Of each entity that one in a hundred rows spawns, three at a time, with five values.
local function spawning(rows)
  local world = ecs.world({ tag = 1 })
  world:component("Gun", { "n: i32" })
  world:component("Bullet", { "a: f64", "b: f64", "c: f64", "d: f64", "e: f64" })
  for i = 1, rows do world:spawn({ Gun = { i } }) end
  system(world, "Gun:in", function(gun)
    if gun.n % 100 == 0 then
      world:spawn({ Bullet = { gun.n, 2, 3, 4, 5 } })
      world:spawn({ Bullet = { gun.n, 2, 3, 4, 5 } })
      world:spawn({ Bullet = { gun.n, 2, 3, 4, 5 } })
    end
  end)
  local spawned, bullets = rows // 100 * 3, world:query("Bullet")
  local ours, theirs = math.huge, math.huge
  for _ = 1, 41 do
    theirs = math.min(theirs, floor.spawn(spawned))
    local start = measure.now()
    world:update(DT)
    ours = math.min(ours, measure.now() - start)
    assert(bullets:count() == spawned)
    bullets:despawn()
  end
  world:close()
  return ours * 1e9 / spawned, theirs * 1e9 / spawned
end

-- Of each event that one in ten rows emits and a second system sees.
local function events(rows, elements)
  local field = floor.field(rows, elements)
  local world, ids, others = new_world(field, rows, elements)
  world:event("Hit", { "who: entity", "amount: f64" })
  for i, id in ipairs(ids) do world:set(id, "Number", (i - 1) % 10) end
  system(world, "Place:in, Value:in, Number:in", function(p, v, number, dt)
    if number.n == 0 then world:emit("Hit", p.who, v.x * dt) end
  end)
  world:system("hurt", { query = "Hit, Hit.who->Health", compile = true,
    each = function(hit, health) health.hp = health.hp + hit.amount end })
  local ours, theirs = compare(world, rows // 10, 10, loop(field, EMIT))
  for i, id in ipairs(others) do
    same("events", i, floor.element(field, i), world:get(id, "Health.hp"))
  end
  world:close()
  return ours, theirs
end

-- ---- loops of the row -------------------------------------------------------------------

local function shrink(v)
  local x, rounds = v.x, 0.0
  while x > 1 do
    x = x * 0.8
    rounds = rounds + 1
  end
  v.y = rounds
end

local function collatz(v, number)
  local n, steps = number.n, 0
  while n ~= 1 do
    if n % 2 == 0 then n = n // 2 else n = 3 * n + 1 end
    steps = steps + 1
  end
  v.y = steps
end

local function rounds(rows, query, each, which)
  local field = floor.field(rows, 1)
  local world, ids = new_world(field, rows)
  system(world, query, each)
  local ours, theirs = compare(world, rows, 3, loop(field, which))
  check_rows("rounds", world, field, ids)
  world:close()
  return ours, theirs
end

return function(add)
  local n = 100000
  local function kernel(name, target, ns, by_hand)
    add({ workload = name, n = n, ns = ns, floor = by_hand, target = target, kind = "ratio" })
  end
  kernel("grid[cell], a grid of 4,096", 2, grid_read(n, 4096))
  kernel("grid[cell], a grid of 1,000,000", 2, grid_read(n, 1000000))
  kernel("list[n], a plain table of 4,096", 1.5, list_read(n, 4096))
  kernel("add into a grid of 4,096", 2, add_to_grid(n, 4096))
  kernel("add into 1,000 other entities, by a path", 2, add_to_others(n, 1000))
  kernel("add into a resource", 2, add_to_one(n))
  kernel("spawn with 5 values, by 1 % of the rows", 1.5, spawning(n))
  kernel("emit by 10 % of the rows, and add by a path", 3, events(n, 1000))
  kernel("while of 1 to 100 rounds, floats", 2, rounds(n, "Value", shrink, SHRINK))
  kernel("while of 0 to 20 rounds, Collatz in i64", 4,
    rounds(n, "Value, Number:in", collatz, COLLATZ))
end
