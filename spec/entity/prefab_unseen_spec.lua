-- Where prefabs are seen and where not: whatever goes through entities passes over them, an id that
-- a script has is honoured, and paths of queries stop at them. With kernels, threads, and without.

local helper = require "spec.support.ecs_helper"

local WORLDS = { kernels = {}, threads = { threads = 3 }, plain = { kernels = false } }

-- Red is a prefab with all that is asked for, Blue an entity; a and b are tied to them, and so is
-- the prefab Pre.
local function scene(options)
  local s = { world = helper.new_world(options) }
  local world = s.world
  world:component("Color", { "n: i32" })
  world:component("Far", { "n: i32", storage = "sparse" })
  world:component("Ref", { "to: entity" })
  world:component("Out", { "a: i32", "b: i32", "c: i32", "d: i32" })
  world:relation("Team", { exclusive = true })
  world:relation("Likes", { "how: i32" })
  world:event("Hit", { "who: entity" })
  s.red = world:prefab("Red", { Color = { 1 }, Far = { 2 } }, { children = { { Color = { 3 } } } })
  s.blue = world:spawn { Color = { 10 }, Far = { 20 } }
  s.a = world:spawn { Out = {}, Ref = { s.red }, Team = s.red, Likes = { s.red, s.blue } }
  s.b = world:spawn { Out = {}, Ref = { s.blue }, Team = s.blue, Likes = { s.blue } }
  s.pre = world:prefab("Pre", { Ref = { s.blue }, Team = s.blue, Likes = { s.red, s.blue } })
  return s
end

local function each_world(name, fn)
  for kind, options in pairs(WORLDS) do
    it(name .. " (" .. kind .. ")", function()
      local s = scene(options)
      fn(s, s.world, kind ~= "plain" and "vector" or "lua")
    end)
  end
end

local function count(...)
  local n = 0
  for _ in ... do n = n + 1 end
  return n
end

describe("C87: prefabs", function()
  each_world("are no sources of others, but have children", function(s, world)
    assert.equal(world:count("(Team, $t)", { t = s.blue }), count(world:sources(s.blue, "Team")))
    assert.same({ 1, 1, 2, 1 }, { count(world:sources(s.blue, "Team")),
      count(world:sources(s.red, "Team")), count(world:sources(s.blue, "Likes")),
      count(world:sources(s.red, "Likes")) })
    world:prefab("Deep", {}, { is_a = "Red" })
    assert.equal(0, count(world:sources(s.red, "IsA")))
    local made = world:instantiate "Red"
    assert.same({ made }, { world:sources(s.red, "IsA")() })
    assert.same({ 1, 1 }, { count(world:children(s.red)), count(world:sources(s.red, "ChildOf")) })
    assert.equal(1, count(world:children(made)))
  end)

  each_world("are no sources for the loops of kernels", function(s, world, tier)
    world:system("count", { query = "Out, Ref:in", each = function(out, ref)
      for _ in world:sources(ref.to, "Team") do out.a = out.a + 1 end
      for _ in world:sources(ref.to, "Likes") do out.b = out.b + 1 end
      for _ in world:children(ref.to) do out.c = out.c + 1 end
      for _ in world:targets(ref.to, "Likes") do out.d = out.d + 1 end
    end })
    world:set(s.b, "Ref", s.pre)
    world:set(s.a, "Out", 0, 0, 0, 0)
    world:run "count"
    assert.equal(tier, world:explain("count").tier)
    assert.same({ 1, 1, 1, 0 }, { world:get(s.a, "Out") })
    assert.same({ 0, 0, 0, 2 }, { world:get(s.b, "Out") })
  end)

  each_world("are honoured where their ids are", function(s, world, tier)
    assert.same({ s.red, 1, 2 }, { world:target(s.a, "Team"), world:get(s.red, "Color"),
      (world:get(s.red, "Far")) })
    assert.equal(s.blue, world:target(s.pre, "Team"))
    assert.equal(2, count(world:targets(s.a, "Likes")))
    assert.equal(2, count(world:targets(s.pre, "Likes")))
    assert.is_true(world:has(s.a, "Team", s.red) and world:alive(world:get(s.a, "Ref")))
    assert.same({ s.a }, world:query("(Team, $t)", { t = s.red }):ids())
    assert.equal(3, world:count "(Likes, *)")
    world:system("get", { query = "Out, Ref:in", each = function(out, ref, _, e)
      out.a = world:get(ref.to, "Color.n")
      out.b = world:get(world:target(e, "Team"), "Color.n")
    end })
    world:run "get"
    assert.equal(tier, world:explain("get").tier)
    assert.same({ 1, 1 }, { world:get(s.a, "Out.a"), (world:get(s.a, "Out.b")) })
    world:set(s.red, "Color", 5)
    assert.equal(5, (world:get(s.red, "Color")))
  end)

  each_world("are the end of paths, as entities without the component", function(s, world, tier)
    world:emit("Hit", s.red)
    world:emit("Hit", s.blue)
    for text, wanted in pairs {
      ["Out, Team->Color"] = 1, ["Out, Team*->Color"] = 1, ["Out, Team->Color?"] = 2,
      ["Out, Ref.to->Color"] = 1, ["Out, Ref.to->Far"] = 1, ["Out, Team->Far"] = 1,
      ["(Team, $t), Color($t)"] = 1, ["(Likes, $t), Color($t)"] = 2,
      ["(Likes, $t), Color($t), Out"] = 2, ["Hit, Hit.who->Color"] = 1,
    } do
      local query = world:query(text)
      assert.equal(wanted, query:count(), text)
      assert.equal(wanted, query:sum(function() return 1 end), text)
    end
    world:system("add", { query = "Out, Team->Color:in", each = function(out, color)
      out.a = color.n
    end })
    world:system("maybe", { query = "Out, Ref.to->Color?:in", each = function(out, color)
      out.b = color and color.n or -1
    end })
    world:system("far", { query = "Out, Team*->Far:in", each = function(out, far)
      out.c = far.n
    end })
    world:update(0)
    for _, name in ipairs { "add", "maybe", "far" } do
      assert.equal(tier, world:explain(name).tier)
    end
    assert.same({ 0, -1, 0, 0 }, { world:get(s.a, "Out") })
    assert.same({ 10, 10, 20, 0 }, { world:get(s.b, "Out") })
  end)

  each_world("are passed through by no path but IsA", function(s, world)
    world:set(s.red, "Team", s.blue)
    assert.equal(1, world:count "Out, Team*->Color")
    world:prefab("Elf", { Out = true }, { shared = { Color = { 4 } } })
    world:prefab("High", {}, { is_a = "Elf" })
    world:instantiate "High"
    assert.same({ 1, 0 }, { world:count "Out, IsA*->Color", world:count "Out, IsA->Color" })
    world:instantiate "Elf"
    assert.same({ 2, 1 }, { world:count "Out, IsA*->Color", world:count "Out, IsA->Color" })
  end)

  each_world("are in no index, and no observer hears of them", function(s, world)
    local told = {}
    for _, on in ipairs { "add", "set", "remove", "enter" } do
      world:observer(on, { on = on, query = "Color", each = function(_, e)
        told[#told + 1] = e
      end })
    end
    local index = world:index("colors", { query = "Color:in", hash = "n" })
    world:set(s.red, "Color", 10)
    world:prefab("Late", { Color = { 10 } })
    world:remove(s.red, "Color")
    world:add(s.red, "Color")
    local found = {}
    for _, e in index:find(10) do found[#found + 1] = e end
    assert.same({ s.blue }, found)
    assert.same({}, told)
  end)
end)
