--- What a build of the module makes of whole programs, to compare builds with:
---   lua5.4 spec/support/build_digests.lua SEEDS STEPS
--- prints a line for each: of the digests on its way, and of the bytes that it saves at its end.
local programs = require "spec.support.programs"

local seeds, steps = tonumber(arg[1]), tonumber(arg[2])
for seed = 1, seeds do
  print(("seed %d: %s"):format(seed, programs.random(seed, steps)))
end
print("kernels: " .. programs.kernels(1, seeds))
print("the demo: " .. programs.demo(steps // 10))
