-- No source file over 900 lines, but for annotations, which are a list, and the inspector's page,
-- which is one document of at most 1,500; no function over 45. Lines aim at 90 columns, 100 is the
-- end.
-- Functions are measured in C (by their braces) and, through luac's listing, in Lua; spec
-- files are left out there, since `describe` takes functions as long as the file. What the tree is
-- as a whole is counted by spec/tools/figures.

local FILE_LIMIT, FUNCTION_LIMIT, COLUMN_LIMIT = 900, 45, 100

local PAGE_LIMIT = 1500
local complaints = {}

local function complain(...)
  complaints[#complaints + 1] = string.format(...)
end

local function lines_of(command)
  local pipe = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do
    lines[#lines + 1] = line
  end
  return lines, pipe:close()
end

local function read_lines(path)
  local lines = {}
  for line in io.lines(path) do
    lines[#lines + 1] = line
  end
  return lines
end

local function check_lines(path, lines)
  local limit = path == "lua/ecs/inspect/page.lua" and PAGE_LIMIT or FILE_LIMIT
  if #lines > limit and not lines[1]:find "^%-%-%-@meta" then
    complain("%s: %d lines", path, #lines)
  end
  for number, line in ipairs(lines) do
    local columns = utf8.len(line) or #line
    if columns > COLUMN_LIMIT then
      complain("%s:%d: %d columns", path, number, columns)
    end
  end
end

local function check_function(path, name, first, last)
  local length = last - first + 1
  if length > FUNCTION_LIMIT then
    complain("%s:%d: function %s has %d lines", path, first, name, length)
  end
end

-- The text with comments, strings and preprocessor lines blanked; line breaks stay.
local function strip_c(text)
  local function blank(part)
    return (part:gsub("[^\n]", " "))
  end
  text = text:gsub("\\\n", " \n")
  text = text:gsub("\\.", "  ")
  text = text:gsub('"[^"\n]*"', blank):gsub("'[^'\n]*'", blank)
  text = text:gsub("/%*.-%*/", blank):gsub("//[^\n]*", blank)
  return (("\n" .. text):gsub("\n[ \t]*#[^\n]*", "\n"):sub(2))
end

-- A function of C is a top-level block whose head ends in `)`; it begins with that head.
local function check_c_functions(path, text)
  local depth, line, head, head_line = 0, 1, "", 1
  local first, name
  for char in strip_c(text):gmatch(".[\128-\191]*") do
    if char == "\n" then
      line = line + 1
    end
    if char == "{" then
      depth = depth + 1
      if depth == 1 then
        name = head:match("([%w_]+)%s*%(.*%)%s*$")
        first = head_line
      end
    elseif char == "}" then
      depth = depth - 1
      if depth == 0 and name then
        check_function(path, name, first, line)
      end
      head = ""
    elseif depth == 0 then
      if char == ";" then
        head = ""
      elseif head ~= "" or char:find("%S") then
        if head == "" then
          head_line = line
        end
        head = head .. char
      end
    end
  end
end

local function check_lua_functions(path)
  local listing = lines_of("luac5.4 -l -p " .. path .. " 2>&1")
  for _, entry in ipairs(listing) do
    local first, last = entry:match("^function <.-:(%d+),(%d+)>")
    if first then
      check_function(path, "", tonumber(first), tonumber(last))
    end
  end
end

local have_luac = os.execute("command -v luac5.4 >/dev/null")
local files = lines_of(
  "find src lua spec examples -name '*.[ch]' -o -name '*.lua' 2>/dev/null | LC_ALL=C sort")
for _, path in ipairs(files) do
  local lines = read_lines(path)
  check_lines(path, lines)
  if not path:find("%.lua$") then
    check_c_functions(path, table.concat(lines, "\n"))
  elseif have_luac and not path:find("_spec%.lua$") then
    check_lua_functions(path)
  end
end

for _, complaint in ipairs(complaints) do
  print(complaint)
end
print(string.format("%d files, %d complaints", #files, #complaints))
os.exit(#complaints == 0 and #files > 0)
