-- The pages for people: what they link to and name is there, and their programs run.

local helper = require "spec.support.ecs_helper"
local scratch = require "spec.support.scratch"

local PAGES = { "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md",
  "lua/README.md", "spec/capabilities.md", "src/README.md", "src/embedding.md" }

-- What another change brings.
local SOURCES = { c = true, h = true, lua = true, inc = true, def = true }
local NO_FILES = { ["lua.h"] = true, ["spec/FOLDER/topic_spec.lua"] = true }

local function contents(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function exists(path)
  local file <close> = io.open((path:gsub("/$", "")))
  return file ~= nil
end

local function lines_of(command)
  local pipe <close> = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do
    lines[#lines + 1] = line
  end
  return lines
end

-- Pages for Lua, and how many lines each may have.
local LUA_PAGES = { ["README.md"] = 200 }
for _, page in ipairs(lines_of "ls lua/guide/*.md lua/reference/*.md") do
  table.insert(PAGES, page)
  LUA_PAGES[page] = page:find "guide" and 200 or page:find "kernels" and 250 or 300
end

-- The Lua blocks of a page as one program, in which each line is where the page has it. A block
-- that begins with "-- scripts/NAME.lua" becomes that file, below `root`, as do saved worlds.
local function program_of(page, root)
  local text, program, at = contents(page), {}, 1
  for before, code, after in text:gmatch "()```lua\n(.-)```()" do
    program[#program + 1] = text:sub(at, before - 1):gsub("[^\n]+", "")
    local name = code:match "^%-%- scripts/([%w_]+%.lua)\n"
    program[#program + 1] = name and ("write(%q, [==[\n%s]==])"):format(name, code) or "\n" .. code
    at = after
  end
  return (table.concat(program):gsub('"(scripts)"', '"' .. root .. '/%1"')
    :gsub('"([%w_]+%.save)"', '"' .. root .. '/%1"'))
end

-- Runs the program of a page. What it prints is what its comments `--> value` say, in their order;
-- "..." stands for any part of it.
local function try_page(page, environment)
  local files <close> = setmetatable(scratch.new(), { __index = scratch, __close = scratch.close })
  local printed, promised = {}, {}
  function environment.write(name, text) files:write(name, text) end
  function environment.print(...)
    local values = table.pack(...)
    for i = 1, values.n do values[i] = tostring(values[i]) end
    printed[#printed + 1] = table.concat(values, "  ")
  end
  function environment.require(name)
    return name == "ecs" and setmetatable({ world = helper.new_world }, { __index = require "ecs" })
      or require(name)
  end
  for name, value in pairs(_G) do     -- copied: kernels read globals raw
    environment[name] = environment[name] or value
  end
  local program = program_of(page, files.root)
  assert(load(program, "=" .. page, "t", environment))()
  for value in program:gmatch "%-%-> ([^\n]*)" do
    local i = #promised + 1
    local pattern = "^" .. value:gsub("%p", "%%%0"):gsub("%%%.%%%.%%%.", ".*") .. "$"
    promised[i] = printed[i] and printed[i]:find(pattern) and printed[i] or value
  end
  assert.same(promised, printed)
end

-- What the pages of the reference begin with.
local function new_scene()
  local world = helper.new_world()
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Velocity", { "x: f32", "y: f32" })
  world:tag "Flying"
  world:tag "Frozen"
  local scene = { world = world, ecs = require "ecs", e = world:spawn() }
  for _, name in ipairs { "bob", "eve", "ship", "port" } do
    scene[name] = world:spawn()
    world:name(scene[name], name)
  end
  return scene
end

-- A page's headings, as the anchors that GitHub makes of them.
local function anchors_of(path)
  local anchors = {}
  for heading in ("\n" .. contents(path)):gmatch "\n#+ ([^\n]*)" do
    anchors[heading:lower():gsub("[^%w%- _]", ""):gsub(" ", "-")] = true
  end
  return anchors
end

-- "a/b/../c" as "a/c".
local function resolve(path)
  local found
  repeat
    path, found = path:gsub("[^/]+/%.%./", "", 1)
  until found == 0
  return path
end

-- The words of all sources, as a set.
local function words_of_sources()
  local words = {}
  for _, path in ipairs(lines_of "find src lua -name '*.[ch]' -o -name '*.lua' -o -name '*.def'") do
    for word in contents(path):gmatch "[%a_][%w_]*" do
      words[word] = true
    end
  end
  return words
end

describe("the page", function()
  for _, page in ipairs(PAGES) do
    it(page .. " links to what there is", function()
      local here = page:match "^(.*/)" or ""
      for target in contents(page):gmatch "%]%(([^()%s]+)%)" do
        local path, anchor = target:match "^([^#]*)#?(.*)$"
        if not path:find "^https?:" then
          path = path == "" and page or resolve(here .. path)
          assert(exists(path), page .. " links to " .. target)
          assert(anchor == "" or anchors_of(path)[anchor], page .. " links to " .. target)
        end
      end
    end)
  end

  for page, most in pairs(LUA_PAGES) do
    it(page .. " has programs that run, and no more lines than it may", function()
      try_page(page, page:find "reference" and new_scene() or {})
      assert(select(2, contents(page):gsub("\n", "")) <= most)
    end)
  end

  -- A file is named by its name, or by as much of its path as one likes.
  for _, page in ipairs { "src/README.md", "CONTRIBUTING.md" } do
    it(page .. " names files that there are", function()
      local files = "\n" .. table.concat(lines_of
        "find src lua spec examples rockspec .ci .luacheckrc .clang-tidy -type f", "\n") .. "\n"
      for name in contents(page):gmatch "`([%w_./]+%.%l+)`" do
        if SOURCES[name:match "%.(%l+)$"] and not NO_FILES[name] then
          assert(files:find("/" .. name .. "\n", 1, true) or exists(name), name)
        end
      end
    end)
  end

  it("src/README.md names functions, structs and members that there are", function()
    local words, count = words_of_sources(), 0
    for name in contents("src/README.md"):gmatch "`([%a_][%w_.]*)`" do
      local word = name:match "[^.]*$"
      if not exists(name) and not name:find "%.[chl]" and not name:find "%.def$" then
        assert(words[word], name)
        count = count + 1
      end
    end
    assert(count > 60, count)
  end)

  it("spec/capabilities.md lists every code once", function()
    local count = 0
    for code in contents "spec/capabilities.md":gmatch "\n| C(%d+) |" do
      count = count + 1
      assert.equal(count, tonumber(code))
    end
    assert.equal(87, count)
  end)

  it("CONTRIBUTING.md lists every check", function()
    local page = contents "CONTRIBUTING.md"
    for name in contents "spec/check.mk":gmatch "\ncheck%-([%w-]+):" do
      assert(page:find("`" .. name .. "`", 1, true), name)
    end
  end)
end)
