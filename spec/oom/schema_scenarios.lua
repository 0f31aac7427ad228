-- More of what scenarios.lua begins: what components require, and what they were called.

local scenario, make = ...
local crowd = make.crowd

scenario("a component that was called otherwise", {
  prepare = crowd,
  act = function(s)
    local _, report = s.world:component("Place",
      { "x: f64", "z: f32", was = { "Position", z = "y" } })
    assert(report.was == "Position")
  end,
})

local function required(s)
  crowd(s)
  s.world:component("Link", { "to: entity", requires = { "Health", "Enemy" } })
end

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
