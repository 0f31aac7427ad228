-- Random edits of a few live scripts. A file is a list of statements; what they say is kept beside
-- the text, so that a model can be told of it.

local compare = require "spec.support.compare"
local random = require "spec.support.rng"

local live_gen = {}

local Gen = {}
Gen.__index = Gen

local FILES = { "a.lua", "b.lua", "c.lua", "d.lua", "e.lua", "shared.lua" }
local COMPONENTS = { "P", "Q", "R", "Config" }
local SYSTEMS = { "move", "think", "draw", "heal", "count" }
local PHASES = { "early", "late", "physics" }
local NUMBERS = { "f32", "f64", "f64", "i16", "i32", "i64", "u64", "u8" }

-- A generator over a directory (spec/support/scratch.lua).
function live_gen.new(seed, directory)
  local self = setmetatable({
    rng = random.new(seed), directory = directory, files = {}, accepted = {}, named = 0,
  }, Gen)
  self:module()
  for i = 1, 3 do
    self:create(FILES[i])
  end
  return self
end

-- ---- statements ----------------------------------------------------------------------------

local makers = {}

function Gen:lines()
  local lines = {}
  for i = 1, self.rng:int(3) do
    lines[i] = ("f%d: %s"):format(self.rng:int(2) + 2 * i, self.rng:pick(NUMBERS))
  end
  return lines
end

function makers.component(self)
  local name = self.rng:pick(COMPONENTS)
  local kind = name == "Config" and "resource" or "component"
  return { kind = kind, name = name, lines = self:lines() }
end

function makers.tag(self)
  return { kind = "tag", name = self.rng:pick { "T", "T", "P" } }
end

function makers.phase(self)
  return { kind = "phase", name = self.rng:pick(PHASES),
    after = self.rng:pick { "update", "render", "late", "startup" },
    fixed = self.rng:chance(30) and 0.25 or nil }
end

function makers.system(self)
  local rng = self.rng
  return {
    kind = "system", name = rng:pick(SYSTEMS), number = rng:int(1000),
    phase = rng:pick { "update", "update", "update", "render", rng:pick(PHASES) },
    after = rng:chance(30) and rng:pick(SYSTEMS) or nil,
    query = rng:chance(30) and rng:pick { "P", "Q", "P, !T", "P.f3", "Q?" } or nil,
    module = rng:chance(15) and rng:pick { "lib.value", "shared" } or nil,
  }
end

-- A field that some file declares: { component's name, field's name }; nil when there is none.
function Gen:some_field()
  local list = {}
  for _, statement in ipairs(self:declared()) do
    for _, line in ipairs(statement.kind == "component" and statement.lines or {}) do
      list[#list + 1] = { statement.name, line:match "^%w+" }
    end
  end
  return self.rng:pick(list)
end

-- A system whose function is compiled, or not, and uses a field.
function makers.user(self)
  local name, field = self.rng:pick(SYSTEMS), self:some_field()
  return field and { kind = "user", name = name, query = field[1], field = field[2],
    lua = self.rng:chance(50) } or makers.system(self)
end

function makers.query(self)
  return { kind = "query", query = self.rng:pick { "P", "Q", "R, P", "Q.f3" } }
end

local KINDS = { "component", "component", "component", "component", "system", "system", "system",
  "system", "user", "user", "phase", "tag", "query" }

function Gen:statement()
  return makers[self.rng:pick(KINDS)](self)
end

-- ---- text ------------------------------------------------------------------------------------

local function fields_of(statement)
  local parts = {}
  for i, line in ipairs(statement.lines) do
    parts[i] = ("%q"):format(line)
  end
  for new, old in pairs(statement.was or {}) do
    parts[#parts + 1] = ("was = { %s = %q }"):format(new, old)
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local writers = {}

function writers.component(statement)
  return ("world:component(%q, %s)"):format(statement.name, fields_of(statement))
end

function writers.resource(statement)
  return ("world:resource(%q, %s)"):format(statement.name, fields_of(statement))
end

function writers.tag(statement)
  return ("world:tag(%q)"):format(statement.name)
end

function writers.phase(statement)
  return ("world:phase(%q, { after = %q, fixed = %s })"):format(statement.name, statement.after,
    tostring(statement.fixed))
end

function writers.query(statement)
  return ("world:query(%q)"):format(statement.query)
end

function writers.system(statement)
  local number = tostring(statement.number)
  if statement.module then
    number = number .. (" + (tonumber(require %q) or 0)"):format(statement.module)
  end
  local query = statement.query and ("query = %q, "):format(statement.query) or ""
  local after = statement.after and ("after = %q, "):format(statement.after) or ""
  local text = "do local n = %s world:system(%q, { phase = %q, %s%srun = function() "
    .. "RAN(%q, n) end }) end"
  return text:format(number, statement.name, statement.phase, query, after, statement.name)
end

function writers.user(statement)
  local field = statement.field
  return ("world:system(%q, { query = %q, each = function(v)%s v.%s = v.%s end })"):format(
    statement.name, statement.query, statement.lua and " local _ = {}" or "", field, field)
end

function Gen:write(name)
  local lines = { "local world, script = ..." }
  if name == "shared.lua" then
    lines = { "local world, script = ...", "if type(world) == 'string' then return 7 end" }
  end
  for _, statement in ipairs(self.files[name]) do
    lines[#lines + 1] = writers[statement.kind](statement)
  end
  lines[#lines + 1] = self.files[name].defect
  local text = table.concat(lines, "\n")
  if self.rng:chance(30) then
    self.directory:replace(name, text)
  else
    self.directory:write(name, text)
  end
end

-- ---- edits -----------------------------------------------------------------------------------

function Gen:create(name)
  self.files[name] = {}
  for i = 1, self.rng:int(4) do
    self.files[name][i] = self:statement()
  end
  self:write(name)
end

function Gen:module()
  self.directory:write("lib/value.lua", ("return %d"):format(self.rng:int(100)))
end

-- Changes a component's fields a little.
local function edit_fields(self, statement)
  local lines, rng = statement.lines, self.rng
  local at = rng:int(#lines)
  local roll = rng:int(4)
  statement.was = nil
  self.named = self.named + 1
  if roll == 1 then
    table.insert(lines, at, ("g%d: %s"):format(self.named, rng:pick(NUMBERS)))
  elseif roll == 2 and #lines > 1 then
    table.remove(lines, at)
  elseif roll == 3 then
    local old = lines[at]:match("^%w+")
    lines[at] = ("g%d%s"):format(self.named, lines[at]:match("^%w+(.*)$"))
    statement.was = { ["g" .. self.named] = old }
  else
    lines[at] = lines[at]:match("^%w+: ") .. rng:pick(NUMBERS)
  end
end

local edits = {}

function edits.add(self, file)
  table.insert(file, self.rng:int(#file + 1), self:statement())
end

function edits.drop(self, file)
  table.remove(file, self.rng:int(#file))
end

function edits.order(self, file)
  table.insert(file, self.rng:int(#file), table.remove(file, self.rng:int(#file)))
end

function edits.change(self, file)
  local at = self.rng:int(#file)
  local statement = file[at]
  if statement.lines then
    edit_fields(self, statement)
  elseif statement.kind == "system" then
    statement.number = self.rng:int(1000)
  else
    file[at] = self:statement()
  end
end

function edits.break_it(self, file)
  file.defect = self.rng:pick { "oops(", "error 'on purpose'", "world:spawn {}",
    "local x = nil + 1", "world:component('P', { 'bad' })", "world:query 'Nowhere'",
    "world:close()" }
end

local EDITS = { "add", "add", "drop", "order", "change", "change", "change", "break_it" }

local function pick_file(self)
  local names = {}
  for name in pairs(self.files) do
    names[#names + 1] = name
  end
  table.sort(names)
  return self.rng:pick(names)
end

-- Moves a statement from one file to another; both are written.
local function move(self, from, to)
  local statement = table.remove(self.files[from], self.rng:int(#self.files[from]))
  table.insert(self.files[to], statement)
  self:write(from)
  self:write(to)
end

-- Remembers the files as they are, to be gone back to.
function Gen:accept()
  self.accepted = compare.copy(self.files)
end

-- Writes the files as they were when they were accepted.
function Gen:revert()
  for name in pairs(self.files) do
    if not self.accepted[name] then
      self.directory:remove(name)
    end
  end
  self.files = compare.copy(self.accepted)
  for name in pairs(self.files) do
    self:write(name)
  end
end

-- One edit, which may be that a file comes, goes or is called otherwise. Mends what is broken,
-- mostly.
function Gen:edit()
  local rng, name = self.rng, pick_file(self)
  local roll = rng:int(20)
  for broken, file in pairs(self.files) do
    if file.defect and rng:chance(70) then
      file.defect = nil
      self:write(broken)
      return
    end
  end
  local other = rng:pick(FILES)
  if roll == 1 then
    self:module()
  elseif roll == 2 and not self.files[other] then
    self:create(other)
  elseif roll == 3 and name and name ~= "shared.lua" and next(self.files, next(self.files)) then
    self.files[name] = nil
    self.directory:remove(name)
  elseif roll <= 6 and name and self.files[other] and #self.files[name] > 0 then
    move(self, name, other)
  elseif name then
    local edit = #self.files[name] == 0 and "add" or rng:pick(EDITS)
    edits[edit](self, self.files[name])
    self:write(name)
  end
end

-- What a first start of the files declares, in order: a list of { kind, name, lines, was }.
function Gen:declared()
  local list, names = {}, {}
  for name in pairs(self.files) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    for _, statement in ipairs(self.files[name]) do
      if statement.lines or statement.kind == "tag" then
        list[#list + 1] = statement
      end
    end
  end
  return list
end

-- The names of components that the accepted files ask for, as a set.
function Gen:asked_for()
  local names = {}
  for _, file in pairs(self.accepted) do
    local queries, systems = {}, {}
    for _, statement in ipairs(file) do
      if statement.kind == "system" or statement.kind == "user" then
        systems[statement.name] = statement.query or ""     -- the last of its name
      else
        queries[#queries + 1] = statement.query
      end
    end
    for _, query in pairs(systems) do
      queries[#queries + 1] = query
    end
    for _, query in ipairs(queries) do
      for name in query:gmatch "%u%w*" do
        names[name] = true
      end
    end
  end
  return names
end

return live_gen
