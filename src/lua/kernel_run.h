/* Running a kernel's programs over the tables of a loop. */
#ifndef ECS_LUA_KERNEL_RUN_H
#define ECS_LUA_KERNEL_RUN_H

#include "lua/kernel.h"

#include "kernel/program.h"

struct loop_box;
struct variant;

/* What a run is given, and where its results go. */
struct kernel_run {
  double dt;
  k_total *total;              /* of RESULT_SUM, RESULT_MIN and RESULT_MAX */
  /* Of RESULT_TRUTH: is given a bitmap of the rows of each table. */
  void (*truth)(lua_State *L, struct loop_box *loop, const uint64_t *bitmap, void *ud);
  void *ud;
};

/* Runs a kernel over the tables of an open loop without views; after kernel_ready. The error of a
** row that fails names the entity. */
void kernel_run(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* Runs a kernel over the loop's current table only, and compiles it when need be; false when it
** cannot be compiled. */
bool kernel_here(lua_State *L, int handle, struct loop_box *loop, const struct kernel_run *run);

/* Runs what variant_settled has found over all tables of its query, without Lua; false when
** there is no memory for it, and nothing has run. */
bool kernel_run_settled(struct kernel *kernel, struct variant *variant, double dt);

#endif
