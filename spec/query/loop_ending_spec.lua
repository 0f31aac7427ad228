local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local scenes = require "spec.support.scenes"

local has_error = helper.has_error

-- With some places, and a query for them.
local function new_places(rows)
  local world, ids = scenes.things(), {}
  for i = 1, rows or 3 do ids[i] = world:spawn { Position = { x = i } } end
  return world, ids, world:query "Position"
end

-- A spawn lands at once: no scope is open any more.
local function assert_unlocked(world)
  local before = world:count "Velocity"
  local e = world:spawn { Velocity = {} }
  assert.are.equal(before + 1, world:count "Velocity")
  assert.is_true(world:has(e, "Velocity"))
  world:update(0)
end

-- Reliability 9, for each form that a for loop can have.
for _, form in ipairs { "each", "chunks" } do
  local function loop(query) return query[form](query) end

  describe("a loop over query:" .. form, function()
    local function leave_by(name, body, applies)
      it("can be left by " .. name, function()
        local world, _, query = new_places()
        local spawned
        body(world, function()
          spawned = spawned or world:spawn { Position = {} }
          assert.is_false(world:has(spawned, "Position"))
        end, query)
        assert_unlocked(world)
        assert.are.equal(applies, world:alive(spawned))
        assert.are.equal(applies and 4 or 3, world:count "Position")
      end)
    end

    leave_by("its end", function(_, spawn, query)
      for _ in loop(query) do spawn() end
    end, true)

    leave_by("break", function(_, spawn, query)
      for _ in loop(query) do -- luacheck: ignore 512
        spawn()
        break
      end
    end, true)

    leave_by("return", function(_, spawn, query)
      (function()
        for _ in loop(query) do -- luacheck: ignore 512
          spawn()
          return
        end
      end)()
    end, true)

    leave_by("goto", function(_, spawn, query)
      for _ in loop(query) do -- luacheck: ignore 512
        spawn()
        goto out
      end
      ::out::
    end, true)

    leave_by("an error", function(_, spawn, query)
      has_error(function()
        for _ in loop(query) do
          spawn()
          error "stop"
        end
      end, "stop")
    end, false)

    leave_by("coroutine.close", function(_, spawn, query)
      local co = coroutine.create(function()
        for _ in loop(query) do
          spawn()
          coroutine.yield()
        end
      end)
      coroutine.resume(co)
      assert.is_true(coroutine.close(co))
    end, true)

    leave_by("a coroutine that is dropped", function(_, spawn, query)
      coroutine.wrap(function()
        for _ in loop(query) do
          spawn()
          coroutine.yield()
        end
      end)()
      collectgarbage()
      collectgarbage()
    end, true)

    leave_by("a coroutine that dies, and a collection", function(_, spawn, query)
      coroutine.resume(coroutine.create(function()
        for _ in loop(query) do
          spawn()
          error "stop"
        end
      end))
      collectgarbage()
      collectgarbage()
    end, true)

    leave_by("an iterator that is dropped", function(_, spawn, query)
      local step, state = loop(query)
      step(state)
      spawn()
      step, state = nil, nil -- luacheck: ignore 311
      collectgarbage()
      collectgarbage()
    end, true)

    leave_by("several loops that end out of order", function(_, spawn, query)
      local function run()
        for _ in loop(query) do
          spawn()
          coroutine.yield()
        end
      end
      local a, b, c = coroutine.create(run), coroutine.create(run), coroutine.create(run)
      for _, co in ipairs { a, b, c } do coroutine.resume(co) end
      coroutine.close(b)
      coroutine.close(a)
      coroutine.close(c)
    end, true)

    for _, ending in ipairs { "commit", "cancel" } do
      it("that began after a defer, is ended by " .. ending, function()
        local world, _, query = new_places()
        local outer_step, outer_state = loop(query)
        outer_step(outer_state)
        world:defer()
        local kept
        local co = coroutine.wrap(function()
          for view in loop(query) do
            kept = view
            for _ in loop(query) do
              world:spawn { Position = {} }
              coroutine.yield()
            end
          end
        end)
        co()
        local before = world:count "Position"
        world[ending](world)
        has_error(function() return kept.x or kept.n end, "stale")
        has_error(co, "the loop has ended")
        has_error(function() world:cancel() end, "cancel without a defer")
        assert.are.equal(before, world:count "Position")
        world:update(0)
        has_error(function() outer_step(outer_state) end, "the loop has ended")
        assert.are.equal(before + (ending == "commit" and 1 or 0), world:count "Position")
        assert_unlocked(world)
      end)
    end

    -- What ends loops that are left open, outside of systems, function forms and defer.
    local enders = {
      update = function(world) world:update(0) end,
      run = function(world) world:run("update", 0) end,
      commit = function(world) world:commit() end,
      recycle_retired = function(world) world:recycle_retired() end,
    }
    for name, ending in pairs(enders) do
      it("is ended by " .. name .. " and its commands apply", function()
        local world, _, query = new_places()
        local step, state = loop(query)
        local kept = step(state)
        local inner_step, inner_state = loop(query)
        inner_step(inner_state)
        local e = world:spawn { Position = {} }
        assert.is_false(world:has(e, "Position"))
        ending(world)
        assert.is_true(world:has(e, "Position"))
        has_error(function() return kept.x or kept.n end, "stale")
        has_error(function() step(state) end, "the loop has ended")
        has_error(function() inner_step(inner_state) end, "the loop has ended")
        assert_unlocked(world)
      end)

      it("says that " .. name .. " in its body has ended it", function()
        local world, _, query = new_places()
        has_error(function()
          for _ in loop(query) do ending(world) end
        end, "the loop has ended")
        assert_unlocked(world)
      end)
    end

    it("is over when its world is closed", function()
      local world, _, query = new_places()
      has_error(function()
        for _ in loop(query) do world:close() end
      end, "closed")
    end)

    it("does not keep its world from being collected", function()
      local weak = setmetatable({}, { __mode = "k" })
      do
        local world = ecs.world()
        weak[world] = true
        world:component("Position", { "x: f32" })
        world:spawn { Position = {} }
        local step, state = loop(world:query "Position")
        step(state)
      end
      for _ = 1, 3 do collectgarbage() end
      assert.is_nil(next(weak))
    end)
  end)
end

-- What a for loop over a query can be, each over objects that nobody else has: `keep` notes which.
local forms = {
  each = function(world, keep) return keep(world:query("Position", {})):each() end,
  chunks = function(world, keep) return keep(world:query("Position", {})):chunks() end,
  ["where and each"] = function(world, keep)
    return keep(keep(world:query("Position", {})):where(function(p) return p.x > 1 end)):each()
  end,
  ["where and chunks"] = function(world, keep)
    return keep(keep(world:query("Position", {})):where(function(p) return p.x > 1 end)):chunks()
  end,
}

describe("a loop that something else has ended", function()
  local enders = {
    update = function(world) world:update(0) end,
    run = function(world) world:run("update", 0) end,
    commit = function(world) world:commit() end,
    load = function(world) world:load(world:save()) end,
    restore = function(world) world:restore(world:snapshot()) end,
    ["undeclaring its component"] = function(world)
      world:undeclare "Body"
      world:undeclare "Position"
    end,
    ["the end of a system"] = function() end,
    ["the end of a defer"] = function() end,
  }
  local around = {
    ["the end of a system"] = function(world, body)
      world:system("s", { run = body })
      world:update(0)
    end,
    ["the end of a defer"] = function(world, body)
      world:defer()
      body()
      world:commit()
    end,
  }

  for form, begin in pairs(forms) do
    for name, ending in pairs(enders) do
      it("over " .. form .. " is given back behind " .. name, function()
        local world = new_places()
        local weak = setmetatable({}, { __mode = "k" })
        local function keep(object)
          weak[object] = true
          return object
        end
        local function leave()
          local co = coroutine.wrap(function()
            for _ in begin(world, keep) do coroutine.yield() end
          end)
          co()
        end
        local enter = around[name] or function(_, body) body() end
        enter(world, leave)
        assert.is_not_nil(next(weak))
        ending(world)
        for _ = 1, 3 do collectgarbage() end
        assert.is_nil(next(weak))
      end)
    end
  end
end)

describe("a for loop in a system", function()
  it("that is left open ends with the system", function()
    local world, _, query = new_places()
    local step, state, kept, e
    world:system("s", { run = function()
      step, state = query:each()
      kept = step(state)
      e = world:spawn { Position = {} }
    end })
    world:update(0)
    assert.is_true(world:has(e, "Position"))
    has_error(function() return kept.x end, "stale view")
    has_error(function() step(state) end, "the loop has ended")
    assert_unlocked(world)
  end)

  it("that is left open ends with the system's error", function()
    local world, _, query = new_places()
    local kept, e
    world:system("s", { run = function()
      local step, state = query:each()
      kept = step(state)
      e = world:spawn { Position = {} }
      error "stop"
    end })
    has_error(function() world:update(0) end, "stop")
    assert.is_false(world:alive(e))
    has_error(function() return kept.x end, "stale view")
    world:remove_system("s")
    assert_unlocked(world)
  end)
end)

-- Reliability 10: every mutator, and every call that is refused, in each kind of callback.
describe("inside", function()
  local inside = {
    ["a system with each"] = function(world, body)
      world:system("s", { query = "Position", each = function() body() end })
      world:update(0)
    end,
    ["a system with map"] = function(world, body)
      world:system("s", { query = "Position.x", map = function() body() end })
      world:update(0)
    end,
    ["a system with run"] = function(world, body)
      world:system("s", { run = body })
      world:update(0)
    end,
    ["a system by world:run"] = function(world, body)
      world:system("s", { run = body })
      world:run("s", 0)
    end,
    ["the when of a system"] = function(world, body)
      world:system("s", { run = print, when = function()
        body()
        return false
      end })
      world:update(0)
    end,
    ["on_error's handler"] = function(world, body)
      local problem
      world:on_error(function() problem = select(2, pcall(body)) end)
      world:system("s", { run = function() error "stop" end })
      world:update(0)
      if problem then error(problem, 0) end
    end,
    ["query:each(fn)"] = function(world, body)
      world:query "Position":each(function() body() end)
    end,
    ["query:each(fn) in a coroutine"] = function(world, body)
      local co = coroutine.create(function()
        world:query "Position":each(function() body() end)
      end)
      local ok, message = coroutine.resume(co)
      if not ok then error(message, 0) end
    end,
    ["query:map"] = function(world, body)
      world:query "Position.x":map(function() body() end)
    end,
    ["defer"] = function(world, body)
      world:defer()
      local ok, message = pcall(body)
      world:commit()
      if not ok then error(message, 0) end
    end,
  }

  for place, enter in pairs(inside) do
    local refused = {
      update = function(world) world:update(0) end,
      run = function(world) world:run("update", 0) end,
      close = function(world) world:close() end,
      recycle_retired = function(world) world:recycle_retired() end,
      undeclare = function(world) world:undeclare "Velocity" end,
      load = function(world, bytes) world:load(bytes) end,
      restore = function(world, _, snapshot) world:restore(snapshot) end,
      save = function(world) world:save() end,
      snapshot = function(world) world:snapshot() end,
      ["declaring a phase"] = function(world) world:phase("physics", {}) end,
      ["declaring a component with other fields"] = function(world)
        world:component("Velocity", { "x: f64" })
      end,
    }
    for name, call in pairs(refused) do
      it(place .. ", " .. name .. " is an error that says so", function()
        local world, ids = new_places(1)
        local bytes, snapshot = world:save(), world:snapshot()
        local done = false
        enter(world, function()
          if done then return end
          done = true
          has_error(function() call(world, bytes, snapshot) end, name, "not possible inside")
        end)
        assert.is_true(done)
        assert.is_true(world:alive(ids[1]))
        assert_unlocked(world)
      end)
    end

    it(place .. ", every mutator is staged, or takes effect at once, and none breaks", function()
      local world, ids = new_places(1)
      local e, done = ids[1], false
      local spawned, many
      enter(world, function()
        if done then return end
        done = true
        spawned = world:spawn { Position = { x = 9 } }
        many = world:spawn_many(2, { Velocity = {} })
        world:set(e, "Position.y", 5)
        world:add(e, "Velocity")
        world:remove(spawned, "Position")
        world:add(spawned, "Frozen")
        world:name(e, "e")
        world:component("New", { "a: f32" })
        world:set(e, "New", 3)
        world:query "New"
        world:system("later", { query = "New", each = function() end })
        world:despawn(many[2])
      end)
      assert.are.same({ 1, 5 }, { world:get(e, "Position") })
      assert.is_true(world:has(e, "Velocity"))
      assert.are.equal(3, (world:get(e, "New")))
      assert.is_true(world:has(spawned, "Frozen"))
      assert.is_false(world:has(spawned, "Position"))
      assert.is_true(world:alive(many[1]))
      assert.is_false(world:alive(many[2]))
      assert.are.equal(e, world:lookup "e")
      assert_unlocked(world)
    end)

    it(place .. ", yielding is an error", function()
      if place == "defer" then return end
      local world = new_places(1)
      local co = coroutine.create(function()
        enter(world, function() coroutine.yield() end)
      end)
      local ok, message = coroutine.resume(co)
      assert.is_false(ok)
      assert.is_truthy(tostring(message):find("yield", 1, true))
      world:on_error(nil)
      world:system("s", { run = function() end })
      assert_unlocked(world)
    end)

    it(place .. ", an error leaves the world as it was", function()
      if place == "defer" then return end
      local world = new_places(1)
      local spawned
      local ok = pcall(enter, world, function()
        spawned = world:spawn { Position = {} }
        error "stop"
      end)
      assert.is_false(ok)
      local at_once = place == "the when of a system" or place == "on_error's handler"
      assert.are.equal(at_once, world:alive(spawned))
      world:on_error(nil)
      world:system("s", { run = function() end })
      assert_unlocked(world)
    end)

    it(place .. ", __close of the world closes it, and nothing breaks", function()
      local world = ecs.world()
      world:component("Position", { "x: f32", "y: f32" })
      world:component("Velocity", { "x: f32", "y: f32" })
      for _ = 1, 3 do world:spawn { Position = {} } end
      local count = 0
      pcall(enter, world, function()
        count = count + 1
        do
          local closing <close> = world -- luacheck: ignore 211
        end
        has_error(function() world:spawn() end, "closed")
      end)
      assert.are.equal(1, count)
      has_error(function() world:update(0) end, "closed")
    end)
  end
end)

-- Reliability 14: what a loop over five rows sees when its body changes rows. The row that the
-- body is at is the third.
describe("changing rows inside a loop", function()
  local mutations = {
    despawn = function(world, e) world:despawn(e) end,
    add = function(world, e) world:add(e, "Frozen") end,
    remove = function(world, e) world:remove(e, "Position") end,
    set = function(world, e) world:set(e, "Velocity", 1, 2) end,
    write = function(world, e) world:set(e, "Position.y", 7) end,
    both = function(world, e)
      world:remove(e, "Position")
      world:add(e, "Position")
    end,
  }
  -- mutation -> what is left for "Position, !Frozen" afterwards, of the row that was changed
  local survives = { despawn = false, add = false, remove = false, set = true, write = true,
    both = true }
  local targets = { self = 3, earlier = 1, later = 4, last = 5 }

  local visits = {
    ["for"] = function(query, body)
      for pos, e in query:each() do body(pos.x, e) end
    end,
    each = function(query, body)
      query:each(function(pos, _, e) body(pos.x, e) end)
    end,
    map = function(_, body, world)
      world:query "Position.x, !Frozen":map(function(x, _, e) body(x, e) end)
    end,
    chunks = function(query, body)
      for chunk in query:chunks() do
        local x = chunk:column "Position.x"
        for i = 1, chunk.n do body(x[i], chunk.entities[i]) end
      end
    end,
    system = function(_, body, world)
      world:system("visit", { query = "Position, !Frozen",
        each = function(pos, _, e) body(pos.x, e) end })
      world:run("visit", 0)
      world:remove_system "visit"
    end,
  }

  for form, visit in pairs(visits) do
    for name, mutate in pairs(mutations) do
      for where, target in pairs(targets) do
        it(("%s: %s of the %s row visits each row once"):format(form, name, where), function()
          local world, ids = new_places(5)
          local query = world:query "Position, !Frozen"
          local seen = {}
          visit(query, function(x, e)
            seen[#seen + 1] = x
            assert.are.equal(ids[#seen], e)
            if #seen == 3 then mutate(world, ids[target]) end
          end, world)
          assert.are.same({ 1, 2, 3, 4, 5 }, seen)
          local left = {}
          for i = 1, 5 do
            if i ~= target or survives[name] then left[#left + 1] = ids[i] end
          end
          assert.are.same(helper.sorted(left), helper.sorted(helper.ids_of(query)))
          if name == "write" then
            assert.are.equal(7, (world:get(ids[target], "Position.y")))
          elseif name == "both" then
            assert.are.equal(0, (world:get(ids[target], "Position.x")))
          end
          assert_unlocked(world)
        end)
      end
    end

    it(form .. ": a new row is not visited", function()
      local world, ids = new_places(5)
      local query = world:query "Position, !Frozen"
      local count = 0
      visit(query, function()
        count = count + 1
        ids[#ids + 1] = world:spawn { Position = {} }
      end, world)
      assert.are.equal(5, count)
      assert.are.same(helper.sorted(ids), helper.sorted(helper.ids_of(query)))
    end)

    it(form .. ": everything can go (C20, C52, C53)", function()
      local world = new_places(5)
      local query = world:query "Position, !Frozen"
      local count = 0
      visit(query, function(_, e)
        count = count + 1
        world:despawn(e)
        world:despawn(e)
      end, world)
      assert.are.equal(5, count)
      assert.are.equal(0, query:count())
    end)
  end
end)

describe("a finalizer that uses the world", function()
  -- Calls a function while nearly every allocation runs a finalizer that does something.
  local function churned(times, call, deed)
    local on = true
    local function churn()
      setmetatable({}, { __gc = function()
        if not on then return end
        deed()
        churn()
      end })
    end
    churn()
    helper.collect_always(true)
    collectgarbage "restart"
    for i = 1, times do call(i) end
    helper.collect_always(false)
    on = false
  end

  it("while a loop is made or gone through does no harm", function()
    local world, _, query = new_places(50)
    churned(200, function()
      for pos in query:each() do
        local _ = pos.x .. ""
      end
      query:each(function(pos) return pos.x .. "" end)
      for chunk in query:chunks() do chunk:column("Position.x"):read() end
    end, function()
      world:spawn { Velocity = {} }
      for _ in query:each() do break end -- luacheck: ignore 512
    end)
    assert.are.equal(50, query:count())
    world:update(0)
  end)

  it("that closes the world while a loop is gone through ends it", function()
    local world = ecs.world()
    world:component("Position", { "x: f32", "name: string = someone" })
    for _ = 1, 100 do world:spawn { Position = {} } end
    local query = world:query "Position"
    setmetatable({}, { __gc = function()
      local closing <close> = world -- luacheck: ignore 211
    end })
    local ok, message = pcall(function()
      while true do
        for pos in query:each() do
          local _ = pos.name .. pos.x .. tostring(pos)
        end
      end
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("closed", 1, true))
  end)

  it("to replace systems that are explained waits", function()
    local world = new_places(5)
    local names = { "a", "b", "c", "d" }
    local function declare(name)
      world:system(name, { query = "Position", each = function(pos) pos.x = pos.x + 1 end })
    end
    for _, name in ipairs(names) do declare(name) end
    churned(300, function(i)
      world:tag("T" .. i % 9)   -- programs are made again
      world:update(1)
      world:undeclare("T" .. i % 9)
      assert.are.equal(4, #world:explain("update").update)
      for _, name in ipairs(names) do assert.is_string(world:explain(name).tier) end
    end, function()
      for _, name in ipairs(names) do declare(name) end
    end)
    world:close()
  end)

  it("to declare a component again while an index is read ends the loop", function()
    local world = ecs.world()
    world:component("Spot", { "x: f64", "y: f64" })
    world:spawn_many(20, { Spot = { 1, 2 } })
    local near = world:index("near", { query = "Spot", grid = "Spot", cell = 1 })
    local seen, wide = 0, false
    churned(300, function()
      pcall(function()
        for spot in near:within(1, 2, 1) do seen = seen + spot.x end
      end)
    end, function()
      wide = not wide
      world:component("Spot", { "x: f64", "y: f64", wide and "m: f64[9]" or nil })
    end)
    assert.is_true(seen > 0)
    world:close()
  end)

  it("to declare a component several times while it is read ends the reading", function()
    local world = ecs.world()
    local shapes = {
      { "s: string", "m: f64[3]", "q: f64" },
      { "m: f64[3]", "z: u8" },
      { "s: string", "m: f64[3]", "n: f64[2]", "t: string" },
    }
    world:component("Wide", shapes[3])
    local e = world:spawn { Wide = {} }
    local seen, told = 0, 0
    churned(1000, function()
      local ok, wide = pcall(world.read, world, e, "Wide")
      if ok then seen = seen + #wide.m + #wide.n + #wide.s + #wide.t else told = told + 1 end
      assert(ok or wide:find "the entity changed while it was read")
    end, function()
      for _, shape in ipairs(shapes) do pcall(world.component, world, "Wide", shape) end
    end)
    assert.are.equal((1000 - told) * 5, seen)
    assert.is_true(told > 0 and told < 1000)
    world:close()
  end)
end)
