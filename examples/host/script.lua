-- What host.c runs: it knows the host's components by their names, and adds two systems. The
-- world is the host's; this only borrows it.

local world = ...

local gravity = world:res "Gravity"
local burn_rate = 1                     -- kg per second

-- Between the host's own systems.
world:system("brake", {
  query = "Probe, !Landed",
  after = "fall",
  before = "bounce",
  each = function(probe, dt)
    if probe.speed < -4 and probe.fuel > 0 then
      probe.speed = probe.speed + 2 * gravity.pull * dt
      probe.fuel = math.max(probe.fuel - burn_rate * dt, 0)
    end
  end,
})

world:system("land", {
  phase = "post_update",
  query = "Probe, !Landed",
  each = function(probe, _, entity)
    if probe.height == 0 and math.abs(probe.speed) < 1 then
      probe.speed = 0
      world:add(entity, "Landed")
    end
  end,
})

for at, system in ipairs(world:describe().systems) do
  print(("%d. %s in %s, tier %s"):format(at, system.name, system.phase, system.tier))
end
