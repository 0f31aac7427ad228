-- A seeded generator of its own (splitmix64 over Lua integers): the same seed gives the same
-- numbers on every platform and Lua release, which math.random does not promise.

local random = {}

local Rng = {}
Rng.__index = Rng

-- A generator started from an integer.
function random.new(seed)
  return setmetatable({ state = seed * 0x2545F4914F6CDD1D }, Rng)
end

-- The next 64 bits as a Lua integer.
function Rng:bits()
  local state = self.state + 0x9E3779B97F4A7C15
  self.state = state
  local z = (state ~ (state >> 30)) * 0xBF58476D1CE4E5B9
  z = (z ~ (z >> 27)) * 0x94D049BB133111EB
  return z ~ (z >> 31)
end

-- An integer from 0 to n - 1.
function Rng:below(n)
  return (self:bits() >> 1) % n
end

-- LuaJIT has integers of 64 bits in its ffi library alone.
if rawget(_G, "jit") then
  local bit, uint64 = require "bit", require("ffi").typeof "uint64_t"
  local function word(high, low) return uint64(high) * 2 ^ 32 + low end
  local function mixed(z, shift) return bit.bxor(z, bit.rshift(z, shift)) end
  local STEP, FIRST = word(0x9E3779B9, 0x7F4A7C15), word(0xBF58476D, 0x1CE4E5B9)
  local SECOND, SEED = word(0x94D049BB, 0x133111EB), word(0x2545F491, 0x4F6CDD1D)

  function random.new(seed)
    return setmetatable({ state = uint64(seed) * SEED }, Rng)
  end

  function Rng:below(n)
    self.state = self.state + STEP
    local z = mixed(mixed(mixed(self.state, 30) * FIRST, 27) * SECOND, 31)
    return tonumber(bit.rshift(z, 1) % n)
  end
end

-- An integer from 1 to n.
function Rng:int(n)
  return self:below(n) + 1
end

-- An integer from low to high, both included.
function Rng:range(low, high)
  return low + self:below(high - low + 1)
end

-- True in `percent` of a hundred cases.
function Rng:chance(percent)
  return self:below(100) < percent
end

-- One element of a list; nil when it is empty.
function Rng:pick(list)
  local n = #list
  return n > 0 and list[self:int(n)] or nil
end

-- `n` elements of a list without repetition, fewer when the list is shorter.
function Rng:sample(list, n)
  local pool = table.move(list, 1, #list, 1, {})
  local taken = {}
  for i = 1, math.min(n, #pool) do
    local at = self:range(i, #pool)
    pool[i], pool[at] = pool[at], pool[i]
    taken[i] = pool[i]
  end
  return taken
end

-- The methods of what generates functions, with `random`, and `variables` that a block forgets.
function random.generator()
  local Gen = {}
  Gen.__index = Gen
  function Gen:pick(list) return list[self.random:range(1, #list)] end
  -- True one time in n.
  function Gen:chance(n) return self.random:range(1, n) == 1 end
  function Gen:block(depth)
    local variables = #self.variables
    for _ = 1, self.random:range(1, 3) do self:statement(depth) end
    while #self.variables > variables do table.remove(self.variables) end
  end
  return Gen
end

return random
