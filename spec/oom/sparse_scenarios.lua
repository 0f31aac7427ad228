-- More of what scenarios.lua begins: sparse components, declared, brought, saved and kept otherwise
-- while memory is short.

local scenario, make = ...
local crowd = make.crowd

local FIELDS = { "n: i32 = 3", "text: string", storage = "sparse" }

local function marked(s)
  crowd(s)
  s.world:component("Mark", FIELDS)
  s.world:component("Hot", { storage = "sparse" })
  s.world:component("Bound", { requires = { "Mark" } })
  for i = 1, #s.ids, 2 do
    s.world:set(s.ids[i], "Mark", i, "text " .. i)
  end
  s.marks = s.world:query "Mark, Position"
end

scenario("a sparse component declared", {
  prepare = crowd,
  act = function(s) s.world:component("Mark", FIELDS) end,
})

scenario("a sparse component set", {
  prepare = marked,
  act = function(s) s.world:set(s.ids[2], "Mark", 5, "a new text") end,
})

scenario("what requires a sparse component", {
  prepare = marked,
  act = function(s) s.world:add(s.ids[2], "Bound") end,
})

scenario("one spawned with sparse components", {
  prepare = marked,
  act = function(s) s.world:spawn { Mark = { 4, "spawned" }, Position = true, Hot = true } end,
})

scenario("many spawned with sparse components", {
  prepare = marked,
  act = function(s) s.world:spawn_many(20, { Bound = true, Hot = true }) end,
})

scenario("a loop over a sparse component", {
  prepare = marked,
  act = function(s)
    local count = 0
    for mark in s.marks:each() do count = count + mark.n end
    assert(count > 0)
  end,
})

scenario("a sparse component kept in tables from now on", {
  prepare = marked,
  act = function(s) s.world:component("Mark", { "n: f64", "text: string" }) end,
})

scenario("a component kept apart from now on", {
  prepare = marked,
  act = function(s) s.world:component("Position", { "x: f32", "y: f32", storage = "sparse" }) end,
})

scenario("sparse components saved and loaded", {
  prepare = marked,
  act = function(s)
    local codec = { encode = function() return "" end, decode = function() return true end }
    s.world:load(s.world:save { codec = codec }, { codec = codec })
  end,
})

scenario("a snapshot of sparse components", {
  prepare = function(s)
    marked(s)
    s.world:undeclare "Bag"                        -- which has `any` values
  end,
  act = function(s) s.world:restore(s.world:snapshot()) end,
})
