-- The demo's picture of itself: main.lua --picture, and the one that is in the tree.

local scratch = require "spec.support.scratch"
local terminal = require "spec.support.pty"

local MOST_BYTES = 60000

local function contents(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- Takes an element's attributes apart; nil when that is more, or less, than attributes.
local function read_attributes(text)
  local attributes = {}
  local rest = text:gsub('%s+([%a:-]+)="([^"<&]*)"', function(name, value)
    assert(not attributes[name], name .. " is there twice")
    attributes[name] = value
    return ""
  end)
  return not rest:find "%S" and attributes or nil
end

-- The elements of a text that is well-formed XML, without entities, comments and the like, as
-- { name, attributes, depth }; an error when it is not.
local function read_xml(text)
  local open, elements, at = {}, {}, 1
  while true do
    local first, last, close, name, inside = text:find("<(/?)([%a][%w]*)([^<>]*)>", at)
    local between = text:sub(at, (first or 0) - 1)
    assert(not between:find "[<>&]", "a stray character near byte " .. at)
    if not first then
      break
    end
    assert(#open > 0 or #elements == 0, "more than one root")
    if close == "/" then
      assert(table.remove(open) == name and inside == "", "wrong end of " .. name)
    else
      local attributes = assert(read_attributes((inside:gsub("/$", ""))), inside)
      elements[#elements + 1] = { name = name, attributes = attributes, depth = #open }
      if inside:sub(-1) ~= "/" then
        open[#open + 1] = name
      end
    end
    at = last + 1
  end
  assert(#open == 0 and #elements > 0 and not text:sub(at):find "%S", "no end")
  return elements
end

-- How many pixels a picture's strokes paint, each once.
local function painted(elements)
  local seen, count = {}, 0
  for _, element in ipairs(elements) do
    local x, y = 0, 0
    for dx, dy, length in (element.attributes.d or ""):gmatch "m(%-?%d+) (%-?%d+)h(%d+)" do
      x, y = x + dx, y + dy
      for i = 0, length - 1 do
        local pixel = y * 1000 + x + i
        assert(not seen[pixel], "painted twice")
        seen[pixel], count = true, count + 1
      end
      x = x + length
    end
  end
  return count
end

local function assert_is_picture(text)
  assert(#text < MOST_BYTES, #text)
  local elements = read_xml(text)
  assert.equal("svg", elements[1].name)
  assert.equal("http://www.w3.org/2000/svg", elements[1].attributes.xmlns)
  assert.equal(120 * 68, painted(elements))
  for _, kind in ipairs { "seekers", "wounded", "hunters", "drifters", "fire" } do
    assert(text:find(kind, 1, true), kind)
  end
end

describe("examples/swarm/main.lua --picture", function()
  local files

  setup(function()
    files = scratch.new()
  end)

  teardown(function()
    files:close()
  end)

  local function draw(name, arguments)
    local path = files.path .. "/" .. name
    local output, status = terminal.run(("%s%s examples/swarm/main.lua --picture %s %s </dev/null")
      :format(terminal.ENVIRONMENT, terminal.LUA, path, arguments))
    assert(status == 0, output)
    return contents(path)
  end

  it("writes what a terminal would show, as an SVG that is well-formed and small", function()
    assert_is_picture(draw("all.svg", "--frames 5"))
  end)

  it("writes the same for the same seed and frames, and for these alone", function()
    local first = draw("one.svg", "--frames 9 --entities 2000")
    assert.equal(first, draw("two.svg", "--frames=9 --entities 2000"))
    assert.not_equal(first, draw("three.svg", "--frames 9 --entities 2000 --seed 2"))
    assert.not_equal(first, draw("four.svg", "--frames 10 --entities 2000"))
  end)

  it("is told of by --help, and wants a file", function()
    local command = terminal.ENVIRONMENT .. terminal.LUA .. " examples/swarm/main.lua "
    assert(terminal.run(command .. "--help"):find("--picture FILE", 1, true))
    local output, status = terminal.run(command .. "--picture")
    assert.equal(2, status)
    assert(output:find("--picture takes a file, got nothing", 1, true))
  end)
end)

describe("examples/swarm/picture.svg", function()
  it("is such a picture", function()
    assert_is_picture(contents "examples/swarm/picture.svg")
  end)
end)
