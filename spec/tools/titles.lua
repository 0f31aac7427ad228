-- Titles of specs cite capabilities by code, C1 to C87: one that there is not is a slip, as is a
-- capability that the tree has and that no title cites any more. Titles are the texts given to
-- `describe` and `it`, to begin or end a C test, and those of its table of tests.

local LAST = 87

-- What is still to be built; a code leaves this list when a title cites it.
local TO_COME = {}

local complaints = {}

local function complain(...)
  complaints[#complaints + 1] = string.format(...)
end

local function read_file(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local patterns = {
  lua = { "%f[%w_]it%s*%(*(\"[^\"]*\")", "%f[%w_]describe%s*%(*(\"[^\"]*\")" },
  c = { "{%s*(\"[^\"]*\"),", "{%s*\"%w+\", %d+, (\"[^\"]*\")", "end_test%s*%(%s*(\"[^\"]*\")" },
}

local function cited_in(path, cited)
  local text = read_file(path)
  for _, pattern in ipairs(patterns[path:match "%.(%a+)$"]) do
    for title in text:gmatch(pattern) do
      for digits in title:gmatch "%f[%w_]C(%d+)%f[^%w_]" do
        local code = tonumber(digits)
        if code < 1 or code > LAST then
          complain("%s: there is no capability C%d: %s", path, code, title)
        end
        cited[code] = true
      end
    end
  end
end

local cited, files = {}, 0
local TESTS = "find spec -name '*_spec.lua' -o -name 'test_*.c' -o -name cost.c"
local pipe = assert(io.popen(TESTS .. " | LC_ALL=C sort"))
for path in pipe:lines() do
  cited_in(path, cited)
  files = files + 1
end
pipe:close()

local to_come = {}
for _, code in ipairs(TO_COME) do
  to_come[code] = true
end
for code = 1, LAST do
  if not cited[code] and not to_come[code] then
    complain("no title cites C%d", code)
  elseif cited[code] and to_come[code] then
    complain("C%d is cited: take it from the list of what is still to be built", code)
  end
end

for _, complaint in ipairs(complaints) do
  print(complaint)
end
print(string.format("%d files, %d complaints", files, #complaints))
os.exit(#complaints == 0 and files > 0)
