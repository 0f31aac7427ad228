/* What the files of the binding share: methods of each kind of object, and their data. */
#ifndef ECS_LUA_API_API_H
#define ECS_LUA_API_API_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

#include "core/base/base.h"
#include "ecs_types.h"
#include "front/front.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/loop/loop.h"

struct change;
struct ecs_component_desc;
struct ecs_phase_desc;
struct kernel_box;
struct key_box;
struct prefab_node;
struct report;
struct system_box;

/* The kinds of objects that scripts get; the methods of a world are listed by file. */

extern const char kind_array, kind_image, kind_index, kind_listed, kind_parts, kind_query,
    kind_snapshot;

extern const luaL_Reg world_array_methods[], world_component_methods[], world_core_methods[],
    world_describe_methods[], world_entity_methods[], world_event_methods[], world_image_methods[],
    world_index_methods[], world_prefab_methods[], world_query_methods[], world_relation_methods[],
    world_schedule_methods[], world_spawn_methods[], world_system_methods[], world_metamethods[];

extern const luaL_Reg array_methods[], array_metamethods[], image_metamethods[], index_methods[],
    index_metamethods[], listed_metamethods[], parts_metamethods[], query_methods[],
    query_metamethods[], snapshot_metamethods[];

/* The functions of ecs.math, in the order of their names. */
extern const luaL_Reg portable_functions[];

/* Which term of a query makes its matches not contiguous. */

/* Pushes a reason and, if the reason is that matches are not contiguous, the term that causes it;
** the query may be NULL. */
void apart_push(lua_State *L, const char *why, const ecs_query *query);

/* Methods of queries, and of q:where(fn), on all their entities: count, list, set. */

/* q:count(), q:first(), q:ids() */
int query_count(lua_State *L);
int query_first(lua_State *L);
int query_ids(lua_State *L);

/* q:set(component, ...): like the world's method, once for each entity: all of them or, on failure,
** none. */
int query_set(lua_State *L);

/* Moves the loop at 1 to its next run of rows, restricted to those that it visits. */
bool source_next(lua_State *L, struct loop_box *loop);

/* The first row from a given one on that the loop visits; the number of rows if there is none. */
uint32_t source_row(const struct loop_box *loop, uint32_t row);

/* Methods of queries, and of q:where(fn), that change or despawn their entities: like the world's
** methods, once for each entity. */

/* q:despawn(), q:add(component, ...), q:remove(component, ...) */
int query_despawn(lua_State *L);
int query_add(lua_State *L);
int query_remove(lua_State *L);

/* What scripts pass to spawn, { Position = { x = 1 }, Frozen = true, [id] = {} }, as parts for the
** core. */

#define PARTS_LOCAL 16

/* The components in a spawn's table, with their writes. */
struct composition {
  struct input input;
  uint32_t count;
  uint32_t capacity;
  bool tied;               /* a relation is among them */
  const struct migration *migration;   /* values fit components as it will leave them; or NULL */
  struct part *parts;      /* `local`, or the world box's scratch */
  struct part local[PARTS_LOCAL];
};

/* Begins an empty composition. */
void composition_begin(struct composition *plan, lua_State *L, struct world_box *box);

/* Reads one component: its name or id is below the top of the stack, its value is at the top, with
** the given absolute index. */
void composition_add_part(struct composition *plan, int index);

/* Sets the pointers from parts to their writes, once all parts are read. */
void composition_end(struct composition *plan);

/* Begins, reads and ends a composition. The second puts some of its parts in the order of ties. */
void composition_read(struct composition *plan, lua_State *L, struct world_box *box, int index);
void composition_order(struct composition *plan, uint32_t first, uint32_t count);

/* Pushes a description of the index named by the string at a stack index; false if there is
** none. */
bool index_explain(lua_State *L, const ecs_world *world, int name);

/* Letting go of a world that a host has lent: this Lua state leaves nothing in it. */

/* Removes from a lent world what this state has put into it: systems, queries, any values. Cannot
** fail. */
void world_disown(lua_State *L, struct world_box *box, ecs_world *world);

/* Lets the core end the world's loops that are open when an update, or a system, begins. */
void world_own_loops(struct world_box *box);

/* Registry key of the objects of lent worlds, which are keyed by address. */
extern const char lent_worlds_key;

/* Arrays: columns of the world, as scripts use them. */

#define ARRAY_WORLD 1    /* user values: the world's object */
#define ARRAY_NAME 2     /* its name */
#define ARRAY_VALUES 2

/* A script's array object, by id. */
struct array_box {
  struct head head;
  struct world_box *box;
  ecs_id id;                       /* ECS_NULL: known only by name until its first use */
  uint64_t version;                /* registry.version when `component` was found */
  const struct component *component;
};

/* The array of an object, as it is declared now; NULL if it is no longer declared, or the world is
** closed. */
const struct component *array_find(lua_State *L, int index, struct array_box *array);

/* Pushes world:describe(name): { name, id, storage, size, fields }. Runs no finalizers. */
void push_component_description(lua_State *L, int world_index, ecs_id component);

/* Declaring components from Lua. */

/* Declares a component from a description; while scripts are read, in the transaction, where a
** foreign component cannot change. With ECS_OK pushes the report of a migration, or nil. */
ecs_status declare_desc(lua_State *L, struct world_box *box, const struct ecs_component_desc *desc,
                        bool foreign, ecs_id *id);

/* world:relation(name, fields) and world:event(name, fields); the fields are optional. */
int declare_method(lua_State *L, const char *kind);

/* Pushes what a migration did to a component: { kept =, added =, dropped =, converted =, types =,
** renamed =, maybe_renamed =, rows =, was = }. */
void push_report(lua_State *L, const struct report *report);

/* native.schema(fn): sets the function that turns (name, fields as world:component takes them) into
** plain tables, or nil and a message. */
int ecs_native_schema(lua_State *L);
/* In the registry: closed(world), called for worlds that are closed. */
extern const char world_closed_key;

/* Calls the function of native.schema with the values at two indices, and the kind of declaration
** (NULL for a component); pushes the plain table, or raises. */
void declare_parse(lua_State *L, int name, int fields, const char *kind);

/* Indexes in scripts. */

#define INDEX_WORLD 1    /* user values: the world's object */
#define INDEX_NAME 2     /* its name */
#define INDEX_VALUES 2

/* A script's index object, by name. */
struct index_box {
  struct head head;
  struct world_box *box;
  struct ecs_index *index;         /* as of that version of the world's indexes */
  uint64_t version;
};

extern const char *const index_kinds[];   /* the option for each kind, by ecs_index_by */

/* The index of the object at a stack index; NULL if it is no longer declared, or the world is
** closed. */
struct ecs_index *index_find(lua_State *L, int index, struct index_box *object);

/* Updates the index, or raises why that is impossible; its world's object is at a stack index. */
void index_bring_up(lua_State *L, struct world_box *box, int world_index,
                    struct ecs_index *index);

/* C functions, (world, name, options, registration), that register in the transaction of a swap.
** The first is for systems and observers. An index is built into its registration. */
int system_in_swap(lua_State *L);
int index_in_swap(lua_State *L);

/* Warns about observers that seem to wait for values that views write; the world is at 1. */
void observers_doubt(lua_State *L, const struct world_box *box);

/* Methods of a world about copies of entities, and prefabs. */

/* A C function that declares a prefab from the list of lua/ecs/prefab.lua: (world, list). */
int prefab_declare_listed(lua_State *L);

/* Queries in scripts. */

#define QUERY_WORLD 1        /* its user values */
#define QUERY_KERNELS 2      /* the compiled functions */
#define QUERY_VARIABLES_GIVEN 3   /* of a pending query: the table of its variables, or nil */
#define QUERY_VALUES 3

/* The error for calling a query or q:where(fn). */
int query_call(lua_State *L);

#define BODY_SITES 8

/* A for loop over a query with a compiled body: see loop_kernel.c. */
struct body_site {
  const void *function;
  uint32_t line;
  uint32_t rests, tired;     /* runs by Lua until it is compiled again: left, last time */
};

struct query_box {
  struct head head;
  struct world_box *box;
  ecs_query *query;          /* NULL before it is made and after it is freed */
  bool pending;              /* made by a script that has not been swapped in yet */
  struct body_site sites[BODY_SITES];
};

/* Pushes a new query over the world at an index. */
struct query_box *query_push(lua_State *L, struct world_box *box, int world_index,
                             const struct query_text *text);

/* Likewise, but pushes the query that the world at 1 keeps under the value at `key`, or a new one.
** It keeps that one, too, unless only the text may be shared, not the query. */
void query_push_kept(lua_State *L, struct world_box *box, int key, const struct query_text *text);

/* The text of a query; "closed" if it has no query in the core. */
const char *query_box_text(const struct query_box *query);

/* Pushes a query object without a query in the core. */
struct query_box *query_box_push(lua_State *L, struct world_box *box, int world_index);

/* Pushes a key for a function's use: the kind of use, the query's text, and its unset variables. */
void query_push_key(lua_State *L, const struct query_box *query, lua_Integer use);

/* The query at an argument, with its world open, or an error. Counts a public call. */
struct query_box *check_query(lua_State *L, int arg);

/* Frees this state's queries of a world that it lets go; their loops have ended. */
void queries_free(const struct world_box *box, ecs_world *world);

/* Pushes the world of the query at an index. */
static inline int push_query_world(lua_State *L, int query_index) {
  lua_getiuservalue(L, query_index, QUERY_WORLD);
  return lua_gettop(L);
}

/* Relations from Lua: what lua_entity.c leaves to lua_relation.c. */

/* Methods on an entity (argument 2) and a relation (argument 3: its name or id, or a pair's id;
** then possibly a target at 4). They return how many results they have pushed. */
int relation_add(lua_State *L, struct world_box *box, struct component *component);
int relation_remove(lua_State *L, struct world_box *box, struct component *component);
int relation_has(lua_State *L, struct world_box *box, struct component *component);

/* set, get and read of a pair; `leaf` is NONE for all fields. An exclusive relation is set and read
** like a component, unless a target is given. */
int relation_set(lua_State *L, struct world_box *box, struct component *component,
                 uint32_t leaf);
int relation_get(lua_State *L, struct world_box *box, struct component *component,
                 uint32_t leaf);
int relation_read(lua_State *L, struct world_box *box, struct component *component);

/* Reads the options of a phase from the table at an index (nil: none); pushes what they need. */
void read_phase(lua_State *L, int index, struct ecs_phase_desc *desc);

/* Keeps a text for Lua's `warn` at the next world:update; each text is shown only once. */
FORMAT(4, 5)
void warn_later(lua_State *L, struct world_box *box, int world_index, const char *format,
                ...);

/* Methods of a world that create and despawn entities. */

/* Called after a core call that has made an entity or tag in the world at stack index 1, and has
** taken over the values: pushes the id. Returns 1. */
int spawn_end(lua_State *L, struct world_box *box, ecs_id id);

/* Functions made by world:spawner. */

/* Tells what the C function at an index is to a kernel of that world: a spawner, if all its
** components exist, or nothing usable. Raises nothing. */
struct outside spawner_object(lua_State *L, int index, const struct world_box *box);

/* Adds to the report at the top, of a change about to be made, the spawners with positional values
** that would go to other fields. Those of files that are keys of a table are left out, as they are
** made again. The world and the table are at indices. */
void spawners_report(lua_State *L, int world, int files, const struct change *change);

/* Worlds in scripts: creating, attaching and closing them. */

/* Checks the environment variables for worlds: otherwise mistakes in them would go unnoticed. */
void world_environment_check(lua_State *L);

/* ecs.world(options) */
int ecs_native_world(lua_State *L);
/* native.is_open(value): whether a world is open; nil if it is not a world and, for a world of
** another copy of this library, a second result that says so. */
int ecs_native_is_open(lua_State *L);

/* Pushes a closed world object, to be opened by world_attach. */
struct world_box *new_world_box(lua_State *L);
void world_attach(lua_State *L, struct world_box *box, ecs_world *world, bool lent);

/* Closes a world that is garbage, or belongs to a state that is being closed. */
void world_finalize(lua_State *L, int index);

/* Surround a core call that runs Lua code (update, run, a function form): closing the world from
** inside takes effect for Lua at once (box->world is NULL), but only the outermost world_leave
** frees it. Every enter needs its leave: protect what may raise. */
static inline void world_enter(struct world_box *box) { box->depth++; }
void world_free_doomed(lua_State *L, struct world_box *box, int world_index);

static inline void world_leave(lua_State *L, struct world_box *box, int world_index) {
  assert(box->depth > 0);
  if (UNLIKELY(--box->depth == 0 && box->doomed)) world_free_doomed(L, box, world_index);
}

/* A C function, (world, name, list): raises an error about the values of a prefab's list, for
** components as the current swap will leave them. */
int prefab_list_check(lua_State *L);

/* Scans the function of a registered system, with the given scan for its options. */
void system_scan(lua_State *L, int world_index, const ecs_system *system, struct scan scan);

/* Compiles the functions of a swap. */
void systems_compile(lua_State *L, int world_index);

/* Frees the systems that the core has released. */
void systems_sweep(lua_State *L, struct world_box *box, int world_index);

/* Systems with Lua functions: the object that keeps one alive. */

#define SYSTEM_FUNCTION 1    /* user values of a system */
#define SYSTEM_QUERY 2
#define SYSTEM_WHEN 3
#define SYSTEM_NAME 4
#define SYSTEM_KERNEL 5      /* the handle of its kernel, if it may be compiled */
#define SYSTEM_USES 6        /* the names of indexes in its options, or nil */
#define SYSTEM_TEXTS 7       /* the strings in its function */
#define SYSTEM_ARRAY 8       /* the name of the array whose elements are its rows, or nil */
#define SYSTEM_VALUES 8

/* What a world needs for systems. */
struct systems {
  lua_State *running;              /* the state that has called update or run; NULL: the host */
  lua_State *host;                 /* for a lent world: a thread for the host's calls */
  uint32_t untold;                 /* how many of the last WORLD_WARNINGS have not been shown */
  uint32_t doubtful;               /* updates left until observers_doubt examines the systems */
  struct system_box *gone;         /* those that the core has released, */
  struct key_box *gone_keys;       /* and released key functions of indexes */
};

/* A system's `ud` in the core: a userdata that WORLD_REFS anchors by its address. Scripts never see
** it. */
struct system_box {
  struct world_box *box;
  struct system_box *next_gone;
  const char *name;                /* text of SYSTEM_NAME */
  const struct query_box *query;   /* SYSTEM_QUERY; NULL: none */
  const char *array_name;          /* text of SYSTEM_ARRAY; NULL: none */
  ecs_id array;
  uint32_t element;                /* the element for which the function is being called, or 0 */
  enum system_form form;
  int compile;                     /* the option: 1, 0, or -1: if possible */
  bool compiled;                   /* whether its last run was compiled */
  bool hopeless;                   /* its kernel is hopeless */
  bool begun;                      /* it has run, so these are known: */
  bool uses;                       /* its options list indexes: SYSTEM_USES */
  int parameters;                  /* how many its function has */
  uint64_t checked;                /* for a map: 1 + the version of the components that it fits */
  int function_ref, loop_ref;      /* places of its function and its loop in WORLD_REFS, or 0 */
  int anchors_ref;                 /* and of its kernel's KERNEL_ANCHORS */
  struct loop_box *loop;           /* the loop of its last run, for the next run */
  struct ecs_sight *sight;         /* for an observer that is being called */
  struct kernel_box *handle;       /* SYSTEM_KERNEL */
  double dt;                       /* this run's */
  uint64_t stepped, looped;        /* rows of the for loops in the last `run` that had any, done by
                                   ** Lua and by programs; */
  uint64_t all_stepped;            /* by Lua while programs did most, since counters were reset */
};

/* Drops the index that the argument names; false if there is none. */
bool index_undeclare(lua_State *L, struct world_box *box, int arg);

/* The open worlds of a Lua state. A world's object needs its finalizer, but Lua calls no finalizer
** without memory for the call, and marks no new object for finalization while a state is being
** closed: worlds that are then still open are found here. */

void worlds_open(lua_State *L);

/* The next tag in rotation, if possible one that no open world has. */
uint32_t worlds_next_tag(lua_State *L);

/* Makes room for a world whose object is at an index; raises an error if the state is being
** closed. */
void worlds_reserve(lua_State *L, struct world_box *box, int index);

/* Records an open world. Cannot fail. */
void worlds_add(lua_State *L, const struct world_box *box);
/* Removes a closed world. Cannot fail. */
void worlds_remove(lua_State *L, const struct world_box *box, const ecs_world *world);
/* Records that the world's tag has changed from the one given. Cannot fail. */
void worlds_retag(lua_State *L, const struct world_box *box, uint32_t from);

#endif
