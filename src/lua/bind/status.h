/* Failures as Lua errors: statuses of the core, Lua's own
** memory error; and calls that no finalizer disturbs. */
#ifndef ECS_LUA_BIND_STATUS_H
#define ECS_LUA_BIND_STATUS_H

#include <lauxlib.h>

#include "core/base/base.h"

struct world_box;

/* Raises the Lua error for a status: the world's message with the position, or Lua's own
** memory error. Never returns. */
int raise_status(lua_State *L, const ecs_world *world, ecs_status status);

/* As raise_status, but as "bad argument #arg to 'function' (message)". */
int raise_argument(lua_State *L, const ecs_world *world, ecs_status status, int arg);

/* As luaL_error, with the formats of core/base/text.h. The message is complete before Lua is
** called, so it may name what a finalizer could take away. */
FORMAT(2, 3) int raise_error(lua_State *L, const char *format, ...);

/* Keeps a text, so that raise_error has memory for it; false when there is none. A loop_owner's. */
bool words_reserve(void *world_box, const char *text);

/* Lua's own "not enough memory". */
NORETURN int raise_memory(lua_State *L);

/* On ECS_ENOMEM collects garbage and says so once, so that the caller tries again:
**   do status = core_call(...); while (retry(L, box, status, &tried));
** False also when a finalizer used the world meanwhile: then what the caller holds may be
** gone, and it raises the memory error (raise_status for ECS_ENOMEM needs no world). */
bool retry(lua_State *L, struct world_box *box, ecs_status status, bool *tried);

/* Runs a C function like lua_call with the collector held, so that no finalizer comes in
** while it makes objects of what the core points to. For what is rare: describe. */
void call_quietly(lua_State *L, lua_CFunction function, int arguments, int results);

/* As call_quietly, but like lua_pcall: an error is left on the stack, and Lua's status returned.
** There is room for one value more. */
int try_quietly(lua_State *L, lua_CFunction function, int arguments, int results);

#endif
