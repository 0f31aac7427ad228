-- A world whose rules are edited while it runs: what changes in the files changes in the world.

local ecs = require "ecs"
local live = require "ecs.live"

local directory = os.tmpname()
os.remove(directory)
os.execute("mkdir " .. directory)

local session

-- The session is told of the edit: on its own it would wait until the file has not changed for
-- 20 ms.
local function edit(text)
  local file = assert(io.open(directory .. "/rules.lua", "w"))
  file:write(text)
  file:close()
  if session then session:changed(directory .. "/rules.lua") end
end

edit [[
local world, script = ...
world:component("Position", { "x: f32" })
world:system("move", { query = "Position", each = function(p, dt) p.x = p.x + dt end })
script:on_load(function() world:name(world:spawn { Position = {} }, "ship") end)
]]

local world = ecs.world()
session = live.open(world, { directory }, { on_error = print })
world:update(1)
print("at first", world:get(world:lookup "ship", "Position"))

edit [[
local world = ...
world:component("Position", { "x: f32", "fuel: i32 = 10" })
world:system("move", { query = "Position", each = function(p, dt)
  p.x, p.fuel = p.x + 10 * dt, p.fuel - 1
end })
]]
print("reloaded", (session:poll()))
world:update(1)
print("and then", world:get(world:lookup "ship", "Position"))

edit "local world = ... oops("
print("broken", (session:poll()))
world:update(1)
print("goes on", world:get(world:lookup "ship", "Position"))
os.remove(directory .. "/rules.lua")
os.remove(directory)
