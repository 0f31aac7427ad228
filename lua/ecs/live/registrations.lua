-- What live scripts register with their world: whose it is, and what a swap has to change.

local native = require "ecs.native"

local registrations = {}

-- What one file registers, each in the order of its first registration.
function registrations.new(path)
  return {
    path = path, components = {}, phases = {}, systems = {}, queries = {}, resources = {},
    arrays = {}, indexes = {}, named_indexes = {}, prefabs = {},
  }
end

-- What scripts own: sets of names.
function registrations.nothing()
  return { components = {}, phases = {}, systems = {}, indexes = {} }
end

local function find(list, name)
  for i, entry in ipairs(list) do
    if entry.name == name then
      return entry, i
    end
  end
end

-- What two declarations of a component may differ in.
local LABELS = { was = true, old_name = true, doc = true }

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b
  end
  for key, value in next, a do
    if not LABELS[key] and not same(value, b[key]) then
      return false
    end
  end
  for key in next, b do
    if a[key] == nil and not LABELS[key] then
      return false
    end
  end
  return true
end

-- The entry of a name in any other file that stays or has run.
local function elsewhere(self, job, list, name)
  for path, record in next, job.records do
    local entry = record ~= job.current and find(record.registered[list], name)
    if entry then
      return entry, path
    end
  end
  for path, record in next, self.records do
    local stays = not job.records[path] and not job.stale[path]
    local entry = stays and find(record.registered[list], name)
    if entry then
      return entry, path
    end
  end
end

-- What a component was called must be nobody else's: a script cannot rename what it does not own.
local function check_old_name(self, job, name, old)
  local own = find(job.current.registered.components, old)
  local other, path = elsewhere(self, job, "components", old)
  if own or other then
    error(("component '%s' was '%s', but that is declared in %s"):format(name, old,
      own and job.current.path or path), 4)
  elseif not self.owned.components[old] and job.known.components[old] then
    error(("component '%s' was '%s', but that is declared outside the scripts"):format(name, old),
      4)
  end
end

-- What is done with a registration, by its kind; `at` is where it was called, "file:line: ".
local record = {}

function record.component(self, job, name, fields, at)
  if fields.old_name then
    check_old_name(self, job, name, fields.old_name)
  end
  local other, path = elsewhere(self, job, "components", name)
  local own = find(job.current.registered.components, name)
  other, path = own or other, own and job.current.path or path
  if other and not same(other.fields, fields) then
    error((fields.array and "array '%s' is declared with another type or length in %s"
      or "component '%s' is declared with other fields in %s"):format(name, path), 3)
  elseif not own then
    table.insert(job.current.registered.components, { name = name, fields = fields, at = at })
  end
  return not self.owned.components[name] and job.known.components[name]
end

local function record_named(list, what, observes)
  return function(self, job, name, spec, at)
    local _, path = elsewhere(self, job, list, name)
    if path then
      error(("%s '%s' is registered in %s, too"):format(what, name, path), 3)
    elseif not self.owned[list][name] and job.known[list][name] then
      error(("%s '%s' is registered outside the scripts"):format(what, name), 3)
    end
    local entries = job.current.registered[list]
    local _, index = find(entries, name)
    entries[index or #entries + 1] =
      { name = name, spec = spec, at = at, owner = job.current.path, observes = observes }
  end
end

-- A component is made of a type, or requires one, that nobody has declared: a file behind this one
-- may.
function record.missing(_, job)
  job.current.lacks_type = true
end

record.system = record_named("systems", "system")
record.observer = record_named("systems", "observer", true)
record.phase = record_named("phases", "phase")
record.index = record_named("indexes", "index")

-- A prefab stays when its script goes, so that nobody owns it; but only one file may declare it.
function record.prefab(self, job, name, list, at)
  local _, path = elsewhere(self, job, "prefabs", name)
  if path then
    error(("prefab '%s' is declared in %s, too"):format(name, path), 3)
  end
  local entries = job.current.registered.prefabs
  local _, index = find(entries, name)
  entries[index or #entries + 1] = { name = name, list = list, at = at }
end

local function record_object(list)
  return function(_, job, name, object, at)
    table.insert(job.current.registered[list], { name = name, object = object, at = at })
  end
end

record.query = record_object "queries"
record.res = record_object "resources"
record.array = record_object "arrays"
record.index_of = record_object "named_indexes"

-- A set of names that asks once for each.
local function lazy(ask)
  return setmetatable({}, {
    __index = function(set, name)
      local known = ask(name)
      rawset(set, name, known)
      return known
    end,
  })
end

local BUILTIN = {
  startup = true, pre_update = true, update = true, post_update = true, render = true,
}

-- Names that the world has before scripts register them: each is asked for before that.
local function known_names(world)
  return {
    components = lazy(function(name)
      return native.declared(world, name, "component")
    end),
    systems = lazy(function(name)
      return native.declared(world, name, "system")
    end),
    indexes = lazy(function(name)
      return native.declared(world, name, "index")
    end),
    phases = lazy(function(name)
      return not BUILTIN[name] and native.declared(world, name, "phase")
    end),
  }
end

-- What the world tells of each registration while files are read.
function registrations.recorder(self, job)
  job.known = known_names(self.world)
  return function(kind, name, value, at)
    if not job.current then
      error("only scripts register while scripts are read", 3)
    end
    return record[kind](self, job, name, value, at)
  end
end

-- ---- the plan ----------------------------------------------------------------------------

local function named(set, kept)
  local list = {}
  for name in next, set do
    if not kept[name] then
      list[#list + 1] = { name = name }
    end
  end
  table.sort(list, function(a, b)
    return a.name < b.name
  end)
  return list
end

-- The keys of a set in order.
function registrations.sorted(set)
  local list = {}
  for key in next, set do
    list[#list + 1] = key
  end
  table.sort(list)
  return list
end

-- Phases or systems of all files in order; those of files that did not run are kept.
local function in_order(job, paths, list, owned)
  local plan = {}
  for _, path in ipairs(paths) do
    for _, entry in ipairs(job.all[path].registered[list]) do
      owned[entry.name] = true
      plan[#plan + 1] = job.records[path] and entry or { name = entry.name, kept = true }
    end
  end
  return plan
end

-- What files have declared or asked for: those that ran, or those that are kept.
local function of_files(job, paths, list, kept)
  local plan = {}
  for _, path in ipairs(paths) do
    if (job.records[path] == nil) == kept then
      local entries = job.all[path].registered[list]
      table.move(entries, 1, #entries, #plan + 1, plan)
    end
  end
  return plan
end

-- Prefabs behind those that they are made of; those that are made of each other stay as they are.
local function bases_first(entries)
  local by_name, placed, list = {}, {}, {}
  local function place(entry)
    if placed[entry] then
      return
    end
    placed[entry] = true
    for _, node in ipairs(entry.list) do
      local base = type(node.is_a) == "string" and by_name[node.is_a:match "^[^.]*"]
      if base then
        place(base)
      end
    end
    list[#list + 1] = entry
  end
  for _, entry in ipairs(entries) do
    by_name[entry.name] = entry
  end
  for _, entry in ipairs(entries) do
    place(entry)
  end
  return list
end

-- What native.swap is to do, and what the scripts own afterwards.
function registrations.plan(self, job)
  local owned, paths = registrations.nothing(), registrations.sorted(job.all)
  for _, path in ipairs(paths) do
    for _, entry in ipairs(job.all[path].registered.components) do
      local foreign = not self.owned.components[entry.name]
        and (not job.records[path] or job.known.components[entry.name])
      owned.components[entry.name] = not foreign or nil
    end
  end
  local plan = {
    components = of_files(job, paths, "components", false),
    phases = in_order(job, paths, "phases", owned.phases),
    systems = in_order(job, paths, "systems", owned.systems),
    queries = of_files(job, paths, "queries", false),
    resources = of_files(job, paths, "resources", false),
    kept_queries = of_files(job, paths, "queries", true),
    kept_resources = of_files(job, paths, "resources", true),
    arrays = of_files(job, paths, "arrays", false),
    kept_arrays = of_files(job, paths, "arrays", true),
    indexes = in_order(job, paths, "indexes", owned.indexes),
    named_indexes = of_files(job, paths, "named_indexes", false),
    kept_named_indexes = of_files(job, paths, "named_indexes", true),
    prefabs = bases_first(of_files(job, paths, "prefabs", false)),
    group = self.group or nil,
    files = job.records,
  }
  plan.leave = named(self.owned.components, owned.components)
  plan.drop_phases = named(self.owned.phases, owned.phases)
  plan.drop_systems = named(self.owned.systems, owned.systems)
  plan.drop_indexes = named(self.owned.indexes, owned.indexes)
  return plan, owned
end

-- What native.swap is to do to drop some components, if nothing uses them.
function registrations.plan_to_forget(self, names)
  local paths, plan = registrations.sorted(self.records), { remove = {} }
  for i, name in ipairs(names) do
    plan.remove[i] = { name = name }
  end
  local job = { all = self.records, records = {} }
  plan.kept_queries = of_files(job, paths, "queries", true)
  plan.kept_resources = of_files(job, paths, "resources", true)
  plan.kept_arrays = of_files(job, paths, "arrays", true)
  return plan
end

return registrations
