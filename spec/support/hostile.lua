-- Hostile arguments (reliability line 6): values that no function should choke on, and for each
-- exported function a valid call, so that one argument at a time can be replaced. What an error
-- says of an argument is its number in the call, or what the argument is `called`.

local ecs = require "ecs"
local native = require "ecs.native"

local hostile = {}

-- ---- the scene -----------------------------------------------------------------------------

-- A world with something of everything in it; a valid call's arguments come from here.
function hostile.scene(new_world)
  local scene = { world = new_world(), other = new_world() }
  scene.other:component("Position", { "x: f32", "y: f32" })
  local world = scene.world
  world:component("Position", { "x: f32", "y: f32" })
  world:component("Label", { "text: string", storage = "sparse" })
  world:component("All", {
    "f32: f32", "f64: f64", "i8: i8", "i16: i16", "i32: i32", "i64: i64", "u8: u8", "u16: u16",
    "u32: u32", "u64: u64", "bool: bool", "entity: entity", "string: string", "any: any",
    "enum: enum(a, b)", "array: f32[3]", "nested: Position",
  })
  world:tag "Frozen"
  world:component("Asleep", { toggle = true, track = true })
  world:relation("Likes", { "much: f32" })
  world:relation("Owner", { exclusive = true })
  world:resource "All"
  world:event("Hit", { "who: entity", "amount: f32" })
  world:phase("physics", { after = "pre_update", fixed = 0.1 })
  world:system("move", { query = "Position", each = function() end })
  world:system("watch", { query = "Position:changed, Asleep:added?", each = function() end })
  scene.grid = world:array("Grid", "f32", 4)
  scene.near = world:index("near", { query = "Position:in, Label?", grid = "Position", cell = 1 })
  scene.found = world:index("found", { query = "Position:in", hash = "x" })
  scene.sorted = world:index("sorted", { query = "Position:in", ordered = function(position)
    return position.x
  end })
  scene.e = world:spawn { Position = { 1, 2 }, Label = { "one" }, Frozen = true }
  scene.all = world:spawn { All = true, Position = true }
  world:name(scene.e, "player")
  world:prefab("Orc", { Position = { 1, 2 } })
  world:set(scene.e, "Likes", scene.all, 1)
  world:add(scene.e, "ChildOf", scene.all)
  scene.pair = world:pair("Likes", scene.all)
  scene.query = world:query "Position"
  scene.scalars = world:query "Position.x"
  return scene
end

-- The scene's dead and foreign things.
local function dead_id(scene)
  local id = scene.world:spawn()
  scene.world:despawn(id)
  return id
end

local function stale_view(scene)
  local stale
  for view in scene.query:each() do stale = view end
  return stale
end

local function stale_chunk(scene)
  local stale
  for chunk in scene.query:chunks() do stale = chunk end
  return stale
end

local function closed_world()
  local world = ecs.world()
  world:close()
  return world
end

local function cyclic()
  local t = {}
  t.t, t[1], t[t] = t, t, t
  return t
end

local function nested(depth)
  local t = {}
  for _ = 1, depth do t = { t } end
  return t
end

local function throwing()
  local function throw() error("metamethod called", 0) end
  return setmetatable({}, {
    __index = throw, __newindex = throw, __len = throw, __pairs = throw, __call = throw,
    __eq = throw, __lt = throw, __le = throw, __tostring = throw, __name = "thrower",
    __concat = throw, __close = throw, __metatable = "locked",
  })
end

-- name, maker: each maker gives a fresh value for a scene.
hostile.values = {
  { "nil", function() return nil end },
  { "false", function() return false end },
  { "true", function() return true end },
  { "0", function() return 0 end },
  { "-1", function() return -1 end },
  { "0.5", function() return 0.5 end },
  { "nan", function() return 0 / 0 end },
  { "inf", function() return math.huge end },
  { "-inf", function() return -math.huge end },
  { "1e308", function() return 1e308 end },
  { "2^53", function() return 2.0 ^ 53 end },
  { "2^63", function() return 2.0 ^ 63 end },
  { "mininteger", function() return math.mininteger end },
  { "maxinteger", function() return math.maxinteger end },
  { "empty text", function() return "" end },
  { "number as text", function() return "65536" end },
  { "text with zero", function() return "Position\0x" end },
  { "odd text", function() return "Position.\255[\n'%s" end },
  { "huge text", function() return ("x"):rep(1 << 20) end },
  { "file", function() return io.stdout end },
  { "coroutine", function() return coroutine.create(print) end },
  { "C function", function() return type end },
  { "Lua function", function() return function() return {} end end },
  { "empty table", function() return {} end },
  { "cyclic table", cyclic },
  { "deep table", function() return nested(250) end },
  { "list of junk", function() return { print, 1, {}, io.stdout, true } end },
  { "throwing table", throwing },
  { "closed world", closed_world },
  { "other world", function(scene) return scene.other end },
  { "open world", function(scene) return scene.world end },
  { "other world's id", function(scene) return scene.other:spawn() end },
  { "dead id", dead_id },
  { "unborn id", function(scene) return scene.e + 100000 end },
  { "query", function(scene) return scene.query end },
  { "other world's query", function(scene) return scene.other:query "" end },
  { "stale view", stale_view },
  { "stale chunk", stale_chunk },
}

-- ---- valid calls ---------------------------------------------------------------------------

local function value(v)
  return { make = function() return v end }
end

local function field(name)
  return { make = function(scene) return scene[name] end }
end

-- An argument for which hostile values may be legal ("any" value, options, extra ones).
local function lenient(argument)
  argument.lenient = true
  return argument
end

-- An argument for which some of the hostile values are valid ones.
local function accepting(argument, ...)
  local accepts = {}
  for _, value_name in ipairs { ... } do accepts[value_name] = true end
  return { make = argument.make, accepts = accepts }
end

-- An argument that errors may also call by another name than its number.
local function called(argument, ...)
  return { make = argument.make, accepts = argument.accepts, lenient = argument.lenient,
    called = { ... } }
end

local function noop() end

local entity, name, fraction = field "e", value "Fresh", value(0.25)
local component, relation = value "Position", value "Likes"
local number = accepting(value(1), "0", "-1", "0.5", "nan", "inf", "-inf", "1e308", "2^53",
  "2^63", "mininteger", "maxinteger", "other world's id", "dead id", "unborn id")
local values_or_number = accepting(number, "empty table")
for value_name in pairs(number.accepts) do values_or_number.accepts[value_name] = true end
local any_name = accepting(name, "number as text", "odd text", "huge text")
local callback = { make = function() return noop end }
local measure = { make = function() return function() return 1 end end }

local position_x, position_y = "field 'Position.x'", "field 'Position.y'"
local new_component = called(name, "is not a name for a")
local term = accepting(component, "empty text")
local text_of_query = called(term, "unknown component", "component 'Position' has no field")
local step = called(fraction, "dt = ")

local fields = { make = function() return { "a: f32" } end }
local values = { make = function() return { Position = { 1, 2 } } end }
local spawned = called(lenient(values), "component 'Position' takes a table of fields", position_x)
local near = { make = function()
  return { query = "Position", grid = "Position", cell = 2 }
end }
local body = { make = function() return { run = noop } end }
local watching = { make = function() return { on = "set", query = "Position", each = noop } end }

local float = accepting(number, "number as text")
for value_name in pairs(number.accepts) do float.accepts[value_name] = true end

-- What has functions that are no methods.
hostile.modules = { native = native, math = native.math }

hostile.calls = {
  math = {
    acos = { float }, asin = { float }, atan = { float, lenient(value(1)) }, cos = { float },
    exp = { float }, log = { float }, log10 = { float }, log2 = { float }, mod = { float, float },
    pow = { float, float }, sin = { float }, tan = { float },
  },
  native = {
    -- What is called says what it dislikes itself.
    try = { lenient(callback) },
    is_open = { lenient { make = function(scene) return scene.world end } },
    fields = { called(lenient { make = function(scene)
      return scene.world:res "All"
    end }, "view expected", "metamethod called", "stale view") },
    f32 = { lenient(value(1)) }, unsigned = { lenient(value(1)) },
    whole = { lenient { make = function(scene) return scene.world end } },
    exact = { lenient { make = function(scene) return scene.world end },
      called(callback, "bad argument #1 to 'type'") },
    format = { accepting(entity, "0", "other world's id", "dead id", "unborn id") },
    declare = false, schema = false, methods = false, replace = false, now = {},
    noise = {}, read = { lenient(value "spec") },   -- on Windows
    stat = { lenient(value "spec") }, list = { lenient(value "spec") },
    changes = { lenient(value {}), lenient(value {}) },
    stage = { lenient { make = function(scene) return scene.world end },
      callback, lenient(callback) },
    swap = false,
    world = { called(lenient { make = function() return {} end }, "option 1 of ecs.world") },
  },
  world = {
    cancel = { before = function(scene) scene.world:defer() end },
    check = {}, close = {}, defer = {}, recycle_retired = {},
    commit = { before = function(scene) scene.world:defer() end },
    entity_range = { value(100000), value(200000) },
    component = { new_component,
      called(accepting(fields, "empty table", "throwing table"), "component 'Fresh': field") },
    resource = { new_component,
      called(fields, "component 'Fresh': field", "'Fresh' is a tag", "unknown component 'Fresh'") },
    tag = { name },
    array = { called(accepting(name, "nil"), "is not a name for a", "unknown array"),
      value "i32", accepting(value(3), "other world's id") },
    index = { called(name, "the name of an index", "there is no index"),
      called(near, "index 'Fresh':", "there is no index") },
    undeclare = { value "Label" },
    event = { new_component,
      called(accepting(fields, "nil", "empty table", "throwing table"),
        "component 'Fresh': field") },
    emit = { value "Hit", called(accepting(entity, "nil", "0", "empty table"), "field 'Hit.who'",
      "event 'Hit' has fields"), called(number, "field 'Hit.amount'", "event 'Hit'") },
    events = { value "Hit" },
    after = { fraction, value "Hit", called(accepting(entity, "nil", "0", "empty table"),
      "field 'Hit.who'", "event 'Hit' has fields"),
      called(number, "field 'Hit.amount'", "event 'Hit'") },
    add = { entity, value "Label" },
    disable = { entity, value "Asleep" }, enable = { entity, value "Asleep" },
    enabled = { entity, value "Asleep" },
    alive = { lenient(field "e") },
    relation = { new_component, called(lenient(fields), "component 'Fresh': field") },
    pair = { relation, field "all" },
    target = { entity, relation },
    targets = { entity, relation },
    sources = { field "all", relation },
    parent = { entity },
    children = { field "all" },
    random = { entity, lenient(value(3)), called(lenient(value(5)), "interval is empty") },
    save = { called(lenient(value(nil)), "world:save: unknown option") },
    digest = { lenient(value "text") }, snapshot = {},
    restore = { { make = function(scene) return scene.world:snapshot() end } },
    load = { called({ make = function(scene) return scene.world:save() end }, "image"),
      called(lenient(value(nil)), "world:load: unknown option") },
    components = { entity },
    get = { entity, component },
    has = { entity, component },
    get_text = { entity, value "All.i64" },
    set_text = { entity, value "All.i64", accepting(value "1", "number as text") },
    read = { entity, component },
    remove = { entity, component },
    set = { entity, component, called(values_or_number, position_x),
      called(number, position_y) },
    lookup = { accepting(value "player", "empty text", "number as text", "text with zero",
      "odd text", "huge text") },
    name = { entity, lenient(value "other") },
    despawn = { entity },
    clone = { entity, spawned },
    instantiate = { value "Orc", spawned },
    prefab = { called(accepting(value "Elf", "number as text", "huge text"),
        "a prefab needs a name", "has a dot"),
      called(spawned, "component 'Position' takes", "prefab 'Elf': components",
        "field 'Position.x'"), called(lenient { make = noop }, "prefab 'Elf'") },
    spawn = { spawned },
    spawner = { called(any_name, "unknown component", "spawner '") },
    spawn_at = { accepting({ make = function(scene) return scene.e + 5000 end }, "unborn id"),
      spawned },
    spawn_many = { accepting(value(3), "0"), spawned },
    count = { text_of_query, lenient { make = noop } },
    query = { text_of_query, lenient { make = noop } },
    alpha = { called(lenient(value "physics"), "unknown phase") },
    phase = { called(any_name, "a phase needs a name"),
      called(lenient { make = function() return { after = "update" } end }, "phase 'Fresh':") },
    run = { value "update", lenient(step) },
    update = { step },
    explain = { value "update" },
    on_error = { lenient(callback) },
    remove_system = { value "move" },
    switch = { value "move", lenient(value(false)) },
    system = { called(any_name, "a system needs a name"), called(body, "system 'Fresh':") },
    observer = { called(any_name, "an observer needs a name"),
      called(watching, "observer 'Fresh':") },
    describe = { lenient(value "Position") },
    profile = { lenient(value(true)) }, reset_counters = {}, frames = { accepting(value(5), "0",
      "2^53", "maxinteger", "other world's id", "dead id", "unborn id") },
    dump = { entity },
    write_types = { { make = function() return os.tmpname() .. ".lua" end } },
    res = { value "All" },
  },
  query = {
    chunks = {}, count = {},
    each = { lenient(callback), lenient(fraction) },
    first = {}, ids = {},
    map = { self = "scalars", called(callback, position_x), lenient(fraction) },
    max = { measure }, min = { measure }, sum = { measure },
    run = { callback, lenient(fraction) },
    where = { callback },
    add = { value "Label" }, remove = { value "Label" }, despawn = {},
    set = { component, called(values_or_number, position_x), called(number, position_y) },
  },
  chunk = { column = { value "Position.x" }, has = { value "Position" } },
  column = { read = { lenient { make = function() return {} end } },
             write = { called(accepting({ make = function(scene) return scene.numbers end },
               "empty table", "throwing table"), position_x) } },
}

hostile.calls.where = hostile.calls.query

hostile.calls.array = {
  copy = { called({ make = function(scene) return scene.grid end }, "array expected") },
  fill = { called(number, "array 'Grid' is f32") },
  read = { lenient { make = function() return {} end } },
  write = { called(accepting({ make = function() return { 1, 2 } end }, "empty table",
    "throwing table"), "array 'Grid' is f32") },
}

local key = accepting(number, "nil", "false", "true", "empty text", "number as text",
  "text with zero", "odd text", "huge text")
for value_name in pairs(number.accepts) do key.accepts[value_name] = true end
local how_many = accepting(value(3), "0", "2^53", "maxinteger", "other world's id", "dead id",
  "unborn id")
hostile.calls.index = {
  within = { number, number, number },
  find = { self = "found", key },
  range = { self = "sorted", number, number },
  lowest = { self = "sorted", how_many },
  highest = { self = "sorted", how_many },
  nearest = { number, number, number, accepting(entity, "nil", "0", "-1", "2^53", "mininteger",
    "maxinteger", "other world's id", "dead id", "unborn id") },
}

-- Further forms of methods of worlds: with the targets of relations.
local target = field "all"
local exclusive = value "Owner"
local much = accepting(value(1), "throwing table")
for value_name in pairs(values_or_number.accepts) do much.accepts[value_name] = true end
much = called(much, "field 'Likes.much'")
hostile.ties = {
  { "add", entity, relation, target }, { "add", entity, exclusive, target },
  { "remove", entity, relation, target }, { "remove", entity, exclusive, target },
  { "has", entity, relation, target }, { "get", entity, relation, target },
  { "read", entity, relation, target },
  { "set", entity, relation, target, much },
  { "add", entity, field "pair" }, { "remove", entity, field "pair" },
}

-- Further forms whose arguments are tables, as deep as they go: a kind, a method, and what makes
-- the arguments of a scene.
local function all_fields()
  return { f32 = 1, array = { 1, 2, 3 }, nested = { x = 1, y = 2 }, enum = "b" }
end

hostile.tables = {
  { "native", "world", function() return { tag = 3, seed = 1, kernels = false, threads = 2 } end },
  { "world", "component", function()
    return "Fresh", { "at: Position", { "mass: f64 = 1", unit = "kg", min = 0, doc = "d" },
      doc = "d", storage = "sparse", requires = { "Frozen", "Label" }, toggle = true }
  end },
  { "world", "component", function()
    return "Moved", { "z: f32", "y: f32", was = { "Position", z = "x" }, track = true }
  end },
  { "world", "relation", function()
    return "Fresh", { { "much: f32", max = 3 }, exclusive = true, acyclic = true,
      on_target_despawn = "error", requires = { "Frozen" } }
  end },
  { "world", "event", function() return "Fresh", { { "n: i32", doc = "d" }, doc = "d" } end },
  { "world", "resource", function() return "Fresh", { { "n: i32", unit = "s" }, doc = "d" } end },
  { "world", "phase", function() return "Fresh", { after = "update", fixed = 1 } end },
  { "world", "system", function(scene)
    return "Fresh", { query = "Position, (Likes, $who)", ["$who"] = scene.all, each = noop,
      phase = "update", after = { "move" }, before = { "later" }, uses = { "near" },
      enabled = false, every = 1, when = noop, compile = false }
  end },
  { "world", "system", function()
    return "Fresh", { array = "Grid", each = noop, phase = "update", after = { "move" }, every = 1,
      when = noop, compile = false }
  end },
  { "world", "observer", function(scene)
    return "Fresh", { on = "add", query = "(Likes, $who)", ["$who"] = scene.all, each = noop,
      enabled = false }
  end },
  { "world", "index", function(scene)
    return "Fresh", { query = "Position:in, (Likes, $who)", ["$who"] = scene.all,
      grid = "Position", cell = 2 }
  end },
  { "world", "query", function(scene) return "(Likes, $who)", { who = scene.all } end },
  { "world", "count", function(scene) return "(Likes, $who)", { who = scene.all } end },
  { "world", "prefab", function(scene)
    return "Elf", { Position = { x = 1 }, Likes = { scene.all }, Owner = { target = scene.all },
      Frozen = true }, {
      is_a = "Orc", shared = { "Frozen", Label = { text = "elf" } },
      children = {
        "bow", { "bag", { All = all_fields(), Frozen = true },
          { is_a = "Orc", shared = { "Frozen" } } },
        { { Position = { 1, 2 } }, { children = {
          { Asleep = true, Frozen = true, shared = { "Frozen" } } } } },
        quiver = { Position = { 1 }, children = { { "arrow", { Position = { 3 } } } } },
      },
    }
  end },
  { "world", "spawn", function(scene)
    return { All = all_fields(), Likes = { scene.e, scene.all }, Owner = { target = scene.all },
      [scene.world:pair("Likes", "Frozen")] = { much = 2 } }
  end },
  { "world", "spawn_many", function() return 3, { All = all_fields(), Position = { 1, 2 } } end },
  { "world", "spawn_at", function(scene) return scene.e + 5000, { All = all_fields() } end },
  { "world", "clone", function(scene) return scene.e, { All = all_fields() } end },
  { "world", "instantiate", function() return "Orc", { All = all_fields() } end },
  { "world", "set", function(scene) return scene.all, "All", all_fields() end },
  { "world", "set", function(scene) return scene.e, "Likes", scene.all, { much = 1 } end },
  { "world", "emit", function(scene) return "Hit", { who = scene.e, amount = 1 } end },
  { "world", "after", function(scene) return 1, "Hit", { who = scene.e, amount = 1 } end },
  { "world", "save", function()
    return { codec = { encode = tostring, decode = tostring } }
  end },
  { "world", "load", function(scene)
    return scene.world:save(), { codec = { encode = tostring, decode = tostring } }
  end },
  { "query", "set", function() return "All", all_fields() end },
  { "column", "write", function(scene) return scene.numbers end },
  { "array", "write", function() return { 1, 2, 3 } end },
}

-- The object that a kind's methods belong to; for chunks and columns fn runs inside the loop.
function hostile.with_self(scene, kind, fn, call)
  if kind == "world" then
    return fn(scene.world)
  elseif kind == "query" then
    return fn(scene[call.self or "query"])
  elseif kind == "where" then
    return fn(scene[call.self or "query"]:where(function(first) return first ~= nil end))
  elseif kind == "array" then
    return fn(scene.grid)
  elseif kind == "index" then
    return fn(scene[call.self or "near"])
  elseif hostile.modules[kind] then
    return fn(nil)
  end
  local result
  for chunk in scene.query:chunks() do
    scene.numbers = {}
    for i = 1, chunk.n do scene.numbers[i] = i end
    result = result or fn(kind == "chunk" and chunk or chunk:column "Position.x")
  end
  return result
end

return hostile
