-- Steps about indexes, which find what going through all entities of the model finds; and about
-- queries with :changed, which miss nobody whose values are others than when they were used last.

local kinds = require "spec.support.trace_kinds"
local ops = require "spec.support.trace_ops"
local toggles = require "spec.support.model_toggles"
local types = require "spec.support.model_types"
local values = require "spec.support.trace_values"

local list = ops.list

-- ---- what is found ---------------------------------------------------------------------

-- An index lives on under a name that says what it is by: which component, too, since the name may
-- have been another one's.
local function name_of(world, path, kind, by)
  local id = world:describe(path:match "^[^.]*").id
  local text = ("%s_by_%s%s_%d"):format(kind, path, by and "_" .. by or "", id)
  return (text:gsub("%W", "_"))
end

local function options_of(world, path, kind, by_function)
  local component, rest = path:match "^([^.]*)%.(.*)$"
  local options = { query = (by_function == "view" and component or path) .. ":in" }
  options[kind] = by_function and function(_, id) return world:get(id, path) end or path
  if by_function == "view" then
    options[kind] = function(view)
      for key in rest:gmatch "[^.%[%]]+" do view = view[tonumber(key) or key] end
      return view
    end
  end
  return options
end

-- What components and fields that are there no more, or not yet, are answered with.
local GONE = { "there is no index", "no longer declared", "unknown component", "has no field" }

local function is_gone(problem)
  for _, words in ipairs(GONE) do
    if tostring(problem):find(words, 1, true) then return true end
  end
end

-- Looks into an index, which is declared when it is not there, or its component has gone.
local function look_into(ctx, step, look)
  local world, name = ctx.world, name_of(ctx.home, step.path, step.kind, step.by)
  local ok, found = pcall(function() return look(world:index(name)) end)
  if ok then
    return found
  elseif not is_gone(found) then
    error(found, 0)
  end
  return look(world:index(name, options_of(ctx.home, step.path, step.kind, step.by)))
end

local function ids_of(...)
  local ids = {}
  for _, id in ... do ids[#ids + 1] = id end
  table.sort(ids)
  return ids
end

-- The same by going through the model.
local function ids_in_model(world, path, takes)
  local name, ids = path:match "^[^.]*", {}
  for id, row in pairs(world.store) do
    local seen = not world.is_hidden(row) and row[name] ~= nil
      and toggles.finds(row, { component = world.components_by_name[name] })
    if seen and takes(world:get(id, path)) then ids[#ids + 1] = id end
  end
  table.sort(ids)
  return ids
end

local function has_any(component)
  local found = false
  types.leaves(component, function(_, kind) found = found or kind.name == "any" end)
  return found
end

-- An error when there is no such field now, or not one that has an order.
local function check_field(world, path, kind, by)
  local component, keys, type = world:resolve(path)
  local numbers = keys and type.name:find "^[iuf]%d"
  if not keys or component.ties or type.name == "any" or by == "view" and has_any(component)
    or kind == "ordered" and not numbers and type.name ~= "entity" then
    error("no such field", 0)
  end
end

-- Who has what one of them has, or for `ordered` not much more; from which on is `whose`.
function list.find(ctx, path, kind, by, whose)
  local step, model = { path = path, kind = kind, by = by }, ctx.home.store ~= nil
  if model then
    check_field(ctx.world, path, kind, by)
  else
    ctx.home:query(path)
  end
  local ok, key = pcall(ctx.home.get, ctx.home, whose, path)
  if not ok then key = nil end
  if kind ~= "ordered" then
    if model then
      return ids_in_model(ctx.world, path, function(value) return value ~= nil and value == key end)
    end
    return look_into(ctx, step, function(index) return ids_of(index:find(key)) end)
  end
  local low = type(key) == "number" and key or 0
  local high = low + 3.5
  if model then
    return ids_in_model(ctx.world, path, function(value) return value >= low and value <= high end)
  end
  return look_into(ctx, step, function(index) return ids_of(index:range(low, high)) end)
end

-- ---- what has changed ------------------------------------------------------------------

-- The values of fields that change by writing alone: a reference to somebody is null without it
-- when that one dies.
local function written(world, name, id)
  local texts = {}
  for _, field in ipairs(world:describe(name).fields) do
    local kind = field.type
    local plain = values.is_scalar(kind) and not kind:find "%[" and kind ~= "entity"
    if plain then
      texts[#texts + 1] = field.name .. " " .. tostring((world:get(id, name .. "." .. field.name)))
    end
  end
  return table.concat(texts, "\n")
end

-- Whom the query is about, and of everybody what there is.
local function use(world, known)
  local ids, now = {}, {}
  for _, id in ipairs(known.query:ids()) do ids[id] = true end
  for _, id in ipairs(world:query(known.all):ids()) do now[id] = written(world, known.name, id) end
  return ids, now
end

-- Whether a query that lives on is about all whose values are others than at its last use.
function list.changed(ctx, name)
  local world = ctx.home
  if world.store then
    local component = world:need_component(name)
    return not component.ties
  end
  local described = world:describe(name)
  if described.relation then return false end
  local all = described.toggle and name .. ":any" or name
  local key = all .. " " .. described.id   -- the name may have been another one's
  local known = ctx.changed and ctx.changed[key]
  ctx.changed = ctx.changed or {}
  if not known or not pcall(known.query.first, world:query(all)) then known = nil end
  local query = ctx.world:query(name .. ":changed")
  known = known or { query = query, name = name, all = all, values = {} }
  local ok, ids, now = pcall(use, world, known)
  if not ok then
    known = { query = query, name = name, all = all, values = {} }
    ids, now = use(world, known)
  end
  ctx.changed[key] = known
  for id, value in pairs(now) do
    local asked = known.values[id] ~= value and world:has(id, name)
      and (all == name or world:enabled(id, name))
    if asked and not ids[id] then return "missed", id, known.values[id], value end
  end
  known.values = now
  return true
end

-- ---- steps -----------------------------------------------------------------------------

local function is_plain(component)
  return not component.ties and #component.fields > 0
end

local function find(self)
  local component = self:component()
  if not is_plain(component) or #self.world.scopes > 0 then return nil end
  local known = self.finds or {}
  self.finds = known
  if #known < 5 or self.rng:chance(15) then
    local path, kind = values.leaf(self, component)
    local by = self.rng:pick { "hash", "hash", "maybe", "ordered" }
    local way = by ~= "ordered" and self.rng:pick { false, false, "get", "view" }
    if kind.name == "any" then return nil end
    known[self.rng:int(math.min(#known + 1, 8))] = { path, by, way, kind }
  end
  local chosen = self.rng:pick(known)
  local function step()
    return { "find", chosen[1], chosen[2], chosen[3], self:living() or "@null" }
  end
  -- Where little has changed in between, what is found is not made of all rows again.
  for _ = 1, self.rng:range(0, 3) do
    local whose = self:living()
    local field = whose and self.world.components_by_name[chosen[1]:match "^[^.]*"]
    local has = field and self.world.store[self.ctx.ids[whose:sub(2)]]
    if has and has[field.name] ~= nil then
      local value = values.scalar(self, chosen[4])
      self.pending[#self.pending + 1] = { "set", whose, chosen[1], value }
    end
    self.pending[#self.pending + 1] = step()
    self.pending[#self.pending][5] = whose or "@null"
  end
  return step()
end

local function changed(self)
  local component = self:component()
  return is_plain(component) and { "changed", component.name } or nil
end

kinds[#kinds + 1] = { 60, find }
kinds[#kinds + 1] = { 25, changed }

return kinds
