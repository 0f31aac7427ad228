-- Who may use whom, as src/README.md draws it: every #include of the sources is checked. And no
-- two files of the tree have one name, so that a name is enough to speak of a file.

-- A folder, and the folders whose headers its files may include beside its own and the parts of
-- src/ecs.h. That header itself is for hosts. Folders of one floor know each other as listed.
local CORE = { "core/base", "core/ids", "core/storage", "core/relation", "core/query",
  "core/command", "core/entity" }

local function with(floor, ...)
  local list = { table.unpack(floor) }
  for _, folder in ipairs { ... } do
    list[#list + 1] = folder
  end
  return list
end

local BINDING = with(CORE, "core/world", "core/index", "core/schedule", "core/change",
  "core/image", "kernel", "runner", "front", "lua/bind", "lua/loop", "lua/jit", "lua/api",
  "lua/live", "ecs_lua_module.h", "ecs_lua_open.h")

local ROOMS = {
  ["core/base"] = {},
  ["core/ids"] = { "core/base" },
  ["core/storage"] = with(CORE, "core/world"),
  ["core/relation"] = { "core/base", "core/ids", "core/storage", "core/entity" },
  ["core/query"] = CORE,
  ["core/command"] = CORE,
  ["core/entity"] = CORE,
  ["core/world"] = with(CORE, "core/index", "core/schedule"),
  ["core/index"] = with(CORE, "core/world"),
  ["core/schedule"] = with(CORE, "core/index"),
  ["core/change"] = with(CORE, "core/schedule"),
  ["core/image"] = with(CORE, "core/world", "core/index", "core/schedule", "core/change"),
  ["kernel"] = { "core/base" },
  ["runner"] = with(CORE, "core/index", "kernel"),
  ["front"] = with(CORE, "core/index", "kernel", "runner"),
  ["lua/bind"] = BINDING,
  ["lua/loop"] = BINDING,
  ["lua/jit"] = BINDING,
  ["lua/api"] = BINDING,
  ["lua/live"] = BINDING,
}

local ONE_NAME_EACH = { ["README.md"] = true, ["init.lua"] = true, ["main.lua"] = true,
  ["Makefile"] = true }

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

local function knows_lua(file)
  return file:find "^lua/" or file:find "^front/"
end

local function room_of(path)
  return path:match "^(.*)/[^/]*$" or path
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

local function check_include(file, header)
  local room = room_of(file)
  if not ROOMS[room] then
    return complain("src/%s: 'src/%s' is not a folder that rooms.lua knows", file, room)
  end
  if not may_use(room, header) then
    complain("src/%s: src/%s may not use %s (src/README.md: who may use whom)", file, room, header)
  end
end

local function check_includes()
  local count = 0
  for _, path in ipairs(find "src -mindepth 2 -name '*.[ch]' -o -name '*.inc' -o -name '*.def'") do
    local file = path:sub(#"src/" + 1)
    for line in io.lines(path) do
      local header = line:match '^#%s*include "([^"]+)"'
      if header then
        count = count + 1
        check_include(file, header)
      elseif line:find "^#%s*include <l[ua]" and not knows_lua(file) then
        complain("src/%s: only src/lua and src/front know Lua", file)
      end
    end
  end
  return count
end

local function check_names()
  local known = {}
  local paths = find("src lua spec examples rockspec -type f \\( -name '*.[ch]' -o -name '*.inc'"
    .. " -o -name '*.def' -o -name '*.lua' -o -name '*.md' -o -path 'spec/tools/*' \\)")
  for _, path in ipairs(paths) do
    local name = path:match "[^/]*$"
    if known[name] and not ONE_NAME_EACH[name] then
      complain("%s and %s have one name", known[name], path)
    end
    known[name] = path
  end
  return #paths
end

local includes, names = check_includes(), check_names()
for _, complaint in ipairs(complaints) do
  print(complaint)
end
print(("%d includes, %d names, %d complaints"):format(includes, names, #complaints))
os.exit(#complaints == 0 and includes > 0 and names > 0)
