/* Running a kernel whose program is known to fit: of systems, most runs are such. */
#ifndef ECS_LUA_JIT_KERNEL_SETTLED_H
#define ECS_LUA_JIT_KERNEL_SETTLED_H

#include <lua.h>

#include "core/base/base.h"

struct kernel;

/* Runs the program that ran last over all tables of its query, without a call of Lua; false when
** it cannot be (see variant_settled), and nothing has run. KERNEL_ANCHORS of the kernel are at an
** index, which is not looked at unless kernel_reads. Raises nothing. */
bool kernel_run_settled(lua_State *L, int anchors, struct kernel *kernel, double dt);

/* The same for a run that is one of several side by side: it is added to these. */
bool kernel_join_settled(lua_State *L, int anchors, struct kernel *kernel, double dt);

/* Whether that program has outside values. */
bool kernel_reads(const struct kernel *kernel);

#endif
