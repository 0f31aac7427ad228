-- Live scripts: what a reload costs beyond running the file, and what a look costs when nothing
-- has changed. The inspector: what it costs of the demo's frames.

local ecs = require("ecs")
local floor = require("mod_floor")
local live = require("ecs.live")
local scratch = require("spec.support.scratch")

local SWARM = "examples/swarm"

local function contents(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

local function processor_time(fn, ...)
  local start = floor.now()
  fn(...)
  return floor.now() - start
end

-- The demo's world over a copy of its scripts.
local function open_swarm(files, entities)
  for _, path in ipairs(require("ecs.native").list(SWARM .. "/scripts")) do
    if path:find("%.lua$") then
      files:write(path, contents(SWARM .. "/scripts/" .. path))
    end
  end
  local world = ecs.world()
  world:resource("Settings", { "seekers: i32", "drifters: i32", "hunters: i32" })
  local settings = world:res("Settings")
  settings.hunters, settings.drifters = entities // 100, entities // 4
  settings.seekers = entities - settings.hunters - settings.drifters
  return world, live.open(world, files.path)
end

-- Compiles and runs a script for a world that does nothing.
local function run_alone(text, path)
  local nothing = setmetatable({}, { __index = function() return function() end end })
  assert(load(text, "@" .. path, "t"))(nothing, nothing)
end

-- Seconds of a reload, and of the file itself.
local function reload(name, entities)
  local path = package.path
  package.path = SWARM .. "/?.lua;" .. path
  local files = scratch.new()
  local world, session = open_swarm(files, entities)
  world:update(1 / 30)
  local text, times, alone = contents(files.path .. "/" .. name), {}, {}
  for i = 1, 60 do
    local edited = text .. "\n-- " .. i
    files:write(name, edited)
    session:changed(files.path .. "/" .. name)
    times[i] = processor_time(function() assert(session:poll()) end)
    alone[i] = processor_time(run_alone, edited, name)
  end
  files:close()
  world:close()
  package.path = path
  return median(times), median(alone)
end

-- Seconds of a look at so many files that are as they were.
local function look(count)
  local files, times = scratch.new(), {}
  for i = 1, count do
    files:write(("s%03d.lua"):format(i), "local world = ...")
  end
  local world = ecs.world()
  local session = live.open(world, files.path)
  os.execute("sleep 0.2")
  for i = 1, 200 do
    times[i] = processor_time(session.poll, session)
  end
  files:close()
  world:close()
  return median(times)
end

-- Seconds of an inspector's poll, of 300 after the demo's updates at 60 Hz, with a page that shows
-- 200 rows at 10 Hz or without one.
local function inspect(socket, paged)
  local path, plain_print, link = package.path, print, nil
  package.path = SWARM .. "/?.lua;" .. path
  local files = scratch.new()
  local world = open_swarm(files, 24000)
  _G.print = function(text) link = text end
  local inspector = require("ecs.inspect").open(world, { port = 20000 + os.time() % 20000 })
  _G.print = plain_print
  local client, polls, bytes = nil, 0, 0
  for frame = 1, 360 do
    local start = socket.gettime()
    if frame == 30 and paged then
      client = assert(socket.connect("127.0.0.1", inspector.port))
      client:settimeout(0)
      client:send(("GET /api/events?view=entities&q=Position HTTP/1.1\r\nHost: "
        .. "127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n"):format(inspector.port,
        link:match("#(%x+)")))
    end
    world:update(1 / 60)
    local poll = processor_time(inspector.poll, inspector)
    if frame > 60 then polls = polls + poll end
    while client do
      local data, _, part = client:receive(65536)
      bytes = bytes + #(data or part or "")
      if not data then break end
    end
    socket.sleep(math.max(0, start + 1 / 60 - socket.gettime()))
  end
  assert(not paged or bytes > 100000, "the page had nothing to show")
  inspector:close()
  files:close()
  world:close()
  package.path = path
  return polls / 300
end

return function(add)
  for _, name in ipairs({ "life.lua", "movement.lua", "components.lua" }) do
    local whole, alone = reload(name, 24000)
    add({ workload = "reload of the demo's " .. name .. ", beyond running it", n = 1,
          ns = (whole - alone) * 1e9, target = 1e6, kind = "ns" })
  end
  add({ workload = "poll of 100 unchanged files", n = 1, ns = look(100) * 1e9,
        target = 200e3, kind = "ns" })
  local has_socket, socket = pcall(require, "socket")
  if not has_socket or not pcall(require, "dkjson") then return end
  -- At most 0.1 and 5 % of a 60th of a second.
  for _, page in ipairs({ { "no page", 16.7e3 }, { "a page of 200 rows at 10 Hz", 833e3 } }) do
    add({ workload = "poll of the inspector in the demo, " .. page[1], n = 1,
          ns = inspect(socket, page[2] > 20e3) * 1e9, target = page[2], kind = "ns" })
  end
end
