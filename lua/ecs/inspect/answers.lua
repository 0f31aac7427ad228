-- The data that the inspector's page shows. This file only reads the world. It visits rows by
-- chunks, which open no stream of random numbers, and for at most 2 ms at a time.

local common = require "ecs.common"
local dump = require "ecs.entity_dump"
local json = require "ecs.json"
local native = require "ecs.native"

local answers = {}

local ROWS = 200         -- matches of a query that are shown
local POINTS = 6000      -- entities that the map shows
local PERIOD = { entities = 0.1, entity = 0.1, systems = 0.25, storage = 0.5, map = 0.2,
  time = 0.25, scripts = 0.5 }   -- seconds between two answers of a stream
local BUDGET = 0.002     -- seconds for one answer; for refreshing rows that are already shown:
local REFRESH = 0.00015
local TOP = 0.2          -- seconds between two headers of the page
local LOOK = 0.5         -- seconds between two searches for the entities of a query
local TEXT = 400         -- bytes that are shown of a text in a list
local LONG = 30000       -- of one that can be edited
local TYPES = 50         -- components of a table that are shown

local function list(items)
  return setmetatable(items or {}, json.list)
end

--- What is wrong, for a page that knows neither our files nor the arguments of their calls.
function answers.problem(problem)
  local text = tostring(type(problem) == "table" and problem.message or problem)
  return (common.without_place(text, "ecs.inspect.%l+")
    :gsub("^bad argument #%d+ to '[^']*' %((.*)%)$", "%1"))
end

-- Wraps a text that needs no escapes or already has them.
local function raw(text)
  return setmetatable({ '"', text, '"' }, json.raw)
end

-- Returns the beginning of a text.
local function cut(text)
  return #text > TEXT and text:sub(1, utf8.offset(text, 0, TEXT) - 1) .. "..." or text
end

-- Every cell of a component's value as { path, text, type, id }, in order. What a line of text
-- that is typed could not be is shown like values that cannot be edited.
local function leaves_of(state, name, value)
  local out = list()
  for i, leaf in ipairs(dump.leaves(state.world, state.about, name, value)) do
    out[i] = list(leaf)
    local odd = leaf[3] == "any" or #leaf[2] > LONG or leaf[2]:find "%c" or not utf8.len(leaf[2])
    leaf[2], leaf[3] = odd and cut(leaf[2]) or leaf[2], odd and "any" or leaf[3]
  end
  return out
end

-- Escapes a text for JSON, without the characters that separate cells and rows.
local function safe(text)
  return json.escape((json.readable(text):gsub("\xEE\x80[\x80\x81]", "?")))
end

local function names_of(world, id)
  local names = {}
  for name in world:components(id) do
    names[#names + 1] = type(name) == "string" and name or nil
  end
  return table.concat(names, ", ")
end

-- Creates a query from a text that was typed into the page. Raises an error if it is not valid.
local function query_of(world, text)
  local free, marks = 0, {}
  for mark in text:gmatch "[*$][%w_]*" do
    free, marks[mark] = free + (marks[mark] and 0 or 1), mark ~= "*"
  end
  if text:find ":%s*changed" or text:find ":%s*added" then
    error("':changed' and ':added' cannot be used here: they would record in the world what the "
      .. "query has seen, and the inspector must not change the world", 0)
  elseif free > 2 then
    error("use at most two of them: matches of wildcards and variables multiply", 0)
  end
  local ok, query = native.try(world.query, world, text)
  return ok and query or error(query, 0)
end

-- Returns the first entities of a query, and the number of all. With several wildcards or
-- variables there may be very many matches: they are counted as far as the time allows.
local function entities_of(query, text, most, clock, stop)
  local ids, count, several = list(), 0, text:find "[*$].*[*$]"
  for chunk in query:chunks() do
    local entities = chunk.entities
    count = count + chunk.n
    for i = 1, math.min(chunk.n, most - #ids) do
      ids[#ids + 1] = entities[i]
    end
    if #ids == most and not several or clock() > stop - BUDGET / 2 then
      break
    end
  end
  return ids, several and count or query:count()
end

-- Returns the components that a query's text names. Each becomes a column.
local function columns_of(state, text)
  local names, known = list(), {}
  for mark, word in text:gmatch "(!?)([%a_][%w_]*)" do
    if mark == "" and not known[word] and #names < 8 and pcall(state.about, word) then
      names[#names + 1], known[word] = word, true
    end
  end
  return names
end

local views = {}
answers.views = views

-- Searches for the first entities of the query, and builds the rows of new ones.
local function look(state, most, clock, now, make)
  local texts, old = state.texts or {}, state.ids or {}
  local ids, count = entities_of(state.query, state.asked.q or "", most, clock, now + BUDGET)
  state.looks = (state.looks or 0) % 8 + 1
  state.heads = state.looks > 1 and state.heads or {}
  for i = 1, math.max(#ids, #old) do
    if ids[i] ~= old[i] then
      texts[i] = ids[i] and (clock() < now + BUDGET and make(ids[i]))
    end
  end
  state.ids, state.texts, state.count, state.looked = ids, texts, count, now
end

-- Refreshes the rows of the first entities of the query, in order. Rows for which there is no time
-- stay as they were and are refreshed first the next time.
local function refresh(state, most, clock, seconds, make)
  local now, world, out = clock(), state.world, {}
  if not state.ids or now - state.looked >= LOOK or now < state.looked then
    look(state, most, clock, now, make)
  end
  local ids, texts, at = state.ids, state.texts, state.at or 0
  local stop = state.missing and now + BUDGET or clock() + seconds
  for step = 1, #ids do
    at = at % #ids + 1
    texts[at] = world:alive(ids[at]) and make(ids[at]) or texts[at]
    if step % 8 == 0 and clock() > stop then
      break
    end
  end
  state.at = at
  for i = 1, #ids do
    out[#out + 1] = texts[i] or nil
  end
  state.missing = #out < #ids
  return out
end

function views.entities(state, clock)
  local world = state.world
  state.query = state.query or query_of(world, state.asked.q or "")
  if not state.columns then
    state.columns, state.makers = columns_of(state, state.asked.q or ""), {}
    for i, name in ipairs(state.columns) do
      local make, plain = dump.liner(world, state.about, name)
      state.makers[i] = plain and make or function(id) return safe(cut(make(id))) end
    end
  end
  -- There are many rows, so each is a single text. Private-use characters separate cells and rows.
  local makers = state.makers
  local rows = refresh(state, ROWS, clock, REFRESH, function(id)
    local text = state.heads[id] or id .. "\u{E000}" .. safe(dump.entity(world, id))
    state.heads[id] = text
    for i = 1, #makers do
      text = text .. "\u{E000}" .. makers[i](id)
    end
    text = #makers > 0 and text or text .. "\u{E000}" .. safe(names_of(world, id))
    return text .. "\u{E001}"
  end)
  return { columns = #state.columns > 0 and state.columns or list { "Components" }, shown = #rows,
    rows = raw(table.concat(rows)), count = state.count }
end

local function children_of(world, entity, depth, left)
  local children = list()
  for child in world:children(entity) do
    if #children == 100 or left[1] == 0 then
      break
    end
    left[1] = left[1] - 1
    children[#children + 1] = { id = child, name = dump.entity(world, child),
      children = depth > 1 and children_of(world, child, depth - 1, left) or list() }
  end
  return children
end

local function ties_of(state, entity, name)
  local world, ties = state.world, list()
  for target in world:targets(entity, name) do
    if #ties == 100 then
      break
    end
    ties[#ties + 1] = { id = target, name = dump.entity(world, target),
      text = dump.line(world, state.about, name, world:read(entity, name, target) or {}) }
  end
  return ties
end

function views.entity(state)
  local world, id = state.world, math.tointeger(tonumber(state.asked.id)) or 0
  if not world:alive(id) then
    return { id = id, dead = true }
  end
  local components, paired = list(), false
  for name, value in world:components(id) do
    if type(name) == "string" then
      local about = state.about(name)
      components[#components + 1] = { name = name, leaves = value ~= true
        and leaves_of(state, name, value) or list(),
        off = about.toggle and not world:enabled(id, name) or nil }
    else
      paired = true
    end
  end
  for _, name in ipairs(paired and state.inspector.components or {}) do
    local about = state.about(name)
    if about.relation and not about.exclusive and world:has(id, name) then
      components[#components + 1] = { name = name, leaves = list(),
        ties = ties_of(state, id, name) }
    end
  end
  return { id = id, name = world:name(id), children = children_of(world, id, 4, { ROWS }),
    title = dump.entity(world, id), components = components }
end

function views.systems(state)
  local world = state.world
  local now = world:describe()
  local fresh = state.updates and state.inspector.updates - state.updates or 240
  state.updates = state.inspector.updates
  return { systems = list(now.systems), observers = list(now.observers),
    phases = list(now.phases), frames = list(world:frames(math.max(0, math.min(fresh, 240)))) }
end

function views.storage(state)
  local world = state.world
  local now, sparse, arrays = world:describe(), list(), list()
  for _, name in ipairs(now.components) do
    sparse[#sparse + 1] = state.about(name).storage == "sparse"
      and { name = name, rows = world:count(name) } or nil
  end
  for i, name in ipairs(now.arrays) do
    arrays[i] = { name = name, length = #world:array(name) }
  end
  table.sort(now.tables, function(a, b) return a.bytes > b.bytes end)
  local tables = list(table.move(now.tables, 1, math.min(#now.tables, 200), 1, {}))
  for _, each in ipairs(tables) do
    each.types = list(table.move(each.types, 1, math.min(#each.types, TYPES), 1, {}))
    each.columns = nil
  end
  return { tables = tables, table_count = #now.tables, sparse = sparse, indexes = list(now.indexes),
    arrays = arrays, queries = list(now.queries), bytes = now.bytes, rows = now.rows }
end

-- Returns a number field of an entity, or NaN if it is absent.
local function number_of(world, entity, field)
  local value = not field and "" or world:get(entity, field)
  return type(value) == "boolean" and (value and 1 or 0) or math.type(value) and value or 0 / 0
end

function views.map(state, clock)
  local world, asked = state.world, state.asked
  state.query = state.query or query_of(world, asked.q or "")
  local x, y, c, s = asked.x, asked.y, asked.c ~= "" and asked.c, asked.s ~= "" and asked.s
  local points = refresh(state, POINTS, clock, BUDGET, function(id)
    return ("%d %.6g %.6g %.6g %.6g"):format(id, number_of(world, id, x), number_of(world, id, y),
      number_of(world, id, c), number_of(world, id, s))
  end)
  -- In a locale with a decimal comma, these are the only commas.
  return { points = raw((table.concat(points, ";"):gsub(",", "."))), count = state.count }
end

views.time = function(state) return state.inspector:time() end

function views.scripts(state)
  local session = state.inspector.session
  if not session then
    return { none = true }
  end
  local status = session:status()
  local files, report = list(), status.last_report
  for i, path in ipairs(status.files) do
    files[i] = { path = path, version = status.versions[path] }
  end
  return { files = files, orphans = list(status.orphans), swapped = report and report.components,
    swapped_files = list(report and report.files),
    last_error = status.last_error and tostring(status.last_error) }
end

--- Creates the stream of a view's content: { next = function(self, now), close = function(self) }.
function answers.stream(inspector, asked)
  local view = views[asked.view]
  local state = { inspector = inspector, world = inspector.world, asked = asked,
    about = json.describer(inspector.world), told = 0 }
  local clock = inspector.server.clock
  local stream = { view = asked.view, due = 0 }
  function stream:next(now)
    if now < self.due and self.due - now < 1 then
      return nil
    end
    self.due = now + PERIOD[self.view]
    local top = inspector:top()
    if state.seen ~= top.declared then
      state.seen, state.about = top.declared, json.describer(inspector.world)
      state.query, state.columns = nil, nil
    end
    local ok, shown = native.try(view, state, clock)
    self.due, state.seen = ok and self.due or now + 1, ok and state.seen or nil
    local tells = now - state.told >= TOP or now < state.told
    state.told = tells and now or state.told
    return { view = self.view, top = tells and top or nil, data = ok and shown or nil,
      error = not ok and answers.problem(shown) or nil }
  end
  stream.close = inspector:entered(asked.view)
  return stream
end

--- Returns all declarations, for completing names and for editing fields.
function answers.schema(inspector)
  local world, components = inspector.world, list()
  local now = world:describe()
  table.sort(now.components)
  for i, name in ipairs(now.components) do
    components[i] = world:describe(name)
    list(components[i].fields)
  end
  table.sort(now.prefabs)
  return { components = components, prefabs = list(now.prefabs), events = list(now.events),
    edit = inspector.edit, session = inspector.session ~= nil }
end

--- Returns the explanation of a system.
function answers.explain(inspector, name)
  local world = inspector.world
  local ok, about = native.try(world.explain, world, name)
  if not ok then
    return 400, { error = answers.problem(about) }
  end
  local beside
  for _, phase in next, world:explain "update" do
    for _, batch in ipairs(phase) do
      for _, other in ipairs(type(batch) == "table" and batch or {}) do
        beside = other == name and batch or beside
      end
    end
  end
  return 200, { name = name, about = about, beside = beside and { systems = list(
    table.move(beside, 1, #beside, 1, {})), why = beside.why, together = beside.together,
    apart = beside.apart } }
end

return answers
