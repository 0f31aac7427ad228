-- The survivors, run as a user runs them: without a terminal and in one, by kernels, as plain Lua
-- and with two systems in C.

local terminal = require "spec.support.pty"
local scratch = require "spec.support.scratch"

local MAIN = "examples/survivors/main.lua "

local function run(arguments)
  return terminal.run(("%s%s %s%s </dev/null"):format(terminal.ENVIRONMENT, terminal.LUA, MAIN,
    arguments))
end

local function output_of(arguments)
  local output, status = run(arguments)
  assert(status == 0, output)
  return output
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
    for _, name in ipairs { "bite", "die", "fire", "fly", "gather", "home", "hurt", "walk" } do
      assert.are.equal("vector", kernels.tiers[name], name)
      assert.are.equal("vector", native.tiers[name], name)
    end
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
