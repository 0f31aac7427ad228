-- Steps about relations and ties: their operations, and how often each is drawn.

local collect = require "spec.support.collect"
local gen = require "spec.support.trace_gen"
local kinds = require "spec.support.trace_kinds"
local ops = require "spec.support.trace_ops"
local random = require "spec.support.rng"
local values = require "spec.support.trace_values"

local list, Gen = ops.list, gen.Gen

-- ---- operations --------------------------------------------------------------------------

-- Returns what a migration did.
function list.relation(ctx, name, fields)
  local id, report = ctx.world:relation(name, fields)
  ctx.components[name] = id
  ctx.several[name] = not (fields and fields.exclusive) or nil
  if report then
    ctx.components[report.was or ""] = nil
    return report.rows, report.kept, report.added, report.dropped, report.was
  end
end

-- Names the relations of every world.
function list.builtin(ctx)
  for _, name in ipairs { "ChildOf", "IsA" } do
    ctx.world:query(name)
    ctx.components[name] = true
  end
end

for _, name in ipairs { "target", "parent" } do
  list[name] = function(ctx, ...)
    return ctx.world[name](ctx.world, ...)
  end
end

for _, name in ipairs { "targets", "children" } do
  list[name] = function(ctx, ...)
    return collect(ctx.world[name](ctx.world, ...))
  end
end

-- In order where that is known: of exclusive relations.
function list.sources(ctx, target, relation, ordered)
  local ids = collect(ctx.world:sources(target, relation))
  if not ordered then
    table.sort(ids)
  end
  return ids
end

-- ---- relations ---------------------------------------------------------------------------

local PALETTE = {
  { "Likes", {} },
  { "Owes", { "amount: i32 = 3", track = true } },
  { "DockedTo", { "since: f64 = 2.5", exclusive = true } },
  { "Rides", { exclusive = true, on_target_despawn = "despawn" } },
  { "Haunts", { on_target_despawn = "despawn" } },
  { "Guards", { "note: string", on_target_despawn = "error" } },
  { "Holds", { "what: any", exclusive = true, acyclic = true, on_target_despawn = "error" } },
  { "Mimics", { "who: entity", "p: u8[2]", exclusive = true, track = true } },
}

-- Worlds of thousands of entities have none: the model asks all entities about each tie.
function Gen:plan_relations()
  local rng = random.new(self.rng:int(1 << 40))
  self.ties = rng
  if self.crowd >= 1000 or rng:chance(15) then
    return
  end
  self.pending[#self.pending + 1] = { "builtin" }
  if rng:chance(60) then
    self.pending[#self.pending + 1] = { "prefab", "Kind", { "part", false } }
  end
  for _, entry in ipairs(rng:sample(PALETTE, rng:range(1, 4))) do
    self.pending[#self.pending + 1] = { "relation", entry[1], entry[2] }
  end
end

function Gen:relations()
  local relations = {}
  for _, component in ipairs(self.world.declared) do
    local own = component.name == "IsA" or component.name == "Prefab"
    relations[#relations + 1] = component.ties and not own and component or nil
  end
  return relations
end

-- A relation, or nil; ChildOf is drawn often.
function Gen:relation()
  local relations = self:relations()
  if relations[1] and relations[1].name == "ChildOf" and self.rng:chance(20) then
    return relations[1]
  end
  return self.rng:pick(relations)
end

-- A prefab, or a child of one, where there is any.
function Gen:prefab()
  return self.rng:pick(self.ctx.prefabs)
end

-- Whom to tie to: mostly an entity, at times a prefab, or a component, by its name or id.
function Gen:target()
  if self.rng:chance(8) and self:prefab() then
    return self:prefab()
  elseif self.rng:chance(10) then
    local name = self:component().name
    return self.rng:chance(50) and name or "@#" .. name
  end
  return self:reference() or "@null"
end

local function is_reference(target)
  return type(target) == "string" and target:byte() == 64 and target ~= "@nil"
end

local function pair_of(name, target)
  if is_reference(target) then
    return ("@(%s %s)"):format(name, target)
  end
end

-- Values for the fields behind the target, in order.
local function fields_of(self, component)
  local first, given = component.ties.exclusive and 2 or 1, {}
  for at = first, self.rng:range(first - 1, #component.fields) do
    given[#given + 1] = values.of(self, component.fields[at].type)
  end
  return given
end

-- The same by name; nil when there are none.
local function table_of(self, component)
  local given = {}
  for at = component.ties.exclusive and 2 or 1, #component.fields do
    local field = component.fields[at]
    given[field.name] = self.rng:chance(70) and values.of(self, field.type) or nil
  end
  return next(given) and given
end

-- What a spawn's table says of a relation, and under which key.
local function spawned_with(self, component)
  local target, name = self:target(), component.name
  local fields = table_of(self, component)
  if self.rng:chance(30) and pair_of(name, target) then
    return pair_of(name, target), fields or true
  elseif component.ties.exclusive and self.rng:chance(40) then
    fields = fields or {}
    fields.target = is_reference(target) and target or "@null"
    return name, fields
  elseif not component.ties.exclusive and self.rng:chance(40) then
    return name, { target, self:target() }
  end
  return name, target
end

function Gen:add_ties(composition)
  for _, component in ipairs(self.rng:chance(35) and self:relations() or {}) do
    if self.rng:chance(30) then
      local key, value = spawned_with(self, component)
      composition[key] = value
    end
  end
end

-- ---- kinds -------------------------------------------------------------------------------

-- Whom an entity is tied to already, often.
local function known_target(self, reference, component)
  local id = self.ctx.ids[tostring(reference):sub(2)]
  local target = id and self.rng:pick(self.world:targets_of(id, component))
  for name, other in pairs(self.ctx.ids) do
    if other == target and self.rng:chance(60) then
      return "@" .. name
    end
  end
  return self:target()
end

local function named(self, component)
  return self.rng:chance(15) and "@#" .. component.name or component.name
end

local function tie(self)
  local component = self:relation()
  if not component then
    return nil
  end
  local target = self:target()
  if self.rng:chance(20) and pair_of(component.name, target) then
    return { "add", self:reference() or "@null", pair_of(component.name, target) }
  end
  return { "add", self:reference() or "@null", named(self, component),
    self.rng:chance(97) and target or nil }
end

local function untie(self)
  local component, reference = self:relation(), self:reference() or "@null"
  if not component then
    return nil
  end
  return { "remove", reference, named(self, component),
    self.rng:chance(60) and known_target(self, reference, component) or nil }
end

-- A field's path and what is given for it.
local function set_path(self, reference, component)
  local path, kind, keys = values.leaf(self, component)
  if not path then
    return nil
  elseif component.ties.exclusive then
    return { "set", reference, path,
      keys[1] == "target" and self:target() or values.scalar(self, kind) }
  end
  return { "set", reference, path, known_target(self, reference, component),
    values.scalar(self, kind) }
end

local function set_tie(self)
  local component, reference = self:relation(), self:reference() or "@null"
  if not component then
    return nil
  end
  local target, roll = known_target(self, reference, component), self.rng:int(4)
  if roll == 1 then
    return set_path(self, reference, component)
  elseif roll == 2 and component.ties.exclusive then
    local given = table_of(self, component) or {}
    given.target = self.rng:chance(50) and is_reference(target) and target or nil
    return next(given) and { "set", reference, named(self, component), given }
  elseif roll == 3 and table_of(self, component) then
    return { "set", reference, pair_of(component.name, target) or component.name,
      table_of(self, component) }
  end
  return { "set", reference, named(self, component), target,
    table.unpack(fields_of(self, component)) }
end

local function look(operation, few)
  return function(self)
    local component, reference = self:relation(), self:reference() or "@null"
    if not component then
      return nil
    end
    local path = operation == "get" and self.rng:chance(30) and values.leaf(self, component)
    return { operation, reference, path or named(self, component),
      not few and self.rng:chance(70) and known_target(self, reference, component) or nil }
  end
end

local function sources(self)
  local component = self:relation()
  return component and { "sources", self:target(), component.name, component.ties.exclusive }
end

local function family(operation)
  return function(self)
    local prefab = self.rng:chance(20) and self:prefab()
    return { operation, prefab or self:reference() or "@null" }
  end
end

-- Names, and those of paths.
local function lookup(self)
  local reference = self:living() or "@null"
  local id = self.ctx.ids[reference:sub(2)]
  local path = id and self.world:path_of(id)
  return path and { "lookup", path }
end

-- ---- other options -------------------------------------------------------------------------

local edits = {}

function edits.policy(self, lines)
  lines.on_target_despawn = self.rng:pick { "remove", "remove", "despawn", "error" }
end

function edits.track(_, lines)
  lines.track = not lines.track or nil
end

function edits.acyclic(self, lines)
  lines.acyclic = lines.exclusive and self.rng:chance(50) or nil
end

function edits.exclusive(_, lines)
  lines.exclusive = not lines.exclusive or nil
  lines.acyclic = nil
end

function edits.field(self, lines)
  if #lines > 0 and self.rng:chance(40) then
    table.remove(lines, self.rng:int(#lines))
  else
    self.tie_fields = (self.tie_fields or 0) + 1
    lines[#lines + 1] = ("t%d: %s"):format(self.tie_fields,
      self.rng:pick { "f32", "i64 = 7", "string", "entity", "any", "i8[2]" })
  end
end

function edits.requires(self, lines)
  lines.requires = self.rng:chance(60) and { self:component().name } or nil
end

-- A relation with other options, or of another name.
local function relate_again(self)
  local component = self:relation()
  local busy = #self.world.scopes > 0 and self.rng:chance(90)
  if not component or busy or component.name == "ChildOf" and self.rng:chance(90) then
    return nil
  end
  local lines, name = {}, component.name
  for key, value in pairs(component.lines) do
    lines[key] = value
  end
  for _ = 1, self.rng:int(2) do
    edits[self.rng:pick { "policy", "acyclic", "exclusive", "exclusive", "field", "requires",
      "track" }](self, lines)
  end
  if self.rng:chance(15) then
    self.tie_names = (self.tie_names or 0) + 1
    name, lines.was = "R" .. self.tie_names, { component.name }
  end
  return { "relation", name, lines }
end

-- A component that is to be a relation, and the other way.
local function confuse(self)
  local component = self:relation()
  if component and self.rng:chance(70) then
    local tag = self:component()
    return #tag.fields == 0 and { "relation", tag.name, { exclusive = self.rng:chance(50) } } or nil
  elseif not component then
    return nil
  end
  return { self.rng:pick { "tag", "declare" }, component.name, {} }
end

local function undeclare(self)
  local component = self:relation()
  if not component or #self.world.scopes > 0 then
    return nil
  elseif component.name ~= "ChildOf" then
    self.pending[#self.pending + 1] = { "relation", component.name, component.lines }
  end
  return { "undeclare", component.name }
end

for _, kind in ipairs {
  { 90, tie }, { 45, untie }, { 50, set_tie }, { 15, look "get" }, { 10, look "read" },
  { 15, look "has" }, { 8, look("target", true) }, { 8, look("targets", true) }, { 10, sources },
  { 4, family "parent" }, { 4, family "children" }, { 8, lookup },
  { 25, relate_again }, { 3, confuse }, { 2, undeclare },
} do
  kinds[#kinds + 1] = kind
end

local function on_self(make)
  return function(self)
    local step = make(self)
    if step and self.rng:chance(70) then
      step[2] = "@self"
    end
    return step
  end
end

for _, kind in ipairs { { 30, on_self(tie) }, { 15, on_self(untie) }, { 15, on_self(set_tie) },
  { 8, on_self(look "get") }, { 5, on_self(look("targets", true)) }, { 5, sources } } do
  gen.row_kinds[#gen.row_kinds + 1] = kind
end
for _, kind in ipairs { { 15, tie }, { 10, untie }, { 10, set_tie }, { 5, look "has" } } do
  gen.plain_kinds[#gen.plain_kinds + 1] = kind
end

return kinds
