-- Systems side by side: which can be, what keeps others apart, and that they do what they do alone.

local agree = require "spec.support.agree"

local scene = agree.scene {
  fill = function(world)
    world:component("P", { "x: f64", "y: f64", "n: i32" })
    world:component("V", { "x: f64", "y: f64" })
    world:component("T", { "at: entity" })
    world:resource("Wind", { "x: f64", "y: f64" })
    world:array("heights", "f64", 4)
    world:event("Hit", { "by: f64" })
    for i = 1, 100 do world:spawn { P = { x = i, n = i }, V = { y = 1 }, T = {} } end
  end,
}

-- The lists of a phase as one text: "a b; c (why)".
local function told(world, phase)
  local lists = {}
  for i, list in ipairs(world:explain("update")[phase or "update"]) do
    lists[i] = table.concat(list, " ") .. (list.why and " (" .. list.why .. ")" or "")
  end
  return table.concat(lists, "; ")
end

-- Registers kernels named a, b, ...: each a query and a function, and perhaps more options.
local function systems(world, list)
  for i, spec in ipairs(list) do
    world:system(("abcdefgh"):sub(i, i), { query = spec[1], each = spec[2], every = spec.every,
      before = spec.before, after = spec.after })
  end
end

local function set_x(p) p.x = p.x + 1 end
local function set_y(p) p.y = p.y + 1 end

describe("world:explain 'update'", function()
  it("lists together kernels that get at nothing in common, or only read it", function()
    local world = scene:new {}
    local wind = world:res "Wind"
    systems(world, {
      { "P", set_x },
      { "P", set_y },
      { "V, P.n:in", function(v, n) v.x = n end },
      { "V, P.n:in", function(v, n) v.y = n + wind.x end },
    })
    for _ = 1, 2 do
      assert.equal("a b c d", told(world))
      assert.equal("", told(world, "render"))
      world:update(1)
    end
  end)

  it("says which field keeps two apart", function()
    local world = scene:new {}
    systems(world, {
      { "P", set_x },
      { "V, P:in", function(v, p) v.x = p.x end },
      { "V", function(v) v.x = 1 end },
      { "V, P", function(v, p) p.x = v.y end },
      { "V", function(v) v.y = 1 end },
    })
    assert.equal("a; b (it reads P.x, which 'a' writes); c d (it writes V.x, and so does 'b'); "
      .. "e (it writes V.y, which 'd' reads)", told(world))
  end)

  it("knows of what is read and written of others, resources and arrays", function()
    local world = scene:new {}
    local wind, heights = world:res "Wind", world:array "heights"
    systems(world, {
      { "P", set_x },
      { "T, V", function(t, v) v.x = world:get(t.at, "P.x") or 0 end },
      { "V", function(v) v.y = wind.x + (heights[2] or 0) end },
      { "P", function(p) wind.x = wind.x + p.y end },
      { "P", function(p) heights[p.n % 4 + 1] = p.x end },
    })
    local why = " (one of its rows can fail)"
    assert.equal("a; b" .. why .. "; c ('b' runs alone: one of its rows can fail); d" .. why
      .. "; e" .. why, told(world))
  end)

  it("keeps to orders", function()
    local world = scene:new {}
    systems(world, {
      { "P", set_x, before = { "b" } },
      { "P", set_y },
      { "V", set_x, after = { "b" } },
      { "V", set_y },
    })
    assert.equal("a; b (it comes after 'a'); c d (it comes after 'b')", told(world))
  end)

  it("leaves out what is switched off", function()
    local world = scene:new {}
    for _, name in ipairs { "a", "b" } do world:system(name, { query = "P", each = set_x }) end
    world:switch("a", false)
    assert.equal("b", told(world))
    world:switch("update", false)
    assert.is_nil(world:explain("update").update)
  end)

  it("says why a system is alone", function()
    local function why(spec, act)
      local world = scene:new {}
      if act then spec.each = act(world) end
      world:system("one", spec)
      return world:explain("update").update[1].why
    end
    assert.is_nil(why { query = "P", each = set_x })
    assert.equal("it is a function in Lua", why { run = function() end, compile = false })
    assert.equal("it is a run", why { run = function() end })
    assert.equal("it is a function in Lua", why { query = "P", each = set_x, compile = false })
    assert.equal("its condition is evaluated after the systems before it have run",
      why { query = "P", each = set_x, when = function() return true end })
    assert.equal("what has changed for it is not known until the systems before it have run",
      why { query = "P:changed, V", each = function(_, v) v.x = 1 end })
    assert.equal("one of its rows can "
      .. "fail", why { query = "P", each = function(p) p.n = 7 // p.n end })
    assert.equal("its matches are not contiguous: 'ChildOf->V' is decided row by row",
      why { query = "P, ChildOf->V", each = function(p, v) p.x = v.x end })
    assert.equal("it changes entities, spawns or emits", why({ query = "P" }, function(world)
      return function(p, _, e) if p.x > 9 then world:despawn(e) end end
    end))
    assert.equal("it changes entities, spawns or emits", why({ query = "P" }, function(world)
      return function(p) world:emit("Hit", p.x) end
    end))
    assert.equal("it uses an index", why({ query = "P" }, function(world)
      world:index("near", { query = "P:in", grid = "P", cell = 2 })
      local near = world:index "near"
      return function(p)
        for other in near:within(p.x, p.y, 2) do p.n = other.n end
      end
    end))
  end)

  it("says it of those behind one that is alone, too", function()
    local world = scene:new {}
    world:system("lua", { run = function() end, compile = false })
    world:system("x", { query = "P", each = set_x })
    world:system("y", { query = "P", each = set_y })
    assert.equal("lua (it is a function in Lua); x y ('lua' runs alone: it is a function in Lua)",
      told(world))
  end)

  it("leaves out what is off, and goes by what systems are now", function()
    local world = scene:new {}
    systems(world, { { "P", set_x }, { "P", set_x }, { "P", set_y } })
    world:switch("b", false)
    assert.equal("a c", told(world))
    world:component("P", { "x: f32", "y: f64", "n: i32", "z: f64" })
    assert.equal("a c", told(world))
    world:switch("b", true)
    assert.equal("a; b c (it reads P.x, which 'a' writes)", told(world))
    world:remove_system "a"
    assert.equal("b c", told(world))
  end)

  it("says how many ran side by side (C33, C47)", function()
    local world = scene:new { threads = "3!" }
    systems(world, { { "P", set_x }, { "P", set_y }, { "V", set_x, every = 1 }, { "P", set_x } })
    local function last(i)
      local list = world:explain("update").update[i]
      return tostring(list.together) .. " " .. tostring(list.apart)
    end
    assert.equal("0 some of them have not run before", last(1))
    world:update(1)
    world:update(1)
    assert.equal("3 nil", last(1))
    assert.equal("nil nil", last(2))
    world:update(0.25)
    assert.equal("2 nil", last(1))
    world:switch("a", false)
    world:switch("d", false)
    world:update(0.25)
    assert.equal("0 there was too little work for threads, or some of them were not due", last(1))
    world = scene:new { threads = 1 }
    systems(world, { { "P", set_x }, { "P", set_y } })
    world:update(1)
    assert.equal("0 the world has one thread", last(1))
  end)

  it("is about a system of that name, if there is one", function()
    local world = scene:new {}
    world:system("update", { query = "P", each = set_x })
    assert.equal("vector", world:explain "update".tier)
  end)
end)

describe("systems side by side", function()
  -- Has worlds of one thread and of three do the same.
  local function same(list, act)
    local wanted
    for _, threads in ipairs { 1, "2!", "3!" } do
      local world = scene:new { threads = threads, tag = 9, seed = 5 }
      systems(world, type(list) == "function" and list(world) or list)
      for _ = 1, 3 do world:update(0.25) end
      local together = world:explain("update").update[1].together
      assert.truthy(threads == 1 or together > 1)
      local result = tostring(act and act(world)) .. world:digest()
      wanted = wanted or result
      assert.equal(wanted, result)
      assert.truthy(world:check())
    end
  end

  it("draw random numbers of their own streams", function()
    same(function(world)
      return {
        { "P", function(p, _, e) p.x = world:random(e) end },
        { "P", function(p, _, e) p.y = p.y + world:random(e) end },
        { "V", function(v, dt, e) v.x = v.x + world:random(e) * dt end },
      }
    end)
  end)

  it("are given the time since each ran", function()
    same({
      { "P", function(p, dt) p.x = p.x + dt end },
      { "P", function(p, dt) p.y = p.y + dt end, every = 0.5 },
      { "V", function(v, dt) v.x = dt end },
    }, function(world)
      local runs = {}
      for i, system in ipairs(world:describe().systems) do
        runs[i] = system.runs
        assert.truthy(system.seconds >= system.last and system.last > 0)
      end
      return table.concat(runs, " ")
    end)
  end)

  it("divide the time of their common run", function()
    local world = scene:new { threads = "2!" }
    world:spawn_many(20000, { P = {} })
    systems(world, { { "P", set_x }, { "P", set_y } })
    world:profile(true)
    for _ = 1, 10 do world:update(0.25) end
    local most = 0
    for _, frame in ipairs(world:frames(8)) do
      most = math.max(most, (frame.systems.a + frame.systems.b) / frame.time)
    end
    assert.is_true(most > 0.5, most)
  end)

  it("see what tables have, and who is alive, and mark what they write", function()
    same(function(world)
      world:tag "Odd"
      world:query("P"):where(function(p) return p.n % 2 == 1 end):add "Odd"
      local changed = world:query "V:changed"
      changed:count()
      local first = world:query("T"):first()
      world:query("T"):set("T.at", first)
      world:despawn(first)
      return {
        { "P", function(p, _, e) p.x = world:has(e, "Odd") and 1 or 2 end },
        { "T:in, P", function(t, p) p.y = world:alive(t.at) and 1 or 2 end },
        { "V", function(v) if v.y > 0 then v.x = v.x + 1 end end },
      }
    end, function(world) return world:query "V:changed":count() end)
  end)

  it("leave what outside values are to each update", function()
    local speed = 1
    same({
      { "P", function(p) p.x = p.x + speed end },
      { "P", function(p) p.y = p.y - speed end },
    }, function(world)
      speed = 2
      world:update(1)
      speed = "3"
      local ok = pcall(world.update, world, 1)
      speed = 1
      return ok
    end)
  end)

  it("stay where others are registered, replaced and removed between updates", function()
    same({ { "P", set_x }, { "P", set_y }, { "V", set_x } }, function(world)
      world:system("b", { query = "P", each = set_x })
      world:update(1)
      world:remove_system "a"
      world:system("d", { query = "V", each = set_y })
      for _ = 1, 3 do world:update(1) end
      return told(world)
    end)
  end)
end)
