/* Methods of a world that make entities and end them. */
#ifndef ECS_LUA_LUA_SPAWN_H
#define ECS_LUA_LUA_SPAWN_H

#include <lauxlib.h>

extern const luaL_Reg world_spawn_methods[];

#endif
