-- What live scripts register with their world, which script owns it, and what a swap must change.
-- Each registration has an object in the world; its kind, name and file are kept here.

local native = require "ecs.native"

local registrations = {}

-- What one file registers: a list of { kind =, name =, object =, value = } in the order of first
-- registration, and a table by name of those that only one file may register. The value is the
-- fields of a component or the entities of a prefab, for comparing and ordering them.
function registrations.new(path)
  return {
    path = path, list = {}, component = {}, phase = {}, system = {}, index = {}, prefab = {},
  }
end

-- An empty table of what scripts own: objects by name.
function registrations.nothing()
  return { component = {}, phase = {}, system = {}, index = {} }
end

-- The parts in which two declarations of one component may differ.
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

-- Finds the entry of a name in another file that stays or has run, in the first one by path.
local function elsewhere(self, job, kind, name)
  local entry, first
  local function look(path, record)
    local found = record.registered[kind][name]
    if found and (not first or path < first) then
      entry, first = found, path
    end
  end
  for path, record in next, job.records do
    if record ~= job.current then
      look(path, record)
    end
  end
  for path, record in next, self.records do
    if not job.records[path] and not job.stale[path] then
      look(path, record)
    end
  end
  return entry, first
end

-- A script cannot rename a component that it does not own.
local function check_old_name(self, job, name, old, had)
  local own = job.current.registered.component[old]
  local other, path = elsewhere(self, job, "component", old)
  if own or other then
    error(("component '%s' cannot take over '%s', which is declared in %s"):format(name, old,
      own and job.current.path or path), 5)
  elseif had and not self.owned.component[old] then
    error(("component '%s' cannot take over '%s', which is declared outside the scripts")
      :format(name, old), 5)
  end
end

-- Stores a registration of the file that runs, replacing one with the same name.
local function keep(job, kind, name, object, value)
  local registered = job.current.registered
  local entry = registered[kind] and registered[kind][name]
  if not entry then
    entry = { kind = kind, name = name }
    table.insert(registered.list, entry)
  end
  entry.object, entry.value = object, value
  if registered[kind] then
    registered[kind][name] = entry
  end
  return entry
end

-- Handles a registration, by its kind. `had` says that the world already had one of that name.
local record = {}

function record.component(self, job, name, object, fields, had, had_old)
  if fields.old_name then
    check_old_name(self, job, name, fields.old_name, had_old)
  end
  local other, path = elsewhere(self, job, "component", name)
  local own = job.current.registered.component[name]
  other, path = own or other, own and job.current.path or path
  if other and not same(other.value, fields) then
    error((fields.array and "array '%s' is declared with another type or length in %s"
      or "component '%s' is declared with other fields in %s"):format(name, path), 4)
  elseif not own then
    own = keep(job, "component", name, object, fields)
    own.foreign = had and not self.owned.component[name]
  end
  return own.foreign
end

local function record_named(kind, what)
  return function(self, job, name, object, _, had)
    local _, path = elsewhere(self, job, kind, name)
    if path then
      error(("%s '%s' is also registered in %s"):format(what, name, path), 4)
    elseif had and not self.owned[kind][name] then
      error(("%s '%s' is registered outside the scripts"):format(what, name), 4)
    end
    keep(job, kind, name, object)
  end
end

record.system = record_named("system", "system")
record.observer = record_named("system", "observer")
record.phase = record_named("phase", "phase")
record.index = record_named("index", "index")

-- A prefab stays when its script is removed, so no script owns it. Only one file may declare it.
function record.prefab(self, job, name, object, list)
  local _, path = elsewhere(self, job, "prefab", name)
  if path then
    error(("prefab '%s' is also declared in %s"):format(name, path), 4)
  end
  keep(job, "prefab", name, object, list)
end

-- Creates the function that the world calls for each registration while files are read. "missing"
-- means that a component contains or requires one that is not declared. The rest of the file may do
-- that, so the declaration is put off until its end; or a later file may.
function registrations.recorder(self, job)
  return function(kind, name, object, ...)
    local current = job.current
    if not current then
      error("only scripts can register anything while scripts are read", 3)
    elseif kind == "missing" then
      current.lacks_type = true
      if current.put_off then
        table.insert(current.put_off, { message = object, name, ... })
      end
      return current.put_off ~= nil
    end
    local foreign
    if record[kind] then
      foreign = record[kind](self, job, name, object, ...)
    else
      keep(job, kind, name, object)
    end
    return foreign, job.current.path
  end
end

-- ---- preparing a swap ----------------------------------------------------------------------

-- The keys of a set in order.
function registrations.sorted(set)
  local list = {}
  for key in next, set do
    list[#list + 1] = key
  end
  table.sort(list)
  return list
end

-- Sorts prefabs after the ones named by their `is_a`. Those that form a cycle keep their places.
local function bases_first(entries)
  local by_name, placed, list = {}, {}, {}
  local function place(entry)
    if placed[entry] then
      return
    end
    placed[entry] = true
    for _, node in ipairs(entry.value) do
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

-- Returns the objects of all `files` (a table by path), and the prefabs of those that have run.
local function objects_of(files, ran)
  local objects, prefabs = {}, {}
  for _, path in ipairs(registrations.sorted(files)) do
    for _, entry in ipairs(files[path].registered.list) do
      if entry.kind ~= "prefab" then
        objects[#objects + 1] = entry.object
      elseif ran[path] then
        prefabs[#prefabs + 1] = entry
      end
    end
  end
  for _, entry in ipairs(bases_first(prefabs)) do
    objects[#objects + 1] = entry.object
  end
  return objects
end

-- Returns what the scripts will own if the files of a job are the only ones.
local function find_owned(self, job)
  local owned = registrations.nothing()
  for _, path in ipairs(registrations.sorted(job.all)) do
    for kind, set in next, owned do
      for name, entry in next, job.all[path].registered[kind] do
        local foreign = kind == "component" and not self.owned[kind][name]
          and (entry.foreign or not job.records[path])
        set[name] = not foreign and entry.object or nil
      end
    end
  end
  return owned
end

-- Returns what will no longer be owned.
local function find_leaving(self, owned)
  local leaving = {}
  for kind, set in next, self.owned do
    for _, name in ipairs(registrations.sorted(set)) do
      if not owned[kind][name] then
        leaving[#leaving + 1] = set[name]
      end
    end
  end
  return leaving
end

-- Calls native.swap, with `check` only to find out whether it would succeed. Returns its results
-- and what the scripts own afterwards.
function registrations.swap(self, job, check)
  local owned = find_owned(self, job)
  local options = { check = check, group = self.group or nil, files = job.records }
  return owned, native.swap(self.world, objects_of(job.all, job.records),
    find_leaving(self, owned), options)
end

-- Drops some components, if nothing uses them.
function registrations.forget(self, names)
  native.swap(self.world, objects_of(self.records, {}), names, { group = self.group or nil })
end

return registrations
