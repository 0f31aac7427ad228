-- What a query's text asks for, worked out as brutely as can be: every term is asked of every
-- entity, by world:has, get, target, targets and sources alone.

local collect = require "spec.support.collect"

local oracle = {}

-- ---- terms -----------------------------------------------------------------------------

local function strip_modifiers(text, term)
  local rest = text
  repeat
    text = rest
    rest = text:gsub("%s*:in$", "")
    for _, state in ipairs { "off", "any" } do
      rest = rest:gsub(":" .. state .. "$", function() term.state = state return "" end)
    end
    if rest:find "%?$" then
      rest, term.mode = rest:sub(1, -2), "maybe"
    end
  until rest == text
  return text
end

-- { kind = "own" | "pair" | "path" | "ask", mode = "give" | "not" | "maybe" | "filter", ... }
local function parse(text)
  local term = { mode = "give", text = text }
  local body = text:gsub("^!", function() term.mode = "not" return "" end)
  body = body:gsub("^with ", function() term.mode = "filter" return "" end)
  body = strip_modifiers(body, term)
  local relation, target = body:match "^%((%w+), ([$%w*]+)%)$"
  local way, star, ending = body:match "^([%w.]+)(%*?)%->(%w+)$"
  local asked, variable = body:match "^(%w+)%((%$%w+)%)$"
  if relation then
    term.kind, term.name, term.target = "pair", relation, target
  elseif way then
    term.kind, term.way, term.star, term.name = "path", way, star == "*", ending
  elseif asked then
    term.kind, term.name, term.variable = "ask", asked, variable
  else
    term.kind = "own"
    for name, field in body:gsub(":in", ""):gmatch "(%w+)%.?(%w*)" do
      term[#term + 1] = { name = name, field = field ~= "" and field or nil }
    end
  end
  return term
end

-- The terms of a text's list of terms. `given` maps names to what $name stands for.
function oracle.parse(texts)
  local terms = {}
  for at, text in ipairs(texts) do
    terms[at] = parse(text)
  end
  return terms
end

local function variable_of(term)
  return term.kind == "pair" and term.target:match "^%$(%w+)$" or
    term.kind == "ask" and term.variable:sub(2) or nil
end

-- Whether each variable that is not given is bound by a pair before any other term asks about it.
function oracle.is_bound(terms, given)
  local bound = {}
  for _, term in ipairs(terms) do
    local name = variable_of(term)
    if name and given[name] == nil then
      bound[name] = bound[name] or term.kind == "pair" and term.mode == "give"
      if not bound[name] then
        return false
      end
    end
  end
  return true
end

-- ---- components ------------------------------------------------------------------------

local described = setmetatable({}, { __mode = "k" })

-- What the world says of a component or relation, which no world here declares twice; its fields
-- by name are in `names`. An exclusive relation's first one is `target`.
local function describe(world, name)
  local known = described[world] or {}
  described[world] = known
  if not known[name] then
    known[name] = world:describe(name)
    known[name].names = {}
    for at, field in ipairs(known[name].fields) do
      known[name].names[at] = field.name
    end
  end
  return known[name]
end

local function fields_of(world, name)
  return describe(world, name).names
end

-- Whether a term of that name has data to give. Of a pair the target alone is none.
local function has_data(world, kind, name)
  local fields = fields_of(world, name)
  return #fields > 0 and not (kind == "pair" and #fields == 1 and fields[1] == "target")
end

-- What is off is absent, unless the state that is asked for says otherwise.
local function has(world, entity, name, target, state)
  if not world:has(entity, name, table.unpack { target }) then
    return false
  elseif state == "any" or not describe(world, name).toggle then
    return true
  end
  return world:enabled(entity, name) == (state ~= "off")
end

-- What functions and loops are given for terms: a list of { name, fields }, one for each view;
-- { name } alone stands for true; { name, field = true } for a field's value.
function oracle.slots(world, terms)
  local slots = {}
  local function give(term, name, field)
    local data = has_data(world, term.kind, name)
    if data or term.mode == "maybe" then
      slots[#slots + 1] = { name = name, fields = data and fields_of(world, name), field = field }
    end
  end
  for _, term in ipairs(terms) do
    if term.mode == "give" or term.mode == "maybe" then
      for _, part in ipairs(term.kind == "own" and term or { term }) do
        give(term, part.name, part.field)
      end
    end
  end
  return slots
end

-- ---- showing ---------------------------------------------------------------------------

local function show_value(value)
  return math.type(value) == "float" and ("%.17g"):format(value) or tostring(value)
end

-- What was given for a slot as text: "Position(1, 2)", "true", or "-" for `absent`.
function oracle.show(slot, value, absent)
  if value == absent then
    return "-"
  elseif slot.field or not slot.fields then
    return show_value(value)
  end
  local parts = {}
  for at, field in ipairs(slot.fields) do
    parts[at] = show_value(value[field])
  end
  return slot.name .. "(" .. table.concat(parts, ", ") .. ")"
end

-- The same of what should be given: `way` says who has the component, and of which target.
local function show_way(world, slot, way)
  if not way then
    return "-"
  elseif slot.field then
    return show_value((world:get(way.holder, slot.name .. "." .. slot.field)))
  elseif not slot.fields then
    return "true"
  end
  local relation = describe(world, slot.name)
  local target = relation.relation and not relation.exclusive and way.target or nil
  local values = table.pack(world:get(way.holder, slot.name, table.unpack { target }))
  for at = 1, values.n do
    values[at] = show_value(values[at])
  end
  return slot.name .. "(" .. table.concat(values, ", ") .. ")"
end

-- A match as text.
function oracle.line(shown, entity, others)
  return ("%s @%d > %s"):format(table.concat(shown, " "), entity, table.concat(others, " "))
end

-- A match as text, of what a form gave for it: views as show(slot, value, absent) shows them, then
-- `skipped` values (dt), the entity, and who stands for variables.
function oracle.line_of(show, slots, absent, skipped, ...)
  local values, shown, others = table.pack(...), {}, {}
  for at, slot in ipairs(slots) do
    shown[at] = show(slot, values[at], absent)
  end
  local entity = #slots + skipped + 1
  for at = entity + 1, values.n do
    others[#others + 1] = tostring(values[at])
  end
  return oracle.line(shown, values[entity], others)
end

-- What a loop over a query gives, as lines.
function oracle.by_loop(query, slots, show)
  local lines, step, state, control, closing = {}, query:each()
  local _ <close> = closing
  local function take(first, ...)
    if first ~= nil then
      lines[#lines + 1] = oracle.line_of(show, slots, false, 0, first, ...)
      return true
    end
  end
  while take(step(state, control)) do end
  return lines
end

-- ---- prefabs ---------------------------------------------------------------------------

local prefabs = setmetatable({}, { __mode = "k" })

-- Tells that an entity of a world is a prefab, or a child of one.
function oracle.note_prefab(world, id)
  prefabs[world] = prefabs[world] or {}
  prefabs[world][id] = true
end

-- Whether an entity is a prefab, which terms about others pass over. The model says so itself.
local function is_prefab(world, id)
  if type(world) == "table" then
    return world:is_prefab(id)
  end
  return (prefabs[world] or {})[id]
end

-- ---- ways to satisfy a term ------------------------------------------------------------

local ways_of = {}

-- Who `(R, target)` may be: by name, by what the variable is already, or any.
local function targets_of(world, term, entity, bound)
  local name = term.target:match "^%$(%w+)$"
  if name and bound[name] then
    return { bound[name] }
  elseif name or term.target == "*" then
    return collect(world:targets(entity, term.name))
  end
  return { describe(world, term.target).id }
end

function ways_of.pair(world, term, entity, bound)
  local ways = {}
  for _, target in ipairs(targets_of(world, term, entity, bound)) do
    if world:alive(target) and has(world, entity, term.name, target) then
      ways[#ways + 1] = { holder = entity, target = target }
    end
  end
  return ways
end

-- Where one step along a relation or an entity field leads.
local function next_of(world, way, entity)
  if not way:find(".", 1, true) then
    return world:target(entity, way)
  end
  local id = world:get(entity, way)
  return id ~= 0 and id or nil
end

-- Prefabs are seen along IsA alone.
function ways_of.path(world, term, entity)
  local at = entity
  local function step()
    at = next_of(world, term.way, at)
    at = (term.way == "IsA" or not is_prefab(world, at)) and at or nil
  end
  if not term.star then
    step()
  else
    local seen = {}   -- a circle leads nowhere
    while at and not seen[at] and not has(world, at, term.name) do
      seen[at] = true
      step()
    end
  end
  return at and has(world, at, term.name) and { { holder = at } } or {}
end

function ways_of.ask(world, term, _, bound)
  local asked = bound[term.variable:sub(2)]
  local there = not is_prefab(world, asked) and has(world, asked, term.name)
  return there and { { holder = asked } } or {}
end

-- ---- matches ---------------------------------------------------------------------------

local NOTHING = { { } }

-- In how many ways a row goes on behind a term: a list of what each gives, `true` for nothing.
local function choices(world, term, entity, bound)
  if term.kind == "own" then
    local any, parts = false, {}
    for at, part in ipairs(term) do
      parts[at] = has(world, entity, part.name, nil, term.state) and { holder = entity }
      any = any or parts[at] ~= false
    end
    local fits = term.mode == "maybe" or any == (term.mode ~= "not")
    return fits and { { parts = parts } } or {}
  end
  local ways = ways_of[term.kind](world, term, entity, bound)
  if term.mode == "not" then
    return #ways == 0 and NOTHING or {}
  elseif term.mode == "filter" then
    return #ways > 0 and NOTHING or {}
  elseif term.mode == "maybe" and #ways == 0 then
    return { { parts = { false } } }
  end
  local list = {}
  for at, way in ipairs(ways) do
    list[at] = { parts = { way }, target = way.target }
  end
  return list
end

-- The variable that the target of a choice is bound to: by name, or "*"; nil when it has a value.
local function binds(term, bound)
  if term.kind ~= "pair" or term.mode ~= "give" then
    return nil
  end
  local name = term.target:match "^%$(%w+)$"
  return term.target == "*" and "*" or name and not bound[name] and name or nil
end

-- Goes through the terms from `at` on, the first one outermost.
local function descend(run, at, bound, parts, others)
  local term = run.terms[at]
  if not term then
    run.found(parts, others)
    return
  end
  local name = binds(term, bound)
  for _, choice in ipairs(choices(run.world, term, run.entity, bound)) do
    local now = table.move(parts, 1, #parts, 1, {})
    for part, way in ipairs(choice.parts or {}) do
      local data = has_data(run.world, term.kind, (term[part] or term).name)
      if (data or term.mode == "maybe") and term.mode ~= "not" and term.mode ~= "filter" then
        now[#now + 1] = way
      end
    end
    local then_bound, then_others = bound, others
    if name then
      then_others = table.move(others, 1, #others, 1, {})
      then_others[#then_others + 1] = choice.target
      then_bound = setmetatable(name ~= "*" and { [name] = choice.target } or {},
        { __index = bound })
    end
    descend(run, at + 1, then_bound, now, then_others)
  end
end

-- Entities in the order of the query: of sources, where an exclusive relation's target comes first;
-- of packed rows, where a sparse component does.
local function in_order(world, terms, given)
  local first = terms[1]
  if first and first.kind == "own" and first.mode == "give" and #first == 1
    and describe(world, first[1].name).storage == "sparse" then
    local name = first[1].name
    return world:query(describe(world, name).toggle and name .. ":any" or name):ids()
  end
  if first and first.kind == "pair" and first.mode == "give"
    and describe(world, first.name).exclusive then
    local name = first.target:match "^%$(%w+)$"
    local target = given[name] or not name and first.target ~= "*" and first.target
    if target then
      local lives, ids = type(target) == "string" or world:alive(target), {}
      for _, id in ipairs(lives and collect(world:sources(target, first.name)) or {}) do
        ids[#ids + 1] = not is_prefab(world, id) and id or nil
      end
      return ids
    end
  end
  return collect(world:query "":each())
end

-- All matches in order: { entity =, ways = who has what is given for each slot, or false,
-- others = targets and variables' values, line = all of it as text }.
function oracle.matches(world, terms, given)
  local matches, slots = {}, oracle.slots(world, terms)
  for _, entity in ipairs(in_order(world, terms, given)) do
    descend({ world = world, terms = terms, entity = entity, found = function(ways, others)
      local shown = {}
      for at, slot in ipairs(slots) do
        shown[at] = show_way(world, slot, ways[at])
      end
      matches[#matches + 1] = { entity = entity, ways = ways, others = others,
        line = oracle.line(shown, entity, others) }
    end }, 1, setmetatable({}, { __index = given }), {}, {})
  end
  return matches
end

-- ---- parents first ---------------------------------------------------------------------

-- Whether a row's own component is named beside a path along ChildOf to the same: "first" where
-- parents are visited before children for certain, "maybe" where that is not said, as behind a
-- pair that may ask for an order of its own.
function oracle.cascade(terms)
  local own, certain = {}, {}
  for _, term in ipairs(terms) do
    for _, part in ipairs(term.kind == "own" and term or {}) do
      own[part.name] = true
      certain[part.name] = certain[part.name] or #term == 1 and term.mode == "give"
    end
  end
  local answer, pair_first = nil, terms[1] and terms[1].kind == "pair"
  for _, term in ipairs(terms) do
    if term.kind == "path" and term.way == "ChildOf" and own[term.name] then
      local sure = certain[term.name] and not term.star and term.mode ~= "filter"
        and not pair_first
      answer = sure and "first" or answer or "maybe"
    end
  end
  return answer
end

-- Whose the matches are, each once.
function oracle.entities_of(matches)
  local seen, ids = {}, {}
  for _, match in ipairs(matches) do
    if not seen[match.entity] then
      seen[match.entity], ids[#ids + 1] = true, match.entity
    end
  end
  return ids
end

return oracle
