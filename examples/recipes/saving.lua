-- Saving: the whole world in one call, to a file that is there whole or not at all. The program
-- may have moved on when it is loaded: fields are matched by name and converted.

local ecs = require "ecs"

local path = os.tmpname()

-- Version 1 of the game.
local world = ecs.world()
world:component("Position", { "x: i32", "y: i32" })
world:component("Health", { "points: i32 = 10" })
local hero = world:spawn { Position = { 3, 4 }, Health = { points = 7 } }
world:name(hero, "hero")
ecs.save_file(world, path)
world:close()

-- Version 2: positions are floats, points are called hp, there is armour.
local now = ecs.world()
now:component("Position", { "x: f64", "y: f64" })
now:component("Health", { "hp: i32 = 10", "armour: i32 = 1", was = { hp = "points" } })
ecs.load_file(now, path)
local found = now:lookup "hero"
print("the same id", found == hero)
print("Position", now:get(found, "Position"))
print("hp, armour", now:get(found, "Health"))

-- Damage is noticed, and changes nothing.
local digest = now:digest()
local file = assert(io.open(path, "r+b"))
file:seek("set", 40)
file:write "?"
file:close()
print("damaged", (pcall(ecs.load_file, now, path)))
print("unchanged", now:digest() == digest)
os.remove(path)
