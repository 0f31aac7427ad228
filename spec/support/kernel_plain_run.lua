--- Runs the functions of kernel_plain in a world with kernels and in one without, several times,
--- with changes to the outside values between the runs:
---   lua5.4 spec/support/kernel_plain_run.lua FIRST COUNT ROWS
--- prints a hash of all results and how many runs were compiled, or the first difference.
local ecs = require "ecs"
local generator = require "spec.support.kernel_plain"
local random = require "spec.support.rng"

local M = {}

local RUNS = 4

local function new_world(kernels, seed, threads)
  local world = ecs.world { kernels = kernels, seed = seed, tag = 1, threads = threads }
  world:component("Point", { "v: f64" })
  world:component("A", { "z: f64", "w: f64", "at: Point", "m: f64[2]" })
  world:component("B", { "n: i32", "m: u8", "k: i64", "u: u64", "on: bool", "target: entity",
    "kind: enum(red, green, blue)" })
  world:component("C", { "v: f64 = 1.5" })
  world:tag "M"
  world:resource("Wind", { "f: f64 = 0.5", "n: i32 = 3", "u: u64 = -256", "on: bool" })
  return world
end

local floats = { 0.0, -0.0, 1.0, -1.5, 1e300, 5e-324, 1 / 0, -1 / 0, 0 / 0, 3.5, 2.0 ^ 53,
  -2.0 ^ 63, 2.0, 10.0, 0.1 }
local integers = { 0, 1, -1, 7, -13, 2147483647, -2147483648 }

-- A sum that NaN or an infinity is in tells nothing of what else is: most have none.
local function spawn(world, numbers, rows, tame)
  local function float()
    if not tame and numbers:range(1, 2) == 1 then return floats[numbers:range(1, #floats)] end
    return numbers:range(-10000, 10000) / 64
  end
  for _ = 1, rows do
    local parts = {
      A = { z = float(), w = float(), at = { v = float() },
        m = { float(), float() } },
      B = { n = integers[numbers:range(1, #integers)], m = numbers:range(0, 255),
        k = numbers:range(1, tame and 40 or 4) == 1 and math.mininteger
          or numbers:range(-1000, 1000),
        u = numbers:range(-1000, 1000), on = numbers:range(0, 1) == 1,
        kind = numbers:range(0, 1) == 1 and "green" or nil },
      C = numbers:range(1, 3) == 1 and {} or nil, M = numbers:range(1, 3) == 1 or nil,
    }
    local e = world:spawn(parts)
    if numbers:range(1, 2) == 1 then world:set(e, "B", { target = e }) end
  end
end

local equal_to_all = { __eq = function() return true end }

-- Everything outside of the function: the same in both worlds.
local function new_outside(world, numbers)
  local one, other = {}, {}
  local outside = { gust = world:res "Wind", breeze = world:res "Wind", one = one, other = other,
    tag = world:tag "M", integer = numbers:range(-50, 50), float = numbers:range(-500, 500) / 8 }
  outside.config = { list = { 3, 1.5, 5 },
    f = numbers:range(-500, 500) / 16, n = numbers:range(-5, 5), small = 2,
    flag = true, t = one, u = other, deep = { f = 2.5, n = 4, t = one }, gust = outside.gust,
    id = outside.tag, what = "C", eq = setmetatable({}, equal_to_all),
    eq2 = setmetatable({}, equal_to_all) }
  return outside
end

local changes = {
  function(o, n) o.config.t = ({ o.one, o.other, false, 7, {} })[n:range(1, 6)] end,
  function(o) o.config.u = o.config.t end,
  function(o) o.config.flag = not o.config.flag end,
  function(o, n) o.config.fn = ({ o.config.fn2, math.floor, o.config.fn })[n:range(1, 3)] end,
  function(o, n)
    local late = ({ 5, true, o.one })[n:range(1, 3)]
    setmetatable(o.config, { __index = { late = late, t = o.one, u = o.one } })
  end,
  function(o) setmetatable(o.config, nil) end,
  function(o) o.config.late = o.one end,
  function(o) setmetatable(o.one, equal_to_all) end,
  function(o, n) o.integer = ({ 3, -2, 2.0, math.maxinteger })[n:range(1, 4)] end,
  function(o, n) o.float = ({ 0.5, 3, -0.0, 1 / 0, 10 })[n:range(1, 5)] end,
  function(o, n) o.config.n = ({ 2, -1, 1.5 })[n:range(1, 3)] end,
  function(o) o.config.f = 4 end,
  function(o, n)   -- no holes: which border # gives then depends on what has been asked before
    local list, at, value = o.config.list, n:range(1, 4), ({ 7, 0.5, false })[n:range(1, 4)]
    local last = rawlen(list)
    list[value == nil and last or math.min(at, last + 1)] = value
  end,
  function(o) o.config.list = { 1, 2.5, 3, 4 } end,
  function(o) setmetatable(o.config.list, { __len = function() return 9 end }) end,
  function(o) setmetatable(o.config.list, { __index = function() return 8 end }) end,
  function(o) setmetatable(o.config.list, nil) end,
  function(o, n) o.config.small = n:range(0, 4) end,
  function(o, n) o.config.id = ({ o.tag, o.tag + 0.0, "C" })[n:range(1, 3)] end,
  function(o, n) o.config.what = ({ o.tag, "M", "C" })[n:range(1, 3)] end,
  function(o) o.config.gust = o.breeze end,
  function(o, n) o.gust.f, o.gust.on, o.gust.n = n:range(-9, 9) / 4, n:range(0, 1) == 1, 5 end,
  function(o) o.config.deep = { f = 1, n = 2, t = o.other } end,
}

-- ---- the forms ----

local runs = {}

function runs.system(world, fn)
  world:system("s", { query = generator.query, each = fn })
  return function()
    world:update(0.25)
    return world:explain("s").tier == "vector"
  end
end

function runs.run(world, fn, kernels)
  local query = world:query(generator.query)
  return function()
    local ok, why = pcall(query.run, query, fn, 0.25)
    if ok then return kernels end
    if not why:find "cannot be compiled" then error(why, 0) end
    query:each(fn, 0.25)
  end
end

local function explained(world, fn)
  return world:explain(fn).tier == "vector"
end

function runs.where(world, fn)
  local where = world:query(generator.query):where(fn)
  return function(out)
    for _, _, _, e in where:each() do out[#out + 1] = e end
    return explained(world, fn)
  end
end

for _, form in ipairs { "sum", "min", "max" } do
  runs[form] = function(world, fn)
    local query = world:query(generator.query)
    return function(out)
      local value, entity = query[form](query, fn)
      out[#out + 1] = math.type(value) or "none"
      out[#out + 1] = value
      out[#out + 1] = entity
      return explained(world, fn)
    end
  end
end

-- What map gives equals its function called by hand.
function runs.map(world, fn, kernels)
  local query = world:query "A.z, A.w, B.n, M?"
  return function()
    if kernels then
      query:map(fn, 0.25)
      return explained(world, fn)
    end
    for a, b, m, e in world:query(generator.query):each() do
      local z, w, n = fn(a.z, a.w, b.n, m or nil, 0.25, e)
      if z then a.z = z end
      if w then a.w = w end
      if n then b.n = n end
    end
  end
end

-- ---- comparing ----

local function pack(x)
  if x ~= x then return "nan" end
  return math.type(x) == "integer" and string.pack("<i8", x) or string.pack("<d", x)
end

local function bytes(world, out)
  for i, x in ipairs(out) do out[i] = type(x) == "number" and pack(x) or tostring(x) end
  world:query "A, B, C?":each(function(a, b, c, _, e)
    for _, x in ipairs { a.z, a.w, a.at.v, a.m[1], a.m[2] } do out[#out + 1] = pack(x) end
    out[#out + 1] = string.pack("<i8i8i8i8Bi8i8z", b.n, b.m, b.k, b.u, b.on and 1 or 0, b.target,
      e, b.kind)
    out[#out + 1] = c and "C" or world:has(e, "M") and "M" or "-"
  end)
  return table.concat(out)
end

-- One world's results, run by run: { bytes or an error, whether it was compiled }.
function M.play(kernels, seed, rows, text, form, threads)
  local world, numbers = new_world(kernels, seed, threads), random.new(seed + 13)
  spawn(world, numbers, rows, form == "sum" and seed % 4 > 0)
  local o, results = new_outside(world, numbers), {}
  local fn, set = assert(load(text, "=kernel"))(world, o.config, o.gust, o.breeze, o.tag, "name",
    o.integer, o.float)
  local run = runs[form](world, fn, kernels)
  for i = 1, RUNS do
    local out = {}
    local ok, compiled = pcall(run, out)
    results[i] = { ok and bytes(world, out) or "error", ok and compiled, not ok and compiled }
    if not ok then break end
    for _ = 1, numbers:range(1, 3) do changes[numbers:range(1, #changes)](o, numbers) end
    set(o.integer, o.float)
  end
  world:close()
  return results
end

--- The results with kernels, on so many threads, if they are those without, and how many runs were
--- compiled; else nil and what differs.
function M.compare(seed, rows, threads)
  local text, form = generator.generate(seed)
  local kernels = M.play(true, seed, rows, text, form, threads)
  local plain = M.play(false, seed, rows, text, form)
  local compiled, all = 0, {}
  for i = 1, #plain do
    local got, wanted = kernels[i], plain[i]
    if not got or got[1] ~= wanted[1] then
      return nil, ("seed %d: run %d of %s differs%s\n%s"):format(seed, i, form,
        got and (got[2] and " (compiled)" or ": " .. tostring(got[3] or wanted[3])) or "", text)
    end
    if got[2] then compiled = compiled + 1 end
    all[i] = got[1]
  end
  return table.concat(all), compiled, #plain, form
end

--- A hash over many functions and a table of what they came to: runs, how many of them were
--- compiled, functions that raised, functions by form. Raises at the first difference.
function M.hash(first, count, rows, threads)
  local hash, told = 0xcbf29ce484222325, { runs = 0, compiled = 0, errors = 0 }
  for seed = first, first + count - 1 do
    local all, compiled, of, form = M.compare(seed, rows, threads)
    if not all then error(compiled, 0) end
    if form ~= "map" then
      told.runs, told.compiled = told.runs + of, told.compiled + compiled
    end
    told[form] = (told[form] or 0) + 1
    if all:find "error$" then told.errors = told.errors + 1 end
    for i = 1, #all - 7, 8 do
      hash = (hash ~ string.unpack("<i8", all, i)) * 0x100000001b3
    end
  end
  return ("%016x"):format(hash), told
end

--- What this file prints in a process of its own, on an instruction set.
function M.hash_on(isa, first, count, rows)
  local command = "ECS_ISA=%s ${LUA:-lua5.4} spec/support/kernel_plain_run.lua %d %d %d 2>&1"
  local pipe = assert(io.popen(command:format(isa, first, count, rows)))
  local text = pipe:read "a"
  pipe:close()
  return text
end

if arg and arg[0] and arg[0]:find("kernel_plain_run%.lua$") then
  local hash, told = M.hash(tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3]))
  print(hash, ("%d of %d runs compiled"):format(told.compiled, told.runs))
end

return M
