-- Tests that are skipped on LuaJIT: whole files, by why, and others by their full names. Most of
-- those are about integers beyond 2^53, numbers as text ("1.0"), and what Lua itself says; those of
-- kernels, mostly about what spec/support/dialect.lua makes of `//`, of operators on bits and of
-- `for`, which is not compiled.

local files = {
  -- mixed numbers, and what has integers of 64 bits throughout
  ["kernel_mixed"] = true, ["kernel_random"] = true, ["random_cells"] = true,
  ["random_loops"] = true, ["random_reach"] = true, ["random_threads"] = true,
  ["random_model"] = true, ["random_live"] = true, ["random_observers"] = true,
  -- live scripts of these specs are written in Lua 5.4
  ["live_observers"] = true, ["live_session"] = true,
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
  ["array"] = {
    ["an array declared again keeps its values by index, converted as fields are, and "
      .. "what is new is zero"] = true,
    ["an array has as many elements as were declared, each zero at first"] = true,
  },
  ["chunks"] = {
    ["query:chunks gives what the query names only"] = true,
    ["query:chunks reads and writes the bits of u64"] = true,
  },
  ["component"] = {
    ["a field's default C23 of \"i64 = 9223372036854775807\" is 9.2233720368548e+18"] = true,
    ["a field's default C23 of \"u64 = *\" is -2"] = true,
    ["a field's default C23 of \"u64 = 9223372036854775807\" is 9.2233720368548e+18"] = true,
    ["a field's default C23 of \"u64[2] = -1\" is table: *"] = true,
    ["world:component takes hints beside a field"] = true,
    ["world:describe(name) C5 C42 lists the declared fields with type, default, offset "
      .. "and size"] = true,
  },
  ["counters"] = {
    ["ecs.json gives entities back: the digest of decode(encode(world)) is the world's"] = true,
    ["what systems count are rows that a compiled system left to Lua, in the last run and "
      .. "in all"] = true,
  },
  ["describe"] = {
    ["world:describe() lists systems in running order with phase, order, tier and timings "
      .. "(C46)"] = true,
  },
  ["each"] = {
    ["a view has pairs in the order of the fields"] = true,
    ["a view prints what it shows"] = true,
    ["a view reads and writes every type"] = true,
    ["a view takes a float with an integer value for an integer"] = true,
    ["query:each(fn, dt) gives dt as a float, 0.0 when there is none"] = true,
    ["world:res gives a view of the one value"] = true,
  },
  ["error"] = {
    ["an error in a row names the entity, whether the function is compiled or not"] = true,
    ["an error in a system has the function's own traceback when a kernel left the row to "
      .. "it"] = true,
    ["an error in a system is out of memory when Lua says so, which a handler hears once, "
      .. "with the name"] = true,
    ["an error in a system reaches the caller of update with the system's name and a "
      .. "traceback"] = true,
  },
  ["error_kinds"] = {
    ["a codec that has no memory is tried once more, when the garbage is gone"] = true,
    ["a codec that has no memory then either is a memory error, which names no file"] = true,
    ["an object that a callback raises is replaced by what a closing variable raises "
      .. "after it"] = true,
    ["live scripts let poll raise that there is no memory, and read on with the next one"] = true,
    ["native.try gives what was raised as it is, and no kind of most errors"] = true,
    ["native.try knows that there was not enough memory"] = true,
  },
  ["event"] = {
    ["a query over events follows paths through their entity fields"] = true,
    ["a system over events is given each once, in order, those that it emits itself at "
      .. "its next run"] = true,
  },
  ["index"] = {
    ["a view of an index is read only, and shows its loop's row until that ends"] = true,
    ["a view of an index is stale behind a loop that is left early, or by an error"] = true,
  },
  ["index_compiled"] = {
    ["a key function that is compiled is left to Lua where it gives something else than "
      .. "one kind of number"] = true,
    ["a key function that is compiled raises what Lua raises where a row fails, and finds "
      .. "all when that is mended"] = true,
  },
  ["index_keys"] = {
    ["a key that is a function is refused where it is seen to write, or to give commands"] = true,
    ["an index by hash takes fields of every type but any"] = true,
    ["an index by maybe takes fields of every type but any"] = true,
    ["an index in order compares integers and floats as Lua does"] = true,
  },
  ["kernel"] = {
    ["a function of more constants than an instruction can name has each of them"] = true,
    ["arithmetic compares integers with floats by their exact values"] = true,
    ["arithmetic divides and takes remainders of negative numbers as Lua does"] = true,
    ["arithmetic means what Lua means by it of NaN, infinities, zeros and the ends of the "
      .. "integers"] = true,
    ["arithmetic takes a u64 for the integer with its bits"] = true,
    ["arithmetic wraps around and shifts as Lua does"] = true,
  },
  ["kernel_arrays"] = {
    ["a table in a kernel is refused with a reason where it holds what kernels do not take"] = true,
  },
  ["kernel_born"] = {
    ["the id of a spawned entity is compared with ids"] = true,
  },
  ["kernel_bytecode"] = {
    ["the bytecode of a function has integers and floats of all sizes"] = true,
  },
  ["kernel_cells"] = {
    ["a script cell is its closure's own, or shared by two closures"] = true,
    ["elements of tables that a kernel writes by a variable are numbers by index, "
      .. "integers and floats in turn"] = true,
    ["elements of tables that a kernel writes by a variable are written by a map as well, "
      .. "in a loop of all rows"] = true,
  },
  ["kernel_errors"] = {
    ["a row that only Lua can do costs the call of that row, up to 16 or a sixteenth of the rows "
      .. "so far"] = true,
    ["a row that only Lua can do is done by Lua for some runs at once where there are many of "
      .. "them run after run"] = true,
    ["an error in a kernel is a division by zero, which names the entity"] = true,
  },
  ["kernel_events"] = {
    ["a kernel over events leaves an event to Lua in which something does not fit, and "
      .. "those behind it"] = true,
  },
  ["kernel_extremes"] = {
    ["the least and the greatest are told with the first entity that has them, in every "
      .. "tier"] = true,
  },
  ["kernel_fields"] = {
    ["a long array field in a kernel is gone through by ipairs"] = true,
    ["an array field in a kernel is gone through by ipairs"] = true,
  },
  ["kernel_for"] = {
    ["a for loop over a query stays Lua where a program cannot do it"] = true,
    ["a loop over a query within a function of rows is refused where a view would show another "
      .. "row"] = true,
    ["a loop over a query within a function of rows shows and changes other rows"] = true,
  },
  ["kernel_left"] = {
    ["behind rows that are left to Lua kernels do what plain Lua does, whatever the query "
      .. "goes by"] = true,
  },
  ["kernel_loops"] = {
    ["a loop of a function whose result is used is none where its body never comes to its "
      .. "end"] = true,
    ["a loop in which integers meet floats leaves to Lua rows in which a float would have "
      .. "to be rounded"] = true,
    ["a loop of a function whose result is used raises what Lua raises behind too many "
      .. "rounds"] = true,
    ["a loop over what ipairs gives does one body behind the other for a table that the "
      .. "function makes"] = true,
    ["a loop over what ipairs gives ends where there is nil, and goes on at false"] = true,
    ["a loop over what ipairs gives goes through a table outside, whose elements may be "
      .. "tables"] = true,
    ["a loop over what ipairs gives goes through an array of the world, and sees what it "
      .. "writes to it"] = true,
    ["a loop over what ipairs gives goes through as much of the table as there is when "
      .. "the run begins"] = true,
    ["a loop over what ipairs gives keeps what is the best so far, in a loop that goes on "
      .. "as long as rows like"] = true,
    ["a numeric for of the row's own ends at the last integer, and divides without a sign"] = true,
    ["a numeric for of the row's own is Lua's where its step is zero"] = true,
  },
  ["kernel_maybe"] = {
    ["what may be nil in a kernel gives its row to Lua where it is used otherwise"] = true,
    ["what may be nil in a kernel may be used on the way to a result, as Lua uses nil"] = true,
  },
  ["kernel_meaning"] = {
    ["a line is named in functions of any length, when they are refused and when a row "
      .. "fails"] = true,
    ["a loop in a kernel floors a limit that is a float, or clips it, as Lua does"] = true,
    ["a loop in a kernel has as many rounds as Lua counts, whatever its bounds"] = true,
    ["every function of math gives both results where it has two"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.acos"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.asin"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.atan"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.cos"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.exp"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.log"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.log10"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.log2"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.mod"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.pow"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.sin"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: ecs.math.tan"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.abs"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.acos"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.asin"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.atan"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.atan2"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.ceil"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.cos"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.cosh"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.deg"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.exp"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.floor"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.fmod"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.frexp"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.ldexp"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.log"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.log10"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.max"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.min"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.modf"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.pow"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.rad"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.random"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.sin"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.sinh"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.sqrt"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.tan"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.tanh"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.tointeger"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.type"] = true,
    ["every function of math gives what it gives in Lua, with its arguments in both "
      .. "orders: math.ult"] = true,
  },
  ["kernel_neighbours"] = {
    ["a loop over those with a key is Lua's where an integer that may be a float as well "
      .. "is too large for one"] = true,
    ["a loop over those with a key is found by an enum, and by a name out of a table"] = true,
    ["a loop over those with a key is found by integers, floats, references and truths"] = true,
    ["a loop over those within a reach is left by break, return and goto"] = true,
    ["a loop over those within a reach stands in another one, whose rows it depends on"] = true,
  },
  ["kernel_notes"] = {
    ["an array that a kernel writes to takes steps from what it is by then, and may be "
      .. "read otherwise"] = true,
  },
  ["kernel_partners"] = {
    ["a loop over who is tied goes through children, sources and targets in their order"] = true,
  },
  ["kernel_reach"] = {
    ["another entity in a kernel raises in filters, too"] = true,
  },
  ["kernel_lists"] = {
    ["a function that a function creates is called, with the locals around it"] = true,
    ["a list that a function makes holds integers, ids, booleans and enums, and is added to by "
      .. "table.insert"] = true,
    ["a list that a function makes holds records, which are the same wherever they are"] = true,
    ["a list that a function makes is changed by table.insert and table.remove anywhere"] = true,
    ["a list that a function makes is sorted as Lua sorts it, equal elements included"] = true,
  },
  ["kernel_reasons"] = {
    ["reasons of kernels are as many as there are faults in a function (40)"] = true,
  },
  ["kernel_records"] = {
    ["a table of tables in a kernel (C26) has lists of several lengths"] = true,
    ["a table of tables in a kernel (C26) is kept in a local that takes several of them"] = true,
    ["a table of tables in a kernel (C26) is listed by what is copied of it"] = true,
  },
  ["kernel_refused"] = {
    ["a function that cannot be compiled because pairs with a table that it does not create: "
      .. "for k, v in pairs(outer) do a.x = v end"] = true,
    ["a function that cannot be compiled because does not create: go over a list with ipairs: "
      .. "for i, v in pairs(outer) do a.x = v end"] = true,
    ["a function that cannot be compiled because C function that is not a math function, "
      .. "'string.len': a.x = string.len('abc')"] = true,
    ["a function that cannot be compiled because an iterator other than: local f, t = "
      .. "ipairs(outer) for i in f, t, 1 do a.x = i end"] = true,
    ["a function that cannot be compiled because calls math.fmod with a number that is an "
      .. "integer: a.x = math.fmod(math.max(a.x, 0), 2)"] = true,
    ["a function that cannot be compiled because calls math.type with a number: local "
      .. "same = math.type(math.max(a.x, 0)) == 'float'"] = true,
    ["a function that cannot be compiled because closed: local f <close> = nil"] = true,
    ["a function that cannot be compiled because counts from a number that is an integer: "
      .. "for i = math.max(a.x, 0), 3 do a.y = i end"] = true,
    ["a function that cannot be compiled because it calls ipairs with something that is "
      .. "neither: for i, v in ipairs(a.x) do a.x = v end"] = true,
    ["a function that cannot be compiled because math.type with a value: a.x = "
      .. "math.type() and 1 or 2"] = true,
    ["a function that cannot be compiled because to a string: a.x = math.type(a.x)"] = true,
    ["a function that cannot be compiled because variable number of arguments: a.x, a.y = "
      .. "spread(...)"] = true,
    ["a function that cannot be compiled because with a float, for which the result may "
      .. "be: local x = math.tointeger(a.x)"] = true,
    ["a function that cannot be compiled because with keys that are not names: local t = "
      .. "{} t[1] = 1"] = true,
    ["a function that cannot be compiled because write the integer as a float: a.x = "
      .. "math.fmod(math.modf(a.x), 3)"] = true,
  },
  ["kernel_rows"] = {
    ["a kernel that runs again may fail in a later run"] = true,
    ["a kernel that runs again takes the entities of tables that have grown"] = true,
  },
  ["kernel_spawns"] = {
    ["a kernel that spawns gives values by their positions, and by names what both say"] = true,
    ["a kernel that spawns says what it gives, sets and takes by commands"] = true,
  },
  ["kernel_texts"] = {
    ["a string field in a kernel, as a text, is asked so by another length and another "
      .. "text from outside in each run"] = true,
    ["methods of strings in a kernel may be those of a script"] = true,
  },
  ["kernel_threads"] = {
    ["kernels on threads leave rows to Lua in every form: 1024, 1025"] = true,
    ["kernels on threads leave rows to Lua in every form: 2, 90, 1500, 2049, 4999"] = true,
    ["kernels on threads leave rows to Lua in every form: 3333, 4000, 5000"] = true,
    ["kernels on threads leave rows to Lua in every form: 7"] = true,
    ["kernels on threads leave the rows behind one that fails as they were: 0"] = true,
    ["kernels on threads leave the rows behind one that fails as they were: 1023"] = true,
    ["kernels on threads leave the rows behind one that fails as they were: 1024"] = true,
    ["kernels on threads leave the rows behind one that fails as they were: 3333"] = true,
    ["kernels on threads leave the rows behind one that fails as they were: 4999"] = true,
    ["kernels on threads leave the rows behind one that fails as they were: 63"] = true,
    ["kernels on threads leave the rows behind one that fails as they were: 64"] = true,
  },
  ["kernel_toggles"] = {
    ["a kernel over rows of which some are off sees what is on behind a row that Lua does, "
      .. "wherever that is in its table"] = true,
  },
  ["kernel_totals"] = {
    ["a total over terms that are decided row by row fails over what has changed in the "
      .. "row in which plain Lua does"] = true,
  },
  ["kernel_tying"] = {
    ["a function that ties entities raises as Lua does, and does what the rows before "
      .. "have done"] = true,
  },
  ["kernel_whole"] = {
    ["random whole functions do the same when memory ran out for a moment (4)"] = true,
    ["random whole functions do what plain Lua does (25)"] = true,
  },
  ["live_checks"] = {
    ["registration knows results that nothing takes"] = true,
  },
  ["live_registered"] = {
    ["live scripts that are refused are named when what they raise names no place"] = true,
  },
  ["live_saving"] = {
    ["files that are cut, emptied, replaced, removed and put back between polls lose no "
      .. "value of a component, at every byte, and no version is skipped"] = true,
    ["files that are cut, emptied, replaced, removed and put back between polls lose none "
      .. "in any order, on 5 seeds"] = true,
  },
  ["locale"] = {
    ["a number in a text has a point, in a locale with a comma, too, where texts have "
      .. "another order"] = true,
  },
  ["loop_ending"] = {
    ["a loop over query:chunks can be left by a coroutine that dies, and a collection"] = true,
    ["a loop over query:chunks can be left by a coroutine that is dropped"] = true,
    ["a loop over query:chunks can be left by an error"] = true,
    ["a loop over query:chunks can be left by an iterator that is dropped"] = true,
    ["a loop over query:chunks can be left by coroutine.close"] = true,
    ["a loop over query:chunks can be left by goto"] = true,
    ["a loop over query:chunks can be left by several loops that end out of order"] = true,
    ["a loop over query:each can be left by a coroutine that dies, and a collection"] = true,
    ["a loop over query:each can be left by a coroutine that is dropped"] = true,
    ["a loop over query:each can be left by an error"] = true,
    ["a loop over query:each can be left by an iterator that is dropped"] = true,
    ["a loop over query:each can be left by coroutine.close"] = true,
    ["a loop over query:each can be left by goto"] = true,
    ["a loop over query:each can be left by several loops that end out of order"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "commit"] = true,
    ["a loop that something else has ended over where and chunks is given back behind load"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "restore"] = true,
    ["a loop that something else has ended over where and chunks is given back behind run"] = true,
    ["a loop that something else has ended over where and chunks is given back behind the "
      .. "end of a defer"] = true,
    ["a loop that something else has ended over where and chunks is given back behind the "
      .. "end of a system"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "undeclaring its component"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "update"] = true,
    ["a loop that something else has ended over where and each is given back behind commit"] = true,
    ["a loop that something else has ended over where and each is given back behind load"] = true,
    ["a loop that something else has ended over where and each is given back behind "
      .. "restore"] = true,
    ["a loop that something else has ended over where and each is given back behind run"] = true,
    ["a loop that something else has ended over where and each is given back behind the "
      .. "end of a defer"] = true,
    ["a loop that something else has ended over where and each is given back behind the "
      .. "end of a system"] = true,
    ["a loop that something else has ended over where and each is given back behind "
      .. "undeclaring its component"] = true,
    ["a loop that something else has ended over where and each is given back behind update"] = true,
  },
  ["luajit"] = {
    ["a number of LuaJIT explains that kernels are off"] = true,
    ["a number of LuaJIT is a seed up to 2^53"] = true,
    ["a number of LuaJIT raises with entity and field where a cell holds more than 2^53"] = true,
  },
  ["map"] = {
    ["query:map gives values, dt as a float, and the entity"] = true,
  },
  ["migrate"] = {
    ["a component declared with other fields takes a u64 for what it is worth without a "
      .. "sign"] = true,
    ["a resource whose component changes keeps its value, and its view reads the new "
      .. "fields"] = true,
  },
  ["mistakes"] = {
    ["a loop that is taken for a list says that it is a loop, how to go through it and "
      .. "how to count"] = true,
    ["a mistake is told with what to write in queries"] = true,
    ["a mistake says what to do about functions that are to be compiled"] = true,
    ["a mistake that is no error is warned of once: an observer that takes its parameters "
      .. "for others"] = true,
    ["a mistake that is no error is warned of once: values that only views write, of "
      .. "which no observer is told"] = true,
    ["a mistake that is no error is warned of once: what a prefab shares is asked of what "
      .. "is made of it"] = true,
  },
  ["observer"] = {
    ["world:observer add, set and remove watch the first term, enter and exit the whole "
      .. "query"] = true,
    ["world:observer hears of removing and adding again in one round as set, if values "
      .. "were given"] = true,
    ["world:observer hears of what is done to many at once"] = true,
    ["world:observer is called for all that die by others' deaths, in that order"] = true,
    ["world:observer is called for what comes to match and ceases to, by what is done "
      .. "outside of scopes (C87)"] = true,
    ["world:observer raises what a scope could not apply once it was told of the rest"] = true,
    ["world:observer sees sparse components"] = true,
    ["world:observer sees what a scope has changed when the outermost one ends, an entity "
      .. "once"] = true,
  },
  ["observer_life"] = {
    ["an observer is told of loops that are left, and of loops that others end"] = true,
    ["an observer keeps its switch in images and snapshots, as systems do"] = true,
  },
  ["phase"] = {
    ["dt is always a float"] = true,
  },
  ["portable"] = {
    ["ecs.math gives floats, also of integers"] = true,
    ["ecs.math has one digest everywhere: acos"] = true,
    ["ecs.math has one digest everywhere: asin"] = true,
    ["ecs.math has one digest everywhere: atan"] = true,
    ["ecs.math has one digest everywhere: cos"] = true,
    ["ecs.math has one digest everywhere: exp"] = true,
    ["ecs.math has one digest everywhere: log"] = true,
    ["ecs.math has one digest everywhere: log10"] = true,
    ["ecs.math has one digest everywhere: log2"] = true,
    ["ecs.math has one digest everywhere: mod"] = true,
    ["ecs.math has one digest everywhere: pow"] = true,
    ["ecs.math has one digest everywhere: sin"] = true,
    ["ecs.math has one digest everywhere: tan"] = true,
    ["ecs.math is next to what the C library gives"] = true,
    ["explain marks functions that use the C library, and says what to write"] = true,
  },
  ["prefab"] = {
    ["a prefab of a world that loads an image counts as declared again"] = true,
  },
  ["random_beside"] = {
    ["random phases of systems (C33, C47) do the same where memory ran out for a moment "
      .. "(5)"] = true,
  },
  ["random_rounds"] = {
    ["rounds of observers are what compares each entity before and after (C87)"] = true,
  },
  ["save"] = {
    ["a damaged image is refused at every length, and the world is as it was"] = true,
    ["a damaged image is refused when any bit is flipped"] = true,
    ["a saved world ends loops that are left open, and is an error in systems, forms and "
      .. "defer"] = true,
    ["a saved world gives the next spawn the id that it would have had"] = true,
    ["a saved world goes on as one that never stopped"] = true,
    ["a saved world is whole again in another one, byte for byte (C51)"] = true,
    ["a saved world keeps a range of ids that is used up"] = true,
    ["a saved world keeps queries, systems and views of resources"] = true,
    ["a saved world loads into components that have moved on, or is refused as a whole"] = true,
    ["an image of format 1 is refused by its number when it is another format"] = true,
    ["an image with bytes behind it is refused, and the world is as it was"] = true,
  },
  ["system"] = {
    ["world:system runs its run once, with world, dt and query"] = true,
  },
  ["system_cells"] = {
    ["a system over an array has no entity that commands or random numbers could be about"] = true,
  },
  ["toggle"] = {
    ["random worlds give the same bytes with kernels and without"] = true,
  },
  ["value"] = {
    ["a value entity takes living ids and ecs.null, and reads as that once its target is "
      .. "dead"] = true,
    ["a value i64 takes its range and nothing beyond"] = true,
    ["a value u64 is the integer with its bits"] = true,
    ["a value u64 takes its range and nothing beyond"] = true,
  },
  ["where"] = {
    ["q:sum, q:min, q:max add integers as integers, wrapping around, and floats as floats"] = true,
    ["q:sum, q:min, q:max take integers of some tables and floats of others"] = true,
    ["q:where gives its function views, then the entity, and no dt"] = true,
    ["world:explain of a function says when it fell back to Lua, and why"] = true,
  },
  ["where_query"] = {
    ["q:where(fn) is a query (C26) fails in the row in which its function fails, and has "
      .. "done those before"] = true,
    ["q:where(fn) is a query (C26) sums, and finds the least and the greatest"] = true,
  },
  ["world"] = {
    ["a world is a world only where a world is expected"] = true,
    ["a world says of a method that is called by a dot to write a colon"] = true,
  },
}

-- Wrong arguments: messages of LuaJIT lack the names of functions that are called at the end of
-- another.
local HOSTILE = "^C68: hostile arguments get a clean error from"

---@param path string As "world/world".
---@param name string The test's full name.
return function(path, name)
  local plain = name:gsub("0x%x+", "*")   -- addresses
  local file = path:match "[^/]+$"
  return files[file] or names[file] and names[file][plain] or name:find(HOSTILE)
end
