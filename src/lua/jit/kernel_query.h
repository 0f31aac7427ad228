/* The forms of a query that take a function to be compiled for all rows: q:each, q:map, q:run. */
#ifndef ECS_LUA_JIT_KERNEL_QUERY_H
#define ECS_LUA_JIT_KERNEL_QUERY_H

#include "lua/jit/kernel.h"

struct kernel_run;

/* q:each(fn, dt), and q:each() for a for loop */
int query_each(lua_State *L);
int query_map(lua_State *L);
int query_run(lua_State *L);

/* Pushes the handle for a function of the query at an index: made once for each result. */
void kernel_of_query(lua_State *L, int query_index, int function, struct use use);

/* Runs the programs of the kernel at an index in a scope of their own, over the query at 1; after
** kernel_ready. */
void run_in_scope(lua_State *L, int handle, struct kernel_run *run);

#endif
