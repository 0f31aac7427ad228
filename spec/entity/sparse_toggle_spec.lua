-- Sparse components switched off and on. C76, C77.

local helper = require "spec.support.ecs_helper"
local new_world, has_error = helper.new_world, helper.has_error

describe("a sparse component that is a toggle", function()
  local world, ids
  before_each(function()
    world = new_world()
    world:component("AI", { "mood: i32", storage = "sparse", toggle = true })
    world:component("Awake", { storage = "sparse", toggle = true })
    world:component("Position", { "x: f32" })
    ids = {}
    for i = 1, 5 do
      ids[i] = world:spawn { Position = { x = i }, AI = { mood = 10 * i }, Awake = i > 1 or nil }
    end
  end)

  -- Which of the entities match, in the order of the query.
  local function places(text)
    local found = {}
    for _, id in ipairs(world:query(text):ids()) do
      for at, known in ipairs(ids) do
        if known == id then found[#found + 1] = at end
      end
    end
    return found
  end

  it("C76, C77: is passed over where it is off, in packed order and in that of tables", function()
    world:disable(ids[2], "AI")
    world:disable(ids[5], "Awake")
    assert.same({ 1, 3, 4, 5 }, places "AI")
    assert.same({ 2 }, places "AI:off")
    assert.same({ 1, 2, 3, 4, 5 }, places "AI:any")
    assert.same({ 2 }, places "Position, !AI")
    assert.same({ 1, 3, 4, 5 }, places "Position, AI")
    assert.same({ 3, 4 }, places "AI, Awake")
    assert.same({ 1, 5 }, places "Position, !Awake")
    assert.same({ 1, 2, 3, 4, 5 }, places "Position, AI|Awake")
    local moods = {}
    world:query("Position, AI?"):each(function(p, ai) moods[p.x // 1] = ai and ai.mood or 0 end)
    assert.same({ 10, 0, 30, 40, 50 }, moods)
    assert.same({ true, 20 }, { world:has(ids[2], "AI"), (world:get(ids[2], "AI.mood")) })
    assert.is_false(world:enabled(ids[2], "AI"))
    assert.equal(1, world:describe("AI").off)
    assert.equal("sparse", world:describe("AI").storage)
  end)

  it("goes with its entity, whatever comes and goes beside it", function()
    world:disable(ids[5], "AI")
    world:remove(ids[1], "AI")                  -- the last row takes its place
    assert.same({ 5 }, places "AI:off")
    world:remove(ids[5], "Position")            -- its entity moves
    assert.same({ 5 }, places "AI:off")
    world:set(ids[5], "AI", 7)
    assert.is_false(world:enabled(ids[5], "AI"))
    world:remove(ids[5], "AI")
    world:add(ids[5], "AI")
    assert.is_true(world:enabled(ids[5], "AI"))
    world:disable(ids[5], "AI")
    world:despawn(ids[5])
    assert.same({}, places "AI:off")
    world:set(world:spawn {}, "AI", 1)
    assert.equal(4, world:count "AI")
  end)

  it("is switched when the scope ends, in the order of commands", function()
    world:defer()
    world:disable(ids[1], "AI")
    world:enable(ids[1], "AI")
    world:disable(ids[2], "AI")
    world:remove(ids[3], "AI")
    world:disable(ids[3], "AI")
    world:disable(ids[4], "AI")
    world:remove(ids[4], "AI")
    world:add(ids[4], "AI")
    assert.is_true(world:enabled(ids[2], "AI"))
    world:commit()
    assert.same({ 2 }, places "AI:off")
    assert.same({ 1, 4, 5 }, places "Position, AI")
  end)

  it("keeps what is off where it is kept otherwise, and is no toggle before all is on", function()
    local off, without = world:query "AI:off", world:query "Position, !AI"
    world:disable(ids[2], "AI")
    world:component("AI", { "mood: f64", toggle = true })
    assert.same({ { ids[2] }, { ids[2] } }, { off:ids(), without:ids() })
    assert.same({ 20, "table" }, { world:get(ids[2], "AI"), world:describe("AI").storage })
    world:disable(ids[4], "AI")
    world:component("AI", { "mood: f64", "more: i32", storage = "sparse", toggle = true })
    assert.same({ { ids[2], ids[4] }, { ids[2], ids[4] } }, { off:ids(), without:ids() })
    world:component("AI", { "mood: i32", storage = "sparse", toggle = true })
    assert.same({ { ids[2], ids[4] }, { ids[2], ids[4] } }, { off:ids(), without:ids() })
    for _, storage in ipairs { "sparse", "table" } do
      has_error(function() world:component("AI", { "mood: i32", storage = storage }) end,
        "'AI' cannot lose toggle while entity", "has it switched off")
    end
    world:enable(ids[2], "AI")
    world:enable(ids[4], "AI")
    world:component("AI", { "mood: i32", storage = "sparse" })
    assert.equal(0, off:count())
    assert.equal(5, world:count "AI")
  end)

  it("is saved, restored, digested and copied with what is off", function()
    world:disable(ids[2], "AI")
    world:disable(ids[3], "Awake")
    local digest, bytes, kept = world:digest(), world:save(), world:snapshot()
    world:enable(ids[2], "AI")
    assert.not_equal(digest, world:digest())
    world:remove(ids[1], "AI")
    world:restore(kept)
    assert.same({ digest, bytes }, { world:digest(), world:save() })
    assert.same({ { 2 }, { 3 } }, { places "AI:off", places "Awake:off" })
    world:enable(ids[2], "AI")
    world:load(bytes)
    assert.same({ digest, bytes }, { world:digest(), world:save() })
    assert.same({ { 2 }, { 3 } }, { places "AI:off", places "Awake:off" })
    local other = new_world()
    other:load(bytes)
    assert.same({ digest, 1 }, { other:digest(), other:describe("Awake").off })
    local copy = world:clone(ids[2])
    assert.same({ false, true }, { world:enabled(copy, "AI"), world:enabled(copy, "Awake") })
  end)

  it("is passed over by paths, and by kernels, which see what is off", function()
    world:relation("Near", { exclusive = true })
    world:component("Seen", { "has: bool", "on: bool", "mood: i32 = -1" })
    for i = 1, 5 do
      world:add(ids[i], "Near", ids[i % 5 + 1])
      world:add(ids[i], "Seen")
    end
    world:disable(ids[2], "AI")
    assert.same({ 2, 3, 4, 5 }, places "Near->AI")
    local query = world:query "Seen, Near->AI:in?"
    query:run(function(seen, ai) if ai then seen.mood = ai.mood end end)
    world:query("Seen, !AI"):run(function(seen, _, e)
      seen.has, seen.on = world:has(e, "AI"), world:enabled(e, "AI")
    end)
    assert.same({ false, false, -1 }, { world:get(ids[1], "Seen") })
    assert.same({ true, false, 30 }, { world:get(ids[2], "Seen") })
    world:query("AI, Position"):run(function(ai, p) p.x = ai.mood end)
    world:query("AI:off, Position"):run(function(_, p) p.x = -p.x end)
    local xs = {}
    for i, id in ipairs(ids) do xs[i] = world:get(id, "Position.x") // 1 end
    assert.same({ 10, -2, 30, 40, 50 }, xs)
  end)

  it("is told to observers of who matches", function()
    local told = {}
    for _, on in ipairs { "enter", "exit", "remove" } do
      world:observer(on .. "s", { on = on, query = "AI, Position",
        each = function(_, _, e) told[#told + 1] = on .. (e == ids[1] and 1 or 2) end })
    end
    world:disable(ids[1], "AI")
    world:enable(ids[1], "AI")
    world:disable(ids[2], "AI")
    world:remove(ids[2], "AI")
    assert.same({ "exit1", "enter1", "exit2", "remove2" }, told)
  end)
end)
