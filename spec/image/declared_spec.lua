local helper = require "spec.support.ecs_helper"
local schema_gen = require "spec.support.schema_gen"

local has_error = helper.has_error

local function declare(world, list)
  for _, component in ipairs(list) do
    world:component(component.name, component.fields)
  end
end

-- Without what differs from world to world.
local function description(world, name)
  local found = world:describe(name)
  found.id, found.orphan = nil, nil    -- nobody declares what only an image has named
  return found
end

-- Tables of different sets, some of them empty, and resources.
local function populate(world, list, rng)
  for i, component in ipairs(list) do
    if #component.fields > 0 and rng:chance(30) then
      world:resource(component.name, component.fields)
    end
    for _ = 1, rng:range(0, 3) do
      local set = { [component.name] = #component.fields > 0 and {} or true }
      local other = list[rng:int(i)]
      set[other.name] = #other.fields > 0 and {} or true
      local e = world:spawn(set)
      if rng:chance(40) then world:despawn(e) end
    end
  end
end

-- The image of a world loads into empty worlds and into one that declares the same, and is the
-- same there. Returns it.
local function round_trip(world, names, redeclare)
  local bytes = world:save()
  local empty, other = helper.new_world(), helper.new_world()
  redeclare(other)
  for _, target in ipairs { empty, other } do
    target:load(bytes)
    assert(target:save() == bytes, "another image")
    assert.equal(world:digest(), target:digest())
    for _, name in ipairs(names) do
      local was, is = description(world, name), description(target, name)
      assert.same(was, is)
    end
    helper.check(target)
  end
  return bytes
end

describe("whatever can be declared can be saved and loaded:", function()
  local count = helper.by_scale { small = 3, normal = 20, deep = 300 }

  it(("C51: %d random schemas"):format(count), function()
    for seed = 1, count do
      local list, rng = schema_gen.generate(seed)
      local world, names = helper.new_world(), {}
      declare(world, list)
      populate(world, list, rng)
      for i, component in ipairs(list) do names[i] = component.name end
      local ok, problem = pcall(round_trip, world, names, function(other)
        declare(other, list)
      end)
      assert(ok, ("seed %d: %s"):format(seed, tostring(problem):sub(1, 500)))
      helper.check_worlds()
    end
  end)

  -- In small runs fewer names take the same way.
  local most = helper.by_scale { small = 6553, normal = 65535, deep = 65535 }

  it(("an enum of %d names, also when its names have moved"):format(most), function()
    local world, names = helper.new_world(), schema_gen.names(most, 5)
    local text = table.concat(names, ", ")
    world:component("Mood", { ("now: enum(%s) = %s"):format(text, names[most]), "n: i32" })
    local ids = world:spawn_many(10, { Mood = {} })
    world:set(ids[1], "Mood", { now = names[most // 2] })
    local bytes = round_trip(world, { "Mood" }, function(other)
      other:component("Mood", { ("now: enum(%s) = %s"):format(text, names[most]), "n: i32" })
    end)
    local turned = {}
    for i, name in ipairs(names) do turned[#names - i + 1] = name end
    local other = helper.new_world()
    other:component("Mood", { ("now: enum(%s)"):format(table.concat(turned, ", ")) })
    other:load(bytes)
    assert.equal(names[most // 2], (other:get(ids[1], "Mood.now")))
    assert.equal(names[most], (other:get(ids[2], "Mood.now")))
  end)

  it("4,096 fields, each with a name and a text of its own", function()
    local fields = {}
    for i = 1, 4096 do
      fields[i] = { schema_gen.word(i, 63) .. ": u8 = " .. i % 256, doc = ("doc " .. i):rep(5) }
    end
    local world = helper.new_world()
    world:component("Wide", fields)
    world:resource("Wide", fields)
    world:spawn { Wide = {} }
    round_trip(world, { "Wide" }, function(other) other:component("Wide", fields) end)
  end)

  it("wide components in many tables, most of them empty", function()
    local world = helper.new_world()
    world:component("Wide", { "a: u8[1024]", "b: bool[1024]", "c: u8[1024]", "d: i8[1024]" })
    for i = 1, 60 do
      world:tag("T" .. i)
      local e = world:spawn { Wide = {}, ["T" .. i] = true }
      if i > 20 then world:despawn(e) end
    end
    round_trip(world, { "Wide" }, function() end)
  end)

  it("components six deep with long names, and resources of them", function()
    local world, names = helper.new_world(), {}
    for chain = 1, 4 do
      local inner
      for depth = 0, 6 do
        local name = ("C%d_%d"):format(chain, depth)
        local kind = inner or "u8"
        local fields = { ("%s: %s"):format(schema_gen.word(1, 63), kind) }
        if depth == 6 then
          fields[1] = fields[1] .. "[1024]"
          for i = 2, 4 do fields[i] = ("%s: %s[1024]"):format(schema_gen.word(i, 63), kind) end
          world:resource(name, fields)
        end
        world:component(name, fields)
        names[#names + 1], inner = name, name
      end
    end
    round_trip(world, names, function() end)
  end)

  it("65,000 tags", function()
    local world, names = helper.new_world(), {}
    for i = 1, helper.by_scale { small = 3000, normal = 65000, deep = 65000 } do
      world:tag("t" .. i)
      names[1] = "t" .. i
    end
    world:spawn { [names[1]] = true }
    round_trip(world, names, function() end)
  end)

  it("a small world, into one with 65,000 tags", function()
    local world, target = helper.new_world(), helper.new_world()
    world:component("Last", { "a: u8" })
    world:spawn { Last = { a = 7 } }
    for i = 1, helper.by_scale { small = 3000, normal = 65000, deep = 65000 } do
      target:tag("t" .. i)
    end
    target:load(world:save())
    assert.equal(world:digest(), target:digest())
    target:load(world:save())
    assert.equal(world:digest(), target:digest())
    helper.check(target)
  end)
end)

describe("limits of declarations", function()
  it("are checked when declaring, by the component's name", function()
    local world = helper.new_world()
    local most = ("x"):rep(65535)
    world:component("C", { { "a: f32", doc = most, unit = most, min = most, max = most },
      doc = most })
    local before = world:save()
    for _, key in ipairs { "doc", "unit", "min", "max" } do
      has_error(function()
        world:component("D", { { "a: f32", [key] = most .. "x" } })
      end, "'D'", "'" .. key .. "'", "65536", "65535")
    end
    has_error(function() world:component("D", { "a: f32", doc = most .. "x" }) end, "'D'", "'doc'")
    has_error(function()
      world:component("D", { "a: enum(" .. most .. "x)" })
    end, "D.a", "65536")
    has_error(function()
      world:component("D", { "a: " .. schema_gen.enum(65536, 5) })
    end, "D.a", "65536 names")
    has_error(function()
      world:component("D", { ("a: enum(%s, b____)"):format(table.concat(
        schema_gen.names(20, 5), ", ")) })
    end, "'b____' twice")
    world:component("E", { "a: enum(" .. most .. ")" })
    world:undeclare "E"
    assert.equal(before, world:save())
  end)
end)
