/* What the core is told of systems of scripts, so that they can run side by side. */
#ifndef ECS_LUA_JIT_COMPANIONS_H
#define ECS_LUA_JIT_COMPANIONS_H

#include "core/base/base.h"

struct companions;

/* Kernels that cannot fail, and give no commands. */
extern const struct companions script_companions;

#endif
