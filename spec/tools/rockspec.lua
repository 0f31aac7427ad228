-- The rockspecs list exactly the sources, Lua modules and public headers that exist.
-- `lua5.4 spec/tools/rockspec.lua` checks, `... write` puts their lists right. A rockspec
-- whose version is released is frozen and leaves this list.

local ROCKSPECS = { "rockspec/ecs-scm-1.rockspec", "rockspec/ecs-0.2.0-1.rockspec" }

local function find(arguments)
  local found = {}
  for path in assert(io.popen("find " .. arguments .. " | LC_ALL=C sort")):lines() do
    found[#found + 1] = path
  end
  return found
end

local function module_name(path)
  return (path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", "."))
end

-- What `build.modules` must be, as the rockspec writes it.
local function modules_text()
  local out = {
    "modules = {",
    '    ["ecs.native"] = {',
    '      incdirs = { "src" },',
    "      sources = {",
  }
  for _, path in ipairs(find("src -name '*.c' ! -name 'hosting.c'")) do
    out[#out + 1] = string.format("        %q,", path)
  end
  out[#out + 1] = "      },"
  out[#out + 1] = "    },"
  for _, path in ipairs(find("lua -name '*.lua'")) do
    local name = module_name(path)
    local key = name:find("^[%a_][%w_]*$") and name or string.format("[%q]", name)
    out[#out + 1] = string.format("    %s = %q,", key, path)
  end
  out[#out + 1] = "  }"
  return table.concat(out, "\n")
end

-- Headers go where the Lua half goes, as `ecs.include` says: to ecs/include.
local function headers_text()
  local out = { "install = {", "    lua = {" }
  for _, path in ipairs(find("src -maxdepth 1 -name '*.h'")) do
    local name = path:match("([%w_]+)%.h$")
    out[#out + 1] = string.format("      [%q] = %q,", "ecs.include." .. name, path)
  end
  out[#out + 1] = "    },"
  out[#out + 1] = "  }"
  return table.concat(out, "\n")
end

local function slurp(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

-- The version that the headers name.
local function header_version()
  local text = slurp("src/ecs_version.h")
  local numbers = {}
  for i, part in ipairs { "MAJOR", "MINOR", "PATCH" } do
    numbers[i] = text:match("ECS_VERSION_" .. part .. " (%d+)")
  end
  local version = table.concat(numbers, ".")
  assert(text:find(('ECS_VERSION "%s"'):format(version), 1, true), "ECS_VERSION disagrees")
  return version
end

local function check(path, wanted)
  local fields = {}
  assert(loadfile(path, "t", fields))()
  local version = path:match("ecs%-(.+)%.rockspec$")
  if fields.version ~= version then
    return path .. ": version is " .. tostring(fields.version)
  end
  if version ~= "scm-1" and version ~= header_version() .. "-1" then
    return path .. ": src/ecs_version.h says that this is " .. header_version()
  end
  for key, text in pairs(wanted) do
    if slurp(path):match("\n  (" .. key .. " = %b{})") ~= text then
      return path .. ": " .. key .. " is not what the tree has "
        .. "(lua5.4 spec/tools/rockspec.lua write puts that right)"
    end
  end
end

local function write(path, wanted)
  local text = slurp(path)
  for key, part in pairs(wanted) do
    local from, to = text:find("\n  " .. key .. " = %b{}")
    text = text:sub(1, from) .. "  " .. part .. text:sub(to + 1)
  end
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local wanted = { modules = modules_text(), install = headers_text() }
local good = true
for _, path in ipairs(ROCKSPECS) do
  if arg[1] == "write" then
    write(path, wanted)
  end
  local complaint = check(path, wanted)
  if complaint then
    print(complaint)
    good = false
  end
end
os.exit(good)
