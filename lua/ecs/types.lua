---@meta ecs

--- Types for editors that read LuaCATS annotations (lua-language-server and others). Nothing
--- requires this file.

--- The id of an entity, component, tag or pair: an integer below 2^53. A float with an integer
--- value is accepted, too.
---@alias ecs.Id integer

--- A component: its id or its name.
---@alias ecs.Component ecs.Id|string

--- The values of a component's fields: by name, or by position from 1. Arrays and nested
--- components are tables in turn.
---@alias ecs.Values table<string|integer, any>

--- Components by name or id, each with a table of values, or true for defaults and tags. A relation
--- takes a target or a list of targets; an exclusive one also a table of its fields with `target`.
--- A pair's id takes true, or a table of the relation's fields.
---@alias ecs.Composition table<ecs.Component, ecs.Values|ecs.Target|ecs.Target[]|true>

--- What an entity is tied to: the id of an entity, or the name of a component or tag.
---@alias ecs.Target ecs.Id|string

---@class ecs
---@field null ecs.Id The null id, 0: never alive, and the default of entity fields.
---@field version string As in "0.2.0".
---@field _VERSION string As in "ecs 0.2.0".
---@field math ecs.math Functions that give the same floats everywhere.
---@field json ecs.json Converts entities to JSON and back; loaded on first use.
---@field include? string The directory of `ecs.h` and `ecs_lua.h`; nil if they are not installed.
local ecs = {}

---@class ecs.WorldOptions
---@field tag? integer 1 to 255, part of every entity's id. Default: the next one in rotation.
---@field seed? integer
---@field kernels? boolean Whether functions may be compiled. Default: true.
---@field threads? integer 1 to 64: the number of threads that run kernels, the caller included.
---@field memory? integer The most bytes that the world may use. Default: no limit.

--- Creates a world.
---@param options? ecs.WorldOptions
---@return ecs.World
function ecs.world(options) end

--- Shows the parts of an id: "65536v0@1" is index 65536, generation 0, in the world with tag 1.
--- "(12, 65536)" is a pair.
---@param id ecs.Id
---@return string
function ecs.format(id) end

--- Functions that give the same floats everywhere.
---@class ecs.math
local Math = {}

--- The arc cosine.
---@param x number
---@return number
function Math.acos(x) end

--- The arc sine.
---@param x number
---@return number
function Math.asin(x) end

--- The angle of the point (x, y), or with one argument the arc tangent.
---@param y number
---@param x? number Default: 1.
---@return number
function Math.atan(y, x) end

--- The cosine.
---@param x number
---@return number
function Math.cos(x) end

--- e to the power of x.
---@param x number
---@return number
function Math.exp(x) end

--- The natural logarithm.
---@param x number
---@return number
function Math.log(x) end

--- The logarithm to base 10.
---@param x number
---@return number
function Math.log10(x) end

--- The logarithm to base 2.
---@param x number
---@return number
function Math.log2(x) end

--- The remainder of x / y rounded towards zero, like math.fmod of floats.
---@param x number
---@param y number
---@return number
function Math.mod(x, y) end

--- x to the power of y.
---@param x number
---@param y number
---@return number
function Math.pow(x, y) end

--- The sine.
---@param x number
---@return number
function Math.sin(x) end

--- The tangent.
---@param x number
---@return number
function Math.tan(x) end

--- Iterates over a view as pairs(view) does, also in LuaJIT: each field and its value, in order.
---@param view ecs.View
---@return fun(view: ecs.View, key: any): any, any
---@return ecs.View
---@return nil
function ecs.fields(view) end

--- Saves a world to a file. The file is replaced as a whole or left as it was.
---@param world ecs.World
---@param path string
---@param options? { codec: { encode: fun(value: any): string } }
function ecs.save_file(world, path, options) end

--- Loads a world from a file.
---@param world ecs.World
---@param path string
---@param options? { codec: { decode: fun(bytes: string): any } }
function ecs.load_file(world, path, options) end

--- What world:snapshot returns.
---@alias ecs.Snapshot userdata

--- The C half of the module.
---@class ecs.native
---@field null ecs.Id
---@field version string
---@field exports table<string, string[]> The names of all functions, by object.
local native = {}

--- See ecs.world.
---@param options? ecs.WorldOptions
---@return ecs.World
function native.world(options) end

--- See ecs.format.
---@param id ecs.Id
---@return string
function native.format(id) end

--- See ecs.fields.
---@param view ecs.View
---@return fun(view: ecs.View, key: any): any, any
---@return ecs.View
---@return nil
function native.fields(view) end

--- Calls a function. Inside it, integers that Lua's numbers cannot represent are read and written
--- as text.
---@param world ecs.World
---@param fn function
---@param ... any
---@return any ...
function native.exact(world, fn, ...) end

--- Makes the changes of the open scope apply as a whole when it ends, or not at all if one of them
--- cannot be applied. It has no effect inside another scope.
---@param world ecs.World
function native.whole(world) end

--- Rounds a number to the nearest f32.
---@param x number
---@return number
function native.f32(x) end

--- Returns the decimal text of a u64, given as an integer with its bits.
---@param integer integer
---@return string
function native.unsigned(integer) end

--- Calls a function, which must not yield. Returns true and its results, or false, the error and
--- its kind.
---@param fn function
---@param ... any
---@return boolean ok
---@return any result
---@return "memory" | "yield" | nil kind Out of memory, or an attempt to yield.
---@return any ...
function native.try(fn, ...) end

--- Whether a world is open. Returns nil if the value is not a world, and also what it is if it is
--- a world of another copy of ecs.
---@param value any
---@return boolean? open
---@return string? other
function native.is_open(value) end

--- Calls a function that runs scripts: what they register is recorded for a swap (see ecs.live),
--- and discarded if no swap happens before it ends.
---@param world ecs.World
---@param recorder fun(kind: string, name: string, object: userdata, ...): boolean?, string?
---@param body fun(world: ecs.World): any
---@return any
function native.stage(world, recorder, body) end

--- Declares a component that the recorder has put off. Raises errors without a place.
---@param world ecs.World
---@param name string
---@param plain table What the schema has made of the fields.
---@param foreign boolean
---@param kind "relation"|"event"|"resource"|nil
function native.declare(world, name, plain, foreign, kind) end

--- Swaps in what was recorded, all of it or nothing. `registered` lists what exists afterwards, in
--- order: objects that the recorder was given now or before an earlier swap. `leaving` lists
--- objects of earlier swaps to remove, and names of components to drop.
---@param world ecs.World
---@param registered userdata[]
---@param leaving (userdata | string)[]
---@param options { check: boolean?, group: integer?, files: table<string, any>? }
---@return table<string, table> reports
---@return integer group
---@return string? problem Why prefabs could not be declared after the swap.
function native.swap(world, registered, leaving, options) end

--- Returns a file's modification time in nanoseconds, size, inode, whether it is a directory or a
--- plain file (not a pipe or device), and the time of its last change, which programs cannot set.
---@param path string
---@return integer? time
---@return integer? size
---@return integer? inode
---@return boolean? directory
---@return boolean? plain
---@return integer? change
function native.stat(path) end

--- Returns the indices of the paths whose state differs from the one given.
---@param paths string[]
---@param states (integer|false)[] Time, size, inode and change of each.
---@return integer[]?
function native.changes(paths, states) end

--- Returns the names in a directory, in no particular order.
---@param path string
---@return string[]?
function native.list(path) end

--- Returns the time by the clock of modification times, in nanoseconds.
---@return integer
function native.now() end

--- Replaces the content of a file, as a whole or not at all.
---@param path string
---@param bytes string
---@return true?
---@return string? message
function native.replace(path, bytes) end

--- Reads a file. Only on Windows, where Lua's own `io` takes no path in UTF-8.
---@param path string
---@return string? bytes
---@return string? message
function native.read(path) end

--- 16 unpredictable bytes. Only on Windows.
---@return string?
function native.noise() end

--- Adds methods that are written in Lua to worlds.
---@param methods table<string, function>
function native.methods(methods) end

--- Sets the function that turns the fields of world:component into plain tables.
---@param parse fun(component: string, fields: table): table?, string?
function native.schema(parse) end

--- Entities, their components, and the systems that run over them.
---@class ecs.World
local World = {}

--- Closes the world for good; a second call has no effect. Raises an error inside systems, function
--- forms and defer. A to-be-closed variable always closes it.
function World:close() end

--- Checks every invariant of the world.
---@return boolean ok
---@return string? message What is broken.
function World:check() end

--- Counts the matches of a query's text.
---@param text string
---@param variables? table<string, ecs.Id|string>
---@return integer
function World:count(text, variables) end

---@class ecs.FieldDeclaration
---@field [1] string "name: type" or "name: type = default"
---@field doc? string
---@field unit? string
---@field min? number|string
---@field max? number|string

---@class ecs.Fields
---@field [integer] string|ecs.FieldDeclaration "name: type" or "name: type = default"
---@field storage? "table"|"sparse" "sparse" keeps it outside tables, so adding it moves no row.
---@field requires? ecs.Component[] Components that are added with it, with defaults.
---@field toggle? boolean Whether `world:disable` can switch it off.
---@field track? boolean Makes `:changed` exact per entity and `:added` available.
---@field was? string|table<string|integer, string|string[]> Its former name; or a table from new to
--- former field names (a list for a field with several), with the component's former name at 1.
---@field doc? string

--- Declares a component. Its name can be used wherever its id can. Types: f32 f64 i8 i16 i32 i64
--- u8 u16 u32 u64 bool entity string any, enum(a, b), T[n], and names of other components.
---@param name string
---@param fields ecs.Fields
---@return ecs.Id
function World:component(name, fields) end

--- Declares a component without fields. Raises an error if it already has fields.
---@param name string
---@return ecs.Id
function World:tag(name) end

---@class ecs.RelationFields: ecs.Fields
---@field exclusive? boolean At most one target, in a field `target` before the others.
---@field acyclic? boolean For exclusive relations: a tie that closes a cycle is an error.
---@field on_target_despawn? "remove"|"despawn"|"error" What happens to sources. Default: "remove".

--- Declares a relation, which ties entities to others. ChildOf and IsA are built in.
---@param name string
---@param fields? ecs.RelationFields
---@return ecs.Id
function World:relation(name, fields) end

--- Makes a component a resource, of which the world holds one value.
---@param name ecs.Component
---@param fields? ecs.Fields Also declares the component.
---@return ecs.Id
function World:resource(name, fields) end

--- Declares an array: a column of the world with elements 1 to `length`. Declaring it again returns
--- the same array; with another type or length, values are kept by index. Without a type, returns
--- the array of that name.
---@param name string
---@param type? "f32"|"f64"|"i8"|"i16"|"i32"|"i64"|"u8"|"u16"|"u32"|"u64"|"bool"|"entity"
---@param length? integer 1 to 16,777,216.
---@return ecs.Array
function World:array(name, type, length) end

--- Declares an event: rows of these fields that belong to the world. If you declare it again with
--- other fields, existing rows are migrated.
---@param name string
---@param fields? ecs.Fields Without `storage`, `toggle`, `track` and `requires`.
---@return ecs.Id
function World:event(name, fields) end

--- Emits an event, visible at once. Takes values in the order of its fields, or one table of fields
--- by name; the rest get defaults. A scope that fails or is cancelled drops it.
---@param event ecs.Component
---@param ... any
function World:emit(event, ...) end

--- Emits an event later: at the start of the first update after that many seconds of updates, not
--- counting the current one.
---@param seconds number
---@param event ecs.Component
---@param ... any As for emit.
function World:after(seconds, event, ...) end

--- Iterates over all existing events of a name: `for hit in world:events "Hit" do`. Yields true for
--- an event without fields.
---@param event ecs.Component
---@return fun(): ecs.View|true
function World:events(event) end

---@class ecs.IndexOptions
---@field query string Finds the entities and values that the index copies.
---@field grid? string By position: a component of the query with numbers x, y and optionally z.
---@field cell? number The width of a grid cell: about the usual search distance.
---@field hash? string|fun(...): any By a key: a field, or a function of the query's values.
---@field ordered? string|fun(...): number? By a number as key, in order.
---@field maybe? string|fun(...): any By a key, in less memory.

--- Declares an index, or replaces the one of that name. Without options, returns the index of that
--- name. Variables of the query are options: ["$p"] = id.
---@param name string
---@param options? ecs.IndexOptions
---@return ecs.Index
function World:index(name, options) end

--- Returns a view of a resource, whose fields are read and written like those of a table.
---@param name ecs.Component
---@return ecs.View
function World:res(name) end

--- Removes a component from all entities and forgets it. The name of an index drops the index.
---@param component ecs.Component
function World:undeclare(component) end

---@class ecs.FieldDescription
---@field name string
---@field type string
---@field default any
---@field offset integer Offset in the struct that C hosts use.
---@field size integer
---@field doc? string
---@field unit? string
---@field min? number|string
---@field max? number|string

---@class ecs.ComponentDescription
---@field name string
---@field id ecs.Id
---@field storage "table"|"sparse"|"event"
---@field rows? integer For events: the number of rows.
---@field requires? string[]
---@field toggle? true Whether it can be switched off.
---@field track? true Whether it was declared with `track`.
---@field watched? true Whether writes are recorded, because it is tracked or a query needs them.
---@field off? integer With toggle: the number of entities that have it switched off.
---@field size integer
---@field orphan? true Whether no script declares it any longer: see ecs.live.
---@field relation? true
---@field exclusive? boolean Relations only.
---@field acyclic? boolean Relations only.
---@field on_target_despawn? "remove"|"despawn"|"error" Relations only.
---@field doc? string
---@field fields ecs.FieldDescription[]

---@class ecs.TableDescription
---@field id integer
---@field types string[]
---@field rows integer
---@field capacity integer
---@field columns string[]
---@field bytes integer

---@class ecs.QueryDescription
---@field text string
---@field tables integer
---@field rows integer
---@field more? boolean There may be more rows: not all were counted.

---@class ecs.SystemDescription
---@field name string
---@field phase string
---@field order integer
---@field tier "lua"|"vector"|"native"
---@field owner? string
---@field enabled boolean
---@field parked boolean
---@field runs integer
---@field seconds number In all its runs.
---@field last number In its last run.
---@field peak number In its longest run.
---@field rows integer Rows of the last run; for a `run`, those of the function forms that it calls.
---@field per_row? number Seconds per row, over all its runs.
---@field left { last: integer, total: integer } Rows of a compiled system that ran as plain Lua.
---@field cpu? number Processor time of the calling thread in long runs, while profiling is on.
---@field ignored string[] Names in before and after that are not systems of its phase.

---@class ecs.ObserverDescription
---@field name string
---@field on "add"|"set"|"remove"|"enter"|"exit"|"despawn"
---@field query string
---@field owner? string
---@field enabled boolean
---@field parked boolean
---@field runs integer
---@field seconds number In all its runs.
---@field last number In its last run.
---@field peak number In its longest run.

---@class ecs.PhaseDescription
---@field name string
---@field fixed? number
---@field enabled boolean
---@field ignored string[] Names in before and after that are not phases.

---@class ecs.IndexDescription
---@field name string
---@field query string
---@field by "grid"|"hash"|"ordered"|"maybe"
---@field of string
---@field cell? number
---@field owner? string
---@field rows integer Rows it held when it was last updated.
---@field bytes integer

---@class ecs.WorldDescription
---@field tables ecs.TableDescription[]
---@field components string[]
---@field arrays string[]
---@field events string[]
---@field prefabs string[]
---@field orphans string[] Components and events that no script declares any longer.
---@field queries ecs.QueryDescription[]
---@field indexes ecs.IndexDescription[]
---@field systems ecs.SystemDescription[] In running order.
---@field observers ecs.ObserverDescription[]
---@field phases ecs.PhaseDescription[] In running order.
---@field rows integer
---@field entities integer
---@field bytes integer
---@field tag integer

--- Describes the world, or one component.
---@param component ecs.Component
---@return ecs.ComponentDescription
---@overload fun(self: ecs.World): ecs.WorldDescription
function World:describe(component) end

--- Switches profiling on or off, which records `frames` and the `cpu` of systems. Returns whether
--- it is on.
---@param on? boolean
---@return boolean
function World:profile(on) end

---@class ecs.Frame
---@field time number Seconds of the whole update.
---@field entities integer Entities alive when it ended.
---@field systems table<string, number> Seconds of each system.

--- Returns the last updates that were profiled, the oldest first.
---@param count integer At most 600 are kept.
---@return ecs.Frame[]
function World:frames(count) end

--- Resets what `describe` counts for systems and observers: runs, rows and times.
function World:reset_counters() end

--- Returns an entity as readable text: components, relations and children, with names.
---@param entity ecs.Id
---@return string
function World:dump(entity) end

--- Writes annotations like these for all declared components, events and prefabs. Leaves a file
--- that already has that text untouched.
---@param path string
---@return boolean written
function World:write_types(path) end

--- Creates an entity.
---@param components? ecs.Composition
---@return ecs.Id
function World:spawn(components) end

--- Returns a function that spawns from values, in the order of the components' fields or of the
--- fields named, without a table. Missing values and nil leave defaults.
---@param components string Names separated by commas, as in "Position, Health.hp, Alive".
---@return fun(...): ecs.Id
function World:spawner(components) end

--- Creates many entities with the same values.
---@param count integer
---@param components? ecs.Composition
---@return ecs.Id[]
function World:spawn_many(count, components) end

--- Copies an entity with all its children: values, ties, and what is switched off. References
--- among them lead from copy to copy. Children keep their names; the copy itself has none.
--- `components` replace values of the copy.
---@param e ecs.Id
---@param components? ecs.Composition
---@return ecs.Id
function World:clone(e, components) end

--- A child: its name; a list of name, components and options; or a table of its components.
---@alias ecs.PrefabChild
---| string
---| table<integer, string|ecs.Composition|ecs.PrefabOptions>
---| ecs.Composition

---@class ecs.PrefabOptions
---@field is_a? string|ecs.Id A prefab whose components and children it inherits.
---@field shared? string[]|ecs.Composition Components that instances read along IsA, not copies.
---@field children? table<integer|string, ecs.PrefabChild> In order; those by name come last.

--- Declares a template for entities. Queries do not see it, and it cannot be despawned. If you
--- declare it again, it changes, and in its instances each field that still has the old value gets
--- the new one. No other entity can become a child of it.
---@param name string
---@param components? ecs.Composition
---@param options? ecs.PrefabOptions
---@return ecs.Id # nil while live scripts are read
function World:prefab(name, components, options) end

--- Copies a prefab with its children, each tied by IsA to its original.
---@param prefab string|ecs.Id
---@param components? ecs.Composition Replaces values of the prefab.
---@return ecs.Id
function World:instantiate(prefab, components) end

--- Creates an entity with an id that was chosen elsewhere. Raises an error if its index is taken.
---@param id ecs.Id
---@param components? ecs.Composition
---@return ecs.Id
function World:spawn_at(id, components) end

--- Returns a random number for the entity: in [0, 1), or an integer from 1 to m, or from m to n. It
--- belongs to the stream of the running system or function form or, outside of these, to that of
--- the world. It is the same in compiled and plain functions.
---@param entity ecs.Id
---@param m? integer
---@param n? integer
---@return number
function World:random(entity, m, n) end

--- Returns the whole world as bytes: entities, components, names, resources, timers and random
--- streams, but not systems.
---@param options? { codec: { encode: fun(value: any): string } }
---@return string
function World:save(options) end

--- Replaces the world's content with that of an image.
---@param bytes string
---@param options? { codec: { decode: fun(bytes: string): any } }
function World:load(bytes, options) end

--- Returns a hash of the content, independent of table and row order, tag and component ids. In
--- LuaJIT it is always text.
---@param as? "text" As 16 hexadecimal digits.
---@return integer|string
function World:digest(as) end

--- Returns a copy of the world's state in memory. All `any` fields must be nil.
---@return ecs.Snapshot
function World:snapshot() end

--- Restores the world from a snapshot. Values of components whose fields have changed since then
--- are migrated.
---@param snapshot ecs.Snapshot
function World:restore(snapshot) end

--- Despawns an entity.
---@param entity ecs.Id
function World:despawn(entity) end

--- Whether a value is the id of a living entity or component of this world.
---@param id? any
---@return boolean
function World:alive(id) end

--- Sets fields, and adds the component if it is absent. Takes one table of fields by name, or
--- values in the order of the fields; missing values leave fields as they are. "Position.x" takes
--- one value. A relation takes its target before the values.
---@param entity ecs.Id
---@param component ecs.Component
---@param ... any
---@overload fun(self: ecs.World, entity: ecs.Id, component: ecs.Component, values: ecs.Values)
function World:set(entity, component, ...) end

--- Returns the values of a component's fields in order, or of one field ("Position.x"); nothing if
--- the entity does not have it. A relation with several targets needs a target.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target
---@return any ...
function World:get(entity, component, target) end

--- Returns the digits of an integer field ("Account.balance"); nothing if the component is absent.
---@param entity ecs.Id
---@param field string
---@return string?
function World:get_text(entity, field) end

--- Sets an integer field to the number in a text. Adds the component if it is missing.
---@param entity ecs.Id
---@param field string
---@param text string
function World:set_text(entity, field, text) end

--- Returns a new table of a component's fields, true for a tag, or nil if it is absent.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target
---@return table<string, any>|true|nil
function World:read(entity, component, target) end

--- Adds a component with its defaults, or a tie to a target. Has no effect if it already exists.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target Relations only.
function World:add(entity, component, target) end

--- Removes a component; a relation without a target loses all its ties. Has no effect if it is
--- absent.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target
function World:remove(entity, component, target) end

--- Switches off a component that was declared with `toggle`: it keeps its value, and queries skip
--- it. Has no effect if it is absent.
---@param entity ecs.Id
---@param component ecs.Component
function World:disable(entity, component) end

--- Switches a component on again.
---@param entity ecs.Id
---@param component ecs.Component
function World:enable(entity, component) end

--- Whether the entity has the component, switched on.
---@param entity ecs.Id
---@param component ecs.Component
---@return boolean
function World:enabled(entity, component) end

--- Whether the entity has a component, or is tied to the target or, without one, to any target.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target
---@return boolean
function World:has(entity, component, target) end

--- Iterates over an entity's components: names (ids for pairs), and values as world:read returns.
---@param entity ecs.Id
---@return fun(): (string|ecs.Id)?, table<string, any>|true|nil
function World:components(entity) end

--- Returns the id of a pair, accepted wherever a component's id is, while its target lives.
---@param relation ecs.Component
---@param target ecs.Target
---@return ecs.Id
function World:pair(relation, target) end

--- Returns the target of an entity, or nothing. Of several, returns the one with the lowest id.
---@param entity ecs.Id
---@param relation ecs.Component
---@return ecs.Id?
function World:target(entity, relation) end

--- Iterates over the targets that an entity had when the loop began, by ascending id.
---@param entity ecs.Id
---@param relation ecs.Component
---@return fun(): ecs.Id?
function World:targets(entity, relation) end

--- Iterates over the entities that were tied to a target when the loop began: for an exclusive
--- relation in the order in which they were tied, otherwise in query order.
---@param target ecs.Target
---@param relation ecs.Component
---@return fun(): ecs.Id?
function World:sources(target, relation) end

--- Returns the parent of an entity (its target of ChildOf), or nothing.
---@param entity ecs.Id
---@return ecs.Id?
function World:parent(entity) end

--- Iterates over the children of an entity, in the order in which they were tied.
---@param entity ecs.Target
---@return fun(): ecs.Id?
function World:children(entity) end

--- Without a name, returns the entity's name or nothing. With one, names the entity; false removes
--- the name. Names are unique among the children of a parent, and among entities without one.
--- Inside a scope, the name is set when the scope ends.
---@param entity ecs.Id
---@param name? string|false
---@return string? name
function World:name(entity, name) end

--- Returns the entity with a name, or with a path of names ("ship.turret"), or nothing.
---@param name string
---@return ecs.Id?
function World:lookup(name) end

--- Sets the range from which spawns take indices (65536 to 268435455, both included).
---@param first integer
---@param last integer
function World:entity_range(first, last) end

--- Makes indices whose generations are used up usable again. Returns how many there were.
---@return integer
function World:recycle_retired() end

--- Opens a scope: structural changes are deferred until the outermost scope ends.
function World:defer() end

--- Ends the scope that defer opened and applies its changes in order.
function World:commit() end

--- Ends the scope that defer opened and drops its changes. Ids spawned in it are dead.
function World:cancel() end

--- Creates a cached query. Terms, separated by commas: Position, !Frozen, Sprite?, Circle|Box,
--- Position:in (read-only), Position.x (one field), Position:changed (written since the query's
--- last use), Position:added; ties (Likes, Apples), (Likes, $p), (Likes, *); other entities
--- ChildOf->World, Hunt.prey->Health, ChildOf*->Faction, Health($p).
---@param text string
---@param variables? table<string, ecs.Id|string> The value of each $name: { p = id }.
---@return ecs.Query
function World:query(text, variables) end

---@class ecs.SystemOptions
---@field phase? string Default: "update".
---@field query? string
---@field array? string Instead of a query: `each` receives the index of each element, and dt.
---@field each? function Called for every entity with views, dt, entity.
---@field map? function Called for every entity with field values, dt, entity; writes its results.
---@field run? fun(world: ecs.World, dt: number, query: ecs.Query?)
---@field before? string|string[]
---@field after? string|string[]
---@field every? number Seconds between runs.
---@field enabled? boolean Default: true.
---@field uses? string|string[] Indexes that it uses but that cannot be found in its function.
---@field when? fun(world: ecs.World): any Returns whether to run.
---@field compile? boolean
---@field [string] ecs.Id|string What a $name of the query is: ["$p"] = id.

--- Registers a system, or replaces the one of that name. The new one keeps its place and timings,
--- and stays on or off.
---@param name string
---@param options ecs.SystemOptions
function World:system(name, options) end

--- Removes a system or an observer.
---@param name string
function World:remove_system(name) end

---@class ecs.ObserverOptions
---@field on "add"|"set"|"remove"|"enter"|"exit"|"despawn"
---@field query string Terms about the entity itself; add, set and remove watch the first one.
---@field each function Called for every match with views, entity, targets.
---@field enabled? boolean Default: true.
---@field [string] ecs.Id|string What a $name of the query is: ["$p"] = id.

--- Registers an observer, or replaces the one of that name. It is called when changes are applied,
--- for entities that have begun or ceased to match.
---@param name string
---@param options ecs.ObserverOptions
function World:observer(name, options) end

---@class ecs.PhaseOptions
---@field after? string
---@field before? string
---@field fixed? number Length of a step in seconds.

--- Adds a phase to startup, pre_update, update, post_update and render.
---@param name string
---@param options? ecs.PhaseOptions
function World:phase(name, options) end

--- Turns a system, an observer or a phase on or off.
---@param name string
---@param on boolean
function World:switch(name, on) end

--- Runs all phases.
---@param dt number Seconds.
function World:update(dt) end

--- Runs one phase or system.
---@param name string
---@param dt? number Seconds. Default: 0.
function World:run(name, dt) end

--- Returns how much of a fixed phase's next step has passed, from 0 to 1.
---@param phase? string Default: the first fixed one.
---@return number
function World:alpha(phase) end

--- Sets the function that is called when a system fails, which is then parked; nil removes it. If
--- the error is an object, its text is the third argument.
---@param handler fun(message: any, system: string, text: string?)?
function World:on_error(handler) end

---@class ecs.Explanation
---@field tier "lua"|"vector"|"native"
---@field reads string[]
---@field writes string[]
---@field changed? string[] Its terms with ':changed' or ':added', as in `Position:changed`.
---@field marks? string[] Components whose writes it marks, because a query needs them.
---@field program? string
---@field reason? string Why it runs in Lua.
---@field reasons? string[] Everything that keeps it in Lua, `reason` first; at most 20.
---@field tables? { name: string, elements: integer, bytes: integer }[]
---@field indexes? string[] Names of the indexes that it uses.
---@field compilations? integer
---@field ordered? string How much of it runs row by row: "18 of 32 instructions".
---@field order? { name: string, written: integer, read: integer }[] What it writes in one row and
--- reads in another, with the first line of each; 0 if not known.
---@field threads? integer How many threads can share its rows.
---@field alone? string Why only one, in a world with more threads.
---@field cells? string[] Script cells that it writes: `upvalue n`, `stats.kills`.
---@field left? { rows: integer, why: string? } Rows that fell back to Lua in the last run.
---@field form? "each"|"map"|"run"|"where"|"sum"|"min"|"max"|"for" The form it was last passed to.
---@field query? string The text of that form's query.
---@field also? ecs.Explanation[] The other forms that it was passed to.
---@field loops? ecs.Explanation[] Of a `run`: its loops over queries, by their lines.
---@field line? integer Of a loop: the line on which it begins.

--- Names of systems that can run in parallel.
---@class ecs.Batch
---@field [integer] string
---@field why? string Why the first one cannot run in parallel with the systems before it.
---@field together? integer How many of several ran in parallel in the last run of their phase.
---@field apart? string Why they did not run in parallel.

--- Explains how a system, or a function that was passed to a query, runs. For "update", returns
--- by phase which systems can run in parallel.
---@param name string|function
---@return ecs.Explanation|table<string, ecs.Batch[]>
function World:explain(name) end

--- Finds the entities that match some terms. It stays up to date: keep it and use it again.
---@class ecs.Query
local Query = {}

--- Counts the matches.
---@return integer
function Query:count() end

--- Returns the first entity, or nothing.
---@return ecs.Id?
function Query:first() end

--- Returns the entities in the query's order, each once, even if it matches several times.
---@return ecs.Id[]
function Query:ids() end

--- Calls a function for every entity with a view for each term that has data (true for an optional
--- tag), then dt and the entity. Without a function, returns an iterator that yields views (false
--- for an absent component) and the entity.
---@param fn fun(...: any)
---@param dt? number
---@overload fun(self: ecs.Query): fun(...): any
function Query:each(fn, dt) end

--- Calls a function for every entity with the values of its terms, all single fields (true for an
--- optional tag), then dt and the entity. Its results are written to the first terms; nil leaves a
--- field unchanged.
---@param fn fun(...: any): any
---@param dt? number
function Query:map(fn, dt) end

--- Iterates over tables, yielding all rows of a table at a time.
---@return fun(): ecs.Chunk?
function Query:chunks() end

--- Calls a function for every entity as `each` does, compiled to a loop over columns. Raises an
--- error with file, line and reason if it cannot be compiled.
---@param fn fun(...: any)
---@param dt? number
function Query:run(fn, dt) end

--- Returns a query over the rows for which a function of views and the entity returns true. The
--- function is compiled if possible.
---@param fn fun(...: any): any
---@return ecs.Where
function Query:where(fn) end

--- Despawns every entity that matches.
function Query:despawn() end

--- Calls world:add for each entity that matches.
---@param component ecs.Component
---@param target? ecs.Id
function Query:add(component, target) end

--- Calls world:remove for each entity that matches.
---@param component ecs.Component
---@param target? ecs.Id
function Query:remove(component, target) end

--- Calls world:set for all entities that match or, if that fails, for none.
---@param component ecs.Component
---@param ... any
function Query:set(component, ...) end

--- Returns the sum of a function of views, dt (0) and the entity: an integer if every row yields
--- one, otherwise a float; 0 without rows.
---@param fn fun(...: any): number
---@return number
function Query:sum(fn) end

--- Returns the least result of a function of views, dt (0) and the entity, and the first entity
--- with that result; nil without rows. Integers and floats are compared exactly.
---@param fn fun(...: any): number
---@return number? value
---@return integer? entity
function Query:min(fn) end

--- Returns the greatest result of a function of views, dt (0) and the entity, and the first entity
--- with that result; nil without rows.
---@param fn fun(...: any): number
---@return number? value
---@return integer? entity
function Query:max(fn) end

--- A query narrowed by a function. It has all methods of queries.
---@class ecs.Where: ecs.Query

--- The current row's component, whose fields are read and written by name. Stale once its loop has
--- ended.
---@class ecs.View
---@field [string] any

--- The rows of one table.
---@class ecs.Chunk
---@field n integer The number of rows.
---@field entities ecs.Column The ids of the rows.
local Chunk = {}

--- Returns a field's column ("Position.x"), or nil if this table does not have it.
---@param name string
---@return ecs.Column?
function Chunk:column(name) end

--- Whether the chunk's entities have a component or tag. The query does not have to name it.
---@param component ecs.Component
---@return boolean
function Chunk:has(component) end

--- A field's values, from 1 to the chunk's n.
---@class ecs.Column
---@field [integer] any
local Column = {}

--- Copies the column into a list and returns the list.
---@param into? any[]
---@return any[]
function Column:read(into) end

--- Writes a list into the column.
---@param from any[]
function Column:write(from) end

--- A column that belongs to the world. Outside 1 to #array, and at a fraction, reading gives nil
--- and writing raises an error.
---@class ecs.Array
---@field [number] number|boolean|nil
---@operator len: integer
local Array = {}

--- Sets all elements.
---@param value number|boolean
function Array:fill(value) end

--- Copies the elements of another array of the same type, which may be shorter.
---@param other ecs.Array
function Array:copy(other) end

--- Copies the elements into a list and returns the list.
---@param into? any[]
---@return any[]
function Array:read(into) end

--- Writes a list into the first elements: all of it or, if a value does not fit, nothing.
---@param from any[]
function Array:write(from) end

--- Finds entities by position or by a value, in a copy that does not change while a system runs.
---@class ecs.Index
local Index = {}

--- Iterates over entities within a distance: `for p, v, entity in flock:within(x, y, reach) do`.
--- Yields a read-only view or value for each term. Takes z if the component has one.
---@param x number
---@param y number
---@param reach number
---@return fun(): ecs.View|any, ...
---@overload fun(self: ecs.Index, x: number, y: number, z: number, reach: number): fun(): any
function Index:within(x, y, reach) end

--- Returns the nearest entity and its distance, or nil if none is within `reach`. If several are at
--- the same distance, returns the first in query order.
---@param x number
---@param y number
---@param reach number
---@param except? ecs.Id An entity to skip.
---@return ecs.Id?
---@return number? distance
---@overload fun(self: ecs.Index, x: number, y: number, z: number, reach: number): ecs.Id?, number?
function Index:nearest(x, y, reach, except) end

--- For hash and maybe: iterates over entities whose key equals a value, in query order.
---@param value number|string|boolean|nil
---@return fun(): ecs.View|any, ...
function Index:find(value) end

--- For ordered: iterates over entities whose keys are between two numbers, both included.
---@param least number
---@param most number
---@return fun(): ecs.View|any, ...
function Index:range(least, most) end

--- For ordered: iterates over `count` entities with the lowest keys, from the lowest up.
---@param count integer
---@return fun(): ecs.View|any, ...
function Index:lowest(count) end

--- For ordered: iterates over `count` entities with the highest keys, from the highest down.
---@param count integer
---@return fun(): ecs.View|any, ...
function Index:highest(count) end

return ecs
