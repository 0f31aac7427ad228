local ecs = require "ecs"
local native = require "ecs.native"
local helper = require "spec.support.ecs_helper"
local scratch = require "spec.support.scratch"

local has_error = helper.has_error

-- A directory in memory, where there is one: these tests are about names, not about disks.
local function new_directory()
  local path = os.tmpname()
  os.remove(path)
  local shared = native.stat "/dev/shm" and path:gsub("^.*/", "/dev/shm/") or path
  scratch.make_directory(shared)
  return shared, setmetatable({}, { __close = function() scratch.remove_directory(shared) end })
end

local function names_in(directory)
  local names = {}
  for _, name in ipairs(native.list(directory)) do
    names[#names + 1] = not name:find "^%.%.?$" and name or nil
  end
  table.sort(names)
  return names
end

local function make(value, rows)
  local world = helper.new_world { tag = 1 }
  world:component("P", { "x: i32" })
  world:spawn_many(rows or 50, { P = { x = value } })
  return world
end

-- Runs Lua code in a process of its own; `before` is said to the shell first.
local function start(code, before)
  local command = ("%s ${LUA:-lua5.4} -e '%s' 2>&1"):format(before or "", code)
  return assert(io.popen(command))
end

local WRITER = [[
  local ecs = require "ecs"
  local world = ecs.world { tag = 1 }
  world:component("P", { "x: i32" })
  world:spawn_many(50, { P = { x = %d } })
  for i = 1, %d do
    ecs.save_file(world, "%s")
    ecs.load_file(world, "%s")
  end
  print "saved"
]]

describe("a saved file", function()
  it("is what load_file loads", function()
    local directory <const>, _ <close> = new_directory()
    local path, world, other = directory .. "/a.ecs", make(7), helper.new_world()
    ecs.save_file(world, path)
    ecs.save_file(world, path)
    ecs.load_file(other, path)
    assert.equal(world:digest(), other:digest())
    assert.same({ "a.ecs" }, names_in(directory))
    has_error(function() ecs.load_file(other, path .. ".none") end, ".none")
    local file = assert(io.open(path, "wb"))
    file:write "rubbish"
    file:close()
    has_error(function() ecs.load_file(other, path) end, path, "not an image")
    assert.equal(world:digest(), other:digest())
  end)

  it("stays as it was when it cannot be replaced, and nothing is left beside it", function()
    helper.needs_processes(pending)
    local directory <const>, _ <close> = new_directory()
    local path, world = directory .. "/a.ecs", make(7)
    ecs.save_file(world, path)
    has_error(function() ecs.save_file(world, path .. "/no/such") end, path .. "/no/such",
      "Not a directory")
    has_error(function() ecs.save_file(world, directory) end, directory, "directory")
    has_error(function() ecs.save_file(world, directory .. "/" .. ("x"):rep(250)) end, "too long")
    has_error(function() ecs.save_file(world, "") end, "")
    local pipe = start(([[
      local ecs = require "ecs"
      local world = ecs.world()
      world:component("P", { "x: i32" })
      world:spawn_many(100000, { P = {} })
      print(pcall(ecs.save_file, world, "%s"))
    ]]):format(path), "trap '' XFSZ; ulimit -f 8;")
    local said = pipe:read "a"
    pipe:close()
    assert.matches("^false", said)
    assert.matches("a%.ecs: File too large", said)
    assert.same({ "a.ecs" }, names_in(directory))
    local other = helper.new_world()
    ecs.load_file(other, path)
    assert.equal(world:digest(), other:digest())
  end)

  it("is where a link leads, and as open to others as it was", function()
    helper.needs_processes(pending)
    local directory <const>, _ <close> = new_directory()
    local path, world = directory .. "/a.ecs", helper.new_world()
    assert(os.execute(("cd %s && umask 22 && mkdir d && : > d/b.ecs && chmod 640 d/b.ecs && "
      .. "ln -s d/b.ecs a.ecs && mkfifo pipe"):format(directory)))
    ecs.save_file(make(7), path)
    ecs.load_file(world, directory .. "/d/b.ecs")
    assert.are.equal(50, world:count "P")
    assert(os.execute(("cd %s && test -L a.ecs && test \"$(ls -l d/b.ecs | cut -c1-10)\" = "
      .. "-rw-r-----"):format(directory)))
    has_error(function() ecs.save_file(world, directory .. "/pipe") end, "/pipe: Invalid argument")
    assert.are.same({ "a.ecs", "d", "pipe" }, names_in(directory))
    assert.are.same({ "b.ecs" }, names_in(directory .. "/d"))
  end)

  it("is written where earlier writers have left theirs", function()
    helper.needs_processes(pending)
    local directory <const>, _ <close> = new_directory()
    local path, code = directory .. "/a.ecs", [[
      local ecs = require "ecs"
      local world = ecs.world()
      local pid = io.open("/proc/self/stat"):read "n"
      for i = 0, 20 do io.open(("%s.%%d.%%d.tmp"):format(pid, i), "wb"):close() end
      ecs.save_file(world, "%s")
      ecs.load_file(world, "%s")
      print "saved"
    ]]
    local pipe = start(code:format(path, path, path))
    assert.equal("saved\n", pipe:read "a")
    pipe:close()
    assert.equal(22, #names_in(directory))
  end)

  it("is there and whole at every moment while two processes save to it", function()
    helper.needs_processes(pending)
    local directory <const>, _ <close> = new_directory()
    local path = directory .. "/a.ecs"
    local rounds = helper.by_scale { small = 200, normal = 2000, deep = 20000 }
    ecs.save_file(make(0), path)
    local writers = {}
    for i = 1, 2 do writers[i] = start(WRITER:format(i, rounds, path, path)) end
    local world, seen = helper.new_world(), {}
    local loads = 0
    repeat   -- until there is one of theirs, which the last one will be
      ecs.load_file(world, path)
      local value = world:get(world:query("P"):first(), "P")
      seen[value] = true
      loads = loads + 1
    until loads >= rounds and (seen[1] or seen[2])
    for i = 1, 2 do
      assert.equal("saved\n", writers[i]:read "a")
      writers[i]:close()
    end
    assert.same({ "a.ecs" }, names_in(directory))
    ecs.load_file(world, path)
  end)
end)

describe("native.replace", function()
  it("takes two strings, the first a path", function()
    has_error(function() native.replace() end, "#1", "string")
    has_error(function() native.replace {} end, "#1", "string")
    has_error(function() native.replace "a\0b" end, "#1", "zero byte")
    has_error(function() native.replace "a" end, "#2", "string")
    has_error(function() native.replace("a", 12) end, "#2", "string")
  end)
end)
