-- Terms of queries about relations: pairs, wildcards, variables that join, and paths.

local helper = require "spec.support.ecs_helper"

local world, bob, eve, port, e, f

before_each(function()
  world = helper.new_world()
  world:component("Position", { "x: f64", "y: f64" })
  world:component("Health", { "hp: i32" })
  world:component("Hunt", { "prey: entity" })
  for _, tag in ipairs { "Enemy", "Frozen", "Apples", "Chasing", "Idle" } do
    world:tag(tag)
  end
  world:relation "Likes"
  world:relation("Owes", { "amount: i32" })
  world:relation("DockedTo", { "since: f64", exclusive = true })
  world:relation("State", { exclusive = true })
  bob, eve, port = world:spawn(), world:spawn(), world:spawn()
  e, f = world:spawn { Position = { 1, 2 } }, world:spawn { Position = { 3, 4 } }
end)

-- A query of a text, or of terms with the variables that are given.
local function new_query(source)
  if type(source) == "string" then
    return world:query(source)
  end
  local given = {}
  for name, value in pairs(source) do
    if type(name) == "string" then
      given[name] = value
    end
  end
  return world:query(table.concat(source, ", "), given)
end

-- What a query's loop gives, match by match; `read` makes a value of each.
local function matches(query, read)
  query = type(query) == "userdata" and query or new_query(query)
  local found = {}
  for a, b, c, d in query:each() do
    found[#found + 1] = read and read(a, b, c, d) or { a, b, c, d }
  end
  return found
end

-- A view's field and what is behind the view.
local function field(name)
  return function(view, ...)
    return { view and view[name], ... }
  end
end

local function likes(source, ...)
  for _, target in ipairs { ... } do
    world:add(source, "Likes", target)
  end
end

describe("C74: a pair in a query", function()
  it("of a declared name matches those that are tied to it", function()
    likes(e, "Apples", bob)
    likes(f, bob)
    assert.same({ { e } }, matches "(Likes, Apples)")
    assert.same({ { e } }, matches "( Likes,Apples )")
    assert.same({ { 1.0, e } }, matches "Position.x, (Likes, Apples)")
    assert.same({}, matches "(Likes, Enemy)")
  end)

  it("has its target in a variable that the query is given", function()
    likes(e, bob, eve)
    likes(f, eve)
    local query = world:query("Position, (Likes, $p)", { p = bob })
    assert.same({ { 1.0, e } }, matches(query, field "x"))
    assert.equal(1, query:count())
    assert.same({ { e }, { f } }, matches { "(Likes, $who)", who = eve })
    assert.same({ { e } }, matches { "(Likes, $a)", "(Likes, $b)", a = bob, b = eve })
  end)

  it("takes part in a system", function()
    likes(f, bob)
    local seen = {}
    world:system("fans", { query = "Position, (Likes, $p)", ["$p"] = bob,
      each = function(position, dt, entity) seen[#seen + 1] = { position.x, dt, entity } end })
    world:update(0.5)
    assert.same({ { 3.0, 0.5, f } }, seen)
  end)

  it("joins what comes later, and leaves what is untied", function()
    local query = world:query("(Likes, $p)", { p = bob })
    assert.same({}, matches(query))
    likes(e, bob)
    local late = world:spawn { Likes = bob, Health = { 3 } }
    assert.same(helper.sorted { e, late }, helper.sorted(query:ids()))
    world:remove(e, "Likes", bob)
    assert.same({ late }, query:ids())
  end)

  it("matches nothing once its target is dead, nor does the target's heir", function()
    likes(e, bob)
    local query = world:query("(Likes, $p)", { p = bob })
    assert.equal(1, query:count())
    world:despawn(bob)
    local heir = world:spawn()
    likes(f, heir)
    assert.equal(bob & 0xFFFFFFF, heir & 0xFFFFFFF)
    assert.equal(0, query:count())
    assert.same({}, matches { "(Likes, $p)", p = bob })
    assert.same({}, matches { "(DockedTo, $p)", p = bob })
    assert.same({ { f } }, matches { "(Likes, $p)", p = heir })
  end)

  it("is absent behind '!'", function()
    likes(e, bob)
    likes(f, "Apples")
    assert.same({ { 3.0, f } }, matches { "Position.x", "!(Likes, $p)", p = bob })
    assert.same({ { 1.0, e } }, matches "Position.x, !(Likes, Apples)")
    world:set(e, "DockedTo", port)
    assert.same({ { 3.0, f } }, matches { "Position.x", "!(DockedTo, $p)", p = port })
  end)

  it("without data is true or nil behind '?'", function()
    likes(e, "Apples")
    assert.same({ { 3.0, false, f }, { 1.0, true, e } }, matches "Position.x, (Likes, Apples)?")
    local seen = {}
    world:query("(Likes, Apples)?, with Position"):each(function(...)
      seen[#seen + 1] = { select("#", ...), ... }
    end, 2)
    assert.same({ { 3, nil, 2.0, f }, { 3, true, 2.0, e } }, seen)
  end)

  it("only filters behind 'with'", function()
    world:set(e, "Owes", "Apples", 5)
    assert.same({ { 1.0, e } }, matches "Position.x, with (Owes, Apples)")
  end)
end)

describe("C75: a pair with data in a query", function()
  it("gives a view of the relation's fields for that target", function()
    world:set(e, "Owes", bob, 5)
    world:set(e, "Owes", eve, 7)
    assert.same({ { 5, e } }, matches({ "(Owes, $p)", p = bob }, field "amount"))
    for owes in world:query("(Owes, $p)", { p = eve }):each() do
      owes.amount = owes.amount + 1
    end
    assert.same({ 5, 8 }, { world:get(e, "Owes", bob), world:get(e, "Owes", eve) })
  end)

  it("gives nil where it is absent, behind '?'", function()
    world:set(e, "Owes", bob, 5)
    assert.same({ { false, f }, { 5, e } },
      matches({ "(Owes, $p)?:in", "with Position", p = bob }, field "amount"))
  end)

  it("is not written behind ':in'", function()
    world:set(e, "Owes", bob, 5)
    for _, text in ipairs { "(Owes, $p):in", "(Owes, $p)?:in", "(Owes, $p):in?" } do
      helper.has_error(function()
        matches({ text, p = bob }, function(owes) (owes or {}).amount = 6 end)
      end, "read-only")
    end
    assert.equal(5, world:get(e, "Owes", bob))
  end)

  it("of an exclusive relation has the target, too, which is read-only", function()
    world:set(e, "DockedTo", port, 3)
    local query = world:query("(DockedTo, $p)", { p = port })
    for docked in query:each() do
      docked.since = docked.since + docked.target
      helper.has_error(function() docked.target = bob end, "read-only")
    end
    assert.same({ { port + 3.0, e } }, matches(query, field "since"))
  end)
end)

describe("C79: a pair of an exclusive relation", function()
  it("as the first term gives its sources in the order of being tied", function()
    world:add(bob, "Frozen")
    for _, source in ipairs { f, bob, e } do
      world:set(source, "DockedTo", port)
    end
    local docked = world:query("(DockedTo, $p):in", { p = port })
    assert.same({ f, bob, e }, docked:ids())
    assert.equal(f, (docked:first()))
    world:set(f, "DockedTo", bob)
    world:set(f, "DockedTo", port)
    assert.same({ bob, e, f }, docked:ids())
    assert.same({ e, f }, world:query("(DockedTo, $p), Position", { p = port }):ids())
    assert.same({ f, e }, world:query("Position, (DockedTo, $p)", { p = port }):ids())   -- rows
  end)

  it("is a state that entities change without a table", function()
    world:set(f, "State", "Chasing")
    world:set(e, "State", "Chasing")
    local tables = #world:describe().tables
    local chasing, idle = world:query "(State, Chasing)", world:query "(State, Idle)"
    assert.same({ f, e }, chasing:ids())
    world:set(f, "State", "Idle")
    assert.same({ { e }, { f } }, { chasing:ids(), idle:ids() })
    world:set(e, "State", "Idle")
    assert.same({ {}, { f, e } }, { chasing:ids(), idle:ids() })
    assert.equal(tables, #world:describe().tables)
  end)

  it("may be left in its own loop, which sees all that there were", function()
    world:set(f, "State", "Chasing")
    world:set(e, "State", "Chasing")
    local seen = {}
    world:query("(State, Chasing)"):each(function(...)
      local entity = select(select("#", ...), ...)
      seen[#seen + 1] = entity
      world:set(entity, "State", "Idle")
    end)
    assert.same({ f, e }, seen)
    assert.equal(0, world:count "(State, Chasing)")
  end)
end)

describe("C85: a wildcard", function()
  it("matches once for each target, which stands behind the entity", function()
    likes(e, bob, eve, "Apples")
    likes(f, eve)
    local apples = world:describe("Apples").id
    assert.same({ { e, apples }, { e, bob }, { e, eve }, { f, eve } }, matches "(Likes, *)")
  end)

  it("gives a view of each pair's data", function()
    world:set(e, "Owes", eve, 7)
    world:set(e, "Owes", bob, 5)
    assert.same({ { 5, e, bob }, { 7, e, eve } }, matches("(Owes, *)", field "amount"))
    for owes, _, target in world:query("(Owes, *)"):each() do
      owes.amount = owes.amount * (target == bob and 10 or 100)
    end
    assert.same({ 50, 700 }, { world:get(e, "Owes", bob), world:get(e, "Owes", eve) })
  end)

  it("gives functions the target behind dt and entity", function()
    world:set(e, "Owes", bob, 5)
    local seen = {}
    local function see(owes, dt, entity, target, ...)
      seen[#seen + 1] = { owes.amount, dt, entity, target, select("#", ...) }
    end
    world:query("(Owes, *)"):each(see, 3)
    world:system("see", { query = "(Owes, *)", each = see })
    world:update(0.5)
    assert.same({ { 5, 3.0, e, bob, 0 }, { 5, 0.5, e, bob, 0 } }, seen)
  end)

  it("is counted and summed by match, and listed by entity", function()
    world:set(e, "Owes", bob, 5)
    world:set(e, "Owes", eve, 7)
    world:set(f, "Owes", bob, 1)
    local query = world:query "Position, (Owes, *):in"
    assert.same({ 3, 3 }, { query:count(), world:count "Position, (Owes, *):in" })
    assert.equal(13, query:sum(function(_, owes) return owes.amount end))
    assert.same({ 2, e }, { #query:ids(), (query:first()) })
  end)

  it("beside another one gives all combinations, the first term outermost", function()
    likes(e, bob, eve)
    world:set(e, "Owes", bob, 1)
    world:set(e, "Owes", port, 2)
    local function targets(_, _, first, second)
      return { first, second }
    end
    assert.same({ { bob, bob }, { bob, port }, { eve, bob }, { eve, port } },
      matches("(Likes, *), (Owes, *)", targets))
    assert.same({ { bob, bob }, { bob, eve }, { port, bob }, { port, eve } },
      matches("(Owes, *), (Likes, *)", targets))
  end)

  it("tells who has none, or filters those who have any, once each", function()
    likes(e, bob, eve)
    assert.same({ { 3.0, f } }, matches "Position.x, !(Likes, *)")
    assert.same({ { 1.0, e } }, matches "Position.x, with (Likes, *)")
    assert.same({ 1, 4 }, { world:count "with (Likes, *)", world:count "!(Likes, *)" })
  end)

  it("of an exclusive relation has its one target", function()
    world:set(e, "DockedTo", bob, 1)
    world:set(f, "DockedTo", port, 2)
    assert.same({ { 1.0, e, bob }, { 2.0, f, port } }, matches("(DockedTo, *)", field "since"))
    world:set(e, "DockedTo", port)
    assert.same({ { 1.0, e, port }, { 2.0, f, port } }, matches("(DockedTo, *)", field "since"))
  end)

  it("passes over targets that have died", function()
    likes(e, bob, eve, port)
    world:despawn(eve)
    assert.same({ { e, bob }, { e, port } }, matches "(Likes, *)")
    world:set(e, "DockedTo", port)
    world:despawn(port)
    assert.equal(0, world:count "(DockedTo, *)")
  end)

  it("lets its loop untie what it goes over", function()
    likes(e, bob, eve, port)
    local seen = {}
    for entity, target in world:query("(Likes, *)"):each() do
      seen[#seen + 1] = target
      world:remove(entity, "Likes", target)
    end
    assert.same({ bob, eve, port }, seen)
    assert.is_false(world:has(e, "Likes"))
  end)
end)

describe("C87: a variable that is not given", function()
  it("is the same wherever it stands, and its value is behind the entity", function()
    likes(e, bob, eve)
    world:set(e, "Owes", eve, 7)
    world:set(e, "Owes", port, 8)
    likes(f, bob)
    assert.same({ { 7, e, eve } }, matches("(Likes, $food), (Owes, $food)", field "amount"))
    assert.same({ { e, bob }, { e, eve }, { f, bob } }, matches "(Likes, $food)")
    assert.equal(1, world:count "(Likes, $food), (Owes, $food)")
  end)

  it("may be asked whether it has something", function()
    likes(e, bob, eve, "Apples")
    likes(f, bob)
    world:add(eve, "Enemy")
    assert.same({ { e, eve } }, matches "(Likes, $food), Enemy($food)")
    world:add(bob, "Enemy")
    assert.same({ { e, bob }, { e, eve }, { f, bob } }, matches "(Likes, $food), Enemy($food)")
    assert.same({}, matches "(Likes, $food), Frozen($food)")
  end)

  it("gives a view of what it is asked for", function()
    likes(e, bob, eve)
    world:set(eve, "Health", 9)
    assert.same({ { 9, e, eve } }, matches("(Likes, $food), Health($food)", field "hp"))
    assert.same({ { e, eve } }, matches "(Likes, $food), with Health($food)")
  end)

  it("comes in the order of the text beside others", function()
    likes(e, bob, eve)
    world:set(e, "DockedTo", port, 1)
    assert.same({ { 1.0, e, bob, port }, { 1.0, e, eve, port } },
      matches("(Likes, $a), (DockedTo, $b)", field "since"))
    assert.same({ { 1.0, e, port, bob }, { 1.0, e, port, eve } },
      matches("(DockedTo, $a), (Likes, *)", field "since"))
  end)

  it("may be bound by an exclusive relation", function()
    world:set(e, "DockedTo", port, 1)
    world:set(f, "DockedTo", bob, 2)
    likes(e, bob)
    likes(f, bob)
    assert.same({ { 2.0, f, bob } }, matches("(DockedTo, $port), (Likes, $port)", field "since"))
    assert.same({ { 1.0, e, port } }, matches("(DockedTo, $port), !(Likes, $port)", field "since"))
  end)

  it("is no value behind the entity where it is given", function()
    likes(e, bob, eve)
    likes(f, eve)
    assert.same({ { e }, { f } }, matches { "(Likes, $food)", food = eve })
    world:add(bob, "Enemy")
    assert.same({ { e, bob } }, matches { "(Likes, $p)", "(Likes, $x), Enemy($x)", p = eve })
  end)
end)

describe("C87: a path", function()
  it("gives the component of the entity that a relation leads to", function()
    world:add(e, "ChildOf", bob)
    world:add(f, "ChildOf", eve)
    world:set(eve, "Health", 9)
    assert.same({ { 9, f } }, matches("ChildOf->Health:in", field "hp"))
    assert.same({ { 3.0, f } }, matches "Position.x, with ChildOf->Health")
    world:add(f, "ChildOf", bob)
    world:set(bob, "Health", 8)
    assert.same({ { 8, e }, { 8, f } }, matches("ChildOf->Health:in", field "hp"))
  end)

  it("matches rows that it leads nowhere from, too, with '?'", function()
    world:add(e, "DockedTo", port)
    world:add(bob, "Position")
    world:add(bob, "DockedTo", eve)
    world:set(port, "Health", 9)
    local found = {}
    for health, _, entity in world:query("DockedTo->Health?, Position"):each() do
      found[entity] = health and health.hp
    end
    assert.same({ [e] = 9, [f] = false, [bob] = false }, found)
  end)

  it("follows an entity field, and ends where that is dead", function()
    world:set(e, "Hunt", bob)
    world:set(f, "Hunt", eve)
    world:set(bob, "Health", 5)
    world:set(eve, "Health", 6)
    assert.same({ { 5, e }, { 6, f } }, matches("Hunt.prey->Health", field "hp"))
    world:despawn(bob)
    assert.same({ { 6, f } }, matches("Hunt.prey->Health", field "hp"))
    assert.same({ { false, e }, { 6, f } }, matches("Hunt.prey->Health?, with Hunt", field "hp"))
    world:set(f, "Hunt", 0)
    assert.equal(0, world:count "Hunt.prey->Health")
  end)

  it("is written along, which later rows see, the row itself included", function()
    for at, entity in ipairs { e, f } do
      world:set(entity, "Health", at)
      world:set(entity, "Hunt", f)
    end
    local function hit(health, prey)
      prey.hp = prey.hp * 10 + health.hp
    end
    world:query("Health, Hunt.prey->Health"):each(hit)
    assert.same({ 1, 231 }, { world:get(e, "Health"), world:get(f, "Health") })
    world:set(f, "Health", 2)
    for health, prey in world:query("Health, Hunt.prey->Health"):each() do
      hit(health, prey)
    end
    assert.equal(231, (world:get(f, "Health")))
  end)

  it("is not written behind ':in'", function()
    world:add(e, "ChildOf", bob)
    world:set(bob, "Health", 1)
    for _, text in ipairs { "ChildOf->Health:in", "ChildOf->Health?:in", "ChildOf*->Health:in" } do
      helper.has_error(function()
        matches(text .. ", with ChildOf", function(health) health.hp = 6 end)
      end, "read-only")
    end
  end)

  it("with '*' leads to the nearest one that has it: itself, else along the relation", function()
    world:add(e, "ChildOf", bob)
    world:add(f, "ChildOf", e)
    world:set(bob, "Health", 1)
    local query = world:query "ChildOf*->Health:in?, with Position"
    assert.same({ { 1, e }, { 1, f } }, matches(query, field "hp"))
    world:set(f, "Health", 3)
    local found = {}
    for health, entity in query:each() do
      found[entity] = health and health.hp
    end
    assert.same({ [e] = 1, [f] = 3 }, found)
    world:remove(bob, "Health")
    assert.equal(1, world:count "ChildOf*->Health:in")
    assert.equal(2, query:count())
  end)

  it("with '*' finds what is far up a line, or no longer there, from every row of it", function()
    local line = { bob }
    for at = 2, 40 do
      line[at] = world:spawn { Position = {}, ChildOf = line[at - 1] }
    end
    local query = world:query "ChildOf*->Health:in, Position"
    local function found()
      local seen, count = {}, 0
      for health, _, entity in query:each() do
        seen[entity], count = health.hp, count + 1
        query:count()   -- another use of it meanwhile
      end
      return seen, count
    end
    world:set(bob, "Health", 1)
    local seen, count = found()
    assert.equal(39, count)
    for at = 2, 40 do
      assert.equal(1, seen[line[at]])
    end
    world:set(line[20], "Health", 2)
    seen = found()
    assert.same({ 1, 2, 2 }, { seen[line[19]], seen[line[20]], seen[line[40]] })
    world:remove(line[20], "ChildOf")
    world:remove(line[20], "Health")
    seen, count = found()
    assert.same({ 18, 1 }, { count, seen[line[19]] })
  end)

  it("to a tag filters, or is true or nil with '?'", function()
    world:add(e, "ChildOf", bob)
    world:add(bob, "Enemy")
    assert.same({ { 1.0, e } }, matches "Position.x, ChildOf->Enemy")
    assert.same({ { false, 3.0, f }, { true, 1.0, e } }, matches "ChildOf->Enemy?, Position.x")
  end)

  it("C29: to what the row has, too, visits parents before children", function()
    local last
    for depth = 1, 20 do
      local id = world:spawn { Health = { depth } }
      if last then
        world:add(last, "ChildOf", id)   -- each new one is the parent of the one before
      end
      last = id
    end
    local sums, count = {}, 0
    for health, parent, entity in world:query("Health, ChildOf->Health:in?"):each() do
      health.hp = health.hp + (parent and parent.hp or 0)
      sums[entity], count = health.hp, count + 1
    end
    local sum, at = 0, last
    for depth = 20, 1, -1 do
      sum = sum + depth
      assert.equal(sum, sums[at])
      for child in world:children(at) do
        at = child
      end
    end
    assert.equal(20, count)
  end)
end)

describe("a term about relations is refused", function()
  local function refuses(query, ...)
    local message = helper.has_error(function() new_query(query) end, ...)
    assert.is_nil(message:find("not in this version", 1, true), message)
  end

  it("with a name that there is not", function()
    refuses("(Lkes, Apples)", "'Lkes'", "'Likes'")
    refuses("(Likes, Aples)", "'Aples'")
    refuses("Lkes->Health", "'Lkes'")
    refuses("ChildOf->Helth", "'Helth'", "'Health'")
    refuses("Hunt.pray->Health", "pray")
    refuses("(Likes, $x), Enmy($x)", "'Enmy'", "'Enemy'")
  end)

  it("and leaves the relations that it names first as they were: undeclared", function()
    local function new(gone)
      local plain = helper.new_world { tag = 5 }
      plain:component("Health", { "hp: i32" })
      plain:tag "Gone"
      plain:tag "Kept"
      if gone then plain:undeclare "Gone" end
      return plain
    end
    for _, gone in ipairs { false, true } do
      local tried, other = new(gone), new(gone)
      for _, text in ipairs { "ChildOf->Helth", "(IsA, Nobody)", "(IsA, ChildOf), Helth",
        "ChildOf->Health:changed", "IsA->Health, ChildOf->Health, Health.y", "Health, (ChildOf, $x",
        "ChildOf:changed, Helth", "ChildOf, IsA->" } do
        helper.has_error(function() tried:query(text) end)
        helper.has_error(function() tried:count(text) end)
        helper.has_error(function() tried:index("near", { query = text, hash = "hp" }) end)
        helper.check(tried)
        assert.equal(other:save(), tried:save(), text)
        assert.same(other:describe().components, tried:describe().components)
      end
      for _, each in ipairs { tried, other } do
        local a = each:spawn { Health = { 5 } }
        each:spawn { Health = { 6 }, ChildOf = a }
        assert.equal(1, each:query("ChildOf->Health, !(IsA, *)"):count())
        each:tag "More"
      end
      assert.equal(other:save(), tried:save())
    end
  end)

  it("where a component that is no relation stands for one", function()
    refuses("(Position, Apples)", "'Position' is not a relation")
    refuses("(Position, *)", "'Position' is not a relation")
    refuses({ "(Frozen, $p)", p = bob }, "'Frozen' is not a relation")
    refuses("Position->Health", "'Position'")
  end)

  it("C21: with a variable that is given and not used, or is no id", function()
    for _, query in ipairs { { "Enemy", spare = bob }, { "(Likes, *)", spare = bob },
      { "(Likes, $x)", x = eve, spare = bob } } do
      refuses(query, "spare")
    end
    for _, value in ipairs { true, {}, 1.5 } do
      refuses({ "(Likes, $whom)", whom = value }, "whom")
    end
  end)

  it("without a variable's name, or with one that nothing binds", function()
    refuses("(Likes, $)", "$")
    refuses("(Likes, $food), Enemy($)", "$")
    refuses("Enemy($food)", "$food")
    refuses("Position, !(Likes, $food)", "$food")
  end)

  it("with a variable behind more than the component's name, or a path from a pair", function()
    for _, term in ipairs { "Position.x($to)", "Position:in($to)", "Position?($to)",
      "ChildOf->Position($to)" } do
      refuses("(Likes, $to), " .. term, "at '($to)'", "as in 'Position($to).x:in'")
    end
    refuses("(Likes, $to)->Position", "at '->Position'", "'ChildOf->Position'",
      "'(Likes, $to), Position($to)'")
  end)

  it("with more '*' than one", function()
    refuses("(Likes, **)", "*")
    refuses("(*, *)", "*")
    refuses("ChildOf**->Health", "*")
  end)

  it("where a path goes by several targets, or by a field that is no entity", function()
    refuses("Likes->Health", "'Likes'")
    refuses("Owes*->Health", "'Owes'")
    refuses("Health.hp->Position", "Health.hp")
    refuses("Hunt->Position", "'Hunt'")
    refuses("ChildOf->", "ChildOf->")
  end)

  it("where it is no term at all", function()
    for _, text in ipairs { "(Likes", "(Likes, Apples", "()", "(Likes)", "(Likes,)", "(, Apples)",
      "(Likes, Apples, Enemy)", "(Likes, Apples))", "->Health", "Enemy()" } do
      refuses(text, "query")
    end
  end)
end)
