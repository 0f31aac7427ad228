-- The command line.

local options = {}

options.HELP = [[
usage: main.lua [options]

Runs the scripts in scripts/ over the level in level.txt. In a terminal it draws what goes on
and takes keys; elsewhere, or with --frames, it runs that many frames and prints a report.

  --frames N     run N frames of 1/30 s without drawing, then report (300 without a terminal)
  --entities N   how many beings there are at first (24000)
  --seed N       another seed, another run; the same seed, the same run (1)
  --picture FILE runs the frames, then writes what a terminal would show as an SVG
  --scripts DIR  other scripts than those beside main.lua
  --lua          no kernels: every system runs as plain Lua
  --inspect      opens the inspector and shows the link to its page
  --help         this text
]]

local NUMBERS = {
  frames = { least = 1, most = 10000000 },
  entities = { least = 0, most = 10000000 },
  seed = { least = math.mininteger, most = math.maxinteger },
}

local function parse_number(name, text)
  local limits = NUMBERS[name]
  local number = math.tointeger(tonumber(text or ""))
  if not number or number < limits.least or number > limits.most then
    return nil, ("--%s takes an integer from %d to %d, got %s"):format(name, limits.least,
      limits.most, text or "nothing")
  end
  return number
end

local FLAGS = { help = true, inspect = true, lua = true }
local PATHS = { scripts = "a directory", picture = "a file" }

-- What an option is given.
local function value_of(name, text)
  if NUMBERS[name] then
    return parse_number(name, text)
  elseif not text then
    return nil, ("--%s takes %s, got nothing"):format(name, PATHS[name])
  end
  return text
end

-- { frames =, entities =, seed =, scripts =, picture =, lua =, inspect =, help = }; nil and a
-- message when something is wrong.
function options.parse(arguments)
  local given = { entities = 24000, seed = 1 }
  local at = 1
  while arguments[at] do
    local name, text = arguments[at]:match("^%-%-(%a+)=?(.*)$")
    if FLAGS[name] and arguments[at] == "--" .. name then
      given[name] = true
    elseif NUMBERS[name] or PATHS[name] then
      if text == "" then
        at = at + 1
        text = arguments[at]
      end
      local value, problem = value_of(name, text)
      if not value then
        return nil, problem
      end
      given[name] = value
    else
      return nil, "unknown option " .. arguments[at]
    end
    at = at + 1
  end
  return given
end

return options
