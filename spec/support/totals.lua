--- What q:sum, q:min and q:max are to come to, told once more: of lists of numbers, one for each
--- table, in the order of rows.

local M = {}

local LEAF = 1024

-- Sixteen partial sums of a leaf's rows, added pairwise.
local function leaf_sum(values, first)
  local parts = {}
  for j = 0, 15 do parts[j] = 0.0 end
  for row = first, math.min(first + LEAF, #values + 1) - 1 do
    local part = (row - 1) % 16
    parts[part] = parts[part] + values[row]
  end
  for _, half in ipairs { 8, 4, 2, 1 } do
    for j = 0, half - 1 do parts[j] = parts[j] + parts[j + half] end
  end
  return parts[0]
end

local function float_sum(tables)
  local total
  for _, values in ipairs(tables) do
    local sum, last = 0.0, nil
    for first = 1, #values, LEAF do
      if last then sum = sum + last end
      last = leaf_sum(values, first)
    end
    if last then total = total and total + (last + sum) or last + sum end
  end
  return total
end

function M.sum(tables)
  local sum, integers = 0, true
  for _, values in ipairs(tables) do
    for _, value in ipairs(values) do
      integers = integers and math.type(value) == "integer"
      if integers then sum = sum + value end
    end
  end
  return integers and sum or float_sum(tables)
end

-- Of two floats -0.0 is less than 0.0; else Lua compares.
local function is_less(x, y)
  local zeros = x == 0 and y == 0 and math.type(x) == "float" and math.type(y) == "float"
  if zeros then return 1 / x < 1 / y end
  return x < y
end

-- The first number than which none is less; of numbers that are all NaN the first.
local function least(tables, less)
  local best = {}
  for _, values in ipairs(tables) do
    for _, value in ipairs(values) do
      local kind = value ~= value and "nan" or math.type(value)
      if best[kind] == nil or less(value, best[kind]) then best[kind] = value end
    end
  end
  for _, values in ipairs(tables) do
    for _, value in ipairs(values) do
      local number = value == value
      local beaten = best.integer and less(best.integer, value)
        or best.float and less(best.float, value)
      if number and not beaten then return value end
    end
  end
  return best.nan
end

function M.min(tables) return least(tables, is_less) end
function M.max(tables) return least(tables, function(x, y) return is_less(y, x) end) end

return M
