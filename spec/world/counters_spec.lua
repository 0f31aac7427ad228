-- What a running world reports: counters of systems, frames, texts, annotations and JSON.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local scratch = require "spec.support.scratch"
local rng = require "spec.support.rng"

local function system_of(world, name)
  for _, system in ipairs(world:describe().systems) do
    if system.name == name then return system end
  end
end

local function scene(options)
  local world = helper.new_world(options or {})
  world:component("Position", { "x: f64", "y: f64" })
  world:tag "Frozen"
  world:spawn_many(100, { Position = { 4, 1 } })
  world:spawn_many(20, { Position = { 4, 1 }, Frozen = true })
  return world
end

describe("what systems count", function()
  it("are the rows that the function was called for, compiled or not", function()
    local world = scene()
    local calls = 0
    local function count() calls = calls + 1 end
    local function move(position, dt) position.x = position.x + dt end
    world:system("lua", { query = "Position", compile = false, each = count })
    world:system("vector", { query = "Position, !Frozen", compile = true, each = move })
    world:system("map", { query = "Position.x", map = function(x) return x + 1 end })
    world:system("run", { query = "Position.x, Frozen", run = function(_, _, query)
      query:map(function(x) return x + 1 end)
    end })
    for n = 1, 3 do
      world:update(0.1)
      assert.are.equal(120 * n, calls)
      assert.are.equal(120, system_of(world, "lua").rows)
      assert.are.equal(100, system_of(world, "vector").rows)
      assert.are.equal(120, system_of(world, "map").rows)
      assert.are.equal(20, system_of(world, "run").rows)
    end
    assert.are.equal("vector", system_of(world, "vector").tier)
    assert.is_true(system_of(world, "lua").per_row > 0)
    assert.is_true(system_of(world, "lua").peak >= system_of(world, "lua").last)
  end)

  it("are the matches behind what is decided row by row, and those of toggles", function()
    local world = scene()
    world:component("Burning", { "since: f64", storage = "sparse" })
    world:component("AI", { "mood: i32", toggle = true })
    local some = world:spawn_many(70, { Position = true, Burning = true, AI = true })
    for i = 1, 30 do world:disable(some[i], "AI") end
    for _, compile in ipairs { true, false } do
      world:system("sparse", { query = "Position, Burning", compile = compile,
        each = function(position) position.x = position.x + 1 end })
      world:system("toggle", { query = "Position, AI", compile = compile,
        each = function(position) position.x = position.x + 1 end })
      world:update(0.1)
      world:update(0.1)
      assert.are.equal(70, system_of(world, "sparse").rows)
      assert.are.equal(40, system_of(world, "toggle").rows)
    end
  end)

  it("are the same on several threads", function()
    local world = scene { threads = 4 }
    world:component("Other", { "x: f64" })
    world:spawn_many(200000, { Position = true })
    world:spawn_many(150000, { Other = true })
    world:system("a", { query = "Position", each = function(p, dt) p.x = p.x * 0.5 + dt end })
    world:system("b", { query = "Other", each = function(p, dt) p.x = p.x * 0.5 + dt end })
    for _ = 1, 4 do world:update(0.1) end
    assert.are.equal(200120, system_of(world, "a").rows)
    assert.are.equal(150000, system_of(world, "b").rows)
  end)

  it("are rows that a compiled system left to Lua, in the last run and in all", function()
    local world = scene()
    local rows = world:query("Position"):ids()
    world:system("divide", { query = "Position", each = function(position)
      position.x = 12 // (position.y // 1 | 0)
    end })
    world:update(0.1)
    assert.are.same({ last = 0, total = 0 }, system_of(world, "divide").left)
    world:set(rows[3], "Position.y", 0.0)
    local ok = pcall(world.update, world, 0.1)
    assert.is_false(ok)
    assert.are.equal("vector", system_of(world, "divide").tier)
    assert.is_true(system_of(world, "divide").left.total >= 1)
  end)

  it("start anew with world:reset_counters()", function()
    local world = scene()
    world:system("lua", { query = "Position", each = function() end })
    world:update(0.1)
    local digest, bytes = world:digest(), world:save()
    world:reset_counters()
    local system = system_of(world, "lua")
    assert.are.same({ 0, 0, 0, 0, 0, 0 }, { system.runs, system.rows, system.seconds, system.last,
      system.peak, system.left.total })
    assert.are.equal(digest, world:digest())
    assert.are.equal(bytes, world:save())
  end)
end)

describe("world:profile", function()
  it("keeps the last updates with the time of each system", function()
    local world = scene()
    world:system("a", { query = "Position", compile = false, each = function() end })
    world:system("b", { run = function() end })
    assert.are.same({}, world:frames(10))
    assert.is_false(world:profile())
    assert.is_true(world:profile(true))
    for _ = 1, 5 do world:update(0.1) end
    world:spawn()
    world:update(0.1)
    local frames = world:frames(3)
    assert.are.equal(3, #frames)
    assert.are.equal(120, frames[2].entities)
    assert.are.equal(121, frames[3].entities)
    for _, frame in ipairs(frames) do
      assert.is_true(frame.time >= frame.systems.a)
      assert.is_number(frame.systems.b)
    end
    assert.are.equal(6, #world:frames(600))
    world:profile(false)
    assert.are.same({}, world:frames(600))
  end)

  it("keeps at most 600, and takes no more memory once warm", function()
    local world = scene()
    world:system("a", { run = function() end })
    world:profile(true)
    world:update(0.1)
    world:update(0.1)
    local before = world:describe().bytes
    for _ = 1, 700 do world:update(0.1) end
    assert.are.equal(before, world:describe().bytes)
    assert.are.equal(600, #world:frames(10000))
  end)

  it("tells the processor time of long runs, and is no content", function()
    local world, other = scene { tag = 3 }, scene { tag = 3 }
    for _, each in ipairs { world, other } do
      local runs = 0
      each:system("busy", { run = function()
        local sum = 0
        runs = runs + 1
        for i = 1, runs % 2 * 200000 do sum = sum + i end   -- has work in every second update
        assert(sum >= 0)
      end, compile = false })
    end
    world:profile(true)
    for _ = 1, 4 do
      world:update(0.1)
      other:update(0.1)
    end
    local cpu = system_of(world, "busy").cpu
    assert.is_true(cpu == nil or cpu > 1e-4, cpu)
    assert.is_nil(system_of(other, "busy").cpu)
    assert.are.equal(other:digest(), world:digest())
    assert.are.equal(other:save(), world:save())
  end)

  it("follows systems that come, go and switch it off themselves", function()
    local world = scene()
    world:profile(true)
    world:system("a", { run = function() end })
    world:update(0.1)
    world:system("a", { run = function(w) w:profile(false) end })
    world:update(0.1)
    world:profile(true)
    world:system("b", { run = function(w) w:remove_system "b" end })
    pcall(world.update, world, 0.1)
    world:update(0.1)
    assert.is_true(world:check())
  end)
end)

describe("a text", function()
  it("of a view names the entities in its fields", function()
    local world = helper.new_world { tag = 7 }
    world:component("Holds", { "what: entity", "more: entity[2]" })
    local hero = world:spawn()
    world:name(hero, "hero")
    local e = world:spawn { Holds = { hero, { hero } } }
    for view in world:query("Holds"):each() do
      assert.are.equal(("Holds { what = hero (%s), more = { hero (%s), null } }"):format(
        ecs.format(hero), ecs.format(hero)), tostring(view))
    end
    world:name(hero, false)
    for view in world:query("Holds.what, Holds"):each() do
      assert.is_truthy(view)
    end
    assert.is_true(world:alive(e))
  end)

  it("of what was read names the entities in its fields, and does not keep the world", function()
    local world = ecs.world { tag = 7 }
    world:component("Place", { "x: f64", "of: entity" })
    world:component("Holds", { "what: entity", "more: entity[2]", "at: Place", "text: string" })
    world:relation("Owes", { "whom: entity" })
    local hero = world:spawn()
    world:name(hero, "hero")
    local e = world:spawn { Holds = { hero, { hero }, { 1.5, hero }, "a\n" } }
    world:set(e, "Owes", hero, hero)
    local name = ("hero (%s)"):format(ecs.format(hero))
    local shown = 'Holds { what = NAME, more = { NAME, null }, at = { x = 1.5, of = NAME }, '
    shown = (shown .. 'text = "a\\n" }'):gsub("NAME", name)
    local read = world:read(e, "Holds")
    assert.are.equal(shown, tostring(read))
    for component, value in world:components(e) do
      assert.are.equal(component == "Holds" and shown or ("Owes { whom = %s }"):format(name),
        tostring(value))
    end
    assert.are.equal(("Owes { whom = %s }"):format(name), tostring(world:read(e, "Owes", hero)))
    local copy = world:spawn { Holds = read }
    assert.are.equal(shown, tostring(world:read(copy, "Holds")))
    read.what, read.more, read.at = {}, nil, "elsewhere"
    assert.are.equal('Holds { what = {  }, more = nil, at = elsewhere, text = "a\\n" }',
      tostring(read))
    local kept = setmetatable({ world }, { __mode = "v" })
    world = nil   -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.is_nil(kept[1])
    assert.are.equal("a value of a component that no longer exists", tostring(read))
  end)

  it("of a snapshot has its size and tick, that of a where its query and function", function()
    local world = scene()
    world:update(0.1)
    assert.is_truthy(tostring(world:snapshot()):find "^ecs%.snapshot %(%d+ bytes, tick 1%)$")
    local where = world:query("Position"):where(function(position) return position.x > 1 end)
    assert.is_truthy(tostring(where):find "^ecs%.where 'Position' %(.*counters_spec%.lua:%d+%)$")
  end)

  it("for people shows an entity with fields, relations and children", function()
    local world = helper.new_world { tag = 7 }
    world:component("Body", { { "mass: f64 = 1", unit = "kg", doc = "with\nfuel" }, "of: entity" })
    world:relation("Owes", { "amount: i32" })
    for _, name in ipairs { "Frozen", "Wet" } do world:component(name, { toggle = true }) end
    local hero = world:spawn { Body = true, Frozen = true, Wet = true }
    world:disable(hero, "Frozen")
    local child = world:spawn { ChildOf = hero, Body = { of = hero } }
    world:name(hero, "hero")
    world:set(hero, "Owes", child, 5)
    local text = world:dump(hero)
    for _, part in ipairs { "hero (65536v0@7)", "mass: f64 = 1  kg  -- with fuel",
      "Frozen  (off)\n", "Wet\n", "Owes -> 65537v0@7", "amount: i32 = 5", "1 children",
      "of: entity = hero (65536v0@7)" } do
      assert.is_truthy(text:find(part, 1, true), part .. " is not in\n" .. text)
    end
  end)
end)

describe("world:write_types", function()
  it("writes classes, once, that Lua can read", function()
    local world = helper.new_world()
    world:component("Body", { { "mass: f64 = 1", doc = "two\nlines", unit = "kg", min = 0 },
      "end: u8", "kind: enum(a, b)", "parts: i32[3]" })
    world:event("Hit", { "who: entity" })
    world:prefab("Orc", { Body = true })
    local path = os.tmpname() .. ".lua"
    assert.is_true(world:write_types(path))
    assert.is_false(world:write_types(path))
    local file <close> = assert(io.open(path))
    local text = file:read "a"
    assert(load(text))
    for _, line in ipairs { "---@class Body",
      "---@field mass number two lines. Unit: kg. Range: 0 to",
      '---@field ["end"] integer', '---@field kind ("a"|"b")', "---@field parts integer[]",
      "---@field who ecs.Id", '---| "Orc"' } do
      assert.is_truthy(text:find(line, 1, true), line .. " is not in\n" .. text)
    end
    os.remove(path)
  end)

  it("refuses the scripts of a session, which may write it itself after each swap", function()
    local directory = os.tmpname() .. ".d"
    scratch.make_directory(directory)
    local world = helper.new_world()
    local file = assert(io.open(directory .. "/a.lua", "w"))
    file:write 'local world = ...\nworld:component("Fresh", { "x: f32" })\n'
    file:close()
    local types = directory .. ".types.lua"
    local session = require("ecs.live").open(world, { directory }, { types = types })
    local written = assert(io.open(types)):read "a"
    assert.is_truthy(written:find("---@class Fresh", 1, true))
    local ok, message = pcall(world.write_types, world, directory .. "/b.lua")
    assert.is_false(ok)
    assert.is_truthy(message:find "is in a directory of a live session")
    assert.is_truthy(session)
    scratch.remove_directory(directory)
    os.remove(types)
  end)
end)

local FIELDS = { "f32: f32", "f64: f64", "i64: i64", "u64: u64", "u8: u8", "bool: bool",
  "entity: entity", "string: string", "enum: enum(a, b)", "array: f32[3]", "nested: Small" }

local function json_world()
  local world = helper.new_world { tag = 9 }
  world:component("Small", { "x: f32", "y: i32" })
  world:component("All", FIELDS)
  world:component("AI", { "mood: i32", toggle = true })
  world:relation("Likes", { "much: f32" })
  world:relation("Owner", { "since: f64", exclusive = true })
  world:tag "Frozen"
  return world
end

local function random_entities(world, random)
  local ids = world:spawn_many(random:int(20))
  local floats = { 0.1, -0.0, 1e300, -1 / 0, 1 / 0, 0 / 0, 5e-324, 1 / 3, 2 ^ 53 + 2 }
  local texts = { "", "plain", "a\"b\\\n<b>", "\xff\0\1", "grün" }
  local integers = { 0, -1, math.maxinteger, math.mininteger, 2 ^ 53 | 0, (2 ^ 53 | 0) + 1 }
  local function pick(list) return list[random:int(#list)] end
  for i, e in ipairs(ids) do
    if random:int(4) > 1 then
      world:set(e, "All", { f32 = ({ 0.1, -0.0, 3.5 })[random:int(3)], f64 = pick(floats),
        i64 = pick(integers), u64 = pick(integers), u8 = 7, bool = i % 2 == 0, entity = pick(ids),
        string = pick(texts), enum = "b", array = { 1, 2.5 }, nested = { x = 1.5, y = -3 } })
    end
    if random:int(3) == 1 then world:add(e, "Frozen") end
    if random:int(3) == 1 then
      world:set(e, "AI", i)
      if random:int(2) == 1 then world:disable(e, "AI") end
    end
    if random:int(3) == 1 then world:set(e, "Likes", pick(ids), 0.3) end
    if random:int(3) == 1 then world:set(e, "Owner", pick(ids), i) end
    if i > 1 and random:int(3) == 1 then world:add(e, "ChildOf", ids[i - 1]) end
    if random:int(3) == 1 then world:name(e, "name " .. i) end
  end
end

local has_dkjson = pcall(require, "dkjson")
local it_reads = has_dkjson and it or pending

describe("ecs.json", function()
  it_reads("gives entities back: the digest of decode(encode(world)) is the world's", function()
    for seed = 1, 60 do
      local world, copy = json_world(), json_world()
      random_entities(world, rng.new(seed))
      local text = ecs.json.encode(world)
      local _, missing = ecs.json.decode(copy, text)
      assert.are.same({}, missing)
      assert.are.equal(world:digest(), copy:digest(), "seed " .. seed)
      assert.are.equal(text, ecs.json.encode(copy))
    end
  end)

  it_reads("lists references to what is not in the text", function()
    local world = json_world()
    local one, two = world:spawn(), world:spawn()
    world:set(one, "All.entity", two)
    world:set(one, "Owner", two, 1)
    world:set(one, "Likes", two, 1)
    local ids, missing = ecs.json.decode(world, ecs.json.encode(world, one))
    assert.are.equal(3, #missing)
    assert.are.equal(0, (world:get(ids[one], "All.entity")))
    assert.is_false(world:has(ids[one], "Owner"))
  end)

  it_reads("changes nothing where something does not fit", function()
    local world = json_world()
    local before = world:digest()
    for _, text in ipairs { "", "{", "[]", "1", '{"entities":[1]}', '{"entities":[{"id":"x"}]}',
      '{"entities":[{"id":1,"components":{"Nope":true}}]}',
      '{"entities":[{"id":1,"components":{"Small":{"z":1}}}]}',
      '{"entities":[{"id":1,"components":{"Small":{"x":"a"}}}]}',
      '{"entities":[{"id":1},{"id":1}]}', '{"entities":[]} x', ("["):rep(100000) } do
      local ok, message = pcall(ecs.json.decode, world, text)
      assert.is_false(ok, text:sub(1, 60))
      assert.is_string(message)
      assert.are.equal(before, world:digest())
    end
  end)

  local function refusal(world, text)
    local ok, message = pcall(ecs.json.decode, world, text)
    assert.is_false(ok, text)
    assert.is_nil(message:find("json.lua", 1, true) or message:find("attempt to", 1, true), message)
    return message
  end

  it_reads("changes nothing where the commit refuses something", function()
    local world = json_world()
    world:name(world:spawn { Small = { 1 } }, "hero")
    local text, before = ecs.json.encode(world), world:digest()
    assert.is_truthy(refusal(world, text):find("the name 'hero' belongs to", 1, true))
    assert.are.equal(before, world:digest())
    assert.are.equal(1, world:count "Small")
    assert.is_truthy(pcall(world.spawn, world))
    world:defer()
    refusal(world, '{"entities":[{"id":1},{"id":1}]}')
    world:commit()
    assert.is_truthy(world:check())
  end)

  it_reads("names the entity and what is wrong with it", function()
    local world = json_world()
    local before = world:digest()
    for given, wrong in pairs {
      ['"component":{"Small":{"x":1}}'] = "an entity: unknown key 'component' (known: components",
      ['"off":"Small"'] = "off: expected a list", ['"off":{"a":1}'] = "off: expected a list",
      ['"off":null'] = "off: expected a list", ['"name":null'] = "name: expected a string",
      ['"components":1'] = "components: expected an object of components",
      ['"components":{"Small":null}'] = "Small: expected an object of fields",
      ['"components":{"Nope":true}'] = "unknown component 'Nope'",
      ['"components":{"Small":{"y":0.5}}'] = "Small.y",
      ['"ties":[1]'] = "ties: expected objects", ['"ties":{"a":1}'] = "ties: expected a list",
      ['"ties":[{}]'] = "ties: the relation: expected a string",
      ['"ties":[{"relation":"Likes"}]'] = "Likes: the target: expected a number",
      ['"ties":[{"relation":"Likes","target":7,"to":7}]'] = "ties: unknown key 'to'",
      ['"ties":[{"relation":"Likes","target":7,"fields":{"no":1}}]'] = "Likes has no field 'no'",
    } do
      local message = refusal(world, '{"entities":[{"id":7,' .. given .. "}]}")
      assert.are.equal("ecs.json.decode: entity 7: ", message:sub(1, 27))
      assert.is_truthy(message:find(wrong, 1, true), message)
      assert.are.equal(before, world:digest())
    end
  end)

  it_reads("tells no place of its own, and the places of others", function()
    local world = json_world()
    local text = '{"entities":[{"id":7,"components":{"Nope":true}}]}'
    local file <close> = assert(io.open "lua/ecs/json.lua")
    local embedded = assert(load(file:read "a", "=ecs.json"))()
    local _, message = pcall(embedded.decode, world, text)
    assert.are.equal(refusal(world, text), message)
    world:component("Any", { "value: any" })
    local e = world:spawn { Any = { 1 } }
    text = ecs.json.encode(world, e, { codec = { encode = tostring } })
    local decode = assert(load("error 'no'", "@my-json.lua"))
    _, message = pcall(ecs.json.decode, world, text, { codec = { decode = decode } })
    assert.is_truthy(message:find("my-json.lua:1: no", 1, true), message)
  end)

  it("takes an any value with a codec only", function()
    local world = helper.new_world()
    world:component("Any", { "value: any" })
    local e = world:spawn { Any = { { 1 } } }
    local ok, message = pcall(ecs.json.encode, world, e)
    assert.is_false(ok)
    assert.is_truthy(message:find "Any.value: only a codec can write an any value")
    local text = ecs.json.encode(world, e, { codec = {
      encode = function(v) return "n" .. v[1] end,
    } })
    assert.is_truthy(text:find '"any":"n1"')
    if not has_dkjson then return end
    local ids = ecs.json.decode(world, text, { codec = { decode = function(bytes)
      return { tonumber(bytes:sub(2)) }
    end } })
    assert.are.same({ 1 }, (world:get(ids[e], "Any")))
  end)
end)

describe("arguments that make no sense", function()
  local hostile = require "spec.support.hostile"

  local function is_clean(message)
    return type(message) == "string" and not message:find("attempt to", 1, true)
      and not message:find("stack overflow", 1, true)
  end

  for name, calls in pairs {
    encode = { function(v) return v end, function(v, s) return s.world, v end,
      function(v, s) return s.world, s.e, v end },
    decode = { function(v) return v, "{}" end, function(v, s) return s.world, v end,
      function(v, s) return s.world, '{"entities":[]}', v end },
  } do
    it("are errors of ecs.json." .. name .. ", or have no effect", function()
      for i, arguments in ipairs(calls) do
        for _, entry in ipairs(hostile.values) do
          local set = hostile.scene(ecs.world)
          local value = entry[2](set)
          local before = set.world:digest()
          local ok, message = pcall(ecs.json[name], arguments(value, set))
          assert(ok or is_clean(message), ("%s, %d, %s: %s"):format(name, i, entry[1],
            tostring(message)))
          assert.are.equal(before, set.world:digest())
          assert.is_true(set.world:check())
          set.world:close()
          set.other:close()
        end
      end
    end)
  end
end)
