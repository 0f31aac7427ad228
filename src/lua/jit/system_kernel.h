/* A system's kernel, for who tells of it. */
#ifndef ECS_LUA_JIT_SYSTEM_KERNEL_H
#define ECS_LUA_JIT_SYSTEM_KERNEL_H

#include <lauxlib.h>

#include "core/base/base.h"

struct kernel;
struct system_box;

/* Pushes the handle of a system's kernel, or nil, as of one that another Lua state has. After a
** change of components the next run compiles; who asks before that is told what then will be. Runs
** quietly. */
void system_kernel_push(lua_State *L, int world_index, struct system_box *system);

/* Whether its latest program is one for the tables and components that there are now. */
bool system_kernel_is_current(const struct kernel *kernel);

/* How a system runs: "lua", "vector", or "native" for a host's. */
const char *system_kernel_tier(const ecs_system *system);

#endif
