-- Events of the model. An event is to it a component that no entity has, whose rows stand in
-- `world.events`, by name: { rows = list of { row = { name -> stored value }, scope, dropped },
-- aged = how many were there when the last update ended }. Its name tells it apart. Returns methods
-- to be mixed into the model's world.

local toggles = require "spec.support.model_toggles"
local types = require "spec.support.model_types"
local refuse = types.refuse

local methods = {}

-- The names that random programs give events, and nothing else.
methods.EVENTS = { "Struck", "Heard" }

local is_event = {}
for _, name in ipairs(methods.EVENTS) do
  is_event[name] = true
end

function methods.is_event(name)
  return is_event[name] or false
end

local function need_event(world, name)
  local event = world.events[name]
  if not event then
    refuse("unknown event '%s'", tostring(name))
  end
  return event, world.components_by_name[name]
end

function methods.event(world, name, fields)
  local id, report = world:component(name, fields)
  world.events[name] = world.events[name] or { rows = {}, aged = 0 }
  return id, report
end

function methods.emit(world, name, ...)
  local event, component = need_event(world, name)
  local count, patch = select("#", ...), {}
  if count == 1 and type((...)) == "table" then
    patch = types.patch(world, component, (...), name)
  elseif count > 0 then
    patch = types.positional(world, component, ...)
  end
  local stored = types.merge(component, types.initial(component), patch)
  event.rows[#event.rows + 1] = { row = { [name] = stored }, scope = world.scopes[#world.scopes] }
end

-- ---- reading -----------------------------------------------------------------------------

local function view_of(world, component, entry)
  return world:view(component, function()
    return entry.row[component.name]
  end, true)
end

-- Those that are there now, as views.
function methods.events_of(world, name)
  local event, component = need_event(world, name)
  local views = {}
  for i, entry in ipairs(event.rows) do
    views[i] = view_of(world, component, entry)
  end
  return views
end

-- How many a function that reads a field lets through.
function methods.count_events(world, name, field, fn)
  local _, component = need_event(world, name)
  local count, found = 0, false
  for _, known in ipairs(component.fields) do
    found = found or known.name == field
  end
  if not found then
    refuse("event '%s' has no field '%s'", name, field)
  end
  for _, view in ipairs(world:events_of(name)) do
    count = count + (fn(view) and 1 or 0)
  end
  return count
end

-- Calls a function with each event and a view of the component of the entity in its field `who`,
-- of those that have it.
function methods.each_struck(world, name, component_name, fn)
  local event, component = need_event(world, name)
  local other = world:need_component(component_name)
  local who = component.by_name.who
  if not who or who.type.name ~= "entity" then
    refuse("event '%s' leads to nobody", name)
  end
  local last = #event.rows
  world:in_form_stream(world.guarded, world, "form", function()
    for i = 1, last do
      local entry = event.rows[i]
      local id = types.read(world, who.type, entry.row[name].who)
      local stored = id ~= 0 and world.store[id]
        and toggles.found(world.store[id], { component = other })
      if stored then
        fn(view_of(world, component, entry), world:view(other, function()
          return stored
        end))
      end
    end
  end)
end

-- ---- scopes ------------------------------------------------------------------------------

local function each_entry(world, fn)
  for _, event in pairs(world.events) do
    for _, entry in ipairs(event.rows) do
      fn(entry)
    end
  end
end

-- Takes out what was dropped; none of it had become old.
local function cut_dropped(world)
  for _, event in pairs(world.events) do
    local kept = {}
    for _, entry in ipairs(event.rows) do
      kept[#kept + 1] = not entry.dropped and entry or nil
    end
    event.rows = kept
  end
end

-- What a scope has emitted goes, when loops that were begun since are still open, with the last
-- scope.
function methods.drop_emitted(world, scope)
  each_entry(world, function(entry)
    entry.dropped = entry.dropped or entry.scope == scope
  end)
  local inside, loops = false, false
  for _, open in ipairs(world.scopes) do
    loops = loops or inside and open.kind == "loop"
    inside = inside or open == scope
  end
  if not loops then
    cut_dropped(world)
  end
end

-- What a scope has emitted that has ended is that of the one around it.
function methods.hand_on_emitted(world, scope, outer)
  each_entry(world, function(entry)
    if entry.scope == scope then
      entry.scope = outer
    end
  end)
  if #world.scopes == 0 then
    cut_dropped(world)
  end
end

-- ---- time, rows, copies --------------------------------------------------------------------

-- At the end of an update.
function methods.age_events(world)
  for _, event in pairs(world.events) do
    table.move(event.rows, event.aged + 1, #event.rows + event.aged, 1)
    event.aged = #event.rows
  end
end

-- A world's rows with those of events among them, by whatever key.
function methods.with_events(events, store)
  local all = {}
  for id, row in pairs(store) do
    all[id] = row
  end
  for _, event in pairs(events) do
    for _, entry in ipairs(event.rows) do
      all[entry] = entry.row
    end
  end
  return all
end

-- Copies, whose rows a function makes.
function methods.copy_events(events, copy_row)
  local copy = {}
  for name, event in pairs(events) do
    local rows = {}
    for i, entry in ipairs(event.rows) do
      rows[i] = { row = copy_row(entry.row) }
    end
    copy[name] = { rows = rows, aged = event.aged }
  end
  return copy
end

-- Those of a copy, and none of what it does not know.
function methods.restore_events(world, copy)
  for name in pairs(world.events) do
    world.events[name] = copy[name] or { rows = {}, aged = 0 }
  end
  for name, event in pairs(copy) do
    world.events[name] = event
  end
end

return methods
