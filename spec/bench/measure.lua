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

return M
