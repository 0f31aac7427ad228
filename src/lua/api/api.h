/* The functions of the module for other modules in C. */
#ifndef ECS_LUA_API_API_H
#define ECS_LUA_API_API_H

#include <lua.h>

/* Stores them where ecs_lua_functions looks. */
void api_open(lua_State *L);

#endif
