-- Copies of entities in the model, with all that are their children. Returns methods to be mixed
-- into the model's world.

-- Prefabs have no components here, so that they never change: what declaring them again means is
-- what random prefabs are for.

local toggles = require "spec.support.model_toggles"
local types = require "spec.support.model_types"

local methods = {}

-- An entity with its children and theirs, breadth first.
function methods.family_of(world, id)
  local family = { id }
  for _, member in ipairs(family) do   -- grows on the way
    for child in world:children(member) do
      family[#family + 1] = child
    end
  end
  return family
end

-- Among whose children a name is one entity's: copies' are entered before they are anybody's.
function methods.home_of(world, id)
  if world.store[id] then
    return world:parent_of(id)
  end
  return world.awaited[id]
end

-- What a copy has where its source has a value; `copies` leads from sources to copies.
local function copied(world, kind, stored, copies)
  if kind.kind == "scalar" then
    if kind.name ~= "entity" then
      return stored
    end
    return copies[stored] or world:alive(stored) and stored or 0
  end
  local value = {}
  for at = 1, kind.kind == "array" and kind.n or 0 do
    value[at] = copied(world, kind.of, stored[at], copies)
  end
  for _, field in ipairs(kind.fields or {}) do
    value[field.name] = copied(world, field.type, stored[field.name], copies)
  end
  return value
end

-- Whether a copy has a tie of its source: to what both are made of, and to a parent, what is made
-- of a prefab has its own. A copy of a prefab is nobody's child.
local function keeps(world, id, component, made, is_root)
  local hidden = methods.is_hidden(world.store[id] or {})
  if component.name == "ChildOf" and is_root then
    return not made and not hidden
  end
  return component.name ~= "Prefab" and not (made and component.name == "IsA")
end

-- The commands that make a copy of one entity, whose row may have what `plan` replaces.
local function commands_of(world, id, copies, plan, commands, made, is_root)
  local row, copy = world.store[id] or {}, copies[id]
  local spawn = { op = "spawn", id = copy, values = {} }
  commands[#commands + 1] = spawn
  commands[#commands + 1] = made and { op = "tie", id = copy, patch = {}, target = id,
    component = world:need_component "IsA" } or nil
  for _, component in ipairs(world.declared) do
    local stored = row[component.name]
    if not component.ties and stored ~= nil then
      table.insert(spawn.values, { component = component,
        patch = copied(world, component, stored, copies) })
      commands[#commands + 1] = toggles.is_off(row, component.name)
        and { op = "disable", id = copy, component = component } or nil
    end
  end
  for _, component in ipairs(world:relations()) do
    local over = component.ties.exclusive and plan.ties[component]
    local kept = keeps(world, id, component, made, is_root)
    for _, target in ipairs(kept and world:targets_of(id, component) or {}) do
      local patch = copied(world, component, row[world.key_of(component, target)], copies)
      patch.target = nil
      commands[#commands + 1] = { op = "tie", id = copy, component = component,
        target = over and over[#over].target or copies[target] or target, patch = patch }
    end
  end
end

local NOTHING = { values = {}, ties = {} }

local function copy_all(world, id, components, made)
  local plan, family, copies, commands = world:plan(components), world:family_of(id), {}, {}
  world.ids:need(#family)
  for _, member in ipairs(family) do
    copies[member] = world.ids:take()
  end
  for at, member in ipairs(family) do
    commands_of(world, member, copies, at == 1 and plan or NOTHING, commands, made, at == 1)
    if at == 1 then
      world:add_over(commands, copies[id], plan)
    else
      world.names[copies[member]] = world.names[member]
      world.awaited[copies[member]] = copies[world:parent_of(member)]
    end
  end
  world:perform(table.unpack(commands))
  return copies[id]
end

-- `components` as for a spawn, over what the copy of the entity itself has.
function methods.clone(world, id, components)
  return copy_all(world, world:need_alive(id), components, false)
end

local P = ("P"):byte()

-- Whether a row is a prefab's. It is asked of every row that a query looks at.
function methods.is_hidden(row)
  for key in pairs(row) do
    if key:byte(1) == P and key:find("Prefab>", 1, true) == 1 then
      return true
    end
  end
  return false
end

-- The relation that marks prefabs.
local function need_mark(world)
  local mark = world.components_by_name.Prefab
  if not mark then
    mark = types.component(world, "Prefab", {})
    mark.ties, mark.lines = { exclusive = false, acyclic = false, policy = "remove" }, {}
    world:enter(mark)
  end
  return mark
end

-- One that has no components, with such children.
function methods.prefab(world, name, _, options)
  local children = options.children
  local mark, commands, root = need_mark(world), {}, nil
  world:need_builtin "IsA"
  local child_of = world:need_builtin "ChildOf"
  for at = 0, #children do
    local id = world.ids:take()
    root = root or id
    commands[#commands + 1] = { op = "spawn", id = id, values = {} }
    commands[#commands + 1] = { op = "tie", id = id, component = mark, target = mark.id,
      patch = {} }
    commands[#commands + 1] = at > 0 and { op = "tie", id = id, target = root, patch = {},
      component = child_of } or nil
    world.names[id] = at == 0 and name or children[at][1]
  end
  world:perform(table.unpack(commands))
  return root
end

function methods.instantiate(world, name, components)
  local id = world:lookup(name)
  if not (id and world.store[id] and methods.is_hidden(world.store[id])) then
    error(("there is no prefab '%s'"):format(name), 0)
  end
  return copy_all(world, id, components, true)
end

-- The commands of a spawn's plan, over what is there by others.
function methods.add_over(world, commands, id, plan)
  for _, value in ipairs(plan.values) do
    commands[#commands + 1] = { op = "set", id = id, component = value.component,
      patch = value.patch }
  end
  for _, component in ipairs(next(plan.ties) and world:relations() or {}) do
    for _, tie in ipairs(plan.ties[component] or {}) do
      commands[#commands + 1] = { op = "tie", id = id, component = component,
        target = tie.target, patch = tie.patch }
    end
  end
end

return methods
