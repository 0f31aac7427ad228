-- Worlds that many specs begin with.

local agree = require "spec.support.agree"
local helper = require "spec.support.ecs_helper"

local scenes = {}

-- Nothing is there yet that could have them: places and what moves, values of all kinds, parts of
-- values, a tag.
function scenes.things(options)
  local world = helper.new_world(options)
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Velocity", { "x: f32", "y: f32" })
  world:component("Mass", { "kg: f64" })
  world:component("Health", { "hp: i32 = 100", "armor: u8" })
  world:component("Circle", { "radius: f32" })
  world:component("Box", { "width: f32", "height: f32" })
  world:component("Bag", { "item: any", "name: string" })
  world:component("Sprite", { "name: string = none" })
  world:component("Tag", { "name: string", "kind: enum(red, green)", "target: entity",
    "value: any", "on: bool", "n: i16", "exact: f64" })
  world:component("Body", { "m: f32[3]", "offset: Position", "parts: Position[2]" })
  world:component("All", {
    "a: f32", "b: f64", "c: i8", "d: i16", "e: i32", "f: i64", "g: u8", "h: u16", "i: u32",
    "j: bool", "k: entity", "l: string", "m: any", "n: enum(red, green, blue)", "o: u64",
  })
  world:tag "Frozen"
  return world
end

-- So many rows of values of many types, each of which names another row; `n` is below `least`. What
-- functions are made of are the world and the rows' ids.
function scenes.linked(rows, least)
  return agree.scene {
    options = { tag = 1, seed = 5 },
    query = "P", dt = 0.5, updates = 3, sound = true,
    fill = function(world)
      world:component("P", { "x: f64", "n: i32", "on: bool", "to: entity", "far: f64[4]",
        "kind: enum(red, green, blue)", "s: string" })
      local ids, kinds = {}, { "red", "green", "blue" }
      for k = 1, rows do
        ids[k] = world:spawn { P = { x = (k * 37 % 100) / 2, n = k % least, on = k % 3 == 0,
          kind = kinds[k % 3 + 1], s = "s" .. k % 4 } }
      end
      for k = 1, rows do world:set(ids[k], "P.to", ids[k * 7 % 60 + 1]) end
      return world, ids
    end,
  }
end

return scenes
