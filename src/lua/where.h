/* q:where(fn): a query whose rows also satisfy a function. */
#ifndef ECS_LUA_WHERE_H
#define ECS_LUA_WHERE_H

#include <lauxlib.h>

extern const char kind_where;

extern const luaL_Reg where_methods[], where_metamethods[];

/* q:where(fn) */
int query_where(lua_State *L);

#endif
