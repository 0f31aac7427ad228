-- No loop assigns to its control variable, which Lua 5.5 refuses: each file compiles when that
-- is a constant. `lua5.4 spec/tools/loop_variables.lua FILE...` prints where one does.

local HEADS = {
  "(%f[%w_]for ([%a_][%w_]*) =.-%f[%w_]do)%f[^%w_]",
  "(%f[%w_]for ([%a_][%w_]*)[%w_, ]- in .-%f[%w_]do)%f[^%w_]",
}

-- Compiles the file with its loops' control variables made constants; the lines stay. A comment
-- could have the words of a loop's head.
local function compile(path)
  local file = assert(io.open(path))
  local text = ("\n" .. file:read "a"):gsub("\n[ \t]*%-%-[^\n]*", "\n"):sub(2)
  file:close()
  for _, head in ipairs(HEADS) do
    text = text:gsub(head, "%1 local %2 <const> = %2;")
  end
  return load(text, "=" .. path)
end

local good = #arg > 0
for _, path in ipairs(arg) do
  local works, message = compile(path)
  if not works then
    print(message)
    good = false
  end
end
os.exit(good)
