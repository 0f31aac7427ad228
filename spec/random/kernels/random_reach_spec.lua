-- Random questions about other entities, by ids from fields, ties, arrays and the row, with and
-- without kernels: the same cells, commands and errors.

local helper = require "spec.support.ecs_helper"

local random, floor = math.random, math.floor
local pick = require("spec.support.tiers").pick

local FIELDS = { "A.f", "A.s", "A.n", "A.b", "A.on", "A.e", "Sparse.n", "Toggled.n" }
local HAVES = { "A", "Sparse", "Toggled", "Tag", "M" }
local OPTIONAL = { "A", "Sparse", "Toggled", "Tag" }

-- An id, as text of Lua: of `m`, the row's own component, of the row, of an array or from outside.
local function id_text(depth)
  local what = random(depth > 0 and 8 or 6)
  if what <= 2 then return "m.e" end
  if what == 3 then return "e" end
  if what == 4 then return "outside" end
  if what == 5 then return ("list[m.n %% %d]"):format(random(3, 9)) end
  if what == 6 then return ("list[%d]"):format(random(0, 8)) end
  if what == 7 then return ("world:get(%s, 'A.e')"):format(id_text(depth - 1)) end
  return pick { "world:target(%s, 'One')", "world:target(%s, 'Many')", "world:parent(%s)" }
    :format(id_text(depth - 1))
end

-- Statements that ask about the id in `x`.
local function ask_text(i)
  local field, has = pick(FIELDS), pick(HAVES)
  return pick {
    ("local v%d = world:get(x, '%s') if v%d then m.c = m.c + 1 end"):format(i, field, i),
    "m.n = m.n + (world:get(x, 'A.n') or 3)",
    "m.f = m.f * 0.5 + (world:get(x, 'A.f') or 1.0)",
    "local f, s, n = world:get(x, 'A') if n == nil then m.c = m.c + 2 else m.f = f - s + n end",
    ("if world:has(x, '%s') then m.c = m.c + 1 else m.n = m.n - 1 end"):format(has),
    ("m.on = world:has(x, '%s')"):format(has),
    ("if world:enabled(x, '%s') then m.c = m.c + 1 end"):format(has),
    "if world:alive(x) then m.c = m.c + 1 end",
    ("if world:get(x, '%s') == nil then return end"):format(field),
    "if world:get(x, 'A.kind') == 'two' then m.c = 9 end",
    "m.f = world:get(x, 'A.s') + 1",
    "m.c = world:get(x, 'Toggled.n')",
    "local t = world:target(x, 'One') if t then m.c = m.c + (world:has(t, 'A') and 1 or 0) end",
    "if world:parent(x) == m.e then m.c = m.c - 1 end",
    "for i = 1, 3 do local y = list[i] if y and world:alive(y) then "
      .. "m.f = m.f + (world:get(y, 'A.f') or 0.0) end end",
    "local best for i = 1, 4 do local y = list[i] local f if world:alive(y) then "
      .. "f = world:get(y, 'A.f') end if f and (not best or f < best) then best = f end end "
      .. "m.f = best or 1.5",
    "if m.c % 7 == 3 then world:add(e, 'Tag') end",
    "if m.c % 5 == 4 then world:remove(e, 'Tag') end",
    "if m.c % 97 == 50 then world:despawn(e) end",
  }
end

-- Mostly asked of the living only.
local function function_text()
  local lines = { "local x = " .. id_text(2) }
  if random(5) > 1 then lines[#lines + 1] = "if not world:alive(x) then return end" end
  for i = 1, random(3) do lines[#lines + 1] = ask_text(i) end
  return table.concat(lines, "\n")
end

local function result_text()
  local guard = random(4) > 1 and "if not world:alive(x) then return 0.0 end\n" or ""
  return ("local x = %s\n%sreturn %s"):format(id_text(1), guard,
    pick { "world:get(x, 'A.f') or 0.0", "world:has(x, 'Tag') and 1.0 or 2.0",
      "(world:get(x, 'A.s') or m.f) + 0.5" })
end

local function truth_text()
  local guard = random(4) > 1 and "if not world:alive(x) then return end\n" or ""
  return ("local x = %s\n%sreturn %s"):format(id_text(1), guard,
    pick { "world:get(x, 'A.on')", "world:has(x, 'Sparse')",
      "world:enabled(x, 'Toggled')", "world:parent(x)",
      "(world:get(x, 'A.n') or 9) % 3 == 0", "world:get(x, 'A.e') == m.e" })
end

local function make(text, world, list, outside, parameters)
  local chunk = assert(load(("local world, list, outside = ... return function(%s) %s\nend")
    :format(parameters or "m, dt, e", text), "=random"))
  return chunk(world, list, outside)
end

local function value(world, ids)
  local e = pick(ids)
  return { f = random(-50, 50) / 4, s = random(100) / 8, n = random(-9, 99), b = random(0, 250),
    on = random(2) == 1, e = world:alive(e) and e or nil, kind = pick { "one", "two" } }
end

local function fill(world, list)
  local ids = {}
  for i = 1, pick { 5, 60, 300, 1500 } do ids[i] = world:spawn { M = { n = random(20) } } end
  for _, e in ipairs(ids) do
    for _, component in ipairs(OPTIONAL) do
      if random(3) > 1 then world:add(e, component) end
    end
    if world:has(e, "A") then world:set(e, "A", value(world, ids)) end
    if world:has(e, "Sparse") then world:set(e, "Sparse.n", random(-5, 5)) end
    if world:has(e, "Toggled") then world:set(e, "Toggled.n", random(250)) end
    if world:has(e, "Toggled") and random(2) == 1 then world:disable(e, "Toggled") end
    if random(3) == 1 then world:add(e, "One", pick(ids)) end
    if random(3) == 1 then world:add(e, "Many", pick(ids)) end
    if random(3) == 1 then pcall(world.add, world, e, "ChildOf", pick(ids)) end
    world:set(e, "M", { e = pick(ids), c = random(50) })
  end
  for i = 1, #list do list[i] = pick(ids) end
  for _ = 1, random(4) == 1 and #ids // 20 or 0 do
    local e = pick(ids)
    if world:alive(e) then world:despawn(e) end
  end
  return ids
end

local function new_world(kernels)
  local world = helper.new_world { kernels = kernels, tag = 1, seed = 1 }
  world:component("M", { "e: entity", "n: i64", "f: f64", "c: i32", "on: bool" })
  world:component("A", { "f: f64", "s: f32", "n: i32", "b: u8", "on: bool", "e: entity",
    "kind: enum(one, two)" })
  world:component("Sparse", { "n: i8", storage = "sparse" })
  world:component("Toggled", { "n: u16", toggle = true })
  world:tag "Tag"
  world:relation("One", { exclusive = true })
  world:relation "Many"
  return world, world:array("list", "entity", 8)
end

local function plain(problem)
  return (tostring(problem):gsub("entity %S+: ", ""):gsub("\n.*", ""))
end

-- What a seed's functions do to their world, and how they were run.
local function run(seed, kernels)
  math.randomseed(seed)
  local world, list = new_world(kernels)
  local ids = fill(world, list)
  local seen, tiers = {}, {}
  local query = pick { "M", "M", "M, with Toggled", "M, !Tag", "M, with Sparse", "M, with One" }
  local text = function_text()
  local each = make(text, world, list, pick(ids))

  world:system("ask", { query = query, each = each })
  for i = 1, 2 do
    local done, problem = pcall(world.update, world, 0.1)
    seen[i] = ("%s %d"):format(done and "" or plain(problem), world:digest())
  end
  tiers[1] = world:explain("ask").tier
  local result, truth = make(result_text(), world, list, pick(ids)),
    make(truth_text(), world, list, pick(ids), "m, e")
  for _, form in ipairs { "sum", "max" } do
    local rows = world:query(query)
    local done, what = pcall(rows[form], rows, result)
    seen[#seen + 1] = done and ("%.17g"):format(what or 0) or plain(what)
  end
  tiers[2] = (world:explain(result) or {}).tier
  local those = world:query(query):where(truth)
  local done, count = pcall(those.count, those)
  seen[#seen + 1] = done and floor(count) or plain(count)
  tiers[3] = (world:explain(truth) or {}).tier
  world:close()
  return table.concat(seen, "\n"), tiers, text
end

describe("random questions about other entities", function()
  local most = helper.by_scale { small = 40, normal = 100, deep = 1500 }
  it(("are answered as plain Lua does (%d)"):format(most), function()
    local compiled = 0
    for seed = 1, most do
      local seen, tiers, text = run(seed, true)
      assert.equal((run(seed, false)), seen, ("seed %d, %s: %s"):format(seed, tiers[1], text))
      for i = 1, 3 do compiled = compiled + (tiers[i] == "vector" and 1 or 0) end
    end
    math.randomseed(os.time())
    assert.truthy(compiled > 3 * most / 2, compiled)
  end)
end)

