-- Migrations of the model: a component declared with other fields. Returns methods to be mixed
-- into the model's world. A component's table stays the same, as what refers to it shall see its
-- new fields; everything is converted before anything changes.

local of_key = require("spec.support.model_relations").of_key
local scopes = require "spec.support.model_scopes"
local toggles = require "spec.support.model_toggles"
local types = require "spec.support.model_types"
local refuse = types.refuse

local methods = {}

local DEPTH, LEAVES = 6, 4096

-- ---- single values -----------------------------------------------------------------------

local FLOATS = { f32 = true, f64 = true }
local NAMED = { enum = true, string = true }

local function is_number(kind)
  return FLOATS[kind.name] or kind.low ~= nil or kind.name == "bool"
end

local function to_bool(value)
  if value ~= 0 and value ~= 1 then
    refuse("%s is no bool", tostring(value))
  end
  return value == 1
end

local function to_float(kind, value)
  local float = kind.accept(nil, value, "")
  if math.type(value) == "float" then
    if math.abs(float) == math.huge and math.abs(value) ~= math.huge then
      refuse("%s overflows", tostring(value))
    end
  elseif math.tointeger(float) ~= value then
    refuse("%d is no %s", value, kind.name)
  end
  return float
end

-- A u64 from 2^63 on, which is a negative integer of Lua.
local function from_large(kind, value)
  local float = (value >> 11) * 2.0 ^ 11
  if not FLOATS[kind.name] or value & 0x7FF ~= 0 or kind.accept(nil, float, "") ~= float then
    refuse("%x is no %s", value, kind.name)
  end
  return float
end

local function to_u64(kind, value)
  if value < 0 then
    refuse("%s has a sign", tostring(value))
  elseif value >= 2.0 ^ 63 and value < 2.0 ^ 64 then
    return math.tointeger(value - 2.0 ^ 64)
  end
  return kind.accept(nil, value, "")
end

local function to_number(from, kind, value)
  if type(value) == "boolean" then
    value = value and 1 or 0
  end
  if from.name == "u64" and value < 0 then
    return from_large(kind, value)
  elseif kind.name == "u64" then
    return to_u64(kind, value)
  elseif kind.name == "bool" then
    return to_bool(value)
  elseif FLOATS[kind.name] then
    return to_float(kind, value)
  end
  return kind.accept(nil, value, "")
end

-- Whether all bits of a stored value are zero.
local function is_nothing(world, kind, value)
  if kind.name == "entity" then
    return not world:alive(value)
  elseif kind.name == "any" then
    return value == types.NIL
  elseif kind.name == "enum" then
    return value == kind.names[1]
  elseif FLOATS[kind.name] then
    return value == 0 and 1 / value > 0
  end
  return value == kind.zero
end

-- A stored value of another type, or an error; `default` is what stands for nothing.
local function convert(world, from, to, value, default)
  if from.name == to.name and from.name ~= "enum" then
    return value
  elseif NAMED[from.name] and NAMED[to.name] then
    return to.accept(world, value, "")
  elseif is_number(from) and is_number(to) then
    return to_number(from, to, value)
  elseif not is_nothing(world, from, value) then
    refuse("a %s is no %s", from.name, to.name)
  end
  return default
end

-- ---- leaves ------------------------------------------------------------------------------

-- What a component becomes, where it does.
local function shown(plan, kind)
  return plan.wanted[kind] or kind
end

local add_leaves

local function add_field(plan, list, field, kind, prefix, own)
  if kind.kind == "array" then
    for i = 1, kind.n do
      add_field(plan, list, field, kind.of, ("%s[%d]"):format(prefix, i),
        { field = own.field, element = own.element or i, name = own.name })
    end
  elseif kind.kind == "struct" then
    own = { field = own.field, element = own.element or 1, name = own.name }
    add_leaves(plan, list, kind, prefix .. ".", own)
  else
    local default = field.default
    if default == nil then
      default = kind.zero
    end
    list[#list + 1] = { path = prefix, kind = kind, default = default, field = own.field,
      element = own.element, name = own.name }
  end
end

-- The leaves of a component as it is, or as it will be: a list of { path, kind, default, field,
-- element, name = the name of the field }.
function add_leaves(plan, list, component, prefix, own)
  for _, field in ipairs((plan and shown(plan, component) or component).fields) do
    local origin = own or { field = field, name = field.name }
    add_field(plan or { wanted = {} }, list, field, field.type, prefix .. field.name, origin)
  end
  return list
end

local function leaves_of(plan, component)
  return add_leaves(plan, {}, component, "")
end

local function by_path(leaves)
  local map = {}
  for _, leaf in ipairs(leaves) do
    map[leaf.path] = leaf
  end
  return map
end

-- What a stored value holds, leaf by leaf.
local function flatten(kind, stored, path, map)
  if kind.kind == "scalar" then
    map[path] = stored
  elseif kind.kind == "array" then
    for i = 1, kind.n do
      flatten(kind.of, stored[i], ("%s[%d]"):format(path, i), map)
    end
  else
    for _, field in ipairs(kind.fields) do
      flatten(field.type, stored[field.name],
        path == "" and field.name or path .. "." .. field.name, map)
    end
  end
  return map
end

-- The stored value of a kind, as it will be, from its leaves.
local function assemble(plan, kind, path, map)
  if kind.kind == "scalar" then
    return map[path]
  end
  local stored = {}
  if kind.kind == "array" then
    for i = 1, kind.n do
      stored[i] = assemble(plan, kind.of, ("%s[%d]"):format(path, i), map)
    end
  else
    for _, field in ipairs(shown(plan, kind).fields) do
      stored[field.name] = assemble(plan, field.type,
        path == "" and field.name or path .. "." .. field.name, map)
    end
  end
  return stored
end

-- ---- where leaves come from --------------------------------------------------------------

local function element_of(kind)
  return kind.kind == "array" and kind.of or kind
end

local function name_before(old, wanted, name)
  if wanted.names then
    return wanted.names[name]
  end
  local was = wanted.was and wanted.was[name]
  return was and old.by_name[was] and was or name
end

local sources_of

-- The old path of a leaf inside of a nested component that stays the same one.
local function nested_source(plan, old, before, leaf, nested)
  local n = before.type.kind == "array" and before.type.n or 1
  if leaf.element > n then
    return nil
  end
  local inner = leaf.path:match("^[%w_]+%.(.*)$") or leaf.path:match("^[%w_]+%[%d+%]%.(.*)$")
  local from = sources_of(plan, nested)[inner]
  local head = before.type.kind == "array" and ("%s[%d]"):format(before.name, leaf.element)
    or before.name
  return from and old[head .. "." .. from] and head .. "." .. from
end

-- new path -> old path, for what has one.
function sources_of(plan, component)
  local known = plan.sources[component]
  if known then
    return known
  end
  local sources, wanted = {}, shown(plan, component)
  local old = by_path(leaves_of(nil, component))
  for _, leaf in ipairs(leaves_of(plan, component)) do
    local name = name_before(component, wanted, leaf.name)
    local before = name and component.by_name[name]
    local nested = element_of(leaf.field.type)
    if before and nested.kind == "struct" and element_of(before.type) == nested then
      sources[leaf.path] = nested_source(plan, old, before, leaf, nested)
    elseif before then
      local path = name .. leaf.path:sub(#leaf.name + 1)
      sources[leaf.path] = old[path] and path
    end
  end
  plan.sources[component] = sources
  return sources
end

-- ---- what is possible ----------------------------------------------------------------------

local function users(world, plan)
  local again = true
  while again do
    again = false
    for _, component in ipairs(world.declared) do
      for _, field in ipairs(shown(plan, component).fields) do
        local nested = element_of(field.type)
        if nested.kind == "struct" and plan.changed[nested] and not plan.changed[component] then
          plan.changed[component], again = true, true
        end
      end
    end
  end
end

local function depth_of(plan, component, open)
  if open[component] then
    refuse("'%s' is made of itself", component.name)
  end
  open[component] = true
  local depth, leaves = 0, 0
  for _, field in ipairs(shown(plan, component).fields) do
    local nested, inner = element_of(field.type), 1
    if nested.kind == "struct" then
      if #shown(plan, nested).fields == 0 then
        refuse("'%s' is a tag", nested.name)
      end
      local below
      below, inner = depth_of(plan, nested, open)
      depth = math.max(depth, below + 1)
    end
    leaves = leaves + inner * (field.type.kind == "array" and field.type.n or 1)
  end
  open[component] = nil
  if depth > DEPTH or leaves > LEAVES then
    refuse("'%s' is too deep or too large", component.name)
  end
  return depth, leaves
end

-- An error when a component would require itself.
local function refuse_cycles(plan, component, open)
  if open[component] then
    refuse("'%s' requires itself", component.name)
  end
  open[component] = true
  for _, required in ipairs(shown(plan, component).requires) do
    refuse_cycles(plan, required, open)
  end
  open[component] = nil
end

function methods.check_renames(wanted)
  local seen = {}
  for name, was in pairs(wanted.was or {}) do
    if not wanted.by_name[name] or wanted.by_name[was] or seen[was] then
      refuse("the rename of '%s' makes no sense", was)
    end
    seen[was] = true
  end
end

-- ---- reports -------------------------------------------------------------------------------

local function is_copy(from, to)
  if from.name ~= to.name then
    return false
  elseif from.name ~= "enum" then
    return true
  end
  local small, large = #from.names <= 256, #to.names <= 256
  for i, name in ipairs(from.names) do
    if to.names[i] ~= name then
      return false
    end
  end
  return small == large
end

-- Whether a row has a component, or a pair of it.
local function has(row, component)
  for key in pairs(component.ties and row or {}) do
    if key:match "^[^>]*" == component.name then
      return true
    end
  end
  return row[component.name] ~= nil
end

-- What the migration does to a component, with the names of leaves.
local function report_of(world, plan, component)
  local report = { kept = {}, added = {}, dropped = {}, converted = {}, renamed = {}, rows = 0 }
  local old, used = leaves_of(nil, component), {}
  local known, sources = by_path(old), sources_of(plan, component)
  local function list(name, leaf)
    report[name][#report[name] + 1] = leaf.path
  end
  for _, leaf in ipairs(leaves_of(plan, component)) do
    local from = known[sources[leaf.path]]
    if not from then
      list("added", leaf)
    else
      used[from.path] = true
      if not is_copy(from.kind, leaf.kind) then
        list("converted", leaf)
      elseif from.path == leaf.path then
        list("kept", leaf)
      end
      report.renamed[leaf.path] = from.path ~= leaf.path and from.path or nil
    end
  end
  for _, leaf in ipairs(old) do
    if not used[leaf.path] then
      list("dropped", leaf)
    end
  end
  for _, row in pairs(world.store) do
    report.rows = report.rows + (has(row, component) and 1 or 0)
  end
  return report
end

-- ---- the transaction -------------------------------------------------------------------------

-- A stored value of a component as it will be.
local function converted(world, plan, component, stored)
  local before, map = flatten(component, stored, "", {}), {}
  local known, sources = by_path(leaves_of(nil, component)), sources_of(plan, component)
  for _, leaf in ipairs(leaves_of(plan, component)) do
    local from = sources[leaf.path]
    if from then
      map[leaf.path] = convert(world, known[from].kind, leaf.kind, before[from], leaf.default)
    else
      map[leaf.path] = leaf.default
    end
  end
  return assemble(plan, component, "", map)
end

-- Queries look up their fields again by name; one that has lost a field is of no use any more.
local function refresh_queries(world)
  for query in pairs(world.open_queries) do
    for _, term in ipairs(query.terms) do
      for _, item in ipairs(term) do
        local ties = item.component.ties
        query.broken = query.broken or ties and not ties.exclusive
        if item.path then
          local ok, keys, kind = pcall(types.leaf, item.component, item.path)
          query.broken = query.broken or not ok
          item.keys, item.leaf = ok and keys or item.keys, ok and kind or item.leaf
        end
      end
    end
    query:find_data()
  end
end

local function put(component, wanted)
  for key in pairs(component) do
    if key ~= "id" and key ~= "name" and key ~= "kind" then
      component[key] = nil
    end
  end
  for key, value in pairs(wanted) do
    if key ~= "id" and key ~= "name" then
      component[key] = value
    end
  end
end

-- What components become: wanted = component -> its new type. Raises what is refused; gives
-- the new rows and resources: { rows = { { row, name, stored } }, resources = }.
function methods.plan_migration(world, wanted, store, resources)
  local plan = { wanted = wanted, changed = {}, sources = {}, rows = {}, resources = {} }
  for component in pairs(wanted) do
    plan.changed[component] = true
  end
  users(world, plan)
  for component in pairs(plan.changed) do
    depth_of(plan, component, {})
  end
  for component, becomes in pairs(wanted) do
    refuse_cycles(plan, component, {})
    world:check_kind(component, becomes, store)
    toggles.refuse_off(component, becomes, store)
  end
  for _, row in pairs(store) do
    for name, stored in pairs(row) do
      local component = world.of_key(world.components_by_name, name)
      if plan.changed[component] then
        local new = converted(world, plan, component, stored)
        local key = world.key_after(component, shown(plan, component), name, stored, new)
        plan.rows[#plan.rows + 1] = { row, name, new, key }
      end
    end
  end
  for name, stored in pairs(resources) do
    local component = world.components_by_name[name]
    if plan.changed[component] and #shown(plan, component).fields == 0 then
      plan.resources[name] = false
    elseif plan.changed[component] then
      plan.resources[name] = converted(world, plan, component, stored)
    end
  end
  return plan
end

-- Every row has what its components require.
local function bring_required(world, store)
  for _, row in pairs(store) do
    local names = {}
    for name in pairs(row) do
      names[#names + 1] = name
    end
    for _, name in ipairs(names) do
      for _, required in ipairs(of_key(world.components_by_name, name).requires) do
        scopes.bring(row, required)
      end
    end
  end
end

function methods.commit_migration(world, plan, store, resources)
  if world.keep_layout then world:keep_layout() end
  for _, change in ipairs(plan.rows) do
    change[1][change[2]] = nil
    change[1][change[4]] = change[3]
  end
  for name, stored in pairs(plan.resources) do
    resources[name] = stored or nil
  end
  for component, wanted in pairs(plan.wanted) do
    local ties = component.ties
    put(component, wanted)
    world.turn(store, world.tied, world.unsure, component, ties)
  end
  for component in pairs(plan.changed) do
    component.paths = nil
  end
  bring_required(world, store)
  world:repack(store, world.packed, world.unsure)
  world.version = world.version + 1
  refresh_queries(world)
end

local function rename_key(map, old, new)
  map[new], map[old] = map[old], nil
end

-- The keys of a relation's pairs.
local function keys_of(row, name)
  local keys = {}
  for key in pairs(row) do
    keys[#keys + 1] = key:match "^(.-)>" == name and key or nil
  end
  return keys
end

-- Whatever a component is found by has its new name.
local function rename(world, component, name)
  local old = component.name
  component.name = name
  rename_key(world.components_by_name, old, name)
  rename_key(world.resources, old, name)
  for _, row in pairs(world.store) do
    rename_key(row, old, name)
    for _, key in ipairs(component.ties and keys_of(row, old) or {}) do
      rename_key(row, key, name .. key:sub(#old + 1))
    end
    toggles.rename_off(row, old, name)
  end
end

-- A component declared with other fields, or by another name; the report.
function methods.migrate(world, component, wanted)
  world:end_loops("declaring a component with other fields")
  local store = world.with_events(world.events, world.store)
  local plan = world:plan_migration({ [component] = wanted }, store, world.resources)
  local report, old = report_of(world, plan, component), component.name
  world:commit_migration(plan, store, world.resources)
  if old ~= wanted.name then
    rename(world, component, wanted.name)
    report.was = old
  end
  return report
end

return methods
