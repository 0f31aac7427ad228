/* What the forms of a query share: the query's object, loops over its tables, and views. */
#ifndef ECS_LUA_LOOP_H
#define ECS_LUA_LOOP_H

#include <limits.h>

#include "lua/bind/binding.h"

/* ---- queries (query.c) ----------------------------------------------------------- */

#define QUERY_WORLD 1        /* its user values */
#define QUERY_KERNELS 2      /* what functions have been compiled to */
#define QUERY_VALUES 2

struct query_box {
  struct head head;
  struct world_box *box;
  ecs_query *query;          /* NULL before and after its life in the core */
  bool pending;              /* made by a script whose registrations are not swapped in yet */
};

/* Pushes a new query over the world at an index. */
struct query_box *query_push(lua_State *L, struct world_box *box, int world_index,
                             const char *text);

/* Pushes a query without its life in the core. */
struct query_box *query_box_push(lua_State *L, struct world_box *box, int world_index);

/* The query at an argument, of an open world, or an error. Counts a public call. */
struct query_box *check_query(lua_State *L, int arg);

/* Frees this state's queries of a world that is let go of; their loops have ended. */
void queries_free(const struct world_box *box, ecs_world *world);

/* Methods that the other files have: q:each, q:map, q:chunks. */
int query_each(lua_State *L);
int query_map(lua_State *L);
int query_chunks(lua_State *L);
int query_run(lua_State *L);
int query_sum(lua_State *L);
int query_min(lua_State *L);
int query_max(lua_State *L);

/* Pushes the world of the query at an index. */
static inline int push_query_world(lua_State *L, int query_index) {
  lua_getiuservalue(L, query_index, QUERY_WORLD);
  return lua_gettop(L);
}

/* ---- shapes and views (shape.c, view.c) ------------------------------------------ */

struct shape_field {
  const char *key;           /* Lua's own text, anchored: found by its address */
  uint32_t leaf;             /* the first, counted from its component's first */
  ecs_type type;             /* ECS_NESTED: what reads as a view, an array, too */
};

/* How the views of a component, or of a nested one, read. Anchored in WORLD_SHAPES. */
struct shape {
  const struct component *component;
  uint64_t version;                /* registry.version when it was built */
  uint32_t count;
  struct shape_field fields[];
};

/* Rows that are none. */
#define ROW_STALE NONE
#define ROW_RESOURCE (NONE - 1)
#define ROW_ABSENT (NONE - 2)
#define ROW_SPECIAL ROW_LIMIT          /* the first number that is no row */

#define VIEW_OWNER 1         /* user values of a view: a loop, a world; the root of a part */
#define VIEW_PARTS 2         /* table: field or element -> its view */
#define VIEW_DATA 3          /* of a resource whose fields have changed: its columns */
#define VIEW_VALUES 3

/* A component of the current row (a root), or a nested component or array within. */
struct view_box {
  struct head head;
  struct view_box *root;
  const struct shape *shape;       /* of a component; of an array's elements, or NULL */
  uint32_t base;                   /* first leaf, counted from the root's */
  const struct field *array;       /* an array: what it is, else NULL */

  struct world_box *box;
  uint64_t version;                /* registry.version that it was made or renewed in */
  const struct component *component;  /* from here on of roots only */
  ecs_id id;                       /* of the component */
  struct loop_box *loop;           /* NULL: of a resource */
  const uint32_t *row;             /* its loop's, or one of these: */
  uint32_t own_row;
  bool read_only;
  void **data;                     /* columns by leaf: `store`, or VIEW_DATA */
  void *store[];
};

/* registrar.view, now: the view of the resource that is named at 2. */
void resource_view(lua_State *L, struct world_box *box);

/* Pushes the view of a resource that is not there yet: it gets its component later. The world is
** at 1. */
struct view_box *view_push_pending(lua_State *L, struct world_box *box);

/* The shape of a component; the world is at an absolute index. */
const struct shape *shape_need(lua_State *L, int world_index,
                               const struct component *component);

/* The field that the text at an index names; NULL when there is none. */
const struct shape_field *shape_find(lua_State *L, const struct shape *shape, int index);

/* Pushes a view of a component for a loop, or for a resource when loop is NULL. Its owner (the
** loop, or the world) and the world are at absolute indices. False when a finalizer used the
** world meanwhile: the component may be gone. */
bool view_push(lua_State *L, struct world_box *box, int world_index,
               const struct component *component, struct loop_box *loop, int owner_index,
               struct view_box **out);

/* Pushes a view for the loop at an index like the one at the top of the stack, which was one of
** its views. False as for view_push. */
bool view_renew(lua_State *L, int loop_index, const struct view_box *old,
                struct view_box **out);

/* Points the view of a loop at a table's columns, the first of which is given; NONE when the
** table lacks the component. */
void view_bind(struct view_box *view, const struct table *table, uint32_t first);

/* Pushes a nested or array field of the view at an index, or an element that is nested; `at`
** counts fields or elements from 0. */
void view_push_part(lua_State *L, int index, struct view_box *view, uint32_t at);

/* Pushes the world of the view at an index, returns where. */
int view_push_world(lua_State *L, int index, const struct view_box *view);

/* The row that a view shows; raises why when it shows none. */
uint32_t view_row(lua_State *L, const struct view_box *view);

/* The same for the view at an index when a call begins: a resource's follows its component. */
uint32_t view_open(lua_State *L, int index, struct view_box *view);

/* Pushes field or element `at` of the view at an index, as it is now. */
void view_push_at(lua_State *L, int index, struct view_box *view, uint32_t at);

/* How many fields or elements a view has, once view_row has found it open. */
static inline uint32_t view_count(const struct view_box *view) {
  return view->array ? view->array->count : view->shape->count;
}

/* Pushes a fresh table with what the view at an index shows. */
void view_push_table(lua_State *L, int index, struct view_box *view);

/* The view at an index, of either kind, or NULL. */
struct view_box *view_test(lua_State *L, int index);

/* Metamethods that look at a view (view_walk.c). */
int view_tostring(lua_State *L);
int view_pairs(lua_State *L);
int view_length(lua_State *L);

/* ---- loops (loop.c) -------------------------------------------------------------- */

#define LOOP_WORLD 1         /* user values of a loop; then its views by slot */
#define LOOP_QUERY 2
#define LOOP_WHERE 3         /* the q:where(fn) it goes through, and its rows */
#define LOOP_FILTER 4
#define LOOP_VALUES 4

/* One of a query's terms that give something, in the current table. */
struct slot {
  struct view_box *view;           /* NULL for a single field and for a tag */
  void *data;                      /* a single field's column */
  const struct component *component;
  const struct leaf *leaf;         /* of a single field */
  uint32_t leaf_at;
  ecs_type type;
  bool read_only;
  bool tag;                        /* it gives a truth */
  bool present;
  bool given;                      /* map: whether `cell` is to be written */
  ecs_cell cell;
};

enum loop_form { LOOP_FOR, LOOP_FUNCTION, LOOP_SYSTEM };

#define ALL_VIEWS INT_MAX
#define NOT_KNOWN (-1)

/* Lua may lose the finalizer of an object when it is out of memory, so nothing points to a loop
** that only its finalizer could unlink: while it is open, WORLD_REFS anchors it (a for loop), its
** C function does (a function form), or its system. Scripts have a handle, which ends it. */
struct loop_box {
  struct world_box *box;
  const struct query_box *query;
  struct loop_box *previous, *next;   /* the open ones of the world */
  enum loop_form form;
  uint32_t scope;                  /* NONE: its system's */
  uint32_t match;                  /* the query's next table */
  const struct table *table;
  uint32_t row;                    /* what views show */
  uint32_t next_row;
  uint32_t count;                  /* rows of the table */
  uint32_t step;                   /* tables so far */
  /* Of a loop through a q:where(fn), which goes through these rows of the table only, and what
  ** finds them once the loop, which is at an index, has come to a table. */
  const uint64_t *filter;
  void (*fill)(lua_State *L, int loop_index);
  bool open;
  bool done;                       /* it came to its end */
  int view_count;                  /* first slots that have a view, unless a single field */
  int parameters;                  /* of a system's function; NOT_KNOWN: ask */
  uint64_t version;                /* of the world's components, when the slots were filled */
  uint32_t slot_count;
  struct slot slots[];
};

/* What a for loop holds: closed or collected, it ends the loop. */
struct handle_box {
  struct head head;
  struct loop_box *loop;
};

#define HANDLE_LOOP 1        /* its user value */

/* Pushes a closed loop over the query at an index, with a view for each of the first `views`
** terms that give one. */
struct loop_box *loop_push(lua_State *L, int query_index, enum loop_form form, int views);

/* Makes the loop at an index, which a system has kept, ready for another run, with views of its
** own. False when it cannot be, or a finalizer used the world meanwhile. */
bool loop_renew(lua_State *L, int index, struct loop_box *loop, int views);

/* Opens a loop, unless its world was closed meanwhile. From here on the world stages. */
void loop_open(lua_State *L, struct loop_box *loop);

/* What for loops begin with: pushes a function that goes on with the closed loop at the top of the
** stack (its first upvalue), a handle, nil and the handle; opens the loop. Returns 4. */
int loop_begin(lua_State *L, struct loop_box *loop, lua_CFunction next);

/* Goes to the next table that has rows; false at the end. */
bool loop_next_table(struct loop_box *loop);

/* Ends an open loop, its commands apply; it is at an index. */
void loop_commit(lua_State *L, int index, struct loop_box *loop);

/* Ends a system's loop that has come to its end, if it is open: its commands are the system's. */
void loop_end(struct loop_box *loop);

/* Ends a loop, if it is open, and drops its commands. */
void loop_cancel(struct loop_box *loop);

/* Raises what ended a loop that should be open. */
int loop_gone(lua_State *L, const struct loop_box *loop);

/* Ends what is left open when a system has returned (its commands are kept) or failed. */
void loops_end_system(struct world_box *box, bool keep);

/* Ends the open loops over a query that goes. */
void loops_end_query(const struct query_box *query);

static inline ecs_id loop_entity(const struct loop_box *loop, uint32_t row) {
  return entity_id(&loop->box->world->entities, loop->table->rows[row]);
}

/* ---- chunks (chunk.c, column.c) --------------------------------------------------- */

#define CHUNK_LOOP 1         /* user values of a chunk and of a column */
#define CHUNK_ENTITIES 2
#define CHUNK_VALUES 2

/* The rows of one table: of the loop's current one as long as `step` is the loop's. */
struct chunk_box {
  struct head head;
  struct loop_box *loop;
  uint32_t step;
};

/* One field of a chunk's rows, or, without a leaf, their entities. */
struct column_box {
  struct head head;
  struct loop_box *loop;
  uint32_t step;
  uint32_t leaf_at;
  const struct component *component;
  const struct leaf *leaf;
  void *data;
  bool read_only;
};

/* Raises unless the loop is open and where it was. */
void step_check(lua_State *L, const struct loop_box *loop, uint32_t step);

/* ---- bodies (each.c, map.c) ------------------------------------------------------ */

/* Calls the function at an index for every row of the open loop at another. */
typedef void (*rows_fn)(lua_State *L, int loop_index, int function, double dt);
void each_rows(lua_State *L, int loop_index, int function, double dt);
/* The same for a function that returns a value, which is at the top of the stack for each. */
typedef void (*row_fn)(lua_State *L, struct loop_box *loop, uint32_t row, void *ud);
void each_results(lua_State *L, int loop_index, int function, double dt, row_fn each,
                  void *ud);
/* The same for the rows of the loop's current table only. */
void each_here(lua_State *L, int loop_index, int function, double dt, row_fn each, void *ud);

/* Whether a row is among those that the loop goes through. */
static inline bool loop_takes(const struct loop_box *loop, uint32_t row) {
  return !loop->filter || (loop->filter[row / 64] >> row % 64 & 1);
}

extern const luaL_Reg where_methods[], where_metamethods[];
int query_where(lua_State *L);
int each_begin(lua_State *L, struct loop_box *loop);
void map_rows(lua_State *L, int loop_index, int function, double dt);

/* Calls the function and arguments at the top of the stack for an open loop, then ends it. An
** error is caught in C, since `__close` may get lost: in a coroutine that dies, or when Lua is out
** of memory. */
void body_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments);
/* The same for a function form, in a stream of random numbers of its own. */
void form_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments);

/* A lua_pcall without results while a stream of random numbers is open. */
int drawing_pcall(lua_State *L, const struct world_box *box, int arguments,
                  struct chance stream);

/* A function form of the query at argument 1: fn at 2, dt at 3. */
int run_form(lua_State *L, bool views, rows_fn rows);

/* Raises unless every term that gives something is a single field or a tag. */
void map_check(lua_State *L, const ecs_query *query);

/* How many parameters the function at an index has; INT_MAX when it takes any number. */
int function_parameters(lua_State *L, int function);

/* How many arguments the function at an index takes: slots, dt, the entity, in this order. */
int wanted_arguments(lua_State *L, int function, const struct loop_box *loop);

/* Pushes the value of a single field's term, or true for a tag; nil when the table lacks it. */
void slot_push_slowly(lua_State *L, int loop_index, const struct loop_box *loop,
                      const struct slot *slot, uint32_t row);

#endif
