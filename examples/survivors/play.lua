-- In a terminal: the game thirty times a second, until someone quits.

local terminal = require "terminal"
local view = require "view"

local play = {}

local FRAME = 1 / 30
local BELOW = 2                        -- lines of text under the picture
local LEAST_COLUMNS, LEAST_ROWS = 20, 8

local BRIGHT, DIM, ALARM = 231, 243, 203

local WAYS = { w = { 0, -1 }, a = { -1, 0 }, s = { 0, 1 }, d = { 1, 0 }, [" "] = { 0, 0 } }

-- Keys that steer take the player away from the pilot; `p` gives it back.
local function take_keys(world, state)
  local input = world:res "Input"
  for key in terminal.key do
    if WAYS[key] then
      input.auto, input.x, input.y = false, WAYS[key][1], WAYS[key][2]
    elseif key == "p" then
      input.auto = true
    elseif key == "q" or key == "\4" then
      state.quit = true
    end
  end
end

-- Shows what is wrong. Ctrl-C is an error, too.
local function complain(state, problem)
  state.problem = problem:match "[^\n]*"
  state.quit = state.quit or terminal.is_interrupt(problem)
end

local function follow(state)
  local swapped, problem = state.session:poll()
  if swapped then
    state.problem = nil
  end
  if problem then
    complain(state, problem)
  end
end

-- Follows the size of the window.
local function fit(world, state)
  local columns, rows = terminal.size()
  if columns == state.columns and rows == state.rows then
    return
  end
  state.columns, state.rows = columns, rows
  state.view = columns >= LEAST_COLUMNS and rows >= LEAST_ROWS
    and view.new(world, columns, rows - 1 - BELOW) or nil
  io.write "\27[2J"
end

local function help(state)
  if state.problem then
    return { { " " .. state.problem, ALARM } }
  end
  return {
    { " w a s d ", BRIGHT }, { "steer  ", DIM }, { " space ", BRIGHT }, { "stand  ", DIM },
    { " p ", BRIGHT }, { "by itself  ", DIM }, { " q ", BRIGHT }, { "quit", DIM },
  }
end

local function draw(state)
  local scene, columns, rows = state.view, state.columns, state.rows
  if not scene then
    io.write "\27[H\27[2Jthe window is too small"
    return io.flush()
  end
  local ok, picture = pcall(scene.draw, scene)
  if not ok then
    return complain(state, picture)
  end
  io.write(picture:draw(2), terminal.line(1, columns, {
    { " survivors ", BRIGHT }, { " " .. scene:title() .. "  " },
    { ("%.1f ms a frame"):format(state.ms), DIM },
  }), terminal.line(rows - 1, columns, scene:legend()), terminal.line(rows, columns, help(state)))
  io.flush()
end

local function frame(world, state, dt)
  local start = os.clock()
  world:update(dt)
  state.ms = state.ms + (1000 * (os.clock() - start) - state.ms) / 16
  draw(state)
end

local function loop(world, state)
  local step, rest, now = FRAME, 0, terminal.time()
  while not state.quit do
    fit(world, state)
    take_keys(world, state)
    follow(state)
    frame(world, state, math.min(step, FRAME))
    if rest > 0.002 and not terminal.sleep(rest) then
      state.quit = true
    end
    local before = now
    now = terminal.time()
    -- The clock is coarse: means of what frames take, and the rest that makes them right.
    step = step + (now - before - step) / 8
    rest = math.max(0, math.min(rest + (FRAME - now + before) / 8, FRAME))
  end
end

-- Runs until someone presses q, Ctrl-C or Ctrl-D. A system that fails is parked, its error shown.
function play.run(world, session)
  local state = { session = session, ms = 0, quit = false }
  world:on_error(function(message)
    complain(state, message)
  end)
  terminal.use(function()
    loop(world, state)
  end)
end

return play
