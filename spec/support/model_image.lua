-- Copies of the model: snapshots, images, and what a digest depends on. Returns methods to be
-- mixed into the model's world.

local relations = require "spec.support.model_relations"
local toggles = require "spec.support.model_toggles"
local types = require "spec.support.model_types"
local refuse = types.refuse

local methods = {}

local of_key, split_key = relations.of_key, relations.split_key

-- ---- copies ------------------------------------------------------------------------------

-- A stored value; what `any` fields hold stays the same thing.
local function copy_stored(kind, stored)
  if kind.kind == "scalar" then
    return stored
  end
  local copy = {}
  for i = 1, kind.n or 0 do
    copy[i] = copy_stored(kind.of, stored[i])
  end
  for _, field in ipairs(kind.fields or {}) do
    copy[field.name] = copy_stored(field.type, stored[field.name])
  end
  return copy
end

local function copy_row(known, row)
  local copy = {}
  for name, stored in pairs(row) do
    copy[name] = copy_stored(of_key(known, name), stored)
  end
  toggles.copy_off(row, copy)
  return copy
end

local function copy_flat(from)
  local copy = {}
  for key, value in pairs(from) do
    copy[key] = value
  end
  return copy
end

local function copy_ids(from)
  local copy = copy_flat(from)
  for _, list in ipairs { "born", "living", "free", "retired", "groups" } do
    copy[list] = copy_flat(from[list])
  end
  return setmetatable(copy, getmetatable(from))
end

local function copy_each(list)
  local copy = {}
  for name, entry in pairs(list) do
    copy[name] = copy_flat(entry)
  end
  return copy
end

-- Times and switches, by name, of what is not there, too.
local function timings(world)
  local phases, systems = copy_each(world.absent.phases), copy_each(world.absent.systems)
  for _, phase in ipairs(world.phases) do
    phases[phase.name] = { on = phase.on, behind = phase.behind }
  end
  for name, system in pairs(world.systems) do
    systems[name] = {
      on = system.on, elapsed = system.elapsed, timer = system.timer,
      has_run = system.has_run or false, parked = system.parked or false,
      streams = system.streams,
    }
  end
  return phases, systems
end

-- What the copy does not know is as newly registered; what is not there is kept.
local function apply_timings(world, copy)
  world:start_tick(copy.tick)
  world.stream = world.copy_stream(copy.stream)
  world.absent = { phases = copy_each(copy.phases), systems = copy_each(copy.systems) }
  for _, phase in ipairs(world.phases) do
    phase.on, phase.behind = true, 0
    world:take_up("phases", phase)
  end
  for _, system in pairs(world.systems) do
    system.on, system.elapsed, system.timer = system.declared_on, 0, 0
    system.has_run, system.parked, system.streams = false, false, 0
    world:take_up("systems", system)
  end
end

-- Everything but components and code.
local function take(world)
  local known = world.components_by_name
  local copy = { ids = copy_ids(world.ids), store = {}, resources = {}, names = {} }
  for id, row in pairs(world.store) do
    copy.store[id] = copy_row(known, row)
  end
  copy.resources = copy_row(known, world.resources)
  copy.names = copy_flat(world.names)
  copy.events = world.copy_events(world.events, function(row)
    return copy_row(known, row)
  end)
  copy.packed, copy.tied = world.copy_packed(world.packed), world.copy_packed(world.tied)
  copy.phases, copy.systems = timings(world)
  copy.tick, copy.stream = world.tick, world.copy_stream(world.stream)
  return copy
end

local function has_value(kind, stored)
  if kind.kind == "scalar" then
    return kind.name == "any" and stored ~= types.NIL
  end
  for i = 1, kind.n or 0 do
    if has_value(kind.of, stored[i]) then
      return true
    end
  end
  for _, field in ipairs(kind.fields or {}) do
    if has_value(field.type, stored[field.name]) then
      return true
    end
  end
  return false
end

-- An error when any `any` field has a value.
local function refuse_any(world)
  local function check(row)
    for name, stored in pairs(row) do
      if has_value(of_key(world.components_by_name, name), stored) then
        refuse("component '%s' has values in `any` fields", name)
      end
    end
  end
  for _, row in pairs(world.store) do
    check(row)
  end
  check(world.resources)
end

-- ---- snapshots ---------------------------------------------------------------------------

function methods.snapshot(world)
  world:end_loops("a snapshot")
  refuse_any(world)
  local copy = take(world)
  copy.world, copy.version, copy.id_of = world, world.version, {}
  for name, component in pairs(world.components_by_name) do
    copy.id_of[name] = component.id
  end
  return copy
end

-- ---- components of another world ------------------------------------------------------------

-- A type with the components that it is made of replaced by those of the same names.
local function remap(kind, known)
  if kind.kind == "struct" then
    return known[kind.name]
  elseif kind.kind == "array" then
    return { kind = "array", n = kind.n, of = remap(kind.of, known) }
  end
  return kind
end

-- Gives a component the fields of another one.
local function fill(component, from, known)
  component.fields, component.by_name, component.requires = {}, {}, {}
  component.lines, component.was, component.former = from.lines, from.was, from.former
  component.sparse, component.toggle, component.ties = from.sparse, from.toggle, from.ties
  component.track = from.track
  for i, required in ipairs(from.requires) do
    component.requires[i] = known[required.name]
  end
  for i, field in ipairs(from.fields) do
    local copy = { name = field.name, type = remap(field.type, known), default = field.default }
    component.fields[i], component.by_name[field.name] = copy, copy
  end
  return component
end

local function empty(name)
  return { kind = "struct", name = name }
end

-- Copies of components, made of each other: name -> component.
local function copy_components(...)
  local copies, from = {}, {}
  for _, components in ipairs { ... } do
    for name, component in pairs(components) do
      if not copies[name] then
        copies[name], from[name] = empty(name), component
      end
    end
  end
  for name, component in pairs(copies) do
    fill(component, from[name], copies)
  end
  return copies
end

local function depth_of(kind)
  local depth = 0
  for _, field in ipairs(kind.fields or {}) do
    local inner = field.type.of or field.type
    depth = inner.kind == "struct" and math.max(depth, depth_of(inner) + 1) or depth
  end
  return depth
end

-- In the order in which an image has them.
local function in_order(components)
  local list = {}
  for _, component in pairs(components) do
    list[#list + 1] = component
  end
  table.sort(list, function(a, b)
    local one, two = depth_of(a), depth_of(b)
    if one ~= two then
      return one < two
    end
    return a.name < b.name
  end)
  return list
end

-- ---- images ------------------------------------------------------------------------------

-- A stored value with its ids changed by a function.
local function translate(kind, stored, change)
  if kind.kind == "scalar" then
    return kind.name == "entity" and change(stored) or stored
  end
  for i = 1, kind.n or 0 do
    stored[i] = translate(kind.of, stored[i], change)
  end
  for _, field in ipairs(kind.fields or {}) do
    stored[field.name] = translate(field.type, stored[field.name], change)
  end
  return stored
end

-- All that a copy tells by ids, with the ids changed.
local function translate_all(copy, known, change)
  local store, names = {}, {}
  for id, row in pairs(copy.store) do
    local translated = {}
    for key, stored in pairs(row) do
      local name, target = split_key(key)
      translated[name and name .. ">" .. change(target) or key] =
        translate(of_key(known, key), stored, change)
    end
    toggles.copy_off(row, translated)
    store[change(id)] = translated
  end
  for name, stored in pairs(copy.resources) do
    copy.resources[name] = translate(known[name], stored, change)
  end
  for name, event in pairs(copy.events) do
    for _, entry in ipairs(event.rows) do
      entry.row[name] = translate(known[name], entry.row[name], change)
    end
  end
  for id, name in pairs(copy.names) do
    names[change(id)] = name
  end
  copy.store, copy.names = store, names
  for _, lists in ipairs { copy.packed, copy.tied } do
    for _, list in pairs(lists) do
      for at, id in ipairs(list) do
        list[at] = change(id)
      end
    end
  end
end

-- An image; without a codec `any` fields must have no values. It calls components by name.
function methods.save(world, options)
  world:end_loops("save")
  local image = take(world)
  image.has_any = not pcall(refuse_any, world)
  if image.has_any and not options then
    refuse("give a codec")
  end
  image.components = copy_components(world.components_by_name)
  for _, component in pairs(image.components) do
    component.was, component.former = nil, nil
  end
  translate_all(image, image.components, function(id)
    local component = world.components_by_id[id]
    return component and "#" .. component.name or world:alive(id) and id or 0
  end)
  return image
end

-- ---- images of other names -----------------------------------------------------------------

-- What components of an image are called now: a map from all of their names; an error when an
-- image has two of one name then.
local function called_now(world, image)
  local names, taken = {}, {}
  for name in pairs(image.components) do
    names[name] = name
    for _, live in ipairs(world.declared) do
      if live.former == name and not world.components_by_name[name] then
        names[name] = live.name
      end
    end
    if taken[names[name]] then
      refuse("the image has two of '%s'", names[name])
    end
    taken[names[name]] = true
  end
  return names
end

local function with_names(map, names)
  local copy = {}
  for name, value in pairs(map) do
    local head, target = split_key(name)
    copy[head and names[head] .. ">" .. target or names[name]] = value
  end
  return copy
end

-- The image with its components called as they are now, and a function for what its ids tell.
local function rename(world, image, names)
  local copy = copy_flat(image)
  names = names or called_now(world, image)
  copy.components = copy_components(image.components)
  for name, component in pairs(copy.components) do
    component.name = names[name]
  end
  copy.components = with_names(copy.components, names)
  copy.resources, copy.store = with_names(image.resources, names), {}
  copy.packed, copy.tied = with_names(image.packed, names), with_names(image.tied, names)
  for id, row in pairs(image.store) do
    copy.store[id] = with_names(row, names)
    toggles.copy_off(row, copy.store[id], names)
  end
  return copy, function(id)
    return type(id) == "string" and world.components_by_name[names[id:sub(2)]].id or id
  end
end

local function keeps_names(names)
  for now, name in pairs(names or {}) do
    if now ~= name then
      return false
    end
  end
  return true
end

-- The content of an image in the components that the world has, or an error.
local function fit(world, image, trace)
  local live = world.components_by_name
  local shadows = copy_components(image.components, live)
  local shadow = { components_by_name = shadows, declared = {}, version = 0, open_queries = {},
    packed = world.packed_of(image.packed, shadows), unsure = {}, repack = world.repack,
    tied = world.packed_of(image.tied, shadows), of_key = of_key, check_kind = world.check_kind,
    key_after = world.key_after, turn = world.turn }
  function shadow.alive(_, id)
    return id ~= 0 and (not image.alive or image.alive(id))
  end
  local wanted = {}
  for name, component in pairs(shadows) do
    shadow.declared[#shadow.declared + 1] = component
    local becomes = live[name] and fill(empty(name), live[name], shadows)
    if becomes and trace then
      becomes.names = trace(live[name])
    end
    if becomes and not (types.same(component, becomes) and keeps_names(becomes.names)) then
      wanted[component] = becomes
    end
  end
  local copy = { store = {}, resources = copy_row(image.components, image.resources),
    names = image.names }
  copy.events = world.copy_events(image.events, function(row)
    return copy_row(image.components, row)
  end)
  for id, row in pairs(image.store) do
    copy.store[id] = copy_row(image.components, row)
  end
  local store = world.with_events(copy.events, copy.store)
  local plan = world.plan_migration(shadow, wanted, store, copy.resources)
  world.commit_migration(shadow, plan, store, copy.resources)
  copy.components = shadows
  copy.packed, copy.unsure = world.copy_packed(shadow.packed), shadow.unsure
  copy.tied = world.copy_packed(shadow.tied)
  return copy
end

-- Declares what only the image has.
local function add_components(world, image, components)
  local live, new = world.components_by_name, {}
  for _, component in ipairs(in_order(image.components)) do
    if not live[component.name] then
      new[#new + 1] = { empty(component.name), components[component.name] }
    end
  end
  for _, pair in ipairs(new) do
    world:enter(pair[1])
  end
  for _, pair in ipairs(new) do
    fill(pair[1], pair[2], live)
  end
end

function methods.load(world, image, options)
  world:end_loops("load")
  if image.has_any and not options then
    refuse("give a codec")
  end
  local resolve
  image, resolve = rename(world, image)
  local copy = fit(world, image)
  add_components(world, image, copy.components)
  local known = world.components_by_name
  translate_all(copy, known, resolve)
  for name in pairs(world.resources) do
    copy.resources[name] = copy.resources[name] or types.initial(known[name])
  end
  world.ids, world.store = copy_ids(image.ids), copy.store
  world.resources, world.names, world.awaited = copy.resources, copy.names, {}
  world:restore_events(copy.events)
  world.packed, world.unsure = world.packed_of(copy.packed, known), {}
  world.tied = world.packed_of(copy.tied, known)
  for component in pairs(copy.unsure) do
    world.unsure[known[component.name]] = true
  end
  apply_timings(world, image)
  world.version, world.layouts = world.version + 1, {}
end

-- ---- snapshots of components that have changed since ----------------------------------------

-- What components were before they change, or go: layouts[version] = { id = component }.
function methods.keep_layout(world)
  local layout = {}
  for name, component in pairs(copy_components(world.components_by_name)) do
    layout[world.components_by_name[name].id] = component
  end
  if world.layouts then world.layouts[world.version] = layout end
end

-- What a field was called in the layout of a version, and whether it has been there all along.
local function trace_back(world, version, live, name)
  local after, lasted = live, true
  for at = world.version - 1, version, -1 do
    local before = (world.layouts[at] or {})[live.id]
    if before then
      local old = after.was and after.was[name]
      name = old and before.by_name[old] and old or name
      lasted, after = lasted and before.by_name[name] ~= nil, before
    end
  end
  return name, lasted
end

-- For each field what it was called in the layout of a version; false for one that is new. One that
-- was added since is what was dropped, and had its name, only if no other field is.
local function tracer(world, version)
  return function(live)
    local names, taken = {}, {}
    for _, first in ipairs { true, false } do
      for _, field in ipairs(live.fields) do
        local name, lasted = trace_back(world, version, live, field.name)
        if lasted == first then
          names[field.name] = not taken[name] and name
          taken[name] = true
        end
      end
    end
    return names
  end
end

-- The snapshot as it would be of the components that there are now.
local function brought(world, snapshot)
  local layout, names, image = world.layouts[snapshot.version], {}, copy_flat(snapshot)
  if not layout then
    refuse("the world has loaded an image since the snapshot")
  end
  image.components = {}
  for name, id in pairs(snapshot.id_of) do
    image.components[name] = layout[id]
  end
  for id, component in pairs(layout) do
    local live = world.components_by_id[id]
    if not live then
      refuse("component '%s' has been undeclared since the snapshot", component.name)
    end
    names[component.name], image.components[component.name] = live.name, component
  end
  for name, id in pairs(snapshot.id_of) do
    names[name] = world.components_by_id[id].name
  end
  local live = world.ids
  world.ids = snapshot.ids
  function image.alive(id)
    world.ids = snapshot.ids
    local alive = world:alive(id)
    world.ids = live
    return alive
  end
  world.ids = live
  image = rename(world, image, names)
  return fit(world, image, tracer(world, snapshot.version))
end

function methods.restore(world, snapshot)
  if type(snapshot) ~= "table" or snapshot.world ~= world then
    refuse("no snapshot of this world")
  end
  world:end_loops("restore")
  if snapshot.version ~= world.version then
    local copy = brought(world, snapshot)
    copy.ids, copy.world, copy.version = snapshot.ids, world, world.version
    copy.phases, copy.systems = snapshot.phases, snapshot.systems
    copy.tick, copy.stream = snapshot.tick, snapshot.stream
    snapshot = copy
  end
  local known = world.components_by_name
  world.ids, world.store = copy_ids(snapshot.ids), {}
  for id, row in pairs(snapshot.store) do
    world.store[id] = copy_row(known, row)
  end
  for name in pairs(world.resources) do
    world.resources[name] = types.initial(known[name])
  end
  for name, saved in pairs(snapshot.resources) do
    world.resources[name] = copy_stored(known[name], saved)
  end
  world.names, world.awaited = copy_flat(snapshot.names), {}
  world:restore_events(world.copy_events(snapshot.events, function(row)
    return copy_row(known, row)
  end))
  world.packed = world.packed_of(snapshot.packed, known)
  world.tied = world.packed_of(snapshot.tied, known)
  for component in pairs(snapshot.unsure or {}) do
    world.unsure[known[component.name]] = true
  end
  apply_timings(world, snapshot)
end

-- ---- digests -----------------------------------------------------------------------------

local PACKED = { f32 = "<f", f64 = "<d", i8 = "<i1", i16 = "<i2", i32 = "<i4", i64 = "<i8",
  u8 = "<I1", u16 = "<I2", u32 = "<I4", u64 = "<i8" }

local function target(world, id)
  local component = world.components_by_id[id]
  if component then
    return "=" .. component.name
  end
  return world:alive(id) and ("@%d"):format(id & ((1 << 44) - 1)) or "0"
end

-- What counts of a single value: its bits, for numbers.
local function meaning(world, kind, stored)
  local packed = PACKED[kind.name]
  if packed then
    return ("%q"):format(string.pack(packed, stored))
  elseif kind.name == "entity" then
    return target(world, stored)
  elseif kind.name == "bool" then
    return stored and "1" or "0"
  elseif kind.name == "any" then
    return stored == types.NIL and "0" or "1"
  end
  return ("%q"):format(stored)
end

local function describe(world, row)
  local parts = {}
  for key, stored in pairs(row) do
    local head, tied = split_key(key)
    local component, name = of_key(world.components_by_name, key), key
    name = head and head .. ">" .. target(world, tied) or key
    parts[#parts + 1] = toggles.is_off(row, key) and name .. " off" or name
    types.leaves(component, function(path, kind, value)
      parts[#parts + 1] = ("%s.%s: %s = %s"):format(name, path, kind.name,
        meaning(world, kind, value))
    end, nil, stored)
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

-- A text that is the same for two worlds exactly when their digests are.
function methods.content(world)
  local lines = world:describe_streams()
  for id, row in pairs(world.store) do
    lines[#lines + 1] = target(world, id) .. ": " .. describe(world, row)
  end
  for name, stored in pairs(world.resources) do
    lines[#lines + 1] = "resource " .. describe(world, { [name] = stored })
  end
  for name, event in pairs(world.events) do
    for at, entry in ipairs(event.rows) do
      lines[#lines + 1] = ("event %s %d %s"):format(name, at, describe(world, entry.row))
    end
  end
  for component, list in pairs(world.packed) do
    for at, id in ipairs(list) do
      lines[#lines + 1] = ("packed %s %d %s"):format(component.name, at, target(world, id))
    end
  end
  for component, list in pairs(world.tied) do
    local places = {}
    for _, id in ipairs(list) do
      local to = world.store[id][component.name].target
      places[to] = (places[to] or 0) + 1
      lines[#lines + 1] = ("tied %s %s %d %s"):format(component.name, target(world, to), places[to],
        target(world, id))
    end
  end
  for id, name in pairs(world.names) do
    lines[#lines + 1] = ("name %q %s"):format(name, target(world, id))
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

function methods.digest(world)
  return world:content()
end

return methods
