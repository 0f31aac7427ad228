-- Ships dock at ports: an exclusive relation says where a ship is, and a port finds its ships in
-- the order in which they came. Another one is the queue.

local world = require("ecs").world()

world:component("Port", { "berths: i32 = 2", "goods: i32" })
world:component("Ship", { "cargo: i32" })
world:relation("DockedTo", { exclusive = true })
world:relation("WaitsFor", { exclusive = true })

-- Free berths go to those who wait, first come first served.
world:system("dock", { query = "Port:in", each = function(port, _, id)
  local free = port.berths - world:count("(DockedTo, $port)", { port = id })
  for ship in world:sources(id, "WaitsFor") do
    if free <= 0 then break end
    free = free - 1
    world:remove(ship, "WaitsFor")
    world:add(ship, "DockedTo", id)
  end
end })

-- A path reaches the port of each ship, and writes to it.
world:system("unload", {
  after = "dock",
  query = "Ship, DockedTo->Port",
  each = function(ship, port, _, id)
    ship.cargo, port.goods = ship.cargo - 1, port.goods + 1
    if ship.cargo == 0 then
      world:remove(id, "DockedTo")
    end
  end,
})

-- When a port is destroyed, its ships lose their ties: nobody has to untie them.
local ports = world:query "with Port"
world:system("divert", { query = "Ship:in, !DockedTo, !WaitsFor", each = function(ship, _, id)
  local port = ports:first()
  if ship.cargo > 0 and port then
    world:add(id, "WaitsFor", port)
  end
end })

local function names(entities)
  local list = {}
  for entity in entities do
    list[#list + 1] = world:name(entity)
  end
  return #list > 0 and table.concat(list, " ") or "-"
end

local function show(hour)
  for port, id in world:query("Port:in"):each() do
    print(hour, world:name(id), names(world:sources(id, "DockedTo")),
      "waiting: " .. names(world:sources(id, "WaitsFor")), "goods: " .. port.goods)
  end
end

local oslo, riga = world:spawn { Port = true }, world:spawn { Port = { berths = 1 } }
world:name(oslo, "oslo")
world:name(riga, "riga")
for i, name in ipairs { "ada", "bea", "cleo", "dora" } do
  world:name(world:spawn { Ship = { cargo = i + 1 }, WaitsFor = oslo }, name)
end

for hour = 1, 7 do
  if hour == 4 then
    world:despawn(oslo)
  end
  world:update(1)
  show(hour)
end
