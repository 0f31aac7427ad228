/* world:explain. */
#ifndef ECS_LUA_EXPLAIN_H
#define ECS_LUA_EXPLAIN_H

#include <lauxlib.h>

#include "core/base/base.h"

/* world:explain(name) */
int world_explain(lua_State *L);

/* How a system runs: "lua", "vector", or "native" for a host's. */
const char *system_tier(const ecs_system *system);

#endif
