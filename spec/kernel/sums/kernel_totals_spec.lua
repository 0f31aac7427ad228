-- What kernels come to over terms that are decided row by row, against plain Lua: the same bits.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

-- Entities tied to others, with sparse components of which some are off: the same in every world.
local scene = agree.scene {
  options = { seed = 3, tag = 1 },
  fill = function(world)
    local ids, state = {}, 9
    local function draw(n)
      state = (state * 1103515245 + 12345) % 2147483648
      return (state >> 16) % n + 1
    end
    world:component("Place", { "x: f64", "n: i32" })
    world:component("Health", { "hp: f64" })
    world:component("Speed", { "v: f32" })
    world:component("Mark", { "n: i32", storage = "sparse", toggle = true })
    world:component("Hunt", { "prey: entity" })
    world:relation("Near", { exclusive = true })
    world:relation("Owes", { "amount: f32" })
    world:tag "Red"
    for i = 1, 2500 do
      local id = world:spawn { Place = { x = 1 / i, n = draw(100) } }
      ids[i] = id
      if draw(3) == 1 then world:set(id, "Health", i / 7) end
      if draw(3) == 1 then world:set(id, "Speed", i / 3) end
      if draw(2) == 1 then world:set(id, "Mark", draw(50)) end
      if draw(4) == 1 then world:disable(id, "Mark") end
      if draw(2) == 1 then world:add(id, "Near", ids[draw(i)]) end
      if i > 1 and draw(2) == 1 then world:add(id, "ChildOf", ids[draw(i - 1)]) end
      if draw(2) == 1 then world:set(id, "Hunt", ids[draw(i)]) end
      if draw(10) == 1 then world:add(id, "Red") end
      for _ = 1, draw(5) - 2 do world:set(id, "Owes", ids[draw(i // 50 + 1)], draw(90) / 8) end
    end
    return ids
  end,
}

local function far(p, other) return p.x * 3.0 + (other and other.hp or 0.25) end
local function whole(p) return p.n end
local function whole_part(p, mark) return p.n * 3 - (mark and mark.n or 0) end
local function steep(p) return 1.0 / (p.n - 5.0) end
local function picky(p) return 7 // (p.n - 50) end

local function whole_or(p, mark, health) return mark and mark.n or health and 7 or p.n end
local function owed(p, owes) return p.x + (owes and owes.amount or 0.5) end
local function to_whom(p, owes, _, _, to) return to % 7 * p.x + owes.amount end
local function maybe_whom(p, _, mark, _, e, to)
  if to == nil then return p.x end
  return (to == e and 3.0 or 1 / p.n) + (mark and 1.0 or 0.0)
end
local function pays(p, owes, health) return p.x * owes.amount - health.hp end

local asked = {
  { "Place, Near->Health:in", { far, whole, steep, picky } },
  { "Place, Near->Health:in?", { far, whole, steep, picky } },
  { "Place, Hunt.prey->Health:in?, Speed?", { far, whole } },
  { "Place, ChildOf->Health:in?", { far, picky } },
  { "Place, ChildOf->Place:in?, Speed?", { whole, steep } },
  { "Place, ChildOf->Health?:cascade:in", { far, whole } },
  { "Place, Mark:in, Speed?", { whole_part, steep } },
  { "Place, Mark:off", { whole_part, steep } },
  { "Place, Mark?, with Red", { whole_part } },
  { "Mark, Place", { function(mark, p) return mark.n * p.x end } },
  { "Place, (Near, $to)", { steep, picky, whole } },
  { "Place, Mark|Health", { whole_or, steep, picky } },
  { "Place, ChildOf*->Health:in", { far, whole, picky } },
  { "Place, ChildOf*->Health:in?, Speed?", { far, steep } },
  { "Place, (Owes, *)", { owed, whole, picky, to_whom } },
  { "Place, (Owes, *), ChildOf->Place:in?", { owed, picky } },
  { "Place, (Owes, $to), Health($to):in", { pays, steep } },
  { "Place, (Owes, *)?, Mark?", { owed, maybe_whom } },
  { "with (Owes, *), Place, Mark:in", { whole_part } },
}

describe("a total over terms that are decided row by row", function()
  it("is what plain Lua comes to, or its error, and whose it is", function()
    local worlds, query = {}, {}
    local first, ids = scene:new(true)
    local second, other = scene:new(false)
    worlds[1], worlds[2] = first, second
    assert.same(ids, other)
    for _, entry in ipairs(asked) do
      local given = entry[1]:find "%$to" and { to = ids[17] } or nil
      for i, fn in ipairs(entry[2]) do
        for _, form in ipairs { "sum", "min", "max" } do
          local results = {}
          for w, world in ipairs(worlds) do
            query[w] = world:query(entry[1], given)
            local ok, value, id = pcall(query[w][form], query[w], fn)
            value = ok and ("%q"):format(value) or value:gsub("entity %S+: ", "")
            results[w] = { ok, value, id, world:digest() }
          end
          assert.same(results[2], results[1], entry[1] .. " " .. form .. i)
          assert.equal("vector", worlds[1]:explain(fn).tier, entry[1] .. " " .. form .. i)
        end
      end
    end
  end)

  it("draws the same numbers, also where a row fails and all of it is done in Lua", function()
    local sums = scene:twice(function(world)
      local function luck(p, _, _, e)
        if p.n == 50 then p = nil end
        return world:random(e) + (p and p.x or 0.0)
      end
      local function unlucky(p, _, _, e) return world:random(e) + 7 // (p.n - 50) end
      local query = world:query "Place, Near->Health:in"
      local sums = { query:sum(luck), (select(2, pcall(query.sum, query, unlucky))) }
      sums[2] = tostring(sums[2]):gsub("entity %S+: ", "")
      sums[3] = query:sum(luck)
      return sums
    end)
    assert.not_equal(sums[1], sums[3])
  end)

  it("fails over what has changed in the row in which plain Lua does", function()
    for _, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels }
      world:component("Mark", { "n: i32", storage = "sparse" })
      world:component("Place", { "n: i32" })
      for i = 1, 5 do world:spawn { Place = { n = i }, Mark = { n = i - 3 } } end
      local query = world:query "Place, Mark:changed"
      local function ratio(place, mark) return place.n // mark.n end
      local ok, why = pcall(query.sum, query, ratio)
      assert.falsy(ok)
      assert.truthy(why:find "divide by zero")
      assert.equal(kernels and "vector" or "lua", world:explain(ratio).tier)
      assert.equal(0, query:count())
    end
  end)

  it("is Lua's where the function writes, and says why", function()
    local world = scene:new(true)
    local function write(p)
      p.n = p.n + 1
      return p.n
    end
    local query = world:query "Place, Near->Health:in"
    for _ = 1, 3 do   -- also when its program is known
      query:sum(write)
      assert.truthy(world:explain(write).reason:find "returns a result and writes.* q:each")
    end
  end)
end)
