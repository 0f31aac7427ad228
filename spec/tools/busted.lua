-- busted under this interpreter, whatever `busted` on the path would start.
require "busted.runner" { standalone = false }
