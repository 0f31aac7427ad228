-- Timers: one for the whole world (`every`), one for each entity (a component that counts down),
-- and something that happens once, later (a timer that despawns itself).

local ecs = require "ecs"
local world = ecs.world()

world:component("Fuse", { { "left: f32", unit = "seconds" } })
world:component("Later", { { "left: f32", unit = "seconds" }, "call: any" })

local seconds = 0

world:system("clock", {
  every = 1,
  run = function()
    seconds = seconds + 1
    print(seconds .. " s")
  end,
})

-- Few of many fuses end at once: a kernel counts them down and finds those.
world:system("burn", {
  query = "Fuse",
  each = function(fuse, dt)
    fuse.left = fuse.left - dt
  end,
})

local function is_over(fuse)
  return fuse.left <= 0
end

world:system("explode", {
  after = "burn",
  query = "Fuse",
  run = function(_, _, fuses)
    for _, entity in fuses:where(is_over):each() do
      print("bang", ecs.format(entity))
      world:despawn(entity)
    end
  end,
})

world:system("remember", {
  query = "Later",
  each = function(later, dt, entity)
    later.left = later.left - dt
    if later.left <= 0 then
      later.call()
      world:despawn(entity)
    end
  end,
})

world:spawn { Fuse = { left = 0.5 } }
world:spawn { Fuse = { left = 1.5 } }
world:spawn { Later = { left = 1, call = function() print "one second later" end } }

for _ = 1, 8 do
  world:update(0.25)
end
