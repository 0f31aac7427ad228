-- One program that is to give the same digests and bytes on every machine and under every Lua,
-- LuaJIT too: it uses what the reference calls portable.
-- `lua5.4 spec/support/everywhere.lua` prints its lines.

local ecs = require "ecs"

local everywhere = {}

local TYPES = { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool" }

local function declare(world)
  local fields = {}
  for i, type in ipairs(TYPES) do fields[i] = type .. "_: " .. type end
  world:component("Cells", fields)
  world:component("Place", { "x: f32", "y: f32", "vx: f64", "vy: f64" })
  world:component("Curve", { "x: f64", "y: f64", "near: f32", "far: f64", "sum: f64" })
  world:component("Mood", { "kind: enum(calm, angry, afraid)", "word: string", "friend: entity" })
  world:component("Wound", { "depth: i32" }, { storage = "sparse" })
  world:relation("Follows", { exclusive = true })
  world:array("heat", "f32", 64)
  world:event("Cry", { "at: f32" })
end

-- Kernels over every type; each is compiled, or it is an error.
local function register_cells(system)
  system("move", { query = "Place", each = function(p, dt)
    p.x = p.x + p.vx * dt
    p.y = p.y + p.vy * dt
    if p.x < 0 or p.x > 100 then p.vx = -p.vx end
    if p.y < 0 or p.y > 100 then p.vy = -p.vy end
  end })
  system("cells", { query = "Cells, Place", each = function(c, p)
    c.f32_ = math.sqrt(math.abs(p.x)) + c.f32_ / 3
    c.f64_ = c.f64_ / 3 + p.vx * p.vy
    c.i8_ = math.floor(p.x)
    c.i16_ = c.i8_ * 3 - 100
    c.i32_ = c.i32_ + c.i16_
    c.i64_ = c.i64_ * 3 + c.i32_
    if c.i64_ > 1000000 or c.i64_ < -1000000 then c.i64_ = 7 end
    c.u8_ = math.floor(math.max(p.y, 0))
    c.u16_ = c.u8_ * 5
    c.u32_ = c.u32_ + c.u16_
    c.bool_ = p.x < p.y
  end })
end

-- Every function of ecs.math.
local function register_curves(system)
  local m = ecs.math
  system("turn", { query = "Curve", each = function(c, dt)
    local angle = c.x + c.y * dt
    c.x = m.mod(angle, 7.5) + m.atan(c.y, angle)
    c.y = m.sin(angle) + m.cos(angle * 3) + m.tan(c.near) / 100
    c.far = m.asin(c.y / (math.abs(c.y) + 1)) - m.acos(m.sin(c.x))
      + m.exp(-m.log(math.abs(c.far) + 1.5))
    c.near = m.pow(math.abs(c.x) + 1, 0.3) - m.log2(c.x * c.x + 1)
    c.sum = c.sum / 2 + c.far + m.log10(math.abs(c.sum) + 1)
  end })
end

local function register(world)
  local function system(name, spec)
    spec.compile = true
    world:system(name, spec)
  end
  register_cells(system)
  register_curves(system)
  system("mood", { query = "Mood, Place", each = function(mood, p, _, e)
    if p.x > 70 then
      mood.kind, mood.word = "angry", "grr"
    elseif p.y > 70 then
      mood.kind, mood.word = "afraid", "eek"
    elseif mood.kind == "afraid" and world:random(e) < 0.5 then
      mood.kind, mood.word = "calm", "hm"
    end
  end })
  local heat = world:array "heat"
  system("heat", { query = "Place", each = function(p)
    local at = math.max(1, math.min(64, math.floor(p.x) + 1))
    heat[at] = heat[at] / 2 + p.y
  end })
  system("wound", { query = "Place, !Wound", each = function(p, _, e)
    if p.x > 90 and world:random(e) < 0.2 then
      world:set(e, "Wound", 3)
      world:emit("Cry", p.x)
    end
  end })
  system("bleed", { query = "Wound", each = function(wound, _, e)
    wound.depth = wound.depth - 1
    if wound.depth == 0 then world:despawn(e) end
  end })
  system("born", { query = "Mood, Place", every = 0.25, each = function(mood, p, _, e)
    if mood.kind == "angry" and world:random(e) < 0.1 then
      world:spawn { Place = { x = p.y, y = p.x, vx = p.vy, vy = p.vx }, Cells = {} }
    end
  end })
end

local function fill(world)
  local before
  for i = 1, 200 do
    local e = world:spawn {
      Place = { x = i / 2, y = 100 - i / 3, vx = i % 7 * 11 - 30, vy = i % 5 * 13 - 25 },
      Cells = i % 3 > 0 and { u64_ = i * 1000003, f64_ = 1 / i } or nil,
      Curve = i % 4 == 0 and { x = i / 7, y = 3 - i / 50, near = i / 9, far = i } or nil,
      Mood = i % 2 > 0 and { word = "n" .. i, friend = before } or nil,
    }
    if i % 10 == 0 then world:name(e, "number " .. i) end
    if before and i % 4 == 0 then world:set(e, "Follows", before) end
    before = e
  end
end

-- A polynomial in the bytes modulo a prime; no product leaves 2^53.
local function hash_of(bytes)
  local hash = 0
  for i = 1, #bytes do
    hash = (hash * 65599 + bytes:byte(i)) % 4294967291
  end
  return ("%08x"):format(hash)
end

-- Its lines: a digest every ten updates, and what the image of the end is, loaded, too.
function everywhere.lines()
  local world = ecs.world { tag = 3, seed = 7 }
  declare(world)
  fill(world)
  register(world)
  local lines = {}
  for i = 1, 60 do
    world:update(1 / 16)
    if i % 10 == 0 then
      lines[#lines + 1] = ("update %d: digest %s, %d alive"):format(i, world:digest "text",
        world:count "Place")
    end
  end
  local image = world:save()
  lines[#lines + 1] = ("image: %d bytes, hash %s"):format(#image, hash_of(image))
  local other = ecs.world { tag = 3 }
  declare(other)
  other:load(image)
  register(other)
  other:update(1 / 16)
  world:update(1 / 16)
  assert(other:digest() == world:digest(), "the loaded world goes another way")
  lines[#lines + 1] = ("loaded and updated: digest %s"):format(other:digest "text")
  return lines
end

if arg and arg[0] and arg[0]:find "everywhere%.lua$" then
  print(table.concat(everywhere.lines(), "\n"))
end

return everywhere
