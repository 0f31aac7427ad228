-- Without a terminal: so many frames, and then what there is and what it took.

local kinds = require "kinds"
local terminal = require "terminal"

local report = {}

local STEP = 1 / 30

local function print_row(format, ...)
  print((format:format(...):gsub("%s+$", "")))
end

local function grouped(number)
  local text = ("%d"):format(number)
  repeat
    local count
    text, count = text:gsub("^(%-?%d+)(%d%d%d)", "%1,%2")
  until count == 0
  return text
end

-- The name of each kind by the components that its beings are made of.
local function kind_names(world)
  local names = {}
  for _, kind in ipairs(kinds) do
    local first = world:query(kind.query):first()
    local types = {}
    for name in first and world:components(first) or next, {} do
      types[#types + 1] = name
    end
    table.sort(types)
    names[table.concat(types, " ")] = kind.name
  end
  return names
end

local function print_compositions(world)
  local names, description = kind_names(world), world:describe()
  local rows = {}
  for _, tab in ipairs(description.tables) do
    local types = table.move(tab.types, 1, #tab.types, 1, {})
    table.sort(types)
    local text = table.concat(types, " ")
    if tab.rows > 0 then
      rows[#rows + 1] = { name = names[text] or "others", rows = tab.rows, types = text }
    end
  end
  table.sort(rows, function(a, b)
    return a.rows > b.rows or a.rows == b.rows and a.name < b.name
  end)
  print_row("\nEntities by composition")
  print_row("  %-10s %9s  %s", "kind", "entities", "components")
  for _, row in ipairs(rows) do
    print_row("  %-10s %9s  %s", row.name, grouped(row.rows), row.types)
  end
  print_row("  %-10s %9s  in %d tables, %s bytes", "all", grouped(description.entities),
    #rows, grouped(description.bytes))
end

local function print_systems(world, frames)
  local systems, total = world:describe().systems, 0
  for _, system in ipairs(systems) do
    total = total + system.seconds
  end
  table.sort(systems, function(a, b)
    return a.seconds > b.seconds
  end)
  print_row("\nSystems, the slowest first")
  print_row("  %-14s %-12s %-6s %6s %10s %12s %6s", "system", "phase", "tier", "runs", "ms a run",
    "ms a frame", "share")
  for _, system in ipairs(systems) do
    print_row("  %-14s %-12s %-6s %6d %10.3f %12.3f %5.1f%%", system.name, system.phase,
      system.tier, system.runs, 1000 * system.seconds / math.max(system.runs, 1),
      1000 * system.seconds / frames, 100 * system.seconds / total)
  end
  print_row("  %-14s %-12s %-6s %6s %10s %12.3f", "all", "", "", "", "", 1000 * total / frames)
  print_row("  vector: a kernel over whole columns; lua: plain Lua")
end

-- A hash of every entity with its position; does not depend on their order.
local function checksum(world)
  local sum = 0
  for position, entity in world:query("Position:in"):each() do
    local x, y = string.unpack("<i4i4", string.pack("<ff", position.x, position.y))
    local hash = (entity ~ x << 32 ~ y) * 0x9E3779B97F4A7C15
    sum = sum + (hash ~ hash >> 29) * 0x2545F4914F6CDD1D
  end
  return sum
end

-- Runs and prints. The world is updated by the same step each frame, so that the same seed
-- gives the same run.
function report.run(world, options)
  print_row("swarm: %s entities, seed %d; running %d frames of 1/30 s ...",
    grouped(world:describe().entities), options.seed, options.frames)
  io.flush()
  local start, used = terminal.time(), os.clock()
  local inspector = options.inspector
  for _ = 1, options.frames do
    if inspector then
      inspector:update(STEP)
    else
      world:update(STEP)
    end
  end
  local seconds = terminal.time() - start
  used = os.clock() - used
  print_compositions(world)
  print_systems(world, options.frames)
  print_row("\nChecksum of all positions: %016x (the same for the same options)",
    checksum(world))
  print_row("Time: %.2f s for %d frames, %.2f ms a frame (%.2f ms of the processor)", seconds,
    options.frames, 1000 * seconds / options.frames, 1000 * used / options.frames)
end

return report
