-- Which form of a loop is quick, and why a function stayed Lua: the same movement in every form,
-- in nanoseconds for a row, and what explain says of systems that are not kernels.

local ecs = require "ecs"

local ROWS = tonumber(arg and arg[1]) or 100000
local world = ecs.world()
world:component("Position", { "x: f32", "y: f32" })
world:component("Velocity", { "x: f32", "y: f32" })
local ids = world:spawn_many(ROWS, { Position = true, Velocity = { 1, 2 } })

local DT = 1 / 60
local bodies = world:query "Position, Velocity:in"
local scalars = world:query "Position.x, Position.y, Velocity.x:in, Velocity.y:in"
local px, py, vx, vy = {}, {}, {}, {}

local function move(position, velocity, dt)
  position.x = position.x + velocity.x * dt
  position.y = position.y + velocity.y * dt
end

local function move_scalars(x, y, dx, dy, dt)
  return x + dx * dt, y + dy * dt
end

local FORMS = {
  { "q:run(fn), a kernel", function() bodies:run(move, DT) end },
  { "q:chunks(), read and written whole", function()
    for chunk in bodies:chunks() do
      local x, y = chunk:column "Position.x", chunk:column "Position.y"
      x:read(px) y:read(py)
      chunk:column("Velocity.x"):read(vx) chunk:column("Velocity.y"):read(vy)
      for i = 1, chunk.n do
        px[i], py[i] = px[i] + vx[i] * DT, py[i] + vy[i] * DT
      end
      x:write(px) y:write(py)
    end
  end },
  { "q:map(fn), scalars", function() scalars:map(move_scalars, DT) end },
  { "q:each(fn), views", function() bodies:each(move, DT) end },
  { "for ... in q:each()", function()
    for position, velocity in bodies:each() do
      move(position, velocity, DT)
    end
  end },
  { "world:get and world:set by id", function()
    for _, entity in ipairs(ids) do
      local x, y = world:get(entity, "Position")
      local dx, dy = world:get(entity, "Velocity")
      world:set(entity, "Position", x + dx * DT, y + dy * DT)
    end
  end },
}

-- The least of some measurements, in nanoseconds a row. A few rows are done before the clock, which
-- counts microseconds, shows it: what is measured is as many runs as take some of its steps.
local function measure(fn)
  local least = math.huge
  for _ = 1, 5 do
    local start, runs, took = os.clock(), 0
    repeat
      fn()
      runs, took = runs + 1, os.clock() - start
    until took > 1e-4
    least = math.min(least, took / runs)
  end
  return 1e9 * least / ROWS
end

for _, form in ipairs(FORMS) do
  print(("%-36s %7.1f ns a row"):format(form[1], measure(form[2])))
end

-- ---- why a function stayed Lua --------------------------------------------------------------

local seen = {}

-- Keeps tables in tables. Lists of tables without others in them compile.
world:system("keep", { query = "Position:in", each = function(position)
  seen[#seen + 1] = { at = { position.x, position.y } }
end })

-- Makes a text by a function of C: keep what it gives in a field.
world:system("choose", { query = "Position", each = function(position)
  position.x = #tostring(position.y)
end })

-- Calls math.random, whose state is Lua's; world:random(entity) compiles.
world:system("shake", { query = "Position", each = function(position)
  position.x = position.x + math.random()
end })

world:system("shake_well", { query = "Position", each = function(position, _, entity)
  position.x = position.x + world:random(entity)
end })

for _, name in ipairs { "keep", "choose", "shake", "shake_well" } do
  local how = world:explain(name)
  print(("%-10s %-6s %s"):format(name, how.tier, how.reason or ""):match "^(.-)%s*$")
end
