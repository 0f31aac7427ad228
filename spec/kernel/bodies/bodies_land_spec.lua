-- What games do to tiles, fields, goods and plants, as it is written for Lua.

local bodies = require "spec.support.bodies"
local ecs = require "ecs"

local math = math

local W, H, TILE = 40, 30, 8

local scene = {
  components = {
    { "Position", { "x: real", "y: real" } },
    { "Velocity", { "x: real", "y: real" } },
    { "Cell", { "x: i32", "y: i32", "index: i32" } },
    { "Walker", { "speed: real = 12", "stuck: i32", "strength: i32 = 3" } },
    { "Plant", { "stage: enum(seed, sprout, adult, ripe)", "age: real", "water: real = 5",
      "yield: i32", "health: real = 1" } },
    { "Animal", { "hunger: real", "energy: real = 10", "food: entity", "age: i32",
      "diet: enum(grass, meat, both)" } },
    { "Belt", { "dir: enum(north, east, south, west)", "speed: real = 2", "load: i32",
      "progress: real", "next: entity" } },
    { "Producer", { "input: i32 = 4", "output: i32", "time: real = 0.4", "left: real",
      "room: i32 = 10", "efficiency: real = 1" } },
    { "Store", { "wood: i32", "stone: i32", "gold: i64", "room: i32 = 100" } },
    { "Power", { "makes: real", "takes: real", "on: bool", "grid: i32", "stored: real" } },
    { "Market", { "price: real = 10", "supply: i32", "demand: i32", "base: real = 10" } },
    { "Villager", { "job: enum(none, wood, stone, build)", "carry: i32", "home: entity",
      "morale: real = 50", "tax: i32 = 2" } },
    { "Sapling", {} },
    { "Bank", { "gold: i64", "tax: f64", "power: f64", "tick: i32" } },
    { "Clock", { "hour: real = 5", "day: i32", "light: f64", "season: i32" } },
  },
  fill = function(world, random)
    local function real(low, high) return random:range(low * 8, high * 8) / 8 end
    world:resource "Bank"
    world:resource "Clock"
    local tiles, heat = world:array("tiles", "u8", W * H), world:array("heat", "f64", W * H)
    local flow_x, flow_y = world:array("flow_x", "f64", W * H), world:array("flow_y", "f64", W * H)
    world:array("visits", "i32", W * H)
    world:array("grids", "f64", 8)
    world:array("owner", "entity", W * H)
    for i = 1, W * H do
      tiles[i] = random:chance(20) and 1 or random:chance(10) and 2 or 0
      heat[i] = real(0, 4)
      flow_x[i], flow_y[i] = real(-1, 1), real(-1, 1)
    end
    local ids = {}
    for n = 1, 1300 do
      local friend = n > 3 and ids[random:int(#ids)] or nil
      local cx, cy = random:range(1, W - 2), random:range(1, H - 2)
      ids[n] = world:spawn {
        Position = { cx * TILE + real(0, 7), cy * TILE + real(0, 7) },
        Velocity = { real(-20, 20), real(-20, 20) },
        Cell = { cx, cy, cy * W + cx + 1 },
        Walker = n % 2 == 0 and {} or nil,
        Plant = n % 3 == 0 and { age = real(0, 4), water = real(0, 9),
          stage = random:pick { "seed", "sprout", "adult", "ripe" } } or nil,
        Animal = n % 4 == 1 and { hunger = real(0, 9), food = friend, age = random:int(30),
          diet = random:pick { "grass", "meat", "both" } } or nil,
        Belt = n % 5 == 0 and { dir = random:pick { "north", "east", "south", "west" },
          load = random:range(0, 4), next = friend } or nil,
        Producer = n % 5 == 1 and { input = random:range(0, 6), left = real(0, 1),
          output = random:range(0, 12), efficiency = real(0, 2) } or nil,
        Store = n % 5 < 3 and { wood = random:range(0, 60), stone = random:range(0, 30),
          gold = random:range(0, 900) } or nil,
        Power = n % 6 == 0 and { makes = real(0, 3), takes = real(0, 3),
          grid = random:range(1, 8), stored = real(0, 4) } or nil,
        Market = n % 7 == 0 and { supply = random:range(0, 30), demand = random:range(1, 30) }
          or nil,
        Villager = n % 4 == 2 and { home = friend,
          job = random:pick { "none", "wood", "stone", "build" } } or nil,
        Sapling = n % 21 == 0 or nil,
      }
    end
    return ids
  end,
}

describe("a body that lives on a map (C26, C45)", function()
  bodies.test(scene, {
    { "the cell of a place", query = "Position, Velocity:in, Cell", exact = true, make = function()
      return function(p, v, cell, dt)
        p.x, p.y = p.x + v.x * dt, p.y + v.y * dt
        cell.x = math.floor(p.x / TILE)
        cell.y = math.floor(p.y / TILE)
        cell.index = cell.y * W + cell.x + 1
      end
    end },

    { "walls stop, one axis after the other", query = "Position, Velocity, Walker", exact = true,
      make = function(world)
      local tiles = world:array "tiles"
      local function solid(x, y)
        local cx, cy = x // TILE, y // TILE
        if cx < 0 or cy < 0 or cx >= W or cy >= H then return true end
        return tiles[cy * W + cx + 1] == 1
      end
      return function(p, v, walker, dt)
        local nx = p.x + v.x * dt
        if solid(nx, p.y) then
          v.x = -v.x
          walker.stuck = walker.stuck + 1
        else
          p.x = nx
        end
        local ny = p.y + v.y * dt
        if solid(p.x, ny) then v.y = -v.y else p.y = ny end
      end
    end },

    { "falling on to tiles", query = "Position, Velocity, with Walker", exact = true,
      make = function(world)
      local tiles = world:array "tiles"
      return function(p, v, dt)
        v.y = v.y + 30 * dt
        local y = p.y + v.y * dt
        local cx, cy = math.floor(p.x / TILE), math.floor((y + TILE) / TILE)
        local below = tiles[cy * W + cx + 1]
        if below == 1 and v.y > 0 then
          y = cy * TILE - TILE
          v.y = 0
        elseif below == nil then
          y = 0
        end
        p.y = y
      end
    end },

    { "a flow field", query = "Position, Cell:in, Walker:in", make = function(world)
      local fx, fy = world:array "flow_x", world:array "flow_y"
      local SLOW = { [0] = 1, 0.25, 0.5 }
      local tiles = world:array "tiles"
      return function(p, cell, walker, dt)
        local i = cell.y * W + cell.x + 1
        local k = 1
        if tiles[i] == 2 then k = 0.5 elseif tiles[i] == 1 then k = SLOW[1] end
        p.x = p.x + fx[i] * walker.speed * k * dt
        p.y = p.y + fy[i] * walker.speed * k * dt
      end
    end },

    { "footsteps counted in an array", query = "Cell:in, Walker:in", make = function(world)
      local visits = world:array "visits"
      return function(cell, walker)
        local i = cell.index
        visits[i] = visits[i] + 1
        if walker.strength > 2 then visits[i + 1] = visits[i + 1] + walker.strength end
      end
    end },

    { "tiles painted by who stands there", query = "Cell:in, Villager:in", make = function(world)
      local owner, tiles = world:array "owner", world:array "tiles"
      return function(cell, villager, _, e)
        owner[cell.index] = e
        if villager.job == "build" then tiles[cell.index] = 1 end
      end
    end },

    { "heat from the four neighbours", query = "Cell:in, Plant", make = function(world)
      local heat = world:array "heat"
      return function(cell, plant, dt)
        local i = cell.index
        local sum = (heat[i - 1] or 0) + (heat[i + 1] or 0)
          + (heat[i - W] or 0) + (heat[i + W] or 0)
        local mean = sum / 4
        if mean > 2 then plant.health = plant.health - (mean - 2) * dt * 0.1
        else plant.health = math.min(1, plant.health + 0.05 * dt) end
      end
    end },

    { "heat given off", query = "Cell:in, Power:in", make = function(world)
      local heat = world:array "heat"
      return function(cell, power, dt)
        heat[cell.index] = math.min(heat[cell.index] + power.makes * dt, 100)
      end
    end },

    { "plants grow by stages", query = "Plant", make = function()
      local NEED = { seed = 1, sprout = 2, adult = 4, ripe = 0 }
      return function(plant, dt)
        if plant.water <= 0 then
          plant.health = plant.health - 0.1 * dt
          return
        end
        plant.water = math.max(0, plant.water - dt)
        plant.age = plant.age + dt
        local need = NEED[plant.stage]
        if need > 0 and plant.age >= need then
          plant.age = plant.age - need
          if plant.stage == "seed" then plant.stage = "sprout"
          elseif plant.stage == "sprout" then plant.stage = "adult"
          else
            plant.stage = "ripe"
            plant.yield = plant.yield + 3
          end
        end
      end
    end },

    { "plants spread and die", query = "Plant:in, Position:in, Sapling?", exact = true,
      make = function(world)
      return function(plant, p, sapling, _, e)
        if plant.water < 1 and not sapling then
          world:despawn(e)
        elseif plant.stage == "ripe" and world:random(e) < 0.1 then
          world:spawn { Sapling = true, Plant = { water = plant.water / 2 },
            Position = { x = p.x + 4, y = p.y - 4 } }
        end
      end
    end },

    { "hunger", query = "Animal, Walker?", make = function(world)
      return function(animal, walker, dt, e)
        local rate = 1
        if walker then rate = 1.5 end
        animal.hunger = animal.hunger + rate * dt
        animal.age = animal.age + 1
        if animal.hunger > 8 then
          animal.energy = animal.energy - 2 * dt
        elseif animal.hunger < 2 then
          animal.energy = math.min(animal.energy + dt, 20)
        end
        if animal.energy <= 0 or animal.age > 90 then world:despawn(e) end
      end
    end },

    { "animals eat what they found", query = "Animal, Animal.food->Plant", make = function()
      return function(animal, plant)
        if animal.hunger > 3 and animal.diet ~= "meat" then
          animal.hunger = animal.hunger - 1
          plant.health = plant.health - 0.25
          plant.yield = math.max(plant.yield - 1, 0)
        end
      end
    end },

    { "conveyor belts move who stands on them", query = "Belt, Position", make = function()
      local DX = { north = 0, east = 1, south = 0, west = -1 }
      local DY = { north = -1, east = 0, south = 1, west = 0 }
      return function(belt, p, dt)
        if belt.load == 0 then return end
        p.x = p.x + DX[belt.dir] * belt.speed * dt
        p.y = p.y + DY[belt.dir] * belt.speed * dt
        belt.progress = belt.progress + belt.speed * dt
        if belt.progress >= 1 then
          belt.load = belt.load - 1
          belt.progress = belt.progress - 1
        end
      end
    end },

    { "belts that hand on", query = "Belt:in, Belt.next->Store", make = function()
      return function(belt, store)
        if belt.load > 2 then
          store.wood = store.wood + belt.load
          store.stone = store.stone + 1
        end
      end
    end },

    { "production", query = "Producer", exact = true, make = function()
      return function(producer, dt)
        if producer.left > 0 then
          producer.left = producer.left - dt * producer.efficiency
          if producer.left <= 0 then producer.output = producer.output + 1 end
        elseif producer.input >= 2 and producer.output < producer.room then
          producer.input = producer.input - 2
          producer.left = producer.time
        end
      end
    end },

    { "power to a grid", query = "Power", make = function(world)
      local grids = world:array "grids"
      return function(power, dt)
        local balance = power.makes - power.takes
        if balance > 0 then
          grids[power.grid] = grids[power.grid] + balance * dt
        end
      end
    end },

    { "power from a grid", query = "Power", make = function(world)
      local grids = world:array "grids"
      for i = 1, 8 do grids[i] = i - 4 end
      return function(power, dt)
        local available = grids[power.grid]
        power.on = available > 0
        if power.on then
          power.stored = math.min(power.stored + available * dt, 10)
        else
          power.stored = math.max(power.stored - power.takes * dt, 0)
        end
      end
    end },

    { "an inventory that fills", query = "Store, Villager", make = function()
      return function(store, villager)
        local used = store.wood + store.stone
        local free = store.room - used
        if free <= 0 then
          villager.job = "none"
          return
        end
        local amount = math.min(villager.carry, free)
        if villager.job == "wood" then store.wood = store.wood + amount
        elseif villager.job == "stone" then store.stone = store.stone + amount end
        villager.carry = villager.carry - amount
        if villager.carry == 0 then villager.carry = 5 end
      end
    end },

    { "trade for gold", query = "Store, Market", make = function()
      return function(store, market)
        local amount = math.min(store.wood, market.demand)
        if amount == 0 then return end
        store.wood = store.wood - amount
        store.gold = store.gold + math.floor(amount * market.price)
        market.demand = market.demand - amount
        market.supply = market.supply + amount
      end
    end },

    { "prices", query = "Market", make = function()
      local SPEED = 0.5
      return function(market, dt)
        local ratio = market.demand / math.max(1, market.supply)
        local target = market.base * ratio ^ 0.5
        market.price = market.price + (target - market.price) * math.min(1, SPEED * dt)
        if market.price < 1 then market.price = 1 end
      end
    end },

    { "taxes to a bank", query = "Villager, Store", make = function(world)
      local bank = world:res "Bank"
      return function(villager, store)
        local due = villager.tax
        if store.gold < due then due = store.gold end
        store.gold = store.gold - due
        bank.gold = bank.gold + due
        if due < villager.tax then villager.morale = villager.morale - 1 end
      end
    end },

    { "morale by the hour and the light", query = "Villager", make = function(world)
      local clock = world:res "Clock"
      clock.light = 0.25
      return function(villager, dt)
        local change = -1
        if clock.hour > 6 and clock.hour < 20 then change = 2 end
        if villager.job == "none" then change = change / 2 end
        villager.morale = math.max(0, math.min(100, villager.morale + change * clock.light * dt))
      end
    end },

    { "work by distance from home", query = "Villager, Position:in, Villager.home->Position:in",
      exact = true, make = function()
      return function(villager, p, home, dt)
        local distance = math.abs(p.x - home.x) + math.abs(p.y - home.y)
        if distance > 100 then
          villager.carry = 0
          villager.morale = villager.morale - 0.5 * dt
        else
          villager.carry = math.min(villager.carry + math.max(1, 3 - distance // 40), 12)
        end
      end
    end },

    { "fog cleared around walkers", query = "Cell:in, Walker:in", make = function(world)
      local seen = world:array("seen", "bool", W * H)
      return function(cell)
        for dy = -1, 1 do
          for dx = -1, 1 do
            seen[(cell.y + dy) * W + cell.x + dx + 1] = true
          end
        end
      end
    end },

    { "a scent that is laid and followed", query = "Cell:in, Velocity, Animal:in",
      make = function(world)
      local heat = world:array "heat"
      return function(cell, v, animal)
        local i = cell.index
        local left, right = heat[i - 1] or 0, heat[i + 1] or 0
        local up, down = heat[i - W] or 0, heat[i + W] or 0
        local gx, gy = right - left, down - up
        local k = animal.hunger > 4 and 2 or 1
        v.x = v.x * 0.9 + gx * k
        v.y = v.y * 0.9 + gy * k
      end
    end },

    { "goods that rot, and are gone", query = "Store, !Market", exact = true, make = function(world)
      return function(store, _, e)
        local lost = math.ceil(store.wood * 0.05)
        store.wood = math.max(store.wood - lost, 0)
        if store.wood == 0 and store.stone == 0 and store.gold == 0 then
          world:remove(e, "Store")
        end
      end
    end },

    { "homes that are gone are forgotten", query = "Villager", make = function(world, ids)
      for n = 1, 60 do world:despawn(ids[n * 3]) end
      return function(villager)
        if villager.home == ecs.null then
          villager.job = "none"
          villager.morale = villager.morale - 5
        elseif world:has(villager.home, "Market") then
          villager.home = ecs.null
        end
      end
    end },
  })
end)
