-- The rules of the game. Save this file while the game runs: it goes on with the new rules.

local world, script = ...

local MOTHS = 10000
local SEES, PULL, SPEED = 140, 900, 60     -- how far a moth sees the light, and what that does
local REACH = 14                           -- of the lantern

local lantern, field = world:res "Lantern", world:res "Field"

world:component("Position", { "x: f32", "y: f32" })
world:component("Velocity", { "x: f32", "y: f32" })
local near = world:index("near", {
  query = "Position:in, with Velocity", grid = "Position", cell = 32,
})

-- A moth begins anywhere.
local function place(moth)
  local angle = 2 * math.pi * world:random(moth)
  world:set(moth, "Position", field.width * world:random(moth), field.height * world:random(moth))
  world:set(moth, "Velocity", SPEED * math.cos(angle), SPEED * math.sin(angle))
end

script:on_load(function()
  for _ = 1, MOTHS do
    local moth = world:spawn { Position = {}, Velocity = {}, Sight = {} }
    world:set(moth, "Sight.size", 0.25 + 0.3 * world:random(moth))
    place(moth)
  end
end)

world:system("see", {
  query = "Position.x:in, Position.y:in, Velocity.x, Velocity.y, Sight.warm",
  map = function(x, y, vx, vy, warm, dt)
    local dx, dy = lantern.x - x, lantern.y - y
    local far = math.sqrt(dx * dx + dy * dy) + 1
    if far > SEES then
      return nil, nil, vx, vy, math.max(0, warm - dt)
    end
    local pull = PULL * (1 - far / SEES) * dt / far
    vx, vy = vx + (dx - dy) * pull, vy + (dy + dx) * pull
    return nil, nil, vx, vy, math.min(1, warm + 3 * dt)
  end,
})

world:system("slow", {
  after = "see", query = "Velocity.x, Velocity.y",
  map = function(x, y, dt)
    local fast = math.sqrt(x * x + y * y)
    local keep = fast > SPEED and 1 - 2 * dt * (1 - SPEED / fast) or 1
    return x * keep, y * keep
  end,
})

world:system("fly", {
  after = "slow", query = "Position.x, Position.y, Velocity.x:in, Velocity.y:in",
  map = function(x, y, vx, vy, dt)
    return (x + vx * dt) % field.width, (y + vy * dt) % field.height
  end,
})

-- The nearest moth is caught, and another one comes: one in each update.
world:system("catch", {
  after = "fly",
  run = function()
    local moth = near:nearest(lantern.x, lantern.y, REACH)
    if moth then
      lantern.caught = lantern.caught + 1
      place(moth)
    end
  end,
})
