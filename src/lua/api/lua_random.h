/* world:random. */
#ifndef ECS_LUA_API_LUA_RANDOM_H
#define ECS_LUA_API_LUA_RANDOM_H

#include <lauxlib.h>

extern const luaL_Reg world_random_methods[];

#endif
