-- Systems side by side: which can be, and what keeps others apart.

local helper = require "spec.support.ecs_helper"

local function new_world(options)
  local world = helper.new_world(options)
  world:component("P", { "x: f64", "y: f64", "n: i32" })
  world:component("V", { "x: f64", "y: f64" })
  world:component("T", { "at: entity" })
  world:resource("Wind", { "x: f64", "y: f64" })
  world:array("heights", "f64", 4)
  world:event("Hit", { "by: f64" })
  for i = 1, 100 do world:spawn { P = { x = i, n = i }, V = { y = 1 }, T = {} } end
  return world
end

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
    spec.query, spec.each = spec[1], spec[2]
    spec[1], spec[2] = nil, nil
    world:system(("abcdefgh"):sub(i, i), spec)
  end
end

local function set_x(p) p.x = p.x + 1 end
local function set_y(p) p.y = p.y + 1 end

describe("world:explain 'update'", function()
  it("lists together kernels that get at nothing in common, or only read it", function()
    local world = new_world()
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
    local world = new_world()
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
    local world = new_world()
    local wind, heights = world:res "Wind", world:array "heights"
    systems(world, {
      { "P", set_x },
      { "T, V", function(t, v) v.x = world:get(t.at, "P.x") or 0 end },
      { "V", function(v) v.y = wind.x + (heights[2] or 0) end },
      { "P", function(p) wind.x = wind.x + p.y end },
      { "P", function(p) heights[p.n % 4 + 1] = p.x end },
    })
    local why = " (it writes to arrays, resources or other entities)"
    assert.equal("a; b (a row of it can fail); c ('b' runs alone: a row of it can fail); d" .. why
      .. "; e" .. why, told(world))
  end)

  it("keeps to orders", function()
    local world = new_world()
    systems(world, {
      { "P", set_x, before = { "b" } },
      { "P", set_y },
      { "V", set_x, after = { "b" } },
      { "V", set_y },
    })
    assert.equal("a; b (it comes after 'a'); c d (it comes after 'b')", told(world))
  end)

  it("says why a system is alone", function()
    local function why(spec, act)
      local world = new_world()
      if act then spec.each = act(world) end
      world:system("one", spec)
      return world:explain("update").update[1].why
    end
    assert.is_nil(why { query = "P", each = set_x })
    assert.equal("it is a function in Lua", why { run = function() end })
    assert.equal("it is a function in Lua", why { query = "P", each = set_x, compile = false })
    assert.equal("its condition is asked when those before it have run",
      why { query = "P", each = set_x, when = function() return true end })
    assert.equal("what is new to it is found out when those before it have run",
      why { query = "P:changed, V", each = function(_, v) v.x = 1 end })
    assert.equal("a row of it can fail", why { query = "P", each = function(p) p.n = 7 // p.n end })
    assert.equal("its matches do not lie together",
      why { query = "P, ChildOf->V", each = function(p, v) p.x = v.x end })
    assert.equal("it gives commands, spawns or emits", why({ query = "P" }, function(world)
      return function(p, _, e) if p.x > 9 then world:despawn(e) end end
    end))
    assert.equal("it gives commands, spawns or emits", why({ query = "P" }, function(world)
      return function(p) world:emit("Hit", p.x) end
    end))
    assert.equal("it looks into an index", why({ query = "P" }, function(world)
      world:index("near", { query = "P:in", grid = "P", cell = 2 })
      local near = world:index "near"
      return function(p)
        for other in near:within(p.x, p.y, 2) do p.n = other.n end
      end
    end))
  end)

  it("says it of those behind one that is alone, too", function()
    local world = new_world()
    world:system("lua", { run = function() end })
    world:system("x", { query = "P", each = set_x })
    world:system("y", { query = "P", each = set_y })
    assert.equal("lua (it is a function in Lua); x y ('lua' runs alone: it is a function in Lua)",
      told(world))
  end)

  it("leaves out what is off, and goes by what systems are now", function()
    local world = new_world()
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

  it("is about a system of that name, if there is one", function()
    local world = new_world()
    world:system("update", { query = "P", each = set_x })
    assert.equal("vector", world:explain "update".tier)
  end)
end)
