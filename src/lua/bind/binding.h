/* What the files of the binding share: the objects that Lua sees, and how they are checked.
**
** A Lua call that makes an object may run finalizers, and these may call anything: close the
** world, undeclare a component, despawn. So pointers into the core do not live across such
** a call, unless world_box.calls shows that nobody came in between; lua_next, lua_raw*,
** lua_setfield and lua_push of anything but texts run none. */
#ifndef ECS_LUA_BIND_BINDING_H
#define ECS_LUA_BIND_BINDING_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "ecs_lua.h"

#include "lua/bind/status.h"

#include "core/store/world.h"

/* User values of a world: what it keeps alive, never in the registry. */
#define WORLD_ANY 1      /* table: any slot -> value */
#define WORLD_REFS 2     /* table: anchored systems and handlers by address; what systems need */
#define WORLD_SHAPES 3   /* table: component -> how its views read (view.c) */
#define WORLD_STAGE 4    /* function: is told what scripts register (recording.c) */
#define WORLD_VALUES 4   /* how many */

struct names;
struct weights;
struct loop_box;
struct query_box;
struct kernel_set;
struct system_box;
struct stage;
struct registrar;

/* Every object starts so; an address that is not at `self` is not one of ours. */
struct head {
  const void *kind;      /* one of the kind_ addresses */
  const void *self;
};

struct world_box {
  struct head head;
  ecs_world *world;      /* NULL once closed */
  ecs_world *hidden;     /* the open world while a codec's function must not use it */
  ecs_world *doomed;     /* closed while `depth` was not 0: freed when it gets there */
  uint32_t calls;        /* public calls so far */
  uint32_t depth;        /* C functions on the stack that come back to the world after
                            running Lua code: see world_enter */
  bool lent;             /* by a host, who frees it */
  bool kernels;
  const struct registrar *registrar;   /* registers now, or records */
  struct stage *stage;   /* while scripts are read whose registrations are a transaction */
  lua_State *running;    /* the state that called update or run, for systems */
  struct loop_box *loops;   /* open ones, newest first */
  struct loop_box *ended;   /* ones that WORLD_REFS still anchors */
  struct system_box *gone;  /* systems that the core has let go of */
  lua_State *host;          /* lent: a thread for systems when the host calls ecs_update */
  struct loop_owner owner;  /* so that the core ends loops */
  struct weights *weights; /* of this Lua state */
  size_t reported;       /* bytes the collector has heard of (law 8) */
  struct any_owner any;     /* of the slots whose values this state has */
  uint32_t pending_count;   /* any slots taken for a core call that has not been made yet */
  struct scratch *scratch;  /* those, and what does not fit the C stack: the world's own */
  struct scratch lent_scratch;   /* or, for a world that others may use, this */
  struct names *names;   /* of this Lua state, shared by its worlds */
  uint64_t number;       /* of the world among those, for the names: never given twice */
  struct kernel_set *kernel_set;   /* kernel.c; NULL while nothing has been compiled */
  int isa;                      /* a k_isa */
};

extern const char kind_world, kind_query, kind_loop, kind_view, kind_elements, kind_chunk,
    kind_column, kind_kernel, kind_where, kind_image, kind_snapshot;

/* The object at an index when it is of that kind, else NULL. Safe for any value: foreign
** userdata are told apart by size, kind and self. */
static inline void *box_test(lua_State *L, int index, const void *kind, size_t size) {
  struct head *head = lua_touserdata(L, index);
  if (UNLIKELY(!head || lua_rawlen(L, index) < size)) return NULL;
  return head->kind == kind && head->self == head ? head : NULL;
}

/* ---- objects (module.c) ---------------------------------------------------------- */

/* A userdata of that kind with its metatable, all zero but for its head: born closed.
** Its user values are nil. */
void *new_box(lua_State *L, const void *kind, size_t size, int user_values);

/* Remembers the function at the top of the stack, pops it: it turns (name, fields as
** world:component takes them) into plain tables, or nil and a message. */
int ecs_native_schema(lua_State *L);
/* Calls it with the values at two indices and pushes the plain table, or raises. */
void call_schema(lua_State *L, int name, int fields);

/* Registration: every file of methods ends with one of these; module.c lists them. */
extern const luaL_Reg world_metamethods[], world_core_methods[], world_component_methods[],
    world_entity_methods[], world_spawn_methods[];
extern const luaL_Reg world_query_methods[], world_schedule_methods[],
    world_system_methods[], world_describe_methods[], world_view_methods[],
    world_random_methods[], world_image_methods[];
/* Methods become __index, unless the metamethods have an __index of their own. */
extern const luaL_Reg query_methods[];
extern const luaL_Reg query_metamethods[], chunk_metamethods[], column_metamethods[],
    loop_metamethods[], view_metamethods[], elements_metamethods[], image_metamethods[],
    snapshot_metamethods[];
/* Methods that chunk_metamethods' and column_metamethods' __index look up themselves. */
extern const luaL_Reg chunk_methods[], column_methods[];

/* ---- any values on their way into a world (lua_value.c) ---------------------------- */

void drop_pending(struct world_box *box);

/* Before the first value_to_cell of a call that did not come through check_world: releases
** any slots that an error left over. */
static inline void values_begin(struct world_box *box) {
  if (UNLIKELY(box->pending_count)) drop_pending(box);
}

/* After the core call that took them over. */
static inline void values_stored(struct world_box *box) { box->pending_count = 0; }

/* ---- the worlds of a state (worlds.c) --------------------------------------------- */

void worlds_open(lua_State *L);

/* The next tag in rotation, one that no open world has if possible. */
uint32_t worlds_next_tag(lua_State *L);

/* Makes room for a world whose object is at an index; raises when the state is being closed. */
void worlds_reserve(lua_State *L, struct world_box *box, int index);
/* It is open now; it is not any more. These cannot fail. */
void worlds_add(lua_State *L, const struct world_box *box);
void worlds_remove(lua_State *L, const struct world_box *box, const ecs_world *world);

/* Makes the core forget the objects behind this state's systems; NULL: behind all. */
void systems_detach(ecs_world *world, const struct world_box *box);

/* ---- worlds (lua_world.c) --------------------------------------------------------- */

/* Closes a world that is garbage, or whose state is being closed. */
void world_finalize(lua_State *L, int index);
int ecs_native_world(lua_State *L);
/* native.is_open(value): whether a world is open; nil for what is no world. */
int ecs_native_is_open(lua_State *L);

/* Pushes a world that is closed so far, and then opens it. */
struct world_box *new_world_box(lua_State *L);
void world_attach(lua_State *L, struct world_box *box, ecs_world *world, bool lent);
/* After its tag has changed from the one given. */
void world_retag(lua_State *L, struct world_box *box, uint32_t from);

/* Raises "world expected, got nil" or "the world is closed" for argument `arg`. */
int no_world(lua_State *L, int arg);

/* The open world at argument `arg`, or an error. Counts a public call: functions that get
** at a world otherwise (queries, views that change more than a number) add to calls, too. */
static inline struct world_box *check_world(lua_State *L, int arg) {
  struct world_box *box = box_test(L, arg, &kind_world, sizeof *box);
  if (UNLIKELY(!box || !box->world)) {
    no_world(L, arg);
    return NULL;
  }
  world_be_sure(box->world);
  box->calls++;
  values_begin(box);
  return box;
}

/* Raises that scripts are being read. */
int no_change(lua_State *L);

/* What changes more than declarations is refused while scripts are read: here, and nowhere else. */
static inline void check_free(lua_State *L, const struct world_box *box) {
  if (UNLIKELY(box->stage)) no_change(L);
}

static inline struct world_box *check_free_world(lua_State *L, int arg) {
  struct world_box *box = check_world(L, arg);
  check_free(L, box);
  return box;
}

/* Around a core call that runs Lua code and comes back (update, run, a function form): a
** close from inside takes effect for Lua at once (box->world is NULL), but the world is
** freed by the outermost world_leave. Every enter needs its leave: protect what may raise. */
static inline void world_enter(struct world_box *box) { box->depth++; }
void world_leave(lua_State *L, struct world_box *box, int world_index);

/* Frees what kernels hold of a world that closes (kernel.c). */
void kernels_free(struct world_box *box);

/* ---- what every call ends with (weight.c, value.c) -------------------------------- */

void weights_open(lua_State *L);
/* A world that the collector has heard `bytes` of; and one that is closed. */
void weights_attach(lua_State *L, struct world_box *box, size_t bytes);
void weights_leave(struct world_box *box);

/* Forgets values whose any slots are released; frees what a failed call left pending. */
void settle_any(lua_State *L, struct world_box *box, int world_index);
/* Tells the collector what the world has grown by, or lowers the mark when it has shrunk. May
** run finalizers. */
void settle_weight(lua_State *L, struct world_box *box);

/* The last thing that every public call does that may have grown or freed: the core must not
** be touched after it, box->world may be NULL. */
static inline void settle(lua_State *L, struct world_box *box, int world_index) {
  if (UNLIKELY(!box->world)) return;
  world_be_sure(box->world);
  if (UNLIKELY(box->any.released_head)) settle_any(L, box, world_index);
  if (UNLIKELY(box->world->memory.bytes - box->reported >= 65536)) settle_weight(L, box);
}

/* For a world that closes: ends its loops (loop.c), and, when a host has lent it, takes out
** what this state has put into it: systems, queries, any values (disown.c). Cannot fail. */
void loops_abandon(struct world_box *box);
void world_disown(lua_State *L, struct world_box *box, ecs_world *world);
/* Lets the core end the loops of a world that an update, or a system, finds open (disown.c). */
void world_own_loops(struct world_box *box);
/* Ends loops left open as update, run, commit and close do; no effect while the world is
** busy (inside a system, function form or defer). */
ecs_status loops_end(struct world_box *box);

/* Before the innermost defer ends: ends the loops begun after it. Cannot fail. */
void loops_end_deferred(struct world_box *box, bool keep);

/* Forgets how a component's views read: before it is undeclared, and after loops_end. Cannot
** fail. */
void views_forget(lua_State *L, struct world_box *box, int world_index, ecs_id component);

/* ---- arguments (args.c) ---------------------------------------------------------- */

/* An id argument: an integer, or a float with an integer value; never a string. */
static inline ecs_id to_id(lua_State *L, int arg, int *is_number) {
  if (UNLIKELY(lua_type(L, arg) != LUA_TNUMBER)) return *is_number = 0, ECS_NULL;
  return (ecs_id)lua_tointegerx(L, arg, is_number);
}

/* Raises "world expected, got table" for an argument that is no object of that kind; of a method
** that was called by a dot it says so. */
int no_object(lua_State *L, int arg, const void *kind, const char *name);

ecs_id check_id(lua_State *L, int arg);

/* Raises what is wrong with an id argument. */
int no_entity(lua_State *L, const struct world_box *box, int arg);

/* The id of a living entity and its record; one of the four errors else. */
static inline ecs_id check_entity_record(lua_State *L, const struct world_box *box, int arg,
                                         const struct record **record) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  *record = entity_find(&box->world->entities, id);
  if (UNLIKELY(!is_integer || !*record)) no_entity(L, box, arg);
  return id;
}

static inline ecs_id check_entity(lua_State *L, const struct world_box *box, int arg) {
  const struct record *record;
  return check_entity_record(L, box, arg, &record);
}

/* A finite number that is not negative. */
double check_seconds(lua_State *L, int arg);
/* A text without zero bytes. */
const char *check_text(lua_State *L, int arg, size_t *size);
/* Room on the Lua stack, or the memory error. */
void need_stack(lua_State *L, int slots);
/* Writes a value into a buffer for a message: 12, 'text', true, a table. Returns it. */
const char *show_value(lua_State *L, int index, char *buffer, size_t size);

/* ---- values (lua_value.c) --------------------------------------------------------- */

/* A leaf's cell from the Lua value at an index; errors name component, field and value.
** May take an `any` slot and intern a string: nothing is stored yet. Any slots are pending
** until values_stored (the core has taken them) or values_begin (they are released). */
void value_to_cell(lua_State *L, struct world_box *box, int world_index,
                   const struct component *component, uint32_t leaf, int index,
                   ecs_cell *cell);

/* Pushes a leaf's cell. A text may run finalizers, after the cell has been read. */
void push_cell(lua_State *L, struct world_box *box, int world_index,
               const struct leaf *leaf, ecs_cell cell);

/* ---- descriptions (lua_component.c) ----------------------------------------------- */

/* Pushes world:describe(name): { name, id, storage, size, fields }. Runs quietly. */
void push_component_description(lua_State *L, struct world_box *box, int world_index,
                                ecs_id component);

#endif
