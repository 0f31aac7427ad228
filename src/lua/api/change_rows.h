/* Methods of queries, and of q:where(fn), that change what their entities have, or end them: as
** methods of the world, for each entity once. */
#ifndef ECS_LUA_API_CHANGE_ROWS_H
#define ECS_LUA_API_CHANGE_ROWS_H

#include <lauxlib.h>

/* q:despawn(), q:add(component, ...), q:remove(component, ...) */
int query_despawn(lua_State *L);
int query_add(lua_State *L);
int query_remove(lua_State *L);

#endif
