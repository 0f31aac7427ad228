/* Kernels: Lua functions that may run as programs over a query, and their handles in scripts and
** systems. */
#ifndef ECS_LUA_JIT_KERNEL_H
#define ECS_LUA_JIT_KERNEL_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/world/lifetime.h"
#include "ecs_index.h"
#include "ecs_types.h"
#include "front/front.h"
#include "front/guard.h"
#include "lua/bind/object.h"
#include "lua/loop/loop.h"
#include "runner/partners.h"
#include "runner/run.h"

struct companions;
struct k_total;
struct kernel;
struct kernel_run;
struct kernel_set;
struct query_text;
struct system_box;
struct variant;

/* The kernels of a world. */
struct kernels {
  bool on;
  int isa;                     /* a k_isa */
  bool ordered;                /* rows run one by one: for tests */
  uint64_t stepped, looped;    /* rows of for loops that Lua has done, and programs */
  struct kernel_set *set;      /* NULL while nothing has been compiled */
};

/* A handle. */
struct kernel_box {
  struct head head;
  struct world_box *box;
  struct kernel *kernel;       /* NULL before it exists; freed with the world at the latest */
  const char *form;            /* of a query or a system, that it was last passed to */
};

#define KERNEL_FUNCTION 1      /* user values of a kernel's handle: kernel_push_function */
#define KERNEL_ANCHORS 2       /* table of the variants' tables */
#define KERNEL_REASON 3
#define KERNEL_WORLD 4
#define KERNEL_QUERY 5         /* the object of its query, which lives as long */
#define KERNEL_LOCALS 6        /* of a loop: see loop_kernel.c */
#define KERNEL_LEAVES 7        /* why rows are left to Lua, by lines; or nil */
#define KERNEL_VALUES 7

/* What a function is passed to. */
struct use {
  const char *form;            /* of a query or a system, by its name in scripts */
  enum front_result result;
  bool filtered;               /* for rows that pass a q:where(fn) */
};

/* Pushes the handle of a new kernel for the function and the query at two indices; with nil it is
** for elements of an array, which the caller sets. */
void kernel_push(lua_State *L, struct world_box *box, int world_index, int function,
                 int query_index, struct use use);

/* Pushes the function of the kernel whose handle is at an index, or nil if it has been collected: a
** kernel keeps neither its function nor what that reaches alive. */
void kernel_push_function(lua_State *L, int handle);

/* Pushes a list of the handles of a function in this object's world, the newest first. */
void kernels_of_function(lua_State *L, struct world_box *box, int world_index, int function);

/* Frees what kernels hold of a world that closes. */
void kernels_free(struct world_box *box);

extern const char kind_kernel;

extern const luaL_Reg kernel_metamethods[];

/* The indexes that a kernel uses: up to date before it runs. */

/* Whether all indexes of a variant are up to date, or could be updated, outside systems; if not,
** pushes why. Its outside values have been read for this run. */
bool indexes_ready(lua_State *L, struct variant *variant);

/* Whether all indexes of a variant are still up to date. */
bool indexes_are_fresh(const struct variant *variant);

/* What scripts' objects are to compiled functions. */

/* An outside_fn. The owner is the world_box of the kernel. */
struct outside kernel_object(lua_State *L, int index, const void *owner);

/* The forms of a query whose function is compiled for all rows: q:each, q:map, q:run. */

/* q:each(fn, dt), and q:each() for a for loop */
int query_each(lua_State *L);
int query_map(lua_State *L);
int query_run(lua_State *L);

/* Pushes the handle for a function of the query at an index: one for each kind of result. */
void kernel_of_query(lua_State *L, int query_index, int function, struct use use);

/* Runs the programs of the kernel at an index in a scope of their own, over the query at 1; after
** kernel_ready. */
void run_in_scope(lua_State *L, int handle, struct kernel_run *run);

/* Whether a kernel's function can run as a program now: compiles what is missing, and remembers
** refusals. */

/* Whether the function can now run as a program over every non-empty table of its query and, unless
** it must, is not faster in Lua. If not, pushes the reason. Ahead of any run, without rows, it is
** checked for a table with every term. */
bool kernel_ready(lua_State *L, int handle, bool must, bool ahead);

/* Whether the function can run as a program over one table. Pushes no reason. */
bool kernel_ready_here(lua_State *L, int handle, const struct table *table);

/* The array whose elements are the rows of a kernel; NULL if it is no longer declared. */
const struct component *kernel_elements(const struct kernel *kernel);

/* Running a kernel's programs over the tables of a loop. */

/* The parameters of a run, and where its results go. */
struct kernel_run {
  double dt;
  struct k_total *total;       /* for RESULT_SUM, RESULT_MIN and RESULT_MAX: two */
  /* For RESULT_TRUTH: receives a bitmap of the rows of each table. */
  void (*truth)(lua_State *L, struct loop_box *loop, const uint64_t *bitmap, void *ud);
  /* For all of these: receives the results of rows from a failed one on, for which the function
  ** itself is called. */
  row_fn each;
  /* For totals: first their `part` becomes the total of the rows of the match before the failed
  ** one. */
  void (*resume)(uint32_t match, void *ud);
  /* For results over events: set if a row fails. The results are then those of the function for all
  ** rows, none of which has done anything else. */
  bool *gave_up;
  void *ud;
};

/* Events that are added up at a time. */
#define KERNEL_EVENTS 1024u

/* Runs a kernel over the tables of an open loop without views; after kernel_ready. The error of a
** failed row names the entity. Once a row has failed in a loop without a filter, the function
** itself adds all later rows to the totals. */
void kernel_run(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* A run over all rows begins. */
void kernel_begin_run(struct kernel *kernel);
/* A run was slower than Lua alone: many rows fell back, or the function was refused yet again. From
** the second in a row on, more and more runs are left to Lua before the next one is tried. */
void kernel_tire(struct kernel *kernel);
/* Runs a kernel over the elements of its array; after kernel_ready. Failed ones fall back to the
** function, and all others, too, if they are too many. */
void kernel_run_elements(lua_State *L, int handle, struct elements *elements);
/* The program of a system's run; returns false, with nothing done, if it fails. */
bool kernel_run_once(lua_State *L, int handle, double dt);

/* Runs a kernel over the loop's current table only, for the rows that it visits, and compiles it if
** need be; false if it cannot be compiled. */
bool kernel_here(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* The program that kernel_here would run, or NULL. */
struct variant *kernel_variant_here(lua_State *L, int handle, const struct loop_box *loop);

/* Running a kernel whose program is known to fit, as in most runs of systems. */

/* Runs the program that ran last over all tables of its query, without calling Lua; returns false,
** with nothing run, if that is impossible (see variant_direct). KERNEL_ANCHORS of the kernel are at
** an index, which is used only if kernel_reads. Raises nothing. */
bool kernel_run_direct(lua_State *L, int anchors, struct kernel *kernel, double dt);

/* As kernel_run_direct for one of several parallel runs: adds it to these. */
bool kernel_join_batch(lua_State *L, int anchors, struct kernel *kernel, double dt);

/* Whether that program has outside values. */
bool kernel_reads(const struct kernel *kernel);

/* The programs of a kernel's function, chosen by its outside values and by which of its query's
** optional terms a table has. */

#define KERNEL_SLOTS 64        /* of a query whose functions are compiled */

/* The rows that a program is for. */
struct which {
  uint64_t present;            /* bit by slot: the terms that are present */
  bool some;                   /* only for matching rows of a table, not all */
  uint64_t maybe;              /* the terms that are present in some of its rows */
};

void variant_free(struct memory *memory, struct variant *variant);

/* The program that all rows of a table need (NULL: of one with every term). It starts with some
** rows if the kernel is for rows that pass a q:where(fn). */
struct which variant_wanted(const struct kernel *kernel, const struct table *table);

/* As variant_wanted, if it is known whether only some rows match. For all rows when it runs over
** stretches that match fully. */
struct which variant_of_rows(const struct kernel *kernel, const struct table *table, bool some);

/* The program for the rows of a table, or for `some` of them, by the terms that are present. */
struct which variant_in_table(const ecs_query *query, const struct table *table, bool some);

/* Which optional terms are present, a bit by slot: in a row of a table. */
uint64_t variant_present(const ecs_query *query, const struct table *table, uint32_t row);

/* The optional terms of a query, for a walk. */
struct choices {
  uint32_t count;
  struct {
    const struct term *term;
    uint32_t step;             /* of the walk; NONE: use walk_cells */
  } list[KERNEL_SLOTS];
};

void variant_choices(const struct walk *walk, struct choices *out);

/* variant_present in a match. */
uint64_t variant_present_in_match(const struct walk *walk, const struct choices *choices);

/* Whether it is for the present components and, if it uses any, indexes. */
bool variant_is_current(const struct kernel *kernel, const struct variant *variant);

/* The variant for these rows, with its outside values read; NULL if there is none. KERNEL_ANCHORS
** of the kernel are at an index. */
struct variant *variant_find(lua_State *L, int anchors, struct kernel *kernel,
                             struct which which);

/* Finds or makes that variant, for the kernel whose handle is at an index. If the function cannot
** be compiled, returns NULL and pushes the reason. */
struct variant *variant_need(lua_State *L, int handle, int anchors, struct kernel *kernel,
                             struct which which);

/* Pushes a list of all reasons why the kernel is refused now or, if there are none, the reason why
** it was refused. Called while the collector is stopped. */
void variant_push_reasons(lua_State *L, int handle);

/* Gives a kernel without variants those of another kernel of the same code, over a query of the
** same text, whose handle is at `from`; not all of them when out of memory. Called while the
** collector is stopped. */
void variants_share(lua_State *L, int handle, int from, int function);

/* Gives keys that its rows put into tables of their own the order of Lua's next. */
void variant_order_by(lua_State *L, struct variant *variant);

/* Surround a run of a variant that was found for it: the first holds the collector, if the program
** makes tables in Lua, since no finalizer may run meanwhile; the second stores its script cells,
** which may raise Lua's memory error. The kernel's handle is at an index. */
void variant_hold(lua_State *L, struct variant *variant);
void variant_store_cells(lua_State *L, int handle, struct variant *variant);

/* The cost of copying a variant's tables (element_cost), and the cost worth paying for that many
** rows. */
uint64_t variant_cost(lua_State *L, int all_anchors, const struct variant *variant);
uint64_t variant_worth(const struct variant *variant, uint64_t rows);
/* Likewise for a loop, whose rows are known. */
uint64_t variant_worth_of_loop(const struct variant *variant, uint64_t rows);

/* The variant that ran last, with its outside values read, if it is quiet and fits all non-empty
** tables; otherwise NULL. Raises nothing. KERNEL_ANCHORS of the kernel are at an index, which is
** used only if there are outside values. */
struct variant *variant_direct(lua_State *L, int anchors, struct kernel *kernel);

/* Whether it is for every table in which rows match, and for all of these. */
bool variant_fits_all(const struct kernel *kernel, const struct variant *variant);

/* Pushes a list of the tables that are copied when a run starts: `name` in the function, how many
** `elements` the last one had, and their `bytes`. */
void variant_push_tables(lua_State *L, int handle, const struct variant *variant);

/* Appends the script cells that it reads, or writes, to the list at the top of the stack. */
void variant_append_cells(lua_State *L, int handle, const struct variant *variant, bool writes);

/* The data of a kernel, and of the programs of its function. */

#define REFUSAL 0              /* among a variant's anchors: not a number of the front's, */
#define THE_FUNCTION 1         /* and the number that it anchors first */

/* What a world's object has compiled, in the world's memory: freed with the world, whatever happens
** to the object and handles. */
struct kernel_set {
  struct attachment link;
  struct kernel *list;
  struct runner runner;
  struct abreast *abreast;     /* of parallel systems; NULL before there are any */
  ecs_query nothing;           /* the query of kernels over elements: it has no terms */
};

/* A function that may be compiled. */
struct kernel {
  struct world_box *box;
  struct kernel_set *set;
  const ecs_query *query;
  struct variant **variants;   /* the last used first */
  struct variant *sure;        /* the first of them, if it fits whatever outside values and */
  uint64_t sure_version;       /* tables are, at that version of the world's components; or NULL */
  const uint64_t *version;     /* the present version */
  uint64_t runs;
  uint32_t count, capacity;
  enum front_result result;
  bool refused;                /* when it was last needed, */
  bool denied;                 /* by the front, */
  struct which denied_for;     /* for these rows */
  struct kernel *previous, *next;
  uint64_t compilations;       /* that made a program */
  uint64_t anchored;           /* tables of anchors so far */
  bool ahead;                  /* it was compiled before any run */
  bool found;                  /* there was something to run when it was last needed */
  uint64_t maybe;              /* struct which: of matches that are found in batches */
  uint64_t walked, walked_maybe;   /* 1 + the version of the world's components for which there were
                               ** such programs for all matches, though others may have come since;
                               ** or 0 */
  bool keeps;                  /* some of its programs write script cells */
  bool filtered;               /* for rows that pass a q:where(fn): programs start so */
  bool takes_values;           /* the function has parameters for values of variables */
  ecs_id array;                /* whose elements are the rows; ECS_NULL */
  bool once;                   /* of a system's run: there is one row */
  bool strict;                 /* what is refused in some rows is refused in all */
  uint32_t line;               /* the body of a `for` that begins there: see loop_kernel.c; or 0 */
  uint64_t body_sets[4];       /* the locals around it that it sets, as bits; */
  uint64_t body_uses[4];       /* those that it uses at all, once it has been compiled */
  uint64_t begun;              /* how often it began */
  bool breaks_promise;         /* refused because it writes to a term declared :in */
  bool hopeless;               /* refused for good, whatever the outside values */
  uint64_t left;               /* rows that fell back to the function in the last run, */
  k_failure why_left;          /* and why the first one did; */
  uint64_t all_left;           /* in all runs since counters were reset */
  uint64_t passed;             /* rows of the tables done in this run */
  uint32_t refusals;           /* since a variant was last found */
  bool gave_up, resting;       /* most rows fell back in this run; or Lua does all of them, */
  uint32_t tired, rests;       /* as in that many more runs: kernel_tire, for this reason */
  k_failure why_tired;
};

/* Whether more than one run in a row was slower than Lua: kernel_tire. */
static inline bool kernel_is_tired(const struct kernel *kernel) { return kernel->tired > 1; }

/* What the front has found, in lists that no run changes: variants that share a program share
** them. */
struct findings {
  uint32_t users;
  size_t size;                 /* with the lists, which come after it */
  struct program *program;     /* NULL: it was refused */
};

/* One program of a function; or, without a program, the fact that it was refused while its guards
** fit: its anchors then have the reason at REFUSAL. */
struct variant {
  uint64_t version;            /* of the world's components */
  uint64_t run;                /* of the kernel, that `uniforms` are for */
  uint32_t guard_count, resource_count, array_count, column_count;
  bool leaves;                 /* rows may fall back to the function, which can do anything, */
  bool lenient;                /* also for what was refused; not of a loop */
  bool quiet;                  /* its runs cannot fail, and have no results but stores */
  bool texts;                  /* some of its guards are GUARD_TEXT */
  bool starved;                /* there was no memory to copy `copied` */
  bool tables;                 /* it copies some */
  bool makes;                  /* it makes tables in Lua (the order of keys, appends), or strings */
  bool held;                   /* so the collector is held, since Lua has used so much */
  size_t kilobytes;
  lua_State *state;            /* of the present run */
  bool looks;                  /* it uses indexes, and may change with them: `indexed`, `fresh` */
  uint32_t unportable;         /* as in the front */
  struct findings *findings;   /* has the lists of this, and of the plan; and the program */
  struct run_plan plan;
  struct which which;
  struct guard *guards;
  struct resource_uniform *resources;
  struct front_column *columns;   /* for messages and explain */
  uint32_t anchors;            /* number of its table of anchors, with weak values: the function is
                               ** the first */
  k_scalar uniforms[FRONT_UNIFORMS];
  struct front_array *sources; /* by array: what it is, */
  k_array arrays[FRONT_ARRAYS];   /* and as it is in this run */
  void *lists_cells;           /* of the function's own lists: scratch.c */
  struct copied copied[FRONT_ARRAYS];   /* tables among the arrays */
  struct script_cells script;
  struct ecs_index *indexes[RUN_INDEXES];   /* that it uses, */
  uint32_t index_count;
  struct run_list lists[RUN_LISTS];
  uint32_t list_count;
  struct front_class *shared;  /* the classes whose cells are accessed in the order of rows */
  uint32_t shared_count;
  uint64_t indexed;            /* indexes_version of the world */
  uint64_t fresh;              /* the run for which they were last updated */
};

/* Bodies of for loops by programs (loop_kernel.c). */

/* In the function that advances the for loop at an index: runs the loop's body for the rows of its
** run from next_row on, which becomes the first that it has not run: Lua does that one. Sets
** loop->body. */
void body_run(lua_State *L, int loop_index, struct loop_box *loop);

/* The kernel's part of it, after the locals have been copied; `begins`: of the loop's first rows.
** False: Lua does all other rows. */
bool kernel_run_body(lua_State *L, int handle, struct loop_box *loop, bool begins);
/* As kernel_ready, for these rows of a loop; components may have changed meanwhile. */
bool kernel_ready_body(lua_State *L, int handle, struct which which, uint32_t rows, bool begins);

/* Key functions of scripts. */

/* What the core knows of a world with such a function. */

/* Pushes the object of the function at an index, anchored until it is swept, and tells the core by
** the description. Raises impossible uses of the function's arguments. */
void index_keys_push(lua_State *L, struct world_box *box, int function,
                     const struct query_text *query, ecs_index_desc *desc);

/* Releases the objects that the core has let go; the world is at an absolute index. */
void index_keys_sweep(lua_State *L, struct world_box *box, int world_index);

/* Whether an index has such a function. */
bool index_has_script(const ecs_index *index);

/* Updates such an index, whose object is at a stack index. Raises why it cannot. */
void index_keys_refresh(lua_State *L, struct world_box *box, int world_index, ecs_index *index);

/* Drops the indexes with functions of this state; for a world whose object is gone (NULL), the core
** forgets all functions. */
void indexes_disown(ecs_world *world, const struct world_box *box);

/* A system's kernel, for callers that describe it. */

/* Pushes the handle of a system's kernel, or nil, as for one of another Lua state. After a change
** of components the next run compiles; callers who ask earlier get the answer for the next run.
** Runs no finalizers. */
void system_kernel_push(lua_State *L, int world_index, struct system_box *system);

/* Whether its latest program is for the present tables and components. */
bool system_kernel_is_current(const struct kernel *kernel);

/* How a system runs: "lua", "vector", or "native" for a host's. */
const char *system_kernel_tier(const ecs_system *system);

/* Whether programs did the rows of the for loops in its last `run`, except for a few. */
bool loops_are_compiled(const struct system_box *system);

/* How the core calls the functions of systems. */

/* Calls body(world, references, system): a light userdata, whose user values system_push pushes.
** Its errors are kept for run_in_frame. */
ecs_status system_call(struct system_box *system, lua_CFunction body);

/* In such a body: pushes the system's function, and opens its loop over its query with that many
** views, at the next stack index; reuses an earlier loop if possible. */
struct loop_box *system_open_loop(lua_State *L, struct system_box *system, int index, int views);
void system_push_function(lua_State *L, struct system_box *system);

/* Where the body has its arguments, and puts its function. */
enum { BODY_WORLD = 1, BODY_REFS, BODY_SYSTEM, BODY_FUNCTION };

/* The core's callbacks. */
ecs_status script_run(ecs_world *world, ecs_query *query, double dt, void *ud);
/* Adds what script_run would do to a parallel batch; false if that needs more of Lua than outside
** values. */
bool script_join(const struct system_box *system, double dt);
ecs_status script_when(ecs_world *world, void *ud, bool *run);
void script_failed(ecs_world *world, const char *system, ecs_status status, void *ud);

/* Where WORLD_REFS has the on_error handler. */
extern const char on_error_key;

/* The system of this state for one of the core's, or NULL: a host's, or another state's. */
struct system_box *system_script(const ecs_system *system);

/* Which indexes a system uses: those in upvalues of its function, and of the Lua functions found
** there; those whose names are strings in these; and those that its options name. */

/* Pushes the bytecode of the Lua function at the top of the stack, with or without its lines. */
bool push_dump(lua_State *L, bool strip);

/* Pushes the names in the option `uses` of the table at `spec`, as a list, or nil. Messages begin
** with `what`. */
void uses_option(lua_State *L, int spec, const char *what);

/* Pushes the strings of the function at an index, for uses_each. */
void uses_push_texts(lua_State *L, int function);

/* A world and a function, with the list and the strings that belong to it, at absolute indices. */
struct user {
  struct world_box *box;
  int world, function, listed, texts;
};

typedef void (*visit_fn)(lua_State *L, struct world_box *box, int world,
                         struct ecs_index *index);

/* Calls `visit` for each index that is used, at least once. Raises an error for a name that is not
** an index. */
void uses_each(lua_State *L, const struct user *user, visit_fn visit);

/* world:explain. */

/* world:explain(name) */
int world_explain(lua_State *L);

/* Kernels for closures of the same function, such as one created each frame, or for queries with
** the same text, are separate but share their programs, which are compiled only once. */

/* Gives the kernel whose handle is at an index the programs of the one that the table at `known`
** has under a key, and puts it there. The key is at an index; 0: it is the bytecode of the function
** at `function`. If memory is short, it gets none. */
void closure_share(lua_State *L, int known, int function, int handle, int key);

/* What happens to a row in which a program fails: the function itself is called for it. */

/* The rows that a run has left, among those of a loop over the kernel's query. */
struct rest {
  uint32_t match;              /* in the query, where that loop begins */
  uint64_t before;             /* finished rows from there on */
  uint64_t count;              /* the failed row, and later ones of the run */
  ecs_id entity;               /* the entity with whose only match they begin, or ECS_NULL: if a
                               ** path is redirected by their writes, earlier rows no longer
                               ** count */
  const uint64_t *filter;      /* rows of the first table that the run is for; NULL: all */
  row_fn each;                 /* receives the function's results; NULL: ignored */
  void *ud;
  uint32_t limit;              /* for events: the row after the last one; 0: all */
  /* For a single row: its place in the table, which of its matches, and what follows. Sets the next
  ** one, or returns false. The kernel's handle and KERNEL_ANCHORS are at two indices. */
  uint32_t row, turn;
  bool (*go_on)(lua_State *L, int handle, int anchors, struct rest *rest);
  void *of;
};

/* Whether the error at an index was raised by kernel_finish for a system, with its origin. Says so
** once. */
bool failure_is_traced(lua_State *L, int index);

/* The entity of a loop's current row, whose functions are called row by row; or ECS_NULL. */
ecs_id failure_row(const struct loop_box *loop);

/* Puts an entity into the error at the top of the stack, if that is a string which names none
** yet. */
void failure_name(lua_State *L, ecs_id entity);

/* Puts "smog[17]: " there. */
void failure_name_element(lua_State *L, const char *array, uint32_t element);

/* Calls the kernel's function, whose handle is at an index, for the failed row: it does what a
** column could not, in the same steps as without a kernel. Its errors name the entity and, for a
** system, have the function's own traceback. If it does not raise, as for a nil, or where only
** columns round, it does the other rows, too. */
void kernel_finish(lua_State *L, int handle, const struct run_failure *failure, double dt,
                   const struct rest *rest, bool in_system);

/* What the core is told of scripts' systems, so that they can run in parallel. */

/* Kernels that cannot fail and change no entities. */
extern const struct companions script_companions;

#endif
