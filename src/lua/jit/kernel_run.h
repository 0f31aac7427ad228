/* Running a kernel's programs over the tables of a loop. */
#ifndef ECS_LUA_JIT_KERNEL_RUN_H
#define ECS_LUA_JIT_KERNEL_RUN_H


#include "lua/loop/each.h"

struct k_total;
struct kernel;
struct loop_box;
struct variant;

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

/* Runs a kernel over the loop's current table only, those rows that it goes through, and compiles
** it when need be; false when it cannot be compiled. */
bool kernel_here(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* The program that kernel_here would run; NULL when there is none. */
const struct variant *kernel_variant_here(lua_State *L, int handle, const struct loop_box *loop);

#endif
