-- The inspector's page in a browser. Skipped where there is no chromium, no luasocket, or no node
-- that finds puppeteer-core: in NODE_PATH, or where spec/tools/setup puts it.

local terminal = require "spec.support.pty"

local NODE = 'NODE_PATH="$NODE_PATH:build/node_modules" node'

local function succeeds(command)
  return select(2, terminal.run(command)) == 0
end

local able = succeeds(NODE .. " -e 'require(\"puppeteer-core\")'")
  and succeeds "command -v chromium" and pcall(require, "socket") and pcall(require, "dkjson")

local STEPS = 13

describe("the inspector's page", function()
  (able and it or pending)("does what it says in a browser", function()
    local directory = os.tmpname() .. ".d"
    assert(os.execute("mkdir -p " .. directory))
    local pipe <close> = assert(io.popen(("%s%s spec/support/inspected.lua %s 90"):format(
      terminal.ENVIRONMENT:gsub("lua/%?%.lua;", "./?.lua;%0"), terminal.LUA, directory)))
    local link = assert(pipe:read "l"):match "(http://.*)$"
    local output = terminal.run(NODE .. " spec/support/inspector_page.js '" .. link .. "'")
    os.execute("rm -rf " .. directory)
    local _, count = output:gsub("%f[%w]ok [^\n]*\n", "")
    assert.is_nil(output:find("not ok", 1, true), output)
    assert.are.equal(STEPS, count, output)
  end)
end)
