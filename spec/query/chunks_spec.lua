local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error
local new_world = require("spec.support.scenes").things

local function only_chunk(query, body)
  local count = 0
  for chunk in query:chunks() do
    count = count + 1
    body(chunk)
  end
  assert.are.equal(1, count)
end

describe("query:chunks", function()
  it("gives one chunk for each table with rows (C65)", function()
    local world = new_world()
    for _ = 1, 3 do world:spawn { Position = {} } end
    for _ = 1, 5 do world:spawn { Position = {}, Velocity = {} } end
    world:despawn(world:spawn { Position = {}, Mass = {} })
    local sizes = {}
    for chunk in world:query "Position":chunks() do sizes[#sizes + 1] = chunk.n end
    assert.are.same({ 3, 5 }, sizes)
    for _ in world:query "Tag":chunks() do error "no chunk expected" end
  end)

  it("gives the entities of the rows", function()
    local world = new_world()
    local ids = {}
    for i = 1, 4 do ids[i] = world:spawn { Position = {} } end
    only_chunk(world:query "Position", function(chunk)
      assert.are.equal(4, #chunk.entities)
      for i = 1, 4 do assert.are.equal(ids[i], chunk.entities[i]) end
      assert.is_nil(chunk.entities[0])
      assert.is_nil(chunk.entities[5])
      assert.are.same(ids, chunk.entities:read({}))
      assert.are.equal(chunk.entities, chunk.entities)
      has_error(function() chunk.entities[1] = 5 end, "read-only")
      has_error(function() chunk.entities:write { 5 } end, "read-only")
    end)
  end)

  it("gives columns that are indexed from 1 (C11)", function()
    local world = new_world()
    for i = 1, 3 do world:spawn { Position = { x = i } } end
    only_chunk(world:query "Position", function(chunk)
      local x = chunk:column "Position.x"
      assert.are.equal(3, #x)
      assert.are.same({ 1, 2, 3 }, { x[1], x[2], x[3.0] })
      assert.is_nil(x[0])
      assert.is_nil(x[4])
      x[2] = 20
      assert.are.equal(20, x[2])
      local seen = {}
      for i, value in ipairs(x) do seen[i] = value end
      assert.are.same({ 1, 20, 3 }, seen)
    end)
    assert.are.equal(20, (world:get(world:query "Position":first() + 1, "Position")))
  end)

  it("reads a column into a list, and returns it", function()
    local world = new_world()
    for i = 1, 3 do world:spawn { Position = { x = i } } end
    only_chunk(world:query "Position", function(chunk)
      local into = { 9, 9, 9, 9 }
      assert.are.equal(into, chunk:column("Position.x"):read(into))
      assert.are.same({ 1, 2, 3 }, into)
      assert.are.same({ 0, 0, 0 }, chunk:column("Position.y"):read())
    end)
  end)

  it("reads and writes the bits of u64", function()
    local world = new_world()
    world:component("Bits", { "b: u64" })
    for i = 1, 3 do world:spawn { Bits = { b = -i } } end
    only_chunk(world:query "Bits", function(chunk)
      local column = chunk:column "Bits.b"
      assert.are.same({ -1, -2, -3 }, column:read())
      column:write { 1, math.mininteger, -1.0 }
      assert.are.same({ 1, math.mininteger, -1 }, column:read())
      has_error(function() column:write { 5, 2 ^ 64 } end, "Bits.b", "out of range")
      assert.are.equal(1, column[1])
    end)
  end)

  it("leaves nothing behind a column's values of what the list had there", function()
    local world = new_world()
    for i = 1, 3 do world:spawn { Position = { x = i }, Tag = { value = i ~= 3 and i or nil } } end
    only_chunk(world:query "Position, Tag", function(chunk)
      local into = { 9, 9, 9, 9, 9, key = "kept", [0] = 8, [-1] = 7, [2.5] = 6 }
      chunk:column("Position.x"):read(into)
      assert.are.same({ 1, 2, 3, key = "kept", [0] = 8, [-1] = 7, [2.5] = 6 }, into)
      local holes = { 9, nil, 9, 9, nil, 9, key = "kept" }
      chunk:column("Tag.value"):read(holes)
      assert.are.same({ 1, 2, key = "kept" }, holes)
    end)
  end)

  it("writes any values and texts that are dropped right behind", function()
    local world = new_world()
    for i = 1, 50 do world:spawn { Tag = { name = "old", value = { i } } } end
    only_chunk(world:query "Tag", function(chunk)
      local values, names = {}, {}
      for i = 1, 50 do values[i], names[i] = { -i }, "new " .. i end
      chunk:column("Tag.value"):write(values)
      chunk:column("Tag.name"):write(names)
      values, names = nil, nil -- luacheck: ignore
      collectgarbage()
      for i = 1, 50 do
        assert.are.equal(-i, chunk:column("Tag.value")[i][1])
        assert.are.equal("new " .. i, chunk:column("Tag.name")[i])
      end
    end)
    assert(world:check())
  end)

  it("writes a column from a list", function()
    local world = new_world()
    for i = 1, 3 do world:spawn { Position = { x = i } } end
    only_chunk(world:query "Position", function(chunk)
      local x = chunk:column "Position.x"
      x:write { 4, 5, 6 }
      assert.are.same({ 4, 5, 6 }, x:read())
      x:write { 7 }
      x:write {}
      assert.are.same({ 7, 5, 6 }, x:read())
      has_error(function() x:write { 1, 2, 3, 4 } end, "bad argument #1 to 'write'",
        "4 values for 3 rows")
      assert.are.same({ 7, 5, 6 }, x:read())
    end)
  end)

  it("takes all of a list or nothing", function()
    local world = new_world()
    for _ = 1, 3 do world:spawn { Tag = { n = 1, name = "a" } } end
    only_chunk(world:query "Tag", function(chunk)
      local n, name = chunk:column "Tag.n", chunk:column "Tag.name"
      for _, bad in ipairs { 40000, 1.5, "1", true } do
        has_error(function() n:write { 5, 5, bad } end, "Tag.n")
      end
      has_error(function() name:write { "b", "c", 5 } end, "Tag.name")
      assert.are.same({ 1, 1, 1 }, n:read())
      assert.are.same({ "a", "a", "a" }, name:read())
    end)
  end)

  it("reads and writes every type", function()
    local world = new_world()
    local e = world:spawn { Tag = {} }
    local values = { name = "b", kind = "green", target = e, value = { 1 }, on = true, n = -7,
      exact = 0.1 }
    only_chunk(world:query "Tag", function(chunk)
      for name, value in pairs(values) do
        local column = chunk:column("Tag." .. name)
        column[1] = value
        assert.are.equal(value, column[1])
        column:write { value }
        assert.are.equal(value, column:read()[1])
      end
      has_error(function() chunk:column("Tag.kind")[1] = "blue" end, "Tag.kind", "'blue'")
      has_error(function() chunk:column("Tag.name")[1] = 1 end, "Tag.name")
      has_error(function() chunk:column("Tag.n")[1] = 1.5 end, "Tag.n")
    end)
    assert.are.same(values, world:read(e, "Tag"))
  end)

  it("gives a component of one field by its name", function()
    local world = new_world()
    world:spawn { Mass = { 5 }, Frozen = true }
    only_chunk(world:query "Mass, Frozen", function(chunk)
      assert.are.equal(5, chunk:column("Mass")[1])
      has_error(function() return chunk:column "Frozen" end, "'Frozen' is a tag")
    end)
  end)

  it("gives nil for what the table lacks", function()
    local world = new_world()
    world:spawn { Position = {} }
    only_chunk(world:query "Position, Velocity?", function(chunk)
      assert.is_nil(chunk:column "Velocity.x")
    end)
  end)

  it("gives what the query names only", function()
    local world = new_world()
    world:spawn { Position = {}, Velocity = {} }
    only_chunk(world:query "Position.x", function(chunk)
      assert.are.equal(0, chunk:column("Position.x")[1])
      has_error(function() return chunk:column "Position.y" end, "no term for 'Position.y'")
      has_error(function() return chunk:column "Velocity.x" end, "no term for 'Velocity.x'")
    end)
    only_chunk(world:query "Position", function(chunk)
      has_error(function() return chunk:column "Position" end, "several columns", "Position.x")
      has_error(function() return chunk:column "Position.z" end, "'z'", "did you mean")
      has_error(function() return chunk:column "Postion.x" end, "'Postion'", "did you mean")
      for _, value in ipairs { false, {}, 1.5, print } do
        has_error(function() return chunk:column(value) end, "bad argument #1 to 'column'")
      end
      has_error(function() return chunk:column(nil) end, "bad argument #1 to 'column'")
    end)
  end)

  it("refuses to write what is read-only (C43, C66)", function()
    local world = new_world()
    world:spawn { Position = {}, Velocity = { 1, 2 } }
    only_chunk(world:query "Position, Velocity:in", function(chunk)
      local velocity = chunk:column "Velocity.x"
      chunk:column("Position.x"):write(velocity:read())
      has_error(function() velocity[1] = 1 end, "Velocity.x", "read-only")
      has_error(function() velocity:write { 1 } end, "Velocity.x", "read-only")
    end)
  end)

  it("say what their entities have, tags too, named in the query or not", function()
    local world = new_world()
    world:tag "Enemy"
    world:spawn { Position = {}, Enemy = true }
    world:spawn { Position = {}, Velocity = {} }
    local seen = {}
    for chunk in world:query "Position, Enemy?":chunks() do
      seen[#seen + 1] = { chunk:has "Position", chunk:has(world:tag "Enemy"), chunk:has "Velocity" }
    end
    assert.are.same({ { true, true, false }, { true, false, true } }, seen)
    only_chunk(world:query "Position, Enemy", function(chunk)
      has_error(function() chunk:has "Enmy" end, "did you mean 'Enemy'")
      has_error(function() chunk:has "Position.x" end, "component expected")
      has_error(function() chunk:has() end, "component name or id expected")
      has_error(function() chunk.has() end, "chunk expected")
    end)
  end)

  it("give no column of what only filters", function()
    local world = new_world()
    world:spawn { Position = {}, Velocity = {} }
    only_chunk(world:query "Position, with Velocity", function(chunk)
      has_error(function() chunk:column "Velocity.x" end, "asks for 'Velocity'", "leave out 'with'")
      assert.are.equal(0, chunk:column("Position.x")[1])
    end)
  end)

  it("names wrong keys and arguments", function()
    local world = new_world()
    world:spawn { Position = {} }
    only_chunk(world:query "Position", function(chunk)
      local x = chunk:column "Position.x"
      has_error(function() return chunk.rows end, "n, entities, column and has", "'rows'")
      has_error(function() return chunk[1] end, "n, entities, column and has")
      has_error(function() chunk.n = 5 end, "read-only")
      has_error(function() return x.y end, "number from 1 to 1", "'y'")
      has_error(function() return x[1.5] end, "1.5")
      has_error(function() return x[{}] end, "a table")
      has_error(function() x[2] = 1 end, "rows 1 to 1")
      has_error(function() x[0] = 1 end, "rows 1 to 1")
      has_error(function() x.read = 1 end, "'read'")
      has_error(function() x:read(5) end, "bad argument #1 to 'read'")
      has_error(function() x:write(5) end, "bad argument #1 to 'write'")
      has_error(function() x:write() end, "bad argument #1 to 'write'")
      has_error(function() x.read({}, {}) end, "column expected")
      has_error(function() chunk.column(x, "Position.x") end, "chunk expected")
    end)
  end)

  it("is stale once its loop has gone on, or ended", function()
    local world = new_world()
    world:spawn { Position = {} }
    world:spawn { Position = {}, Velocity = {} }
    local chunk, x, entities
    local function check(...)
      has_error(function() return chunk.n end, "stale", ...)
      has_error(function() return chunk:column "Position.x" end, "stale", ...)
      has_error(function() return x[1] end, "stale", ...)
      has_error(function() x[1] = 1 end, "stale", ...)
      has_error(function() return #x end, "stale", ...)
      has_error(function() return entities[1] end, "stale", ...)
      assert.are.equal("ecs.chunk (stale)", tostring(chunk))
      assert.are.equal("ecs.column (stale)", tostring(x))
    end
    for current in world:query "Position":chunks() do
      if chunk then check "moved on" end
      chunk, x, entities = current, current:column "Position.x", current.entities
    end
    check "ended"
    has_error(function() return x.read end, "stale")
  end)

  it("says that the world is closed", function()
    local world = new_world()
    world:spawn { Position = {} }
    local step, loop = world:query "Position":chunks()
    local chunk = step(loop)
    world:close()
    has_error(function() return chunk.n end, "closed")
    has_error(function() step(loop) end, "closed")
  end)

  it("prints what it is", function()
    local world = new_world()
    world:spawn { Position = {} }
    only_chunk(world:query "Position", function(chunk)
      assert.are.equal("ecs.chunk (1 rows of table 1)", tostring(chunk))
      assert.are.equal("ecs.column (Position.x)", tostring(chunk:column "Position.x"))
      assert.are.equal("ecs.column (entities)", tostring(chunk.entities))
    end)
  end)

  it("stages while it is open", function()
    local world = new_world()
    for _ = 1, 3 do world:spawn { Position = {} } end
    only_chunk(world:query "Position", function(chunk)
      for i = 1, chunk.n do world:despawn(chunk.entities[i]) end
      assert.are.equal(3, world:count "Position")
    end)
    assert.are.equal(0, world:count "Position")
  end)
end)
