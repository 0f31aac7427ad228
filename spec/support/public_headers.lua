-- The headers that hosts in C include, as the specs read them.

local M = {}

-- The text of a header, with those of ours that it includes in their places.
function M.text(name)
  local file <close> = assert(io.open("src/" .. name))
  return (file:read("a"):gsub('#include "(ecs[%w_]*%.h)"', M.text))
end

-- The names of all of them.
function M.names()
  local names = {}
  for _, name in ipairs(require("ecs.native").list "src") do
    names[#names + 1] = name:find "%.h$" and name or nil
  end
  table.sort(names)
  return names
end

return M
