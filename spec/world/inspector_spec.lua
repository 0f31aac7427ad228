-- The inspector over plain sockets: what it serves, what it refuses, and that it changes nothing.
-- Where luasocket is missing these are skipped.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local native = require "ecs.native"
local rng = require "spec.support.rng"

local has_socket, socket = pcall(require, "socket")
local check = has_socket and pcall(require, "dkjson") and it or pending

local MARKUP = "<img src=x onerror=alert(1)>\"'&</script>"

local function scene(options)
  local world = helper.new_world(options or { tag = 5 })
  world:component("Position", { "x: f64", "y: f64" })
  world:component("Health", { { "hp: i32 = 100", min = 0, max = 200, unit = "hp", doc = MARKUP } })
  world:component("Body", { "at: Position", "m: u8[2]", "kind: enum(a, b)", "on: bool",
    "holds: entity", "label: string", "big: i64", doc = MARKUP })
  world:component("AI", { "mood: i32", toggle = true })
  world:component("Burning", { "since: f64", storage = "sparse" })
  world:relation("Likes", { "much: f32" })
  world:tag "Frozen"
  world:prefab("Orc", { Health = true }, { children = { { "hat", { Frozen = true } } } })
  world:array("heat", "f32", 16)
  world:index("near", { query = "Position:in", grid = "Position", cell = 1 })
  local hero = world:spawn { Position = { 1, 2 }, Health = true, Body = { label = MARKUP },
    AI = true }
  world:name(hero, MARKUP:gsub("%.", ""))
  world:spawn_many(300, { Position = { 3, 4 }, Burning = true })
  world:set(hero, "Likes", world:spawn { ChildOf = hero }, 0.5)
  world:system("move", { query = "Position", each = function(p, dt) p.x = p.x + dt end })
  world:system("odd", { query = "Health",
    each = function(h) h.hp = h.hp + #tostring(h.hp) * 0 end })
  return world, hero
end

local function open(world, options)
  local printed, saved = nil, print
  _G.print = function(text) printed = printed or text end
  options = options or {}
  options.port = options.port or 21000 + (os.time() * 7 + (os.clock() * 1e6 // 1 | 0)) % 20000
  local ok, inspector = pcall(require("ecs.inspect").open, world, options)
  _G.print = saved
  assert(ok, inspector)
  assert.are.equal("ecs inspector: " .. inspector.link, printed)
  return inspector, inspector.link:match "#(%x+)$"
end

-- An inspector of the scene.
local function opened(options)
  local world, hero = scene()
  local inspector, token = open(world, options)
  return inspector, token, world, hero
end

local function connect(inspector)
  local client = assert(socket.connect("127.0.0.1", inspector.port))
  client:settimeout(0)
  return client
end

-- Polls until a condition holds.
local function serve(inspector, seconds, done)
  local stop = socket.gettime() + seconds
  repeat
    inspector:poll(0.002)
    local result = done and done()
    if result then return result end
  until socket.gettime() > stop
end

-- What the server sends until it closes the connection.
local function answer_to(inspector, bytes, seconds)
  local client, got, sent = connect(inspector), "", 0
  serve(inspector, seconds or 3, function()
    if sent < #bytes then
      local last, _, part = client:send(bytes, sent + 1)
      sent = last or part or sent
    end
    local data, problem, part = client:receive(65536)
    got = got .. (data or part or "")
    return problem == "closed"
  end)
  client:close()
  return got
end

local function request(inspector, method, target, headers, body)
  local lines = { ("%s %s HTTP/1.1"):format(method, target) }
  for name, value in pairs(headers) do lines[#lines + 1] = name .. ": " .. value end
  if body then lines[#lines + 1] = "Content-Length: " .. #body end
  return table.concat(lines, "\r\n") .. "\r\n\r\n" .. (body or ""), inspector
end

local function headers_for(inspector, token, more)
  local headers = { Host = "127.0.0.1:" .. inspector.port, Authorization = "Bearer " .. token }
  for name, value in pairs(more or {}) do headers[name] = value or nil end
  return headers
end

local function get(inspector, token, target, more)
  local got = answer_to(inspector, (request(inspector, "GET", target,
    headers_for(inspector, token, more))))
  return tonumber(got:match "^HTTP/1.1 (%d+)"), got:match "\r\n\r\n(.*)$", got
end

local function act(inspector, token, given, more)
  local headers = headers_for(inspector, token, { Origin = "http://127.0.0.1:" .. inspector.port,
    ["Content-Type"] = "application/json" })
  for name, value in pairs(more or {}) do headers[name] = value or nil end
  local got = answer_to(inspector, (request(inspector, "POST", "/api/do", headers,
    type(given) == "string" and given or ecs.json.write(given))))
  return tonumber(got:match "^HTTP/1.1 (%d+)"), ecs.json.parse(got:match "\r\n\r\n(.*)$" or "")
end

local function watch(inspector, token, view)
  local client = connect(inspector)
  client:send((request(inspector, "GET", "/api/events?view=" .. view,
    headers_for(inspector, token))))
  return client
end

-- The first line of a stream.
local function first_line(inspector, token, view)
  local client = watch(inspector, token, view)
  local got = ""
  local line = serve(inspector, 3, function()
    local data, _, part = client:receive(65536)
    got = got .. (data or part or "")
    return got:match "\r\n\r\n(.-)\n"
  end)
  client:close()
  serve(inspector, 0.02)
  return line and ecs.json.parse(line), got
end

describe("the inspector", function()
  check("serves its page, and no answer lets others read, frame or keep it", function()
    local inspector, token = opened()
    local status, page, whole = get(inspector, "", "/")
    assert.are.equal(200, status)
    assert.is_truthy(page:find("<title>ecs inspector</title>", 1, true))
    assert.is_nil(page:find "innerHTML")
    assert.is_nil(page:find "https?://")
    local _, _, other = get(inspector, token, "/api/schema")
    local _, _, wrong = get(inspector, "00", "/api/schema")
    for _, text in ipairs { whole, other, wrong } do
      local head = text:match "^(.-)\r\n\r\n"
      for _, line in ipairs { "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
        "Cache-Control: no-store", "default-src 'none'", "frame-ancestors 'none'" } do
        assert.is_truthy(head:find(line, 1, true), line)
      end
      assert.is_nil(head:lower():find "access%-control")
    end
    assert.is_truthy(whole:find("script-src 'sha256-", 1, true))
    assert.is_nil(whole:find(token, 1, true))
  end)

  check("refuses wrong tokens, hosts, origins, methods and kinds", function()
    local inspector, token = opened({ edit = true })
    local host = "127.0.0.1:" .. inspector.port
    assert.are.equal(200, (get(inspector, token, "/api/schema")))
    assert.are.equal(200, (get(inspector, token, "/api/schema",
      { Host = "localhost:" .. inspector.port })))
    local flipped = token:sub(1, 31) .. (token:sub(32) == "0" and "1" or "0")
    for _, wrong in ipairs { "", "x", token:sub(2), token .. "0", flipped, token:upper() .. "g" } do
      assert.are.equal(401, (get(inspector, wrong, "/api/schema")), wrong)
      assert.are.equal(401, (act(inspector, wrong, { op = "step" })), wrong)
    end
    for _, name in ipairs { "evil.example", "127.0.0.1", host .. "1", "evil.example:" ..
      inspector.port, "" } do
      assert.are.equal(403, (get(inspector, token, "/api/schema", { Host = name })), name)
      assert.are.equal(403, (get(inspector, token, "/", { Host = name })), name)
      assert.are.equal(403, (act(inspector, token, { op = "step" }, { Host = name })), name)
    end
    for _, origin in ipairs { "http://evil.example", "null", "https://" .. host, "http://" .. host
      .. ".evil.example" } do
      assert.are.equal(403, (get(inspector, token, "/api/schema", { Origin = origin })), origin)
      assert.are.equal(403, (act(inspector, token, { op = "step" }, { Origin = origin })), origin)
    end
    assert.are.equal(403, (act(inspector, token, { op = "step" }, { Origin = false })))
    for _, kind in ipairs { "text/plain", "application/x-www-form-urlencoded",
      "application/jsonp" } do
      assert.are.equal(415, (act(inspector, token, { op = "step" }, { ["Content-Type"] = kind })))
    end
    assert.are.equal(404, (get(inspector, token, "/api/do")))
    assert.are.equal(404, (get(inspector, token, "/../etc/passwd")))
    local got = answer_to(inspector, (request(inspector, "DELETE", "/",
      headers_for(inspector, token))))
    assert.are.equal("405", got:match "^HTTP/1.1 (%d+)")
    assert.is_false(inspector.paused)
  end)

  check("changes nothing without edit, and evaluates nothing", function()
    local inspector, token, world, hero = opened()
    local before = world:save()
    for _, given in ipairs { { op = "set", id = hero, field = "Position.x", value = "9" },
      { op = "despawn", id = hero }, { op = "spawn" }, { op = "pause", on = true }, { op = "step" },
      { op = "switch", name = "move", on = false }, { op = "reload" }, { op = "undo" },
      { op = "add", id = hero, component = "Frozen" }, { op = "reset_counters" } } do
      assert.are.equal(403, (act(inspector, token, given)))
    end
    local status, body = get(inspector, token, "/api/explain?name=os.exit()")
    assert.are.equal(400, status)
    assert.is_truthy(body:find "no system")
    assert.are.equal(before, world:save())
    assert.is_false(inspector.paused)
  end)

  check("shows entities, an entity, systems, storage, a map, time and scripts", function()
    local inspector, token, world, hero = opened({ edit = true })
    for _ = 1, 3 do inspector:update(0.1) end
    local rows = first_line(inspector, token, "entities&q=Body")
    assert.are.same({ 1, 1 }, { rows.data.count, rows.data.shown })
    assert.is_truthy(rows.data.rows:find("^" .. hero .. "\u{E000}.*\u{E000}"))
    assert.is_truthy(rows.data.rows:find(MARKUP, 1, true))
    local many = first_line(inspector, token, "entities&q=Position")
    assert.are.equal(301, many.data.count)
    assert.is_true(many.data.shown > 0 and many.data.shown <= 200)   -- as the time allows
    local wrong = first_line(inspector, token, "entities&q=Positon")
    assert.is_truthy(wrong.error:find("did you mean 'Position'", 1, true))
    assert.is_truthy(first_line(inspector, token, "entities&q=Position:changed").error)
    local one = first_line(inspector, token, "entity&id=" .. hero)
    local names = {}
    for i, part in ipairs(one.data.components) do names[i] = part.name end
    table.sort(names)
    assert.are.equal("AI Body Health Likes Position", table.concat(names, " "))
    assert.are.equal(1, #one.data.children)
    local system = first_line(inspector, token, "systems").data.systems[1]
    assert.are.same({ "move", 301 }, { system.name, system.rows })
    local storage = first_line(inspector, token, "storage")
    assert.are.equal(300, storage.data.sparse[1].rows)
    assert.are.equal(16, storage.data.arrays[1].length)
    local map = first_line(inspector, token, "map&q=Position&x=Position.x&y=Position.y&c=&s=")
    assert.are.equal(301, map.data.count)
    assert.is_truthy(map.data.points:find "^%d+ %-?[%d.]+ %-?[%d.]+ %-?nan %-?nan;")
    assert.is_truthy(first_line(inspector, token, "time").data.updates)
    assert.is_true(first_line(inspector, token, "scripts").data.none)
    assert.are.equal(404, (get(inspector, token, "/api/events?view=nothing")))
    local _, text = get(inspector, token, "/api/explain?name=odd")
    assert.is_truthy(ecs.json.parse(text).about.reason)
    world:component("Odd", { "v: any" })
    world:set(hero, "Odd.v", setmetatable({}, { __tostring = function() error "no" end }))
    assert.is_nil(first_line(inspector, token, "entities&q=Odd").error)
    assert.is_false(world:profile())
    local list = require("ecs.inspect.answers").stream(inspector, { view = "entities", q = "Mood" })
    for i = 1, 2 do
      world:tag "Mood"
      inspector.looked = 0
      assert.are.equal(0, list:next(4 * i).data.count)
      world:undeclare "Mood"
      inspector.looked = 0
      assert.is_truthy(list:next(4 * i + 2).error)
    end
  end)

  check("edits, and undoes what nobody has changed since", function()
    local inspector, token, world, hero = opened({ edit = true })
    local function done(given)
      local status, body = act(inspector, token, given)
      assert.are.equal(200, status, body and body.error)
      return body
    end
    local function refused(given, message)
      local status, body = act(inspector, token, given)
      assert.are.equal(400, status)
      assert.is_truthy(body.error:find(message, 1, true), message .. ": " .. body.error)
    end
    local digest = world:digest()
    local fields = { ["Position.x"] = { "9.5", 9.5 }, ["Body.at.y"] = { "-3", -3.0 },
      ["Body.m[2]"] = { "0x7", 7 }, ["Body.kind"] = { "b", "b" }, ["Body.on"] = { "true", true },
      ["Body.label"] = { "<b>", "<b>" }, ["Body.big"] = { "9007199254740993", 9007199254740993 },
      ["Body.holds"] = { ecs.format(hero), hero } }
    for field, pair in pairs(fields) do
      done { op = "set", id = hero, field = field, value = pair[1] }
      assert.are.equal(pair[2], (world:get(hero, field)))
      done { op = "undo" }
    end
    assert.are.equal(digest, world:digest())
    refused({ op = "set", id = hero, field = "Health.hp", value = "300" },
      "declares 0 to 200")
    refused({ op = "set", id = hero, field = "Health.hp", value = "x" }, "is not a number")
    refused({ op = "set", id = hero, field = "Health.xp", value = "1" }, "there is no field")
    refused({ op = "set", id = hero, field = "Frozen.x", value = "1" }, "has no 'Frozen'")
    refused({ op = "set", id = 7777777, field = "Health.hp", value = "1" }, "not alive")
    refused({ op = "undo" }, "nothing has been changed")
    refused({ op = "nonsense" }, "no such change")
    assert.are.equal("there is no system or phase 'x'",
      select(2, act(inspector, token, { op = "switch", name = "x" })).error)
    -- What an added component requires goes with it.
    world:component("Mount", { "n: i32", requires = { "Frozen" } })
    world:component("Rider", { "n: i32", requires = { "AI", "Mount" } })
    digest = world:digest()
    done { op = "add", id = hero, component = "Rider" }
    done { op = "undo" }
    assert.are.equal(digest, world:digest())
    done { op = "set", id = hero, field = "Health.hp", value = "5" }
    world:set(hero, "Health.hp", 6)
    refused({ op = "undo" }, "has changed since")
    world:set(hero, "Health.hp", 100)
    done { op = "add", id = hero, component = "Frozen" }
    assert.is_true(world:has(hero, "Frozen"))
    done { op = "undo" }
    for _, name in ipairs { "Body", "Likes", "AI" } do
      done { op = "remove", id = hero, component = name }
      assert.is_false(world:has(hero, name))
      done { op = "undo" }
    end
    assert.are.equal(digest, world:digest())
    local orc = done { op = "spawn", prefab = "Orc" }.id
    done { op = "set", id = orc, field = "Health.hp", value = "7" }
    done { op = "despawn", id = orc }
    local again = done { op = "undo" }.id
    assert.is_true(world:has(again, "Health"))
    assert.are.equal(1, world:count("(ChildOf, $p)", { p = again }))
    done { op = "undo" }
    assert.are.equal(100, (world:get(again, "Health.hp")))
    done { op = "undo" }
    assert.is_false(world:alive(again))
    for _, on in ipairs { false, true } do
      done { op = "switch", name = "move", on = on }
      assert.are.equal(on, world:describe().systems[1].enabled)
      done { op = "undo" }
      assert.is_true(world:describe().systems[1].enabled)
    end
    done { op = "switch", name = "move", on = false }
    world:switch("move", true)
    refused({ op = "undo" }, "has been switched since")
    -- What an edit replaces comes back, and so does what leads out of a despawned entity.
    refused({ op = "set", id = hero, field = "Health.hp", value = "nan" }, "is out of range")
    local first, second = world:spawn(), world:spawn()
    local child = world:spawn { ChildOf = first, Body = { holds = second } }
    world:set(child, "Likes", second, 0.5)
    done { op = "add", id = child, component = "ChildOf", target = tostring(second) }
    assert.are.equal(second, world:parent(child))
    done { op = "undo" }
    assert.are.equal(first, world:parent(child))
    refused({ op = "set", id = child, field = "ChildOf.target", value = "null" }, "remove")
    done { op = "despawn", id = child }
    child = done { op = "undo" }.id
    assert.are.equal(first, world:parent(child))
    assert.are.equal(second, (world:get(child, "Body.holds")))
    assert.is_true(world:has(child, "Likes", second))
  end)

  check("pauses, steps, speeds up and goes back", function()
    local world, hero = scene()
    local told
    local inspector, token = open(world, { edit = true,
      on_restore = function(tick) told = tick end })
    assert.are.equal(1, inspector:update(0.1))
    act(inspector, token, { op = "pause", on = true })
    assert.are.equal(0, inspector:update(0.1))
    for _ = 1, 2 do act(inspector, token, { op = "step" }) end
    assert.are.equal(2, inspector:update(0.1))
    assert.are.equal(0, inspector:update(0.1))
    act(inspector, token, { op = "pause", on = false })
    act(inspector, token, { op = "speed", speed = 4 })
    assert.are.equal(4, inspector:update(0.1))
    act(inspector, token, { op = "speed", speed = 0.5 })
    assert.are.equal(1, inspector:update(0.1) + inspector:update(0.1))
    act(inspector, token, { op = "pause", on = true })
    world:defer()      -- there is no snapshot of an open scope, but there are later ones
    first_line(inspector, token, "time")
    world:commit()
    inspector.kept = 0
    inspector:update(0.1)
    local shown = first_line(inspector, token, "time")
    assert.are.equal(1, #shown.data.ring)
    local x, digest = world:get(hero, "Position.x"), world:digest()
    act(inspector, token, { op = "set", id = hero, field = "Position.x", value = "77" })
    assert.are.equal(200, (act(inspector, token, { op = "back",
      number = shown.data.ring[1].number })))
    assert.are.equal(x, (world:get(hero, "Position.x")))
    assert.are.equal(digest, world:digest())
    assert.are.equal(shown.data.ring[1].tick, told)
    assert.are.equal(400, (act(inspector, token, { op = "back", number = 99 })))
  end)

  check("changes neither digest nor saved bytes while every view is looked at", function()
    local world, other = scene { tag = 5, seed = 4 }, scene { tag = 5, seed = 4 }
    local inspector, token = open(world)
    for _, view in ipairs { "entities&q=Position,Body?", "entity&id=" .. (5 << 44 | 65536),
      "systems", "storage", "map&q=Position&x=Position.x&y=Position.y", "time", "scripts",
      "entities&q=Nope" } do
      first_line(inspector, token, view)
      inspector:update(0.1)
      other:update(0.1)
    end
    get(inspector, token, "/api/explain?name=move")
    assert.are.equal(other:digest(), world:digest())
    assert.are.equal(other:save(), world:save())
    local plain = helper.new_world { tag = 6 }   -- without any relation
    plain:component("Spot", { "x: f64" })
    local one = plain:spawn { Spot = {} }
    local before = plain:save()
    inspector, token = open(plain)
    first_line(inspector, token, "entity&id=" .. one)
    plain:dump(one)
    assert.are.equal(before, plain:save())
  end)

  check("leaves profiling on as long as one of a world's inspectors shows it", function()
    local world = scene()
    local first, token = open(world)
    local second, other = open(world)
    local one, two = watch(first, token, "systems"), watch(second, other, "systems")
    serve(first, 3, function() return (one:receive(1)) end)
    serve(second, 3, function() return (two:receive(1)) end)
    assert.is_true(world:profile())
    one:close()
    serve(first, 3, function() return #first.server.connections == 0 end)
    assert.is_true(world:profile())
    two:close()
    serve(second, 3, function() return #second.server.connections == 0 end)
    assert.is_false(world:profile())
  end)

  check("bears cut, huge and random requests", function()
    local inspector, token, world = opened({ edit = true })
    local before = world:digest()
    local whole = request(inspector, "POST", "/api/do", headers_for(inspector, token,
      { Origin = "http://127.0.0.1:" .. inspector.port, ["Content-Type"] = "application/json" }),
      '{"op":"despawn","id":1}')
    for length = 1, #whole - 1, 7 do
      local client = connect(inspector)
      client:send(whole:sub(1, length))
      client:close()
    end
    serve(inspector, 0.1)
    local long = ("a"):rep(9000)
    local function status_of(bytes) return answer_to(inspector, bytes):match "^HTTP/1.1 (%d+)" end
    assert.are.equal("431", status_of("GET / HTTP/1.1\r\nX: " .. long .. "\r\n\r\n"))
    assert.are.equal("413", status_of((whole:gsub("Content%-Length: %d+",
      "Content-Length: 65537"))))
    for _, head in ipairs { "nonsense\r\n\r\n", "GET / HTTP/9\r\n\r\n", "GET x HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "GET / HTTP/1.1\r\n folded: x\r\n\r\n", "\0\0\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n" } do
      assert.are.equal("400", status_of(head), head)
    end
    assert.are.equal("400", status_of((whole:gsub("Content%-Length: %d+",
      "%0\r\nTransfer-Encoding: chunked"))))
    for _, body in ipairs { "", "{", "[]", "1", "null", '{"op":1}', '{"op":"set"}', "\xff",
      ("["):rep(60000) } do
      assert.are.equal(400, (act(inspector, token, body)), body:sub(1, 40))
    end
    local random = rng.new(11)
    for _ = 1, helper.by_scale { small = 30, normal = 150, deep = 2000 } do
      local bytes = whole
      for _ = 1, random:int(8) do
        local at = random:int(#bytes)
        bytes = bytes:sub(1, at - 1) .. string.char(random:int(256) - 1)
          .. bytes:sub(at + random:int(3) - 1)
      end
      local client = connect(inspector)
      client:send(bytes)
      inspector:poll()
      inspector:poll()
      client:close()
    end
    serve(inspector, 0.2)
    assert.are.equal(before, world:digest())
    assert.are.equal(200, (get(inspector, token, "/api/schema")))
    assert.is_true(world:check())
  end)

  check("takes a time in line with the length of what it is sent", function()
    local inspector, token, world = opened({ edit = true })
    local start = os.clock()
    for _ = 1, 5 do
      answer_to(inspector, "GET /?" .. ("a"):rep(8000) .. " HTTP/1.1\r\nHost: x\r\n\r\n")
      answer_to(inspector, "GET / HTTP/1.1\r\nX: a" .. (" "):rep(8000) .. "b\r\n\r\n")
      answer_to(inspector, "GET /" .. ("a"):rep(8000) .. "\x80 HTTP/1.1\r\n\r\n")
    end
    local e = world:spawn { Body = true }
    act(inspector, token, { op = "set", id = e, field = "Body.holds", value = ("1"):rep(60000) })
    assert.is_true(os.clock() - start < 1)
    world:set(e, "Body.label", ("\u{20ac}"):rep(1e6))
    local cut = first_line(inspector, token, "entity&id=" .. e)
    assert.is_true(#ecs.json.write(cut.data) < 2000)
    world:set(e, "Body.label", "a\nb")
    cut = ecs.json.write(first_line(inspector, token, "entity&id=" .. e).data)
    assert.is_truthy(cut:find([=[["Body.label","a\nb","any"]]=], 1, true))
    local root = world:spawn()
    for _ = 1, 60 do
      local child = world:spawn { ChildOf = root }
      world:spawn_many(60, { ChildOf = child })
    end
    local line = first_line(inspector, token, "entity&id=" .. root)
    assert.is_true(#ecs.json.write(line.data.children) < 20000)
    -- Rows of several wildcards multiply: these would be 3600, 216000 and 12960000.
    for _ = 1, 60 do world:add(root, "Likes", world:spawn()) end
    line = first_line(inspector, token, "entities&q=(Likes,$a),(Likes,$b)")
    assert.is_true(line.data.count <= 3600)
    line = first_line(inspector, token, "entities&q=" .. ("(Likes,*),"):rep(3)
      .. "Position?")
    assert.is_truthy(line.error:find("wildcards and variables multiply", 1, true))
    world:name(root, "a\u{E001}7\u{E000}b")
    world:add(root, "Frozen")
    line = first_line(inspector, token, "entities&q=Frozen")
    assert.are.equal(root .. "\u{E000}a?7?b", line.data.rows:match "^.-b")
  end)

  check("bears a program that closes it, polls it or raises anything in the middle", function()
    local inspector, token, act_of
    for _, doing in ipairs { function() inspector:poll() end,
      function() error(setmetatable({}, { __index = function(self) return self end })) end,
      function() inspector:close() end } do
      local world = scene()
      inspector, token = open(world, { edit = true, on_restore = function() act_of() end })
      act_of = doing
      first_line(inspector, token, "time")
      inspector:update(0.1)
      local others = { connect(inspector), connect(inspector) }
      serve(inspector, 0.01)
      others[1]:close()
      act(inspector, token, { op = "back", number = inspector.ring[1].number })
      others[2]:close()
    end
  end)

  check("bears a hundred connections, and readers that do not read", function()
    local inspector, token = opened()
    local clients = {}
    for i = 1, 100 do
      clients[i] = socket.tcp()
      clients[i]:settimeout(0.02)
      clients[i]:connect("127.0.0.1", inspector.port)
      if i % 10 == 0 then inspector:poll() end
    end
    serve(inspector, 0.05)
    assert.is_true(#inspector.server.connections <= 16)
    for _, client in ipairs(clients) do client:close() end
    serve(inspector, 0.2)
    assert.are.equal(0, #inspector.server.connections)
    local slow = watch(inspector, token, "entities&q=Position")
    serve(inspector, 0.6)
    for _, connection in ipairs(inspector.server.connections) do
      assert.is_true(#connection.out <= 1024 * 1024)
    end
    assert.are.equal(200, (get(inspector, token, "/api/schema")))
    slow:close()
    -- What there is no room for waits, and is answered.
    for i = 1, 20 do clients[i] = watch(inspector, token, "systems") end
    local waiting = connect(inspector)
    waiting:send((request(inspector, "GET", "/api/schema", headers_for(inspector, token))))
    serve(inspector, 0.3)
    assert.are.equal("timeout", select(2, waiting:receive(100)))
    for i = 1, 20 do clients[i]:close() end
    assert.is_truthy(serve(inspector, 3, function() return (waiting:receive(100)) end))
    waiting:close()
    -- One that sends nothing is told so when its time is over.
    local idle = connect(inspector)
    serve(inspector, 0.02)
    for _, connection in ipairs(inspector.server.connections) do connection.began = 0 end
    serve(inspector, 0.05)
    local _, _, part = idle:receive(1000)
    assert.is_truthy(part:find("HTTP/1.1 408", 1, true), part)
    idle:close()
    -- Streams that take long take turns.
    local most, calls, all = 0, 0, 0
    function inspector.time() calls = calls + 1 socket.sleep(0.003) return {} end
    for i = 1, 5 do clients[i] = watch(inspector, token, "time") end
    serve(inspector, 2, function()
      most, all, calls = math.max(most, calls), all + calls, 0
      return all > 10
    end)
    assert.are.same({ 1, true }, { most, all > 10 })
  end)

  check("ends, and frees its port, with its world or variable, by close and by a scope", function()
    local world = scene()
    for _, close in ipairs { function(_, inspector) inspector:close() end,
      function(_, inspector) local _ <close> = inspector end, function() world:close() end,
      function(other) local _ <close> = other end } do
      world = native.is_open(world) and world or scene()
      local inspector = open(world)
      local second = open(world, { port = inspector.port })
      assert.are_not.equal(inspector.port, second.port)
      assert.are.equal(("ecs.inspector (port %d)"):format(inspector.port), tostring(inspector))
      close(world, inspector)
      assert.are.equal("ecs.inspector (closed)", tostring(inspector))
      assert.is_nil((socket.connect("127.0.0.1", inspector.port)))
      inspector:close()
      inspector:poll()
      assert.are.equal(native.is_open(world), (pcall(inspector.update, inspector, 0.1)))
      second:close()
    end
  end)

  check("checks its options", function()
    local world = scene()
    local inspect = require "ecs.inspect"
    for message, options in pairs {
      ["unknown option 'prot'"] = { prot = 1 }, ["option 'port' must be a number"] = { port = "x" },
      ["from 0 to 65535"] = { port = 70000 }, ["option 'edit' must be a boolean"] = { edit = 1 },
      ["hosts = {"] = { host = "0.0.0.0" }, ["list of names"] = { hosts = { "a b" } },
      ["ecs.live.open"] = { session = {} } } do
      local ok, problem = pcall(inspect.open, world, options)
      assert.is_false(ok)
      assert.is_truthy(problem:find(message, 1, true), problem)
    end
    for _, value in ipairs { 1, "x", {}, print } do
      assert.is_false((pcall(inspect.open, value)))
      assert.is_false((pcall(inspect.open, world, value == 1 and 1 or "x")))
    end
    local hostile = require "spec.support.hostile"
    for _, entry in ipairs(hostile.values) do
      local other = hostile.scene(ecs.world)
      local value = entry[2](other)
      for _, key in ipairs { "port", "edit", "host", "hosts", "session", "on_restore" } do
        local saved = print
        _G.print = function() end
        local ok, problem = pcall(inspect.open, other.world, { [key] = value })
        _G.print = saved
        if ok then problem:close() end
        assert(ok or type(problem) == "string" and not problem:find("attempt to", 1, true),
          ("%s = %s: %s"):format(key, entry[1], tostring(problem)))
      end
      other.world:close()
      other.other:close()
    end
    local inspector = open(world)
    for _, method in ipairs { "poll", "update", "close" } do
      assert.is_false((pcall(inspector[method], {})))
    end
    assert.is_false((pcall(inspector.poll, inspector, -1)))
  end)
end)

describe("without luasocket the inspector", function()
  it("says what to install", function()
    local saved, preload = package.loaded.socket, package.preload.socket
    package.loaded.socket, package.preload.socket = nil, function() error "no socket" end
    local world = ecs.world()
    local ok, problem = pcall(require("ecs.inspect").open, world)
    package.loaded.socket, package.preload.socket = saved, preload
    assert.is_false(ok)
    assert.is_truthy(problem:find("ecs.inspect needs the package 'luasocket'", 1, true))
    world:close()
  end)
end)
