---@meta ecs

--- Types for editors that read LuaCATS annotations (lua-language-server and others). Nothing
--- requires this file.

--- An entity, component, tag or pair: an integer below 2^53. Floats with an integer value are
--- taken, too.
---@alias ecs.Id integer

--- A component: its id or its name.
---@alias ecs.Component ecs.Id|string

--- The values of a component's fields: by name, or by position from 1. Arrays and nested
--- components are tables in turn.
---@alias ecs.Values table<string|integer, any>

--- Components by name or id: a table of values, or true for the defaults and for tags. Relations:
--- a target, or of several a list; of an exclusive one its fields, with target among them. Pairs by
--- id: true, or a table of the relation's fields.
---@alias ecs.Composition table<ecs.Component, ecs.Values|ecs.Target|ecs.Target[]|true>

--- What an entity is tied to: another one's id, or a component's or tag's name.
---@alias ecs.Target ecs.Id|string

---@class ecs
---@field null ecs.Id The id of nothing: 0. Never alive; the default of entity fields.
---@field version string As in "0.1.0".
---@field _VERSION string As in "ecs 0.1.0".
---@field json ecs.json Entities as JSON and back; loaded when it is used first.
---@field include? string The directory of `ecs.h` and `ecs_lua.h`; nil where there are no files.
local ecs = {}

---@class ecs.WorldOptions
---@field tag? integer 1 to 255, part of every entity's id. Default: the next one in rotation.
---@field seed? integer
---@field kernels? boolean Whether functions may be compiled. Default: true.
---@field threads? integer 1 to 64: how many, the calling one included, share the rows of kernels.
---@field memory? integer How many bytes the world may come to. Default: any number.

--- Makes a world.
---@param options? ecs.WorldOptions
---@return ecs.World
function ecs.world(options) end

--- The parts of an id: "65536v0@1" is index 65536 in its generation 0, of the world with tag
--- 1. "(12, 65536)" is a pair.
---@param id ecs.Id
---@return string
function ecs.format(id) end

--- As pairs(view), also in LuaJIT: each field and its value, in order.
---@param view ecs.View
---@return fun(view: ecs.View, key: any): any, any
---@return ecs.View
---@return nil
function ecs.fields(view) end

--- Saves a world into a file: whole, or not at all, whoever else does so meanwhile.
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

--- Calls a function for which integers that Lua's numbers do not hold are texts: those that it is
--- given, and those that it stores.
---@param world ecs.World
---@param fn function
---@param ... any
---@return any ...
function native.exact(world, fn, ...) end

--- A number rounded to the nearest f32.
---@param x number
---@return number
function native.f32(x) end

--- The text of a u64, which Lua has as an integer with its bits.
---@param integer integer
---@return string
function native.unsigned(integer) end

--- Calls a function in which nothing can yield: true and what it returns; or false, what was
--- raised, and its kind.
---@param fn function
---@param ... any
---@return boolean ok
---@return any result
---@return "memory" | "yield" | nil kind There was not enough memory; it tried to yield.
---@return any ...
function native.try(fn, ...) end

--- Whether a world is open; nil for what is no world, and what it is when it is a world of another
--- copy of ecs.
---@param value any
---@return boolean? open
---@return string? other
function native.is_open(value) end

--- Calls a function while what scripts register is kept for a swap (see ecs.live); what is not
--- swapped in when it ends is forgotten.
---@param world ecs.World
---@param recorder fun(kind: string, name: string, object: userdata, ...): boolean?, string?
---@param body fun(world: ecs.World): any
---@return any
function native.stage(world, recorder, body) end

--- Swaps in what was kept, at once or not at all. `registered` has what is there afterwards, in
--- order: objects that the recorder was given, now or before an earlier swap of theirs. `leaving`
--- has those of earlier swaps that go, and names of components to drop.
---@param world ecs.World
---@param registered userdata[]
---@param leaving (userdata | string)[]
---@param options { check: boolean?, group: integer?, files: table<string, any>? }
---@return table<string, table> reports
---@return integer group
---@return string? problem what failed when prefabs were declared after it
function native.swap(world, registered, leaving, options) end

--- Modification time in nanoseconds, size, inode, whether it is a directory, or a plain file (no
--- pipe, no device), and the time of its last change of any kind, which programs cannot set.
---@param path string
---@return integer? time
---@return integer? size
---@return integer? inode
---@return boolean? directory
---@return boolean? plain
---@return integer? change
function native.stat(path) end

--- The indices of the paths whose state is not the one given.
---@param paths string[]
---@param states (integer|false)[] Time, size, inode and change of each.
---@return integer[]?
function native.changes(paths, states) end

--- The names in a directory, in no order.
---@param path string
---@return string[]?
function native.list(path) end

--- The clock of modification times, in nanoseconds.
---@return integer
function native.now() end

--- Makes bytes the content of a file: whole, or not at all, whoever else does so meanwhile.
---@param path string
---@param bytes string
---@return true?
---@return string? message
function native.replace(path, bytes) end

--- Gives worlds methods that are written in Lua.
---@param methods table<string, function>
function native.methods(methods) end

--- Sets what turns the fields of world:component into plain tables.
---@param parse fun(component: string, fields: table): table?, string?
function native.schema(parse) end

--- Entities, their components, and the systems that run over them.
---@class ecs.World
local World = {}

--- Closes the world for good. May be called again. An error inside systems, function forms
--- and defer; a to-be-closed variable always closes.
function World:close() end

--- Walks every invariant of the world.
---@return boolean ok
---@return string? message What is broken.
function World:check() end

--- How often entities match a query's text.
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
---@field storage? "table"|"sparse" Sparse: outside of tables, so that adding it moves nothing else.
---@field requires? ecs.Component[] What adding it brings with it, with defaults.
---@field toggle? boolean It can be switched off by `world:disable`.
---@field track? boolean `:changed` is exact, and `:added` can be asked for.
---@field was? string|table<string|integer, string> What it was called; new field names to old ones,
--- and at 1 what the component was called.
---@field doc? string

--- Declares a component; its name may be used wherever an id is. Types: f32 f64 i8 i16 i32
--- i64 u8 u16 u32 u64 bool entity string any, enum(a, b), T[n], and other components' names.
---@param name string
---@param fields ecs.Fields
---@return ecs.Id
function World:component(name, fields) end

--- Declares a component without fields; one that has some is refused.
---@param name string
---@return ecs.Id
function World:tag(name) end

---@class ecs.RelationFields: ecs.Fields
---@field exclusive? boolean One target at most, in a field `target` before the others.
---@field acyclic? boolean Of exclusive ones: an error for ties that lead back to where they began.
---@field on_target_despawn? "remove"|"despawn"|"error" What becomes of sources. Default: "remove".

--- Declares a relation, which ties entities to others. ChildOf and IsA are there.
---@param name string
---@param fields? ecs.RelationFields
---@return ecs.Id
function World:relation(name, fields) end

--- Makes a component a resource: the world has one value of it.
---@param name ecs.Component
---@param fields? ecs.Fields Declares the component, too.
---@return ecs.Id
function World:resource(name, fields) end

--- Declares an array: a column of the world's own, with elements 1 to `length`. Declared again it
--- is the same; with another type or length its values are kept by index. Without a type it gives
--- the array of that name.
---@param name string
---@param type? "f32"|"f64"|"i8"|"i16"|"i32"|"i64"|"u8"|"u16"|"u32"|"u64"|"bool"|"entity"
---@param length? integer 1 to 16,777,216.
---@return ecs.Array
function World:array(name, type, length) end

--- Declares an event: rows of these fields that belong to the world. Declared again with other
--- fields those that are there are migrated.
---@param name string
---@param fields? ecs.Fields Without `storage`, `toggle`, `track` and `requires`.
---@return ecs.Id
function World:event(name, fields) end

--- Emits an event, which is there at once: values in the order of its fields, or one table of them
--- by name; what is left out has its default. A scope that fails or is cancelled drops it.
---@param event ecs.Component
---@param ... any
function World:emit(event, ...) end

--- Emits an event later: at the beginning of the first update by which so many seconds have passed
--- in updates, the one that is under way not counted.
---@param seconds number
---@param event ecs.Component
---@param ... any As of emit.
function World:after(seconds, event, ...) end

--- A loop over all events of that name that are there: `for hit in world:events "Hit" do`. An event
--- without fields reads as true.
---@param event ecs.Component
---@return fun(): ecs.View|true
function World:events(event) end

---@class ecs.IndexOptions
---@field query string What it has copies of: entities that match, and what the terms give.
---@field grid? string By place: a component of the query with numbers x, y and maybe z.
---@field cell? number How wide a cell of the grid is: about the usual reach.
---@field hash? string|fun(...): any By a key: a field, or a function of what the query gives.
---@field ordered? string|fun(...): number? By keys that are numbers, in order.
---@field maybe? string|fun(...): any By a key, in less memory.

--- Declares an index, or replaces the one of that name; without options it gives the one of that
--- name. A variable of the query is an option: ["$p"] = id.
---@param name string
---@param options? ecs.IndexOptions
---@return ecs.Index
function World:index(name, options) end

--- A view of a resource: its fields are read and written like a table's.
---@param name ecs.Component
---@return ecs.View
function World:res(name) end

--- Removes a component from everything and forgets it. Drops the index of that name.
---@param component ecs.Component
function World:undeclare(component) end

---@class ecs.FieldDescription
---@field name string
---@field type string
---@field default any
---@field offset integer In the struct that C hosts use.
---@field size integer
---@field doc? string
---@field unit? string
---@field min? number|string
---@field max? number|string

---@class ecs.ComponentDescription
---@field name string
---@field id ecs.Id
---@field storage "table"|"sparse"|"event"
---@field rows? integer Of events: how many are there.
---@field requires? string[]
---@field toggle? true It can be switched off.
---@field track? true When it was written and added is kept by row.
---@field watched? true It is kept when it was written, since it is tracked or a query has asked.
---@field off? integer Of a toggle: how many entities have it switched off.
---@field size integer
---@field orphan? true Nobody declares it: see ecs.live.
---@field relation? true
---@field exclusive? boolean Of relations.
---@field acyclic? boolean Of relations.
---@field on_target_despawn? "remove"|"despawn"|"error" Of relations.
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
---@field rows integer That its function was called for in its last run; of a `run` by the function
--- forms that it calls.
---@field per_row? number Seconds for a row, of all its runs.
---@field left { last: integer, total: integer } Rows of a compiled system that ran as plain Lua.
---@field cpu? number Processor time of the calling thread in long runs, while it is profiled.
---@field ignored string[] Names in before and after that name no system of its phase.

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
---@field ignored string[] Names in before and after that name no phase.

---@class ecs.IndexDescription
---@field name string
---@field query string
---@field by "grid"|"hash"|"ordered"|"maybe"
---@field of string
---@field cell? number
---@field owner? string
---@field rows integer That are found in it, since it was brought up to date last.
---@field bytes integer

---@class ecs.WorldDescription
---@field tables ecs.TableDescription[]
---@field components string[]
---@field arrays string[]
---@field events string[]
---@field prefabs string[]
---@field orphans string[] Those of both that nobody declares.
---@field queries ecs.QueryDescription[]
---@field indexes ecs.IndexDescription[]
---@field systems ecs.SystemDescription[] In running order.
---@field observers ecs.ObserverDescription[]
---@field phases ecs.PhaseDescription[] In running order.
---@field rows integer
---@field entities integer
---@field bytes integer
---@field tag integer

--- What the world holds, or what a component is made of.
---@param component ecs.Component
---@return ecs.ComponentDescription
---@overload fun(self: ecs.World): ecs.WorldDescription
function World:describe(component) end

--- Switches profiling on or off: `frames`, and `cpu` of systems. Says whether it is on.
---@param on? boolean
---@return boolean
function World:profile(on) end

---@class ecs.Frame
---@field time number Seconds of the whole update.
---@field entities integer Alive when it ended.
---@field systems table<string, number> Seconds of each system.

--- The last updates while the world was profiled, the oldest first.
---@param count integer At most 600 are kept.
---@return ecs.Frame[]
function World:frames(count) end

--- What `describe` counts of systems and observers starts anew: runs, rows and times.
function World:reset_counters() end

--- An entity as text for people: components, relations and children, with the names of others.
---@param entity ecs.Id
---@return string
function World:dump(entity) end

--- Writes annotations like these for all that is declared: components, events and prefabs. A file
--- that has that text already is left alone.
---@param path string
---@return boolean written
function World:write_types(path) end

--- A new entity.
---@param components? ecs.Composition
---@return ecs.Id
function World:spawn(components) end

--- A function that spawns by values, in the order of the components' fields, or of the fields that
--- are named: no table is made. Fewer values, or nil, leave the defaults of fields.
---@param components string names between commas, as in "Position, Health.hp, Alive"
---@return fun(...): ecs.Id
function World:spawner(components) end

--- Many new entities with the same values.
---@param count integer
---@param components? ecs.Composition
---@return ecs.Id[]
function World:spawn_many(count, components) end

--- A copy of an entity with all its children: values, ties, what is switched off. What leads from
--- one of them to another leads from copy to copy. Children keep their names; the copy itself has
--- none, and gets the components over what it has.
---@param e ecs.Id
---@param components? ecs.Composition
---@return ecs.Id
function World:clone(e, components) end

--- A child by place, or by the names of its components, with options among them; or its name.
---@alias ecs.PrefabChild
---| string
---| table<integer, string|ecs.Composition|ecs.PrefabOptions>
---| ecs.Composition

---@class ecs.PrefabOptions
---@field is_a? string|ecs.Id another prefab, whose components and children it has, too
---@field shared? string[]|ecs.Composition what instances read along IsA, without copies
---@field children? table<integer|string, ecs.PrefabChild> in order; those by name come last

--- Declares a template of entities, which queries do not see and which cannot be despawned.
--- Declared again, it changes, and what is made of it follows in fields that still have the old
--- value. Nothing else becomes a child of it.
---@param name string
---@param components? ecs.Composition
---@param options? ecs.PrefabOptions
---@return ecs.Id # nil while live scripts are read
function World:prefab(name, components, options) end

--- A copy of a prefab with its children, each tied by IsA to what it is a copy of.
---@param prefab string|ecs.Id
---@param components? ecs.Composition what the copy has over that
---@return ecs.Id
function World:instantiate(prefab, components) end

--- Adopts an id that was decided elsewhere. An error when its slot is taken.
---@param id ecs.Id
---@param components? ecs.Composition
---@return ecs.Id
function World:spawn_at(id, components) end

--- A random number from the stream of the running system or function form, or the world's own
--- between them, for the entity: the same in every tier. In [0, 1), or an integer from 1 to m, or
--- from m to n.
---@param entity ecs.Id
---@param m? integer
---@param n? integer
---@return number
function World:random(entity, m, n) end

--- The whole world as bytes: entities, components, names, resources, timers, streams of random
--- numbers; not the systems.
---@param options? { codec: { encode: fun(value: any): string } }
---@return string
function World:save(options) end

--- Replaces all entities by those of an image.
---@param bytes string
---@param options? { codec: { decode: fun(bytes: string): any } }
function World:load(bytes, options) end

--- A hash of the content that depends on neither table nor row order, tag nor component ids. In
--- LuaJIT it is always text.
---@param as? "text" As 16 hexadecimal digits.
---@return integer|string
function World:digest(as) end

--- Everything as it is now, in memory. `any` fields must be without values.
---@return ecs.Snapshot
function World:snapshot() end

--- Makes the world what it was. An error when components have changed their fields since.
---@param snapshot ecs.Snapshot
function World:restore(snapshot) end

---@param entity ecs.Id
function World:despawn(entity) end

--- Whether a value is the id of something alive in this world.
---@param id? any
---@return boolean
function World:alive(id) end

--- Sets fields, and adds the component when it is absent. A single table stands for fields by
--- name; else there is a value for each declared field in order, and fewer leave the rest.
--- "Position.x" takes one value. A relation takes its target before the values.
---@param entity ecs.Id
---@param component ecs.Component
---@param ... any
---@overload fun(self: ecs.World, entity: ecs.Id, component: ecs.Component, values: ecs.Values)
function World:set(entity, component, ...) end

--- The values of a component's fields in order, or of one field ("Position.x"). Nothing when
--- the entity does not have it. A relation of several targets is asked for one of them.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target
---@return any ...
function World:get(entity, component, target) end

--- The digits of an integer field ("Account.balance"). Nothing when the entity does not have it.
---@param entity ecs.Id
---@param field string
---@return string?
function World:get_text(entity, field) end

--- Sets an integer field to the number that a text is. Adds the component if it is not there.
---@param entity ecs.Id
---@param field string
---@param text string
function World:set_text(entity, field, text) end

--- A fresh table of a component's fields; true for a tag; nil when it is absent.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target
---@return table<string, any>|true|nil
function World:read(entity, component, target) end

--- Adds a component with its defaults, or ties to a target. No effect when it is there.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target Of a relation.
function World:add(entity, component, target) end

--- No effect when the component is absent. A relation without a target: all its ties.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target
function World:remove(entity, component, target) end

--- Switches a component off that is declared with `toggle`: it keeps its value, and queries pass
--- over it. No effect when it is absent.
---@param entity ecs.Id
---@param component ecs.Component
function World:disable(entity, component) end

--- Switches it on again.
---@param entity ecs.Id
---@param component ecs.Component
function World:enable(entity, component) end

--- Whether the entity has it, and not off.
---@param entity ecs.Id
---@param component ecs.Component
---@return boolean
function World:enabled(entity, component) end

--- Of a relation without a target: whether there is any.
---@param entity ecs.Id
---@param component ecs.Component
---@param target? ecs.Target
---@return boolean
function World:has(entity, component, target) end

--- Iterates over an entity's components: names (of pairs the ids), and values as read gives them.
---@param entity ecs.Id
---@return fun(): (string|ecs.Id)?, table<string, any>|true|nil
function World:components(entity) end

--- The id of a pair: taken wherever a component's is, good while its target lives.
---@param relation ecs.Component
---@param target ecs.Target
---@return ecs.Id
function World:pair(relation, target) end

--- What an entity is tied to: of several targets the one with the lowest id; nothing when there
--- is none.
---@param entity ecs.Id
---@param relation ecs.Component
---@return ecs.Id?
function World:target(entity, relation) end

--- Iterates over an entity's targets that there were when the loop began, by ascending ids.
---@param entity ecs.Id
---@param relation ecs.Component
---@return fun(): ecs.Id?
function World:targets(entity, relation) end

--- Iterates over those that were tied to a target when the loop began: of an exclusive relation in
--- the order of being tied, else in query order.
---@param target ecs.Target
---@param relation ecs.Component
---@return fun(): ecs.Id?
function World:sources(target, relation) end

--- The target of an entity's ChildOf, or nothing.
---@param entity ecs.Id
---@return ecs.Id?
function World:parent(entity) end

--- Iterates over the sources of an entity's ChildOf, in the order of being tied.
---@param entity ecs.Target
---@return fun(): ecs.Id?
function World:children(entity) end

--- Without a name: the entity's name, or nothing. With one: names the entity; false clears.
--- Names are unique among the children of one parent, and among those without. In scopes a name
--- is kept, and given when they end.
---@param entity ecs.Id
---@param name? string|false
---@return string? name
function World:name(entity, name) end

--- The entity of that name, or of a path of names ("ship.turret"), or nothing.
---@param name string
---@return ecs.Id?
function World:lookup(name) end

--- Makes spawns take indices of a range (65536 to 268435455, both included).
---@param first integer
---@param last integer
function World:entity_range(first, last) end

--- Gives back slots whose generations are used up. Returns how many.
---@return integer
function World:recycle_retired() end

--- Opens a scope: structural changes are kept until the outermost scope ends.
function World:defer() end

--- Ends the scope that defer opened; its changes apply in order.
function World:commit() end

--- Ends the scope that defer opened and drops its changes; ids spawned in it are dead.
function World:cancel() end

--- A cached query. Terms, separated by commas: Position, !Frozen, Sprite?, Circle|Box,
--- Position:in (read only), Position.x (a single field), Position:changed (written since it was
--- used last), Position:added; (Likes, Apples), (Likes, $p), (Likes, *)
--- by ties, ChildOf->World, Hunt.prey->Health, ChildOf*->Faction of others, Health($p) of $p.
---@param text string
---@param variables? table<string, ecs.Id|string> What each $name is: { p = id }.
---@return ecs.Query
function World:query(text, variables) end

---@class ecs.SystemOptions
---@field phase? string Default: "update".
---@field query? string
---@field array? string In place of query: each gets the numbers of its elements, and dt.
---@field each? function Called for every entity: views, dt, entity.
---@field map? function Called for every entity: scalars, dt, entity; results are written back.
---@field run? fun(world: ecs.World, dt: number, query: ecs.Query?)
---@field before? string|string[]
---@field after? string|string[]
---@field every? number Seconds between runs.
---@field enabled? boolean Default: true.
---@field uses? string|string[] Indexes that it looks into, where its function does not show it.
---@field when? fun(world: ecs.World): any Whether to run.
---@field compile? boolean
---@field [string] ecs.Id|string What a $name of the query is: ["$p"] = id.

--- Registers a system, or replaces the one of that name, which keeps its place, its switch and
--- its timings.
---@param name string
---@param options ecs.SystemOptions
function World:system(name, options) end

--- Removes a system or an observer.
---@param name string
function World:remove_system(name) end

---@class ecs.ObserverOptions
---@field on "add"|"set"|"remove"|"enter"|"exit"|"despawn"
---@field query string Terms about the entity itself; add, set and remove watch the first one.
---@field each function Called for every match: views, entity, targets.
---@field enabled? boolean Default: true.
---@field [string] ecs.Id|string What a $name of the query is: ["$p"] = id.

--- Registers an observer, or replaces the one of that name: it is called when what has changed is
--- applied, for what has come to match, or ceased to.
---@param name string
---@param options ecs.ObserverOptions
function World:observer(name, options) end

---@class ecs.PhaseOptions
---@field after? string
---@field before? string
---@field fixed? number Seconds of a step.

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

--- How far between two steps a fixed phase is, 0 to 1.
---@param phase? string Default: the first fixed one.
---@return number
function World:alpha(phase) end

--- Sets what is told of an error in a system, which is then parked; nil sets nothing. Of an object
--- that was raised, the text about it comes third.
---@param handler fun(message: any, system: string, text: string?)?
function World:on_error(handler) end

---@class ecs.Explanation
---@field tier "lua"|"vector"|"native"
---@field reads string[]
---@field writes string[]
---@field changed? string[] What it asks for, as `Position:changed`.
---@field marks? string[] Components of which a program marks what it writes, as somebody asks.
---@field program? string
---@field reason? string Why it stayed Lua.
---@field tables? { name: string, elements: integer, bytes: integer }[]
---@field indexes? string[] Names of the indexes that a kernel looks into.
---@field compilations? integer
---@field ordered? string How much of it is done in the order of rows: "18 of 32 instructions".
---@field order? { name: string, written: integer, read: integer }[] What it writes and sees of
---other rows, with the lines where it does so first; 0: not known.
---@field threads? integer How many threads may share its rows,
---@field alone? string and why it is one in a world with more.
---@field cells? string[] Script cells that it writes: `upvalue n`, `stats.kills`.
---@field left? { rows: integer, why: string? } How many rows were left to Lua in the last run.
---@field form? "each"|"map"|"run"|"where"|"sum"|"min"|"max" What a function was given to last,
---@field query? string the text of that query,
---@field also? ecs.Explanation[] and the other forms that it was given to.

--- Names of systems that can run side by side.
---@class ecs.Batch
---@field [integer] string
---@field why? string Why the first one does not run beside those before it.
---@field together? integer How many of several ran side by side when their phase ran last,
---@field apart? string and why they did not.

--- How a system runs, or a function that was given to a query; of "update" lists of systems that
--- can run side by side, by phase.
---@param name string|function
---@return ecs.Explanation|table<string, ecs.Batch[]>
function World:explain(name) end

--- The tables that match some terms; new ones join when they are made.
---@class ecs.Query
local Query = {}

---@return integer
function Query:count() end

--- The first entity, or nothing.
---@return ecs.Id?
function Query:first() end

--- The entities in the query's order, each once, also where it matches several times.
---@return ecs.Id[]
function Query:ids() end

--- Calls a function for every entity with a view for each term that has data (true for an
--- optional tag), then dt and the entity. Without a function: an iterator that gives views (false
--- for what is absent) and the entity.
---@param fn fun(...: any)
---@param dt? number
---@overload fun(self: ecs.Query): fun(...): any
function Query:each(fn, dt) end

--- Calls a function for every entity with the values of terms that are single fields (true for an
--- optional tag), then dt and the entity. What it returns is written to the first terms; nil leaves
--- a field.
---@param fn fun(...: any): any
---@param dt? number
function Query:map(fn, dt) end

--- Iterates over tables, all rows of one at a time.
---@return fun(): ecs.Chunk?
function Query:chunks() end

--- Calls a function for every entity as `each` does, compiled to a loop over columns. An error
--- with file, line and reason when it cannot be compiled.
---@param fn fun(...: any)
---@param dt? number
function Query:run(fn, dt) end

--- The rows that also satisfy a function of views and the entity, which is compiled if possible: a
--- query, too.
---@param fn fun(...: any): any
---@return ecs.Where
function Query:where(fn) end

function Query:despawn() end

--- As world:add, for each of its entities.
---@param component ecs.Component
---@param target? ecs.Id
function Query:add(component, target) end

--- As world:remove, for each of its entities.
---@param component ecs.Component
---@param target? ecs.Id
function Query:remove(component, target) end

--- As world:set, for all of its entities or, when it fails, for none.
---@param component ecs.Component
---@param ... any
function Query:set(component, ...) end

--- The sum of what a function of views, dt (0) and the entity returns: an integer when every row
--- gives an integer, otherwise a float; 0 on no rows.
---@param fn fun(...: any): number
---@return number
function Query:sum(fn) end

--- The least of what a function, as for sum, returns, and the first entity with it; nil on no rows.
--- Integers and floats are compared exactly.
---@param fn fun(...: any): number
---@return number? value
---@return integer? entity
function Query:min(fn) end

--- The greatest of what a function, as for sum, returns, and the first entity with it; nil on no
--- rows.
---@param fn fun(...: any): number
---@return number? value
---@return integer? entity
function Query:max(fn) end

--- A query whose rows also satisfy a function: it has what queries have.
---@class ecs.Where: ecs.Query

--- The current row's component: fields are read and written by name. Stale once its loop has
--- ended.
---@class ecs.View
---@field [string] any

--- The rows of one table.
---@class ecs.Chunk
---@field n integer How many rows.
---@field entities ecs.Column Their ids.
local Chunk = {}

--- A field's column ("Position.x"); nil when this table does not have it.
---@param name string
---@return ecs.Column?
function Chunk:column(name) end

--- Whether its entities have a component or tag, which the query need not name.
---@param component ecs.Component
---@return boolean
function Chunk:has(component) end

--- A field's values, from 1 to the chunk's n.
---@class ecs.Column
---@field [integer] any
local Column = {}

--- Copies the column into a plain array, and returns it.
---@param into? any[]
---@return any[]
function Column:read(into) end

--- Writes a plain array into the column.
---@param from any[]
function Column:write(from) end

--- A column of the world's own: outside of 1 to #array, and at a fraction, it reads nil, and
--- writing there is an error.
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

--- Copies the elements into a plain list, and returns it.
---@param into? any[]
---@return any[]
function Array:read(into) end

--- Writes a plain list into the first elements: all of it or, when a value does not fit, nothing.
---@param from any[]
function Array:write(from) end

--- Who is near a place, or has some value: a snapshot, which stays while a system runs.
---@class ecs.Index
local Index = {}

--- A loop over those whose distance is not above `reach`: `for p, v, entity in flock:within(x, y,
--- reach) do`, with a view or value for each term, which are read only. With z, where the component
--- has one.
---@param x number
---@param y number
---@param reach number
---@return fun(): ecs.View|any, ...
---@overload fun(self: ecs.Index, x: number, y: number, z: number, reach: number): fun(): any
function Index:within(x, y, reach) end

--- The nearest one, and how far it is; nil when there is none within reach. Of several the first
--- in the order of the query.
---@param x number
---@param y number
---@param reach number
---@param except? ecs.Id Somebody who is passed over.
---@return ecs.Id?
---@return number? distance
---@overload fun(self: ecs.Index, x: number, y: number, z: number, reach: number): ecs.Id?, number?
function Index:nearest(x, y, reach, except) end

--- By hash and maybe: a loop over those whose key equals a value, in the order of the query.
---@param value number|string|boolean|nil
---@return fun(): ecs.View|any, ...
function Index:find(value) end

--- In order: a loop over those whose keys are between two numbers, both included.
---@param least number
---@param most number
---@return fun(): ecs.View|any, ...
function Index:range(least, most) end

--- In order: so many with the lowest keys, from the lowest up.
---@param count integer
---@return fun(): ecs.View|any, ...
function Index:lowest(count) end

--- In order: so many with the highest keys, from the highest down.
---@param count integer
---@return fun(): ecs.View|any, ...
function Index:highest(count) end

return ecs
