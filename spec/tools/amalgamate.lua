--- The sources as few files, which hosts take into builds of their own:
---   lua5.4 spec/tools/amalgamate.lua DIRECTORY EMBED CORE... -- BINDING...
--- writes ecs.h, ecs.c, ecs_lua.h, ecs_lua.c and a CMakeLists.txt into DIRECTORY. EMBED is the Lua
--- half as C source (spec/tools/embed). A header stands where it is first included. What is a
--- file's own ends with it: its macros, the way it is compiled, and its names, which get a number
--- where an earlier file has them, too.

-- What has to be said before the first header of the system.
local FEATURES = [[
#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif
#if !defined(ECS_DEBUG) && !defined(NDEBUG)
#define NDEBUG
#endif

/* A function of a header that is not called is none too many. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wunused-function"
#endif
]]

local HIDDEN = [[

#if defined(__GNUC__) && !defined(ECS_VISIBLE)
#pragma GCC visibility push(hidden)
#endif
]]

local function slurp(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- Whether each file that includes it needs a copy: it is not a header, or it says how code is
-- compiled.
local function is_repeated(path)
  return not path:find "%.h$" or slurp(path):find "#pragma GCC optimize"
end

-- What files have in common is in ecs.h and ecs_lua.h.
local function is_public(path)
  return path:find "^src/ecs[%w_]*%.h$"
end

-- The text of a file and of all that is repeated in it, as far as it is the file's own.
local function own_text(path)
  return (slurp(path):gsub('#include "([^"]+)"', function(name)
    local inner = "src/" .. name
    return not is_public(inner) and is_repeated(inner) and own_text(inner) or ""
  end))
end

local function own_macros(text)
  local list, seen = {}, {}
  for name in text:gmatch "#%s*define ([%a][%w_]*)" do
    if not seen[name] then list[#list + 1] = name end
    seen[name] = true
  end
  return list
end

-- Names at the outermost level that other files may have, too.
local function own_names(text)
  local list, seen = {}, {}
  local function take(name)
    if not name then return end
    if not seen[name] then list[#list + 1] = name end
    seen[name] = true
  end
  text = ("\n" .. text):gsub("/%*.-%*/", "")
  for line in text:gmatch "\n(static [^\n]*)" do
    take(line:match "^[^%(%[=;]-([%w_]+) *[%(%[=;]")
  end
  for line in text:gmatch "\n(INLINE [^\n]*)" do take(line:match "^[^%(]-([%w_]+)%(") end
  for body in text:gmatch "\nenum *[%w_]* *(%b{})" do
    for name in body:gmatch "[{,]%s*(%a[%w_]*)" do take(name) end
  end
  return list
end

local amalgam = {}
amalgam.__index = amalgam

local function new_amalgam()
  return setmetatable({ seen = {}, out = {}, system = {}, names = {}, conditions = {} }, amalgam)
end

function amalgam:put(line)
  self.out[#self.out + 1] = line
end

function amalgam:put_if(condition, pragma)
  self:put("#if " .. condition)
  self:put("#pragma " .. pragma)
  self:put "#endif"
end

-- How deep a line is in conditions, without those that guard headers.
function amalgam:follow(line)
  local conditions = self.conditions
  if line:find "^#%s*if" then
    conditions[#conditions + 1] = line:find "^#ifndef [%w_]*_H$" and "guard" or "condition"
  elseif line:find "^#%s*endif" then
    conditions[#conditions] = nil
  end
end

function amalgam:is_conditional()
  for _, kind in ipairs(self.conditions) do
    if kind == "condition" then return true end
  end
  return false
end

-- Headers of the system come first, as what follows ours is hidden from other objects. Those that
-- not every system has stay where they are.
function amalgam:include_system(line)
  if not self:is_conditional() then
    self.system[line] = true
    return
  end
  local elf = "defined(__GNUC__) && !defined(_WIN32)"
  self:put_if(elf, "GCC visibility push(default)")
  self:put(line)
  self:put_if(elf, "GCC visibility pop")
end

function amalgam:include(path)
  if is_public(path) or self.seen[path] and not is_repeated(path) then return end
  self.seen[path] = true
  for line in slurp(path):gmatch "([^\n]*)\n" do
    self:follow(line)
    local name = line:match '^#%s*include "([^"]+)"'
    if name then
      self:include("src/" .. name)
    elseif line:find "^#%s*include <" then
      self:include_system(line)
    else
      self:put(line)
    end
  end
end

function amalgam:unit(path, number)
  local text = own_text(path)
  local macros = own_macros(text)
  local options = text:find "#pragma GCC optimize" or text:find "#pragma GCC target"
  local gcc = "defined(__GNUC__) && !defined(__clang__)"
  self:put(("\n/* ==== %s */"):format(path))
  if options then self:put_if(gcc, "GCC push_options") end
  for _, name in ipairs(own_names(text)) do
    if self.names[name] then
      self:put(("#define %s %s_%d"):format(name, name, number))
      macros[#macros + 1] = name
    end
    self.names[name] = true
  end
  self:include(path)
  for _, name in ipairs(macros) do self:put("#undef " .. name) end
  if options then self:put_if(gcc, "GCC pop_options") end
end

-- The loops that any machine has come first, so that what they include is compiled as they are; the
-- headers of Windows last, as they define what they like.
local function in_order(paths)
  local function place(path)
    return path:find "ops_base%.c$" and 1 or slurp(path):find "<windows.h>" and 3 or 2
  end
  table.sort(paths, function(a, b)
    if place(a) ~= place(b) then return place(a) < place(b) end
    return a < b
  end)
  return paths
end

local version = slurp("src/ecs_version.h"):match 'ECS_VERSION "([^"]+)"'
local licence = slurp("LICENSE"):gsub("\n+$", ""):gsub("\n", "\n** "):gsub(" +\n", "\n")

local function write(path, ...)
  local file = assert(io.open(path, "wb"))
  assert(file:write(...))
  file:close()
end

local function write_c(path, what, text)
  local top = "/* ecs %s: %s, made of its sources.\n**\n** %s */\n"
  write(path, top:format(version, what, licence), text)
end

local function write_source(path, what, header, units)
  local all = new_amalgam()
  for i, unit in ipairs(units) do all:unit(unit, i) end
  local system = {}
  for line in pairs(all.system) do system[#system + 1] = line end
  table.sort(system)
  write_c(path, what, table.concat({ FEATURES, table.concat(system, "\n"), HIDDEN,
    '#include "' .. header .. '"', table.concat(all.out, "\n"), "" }, "\n"))
end

-- A public header with those that it includes, each once; `known` are not repeated.
local function header_text(path, known)
  if known[path] then return "" end
  known[path] = true
  return (slurp(path):gsub('#include "([^"]+)"[^\n]*\n', function(name)
    return header_text("src/" .. name, known)
  end))
end

local directory, embed = arg[1], arg[2]
local units, binding = {}, { embed }
local into = units
for i = 3, #arg do
  if arg[i] == "--" then into = binding else into[#into + 1] = arg[i] end
end
local known = {}
write_c(directory .. "/ecs.h", "the interface for C", header_text("src/ecs.h", known))
write_c(directory .. "/ecs_lua.h", "the interface for C beside Lua",
  '#include "ecs.h"\n\n' .. header_text("src/ecs_lua.h", known))
write_source(directory .. "/ecs.c", "the runtime without Lua", "ecs.h", in_order(units))
write_source(directory .. "/ecs_lua.c", "the Lua module, beside ecs.c", "ecs_lua.h",
  in_order(binding))
write(directory .. "/CMakeLists.txt", (slurp("src/CMakeLists.txt.in"):gsub("@VERSION@", version)))
