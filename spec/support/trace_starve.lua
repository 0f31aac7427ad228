-- Failing allocations in random runs: a world whose calls run out of memory at the k-th request
-- before they are made in earnest. A call that fails so leaves the world sound and as it was;
-- then it gives what it would have given, and the model need not know.
--
-- A step is starved when it has `starve = { k =, on = }`: on, all requests behind the
-- k-th fail, too.

local starve = require "spec.starve"

local starving = {}

-- How often each method has failed for want of memory.
starving.failures = {}

-- How many calls of one step are starved: each looks at the whole world.
local MOST = 8

-- What runs functions of the trace, whose allocations are not the world's, and what only looks.
local LEFT_ALONE = { update = true, run = true, check = true, digest = true, close = true }

local function digest_of(world)
  local ok, digest = pcall(world.digest, world)
  return ok and digest
end

-- `before` is nil while loops are left open: a call may end them, which is done when it fails. A
-- cancel has dropped its own changes when it fails to apply what others left to it.
local function check_unchanged(world, name, before)
  local ok, sound, message = pcall(world.check, world)
  if ok and not sound then
    error(("%s without memory leaves the world unsound: %s"):format(name, message), 0)
  elseif before ~= nil and name ~= "cancel" and digest_of(world) ~= before then
    error(("%s without memory changes the world"):format(name), 0)
  end
end

-- What a call of the world gives, which is starved first.
local function call_starved(ctx, plan, world, name, ...)
  local before
  if #ctx.left == 0 then
    before = digest_of(world)
  end
  local results = table.pack(starve.call(plan.k or 1, plan.on, world[name], world, ...))
  if results[1] then
    return table.unpack(results, 2, results.n)
  elseif starve.refused() == 0 or results[2] ~= "not enough memory" then
    error(results[2], 0)
  end
  starving.failures[name] = (starving.failures[name] or 0) + 1
  check_unchanged(world, name, before)
  return world[name](world, ...)
end

-- The world of a context as a step with a plan sees it.
function starving.world(ctx, plan)
  local world, left = ctx.world, MOST
  return setmetatable({}, { __index = function(_, name)
    return function(_, ...)
      if LEFT_ALONE[name] or left == 0 then
        return world[name](world, ...)
      end
      left = left - 1
      return call_starved(ctx, plan, world, name, ...)
    end
  end })
end

return starving
