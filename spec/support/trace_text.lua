-- Traces as Lua text that runs them again.

local text = {}

local function number(value)
  if value ~= value then
    return "0 / 0"
  elseif value == math.huge or value == -math.huge then
    return value > 0 and "math.huge" or "-math.huge"
  elseif value == math.mininteger then
    return "math.mininteger"
  end
  local short = ("%.14g"):format(value)
  if math.type(value) == "float" then
    short = tonumber(short) == value and short or ("%.17g"):format(value)
    return short:find("[.e]") and short or short .. ".0"
  end
  return tostring(value)
end

local function key(value)
  if type(value) == "string" and value:match("^[%a_][%w_]*$") then
    return value .. " = "
  end
  return "[" .. text.literal(value) .. "] = "
end

local function by_kind(a, b)
  if type(a) == type(b) then
    return a < b
  end
  return type(a) < type(b)
end

-- A value of a trace as a Lua expression.
function text.literal(value)
  if type(value) == "number" then
    return number(value)
  elseif type(value) ~= "table" then
    return (("%q"):format(value):gsub("\n", "n"))
  end
  local parts, keys = {}, {}
  for i, part in ipairs(value) do
    parts[i] = text.literal(part)
  end
  local count = #parts
  for k in pairs(value) do
    if math.type(k) ~= "integer" or k < 1 or k > count then
      keys[#keys + 1] = k
    end
  end
  table.sort(keys, by_kind)
  for _, k in ipairs(keys) do
    parts[#parts + 1] = key(k) .. text.literal(value[k])
  end
  return #parts > 0 and "{ " .. table.concat(parts, ", ") .. " }" or "{}"
end

-- A script that runs the trace again and prints what it finds.
function text.script(trace, tag, comment)
  local lines = {
    "-- " .. comment:gsub("\n", "\n-- "),
    'local runner = require "spec.support.runner"',
    "print(runner.report(runner.replay({",
  }
  for _, step in ipairs(trace) do
    lines[#lines + 1] = "  " .. text.literal(step) .. ","
  end
  lines[#lines + 1] = ("}, { tag = %d })))"):format(tag)
  return table.concat(lines, "\n")
end

return text
