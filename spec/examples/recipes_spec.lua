-- The cookbook: every recipe is run, and does and prints what examples/README.md says.

local helper = require "spec.support.ecs_helper"
local scratch = require "spec.support.scratch"
local terminal = require "spec.support.pty"

local PAGE = "examples/README.md"

local function contents(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- The sections of the page that show a recipe: { title, path, snippets, output }.
local function read_recipes()
  local recipes = {}
  for title, body in ("\n" .. contents(PAGE)):gsub("\n## ", "\0"):gmatch "%z([^\n]*)\n(%Z*)" do
    local path = body:match "%]%((recipes/[%w_]+%.lua)%)"
    if path then
      local recipe = { title = title, path = "examples/" .. path, snippets = {} }
      for snippet in body:gmatch "```lua\n(.-)```" do
        table.insert(recipe.snippets, snippet)
      end
      recipe.output = body:match "```text\n(.-)```"
      recipes[#recipes + 1] = recipe
    end
  end
  return recipes
end

local function output_of(path, arguments)
  local output, status = terminal.run(("%s%s %s %s </dev/null"):format(terminal.ENVIRONMENT,
    terminal.LUA, path, arguments or ""))
  assert(status == 0, output)
  return output
end

describe("the recipe for", function()
  local recipes = read_recipes()

  for _, recipe in ipairs(recipes) do
    it(recipe.title:lower() .. " is what the page shows", function()
      local code = contents(recipe.path)
      assert(#recipe.snippets > 0)
      for _, snippet in ipairs(recipe.snippets) do
        assert(code:find(snippet, 1, true), snippet)
      end
      if recipe.output then
        local output = output_of(recipe.path):gsub("%d+%.%d+", function(number)
          return #number > 16 and ("%.14g"):format(number) or nil   -- Lua 5.5 writes all digits
        end)
        assert.equal(recipe.output, output)
      end
    end)
  end

  it("each question is on the page, and no other", function()
    local shown = {}
    for _, recipe in ipairs(recipes) do
      shown[recipe.path] = true
    end
    local pipe <close> = assert(io.popen "ls examples/recipes/*.lua")
    local count = 0
    for path in pipe:lines() do
      assert(shown[path], path)
      count = count + 1
    end
    assert.equal(#recipes, count)
  end)

  it("loops prints what each form takes, and why a function stayed Lua", function()
    local output = output_of("examples/recipes/forms.lua", "2000")
    local forms = 0
    for form, ns in output:gmatch "([^\n]*) +([%d.]+) ns a row\n" do
      assert(tonumber(ns) > 0, form)
      forms = forms + 1
    end
    assert.equal(6, forms)
    for line in contents(PAGE):gmatch "\n    (%l[%w_]* +%l+ +examples/recipes/forms.lua[^\n]*)" do
      assert(output:find(line .. "\n", 1, true), line)
    end
    assert(output:find("shake_well vector\n", 1, true))
  end)

  it("editors is a live script, and its class is described", function()
    local files <close> = setmetatable(scratch.new(), {
      __index = scratch, __close = scratch.close,
    })
    files:write("annotated.lua", contents "examples/recipes/annotated.lua")
    local world = helper.new_world()
    require("ecs.live").open(world, { files.path })
    world:update(1)
    assert.equal(1, world:get(world:query("Position"):first(), "Position.x"))
    assert(contents("lua/ecs/live/reading.lua"):find("---@class ecs.Script\n", 1, true))
    assert(contents("lua/ecs/types.lua"):find("---@class ecs.World\n", 1, true))
  end)
end)
