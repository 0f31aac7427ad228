-- Who moves minds those around it: it keeps its distance, takes up their direction, and stays
-- with them.

local world = ...

local reach, close = 0.6, 0.35            -- cells: who counts, and who is too near
local apart, along, together = 12, 2, 1   -- how much each of the three weighs, per second

local movers = world:index("movers", {
  query = "Position:in, Velocity:in, with Room", grid = "Position", cell = reach,
})

world:system("flock", {
  phase = "physics",
  every = 0.1,
  before = "steer",
  query = "Position:in, Velocity, with Room",
  each = function(position, velocity, dt)
    local n = 0
    local x, y, vx, vy, away_x, away_y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for at, going in movers:within(position.x, position.y, reach) do    -- itself, too
      local dx, dy = position.x - at.x, position.y - at.y
      local distance = math.sqrt(dx * dx + dy * dy)
      local push = math.max(close - distance, 0.0) / (distance + 0.01)
      n, x, y = n + 1, x + dx, y + dy
      vx, vy = vx + going.x, vy + going.y
      away_x, away_y = away_x + dx * push, away_y + dy * push
    end
    if n > 1 then
      velocity.x = velocity.x
        + (apart * away_x / close + along * (vx / n - velocity.x) - together * x / n) * dt
      velocity.y = velocity.y
        + (apart * away_y / close + along * (vy / n - velocity.y) - together * y / n) * dt
    end
  end,
})
