local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"
local native = require "ecs.native"

local PATH = "lua/ecs/types.lua"

-- The classes of the annotations and what they describe: names of functions, as a set.
local function set_of(list)
  local set = {}
  for _, name in ipairs(list) do
    assert(not set[name], name .. " is exported twice")
    set[name] = true
  end
  return set
end

local function functions_of(module)
  local set = {}
  for name, value in pairs(module) do
    if type(value) == "function" then
      set[name] = true
    end
  end
  return set
end

local CLASSES = {
  ecs = functions_of(ecs),
  native = set_of(native.exports.native),
  World = set_of(native.exports.world),
  Query = set_of(native.exports.query),
  Where = {},   -- those of Query
  Chunk = set_of(native.exports.chunk),
  Column = set_of(native.exports.column),
  Array = set_of(native.exports.array),
  Index = set_of(native.exports.index),
  Math = set_of(native.exports.math),
}

-- Every function that the annotations declare: class, name, parameters, the comment above it.
local function annotations()
  local list, comment = {}, {}
  for line in io.lines(PATH) do
    local class, name, parameters = line:match("^function (%w+)[.:]([%w_]+)%((.-)%) end$")
    if class then
      list[#list + 1] = { class = class, name = name, parameters = parameters,
        comment = table.concat(comment, "\n") }
    end
    if line:find("^%-%-%-") then
      comment[#comment + 1] = line
    else
      comment = {}
    end
  end
  return list
end

local declared = {}
for _, annotation in ipairs(annotations()) do
  declared[annotation.class] = declared[annotation.class] or {}
  declared[annotation.class][annotation.name] = annotation
end

-- Functions of native that other systems do not have.
local ON_WINDOWS = { noise = true, read = true }

describe("the annotations", function()
  it("are a file that editors read and nothing requires", function()
    local file = assert(io.open(PATH))
    assert.are.equal("---@meta ecs", file:read("l"))
    file:close()
    assert.is_function(loadfile(PATH))
    assert.is_nil(package.loaded["ecs.types"])
  end)

  for class, exported in pairs(CLASSES) do
    it("of " .. class .. " describe every function that there is, and no other", function()
      for name in pairs(exported) do
        assert.is_truthy((declared[class] or {})[name], name .. " has no annotation")
      end
      for name in pairs(declared[class] or {}) do
        local elsewhere = class == "native" and ON_WINDOWS[name]
          and package.config:sub(1, 1) == "/"
        assert.are.equal(not elsewhere or nil, exported[name], name)
      end
    end)
  end

  it("know every class that is exported", function()
    for class in pairs(native.exports) do
      assert.is_truthy(CLASSES[class] or CLASSES[class:gsub("^%l", string.upper)], class)
    end
    for class in pairs(declared) do
      assert.is_truthy(CLASSES[class], class)
    end
  end)

  it("need none of their own for filters, which have what queries have", function()
    assert.are.same(native.exports.query, native.exports.where)
  end)

  it("give every parameter a type", function()
    for class, list in pairs(declared) do
      for name, annotation in pairs(list) do
        for parameter in annotation.parameters:gmatch("[%w_.]+") do
          local pattern = "%-%-%-@param " .. parameter:gsub("%.", "%%.") .. "%??%s+%S"
          assert.is_truthy(annotation.comment:find(pattern),
            ("%s.%s: %s"):format(class, name, parameter))
        end
      end
    end
  end)
end)

describe("the reference", function()
  local PREFIXES = { ecs = "ecs.", World = "world:", Query = "query:", Chunk = "chunk:",
    Column = "column:", Array = "array:", Index = "index:", Math = "ecs.math." }

  local function contents(path)
    local file <close> = assert(io.open(path))
    return file:read("a")
  end

  -- As the headings write it: "world:random(entity [, m [, n]])".
  local function signature_of(annotation)
    local text, open = PREFIXES[annotation.class] .. annotation.name .. "(", 0
    for name in annotation.parameters:gmatch("[%w_.]+") do
      local comma = text:find("%($") and "" or ", "
      if annotation.comment:find("@param " .. name .. "?", 1, true) then
        text, open = text .. (comma == "" and "[" or " [, ") .. name, open + 1
      else
        text = text .. comma .. name
      end
    end
    return text .. ("]"):rep(open) .. ")"
  end

  local headings, index = {}, contents("lua/README.md")
  local pages = {}
  for _, name in ipairs(native.list "lua/reference") do
    pages[#pages + 1] = name:find "%.md$" and contents("lua/reference/" .. name) or nil
  end
  for line in table.concat(pages, "\n"):gmatch "[^\n]+" do
    for signature in (line:match("^#+ (.*)") or ""):gmatch("`(%l+[.:][%w_.]+%b())`") do
      headings[signature] = true
    end
  end

  it("has every function as it is annotated, and the index has a line for it", function()
    for class, prefix in pairs(PREFIXES) do
      for name, annotation in pairs(declared[class]) do
        local signature = signature_of(annotation)
        assert.is_truthy(headings[signature], signature .. " is not on a page of the reference")
        assert.is_truthy(index:find("\n| [`" .. prefix .. name .. "`](", 1, true), signature)
      end
    end
  end)

  it("has no function that there is not", function()
    for signature in pairs(headings) do
      for class, prefix in pairs(PREFIXES) do
        local name = signature:sub(1, #prefix) == prefix
          and signature:sub(#prefix + 1):match("^([%w_]+)%(")
        assert.is_truthy(not name or declared[class][name], signature)
      end
    end
  end)

  it("has the constants of the module", function()
    for name, value in pairs(ecs) do
      assert.is_truthy(type(value) == "function" or index:find("`ecs." .. name .. "`", 1, true))
    end
  end)
end)

describe("ecs.native.exports", function()
  it("names methods that the objects have", function()
    local world = helper.new_world()
    world:component("Position", { "x: f32" })
    world:component("At", { "x: f32", "y: f32" })
    world:spawn { Position = {} }
    local query = world:query "Position"
    local objects = { world = world, query = query, native = native, math = native.math,
      array = world:array("grid", "f32", 1),
      index = world:index("near", { query = "At:in", grid = "At", cell = 1 }) }
    for chunk in query:chunks() do
      objects.chunk, objects.column = chunk, chunk:column "Position.x"
      objects.where = query:where(function(position) return position.x > 0 end)
      for class, names in pairs(native.exports) do
        for _, name in ipairs(names) do
          assert.is_function(objects[class][name], class .. "." .. name)
        end
      end
    end
  end)
end)
