-- Random kernels in numbers: each equals its rounded twin, on each instruction set, in a process
-- of its own. On the second set and on, they equal what has been compared with the twins.

local helper = require "spec.support.ecs_helper"

local sanitized = (os.getenv "ECS_BUILD" or ""):find "asan"
local count = (helper.scale() == "small" or sanitized) and 1000 or 20000
local rows = 300
local first = 100001

local function run_on(isa, how)
  local command = ("ECS_ISA=%s lua5.4 spec/support/kernel_run.lua %d %d %d %s 2>&1"):format(isa,
    first, count, rows, how)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  pipe:close()
  return text
end

describe("random kernels", function()
  local expected
  for _, isa in ipairs { "sse2", "avx2", "avx512" } do
    it(("equal their rounded plain-Lua twins on %s (%d kernels x %d rows)"):format(isa, count,
      rows), function()
      local hash = run_on(isa, expected and "alone" or "beside")
      assert.matches("^%x+\n$", hash)
      expected = expected or hash
      assert.equal(expected, hash)
    end)
  end
end)
