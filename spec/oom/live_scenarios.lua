-- Further scenarios (see scenarios.lua): live scripts.

local scenario = ...

local ecs = require "ecs"
local live = require "ecs.live"

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local first = [[
  local world, script = ...
  local gravity = world:res "Gravity"
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Fresh", { "at: Position", "text: string = here" })
  world:resource("Gravity", { "y: f32 = 9" })
  world:phase("late", { after = "render" })
  local query = world:query "Fresh"
  world:system("fall", { query = "Position", each = function(p) p.y = p.y - gravity.y end })
  world:system("count", { phase = "late", run = function() return query:count() end })
  script:on_load(function() end)
]]

local second = [[
  local world, script = ...
  world:component("Position", { "x: f64", "y: f32", "z: i8 = 3" })
  world:component("Newer", { "at: Position", "n: i32", was = "Fresh" })
  world:resource("Gravity", { "y: f64 = 9", "x: f32" })
  world:system("fall", { query = "Position.z, Newer.n?", map = function(z) return z end })
  script:on_reload(function() end)
]]

-- A directory would need a shell: the scripts are watched one by one.
local function scripted(text)
  return function(s)
    s.world = ecs.world { tag = 7 }
    s.path = os.tmpname()
    write(s.path, text)
    s.session = live.open(s.world, s.path)
  end
end

local function forget(s)
  os.remove(s.path)
end

scenario("opening live scripts", {
  prepare = function(s)
    scripted "" (s)
    s.session = nil
    write(s.path, first)
  end,
  act = function(s) s.session = live.open(s.world, s.path) end,
  after = forget,
  new_ids = true,
})

scenario("a reload", {
  prepare = function(s)
    scripted(first)(s)
    for i = 1, 9 do
      s.world:spawn { Position = { i, i }, Fresh = i % 2 == 0 and {} or nil }
    end
    write(s.path, second)
  end,
  act = function(s)
    if s.session:status().versions[s.path] == 1 then assert(s.session:poll(true)) end
    assert(#s.world:describe("Position").fields == 3)
  end,
  after = forget,
  partial = true,
})

scenario("a reload that is refused", {
  prepare = function(s)
    scripted(first)(s)
    s.world:spawn { Position = { 0.5, 300 } }
    write(s.path, "local w = ... w:component('Position', { 'x: i32', 'y: i32' }) w:tag 'T'")
  end,
  act = function(s)
    local ok, message = s.session:poll(true)
    assert(ok == false and message:find "cannot migrate")
  end,
  after = forget,
  loose = true,
})

scenario("a reload that is refused for a field", {
  prepare = function(s)
    scripted(first)(s)
    s.world:system("kept", { query = "Fresh", each = function(fresh) fresh.at.y = 1 end })
    s.world:spawn { Position = { 1, 2 }, Fresh = {} }
    write(s.path, [[
      local world = ...
      local function set(view, value) view.at.x = value end
      world:component("Position", { "y: f32" })
      world:system("set", { query = "Fresh", each = function(fresh, dt) set(fresh, dt) end })]])
  end,
  act = function(s)
    local ok, message = s.session:poll(true)
    assert(ok == false and message:find "'set'.*has no field 'x'")
  end,
  after = forget,
  loose = true,
})

scenario("a reload that leaves components to nobody", {
  prepare = function(s)
    scripted(first)(s)
    s.world:spawn { Position = { 1, 2 }, Fresh = {} }
    write(s.path, "")
  end,
  act = function(s)
    if s.session:status().versions[s.path] == 1 then assert(s.session:poll(true)) end
    assert(#s.session:status().orphans == 3)
  end,
  after = forget,
  partial = true,
})

scenario("forgetting components", {
  prepare = function(s)
    scripted(first)(s)
    s.world:spawn { Position = { 1, 2 }, Fresh = {} }
    write(s.path, "")
    assert(s.session:poll(true))
  end,
  act = function(s)
    s.session:forget()
    assert(#s.world:describe().components == 0)
  end,
  after = forget,
  partial = true,
})

scenario("nothing to reload", {
  prepare = scripted(first),
  act = function(s) assert(s.session:poll() == nil) end,
  after = forget,
})
