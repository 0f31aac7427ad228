-- Makes the steps of a random trace, one at a time, looking at the model so that most of them
-- make sense. A step is data (see trace_ops.lua); it is made once and can be replayed.
--
-- A new operation is a new entry in `gen.kinds`: { weight, function(gen) -> step or nil }.

local ids = require "spec.support.model_ids"
local random = require "spec.support.rng"
local values = require "spec.support.trace_values"

local gen = {}

local Gen = {}
Gen.__index = Gen
gen.Gen = Gen   -- trace_ties.lua adds methods about relations

-- A generator of steps from a seed, over the model's context. Of the runner's options `crowd` is
-- how many entities there are at most, by the seed unless given, and `starve` how many steps of a
-- hundred run out of memory: which ones takes nothing from the other random numbers.
function gen.new(seed, ctx, options)
  local rng = random.new(seed)
  local self = setmetatable({
    rng = rng,
    ctx = ctx,
    world = ctx.world,
    at = 0,
    pending = {},                    -- steps that come before any drawn one
    undeclared = {},
    clamped = {},                    -- names of fields that a system goes through
    were_any = {},                   -- names of fields that have been `any`
    texts = {},                      -- by what made them, texts of queries that come again
    known = {},                      -- references of entities that may be alive
    lost = {},                       -- references of dead entities, the latest first
    starving = options.starve and random.new(seed + 1000003) or nil,
    starve = options.starve,
    crowd = options.crowd or rng:pick { 10, 25, 25, 40, 40, 60, 150 },
  }, Gen)
  self:plan_components()
  self:plan_relations()
  return self
end

-- Most components are declared at the start, the others while the world lives.
function Gen:plan_components()
  local rng = self.rng
  local chosen = rng:sample(values.PALETTE, rng:range(4, 9))
  for i = 1, rng:int(3) do
    chosen[#chosen + 1] = { "Own" .. i, values.schema(rng) }
  end
  for _, entry in ipairs(chosen) do
    local sparse, toggle = rng:chance(30), rng:chance(35)
    if sparse or toggle then
      local lines = table.move(entry[2], 1, #entry[2], 1, {})
      lines.storage, lines.toggle = sparse and "sparse" or nil, toggle or nil
      entry = { entry[1], lines }
    end
    if rng:chance(25) then
      local lines = table.move(entry[2], 1, #entry[2], 1, {})
      lines.storage, lines.toggle, lines.track = entry[2].storage, entry[2].toggle, true
      entry = { entry[1], lines }
    end
    if rng:chance(70) then
      self.pending[#self.pending + 1] = { "declare", entry[1], entry[2] }
    else
      self.undeclared[#self.undeclared + 1] = entry
    end
  end
end

-- ---- what there is ---------------------------------------------------------------------

-- The components that the model has, without relations, arrays and events, in the order of
-- declaration.
function Gen:components()
  local list = {}
  for _, component in ipairs(self.world.without_arrays(self.world.declared)) do
    local own = component.ties or self.world.is_event(component.name)
    list[#list + 1] = not own and component or nil
  end
  return list
end

function Gen:component()
  return self.rng:pick(self:components()) or { name = "Nowhere", fields = {} }
end

-- A component's name, sometimes its id as a reference, rarely an unknown name.
function Gen:component_name(component)
  local roll = self.rng:int(100)
  if roll == 1 then
    return "Nowhere"
  elseif roll <= 15 then
    return "@#" .. component.name
  end
  return component.name
end

-- A reference to a living entity, or nil.
function Gen:living()
  local known, ctx = self.known, self.ctx
  while #known > 0 do
    local at = self.rng:int(#known)
    local reference = known[at]
    if self.world:alive(ctx.ids[reference:sub(2)]) then
      return reference
    end
    known[at] = known[#known]
    known[#known] = nil
    table.insert(self.lost, 1, reference)
    self.lost[20] = nil
  end
end

local HOSTILE = { "@null", "@nil", -1, 65536, 1 << 60, math.mininteger, math.maxinteger, 0 / 0,
  math.huge, 70000.5, 2.0 ^ 53, "text", true, "@any1", "@any4" }

-- What a script may hand over for an entity: mostly a living one.
function Gen:reference()
  local rng = self.rng
  local roll = rng:int(200)
  if roll <= 4 and #self.lost > 0 then
    return rng:pick(self.lost)
  elseif roll == 5 then
    return rng:pick(HOSTILE)
  elseif roll == 6 then
    return "@#" .. self:component().name
  end
  local reference = self:living()
  if reference and roll >= 196 then
    return reference .. rng:pick { "+g", "+t", "+p", "+s", "+f", "+f" }
  end
  return reference
end

-- Whether there is room for `n` more entities.
function Gen:has_room(n)
  return self.world.ids.count + n <= self.crowd
end

-- A spawn's table of up to four components, and ties.
function Gen:composition()
  local rng, composition = self.rng, {}
  for _, component in ipairs(rng:sample(self:components(), rng:range(0, 4))) do
    local value = values.component(self, component)
    composition[self:component_name(component)] = value
    if rng:chance(3) then
      composition["@#" .. component.name], composition[component.name] = value, value
    end
  end
  self:add_ties(composition)
  return composition
end

-- A component of the entity that a reference names, when it has any.
function Gen:component_of(reference)
  local id = self.ctx.ids[tostring(reference):sub(2)]
  local row = id and self.world.store[id]
  local names = {}
  for _, component in ipairs(self:components()) do
    if row and row[component.name] ~= nil then
      names[#names + 1] = component
    end
  end
  return self.rng:pick(names)
end

-- A query's text and its terms with data; nil when those are more than a loop takes.
function Gen:query(make)
  local known = self.texts[make] or {}
  self.texts[make] = known
  if #known < 8 or self.rng:chance(20) then
    known[self.rng:int(math.min(#known + 1, 16))] = make(self)
  end
  local text = self.rng:pick(known)
  local ok, query = pcall(self.world.query, self.world, text)
  if not ok then
    return text, {}
  elseif #query.data > 5 then
    return nil
  end
  return text, query.data
end

-- ---- drawing ---------------------------------------------------------------------------

local function draw(self, kinds)
  local total = kinds.total
  if not total then
    total = 0
    for _, kind in ipairs(kinds) do
      total = total + kind[1]
    end
    kinds.total = total
  end
  local at = self.rng:int(total)
  for _, kind in ipairs(kinds) do
    at = at - kind[1]
    if at <= 0 then
      return kind[2](self)
    end
  end
end

-- Notes the entities that the last step spawned.
function Gen:learn()
  local ctx = self.ctx
  for i = 1, ctx.spawned do
    self.known[#self.known + 1] = ("@%d.%d"):format(ctx.at, i)
  end
end

-- Despawns half of the entities when systems have spawned too many.
function Gen:cull()
  if self.world.ids.count > 2 * self.crowd and #self.world.scopes == 0 then
    return { "each", "", 0, { { "despawn", "@self", pick = { 2, self.rng:int(2) - 1 } } } }
  end
end

-- When the calls of a step run out of memory (see trace_starve.lua); nil for most steps.
local function starving_plan(rng, percent)
  if rng and rng:chance(percent) then
    return { k = rng:pick { 1, 1, 1, 2, 2, 3, 4, 5, 7, 10, 20 }, on = rng:chance(70) }
  end
end

-- The next step.
function Gen:next()
  self.at = self.at + 1
  local step = table.remove(self.pending, 1) or self:cull()
  while not step do
    step = draw(self, gen.kinds)
  end
  step.at = self.at
  step.starve = starving_plan(self.starving, self.starve)
  return step
end

-- A body of up to `most` steps for rows, where "@self" is the row's entity.
function Gen:body(most, data, depth)
  local body = {}
  for _ = 1, self.rng:range(0, most) do
    self.data, self.depth = data, depth
    local step = draw(self, gen.row_kinds)
    if step then
      step.pick = step.pick or { self.rng:pick { 2, 3, 5, 7 }, 0 }
      step.pick[2] = self.rng:int(step.pick[1]) - 1
      body[#body + 1] = step
    end
  end
  return body
end

-- A body of up to `most` steps outside rows.
function Gen:plain_body(most)
  local body = {}
  for _ = 1, self.rng:range(1, most) do
    body[#body + 1] = draw(self, gen.plain_kinds)
  end
  return body
end

-- An id near a living one for spawn_at: { reference, steps ahead, generation }.
function Gen:adoptable()
  local rng = self.rng
  local reference = rng:chance(60) and self:living() or rng:pick(self.lost)
  if not reference then
    return nil
  end
  local id = self.ctx.ids[reference:sub(2)]
  local ahead = rng:chance(50) and 0 or rng:pick { 1, 2, 50, 5000 }
  local now = self.world.ids.born[ids.index(id) + ahead] or 0
  local generation = rng:pick { now, now, now + 1, now + 7, 65534, 65535, 0 }
  return reference, ahead, math.min(generation, 65535)
end

return gen
