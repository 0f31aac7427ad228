-- The terminal: raw keys, its size, and leaving it as it was found. Plain Lua has no way to
-- ask for these, so `stty` and `test` do.

local terminal = {}

local ENTER = "\27[?1049h\27[?25l\27[2J"    -- the other screen, no cursor, empty
local LEAVE = "\27[0m\27[?25h\27[?1049l"
local PLAIN = 250                           -- of the 256 colours

local function ask(command)
  local pipe = io.popen(command .. " 2>/dev/null")
  local answer = pipe and pipe:read "l"
  if pipe then
    pipe:close()
  end
  return answer
end

function terminal.present()
  return (os.execute "test -t 0 && test -t 1 && stty -g >/dev/null 2>&1") == true
end

-- Columns and rows; 80 and 24 when the terminal does not know.
function terminal.size()
  local rows, columns = (ask "stty size" or ""):match("^(%d+) (%d+)$")
  rows, columns = tonumber(rows) or 0, tonumber(columns) or 0
  if rows == 0 or columns == 0 then
    return 80, 24
  end
  return columns, rows
end

-- Calls fn with keys unbuffered and unseen, on a screen of its own. However fn ends, the
-- terminal is what it was; then its error, if any, goes on.
function terminal.use(fn)
  local saved = assert(ask "stty -g", "stty does not know this terminal")
  io.stdout:setvbuf "full"
  local ok, problem = xpcall(function()
    os.execute "stty -icanon -echo min 0 time 0"
    io.write(ENTER)
    fn()
  end, debug.traceback)
  io.write(LEAVE)
  io.flush()
  os.execute("stty " .. saved)
  if not ok and not terminal.is_interrupt(problem) then
    error(problem, 0)
  end
end

-- Whether an error is what lua makes of Ctrl-C.
function terminal.is_interrupt(problem)
  return tostring(problem):find("interrupted!", 1, true) ~= nil
end

-- Lays pieces { text, ink } out as one line of the screen, cut or filled to its width.
function terminal.line(row, columns, pieces)
  local out, left = { ("\27[%d;1H\27[0;48;5;234m"):format(row) }, columns
  for _, piece in ipairs(pieces) do
    local text = piece[1]
    local length = utf8.len(text)
    if length > left then
      text, length = text:sub(1, utf8.offset(text, left + 1) - 1), left
    end
    out[#out + 1] = ("\27[38;5;%dm%s"):format(piece[2] or PLAIN, text)
    left = left - length
  end
  out[#out + 1] = (" "):rep(left) .. "\27[0m"
  return table.concat(out)
end

-- The next key that was pressed, or nil; does not wait.
function terminal.key()
  return io.read(1)
end

-- Waits; false when Ctrl-C ended it.
function terminal.sleep(seconds)
  local _, how = os.execute(("sleep %.3f"):format(seconds))
  return how ~= "signal"
end

-- Seconds since some point in time. Lua's own clocks count processor time or whole seconds;
-- Linux tells hundredths, elsewhere processor time has to do.
function terminal.time()
  local file = io.open "/proc/uptime"
  local seconds = file and file:read "n"
  if file then
    file:close()
  end
  return seconds or os.clock()
end

return terminal
