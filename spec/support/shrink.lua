-- Delta debugging: makes a failing trace smaller as long as it still fails.

local compare = require "spec.support.compare"

local shrink = {}

-- How many steps the replays of a shrinking may take together.
local PATIENCE = 2000000

local function without(list, first, last)
  local rest = table.move(list, 1, first - 1, 1, {})
  return table.move(list, last + 1, #list, first, rest)
end

-- Drops runs of steps, half of the trace at first, single steps in the end, until none of them
-- can go.
local function drop_steps(failed, attempt)
  local size = #failed.trace // 2
  while size >= 1 do
    local at, dropped = #failed.trace, false
    while at >= 1 do
      local first = math.max(1, at - size + 1)
      local smaller = attempt(without(failed.trace, first, at))
      if smaller then
        failed, dropped = smaller, true
      end
      at = math.min(first - 1, #failed.trace)
    end
    if size > 1 or not dropped then
      size = size // 2
    end
  end
  return failed
end

-- Every table inside a step that parts can be taken from.
local function tables_in(value, found)
  for _, part in pairs(value) do
    if type(part) == "table" then
      found[#found + 1] = part
      tables_in(part, found)
    end
  end
  return found
end

local function keys_of(value)
  local keys = {}
  for key in pairs(value) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    return tostring(a) > tostring(b)
  end)
  return keys
end

local function take(value, key)
  if math.type(key) == "integer" and key >= 1 and key <= #value then
    table.remove(value, key)
  else
    value[key] = nil
  end
end

-- The trace with one part of one step's tables left out, or nil when there is no such part.
local function thinned(trace, at, which, key)
  local result = table.move(trace, 1, #trace, 1, {})
  result[at] = compare.copy(trace[at])
  take(tables_in(result[at], {})[which], key)
  return result
end

-- Leaves out what the steps' tables hold without need: components, fields, steps of bodies.
local function thin_steps(failed, attempt)
  for at = #failed.trace, 1, -1 do
    local which = 1
    while failed.trace[at] and which <= #tables_in(failed.trace[at], {}) do
      for _, key in ipairs(keys_of(tables_in(failed.trace[at], {})[which])) do
        local smaller = attempt(thinned(failed.trace, at, which, key))
        failed = smaller and #smaller.trace >= at and smaller or failed
        if not tables_in(failed.trace[at], {})[which] then
          break
        end
      end
      which = which + 1
    end
  end
  return failed
end

-- The smallest failure found, starting from `failed`. replay(trace) gives nil or a failure,
-- whose trace ends where it failed.
function shrink.failure(failed, replay)
  local left = PATIENCE
  local function attempt(trace)
    left = left - #trace
    return left > 0 and replay(trace) or nil
  end
  failed = attempt(failed.trace) or failed
  failed = drop_steps(failed, attempt)
  failed = thin_steps(failed, attempt)
  return drop_steps(failed, attempt)
end

return shrink
