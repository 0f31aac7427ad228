-- Every example is run as a user runs it, and what it prints is read.

local public_headers = require "spec.support.public_headers"
local swarm = require "spec.support.swarm"
local terminal = require "spec.support.pty"

local run = terminal.run

local run_lua, output_of = terminal.run_lua, terminal.output_of

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line
  end
  return lines
end

local function contents(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

describe("examples/hello.lua", function()
  it("moves what is not frozen", function()
    assert.same({ "the ball is at 3.00, 10.00", "the stone is at 7.00, 0.00" },
      lines_of(output_of "examples/hello.lua"))
  end)

  it("is the example of the front page", function()
    local readme = contents "README.md"
    assert(readme:find("```lua\n" .. contents "examples/hello.lua" .. "```", 1, true))
  end)
end)

describe("README.md", function()
  it("shows the demo's picture", function()
    assert(contents "README.md":find("](examples/swarm/picture.svg)", 1, true))
  end)
end)

describe("src/embedding.md", function()
  local page = contents("src/embedding.md"):gsub("%s+", " ")

  it("has every function of the C interface as it is declared, and no other", function()
    local headers = public_headers.text("ecs_lua.h"):gsub("/%*.-%*/", ""):gsub("%s+", " ")
    local declared, count = {}, 0
    for _, form in ipairs { "ECS_API ([^;{]-%b());", "static inline ([^;{]-%b()) {" } do
      for prototype in headers:gmatch(form) do
        declared[prototype:match "([%w_]+)%("], count = true, count + 1
        assert(page:find(prototype .. ";", 1, true), prototype)
      end
    end
    assert(count > 100 and page:find("luaopen_ecs_native(lua_State *L);", 1, true))
    for name in page:gmatch "[ *](ecs_[%l_]+)%([%l_ ]+[%l*]" do
      assert(declared[name], name)
    end
  end)
end)

describe("examples/phases.lua (C46, C48)", function()
  -- The systems of the n-th update that is printed, with and without their dt.
  local function updates()
    local list = {}
    for systems in output_of("examples/phases.lua"):gmatch "update%(0%.050%)  ([^\n]*)" do
      list[#list + 1] = systems
    end
    return list, (table.concat(list, "\n"):gsub("%([%d.]+%)", ""))
  end

  it("runs systems by phase, constraints and registration", function()
    local _, names = updates()
    assert.same({
      "load_level  fall  look  think  show",
      "fall  fall  look  think  autosave  show",
      "fall  look  think  show",
      "fall  fall  look  think  autosave  show",
      "look  show",
      "autosave  show",
      "look  show",
      "look  autosave",
      "look",
    }, lines_of(names .. "\n"))
  end)

  it("gives each system the time since it ran last, fixed steps their own", function()
    local list = updates()
    assert.equal("fall(0.031)  fall(0.031)  look(0.050)  think(0.050)  autosave(0.100)  "
      .. "show(0.050)", list[4])
    assert.equal("look(0.100)  show(0.050)", list[7])
  end)

  it("parks the system that fails and names it", function()
    local output = output_of "examples/phases.lua"
    assert(output:find("show is parked: system 'show': examples/phases.lua:%d+: out of paint"))
    assert(output:find "\nshow +render +%d+  true\n")
    assert(output:find "\nlook +update +%d+  false\n")
  end)
end)

describe("examples/staging.lua (C50, C86)", function()
  it("shows when staged changes happen", function()
    assert.same({
      "after the loop: 4 cells",
      "before commit: 1.0, Marked false",
      "after commit: 9.0, Marked true",
      "after cancel: ghost alive false, first alive true",
      "in the update: 7 cells",
      "after an error: false, 7 cells",
    }, lines_of(output_of "examples/staging.lua"))
  end)
end)

describe("examples/inspect.lua", function()
  local able = pcall(require, "socket") and pcall(require, "dkjson") and it or pending

  able("prints the link to the page of its world, and goes on (C5, C25, C42)", function()
    local output = output_of "examples/inspect.lua 5"
    assert(output:find "^ecs inspector: http://127%.0%.0%.1:%d+/#%x+\n$")
  end)
end)

describe("examples/solar.lua (C29, C87)", function()
  -- Where a body of this radius and period is, beside its parent.
  local function orbit(day, radius, period, x, y)
    local angle = 2 * math.pi * day / period
    return radius * math.cos(angle) + x, radius * math.sin(angle) + y
  end

  -- The character of the picture at a place.
  local function at(lines, x, y)
    local line, column = lines[15 + math.floor(0.5 - y)], 32 + math.floor(2 * x + 0.5)
    return (line:sub(column, column))
  end

  local function picture(days)
    return lines_of(output_of("examples/solar.lua --frames " .. days))
  end

  it("shows every body beside its parent", function()
    for _, day in ipairs { 40, 55 } do
      local lines = picture(day)
      assert.equal(29, #lines)
      local earth_x, earth_y = orbit(day, 8, 365, 0, 0)
      local moon_x, moon_y = orbit(day, 2, 27, earth_x, earth_y)
      local jupiter_x, jupiter_y = orbit(day, 13, 4333, 0, 0)
      assert.equal("S", at(lines, 0, 0))
      assert.equal("e", at(lines, earth_x, earth_y))
      assert.equal("v", at(lines, orbit(day, 4.5, 225, 0, 0)))
      assert.equal("j", at(lines, jupiter_x, jupiter_y))
      assert.equal("c", at(lines, orbit(day, 2.5, 17, jupiter_x, jupiter_y)))
      assert.equal("m", at(lines, moon_x, moon_y))
      assert.equal("p", at(lines, orbit(day, 0.8, 3, moon_x, moon_y)))
      assert.equal(".", at(lines, -13, 0))
    end
  end)

  it("lets the probe leave its moon, and go on from there", function()
    local x, y = orbit(60, 8, 365, 0, 0)
    x, y = orbit(60, 2, 27, x, y)
    x, y = orbit(60, 0.8, 3, x, y)
    for _, days in ipairs { 0, 10, 30 } do
      assert.equal("p", at(picture(60 + days), x + 0.1 * days, y - 0.05 * days))
    end
  end)
end)

describe("examples/live.lua", function()
  it("follows its script, and goes on when that is broken", function()
    local lines = lines_of(output_of "examples/live.lua")
    assert(lines[4]:find "rules%.lua:1: unexpected symbol")
    table.remove(lines, 4)
    assert.same({
      "at first\t1.0", "reloaded\ttrue", "and then\t11.0\t9", "broken\tfalse",
      "goes on\t21.0\t8",
    }, lines)
  end)
end)

describe("examples/host (C42, C45, C46)", function()
  local program = terminal.EXAMPLES .. "/host/host"

  local function run_host(arguments)
    assert(io.open(program), program .. " is not there: make examples"):close()
    return run(program .. (arguments or ""))
  end

  it("orders the systems of the host and of the script together", function()
    local output, status = run_host()
    assert.equal(0, status, output)
    assert.same({
      "1. fall in update, tier native",
      "2. brake in update, tier vector",
      "3. bounce in update, tier native",
      "4. land in post_update, tier vector",
    }, table.move(lines_of(output), 1, 4, 1, {}))
  end)

  it("sees in its struct what the script has done, and gets all memory back", function()
    local output = run_host()
    local fuel = {}
    for kilos in output:gmatch "probe %d: height 0%.00 m, speed 0%.00 m/s, fuel ([%d.]+) kg" do
      fuel[#fuel + 1] = tonumber(kilos)
    end
    assert.equal(3, #fuel)
    assert(fuel[1] == 0 and 0 < fuel[2] and fuel[2] < 2 and 0 < fuel[3] and fuel[3] < 4)
    assert(output:find("3 of 3 have landed\n0 bytes left\n", 1, true))
  end)

  it("says what is wrong with a script", function()
    local output, status = run_host " examples/host/host.c"
    assert.equal(1, status)
    assert(output:find("host: examples/host/host.c:1:", 1, true), output)
  end)
end)

-- The numbers in a report of the demo.
local function read_report(text)
  local report = { kinds = {}, systems = {} }
  for line in text:match("Entities by composition\n[^\n]*\n(.-)\n\n"):gmatch "[^\n]+" do
    local name, count = line:match "^  (%a+) +([%d,]+)  "
    report.kinds[name] = tonumber((count:gsub(",", "")))
  end
  for name, phase, tier, runs in text:gmatch "\n  ([%a_]+) +([%a_]+) +(%a+) +(%d+) +[%d.]+ +" do
    report.systems[name] = { phase = phase, tier = tier, runs = tonumber(runs) }
  end
  report.checksum = text:match "Checksum of all positions: (%x+) "
  report.frames = tonumber(text:match "Time: [%d.]+ s for (%d+) frames")
  return report
end

local function demo(arguments)
  return read_report(output_of("examples/swarm/main.lua " .. arguments))
end

describe("examples/swarm without a terminal", function()
  it("reports at least 20,000 entities of at least five compositions", function()
    local report = demo "--frames 4"
    local all, kinds = 0, 0
    for name, count in pairs(report.kinds) do
      if name ~= "all" then
        all, kinds = all + count, kinds + 1
      end
    end
    assert.equal(report.kinds.all, all)
    assert(all >= 20000 and kinds >= 5, all .. " of " .. kinds)
    assert.equal(4, report.frames)
    assert.is_nil(report.kinds.others)
  end)

  it("runs systems in several phases, a fixed one among them, every one of them", function()
    local report = demo "--frames 20 --entities 300"
    local phases = {}
    for _, system in pairs(report.systems) do
      phases[system.phase] = true
      assert(system.runs > 0 and system.tier ~= "")
    end
    assert(phases.physics and phases.pre_update and phases.update and phases.post_update)
    assert.equal(20, report.systems.move.runs)
    assert.equal(20, report.systems.age.runs)
    assert(report.systems.wound.runs < 5)
  end)

  it("gives the same checksum for the same seed and frames, and for these alone", function()
    local checksum = demo("--frames 12 --entities 500 --seed 5").checksum
    assert.equal(16, #checksum)
    assert.equal(checksum, demo("--frames 12 --entities 500 --seed=5").checksum)
    assert.not_equal(checksum, demo("--frames 12 --entities 500 --seed 6").checksum)
    assert.not_equal(checksum, demo("--frames 13 --entities 500 --seed 5").checksum)
    assert.not_equal(checksum, demo("--frames 12 --entities 501 --seed 5").checksum)
  end)

  it("runs kernels, and none with --lua", function()
    local compiled = demo("--frames 4 --entities 300").systems
    for _, name in ipairs { "age", "fade", "flock", "fly", "heal", "move", "steer", "wound" } do
      assert.equal("vector", compiled[name].tier, name)
    end
    for name, system in pairs(demo("--frames 4 --entities 300 --lua").systems) do
      assert.equal("lua", system.tier, name)
    end
  end)

  it("explains its options and refuses others", function()
    local help = output_of "examples/swarm/main.lua --help"
    for _, option in ipairs { "--frames N", "--entities N", "--seed N", "--scripts DIR",
      "--lua", "--help" } do
      assert(help:find(option, 1, true))
    end
    for _, wrong in ipairs {
      "--frame 3", "--frames 0", "--entities lots", "--seed", "3", "--lua=1", "--scripts",
    } do
      local output, status = run_lua("examples/swarm/main.lua " .. wrong)
      assert.equal(2, status)
      assert(output:find "^%-%-%a+ takes an? " or output:find "^unknown option", output)
    end
  end)
end)

describe("examples/swarm in a terminal (C61)", function()
  local function play(columns, rows, steps)
    return terminal.play("examples/swarm/main.lua --entities 200", columns, rows, steps)
  end

  local assert_left_as_found = terminal.assert_left_as_found

  it("draws the world and what it consists of, until q is pressed", function()
    local output = play(130, 30, { { "move ", "q" } })
    assert(output:find("▀▀▀▀", 1, true))
    assert(output:find "%d+ entities in %d+ tables")
    assert(output:find " vector: .*steer move" and output:find " lua: .*sense_danger")
    assert(output:find "seekers %d+" and output:find "drifters 50 ")
    assert(output:find "%d+ fps" and output:find "%d+%.%d+ ms a frame")
    assert(output:find("\27[30;1H", 1, true) and not output:find("\27[31;1H", 1, true))
    assert_left_as_found(output)
  end)

  it("takes more seekers, and fewer", function()
    assert_left_as_found(play(100, 30, {
      { "seekers 148 ", "++" }, { "seekers 2[0-9][0-9][0-9] ", "---" }, { "respawn", "q" },
    }))
  end)

  it("pauses and goes on", function()
    local output = play(100, 30, {
      { "move ", " " }, { "paused", " " }, { "swarm [^p]*entities", "q" },
    })
    local _, last_paused = output:find ".*paused"
    assert(output:find("swarm ", last_paused, true))
    assert_left_as_found(output)
  end)

  it("leaves the terminal as it was when Ctrl-C is pressed", function()
    assert_left_as_found(play(100, 30, { { "move ", "\\003" } }))
  end)

  it("says so when the window is too small", function()
    local output = play(15, 6, { { "the window is too small", "q" } })
    assert_left_as_found(output)
  end)
end)

describe("the scripts of examples/swarm", function()
  local level

  local function new_swarm(seekers, drifters, hunters)
    return (swarm.open(nil, seekers, drifters, hunters))
  end

  local function update(world, frames)
    for _ = 1, frames do
      world:update(1 / 30)
    end
  end

  setup(function()
    swarm.begin()
    level = require "level"
  end)

  teardown(swarm.finish)

  it("keep everyone out of the walls", function()
    local world = new_swarm(300, 300, 20)
    for _ = 1, 10 do
      update(world, 10)
      for position, room in world:query("Position, Room"):each() do
        local cell = level:cell(position.x // 1 | 0, position.y // 1 | 0)
        assert.is_false(level.wall[cell])
        assert.equal(cell, room.cell)
      end
    end
  end)

  it("lead everyone to the goal", function()
    local world = new_swarm(0, 0, 30)
    update(world, 10)
    local arrived = {}
    local before = {}
    for _ = 1, 400 do
      world:update(1 / 30)
      for course, entity in world:query("Course, Hunter"):each() do
        arrived[entity] = arrived[entity] or before[entity] and course.way ~= before[entity]
        before[entity] = course.way
      end
    end
    local count = 0
    for _, has in pairs(arrived) do
      count = count + (has and 1 or 0)
    end
    assert(count > 20, count)
  end)

  -- How much each goes the way of those around it, from -1 to 1, on average; and how many are
  -- nearer to another than a fifth of a cell.
  local function order_of(world)
    local near = world:index("near",
      { query = "Position:in, Velocity:in, with Room", grid = "Position", cell = 1 })
    local sum, pairs_seen, crowded = 0, 0, 0
    for p, v, e in world:query("Position:in, Velocity:in, with Room"):each() do
      for q, w, other in near:within(p.x, p.y, 0.6) do
        if other ~= e then
          local lengths = math.sqrt((v.x ^ 2 + v.y ^ 2) * (w.x ^ 2 + w.y ^ 2))
          sum, pairs_seen = sum + (v.x * w.x + v.y * w.y) / (lengths + 1e-9), pairs_seen + 1
          crowded = crowded + ((q.x - p.x) ^ 2 + (q.y - p.y) ^ 2 < 0.04 and 1 or 0)
        end
      end
    end
    return sum / pairs_seen, crowded / pairs_seen
  end

  it("have neighbours fly the same way, and keep their distance", function()
    local flying, alone = new_swarm(0, 2500, 0), new_swarm(0, 2500, 0)
    alone:switch("flock", false)
    local before, crowded_before = order_of(flying)
    update(flying, 60)
    update(alone, 60)
    local along, crowded = order_of(flying)
    local along_alone, crowded_alone = order_of(alone)
    assert(math.abs(before) < 0.1 and math.abs(along_alone) < 0.1, before .. " " .. along_alone)
    assert(along > 0.5, along)
    assert(crowded < crowded_before / 2 and crowded < crowded_alone / 2, crowded)
  end)

  it("hurt, wound and heal", function()
    local world = new_swarm(600, 0, 90)
    update(world, 300)
    local wounded, healed = {}, 0
    for _, entity in world:query("Health, Wounded"):each() do
      wounded[#wounded + 1] = entity
    end
    assert(#wounded > 10, #wounded)
    for health in world:query("Health, !Wounded"):each() do
      assert(health.hp > 0)
    end
    update(world, 300)
    for _, entity in ipairs(wounded) do
      healed = healed + (world:alive(entity) and not world:has(entity, "Wounded") and 1 or 0)
    end
    assert(healed > 0)
  end)

  it("replace the dead, who leave sparks that fade", function()
    local world = new_swarm(100, 0, 0)
    local old = {}
    for life, entity in world:query("Life, Health"):each() do
      life.left = 0.5
      old[#old + 1] = entity
    end
    update(world, 20)
    assert(world:count "Life, !Health" > 0)
    for _, entity in ipairs(old) do
      assert.is_false(world:alive(entity))
    end
    update(world, 60)
    assert.equal(100, world:count "Health")
    assert.equal(0, world:count "Life, !Health")
    local made = 0
    for spawner in world:query("Spawner"):each() do
      made = made + spawner.made
    end
    assert.equal(100, made)
  end)

  it("follow the number of seekers that is wanted", function()
    local world = new_swarm(100, 0, 0)
    world:res("Settings").seekers = 900
    update(world, 30)
    assert.equal(900, world:count "Health")
  end)
end)
