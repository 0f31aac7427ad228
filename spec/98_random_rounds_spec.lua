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

describe("rounds of observers", function()
  it("are what compares each entity before and after (C87)", function()
    for seed = 1, runs do run(seed) end
  end)
end)
