-- In a terminal: the world drawn thirty times a second, until someone quits.

local ecs = require "ecs"

local canvas = require "canvas"
local hud = require "hud"
local level = require "level"
local scene = require "scene"
local terminal = require "terminal"

local show = {}

local FRAME = 1 / 30         -- what a frame should last; longer ones slow the world down
local SHORTEST_REST = 0.002
local NOTE_LASTS = 2         -- seconds
local LINK_LASTS = 60
local LEAST_COLUMNS, LEAST_ROWS = 20, 8
local SAVED = (os.getenv "TMPDIR" or "/tmp") .. "/swarm.ecs"

-- ---- what is shown -----------------------------------------------------------------

local function new_state(world)
  local state = {
    world_time = 0, rate = 0, world_ms = 0, draw_ms = 0, paused = false, quit = false,
    counts = {}, slowest = {}, tiers = {}, seconds = {}, frames = 0, step = FRAME, rest = 0,
  }
  state.queries = scene.queries(world)
  return state
end

-- The systems that took most time since this was last called, and what all of them took.
local function rank(state, systems)
  local list, frames = {}, math.max(state.frames, 1)
  state.world_ms = 0
  for _, system in ipairs(systems) do
    local spent = system.seconds - (state.seconds[system.name] or 0)
    state.seconds[system.name] = system.seconds
    local ms = 1000 * spent / frames
    list[#list + 1] = { name = system.name, tier = system.tier, ms = ms }
    state.world_ms = state.world_ms + ms
  end
  if state.world_ms == 0 then
    return
  end
  table.sort(list, function(a, b)
    return a.ms > b.ms
  end)
  state.slowest = table.move(list, 1, math.min(5, #list), 1, {})
end

-- The names of systems by their tier.
local function sort_by_tier(systems)
  local tiers = {}
  for _, system in ipairs(systems) do
    tiers[system.tier] = tiers[system.tier] or {}
    table.insert(tiers[system.tier], system.name)
  end
  return tiers
end

-- Once in a while: what need not be known for every frame.
local function look(world, state, elapsed)
  local description = world:describe()
  state.entities, state.tables = description.entities, 0
  for _, tab in ipairs(description.tables) do
    state.tables = state.tables + (tab.rows > 0 and 1 or 0)
  end
  for name, query in pairs(state.queries) do
    state.counts[name] = query:count()
  end
  rank(state, description.systems)
  state.tiers = sort_by_tier(description.systems)
  if state.frames > 0 then
    state.rate = state.frames / elapsed
    state.draw_ms = 1000 * state.drawing / state.frames
  end
  state.frames, state.drawing = 0, 0
end

-- Shows a text for a while.
local function note(state, text, is_problem)
  state.note, state.note_is_problem, state.noted = text, is_problem, terminal.time()
end

-- Shows what is wrong with scripts, until it is put right. Ctrl-C is an error, too.
local function complain(state, problem)
  state.problem, state.note = problem, nil
  state.quit = state.quit or terminal.is_interrupt(problem)
end

-- ---- drawing -----------------------------------------------------------------------

local function draw(state, screen)
  if not screen.picture then
    io.write("\27[H\27[2Jthe window is too small")
    return io.flush()
  end
  local ok, problem = pcall(scene.draw, screen.picture, state.queries)
  if not ok then
    complain(state, problem)
  end
  io.write(screen.picture:draw(hud.ABOVE + 1), hud.draw(state, screen.columns, screen.rows))
  io.flush()
end

-- Follows the size of the window.
local function fit(screen)
  local columns, rows = terminal.size()
  if columns == screen.columns and rows == screen.rows then
    return
  end
  screen.columns, screen.rows = columns, rows
  local lines = rows - hud.ABOVE - hud.BELOW
  screen.picture = columns >= LEAST_COLUMNS and rows >= LEAST_ROWS
    and canvas.new(level, columns, lines) or nil
  io.write("\27[2J")
end

-- ---- keys --------------------------------------------------------------------------

-- Does what may fail, and shows what came of it.
local function attempt(state, done, fn, ...)
  local ok, problem = pcall(fn, ...)
  note(state, ok and done or tostring(problem), not ok)
  state.quit = state.quit or not ok and terminal.is_interrupt(problem)
end

local keys = {
  [" "] = function(_, state)
    state.paused = not state.paused
  end,
  ["+"] = function(world)
    local settings = world:res "Settings"
    settings.seekers = settings.seekers + 1000
  end,
  ["-"] = function(world)
    local settings = world:res "Settings"
    settings.seekers = math.max(settings.seekers - 1000, 0)
  end,
  s = function(world, state)
    attempt(state, "saved to " .. SAVED, ecs.save_file, world, SAVED)
  end,
  l = function(world, state)
    attempt(state, "loaded from " .. SAVED, ecs.load_file, world, SAVED)
  end,
  q = function(_, state)
    state.quit = true
  end,
}
keys["="] = keys["+"]
keys["\4"] = keys.q          -- Ctrl-D

local function take_keys(world, state)
  for key in terminal.key do
    if keys[key] then
      keys[key](world, state)
    end
  end
end

-- ---- the loop ----------------------------------------------------------------------

-- Scripts that were edited take effect; what is wrong with them is shown.
local function follow(state)
  local swapped, problem = state.session:poll()
  if swapped then
    state.problem = nil
    note(state, "scripts reloaded")
  end
  if problem then
    complain(state, problem)
  end
end

local function frame(world, state, screen)
  take_keys(world, state)
  follow(state)
  if not state.paused then
    local dt, count = math.min(state.step, FRAME), 1
    if state.inspector then
      count = state.inspector:update(dt)
    else
      world:update(dt)
    end
    state.world_time = state.world_time + count * dt
  elseif state.inspector then
    state.inspector:poll()
  end
  local start = os.clock()
  draw(state, screen)
  state.drawing = state.drawing + os.clock() - start
  state.frames = state.frames + 1
  if state.rest > SHORTEST_REST and not terminal.sleep(state.rest) then
    state.quit = true
  end
end

-- Times of single frames are coarse: what a frame takes is a running mean, and the rest at
-- its end grows or shrinks until the mean is right.
local function keep_pace(state, elapsed)
  state.step = state.step + (elapsed - state.step) / 8
  state.rest = math.max(0, math.min(state.rest + (FRAME - elapsed) / 8, FRAME))
end

local function loop(world, state)
  local screen = {}
  local now = terminal.time()
  local looked = now
  fit(screen)
  look(world, state, 1)
  while not state.quit do
    local before = now
    frame(world, state, screen)
    now = terminal.time()
    keep_pace(state, now - before)
    if state.note and now - state.noted >= NOTE_LASTS then
      state.note = nil
    end
    if now - looked >= 0.5 then
      fit(screen)
      look(world, state, now - looked)
      looked = now
    end
  end
end

-- Runs until someone presses q, Ctrl-C or Ctrl-D. A system that fails is parked, its error shown.
function show.run(world, session, inspector)
  local state = new_state(world)
  state.session, state.inspector = session, inspector
  if inspector then
    note(state, inspector.link)
    state.noted = state.noted + LINK_LASTS - NOTE_LASTS
  end
  world:on_error(function(message)
    complain(state, message)
  end)
  terminal.use(function()
    loop(world, state)
  end)
end

return show
