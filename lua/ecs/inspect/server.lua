-- The inspector's HTTP server, on luasocket. It takes one request per connection and answers with a
-- known length or with a stream of lines. Nothing blocks. Clients may be hostile: a browser on
-- another page, or another user of the machine. So the Host, the Origin and the token of each
-- request are checked first, and all resources of a connection are limited.

local json = require "ecs.json"
local native = require "ecs.native"

local server = {}
server.__index = server

local LIMIT = {
  connections = 16,
  head = 8 * 1024,        -- bytes of a request line and headers
  body = 64 * 1024,
  seconds = 10,           -- until a request is complete
  unsent = 1024 * 1024,   -- bytes that a page has not read
}
local LINGER = 1          -- seconds for the other side to close, too
local TURN = 0.002        -- seconds in which streams begin; the others do at the next poll
local LOOK = 0.05         -- seconds between checks for a first connection

-- Headers of every answer. No answer has a header that lets other origins read it.
local ALWAYS = table.concat({
  "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cache-Control: no-store",
  "Cross-Origin-Resource-Policy: same-origin", "Cross-Origin-Opener-Policy: same-origin",
  "X-Frame-Options: DENY", "Connection: close",
}, "\r\n")
local STRICT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

--- Returns a new token of random bytes from the operating system.
local function random_token()
  local io = rawget(_G, "io")
  local source <close> = not native.noise and io and io.open("/dev/urandom", "rb") or nil
  local bytes = native.noise and native.noise() or source and source:read(16)
  if not bytes or #bytes < 16 then
    error("the inspector needs random numbers from the operating system, and there is no "
      .. "/dev/urandom", 0)
  end
  return (bytes:gsub(".", function(char) return ("%02x"):format(char:byte()) end))
end

-- Whether two texts are equal. Takes the same time wherever they differ.
local function same_secret(given, secret)
  local difference = #given ~ #secret
  for i = 1, #secret do
    difference = difference | (given:byte(i) or 256) ~ secret:byte(i)
  end
  return difference == 0
end

local function bind(socket, host, port)
  local last, listener, problem = port == 0 and 0 or math.min(port + 10, 65535)
  for i = port, last do
    listener, problem = socket.bind(host, i, 32)
    if listener then
      return listener
    end
  end
  error(("the inspector cannot listen on %s, ports %d to %d: %s"):format(host, port, last,
    tostring(problem)), 0)
end

--- Listens; answer(request) is called for what has passed all checks.
---@param options { host: string, port: integer, hosts: string[]?, page: string, policy: string,
--- answer: fun(request: table): integer, any } The policy is the page's Content-Security-Policy.
function server.listen(options)
  local found, socket = pcall(require, "socket")
  if not found then
    error("ecs.inspect needs the package 'luasocket', which is not installed: luarocks install "
      .. "luasocket, or apt install lua-socket", 0)
  end
  local listener = bind(socket, options.host, options.port)
  listener:settimeout(0)
  local _, port = listener:getsockname()
  local self = setmetatable({ socket = socket, clock = socket.gettime, listener = listener,
    port = math.tointeger(tonumber(port)), connections = {}, token = random_token(),
    page = options.page, policy = options.policy, answer = options.answer, looked = 0, due = 0,
    known = {} }, server)
  for _, name in ipairs(options.hosts or { "127.0.0.1", "localhost" }) do
    self.known[("%s:%d"):format(name:lower(), self.port)] = true
    self.link = self.link or ("http://%s:%d/#%s"):format(name, self.port, self.token)
  end
  return self
end

-- ---- answers -------------------------------------------------------------------------------

local function send_head(connection, status, kind, policy, length)
  connection.out = connection.out .. table.concat({
    ("HTTP/1.1 %d -"):format(status), ALWAYS,
    "Content-Security-Policy: " .. (policy or STRICT), "Content-Type: " .. kind,
    length and "Content-Length: " .. length or "X-Accel-Buffering: no", "", "",
  }, "\r\n")
end

local function send_answer(connection, status, body, kind, policy)
  send_head(connection, status, kind or "application/json; charset=utf-8", policy, #body)
  connection.out = connection.out .. body
  connection.state = "ending"
end

local function refuse(connection, status, message)
  send_answer(connection, status, json.write({ error = message }, json.readable))
end

-- ---- requests ------------------------------------------------------------------------------

local ONCE = { host = true, origin = true, authorization = true, ["content-length"] = true,
  ["content-type"] = true }

local function decode_part(text)
  local function char(hex) return string.char(tonumber(hex, 16)) end
  return (text:gsub("%+", " "):gsub("%%(%x%x)", char))
end

-- Parses the head of a request. Returns nil if it is malformed.
local function parse_head(head)
  local line, rest = head:match "^([^\r\n]*) HTTP/1%.[01]\r\n(.*)$"
  local method, target = (line or ""):match "^(%u+) (/[!-~]*)$"
  local path, query = (target or ""):match "^([^?]*)(.*)$"   -- each in linear time
  local request = { method = method, path = path, query = {}, headers = {} }
  for field in (rest or ""):gmatch "(.-)\r\n" do
    local name, value = field:match "^([%w!#$%%&'*+.^_`|~-]+):[ \t]*(.*)$"
    name, value = name and name:lower(), (value or ""):match "^.*[^ \t]" or ""
    if not name or value:find "[\0-\8\10-\31\127]" or ONCE[name] and request.headers[name] then
      return nil
    end
    request.headers[name] = value
  end
  for name, value in (query or ""):gmatch "[?&]([^=&]+)=?([^&]*)" do
    request.query[decode_part(name)] = decode_part(value)
  end
  local length = request.headers["content-length"] or "0"
  request.length = length:find "^%d%d?%d?%d?%d?%d?%d?%d?$" and math.tointeger(tonumber(length))
  return method and request.length and request
end

-- Returns why a request is refused, as a status and a message, or nothing.
local function refusal(self, request)
  local headers, method = request.headers, request.method
  local origin, bearer = headers.origin, (headers.authorization or ""):match "^Bearer (%x+)$"
  local kind = (headers["content-type"] or ""):lower():match "^([^;%s]*)%s*;?"
  if not self.known[(headers.host or ""):lower()] then
    return 403, "unknown host name: add it to the option 'hosts'"
  elseif origin and origin:lower() ~= "http://" .. headers.host:lower() then
    return 403, "this origin is not allowed"
  elseif headers["transfer-encoding"] then
    return 400, "a body needs a Content-Length"
  elseif method ~= "GET" and method ~= "POST" then
    return 405, "only GET and POST are supported"
  elseif method == "GET" and request.path == "/" then
    return nil
  elseif not same_secret(bearer or "", self.token) then
    return 401, "the token is wrong: open the link that the program printed"
  elseif method == "POST" and not origin then
    return 403, "changes need an Origin"
  elseif method == "POST" and kind ~= "application/json" then
    return 415, "changes must be sent as application/json"
  end
end

-- Calls the answering function, which may raise any error.
local function give_answer(self, connection, request)
  local ok, status, result, stream = pcall(self.answer, request)
  if not ok then
    return refuse(connection, 500, tostring(status))
  elseif stream then
    send_head(connection, 200, "application/x-ndjson; charset=utf-8")
    connection.state, connection.stream = "streaming", stream
  else
    send_answer(connection, status, json.write(result, json.readable))
  end
end

-- Parses the request once its head has arrived, and then its body.
local function take_request(self, connection)
  local stop = connection.input:find("\r\n\r\n", 1, true)
  if not stop or stop + 3 > LIMIT.head then
    if #connection.input >= LIMIT.head then
      refuse(connection, 431, "the headers are too long")
    end
    return
  end
  local request = connection.request or parse_head(connection.input:sub(1, stop + 1))
  if not request then
    return refuse(connection, 400, "this is not an HTTP request")
  elseif not connection.request then
    local status, message = refusal(self, request)
    if status then
      return refuse(connection, status, message)
    elseif request.length > LIMIT.body then
      return refuse(connection, 413, "the body is too long")
    end
    connection.request = request
  end
  if #connection.input - stop - 3 < request.length then
    return
  end
  request.body = connection.input:sub(stop + 4, stop + 3 + request.length)
  connection.input = ""
  if request.method == "GET" and request.path == "/" then
    return send_answer(connection, 200, self.page, "text/html; charset=utf-8", self.policy)
  end
  give_answer(self, connection, request)
end

-- ---- connections ---------------------------------------------------------------------------

local function close(connection)
  if connection.stream then
    pcall(connection.stream.close, connection.stream)
  end
  connection.stream, connection.state = nil, "closed"
  connection.socket:close()
end

-- Returns where a new connection goes: at the end, or in place of one that lingers, or nowhere.
local function room(self)
  local last, lingering = #self.connections
  for i = 1, last do
    lingering = lingering or self.connections[i].state == "lingering" and i or nil
  end
  return last < LIMIT.connections and last + 1 or lingering
end

-- Accepts what there is room for. The rest waits: browsers take a reset for an error.
local function accept(self, now)
  for _ = 1, LIMIT.connections do
    local at = room(self)
    local peer = at and self.listener:accept()
    if not peer then
      return
    elseif self.connections[at] then
      close(self.connections[at])
    end
    peer:settimeout(0)
    peer:setoption("tcp-nodelay", true)
    self.connections[at] = { socket = peer, input = "", out = "", began = now, state = "reading" }
  end
end

-- Receives data. Data of a connection that is already answered is dropped.
local function receive(self, connection)
  local data, problem, part = connection.socket:receive(LIMIT.head)
  data = data or part or ""
  if connection.state == "reading" and data ~= "" then
    connection.input = connection.input .. data
    take_request(self, connection)
  end
  if problem == "closed" and connection.state ~= "ending" then
    close(connection)
  end
end

local function send(connection)
  if connection.out == "" then
    return
  end
  local last, problem, part = connection.socket:send(connection.out)
  connection.out = last == #connection.out and "" or connection.out:sub((last or part or 0) + 1)
  if problem == "closed" or #connection.out > LIMIT.unsent then
    close(connection)
  end
end

local function step(self, connection, now, stop)
  receive(self, connection)
  if connection.state == "reading" and not (now - connection.began < LIMIT.seconds) then
    refuse(connection, 408, "this took too long")
    connection.began = now
  elseif connection.state == "streaming" and connection.out == "" and self.clock() < stop then
    local ok, value = pcall(connection.stream.next, connection.stream, now)
    value = not ok and { error = tostring(value) } or value
    connection.out = value and json.write(value, json.readable, "\n") or ""
  end
  if connection.state ~= "closed" then
    send(connection)
  end
  if connection.state == "ending" and connection.out == "" then
    connection.socket:shutdown "send"
    connection.state, connection.sent = "lingering", now
  end
  -- If the connection were closed before the peer has read everything, data could be lost.
  local late = connection.sent and now - connection.sent >= LINGER
  if late or connection.state == "ending" and now - connection.began >= 2 * LIMIT.seconds then
    close(connection)
  end
end

--- Serves what has come, and waits for it at most so many seconds. Not needed before `due`.
---@param now number
---@param seconds? number
function server:poll(now, seconds)
  if seconds then
    local readers, writers = { room(self) and self.listener }, {}
    for _, connection in ipairs(self.connections) do
      readers[#readers + 1] = connection.socket
      writers[#writers + 1] = connection.out ~= "" and connection.socket or nil
    end
    pcall(self.socket.select, readers, writers, seconds)   -- raises past 1,024 descriptors
    now = self.clock()
  end
  self.looked, self.due = now, now + LOOK
  accept(self, now)
  for i = #self.connections, 1, -1 do
    local connection = self.connections[i]
    if connection then   -- what a change calls in the program may poll or close, too
      step(self, connection, now, now + TURN)
      local stream = connection.out == "" and connection.stream
      self.due = math.min(self.due, stream and stream.due or 0)
    end
    if connection and connection.state == "closed" and self.connections[i] == connection then
      table.remove(self.connections, i)
    end
  end
  return now
end

--- Ends all connections. A second call has no effect.
function server:close()
  for _, connection in ipairs(self.connections) do
    close(connection)
  end
  self.connections = {}
  self.listener:close()
end

return server
