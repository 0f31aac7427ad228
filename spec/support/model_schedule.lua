-- Phases and systems of the model. Returns methods to be mixed into the model's world.

local methods = {}

local CATCH_UP = 8

local function refuse(...)
  error(string.format(...), 0)
end

function methods.init_schedule(world)
  world.phases = {}
  world.systems = {}         -- name -> system
  world.absent = { phases = {}, systems = {} }   -- what is kept of those that are not there
  world.registered = 0
  for _, name in ipairs { "startup", "pre_update", "update", "post_update", "render" } do
    world.phases[#world.phases + 1] = { name = name, on = true }
  end
end

local function find_phase(world, name)
  for at, phase in ipairs(world.phases) do
    if phase.name == name then
      return phase, at
    end
  end
end

local function need_phase(world, name)
  local phase, at = find_phase(world, name)
  if not phase then
    refuse("unknown phase '%s'", tostring(name))
  end
  return phase, at
end

-- Gives a phase or system what is kept of it.
function methods.take_up(world, kind, owner)
  for key, value in pairs(world.absent[kind][owner.name] or {}) do
    owner[key] = value
  end
  world.absent[kind][owner.name] = nil
end

function methods.phase(world, name, spec)
  world:need_idle("declaring a phase")
  local at = #world.phases + 1
  if spec.after then
    at = select(2, need_phase(world, spec.after)) + 1
  elseif spec.before then
    at = select(2, need_phase(world, spec.before))
  end
  if find_phase(world, name) then
    refuse("phase '%s' is declared", name)
  end
  local phase = { name = name, on = true, fixed = spec.fixed, behind = 0 }
  world:take_up("phases", phase)
  table.insert(world.phases, at, phase)
end

-- ---- order -----------------------------------------------------------------------------

local function names_of(list)
  return type(list) == "string" and { list } or list or {}
end

-- Whether `a` has to run before `b`.
local function precedes(a, b)
  for _, name in ipairs(names_of(a.before)) do
    if name == b.name then
      return true
    end
  end
  for _, name in ipairs(names_of(b.after)) do
    if name == a.name then
      return true
    end
  end
  return false
end

local function is_ready(system, waiting)
  for _, other in ipairs(waiting) do
    if other ~= system and precedes(other, system) then
      return false
    end
  end
  return not precedes(system, system)
end

-- The systems of a phase in running order: of those that nothing holds back, always the one
-- registered first.
function methods.order(world, phase_name)
  local waiting, order = {}, {}
  for _, system in pairs(world.systems) do
    if system.phase == phase_name then
      waiting[#waiting + 1] = system
    end
  end
  table.sort(waiting, function(a, b)
    return a.registered < b.registered
  end)
  while #waiting > 0 do
    local at
    for i, system in ipairs(waiting) do
      if is_ready(system, waiting) then
        at = i
        break
      end
    end
    if not at then
      refuse("before and after of systems in '%s' make a cycle", phase_name)
    end
    order[#order + 1] = table.remove(waiting, at)
  end
  return order
end

-- ---- registering -----------------------------------------------------------------------

function methods.system(world, name, spec)
  local known = world.systems[name]
  local phase = spec.phase or "update"
  need_phase(world, phase)
  if not spec.query and (spec.each or spec.map) then
    refuse("each and map need a query")
  end
  local query = spec.query and world:query(spec.query)
  if spec.map then
    query:need_fields()
  end
  local system = {
    name = name,
    phase = phase,
    before = spec.before,
    after = spec.after,
    every = spec.every,
    when = spec.when,
    query = query,
    each = spec.each,
    map = spec.map,
    run = spec.run,
    registered = known and known.registered or world.registered + 1,
    origin = known and known.phase == phase and known.origin or {},
    on = spec.enabled ~= false, declared_on = spec.enabled ~= false,
    elapsed = 0, timer = 0, runs = 0,
    streams = known and known.streams or 0,
  }
  if known then
    system.on, system.elapsed, system.timer = known.on, known.elapsed, known.timer
    system.has_run, system.runs = known.has_run and known.phase == phase, known.runs
  end
  world.systems[name] = system
  local ok, problem = pcall(world.order, world, phase)
  if not ok then
    world.systems[name] = known
    error(problem, 0)
  end
  if not known then
    world:take_up("systems", system)
    system.parked = nil
  end
  world.registered = math.max(world.registered, system.registered)
end

local function need_system(world, name)
  local system = world.systems[name]
  if not system then
    refuse("unknown system '%s'", tostring(name))
  end
  return system
end

function methods.remove_system(world, name)
  need_system(world, name)
  world.systems[name] = nil
end

function methods.switch(world, name, on)
  local target = world.systems[name] or find_phase(world, name)
  if not target then
    refuse("unknown system or phase '%s'", tostring(name))
  end
  target.on = on
end

function methods.on_error(world, handler)
  world.handler = handler
end

-- ---- running ---------------------------------------------------------------------------

local function call_body(_, world, system, dt)
  if system.each then
    system.query:each_call(system.each, dt)
  elseif system.map then
    if system.query:count() > 0 then
      system.query:map_call(system.map, dt)
    end
  else
    system.run(world, dt, system.query)
  end
end

-- Runs a system's body in its scope; parks it when that fails and somebody handles errors.
local function run_body(world, system, dt)
  local ok, problem = pcall(world.in_system_stream, world, system, world.guarded, world,
    "system", call_body, world, system, dt)
  if ok then
    return
  elseif not world.handler then
    error(("system '%s': %s"):format(system.name, tostring(problem)), 0)
  end
  system.parked = true
  world.handler(tostring(problem), system.name)
end

local function is_due(world, system)
  if not system.on or system.parked then
    return false
  elseif system.phase == "startup" and system.has_run then
    return false
  elseif system.every and system.timer < system.every then
    return false
  elseif system.when and not world:in_system_stream(system, system.when) then
    return false
  end
  if system.every then
    system.timer = math.fmod(system.timer, system.every)
  end
  return true
end

-- `dt` is the time since it last ran, except the first time and in fixed phases.
local function run_system(world, system, dt, constant)
  if system.has_run and not constant then
    dt = system.elapsed
  end
  system.elapsed, system.has_run, system.runs = 0, true, system.runs + 1
  run_body(world, system, dt)
end

local function pass_time(system, dt)
  system.elapsed = system.elapsed + dt
  system.timer = system.timer + dt
end

-- What a system of the phase has become since the phase started; nil when it is gone.
local function present(world, system)
  local now = world.systems[system.name]
  return now and now.origin == system.origin and now.phase == system.phase and now or nil
end

-- Calls fn for each of a list. An error ends that: for the others only time passes.
local function each_until(list, fn, pass)
  local failed, problem = false, nil
  for _, one in ipairs(list) do
    if failed then
      pass(one)
    else
      local ok, why = pcall(fn, one)
      failed, problem = not ok, why
    end
  end
  if failed then
    error(problem, 0)
  end
end

-- The systems that the phase has as it starts.
local function run_once(world, phase, dt)
  local function pass(started)
    local system = present(world, started)
    if system then
      pass_time(system, dt)
    end
    return system
  end
  each_until(world:order(phase.name), function(started)
    local system = pass(started)
    if system and is_due(world, system) then
      run_system(world, system, dt, phase.fixed and not system.every)
    end
  end, pass)
end

-- While a phase is switched off time passes for its systems; the steps that one does not come to
-- because of an error are for later.
local function pass_by(world, phase, dt)
  if phase.on and phase.fixed then
    phase.behind = phase.behind + dt
    return
  end
  for _, system in ipairs(world:order(phase.name)) do
    pass_time(system, dt)
  end
end

local function run_phase(world, phase, dt)
  if not phase.fixed then
    run_once(world, phase, dt)
    return
  end
  phase.behind = phase.behind + dt
  local steps = 0
  while phase.behind >= phase.fixed and steps < CATCH_UP do
    phase.behind = phase.behind - phase.fixed
    steps = steps + 1
    run_once(world, phase, phase.fixed)
  end
  phase.behind = math.fmod(phase.behind, phase.fixed)
end

local function need_seconds(dt)
  if type(dt) ~= "number" or not (dt >= 0 and dt < math.huge) then
    refuse("%s is not a time", tostring(dt))
  end
  return dt + 0.0
end

local function run_phases(world, dt)
  each_until(table.move(world.phases, 1, #world.phases, 1, {}), function(phase)
    local advance = phase.on and run_phase or pass_by
    advance(world, phase, dt)
  end, function(phase)
    pass_by(world, phase, dt)
  end)
end

function methods.update(world, dt)
  dt = need_seconds(dt)
  world:end_loops("update")
  local ok, problem = pcall(run_phases, world, dt)
  world:age_events()
  world:start_tick(world.tick + 1)
  if not ok then
    error(problem, 0)
  end
end

-- A phase even when it is off, a system whatever holds it back, unless it is parked.
function methods.run(world, name, dt)
  dt = need_seconds(dt)
  local phase = find_phase(world, name)
  local system = phase or need_system(world, name)
  world:end_loops("run")
  if phase then
    run_phase(world, phase, dt)
    return
  elseif system.parked then
    refuse("system '%s' is parked", name)
  end
  system.elapsed = system.elapsed + dt
  run_system(world, system, dt)
end

function methods.alpha(world)
  for _, phase in ipairs(world.phases) do
    if phase.fixed then
      return math.min(phase.behind / phase.fixed, 1.0)
    end
  end
  refuse("no phase is fixed")
end

local function describe_systems(world)
  local systems = {}
  for _, phase in ipairs(world.phases) do
    for _, system in ipairs(world:order(phase.name)) do
      systems[#systems + 1] = {
        name = system.name,
        phase = phase.name,
        enabled = system.on,
        parked = system.parked or false,
        runs = system.runs,
      }
    end
  end
  return systems
end

local function describe_tables(world)
  local tables, known = {}, {}
  for _, row in pairs(world.store) do
    local types = {}
    for name in pairs(row) do
      local component = world.of_key(world.components_by_name, name)
      if not component.sparse then
        types[#types + 1] = component.name
      end
    end
    table.sort(types)
    local key = table.concat(types, " ")
    if not known[key] then
      known[key] = { types = types, rows = 0 }
      tables[#tables + 1] = known[key]
    end
    known[key].rows = known[key].rows + 1
  end
  return tables
end

-- What the model knows of `world:describe()`: systems in running order, compositions, and the
-- number of entities.
function methods.describe(world)
  return {
    entities = world.ids.count,
    systems = describe_systems(world),
    tables = describe_tables(world),
  }
end

return methods
