-- The headers that hosts in C include, as the specs read them.

local M = {}

-- The text of a header, with those of ours that it includes in their places.
function M.text(name)
  local file <close> = assert(io.open("src/" .. name))
  return (file:read("a"):gsub('#include "(ecs[%w_]*%.h)"', M.text))
end

-- The names of all of them.
function M.names()
  local pipe <close> = assert(io.popen "cd src && ls *.h")
  local names = {}
  for name in pipe:lines() do
    names[#names + 1] = name
  end
  return names
end

return M
