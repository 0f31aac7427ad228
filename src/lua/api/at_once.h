/* Methods of queries, and of q:where(fn), about all their entities: how many there are, which, and
** what is to become of them. */
#ifndef ECS_LUA_API_AT_ONCE_H
#define ECS_LUA_API_AT_ONCE_H

#include <lauxlib.h>

#include "core/base/base.h"

/* q:count(), q:first(), q:ids() */
int query_count(lua_State *L);
int query_first(lua_State *L);
int query_ids(lua_State *L);

/* q:set(component, ...): as the method of the world, for each entity once: all of them or, when it
** fails, none. */
int query_set(lua_State *L);

struct loop_box;

/* Calls body(loop, ...) over the query at 1 and the filter at an index, with `arguments` values
** more, those at the top of the stack. */
void source_run(lua_State *L, int filter, lua_CFunction body, int arguments);

/* Comes to the next run of rows of the loop at 1, and to those of them that it goes through. */
bool source_next(lua_State *L, struct loop_box *loop);

/* The first of these from a row on; the count of rows where there is none. */
uint32_t source_row(const struct loop_box *loop, uint32_t row);

#endif
