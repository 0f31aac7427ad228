-- More of what scenarios.lua begins: events, declared, emitted, read, changed, saved and loaded
-- while memory is short.

local scenario, make = ...
local crowd = make.crowd

local HIT = { "who: entity", "amount: f32", "note: string" }

local function declared(s)
  crowd(s)
  s.world:event("Hit", HIT)
end

local function events(s)
  declared(s)
  for i = 1, 30 do s.world:emit("Hit", s.ids[i % #s.ids + 1], i, "note " .. i) end
end

scenario("events put off that are due, kept and loaded", {
  prepare = function(s)
    events(s)
    for i = 1, 20 do s.world:after(i % 2, "Hit", s.ids[i], i, "late") end
    s.image = s.world:save { codec = { encode = function() return "" end } }
  end,
  act = function(s)
    s.world:load(s.image, { codec = { decode = function() return true end } })
    s.world:update(1)
  end,
  after = function(s) assert(s.world:count "Hit" == 50) end,
  partial = true,
})

scenario("events gone through", {
  prepare = events,
  act = function(s)
    local sum = 0
    for hit in s.world:events "Hit" do sum = sum + hit.amount + #hit.note end
    s.world:query("Hit.amount"):each(function(amount) sum = sum + amount end)
    assert(sum > 930 and s.world:describe("Hit").rows == 30)
  end,
  partial = true,
})

scenario("a system over events", {
  prepare = events,
  act = function(s) s.world:system("read", { query = "Hit", each = function() end }) end,
})

scenario("an update that reads events, and emits some", {
  prepare = function(s)
    events(s)
    s.world:system("read", { query = "Hit", each = function(hit)
      if hit.amount == 1 then s.world:emit("Hit", hit.who, 2, "again") end
    end })
  end,
  act = function(s) s.world:update(1) end,
})

scenario("a kernel over events that writes to whom they lead, and emits", {
  prepare = function(s)
    events(s)
    s.world:event("Heard", { "note: string", "of: entity" })
    local world = s.world
    s.hear = function(hit, position)
      position.x = position.x + hit.amount
      world:emit("Heard", hit.note, hit.who)
      for k = 1, 3 do world:emit("Hit", { amount = k, note = "an echo" }) end
    end
    s.far = function(hit) return hit.amount > 3 end
    s.amount = function(hit) return hit.amount * 2 end
    s.hits = world:query "Hit, Hit.who->Position"
  end,
  partial = true,
  act = function(s)
    s.hits:run(s.hear)
    assert(s.world:query("Hit"):where(s.far):sum(s.amount) > 0)
  end,
})

scenario("events saved and loaded", {
  prepare = function(s)
    events(s)
    s.world:system("read", { query = "Hit", each = function() end })
    s.image = s.world:save { codec = { encode = function() return "" end } }
    s.world:undeclare "Hit"
  end,
  act = function(s)
    s.world:load(s.image, { codec = { decode = function() return true end } })
  end,
  after = function(s) assert(s.world:count "Hit" == 30) end,
})

local function without_any(s)
  events(s)
  s.world:undeclare "Bag"
end

-- Of every kind of storage, and ties.
local function kept(s)
  without_any(s)
  local world = s.world
  world:component("Place", { "x: f32", "name: string" })
  world:component("Few", { "n: i32", storage = "sparse" })
  world:relation("Likes", { "much: f32" })
  world:relation("Owner", { exclusive = true })
  world:array("Grid", "i32", 4)
  world:prefab("Orc", { Place = { 1 } })
  local ids = world:spawn_many(40, { Place = { name = "place" }, Few = { 3 } })
  for i = 2, 40 do
    world:add(ids[i], "Likes", ids[i - 1])
    world:add(ids[i], "Owner", ids[1])
  end
  world:name(ids[7], "seven")
  s.kept = world:snapshot()
end

local function migrate(s)
  s.world:component("Place", { "y: f64", "name: string", was = { y = "x" } })
  s.world:component("Few", { "n: i64" })
end

scenario("fields that change after a snapshot", { prepare = kept, partial = true, act = migrate })

scenario("a snapshot restored into other fields", {
  prepare = function(s)
    kept(s)
    migrate(s)
    s.world:query("Place"):despawn()
  end,
  act = function(s) s.world:restore(s.kept) end,
  after = function(s) assert(s.world:count "Place" == 40) end,
})
