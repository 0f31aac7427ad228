/* world:explain. */
#ifndef ECS_LUA_JIT_EXPLAIN_H
#define ECS_LUA_JIT_EXPLAIN_H

#include <lauxlib.h>

#include "core/base/base.h"

/* world:explain(name) */
int world_explain(lua_State *L);

#endif
