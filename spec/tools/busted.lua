-- busted under this interpreter, whatever `busted` on the path would start.
-- Memory is cheaper than collecting often; specs that need a collection ask for it.
collectgarbage("setpause", 1000)
require "busted.runner" { standalone = false }
