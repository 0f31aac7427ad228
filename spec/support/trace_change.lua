-- Steps that declare components with other fields, and that save, load, snapshot and restore:
-- their operations, and how often each is drawn.

local compare = require "spec.support.compare"
local context = require "spec.support.trace_context"
local gen = require "spec.support.trace_gen"
local kinds = require "spec.support.trace_kinds"
local ops = require "spec.support.trace_ops"
local types = require "spec.support.model_types"
local values = require "spec.support.trace_values"

local list = ops.list

-- ---- operations --------------------------------------------------------------------------

-- Values of `any` fields as numbers in a list of all that were ever saved.
local function codec_of(ctx)
  local known = ctx.encoded
  if not known then
    known = { numbers = {}, values = {} }
    ctx.encoded = known
  end
  local function encode(value)
    local key = math.type(value) == "float" and ("float %a"):format(value) or value
    if not known.numbers[key] then
      known.values[#known.values + 1] = value
      known.numbers[key] = #known.values
    end
    return tostring(known.numbers[key])
  end
  local function decode(bytes)
    return known.values[tonumber(bytes)]
  end
  return { codec = { encode = encode, decode = decode } }
end

local function kept(ctx, slot)
  local value = ctx.kept[slot]
  if not value then
    error(context.MISSING, 0)
  end
  return value
end

function list.save(ctx, slot, plain)
  ctx.kept[slot] = ctx.world:save(not plain and codec_of(ctx) or nil)
end

function list.load(ctx, slot, plain)
  ctx.world:load(kept(ctx, slot), not plain and codec_of(ctx) or nil)
end

function list.snapshot(ctx, slot)
  ctx.kept[slot] = ctx.world:snapshot()
end

function list.restore(ctx, slot)
  ctx.world:restore(kept(ctx, slot))
end

-- Whether two worlds have the same components, with the same fields and defaults.
local function same_components(one, two)
  for _, name in ipairs(one:describe().components) do
    local a, b = one:describe(name), two:describe(name)
    a.id, b.id, a.orphan, b.orphan = nil, nil, nil, nil   -- an image declares nothing,
    a.watched, b.watched = nil, nil                       -- and asks for no changes
    if not compare.same(a, b) then
      return false
    end
  end
  return true
end

-- Whether a fresh world is the same after loading the image of this one.
function list.copy(ctx)
  local codec = codec_of(ctx)
  local image = ctx.world:save(codec)
  if type(image) ~= "string" then
    return true, true
  end
  local fresh = require("ecs").world()
  for _, system in ipairs(ctx.world:describe().systems) do
    fresh:system(system.name, { run = function() end })
  end
  fresh:load(image, codec)
  local digest, sound = fresh:digest(), fresh:check() and same_components(ctx.world, fresh)
  fresh:close()
  return digest == ctx.world:digest(), sound
end

-- Whether the world's own image brings back the same image.
function list.again(ctx)
  local codec = codec_of(ctx)
  local image = ctx.world:save(codec)
  ctx.world:load(image, codec)
  return type(image) ~= "string" or ctx.world:save(codec) == image
end

-- ---- kernels -----------------------------------------------------------------------------

-- A function that can be compiled for a field of numbers, the same one each time.
local function clamp(ctx, path)
  local known = ctx.clamps[path]
  if not known then
    local field = "v." .. path
    known = assert(load(("return function(v) if FIELD > 3 then FIELD = 3 elseif FIELD < 0 then "
      .. "FIELD = 1 end end"):gsub("FIELD", field)))()
    ctx.clamps[path] = known
  end
  return known
end

-- What a kernel does to all rows; it cannot be compiled for a field that holds neither numbers nor
-- entities, which are not clamped.
function list.clamp(ctx, name, path)
  local query = ctx.world:query(name)
  if not query.terms then
    query:run(clamp(ctx, path))
    return
  end
  local component = query.terms[1][1].component
  if query:count() > 0 and #component.fields > 0 then
    local kind = select(2, types.leaf(component, path))
    if not (kind.low or kind.name == "f32" or kind.name == "f64") then
      error("no kernel", 0)
    end
  end
  query.blind = true
  query:each(clamp(ctx, path))
end

-- Nothing is noted of its rows. A field that is not there is an error in both worlds, since the
-- function shows only when it runs what it is about.
function list.clamp_system(ctx, system, name, path)
  local model = type(ctx.world.store) == "table" and ctx.world
  if model then
    types.leaf(ctx.world:need_component(name), path)
  else
    ctx.world:count(name .. "." .. path)
  end
  ctx.world:system(system, { query = name, each = clamp(ctx, path) })
  if model then
    model.systems[system].query.blind = true
  end
end

-- ---- other fields ------------------------------------------------------------------------

local NUMBERS = { "f32", "f64", "f64", "f64", "i8", "i16", "i32", "i64", "i64", "u8", "u16", "u32",
  "u64", "u64", "bool" }
local ENUMS = { "enum(a, b, c)", "enum(c, a, b, d)", "enum(a, b)", "enum(a, b, c, d)",
  "enum(run, idle, dead)", "enum(up, down, left)" }
local OTHERS = { "string", "entity", "any", "bool", "f32[2]", "i16[3]", "string[2]" }

local function other_type(self)
  local rng = self.rng
  local roll = rng:int(10)
  if roll <= 6 then
    return rng:pick(NUMBERS)
  elseif roll == 7 then
    return rng:pick(ENUMS)
  elseif roll == 8 then
    local nested = self:component()
    if nested.name ~= "Nowhere" and (#nested.fields <= 4 or rng:chance(10)) then
      return nested.name .. (rng:chance(30) and "[2]" or "")
    end
  end
  return rng:pick(OTHERS)
end

local function fresh_name(self)
  self.names_given = (self.names_given or 0) + 1
  return "g" .. self.names_given
end

local edits = {}

function edits.add(self, lines)
  local text = ("%s: %s"):format(fresh_name(self), other_type(self))
  if text:find ": [fi]%d+$" and self.rng:chance(50) then
    text = text .. " = 3"
  end
  table.insert(lines, self.rng:int(#lines + 1), text)
end

function edits.drop(self, lines)
  table.remove(lines, self.rng:int(#lines))
end

function edits.rename(self, lines)
  local at = self.rng:int(#lines)
  local name, rest = lines[at]:match("^([%w_]+)(.*)$")
  local other = self.rng:chance(90) and fresh_name(self) or "x"
  lines[at] = other .. rest
  lines.was = lines.was or {}
  if self.rng:chance(85) then
    lines.was[other] = self.rng:chance(97) and name or "nothing"
  end
end

function edits.retype(self, lines)
  local at = self.rng:int(#lines)
  lines[at] = ("%s: %s"):format(lines[at]:match("^([%w_]+)"), other_type(self))
end

function edits.order(self, lines)
  table.insert(lines, self.rng:int(#lines), table.remove(lines, self.rng:int(#lines)))
end

function edits.default(self, lines)
  local at = self.rng:int(#lines)
  local head, kind = lines[at]:match("^([%w_]+: ([%w_]+))")
  if kind and kind:find "^[fiu]%d" and not lines[at]:find "%[" then
    lines[at] = head .. " = " .. self.rng:int(9)
  end
end

-- At times what is there already, or leads back to the component itself.
function edits.requires(self, lines)
  lines.requires = lines.requires or {}
  table.insert(lines.requires, self:component_name(self:component()))
end

function edits.storage(self, lines)
  lines.storage = self.rng:pick { "sparse", "table" }
end

function edits.toggle(_, lines)
  lines.toggle = not lines.toggle or nil
end

function edits.track(_, lines)
  lines.track = not lines.track or nil
end

local EDITS = { "add", "add", "add", "drop", "rename", "rename", "retype", "retype", "retype",
  "order", "default", "requires", "requires", "storage", "storage",
  "toggle", "toggle", "track" }

-- Where a component is kept, and what it requires, by name, for another declaration of it: mostly
-- that and all of that.
local function keep_requirements(self, component, lines)
  lines.storage = component.sparse and self.rng:chance(90) and "sparse" or nil
  lines.toggle = component.toggle and self.rng:chance(95) or nil
  lines.track = component.track and self.rng:chance(95) or nil
  for _, required in ipairs(component.requires) do
    if self.rng:chance(85) then
      lines.requires = lines.requires or {}
      table.insert(lines.requires, required.name)
    end
  end
end

-- The lines of a component with a few edits.
local function other_lines(self, component)
  local lines = table.move(component.lines, 1, #component.lines, 1, {})
  keep_requirements(self, component, lines)
  if self.rng:chance(5) then
    return {}
  elseif self.rng:chance(40) and component.was then
    lines.was = { component.former }
    for name, was in pairs(component.was) do
      lines.was[name] = was
    end
  end
  for _ = 1, self.rng:int(3) do
    local edit = self.rng:pick(EDITS)
    local more = edit == "add" or edit == "requires" or edit == "storage"
      or edit == "toggle" or edit == "track"
    if (#lines > 0 or more) and (#lines < 8 or edit == "drop") then
      edits[edit](self, lines)
    end
  end
  return lines
end

-- A system that goes through a field of `any` would fail at a row that depends on their order,
-- which the model does not know. What a field has been it may be again, after load or restore.
local function keep_apart(self, lines)
  for at, line in ipairs(lines) do
    local name = line:match("^([%w_]+): any")
    if name and self.clamped[name] then
      lines[at] = name .. ": f64"
    end
  end
end

local function note_any(self, lines)
  for _, line in ipairs(lines) do
    local name = line:match("^([%w_]+): any")
    if name then
      self.were_any[name] = true
    end
  end
end

local function redeclare(self)
  local component = self:component()
  if component.name == "Nowhere" then
    return nil
  end
  local lines = other_lines(self, component)
  keep_apart(self, lines)
  note_any(self, component.lines)
  note_any(self, lines)
  return { "declare", component.name, lines }
end

-- Another name for a component, mostly a new one; at times what it was called, or the name of
-- another one. It may have other fields, too.
local function rename(self)
  local rng, component = self.rng, self:component()
  if component.name == "Nowhere" then
    return nil
  end
  local same = rng:chance(40)
  local step = same and { "declare", component.name, {} } or redeclare(self)
  local lines = step[3]
  if same then
    table.move(component.lines, 1, #component.lines, 1, lines)
    keep_requirements(self, component, lines)
  end
  lines.was = lines.was or {}
  lines.was[1] = rng:chance(90) and step[2] or self:component().name
  step[2] = rng:chance(80) and "N" .. fresh_name(self) or component.former or self:component().name
  if same and rng:chance(30) then
    lines.was = lines.was[1]
  end
  return step
end

local function tag(self)
  local component = self:component()
  return component.name ~= "Nowhere" and { "tag", component.name } or nil
end

-- ---- kinds -------------------------------------------------------------------------------

local function slotted(operation)
  return function(self)
    local idle = #self.world.scopes == 0 or self.rng:chance(10)
    return idle and { operation, self.rng:int(3), self.rng:chance(10) or nil } or nil
  end
end

local function snap(operation)
  return function(self)
    local idle = #self.world.scopes == 0 or self.rng:chance(10)
    return idle and { operation, "s" .. self.rng:int(3) } or nil
  end
end

local function copy(operation)
  return function(self)
    return #self.world.scopes == 0 and { operation } or nil
  end
end

-- A component and the path of one of its values; one that holds what Lua can order, mostly.
local function pick_value(self)
  local component = self:component()
  local path, kind = values.leaf(self, component)
  if path and kind.name ~= "any" then
    return component.name, path:match("%.(.*)$"), kind
  end
end

-- Whether a field of entities takes a number, their ids say.
local function clamped(self)
  local name, path, kind = pick_value(self)
  return name and kind.name ~= "entity" and { "clamp", name, path } or nil
end

local function clamped_system(self)
  local name, path = pick_value(self)
  if not name then
    return nil
  end
  for field in path:gmatch "[%a_][%w_]*" do
    if self.were_any[field] then
      return nil
    end
    self.clamped[field] = true
  end
  return { "clamp_system", self.rng:pick { "clamp", "think", "heal" }, name, path }
end

for _, kind in ipairs {
  { 6, clamped }, { 5, clamped_system }, { 14, redeclare }, { 6, rename }, { 5, slotted "save" },
  { 4, slotted "load" }, { 5, snap "snapshot" }, { 5, snap "restore" }, { 3, copy "copy" },
  { 2, copy "again" }, { 3, tag },
} do
  kinds[#kinds + 1] = kind
end
gen.row_kinds[#gen.row_kinds + 1] = { 1, redeclare }
gen.plain_kinds[#gen.plain_kinds + 1] = { 1, redeclare }

return kinds
