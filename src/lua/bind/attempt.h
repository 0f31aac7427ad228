/* Protected calls that say what kind of error it was. */
#ifndef ECS_LUA_BIND_ATTEMPT_H
#define ECS_LUA_BIND_ATTEMPT_H

#include <lauxlib.h>

/* Pushes native.try(fn, ...): true and what fn returns; or false, what was raised, and its kind:
** "memory" (there was not enough), "yield" (it tried to), or nil. Nothing in fn can yield, since a
** coroutine that is dropped while it does would leave fn half done. */
void attempt_push(lua_State *L);

/* lua_pcall for a callback, which says so where that yields; room for one value more is there. */
int attempt_call(lua_State *L, int arguments, int results);

/* Its message handler, which leaves the error at 1. */
int attempt_handler(lua_State *L);

#endif
