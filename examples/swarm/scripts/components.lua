-- What beings are made of. The other scripts say what happens to them.

local world = ...

world:component("Position", { "x: f32", "y: f32", doc = "in cells of the level" })
world:component("Velocity", { "x: f32", "y: f32", doc = "in cells a second" })

world:component("Room", {
  { "cell: i32", doc = "where it is" },
  "left: f32", "right: f32", "top: f32", "bottom: f32",
  doc = "how far the being can go from its cell before it meets a wall",
})

world:component("Course", {
  { "way: u8", doc = "which way it follows: to a beacon or, behind them, to a spring" },
  { "distance: f32", doc = "what is left of the way, in cells" },
  { "x: f32", doc = "the direction to take from here" },
  "y: f32",
})

world:component("Motor", {
  { "speed: f32 = 5", unit = "cells a second" },
  { "phase: f32", doc = "beings swing from side to side: where in the swing it began" },
  { "rate: f32 = 2", doc = "and how fast it is" },
})

world:component("Health", { { "hp: f32 = 100", min = 0, max = 100 } })
world:component("Life", { { "left: f32", unit = "seconds" } })
world:component("Spawner", { { "made: i32", doc = "how many it has brought forth" } })

world:tag "Wounded"
world:tag "Hunter"
world:tag "Beacon"
world:tag "Spring"

world:resource("Clock", { "time: f64" })

world:phase("physics", { after = "pre_update", fixed = 1 / 30 })
