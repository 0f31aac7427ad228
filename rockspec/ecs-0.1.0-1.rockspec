rockspec_format = "3.0"
package = "ecs"
version = "0.1.0-1"
source = {
  url = "git+https://github.com/ecs-lua/ecs.git",
  tag = "v0.1.0",
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
      defines = { "NDEBUG" },
      sources = {
      },
    },
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
