-- The inspector's page in a browser. Skipped where there is no chromium that starts, no luasocket,
-- or no node that finds puppeteer-core: in NODE_PATH, or where spec/tools/setup puts it.

local terminal = require "spec.support.pty"

-- Only the world's process runs under a sanitizer.
local NODE = 'env -u LD_PRELOAD NODE_PATH="$NODE_PATH:build/node_modules" node'

local function succeeds(command)
  return select(2, terminal.run(command)) == 0
end

local able = succeeds(NODE .. " -e 'require(\"puppeteer-core\")'")
  and succeeds "command -v chromium" and pcall(require, "socket") and pcall(require, "dkjson")

local STEPS, SECONDS = 26, 400
-- The status of spec/support/inspector_page.js where the browser does not start.
local NO_BROWSER = 3

describe("the inspector's page", function()
  (able and it or pending)("does what it says in a browser", function()
    local directory = os.tmpname() .. ".d"
    assert(os.execute("mkdir -p " .. directory))
    local pipe <close> = assert(io.popen(("%s%s spec/support/inspected.lua %s %d"):format(
      terminal.ENVIRONMENT:gsub("lua/%?%.lua;", "./?.lua;%0"), terminal.LUA, directory, SECONDS)))
    local link = assert(pipe:read "l"):match "(http://.*)$"
    local output, status =
      terminal.run(NODE .. " spec/support/inspector_page.js '" .. link .. "'", SECONDS)
    os.execute("rm -rf " .. directory)
    if status == NO_BROWSER then
      return pending "chromium does not start here"
    end
    local _, count = output:gsub("%f[%w]ok [^\n]*\n", "")
    assert.is_nil(output:find("not ok", 1, true), output)
    assert.are.equal(STEPS, count, output)
  end)
end)
