-- A debugger's dump of an entity: every component and field, whatever they are.

local ecs = require "ecs"
local world = ecs.world { tag = 7 }

world:component("Offset", { "x: f32", "y: f32" })
world:component("Body", {
  "at: Offset", { "mass: f64 = 1", unit = "kg" }, "shape: enum(circle, box)", "marks: u8[3]",
  "holds: entity",
})
world:tag "Player"

local crate = world:spawn { Body = { shape = "box", mass = 40 } }
local hero = world:spawn { Body = { at = { x = 2.5 }, holds = crate }, Player = true }
world:name(crate, "crate")
world:name(hero, "hero")

local function show(value, kind)
  if kind == "entity" then
    return value == ecs.null and "nobody" or ecs.format(value) .. " " .. (world:name(value) or "")
  end
  return kind == "string" and ("%q"):format(value) or tostring(value)
end

-- Calls fn(path, value, kind, unit) for every field, inside nested ones and arrays too.
local function walk(component, value, prefix, fn)
  for _, field in ipairs(world:describe(component).fields) do
    local path, inner = prefix .. field.name, value[field.name]
    local element, count = field.type:match "^([%w_]+)%[(%d+)%]$"
    if count then
      for i = 1, tonumber(count) do
        fn(("%s[%d]"):format(path, i), inner[i], element, field.unit)
      end
    elseif type(inner) == "table" then
      walk(field.type, inner, path .. ".", fn)
    else
      fn(path, inner, field.type, field.unit)
    end
  end
end

local function dump(entity)
  print(ecs.format(entity), world:name(entity) or "")
  for name, value in world:components(entity) do
    print("  " .. name)
    if value ~= true then
      walk(name, value, "", function(path, part, kind, unit)
        print(("    %-10s %s %s"):format(path, show(part, kind), unit or ""):match "^(.-)%s*$")
      end)
    end
  end
end

dump(hero)
