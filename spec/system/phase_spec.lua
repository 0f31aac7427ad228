local helper = require "spec.support.ecs_helper"

local has_error = helper.has_error

local function phases(world)
  local names = {}
  for i, phase in ipairs(world:describe().phases) do names[i] = phase.name end
  return table.concat(names, " ")
end

local function logging(world, name, phase, log)
  world:system(name, { phase = phase, run = function(_, dt) log[#log + 1] = { name, dt } end })
end

local function times(log, name)
  local list = {}
  for _, entry in ipairs(log) do
    if entry[1] == name then list[#list + 1] = entry[2] end
  end
  return list
end

-- Where phases go, said plainly: in rounds, each in the order of declaration, whoever has an anchor
-- that is placed, behind those that follow the same one; then, at the end, who has none that is
-- known. nil where that is impossible.
local function arrange(declared)
  local placed, known, done = {}, {}, {}
  local function position(name)
    for at, phase in ipairs(placed) do
      if phase.name == name then return at end
    end
  end
  local function place_of(phase, last)
    local at = position(phase.after)
    if at then
      repeat at = at + 1 until not placed[at] or placed[at].after ~= phase.after
      return at
    end
    local free = last and not known[phase.after or 1] and not known[phase.before or 1]
    return position(phase.before) or free and #placed + 1
  end
  local function round(last)
    local before = #placed
    for _, phase in ipairs(declared) do
      local at = not done[phase] and place_of(phase, last)
      if at then
        table.insert(placed, at, phase)
        done[phase] = true
      end
    end
    return #placed > before
  end
  for at, phase in ipairs(declared) do
    known[phase.name] = true
    if at <= 5 then placed[at], done[phase] = phase, true end
  end
  while round(false) or round(true) do end
  local names = {}
  for at, phase in ipairs(placed) do
    names[at] = phase.name
    if phase.before and (position(phase.before) or at) < at then return nil end
  end
  return #placed == #declared and names or nil
end

describe("random phases", function()
  local function pick_anchor(rng, i)
    if rng:chance(30) then return nil end
    return rng:chance(50) and rng:pick { "update", "render", "startup" }
      or "p" .. rng:range(1, i + 3)
  end

  it("are where rounds over all of them would put them, whichever comes last", function()
    local random = require "spec.support.rng"
    for seed = 1, helper.by_scale { small = 40, normal = 150, deep = 3000 } do
      local rng, world, declared = random.new(seed), helper.new_world(), {}
      for at, phase in ipairs(world:describe().phases) do declared[at] = { name = phase.name } end
      for i = 1, 14 do
        local phase = { name = "p" .. (rng:chance(80) and i or rng:int(14)) }
        phase.after = pick_anchor(rng, i)
        phase.before = rng:chance(30) and pick_anchor(rng, i) or nil
        local wanted, at = table.move(declared, 1, #declared, 1, {}), #declared + 1
        for place, other in ipairs(declared) do
          if other.name == phase.name then at = place end
        end
        wanted[at] = phase
        local ok = pcall(world.phase, world, phase.name,
          { after = phase.after, before = phase.before })
        local possible = phase.after ~= phase.name and phase.before ~= phase.name
          and arrange(wanted)
        assert.are.equal(possible and true or false, ok)
        if ok then declared = wanted end
        local names = {}
        for place, one in ipairs(world:describe().phases) do names[place] = one.name end
        assert.are.same(arrange(declared), names, "seed " .. seed)
      end
      helper.check(world)
      world:close()
    end
  end)
end)

describe("phases", function()
  it("are five at first, in order (C46)", function()
    local world = helper.new_world()
    assert.are.equal("startup pre_update update post_update render", phases(world))
    local log = {}
    for _, phase in ipairs { "render", "post_update", "update", "pre_update", "startup" } do
      world:system(phase, { phase = phase, run = function() log[#log + 1] = phase end })
    end
    world:update(0)
    assert.are.equal("startup pre_update update post_update render", table.concat(log, " "))
  end)

  it("can be added after or before others, or at the end", function()
    local world = helper.new_world()
    world:phase("physics", { after = "update" })
    world:phase("input", { before = "pre_update" })
    world:phase("last")
    world:phase("ai", { after = "pre_update", before = "update" })
    assert.are.equal(
      "startup input pre_update ai update physics post_update render last", phases(world))
  end)

  it("can be declared again, with their systems", function()
    local world = helper.new_world()
    local log = {}
    world:phase("physics", { after = "render" })
    logging(world, "p", "physics", log)
    world:phase("physics", { before = "update", fixed = 0.5 })
    assert.are.equal("startup pre_update physics update post_update render", phases(world))
    world:update(1)
    assert.are.same({ 0.5, 0.5 }, times(log, "p"))
  end)

  it("refuse what makes no sense, naming it", function()
    local world = helper.new_world()
    has_error(function() world:phase("p", { fixde = 1 }) end, "phase 'p'", "'fixde'",
      "did you mean 'fixed'")
    has_error(function() world:phase("p", { fixed = 0 }) end, "phase 'p'", "'fixed'", "above 0")
    has_error(function() world:phase("p", { fixed = "1" }) end, "'fixed'")
    has_error(function() world:phase("p", { after = 5 }) end, "'after'", "a string")
    has_error(function() world:phase("p", 5) end, "bad argument #2 to 'phase'")
    has_error(function() world:phase(nil) end, "bad argument #1 to 'phase'")
    has_error(function() world:phase("") end, "name")
    has_error(function() world:phase("p", { after = "render", before = "startup" }) end, "'p'")
    for _, name in ipairs { "p", "update" } do
      for _, way in ipairs { "after", "before" } do
        has_error(function() world:phase(name, { [way] = name }) end,
          ("phase '%s' cannot come before or after itself"):format(name))
      end
    end
    assert.are.equal("startup pre_update update post_update render", phases(world))
  end)

  it("that come in a circle are refused", function()
    local world = helper.new_world()
    world:phase("a", { after = "render" })
    world:phase("b", { after = "a" })
    pcall(world.phase, world, "a", { after = "b" })
    world:update(0)
    assert.is_truthy(phases(world):find("a b", 1, true))
  end)
end)

describe("a startup system", function()
  it("runs once, at the first update after it is first registered", function()
    local world = helper.new_world()
    local log = {}
    logging(world, "s", "startup", log)
    world:update(1)
    world:update(1)
    assert.are.equal(1, #log)
    logging(world, "s", "startup", log)
    world:update(1)
    assert.are.equal(1, #log)
    logging(world, "later", "startup", log)
    world:update(1)
    world:update(1)
    assert.are.equal(2, #log)
    assert.are.same({ 1.0 }, times(log, "later"))
  end)
end)

describe("dt", function()
  it("is the time since the system last ran (C48)", function()
    local world = helper.new_world()
    local log = {}
    logging(world, "s", nil, log)
    world:update(1)
    world:switch("s", false)
    world:update(2)
    world:update(4)
    world:switch("s", true)
    world:update(8)
    world:update(16)
    assert.are.same({ 1, 14, 16 }, times(log, "s"))
  end)

  it("is the update's when it runs for the first time", function()
    local world = helper.new_world()
    world:update(5)
    local log = {}
    logging(world, "s", nil, log)
    world:update(1)
    assert.are.same({ 1 }, times(log, "s"))
  end)

  it("is always a float", function()
    local world = helper.new_world()
    local log = {}
    logging(world, "s", nil, log)
    world:update(1)
    world:run("s", 2)
    world:run("s")
    for _, entry in ipairs(log) do assert.are.equal("float", math.type(entry[2])) end
  end)
end)

describe("every", function()
  it("runs a system when its interval has elapsed, what is left over counting", function()
    local world = helper.new_world()
    local log = {}
    world:system("s", { every = 1, run = function(_, dt) log[#log + 1] = dt end })
    for _ = 1, 12 do world:update(0.25) end
    assert.are.equal(3, #log)
    for _ = 1, 3 do world:update(0.75) end
    assert.are.equal(5, #log)
    for i = 2, 3 do assert.are.equal(1, log[i]) end
  end)
end)

describe("a fixed phase", function()
  it("runs as often as time demands, dt constant", function()
    local world = helper.new_world()
    local log = {}
    world:phase("physics", { fixed = 0.25, after = "update" })
    logging(world, "p", "physics", log)
    world:update(0.125)
    assert.are.equal(0, #log)
    world:update(0.125)
    assert.are.equal(1, #log)
    world:update(0.625)
    assert.are.same({ 0.25, 0.25, 0.25 }, times(log, "p"))
    assert.are.equal(0.5, world:alpha())
    assert.are.equal(0.5, world:alpha "physics")
    world:update(0.125)
    assert.are.equal(4, #log)
    assert.are.equal(0, world:alpha())
  end)

  it("catches up 8 steps at most, and forgets the rest", function()
    local world = helper.new_world()
    local log = {}
    world:phase("physics", { fixed = 0.25 })
    logging(world, "p", "physics", log)
    world:update(100)
    assert.are.equal(8, #log)
    world:update(0.25)
    assert.are.equal(9, #log)
    assert.is_true(world:alpha() >= 0 and world:alpha() < 1)
  end)

  it("has the alpha that it is asked for", function()
    local world = helper.new_world()
    has_error(function() world:alpha() end, "fixed")
    world:phase("a", { fixed = 1 })
    world:phase("b", { fixed = 2 })
    world:update(0.5)
    assert.are.equal(0.5, world:alpha())
    assert.are.equal(0.25, world:alpha "b")
    has_error(function() world:alpha "update" end, "update", "fixed phase")
    has_error(function() world:alpha "c" end, "c")
    has_error(function() world:alpha(5) end, "bad argument #1 to 'alpha'")
  end)
end)

describe("world:run", function()
  it("runs one system or one phase (C67)", function()
    local world = helper.new_world()
    local log = {}
    logging(world, "a", nil, log)
    logging(world, "b", nil, log)
    logging(world, "c", "render", log)
    world:run("b", 1)
    world:run("render", 2)
    world:run("update", 3)
    assert.are.same({ { "b", 1 }, { "c", 2 }, { "a", 3 }, { "b", 3 } }, log)
  end)

  it("names what it does not know", function()
    local world = helper.new_world()
    world:system("move", { run = function() end })
    has_error(function() world:run("mvoe", 1) end, "bad argument #1 to 'run'", "'mvoe'",
      "did you mean 'move'")
    has_error(function() world:run("rendr", 1) end, "did you mean 'render'")
    has_error(function() world:run(5, 1) end, "bad argument #1 to 'run'")
    for _, dt in ipairs { -1, 1 / 0, 0 / 0, "1", false, {} } do
      has_error(function() world:run("move", dt) end, "bad argument #2 to 'run'")
    end
  end)
end)

describe("world:update", function()
  it("takes seconds, finite and not negative", function()
    local world = helper.new_world()
    for _, dt in ipairs { -1, -1 / 0, 1 / 0, 0 / 0, "1", false, {} } do
      has_error(function() world:update(dt) end, "bad argument #1 to 'update'")
    end
    has_error(function() world:update() end, "bad argument #1 to 'update'")
    world:update(0)
    world:update(1e-9)
  end)

  it("reclaims tables that stay empty (C7)", function()
    local world = helper.new_world()
    for i = 1, 20 do
      world:tag("T" .. i)
      world:despawn(world:spawn { ["T" .. i] = true })
    end
    local before = #world:describe().tables
    for _ = 1, 3 do world:update(0) end
    assert.is_true(#world:describe().tables <= before - 20)
  end)
end)
