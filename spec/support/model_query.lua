-- Queries of the model: parsing, matching entity by entity, and the forms that loop.
-- Returns methods to be mixed into the model's world.

local types = require "spec.support.model_types"

local methods = {}

local Query = {}
Query.__index = Query

local function refuse(...)
  error(string.format(...), 0)
end

-- ---- parsing ---------------------------------------------------------------------------

local function parse_name(world, text)
  local name, mode = text:match("^%s*([%w_.%[%]]+)%s*:?%s*(%a*)%s*$")
  if not name or (mode ~= "" and mode ~= "in") then
    refuse("malformed term '%s'", text)
  end
  local component, keys, kind = world:resolve(name)
  return {
    component = component,
    keys = keys,
    leaf = kind,
    read_only = mode == "in",
    has_data = #component.fields > 0,
  }
end

local function parse_term(world, text)
  local negated = text:match("^%s*!(.*)$")
  if negated then
    local parsed = parse_name(world, negated)
    parsed.has_data = false
    return { kind = "without", parsed }
  end
  local optional = text:match("^(.*)%?%s*$")
  if optional then
    return { kind = "optional", parse_name(world, optional) }
  end
  local term = { kind = "with" }
  for part in (text .. "|"):gmatch("([^|]*)|") do
    term[#term + 1] = parse_name(world, part)
  end
  return term
end

-- Terms as the runtime's query text gives them: a list of { kind, alternatives... }.
local function parse(world, text)
  local terms = {}
  for part in (text .. ","):gmatch("([^,]*),") do
    terms[#terms + 1] = parse_term(world, part)
  end
  return terms
end

local function satisfies(row, term)
  if term.kind == "optional" then
    return true
  end
  local any = false
  for _, alternative in ipairs(term) do
    any = any or row[alternative.component.name] ~= nil
  end
  return any == (term.kind == "with")
end

function methods.query(world, text)
  local query = setmetatable({ world = world, terms = parse(world, text), data = {} }, Query)
  for _, term in ipairs(query.terms) do
    for _, alternative in ipairs(term) do
      if alternative.has_data then
        query.data[#query.data + 1] = alternative
      end
    end
  end
  return query
end

function methods.count(world, text)
  return world:query(text):count()
end

function Query:matches(row)
  for _, term in ipairs(self.terms) do
    if not satisfies(row, term) then
      return false
    end
  end
  return true
end

function Query:count()
  local n = 0
  for _, row in pairs(self.world.store) do
    if self:matches(row) then
      n = n + 1
    end
  end
  return n
end

-- ---- order -----------------------------------------------------------------------------

local function matching(query)
  local left, order = {}, {}
  for id, row in pairs(query.world.store) do
    if query:matches(row) then
      left[id] = true
      order[#order + 1] = id
    end
  end
  table.sort(order)
  return left, order
end

-- A function that gives the ids of `left` one by one and takes them out of it: the hinted one
-- where that is among them, else the lowest. `order` holds them all, sorted.
local function taker(world, left, order)
  local at = 0
  return function()
    local id = world.hints[world.hint]
    if left[id] then
      world.hint = world.hint + 1
    else
      repeat
        at = at + 1
        id = order[at]
      until id == nil or left[id]
    end
    if id then
      left[id] = nil
    end
    return id
  end
end

local function visits(query)
  return taker(query.world, matching(query))
end

-- ---- views -----------------------------------------------------------------------------

local function put(stored, keys, value)
  for i = 1, #keys - 1 do
    stored = stored[keys[i]]
  end
  stored[keys[#keys]] = value
end

-- A view of the component whose stored value `fetch` returns now.
function methods.view(world, component, fetch, read_only)
  local function field_of(name)
    local field = component.by_name[name]
    if not field then
      refuse("component '%s' has no field '%s'", component.name, tostring(name))
    end
    return field
  end
  return setmetatable({}, {
    __index = function(_, name)
      local field = field_of(name)
      return types.read(world, field.type, fetch()[name])
    end,
    __newindex = function(_, name, value)
      local field = field_of(name)
      if read_only then
        refuse("component '%s' is read only here", component.name)
      end
      local stored = fetch()
      local patch = types.patch(world, field.type, value, name)
      stored[name] = types.merge(field.type, stored[name], patch)
    end,
  })
end

-- What the function forms and `for` get for one row, `absent` in place of what is not there.
local function arguments(query, id, absent)
  local list = {}
  for i, item in ipairs(query.data) do
    local stored = query.world.store[id][item.component.name]
    if stored == nil then
      list[i] = absent
    elseif item.keys then
      local value = stored
      for _, key in ipairs(item.keys) do
        value = value[key]
      end
      list[i] = types.read(query.world, item.leaf, value)
    else
      list[i] = query.world:view(item.component, function()
        return stored
      end, item.read_only)
    end
  end
  return list
end

-- ---- forms -----------------------------------------------------------------------------

-- Runs fn inside a scope; an error cancels it and goes on to the caller.
function methods.guarded(world, kind, fn, ...)
  local depth = #world.scopes
  world:open_scope(kind)
  local ok, message = pcall(fn, ...)
  if not ok then
    world:cancel_scopes(depth)
    error(message, 0)
  end
  world:commit_scope()
end

-- The to-be-closed value of a `for` loop: leaving by an error drops its commands.
local function loop_end(world)
  local depth = #world.scopes
  world:open_scope("loop")
  return setmetatable({}, {
    __close = function(_, problem)
      if #world.scopes <= depth then
        return
      elseif problem ~= nil then
        world:cancel_scopes(depth)
      else
        world:commit_scope()
      end
    end,
  })
end

function Query:each(fn, dt)
  if fn then
    return self:each_call(fn, dt)
  end
  local closer = loop_end(self.world)
  local next_id = visits(self)
  local width = #self.data
  return function()
    local id = next_id()
    if id then
      local list = arguments(self, id, false)
      list[width + 1] = id
      return table.unpack(list, 1, width + 1)
    end
  end, nil, nil, closer
end

function Query:each_call(fn, dt)
  local width = #self.data
  self.world:guarded("form", function()
    for id in visits(self) do
      local list = arguments(self, id, nil)
      list[width + 1], list[width + 2] = dt and dt + 0.0, id
      fn(table.unpack(list, 1, width + 2))
    end
  end)
end

local function need_fields(query)
  for _, item in ipairs(query.data) do
    if not item.keys then
      refuse("map takes single fields, not '%s'", item.component.name)
    end
  end
end

-- Stores what a map's function returned into the first terms.
local function store_results(query, id, count, ...)
  if count > #query.data then
    refuse("too many results")
  end
  local accepted = {}
  for i = 1, count do
    local item, value = query.data[i], (select(i, ...))
    local stored = query.world.store[id][item.component.name]
    if value ~= nil and stored then
      if item.read_only then
        refuse("component '%s' is read only here", item.component.name)
      end
      accepted[i] = { stored, item.keys, item.leaf.accept(query.world, value, "result") }
    end
  end
  for i = 1, count do
    if accepted[i] then
      put(table.unpack(accepted[i]))
    end
  end
end

function Query:map(fn, dt)
  need_fields(self)
  local width = #self.data
  self.world:guarded("form", function()
    for id in visits(self) do
      local list = arguments(self, id, nil)
      list[width + 1], list[width + 2] = dt and dt + 0.0, id
      local results = table.pack(fn(table.unpack(list, 1, width + 2)))
      store_results(self, id, results.n, table.unpack(results, 1, results.n))
    end
  end)
end

-- The id of some row, as the hint says; nothing on no rows.
function Query:first()
  local id = visits(self)()
  if id then
    local list = arguments(self, id, false)
    list[#self.data + 1] = id
    return table.unpack(list, 1, #self.data + 1)
  end
end

-- ---- chunks ----------------------------------------------------------------------------

local function column(world, chunk, path)
  local component, keys, kind = world:resolve(path)
  if not keys then
    refuse("'%s' is no field", path)
  end
  local function place(i)
    local id = chunk.entities[i]
    if not id then
      refuse("row %s is not in 1 to %d", tostring(i), chunk.n)
    end
    local stored = world.store[id][component.name]
    if not stored then
      refuse("the chunk has no component '%s'", component.name)
    end
    for k = 1, #keys - 1 do
      stored = stored[keys[k]]
    end
    return stored
  end
  local last = keys[#keys]
  local methods_of = {
    read = function(_, into)
      for i = 1, chunk.n do
        into[i] = types.read(world, kind, place(i)[last])
      end
      return into
    end,
    write = function(_, from)
      for i = 1, chunk.n do
        place(i)[last] = kind.accept(world, from[i], path)
      end
    end,
  }
  return setmetatable({}, {
    __index = function(_, i)
      return methods_of[i] or types.read(world, kind, place(i)[last])
    end,
    __newindex = function(_, i, value)
      place(i)[last] = kind.accept(world, value, path)
    end,
  })
end

-- Whether two rows have the same components.
local function same_composition(a, b)
  for name in pairs(a) do
    if b[name] == nil then
      return false
    end
  end
  for name in pairs(b) do
    if a[name] == nil then
      return false
    end
  end
  return true
end

-- Takes out of `left` those with the components of `first`.
local function companions(store, left, order, first)
  local group, sorted = {}, {}
  for _, id in ipairs(order) do
    if left[id] and same_composition(store[first], store[id]) then
      left[id], group[id] = nil, true
      sorted[#sorted + 1] = id
    end
  end
  return group, sorted
end

-- All rows of one composition at a time.
function Query:chunks()
  local world = self.world
  local closer = loop_end(world)
  local left, order = matching(self)
  local next_first = taker(world, left, order)
  return function()
    local first = next_first()
    if not first then
      return nil
    end
    local chunk = { entities = { first } }
    for id in taker(world, companions(world.store, left, order, first)) do
      chunk.entities[#chunk.entities + 1] = id
    end
    chunk.n = #chunk.entities
    function chunk.column(_, path)
      return column(world, chunk, path)
    end
    return chunk
  end, nil, nil, closer
end

return methods
