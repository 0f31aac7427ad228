-- Who may use whom, as src/README.md draws it: every #include of the sources is checked. And no
-- two files of the tree have one name, so that a name is enough to speak of a file.
--
-- What is not so yet stands in the lists TODAY; an entry that is not needed any more is a
-- complaint, too.

-- A room, and the rooms whose headers its files may include beside its own and
-- the parts of src/ecs.h. That header itself is for hosts.
local ROOMS = {
  ["core/base"] = {},
  ["core/store"] = { "core/base" },
  ["core/find"] = { "core/base", "core/store" },
  ["core/run"] = { "core/base", "core/store", "core/find" },
  ["core/change"] = { "core/base", "core/store", "core/find", "core/run" },
  ["core/image"] = { "core/base", "core/store", "core/find", "core/run", "core/change" },
  ["kernel"] = { "core/base" },
  ["kernel/run"] = { "core/base", "core/store", "core/find", "kernel" },
  ["front"] = { "core/base", "core/store", "core/find", "kernel", "kernel/run" },
  ["lua/bind"] = { "core/base", "core/store" },
  ["lua"] = {
    "core/base", "core/store", "core/find", "core/run", "core/change", "core/image", "kernel",
    "kernel/run", "front", "lua/bind", "ecs_lua_module.h", "ecs_lua_open.h",
  },
}

-- Files with rules of their own.
local ROOM_OF_FILE = {
  ["runner/run.c"] = "kernel/run", ["runner/run.h"] = "kernel/run",
  ["runner/lookup.c"] = "kernel/run", ["runner/run.h"] = "kernel/run",
  ["runner/brood.c"] = "kernel/run", ["runner/effects.h"] = "kernel/run",
  ["runner/giving.c"] = "kernel/run", ["runner/effects.h"] = "kernel/run",
  ["runner/partners.c"] = "kernel/run", ["runner/partners.h"] = "kernel/run",
  ["runner/partners.c"] = "kernel/run", ["runner/partners.h"] = "kernel/run",
  ["runner/gather.c"] = "kernel/run", ["runner/run.h"] = "kernel/run",
  ["runner/run.c"] = "kernel/run", ["runner/run.h"] = "kernel/run",
  ["runner/run_parallel.c"] = "kernel/run", ["runner/run.h"] = "kernel/run",
}

local INCLUDES_TODAY = {
}

local ONE_NAME_EACH = { ["README.md"] = true, ["init.lua"] = true, ["main.lua"] = true,
  ["Makefile"] = true }
local NAMES_TODAY = {}

local complaints = {}

local function complain(...)
  complaints[#complaints + 1] = string.format(...)
end

local function find(arguments)
  local pipe <close> = assert(io.popen("find " .. arguments .. " | LC_ALL=C sort"))
  local paths = {}
  for path in pipe:lines() do
    paths[#paths + 1] = path
  end
  return paths
end

-- Counts an exception as used.
local function excused(exceptions, used, what)
  used[what] = true
  return exceptions[what]
end

local function complain_of_unused(exceptions, used)
  for what in pairs(exceptions) do
    if not used[what] then
      complain("spec/tools/rooms.lua: the exception '%s' is not needed any more", what)
    end
  end
end

local function knows_lua(file)
  return file:find "^lua/" or file:find "^front/"
end

local function room_of(path)
  return ROOM_OF_FILE[path] or path:match "^(.*)/[^/]*$" or path
end

local function may_use(room, header)
  local target = room_of(header)
  if header:find "^ecs_%w+%.h$" and header ~= "ecs_lua.h" or target == room then
    return true
  end
  for _, allowed in ipairs(ROOMS[room]) do
    if allowed == target then
      return true
    end
  end
  return false
end

local function check_include(file, header, used)
  local room = room_of(file)
  if not ROOMS[room] then
    return complain("src/%s: 'src/%s' is no room", file, room)
  end
  if not may_use(room, header) then
    local what = file .. " -> " .. header
    if not excused(INCLUDES_TODAY, used, what) then
      complain("src/%s: src/%s may not use %s (src/README.md: who may use whom)", file, room,
        header)
    end
  end
end

local function check_includes()
  local used, count = {}, 0
  for _, path in ipairs(find "src -mindepth 2 -name '*.[ch]' -o -name '*.inc' -o -name '*.def'") do
    local file = path:sub(#"src/" + 1)
    for line in io.lines(path) do
      local header = line:match '^#%s*include "([^"]+)"'
      if header then
        count = count + 1
        check_include(file, header, used)
      elseif line:find "^#%s*include <l[ua]" and not knows_lua(file) then
        complain("src/%s: only src/lua and src/front know Lua", file)
      end
    end
  end
  complain_of_unused(INCLUDES_TODAY, used)
  return count
end

local function check_names()
  local known, used = {}, {}
  local paths = find("src lua spec examples rockspec -type f \\( -name '*.[ch]' -o -name '*.inc'"
    .. " -o -name '*.def' -o -name '*.lua' -o -name '*.md' -o -path 'spec/tools/*' \\)")
  for _, path in ipairs(paths) do
    local name = path:match "[^/]*$"
    if known[name] and not ONE_NAME_EACH[name] and not excused(NAMES_TODAY, used, name) then
      complain("%s and %s have one name", known[name], path)
    end
    known[name] = path
  end
  complain_of_unused(NAMES_TODAY, used)
  return #paths
end

local includes, names = check_includes(), check_names()
for _, complaint in ipairs(complaints) do
  print(complaint)
end
print(("%d includes, %d names, %d complaints"):format(includes, names, #complaints))
os.exit(#complaints == 0 and includes > 0 and names > 0)
