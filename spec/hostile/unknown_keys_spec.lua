-- Reliability line 38: every table that a call takes refuses keys that it does not know, by name,
-- at any depth. Generated from the valid calls of hostile arguments. C68.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local hostile = require "spec.support.hostile"
local live = require "ecs.live"
local live_scene = require "spec.support.live_scene"
local native = require "ecs.native"

-- Tables that are filled, or that the module gives itself.
local FREE = { ["column:read"] = true, ["array:read"] = true, ["native:changes"] = true }

local function by_kind(a, b)
  if math.type(a) ~= math.type(b) then
    return math.type(a) ~= nil
  end
  return a < b
end

local function sorted_keys(t)
  local keys = {}
  for key in next, t do
    keys[#keys + 1] = key
  end
  table.sort(keys, by_kind)
  return keys
end

-- All tables among some values and in them, each as it is reached first, with the key it is under.
local function tables_of(values, list)
  for _, key in ipairs(sorted_keys(values)) do
    local value = values[key]
    if type(value) == "table" and not getmetatable(value) then
      list[#list + 1] = { table = value, key = key }
      tables_of(value, list)
    end
  end
  return list
end

-- All forms of calls that take tables: { kind =, method =, make = function(scene) -> arguments }.
local function forms()
  local list = {}
  for _, kind in ipairs(sorted_keys(hostile.calls)) do
    for _, method in ipairs(sorted_keys(hostile.calls[kind])) do
      local arguments = hostile.calls[kind][method]
      list[#list + 1] = arguments and { kind = kind, method = method, make = function(scene)
        local made = {}
        for i = 1, #arguments do
          made[i] = arguments[i].make(scene)
        end
        return table.unpack(made, 1, #arguments)
      end } or nil
    end
  end
  for _, form in ipairs(hostile.tables) do
    list[#list + 1] = { kind = form[1], method = form[2], make = form[3] }
  end
  return list
end

local function end_scene(scene)
  if not tostring(scene.world):find "closed" then
    while pcall(scene.world.commit, scene.world) do end
    helper.check(scene.world)
    scene.world:close()
  end
  scene.other:close()
end

-- Calls fn(arguments, tables, call) for a form in a scene; returns what that does.
local function with_form(form, fn)
  local scene = hostile.scene(ecs.world)
  local known = (hostile.calls[form.kind] or {})[form.method] or {}
  if known.before then known.before(scene) end
  local result = hostile.with_self(scene, form.kind, function(self)
    local arguments = table.pack(form.make(scene))
    return table.pack(fn(arguments, tables_of(arguments, {}), function()
      local method = self and self[form.method] or native[form.method]
      if not self then
        return pcall(method, table.unpack(arguments, 1, arguments.n))
      end
      return pcall(method, self, table.unpack(arguments, 1, arguments.n))
    end))
  end, known)
  end_scene(scene)
  return table.unpack(result, 1, result.n)
end

-- Whether any text is a key of the table: children's names.
local function is_named(place, key)
  return place.key == "children" and type(key) == "string"
end

-- What is wrong with how a call takes a key in the table at a place.
local function complain(form, at, key)
  local ok, message, free = with_form(form, function(_, tables, call)
    local _, value = next(tables[at].table)
    tables[at].table[key] = value == nil and true or value
    local called, told = call()
    return called, told, is_named(tables[at], key)
  end)
  if free then return nil end
  local what = ok and "accepted" or "said only " .. tostring(message)
  if ok or not tostring(message):find(tostring(key), 1, true) then
    return ("%s:%s, table %d, key %s: %s"):format(form.kind, form.method, at, key, what)
  end
end

local KEYS = { "junk", "$junk", 0, 99, 1.5 }

-- What live scripts register; `system` and the like are told when all scripts have been read.
local REGISTERS = { component = true, relation = true, event = true, resource = true, phase = true,
  system = true, observer = true, index = true, query = true, prefab = true }

-- The same of a call in a live script.
local function complain_live(form, at, key)
  local scene, free = hostile.scene(helper.new_world), false
  scene.other:close()
  local _, files, _, _ = live_scene.new()
  files:write("a.lua", "require('spec.registers')(...)")
  package.loaded["spec.registers"] = function(world)
    local arguments = table.pack(form.make(scene))
    local place = tables_of(arguments, {})[at]
    local _, value = next(place.table)
    place.table[key], free = value == nil and true or value, is_named(place, key)
    world[form.method](world, table.unpack(arguments, 1, arguments.n))
  end
  local told
  local ok, problem = pcall(live.open, scene.world, { files.path },
    { on_error = function(message) told = message end })
  package.loaded["spec.registers"] = nil
  local message = tostring(ok and told or problem)
  free = free or message:find("declared outside the scripts", 1, true)
  if not free and not message:find(tostring(key), 1, true) then
    return ("a script's world:%s, table %d, key %s: %s"):format(form.method, at, key, message)
  end
end

local function count_tables(form)
  return FREE[form.kind .. ":" .. form.method] and 0
    or with_form(form, function(_, tables) return #tables end)
end

describe("C68: keys that a table does not know", function()
  for _, form in ipairs(forms()) do
    local count = count_tables(form)
    it(("are refused by %s:%s, at any depth"):format(form.kind, form.method), function()
      local complaints = {}
      for at = 1, count do
        for _, key in ipairs(KEYS) do
          complaints[#complaints + 1] = complain(form, at, key)
        end
      end
      assert(#complaints == 0, table.concat(complaints, "\n"))
      assert(count == 0 or with_form(form, function(_, _, call) return call() end))
    end)
  end

  it("are refused by what live scripts register, too", function()
    local complaints, tried = {}, 0
    for _, form in ipairs(forms()) do
      local registers = form.kind == "world" and REGISTERS[form.method]
      for at = 1, registers and count_tables(form) or 0 do
        tried = tried + 1
        complaints[#complaints + 1] = complain_live(form, at, "junk")
      end
    end
    assert(#complaints == 0, table.concat(complaints, "\n"))
    assert(tried > 40, tried)
  end)

  it("are refused where worlds are opened, saved and loaded by files", function()
    local path = os.tmpname()
    local world = helper.new_world()
    ecs.save_file(world, path)
    for _, fn in ipairs {
      function() ecs.save_file(world, path, { junk = 1 }) end,
      function() ecs.load_file(world, path, { junk = 1 }) end,
      function() ecs.save_file(world, path, { codec = { encode = tostring, junk = 1 } }) end,
      function() live.open(world, { "nowhere", junk = "more" }) end,
      function() live.open(world, { "nowhere" }, { junk = 1 }) end,
    } do
      helper.has_error(fn, "junk")
    end
    os.remove(path)
  end)
end)
