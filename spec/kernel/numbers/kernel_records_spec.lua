-- Functions that read tables of tables, as settings of kinds and lists of places are, compiled.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

local math, ipairs = math, ipairs

local scene = agree.scene {
  options = { tag = 1 },
  fill = function(world)
    world:component("E", { "kind: enum(slime, bat, boss)", "i: i32", "x: f64", "y: f64", "hp: i32",
      "on: bool", "next: i32 = 1", "other: enum(boss, orc, slime, bat)", "few: enum(bat, boss)",
      "name: string", "who: entity" })
    for n = 1, 1500 do
      local kind = ({ "slime", "bat", "boss" })[n * n % 3 + 1]
      world:spawn { E = { kind = kind, i = n % 9 - 2, x = n / 4 % 20, y = n % 7, hp = n % 50,
        on = n % 2 == 0, next = n % 3 + 1 } }
    end
  end,
  query = "E",
  updates = 3,
  dt = 0.5,
}

local function new_tables()
  return {
    KINDS = { slime = { speed = 1.5, hp = 10, fly = false, k = 2, [1] = 3 },
      bat = { speed = 7.25, hp = 3, fly = true, k = 0.5, [1] = -4, drop = 2, rare = true },
      boss = { speed = -2.5, hp = 900, fly = false, k = 0, [1] = 0 } },
    PLACES = { { x = 0.5, y = 0, z = 3 }, { x = 10, y = 4.25 }, { x = 3.5, y = -9, z = 7.5 } },
    SPARSE = { [0] = { x = 7 }, { x = 1 }, { x = 2 } },
    MATRIX = { slime = { boss = 1, orc = 2.5, slime = 3, bat = 0 },
      bat = { boss = 0.5, orc = 1, slime = -1, bat = 7 },
      boss = { boss = 2, orc = 0.25, slime = 9, bat = 1 } },
    DEEP = { slime = { at = { 1.5, 2, 3 }, of = { boss = 1, orc = 2.5, slime = 3, bat = 0 } },
      bat = { at = { 0.5, 2.5, 7 }, of = { boss = 0, orc = 1, slime = -1, bat = 7 } },
      boss = { at = { 9, 8.5, 7 }, of = { boss = 2, orc = 0.25, slime = 9.5, bat = 1 } } },
    HOLES = { slime = { bat = true }, bat = {}, boss = { boss = true, orc = false } },
    GRID = { { 1, 2, 3 }, { 4.5, 5, 6 } }, CODES = { slime = { 10, 20 }, bat = { 30, 40, 50 },
      boss = { 60, 70 } },
    SOME = { slime = { w = 2, at = { 3, 4 }, on = "boss" }, boss = { w = 5, at = { 1, 8 } } },
    GUNS = { slime = { guns = { { d = 4, r = 1, kind = "bat" }, { d = 2, r = 1 } }, n = { 1, 2 } },
      bat = { guns = {}, n = { 7 } }, boss = { guns = { { d = 9, r = 2.5 } } } },
    LANES = { { 2, 3 }, {}, { 1, 1, 2.5, 4 } },
    WAVES = { { { at = 1, n = 3 }, { at = 2 } }, { { at = 5, n = 2 } } },
    PRICE = { slime = 4, boss = 0.5 }, NEXT = { slime = "bat", boss = "slime" },
    TITLES_OF = { slime = 1, bat = 2, boss = 3 }, NAMES = { "bat", "boss", "bat", "slime" },
    TITLES = { slime = "Sir", bat = "", boss = "Lord" },
    LOOT = { { kind = "boss" }, { kind = "bat", name = "b" }, { kind = "slime" } },
  }
end

-- A body and what changes between its runs do the same with kernels and without.
local function check(text, change)
  local tables
  scene:both(function()
    tables = new_tables()
    local env = setmetatable({ math = math, ipairs = ipairs }, { __index = tables })
    for name, value in pairs(tables) do env[name] = value end
    return assert(load(("return function(e, dt) %s end"):format(text), text, "t", env))()
  end, { between = function(_, turn) if change then change(tables, turn) end end })
end

describe("a table of tables in a kernel (C26)", function()
  it("is read by a number, and nil where there is none", function()
    check "local p = PLACES[e.next] e.x = p.x e.y = p.y e.next = e.next % #PLACES + 1"
    check "local p = PLACES[e.i] if p then e.x = e.x + p.x else e.hp = 0 end"
    check "local p = PLACES[e.i] e.on = p == nil if nil ~= p and e.hp > 4 then e.y = p.y end"
    check "local p = PLACES[e.x] e.on = p and p.y > 1 or false"
  end)

  it("may lack fields in some of its tables", function()
    check "local k = KINDS[e.kind] if k.drop then e.hp = k.drop end if k.rare then e.x = 1 end"
    check "e.x = (KINDS[e.kind].drop or 0.5) * 2 e.on = not KINDS[e.kind].rare"
    check "local p = PLACES[e.next] e.y = (p.z or 1) + p.x e.on = p.z == nil"
    check "local p = PLACES[e.i] if p and p.z then e.y = p.z end"
  end)

  it("is an error where there is none, as in Lua", function()
    check "e.y = 5 e.x = PLACES[e.i].x"
    check "e.y = 5 e.x = PLACES[e.next].z + 1"
  end)

  it("is looked for in Lua where it has values for other numbers", function()
    check "e.x = SPARSE[e.hp % 3].x"
    check "local p = SPARSE[e.hp % 4] if p then e.x = p.x end"
  end)

  it("is read in loops, and one of two", function()
    check [[local best = math.huge
      for k = 1, #PLACES do
        local d = math.abs(PLACES[k].x - e.x) + math.abs(PLACES[k].y - e.y)
        if d < best then best = d e.hp = k end
      end]]
    check "local p = PLACES[e.next] if e.on then p = PLACES[e.hp % 3 + 1] end e.x = p.x"
    check "local p = PLACES[e.i] if e.on then p = PLACES[e.i + 1] end if p then e.x = p.y end"
  end)

  it("may change between runs: values, their types, how many, and what is in them", function()
    local function change(tables, turn)
      tables.KINDS.bat.hp = turn % 2 == 0 and 4 or 2.5
      tables.KINDS.boss = { speed = 3.5, hp = turn, fly = true, k = 1, [1] = 2 }
      tables.PLACES[#tables.PLACES + 1] = { x = turn, y = 2.5 }
      tables.PLACES[1].x = turn / 4
    end
    check("e.x = e.x + KINDS[e.kind].hp + KINDS[e.kind].speed", change)
    check("local p = PLACES[e.i] if p then e.x = e.x + p.x end", change)
    check("local p = PLACES[e.next] e.x = e.x + (p.y or 3)", function(tables)
      tables.PLACES[2].y = nil
    end)
    check("local p = PLACES[e.next] if p.z then e.x = e.x + p.z end", function(tables, turn)
      if turn == 1 then tables.PLACES[1].z, tables.PLACES[2].z = nil, 4 end
      if turn == 2 then tables.PLACES[3] = setmetatable({}, { __index = { z = 100 } }) end
    end)
    check("local k = KINDS[e.kind] e.x = k.speed", function(tables) tables.KINDS.bat = 5 end)
    check("local p = PLACES[e.next] e.x = e.x + p.x", function(tables)
      tables.PLACES[2] = setmetatable({}, { __index = { x = 3 } })
    end)
  end)

  it("is listed by what is copied of it", function()
    local world, tables = scene:new(true), new_tables()
    local kinds, places, guns = tables.KINDS, tables.PLACES, tables.GUNS
    local function names_of(each)
      world:system("it", { query = "E", each = each })
      world:update(1)
      local names = {}
      for n, copied in ipairs(world:explain("it").tables) do names[n] = copied.name end
      return table.concat(names, " ")
    end
    assert.are.equal("kinds kinds[].hp kinds[][1] places places[].y", names_of(function(e)
      e.x = kinds[e.kind].hp + kinds[e.kind][1] + places[e.next].y
    end))
    local named = names_of(function(e)
      for _, gun in ipairs(guns[e.kind].guns) do e.x = gun.d end
    end)
    for _, name in ipairs { "guns", "guns[].guns", "#guns[].guns", "guns[].guns[].d" } do
      assert.truthy((" " .. named .. " "):find(" " .. name .. " ", 1, true), named)
    end
  end)

  it("is refused where its tables differ, or are used as such", function()
    local world, tables = scene:new(true), new_tables()
    local kinds, places = tables.KINDS, tables.PLACES
    kinds.slime.name, kinds.bat.name, kinds.boss.name = "a", "b", 3
    local list, cache = { 1.5, 2.5 }, {}
    for reason, body in pairs {
      ["has no element 1, or none for any of the names"] = function(e) e.x = kinds[e.kind].only end,
      ["values that are"] = function(e) e.on = kinds[e.kind].name == "a" end,
      ["compares tables held in a table"] = function(e) e.on = kinds[e.kind] == kinds.bat end,
      ["it writes to a table"] = function(e) kinds[e.kind].hp = e.hp end,
      ["it writes to 'list' with a key that is neither a "
        .. "number"] = function(e) list[e.on] = #list end,
      ["it sets 'cache' to a table"] = function(e)
        local made = cache[e.i]
        if not made then
          made = { hp = e.hp }
          cache[e.i] = made
        end
        e.hp = made.hp
      end,
      ["indexes a nested table by a boolean"] = function(e) e.x = places[e.i][e.on] end,
      ["no element 1, or none"] = function(e) e.x = places[e.next][e.i] end,
      ["sets a field of type f64 to another type"] = function(e) e.x = places[e.next] end,
    } do
      world:system("it", { query = "E", each = body })
      local why = world:explain "it".reason or "none"
      assert.truthy(why:find(reason, 1, true), why)
    end
  end)

  it("is read by two variables", function()
    check "e.x = e.x + MATRIX[e.kind][e.other] e.on = MATRIX[e.kind][e.other] > 1"
    check "local row = MATRIX[e.kind] e.y = row[e.other] * row.orc + row[e.kind]"
    check "e.on = HOLES[e.kind][e.other] or false if not HOLES[e.kind].orc then e.x = 1 end"
    check "e.x = GRID[e.hp % 2 + 1][e.next] e.y = CODES[e.kind][e.hp % 2 + 1]"
    check "e.y = 5 e.x = GRID[e.next][e.i] or 0"
    check "e.y = 5 e.x = (CODES[e.kind][e.next] or 3) + 1"
    check("e.x = e.x + MATRIX[e.kind][e.other]", function(tables, turn)
      if turn == 1 then tables.MATRIX.bat.orc = -3 else tables.MATRIX.boss = tables.MATRIX.bat end
    end)
    check("e.x = GRID[1][e.next] + GRID[e.hp % 2 + 1][1]", function(tables, turn)
      tables.GRID[turn] = { turn, 2, 7 }
    end)
  end)

  it("has nothing for some of the names", function()
    local function fill(tables, turn)
      tables.PRICE.bat, tables.SOME.bat, tables.NEXT.bat = turn, { w = turn, at = { 7, 9 } }, "boss"
      tables.PRICE.boss = nil
    end
    for _, body in ipairs {
      "e.x = PRICE[e.kind] or -1",
      "local some = SOME[e.kind] if some then e.x = e.x + some.w * some.at[2] e.y = #some.at end",
      "if e.kind ~= 'bat' then e.x = SOME[e.kind].w + PRICE[e.kind] end",
      "e.on = PRICE[e.kind] == nil e.kind = NEXT[e.kind] or 'slime'",
      "e.other = NEXT[e.few] or 'orc'",
      "local price = PRICE[NEXT[e.kind]] if price then e.x = price + (GRID[1][e.next] or 0) end",
      "e.on = SOME[NEXT[e.kind]] == nil e.y = PLACES[PRICE[e.kind]] and 1 or 2",
      "if e.hp > 40 then e.x = PRICE[e.kind] end",
      "if e.hp > 48 then e.x = SOME[e.kind].at[1] end",
    } do
      check(body)
      check(body, fill)
    end
  end)

  it("is kept in a local that takes several of them", function()
    for _, body in ipairs {
      "local p = PLACES[e.next] for i = 1, e.hp % 5 do e.x = e.x + p.x p = PLACES[i % 3 + 1] end "
        .. "e.y = p.y",
      "local some = e.on and SOME[e.kind] if some then e.x = some.w end",
      "local kind = SOME[e.kind] local other = kind and kind.on and SOME[kind.on] e.on = not other",
      "local some if e.on then some = SOME[e.kind] end if some then e.x = some.w else e.y = 3 end",
      "local best for i, p in ipairs(PLACES) do if p.x > e.hp % 9 then best = p end end "
        .. "if best then e.x = best.y end",
      "local p = PLACES[1] if e.on then p = PLACES[2] end e.x = p.x",
      "local p = e.on and PLACES[2] or PLACES[e.next] e.x = p.x",
      "local p = PLACES[1] for i = 1, e.hp % 4 do e.x = e.x + p.x p = PLACES[i % 3 + 1] end",
      "local kind = e.on and KINDS.bat or KINDS.boss e.x = kind.speed",
      "local kind = KINDS.bat if e.on then kind = KINDS[e.kind] end e.x = kind.speed",
    } do
      check(body)
      check(body, function(tables, turn)
        tables.PLACES[2], tables.KINDS.bat = { x = turn, y = 2 }, { speed = turn }
      end)
    end
  end)

  it("has lists of several lengths", function()
    local function grow(tables, turn)
      for i = 1, turn * 2 do
        tables.GUNS.bat.guns[i], tables.LANES[2][i] = { d = i, r = 2 }, turn
        tables.WAVES[2][i] = { at = i, n = turn }
      end
      tables.GUNS.slime.guns[2], tables.LANES[3] = nil, { 0.5 }
    end
    for _, body in ipairs {
      "for i, gun in ipairs(GUNS[e.kind].guns) do e.x = e.x + gun.d * gun.r * i end",
      "for _, gun in ipairs(GUNS[e.kind].guns) do if gun.kind then e.kind = gun.kind break end end",
      "local n = GUNS[e.kind].n if n then for _, x in ipairs(n) do e.y = e.y * 0.5 + x end end",
      "for i, x in ipairs(LANES[e.next]) do e.x = e.x + x * i end e.y = #LANES[e.next]",
      "local w = WAVES[e.next] if w then for _, o in ipairs(w) do e.i = e.i + (o.n or 3) end end",
      "for _, g in ipairs(GUNS[e.kind].guns) do for _, x in ipairs(LANES[e.next]) do "
        .. "e.x = x * g.d end end",
      "if e.kind == 'slime' then e.x = GUNS[e.kind].guns[1].d + GUNS[e.kind].guns[e.next].r end",
    } do
      check(body)
      check(body, grow)
    end
    check("for _, x in ipairs(LANES[e.next]) do e.x = e.x + x end", function(tables)
      tables.LANES[3] = setmetatable({ 3 }, { __index = function() return nil end })
    end)
  end)

  it("has tables, which are read by names and by variables", function()
    for _, body in ipairs {
      "local kind = DEEP[e.kind] e.x = e.x + kind.at[e.hp % 3 + 1]",
      "local of = DEEP[e.kind].of e.x = e.x + of.boss * of.orc",
      "e.x = DEEP[e.kind].of[e.other] e.y = DEEP[e.kind].at[2]",
      "e.y = 5 e.x = DEEP[e.kind].at[e.next] or 1",
      "if #DEEP[e.kind].at > 2 then e.x = #GRID[e.hp % 2 + 1] end e.y = #CODES[e.kind]",
      "local kind = DEEP[e.kind] e.x = kind.at[e.hp % #kind.at + 1]",
    } do check(body) end
    check("e.x = DEEP[e.kind].at[e.hp % 3 + 1]", function(tables, turn)
      if turn == 1 then tables.DEEP.bat.at[2] = 7 else tables.DEEP.boss.at = tables.DEEP.bat.at end
    end)
    check("e.x = #DEEP[e.kind].at * 2", function(tables, turn)
      tables.DEEP.bat.at = turn == 1 and {} or setmetatable({}, { __len = function() return 7 end })
    end)
  end)

  it("is copied for as many rows as are worth it, unless it must be", function()
    local long, list = {}, {}
    for i = 1, 5000 do long[i] = i / 2 end
    local world = helper.new_world {}
    world:component("Cell", { "n: i32", "x: f64" })
    for i = 1, 20 do world:spawn { Cell = { n = i * 200 } } end
    local function with(at)
      list.at = at
      world:update(1)
      return world:explain "read"
    end
    world:system("read", { query = "Cell", each = function(c) c.x = list.at[c.n] or -1 end })
    assert.matches("copying the tables", with(long).reason)
    assert.are.equal("vector", with({ 1.5, 2.5 }).tier)
    assert.are.equal("lua", with(long).tier)
    for i = 1, 6000 do world:spawn { Cell = { n = i % 5000 + 1 } } end
    assert.are.equal("vector", with(long).tier)
    local function most() return (world:query "Cell":max(function(cell) return cell.x end)) end
    assert.are.equal(2500.0, most())
    world:query "Cell":run(function(cell) cell.x = list.at[cell.n] + 1 end)
    assert.are.equal(2501.0, most())
  end)

  it("is read by a string that stands in the function, which may differ from row to row", function()
    check "local k = e.hp > 20 and 'bat' or 'boss' e.x = KINDS[k].hp e.on = MATRIX[k][e.other] > 1"
    check "local k = e.on and 'boss' if k then e.y = MATRIX[e.kind][k] + MATRIX[k].orc end"
    check "local k = 'bat' if e.x > 3 then k = 'slime' end e.x = e.x + TITLES_OF[k] e.kind = k"
  end)

  it("gives strings, which fields of enums and of strings take", function()
    check "e.kind = NAMES[e.hp % 4 + 1] e.name = NAMES[e.next]"
    check [[if NAMES[e.hp % 4 + 1] == e.kind then e.x = 1
      elseif NAMES[e.next] ~= 'bat' then e.y = 2 end]]
    check "local n = NAMES[e.i] if n then e.x = KINDS[n].hp e.kind = n else e.on = false end"
    check "e.name = TITLES[e.kind] e.on = TITLES[e.kind] == '' e.x = #NAMES"
    check "e.kind = LOOT[e.next].kind e.on = LOOT[e.next].name == 'b'"
    check "e.name = e.hp % 3 == 0 and NAMES[e.next] or 'slime'"
    check "e.on = e.name == NAMES[e.next] or e.name == e.kind e.name = e.kind"
    check "e.y = 3 e.few = NAMES[e.hp % 4 + 1]"
    check("e.kind = NAMES[e.hp % 4 + 1] e.on = NAMES[1] == e.kind", function(tables, turn)
      tables.NAMES[turn] = turn == 2 and "boss" or "slime"
      if turn == 2 then tables.NAMES[4] = "" end
    end)
  end)

  it("is no matter for enums of the same names in another order", function()
    check "e.other = e.kind e.on = e.other == e.kind e.x = KINDS[e.kind].hp"
    check "e.on = e.other == e.kind e.x = e.few == e.other and 1 or 2"
    check "e.other = e.few e.kind = e.few"
    check "e.y = 1 e.few = e.kind"   -- an error where it has no such name, as in Lua
    check "if e.kind ~= 'slime' then e.few = e.kind end"
    check "if e.other ~= 'orc' then e.kind = e.other end"
  end)
end)
