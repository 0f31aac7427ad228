-- A name that is none, but nearly one of those that are known, is answered with that one,
-- whether it is the first of them, the last or one between.

local helper = require "spec.support.ecs_helper"

local function nop() end

-- kind of name -> the known ones, and what is done with a name that is none.
local kinds = {
  phases = { { "startup", "pre_update", "update", "post_update", "render" }, function(world, name)
    world:system("s", { phase = name, run = nop })
  end },
  ["phases and systems"] = {
    { "startup", "render", "first", "middle", "last" }, function(world, name)
      world:switch(name, true)
    end },
  systems = { { "first", "middle", "last" }, function(world, name) world:remove_system(name) end },
  components = { { "Alpha", "Middle", "Omega" }, function(world, name) world:count(name) end },
  fields = { { "first", "between", "final" }, function(world, name)
    world:spawn { Alpha = { [name] = 1 } }
  end },
  ["fields in queries"] = { { "first", "between", "final" }, function(world, name)
    world:query("Alpha." .. name)
  end },
  ["fields of views"] = { { "first", "between", "final" }, function(world, name)
    return world:res("Alpha")[name]
  end },
  ["field types"] = { { "f32", "u32", "i16", "bool", "entity", "string", "Alpha", "Omega" },
    function(world, name) world:component("New", { "x: " .. name }) end },
  ["names of an enum"] = { { "calm", "angry", "furious" }, function(world, name)
    world:spawn { Middle = { name } }
  end },
  ["options of a system"] = { { "after", "array", "before", "compile", "each", "enabled",
    "every", "phase", "query", "when" }, function(world, name)
    world:system("s", { [name] = 1, run = nop })
  end },
  ["options of a phase"] = { { "after", "before", "fixed" }, function(world, name)
    world:phase("p", { [name] = 1 })
  end },
}

local function new_world()
  local world = helper.new_world()
  world:component("Alpha", { "first: f32", "between: f32", "final: f32" })
  world:component("Middle", { "mood: enum(calm, angry, furious)" })
  world:tag "Omega"
  world:resource "Alpha"
  for _, name in ipairs { "first", "middle", "last" } do
    world:system(name, { run = nop })
  end
  return world
end

describe("the nearest known name", function()
  for kind, case in pairs(kinds) do
    it("is told among " .. kind, function()
      local world = new_world()
      for _, known in ipairs(case[1]) do
        -- One letter too many, at the front: nothing that is sorted or cut hides it.
        helper.has_error(function() case[2](world, "x" .. known) end,
          ("did you mean '%s'"):format(known))
      end
      helper.check(world)
    end)
  end

  it("is the first by its letters of those that are as near, whatever came first", function()
    for _, order in ipairs { { "Pfc", "Pfa", "Pfab" }, { "Pfab", "Pfa", "Pfc" } } do
      local world = helper.new_world()
      for _, name in ipairs(order) do
        world:tag(name)
      end
      helper.has_error(function() world:query "Pf" end, "did you mean 'Pfa'")
      helper.has_error(function() world:query "Pfb" end, "did you mean 'Pfa'")
    end
  end)
end)
