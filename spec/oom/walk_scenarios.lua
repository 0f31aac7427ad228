-- More scenarios: queries about ties that are created and visited while memory is short.

local scenario, make = ...
local crowd = make.crowd

local function family(s)
  crowd(s)
  s.world:relation("Owes", { "amount: i32" })
  s.world:relation("Rides", { "since: f64", exclusive = true })
  for i = 2, #s.ids do
    s.world:add(s.ids[i], "ChildOf", s.ids[i // 2])
    s.world:set(s.ids[i], "Owes", s.ids[1], i)
    s.world:set(s.ids[i], "Rides", s.ids[i - i % 2 + 1] or s.ids[1], i)
  end
  s.down = s.world:query "Position, ChildOf->Position?"
  s.riding = s.world:query("(Rides, $p), Position", { p = s.ids[1] })
  s.owing = s.world:query "(Owes, $whom), Position($whom), Label?"
end

scenario("a function over what is tied", {
  prepare = family,
  act = function(s)
    local count = 0
    s.owing:each(function(_, at, _, _, _, whom)
      assert(at.x == 1 and whom == s.ids[1])
      count = count + 1
    end)
    assert(count == 23)
  end,
})

scenario("chunks, parents first", {
  prepare = family,
  act = function(s)
    local count = 0
    for chunk in s.down:chunks() do
      count = count + #chunk:column "Position.x"
    end
    assert(count == 25)
  end,
})

scenario("a system over what is tied", {
  prepare = family,
  partial = true,
  act = function(s)
    local count = 0
    s.world:system("ride", { query = "(Rides, $p), Position", ["$p"] = s.ids[1],
      each = function() count = count + 1 end })
    s.world:run "ride"
    assert(count == s.riding:count())
    s.world:remove_system "ride"
  end,
})

scenario("kernels over what is tied", {
  prepare = function(s)
    family(s)
    s.each_owing = s.world:query "(Owes, *), Position"
  end,
  partial = true,
  act = function(s)
    s.down:run(function(at, above) at.y = above and 2 or 1 end)
    s.riding:run(function(rides, at) at.x = rides.since end)
    s.each_owing:run(function(owes, at) at.x = owes.amount end)
    assert(select(2, s.world:get(s.ids[1], "Position")) == 1)
    assert(s.world:get(s.ids[2], "Position") == 2)
  end,
})
