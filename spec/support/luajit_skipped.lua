-- Tests that are skipped on LuaJIT: whole files, by why, and others by their full names. Most of
-- those are about integers beyond 2^53, numbers as text ("1.0"), kernels, and what Lua itself says.

local files = {
  -- what kernels do
  ["index_compiled"] = true, ["system_cells"] = true, ["system_run"] = true,
  ["random_model"] = true, ["random_live"] = true, ["random_terms"] = true,
  ["random_events"] = true, ["bodies_fight"] = true,
  -- what registration reads in bytecode
  ["live_checks"] = true,
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
  ["world"] = {
    ["a world says of a method that is called by a dot to write a colon"] = true,
    ["a world is a world only where a world is expected"] = true,
    ["the collector hears what worlds weigh, so that dropped ones are freed in time, "
      .. "incremental"] = true,
    ["the collector hears what worlds weigh, so that dropped ones are freed in time, "
      .. "generational"] = true,
  },
  ["array"] = {
    ["an array has as many elements as were declared, each zero at first"] = true,
    ["an array declared again keeps its values by index, converted as fields are, and "
      .. "what is new is zero"] = true,
  },
  ["component"] = {
    ["world:component takes hints beside a field"] = true,
    ["a field's default C23 of \"i64 = 9223372036854775807\" is 9.2233720368548e+18"] = true,
    ["a field's default C23 of \"u64 = *\" is -2"] = true,
    ["a field's default C23 of \"u64 = 9223372036854775807\" is 9.2233720368548e+18"] = true,
    ["a field's default C23 of \"u64[2] = -1\" is table: *"] = true,
    ["world:describe(name) C5 C42 lists the declared fields with type, default, "
      .. "offset and size"] = true,
  },
  ["event"] = {
    ["a query over events follows paths through their entity fields"] = true,
    ["functions over events are called row by row where they cannot be compiled"] = true,
    ["a system over events is given each once, in order, those that it emits itself "
      .. "at its next run"] = true,
  },
  ["locale"] = {
    ["a number in a text has a point, in a locale with a comma, too, where texts have "
      .. "another order"] = true,
  },
  ["value"] = {
    ["a value u64 takes its range and nothing beyond"] = true,
    ["a value i64 takes its range and nothing beyond"] = true,
    ["a value u64 is the integer with its bits"] = true,
    ["a value entity takes living ids and ecs.null, and reads as that once its target "
      .. "is dead"] = true,
  },
  ["nothing"] = {
    ["a function that is annotated without a result gives none: native.fields"] = true,
    ["a function that is annotated without a result gives none: World:set_text"] = true,
  },
  ["relation"] = {
    ["C74: a relation of several targets is added and removed in queries' functions, "
      .. "by pairs' ids, too"] = true,
    ["C72: an exclusive relation is read, and its target not written, by views, maps, "
      .. "chunks and kernels"] = true,
  },
  ["sparse"] = {
    ["a kernel C56 over sparse terms does what the plain function does, and is compiled"] = true,
  },
  ["query"] = {
    ["an optional tag is neither a view nor a field"] = true,
  },
  ["each"] = {
    ["query:each(fn, dt) gives dt as a float, 0.0 when there is none"] = true,
    ["a view reads and writes every type"] = true,
    ["a view takes a float with an integer value for an integer"] = true,
    ["a view has pairs in the order of the fields"] = true,
    ["a view prints what it shows"] = true,
    ["world:res gives a view of the one value"] = true,
  },
  ["map"] = {
    ["query:map gives values, dt as a float, and the entity"] = true,
  },
  ["chunks"] = {
    ["query:chunks reads and writes the bits of u64"] = true,
    ["query:chunks gives what the query names only"] = true,
  },
  ["loop_ending"] = {
    ["a loop over query:each can be left by goto"] = true,
    ["a loop over query:each can be left by an error"] = true,
    ["a loop over query:each can be left by coroutine.close"] = true,
    ["a loop over query:each can be left by a coroutine that is dropped"] = true,
    ["a loop over query:each can be left by a coroutine that dies, and a collection"] = true,
    ["a loop over query:each can be left by an iterator that is dropped"] = true,
    ["a loop over query:each can be left by several loops that end out of order"] = true,
    ["a loop over query:chunks can be left by goto"] = true,
    ["a loop over query:chunks can be left by an error"] = true,
    ["a loop over query:chunks can be left by coroutine.close"] = true,
    ["a loop over query:chunks can be left by a coroutine that is dropped"] = true,
    ["a loop over query:chunks can be left by a coroutine that dies, and a collection"] = true,
    ["a loop over query:chunks can be left by an iterator that is dropped"] = true,
    ["a loop over query:chunks can be left by several loops that end out of order"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "undeclaring its component"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "run"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "update"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "the end of a defer"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "the end of a system"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "restore"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "load"] = true,
    ["a loop that something else has ended over where and chunks is given back behind "
      .. "commit"] = true,
    ["a loop that something else has ended over where and each is given back behind "
      .. "undeclaring its component"] = true,
    ["a loop that something else has ended over where and each is given back behind run"] = true,
    ["a loop that something else has ended over where and each is given back behind "
      .. "update"] = true,
    ["a loop that something else has ended over where and each is given back behind "
      .. "the end of a defer"] = true,
    ["a loop that something else has ended over where and each is given back behind "
      .. "the end of a system"] = true,
    ["a loop that something else has ended over where and each is given back behind "
      .. "restore"] = true,
    ["a loop that something else has ended over where and each is given back behind load"] = true,
    ["a loop that something else has ended over where and each is given back behind "
      .. "commit"] = true,
  },
  ["index"] = {
    ["a view of an index is read only, and shows its loop's row until that ends"] = true,
    ["a view of an index is stale behind a loop that is left early, or by an error"] = true,
    ["an index inside a system is compiled where kernels know what looks into it; "
      .. "what is not says so"] = true,
  },
  ["index_fresh"] = {
    ["an index of what is tracked sees what a kernel, a view and a chunk have written"] = true,
  },
  ["index_keys"] = {
    ["an index by hash takes fields of every type but any"] = true,
    ["an index by maybe takes fields of every type but any"] = true,
    ["an index in order compares integers and floats as Lua does"] = true,
    ["a key that is a function is refused where it is seen to write, or to give commands"] = true,
  },
  ["prefab"] = {
    ["what is made of a prefab finds what is shared along IsA for whoever an event "
      .. "names, in kernels, too"] = true,
    ["a prefab of a world that loads an image counts as declared again"] = true,
  },
  ["prefab_children"] = {
    ["C87: what is no part of a prefab is spawned in scopes, and tied to nobody"] = true,
  },
  ["prefab_unseen"] = {
    ["C87: prefabs are no sources for the loops of kernels (threads)"] = true,
    ["C87: prefabs are no sources for the loops of kernels (kernels)"] = true,
    ["C87: prefabs are honoured where their ids are (threads)"] = true,
    ["C87: prefabs are honoured where their ids are (kernels)"] = true,
    ["C87: prefabs are the end of paths, as entities without the component (threads)"] = true,
    ["C87: prefabs are the end of paths, as entities without the component (kernels)"] = true,
  },
  ["system"] = {
    ["world:system runs its run once, with world, dt and query"] = true,
    ["world:system compiles with compile = true, or says why it cannot"] = true,
    ["world:explain says that a script's system runs as plain Lua, and what it reads "
      .. "and writes"] = true,
    ["world:explain says that kernels are off where they are"] = true,
  },
  ["phase"] = {
    ["dt is always a float"] = true,
  },
  ["error"] = {
    ["an error in a row names the entity, whether the function is compiled or not"] = true,
    ["an error in a system reaches the caller of update with the system's name and a "
      .. "traceback"] = true,
    ["an error in a system has the function's own traceback when a kernel left the "
      .. "row to it"] = true,
    ["an error in a system is out of memory when Lua says so, which a handler hears "
      .. "once, with the name"] = true,
  },
  ["counters"] = {
    ["what systems count are the rows that the function was called for, compiled or not"] = true,
    ["what systems count are rows that a compiled system left to Lua, in the last run "
      .. "and in all"] = true,
  },
  ["describe"] = {
    ["world:describe() lists systems in running order with phase, order, tier and "
      .. "timings (C46)"] = true,
  },
  ["observer"] = {
    ["world:observer is called for what comes to match and ceases to, by what is done "
      .. "outside of scopes (C87)"] = true,
    ["world:observer add, set and remove watch the first term, enter and exit the "
      .. "whole query"] = true,
    ["world:observer sees what a scope has changed when the outermost one ends, an "
      .. "entity once"] = true,
    ["world:observer hears of removing and adding again in one round as set, if "
      .. "values were given"] = true,
    ["world:observer sees sparse components"] = true,
    ["world:observer is called for all that die by others' deaths, in that order"] = true,
    ["world:observer hears of what is done to many at once"] = true,
    ["world:observer raises what a scope could not apply once it was told of the rest"] = true,
  },
  ["observer_life"] = {
    ["an observer keeps its switch in images and snapshots, as systems do"] = true,
    ["an observer is told of loops that are left, and of loops that others end"] = true,
  },
  ["observer_rows"] = {
    ["observers of rows that change together hear what they hear of changes one by "
      .. "one (C87)"] = true,
  },
  ["migrate"] = {
    ["a component declared with other fields takes a u64 for what it is worth without "
      .. "a sign"] = true,
    ["a resource whose component changes keeps its value, and its view reads the new "
      .. "fields"] = true,
  },
  ["save"] = {
    ["a saved world is whole again in another one, byte for byte (C51)"] = true,
    ["a saved world gives the next spawn the id that it would have had"] = true,
    ["a saved world goes on as one that never stopped"] = true,
    ["a saved world loads into components that have moved on, or is refused as a whole"] = true,
    ["a saved world keeps a range of ids that is used up"] = true,
    ["a saved world keeps queries, systems and views of resources"] = true,
    ["a saved world ends loops that are left open, and is an error in systems, forms "
      .. "and defer"] = true,
    ["a damaged image is refused at every length, and the world is as it was"] = true,
    ["a damaged image is refused when any bit is flipped"] = true,
    ["an image with bytes behind it is refused, and the world is as it was"] = true,
    ["an image of format 1 is refused by its number when it is another format"] = true,
  },
  ["live"] = {
    ["functions of live scripts are compiled like others, and follow a migration"] = true,
  },
  ["live_session"] = {
    ["a session of edits to the demo's scripts leaves the expected world and schedule "
      .. "after each step, and loses no one"] = true,
  },
  ["live_edits"] = {
    ["a component that no file declares any more stays with its values, and is nobody's"] = true,
    ["a component that no file declares any more is kept while a system or a query of "
      .. "a script asks for it"] = true,
  },
  ["live_observers"] = {
    ["an observer of live scripts is registered, replaced and dropped with its file, "
      .. "and keeps its switch (C87)"] = true,
    ["an observer of live scripts that is refused leaves the one before, which goes on"] = true,
    ["an observer of live scripts hears nothing of the fields that a swap changes, "
      .. "and sees them afterwards"] = true,
    ["an observer of live scripts may be a system after an edit, and the other way round"] = true,
  },
  ["reading"] = {
    ["while scripts are read writes to what a query reads only are refused, in what "
      .. "stays Lua, too"] = true,
  },
  ["replay"] = {
    ["going back and on again is the straight run whoever looks at the world between "
      .. "updates, in every tier"] = true,
  },
  ["live_registered"] = {
    ["live scripts that are refused are named when what they raise names no place"] = true,
  },
  ["hostile_text"] = {
    ["C68: hostile texts are fields or errors"] = true,
  },
  ["error_kinds"] = {
    ["native.try gives what was raised as it is, and no kind of most errors"] = true,
    ["native.try knows that there was not enough memory"] = true,
    ["an object that a callback raises is replaced by what a closing variable raises "
      .. "after it"] = true,
    ["a codec that has no memory is tried once more, when the garbage is gone"] = true,
    ["a codec that has no memory then either is a memory error, which names no file"] = true,
    ["live scripts let poll raise that there is no memory, and read on with the next one"] = true,
  },
  ["mistakes"] = {
    ["a mistake is told with what to write in queries"] = true,
    ["a loop that is taken for a list says that it is a loop, how to go through it "
      .. "and how to count"] = true,
    ["a mistake that is no error is warned of once: an observer that takes its "
      .. "parameters for others"] = true,
    ["a mistake that is no error is warned of once: values that only views write, of "
      .. "which no observer is told"] = true,
    ["a mistake that is no error is warned of once: what a prefab shares is asked of "
      .. "what is made of it"] = true,
  },
}

-- Wrong arguments: messages of LuaJIT lack the names of functions that are called at the end of
-- another.
local HOSTILE = "^C68: hostile arguments get a clean error from"

---@param path string As "world/world".
---@param name string The test's full name.
return function(path, name)
  if os.getenv "ECS_ALL" then return false end
  local plain = name:gsub("0x%x+", "*")   -- addresses
  local file = path:match "[^/]+$"
  return files[file] or path:find "kernels?/" or file:find "^where"
    or names[file] and names[file][plain] or name:find(HOSTILE)
end
