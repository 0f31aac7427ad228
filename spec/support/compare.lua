-- Compares outcomes of steps and whole worlds. Every function returns nil when there is no
-- difference, else a sentence that tells what differs.

local compare = {}

local function show(value, depth)
  depth = depth or 3
  if type(value) == "string" then
    return ("%q"):format(value)
  elseif type(value) ~= "table" or depth == 0 then
    return tostring(value)
  end
  local parts = {}
  for key, part in pairs(value) do
    parts[#parts + 1] = tostring(key) .. "=" .. show(part, depth - 1)
  end
  table.sort(parts)
  return "{" .. table.concat(parts, " ") .. "}"
end
compare.show = show

-- A value with copies of all tables in it.
function compare.copy(value)
  if type(value) ~= "table" then
    return value
  end
  local result = {}
  for key, part in pairs(value) do
    result[key] = compare.copy(part)
  end
  return result
end

local number_kind = math.type

-- Whether two values read the same: floats bit for bit (NaNs are one), tables by content.
local function same(a, b)
  if a == b then
    local kind = number_kind(a)
    return kind == number_kind(b) and (a ~= 0 or kind == "integer" or 1 / a == 1 / b)
  elseif type(a) ~= "table" or type(b) ~= "table" then
    return a ~= a and b ~= b
  end
  for key, part in pairs(a) do
    if not same(part, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return true
end
compare.same = same

local function same_list(expected, actual, n)
  for i = 1, n do
    if not same(expected[i], actual[i]) then
      return false
    end
  end
  return true
end

local function describe(outcome)
  if not outcome.ok then
    return "an error: " .. outcome.message
  end
  local parts = {}
  for i = 1, outcome.n do
    parts[i] = show(outcome[i])
  end
  return "(" .. table.concat(parts, ", ") .. ")"
end

local function lists_differ(what, expected, actual)
  if #expected == #actual and same_list(expected, actual, #expected) then
    return nil
  end
  for i = 1, math.max(#expected, #actual) do
    if not same(expected[i], actual[i]) then
      return ("%s %d is %s, expected %s"):format(what, i, show(actual[i]), show(expected[i]))
    end
  end
end

-- The outcomes of a step in the model and in the runtime. Which of the id errors it is counts
-- when both are one; what other errors say does not.
function compare.outcomes(expected, actual)
  local alike = expected.ok == actual.ok
  if alike and expected.ok then
    alike = expected.n == actual.n and same_list(expected, actual, expected.n)
  elseif alike and expected.fault and actual.fault then
    alike = expected.fault == actual.fault
  end
  if not alike then
    return ("gives %s, expected %s"):format(describe(actual), describe(expected))
  end
  return lists_differ("visit", expected.visits, actual.visits)
    or lists_differ("note", expected.log, actual.log)
end

local function components_of(world, id)
  local map = {}
  for name, value in world:components(id) do
    map[name] = value
  end
  return map
end

-- Whether it is a relation of several targets.
local function is_paired(expected, name)
  local ties = expected.components_by_name[name].ties
  return ties and not ties.exclusive
end

local function list_of(world, method, ...)
  local list = {}
  for id in world[method](world, ...) do
    list[#list + 1] = id
  end
  return list
end

-- An entity's ties by one relation, and those of others to it: a sentence when they differ.
local function ties_differ(expected, actual, id, name)
  local want, got = list_of(expected, "targets", id, name), list_of(actual, "targets", id, name)
  if not same(want, got) or actual:target(id, name) ~= want[1] then
    return ("targets(%s) are %s, expected %s"):format(name, show(got), show(want))
  end
  for _, target in ipairs(want) do
    local one = table.pack(expected:get(id, name, target))
    local two = table.pack(actual:get(id, name, target))
    if not actual:has(id, name, target) or not same(one, two) then
      return ("get(%s, %d) is %s, expected %s"):format(name, target, show(two), show(one))
    end
  end
  want, got = list_of(expected, "sources", id, name), list_of(actual, "sources", id, name)
  if is_paired(expected, name) then
    table.sort(got)
  end
  if not same(want, got) then
    return ("sources(%s) are %s, expected %s"):format(name, show(got), show(want))
  end
end

-- The ways to look at one entity beside world:components: each gives what differs, or nil.
local aspects = {}

function aspects.has(expected, actual, id, names)
  for _, name in ipairs(names) do
    if actual:has(id, name) ~= expected:has(id, name) then
      return ("has(%s) is %s"):format(name, not expected:has(id, name))
    end
  end
end

function aspects.read(expected, actual, id, names, want)
  for _, name in ipairs(names) do
    local value = not is_paired(expected, name) and actual:read(id, name) or nil
    if not same(want[name], value) then
      return ("read(%s) is %s, expected %s"):format(name, show(value), show(want[name]))
    end
  end
end

function aspects.get(expected, actual, id, names, want)
  for _, name in ipairs(names) do
    if want[name] ~= nil then
      local one, two = table.pack(expected:get(id, name)), table.pack(actual:get(id, name))
      if not same(one, two) then
        return ("get(%s) is %s, expected %s"):format(name, show(two), show(one))
      end
    end
  end
end

function aspects.name(expected, actual, id)
  if expected:name(id) ~= actual:name(id) then
    return ("is named %s, expected %s"):format(actual:name(id), expected:name(id))
  end
end

function aspects.ties(expected, actual, id, names)
  for _, name in ipairs(names) do
    local difference = expected.components_by_name[name].ties
      and ties_differ(expected, actual, id, name)
    if difference then
      return difference
    end
  end
  if expected:parent(id) ~= actual:parent(id)
    or not same(list_of(expected, "children", id), list_of(actual, "children", id)) then
    return "has other parents or children"
  end
end

function aspects.enabled(expected, actual, id, names)
  for _, name in ipairs(names) do
    local tied = expected.components_by_name[name].ties
    if not tied and expected:enabled(id, name) ~= actual:enabled(id, name) then
      return ("enabled(%s) is %s"):format(name, actual:enabled(id, name))
    end
  end
end

local order = { "has", "read", "get", "enabled", "name", "ties" }

-- All aspects, or the one whose turn it is.
local function entity_differs(expected, actual, id, names, turn)
  if not actual:alive(id) then
    return "is not alive"
  end
  local want, got = components_of(expected, id), components_of(actual, id)
  if not same(want, got) then
    return ("has %s, expected %s"):format(show(got), show(want))
  elseif turn then
    return aspects[order[(turn + id) % #order + 1]](expected, actual, id, names, want)
  end
  for _, aspect in ipairs(order) do
    local difference = aspects[aspect](expected, actual, id, names, want)
    if difference then
      return difference
    end
  end
end

-- One entity's whole content; with a number `turn` one of the ways to read it beside
-- world:components.
function compare.entity(expected, actual, id, names, turn)
  local ok, difference = pcall(entity_differs, expected, actual, id, names, turn)
  if not ok then
    return ("entity %d: error: %s"):format(id, tostring(difference))
  end
  return difference and ("entity %d: %s"):format(id, difference)
end

local function query_differs(expected, actual, text)
  local want, got = expected:count(text), actual:count(text)
  if want ~= got then
    return ("count(%q) is %s, expected %s"):format(text, tostring(got), want)
  end
  local seen, n = {}, 0
  for chunk in actual:query(text):chunks() do
    for i = 1, chunk.n do
      local id = chunk.entities[i]
      local row = expected.store[id]
      if seen[id] or not row or not expected:query(text):matches(row) then
        return ("query(%q) gives %s, which it should not"):format(text, tostring(id))
      end
      seen[id] = true
      n = n + 1
    end
  end
  if n ~= want then
    return ("query(%q) gives %d rows, expected %d"):format(text, n, want)
  end
end

-- What a query counts and gives.
function compare.query(expected, actual, text)
  local ok, difference = pcall(query_differs, expected, actual, text)
  return ok and difference or not ok and ("query(%q): error: %s"):format(text, difference) or nil
end

local function names_differ(expected, actual)
  for id in pairs(expected.names) do
    local path = expected:path_of(id)
    if path and actual:lookup(path) ~= id then
      return ("lookup(%q) is %s, expected %d"):format(path, tostring(actual:lookup(path)), id)
    end
  end
end

-- What a view's part holds, as plain tables.
local function contents(part, kind)
  if kind.kind == "scalar" then
    return part
  end
  local plain = {}
  for i = 1, kind.n or 0 do
    plain[i] = contents(part[i], kind.of)
  end
  for _, field in ipairs(kind.fields or {}) do
    plain[field.name] = contents(part[field.name], field.type)
  end
  return plain
end

local function array_differs(name, expected, actual)
  return lists_differ(name .. " element", expected:array(name):read(), actual:array(name):read())
end

local function resource_differs(name, expected, actual)
  local want, got = expected:res(name), actual:res(name)
  for _, field in ipairs(expected.components_by_name[name].fields) do
    local one, two = contents(want[field.name], field.type), contents(got[field.name], field.type)
    if not same(one, two) then
      return ("resource %s.%s is %s, expected %s"):format(name, field.name, show(two), show(one))
    end
  end
end

local function resources_differ(expected, actual)
  for name in pairs(expected.resources) do
    local differs = expected.is_array(name) and array_differs or resource_differs
    local difference = differs(name, expected, actual)
    if difference then
      return difference
    end
  end
end

-- What there is of an event, in a model or in a runtime.
local function events_in(world, name, kind)
  local list = {}
  if type(world.events) == "table" then
    for i, view in ipairs(world:events_of(name)) do
      list[i] = contents(view, kind)
    end
    return list
  end
  for view in world:events(name) do
    list[#list + 1] = contents(view, kind)
  end
  return list
end

local function events_differ(expected, actual)
  for name in pairs(expected.events) do
    local kind = expected.components_by_name[name]
    local difference = lists_differ("event " .. name, events_in(expected, name, kind),
      events_in(actual, name, kind))
    if difference then
      return difference
    end
  end
end

local function any_paired(world, types)
  for _, name in ipairs(types) do
    if is_paired(world, name) then
      return true
    end
  end
end

-- Rows by composition; there is one table for each, but where pairs of a relation differ.
local function tables_differ(world, expected, actual)
  local rows = {}
  for _, entry in ipairs(actual) do
    local types = table.move(entry.types, 1, #entry.types, 1, {})
    table.sort(types)
    local key = table.concat(types, " ")
    if rows[key] and not any_paired(world, types) then
      return ("two tables hold the entities with '%s'"):format(key)
    end
    rows[key] = (rows[key] or 0) + entry.rows
  end
  for _, entry in ipairs(expected) do
    local key = table.concat(entry.types, " ")
    if rows[key] ~= entry.rows then
      return ("%s rows with '%s', expected %d"):format(tostring(rows[key]), key, entry.rows)
    end
    rows[key] = nil
  end
  for key, n in pairs(rows) do
    if n ~= 0 then
      return ("%d rows with '%s', expected none"):format(n, key)
    end
  end
end

local function worlds_differ(expected, actual, names, turn)
  for index in pairs(expected.ids.living) do
    local id = expected.ids:current(index)
    local difference = compare.entity(expected, actual, id, names, turn)
    if difference then
      return difference
    end
  end
  for id in pairs(expected.components_by_id) do
    local difference = compare.entity(expected, actual, id, names, turn)
    if difference then
      return difference
    end
  end
  for index, generation in pairs(expected.ids.born) do
    if not expected.ids.living[index] and actual:alive(expected.ids:current(index)) then
      return ("index %d, generation %d is alive"):format(index, generation)
    end
  end
  local ok, message = actual:check()
  if not ok then
    return "world:check: " .. tostring(message)
  end
  local described = actual:describe()
  if described.entities ~= expected.ids.count then
    return ("describe().entities is %s, expected %d"):format(described.entities,
      expected.ids.count)
  end
  return tables_differ(expected, expected:describe().tables, described.tables)
    or names_differ(expected, actual) or resources_differ(expected, actual)
    or events_differ(expected, actual)
end

-- Everything: each entity's content, names, resources, the dead, and the invariants. `turn` as
-- in compare.entity.
function compare.worlds(expected, actual, names, turn)
  local ok, difference = pcall(worlds_differ, expected, actual, names, turn)
  if not ok then
    return "error while comparing: " .. tostring(difference)
  end
  return difference
end

return compare
