-- The demo's world over scripts that a test may edit.

local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local scratch = require "spec.support.scratch"

local swarm = {}

local HERE = "examples/swarm"
local MODULES = { "level", "kinds" }
local path

-- Between these two calls the demo's modules can be required.
function swarm.begin()
  path = package.path
  package.path = HERE .. "/?.lua;" .. path
  swarm.forget()
end

function swarm.forget()
  for _, name in ipairs(MODULES) do
    package.loaded[name] = nil
  end
end

function swarm.finish()
  package.path = path
  swarm.forget()
end

-- A world as main.lua makes it, and the session that follows the scripts in a directory.
function swarm.open(directory, seekers, drifters, hunters, options)
  local world = helper.new_world(options and options.world)
  world:resource("Settings", { "seekers: i32", "drifters: i32", "hunters: i32" })
  local settings = world:res "Settings"
  settings.seekers, settings.drifters, settings.hunters = seekers, drifters, hunters
  return world, live.open(world, { directory or HERE .. "/scripts" }, options)
end

-- ---- a copy of the scripts ---------------------------------------------------------------

local copy = setmetatable({}, { __index = scratch })
copy.__index = copy

local function contents(name)
  local file <close> = assert(io.open(name, "rb"))
  return file:read "a"
end

-- A scratch directory with the demo's scripts in it.
function swarm.copy()
  local files = setmetatable(scratch.new(), copy)
  for name in pairs(swarm.scripts()) do
    files:write(name, contents(HERE .. "/scripts/" .. name))
  end
  return files
end

-- The names of the demo's scripts, as a set.
function swarm.scripts()
  local names = {}
  for name in pairs(require("ecs.live.watch").new({ HERE .. "/scripts" }):scripts()) do
    names[name:match "[^/]+$"] = true
  end
  return names
end

function copy:read(name)
  return contents(self.path .. "/" .. name)
end

-- Puts a text in the place of another, wherever that is in a file. `put` is how it is saved.
function copy:edit(name, from, to, put)
  local text, pieces, at = self:read(name), {}, 1
  local first, last = text:find(from, 1, true)
  assert(first, name .. " has no " .. from)
  while first do
    pieces[#pieces + 1] = text:sub(at, first - 1)
    at = last + 1
    first, last = text:find(from, at, true)
  end
  pieces[#pieces + 1] = text:sub(at)
  put = put or self.write
  put(self, name, table.concat(pieces, to))
end

-- Has a file again as the demo has it.
function copy:revert(name)
  self:write(name, contents(HERE .. "/scripts/" .. name))
end

return swarm
