/* Forms that bring what a function returns for each row to one value. */
#ifndef ECS_LUA_LOOP_REDUCE_H
#define ECS_LUA_LOOP_REDUCE_H

#include <lauxlib.h>

/* q:sum(fn), q:min(fn), q:max(fn) */
int query_sum(lua_State *L);
int query_min(lua_State *L);
int query_max(lua_State *L);

#endif
