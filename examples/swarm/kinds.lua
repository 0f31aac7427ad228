-- The kinds of beings, as who looks on tells them apart: by what they are made of. `light`
-- is what one of them adds to the red, green and blue of its place in the picture.

return {
  { name = "seekers", query = "Position:in, Health, !Wounded", light = { 0, 3, 3 }, ink = 44 },
  { name = "wounded", query = "Position:in, Wounded", light = { 6, 3, 0 }, ink = 220 },
  { name = "hunters", query = "Position:in, Hunter", light = { 40, 0, 4 }, ink = 197 },
  { name = "drifters", query = "Position:in, Room, !Course", light = { 0, 0, 1 }, ink = 25 },
  { name = "sparks", query = "Position:in, Life, !Health", light = { 2, 2, 2 }, ink = 231 },
  { name = "beacons", query = "Position:in, Beacon", mark = "*", ink = 231 },
  { name = "springs", query = "Position:in, Spring", mark = "+", ink = 120 },
  { name = "spawners", query = "Position:in, Spawner", mark = "o", ink = 159 },
}
