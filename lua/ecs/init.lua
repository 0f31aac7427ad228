-- ecs: an entity component system whose storage and loops are C and whose rules are Lua.

local native = require "ecs.native"
local schema = require "ecs.schema"

native.schema(schema.parse)

return {
  null = native.null,
  format = native.format,
  world = native.world,
}
