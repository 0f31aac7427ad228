-- What compiled functions do nothing but spawn comes to its tables when they have run over all
-- rows: in the order, and with the ids, that the functions themselves give.

local agree = require "spec.support.agree"
local tiers = require "spec.support.tiers"

local function look(world)
  local said = {}
  for n, text in ipairs { "Gun", "Shot", "Smoke", "Far", "Armed" } do
    said[n] = text .. " " .. tiers.ids_of(world, text)
  end
  return table.concat(said, "\n") .. world:digest()
end

local scene = agree.scene {
  options = { tag = 9 },
  fill = function(world, case)
    world:component("Gun", { "n: i32", "at: entity" })
    world:component("Shot", { "x: f64", "power: f32 = 2", "kind: enum(stone, fire)", "by: entity",
      "hot: bool", "left: i16 = 7" })
    world:component("Smoke", { "size: u8 = 3" })
    world:component("Far", { "n: i32", storage = case.sparse and "sparse" or nil })
    world:component("Armed", { "shots: i32", requires = not case.sparse and { "Smoke" } or nil })
    world:tag "Fresh"
    local last
    for n = 1, case.rows or 2600 do
      last = world:spawn { Gun = { n = n, at = last }, Fresh = n % 3 == 0 and true or nil,
        Smoke = n % 5 == 0 and {} or nil }
    end
  end,
  query = "Gun",
  updates = 3,
  look = look,
  forms = { { kernels = true }, { kernels = true, threads = 3 }, { kernels = false } },
}

describe("spawns that are all that rows order", function()
  it("come with the values of their rows, and defaults", function()
    scene:both(function(world)
      return function(gun, _, e)
        gun.n = gun.n + 1
        if gun.n % 9 == 0 then
          world:spawn { Shot = { x = gun.n / 2, by = e, hot = gun.n % 2 == 0, left = gun.n % 100 } }
          world:spawn { Shot = { kind = "fire", power = gun.n * 0.1, by = gun.at }, Fresh = true }
          world:spawn()
        end
      end
    end)
  end)

  it("come to one table row after row, whichever of the function's they are", function()
    for _, sparse in ipairs { false, true } do
      scene:both(function(world)
        return function(gun)
          if gun.n % 3 == 0 then world:spawn { Smoke = { size = gun.n % 200 }, Armed = {} } end
          if gun.n % 4 == 0 then world:spawn { Armed = { shots = gun.n } } end
          if gun.n % 7 == 0 then world:spawn { Armed = { shots = 1 }, Smoke = true } end
          world:spawn { Smoke = { size = 1 } }
        end
      end, { sparse = sparse, rows = 900 })
    end
  end)

  it("stay what they are where others despawn, and take the ids of the dead", function()
    scene:both(function(world)
      return function(gun)
        if gun.n % 4 == 1 then world:spawn { Shot = { x = gun.n }, Smoke = { size = 9 } } end
      end
    end, { between = function(world)
      local n = 0
      for _, e in world:query("Shot"):each() do
        n = n + 1
        if n % 3 == 0 then world:despawn(e) end
      end
    end })
  end)

  it("are sparse, watched, and marked as changed as others are", function()
    scene:both(function(world)
      return function(gun)
        if gun.n % 5 == 0 then world:spawn { Shot = { x = 1 }, Far = { n = gun.n } } end
        if gun.n % 6 == 0 then world:spawn { Shot = { x = 2 } } end
      end
    end, { sparse = true })
    for _, on in ipairs { "add", "set", "enter" } do
      scene:both(function(world)
        return function(gun)
          if gun.n % 50 == 0 then world:spawn { Smoke = { size = gun.n % 99 } } end
        end
      end, { prepare = function(world)
        world:observer("told", { on = on, query = "Smoke", each = function(smoke, e)
          if smoke.size % 2 == 0 then world:add(e, "Armed") else world:spawn { Fresh = true } end
        end })
      end })
    end
    local count = 0
    scene:both(function(world)
      return function(gun)
        if gun.n % 50 == 0 then world:spawn { Smoke = { size = gun.n % 99 }, Far = {} } end
      end
    end, { prepare = function(world)
      world:component("Far", { "n: i32", track = true })
      world:system("seen", { query = "Smoke:changed:in, Far:in", each = function(smoke)
        count = count + smoke.size
      end })
    end, between = function(_, _, said) said[#said + 1] = count; count = 0 end })
  end)

  it("come of rows that follow paths, and of events", function()
    for _, query in ipairs { "Gun, Gun.at->Gun:in?", "Gun, with Fresh, Gun.at->Smoke:in" } do
      scene:both(function(world)
        return function(gun, other)
          if gun.n % 3 == 0 then world:spawn { Smoke = { size = other and 3 or 4 } } end
        end
      end, { query = query })
    end
    scene:both(function(world)
      return function(hit)
        if hit.n % 3 == 0 then world:spawn { Smoke = { size = hit.n % 200 } } end
      end
    end, { query = "Hit", prepare = function(world)
      world:event("Hit", { "n: i32" })
      for n = 1, 1500 do world:emit("Hit", n) end
    end })
  end)

  it("fail where no ids are left as the function does", function()
    scene:twice(function(world)
      local first = world:spawn() & 0xFFFFFF
      world:entity_range(first, first + 300)
      world:system("it", { query = "Gun:in", each = function(gun)
        if gun.n > 100 then world:spawn { Smoke = { size = 5 } } end
      end })
      local ok, problem = pcall(world.update, world, 1)
      assert.is_false(ok)
      return tiers.plain(problem), look(world)
    end, { rows = 500 })
  end)
end)
