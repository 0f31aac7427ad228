-- The changes that the inspector's page may make to a world. Each has an inverse for undo, which is
-- applied if the entity is still alive and the value is still the one that was set.

local answers = require "ecs.inspect.answers"
local dump = require "ecs.entity_dump"
local json = require "ecs.json"
local native = require "ecs.native"

local edits = {}

local KEPT = 100         -- changes that can be undone

-- Raises a message for the page, unless a condition holds.
local function need(condition, format, ...)
  return condition or error({ message = format:format(...) }, 0)
end

local function text_in(given, key)
  local text = given[key]
  return need(type(text) == "string" and text ~= "" and text, "'%s' is missing", key)
end

local function entity_in(inspector, given)
  return need(math.type(given.id) == "integer" and inspector.world:alive(given.id) and given.id,
    "this entity is not alive")
end

-- The component and the cell that a path like "Body.at.x" or "Body.m[2]" leads to.
local function cell_at(world, id, path)
  local component, found = need(path:match "^([^.]+)%.", "write Component.field"), nil
  need(world:has(id, component), "the entity has no '%s'", component)
  local function visit(at, _, type, field)
    found = at == path and { type = type, min = field.min, max = field.max } or found
  end
  dump.cells(json.describer(world), component, world:read(id, component), visit)
  return component, need(found, "there is no field '%s'", path)
end

local function entity_named(world, text)
  local index, generation, tag = text:sub(-60):match "(%d+)v(%d+)@(%d+)%)?$"
  if text == "null" or text == "" then
    return 0
  end
  return index and tonumber(tag) << 44 | tonumber(generation) << 28 | tonumber(index)
    or math.tointeger(tonumber(text))
    or need(world:lookup(text), "no entity is named '%s'", text)
end

-- Converts a text that was typed into the page to a value of a field.
local function value_of(world, field, text)
  local type = field.type
  if type:find "^[iuf]%d+$" then
    local value = ({ nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge })[text]
      or need(not text:find(type:find "^f" and "[xXpP]" or "[pP]") and tonumber(text),
        "'%s' is not a number", text)
    local low, high = tonumber(field.min), tonumber(field.max)
    need((not low or value >= low) and (not high or value <= high), "%s is out of range: the "
      .. "component declares %s to %s", text, field.min or "any", field.max or "any")
    return value
  elseif type == "bool" then
    return need(text == "true" or text == "false", "write true or false") and text == "true"
  elseif type == "entity" then
    return entity_named(world, text)
  end
  need(type == "string" or type:find "^enum", "a field of type %s cannot be edited here", type)
  return text
end

-- Calls a method of the world for a component, or for a tie to one target.
local function call(world, method, id, name, target)
  return world[method](world, id, name, table.unpack { target })
end

local deeds = {}

function deeds.set(inspector, given)
  local world, id, path = inspector.world, entity_in(inspector, given), text_in(given, "field")
  local component, cell = cell_at(world, id, path)
  need(type(given.value) == "string", "'value' must be a string")
  local value = value_of(world, cell, given.value)
  need(value ~= 0 or path ~= component .. ".target" or not world:describe(component).relation,
    "a relation needs a target: remove '%s' instead", component)
  local before = world:get(id, path)
  world:set(id, path, value)
  local after = world:get(id, path)
  return ("set %s of %s"):format(path, dump.entity(world, id)), function(e)
    local now = world:alive(e) and world:has(e, component) and world:get(e, path)
    need(now == after or now ~= now and after ~= after, "%s has changed since", path)
    world:set(e, path, before)
  end
end

-- What gives entities as they are now back, as JSON.
local function keep(world, what)
  local ok, text = native.try(json.encode, world, what)
  return function()
    return need(ok and text, "some of its values cannot be kept: %s", tostring(text))
  end
end

function deeds.add(inspector, given)
  local world, id, name = inspector.world, entity_in(inspector, given), text_in(given, "component")
  local target = type(given.target) == "string" and entity_named(world, given.target) or nil
  need(not call(world, "has", id, name, target), "it has '%s' already", name)
  local before = target and world:has(id, name) and world:describe(name).exclusive
    and keep(world, id)
  local had, brought = {}, {}
  for other in world:components(id) do
    had[other] = true
  end
  call(world, "add", id, name, target)
  for other in world:components(id) do   -- it requires them
    brought[#brought + 1] = type(other) == "string" and not had[other] and other or nil
  end
  return ("add %s to %s"):format(name, dump.entity(world, id)), function(e)
    need(world:alive(e) and call(world, "has", e, name, target), "it no longer has '%s'", name)
    local text = before and before()
    call(world, "remove", e, name, target)
    for i = 1, #brought * #brought do   -- some may require each other
      pcall(world.remove, world, e, brought[i % #brought + 1])
    end
    if text then
      json.restore(world, e, text, name)
    end
  end
end

function deeds.remove(inspector, given)
  local world, id, name = inspector.world, entity_in(inspector, given), text_in(given, "component")
  need(world:has(id, name), "it has no '%s'", name)
  local before = keep(world, id)
  world:remove(id, name)
  return ("remove %s from %s"):format(name, dump.entity(world, id)), function(e)
    need(world:alive(e) and not world:has(e, name), "it is dead, or has '%s' again", name)
    json.restore(world, e, before(), name)
  end
end

function deeds.spawn(inspector, given)
  local world = inspector.world
  local id = given.prefab and given.prefab ~= "" and world:instantiate(text_in(given, "prefab"))
    or world:spawn()
  return "spawn " .. dump.entity(world, id), function(e)
    world:despawn(need(world:alive(e) and e, "it is dead"))
  end, id
end

-- Returns an entity, its children, their children, and so on, as a list.
local function tree_of(world, id, list)
  list[#list + 1] = id
  for child in world:children(id) do
    tree_of(world, child, list)
  end
  return list
end

function deeds.despawn(inspector, given)
  local world, id = inspector.world, entity_in(inspector, given)
  local title = dump.entity(world, id)
  local before = keep(world, tree_of(world, id, {}))
  world:despawn(id)
  return "despawn " .. title, function(e)
    local ids = json.decode(world, before(), { outside = true })
    for _, earlier in ipairs(inspector.undo) do
      earlier.id = ids[earlier.id] or earlier.id
    end
    return ids[e]
  end
end

-- Whether a system, an observer or a phase is on.
local function is_on(world, name)
  local about = world:describe()
  for _, kind in ipairs { "systems", "observers", "phases" } do
    for _, each in ipairs(about[kind]) do
      if each.name == name then
        return each.enabled
      end
    end
  end
end

function deeds.switch(inspector, given)
  local world, name, on = inspector.world, text_in(given, "name"), given.on == true
  local before = is_on(world, name)
  world:switch(name, on)
  return ("switch %s %s"):format(name, on and "on" or "off"), function()
    need(is_on(world, name) == on, "%s has been switched since", name)
    world:switch(name, before)
  end
end

local others = {}

function others.undo(inspector)
  local last = need(table.remove(inspector.undo), "nothing has been changed")
  local ok, problem = native.try(last.undo, last.id)
  need(ok, "'%s' is not undone: %s", last.title, answers.problem(problem))
  return { done = "undone: " .. last.title, id = problem }
end

others.pause = function(inspector, given) inspector.paused = given.on == true end
others.step = function(inspector) inspector.paused, inspector.steps = true, inspector.steps + 1 end

function others.speed(inspector, given)
  local speed = type(given.speed) == "number" and given.speed + 0.0
  inspector.speed = need(speed and speed >= 0.01 and speed <= 64 and speed,
    "the speed must be a number from 0.01 to 64")
end

others.back = function(inspector, given) return inspector:back(given.number) end
others.reset_counters = function(inspector) inspector.world:reset_counters() end

function others.reload(inspector)
  local session = need(inspector.session, "the program has not passed a session of live scripts")
  local swapped, message = session:poll(true)
  return { done = swapped and "reloaded" or "not reloaded",
    error = message and answers.problem(message) or nil }
end

--- Makes a change that the page requests. Returns the HTTP status and the answer.
function edits.run(inspector, body)
  if not inspector.edit then
    return 403, { error = "the program opened the inspector without edit = true" }
  end
  -- JSON that is nested thousands of levels deep takes long to parse and cannot be a valid request.
  local given = select(2, body:gsub("[%[{]", "")) < 1000 and json.parse(body)
  if type(given) ~= "table" then
    return 400, { error = "the body is not a JSON object" }
  end
  local deed, other = deeds[given.op], others[given.op]
  if not deed and not other then
    return 400, { error = "there is no such change" }
  end
  local ok, title, undo, id = native.try(deed or other, inspector, given)
  if not ok then
    return 400, { error = answers.problem(title) }
  elseif other then
    return 200, title or { done = given.op }
  end
  inspector.undo[#inspector.undo + 1] = { title = title, undo = undo, id = id or given.id }
  if #inspector.undo > KEPT then
    table.remove(inspector.undo, 1)
  end
  return 200, { done = title, id = id }
end

return edits
