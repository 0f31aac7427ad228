-- What happens to worlds is the same however their functions are run: compiled, side by side, or by
-- Lua.

local luassert = require "luassert"

local helper = require "spec.support.ecs_helper"
local tiers = require "spec.support.tiers"

local agree = {}
agree.__index = agree

local BOTH = { { kernels = true }, { kernels = false } }

-- A scene: {
--   options            of its worlds
--   fill(world, case)  declares and spawns; what it returns is what functions are made of, or else
--                      the world is
--   query, dt, updates what systems are over, how long an update is (0.25), and how many (2)
--   counts             whether calls by Lua are counted
--   sound              no update fails, but for a case that `fails`, of which each does
--   before(world, turn, ...), look(world)
--                      what is done before each update; what is seen after it, beside the digest
--   forms              options of the worlds that are compared; the last one's is what is right
-- }
function agree.scene(scene)
  return setmetatable(scene, agree)
end

-- A world of the scene and what its functions are made of. `form` is options of the world, or
-- whether it has kernels.
function agree:new(form, case)
  local options = {}
  for key, value in pairs(self.options or {}) do options[key] = value end
  for key, value in pairs(type(form) == "table" and form or { kernels = form }) do
    options[key] = value
  end
  local world = helper.new_world(options)
  return world, self.fill(world, case or {})
end

function agree:check_tier(world, name, tier)
  local told = world:explain(name)
  luassert.equal(tier or "vector", told.tier, told.reason)
end

-- A function over a query stays Lua, with words in the reason.
function agree.check_reason(world, query, fn, words)
  local _, reason = pcall(world.system, world, "it", { query = query, each = fn, compile = true })
  reason = reason or "none"
  luassert.truthy(reason:find(words, 1, true), words .. ": " .. reason)
end

-- Every key and value of tables, in the order of pairs.
local function listed(tables)
  local said = {}
  for _, one in ipairs(tables) do
    said[#said + 1] = "/"
    for k, v in pairs(one) do
      said[#said + 1] = ("%s=%s%s"):format(tostring(k), math.type(v) or "", tostring(v))
    end
  end
  return table.concat(said, " ")
end

-- What systems of the functions of `make` do to a world, and to the tables that it gives in a list
-- behind them, as text, and how often Lua called one.
local function play(self, form, make, case)
  local made = table.pack(self:new(form, case))
  local world = made[1]
  if case.prepare then case.prepare(world) end
  local functions = { make(table.unpack(made, made.n > 1 and 2 or 1, made.n)) }
  local tables = type(functions[#functions]) == "table" and table.remove(functions) or {}
  for n, fn in ipairs(functions) do
    world:system("s" .. n, { query = case.query or self.query, each = fn })
    if form.kernels and case.tier ~= false then self:check_tier(world, "s" .. n, case.tier) end
  end
  local said, calls, problem = {}, 0, nil
  local function update() problem = select(2, pcall(world.update, world, self.dt or 0.25)) end
  for turn = 1, case.updates or self.updates or 2 do
    if self.before then self.before(world, turn, table.unpack(made, 2, made.n)) end
    calls = calls + (form.kernels and self.counts and helper.calls_of(functions[1], update)
      or update() or 0)
    if self.sound then luassert.equal(case.fails or false, problem ~= nil, problem) end
    table.insert(said, tiers.plain(problem))
    table.insert(said, self.look and self.look(world) or "")
    table.insert(said, world:digest())
    if case.between then case.between(world, turn, said) end
  end
  helper.check(world)
  table.insert(said, listed(tables))
  return table.concat(said, "\n"), calls, world
end

-- Functions that `make` gives, with a list of tables or without, do the same in worlds of all
-- forms, and are compiled. `case` is a query, or { query, tier (false: any), updates, prepare,
-- between, fails }. Returns how often Lua called the first function where it is compiled, if that
-- is counted, what was said, and the worlds.
function agree:both(make, case)
  case = type(case) == "string" and { query = case } or case or {}
  local forms, said, calls, worlds = self.forms or BOTH, {}, {}, {}
  for n, form in ipairs(forms) do
    said[n], calls[n], worlds[n] = play(self, form, make, case)
  end
  for n = 1, #forms - 1 do
    luassert.equal(said[#forms], said[n])
  end
  return calls[1], said[#forms], worlds
end

-- As `both`, and Lua is called for no row.
function agree:all(make, case)
  luassert.equal(0, (self:both(make, case)))
end

-- As `both`, in any tier; returns what is explained of the first function.
function agree:explained(make, updates)
  local _, _, worlds = self:both(make, { tier = false, updates = updates })
  return worlds[1]:explain "s1"
end

-- As `both`, and no row is left to Lua.
function agree:whole(make, updates)
  local told = self:explained(make, updates)
  luassert.equal("vector", told.tier, told.reason)
  luassert.is_nil(told.left, told.left and told.left.why)
end

-- What body(world, kernels, ...), with what the scene gives, returns is the same in worlds of all
-- forms; so are these then. Returns it.
function agree:twice(body, case)
  local seen
  for n, form in ipairs(self.forms or BOTH) do
    local made = table.pack(self:new(form, case))
    local found = { body(made[1], form.kernels, table.unpack(made, 2, made.n)) }
    found.digest = made[1]:digest()
    seen = seen or found
    luassert.same(seen, found, "form " .. n)
  end
  return table.unpack(seen)
end

return agree
