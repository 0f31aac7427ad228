-- Hunters and fire hurt; the wounded flee to a spring and heal there.

local world = ...

local level = require "level"

local bite, burn = 20, 25                 -- hp a second
local wounded_below, healed_above = 40, 90
local healing, spring_reach = 30, 3       -- hp a second; cells

local hunters = world:query "Room.cell:in, Hunter"
local danger = {}                         -- hp a second, by cell

world:system("sense_danger", {
  every = 0.1,
  run = function()
    danger = {}
    for cell, burns in ipairs(level.fire) do
      if burns then
        danger[cell] = burn
      end
    end
    for cell in hunters:each() do
      danger[cell] = (danger[cell] or 0) + bite
    end
  end,
})

world:system("hurt", {
  every = 0.1,
  after = "sense_danger",
  query = "Health.hp, Room.cell:in",
  map = function(hp, cell, dt)
    local harm = danger[cell]
    if harm then
      return hp - harm * dt
    end
  end,
})

world:system("wound", {
  every = 0.2,
  after = "hurt",
  query = "Health:in, !Wounded",
  each = function(health, _, entity)
    if health.hp < wounded_below then
      world:add(entity, "Wounded")
    end
  end,
})

world:system("heal", {
  query = "Health, Course:in, Wounded",
  each = function(health, course, dt, entity)
    if course.distance < spring_reach then
      health.hp = health.hp + healing * dt
    end
    if health.hp > healed_above then
      world:remove(entity, "Wounded")
    end
  end,
})
