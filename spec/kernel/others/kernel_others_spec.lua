-- Functions that write to fields of the entities that paths of their queries lead to, compiled.

local agree = require "spec.support.agree"
local ecs = require "ecs"

local math = math

local scene = agree.scene {
  fill = function(world, case)
    world:component("Health", { "hp: f64 = 100", "armor: i16", "by: entity", "on: bool", "w: f32",
      "mood: enum(calm, angry)" })
    world:component("Hit", { "who: entity", "amount: f64", "n: i32", "other: entity" })
    world:component("Stock", { "got: f32[3]", "had: i32[2]" })
    world:component("Extra", { "n: i32", storage = "sparse" })
    world:relation("Docked", { "fee: f64", exclusive = true })
    world:component("Port", { "income: f64", "ships: i32" })
    local ids, ports = {}, {}
    for n = 1, 40 do
      ids[n] = world:spawn { Health = { hp = 100 + n }, Stock = {},
        Extra = n % 3 == 0 and {} or nil }
      if n % 8 == 0 then ports[#ports + 1] = world:spawn { Port = {}, Health = {} } end
    end
    for n = 1, case.rows or 3000 do
      world:spawn { Hit = { who = n % 13 > 0 and ids[n * n % 40 + 1] or nil, amount = n / 7,
        n = n % 50, other = ids[n % 40 + 1] }, Docked = n % 4 == 0 and ports[n % 5 + 1] or nil,
        Health = n % 2 == 0 and {} or nil }
    end
    return world, ids
  end,
  updates = 3,
}

local function check(query, make) scene:both(make, query) end

describe("a field of another entity that a kernel writes to", function()
  it("takes the steps of all rows that lead there, in their order", function()
    check("Hit, Hit.who->Health", function()
      return function(hit, health)
        health.hp = health.hp - hit.amount * 0.1
        health.hp = math.max(health.hp * 1.0625, 3)
        health.armor = math.min(health.armor + hit.n, 1000)
        health.w = health.w + 0.5
        hit.n = (hit.n + 7) % 50
      end
    end)
  end)

  it("is an element of an array field, whichever the row says", function()
    check("Hit, Hit.who->Stock", function()
      return function(hit, stock) stock.got[hit.n % 3 + 1] = stock.got[hit.n % 3 + 1] + 0.1 end
    end)
    check("Hit, Hit.who->Stock", function()
      return function(hit, stock)
        stock.had[2] = stock.had[1] + hit.n
        if hit.n < 2 then stock.had[hit.n + 1] = hit.n end
        hit.amount = stock.had[hit.n % 2 + 1] + stock.got[hit.n % 3 + 1]
      end
    end)
  end)

  it("may be that of whom a variable stands for", function()
    check("Hit, (Docked, $port), Port($port), Health($port)", function()
      return function(hit, docked, port, health)
        port.income = port.income + hit.amount * docked.fee
        port.ships = port.ships + 1
        health.on = true
      end
    end)
  end)

  it("is read by what else there is in the function, by whatever way", function()
    for query, fn in pairs {
      ["Hit, Hit.who->Health"] = function(hit, health)
        health.hp = health.hp - hit.amount
        if health.hp < 0 then
          health.hp = 50
          hit.n = 1
          health.on = not health.on
        end
      end,
      ["Health, Hit, Hit.who->Health"] = function(own, hit, health)
        if health.hp > 0 then health.hp = health.hp - own.hp * 0.25 - hit.n else own.hp = 90 end
      end,
      ["Hit.other->Health, Hit.who->Health"] = function(one, two)
        one.w = one.w + 1
        two.w = two.w * 0.5 - one.w
      end,
      ["Hit, Docked->Health, (Docked, $port), Port($port), Health($port)"] =
        function(hit, health, _, port, same)
          health.hp = same.hp + hit.amount
          if same.hp > 900 then port.ships, same.hp = port.ships + 1, 0.5 end
        end,
    } do
      check(query, function() return fn end)
    end
  end)

  it("does not lead its query's paths, and takes values of its type", function()
    local world = scene:new(true, { rows = 10 })
    for what, given in pairs {
      ["which a path of its query follows"] = { "Hit, Hit.who->Health, Health.by->Hit",
        function(_, health) health.by = ecs.null end },
      ["sets a field of type f64 to a boolean"] = { "Hit, Hit.who->Health",
        function(_, health) health.hp = true end },
    } do
      agree.check_reason(world, given[1], given[2], what)
    end
  end)

  it("is among what explain says is written", function()
    local world = scene:new(true, { rows = 10 })
    world:system("it", { query = "Hit, Hit.who->Health",
      each = function(hit, health) health.hp = health.hp - hit.amount end })
    world:update(0)
    assert.are.same({ "Health.hp" }, world:explain("it").writes)
    local count, score = world:array("count", "i32", 9), world:resource("Score", { "n: i32" })
    assert.truthy(score)
    local n = world:res "Score"
    world:system("it", { query = "Hit, Hit.who->Health", each = function(hit, health)
      hit.n = hit.n + 1
      health.armor = 1
      n.n = n.n + 1
      count[2] = count[2] + 1
    end })
    world:update(0)
    assert.are.same({ "Hit.n", "Health.armor", "Score.n", "count" }, world:explain("it").writes)
  end)
end)
