-- Queries of the model: parsing, matching entity by entity, and the forms that loop.
-- Returns methods to be mixed into the model's world.

local of_key = require("spec.support.model_relations").of_key
local toggles = require "spec.support.model_toggles"
local types = require "spec.support.model_types"
local refuse = types.refuse

local methods = {}

local Query = {}
Query.__index = Query

-- ---- parsing ---------------------------------------------------------------------------

-- A component or a field, and the modifiers behind it, which come in any order.
local function parse_name(world, text)
  local name, modifiers = text:match("^%s*([%w_.%[%]]+)%s*(.-)%s*$")
  if not name then
    refuse("malformed term '%s'", text)
  end
  local plain, read_only = modifiers:gsub(":%s*in", "")
  local stated, state = toggles.state_of(plain)
  local rest, optional = stated:gsub("%?", "")
  if rest:find "%S" or read_only > 1 or optional > 1 then
    refuse("malformed term '%s'", text)
  end
  local component, keys, kind = world:resolve(name)
  if component.ties and not component.ties.exclusive then
    refuse("'%s' can have several targets", component.name)
  end
  toggles.need_state(component, state)
  return {
    component = component,
    path = keys and name:match("%.(.*)$"),
    keys = keys,
    leaf = kind,
    read_only = read_only > 0,
    optional = optional > 0,
    state = state,
  }
end

-- Whether functions are given something for a part of a term.
local function gives(term, item)
  if term.kind == "without" or term.filters then
    return false
  end
  return #item.component.fields > 0 or term.kind == "optional"
end

local function parse_term(world, text)
  local negated = text:match("^%s*!(.*)$")
  if negated then
    local parsed = parse_name(world, negated)
    if parsed.optional or parsed.read_only or parsed.keys then
      refuse("malformed term '%s'", text)
    end
    return { kind = "without", parsed }
  end
  local term, filter = { kind = "with" }, text:match("^%s*with%s+([%a_].*)$")
  term.filters = filter ~= nil
  for part in ((filter or text) .. "|"):gmatch("([^|]*)|") do
    term[#term + 1] = parse_name(world, part)
    term.kind = term[#term].optional and "optional" or term.kind
  end
  if term.kind == "optional" and (term.filters or #term > 1) then
    refuse("malformed term '%s'", text)
  end
  return term
end

-- Terms as the runtime's query text gives them: a list of { kind, alternatives... }.
local function parse(world, text)
  local terms = {}
  if not text:find("%S") then
    return terms
  end
  for part in (text .. ","):gmatch("([^,]*),") do
    terms[#terms + 1] = parse_term(world, part)
  end
  return terms
end

local function satisfies(row, term)
  local kind = term.kind
  if kind == "optional" then
    return true
  end
  for i = 1, #term do
    if toggles.finds(row, term[i]) then
      return kind == "with"
    end
  end
  return kind == "without"
end

function methods.query(world, text)
  local query = setmetatable({ world = world, terms = parse(world, text) }, Query)
  query:find_data()
  world.open_queries[query] = true
  return query
end

function Query:find_data()
  self.data = {}
  for _, term in ipairs(self.terms) do
    for _, alternative in ipairs(term) do
      if gives(term, alternative) then
        self.data[#self.data + 1] = alternative
      end
    end
  end
end

-- An error when a component or field of the query is no longer declared.
local function need_whole(query)
  if query.broken then
    refuse("a field of the query is no longer declared")
  end
  for _, term in ipairs(query.terms) do
    for _, alternative in ipairs(term) do
      if query.world.components_by_id[alternative.component.id] ~= alternative.component then
        refuse("a component of the query is no longer declared")
      end
    end
  end
end

function methods.count(world, text)
  return world:query(text):count()
end

function Query:matches(row)
  if self.world.is_hidden(row) then
    return false
  end
  for _, term in ipairs(self.terms) do
    if not satisfies(row, term) then
      return false
    end
  end
  return true
end

function Query:count()
  need_whole(self)
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
  need_whole(query)
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
-- where that is among them, else the lowest. `order` holds them all, sorted. To a `blind` query
-- nothing is hinted.
local function taker(world, left, order, blind)
  local at = 0
  return function()
    local id = not blind and world.hints[world.hint] or nil
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
  local left, order = matching(query)
  local packed = query.world.packed_order(query)
  if packed then
    return query.world.packed_taker(query, left, table.move(packed, 1, #packed, 1, {}))
  end
  return taker(query.world, left, order, query.blind)
end

-- ---- views -----------------------------------------------------------------------------

local function put(stored, keys, value)
  for i = 1, #keys - 1 do
    stored = stored[keys[i]]
  end
  stored[keys[#keys]] = value
end

-- The type of a field or element, an error when there is none.
local function part_of(kind, key)
  if kind.kind == "array" then
    if math.type(key) ~= "integer" or key < 1 or key > kind.n then
      refuse("no element %s", tostring(key))
    end
    return kind.of
  end
  local field = kind.by_name[key]
  if not field then
    refuse("component '%s' has no field '%s'", kind.name, tostring(key))
  end
  return field.type
end

-- A view of the component, nested component or array whose stored value `fetch` returns now.
function methods.view(world, kind, fetch, read_only)
  return setmetatable({}, {
    __index = function(_, key)
      local index = kind.kind == "array" and math.type(key) == "integer" and key
      if index and (index < 1 or index > kind.n) then
        return nil
      end
      local part = part_of(kind, key)
      if part.kind == "scalar" then
        return types.read(world, part, fetch()[key])
      end
      return world:view(part, function()
        return fetch()[key]
      end, read_only)
    end,
    __newindex = function(_, key, value)
      local part = part_of(kind, key)
      if read_only or kind.ties and key == "target" then
        refuse("read-only")
      end
      local stored = fetch()
      local patch = types.patch(world, part, value, tostring(key))
      stored[key] = types.merge(part, stored[key], patch)
    end,
  })
end

local function need_open(scope)
  if scope.ended then
    refuse("the loop has ended")
  end
end

-- What the function forms and `for` get for one row, `absent` in place of what is not there or
-- nil. Views end with the scope.
local function arguments(query, id, absent, scope)
  local list = {}
  for i, item in ipairs(query.data) do
    local stored = toggles.found(query.world.store[id], item)
    if stored == nil then
      list[i] = absent
    elseif #item.component.fields == 0 then
      list[i] = true
    elseif item.keys then
      local value = stored
      for _, key in ipairs(item.keys) do
        value = value[key]
      end
      list[i] = types.read(query.world, item.leaf, value)
      if list[i] == nil then
        list[i] = absent
      end
    else
      list[i] = query.world:view(item.component, function()
        need_open(scope)
        return stored
      end, item.read_only)
    end
  end
  return list
end

-- ---- forms -----------------------------------------------------------------------------

-- Runs fn(scope, ...) inside a scope; an error cancels it and goes on to the caller.
function methods.guarded(world, kind, fn, ...)
  local scope = world:open_scope(kind)
  local ok, message = pcall(fn, scope, ...)
  if not ok then
    world:cancel_from(scope)
    error(message, 0)
  end
  world:commit_scope(scope)
end

-- The scope of a `for` loop, and its to-be-closed value: leaving by an error drops the
-- loop's commands, leaving in any other way keeps them.
local function begin_loop(world)
  local scope = world:open_scope("loop")
  local function finish(_, problem)
    if scope.ended then
      return
    elseif problem ~= nil then
      world:cancel_scope(scope)
    else
      world:commit_scope(scope)
    end
  end
  return scope, setmetatable({}, { __close = finish, __gc = finish })
end

-- Ends a loop that came to its end, and tells later calls of its iterator so.
local function finish_loop(world, scope)
  scope.done = true
  world:commit_scope(scope)
end

function Query:each(fn, dt)
  if fn then
    return self.world:in_form_stream(self.each_call, self, fn, dt)
  end
  local next_id = visits(self)
  local scope, closer = begin_loop(self.world)
  local width = #self.data
  return function()
    if scope.done then
      return nil
    end
    need_open(scope)
    local id = next_id()
    if not id then
      finish_loop(self.world, scope)
      return nil
    end
    local list = arguments(self, id, false, scope)
    list[width + 1] = id
    return table.unpack(list, 1, width + 1)
  end, nil, nil, closer
end

function Query:each_call(fn, dt)
  local width = #self.data
  self.world:guarded("form", function(scope)
    for id in visits(self) do
      local list = arguments(self, id, nil, scope)
      list[width + 1], list[width + 2] = (dt or 0) + 0.0, id
      self.world.stream.calls = 0
      fn(table.unpack(list, 1, width + 2))
    end
  end)
end

-- Only its set: for the rows that the function takes, once it has been asked for all.
function Query:where(fn)
  local width, world = #self.data, self.world
  local function taken(scope)
    local ids = {}
    for id in visits(self) do
      local list = arguments(self, id, nil, scope)
      list[width + 1] = id
      local takes = world:in_predicate_stream(fn, table.unpack(list, 1, width + 1))
      ids[#ids + 1] = takes and id or nil
    end
    return ids
  end
  return {
    set = function(_, ...)
      need_whole(self)
      world:given(...)
      local values = table.pack(...)
      world:guarded("form", function(scope)
        local ids = taken(scope)
        world:check_ties(ids, table.unpack(values, 1, values.n))
        scope.whole = ids[1] and #world.scopes == 1
        for _, id in ipairs(ids) do
          world:set(id, table.unpack(values, 1, values.n))
        end
      end)
    end,
  }
end

-- An error unless every term that gives something is a single field or a tag.
function Query:need_fields()
  for _, item in ipairs(self.data) do
    if not item.keys and #item.component.fields > 0 then
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
    local stored = toggles.found(query.world.store[id], item)
    if value ~= nil then
      if item.read_only or not stored or not item.keys then
        refuse("component '%s' cannot be written here", item.component.name)
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
  return self.world:in_form_stream(self.map_call, self, fn, dt)
end

function Query:map_call(fn, dt)
  self:need_fields()
  local width = #self.data
  self.world:guarded("form", function(scope)
    for id in visits(self) do
      local list = arguments(self, id, nil, scope)
      list[width + 1], list[width + 2] = (dt or 0) + 0.0, id
      self.world.stream.calls = 0
      local results = table.pack(fn(table.unpack(list, 1, width + 2)))
      store_results(self, id, results.n, table.unpack(results, 1, results.n))
    end
  end)
end

-- The id of the first row, as the hint says; nothing on no rows.
function Query:first()
  return table.unpack { visits(self)() }
end

-- ---- chunks ----------------------------------------------------------------------------

-- The term that gives a leaf, an error when the query has none.
local function term_of(query, component, keys)
  local path = table.concat(keys, ".")
  for _, item in ipairs(query.data) do
    local single = item.keys and table.concat(item.keys, ".")
    if item.component == component and (not single or single == path) then
      return item
    end
  end
  refuse("the query has no term for '%s'", component.name)
end

local Column = {}

-- The table and key where row i of a column is kept.
local function place(self, i)
  local stored = self.world.store[self.entities[i]][self.component.name]
  for k = 1, #self.keys - 1 do
    stored = stored[self.keys[k]]
  end
  return stored, self.keys[#self.keys]
end

function Column.read(self, into)
  for i = 1, self.n do
    into[i] = self[i]
  end
  return into
end

-- All of the values, or none when one does not fit.
function Column.write(self, from)
  self.need_writable()
  if #from > self.n then
    refuse("more values than rows")
  end
  local accepted = {}
  for i = 1, #from do
    accepted[i] = self.accept(from[i])
  end
  for i, value in ipairs(accepted) do
    local stored, key = place(self, i)
    stored[key] = value
  end
end

function Column.__index(self, i)
  if Column[i] then
    return Column[i]
  elseif self.entities[i] then
    local stored, key = place(self, i)
    return types.read(self.world, self.kind, stored[key])
  end
end

function Column.__newindex(self, i, value)
  local stored, key = place(self, i)
  stored[key] = self.accept(value)
end

-- A field of a chunk's rows; nil when they lack it.
local function column(query, rows, path)
  local world = query.world
  local component, keys, kind = world:resolve(path)
  if not keys then
    refuse("'%s' is a component, not a field", path)
  end
  local term = term_of(query, component, keys)
  if not world.store[rows[1]][component.name] then return nil end
  local function need_writable()
    local fixed = term.read_only or component.ties and keys[1] == "target"
    if fixed then refuse("'%s' is read-only", path) end
  end
  local function accept(value)
    need_writable()
    return kind.accept(world, value, path)
  end
  return setmetatable({ world = world, component = component, keys = keys, kind = kind,
    accept = accept, need_writable = need_writable, entities = rows, n = #rows }, Column)
end

-- Whether a row has in its table what another one has.
local function has_all_of(known, a, b)
  for name in pairs(a) do
    if b[name] == nil and not of_key(known, name).sparse then
      return false
    end
  end
  return true
end

-- Whether two rows are in one table.
local function same_composition(known, a, b)
  return has_all_of(known, a, b) and has_all_of(known, b, a)
end

-- Takes out of `left` those with the components of `first`.
local function companions(world, left, order, first)
  local group, sorted, store = {}, {}, world.store
  for _, id in ipairs(order) do
    if left[id] and same_composition(world.components_by_name, store[first], store[id]) then
      left[id], group[id] = nil, true
      sorted[#sorted + 1] = id
    end
  end
  return group, sorted
end

-- A chunk over a list of ids.
local function chunk_of(query, rows, scope)
  local chunk = { n = #rows }
  chunk.entities = setmetatable({}, {
    __index = function(_, i)
      need_open(scope)
      return rows[i]
    end,
  })
  function chunk.column(_, path)
    need_open(scope)
    return column(query, rows, path)
  end
  return chunk
end

-- All rows of one composition at a time, or, where these do not match alike, each by itself.
function Query:chunks()
  local world, by_row = self.world, self.world.goes_by_row(self) or toggles.has_toggles(self)
  local left, order = matching(self)
  local next_first = by_row and visits(self) or taker(world, left, order)
  local scope, closer = begin_loop(world)
  return function()
    if scope.done then
      return nil
    end
    need_open(scope)
    local first = next_first()
    if not first then
      finish_loop(world, scope)
      return nil
    end
    local rows = { first }
    if not by_row then
      for id in taker(world, companions(world, left, order, first)) do
        rows[#rows + 1] = id
      end
    end
    return chunk_of(self, rows, scope)
  end, nil, nil, closer
end

return methods
