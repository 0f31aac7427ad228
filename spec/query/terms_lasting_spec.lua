-- Queries about ties and others, while what they name is declared anew, goes, or comes back.

local helper = require "spec.support.ecs_helper"
local live_scene = require "spec.support.live_scene"

describe("terms about ties in live scripts", function()
  local world, files, errors, open

  before_each(function()
    world, files, errors, open = live_scene.new()
  end)

  local script = [[
    local world = ...
    world:component("Health", { "hp: i32" })
    world:relation("Up", { %s exclusive = true, acyclic = true })
    world:relation("Likes", { %s })
    world:tag "Apples"
    local given = { p = "Apples" }
    local above = world:query "Health, Up->Health?:cascade"
    local liking = world:query("(Likes, $p), Health", given)
    given.p = "Health"
    local others = world:query("(Likes, $p)", given)
    world:resource("Seen", { "above: i32", "liking: i32", "others: i32", "each: i32" })
    world:system("watch", { run = function()
      local seen = world:res "Seen"
      seen.above, seen.liking, seen.others = #above:ids(), liking:count(), others:count()
    end })
    world:system("watch each", { query = "(Likes, $p)", ["$p"] = "Apples", each = function()
      local seen = world:res "Seen"
      seen.each = seen.each + 1
    end })]]

  it("go on over relations that the same script declares otherwise (C17, C84)", function()
    files:write("a.lua", script:format("", ""))
    local session = open()
    assert.are.same({}, errors)
    local up = world:spawn { Health = {} }
    world:spawn { Health = {}, Up = up, Likes = "Apples" }
    for _, fields in ipairs { { "", "" }, { '"since: i32",', "" },
      { '"since: f64",', '"much: i32"' }, { "", "" } } do
      files:write("a.lua", script:format(fields[1], fields[2]))
      helper.poll(session)
      assert.are.same({}, errors)
      collectgarbage()
      world:res("Seen").each = 0
      world:update(0)
      local seen = world:res "Seen"
      assert.are.same({ 2, 1, 0, 1 }, { seen.above, seen.liking, seen.others, seen.each })
    end
    helper.check(world)
  end)
end)

describe("a query about ties", function()
  -- Calls of a finalizer, of which the n-th does something.
  local function call_at(n, act)
    local armed, calls, mark = true, 0, {}
    function mark.__gc()
      if not armed then return end
      calls = calls + 1
      if calls < n then
        setmetatable({}, mark)
      else
        armed = false
        act()
      end
    end
    setmetatable({}, mark)
    return function() armed = false end
  end

  -- Collects all of the garbage at about every allocation.
  local function hastily(fn, ...)
    helper.collect_always(true)
    collectgarbage "restart"
    local ok, message = pcall(fn, ...)
    helper.collect_always(false)
    return ok, message
  end

  local uses = {
    function(query) for _ in query:each() do end end,
    function(query) query:each(function(...) return ... end) end,
    function(query) for chunk in query:chunks() do assert(chunk.n > 0) end end,
    function(query) query:where(function() return true end):count() end,
    function(query) query:ids() end,
    function(query) query:sum(function(...) return #{ ... } end) end,
    function(query) query:min(function() return 1 end) end,
  }

  local acts = {
    function(world) world:undeclare "DockedTo" end,
    function(world)
      world:relation("DockedTo", { "since: f64", exclusive = true, acyclic = true })
      world:component("Health", { "armour: i32", "hp: i32", "word: string" })
      world:component("Apples", { "n: i32" })
    end,
    function(world) world:component("Marked", { "n: i32" }) end,
    function(world) world:close() end,
    function(world) world:spawn_many(300, { Health = {}, DockedTo = "Apples" }) end,
  }

  local function try(text, use, act, n)
    local world = helper.new_world()
    world:component("Health", { "hp: i32" })
    world:tag "Apples"
    world:component("Marked", { "n: i32", storage = "sparse" })
    world:relation("DockedTo", { exclusive = true, acyclic = true })
    local port = world:spawn { Health = {}, DockedTo = "Apples" }
    for _ = 1, 4 do
      world:spawn { Health = {}, DockedTo = port }
    end
    local query = world:query(text)
    local disarm = call_at(n, function() pcall(act, world) end)
    local ok, message = hastily(use, query)
    disarm()
    local said = tostring(message)
    assert(ok or said:find "declared" or said:find "closed" or said:find "finalizer"
      or said:find "has ended", said)
    world:close()
  end

  it("bears finalizers that declare and undeclare while it is used (C84)", function()
    for _, text in ipairs { "Health", "(DockedTo, Apples)", "Health, DockedTo->Health?:cascade",
      "(DockedTo, *), Apples?", "Health, Marked?" } do
      for _, use in ipairs(uses) do
        for _, act in ipairs(acts) do
          for n = 1, 12 do
            try(text, use, act, n)
          end
        end
      end
    end
  end)
end)
