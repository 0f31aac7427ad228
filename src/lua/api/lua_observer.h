/* Observers whose bodies are Lua functions: how they are registered. */
#ifndef ECS_LUA_API_LUA_OBSERVER_H
#define ECS_LUA_API_LUA_OBSERVER_H

#include <lauxlib.h>

#include "core/base/base.h"

struct transaction;
struct world_box;

extern const luaL_Reg world_observer_methods[];

/* registrar.observer, now: the world is at 1, the name at 2, the spec at 3. */
void observer_now(lua_State *L, struct world_box *box);

/* Raises unless observer_now could take what is there, which may still not fit the world. */
void observer_check_spec(lua_State *L, struct world_box *box);

/* As observer_now, in a transaction that is about to be committed. */
void observer_in_swap(lua_State *L, struct world_box *box, struct transaction *transaction,
                      uint64_t place, const char *owner);

/* Warns of those that seem to wait for what views write; the world is at 1. */
void observers_doubt(lua_State *L, const struct world_box *box);

#endif
