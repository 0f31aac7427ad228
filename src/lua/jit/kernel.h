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
  bool ordered;                /* rows always run one by one: for tests */
  uint64_t stepped, looped;    /* rows of for loops done by Lua, and by programs */
  struct kernel_set *set;      /* NULL until something is compiled */
};

/* A script's or system's handle of a kernel. */
struct kernel_box {
  struct head head;
  struct world_box *box;
  struct kernel *kernel;       /* NULL until it exists; freed with the world at the latest */
  const char *form;            /* the form of a query or system that it was last passed to */
};

#define KERNEL_FUNCTION 1      /* user values of a kernel's handle: kernel_push_function */
#define KERNEL_ANCHORS 2       /* table of the variants' tables */
#define KERNEL_REASON 3
#define KERNEL_WORLD 4
#define KERNEL_QUERY 5         /* the object of its query, kept alive */
#define KERNEL_LOCALS 6        /* for a loop: see loop_kernel.c */
#define KERNEL_LEAVES 7        /* why rows are left to Lua, by line; or nil */
#define KERNEL_VALUES 7

/* How a function is used. */
struct use {
  const char *form;            /* a form of a query or system, as scripts name it */
  enum front_result result;
  bool filtered;               /* for rows that pass a q:where(fn) */
};

/* Pushes the handle of a new kernel for the function and the query at two indices; with nil as the
** query, for elements of an array, which the caller sets. */
void kernel_push(lua_State *L, struct world_box *box, int world_index, int function,
                 int query_index, struct use use);

/* Pushes the function of the kernel whose handle is at an index, or nil if it has been collected: a
** kernel keeps neither its function alive nor what the function reaches. */
void kernel_push_function(lua_State *L, int handle);

/* Pushes a list of the handles of a function in this object's world, newest first. */
void kernels_of_function(lua_State *L, struct world_box *box, int world_index, int function);

/* Frees what kernels hold in a world that is being closed. */
void kernels_free(struct world_box *box);

extern const char kind_kernel;

extern const luaL_Reg kernel_metamethods[];

/* The indexes that a kernel uses, which must be up to date before it runs. */

/* Whether all indexes of a variant are up to date or, outside systems, could be updated; if not,
** pushes why. The variant's outside values must have been read for this run. */
bool indexes_ready(lua_State *L, struct variant *variant);

/* Whether all indexes of a variant are still up to date. */
bool indexes_are_fresh(const struct variant *variant);

/* What scripts' objects mean to compiled functions. */

/* An outside_fn. The owner is the world_box of the kernel. */
struct outside kernel_object(lua_State *L, int index, const void *owner);

/* The forms of a query that compile their function for all rows: q:each, q:map, q:run. */

/* q:each(fn, dt), and q:each() for a for loop */
int query_each(lua_State *L);
int query_map(lua_State *L);
int query_run(lua_State *L);

/* Pushes the handle for a function of the query at an index: each kind of result has its own. */
void kernel_of_query(lua_State *L, int query_index, int function, struct use use);

/* Runs the programs of the kernel at an index in a scope of their own, over the query at 1; after
** kernel_ready. */
void run_in_scope(lua_State *L, int handle, struct kernel_run *run);

/* Whether a kernel's function can run as a program now: compiles what is missing, and remembers
** refusals. */

/* Whether the function can now run as a program over every non-empty table of its query and, unless
** `must`, is not faster in Lua. If not, pushes the reason. `ahead` of any run, without rows, checks
** it for a table with every term. */
bool kernel_ready(lua_State *L, int handle, bool must, bool ahead);

/* Whether the function can run as a program over one table. Does not push a reason. */
bool kernel_ready_here(lua_State *L, int handle, const struct table *table);

/* The array whose elements are a kernel's rows; NULL if it is no longer declared. */
const struct component *kernel_elements(const struct kernel *kernel);

/* Running a kernel's programs over the tables of a loop. */

/* The parameters of a run, and where its results go. */
struct kernel_run {
  double dt;
  struct k_total *total;       /* for RESULT_SUM, RESULT_MIN and RESULT_MAX: two */
  /* For RESULT_TRUTH: receives a bitmap of the rows of each table. */
  void (*truth)(lua_State *L, struct loop_box *loop, const uint64_t *bitmap, void *ud);
  /* For all these results: receives those of rows from a failed one on, for which the function
  ** itself is called. */
  row_fn each;
  /* For totals: called before that; makes their `part` the total of the rows of the match before
  ** the failed one. */
  void (*resume)(uint32_t match, void *ud);
  /* For results over events: set if a row fails. The results are then those of the function for all
  ** rows, none of which has had any other effect. */
  bool *gave_up;
  void *ud;
};

/* Events that are added up at a time. */
#define KERNEL_EVENTS 1024u

/* Runs a kernel over the tables of an open loop without views; after kernel_ready. The error of a
** failed row names the entity. Once a row has failed in a loop without a filter, the function
** itself adds all later rows to the totals. */
void kernel_run(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* Begins a run over all rows. */
void kernel_begin_run(struct kernel *kernel);
/* Records a run that was slower than Lua alone: many rows fell back, or the function was refused
** again. From the second in a row on, more and more runs are left to Lua before the next try. */
void kernel_tire(struct kernel *kernel);
/* Runs a kernel over the elements of its array; after kernel_ready. Elements that fail fall back to
** the function; if too many do, so do all others. */
void kernel_run_elements(lua_State *L, int handle, struct elements *elements);
/* Runs the program of a system's run; if it fails, returns false, with nothing done. */
bool kernel_run_once(lua_State *L, int handle, double dt);

/* Runs a kernel over the loop's current table only, for the rows that the loop visits, and compiles
** it if necessary; false if it cannot be compiled. */
bool kernel_here(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* The program that kernel_here would run, or NULL. */
struct variant *kernel_variant_here(lua_State *L, int handle, const struct loop_box *loop);

/* Running a kernel with a program that is known to fit, as in most runs of systems. */

/* Runs the program that ran last over all tables of its query, without calling Lua; if that is
** impossible (see variant_direct), returns false, with nothing run. The kernel's KERNEL_ANCHORS are
** at an index, which is used only if kernel_reads. Raises nothing. */
bool kernel_run_direct(lua_State *L, int anchors, struct kernel *kernel, double dt);

/* kernel_run_direct in a batch of parallel runs: adds the run to the batch. */
bool kernel_join_batch(lua_State *L, int anchors, struct kernel *kernel, double dt);

/* Whether the program of kernel_run_direct has outside values. */
bool kernel_reads(const struct kernel *kernel);

/* The programs of a kernel's function, chosen by its outside values and by which optional terms of
** its query a table has. */

#define KERNEL_SLOTS 64        /* of a query whose functions are compiled */

/* The rows that a program is for. */
struct which {
  uint64_t present;            /* a bit for each slot with a term that is present */
  bool some;                   /* only for the rows of a table that match, not all */
  uint64_t maybe;              /* the terms that only some of its rows have */
};

void variant_free(struct memory *memory, struct variant *variant);

/* The program that all rows of a table need (NULL: of a table with every term). It starts with some
** rows if the kernel is for rows that pass a q:where(fn). */
struct which variant_wanted(const struct kernel *kernel, const struct table *table);

/* variant_wanted, if it is known whether only some rows match. It is for all rows if it runs over
** stretches in which all match. */
struct which variant_of_rows(const struct kernel *kernel, const struct table *table, bool some);

/* The program for all or `some` rows of a table, by the terms that are present. */
struct which variant_in_table(const ecs_query *query, const struct table *table, bool some);

/* Which optional terms are present in a row of a table, a bit by slot. */
uint64_t variant_present(const ecs_query *query, const struct table *table, uint32_t row);

/* The optional terms of a query, in a walk. */
struct choices {
  uint32_t count;
  struct {
    const struct term *term;
    uint32_t step;             /* of the walk; NONE: use walk_cells */
  } list[KERNEL_SLOTS];
};

void variant_choices(const struct walk *walk, struct choices *out);

/* Which optional terms are present in a match, a bit by slot. */
uint64_t variant_present_in_match(const struct walk *walk, const struct choices *choices);

/* Whether a variant is for the present components and, if it uses any, indexes. */
bool variant_is_current(const struct kernel *kernel, const struct variant *variant);

/* The variant for these rows, with its outside values read; NULL if there is none. The kernel's
** KERNEL_ANCHORS are at an index. */
struct variant *variant_find(lua_State *L, int anchors, struct kernel *kernel,
                             struct which which);

/* Finds or makes that variant, for the kernel whose handle is at an index. If the function cannot
** be compiled, returns NULL and pushes the reason. */
struct variant *variant_need(lua_State *L, int handle, int anchors, struct kernel *kernel,
                             struct which which);

/* Pushes a list of all reasons to refuse the kernel now or, if there are none, the reason why it
** was refused. Called while the collector is stopped. */
void variant_push_reasons(lua_State *L, int handle);

/* Gives a kernel without variants those of another kernel with the same code, over a query with the
** same text, whose handle is at `from`; not all of them when out of memory. Called while the
** collector is stopped. */
void variants_share(lua_State *L, int handle, int from, int function);

/* Puts keys that its rows add to tables of their own in the order of Lua's next. */
void variant_order_by(lua_State *L, struct variant *variant);

/* Surround a run of a variant that was found for it: the first holds the collector if the program
** makes tables in Lua, since no finalizer may run meanwhile; the second stores the variant's script
** cells, which may raise Lua's memory error. The kernel's handle is at an index. */
void variant_hold(lua_State *L, struct variant *variant);
void variant_store_cells(lua_State *L, int handle, struct variant *variant);

/* The cost of copying a variant's tables (element_cost), and the cost that is worth paying for that
** many rows. */
uint64_t variant_cost(lua_State *L, int all_anchors, const struct variant *variant);
uint64_t variant_worth(const struct variant *variant, uint64_t rows);
/* Likewise for a loop, with a known number of rows. */
uint64_t variant_worth_of_loop(const struct variant *variant, uint64_t rows);

/* The variant that ran last, with its outside values read, if it is quiet and fits all non-empty
** tables; otherwise NULL. Raises nothing. The kernel's KERNEL_ANCHORS are at an index, which is
** used only if there are outside values. */
struct variant *variant_direct(lua_State *L, int anchors, struct kernel *kernel);

/* Whether a variant is for every table with matching rows, and for all rows there. */
bool variant_fits_all(const struct kernel *kernel, const struct variant *variant);

/* Pushes a list of the tables that are copied when a run starts: their `name` in the function, how
** many `elements` each had last, and their `bytes`. */
void variant_push_tables(lua_State *L, int handle, const struct variant *variant);

/* Appends the script cells that a variant reads, or writes, to the list at the top of the stack. */
void variant_append_cells(lua_State *L, int handle, const struct variant *variant, bool writes);

/* The data of a kernel, and of the programs of its function. */

#define REFUSAL 0              /* index in a variant's anchors, not used by the front, */
#define THE_FUNCTION 1         /* and the index that the front uses first */

/* What a world's object has compiled, in the world's memory: freed with the world, whatever happens
** to the object and the handles. */
struct kernel_set {
  struct attachment link;
  struct kernel *list;
  struct runner runner;
  struct abreast *abreast;     /* for parallel systems; NULL until there are any */
  ecs_query nothing;           /* the query of kernels over elements, without terms */
};

/* A function that may be compiled. */
struct kernel {
  struct world_box *box;
  struct kernel_set *set;
  const ecs_query *query;
  struct variant **variants;   /* most recently used first */
  struct variant *sure;        /* the first of them, if it fits any outside values and */
  uint64_t sure_version;       /* tables, at that version of the world's components; or NULL */
  const uint64_t *version;     /* the current version */
  uint64_t runs;
  uint32_t count, capacity;
  enum front_result result;
  bool refused;                /* when it was last needed, it was refused, */
  bool denied;                 /* by the front, */
  struct which denied_for;     /* for these rows */
  struct kernel *previous, *next;
  uint64_t compilations;       /* those that made a program */
  uint64_t anchored;           /* number of tables of anchors so far */
  bool ahead;                  /* it was compiled before its first run */
  bool found;                  /* there was something to run when it was last needed */
  uint64_t maybe;              /* struct which: for matches that are found in batches */
  uint64_t walked, walked_maybe;   /* 1 + the version of the world's components at which there were
                                   ** such programs for all matches (new ones may have come since);
                                   ** or 0 */
  bool keeps;                  /* some of its programs write script cells */
  bool filtered;               /* for rows that pass a q:where(fn): programs start with these */
  bool takes_values;           /* the function has parameters for values of variables */
  ecs_id array;                /* the array whose elements are the rows; or ECS_NULL */
  bool once;                   /* a system's run: there is one row */
  bool strict;                 /* what is refused in some rows is refused in all */
  uint32_t line;               /* its `for`, if it is a loop's body: see loop_kernel.c; or 0 */
  uint64_t body_sets[4];       /* locals around the loop that it sets, as bits; */
  uint64_t body_uses[4];       /* and those that it uses at all, once compiled */
  uint64_t begun;              /* how often the loop has begun */
  bool breaks_promise;         /* refused because it writes to a term declared :in */
  bool hopeless;               /* refused for good, whatever the outside values */
  uint64_t left;               /* rows that fell back to the function in the last run; */
  k_failure why_left;          /* why the first of them did; */
  uint64_t all_left;           /* and how many in all runs since counters were reset */
  uint64_t passed;             /* rows of tables that this run has finished */
  uint32_t refusals;           /* number of refusals since a variant was last found */
  bool gave_up, resting;       /* most rows fell back in this run; or Lua does all rows, */
  uint32_t tired, rests;       /* in that many more runs: kernel_tire, for this reason */
  k_failure why_tired;
};

/* Whether more than one run in a row was slower than Lua: kernel_tire. */
static inline bool kernel_is_tired(const struct kernel *kernel) { return kernel->tired > 1; }

/* What the front has found, in lists that no run changes: variants with the same program share
** them. */
struct findings {
  uint32_t users;
  size_t size;                 /* including the lists, which follow */
  struct program *program;     /* NULL: it was refused */
};

/* One program of a function; or, without a program, a refusal, valid while its guards fit: the
** reason is at REFUSAL in its anchors. */
struct variant {
  uint64_t version;            /* of the world's components */
  uint64_t run;                /* the kernel's run for which `uniforms` were read */
  uint32_t guard_count, resource_count, array_count, column_count;
  bool leaves;                 /* rows may fall back to the function, which can do anything, */
  bool lenient;                /* even for what was refused; never in a loop */
  bool quiet;                  /* its runs cannot fail, and have no results except stores */
  bool texts;                  /* some of its guards are GUARD_TEXT */
  bool starved;                /* there was no memory for `copied` */
  bool tables;                 /* it copies tables */
  bool makes;                  /* it makes tables (key order, appends) or strings in Lua */
  bool held;                   /* the collector is held; Lua had used so much memory */
  size_t kilobytes;
  lua_State *state;            /* of the current run */
  bool looks;                  /* it uses indexes, and depends on them: `indexed`, `fresh` */
  uint32_t unportable;         /* as in struct front */
  struct findings *findings;   /* owns these lists, those of the plan, and the program */
  struct run_plan plan;
  struct which which;
  struct guard *guards;
  struct resource_uniform *resources;
  struct front_column *columns;   /* for messages and explain */
  uint32_t anchors;            /* number of its table of anchors, which has weak values: the
                               ** function is the first */
  k_scalar uniforms[FRONT_UNIFORMS];
  struct front_array *sources; /* by array: its source, */
  k_array arrays[FRONT_ARRAYS];   /* and its data in this run */
  void *lists_cells;           /* of lists that the function makes for itself: scratch.c */
  struct copied copied[FRONT_ARRAYS];   /* copied tables among the arrays */
  struct script_cells script;
  struct ecs_index *indexes[RUN_INDEXES];   /* those that it uses */
  uint32_t index_count;
  struct run_list lists[RUN_LISTS];
  uint32_t list_count;
  struct front_class *shared;  /* the classes with cells accessed in row order */
  uint32_t shared_count;
  uint64_t indexed;            /* the world's indexes_version */
  uint64_t fresh;              /* the run for which the indexes were last updated */
};

/* Bodies of for loops as programs (loop_kernel.c). */

/* Called in the function that advances the for loop at an index: runs the loop's body for the rows
** of its run from next_row on, which becomes the first row that it has not run: Lua does that one.
** Sets loop->body. */
void body_run(lua_State *L, int loop_index, struct loop_box *loop);

/* The kernel's part of body_run, after the locals have been copied; `begins`: from the loop's first
** rows. False: Lua does all other rows. */
bool kernel_run_body(lua_State *L, int handle, struct loop_box *loop, bool begins);
/* kernel_ready for these rows of a loop; components may have changed meanwhile. */
bool kernel_ready_body(lua_State *L, int handle, struct which which, uint32_t rows, bool begins);

/* Key functions of indexes, from scripts. */

/* The core's description of a world with such a function. */

/* Pushes the object of the function at an index, anchored until it is swept, and describes it to
** the core. Raises an error for impossible uses of the function's arguments. */
void index_keys_push(lua_State *L, struct world_box *box, int function,
                     const struct query_text *query, ecs_index_desc *desc);

/* Frees the objects that the core has released; the world is at an absolute index. */
void index_keys_sweep(lua_State *L, struct world_box *box, int world_index);

/* Whether an index has a script's key function. */
bool index_has_script(const ecs_index *index);

/* Updates such an index; its object is at a stack index. Raises why it cannot. */
void index_keys_refresh(lua_State *L, struct world_box *box, int world_index, ecs_index *index);

/* Drops the indexes with key functions of this state; for a world without an object (NULL), the
** core forgets all these functions. */
void indexes_disown(ecs_world *world, const struct world_box *box);

/* A system's kernel, for functions that describe it. */

/* Pushes the handle of a system's kernel, or nil, also for a system of another Lua state. After a
** change of components the next run compiles; callers who ask earlier get the answer for the next
** run. Runs no finalizers. */
void system_kernel_push(lua_State *L, int world_index, struct system_box *system);

/* Whether its latest program is for the current tables and components. */
bool system_kernel_is_current(const struct kernel *kernel);

/* How a system runs: "lua", "vector", or "native" if it is the host's. */
const char *system_kernel_tier(const ecs_system *system);

/* Whether programs did all but a few rows of the for loops in its last `run`. */
bool loops_are_compiled(const struct system_box *system);

/* How the core calls the functions of systems. */

/* Calls body(world, references, system): the last is a light userdata, with user values that
** system_push pushes. Errors are kept for run_in_frame. */
ecs_status system_call(struct system_box *system, lua_CFunction body);

/* In such a body: pushes the system's function, and opens its loop over its query with that many
** views, at the next stack index; reuses an earlier loop if possible. */
struct loop_box *system_open_loop(lua_State *L, struct system_box *system, int index, int views);
void system_push_function(lua_State *L, struct system_box *system);

/* Where the body finds its arguments, and puts its function. */
enum { BODY_WORLD = 1, BODY_REFS, BODY_SYSTEM, BODY_FUNCTION };

/* The core's callbacks. */
ecs_status script_run(ecs_world *world, ecs_query *query, double dt, void *ud);
/* Adds what script_run would do to a parallel batch; false if that needs more from Lua than outside
** values. */
bool script_join(const struct system_box *system, double dt);
ecs_status script_when(ecs_world *world, void *ud, bool *run);
void script_failed(ecs_world *world, const char *system, ecs_status status, void *ud);

/* Where the on_error handler is in WORLD_REFS. */
extern const char on_error_key;

/* This state's object of a system in the core; NULL for a host's, or another state's. */
struct system_box *system_script(const ecs_system *system);

/* Which indexes a system uses: those in upvalues of its function, and of Lua functions found there;
** those named by strings in these functions; and those that its options name. */

/* Pushes the bytecode of the Lua function at the top of the stack, with or without its lines. */
bool push_dump(lua_State *L, bool strip);

/* Pushes the names in the option `uses` of the table at `spec`, as a list, or nil. Messages begin
** with `what`. */
void uses_option(lua_State *L, int spec, const char *what);

/* Pushes a list of the strings in the function at an index, for uses_each. */
void uses_push_texts(lua_State *L, int function);

/* A world and a function, with its list and its strings, at absolute indices. */
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

/* Gives the kernel whose handle is at an index the programs of the kernel that the table at `known`
** has under a key, and puts its own handle there. The key is at an index; 0: it is the bytecode of
** the function at `function`. If memory is short, it gets none. */
void closure_share(lua_State *L, int known, int function, int handle, int key);

/* What happens to a row for which a program fails: the function itself is called for it. */

/* The rows that a run has left undone, among those of a loop over the kernel's query. */
struct rest {
  uint32_t match;              /* in the query, where that loop begins */
  uint64_t before;             /* how many rows from there on are finished */
  uint64_t count;              /* the failed row, and later ones of the run */
  ecs_id entity;               /* the entity with the only match at which they begin, or ECS_NULL:
                               ** if their writes redirect a path, `before` no longer counts */
  const uint64_t *filter;      /* rows of the first table to run over; NULL: all */
  row_fn each;                 /* receives the function's results; NULL: ignored */
  void *ud;
  uint32_t limit;              /* for events: the row after the last one; 0: no limit */
  /* For a single row: its place in the table, which of its matches, and what to do after it: sets
  ** the next row, or returns false. The kernel's handle and KERNEL_ANCHORS are at two indices. */
  uint32_t row, turn;
  bool (*go_on)(lua_State *L, int handle, int anchors, struct rest *rest);
  void *of;
};

/* Whether the error at an index was raised by kernel_finish for a system, with its origin. True
** only once. */
bool failure_is_traced(lua_State *L, int index);

/* The entity of a loop's current row, if its function is called row by row; or ECS_NULL. */
ecs_id failure_row(const struct loop_box *loop);

/* Names an entity in the error at the top of the stack, if it is a string that does not name one
** yet. */
void failure_name(lua_State *L, ecs_id entity);

/* Likewise, an element: "smog[17]: ". */
void failure_name_element(lua_State *L, const char *array, uint32_t element);

/* Calls the function of the kernel whose handle is at an index, for the failed row: it does what a
** column could not, in the same steps as without a kernel. Its errors name the entity and, for a
** system, have the function's own traceback. If it does not raise, as for a nil, or where only
** columns round, it does the other rows, too. */
void kernel_finish(lua_State *L, int handle, const struct run_failure *failure, double dt,
                   const struct rest *rest, bool in_system);

/* What the core is told about scripts' systems, so that they can run in parallel. */

/* Kernels that cannot fail and do not change entities. */
extern const struct companions script_companions;

#endif
