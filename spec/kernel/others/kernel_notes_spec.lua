-- Functions that write to what is not the row's own, compiled: elements of arrays, fields of
-- resources.

local agree = require "spec.support.agree"

local math = math
local ROWS = 2500

local scene = agree.scene {
  fill = function(world)
    world:component("P", { "x: f64", "i: i32", "d: f64", "s: f32", "on: bool", "k: i64" })
    world:component("Owner", { "who: entity" })
    world:resource("Score", { "n: i32", "best: f64", "least: f32", "on: bool", "who: entity",
      "mood: enum(calm, angry)", "m: i16[2]" })
    for _, type in ipairs { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" } do
      world:array(type, type, 37)
    end
    world:array("bool", "bool", 37)
    world:array("ids", "entity", 37)
    local last
    for n = 1, ROWS do
      last = world:spawn { P = { x = n * 0.37, i = n * 7 % 37 + 1, d = n % 40, s = n % 5 + 0.25,
        on = n % 3 == 0, k = n }, Owner = { who = last } }
    end
    return world, world:res "Score"
  end,
  query = "P, Owner",
}

describe("an array that a kernel writes to", function()
  it("is set, the last row's value staying, whatever its type", function()
    scene:both(function(world)
      local f32, f64, i8, bool, ids = world:array "f32", world:array "f64", world:array "i8",
        world:array "bool", world:array "ids"
      local u32, i64 = world:array "u32", world:array "i64"
      return function(p, owner, _, e)
        f32[p.i] = p.x
        f64[p.i] = p.k
        i8[p.i] = p.i - 20
        bool[p.i] = p.x > 30
        ids[p.i] = e
        u32[5] = p.i
        i64[p.i * 1.0] = p.d
        ids[1] = owner.who
        f64[#f64] = 0.5
      end
    end)
  end)

  it("takes steps from what it is by then, and may be read otherwise", function()
    for _, text in ipairs {
      "local v = f64[p.i] if p.on then f64[p.i] = v + 1 else f64[p.i] = v - p.x end",
      "local v = i32[p.i] + 1 if p.on then i32[p.i] = v elseif p.k % 2 == 0 then i32[p.i] = v + 1 "
        .. "else i32[p.i] = v + 2 end",
      "local v = f64[2] + 1 f64[3] = 5 if p.on then return end for _ = 1, 2 do f64[3] = 4 end",
      "for k = 1, 3 do local v = i32[k] + p.i i32[k] = v end",
      "local v if p.on then v = f64[p.i] + 1 end if p.k ~= 7 then f64[p.i] = v or 3.0 end",
      "local v = f64[p.i] + 1 f64[p.i] = f64[p.i] + 5 f64[p.i] = v",
      "local v = f64[p.i] + 1 f64[p.k % 37 + 1] = 7 f64[p.i] = v",
      "local v = f64[1] + p.x if p.on then f64[1] = v end f64[1] = v",
      "local v = f64[1] for k = 1, 3 do f64[1] = v + k end",
      "local v for k = 1, 3 do v = f64[1] + 1 end f64[1] = v",
      "local v = score.n + 1 score.n = 5 score.n = v",
      "local v = bool[p.i] bool[p.i] = false bool[p.i] = v or p.on",
      "f64[p.i] = (p.on and f64[p.i] or 3.0) + 1.0",
      "local v = 3.0 if p.on then v = f64[p.i] or 4.0 end f64[p.i] = v + 1",
      "bool[p.i] = p.on and bool[p.i] or p.x > 40",
      "local v if p.on then v = f64[3] + 1 f64[3] = 5 else v = f64[3] + 1 end f64[3] = v",
      "local v if p.on then v = f64[p.i] + 1 end if p.k > 9 then f64[p.i] = v end",
      "f64[p.i] = f64[p.i] + 1 p.x = f64[2]",
      "f64[p.i] = f64[p.i % 37 + 1] + 1",
      "f64[2] = math.min(f64[2], p.on and 1 or 0.5) - 1",
      "i32[2] = i32[2] + (p.on and 1 or 2.0)",
      "i32[2] = i32[2] + 1 + (p.on and 1 or 2.0)",
      "f64[2] = f64[2] + (p.on and p.i << 40 or 0.5)",
      "i32[2] = math.max(i32[2], 1.0) + (p.on and 1 or 2.0)",
      "if f64[1] > 2 then f64[p.i] = 0 end f64[1] = p.d",
      "f64[p.i] = f64[p.i] + f64[p.i] + 1",
      "while f64[1] < p.x do f64[1] = f64[1] + 1 end",
      "for i = 1, p.i do f64[i] = f64[i] + 1 p.x = f64[1] end",
      "i32[p.i] = p.i p.x = i32[2]",
      "score.n = score.n + 1 p.x = score.n",
      "p.x = score.n score.n = score.n + 1",
      "if score.n < 3 then score.n = score.n + 1 else p.d = 0 end",
    } do
      scene:both(function(world)
        return assert(load("local f64, i32, score, bool, math = ... return function(p) " .. text ..
          " end", "=" .. text))(world:array "f64", world:array "i32", world:res "Score",
          world:array "bool", math)
      end)
    end
  end)

  it("is written to by numbers, at numbers, and by what is for effect alone", function()
    local world = scene:new(true)
    local a, truth, list = world:array "f64", world:array "bool", { 1, 2 }
    assert.are.equal(2, #list)
    for what, fn in pairs {
      ["it writes to 'list' with a key that is neither a number"] = function(p) list[p.on] = 1 end,
      ["by something other than a number"] = function(p) a[p.on] = 1 end,
      ["sets a field of type f64 to a boolean"] = function(p) a[p.i] = p.on end,
      ["it sets a field of type bool to a number"] = function(p) truth[p.i] = 1 end,
    } do
      world:system("it", { query = "P", each = fn })
      local reason = world:explain("it").reason or "none"
      local line = debug.getinfo(fn, "S").linedefined
      assert(reason:find("notes_spec.lua:" .. line .. ": it ", 1, true), reason)
      assert(reason:find(what, 1, true), what .. ": " .. reason)
    end
    local q = world:query "P"
    for _, form in ipairs { "where", "sum" } do
      local fn = function(p) a[p.i] = 1 return 1 end
      pcall(function() q[form](q, fn) end)
      assert(world:explain(fn).reason:find("returns a result", 1, true), form)
    end
  end)
end)

describe("a resource that a kernel writes to", function()
  it("has its fields set, added up, and held within limits", function()
    scene:both(function(world, score)
      return function(p, owner)
        score.n = score.n + p.i
        score.best = math.max(score.best, p.x)
        score.least = score.least - p.s
        score.on = p.on
        score.who = owner.who
        score.mood = p.on and "angry" or "calm"
        score.m[1] = p.i
      end, function(p)
        local here = world:res "Score"
        here.m[2] = math.min(here.m[2] + 3, 1000)
        if p.on then here.n = here.n - 1 end
      end
    end)
  end)
end)
