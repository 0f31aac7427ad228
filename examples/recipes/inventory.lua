-- Inventories: a field of type `any` holds a Lua table. To save it, the world asks a codec for
-- its bytes; here one for tables of names and counts.

local ecs = require "ecs"

local codec = {
  encode = function(items)
    local names, parts = {}, {}
    for name in pairs(items) do
      names[#names + 1] = name
    end
    table.sort(names)
    for i, name in ipairs(names) do
      parts[i] = string.pack("<s1i4", name, items[name])
    end
    return table.concat(parts)
  end,
  decode = function(bytes)
    local items, at = {}, 1
    while at <= #bytes do
      local name, count
      name, count, at = string.unpack("<s1i4", bytes, at)
      items[name] = count
    end
    return items
  end,
}

local function declare(world)
  world:component("Bag", { "items: any", "limit: i32 = 10" })
end

local function give(world, entity, name, count)
  local items, limit = world:get(entity, "Bag")
  items = items or {}
  local all = count
  for _, n in pairs(items) do
    all = all + n
  end
  if all > limit then
    return false
  end
  items[name] = (items[name] or 0) + count
  world:set(entity, "Bag.items", items)
  return true
end

local world = ecs.world()
declare(world)
local hero = world:spawn { Bag = {} }
world:name(hero, "hero")
print("arrows", give(world, hero, "arrow", 7))
print("lamp", give(world, hero, "lamp", 1))
print("anvils", give(world, hero, "anvil", 9))

local bytes = world:save { codec = codec }
print("without a codec", (pcall(world.save, world)))

local other = ecs.world()
declare(other)
other:load(bytes, { codec = codec })
local items = other:get(other:lookup "hero", "Bag.items")
print("loaded", "arrow", items.arrow, "lamp", items.lamp)
