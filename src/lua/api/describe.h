/* world:describe. */
#ifndef ECS_LUA_API_DESCRIBE_H
#define ECS_LUA_API_DESCRIBE_H

#include <lauxlib.h>

extern const luaL_Reg world_describe_methods[];

#endif
