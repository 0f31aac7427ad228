-- Steps about queries whose terms ask for ties, paths and variables. What they match is worked out
-- by terms_oracle.lua on the model, and by every form on the runtime.

local compare = require "spec.support.compare"
local context = require "spec.support.trace_context"
local gen = require "spec.support.trace_gen"
local kinds = require "spec.support.trace_kinds"
local ops = require "spec.support.trace_ops"
local toggles = require "spec.support.model_toggles"
local oracle = require "spec.support.terms_oracle"
local values = require "spec.support.trace_values"

local list = ops.list

-- ---- what the oracle asks --------------------------------------------------------------

-- A value that shows as the same text in both worlds: parts of components show as one word, tables
-- by what is in them, as each world may have its own.
local function plain(value, is_part)
  if is_part then
    return "parts"
  elseif type(value) == "table" then
    return compare.show(value)
  end
  return value ~= value and "nan" or value
end

local function describe(world, name)
  local component = world:need_component(name)
  local fields = {}
  for at, field in ipairs(component.fields) do
    fields[at] = { name = field.name, is_part = field.type.kind ~= "scalar" }
  end
  local ties = component.ties
  return { id = component.id, fields = fields, toggle = component.toggle,
    relation = ties ~= nil, exclusive = ties and ties.exclusive }
end

-- A query of all entities that queries see.
local function everybody(world)
  local ids = {}
  for id, row in pairs(world.store) do
    ids[#ids + 1] = not world.is_hidden(row) and id or nil
  end
  table.sort(ids)
  local function each()
    local at = 0
    return function()
      at = at + 1
      return ids[at]
    end
  end
  return { each = each, ids = function() return ids end }
end

-- A field, as it is seen on the way to somebody, or all fields.
local function get(world, entity, name, target)
  local whole, field = name:match "^([^.]*)%.?(.*)$"
  local component = world:need_component(whole)
  if component.toggle and field ~= "" and not world:enabled(entity, whole) then
    return nil
  elseif field ~= "" then
    return plain((world:get(entity, name)))
  end
  local shown = {}
  for at, known in ipairs(component.fields) do
    local is_part = known.type.kind ~= "scalar"
    local path = whole .. "." .. known.name
    shown[at] = plain(not is_part and world:get(entity, path, table.unpack { target }), is_part)
  end
  return table.unpack(shown, 1, #component.fields)
end

-- The model as the oracle asks it; nothing is kept, as components may be declared again.
local function of_model(world)
  local side = {}
  for name, method in pairs { describe = describe, query = everybody, get = get } do
    side[name] = function(_, ...) return method(world, ...) end
  end
  function side.is_prefab(_, id)
    return world.is_hidden(world.store[id] or {})
  end
  for _, name in ipairs { "has", "enabled", "alive", "target", "targets", "sources" } do
    side[name] = function(_, ...) return world[name](world, ...) end
  end
  return side
end

-- The runtime as the oracle asks it for what terms give.
local function of_runtime(world)
  return { describe = function(_, name)
    local described = world:describe(name)
    for _, field in ipairs(described.fields) do
      local kind = field.type
      field.is_part = kind:find "%[" ~= nil or not values.is_scalar(kind)
    end
    return described
  end }
end

-- ---- what cannot be asked --------------------------------------------------------------

local function need_single(component)
  if component.ties and not component.ties.exclusive then
    error(("'%s' can have several targets"):format(component.name), 0)
  end
end

-- A part of the row's own: a component, or its field of numbers.
local function check_own(world, term)
  for _, part in ipairs(term) do
    local component, _, kind = world:resolve(part.field and part.name .. "." .. part.field
      or part.name)
    need_single(component)
    toggles.need_state(component, term.state or "on")
    if part.field and not kind.name:find "^[iuf]%d" then
      error("no field of numbers", 0)
    end
  end
end

local function check_path(world, term)
  local component, keys, kind = world:resolve(term.way)
  need_single(component)
  need_single(world:need_component(term.name))
  if keys and kind.name ~= "entity" or not keys and not component.ties then
    error(("no path goes along '%s'"):format(term.way), 0)
  end
end

-- An error when the components and relations as they are now do not allow the terms.
local function check(world, terms)
  for _, term in ipairs(terms) do
    if term.kind == "own" then
      check_own(world, term)
    elseif term.kind == "path" then
      check_path(world, term)
    elseif term.kind == "ask" then
      need_single(world:need_component(term.name))
    else
      world:need_relation(term.name)
      if not term.target:find "^[$*]" then
        world:need_component(term.target)
      end
    end
  end
end

-- What is wrong with an id, but that it is dead: that may be asked for. A step of which something
-- was taken away asks for nothing.
local function fault_of(world, texts, given)
  if type(texts) ~= "table" or type(given) ~= "table" or #texts == 0 then
    return "nothing"
  end
  local ok, problem = pcall(world.components, world, given.p or 0)
  local fault = given.p and not ok and context.fault_of(problem)
  return fault ~= "dead" and fault or nil
end

-- ---- matches as text -------------------------------------------------------------------

local function show(slot, value, absent)
  if slot.fields and not slot.field and value ~= absent then
    local copy = {}
    for _, field in ipairs(slot.described) do
      copy[field.name] = plain(not field.is_part and value[field.name], field.is_part)
    end
    return oracle.show(slot, copy, absent)
  end
  return oracle.show(slot, plain(value), absent)
end

local function by_function(query, slots)
  local lines = {}
  query:each(function(...)
    lines[#lines + 1] = oracle.line_of(show, slots, nil, 1, ...)
  end)
  return lines
end

local function one() return 1 end

-- What terms stand for: names may come to be those of others.
local function key_of(world, texts, given)
  local text = table.concat(texts, ", ")
  local parts = { text, tostring(given.p) }
  for name in text:gmatch "%u[%w_]*" do
    local ok, described = pcall(world.describe, world, name)
    parts[#parts + 1] = tostring(ok and described.id)
  end
  return table.concat(parts, " ")
end

-- A query that lives on, made anew when it does not stand for anything any more. Its text has to
-- mean something now, too: what it names may have another name.
local function query_of(ctx, texts, given)
  local query = ctx.world:query(table.concat(texts, ", "), next(given) and given or nil)
  local key = key_of(ctx.home, texts, given)   -- to describe what is built in declares it
  local kept = ctx.tied_queries[key]
  if not kept or not pcall(kept.count, kept) then
    kept, ctx.tied_queries[key] = query, query
  end
  return kept
end

-- As check_own has it: values of other fields are not told in lines.
local function need_numbers(world, terms)
  for _, term in ipairs(terms) do
    for _, part in ipairs(term.kind == "own" and term or {}) do
      for _, field in ipairs(part.field and world:describe(part.name).fields or {}) do
        if field.name == part.field and not field.type:find "^[iuf]%d+$" then
          error("no field of numbers", 0)
        end
      end
    end
  end
end

local function slots_of(side, terms)
  local slots = oracle.slots(side, terms)
  for _, slot in ipairs(slots) do
    slot.described = side:describe(slot.name).fields
  end
  return slots
end

local function in_order(items, ordered)
  if not ordered then
    table.sort(items)
  end
  return items
end

local function matches_of(world, texts, given)
  local terms = oracle.parse(texts)
  world:name_builtins(function() check(world, terms) end)
  return oracle.matches(of_model(world), terms, given)
end

local function told_by_model(world, texts, given, ordered)
  local matches, lines = matches_of(world, texts, given), {}
  for _ = 1, 2 do   -- a function form and a sum
    world:in_form_stream(function() end)
  end
  for at, match in ipairs(matches) do
    lines[at] = match.line
  end
  return #lines, in_order(lines, ordered), in_order(oracle.entities_of(matches), ordered)
end

-- What a query matches: how much, what is given, whom. `ordered`: in which order is known.
function list.terms(ctx, texts, given, ordered)
  local fault = fault_of(ctx.home, texts, given)
  if fault then
    return fault
  elseif ctx.home.store then
    return told_by_model(ctx.world, texts, given, ordered)
  end
  local query, terms = query_of(ctx, texts, given), oracle.parse(texts)
  need_numbers(ctx.home, terms)
  local slots = slots_of(of_runtime(ctx.home), terms)
  local lines, others = oracle.by_loop(query, slots, show), by_function(query, slots)
  if table.concat(lines, "\n") ~= table.concat(others, "\n") then
    return "loops and functions are given something else", lines, others
  elseif query:sum(one) ~= #lines then
    return "sum goes over something else", query:sum(one), lines
  end
  return query:count(), in_order(lines, ordered), in_order(query:ids(), ordered)
end

-- The ids in the order in which the runtime has them, as the hints say.
local function as_hinted(world, ids)
  local left, order = {}, {}
  for _, id in ipairs(ids) do
    left[id] = true
  end
  while left[world.hints[world.hint]] do
    order[#order + 1] = world.hints[world.hint]
    left[order[#order]] = nil
    world.hint = world.hint + 1
  end
  for _, id in ipairs(ids) do
    order[#order + 1] = left[id] and id or nil
  end
  return order
end

local function change_all(world, query, ids, action, ...)
  if query then
    query[action](query, ...)
    return
  elseif action ~= "despawn" then
    world:need_component((...))
  end
  local arguments = table.pack(...)
  world:guarded("form", function()
    for _, id in ipairs(ids) do
      world[action](world, id, table.unpack(arguments, 1, arguments.n))
    end
  end)
end

-- What q:despawn, add and remove do, in the runtime's order.
function list.terms_change(ctx, texts, given, action, ...)
  local fault = not action and "nothing" or fault_of(ctx.home, texts, given)
  if fault then
    return fault
  end
  local query, ids
  if ctx.home.store then
    ids = as_hinted(ctx.world, oracle.entities_of(matches_of(ctx.world, texts, given)))
  else
    query = query_of(ctx, texts, given)
    ids = query:ids()
  end
  table.move(ids, 1, #ids, #ctx.visits + 1, ctx.visits)
  change_all(ctx.world, query, ids, action, ...)
end

-- ---- texts -----------------------------------------------------------------------------

local term = {}

local function access(rng) return rng:chance(30) and ":in" or "" end
local function optional(rng) return rng:pick { "?", "?", "?:in", ":in?" } end

local function several_fields(component)
  return #component.fields > 0
end

-- Something about the row's own components, none of them twice in a text.
function term.own(self, text)
  local rng, component = self.rng, self:component()
  local name = component.name
  if text.used[name] or name == "Nowhere" then
    return nil
  end
  text.used[name] = true
  if component.toggle and rng:chance(40) then
    name = name .. rng:pick { ":off", ":any" }
  elseif several_fields(component) and rng:chance(15) then
    local path, kind = values.leaf(self, component)
    return kind.name:find "^[iuf]%d" and path .. access(rng) or nil
  end
  return rng:pick { name .. access(rng), name, "!" .. name, name .. optional(rng),
    (#text > 0 and "with " or "") .. name }
end

-- The relation's pair with that, in each way that terms have.
local function pair_of(self, text, relation, target)
  local rng, pair = self.rng, ("(%s, %s)"):format(relation.name, target)
  local with = #text > 0 and "with " or ""
  return rng:pick { pair .. access(rng), pair, pair, "!" .. pair, pair .. optional(rng),
    with .. pair }
end

function term.fixed(self, text)
  local relation = self:relation()
  if self.rng:chance(25) then
    return pair_of(self, text, relation, self:component().name)
  end
  return pair_of(self, text, relation, "$p")
end

function term.any(self)
  local rng, all = self.rng, ("(%s, *)"):format(self:relation().name)
  return rng:pick { all .. access(rng), all, all, "!" .. all, "with " .. all }
end

-- A variable that is not given: bound at first, then asked about.
function term.variable(self, text)
  local rng, relation = self.rng, self:relation()
  if not text.bound then
    text.bound = true
    return ("(%s, $v)"):format(relation.name) .. access(rng)
  elseif rng:chance(40) then
    local asked = self:component().name .. "($v)"
    return rng:pick { asked, asked .. access(rng), "with " .. asked }
  end
  return pair_of(self, text, relation, "$v")
end

-- Where a path may go along: exclusive relations, and fields that hold one entity.
local function ways_of(self)
  local ways = {}
  for _, component in ipairs(self.world.declared) do
    local ties = component.ties
    if ties and ties.exclusive and component.name ~= "IsA" then
      ways[#ways + 1] = component.name
      ways[#ways + 1] = component.name .. "*"
    end
    for _, field in ipairs(not ties and component.fields or {}) do
      local leads = field.type.name == "entity" and not self.world.is_array(component.name)
        and not self.world.is_event(component.name)
      ways[#ways + 1] = leads and component.name .. "." .. field.name or nil
    end
  end
  return ways
end

function term.path(self)
  local rng, way = self.rng, self.rng:pick(ways_of(self))
  local path = way and way .. "->" .. self:component().name
  return path and rng:pick { path .. access(rng), path, path .. optional(rng),
    path .. optional(rng), "with " .. path }
end

local KINDS = { "own", "own", "own", "any", "fixed", "fixed", "path", "path", "variable",
  "variable" }

-- Whether sources come first, in their order: a pair of an exclusive relation that is looked for.
local function is_ordered(self, text)
  local relation = text[1]:match "^%((%w+), [^*]+%)"
  local component = relation and self.world.components_by_name[relation]
  local fixed = component and not text[1]:find("$v", 1, true) and not text[1]:find("?", 1, true)
  return fixed and component.ties.exclusive or false
end

-- A list of terms, what their variable is given, and whether its order is known; nil at times.
local function terms_of(self)
  local text, known, rng = {}, {}, self.rng
  text.used = {}
  for _ = 1, rng:int(4) do
    local kind = text.bound and rng:chance(50) and "variable" or rng:pick(KINDS)
    local made = term[kind](self, text)
    text[#text + 1] = made and not known[made] and made or nil
    known[made or ""] = true
  end
  text.used, text.bound = nil, nil
  local wants = table.concat(text):find("$p", 1, true)
  local dead = rng:chance(5) and rng:pick(self.lost)
  local given = { p = wants and (dead or self:living()) or nil }
  if #text == 0 or wants and not given.p or table.concat(text):find "Nowhere" then
    return nil
  end
  return text, given
end

-- Terms that come again, so that their queries live on.
local function some_terms(self)
  if #self:relations() == 0 then
    return nil
  end
  local kept = self.tied_texts or {}
  self.tied_texts = kept
  if #kept < 6 or self.rng:chance(25) then
    local text, given = terms_of(self)
    kept[self.rng:int(math.min(#kept + 1, 12))] = text and { text, given } or kept[1]
  end
  local chosen = self.rng:pick(kept)
  if chosen and pcall(check, self.world, oracle.parse(chosen[1])) then
    return chosen[1], chosen[2], is_ordered(self, chosen[1])
  end
end

-- ---- kinds -----------------------------------------------------------------------------

local function ask(self)
  local texts, given, ordered = some_terms(self)
  return texts and { "terms", texts, given, ordered }
end

local function change(self)
  local texts, given = some_terms(self)
  if not texts then
    return nil
  elseif self.rng:chance(15) and self.world.ids.count > self.crowd // 2 then
    return { "terms_change", texts, given, "despawn" }
  end
  return { "terms_change", texts, given, self.rng:pick { "add", "remove" }, self:component().name }
end

kinds[#kinds + 1] = { 120, ask }
kinds[#kinds + 1] = { 12, change }
gen.row_kinds[#gen.row_kinds + 1] = { 15, ask }
gen.plain_kinds[#gen.plain_kinds + 1] = { 10, ask }
gen.plain_kinds[#gen.plain_kinds + 1] = { 5, change }

return kinds
