-- More of what scenarios.lua begins: a valid call of each function of the module while memory is
-- short, as spec/support/hostile.lua has them for wrong arguments.

local ecs = require "ecs"
local hostile = require "spec.support.hostile"

local scenario = ...

-- What may be half done, leave a loop open, or make an index and find nothing.
local PARTIAL = { events = true, run = true, write = true, highest = true, lowest = true,
  range = true }
-- What has no valid call there, closes the world, or writes files.
local LEFT_OUT = { declare = true, schema = true, methods = true, replace = true, swap = true,
  spawner = true, close = true, write_types = true }

-- `arguments` gives them for a scene; `call` may say what it is about, and what comes before it.
local function try(kind, method, call, arguments)
  scenario(("%s.%s"):format(kind, method), {
    partial = PARTIAL[method],
    prepare = function(s)
      s.scene = hostile.scene(ecs.world)
      s.world = s.scene.world
      s.scene.numbers = { 1 }
      s.arguments = table.pack(arguments(s.scene))
      if call.before then call.before(s.scene) end
    end,
    act = function(s)
      hostile.with_self(s.scene, kind, function(self)
        local fn = (self or hostile.modules[kind])[method]
        if self then return fn(self, table.unpack(s.arguments, 1, s.arguments.n)) end
        if fn then fn(table.unpack(s.arguments, 1, s.arguments.n)) end   -- on Windows only
      end, call)
    end,
  })
end

-- The arguments of a list that say how they are made, from the n-th on.
local function made(list, first)
  return function(scene)
    local arguments, n = {}, 0
    for i = first, #list do
      n = n + 1
      arguments[n] = list[i].make(scene)
    end
    return table.unpack(arguments, 1, n)
  end
end

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

hostile.calls.math = nil    -- which takes no memory
for _, kind in ipairs(sorted_keys(hostile.calls)) do
  for _, method in ipairs(sorted_keys(hostile.calls[kind])) do
    local call = hostile.calls[kind][method]
    if not LEFT_OUT[method] then try(kind, method, call, made(call, 1)) end
  end
end
for _, call in ipairs(hostile.ties) do try("world", call[1], {}, made(call, 2)) end
for _, entry in ipairs(hostile.tables) do try(entry[1], entry[2], {}, entry[3]) end
