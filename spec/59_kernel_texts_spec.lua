-- String fields in kernels: compared with strings of the function and with each other, and set.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local has_error = helper.has_error

local TEXTS = { "red", "blue", "", "a longer text", "ziggy" }

local function new_world(kernels)
  local world = helper.new_world { kernels = kernels }
  world:component("Name", { "text: string", "last: string" })
  world:component("N", { "a: i64", "kind: enum(red, blue)" })
  world:tag "Odd"
  local ids = {}
  for i = 1, 150 do
    ids[i] = world:spawn { Name = { TEXTS[i % 5 + 1], TEXTS[i % 3 + 1] }, N = { i },
      Odd = i % 2 == 1 or nil }
  end
  return world, ids
end

local function told(world, ids)
  local out = {}
  for i, e in ipairs(ids) do
    local text, last = world:get(e, "Name")
    local a, kind = world:get(e, "N")
    out[i] = ("%d %q %q %s %s"):format(i, text, last, a, kind)
  end
  assert(world:check())
  return table.concat(out, "\n")
end

-- The same twice over with kernels and without; compiled, unless `tier` says otherwise.
local function same(fn, tier)
  local results = {}
  for i, kernels in ipairs { true, false } do
    local world, ids = new_world(kernels)
    world:system("s", { query = "Name, N", each = fn })
    for _ = 1, 2 do pcall(world.update, world, 0.5) end
    if kernels then assert.equal(tier or "vector", world:explain("s").tier) end
    results[i] = told(world, ids)
  end
  assert.equal(results[2], results[1])
end

describe("a string field in a kernel", function()
  it("is compared with strings, those that no entity has among them", function()
    same(function(name, n) if name.text == "ziggy" then n.a = -1 end end)
    same(function(name, n) if name.text ~= "" then n.a = n.a * 2 end end)
    same(function(name, n) n.a = name.text == "nobody is called so" and 1 or 2 end)
    same(function(name, n) n.a = name.text == name.last and 1 or 0 end)
    same(function(name, n)
      local wanted = n.a % 2 == 0 and "red" or "blue"
      if name.text == wanted or "ziggy" == name.text then n.a = 7 end
    end)
    same(function(name, n) n.a = name.text and 1 or 0 end)
    same(function(name, n) n.a = (name.text == nil or name.text == 3) and 1 or 0 end)
    local boss = "ziggy"
    same(function(name, n) if name.text == boss then n.a = 0 end end)
  end)

  it("is set to strings and to other fields", function()
    same(function(name) name.text = "new" end)
    same(function(name) name.text, name.last = name.last, name.text end)
    same(function(name, n)
      if n.a > 100 then
        name.text = "many"
      elseif name.text == "new" then
        name.last = ""
      else
        name.text = n.a % 2 == 0 and "new" or name.last
      end
    end)
    same(function(name, n)
      for i = 1, 3 do
        if n.a % i == 0 then name.text = "divided" end
      end
    end)
  end)

  it("keeps a text that only a kernel has set, and lets go of the others", function()
    local world, ids = new_world(true)
    local fns = {}
    for i = 1, 200 do
      local text = ("text %d "):format(i):rep(2000)
      fns[i] = function(name) name.text = text end
    end
    local query = world:query "Name"
    for _, fn in ipairs(fns) do
      query:run(fn)
      world:set(ids[1], "Name.last", "something else" .. #fns)
      collectgarbage "step"
    end
    assert.equal(("text 200 "):rep(2000), world:get(ids[150], "Name.text"))
    assert.is_true(world:check())
    local twin = helper.new_world()
    twin:load(world:save())
    assert.equal(("text 200 "):rep(2000), twin:get(twin:query("Name"):first(), "Name.text"))
  end)

  it("is asked for in predicates, and mapped", function()
    for _, kernels in ipairs { true, false } do
      local world = new_world(kernels)
      local function ziggy(name) return name.text == "ziggy" end
      local where = world:query("Name"):where(ziggy)
      assert.equal(30, where:count())
      assert.equal(kernels and "vector" or "lua", world:explain(ziggy).tier)
      world:query("Name.text, N.a"):map(function(text) return text == "" and "none" or text end)
      assert.equal(30, world:query("Name"):where(function(n) return n.text == "none" end):count())
    end
  end)

  it("is not used for anything else", function()
    local world = new_world(true)
    local function refused(fn, ...)
      has_error(function()
        world:system("s", { query = "Name, N", each = fn, compile = true })
      end, "cannot be compiled", ...)
    end
    refused(function(name, n) n.a = #name.text end, "length")
    refused(function(name, n) n.a = name.text < "m" and 1 or 0 end, "a string field")
    refused(function(name, n) n.a = name.text + 1 end, "a string field")
    refused(function(name, n) n.a = name.text end, "sets a field of type i64")
    refused(function(name, n) name.text = n.kind end, "it sets a string field to something else")
    refused(function(name) name.text = 5 end, "it sets a string field to something else")
    refused(function(name, n) n.kind = name.text end, "something else than one of its names")
    refused(function(name, n) n.a = name.text == n.kind and 1 or 0 end, "with a string field")
    local prices = { red = 1, blue = 2 }
    refused(function(name, n) n.a = prices[name.text] end, "by a string field")
    same(function(name, n) n.kind = name.text end, "lua")
    same(function(name) name.text = 5 end, "lua")
  end)

  it("gives the same in random functions with kernels and without", function()
    for seed = 1, 40 do
      local rng = random.new(seed)
      local function text()
        return rng:pick { "'red'", "'blue'", "''", "'x'", "name.text", "name.last", "'ziggy'" }
      end
      local lines = {}
      for i = 1, rng:range(1, 5) do
        local condition = rng:pick { "n.a %% %d == 0", "name.text == %s", "name.last ~= %s" }
          :gsub("%%s", text):gsub("%%d", rng:range(2, 5)):gsub("%%%%", "%%")
        lines[i] = ("if %s then name.%s = %s else name.last = n.a > %d and %s or %s end"):format(
          condition, rng:pick { "text", "last" }, text(), rng:range(1, 150), text(), text())
      end
      local body = "return function(name, n) " .. table.concat(lines, " ") .. " end"
      local ok, why = pcall(same, assert(load(body))())
      assert(ok, tostring(why) .. body)
    end
  end)
end)
