-- Files of a live session while they are being saved: nothing that entities have is lost by what
-- stands in a file for a moment.

local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local native = require "ecs.native"
local random = require "spec.support.rng"
local scratch = require "spec.support.scratch"
local watch = require "ecs.live.watch"

-- Where the time of a file may be known a moment late.
local WINDOWS = package.config:sub(1, 1) == "\\"

describe("files of live scripts that are being saved", function()
  local world, files, session, errors, now, real_now

  -- Time stands still, unless it is passed.
  before_each(function()
    world, files, errors = helper.new_world(), scratch.new(), {}
    real_now = native.now
    now = real_now() + 1000 * 1000 * 1000
    native.now = function() return now end
  end)

  after_each(function()
    native.now = real_now
    files:close()
  end)

  local function open()
    session = live.open(world, { files.path }, { on_error = function(message)
      errors[#errors + 1] = message
    end })
  end

  local function poll_after(milliseconds)
    now = now + milliseconds * 1000 * 1000
    return (session:poll())
  end

  local function system(name)
    return ("local w = ... w:system(%q, { run = function() end })"):format(name)
  end

  it("are read when two looks, 20 ms apart, have found them the same", function()
    files:write("a.lua", system "first")
    open()
    files:write("a.lua", system "second")
    assert.is_nil(poll_after(1000))
    assert.is_nil(poll_after(19))
    assert.is_true(poll_after(1))
    files:write("a.lua", system "third")
    assert.is_nil(poll_after(0))
    files:write("a.lua", system "fourth")
    assert.is_nil(poll_after(30))
    assert.is_nil(poll_after(15))
    assert.is_true(poll_after(15))
    assert.are.equal("fourth", helper.order(world))
    assert.are.equal(3, session:status().versions[files.path .. "/a.lua"])
  end)

  it("may be gone or empty for a moment", function()
    files:write("a.lua", system "kept")
    open()
    assert(os.rename(files.path .. "/a.lua", files.path .. "/b"))
    assert.is_nil(poll_after(1000))
    assert.is_nil(poll_after(10))
    assert(os.rename(files.path .. "/b", files.path .. "/a.lua"))
    assert.is_nil(poll_after(10))
    assert.is_nil(poll_after(1000))
    files:write("a.lua", "")
    assert.is_nil(poll_after(10))
    files:write("a.lua", system "kept")
    assert.is_nil(poll_after(10))
    assert.is_true(poll_after(20))
    assert.are.equal("kept", helper.order(world))
    files:remove "a.lua"
    assert.is_nil(poll_after(10))
    assert.are.equal("kept", helper.order(world))
    assert.is_true(poll_after(20))
    assert.are.equal("", helper.order(world))
  end)

  it("are read together, but do not wait for one that never rests", function()
    files:write("a.lua", system "a1")
    files:write("b.lua", system "b1")
    open()
    files:write("a.lua", system "a2")
    assert.is_nil(poll_after(0))
    files:write("b.lua", system "b2")
    files:write("c.lua", system "c2")
    assert.is_nil(poll_after(20))
    assert.is_true(poll_after(20))
    assert.are.equal(3, #session:status().last_report.files)
    files:write("a.lua", system "a3")
    for i = 1, 100 do
      files:write("b.lua", ("-- %d\n"):format(i))
      assert.is_nil(poll_after(10))
    end
    files:write("b.lua", "local w =")
    files:write("c.lua", "local w =")
    files:remove "c.lua"
    assert.is_true(poll_after(21))
    assert.are.equal("a3 b2 c2", helper.order(world))
    assert.is_false(poll_after(20))
    assert.is_truthy(errors[1]:find("b.lua:1:", 1, true))
  end)

  it("are read at once by force, and when a host says that they have changed", function()
    files:write("a.lua", system "a1")
    files:write("b.lua", system "b1")
    open()
    files:write("a.lua", system "a2")
    files:write("b.lua", system "b2")
    session:changed(files.path .. "/b.lua")
    assert.is_true(poll_after(0))
    assert.are.equal("a1 b2", helper.order(world))
    assert.is_true(session:poll(true))
    assert.are.equal("a2 b2", helper.order(world))
    assert.is_nil(poll_after(1000))
  end)

  -- From here on files show by their texts and names alone that they change, as when all happens
  -- within one step of the file system's clock. What writes one then.
  local function stop_clock()
    local real, seen = { stat = native.stat, changes = native.changes }, {}
    function native.changes() end
    function native.stat(path)
      local state = table.pack(real.stat(path))
      seen[path] = seen[path] or state
      state[1], state[3], state[6] = seen[path][1], seen[path][3], seen[path][6]
      return table.unpack(state, 1, state.n)
    end
    finally(function() native.stat, native.changes = real.stat, real.changes end)
    return function(name, text)
      local file <close> = assert(io.open(files.path .. "/" .. name, "wb"))
      file:write(text)
    end
  end

  it("are read once more when they may have changed within a step of the clock", function()
    files:write("a.lua", system "a1")
    local write = stop_clock()
    for i, passed in ipairs { 0, 99, 100 } do
      now = (native.stat(files.path .. "/a.lua")) + 99 * 1000 * 1000
      if i == 1 then open() else assert.is_true(session:poll(true)) end
      write("a.lua", system("b" .. i))
      assert.is_nil(poll_after(passed))
      assert.is_true(poll_after(20))
      assert.are.equal("b" .. i, helper.order(world))
    end
  end)

  it("are read once more for longer where the clock counts seconds", function()
    files:write("a.lua", system "a1")
    local second = 1000 * 1000 * 1000
    local write = stop_clock()
    local stopped = native.stat
    function native.stat(path)
      local state = table.pack(stopped(path))
      state[6] = state[6] and state[6] // second * second
      return table.unpack(state, 1, state.n)
    end
    now = select(6, native.stat(files.path .. "/a.lua")) + 1999 * 1000 * 1000
    open()
    write("a.lua", system "a2")
    assert.is_nil(poll_after(0))
    assert.is_true(poll_after(20))
    assert.are.equal("a2", helper.order(world))
  end)

  it("are read when they are as long as before and were given the time that they had", function()
    helper.needs_processes(pending)
    files:write("a.lua", system "a1")
    files:write("lib/m.lua", "return 1")
    files:write("b.lua", system "b1" .. " FROM = require 'lib.m'")
    now = (native.stat(files.path .. "/b.lua")) + 60 * 1000 * 1000 * 1000
    open()
    files:rewrite("a.lua", system "a2")
    files:rewrite("lib/m.lua", "return 2")
    assert.is_nil(poll_after(0))
    assert.is_nil(poll_after(19))
    assert.is_true(poll_after(1))
    assert.are.equal("a2 b1", helper.order(world))
    assert.are.equal(2, _G.FROM)
    files:unseen("", function() files:write("c.lua", system "c1") end)
    assert.is_nil(poll_after(0))
    assert.is_true(poll_after(20))
    assert.are.equal("a2 b1 c1", helper.order(world))
    package.loaded["lib.m"], _G.FROM = nil, nil
  end)

  it("are not run again for other rights or links, though they are looked into", function()
    helper.needs_processes(pending)
    files:write("a.lua", system "a1")
    now = (native.stat(files.path .. "/a.lua"))
    open()
    local path = files.path .. "/a.lua"
    for _, command in ipairs { "chmod 600 %s", "ln %s %s.link", "touch -d @1000000000 %s" } do
      assert(os.execute((command:gsub("%%s", path))))
      assert.is_nil(poll_after(30))
      assert.are.equal(command:find "touch" and true or nil, poll_after(30))
    end
  end)

  it("are not read again once the clock has gone on", function()
    local reads, read = 0, watch.read
    finally(function() watch.read = read end)
    files:write("a.lua", system "a1")
    now = (native.stat(files.path .. "/a.lua"))
    if now % (1000 * 1000 * 1000) == 0 then return pending "files have whole seconds here" end
    open()
    watch.read = function(path)
      reads = reads + 1
      return read(path)
    end
    for _, case in ipairs { { 99, 1 }, { 1, 2 }, { 0, 2 }, { 1000, 2 } } do
      assert.is_nil(poll_after(case[1]))
      assert.are.equal(case[2], reads)
    end
  end)

  it("are not read again and again after they were given other rights", function()
    helper.needs_processes(pending)
    local reads, read = 0, watch.read
    finally(function() watch.read = read end)
    files:write("a.lua", system "a1")
    files:write("b.lua", system "b1")
    now = (native.stat(files.path .. "/a.lua"))
    open()
    assert.is_nil(poll_after(5000))
    assert(os.execute("chmod 600 " .. files.path .. "/a.lua"))
    assert.is_nil(poll_after(5000))
    assert.is_nil(poll_after(5000))
    watch.read = function(path)
      reads = reads + 1
      return read(path)
    end
    assert.is_nil(poll_after(5000))
    assert.are.equal(0, reads)
  end)

  it("are found in a directory that may have changed within a step of the clock", function()
    files:write("a.lua", system "a1")
    now = (native.stat(files.path)) + 99 * 1000 * 1000
    local write = stop_clock()
    open()
    write("b.lua", system "b1")
    assert.is_nil(poll_after(1))
    assert.is_true(poll_after(20))
    assert.are.equal("a1 b1", helper.order(world))
  end)

  it("are read when they rest, whatever has been read meanwhile", function()
    files:write("a.lua", system "a1")
    open()
    files:write("d.lua", system "d1")
    assert.is_nil(poll_after(1000))
    for _, case in ipairs { { "local w =", false }, { system "a2", true } } do
      files:write("a.lua", case[1])
      files:write("d.lua", system "d2")
      now = now + 200 * 1000 * 1000
      session:changed(files.path .. "/a.lua")
      assert.are.equal(case[2], poll_after(0))
    end
    assert.are.equal("a2", helper.order(world))
    assert.is_nil(poll_after(10))
    assert.is_true(poll_after(20))
    assert.are.equal("a2 d2", helper.order(world))
  end)

  it("are tried again when what they lacked has come to rest", function()
    files:write("a.lua", system "a1")
    open()
    files:write("a.lua", "local w = ... w:component('P', { 'at: Late' }) " .. system "a2")
    files:write("b.lua", "local w = ... w:component('Late', { 'x: f32' })")
    session:changed(files.path .. "/a.lua")
    assert.is_false(poll_after(0))
    assert.is_true(poll_after(1000))
    assert.are.equal("a2", helper.order(world))
  end)

  it("are read later when a module that they begin to require is being written", function()
    files:write("a.lua", system "a1")
    files:write("gone.lua", "local _, s = ... s:on_unload(function() LEFT = (LEFT or 0) + 1 end)")
    open()
    files:write("a.lua", "require 'lib.half' " .. system "a2")
    files:remove "gone.lua"
    assert.is_nil(poll_after(0))
    now = real_now()
    files:write("lib/half.lua", "oops(")
    assert.is_nil(poll_after(10))
    files:write("lib/half.lua", "return 1")
    assert.is_nil(poll_after(15))
    assert.is_nil(_G.LEFT)
    assert.is_true(poll_after(20) or WINDOWS and poll_after(20))
    assert.are.same({}, errors)
    assert.are.equal("a2", helper.order(world))
    assert.are.equal(1, _G.LEFT)
    package.loaded["lib.half"], _G.LEFT = nil, nil
  end)

  it("lose no value while another process saves them", function()
    helper.needs_processes(pending)
    native.now = real_now
    local text = "local w = ... w:component('P', { 'x: f64' }) "
    files:write("a.lua", text .. system "s0")
    open()
    local e = world:spawn { P = { x = 3 } }
    for i = 1, 5 do
      files:write("next", text .. system("s" .. i))
      os.execute(("cd %s && { cp next a.lua; sleep 0.005; : > a.lua; cat next > a.lua; "
        .. "touch s%d; } &"):format(files.path, i))
      local last = real_now() + 10 * 1000 * 1000 * 1000
      repeat
        session:poll()
        assert.are.equal(3.0, (world:get(e, "P")))
      until native.stat(files.path .. "/s" .. i) and helper.order(world) == "s" .. i
        or real_now() > last
      assert.are.equal("s" .. i, helper.order(world))
    end
  end)
end)

-- ---- cut, emptied, replaced, removed, put back -------------------------------------------------

local NAMES = { "a.lua", "b.lua", "c.lua" }

local Saving = {}
Saving.__index = Saving

-- A session over three files, each with a component and a system that is named by its version,
-- and what the rule of two looks says that has been read.
local function new_saving(seed)
  local self = setmetatable({
    rng = random.new(seed), world = helper.new_world(), directory = scratch.new(), files = {},
    version = 0, accepted = {}, pending = {}, now = native.now() + 1000 * 1000 * 1000,
  }, Saving)
  self.real_now = native.now
  native.now = function() return self.now end
  for _, name in ipairs(NAMES) do
    self:save(name, self:text(name))
  end
  self.session = live.open(self.world, self.directory.path, { on_error = function() end })
  for _, name in ipairs(NAMES) do
    local file = self.files[name]
    file.read, self.accepted[name] = file.state, file.text
  end
  self:populate()
  return self
end

function Saving:close()
  native.now = self.real_now
  self.directory:close()
end

function Saving:text(name)
  self.version = self.version + 1
  local id = name:sub(1, 1):upper()
  return ([[
local world = ...
world:component("%s", { "x: f64", "s: string" })
world:resource("%sR", { "n: i64 = %d" })
world:system("%s%d", { query = "%s", each = function(v) v.x = v.x end })
]]):format(id, id, self.version, id, self.version, id)
end

function Saving:populate()
  self.ids = {}
  for i = 1, 20 do
    self.ids[i] = self.world:spawn {
      A = { x = i, s = "a" .. i }, B = i % 2 == 0 and { x = -i } or nil,
      C = i % 3 == 0 and {} or nil,
    }
  end
  self.image = self.world:digest()
end

-- What a text registers: { component = true } and its system; nil when it is no script.
local function meaning(text)
  local chunk = load(text)
  local result = { components = {} }
  local world = {}
  function world.component(_, name) result.components[name] = true end
  function world.resource(_, name) result.components[name] = true end
  function world.system(_, name) result.system = name end
  return chunk and pcall(chunk, world) and result or nil
end

-- ---- what happens to files: each state of one has a number of its own --------------------------

function Saving:save(name, text, put)
  put = put or self.directory.write
  put(self.directory, name, text)
  self.states = (self.states or 0) + 1
  local file = self.files[name] or {}
  file.state, file.text = self.states, text
  self.files[name] = file
end

local function change_of(self, name)
  return (select(6, native.stat(self.directory.path .. "/" .. name)))
end

function Saving:take_away(name)
  local file = self.files[name]
  file.change = change_of(self, name)
  assert(os.rename(self.directory.path .. "/" .. name, self.directory.path .. "/." .. name))
  file.away = file.state
  file.state = nil
end

function Saving:put_back(name)
  local file = self.files[name]
  assert(os.rename(self.directory.path .. "/." .. name, self.directory.path .. "/" .. name))
  file.state, file.away = file.away, nil
  if change_of(self, name) ~= file.change then
    file.moves = (file.moves or 0) + 1
  end
end

local happenings = {
  function(self, name)     -- cut
    local text = self:text(name)
    self:save(name, text:sub(1, self.rng:range(0, #text)))
  end,
  function(self, name) self:save(name, "") end,
  function(self, name) self:save(name, self:text(name)) end,
  function(self, name) self:save(name, self:text(name), self.directory.replace) end,
  function(self, name) self:take_away(name) end,
  function(self, name)     -- as long, and with the time that it had
    local text = self:text(name)
    local file = self.files[name]
    if file.state and #text <= #file.text then
      self:save(name, text .. (" "):rep(#file.text - #text), self.directory.rewrite)
    end
  end,
}

function Saving:happen()
  local name = self.rng:pick(NAMES)
  if self.files[name].away then
    return self:put_back(name)
  end
  self.rng:pick(happenings)(self, name)
end

-- ---- what is to be read ------------------------------------------------------------------------

-- The files that a poll has to read now, or nil: those that have settled, when all have, or when
-- one has waited for a second.
function Saving:due()
  local due, all, longest = {}, true, 0
  for name, file in pairs(self.files) do
    if file.state ~= file.read then
      local shown = file.state and file.state .. " " .. (file.moves or 0)
      if not file.look or file.look.shown ~= shown then
        file.look = { shown = shown, since = self.now }
      end
      local age = (self.now - file.look.since) // (1000 * 1000)
      due[name] = age >= 20 or nil
      all, longest = all and age >= 20, math.max(longest, age)
    else
      file.look = nil
    end
  end
  return (all or longest > 1000) and next(due) and due or nil
end

-- What the poll must give: true when all can be read, else false.
function Saving:read(due)
  local sound = true
  for name in pairs(due) do
    self.files[name].read, self.files[name].look = self.files[name].state, nil
    self.pending[name] = true
  end
  for name in pairs(self.pending) do
    local file = self.files[name]
    sound = sound and (not file.state or meaning(file.text) ~= nil)
  end
  for name in pairs(sound and self.pending or {}) do
    self.accepted[name] = self.files[name].state and self.files[name].text or nil
  end
  self.pending = sound and {} or self.pending
  return sound
end

function Saving:check()
  local systems, declared = {}, {}
  for _, name in ipairs(NAMES) do
    local script = self.accepted[name] and meaning(self.accepted[name])
    systems[#systems + 1] = script and script.system
    for component in pairs(script and script.components or {}) do
      declared[component] = true
    end
  end
  assert.are.equal(table.concat(systems, " "), helper.order(self.world))
  for _, name in ipairs(self.world:describe().components) do
    assert.are.equal(not declared[name], self.world:describe(name).orphan == true)
  end
  assert.are.equal(self.image, self.world:digest())
end

function Saving:poll(milliseconds)
  self.now = self.now + milliseconds * 1000 * 1000
  local due = self:due()
  local expected
  if due then
    expected = self:read(due)
  end
  assert.are.equal(expected, (self.session:poll()))
  self:check()
end

describe("files that are cut, emptied, replaced, removed and put back between polls", function()
  it("lose no value of a component, at every byte, and no version is skipped", function()
    local saving = new_saving(1)
    for cut = 0, #saving:text "b.lua" do
      local text = saving:text "b.lua"
      saving:save("b.lua", text:sub(1, cut))
      saving:poll(0)
      saving:poll(20)
      saving:save("b.lua", text, cut % 2 == 0 and saving.directory.replace or nil)
      saving:poll(0)
      saving:poll(20)
      assert.are.equal(text, saving.accepted["b.lua"])
    end
    assert.are.same({}, saving.session:status().orphans)
    saving:close()
  end)

  local seeds = helper.by_scale { small = 5, normal = 20, deep = 300 }
  it(("lose none in any order, on %d seeds"):format(seeds), function()
    helper.needs_processes(pending)
    for seed = 1, seeds do
      local saving = new_saving(seed)
      for step = 1, 80 do
        local ok, message = pcall(function()
          for _ = 1, saving.rng:pick { 0, 0, 1, 1, 2, 3 } do
            saving:happen()
          end
          saving:poll(saving.rng:pick { 0, 5, 10, 19, 20, 30 })
        end)
        assert(ok, ("seed %d, step %d: %s"):format(seed, step,
          tostring(type(message) == "table" and message.message or message)))
      end
      saving:close()
    end
  end)
end)
