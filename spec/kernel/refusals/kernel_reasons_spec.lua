-- All reasons why a function stays Lua: faults that are planted into random functions are told,
-- each once with its line, and nothing else is. What follows from a fault is not another reason.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"
local random = require "spec.support.rng"

-- Statements that a kernel cannot do, and what is said of them. %s is a name that nothing else has.
local faults = {
  { "local %s = string.format('%%d', a.x)", "'string.format'" },
  { "local %s = 'a' .. a.x", "builds a string" },
  { "local %s = outer[a]", "indexes a table or view by a variable" },
  { "local %s = misspelt(a.x)", "calls nil" },
  { "local %s = nowhere.x", "takes a field of nil" },
  { "local %s = {} + 1", "calculates with a table" },
  { "if a.x > 'a' then u = u + 1 end   -- %s", "compares a" },
  { "local %s = world:save()", "calls world:save" },
  { "world:set(a, 'A.x', 5)   -- %s", "changes something that is not an entity id" },
  { "local %s = math.floor(b)", "calls math.floor without a number" },
  { "local %s = #a.x", "takes the length of what may not be" },
  { "for _, %s in pairs(near) do u = u + %s end", "calls pairs with something" },
  { "b.kind = 5   -- %s", "sets an enum field to something other" },
  { "b.label = a.x   -- %s", "sets a string field to something other" },
  { "local %s = world:get(e, 'Tag')", "reads the tag 'Tag'" },
  { "local %s = near:lowest(true, true, true)", "calls lowest of index 'near'" },
  { "for %s = 1, a do u = u + %s end", "its loop's limit is not a number" },
  { "world:add(e, outer)   -- %s", "adds or removes something other than" },
  { "grid[b] = 1   -- %s", "indexes the array 'grid' by something other" },
  { "b.n = a.x > 0   -- %s", "sets a field of type i32 to a boolean" },
}

-- Statements that are as they should be, some of which take what a fault would have given.
local sound = {
  "u = u + a.x", "a.x = a.x * 0.5 + u", "b.n = b.n + 1", "if a.y > u then a.y = u end",
  "local %s = u * 2 + dt\na.y = a.y + %s", "grid[1] = grid[1] + a.x", "u = helped(u)",
  "b.kind = a.x > 1 and 'red' or 'blue'", "world:set(e, 'A.x', 0)", "count = count + 1",
}

-- What goes around other statements: text before and behind them.
local around = {
  { "if a.x > u then", "end" }, { "for %s = 1, 3 do", "end" }, { "do", "end" },
  { "while u < 5 do", "u = u + 1 end" }, { "if outer.on then u = 1 else", "end" },
  { "for %s = 1, b.n do", "end" }, { "repeat", "u = u + 1 until u > 9" },
  { "for %s in near:within(a.x, a.y, 2) do", "end" }, { "for %s = 1, u > 2 and 3 or 1 do", "end" },
}

-- What becomes of what a fault would have given, and what is made of that in turn.
local uses = {
  "u = u + %s", "a.x = %s", "if %s then u = u + 1 end", "u = %s and u + 1 or 2", "b.label = %s",
  "for i = 1, %s do u = u + i end", "local t = { A = { x = %s } }\nworld:spawn(t)",
  "while u < %s do u = u + 1 end", "world:set(e, 'A.x', %s)", "grid[%s] = 1\na.y = grid[%s] + u",
  "local q = %s.x.y\nq.z = u", "last = %s\nu = u + last", "local m = { n = %s }\nu = u + m.n",
  "for k, w in %s do u = u + k end", "b.n = #%s", "u = helped(%s) + 1", "b.kind = not %s and 'red'",
  "u = math.max(u, %s)", "local n = outer[%s]\nn:go()", "b.n = %s < 3 and 1 or 2", "u = -%s * u",
  "local old\nfor i = 1, 3 do if old then u = u + old end old = %s end", "world:emit('E', %s)",
}

local writer = {}
writer.__index = writer

function writer:line(text, name)
  name = name or "v" .. #self.lines + 1
  for part in (text:gsub("%%s", name):gsub("%%%%", "%%") .. "\n"):gmatch "(.-)\n" do
    self.lines[#self.lines + 1] = part
  end
end

function writer:fault(fault)
  local name = fault[1]:find "^local %%s" and "v" .. #self.lines + 1
  self:line(fault[1])
  self.wanted[#self.lines] = fault[2]
  for _ = 1, name and self.numbers:int(3) - 1 or 0 do
    self:line("do " .. self.numbers:pick(uses) .. " end", name)
  end
end

-- Writes so many of the faults that are left, and sound statements between them.
function writer:block(count, depth)
  local numbers = self.numbers
  while count > 0 do
    if numbers:chance(50) then self:line(numbers:pick(sound)) end
    if depth < 3 and numbers:chance(35) then
      local within = numbers:pick(around)
      local some = numbers:range(1, count)
      self:line(within[1])
      self:block(some, depth + 1)
      self:line(within[2])
      count = count - some
    else
      self:fault(table.remove(self.faults, numbers:int(#self.faults)))
      count = count - 1
    end
  end
end

-- A function with faults in itself and in one that it calls.
local function write(numbers)
  local self = setmetatable({ lines = {}, wanted = {}, numbers = numbers, faults = {} }, writer)
  for i, fault in ipairs(faults) do self.faults[i] = fault end
  local count = numbers:range(1, 12)
  local called = numbers:range(0, count // 3)
  self:line "local world, outer, grid, near = ...\nlocal count, last = 0"
  self:line "local function helped(u) return u * 2 end"
  self:line "local function called(a, b, e, dt, u)"
  self:block(called, 0)
  self:line "return u + dt\nend\nreturn function(a, b, dt, e)\nlocal u = called(a, b, e, dt, 1.5)"
  self:block(count - called, 0)
  self:line "a.x = u\nend"
  return table.concat(self.lines, "\n"), self.wanted
end

local scene = agree.scene {
  options = { tag = 1 },
  fill = function(world)
    world:component("A", { "x: f64", "y: f64" })
    world:component("B", { "n: i32", "kind: enum(red, green, blue)", "label: string" })
    world:tag "Tag"
    world:event("E", { "n: f64" })
    return { on = true }, world:array("grid", "f64", 8),
      world:index("near", { query = "A:in", grid = "A", cell = 1 })
  end,
}

-- What is told of a function, by line.
local function told_of(code)
  local world, outer, grid, near = scene:new(true)
  local fn = assert(load(code, "=f"))(world, outer, grid, near)
  pcall(world.query(world, "A, B").run, world:query "A, B", fn)
  local facts = world:explain(fn)
  local told = {}
  for _, reason in ipairs(facts.reasons or {}) do
    local line, text = reason:match "^f:(%d+): (.*)$"
    told[tonumber(line)] = (told[tonumber(line)] or "") .. text
  end
  return told, facts
end

describe("reasons of kernels", function()
  local most = helper.by_scale { small = 40, normal = 200, deep = 4000 }
  it(("are as many as there are faults in a function (%d)"):format(most), function()
    for seed = 1, most do
      local code, wanted = write(random.new(seed))
      local told, facts = told_of(code)
      local shown = ("seed %d\n%s\n%s"):format(seed, code, table.concat(facts.reasons or {}, "\n"))
      for line, text in pairs(wanted) do
        assert.is_truthy(told[line] and told[line]:find(text, 1, true), line .. " " .. shown)
      end
      for line in pairs(told) do assert.is_truthy(wanted[line], line .. " " .. shown) end
      assert.equal(facts.reason, facts.reasons[1], shown)
    end
  end)

  it("name every line that a function has to be changed in, for all forms", function()
    local world = scene:new(true)
    local q = world:query "A, B"
    local function four(a, b)
      local text = "a" .. a.x
      local length = #a.x + #text
      if length > 5 then return nowhere.x end   -- luacheck: ignore
      return misspelt(b)   -- luacheck: ignore
    end
    for _, form in ipairs { "each", "sum", "where", "min" } do
      if form == "where" then q:where(four):count() else pcall(q[form], q, four) end
      assert.equal(form == "each" and 2 or 4, #world:explain(four).reasons, form)
    end
  end)

  it("are no more than 20", function()
    local lines = { "return function(a)" }
    for i = 2, 60 do lines[i] = "local v" .. i .. " = 'a' .. a.x" end
    local fn = assert(load(table.concat(lines, "\n") .. " end", "=f"))()
    local world = scene:new(true)
    world:system("s", { query = "A", each = fn })
    local reasons = world:explain("s").reasons
    assert.equal(20, #reasons)
    assert.matches("^f:21: it builds a string", reasons[20])
  end)

  it("are one where it is not the function that is at fault", function()
    local world = scene:new(true)
    world:observer("o", { on = "add", query = "A", each = function(a) a.x = "a" .. a.x end })
    local facts = world:explain "o"
    assert.same({ facts.reason }, facts.reasons)
    world:system("s", { query = "A", each = function(a) a.x = 1 end })
    assert.is_nil(world:explain("s").reasons)
  end)

  it("are told as they are now", function()
    local world = scene:new(true)
    local known, other = "1", "2"
    world:spawn { A = {} }
    world:system("s", { query = "A", each = function(a)
      a.x = known + 1
      a.y = other + 1
    end })
    assert.equal(2, #world:explain("s").reasons)
    known = 1
    assert.equal(1, #world:explain("s").reasons)
    other = 2
    world:update(0)
    assert.is_nil(world:explain("s").reasons)
  end)
end)
