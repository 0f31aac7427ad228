-- What spec/c/test_lua_oom.c does while memory runs short: reliability line 1. A scenario is
-- { name, prepare(s), act(s) }: prepare has all the memory it wants; act is done again after
-- each failure, and has to succeed then. s.world is the world whose content is compared: after
-- a failure it is what it was before, and in the end what it is when nothing failed. Options:
--   new_ids   ids differ when act is done again
--   partial   act is many calls, which may be half done when it fails
--   loose     what it leaves depends on when the collector comes
--   after     checks the state once act has succeeded

local ecs = require "ecs"

local scenarios = {}

local function scenario(name, spec)
  spec.name = name
  scenarios[#scenarios + 1] = spec
end

local function declare(world)
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Velocity", { "x: f32 = 1", "y: f32" })
  world:component("Health", { "hp: i32 = 100", "state: enum(fine, hurt, dead)" })
  world:component("Label", { "text: string = none" })
  world:component("Bag", { "value: any" })
  world:component("Link", { "to: entity" })
  world:component("Body", { "m: f64[3]", "at: Position", "marks: Label[2]" })
  world:tag("Frozen")
  world:tag("Enemy")
end

local function open(s)
  s.world = ecs.world { tag = 7 }
  declare(s.world)
end

local function one(s)
  open(s)
  s.e = s.world:spawn { Position = { x = 1, y = 2 }, Label = { "me" }, Bag = { { 1 } } }
end

local function crowd(s)
  one(s)
  s.ids = {}
  for i = 1, 24 do
    s.ids[i] = s.world:spawn {
      Position = { i, -i },
      Velocity = i % 2 == 0 and true or nil,
      Frozen = i % 3 == 0 and true or nil,
      Label = i % 4 == 0 and { "crowd " .. i } or nil,
    }
  end
  s.query = s.world:query "Position, Velocity?"
end

-- ---- worlds -------------------------------------------------------------------------------

scenario("a world", {
  act = function(s)
    local world = ecs.world()
    world:close()
    s.done = true
  end,
})

scenario("a world with options", {
  act = function(s)
    s.world = nil
    s.world = ecs.world { tag = 9, seed = 1234, kernels = false }
  end,
})

scenario("a world to be closed by its variable", {
  act = function()
    local world <close> = ecs.world()
    world:tag "T"
  end,
})

scenario("worlds left to the collector", {
  act = function()
    for i = 1, 3 do
      local world = ecs.world()
      world:tag("T" .. i)
    end
    collectgarbage()
  end,
})

scenario("the world as text, its bytes, its check", {
  prepare = one,
  act = function(s)
    assert(tostring(s.world):find "tag 7")
    assert(s.world:check())
    assert(ecs.format(s.e) == "65536v0@7")
  end,
})

scenario("the range of ids and retired slots", {
  prepare = open,
  act = function(s)
    s.world:entity_range(100000, 100100)
    assert(s.world:recycle_retired() == 0)
    assert(s.world:alive(s.e) == false)
  end,
})

-- ---- components ---------------------------------------------------------------------------

scenario("components of all types", {
  prepare = function(s) s.world = ecs.world { tag = 7 } end,
  partial = true,
  act = function(s) declare(s.world) end,
})

scenario("undeclare", {
  prepare = crowd,
  act = function(s)
    if s.world:describe "Velocity" then
      s.world:undeclare "Velocity"
    end
  end,
  partial = true,
})

scenario("undeclare of what views and queries show", {
  prepare = function(s)
    crowd(s)
    s.world:resource "Link"
    s.view = s.world:res "Link"
    for velocity in s.world:query("Velocity, Label"):each() do
      s.velocity = velocity
    end
    s.name = "Velocity"
  end,
  act = function(s)
    if s.name then
      s.world:undeclare(s.name)
      s.name = nil
    end
  end,
})

scenario("describing everything", {
  prepare = function(s)
    crowd(s)
    s.world:system("move", { query = "Position", each = function() end })
    s.world:update(0.1)
  end,
  act = function(s)
    local all = s.world:describe()
    assert(#all.tables > 3 and #all.systems == 1 and all.rows == 25)
  end,
})

scenario("a resource's views", {
  prepare = function(s)
    open(s)
    s.world:resource "Body"
    s.world:resource "Bag"
  end,
  act = function(s)
    local body = s.world:res "Body"
    body.m[2] = 5
    body.at.x = 6
    body.marks[1].text = "a mark of its own"
    s.world:res("Bag").value = { "a value" }
    assert(body.m[2] == 5 and body.marks[1].text == "a mark of its own")
    assert(tostring(body) ~= "" and #body.m == 3)
    for key in pairs(body) do assert(key) end
  end,
  partial = true,
})

-- ---- spawning -----------------------------------------------------------------------------

local function spawning(name, components)
  scenario("spawn " .. name, {
    prepare = function(s)
      open(s)
      s.e = false
    end,
    act = function(s) s.e = s.world:spawn(components) end,
    after = function(s) assert(s.world:alive(s.e)) end,
  })
end
spawning("with strings", { Label = { text = "a text that nobody has" } })
spawning("with any values", { Bag = { value = { 1, 2, 3 } } })
spawning("with nested values",
  { Body = { m = { 1, 2, 3 }, at = { x = 1 }, marks = { { "one" }, { text = "two" } } } })

scenario("spawn with a name that is made", {
  prepare = open,
  act = function(s) s.world:spawn { ["Pos" .. "ition"] = {}, Label = { ("x"):rep(100) } } end,
})

scenario("spawner", {
  prepare = open,
  act = function(s) s.make = s.world:spawner "Position, Label, Bag, Body, Enemy" end,
})

scenario("spawner of fields, and a spawn by it", {
  prepare = open,
  act = function(s)
    s.make = s.world:spawner "Label.text, Position.y, Body"
    assert(s.world:alive(s.make(("text"):rep(9), 2, { 6 })))
  end,
  new_ids = true,
})

scenario("spawn by a spawner", {
  prepare = function(s)
    open(s)
    s.make = s.world:spawner "Position, Label, Bag, Body, Enemy"
  end,
  act = function(s)
    assert(s.world:alive(s.make(1, 2, ("text"):rep(9), { 3 }, { 4, 5 }, { x = 6 }, { {}, {} })))
  end,
})

-- ---- changing -----------------------------------------------------------------------------

local function changing(name, act, options)
  local spec = { prepare = one, act = act }
  for key, value in pairs(options or {}) do spec[key] = value end
  scenario(name, spec)
end
changing("set of a string", function(s) s.world:set(s.e, "Label", "another text") end)
changing("set of a string field", function(s) s.world:set(s.e, "Label.text", "further") end)
changing("set of an any value", function(s) s.world:set(s.e, "Bag", { value = { 5, 6 } }) end)
changing("set of an absent any value", function(s)
  s.world:remove(s.e, "Bag")
  s.world:set(s.e, "Bag", {})
end, { partial = true })
changing("set of nested values", function(s)
  s.world:set(s.e, "Body", { 1, 2, 3 }, { x = 5 }, { { "a" }, { "b" } })
end)
changing("set of an element", function(s) s.world:set(s.e, "Body.marks[2].text", "two") end)
changing("names that come and go", function(s)
  for i = 1, 12 do s.world:name(s.e, "name " .. i) end
  s.world:name(s.e, false)
end, { partial = true })

-- ---- reading ------------------------------------------------------------------------------

scenario("get and read", {
  prepare = function(s)
    one(s)
    s.world:add(s.e, "Body")
  end,
  act = function(s)
    local m, at, marks = s.world:get(s.e, "Body")
    assert(#m == 3 and at.x == 0 and marks[2].text == "none")
    assert(s.world:read(s.e, "Body").marks[1].text == "none")
    assert(s.world:get(s.e, "Label") == "me" and s.world:get(s.e, "Label.text") == "me")
    assert(s.world:get(s.e, "Bag")[1] == 1)
    assert(s.world:has(s.e, "Position") and not s.world:has(s.e, "Enemy"))
  end,
})

scenario("the components of an entity", {
  prepare = function(s)
    one(s)
    s.world:add(s.e, "Frozen")
    s.world:add(s.e, "Body")
  end,
  act = function(s)
    local count = 0
    for name, value in s.world:components(s.e) do
      assert(type(name) == "string" and value)
      count = count + 1
    end
    assert(count == 5)
  end,
})

-- ---- queries ------------------------------------------------------------------------------

scenario("queries", {
  prepare = crowd,
  act = function(s)
    assert(s.world:query("Position, !Frozen"):count() == 17)
    assert(s.world:query("Velocity|Label, Position.x"):count() > 0)
    assert(s.world:query("with Position, Frozen?, Label?:in"):count() == 25)
    assert(s.world:count "Position, Velocity" == 12)
  end,
})

scenario("a query with texts for errors", {
  prepare = open,
  act = function(s)
    local ok, message = pcall(s.world.query, s.world, "Postion")
    assert(not ok)
    if message == "not enough memory" then error(message, 0) end
    assert(message:find "did you mean 'Position'")
  end,
})

scenario("loops with views", {
  prepare = crowd,
  act = function(s)
    local rows = 0
    for position, velocity in s.query:each() do
      position.x = position.x
      if velocity then velocity.y = 0 end
      rows = rows + 1
    end
    assert(rows == 25)
  end,
})

scenario("loops over filters and optional tags", {
  prepare = function(s)
    crowd(s)
    s.query = s.world:query "Frozen?, Position, with Position"
  end,
  act = function(s)
    local frozen = 0
    for is_frozen in s.query:each() do
      if is_frozen then frozen = frozen + 1 end
    end
    assert(frozen == 8)
    for chunk in s.query:chunks() do
      if chunk:has "Frozen" then frozen = frozen - chunk.n end
    end
    assert(frozen == 0)
  end,
})

scenario("loops inside loops, and a break", {
  prepare = crowd,
  act = function(s)
    for _, _, e in s.query:each() do
      for _, _, other in s.query:each() do
        if e == other then break end
      end
      if e == s.ids[5] then break end
    end
  end,
})

scenario("loops that change what they visit", {
  prepare = crowd,
  act = function(s)
    for _, _, e in s.query:each() do
      s.world:set(e, "Label", "visited")
      s.world:remove(e, "Velocity")
      s.world:spawn { Enemy = true, Bag = { {} } }
    end
  end,
  new_ids = true,
  partial = true,
})

scenario("functions over views", {
  prepare = crowd,
  act = function(s)
    s.query:each(function(position, velocity, dt, e)
      position.y = dt
      if velocity then s.world:add(e, "Enemy") end
    end, 0.5)
  end,
  partial = true,
})

scenario("functions over views that fail", {
  prepare = crowd,
  act = function(s)
    local ok, message = pcall(s.query.each, s.query, function(_, _, _, e)
      s.world:despawn(e)
      s.world:spawn { Position = true }
      if e == s.ids[3] then error("on purpose", 0) end
    end)
    assert(not ok)
    if not message:find "^entity %S+: on purpose$" then error(message, 0) end
  end,
  new_ids = true,
})

scenario("map over strings", {
  prepare = crowd,
  act = function(s)
    s.world:query("Label.text"):map(function(text) return text .. "!" end)
  end,
  partial = true,
})

-- The chunk of a query's only table, within its loop.
local function only_chunk(s, text)
  local next_chunk, loop = s.world:query(text):chunks()
  s.loop = loop
  return next_chunk(loop)
end

scenario("a column of any values written", {
  prepare = function(s)
    open(s)
    for i = 1, 9 do s.world:spawn { Bag = { i % 3 > 0 and { i } or nil } } end
    s.column = only_chunk(s, "Bag"):column "Bag.value"
    s.values = { "a", "b", "c", nil, "d", { "e" }, "f", nil, "g" }
  end,
  act = function(s) s.column:write(s.values) end,
})

scenario("a column of strings written", {
  prepare = function(s)
    open(s)
    s.texts = {}
    for i = 1, 9 do
      s.world:spawn { Label = { "old " .. i } }
      s.texts[i] = "new " .. i
    end
    s.column = only_chunk(s, "Label"):column "Label.text"
  end,
  act = function(s) s.column:write(s.texts) end,
})

scenario("loops in coroutines that are dropped", {
  prepare = crowd,
  act = function(s)
    for _ = 1, 3 do
      coroutine.wrap(function()
        for _, _, e in s.query:each() do
          s.world:set(e, "Health", 1)
          coroutine.yield(e)
        end
      end)()
      collectgarbage()
    end
    s.world:update(0)
  end,
  loose = true,
})

-- Calls fn at a depth that the state has not been to: calling a finalizer there takes memory.
local function deeper(levels, fn)
  if levels > 0 then return deeper(levels - 1, fn), nil end
  return fn()
end

local function leave_garbage(s)
  for i = 1, 2 do
    local resume = coroutine.wrap(function()
      for _, _, e in s.query:each() do
        s.world:set(e, "Health", i)
        coroutine.yield(e)
      end
    end)
    resume()
    s.world:query "Label, Bag"
    ecs.world():tag "T"
  end
end

-- Lua calls no finalizer when there is no memory for the call, and frees the object anyway.
scenario("objects whose finalizers cannot be called", {
  prepare = crowd,
  act = function(s)
    collectgarbage "stop"
    leave_garbage(s)
    deeper(60, collectgarbage)
  end,
  after = function(s)
    collectgarbage "restart"
    s.world:tag "Further"
    s.world:spawn { Label = { "further" } }
    s.world:update(0)
  end,
  loose = true,
})

return scenarios, scenario, { open = open, one = one, crowd = crowd }
