-- Observers in random runs: who enters and leaves a query says at any time who matches. They look
-- at what they are given and change nothing, so that the run is what it is without them.

local rng_new = require("spec.support.rng").new

local observing = {}
observing.__index = observing

-- Steps after which the world is another one, of which observers hear nothing.
local SILENT = {
  declare = true, forget = true, load = true, relation = true, restore = true, tag = true,
  undeclare = true,
}

function observing.new(seed)
  return setmetatable({ rng = rng_new(seed), watched = {}, calls = 0, turn = 0 }, observing)
end

local function matching(world, text)
  local ids = {}
  for _, id in ipairs(world:query(text):ids()) do
    ids[id] = true
  end
  return ids
end

-- Reads whatever a view has.
local function look(...)
  for i = 1, select("#", ...) do
    tostring((select(i, ...)))
  end
end

-- Observers of all kinds of one query; those whose query cannot be watched so are left out.
local function watch(self, world, name, text)
  local watched = { text = text, ids = matching(world, text) }
  self.watched[name] = watched
  for _, on in ipairs { "exit", "enter" } do
    world:observer(name .. on, { on = on, query = text, each = function(...)
      self.calls = self.calls + 1
      look(...)
      local id = select(-1, ...)
      local enters = on == "enter"
      if self.watched[name] == watched and (watched.ids[id] or false) == enters then
        self.wrong = ("%s of '%s' is called for %d twice"):format(on, text, id)
      end
      watched.ids[id] = enters or nil
    end })
  end
  for _, on in ipairs { "add", "set", "remove", "despawn" } do
    pcall(world.observer, world, name .. on, { on = on, query = text, each = function(...)
      self.calls = self.calls + 1
      look(...)
      local alive = world:alive((select(-1, ...)))
      if on == "despawn" and alive or on ~= "despawn" and on ~= "remove" and not alive then
        self.wrong = ("%s of '%s' is called for who is %s"):format(on, text,
          alive and "alive" or "dead")
      end
    end })
  end
end

local FORMS = { "%s", "%s, !%s", "%s, %s?", "%s|%s", "%s, %s" }

local function register(self, world, names)
  local one, two = self.rng:pick(names), self.rng:pick(names)
  local form = one == two and "%s" or self.rng:pick(FORMS)
  pcall(watch, self, world, "watch" .. self.rng:range(1, 3), form:format(one, two))
end

-- Whether what observers have heard so far is what matches.
local function compare(world, watched)
  local now = matching(world, watched.text)
  for id in pairs(now) do
    if not watched.ids[id] then
      return ("nobody has heard that %d has entered '%s'"):format(id, watched.text)
    end
  end
  for id in pairs(watched.ids) do
    if not now[id] then
      return ("nobody has heard that %d has left '%s'"):format(id, watched.text)
    end
  end
end

local function heard(self, world, silent)
  for name, watched in pairs(self.watched) do
    local ok, difference = pcall(compare, world, watched)
    if not ok then
      self.watched[name] = nil   -- what it names is called otherwise now
    elseif silent then
      watched.ids = matching(world, watched.text)
    elseif difference then
      return difference
    end
  end
end

-- After a step in the world: what is wrong, or nil. `names` are the components that queries may
-- name; none while a scope is open, as whoever registers then hears of what comes behind it.
function observing:after(world, step, names)
  if step[1] == "undeclare" then
    self.watched = {}          -- who names what is undeclared is called for nothing from then on
  end
  local difference = self.wrong or heard(self, world, SILENT[step[1]])
  self.turn = self.turn + 1
  if not difference and self.turn % 20 == 1 and #names > 0 then
    register(self, world, names)
  end
  return difference
end

return observing
