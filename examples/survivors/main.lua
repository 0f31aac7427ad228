-- Survivors: a horde of ten thousand closes in on one player, by the rules in scripts/.
-- `main.lua --help` tells the options. The terminal, the canvas and the SVG are the swarm's.

local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/?.lua;" .. here .. "/../swarm/?.lua;" .. package.path
local build = _VERSION == "Lua 5.4" and "build" or "build/lua5.5"
package.cpath = build .. "/examples/survivors/?.so;" .. package.cpath

local ecs = require "ecs"
local live = require "ecs.live"
local terminal = require "terminal"

local HELP = [[
usage: main.lua [options]

In a terminal it draws what goes on and takes keys; elsewhere, or with --frames, it runs that
many frames and prints what each system took.

  --frames N     run N frames of 1/30 s without drawing, then report (300 without a terminal)
  --enemies N    how many there are at a time (10000)
  --seed N       another seed, another run; the same seed, the same run (1)
  --picture FILE runs the frames, then writes what a terminal would show as an SVG
  --scripts DIR  other scripts than those beside main.lua
  --native       two of the systems in C, by horde.c (`make examples` builds it)
  --lua          no kernels: every system runs as plain Lua
  --help         this text
]]

local FLAGS = { native = true, lua = true, help = true }
local TEXTS = { picture = true, scripts = true }
local LIMITS = { frames = { 1, 10000000 }, enemies = { 0, 10000000 },
  seed = { math.mininteger, math.maxinteger } }

local function read_number(limits, text)
  local number = math.tointeger(tonumber(text or ""))
  return number and number >= limits[1] and number <= limits[2] and number or nil
end

-- The options by name, or nil and what is wrong.
local function parse(list)
  local given, at = { enemies = 10000, seed = 1 }, 1
  while list[at] do
    local name = list[at]:match "^%-%-(%a+)$"
    if FLAGS[name] then
      given[name] = true
    elseif TEXTS[name] or LIMITS[name] then
      at = at + 1
      local value = list[at]
      if LIMITS[name] then
        value = read_number(LIMITS[name], value)
      end
      if not value then
        return nil, ("--%s does not take %s"):format(name, list[at] or "nothing")
      end
      given[name] = value
    else
      return nil, "unknown option " .. list[at]
    end
    at = at + 1
  end
  return given
end

-- The world as the scripts have made it, and the session that follows their changes.
local function open_world(given)
  local world = ecs.world { seed = given.seed, kernels = not given.lua }
  world:resource("Settings", { "enemies: i32" })
  world:resource("Input", { "x: f64", "y: f64", "auto: bool = true" })
  world:res("Settings").enemies = given.enemies
  local session = live.open(world, { given.scripts or here .. "/scripts" })
  if given.native then
    require("horde").install(world)
    for _, name in ipairs { "push", "strike" } do
      world:switch(name, false)
    end
  end
  return world, session
end

local given, problem = parse(arg)
if not given then
  io.stderr:write(problem, "\n\n", HELP)
  os.exit(2)
elseif given.help then
  io.write(HELP)
  return
end

local drawn = not given.frames and not given.picture and terminal.present()
given.frames = given.frames or 300
local world, session = open_world(given)
local _ <close> = world
if drawn then
  require("play").run(world, session)
else
  require("results").run(world, given)
end
