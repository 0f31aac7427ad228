--- Runs random kernels and their twins:
---   lua5.4 spec/support/kernel_twins.lua FIRST COUNT ROWS [alone]
--- prints a hash of all results, equal on every instruction set, or the first difference. `alone`:
--- without the twins, to be compared with a hash that was found beside them.
local ecs = require "ecs"
local generator = require "spec.support.kernel_gen"
local random = require "spec.support.rng"

local M = {}

local function make_world(kernels, seed, rows)
  local world = ecs.world { kernels = kernels, seed = seed, tag = 1 }
  for name, fields in pairs(generator.schema) do world:component(name, fields) end
  local numbers = random.new(seed)
  for _ = 1, rows do world:spawn(generator.row(numbers)) end
  return world
end

local function load_function(text, seed)
  local numbers = random.new(seed + 7)
  local integer, float = numbers:range(-50, 50), numbers:range(-500, 500) / 8
  if seed % 3 == 0 then integer = (1 << 24) + numbers:range(0, 5) end
  if seed % 5 == 0 then float = numbers:range(-500, 500) / 10 end
  return assert(load(text, "=kernel"))(generator.round, integer, float,
    generator.integer)
end

--- Runs one kernel; returns the bytes of the result, or nil and why not.
function M.run(seed, rows)
  local text = generator.generate(seed)
  local world = make_world(true, seed, rows)
  local query = world:query(generator.query)
  local ok, why = pcall(query.run, query, load_function(text, seed), 0.25)
  local bytes = ok and generator.bytes(query)
  world:close()
  if not ok then return nil, ("seed %d: %s\n%s"):format(seed, why, text) end
  return bytes
end

--- The same, if that is also the result of its twin.
function M.compare(seed, rows)
  local bytes, why = M.run(seed, rows)
  if not bytes then return nil, why end
  local text, twin = generator.generate(seed)
  local world = make_world(false, seed, rows)
  local plain = world:query(generator.query)
  plain:each(load_function(twin, seed), 0.25)
  local expected = generator.bytes(plain)
  world:close()
  if bytes == expected then return bytes end
  local at = 1
  while bytes:byte(at) == expected:byte(at) do at = at + 1 end
  return nil, ("seed %d: byte %d of row data differs\n%s\n%s"):format(seed, at, text, twin)
end

--- A hash (FNV-1a) over the results of many kernels; raises at the first difference.
function M.hash(first, count, rows, alone)
  local hash, run = 0xcbf29ce484222325, alone and M.run or M.compare
  for seed = first, first + count - 1 do
    local bytes, why = run(seed, rows)
    if not bytes then error(why, 0) end
    for i = 1, #bytes - 7, 8 do
      hash = (hash ~ string.unpack("<i8", bytes, i)) * 0x100000001b3
    end
  end
  return ("%016x"):format(hash)
end

--- What this file prints in a process of its own, on an instruction set; `how` is "beside" the
--- twins or "alone".
function M.hash_on(isa, first, count, rows, how)
  local command = "ECS_ISA=%s ${LUA:-lua5.4} spec/support/kernel_twins.lua %d %d %d %s 2>&1"
  local pipe = assert(io.popen(command:format(isa, first, count, rows, how)))
  local text = pipe:read "a"
  pipe:close()
  return text
end

if arg and arg[0] and arg[0]:find("kernel_twins%.lua$") then
  print(M.hash(tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3]), arg[4] == "alone"))
end

return M
