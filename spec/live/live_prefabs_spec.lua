-- Prefabs that live scripts declare.

local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"
local live_scene = require "spec.support.live_scene"

local ORC = [[local world, script = ...
  world:component("Health", { "hp: %s" })
  world:prefab("Orc", { Health = { hp = %s } }, { children = { axe = { Health = true } } })
  world:prefab("Chief", { Health = {} }, { is_a = "Orc" })
  script:on_load(function() script.state.orc = world:instantiate "Orc" end)]]

describe("a prefab of a live script", function()
  local world, files, errors, open

  before_each(function()
    world, files, errors, open = live_scene.new()
  end)

  local function hp(name)
    return (world:get(world:instantiate(name), "Health.hp"))
  end

  it("is there for what comes when the script is loaded, and follows its edits", function()
    files:write("a.lua", ORC:format("f64", 10))
    local session = open()
    assert.are.same({}, errors)
    local orc = world:query("Health, !ChildOf"):first()
    assert.are.equal(10.0, (world:get(orc, "Health.hp")))
    files:write("a.lua", ORC:format("i32", 25))
    assert.is_true(helper.poll(session))
    assert.are.equal(25, (world:get(orc, "Health.hp")))
    assert.are.equal(25, hp "Chief")
    assert.are.same({}, errors)
  end)

  it("may be made of one that stands behind it, or in a later file", function()
    files:write("a.lua", [[local world = ...
      world:component("Health", { "hp: f64" })
      world:prefab("Chief", { Health = { 30 } }, { is_a = "Orc" })
      world:prefab("Orc", {}, { is_a = "Beast", children = {
        { "axe", {}, { is_a = "Tool" } } } })]])
    files:write("b.lua", [[local world = ...
      world:prefab("Beast", { Health = { 7 } })
      world:prefab("Tool", { Health = { 1 } })]])
    open()
    assert.are.same({}, errors)
    assert.are.equal(30.0, hp "Chief")
    assert.are.equal(7.0, hp "Orc")
  end)

  -- What a component with rows and a prefab with values of it are before an edit and behind it, and
  -- what reads 4 then.
  local GROWN = {
    { "'x: f64'", "{ 1 }", "'x: f64', 'y: f64'", "{ 1, 4 }", "C.y" },
    { "'x: f64'", "{ x = 1 }", "'x: f64', 'y: f64'", "{ y = 4 }", "C.y" },
    { "'x: f64'", "{ x = 1 }", "'z: f64', was = { z = 'x' }", "{ z = 4 }", "C.z" },
    { "'x: string'", "{ 'a' }", "'y: u8'", "{ 4 }", "C.y" },
    { "", "true", "'x: i16'", "{ 4 }", "C.x" },
    { "'m: u8[2]'", "{ { 1, 2 } }", "'m: u8[3]'", "{ { 1, 2, 4 } }", "C.m[3]" },
    { "'in: Inner'", "{}", "'two: Inner[2]'", "{ { {}, { n = 4 } } }", "C.two[2].n" },
  }
  local SCENE = [[local world, script = ...
    world:component("Inner", { "n: i32" })
    world:component("C", { %s })
    world:prefab("P", { C = %s }, { children = { { "part", { C = %s } } } })
    script:on_load(function() world:spawn { C = true } end)]]

  it("may have values for fields that its component gets in the same edit", function()
    for _, case in ipairs(GROWN) do
      world, files, errors, open = live_scene.new()
      files:write("a.lua", SCENE:format(case[1], case[2], case[2]))
      local session = open()
      files:write("a.lua", SCENE:format(case[3], case[4], "{ no = 1 }"))
      assert.is_false(helper.poll(session))
      assert.is_truthy(errors[1]:find("component 'C' has no field 'no'", 1, true))
      files:write("a.lua", SCENE:format(case[3], case[4], case[4]))
      assert.is_true(helper.poll(session))
      local copy = world:instantiate "P"
      assert.are.equal(4, (world:get(copy, case[5])))
      for part in world:children(copy) do assert.are.equal(4, (world:get(part, case[5]))) end
    end
  end)

  it("that is refused leaves to its component's name what that was", function()
    files:write("a.lua", [[local world = ...
      world:component("C", { "x: f64 = 7" })]])
    local session = open()
    local old = world:spawn { C = true }
    world:load(world:save())   -- the name is found anew
    files:write("a.lua", [[local world = ...
      world:component("C", { "s: string", "x: f64[3]", "y: f64" })
      world:prefab("P", { C = { no = 1 } })]])
    assert.is_false(helper.poll(session))
    assert.is_truthy(errors[1]:find("component 'C' has no field 'no'", 1, true))
    for _ = 1, 3 do
      local new = world:spawn { C = {} }
      assert.are.same({ 7.0 }, { world:get(new, "C") })
      world:set(new, "C", { x = 3 })
      world:set(old, "C", 4)
      assert.are.same({ 3.0, 4.0 }, { world:get(new, "C.x"), (world:get(old, "C")) })
      assert.is_false((pcall(world.set, world, new, "C", { y = 1 })))
    end
    assert.are.equal(4, world:query("C"):count())
  end)

  -- An edit that makes sense, and what has the value 30 then; or one that is refused.
  local function edit(rng, value)
    local kind = rng:pick { "f64", "f32", "i32", "i16" }
    if rng:chance(25) then
      return ORC:format(kind, rng:pick { "'much'", "{}", "1 } }) error('oh", "2, nothing = 3" })
    end
    return ORC:format(kind, value), value
  end

  it("loses nothing by thirty random edits", function()
    local rng = random.new(7)
    files:write("a.lua", ORC:format("f64", 10))
    local session, now = open(), 10
    local own = world:instantiate("Orc", { Health = { hp = 99 } })
    local orcs = { world:instantiate "Orc", world:instantiate "Chief", world:clone(own) }
    for _ = 1, 30 do
      local text, value = edit(rng, rng:int(90))
      files:write("a.lua", text)
      local ok = helper.poll(session)
      now = value or now
      assert.are.equal(value and true or false, ok)
      for i, id in ipairs(orcs) do
        assert.are.equal(i == 3 and 99.0 or now + 0.0, world:get(id, "Health.hp") + 0.0)
      end
      assert.are.equal(99.0, world:get(own, "Health.hp") + 0.0)
      assert.are.equal(10, world:count "Health")
    end
  end)

  it("stays when its script goes, and is taken up by the next one", function()
    files:write("a.lua", ORC:format("f64", 10))
    local session = open()
    files:write("a.lua", "")
    assert.is_true(helper.poll(session))
    assert.are.equal(10.0, hp "Orc")
    files:write("b.lua", ORC:format("f64", 11))
    assert.is_true(helper.poll(session))
    assert.are.equal(11.0, hp "Orc")
    assert.are.same({}, errors)
  end)

  it("is not changed when another file fails, or it names what is not there", function()
    files:write("a.lua", ORC:format("f64", 10))
    local session = open()
    for _, text in ipairs {
      ORC:format("f64", 12) .. " error 'oh'",
      ORC:format("f64", 12) .. " world:prefab('Elf', { Nowhere = true })",
      ORC:format("f64", 12) .. " world:prefab('Elf', {}, { is_a = 'Troll' })",
      ORC:format("f64", 12) .. " world:prefab('Elf', {}, { shared = { 'Nowhere' } })",
      ORC:format("f64", 12) .. " world:prefab('Elf', 7)",
    } do
      local digest = world:digest()
      files:write("a.lua", text)
      assert.is_false((helper.poll(session)))
      assert.is_truthy(errors[#errors]:find("a.lua", 1, true))
      assert.are.equal(digest, world:digest())
    end
    files:write("a.lua", ORC:format("f64", 10))
    files:write("b.lua", "local world = ... world:prefab('Orc', {})")
    assert.is_false((helper.poll(session)))
    assert.is_truthy(errors[#errors]:find("prefab 'Orc' is also declared in", 1, true))
  end)

  it("whose values make no sense refuses the reload, with the place", function()
    files:write("a.lua", ORC:format("f64", 10))
    local session = open()
    for _, text in ipairs { ORC:format("f64", "'many'"), ORC:format("u8", "300"),
                            ORC:format("u8", "2, mp = 3") } do
      files:write("a.lua", text .. " world:tag 'Further'")
      local ok, message = helper.poll(session)
      assert.is_false(ok)
      assert.is_truthy(message:find("a.lua:3: ", 1, true))
      assert.is_truthy(message:find("Health", 1, true))
      assert.are.equal(10.0, hp "Orc")
      assert.has_error(function() world:count "Further" end)
    end
    files:write("a.lua", ORC:format("u8", "30"))
    assert.is_true(helper.poll(session))
    assert.are.equal(30, hp "Orc")
  end)
end)
