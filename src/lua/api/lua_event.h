/* Events, as scripts declare, emit and read them. */
#ifndef ECS_LUA_API_LUA_EVENT_H
#define ECS_LUA_API_LUA_EVENT_H

#include <lauxlib.h>

extern const luaL_Reg world_event_methods[];

#endif
