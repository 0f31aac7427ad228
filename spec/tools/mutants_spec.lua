-- What `make mutate` makes of sources.

local mutants = require "spec.tools.mutants"

-- What a text of one line may become, in order of the alphabet.
local function changes(text, language, line)
  local list = {}
  for _, change in ipairs((mutants.of(text, language))[line or 1] or {}) do
    list[#list + 1] = change.kind .. ": " .. change.after
  end
  table.sort(list)
  return list
end

local function body(line)
  return changes("void f(void) {\n" .. line .. "\n}\n", "c", 2)
end

describe("a mutant of C", function()
  it("has a comparison, a constant, a condition or a statement of another kind", function()
    assert.are.same({
      "comparison: if (n <= 10) go();", "comparison: if (n >= 10) go();",
      "condition: if (!(n < 10)) go();", "constant: if (n < 11) go();",
      "constant: if (n < 9) go();", "statement: ;",
    }, body "if (n < 10) go();")
    assert.are.same({ "constant: x[1u] |= y;", "operator: x[0u] &= y;", "statement: ;" },
      body "x[0u] |= y;")
    assert.are.same({ "operator: a = b && c;", "operator: a = b || !c;", "statement: ;" },
      body "a = b && !c;")
  end)

  it("has arguments in another order", function()
    assert.are.same({
      "arguments: call(a, c(b, d));", "arguments: call(c(d, b), a);", "statement: ;",
    }, body "call(c(b, d), a);")
    assert.are.same({ "statement: ;" }, body "call(a, a);")
  end)

  it("keeps declarations, asserts, comments, texts, directives and what is outside of blocks",
    function()
      for _, line in ipairs { "int x;", "const char *p = q;", "assert(a < 10);", "/* a < 10 */",
        "return q;", "#define A 10", "case x: break;", "struct a b = c;" } do
        assert.are.same({}, body(line))
      end
      assert.are.same({ "statement: ;" }, body 'say("1 < 2, /* ");')
      assert.are.same({}, changes("static int x = 10;\n", "c"))
      assert.are.same({ "operator:   x - y" }, changes("#define A(x, y) \\\n  x + y\n", "c", 2))
    end)

  it("has no signs or stars for operators", function()
    assert.are.same({ "statement: ;" }, body "*a = -b;")
    assert.are.same({ "operator: a = b / c;", "statement: ;" }, body "a = b * c;")
  end)
end)

describe("a mutant of Lua", function()
  it("has a comparison, a constant, a condition or a statement of another kind", function()
    assert.are.same({
      "comparison: if a <= 0 then go() end", "comparison: if a >= 0 then go() end",
      "condition: if not (a < 0) then go() end", "constant: if a < 1 then go() end",
      "statement: ;",
    }, changes("if a < 0 then go() end", "lua"))
    assert.are.same({ "operator: x = a and  b", "operator: x = a or not b", "statement: ;" },
      changes("x = a and not b", "lua"))
  end)

  it("keeps comments, texts and names of functions", function()
    for _, line in ipairs { "-- a < 1", "local x = 'a < 1'", "local x = [[ 1 ]]", "end",
      "function f(a, b)", "local x --[[ 1 ]]", 'local x = "\\" 1"', "return" } do
      assert.are.same({}, changes(line, "lua"))
    end
  end)
end)

describe("a change", function()
  it("concerns one line and makes it another", function()
    for path, language in pairs { ["src/core/storage/table.c"] = "c",
      ["lua/ecs/live/init.lua"] = "lua", ["src/kernel/ops.inc"] = "c",
      ["src/core/ids/entity_index.h"] = "c" } do
      local file = assert(io.open(path))
      local text = file:read "a"
      file:close()
      local lines, by_line = mutants.lines_of(text), mutants.of(text, language)
      local seen = 0
      for at, line in ipairs(lines) do
        for i, change in ipairs(by_line[at] or {}) do
          seen = seen + 1
          assert(change.line == at and change.before == line and change.after ~= line)
          assert(not change.after:find "\n")
          if i == 1 then
            local changed = mutants.lines_of(mutants.apply(text, change))
            assert.are.equal(#lines, #changed)
            changed[at] = line
            assert.are.equal(text, table.concat(changed, "\n"))
          end
        end
      end
      assert(seen > 50, path)
    end
  end)
end)
