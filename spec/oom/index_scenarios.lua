-- More scenarios: indexes that are declared, updated and searched while memory is short.

local scenario, make = ...
local crowd = make.crowd

local function indexed(s)
  crowd(s)
  s.world:component("Place", { "x: f32", "y: f32" })
  s.world:component("Note", { "text: string" })
  for i, id in ipairs(s.ids) do
    s.world:set(id, "Place", i % 7, i)
    if i % 3 == 0 then s.world:set(id, "Note", "note " .. i) end
  end
  s.near = s.world:index("near", { query = "Place:in, Note?, Place.y", grid = "Place", cell = 2 })
end

local function count(s)
  local n = 0
  for place, note, y in s.near:within(0, 0, 1000) do
    assert(place.y == y and (not note or note.text:find "note"))
    n = n + 1
  end
  assert(n == #s.ids)
end

local function by_kind(options)
  return function(s)
    indexed(s)
    options.query = "Place:in, Note?"
    s.keyed = s.world:index("keyed", options)
  end
end

local function look(s)
  local n = 0
  for place in s.keyed:find(s.key or 3) do n = n + (place.x >= 0 and 1 or 0) end
  assert(n > 0)
end

scenario("an index by a function that makes texts looked into", {
  prepare = function(s)
    by_kind { hash = function(place) return "key " .. place.x // 1 % 7 end }(s)
    s.key = "key 3.0"
  end,
  act = look,
  partial = true,
})

-- All are up to date but for a few rows that are tracked.
local function changed(options)
  return function(s)
    by_kind(options)(s)
    s.world:component("Place", { "x: f32", "y: f32", track = true })
    pcall(s.keyed.find, s.keyed, 3)
    pcall(s.keyed.lowest, s.keyed, 1)
    assert(s.world:explain("keyed").times == 1)
    s.world:set(s.ids[8], "Place.x", 3)
    s.world:set(s.ids[9], "Place.x", -1)
  end
end

scenario("an index by hash looked into when few rows have changed", {
  prepare = changed { hash = "x" }, act = look,
})

scenario("an index by a function looked into when few rows have changed, and others have come", {
  prepare = function(s)
    changed { hash = function(place) return place.x end }(s)
    s.world:spawn { Place = { 3, 3 } }
  end,
  act = look,
})

scenario("an index in order looked into when few rows have changed", {
  prepare = changed { ordered = "x" },
  act = function(s)
    local n = 0
    for place in s.keyed:lowest(2) do n = n + place.x end
    assert(n == -1)
  end,
})

scenario("an index declared again", {
  prepare = function(s)
    indexed(s)
    count(s)
  end,
  act = function(s) s.world:index("near", { query = "Place", grid = "Place", cell = 5 }) end,
})

scenario("an index gone through beside a loop over it", {
  prepare = indexed,
  act = function(s)
    for place in s.near:within(0, 0, 1000) do
      count(s)
      if place.y then break end
    end
  end,
})

scenario("an update with a system that looks into indexes", {
  prepare = function(s)
    indexed(s)
    local near = s.near
    s.world:index("other", { query = "Place", grid = "Place", cell = 1 })
    s.world:system("look", { uses = "other", query = "Place:in", each = function(place)
      near:nearest(place.x, place.y, 9)
    end })
  end,
  act = function(s) s.world:update(1) end,
})

-- Rows find ever more, for which there is to be room.
local function looking(s)
  indexed(s)
  s.world:component("Found", { "n: i32", "last: entity" })
  for _, id in ipairs(s.ids) do s.world:add(id, "Found") end
  local near = s.world:index("bare", { query = "Place:in", grid = "Place", cell = 2 })
  local keyed = s.world:index("keyed", { query = "Place:in, Place.y:in", hash = "x" })
  s.crowd = function(place)
    local n = 0
    for other, e in near:within(place.x, place.y, place.y * 3) do
      for _, y in keyed:find(other.x) do n = n + y // 1 end
      if near:nearest(n, n, 1, e) then n = n + 1 end
    end
    return n
  end
  s.places = s.world:query "Place:in"
  s.world:system("look", { query = "Place:in, Found", each = function(place, found)
    found.n = 0
    for _, e in near:within(place.x, place.y, place.y * 2) do
      found.n = found.n + 1
      found.last = e
    end
  end })
end

scenario("a kernel that looks into indexes, compiled and run", {
  prepare = looking,
  act = function(s) s.sum = s.places:sum(s.crowd) end,
})

scenario("an update with a kernel that goes through ever more", {
  prepare = function(s)
    looking(s)
    s.world:update(1)
    for i, id in ipairs(s.ids) do s.world:set(id, "Place", i % 3, 50 + i) end
  end,
  act = function(s) s.world:update(1) end,
})
