-- Many entities that change at once: observers hear what they hear when these change one by one, in
-- one scope.

local helper = require "spec.support.ecs_helper"
local hearing = require "spec.support.hearing"
local rng_new = require("spec.support.rng").new

local SEEDS = { small = 6, normal = 40, deep = 400 }

local COMPONENTS = { "Position", "Health", "Frozen", "Mark", "Note" }

-- Of observers: with terms that entities may lack, single fields, tags, alternatives.
local QUERIES = {
  "Position", "Mark", "Mark:in, Position", "Position, Mark?", "Mark.x", "Position, !Frozen",
  "Health, Note?", "Frozen, Mark|Health", "Note, Health.now?",
}

local function text_of(value)
  if type(value) ~= "userdata" then return tostring(value) end
  local texts = {}
  for name, field in pairs(value) do texts[#texts + 1] = name .. "=" .. tostring(field) end
  table.sort(texts)
  return table.concat(texts, ";")
end

local function watch(world, heard, text)
  for _, on in ipairs(hearing.KINDS) do
    pcall(world.observer, world, on .. " of " .. text, { on = on, query = text,
      each = function(...)
        local texts = { on, text }
        for i = 1, select("#", ...) do texts[i + 2] = text_of((select(i, ...))) end
        heard[#heard + 1] = table.concat(texts, " ")
      end })
  end
end

-- Observers that read what they are given in two ways, and that change what they are called for: at
-- once, and for the next round.
local function meddle(world)
  for _, on in ipairs { "add", "enter", "set" } do
    local query = "Position, Mark.x?"
    world:observer("reads at " .. on, { on = on, query = query, each = function(p, x, e)
      assert(p.x == world:get(e, "Position.x"))
      assert(x == (world:has(e, "Mark") and world:get(e, "Mark.x") or nil))
    end })
  end
  world:observer("writes", { on = "add", query = "Mark, Health", each = function(m, h, e)
    m.x = m.x + h.now
    world:set(e, "Health.now", h.now + 1)
    if e % 3 == 0 then world:add(e, "Frozen") end
  end })
  world:observer("kills", { on = "enter", query = "Frozen, !Note", each = function(e)
    if e % 5 == 0 then world:despawn(e) end
  end })
end

local function spawn(world, rng, i, last)
  local parts = { Position = { x = i, y = rng:range(1, 9) } }
  if rng:chance(30) then parts.Health = { now = i } end
  if rng:chance(30) then parts.Frozen = true end
  if rng:chance(30) then parts.Mark = { x = i, text = "text " .. i } end
  if last and rng:chance(20) then parts.Note = { of = last } end
  if rng:chance(15) then parts.Position = nil end
  return world:spawn(parts)
end

-- A world of some tables, and what its observers have heard.
local function new_world(seed)
  local world, heard, rng = helper.new_world { tag = 1 }, {}, rng_new(seed)
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Health", { "now: i32" })
  world:tag("Frozen")
  world:component("Mark", { "x: f64 = 7", "text: string" })
  world:component("Note", { "of: entity" })
  local last
  for i = 1, 150 do last = spawn(world, rng, i, last) end
  for _, text in ipairs(QUERIES) do watch(world, heard, text) end
  meddle(world)
  return world, heard
end

local function is_odd(p) return p.x % 2 == 1 end

-- Functions that kernels are made of, by what they do.
local KERNELS = {
  add = function(world, name)
    return function(p, _, e) if p.x % 2 == 1 then world:add(e, name) end end
  end,
  remove = function(world, name)
    return function(p, _, e) if p.x % 2 == 1 then world:remove(e, name) end end
  end,
  despawn = function(world)
    return function(p, _, e) if p.x % 2 == 1 then world:despawn(e) end end
  end,
}

-- Runs a system once: of a function over a query, or of what calls it in a loop's scope.
local function run_system(world, text, each, staged)
  local query, spec = world:query(text), { query = text, each = each }
  if staged then spec = { run = function() query:each(each) end } end
  world:system("change", spec)
  world:update(1)
  world:remove_system("change")
end

-- Ways to change rows of a query, all or those that are odd; within `defer` one by one.
local WAYS = {
  function(_, query, action, name) query[action](query, name) end,
  function(_, query, action, name)
    local some = query:where(is_odd)
    some[action](some, name)
  end,
  function(world, query, action, name)
    local some = query:where(function(p, e)
      if p.y > 5 then world:set(e, "Position.y", 1) end
      return is_odd(p)
    end)
    some[action](some, name)
  end,
  function(world, query, action, name) query:each(KERNELS[action](world, name)) end,
}

local function in_defer(world, change)
  world:defer()
  change()
  world:commit()
end

-- A change of both worlds, at once and one by one.
local function change(rng, one, other, text, action, name)
  if rng:chance(25) then
    run_system(one, text, KERNELS[action](one, name), false)
    run_system(other, text, KERNELS[action](other, name), true)
    return
  end
  local way = rng:pick(WAYS)
  way(one, one:query(text), action, name)
  in_defer(other, function() way(other, other:query(text), action, name) end)
end

-- They are to be told the same, and to be the same.
local function step(rng, one, other, heard, expected)
  local action = rng:pick { "add", "add", "add", "remove", "remove", "despawn" }
  local name, with = rng:pick(COMPONENTS), rng:pick(COMPONENTS)
  local text = with == "Position" and "Position" or "Position, with " .. with
  if action == "despawn" then name, text = nil, text .. ", with Note" end
  change(rng, one, other, text, action, name)
  assert.are.same(expected, heard)
  assert.are.equal(other:digest(), one:digest())
end

describe("observers of rows that change together", function()
  it("hear what they hear of changes one by one (C87)", function()
    helper.each_seed(SEEDS, function(seed)
      local rng = rng_new(seed)
      local one, heard = new_world(seed)
      local other, expected = new_world(seed)
      for _ = 1, 6 do step(rng, one, other, heard, expected) end
      assert.is_true(#heard > 0)
      one:close()
      other:close()
    end)
  end)
end)
