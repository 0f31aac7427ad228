-- The packed order of the model's sparse components: world.packed has, by component, the ids in
-- that order. It is all that sparse storage changes. Returns methods to be mixed into the model's
-- world.
--
-- After a migration it may depend on the order of the runtime's tables, which the model does not
-- know: world.unsure has such components until somebody tells (`learn_packed`).

local methods = {}

local function position(list, id)
  for at, other in ipairs(list) do
    if other == id then
      return at
    end
  end
end

-- Brings an entity into the lists of what it has now, as the last, or takes it out: then the last
-- one takes its place.
function methods.sync_packed(world, id)
  for _, component in ipairs(world.declared) do
    if component.sparse then
      local list = world.packed[component] or {}
      world.packed[component] = list
      local has, at = world:stored(id, component) ~= nil, position(list, id)
      if has and not at then
        list[#list + 1] = id
      elseif at and not has then
        list[at] = list[#list]
        list[#list] = nil
      end
    end
  end
end

-- After a migration: who has come to have a sparse component is in its list, somewhere.
function methods.repack(world, store, packed, unsure)
  for _, component in ipairs(world.declared) do
    local list, known = {}, {}
    for _, id in ipairs(component.sparse and packed[component] or {}) do
      if store[id] and store[id][component.name] ~= nil then
        list[#list + 1], known[id] = id, true
      end
    end
    for id, row in pairs(component.sparse and store or {}) do
      if row[component.name] ~= nil and not known[id] then
        list[#list + 1], unsure[component] = id, true
      end
    end
    packed[component] = component.sparse and list or nil
  end
end

-- The packed order in a world, another model perhaps, which takes its own to be right then.
local function order_of(actual, expected)
  local name = expected.name
  local component = actual.unsure and actual.components_by_name[name]
  if not component then
    return actual:query(expected.toggle and name .. ":any" or name):ids()
  end
  actual.unsure[component] = nil
  return actual.packed[component] or {}
end

-- The orders that are not known, from the runtime; what differs, or nil.
function methods.learn_packed(world, actual)
  for component in pairs(world.unsure) do
    if component.ties then
      world:learn_tied(actual, component)
    end
    local list, known = world.packed[component] or {}, {}
    for _, id in ipairs(list) do
      known[id] = true
    end
    local order = component.sparse and order_of(actual, component) or {}
    for _, id in ipairs(order) do
      if not known[id] then
        return ("'%s' has %d in packed order"):format(component.name, id)
      end
      known[id] = nil
    end
    if component.sparse and (#order ~= #list or next(known)) then
      return ("'%s' lacks entities in packed order"):format(component.name)
    end
    world.packed[component] = component.sparse and table.move(order, 1, #order, 1, {}) or nil
    world.unsure[component] = nil
  end
end

-- The lists by the names of components.
function methods.copy_packed(packed)
  local copy = {}
  for component, list in pairs(packed) do
    copy[component.name] = table.move(list, 1, #list, 1, {})
  end
  return copy
end

-- The same lists by the components that have the names.
function methods.packed_of(copy, known)
  local packed = {}
  for name, list in pairs(copy) do
    packed[known[name]] = table.move(list, 1, #list, 1, {})
  end
  return packed
end

-- The rows of a packed order that match; what is hinted goes along.
function methods.packed_taker(query, left, order)
  local world, at = query.world, 0
  return function()
    local id
    repeat
      at = at + 1
      id = order[at]
    until id == nil or left[id]
    if id and not query.blind and world.hints[world.hint] == id then
      world.hint = world.hint + 1
    end
    return id
  end
end

-- Whether the order of a query's rows is a packed one, that is known; and whether rows of the same
-- composition differ in what its terms find.
function methods.packed_order(query)
  local first = query.terms[1]
  local leads = first and first.kind == "with" and #first == 1 and first[1].component
  return leads and leads.sparse and not query.world.unsure[leads] and
    (query.world.packed[leads] or {}) or nil
end

-- Whether a query names a component with an option.
function methods.names_any(query, option)
  for _, term in ipairs(query.terms) do
    for _, alternative in ipairs(term) do
      if alternative.component[option] then
        return true
      end
    end
  end
  return false
end

function methods.goes_by_row(query)
  return methods.names_any(query, "sparse")
end

return methods
