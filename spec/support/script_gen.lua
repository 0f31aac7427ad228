-- Random scripts that register everything there is: components and relations, prefabs and
-- indexes, systems and observers, hooks; some that cannot be, some that fail. For
-- random_live_kinds_spec.lua. Nothing is kept of what they say.

local random = require "spec.support.rng"

local script_gen = {}

local Gen = {}
Gen.__index = Gen

function script_gen.new(seed)
  return setmetatable({ rng = random.new(seed) }, Gen)
end

local TYPES = { "f64", "f64", "f64", "f64", "f32", "i32", "u8", "i64", "bool", "string", "entity",
  "enum(a, b, c)", "f64[2]" }
local OPTIONS = { "storage = 'sparse'", "toggle = true", "track = true", "was = { y = 'x' }",
  "was = 'B'", "requires = { 'C' }" }

function Gen:int(n) return self.rng:int(n) end
function Gen:pick(list) return self.rng:pick(list) end

-- The fields of a component, and now and then an option.
function Gen:fields()
  local list, seen = {}, {}
  for _ = 1, self:int(4) - 1 do
    local name = self:pick { "x", "y", "z", "n", "e" }
    if not seen[name] then
      seen[name] = true
      list[#list + 1] = ("'%s: %s'"):format(name, self:pick(TYPES))
    end
  end
  list[#list + 1] = self.rng:chance(16) and self:pick(OPTIONS) or nil
  return table.concat(list, ", ")
end

-- Statements with %s for what is picked from the lists behind them, in order.
local TEMPLATES = {
  { "world:component('C', { 'x: f64', 'y: f64' })" },
  { "world:component('B', { 'k: i32', 'at: A' })" },
  { "world:tag '%s'", { "T", "U", "D" } },
  { "world:relation('Likes'%s)", { "", ", { 'w: f64' }", ", { exclusive = true }" } },
  { "world:event('Ev', { %s })", { "'who: entity'", "'who: entity', 'n: f64'", "'n: i32'" } },
  { "world:array('arr', '%s', %s)", { "f64", "i32", "u8" }, { "3", "17", "1" } },
  { "world:resource('Res', { %s })", { "'n: f64 = 3'", "'n: i64', 'e: entity'", "" } },
  { "world:phase('ph', { %s })",
    { "fixed = 0.05", "after = 'update'", "before = 'pre_update', fixed = 0.1" } },
  { "world:system('%s', { %squery = '%s', each = function(a, dt, e) a.x = a.x + %s end })",
    { "s1", "s2", "s3" }, { "", "", "phase = 'ph', ", "every = 0.1, ", "after = 's1', " },
    { "A", "A, !T", "A, with U", "C", "A, (Likes, *)", "A:changed" }, { "1", "2.5", "dt" } },
  { "world:system('%s', { query = 'Ev', each = function(ev) end })", { "ev1", "s2" } },
  { "world:system('r', { run = function(w, dt) %s end })",
    { "w:spawn { A = {} }", "w:emit 'Ev'", "error 'r fails'", "w:query('A'):count()", "POLL()",
      "w:component('New', { 'x: f64' })", "w:despawn(w:query('A'):first() or 0)" } },
  { "world:observer('ob', { on = '%s', query = '%s', each = function(...) %s end })",
    { "add", "enter", "exit", "set", "despawn" }, { "A", "T", "A, B", "C" },
    { "", "error 'ob fails'", "world:spawn { T = true }" } },
  { "world:index('ix', { query = 'A:in', %s })",
    { "grid = 'A', cell = 2", "hash = 'x'", "ordered = 'x'", "hash = 'q'" } },
  { "world:prefab('Pf', { A = %s }, { %s })", { "true", "{ x = 3 }", "{ 1, 2 }", "{ z = 1 }" },
    { "", "shared = { C = true }", "children = { { 'k', { A = true } } }" } },
  { "script:on_load(HOOK(script, 'load', function() %s end))",
    { "world:spawn { A = {} }", "for i = 1, 3 do world:spawn { A = { x = i } } end",
      "error 'hook'", "world:instantiate 'Pf'", "POLL()", "world:update(0.1)",
      "world:emit 'Ev'" } },
  { "script:on_reload(HOOK(script, 'reload', function() %s end))",
    { "script.state.n = (script.state.n or 0) + 1", "error 'reload hook'", "world:spawn { A = {} }",
      "world:undeclare 'T'", "coroutine.yield()", "world:component('A', { 'x: f64' })" } },
  { "script:on_unload(HOOK(script, 'unload', function() %s end))",
    { "", "error 'unload hook'", "world:spawn {}", "world:undeclare 'C'" } },
}

-- What no script may do, and what only looks so.
local ODD = {
  "local m = require 'lib.m' world:system('m', { query = 'A', each = m.f })", "require 'm2'",
  "syntax error here", "error 'script fails'", "world:spawn {}", "world:update(1)",
  "coroutine.yield(1)", "world:despawn(1)", "POLL()", "world:remove_system 's1'",
  "world:switch('s1', false)", "return 5", "goto x", "world:set(1, 'A', 2)",
  "local q = world:query 'A' script:on_reload(function() q:count() end)",
  "for _ in pairs(_G) do end", "setmetatable(_ENV, nil)",
  "world:system('w', { query = 'A', each = function(a) a.q = 1 end })",
  "world:system('w', { query = 'A:in', each = function(a) a.x = 1 end })",
}

function Gen:statement()
  if self.rng:chance(2) then
    return self:pick(ODD)
  elseif self.rng:chance(15) then
    return ("world:component('%s', { %s })"):format(self:pick { "B", "C", "D" }, self:fields())
  end
  local template, picked = self:pick(TEMPLATES), {}
  for i = 2, #template do
    picked[i - 1] = self:pick(template[i])
  end
  return template[1]:format(table.unpack(picked))
end

local OWN = {}
for name in ("B C D T U Pf Res arr Ev Likes s1 s2 s3 ev1 r ob ix ph m"):gmatch "%w+" do
  OWN[name] = true
end

-- A script. Most of its names are its own, by a letter behind them; the others are what scripts
-- quarrel about.
function Gen:script(letter)
  local lines = { "local world, script = ..." }
  for i = 1, self:int(6) do
    local own = self.rng:chance(90)
    lines[i + 1] = self:statement():gsub("(['(, ])(%a%w*)%f[', :)]", function(before, word)
      return own and OWN[word] and before .. word .. letter or nil
    end)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- A module whose function becomes a system of scripts that require it.
function Gen:module()
  return ("local n = %d return { f = function(a) a.%s = a.x + n end }"):format(self:int(9),
    self:pick { "x", "x", "y", "w" })
end

return script_gen
