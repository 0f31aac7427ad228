-- Random numbers of the model. Returns methods to be mixed into the model's world.
--
-- world.stream is the open stream: its key, how many streams of function forms were opened in it,
-- how many numbers were drawn from it (in the row, where there are rows).

local methods = {}

local function refuse(...)
  error(string.format(...), 0)
end

-- ---- numbers ---------------------------------------------------------------------------

local LOW = 0xffffffff

-- The first 64 bits of Philox4x32-10 (Salmon, Moraes, Dror, Shaw; SC '11).
local function philox(entity, tick, call, key)
  local x0, x1, x2, x3 = entity & LOW, entity >> 32, tick & LOW, call & LOW
  local k0, k1 = key & LOW, key >> 32
  for _ = 1, 10 do
    local p0, p1 = x0 * 0xd2511f53, x2 * 0xcd9e8d57
    x0, x1, x2, x3 = (p1 >> 32) ~ x1 ~ k0, p1 & LOW, (p0 >> 32) ~ x3 ~ k1, p0 & LOW
    k0, k1 = (k0 + 0x9e3779b9) & LOW, (k1 + 0xbb67ae85) & LOW
  end
  return x0 | x1 << 32
end

-- The high half of the product of two unsigned numbers.
local function high_product(x, y)
  local a, b = (x & LOW) * (y & LOW), (x >> 32) * (y & LOW)
  local c, d = (x & LOW) * (y >> 32), (x >> 32) * (y >> 32)
  local middle = (a >> 32) + (b & LOW) + (c & LOW)
  return d + (b >> 32) + (c >> 32) + (middle >> 32)
end

local function integer(value)
  local whole = math.type(value) and math.tointeger(value)
  return whole or refuse("%s is no bound", tostring(value))
end

function methods.random(world, entity, low, high)
  entity = world:need_alive(entity)
  if low then
    low, high = high and integer(low) or 1, integer(high or low)
    if low > high then
      refuse("interval is empty")
    end
  end
  local stream = world.stream
  local bits = philox(entity, world.tick, stream.calls, stream.key)
  stream.calls = stream.calls + 1
  if not low then
    return (bits >> 11) * 0x1p-53
  end
  local width = high - low + 1
  return low + (width == 0 and bits or high_product(bits, width))
end

-- ---- streams ---------------------------------------------------------------------------

-- The finalizer of SplitMix64 (Steele, Lea, Flood; OOPSLA 2014).
local function mix(x)
  x = (x ~ x >> 30) * 0xBF58476D1CE4E5B9
  x = (x ~ x >> 27) * 0x94D049BB133111EB
  return x ~ x >> 31
end

local function inner_key(key, place)
  return mix(key + (place + 1) * 0x9E3779B97F4A7C15)
end

-- FNV-1a (Fowler, Noll, Vo).
local function name_key(name)
  local hash = 0xcbf29ce484222325
  for at = 1, #name do
    hash = (hash ~ name:byte(at)) * 0x100000001b3
  end
  return hash
end

local function stream_of(key)
  return { key = key, opened = 0, calls = 0 }
end

-- A new tick begins all counts again.
function methods.start_tick(world, tick)
  world.tick, world.stream = tick, stream_of(0)
  for _, systems in ipairs { world.systems, world.absent.systems } do
    for _, system in pairs(systems) do
      system.streams = 0
    end
  end
end

local function inside(world, stream, fn, ...)
  local outer = world.stream
  world.stream = stream
  local results = table.pack(pcall(fn, ...))
  world.stream = outer
  if not results[1] then
    error(results[2], 0)
  end
  return table.unpack(results, 2, results.n)
end

-- Calls a function in the stream of the system's next run in this tick. It is counted at once, for
-- whatever takes the system's place meanwhile, and no longer when the function fails.
function methods.in_system_stream(world, system, fn, ...)
  local key = inner_key(name_key(system.name), system.streams)
  system.streams = system.streams + 1
  local results = table.pack(pcall(inside, world, stream_of(key), fn, ...))
  if not results[1] then
    system.streams = system.streams - 1
    error(results[2], 0)
  end
  return table.unpack(results, 2, results.n)
end

-- The same in a function form's stream, which is not counted when the form fails.
function methods.in_form_stream(world, fn, ...)
  local outer = world.stream
  inside(world, stream_of(inner_key(outer.key, outer.opened)), fn, ...)
  outer.opened = outer.opened + 1
end

-- The same in the stream of predicates, which is not counted.
function methods.in_predicate_stream(world, fn, ...)
  return inside(world, stream_of(inner_key(world.stream.key, -1)), fn, ...)
end

-- ---- copies ----------------------------------------------------------------------------

function methods.copy_stream(stream)
  return { key = stream.key, opened = stream.opened, calls = stream.calls }
end

-- What of it a digest depends on.
function methods.describe_streams(world)
  local lines, stream = {}, world.stream
  if stream.opened > 0 or stream.calls > 0 then
    lines[1] = ("streams %d, calls %d"):format(stream.opened, stream.calls)
  end
  for _, systems in ipairs { world.systems, world.absent.systems } do
    for name, system in pairs(systems) do
      if system.streams > 0 then
        lines[#lines + 1] = ("streams of %s: %d"):format(name, system.streams)
      end
    end
  end
  return lines
end

return methods
