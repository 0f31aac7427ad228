-- Random worlds of tied entities, and random texts of queries about them. Some are made of prefabs,
-- or tied to these, which are tied themselves.

local oracle = require "spec.support.terms_oracle"

local gen = {}

local MOST = 26
local OWN = { "Position", "Health", "Hunt", "Enemy", "Frozen", "DockedTo", "State", "ChildOf",
  "Packed", "Packed", "Wet", "Shield", "Shield", "Awake" }
local FIELDS = { "Position.x", "Position.y", "Health.hp", "DockedTo.since", "Packed.n",
  "Shield.level" }
local TOGGLES = { Shield = true, Awake = true, Packed = true }
local EITHER = { "Position|Health", "Enemy|Health", "Health|Enemy|Position", "Enemy|Frozen",
  "Position:in|Hunt", "Hunt|DockedTo:in", "Packed|Health", "Shield|Position:in", "Awake|Wet",
  "Shield|Packed|Enemy" }
local RELATIONS = { "Likes", "Likes", "Owes", "Owes", "DockedTo", "State", "ChildOf" }
local WAYS = { "ChildOf", "ChildOf", "DockedTo", "DockedTo*", "Hunt.prey", "ChildOf*", "ChildOf*",
  "IsA*", "IsA" }
local ENDS = { "Position", "Health", "Health", "Hunt", "Enemy", "Packed", "Shield", "Awake" }
-- What else than entities is a target, by relation.
local NAMES = { Likes = { "Apples", "Enemy", "Position" }, Owes = { "Apples", "Health" },
  State = { "Chasing", "Idle" }, DockedTo = { "Apples" } }

-- ---- worlds ----------------------------------------------------------------------------

function gen.declare(world)
  world:component("Position", { "x: f64", "y: f64" })
  world:component("Health", { "hp: i32" })
  world:component("Hunt", { "prey: entity" })
  world:component("Packed", { "n: i32", storage = "sparse", toggle = true })
  world:component("Wet", { storage = "sparse" })
  world:component("Shield", { "level: i32", toggle = true })
  world:component("Awake", { toggle = true })
  for _, tag in ipairs { "Enemy", "Frozen", "Apples", "Chasing", "Idle" } do
    world:tag(tag)
  end
  world:relation "Likes"
  world:relation("Owes", { "amount: i32" })
  world:relation("DockedTo", { "since: f64", exclusive = true })
  world:relation("State", { exclusive = true })
end

local tie = {}

function tie.Likes(world, rng, entity, target)
  world:add(entity, "Likes", rng:chance(25) and rng:pick(NAMES.Likes) or target)
end

function tie.Owes(world, rng, entity, target)
  world:set(entity, "Owes", rng:chance(20) and rng:pick(NAMES.Owes) or target, rng:int(90))
end

function tie.DockedTo(world, rng, entity, target)
  world:set(entity, "DockedTo", rng:chance(8) and "Apples" or target, rng:int(90) / 4)
end

function tie.State(world, rng, entity, target)
  world:set(entity, "State", rng:chance(85) and rng:pick(NAMES.State) or target)
end

-- A circle is refused, which leaves the entity where it was.
function tie.ChildOf(world, _, entity, target)
  pcall(world.add, world, entity, "ChildOf", target)
end

function tie.Hunt(world, _, entity, target)
  world:set(entity, "Hunt", target)
end

-- Components that lie apart, or may be off.
local function add_special(world, rng, id)
  for _, name in ipairs { "Packed", "Shield" } do
    if rng:chance(40) then
      world:set(id, name, rng:int(50))
    end
  end
  for _, name in ipairs { "Wet", "Awake" } do
    if rng:chance(40) then
      world:add(id, name)
    end
  end
  for _, name in ipairs { "Shield", "Awake", "Packed" } do
    if rng:chance(40) then
      world:disable(id, name)
    end
  end
end

local function living(world)
  local ids = {}
  for id in world:query "":each() do
    ids[#ids + 1] = id
  end
  table.sort(ids)
  return ids
end

-- Whom to tie to: at times a prefab, or its child.
local function target_for(world, rng)
  if rng:chance(15) then
    local kind = world:lookup(rng:pick { "Kind", "Elite" })
    return rng:chance(50) and world:children(kind)() or kind
  end
  return rng:pick(living(world))
end

local function spawn(world, rng)
  local parts = {}
  if rng:chance(60) then
    parts.Position = { rng:int(50) / 2, -rng:int(50) + 0.0 }
  end
  if rng:chance(55) then
    parts.Health = { rng:int(99) }
  end
  for _, tag in ipairs { "Enemy", "Frozen" } do
    parts[tag] = rng:chance(35) or nil
  end
  local id = rng:chance(20) and world:instantiate(rng:pick { "Kind", "Elite" }, parts)
    or world:spawn(parts)
  add_special(world, rng, id)
  for _, name in ipairs { "Likes", "Likes", "Likes", "Owes", "Owes", "DockedTo", "State", "ChildOf",
    "Hunt" } do
    if rng:chance(60) then
      tie[name](world, rng, id, target_for(world, rng))
    end
  end
  return id
end

local change = {}

function change.despawn(world, rng, entity)
  if rng:chance(50) then
    world:despawn(entity)
  end
end

function change.tie(world, rng, entity, other)
  tie[rng:pick(RELATIONS)](world, rng, entity, other)
end

function change.hunt(world, rng, entity, other)
  tie.Hunt(world, rng, entity, other)
end

function change.untie(world, rng, entity)
  world:remove(entity, rng:pick(RELATIONS))
end

function change.add(world, rng, entity)
  world:add(entity, rng:pick { "Position", "Health", "Enemy", "Frozen", "Packed", "Shield" })
end

function change.remove(world, rng, entity)
  world:remove(entity, rng:pick { "Position", "Health", "Enemy", "Frozen", "Hunt", "Packed", "Wet",
    "Shield", "Awake" })
end

function change.switch(world, rng, entity)
  local switch = rng:chance(50) and world.enable or world.disable
  switch(world, entity, rng:pick { "Shield", "Awake", "Packed" })
end

-- Most stand in one line then, few of whom have something: ways along it are long.
local function line_up(world, rng)
  local ids, rare = living(world), { "Hunt", "Awake", rng:pick(ENDS) }
  local line = rng:sample(ids, math.min(#ids, 18))
  for at, id in ipairs(line) do
    for _, name in ipairs(rng:chance(90) and rare or {}) do
      world:remove(id, name)
    end
    if at > 1 then
      tie.ChildOf(world, rng, id, line[at - 1])
    end
  end
end

-- Changes the world here and there; most worlds stay about as full as they were.
function gen.change(world, rng)
  for _ = 1, 8 do
    local ids = living(world)
    local name = rng:pick { "despawn", "tie", "tie", "hunt", "untie", "add", "remove",
      "switch" }
    if #ids > 2 then
      change[name](world, rng, rng:pick(ids), target_for(world, rng))
    end
  end
  while #living(world) < MOST - 4 do
    spawn(world, rng)
  end
  if rng:chance(50) then
    line_up(world, rng)
  end
end

-- Two prefabs with all that queries ask for, none of which they find.
local function declare_prefabs(world, rng)
  world:prefab("Kind", { Position = { 7, 8 }, Packed = { 3 }, Shield = { 4 }, Awake = true }, {
    shared = { Health = { 77 }, Enemy = true }, children = { { Health = { 5 } } } })
  world:prefab("Elite", { Frozen = true, Wet = true }, { is_a = "Kind" })
  local kind, elite = world:lookup "Kind", world:lookup "Elite"
  for _, id in ipairs { kind, elite, world:children(kind)(), world:children(elite)() } do
    oracle.note_prefab(world, id)
    for _, relation in ipairs { "Likes", "Owes", "DockedTo", "State", "Hunt" } do
      tie[relation](world, rng, id, rng:pick(living(world)))
    end
  end
end

-- Fills the world; returns the ids of some that have died since.
function gen.fill(world, rng)
  for _ = 1, 3 do
    world:spawn { Position = true }
  end
  declare_prefabs(world, rng)
  for _ = 4, MOST do
    spawn(world, rng)
  end
  local dead = rng:sample(living(world), 3)
  for _, id in ipairs(dead) do
    if world:alive(id) then   -- a parent may have taken it along
      world:despawn(id)
    end
  end
  return dead
end

-- ---- texts -----------------------------------------------------------------------------

local PLAIN = { "own", "own", "own", "field", "either" }
local TIED = { "any", "fixed", "fixed", "path", "path", "variable", "variable" }

local term = {}

local function access(rng)
  return rng:chance(30) and ":in" or ""
end

local function optional(rng)
  return rng:pick { "?", "?", "?:in", ":in?" }
end

-- Something about the row's own components, none of them twice in a text.
function term.own(self)
  local rng, name = self.rng, self.rng:pick(OWN)
  if self.used[name] then
    return nil
  end
  self.used[name] = true
  -- Whether a first term behind 'with' gives the order of packed rows is not said.
  local with = self.at > 1 and "with " or ""
  if TOGGLES[name] and rng:chance(40) then
    local state = name .. rng:pick { ":off", ":any" }
    return rng:pick { state .. access(rng), state, "!" .. state, state .. optional(rng),
      with .. state }
  end
  return rng:pick { name .. access(rng), name .. access(rng), name .. access(rng), "!" .. name,
    name .. optional(rng), with .. name }
end

function term.field(self)
  return self.rng:pick(FIELDS) .. access(self.rng)
end

function term.either(self)
  return (self.rng:chance(20) and "with " or "") .. self.rng:pick(EITHER)
end

function term.any(self)
  local relation = self.rng:pick(RELATIONS)
  local all = ("(%s, *)"):format(relation)
  return self.rng:pick { all .. access(self.rng), all, all, "!" .. all, "with " .. all }
end

-- A pair of a fixed target: a name, or a variable that is given.
function term.fixed(self)
  local rng, relation = self.rng, self.rng:pick(RELATIONS)
  local target = NAMES[relation] and rng:chance(40) and rng:pick(NAMES[relation]) or "$p"
  local pair = ("(%s, %s)"):format(relation, target)
  self.relation = target == "$p" and relation or self.relation
  -- Whether a first term behind 'with' gives the order of sources is not said.
  local with = self.at > 1 and "with " or ""
  return rng:pick { pair .. access(rng), pair, pair, "!" .. pair, pair .. optional(rng),
    with .. pair }
end

function term.path(self)
  local rng = self.rng
  local path = rng:pick(WAYS) .. "->" .. rng:pick(ENDS)
  return rng:pick { path .. access(rng), path, path .. optional(rng), path .. optional(rng),
    "with " .. path }
end

-- A variable that is not given: bound at first, then asked about.
function term.variable(self)
  local rng, relation = self.rng, self.rng:pick(RELATIONS)
  local name = rng:pick { "$food", "$food", "$food", "$other" }
  local pair = ("(%s, %s)"):format(relation, name)
  if not self.bound[name] then
    self.bound[name] = true
    return pair .. access(rng)
  elseif rng:chance(40) then
    local asked = ("%s(%s)"):format(rng:pick { "Health", "Position", "Enemy", "Frozen", "Packed",
      "Shield", "Awake" }, name)
    return rng:pick { asked, asked .. access(rng), "with " .. asked }
  end
  return rng:pick { pair, pair .. access(rng), "!" .. pair, pair .. optional(rng), "with " .. pair }
end

-- What brings parents before children: the same of the row and of its parent.
local function family(self, texts)
  local name = self.rng:pick { "Position", "Health" }
  self.used[name] = true
  texts[1], texts[2] = name .. access(self.rng), ("ChildOf->%s"):format(name) .. optional(self.rng)
end

-- What gives the order of sources: a first term of an exclusive relation with its target.
local function ordered(self, texts)
  local relation = self.rng:pick { "State", "State", "DockedTo", "ChildOf" }
  local target = relation == "State" and self.rng:pick(NAMES.State) or "$p"
  self.relation = target == "$p" and relation or nil
  texts[1] = ("(%s, %s)"):format(relation, target) .. access(self.rng)
end

-- Of what kind the next term is: one about a variable is not long alone.
local function kind_of(self, plain)
  local rng = self.rng
  if next(self.bound) and rng:chance(50) then
    return "variable"
  end
  return rng:pick((plain or rng:chance(40)) and PLAIN or TIED)
end

local function target_of(world, rng, relation)
  local ids = {}
  for entity in world:query "":each() do
    local target = world:target(entity, relation)
    ids[#ids + 1] = target
  end
  return rng:pick(ids)
end

-- A list of terms, and what their variables are given: { p = id } or nothing.
function gen.text(world, rng, dead, plain)
  local self = { rng = rng, used = {}, bound = {} }
  local texts, known, given = {}, {}, {}
  local count = rng:range(1, 4)
  local start = not plain and rng:int(12)
  if start == 1 then
    family(self, texts)
  elseif start == 2 then
    ordered(self, texts)
  end
  while #texts < count do
    self.at = #texts + 1
    local text = term[kind_of(self, plain)](self)
    if text and not known[text] then
      known[text], texts[#texts + 1] = true, text
    end
  end
  if table.concat(texts):find("$p", 1, true) then
    given.p = rng:chance(8) and rng:pick(dead) or self.relation
      and target_of(world, rng, self.relation) or rng:pick(living(world))
  end
  return texts, given
end

return gen
