std = "lua54"
max_line_length = 100
cache = false
exclude_files = { "build", "lua_modules" }

ignore = {
  "212/self", -- a method need not use its object
  "581",      -- `not (a <= b)` differs from `a > b` where NaN is
}

files["spec"] = { std = "+busted" }
files["examples/love"] = { std = "+love" }
files["spec/support/dialect.lua"] = { std = "+luajit", globals = { "string", "math", "table" } }
files["lua/ecs/types.lua"] = { ignore = { "211", "212", "241" } }
files["**/*.rockspec"] = { std = "rockspec" }
