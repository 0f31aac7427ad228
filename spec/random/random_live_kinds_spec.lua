-- Random scripts that register everything there is, edited, broken, cut, renamed and removed while
-- their world lives. Three worlds go through the same edits: one without kernels, one with, and
-- one that is saved and loaded after each. They say and become the same; what is refused changes
-- nothing; and what is registered is what a first start of the files registers.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local scratch = require "spec.support.scratch"
local script_gen = require "spec.support.script_gen"

local STEPS = 25
local NAMES = { "a.lua", "b.lua", "c.lua", "z.lua" }
local BASE = [[local world, script = ...
world:component('A', { 'x: f64', 'y: f64' })
script:on_load(function() for i = 1, 5 do world:spawn { A = { i, -i } } end end)]]

local Run = {}
Run.__index = Run

-- A message without what another run says otherwise: paths, traces, and the row that was at work.
local function plain(self, message)
  return (tostring(message):gsub("\nstack.*", ""):gsub(self.files.path, "scripts", nil)
    :gsub("entity [%dv@]+: ", ""))
end

function Run:say(...)
  self.log[#self.log + 1] = table.concat({ ... }, " ")
end

function Run:open(world)
  return pcall(live.open, world, self.files.path, { on_error = function(message)
    self:say("error", plain(self, message))
  end })
end

-- A hook of a kind that a script of one reading is about to give, which notes that it is called.
function Run:hook(script, kind, fn)
  local hooks = self.hooks[script] or { load = {}, reload = {}, unload = {} }
  self.hooks[script] = hooks
  local hook = { called = 0 }
  table.insert(hooks[kind], hook)
  return function(...)
    hook.called = hook.called + 1
    return fn(...)
  end
end

-- Of the hooks of a kind all were called, once, or none.
function Run:check_hooks()
  for _, kinds in pairs(self.hooks) do
    for kind, hooks in pairs(kinds) do
      for _, hook in ipairs(hooks) do
        assert(hook.called <= 1 and hook.called == hooks[1].called, "on_" .. kind)
      end
    end
  end
end

local function new_run(seed, way)
  local self = setmetatable({ files = scratch.new(), gen = script_gen.new(seed), log = {},
    way = way, present = {}, hooks = {} }, Run)
  rawset(_G, "HOOK", function(...) return self:hook(...) end)
  self.world = ecs.world { tag = 1, seed = 4, kernels = way ~= "lua" }
  self.files:write("lib/m.lua", self.gen:module())
  self.files:write("m2.lua", "return 7")
  self.files:write("base.lua", BASE)
  rawset(_G, "POLL", function()
    local session = self.session
    self:say("within", plain(self, select(2, pcall(function() return session:poll(true) end))))
  end)
  local ok, session = self:open(self.world)
  assert(ok, session)
  self.session = session
  return self
end

function Run:write(name, text)
  self.files:write(name, text)
  self.present[name] = text
end

function Run:remove(name)
  if self.present[name] then
    self.files:remove(name)
    self.present[name] = nil
  end
end

local edits = {}

function edits.script(self)
  local name = self.gen:pick(NAMES)
  self:write(name, self.gen:script(name:sub(1, 1)))
end

function edits.removal(self)
  self:remove(self.gen:pick(NAMES))
end

function edits.module(self)
  self.files:write("lib/m.lua", self.gen:module())
end

function edits.cut(self)
  local text, name = self.present[self.gen:pick(NAMES)], self.gen:pick(NAMES)
  if text then
    self:write(name, text:sub(1, self.gen:int(#text + 1)))
  end
end

function edits.renaming(self)
  local from, to = self.gen:pick(NAMES), self.gen:pick(NAMES)
  local text = self.present[from]
  if text and from ~= to then
    self:remove(from)
    self:write(to, text)
  end
end

function edits.odd(self)
  self:write(self.gen:pick(NAMES), self.gen:pick { "", "\27Lua", "return",
    "#!shebang\nlocal w = ...", "\239\187\191local w = ..." })
end

-- A loop that nobody ends.
function edits.loop(self)
  pcall(coroutine.wrap(function()
    for _ in self.world:query("A"):each() do coroutine.yield() end
  end))
end

function edits.forgetting(self)
  self:say("forget", tostring(pcall(self.session.forget, self.session)))
end

local EDITS = { "script", "script", "script", "script", "script", "removal", "module", "cut",
  "renaming", "odd", "loop", "forgetting" }

-- Takes away the file that a message names; all of them when it names none.
function Run:mend(message)
  local name = tostring(message):match "scripts/(%w+%.lua)"
  if name and self.present[name] then
    self:remove(name)
    return
  end
  for _, each in ipairs(NAMES) do
    self:remove(each)
  end
  edits.module(self)
end

-- What is registered, as sorted lines, but for components that no file declares.
local function registered(world)
  local described, lines = world:describe(), {}
  local orphans = { ChildOf = true, IsA = true, New = true }
  local function add(...) lines[#lines + 1] = table.concat({ ... }, " ") end
  for _, name in ipairs(described.orphans) do orphans[name] = true end
  for _, system in ipairs(described.systems) do add("system", system.name, system.phase) end
  for _, observer in ipairs(described.observers) do add("observer", observer.name) end
  for _, index in ipairs(described.indexes) do add("index", index.name, index.query) end
  for _, phase in ipairs(described.phases) do add("phase", phase.name, tostring(phase.fixed)) end
  for _, name in ipairs(described.components) do
    local component = world:describe(name)
    local fields = { "component", name, tostring(component.storage), tostring(component.toggle) }
    for _, field in ipairs(component.fields) do
      local default = type(field.default) ~= "table" and field.default   -- tables are not the same
      fields[#fields + 1] = ("%s:%s=%s"):format(field.name, field.type, tostring(default))
    end
    if not orphans[name] then add(table.unpack(fields)) end
  end
  return helper.sorted(lines)
end

-- A world that scripts change by themselves has more than what they register.
function Run:check_fresh()
  for _, text in pairs(self.present) do
    if text:find "undeclare" or text:find "on_reload" or text:find "remove_system" then
      return
    end
  end
  local world, session, log = ecs.world { tag = 2 }, self.session, self.log
  self.session, self.log = nil, {}
  local ok = self:open(world)
  local told = #self.log
  self.session, self.log = session, log
  if ok and told == 0 then
    assert.are.same(registered(world), registered(self.world))
    assert.are.equal(helper.order(world), helper.order(self.world))
  end
  world:close()
end

function Run:step()
  edits[self.gen:pick(EDITS)](self)
  local digest, before = self.world:digest(), registered(self.world)
  local ok, swapped, message = pcall(self.session.poll, self.session, true)
  self:say("poll", tostring(ok), tostring(swapped), plain(self, message))
  if ok and swapped == false then
    assert.are.equal(digest, self.world:digest(), message)
    assert.are.same(before, registered(self.world), message)
    if self.gen.rng:chance(75) then self:mend(plain(self, message)) end
  elseif ok and swapped and not message and self.way == "kernels" then
    self:check_fresh()
  end
  self:check_hooks()
  local updated, problem = pcall(self.world.update, self.world, 0.05)
  if not updated then self:say("update", plain(self, problem)) end
  if self.way == "saved" then self.world:load(self.world:save()) end
  assert(self.world:check())
  self:say("digest", self.world:digest())
end

local function run(seed, way)
  local self = new_run(seed, way)
  for _ = 1, STEPS do
    self:step()
  end
  self.world:close()
  self.files:close()
  rawset(_G, "POLL", nil)
  rawset(_G, "HOOK", nil)
  package.loaded["lib.m"], package.loaded.m2 = nil, nil
  return self.log
end

describe("random scripts of all kinds", function()
  local count = helper.by_scale { small = 8, normal = 20, deep = 450 }
  local group = count // 4
  for first = 1, count, group do
    local last = first + group - 1
    it(("are swapped or refused as a whole, however they are run: %d to %d"):format(first, last),
      function()
        for seed = first, last do
          local expected = run(seed, "lua")
          assert.are.same(expected, run(seed, "kernels"), "seed " .. seed)
          assert.are.same(expected, run(seed, "saved"), "seed " .. seed)
        end
      end)
  end
end)
