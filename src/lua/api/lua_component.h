/* Methods of a world that declare components, and what components are described as. */
#ifndef ECS_LUA_API_LUA_COMPONENT_H
#define ECS_LUA_API_LUA_COMPONENT_H

#include <lauxlib.h>

#include "core/base/base.h"

struct world_box;

extern const luaL_Reg world_component_methods[];

/* Pushes world:describe(name): { name, id, storage, size, fields }. Runs quietly. */
void push_component_description(lua_State *L, struct world_box *box, int world_index,
                                ecs_id component);

/* registrar.tag, .resource and .forget, now. */
ecs_status tag_now(struct world_box *box, const char *name, bool foreign, ecs_id *id);
ecs_status resource_now(struct world_box *box, ecs_id id);
void forget_now(struct world_box *box, ecs_id id);

#endif
