-- What a spec of live scripts starts from, and what is left of it when the test ends.

local helper = require "spec.support.ecs_helper"
local scratch = require "spec.support.scratch"

local live_scene = {}

local open_directories = {}

-- A world; a directory for scripts, which goes with the test; a list of what the session is to
-- tell; and a function that opens a session over them, with options of its own or on_error alone.
function live_scene.new(world_options)
  local world, files, errors = helper.new_world(world_options), scratch.new(), {}
  open_directories[#open_directories + 1] = files
  return world, files, errors, function(options)
    return require("ecs.live").open(world, { files.path }, options or {
      on_error = function(message) errors[#errors + 1] = message end,
    })
  end
end

local function remove_directories()
  for _, files in ipairs(open_directories) do
    files:close()
  end
  open_directories = {}
end

if package.loaded["busted"] then
  require("busted").after_each(remove_directories)
end

return live_scene
