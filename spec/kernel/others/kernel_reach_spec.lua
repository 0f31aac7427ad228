-- world:get, has, enabled, alive, target and parent of other entities in kernels.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local ecs = require "ecs"

local ipairs = ipairs

local world, squad                              -- those that functions are in

-- Ships that hunt each other, some of which are dead; every third is in a fleet, under a carrier.
local scene = agree.scene {
  options = { tag = 1, seed = 5 },
  fill = function(w)
    world = w
    world:component("Position", { "x: f64", "y: f64" })
    world:component("Velocity", { "x: f32", "y: f32" })
    world:component("Health", { "hp: i32", "max: f32", "state: enum(well, hurt)", "by: entity" })
    world:component("Hunter", { "prey: entity", "d: f64", "n: i64", "near: bool" })
    world:component("Shield", { "level: i16", toggle = true })
    world:component("Cargo", { "tons: u8", storage = "sparse" })
    world:component("Sizes", { "a: i8", "b: i16", "c: i64", "d: u8", "e: u16", "f: u32" })
    world:component("Mood", { "day: enum(calm, sad)", "night: enum(sad, calm, wild)" })
    world:tag "Frozen"
    world:relation("DockedTo", { "since: f64", exclusive = true })
    world:relation "Likes"
    squad = world:array("squad", "entity", 8)
    local ids = {}
    for i = 1, 1800 do
      local e = world:spawn { Position = { x = i, y = i % 40 }, Velocity = {} }
      if i % 2 == 0 then
        world:set(e, "Health", i, i / 4, i % 4 == 0 and "hurt" or "well", ids[i // 2])
      end
      if i % 3 == 0 then world:add(e, "ChildOf", ids[i // 3]) end
      if i % 4 > 0 then world:set(e, "Mood", i % 3 == 0 and "sad" or "calm", "calm") end
      if i % 4 == 1 then world:set(e, "Cargo", i % 250) end
      if i % 5 == 0 then world:set(e, "Shield", -i) end
      if i % 10 == 0 then world:disable(e, "Shield") end
      if i % 6 == 0 then world:set(e, "DockedTo", ids[i // 2], i) end
      if i % 7 == 0 then
        world:add(e, "Likes", ids[i // 7])
        world:add(e, "Likes", ids[i - 1])
      end
      if i % 8 == 0 then world:add(e, "Frozen") end
      if i % 9 > 0 then
        world:set(e, "Sizes", i % 256 - 128, i - 900, -i * 1e9, i % 256, i * 36, i * 2386000)
      end
      ids[i] = e
    end
    for i, e in ipairs(ids) do
      world:set(e, "Hunter", { prey = i % 11 == 0 and ecs.null or ids[i * 677 % 1800 + 1] })
    end
    for i = 1, 8 do squad[i] = ids[i * 9 + 1] end
    world:name(ids[8], "boss")
    world:name(ids[2], "fleet")
    world:name(ids[6], "boat")
    world:despawn(ids[10])
    for i = 601, 1800, 60 do world:despawn(ids[i]) end
    return ids
  end,
  counts = true,
}

-- A system does the same with kernels and without, and all of it in its program.
local function check(query, each)
  scene:all(function() return each end, query)
end

describe("another entity in a kernel", function()
  it("is not alive where there is none, without a local between", function()
    check("Position, Hunter", function(p, hunter, _, e)
      if world:alive(world:target(e, "DockedTo")) then hunter.n = hunter.n + 1 end
      if world:alive(world:parent(e)) then hunter.n = hunter.n + 2 end
      if world:alive(world:get(e, "Health.by")) then p.x = p.x + 1 end
    end)
  end)

  it("has cells of every size", function()
    check("Hunter", function(hunter)
      local prey = hunter.prey
      if not world:alive(prey) then return end
      hunter.n = (world:get(prey, "Sizes.a") or 1) + (world:get(prey, "Sizes.b") or 2) * 3
        + (world:get(prey, "Sizes.c") or 3) * 5 + (world:get(prey, "Sizes.d") or 4) * 7
        + (world:get(prey, "Sizes.e") or 5) * 9 + (world:get(prey, "Sizes.f") or 6) * 11
    end)
  end)

  it("has the field that a name says, written or not, of one type or several", function()
    local axes, odd = { "x", "y" }, { "hp", "max" }
    check("Position, Hunter", function(p, hunter)
      if not world:alive(hunter.prey) then return end
      local axis = hunter.near and "x" or "y"
      hunter.d = (world:get(hunter.prey, "Position." .. axis) or 3) + p.x
      hunter.d = hunter.d + (world:get(hunter.prey, "Health." .. odd[hunter.n % 2 + 1]) or 1)
      hunter.near = world:get(hunter.prey, "Mood." .. (axis == "x" and "day" or "night")) == "calm"
      hunter.n = hunter.n + 1
    end)
    check("Position, Hunter", function(p, hunter, _, e)
      if not world:alive(hunter.prey) then return end
      for _, axis in ipairs(axes) do
        local there = world:get(hunter.prey, "Position." .. axis) or 0
        if there > world:get(e, "Position." .. axis) then
          world:set(hunter.prey, "Position." .. axis, there - 1)
        end
        p.y = p.y + 0.5
      end
    end)
  end)

  it("is read as a whole, as it is then", function()
    check("Hunter", function(hunter, _, e)
      if not world:alive(hunter.prey) then return end
      local health, cargo = world:read(hunter.prey, "Health"), world:read(hunter.prey, "Cargo")
      if health then
        hunter.n = hunter.n + health.hp
        hunter.near = health.state == "hurt" and not health.by
        if health.by and world:alive(health.by) then
          hunter.d = world:read(health.by, "Position").y
        end
        world:set(hunter.prey, "Health.hp", health.hp - 1)
        hunter.d = hunter.d + health.hp
      end
      if cargo and cargo.tons > 9 then hunter.n = world:read(e, "Hunter").n * 2 end
    end)
  end)

  it("shows its tie to one target, and gives random numbers by an id held outside", function()
    check("Hunter", function(hunter, _, e)
      local port = hunter.n % 3 == 0 and hunter.prey or world:target(e, "DockedTo") or e
      if world:alive(port) then
        local to, since = world:get(e, "DockedTo", port)
        if to then hunter.d = hunter.d + since end
        hunter.near = world:get(e, "DockedTo.since", port) == nil and not to
      end
      hunter.n = hunter.n + 1
    end)
    scene:all(function(ids)
      local dice = ids[3]
      return function(hunter)
        hunter.d, hunter.n = world:random(dice), world:random(dice, 6) + world:random(dice, 2, 3)
      end
    end, "Hunter")
    local problem = select(2, scene:both(function(ids)
      local dead, early = ids[10], ids[4]
      return function(hunter, _, e) hunter.d = world:random(e == early and dead or e) end
    end, "Hunter"))
    assert.matches("is dead", problem, 1, true)
  end)

  it("is found by a name that the function has", function()
    check("Hunter", function(hunter)
      local boss = world:lookup "boss"
      if boss then hunter.d = hunter.d + world:get(boss, "Position.x") end
      hunter.near = world:lookup "nobody" == nil and boss ~= hunter.prey
      if hunter.n % 7 == 0 then hunter.prey = world:lookup "fleet.boat" or hunter.prey end
    end)
    local _, ids = scene:new(true)
    local turns = world:array("turns", "entity", 3)
    world:system("s", { query = "Frozen", each = function(_, e)
      if world:lookup "boss" == e then turns[1] = e end
      if world:lookup "it" then turns[2] = world:lookup "it" end
    end })
    world:name(ids[16], "it")
    world:update(1)
    assert.same({ ids[8], ids[16] }, { turns[1], turns[2] })
    world:name(ids[16], "boss2")
    world:name(ids[32], "it")
    world:update(1)
    assert.same({ ids[32], "vector" }, { turns[2], world:explain("s").tier })
  end)

  it("shows what is switched off, and what is kept outside of tables", function()
    check("Hunter", function(hunter)
      local prey = hunter.prey
      if not world:alive(prey) then return end
      local level, tons = world:get(prey, "Shield.level"), world:get(prey, "Cargo.tons")
      hunter.n = hunter.n + (level or 7) * 3 + (tons or 0)
      hunter.near = world:has(prey, "Shield") and not world:has(prey, "Cargo")
      if world:has(prey, "Frozen") then hunter.d = hunter.d + 1 end
    end)
    check("Hunter", function(hunter, _, e)
      if world:enabled(e, "Shield") then hunter.n = hunter.n + 1 end
      if not world:alive(hunter.prey) then return end
      hunter.near = world:enabled(hunter.prey, "Shield") or world:enabled(hunter.prey, "Cargo")
      if world:enabled(hunter.prey, "Frozen") then hunter.d = hunter.d + 1 end
    end)
    check("Hunter, Shield:any", function(hunter, shield, _, e)
      if world:enabled(e, "Shield") then shield.level = 5 else hunter.n = hunter.n - 1 end
    end)
  end)

  it("is asked for in loops and inlined functions, and after commands on the row", function()
    local function distance(a, b)
      local x, y = world:get(a, "Position")
      local u, v = world:get(b, "Position")
      return (x - u) ^ 2 + (y - v) ^ 2
    end
    check("Hunter", function(hunter, _, e)
      local best
      for i = 1, 8 do
        local other = squad[i]
        if world:alive(other) then
          local d = distance(e, other)
          if not best or d < best then best = d end
        end
      end
      hunter.d = best or -1
      if hunter.n % 3 == 0 then world:add(e, "Frozen") else world:remove(e, "Frozen") end
      local prey = hunter.prey
      if world:alive(prey) and world:has(prey, "Frozen") then hunter.n = hunter.n + 1 end
    end)
  end)

  it("is asked for by filters and reductions", function()
    local function hurt(h) return world:alive(h.prey) and world:has(h.prey, "Health") end
    local function far(h) return world:alive(h.prey) and world:get(h.prey, "Position.x") > 900 end
    local function tons(h)
      local n = 0
      if world:alive(h.prey) then n = world:get(h.prey, "Cargo.tons") or 0 end
      return n
    end
    local seen = scene:twice(function(_, kernels)
      local query, seen = world:query "Hunter", nil
      local function look()
        seen = { query:where(hurt):count(), query:where(far):count(), query:sum(tons),
          query:max(tons), query:min(tons) }
      end
      for _, fn in ipairs { hurt, far, tons } do
        local calls = helper.calls_of(fn, look)
        if kernels then assert.equal(0, calls, world:explain(fn).reason) end
      end
      return seen
    end)
    assert(seen[1] > 100 and seen[2] > 100 and seen[3] > 1000)
  end)

  it("raises Lua's error where it is null or dead, rows before it being written", function()
    for _, ask in ipairs {
      function(h) h.d = 1 h.n = world:get(h.prey, "Health.hp") or 3 end,
      function(h) h.d = 2 h.near = world:has(h.prey, "Health") end,
      function(h) h.d = 3 h.near = world:target(h.prey, "Likes") ~= nil end,
      function(h) h.d = 4 h.near = world:parent(h.prey) == nil end,
      function(h) h.d = 6 h.d = h.d + world:random(h.prey) end,
      function(h) h.d = 5 if h.near then h.d = world:get(h.prey, "Health.max") + 1 end end,
    } do
      for _, bad in ipairs { 1, 700, 1700 } do
        for what = 1, 3 do
          scene:twice(function(_, _, ids)
            for i, e in ipairs(ids) do
              local prey = world:alive(ids[i % 400 + 20]) and ids[i % 400 + 20] or squad[2]
              if world:alive(e) then world:set(e, "Hunter.prey", prey) end
            end
            local prey = what == 1 and ecs.null or what == 2 and world:spawn {} or squad[2]
            world:set(ids[bad], "Hunter", { prey = prey, near = true })
            if what == 2 then world:despawn(prey) end
            world:system("s", { query = "Hunter", each = ask })
            local ok, message = pcall(world.update, world, 0.1)
            message = tostring(message):gsub("entity %S+: ", "", 1):gsub("\n.*", "")
            if what < 3 then assert.is_false(ok) end
            return message
          end)
        end
      end
    end
  end)

  it("raises in filters, too", function()
    scene:twice(function(_, _, ids)
      world:set(ids[2], "Hunter.prey", ecs.null)
      local query = world:query("Hunter"):where(function(h) return world:has(h.prey, "Health") end)
      local ok, message = pcall(query.count, query)
      assert(not ok and message:find("bad argument #1 to 'has'", 1, true), message)
    end)
  end)

  it("is seen as it is when its row is reached: staged changes come later", function()
    check("Hunter", function(h, _, e)
      if h.n % 2 == 0 then world:despawn(e) end
      if world:alive(h.prey) then h.n = h.n + (world:get(h.prey, "Health.hp") or 1) end
    end)
    scene:twice(function(_, _, ids)
      world:defer()
      local fresh = world:spawn { Position = { x = 3 } }
      world:set(ids[2], "Hunter.prey", fresh)
      world:remove(ids[3], "Position")
      world:set(ids[4], "Hunter.prey", ids[3])
      world:query("Hunter"):run(function(h)
        if world:alive(h.prey) then h.d = world:get(h.prey, "Position.x") or -5 end
      end)
      assert.equal(-5.0, world:get(ids[2], "Hunter.d"))
      assert.equal(3.0, world:get(ids[4], "Hunter.d"))
      world:commit()
    end)
  end)

  it("goes on when components, tables and storage change", function()
    local function read(h)
      if world:alive(h.prey) then h.n = world:get(h.prey, "Cargo.tons") or -1 end
    end
    scene:twice(function(_, _, ids)
      world:system("s", { query = "Hunter", each = read })
      world:update(0.1)
      world:component("Cargo", { "tons: i32", "kind: u8" })
      world:set(ids[2], "Cargo", 100000, 1)
      world:update(0.1)
      local bytes = world:save()
      world:component("Cargo", { "tons: i32", "kind: u8", storage = "sparse" })
      world:update(0.1)
      world:load(bytes)
      world:update(0.1)
    end)
  end)

  it("is refused with a reason where a kernel cannot ask", function()
    scene:new(true)
    world:component("Path", { "at: f64[3]", "name: any" })
    local other, which = ecs.world(), "Health.hp"
    for what, fn in pairs {
      ["it reads 'Likes', a relation that can have several targets: get them with world:targets"] =
        function(h) h.near = world:get(h.prey, "Likes") ~= nil end,
      ["get them with world:targets, and the fields with a term, as in (Likes, *)"] =
        function(h) h.near = world:get(h.prey, "Likes", h.prey) ~= nil end,
      ["it calls world:get with more than an id and 'Health'"] =
        function(h) h.n = world:get(h.prey, "Health.hp", h.prey) end,
      ["it reads the tag 'Frozen', which has no value: write world:has"] =
        function(h) h.near = world:get(h.prey, "Frozen") ~= nil end,
      ["it reads all of 'Path', which has arrays"] =
        function(h) h.near = world:get(h.prey, "Path") ~= nil end,
      ["it uses field 'Path.name', which is any"] =
        function(h) h.near = world:get(h.prey, "Path.name") == "a" end,
      ["it calls world:get with something that is not an entity id"] =
        function(h) h.n = world:get(h.d, "Health.hp") end,
      ["it calls world:alive with something that is not an entity id"] =
        function(h) h.near = world:alive(h.near) end,
      ["something other than the name or id of a component from a constant"] =
        function(h) h.n = world:get(h.prey, h.near) end,
      ["it calls world:target with something other than the name or id of a relation"] =
        function(h) h.near = world:target(h.prey, "Health") ~= nil end,
      ["is not an entity id"] = function(h) h.near = world:has(h.prey, "Likes", h.near) end,
      ["it calls world:enabled with something other than the name"] =
        function(h) h.near = world:enabled(h.prey, h.near) end,
      ["it calls world:name, which kernels do not support: call it in a system's run"] =
        function(h) world:name(h.prey) end,
      ["not this world"] = function(h) h.near = other:alive(h.prey) end,
      ["'Nothing'"] = function(h) h.n = world:get(h.prey, "Nothing.x") end,
    } do
      agree.check_reason(world, "Hunter", fn, what)
    end
    world:system("it", { query = "Hunter", each = function(h) h.n = world:get(h.prey, which) end })
    assert.equal("vector", world:explain("it").tier)
    assert.same({ "Hunter.prey", "Health.hp" }, world:explain("it").reads)
  end)
end)
