-- What the game is made of. The other scripts say what happens to it.

local world = ...

world:component("Position", { "x: f64", "y: f64" })
world:component("Velocity", { "x: f64", "y: f64", doc = "in steps a second" })
world:component("Health", { "hp: f64 = 1" })
world:component("Enemy", { "speed: f64", { "bite: f64", unit = "hp a second" } })
world:component("Loot", { "worth: f64", { "heart: f64", doc = "how often it leaves one" } })

world:component("Gun", {
  "pause: f64 = 0.04", { "left: f64", unit = "seconds until it fires" },
  { "turn: f64", doc = "the direction of its first barrel" },
  "barrels: i32 = 60", "damage: f64 = 1",
})

world:component("Bullet", {
  "damage: f64",
  { "hits: i32 = 8", doc = "how many it can go through" }, { "left: f64 = 1.5", unit = "seconds" },
})

world:component("Pickup", { "worth: f64", "hp: f64", { "left: f64 = 20", unit = "seconds" } })

world:tag "Player"
world:tag "Chief"

-- Where the player is and how it fares: what everybody looks at.
world:resource("Hero", {
  "x: f64", "y: f64", "hp: f64 = 100", "xp: f64", "level: i32 = 1", "kills: i32", "falls: i32",
})
world:resource("Wave", { "number: i32", { "chiefs: i32", doc = "who have come" } })

world:event("Hit", { "who: entity", "damage: f64", "x: f64", "y: f64" })
world:event("Slain", { "kind: entity", "x: f64", "y: f64", "luck: f64" })
world:event("Picked", { "worth: f64", "hp: f64" })
world:event("Next", { "wave: i32" })
world:event("Fallen", { "x: f64", "y: f64" })
