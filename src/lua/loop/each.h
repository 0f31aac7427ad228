/* Functions that are called for the rows of a loop. */
#ifndef ECS_LUA_LOOP_EACH_H
#define ECS_LUA_LOOP_EACH_H

#include <lauxlib.h>

#include "core/base/base.h"

struct loop_box;

/* Calls the function at an index for every row of the open loop at the top of the stack, which is
** at `loop_index`; may leave values there. */
typedef void (*rows_fn)(lua_State *L, struct loop_box *loop, int loop_index, int function,
                        double dt);
void each_rows(lua_State *L, struct loop_box *loop, int loop_index, int function, double dt);

/* Calls the function for rows of the current run of the loop at an index, from one up to another.
** With a row_fn it returns a value, which is at the top of the stack for each. */
typedef void (*row_fn)(lua_State *L, struct loop_box *loop, uint32_t row, void *ud);
void each_between(lua_State *L, int loop_index, int function, double dt, uint32_t from, uint32_t to,
                  row_fn each, void *ud);

/* q:each() for a for loop: over a closed loop, as loop_begin. */
int each_begin(lua_State *L, struct loop_box *loop);

/* How many parameters the function at an index has; INT_MAX when it takes any number. */
int function_parameters(lua_State *L, int function);

/* How many arguments the function at an index takes: slots, dt (unless it is a predicate), the
** entity, values that go with the match, in this order. */
int wanted_arguments(lua_State *L, int function, const struct loop_box *loop);

#endif
