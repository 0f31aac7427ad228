-- The demo in a terminal, its scripts edited while it runs.

local swarm = require "spec.support.swarm"
local terminal = require "spec.support.pty"

describe("examples/swarm in a terminal", function()
  local files

  before_each(function()
    files = swarm.copy()
  end)

  after_each(function()
    files:close()
  end)

  -- The command that gives files the texts that they have now, and the earlier ones until then.
  local function later(...)
    local moves = {}
    for _, name in ipairs { ... } do
      local text = files:read(name)
      files:revert(name)
      files:write(name .. ".next", text)
      moves[#moves + 1] = ("mv %s/%s.next %s/%s"):format(files.path, name, files.path, name)
    end
    return table.concat(moves, " && ")
  end

  local function play(steps)
    return terminal.play("examples/swarm/main.lua --entities 200 --scripts " .. files.path,
      110, 30, steps, ("TMPDIR=%s "):format(files.root))
  end

  it("follows edits, shows what is wrong with them, saves and loads", function()
    files:edit("components.lua", '"speed: f32 = 5"', '"fuel: f32 = 3" }, { "speed: f32 = 5"')
    files:edit("steering.lua", 'world:system("steer", {', [[
      world:system("burn", { query = "Motor", each = function(motor, dt)
        motor.fuel = motor.fuel - dt
      end })
      world:system("steer", {]])
    local fuel = later("components.lua", "steering.lua")
    files:edit("population.lua", "settings.seekers - ", "500 + settings.seekers - ")
    local more = later "population.lua"
    local life = files.path .. "/life.lua"
    local output = play {
      { "seekers 148 ", run = fuel },
      { "vector: [^:]* burn ", run = ("cp %s %s~; echo \"oops(\" >> %s"):format(life, life, life) },
      { "life.lua:[0-9]*: unexpected symbol", "s" },
      { "saved to " .. files.root, "+" },
      { "seekers 1[01][0-9][0-9] ", "l" },
      { "loaded from " },
      { "seekers 1[34][0-9] " },
      { "life.lua:[0-9]*: unexpected symbol", run = ("mv %s~ %s"):format(life, life) },
      { "scripts reloaded", run = more },
      { "seekers 6[0-9][0-9] ", "q" },
    }
    terminal.assert_left_as_found(output)
  end)
end)
