-- mutate.lua DIRECTORY measure: runs the quick set on DIRECTORY/base and notes its times.
-- mutate.lua DIRECTORY work WORKER SEED N: makes and tests those of N mutants that no other worker
-- has taken, in DIRECTORY/workerWORKER.
-- mutate.lua DIRECTORY list SEED N: what came of them.

package.path = "./?.lua;" .. package.path
local mutants = require "spec.tools.mutants"
local random = require "spec.support.rng"

local directory = arg[1]
local base, results = directory .. "/base", directory .. "/results"
local LUA = os.getenv "LUA" or "lua5.4"
local LIBRARY = "build/mutant/all/ecs/native.so"
local ENVIRONMENT = "ECS_SPEC_SCALE=small ECS_BUILD=build/mutant/all "
  .. "LUA_PATH='lua/?.lua;lua/?/init.lua;;' "
  .. "LUA_CPATH='build/mutant/all/?.so;build/mutant/?.so;;' "
local MOST_DRAWS = 200

-- Examples in C, which would have to be built and linked again each time; what compares times,
-- which a debug build need not have; the pages.
local LEFT_OUT = {
  ["spec/examples/examples_spec.lua"] = true, ["spec/examples/module_spec.lua"] = true,
  ["spec/examples/recipes_spec.lua"] = true, ["spec/examples/pages_spec.lua"] = true,
}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- What a command prints when it runs in the tree that is not changed.
local function lines_of_base(command)
  local list, pipe = {}, assert(io.popen(("cd '%s' && %s 2>/dev/null"):format(base, command)))
  for line in pipe:lines() do
    list[#list + 1] = line
  end
  pipe:close()
  return list
end

local function run(tree, command)
  return (os.execute(("cd '%s' && { %s; } </dev/null >'output' 2>&1"):format(tree, command)))
end

-- ---- the quick set -----------------------------------------------------------------------

local function is_c(test)
  return test:find "^build/"
end

-- Runs a test under limits of its own; whether it passed, and its seconds of processor.
local function run_test(tree, test, seconds)
  local command = is_c(test) and "./" .. test
    or LUA .. " spec/tools/busted.lua --ignore-lua --no-keep-going -o TAP " .. test
  local script = ("cd '%s' && { (ulimit -t %d; ulimit -f 400000; ulimit -v 8000000; %s "
    .. "timeout -k 5 %d %s) >output 2>&1 </dev/null; status=$?; times; exit $status; } 2>&1")
    :format(tree, seconds, ENVIRONMENT, seconds * 10 + 60, command)
  local pipe = assert(io.popen(script))
  local said = pipe:read "a"
  local passed = pipe:close()
  local minutes, used, more, system = said:match "\n(%d+)m([%d.]+)s (%d+)m([%d.]+)s%s*$"
  return passed or false, (minutes + more) * 60 + used + system
end

local function all_tests()
  local tests = {}
  for _, path in ipairs(lines_of_base "find spec/c -name 'test_*.c'") do
    tests[#tests + 1] = path:gsub("^spec/c/", "build/mutant/tests/"):gsub("%.c$", "")
  end
  for _, path in ipairs(lines_of_base "find spec -name '*_spec.lua' ! -path 'spec/deep/*'") do
    tests[#tests + 1] = not LEFT_OUT[path] and path or nil
  end
  return tests
end

-- The times, the quickest first: most mutants do not live long.
local function measure()
  local tests = all_tests()
  local seconds = {}
  for _, test in ipairs(tests) do
    local passed, took = run_test(base, test, 600)
    if not passed then
      print(read(base .. "/output"))
      print(("mutate: %s fails before anything is changed"):format(test))
      os.exit(1)
    end
    seconds[test] = took
  end
  table.sort(tests, function(a, b)
    return seconds[a] < seconds[b] or seconds[a] == seconds[b] and a < b
  end)
  for i, test in ipairs(tests) do
    tests[i] = ("%s %.2f\n"):format(test, seconds[test])
  end
  write(directory .. "/tests", table.concat(tests))
end

local function known_tests()
  local tests = {}
  for line in io.lines(directory .. "/tests") do
    local name, seconds = line:match "^(%S+) (%S+)$"
    tests[#tests + 1] = { name = name, limit = math.ceil(tonumber(seconds) * 4) + 5 }
  end
  return tests
end

-- Whether a test can see a change of a file at all.
local function concerns(test, path)
  return not is_c(test) or test:find "/test_lua"
    or path:find "^src/core/" or path:find "^src/kernel/"
    or path:find "^src/runner/" or path:find "^src/[^/]*$"
end

-- The first test that fails; nil when all pass.
local function killer(tree, tests, path)
  for _, test in ipairs(tests) do
    if concerns(test.name, path) and not run_test(tree, test.name, test.limit) then
      return test.name
    end
  end
end

-- ---- drawing -----------------------------------------------------------------------------

-- All files with how many lines they have; what they say and may become is found when needed.
local function sources()
  local files = { lines = 0 }
  local find = "find src lua -name '*.[ch]' -o -name '*.inc' -o -name '*.lua' | LC_ALL=C sort"
  for _, path in ipairs(lines_of_base(find)) do
    local text = read(base .. "/" .. path)
    local count = #mutants.lines_of(text)
    files[#files + 1] = { path = path, text = text, first = files.lines + 1 }
    files.lines = files.lines + count
  end
  return files
end

local function changes_at(files, line)
  local file
  for _, candidate in ipairs(files) do
    file = candidate.first <= line and candidate or file
  end
  file.changes = file.changes
    or mutants.of(file.text, file.path:find "%.lua$" and "lua" or "c")
  return file, file.changes[line - file.first + 1]
end

-- A line first, then a kind of change, then one of that kind.
local function draw(files, rng)
  local file, changes
  repeat
    file, changes = changes_at(files, rng:int(files.lines))
  until changes
  local kinds, by_kind = {}, {}
  for _, change in ipairs(changes) do
    if not by_kind[change.kind] then
      kinds[#kinds + 1], by_kind[change.kind] = change.kind, {}
    end
    table.insert(by_kind[change.kind], change)
  end
  return file, rng:pick(by_kind[rng:pick(kinds)])
end

-- ---- one mutant --------------------------------------------------------------------------

local function same_file(tree, path)
  return os.execute(("cmp -s '%s/%s' '%s/%s'"):format(tree, path, base, path))
end

local function same_lua(one, two)
  local chunk = load(two)
  return chunk and string.dump(load(one), true) == string.dump(chunk, true)
end

-- Whether the changed tree builds, and to something else than before.
local function build(tree, file, text)
  local is_lua = file.path:find "%.lua$"
  if is_lua and (not load(text) or same_lua(file.text, text)) then
    return false
  end
  os.execute(("rm -rf '%s' && cp -Rp '%s' '%s'"):format(tree, base, tree))
  write(tree .. "/" .. file.path, text)
  return run(tree, "make -s mutant") and (is_lua or not same_file(tree, LIBRARY))
end

-- Whether only asserts differ.
local function same_release(tree, file)
  return not file.path:find "%.lua$" and run(tree, "make -s build/ecs/native.so")
    and same_file(tree, "build/ecs/native.so")
end

local function trim(line)
  return line:match "^%s*(.-)%s*$"
end

-- What is drawn for a place in the list depends on the seed and the place alone.
local function test_one(tree, files, tests, seed, at)
  local rng = random.new(seed * 1000003 + at)
  for _ = 1, MOST_DRAWS do
    local file, change = draw(files, rng)
    if build(tree, file, mutants.apply(file.text, change)) then
      local by = killer(tree, tests, file.path)
      if by or not same_release(tree, file) then
        return ("%s\n%s:%d: %s\n    %s\n    %s\n"):format(by or "survived", file.path, change.line,
          change.kind, trim(change.before), trim(change.after))
      end
    end
  end
  error "nothing in these sources can be changed"
end

local function work(worker, seed, count)
  local tree, files, tests = directory .. "/worker" .. worker, sources(), known_tests()
  for at = 1, count do
    local place = ("%s/%d"):format(results, at)
    if os.execute(("mkdir '%s' 2>/dev/null"):format(place)) then
      write(place .. "/said", test_one(tree, files, tests, seed, at))
    end
  end
end

local function list(seed, count)
  local killed = 0
  for at = 1, count do
    local said = read(("%s/%d/said"):format(results, at))
    if said:find "^survived\n" then
      io.write(said:match "\n(.*)$")
    else
      killed = killed + 1
    end
  end
  print(("%d of %d mutants of seed %d killed, %d survived"):format(killed, count, seed,
    count - killed))
end

local what = { measure = measure, list = list, work = work }
local numbers = {}
for i = 3, #arg do
  numbers[i - 2] = assert(math.tointeger(tonumber(arg[i])), "N and SEED are integers")
end
what[arg[2]](table.unpack(numbers))
