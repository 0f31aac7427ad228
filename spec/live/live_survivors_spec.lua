-- Edits of the survivors' scripts at random, while they run: whatever comes, every system,
-- observer, index, event and prefab is there afterwards, and does what it is for.

local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local random = require "spec.support.rng"
local scratch = require "spec.support.scratch"

local SCRIPTS = "examples/survivors/scripts/"
local FILES = { "bestiary", "guns", "horde", "player", "spoils", "things", "waves" }
local EDITS, ENEMIES, STEP = 30, 150, 1 / 30

local OBSERVERS = { "herald", "tally" }
local EVENTS = { "Fallen", "Hit", "Next", "Picked", "Slain" }
local PREFABS = { "Bat", "Brute", "Gem", "Ghoul", "Heart", "Warlord" }
local SYSTEMS = { "avenge", "bite", "die", "drop", "fall", "fire", "fly", "gain", "gather", "home",
  "hurt", "learn", "muster", "pilot", "proceed", "push", "strike", "walk" }

local function contents(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- ---- edits -------------------------------------------------------------------------------

-- Puts `to` in the place of `from`, both plain, in a text that has it.
local function put(text, from, to)
  local first, last = text:find(from, 1, true)
  assert(first, "nothing gives" .. from)
  return text:sub(1, first - 1) .. to .. text:sub(last + 1)
end

-- An edit that puts one text for another, or back.
local function toggle(name, one, other)
  return function(game)
    local text = game.texts[name]
    if text:find(other, 1, true) then
      one, other = other, one
    end
    game.texts[name] = put(text, one, other)
  end
end

-- An edit of the number behind a text.
local function tune(name, before, least, most)
  return function(game, rng)
    local text = game.texts[name]
    local first, last = text:find(before, 1, true)
    assert(first, before)
    repeat
      local n = tostring(rng:range(least, most) / 10)
      game.texts[name] = text:sub(1, last) .. text:sub(last + 1):gsub("^[%d.]+", n, 1)
    until game.texts[name] ~= text
  end
end

local TALLY = 'world:observer%("tally", {.-\n}%)\n'

local good = {
  tune("horde", "local ROOM = ", 6, 20),          -- and the cells of the index
  tune("guns", "local REACH, SPEED = ", 3, 15),
  tune("spoils", "local DRAW, NEAR, PACE = ", 50, 200),
  tune("bestiary", 'kind("Bat", ', 20, 300),      -- whose instances follow
  tune("bestiary", 'kind("Brute", ', 500, 3000),
  toggle("things", 'Enemy", { ', 'Enemy", { "rage: f64 = 2", '),
  toggle("things", '"x: f64", "y: f64" })\nworld:event("Slain"',
    '"x: f64", "y: f64", "crit: bool" })\nworld:event("Slain"'),
  toggle("things", '"damage: f64",\n', '"damage: f32",\n'),
  toggle("things", '"worth: f64", "hp: f64", {', '"worth: f32", "hp: f64", "by: entity", {'),
  toggle("waves", "wave.chiefs + 1", "wave.chiefs + 2"),
  toggle("horde", 'query = "Position:in, with Enemy", grid',
    'query = "Position:in, with Enemy, with Health", grid'),
  function(game, rng)                             -- one more line somewhere
    local name = rng:pick(FILES)
    game.texts[name] = game.texts[name] .. ("-- %d\n"):format(rng:int(1000000))
  end,
  function(game)                                  -- a field of another name
    local new, old = "delay", "pause"
    if game.texts.things:find("delay: f64", 1, true) then
      new, old = old, new
    end
    local things = game.texts.things:gsub(", was = { %l+ = \"%l+\" }", "")
    things = put(things, old .. ": f64", new .. ": f64")
    game.texts.things = put(things, '"damage: f64 = 1",\n',
      ('"damage: f64 = 1", was = { %s = "%s" },\n'):format(new, old))
    game.texts.guns = put(game.texts.guns, "gun." .. old, "gun." .. new)
  end,
  function(game)                                  -- an observer goes to another file, or back
    if game.texts.moved then
      game.texts.spoils, game.texts.moved = game.texts.spoils .. game.tally, nil
    else
      game.tally = game.texts.spoils:match(TALLY)
      game.texts.spoils = put(game.texts.spoils, game.tally, "")
      game.texts.moved = 'local world = ...\nlocal hero = world:res "Hero"\n' .. game.tally
    end
  end,
  function(game)                                  -- a system and an index come, or go
    game.texts.more = not game.texts.more and [[
      local world = ...
      local lying = world:index("lying", { query = "Position:in, with Pickup", grid = "Position",
        cell = 4 })
      world:system("watch", { query = "Position:in, with Player", each = function(p)
        for _ in lying:within(p.x, p.y, 9) do end
      end })]] or nil
  end,
  function(game)                                  -- a file has another name
    local new, old = "legion", "horde"
    if game.names.horde == "legion" then
      new, old = old, new
    end
    game.names.horde = new
    assert(os.rename(game.files.path .. "/" .. old .. ".lua",
      game.files.path .. "/" .. new .. ".lua"))
  end,
}

-- What is wrong with a file, and what the error says of it.
local bad = {
  { "player", function(text) return text .. "oops(" end, "unexpected symbol" },
  { "spoils", function(text) return text .. "error 'late'" end, "late" },
  { "spoils", function(text) return put(text, "health.hp <= 0 then", "health.points <= 0 then") end,
    "points" },
  { "horde", function(text) return put(text, 'grid = "Position"', 'grid = "Nothing"') end,
    "Nothing" },
  { "things", function(text) return put(text, '"hp: f64 = 1"', '"hp: u8 = 1"') end, "u8" },
  { "bestiary", function(text) return put(text, "Enemy = { speed", "Enemy = { haste") end,
    "haste" },
  { "waves", function(text) return put(text, 'query = "Chief', 'query = "Chef') end, "Chef" },
}

-- ---- the game ----------------------------------------------------------------------------

-- Saves those files whose texts are others than those that were saved.
local function save(game)
  for name in pairs(game.saved) do
    if not game.texts[name] then
      game.files:remove(name .. ".lua")
      game.saved[name] = nil
    end
  end
  for name, text in pairs(game.texts) do
    if game.saved[name] ~= text then
      game.files:write((game.names[name] or name) .. ".lua", text)
      game.saved[name] = text
    end
  end
end

local function new_game()
  local game = { files = scratch.new(), texts = {}, saved = {}, names = {}, problems = {} }
  for _, name in ipairs(FILES) do
    game.texts[name] = contents(SCRIPTS .. name .. ".lua")
  end
  save(game)
  game.world = helper.new_world()
  game.world:resource("Settings", { "enemies: i32 = " .. ENEMIES })
  game.world:resource("Input", { "x: f64", "y: f64", "auto: bool = true" })
  game.session = live.open(game.world, { game.files.path }, {
    on_error = function(message) table.insert(game.problems, message) end,
  })
  assert.are.same({}, game.problems)
  return game
end

local function sorted(list, of)
  local names = {}
  for _, item in ipairs(list) do
    names[#names + 1] = of and item[of] or item
  end
  table.sort(names)
  return names
end

-- The hash of who is where: no edit moves anybody.
local function places(world)
  local sum = 0
  for p, e in world:query("Position:in"):each() do
    sum = sum + (e ~ string.unpack("<i8", string.pack("<d", p.x + 3 * p.y))) * 0x9E3779B97F4A7C15
  end
  return sum
end

-- All that was declared is there, under its name.
local function assert_declared(game)
  local world = game.world
  local description = world:describe()
  local systems, indexes = sorted(SYSTEMS), { "crowd" }
  if game.texts.more then
    systems, indexes[2] = sorted { "watch", table.unpack(SYSTEMS) }, "lying"
  end
  assert.are.same(systems, sorted(description.systems, "name"))
  assert.are.same(OBSERVERS, sorted(description.observers, "name"))
  assert.are.same(indexes, sorted(description.indexes, "name"))
  assert.are.same(PREFABS, sorted(description.prefabs))
  for _, name in ipairs(EVENTS) do
    assert.are.equal("event", world:describe(name).storage)
  end
  for _, list in ipairs { description.systems, description.observers } do
    for _, item in ipairs(list) do
      assert(item.enabled and not item.parked, item.name)
    end
  end
end

-- The index has everybody, each prefab can be copied, events come to who reads them, the observer
-- counts the dead.
local function assert_works(game)
  local world = game.world
  local hero, seen = world:res "Hero", 0
  for _ in world:index("crowd"):within(0, 0, 1e9) do
    seen = seen + 1
  end
  assert.are.equal(world:count "Enemy", seen)
  for _, name in ipairs { "Bat", "Ghoul", "Brute", "Warlord" } do
    local foe = world:instantiate(name, { Position = { x = 3000, y = 3000 } })
    assert.are.equal(world:get(world:lookup(name), "Health.hp"), world:get(foe, "Health.hp"))
    world:despawn(foe)
  end
  local dying, struck = world:instantiate "Bat", world:instantiate("Ghoul", {
    Position = { x = 900, y = 900 }, Health = { hp = 50 },
  })
  local kills, lying = hero.kills, world:count "Pickup"
  world:set(dying, "Health.hp", 0)
  world:emit("Hit", struck, 3, 1, 1)
  world:emit("Slain", world:lookup "Warlord", 2000, 2000, 0.3)
  world:update(STEP)
  assert(not world:alive(dying))
  assert(hero.kills > kills, hero.kills)
  assert.are.equal(47.0, world:get(struck, "Health.hp"))
  world:despawn(struck)
  local found
  for p in world:query("Position:in, Pickup"):each() do
    found = found or p.x == 2000.0 and p.y == 2000.0
  end
  assert(found, lying)
end

local function assert_all(game)
  assert_declared(game)
  assert_works(game)
  assert.are.equal(nil, game.problems[1])
  helper.check(game.world)
end

local function try_good(game, rng)
  local edit = rng:pick(good)
  edit(game, rng)
  save(game)
  local ok, message = helper.poll(game.session)
  assert(ok == true and not message, message or "nothing has changed")
end

-- Is refused, told once, and put right.
local function try_bad(game, rng)
  local name, change, says = table.unpack(rng:pick(bad))
  local right = game.texts[name]
  game.texts[name] = change(right)
  save(game)
  local ok, message = helper.poll(game.session)
  assert(ok == false and message:find(says, 1, true), message)
  assert.are.same({ message }, game.problems)
  game.problems[1] = nil
  assert_declared(game)
  game.texts[name] = right
  save(game)
  helper.poll(game.session)
end

local function play(seed)
  local rng, game = random.new(seed), new_game()
  local world = game.world
  world:on_error(function(message) table.insert(game.problems, message) end)
  for _ = 1, 10 do
    world:update(STEP)
  end
  assert_all(game)
  for _ = 1, EDITS do
    local alive, before = world:describe().entities, places(world)
    local try = rng:chance(20) and try_bad or try_good
    try(game, rng)
    assert.are.equal(alive, world:describe().entities)
    assert.are.equal(before, places(world))
    assert_all(game)
  end
  -- what was put off before all of this comes, and the observer hears of who comes with it
  local chiefs = world:res("Wave").chiefs
  for _ = 1, 270 do
    world:update(STEP)
  end
  assert(world:res("Wave").number >= 2)
  assert(world:res("Wave").chiefs > chiefs)
  assert_all(game)
  game.files:close()
end

describe("the scripts of examples/survivors (C4, C61)", function()
  local first, last = helper.seeds { small = 2, normal = 8, deep = 60 }
  for seed = first, last do
    it(("lose nothing by %d edits at random, on seed %d"):format(EDITS, seed), function()
      play(seed)
    end)
  end
end)
