-- Runs all benchmarks and prints one table; `make bench` sets up the paths. With JSON=file in
-- the environment it is written down, too.
--
-- Every row has: workload, n, ns (per row of the work), floor (ns, or nil), target, and kind:
-- "ratio" (ns over the floor's is at most the target), "ns" and "bytes" (the number itself is),
-- "note" (a ratio without a verdict).

local rows = {}

local function add(row)
  rows[#rows + 1] = row
  local is_ratio = row.kind == "ratio" or row.kind == "note"
  row.value = is_ratio and row.ns / row.floor or row.ns
  if row.kind ~= "note" then
    row.met = row.value <= row.target
  end
end

-- ---- programs in C ------------------------------------------------------------------

local LINE = "^([^\t]+)\t(%d+)\t(%S+)\t(%S+)\t(%S+)\t(%a+)$"

local function run_program(name)
  local pipe = assert(io.popen(os.getenv("ECS_BENCH") .. "/" .. name))
  for line in pipe:lines() do
    local workload, n, ns, floor, target, kind = line:match(LINE)
    assert(workload, "cannot read: " .. line)
    add({ workload = workload, n = math.tointeger(n), ns = tonumber(ns),
          floor = tonumber(floor), target = tonumber(target), kind = kind })
  end
  assert(pipe:close(), name .. " failed")
end

-- ---- the table ------------------------------------------------------------------------

local function count(n)
  local text = tostring(n)
  repeat
    local changed
    text, changed = text:gsub("^(%d+)(%d%d%d)", "%1,%2")
  until changed == 0
  return text
end

local function number(value)
  return value and string.format(value < 100 and "%.2f" or "%.0f", value) or ""
end

local UNIT = { ratio = " x", note = " x", ns = " ns", bytes = " B" }
local FORMAT = "%-54s %9s %10s %10s %8s %10s  %s\n"

local function heading(text)
  io.write("\n", text, "\n\n")
  io.write(FORMAT:format("workload", "N", "ns a row", "floor", "ratio", "target", "verdict"))
end

local function verdict(row)
  if row.met == nil then
    return "(memory)"
  end
  return row.met and "met" or "missed"
end

local function show(first)
  for i = first, #rows do
    local row = rows[i]
    local is_ratio = row.kind == "ratio" or row.kind == "note"
    io.write(FORMAT:format(row.workload, count(row.n),
      number(row.ns) .. (row.kind == "bytes" and " B" or ""), number(row.floor),
      is_ratio and number(row.value) or "",
      row.met == nil and "" or "<= " .. string.format("%g", row.target) .. UNIT[row.kind],
      verdict(row)))
  end
end

local function section(title, run)
  local first = #rows + 1
  heading(title)
  run()
  show(first)
  for i = first, #rows do
    rows[i].section = title
  end
end

-- ---- JSON -----------------------------------------------------------------------------

local function quote(text)
  return '"' .. text:gsub('[%c"\\]', function(c)
    return string.format("\\u%04x", c:byte())
  end) .. '"'
end

local KEYS = { "section", "workload", "n", "ns", "floor", "value", "target", "kind", "met" }

local function object(row)
  local fields = {}
  for _, key in ipairs(KEYS) do
    local value = row[key]
    if value ~= nil then
      local text = type(value) == "string" and quote(value) or tostring(value)
      fields[#fields + 1] = quote(key) .. ": " .. text
    end
  end
  return "  {" .. table.concat(fields, ", ") .. "}"
end

local function write_json(path)
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = object(row)
  end
  local file = assert(io.open(path, "w"))
  file:write("[\n", table.concat(lines, ",\n"), "\n]\n")
  file:close()
end

section("Structure, from C", function() run_program("bench_structure") end)
section("Structure, from Lua", function() require("structure")(add) end)
section("Loops", function()
  require("loops")(add)
  run_program("bench_systems")
end)
section("Live worlds", function()
  run_program("bench_images")
  require("live")(add)
end)
section("Growth: near -> far end; the floor is the near end, grown as the hand-written code",
  function() run_program("bench_growth") end)

local met, judged = 0, 0
for _, row in ipairs(rows) do
  met = met + (row.met and 1 or 0)
  judged = judged + (row.met ~= nil and 1 or 0)
end
io.write(string.format("\n%d of %d targets met\n", met, judged))

local path = os.getenv("JSON")
if path and path ~= "" then
  write_json(path)
end
