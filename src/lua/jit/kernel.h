/* Kernels: Lua functions that are to run as programs over a query, and the handles that scripts
** and systems have of them. */
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
struct key_box;
struct query_text;
struct system_box;
struct variant;

/* Of a world. */
struct kernels {
  bool on;
  int isa;                     /* a k_isa */
  bool ordered;                /* rows do everything one after the other: for tests */
  struct kernel_set *set;      /* NULL while nothing has been compiled */
};

/* A handle. */
struct kernel_box {
  struct head head;
  struct world_box *box;
  struct kernel *kernel;       /* NULL before its life; freed with the world, if not before */
  const char *form;            /* of a query or a system, that it was given to last */
};

#define KERNEL_FUNCTION 1      /* user values of a kernel's handle: kernel_push_function */
#define KERNEL_ANCHORS 2       /* table of the variants' tables */
#define KERNEL_REASON 3
#define KERNEL_WORLD 4
#define KERNEL_QUERY 5         /* the object of its query, which lives as long */
#define KERNEL_VALUES 5

/* What a function is given to. */
struct use {
  const char *form;            /* of a query or a system, as scripts call it */
  enum front_result result;
  bool filtered;               /* for rows that a q:where(fn) lets through */
};

/* Pushes the handle of a new kernel for the function and the query at two indices; with nil it is
** for elements of an array, which the caller sets. */
void kernel_push(lua_State *L, struct world_box *box, int world_index, int function,
                 int query_index, struct use use);

/* Pushes the function of the kernel whose handle is at an index; nil when nobody has it any more: a
** kernel keeps alive neither its function nor what that reaches. */
void kernel_push_function(lua_State *L, int handle);

/* Pushes a list of the handles that a function has in this object's world, the last made
** first. */
void kernels_of_function(lua_State *L, struct world_box *box, int world_index, int function);

/* Frees what kernels hold of a world that closes. */
void kernels_free(struct world_box *box);

extern const char kind_kernel;

extern const luaL_Reg kernel_metamethods[];

/* The indexes that a kernel looks into: up to date before it runs. */

/* Whether all that a variant looks into are up to date, or could be brought so, outside of systems;
** if not, why is pushed. Its outside values have been read for this run. */
bool indexes_ready(lua_State *L, struct variant *variant);

/* Whether that is still so. */
bool indexes_are_fresh(const struct variant *variant);

/* What scripts' objects are to the functions that are compiled. */

/* An outside_fn. The owner is the world_box of the kernel. */
struct outside kernel_object(lua_State *L, int index, const void *owner);

/* The forms of a query that take a function to be compiled for all rows: q:each, q:map, q:run. */

/* q:each(fn, dt), and q:each() for a for loop */
int query_each(lua_State *L);
int query_map(lua_State *L);
int query_run(lua_State *L);

/* Pushes the handle for a function of the query at an index: made once for each result. */
void kernel_of_query(lua_State *L, int query_index, int function, struct use use);

/* Runs the programs of the kernel at an index in a scope of their own, over the query at 1; after
** kernel_ready. */
void run_in_scope(lua_State *L, int handle, struct kernel_run *run);

/* Whether a kernel's function can run as a program now: what is missing is compiled, and what was
** refused is remembered. */

/* Whether the function can run as a program over every table of its query that has rows, as
** things are now, and, unless it must, is not faster in Lua. If not, the reason is pushed. */
bool kernel_ready(lua_State *L, int handle, bool must);

/* kernel_ready before there is a run: without any rows it is asked for a table with every term. */
bool kernel_ready_unbound(lua_State *L, int handle);

/* Whether the function can run as a program over one table. Pushes no reason. */
bool kernel_ready_here(lua_State *L, int handle, const struct table *table);

/* Whether it was refused for what it does whatever values it finds outside. */
bool kernel_is_hopeless(const struct kernel_box *box);

/* Whether it was refused when rows were last there to be run, or when it was asked for ahead. */
bool kernel_is_refused(const struct kernel_box *box);

/* The array whose elements the rows of a kernel are; NULL where it is declared no more. */
const struct component *kernel_elements(const struct kernel *kernel);

/* Running a kernel's programs over the tables of a loop. */

/* What a run is given, and where its results go. */
struct kernel_run {
  double dt;
  struct k_total *total;       /* of RESULT_SUM, RESULT_MIN and RESULT_MAX: two */
  /* Of RESULT_TRUTH: is given a bitmap of the rows of each table. */
  void (*truth)(lua_State *L, struct loop_box *loop, const uint64_t *bitmap, void *ud);
  /* Of all of these: takes the results of rows from one on that fails, which the function itself
  ** is called for. */
  row_fn each;
  /* Of totals: first their `part` is what rows of the query's match before that one came to. */
  void (*resume)(uint32_t match, void *ud);
  /* Of results over events: set where a row fails. They are then what the function itself says of
  ** all rows, none of which has done anything else. */
  bool *gave_up;
  void *ud;
};

/* How many events are added up at a time. */
#define KERNEL_EVENTS 1024u

/* Runs a kernel over the tables of an open loop without views; after kernel_ready. The error of a
** row that fails names the entity. Totals of a loop without a filter come from the function itself
** for all rows behind one that fails. */
void kernel_run(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* Runs a kernel over the elements of its array; after kernel_ready. Those that fail are left to the
** function, and all others when they are too many. */
void kernel_run_elements(lua_State *L, int handle, struct elements *elements);
/* The program of a system's run; false where it fails, and nothing is done. */
bool kernel_run_once(lua_State *L, int handle, double dt);

/* Runs a kernel over the loop's current table only, those rows that it goes through, and compiles
** it when need be; false when it cannot be compiled. */
bool kernel_here(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* The program that kernel_here would run; NULL when there is none. */
const struct variant *kernel_variant_here(lua_State *L, int handle, const struct loop_box *loop);

/* Running a kernel whose program is known to fit: of systems, most runs are such. */

/* Runs the program that ran last over all tables of its query, without a call of Lua; false when
** it cannot be (see variant_direct), and nothing has run. KERNEL_ANCHORS of the kernel are at an
** index, which is not looked at unless kernel_reads. Raises nothing. */
bool kernel_run_direct(lua_State *L, int anchors, struct kernel *kernel, double dt);

/* As kernel_run_direct for one of several runs side by side: it is added to these. */
bool kernel_join_batch(lua_State *L, int anchors, struct kernel *kernel, double dt);

/* Whether that program has outside values. */
bool kernel_reads(const struct kernel *kernel);

/* The programs that a kernel's function has become, chosen by what its outside values are and by
** which of its query's optional terms a table has. */

#define KERNEL_SLOTS 64        /* of a query whose functions are compiled */

/* What rows a program is for. */
struct which {
  uint64_t present;            /* bit by slot: the terms that are there */
  bool some;                   /* not for all rows of a table: those that match */
  uint64_t maybe;              /* the terms that are there in some of its rows */
};

void variant_free(struct memory *memory, struct variant *variant);

/* The program that all rows of a table want (NULL: of one that has every term). It starts with
** some, if the kernel is for what a q:where(fn) lets through. */
struct which variant_wanted(const struct kernel *kernel, const struct table *table);

/* As variant_wanted where it is known whether just some rows match. It is for all if it runs over
** stretches all of whose rows match. */
struct which variant_of_rows(const struct kernel *kernel, const struct table *table, bool some);

/* For its rows, or `some` of them, as they are. */
struct which variant_in_table(const ecs_query *query, const struct table *table, bool some);

/* Which of the terms that may be absent are there, a bit by slot: in a row of a table. */
uint64_t variant_present(const ecs_query *query, const struct table *table, uint32_t row);

/* The terms of a query that may be absent, for a walk. */
struct choices {
  uint32_t count;
  struct {
    const struct term *term;
    uint32_t step;             /* of the walk; NONE: ask walk_cells */
  } list[KERNEL_SLOTS];
};

void variant_choices(const struct walk *walk, struct choices *out);

/* variant_present in a match. */
uint64_t variant_present_in_match(const struct walk *walk, const struct choices *choices);

/* Whether it is for the components, and, where it looks into some, the indexes that there are
** now. */
bool variant_is_current(const struct kernel *kernel, const struct variant *variant);

/* The variant for these rows, as things are now, its outside values read; NULL when there is none.
** KERNEL_ANCHORS of the kernel are at an index. */
struct variant *variant_find(lua_State *L, int anchors, struct kernel *kernel,
                             struct which which);

/* Finds that variant, or makes it, of the kernel whose handle is at an index. If the function
** cannot be compiled, NULL, and the reason is pushed. */
struct variant *variant_need(lua_State *L, int handle, int anchors, struct kernel *kernel,
                             struct which which);

/* Pushes a list of all reasons why the kernel is refused now, or, where there are none, of that why
** it was. To be called while the collector is held. */
void variant_push_reasons(lua_State *L, int handle);

/* Gives a kernel that has no variants yet those of another one of its function's code, over a query
** of the same text, whose handle is at `from`; not all of them when out of memory. To be called
** while the collector is held. */
void variants_share(lua_State *L, int handle, int from, int function);

/* Around a run of a variant that has been found for it: makes room for its script cells, which may
** raise Lua's memory error, and stores them. The kernel's handle is at an index. */
void variant_reserve_cells(lua_State *L, int handle, const struct variant *variant);
void variant_store_cells(lua_State *L, int handle, const struct variant *variant);

/* What it costs to copy a variant's tables (element_cost), and what it is worth to copy for so many
** rows. */
uint64_t variant_cost(lua_State *L, int all_anchors, const struct variant *variant);
uint64_t variant_worth(const struct variant *variant, uint64_t rows);

/* The variant that ran last, its outside values read, if it is quiet and fits all tables that have
** rows; else NULL. Raises nothing. KERNEL_ANCHORS of the kernel are at an index, which is not
** looked at unless it has outside values. */
struct variant *variant_direct(lua_State *L, int anchors, struct kernel *kernel);

/* Whether it is for every table in which rows match, and for all of these. */
bool variant_fits_all(const struct kernel *kernel, const struct variant *variant);

/* Pushes a list of the tables that are copied when a run starts: `name`, as the function calls it,
** how many `elements` there were when one last did, and the `bytes` that these took. */
void variant_push_tables(lua_State *L, int handle, const struct variant *variant);

/* Appends the script cells that it reads, or writes, to the list at the top of the stack. */
void variant_append_cells(lua_State *L, int handle, const struct variant *variant, bool writes);

/* What a kernel is, and the programs that its function has become: see kernel_variant.h. */

#define REFUSAL 0              /* among a variant's anchors: no number of what the front anchors, */
#define THE_FUNCTION 1         /* and the number of what it anchors first */

/* What a world's object has compiled, in the world's memory: freed with the world whatever
** becomes of the object and of handles. */
struct kernel_set {
  struct attachment link;
  struct kernel *list;
  struct runner runner;
  struct abreast *abreast;     /* of systems side by side; NULL before there are any */
  ecs_query nothing;           /* the query of kernels whose rows are elements: it has no terms */
};

/* A function that is to be compiled. */
struct kernel {
  struct world_box *box;
  struct kernel_set *set;
  const ecs_query *query;
  struct variant **variants;   /* the last used first */
  struct variant *sure;        /* the first of them, if it is settled whatever outside values and */
  uint64_t sure_version;       /* tables are, by that version of the world's components; or NULL */
  const uint64_t *version;     /* which that is now */
  uint64_t runs;
  uint32_t count, capacity;
  enum front_result result;
  bool refused;                /* when it was last asked for, */
  bool denied;                 /* by the front, */
  struct which denied_for;     /* for these rows */
  struct kernel *previous, *next;
  uint64_t compilations;       /* that gave a program */
  uint64_t anchored;           /* tables of anchors so far */
  bool ahead;                  /* it was asked for before there is a run */
  bool found;                  /* something was to be run when it was last asked for */
  uint64_t maybe;              /* struct which: of matches that are found many at a time */
  uint64_t walked, walked_maybe;   /* 1 + the version of the world's components for which there were
                               ** such programs for all matches: others may have come since; or 0 */
  bool keeps;                  /* some of its programs write script cells */
  bool filtered;               /* for rows that a q:where(fn) lets through: programs start so */
  ecs_id array;                /* whose elements are the rows; ECS_NULL */
  bool once;                   /* of a system's run: there is one row */
  bool breaks_promise;         /* refused since it writes to a term declared :in */
  bool hopeless;               /* refused, and will be, whatever the outside values */
  bool adds;                   /* programs may add fields to tables: see script_cells */
  uint64_t left;               /* rows that the function itself did in the last run, */
  k_failure why_left;          /* and why the first one; */
  uint64_t all_left;           /* in all runs since counters were reset */
};

/* One program of a function; or, without a program, that it was refused where its guards fit: its
** anchors then have the reason at REFUSAL. */
struct variant {
  uint64_t version;            /* of the world's components */
  uint64_t run;                /* of the kernel, that `uniforms` are for */
  uint32_t guard_count, resource_count, array_count, column_count;
  bool leaves;                 /* rows in which anything may be done to the function itself */
  bool quiet;                  /* its runs cannot fail and have no results but what they store */
  bool texts;                  /* some of its guards are GUARD_TEXT */
  bool starved;                /* there was no memory to copy `copied` */
  bool tables;                 /* it copies some */
  bool looks;                  /* into indexes, and may change with them: `indexed`, `fresh` */
  uint32_t unportable;         /* as in the front */
  struct run_plan plan;        /* its arrays are `cells`, `commands`, `asked`, `lookups` */
  struct which which;
  struct guard *guards;
  struct resource_uniform *resources;
  struct run_column *cells;
  struct front_column *columns;   /* what messages and explain say of them */
  uint32_t anchors;            /* its table among the kernel's, with weak values */
  uint32_t anchor_count;       /* in it; the function is the first */
  k_scalar uniforms[FRONT_UNIFORMS];
  struct run_command commands[RUN_ORDERS];
  struct run_asked asked[RUN_ASKED];
  struct run_lookup *lookups;
  uint32_t lookup_count;
  uint32_t marks[RUN_MARKS];
  uint32_t mark_count, first_mark;
  uint32_t whole[RUN_MARKS];
  uint32_t whole_count;
  ecs_id array_ids[FRONT_ARRAYS];   /* 0: a table */
  uint32_t array_leaves[FRONT_ARRAYS];   /* of a resource: which field of it */
  bool array_written[FRONT_ARRAYS];
  k_array arrays[FRONT_ARRAYS];   /* as they are in this run */
  struct copied copied[FRONT_ARRAYS];   /* tables among them, */
  struct front_copy copies[FRONT_ARRAYS];   /* and what indexes have copied */
  struct script_cells script;
  struct ecs_index *indexes[RUN_INDEXES];   /* that it looks into, */
  uint32_t index_count;
  struct run_list lists[RUN_LISTS];
  uint32_t list_count;
  struct front_class *shared;  /* the classes whose cells are got at in the order of rows */
  uint32_t shared_count;
  uint64_t indexed;            /* indexes_version of the world */
  uint64_t fresh;              /* the run for which they were brought up to date last */
};

/* Keys of indexes by programs: functions of scripts that give a number for each row are compiled as
** those of systems are. */

/* User values of the object of a key function: the world's object, the function, and the handle of
** its kernel. */
enum { KEY_WORLD = 1, KEY_FUNCTION, KEY_KERNEL, KEY_VALUES = KEY_KERNEL };

/* Which rows want keys. */
struct keyless {
  const char *query;           /* whose rows they are */
  const struct copies *rows;
  const uint32_t *list;        /* NULL: all of them */
  uint32_t count;
};

/* The numbers that the program of the function whose object is at 1 gives for them, int64_t or
** double, in an object that it pushes. NULL when there is no program, or a row fails: then all of
** them are the function's to give. */
const void *key_program(lua_State *L, struct world_box *box, const struct keyless *keyless,
                        bool *integers);

/* Keys of indexes that are functions of scripts. */

/* Of a world that scripts have given such a function: what the core knows of it. */

/* Pushes the object of the function at an index, anchored until it is swept, and tells the core by
** the description. Raises what the function does with what the query gives that cannot be. */
void index_keys_push(lua_State *L, struct world_box *box, int function,
                     const struct query_text *query, ecs_index_desc *desc);

/* Lets go of those that the core has let go of; the world is at an absolute index. */
void index_keys_sweep(lua_State *L, struct world_box *box, int world_index);

/* Whether an index has such a function. */
bool index_has_script(const ecs_index *index);

/* Brings such an index up to date, whose object is at a stack index. Raises why not. */
void index_keys_refresh(lua_State *L, struct world_box *box, int world_index, ecs_index *index);

/* Drops the indexes whose functions are this state's; of a world whose object is gone (NULL), the
** core is told to forget all. */
void indexes_disown(ecs_world *world, const struct world_box *box);

/* A system's kernel, for who tells of it. */

/* Pushes the handle of a system's kernel, or nil, as of one that another Lua state has. After a
** change of components the next run compiles; who asks before that is told what then will be. Runs
** quietly. */
void system_kernel_push(lua_State *L, int world_index, struct system_box *system);

/* Whether its latest program is one for the tables and components that there are now. */
bool system_kernel_is_current(const struct kernel *kernel);

/* How a system runs: "lua", "vector", or "native" for a host's. */
const char *system_kernel_tier(const ecs_system *system);

/* How the core calls the functions of systems. */

/* Calls body(world, references, system): a light userdata, whose user values system_push pushes.
** What it raises is kept for run_in_frame. */
ecs_status system_call(struct system_box *system, lua_CFunction body);
int system_push(lua_State *L, const struct system_box *system, int value);

/* In such a body: pushes the system's function, and opens its loop over its query behind what is on
** the stack, where it gets that index, with this many views; it has been used before where it can
** be. */
struct loop_box *system_open_loop(lua_State *L, struct system_box *system, int index, int views);
void system_push_function(lua_State *L, struct system_box *system);

/* Where the body has what it is given, and puts its function. */
enum { BODY_WORLD = 1, BODY_REFS, BODY_SYSTEM, BODY_FUNCTION };

/* The core's callbacks. */
ecs_status script_run(ecs_world *world, ecs_query *query, double dt, void *ud);
/* Adds what script_run would do to what is to be done side by side; false where that needs more of
** Lua than outside values. */
bool script_join(const struct system_box *system, double dt);
ecs_status script_when(ecs_world *world, void *ud, bool *run);
void script_failed(ecs_world *world, const char *system, ecs_status status, void *ud);

/* Where WORLD_REFS has the on_error handler. */
extern const char on_error_key;

/* The system of this state behind one of the core's, or NULL: a host's, another state's. */
struct system_box *system_script(const ecs_system *system);

/* Which indexes a system looks into: those in upvalues of its function, and of the Lua functions
** that are found there; those whose names are written in these; and those that its options name. */

/* Pushes the bytecode of the Lua function at the top of the stack, with its lines or without. */
bool push_dump(lua_State *L, bool strip);

/* The names of the option `uses` of the table at `spec`, as a list: pushes it, or nil. `what`
** begins the messages. */
void uses_option(lua_State *L, int spec, const char *what);

/* Pushes what is written in the function at an index, for uses_each. */
void uses_push_texts(lua_State *L, int function);

/* A world and a function, with the list and the texts that it was given, at absolute indices. */
struct user {
  struct world_box *box;
  int world, function, listed, texts;
};

typedef void (*visit_fn)(lua_State *L, struct world_box *box, int world,
                         struct ecs_index *index);

/* Calls `visit` for each index that is looked into, once or more often. Raises for a name that is
** no index's. */
void uses_each(lua_State *L, const struct user *user, visit_fn visit);

/* world:explain. */

/* world:explain(name) */
int world_explain(lua_State *L);

/* world:explain "update". */

/* Pushes a table by phase of lists of systems that can run side by side, with the reason why each
** list comes behind the one before it. The world is at 1. */
int update_explain(lua_State *L);

/* Closures of one function of a script, as one that is made anew each frame, and queries of one
** text: each is a kernel of its own, and their programs are compiled once. */

/* Gives the kernel whose handle is at an index the programs of the one that the table at `known`
** has under a key, and puts it there. The key is at an index; 0: it is the bytecode of the function
** at `function`. Without memory there are none. */
void closure_share(lua_State *L, int known, int function, int handle, int key);

/* What becomes of a row in which a program fails: the function itself is called for it. */

/* Which rows a run has left, of those that a loop over the kernel's query comes to. */
struct rest {
  uint32_t match;              /* of the query, from which that loop begins */
  uint64_t before;             /* rows from there on that are done */
  uint64_t count;              /* the row that failed, and those of the run behind it */
  ecs_id entity;               /* with whose only match they begin, or ECS_NULL: rows before it
                               ** count no more where a path is led elsewhere by what they wrote */
  const uint64_t *filter;      /* of the first table's rows those that the run is for; NULL: all */
  row_fn each;                 /* takes the function's results; NULL: they are not used */
  void *ud;
  uint32_t limit;              /* of events: the row behind the last one; 0: all */
  /* Of one row alone: which of the table, which of its matches, and what comes behind it. Sets the
  ** next one, or returns false. The kernel's handle and KERNEL_ANCHORS are at two indices. */
  uint32_t row, turn;
  bool (*go_on)(lua_State *L, int handle, int anchors, struct rest *rest);
  void *of;
};

/* Whether the error at an index is what kernel_finish has raised for a system, which has been told
** where it comes from. Says so once. */
bool failure_is_traced(lua_State *L, int index);

/* The entity in whose row a loop is, the functions of which are called row after row; ECS_NULL when
** there is none. */
ecs_id failure_row(const struct loop_box *loop);

/* Puts an entity into the error at the top of the stack, if that is a text which names none yet. */
void failure_name(lua_State *L, ecs_id entity);

/* Puts "smog[17]: " there. */
void failure_name_element(lua_State *L, const char *array, uint32_t element);

/* Calls the kernel's function, whose handle is at an index, for the row that failed: it does what a
** column could not, in the same steps as without a kernel, and what it raises is raised with the
** entity, for a system also with the function's own traceback. When it does not raise, as at a nil,
** or where only columns round, it does the other rows, too. */
void kernel_finish(lua_State *L, int handle, const struct run_failure *failure, double dt,
                   const struct rest *rest, bool in_system);

/* What the core is told of systems of scripts, so that they can run side by side. */

/* Kernels that cannot fail, and give no commands. */
extern const struct companions script_companions;

#endif
