-- More of what scenarios.lua begins: what components require, and what they were called.

local scenario, make = ...
local open, crowd = make.open, make.crowd

scenario("a component that requires others, and its description", {
  prepare = open,
  act = function(s)
    s.world:component("Armed", { "n: i32", requires = { "Label", "Health", "Frozen" } })
    assert(#s.world:describe("Armed").requires == 3)
  end,
  partial = true,
})

scenario("a component that was called otherwise", {
  prepare = crowd,
  act = function(s)
    local _, report = s.world:component("Place",
      { "x: f64", "z: f32", was = { "Position", z = "y" } })
    assert(report.was == "Position")
  end,
})

scenario("a component of which only that is new", {
  prepare = crowd,
  act = function(s) s.world:component("Link", { "to: entity", was = { "Tie", to = "at" } }) end,
})

scenario("requirements that rows get later", {
  prepare = crowd,
  act = function(s)
    s.world:component("Position", { "x: f32", "y: f32", requires = { "Health", "Enemy" } })
  end,
})

local function required(s)
  crowd(s)
  s.world:component("Link", { "to: entity", requires = { "Health", "Enemy" } })
end

scenario("add of what requires others", {
  prepare = required,
  act = function(s) s.world:add(s.e, "Link") end,
})

scenario("spawn of what requires others", {
  prepare = function(s)
    required(s)
    s.e = false
  end,
  act = function(s) s.e = s.world:spawn { Link = {}, Bag = { {} } } end,
})

scenario("commit of commands of which one is dropped", {
  prepare = function(s)
    required(s)
    s.world:defer()
    for i, e in ipairs(s.ids) do
      s.world:set(e, "Link", s.e)
      if i == 7 then s.world:remove(e, "Health") end
    end
  end,
  act = function(s)
    local ok, message = pcall(s.world.commit, s.world)
    assert(not ok)
    if message == "not enough memory" then error(message, 0) end
    assert(message:find "'Link' requires it", message)
  end,
})

scenario("removal from a query, refused for some of its entities", {
  prepare = function(s)
    required(s)
    for i = 1, #s.ids, 5 do s.world:add(s.ids[i], "Link") end
    s.query = s.world:query "Health"
    for i = 2, #s.ids, 2 do s.world:set(s.ids[i], "Health", i, "hurt") end
  end,
  act = function(s)
    local ok, message = pcall(s.query.remove, s.query, "Health")
    assert(not ok)
    if message == "not enough memory" then error(message, 0) end
    assert(message:find "'Link' requires it" and not s.world:has(s.ids[2], "Health"), message)
  end,
})
