-- Systems as kernels against fused loops in C for one instruction set (that of ECS_ISA), both
-- in this process and in turns, columns compared at the end. A program of run.lua: prints its
-- rows as the programs in C do.

local kernels = require("kernels")
local systems = require("kernel_systems")

local isa = assert(os.getenv("ECS_ISA"), "ECS_ISA names the instruction set")
local TARGETS = {
  MOVE = { sse2 = 0.8, avx2 = 0.8, avx512 = 0.8, [1000000] = 0.9, [10000000] = 0.95 },
  PART = { avx2 = 0.5, avx512 = 0.42 },
  SEEK = { avx2 = 0.6 },
}
local SIZES = { MOVE = { 10000, 1000000, 10000000 }, PART = { 10000, 1000000 },
  SEEK = { 10000, 1000000 } }

local function print_row(name, n, ns, floor, target)
  print(("%s\t%d\t%.17g\t%.17g\t%s\ttimes"):format(name, n, ns, floor, target or "-"))
end

for _, system in ipairs(systems.loops) do
  for _, n in ipairs(SIZES[system.name]) do
    local ns, floor = kernels.against_floor(system, n)
    local targets = TARGETS[system.name]
    print_row(("%s, kernel, %s"):format(system.name, isa), n, ns, floor,
      targets[n] or targets[isa])
  end
end
local ns, floor = kernels.fragmented(100000)
print_row(("26 tables, one field doubled, %s"):format(isa), 100000, ns, floor, 0.6)
