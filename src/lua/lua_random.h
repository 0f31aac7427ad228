/* world:random. */
#ifndef ECS_LUA_LUA_RANDOM_H
#define ECS_LUA_LUA_RANDOM_H

#include <lauxlib.h>

extern const luaL_Reg world_random_methods[];

#endif
