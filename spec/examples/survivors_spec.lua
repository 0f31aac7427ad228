-- The survivors, run as a user runs them: without a terminal and in one, by kernels, as plain Lua
-- and with two systems in C.

local helper = require "spec.support.ecs_helper"
local live = require "ecs.live"
local terminal = require "spec.support.pty"
local scratch = require "spec.support.scratch"

local MAIN = "examples/survivors/main.lua "

local function run(arguments)
  return terminal.run_lua(MAIN .. arguments)
end

local function output_of(arguments)
  return terminal.output_of(MAIN .. arguments)
end

-- Who has come to what, and each system's tier.
local function report_of(arguments)
  local output = output_of(arguments)
  local tiers = {}
  for name, tier in output:gmatch "\n  ([%a_]+) +[%a_]+ +(%l+) +[%d.]+ +[%d.]+%%" do
    tiers[name] = tier
  end
  return { checksum = assert(output:match "Checksum of all positions: (%x+) "),
    fared = output:match "^[^\n]*", tiers = tiers }
end

describe("examples/survivors without a terminal", function()
  it("comes to the same bits by kernels, as plain Lua and with systems in C", function()
    local arguments = "--frames 150 --enemies 1500 "
    local kernels = report_of(arguments)
    local plain, native = report_of(arguments .. "--lua"), report_of(arguments .. "--native")
    assert(tonumber(kernels.fared:match "(%d+) slain") > 20, kernels.fared)
    assert.are.equal(kernels.checksum, plain.checksum)
    assert.are.equal(kernels.checksum, native.checksum)
    assert.are.equal(kernels.fared, plain.fared)
    assert.are.equal(kernels.fared, native.fared)
    for name, tier in pairs(plain.tiers) do
      assert.are.equal("lua", tier, name)
    end
    for _, name in ipairs { "bite", "die", "fire", "fly", "gather", "home", "hurt", "pilot",
      "walk" } do
      assert.are.equal("vector", kernels.tiers[name], name)
      assert.are.equal("vector", native.tiers[name], name)
    end
    assert.are.equal("vector", kernels.tiers.push)
    assert.are.equal("vector", kernels.tiers.strike)
    assert.are.equal("native", native.tiers.push_in_c)
    assert.are.equal("native", native.tiers.strike_in_c)
    assert(not native.tiers.push and not native.tiers.strike)
  end)

  it("has a horde of ten thousand", function()
    assert(report_of("--frames 2 --native").fared:find "; 10000 enemies, ")
  end)

  it("goes another way with another seed", function()
    local arguments = "--frames 5 --enemies 100"
    assert.are.equal(report_of(arguments).checksum, report_of(arguments).checksum)
    assert.are_not.equal(report_of(arguments).checksum,
      report_of(arguments .. " --seed 2").checksum)
  end)

  it("explains its options and refuses others", function()
    local help = output_of "--help"
    for _, option in ipairs { "--frames N", "--enemies N", "--seed N", "--picture FILE",
      "--scripts DIR", "--native", "--lua", "--help" } do
      assert(help:find(option, 1, true), option)
    end
    for _, wrong in ipairs { "--frame 3", "--frames 0", "--enemies lots", "--seed", "3",
      "--lua=1", "--scripts" } do
      local output, status = run(wrong)
      assert.are.equal(2, status, wrong)
      assert(output:find "^%-%-%a+ does not take " or output:find "^unknown option", output)
    end
  end)

  it("writes what a terminal would show, and the same each time", function()
    local files = scratch.new()
    local function draw(name)
      output_of(("--frames 40 --enemies 2000 --picture %s/%s"):format(files.path, name))
      local file <close> = assert(io.open(files.path .. "/" .. name))
      return file:read "a"
    end
    local text = draw "one.svg"
    assert.are.equal(text, draw "two.svg")
    for _, part in ipairs { "<svg ", "survivors", "level 1  100 hp", "bats", "ghouls", "brutes",
      "gems", "bullets", ">@<", "</svg>" } do
      assert(text:find(part, 1, true), part)
    end
    files:close()
  end)
end)

describe("the scripts of examples/survivors (C51, C61)", function()
  local function new_game(kernels)
    local world = helper.new_world { kernels = kernels, seed = 3 }
    world:resource("Settings", { "enemies: i32 = 400" })
    world:resource("Input", { "x: f64", "y: f64", "auto: bool = true" })
    live.open(world, { "examples/survivors/scripts" })
    return world
  end

  local function update(world, frames)
    for _ = 1, frames do
      world:update(1 / 30)
    end
  end

  it("go on from an image, and from a snapshot, as if nothing had been, in every tier", function()
    local world = new_game(true)
    update(world, 200)
    local bytes, snapshot = world:save(), world:snapshot()
    update(world, 60)
    assert(world:res("Wave").number == 2 and world:res("Hero").kills > 20)
    local digest = world:digest()
    for _, kernels in ipairs { true, false } do
      local other = new_game(kernels)
      update(other, 3)
      other:load(bytes)
      assert(other:save() == bytes)
      update(other, 60)
      assert.are.equal(digest, other:digest())
    end
    world:restore(snapshot)
    update(world, 60)
    assert.are.equal(digest, world:digest())
  end)

  it("keep enemies apart, and near a player that stands", function()
    local world = new_game(true)
    local hero, crowd = world:res "Hero", world:index "crowd"
    world:switch("fire", false)
    world:switch("bite", false)
    world:res("Input").auto = false
    update(world, 600)
    local near, all = 0, 0
    for p in world:query("Position:in, with Enemy, !Chief"):each() do
      assert((p.x - hero.x) ^ 2 + (p.y - hero.y) ^ 2 < 60 ^ 2)
      local distances = {}
      for q in crowd:within(p.x, p.y, 0.2) do
        distances[#distances + 1] = q
      end
      near, all = near + #distances - 1, all + 1
    end
    assert(all >= 400 and near < all / 4, near)
  end)

  it("let who falls rise again, and take along who is near", function()
    local world = new_game(true)
    local hero = world:res "Hero"
    update(world, 150)
    local near = world:instantiate("Warlord", { Position = { x = hero.x + 3, y = hero.y } })
    local far = world:instantiate("Warlord", { Position = { x = hero.x + 30, y = hero.y } })
    local kills = hero.kills
    hero.hp = -1
    update(world, 1)
    assert(not world:alive(near) and world:alive(far))
    assert(hero.kills > kills and hero.falls == 1 and hero.hp > 0)
  end)

  it("have warlords leave more than others, and what lies about be picked up", function()
    local world = new_game(true)
    local hero, xp = world:res "Hero", 0
    world:switch("fire", false)
    world:emit("Slain", world:lookup "Warlord", hero.x + 3, hero.y, 0.35)
    world:emit("Slain", world:lookup "Bat", hero.x - 3, hero.y, 0.35)
    update(world, 1)
    for pickup in world:query("Pickup:in"):each() do
      xp = xp + pickup.worth
    end
    assert.are.equal(101.0, xp)
    update(world, 60)
    assert.are.equal(0, world:count "Pickup")
    assert(hero.level == 2 and hero.xp == 1.0)
  end)
end)

describe("the picture of examples/survivors", function()
  it("is on the page of the examples", function()
    local file <close> = assert(io.open "examples/survivors/picture.svg")
    assert(file:read "a":find("survivors", 1, true))
    local page <close> = assert(io.open "examples/README.md")
    assert(page:read "a":find("](survivors/picture.svg)", 1, true))
  end)
end)

describe("examples/survivors in a terminal", function()
  local function play(columns, rows, steps)
    return terminal.play(MAIN .. "--enemies 200", columns, rows, steps)
  end

  it("draws what is around the player, until q is pressed", function()
    local output = play(110, 30, { { "ms a frame", "d" }, { "bullets [1-9]", "wasp q" } })
    assert(output:find("▀", 1, true) and output:find("@", 1, true))
    assert(output:find "level 1  100 hp" and output:find "bats %d+" and output:find "steer")
    assert(output:find("\27[30;1H", 1, true) and not output:find("\27[31;1H", 1, true))
    terminal.assert_left_as_found(output)
  end)

  it("leaves the terminal as it was when Ctrl-C is pressed, in a small window, too", function()
    terminal.assert_left_as_found(play(110, 30, { { "bats", "\\003" } }))
    terminal.assert_left_as_found(play(15, 6, { { "the window is too small", "q" } }))
  end)
end)
