/* Methods of a world that make entities and end them. */
#ifndef ECS_LUA_API_LUA_SPAWN_H
#define ECS_LUA_API_LUA_SPAWN_H

#include <lauxlib.h>

#include "core/base/base.h"

struct part;
struct world_box;

/* Behind a call of the core that has spawned in the world at stack index 1, and has taken over
** the values: pushes the id. */
int spawn_end(lua_State *L, struct world_box *box, ecs_id id);

/* Spawns an entity of these parts, and tries again once garbage has been collected. Raises. */
ecs_id spawn_parts(lua_State *L, struct world_box *box, const struct part *parts, uint32_t count);

extern const luaL_Reg world_spawn_methods[];

#endif
