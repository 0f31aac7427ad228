-- Systems in phases: which run in an update, in which order, and how often.

local ecs = require "ecs"
local world = ecs.world()

local ran = {}

-- A system that notes that it ran.
local function noting(name, spec)
  spec.run = function(_, dt)
    ran[#ran + 1] = ("%s(%.3f)"):format(name, dt)
  end
  world:system(name, spec)
end

local function update(dt)
  ran = {}
  world:update(dt)
  print(("update(%.3f)  %s"):format(dt, table.concat(ran, "  ")))
end

-- A phase of our own between those that are there (startup, pre_update, update, post_update,
-- render), with steps of a fixed length: as many of them as time demands.
world:phase("physics", { after = "pre_update", fixed = 1 / 32 })

noting("load_level", { phase = "startup" })                -- once
noting("show", { phase = "render" })
noting("think", { after = "look" })                        -- phase "update"
noting("look", {})                                         -- goes before "think"
noting("fall", { phase = "physics" })
noting("autosave", { phase = "post_update", every = 0.1 }) -- ten times a second

print "The number behind a system is its own dt: the time since it ran last.\n"
for _ = 1, 4 do
  update(1 / 20)
end

local steps_ahead = world:alpha "physics"
print(("\nphysics is %.2f steps behind: what is drawn lies between two steps"):format(steps_ahead))

print "\nwithout the system 'think' and the phase 'physics':"
world:switch("think", false)
world:switch("physics", false)
update(1 / 20)

print "\nwhile there is nothing to look for ('when'):"
local anything = false
noting("look", { when = function() return anything end })  -- replaces it, in its place
update(1 / 20)
anything = true
update(1 / 20)

print "\nwith a system that fails, and a handler for errors:"
world:on_error(function(message, name)
  print(("  %s is parked: %s"):format(name, message:match "[^\n]*"))
end)
world:system("show", { phase = "render", run = function() error("out of paint") end })
update(1 / 20)
update(1 / 20)

print "\nname         phase        runs  parked"
for _, system in ipairs(world:describe().systems) do
  print(("%-12s %-12s %4d  %s"):format(system.name, system.phase, system.runs, system.parked))
end
