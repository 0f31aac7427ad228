-- What registration can know about functions is checked before anything is swapped in, against the
-- layouts that would be: fields, parameters, and writes to what is read-only.

local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local scratch = require "spec.support.scratch"

local has_error = helper.has_error

local LAYOUT = [[
local world = ...
world:component("Offset", { "x: f32", "y: f32" })
world:component("P", { "x: f32", "y: f32", "at: Offset", "m: Offset[2]", "n: f32[3]" })
world:component("Q", { "x: f32", "y: f32" })
world:resource("Config", { "speed: f32 = 2", "at: Offset" })
]]

describe("a field that goes (C60)", function()
  local world, files, session, errors

  before_each(function()
    world, files, errors = helper.new_world(), scratch.new(), {}
    files:write("a_layout.lua", LAYOUT)
  end)

  after_each(function()
    files:close()
    _G.HELPER, _G.CONFIG = nil, nil
  end)

  local function open()
    session = live.open(world, files.path, { on_error = function(message)
      errors[#errors + 1] = message
    end })
    assert.are.same({}, errors)
    world:spawn { P = {}, Q = {} }
    world:update(0.5)
  end

  local function relabel(from, to)
    local text, count = LAYOUT:gsub(from:gsub("%p", "%%%0"), to)
    assert.are.equal(1, count)
    files:write("a_layout.lua", text)
  end

  -- The third line of b.lua is where a function uses what goes.
  local function refused(body, from, to, what)
    files:write("b.lua", "local world = ...\nlocal config = world:res 'Config'\n" .. body)
    open()
    local before = world:describe().systems
    relabel(from, to)
    local ok, message = helper.poll(session)
    assert.is_false(ok, "not refused: " .. body)
    for _, text in ipairs { "b.lua:3: ", "system 's'", what } do
      assert(message:find(text, 1, true), message)
    end
    local after = world:describe().systems
    for i, system in ipairs(after) do
      assert.are.same({ before[i].name, false }, { system.name, system.parked })
    end
    world:update(0.5)
    files:write("a_layout.lua", LAYOUT)
    assert.is_true(helper.poll(session))
    world:update(0.5)
  end

  local function each(body, name)
    return ("world:system('%s', { query = 'P, Q', each = function(p, q, dt, e) %s end })\n")
      :format(name or "s", body)
  end

  -- Another world and another directory.
  local function anew()
    files:close()
    files, world, errors = scratch.new(), helper.new_world(), {}
    files:write("a_layout.lua", LAYOUT)
  end

  local renamed = "component 'P' has no field 'y'"
  for _, case in ipairs {
    { "is read by a kernel", "q.x = p.y" },
    { "is written by a kernel", "p.y = dt" },
    { "is used behind what no kernel can do", "local t = { p.x } t = #t .. '' p.y = 1" },
    { "is used under conditions, in loops and behind an early return",
      "if dt > 9 then return end for i = 1, 3 do if q.x > i then q.x = p.y end end" },
    { "is used by a function that a local holds", "local also = p also.y = 1" },
    { "is used in a loop over a table", "for _, v in ipairs {} do p.x = v p.y = v end" },
  } do
    it("is refused when it " .. case[1], function()
      refused(each(case[2]), '"x: f32", "y: f32", "at', '"x: f32", "up: f32", "at', renamed)
    end)
  end

  it("is refused inside nested fields and arrays", function()
    local what = "component 'Offset' has no field 'y'"
    for _, body in ipairs { "p.at.y = 1", "q.x = p.m[1].y", "local m = p.m m[2].y = 1",
                            "local i = 2 p.m[i].y = 1", "q.x = config.at.y" } do
      anew()
      refused(each(body), '"Offset", { "x: f32", "y: f32"', '"Offset", { "x: f32", "up: f32"', what)
    end
  end)

  it("is refused of a resource, in every form of a system", function()
    local what = "component 'Config' has no field 'speed'"
    for _, body in ipairs { each "p.x = config.speed", each "CONFIG = 1 config.speed = 1",
                            "world:system('s', { run = function() print(config.speed) end })",
                            "world:system('s', { query = 'P.x', map = function(x) "
                              .. "return x * config.speed end })" } do
      anew()
      refused(body, "speed: f32", "pace: f32", what)
    end
  end)

  it("is refused in functions that are called with the view", function()
    local helpers = "local function lift(v, by) v.y = v.y + by end "
      .. "local t = { also = function(a, b) lift(b, a.x) end } "
    refused(helpers .. each "t.also(q, p)", '"x: f32", "y: f32", "at', '"x: f32", "at', renamed)
  end)

  it("may stand where it may never be used, or where something else is", function()
    files:write("b.lua", "local world = ... local depth = 2\n"
      .. "local function shift(v, deep) if deep > 2 then v.z = 1 else v.x = 1 end end\n"
      .. "local function try(v) for i = 1, 0 do v.z = i end end\n"
      .. each "shift(p, depth) try(q)"
      .. each("p = { z = 1 } q.x = p.z", "t")
      .. each("local o = p for i = 1, 2 do if o ~= p then q.x = o.z end o = { z = i } end", "u")
      .. each("local f = function(v) return v.z end q.x = pcall(f, p) and 1 or 2", "v"))
    open()
    relabel('"Q", { "x: f32", "y: f32"', '"Q", { "x: f32"')
    assert.is_true(helper.poll(session))
    world:update(0.5)
  end)

  it("is refused when its file has been read again, too, whatever runs functions", function()
    for _, kernels in ipairs { true, false } do
      world = helper.new_world { kernels = kernels }
      files:write("a_layout.lua", LAYOUT)
      files:write("b.lua", "local world = ...\n\n" .. each "p.y = 1")
      open()
      files:write("b.lua", "local world = ...\n\n" .. each "p.yy = 1")
      local ok, message = helper.poll(session)
      assert.is_false(ok)
      assert(message:find("b.lua:3: ", 1, true) and message:find("system 's'", 1, true)
        and message:find("has no field 'yy' (did you mean 'y'?)", 1, true), message)
      errors = {}
    end
  end)

  it("is refused for systems of the host, and swaps when all have changed", function()
    world:component("Own", { "a: f32" })
    files:write("b.lua", "local world = ...\n\n" .. each "p.y = 1")
    open()
    world:system("host", { query = "P", each = function(p) p.x = p.y end })
    relabel('"x: f32", "y: f32", "at', '"x: f32", "up: f32", "at')
    files:write("b.lua", "local world = ...\n\n" .. each "p.up = 1")
    local ok, message = helper.poll(session)
    assert.is_false(ok)
    assert(message:find("system 'host'", 1, true)
      and message:find("live_checks_spec.lua:", 1, true), message)
    world:remove_system "host"
    files:write("b.lua", "local world = ...\n\n" .. each "p.up = 2")
    assert.is_true(helper.poll(session))
    world:update(0.5)
  end)
end)

describe("registration", function()
  local world

  before_each(function()
    world = helper.new_world()
    world:component("P", { "x: f32", "y: f32" })
    world:component("Q", { "x: f32" })
  end)

  local function refused(spec, ...)
    has_error(function() world:system("s", spec) end, "live_checks_spec.lua:", "system 's'", ...)
    assert.are.equal(0, #world:describe().systems)
  end

  it("knows how many parameters are given", function()
    refused({ query = "P", each = function(_, dt, _, _) return dt end },
      "it has 4 parameters, but gets 3 arguments: the values of its query, dt, entity")
    refused({ query = "P.x, P.y", map = function(_, _, _, _, _) end }, "5 parameters", "gets 4")
    refused({ run = function(_, _, _, _) end }, "4 parameters",
      "gets 3 arguments: world, dt, query")
    world:system("s", { query = "P.x, P.y?, Q|P", each = function(_, _, _, _, _, _) end })
    world:system("s", { query = "P", each = function(_, ...) return ... end })
    world:system("s", { query = "P", each = print })
    world:system("s", { run = function(_, _, _) end })
  end)

  it("knows where dt is", function()
    refused({ query = "P, Q", each = function(_, dt) return dt end },
      "its parameter 2 is named 'dt', but dt is passed as parameter 3")
    refused({ query = "P.x", map = function(dt) return dt end }, "parameter 1", "parameter 2")
    refused({ run = function(dt) return dt end }, "parameter 1", "parameter 2")
    world:system("s", { query = "P, Q", each = function(_, _, dt) return tostring(dt) end })
    world:system("s", { run = function(_, dt) return tostring(dt) end })
  end)

  it("knows results that nothing takes", function()
    local why = "it returns a value, which is ignored: write a bare 'return'"
    refused({ query = "P", each = function(p) return p.x end }, why, "or use 'map' to write "
      .. "results to")
    refused({ query = "P", each = function(p) if p.x > 0 then return false end p.x = 1 end }, why)
    refused({ query = "P", each = function(p) return (tostring(p)) end, compile = false }, why)
    refused({ query = "P", each = function(p) return nil, p.x end }, why)
    refused({ run = function(w) return w end }, why)
    world:system("s", { query = "P", each = function(p) if p.x > 0 then return end p.x = 1 end })
    world:system("s", { query = "P", each = function(p)
      if p.x > 0 then return nil end
      p.x = 1
    end })
    world:system("s", { query = "P", each = function() return nil, nil end })
    world:system("s", { query = "P", each = function(p) return tostring(p) end })
    world:system("s", { query = "P", each = function(_, ...) return ... end })
    world:system("s", { query = "P.x", map = function(x) return x end })
    world:query("P"):each(function(p) return p.x end)
  end)

  it("knows the fields of views, and what is read-only", function()
    refused({ query = "P", each = function(p) p.z = 1 end }, "component 'P' has no field 'z'")
    refused({ query = "P", compile = false, each = function(p) return { p.z } end }, "'z'")
    refused({ query = "P:in", each = function(p) local t = { p.x } p.x = #t end },
      "it writes to 'P', which is read-only (:in)")
    local function set(v) v.x = 1 end
    refused({ query = "P:in", each = function(p) set(p) end }, "it writes to 'P'")
    refused({ query = "Q, P?", each = function(_, p) if p then p.z = 1 end end }, "'z'")
    world:system("s", { query = "P:in, Q", each = function(p, q) q.x = p.x end })
  end)

  -- What functions are given that are no systems': views, and then the entity, but to q:map.
  local given = {
    ["index 'i'"] = function(fn) world:index("i", { query = "P:in, Q?", ordered = fn }) end,
    ["where"] = function(fn) world:query("P:in, Q?"):where(fn) end,
    ["observer 's'"] = function(fn)
      world:observer("s", { on = "enter", query = "P:in, Q?", each = fn })
    end,
  }

  for what, give in pairs(given) do
    it("knows what functions are given: " .. what, function()
      local function is_refused(fn, ...)
        has_error(function() give(fn) end, what .. ": ", "live_checks_spec.lua:", ...)
      end
      is_refused(function(p) return p.zz > 1 end, "component 'P' has no field 'zz'")
      is_refused(function(p) return p.x + p.xx end, "component 'P' has no field 'xx'")
      is_refused(function(_, q) return q and q.y or 0.0 end, "component 'Q' has no field 'y'")
      is_refused(function(_, dt) return dt end,
        "its parameter 2 is named 'dt', but it gets no dt: the values of its query, entity")
      is_refused(function(_, _, _, _) return 1 end,
        "it has 4 parameters, but gets 3 arguments: the values of its query, entity")
      give(function(p, q, e, ...) print(p.x, q, e, ...) end)
      if what == "observer 's'" then return end
      give(function(p, q, e) return p.x > 1 and (q and q.x or e) or p.y end)
      give(tostring)
    end)
  end

  it("knows what functions of q:map are given", function()
    local query = world:query "P.x, Q.x?"
    local function is_refused(fn, ...)
      has_error(function() query:map(fn) end, "map: ", "live_checks_spec.lua:", ...)
    end
    world:resource("One", { "a: f32" })
    local one = world:res "One"
    is_refused(function() return one.b end, "component 'One' has no field 'b'")
    is_refused(function(dt) return dt end,
      "its parameter 1 is named 'dt', but dt is passed as parameter 3")
    is_refused(function(_, _, entity) return entity end,
      "its parameter 3 is named 'entity', but that argument is dt")
    is_refused(function(_, _, _, _, _) end,
      "it has 5 parameters, but gets 4 arguments: the values of its query, dt, entity")
    query:map(function(x, _, dt, entity) return entity and x + dt end, 1)
  end)

  it("knows nothing of a parameter that another function may assign to", function()
    refused({ query = "P, Q", each = function(p, q)
      local function other() return p end
      return other(), q.z
    end }, "component 'Q' has no field 'z'")
    world:system("s", { query = "P", each = function(p)
      local function choose() p = { z = 1 } end
      choose()
      return print(p.z)
    end })
  end)

  it("knows nothing of an upvalue or a global that the function assigns to", function()
    world:resource("One", { "a: f32" })
    world:resource("Two", { "b: f32" })
    local current = world:res "One"
    refused({ run = function() current.b = 1 end }, "component 'One' has no field 'b'")
    world:system("s", { run = function(w)
      current = w:res "Two"
      current.b = 1
    end })
    world:update(0)
    assert.are.equal(1.0, world:res "Two".b)
    _G.CURRENT = world:res "One"
    local uses = load "return function() CURRENT.b = 2 end"
    local sets = load "return function(w) CURRENT = w:res 'Two' CURRENT.b = 2 end"
    world:remove_system "s"
    has_error(function() world:system("s", { run = uses() }) end,
      "component 'One' has no field 'b'")
    world:system("s", { run = sets() })
    world:update(0)
    assert.are.equal(2.0, world:res "Two".b)
    _G.CURRENT = nil
  end)

  it("follows no function for ever", function()
    local function again(v, n) again(v, n) v.x = n end
    world:system("s", { query = "P", each = function(p) again(p, 1) end })
    local wide = {}
    for i = 1, 6 do
      wide[i] = function(v) for _ = 1, 0 do v.none = 1 end end
    end
    wide[7] = function(v)
      wide.f(v) wide.f(v) wide.f(v) wide.f(v) wide.f(v) wide.f(v) wide.f(v) wide.f(v)
    end
    wide.f = wide[7]
    local start = os.clock()
    world:system("s", { query = "P", each = function(p) wide.f(p) wide.f(p) end })
    assert.is_true(os.clock() - start < 1)
  end)
end)

describe("the names of a spawner (C58)", function()
  it("are looked for before the swap, with file and line", function()
    local world, files = helper.new_world(), scratch.new()
    files:write("a_layout.lua", LAYOUT)
    files:write("b.lua", "local world = ...\nlocal make = world:spawner \"P, Q\"\n"
      .. "world:system(\"s\", { run = function() make(1) end })\n")
    local session = live.open(world, files.path)
    world:update(0.5)
    assert.are.equal(1, world:count "P, Q")
    files:write("b.lua", "local world = ...\nlocal make = world:spawner \"P, Quu\"\n")
    local _, problem = session:poll { force = true }
    assert.truthy(tostring(problem):find("b.lua:2:", 1, true), problem)
    assert.truthy(tostring(problem):find("unknown component 'Quu'", 1, true), problem)
    files:close()
  end)

  it("may be fields, also such that no query could name", function()
    local world, files = helper.new_world(), scratch.new()
    files:write("b.lua", 'local world = ...\nlocal make = world:spawner "W.m, W.n, V"\n'
      .. 'world:system("s", { run = function() make({ 1, 2 }, 3, 4) end })\n')
    files:write("c.lua", 'local world = ...\nworld:component("W", { "n: i32", "m: i32[2]" })\n'
      .. 'world:component("V", { "x: i32" })\n')
    live.open(world, files.path)
    world:update(0.5)
    local e = world:query("W, V"):first()
    assert.are.same({ 3, 2, 4 },
      { world:get(e, "W.n"), world:get(e, "W.m[2]"), world:get(e, "V.x") })
    files:close()
  end)
end)

describe("the report of a reload", function()
  local RIDE = [[
    w:component("Item", { "kind: i32" })
    w:component("Ride", { %s })
  ]]
  local BEFORE, MORE = RIDE:format '"cell: i32", "lane: i32"',
    RIDE:format '"worth: i32", "cell: i32", "lane: i32"'

  -- A session of a.lua, b.lua and what a host makes; what the report of a change of a.lua says of
  -- spawners.
  local function spawners_after(first, second, other, host)
    local world, files = helper.new_world(), scratch.new()
    files:write("a.lua", "local w = ...; " .. first)
    files:write("b.lua", "local w = ...; " .. other)
    local session = live.open(world, files.path)
    local kept = host and host(world)
    files:write("a.lua", "local w = ...; " .. second)
    session:changed(files.path .. "/a.lua")
    assert.is_true((session:poll()))
    local ride = session:status().last_report.components.Ride
    files:close()
    return ride and ride.spawners or {}, kept
  end

  local function both(world)
    return { world:spawner "Ride, Item", world:spawner "Item, Ride", world:spawner "Item",
      world:spawner "Item, Ride.cell, Ride.lane" }
  end

  it("names the spawners that there are whose values come to other fields", function()
    local cases = {
      { '"worth: i32", "cell: i32", "lane: i32"', { "Item, Ride", "Ride, Item" } },
      { '"cell: i32", "worth: i32", "lane: i32"', { "Item, Ride", "Ride, Item" } },
      { '"lane: i32", "cell: i32"', { "Item, Ride", "Ride, Item" } },
      { '"cell: i32"', { "Item, Ride", "Ride, Item" } },
      { '"cell: i32", "lane: i32", "worth: i32"', { "Ride, Item" } },
      { '"cell: f64", "lane: i16"', {} },
      { '"cell: i32", "way: i32", was = { way = "lane" }', {} },
    }
    for _, case in ipairs(cases) do
      local found = spawners_after(BEFORE, RIDE:format(case[1]), "", both)
      for i, text in ipairs(found) do
        found[i] = text:match "^'(.-)' %("
        assert.truthy(text:find("live_checks_spec.lua:", 1, true), text)
      end
      assert.are.same(case[2], found, case[1])
    end
  end)

  it("says so of files that did not run again, and not of those that did", function()
    local make = 'local make = w:spawner "Ride"; '
      .. 'w:system("%s", { run = function() make(1) end })'
    local found = spawners_after(BEFORE .. make:format "s", MORE .. make:format "s",
      make:format "t")
    assert.are.equal(1, #found)
    assert.truthy(found[1]:find("'Ride' (", 1, true), found[1])
    assert.truthy(found[1]:find("b.lua:1)", 1, true), found[1])
  end)

  it("forgets spawners that nobody has any more", function()
    local found = spawners_after(BEFORE, MORE, "", function(world)
      both(world)
      collectgarbage()
      collectgarbage()
    end)
    assert.are.same({}, found)
  end)
end)

describe("a declaration that names later ones of its file", function()
  local session, world, files

  before_each(function() world, files = helper.new_world(), scratch.new() end)
  after_each(function() files:close() end)

  local function open(text)
    files:write("a.lua", "local w = ...\n" .. text)
    session = live.open(world, files.path)
  end

  it("is made when these are there", function()
    open [[
      w:component("Fleet", { "flag: Ship", "size: i32 = 2" })
      w:event("Sunk", { "what: Ship" })
      w:relation("Tows", { "with: Rope", exclusive = true })
      w:resource("Conf", { "main: Ship" })
      local ship = w:component("Ship", { "hull: Part[2]", requires = { "Afloat" } })
      assert(ship == nil)
      w:component("Part", { "hp: i32 = 3" })
      w:component("Rope", { "length: f32 = 9" })
      w:tag "Afloat"
      w:system("s", { query = "Fleet.flag.hull[2].hp", each = function(hp) end }) ]]
    local ship = world:spawn { Ship = {} }
    assert.is_true(world:has(ship, "Afloat"))
    local fleet = world:spawn { Fleet = {}, Tows = ship }
    assert.are.equal(3, world:get(fleet, "Fleet.flag.hull[2].hp"))
    assert.are.equal(9.0, world:get(fleet, "Tows.with.length"))
    assert.are.equal(3, world:res("Conf").main.hull[1].hp)
    world:emit "Sunk"
    files:write("a.lua", [[
      local w = ...
      w:component("Fleet", { "size: i32", "flag: Flag" })
      w:component("Flag", { "colour: i32 = 5" }) ]])
    session:changed(files.path .. "/a.lua")
    assert.is_true(session:poll())
    assert.are.same({ size = 2, flag = { colour = 5 } }, world:read(fleet, "Fleet"))
  end)

  it("is refused at its place where they never come", function()
    for _, text in ipairs { "", 'w:component("B", { "c: C" }) w:component("C", { "b: B" })',
      "w:tag(a)", "error 'no'" } do
      local ok, message = pcall(open, 'local a = w:component("A", { "b: Bee" })\n' .. text)
      assert.is_false(ok)
      assert.are.equal(files.path .. "/a.lua:2: component 'A', field 'b: Bee': unknown type 'Bee'",
        message:match "^(.-unknown type 'Bee')")
    end
    local ok, message = pcall(open, 'w:component("A", { "b: T" }) w:tag "T"')
    assert.is_false(ok)
    assert.are.equal(files.path .. "/a.lua:2: field 'A.b': 'T' is a tag",
      message:match "^(.-is a tag)")
  end)
end)

describe("a refused change", function()
  local P, X = 'w:component("P", { "x: f64", "y: f64" })', 'w:component("P", { "x: f64" })'
  -- What a.lua and b.lua have in their second lines, what a.lua then has, and the refusal.
  local cases = {
    { P, 'w:index("ix", { query = "P:in", grid = "P", cell = 1 })', X,
      "b.lua:2: index 'ix': a grid needs the number fields x and y" },
    { P, 'w:index("ix", { query = "P:in", hash = "y" })', X,
      "b.lua:2: index 'ix': component 'P' has no field 'y'" },
    { P, 'w:system("s", { query = "P.y", each = function() end })', X,
      "b.lua:2: system 's': component 'P' has no field 'y'" },
    { 'w:system("a", { run = print })', 'w:system("b", { before = "a", run = print })',
      'w:system("a", { before = "b", run = print })',
      "a.lua:2: systems cannot be ordered: b -> a -> b" },
    { 'w:phase("ph", { after = "render" })', 'w:system("o", { phase = "ph", run = print })', "",
      "b.lua:2: system 'o': unknown phase 'ph'" },
    { 'w:phase("ph", { after = "render" })', 'w:system("o", { phase = "ph", run = print })',
      'w:system("ph", { run = print })', "b.lua:2: system 'o': unknown phase 'ph'" },
    { "", "", 'w:phase("ph", { after = "render", before = "update" })',
      "a.lua:2: phases cannot be ordered: 'ph' would come after 'render'" },
    { 'w:tag "T" w:relation("R", { exclusive = true })',
      'w:system("s", { query = "R->T", each = function() end })', 'w:tag "T" w:relation("R", {})',
      "b.lua:2: system 's': query 'R->T' uses 'R' as an exclusive relation" },
    { P, "", 'w:event("P", { "x: f64" })', "a.lua:2: 'P' cannot become an event" },
    { P, 'w:component("B", { requires = { "P" } })', 'w:component("P", { requires = { "B" } })',
      "a.lua:2: component 'P' would require itself" },
    { P .. 'w:index("ix", { query = "P:in", hash = "x" })', 'w:index "ix"', P,
      "b.lua:2: there is no index 'ix'" },
  }

  for _, case in ipairs(cases) do
    it("says where: " .. case[4], function()
      local world, files = helper.new_world(), scratch.new()
      files:write("a.lua", "local w = ...\n" .. case[1])
      files:write("b.lua", "local w = ...\n" .. case[2])
      local session = live.open(world, files.path)
      files:write("a.lua", "local w = ...\n" .. case[3])
      session:changed(files.path .. "/a.lua")
      local ok, message = session:poll()
      files:close()
      assert.is_false(ok)
      assert.are.equal(files.path .. "/" .. case[4],
        message:sub(1, #files.path + 1 + #case[4]))
      assert.is_nil(message:find("did you mean 'ix'", 1, true))
    end)
  end
end)
