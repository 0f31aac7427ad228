-- busted under this interpreter, whatever `busted` on the path would start.
-- Memory is cheaper than collecting often; specs that need a collection ask for it.
local is_luajit = rawget(_G, "jit") ~= nil
if is_luajit then
  -- When its compiler is on, when collections happen is a matter of chance: ECS_JIT=on.
  if os.getenv "ECS_JIT" ~= "on" then require("jit").off() end
  collectgarbage("setpause", 1000)
  require "spec.support.dialect".install()
elseif _VERSION == "Lua 5.4" then
  collectgarbage("setpause", 1000)
else
  collectgarbage("param", "pause", 1000)
end

-- What Windows gives is at the root of a drive, and ends in a dot that no file keeps. Emscripten's
-- finds no name now and then.
local tmpname, count = os.tmpname, 0
rawset(os, "tmpname", function()
  local ok, path
  repeat ok, path = pcall(tmpname) until ok
  count = count + 1
  if package.config:sub(1, 1) ~= "\\" then return path end
  path = ("%s/%s_%x_%d"):format(os.getenv "TEMP", path:match "%w+", os.time(), count)
  return (path:gsub("\\", "/"))
end)

-- Where busted is not installed for this Lua, the libraries installed for Lua 5.4 do.
if not package.searchpath("busted.runner", package.path) then
  local pipe = io.popen "lua5.4 -e 'io.write(package.path)'"
  package.path = package.path .. ";" .. pipe:read "a"
  pipe:close()
end

-- The modules in C that busted's libraries require are seldom installed for every Lua. To run one
-- file of specs busted needs little of them.
local function stand_in(name, module)
  if not pcall(require, name) then
    package.loaded[name] = module
  end
end

local function attributes(path)
  local file = io.open(path)
  if not file then
    return nil
  end
  local _, _, code = file:read(0)
  file:close()
  return code == 21 and "directory" or "file"   -- EISDIR
end

stand_in("lfs", { attributes = attributes, symlinkattributes = attributes,
  currentdir = function() return os.getenv "PWD" end, chdir = function() return true end })
stand_in("term.core", { isatty = function() return false end })
stand_in("system.core", { gettime = os.time, monotime = os.clock, sleep = function() end })

-- Loads files of Penlight and busted that assign to variables of loops, which are constants in
-- Lua 5.5: their loops get a local variable of the same name.
local function load_library(name)
  local path = (name:find "^pl%." or name:find "^busted%.")
    and package.searchpath(name, package.path)
  if not path then
    return nil
  end
  local lines = {}
  for line in io.lines(path, "L") do
    lines[#lines + 1] = line
  end
  local code, message = load(table.concat(lines), "@" .. path)
  while not code do
    local at, variable = message:match ":(%d+): attempt to assign to const variable '([%w_]+)'"
    at = tonumber(at)
    while at and not lines[at]:find("for .*%f[%w_]" .. variable .. "%f[^%w_].* in .* do%f[^%w_]") do
      at = at > 1 and at - 1 or nil
    end
    if not at then
      error(message)
    end
    lines[at] = lines[at]:gsub(" do%f[^%w_]", (" do local %s = %s"):format(variable, variable), 1)
    code, message = load(table.concat(lines), "@" .. path)
  end
  return code, path
end

if _VERSION ~= "Lua 5.4" and not is_luajit then
  table.insert(package.searchers, 2, load_library)
end

require "busted.runner" { standalone = false }
