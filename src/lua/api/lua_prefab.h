/* Methods of a world about copies of entities, and about prefabs. */
#ifndef ECS_LUA_API_LUA_PREFAB_H
#define ECS_LUA_API_LUA_PREFAB_H

#include <lauxlib.h>

struct world_box;

/* world:prefab, whose arguments are on the stack, now: pushes the prefab's id. */
void prefab_now(lua_State *L, struct world_box *box);

/* Pushes the plain list of what the arguments say; what is behind them goes. */
void prefab_push_list(lua_State *L);

/* A C function that declares what such a list says: (world, list). */
int prefab_declare_listed(lua_State *L);

extern const luaL_Reg world_prefab_methods[];

#endif
