-- What functions of the table library do to a list that a kernel's function makes for itself. These
-- are compiled in place of them (src/front/libraries.c), and never run.

local floor = math.floor

-- Leaves the row to Lua where it does not hold: there, the element is absent.
local function need(holds)
  local one = { 0 }
  if not holds then one[1] = nil end
  return one[1] + 0
end

-- Quicksort as in ltablib.c of Lua 5.4, by the same comparisons in the same order; parts that it
-- sorts by calling itself wait in a list. Where a part is less than a 128th, it chooses another
-- pivot, by the clock.
local function sort(list, less)
  local starts, ends, open = { 1 }, { #list }, 1
  while open > 0 do
    local lo, up = starts[open], ends[open]
    open = open - 1
    while lo < up do
      if less(list[up], list[lo]) then list[lo], list[up] = list[up], list[lo] end
      if up - lo == 1 then break end
      local middle = floor((lo + up) / 2)
      if less(list[middle], list[lo]) then
        list[middle], list[lo] = list[lo], list[middle]
      elseif less(list[up], list[middle]) then
        list[middle], list[up] = list[up], list[middle]
      end
      if up - lo == 2 then break end
      local pivot, i, j = list[middle], lo, up - 1
      list[middle], list[j] = list[j], pivot
      while true do
        i = i + 1
        while less(list[i], pivot) do
          need(i ~= up - 1)
          i = i + 1
        end
        j = j - 1
        while less(pivot, list[j]) do
          need(j >= i)
          j = j - 1
        end
        if j < i then break end
        list[i], list[j] = list[j], list[i]
      end
      list[up - 1], list[i] = list[i], list[up - 1]
      open = open + 1
      if i - lo < up - i then
        need(up - i - 1 < 128 * (i - lo + 1))
        starts[open], ends[open] = i + 1, up
        up = i - 1
      else
        need(i - 1 - lo < 128 * (up - i + 1))
        starts[open], ends[open] = lo, i - 1
        lo = i + 1
      end
    end
  end
end

local lists = { sort = sort }

local function less(a, b) return a < b end

function lists.order(list)
  sort(list, less)
end

function lists.insert(list, at, value)
  local count = #list
  need(at >= 1 and at <= count + 1)
  for i = count, at, -1 do list[i + 1] = list[i] end
  list[at] = value
end

function lists.pop(list)
  local count = #list
  if count == 0 then return nil end
  local last = list[count]
  list[count] = nil
  return last
end

function lists.remove(list, at)
  local count = #list
  if at == count + 1 then return nil end
  need(at >= 1 and at <= count)
  local gone = list[at]
  for i = at, count - 1 do list[i] = list[i + 1] end
  list[count] = nil
  return gone
end

return lists
