--- What a build of the module makes of kernels, to compare builds with: the bits, and the speed.
---   lua5.4 spec/support/kernel_bits.lua hash FIRST COUNT ROWS [alone]   a hash of all results
---   lua5.4 spec/support/kernel_bits.lua time                            ns a row of three systems
local ecs = require "ecs"
local random = require "spec.support.rng"
local runs = require "spec.support.kernel_twins"

local sqrt, sin, cos, exp, log = math.sqrt, math.sin, math.cos, math.exp, math.log

local function new_world()
  local world = ecs.world { tag = 1, seed = 1 }
  world:component("P", { "x: f32", "y: f32" })
  world:component("V", { "x: f32", "y: f32" })
  world:component("D", { "v: f64", "w: f64" })
  return world
end

-- Functions of math, and steps that a compiler may want to contract.
local function tangle(p, v, d)
  p.x = sin(v.x) * cos(v.y) + exp(v.x / 64) * v.y
  p.y = log(v.x * v.x + 1) - sqrt(v.y * v.y + v.x) * 0.1
  d.v = d.v * d.w + v.x * v.y - d.w * 3
  d.w = d.v * d.v + d.w * d.w
  v.x = v.x * p.y - v.y * p.x + p.x % 3 - v.y // 0.7
end

local function hash_of_math(rows)
  local world, numbers = new_world(), random.new(5)
  local function number() return numbers:range(-100000, 100000) / 1024 end
  for _ = 1, rows do
    world:spawn { P = {}, V = { x = number(), y = number() }, D = { v = number(), w = number() } }
  end
  local query, hash = world:query "P, V, D", 0
  for _ = 1, 3 do query:run(tangle, 0.25) end
  local total = world:query("V"):sum(function(v) return v.x * 0.5 end)
  hash = hash ~ string.unpack("<i8", string.pack("<d", total))
  for p, v, d in query:each() do
    for _, x in ipairs { p.x, p.y, v.x, d.v, d.w } do
      local bits = x == x and string.unpack("<i8", string.pack("<d", x)) or -1
      hash = (hash ~ bits) * 0x100000001b3
    end
  end
  world:close()
  return hash
end

local function move(p, v, dt)
  p.x = p.x + v.x * dt
  p.y = p.y + v.y * dt
end

local function seek(p, v, dt)
  local dx, dy = 500 - p.x, 400 - p.y
  local s = 30 / sqrt(dx * dx + dy * dy + 0.001)
  v.x = v.x + dx * s * dt
  v.y = v.y + dy * s * dt
  if v.x > 5 then v.x = 5 end
  p.x = p.x + v.x * dt
  p.y = p.y + v.y * dt
  if p.x > 1000 then v.x = -v.x p.x = 1000 end
end

local function wave(p, v)
  p.x = sin(v.x) + cos(v.y)
  p.y = exp(-v.x * v.x)
end

-- Median ns a row of a few samples, each of some milliseconds: the clock of a process counts in
-- steps, and not all of them are alike.
local function time_of(fn)
  local world, n, runs_each, samples = new_world(), 8192, 1, {}
  world:spawn_many(n, { P = { x = 3, y = 4 }, V = { x = 1, y = 2 } })
  local query = world:query "P, V"
  local function sample()
    local start = os.clock()
    for _ = 1, runs_each do query:run(fn, 1 / 64) end
    return os.clock() - start
  end
  while sample() < 0.004 do runs_each = runs_each * 2 end
  for i = 1, 15 do samples[i] = sample() end
  table.sort(samples)
  world:close()
  return ("%.4f"):format(samples[8] / runs_each / n * 1e9)
end

if arg[1] == "hash" then
  local first, count, rows = tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4])
  local hash = runs.hash(first, count, rows, arg[5] == "alone")
  print(("%s-%016x"):format(hash, hash_of_math(10 * rows)))
else
  print(time_of(move), time_of(seek), time_of(wave))
end
