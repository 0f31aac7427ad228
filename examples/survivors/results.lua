-- Without a terminal: so many frames, and then what came of them and what they took; or a picture.

local svg = require "svg"
local terminal = require "terminal"
local view = require "view"

local results = {}

local STEP = 1 / 30

local function print_systems(world, frames)
  local systems, total = {}, 0
  for _, system in ipairs(world:describe().systems) do
    if system.enabled then
      systems[#systems + 1], total = system, total + system.seconds
    end
  end
  table.sort(systems, function(a, b)
    return a.seconds > b.seconds
  end)
  print(("\n  %-14s %-12s %-6s %12s %6s"):format("system", "phase", "tier", "ms a frame", "share"))
  for _, system in ipairs(systems) do
    print(("  %-14s %-12s %-6s %12.3f %5.1f%%"):format(system.name, system.phase, system.tier,
      1000 * system.seconds / frames, 100 * system.seconds / total))
  end
  print(("  %-14s %-12s %-6s %12.3f"):format("all", "", "", 1000 * total / frames))
end

-- A hash of who is where; does not depend on the order.
local function checksum(world)
  local sum = 0
  for position, entity in world:query("Position:in"):each() do
    local x, y = string.unpack("<i8i8", string.pack("<dd", position.x, position.y))
    local hash = (entity ~ x ~ y << 17 ~ y >> 47) * 0x9E3779B97F4A7C15
    sum = sum + (hash ~ hash >> 29) * 0x2545F4914F6CDD1D
  end
  return sum
end

local function report(world, options, seconds, used)
  local hero = world:res "Hero"
  local wave = world:res "Wave"
  print(("level %d, %d slain, %d falls; wave %d, %d warlords; %d enemies, %d bullets, %d pickups")
    :format(hero.level, hero.kills, hero.falls, wave.number, wave.chiefs, world:count "Enemy",
    world:count "Bullet", world:count "Pickup"))
  print_systems(world, options.frames)
  print(("\nChecksum of all positions: %016x (the same with --lua and --native)"):format(
    checksum(world)))
  print(("Time: %.2f s for %d frames, %.2f ms a frame (%.2f ms of the processor)"):format(seconds,
    options.frames, 1000 * seconds / options.frames, 1000 * used / options.frames))
end

-- Runs by the same step each frame, so that the same seed gives the same run.
function results.run(world, options)
  local start, used = terminal.time(), os.clock()
  for _ = 1, options.frames do
    world:update(STEP)
  end
  if not options.picture then
    return report(world, options, terminal.time() - start, os.clock() - used)
  end
  local scene = view.new(world, svg.COLUMNS, svg.LINES)
  svg.write(options.picture, svg.draw(scene:draw(), "survivors", scene:title(), scene:legend()))
end

return results
