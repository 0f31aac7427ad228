-- One door each: what a header declares is defined in the file of the same name, so that who
-- knows a function's header knows its file. And files of the binding include what they use: how
-- many lines of our headers they see, with what these include, has an end.
--
-- Headers that declare for several files stand in the list TODAY; an entry that is not needed any
-- more is a complaint, too.

-- Lines of headers for half of the files in src/lua, and for each of them.
local HALF_LIMIT, LIMIT = 1000, 4000

local TODAY = {
  ["core/change/declare.h"] = true,    -- redeclare.c, undeclare.c
  ["core/change/migrate.h"] = true,    -- migrate_plan.c
  ["core/image/load.h"] = true,        -- the parts of loading
  ["core/run/schedule.h"] = true,      -- phase.c, schedule_tell.c
  ["core/store/entity.h"] = true,      -- spawn.c
  ["core/store/query.h"] = true,       -- query_parse.c, iterate.c
  ["front/front.h"] = true,            -- the whole front
  ["kernel/node.h"] = true,            -- the passes
  ["kernel/ops.h"] = true,             -- the loops of each instruction set, and what checks them
  ["kernel/build.h"] = true,           -- the builder and the passes
  ["kernel/program.h"] = true,         -- the door of the kernel
  ["lua/embedded.h"] = true,           -- spec/tools/embed writes the file
}

local complaints = {}

local function complain(...)
  complaints[#complaints + 1] = string.format(...)
end

local function find(name)
  local pipe <close> = assert(io.popen("find src -mindepth 2 -name '" .. name ..
    "' | LC_ALL=C sort"))
  local paths = {}
  for path in pipe:lines() do
    paths[#paths + 1] = path:sub(#"src/" + 1)
  end
  return paths
end

local function slurp(path)
  local file <close> = assert(io.open("src/" .. path))
  return file:read "a"
end

-- What is at the top level: statements, each with what ends it, `;` or `{`.
local function statements(text)
  local head, depth, list = "", 0, {}
  text = text:gsub("\\\n", " "):gsub("/%*.-%*/", " "):gsub("\\.", "")
  text = text:gsub('"[^"\n]*"', "0"):gsub("'[^'\n]*'", "0")
  text = ("\n" .. text):gsub("\n[ \t]*#[^\n]*", "\n")
  for char in text:gmatch "." do
    if depth == 0 and (char == ";" or char == "{") then
      list[#list + 1] = { head = head:match "^%s*(.-)%s*$", ending = char }
      head = ""
    elseif depth == 0 then
      head = head .. char
    end
    depth = depth + (char == "{" and 1 or char == "}" and -1 or 0)
    head = depth == 0 and char == "}" and "" or head
  end
  return list
end

-- The name of the function whose head it is.
local function function_name(head)
  if head:find "^typedef" or head:find "^struct [%w_]+$" or head:find "=" then
    return nil
  end
  return head:match "([%a_][%w_]*)%s*%b()$"
end

local function is_static(head)
  return head:find "%f[%w_]static%f[^%w_]" or head:find "%f[%w_]INLINE%f[^%w_]"
end

-- The names in `const char a = 0, b = 0` or `extern const luaL_Reg a[], b[]`.
local function add_objects(names, head)
  for declarator in head:gmatch "[^,]+" do
    local name = declarator:gsub("=.*", ""):match "([%a_][%w_]*)[%[%]%s]*$"
    names[#names + 1] = name
  end
end

local function declared_in(header)
  local names = {}
  for _, statement in ipairs(statements(slurp(header))) do
    local head = statement.head
    if statement.ending == ";" and head:find "^extern" then
      add_objects(names, head)
    elseif statement.ending == ";" and not is_static(head) then
      names[#names + 1] = function_name(head)
    end
  end
  return names
end

local function defined_in(file)
  local names = {}
  for _, statement in ipairs(statements(slurp(file))) do
    local head = statement.head
    if not is_static(head) and not head:find "^extern" then
      if statement.ending == "{" and function_name(head) then
        names[#names + 1] = function_name(head)
      elseif head:find "=" then
        add_objects(names, head:match "^const.*" or "")
      end
    end
  end
  return names
end

-- Name -> the file that defines it.
local function definitions()
  local home = {}
  for _, file in ipairs(find "*.c") do
    for _, name in ipairs(defined_in(file)) do
      home[name] = file
    end
  end
  return home
end

local function check_header(header, home, used)
  local own, count = header:gsub("h$", "c"), 0
  for _, name in ipairs(declared_in(header)) do
    count = count + 1
    if home[name] ~= own and TODAY[header] then
      used[header] = true
    elseif home[name] ~= own then
      complain("src/%s declares %s of %s, not of src/%s", header, name,
        home[name] and "src/" .. home[name] or "no file", own)
    end
  end
  return count
end

local function check_doors()
  local home, used, count = definitions(), {}, 0
  for _, header in ipairs(find "*.h") do
    count = count + check_header(header, home, used)
  end
  for header in pairs(TODAY) do
    if not used[header] then
      complain("spec/tools/doors.lua: the exception '%s' is not needed any more", header)
    end
  end
  return count
end

-- ---- lines ----

local known = {}    -- by path: number of lines, and the headers of ours that it includes

local function look(path)
  if not known[path] then
    local entry = { lines = 0, includes = {} }
    known[path] = entry
    for line in io.lines("src/" .. path) do
      entry.lines = entry.lines + 1
      entry.includes[#entry.includes + 1] = line:match '^#%s*include "([^"]+)"'
    end
  end
  return known[path]
end

local function count_lines(path, seen)
  local lines = 0
  for _, header in ipairs(look(path).includes) do
    if not seen[header] then
      seen[header] = true
      lines = lines + look(header).lines + count_lines(header, seen)
    end
  end
  return lines
end

local function check_lines()
  local counts = {}
  for _, file in ipairs(find "*.c") do
    if file:find "^lua/" then
      local lines = count_lines(file, {})
      counts[#counts + 1] = lines
      if lines > LIMIT then
        complain("src/%s sees %d lines of our headers, at most %d are enough", file, lines,
          LIMIT)
      end
    end
  end
  table.sort(counts)
  local half = counts[#counts // 2 + 1]
  if half > HALF_LIMIT then
    complain("half of the files in src/lua see %d lines of our headers and more, %d are enough",
      half, HALF_LIMIT)
  end
  return half
end

local count, half = check_doors(), check_lines()
for _, complaint in ipairs(complaints) do
  print(complaint)
end
print(("%d declarations, %d lines of headers in the median of src/lua, %d complaints"):format(
  count, half, #complaints))
os.exit(#complaints == 0 and count > 0)
