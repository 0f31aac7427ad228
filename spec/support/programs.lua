-- Whole programs whose digests and images are to be the same from every build of the module and
-- on every thread: the random runs of some seeds, random kernels, the demo.

local kernel_run = require "spec.support.kernel_twins"
local live = require "ecs.live"
local runner = require "spec.support.runner"

local programs = {}

-- FNV-1a over eight bytes at a time.
local function hash_of(bytes)
  local hash = 0xcbf29ce484222325 ~ #bytes
  bytes = bytes .. ("\0"):rep(-#bytes % 8)
  for at = 1, #bytes, 8 do
    hash = (hash ~ string.unpack("<i8", bytes, at)) * 0x100000001b3
  end
  return hash
end

-- A line about a list of digests and an image.
local function line(digests, image)
  local bytes = {}
  for i, digest in ipairs(digests) do
    bytes[i] = string.pack("<i8", digest)
  end
  return ("digests %016x, image %016x"):format(hash_of(table.concat(bytes)), hash_of(image))
end

-- A random run; what the model says of it is compared, too.
function programs.random(seed, steps)
  return line(runner.digests(seed, { steps = steps }))
end

-- The results of some random kernels.
function programs.kernels(seed, count)
  return ("results %s"):format(kernel_run.hash(seed * 1000, count, 40, true))
end

-- Some frames of the demo.
function programs.demo(frames)
  local path = package.path
  package.path = "examples/swarm/?.lua;" .. path
  local world = require("ecs").world { tag = 1, seed = 7 }
  world:resource("Settings", { "seekers: i32", "drifters: i32", "hunters: i32" })
  local settings = world:res "Settings"
  settings.seekers, settings.drifters, settings.hunters = 300, 100, 20
  local session = live.open(world, { "examples/swarm/scripts" })
  local digests = {}
  for i = 1, frames do
    world:update(1 / 60)
    digests[i] = world:digest()
  end
  assert(not session:status().last_error)
  local image = world:save()
  world:close()
  package.path = path
  return line(digests, image)
end

return programs
