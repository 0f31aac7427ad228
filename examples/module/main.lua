-- A world whose systems are partly Lua and partly C: motion.c is a Lua module of its own, loaded
-- beside ecs. From the top of the tree, after `make examples`:
--   LUA_PATH="lua/?.lua;lua/?/init.lua;;" LUA_CPATH="build/?.so;;" lua5.4 examples/module/main.lua

local build = _VERSION == "Lua 5.4" and "build" or "build/lua5.5"
package.cpath = build .. "/examples/module/?.so;" .. package.cpath

local ecs = require "ecs"
local motion = require "motion"        -- asks the ecs of this Lua state for its functions

local world = ecs.world()
motion.install(world)

world:system("fall", {
  query = "Velocity",
  before = "move",                     -- the system in C
  each = function(velocity, dt)
    velocity.y = velocity.y - 10 * dt
  end,
})

local ball = world:spawn { Position = { y = 20 }, Velocity = { x = 3 } }
local stone = world:spawn { Position = { y = 5 } }

for _ = 1, 4 do
  world:update(1 / 4)
end
print(("the ball is at %.2f, %.2f, %.2f fast"):format(world:get(ball, "Position.x"),
  world:get(ball, "Position.y"), motion.speed(world, ball)))
motion.turn(world, ball)
world:update(1 / 4)
print(("turned, it is at %.2f, %.2f"):format(world:get(ball, "Position")))
print(select(2, pcall(motion.turn, world, stone)))
for _, system in ipairs(world:describe().systems) do
  print(system.name, system.tier)
end
