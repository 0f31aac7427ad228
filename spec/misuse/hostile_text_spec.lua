-- Reliability line 6, continued: hostile options, keys, texts and error values. C68.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local hostile = require "spec.support.hostile"
local random = require "spec.support.rng"

local function noop() end

-- An error is a short text, whatever was wrong.
local function check_error(message, what)
  assert(type(message) == "string" and #message > 0 and #message < 2000
    and not message:find "not enough memory" and not message:find "stack overflow",
    what .. ": " .. tostring(message):sub(1, 200))
end

local function check_world(world)
  while pcall(world.commit, world) do end
  helper.check(world)
  world:spawn { Position = { 1, 2 } }
  world:update(0)
  helper.check(world)
end

-- ---- options -------------------------------------------------------------------------------

-- Calls that take a table: with any key of theirs, and with keys that are none.
local tables = {
  world = {
    keys = { "tag", "seed", "kernels" },
    call = function(_, options) ecs.world(options):close() end,
  },
  system = {
    keys = { "phase", "query", "each", "map", "run", "before", "after", "every", "enabled",
             "when", "compile", "array" },
    call = function(world, options)
      options.run = options.run or noop
      world:system("fresh", options)
    end,
  },
  phase = {
    keys = { "after", "before", "fixed" },
    call = function(world, options) world:phase("fresh", options) end,
  },
  component = {
    keys = { "storage", "toggle", "track", "requires", "was", "doc", 2 },
    -- A name would rename what the others need.
    call = function(world, options)
      local own <close> = ecs.world()
      own:component("Position", { "x: f32" })
      options[1] = options[1] or "a: f32"
      local at = options.was == nil and world or own
      at:component("Fresh", options)
    end,
  },
  field = {
    keys = { "doc", "unit", "min", "max", 1, 2 },
    call = function(world, options)
      options[1] = options[1] or "a: f32"
      world:component("Fresh", { options })
    end,
  },
  values = {
    keys = { "x", "y", 1, 2, 3 },
    call = function(world, options) world:spawn { Position = options } end,
  },
  ["nested values"] = {
    keys = { "x", "y", 1, 2, 3 },
    call = function(world, options) world:spawn { All = { nested = options } } end,
  },
  ["array values"] = {
    keys = { "x", 1, 2, 3, 4 },
    call = function(world, options) world:spawn { All = { array = options } } end,
  },
  components = {
    keys = { "Position", "Frozen", "All", 1, 2 },
    call = function(world, options) world:spawn(options) end,
  },
}

local function attack_options(case)
  local scene = hostile.scene(ecs.world)
  for _, entry in ipairs(hostile.values) do
    local value = entry[2](scene)
    for _, key in ipairs(case.keys) do
      local ok, message = pcall(case.call, scene.world, { [key] = value })
      if not ok then check_error(message, ("%s = %s"):format(key, entry[1])) end
      pcall(scene.world.undeclare, scene.world, "Fresh")
    end
    if value ~= nil and value == value then
      local ok, message = pcall(case.call, scene.world, { [value] = true })
      if not ok then check_error(message, ("[%s] = true"):format(entry[1])) end
    end
    if tostring(scene.world):find "closed" then scene = hostile.scene(ecs.world) end
  end
  check_world(scene.world)
  scene.world:close()
  scene.other:close()
end

-- ---- errors of any type ----------------------------------------------------------------------

local callbacks = {
  each = function(world, fail) world:query("Position"):each(fail) end,
  map = function(world, fail) world:query("Position.x"):map(fail) end,
  ["a loop"] = function(world, fail)
    for _ in world:query("Position"):each() do fail() end
  end,
  ["a loop over chunks"] = function(world, fail)
    for _ in world:query("Position"):chunks() do fail() end
  end,
  ["a system with each"] = function(world, fail)
    world:system("bad", { query = "Position", each = fail })
    world:update(1)
  end,
  ["a system with map"] = function(world, fail)
    world:system("bad", { query = "Position.x", map = fail })
    world:update(1)
  end,
  ["a system with run"] = function(world, fail)
    world:system("bad", { run = fail })
    world:update(1)
  end,
  ["a condition"] = function(world, fail)
    world:system("bad", { run = noop, when = fail })
    world:update(1)
  end,
  ["an error handler"] = function(world, fail)
    world:system("bad", { run = function() error "first" end })
    world:on_error(fail)
    world:update(1)
  end,
}

local function attack_errors(call)
  local scene = hostile.scene(ecs.world)
  for _, entry in ipairs(hostile.values) do
    local value = entry[2](scene)
    local before = scene.world:describe().entities
    local ok = pcall(call, scene.world, function()
      scene.world:spawn { Position = true }
      error(value, 0)
    end)
    assert(not ok, entry[1])
    pcall(scene.world.remove_system, scene.world, "bad")
    scene.world:on_error(nil)
    helper.check(scene.world)
    assert(scene.world:describe().entities <= before + 1)
  end
  check_world(scene.world)
  scene.world:close()
  scene.other:close()
end

-- ---- texts -----------------------------------------------------------------------------------

local function random_text(rng, words)
  local parts = {}
  for i = 1, rng:int(8) do parts[i] = words[rng:int(#words)] end
  return table.concat(parts)
end

local query_words = { "Position", "All", "Frozen", ".x", ".", "array[2]", "nested", ",", ", ", "!",
  "?", "|", ":in", ":", "(", ")", "*", "$p", " ", "\t", "\0", "\255", "1", "f32", "[", "]" }

local field_words = { "a", "b", ":", ": ", "f32", "i8", "u32", "bool", "entity", "string", "any",
  "enum(", "enum(a, b)", ")", "[", "2", "]", "[3]", "Position", "Frozen", "=", " = ", "1", "-1",
  "0.5", "1e400", "0x10", "nil", "true", "'text'", "\"", "'", "{", "}", "os.exit()", " ", "\n",
  "\0", "\255", "[[", "]]", "--", "nan", "(", "..", "Nothing" }

describe("C68: hostile", function()
  for name, case in pairs(tables) do
    it(("options of %s get clean errors"):format(name), function() attack_options(case) end)
  end

  for name, call in pairs(callbacks) do
    it(("error values in %s do no harm"):format(name), function() attack_errors(call) end)
  end

  it("texts are queries or errors", function()
    local rng = random.new(1)
    local scene = hostile.scene(ecs.world)
    for _ = 1, helper.by_scale { small = 1000, normal = 5000, deep = 50000 } do
      local text = random_text(rng, query_words)
      local ok, message = pcall(scene.world.query, scene.world, text)
      if not ok then check_error(message, text) end
      local counted, count = pcall(scene.world.count, scene.world, text)
      assert(counted == ok, text)
      assert(not ok or count == message:count())
    end
    check_world(scene.world)
  end)

  it("texts are fields or errors", function()
    local rng = random.new(2)
    local scene = hostile.scene(ecs.world)
    local made = 0
    for _ = 1, helper.by_scale { small = 1000, normal = 5000, deep = 50000 } do
      local text = random_text(rng, field_words)
      local ok, message = pcall(scene.world.component, scene.world, "Fresh", { text })
      if ok then
        made = made + 1
        local e = scene.world:spawn { Fresh = true }
        scene.world:read(e, "Fresh")
        scene.world:describe("Fresh")
        scene.world:undeclare "Fresh"
      else
        check_error(message, text)
      end
    end
    assert.is_true(made > 0)
    check_world(scene.world)
  end)
end)
