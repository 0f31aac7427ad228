/* The forms of a query that take a function to be compiled: q:run, q:sum, q:min, q:max. */
#ifndef ECS_LUA_KERNEL_QUERY_H
#define ECS_LUA_KERNEL_QUERY_H

#include "lua/kernel.h"

int query_run(lua_State *L);
int query_sum(lua_State *L);
int query_min(lua_State *L);
int query_max(lua_State *L);

/* Pushes the handle for a function of the query at an index: made once for each result. */
void kernel_of_query(lua_State *L, int query_index, int function, enum front_result result);

#endif
