local everywhere = require "spec.support.everywhere"

describe("one program", function()
  it("gives the same digests and the same image on every machine", function()
    local expected = {}
    for line in io.lines "spec/golden/everywhere.txt" do
      expected[#expected + 1] = line:gsub("\r$", "")
    end
    assert.are.same(expected, everywhere.lines())
  end)
end)
