-- What a trace runs in, and how the arguments of its steps become values. Arguments may hold
-- references, strings that begin with "@":
--   @12.3     the third entity spawned while step 12 ran       @self   the row's entity
--   @12.3+g   the same with a later generation (+t another world's tag, +f as a float,
--             +p with the pair bit, +s as a string)
--   @null     id 0        @nil   nil        @any2   a shared Lua value
--   @text7    a long string
--   @#Name    the id of a component
--   @(Owes @12.3)   the id of a pair
-- A step whose reference does not exist (its maker was shrunk away) is left out.

local model = require "spec.support.model"

local context = {}

-- Raised for a reference to a step that was left out.
context.MISSING = setmetatable({}, { __name = "reference to a step left out" })

-- What a trace runs in: a world and what its steps left behind. `shared` are the values of
-- @any1 and so on, the same for all contexts of a run.
function context.new(world, shared)
  return {
    world = world,
    home = world,        -- the same while a step sees it otherwise
    shared = shared,
    ids = {},            -- "12.3" -> id
    prefabs = {},        -- references of prefabs and their children
    components = {},
    several = {},             -- names of relations with several targets     -- name -> id
    clamps = {},         -- path -> a function that goes through it
    kept = {},           -- images and snapshots by slot
    log = {},            -- what nested steps and systems saw
    visits = {},         -- ids in the order in which loops visited them
    calls = {},          -- calls of `when` by system
    queries = {},        -- text -> a query that lives on
    tied_queries = {},   -- the same of trace_terms.lua, also by what it stands for
    left = {},           -- coroutines suspended inside a loop, the oldest first
  }
end

-- Notes an id that a step has spawned; returns it.
function context.spawned(ctx, id)
  ctx.spawned = ctx.spawned + 1
  ctx.ids[("%d.%d"):format(ctx.at, ctx.spawned)] = id
  ctx.taken[#ctx.taken + 1] = id
  return id
end

local changes = {
  g = function(id)
    return id + (1 << 28)
  end,
  t = function(id)
    return id ~ (3 << 44)
  end,
  f = function(id)
    return id + 0.0
  end,
  p = function(id)
    return id | 1 << 52
  end,
  s = tostring,
}

local function refer(ctx, text)
  if text == "@self" then
    return ctx.self
  elseif text == "@null" then
    return 0
  elseif text == "@nil" then
    return nil
  end
  local index = text:match("^@any(%d+)$")
  if index then
    return ctx.shared[tonumber(index)]
  end
  index = text:match("^@text(%d+)$")
  if index then
    return (index .. " "):rep(200)
  end
  local relation, target = text:match("^@%((%S+) (%S+)%)$")
  if relation then
    return ctx.world:pair(context.resolve(ctx, relation), context.resolve(ctx, target))
  end
  local component = text:match("^@#(.*)$")
  if component then
    return ctx.components[component] or component
  end
  local name, change = text:match("^@([%d.]+)%+?(%a?)$")
  local id = ctx.ids[name]
  if not id then
    error(context.MISSING, 0)
  end
  return change == "" and id or changes[change](id)
end

-- A value of a trace with its references replaced.
function context.resolve(ctx, value)
  if type(value) == "string" and value:byte() == 64 then
    return refer(ctx, value)
  elseif type(value) ~= "table" then
    return value
  end
  local copy = {}
  for name, part in pairs(value) do
    local key = name
    if type(key) == "string" and key:byte() == 64 then
      key = refer(ctx, key)
    end
    copy[key] = context.resolve(ctx, part)
  end
  return copy
end

-- Whether a message says that an id is dead, unborn or foreign; nil for all others.
function context.fault_of(message)
  message = tostring(message)
  for fault, phrase in pairs(model.FAULTS) do
    if fault ~= "none" and message:find(phrase, 1, true) then
      return fault
    end
  end
end

return context
