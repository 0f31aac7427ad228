/* Compiled functions: the programs that a function has become, chosen by what its outside
** values are and which optional terms a table has, and running them over a query's tables. */
#ifndef ECS_LUA_KERNEL_H
#define ECS_LUA_KERNEL_H

#include "front/front.h"
#include "lua/loop.h"

struct kernel_box {
  struct head head;
  struct world_box *box;
  struct kernel *kernel;       /* NULL before its life; freed with the world, if not before */
};

/* One program of a function. */
struct variant {
  struct program *program;
  uint64_t version;            /* of the world's components */
  uint64_t present;            /* bit by slot: terms that the table has */
  struct guard *guards;
  uint32_t guard_count;
  struct resource_uniform *resources;
  uint32_t resource_count;
  uint32_t uniform_count;
  struct front_column *columns;
  uint32_t column_count;
  uint32_t command_count;
  bool quiet;                  /* its runs cannot fail and have no results but what they store */
  uint32_t anchors;            /* its table among the kernel's */
  uint64_t run;                /* of the kernel, that `uniforms` are for */
  k_scalar uniforms[FRONT_UNIFORMS];
  struct front_command commands[FRONT_COMMANDS];
};

/* What a world's object has compiled, in the world's memory: freed with the world whatever
** becomes of the object and of handles. */
struct kernel_set {
  struct attachment link;
  ecs_world *world;
  struct kernel *list;
  struct machine *machine;
  void *work;                  /* ids and bitmaps of a run */
  uint32_t work_capacity;
};

/* A function that is to be compiled. */
struct kernel {
  struct world_box *box;
  struct kernel_set *set;
  struct kernel *previous, *next;
  const ecs_query *query;
  enum front_result result;
  struct variant **variants;   /* the last used first */
  uint32_t count, capacity;
  uint64_t compilations;
  uint64_t runs;
  uint64_t retry_at;           /* the run in which a refused function is tried again */
  uint64_t retry_step;
  uint64_t refused_version;    /* of the components, when it was refused */
  bool refused;
  bool given;                  /* to a form of the query, not to a system */
  bool breaks_promise;         /* refused since it writes to a term declared :in */
};

#define KERNEL_FUNCTION 1      /* user values of a kernel's handle */
#define KERNEL_ANCHORS 2       /* table of the variants' tables */
#define KERNEL_REASON 3
#define KERNEL_WORLD 4
#define KERNEL_QUERY 5         /* the object of its query, which lives as long */
#define KERNEL_VALUES 5

/* Pushes the handle of a new kernel for the function and the query at two indices. */
struct kernel *kernel_push(lua_State *L, struct world_box *box, int world_index,
                           int function, int query_index, enum front_result result);

/* Pushes a list of the handles that a function has in this object's world, the last made
** first. */
void kernels_of_function(lua_State *L, struct world_box *box, int world_index, int function);

/* Whether the function can run as a program over every table of its query that has rows, as
** things are now; compiles what is missing. If not, the reason is pushed. */
bool kernel_ready(lua_State *L, int handle);

/* The same where it has to: also soon after it was refused. */
bool kernel_ready_again(lua_State *L, int handle);

/* The same before it is to run: when there are no rows yet, for a table that has every term. */
bool kernel_ready_ahead(lua_State *L, int handle);

/* The same for one table, for kernel_here; without a reason. */
bool kernel_ready_here(lua_State *L, int handle, const struct table *table);

/* The program for a table as things are now, its outside values read; NULL when there is none.
** The kernel's KERNEL_ANCHORS are at an index. */
struct variant *kernel_find(lua_State *L, int anchors, struct kernel *kernel,
                            const struct table *table);

/* The same for all tables at once, of a kernel that has run: when what ran last fits them all,
** and is quiet, else NULL. Raises nothing. Its KERNEL_ANCHORS are at an index, unless
** kernel_reads says that they are not looked at. */
struct variant *kernel_settled(lua_State *L, int anchors, struct kernel *kernel);

static inline bool kernel_reads(const struct kernel *kernel) {
  return kernel->count && kernel->variants[0]->guard_count;
}

/* Makes room for the ids and bitmaps of so many rows; raises. */
void kernel_reserve(lua_State *L, const struct kernel *kernel, const struct variant *variant,
                    uint32_t rows);

/* Whether a refused function is not to be tried again yet. Counts as a run if so. */
bool kernel_waits(const struct kernel_box *box);

/* Runs it over the tables of an open loop without views; after kernel_ready. Errors name the
** entity. bitmaps of RESULT_TRUTH go to `truth`, totals to `total`. */
struct kernel_run {
  double dt;
  k_total *total;
  void (*truth)(lua_State *L, struct loop_box *loop, const uint64_t *bitmap, void *ud);
  void *ud;
};
void kernel_run(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* Runs what kernel_settled has found over all tables of its query, without Lua; false when
** there is no room for it, and nothing has run. */
bool kernel_run_settled(struct kernel *kernel, struct variant *variant, double dt);

/* As kernel_run for the loop's current table only, compiled when need be; false when it cannot
** be. */
bool kernel_here(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* Raises why a row of the loop's table failed, with file, line and entity. */
int kernel_fail(lua_State *L, int handle, const struct loop_box *loop,
                const struct variant *variant, const k_failure *failure);

/* The handle for a function of the query at an index, pushed: made once for each result. */
void kernel_of_query(lua_State *L, int query_index, int function, enum front_result result);


extern const luaL_Reg kernel_metamethods[];
#endif
