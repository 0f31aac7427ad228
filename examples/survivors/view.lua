-- What is around the player, on a canvas: a step of the world is a pixel.

local canvas = require "canvas"

local view = {}
view.__index = view

local MARGIN = 16    -- between the marks on the ground, by which one sees the player move

-- Those made of a prefab, or of a query; `light` is what one of them adds to the red, green and
-- blue of its place.
local kinds = {
  { name = "bats", of = "Bat", light = { 0, 5, 12 }, ink = 39 },
  { name = "ghouls", of = "Ghoul", light = { 3, 20, 0 }, ink = 70 },
  { name = "brutes", of = "Brute", light = { 30, 0, 30 }, ink = 163 },
  { name = "gems", of = "Gem", light = { 6, 6, 0 }, ink = 184 },
  { name = "bullets", query = "Position:in, Bullet", light = { 64, 40, 12 }, ink = 222 },
  { name = "hearts", of = "Heart", mark = "♥", ink = 203 },
  { name = "warlords", query = "Position:in, Chief", mark = "W", ink = 213 },
}

-- A view of so many characters.
function view.new(world, columns, lines)
  local self = setmetatable({ columns = columns, lines = lines, queries = {} }, view)
  for i, kind in ipairs(kinds) do
    self.queries[i] = kind.of
      and world:query("Position:in, (IsA, $kind)", { kind = world:lookup(kind.of) })
      or world:query(kind.query)
  end
  self.hero = world:res "Hero"
  self.picture = canvas.new({
    width = columns, height = 2 * lines, wall = {}, fire = {}, cell = function() return 0 end,
  }, columns, lines)
  return self
end

-- Marks a place of the picture, when it is on it.
local function mark(self, x, y, text, ink)
  if x >= 0 and x < self.columns and y >= 0 and y < 2 * self.lines then
    self.picture:mark(x, y, text, ink)
  end
end

local function draw_ground(self, left, top)
  for y = -(top // 1) % MARGIN, 2 * self.lines, MARGIN do
    for x = -(left // 1) % MARGIN, self.columns, MARGIN do
      mark(self, x, y, "·", 240)
    end
  end
end

local xs, ys = {}, {}

local function draw_kind(self, kind, query, left, top)
  for chunk in query:chunks() do
    chunk:column("Position.x"):read(xs)
    chunk:column("Position.y"):read(ys)
    for i = 1, chunk.n do
      xs[i], ys[i] = xs[i] - left, ys[i] - top
      if kind.mark then
        mark(self, xs[i], ys[i], kind.mark, kind.ink)
      end
    end
    if kind.light then
      self.picture:add(xs, ys, chunk.n, kind.light)
    end
  end
end

function view:draw()
  local left, top = self.hero.x - self.columns / 2, self.hero.y - self.lines
  self.picture:clear()
  draw_ground(self, left, top)
  for i, kind in ipairs(kinds) do
    draw_kind(self, kind, self.queries[i], left, top)
  end
  mark(self, self.columns / 2, self.lines, "@", 196)
  return self.picture
end

-- How many there are of each kind, as pieces { text, ink } of a line.
function view:legend()
  local pieces = { { " " } }
  for i, kind in ipairs(kinds) do
    pieces[#pieces + 1] = {
      ("%s %s %d  "):format(kind.mark or "■", kind.name, self.queries[i]:count()), kind.ink,
    }
  end
  return pieces
end

-- How the player fares, as a text.
function view:title()
  local hero = self.hero
  return ("level %d  %.0f hp  %d slain  %d falls"):format(hero.level, hero.hp, hero.kills,
    hero.falls)
end

return view
