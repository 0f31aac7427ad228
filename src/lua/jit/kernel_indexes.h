/* The indexes that a kernel looks into: up to date before it runs. */
#ifndef ECS_LUA_JIT_KERNEL_INDEXES_H
#define ECS_LUA_JIT_KERNEL_INDEXES_H

#include <lauxlib.h>

#include "core/base/base.h"

struct variant;

/* Whether all that a variant looks into are up to date, or could be brought so, outside of systems;
** if not, why is pushed. Its outside values have been read for this run. */
bool indexes_ready(lua_State *L, struct variant *variant);

/* Whether that is still so. */
bool indexes_are_fresh(const struct variant *variant);

#endif
