/* world:explain. */
#ifndef ECS_LUA_EXPLAIN_H
#define ECS_LUA_EXPLAIN_H

#include <lauxlib.h>

#include "core/base/base.h"

struct system_box;

/* Pushes the handle of a system's kernel, or nil, as of one that another Lua state has. After a
** change of components the next run compiles; who asks before that is told what then will be. Runs
** quietly. */
void explain_open(lua_State *L, int world_index, struct system_box *system);

/* world:explain(name) */
int world_explain(lua_State *L);

/* How a system runs: "lua", "vector", or "native" for a host's. */
const char *system_tier(const ecs_system *system);

#endif
