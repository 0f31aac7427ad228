-- More scenarios: arrays that are declared, changed, read, saved and loaded while memory is short.

local scenario, make = ...
local crowd = make.crowd

local function arrays(s)
  crowd(s)
  s.grid = s.world:array("grid", "i32", 300)
  s.held = s.world:array("held", "entity", 30)
  for i = 1, #s.grid do s.grid[i] = i end
  s.held[3] = s.ids[1]
end

scenario("an array found by its name, told and shown", {
  prepare = arrays,
  act = function(s)
    assert(s.world:array("grid")[300] == 300)
    assert(s.world:describe("grid").length == 300)
    assert(tostring(s.grid):find "300 of i32")
  end,
})

scenario("arrays saved and loaded", {
  prepare = function(s)
    arrays(s)
    s.image = s.world:save { codec = { encode = function() return "" end } }
    s.world:array("grid", "u16", 20)
    s.world:undeclare "held"
  end,
  act = function(s)
    s.world:load(s.image, { codec = { decode = function() return true end } })
  end,
  after = function(s) assert(s.world:array("held")[3] == s.ids[1]) end,
})

scenario("a system over an array, compiled and run", {
  partial = true,
  prepare = arrays,
  act = function(s)
    local grid, wide = s.grid, s.world:array("wide", "f64", 400)
    s.world:system("cells", { array = "grid", each = function(i)
      if i ~= 150 then wide[i] = (wide[i + 20] or 0) * 0 + i else wide[i] = tonumber(i) end
    end })
    s.world:system("again", { array = "grid", each = function(i)
      if i == 150 then wide[i] = 1 << 40 end
      grid[i] = wide[i] < 1000 and wide[i] or 7
    end })
    s.world:run("cells", 0.5)
    s.world:run("again", 0.5)
    assert(grid[150] == 7 and grid[300] == 300)
  end,
})
