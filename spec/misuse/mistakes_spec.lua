-- Mistakes of those who know other libraries, or this one a little: told, and nothing done.

local helper = require "spec.support.ecs_helper"
local ecs = require "ecs"

local world, one, other

before_each(function()
  world = helper.new_world()
  world:component("P", { "x: f64" })
  world:tag "F"
  world:tag "G"
  world:relation("Owes", { "n: f64" })
  world:prefab("Orc", { P = { 1 } })
  one, other = world:spawn { P = { 1 } }, world:spawn { P = { 2 } }
  world:name(other, "bob")
end)

local function refused(expected, fn, ...)
  local before = world:digest()
  helper.has_error(fn, expected, ...)
  assert.equal(before, world:digest())
  helper.check(world)
end

describe("a name", function()
  it("that has changed is told with the new one", function()
    world:event("Strike", { "n: i32", was = "Hit" })
    local now = "unknown event 'Hit': its name is now 'Strike'"
    refused(now, function() world:emit("Hit", 1) end)
    refused(now, function() world:after(1, "Hit", 1) end)
    refused(now, function() for _ in world:events "Hit" do error "never" end end)
    world:array("grid", "i32", 4)
    refused("unknown array 'gird' (did you mean 'grid'?)", function() world:array "gird" end)
  end)

  it("that cannot be is told with what it would be", function()
    local text = "'a.b' is not a name for "
    refused(text .. "an event", function() world:event("a.b", { "x: f64" }) end)
    refused(text .. "an array", function() world:array("a.b", "f64", 3) end)
    refused(text .. "a relation", function() world:relation("a.b", {}) end)
    refused(text .. "a component", function() world:tag "a.b" end)
    refused("'Prefab' is a built-in tag", function() world:component("Prefab", { "x: f64" }) end)
    refused("'Prefab' is a built-in tag", function() world:tag "Prefab" end)
    refused("'ChildOf' is a built-in relation", function() world:tag "ChildOf" end)
  end)

  it("of a field is told with the names that there are", function()
    world:component("B", { "q: P[2]" })
    local part = "component 'B' has no field 'q[1]' (name a single value, as in 'q[1].x')"
    refused(part, function() world:spawner "B.q[1]" end)
    refused(part, function() world:query "B.q[1]" end)
    refused("index 'ix': its query '!P' yields no component that could have a field 'x'",
      function() world:index("ix", { query = "!P", hash = "x" }) end)
  end)
end)

describe("what would be passed over", function()
  it("is refused: two values of one field", function()
    world:component("V", { "x: f64", "y: f64" })
    world:component("C", { "p: V", "n: f64[2]" })
    world:event("Hit", { "a: f64", "b: f64" })
    local text = "has two values for 'x': number 1 and 'x'"
    refused(text, function() world:spawn { V = { 1, x = 3 } } end)
    refused(text, function() world:set(one, "V", { 1, x = 3 }) end)
    refused(text, function() world:spawn { C = { p = { 1, x = 3 } } } end)
    refused(text, function() world:prefab("Elf", { V = { 1, x = 3 } }) end)
    refused("event 'Hit' has two values for 'a'", function() world:emit("Hit", { 1, a = 3 }) end)
    local e = world:spawn { V = { 1, y = 3 } }
    assert.same({ 1, 3 }, { world:get(e, "V") })
    for _, names in ipairs { "C.p.x, C.p", "C.p, C.p.x", "C.n[1], C.n", "C.p, C.p", "C, C.n[1]" } do
      refused("twice", function() world:spawner(names) end)
    end
    world:spawner "C.p.x, C.p.y, C.n[1], C.n[2]"
  end)

  it("is refused in compiled functions, too", function()
    world:event("Hit", { "a: f64", "b: f64" })
    for text, each in pairs {
      ["component 'P' has two values for 'x'"] = function(p) world:spawn { P = { p.x, x = 3 } } end,
      ["event 'Hit' has two values for 'a'"] = function(p) world:emit("Hit", { p.x, a = 3 }) end,
      ["component 'Owes' has two values for 'n'"] = function(p, _, id)
        world:set(id, "Owes", one, { p.x, n = 3 })
      end,
    } do
      local name = text:match "'(%a+)'"
      world:system(name, { query = "P", each = each })
      helper.has_error(function() world:run(name) end, text)
      assert.equal(0, world:explain(name).compiled and 1 or 0)
    end
  end)

  it("is refused: what a prefab shares without having it", function()
    world:component("V", { "x: f64", requires = { "F" } })
    refused("prefab 'Elf' cannot share 'F', which it does not have", function()
      world:prefab("Elf", { P = { 1 } }, { shared = { "F" } })
    end)
    refused("the prefab's child 'bow' cannot share 'G'", function()
      world:prefab("Elf", { P = { 1 } }, { children = { { "bow", {}, { shared = { "G" } } } } })
    end)
    world:prefab("Elf", { V = { 1 } }, { shared = { "F" } })
    world:prefab("Wood", {}, { is_a = "Elf", shared = { "V" } })
    world:prefab("Deep", {}, { is_a = "Wood", shared = { "F", "V" } })
  end)
end)

describe("a value that does not migrate", function()
  local function migration(from, value, to)
    local other_world = helper.new_world()
    other_world:component("C", { "x: " .. from })
    other_world:spawn { C = { value } }
    local _, message = pcall(other_world.component, other_world, "C", { "x: " .. to })
    return tostring(message):match "has (.*)"
  end

  it("is told with why", function()
    assert.equal("x = a value: values of type any are not converted to string",
      migration("any", "text", "string"))
    assert.equal("x = 1: values of type f64 are not converted to any", migration("f64", 1, "any"))
    assert.equal("x = 'c', which is not of type enum(a, b)",
      migration("enum(a, b, c)", "c", "enum(a, b)"))
    local names = {}
    for i = 1, 60 do
      names[i] = "name" .. i
    end
    names = table.concat(names, ", ")
    assert.truthy(migration("string", "c", "enum(" .. names .. ")"):find(", ...)", 1, true))
  end)
end)

describe("one argument more than there may be", function()
  it("is not passed over by queries", function()
    local query = world:query "P"
    refused("use world:despawn(entity) for one", function() query:despawn(one) end)
    refused("the query's text says what to count", function() query:count(one) end)
    refused("the query's text says what to find", function() query:ids(one) end)
    refused("one component expected", function() query:add("F", "G") end)
    assert.equal(2, query:count(nil))
  end)

  it("is not passed over by worlds", function()
    for _, method in ipairs { "has", "get", "read", "enabled", "add", "remove" } do
      refused("one component expected", function() world[method](world, one, "P", "F") end)
    end
    refused("one entity expected", function() world:despawn(one, other) end)
    refused("one entity expected", function() world:alive(one, other) end)
    refused("world:spawn_many makes several", function() world:spawn({}, {}) end)
    refused('set one with world:add(entity, "ChildOf", parent)', function()
      world:parent(one, other)
    end)
    refused("width * height", function() world:array("m", "u8", 4, 4) end)
    refused("world:commit() or world:cancel()", function() world:defer(function() end) end)
    assert.is_true(world:has(one, "P", nil))
  end)

  it("is the target of a tie", function()
    world:set(one, "Owes", other, 3)
    assert.is_true(world:has(one, "Owes", other))
    assert.equal(3.0, (world:get(one, "Owes", other)))
  end)
end)

describe("a mistake is told with what to write", function()
  it("in systems", function()
    local function system(text, spec)
      refused(text, function() world:system("s", spec) end)
    end
    system("its parameter 2 is named 'entity'",
      { query = "P", each = function(p, entity) p.x = entity end })
    system("a list of strings, without keys",
      { query = "P", after = { b = true }, each = function() end })
    system("unknown option 'update' (known: phase, query, each,",
      { query = "P", update = function() end })
    system("declare it before the systems that run in it",
      { query = "P", phase = "physics", each = function() end })
  end)

  it("in queries", function()
    for _, text in ipairs { "P, not F", "P, -F", "without F", "P, ~F" } do
      refused("'!' expected before an absent component", function() world:query(text) end)
    end
    refused("write query:each()", function() for _ in world:query "P".each do end end)
    refused("write query:chunks()", function() for _ in world:query "P".chunks do end end)
    world:tag "not"
    assert.equal(0, world:query "not":count())
  end)

  it("in declarations", function()
    refused("relation 'R': unknown option 'exclusiv' (known: acyclic,",
      function() world:relation("R", { exclusiv = true }) end)
    refused("event 'E': unknown option 'foo' (known: doc, was;",
      function() world:event("E", { foo = true }) end)
    refused("'Owes' is a relation", function() world:resource "Owes" end)
  end)

  it("where entities are named", function()
    refused("that is the name of an entity", function() world:add(one, "Owes", "bob") end)
    refused("an entity's id, which world:lookup returns",
      function() world:spawn { ChildOf = "bob" } end)
    refused("the id of a name, and world:res('P') a resource", function() world:get("P", one) end)
    refused("the last parameters of a function are dt and entity, in that "
      .. "order", function() world:add(0.016, "F") end)
  end)

  it("where values are given", function()
    refused("expected after the target", function() world:set(one, "Owes", 5) end)
    refused("got an ecs.query", function() world:set(one, "P", world:query "P") end)
    refused("(use remove)", function() world:set(one, "F", false) end)
    refused("has 1 field, got 2 values", function() world:set(one, "P", 1, 2) end)
  end)

  it("where a prefab's name stands for components", function()
    for _, spawn in ipairs { function() world:spawn "Orc" end,
      function() world:spawn_many(2, "Orc") end, function() world:clone(one, "Orc") end,
      function() world:spawn_at(one + 900, "Orc") end,
      function() world:instantiate("Orc", "Orc") end } do
      refused('to copy a prefab, call world:instantiate "Orc"', spawn)
    end
    refused("a table of components expected", function() world:spawn(("x"):rep(1 << 20)) end)
  end)

  it("in the names of other libraries", function()
    refused("write despawn", function() world:destroy(one) end)
    refused("write spawn", function() world:entity() end)
    refused("ecs.world(...), with a dot", function() ecs:world() end)
  end)
end)

describe("a loop that is taken for a list", function()
  -- Every method that gives an object to `for`.
  local function loops()
    world:component("P", { "x: f64", "y: f64" })
    world:index("near", { query = "P:in", grid = "P", cell = 2 })
    world:index("sorted", { query = "P:in", ordered = "P.x" })
    world:index("known", { query = "P:in", hash = "P.x" })
    world:add(one, "ChildOf", other)
    return {
      function() return world:children(other) end,
      function() return world:sources(other, "ChildOf") end,
      function() return world:targets(one, "ChildOf") end,
      function() return world:components(one) end,
      function() return world:index("near"):within(1, 1, 5) end,
      function() return world:index("sorted"):range(0, 5) end,
      function() return world:index("sorted"):lowest(1) end,
      function() return world:index("sorted"):highest(1) end,
      function() return world:index("known"):find(1) end,
    }
  end

  it("says that it is a loop, how to go through it and how to count", function()
    for _, loop in ipairs(loops()) do
      for _, misuse in ipairs {
        function(it) return #it end,
        function(it) return it[1] end,
        function(it) return it:count() end,
        function(it) return it.n end,
        function(it) return ipairs(it)(it, 0) end,
        function(it) return pairs(it) end,
        function(it) return table.unpack(it) end,
      } do
        refused("this is an iterator, which has no length, elements or methods: write 'for ... "
          .. "in', and count in the loop", function() misuse((loop())) end)
      end
      local count = 0
      for _ in loop() do count = count + 1 end
      assert.is_true(count > 0)
    end
  end)

  it("goes on to its end, in coroutines, too, and cannot be called with another's", function()
    for _, loop in ipairs(loops()) do
      local it = loop()
      local first = it()
      assert.is_not_nil(first)
      repeat until it() == nil
      assert.is_nil((it()))
      local call = debug.getmetatable(it).__call
      for _, value in ipairs { 1, {}, io.stdout, world, "x" } do
        assert.is_false(pcall(call, value))
      end
    end
  end)

  it("ends with its world", function()
    local it, parts = world:children(other), world:components(one)
    world:close()
    helper.has_error(function() it() end, "the world is closed")
    helper.has_error(function() parts() end, "the world is closed")
    world = helper.new_world()
  end)
end)

describe("a mistake with what something is", function()
  it("is told of a component that is not a relation and is given a target", function()
    for _, method in ipairs { "add", "remove", "has", "get", "read", "enabled" } do
      refused("'P' is not a relation, so it has no target", function()
        world[method](world, one, "P", other)
      end)
    end
    refused("one component expected: call it once for each, and set values with world:set",
      function() world:add(one, "P", { x = 1 }) end)
  end)

  it("is told of a dot behind a relation", function()
    for _, text in ipairs { "ChildOf.P", "Owes.P, F", "ChildOf.P.x", "!Owes.P" } do
      local left, right = text:match "(%a+)%.([%a.]+)"
      refused(("'%s' is a relation: write '%s->%s' for its target")
        :format(left, left, right), function() world:query(text) end)
    end
    refused("has no field 'm' (did you mean 'n'?)", function() world:query "Owes.m" end)
    refused("has no field 'P'", function() world:query "P.P" end)
  end)

  it("is told of a query that is no text", function()
    local text = 'one string, as in "Position, Velocity"'
    refused(text, function() world:query { "P", "F" } end)
    refused(text, function() world:query("P", "F") end)
    refused(text, function() world:count { "P" } end)
    refused(text, function() world:system("s", { query = { "P" }, each = print }) end)
    refused(text, function() world:observer("o", { on = "add", query = { "P" }, each = print }) end)
    refused(text, function() world:index("i", { query = { "P" }, hash = "P.x" }) end)
  end)

  it("is told of callbacks that yield, with the place", function()
    local yield = coroutine.yield
    local function calls(fn)
      fn("query:each", function(it) world:query("P"):each(it) end)
      fn("query:map", function(it) world:query("P.x"):map(it) end)
      fn("query:sum", function(it) world:query("P"):sum(it) end)
      fn("query:where", function(it) world:query("P"):where(it):count() end)
      fn("where in a loop", function(it) return world:query("P"):where(it):each()() end)
      fn("an index", function(it)
        world:index("i", { query = "P:in", hash = it })
        return world:index("i"):find(1)
      end)
      for _, form in ipairs { "each", "run", "when" } do
        fn("a system's " .. form, function(it)
          world:system("s", { query = "P", run = form ~= "each" and print or nil, [form] = it })
          world:update(0)
        end)
      end
      fn("an observer", function(it)
        world:observer("o", { on = "add", query = "P", each = it })
        world:spawn { P = {} }
      end)
      fn("on_error", function(it)
        pcall(world.remove_system, world, "o")
        world:on_error(it)
        world:system("s", { run = function() error "stop" end })
        world:run("s", 0)
      end)
    end
    calls(function(what, call)
      for _, callback in ipairs { function() yield(1) end, function() pcall(error) yield() end } do
        for _, within in ipairs { true, false } do
          local function try() return pcall(call, callback) end
          local ok, message
          if within then
            local co = coroutine.create(try)
            ok, message = select(2, coroutine.resume(co))
          else
            ok, message = try()
          end
          assert.is_false(ok, what)
          assert.is_truthy(message:find("mistakes_spec.lua:%d+: .-callbacks cannot yield: yield "
            .. "outside them, or write 'for ... in query:each%(%) do'"),
            what .. ": " .. message)
        end
      end
    end)
    local ok, message = pcall(function()
      world:query("P"):each(function() error("attempt to yield across a C-call boundary", 0) end)
    end)
    assert.is_true(not ok and not message:find "callbacks")
  end)
end)

describe("a mistake says what to do", function()
  -- Each is a message and a function of the world that raises it.
  local function told(list)
    world:component("P", { "x: f64", "y: f64" })
    world:component("H", { "hp: i32", "kind: enum(a, b)", "label: string" })
    world:relation "Likes"
    world:relation("Dock", { exclusive = true })
    world:event("Hit", { "n: i32", "on: entity" })
    world:index("near", { query = "P:in", grid = "P", cell = 2 })
    for _, case in ipairs(list) do refused(case[1], case[2]) end
  end

  it("about relations", function()
    told {
      { "'Likes' is a relation and needs a target, as in add(entity, \"Likes\", target)",
        function() world:add(one, "Likes") end },
      { "'P' is not a relation, so it has no target; declare it with relation(\"P\")",
        function() world:target(one, "P") end },
      { "'ChildOf' would form a cycle: ", function() world:add(one, "ChildOf", one) end },
      { "'Likes' can have several targets: write '(Likes, *)' for each target, '!(Likes, *)' "
        .. "for none",
        function() world:query "Likes" end },
      { "a path needs an exclusive relation, and 'Likes' can have several targets: join with "
        .. "'(Likes, $to), Component($to)'", function() world:query "Likes->P" end },
      { "'bob' is the name of an entity, which a query cannot hold: write '(Likes, $x)' and pass "
        .. "its id as x", function() world:query "(Likes, bob)" end },
      { "nothing gives $x a value: pass one with the query, or use it in a term that must match, "
        .. "as in '(Relation, $x)'", function() world:query "P($x)" end },
      { "'ChildOf' is a built-in relation and cannot be undeclared",
        function() world:undeclare "ChildOf" end },
    }
  end)

  it("about prefabs", function()
    local orc = world:instantiate "Orc"
    told {
      { "there is no prefab 'Ork' (did you mean 'Orc'?)", function() world:instantiate "Ork" end },
      { "is an entity, not a prefab: copy it with clone(entity)",
        function() world:instantiate(orc) end },
      { "prefab 'X': 'children' is an option, not a component: write it in the table after the "
        .. "components", function() world:prefab("X", { P = {}, children = {} }) end },
      { "prefab 'X', 'child': unknown option (known: children, is_a, shared)",
        function() world:prefab("X", {}, { child = {} }) end },
      { "relation 'Likes' cannot be shared",
        function() world:prefab("X", {}, { shared = { Likes = {} } }) end },
      { "prefab 'P': a component, tag or relation has this name, and ties and terms would mean "
        .. "that: give the prefab another name", function() world:prefab("P", {}) end },
      { "is a prefab: declare its children with it, by world:prefab(name, components, "
        .. "{ children = ... })",
        function() world:add(one, "ChildOf", world:lookup "Orc") end },
    }
  end)

  it("about observers", function()
    local function observer(options)
      return function()
        options.each = options.each or function() end
        world:observer("o", options)
      end
    end
    told {
      { "option 'on' must be \"add\", \"set\", \"remove\", \"enter\", \"exit\" or \"despawn\", got "
        .. "\"removed\"", observer { on = "removed", query = "P" } },
      { "on = \"set\" watches values, and 'F' is a tag, which has none: write on = \"add\"",
        observer { on = "set", query = "F" } },
      { "on = \"add\" watches the first term, which must be a component that the entity itself "
        .. "has, as in 'Position, !Frozen'", observer { on = "add", query = "!F" } },
      { "an observer's terms must be about the entity itself: read 'P' with world:get in the "
        .. "function", observer { on = "enter", query = "ChildOf->P" } },
      { "observers cannot watch events: read them in a system",
        observer { on = "add", query = "Hit" } },
      { "an observer is called only for changes: leave out ':changed' and "
        .. "':added'", observer { on = "enter", query = "P:changed" } },
    }
  end)

  it("about indexes", function()
    local function index(options) return function() world:index("i", options) end end
    told {
      { "there is no index 'neer' (did you mean 'near'?)", function() world:index "neer" end },
      { "index 'i': give one of grid, hash, ordered and maybe", index { query = "P:in" } },
      { "index 'i': give only one of grid, hash, ordered and maybe",
        index { query = "P:in", grid = "P", hash = "P.x" } },
      { "index 'i': its query 'F' does not yield 'P.x': add 'P:in' to it",
        index { query = "F", hash = "P.x" } },
      { "index 'i' holds every match of its query 'P:changed': leave out ':changed' and ':added'",
        index { query = "P:changed", hash = "P.x" } },
      { "index 'near' is by a grid: it has within and nearest",
        function() world:index("near"):find(1) end },
      { "an index yields a read-only copy: write to the entity with world:set(entity, \"P\", ...)",
        function() for view in world:index("near"):within(0, 0, 9) do view.x = 1 end end },
    }
  end)

  it("about scopes and loops", function()
    local kept
    for view in world:query("P"):each() do kept = view end
    told {
      { "commit without a defer: call defer first", function() world:commit() end },
      { "end what it begins with world:commit() or world:cancel()",
        function() world:defer(print) end },
      { "update is not possible inside a system, a function form or defer", function()
        world:system("s", { run = function() world:update(0) end })
        local ok, message = pcall(world.update, world, 0)
        world:remove_system "s"
        error(ok or message, 0)
      end },
      { "a query cannot be called: write 'for view, entity in query:each() do'",
        function() for _ in world:query "P" do end end },
      { "stale view: its loop has ended", function() return kept.x end },
    }
  end)

  it("about functions that are to be compiled", function()
    local empty, mixed, text, each, math = {}, { 1, a = 2 }, tostring, pairs, math
    local function compiled(expected, query, fn)
      world:system("s", { query = query, each = fn })
      world:update(0)
      local reason = world:explain("s").reason
      world:remove_system "s"
      assert.is_truthy(reason and reason:find(expected, 1, true), reason)
    end
    told {}
    world:set(one, "H", { hp = 1 })
    compiled("it uses a C function that is not a math function, 'tostring': call it in a system's "
      .. "run, and keep its result in a resource", "H", function(h) h.hp = #text(h.hp) end)
    compiled("or keys other than names or integers: loop over a list with ipairs", "P",
      function(p) for _, value in each(mixed) do p.x = value end end)
    compiled("it calls math.random, which does not use the world's random numbers: write "
      .. "world:random(e)", "P", function(p) p.x = math.random() end)
    compiled("it builds a string: write it out as a constant, use a list of constants or the names "
      .. "of an enum, or do that in a system's run", "H", function(h) h.label = h.label .. "!" end)
    compiled("it creates a function: create it outside this one", "P",
      function(p) p.x = (function() return (function() return p.y end)() end)() end)
    compiled("it uses an element of 'empty', a table that has no element 1, or none for any of the "
      .. "names, or no record with the field: fill", "H", function(h) h.hp = empty[h.kind] or 0 end)
    compiled("it calls world:clone, which kernels do not support: call it in an 'if' that few", "P",
      function(_, _, entity) world:clone(entity) end)
    compiled("it sets the string field 'H.label' with world:set or world:spawn: do that in a "
      .. "system's run", "H", function(_, _, entity) world:set(entity, "H.label", "a") end)
  end)
end)

describe("a mistake that is no error", function()
  local HEAD = [[
    local ecs = require "ecs"
    local w = ecs.world()
    w:component("P", { "x: f64", "kind: enum(a, b)" }) w:component("H", { "hp: i32" })
    w:relation "Likes" w:event("Ev", { "n: i32" })
    local e = w:spawn { P = {}, H = {} }
  ]]

  local function interpreter()
    local at = 0
    while arg[at - 1] do at = at - 1 end
    return arg[at]
  end

  -- What a script's warnings are, without their beginning and places.
  local function warned(script)
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write(HEAD, script)
    file:close()
    local pipe = assert(io.popen(("%s -W %s 2>&1"):format(interpreter(), path)))
    local out = pipe:read "a"
    pipe:close()
    os.remove(path)
    local list = {}
    for line in out:gmatch "[^\n]+" do
      list[#list + 1] = line:gsub("^Lua warning: ecs: ", ""):gsub("%S+:%d+: ", "")
    end
    return list
  end

  it("is warned of once: an observer that takes its parameters for others", function()
    helper.needs_processes(pending)
    local view = "observer 'o': it calculates with the whole view of 'P': name one of its fields"
    local number = "observer 'o': it takes a field of a number: its parameters are the values of "
      .. "its query, entity"
    local cases = {
      { "'P'", "e", "print(e + 1)", view }, { "'P'", "p", "print(-p)", view },
      { "'P'", "p", "if 2 < p then print() end", view },
      { "'P'", "p", "local q = p q = q // 2", view },
      { "'P'", "p, e", "print(e.x)", number }, { "'P'", "p, e", "e:get 'P'", number },
      { "'P'", "p, e", "e.x = 1", number }, { "'P'", "p, e", "e[1] = e[2]", number },
      { "'P.x, H'", "x, h, e", "print(x.x)", number },
      { "'P, (Likes, *)'", "p, e, t", "print(t.x)", number },
      { "'P'", "p, e", "print(p.x + e, p == nil, p ~= e, not p, p.x < 2) e = nil print(e)" },
      { "'P.kind'", "k", "print(k.x)" }, { "'P'", "p, e", "p = 2 print(p + 1)" },
      { "'P'", "p, e", "if e then e = w:read(e, 'P') end print(e.x)" },
    }
    for _, case in ipairs(cases) do
      local register = ("w:observer('o', { on = 'add', query = %s, each = function(%s) %s end })")
        :format(case[1], case[2], case[3])
      assert.are.same({ case[4] }, warned(register .. " w:update(0) w:update(0) " .. register
        .. " w:update(0)"), case[3])
    end
    assert.are.same({ "system 's': it takes a field of a number: its parameters are the values of "
      .. "its query, dt, entity" }, warned [[w:system("s", { query = "P", enabled = false,
        each = function(p, dt, e) print(e.x) end }) w:update(0) w:update(0)]])
    assert.are.same({}, warned [[debug.setmetatable(0, { __index = { x = 1 } })
      w:observer('o', { on = "add", query = "P", each = function(p, e) print(e.x) end })
      w:update(0)]])
  end)

  it("is warned of once: values that only views write, of which no observer is told", function()
    helper.needs_processes(pending)
    local set = "w:observer('o', { on = 'set', query = 'H', each = function() end }) "
    local writes = "w:system('s', { query = 'H', each = function(h) h.hp = h.hp + 1 end }) "
    local text = "observer 'o' is called when world:set or a spawn gives 'H' a value, not when "
      .. "system 's' writes to its view: let it call world:set"
    local updates = " w:update(0) w:update(0) w:update(0)"
    for script, expected in pairs {
      [set .. writes .. updates] = { text },
      [writes .. set .. updates .. set .. updates] = { text },
      [writes .. "w:update(0)" .. set .. updates] = { text },
      [set .. writes .. "w:update(0) w:set(e, 'H', 3)" .. updates] = {},
      [set .. writes:gsub("h.hp = h.hp %+ 1", "print(h.hp)"):gsub("print", "type") .. updates] = {},
      [set .. writes:gsub("{ query", "{ enabled = false, query") .. updates] = {},
      [set:gsub("'set'", "'add'") .. writes .. updates] = {},
      [set:gsub("'H'", "'P'") .. writes .. updates] = {},
      [set .. writes .. "w:update(0)"] = {},
    } do
      assert.are.same(expected, warned(script), script)
    end
  end)

  it("is warned of once: what a prefab shares is asked of what is made of it", function()
    helper.needs_processes(pending)
    local prefab = [[w:prefab("Orc", { P = {} }, { shared = { H = { hp = 3 } } })
      w:prefab("Chief", {}, { is_a = "Orc" })
      local orc, chief = w:instantiate "Orc", w:instantiate "Chief" ]]
    local text = "world:get and world:read return only what the entity itself has, and 'H' is "
      .. "shared by its prefab: read it in a query with the term 'IsA*->H'"
    for asked, expected in pairs {
      ["w:get(orc, 'H') w:get(orc, 'H.hp') w:update(0) w:get(orc, 'H') w:update(0)"] = { text },
      ["w:read(chief, 'H') w:update(0)"] = { text },
      ["w:get(chief, 'H.hp') w:update(0)"] = { text },
      ["w:set(orc, 'H', 2) w:get(orc, 'H') w:update(0)"] = {},
      ["w:has(orc, 'H') w:get(w:spawn(), 'H') w:get(orc, 'P') w:update(0)"] = {},
    } do
      assert.are.same(expected, warned(prefab .. asked), asked)
    end
  end)
end)
