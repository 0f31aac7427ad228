/* Which term of a query has its matches apart from each other. */
#ifndef ECS_LUA_API_APART_H
#define ECS_LUA_API_APART_H

#include <lauxlib.h>

#include "ecs_types.h"

/* Pushes a reason, with the term behind it if it is that matches do not lie together; the query may
** be NULL. */
void apart_push(lua_State *L, const char *why, const ecs_query *query);

#endif
