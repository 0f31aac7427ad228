-- The horde: it makes for the player, and nobody stands where another does.

local world = ...

local ROOM = 1.0                     -- what each takes
local shove, pull = 300, 3           -- how fast they make way, and turn
local hero = world:res "Hero"

local crowd = world:index("crowd", {
  query = "Position:in, with Enemy", grid = "Position", cell = 1.5 * ROOM,
})

world:system("walk", {
  phase = "pre_update", query = "Position, Velocity:in, !Bullet",
  each = function(p, v, dt)
    p.x, p.y = p.x + v.x * dt, p.y + v.y * dt
  end,
})

world:system("home", {
  query = "Position:in, Velocity, Enemy:in",
  each = function(p, v, enemy, dt)
    local dx, dy = hero.x - p.x, hero.y - p.y
    local speed = enemy.speed / math.max(math.sqrt(dx * dx + dy * dy), 0.1)
    v.x = v.x + (dx * speed - v.x) * pull * dt
    v.y = v.y + (dy * speed - v.y) * pull * dt
  end,
})

world:system("push", {
  after = "home", query = "Position:in, Velocity, with Enemy",
  each = function(p, v, dt)
    local x, y = 0.0, 0.0
    for q in crowd:within(p.x, p.y, ROOM) do
      local dx, dy = p.x - q.x, p.y - q.y
      local distance = math.sqrt(dx * dx + dy * dy)
      local force = (ROOM - distance) / math.max(distance, 1e-9)    -- none of its own
      x, y = x + dx * force, y + dy * force
    end
    v.x, v.y = v.x + x * shove * dt, v.y + y * shove * dt
  end,
})

world:system("bite", {
  after = "push", query = "Position:in, Enemy:in",
  each = function(p, enemy, dt)
    local dx, dy = hero.x - p.x, hero.y - p.y
    if dx * dx + dy * dy < 1.5 then
      hero.hp = hero.hp - enemy.bite * dt
    end
  end,
})
