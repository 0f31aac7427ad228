/* world:explain "update". */
#ifndef ECS_LUA_API_EXPLAIN_UPDATE_H
#define ECS_LUA_API_EXPLAIN_UPDATE_H

#include <lauxlib.h>

#include "core/base/base.h"

/* Pushes a table by phase of lists of systems that can run side by side, with the reason why each
** list comes behind the one before it. The world is at 1. */
int update_explain(lua_State *L);

#endif
