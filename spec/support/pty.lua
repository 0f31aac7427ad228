-- Commands run as a user runs them, without a terminal and in one.

local terminal = {}

-- Where the examples in C are built for this Lua.
terminal.EXAMPLES = ("build/%sexamples"):format(_VERSION == "Lua 5.4" and ""
  or _VERSION:lower():gsub(" ", "") .. "/")

terminal.LUA = os.getenv "LUA" or "lua5.4"
terminal.ENVIRONMENT = ("LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='%s/?.so;;' "):format(
  os.getenv "ECS_BUILD" or "build")

-- What a command prints, and its exit status. It has a minute, or that many seconds.
function terminal.run(command, seconds)
  local pipe = assert(io.popen(("timeout %d sh -c '%s' 2>&1"):format(seconds or 60,
    (command:gsub("'", "'\\''")))))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return output, status
end

-- One step in a terminal: waits until a text has been sent since the step before, then presses
-- keys and runs a command.
local function typing(step, sent)
  return ("until tail -c +$at %s | grep -aq '%s'; do sleep 0.1; done; "):format(sent, step[1])
    .. ("at=$(wc -c < %s); "):format(sent)
    .. (step.run and step.run .. "; " or "") .. ("printf '%s'"):format(step[2] or "")
end

-- What a Lua program sends to a terminal of that size, and how it leaves it. Steps are
-- { text, keys, run = command }; what comes after a step's keys and command counts for the
-- next one. `environment` is variables for the program, each followed by a space.
function terminal.play(program, columns, rows, steps, environment)
  local sent = os.tmpname()
  local lines = { "at=1" }
  for _, step in ipairs(steps) do
    lines[#lines + 1] = typing(step, sent)
  end
  -- Ctrl-C reaches the shell, too, which is to go on.
  local command = ("trap : INT; stty cols %d rows %d; %s%s%s %s; echo status \\$?; stty -a"):format(
    columns, rows, environment or "", terminal.ENVIRONMENT, terminal.LUA, program)
  terminal.run(("{ %s; sleep 0.3; } | TERM=xterm SHELL=/bin/sh script -qefc \"%s\" %s >/dev/null")
    :format(table.concat(lines, "; "), command, sent))
  local file <close> = assert(io.open(sent))
  os.remove(sent)
  return file:read "a"
end

function terminal.assert_left_as_found(output)
  assert(output:find("\27[?25h\27[?1049l", 1, true))
  local settings = output:match "status 0.*$"
  assert(settings, output:sub(-400))
  assert(settings:find "%f[-%w]icanon" and settings:find "%f[-%w]echo%f[%W]", settings)
end

-- Runs a Lua program by its path and arguments; returns what it prints, and its status.
function terminal.run_lua(arguments)
  return terminal.run(terminal.ENVIRONMENT .. terminal.LUA .. " " .. arguments .. " </dev/null")
end

-- What a Lua program prints; it has to succeed.
function terminal.output_of(arguments)
  local output, status = terminal.run_lua(arguments)
  assert(status == 0, output)
  return output
end

return terminal
