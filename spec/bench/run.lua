-- Runs all benchmarks and prints one table; `make bench` sets up the paths. With JSON=file in
-- the environment it is written down, too; with ONLY=word the sections with that in their
-- titles run.
--
-- Every row has: workload, n, ns (per row of the work), floor (ns, or nil), target, and kind:
-- "ratio" (ns over the floor's is at most the target), "times" (the floor's over ns is at
-- least the target), "ns" and "bytes" (the number itself is), "note" (a ratio without a
-- verdict). Without a target there is no verdict. Some have the tier of their system, too.

local rows = {}

local UNIT = { ratio = " x", times = " x", note = " x", ns = " ns", bytes = " B" }

local function value_of(row)
  if row.kind == "times" then return row.floor / row.ns end
  return UNIT[row.kind] == " x" and row.ns / row.floor or row.ns
end

local function add(row)
  rows[#rows + 1] = row
  row.value = value_of(row)
  if row.kind == "note" or not row.target then return end
  if row.kind == "times" then
    row.met = row.value >= row.target
  else
    row.met = row.value <= row.target
  end
end

-- ---- programs in C ------------------------------------------------------------------

local LINE = "^([^\t]+)\t(%d+)\t(%S+)\t(%S+)\t(%S+)\t(%a+)$"

local function run_program(command)
  local pipe = assert(io.popen(command))
  for line in pipe:lines() do
    local workload, n, ns, floor, target, kind = line:match(LINE)
    assert(workload, "cannot read: " .. line)
    add({ workload = workload, n = math.tointeger(n), ns = tonumber(ns),
          floor = tonumber(floor), target = tonumber(target), kind = kind })
  end
  assert(pipe:close(), command .. " failed")
end

local function compiled(name)
  return os.getenv("ECS_BENCH") .. "/" .. name
end

-- Each instruction set in a process of its own.
local function run_kernels()
  local kernels = require("kernels")
  for _, isa in ipairs(kernels.isas()) do
    run_program(("ECS_ISA=%s %s spec/bench/kernel_loops.lua"):format(isa, arg[-1]))
  end
  kernels.add_costs(add)
  kernels.add_forms(add)
  kernels.add_functions(add)
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

local FORMAT = "%-54s %9s %10s %10s %8s %10s  %s\n"

local function heading(text)
  io.write("\n", text, "\n\n")
  io.write(FORMAT:format("workload", "N", "ns a row", "floor", "ratio", "target", "verdict"))
end

local function verdict(row)
  local word = row.kind == "note" and "(memory)" or ""
  if row.met ~= nil then word = row.met and "met" or "missed" end
  return word .. (row.tier and " (" .. row.tier .. ")" or "")
end

local function show(first)
  for i = first, #rows do
    local row = rows[i]
    local bound = row.kind == "times" and ">= " or "<= "
    io.write(FORMAT:format(row.workload, count(row.n),
      number(row.ns) .. (row.kind == "bytes" and " B" or ""), number(row.floor),
      UNIT[row.kind] == " x" and number(row.value) or "",
      row.met == nil and "" or bound .. string.format("%g", row.target) .. UNIT[row.kind],
      verdict(row)))
  end
end

local only = os.getenv("ONLY") or ""

local function section(title, run)
  if not title:find(only, 1, true) then return end
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

local KEYS = { "section", "workload", "n", "ns", "floor", "value", "target", "kind", "met",
  "tier" }

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

section("Structure, from C", function()
  run_program(compiled("bench_structure"))
  run_program(compiled("bench_values"))
  run_program(compiled("bench_tables"))
end)
section("Structure, from Lua", function() require("structure").add_rows(add) end)
section("Loops", function()
  require("loops")(add)
  run_program(compiled("bench_systems"))
end)
section("Relations, from C", function() run_program(compiled("bench_relations")) end)
section("Relations: kernels over ties", function() require("ties")(add) end)
section("Relations: beside tables, toggles and sparse components", function()
  run_program(compiled("bench_storage"))
  require("toggled")(add)
end)
section("Beyond the row: ns of a row, or of what is spawned or emitted",
  function() require("reach")(add) end)
section("Ordered effects: kernels whose rows see what the rows before them did",
  function() require("ordered")(add) end)
section("Neighbours and indexes", function()
  require("neighbours").add_rows(add)
  run_program(compiled("bench_indexes"))
  require("changes")(add)
end)
section("Threads: the floor is one thread, what is measured is two; ratios are the floor over ns",
  function() require("threads")(add) end)
section("Live worlds", function()
  run_program(compiled("bench_images"))
  require("reloads")(add)
end)
section("Kernels: the floor is a fused loop in C, or what is beside; ratios are the floor over ns",
  run_kernels)
section("Growth: near -> far end; the floor is the near end, grown as the hand-written code",
  function() run_program(compiled("bench_growth")) end)

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
