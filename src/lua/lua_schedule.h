/* Phases as scripts give them. */
#ifndef ECS_LUA_LUA_SCHEDULE_H
#define ECS_LUA_LUA_SCHEDULE_H

#include "lua/bind/binding.h"

/* Reads the options of a phase from the table at an index (nil: none), pushing what they need. */
void read_phase(lua_State *L, int index, ecs_phase_desc *desc);

#endif
