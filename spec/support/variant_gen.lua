--- Random functions over an optional term, as text: they become several programs, one for the rows
--- that have what is optional and one for those that lack it. Each is (a, b, p, dt, e), with
--- components A and B, what is optional, and the row's id; around it are a world, a resource
--- `score`, the arrays `cells` and `slots`, an index and a table `kept`.

local random = require "spec.support.rng"

local M = {}

local AROUND = { "world", "score", "cells", "slots", "index", "ecs", "kept", "math" }

-- A query, and what stands for a number of the optional term (a tag has none: the resource's).
local QUERIES = {
  { "A, B, P?", "p.v" }, { "A, B, T?", "score.n" }, { "A, B, O?", "p.o" },
  { "A, B, S?", "p.v" }, { "A, B, Tg?", "p.v" }, { "A, B, L?", "p.f" },
  { "A, B, (L, *)?", "p.f" }, { "A, B, (L, *)?", "p.f" }, { "A, B, L->P?", "p.v" },
  { "A, B, B.t->P?", "p.v" }, { "A, B, B.t->O?", "p.o" }, { "A, B, B.t->T?", "score.n" },
  { "A, B, B.u->P?", "p.v" }, { "A, B, L.target->O?", "p.o" }, { "A, B, L.target->P?", "p.v" },
}

-- The row's own numbers, and the optional term's, which are VALUE.
local NUMBERS = {
  "a.x = a.x + 1.5", "a.x = a.i // 2", "a.i = a.i + 1", "a.i = a.i * 3 % 11",
  "b.t = e", "b.u = b.t", "if p then VALUE = VALUE + a.x end", "if p then VALUE = VALUE * 2 end",
  "if p then a.x = a.x + VALUE end", "a.x = a.x + world:random(e)", "a.i = world:random(e, 9)",
  "a.i = 12 // (a.i % 7)", "a.i = 12 // (a.i % 97)", "if a.x > 20 then return end",
}

-- What all rows share. Some indexes are past the arrays' ends.
local SHARED = {
  "a.x = score.n + a.x", "score.n = score.n + a.x", "score.n = math.max(score.n, a.x)",
  "a.x = a.x + score.m", "score.m = score.m + 1", "score.m = math.min(score.m, a.i)",
  "cells[a.i % 8 + 1] = cells[a.i % 8 + 1] + 1", "a.x = a.x + (cells[a.i % 8 + 1] or 0)",
  "cells[a.i % 12 + 1] = a.x", "kept[1] = e",
}

-- Orders about the row and about others, some of which are gone.
local ORDERS = {
  "world:add(e, 'T')", "world:remove(e, 'T')", "world:remove(e, 'O')", "world:add(e, 'O')",
  "world:despawn(e)", "world:remove(e, 'B')", "world:remove(e, 'L')",
  "if a.i % 3 == 0 then world:despawn(e) end", "if a.i % 2 == 0 then world:add(e, 'T') end",
  "if a.i % 5 == 0 then world:remove(e, 'A') end",
  "if b.t ~= ecs.null and world:alive(b.t) then world:add(b.t, 'T') end",
  "if world:alive(b.t) then world:remove(b.t, 'O') end",
  "if world:alive(b.t) then world:set(b.t, 'C.v', a.x) end",
  "if world:alive(b.t) then world:despawn(b.t) end",
  "if world:alive(b.t) then world:set(b.t, 'O.o', a.x) end",
  "world:add(e, 'L', b.t == ecs.null and e or b.t)",
  "if world:alive(b.t) then world:add(e, 'L', b.t) end",
  "for o, oe in index:range(2, 5) do if oe ~= e then world:add(oe, 'T') end end",
}

local BIRTHS = {
  "world:spawn { A = { x = a.x, i = 7 } }", "world:spawn { O = { o = a.x }, T = true }",
  "local id = world:spawn { A = { x = a.x }, B = { t = e } } b.u = id",
  "if a.i % 3 == 1 then world:spawn { A = { x = a.x, i = a.i }, O = {} } end",
  "slots[a.i % 8 + 1] = world:spawn { O = {} }",
  "local k = 0 while k < a.i % 5 do k = k + 1 world:spawn { O = { o = k } } end",
}

local EVENTS = {
  "world:emit('E', a.x, e)", "world:emit('E', a.i, b.t)",
  "for k = 1, a.i % 4 do a.x = a.x + k world:emit('E', k, e) end",
}

-- What is read of the world and of others.
local READINGS = {
  "if world:has(e, 'T') then a.x = a.x - 1 end", "if world:has(e, 'L') then a.i = a.i + 1 end",
  "if world:alive(b.t) and world:has(b.t, 'C') then local v = world:get(b.t, 'C.v') "
    .. "if v then a.x = v end end",
  "if world:alive(b.t) then local v = world:get(b.t, 'O.o') if v then a.x = a.x + v end end",
  "for o, oe in index:range(2, 5) do a.x = a.x + o.i end", "local ne, d = index:lowest(1)",
  "a.x = a.x + world:count('T')",
}

-- What is ordered and born in several programs goes wrong most easily, so it comes often.
local KINDS = { NUMBERS, NUMBERS, SHARED, ORDERS, ORDERS, ORDERS, BIRTHS, BIRTHS, EVENTS,
  READINGS }

local function block(numbers, indent)
  local lines = {}
  for n = 1, numbers:int(3) do
    lines[n] = indent .. "do " .. numbers:pick(numbers:pick(KINDS)) .. " end\n"
  end
  return table.concat(lines)
end

local function function_text(numbers)
  local before = numbers:chance(33) and block(numbers, "  ") or ""
  local after = numbers:chance(33) and block(numbers, "  ") or ""
  return ("function(a, b, p, dt, e)\n%s  if p then\n%s  else\n%s  end\n%send"):format(before,
    block(numbers, "    "), block(numbers, "    "), after)
end

-- A seed's query and function, the rows it is for, and the threads it is run on. Where each row
-- goes through many others there are few.
function M.generate(seed)
  local numbers = random.new(seed)
  local query, value = table.unpack(numbers:pick(QUERIES))
  local text = function_text(numbers):gsub("VALUE", value)
  local many = numbers:chance(5) and not text:find("index:range", 1, true)
  return { seed = seed, query = query, text = text, rows = many and 2500 or 40,
    threads = numbers:chance(17) and "3!" or 1 }
end

-- The function of a program, with what the table has for the names around it.
function M.compile(program, around)
  local values = {}
  for n, name in ipairs(AROUND) do values[n] = around[name] end
  local head = ("local %s = ... return "):format(table.concat(AROUND, ", "))
  return assert(load(head .. program.text, "=function"))(table.unpack(values))
end

-- What shows a program again.
function M.show(program)
  return ("seed %d, %d rows, threads %s, query \"%s\"\n%s"):format(program.seed, program.rows,
    program.threads, program.query, program.text)
end

return M
