/* q:where(fn): a query whose rows also satisfy a function. Its methods are those of queries: each
** begins with check_source, and goes over source_loop. */
#ifndef ECS_LUA_LOOP_WHERE_H
#define ECS_LUA_LOOP_WHERE_H

#include <lauxlib.h>

#include "core/base/base.h"

struct loop_box;
struct query_box;

extern const char kind_where;

extern const luaL_Reg where_metamethods[];

/* q:where(fn) */
int query_where(lua_State *L);

/* The query at argument 1, or the one that the q:where(fn) there is about, which it replaces; an
** error when it cannot be used. There are so many arguments then, and behind them the q:where(fn),
** or nil. */
struct query_box *check_source(lua_State *L, int arguments);

/* The same of a query that goes through entities, and not through events. */
struct query_box *check_entities(lua_State *L, int arguments);

/* Pushes a closed loop over the query at 1, of a for loop or a function form, as loop_push, through
** the q:where(fn) at an index unless that is nil. */
struct loop_box *source_loop(lua_State *L, int filter, bool by_for, int views);

#endif
