local ecs = require "ecs"
local helper = require "spec.support.ecs_helper"

-- What each body does that a kernel cannot, and the reason and line that are given. A body is
-- the text between function(a, b, dt, e) and end; it begins in line 2.
local refused = {
  { "local t = {}\na.x = t.y", "to nil: is a name misspelled?", 3 },
  { "local t = {}\nt[0] = 1", "with keys that are not names", 3 },
  { "a.x = (b.on and { 1, 2 } or list)[b.n]", "one of several tables by a variable: choose", 2 },
  { "world:res('Wind')[b.n] = 1", "as a constant, or keep the values in a world:array", 2 },
  { "local t = { a.x }\nif a.x > 1 then t = { 2.0 } end a.x = t[1]", "neither a view nor a", 3 },
  { "b.label = ('%d'):format(a.x)", "C function that is not a math function, 'string.format'", 2 },
  { "b.label = b.label:lower()", "C function that is not a math function, 'string.lower'", 2 },
  { "b.label = b.label:sub(1, 3)", "sets a string field to something other than a string", 2 },
  { "b.on = b.label:sub(2, 3) == 'x'", "takes a part of a string that is not its beginning", 2 },
  { "b.on = b.label:sub(1, -2) == 'x'", "takes a part of a string that is not its beginning", 2 },
  { "b.on = b.label:sub(1, a.x) == 'x'", "takes a part of a string that is not its beginning", 2 },
  { "b.on = b.label:sub(1, 2.5) == 'x'", "takes a part of a string that is not its beginning", 2 },
  { "b.on = b.label:sub(1, nil) == 'x'", "takes a part of a string that is not its beginning", 2 },
  { "b.on = b.label:sub() == 'x'", "takes a part of a string that is not its beginning", 2 },
  { "b.on = b.label:sub(1, 3) == b.label", "compares a part of a string with something that", 2 },
  { "b.on = b.label:sub(1, 3) == b.kind", "compares a part of a string with something that", 2 },
  { "b.on = b.label:sub(1, 3) == b.label:sub(1, 2)", "compares a part of a string with", 2 },
  { "b.on = b.label:sub(1, 3) < 'x'", "it compares a part of a string with a string", 2 },
  { "a.x = #b.label:sub(1, 3)", "may not be a table, array or string", 2 },
  { "b.on = b.label < 5", "it compares a string field with a number", 2 },
  { "b.on = b.label < b.on", "it compares a string field with a boolean", 2 },
  { "b.on = b.label.sub < 5", "it compares a function with a number", 2 },
  { "b.on = b.label:nowhere()", "it calls nil: is a name misspelled?", 2 },
  { "a.x = #a", "may not be a table, array or string", 2 },
  { "a.x = #long", "length of a table that has __len: keep the length in a local", 2 },
  { "a.x = outer[2]", "uses '2', which is not in the table itself", 2 },
  { "a.x = outer[1.5]", "a table that has an __index", 2 },
  { "a.x = outer.a.b.c.d.e.f.g", "which is not in the table itself", 2 },
  { "a.x = deep.a.a.a.a.a.a.a", "through more than 6 keys", 2 },
  { "local s = 'a' .. a.x", "builds a string", 2 },
  { "a.x = 1\ncount = 'text'", "'count' gets values of several types: use one", 3 },
  { "name = b", "sets 'name' to a view: write only numbers, ids", 2 },
  { "long = 1", "writes to 'long', which is a table: write only to numbers, booleans and", 2 },
  { "count = a.x > 0", "'count' gets values of several types: use one", 2 },
  { "if a.x > 0 then global_name = 1 else global_name = b.kind end", "of several types", 2 },
  { "nothing = world:spawn {}", "sets \'nothing\' to the id of a spawned entity", 2 },
  { "outer.other = 2", "'outer.other', which does not exist, in a table with __index: set it", 2 },
  { "outer.field = nil", "may set the field 'outer.field' of a table to nil: write false", 2 },
  { "if a.x > 0 then nothing = 1 end\nouter.field = nothing", "may set the field", 3 },
  { "a.x = long[b.on]", "indexes a table by a boolean", 2 },
  { "list[b.on] = 1", "writes to 'list' with a key that is neither a number nor a string", 2 },
  { "list[b.n] = nil", "sets an element of 'list' to nil, or to a boolean among numbers", 2 },
  { "list[b.n] = b.on", "sets an element of 'list' to nil, or to a boolean among numbers", 2 },
  { "list[b.n] = b.label", "sets 'list' to a string field: write only numbers", 2 },
  { "list.n = 1\na.x = list[b.n]", "a field or element of a table that it also reaches in", 1 },
  { "list.n = #list", "a field or element of a table that it also reaches in another", 1 },
  { "local f = function() return function() end end\nf()", "creates a function", 2 },
  { "local f <close> = nil", "closed", 2 },
  { "goto mid ::top:: a.x = a.x + 1\n::mid:: if a.x < 5 then goto top end", "the middle of", 3 },
  { "if a.x > 2 then goto mid end ::top:: a.x = a.x + 1\n::mid:: if a.x < 5 then goto top end",
    "jumps into the middle of a loop: write while or repeat", 2 },
  { "local s = 'a'\nwhile a.x < 5 do a.x = a.x + 1 s = a end\nb.label = s", "sets a string", 4 },
  { "for i, v in pairs(outer) do a.x = v end", "loop over a list with ipairs", 2 },
  { "for i, v in ipairs(a.x) do a.x = v end", "it calls ipairs with something that is neither", 2 },
  { "local f, t = ipairs(outer) for i in f, t, 1 do a.x = i end", "an iterator other than", 2 },
  { "for k, v in next, outer do a.x = 1 end", "C function that is not a math function", 2 },
  { "print(a.x)", "C function that is not a math function, 'print': call it in a system's run", 2 },
  { "a.x = tonumber('5')", "C function that is not a math function", 2 },
  { "a.x = math.random()", "which does not use the world's random numbers: write", 2 },
  { "math.randomseed(1)", "world:random(e)", 2 }, { "a.x = math.type(a.x)", "to a string", 2 },
  { "a.x = string.len('abc')", "C function that is not a math function, 'string.len'", 2 },
  { "coroutine.yield()", "C function that is not a math function", 2 },
  { "error('no')", "C function that is not a math function", 2 },
  { "a.x = select('#', 1, 2)", "C function that is not a math function", 2 },
  { "a.x = os.time()", "C function that is not a math function", 2 },
  { "local x = math.tointeger(a.x)", "with a float, for which the result may be", 2 },
  { "a.x = math.type() and 1 or 2", "math.type with a value", 2 },
  { "a.x = math.sqrt('2')", "without a number", 2 }, { "a.x = math.sqrt()", "sqrt without", 2 },
  { "a.x = math.fmod(math.modf(a.x), 3)", "write the integer as a float", 2 },
  { "a.x = math.fmod(math.max(a.x, 0), 2)", "calls math.fmod with a number that is an integer", 2 },
  { "local same = math.type(math.max(a.x, 0)) == 'float'", "calls math.type with a number", 2 },
  { "a.x = recursive(3)", "calls itself", -1 },
  { "b.kind = looped(a.x)", "neither a number nor a string from inside a loop: return a", 0 },
  { "a.x = nowhere.y", "it takes a field of nil: is a name misspelled?", 2 },
  { "nowhere(a.x)", "it calls nil: is a name misspelled?", 2 },
  { "b.target = nil", "write ecs.null", 2 },
  { "a.x = outer(3)", "neither a Lua function nor a math function", 2 },
  { "a.x = name(3)", "neither a Lua function nor a math function", 2 },
  { "a.x = a.missing", "no field 'missing'", 2 }, { "a.missing = 1", "no field 'missing'", 2 },
  { "a.x = b", "another type", 2 }, { "a.x = 'text'", "to a string", 2 },
  { "a.x = true", "to a boolean", 2 }, { "b.on = 1", "to a number", 2 },
  { "b.on = nil", "to nil: is a name misspelled?", 2 },
  { "b.label = 5", "sets a string field to something other", 2 },
  { "local s = b.bag", "which is any", 2 }, { "b.kind = 'purple'", "one of its names", 2 },
  { "b.kind = 1", "one of its names", 2 },
  { "local s = 'red'\nfor i = 1, 3 do if a.x > i then s = i end end\nb.kind = s",
    "type enum to a value whose type depends on the path taken: give it", 4 },
  { "local s = 'red'\nfor i = 1, 3 do if a.x > i then s = i end end\nb.on = s == 'red'",
    "a value whose type depends on the path taken", 4 },
  { "b.kind = b.on and 'red' or 'purple'", "one of its names", 2 },
  { "b.target = a.x", "to a number", 2 }, { "a.x = b.kind + 1", "calculates with an enum", 2 },
  { "a.x = b.on + 1", "with a boolean", 2 }, { "a.x = name + 1", "calculates with a string", 2 },
  { "a.x = a + 1", "calculates with a view", 2 }, { "a.x = nothing + 1", "calculates with nil", 2 },
  { "if a.x < name then a.x = 1 end", "compares a number with a string", 2 },
  { "if a < b then a.x = 1 end", "compares a view with a view", 2 },
  { "local v = 1 if a.x > 0 then v = true end a.x = v", "depends on the path taken", 2 },
  { "local v = e if a.x > 0 then v = 1.5 end a.x = v", "give it the same type on every path", 2 },
  { "a.x = math.max(a.x, e)", "mixes ids and floats: add 0.0 to the id", 2 },
  { "for i = 1, b.on do a.y = i end", "loop's limit is not a number", 2 },
  { "for i = math.max(a.x, 0), 3 do a.y = i end", "counts from a number that is an integer", 2 },
  { "for i = 1, 10, 0 do a.y = i end", "step is zero", 2 },
  { "for i = 1.5, 10, 0.0 do a.y = i end", "step is zero", 2 },
  { "world:add(e, outer)", "something other than the name or id of a component from a", 2 },
  { "world:add(e, 'Bb')", "unknown component 'Bb' (did you mean 'B'?)", 2 },
  { "world:add(e, e)", "something other than the name or id of a component", 2 },
  { "world:add(e, count + 1)", "something other than the name or id of a component", 2 },
  { "world:add(e, 65536)", "65536 is not an entity id", 2 },
  { "if outer.hidden then a.x = 1 end", "uses 'hidden', which is not in the table itself", 2 },
  { "if outer == equal then a.x = 1 end", "compares tables that have __eq", 2 },
  { "a.x = world:res('Missing').x", "unknown component 'Missing'", 2 },
  { "a.x = world:res('A').x", "component 'A' is not a resource; declare it with", 2 },
  { "a.x = world:res(a.x).x", "something other than the name or id of a resource from a", 2 },
  { "local w = world:res 'Wind'\nif w == world:res 'Wind' then a.x = 1 end", "compare a", 3 },
  { "world:name(e)", "calls world:name", 2 },
  { "world:spawn(outer)", "from something other than a table written in the call", 2 },
  { "world:spawn { A = 1 }", "set to neither true nor a table of its fields", 2 },
  { "world:spawn { A = { q = 1 } }", "component 'A' has no field 'q' (did you mean 'x'?)", 2 },
  { "world:spawn { Aa = true }", "unknown component 'Aa'", 2 },
  { "local t = {}\nif a.x > 1 then t.A = true else t.A = {} end\nworld:spawn(t)", "several", 3 },
  { "local t = {}\nfor k = 1, 3 do world:spawn { A = t } t.x = k end", "in a loop that did", 3 },
  { "a.x = world:spawn()", "'A.x', which is not an entity field", 2 },
  { "world:set(e, 'A')", "something other than a field and its value", 2 },
  { "other:despawn(e)", "not this world, nor one of its resources", 2 },
  { "b.target = b.on", "to a boolean", 2 },
  { "local x = a[count]", "by a variable: write the index as a constant", 2 },
  { "if b.slots[b.n] == 'x' then a.x = 1 end",
    "keep the elements of the array field 'B.slots' in a world:array", 2 },
  { "a.x = sold[b.n].price", "none for any of the names, or no record with the field", 2 },
  { "acts[b.n].go()", "an element of 'acts', a table that has functions in its records", 2 },
  { "a.x, a.y = spread(...)", "has the parameter '...'", 1, true },
  { "b.n = b.n\nlocal u = outer[count]", "a table that has an __index", 3 },
}

local header = [[
local ecs, world, other, outer, name, equal, long, deep = ...
local count, nothing, list, acts = 1, nil, { 1, n = 2 }, { { go = ipairs }, { go = 1 } }
local sold, recursive = { setmetatable({ at = 1 }, { __index = { price = 3 } }) }
local function spread(...) return ... end
local function noop() return ecs, world, other, outer, name, count, spread, equal, long, deep end
function recursive(n) if n > 0 then return recursive(n - 1) end return 0 end
local function looped(n) for i = 1, 3 do if n > i then return list end end return list end
return %s
]]

local function build(entry, world)
  local body = ("function(a, b, dt, e%s)\n%s\nreturn noop and nil\nend"):format(
    entry[4] and ", ..." or "", entry[1])
  local text = header:format(body)
  local outer = setmetatable({ 5, field = 1 }, { __index = { hidden = 2 } })
  local long, deep = setmetatable({}, { __len = function() return 3 end }), {}
  deep.a = deep
  local equal = setmetatable({}, { __eq = function() return true end })
  return assert(load(text, "=script"))(ecs, world, ecs.world(), outer, "text", equal, long,
    deep)
end

local function make_world()
  local world = helper.new_world()
  world:component("A", { "x: f32", "y: f32" })
  world:component("B", { "n: i32", "on: bool", "label: string", "bag: any",
    "kind: enum(red, green)", "target: entity", "slots: string[127]" })
  world:resource("Wind", { "x: f64" })
  return world, world:query "A, B"
end

describe("a function that cannot be compiled", function()
  after_each(helper.check_worlds)
  for _, entry in ipairs(refused) do
    it(("because %s: %s"):format(entry[2], entry[1]:gsub("\n", " ")), function()
      local world, query = make_world()
      world:spawn { A = {}, B = {} }
      local fn = build(entry, world)
      local ok, message = pcall(query.run, query, fn)
      assert.is_false(ok)
      assert.truthy(message:find(entry[2], 1, true), message)
      local line = tonumber(message:match "script:(%d+):")
      assert.equal(entry[3] + 7, line, message)
    end)
  end

  it("still runs as plain Lua in a system, which says why", function()
    local world = make_world()
    local e = world:spawn { A = {}, B = {} }
    local seen = {}
    world:system("plain", { query = "A, B", each = function(a, _, dt)
      seen[#seen + 1] = tostring(dt)
      a.x = a.x + 1
    end })
    world:update(0.5)
    assert.same({ "0.5" }, seen)
    assert.equal(1.0, (world:get(e, "A")))
    local explained = world:explain "plain"
    assert.equal("lua", explained.tier)
    assert.matches("kernel_refused_spec.lua:%d+: ", explained.reason)
  end)

  it("is an error with compile = true, at registration", function()
    local world = make_world()
    world:spawn { A = {}, B = {} }
    helper.has_error(function()
      world:system("s", { query = "A, B", compile = true, each = function() print(1) end })
    end, "system 's'", "cannot be compiled", "kernel_refused_spec.lua")
  end)

  it("runs as soon as what it was refused for is gone", function()
    local world, config, ran = helper.new_world(), {}, 0
    world:component("A", { "x: f64" })
    local e = world:spawn { A = {} }
    local function body(a) a.x = a.x + config.n end
    world:system("must", { query = "A", compile = true, each = function(a)
      if config.n then a.x = a.x + config.n end
    end, enabled = false })
    local query = world:query "A"
    for round = 1, 6 do
      for _ = 1, round do
        config.n = round % 2 == 0 or "one"
        helper.has_error(function() query:run(body) end, "calculates with")
        helper.has_error(function() world:run("must", 0) end, "calculates with")
      end
      config.n = 1
      query:run(body)
      world:run("must", 0)
      ran = ran + 2
      assert.equal(ran, world:get(e, "A.x"))
    end
  end)

  -- A world with a system that computes in f32, where kernels and Lua come to other last bits.
  local function make_sensitive(always)
    local world, config = helper.new_world(), { on = false }
    world:component("A", { "x: f32" })
    for i = 1, 5 do world:spawn { A = { x = i / 3 } } end
    world:system("s", { query = "A", each = always and function(a)
      for _ = 1, config.on and 1 or 0 do a.x = a.x * 1.1 + config.n * 0.3 end
    end or function(a)
      if config.on then a.x = a.x * 1.1 + config.n * 0.3 end
    end })
    return world, config
  end

  it("is compiled by what its outside values are, however often it was refused", function()
    local world, config = make_sensitive()
    local snapshot, digests = world:snapshot(), {}
    for _, refusals in ipairs { 0, 1, 2, 3, 5, 9 } do
      world:restore(snapshot)
      config.on, config.n = false, nil
      for _ = 1, refusals do world:update(0) end
      config.on, config.n = true, 0.7
      for _ = 1, 3 do world:update(0) end
      assert.equal("vector", world:explain("s").tier)
      digests[#digests + 1] = world:digest()
    end
    for i = 2, #digests do assert.equal(digests[1], digests[i]) end
  end)

  it("is refused once for each way its outside values are", function()
    local world, config = make_sensitive(true)
    local others = { false, true, "text", {}, print, coroutine.create(print), world:query "A",
      setmetatable({}, { __index = { n = 1 } }) }
    for round = 1, 4 do
      for _, other in ipairs(others) do
        config.n = other
        world:update(0)
        assert.equal("lua", world:explain("s").tier)
      end
      setmetatable(config, { __index = { n = 2 } })
      config.n = nil
      world:update(0)
      assert.matches("not in the table itself", world:explain("s").reason)
      setmetatable(config, nil)
      world:update(0)
      assert.matches("calculates with nil", world:explain("s").reason)
      config.n = round + 0.5
      world:update(0)
      assert.same({ "vector", 1 }, { world:explain("s").tier, world:explain("s").compilations })
    end
  end)

  it("is asked again when what it compares has lost its __eq", function()
    local world, config = helper.new_world(), { t = {}, u = {} }
    world:component("A", { "x: f64" })
    world:spawn { A = {} }
    world:system("s", { query = "A", each = function(a) a.x = config.t == config.u and 1 or 2 end })
    for _ = 1, 3 do
      setmetatable(config.t, { __eq = function() return true end })
      world:update(0)
      assert.matches("have __eq", world:explain("s").reason)
      setmetatable(config.t, nil)
      world:update(0)
      assert.equal("vector", world:explain("s").tier)
    end
  end)

  it("is asked again only now and then where its outside values are others in each run", function()
    local function grown(kernels)
      local world, last = helper.new_world { kernels = kernels }, {}
      world:system("s", { run = function() last = { n = last.n } end })
      for _ = 1, 100 do world:update(0) end
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      for _ = 1, 50 do world:update(0) end
      local kilobytes = collectgarbage "count" - before
      collectgarbage "restart"
      return kilobytes, world
    end
    local some, world = grown(true)
    assert.is_true(some < 4 * grown(false), some)
    assert.matches("it writes to 'last', which is a table", world:explain("s").reason)
  end)

  it("is too large, whatever its values seem to be from there on", function()
    local world = helper.new_world()
    world:component("A", { "x: f64", "n: i32" })
    local text = "list[a.n % 8 + 1] = (list[a.n % 8 + 1] or 0.0) + a.x "
    for _, count in ipairs { 5000, 6000 } do
      world:system("s", { query = "A", each = assert(load("local list = ... return function(a) "
        .. text:rep(count) .. " end"))(world:array("list", "f64", 8)) })
      assert.matches("it is too large: write it as two systems", world:explain("s").reason)
    end
  end)

  it("is compiled when the component that it names has been declared", function()
    local world = helper.new_world()
    world:component("A", { "x: f64" })
    local e = world:spawn { A = {} }
    world:system("s", { query = "A", each = function(_, _, row) world:add(row, "Later") end })
    assert.matches("unknown component 'Later'", world:explain("s").reason)
    helper.has_error(function() world:update(0) end, "unknown component 'Later'")
    world:tag "Later"
    world:update(0)
    assert.is_true(world:has(e, "Later"))
    assert.equal("vector", world:explain("s").tier)
  end)

  it("for a C function says what the loaded libraries call it", function()
    local world = helper.new_world()
    world:component("A", { "x: f64" })
    world:spawn { A = {} }
    local query, concat, put, list = world:query "A", table.concat, io.stdout.write, { 1 }
    local function reason(fn)
      query:each(fn)
      return world:explain(fn).reason
    end
    local function gives(a) concat(list, a.x and "-") end
    assert.matches("a math function, 'table.concat': call it in a system's run", reason(gives))
    package.loaded["a.library"] = { add = concat, [1] = concat, other = 5 }
    assert.matches("'a.library.add'", reason(function() concat(list) end))
    package.loaded["a.library"] = nil
    assert.matches("'table.concat'", reason(gives))
    local file = io.tmpfile()
    assert.matches("a math function: call it", reason(function(a) put(file, a.x) end))
    file:close()
  end)
end)
