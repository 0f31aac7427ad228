local helper = require "spec.support.ecs_helper"
local hearing = require "spec.support.hearing"

local has_error = helper.has_error

local KINDS, new_world = hearing.KINDS, hearing.new_world
local watch, show_x = hearing.watch, hearing.show_x

describe("an observer of deaths", function()
  it("is told what to write in the place of a dead id", function()
    local world = helper.new_world()
    world:tag "Crate"
    world:event("Gone", { "who: entity", "id: i64" })
    world:observer("tell", { on = "despawn", query = "Crate",
      each = function(e) world:emit("Gone", e, 0) end })
    helper.has_error(function() world:despawn(world:spawn { Crate = true }) end,
      "is dead (pass ecs.null, or keep ids of dead entities in an i64 field)")
    world:observer("tell", { on = "despawn", query = "Crate",
      each = function(e) world:emit("Gone", 0, e) end })
    local crate = world:spawn { Crate = true }
    world:despawn(crate)
    for gone in world:events "Gone" do assert.equal(crate, gone.id) end
  end)
end)

describe("world:observer", function()
  it("is called for what comes to match and ceases to, by what is done outside of scopes (C87)",
    function()
      local world = new_world()
      local heard = watch(world, "Position", show_x)
      local e = world:spawn { Position = { x = 1 } }
      assert.are.same({ "add 1.0", "enter 1.0", "set 1.0" }, heard())
      world:set(e, "Position.x", 2)
      assert.are.same({ "set 2.0" }, heard())
      world:set(e, "Position", { x = 3, y = 4 })
      assert.are.same({ "set 3.0" }, heard())
      world:remove(e, "Position")
      assert.are.same({ "exit 3.0", "remove 3.0" }, heard())
      world:add(e, "Position")
      assert.are.same({ "add 0.0", "enter 0.0" }, heard())
      world:add(e, "Health")
      world:add(e, "Position")
      assert.are.same({}, heard())
      world:despawn(e)
      assert.are.same({ "exit 0.0", "remove 0.0", "despawn 0.0" }, heard())
    end)

  it("add, set and remove watch the first term, enter and exit the whole query", function()
    local world = new_world()
    local heard = watch(world, "Position, !Frozen", show_x)
    local e = world:spawn { Position = { x = 1 }, Frozen = true }
    assert.are.same({}, heard())
    world:remove(e, "Frozen")
    assert.are.same({ "enter 1.0" }, heard())
    world:add(e, "Frozen")
    assert.are.same({ "exit 1.0" }, heard())
    world:set(e, "Position.x", 2)
    world:despawn(e)
    assert.are.same({}, heard())
  end)

  it("sees what a scope has changed when the outermost one ends, an entity once", function()
    local world = new_world()
    local heard = watch(world, "Position", show_x)
    world:defer()
    world:defer()
    local e = world:spawn { Position = { x = 1 } }
    world:set(e, "Position.x", 2)
    world:set(e, "Position.x", 3)
    world:commit()
    assert.are.same({}, heard())
    world:commit()
    assert.are.same({ "add 3.0", "enter 3.0", "set 3.0" }, heard())
    world:defer()
    world:set(e, "Position.x", 4)
    world:set(e, "Position.x", 5)
    assert.are.same({}, heard())
    world:commit()
    assert.are.same({ "set 5.0" }, heard())
  end)

  it("hears nothing of a scope that is cancelled, nor of what is gone when it ends", function()
    local world = new_world()
    local e = world:spawn { Position = { x = 1 } }
    local heard = watch(world, "Position", show_x)
    world:defer()
    world:set(e, "Position.x", 2)
    world:spawn { Position = { x = 9 } }
    world:remove(e, "Position")
    world:cancel()
    assert.are.same({}, heard())
    world:defer()
    world:despawn(world:spawn { Position = { x = 9 } })
    world:add(e, "Frozen")
    world:commit()
    assert.are.same({}, heard())
  end)

  it("hears of removing and adding again in one round as set, if values were given", function()
    local world = new_world()
    local e = world:spawn { Position = { x = 1 } }
    local heard = watch(world, "Position", show_x)
    world:defer()
    world:remove(e, "Position")
    world:add(e, "Position")
    world:commit()
    assert.are.same({}, heard())
    world:defer()
    world:set(e, "Position.x", 7)
    world:remove(e, "Position")
    world:add(e, "Position")
    world:commit()
    assert.are.same({}, heard())
    world:defer()
    world:remove(e, "Position")
    world:set(e, "Position", { x = 5 })
    world:commit()
    assert.are.same({ "set 5.0" }, heard())
  end)

  it("is called by kind, then as registered, then by first command", function()
    local world = new_world()
    local log = {}
    for _, name in ipairs { "b", "a" } do
      for i = #KINDS, 1, -1 do
        local on = KINDS[i]
        world:observer(name .. on, { on = on, query = "Position:in", each = function(p)
          log[#log + 1] = ("%s%s%d"):format(name, on, p.x)
        end })
      end
    end
    local e = world:spawn { Position = { x = 1 } }
    local f = world:spawn { Position = { x = 2 } }
    log = {}
    world:defer()
    world:set(f, "Position.x", 3)
    world:despawn(e)
    world:spawn { Position = { x = 4 } }
    world:spawn { Position = { x = 5 } }
    world:commit()
    assert.are.same({
      "bexit1", "aexit1", "bremove1", "aremove1", "bdespawn1", "adespawn1",
      "badd4", "badd5", "aadd4", "aadd5", "benter4", "benter5", "aenter4", "aenter5",
      "bset3", "bset4", "bset5", "aset3", "aset4", "aset5",
    }, log)
  end)

  it("counts as first command what is there already, too", function()
    local world = new_world()
    world:relation "Likes"
    world:tag "Calm"
    local e, heard = world:spawn { Calm = true }, nil
    world:add(e, "Likes", e)
    world:observer("note", { on = "set", query = "Position:in", each = function(p)
      heard[#heard + 1] = p.x
    end })
    for _, first in ipairs { { "Likes", e }, { "Calm" } } do
      heard = {}
      world:defer()
      world:add(e, table.unpack(first))
      world:spawn { Position = { x = 2 } }
      world:set(e, "Position.x", 1)
      world:commit()
      assert.are.same({ 1.0, 2.0 }, heard)
    end
  end)

  it("is given views, then the entity; what was is read-only, and alive says that it died",
    function()
      local world = new_world()
      local alive, id
      world:observer("gone", { on = "despawn", query = "Position, Health?",
        each = function(p, health, e)
          assert.are.equal(1, p.x)
          assert.is_nil(health)
          alive, id = world:alive(e), e
          has_error(function() p.x = 2 end, "'Position' is read-only")
        end })
      world:observer("here", { on = "add", query = "Position", each = function(p) p.y = 8 end })
      local e = world:spawn { Position = { x = 1 } }
      assert.are.equal(8, select(2, world:get(e, "Position")))
      world:despawn(e)
      assert.are.same({ false, e }, { alive, id })
    end)

  it("shows ids of the dead as they were, and any values and strings, in copies only", function()
    local world = helper.new_world()
    world:component("Hunt", { "prey: entity", "note: string", "why: any" })
    local seen = {}
    world:observer("was", { on = "exit", query = "Hunt", each = function(hunt)
      world:spawn {}
      collectgarbage()
      seen = { hunt.prey, hunt.note, hunt.why }
    end })
    world:observer("field", { on = "exit", query = "Hunt.prey", each = function(prey)
      seen[4] = prey
    end })
    local why = {}
    local prey = world:spawn {}
    local hunter = world:spawn { Hunt = { prey = prey, note = "near " .. 1, why = why } }
    world:defer()
    world:despawn(prey)
    world:despawn(hunter)
    world:commit()
    assert.are.same({ prey, "near 1", why, prey }, seen)
    assert.are.equal(why, seen[3])
  end)

  it("shows nobody for who had died before, whether or not the cell was written since", function()
    for _, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels }
      world:component("Hunt", { "prey: entity", "hungry: bool" })
      local seen = {}
      world:observer("was", { on = "remove", query = "Hunt", each = function(hunt)
        seen[#seen + 1] = hunt.prey
      end })
      local prey = world:spawn {}
      local first = world:spawn { Hunt = { prey = prey } }
      local second = world:spawn { Hunt = { prey = prey } }
      world:despawn(prey)
      world:remove(first, "Hunt")
      world:query("Hunt"):each(function(hunt, _, e)
        if hunt.hungry then hunt.prey = e end
      end)
      world:despawn(second)
      assert.are.same({ 0, 0 }, seen)
    end
  end)

  it("sees switching on and off as entering and leaving, not as adding", function()
    local world = new_world()
    world:component("AI", { "mood: i32", toggle = true })
    local heard = watch(world, "AI", function(ai) return tostring(ai.mood) end)
    local e = world:spawn { AI = { mood = 4 } }
    assert.are.same({ "add 4", "enter 4", "set 4" }, heard())
    world:disable(e, "AI")
    assert.are.same({ "exit 4" }, heard())
    world:disable(e, "AI")
    assert.are.same({}, heard())
    world:enable(e, "AI")
    assert.are.same({ "enter 4" }, heard())
    world:defer()
    world:disable(e, "AI")
    world:enable(e, "AI")
    world:commit()
    assert.are.same({}, heard())
  end)

  it("sees sparse components", function()
    local world = new_world()
    world:component("Mark", { "n: i32", storage = "sparse" })
    local heard = watch(world, "Mark, Position?", function(mark, p)
      return ("%d %s"):format(mark.n, p and p.x)
    end)
    local e = world:spawn { Position = { x = 1 } }
    world:set(e, "Mark", { n = 2 })
    assert.are.same({ "add 2 1.0", "enter 2 1.0", "set 2 1.0" }, heard())
    world:set(e, "Mark.n", 3)
    assert.are.same({ "set 3 1.0" }, heard())
    world:remove(e, "Mark")
    assert.are.same({ "exit 3 1.0", "remove 3 1.0" }, heard())
  end)

  it("sees pairs, once for each target of a *, and ties of exclusive relations", function()
    local world = new_world()
    world:relation("Likes", { "much: i32" })
    world:relation("Target", { exclusive = true })
    local name = {}
    local pairs_heard = watch(world, "(Likes, *)", function(likes, _, to)
      return likes.much .. name[to]
    end)
    local tied = {}
    for _, on in ipairs { "add", "remove", "enter", "exit", "set" } do
      world:observer("tie " .. on, { on = on, query = "(Target, *)", each = function(...)
        local _, to = select(-2, ...)
        tied[#tied + 1] = on .. name[to]
      end })
    end
    local a, b, e = world:spawn(), world:spawn(), world:spawn()
    name = { [a] = "a", [b] = "b" }
    world:set(e, "Likes", a, { much = 1 })
    assert.are.same({ "add 1a", "enter 1a", "set 1a" }, pairs_heard())
    world:add(e, "Likes", b)
    assert.are.same({ "add 0b", "enter 0b" }, pairs_heard())
    world:remove(e, "Likes", a)
    assert.are.same({ "exit 1a", "remove 1a" }, pairs_heard())
    world:add(e, "Target", a)
    assert.are.same({ "adda", "entera", "seta" }, tied)
    tied = {}
    world:add(e, "Target", b)
    assert.are.same({ "exita", "removea", "addb", "enterb", "setb" }, tied)
    tied = {}
    world:despawn(b)
    assert.are.same({ "exitb", "removeb" }, tied)
    assert.are.same({ "exit 0b", "remove 0b" }, pairs_heard())
  end)

  it("watches ties to who is given, and stays silent once that one is dead", function()
    local world = new_world()
    world:relation("Likes", { "much: i32" })
    world:relation("Rides", { "since: i32", exclusive = true })
    local one, two, e = world:spawn(), world:spawn(), world:spawn()
    local log = {}
    for _, query in ipairs { "(Likes, $p)", "(Rides, $p)" } do
      for _, on in ipairs { "add", "remove", "enter", "exit", "set" } do
        world:observer(on .. query, { on = on, query = query, ["$p"] = one, each = function(_, id)
          log[#log + 1] = on .. query:sub(2, 2)
          assert.are.equal(e, id)
        end })
      end
    end
    local function heard()
      local text = table.concat(log, " ")
      log = {}
      return text
    end
    world:add(e, "Likes", two)
    world:add(e, "Rides", two)
    assert.are.equal("", heard())
    world:set(e, "Likes", one, { much = 2 })
    world:add(e, "Rides", one)
    assert.are.equal("addL enterL setL addR enterR setR", heard())
    world:set(e, "Rides.since", 4)
    assert.are.equal("setR", heard())
    world:add(e, "Rides", two)
    assert.are.equal("exitR removeR", heard())
    world:despawn(one)
    assert.are.equal("exitL removeL", heard())
    world:add(e, "Likes", world:spawn())
    assert.are.equal("", heard())
  end)

  it("is called for all that die by others' deaths, in that order", function()
    local world = new_world()
    local heard = watch(world, "Position", show_x, { "exit", "despawn" })
    local root = world:spawn { Position = { x = 1 } }
    local child = world:spawn { Position = { x = 2 }, ChildOf = root }
    world:spawn { Position = { x = 3 }, ChildOf = child }
    world:spawn { Position = { x = 4 }, ChildOf = root }
    world:despawn(root)
    assert.are.same({ "exit 1.0", "exit 2.0", "exit 4.0", "exit 3.0",
      "despawn 1.0", "despawn 2.0", "despawn 4.0", "despawn 3.0" }, heard())
  end)

  it("hears of what is done to many at once", function()
    local world = new_world()
    local heard = watch(world, "Position", show_x)
    world:spawn_many(2, { Position = { x = 1 } })
    assert.are.same({ "add 1.0", "add 1.0", "enter 1.0", "enter 1.0", "set 1.0", "set 1.0" },
      heard())
    local query = world:query "Position"
    query:set("Position", { x = 2 })
    assert.are.same({ "set 2.0", "set 2.0" }, heard())
    query:remove "Position"
    assert.are.same({ "exit 2.0", "exit 2.0", "remove 2.0", "remove 2.0" }, heard())
    world:query("!Position"):add "Position"
    assert.are.same({ "add 0.0", "add 0.0", "enter 0.0", "enter 0.0" }, heard())
    query:where(function() return true end):despawn()
    assert.are.same({ "exit 0.0", "exit 0.0", "remove 0.0", "remove 0.0",
      "despawn 0.0", "despawn 0.0" }, heard())
  end)

  it("hears of a system when it ends, a kernel or not, and not of what views write", function()
    for _, kernels in ipairs { true, false } do
      local world = helper.new_world { kernels = kernels }
      world:component("Position", { "x: f32", "y: f32" })
      world:component("Other", { "of: entity" })
      local heard = watch(world, "Position", show_x)
      local e = world:spawn { Position = { x = 1 } }
      world:spawn { Other = { of = e } }
      heard()
      world:system("write", { query = "Position", each = function(p) p.x = p.x + 1 end })
      world:update(0)
      assert.are.same({}, heard())
      world:system("order", { query = "Other", each = function(other)
        world:set(other.of, "Position.x", 7)
      end })
      world:system("make", { query = "Other", each = function()
        world:spawn { Position = { x = 9 } }
      end })
      world:system("late", { run = function() assert.are.equal(4, #heard()) end })
      world:update(0)
      assert.are.same({}, heard())
    end
  end)

  it("changes things for the next round, which compares anew", function()
    local world = new_world()
    local log = {}
    world:observer("freeze", { on = "enter", query = "Position, !Frozen",
      each = function(_, e)
        log[#log + 1] = "enter"
        world:add(e, "Frozen")
        assert.is_false(world:has(e, "Frozen"))
      end })
    world:observer("thaw", { on = "exit", query = "Position, !Frozen",
      each = function() log[#log + 1] = "exit" end })
    local e = world:spawn { Position = {} }
    assert.are.same({ "enter", "exit" }, log)
    assert.is_true(world:has(e, "Frozen"))
  end)

  it("names those who change what they observe for more than 64 rounds, and drops the rest",
    function()
      local world = new_world()
      local calls = 0
      world:observer("ping", { on = "add", query = "Frozen", each = function(e)
        calls = calls + 1
        world:remove(e, "Frozen")
      end })
      world:observer("pong", { on = "remove", query = "Frozen", each = function(e)
        calls = calls + 1
        world:add(e, "Frozen")
      end })
      world:observer("bystander", { on = "add", query = "Frozen", each = function() end })
      local e = world:spawn()
      local message = has_error(function() world:add(e, "Frozen") end,
        "after 64 rounds: 'ping', 'pong'")
      assert.is_nil(message:find "bystander")
      assert.are.equal(64, calls)
      assert.is_false(world:has(e, "Frozen"))
    end)

  it("may take 64 rounds to come to an end", function()
    local world = new_world()
    world:observer("count", { on = "set", query = "Health:in", each = function(health, e)
      if health.hp < 63 then world:set(e, "Health.hp", health.hp + 1) end
    end })
    local e = world:spawn { Health = { hp = 0 } }
    assert.are.equal(63, (world:get(e, "Health")))
  end)

  it("undoes nothing by an error: its commands are dropped, others are called, the call raises",
    function()
      local world = new_world()
      local calls = {}
      world:observer("bad", { on = "add", query = "Position", each = function(_, e)
        world:add(e, "Frozen")
        error "no luck"
      end })
      world:observer("worse", { on = "enter", query = "Position", each = function()
        error "never shown"
      end })
      world:observer("good", { on = "set", query = "Position", each = function(_, e)
        calls[#calls + 1] = e
        world:add(e, "Health")
      end })
      has_error(function() world:spawn { Position = {x = 1} } end, "observer 'bad': ", "no luck")
      local e = calls[1]
      assert.is_true(world:has(e, "Position"))
      assert.is_true(world:has(e, "Health"))
      assert.is_false(world:has(e, "Frozen"))
      local errors = {}
      world:on_error(function(message, name) errors[#errors + 1] = { name, message } end)
      world:spawn { Position = { x = 1 } }
      assert.are.equal("bad", errors[1][1])
      assert.is_truthy(errors[2][2]:find("observer 'worse': ", 1, true))
      assert.is_true(world:describe().observers[1].parked)
      world:spawn { Position = { x = 1 } }
      assert.are.equal(2, #errors)
      assert.are.equal(3, #calls)
    end)

  it("raises what a command of an observer could not do, with its name", function()
    local world = new_world()
    world:component("Needy", { "n: i32", requires = { "Health" } })
    world:observer("rob", { on = "add", query = "Needy", each = function(_, e)
      world:remove(e, "Health")
      world:add(e, "Frozen")
    end })
    local e
    has_error(function() world:spawn { Needy = {} } end, "observer 'rob': ", "'Needy'")
    e = world:query("Needy"):first()
    assert.is_true(world:has(e, "Health"))
    assert.is_true(world:has(e, "Frozen"))
  end)

  it("raises what a scope could not apply once it was told of the rest", function()
    local world = new_world()
    world:component("Needy", { "n: i32", requires = { "Health" } })
    local e = world:spawn { Needy = {} }
    local heard = watch(world, "Position", show_x, { "add" })
    world:defer()
    world:remove(e, "Health")
    world:set(e, "Position", { x = 1 })
    has_error(function() world:commit() end, "'Needy'")
    assert.are.same({ "add 1.0" }, heard())
  end)
end)
