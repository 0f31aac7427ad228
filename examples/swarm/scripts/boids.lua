-- Who moves minds those around it: it keeps its distance, takes up their direction, and stays
-- with them.

local world = ...

local reach, close = 0.6, 0.35            -- cells: who counts, and who is too near
local apart, along, together = 12, 1, 0.8   -- how much each of the three weighs, per second

local movers = world:index("movers", {
  query = "Position:in, Velocity:in, with Room", grid = "Position", cell = reach,
})

world:system("flock", {
  phase = "physics",
  every = 0.1,
  before = "steer",
  query = "Position:in, Velocity, with Room",
  each = function(position, velocity, dt, entity)
    local n = 0
    local x, y, vx, vy, away_x, away_y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for at, going, other in movers:within(position.x, position.y, reach) do
      if other ~= entity then
        local dx, dy = position.x - at.x, position.y - at.y
        local distance = math.sqrt(dx * dx + dy * dy)
        n, x, y, vx, vy = n + 1, x + dx, y + dy, vx + going.x, vy + going.y
        if distance < close then
          local push = (close - distance) / (distance + 0.01)
          away_x, away_y = away_x + dx * push, away_y + dy * push
        end
      end
    end
    if n > 0 then
      velocity.x = velocity.x
        + (apart * away_x / close + along * (vx / n - velocity.x) - together * x / n) * dt
      velocity.y = velocity.y
        + (apart * away_y / close + along * (vy / n - velocity.y) - together * y / n) * dt
    end
  end,
})
