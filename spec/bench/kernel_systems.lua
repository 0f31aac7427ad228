-- MOVE, PART and SEEK in every form that a Lua user can write them in. Positions, speeds and
-- lives start as mod_kernel's start() says.

local M = { DT = 1 / 64 }

local DT <const> = M.DT
local sqrt = math.sqrt

-- ---- MOVE -------------------------------------------------------------------------------

local move = { name = "MOVE", query = "Position, Velocity", columns = 4, floor = 0,
  uniforms = { DT } }

function move.each(p, v, dt)
  p.x = p.x + v.x * dt
  p.y = p.y + v.y * dt
end

function move.map(px, py, vx, vy, dt)
  return px + vx * dt, py + vy * dt
end

function move.tables(entities, dt)
  for i = 1, #entities do
    local p, v = entities[i].p, entities[i].v
    p.x = p.x + v.x * dt
    p.y = p.y + v.y * dt
  end
end

function move.arrays(px, py, vx, vy, _, dt)
  for i = 1, #px do
    px[i] = px[i] + vx[i] * dt
    py[i] = py[i] + vy[i] * dt
  end
end

-- ---- PART -------------------------------------------------------------------------------

local g, drag, w = 9.8, 0.1, 1000

local part = { name = "PART", query = "Position, Velocity, Life", columns = 5, floor = 1,
  uniforms = { DT, g * DT, drag * DT, w } }

function part.each(p, v, l, dt)
  v.y = v.y - g * dt
  local k = 1 / (1 + drag * dt * math.sqrt(v.x * v.x + v.y * v.y))
  v.x = v.x * k
  v.y = v.y * k
  p.x = p.x + v.x * dt
  p.y = p.y + v.y * dt
  if p.x > w then v.x = -v.x end
  if p.y < 0 then v.y = -v.y end
  l.left = l.left - dt
end

function part.map(px, py, vx, vy, left, dt)
  vy = vy - g * dt
  local k = 1 / (1 + drag * dt * sqrt(vx * vx + vy * vy))
  vx, vy = vx * k, vy * k
  px, py = px + vx * dt, py + vy * dt
  if px > w then vx = -vx end
  if py < 0 then vy = -vy end
  return px, py, vx, vy, left - dt
end

function part.tables(entities, dt)
  local each = part.each
  for i = 1, #entities do
    local entity = entities[i]
    each(entity.p, entity.v, entity.l, dt)
  end
end

function part.arrays(px, py, vx, vy, left, dt)
  local map = part.map
  for i = 1, #px do
    px[i], py[i], vx[i], vy[i], left[i] = map(px[i], py[i], vx[i], vy[i], left[i], dt)
  end
end

-- ---- SEEK -------------------------------------------------------------------------------

local tx, ty, k, m, h = 500, 400, 30, 5, 1000

local seek = { name = "SEEK", query = "Position, Velocity", columns = 4, floor = 2,
  uniforms = { DT, tx, ty, k, m, m * m, w, h } }

function seek.each(p, v, dt)
  local dx, dy = tx - p.x, ty - p.y
  local s = k / math.sqrt(dx * dx + dy * dy + 0.001)
  v.x = v.x + dx * s * dt
  v.y = v.y + dy * s * dt
  local q = v.x * v.x + v.y * v.y
  if q > m * m then
    local r = m / math.sqrt(q)
    v.x = v.x * r
    v.y = v.y * r
  end
  p.x = p.x + v.x * dt
  p.y = p.y + v.y * dt
  if p.x > w then v.x = -v.x p.x = w end
  if p.x < 0 then v.x = -v.x p.x = 0 end
  if p.y > h then v.y = -v.y p.y = h end
  if p.y < 0 then v.y = -v.y p.y = 0 end
end

function seek.map(px, py, vx, vy, dt)
  local dx, dy = tx - px, ty - py
  local s = k / sqrt(dx * dx + dy * dy + 0.001)
  vx, vy = vx + dx * s * dt, vy + dy * s * dt
  local q = vx * vx + vy * vy
  if q > m * m then
    local r = m / sqrt(q)
    vx, vy = vx * r, vy * r
  end
  px, py = px + vx * dt, py + vy * dt
  if px > w then vx, px = -vx, w end
  if px < 0 then vx, px = -vx, 0 end
  if py > h then vy, py = -vy, h end
  if py < 0 then vy, py = -vy, 0 end
  return px, py, vx, vy
end

function seek.tables(entities, dt)
  local each = seek.each
  for i = 1, #entities do
    each(entities[i].p, entities[i].v, dt)
  end
end

function seek.arrays(px, py, vx, vy, _, dt)
  local map = seek.map
  for i = 1, #px do
    px[i], py[i], vx[i], vy[i] = map(px[i], py[i], vx[i], vy[i], dt)
  end
end

M.loops = { move, part, seek }
M.move = move
M.seek = seek

return M
