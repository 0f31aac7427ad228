-- Sends an inspector what should not move it, and counts what it answers:
-- lua inspector_fuzz.lua LINK COUNT SEED. What it prints is a line for each kind, and at the end
-- how often something was answered that only the token opens.

local socket = require "socket"
local rng = require "spec.support.rng"

local host, port, token = arg[1]:match "^http://([^:]+):(%d+)/#(%x+)$"
local left, random = tonumber(arg[2]), rng.new(tonumber(arg[3]))
local SLOTS, MARKUP = 9, "%3Cimg+src%3Dx+onerror%3Dalert(1)%3E%22%27%26"
local place = host .. ":" .. port

local function request(method, target, given, body)
  local lines = { ("%s %s HTTP/1.1"):format(method, target), "Host: " .. (given.host or place) }
  lines[#lines + 1] = given.token and "Authorization: Bearer " .. given.token or nil
  lines[#lines + 1] = given.origin and "Origin: http://" .. given.origin or nil
  lines[#lines + 1] = body and "Content-Type: " .. (given.kind or "application/json") or nil
  lines[#lines + 1] = body and "Content-Length: " .. (given.length or #body) or nil
  return table.concat(lines, "\r\n") .. "\r\n\r\n" .. (body or "")
end

local DESPAWN = '{"op":"despawn","id":17592186110000}'
local TARGETS = { "/api/schema", "/api/explain?name=move", "/api/events?view=entities&q=Position",
  "/api/events?view=storage", "/api/events?view=" .. MARKUP }

local function other_token()
  local at = random:int(#token)
  return token:sub(1, at - 1) .. (token:byte(at) == 48 and "1" or "0") .. token:sub(at + 1)
end

-- What is sent; what may be answered 200 is `open`; how long is waited for an answer.
local KINDS = {
  function()
    return "cut", request("GET", TARGETS[1], { token = token }):sub(1, random:int(60)), 0.02
  end,
  function()
    local bytes = request("POST", "/api/do", { token = other_token(), origin = place }, DESPAWN)
    for _ = 1, random:int(8) do
      local at = random:int(#bytes)
      bytes = bytes:sub(1, at - 1) .. string.char(random:int(256) - 1)
        .. bytes:sub(at + random:int(3) - 1)
    end
    return "random bytes", bytes, 0.2
  end,
  function()
    return "huge head", "GET / HTTP/1.1\r\nX: " .. ("a"):rep(8000 + random:int(9000)), 0.5
  end,
  function()
    return "huge body", request("POST", "/api/do", { token = token, origin = place,
      length = 65537 + random:int(99999) }, ("["):rep(random:int(70000))), 0.5
  end,
  function()
    return "wrong token", request("GET", random:pick(TARGETS), { token = other_token() }), 1
  end,
  function() return "no token", request("POST", "/api/do", { origin = place }, DESPAWN), 1 end,
  function()
    return "wrong host", request("GET", random:pick(TARGETS), { token = token,
      host = random:pick { "evil.example", place .. "0", "", "localhost:1" } }), 1
  end,
  function()
    return "wrong origin", request("POST", "/api/do", { token = token,
      origin = random:pick { "evil.example", place .. ".evil.example", "null" } }, DESPAWN), 1
  end,
  function() return "no origin", request("POST", "/api/do", { token = token }, DESPAWN), 1 end,
  function()
    return "wrong type", request("POST", "/api/do", { token = token, origin = place,
      kind = random:pick { "text/plain", "application/x-www-form-urlencoded" } }, DESPAWN), 1
  end,
  function()
    return "malformed edit", request("POST", "/api/do", { token = token, origin = place },
      random:pick { "", "{", "[]", "1", "null", '{"op":"<img src=x>"}', '{"op":"set"}', "\xff\0",
        ("["):rep(60000), '{"op":"despawn","id":"<script>"}' }), 1
  end,
  function()
    return "markup (open)", request("GET", random:pick { "/api/explain?name=" .. MARKUP,
      "/api/events?view=entities&q=" .. MARKUP, "/api/events?view=map&q=Position&x=" .. MARKUP,
      "/" .. MARKUP, "/?" .. MARKUP }, { token = token }), 0.1
  end,
}
local RARE = {
  function()
    return "slow reader (open)", request("GET", TARGETS[3], { token = token }), 0.7, "idle"
  end,
  function() return "slow writer", "GET", 0.5 end,
}

local counts, leaks = {}, 0

local function count(kind, status)
  counts[kind] = counts[kind] or {}
  counts[kind][status] = (counts[kind][status] or 0) + 1
end

local function connect()
  local client = socket.tcp()
  client:settimeout(0)
  client:connect(host, tonumber(port))
  return client
end

local function open_slot()
  local kind, bytes, seconds, idle = random:pick(random:int(100) == 1 and RARE or KINDS)()
  return { client = connect(), kind = kind, bytes = bytes, sent = 0, got = "", idle = idle,
    stop = socket.gettime() + seconds }
end

-- Whether it is done with.
local function step(slot, now)
  local closed
  if slot.sent < #slot.bytes then
    local last, problem, part = slot.client:send(slot.bytes, slot.sent + 1)
    slot.sent = last or part or slot.sent
    closed = problem == "closed"
  end
  if not slot.idle then
    local data, problem, part = slot.client:receive(65536)
    slot.got = (slot.got .. (data or part or "")):sub(1, 4096)
    closed = closed or problem == "closed"
  end
  if not closed and now < slot.stop then
    return false
  end
  slot.client:close()
  local status = slot.got:match "^HTTP/1.1 (%d+)" or "none"
  count(slot.kind, status)
  if status == "200" and not slot.kind:find "open" then
    leaks = leaks + (slot.got:find "Content%-Type: text/html" and 0 or 1)
  end
  return true
end

-- A hundred connections at once, which say nothing.
local function burst()
  local clients = {}
  for i = 1, 100 do
    clients[i] = connect()
  end
  socket.sleep(0.05)
  for _, client in ipairs(clients) do
    client:close()
  end
  left = left - 100
  for _ = 1, 100 do
    count("one of 100 connections", "none")
  end
end

local slots, since = {}, 0
while left > 0 or #slots > 0 do
  if since >= 5000 then
    since = 0
    burst()
  end
  while #slots < SLOTS and left > 0 do
    slots[#slots + 1] = open_slot()
    left, since = left - 1, since + 1
  end
  local now, watched, writers = socket.gettime(), {}, {}
  for i = #slots, 1, -1 do
    if step(slots[i], now) then
      table.remove(slots, i)
    else
      watched[#watched + 1] = not slots[i].idle and slots[i].client or nil
      writers[#writers + 1] = slots[i].sent < #slots[i].bytes and slots[i].client or nil
    end
  end
  socket.select(watched, writers, 0.005)
end

local kinds, all = {}, 0
for kind in pairs(counts) do
  kinds[#kinds + 1] = kind
end
table.sort(kinds)
for _, kind in ipairs(kinds) do
  local parts = {}
  for status, number in pairs(counts[kind]) do
    parts[#parts + 1] = ("%s: %d"):format(status, number)
    all = all + number
  end
  table.sort(parts)
  print(kind, table.concat(parts, ", "))
end
print("all", all)
print("leaks", leaks)
