-- Kernels over rows of which some are switched off: programs run where the rows lie, for those that
-- are on, with what plain Lua does as the measure.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local has_error = helper.has_error

local COUNT = 3000
local floor, sqrt = math.floor, math.sqrt
local current                                   -- the world that a system's function is in

-- Three tables; of the first whole blocks are off, of the last all rows.
local scene = agree.scene {
  options = { seed = 7, tag = 3 },
  fill = function(world)
    local ids = {}
    current = world
    world:component("Pos", { "x: f32", "y: f64", "n: i16", "who: entity", "up: bool", "big: i64" })
    world:component("AI", { "mood: i32", toggle = true })
    world:component("Armed", { "shots: u8", toggle = true })
    world:component("Asleep", { toggle = true })
    world:tag "Red"
    for i = 1, COUNT do
      local id = world:spawn { AI = { mood = i % 50 },
        Pos = { x = i / 3, y = 1 / i, n = i % 900, up = i % 2 == 0, big = -i } }
      ids[i] = id
      if i % 3 == 0 then world:set(id, "Armed", i % 200) end
      if i % 50 == 0 then world:add(id, "Asleep") end
      world:set(id, "Pos.who", ids[i * 31 % i + 1])
    end
    local seed = 12345
    for i, id in ipairs(ids) do
      seed = (seed * 1103515245 + 12345) % 2147483648
      local bits = seed >> 16
      if bits % 2 == 0 or i > 1400 and i < 2600 or i % 50 == 0 then world:disable(id, "AI") end
      if bits % 3 == 0 and i % 3 == 0 then world:disable(id, "Armed") end
      if i % 100 == 0 then world:disable(id, "Asleep") end
      if i % 211 == 0 then world:despawn(id) end
    end
    return ids
  end,
  updates = 3,
}

local systems = {
  { "plain stores", "Pos, AI", function(pos, ai, dt)
    pos.x = pos.x + pos.y * dt
    pos.y = 2.5
    pos.big = pos.big * 3 + ai.mood
    ai.mood = ai.mood + 1
  end },
  { "fields that change places", "Pos, AI:off", function(pos)
    pos.big, pos.n = pos.n, 7
    pos.up = not pos.up
  end },
  { "branches", "Pos, AI, !Armed", function(pos, ai)
    if ai.mood > 20 then
      pos.y = sqrt(pos.y) + 1.0
      return
    end
    if pos.up then pos.n = pos.n // 2 else pos.y = pos.y * 0.5 end
    ai.mood = 0
  end },
  { "loops", "Pos, AI", function(pos)
    for i = 1, 5 do
      pos.x = pos.x + i
      if pos.x > 500.0 then break end
    end
  end },
  { "ids", "Pos, AI", function(pos, _, _, e)
    if pos.who == e then pos.who = 0 else pos.who = e end
  end },
  { "random numbers", "Pos, AI, Armed?", function(pos, _, armed, _, e)
    pos.y = current:random(e)
    if armed then armed.shots = 1 end
  end },
  { "commands", "Pos, AI", function(pos, ai, _, e)
    if ai.mood % 7 == 0 then current:add(e, "Red") end
    if pos.n % 11 == 0 then current:despawn(e) end
    if pos.up then current:remove(e, "Asleep") end
  end },
  { "what may be off", "Pos, Armed?, !Asleep", function(pos, armed)
    if armed then
      pos.x = pos.x - armed.shots
    else
      pos.n = pos.n + 1
    end
  end },
  { "one of two", "Pos, AI|Armed", function(pos, ai, armed)
    if ai then pos.x = pos.x + ai.mood end
    if armed then pos.y = pos.y + armed.shots end
  end },
  { "what none has on", "Pos, Asleep:off, AI:any", function(pos, ai)
    pos.x = pos.x + ai.mood
  end },
}

describe("a kernel over rows of which some are off", function()
  for _, one in ipairs(systems) do
    it("does what the function does: " .. one[1], function()
      scene:both(function() return one[3] end, one[2])
    end)
  end

  it("begins with those rows where they lie, and stores in them only", function()
    local world = scene:new(true)
    world:system("it", { query = "Pos, AI", each = systems[1][3], compile = true })
    world:system("any", { query = "Pos, AI:any", each = systems[1][3], compile = true })
    world:update(0.25)
    local program = world:explain("it").program
    assert.is_truthy(program:find("put.f32", 1, true), program)
    assert.is_truthy(program:find("rows", 1, true), program)
    assert.is_nil(world:explain("any").program:find("rows", 1, true))
  end)

  it("folds them as Lua does", function()
    local forms = { "sum", "min", "max" }
    local functions = {
      function(pos) return pos.x * pos.y end,
      function(pos) return pos.big end,
      function(pos) return 1.0 / (pos.n - 5.0) end,
    }
    local worlds = { scene:new(true), (scene:new(false)) }
    for _, text in ipairs { "Pos, AI", "Pos, AI:off", "Pos, Asleep", "Pos, AI, Armed:off",
        "Pos, Armed?", "Pos, AI, !Armed" } do
      for _, form in ipairs(forms) do
        for i, fn in ipairs(functions) do
          local got, want = worlds[1]:query(text), worlds[2]:query(text)
          assert.equal(want[form](want, fn), got[form](got, fn), text .. " " .. form .. i)
        end
      end
    end
    local fn = functions[1]
    worlds[1]:query("Pos, AI"):sum(fn)
    assert.equal("vector", worlds[1]:explain(fn).tier)
  end)

  it("says where Lua goes through rows for a predicate", function()
    local world = helper.new_world()
    world:component("Aim", { "x: f64", toggle = true })
    world:component("Near", { "n: f64" })
    local ids = {}
    for n = 1, 200 do ids[n] = world:spawn { Aim = { n }, Near = { n } } end
    local function is_far(aim) return aim.x > 5 end
    local function move(aim) aim.x = aim.x + 1 end
    local function both(aim, other) return other.n + (aim and aim.x or 0.0) end
    local far, near = world:query("Aim"):where(is_far), world:query "Aim?:in, Near:in"
    local function calls()
      local count = 0
      debug.sethook(function() count = count + 1 end, "c")
      far:each(move)
      near:sum(both)
      debug.sethook()
      return count
    end
    assert.is_true(calls() < 100)
    for _, fn in ipairs { is_far, move, both } do
      assert.same({ "vector" }, { world:explain(fn).tier, world:explain(fn).reason })
    end
    for n = 3, 200, 7 do world:disable(ids[n], "Aim") end
    assert.is_true(calls() < 100)
    for _, fn in ipairs { is_far, move, both } do
      assert.same({ "vector" }, { world:explain(fn).tier, world:explain(fn).reason })
    end
    far = world:query("Aim?, Near"):where(function(aim) return aim ~= nil and is_far(aim) end)
    local function more(_, other) other.n = other.n + 1 end
    far:each(more)
    assert.equal("lua", world:explain(more).tier)
    assert.truthy(world:explain(more).reason:find "switched off.* q:each")
    for n = 3, 200, 7 do world:enable(ids[n], "Aim") end
    assert.equal("vector", world:explain(more).tier)
  end)

  -- What each form of a query behind predicates comes to, and the world then.
  local function ask(kernels, text, first, second, change)
    local world = scene:new(kernels)
    local query = world:query(text):where(first)
    if second then query = query:where(second) end
    local got, count = { query:count(), query:first() or false, #query:ids() }, 0
    for _, form in ipairs { "sum", "min", "max" } do
      got[#got + 1] = query[form](query, function(pos) return pos.x * pos.y end) or false
    end
    for _ in query:each() do count = count + 1 end
    for chunk in query:chunks() do count = count * 3 % 1000003 + chunk.n end
    got[#got + 1] = count
    debug.sethook(function() count = count + 1 end, "c")
    count = 0
    local ok, message = pcall(query.each, query, change, 0.5)
    debug.sethook()
    got[#got + 1] = ok or message:gsub("^.-:%d+: ", "")
    got[#got + 1] = world:digest()
    local compiled = kernels == false or count < COUNT / 10
    return got, compiled and world:explain(change).tier
  end

  it("is asked of those that are on, and does what the function does", function()
    local firsts = {
      function(pos) return pos.x > 100.0 end,
      function(pos) return pos.n % 7 ~= 3 and pos.up end,
    }
    local changes = {
      function(pos, _, dt) pos.x = pos.x * dt + 1.0 end,
      function(pos) pos.n = pos.n - 700 end,
    }
    for _, text in ipairs { "Pos, AI", "Pos, AI:off", "Pos, !Armed", "Pos, Asleep:any, AI" } do
      for _, first in ipairs(firsts) do
        for _, second in ipairs { false, function(pos) return pos.y < 0.01 end } do
          for _, change in ipairs(changes) do
            local want = ask(false, text, first, second, change)
            local got, tier = ask(true, text, first, second, change)
            assert.same(want, got, text)
            assert.equal("vector", tier, text)
          end
        end
      end
    end
  end)

  it("fails in a predicate, or behind one, where the function fails", function()
    local function small(pos) return pos.n < 500 end
    local function change(pos) pos.n = pos.n * 100 end
    local function picky(pos) return 5 // (pos.n - 400) > -1 end
    for _, first in ipairs { small, picky } do
      for _, text in ipairs { "Pos, AI", "Pos, AI:off, !Armed" } do
        scene:twice(function(world)
          local query = world:query(text):where(first)
          local ok, message = pcall(query.each, query, change)
          assert.is_false(ok)
          return message:gsub("^.-:%d+: ", ""):gsub("^entity %S+: ", "")
        end)
      end
    end
  end)

  it("ends at the row that fails, with those before it written", function()
    scene:twice(function(world, _, ids)
      for i = 900, 1000 do
        if world:alive(ids[i]) and not world:enabled(ids[i], "AI") then
          world:set(ids[i], "Pos.n", 32767)
        end
      end
      world:set(ids[1000], "Pos.n", 32767)
      world:enable(ids[1000], "AI")
      world:system("it", { query = "Pos, AI", each = function(pos, _, _, e)
        current:add(e, "Red")
        pos.n = pos.n + 1
      end })
      has_error(function() world:update(0) end, "'Pos.n'", "out of range")
    end)
  end)

  it("goes on behind a row that only columns refuse", function()
    scene:twice(function(world, _, ids)
      world:enable(ids[7], "AI")
      world:set(ids[7], "Pos.n", 0)
      world:system("it", { query = "Pos, AI", each = function(pos, ai)
        if pos.n > 0 then pos.big = ai.mood // pos.n end
        pos.n = 40000 // (pos.n + 1.0) - pos.n
      end })
      local ok, message = pcall(world.update, world, 0)
      return ok or message:match("out of range") or message
    end)
  end)

  it("sees what is on behind a row that Lua does, wherever that is in its table", function()
    local function digest(kernels, rows, left)
      local world = helper.new_world { kernels = kernels, tag = 3 }
      world:component("P", { "x: f64", "y: f64" })
      world:component("On", { "k: i32", toggle = true })
      for n = 1, rows do
        local e = world:spawn { P = { y = n == left and 1e300 or n }, On = { k = n } }
        if n % 7 == 1 then world:disable(e, "On") end
      end
      world:system("s", { query = "P, On?", each = function(p, on)
        p.x = floor(p.y) + (on and on.k or -1)
      end })
      world:update(0.5)
      if kernels then assert.equal(1, world:describe().systems[1].left.last) end
      return world:digest()
    end
    for _, left in ipairs { 5, 63, 64, 65, 70, 130 } do
      for more = 57, 65 do
        local rows = left + more
        assert.equal(digest(false, rows, left), digest(true, rows, left), rows .. " rows")
      end
    end
  end)
end)
