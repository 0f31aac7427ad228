-- Reliability line 6: hostile arguments, generated from what the module exports. C68.

local ecs = require "ecs"
local native = require "ecs.native"
local helper = require "spec.support.ecs_helper"
local hostile = require "spec.support.hostile"

-- The world still works, unless the call has closed it, as it may.
local function check_world(world)
  if tostring(world):find "closed" then return end
  helper.check(world)
  while pcall(world.commit, world) do end
  local e = world:spawn { Position = { 3, 4 } }
  assert(world:get(e, "Position.y") == 4)
  world:update(0)
  helper.check(world)
  world:close()
end

local function is_clean(message)
  return type(message) == "string" and #message > 0 and #message < 2000
    and not message:find("not enough memory", 1, true)
    and not message:find("stack overflow", 1, true)
end

local function names_any(message, names)
  for _, name in ipairs(names) do
    if message:find(name, 1, true) then return true end
  end
  return false
end

-- Whether an error says that it means the argument at a place of the call: by number, or by what
-- that argument is called. The object itself is argument 1 of its function, or stale.
local function names_argument(message, kind, method, at)
  if at == 0 then
    -- Methods written in Lua know their own names.
    return names_any(message, { "#1 to 'fn'", ("#1 to '%s'"):format(method), "stale " .. kind })
  end
  local names = hostile.calls[kind][method][at].called or {}
  return names_any(message, { ("#%d to '%s'"):format(at, method) }) or names_any(message, names)
end

-- Calls as scripts write them, so that errors can tell names and places.
local function caller(kind, method, at)
  if at == 0 then return load "local fn = ...; return fn(select(2, ...))" end
  local head = hostile.modules[kind] and "native." or "native:"
  return load(("local native = ...; return %s%s(select(2, ...))"):format(head, method))
end

-- Calls a function with one argument replaced; 0 is the object itself. Returns what pcall does.
local function attack(scene, kind, method, at, value)
  local call = hostile.calls[kind][method]
  if call.before then call.before(scene) end
  return hostile.with_self(scene, kind, function(self)
    local arguments, count = {}, #call
    for i = 1, count do
      arguments[i] = call[i].make(scene)
    end
    local call_it, object = caller(kind, method, at), self or hostile.modules[kind]
    if at == 0 then
      return table.pack(pcall(call_it, self[method], value, table.unpack(arguments, 1, count)))
    end
    arguments[at] = value
    return table.pack(pcall(call_it, object, table.unpack(arguments, 1, count)))
  end, call)
end

local function complaint(kind, method, at, value_name, what)
  return ("%s:%s, argument %d = %s: %s"):format(kind, method, at, value_name, what)
end

-- Objects of the right kind are no hostile selves.
local legal_selves = {
  world = { ["open world"] = true, ["other world"] = true },
  query = { query = true, ["other world's query"] = true },
  where = { query = true, ["other world's query"] = true },
}

local function is_legal(kind, method, at, value_name)
  if at == 0 then
    return (legal_selves[kind] or {})[value_name] or (method == "close"
      and value_name == "closed world")
  end
  local argument = hostile.calls[kind][method][at]
  return argument.lenient or (argument.accepts or {})[value_name]
end

local function judge(kind, method, at, value_name, results)
  if results[1] then
    if is_legal(kind, method, at, value_name) then return nil end
    return complaint(kind, method, at, value_name, "accepted")
  end
  local message = results[2]
  if not is_clean(message) then
    return complaint(kind, method, at, value_name, "raised " .. tostring(message):sub(1, 100))
  elseif at == 0 and is_legal(kind, method, at, value_name) then
    return nil
  elseif not names_argument(message, kind, method, at) then
    return complaint(kind, method, at, value_name, "said only " .. message)
  end
  return nil
end

-- With small counts an argument gets every fifth value, the next one others.
local stride = helper.by_scale { small = 5, normal = 1, deep = 1 }

local function attack_all(kind, method)
  local complaints = {}
  local call = hostile.calls[kind][method]
  for at = hostile.modules[kind] and 1 or 0, #call do
    for i = (at + #method) % stride + 1, #hostile.values, stride do
      local entry = hostile.values[i]
      local scene = hostile.scene(ecs.world)
      local results = attack(scene, kind, method, at, entry[2](scene))
      complaints[#complaints + 1] = judge(kind, method, at, entry[1], results)
      check_world(scene.world)
      check_world(scene.other)
    end
  end
  assert(#complaints == 0, table.concat(complaints, "\n"))
end

-- ---- values of fields ----------------------------------------------------------------------

local field_names = { "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
                      "bool", "entity", "string", "any", "enum", "array", "nested", "array[2]",
                      "nested.x" }

-- Ways for a value to reach a field.
local writers = {
  set = function(scene, field, value) scene.world:set(scene.all, "All." .. field, value) end,
  ["named set"] = function(scene, field, value)
    scene.world:set(scene.all, "All", { [field] = value })
  end,
  spawn = function(scene, field, value) scene.world:spawn { All = { [field] = value } } end,
  ["staged spawn"] = function(scene, field, value)
    scene.world:defer()
    scene.world:spawn { All = { [field] = value } }
  end,
  spawn_many = function(scene, field, value)
    scene.world:spawn_many(2, { All = { [field] = value } })
  end,
  view = function(scene, field, value)
    for all in scene.world:query("All"):each() do all[field] = value end
  end,
  resource = function(scene, field, value) scene.world:res("All")[field] = value end,
  map = function(scene, field, value)
    scene.world:query("All." .. field):map(function() return value end)
  end,
  column = function(scene, field, value)
    for chunk in scene.world:query("All"):chunks() do
      chunk:column("All." .. field)[1] = value
    end
  end,
  ["column write"] = function(scene, field, value)
    for chunk in scene.world:query("All"):chunks() do
      chunk:column("All." .. field):write { value }
    end
  end,
}

-- Every way a value that a field takes reads back as itself, or as what its type makes of it.
local function read_back(scene, field)
  local ok, value = pcall(scene.world.get, scene.world, scene.all, "All." .. field)
  if not ok then return end
  local kind = math.type(value) or type(value)
  local expected = { f32 = "float", f64 = "float", bool = "boolean", string = "string",
                     enum = "string", ["array[2]"] = "float", ["nested.x"] = "float" }
  if field == "any" or field == "array" or field == "nested" then return end
  assert(kind == (expected[field] or "integer"), field .. " reads as " .. kind)
end

-- An error of a field names it with its component, and does not offer the same again.
local function names_field(message, field)
  return not message:find(("did you mean '%s'"):format(field), 1, true)
    and names_any(message, { "'All." .. field, ("'All' has no field '%s'"):format(field) })
end

local function attack_fields(writer)
  local complaints = {}
  for _, entry in ipairs(hostile.values) do
    local scene = hostile.scene(ecs.world)
    local value = entry[2](scene)
    for _, field in ipairs(field_names) do
      local ok, message = pcall(writers[writer], scene, field, value)
      if not ok and not (is_clean(message) and names_field(message, field)) then
        complaints[#complaints + 1] = complaint("All", field, 2, entry[1],
          tostring(message):sub(1, 150))
      end
      read_back(scene, field)
    end
    check_world(scene.world)
    check_world(scene.other)
  end
  assert(#complaints == 0, table.concat(complaints, "\n"))
end

-- ---- indices -------------------------------------------------------------------------------

-- Reads and writes of objects by hostile keys.
local indexed = {
  world = function(scene) return scene.world end,
  query = function(scene) return scene.query end,
  resource = function(scene) return scene.world:res "All" end,
  array = function(scene) return scene.grid end,
  index = function(scene) return scene.near end,
  ["index's view"] = function(scene, fn)
    for view in scene.near:within(0, 0, math.huge) do fn(view) end
  end,
  ["nested view"] = function(scene) return scene.world:res("All").nested end,
  ["array view"] = function(scene) return scene.world:res("All").array end,
  view = function(scene, fn)
    for view in scene.world:query("All"):each() do fn(view) end
  end,
  chunk = function(scene, fn)
    for chunk in scene.query:chunks() do fn(chunk) end
  end,
  entities = function(scene, fn)
    for chunk in scene.query:chunks() do fn(chunk.entities) end
  end,
  column = function(scene, fn)
    for chunk in scene.query:chunks() do fn(chunk:column "Position.x") end
  end,
}

local function try_key(object, key, value)
  local tries = {
    function() return object[key] end,
    function() object[key] = value end,
    function() return object == key, #object end,
    function() return tostring(object) end,
    function()
      local next_key, state, first = pairs(object)
      return next_key(state, first)
    end,
    function() return object[key][key] end,
    function() return object() end,
    function() return object .. key end,
    function() return object < key end,
  }
  for _, try in ipairs(tries) do
    local ok, message = pcall(try)
    assert(ok or is_clean(message), message)
  end
end

local function attack_indices(kind)
  for _, entry in ipairs(hostile.values) do
    local scene = hostile.scene(ecs.world)
    local key = entry[2](scene)
    local function try(object)
      for _, value in ipairs { 1, "text", {}, key == nil and 2 or key } do
        try_key(object, key, value)
      end
    end
    local ok, object = pcall(indexed[kind], scene, try)
    assert(ok, object)
    if object then try(object) end
    check_world(scene.world)
    check_world(scene.other)
  end
end

-- ---- the tests -----------------------------------------------------------------------------

describe("C68: hostile arguments", function()
  it("are at least 14 values", function()
    assert.is_true(#hostile.values >= 14)
  end)

  it("are known for every exported function", function()
    for kind, methods in pairs(native.exports) do
      for _, method in ipairs(methods) do
        assert.is_not_nil((hostile.calls[kind] or {})[method], kind .. ":" .. method)
      end
    end
  end)

  for kind, methods in pairs(native.exports) do
    for _, method in ipairs(methods) do
      if hostile.calls[kind] and hostile.calls[kind][method] then
        it(("get a clean error from %s:%s that names the argument"):format(kind, method),
          function() attack_all(kind, method) end)
      end
    end
  end

  for i, form in ipairs(hostile.ties) do
    it(("get a clean error from world:%s of a relation, form %d"):format(form[1], i), function()
      local before = hostile.calls.world[form[1]]
      hostile.calls.world[form[1]] = { table.unpack(form, 2) }
      local ok, message = pcall(attack_all, "world", form[1])
      hostile.calls.world[form[1]] = before
      assert(ok, message)
    end)
  end

  for writer in pairs(writers) do
    it(("get a clean error from a field of every type, by %s"):format(writer),
      function() attack_fields(writer) end)
  end

  for kind in pairs(indexed) do
    it(("do no harm as keys of a %s"):format(kind), function() attack_indices(kind) end)
  end

  it("leave a parser of components that makes no sense without effect", function()
    local schema = require "ecs.schema"
    local scene = hostile.scene(ecs.world)
    for _, entry in ipairs(hostile.values) do
      native.schema(function() return entry[2](scene) end)
      local ok, message = pcall(scene.world.component, scene.world, "Odd", {})
      native.schema(schema.parse)
      assert(ok or is_clean(message), entry[1])
      pcall(scene.world.undeclare, scene.world, "Odd")
    end
    check_world(scene.world)
    check_world(scene.other)
  end)
end)
