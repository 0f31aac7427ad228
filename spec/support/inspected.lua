-- A world that the page of the inspector is tried on, in a process of its own: its first argument
-- is a directory for scripts, its second how many seconds it lasts, unless its script goes.

local ecs = require "ecs"
local live = require "ecs.live"
local socket = require "socket"

local MARKUP = "<img src=x onerror=\"document.title='owned'\">"
local directory, seconds = arg[1], tonumber(arg[2])

local world = ecs.world { tag = 5 }
world:component("Position", { "x: f32", "y: f32" })
world:component("Health", { { "hp: i32 = 100", min = 0, max = 200, unit = "hp", doc = MARKUP } })
world:component("Label", { "text: string" })
world:component("Mind", { "kind: enum(calm, wild)", "awake: bool", "friend: entity" })
world:relation "Likes"
world:tag "Frozen"
world:prefab("Orc", { Health = true })
for i = 1, 50 do
  world:spawn { Position = { i, i % 7 }, Health = { i }, Label = { MARKUP } }
end
local hero = world:spawn { Position = { 25, 3 }, Health = { 100 }, Label = { MARKUP },
  Mind = true }
world:name(world:spawn(), "pal")
world:name(world:spawn { ChildOf = hero }, "hat")
world:name(hero, "hero " .. MARKUP:gsub("%.", ""))
world:system("drift", { query = "Position", each = function(position, dt)
  position.y = position.y + dt
end })

local file <close> = assert(io.open(directory .. "/rules.lua", "w"))
file:write(("error(%q)\n"):format(MARKUP .. " is not right"))
file:close()
local session = live.open(world, { directory }, { on_error = function() end })
local inspector <close> = require("ecs.inspect").open(world, { session = session, edit = true,
  port = 24000 + (os.time() * 7 + (os.clock() * 1e6 // 1 | 0)) % 20000 })
io.stdout:flush()
local stop = socket.gettime() + seconds
repeat
  inspector:update(1 / 60)
  inspector:poll(1 / 60)
  local script = io.open(directory .. "/rules.lua")
  if script then
    script:close()
  end
until not script or socket.gettime() > stop
