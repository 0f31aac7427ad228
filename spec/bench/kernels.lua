-- Kernels: against fused loops in C, beside the other forms of the same systems, over many
-- small tables, and what one costs before its first row.

local ecs = require("ecs")
local floor = require("mod_kernel")
local measure = require("measure")
local systems = require("kernel_systems")

local DT = systems.DT
local COLUMNS = { "Position.x", "Position.y", "Velocity.x", "Velocity.y", "Life.left" }

local M = {}

local function new_world(options)
  local world = ecs.world(options)
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Velocity", { "x: f32", "y: f32" })
  world:component("Life", { "left: f32" })
  return world
end

local function each_column(world, columns, f)
  for chunk in world:query("Position, Velocity, Life"):chunks() do
    for c = 1, columns do
      f(chunk:column(COLUMNS[c]), c - 1, chunk.n)
    end
  end
end

-- A world of n rows that start as the floor's do, and the system in one of its forms.
local function world_of(system, n, form)
  local world = new_world({ tag = 1, kernels = form == "kernel" })
  world:spawn_many(n, { Position = {}, Velocity = {}, Life = {} })
  each_column(world, system.columns, function(column, c, rows)
    for i = 1, rows do column[i] = floor.start(c, i) end
  end)
  local is_map = form == "map"
  local query = is_map and table.concat(COLUMNS, ", ", 1, system.columns) or system.query
  world:system("loop", {
    query = query,
    [is_map and "map" or "each"] = is_map and system.map or system.each,
    compile = form == "kernel" or nil,
  })
  return world
end

local function sum_of(values, n)
  local total = 0
  for i = 1, n do
    total = total + values[i] * ((i - 1) % 7 + 1)
  end
  return total
end

local function world_sums(world, columns)
  local sums = {}
  each_column(world, columns, function(column, c, n) sums[c + 1] = sum_of(column, n) end)
  return sums
end

-- Equal, or for forms that round only what they store: nearly.
local function check_sums(what, ours, theirs, tolerance)
  for c = 1, #ours do
    local x, y = ours[c], theirs[c]
    if x ~= x or math.abs(x - y) > tolerance * math.max(math.abs(x), math.abs(y)) then
      error(("%s: checksums of column %d differ: %.17g, %.17g"):format(what, c, x, y))
    end
  end
end

local function run_times(world, times)
  local start = measure.now()
  for _ = 1, times do
    world:update(DT)
  end
  return measure.now() - start
end

-- ns a row of the round whose ratio is the median.
local function median(rounds, n, times)
  table.sort(rounds, function(x, y) return x[2] / x[1] < y[2] / y[1] end)
  local middle = rounds[(#rounds + 1) // 2]
  local scale = 1e9 / n / times
  return middle[1] * scale, middle[2] * scale
end

-- ns a row of the kernel and of the fused loop.
function M.against_floor(system, n)
  local world, rows = world_of(system, n, "kernel"), floor.rows(n, system.columns)
  local times = math.max(1, math.min(50, 500000 // n))
  local rounds = {}
  collectgarbage()
  for round = -1, n > 1000000 and 9 or 21 do
    local theirs = floor.run(rows, system.floor, times, table.unpack(system.uniforms))
    local ours = run_times(world, times)
    if round > 0 then rounds[round] = { ours, theirs } end
  end
  local sums = {}
  for c = 1, system.columns do sums[c] = floor.sum(rows, c - 1) end
  check_sums(system.name, world_sums(world, system.columns), sums, 0)
  world:close()
  return median(rounds, n, times)
end

-- ---- many tables ------------------------------------------------------------------------

local function fragmented_world(tables, rows, form, each)
  local world = new_world()
  for i = 1, tables do
    world:tag("T" .. i)
  end
  for i = 1, tables do
    world:spawn_many(rows, { Position = { x = 2.0 ^ -100 }, Velocity = {}, ["T" .. i] = true })
  end
  world:system("loop", { query = form, each = each, compile = true })
  return world
end

-- One field doubled in 26 tables, and in one of as many rows by the fused loop.
function M.fragmented(n)
  local rows = n // 26
  local rounds, times = {}, 200
  for round = -1, 21 do
    local plain = floor.rows(rows * 26, 1)
    local world = fragmented_world(26, rows, "Position", function(p) p.x = p.x * 2 end)
    local theirs = floor.run(plain, 3, times)
    local ours = run_times(world, times)
    if round > 0 then rounds[round] = { ours, theirs } end
    for chunk in world:query("Position"):chunks() do
      local x = chunk:column("Position.x")
      for i = 1, chunk.n do assert(x[i] == 2 ^ (times - 100)) end
    end
    world:close()
  end
  return median(rounds, n, times)
end

-- Least ns of an update of each of two worlds, in turns.
local function least_updates(first, second)
  local least = { math.huge, math.huge }
  for _ = 1, 200 do
    least[1] = math.min(least[1], run_times(first, 1) * 1e9)
    least[2] = math.min(least[2], run_times(second, 1) * 1e9)
  end
  first:close()
  second:close()
  return least[1], least[2]
end

-- ns that a table of 4 rows costs beyond them.
local function table_cost()
  local tables, each = 1024, systems.move.each
  local many, one = least_updates(fragmented_world(tables, 4, "Position, Velocity", each),
    fragmented_world(1, 4 * tables, "Position, Velocity", each))
  return (many - one) / tables
end

-- ns that one more system over a table of 4 rows costs.
local function system_cost()
  local function world_with(count)
    local world = fragmented_world(1, 4, "Position, Velocity", systems.move.each)
    for i = 2, count do
      world:system("s" .. i,
        { query = "Position, Velocity", each = systems.move.each, compile = true })
    end
    return world
  end
  local many, one = least_updates(world_with(501), world_with(1))
  return (many - one) / 500
end

-- ns to compile SEEK, which has 44 operations or so.
local function compile_cost()
  local world = new_world()
  world:spawn({ Position = {}, Velocity = {} })
  local query, least = world:query("Position, Velocity"), math.huge
  local dump = string.dump(systems.seek.each)
  for _ = 1, 100 do
    local fresh = load(dump, "seek", "b")
    for i = 1, 20 do
      local name, value = debug.getupvalue(systems.seek.each, i)
      if not name then break end
      debug.setupvalue(fresh, i, value)
    end
    local start = measure.now()
    query:run(fresh, DT)
    least = math.min(least, measure.now() - start)
  end
  world:close()
  return least * 1e9
end

-- ---- beside the other forms ---------------------------------------------------------------

local function entity_tables(n)
  local list, start = {}, floor.start
  for i = 1, n do
    list[i] = { p = { x = start(0, i), y = start(1, i) }, v = { x = start(2, i), y = start(3, i) },
      l = { left = start(4, i) } }
  end
  return list
end

local function table_sums(list, columns)
  local path = { { "p", "x" }, { "p", "y" }, { "v", "x" }, { "v", "y" }, { "l", "left" } }
  local sums = {}
  for c = 1, columns do
    local values = {}
    for i = 1, #list do values[i] = list[i][path[c][1]][path[c][2]] end
    sums[c] = sum_of(values, #list)
  end
  return sums
end

local function arrays_of(n)
  local arrays = {}
  for c = 1, 5 do
    local values = {}
    for i = 1, n do values[i] = floor.start(c - 1, i) end
    arrays[c] = values
  end
  return arrays
end

-- A form as a function that runs it some times and returns the seconds, and its checksums.
local function form_of(system, n, form)
  if form == "tables" then
    local list = entity_tables(n)
    return function(times)
      return measure.time(function() for _ = 1, times do system.tables(list, DT) end end)
    end, function() return table_sums(list, system.columns) end
  elseif form == "arrays" then
    local a = arrays_of(n)
    return function(times)
      return measure.time(function()
        for _ = 1, times do system.arrays(a[1], a[2], a[3], a[4], a[5], DT) end
      end)
    end, function()
      local sums = {}
      for c = 1, system.columns do sums[c] = sum_of(a[c], n) end
      return sums
    end
  end
  local world = world_of(system, n, form)
  return function(times) return run_times(world, times) end,
    function() return world_sums(world, system.columns) end
end

-- ns a row of the kernel and of another form. Both do the same number of steps.
local function beside(system, n, form)
  local kernel, kernel_sums = form_of(system, n, "kernel")
  local other, other_sums = form_of(system, n, form)
  local rounds, times = {}, 20
  kernel(times)
  other(times)
  for round = 1, 7 do rounds[round] = { kernel(times), other(times) } end
  check_sums(system.name .. " as " .. form, kernel_sums(), other_sums(),
    system.name == "MOVE" and 0 or 1e-4)
  return median(rounds, n, times)
end

local FORMS = { "map", "views", "tables", "arrays" }
local NAMES = { map = "beside map", views = "beside views", tables = "beside Lua tables",
  arrays = "beside Lua arrays in locals" }

function M.add_forms(add)
  for _, system in ipairs(systems.loops) do
    for _, form in ipairs(FORMS) do
      local n = form == "arrays" and 100000 or 10000
      local ns, other = beside(system, n, form)
      add({ workload = ("%s, kernel %s"):format(system.name, NAMES[form]), n = n, ns = ns,
            floor = other, kind = "times",
            target = system.name == "MOVE" and form == "arrays" and 80 or nil })
    end
  end
end

function M.add_costs(add)
  add({ workload = "kernel: one more table, beyond its 4 rows", n = 1024, ns = table_cost(),
        target = 15, kind = "ns" })
  add({ workload = "kernel: one more system on one table of 4 rows", n = 500,
        ns = system_cost(), target = 60, kind = "ns" })
  add({ workload = "compiling SEEK", n = 1, ns = compile_cost(), target = 100000,
        kind = "ns" })
end

-- ---- ecs.math beside the C library ---------------------------------------------------------

-- What they do, what the C library's does, and between which numbers.
local FUNCTIONS = {
  { "acos(v.x)", "math.acos(v.x)", -1, 1 }, { "asin(v.x)", "math.asin(v.x)", -1, 1 },
  { "atan(v.x, v.y)", "math.atan(v.x, v.y)", -9, 9 }, { "cos(v.x)", "math.cos(v.x)", -9, 9 },
  { "exp(v.x)", "math.exp(v.x)", -20, 20 }, { "log(v.x)", "math.log(v.x)", 0, 100 },
  { "log10(v.x)", "math.log(v.x, 10)", 0, 100 }, { "log2(v.x)", "math.log(v.x, 2)", 0, 100 },
  { "mod(v.x, v.y)", "math.fmod(v.x, v.y)", 0, 100 }, { "pow(v.x, v.y)", "v.x ^ v.y", 0, 9 },
  { "sin(v.x)", "math.sin(v.x)", -9, 9 }, { "tan(v.x)", "math.tan(v.x)", -9, 9 },
}

local function function_world(source, n, low, high)
  local world = ecs.world({ tag = 1, threads = 1 })
  world:component("V", { "x: f64", "y: f64", "z: f64" })
  for i = 1, n do
    world:spawn({ V = { x = low + (high - low) * (i * 0.618 % 1),
      y = low + (high - low) * (i * 0.414 % 1) } })
  end
  local each = load(("local ecs = ... return function(v) v.z = %s end"):format(source))(ecs)
  world:system("f", { query = "V", each = each, compile = true })
  return world
end

function M.add_functions(add)
  local n = 100000
  for _, row in ipairs(FUNCTIONS) do
    local ours, theirs = least_updates(function_world("ecs.math." .. row[1], n, row[3], row[4]),
      function_world(row[2], n, row[3], row[4]))
    add({ workload = ("ecs.math.%s beside %s"):format(row[1], row[2]), n = n, ns = ours / n,
          floor = theirs / n, kind = "times", target = 1 })
  end
end

M.isas = floor.isas

return M
