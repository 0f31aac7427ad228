-- What is switched off in the model: by row, the names of its components that are. It goes along
-- with a row, and with its copies. Returns methods to be mixed into the model's world.

local packed = require "spec.support.model_packed"

local methods = {}

local off = setmetatable({}, { __mode = "k" })

local function refuse(...)
  error(string.format(...), 0)
end

-- Whether a row has a component, by name, switched off.
function methods.is_off(row, name)
  return off[row] ~= nil and off[row][name] == true
end

-- Switches a component that the row has.
function methods.switch_off(row, name, is_off)
  if row[name] == nil then
    return
  end
  off[row] = off[row] or {}
  off[row][name] = is_off or nil
end

-- What a row has off the other one has off, too, by other names where there are any.
function methods.copy_off(row, copy, names)
  for name in pairs(off[row] or {}) do
    methods.switch_off(copy, names and names[name] or name, true)
  end
end

function methods.rename_off(row, old, new)
  if off[row] then
    off[row][new], off[row][old] = off[row][old], nil
  end
end

-- Whether a part of a query's term finds its component in a row.
function methods.finds(row, item)
  local name, state = item.component.name, item.state
  if row[name] == nil then
    return false
  end
  return state == "any" or methods.is_off(row, name) == (state == "off")
end

-- What it finds there, or nil.
function methods.found(row, item)
  return methods.finds(row, item) and row[item.component.name] or nil
end

-- A term's modifiers without the state that they ask for, and that state.
function methods.state_of(modifiers)
  local others, asks_off = modifiers:gsub(":%s*off", "")
  local rest, asks_any = others:gsub(":%s*any", "")
  if asks_off + asks_any > 1 then
    refuse("malformed term '%s'", modifiers)
  end
  return rest, asks_off > 0 and "off" or asks_any > 0 and "any" or "on"
end

function methods.need_state(component, state)
  if state ~= "on" and not component.toggle then
    refuse("'%s' cannot be switched off", component.name)
  end
end

-- Whether rows of one table may differ in what a query's terms find.
function methods.has_toggles(query)
  return packed.names_any(query, "toggle")
end

-- An error when a component, which is to be no toggle any more, is off in a row.
function methods.refuse_off(component, wanted, store)
  for _, row in pairs(component.toggle and not wanted.toggle and store or {}) do
    if methods.is_off(row, component.name) then
      refuse("'%s' cannot lose toggle", component.name)
    end
  end
end

local function switch(world, operation, id, name)
  local component = world:need_component(name)
  id = world:need_alive(id)
  if not component.toggle then
    refuse("'%s' cannot be switched on and off", component.name)
  end
  world:perform { op = operation, id = id, component = component }
end

function methods.enable(world, id, name)
  switch(world, "enable", id, name)
end

function methods.disable(world, id, name)
  switch(world, "disable", id, name)
end

function methods.enabled(world, id, name)
  id = world:need_alive(id)
  local component = world:need_component(name)
  if component.ties then
    return world:has_tie(id, name)
  end
  return world:stored(id, component) ~= nil and
    not methods.is_off(world.store[id], component.name)
end

return methods
