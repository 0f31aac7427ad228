/* world:array: declaring arrays, and finding them by their names. */
#ifndef ECS_LUA_API_WORLD_ARRAY_H
#define ECS_LUA_API_WORLD_ARRAY_H

#include <lauxlib.h>

struct world_box;

extern const luaL_Reg world_array_methods[];

/* registrar.array: pushes the array that is named at 2, which is declared. The other one is for
** scripts that are being read, and may name what is declared later. */
void array_now(lua_State *L, struct world_box *box);
void array_pending(lua_State *L, struct world_box *box);

#endif
