-- What observers are called for in random rounds, compared with dictionaries of what every entity
-- has before and after each: kinds, matches, order, and what views show.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

local runs = helper.by_scale { small = 12, normal = 30, deep = 600 }
local KINDS = { "exit", "remove", "despawn", "add", "enter", "set" }
local GOING = { exit = true, remove = true, despawn = true }
local VALUED = { "A", "B", "S", "G" }

-- Whether a query is about an entity's components, switched off or not (`has`), or as queries see
-- them (`on`).
local function on(e, name)
  return e.has[name] ~= nil and not e.off[name]
end

-- Queries: what of them matches, as a list of targets (false: no target goes with the match), also
-- where the first term may be switched off (`heard`); what the first term alone finds; whose values
-- it is about.
local function plain(first, rest)
  return {
    first = function(e) return e.has[first] ~= nil and { false } or {} end,
    matches = function(e)
      return on(e, first) and (not rest or rest(e)) and { false } or {}
    end,
    heard = function(e)
      return e.has[first] ~= nil and (not rest or rest(e)) and { false } or {}
    end,
    name = first,
  }
end

local function targets_of(e, name)
  local list = {}
  for target in pairs(e.ties[name]) do
    list[#list + 1] = target
  end
  table.sort(list, function(a, b) return a & 0xFFFFFFF < b & 0xFFFFFFF end)
  return list
end

local function tied(name, rest)
  local function matches(e) return (not rest or rest(e)) and targets_of(e, name) or {} end
  return {
    first = function(e) return targets_of(e, name) end,
    matches = matches,
    heard = matches,
    name = name,
  }
end

local QUERIES = {
  ["A"] = plain "A",
  ["A, !T"] = plain("A", function(e) return not on(e, "T") end),
  ["B, A?"] = plain "B",
  ["S, B?"] = plain "S",
  ["G"] = plain "G",
  ["A, G"] = plain("A", function(e) return on(e, "G") end),
  ["A, !G"] = plain("A", function(e) return not on(e, "G") end),
  ["B, with S"] = plain("B", function(e) return on(e, "S") end),
  ["(Likes, *)"] = tied "Likes",
  ["(Likes, *), A"] = tied("Likes", function(e) return on(e, "A") end),
  ["(Holds, *)"] = tied "Holds",
}

local function new_world()
  local world = helper.new_world()
  for _, name in ipairs { "A", "B" } do world:component(name, { "x: i32" }) end
  world:component("S", { "x: i32", storage = "sparse" })
  world:component("G", { "x: i32", toggle = true })
  world:tag "T"
  world:relation("Likes", { "x: i32" })
  world:relation("Holds", { "x: i32", exclusive = true })
  return world
end

-- What every entity has.
local function look(world, ids)
  local all = {}
  for _, id in ipairs(ids) do
    if world:alive(id) then
      local e = { has = {}, off = {}, ties = { Likes = {}, Holds = {} } }
      for _, name in ipairs(VALUED) do
        if world:has(id, name) then e.has[name] = world:get(id, name) end
      end
      e.has.T = world:has(id, "T") or nil
      e.off.G = e.has.G and not world:enabled(id, "G") or nil
      for target in world:targets(id, "Likes") do e.ties.Likes[target] = true end
      local held = world:target(id, "Holds")
      if held then e.ties.Holds[held] = true end
      all[id] = e
    end
  end
  return all
end

local function contains(list, value)
  for _, other in ipairs(list) do
    if other == value then return true end
  end
  return false
end

local NOTHING = { has = {}, off = {}, ties = { Likes = {}, Holds = {} } }

local function without(list, other)
  local left = {}
  for _, value in ipairs(list) do
    if not contains(other, value) then left[#left + 1] = value end
  end
  return left
end

-- The matches of an entity that an observer is to be called for.
local find = {}

function find.exit(query, before, after)
  return without(query.matches(before), after and query.matches(after) or {})
end

function find.despawn(query, before, after)
  return after and {} or query.matches(before)
end

function find.remove(query, before, after)
  return without(query.heard(before), after and query.first(after) or {})
end

function find.add(query, before, after)
  return after and without(query.heard(after), query.first(before)) or {}
end

function find.enter(query, before, after)
  return after and without(query.matches(after), query.matches(before)) or {}
end

function find.set(query, _, after, given)
  local list = {}
  for _, target in ipairs(after and query.heard(after) or {}) do
    local key = query.name == "Likes" and "Likes" .. target or query.name
    if given[key] then list[#list + 1] = target end
  end
  return list
end

local function text(id, target, x)
  return ("%d %s %s"):format(id, tostring(target), tostring(x))
end

-- Every call that a round should make, by observer, in order.
local function expect(round)
  local calls = {}
  for on_what, kind in pairs(find) do
    for query_text, query in pairs(QUERIES) do
      local list = {}
      for _, id in ipairs(round.order) do
        local before, after = round.before[id] or NOTHING, round.after[id]
        for _, target in ipairs(kind(query, before, after, round.given[id] or {})) do
          local shown = GOING[on_what] and round.last[id] or after
          list[#list + 1] = text(id, target, shown.has[query.name])
        end
      end
      calls[on_what .. " " .. query_text] = list
    end
  end
  return calls
end

-- Observers of every kind of every query, which note what they are called for.
local function observe(world, heard)
  for query_text, query in pairs(QUERIES) do
    local ties = NOTHING.ties[query.name] ~= nil
    for _, on_what in ipairs(KINDS) do
      local name = on_what .. " " .. query_text
      world:observer(name, { on = on_what, query = query_text, each = function(view, ...)
        local id, target = select(ties and -2 or -1, ...)
        local list = heard[name] or {}
        heard[name] = list
        list[#list + 1] = text(id, ties and target or false, not ties and view.x or nil)
      end })
    end
  end
end

-- ---- random commands -------------------------------------------------------------------

local Round = {}
Round.__index = Round

function Round:touch(id)
  if not self.known[id] then
    self.known[id] = true
    table.insert(self.order, id)
  end
  self.given[id] = self.given[id] or {}
  return self.given[id]
end

local commands = {}

function commands.set(self, id)
  local name, x = self.rng:pick(VALUED), self.rng:range(1, 99)
  self:touch(id)[name] = true
  self.world:set(id, name, x)
end

function commands.add(self, id)
  self:touch(id)
  self.world:add(id, self.rng:pick { "A", "B", "S", "G", "T" })
end

function commands.remove(self, id)
  local name = self.rng:pick { "A", "B", "S", "G", "T" }
  self:touch(id)[name] = nil
  self.world:remove(id, name)
end

function commands.enable(self, id)
  self:touch(id)
  self.world:enable(id, "G")
end

function commands.disable(self, id)
  self:touch(id)
  self.world:disable(id, "G")
end

function commands.like(self, id)
  local target = self.rng:pick(self.alive)
  local given = self:touch(id)
  if self.rng:chance(50) then
    given["Likes" .. target] = true
    self.world:set(id, "Likes", target, { x = self.rng:range(1, 9) })
  else
    self.world:add(id, "Likes", target)
  end
end

function commands.unlike(self, id)
  local target = self.rng:pick(self.alive)
  self:touch(id)["Likes" .. target] = nil
  self.world:remove(id, "Likes", target)
end

function commands.hold(self, id)
  self:touch(id).Holds = true
  self.world:add(id, "Holds", self.rng:pick(self.alive))
end

function commands.release(self, id)
  self:touch(id).Holds = nil
  self.world:remove(id, "Holds")
end

function commands.despawn(self, id)
  self:touch(id)
  self.despawns = true
  self.world:despawn(id)
end

function commands.spawn(self)
  local parts, given = {}, {}
  for _, name in ipairs(VALUED) do
    if self.rng:chance(40) then
      parts[name] = { x = self.rng:range(1, 99) }
      given[name] = true
    end
  end
  local id = self.world:spawn(parts)
  self.ids[#self.ids + 1] = id
  self.known[id], self.given[id] = true, given
  table.insert(self.order, id)
end

local NAMES = { "set", "set", "set", "add", "add", "remove", "remove", "enable", "disable", "like",
  "like", "unlike", "hold", "release", "despawn", "spawn", "spawn" }

local function alive_of(world, ids)
  local list = {}
  for _, id in ipairs(ids) do
    if world:alive(id) then list[#list + 1] = id end
  end
  return list
end

-- Entities that have changed by others' deaths come behind, in whatever order.
local function close(round)
  for _, id in ipairs(round.ids) do round:touch(id) end
end

local function check(round, heard)
  for name, list in pairs(expect(round)) do
    local got = heard[name] or {}
    if round.despawns then
      table.sort(list)
      table.sort(got)
    end
    assert.are.same(list, got, name .. ", seed " .. round.seed)
  end
end

local function run(seed)
  local world, heard, ids = new_world(), {}, {}
  local rng = random.new(seed)
  observe(world, heard)
  for _ = 1, 25 do
    for name in pairs(heard) do heard[name] = nil end
    local round = setmetatable({ world = world, rng = rng, seed = seed, ids = ids, order = {},
      known = {}, given = {}, before = look(world, ids), alive = alive_of(world, ids) }, Round)
    local scope = rng:chance(70)
    if scope then world:defer() end
    for _ = 1, scope and rng:range(1, 10) or 1 do
      local name = #round.alive > 0 and rng:pick(NAMES) or "spawn"
      commands[name](round, #round.alive > 0 and rng:pick(round.alive) or nil)
    end
    -- What was there is written at once, so that it is shown as it was last.
    round.last = scope and look(world, ids) or round.before
    if scope then world:commit() end
    round.after = look(world, ids)
    close(round)
    check(round, heard)
  end
  helper.check(world)
  world:close()
end

-- ---- observers that come and go within rounds --------------------------------------------

local KIND = { remove = 1, add = 2, enter = 3 }
local TAGS = { "T1", "T2", "T3", "T4" }

-- Each is called with the entities that came to its tag, or lost it; then it may register, remove
-- or switch others, which is meant for the round that is under way, too. `observers` is what should
-- be: by name, { kind, tag, on, place }; `round` has a new table in each.
local Coming = {}
Coming.__index = Coming

function Coming:register(name)
  local old, rng = self.observers[name], self.rng
  local made = { name = name, on = true, tag = rng:pick(TAGS),
    kind = rng:pick { "add", "remove", "enter" } }
  self.places = self.places + 1
  made.place = old and old.place or self.places
  made.on = not old or old.on
  self.observers[name] = made
  self.world:observer(name, { on = made.kind, query = made.tag, each = function(e)
    if self.calling ~= name then
      self.calling, self.log[#self.log + 1] = name, name
      self:act()
    end
    self.log[#self.log + 1] = e
  end })
end

local acts = {}

function acts.register(self) self:register("o" .. self.rng:int(9)) end

function acts.remove(self, name)
  self.world:remove_system(name)
  self.observers[name] = nil
end

function acts.switch(self, name)
  local one = self.observers[name]
  one.on = self.rng:chance(50)
  self.world:switch(name, one.on)
end

function Coming:names()
  local names = {}
  for name in pairs(self.observers) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- The same acts come again when it is asked what should have been called.
function Coming:act()
  for _ = 1, self.rng:int(3) do
    local name = self.rng:pick(self:names())
    local act = self.rng:pick { "register", "remove", "switch", "switch", "switch" }
    if name then acts[act](self, name) end
  end
end

-- Whom a round shows what: changes are { entity, tag, added }, in their order.
function Coming:shown(changes)
  local shown = {}
  for _, one in pairs(self.observers) do
    one.sees = {}
    for _, change in ipairs(one.on and changes or {}) do
      local adds = one.kind ~= "remove"
      if change.tag == one.tag and change.added == adds then
        one.sees[#one.sees + 1] = change.entity
      end
    end
    if #one.sees > 0 then shown[#shown + 1] = one end
  end
  table.sort(shown, function(a, b)
    if a.kind ~= b.kind then return KIND[a.kind] < KIND[b.kind] end
    return a.place < b.place
  end)
  return shown
end

-- Those that are shown something are called one after the other, always the first of those that
-- are on by then and have not been: as the world calls them each call is checked here.
local function change_tags(self, entities)
  local changes, rng = {}, self.rng
  for _, entity in ipairs(rng:sample(entities, rng:int(#entities))) do
    local tag = rng:pick(TAGS)
    local added = not self.world:has(entity, tag)
    changes[#changes + 1] = { entity = entity, tag = tag, added = added }
  end
  self.shown_now, self.log, self.calling = self:shown(changes), {}, nil
  if #changes > 1 then self.world:defer() end
  for _, change in ipairs(changes) do
    self.world[change.added and "add" or "remove"](self.world, change.entity, change.tag)
  end
  if #changes > 1 then self.world:commit() end
end

-- What is next, of those shown: one that was replaced or removed is another one, or none.
function Coming:next_shown(called)
  for _, one in ipairs(self.shown_now) do
    if not called[one] and self.observers[one.name] == one and one.on then return one end
  end
end

local function check_rounds(seed)
  local world, rng = helper.new_world(), random.new(seed)
  for _, tag in ipairs(TAGS) do world:tag(tag) end
  local self = setmetatable({ world = world, rng = rng, observers = {}, places = 0 }, Coming)
  local entities = world:spawn_many(6)
  for i = 1, 6 do self:register("o" .. i) end
  local called
  local act = self.act
  self.act = function()   -- at the beginning of a call: whose it should be
    local one = self:next_shown(called)
    assert.are.equal(one and one.name, self.calling)
    called[one] = true
    act(self)
  end
  for _ = 1, 30 do
    called = {}
    change_tags(self, entities)
    assert.is_nil(self:next_shown(called))
    local heard, wanted = {}, {}
    for _, one in ipairs(self.shown_now) do
      for _, entity in ipairs(called[one] and one.sees or {}) do
        wanted[#wanted + 1] = one.name .. " " .. entity
      end
    end
    local name
    for _, entry in ipairs(self.log) do
      if type(entry) == "string" then name = entry else heard[#heard + 1] = name .. " " .. entry end
    end
    table.sort(wanted)
    table.sort(heard)
    assert.are.same(wanted, heard)
    if #self:names() < 5 then self:register("o" .. rng:int(9)) end
    helper.check(world)
  end
  world:close()
end

describe("rounds of observers", function()
  it("are what compares each entity before and after (C87)", function()
    for seed = 1, runs do run(seed) end
  end)

  it("call those that are on and have not been called, also as they come and go", function()
    for seed = 1, runs do check_rounds(seed) end
  end)
end)
