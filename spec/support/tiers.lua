-- Runs with kernels and without, compared.

local luassert = require "luassert"

local tiers = {}

-- An error without its traceback and worlds' tags.
function tiers.plain(problem)
  return (tostring(problem):gsub("\n.*", ""):gsub("@%d+", ""))
end

-- What some updates do to a world, as text: errors and digests.
function tiers.updates(world, count, dt, between)
  local said = {}
  for turn = 1, count do
    local _, problem = pcall(world.update, world, dt)
    said[turn] = tiers.plain(problem) .. " " .. world:digest()
    if between then between(turn) end
  end
  return table.concat(said, "\n")
end

-- A hash of all ids in the order of rows, which shows in which order they were taken.
function tiers.ids_of(world, text)
  local hash = 0
  for _, e in world:query(text):each() do hash = hash * 31 + (e & 0xFFFFFFFFFFF) end
  return world:count(text) .. " " .. hash
end

-- One of a list, by math.random.
function tiers.pick(list)
  return list[math.random(#list)]
end

-- run(seed, kernels), which returns what was seen and the tier, sees the same with kernels and
-- without for seeds from 1 on; more than `least` of these runs are vector. It may seed math.random.
function tiers.agree_on_seeds(last, run, least)
  local compiled = 0
  for seed = 1, last do
    local seen, tier = run(seed, true)
    luassert.equal((run(seed, false)), seen, ("seed %d, %s"):format(seed, tier))
    compiled = compiled + (tier == "vector" and 1 or 0)
  end
  math.randomseed(os.time())
  luassert.truthy(compiled > least, compiled)
end

return tiers
