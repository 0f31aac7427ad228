-- The inspector: a page in the browser that shows a running world and, if the program allows it,
-- changes it. The program calls inspector:update in place of world:update.

local answers = require "ecs.inspect.answers"
local edits = require "ecs.inspect.edits"
local json = require "ecs.json"
local native = require "ecs.native"
local server = require "ecs.inspect.server"

local inspect = {}

local RING = { count = 60, bytes = 64 * 1024 * 1024, seconds = 1 }
local MOST = 16          -- updates in one call
local LOOK = 0.5         -- seconds
local OPTIONS = { port = "number", session = "table", edit = "boolean", host = "string",
  hosts = "table", on_restore = "function" }

---@class ecs.Inspector
---@field link string The address to open in a browser; the token follows the '#'.
---@field port integer
local methods = {}
methods.__index = methods
methods.__name = "ecs.inspector"

-- Takes a snapshot, once a second, between updates; forgets the oldest until the ring fits.
local function keep(self, now)
  local ring, early = self.ring, now - self.kept >= 0 and now - self.kept < RING.seconds
  if not self.ringing or early or self.kept_update == self.updates then
    return
  end
  self.kept, self.number = now, self.number + 1
  local ok, snapshot = native.try(self.world.snapshot, self.world)
  self.ring_problem, self.kept_update = not ok and tostring(snapshot) or nil, ok and self.updates
  if not ok then
    return
  end
  local bytes, tick = tostring(snapshot):match "%((%d+) bytes, tick (%d+)%)"
  ring[#ring + 1] = { number = self.number, snapshot = snapshot, time = now,
    bytes = tonumber(bytes) or 0, tick = tonumber(tick) or 0 }
  local total = 0
  for i = #ring, 1, -1 do
    total = total + ring[i].bytes
    if total > RING.bytes or i <= #ring - RING.count then
      table.remove(ring, i)
    end
  end
end

--- Returns the content of the Time view.
function methods:time()
  local ring, now = setmetatable({}, json.list), self.server.clock()
  for i, kept in ipairs(self.ring) do
    ring[i] = { number = kept.number, tick = kept.tick, bytes = kept.bytes, age = now - kept.time }
  end
  return { ring = ring, problem = self.ring_problem, updates = self.updates }
end

--- Restores a snapshot of the ring and drops the later ones.
function methods:back(number)
  for i, kept in ipairs(self.ring) do
    if kept.number == number then
      self.world:restore(kept.snapshot)
      self.ring, self.undo = table.move(self.ring, 1, i, 1, {}), {}
      if self.on_restore then
        self.on_restore(kept.tick)
      end
      return { done = ("went back to update %d"):format(kept.tick) }
    end
  end
  error({ message = "this snapshot is no longer kept" }, 0)
end

--- What the page's head shows, whatever view is open. What takes longer to find out is looked at
--- twice a second; what is known of declarations changes when they do.
function methods:top()
  local now, swaps, last = self.server.clock(), 0, self.undo[#self.undo]
  if not (now - self.looked >= 0 and now - self.looked < LOOK) then
    local about = self.world:describe()
    for _, version in next, self.session and self.session:status().versions or {} do
      swaps = swaps + version
    end
    self.looked, self.entities, self.components = now, about.entities, about.components
    self.declared = ("%d %d %d"):format(swaps, #about.components, #about.prefabs)
  end
  return { updates = self.updates, entities = self.entities, paused = self.paused,
    speed = self.speed, undo = last and last.title or nil, declared = self.declared,
    edit = self.edit, led = self.led }
end

-- The servers of open inspectors; how many streams show the systems of a profiled world.
local inspectors = setmetatable({}, { __mode = "k" })
local watched = setmetatable({}, { __mode = "k" })

--- A page has opened a view; returns what is called when it leaves.
function methods:entered(view)
  local world = self.world
  self.ringing = self.ringing or view == "time"
  if view ~= "systems" or world:profile() and not watched[world] then
    return function() end
  end
  watched[world] = (watched[world] or 0) + 1
  world:profile(true)
  return function()
    watched[world] = watched[world] > 1 and watched[world] - 1 or nil
    if not watched[world] and native.is_open(world) then
      world:profile(false)
    end
  end
end

local function answer(self, request)
  local what = request.method .. " " .. request.path
  if what == "POST /api/do" then
    return edits.run(self, request.body)
  elseif what == "GET /api/events" and answers.views[request.query.view] then
    return 200, nil, answers.stream(self, request.query)
  elseif what == "GET /api/schema" then
    return 200, answers.schema(self)
  elseif what == "GET /api/explain" then
    return answers.explain(self, request.query.name or "")
  end
  return 404, { error = "there is no such page" }
end

local function check_self(self, name, level)
  if getmetatable(self) ~= methods then
    error(("bad argument #1 to '%s' (inspector expected, got %s)"):format(name, type(self)), level)
  end
end

-- Serves the page where that is due. Its first lines run in every frame: they touch little.
local function serve(self, name, seconds)
  local serving = inspectors[self]
  local now = serving and serving.clock()
  if now and now < serving.due and now >= serving.looked and not seconds then
    return
  end
  check_self(self, name, 4)
  if serving and native.is_open(self.world) then
    keep(self, serving:poll(now, seconds))
  else
    self:close()
  end
end

--- Serves the page, and waits for requests at most that many seconds. For programs that call
--- world:update themselves. Call it between updates.
---@param seconds? number 0 by default.
function methods:poll(seconds)
  if seconds ~= nil and not (type(seconds) == "number" and seconds >= 0 and seconds <= 3600) then
    error("bad argument #1 to 'poll' (seconds expected, from 0 to 3600)", 2)
  end
  serve(self, "poll", seconds ~= 0 and seconds)
  -- Of programs that update the world themselves each call stands for an update.
  self.updates = self.updates + (self.led and 0 or 1)
end

-- Returns how many updates are due, by the page's speed, pause and steps.
local function due(self)
  if self.paused then
    local steps = self.steps
    self.steps, self.credit = 0, 0
    return math.min(steps, MOST)
  end
  self.credit = self.credit + self.speed
  local count = self.credit // 1 | 0
  self.credit = self.credit - count
  return math.min(count, MOST)
end

--- Polls, then updates the world as often as the page asks, each time with `dt`: not at all while
--- it is paused, usually once.
---@param dt number
---@return integer updates The number of updates.
function methods:update(dt)
  serve(self, "update")
  self.led = true
  local count = (self.closed or self.speed == 1 and not self.paused) and 1 or due(self)
  for _ = 1, count do
    self.updates = self.updates + 1
    self.world:update(dt)
  end
  return count
end

--- Closes the inspector. The world stays as it is. A second call has no effect.
function methods:close()
  check_self(self, "close", 3)
  if not self.closed then
    self.closed, inspectors[self] = true, nil
    self.server:close()
    self.ring, self.undo = {}, {}
  end
end

--- Closes the inspectors of a world that has been closed.
function inspect.closed(world)
  for self in next, inspectors do
    if self.world == world then
      self:close()
    end
  end
end

methods.__close, methods.__gc = methods.close, methods.close
function methods.__tostring(self)
  return self.closed and "ecs.inspector (closed)" or ("ecs.inspector (port %d)"):format(self.port)
end

local function check_options(world, options)
  local open, other = native.is_open(world)
  local function check(condition, format, ...)
    return condition or error(format:format(...), 4)
  end
  check(open ~= nil, "bad argument #1 to 'open' (world expected, got %s)", other or type(world))
  check(open, "bad argument #1 to 'open' (the world is closed)")
  local kind, given = type(options), {}
  check(kind == "table", "bad argument #2 to 'open' (table expected, got %s)", kind)
  for key, value in next, options do
    kind = OPTIONS[key]
    check(kind, "bad argument #2 to 'open' (unknown option '%s')", tostring(key))
    check(type(value) == kind, "option '%s' must be a %s, got a %s", key, kind, type(value))
    given[key] = value
  end
  local port, hosts = given.port or 8127, given.hosts
  check(math.type(port) == "integer" and port >= 0 and port <= 65535,
    "option 'port' must be an integer from 0 to 65535")
  for _, name in ipairs(hosts and (hosts[1] and hosts or { false }) or {}) do
    check(type(name) == "string" and name:find "^[%w.%-]+$",
      "option 'hosts' must be a list of names of this machine, as in { \"box.local\" }")
  end
  check(not given.host or given.host == "127.0.0.1" or hosts, "option 'host': an "
    .. "address other than 127.0.0.1 also needs the host names that pages may use: "
    .. "hosts = { \"box.local\" }")
  check(not given.session or native.try(given.session.status, given.session),
    "option 'session' must be a session from ecs.live.open")
  return given
end

--- Opens an inspector for a world, and prints the link to its page.
---@param world ecs.World
---@param options? { port: integer?, session: ecs.Session?, edit: boolean?, host: string?,
--- hosts: string[]?, on_restore: fun(tick: integer)? }
---@return ecs.Inspector
function inspect.open(world, options)
  options = check_options(world, options == nil and {} or options)
  local self = setmetatable({
    world = world, session = options.session, edit = options.edit == true,
    on_restore = options.on_restore, closed = true, updates = 0, paused = false, steps = 0,
    speed = 1.0, credit = 0.0, ring = {}, ringing = false, number = 0, kept = 0, undo = {},
    led = false, looked = 0,
  }, methods)
  local document = require "ecs.inspect.page"
  self.server = server.listen { host = options.host or "127.0.0.1", port = options.port or 8127,
    hosts = options.hosts, page = document.page, policy = document.policy,
    answer = function(request) return answer(self, request) end }
  inspectors[self] = self.server
  self.closed, self.port, self.link = false, self.server.port, self.server.link
  local print = rawget(_G, "print") or function() end
  print("ecs inspector: " .. self.link)
  if options.host and options.host ~= "127.0.0.1" then
    print("ecs inspector: traffic over the network is not encrypted")
  end
  return self
end

return inspect
