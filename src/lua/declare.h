/* Declaring components from Lua. */
#ifndef ECS_LUA_DECLARE_H
#define ECS_LUA_DECLARE_H

#include "read.h"

/* Declares the component named at one index with the fields at the other, in the world at
** index 1, and returns its id. Raises what is wrong. The stack is as it was. */
ecs_id declare_component(lua_State *L, int name, int fields);

#endif
