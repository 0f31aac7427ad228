/* What becomes of a row in which a program fails: the function itself is called for it. */
#ifndef ECS_LUA_BIND_FAILURE_H
#define ECS_LUA_BIND_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include <lauxlib.h>

#include "ecs_types.h"
#include "lua/loop/each.h"

struct loop_box;
struct run_failure;

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
};

/* Whether the error at an index is what kernel_finish has raised for a system, which has been told
** where it comes from. Says so once. */
bool failure_is_traced(lua_State *L, int index);

/* The entity in whose row a loop is, the functions of which are called row after row; ECS_NULL when
** there is none. */
ecs_id failure_row(const struct loop_box *loop);

/* Puts an entity into the error at the top of the stack, if that is a text which names none yet. */
void failure_name(lua_State *L, ecs_id entity);

/* Calls the kernel's function, whose handle is at an index, for the row that failed: it does what a
** column could not, in the same steps as without a kernel, and what it raises is raised with the
** entity, for a system also with the function's own traceback. When it does not raise, as at a nil,
** or where only columns round, it does the other rows, too. */
void kernel_finish(lua_State *L, int handle, const struct run_failure *failure, double dt,
                   const struct rest *rest, bool in_system);

#endif
