rockspec_format = "3.0"
package = "ecs"
version = "scm-1"
source = {
  url = "git+https://github.com/ecs-lua/ecs.git",
}
description = {
  summary = "An entity component system: columns in C, rules in Lua",
  detailed = [[
A runtime for entity component systems whose storage and loops are C and whose rules are Lua:
typed columns, cached queries, phased systems, staged changes. No dependency but Lua and libc;
C hosts can embed it with or without Lua.
]],
  homepage = "https://github.com/ecs-lua/ecs",
  license = "MIT",
  labels = { "ecs", "entity", "game", "simulation" },
}
supported_platforms = { "unix", "windows" }
dependencies = {
  "lua >= 5.4, < 5.5",
}
build = {
  type = "builtin",
  modules = {
    ["ecs.native"] = {
      incdirs = { "src" },
      sources = {
        "src/core/any.c",
        "src/core/bulk.c",
        "src/core/check.c",
        "src/core/clock.c",
        "src/core/command.c",
        "src/core/component.c",
        "src/core/declare.c",
        "src/core/entity.c",
        "src/core/graph.c",
        "src/core/intern.c",
        "src/core/iterate.c",
        "src/core/map.c",
        "src/core/memory.c",
        "src/core/mutate.c",
        "src/core/name.c",
        "src/core/native.c",
        "src/core/phase.c",
        "src/core/query.c",
        "src/core/query_parse.c",
        "src/core/resource.c",
        "src/core/schedule.c",
        "src/core/table.c",
        "src/core/text.c",
        "src/core/undeclare.c",
        "src/core/update.c",
        "src/core/value.c",
        "src/core/world.c",
        "src/lua/args.c",
        "src/lua/chunk.c",
        "src/lua/column.c",
        "src/lua/component.c",
        "src/lua/declare.c",
        "src/lua/describe.c",
        "src/lua/disown.c",
        "src/lua/each.c",
        "src/lua/entity.c",
        "src/lua/explain.c",
        "src/lua/inspect.c",
        "src/lua/loop.c",
        "src/lua/map.c",
        "src/lua/module.c",
        "src/lua/options.c",
        "src/lua/query.c",
        "src/lua/read.c",
        "src/lua/schedule.c",
        "src/lua/script.c",
        "src/lua/shape.c",
        "src/lua/spawn.c",
        "src/lua/status.c",
        "src/lua/system.c",
        "src/lua/value.c",
        "src/lua/view.c",
        "src/lua/world.c",
      },
    },
    ecs = "lua/ecs/init.lua",
    ["ecs.schema"] = "lua/ecs/schema.lua",
  },
  platforms = {
    unix = {
      modules = {
        ["ecs.native"] = {
          libraries = { "m", "pthread" },
        },
      },
    },
  },
}
