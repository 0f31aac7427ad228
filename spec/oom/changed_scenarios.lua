-- More of what scenarios.lua begins: when things were written, kept while memory is short.

local scenario, make = ...
local crowd = make.crowd

local function watched(s)
  crowd(s)
  s.world:component("Seen", { "n: i32", track = true })
  s.world:component("Far", { "n: i32", track = true, storage = "sparse" })
  for i, id in ipairs(s.ids) do
    s.world:set(id, "Seen", i)
    s.world:set(id, "Far", i)
  end
  s.changed = s.world:query "Seen:changed, Far:changed?, Position"
  s.changed:count()
end

scenario("loops over what has changed", {
  prepare = watched,
  partial = true,
  act = function(s)
    s.changed:count()            -- what an attempt before this one has set is seen now
    for i = 1, 24, 3 do s.world:set(s.ids[i], "Seen", i) end
    local count, rows = 0, 0
    for seen in s.changed:each() do
      count = count + 1
      seen.n = seen.n + 1
    end
    for i = 1, 24, 3 do s.world:set(s.ids[i], "Seen", i) end
    for chunk in s.changed:chunks() do rows = rows + #chunk:column "Seen.n" end
    assert(count == 8 and rows == 8, count .. " " .. rows)
  end,
})

scenario("a system that asks for changes, and one that makes them", {
  prepare = function(s)
    watched(s)
    s.world:system("ask", { query = "Seen:changed:in, Position", each = function(seen, at)
      at.x = seen.n
    end })
    s.world:system("make", { query = "Seen, Position:in", each = function(seen, at)
      if at.x > 3 then seen.n = 2 end
    end })
  end,
  partial = true,
  act = function(s) s.world:update(0.5) end,
})
