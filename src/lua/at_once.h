/* Methods of queries, and of q:where(fn), about all their entities: how many there are, which, and
** what is to become of them. */
#ifndef ECS_LUA_AT_ONCE_H
#define ECS_LUA_AT_ONCE_H

#include <lauxlib.h>

/* q:count(), q:first(), q:ids() */
int query_count(lua_State *L);
int query_first(lua_State *L);
int query_ids(lua_State *L);

/* q:despawn(), q:add(component, ...), q:remove(component, ...), q:set(component, ...): as methods
** of the world, for each entity once; set does all of them or, when it fails, none. */
int query_despawn(lua_State *L);
int query_add(lua_State *L);
int query_remove(lua_State *L);
int query_set(lua_State *L);

#endif
