/* Telling observers where a public call does not simply end: see settle.h. */
#ifndef ECS_LUA_BIND_OBSERVED_H
#define ECS_LUA_BIND_OBSERVED_H

#include "lua/bind/world_box.h"

/* Raises what a scope that has ended could not apply, once observers have been told of the rest. */
int observed_raise(lua_State *L, struct world_box *box, int world_index, ecs_status status);

/* Before what replaces the contents of a world: tells observers of what loops that were left open
** have done. The world is at argument 1, and open afterwards. */
void observed_loops(lua_State *L, struct world_box *box);

#endif
