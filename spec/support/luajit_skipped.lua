-- Tests that are skipped on LuaJIT: whole files, by why, and others by their full names, or by how
-- these begin. Most of those are about integers beyond 2^53, numbers as text ("1.0"), and what Lua
-- itself says; those of kernels, mostly about what spec/support/dialect.lua makes of `//`, of
-- operators on bits and of `for`, which is not compiled.

local files = {
  -- mixed numbers, and what has integers of 64 bits throughout
  ["kernel_mixed"] = true, ["kernel_random"] = true, ["random_cells"] = true,
  ["random_loops"] = true, ["random_threads"] = true,
  ["random_model"] = true, ["random_observers"] = true,
  -- live scripts of these specs are written in Lua 5.4
  ["live_observers"] = true,
  -- programs and pages written in Lua 5.4, run by themselves
  ["golden"] = true, ["live_survivors"] = true, ["examples"] = true,
  ["live_demo"] = true, ["module"] = true, ["picture"] = true, ["recipes"] = true,
  ["pages"] = true, ["survivors"] = true,
  -- memory of LuaJIT itself that fails, which its compiler does not bear
  ["starved"] = true,
  -- the inspector
  ["inspector"] = true,
}

local names = {
  array = {
    "an array declared again keeps its values by index, converted as fields are, and *",
    "an array has as many elements as were declared, each zero at first",
  },
  chunks = {
    "query:chunks gives what the query names only",
    "query:chunks reads and writes the bits of u64",
  },
  component = {
    "a field's default C23 of \"i64 = 9223372036854775807\" is 9.2233720368548e+18",
    "a field's default C23 of \"u64 = *\" is -2",
    "a field's default C23 of \"u64 = 9223372036854775807\" is 9.2233720368548e+18",
    "a field's default C23 of \"u64[2] = -1\" is table: *",
    "world:component takes hints beside a field",
    "world:describe(name) C5 C42 lists the declared fields with type, default, offset and size",
  },
  counters = {
    "ecs.json gives entities back: the digest of decode(encode(world)) is the world's",
    "what systems count are rows that a compiled system left to Lua, in the last run and *",
  },
  describe = {
    "world:describe() lists systems in running order with phase, order, tier and timings (C46)",
  },
  each = {
    "a view has pairs in the order of the fields",
    "a view prints what it shows",
    "a view reads and writes every type",
    "a view takes a float with an integer value for an integer",
    "query:each(fn, dt) gives dt as a float, 0.0 when there is none",
    "world:res gives a view of the one value",
  },
  error = {
    "an error in a row names the entity, whether the function is compiled or not",
    "an error in a system has the function's own traceback when a kernel left the row to it",
    "an error in a system is out of memory when Lua says so, which a handler hears once, *",
    "an error in a system reaches the caller of update with the system's name and a traceback",
  },
  error_kinds = {
    "a codec that has no memory is tried once more, when the garbage is gone",
    "a codec that has no memory then either is a memory error, which names no file",
    "an object that a callback raises is replaced by what a closing variable raises after it",
    "live scripts let poll raise that there is no memory, and read on with the next one",
    "native.try gives what was raised as it is, and no kind of most errors",
    "native.try knows that there was not enough memory",
  },
  event = {
    "a query over events follows paths through their entity fields",
    "a system over events is given each once, in order, those that it emits itself at *",
  },
  index = {
    "a view of an index is read-only, and shows its loop's row until that ends",
    "a view of an index is stale behind a loop that is left early, or by an error",
  },
  index_compiled = {
    "a key function that is compiled is left to Lua where it gives something else than *",
    "a key function that is compiled raises what Lua raises where a row fails, and finds *",
  },
  index_keys = {
    "a key that is a function is refused where it is seen to write, or to give commands",
    "an index by hash takes fields of every type but any",
    "an index by maybe takes fields of every type but any",
    "an index in order compares integers and floats as Lua does",
  },
  kernel = {
    "a function of more constants than an instruction can name has each of them",
    "arithmetic means what Lua means by it of NaN, infinities, zeros and the ends of the *",
    "arithmetic takes a u64 for the integer with its bits",
  },
  kernel_arrays = {
    "a table in a kernel is refused with a reason where it holds what kernels do not take",
  },
  kernel_born = { "the id of a spawned entity is compared with ids" },
  kernel_bytecode = { "the bytecode of a function has integers and floats of all sizes" },
  kernel_cells = {
    "a script cell is its closure's own, or shared by two closures",
    "elements of tables that a kernel writes by a variable are numbers by index, *",
  },
  kernel_errors = {
    "a row that only Lua can do costs the call of that row, up to 16 or a sixteenth of *",
    "a row that only Lua can do is done by Lua for some runs at once where there are *",
    "an error in a kernel is a division by zero, which names the entity",
  },
  kernel_events = {
    "a kernel over events leaves an event to Lua in which something does not fit, and *",
  },
  kernel_extremes = {
    "the least and the greatest are told with the first entity that has them, in every tier",
  },
  kernel_fields = {
    "a long array field in a kernel is gone through by ipairs",
    "an array field in a kernel is gone through by ipairs",
  },
  kernel_for = {
    "a for loop over a query stays Lua where a program cannot do it",
    "a loop over a query within a function of rows is refused where a view would show *",
    "a loop over a query within a function of rows shows and changes other rows",
  },
  kernel_left = {
    "why rows are left to Lua is told at the line of the script that calls a function *",
    "why rows are left to Lua is told by what the row lacks",
    "a row that comes to what only Lua does is left to it inside of loops, with the rounds *",
    "behind rows that are left to Lua kernels do what plain Lua does, whatever the query *",
  },
  kernel_lists = {
    "a function that a function creates is called, with the locals around it",
    "a list that a function makes holds integers, ids, booleans and enums, and is added *",
    "a list that a function makes holds records, which are the same wherever they are",
    "a list that a function makes is changed by table.insert and table.remove anywhere",
    "a list that a function makes is sorted as Lua sorts it, equal elements included",
  },
  kernel_loops = {
    "a loop in which integers meet floats leaves to Lua rows in which a float would have *",
    "a loop of a function whose result is used is none where its body never comes to its end",
    "a loop of a function whose result is used raises what Lua raises behind too many rounds",
    "a loop over what ipairs gives *",
    "a numeric for of the row's own ends at the last integer, and divides without a sign",
    "a numeric for of the row's own is Lua's where its step is zero",
  },
  kernel_maybe = {
    "what may be nil in a kernel gives its row to Lua where it is used otherwise",
    "what may be nil in a kernel may be used on the way to a result, as Lua uses nil",
  },
  kernel_meaning = {
    "a line is named in functions of any length, when they are refused and when a row fails",
    "a loop in a kernel floors a limit that is a float, or clips it, as Lua does",
    "a loop in a kernel has as many rounds as Lua counts, whatever its bounds",
    "every function of math gives *",
  },
  kernel_neighbours = {
    "a loop over those with a key is Lua's where an integer that may be a float as well *",
    "a loop over those with a key is found by an enum, and by a name out of a table",
    "a loop over those with a key is found by integers, floats, references and truths",
  },
  kernel_notes = {
    "an array that a kernel writes to takes steps from what it is by then, and may be *",
  },
  kernel_partners = {
    "a loop over who is tied goes through children, sources and targets in their order",
  },
  kernel_reach = {
    "another entity in a kernel raises in filters, too",
    "another entity in a kernel has the field that a name says, written or not, of one type *",
  },
  kernel_reasons = {
    "reasons of kernels are as many as there are faults in a function *",
  },
  kernel_records = {
    "a table of tables in a kernel (C26) has lists of several lengths",
    "a table of tables in a kernel (C26) is kept in a local that takes several of them",
    "a table of tables in a kernel (C26) is listed by what is copied of it",
  },
  kernel_pairs = { "pairs with a table from outside in a kernel may be left early" },
  kernel_refused = {
    "a function that cannot be compiled because loop over a list with ipairs*",
    "a function that cannot be compiled because C function that is not a math function, "
      .. "'string.len': *",
    "a function that cannot be compiled because an iterator other than: local f, t = *",
    "a function that cannot be compiled because calls math.fmod with a number that is an *",
    "a function that cannot be compiled because calls math.type with a number: local *",
    "a function that cannot be compiled because closed: local f <close> = nil",
    "a function that cannot be compiled because counts from a number that is an integer: *",
    "a function that cannot be compiled because does not create: go over a list with *",
    "a function that cannot be compiled because it calls ipairs with something that is *",
    "a function that cannot be compiled because math.type with a value: a.x = *",
    "a function that cannot be compiled because pairs with a table that it does not *",
    "a function that cannot be compiled because to a string: a.x = math.type(a.x)",
    "a function that cannot be compiled because has the parameter '...': a.x, a.y = *",
    "a function that cannot be compiled because with a float, for which the result may *",
    "a function that cannot be compiled because write the integer as a float: a.x = *",
  },
  kernel_rows = {
    "a kernel that runs again may fail in a later run",
    "a kernel that runs again takes the entities of tables that have grown",
  },
  kernel_spawns = {
    "a kernel that spawns gives values by their positions and by names, not one by both",
    "a kernel that spawns says what it gives, sets and takes by commands",
  },
  kernel_texts = {
    "a string field in a kernel is chosen beside strings of the function, of tables and of enums",
    "a string field in a kernel is held by lists and is a key of tables that the function creates",
    "a string field in a kernel, as a text, is asked so by another length and another *",
    "methods of strings in a kernel may be those of a script",
  },
  kernel_threads = { "kernels on threads leave *" },
  kernel_toggles = {
    "a kernel over rows of which some are off sees what is on behind a row that Lua *",
  },
  kernel_totals = {
    "a total over terms that are decided row by row fails over what has changed in the *",
  },
  kernel_tying = {
    "a function that ties entities raises as Lua does, and does what the rows before have done",
  },
  kernel_whole = {
    "random whole functions do the same when memory ran out for a moment *",
    "random whole functions do what plain Lua does *",
  },
  live_checks = { "registration knows results that nothing takes" },
  live_registered = {
    "live scripts that are refused are named when what they raise names no place",
  },
  live_saving = {
    "files that are cut, emptied, replaced, removed and put back between polls lose no *",
    "files that are cut, emptied, replaced, removed and put back between polls lose none *",
  },
  locale = {
    "a number in a text has a point, in a locale with a comma, too, where texts have *",
  },
  loop_ending = {
    "a loop over query:chunks can be left by a coroutine that dies, and a collection",
    "a loop over query:chunks can be left by a coroutine that is dropped",
    "a loop over query:chunks can be left by an error",
    "a loop over query:chunks can be left by an iterator that is dropped",
    "a loop over query:chunks can be left by coroutine.close",
    "a loop over query:chunks can be left by goto",
    "a loop over query:chunks can be left by several loops that end out of order",
    "a loop over query:each can be left by a coroutine that dies, and a collection",
    "a loop over query:each can be left by a coroutine that is dropped",
    "a loop over query:each can be left by an error",
    "a loop over query:each can be left by an iterator that is dropped",
    "a loop over query:each can be left by coroutine.close",
    "a loop over query:each can be left by goto",
    "a loop over query:each can be left by several loops that end out of order",
    "a loop that something else has ended over where and *",
  },
  luajit = {
    "a number of LuaJIT explains that kernels are off",
    "a number of LuaJIT is a seed up to 2^53",
    "a number of LuaJIT raises with entity and field where a cell holds more than 2^53",
  },
  map = { "query:map gives values, dt as a float, and the entity" },
  migrate = {
    "a component declared with other fields takes a u64 for what it is worth without a sign",
    "a resource whose component changes keeps its value, and its view reads the new fields",
  },
  mistakes = {
    "a loop that is taken for a list says that it is a loop, how to go through it and *",
    "a mistake is told with what to write in queries",
    "a mistake says what to do about functions that are to be compiled",
    "a mistake that is no error is warned of once: *",
  },
  observer = {
    "world:observer add, set and remove watch the first term, enter and exit the whole query",
    "world:observer hears of removing and adding again in one round as set, if values *",
    "world:observer hears of what is done to many at once",
    "world:observer is called for all that die by others' deaths, in that order",
    "world:observer is called for what comes to match and ceases to, by what is done *",
    "world:observer raises what a scope could not apply once it was told of the rest",
    "world:observer sees sparse components",
    "world:observer sees what a scope has changed when the outermost one ends, an entity once",
  },
  observer_life = {
    "an observer is told of loops that are left, and of loops that others end",
    "an observer keeps its switch in images and snapshots, as systems do",
  },
  phase = { "dt is always a float" },
  portable = {
    "ecs.math gives floats, also of integers",
    "ecs.math has one digest everywhere: *",
    "ecs.math is next to what the C library gives",
    "explain marks functions that use the C library, and says what to write",
  },
  prefab = { "a prefab of a world that loads an image counts as declared again" },
  random_beside = {
    "random phases of systems (C33, C47) do the same where memory ran out *",
  },
  random_rounds = {
    "rounds of observers are what compares each entity before and after (C87)",
  },
  save = {
    "a saved world ends loops that are left open, and is an error in systems, forms and defer",
    "a saved world gives the next spawn the id that it would have had",
    "a saved world goes on as one that never stopped",
    "a saved world is whole again in another one, byte for byte (C51)",
    "a saved world keeps a range of ids that is used up",
    "a saved world keeps queries, systems and views of resources",
    "a saved world loads into components that have moved on, or is refused as a whole",
    "an image of format 1 is refused by its number when it is another format",
  },
  system = { "world:system runs its run once, with world, dt and query" },
  system_cells = {
    "a system over an array has no entity that commands or random numbers could be about",
  },
  value = {
    "a value entity takes living ids and ecs.null, and reads as that once its target is dead",
    "a value i64 takes its range and nothing beyond",
    "a value u64 is the integer with its bits",
    "a value u64 takes its range and nothing beyond",
  },
  where = {
    "q:sum, q:min, q:max add integers as integers, wrapping around, and floats as floats",
    "q:sum, q:min, q:max take integers of some tables and floats of others",
    "q:where gives its function views, then the entity, and no dt",
    "world:explain of a function says when it fell back to Lua, and why",
  },
  where_query = {
    "q:where(fn) is a query (C26) fails in the row in which its function fails, and has *",
    "q:where(fn) is a query (C26) sums, and finds the least and the greatest",
  },
  world = {
    "a world is a world only where a world is expected",
    "a world says of a method that is called by a dot to write a colon",
  },
}

-- Wrong arguments: messages of LuaJIT lack the names of functions that are called at the end of
-- another.
local HOSTILE = "^C68: hostile arguments get a clean error from"

-- The one function of math that is refused.
local KEPT = "with its arguments in both orders: math.randomseed"

local function is_listed(list, name)
  for _, listed in ipairs(list) do
    local start = listed:match "^(.*)%*$"
    if name == listed or start and name:sub(1, #start) == start then return true end
  end
  return false
end

---@param path string As "world/world".
---@param name string The test's full name.
return function(path, name)
  local plain = name:gsub("0x%x+", "*")   -- addresses
  local file = path:match "[^/]+$"
  return files[file] or name:find(HOSTILE)
    or not name:find(KEPT, 1, true) and is_listed(names[file] or {}, plain)
end
