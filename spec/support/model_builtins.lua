-- The relations of every world in the model, which are declared when they are first named. Returns
-- methods to be mixed into the model's world.

local types = require "spec.support.model_types"

local methods = {}

local BUILTIN = {
  ChildOf = { exclusive = true, acyclic = true, policy = "despawn" },
  IsA = { exclusive = true, acyclic = true, policy = "remove" },
}

function methods.refuse_builtin(name)
  if BUILTIN[name] then
    error(("'%s' is a built-in relation"):format(name), 0)
  end
end

-- Those of every world are there as soon as they are named, but for what is refused.
function methods.need_builtin(world, name)
  local named = world.named_builtins
  if BUILTIN[name] and not world.components_by_name[name] and not (named and named[name]) then
    local component = types.component(world, name, { "target: entity" })
    component.ties, component.lines = BUILTIN[name], {}
    if named then
      named[name], named[#named + 1] = component, component
    else
      world:enter(component)
    end
  end
  return world.components_by_name[name] or named and named[name]
end

-- check(world), after which those that it named are there, unless it raised an error.
function methods.name_builtins(world, check)
  world.named_builtins = {}
  local ok, problem = pcall(check, world)
  local named = world.named_builtins
  world.named_builtins = nil
  if not ok then
    error(problem, 0)
  end
  for _, component in ipairs(named) do
    world:enter(component)
  end
end

return methods
