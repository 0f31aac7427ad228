-- Random texts of queries about relations, in every form that goes over matches, compared with
-- spec/support/terms_oracle.lua.

local helper = require "spec.support.ecs_helper"
local gen = require "spec.support.terms_gen"
local oracle = require "spec.support.terms_oracle"
local random = require "spec.support.rng"

local TEXTS, ROUNDS = 10, 3

-- The arguments of world:query.
local function source_of(texts, given)
  return table.concat(texts, ", "), next(given) and given or nil
end

-- ---- what the forms give ---------------------------------------------------------------

local forms = {}

function forms.loop(query, slots) return oracle.by_loop(query, slots, oracle.show) end

forms["function"] = function(query, slots)
  local lines = {}
  query:each(function(...)
    assert.equal(0.5, (select(#slots + 1, ...)))
    lines[#lines + 1] = oracle.line_of(oracle.show, slots, nil, 1, ...)
  end, 0.5)
  return lines
end

function forms.system(_, slots, world, text, given)
  local lines = {}
  local spec = { query = text, each = function(...)
    lines[#lines + 1] = oracle.line_of(oracle.show, slots, nil, 1, ...)
  end }
  for name, value in pairs(given or {}) do
    spec["$" .. name] = value
  end
  world:system("watch", spec)
  world:run("watch", 0.5)
  world:remove_system "watch"
  return lines
end

-- ---- kernels ---------------------------------------------------------------------------

-- A function that notes down each match, and who stands for its variables, so that it comes to
-- something else where order, entities or these differ; and one that gives a number for each.
local SOURCE = [[
local world, trail = ...
local function weigh(e%s)
  local n = 1.0 + e %% 1009
  for_each
  return n
end
return function(%sdt, e%s) trail[1] = trail[1] * 0.5 + weigh(e%s) end,
  function(%sdt, e%s) return weigh(e%s) end
]]

local function kernels_of(world, trail, slots, values)
  local views, others, weighs = {}, {}, {}
  for at = 1, #slots do views[at] = ("v%d, "):format(at) end
  for at = 1, values do
    others[at] = (", t%d"):format(at)
    weighs[at] = ("if t%d then n = n * 0.75 + t%d %%%% 97 end"):format(at, at)
  end
  local before, behind = table.concat(views), table.concat(others)
  local source = SOURCE:gsub("for_each", function() return table.concat(weighs, "\n  ") end)
  return load(source:format(behind, before, behind, behind, before, behind, behind))(world, trail)
end

-- How many values stand behind the entity.
local function values_of(query, slots)
  local step, state, control, closing = query:each()
  local _ <close> = closing
  local first = table.pack(step(state, control))
  return first[1] ~= nil and first.n - #slots - 1 or 0
end

local compiled, asked = 0, 0

-- What both come to as kernels and as what they are.
local function compare_kernels(world, query, slots)
  local trail, told = world:array("trail", "f64", 1), {}
  for _, lua in ipairs { false, true } do
    local note, weigh = kernels_of(world, trail, slots, values_of(query, slots))
    local results = {}
    if lua then   -- what kernels do not know
      local bare, give = note, weigh
      note = function(...) bare(...) end
      weigh = function(...) return (give(...)) end
    end
    trail[1] = 1
    query:each(note)
    results[1] = trail[1]
    for at, form in ipairs { "sum", "min", "max" } do
      results[2 * at], results[2 * at + 1] = query[form](query, weigh)
    end
    told[#told + 1] = results
    for _, fn in ipairs { note, weigh } do
      local quick = world:explain(fn).tier == "vector"
      assert.is_false(lua and quick)
      compiled, asked = compiled + (quick and 1 or 0), asked + (lua and 0 or 1)
    end
  end
  assert.are.same(told[2], told[1], "kernels")
end

-- ---- comparing -------------------------------------------------------------------------

local function lines_of(matches)
  local lines = {}
  for at, match in ipairs(matches) do
    lines[at] = match.line
  end
  return lines
end

-- That each parent that is there stands before its children.
local function check_parents(world, ids)
  local place = {}
  for at, id in ipairs(ids) do
    place[id] = at
  end
  for at, id in ipairs(ids) do
    local parent = world:target(id, "ChildOf")
    assert.is_true(not place[parent] or place[parent] < at, "a child comes before its parent")
  end
end

local function compare_order(world, query, matches, cascade)
  local ids = query:ids()
  if not cascade then
    assert.are.same(oracle.entities_of(matches), ids)
    assert.are.equal(ids[1], (query:first()))
    return
  end
  assert.are.same(helper.sorted(oracle.entities_of(matches)), helper.sorted(ids))
  assert.are.equal(ids[1], (query:first()))
  if cascade == "first" then
    check_parents(world, ids)
  end
end

local function compare(world, query, texts, given)
  local terms, text = oracle.parse(texts), table.concat(texts, ", ")
  local matches, cascade = oracle.matches(world, terms, given), oracle.cascade(terms)
  local slots, wanted = oracle.slots(world, terms), lines_of(matches)
  for name, form in pairs(forms) do
    local lines = form(query, slots, world, text, given)
    if cascade then
      lines, wanted = helper.sorted(lines), helper.sorted(wanted)
    end
    assert.are.same(wanted, lines, name)
  end
  assert.are.equal(#wanted, query:count())
  assert.are.equal(#wanted, world:count(text, given))
  compare_order(world, query, matches, cascade)
  compare_kernels(world, query, slots)
  return #wanted
end

-- ---- writing along paths ---------------------------------------------------------------

local OWN, FAR = { "Health:in", "Health:in", "Position.x:in" }, { "DockedTo->Health",
  "Hunt.prey->Health", "ChildOf->Health", "ChildOf*->Health", "(DockedTo, *)", "(Likes, $x)" }

local function step_of(far, near)
  return (far * 3 + near + 1) % 1000
end

-- What the forms do to every match: `near` is the row's own health or a number.
local function write(near, far)
  far.hp = (far.hp * 3 + math.tointeger(type(near) == "number" and near // 1 or near.hp) + 1) % 1000
end

local write_by = {
  loop = function(query)
    for near, far in query:each() do
      write(near, far)
    end
  end,
  ["function"] = function(query)
    query:each(function(near, far) write(near, far) end)
  end,
  system = function(_, world, texts)
    local each = function(near, far) far.hp = (far.hp * 3 + near.hp + 1) % 1000 end
    if texts[1] == "Position.x:in" then
      each = function(near, far) far.hp = (far.hp * 3 + near // 1 + 1) % 1000 end
    end
    world:system("write", { query = table.concat(texts, ", "), each = each })
    world:run "write"
    world:remove_system "write"
  end,
}

local function all_health(world)
  local health = {}
  for id in world:query "with Health":each() do
    health[id] = (world:get(id, "Health"))
  end
  return health
end

-- Writes along a path in every form: what one row writes the rows behind it see.
local function compare_writes(world, rng)
  local texts = { rng:pick(OWN), rng:pick(FAR) }
  if texts[2]:find "^%(" then   -- several matches of a row, in front of a path
    texts[2], texts[3] = "DockedTo->Health", texts[2]
  elseif texts[2]:find "^ChildOf" then
    texts[1] = "Position.x:in"   -- else parents come first
  end
  local before, wanted = all_health(world), all_health(world)
  for _, match in ipairs(oracle.matches(world, oracle.parse(texts), {})) do
    local near = texts[1] == "Health:in" and wanted[match.entity]
      or math.tointeger(world:get(match.entity, "Position.x") // 1)
    local far = match.ways[2].holder
    wanted[far] = step_of(wanted[far], near)
  end
  for name, run in pairs(write_by) do
    run(world:query(table.concat(texts, ", ")), world, texts)
    assert.are.same(wanted, all_health(world), name .. " of " .. table.concat(texts, ", "))
    for id, hp in pairs(before) do
      world:set(id, "Health", hp)
    end
  end
end

-- ---- runs ------------------------------------------------------------------------------

local function attempt(fn, ...)
  return xpcall(fn, function(problem)
    return tostring(type(problem) == "table" and problem.message or problem)
  end, ...)
end

local function check(world, texts, given, query)
  return compare(world, query or world:query(source_of(texts, given)), texts, given)
end

-- Leaves out terms as long as it fails.
local function shrink(world, texts, given, problem)
  for at = #texts, 1, -1 do
    local fewer = table.move(texts, 1, #texts, 1, {})
    table.remove(fewer, at)
    local left = table.concat(fewer):find("$p", 1, true) and given or {}
    if #fewer > 0 and oracle.is_bound(oracle.parse(fewer), left) then
      local ok, message = attempt(check, world, fewer, left)
      if not ok then
        return shrink(world, fewer, left, message)
      end
    end
  end
  return texts, given, problem
end

local function check_kept(world, kept)
  local found = 0
  for _, one in ipairs(kept) do
    local ok, result = attempt(check, world, one.texts, one.given, one.query)
    if not ok then
      local texts, given, problem = shrink(world, one.texts, one.given, result)
      error(("%s\nwith '%s', p = %s (from '%s')"):format(problem, table.concat(texts, ", "),
        tostring(given.p), table.concat(one.texts, ", ")), 0)
    end
    found = found + (result > 0 and 1 or 0)
  end
  return found
end

local function keep(world, rng, dead, kept, plain)
  local texts, given = gen.text(world, rng, dead, plain)
  local ok, query = pcall(world.query, world, source_of(texts, given))
  if not ok then
    error(("%s\nwith '%s'"):format(query, table.concat(texts, ", ")), 0)
  end
  kept[#kept + 1] = { texts = texts, given = given, query = query }
end

-- What queries outlive, and what leaves the world as it is.
local passages = {
  function() end,
  function(world)
    world:load(world:save())
  end,
  function(world, rng)
    local snapshot, digest = world:snapshot(), world:digest()
    gen.change(world, rng)
    world:restore(snapshot)
    assert.are.equal(digest, world:digest())
  end,
  function(world)   -- the leaves of fields that queries name move
    world:component("Position", { "pad: i8", "y: f64", "x: f64" })
    world:component("Position", { "x: f64", "y: f64" })
    world:component("Hunt", { "pad: i32", "prey: entity" })
    world:component("Hunt", { "prey: entity" })
    world:relation("DockedTo", { "more: i32", "since: f64", exclusive = true })
    world:relation("DockedTo", { "since: f64", exclusive = true })
  end,
}

-- Queries are kept while the world changes; returns how many comparisons had matches.
local function run(seed, plain)
  local rng, world = random.new(seed), helper.new_world()
  gen.declare(world)
  local dead, kept, found = gen.fill(world, rng), {}, 0
  for _ = 1, TEXTS do
    keep(world, rng, dead, kept, plain)
  end
  local far = { "ChildOf*->Hunt:in?" }   -- what lines lead to: see gen.change
  kept[#kept + 1] = { texts = far, given = {}, query = world:query(far[1]) }
  for _ = 1, ROUNDS do
    found = found + check_kept(world, kept)
    for _ = 1, plain and 0 or 2 do
      compare_writes(world, rng)
    end
    gen.change(world, rng)
    rng:pick(passages)(world, rng)
    helper.check(world)
  end
  world:close()
  return found
end

local function match_all(plain)
  local found, all = 0, 0
  helper.each_seed({ small = 8, normal = 30, deep = 500 }, function(seed)
    found, all = found + run(seed, plain), all + TEXTS * ROUNDS
  end)
  -- Texts that nothing matches say little.
  assert(compiled > asked * 0.9, ("%d of %d functions are compiled"):format(compiled, asked))
  assert(all < 300 or found > all * 0.4, ("%d of %d texts match anything"):format(found, all))
end

describe("random terms", function()
  it("match what entities have (C65, C84)", function()
    match_all(true)
  end)

  it("match what entities are tied to, in order (C74, C75, C79, C85)", function()
    match_all(false)
  end)
end)
