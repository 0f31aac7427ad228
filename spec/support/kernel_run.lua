--- Runs random kernels and their twins: lua5.4 spec/support/kernel_run.lua FIRST COUNT ROWS
--- prints a hash of all results, equal on every instruction set, or the first difference.
local ecs = require "ecs"
local generator = require "spec.support.kernel_gen"
local random = require "spec.support.random"

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
  return assert(load(text, "=kernel"))(generator.round, integer, float)
end

--- Compares one kernel with its twin; returns the bytes of the result, or nil and why not.
function M.compare(seed, rows)
  local text, twin = generator.generate(seed)
  local one, other = make_world(true, seed, rows), make_world(false, seed, rows)
  local query, plain = one:query(generator.query), other:query(generator.query)
  local ok, why = pcall(query.run, query, load_function(text, seed), 0.25)
  if not ok then return nil, ("seed %d: %s\n%s"):format(seed, why, text) end
  plain:each(load_function(twin, seed), 0.25)
  local bytes, expected = generator.bytes(query), generator.bytes(plain)
  one:close()
  other:close()
  if bytes == expected then return bytes end
  local at = 1
  while bytes:byte(at) == expected:byte(at) do at = at + 1 end
  return nil, ("seed %d: byte %d of row data differs\n%s\n%s"):format(seed, at, text, twin)
end

--- A hash (FNV-1a) over the results of many kernels; raises at the first difference.
function M.hash(first, count, rows)
  local hash = 0xcbf29ce484222325
  for seed = first, first + count - 1 do
    local bytes, why = M.compare(seed, rows)
    if not bytes then error(why, 0) end
    for i = 1, #bytes - 7, 8 do
      hash = (hash ~ string.unpack("<i8", bytes, i)) * 0x100000001b3
    end
  end
  return ("%016x"):format(hash)
end

if arg and arg[0] and arg[0]:find("kernel_run%.lua$") then
  print(M.hash(tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3])))
end

return M
