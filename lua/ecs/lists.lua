-- Functions of the table library for lists that a kernel's function makes for itself. They are
-- compiled in place of the library's own (src/front/libraries.c), and never run.

local floor = math.floor

-- Leaves the row to Lua unless a condition holds: the element is then absent.
local function need(holds)
  local one = { 0 }
  if not holds then one[1] = nil end
  return one[1] + 0
end

-- Quicksort as in Lua 5.4's ltablib.c: the same comparisons in the same order, of values read at
-- the same time. Parts that ltablib.c sorts recursively wait in a list. A row with a part smaller
-- than a 128th is left to Lua, which then chooses pivots by the clock.

-- Moves the pivot, at up - 1, between the elements that are less and the others. Returns its place.
local function partition(list, less, lo, up, pivot)
  local i, j = lo, up - 1
  while true do
    i = i + 1
    local low = list[i]
    while less(low, pivot) do
      need(i ~= up - 1)
      i = i + 1
      low = list[i]
    end
    j = j - 1
    local high = list[j]
    while less(pivot, high) do
      need(j >= i)
      j = j - 1
      high = list[j]
    end
    if j < i then
      list[up - 1], list[i] = low, pivot
      return i
    end
    list[i], list[j] = high, low
  end
end

local function sort(list, less)
  local starts, ends, open = { 1 }, { #list }, 1
  while open > 0 do
    local lo, up = starts[open], ends[open]
    open = open - 1
    while lo < up do
      local first, last = list[lo], list[up]
      if less(last, first) then list[lo], list[up] = last, first end
      if up - lo == 1 then break end
      local middle = floor((lo + up) / 2)
      local pivot = list[middle]
      first = list[lo]
      if less(pivot, first) then
        list[middle], list[lo] = first, pivot
      else
        last = list[up]
        if less(last, pivot) then list[middle], list[up] = last, pivot end
      end
      if up - lo == 2 then break end
      pivot = list[middle]
      list[middle], list[up - 1] = list[up - 1], pivot
      local at = partition(list, less, lo, up, pivot)
      open = open + 1
      if at - lo < up - at then
        need(up - at - 1 < 128 * (at - lo + 1))
        starts[open], ends[open] = at + 1, up
        up = at - 1
      else
        need(at - 1 - lo < 128 * (up - at + 1))
        starts[open], ends[open] = lo, at - 1
        lo = at + 1
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

-- In this function, elements are not checked for existence.
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
