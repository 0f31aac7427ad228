-- Random programs whose callbacks and finalizers call the world back at any time: in the midst of
-- loops, of declarations, of a save, of their own errors. Whatever they do is an error or is
-- done; the world stays whole (`world:check`).

local ecs = require "ecs"
local deeds = require "spec.support.reentry_deeds"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

-- Calls within calls, and how many deeds one step may lead to.
local DEEPEST, MOST_DEEDS = 4, 60
local KEPT = 12

local Program = {}
Program.__index = Program

function Program:int(n) return self.random:int(n) end
function Program:chance(percent) return self.random:chance(percent) end
function Program:pick(list) return list[self.random:int(#list)] end

-- One of the ids that were ever born; null at first.
function Program:id()
  return self.ids[self:int(math.max(1, #self.ids))] or 0
end

function Program:born(id)
  self.ids[#self.ids + 1] = id
end

-- Holds something for later, in the place of something else.
function Program:keep(value)
  self.kept[self:int(KEPT)] = value
end

-- An error of the runtime's own Lua code is no answer to anything, nor is the name of a type for
-- what a callback raised.
local function note(self, ok, problem)
  local text = not ok and type(problem) == "string" and problem or ""
  if text:find "ecs/[%w_/]+%.lua:%d+: attempt to " or text:find "error object is a table" then
    self.failure = self.failure or text
  end
  return ok
end

-- Does some deeds, as long as there are any left.
function Program:act()
  if self.depth >= DEEPEST or self.over then
    return
  end
  self.depth = self.depth + 1
  for _ = 1, self:int(3) do
    self.left = self.left - 1
    if self.left >= 0 then
      note(self, pcall(self:pick(deeds), self))
    end
  end
  self.depth = self.depth - 1
end

-- What a callback does: it may keep what it is given, act, fail in several ways, or yield.
local function called(self, ...)
  local given = table.pack(...)
  for i = 1, given.n do
    if self:chance(30) then self:keep(given[i]) end
  end
  if self:chance(30) then self:act() end
  local way = self:int(30)
  if way == 1 then error "called" end
  if way == 2 then error {} end
  if way == 3 then error(nil) end
  if way == 4 and coroutine.isyieldable() then coroutine.yield(1) end
  return self:chance(50)
end

local function declare(world, any)
  world:component("P", { "x: f64", "y: f64" })
  world:component("A", { "v: " .. any, "s: string", "e: entity", "m: f64[3]" })
  world:component("S", { "n: i32", storage = "sparse", toggle = true })
  world:component("T", { toggle = true })
  world:tag "U"
  world:relation "Likes"
  world:relation("Dock", { "t: f64", exclusive = true, on_target_despawn = "despawn" })
  world:event("Ev", { "who: entity", "s: string", "v: " .. any })
  world:resource("G", { "n: i64", "s: string", "a: " .. any })
  world:prefab("Pf", { P = true }, { children = { { "k", { S = true } } } })
end

local function new(seed)
  local self = setmetatable({ random = random.new(seed), kept = {}, ids = {}, depth = 0,
    left = MOST_DEEDS }, Program)
  self.world = ecs.world { tag = 1, threads = self:int(3) }
  self.other = ecs.world { tag = 2 }
  self.plain = self:chance(30)     -- has no values that snapshots refuse
  declare(self.world, self.plain and "i64" or "any")
  self.resource, self.array = self.world:res "G", self.world:array("arr", "f64", 10)
  self.call = function(...) return called(self, ...) end
  for _ = 1, 8 do
    deeds[1](self)
  end
  return self
end

-- A finalizer that acts now and then, and makes the next one.
local function churn(self)
  setmetatable({}, { __gc = function()
    if not self.over then
      if self:chance(16) then self:act() end
      churn(self)
    end
  end })
end

local function step(self)
  self.left = MOST_DEEDS
  local deed = self:pick(deeds)
  local function try() note(self, pcall(deed, self)) end
  if self:chance(12) then
    coroutine.wrap(try)()
  else
    try()
  end
  if self:chance(30) then pcall(self.world.commit, self.world) end
  local ok, whole, problem = pcall(self.world.check, self.world)
  self.failure = self.failure or ok and not whole and problem or nil
end

local function finish(self)
  self.over = true
  local ok, whole, problem = pcall(self.world.check, self.world)
  pcall(self.world.close, self.world)
  pcall(self.other.close, self.other)
  self.kept = {}
  collectgarbage()
  return self.failure or ok and not whole and problem or nil
end

local reentry = {}

-- Runs the program of a seed; returns what is wrong, or nil. Of three seeds one has finalizers
-- only of what it drops itself, one has more of them, and one a collector in a hurry, too.
function reentry.run(seed, steps)
  local self = new(seed)
  if seed % 3 > 0 then
    churn(self)
    churn(self)
  end
  local mode = collectgarbage "incremental"
  if seed % 3 == 1 then
    helper.collect_always(true)
  end
  for _ = 1, steps do
    step(self)
    if self.failure then break end
  end
  helper.collect_always(false)
  collectgarbage(mode)
  return finish(self)
end

return reentry
