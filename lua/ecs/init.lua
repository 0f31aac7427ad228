-- ecs: an entity component system whose storage and loops are C and whose rules are Lua.

local native = require "ecs.native"
local file = require "ecs.file"
local schema = require "ecs.schema"

native.schema(schema.parse)

return {
  null = native.null,
  format = native.format,
  load_file = file.load,
  save_file = file.save,
  world = native.world,
}
