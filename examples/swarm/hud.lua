-- The lines of text around the picture.

local kinds = require "kinds"
local terminal = require "terminal"

local hud = {}

local BRIGHT, DIM, ALARM = 231, 243, 203

local function title(state)
  return {
    { " swarm ", BRIGHT },
    { state.paused and "paused " or "", ALARM },
    { (" %d entities in %d tables "):format(state.entities, state.tables) },
    { (" %.0f fps "):format(state.rate), BRIGHT },
    { (" %.1f ms a frame: systems %.1f, picture %.1f "):format(
      state.world_ms + state.draw_ms, state.world_ms, state.draw_ms) },
    { (" %.0f s"):format(state.world_time), DIM },
  }
end

local function legend(state)
  local pieces = { { " " } }
  for _, kind in ipairs(kinds) do
    local text = kind.mark and ("%s %s  "):format(kind.mark, kind.name)
      or ("■ %s %d  "):format(kind.name, state.counts[kind.name])
    pieces[#pieces + 1] = { text, kind.ink }
  end
  pieces[#pieces + 1] = { "■ fire", 124 }
  return pieces
end

local function slowest(state)
  local pieces = { { " slowest, ms a frame: ", DIM } }
  for _, system in ipairs(state.slowest) do
    pieces[#pieces + 1] = { system.name .. " " }
    pieces[#pieces + 1] = { ("%.2f"):format(system.ms), BRIGHT }
    pieces[#pieces + 1] = { (" %s   "):format(system.tier), DIM }
  end
  return pieces
end

-- Which systems are kernels, and which are not.
local function tiers(state)
  local pieces = {}
  for _, tier in ipairs { "vector", "lua" } do
    local names = table.concat(state.tiers[tier] or {}, " ")
    pieces[#pieces + 1] = { (" %s: "):format(tier), BRIGHT }
    pieces[#pieces + 1] = { names == "" and "none " or names .. " ", DIM }
  end
  return pieces
end

local function help(state)
  local text = state.note or state.problem
  if text then
    local is_problem = not state.note or state.note_is_problem
    return { { " " .. text:match "[^\n]*", is_problem and ALARM or BRIGHT } }
  end
  return {
    { " space ", BRIGHT }, { "pause  ", DIM }, { " + ", BRIGHT }, { "1000 seekers more  ", DIM },
    { " - ", BRIGHT }, { "1000 fewer  ", DIM }, { " s ", BRIGHT }, { "save  ", DIM },
    { " l ", BRIGHT }, { "load  ", DIM }, { " q ", BRIGHT }, { "quit", DIM },
  }
end

-- How many rows stand above and below the picture.
hud.ABOVE, hud.BELOW = 1, 4

-- The text that shows the state on a screen of that size.
function hud.draw(state, columns, rows)
  local line = terminal.line
  return table.concat {
    line(1, columns, title(state)),
    line(rows - 3, columns, legend(state)),
    line(rows - 2, columns, slowest(state)),
    line(rows - 1, columns, tiers(state)),
    line(rows, columns, help(state)),
  }
end

return hud
