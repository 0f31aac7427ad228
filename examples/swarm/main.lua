-- The swarm: thousands of beings that travel, hunt, flee and die in a level, by the rules in
-- scripts/. `make demo` runs it; `main.lua --help` tells its options.

local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/?.lua;" .. package.path

local ecs = require "ecs"
local live = require "ecs.live"
local options = require "arguments"
local terminal = require "terminal"

-- The world as the scripts have made it, and the session that follows their changes.
local function open_world(given)
  local world = ecs.world { seed = given.seed, kernels = not given.lua }
  world:resource("Settings", { "seekers: i32", "drifters: i32", "hunters: i32" })
  local settings = world:res "Settings"
  settings.hunters = given.entities // 100
  settings.drifters = given.entities // 4
  settings.seekers = given.entities - settings.hunters - settings.drifters
  return world, live.open(world, { given.scripts or here .. "/scripts" })
end

local given, problem = options.parse(arg)
if not given then
  io.stderr:write(problem, "\n\n", options.HELP)
  os.exit(2)
elseif given.help then
  io.write(options.HELP)
  return
end

local drawn = not given.frames and not given.picture and terminal.present()
given.frames = given.frames or 300
local world, session = open_world(given)
local _ <close> = world
given.inspector = given.inspect
  and require("ecs.inspect").open(world, { session = session, edit = true }) or nil
if drawn then
  require("show").run(world, session, given.inspector)
elseif given.picture then
  require("photo").run(world, given)
else
  require("report").run(world, given)
end
