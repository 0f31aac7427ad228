std = "lua54"
max_line_length = 100
cache = false
exclude_files = { "build", "lua_modules" }

files["spec"] = { std = "+busted" }
files["lua/ecs/types.lua"] = { ignore = { "212", "241", "211" } }
files["**/*.rockspec"] = { std = "rockspec" }
