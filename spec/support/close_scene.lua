-- Scenes for the end of a Lua state (reliability line 8): worlds, queries, views, snapshots and
-- loops held by globals, upvalues, suspended coroutines, any values and finalizers that call the
-- API.
-- Returns scene(seed), which leaves everything standing. Run by spec/c/test_lua_close.c.

local ecs = require "ecs"

local random                  -- random(n): 1 to n, by the seed
local worlds, objects         -- what was made, to be picked from
local snapshots               -- of any of the worlds
local act                     -- act(n): n random deeds

-- A codec that gives values which hold their world, and takes any.
local function codec_of(world)
  return { codec = {
    encode = function(value) return type(value) end,
    decode = function(text) return { text, world } end,
  } }
end

local function pick(list)
  return list[random(#list)]
end

-- Half of the worlds have no values of `any`, which snapshots do not keep.
local function new_world()
  local world, plain = ecs.world(), random(2) == 1
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Bag", { plain and "value: i64" or "value: any" })
  world:component("Label", { "text: string", "link: entity" })
  world:tag "Frozen"
  world:resource "Bag"
  world:spawn_many(random(20), { Position = { 1, 2 } })
  for _ = 1, random(5) do
    world:spawn { Label = { text = "text " .. random(1000) }, Bag = { plain and 7 or { 7 } } }
  end
  world:name(world:query("Bag"):first(), "bag " .. random(9))
  worlds[#worlds + 1] = world
  return world
end

-- Things a script may do at any time; those that fail are errors like any other.
local deeds = {
  function(world) world:spawn { Position = true, Bag = { { world } } } end,
  function(world) world:spawn { Bag = { function() return world end } } end,
  function(world) world:res("Bag").value = { world:query "Bag" } end,
  function(world) world:update(0.1) end,
  function(world) world:run("update", 0.1) end,
  function(world) if random(5) == 1 then world:close() end end,
  function(world) if random(3) == 1 then world:defer() end end,
  function(world) world:commit() end,
  function(world) world:cancel() end,
  function(world) world:undeclare "Label" end,
  function(world) world:tag("T" .. random(100)) end,
  function(world) objects[#objects + 1] = world:query "Position" end,
  function(world)
    for position, e in world:query("Position"):each() do
      objects[#objects + 1] = position
      world:set(e, "Bag", { e })
      if random(4) == 1 then break end
    end
  end,
  function(world)
    world:query("Position"):each(function(position, _, e)
      objects[#objects + 1] = position
      if random(9) == 1 then world:despawn(e) end
      if random(20) == 1 then error "on purpose" end
    end, 1)
  end,
  function(world)
    for chunk in world:query("Position"):chunks() do
      objects[#objects + 1] = chunk:column "Position.x"
      objects[#objects + 1] = chunk.entities
    end
  end,
  function(world)
    world:system("s" .. random(3), { query = "Position", run = function(w, _, query)
      objects[#objects + 1] = query
      if random(3) == 1 then w:spawn { Bag = { w } } end
      if random(5) == 1 then error "on purpose" end
    end })
  end,
  function(world)
    local near = world:index("near", { query = "Position, Label?", grid = "Position", cell = 1 })
    objects[#objects + 1] = near
    for position in near:within(0, 0, 100) do
      objects[#objects + 1] = position
      act(random(2) - 1)
      if random(4) == 1 then break end
    end
  end,
  function(world)
    local keys = world:index("keys" .. random(2), { query = "Position", hash = function(position)
      objects[#objects + 1] = position
      if random(50) == 1 then act(1) end
      return position.x, world
    end })
    objects[#objects + 1] = keys
    for position in keys:find(1) do
      objects[#objects + 1] = position
      if random(4) == 1 then coroutine.yield() end
    end
  end,
  function(world) world:undeclare(random(2) == 1 and "near" or "keys1") end,
  function(world) world:index("near"):nearest(1, 2, 3) end,
  function(world) world:on_error(function() return world end) end,
  function(world) world:remove_system("s" .. random(3)) end,
  function(world) for name in world:components(world:spawn()) do assert(name) end end,
  function(world) world:describe() end,
  function(world) snapshots[#snapshots + 1] = world:snapshot() end,
  function(world)
    local snapshot = world:snapshot()
    objects[#objects + 1] = snapshot
    pick(worlds):res("Bag").value = { snapshot, world }
  end,
  function(world)
    for _, snapshot in ipairs(snapshots) do pcall(world.restore, world, snapshot) end
  end,
  function(world) world:restore(pick(objects)) end,
  function(world)
    local snapshot = world:snapshot()
    act(3)
    world:restore(snapshot)
  end,
  function(world) world:load(world:save(codec_of(world)), codec_of(world)) end,
  function(world) pick(worlds):load(world:save(codec_of(world)), codec_of(world)) end,
  function(world) world:name(world:spawn(), "name " .. random(20)) end,
  function(world) world:name(world:query("Label"):first(), "label " .. random(3)) end,
  function(world) world:name(world:lookup "name 7" or world:spawn(), false) end,
  function(world)
    for i = 1, 9 do world:despawn(world:lookup("bag " .. i) or world:spawn()) end
  end,
  function() new_world() end,
  function() collectgarbage(random(2) == 1 and "collect" or "step") end,
  function() return pick(objects).x end,
  function() pick(objects).x = 1 end,
  function() return pick(objects):count() end,
  function() return pick(objects)[1] end,
  function() return pick(objects)() end,
  function() error({}) end,
}

-- One of the worlds, mostly an open one.
local function pick_world()
  local world = pick(worlds)
  for _ = 1, 4 do
    if tostring(world):find "closed" then world = pick(worlds) end
  end
  return world
end

function act(times)
  for _ = 1, times do
    pcall(pick(deeds), pick_world())
  end
end

-- Ways for an object to be held until the end.
local holders = {
  function(object) _G["held" .. random(10)] = object end,
  function(object) objects[#objects + 1] = function() return object end end,
  function(object) objects[#objects + 1] = setmetatable({}, { __index = object }) end,
  function(object)
    objects[#objects + 1] = setmetatable({ object }, { __gc = function() act(3) end })
  end,
  function(object)
    setmetatable({ object }, { __gc = function(self)
      act(2)
      objects[#objects + 1] = self
      setmetatable(self, getmetatable(self))
    end })
  end,
  function(object)
    local co = coroutine.create(function()
      local _ <close> = setmetatable({}, { __close = function() act(2) end })
      coroutine.yield(object)
      act(2)
    end)
    coroutine.resume(co)
    objects[#objects + 1] = co
  end,
  function(object)
    pcall(function() pick(worlds):spawn { Bag = { object } } end)
  end,
}

-- A coroutine that waits inside of loops, one in the other.
local function wait_in_loops(world)
  local co = coroutine.create(function()
    for position in world:query("Position"):each() do
      for chunk in world:query("Bag"):chunks() do
        coroutine.yield(position, chunk)
        world:spawn { Bag = { position } }
      end
    end
  end)
  local ok, position, chunk = coroutine.resume(co)
  if not ok then return end
  objects[#objects + 1] = position
  objects[#objects + 1] = chunk
  pick(holders)(co)
end

-- A state that is closed while one of its worlds is in a loop, with a variable to be closed.
local function wait_with_world(world)
  local co = coroutine.wrap(function()
    local inner <close> = new_world()
    local _ <close> = world
    coroutine.yield(inner)
  end)
  co()
  pick(holders)(co)
end

return function(seed)
  local state = seed * 2654435761 % 4294967296
  function random(n)
    state = (state * 1664525 + 1013904223) % 4294967296
    return (state >> 16) % n + 1
  end
  worlds, objects, snapshots = {}, { {} }, { {} }
  for _ = 1, random(3) do new_world() end
  for _ = 1, random(12) do
    act(random(4))
    pick(holders)(pick(objects))
    pick(holders)(pick(worlds))
    if random(2) == 1 then pick(holders)(pick(snapshots)) end
    if random(3) == 1 then pcall(wait_in_loops, pick(worlds)) end
    if random(6) == 1 then pcall(wait_with_world, pick(worlds)) end
  end
  if random(4) == 1 then worlds = { ecs.world() } end
end
