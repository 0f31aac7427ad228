/* For C hosts that run Lua scripts over their worlds: needs no file system, since the library
** contains the Lua half of the module. Also for C modules that scripts load beside ecs, which link
** to no part of it. */
#ifndef ECS_LUA_H
#define ECS_LUA_H

#include "ecs.h"
#include "ecs_lua_module.h"
#include "ecs_lua_open.h"

#endif
