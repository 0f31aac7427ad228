-- The demo's world with an inspector that is sent all kinds of requests which it must refuse, by a
-- process of its own: ECS_FUZZ_REQUESTS of them. The world becomes what it becomes without, and
-- frames are not held up.

local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local terminal = require "spec.support.pty"

local has_socket, socket = pcall(require, "socket")
local able = has_socket and pcall(require, "dkjson")

local COUNT = tonumber(os.getenv "ECS_FUZZ_REQUESTS" or "")
  or helper.by_scale { small = 300, normal = 1000, deep = 10000 }
package.path = "examples/swarm/?.lua;" .. package.path
local FRAME, ENTITIES = 1 / 60, 24000

local function open_world()
  local world = helper.new_world { seed = 1, tag = 1 }
  world:resource("Settings", { "seekers: i32", "drifters: i32", "hunters: i32" })
  local settings = world:res "Settings"
  settings.hunters, settings.drifters = ENTITIES // 100, ENTITIES // 4
  settings.seekers = ENTITIES - settings.hunters - settings.drifters
  return world, live.open(world, { "examples/swarm/scripts" })
end

local function open_inspector(world, session)
  local saved = print
  _G.print = function() end
  local ok, inspector = pcall(require("ecs.inspect").open, world, { session = session,
    edit = true, port = 25000 + (os.time() * 7 + (os.clock() * 1e6 // 1 | 0)) % 20000 })
  _G.print = saved
  return assert(ok and inspector, inspector)
end

describe("the inspector of the demo", function()
  (able and it or pending)(("bears %d requests"):format(COUNT), function()
    local world, session = open_world()
    local inspector = open_inspector(world, session)
    local path = os.tmpname()
    assert(os.execute(("%s%s spec/support/inspector_fuzz.lua '%s' %d 1 >%s 2>&1 &"):format(
      terminal.ENVIRONMENT:gsub("lua/%?%.lua;", "./?.lua;%0"), terminal.LUA, inspector.link,
      COUNT, path)))
    local polls, updates, output, due = {}, 0, "", socket.gettime()
    local stop = due + 60 + COUNT / 50
    repeat
      local before = os.clock()
      inspector:poll()
      polls[#polls + 1] = os.clock() - before
      world:update(FRAME)
      updates = updates + 1
      due = math.max(due + FRAME, socket.gettime() - 1)
      socket.sleep(math.max(0, due - socket.gettime()))
      if updates % 60 == 0 then
        local file <close> = assert(io.open(path))
        output = file:read "a"
      end
    until output:find "leaks" or socket.gettime() > stop
    os.remove(path)
    local all = 0
    for i = 1, #polls do all = all + polls[i] end
    table.sort(polls)
    local facts = ("%s\n%d updates; polls took %.3f ms of the processor a frame (%.1f %%), 99 of "
      .. "100 under %.2f ms, the longest %.2f ms"):format(output, updates, all / updates * 1e3,
      100 * all / updates / FRAME, polls[#polls * 99 // 100] * 1e3, polls[#polls] * 1e3)
    if os.getenv "ECS_FUZZ_REQUESTS" then print(facts) end
    assert.equal(COUNT, tonumber(output:match "all%s+(%d+)"), facts)
    assert.equal("0", output:match "leaks%s+(%d+)", facts)
    assert.is_true(all / updates < 0.05 * FRAME, facts)
    inspector:close()
    local twin = open_world()
    for _ = 1, updates do twin:update(FRAME) end
    assert.equal(twin:digest(), world:digest(), facts)
  end)
end)
