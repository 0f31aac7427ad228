-- Functions that spawn, compiled.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"
local ecs = require "ecs"

local math = math

local scene = agree.scene {
  options = { tag = 9 },
  fill = function(world, case)
    world:component("Position", { "x: f64", "y: f32 = 2" })
    world:component("Spawner", { "left: i32", "kind: enum(rat, orc)", "at: entity" })
    world:component("Enemy", { "hp: i16 = 7", "kind: enum(rat, orc)", "by: entity", "angry: bool" })
    world:component("Armed", { "shots: i32", requires = { "Position" } })
    world:component("Seen", { "n: i32", storage = "sparse" })
    world:component("Packed", { "who: entity", storage = "sparse" })
    world:tag "Fresh"
    local last
    for n = 1, case.rows or 2500 do
      last = world:spawn { Position = { x = n / 3 }, Spawner = { left = n % 7, at = last,
        kind = n % 2 == 0 and "orc" or "rat" }, Packed = n % 3 > 0 and {} or nil }
    end
  end,
  query = "Position, Spawner",
  updates = 3,
  look = function(world) return tiers.ids_of(world, "Position") end,
}

local function check_reason(world, words, fn)
  agree.check_reason(world, "Position, Spawner", fn, words)
end

describe("a kernel that spawns", function()
  it("says what it gives, sets and takes by commands", function()
    local world = scene:new(true, { rows = 3 })
    world:system("it", { query = "Position:in, Spawner", each = function(p, spawner, _, e)
      if spawner.left > 3 then
        local id = world:spawn { Position = { x = p.x }, Fresh = true }
        world:set(id, "Enemy.by", e)
      end
      world:set(spawner.at, "Enemy.hp", 3)
      world:add(spawner.at, "Armed")
      world:remove(e, "Seen")
      world:despawn(spawner.at)
    end })
    assert.are.same({ "Position", "Fresh", "Enemy", "Enemy.hp", "Armed", "Seen" },
      world:explain("it").writes)
    world:system("marked", { query = "Position:in", each = function(p, _, e)
      if p.x > 1 then world:add(e, "Fresh") else world:remove(e, "Seen") end
    end })
    assert.are.same({ "Fresh", "Seen" }, world:explain("marked").writes)
  end)

  it("gives array fields and nested components as tables", function()
    scene:both(function(world)
      world:component("Slot", { "n: i32", "tags: u8[2]" })
      world:component("Hold", { "cargo: f64[4]", "slots: Slot[2]", "used: f64" })
      return function(p, spawner, _, e)
        local cargo = { p.x, 2 }
        cargo[4] = spawner.left
        local slots = { { n = 1 }, { tags = { 7, 9 } } }
        local id = world:spawn { Hold = { cargo = cargo, slots = slots } }
        if p.x > 300 then
          local used = spawner.left > 3 and { 5 } or nil
          world:spawn { Hold = { { 1, p.x }, { { n = 4 } }, spawner.left }, Fresh = true }
          world:spawn { Hold = { cargo = used, used = 2 } }
        end
        if spawner.left == 2 then world:set(e, "Hold", { cargo = { 3 }, slots = { { n = 5 } } }) end
        if spawner.left == 1 then spawner.at = id end
      end
    end)
    local world = scene:new(true, { rows = 3 })
    check_reason(world,
      "it fills a table that it creates by a variable: fill it by names or constant numbers",
      function(p) local t = {} t[p.x] = 1 world:spawn { Position = t } end)
  end)

  it("reads what it puts into tables, hands them to functions, and is given some", function()
    scene:both(function(world)
      local function vector(x, y) return { x = x, y = y } end
      local function add(a, b) return vector(a.x + b.x, a.y + b.y) end
      return function(p, spawner, _, e)
        local place = add(p, vector(1, spawner.left))
        p.y = place.y + (place.z or 2)
        if spawner.left > 4 then
          local enemy = { by = e, hp = spawner.left }
          for k = 1, 2 do
            local list = { place.x, k }
            local there = add(vector(list[1] + list[2], place.y), p)
            world:spawn { Position = there, Enemy = enemy, Seen = { n = list[2] } }
          end
        end
      end
    end)
  end)

  it("leaves out what is nil", function()
    scene:both(function(world)
      return function(_, spawner, _, e)
        local nothing = nil
        local parts = { Position = { x = 3, y = nothing }, Enemy = { hp = 3, by = e },
          Fresh = nothing }
        parts.Enemy.by = nil
        if spawner.left == 1 then world:spawn(parts) end
      end
    end)
  end)

  it("gives what a table has last by a name", function()
    scene:both(function(world)
      return function(p, spawner)
        local parts = { Enemy = { hp = 5, angry = true } }
        parts.Enemy = { kind = "orc" }
        parts.Position = true
        world:spawn(parts)
        parts.Position = { x = 1 }
        for k = 1, 2 do
          local place = { x = p.x, y = 3 }
          place.x = k
          if k < spawner.left then world:spawn { Position = place } end
        end
        if p.x > 40 then world:spawn(parts) end
      end
    end)
  end)

  it("sets a component only where it gives one of its fields", function()
    scene:both(function(world)
      local values = world:array("values", "f64", 2)
      return function(_, spawner)
        local n = spawner.left
        world:spawn { Hp = { now = values[n] } }
        world:spawn { Hp = { now = values[n], most = values[n - 1] } }
      end
    end, { rows = 4, prepare = function(world)
      local heard = world:array("heard", "f64", 1)
      world:component("Hp", { "now: f64 = 10", "most: f64" })
      world:observer("hears", { on = "set", query = "Hp:in", each = function(hp)
        heard[1] = heard[1] * 3 + hp.now + hp.most * 2
      end })
    end })
  end)

  it("gives values by their positions and by names, not one by both", function()
    scene:both(function(world)
      return function(p, spawner, _, e)
        local place = { p.x, spawner.left }
        world:spawn { Position = place, Enemy = { 3, "orc", by = e } }
        if p.x > 40 then
          world:spawn { Position = { p.x, y = p.x + 2 }, Armed = { spawner.left } }
        end
      end
    end)
    local world = scene:new(true, { rows = 5 })
    world:component("Wide", { "m: f64[2]", "n: f64" })
    for what, fn in pairs {
      ["with value 1 of 'Wide', which has no single field at that position"] =
        function() world:spawn { Wide = { 1, 2 } } end,
      ["with value 3 of 'Position', which has no single field at that position"] =
        function() world:spawn { Position = { 1, 2, 3 } } end,
      ["it gives 'Position.x' two values, by its place and by its name"] =
        function(p) world:spawn { Position = { p.x, x = 1 } } end,
      ["all results of a call into a table"] =
        function(p) world:spawn { Position = { math.modf(p.x) } } end,
    } do
      check_reason(world, what, fn)
    end
  end)

  it("spawns by the values that world:spawner takes", function()
    scene:both(function(world)
      local make = world:spawner "Position, Fresh, Enemy"
      return function(p, spawner, _, e)
        if spawner.left > 3 then
          local other = make(p.x * 2, nil, spawner.left, "orc", e)
          world:add(other, "Seen")
          if p.x > 90 then make() end
        end
        for k = 1, 2 do
          if spawner.left == k then make(k, p.x, 1, "rat", nil, p.x > 40) end
        end
      end
    end)
    scene:both(function(world)   -- by names of fields, between those of other components
      local make = world:spawner "Enemy.by, Position.y, Fresh, Enemy.hp, Seen"
      return function(p, spawner, _, e)
        if spawner.left > 2 then make(e, p.x * 2, spawner.left, spawner.left + 1) end
        if spawner.left == 1 then make(nil, p.x) end
      end
    end)
    scene:both(function(world)   -- a value that its field does not take, far behind
      local make = world:spawner "Enemy"
      return function(p, spawner) if spawner.left == 6 then make(p.x // 0.01) end end
    end)
    local world = scene:new(true, { rows = 5 })
    world:component("Wide", { "m: f64[2]", "n: f64" })
    local make, wide = world:spawner "Position", world:spawner "Wide"
    local part = world:spawner "Wide.n, Wide.m"
    for what, fn in pairs {
      ["more values than its components have fields"] = function() make(1, 2, 3) end,
      ["with value 1 of 'Wide', which has no single field at that position"] =
        function(p) wide(p.x) end,
      ["it spawns with 'Wide.m', which is not a single value: give its "
        .. "parts"] = function(p) part(1, p.x) end,
    } do
      check_reason(world, what, fn)
    end
  end)

  it("stores the new id in fields of its own row", function()
    scene:both(function(world)
      return function(p, spawner, _, e)
        if spawner.left == 3 or spawner.at == ecs.null then
          spawner.at = world:spawn { Position = { x = p.x }, Enemy = { by = spawner.at } }
          spawner.left = spawner.left + 1
          if p.x > 9 then
            world:remove(e, "Spawner")
            spawner.at = world:spawn()
          elseif p.x > 5 then
            world:despawn(e)
          end
        end
      end
    end)
    scene:both(function(world)   -- what the row reads before that is what was there
      return function(p, spawner)
        if spawner.at == ecs.null then p.y = 1 end
        if world:alive(spawner.at) then p.x = p.x + 1 end
        if spawner.left == 3 then spawner.at = world:spawn {} end
      end
    end, { prepare = function(world)
      for spawner in world:query "Spawner":each() do spawner.at = ecs.null end
    end })
    scene:both(function(world)   -- in loops, of sparse components, and of rows left to Lua
      return function(p, spawner, seen, _, e)
        for k = 1, spawner.left do
          seen.who = world:spawn { Enemy = { by = e, hp = k }, Packed = {} }
          spawner.left = p.x > 700 and p.x * 1e9 // 1 or spawner.left - 1
        end
      end
    end, "Position, Spawner, Packed")
  end)

  it("stores the new id in elements of arrays and fields of resources", function()
    scene:both(function(world)
      local born, count = world:array("born", "entity", 400), world:array("count", "f64", 2)
      world:resource("Last", { "who: entity", "n: i32" })
      local last = world:res "Last"
      return function(p, spawner, _, e)
        local at = spawner.left + p.x // 3
        if spawner.left > 1 then
          born[at % 400 + 1] = world:spawn { Position = { x = p.x }, Enemy = { by = e } }
          count[1] = count[1] * 0.5 + p.x
          last.n = last.n + 1
        elseif p.x > 40 then
          local id = world:spawn { Enemy = {} }
          born[1], born[2.0], last.who = id, id, id
          world:set(id, "Enemy.hp", 3)
          count[2] = math.max(count[2], p.x)
          spawner.at = id
        end
      end
    end)
    scene:both(function(world)   -- in loops, and in elements that there are not in some rows
      local born = world:array("born", "entity", 5)
      return function(p, spawner)
        for k = 1, spawner.left do
          born[k] = world:spawn { Enemy = { hp = k } }
          if p.x > 500 then born[k / 2] = world:spawn() end
        end
        spawner.left = spawner.left - 1
      end
    end)
    local world = scene:new(true, { rows = 9 })
    local born = world:array("born", "entity", 3)
    world:resource("Last", { "who: entity" })
    local last = world:res "Last"
    world:system("it", { query = "Spawner:in", each = function(spawner)
      local id = world:spawn()
      if spawner.left < 3 then born[spawner.left + 1] = id end
      last.who = id
    end })
    assert.are.same({ "born", "Last.who" }, world:explain("it").writes)
    world:update(1)
    for i = 1, 3 do assert.is_true(world:alive(born[i])) end
    assert.is_true(world:alive(last.who) and last.who ~= born[2])
  end)

  it("fills its table under conditions, and leaves out what is nil", function()
    scene:both(function(world)
      world:relation "Likes"
      world:relation("By", { "since: f64", exclusive = true })
      return function(p, spawner, _, e)
        world:spawn { Fresh = spawner.left > 3 or nil,
          Enemy = spawner.left < 5 and { by = e } or nil }
        local new = { Position = { x = p.x } }
        if spawner.left == 1 then
          new.Fresh = true
          new.Enemy = { hp = 3, angry = p.x > 9, kind = spawner.kind }
        elseif spawner.left == 2 then
          new.Armed = true
          new.By = { target = e, since = p.x }
          new.Position.y = 5
        end
        if p.x > 100 then new.Likes = e end
        spawner.at = world:spawn(new)
      end
    end)
    scene:both(function(world)
      return function(p, spawner)
        local armed = spawner.left > 2 and true or nil
        local hp = spawner.left > 4 and spawner.left or nil
        local id = world:spawn { Enemy = { hp = hp, angry = hp and true, kind = spawner.kind },
          Armed = armed, Position = armed and { x = p.x, y = hp } }
        if armed then world:set(id, "Armed.shots", 3) end
      end
    end)
    scene:both(function(world)   -- false, and nil in a table that is read, are errors as in Lua
      return function(p, spawner)
        world:spawn { Fresh = p.x < 600, Enemy = {} }
        local new = spawner.left > 0 and { Enemy = { hp = 1 } } or nil
        if p.x > 500 and new then new.Fresh = true end
        if spawner.left > 0 or p.x > 700 then world:spawn(new) end
      end
    end)
  end)

  it("sees the ids that rows before it have stored in arrays, resources and fields", function()
    scene:both(function(world)
      local born, count = world:array("born", "entity", 20), world:array("count", "i32", 4)
      world:resource("Last", { "who: entity" })
      local last = world:res "Last"
      return function(p, spawner, _, e)
        local at = p.x // 1 % 20 + 1
        if last.who ~= ecs.null and world:alive(last.who) then count[4] = count[4] + 1 end
        if born[at] == ecs.null or spawner.left == 4 then
          count[1] = count[1] + 1
          local id = world:spawn { Position = { x = p.x } }
          born[at], last.who = id, id
          world:set(id, "Enemy.by", e)
        elseif spawner.left > 4 then
          if world:has(born[at], "Position") then count[2] = count[2] + 1 end
          born[at] = e
        else
          if world:alive(born[at]) then count[3] = count[3] + 1 end
          world:set(born[at], "Enemy.by", e)
          world:despawn(born[at])
          born[at] = ecs.null
        end
      end
    end)
    for _, query in ipairs { "Position, Spawner, By->Spawner:in", "Position, Spawner, (Likes, *)",
      "Position, Spawner, Packed.who->Spawner:in" } do
      scene:both(function(world)   -- in fields, of others and of rows that match again, too
        world:relation "Likes"
        world:relation("By", { exclusive = true, acyclic = true })
        local last, before
        for _, e in world:query("Spawner:in"):each() do
          if last then
            world:add(e, "By", last)
            world:add(e, "Likes", last)
            world:set(e, "Packed", last)
          end
          if before then world:add(e, "Likes", before) end
          last, before = e, last
        end
        local function store(p, spawner)
          if spawner.at == ecs.null or p.x > 600 then
            spawner.left = spawner.left + 1
            spawner.at = world:spawn { Fresh = true }
          else
            spawner.at = ecs.null
          end
        end
        return query:find("*", 1, true) and store or function(p, spawner, other)
          if other.at ~= ecs.null then p.x = p.x + 1 end
          store(p, spawner)
        end
      end, query)
    end
  end)

  it("is refused where it stores ids in what it comes to behind that, or is of no ids", function()
    local world = scene:new(true, { rows = 5 })
    local born, whole = world:array("born", "entity", 3), world:array("whole", "i64", 3)
    world:resource("Last", { "who: entity", "n: i32" })
    local last = world:res "Last"
    for what, fn in pairs {
      ["it uses 'born' after storing the id of a spawned entity"] = function(_, _, _, e)
        if born[1] == ecs.null then born[1] = world:spawn() end
        born[2] = e
      end,
      ["it uses 'born' and stores ids of spawned entities there, in a loop"] = function()
        for i = 1, 3 do
          if born[i] == ecs.null then born[i] = world:spawn() end
        end
      end,
      ["it uses 'Last.who' after storing"] = function(p)
        last.who = world:spawn()
        if last.who ~= ecs.null then p.x = 1 end
      end,
      ["'whole', which is not an entity field, to the id of a spawned entity"] =
        function() whole[1] = world:spawn() end,
      ["'Last.n', which is not an entity field, to the id of a spawned "
        .. "entity"] = function() last.n = world:spawn() end,
    } do
      check_reason(world, what, fn)
    end
  end)

  it("is refused where it stores ids in fields that are not the row's, or may not be", function()
    local world = scene:new(true, { rows = 5 })
    local function keep(_, spawner) spawner.at = world:spawn() end
    world:system("it", { query = "Position, Spawner.at->Spawner", each = keep })
    assert.truthy(world:explain("it").reason:find(
      "of another entity: write world:set(id, \"Spawner.at\"", 1, true))
    helper.has_error(function()
      world:system("it", { query = "Position, Spawner:in", each = keep })
    end, "it writes to 'Spawner', which is read-only (:in)")
  end)

  it("is refused where it stores ids in what leads it to others", function()
    local world = scene:new(true, { rows = 50 })
    world:component("Hunt", { "prey: entity" })
    world:system("hunted", { query = "Hunt, Hunt.prey->Position:in", each = function(hunt, p)
      if p.x > 2 then hunt.prey = world:spawn { Fresh = true } end
    end })
    local reason = world:explain("hunted").reason or "none"
    assert(reason:find("also uses it in another way", 1, true), reason)
  end)

  it("stores ids that children read of their parents, which come first", function()
    for _, query in ipairs { "Position, Spawner, ChildOf->Spawner:in",
      "Position, Spawner, ChildOf->Spawner:in, with (Likes, *)" } do
      scene:twice(function(world, kernels)
        world:relation "Likes"
        local ids, count = {}, world:array("count", "i32", 1)
        for i = 1, 300 do
          ids[i] = world:spawn { Position = {}, Spawner = { left = i % 3 },
            ChildOf = ids[i // 4], Likes = ids[1] and { ids[1] } }
        end
        world:system("it", { query = query, each = function(_, spawner, parent)
          if parent.at ~= ecs.null then count[1] = count[1] + 1 end
          if spawner.left == 0 or parent.at ~= ecs.null then spawner.at = world:spawn() end
        end })
        assert.are.equal(kernels and "vector" or "lua", world:explain("it").tier)
        world:update(1)
      end, { rows = 0 })
    end
  end)

  it("is refused where an id is used in another way", function()
    local world = scene:new(true, { rows = 5 })
    for what, fn in pairs {
      ["'Spawner.left', which is not an entity field, to the id of a spawned entity"] =
        function(_, spawner) spawner.left = world:spawn() end,
      ["it uses 'Spawner.at' after storing"] = function(p, spawner)
        spawner.at = world:spawn()
        if spawner.at ~= ecs.null then p.x = 1 end
      end,
      ["reads or sets 'Spawner.at' and stores ids"] = function(_, spawner)
        for _ = 1, 2 do
          if spawner.at == ecs.null then spawner.at = world:spawn() end
        end
      end,
      ["sets 'Spawner.at' and stores ids"] = function(_, spawner, _, e)
        for i = 1, 2 do
          spawner.at = e
          if i == 1 then spawner.at = world:spawn() end
        end
      end,
      ["the id of a spawned entity"] = function(p) p.x = world:spawn() + 1 end,
    } do
      check_reason(world, what, fn)
    end
  end)

  it("leaves a row to Lua in which something does not fit", function()
    for _, most in ipairs { 3, 20000, 70000 } do
      scene:both(function(world)
        local count = world:array("count", "i32", 3)
        return function(p, spawner)
          count[1] = count[1] + 1
          if spawner.left == 3 then
            world:spawn { Enemy = { hp = p.x * most // 1 }, Position = { x = most } }
          end
          count[2] = count[2] + 1
        end
      end)
    end
    scene:both(function(world)
      local dead = world:spawn()
      world:despawn(dead)
      return function(p, spawner)
        world:spawn { Position = { x = p.x } }
        if p.x > 300 and spawner.at ~= ecs.null then world:add(dead, "Fresh") end
      end
    end)
  end)

  it("marks rows whose own fields get the new ids as written (C87)", function()
    scene:twice(function(world, kernels)
      world:component("Gun", { "last: entity", track = true })
      world:relation("Held", { "shot: entity", exclusive = true })
      for _ = 1, 3 do world:spawn { Gun = {}, Held = world:spawn() } end
      local guns, held = world:query "Gun:changed", world:query "Held:changed"
      assert.same({ 3, 3 }, { guns:count(), held:count() })
      world:system("shoot", { query = "Gun, Held", each = function(gun, hold)
        local shot = world:spawn { Fresh = true }
        gun.last, hold.shot = shot, shot
      end })
      world:update(1)
      if kernels then scene:check_tier(world, "shoot") end
      assert.same({ 3, 3 }, { guns:count(), held:count() })
    end, { rows = 0 })
  end)
end)
