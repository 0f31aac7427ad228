-- The operations of a trace, done on anything with the methods of a world. A step is data:
-- { at = number, "operation", arguments... }; so are the bodies of loops and systems (lists of
-- steps without `at`, with `pick` to choose among the rows).
-- Arguments may hold references (see trace_context.lua).
--
-- A new operation is a new function in `ops.list`, called with the context and the resolved
-- arguments; what it returns is compared between the worlds.

local context = require "spec.support.trace_context"
local ids = require "spec.support.model_ids"

local ops = {}

local list = {}
ops.list = list

local resolve, spawned = context.resolve, context.spawned
local THROWN = "thrown by the trace"

-- Operations whose later arguments are steps, not values: name -> how many values come first.
local bodies = {}

local function call(ctx, step)
  local name = step[1]
  local values = bodies[name] or math.huge
  local arguments, n = {}, #step - 1
  for i = 1, n do
    if i <= values then
      arguments[i] = resolve(ctx, step[i + 1])
    else
      arguments[i] = step[i + 1]
    end
  end
  return list[name](ctx, table.unpack(arguments, 1, n))
end

local function outcome(ok, ...)
  if ok then
    return { ok = true, n = select("#", ...), ... }
  end
  local problem = ...
  if problem == context.MISSING then
    return { ok = true, n = 0 }
  end
  return { ok = false, fault = context.fault_of(problem), message = tostring(problem) }
end

-- Does one step. Returns its outcome { ok, fault or results..., log, visits }; what a Lua
-- error says stays in `message`.
function ops.perform(ctx, step)
  ctx.at, ctx.spawned = step.at, 0
  ctx.log, ctx.visits, ctx.taken = {}, {}, {}
  ctx.self, ctx.views = nil, nil
  local result = outcome(pcall(call, ctx, step))
  result.log, result.visits, result.taken = ctx.log, ctx.visits, ctx.taken
  return result
end

-- Queries live on, so that they see tables come and go.
local function query_of(ctx, text)
  local query = ctx.queries[text]
  if not query then
    query = ctx.world:query(text)
    ctx.queries[text] = query
  end
  return query
end

-- ---- bodies ----------------------------------------------------------------------------

local function note(ctx, ...)
  local log = ctx.log
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    log[#log + 1] = value == nil and "nil" or value
  end
end

local function visit(ctx, id)
  ctx.visits[#ctx.visits + 1] = id
end

local function is_picked(step, id)
  local pick = step.pick
  return not pick or ids.index(id) % pick[1] == pick[2]
end

-- Does a body's steps for one row. Returns true when the loop should be left.
local function run_row(ctx, body, id, views)
  local outer_self, outer_views = ctx.self, ctx.views
  for _, step in ipairs(body) do
    if is_picked(step, id) then
      ctx.self, ctx.views = id, views
      if step[1] == "throw" then
        error(THROWN, 0)
      elseif step[1] == "break" then
        ctx.self, ctx.views = outer_self, outer_views
        return true
      end
      local result = outcome(pcall(call, ctx, step))
      note(ctx, result.ok, table.unpack(result, 1, result.n or 0))
    end
  end
  ctx.self, ctx.views = outer_self, outer_views
  return false
end

-- Does a body's steps once, outside rows.
local function run_body(ctx, body)
  for _, step in ipairs(body) do
    if step[1] == "throw" then
      error(THROWN, 0)
    end
    local result = outcome(pcall(call, ctx, step))
    note(ctx, result.ok, table.unpack(result, 1, result.n or 0))
  end
end

-- ---- components and entities -----------------------------------------------------------

-- Returns what a migration did.
function list.declare(ctx, name, fields)
  local id, report = ctx.world:component(name, fields)
  ctx.components[name] = id
  if report then
    ctx.components[report.was or ""] = nil
    return report.rows, report.kept, report.added, report.dropped, report.converted,
      report.renamed, report.was
  end
end

function list.tag(ctx, name)
  ctx.components[name] = ctx.world:tag(name)
end

function list.undeclare(ctx, name)
  ctx.world:undeclare(name)
  ctx.components[name] = nil
end

-- Systems that spawn for each row must not fill the world: a step spawns a few at most.
function list.spawn(ctx, components)
  if ctx.spawned < 30 then
    return spawned(ctx, ctx.world:spawn(components))
  end
end

function list.spawn_many(ctx, count, components)
  local new = ctx.world:spawn_many(count, components)
  for _, id in ipairs(new) do
    spawned(ctx, id)
  end
  return new
end

-- A copy and its children, which are there outside of scopes, where this is done.
local function family_of(ctx, first)
  local family = { spawned(ctx, first) }
  for _, copy in ipairs(family) do   -- grows on the way
    for child in ctx.world:children(copy) do
      family[#family + 1] = spawned(ctx, child)
    end
  end
  return family
end

function list.clone(ctx, entity, components)
  return family_of(ctx, ctx.world:clone(entity, components))
end

-- Steps about prefabs alone name them: they are noted apart from others.
function list.prefab(ctx, name, children)
  local listed, made = {}, {}
  for at, child in ipairs(children) do
    listed[at] = child and { child } or {}
  end
  made[1] = ctx.world:prefab(name, {}, { children = listed })
  for child in ctx.world:children(made[1]) do
    made[#made + 1] = child
  end
  for at, id in ipairs(made) do
    ctx.taken[#ctx.taken + 1] = id
    ctx.ids[("%d.%d"):format(ctx.at, at)] = id
    ctx.prefabs[#ctx.prefabs + 1] = ("@%d.%d"):format(ctx.at, at)
  end
  return made[1]
end

function list.instantiate(ctx, name, components)
  return family_of(ctx, ctx.world:instantiate(name, components))
end

-- An id of the slot of `near`, `ahead` indices further, in its `generation`.
function list.spawn_at(ctx, near, ahead, generation, components)
  local id = ids.pack(ids.index(near) + ahead, generation, ids.tag(near))
  return spawned(ctx, ctx.world:spawn_at(id, components))
end

for _, name in ipairs { "despawn", "set", "get", "read", "add", "remove", "has", "alive",
  "enable", "disable", "enabled", "name", "lookup", "random", "count", "entity_range",
  "recycle_retired", "phase", "remove_system", "switch", "update", "run", "alpha", "defer",
  "commit", "cancel" } do
  list[name] = function(ctx, ...)
    return ctx.world[name](ctx.world, ...)
  end
end

function list.components(ctx, entity)
  local values = {}
  for name, value in ctx.world:components(entity) do
    values[name] = value
  end
  return values
end

function list.resource(ctx, name, fields)
  ctx.world:resource(name, fields)
end

-- What the keys but the last lead to from a view, and the last one: { "x" }, { "m", 2 },
-- { "offset", "x" } lead to one value. Nothing for a view that is false or nil.
local function view_part(view, keys)
  for i = 1, view and #keys - 1 or 0 do
    view = view[keys[i]]
  end
  if view and type(view) ~= "userdata" and not getmetatable(view) then
    error("no view", 0)
  end
  return view, keys[#keys]
end

-- A value of a view; what shows more than one value is only called a view.
local function part_of(view, key)
  local value = view[key]
  local meta = (type(value) == "table" or type(value) == "userdata") and getmetatable(value)
  if meta == false or type(value) == "table" and meta then
    return "view"
  end
  return value
end

function list.resource_set(ctx, name, keys, value)
  local view, key = view_part(ctx.world:res(name), keys)
  view[key] = value
end

function list.resource_get(ctx, name, keys)
  local view, key = view_part(ctx.world:res(name), keys)
  return part_of(view, key)
end

-- What a query that lives on counts.
function list.query_count(ctx, text)
  return query_of(ctx, text):count()
end

-- Lets go of the queries that live on.
function list.forget(ctx)
  ctx.queries = {}
end

-- A few steps of the collector; worlds must not notice.
function list.collect(_, size)
  collectgarbage("step", size)
end

-- ---- views, inside bodies --------------------------------------------------------------

function list.view_get(ctx, nth, keys)
  local view, key = view_part(ctx.views[nth], keys)
  return view and part_of(view, key)
end

function list.view_set(ctx, nth, keys, value)
  local view, key = view_part(ctx.views[nth], keys)
  if view then
    view[key] = value
  end
end

function list.view_add(ctx, nth, keys, value)
  local view, key = view_part(ctx.views[nth], keys)
  if view then
    view[key] = view[key] + value
  end
end

-- ---- scopes and loops ------------------------------------------------------------------

bodies.scope = 1

-- A defer around a body, ended by "commit" or "cancel", by "cancel" too when the body throws.
function list.scope(ctx, ending, body)
  ctx.world:defer()
  local ok, problem = pcall(run_body, ctx, body)
  ctx.world[ok and ending or "cancel"](ctx.world)
  if not ok then
    error(problem, 0)
  end
end

bodies.loop = 1

-- for views..., entity in query:each(), with up to seven views.
function list.loop(ctx, text, body)
  for a, b, c, d, e, f, g, h in query_of(ctx, text):each() do
    local row = { a, b, c, d, e, f, g, h }
    local id = row[#row]
    visit(ctx, id)
    if run_row(ctx, body, id, row) then
      break
    end
  end
end

bodies.leave = 1

-- The same in a coroutine that is left after its first row.
function list.leave(ctx, text, body)
  local thread = coroutine.create(function()
    for a, b, c, d, e, f, g, h in query_of(ctx, text):each() do
      local row = { a, b, c, d, e, f, g, h }
      visit(ctx, row[#row])
      if run_row(ctx, body, row[#row], row) then
        break
      end
      coroutine.yield()
    end
  end)
  ctx.left[#ctx.left + 1] = thread
  return list.resume(ctx, #ctx.left)
end

-- The next row of the nth loop that was left.
function list.resume(ctx, nth)
  local at = (nth - 1) % math.max(1, #ctx.left) + 1
  local thread = ctx.left[at]
  if not thread then
    return "none"
  end
  local ok, problem = coroutine.resume(thread)
  if coroutine.status(thread) == "dead" then
    table.remove(ctx.left, at)
    coroutine.close(thread)
  end
  if not ok then
    error(problem, 0)
  end
end

-- Closes the nth loop that was left, or leaves it to the collector.
function list.drop(ctx, nth, by_collector)
  local thread = table.remove(ctx.left, (nth - 1) % math.max(1, #ctx.left) + 1)
  if thread and not by_collector then
    coroutine.close(thread)
  elseif thread then
    thread = nil
    collectgarbage()
  end
  return thread ~= nil
end

-- A function for query:each that does a body: given views, dt and the entity.
local function visitor(ctx, name, body)
  return function(...)
    local dt, id = select(-2, ...)
    visit(ctx, id)
    note(ctx, name, dt)
    run_row(ctx, body, id, { ... })
  end
end

bodies.each = 2

-- query:each(fn, dt)
function list.each(ctx, text, dt, body)
  query_of(ctx, text):each(visitor(ctx, "each", body), dt)
end

bodies.where_set = 3

-- query:where(fn):set(...), for the rows whose ids are multiples of a number.
function list.where_set(ctx, text, divisor, given, body)
  query_of(ctx, text):where(function(...)
    local id = select(-1, ...)
    visit(ctx, id)
    note(ctx, "where")
    run_row(ctx, body, id, { ... })
    return id % divisor == 0
  end):set(table.unpack(given))
end

local function map_result(item, arguments)
  if item == "nil" then
    return nil
  elseif item.sum then
    return arguments[item.sum[1]] + arguments[item.sum[2]]
  elseif item.argument then
    return arguments[item.argument]
  end
  return item.value
end

-- A function for q:map that gives what the recipe says and does a body.
local function mapper(ctx, recipe, body)
  return function(...)
    local arguments, _, id = { ... }, select(-2, ...)
    visit(ctx, id)
    note(ctx, ...)
    run_row(ctx, body, id, {})
    local results = {}
    for i, item in ipairs(recipe) do
      results[i] = map_result(item, arguments)
    end
    return table.unpack(results, 1, #recipe)
  end
end

bodies.map = 3

-- query:map(fn, dt); the recipe is a list of "nil", { value = }, { argument = nth } and
-- { sum = { nth, nth } }.
function list.map(ctx, text, dt, recipe, body)
  query_of(ctx, text):map(mapper(ctx, recipe, body), dt)
end

local columns = {}

function columns.read(ctx, column)
  note(ctx, column:read({}))
end

function columns.peek(ctx, column, n)
  note(ctx, column[1], column[n])
end

function columns.put(_, column, n, value)
  column[n] = value
end

function columns.fill(_, column, n, value)
  local values = {}
  for i = 1, n do
    values[i] = value
  end
  column:write(values)
end

bodies.chunks = 2

-- for chunk in query:chunks(): `actions` on columns ({ "read", path }, { "peek", path },
-- { "put", path, value }, { "fill", path, value }), then a body for each entity.
function list.chunks(ctx, text, actions, body)
  for chunk in query_of(ctx, text):chunks() do
    local n, entities = chunk.n, chunk.entities
    for i = 1, n do
      visit(ctx, entities[i])
    end
    for _, action in ipairs(actions) do
      local column = chunk:column(action[2])
      columns[action[1]](ctx, column, n, action[3])
    end
    for i = 1, n do
      run_row(ctx, body, entities[i], {})
    end
  end
end

-- query:first(): the id of the row that comes first, nothing on no rows.
function list.first(ctx, text)
  local id = query_of(ctx, text):first()
  if id then
    visit(ctx, id)
  end
  return id
end

-- ---- systems ---------------------------------------------------------------------------

local function system_function(ctx, name, plan)
  if plan.form == "each" then
    return visitor(ctx, name, plan.body)
  elseif plan.form == "map" then
    return mapper(ctx, plan.recipe, plan.body)
  end
  return function(_, dt)
    note(ctx, name, dt)
    run_body(ctx, plan.body)
  end
end

bodies.system = 1

-- plan: phase, query, before, after, every, enabled as for world:system; form = "each", "map"
-- or "run" with recipe and body; when = n lets every n-th call pass.
function list.system(ctx, name, plan)
  local spec = {
    phase = plan.phase,
    query = plan.query,
    before = plan.before,
    after = plan.after,
    every = plan.every,
    enabled = plan.enabled,
  }
  spec[plan.form] = system_function(ctx, name, plan)
  if plan.when then
    spec.when = function()
      ctx.calls[name] = (ctx.calls[name] or 0) + 1
      note(ctx, "when", name)
      return ctx.calls[name] % plan.when == 0
    end
  end
  ctx.world:system(name, spec)
end

-- Lets a handler that notes the system's name take errors of systems.
function list.on_error(ctx)
  ctx.world:on_error(function(_, name)
    note(ctx, "failed", name)
  end)
end

-- The running order and the state of the systems, as describe lists them.
function list.systems(ctx)
  local lines = {}
  for i, system in ipairs(ctx.world:describe().systems) do
    lines[i] = { system.name, system.phase, system.enabled, system.parked, system.runs }
  end
  return lines
end

return ops
