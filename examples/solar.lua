-- A solar system: bodies go round their parents, and one system places them, however deep they are.
-- `solar.lua --frames N` prints what it looks like after N days.

local world = require("ecs").world()

world:component("Orbit", { "radius: f64", { "period: f64 = 1", unit = "days" } })
world:component("Course", { "x: f64", "y: f64", doc = "a day; of what is in no orbit" })
world:component("Local", { "x: f64", "y: f64", doc = "beside its parent" })
world:component("World", { "x: f64", "y: f64", doc = "in the picture, whose middle is 0, 0" })
world:resource("Clock", { "day: f64" })
local clock = world:res "Clock"

world:system("turn", { query = "Local, Orbit:in", each = function(place, orbit)
  local angle = 2 * math.pi * clock.day / orbit.period
  place.x, place.y = orbit.radius * math.cos(angle), orbit.radius * math.sin(angle)
end })

world:system("fly", { query = "Local, Course:in", each = function(place, course, dt)
  place.x, place.y = place.x + course.x * dt, place.y + course.y * dt
end })

-- Parents come before their children. The sun goes round nobody: its `parent` is nil.
world:system("place", {
  after = { "turn", "fly" },
  query = "World, Local:in, ChildOf->World:in?",
  each = function(here, place, parent)
    here.x = place.x + (parent and parent.x or 0)
    here.y = place.y + (parent and parent.y or 0)
  end,
})

local function body(name, parent, radius, period)
  local id = world:spawn { World = true, Local = true, ChildOf = parent,
    Orbit = radius and { radius, period } }
  world:name(id, name)
  return id
end

-- Made before what they go round, and tied in any order: places come out the same.
local moon, probe = body("moon", nil, 2, 27), body("probe", nil, 0.8, 3)
local sun = body "Sun"
local earth, jupiter = body("earth", sun, 8, 365), body("jupiter", sun, 13, 4333)
body("venus", sun, 4.5, 225)
body("callisto", jupiter, 2.5, 17)
world:add(probe, "ChildOf", moon)
world:add(moon, "ChildOf", earth)

-- It leaves its moon for the sun, and goes on from where it is.
local function launch()
  local x, y = world:get(probe, "World")
  world:add(probe, "ChildOf", sun)
  world:remove(probe, "Orbit")
  world:set(probe, "Local", x, y)
  world:set(probe, "Course", 0.1, -0.05)
end

for day = 1, arg[1] == "--frames" and tonumber(arg[2]) or 90 do
  clock.day = day
  world:update(1)
  if day == 60 then launch() end
end

local picture = {}                       -- by characters, which are twice as high as wide
local function draw(x, y, letter)
  picture[math.floor(0.5 - y) * 100 + math.floor(2 * x + 0.5)] = letter
end
for orbit in world:query("Orbit:in, (ChildOf, $sun)", { sun = sun }):each() do
  for angle = 0, 2 * math.pi, 0.02 do
    draw(orbit.radius * math.cos(angle), orbit.radius * math.sin(angle), ".")
  end
end
for here, id in world:query("World:in"):each() do
  draw(here.x, here.y, world:name(id):sub(1, 1))
end
for y = -14, 14 do
  local line = {}
  for x = -31, 31 do line[#line + 1] = picture[y * 100 + x] or " " end
  print((table.concat(line):gsub(" +$", "")))
end
