-- Timing and comparing, for what is measured from Lua.

local floor = require("mod_floor")

-- `now` is of processor time, `wall` of what has passed: for what threads do.
local M = { now = floor.now, wall = floor.wall }

-- Runs two functions in turns, `times` each, and returns the least ns a row of both. Each is
-- called as f(n), does its own timing and returns seconds and a checksum.
function M.compare(n, times, by_hand, ours)
  local least_floor, least_ours = math.huge, math.huge
  for _ = 1, times do
    local seconds, sum = by_hand(n)
    least_floor = math.min(least_floor, seconds)
    local our_seconds, our_sum = ours(n)
    least_ours = math.min(least_ours, our_seconds)
    if sum ~= our_sum then
      error(string.format("checksums differ: floor %s, library %s", sum, our_sum))
    end
  end
  return least_ours * 1e9 / n, least_floor * 1e9 / n
end

-- Calls f with the collector freshly run; returns its seconds.
function M.time(f)
  collectgarbage()
  local start = floor.now()
  f()
  return floor.now() - start
end

-- Calls functions in turns, `times` each, and returns the least that each has returned.
function M.turns(times, ...)
  local functions, least = { ... }, {}
  collectgarbage()
  for _ = 1, times do
    for i, f in ipairs(functions) do least[i] = math.min(least[i] or math.huge, f()) end
  end
  return table.unpack(least)
end

function M.same(what, i, wanted, got)
  if wanted ~= got then
    error(("%s: %d: the floor has %.17g, the library %.17g"):format(what, i, wanted, got))
  end
end

return M
