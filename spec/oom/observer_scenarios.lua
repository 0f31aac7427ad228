-- More of what scenarios.lua begins: observers, registered and called while memory is short. What
-- has called them is done even where they fail.

local scenario, make = ...
local crowd = make.crowd

local KINDS = { "exit", "remove", "despawn", "add", "enter", "set" }

local function observe(s, on, query)
  s.world:observer(on .. query, { on = on, query = query, each = function(p, label, id)
    s.shown = ("%s %s %d"):format(p.x, label and label.text, id)
  end })
end

local function observed(s)
  crowd(s)
  for _, on in ipairs(KINDS) do observe(s, on, "Position, Label?, !Enemy") end
end

scenario("an observer replaced", {
  prepare = observed,
  act = function(s) observe(s, "exit", "Position, Label?, !Enemy") end,
})

scenario("a set that is observed", {
  prepare = observed,
  partial = true,
  act = function(s)
    s.world:set(s.ids[1], "Position", { x = 5, y = 6 })
    assert(s.world:get(s.ids[1], "Position.x") == 5)
  end,
})

scenario("rows that are observed as they come and go", {
  prepare = observed,
  partial = true,
  act = function(s)
    for i = 1, 12 do s.world:add(s.ids[i], "Enemy") end
    for i = 1, 12 do s.world:remove(s.ids[i], "Enemy") end
    s.world:remove(s.ids[4], "Position")
    assert(not s.world:has(s.ids[4], "Position"))
  end,
})

scenario("rows that are observed as a kernel has them come and go", {
  prepare = observed,
  partial = true,
  act = function(s)
    local world = s.world
    world:query("Position"):each(function(p, _, e)
      if p.x >= 0 then world:add(e, "Enemy") end
    end)
    world:query("Enemy"):remove("Enemy")
    assert(world:count "Enemy" == 0)
  end,
})

scenario("a scope that is observed", {
  prepare = observed,
  partial = true,
  act = function(s)
    local open <close> = setmetatable({}, { __close = function(_, failure)
      if failure then pcall(s.world.cancel, s.world) end
    end })
    s.world:defer()
    for _, id in ipairs(s.ids) do s.world:set(id, "Position.x", 8) end
    for i = 1, 24, 3 do s.world:remove(s.ids[i], "Label") end
    s.world:add(s.ids[2], "Enemy")
    s.world:commit()
    assert(s.world:count "Position, !Enemy" == 24 and open)
  end,
})
