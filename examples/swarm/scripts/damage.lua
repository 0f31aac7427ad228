-- Hunters and fire hurt; the wounded flee to a spring and heal there.

local world = ...

local level = require "level"

local bite, burn = 20, 25                 -- hp a second
local wounded_below, healed_above = 40, 90
local healing, spring_reach = 30, 3       -- hp a second; cells

local fire = world:array "fire"
local hunters = world:query "Room:in, Hunter"
local hunted = world:array("hunted", "u16", level.width * level.height)   -- by how many

local function threaten(room)
  hunted[room.cell] = hunted[room.cell] + 1
end

world:system("sense_danger", {
  every = 0.1,
  run = function()
    hunted:fill(0)
    hunters:each(threaten)
  end,
})

world:system("hurt", {
  every = 0.1,
  after = "sense_danger",
  query = "Health, Room:in",
  each = function(health, room, dt)
    local harm = hunted[room.cell] * bite
    if fire[room.cell] then
      harm = harm + burn
    end
    health.hp = health.hp - harm * dt
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
