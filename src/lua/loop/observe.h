/* Observers whose bodies are Lua functions: how they are called. */
#ifndef ECS_LUA_LOOP_OBSERVE_H
#define ECS_LUA_LOOP_OBSERVE_H

#include <lauxlib.h>

#include "core/base/base.h"

struct ecs_sight;
struct world_box;

/* Tells observers of what has been applied, if no scope is open: what public calls end with
** (world_box.observers.call). Raises what they do. */
void observe(lua_State *L, struct world_box *box, int world_index);

/* The core's callback. */
ecs_status script_observe(ecs_world *world, struct ecs_sight *sight, void *ud);

#endif
