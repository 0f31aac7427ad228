/* Functions that spawn by values: world:spawner. */
#ifndef ECS_LUA_LUA_SPAWNER_H
#define ECS_LUA_LUA_SPAWNER_H

#include <lauxlib.h>

extern const luaL_Reg world_spawner_methods[];

#endif
