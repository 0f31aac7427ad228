-- Random operation traces on the runtime and on the plain-Lua model of spec/support/model.lua
-- (reliability 18). ECS_SPEC_SCALE sets how many, ECS_SPEC_SEEDS=first-last (or one seed)
-- which, so that a failure can be seen again and a long run be split.

local helper = require "spec.support.ecs_helper"
local model = require "spec.support.model"
local runner = require "spec.support.runner"
local trace_text = require "spec.support.trace_text"

local steps = helper.by_scale { small = 500, normal = 2000, deep = 10000 }
-- Each allocation that fails collects all garbage: much of the time of long traces.
local starve = helper.by_scale { small = 15, normal = 15, deep = 2 }
local every = helper.by_scale { small = 25, normal = 125, deep = 400 }

local function model_world(tag)
  return model.world { tag = tag }
end

-- A model that does one of its methods in another way.
local function broken_model(method, replacement)
  return function(tag)
    local world = model_world(tag)
    local original = world[method]
    world[method] = function(self, ...)
      return replacement(original, self, ...)
    end
    return world
  end
end

-- The first failure among some seeds of a subject that is known to be wrong.
local MOST_SEEDS = 60

local function find_failure(options)
  for seed = 1, MOST_SEEDS do
    local failed = runner.run(seed, {
      steps = 400,
      subject = options.subject,
      reference = options.reference,
    })
    if failed then
      return failed
    end
  end
end

describe("the runtime and the model", function()
  local from, to = helper.seeds { small = 20, normal = 45, deep = 1000 }
  local group = (to - from) // 10 + 1
  for first = from, to, group do
    local last = math.min(first + group - 1, to)
    it(("agree on seeds %d to %d"):format(first, last), function()
      runner.run_seeds(first, last, { steps = steps, every = every, starve = starve })
    end)
  end

  it("have agreed where calls of many kinds ran out of memory", function()
    local failures = require("spec.support.trace_starve").failures
    assert.is_truthy(next(failures))
    for _, method in ipairs { "spawn", "set", "add", "remove", "component", "query", "system" } do
      assert.is_true(to - from < 19 or (failures[method] or 0) > 0, method)
    end
  end)

  it("agree on worlds of thousands of entities", function()
    local last = helper.by_scale { small = 1, normal = 2, deep = 8 }
    local crowd = helper.by_scale { small = 1000, normal = 5000, deep = 5000 }
    runner.run_seeds(1, last, { steps = 400, crowd = crowd })
  end)
end)

describe("a random run", function()
  it("is the same when it is made again from its seed", function()
    for seed = 1, 5 do
      local one = runner.trace(seed, { steps = 300, subject = model_world })
      local two = runner.trace(seed, { steps = 300, subject = model_world })
      assert.are.equal(trace_text.literal(one), trace_text.literal(two))
    end
  end)

  it("takes tables of each world's own for the same when the same is in them", function()
    assert.is_nil(runner.replay {
      { "builtin", at = 1 },
      { "declare", "Box", { "size: i16", "value: any" }, at = 2 },
      { "spawn", { Box = { value = { 5, { six = 7 } } } }, at = 3 },
      { "spawn", { ChildOf = "@3.1" }, at = 4 },
      { "terms", { "ChildOf->Box" }, {}, false, at = 5 },
    })
  end)

  it("finds no difference between the model and itself", function()
    runner.run_seeds(1, 3, { steps = 1000, subject = model_world })
  end)
end)

describe("a difference", function()
  local wrongs = {
    { "a removal that does nothing for one component in three", "remove",
      function(original, world, id, name)
        local component = world:need_component(name)
        if component.id % 3 ~= 1 then
          return original(world, id, name)
        end
        world:need_alive(id)
      end },
    { "a despawn that keeps the name", "kill", function(original, world, id, ...)
      local name = world.names[id]
      original(world, id, ...)
      world.names[id] = name
    end },
    { "a staged set that is not staged", "is_staged", function()
      return false
    end },
    { "a cancel that applies", "cancel", function(_, world)
      world:commit()
    end },
    { "a query that sees one row too few", "count", function(original, world, text)
      local n = original(world, text)
      return n > 3 and n - 1 or n
    end },
  }

  -- Lua alone: nothing that a sanitizer or another build would see.
  for _, wrong in ipairs(helper.scale() == "small" and {} or wrongs) do
    it("is found and shrunk to at most 20 operations: " .. wrong[1], function()
      local failed = find_failure { subject = broken_model(wrong[2], wrong[3]) }
      assert.is_truthy(failed, MOST_SEEDS .. " seeds saw no difference")
      assert.is_true(#failed.trace <= 20, runner.report(failed))
    end)
  end

  it("between the runtime and a broken model is found too", function()
    local failed = find_failure {
      reference = broken_model("add", function(original, world, id, component)
        if id % 2 == 0 then
          return original(world, id, component)
        end
        world:need_alive(id)
        world:need_component(component)
      end),
    }
    assert.is_truthy(failed, MOST_SEEDS .. " seeds saw no difference")
    assert.is_true(#failed.trace <= 20, runner.report(failed))
  end)

  it("stays what it is while it is shrunk", function()
    local wrong = broken_model("spawn_many", function(original, world, count, ...)
      return count == 0 and { 1 } or original(world, count, ...)
    end)
    local failed = find_failure { subject = function(tag)
      local world = wrong(tag)
      function world.spawn(self, components)   -- no random run spawns before it declares
        assert(self.declared[1])
        return getmetatable(self).spawn(self, components)
      end
      return world
    end }
    assert.is_truthy(failed.message:find "^spawn_many gives", failed.message)
    assert.is_true(#failed.trace <= 2, runner.report(failed))
  end)

  it("is reported with its seed and a script that runs the trace again", function()
    local failed = find_failure { subject = broken_model("has", function()
      return false
    end) }
    local report = runner.report(failed)
    assert.is_truthy(report:find("seed " .. failed.seed, 1, true))
    local printed
    local run = assert(load(report, "script", "t", setmetatable({
      print = function(text)
        printed = text
      end,
    }, { __index = _G })))
    run()
    assert.are.equal("no difference", printed)
  end)
end)

-- What a chunk prints in an interpreter of its own, where tables are hashed by another seed.
local function in_another_process(chunk)
  local at = -1
  while arg[at - 1] do
    at = at - 1
  end
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(("package.path, package.cpath = %q, %q\n"):format(package.path, package.cpath), chunk)
  file:close()
  local pipe = assert(io.popen(("%s %s"):format(arg[at], path)))
  local printed = pipe:read("a")
  pipe:close()
  os.remove(path)
  return printed
end

describe("the order of rows", function()
  it("is the same in another process", function()
    helper.needs_processes(pending)
    for seed = 1, helper.by_scale { small = 2, normal = 5, deep = 20 } do
      local printed = in_another_process(([[
        local orders = require("spec.support.runner").orders(%d, { steps = 500 })
        io.write(orders.text)
      ]]):format(seed))
      assert.are.equal(runner.orders(seed, { steps = 500 }).text, printed)
    end
  end)

  it("is the same in every run of the same program", function()
    for seed = 1, helper.by_scale { small = 3, normal = 10, deep = 50 } do
      local one = runner.orders(seed, { steps = 500 })
      collectgarbage()
      local two = runner.orders(seed, { steps = 500 })
      assert.are.same(one, two)
    end
  end)
end)
