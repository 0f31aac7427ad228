-- Entity ids of the model: which are alive, which comes next, and what is wrong with a number
-- that is not alive.

local ids = {}

local FIRST = 65536
local LAST = (1 << 28) - 1
local LAST_GENERATION = 65535

local Ids = {}
Ids.__index = Ids

ids.FIRST = FIRST

function ids.pack(index, generation, tag)
  return index | generation << 28 | tag << 44
end

function ids.index(id)
  return id & LAST
end

function ids.generation(id)
  return id >> 28 & 0xFFFF
end

function ids.tag(id)
  return id >> 44 & 0xFF
end

-- Ids of a tag with indices from first to last, those of entities by default.
function ids.new(tag, first, last)
  return setmetatable({
    tag = tag,
    first = first or FIRST,
    last = last or LAST,
    fresh = first or FIRST,   -- below it, in the range, no index is unborn
    born = {},                -- index -> generation of its life now, or of the next one
    living = {},              -- index -> true
    free = {},                -- dead indices, the latest last
    retired = {},             -- index -> true
    groups = {},              -- index -> what it shares with those that were freed with it, in
                              -- an order that is not known
    taken = {},               -- the ids that another world took meanwhile, in their order
    count = 0,
  }, Ids)
end

-- nil when alive, else "dead", "unborn", "foreign" or "none".
function Ids:fault(value)
  if math.type(value) == "integer" then
    local index = value & LAST
    if self.living[index] and value == index | self.born[index] << 28 | self.tag << 44 then
      return nil
    end
  end
  local id = math.type(value) == "float" and math.tointeger(value) or value
  if math.type(id) ~= "integer" or id <= 0 or id >> 52 ~= 0 then
    return "none"
  end
  local index, generation = id & LAST, id >> 28 & 0xFFFF
  if index < FIRST then
    return "none"
  end
  local tag = id >> 44
  if tag ~= self.tag then
    return tag == 0 and "none" or "foreign"
  end
  local now = self.born[index]
  if self.retired[index] then
    return "dead"
  elseif not now or generation > now then
    return "unborn"
  elseif generation < now then
    return "dead"
  elseif not self.living[index] then
    return "unborn"
  end
end

-- The id of an index in its present life, or in its next one when it is dead.
function Ids:current(index)
  return ids.pack(index, self.born[index] or 0, self.tag)
end

function Ids:live(index)
  self.born[index] = self.born[index] or 0
  self.living[index] = true
  self.groups[index] = nil
  self.count = self.count + 1
  return self:current(index)
end

-- Which of a group comes first, as the other world says.
function Ids:pick(index)
  local group = self.groups[index]
  for _, id in ipairs(group and self.taken or {}) do
    local other = id & LAST
    local free = other >= self.first and other <= self.last and not self.living[other]
    if self.groups[other] == group and free then
      return other
    end
  end
  return index
end

function Ids:leave_free(index)
  for at = #self.free, 1, -1 do
    if self.free[at] == index then
      table.remove(self.free, at)
      return
    end
  end
end

-- The next id, alive: the index freed last, else the lowest unborn one of the range.
function Ids:take()
  for i = #self.free, 1, -1 do
    local index = self.free[i]
    if index >= self.first and index <= self.last then
      index = self:pick(index)
      self:leave_free(index)
      return self:live(index)
    end
  end
  while self.born[self.fresh] do
    self.fresh = self.fresh + 1
  end
  if self.fresh > self.last then
    error("no entity ids are left", 0)
  end
  return self:live(self.fresh)
end

-- An error unless so many can be taken.
function Ids:need(count)
  local room = self.last - self.first + 1
  for _, taken in ipairs { self.living, self.retired } do
    for index in pairs(taken) do
      room = room - (index >= self.first and index <= self.last and 1 or 0)
    end
  end
  if count > room then
    error("no entity ids are left", 0)
  end
end

-- Makes an id alive that was decided elsewhere.
function Ids:adopt(id)
  local index, generation = ids.index(id), ids.generation(id)
  local now = self.born[index]
  if index < FIRST or ids.tag(id) ~= self.tag or id >> 52 ~= 0 then
    error("the id cannot be adopted", 0)
  elseif self.retired[index] then
    error("the slot is retired", 0)
  elseif self.living[index] then
    error("the slot is taken", 0)
  elseif now and generation < now then
    error("the id is dead", 0)
  end
  self:leave_free(index)
  self.born[index] = generation
  return self:live(index)
end

-- Ends a life; with a `group` in an unknown order among all of that.
function Ids:release(id, group)
  local index = ids.index(id)
  self.living[index] = nil
  self.count = self.count - 1
  if ids.generation(id) == LAST_GENERATION then
    self.retired[index] = true
    return
  end
  self.born[index] = self.born[index] + 1
  self.groups[index] = group
  self.free[#self.free + 1] = index
end

local function descending(a, b)
  return a > b
end

-- Spawns take from first to last from now on; of what is dead in there the lowest first.
function Ids:set_range(first, last)
  if first < FIRST or last > LAST or first > last then
    error("not a range of entity indices", 0)
  end
  self.first, self.last, self.fresh = first, last, first
  table.sort(self.free, descending)
  self.groups = {}
end

-- Gives the retired indices back, the lowest to be taken first. Returns how many.
function Ids:recycle()
  local indices = {}
  for index in pairs(self.retired) do
    indices[#indices + 1] = index
  end
  table.sort(indices, descending)
  for _, index in ipairs(indices) do
    self.retired[index] = nil
    self.born[index] = 0
    self.free[#self.free + 1] = index
  end
  return #indices
end

return ids
