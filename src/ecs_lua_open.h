/* For C hosts: the module in their Lua states, and their worlds in scripts. */
#ifndef ECS_LUA_OPEN_H
#define ECS_LUA_OPEN_H

#include <lua.h>

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes `require "ecs"` work in a state without looking for files, and leaves the module on the
** stack. May raise Lua errors (memory). */
ECS_API int ecs_lua_open(lua_State *L);

/* Pushes a world that the host owns: the collector does not free it, and world:close() only lets go
** of it. Pushing the same world again gives the same object. Close the state before you free the
** world: closing removes the state's systems and `any` values from it. */
ECS_API void ecs_lua_push_world(lua_State *L, ecs_world *world);

/* The world at a stack index; NULL if it is not a world or is closed. Call this again in each call
** from Lua: scripts may close the world in between. */
ECS_API ecs_world *ecs_lua_to_world(lua_State *L, int index);

/* The loader of the C half, `ecs.native`, the only symbol that the module exports. */
#if defined(_WIN32)
__declspec(dllexport)
#elif defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int luaopen_ecs_native(lua_State *L);

#ifdef __cplusplus
}
#endif

#endif
