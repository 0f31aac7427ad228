-- More of what scenarios.lua begins: components switched off while memory is short.

local scenario, make = ...
local crowd = make.crowd

local function drowsy(s)
  crowd(s)
  s.world:component("AI", { "mood: i32", toggle = true })
  s.world:component("Awake", { storage = "sparse", toggle = true })
  for i, id in ipairs(s.ids) do
    s.world:set(id, "AI", i)
    s.world:add(id, "Awake")
    if i % 3 == 0 then s.world:disable(id, "AI") end
  end
  s.awake = s.world:query "AI, Position, Awake?"
end

scenario("loops over what is on", {
  prepare = drowsy,
  act = function(s)
    local count, rows = 0, 0
    for ai, at in s.awake:each() do
      assert(at.x == ai.mood)
      count = count + 1
    end
    for chunk in s.awake:chunks() do rows = rows + #chunk:column "AI.mood" end
    assert(count == 16 and rows == 16 and #s.awake:ids() == 16)
  end,
})

scenario("a kernel over what is on", {
  prepare = drowsy,
  partial = true,
  act = function(s)
    s.awake:run(function(ai, at) at.y = ai.mood * 2 end)
    assert(s.world:get(s.ids[2], "Position.y") == 4)
    assert(s.awake:sum(function(ai) return ai.mood end) == 192)
  end,
})
