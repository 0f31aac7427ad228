-- Functions of q:map, and of `map` in systems, as kernels.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local has_error = helper.has_error

local scene = agree.scene {
  options = { seed = 5, tag = 1 },
  fill = function(world)
    world:component("Body", { "x: f64", "v: f64", "n: i16", "kind: enum(red, blue)", "on: bool",
      "to: entity", "name: string" })
    world:component("Extra", { "e: f64" })
    world:component("State", { "s: f64", toggle = true })
    world:tag "Tag"
    local ids = {}
    for i = 1, 130 do
      ids[i] = world:spawn { Body = { x = i, v = i / 4, n = i, on = i % 3 == 0 },
        Extra = i % 2 == 0 and { i } or nil, Tag = i % 5 == 0 or nil, State = { i } }
      if i % 7 == 0 then world:disable(ids[i], "State") end
    end
    return ids
  end,
}

-- What becomes of all fields, and of the error if there is one.
local function told(world, ids, ok, why)
  local out = { tostring(ok), ok and "" or why:match("[^\n]*"):gsub("entity %w+@%d+: ", "") }
  for i, e in ipairs(ids) do
    local x, v, n, kind, on, to = world:get(e, "Body")
    for at, id in ipairs(ids) do to = to == id and at or to end
    out[#out + 1] = table.concat({ i, x, v, n, kind, tostring(on), to,
      tostring((world:get(e, "Extra"))), tostring((world:get(e, "State"))),
      tostring(world:has(e, "Tag")) }, " ")
  end
  return table.concat(out, "\n")
end

-- The same by q:map and by a system, with kernels as with none.
local function same(text, fn, tier)
  scene:twice(function(world, kernels, ids)
    local given, query = fn(world), world:query(text)
    local result = told(world, ids, pcall(query.map, query, given, 0.5))
    if kernels then scene:check_tier(world, given, tier) end
    if kernels then assert.equal("map", world:explain(given).form) end
    return result
  end)
  scene:twice(function(world, kernels, ids)
    world:system("s", { query = text, map = fn(world) })
    local result = told(world, ids, pcall(world.update, world, 0.5))
    if kernels then scene:check_tier(world, "s", tier) end
    return result
  end)
end

describe("a function of map that is compiled", function()
  it("writes what it returns to the first terms, in order", function()
    same("Body.x, Body.v", function()
      return function(x, v, dt) return x + v * dt, v * 0.5 end
    end)
    same("Body.x, Body.v", function() return function(_, v) return nil, v + 1 end end)
    same("Body.n, Body.x:in", function() return function(n, x) return n - 3, nil, x end end, "lua")
    same("Body.x, Body.v, Extra.e?", function()
      return function(x, v, e)
        if e then return e, x, v end
        return v, x
      end
    end)
  end)

  it("takes and gives enums, truths and entities", function()
    same("Body.kind, Body.on, Body.to", function()
      return function(kind, on, _, _, e)
        return on and "blue" or kind, not on, e
      end
    end)
  end)

  it("calls functions, changes entities, and draws random numbers", function()
    same("Body.x, Body.v", function(world)
      local function mean(a, b) return (a + b) / 2 end
      return function(x, v, _, e)
        if x > 120 then world:remove(e, "Tag") end
        return mean(x, v), mean(v, x) + 1
      end
    end)
    scene:twice(function(world, _, ids)
      world:query("Body.x"):map(function(x, _, e) return x * 0 + world:random(e) end)
      assert.is_true(world:get(ids[1], "Body.x") < 1)
      assert.not_equal(world:get(ids[1], "Body.x"), world:get(ids[2], "Body.x"))
    end)
  end)

  it("runs where some rows have a component off", function()
    same("Body.x, State.s", function() return function(x, s) return x + s, s + 1 end end)
    same("Body.x, State.s?", function()
      return function(x, s) return x + (s or 1000), s and s * 2 end
    end)
    same("Body.x, State.s?", function()
      return function(x, s)
        if s then return x + s, s * 2 end
        return x + 1000
      end
    end)
  end)

  it("fails in the row where a result does not fit, which is not written to", function()
    same("Body.n, Body.x", function()
      return function(n, x)
        return n * 1000, x + 0.5
      end
    end)
    same("Body.x, Body.n", function() return function(x, n) return 0.25, x / 2 + n end end)
    same("Body.x, Body.n", function() return function(_, n) return 1, 7 // (n - 60) end end)
  end)

  it("stays Lua for what only Lua can say", function()
    same("Body.x", function() return function(x) return x, 1 end end, "lua")
    same("Tag?, Body.x", function() return function(_, x) return x end end, "lua")
    same("Body.x, Tag?", function() return function(x) return x, true end end, "lua")
    same("Body.x", function() return function() return "text" end end, "lua")
    same("Body.x", function()
      return function(x)
        if x > 5 then return true end
        return 2
      end
    end)
    same("Body.name", function() return function(name) return name .. "x" end end, "lua")
  end)

  it("is refused by compile = true, with the reason", function()
    local world = scene:new(true)
    local function refused(query, map, ...)
      has_error(function() world:system("s", { query = query, map = map, compile = true }) end,
        "system 's' cannot be compiled: ", "kernel_map_spec.lua", ...)
    end
    refused("Body.x", function(x) return x, x end, "more values than its query has fields")
    refused("Body.x, Tag?", function(x) return x, x end, "for the tag 'Tag': return nil")
    refused("Body.x", function(x) return x > 1 and x or x < 0 end,
      "'Body' depends on the path taken: return the field's own value")
    has_error(function()
      world:system("s", { query = "Body.x:in", map = function(x) return x end })
    end, "it writes to 'Body', which is read-only (:in)")
    has_error(function() world:system("s", { run = print, compile = true }) end,
      "system 's' cannot be compiled: ")
    world:system("s", { query = "Body.x", map = function(x) return x + 1 end, compile = true })
    world:update(1)
    assert.equal("vector", world:explain("s").tier)
    world:system("s", { query = "Body.x", map = function(x) return x end, compile = false })
    assert.equal("lua", world:explain("s").tier)
  end)

  it("goes through what q:where lets through", function()
    scene:twice(function(world, kernels, ids)
      local function half(x) return x / 2 end
      local where = world:query("Body.x"):where(function(x) return x % 2 == 0 end)
      where:map(half)
      assert.same({ 3.0, 2.0 }, { world:get(ids[3], "Body.x"), world:get(ids[4], "Body.x") })
      assert.equal(kernels and "vector" or "lua", world:explain(half).tier)
    end)
  end)
end)
