-- What an editor or a console needs: everything in a world can be listed.

local ecs = require "ecs"
local world = ecs.world { tag = 7 }

world:component("Offset", { "x: f32", "y: f32" })
world:component("Body", {
  "at: Offset",
  { "mass: f64 = 1", unit = "kg", min = 0 },
  "shape: enum(circle, box) = box",
  "marks: u8[3]",
  { "holds: entity", doc = "what it carries" },
  "label: string",
  doc = "what can be pushed around",
})
world:tag "Player"
world:resource("Gravity", { "y: f32 = -10" })

local crate = world:spawn { Body = { label = "crate", mass = 40, marks = { 1, 2, 3 } } }
local hero = world:spawn {
  Body = { at = { x = 2.5 }, shape = "circle", holds = crate, label = "hero" }, Player = true,
}
world:name(hero, "hero")
world:system("fall", { query = "Body", each = function() end })

local function print_row(format, ...)
  print((format:format(...):gsub("%s+$", "")))
end

-- A value as Lua would have it written; keys in order.
local function show(value)
  if type(value) ~= "table" then
    return type(value) == "string" and ("%q"):format(value) or tostring(value)
  end
  local keys, parts = {}, {}
  for key in pairs(value) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    parts[#parts + 1] = math.type(key) and show(value[key]) or key .. " = " .. show(value[key])
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function print_component(name)
  local component = world:describe(name)
  print_row("%s: %s, %d bytes", name, ecs.format(component.id), component.size)
  for _, field in ipairs(component.fields) do
    print_row("  %2d  %-8s %-18s default %-18s %s", field.offset, field.name, field.type,
      show(field.default), field.doc or field.unit or "")
  end
end

local function print_entity(entity)
  print_row("%s  %s", ecs.format(entity), world:name(entity) or "")
  for name, value in world:components(entity) do
    print_row("  %s", name)
    for _, field in ipairs(world:describe(name).fields) do
      local part = value[field.name]
      print_row("    %-8s %s", field.name,
        field.type == "entity" and ecs.format(part) or show(part))
    end
  end
end

print "Components"
local world_now = world:describe()
for _, name in ipairs(world_now.components) do
  print_component(name)
end

print "\nEntities"
for _, entity in ipairs { crate, hero } do
  print_entity(entity)
end

print "\nTables"
for _, tab in ipairs(world_now.tables) do
  if tab.rows > 0 then
    print_row("%d of %d rows  %s", tab.rows, tab.capacity, table.concat(tab.types, ", "))
    print_row("  columns: %s", table.concat(tab.columns, " "))
  end
end

print "\nSystems"
for _, system in ipairs(world_now.systems) do
  print_row("%s in %s, tier %s", system.name, system.phase, system.tier)
end

print_row("\n%d entities, %d rows", world_now.entities, world_now.rows)
print_row("gravity: %s", world:res("Gravity").y)
