-- Random kernels in numbers: each equals its rounded twin, on each instruction set, in a process
-- of its own. On the second set and on, they equal what has been compared with the twins.

local helper = require "spec.support.ecs_helper"
local rules = require "spec.support.rule_run"
local runs = require "spec.support.kernel_twins"

local sanitized = (os.getenv "ECS_BUILD" or ""):find "asan"
local count = (helper.scale() == "small" or sanitized) and 1000 or 10000
local rows = 300
local first = 100001

describe("random kernels", function()
  local expected
  for _, isa in ipairs { "sse2", "avx2", "avx512" } do
    it(("equal their rounded plain-Lua twins on %s (%d kernels x %d rows)"):format(isa, count,
      rows), function()
      local hash = runs.hash_on(isa, first, count, rows, expected and "alone" or "beside")
      assert.matches("^%x+\n$", hash)
      expected = expected or hash
      assert.equal(expected, hash)
    end)
  end

  local plain, same = count // 6, nil
  for _, isa in ipairs { "sse2", "avx2", "avx512" } do
    it(("over f64 and integers equal themselves in plain Lua on %s (%d)"):format(isa, plain),
      function()
        local told = rules.table_on(isa, first, first + plain - 1, "numbers")
        assert.matches("^ *%d+  quiet\n.*\n%-?%d+  hash\n$", told)
        same = same or told
        assert.equal(same, told)
      end)
  end
end)
