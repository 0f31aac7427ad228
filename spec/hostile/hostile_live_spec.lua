-- Reliability line 6 for what is written in Lua (files and live scripts), and for what happens
-- while scripts are read: every method there, and swaps with hostile arguments.

local ecs = require "ecs"
local live = require "ecs.live"
local native = require "ecs.native"
local helper = require "spec.support.ecs_helper"
local hostile = require "spec.support.hostile"
local scratch = require "spec.support.scratch"

local has_error = helper.has_error

local function is_clean(message)
  return type(message) == "string" and #message > 0
    and not message:find("not enough memory", 1, true)
    and not message:find("stack overflow", 1, true)
    and not message:find("attempt to", 1, true)
end

local function check_world(world)
  if tostring(world):find "closed" then return end
  helper.check(world)
  local e = world:spawn { Position = { 3, 4 } }
  assert(world:get(e, "Position.y") == 4)
  world:update(0)
  helper.check(world)
  world:close()
end

-- Hostile values: all of them, or at a small scale every fifth, other ones each time.
local turn = 0
local function some_values()
  if helper.scale() ~= "small" then
    return hostile.values
  end
  local list = {}
  turn = turn + 1
  for i, entry in ipairs(hostile.values) do
    list[#list + 1] = (i + turn) % 5 == 0 and entry or nil
  end
  return list
end

local files

-- A path that is no more harmful than the text in it.
local function path_of(value)
  return type(value) == "string" and files.path .. "/" .. value or value
end

-- name -> { function, valid arguments..., accepted = what else may be valid }; made anew for
-- each call.
local calls = {
  ["ecs.save_file"] = function(scene)
    return ecs.save_file, scene.world, files.path .. "/saved", nil
  end,
  ["ecs.load_file"] = function(scene)
    ecs.save_file(scene.world, files.path .. "/saved")
    return ecs.load_file, scene.world, files.path .. "/saved", nil
  end,
  ["live.open"] = function(scene)
    return live.open, scene.world, { files.path }, { on_error = function() end }
  end,
  ["session.poll"] = function(scene)
    return live.open(scene.world, files.path).poll, live.open(scene.world, files.path), true
  end,
  ["session.changed"] = function(scene)
    local session = live.open(scene.world, files.path)
    return session.changed, session, "x"
  end,
  ["session.forget"] = function(scene)
    local session = live.open(scene.world, files.path)
    return session.forget, session
  end,
  ["session.status"] = function(scene)
    local session = live.open(scene.world, files.path)
    return session.status, session
  end,
}

for _, hook in ipairs { "on_load", "on_unload", "on_reload" } do
  calls["script." .. hook] = function(scene)
    files:write("a.lua", "local _, script = ... SCRIPT = script")
    live.open(scene.world, files.path)
    local script = _G.SCRIPT
    _G.SCRIPT = nil
    files:remove "a.lua"
    return script[hook], script, function() end
  end
end

-- What is exported, by the names above.
local function exported(scene)
  local names = {}
  local function add(prefix, object)
    for name, value in pairs(object) do
      names[prefix .. name] = type(value) == "function" or nil
    end
  end
  add("ecs.", { save_file = ecs.save_file, load_file = ecs.load_file })
  for name, value in pairs(ecs) do
    if value ~= native[name] then add("ecs.", { [name] = value }) end
  end
  add("live.", { open = live.open })
  add("session.", getmetatable(live.open(scene.world, files.path)).__index)
  files:write("a.lua", "local _, script = ... SCRIPT = script")
  live.open(scene.world, files.path)
  add("script.", getmetatable(_G.SCRIPT).__index)
  _G.SCRIPT = nil
  files:remove "a.lua"
  return names
end

describe("hostile arguments of files and live scripts", function()
  before_each(function() files = scratch.new() end)
  after_each(function() files:close() end)

  it("are known for every exported function", function()
    local scene = hostile.scene(ecs.world)
    local names = exported(scene)
    for name in pairs(names) do assert.is_not_nil(calls[name], name) end
    for name in pairs(calls) do assert.is_not_nil(names[name], name) end
  end)

  -- What errors call an argument by, beside its number.
  local called = {
    ["ecs.save_file"] = { "the world is closed", "scripts/", "world:save: unknown option" },
    ["ecs.load_file"] = { "the world is closed", "scripts/", "world:load: unknown option" },
    ["live.open"] = { "the world is closed", "no directory '", "option 'on_error'" },
  }

  local function names_argument(message, name, at)
    local kind, method = name:match "^(%w+)%.([%w_]+)$"
    local is_method = kind == "session" or kind == "script"
    if is_method and at == 1 then
      return message:find(("calling '%s' on a bad self"):format(method), 1, true)
    end
    local other = (called[name] or {})[at]
    return message:find(("#%d to '%s'"):format(is_method and at - 1 or at, method), 1, true)
      or other and message:find(other, 1, true)
  end

  for name, make in pairs(calls) do
    it("get a clean error that names the argument from " .. name, function()
      for _, entry in ipairs(hostile.values) do
        for at = 1, 3 do
          local scene = hostile.scene(ecs.world)
          local call = table.pack(make(scene))
          if at < call.n then
            call[at + 1] = name:find "file$" and path_of(entry[2](scene)) or entry[2](scene)
            local ok, message = pcall(call[1], table.unpack(call, 2, call.n))
            local named = ok or is_clean(message) and names_argument(message, name, at)
            assert(named, ("%s, argument %d = %s: %s"):format(name, at, entry[1],
              tostring(message)))
          end
          check_world(scene.world)
          check_world(scene.other)
        end
      end
    end)
  end
end)

-- ---- while scripts are read ------------------------------------------------------------------

local function nothing() end

describe("while scripts are read", function()
  it("every method with any argument leaves nothing behind", function()
    for kind, methods in pairs(hostile.calls) do
      for method, call in pairs(kind ~= "native" and methods or {}) do
        for _, entry in ipairs(method == "close" and {} or some_values()) do
          local scene = hostile.scene(ecs.world)
          local value, before = entry[2](scene), scene.world:digest()
          pcall(native.stage, scene.world, nothing, function()
            hostile.with_self(scene, kind, function(self)
              local arguments = {}
              for i = 1, #call do arguments[i] = call[i].make(scene) end
              pcall(self[method], self, table.unpack(arguments, 1, #call))
              arguments[1] = value
              pcall(self[method], self, table.unpack(arguments, 1, #call))
            end, call)
          end)
          assert.are.equal(before, scene.world:digest(), kind .. ":" .. method)
          check_world(scene.world)
          scene.other:close()
        end
      end
    end
  end)

  it("another reading, a poll and a close are refused", function()
    local scene = hostile.scene(ecs.world)
    local world = scene.world
    native.stage(world, nothing, function()
      has_error(function() native.stage(world, nothing, nothing) end)
      has_error(function() world:close() end)
      has_error(function() live.open(world, ".") end)
    end)
    has_error(function() native.swap(world, {}, {}, {}) end, "no scripts are being read")
    check_world(world)
  end)
end)

-- Registers one of each kind; a few of them with the name, or with an option, that is given.
local function register(world, name, key, value)
  world:component("Position", { "x: f64", "y: f32", "z: f32" })
  world:component("Fresh", { "at: Position" })
  local system = { query = "Position", each = nothing }
  local observer = { on = "add", query = "Position", each = nothing }
  local phase, index = { after = "update" }, { query = "Position", ordered = "Position.y" }
  for _, options in ipairs(key and { system, observer, phase, index } or {}) do
    options[key] = value
  end
  pcall(world.phase, world, name or "late", phase)
  pcall(world.system, world, name or "new", system)
  pcall(world.observer, world, name or "sees", observer)
  pcall(world.index, world, name or "by_y", index)
  pcall(world.prefab, world, name or "Pawn", { Fresh = {} })
  world:query "Position"
  world:res "All"
end

-- A swap inside of a reading in which `act` registers: its arguments are what make(recorded, old)
-- returns, lists of this reading and of one that was swapped in before.
local function swap(scene, act, make)
  local recorded, said
  local function read(body)
    recorded = {}
    local ok, message = pcall(native.stage, scene.world, function(_, _, object)
      recorded[#recorded + 1] = object
    end, body)
    assert(ok, message)
  end
  read(function()
    register(scene.world)
    native.swap(scene.world, recorded, {}, {})
  end)
  local old = recorded
  read(function()
    act(scene.world)
    said = table.pack(pcall(native.swap, scene.world, make(recorded, old)))
  end)
  assert(said[1] or is_clean(said[2]), said[2])
end

describe("a swap", function()
  local function swap_all(make, act)
    for _, entry in ipairs(some_values()) do
      local scene = hostile.scene(ecs.world)
      local value = entry[2](scene)
      swap(scene, act and function(world) act(world, value) end or register,
        function(recorded, old)
          local registered, leaving, options = recorded, {}, {}
          if make then
            registered, leaving, options = make(value, recorded, old)
          end
          return registered, leaving, options
        end)
      check_world(scene.world)
      scene.other:close()
    end
  end

  it("does no harm by its arguments and options", function()
    swap_all(function(value) return value, {}, {} end)
    swap_all(function(value, recorded) return recorded, value, {} end)
    swap_all(function(value, recorded) return recorded, {}, value end)
    for _, key in ipairs { "group", "check", "files" } do
      swap_all(function(value, recorded) return recorded, {}, { [key] = value } end)
    end
  end)

  it("does no harm by what its lists have", function()
    swap_all(function(value, recorded)
      table.insert(recorded, 3, value)
      return recorded, {}, {}
    end)
    swap_all(function(value, recorded, old)
      table.insert(old, 3, value)
      return recorded, old, {}
    end)
  end)

  it("refuses what is no registration of its world", function()
    local elsewhere = ecs.world()
    local other
    native.stage(elsewhere, function(_, _, object) other = object end, function()
      elsewhere:tag "T"
    end)
    for _, value in ipairs { false, 1, "Position", {}, io.stdout, elsewhere, other } do
      local scene = hostile.scene(ecs.world)
      swap(scene, register, function(recorded)
        has_error(function() native.swap(scene.world, { value }, {}, {}) end,
          "#2", "list of registrations expected")
        return recorded, {}, {}
      end)
      scene.world:close()
      scene.other:close()
    end
  end)

  it("does no harm when entries come twice, leave and stay, or are of a reading that failed",
    function()
      for i, make in ipairs {
        function(recorded) return table.move(recorded, 1, #recorded, #recorded + 1), {}, {} end,
        function(recorded, old) return recorded, table.move(old, 1, #old, #old + 1), {} end,
        function(recorded) return recorded, recorded, {} end,
        function(_, old) return old, old, {} end,
        function(recorded, old)
          return table.move(old, 1, #old, #recorded + 1, recorded), {}, {}
        end,
      } do
        local scene = hostile.scene(ecs.world)
        local failed
        swap(scene, register, function(recorded)
          failed = recorded
          return recorded, {}, { check = i % 2 == 0 or nil }
        end)
        swap(scene, register, make)
        swap(scene, register, function() return failed, {}, {} end)
        check_world(scene.world)
        scene.other:close()
      end
    end)

  it("does no harm when what is registered has hostile names and options", function()
    swap_all(nil, function(world, value) register(world, value) end)
    for _, key in ipairs { "phase", "query", "each", "map", "run", "before", "after", "every",
                           "enabled", "when", "compile", "array", "fixed", "on", "ordered",
                           "grid" } do
      swap_all(nil, function(world, value) register(world, nil, key, value) end)
    end
  end)
end)
