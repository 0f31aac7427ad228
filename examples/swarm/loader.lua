-- Runs the scripts of a directory. A script is a Lua file that receives the world and a table
-- `script`: script.state is its to keep things in, script:on_load(fn) has a function called
-- once all files have run.

local loader = {}

local function list(directory)
  local quoted = "'" .. directory:gsub("'", "'\\''") .. "'"
  local pipe = assert(io.popen("ls " .. quoted))
  local paths = {}
  for name in pipe:lines() do
    if name:find("%.lua$") then
      paths[#paths + 1] = directory .. "/" .. name
    end
  end
  pipe:close()
  table.sort(paths)
  return paths
end

local script = {}
script.__index = script

function script:on_load(fn)
  self.hooks[#self.hooks + 1] = fn
end

-- Runs the files in the order of their paths, then what they want done on load. Returns the
-- scripts, in that order.
function loader.open(world, directory)
  local scripts = {}
  for _, path in ipairs(list(directory)) do
    local one = setmetatable({ path = path, state = {}, hooks = {} }, script)
    assert(loadfile(path, "t"))(world, one)
    scripts[#scripts + 1] = one
  end
  assert(#scripts > 0, "no scripts in " .. directory)
  for _, one in ipairs(scripts) do
    for _, hook in ipairs(one.hooks) do
      hook()
    end
  end
  return scripts
end

return loader
