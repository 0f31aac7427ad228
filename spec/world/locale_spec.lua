-- Numbers in texts are Lua's, with a point, whatever the locale has for one: what is declared,
-- shown and saved is the same everywhere. Texts have the order of the locale, in kernels, too.

local helper = require "spec.support.ecs_helper"

-- Prints what texts with numbers come to in a locale.
local PROGRAM = [[
  local ecs = require "ecs"
  assert(os.setlocale(os.getenv "LC_ALL"), "no such locale")
  print((tostring(1.5):gsub("%d", "")))
  local function show(_, message) io.write(tostring(message), "\n") end
  local w = ecs.world { tag = 1, seed = 1 }
  w:component("Point", { "x: f32 = 1.5", "y: f64 = 0x.8p1", { "z: f32", min = 0.5, max = -2.25 } })
  show(pcall(w.component, w, "Comma", { "x: f32 = 1,5" }))
  show(pcall(w.component, w, "Hint", { { "x: f32", unit = 1.5 } }))
  show(pcall(w.prefab, w, "Odd", {}, { children = { [1.5] = {} } }))
  local z = w:describe("Point").fields[3]
  io.write(math.type(z.min), (" %d %d\n"):format(z.min * 4 // 1, z.max * 4 // 1))
  local e = w:spawn { Point = {} }
  io.write(("%d %d\n"):format(w:get(e, "Point.x") * 2 // 1, w:get(e, "Point.y") * 2 // 1))
  show(pcall(w.set, w, e, "Point.x", "1,5"))
  show(pcall(w.add, w, e, 1.5))
  show(pcall(w.query, w, "Point.1,5"))
  w:system("s", { query = "Point", each = function(p) p.x = p.x * 2.5 + 0.1 end })
  w:update(0.5)
  io.write(tostring(w:explain("s").program), "\n")
  io.write((w:save():gsub("[^%g]", ".")), "\n")
]]

-- Prints how texts compare in a locale, to Lua and to a kernel.
local ORDER = [[
  local ecs = require "ecs"
  assert(os.setlocale(os.getenv "LC_ALL"), "no such locale")
  local w = ecs.world { tag = 1, seed = 1 }
  w:component("Two", { "x: string", "y: string", "before: bool", "not_behind: bool" })
  local texts = { "", "a", "B", "b", "Z", "\u{e4}", "\u{e4}\0b", "\u{e4}\0B", "z", "\x81",
    "\xa1", "\xc2", "\xcc\x81", "-b", "b-", "a\0Z", "a\0b", "10", "9" }
  for _, x in ipairs(texts) do
    for _, y in ipairs(texts) do w:spawn { Two = { x, y } } end
  end
  w:query "Two":run(function(two)
    two.before, two.not_behind = two.x < two.y, two.x <= two.y
  end)
  local lua, kernel = {}, {}
  for two in w:query "Two":each() do
    lua[#lua + 1] = (two.x < two.y and "<" or "") .. (two.x <= two.y and "=" or ";")
    kernel[#kernel + 1] = (two.before and "<" or "") .. (two.not_behind and "=" or ";")
  end
  print("Z" < "a", "\u{e4}" < "b")
  print(table.concat(lua))
  print(table.concat(kernel))
]]

local function lines_of(locale, directory, program)
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "wb"))
  file:write(program or PROGRAM)
  file:flush()
  local command = "LOCPATH='%s' LC_ALL='%s' LUA_PATH='%s' LUA_CPATH='%s' ${LUA:-lua5.4} '%s' 2>&1"
  command = command:format(directory, locale, package.path, package.cpath, path)
  local pipe = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  os.remove(path)
  return lines
end

describe("a number in a text", function()
  it("has a point, in a locale with a comma, too, where texts have another order", function()
    helper.needs_processes(pending)
    local directory = os.tmpname()
    os.remove(directory)
    -- Where no locale can be made, functions that take commas stand for one: the next test.
    local made = os.execute(("mkdir -p '%s' && localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' "
      .. "2>/dev/null"):format(directory, directory))
    local plain = lines_of("C", "")
    local comma = made and lines_of("de_DE.UTF-8", directory) or lines_of("C", "")
    local bytes = lines_of("C", "", ORDER)
    local letters = made and lines_of("de_DE.UTF-8", directory, ORDER) or bytes
    os.execute("rm -rf '" .. directory .. "'")
    assert.equal("true\tfalse", bytes[1])
    -- The interpreter of spec/support is linked statically: its libc has the order of bytes alone.
    local alone = not made or package.preload["ecs.native"]
    assert.equal(alone and "true\tfalse" or "false\ttrue", letters[1])
    assert.same({ bytes[2], letters[2] }, { bytes[3], letters[3] })
    local no_comma = not made or alone and comma[1] == "."   -- as musl, which has one locale
    assert.same({ ".", no_comma and "." or "," }, { plain[1], comma[1] })
    assert.truthy(plain[2]:find("1,5 is not a default", 1, true), plain[2])
    assert.truthy(plain[3]:find("got 1.5", 1, true), plain[3])
    comma[1] = "."
    assert.same(plain, comma)
  end)

  -- What Lua's own functions do in a locale with a comma.
  local function with_comma(body)
    local format, number, text = string.format, tonumber, tostring
    local function commas(value) return (text(value):gsub("%.", ",")) end
    local env = setmetatable({
      tonumber = function(value, ...)
        return number(select("#", ...) == 0 and text(value):gsub(",", ".") or value, ...)
      end,
      tostring = function(value)
        return type(value) == "number" and commas(value) or text(value)
      end,
    }, { __index = _G })
    local loaded = {}
    function env.require(name)
      loaded[name] = loaded[name] or
        assert(loadfile(package.searchpath(name, package.path), "t", env))()
      return loaded[name]
    end
    string.format = function(form, ...)   -- luacheck: ignore
      return form:find "^%%%.?%d*g$" and commas(format(form, ...)) or format(form, ...)
    end
    local ok, problem = pcall(body, env.require "ecs.schema")
    string.format = format   -- luacheck: ignore
    assert(ok, problem)
  end

  it("is none with a comma where tonumber would take it", function()
    with_comma(function(schema)
      local plain, problem = schema.parse("A", { "x: f32 = 1,5" })
      assert.is_nil(plain)
      assert.truthy(problem:find("1,5 is not a default", 1, true))
      local fields = schema.parse("A", { { "x: f32 = -1.5e3", min = 0.5 }, "y: f64 = .25" })
      assert.same({ -1500.0, "0.5", 0.25 }, { fields[1].value, fields[1].min, fields[2].value })
      problem = select(2, schema.parse("A", { { "x: f32", unit = 2.5 } }))
      assert.truthy(problem:find("got 2.5", 1, true), problem)
    end)
  end)

  it("is not looked for in a limit that is a text with a comma", function()
    local world = helper.new_world()
    world:component("A", { { "x: f32", min = "0,5", max = "0.5" } })
    local field = world:describe("A").fields[1]
    assert.same({ "0,5", 0.5 }, { field.min, field.max })
  end)
end)
