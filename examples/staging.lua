-- Changing entities while going through them: what changes the tables is kept back until the
-- loop, the system or the `defer` that is open ends.

local ecs = require "ecs"
local world = ecs.world()

world:component("Cell", { "size: f32 = 1" })
world:tag "Marked"

local cells = world:query "Cell"

world:spawn_many(3, { Cell = { size = 2 } })

-- In a loop: fields change at once, spawns and despawns when the loop is over. What is spawned
-- is not visited.
for cell, entity in cells:each() do
  cell.size = cell.size / 2
  local twin = world:spawn { Cell = { size = cell.size } }
  assert(world:alive(twin) and not world:has(twin, "Cell"))   -- alive, but empty so far
  if entity % 2 == 0 then
    world:despawn(entity)
  end
end
print(("after the loop: %d cells"):format(cells:count()))

-- By hand: everything between defer and commit happens at commit, several changes of an entity
-- as one.
local first = cells:first()
world:defer()
world:add(first, "Marked")
world:remove(first, "Cell")
world:set(first, "Cell", { size = 9 })
print(("before commit: %s, Marked %s"):format(world:get(first, "Cell.size"),
  world:has(first, "Marked")))
world:commit()
print(("after commit: %s, Marked %s"):format(world:get(first, "Cell.size"),
  world:has(first, "Marked")))

-- Or not at all: what was spawned in between is dead then.
world:defer()
local ghost = world:spawn { Cell = {} }
world:despawn(first)
world:cancel()
print(("after cancel: ghost alive %s, first alive %s"):format(world:alive(ghost),
  world:alive(first)))

-- In a system: whoever comes later in the same update sees the change. The entity is the
-- argument behind dt.
world:system("divide", {
  query = "Cell, !Marked",
  each = function(cell, _, entity)
    if cell.size >= 1 then
      world:spawn { Cell = { size = cell.size / 2 } }
      world:set(entity, "Cell", { size = cell.size / 2 })
    end
  end,
})
world:system("report", {
  after = "divide",
  run = function()
    print(("in the update: %d cells"):format(cells:count()))
  end,
})
world:update(1)

-- An error drops what its system had staged, and nothing else.
world:system("divide", {
  query = "Cell",
  each = function(_, _, entity)
    world:despawn(entity)
    error("changed my mind")
  end,
})
local ok = pcall(world.update, world, 1)
print(("after an error: %s, %d cells"):format(ok, cells:count()))
