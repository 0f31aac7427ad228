local helper = require "spec.support.ecs_helper"
local scratch = require "spec.support.scratch"
local live = require "ecs.live"

local has_error = helper.has_error

local order = helper.order

-- A long session over many entities: what each edit leaves is written down beside it.
describe("a session of edits", function()
  it("ends each step with the expected world and schedule, and loses no entity", function()
    local count = helper.by_scale { small = 2000, normal = 10000, deep = 100000 }
    local world, files, problems = helper.new_world(), scratch.new(), 0
    files:write("components.lua", [[
      local world = ...
      world:component("Position", { "x: f32", "y: f32" })
      world:component("Health", { "hp: i32 = 100" })
      world:tag "Marked"
      world:resource("Config", { "speed: f32 = 1" })]])
    files:write("move.lua", [[
      local world, script = ...
      local config = world:res "Config"
      world:system("move", { query = "Position", run = function(_, _, q)
        for chunk in q:chunks() do MOVED = (MOVED or 0) + chunk.n * config.speed end
      end })
      script:on_load(function() LOADS = (LOADS or 0) + 1 end)]])
    local session = live.open(world, { files.path }, { on_error = function()
      problems = problems + 1
    end })
    local ids = world:spawn_many(count, { Position = { x = 3, y = 4 }, Health = {} })
    for i = 1, count, 1000 do
      world:set(ids[i], "Position", i, -i)
      world:name(ids[i], "n" .. i)
    end

    local components = [[
      local world = ...
      world:component("Position", { %s })
      world:component("Health", { %s })
      world:tag "Marked"
      world:resource("Config", { %s })]]
    local pos, hp, config = '"x: f32", "y: f32"', '"hp: i32 = 100"', '"speed: f32 = 1"'
    local function declare()
      files:write("components.lua", components:format(pos, hp, config))
    end
    local systems, failures = "move", 0
    local second = ids[2]

    local function check(expected)
      local ok, message = helper.poll(session)
      if expected == false then
        failures = failures + 1
        assert.is_false(ok)
      else
        assert.is_true(ok, message)
      end
      assert.is_nil((helper.poll(session)))
      assert.are.equal(failures, problems)
      assert.are.equal(systems, order(world))
      assert.are.equal(count, world:describe().entities)
      assert.are.equal(ids[1], world:lookup "n1")
      assert.are.equal(1, _G.LOADS)
      helper.check(world)
    end

    local move = [[
      local world, script = ...
      local config = world:res "Config"
      world:system("move", { query = "Position", run = function(_, _, q)
        for chunk in q:chunks() do MOVED = (MOVED or 0) + chunk.n * config.speed * %s end
      end })
      script:on_load(function() LOADS = (LOADS or 0) + 1 end)]]
    local function moved()
      _G.MOVED = nil
      world:update(0)
      return _G.MOVED
    end

    -- 1 to 5: changed constants, the last ones within the same second, one by renaming
    for factor = 2, 5 do
      files:write("move.lua", move:format(factor))
      check()
      assert.are.equal(count * factor + 0.0, moved())
    end
    files:replace("move.lua", move:format(6))
    check()
    assert.are.equal(count * 6.0, moved())

    -- 6: a swapped function
    files:write("move.lua", (move:gsub("%% s", ""):format("1"):gsub("chunk%.n", "1")))
    check()
    assert.is_true(moved() < count)
    files:write("move.lua", move:format(1))
    check()

    -- 8 to 12: fields added, renamed, retyped, dropped
    pos = '"x: f32", "y: f32", "z: f32 = 9"'
    declare()
    check()
    assert.are.same({ x = 3.0, y = 4.0, z = 9.0 }, world:read(second, "Position"))
    pos = '"left: f32", "y: f32", "z: f32 = 9", was = { left = "x" }'
    declare()
    check()
    assert.are.same({ left = 3.0, y = 4.0, z = 9.0 }, world:read(second, "Position"))
    pos = '"left: f64", "y: i32", "z: f32 = 9"'
    declare()
    check()
    assert.are.same({ left = 3.0, y = 4, z = 9.0 }, world:read(second, "Position"))
    pos = '"left: f64", "y: i32"'
    declare()
    check()
    assert.are.same({ left = 3.0, y = 4 }, world:read(second, "Position"))
    pos = '"y: i32", "left: f64", "note: string = fresh"'
    declare()
    check()
    assert.are.same({ left = 3.0, y = 4, note = "fresh" }, world:read(second, "Position"))

    -- 13, 14: a migration that must be refused, then one that fits
    world:set(ids[count], "Health", 1000)
    local before = world:digest()
    hp = '"hp: u8 = 100"'
    declare()
    check(false)
    assert.is_truthy(session:status().last_error:find("hp = 1000", 1, true))
    assert.is_truthy(session:status().last_error:find("components.lua:3: ", 1, true))
    assert.are.equal(before, world:digest())
    hp = '"hp: i16 = 100"'
    declare()
    check()
    assert.are.equal(1000, (world:get(ids[count], "Health")))

    -- 15, 16: a syntax error, and its end
    files:write("move.lua", "local world, script = ... oops(")
    check(false)
    assert.are.equal(count + 0.0, moved())
    files:write("move.lua", move:format(1))
    check()

    -- 17, 18: an error at run time, after new registrations
    files:write("move.lua", move:format(1) .. " world:tag 'Lost' error 'late'")
    check(false)
    has_error(function() world:count "Lost" end, "unknown component")
    files:write("move.lua", move:format(1))
    check()

    -- 19 to 22: a new file, another before it, one goes, one is renamed
    files:write("z.lua", "local w = ... w:system('z', { run = function() end })")
    systems = "move z"
    check()
    files:write("a.lua", "local w = ... w:system('a', { run = function() end })")
    systems = "a move z"
    check()
    files:remove "z.lua"
    systems = "a move"
    check()
    assert(os.rename(files.path .. "/a.lua", files.path .. "/x.lua"))
    systems = "move a"
    check()

    -- 23, 24: two files that must swap together
    pos = '"y: i32", "right: f64", "note: string = fresh", was = { right = "left" }'
    files:write("x.lua", [[local w = ... w:system("a", { query = "Position.right",
      map = function(x) return x end })]])
    check(false)
    declare()
    check()
    assert.are.equal(3.0, (world:get(second, "Position.right")))

    -- 25, 26: a resource changes, a tag becomes a component
    config = '"speed: f64 = 1", "name: string = cfg"'
    world:res("Config").speed = 2
    declare()
    check()
    assert.are.equal("cfg", world:res("Config").name)
    assert.are.equal(count * 2.0, moved())
    world:add(second, "Marked")
    components = components:gsub('world:tag "Marked"',
      'world:component("Marked", { "n: i32 = 5" })')
    declare()
    check()
    assert.are.equal(5, (world:get(second, "Marked.n")))

    -- 27: a component that no file declares any more, and its end
    components = components:gsub('world:component%("Marked"[^\n]*\n', "\n")
    declare()
    check()
    assert.are.equal(5, (world:get(second, "Marked.n")))
    assert.are.same({ "Marked" }, session:forget())
    has_error(function() world:has(second, "Marked") end, "unknown component")

    -- 28: a system that another step adds is removed again; 29: its phase comes and goes
    files:write("x.lua", "local w = ... w:phase('slow', { after = 'render' }) "
      .. "w:system('s', { phase = 'slow', run = function() end })")
    systems = "move s"
    check()
    files:write("x.lua", "local w = ... w:system('s', { run = function() end })")
    check()
    has_error(function() world:run "slow" end, "slow")

    -- 30 to 32: a system moves between files in one step; a module comes
    files:write("lib/factor.lua", "return 3")
    files:write("move.lua", "local w = ... w:system('s', { run = function() end })")
    local borrowed = 'local factor = require "lib.factor"\n' .. move:format "factor"
    files:write("x.lua", (borrowed:gsub("LOADS", "OTHER")))
    systems = "s move"
    check()
    files:write("lib/factor.lua", "return 4")
    check()
    assert.are.equal(count * 8.0, moved())
    package.loaded["lib.factor"] = nil

    -- 33: everything goes
    files:remove "move.lua"
    files:remove "x.lua"
    files:remove "components.lua"
    systems = ""
    check()
    assert.are.same(world:describe().components, world:describe().orphans)
    assert.are.equal(3, #session:forget())
    assert.are.equal(0, #world:describe().components)
    assert.are.equal(count, world:describe().entities)
    files:close()
    _G.MOVED, _G.LOADS, _G.OTHER = nil, nil, nil
  end)
end)

describe("a component that no file declares any more", function()
  local world, files, session

  before_each(function()
    world, files = helper.new_world(), scratch.new()
    files:write("a.lua", [[local w = ...
      w:component("P", { "x: f64", "what: any", "name: string" })
      w:component("Part", { "x: f64" })
      w:component("Whole", { "part: Part" })
      w:tag "T"
      w:resource("R", { "n: i32 = 4" })]])
    session = live.open(world, files.path)
  end)

  after_each(function() files:close() end)

  local function save(name, text)
    files:write(name, text)
    local ok, message = helper.poll(session)
    assert(ok, message)
  end

  it("stays with its values, and is nobody's", function()
    local what = {}
    local e = world:spawn { P = { x = 3, what = what, name = "n" }, T = true }
    world:res("R").n = 5
    local query, digest = world:query "P, T", world:digest()
    save("a.lua", "")
    assert.are.same({ "P", "Part", "R", "T", "Whole" }, session:status().orphans)
    assert.are.same({ "P", "Part", "Whole", "T", "R" }, world:describe().orphans)
    assert.is_true(world:describe("P").orphan)
    assert.are.same({ x = 3.0, what = what, name = "n" }, world:read(e, "P"))
    assert.are.equal(1, query:count())
    assert.are.equal(5, world:res("R").n)
    assert.are.equal(digest, world:digest())
  end)

  it("is owned, and migrated, by whoever declares it again", function()
    local e = world:spawn { P = { x = 3 }, Whole = { part = { x = 2 } } }
    save("a.lua", "")
    save("b.lua", "local w = ... w:component('P', { 'y: i8', was = { y = 'x' } })")
    assert.are.same({ y = 3 }, world:read(e, "P"))
    assert.is_nil(world:describe("P").orphan)
    save("b.lua", "local w = ... w:component('P', { 'y: i16' })")
    world:component("Part", { "x: f64", "z: i8 = 7" })
    assert.are.equal(7, (world:get(e, "Whole.part.z")))
    assert.are.same({ "R", "T", "Whole" }, session:status().orphans)
    save("c.lua", "local w = ... w:resource('R', { 'n: i64' }) N = w:res 'R'")
    assert.are.equal(4, _G.N.n)
    _G.N = nil
    files:write("d.lua", "local w = ... w:component('P', { 'y: f32' })")
    assert.is_false(helper.poll(session))
  end)

  it("stays an orphan when its redeclaration is refused", function()
    local e = world:spawn { P = { x = 0.5 } }
    save("a.lua", "")
    for _, text in ipairs { "'x: i8' })", "'x: f64' }) error 'late'" } do
      files:write("b.lua", "local w = ... w:component('P', { " .. text)
      assert.is_false(helper.poll(session))
      assert.is_true(world:describe("P").orphan)
      assert.are.equal(0.5, (world:get(e, "P.x")))
    end
  end)

  it("goes when it is forgotten or undeclared", function()
    local e = world:spawn { P = { x = 3 }, T = true, Whole = {} }
    save("a.lua", "")
    world:undeclare "T"
    assert.are.same({ "P", "Part", "R", "Whole" }, session:status().orphans)
    assert.are.same({ "P", "Part", "R", "Whole" }, session:forget())
    assert.are.same({}, session:forget())
    assert.are.same({}, world:describe().components)
    assert.is_true(world:alive(e))
    has_error(function() world:has(e, "P") end, "unknown component")
    save("a.lua", "local w = ... w:component('P', { 'other: i8' })")
    assert.is_false(world:has(e, "P"))
  end)

  it("is kept while a system or a query of a script asks for it", function()
    local e = world:spawn { P = { x = 3 } }
    save("b.lua", [[local w = ...
      w:system('s', { query = 'P.x', map = function(x) return x + 1 end })]])
    save("a.lua", "")
    world:update(0)
    local digest = world:digest()
    has_error(function() session:forget() end, "nothing is forgotten", "system 's'",
      "'P' is in use")
    assert.are.equal(digest, world:digest())
    assert.are.equal(4.0, (world:get(e, "P.x")))
    save("b.lua", "")
    assert.are.equal(5, #session:forget())
    local function forget() session:forget() end
    world:system("x", { run = forget })
    has_error(function() world:update(0) end, "inside a system")
  end)

  it("may be one that only an image names", function()
    local image
    do
      local other = helper.new_world()
      other:component("Old", { "x: f32" })
      other:component("P", { "x: f32" })
      other:spawn { Old = { x = 1 }, P = {} }
      image = other:save()
    end
    local fresh = helper.new_world()
    fresh:load(image)
    assert.are.same({ "Old", "P" }, fresh:describe().orphans)
    local over = live.open(fresh, files.path)
    assert.are.same({ "Old" }, over:status().orphans)
    assert.are.same({ "Old" }, over:forget())
    assert.are.equal(1, fresh:count "P")
  end)
end)
