/*
** ecs: an entity component system runtime.
**
** A world holds entities; an entity is an id that carries components; a component is a
** list of typed fields, each kept as one contiguous column per table (the set of entities
** with the same components). Systems are functions that run in phases over queries.
**
** Nothing here prints, aborts, exits or calls malloc: memory comes from the allocator of
** the world, failures come back as ecs_status, and a call that fails leaves the world as it
** was. ecs_message() says in words what the last failing call of that world disliked.
** A world belongs to one thread at a time; different worlds share nothing.
*/
#ifndef ECS_H
#define ECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(ECS_SHARED)
#define ECS_API __declspec(dllexport)
#elif defined(__GNUC__)
#define ECS_API __attribute__((visibility("default")))
#else
#define ECS_API
#endif

/* Of this header, and of the library that it came with. */
#define ECS_VERSION_MAJOR 0
#define ECS_VERSION_MINOR 1
#define ECS_VERSION_PATCH 0
#define ECS_VERSION "0.1.0"

typedef struct ecs_world ecs_world;
typedef struct ecs_query ecs_query;
typedef struct ecs_system ecs_system;

/* An entity, component or tag. Bits 0-27: index; 28-43: generation; 44-51: the world's tag. */
typedef uint64_t ecs_id;

#define ECS_NULL ((ecs_id)0)

typedef enum ecs_status {
  ECS_OK,
  ECS_ENOMEM,   /* the allocator refused; nothing changed, trying again is fine */
  ECS_ELIMIT,   /* a limit of the runtime is reached (ids, rows, fields, sizes) */
  ECS_EINVAL,   /* an argument makes no sense */
  ECS_ENAME,    /* no component, system, phase or field of that name */
  ECS_ETYPE,    /* a value of the wrong type for its field */
  ECS_ERANGE,   /* a value out of range for its field */
  ECS_EDEAD,    /* the entity is dead */
  ECS_EUNBORN,  /* the id was never given out */
  ECS_EWORLD,   /* the id belongs to another world */
  ECS_ENOID,    /* the number is no id */
  ECS_ETAKEN,   /* a slot or name is in use */
  ECS_EBUSY,    /* not possible inside a system, a function form or defer */
  ECS_ECYCLE,   /* before/after contradict each other; a component would require itself */
  ECS_EABSENT,  /* the entity does not have the component */
  ECS_EUSER,    /* a callback of the host failed */
  ECS_ECORRUPT  /* ecs_check found a broken invariant */
} ecs_status;

/* As lua_Alloc: frees when nsize is 0; osize is the exact size of ptr (0 for NULL). */
typedef void *(*ecs_alloc)(void *ud, void *ptr, size_t osize, size_t nsize);

/* ---- worlds ---------------------------------------------------------------------- */

typedef struct ecs_world_desc {
  ecs_alloc alloc;   /* required */
  void *alloc_ud;
  uint32_t tag;      /* 1 to 255, part of every entity's id */
  uint64_t seed;
} ecs_world_desc;

ECS_API ecs_status ecs_world_new(const ecs_world_desc *desc, ecs_world **out);

/* Frees everything; systems' free callbacks run. Not allowed from inside a system. */
ECS_API void ecs_world_free(ecs_world *world);

/* What the last failing call on this world disliked; "" at first. */
ECS_API const char *ecs_message(const ecs_world *world);

/* Bytes now held from the allocator. */
ECS_API size_t ecs_bytes(const ecs_world *world);

ECS_API uint32_t ecs_world_tag(const ecs_world *world);

/* Entities alive, components and tags not counted. */
ECS_API size_t ecs_alive_count(const ecs_world *world);

/* Walks every invariant: ECS_OK, or ECS_ECORRUPT with a message. */
ECS_API ecs_status ecs_check(ecs_world *world);

/* ---- ids ------------------------------------------------------------------------- */

static inline uint32_t ecs_id_index(ecs_id id) { return (uint32_t)(id & 0xFFFFFFF); }
static inline uint32_t ecs_id_generation(ecs_id id) { return (uint32_t)(id >> 28) & 0xFFFF; }
static inline uint32_t ecs_id_tag(ecs_id id) { return (uint32_t)(id >> 44) & 0xFF; }

/* ECS_OK when alive in this world, else EDEAD, EUNBORN, EWORLD or ENOID. */
ECS_API ecs_status ecs_entity_status(const ecs_world *world, ecs_id id);
ECS_API bool ecs_alive(const ecs_world *world, ecs_id id);

/* Spawns take indices from first to last (both included) from now on. At least 65,536. */
ECS_API ecs_status ecs_entity_range(ecs_world *world, uint32_t first, uint32_t last);

/* Gives retired slots (their generations used up) back, after setting every entity field
** that still names one to ECS_NULL. *count is how many. */
ECS_API ecs_status ecs_recycle_retired(ecs_world *world, size_t *count);

/* ---- components ------------------------------------------------------------------ */

typedef enum ecs_type {
  ECS_F32, ECS_F64, ECS_I8, ECS_I16, ECS_I32, ECS_I64, ECS_U8, ECS_U16, ECS_U32,
  ECS_BOOL, ECS_ENTITY, ECS_STRING, ECS_ANY, ECS_ENUM,
  ECS_NESTED,  /* the fields of another component */
  ECS_U64
} ecs_type;

/* A string value, in values and in native structs; need not end in a zero byte. What
** ecs_get returns stays valid until the next call that changes the world. */
typedef struct ecs_string {
  const char *data;
  size_t size;
} ecs_string;

typedef enum ecs_kind {
  ECS_KIND_NONE, ECS_KIND_BOOL, ECS_KIND_INTEGER, ECS_KIND_NUMBER, ECS_KIND_STRING
} ecs_kind;

/* A value on its way into a field: a default, or one handed over from a script. Ids are
** integers, enum names are strings; a u64 from 2^63 on is the integer with its bits. */
typedef struct ecs_value {
  ecs_kind kind;
  bool boolean;
  int64_t integer;
  double number;
  ecs_string string;
} ecs_value;

typedef struct ecs_field {
  const char *name;
  ecs_type type;
  uint32_t count;            /* elements of an array; 0 for a single value */
  ecs_id nested;             /* ECS_NESTED: the component whose fields these are */
  const char *const *names;  /* ECS_ENUM: its names, 1 to 65,535 */
  uint32_t name_count;
  ecs_value value;           /* the default; ECS_KIND_NONE for zero */
  size_t offset;             /* in the native struct, when the component has one */
  const char *doc;           /* these five are hints for tools, NULL when absent;
                                but for text, at most 65,535 bytes each */
  const char *unit;
  const char *min;
  const char *max;
  const char *text;          /* the type as it was written, for describe */
} ecs_field;

/* A field that was called otherwise in an earlier declaration of its component. */
typedef struct ecs_rename {
  const char *name;
  const char *was;
} ecs_rename;

/* What becomes of a source of a relation when its target dies. */
typedef enum ecs_policy {
  ECS_TARGET_REMOVE,         /* it loses the tie */
  ECS_TARGET_DESPAWN,        /* it dies, too */
  ECS_TARGET_ERROR           /* the target cannot be despawned as long as it has sources */
} ecs_policy;

typedef struct ecs_component_desc {
  const char *name;          /* an identifier */
  const ecs_field *fields;
  uint32_t field_count;      /* 0 makes a tag */
  size_t native_size;        /* sizeof the native struct, at most 512 KB; 0: by C's rules */
  const char *doc;
  const ecs_rename *was;     /* for migration */
  uint32_t was_count;
  const ecs_id *required;    /* components and tags, no relations, that adding it brings */
  uint32_t required_count;
  const char *old_name;      /* what the component was called before; may be unknown, or NULL */
  bool relation;             /* it ties its entity to others: see ecs_relation */
  bool exclusive;            /* of relations: one target at most */
  bool acyclic;              /* of exclusive ones: no way leads back to where it began */
  ecs_policy on_target_despawn;
  bool toggle;               /* no relation: it can be switched off, by ecs_disable */
  bool sparse;               /* kept outside of tables, packed: adding it and removing it move no
                             ** row, and cells of others stay where they are; not for relations */
  uint32_t length;           /* not 0: an array of the world, as ecs_array declares it, and no
                             ** component; it has one field and none of the options above */
  bool event;                /* an event, as ecs_event declares it, which no entity has; it takes
                             ** no option but `was` and `old_name` */
} ecs_component_desc;

/* Declares a component, or finds it when it has the same fields already. With other fields
** it is migrated in every table: fields are matched by name (`was` for renames), added ones
** get their default, floats round, anything else must be exact. ECS_ERANGE names the entity,
** field and value that would not fit, ECS_EBUSY comes inside scopes; the world is then as it
** was. Components made of this one follow. The one that still has old_name becomes this one, with
** its id, rows and values, and images that have the old name load into it; ECS_ETAKEN when both
** names are in use. Rows that have it get what it requires and they lack; ECS_ECYCLE, with the
** path, when it would come to require itself. Whether it is sparse may be declared otherwise, too:
** values move. ECS_EBUSY when it is no longer a `toggle` while an entity has it off. */
ECS_API ecs_status ecs_component(ecs_world *world, const ecs_component_desc *desc,
                                 ecs_id *out);

/* A component without fields; what it requires, and where it is kept, stays. ECS_EINVAL when it has
** some: only ecs_component drops them. */
ECS_API ecs_status ecs_tag(ecs_world *world, const char *name, ecs_id *out);

/* Declares a relation: a component that ties its entity, the source, to a target. Of a relation
** with several targets, each tie is a pair, an id that is used like a component's and has the
** fields as its data. An exclusive relation has a field `target` of type entity before those that
** are given (its struct begins with an ecs_id), which ecs_set changes like the others; an entity
** has it as long as its target lives. desc->relation need not be set. */
ECS_API ecs_status ecs_relation(ecs_world *world, const ecs_component_desc *desc, ecs_id *out);

/* The component or tag of that name; ECS_NULL when there is none. */
ECS_API ecs_id ecs_component_find(const ecs_world *world, const char *name);
ECS_API const char *ecs_component_name(const ecs_world *world, ecs_id component);

/* Removes the component from every entity and forgets it. ECS_EINVAL while another component's
** field is made of it, or another component requires it. Queries that name it fail from then on
** (ECS_ENAME). */
ECS_API ecs_status ecs_undeclare(ecs_world *world, ecs_id component);

/* One value of a component, owned by the world. */
ECS_API ecs_status ecs_resource(ecs_world *world, ecs_id component);
ECS_API ecs_status ecs_resource_set(ecs_world *world, ecs_id component, const void *value);
ECS_API ecs_status ecs_resource_get(const ecs_world *world, ecs_id component, void *value);

/* Declares an array: a column of `length` cells (1 to 16,777,216) of a number type, bool or entity,
** that belongs to the world and no entity has. Its name is one among those of components. Declared
** again it is found; with another type or length its values are kept by index, converted as those
** of components are, and what is new is 0. ECS_ERANGE names the element that would not fit,
** ECS_EBUSY comes inside scopes; the array is then as it was. ecs_undeclare drops it. */
ECS_API ecs_status ecs_array(ecs_world *world, const char *name, ecs_type type, uint32_t length,
                             ecs_id *out);

/* The cells of an array and how many they are; NULL with a message when it is none. Good until it
** is declared with another type or length or undeclared, or the world is loaded. Ids in it may be
** of entities that have died since: scripts read those as ECS_NULL. What is written must be values
** of the type: 0 or 1 for bool, living entities or ECS_NULL. */
ECS_API void *ecs_array_data(ecs_world *world, ecs_id array, size_t *length);

/* Declares an event: rows of the fields that belong to the world and that no entity has. Its name
** is one among those of components; desc->event need not be set. Declared again it is found, or its
** rows are migrated as those of components are. ecs_undeclare drops it with its rows. */
ECS_API ecs_status ecs_event(ecs_world *world, const ecs_component_desc *desc, ecs_id *out);

/* Emits one, with the event's native struct (NULL for one without fields). It is there at once, not
** when the scope ends; what a scope that fails or is cancelled has emitted is dropped with it. A
** query whose first term names the event goes through them in the order of emission, and a system
** with such a query is given each of them once. One is dropped when the update behind its own has
** ended (emitted between updates, its own is the next), but not before each fixed phase and each
** system with an interval that reads it was due once. Columns that an iterator has given go on
** showing the events that were there when one more is emitted. */
ECS_API ecs_status ecs_emit(ecs_world *world, ecs_id event, const void *value);

/* Puts one off: it is emitted at the beginning of the first update by which so many seconds have
** passed in updates, not counting one that is under way. A scope that fails drops it. */
ECS_API ecs_status ecs_after(ecs_world *world, double seconds, ecs_id event, const void *value);

/* ---- entities -------------------------------------------------------------------- */

/* Components get their defaults. Inside a scope (see below) the entity is alive at once
** and gets its components when the scope ends. */
ECS_API ecs_status ecs_spawn(ecs_world *world, const ecs_id *components, size_t n,
                             ecs_id *out);

/* count entities at once; ids may be NULL or room for count ids. */
ECS_API ecs_status ecs_spawn_many(ecs_world *world, size_t count, const ecs_id *components,
                                  size_t n, ecs_id *ids);

/* Adopts an id decided elsewhere. ECS_ETAKEN when its slot is in use. */
ECS_API ecs_status ecs_spawn_at(ecs_world *world, ecs_id id, const ecs_id *components,
                                size_t n);
ECS_API ecs_status ecs_despawn(ecs_world *world, ecs_id entity);

/* No effect when it is there already. What it requires comes with it, with defaults, as in all
** that adds. */
ECS_API ecs_status ecs_add(ecs_world *world, ecs_id entity, ecs_id component);
/* No effect when it is absent. ECS_EINVAL, naming both, while a component that the entity has
** requires it; inside a scope that is told by what ends it (see below). */
ECS_API ecs_status ecs_remove(ecs_world *world, ecs_id entity, ecs_id component);
ECS_API bool ecs_has(const ecs_world *world, ecs_id entity, ecs_id component);

/* Switches a component on or off that is declared with `toggle`. Its value stays, and ecs_has,
** ecs_get and ecs_set see it as before; to queries an entity that has it off is without it, unless
** they ask for `C:off` or `C:any`. What is added is on. No effect on an entity without it. */
ECS_API ecs_status ecs_enable(ecs_world *world, ecs_id entity, ecs_id component);
ECS_API ecs_status ecs_disable(ecs_world *world, ecs_id entity, ecs_id component);

/* Whether the entity has it, and not off. */
ECS_API bool ecs_enabled(const ecs_world *world, ecs_id entity, ecs_id component);

/* value points to the component's struct: the host's own, or laid out by C's rules. Adds
** the component when it is absent. ECS_ERANGE names an enum or id that is none. */
ECS_API ecs_status ecs_set(ecs_world *world, ecs_id entity, ecs_id component,
                           const void *value);
/* Fills the struct. ECS_EABSENT when the entity does not have it. */
ECS_API ecs_status ecs_get(const ecs_world *world, ecs_id entity, ecs_id component,
                           void *value);

/* One cell of a column, or NULL; valid until the next structural change. leaf counts the
** component's fields with arrays and nested components flattened. */
ECS_API void *ecs_cell_of(const ecs_world *world, ecs_id entity, ecs_id component,
                          uint32_t leaf);

/* The component and the leaf that a path names: "Position.x", "Body.m[2]", "Body.at.x".
** ECS_ENAME says what to write instead. Other fields (a migration) may have other leaves. */
ECS_API ecs_status ecs_leaf(const ecs_world *world, const char *path, ecs_id *component,
                            uint32_t *leaf);

/* ecs_cell_of by a path; NULL with a message that says why. Loops do better with ecs_leaf
** before them. */
ECS_API void *ecs_cell_named(const ecs_world *world, ecs_id entity, const char *path);

/* The id of a pair, good as long as its target lives, which ecs_add, ecs_remove, ecs_has, ecs_set,
** ecs_get and the spawning functions take like a component's. */
static inline ecs_id ecs_pair(ecs_id relation, ecs_id target) {
  return (ecs_id)1 << 52 | (ecs_id)ecs_id_index(relation) << 28 | ecs_id_index(target);
}

/* The target of an exclusive relation, the first one by its index of another; ECS_NULL when there
** is none. ecs_next_target gives the one behind `after`. */
ECS_API ecs_id ecs_target(const ecs_world *world, ecs_id source, ecs_id relation);
ECS_API ecs_id ecs_next_target(const ecs_world *world, ecs_id source, ecs_id relation,
                               ecs_id after);

/* Those that are tied to the target: of an exclusive relation in the order in which they were
** tied, else in query order. Writes at most `room` of them, and returns how many there are. */
ECS_API size_t ecs_sources(const ecs_world *world, ecs_id target, ecs_id relation, ecs_id *ids,
                           size_t room);

/* The relation ChildOf, of which every world has one: exclusive, without circles; children keep
** their order and die with their parent. ecs_children gives those of an entity as ecs_sources
** does. */
ECS_API ecs_status ecs_child_of(ecs_world *world, ecs_id *out);
ECS_API size_t ecs_children(const ecs_world *world, ecs_id parent, ecs_id *ids, size_t room);

/* Names are unique among living entities; NULL clears. */
ECS_API ecs_status ecs_name(ecs_world *world, ecs_id entity, const char *name);
ECS_API const char *ecs_name_of(const ecs_world *world, ecs_id entity);
ECS_API ecs_id ecs_lookup(const ecs_world *world, const char *name);

/* ---- scopes ---------------------------------------------------------------------- */

/* While a scope is open, structural changes are kept and applied in order when the outermost
** one ends, several on one entity as one move. Systems and iterations open one themselves.
** ecs_commit on ECS_ENOMEM leaves the scope open; ecs_cancel drops its changes, and does the same
** when what others left to be applied by it finds no memory. A change that turns out to be
** impossible (removing what the entity, with all its changes, still requires) is dropped, the
** others are applied, and the first such failure is what ecs_commit, ecs_iter_close or the system
** returns; the scope has ended then. */
ECS_API ecs_status ecs_defer(ecs_world *world);
ECS_API ecs_status ecs_commit(ecs_world *world);
ECS_API ecs_status ecs_cancel(ecs_world *world);

/* ---- queries --------------------------------------------------------------------- */

/* Terms separated by commas: Position, !Frozen, Sprite?, Circle|Box, Position:in,
** Position.x, with Enemy. A query is cached: new tables join it when they are made. */
ECS_API ecs_status ecs_query_new(ecs_world *world, const char *text, ecs_query **out);

/* Terms about ties and about others, with the value of each $name that is given, an entity or a
** component: (Likes, Apples), (Likes, $p), (Likes, *), ChildOf->World, ChildOf*->Faction,
** Hunt.prey->Health, Health($p). */
typedef struct ecs_variable {
  const char *name;        /* without the $ */
  ecs_id value;
} ecs_variable;
ECS_API ecs_status ecs_query_with(ecs_world *world, const char *text,
                                  const ecs_variable *variables, uint32_t count, ecs_query **out);
/* A system's own query goes with the system: to free that one does nothing. Iterations of any
** other are closed before. */
ECS_API void ecs_query_free(ecs_query *query);
ECS_API size_t ecs_query_count(const ecs_query *query);

/* Counts without making a query. */
ECS_API ecs_status ecs_count(ecs_world *world, const char *text, size_t *out);

/* Whole tables at once: add or remove a component, or despawn, every row of a query. */
ECS_API ecs_status ecs_query_add(ecs_query *query, ecs_id component);
ECS_API ecs_status ecs_query_remove(ecs_query *query, ecs_id component);
ECS_API ecs_status ecs_query_despawn(ecs_query *query);

typedef struct ecs_iter {
  ecs_query *query;
  size_t count;            /* rows that lie together in a table */
  const uint32_t *rows;    /* their entities' indices: ecs_iter_entity; NULL of events */
  uint32_t match;          /* the rest is private */
  uint32_t table;
  uint32_t first;
  uint32_t behind;
  uint32_t scope;
  bool open;
  struct passage *passage;
} ecs_iter;

/* An open iteration is a scope; close it also when leaving early. */
ECS_API ecs_status ecs_iter_open(ecs_query *query, ecs_iter *it);
ECS_API bool ecs_iter_next(ecs_iter *it);
ECS_API ecs_status ecs_iter_close(ecs_iter *it);
ECS_API ecs_id ecs_iter_entity(const ecs_iter *it, size_t row);

/* The column of the term's leaf (terms and leaves count from 0), it->count values long; NULL for a
** tag, a term behind `with` or `!`, or an absent optional. It is 64-byte aligned and padded to 64
** bytes, unless the query has terms about ties or others, or sparse ones: then the rows of a table
** come in runs, of one row where their cells do not lie together, or where there is a value. */
ECS_API void *ecs_iter_column(const ecs_iter *it, uint32_t term, uint32_t leaf);

/* What a `*`, or a variable that was not given, is in this run: counted from 0 in the order of the
** text, ECS_NULL for others. */
ECS_API ecs_id ecs_iter_value(const ecs_iter *it, uint32_t variable);

/* Whether the rows of this table have the term's component: what a tag with `?`, which has no
** column, is asked for. False before the first table. */
ECS_API bool ecs_iter_has(const ecs_iter *it, uint32_t term);

/* ---- phases and systems ---------------------------------------------------------- */

typedef struct ecs_phase_desc {
  const char *name;
  const char *after;   /* NULL: after the last phase, or just before `before` */
  const char *before;
  double fixed;        /* seconds of a fixed step; 0 for once an update */
} ecs_phase_desc;

/* Runs as often as time demands when fixed, at most 8 steps an update. Declaring a phase
** again replaces its description. */
ECS_API ecs_status ecs_phase(ecs_world *world, const ecs_phase_desc *desc);

/* What a system is called with. dt: seconds since it last ran. */
typedef ecs_status (*ecs_run_fn)(ecs_world *world, ecs_query *query, double dt, void *ud);

typedef struct ecs_system_desc {
  const char *name;
  const char *phase;              /* NULL: "update" */
  const char *query;              /* NULL: none */
  ecs_query *reads;               /* without `query`: one of the caller's that the system goes
                                  ** through, and that outlives it; or NULL */
  const char *const *before;      /* names of systems of the phase, ended by NULL; or NULL */
  const char *const *after;
  double every;                   /* seconds between runs; 0: always */
  bool disabled;
  const char *owner;              /* who registered it, for ordering and describe */
  ecs_run_fn run;
  ecs_status (*when)(ecs_world *world, void *ud, bool *run);  /* NULL: always */
  void (*free)(void *ud);                    /* called when the system goes; may be NULL */
  void *ud;
} ecs_system_desc;

/* Registers a system, or replaces the one of that name, which keeps its place, its switch and
** its timings. ECS_ECYCLE, with the cycle in the message, leaves things as they were. */
ECS_API ecs_status ecs_system_new(ecs_world *world, const ecs_system_desc *desc);
ECS_API ecs_status ecs_system_remove(ecs_world *world, const char *name);

/* Turns a system or a phase on or off. */
ECS_API ecs_status ecs_switch(ecs_world *world, const char *name, bool on);

/* Called with a failing system, which is then parked: not run until registered again. */
typedef void (*ecs_error_fn)(ecs_world *world, const char *system, ecs_status status,
                             void *ud);
ECS_API void ecs_on_error(ecs_world *world, ecs_error_fn fn, void *ud);

/* Runs all phases; dt in seconds, finite and not negative. */
ECS_API ecs_status ecs_update(ecs_world *world, double dt);

/* Runs one phase or system. */
ECS_API ecs_status ecs_run(ecs_world *world, const char *name, double dt);

/* How far between two steps a fixed phase is, 0 to 1; NULL: the first fixed one. */
ECS_API ecs_status ecs_alpha(ecs_world *world, const char *phase, double *out);

/* ---- saving and loading ----------------------------------------------------------- */

/* Take and give exactly `size` bytes; false stops. They must not touch the world. */
typedef bool (*ecs_write_fn)(void *ud, const void *data, size_t size);
typedef bool (*ecs_read_fn)(void *ud, void *data, size_t size);

/* How `any` values become bytes and come back. encode writes one value's bytes and returns
** false to refuse; decode is given them and returns a slot, or 0 when it fails. */
typedef struct ecs_codec {
  bool (*encode)(void *ud, uint32_t slot, const char **data, size_t *size);
  uint32_t (*decode)(void *ud, const char *data, size_t size);
  void *ud;
} ecs_codec;

/* Writes the whole world: entities with their ids and components, names, resources, timers of
** phases and systems, streams of random numbers; not the systems. codec may be NULL when no `any`
** field has a value. ECS_EUSER when the writer stopped, ECS_EBUSY inside scopes. */
ECS_API ecs_status ecs_save(ecs_world *world, ecs_write_fn write, void *ud,
                            const ecs_codec *codec);

/* Replaces all entities by the image's; systems and queries stay. Components are matched by
** name and migrated to what this world declares, unknown ones are created. ECS_ECORRUPT for
** bytes that are no image, and for more bytes than an image: at its end `read` is asked for one
** byte, which it must refuse. Any failure leaves the world as it was. */
ECS_API ecs_status ecs_load(ecs_world *world, ecs_read_fn read, void *ud,
                            const ecs_codec *codec);

/* The whole world, kept in memory: for undo, and to run a stretch of time again. `any` fields
** must be without values (ECS_ETYPE names the component). It lives until it is freed, at most
** as long as its world. */
typedef struct ecs_snapshot ecs_snapshot;
ECS_API ecs_status ecs_snapshot_new(ecs_world *world, ecs_snapshot **out);
ECS_API void ecs_snapshot_free(ecs_snapshot *snapshot);

/* Makes the world what it was, except that components declared since stay declared. ECS_EINVAL
** when components have changed their fields, gone, or a world was loaded since. The same
** snapshot may be restored many times. */
ECS_API ecs_status ecs_restore(ecs_snapshot *snapshot);

/* A hash of the content: of living entities, their components and names, and of resources. It
** depends on neither table nor row order, tag nor component ids. */
ECS_API uint64_t ecs_digest(const ecs_world *world);

#ifdef __cplusplus
}
#endif

#endif
