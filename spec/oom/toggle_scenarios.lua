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

scenario("a component switched off and on", {
  prepare = drowsy,
  partial = true,
  act = function(s)
    s.world:disable(s.ids[1], "AI")
    s.world:disable(s.ids[1], "Awake")
    s.world:enable(s.ids[3], "AI")
    assert(not s.world:enabled(s.ids[1], "AI") and s.world:enabled(s.ids[3], "AI"))
  end,
})

scenario("a scope that switches", {
  prepare = drowsy,
  act = function(s)
    local open <close> = setmetatable({}, { __close = function(_, failure)
      if failure then s.world:cancel() end
    end })
    s.world:defer()
    for _, id in ipairs(s.ids) do s.world:disable(id, "AI") end
    s.world:commit()
    assert(s.awake:count() == 0 and open)
  end,
})

scenario("a query about what is off", {
  prepare = drowsy,
  act = function(s)
    assert(s.world:query("AI:off, Awake:any, !AI"):count() == 8)
    assert(s.world:count "AI|Frozen" > 15)
  end,
})

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

scenario("a component that becomes a toggle, and one that is none any more", {
  prepare = drowsy,
  partial = true,
  act = function(s)
    s.world:component("Position", { "x: f32", "y: f32", toggle = true })
    s.world:component("Awake", {})
    assert(s.world:describe("Position").off == 0 and not s.world:describe("Awake").toggle)
  end,
})

scenario("an image and a snapshot of what is off", {
  prepare = function(s)
    drowsy(s)
    s.world:remove(s.e, "Bag")
  end,
  act = function(s)
    s.world:load(s.world:save())
    s.world:restore(s.world:snapshot())
    assert(not s.world:enabled(s.ids[3], "AI"))
  end,
})
