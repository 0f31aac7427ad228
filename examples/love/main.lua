-- Lantern: ten thousand moths, one SpriteBatch. The lantern follows the mouse or the arrow keys;
-- the moths that reach it are caught. Edit and save scripts/moths.lua while the game runs.
--
--   love examples/love [--frames N] [--shot FILE.png]     the last two are for tests

local ecs = require "ecs"
local live = require "ecs.live"

local world, session, sight, batch, problem
local frames, shot, frame = nil, nil, 0
local xs, ys, size, warm = {}, {}, {}, {}

-- A soft round spot, so that the game needs no file.
local function spot()
  local data = love.image.newImageData(16, 16)
  data:mapPixel(function(x, y)
    local far = math.sqrt((x - 7.5) ^ 2 + (y - 7.5) ^ 2) / 8
    return 1, 1, 1, math.max(0, 1 - far) ^ 1.5
  end)
  return love.graphics.newImage(data)
end

local function read_arguments(list)
  for i, word in ipairs(list) do
    if word == "--frames" then
      frames = tonumber(list[i + 1])
    elseif word == "--shot" then
      shot = list[i + 1]
    end
  end
end

function love.load(list)
  read_arguments(list)
  world = ecs.world { seed = 7 }
  world:resource("Lantern", { "x: f32 = 480", "y: f32 = 270", "caught: i32" })
  world:resource("Field", { "width: f32 = 960", "height: f32 = 540" })
  world:component("Sight", { "size: f32 = 0.4", "warm: f32" })
  session = live.open(world, "scripts", { on_error = function(message)
    problem = tostring(message)
    print(problem)
  end })
  sight = world:query "Position:in, Sight:in"
  batch = love.graphics.newSpriteBatch(spot(), 20000, "stream")
end

-- What is pressed, as the world has it.
local function steer(dt)
  local lantern, down = world:res "Lantern", love.keyboard.isDown
  local x = (down "right" and 1 or 0) - (down "left" and 1 or 0)
  local y = (down "down" and 1 or 0) - (down "up" and 1 or 0)
  lantern.x, lantern.y = lantern.x + 400 * dt * x, lantern.y + 400 * dt * y
end

function love.mousemoved(x, y)
  local lantern = world:res "Lantern"
  lantern.x, lantern.y = x, y
end

function love.keypressed(key)
  if key == "escape" then
    love.event.quit()
  end
end

function love.update(dt)
  if session:poll() then
    problem = nil
  end
  dt = math.min(frames and 1 / 60 or dt, 0.1)
  steer(dt)
  world:update(dt)
end

-- All rows of a table come as columns: one call of C for each.
local function draw_moths()
  batch:clear()
  for chunk in sight:chunks() do
    chunk:column "Position.x":read(xs)
    chunk:column "Position.y":read(ys)
    chunk:column "Sight.size":read(size)
    chunk:column "Sight.warm":read(warm)
    for i = 1, chunk.n do
      local w = warm[i]
      batch:setColor(0.45 + 0.55 * w, 0.6 + 0.2 * w, 1 - 0.7 * w, 0.8)
      batch:add(xs[i], ys[i], 0, size[i], size[i], 8, 8)
    end
  end
  love.graphics.draw(batch)
end

function love.draw()
  local lantern = world:res "Lantern"
  love.graphics.setBlendMode "add"
  love.graphics.setColor(1, 1, 1)
  draw_moths()
  love.graphics.setColor(1, 0.8, 0.3, 0.25)
  love.graphics.circle("fill", lantern.x, lantern.y, 26)
  love.graphics.setBlendMode "alpha"
  love.graphics.setColor(1, 1, 1)
  love.graphics.print(("%d moths, %d caught, %d frames a second"):format(sight:count(),
    lantern.caught, love.timer.getFPS()), 8, 8)
  if problem then
    love.graphics.printf(problem, 8, 28, love.graphics.getWidth() - 16)
  end
  frame = frame + 1
  if frame == frames then
    if shot then
      love.graphics.captureScreenshot(function(image)
        local file = assert(io.open(shot, "wb"))
        file:write(image:encode("png"):getString())
        file:close()
      end)
    end
    print(("%d moths, %d caught, digest %s"):format(sight:count(), lantern.caught,
      world:digest "text"))
  elseif frames and frame > frames then
    love.event.quit(problem and 1 or 0)
  end
end
