-- Random numbers whose state is a resource of the world: the same seed gives the same run,
-- and whoever keeps the world keeps the state.

local random = {}

local MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407

function random.seed(world, seed)
  world:resource("Random", { "state: i64" })
  world:res("Random").state = (seed ~ 0x5DEECE66D) * MULTIPLIER + INCREMENT
end

-- A function that gives numbers: random() at least 0 and below 1, random(n) an integer from
-- 1 to n. A linear congruential generator (Knuth, MMIX) of which the upper bits are used.
function random.of(world)
  local generator = world:res "Random"
  return function(n)
    local state = generator.state * MULTIPLIER + INCREMENT
    generator.state = state
    local number = (state >> 11) * (1 / (1 << 53))
    if n then
      return number * n // 1 + 1 | 0
    end
    return number
  end
end

return random
