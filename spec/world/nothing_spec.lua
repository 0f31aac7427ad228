-- What is annotated without a result gives none, so that results cannot come to be relied on.

local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

local function nop() end

-- Calls of them in a scene: see `scene`. One that changes a scope leaves none open, but defer.
local calls = {
  ["ecs.save_file"] = function(s) return ecs.save_file(s.world, s.path) end,
  ["ecs.load_file"] = function(s)
    ecs.save_file(s.world, s.path)
    return ecs.load_file(s.world, s.path)
  end,
  ["World:close"] = function(s) return s.world:close() end,
  ["World:emit"] = function(s) return s.world:emit("E", 1) end,
  ["World:after"] = function(s) return s.world:after(1, "E", 1) end,
  ["World:undeclare"] = function(s) return s.world:undeclare "Q" end,
  ["World:load"] = function(s) return s.world:load(s.world:save()) end,
  ["World:restore"] = function(s) return s.world:restore(s.world:snapshot()) end,
  ["World:despawn"] = function(s) return s.world:despawn(s.e) end,
  ["World:set"] = function(s) return s.world:set(s.e, "P", 1, 2) end,
  ["World:set_text"] = function(s) return s.world:set_text(s.e, "Q.n", "1") end,
  ["World:add"] = function(s) return s.world:add(s.e, "T") end,
  ["World:remove"] = function(s) return s.world:remove(s.e, "Q") end,
  ["World:entity_range"] = function(s) return s.world:entity_range(70000, 80000) end,
  ["World:defer"] = function(s) return s.world:defer() end,
  ["World:commit"] = function(s)
    s.world:defer()
    return s.world:commit()
  end,
  ["World:cancel"] = function(s)
    s.world:defer()
    return s.world:cancel()
  end,
  ["World:system"] = function(s) return s.world:system("new", { run = nop }) end,
  ["World:observer"] = function(s)
    return s.world:observer("new", { on = "add", query = "P", each = nop })
  end,
  ["World:remove_system"] = function(s) return s.world:remove_system "s" end,
  ["World:phase"] = function(s) return s.world:phase("new", { after = "update" }) end,
  ["World:disable"] = function(s) return s.world:disable(s.e, "Q") end,
  ["World:enable"] = function(s) return s.world:enable(s.e, "Q") end,
  ["World:switch"] = function(s) return s.world:switch("s", false) end,
  ["World:update"] = function(s) return s.world:update(1) end,
  ["World:run"] = function(s) return s.world:run("s", 1) end,
  ["World:on_error"] = function(s) return s.world:on_error(nop) end,
  ["Query:each"] = function(s) return s.query:each(function() return 1 end, 1) end,
  ["Query:map"] = function(s) return s.world:query("P.x"):map(function(x) return x end, 1) end,
  ["Query:run"] = function(s) return s.query:run(function(p) p.x = 1 end, 1) end,
  ["Query:despawn"] = function(s) return s.where:despawn() end,
  ["Query:add"] = function(s) return s.where:add "T" end,
  ["Query:remove"] = function(s) return s.where:remove "Q" end,
  ["Query:set"] = function(s) return s.where:set("P", 3) end,
  ["Column:write"] = function(s)
    local step, loop = s.query:chunks()
    return step(loop):column("P.x"):write { 5 }
  end,
  ["Array:fill"] = function(s) return s.array:fill(1) end,
  ["Array:copy"] = function(s) return s.array:copy(s.array) end,
  ["Array:write"] = function(s) return s.array:write { 1 } end,
  ["World:reset_counters"] = function(s) return s.world:reset_counters() end,
  ["native.declare"] = false,  -- these are not for scripts
  ["native.methods"] = false,
  ["native.whole"] = false,
  ["native.schema"] = false,
}

local function scene()
  local world = helper.new_world()
  world:component("P", { "x: f32", "y: f32" })
  world:component("Q", { "n: i32", toggle = true })
  world:tag "T"
  world:event("E", { "x: f32" })
  world:system("s", { run = nop })
  local query = world:query "P"
  return {
    world = world, e = world:spawn { P = {}, Q = {} }, query = query, path = os.tmpname(),
    array = world:array("grid", "f32", 2), where = query:where(function(p) return p.x == 0 end),
  }
end

-- The functions of lua/ecs/types.lua that have no `@return`.
local function without_result()
  local names, has_result = {}, false
  for line in io.lines "lua/ecs/types.lua" do
    has_result = line ~= "" and (has_result or line:find "^%-%-%-@return" ~= nil)
    local name = line:match "^function ([%w_.:]+)%("
    if name and not has_result then
      names[#names + 1] = name
    end
    has_result = not name and has_result
  end
  return names
end

describe("a function that is annotated without a result", function()
  for _, name in ipairs(without_result()) do
    it("gives none: " .. name, function()
      local call = calls[name]
      assert.is_not_nil(call, "a call of it is missing here")
      if call then
        local s = scene()
        assert.are.equal(0, select("#", call(s)))
        pcall(s.world.cancel, s.world)
        os.remove(s.path)
      end
    end)
  end
end)
