-- What a random program does to its world, for spec/support/reentry.lua: a list of functions of
-- the program. Those that fail are errors like any other.

local QUERIES = {
  "P", "P, S?", "A", "T", "(Likes, *)", "Dock->P", "ChildOf*->P?", "P:changed", "S", "U, P",
  "A.e->P", "Ev", "Ev, Ev.who->P", "P, S|T",
}

-- Several ways to declare a component of one name.
local FIELDS = {
  { "x: f64", "y: f64" }, { "x: f32", "y: i16" }, { "n: i32", "x: f64" },
  { "v: any", "s: string", "e: entity", "m: f64[3]" },
}

-- Functions that become kernels of a world, by what they are about.
local KERNELS = {
  { "P, S?", function() return function(p) p.x = p.x * 2 end end },
  { "P", function(w) return function(p, dt, e) w:add(e, "U") p.y = dt end end },
  { "S, P", function(w)
    return function(s, p, _, e) if w:alive(e) then w:emit("Ev", e) end s.n = p.x // 2 end
  end },
  { "P, Dock->P:in", function(w) return function(p, on) w:spawn { P = { on.x, p.y } } end end },
  { "Ev, Ev.who->P", function() return function(_, p) p.x = p.x + 1 end end },
  { "A", function(w)
    local last = ""
    return function(a)
      for p in w:query("P:in"):each() do if p.x > #last then a.m[1] = p.y end end
      last = a.s
    end
  end },
  { "P", function(w) return function(p, _, e) if p.x > 5 then w:despawn(e) end end end },
}

local function query(p)
  return p.world:query(p:pick(QUERIES))
end

-- A value that calls the world when it is collected; a number where there is no field for it.
local function mine(p)
  return p.plain and 7 or setmetatable({}, { __gc = function() p:act() end })
end

-- Does something to all that is kept of a type.
local function each_kept(p, what, fn)
  for at, value in pairs(p.kept) do
    if type(value) == what then
      fn(value, at)
    end
  end
end

-- Reads, writes, prints or measures an object, whatever it is.
local touches = {
  function(object) return object.x end,
  function(object) object.x = 3 end,
  function(object) return tostring(object) end,
  function(object) return #object end,
  function(object, p) for _, value in pairs(object) do p:keep(value) end end,
  function(object) return object.m[2] end,
  function(object) return object[1] end,
  function(object, p) object.v = mine(p) end,
  function(object, p) return object == p.world end,
  function(object) return object:count() end,
}

local rows = {
  function(p)
    local spawned = { P = { p:int(9), 1 }, T = p:chance(50) or nil }
    spawned.S = p:chance(50) and { p:int(9) } or nil
    spawned.A = p:chance(50) and { v = mine(p), s = "x" .. p:int(5), e = p:id() } or nil
    p:born(p.world:spawn(spawned))
  end,
  function(p) p:born(p.world:spawn { P = {} }) end,
  function(p) p:born(p.world:clone(p:id())) end,
  function(p) p.world:despawn(p:id()) end,
  function(p) p.world:add(p:id(), p:pick { "P", "S", "T", "U", "A" }) end,
  function(p) p.world:remove(p:id(), p:pick { "P", "S", "T", "U", "A" }) end,
  function(p) p.world:set(p:id(), "A", mine(p), "q" .. p:int(9)) end,
  function(p) p.world:set(p:id(), "A.v", mine(p)) end,
  function(p) p.world:disable(p:id(), p:pick { "S", "T" }) end,
  function(p) p:keep(p.world:read(p:id(), "A")) p:keep(p.world:get(p:id(), "A")) end,
  function(p) for name, value in p.world:components(p:id()) do p.call(name, value) end end,
  function(p) p.world:name(p:id(), "n" .. p:int(3)) p:keep(p.world:lookup "n1") end,
  function(p) p:keep(p.world:spawner "P, S") end,
  function(p) each_kept(p, "function", function(spawn) p:born(spawn(p:int(9))) end) end,
  function(p) p.world:recycle_retired() end,
}

local ties = {
  function(p) p.world:add(p:id(), "Likes", p:id()) end,
  function(p) p.world:set(p:id(), "Dock", p:id(), 2) end,
  function(p) p.world:set(p:id(), "ChildOf", p:id()) end,
  function(p) for e in p.world:children(p:id()) do p.call(e) end end,
  function(p) for e in p.world:sources(p:id(), "Dock") do p.call(e) end end,
  function(p) for e in p.world:targets(p:id(), "Likes") do p.call(e) end end,
  function(p) p:keep(p.world:query("P, (Likes, $p)", { p = p:id() })) end,
  function(p) p:born(p.world:instantiate "Pf") end,
  function(p)
    p.world:prefab("Pf", { P = { p:int(3), 1 } },
      { children = { { "k", { S = p:chance(50) or nil } } } })
  end,
}

local loops = {
  function(p) query(p):each(p.call) end,
  function(p) p.world:query("P.x, S?"):each(p.call) end,
  function(p) p.world:query(p:pick { "P.x", "A.v", "S.n, P.y" }):map(p.call) end,
  function(p) local some = query(p):where(p.call) p:keep(some) some:count() end,
  function(p) query(p):sum(p.call) end,
  function(p) query(p):min(p.call) end,
  function(p)
    for a, b, c in query(p):each() do
      p.call(a, b, c)
      if p:chance(25) then break end
    end
  end,
  function(p)
    for chunk in query(p):chunks() do
      p:keep(chunk)
      p:keep(chunk:column "P.x")
      p.call(chunk)
    end
  end,
  function(p)
    local thread = coroutine.create(function()
      for view in query(p):each() do coroutine.yield(view) end
    end)
    coroutine.resume(thread)
    p:keep(thread)
  end,
  function(p) each_kept(p, "thread", coroutine.resume) end,
  function(p)
    each_kept(p, "thread", function(thread, at)
      if coroutine.close(thread) then p.kept[at] = nil end
    end)
  end,
  function(p) query(p):despawn() end,
  function(p) query(p):set("P", p:int(9), 1) end,
  function(p) p.world:query("P"):where(function(at) return at.x > 3 end):add "U" end,
  function(p) p.world:query("P"):run(function(at) at.x = at.x + 1 end) end,
  function(p) p.world:query("P.x, P.y"):map(function(x, y) return y, x end) end,
  function(p) p.world:query("P"):sum(function(at) return at.x end) end,
  function(p) p.world:query("P, S?"):max(function(at) return at.y end) end,
  function(p)
    p.world:query("P"):where(function(at) return at.x > 2 end)
      :where(function(at) return at.y < 5 end):each(function(at) at.x = 1 p.call(at) end)
  end,
  function(p)
    p.world:query("P, S"):each(function(_, s)
      p.world:set(p:id(), "P", 3)
      p.world:despawn(p:id())
      s.n = 4
    end)
  end,
}

local systems = {
  function(p) p.world:update(0.1) end,
  function(p) p.world:run("s" .. p:int(4), 0.1) end,
  function(p)
    p.world:system("s" .. p:int(4), {
      query = p:pick(QUERIES), each = p:chance(30) and p.call or function(at) at.x = at.x + 1 end,
      every = p:chance(30) and 0.1 or nil, when = p:chance(20) and p.call or nil,
    })
  end,
  function(p)
    local about = p:chance(50) and p:pick(QUERIES) or nil
    p.world:system("s" .. p:int(4), { run = p.call, query = about })
  end,
  function(p)
    local kernel, name = p:pick(KERNELS), "k" .. p:int(3)
    p.world:system(name, { query = kernel[1], each = kernel[2](p.world) })
    p.world:run(name, 0.1)
  end,
  function(p) p.world:switch("s" .. p:int(4), p:chance(50)) end,
  function(p) p.world:remove_system("s" .. p:int(4)) end,
  function(p) p.world:phase("ph" .. p:int(2), { fixed = p:chance(50) and 0.05 or nil }) end,
  function(p) p.world:on_error(p:chance(50) and p.call or nil) end,
  function(p)
    p.world:observer("o" .. p:int(3), {
      on = p:pick { "add", "remove", "set", "enter", "exit", "despawn" },
      query = p:pick { "P", "S", "A", "T", "(Likes, *)", "Dock" }, each = p.call,
    })
  end,
  function(p) p.world:emit("Ev", p:id(), "s" .. p:int(3), mine(p)) end,
  function(p) p.world:after(p:int(3) / 10, "Ev", p:id()) end,
  function(p) for event in p.world:events "Ev" do p.call(event) end end,
  function(p)
    p.world:describe()
    p.world:explain("s" .. p:int(4))
    p.world:explain "update"
  end,
}

local indexes = {
  function(p)
    p.world:index("i" .. p:int(2), {
      query = "P:in", [p:pick { "hash", "ordered", "maybe" }] = p:chance(50) and "x" or p.call,
    })
  end,
  function(p) p.world:index("near", { query = "P:in", grid = "P", cell = p:int(4) }) end,
  function(p) for at, e in p.world:index "near":within(p:int(9), 1, 3) do p.call(at, e) end end,
  function(p) p.world:index "near":nearest(1, 1, 9) end,
  function(p)
    for at, e in p.world:index("i" .. p:int(2)):find(p:int(9)) do p.call(at, e) end
  end,
  function(p) for at, e in p.world:index("i" .. p:int(2)):lowest(3) do p.call(at, e) end end,
  function(p)
    local near = p.world:index("near", { query = "P:in", grid = "P", cell = 2 })
    p.world:system("look", { query = "P", each = function(at)
      local e, distance = near:nearest(at.x, at.y, 3)
      if e then at.y = distance end
    end })
    p.world:run("look", 0.1)
  end,
}

local declarations = {
  function(p) p.world:undeclare(p:pick { "S", "T", "U", "i1", "near", "arr", "Ev" }) end,
  function(p) p.world:component(p:pick { "P", "S", "A" }, p:pick(FIELDS)) end,
  function(p) p.world:tag "T" p.world:component("S", { "n: i32" }) end,
  function(p) p.world:array("arr", p:pick { "f64", "u8", "entity" }, p:int(20)) end,
  function(p) p.array[p:int(12)] = p:int(9) end,
  function(p) p:keep(p.array:read()) p.array:write { 1, 2, 3 } end,
  function(p) p.resource.a, p.resource.s = mine(p), "k" .. p:int(9) end,
}

local images = {
  function(p)
    p:keep(p.world:save { codec = {
      encode = function() p:act() return "x" end, decode = function() end,
    } })
  end,
  function(p)
    each_kept(p, "string", function(image)
      p.world:load(image, { codec = {
        encode = function() return "" end, decode = function(text) p:act() return { text } end,
      } })
    end)
  end,
  function(p) p:keep(p.world:snapshot()) end,
  function(p)
    each_kept(p, "userdata", function(object) pcall(p.world.restore, p.world, object) end)
  end,
  function(p)
    local codec = { encode = function() return "" end, decode = function() return mine(p) end }
    p.other:load(p.world:save { codec = codec }, { codec = codec })
  end,
  function(p) p:born(p.other:spawn()) end,
  function(p) p.world:digest() end,
}

local others = {
  function() collectgarbage() end,
  function() collectgarbage "step" end,
  function(p) p.world:defer() end,
  function(p) p.world:defer() p:act() p.world:commit() end,
  function(p) p.world:defer() p:act() p.world:cancel() end,
  function(p) p.world:commit() end,
  function(p) if p:chance(2) then p.world:close() end end,
  function(p)
    each_kept(p, "userdata", function(object) pcall(p:pick(touches), object, p) end)
  end,
}

local deeds = {}
for _, list in ipairs { rows, ties, loops, systems, indexes, declarations, images, others } do
  table.move(list, 1, #list, #deeds + 1, deeds)
end

return deeds
