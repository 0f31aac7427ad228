/*
** For hosts in C that run Lua scripts over their worlds: works without a file system, the Lua
** half of the module is part of the library. And for modules in C that scripts load beside ecs:
** they link to nothing of it.
*/
#ifndef ECS_LUA_H
#define ECS_LUA_H

#include "ecs.h"
#include "ecs_lua_module.h"
#include "ecs_lua_open.h"

#endif
